//! aclrtDeviceSetLimit and aclrtDeviceGetLimit (manual chapter: device management). The values are
//! for operators; they are remembered as they were set.

use std::sync::atomic::{AtomicU64, Ordering};

use cannery_abi as abi;

use crate::error::{Error, Result};
use crate::process::current;

const UNSET: u64 = u64::MAX;
static VALUES: [AtomicU64; 5] = [const { AtomicU64::new(UNSET) }; 5];

fn check(limit: i32) -> Result<usize> {
    let simt = matches!(
        limit,
        abi::ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE
            | abi::ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE
            | abi::ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE
    );
    let profile = current()?.settings.profile;
    let index = usize::try_from(limit)
        .ok()
        .filter(|index| *index < VALUES.len());
    match index {
        Some(index) if !simt || profile.name == "950" => Ok(index),
        Some(_) => Err(Error::unsupported(format!(
            "limit {limit} is about SIMT, which profile {} has not (950 has)",
            profile.name
        ))),
        None => Err(Error::unsupported(format!(
            "there is no device limit {limit}; 0 to 4 exist"
        ))),
    }
}

/// aclrtDeviceSetLimit.
///
/// # Errors
/// 100000 for values above 32 bits, 207000 for limits that the product lacks.
pub fn set_limit(limit: i32, value: u64) -> Result<()> {
    if value > u64::from(u32::MAX) {
        return Err(Error::value("value", value, "must be in [0, 4294967295]"));
    }
    VALUES[check(limit)?].store(value, Ordering::Relaxed);
    Ok(())
}

/// aclrtDeviceGetLimit: the value that was set; where none was, 207000, since the hardware's own is
/// not known here.
///
/// # Errors
/// 100000 without `out`, 207000.
pub fn limit(limit: i32, out: Option<&mut usize>) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("value"));
    };
    let value = VALUES[check(limit)?].load(Ordering::Relaxed);
    if value == UNSET {
        return Err(Error::unsupported(format!(
            "limit {limit} was never set, and the default of the hardware is not known"
        )));
    }
    *out = value as usize;
    Ok(())
}
