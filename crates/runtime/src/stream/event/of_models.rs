//! Events of the program in models that run.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::super::{Stream, engine, record::Record, shared::Shared, task::Task};
use super::{EVENTS, Event, raise};

/// Records an event of the program for a model that runs: the task to queue, or one that is a piece of another;
/// a dead event is nobody's.
pub(crate) fn external_record(handle: u64, stream: &'static Stream, piece: bool) -> Option<Task> {
    let event = EVENTS.find(handle)?;
    let info = event.read();
    if let Some(up) = info.up {
        return Some(raise(up));
    }
    let record = newest(event, stream, info.shared);
    Some(if piece {
        Task::Reach(record)
    } else {
        Task::Record(record)
    })
}

/// Records an event of the program for a model, on a stream that is there by now.
pub(in crate::stream) fn record_now(handle: u64, stream: &'static Stream) {
    let Some(event) = EVENTS.find(handle) else {
        return;
    };
    let info = event.read();
    if let Some(up) = info.up {
        up.store(true, Ordering::Release);
        return engine::look_again();
    }
    let record = newest(event, stream, info.shared);
    record.fire(|| {});
    engine::look_again();
}

/// A record that is the newest one of the event from now on.
fn newest(event: &Event, stream: &'static Stream, shared: Option<Arc<Shared>>) -> Arc<Record> {
    let record = Record::new(stream, shared);
    let mut inner = event.inner.lock();
    inner.captured = None;
    inner.record = Some(record.clone());
    record
}

/// What a model that runs finds when it comes to wait for an event of the program.
pub(in crate::stream) enum Found {
    /// Nothing to wait for.
    Done,
    /// It was recorded.
    Recorded(Arc<Record>),
    /// Not yet.
    Nothing,
    /// It was destroyed.
    Dead,
}

/// See [`Found`].
pub(in crate::stream) fn look(handle: u64) -> Found {
    let Some(event) = EVENTS.find(handle) else {
        return Found::Dead;
    };
    let inner = event.inner.lock();
    match (&inner.up, &inner.record) {
        (Some(up), _) if up.load(Ordering::Acquire) => Found::Done,
        (None, Some(record)) => Found::Recorded(record.clone()),
        _ => Found::Nothing,
    }
}

/// Takes an event of the program back to the state before any record that is done; one that is still queued
/// comes after the reset.
pub(in crate::stream) fn reset_now(handle: u64) {
    if let Some(event) = EVENTS.find(handle) {
        let mut inner = event.inner.lock();
        if let Some(up) = &inner.up {
            up.store(false, Ordering::Release);
        }
        if inner.record.as_ref().is_some_and(|record| record.is_done()) {
            inner.record = None;
        }
    }
}
