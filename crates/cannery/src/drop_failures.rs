//! Failures that happened in `Drop`, where there is nobody to return them to.
//!
//! Memory whose release failed, or whose queued work could not be awaited, is leaked: never reused while
//! something may still write to it.

use std::sync::LazyLock;

use crate::error::{Error, Result};
use crate::kept::Kept;

static FAILURES: LazyLock<Kept<Error>> = LazyLock::new(Kept::new);

/// How many releases have failed since the process began. May be called from any thread.
///
/// ```
/// assert_eq!(cannery::drop_failures::count(), 0);
/// ```
pub fn count() -> u64 {
    FAILURES.count()
}

/// Takes the newest failures (at most 64 are kept), oldest first. The count stays. May be called from any
/// thread.
pub fn take() -> Vec<Error> {
    FAILURES.take()
}

/// Keeps the error of a release.
#[inline(always)]
pub(crate) fn note(outcome: Result<()>) {
    if let Err(error) = outcome {
        FAILURES.add(error);
    }
}
