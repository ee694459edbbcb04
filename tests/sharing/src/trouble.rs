//! What went wrong, from any thread; the process says it at its end.

use std::sync::{Mutex, MutexGuard, PoisonError};

static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Most notes that are kept.
const MOST: usize = 20;

fn notes() -> MutexGuard<'static, Vec<String>> {
    NOTES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something is not as it must be; the run goes on.
pub(crate) fn note(text: String) {
    let mut notes = notes();
    if notes.len() < MOST {
        notes.push(text);
    }
}

/// Notes a text unless the condition holds.
pub(crate) fn unless(holds: bool, text: impl FnOnce() -> String) {
    if !holds {
        note(text());
    }
}

/// Everything noted so far.
pub(crate) fn taken() -> Vec<String> {
    std::mem::take(&mut *notes())
}

/// Notes a code that is not the one that must come.
#[track_caller]
pub(crate) fn expect(got: i32, want: i32, what: &str) {
    let line = std::panic::Location::caller();
    unless(got == want, || {
        format!(
            "{what}: {got}, expected {want} ({line}): {}",
            crate::api::recent_text()
        )
    });
}
