//! What buffers of the crate `cannery` know of queued work (`lane.rs` and `uses.rs` of `crates/cannery/src`, the
//! files themselves): threads queue work of one or two streams, wait, look, and order streams behind each
//! other. And the failures of `Drop` (`kept.rs`).
//!
//! The promise that is checked: a wait that returned means that everything is done that was queued with the
//! buffer before; work that was ordered behind other work has it behind itself; what others queue meanwhile
//! is not taken for awaited.

use std::collections::VecDeque;

use loom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// Names that the files use.
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    pub(crate) use loom::sync::{Arc, Mutex, MutexGuard};
    pub(crate) use std::sync::PoisonError;
}

mod error {
    /// A failure has nothing to say here.
    #[derive(Debug, PartialEq, Eq)]
    pub(crate) struct Error;

    impl Error {
        pub(crate) fn lost() -> Error {
            Error
        }
    }

    pub(crate) type Result<T> = std::result::Result<T, Error>;
}

#[path = "../../../crates/cannery/src/lane.rs"]
mod lane;

#[path = "../../../crates/cannery/src/uses.rs"]
mod uses;

#[path = "../../../crates/cannery/src/kept.rs"]
mod kept;

use lane::{Lane, Work};

/// A stream that does nothing by itself: whoever waits works it off.
#[derive(Debug, Default)]
struct Stream(Mutex<Tasks>);

#[derive(Debug, Default)]
struct Tasks {
    queued: VecDeque<Task>,
    /// How many were taken out, for marks.
    gone: u64,
    records: u32,
}

#[derive(Debug)]
enum Task {
    /// Counts in the buffer that it uses.
    Use(Arc<AtomicU32>),
    /// Waits for a mark of another stream.
    Behind(Arc<Stream>, u64),
}

/// A stream, as lanes know it: marks are positions in it.
#[derive(Debug, Clone)]
struct Queue(Arc<Stream>);

/// A stream and the number of tasks that are done when it is reached.
#[derive(Debug, Clone)]
struct Mark(Arc<Stream>, u64);

impl Stream {
    fn run_until(&self, position: u64) {
        loop {
            let task = {
                let mut tasks = self.0.lock().expect("lock");
                if tasks.gone >= position {
                    return;
                }
                // Done before it counts as gone: the lock is held.
                match tasks.queued.pop_front() {
                    Some(Task::Use(buffer)) => {
                        buffer.fetch_add(1, SeqCst);
                        tasks.gone += 1;
                        continue;
                    }
                    Some(behind) => behind,
                    None => return,
                }
            };
            let Task::Behind(other, end) = task else {
                unreachable!("the other kind was done above");
            };
            other.run_until(end);
            self.0.lock().expect("lock").gone += 1;
        }
    }

    fn end(&self) -> u64 {
        let tasks = self.0.lock().expect("lock");
        tasks.gone + tasks.queued.len() as u64
    }
}

impl Work for Queue {
    type Mark = Mark;

    fn record(&self) -> error::Result<Mark> {
        let end = self.0.end();
        self.0.0.lock().expect("lock").records += 1;
        Ok(Mark(Arc::clone(&self.0), end))
    }

    fn drain(&self) -> error::Result<()> {
        self.0.run_until(self.0.end());
        Ok(())
    }

    fn wait(&self, mark: &Mark) -> error::Result<()> {
        mark.0.run_until(mark.1);
        Ok(())
    }

    fn is_done(&self, mark: &Mark) -> error::Result<bool> {
        Ok(mark.0.0.lock().expect("lock").gone >= mark.1)
    }

    fn hold(&self, mark: &Mark) -> error::Result<()> {
        let behind = Task::Behind(Arc::clone(&mark.0), mark.1);
        self.0.0.lock().expect("lock").queued.push_back(behind);
        Ok(())
    }
}

/// A buffer: what is known of it, and how many tasks have used it.
#[derive(Default)]
struct Buffer {
    uses: uses::Uses<Queue>,
    used: Arc<AtomicU32>,
}

fn lane(number: u64) -> Arc<Lane<Queue>> {
    Arc::new(Lane::new(Queue(Arc::new(Stream::default())), number))
}

/// Queues work that writes, or reads, a buffer.
fn queue(lane: &Arc<Lane<Queue>>, buffer: &Buffer, write: bool) {
    let ordered = if write {
        buffer.uses.before_write(lane)
    } else {
        buffer.uses.before_read(lane)
    };
    ordered.expect("ordered");
    put(lane, buffer, write);
}

/// The same without an order between streams.
fn put(lane: &Arc<Lane<Queue>>, buffer: &Buffer, write: bool) {
    let task = Task::Use(Arc::clone(&buffer.used));
    let stream = &lane.work().0;
    stream.0.lock().expect("lock").queued.push_back(task);
    let stretch = lane.queued(1);
    if write {
        buffer.uses.writes_until(lane, stretch);
    } else {
        buffer.uses.reads_until(lane, stretch);
    }
}

fn used(buffer: &Buffer) -> u32 {
    buffer.used.load(SeqCst)
}

/// Every interleaving in which threads are put aside at most twice at moments of the model's choosing: all of
/// them would take hours.
fn model(check: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.max_branches = 100_000;
    builder.check(check);
}

#[test]
fn a_wait_is_for_what_was_queued_while_others_queue() {
    model(|| {
        let lane = lane(1);
        let other = {
            let lane = Arc::clone(&lane);
            thread::spawn(move || {
                let buffer = Buffer::default();
                queue(&lane, &buffer, true);
                lane.cut();
                buffer.uses.wait_to_write().expect("waited");
                assert_eq!(used(&buffer), 1);
            })
        };
        let mut buffer = Buffer::default();
        queue(&lane, &buffer, true);
        queue(&lane, &buffer, false);
        buffer.uses.wait_to_write().expect("waited");
        assert_eq!(used(&buffer), 2);
        buffer.uses.settle();
        queue(&lane, &buffer, true);
        buffer.uses.wait_to_read().expect("waited");
        assert_eq!(used(&buffer), 3);
        other.join().expect("joined");
    });
}

#[test]
fn a_synchronisation_covers_what_was_queued_before_it_alone() {
    model(|| {
        let lane = lane(1);
        let other = {
            let lane = Arc::clone(&lane);
            thread::spawn(move || {
                let stretch = lane.begin_drain();
                lane.work().drain().expect("drained");
                lane.reached(stretch);
            })
        };
        let buffer = Buffer::default();
        queue(&lane, &buffer, true);
        if buffer.uses.is_ready(true).expect("looked") {
            assert_eq!(used(&buffer), 1);
        }
        queue(&lane, &buffer, true);
        buffer.uses.wait_to_write().expect("waited");
        assert_eq!(used(&buffer), 2);
        other.join().expect("joined");
    });
}

#[test]
fn two_threads_on_one_stream_share_a_source() {
    model(|| {
        let lane = lane(1);
        let buffer = Arc::new(Buffer::default());
        let other = {
            let (lane, buffer) = (Arc::clone(&lane), Arc::clone(&buffer));
            thread::spawn(move || {
                put(&lane, &buffer, false);
                lane.cut();
            })
        };
        put(&lane, &buffer, false);
        lane.cut();
        put(&lane, &buffer, false);
        other.join().expect("joined");
        buffer.uses.wait_to_write().expect("waited");
        assert_eq!(used(&buffer), 3);
    });
}

#[test]
fn readers_of_two_streams_are_both_awaited() {
    model(|| {
        let buffer = Arc::new(Buffer::default());
        let other = {
            let buffer = Arc::clone(&buffer);
            thread::spawn(move || queue(&lane(2), &buffer, false))
        };
        queue(&lane(1), &buffer, false);
        other.join().expect("joined");
        buffer.uses.wait_to_write().expect("waited");
        assert_eq!(used(&buffer), 2);
    });
}

#[test]
fn a_writer_of_another_stream_is_behind_all_readers() {
    model(|| {
        let buffer = Arc::new(Buffer::default());
        let (first, second) = (lane(1), lane(2));
        let other = {
            let (buffer, second) = (Arc::clone(&buffer), Arc::clone(&second));
            thread::spawn(move || queue(&second, &buffer, false))
        };
        queue(&first, &buffer, false);
        other.join().expect("joined");
        let third = lane(3);
        queue(&third, &buffer, true);
        // Only the third stream is worked off: the others must have gone before.
        third.work().drain().expect("drained");
        assert_eq!(used(&buffer), 3);
    });
}

#[test]
fn what_a_destroyed_stream_queued_can_still_be_awaited() {
    model(|| {
        let lane = lane(1);
        let buffer = Arc::new(Buffer::default());
        queue(&lane, &buffer, true);
        let other = {
            let buffer = Arc::clone(&buffer);
            thread::spawn(move || {
                buffer.uses.wait_to_read().expect("waited");
                assert_eq!(used(&buffer), 1);
            })
        };
        lane.end();
        buffer.uses.wait_to_write().expect("waited");
        assert_eq!(used(&buffer), 1);
        other.join().expect("joined");
    });
}

#[test]
fn a_lost_buffer_stays_lost() {
    model(|| {
        let lane = lane(1);
        let buffer = Arc::new(Buffer::default());
        let other = {
            let (lane, buffer) = (Arc::clone(&lane), Arc::clone(&buffer));
            thread::spawn(move || put(&lane, &buffer, false))
        };
        buffer.uses.lose();
        other.join().expect("joined");
        assert_eq!(buffer.uses.wait_to_read(), Err(error::Error));
        assert_eq!(buffer.uses.is_ready(false), Err(error::Error));
    });
}

#[test]
fn events_are_rare_and_few_are_kept() {
    model(|| {
        let lane = lane(1);
        let buffer = Buffer::default();
        for _ in 0..lane::FULL as u32 * 2 + 1 {
            queue(&lane, &buffer, true);
        }
        let records = |lane: &Lane<Queue>| lane.work().0.0.lock().expect("lock").records;
        assert_eq!(records(&lane), 2);
        buffer.uses.wait_to_write().expect("waited");
        buffer.uses.wait_to_write().expect("waited");
        assert_eq!(used(&buffer), lane::FULL as u32 * 2 + 1);
        assert_eq!(records(&lane), 3);
    });
}

#[test]
fn failures_are_counted_and_the_newest_are_kept() {
    model(|| {
        let kept = Arc::new(kept::Kept::new());
        let other = {
            let kept = Arc::clone(&kept);
            thread::spawn(move || kept.add(1))
        };
        kept.add(2);
        let mut taken = kept.take();
        other.join().expect("joined");
        taken.extend(kept.take());
        taken.sort_unstable();
        assert_eq!(taken, [1, 2]);
        assert_eq!(kept.count(), 2);
        for number in 0..kept::KEPT as u32 + 10 {
            kept.add(number);
        }
        assert_eq!(kept.count(), kept::KEPT as u64 + 12);
        let taken = kept.take();
        assert_eq!((taken.len(), taken[0]), (kept::KEPT, 10));
    });
}
