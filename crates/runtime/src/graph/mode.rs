//! What is not allowed while streams are captured.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cannery_abi as abi;

use super::model::{self, Model, Phase};
use crate::error::{Error, Fault, Result};
use crate::os;

/// Captures under way.
static CAPTURES: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// What the thread asked for with aclmdlRICaptureThreadExchangeMode.
    static MODE: Cell<i32> = const { Cell::new(abi::ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) };
}

pub(super) fn began() {
    CAPTURES.fetch_add(1, Ordering::SeqCst);
}

pub(super) fn ended() {
    CAPTURES.fetch_sub(1, Ordering::SeqCst);
}

pub(super) fn check(mode: i32) -> Result<()> {
    if (abi::ACL_MODEL_RI_CAPTURE_MODE_GLOBAL..=abi::ACL_MODEL_RI_CAPTURE_MODE_RELAXED)
        .contains(&mode)
    {
        return Ok(());
    }
    Err(Error::value(
        "mode",
        mode,
        "must be 0 (global), 1 (thread local) or 2 (relaxed)",
    ))
}

/// aclmdlRICaptureThreadExchangeMode: sets the mode of the calling thread and returns the one before. Relaxed:
/// this thread may make unsafe calls; thread local: only its own captures forbid them; global: those
/// captures of other threads that are global, too.
///
/// # Errors
/// 100000 for NULL and for modes that do not exist.
pub fn exchange(mode: Option<&mut i32>) -> Result<()> {
    let Some(mode) = mode else {
        return Err(Error::null("mode"));
    };
    check(*mode)?;
    crate::process::current()?;
    *mode = MODE.replace(*mode);
    Ok(())
}

/// Refuses a call that would wait for work on the device, where a capture forbids it.
///
/// # Errors
/// 107030; the captures in the way are invalid then.
#[inline]
pub(crate) fn unsafe_call(function: &str) -> Result<()> {
    if CAPTURES.load(Ordering::Relaxed) == 0 {
        return Ok(());
    }
    look(function)
}

#[cold]
fn look(function: &str) -> Result<()> {
    let own = MODE.get();
    if own == abi::ACL_MODEL_RI_CAPTURE_MODE_RELAXED {
        return Ok(());
    }
    let thread = os::thread::id();
    let mut refused = None;
    for model in model::all() {
        let mut state = model.state();
        let Phase::Capturing(capture) = &mut state.phase else {
            continue;
        };
        let forbids = match capture.mode {
            abi::ACL_MODEL_RI_CAPTURE_MODE_GLOBAL => {
                own == abi::ACL_MODEL_RI_CAPTURE_MODE_GLOBAL || capture.thread == thread
            }
            abi::ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL => capture.thread == thread,
            _ => false,
        };
        if forbids {
            let why = format!(
                "{function} was refused: stream {:#x} is being captured since thread {} began it, in mode {}",
                capture.origin,
                capture.thread,
                name(capture.mode)
            );
            capture.invalid.get_or_insert_with(|| why.clone());
            refused.get_or_insert(why);
        }
    }
    match refused {
        None => Ok(()),
        Some(why) => Err(Fault::State {
            code: abi::ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
            cause: format!(
                "{why}; use the asynchronous form on a captured stream, or make the call before or after the \
                 capture (aclmdlRICaptureThreadExchangeMode with RELAXED allows it)"
            ),
        }
        .into()),
    }
}

/// Refuses a queued call that would have to wait.
///
/// # Errors
/// 107041 unless the capture is relaxed; the capture is invalid then.
pub(crate) fn blocking_call(model: &Arc<Model>) -> Result<()> {
    let mut state = model.state();
    let Phase::Capturing(capture) = &mut state.phase else {
        return Ok(());
    };
    if capture.mode == abi::ACL_MODEL_RI_CAPTURE_MODE_RELAXED
        || MODE.get() == abi::ACL_MODEL_RI_CAPTURE_MODE_RELAXED
    {
        return Ok(());
    }
    let why = format!(
        "a copy or set was refused: with pageable host memory it would wait for stream {:#x}, which is being captured",
        capture.origin
    );
    capture.invalid.get_or_insert_with(|| why.clone());
    Err(Fault::State {
        code: abi::ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC,
        cause: format!(
            "{why}; use pinned memory (aclrtMallocHost), or capture in mode RELAXED (2)"
        ),
    }
    .into())
}

/// Name of a mode.
pub(super) fn name(mode: i32) -> &'static str {
    match mode {
        abi::ACL_MODEL_RI_CAPTURE_MODE_GLOBAL => "GLOBAL (0)",
        abi::ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL => "THREAD_LOCAL (1)",
        _ => "RELAXED (2)",
    }
}
