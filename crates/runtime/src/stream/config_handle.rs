//! Manual chapter: stream management (IPV350). A configuration from which streams are made. It is a plain
//! record, so it lies where the program can read it.
#![allow(unsafe_code)] // reads and writes the records

use std::collections::BTreeSet;
use std::sync::Mutex;

use cannery_abi as abi;

use super::manage::{self, LEAST_PRIORITY};
use crate::error::{Error, Fault, Result};
use crate::patient;
use crate::process::current;

type Record = abi::aclrtStreamConfigHandle;

/// Addresses of the records that live.
static LIVING: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// aclrtCreateStreamConfigHandle: a new record with the defaults; its address.
///
/// # Errors
/// 207000 where the product lacks it.
pub fn create() -> Result<u64> {
    current()?;
    let mut living = patient::lock(&LIVING).ok_or(Fault::Forked)?;
    let record = Record {
        workptr: std::ptr::null_mut(),
        workSize: 0,
        flag: 0,
        priority: 0,
    };
    let handle = Box::into_raw(Box::new(record)) as u64;
    living.insert(handle);
    Ok(handle)
}

fn unknown(handle: u64) -> Error {
    Error::cause(
        "handle",
        format!("{handle:#x}"),
        "is no living configuration; make one with aclrtCreateStreamConfigHandle",
    )
}

/// Does something with a living record.
fn with<R>(handle: u64, act: impl FnOnce(&mut Record) -> R) -> Result<R> {
    if handle == 0 {
        return Err(Error::null("handle"));
    }
    current()?;
    let living = patient::lock(&LIVING).ok_or(Fault::Forked)?;
    if !living.contains(&handle) {
        return Err(unknown(handle));
    }
    // SAFETY: made by `create` and not destroyed, which takes the lock held here.
    Ok(act(unsafe { &mut *(handle as *mut Record) }))
}

/// aclrtDestroyStreamConfigHandle. Streams that were made from it stay.
///
/// # Errors
/// 100000 for NULL and what is no living configuration; 207000.
pub fn destroy(handle: u64) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("handle"));
    }
    current()?;
    let mut living = patient::lock(&LIVING).ok_or(Fault::Forked)?;
    if !living.remove(&handle) {
        return Err(unknown(handle));
    }
    // SAFETY: made by `Box::into_raw`, and taken from the list just now.
    drop(unsafe { Box::from_raw(handle as *mut Record) });
    Ok(())
}

/// aclrtSetStreamConfigOpt: one attribute; `value` are the bytes of its value, `None` for NULL.
///
/// # Errors
/// 100000 for NULL, what is no living configuration, unknown attributes, sizes and values that do not fit the
/// attribute; 207000.
pub fn set(handle: u64, attribute: i32, value: Option<&[u8]>) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("handle"));
    }
    let Some(value) = value else {
        return Err(Error::null("attrValue"));
    };
    let size = match attribute {
        abi::ACL_RT_STREAM_WORK_ADDR_PTR
        | abi::ACL_RT_STREAM_WORK_SIZE
        | abi::ACL_RT_STREAM_FLAG => 8,
        abi::ACL_RT_STREAM_PRIORITY => 4,
        _ => return Err(Error::value("attr", attribute, "must be in [0, 3]")),
    };
    if value.len() != size {
        return Err(Error::value(
            "valueSize",
            value.len(),
            format!("must be {size} for attribute {attribute}"),
        ));
    }
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(value);
    let number = u64::from_le_bytes(bytes);
    match attribute {
        abi::ACL_RT_STREAM_FLAG if number != 0 => {
            return Err(Error::value("*attrValue", number, "must be 0 (reserved)"));
        }
        abi::ACL_RT_STREAM_PRIORITY if number > u64::from(LEAST_PRIORITY) => {
            return Err(Error::value(
                "*attrValue",
                number,
                format!("must be in [0, {LEAST_PRIORITY}]"),
            ));
        }
        _ => {}
    }
    with(handle, |record| match attribute {
        abi::ACL_RT_STREAM_WORK_ADDR_PTR => record.workptr = number as *mut _,
        abi::ACL_RT_STREAM_WORK_SIZE => record.workSize = number as usize,
        abi::ACL_RT_STREAM_FLAG => record.flag = number as usize,
        _ => record.priority = number as u32,
    })
}

/// aclrtCreateStreamV2: a stream with the priority of the configuration. Its work memory is for models, of
/// which there are none.
///
/// # Errors
/// 100000 for NULL and what is no living configuration; 107002 without a context; 207008; 207000.
pub fn make_stream(handle: u64) -> Result<u64> {
    let record = with(handle, |record| *record)?;
    manage::create(record.priority, record.flag as u32)
}
