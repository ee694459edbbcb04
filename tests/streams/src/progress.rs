//! What a process is doing, told shortly before its limit: a hang names its call.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

static NOW: Mutex<(u32, &str)> = Mutex::new((0, "the start"));

/// Variable that makes a process print every step before it does it.
pub(crate) const TRACE: &str = "STREAMS_TRACE";

static TRACED: OnceLock<bool> = OnceLock::new();

/// Whether every step is printed.
pub(crate) fn is_traced() -> bool {
    *TRACED.get_or_init(|| std::env::var_os(TRACE).is_some())
}

/// The process begins something.
pub(crate) fn begin(step: u32, what: &'static str) {
    if is_traced() {
        eprintln!("step {step}: {what}");
    }
    *NOW.lock().unwrap_or_else(PoisonError::into_inner) = (step, what);
}

/// Says what the process is doing when its limit is near.
pub(crate) fn watch(limit: Duration) {
    std::thread::spawn(move || {
        std::thread::sleep(limit.mul_f32(0.9));
        let (step, what) = *NOW.lock().unwrap_or_else(PoisonError::into_inner);
        eprintln!("about to reach the limit, in step {step}: {what}");
        for note in crate::trouble::taken() {
            eprintln!("{note}");
        }
    });
}
