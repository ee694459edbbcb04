//! Manual chapter: events. Two generations with different rules: "plain" ones, and those of
//! aclrtCreateEventExWithFlag ("Ex").

mod between_processes;
mod of_models;
mod status;
mod time;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use cannery_abi as abi;

use super::engine;
use super::manage::stream_of_call;
use super::order;
use super::record::Record;
use super::shared::Shared;
use super::task::Task;
use super::wait;
use crate::device::Device;
use crate::error::{Error, Fault, Result};
use crate::graph::capture::{self, External, Label};
use crate::os::lock::QuickLock;
use crate::process::{Here, current, here};
use crate::registry::Registry;

pub use between_processes::{ipc_handle, ipc_open};
pub(crate) use of_models::external_record;
pub(super) use of_models::{Found, look, record_now, reset_now};
pub use status::{old_status, recorded_status, wait_status};
pub use time::{elapsed, timestamp};

/// All events of the process.
pub(crate) static EVENTS: Registry<Event> = Registry::new(0xd2);

/// See the module.
#[derive(Default)]
pub(crate) struct Event {
    inner: QuickLock<Inner>,
}

#[derive(Default, Clone)]
struct Inner {
    flags: u32,
    ex: bool,
    record: Option<Arc<Record>>,
    /// Set for events that other processes share.
    shared: Option<Arc<Shared>>,
    /// First use of the record and of the wait decides their flags for good.
    record_flag: Option<u32>,
    wait_flag: Option<u32>,
    /// Set when its newest record was captured instead of queued.
    captured: Option<Label>,
    waits: Vec<Weak<()>>,
    /// Of events with ACL_EVENT_EXTERNAL: up when a record was done, down after a reset.
    up: Option<Arc<AtomicBool>>,
    device: Option<&'static Device>,
}

/// What a record needs of an event.
struct Brief {
    flags: u32,
    ex: bool,
    shared: Option<Arc<Shared>>,
    up: Option<Arc<AtomicBool>>,
}

impl Event {
    fn read(&self) -> Inner {
        self.inner.lock().clone()
    }

    /// As [`read`](Self::read), without what is counted or copied for nothing.
    fn brief(&self) -> Brief {
        let inner = self.inner.lock();
        Brief {
            flags: inner.flags,
            ex: inner.ex,
            shared: inner.shared.clone(),
            up: inner.up.clone(),
        }
    }

    /// Whether its newest record is done, where nothing else counts: the usual case.
    #[inline]
    fn usual_status(&self) -> Option<bool> {
        let inner = self.inner.lock();
        let usual = inner.captured.is_none()
            && inner.shared.is_none()
            && inner.flags & (EXTERNAL | DEVICE_ONLY) == 0;
        let record = inner.record.as_ref().filter(|_| usual)?;
        Some(record.is_done())
    }

    /// Back to the state before any record, unless a newer one than `record` was queued meanwhile.
    pub(crate) fn forget(&self, record: Option<&Arc<Record>>) {
        let mut inner = self.inner.lock();
        let same = match (&inner.record, record) {
            (Some(now), Some(then)) => Arc::ptr_eq(now, then),
            _ => false,
        };
        if same {
            inner.record = None;
        }
    }
}

/// Nanoseconds since the first use in this process.
pub(super) fn now() -> u64 {
    static BEGAN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let began = *BEGAN.get_or_init(Instant::now);
    // Never 0, which means "not yet".
    (began.elapsed().as_nanos() as u64).max(1)
}

pub(crate) fn bad_handle(param: &'static str, handle: u64, kind: &str) -> Error {
    Error::rt_param(
        abi::ACL_ERROR_RT_INVALID_HANDLE,
        param,
        format!(
            "{handle:#x} is no living object of kind {kind}; destroyed already, or of another kind"
        ),
    )
}

fn find(handle: u64) -> Result<&'static Event> {
    // A forked child is refused here: objects of the parent would be waited for in vain.
    current()?;
    EVENTS
        .find(handle)
        .ok_or_else(|| bad_handle("event", handle, "Event"))
}

fn not_null(param: &'static str, handle: u64) -> Result<()> {
    if handle == 0 {
        Err(Error::null(param))
    } else {
        Ok(())
    }
}

const IPC: u32 = abi::ACL_EVENT_IPC;
const SYNC: u32 = abi::ACL_EVENT_SYNC;
const EXTERNAL: u32 = abi::ACL_EVENT_EXTERNAL;
const DEVICE_ONLY: u32 = abi::ACL_EVENT_DEVICE_USE_ONLY;

/// aclrtCreateEvent, aclrtCreateEventWithFlag (`flags`), aclrtCreateEventExWithFlag (`ex`).
///
/// # Errors
/// 107000 for flags; 107002 without a context; 207000 for flags that the product or this build
/// lacks; 207007 when no event is left.
pub fn create(flags: Option<u32>, ex: bool) -> Result<u64> {
    let here = match flags {
        None => here()?,
        Some(flags) => {
            check_flags(flags, ex)?;
            here()?
        }
    };
    if flags == Some(abi::ACL_EVENT_IPC) && !ipc_events(&here) {
        return Err(Error::unsupported(format!(
            "profile {} has no events shared between processes; 950, A3 and 910B have",
            here.runtime.settings.profile.name
        )));
    }
    // The manual gives aclrtCreateEvent all that waiting and timing need.
    let flags = flags.unwrap_or(SYNC | abi::ACL_EVENT_TIME_LINE);
    let used = here.device().events().load(Ordering::Relaxed);
    if let Some(limit) = here.runtime.settings.profile.events
        && used >= limit
        && !ex
    {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_NO_EVENT_RESOURCE,
            format!(
                "all {limit} events of the device are in use; destroy some with aclrtDestroyEvent"
            ),
        ));
    }
    let made = EVENTS.create(|event| {
        let mut inner = event.inner.lock();
        *inner = Inner {
            flags,
            ex,
            up: (flags & EXTERNAL != 0).then(Arc::default),
            device: Some(here.device()),
            ..Inner::default()
        };
    });
    if made.is_some() {
        here.device().events().fetch_add(1, Ordering::Relaxed);
    }
    made.ok_or_else(|| {
        Error::sequence(
            abi::ACL_ERROR_RT_NO_EVENT_RESOURCE,
            "too many events are alive",
        )
    })
}

fn check_flags(flags: u32, ex: bool) -> Result<()> {
    let known = SYNC | abi::ACL_EVENT_CAPTURE_STREAM_PROGRESS | abi::ACL_EVENT_TIME_LINE;
    if ex {
        if flags == abi::ACL_EVENT_IPC || (flags != 0 && flags & !known == 0) {
            return Ok(());
        }
        return Err(Error::rt_value(
            "flag",
            format!("{flags:#x}"),
            "SYNC 1, PROGRESS 2 and TIME_LINE 8 or-ed, or IPC 0x40 alone",
        ));
    }
    if flags & EXTERNAL != 0 && flags != EXTERNAL {
        return Err(Fault::RtUnknown {
            param: "flag",
            value: format!("{flags:#x}"),
            cause: "EXTERNAL (0x20) must stand alone".to_owned(),
        }
        .into());
    }
    if flags == 0 || flags & !(known | DEVICE_ONLY | EXTERNAL) != 0 {
        return Err(Error::rt_value(
            "flag",
            format!("{flags:#x}"),
            "a mask of 1, 2, 8 and 0x10, or 0x20 alone",
        ));
    }
    Ok(())
}

fn ipc_events(here: &Here) -> bool {
    matches!(here.runtime.settings.profile.name, "950" | "A3" | "910B")
}

/// aclrtDestroyEvent: without waiting.
///
/// # Errors
/// 100000 for NULL, 107017 for what is no living event.
pub fn destroy(handle: u64) -> Result<()> {
    not_null("event", handle)?;
    let event = find(handle)?;
    if !EVENTS.end(handle) {
        return Err(bad_handle("event", handle, "Event"));
    }
    // Queued records and waits keep what they need of it.
    let old = std::mem::take(&mut *event.inner.lock());
    if let Some(device) = old.device {
        device.events().fetch_sub(1, Ordering::Relaxed);
    }
    EVENTS.recycle(handle);
    Ok(())
}

/// aclrtRecordEvent, aclrtRecordEventWithFlag.
///
/// # Errors
/// 100000 for NULL; 107017 for dead handles; 107000 for flags and device-only events; 107002 without
/// a context; 107003 for a stream of another context; 107029 outside of a capture.
pub fn record(handle: u64, stream: u64, flag: Option<u32>) -> Result<()> {
    not_null("event", handle)?;
    let event = find(handle)?;
    let info = event.brief();
    let captured = capture::of_handle(stream);
    if let Some(flag) = flag {
        check_external(event, &info, flag, true, captured.is_some())?;
    }
    if info.flags & DEVICE_ONLY != 0 {
        return Err(device_only());
    }
    let (_, stream) = stream_of_call("stream", stream)?;
    if let Some(captured) = captured {
        if flag == Some(1) || info.flags & EXTERNAL != 0 {
            capture::external(&captured, handle, info.flags, External::Record);
            return Ok(());
        }
        let label = capture::record(&captured, handle, info.flags);
        let mut inner = event.inner.lock();
        inner.captured = Some(label);
        inner.record = None;
        return Ok(());
    }
    if let Some(up) = info.up {
        engine::submit(stream, raise(up));
        return Ok(());
    }
    let record = Record::new(stream, info.shared);
    {
        let mut inner = event.inner.lock();
        inner.captured = None;
        inner.record = Some(record.clone());
        inner.record_flag.get_or_insert(0);
    }
    engine::submit(stream, Task::Record(record));
    Ok(())
}

/// The record of an event with ACL_EVENT_EXTERNAL.
fn raise(up: Arc<AtomicBool>) -> Task {
    let work = move || {
        up.store(true, Ordering::Release);
        engine::look_again();
        0
    };
    Task::Compute(Arc::new(work))
}

fn device_only() -> Error {
    Fault::RtUnknown {
        param: "event",
        value: "device-only event".to_owned(),
        cause: "an event created with ACL_EVENT_DEVICE_USE_ONLY is for the device only".to_owned(),
    }
    .into()
}

/// The rules of the external flag: first use decides; only Ex events with SYNC, only in captures.
fn check_external(
    event: &Event,
    info: &Brief,
    flag: u32,
    record: bool,
    captured: bool,
) -> Result<()> {
    if flag > 1 {
        return Err(Error::rt_value("flag", flag, "0 (default) or 1 (external)"));
    }
    if flag == 1 && !(info.ex && info.flags & SYNC != 0) {
        return Err(Fault::UnsupportedAs {
            message: "WE0001",
            cause:
                "the external flag needs an event of aclrtCreateEventExWithFlag with ACL_EVENT_SYNC"
                    .to_owned(),
        }
        .into());
    }
    let mut inner = event.inner.lock();
    let first = if record {
        &mut inner.record_flag
    } else {
        &mut inner.wait_flag
    };
    let decided = *first.get_or_insert(flag);
    drop(inner);
    if decided != flag {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            format!("the event was used with flag {decided} first, which holds for its whole life"),
        ));
    }
    if flag == 1 && !captured {
        return Err(Fault::State {
            code: abi::ACL_ERROR_RT_STREAM_NOT_CAPTURED,
            cause: "the stream is not being captured, which the external flag needs".to_owned(),
        }
        .into());
    }
    Ok(())
}

/// aclrtStreamWaitEvent and its forms with a timeout in seconds (0: for ever) and a flag.
///
/// # Errors
/// 100000 for NULL; 107017 for dead handles; 207000 for events without SYNC; 107000 for plain events
/// that were never recorded; 107002 and 107003 as everywhere.
pub fn stream_wait(stream: u64, handle: u64, timeout_s: u32, flag: Option<u32>) -> Result<()> {
    not_null("event", handle)?;
    if flag == Some(1) && timeout_s != 0 {
        return Err(Error::value(
            "timeout",
            timeout_s,
            "must be 0 with the external flag",
        ));
    }
    let event = find(handle)?;
    let info = event.read();
    let captured = capture::of_handle(stream);
    if let Some(flag) = flag {
        check_external(event, &event.brief(), flag, false, captured.is_some())?;
    }
    if info.flags & (SYNC | IPC) == 0 && !(info.up.is_some() && captured.is_some()) {
        return Err(Error::unsupported(
            "the event was created without ACL_EVENT_SYNC (1), so streams cannot wait for it",
        ));
    }
    let number = stream;
    let (_, stream) = stream_of_call("stream", stream)?;
    let within = |label: &Label| label.is_for(captured.as_ref());
    if let Some(label) = info.captured.filter(within) {
        return capture::join(&label, number, stream, handle, info.flags);
    }
    if let Some(captured) = captured {
        if flag != Some(1) && info.up.is_none() {
            return Err(capture::no_record(&captured));
        }
        capture::external(&captured, handle, info.flags, External::Wait);
        return Ok(());
    }
    if let Some(shared) = info.shared {
        let number = shared.newest();
        if number > 0 {
            let until = super::notify::deadline(timeout_s);
            engine::submit(
                stream,
                Task::WaitShared {
                    shared,
                    number,
                    until,
                },
            );
        }
        return Ok(());
    }
    let Some(record) = info.record else {
        if info.ex {
            return Ok(());
        }
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "the event was never recorded; call aclrtRecordEvent before a stream waits for it",
        ));
    };
    let until = super::notify::deadline(timeout_s);
    let token = Arc::new(());
    {
        let mut inner = event.inner.lock();
        inner.wait_flag.get_or_insert(0);
        inner.waits.retain(|wait| wait.strong_count() > 0);
        inner.waits.push(Arc::downgrade(&token));
    }
    // One that may be given up promises no order.
    let lasting = order::is_watched() && until.is_none();
    let known = lasting.then(|| record.clone());
    engine::submit(
        stream,
        Task::Wait {
            record,
            until,
            token,
        },
    );
    if let Some(record) = known {
        order::learn(stream, &record);
    }
    Ok(())
}

/// aclrtStreamWaitEventWithTimeout: seconds, 0 for ever.
///
/// # Errors
/// 107000 for negative timeouts, and as [`stream_wait`].
pub fn stream_wait_with_timeout(stream: u64, handle: u64, timeout_s: i32) -> Result<()> {
    let seconds = u32::try_from(timeout_s).map_err(|_| {
        let expected = "0 (for ever) or a number of seconds above 0";
        Error::front_value(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "timeout",
            timeout_s,
            expected,
        )
    })?;
    stream_wait(stream, handle, seconds, None)
}

/// aclrtResetEvent: queued.
///
/// # Errors
/// 100000 for NULL; 107017; 207000 for Ex events and those without SYNC; 107002, 107003.
pub fn reset(handle: u64, stream: u64) -> Result<()> {
    not_null("event", handle)?;
    let event = find(handle)?;
    let info = event.read();
    if info.ex || (info.flags & SYNC == 0 && info.up.is_none()) {
        return Err(Error::unsupported(
            "only events of aclrtCreateEventWithFlag with ACL_EVENT_SYNC (1) can be reset",
        ));
    }
    let captured = capture::of_handle(stream);
    let (_, stream) = stream_of_call("stream", stream)?;
    if let Some(captured) = captured {
        let own = |label: &Label| Arc::ptr_eq(&label.model, &captured.model);
        let label = info.captured.filter(own);
        let what = label.map_or(External::Reset, External::Forget);
        capture::external(&captured, handle, info.flags, what);
        return Ok(());
    }
    if info.up.is_some() {
        engine::submit(stream, Task::ResetExternal(handle));
        return Ok(());
    }
    engine::submit(
        stream,
        Task::ResetEvent {
            event,
            record: info.record,
        },
    );
    Ok(())
}

fn no_external(info: &Inner) -> Result<()> {
    if let Some(label) = info.captured.as_ref().filter(|label| label.is_open()) {
        return Err(capture::event_captured(label));
    }
    if info.flags & EXTERNAL != 0 {
        return Err(Error::unsupported("not for events with ACL_EVENT_EXTERNAL"));
    }
    if info.flags & DEVICE_ONLY != 0 {
        return Err(device_only());
    }
    Ok(())
}

/// aclrtSynchronizeEvent, and with a timeout in milliseconds (-1: for ever).
///
/// # Errors
/// 107000 for timeouts (before the handle); 100000 for NULL; 107017; 207000 for external events;
/// 507047 when the time is over.
pub fn synchronize(handle: u64, timeout: Option<i32>) -> Result<()> {
    let until = match timeout {
        Some(timeout) => wait::deadline(timeout)?,
        None => None,
    };
    not_null("event", handle)?;
    let info = find(handle)?.read();
    no_external(&info)?;
    let own = |record: &Arc<Record>, shared: &Shared| record.number() == Some(shared.newest());
    if let Some(shared) = info.shared
        && !info
            .record
            .as_ref()
            .is_some_and(|record| own(record, &shared))
    {
        return synchronize_shared(&shared, until);
    }
    let Some(record) = info.record else {
        return Ok(());
    };
    let over = || record.is_done();
    if engine::sleep_until(&over, until, record.stream, record.bell()) {
        return Ok(());
    }
    Err(Error::sequence(
        abi::ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
        "the event was not reached in time; its stream is still at work",
    ))
}

fn synchronize_shared(shared: &Shared, until: Option<Instant>) -> Result<()> {
    let number = shared.newest();
    while !shared.reached(number) {
        if until.is_some_and(|until| Instant::now() >= until) {
            return Err(Error::sequence(
                abi::ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
                "the event was not reached in time; its stream is still at work",
            ));
        }
        if !shared.other_side_lives() && !shared.reached(number) {
            return Err(Error::sequence(
                abi::ACL_ERROR_RT_DRV_INTERNAL_ERROR,
                "the process on the other side of the event has ended before it was reached",
            ));
        }
        if !engine::make_progress() {
            std::thread::sleep(std::time::Duration::from_micros(50));
        }
    }
    Ok(())
}

/// aclrtGetEventId.
///
/// # Errors
/// 100000 for NULL, 107017.
pub fn id(handle: u64) -> Result<u32> {
    not_null("event", handle)?;
    find(handle)?;
    Ok(EVENTS.place_of(handle))
}

/// aclrtGetEventAvailNum: events that can still be made.
///
/// # Errors
/// 107002 without a context; 207000 where the number is not known.
pub fn available() -> Result<u32> {
    let here = here()?;
    let limit =
        here.runtime.settings.profile.events.ok_or_else(|| {
            Error::unsupported("the number of events of this profile is not known")
        })?;
    Ok(limit.saturating_sub(here.device().events().load(Ordering::Relaxed)))
}
