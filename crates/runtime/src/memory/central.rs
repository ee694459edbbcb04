//! The bytes of a store: what is free, and what blocks are charged.

use cannery_heap::slab;
use cannery_observe::PageKind;

use super::arena::{HUGE, NORMAL};
use super::card::{self, Claims};
use super::region::SHIFTS;
use crate::window::MemoryPlan;

/// 2 MiB pages in a 1 GiB page.
const PAGES_IN_GIANT: u64 = 512;

/// Bytes that no arena has credit for.
pub(super) struct Central {
    /// At hand. On a card, a part of what was claimed; more is claimed when it is needed.
    pub(super) free: [u64; 2],
    pub(super) total: [u64; 2],
    pub(super) giant_total: u64,
    /// Bytes charged to somebody outside of the store, by page kind: host memory in RC mode, physical
    /// handles, pools.
    foreign: [u64; 3],
    /// What an arena takes beyond its need.
    batch: [u64; 2],
    /// The device; `None` for host memory, all of which is at hand.
    card: Option<Claims>,
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
    /// What this process may charge, and what is left of that.
    pub(crate) quota: Option<(u64, u64)>,
}

impl Central {
    /// Everything free.
    pub(super) fn new(plan: &MemoryPlan, card: Option<Claims>) -> Central {
        let huge = plan.huge - plan.giant;
        // Small devices share out in small steps, so that credit does not pile up in one arena.
        let batch = [
            (plan.normal / 64).min(1 << 20) & !63,
            (huge / 64).min(8 << 20) >> 21 << 21,
        ];
        let total = [plan.normal, huge];
        Central {
            free: if card.is_some() { [0; 2] } else { total },
            total,
            giant_total: plan.giant,
            foreign: [0; 3],
            batch,
            card,
        }
    }

    /// What an arena takes beyond its need: nothing where somebody else could want it.
    pub(super) fn batch(&self, pool: usize) -> u64 {
        match self.card {
            Some(card) if card.crowded() => 0,
            _ => self.batch[pool],
        }
    }

    /// Sees to it that so much is at hand. False: the card has not so much left.
    pub(super) fn reach(&mut self, pool: usize, bytes: u64) -> bool {
        let Some(missing) = bytes.checked_sub(self.free[pool]).filter(|more| *more > 0) else {
            return true;
        };
        let Some(card) = self.card else {
            return false;
        };
        let roomy = missing + self.batch(pool);
        for claim in [roomy, missing] {
            if card.claim(pool, claim) {
                self.free[pool] += claim;
                return true;
            }
        }
        false
    }

    /// Takes so much from what is at hand and from the card.
    pub(super) fn take(&mut self, pool: usize, bytes: u64) -> Option<()> {
        if !self.reach(pool, bytes) {
            return None;
        }
        self.free[pool] -= bytes;
        Some(())
    }

    /// Gives everything at hand back to the card.
    pub(super) fn give_back(&mut self) {
        if let Some(card) = self.card {
            for (pool, free) in self.free.iter_mut().enumerate() {
                card.give(pool, std::mem::take(free));
            }
        }
    }

    /// Reserved giant memory first, then the pool of 2 MiB pages.
    pub(super) fn take_giant(&mut self, bytes: u64) -> Option<()> {
        let card = self.card?;
        let reserved = card.left()[card::GIANT].min(bytes);
        self.take(HUGE, bytes - reserved)?;
        if reserved > 0 && !card.claim(card::GIANT, reserved) {
            self.free[HUGE] += bytes - reserved;
            return None;
        }
        Some(())
    }

    /// Undoes [`take_giant`](Self::take_giant): the reserve is filled first.
    pub(super) fn give_giant(&mut self, bytes: u64) {
        // Nothing of the reserve is ever claimed beyond need.
        let reserved = self.card.map_or(0, |card| {
            let reserved = bytes.min(card.own(card::GIANT));
            card.give(card::GIANT, reserved);
            reserved
        });
        self.free[HUGE] += bytes - reserved;
    }

    /// Charges bytes to somebody outside of the store. False: there is not so much.
    pub(super) fn charge_foreign(&mut self, pages: PageKind, bytes: u64) -> bool {
        let taken = match pages {
            PageKind::Giant => self.take_giant(bytes),
            PageKind::Normal => self.take(NORMAL, bytes),
            PageKind::Huge => self.take(HUGE, bytes),
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

    /// Bytes that somebody outside of the store was charged.
    pub(super) fn foreign(&self) -> u64 {
        self.foreign.iter().sum()
    }

    /// Everything is free again, but for what somebody else was charged.
    pub(super) fn refill(&mut self) {
        let [normal, huge, giant] = self.foreign;
        let Some(card) = self.card else {
            self.free = [self.total[NORMAL] - normal, self.total[HUGE] - huge];
            return;
        };
        self.free = [0; 2];
        // The claims go, but for these; what was taken for a block of 1 GiB pages may as well hold
        // the giant pages of somebody else.
        let reserved = giant.min(card.own(card::GIANT));
        for (pool, kept) in [normal, huge + giant - reserved, reserved]
            .into_iter()
            .enumerate()
        {
            card.give(pool, card.own(pool).saturating_sub(kept));
        }
    }

    /// Free and total bytes, when the arenas have this credit in all.
    pub(super) fn usage(&self, credit: [u64; 2]) -> Usage {
        let slack = [NORMAL, HUGE].map(|pool| self.free[pool] + credit[pool]);
        let left = self.card.map(Claims::left).unwrap_or_default();
        let quota = self.card.and_then(|card| {
            let quota = card.quota()?;
            let charged = card.own_sum().saturating_sub(slack.iter().sum());
            Some((quota, quota.saturating_sub(charged)))
        });
        Usage {
            normal_free: slack[NORMAL] + left[NORMAL],
            normal_total: self.total[NORMAL],
            huge_free: slack[HUGE] + left[HUGE],
            huge_total: self.total[HUGE],
            giant_free: left[card::GIANT],
            giant_total: self.giant_total,
            quota,
        }
    }
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
