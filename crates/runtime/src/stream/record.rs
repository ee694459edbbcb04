//! What one aclrtRecordEvent captured.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Stream;
use super::engine::bring_on;
use super::event::now;
use super::order;
use super::shared::Shared;
use crate::os::futex;

/// Its stream has not reached it.
const AHEAD: u8 = 0;
/// Its stream is reaching it.
const HERE: u8 = 1;
/// Its stream has reached it.
const DONE: u8 = 2;

/// What one record captured: everything its stream held before.
pub(crate) struct Record {
    /// [`AHEAD`], [`HERE`] or [`DONE`].
    state: AtomicU8,
    /// When it was reached, in nanoseconds since the process began.
    pub(super) time: AtomicU64,
    waiting: Mutex<Vec<&'static Stream>>,
    pub(super) sleepers: AtomicU32,
    pub(super) bell: AtomicU32,
    /// Page and number, when other processes share the event.
    shared: Option<(Arc<Shared>, u64)>,
    /// The stream it was queued on: a host thread that waits lends it a hand.
    pub(super) stream: &'static Stream,
    /// What whoever waits for it comes after; empty while nobody asks.
    pub(super) after: Vec<order::Position>,
}

impl Record {
    pub(crate) fn new(stream: &'static Stream, shared: Option<Arc<Shared>>) -> Arc<Record> {
        let shared = shared.map(|shared| {
            let number = shared.begin_record();
            (shared, number)
        });
        Arc::new(Record {
            shared,
            state: AtomicU8::new(AHEAD),
            time: AtomicU64::new(0),
            waiting: Mutex::new(Vec::new()),
            sleepers: AtomicU32::new(0),
            bell: AtomicU32::new(0),
            stream,
            after: order::captured(stream),
        })
    }

    /// Its number among the records of all processes that share the event.
    pub(super) fn number(&self) -> Option<u64> {
        self.shared.as_ref().map(|(_, number)| *number)
    }

    pub(crate) fn is_done(&self) -> bool {
        match self.state.load(Ordering::SeqCst) {
            DONE => true,
            HERE => self.is_done_soon(),
            _ => false,
        }
    }

    /// Its stream is between counting it and saying so.
    #[cold]
    fn is_done_soon(&self) -> bool {
        // With an end: after a fork nobody says so in the child.
        for _ in 0..100_000 {
            if self.state.load(Ordering::SeqCst) == DONE {
                return true;
            }
            std::thread::yield_now();
        }
        false
    }

    /// The stream reached it. `count` counts it as done on the stream: whoever sees that it is reached
    /// sees that it is counted, and the other way round.
    pub(crate) fn fire(&self, count: impl FnOnce()) {
        self.time.store(now(), Ordering::Relaxed);
        self.state.store(HERE, Ordering::SeqCst);
        count();
        if let Some((shared, number)) = &self.shared {
            shared.end_record(*number);
        }
        let waiting = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            self.state.store(DONE, Ordering::SeqCst);
            std::mem::take(&mut *waiting)
        };
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            self.bell.fetch_add(1, Ordering::SeqCst);
            futex::wake_all(&self.bell);
        }
        waiting.into_iter().for_each(bring_on);
    }

    /// True when it is done; else `stream` is brought on when it is.
    pub(crate) fn is_done_or_wait(&self, stream: &'static Stream) -> bool {
        if self.is_done() {
            return true;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // Not `is_done`: whoever says so needs this lock.
        if self.state.load(Ordering::SeqCst) == DONE {
            return true;
        }
        if !waiting.iter().any(|other| std::ptr::eq(*other, stream)) {
            waiting.push(stream);
        }
        false
    }
}
