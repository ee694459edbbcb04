//! aclrtSetStreamFailureMode: what a failed task does to its stream.
//!
//! A stream that goes on (the default) runs its next task; the error waits for a synchronisation. A
//! stream that stops keeps its first error until it is destroyed: queued tasks are dropped, new ones
//! are refused with that error, and so does every other stream of the context that has the mode.
//!
//! `halted` is the code of that error, 0 while the stream works. Whoever holds the token of the stream
//! drops its tasks instead of running them; others only set `halted` and bring it on.

use std::sync::atomic::Ordering;

use cannery_abi as abi;

use super::manage::or_default;
use super::{STREAMS, Stream, engine};
use crate::error::{Error, Result};
use crate::process::current;

/// Values of `Stream::failure_mode`.
pub(crate) const NEVER_SET: u8 = 0;
const GO_ON: u8 = 1;
const STOP: u8 = 2;

/// Products on which a default stream can have a mode.
const DEFAULT_STREAMS: [&str; 3] = ["950", "A3", "910B"];

/// aclrtSetStreamFailureMode: 0 goes on after a failed task, 1 stops. Once for each stream.
///
/// # Errors
/// 107000 for other modes, for a stream whose mode was set before, and for default streams where the
/// product has none for them; 107017; 107002.
pub fn set(handle: u64, mode: u64) -> Result<()> {
    let word = match u32::try_from(mode) {
        Ok(abi::ACL_CONTINUE_ON_FAILURE) => GO_ON,
        Ok(abi::ACL_STOP_ON_FAILURE) => STOP,
        _ => return Err(Error::rt_value("mode", mode, "0 (go on) or 1 (stop)")),
    };
    let stream = or_default(handle)?;
    if stream.home().is_default {
        let profile = current()?.settings.profile.name;
        if !DEFAULT_STREAMS.contains(&profile) {
            return Err(Error::rt_param(
                abi::ACL_ERROR_RT_PARAM_INVALID,
                "stream",
                format!("profile {profile} has no failure mode for default streams"),
            ));
        }
    }
    let place = &stream.failure_mode;
    match place.compare_exchange(NEVER_SET, word, Ordering::AcqRel, Ordering::Relaxed) {
        Ok(_) => Ok(()),
        Err(before) => Err(Error::sequence(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            format!(
                "the failure mode of this stream was set to {} before; it is set once only",
                mode_of(before)
            ),
        )),
    }
}

fn mode_of(word: u8) -> u32 {
    match word {
        STOP => abi::ACL_STOP_ON_FAILURE,
        _ => abi::ACL_CONTINUE_ON_FAILURE,
    }
}

/// The mode as ACL_*_ON_FAILURE.
pub(super) fn mode(stream: &Stream) -> u64 {
    u64::from(mode_of(stream.failure_mode.load(Ordering::Relaxed)))
}

/// A task of the stream failed with `code`: the rule of its mode.
#[cold]
pub(super) fn after(stream: &Stream, code: i32) {
    if stream.failure_mode.load(Ordering::Acquire) != STOP {
        return;
    }
    let home = stream.home();
    halt(stream, code);
    let Some(context) = home.context else { return };
    for (_, other) in STREAMS.living() {
        let its = other.home();
        let same = its
            .context
            .is_some_and(|other| std::ptr::eq(other, context))
            && its.generation == home.generation;
        let mine = std::ptr::eq(other, stream);
        if same && !mine && other.failure_mode.load(Ordering::Acquire) == STOP {
            halt(other, code);
            // One that waits for something drops what it has instead.
            engine::bring_on(other);
        }
    }
}

/// The code of streams whose device is being aborted.
const ABORT: i32 = abi::ACL_ERROR_RT_DEVICE_TASK_ABORT;

fn change(stream: &Stream, from: i32, to: i32) -> bool {
    stream
        .halted
        .compare_exchange(from, to, Ordering::SeqCst, Ordering::Relaxed)
        .is_ok()
}

fn halt(stream: &Stream, code: i32) {
    // An abort ends, a failure does not.
    let _ = change(stream, 0, code) || change(stream, ABORT, code);
}

/// The tasks of its device are about to be dropped: it takes and runs none.
pub(super) fn begin_abort(stream: &Stream) {
    stream.lost_with_device.store(true, Ordering::SeqCst);
    change(stream, 0, ABORT);
}

/// The abort is over.
pub(super) fn lift_abort(stream: &Stream) {
    change(stream, ABORT, 0);
}

/// Whether the tasks of its device are being dropped.
pub(super) fn is_aborting(stream: &Stream) -> bool {
    stream.halted.load(Ordering::SeqCst) == ABORT
}

/// Refuses a task for a stream that has stopped.
///
/// # Errors
/// The code of the task that failed.
#[inline]
pub(super) fn check(stream: &Stream) -> Result<()> {
    match stream.halted.load(Ordering::Acquire) {
        0 => Ok(()),
        code => Err(stopped(code)),
    }
}

#[cold]
fn stopped(code: i32) -> Error {
    if code == ABORT {
        return aborting();
    }
    Error::sequence(
        code,
        format!(
            "a task of this stream, or of another of its context, failed with {code}, and the stream \
             stops on failure: it takes no tasks any more; destroy it and make a new one"
        ),
    )
}

/// A call that meets an abort of its device.
#[cold]
pub(crate) fn aborting() -> Error {
    Error::sequence(
        ABORT,
        "the tasks of the device are being dropped, or were during the wait (aclrtDeviceTaskAbort): they \
         have not run; queue them again when it has returned",
    )
}
