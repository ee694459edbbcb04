//! Giving memory back: idle memory to the system, everything at a reset.

use super::*;

impl Store {
    /// Takes all memory away: no block is live afterwards. The caller makes sure that no copy is
    /// under way.
    pub(crate) fn reset(&self) {
        let _purge = lock(&self.purge);
        let mut arenas = self.all_arenas();
        let mut back = lock(&self.back);
        let mut central = lock(&self.central);
        for arena in &mut arenas {
            arena.clear();
        }
        self.normal.reset();
        self.huge.reset();
        *back = fresh_heaps(&self.normal, &self.huge);
        central.refill();
    }

    /// One round of the janitor: gives up what was idle since the last round and returns dirty
    /// pages to the system. True: there may be more to do next time.
    pub(crate) fn tidy(&self) -> bool {
        let mut more = false;
        let active = self.active.load(Ordering::Acquire);
        for number in (0..ARENAS).filter(|n| active >> n & 1 == 1) {
            let mut arena = self.arenas[number].lock();
            if !arena.holds_idle {
                continue;
            }
            if arena.activity() == arena.seen {
                self.drain(&mut arena);
            } else {
                arena.seen = arena.activity();
                more = true;
            }
        }
        let activity = self.back_activity.load(Ordering::Relaxed);
        if self.back_seen.swap(activity, Ordering::Relaxed) == activity {
            for pool in [NORMAL, HUGE] {
                self.purge(pool);
            }
            if !more && self.card.is_some_and(Claims::crowded) {
                self.give_back_slack();
            }
            more
        } else {
            true
        }
    }

    fn purge(&self, pool: usize) {
        loop {
            let _purge = lock(&self.purge);
            let Some(range) = lock(&self.back)[pool].take_dirty() else {
                return;
            };
            let shift = SHIFTS[pool];
            if let Some(pins) = &self.pins {
                pins.let_go(range.start << shift, range.len << shift);
            }
            match pool {
                NORMAL => self.normal.discard(range.start, range.len),
                _ => self.huge.discard(range.start, range.len),
            }
            lock(&self.back)[pool].free_clean(range.id);
        }
    }
}
