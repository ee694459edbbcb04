//! Manual chapter: errors. What is wrong with a device, and its repair.
//!
//! An emulated device is healthy: its memory has no cells that fail, and no core or link of it breaks. So
//! the questions have one answer, and there is nothing that could be repaired; whoever describes a fault
//! that the device does not have is told so.

use cannery_abi as abi;

use crate::error::{Error, Result};
use crate::process::current;

/// Most memory ranges in one question.
const MOST_RANGES: usize = abi::MAX_MEM_UCE_INFO_ARRAY_SIZE as usize;

fn device(id: i32) -> Result<()> {
    current()?.device_index("deviceId", id).map(|_| ())
}

fn check_count(count: usize) -> Result<()> {
    if (1..=MOST_RANGES).contains(&count) {
        return Ok(());
    }
    Err(Error::value(
        "arraySize",
        count,
        format!("must be in [1, {MOST_RANGES}]"),
    ))
}

/// aclrtGetErrorVerbose: the fault of a device. There is none.
///
/// # Errors
/// 100000 without a place; 107001; 207000 where the product lacks it.
pub fn fault(id: i32, out: Option<&mut abi::aclrtErrorInfo>) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("errorInfo"));
    };
    device(id)?;
    const UNHURT: abi::aclrtMemUceInfo = abi::aclrtMemUceInfo {
        addr: std::ptr::null_mut(),
        len: 0,
        reserved: [0; 14],
    };
    *out = abi::aclrtErrorInfo {
        tryRepair: 0,
        hasDetail: 0,
        reserved: [0; 2],
        errorType: abi::ACL_RT_NO_ERROR,
        detail: abi::aclrtErrorInfoDetail {
            uceInfo: abi::aclrtMemUceInfoArray {
                arraySize: 0,
                memUceInfoArray: [UNHURT; abi::ACL_RT_MEM_UCE_INFO_MAX_NUM as usize],
            },
        },
    };
    Ok(())
}

/// aclrtGetMemUceInfo: how many ranges of the memory of a device are damaged: none.
///
/// # Errors
/// 100000 without a place, and for room for none or for more than 128; 107001; 207000 where the product
/// lacks it.
pub fn damaged(id: i32, has_room: bool, room: usize, count: Option<&mut usize>) -> Result<()> {
    if !has_room {
        return Err(Error::null("memUceInfoArray"));
    }
    check_count(room)?;
    let Some(count) = count else {
        return Err(Error::null("retSize"));
    };
    device(id)?;
    *count = 0;
    Ok(())
}

/// aclrtMemUceRepair: repairs damaged memory, of which there is none.
///
/// # Errors
/// 100000 without ranges, and for more than 128; 107001; 107000 for every range: it is not damaged; 207000
/// where the product lacks it.
pub fn repair_memory(id: i32, ranges: &[abi::aclrtMemUceInfo]) -> Result<()> {
    check_count(ranges.len())?;
    device(id)?;
    let first = ranges.first().map_or(0, |range| range.addr as u64);
    Err(Error::address(
        "memUceInfoArray",
        first,
        format!(
            "no memory of device {id} is damaged; repair what aclrtGetMemUceInfo names, and nothing when it \
             names nothing"
        ),
    ))
}

/// aclrtRepairError: repairs the fault that aclrtGetErrorVerbose described. With none there is nothing to
/// do.
///
/// # Errors
/// 100000 without a description; 107001; 107000 for a fault that the device does not have; 207000 where the
/// product lacks it.
pub fn repair(id: i32, fault: Option<&abi::aclrtErrorInfo>) -> Result<()> {
    let Some(fault) = fault else {
        return Err(Error::null("errorInfo"));
    };
    device(id)?;
    if fault.errorType == abi::ACL_RT_NO_ERROR {
        return Ok(());
    }
    Err(Error::rt_value(
        "errorInfo->errorType",
        fault.errorType,
        format!(
            "0 (no error): device {id} has no fault; pass what aclrtGetErrorVerbose has written"
        ),
    ))
}
