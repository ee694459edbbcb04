//! What one thread allocates from: spans of small blocks, recently freed runs, credit, counters.

use cannery_heap::slab::Bins;
use cannery_observe::Ledger;

use super::config::APP_MODULE;

/// Pools of a store by index.
pub(crate) const NORMAL: usize = 0;
pub(crate) const HUGE: usize = 1;

/// Longest run of slices that is kept for reuse: 2 MiB with their padding, in normal pages.
const LONGEST: usize = 33;
/// Runs of one length that are kept.
const DEPTH: usize = 16;

/// Recently freed runs of slices, by length. Last in, first out: the warm one is reused.
pub(crate) struct RunCache {
    runs: [[u32; DEPTH]; LONGEST],
    counts: [u8; LONGEST],
}

impl RunCache {
    const fn new() -> Self {
        Self {
            runs: [[0; DEPTH]; LONGEST],
            counts: [0; LONGEST],
        }
    }

    /// A run of exactly `slices`, by its first slice.
    #[inline]
    pub(crate) fn take(&mut self, slices: u32) -> Option<u32> {
        let at = slices as usize - 1;
        let count = self.counts.get_mut(at)?;
        *count = count.checked_sub(1)?;
        Some(self.runs[at][usize::from(*count)])
    }

    /// Keeps a run. False: there is no room for it.
    #[inline]
    pub(crate) fn put(&mut self, first: u32, slices: u32) -> bool {
        let at = slices as usize - 1;
        match self.counts.get_mut(at) {
            Some(count) if usize::from(*count) < DEPTH => {
                self.runs[at][usize::from(*count)] = first;
                *count += 1;
                true
            }
            _ => false,
        }
    }

    fn drain(&mut self, mut give: impl FnMut(u32)) {
        for (runs, count) in self.runs.iter().zip(&mut self.counts) {
            for first in &runs[..usize::from(*count)] {
                give(*first);
            }
            *count = 0;
        }
    }
}

/// Belongs to one lock.
#[repr(C)] // what every call changes comes first, beside the lock
pub(crate) struct Arena {
    /// Credit of each pool, in bytes.
    pub(crate) credit: [u64; 2],
    /// Whether there may be free blocks at hand, empty spans or cached runs.
    pub(crate) holds_idle: bool,
    /// Allocations and releases when the janitor last looked.
    pub(crate) seen: u64,
    pub(crate) ledger: Ledger<APP_MODULE>,
    pub(crate) bins: Bins,
    pub(crate) runs: [RunCache; 2],
}

impl Arena {
    pub(crate) fn new(number: u32) -> Self {
        Self {
            credit: [0; 2],
            holds_idle: false,
            seen: 0,
            ledger: Ledger::default(),
            bins: Bins::new(number),
            runs: [RunCache::new(), RunCache::new()],
        }
    }

    /// Gives up all idle runs and spans: `give(pool, first)`.
    pub(crate) fn drain_runs(&mut self, mut give: impl FnMut(usize, u32)) {
        for (pool, runs) in self.runs.iter_mut().enumerate() {
            runs.drain(|first| give(pool, first));
        }
        self.holds_idle = false;
    }

    /// Forgets everything about memory that was taken away as a whole.
    pub(crate) fn clear(&mut self) {
        self.bins.clear();
        self.credit = [0; 2];
        self.runs = [RunCache::new(), RunCache::new()];
        self.ledger.forget_live();
        self.holds_idle = false;
    }

    /// A number that changes with every allocation and release.
    pub(crate) fn activity(&self) -> u64 {
        self.ledger.activity()
    }
}
