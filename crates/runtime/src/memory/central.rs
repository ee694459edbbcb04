//! The bytes of a store: what is free, and what blocks are charged.

use cannery_heap::slab;
use cannery_observe::PageKind;

use super::arena::{HUGE, NORMAL};
use super::region::SHIFTS;
use crate::window::MemoryPlan;

/// 2 MiB pages in a 1 GiB page.
const PAGES_IN_GIANT: u64 = 512;

/// Bytes that no arena has credit for.
pub(super) struct Central {
    pub(super) free: [u64; 2],
    pub(super) total: [u64; 2],
    pub(super) giant_free: u64,
    pub(super) giant_total: u64,
    /// Bytes charged to somebody outside of the store, by page kind: host memory in RC mode, physical
    /// handles, pools.
    foreign: [u64; 3],
    /// What an arena takes beyond its need.
    pub(super) batch: [u64; 2],
}

/// Free and total bytes of the pools, read in one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) normal_free: u64,
    pub(crate) normal_total: u64,
    /// Without the part reserved for giant pages.
    pub(crate) huge_free: u64,
    pub(crate) huge_total: u64,
    /// The part reserved for giant pages.
    pub(crate) giant_free: u64,
    pub(crate) giant_total: u64,
}

impl Central {
    /// Everything free.
    pub(super) fn for_device(plan: &MemoryPlan) -> Central {
        let huge = plan.huge - plan.giant;
        // Small devices share out in small steps, so that credit does not pile up in one arena.
        let batch = [
            (plan.normal / 64).min(1 << 20) & !63,
            (huge / 64).min(8 << 20) >> 21 << 21,
        ];
        Central {
            free: [plan.normal, huge],
            total: [plan.normal, huge],
            giant_free: plan.giant,
            giant_total: plan.giant,
            foreign: [0; 3],
            batch,
        }
    }

    /// Reserved giant memory first, then the pool of 2 MiB pages.
    pub(super) fn take_giant(&mut self, bytes: u64) -> Option<()> {
        let reserved = self.giant_free.min(bytes);
        self.free[HUGE] = self.free[HUGE].checked_sub(bytes - reserved)?;
        self.giant_free -= reserved;
        Some(())
    }

    /// Undoes [`take_giant`](Self::take_giant): the reserve is filled first.
    pub(super) fn give_giant(&mut self, bytes: u64) {
        let reserved = bytes.min(self.giant_total - self.giant_free);
        self.giant_free += reserved;
        self.free[HUGE] += bytes - reserved;
    }

    /// Charges bytes to somebody outside of the store. False: there is not so much.
    pub(super) fn charge_foreign(&mut self, pages: PageKind, bytes: u64) -> bool {
        let taken = match pages {
            PageKind::Giant => self.take_giant(bytes),
            PageKind::Normal => take(&mut self.free[NORMAL], bytes),
            PageKind::Huge => take(&mut self.free[HUGE], bytes),
        };
        if taken.is_some() {
            self.foreign[pages as usize] += bytes;
        }
        taken.is_some()
    }

    /// Undoes [`charge_foreign`](Self::charge_foreign).
    pub(super) fn release_foreign(&mut self, pages: PageKind, bytes: u64) {
        self.foreign[pages as usize] -= bytes;
        match pages {
            PageKind::Giant => self.give_giant(bytes),
            PageKind::Normal => self.free[NORMAL] += bytes,
            PageKind::Huge => self.free[HUGE] += bytes,
        }
    }

    /// Everything is free again, but for what somebody else was charged.
    pub(super) fn refill(&mut self) {
        self.free = self.total;
        self.giant_free = self.giant_total;
        let foreign = std::mem::take(&mut self.foreign);
        for (pages, bytes) in [PageKind::Normal, PageKind::Huge, PageKind::Giant]
            .into_iter()
            .zip(foreign)
        {
            self.charge_foreign(pages, bytes);
        }
    }
}

fn take(from: &mut u64, bytes: u64) -> Option<()> {
    *from = from.checked_sub(bytes)?;
    Some(())
}

/// Blocks in normal pages share pages: charged in steps of 64 bytes.
#[inline(always)]
pub(super) fn normal_charge(size: u64) -> u64 {
    (size + (slab::UNIT - 1)) & !(slab::UNIT - 1)
}

/// Slices, alignment in slices, and charge in bytes of a block with slices of its own.
pub(super) fn run_shape(pages: PageKind, size: u64, room: u64) -> (u64, u64, u64) {
    match pages {
        PageKind::Normal => (room.div_ceil(1 << SHIFTS[NORMAL]), 1, normal_charge(size)),
        PageKind::Huge => {
            let count = size.div_ceil(1 << SHIFTS[HUGE]);
            (count, 1, count << SHIFTS[HUGE])
        }
        PageKind::Giant => {
            let count = size.div_ceil(1 << 30);
            (count * PAGES_IN_GIANT, PAGES_IN_GIANT, count << 30)
        }
    }
}

/// What a block in these pages is charged, in bytes.
pub(crate) fn charge_of(pages: PageKind, size: u64) -> u64 {
    run_shape(pages, size, size).2
}
