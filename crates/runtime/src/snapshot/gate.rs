//! Who may be inside a call of the runtime.
//!
//! * **open**: anybody, and nobody is counted: what every program has that takes no snapshot. One load a call.
//! * **watched**: anybody; calls are counted. From the first call of the snapshot chapter on.
//! * **closing**: new calls wait; those under way go on, and so does what they and queued work call.
//! * **closed**: nobody is inside; calls wait.
//!
//! Functions of the program that a call or a task runs may call the runtime whatever the gate is: who waits
//! for them would wait for ever.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::patient;

const OPEN: u8 = 0;
const WATCHED: u8 = 1;
const CLOSING: u8 = 2;
const CLOSED: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(OPEN);
/// Calls that are counted now.
static INSIDE: AtomicU32 = AtomicU32::new(0);
static LOCK: Mutex<()> = Mutex::new(());
static CHANGED: Condvar = Condvar::new();

thread_local! {
    /// Calls of this thread that are inside each other, the outermost counted.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Whether calls are counted.
#[inline(always)]
pub fn is_watched() -> bool {
    STATE.load(std::sync::atomic::Ordering::Relaxed) != OPEN
}

fn set(state: u8) {
    let held = patient::lock(&LOCK);
    STATE.store(state, SeqCst);
    drop(held);
    CHANGED.notify_all();
}

/// Waits until the gate lets in who is neither inside nor called by somebody inside. False: this is a forked
/// child, and the gate that of its parent.
fn wait(lets_in: fn(u8) -> bool) -> bool {
    while !lets_in(STATE.load(SeqCst)) {
        if crate::process::is_forked() {
            // Nobody unlocks it here.
            forget();
            return false;
        }
        let Some(held) = patient::lock(&LOCK) else {
            continue;
        };
        if !lets_in(STATE.load(SeqCst)) {
            // For so long at most: the child looks whether it is one.
            let step = Duration::from_millis(100);
            drop(
                CHANGED
                    .wait_timeout(held, step)
                    .unwrap_or_else(PoisonError::into_inner),
            );
        }
    }
    true
}

/// Counts a call, once the gate lets it in. False: it is not counted, see [`wait`].
fn count_in(lets_in: fn(u8) -> bool) -> bool {
    loop {
        if !wait(lets_in) {
            return false;
        }
        INSIDE.fetch_add(1, SeqCst);
        // It may have been closed in between; whoever closes it looks at the count afterwards.
        if lets_in(STATE.load(SeqCst)) {
            return true;
        }
        INSIDE.fetch_sub(1, SeqCst);
    }
}

/// A call of the calling thread begins. Waits while the gate is closed.
#[cold]
#[inline(never)]
pub fn enter() {
    if DEPTH.get() > 0 || count_in(|state| state <= WATCHED) {
        DEPTH.set(DEPTH.get() + 1);
    }
}

/// A call of the calling thread ends; nothing for one that was not counted.
#[cold]
#[inline(never)]
pub fn leave() {
    match DEPTH.get() {
        0 => {}
        1 => {
            DEPTH.set(0);
            count_out();
        }
        depth => DEPTH.set(depth - 1),
    }
}

fn count_out() {
    // Not below 0: a forked child has forgotten the counts of its parent.
    let _ = INSIDE.fetch_update(SeqCst, SeqCst, |inside| inside.checked_sub(1));
}

/// Runs something that may call the runtime at any time: a queued function of the program, or a function of
/// this chapter.
pub(crate) fn exempt<R>(act: impl FnOnce() -> R) -> R {
    struct Back(u32);
    impl Drop for Back {
        fn drop(&mut self) {
            DEPTH.set(self.0);
        }
    }
    let before = Back(DEPTH.get());
    DEPTH.set(before.0 + 1);
    let result = act();
    drop(before);
    result
}

/// A call under way waits for something that may never come (a callback): it does not count meanwhile.
pub(crate) fn idle<R>(wait_for_it: impl FnOnce() -> R) -> R {
    if !is_watched() || DEPTH.get() != 1 {
        return wait_for_it();
    }
    count_out();
    let result = wait_for_it();
    // It began before the gate closed, and who closes it may wait for what it does next.
    if !count_in(|state| state != CLOSED) {
        DEPTH.set(0);
    }
    result
}

/// Calls are counted from now on.
pub(super) fn watch() {
    let _ = STATE.compare_exchange(OPEN, WATCHED, SeqCst, SeqCst);
}

/// New calls wait from now on.
pub(super) fn close() {
    set(CLOSING);
}

/// Calls that are under way.
pub(super) fn inside() -> u32 {
    INSIDE.load(SeqCst)
}

/// Nobody is inside: closes it. False: somebody is.
pub(super) fn shut() -> bool {
    set(CLOSED);
    let empty = inside() == 0;
    if !empty {
        set(CLOSING);
    }
    empty
}

/// Lets everybody in again.
pub(super) fn reopen() {
    set(WATCHED);
}

/// In a forked child: nobody of the parent is inside. The calling thread is not counted either.
pub(crate) fn forget() {
    STATE.store(OPEN, SeqCst);
    INSIDE.store(0, SeqCst);
    DEPTH.set(0);
}
