//! Returns memory that nobody uses to the system, a little later.
//!
//! A release must be cheap and often the memory is wanted again at once, so pages stay for a
//! moment: what was idle for a whole round goes. The thread starts with the first release that
//! leaves something behind, sleeps while there is nothing to do, and ends when that lasts.

use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::thread::Thread;
use std::time::Duration;

/// Idle memory is gone after two rounds at most.
const ROUND: Duration = Duration::from_millis(250);
/// Without work for so long, the thread ends.
const PATIENCE: Duration = Duration::from_secs(5);

static ARMED: AtomicBool = AtomicBool::new(false);
static RUNNING: AtomicBool = AtomicBool::new(false);
/// The thread to wake; leaked, so that it can be read at any time.
static THREAD: AtomicPtr<Thread> = AtomicPtr::new(std::ptr::null_mut());

/// There may be something to do. One relaxed load when that is known already.
#[inline]
pub(crate) fn arm() {
    if !ARMED.load(Ordering::Relaxed) && !ARMED.swap(true, Ordering::AcqRel) {
        wake();
    }
}

#[cold]
fn wake() {
    if RUNNING.swap(true, Ordering::AcqRel) {
        crate::os::thread::unpark(&THREAD);
    } else if !crate::os::thread::spawn_quiet("cannery-janitor", 128 << 10, run) {
        // No thread to be had: the memory stays until the next release asks again.
        RUNNING.store(false, Ordering::Release);
        ARMED.store(false, Ordering::Release);
    }
}

/// In a forked child: the thread stayed with the parent.
pub(crate) fn forget() {
    THREAD.store(std::ptr::null_mut(), Ordering::Release);
    RUNNING.store(false, Ordering::Release);
    ARMED.store(false, Ordering::Release);
}

fn run() {
    crate::os::thread::publish_current(&THREAD);
    loop {
        if ARMED.swap(false, Ordering::AcqRel) {
            std::thread::sleep(ROUND);
            if tidy_all() {
                ARMED.store(true, Ordering::Release);
            }
            continue;
        }
        std::thread::park_timeout(PATIENCE);
        if ARMED.load(Ordering::Acquire) {
            continue;
        }
        RUNNING.store(false, Ordering::Release);
        // Somebody who armed in between took the thread for running and did not start another.
        if !ARMED.load(Ordering::Acquire) || RUNNING.swap(true, Ordering::AcqRel) {
            return;
        }
    }
}

fn tidy_all() -> bool {
    let Some(runtime) = crate::process::running() else {
        return false;
    };
    let mut more = false;
    for store in runtime.stores() {
        more |= store.tidy();
    }
    more
}
