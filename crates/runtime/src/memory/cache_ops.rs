//! Manual chapter: cache operations in stream order. The memory is coherent: they are checked, queued
//! and change nothing.
#![allow(unsafe_code)] // writes and reads the description

use cannery_abi as abi;

use super::{guard, locate};
use crate::error::{Error, Fault, Result};
use crate::os;
use crate::process::{Here, here};
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
