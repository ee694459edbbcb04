//! What one aclrtRecordEvent captured.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Stream;
use super::bell::Bell;
use super::engine::bring_on;
use super::event::now;
use super::order;
use super::reached::Reached;
use super::shared::Shared;

/// What one record captured: everything its stream held before.
pub(crate) struct Record {
    reached: Reached<Waiting>,
    /// When it was reached, in nanoseconds since the process began.
    pub(super) time: AtomicU64,
    /// Page and number, when other processes share the event.
    shared: Option<(Arc<Shared>, u64)>,
    /// The stream it was queued on: a host thread that waits lends it a hand.
    pub(crate) stream: &'static Stream,
    /// What whoever waits for it comes after; empty while nobody asks.
    pub(super) after: Vec<order::Position>,
}

/// A stream that waits.
#[derive(Clone, Copy)]
struct Waiting(&'static Stream);

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Record {
    pub(crate) fn new(stream: &'static Stream, shared: Option<Arc<Shared>>) -> Arc<Record> {
        let shared = shared.map(|shared| {
            let number = shared.begin_record();
            (shared, number)
        });
        Arc::new(Record {
            shared,
            reached: Reached::new(),
            time: AtomicU64::new(0),
            stream,
            after: order::captured(stream),
        })
    }

    /// Its number among the records of all processes that share the event.
    pub(super) fn number(&self) -> Option<u64> {
        self.shared.as_ref().map(|(_, number)| *number)
    }

    /// Whether other processes may wait for it.
    pub(super) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// What rings when it is reached.
    pub(super) fn bell(&self) -> &Bell {
        &self.reached.bell
    }

    pub(crate) fn is_done(&self) -> bool {
        self.reached.is_done()
    }

    /// The stream reached it. `count` counts it as done on the stream: whoever sees that it is reached
    /// sees that it is counted, and the other way round.
    pub(crate) fn fire(&self, count: impl FnOnce()) {
        self.time.store(now(), Ordering::Relaxed);
        let waiting = self.reached.reach(|| {
            count();
            if let Some((shared, number)) = &self.shared {
                shared.end_record(*number);
            }
        });
        waiting
            .into_iter()
            .for_each(|Waiting(stream)| bring_on(stream));
    }

    /// True when it is done; else `stream` is brought on when it is.
    pub(crate) fn is_done_or_wait(&self, stream: &'static Stream) -> bool {
        self.reached.is_done_or_wait(Waiting(stream))
    }
}
