//! Short forms of the calls that make something.

use std::ffi::c_void;
use std::ptr::null_mut;

use cannery_abi::*;

use crate::api::*;

pub(crate) use cannery_test_calls::memory::{device, download, upload};

/// A stream of the current context.
pub(crate) fn stream() -> aclrtStream {
    let mut stream = null_mut();
    ok(aclrtCreateStream(&raw mut stream), "aclrtCreateStream");
    stream
}

/// An event that streams can wait for: `ex` as aclrtCreateEventExWithFlag makes it.
pub(crate) fn event(ex: bool) -> aclrtEvent {
    let mut event = null_mut();
    let flags = ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE;
    let code = if ex {
        aclrtCreateEventExWithFlag(&raw mut event, flags)
    } else {
        aclrtCreateEventWithFlag(&raw mut event, flags)
    };
    ok(code, "making an event");
    event
}

/// A notify.
pub(crate) fn notify() -> aclrtNotify {
    let mut notify = null_mut();
    ok(aclrtCreateNotify(&raw mut notify, 0), "aclrtCreateNotify");
    notify
}

/// Pinned host memory.
pub(crate) fn pinned(bytes: usize) -> *mut c_void {
    let mut block = null_mut();
    ok(aclrtMallocHost(&raw mut block, bytes), "aclrtMallocHost");
    block
}

/// Writes host memory of the runtime.
pub(crate) fn write(at: *mut c_void, bytes: &[u8]) {
    // SAFETY: callers pass live pinned memory of at least that many bytes, which no queued work
    // touches at this moment.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at.cast(), bytes.len()) };
}

/// Reads host memory of the runtime.
pub(crate) fn read(at: *const c_void, bytes: usize) -> Vec<u8> {
    let mut out = vec![0; bytes];
    // SAFETY: as in `write`; any bit pattern is a byte.
    unsafe { std::ptr::copy_nonoverlapping(at.cast(), out.as_mut_ptr(), bytes) };
    out
}

/// Where two lists of bytes differ, in words; `None` when they do not.
pub(crate) fn difference(got: &[u8], want: &[u8]) -> Option<String> {
    let at = (0..want.len()).find(|&i| got.get(i) != want.get(i))?;
    let count = (0..want.len())
        .filter(|&i| got.get(i) != want.get(i))
        .count();
    Some(format!(
        "{count} of {} bytes differ, the first at {at}: {:#04x}, expected {:#04x}",
        want.len(),
        got.get(at).copied().unwrap_or_default(),
        want[at]
    ))
}
