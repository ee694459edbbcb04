//! When events were reached.

use std::sync::atomic::Ordering;

use cannery_abi as abi;

use super::{IPC, find, no_external, not_null};
use crate::error::{Error, Result};

fn time_of(handle: u64) -> Result<u64> {
    let info = find(handle)?.read();
    no_external(&info)?;
    if info.flags & IPC != 0 {
        return Err(Error::unsupported("events with ACL_EVENT_IPC keep no time"));
    }
    let Some(record) = info.record else {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_INTERNAL_ERROR,
            "the event was never recorded",
        ));
    };
    if !record.is_done() {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
            "the event is not reached yet; synchronise its stream first",
        ));
    }
    Ok(record.time.load(Ordering::Relaxed))
}

/// aclrtEventElapsedTime: milliseconds from `start` to `end`; negative when they are the other way
/// round.
///
/// # Errors
/// 100000 for NULL; 107017; 507000 for events never recorded, 107006 for events not reached.
pub fn elapsed(start: u64, end: u64) -> Result<f32> {
    not_null("startEvent", start)?;
    not_null("endEvent", end)?;
    let (from, to) = (time_of(start)?, time_of(end)?);
    Ok((to as f64 - from as f64) as f32 / 1e6)
}

/// aclrtEventGetTimestamp: microseconds since the process began to use events.
///
/// # Errors
/// As [`elapsed`].
pub fn timestamp(handle: u64) -> Result<u64> {
    not_null("event", handle)?;
    Ok(time_of(handle)? / 1000)
}
