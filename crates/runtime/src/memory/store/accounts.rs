//! What a store has, what it holds, and what is charged to others.

use cannery_heap::range::Piece;

use super::*;

impl Store {
    /// Free and total bytes, exact: the other processes on the card are asked, and it is taken with
    /// every arena locked.
    pub(crate) fn usage(&self) -> Usage {
        if let Some(card) = self.card {
            card.ask();
        }
        self.usage_now()
    }

    /// As [`usage`](Self::usage), without asking.
    pub(crate) fn usage_now(&self) -> Usage {
        let arenas = self.all_arenas();
        let central = lock(&self.central);
        central
            .usage([NORMAL, HUGE].map(|pool| arenas.iter().map(|arena| arena.credit[pool]).sum()))
    }

    /// The other processes on the device, who holds most first; exact after a question.
    pub(crate) fn neighbours(&self) -> Vec<Neighbour> {
        self.card.map(Claims::neighbours).unwrap_or_default()
    }

    /// Sum of the counters, exact.
    pub(crate) fn counters(&self) -> Counters {
        let mut sum = Counters::default();
        for arena in self.all_arenas() {
            sum.add(&arena.ledger.counters());
        }
        sum
    }

    /// Largest run that could be handed out from a pool now, in bytes.
    pub(crate) fn largest(&self, pages: PageKind) -> u64 {
        self.give_up_idle();
        let usage = self.usage_now();
        let pool = if pages == PageKind::Normal {
            NORMAL
        } else {
            HUGE
        };
        let addresses = lock(&self.back)[pool].largest_free() << SHIFTS[pool];
        match pages {
            PageKind::Normal => usage.normal_free.min(addresses),
            PageKind::Huge => usage.huge_free.min(addresses),
            PageKind::Giant => (usage.huge_free + usage.giant_free).min(addresses) >> 30 << 30,
        }
    }

    /// Everything that was handed out, blocks that were released a moment ago included: first byte, bytes.
    pub(crate) fn runs(&self) -> Vec<(u64, u64)> {
        self.give_up_idle();
        let back = lock(&self.back);
        let bases = [self.normal.base, self.huge.base];
        [NORMAL, HUGE]
            .into_iter()
            .flat_map(|pool| {
                let used = back[pool].pieces().filter(|piece| piece.id.is_some());
                let place = move |piece: Piece| {
                    let start = bases[pool] + (piece.start << SHIFTS[pool]);
                    (start, piece.len << SHIFTS[pool])
                };
                used.map(place).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Counts a refused request.
    pub(crate) fn count_failure(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a shortage that a retry cured.
    pub(crate) fn count_recovery(&self) {
        self.recovered.fetch_add(1, Ordering::Relaxed);
    }

    /// Refused requests, and those of them that a retry cured.
    pub(crate) fn failures(&self) -> (u64, u64) {
        (
            self.failed.load(Ordering::Relaxed),
            self.recovered.load(Ordering::Relaxed),
        )
    }

    /// Charges memory that is no block of the store to somebody else: `bytes` in whole pages of the
    /// kind (64 bytes for normal ones). False, and nothing changes: the pool has not so much left.
    pub(crate) fn charge_pool(&self, pages: PageKind, bytes: u64) -> bool {
        let charge = |central: &mut Central| central.charge_foreign(pages, bytes).then_some(());
        let taken = charge(&mut lock(&self.central));
        taken.or_else(|| self.with_all_credit(charge)).is_some()
    }

    /// Bytes of all charges of [`charge_pool`](Self::charge_pool).
    pub(crate) fn foreign(&self) -> u64 {
        lock(&self.central).foreign()
    }

    /// Undoes [`charge_pool`](Self::charge_pool), in part or whole.
    pub(crate) fn release_pool(&self, pages: PageKind, bytes: u64) {
        lock(&self.central).release_foreign(pages, bytes);
    }
}
