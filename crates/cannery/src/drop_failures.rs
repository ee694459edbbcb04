//! Failures that happened in `Drop`, where there is nobody to return them to.
//!
//! Memory whose release failed, or whose queued work could not be awaited, is leaked: never reused while
//! something may still write to it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};

const KEPT: usize = 64;

static COUNT: AtomicU64 = AtomicU64::new(0);
static RECENT: Mutex<VecDeque<Error>> = Mutex::new(VecDeque::new());

/// How many releases have failed since the process began. May be called from any thread.
///
/// ```
/// assert_eq!(cannery::drop_failures::count(), 0);
/// ```
pub fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Takes the newest failures (at most 64 are kept), oldest first. The count stays. May be called from any
/// thread.
pub fn take() -> Vec<Error> {
    let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    recent.drain(..).collect()
}

/// Keeps the error of a release.
pub(crate) fn note(outcome: Result<()>) {
    let Err(error) = outcome else { return };
    COUNT.fetch_add(1, Ordering::Relaxed);
    let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    if recent.len() == KEPT {
        recent.pop_front();
    }
    recent.push_back(error);
}
