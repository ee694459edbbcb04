//! Whether events were reached, and the waits for them are over: answers at once.

use cannery_abi as abi;

use super::super::engine;
use super::{Event, SYNC, find, no_external, not_null};
use crate::error::{Error, Result};

/// aclrtQueryEventStatus: ACL_EVENT_RECORDED_STATUS_*.
///
/// # Errors
/// 107017; 207000 and 107000 for external and device-only events.
pub fn recorded_status(handle: u64) -> Result<i32> {
    not_null("event", handle)?;
    let event = find(handle)?;
    let done = match event.usual_status() {
        Some(done) => engine::look(|| done),
        None => status_by_rule(event)?,
    };
    Ok(if done {
        abi::ACL_EVENT_RECORDED_STATUS_COMPLETE
    } else {
        abi::ACL_EVENT_RECORDED_STATUS_NOT_READY
    })
}

/// Every case of [`recorded_status`].
#[cold]
fn status_by_rule(event: &Event) -> Result<bool> {
    let info = event.read();
    no_external(&info)?;
    if let Some(shared) = info.shared {
        return Ok(engine::look(|| shared.reached(shared.newest())));
    }
    Ok(match info.record {
        Some(record) => engine::look(|| record.is_done()),
        None => info.ex,
    })
}

/// aclrtQueryEvent (deprecated): ACL_EVENT_STATUS_*. Before any record: complete.
///
/// # Errors
/// 107017; 207000 for Ex events.
pub fn old_status(handle: u64) -> Result<i32> {
    not_null("event", handle)?;
    let info = find(handle)?.read();
    if info.ex {
        return Err(Error::unsupported(
            "not for events of aclrtCreateEventExWithFlag; use aclrtQueryEventStatus",
        ));
    }
    no_external(&info)?;
    let done = info
        .record
        .is_none_or(|record| engine::look(|| record.is_done()));
    Ok(if done {
        abi::ACL_EVENT_STATUS_COMPLETE
    } else {
        abi::ACL_EVENT_STATUS_NOT_READY
    })
}

/// aclrtQueryEventWaitStatus: whether every queued wait for it is over.
///
/// # Errors
/// 107017; 207000 for Ex events and those without SYNC.
pub fn wait_status(handle: u64) -> Result<i32> {
    not_null("event", handle)?;
    let info = find(handle)?.read();
    if info.ex || info.flags & SYNC == 0 {
        return Err(Error::unsupported(
            "only for events of aclrtCreateEventWithFlag with ACL_EVENT_SYNC (1)",
        ));
    }
    no_external(&info)?;
    let over = engine::look(|| info.waits.iter().all(|wait| wait.strong_count() == 0));
    Ok(if over {
        abi::ACL_EVENT_WAIT_STATUS_COMPLETE
    } else {
        abi::ACL_EVENT_WAIT_STATUS_NOT_READY
    })
}
