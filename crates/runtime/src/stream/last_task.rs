//! aclrtGetThreadLastTaskId. The id of a task is its number in its stream, from 0 on. Default streams
//! are not counted.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use cannery_abi as abi;

use super::Stream;
use crate::error::{Error, Result};
use crate::process::current;

thread_local! {
    /// Number of the last task in its stream, from 1 on; 0: none yet.
    static LAST: Cell<u64> = const { Cell::new(0) };
}

/// The calling thread submitted the task of this number, from 1 on.
#[inline]
pub(super) fn note(stream: &Stream, number: u64) {
    if !stream.is_default.load(Ordering::Relaxed) {
        LAST.set(number);
    }
}

/// Does something for a model on whatever thread it is: what this thread submitted itself stays its last task.
pub(crate) fn undisturbed<R>(act: impl FnOnce() -> R) -> R {
    let before = LAST.get();
    let result = act();
    LAST.set(before);
    result
}

/// Id of the last task that the calling thread submitted to a stream of aclrtCreateStream or
/// aclrtCreateStreamWithConfig. Ids wrap after 2^32 tasks of a stream.
///
/// # Errors
/// 507000 when it submitted none.
pub fn id() -> Result<u32> {
    current()?;
    match LAST.get() {
        0 => Err(Error::sequence(
            abi::ACL_ERROR_RT_INTERNAL_ERROR,
            "this thread has submitted no task to a stream of aclrtCreateStream; tasks of default \
             streams and of other threads do not count",
        )),
        number => Ok((number - 1) as u32),
    }
}
