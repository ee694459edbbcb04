//! A point that a stream reaches once, and those who wait for it, apart from everything else, so that it can
//! be checked exhaustively (tests/loom).
//!
//! Promise: who asks and is told that it is not reached is handed out when it is, once; who sleeps on the
//! bell is woken; who sees that it is reached sees what the stream counted by it, and the other way round.

use std::sync::PoisonError;

use super::bell::Bell;
use super::sync::{AtomicU8, Mutex, Ordering::SeqCst, PATIENCE, yield_now};

/// Its stream has not reached it.
const AHEAD: u8 = 0;
/// Its stream is reaching it.
const HERE: u8 = 1;
/// Its stream has reached it.
const DONE: u8 = 2;

/// See the module. `W`: who can wait without sleeping.
pub(crate) struct Reached<W> {
    /// [`AHEAD`], [`HERE`] or [`DONE`].
    state: AtomicU8,
    waiting: Mutex<Vec<W>>,
    /// For threads that sleep until it is reached.
    pub(crate) bell: Bell,
}

impl<W: Copy + PartialEq> Reached<W> {
    /// A point ahead.
    pub(crate) fn new() -> Self {
        Self {
            state: AtomicU8::new(AHEAD),
            waiting: Mutex::new(Vec::new()),
            bell: Bell::default(),
        }
    }

    /// Whether it is reached.
    pub(crate) fn is_done(&self) -> bool {
        match self.state.load(SeqCst) {
            DONE => true,
            HERE => self.is_done_soon(),
            _ => false,
        }
    }

    /// Its stream is between counting it and saying so.
    #[cold]
    fn is_done_soon(&self) -> bool {
        // With an end: after a fork nobody says so in the child.
        for _ in 0..PATIENCE {
            if self.state.load(SeqCst) == DONE {
                return true;
            }
            yield_now();
        }
        false
    }

    /// The stream reached it; `count` counts it. Returns who waits for it.
    #[must_use]
    pub(crate) fn reach(&self, count: impl FnOnce()) -> Vec<W> {
        self.state.store(HERE, SeqCst);
        count();
        let waiting = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            self.state.store(DONE, SeqCst);
            std::mem::take(&mut *waiting)
        };
        self.bell.ring();
        waiting
    }

    /// True when it is reached; else `who` is handed out when it is.
    pub(crate) fn is_done_or_wait(&self, who: W) -> bool {
        if self.is_done() {
            return true;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // Not `is_done`: whoever says so needs this lock.
        if self.state.load(SeqCst) == DONE {
            return true;
        }
        if !waiting.contains(&who) {
            waiting.push(who);
        }
        false
    }
}
