//! What queued work does with a buffer. The state lives in the buffer, so nothing that is forgotten
//! (`mem::forget` of a guard, of a future) makes memory free or writable too early.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cannery_abi::{ACL_EVENT_RECORDED_STATUS_COMPLETE, aclrtEvent};

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::stream::Stream;

/// A point in a stream: everything queued before it is done once its event is.
#[derive(Debug)]
pub(crate) struct Mark {
    event: aclrtEvent,
    stream: u64,
    context: Arc<Context>,
}

// SAFETY: events may be recorded, queried and awaited from any thread (manual, event chapter).
unsafe impl Send for Mark {}
// SAFETY: as above.
unsafe impl Sync for Mark {}

impl Mark {
    /// A mark behind everything that is queued now.
    #[track_caller]
    pub(crate) fn record(stream: &Stream) -> Result<Mark> {
        let context = stream.context();
        let mark = Mark {
            event: context.take_event()?,
            stream: stream.number(),
            context: Arc::clone(context),
        };
        context.call("aclrtRecordEvent", |table| {
            // SAFETY: both handles are alive.
            unsafe { (table.aclrtRecordEvent)(mark.event, stream.as_raw()) }
        })?;
        Ok(mark)
    }

    /// Whether it has been reached.
    #[track_caller]
    pub(crate) fn is_done(&self) -> Result<bool> {
        let mut status = 0;
        self.context.call("aclrtQueryEventStatus", |table| {
            // SAFETY: the event is alive, the place valid.
            unsafe { (table.aclrtQueryEventStatus)(self.event, &raw mut status) }
        })?;
        Ok(status == ACL_EVENT_RECORDED_STATUS_COMPLETE)
    }

    /// Waits until it is reached.
    #[track_caller]
    pub(crate) fn wait(&self) -> Result<()> {
        self.context.call("aclrtSynchronizeEvent", |table| {
            // SAFETY: the event is alive.
            unsafe { (table.aclrtSynchronizeEvent)(self.event) }
        })
    }

    /// Lets later work of another stream wait for it.
    #[track_caller]
    fn hold(&self, stream: &Stream) -> Result<()> {
        stream.context().call("aclrtStreamWaitEvent", |table| {
            // SAFETY: both handles are alive.
            unsafe { (table.aclrtStreamWaitEvent)(stream.as_raw(), self.event) }
        })
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.context.give_event(self.event);
    }
}

/// The queued work that writes, and that reads, a buffer: the newest mark of each stream. Work of one stream
/// is done in order, and its marks are added under the lock of the stream, so the newest says it all.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// Whether there may be marks; where not, the lock need not be taken.
    busy: AtomicBool,
    /// Queued work whose end cannot be known any more: the memory is never touched or freed again.
    lost: AtomicBool,
    marks: Mutex<Marks>,
}

#[derive(Debug, Default)]
struct Marks {
    writes: Vec<Arc<Mark>>,
    reads: Vec<Arc<Mark>>,
}

impl Marks {
    /// The lists that matter to somebody who reads, or who writes.
    fn lists(&mut self, for_write: bool) -> impl Iterator<Item = &mut Vec<Arc<Mark>>> {
        let reads = for_write.then_some(&mut self.reads);
        std::iter::once(&mut self.writes).chain(reads)
    }
}

impl Uses {
    fn lock(&self) -> MutexGuard<'_, Marks> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline(always)]
    fn is_idle(&self) -> bool {
        !self.busy.load(Ordering::Acquire)
    }

    #[inline(always)]
    #[track_caller]
    fn check(&self) -> Result<()> {
        if self.lost.load(Ordering::Acquire) {
            Err(lost())
        } else {
            Ok(())
        }
    }

    /// The end of queued work with this memory is unknown.
    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::Release);
        self.busy.store(true, Ordering::Release);
    }

    /// Waits until the host may read: for writes.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn wait_to_read(&self) -> Result<()> {
        if self.is_idle() {
            Ok(())
        } else {
            self.wait(false)
        }
    }

    /// Waits until the host may write or release: for everything.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn wait_to_write(&self) -> Result<()> {
        if self.is_idle() {
            Ok(())
        } else {
            self.wait(true)
        }
    }

    #[track_caller]
    fn wait(&self, for_write: bool) -> Result<()> {
        self.check()?;
        // Other threads may use other parts meanwhile, so the lock is not held while waiting.
        let known: Vec<Arc<Mark>> = self
            .lock()
            .lists(for_write)
            .flat_map(|list| list.iter().cloned())
            .collect();
        for mark in &known {
            mark.wait()?;
        }
        let mut marks = self.lock();
        for list in marks.lists(for_write) {
            list.retain(|mark| !known.iter().any(|done| Arc::ptr_eq(mark, done)));
        }
        if marks.writes.is_empty() && marks.reads.is_empty() && !self.lost.load(Ordering::Acquire) {
            self.busy.store(false, Ordering::Release);
        }
        Ok(())
    }

    /// Whether the host may read, or write, without waiting.
    #[track_caller]
    pub(crate) fn is_ready(&self, for_write: bool) -> Result<bool> {
        if self.is_idle() {
            return Ok(true);
        }
        self.check()?;
        for mark in self.lock().lists(for_write).flat_map(|list| list.iter()) {
            if !mark.is_done()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Orders later work of a stream that reads behind queued writes.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn before_read(&self, stream: &Stream) -> Result<()> {
        if self.is_idle() {
            Ok(())
        } else {
            self.order(stream, false)
        }
    }

    /// Orders later work of a stream that writes, or releases, behind everything.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn before_write(&self, stream: &Stream) -> Result<()> {
        if self.is_idle() {
            Ok(())
        } else {
            self.order(stream, true)
        }
    }

    #[track_caller]
    fn order(&self, stream: &Stream, for_write: bool) -> Result<()> {
        self.check()?;
        for list in self.lock().lists(for_write) {
            let mut index = 0;
            while let Some(mark) = list.get(index) {
                if mark.stream == stream.number() {
                    index += 1; // The stream keeps its order.
                } else if mark.is_done()? {
                    list.swap_remove(index);
                } else {
                    mark.hold(stream)?;
                    index += 1;
                }
            }
        }
        Ok(())
    }

    /// Queued work reads the buffer until the mark. The lock of the mark's stream is held.
    pub(crate) fn reads_until(&self, mark: Arc<Mark>) {
        put(&mut self.lock().reads, mark, &self.busy);
    }

    /// Queued work writes the buffer until the mark. The lock of the mark's stream is held.
    pub(crate) fn writes_until(&self, mark: Arc<Mark>) {
        put(&mut self.lock().writes, mark, &self.busy);
    }
}

/// Adds a mark in the place of the older one of its stream. The lock of the list is held.
fn put(list: &mut Vec<Arc<Mark>>, mark: Arc<Mark>, busy: &AtomicBool) {
    match list.iter_mut().find(|old| old.stream == mark.stream) {
        Some(old) => *old = mark,
        None => list.push(mark),
    }
    busy.store(true, Ordering::Release);
}

#[cold]
#[track_caller]
fn lost() -> Error {
    Error::own(
        Code::InFlight,
        "aclrtSynchronizeStream",
        "an earlier wait for queued work with this memory failed, so it may still be in use: it is kept and \
         cannot be used any more; see the earlier error for the cause"
            .to_owned(),
    )
}

/// What views of a buffer share with it.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) context: Arc<Context>,
    pub(crate) uses: Uses,
}

impl Shared {
    pub(crate) fn new(context: &Arc<Context>) -> Shared {
        Shared {
            context: Arc::clone(context),
            uses: Uses::default(),
        }
    }
}
