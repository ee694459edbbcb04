//! What went wrong, from any thread; the process says it at its end.

use std::sync::{Mutex, MutexGuard, PoisonError};

static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Most notes that are kept.
const MOST: usize = 20;

fn notes() -> MutexGuard<'static, Vec<String>> {
    NOTES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something is not as it must be; the run goes on.
pub fn note(text: String) {
    let mut notes = notes();
    if notes.len() < MOST {
        notes.push(text);
    }
}

/// Notes a text unless the condition holds.
pub fn unless(holds: bool, text: impl FnOnce() -> String) {
    if !holds {
        note(text());
    }
}

/// Everything noted so far.
pub fn taken() -> Vec<String> {
    std::mem::take(&mut *notes())
}
