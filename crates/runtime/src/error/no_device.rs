//! Why the calling thread has no device: the newest of its own calls that explains it, so that the text
//! of what fails later names the cause and not a bystander.
//!
//! * A call that would have bound the thread failed while the thread had no binding: that failure. One
//!   that fails while the thread is bound leaves the binding, so it explains nothing later.
//! * A call of the thread ended the context that it was bound to: that call.
//! * The thread was bound: nothing before that explains anything any more.
//!
//! What other threads end is found at the binding itself (`thread::lost_binding`).

use std::cell::RefCell;

use super::Error;

/// What the thread did last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoDevice {
    /// It could not be bound. Function and cause.
    Failed(String),
    /// It ended its own context. Function, and what ended.
    Ended(String),
}

thread_local! {
    static WHY: RefCell<Option<NoDevice>> = const { RefCell::new(None) };
}

fn remember(why: Option<NoDevice>) {
    // A thread that is ending has no storage any more, and nobody who would ask.
    let _ = WHY.try_with(|place| *place.borrow_mut() = why);
}

/// `api` could not bind the thread. `bound`: it keeps the binding that it has.
pub(crate) fn note_failed(api: &'static str, error: &Error, bound: bool) {
    if bound {
        return;
    }
    let mut text = format!("{api} failed earlier on this thread: ");
    error.fault().explain(&mut text);
    remember(Some(NoDevice::Failed(text)));
}

/// The thread itself ended the context that it was bound to.
pub(crate) fn note_ended(call: &str) {
    remember(Some(NoDevice::Ended(format!(
        "{call} on this thread ended its context"
    ))));
}

/// The thread was bound; or it lives in a forked child, where the past of the parent explains nothing.
pub(crate) fn forget() {
    remember(None);
}

/// Why the thread has no device, as far as its own calls explain it.
pub(crate) fn why() -> Option<NoDevice> {
    WHY.try_with(|why| why.borrow().clone()).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::{NoDevice, forget, note_ended, note_failed, why};
    use crate::error::Error;

    #[test]
    fn the_newest_call_that_explains_it_counts() {
        let error = Error::rt_cause("deviceId", -1, "no such device");
        forget();
        note_failed("aclrtSetDevice", &error, true);
        assert_eq!(why(), None, "the thread kept its binding");
        note_failed("aclrtSetDevice", &error, false);
        assert!(matches!(why(), Some(NoDevice::Failed(text)) if text.contains("aclrtSetDevice")));
        note_ended("aclrtResetDevice(0)");
        assert!(
            matches!(why(), Some(NoDevice::Ended(text)) if text.contains("aclrtResetDevice(0)"))
        );
        note_failed("aclrtSetDevice", &error, true);
        assert!(matches!(why(), Some(NoDevice::Ended(_))));
        note_failed("aclrtCreateContext", &error, false);
        assert!(
            matches!(why(), Some(NoDevice::Failed(text)) if text.contains("aclrtCreateContext"))
        );
        forget();
        assert_eq!(why(), None);
    }
}
