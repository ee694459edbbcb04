//! Ends tasks of streams before their time, and waits for those that are about to end by themselves.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::super::{STREAMS, Stream, order, task::Task};
use super::{ACTIVE, count_done, count_lost, settle, state};

/// Drops every task that has not begun; they count as done. What others wait for is released.
pub(crate) fn drop_tasks(stream: &'static Stream) {
    let dropped = {
        let mut queue = stream.queue.lock();
        stream.drops.fetch_add(1, Ordering::Relaxed);
        if stream.piecewise.load(Ordering::Relaxed) && stream.turn.has_runner() {
            stream.lost.fetch_add(1, Ordering::SeqCst);
        }
        std::mem::take(&mut *queue)
    };
    order::forget(stream);
    if order::is_watched() {
        // Memory changes hands when tasks count as done: the running one, which does not count yet,
        // is let finish with its bytes first.
        finish_moving(stream);
    }
    let count = dropped.len() as u64;
    dropped.iter().for_each(Task::doomed);
    dropped.into_iter().for_each(Task::drop_unrun);
    if count > 0 {
        count_lost(stream, count);
    }
    // A runner, if there is one, finds out by itself.
    if stream.turn.take() {
        let unblocked = stream.turn.unblock();
        leave(stream, unblocked);
    }
    state()
        .pollers
        .retain(|other| !std::ptr::eq(*other, stream));
}

/// Ends the task that a stream is at, if that waits; what is queued behind it goes on. A task that moves bytes is
/// over soon, and is let finish. Between two tasks, the one that begins next is meant: who asks saw the stream
/// stand still, and cannot see that its runner was not there yet. False: it is a function or kernel of the
/// program, which cannot be ended.
pub(crate) fn stop_task(stream: &'static Stream) -> bool {
    /// How long a look at what a task waits for may take, and the way from one task to the next.
    const PATIENCE: Duration = Duration::from_millis(200);
    let began = Instant::now();
    loop {
        if stream.turn.is_idle() {
            return true;
        }
        let blocked = stream.turn.is_blocked();
        if blocked && stream.turn.take() {
            break;
        }
        if began.elapsed() > PATIENCE && !stream.moving.load(Ordering::SeqCst) {
            // What is queued and not begun is held back by the schedule: the stream is at no task.
            return !blocked;
        }
        std::thread::yield_now();
    }
    // With the token: nobody takes the task meanwhile.
    let waits = stream.turn.is_blocked();
    let task = waits.then(|| stream.queue.lock().pop_front()).flatten();
    if let Some(task) = task {
        task.drop_unrun();
        count_done(stream, 1);
    }
    let unblocked = stream.turn.unblock();
    leave(stream, unblocked);
    true
}

/// Gives the token of a stream back whose tasks were dropped, all or some.
fn leave(stream: &'static Stream, unblocked: bool) {
    let rest = stream
        .turn
        .give_back(true, || !stream.queue.lock().is_empty());
    if unblocked {
        ACTIVE.fetch_sub(1, Ordering::SeqCst);
    }
    settle(stream, rest);
}

/// Host memory `[start, end)` is about to be released: no queued task needs it afterwards.
pub(crate) fn let_go_of(start: u64, end: u64) {
    for (_, stream) in STREAMS.living() {
        if stream.is_idle() {
            continue;
        }
        for task in stream.queue.lock().iter_mut() {
            task.let_go_of(start, end);
        }
        finish_moving(stream);
    }
}

/// Waits for a task that was taken out of the queue before and may still be at its bytes: such tasks
/// end soon.
pub(crate) fn finish_moving(stream: &'static Stream) {
    let done = stream.done.load(Ordering::SeqCst);
    while stream.moving.load(Ordering::SeqCst) && stream.done.load(Ordering::SeqCst) == done {
        std::thread::yield_now();
    }
}
