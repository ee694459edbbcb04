//! Manual chapter: notifies, one-shot flags between streams; a wait resets them.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use cannery_abi as abi;

use super::Stream;
use super::engine::{self, bring_on};
use super::event::bad_handle;
use super::manage::stream_of_call;
use super::shared::{Kind, Shared};
use super::task::Task;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::ipc::check_room;
use crate::os::lock::QuickLock;
use crate::process::{current, here};
use crate::registry::Registry;

/// All notifies of the process.
pub(crate) static NOTIFIES: Registry<Notify> = Registry::new(0xd3);

/// The state that queued tasks share with the notify.
#[derive(Default)]
pub(crate) struct Flag {
    state: Mutex<FlagState>,
    /// Set once other processes use it too; then the flag is there.
    shared: OnceLock<Shared>,
}

/// What became of a wait.
pub(crate) enum Wait {
    /// The flag was raised and is lowered now.
    Over,
    /// The stream is brought on when it is raised.
    Registered,
    /// It has to look again.
    Poll,
    /// The process on the other side is gone.
    Orphaned,
}

#[derive(Default)]
struct FlagState {
    raised: bool,
    waiting: Vec<&'static Stream>,
}

impl Flag {
    /// A record was reached.
    pub(crate) fn raise(&self) {
        if let Some(shared) = self.shared.get() {
            shared.raise();
            engine::look_again();
            return;
        }
        let waiting = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.raised = true;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(bring_on);
    }

    /// Whether other processes may wait for it.
    pub(super) fn is_shared(&self) -> bool {
        self.shared.get().is_some()
    }

    fn lower(&self) {
        if let Some(shared) = self.shared.get() {
            shared.lower();
        }
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .raised = false;
    }
}

/// Takes the flag if it is raised; else `stream` is brought on when it is, or has to look again.
pub(crate) fn take_or_wait(flag: &Flag, stream: &'static Stream) -> Wait {
    if let Some(shared) = flag.shared.get() {
        return match () {
            () if shared.take() => Wait::Over,
            () if shared.other_side_lives() => Wait::Poll,
            // It may have been raised just before the other side went.
            () if shared.take() => Wait::Over,
            () => Wait::Orphaned,
        };
    }
    let mut state = flag.state.lock().unwrap_or_else(PoisonError::into_inner);
    if std::mem::take(&mut state.raised) {
        return Wait::Over;
    }
    if !state
        .waiting
        .iter()
        .any(|other| std::ptr::eq(*other, stream))
    {
        state.waiting.push(stream);
    }
    Wait::Registered
}

/// When a wait of so many seconds ends; 0: never.
pub(crate) fn deadline(seconds: u32) -> Option<Instant> {
    (seconds > 0).then(|| Instant::now() + Duration::from_secs(u64::from(seconds)))
}

/// See the module.
#[derive(Default)]
pub(crate) struct Notify {
    flag: QuickLock<Arc<Flag>>,
    device: QuickLock<Option<&'static Device>>,
}

fn find(handle: u64) -> Result<&'static Notify> {
    if handle == 0 {
        return Err(Error::null("notify"));
    }
    // A forked child is refused here: objects of the parent would be waited for in vain.
    current()?;
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
    let used = here.device().notifies().load(Ordering::Relaxed);
    if let Some(limit) = here.runtime.settings.profile.notifies
        && used >= limit
    {
        return Err(no_notify(limit));
    }
    let made = NOTIFIES.create(|notify| {
        *notify.flag.lock() = Arc::default();
        *notify.device.lock() = Some(here.device());
    });
    if made.is_some() {
        here.device().notifies().fetch_add(1, Ordering::Relaxed);
    }
    made.ok_or_else(|| no_notify(used))
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
    let notify = find(handle)?;
    if !NOTIFIES.end(handle) {
        return Err(bad_handle("notify", handle, "Notify"));
    }
    // Queued tasks keep the flag as long as they need it; its name goes with the last one.
    *notify.flag.lock() = Arc::default();
    if let Some(device) = notify.device.lock().take() {
        device.notifies().fetch_sub(1, Ordering::Relaxed);
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
    find(handle)?;
    Ok(NOTIFIES.place_of(handle))
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

/// No list of processes.
const OPEN_TO_ALL: u64 = abi::ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION;

fn check_flags(flags: u64) -> Result<()> {
    if flags == 0 || flags == OPEN_TO_ALL {
        return Ok(());
    }
    Err(Error::rt_value(
        "flags",
        flags,
        format!("0 or {OPEN_TO_ALL}"),
    ))
}

/// aclrtNotifyGetExportKey: shares the notify with other processes of this user; returns its key. Again:
/// the same key.
///
/// # Errors
/// 100000 for NULL; 107000 for room below 65 bytes and for flags; 107017; 107002 without a context;
/// 507899 when the runtime directory cannot be used.
pub fn export(handle: u64, len: usize, flags: u64) -> Result<String> {
    let notify = find(handle)?;
    check_room(len)?;
    check_flags(flags)?;
    here()?;
    let flag = notify.flag.lock().clone();
    if flag.shared.get().is_none() {
        let shared = Shared::export(Kind::Notify, flags == OPEN_TO_ALL)?;
        let mut state = flag.state.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut state.raised) {
            shared.raise();
        }
        let waiting = std::mem::take(&mut state.waiting);
        let _ = flag.shared.set(shared);
        drop(state);
        // Streams that waited here look at the shared flag from now on.
        waiting.into_iter().for_each(bring_on);
        // A record of it may be queued already.
        engine::awaited_outside();
    }
    flag.shared
        .get()
        .map(|shared| shared.name().to_owned())
        .ok_or_else(not_exported)
}

fn not_exported() -> Error {
    Error::sequence(
        abi::ACL_ERROR_RT_PARAM_INVALID,
        "the notify was not exported by this process; call aclrtNotifyGetExportKey first",
    )
}

/// aclrtNotifySetImportPid: lets these processes import the notify.
///
/// # Errors
/// 100000 for NULL; 107000 for no pids, and for a notify that was not exported; 107017; 107002.
pub fn allow(handle: u64, pids: &[i32]) -> Result<()> {
    let notify = find(handle)?;
    if pids.is_empty() {
        return Err(Error::rt_value("num", 0, "a number above 0"));
    }
    here()?;
    let flag = notify.flag.lock().clone();
    match flag.shared.get() {
        Some(shared) if shared.allow(pids) => Ok(()),
        Some(_) => Err(Error::rt_value(
            "num",
            pids.len(),
            "a number for which the list has room (240)",
        )),
        None => Err(not_exported()),
    }
}

/// aclrtNotifySetImportPidInterServer: as [`allow`], for processes of other servers. There is one server here, so
/// their ids are those of processes of this machine.
///
/// # Errors
/// As [`allow`]; 207000 for a product other than A3.
pub fn allow_servers(handle: u64, pids: &[i32]) -> Result<()> {
    allow(handle, pids)
}

/// aclrtNotifyImportByKey: a notify of this process's own for the one that another process exported.
///
/// # Errors
/// 107000 for flags, unknown keys, and keys whose list lacks this process; 107002 without a context.
pub fn import(key: &str, flags: u64) -> Result<u64> {
    check_flags(flags)?;
    here()?;
    let shared = Shared::import(Kind::Notify, key)?;
    let handle = create(0)?;
    let notify = find(handle)?;
    let _ = notify.flag.lock().shared.set(shared);
    Ok(handle)
}
