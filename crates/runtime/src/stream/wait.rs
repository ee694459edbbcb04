//! Waiting for streams and devices.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use cannery_abi as abi;

use super::engine::{self, Waited};
use super::failure;
use super::manage::{find, or_default};
use super::{STREAMS, Stream, order};
use crate::error::{Error, Result};
use crate::memory::stream_ordered_pool;
use crate::process::{Runtime, here};

/// Streams whose tasks run elsewhere or never: waiting and querying answer at once.
const DETACHED: u32 =
    abi::ACL_STREAM_PERSISTENT | abi::ACL_STREAM_CPU_SCHEDULE | abi::ACL_STREAM_DEVICE_USE_ONLY;

/// When a wait of so many milliseconds ends; -1: never.
///
/// # Errors
/// 107000 for 0 and values below -1.
pub(crate) fn deadline(timeout: i32) -> Result<Option<Instant>> {
    let expected = "-1 (for ever) or a number of milliseconds above 0";
    match timeout {
        -1 => Ok(None),
        // Two layers find the two kinds of bad values.
        0 => Err(Error::rt_value("timeout", timeout, expected)),
        ..=-2 => Err(Error::front_value(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "timeout",
            timeout,
            expected,
        )),
        _ => {
            let limit = Duration::from_millis(u64::from(timeout.unsigned_abs()));
            Ok(Some(Instant::now() + limit))
        }
    }
}

fn is_detached(stream: &Stream) -> bool {
    stream.flags.load(Ordering::Relaxed) & DETACHED != 0
}

fn report(stream: &Stream) -> Result<()> {
    match stream.take_error() {
        // A stream that stopped reports until it is destroyed.
        0 => failure::check(stream),
        abi::ACL_ERROR_RT_MODEL_ABORT_NORMAL => Err(crate::graph::aborted()),
        code => Err(Error::sequence(code, "a task of the stream failed")),
    }
}

/// aclrtSynchronizeStream, and with a timeout in milliseconds. A stream of another context is fine.
///
/// # Errors
/// 107000 for timeouts; 107017 for dead handles; 107002 for the default stream without a context;
/// 507046 when the time is over; the code of a task that failed.
pub fn synchronize(handle: u64, timeout: Option<i32>) -> Result<()> {
    let until = match timeout {
        Some(timeout) => deadline(timeout)?,
        None => None,
    };
    let stream = or_default(handle)?;
    crate::graph::capture::refuse_captured(stream, handle)?;
    if is_detached(stream) {
        return Ok(());
    }
    finish(stream, until)
}

fn finish(stream: &'static Stream, until: Option<Instant>) -> Result<()> {
    match engine::wait_or_lose(stream, stream.submitted(), until) {
        Waited::Done => {
            if order::is_watched()
                && let Some(device) = stream.device()
            {
                stream_ordered_pool::after_synchronization(device);
            }
            report(stream)
        }
        Waited::Lost if stream.was_lost_with_device() => Err(failure::aborting()),
        Waited::Lost => Err(Error::sequence(
            abi::ACL_ERROR_RT_STREAM_ABORT,
            "tasks of the stream were dropped during the wait (aclrtStreamAbort, \
             aclrtDestroyStreamForce): they have not run",
        )),
        Waited::TooLong => Err(Error::sequence(
            abi::ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
            "the tasks of the stream were not done in time; the stream goes on",
        )),
    }
}

/// aclrtStreamQuery: ACL_STREAM_STATUS_*.
///
/// # Errors
/// 107017 for dead handles; 107002 for the default stream without a context.
pub fn query(handle: u64) -> Result<i32> {
    let stream = match handle {
        0 => or_default(0)?,
        handle => find("stream", handle)?,
    };
    crate::graph::capture::refuse_captured(stream, handle)?;
    if is_detached(stream) {
        return Ok(abi::ACL_STREAM_STATUS_COMPLETE);
    }
    Ok(if engine::look(|| stream.is_idle()) {
        abi::ACL_STREAM_STATUS_COMPLETE
    } else {
        abi::ACL_STREAM_STATUS_NOT_READY
    })
}

/// aclrtSynchronizeDevice, and with a timeout in milliseconds: every stream of the current device.
///
/// # Errors
/// As [`synchronize`].
pub fn synchronize_device(timeout: Option<i32>) -> Result<()> {
    let until = match timeout {
        Some(timeout) => deadline(timeout)?,
        None => None,
    };
    let here = here()?;
    crate::graph::mode::unsafe_call("aclrtSynchronizeDevice")?;
    finish_device(here.device().index(), until)
}

/// Waits for every stream of a device.
pub(crate) fn finish_device(device: usize, until: Option<Instant>) -> Result<()> {
    let mut result = Ok(());
    for (_, stream) in STREAMS.living() {
        if stream.device() == Some(device) && !stream.is_idle() && !is_detached(stream) {
            let one = finish(stream, until);
            if result.is_ok() {
                result = one;
            }
        } else if stream.device() == Some(device) && result.is_ok() {
            result = report(stream);
        }
    }
    if order::is_watched() {
        stream_ordered_pool::after_synchronization(device);
    }
    result
}

impl Runtime {
    /// Waits for what is queued on a device, whatever became of it.
    pub(crate) fn drain(&self, device: usize) {
        let _ = finish_device(device, None);
    }
}
