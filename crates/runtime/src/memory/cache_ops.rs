//! Manual chapter: cache operations in stream order. The memory is coherent: they are checked, queued
//! and change nothing.
#![allow(unsafe_code)] // writes and reads the description

use cannery_abi as abi;

use super::{guard, locate};
use crate::error::{Error, Fault, Result};
use crate::os;
use crate::process::{Here, here};
use crate::stream::Stream;
use crate::stream::engine;
use crate::stream::manage::{find, stream_of_call};
use crate::stream::task::Task;

/// Bytes of a description of a cache operation.
const SIZE: u64 = 64;
/// Marks memory that holds one.
const MARK: u64 = u64::from_le_bytes(*b"cmo-desc");

fn check_type(kind: i32) -> Result<()> {
    if kind == abi::ACL_RT_CMO_TYPE_PREFETCH {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "cache operation {kind}: only 0 (prefetch) is possible"
    )))
}

fn own_range(here: &Here, param: &'static str, address: u64, size: u64) -> Result<u64> {
    let spot = locate::range(here.runtime, param, address, size)?;
    if [Some(here.device().index()), Some(locate::EVERY_DEVICE)].contains(&spot.device) {
        return Ok(spot.at);
    }
    Err(Error::address(
        param,
        address,
        "memory of the current device is needed",
    ))
}

fn nothing() -> Task {
    Task::nothing()
}

/// aclrtCmoAsync.
///
/// # Errors
/// 100000 for NULL and size 0; 107017; 207000 for operations other than prefetch; 107002, 107003; 107000
/// for memory that is not of the current device.
pub fn operate(address: u64, size: u64, kind: i32, stream: u64) -> Result<()> {
    if address == 0 {
        return Err(Error::null("src"));
    }
    if size == 0 {
        return Err(Error::zero("size"));
    }
    if stream != 0 {
        find("stream", stream)?;
    }
    check_type(kind)?;
    let (here, stream) = stream_of_call("stream", stream)?;
    own_range(&here, "src", address, size)?;
    engine::submit(stream, nothing());
    Ok(())
}

/// aclrtCmoGetDescSize.
///
/// # Errors
/// 107000 without a place; 107002 without a context.
pub fn descriptor_size(out: Option<&mut usize>) -> Result<()> {
    let Some(out) = out else {
        return Err(Fault::RtNull { param: "size" }.into());
    };
    here()?;
    *out = SIZE as usize;
    Ok(())
}

/// aclrtCmoSetDesc.
///
/// # Errors
/// 107000 for NULL, size 0, and memory that is not of the current device; 107002 without a context.
pub fn set_descriptor(desc: u64, address: u64, size: u64) -> Result<()> {
    for (name, address) in [("cmoDesc", desc), ("srcAddr", address)] {
        if address == 0 {
            return Err(Fault::RtNull { param: name }.into());
        }
    }
    if size == 0 {
        return Err(Error::rt_value("srcLen", 0, "a number of bytes above 0"));
    }
    let here = here()?;
    own_range(&here, "srcAddr", address, size)?;
    let at = own_range(&here, "cmoDesc", desc, SIZE)?;
    guard::touch(at, SIZE)?;
    let words = [MARK, address, size, 0, 0, 0, 0, 0];
    // SAFETY: 64 bytes of device memory, checked just now.
    unsafe { os::copy::copy(at, words.as_ptr() as u64, SIZE) };
    Ok(())
}

/// aclrtCmoAsyncWithDesc.
///
/// # Errors
/// 107000 for a reserved argument (tested first), NULL, and memory without a description; 207000 for
/// operations other than prefetch; 107017, 107002, 107003.
pub fn operate_by_descriptor(desc: u64, kind: i32, stream: u64, reserve: u64) -> Result<()> {
    if reserve != 0 {
        return Err(Error::rt_value(
            "reserve",
            format!("{reserve:#x}"),
            "NULL, it is reserved",
        ));
    }
    if desc == 0 {
        return Err(Fault::RtNull { param: "cmoDesc" }.into());
    }
    if stream != 0 {
        find("stream", stream)?;
    }
    check_type(kind)?;
    let (here, stream) = stream_of_call("stream", stream)?;
    let at = own_range(&here, "cmoDesc", desc, SIZE)?;
    let mut words = [0u64; 8];
    // SAFETY: 64 bytes of device memory, checked just now.
    unsafe { os::copy::copy(words.as_mut_ptr() as u64, at, SIZE) };
    if words[0] != MARK {
        return Err(Error::address(
            "cmoDesc",
            desc,
            "holds no description; call aclrtCmoSetDesc first",
        ));
    }
    engine::submit(stream, nothing());
    Ok(())
}

/// Operations that one barrier can wait for.
const MOST_BARRIERS: usize = abi::ACL_RT_CMO_MAX_BARRIER_NUM as usize;

/// The stream of a call that only streams of a model may make.
fn bound_stream(stream: u64) -> Result<(Here, &'static Stream)> {
    let (here, found) = stream_of_call("stream", stream)?;
    if found.is_captured() {
        return Ok((here, found));
    }
    Err(Error::rt_param(
        abi::ACL_ERROR_RT_PARAM_INVALID,
        "stream",
        format!("stream {stream:#x} is not bound to a model; bind it first (aclmdlRIBindStream)"),
    ))
}

/// aclrtCmoAsyncWithBarrier: an operation with a number that a barrier can wait for.
///
/// # Errors
/// 100000 for NULL and size 0; 107000 for a number that does not go with the operation (above 0 for
/// INVALID, 0 for the others), a stream that is not bound to a model, and memory that is not of the
/// current device; 207000 for an unknown operation; 107017, 107002, 107003.
pub fn operate_with_barrier(
    address: u64,
    size: u64,
    kind: i32,
    barrier: u32,
    stream: u64,
) -> Result<()> {
    if address == 0 {
        return Err(Error::null("src"));
    }
    if size == 0 {
        return Err(Error::zero("size"));
    }
    // The product comes before what is looked at below the front.
    crate::process::current()?;
    if !(abi::ACL_RT_CMO_TYPE_PREFETCH..=abi::ACL_RT_CMO_TYPE_FLUSH).contains(&kind) {
        return Err(Error::unsupported(format!(
            "cache operation {kind}: only 0 to 3 exist"
        )));
    }
    let invalidates = kind == abi::ACL_RT_CMO_TYPE_INVALID;
    if invalidates != (barrier > 0) {
        return Err(Error::rt_cause(
            "barrierId",
            barrier,
            if invalidates {
                "must be above 0 for ACL_RT_CMO_TYPE_INVALID (2)"
            } else {
                "must be 0 for every operation but ACL_RT_CMO_TYPE_INVALID (2)"
            },
        ));
    }
    let (here, stream) = bound_stream(stream)?;
    own_range(&here, "src", address, size)?;
    engine::submit(stream, nothing());
    Ok(())
}

/// aclrtCmoWaitBarrier: waits for operations with these numbers, which the order of the stream does already.
/// `operations`: how many, and kind and number of each.
///
/// # Errors
/// 100000 for NULL, more than six, and a flag that is not 0; 107000 for none, operations other than INVALID,
/// the number 0, and a stream that is not bound to a model; 107017, 107002, 107003.
pub fn wait_barrier(
    operations: Option<(usize, [(i32, u32); MOST_BARRIERS])>,
    stream: u64,
    flag: u32,
) -> Result<()> {
    let Some((count, operations)) = operations else {
        return Err(Error::null("taskInfo"));
    };
    if count > MOST_BARRIERS {
        return Err(Error::value(
            "taskInfo->barrierNum",
            count,
            format!("must be in [1, {MOST_BARRIERS}]"),
        ));
    }
    if flag != 0 {
        return Err(Error::value("flag", flag, "must be 0 (reserved)"));
    }
    crate::process::current()?;
    if count == 0 {
        return Err(Error::rt_value(
            "taskInfo->barrierNum",
            0,
            format!("in [1, {MOST_BARRIERS}]"),
        ));
    }
    for (kind, barrier) in &operations[..count] {
        if *kind != abi::ACL_RT_CMO_TYPE_INVALID {
            return Err(Error::rt_value(
                "taskInfo->cmoInfo.cmoType",
                *kind,
                "ACL_RT_CMO_TYPE_INVALID (2)",
            ));
        }
        if *barrier == 0 {
            return Err(Error::rt_value("taskInfo->cmoInfo.barrierId", 0, "above 0"));
        }
    }
    let (_, stream) = bound_stream(stream)?;
    engine::submit(stream, nothing());
    Ok(())
}

/// aclrtDeviceL2CacheFlush: everything that the device has written is in its memory already.
///
/// # Errors
/// 100000 for a reserved argument that is not NULL; 107002 without a context.
pub fn flush_l2(reserved: u64) -> Result<()> {
    if reserved != 0 {
        return Err(Error::cause(
            "rsv",
            format!("{reserved:#x}"),
            "reserved, must be NULL",
        ));
    }
    here().map(|_| ())
}
