//! Manual chapter: stream management.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cannery_abi as abi;

use super::event::bad_handle;
use super::task::Task;
use super::{Home, STREAMS, Stream, engine, failure, state_callback};
use crate::context::Context;
use crate::error::{Error, Fault, Result};
use crate::graph::{capture, update};
use crate::process::{Here, Runtime, current, here};

const KNOWN_FLAGS: u32 = abi::ACL_STREAM_FAST_LAUNCH
    | abi::ACL_STREAM_FAST_SYNC
    | abi::ACL_STREAM_PERSISTENT
    | abi::ACL_STREAM_HUGE
    | abi::ACL_STREAM_CPU_SCHEDULE
    | abi::ACL_STREAM_DEVICE_USE_ONLY;
/// Least urgent.
pub(super) const LEAST_PRIORITY: u32 = 7;

/// Turns of the loop before a runner is taken to stay.
const SPINS: u32 = 10_000;

static NEXT_ID: AtomicU32 = AtomicU32::new(0);

/// The living stream of a handle.
pub(crate) fn find(param: &'static str, handle: u64) -> Result<&'static Stream> {
    // A forked child is refused here: objects of the parent would be waited for in vain.
    current()?;
    STREAMS
        .find(handle)
        .ok_or_else(|| bad_handle(param, handle, "Stream"))
}

/// The stream of a handle, or the default stream of the current context for NULL.
pub(crate) fn or_default(handle: u64) -> Result<&'static Stream> {
    match handle {
        0 => Ok(default_stream(&here()?)?.1),
        handle => find("stream", handle),
    }
}

/// The stream that a queuing call names: alive, of the current context, not stopped by a failure, and not of a
/// model that takes no more tasks.
#[inline]
pub(crate) fn stream_of_call(param: &'static str, handle: u64) -> Result<(Here, &'static Stream)> {
    let found = working_stream(param, handle)?;
    if found.1.is_sealed() {
        return Err(capture::sealed(param, found.1, handle));
    }
    Ok(found)
}

/// As [`stream_of_call`], for calls about the stream's place in a model.
#[inline]
pub(crate) fn working_stream(param: &'static str, handle: u64) -> Result<(Here, &'static Stream)> {
    let found = own_stream(param, handle)?;
    failure::check(found.1)?;
    Ok(found)
}

/// As [`stream_of_call`], for calls that queue nothing.
#[inline]
pub(super) fn own_stream(param: &'static str, handle: u64) -> Result<(Here, &'static Stream)> {
    if handle == 0 {
        let here = here()?;
        return Ok((here, default_stream(&here)?.1));
    }
    let stream = find(param, handle)?;
    let here = here()?;
    check_home(&here, stream, handle)?;
    Ok((here, stream))
}

#[inline]
fn check_home(here: &Here, stream: &Stream, handle: u64) -> Result<()> {
    let home = stream.home();
    let same = home
        .context
        .is_some_and(|context| std::ptr::eq(context, here.context));
    if same && here.context.is_alive(home.generation) {
        return Ok(());
    }
    Err(foreign(here, home, handle))
}

#[cold]
fn foreign(here: &Here, home: Home, handle: u64) -> Error {
    let owner = home
        .context
        .map_or(-1, |context| context.device_index() as i64);
    Fault::Ownership {
        code: abi::ACL_ERROR_RT_STREAM_CONTEXT,
        object: "stream",
        details: format!(
            "{handle:#x} belongs to another context, on device {owner}; the current one is on device {}; \
             make its context current (aclrtSetCurrentContext, aclrtSetDevice) first",
            here.device().index()
        ),
    }
    .into()
}

/// The default stream of the current context, made when it is first used.
pub(crate) fn default_stream(here: &Here) -> Result<(u64, &'static Stream)> {
    let known = here.context.default_stream();
    if let Some(stream) = STREAMS.find(known) {
        return Ok((known, stream));
    }
    let mut new = None;
    let found = here.context.make_default_stream(|| {
        let handle = make(here, 0, 0, true)?;
        let stream = find("stream", handle)?;
        new = Some(handle);
        Ok((handle, stream))
    });
    // Outside of the lock that the making holds: the functions may use the stream.
    if let Some(handle) = new {
        state_callback::made(handle);
    }
    found
}

fn make(here: &Here, priority: u32, flags: u32, is_default: bool) -> Result<u64> {
    let generation = here.runtime.contexts.generation_of(here.context);
    make_in(
        here.runtime,
        here.context,
        generation,
        priority,
        flags,
        is_default,
    )
}

/// A stream of the runtime's own, for work of a context.
pub(crate) fn make_internal(
    context: &'static Context,
    generation: u64,
) -> Result<(u64, &'static Stream)> {
    let runtime = current()?;
    if !context.is_alive(generation) {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_CONTEXT_NULL,
            "context",
            "the context that the model was made in is gone",
        ));
    }
    let handle = make_in(runtime, context, generation, 0, 0, false)?;
    Ok((handle, find("stream", handle)?))
}

/// Ends a stream of the runtime's own that is idle.
pub(crate) fn end_internal(handle: u64, stream: &'static Stream) {
    if STREAMS.end(handle) {
        retire(handle, stream);
    }
}

fn make_in(
    runtime: &Runtime,
    context: &'static Context,
    generation: u64,
    priority: u32,
    flags: u32,
    is_default: bool,
) -> Result<u64> {
    let device = context.device_index();
    let used = STREAMS
        .living()
        .iter()
        .filter(|(_, other)| other.device() == Some(device))
        .count();
    let limit = runtime.settings.profile.streams;
    if limit.is_some_and(|limit| used >= limit as usize) {
        return Err(no_stream(used));
    }
    let made = STREAMS.create(|stream| {
        // They go on counting over the lives of a place: a waiter may outlive its stream.
        let before = stream.submitted.load(Ordering::Relaxed);
        stream.before.store(before, Ordering::Relaxed);
        stream.error.store(0, Ordering::Relaxed);
        stream.flags.store(flags, Ordering::Relaxed);
        stream
            .priority
            .store(priority.min(LEAST_PRIORITY), Ordering::Relaxed);
        stream
            .id
            .store(NEXT_ID.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        for plain in [&stream.overflow, &stream.tag, &stream.cache_info] {
            plain.store(0, Ordering::Relaxed);
        }
        stream.core_limits.forget();
        stream
            .failure_mode
            .store(failure::NEVER_SET, Ordering::Relaxed);
        stream.halted.store(0, Ordering::Relaxed);
        stream.subscriber.store(0, Ordering::Relaxed);
        stream.callback_kind.store(0, Ordering::Relaxed);
        stream.set_home(Home {
            context: Some(context),
            generation,
            is_default,
        });
    });
    let handle = made.ok_or_else(|| no_stream(used))?;
    if runtime.devices[device].aborting().load(Ordering::SeqCst)
        && let Some(stream) = STREAMS.find(handle)
    {
        // The abort may not have seen it; it ends before the tasks of this one are wanted.
        end_internal(handle, stream);
        return Err(failure::aborting());
    }
    Ok(handle)
}

fn no_stream(used: usize) -> Error {
    Error::sequence(
        abi::ACL_ERROR_RT_NO_STREAM_RESOURCE,
        format!(
            "all {used} streams of the device are in use; destroy some with aclrtDestroyStream"
        ),
    )
}

/// aclrtCreateStream and aclrtCreateStreamWithConfig. Priorities above 7 are clamped, unknown flags
/// dropped.
///
/// # Errors
/// 107000 for a device-only flag that does not stand alone; 107002 without a context; 207008 when no
/// stream is left.
pub fn create(priority: u32, flags: u32) -> Result<u64> {
    let flags = flags & KNOWN_FLAGS;
    if flags & abi::ACL_STREAM_DEVICE_USE_ONLY != 0 && flags != abi::ACL_STREAM_DEVICE_USE_ONLY {
        return Err(Error::rt_cause(
            "flag",
            format!("{flags:#x}"),
            "ACL_STREAM_DEVICE_USE_ONLY (0x20) must stand alone",
        ));
    }
    let handle = make(&here()?, priority, flags, false)?;
    state_callback::made(handle);
    Ok(handle)
}

/// aclrtDestroyStream waits for its tasks; `force` (aclrtDestroyStreamForce) drops them.
///
/// # Errors
/// 100000 for NULL; 107017 for dead handles; 107002 without a context; 107003 for a stream of another
/// context; 107000 for a default stream.
pub fn destroy(handle: u64, force: bool) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("stream"));
    }
    let stream = find("stream", handle)?;
    let here = here()?;
    check_home(&here, stream, handle)?;
    if stream.home().is_default {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "stream",
            "a default stream goes with its context; it cannot be destroyed",
        ));
    }
    if !force {
        capture::refuse_captured(stream, handle)?;
    }
    state_callback::ending(handle);
    if !force {
        engine::wait_for(stream, stream.submitted(), None);
    }
    if !STREAMS.end(handle) {
        return Err(bad_handle("stream", handle, "Stream"));
    }
    retire(handle, stream);
    Ok(())
}

fn retire(handle: u64, stream: &'static Stream) {
    capture::abandon(handle, stream);
    update::abandon(stream);
    stream.lost_with_device.store(false, Ordering::SeqCst);
    engine::drop_tasks(stream);
    super::report::end_subscription(stream);
    crate::custom_allocator::end_of_stream(handle);
    stream.set_home(Home::default());
    // The runner of its last task may be about to leave.
    for _ in 0..SPINS {
        if !stream.turn.has_runner() {
            break;
        }
        std::hint::spin_loop();
    }
    // One that is inside a host function still counts on the place: it is not used again then.
    if !stream.turn.has_runner() && stream.is_idle() {
        STREAMS.recycle(handle);
    }
}

/// Waits for the work of a stream whose context is going away. Work that never ends is never waited for to its end:
/// whoever looks why the program hangs finds it in the log.
fn wait_patiently(stream: &'static Stream) {
    const PATIENCE: Duration = Duration::from_secs(5);
    let target = stream.submitted();
    if engine::wait_for(stream, target, Some(Instant::now() + PATIENCE)) {
        return;
    }
    let at = stream.queue.lock().front().map_or("a task", Task::name);
    crate::log::warn(format_args!(
        "the end of a context or device waits for stream {} since {} s: its next task is \"{at}\"; end the stream's \
         work first (aclrtStreamAbort, aclrtDestroyStreamForce, for models aclmdlRIAbort) if it cannot end by itself",
        stream.id.load(Ordering::Relaxed),
        PATIENCE.as_secs()
    ));
    engine::wait_for(stream, target, None);
}

/// Ends every stream of a context that is going away. `wait`: their work is finished first.
pub(crate) fn end_of_context(context: &'static Context, wait: bool) {
    let own = |stream: &Stream| {
        let home = stream.home().context;
        home.is_some_and(|other| std::ptr::eq(other, context))
    };
    if wait {
        // Whoever runs a model waits for its end; before that, streams of the model may get more to do.
        for (_, stream) in STREAMS.living() {
            if own(stream) {
                wait_patiently(stream);
            }
        }
    }
    crate::graph::stop_all(context);
    for (handle, stream) in STREAMS.living() {
        if own(stream) {
            state_callback::ending(handle);
            if wait {
                engine::wait_for(stream, stream.submitted(), None);
            }
            if STREAMS.end(handle) {
                retire(handle, stream);
            }
        }
    }
    // Before the lock of the device is taken, which the block needs to go.
    let flag = context.overflow_flag().take();
    drop(flag);
}

/// Streams that are captured or bound to a model hold no tasks that could be ended.
fn refuse_bound(stream: &Stream, handle: u64) -> Result<()> {
    capture::refuse_captured(stream, handle)?;
    if stream.is_captured() {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "stm",
            format!(
                "stream {handle:#x} is bound to a model; stop the runs of that (aclmdlRIAbort)"
            ),
        ));
    }
    Ok(())
}

/// aclrtStreamAbort: drops what is queued.
///
/// # Errors
/// 107000 for NULL and for a stream of a model; 107017; 107002, 107003; 107027 while it is captured.
pub fn abort(handle: u64) -> Result<()> {
    if handle == 0 {
        return Err(Fault::RtNull { param: "stm" }.into());
    }
    let (_, stream) = own_stream("stm", handle)?;
    refuse_bound(stream, handle)?;
    stream.lost_with_device.store(false, Ordering::SeqCst);
    engine::drop_tasks(stream);
    Ok(())
}

/// aclrtStreamStop: ends the task that the stream is at, if it waits for something; the next one begins.
///
/// # Errors
/// 107000 for NULL and for a stream of a model; 107017; 107002, 107003; 107027 while it is captured; 207000 while a
/// host function or kernel runs.
pub fn stop(handle: u64) -> Result<()> {
    if handle == 0 {
        return Err(Fault::RtNull { param: "stm" }.into());
    }
    let (_, stream) = own_stream("stm", handle)?;
    refuse_bound(stream, handle)?;
    if engine::stop_task(stream) {
        return Ok(());
    }
    Err(Error::unsupported(
        "the stream is in a host function or kernel, which ends by itself only; let it return first",
    ))
}

/// aclrtCtxGetCurrentDefaultStream.
///
/// # Errors
/// 107002 without a context.
pub fn current_default() -> Result<u64> {
    Ok(default_stream(&here()?)?.0)
}

/// aclrtGetStreamAvailableNum: streams that can still be made on the device.
///
/// # Errors
/// 107002 without a context; 207000 where the number is not known.
pub fn available() -> Result<u32> {
    let here = here()?;
    let device = here.device().index();
    let used = STREAMS
        .living()
        .iter()
        .filter(|(_, other)| other.device() == Some(device))
        .count();
    match here.runtime.settings.profile.streams {
        Some(limit) => Ok(limit.saturating_sub(used as u32)),
        None => Err(Error::unsupported(
            "the number of streams of this profile is not known",
        )),
    }
}

/// aclrtStreamGetFlags.
///
/// # Errors
/// 107017; 107002 for the default stream without a context.
pub fn flags(handle: u64) -> Result<u32> {
    Ok(or_default(handle)?.flags.load(Ordering::Relaxed))
}

/// aclrtStreamGetPriority.
///
/// # Errors
/// As [`flags`].
pub fn priority(handle: u64) -> Result<u32> {
    Ok(or_default(handle)?.priority.load(Ordering::Relaxed))
}

/// aclrtStreamGetId.
///
/// # Errors
/// As [`flags`].
pub fn id(handle: u64) -> Result<i32> {
    Ok(or_default(handle)?.id.load(Ordering::Relaxed).cast_signed())
}

/// aclrtSetStreamOverflowSwitch.
///
/// # Errors
/// 100000 for flags other than 0 and 1; 107017; 107002.
pub fn set_overflow(handle: u64, flag: u32) -> Result<()> {
    if flag > 1 {
        return Err(Error::value("flag", flag, "must be 0 (off) or 1 (on)"));
    }
    or_default(handle)?.overflow.store(flag, Ordering::Relaxed);
    Ok(())
}

/// aclrtGetStreamOverflowSwitch.
///
/// # Errors
/// 107017; 107002.
pub fn overflow(handle: u64) -> Result<u32> {
    Ok(or_default(handle)?.overflow.load(Ordering::Relaxed))
}

/// aclrtSetStreamAttribute, with the value as a number.
///
/// # Errors
/// 107000 for unknown attributes and values, and as [`failure::set`]; 107017; 107002.
pub fn set_attribute(handle: u64, attribute: i32, value: u64) -> Result<()> {
    let word = value as u32;
    match attribute {
        abi::ACL_STREAM_ATTR_FAILURE_MODE => return failure::set(handle, value),
        abi::ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK if word <= 1 => {
            or_default(handle)?.overflow.store(word, Ordering::Relaxed);
        }
        abi::ACL_STREAM_ATTR_USER_CUSTOM_TAG => {
            or_default(handle)?.tag.store(word, Ordering::Relaxed);
        }
        abi::ACL_STREAM_ATTR_CACHE_OP_INFO if word <= 1 => {
            or_default(handle)?
                .cache_info
                .store(word, Ordering::Relaxed);
        }
        abi::ACL_STREAM_ATTR_PRIORITY if word <= LEAST_PRIORITY => {
            or_default(handle)?.priority.store(word, Ordering::Relaxed);
        }
        2 | 4 | 5 => return Err(Error::rt_value("value", word, "a value of this attribute")),
        _ => {
            return Err(Error::rt_value(
                "stmAttrType",
                attribute,
                "a value in [1, 5]",
            ));
        }
    }
    Ok(())
}

/// aclrtGetStreamAttribute, as a number.
///
/// # Errors
/// 107000 for unknown attributes; 107017; 107002.
pub fn attribute(handle: u64, attribute: i32) -> Result<u64> {
    let stream = or_default(handle)?;
    let word = |place: &AtomicU32| u64::from(place.load(Ordering::Relaxed));
    match attribute {
        abi::ACL_STREAM_ATTR_FAILURE_MODE => Ok(failure::mode(stream)),
        abi::ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK => Ok(word(&stream.overflow)),
        abi::ACL_STREAM_ATTR_USER_CUSTOM_TAG => Ok(word(&stream.tag)),
        abi::ACL_STREAM_ATTR_CACHE_OP_INFO => Ok(word(&stream.cache_info)),
        abi::ACL_STREAM_ATTR_PRIORITY => Ok(word(&stream.priority)),
        _ => Err(Error::rt_value(
            "stmAttrType",
            attribute,
            "a value in [1, 5]",
        )),
    }
}
