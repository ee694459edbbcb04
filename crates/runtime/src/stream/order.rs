//! Which stream comes after which, for those who hand memory from one to another: while somebody
//! asks for it ([`watch`]), a record takes along what its stream comes after, and a wait for it adds
//! that to what the waiting stream comes after. Also: a wait for a position of another stream.

use std::sync::atomic::{AtomicBool, Ordering};

use super::engine::bring_on;
use super::record::Record;
use super::{Stream, engine};
use crate::os::lock::QuickLock;

/// A position of a stream: everything that was queued on it before.
pub(crate) type Position = (&'static Stream, u64);

static WATCHED: AtomicBool = AtomicBool::new(false);

/// From now on order is kept track of. Order from before is not known, and concerns nobody who asks.
pub(crate) fn watch() {
    WATCHED.store(true, Ordering::SeqCst);
}

/// Whether somebody asked for it.
#[inline]
pub(crate) fn is_watched() -> bool {
    WATCHED.load(Ordering::Relaxed)
}

/// What a stream knows of others; part of it.
#[derive(Default)]
pub(crate) struct Known {
    /// By the address of the stream: what everything queued from now on comes after.
    after: QuickLock<Vec<Position>>,
    /// Streams that wait for a position of this one; each counts as a sleeper.
    watchers: QuickLock<Vec<(u64, &'static Stream)>>,
}

fn place(list: &[Position], stream: &'static Stream) -> Result<usize, usize> {
    let address = |stream: &'static Stream| std::ptr::from_ref(stream) as usize;
    list.binary_search_by_key(&address(stream), |(other, _)| address(other))
}

fn learn_one(list: &mut Vec<Position>, (stream, position): Position) {
    match place(list, stream) {
        Ok(at) => list[at].1 = list[at].1.max(position),
        Err(at) => list.insert(at, (stream, position)),
    }
}

/// For a record that is about to be queued on `stream`: what whoever waits for it comes after.
/// Nothing while nobody asks.
#[inline]
pub(super) fn captured(stream: &'static Stream) -> Vec<Position> {
    if is_watched() {
        captured_now(stream)
    } else {
        Vec::new()
    }
}

#[cold]
fn captured_now(stream: &'static Stream) -> Vec<Position> {
    let mut list = stream.known.after.lock().clone();
    learn_one(&mut list, (stream, stream.submitted()));
    list
}

/// A wait for `record` was queued on `stream`.
pub(super) fn learn(stream: &'static Stream, record: &Record) {
    if record.after.is_empty() {
        return;
    }
    let mut list = stream.known.after.lock();
    for position in &record.after {
        if !std::ptr::eq(position.0, stream) {
            learn_one(&mut list, *position);
        }
    }
}

/// Its waits were dropped, or another stream has its place now.
pub(super) fn forget(stream: &Stream) {
    if is_watched() {
        stream.known.after.lock().clear();
    }
}

/// Whether what is queued on `stream` from now on comes after a position of another one.
pub(crate) fn follows(stream: &'static Stream, (other, position): Position) -> bool {
    let list = stream.known.after.lock();
    place(&list, other).is_ok_and(|at| list[at].1 >= position)
}

/// Makes `stream` wait for a position of another one.
pub(crate) fn wait_for(stream: &'static Stream, (other, position): Position) {
    engine::submit(stream, super::task::Task::WaitPosition { other, position });
    learn_one(&mut stream.known.after.lock(), (other, position));
}

/// True when the position is reached; else `stream` is brought on when it is.
pub(super) fn is_reached_or_wait((other, position): Position, stream: &'static Stream) -> bool {
    if other.reached(position) {
        return true;
    }
    let mut watchers = other.known.watchers.lock();
    let mine = (position, stream);
    let same = |(at, who): &(u64, &'static Stream)| *at == position && std::ptr::eq(*who, stream);
    if !watchers.iter().any(same) {
        watchers.push(mine);
        other.bell.listen();
    }
    // Whoever counted before it saw the watcher is seen here.
    if other.reached(position) {
        let before = watchers.len();
        watchers.retain(|watcher| !same(watcher));
        let gone = (before - watchers.len()) as u32;
        other.bell.leave(gone);
        return true;
    }
    false
}

/// More of `stream` is done, and it has sleepers: brings on those that waited for it.
pub(super) fn call_watchers(stream: &Stream) {
    let mut ready = Vec::new();
    {
        let mut watchers = stream.known.watchers.lock();
        watchers.retain(|(position, who)| {
            let reached = stream.reached(*position);
            if reached {
                ready.push(*who);
            }
            !reached
        });
        stream.bell.leave(ready.len() as u32);
    }
    ready.into_iter().for_each(bring_on);
}
