//! What queued work does with a buffer. The state lives in the buffer, so nothing that is forgotten
//! (`mem::forget` of a guard, of a future) makes memory free or writable too early.
//!
//! A buffer knows, for each stream, the last stretch of work that reads it and the last that writes it. The
//! stream that came first is its home: to use it there again takes no lock of the buffer. `tests/loom` runs
//! this file under every interleaving of threads.

use super::error::{Error, Result};
use super::lane::{Lane, Work};
use super::sync::{Arc, AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, PoisonError};

/// Home of a buffer that no queued work uses.
const NOWHERE: u64 = 0;
/// Home of a buffer whose queued work has an end that cannot be known any more: the memory is never touched or
/// freed again.
const LOST: u64 = u64::MAX;

/// The queued work that reads, and that writes, a buffer.
#[derive(Debug)]
pub(crate) struct Uses<W: Work> {
    /// Number of the home lane. Once a lane is home it stays so until the buffer is settled.
    home: AtomicU64,
    /// Stretches of the home lane, 0 for none. They only grow.
    reads: AtomicU64,
    writes: AtomicU64,
    /// Whether other lanes use it, too.
    more: AtomicBool,
    lanes: Mutex<Lanes<W>>,
}

#[derive(Debug)]
struct Lanes<W: Work> {
    home: Option<Arc<Lane<W>>>,
    others: Vec<Use<W>>,
}

#[derive(Debug)]
struct Use<W: Work> {
    lane: Arc<Lane<W>>,
    reads: u64,
    writes: u64,
}

impl<W: Work> Default for Uses<W> {
    fn default() -> Uses<W> {
        Uses {
            home: AtomicU64::new(NOWHERE),
            reads: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            more: AtomicBool::new(false),
            lanes: Mutex::new(Lanes {
                home: None,
                others: Vec::new(),
            }),
        }
    }
}

/// Stores a stretch, unless a later one is there.
#[inline(always)]
fn grow(slot: &AtomicU64, stretch: u64) {
    // Most work belongs to the stretch of the work before it.
    if slot.load(Ordering::Acquire) < stretch {
        slot.fetch_max(stretch, Ordering::AcqRel);
    }
}

/// What matters to somebody who reads, or who writes.
#[inline(always)]
fn last(reads: u64, writes: u64, for_write: bool) -> u64 {
    if for_write { reads.max(writes) } else { writes }
}

impl<W: Work> Uses<W> {
    fn lock(&self) -> MutexGuard<'_, Lanes<W>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline(always)]
    fn is_idle(&self) -> bool {
        self.home.load(Ordering::Acquire) == NOWHERE
    }

    /// The end of queued work with this memory is unknown.
    pub(crate) fn lose(&self) {
        let _lanes = self.lock();
        self.home.store(LOST, Ordering::Release);
    }

    #[track_caller]
    fn check(&self) -> Result<()> {
        if self.home.load(Ordering::Acquire) == LOST {
            Err(Error::lost())
        } else {
            Ok(())
        }
    }

    /// The first lane from an index on whose work is not known to be done, with its index. Lanes keep their
    /// index while the buffer is shared.
    fn busy(&self, for_write: bool, from: usize) -> Option<(usize, Arc<Lane<W>>, u64)> {
        let lanes = self.lock();
        let home = lanes.home.iter().map(|lane| {
            let reads = self.reads.load(Ordering::Acquire);
            let writes = self.writes.load(Ordering::Acquire);
            (lane, last(reads, writes, for_write))
        });
        let others = lanes
            .others
            .iter()
            .map(|used| (&used.lane, last(used.reads, used.writes, for_write)));
        home.chain(others)
            .enumerate()
            .skip(from)
            .find(|(_, (lane, stretch))| !lane.is_reached(*stretch))
            .map(|(index, (lane, stretch))| (index, Arc::clone(lane), stretch))
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
        // Other threads may use other parts meanwhile, so no lock is held while waiting.
        let mut next = 0;
        while let Some((index, lane, stretch)) = self.busy(for_write, next) {
            lane.wait(stretch)?;
            next = index + 1;
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
        let mut next = 0;
        while let Some((index, lane, stretch)) = self.busy(for_write, next) {
            if !lane.is_done(stretch)? {
                return Ok(false);
            }
            next = index + 1;
        }
        Ok(true)
    }

    /// Orders later work of a lane that reads behind queued writes.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn before_read(&self, lane: &Lane<W>) -> Result<()> {
        self.before(lane, false)
    }

    /// Orders later work of a lane that writes, or releases, behind everything.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn before_write(&self, lane: &Lane<W>) -> Result<()> {
        self.before(lane, true)
    }

    #[inline(always)]
    #[track_caller]
    fn before(&self, lane: &Lane<W>, for_write: bool) -> Result<()> {
        let home = self.home.load(Ordering::Acquire);
        // A lane keeps its own order.
        if home == NOWHERE || (home == lane.number() && !self.more.load(Ordering::Acquire)) {
            Ok(())
        } else {
            self.order(lane, for_write)
        }
    }

    #[cold]
    #[track_caller]
    fn order(&self, lane: &Lane<W>, for_write: bool) -> Result<()> {
        self.check()?;
        let mut next = 0;
        while let Some((index, other, stretch)) = self.busy(for_write, next) {
            if other.number() != lane.number()
                && let Some(mark) = other.pending(stretch)?
            {
                lane.work().hold(&mark)?;
            }
            next = index + 1;
        }
        Ok(())
    }

    /// Queued work reads the buffer until the end of a stretch.
    #[inline(always)]
    pub(crate) fn reads_until(&self, lane: &Arc<Lane<W>>, stretch: u64) {
        if self.home.load(Ordering::Acquire) == lane.number() {
            grow(&self.reads, stretch);
        } else {
            self.put(lane, stretch, false);
        }
    }

    /// Queued work writes the buffer until the end of a stretch.
    #[inline(always)]
    pub(crate) fn writes_until(&self, lane: &Arc<Lane<W>>, stretch: u64) {
        if self.home.load(Ordering::Acquire) == lane.number() {
            grow(&self.writes, stretch);
        } else {
            self.put(lane, stretch, true);
        }
    }

    #[cold]
    fn put(&self, lane: &Arc<Lane<W>>, stretch: u64, write: bool) {
        let mut lanes = self.lock();
        let home = lanes.home.as_ref().map(|home| home.number());
        if home.is_none_or(|home| home == lane.number()) {
            lanes.home = Some(Arc::clone(lane));
            let slot = if write { &self.writes } else { &self.reads };
            grow(slot, stretch);
            if self.home.load(Ordering::Acquire) == NOWHERE {
                self.home.store(lane.number(), Ordering::Release);
            }
            return;
        }
        let known = lanes
            .others
            .iter()
            .position(|used| used.lane.number() == lane.number());
        let index = known.unwrap_or(lanes.others.len());
        if known.is_none() {
            lanes.others.push(Use {
                lane: Arc::clone(lane),
                reads: 0,
                writes: 0,
            });
        }
        let used = &mut lanes.others[index];
        let slot = if write {
            &mut used.writes
        } else {
            &mut used.reads
        };
        *slot = stretch.max(*slot);
        self.more.store(true, Ordering::Release);
    }

    /// Forgets work that was awaited. Nobody else has the buffer.
    #[inline(always)]
    pub(crate) fn settle(&mut self) {
        if !self.is_idle() {
            self.settle_busy();
        }
    }

    fn settle_busy(&mut self) {
        let reads = self.reads.load(Ordering::Acquire);
        let last = reads.max(self.writes.load(Ordering::Acquire));
        let lanes = self.lanes.get_mut().unwrap_or_else(PoisonError::into_inner);
        let done = lanes.home.iter().all(|lane| lane.is_reached(last))
            && lanes
                .others
                .iter()
                .all(|used| used.lane.is_reached(used.reads.max(used.writes)));
        if done && self.check().is_ok() {
            *self = Uses::default();
        }
    }
}
