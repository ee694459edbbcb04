//! Events that several processes share (ACL_EVENT_IPC).

use std::sync::Arc;

use cannery_abi as abi;

use super::{IPC, create, destroy, find, not_null};
use crate::error::{Error, Result};
use crate::process::here;
use crate::stream::engine;
use crate::stream::shared::{Kind, Shared};
use crate::stream::task::Task;

/// aclrtIpcGetEventHandle: shares an event made with ACL_EVENT_IPC; returns its name.
///
/// # Errors
/// 100000 for NULL; 107017; 107000 for other events; 507899 when the runtime directory cannot be used.
pub fn ipc_handle(handle: u64) -> Result<String> {
    not_null("event", handle)?;
    let event = find(handle)?;
    let info = event.read();
    if info.flags & IPC == 0 {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "event",
            "only events of aclrtCreateEventExWithFlag with ACL_EVENT_IPC (0x40) can be shared",
        ));
    }
    here()?;
    if let Some(shared) = info.shared {
        return Ok(shared.name().to_owned());
    }
    let shared = Arc::new(Shared::export(Kind::Event, true)?);
    // A record that is under way here already is the first one that others can wait for.
    if let Some(record) = &info.record {
        let number = shared.begin_record();
        if record.is_done() {
            shared.end_record(number);
        } else {
            let shared = shared.clone();
            engine::submit_now(record.stream, Task::EndShared { shared, number });
        }
    }
    event.inner.lock().shared = Some(shared.clone());
    Ok(shared.name().to_owned())
}

/// aclrtIpcOpenEventHandle: an event of this process's own for the one that another process shares.
///
/// # Errors
/// 107000 for unknown names; 107002 without a context; 207000 where the product lacks such events.
pub fn ipc_open(name: &str) -> Result<u64> {
    let made = create(Some(IPC), true)?;
    let opened = Shared::import(Kind::Event, name).inspect_err(|_| {
        let _ = destroy(made);
    })?;
    find(made)?.inner.lock().shared = Some(Arc::new(opened));
    Ok(made)
}
