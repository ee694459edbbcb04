//! Manual chapter: notifies, one-shot flags between streams; a wait resets them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cannery_abi as abi;

use super::Stream;
use super::engine::{self, bring_on};
use super::event::bad_handle;
use super::manage::stream_of_call;
use super::task::Task;
use crate::error::{Error, Result};
use crate::os::lock::QuickLock;
use crate::process::here;
use crate::registry::Registry;

/// All notifies of the process.
static NOTIFIES: Registry<Notify> = Registry::new(0xd3);

/// The state that queued tasks share with the notify.
#[derive(Default)]
pub(crate) struct Flag {
    state: Mutex<FlagState>,
}

#[derive(Default)]
struct FlagState {
    raised: bool,
    waiting: Vec<&'static Stream>,
}

impl Flag {
    /// A record was reached.
    pub(crate) fn raise(&self) {
        let waiting = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.raised = true;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(bring_on);
    }

    fn lower(&self) {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .raised = false;
    }
}

/// Takes the flag if it is raised; else `stream` is brought on when it is.
pub(crate) fn take_or_wait(flag: &Flag, stream: &'static Stream) -> bool {
    let mut state = flag.state.lock().unwrap_or_else(PoisonError::into_inner);
    if std::mem::take(&mut state.raised) {
        return true;
    }
    if !state
        .waiting
        .iter()
        .any(|other| std::ptr::eq(*other, stream))
    {
        state.waiting.push(stream);
    }
    false
}

/// When a wait of so many seconds ends; 0: never.
pub(crate) fn deadline(seconds: u32) -> Option<Instant> {
    (seconds > 0).then(|| Instant::now() + Duration::from_secs(u64::from(seconds)))
}

/// See the module.
#[derive(Default)]
struct Notify {
    flag: QuickLock<Arc<Flag>>,
    id: AtomicU32,
}

fn find(handle: u64) -> Result<&'static Notify> {
    if handle == 0 {
        return Err(Error::null("notify"));
    }
    NOTIFIES
        .find(handle)
        .ok_or_else(|| bad_handle("notify", handle, "Notify"))
}

/// aclrtCreateNotify.
///
/// # Errors
/// 107000 for flags other than 0 and 1; 107002 without a context; 207009 when none is left.
pub fn create(flag: u64) -> Result<u64> {
    if flag > 1 {
        return Err(Error::rt_value(
            "flag",
            flag,
            "0 (default) or 1 (device use only)",
        ));
    }
    let here = here()?;
    let used = NOTIFIES.count();
    if let Some(limit) = here.runtime.settings.profile.notifies
        && used >= u64::from(limit)
    {
        return Err(no_notify(limit));
    }
    let made = NOTIFIES.create(|notify| {
        *notify.flag.lock() = Arc::default();
        notify.id.store(used as u32, Ordering::Relaxed);
    });
    made.ok_or_else(|| no_notify(used as u32))
}

fn no_notify(limit: u32) -> Error {
    Error::sequence(
        abi::ACL_ERROR_RT_NO_NOTIFY_RESOURCE,
        format!("all {limit} notifies are in use; destroy some with aclrtDestroyNotify"),
    )
}

/// aclrtDestroyNotify.
///
/// # Errors
/// 100000 for NULL, 107017 for what is no living notify.
pub fn destroy(handle: u64) -> Result<()> {
    find(handle)?;
    if !NOTIFIES.end(handle) {
        return Err(bad_handle("notify", handle, "Notify"));
    }
    NOTIFIES.recycle(handle);
    Ok(())
}

/// aclrtRecordNotify: queued.
///
/// # Errors
/// 100000 for NULL; 107017; 107002 and 107003 for the stream.
pub fn record(handle: u64, stream: u64) -> Result<()> {
    let notify = find(handle)?;
    let (_, stream) = stream_of_call("stream", stream)?;
    let flag = notify.flag.lock().clone();
    engine::submit(stream, Task::NotifyRecord(flag));
    Ok(())
}

/// aclrtWaitAndResetNotify: queued; timeout in seconds, 0: for ever.
///
/// # Errors
/// As [`record`].
pub fn wait_and_reset(handle: u64, stream: u64, timeout_s: u32) -> Result<()> {
    let notify = find(handle)?;
    let (_, stream) = stream_of_call("stream", stream)?;
    let flag = notify.flag.lock().clone();
    engine::submit(
        stream,
        Task::NotifyWait {
            flag,
            until: deadline(timeout_s),
        },
    );
    Ok(())
}

/// aclrtGetNotifyId.
///
/// # Errors
/// 100000 for NULL, 107017.
pub fn id(handle: u64) -> Result<u32> {
    Ok(find(handle)?.id.load(Ordering::Relaxed))
}

/// aclrtNotifyBatchReset.
///
/// # Errors
/// 107000 for no notifies; 107017 for one that is not alive (none is reset then).
pub fn batch_reset(handles: &[u64]) -> Result<()> {
    if handles.is_empty() {
        return Err(Error::rt_value("num", 0, "a number above 0"));
    }
    let found: Result<Vec<_>> = handles.iter().map(|handle| find(*handle)).collect();
    let found = found?;
    here()?;
    for notify in found {
        notify.flag.lock().lower();
    }
    Ok(())
}
