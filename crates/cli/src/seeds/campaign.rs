//! Which seed is next, and which failure is the answer.

/// The seeds of one command. Seeds begin in their order, so all seeds below a
/// failing one have begun too: the lowest failing seed is the same answer
/// whatever the number of jobs and the speed of the runs.
pub(super) struct Campaign {
    first: u64,
    last: u64,
    next: Option<u64>,
    passed: u64,
    failed: Option<u64>,
}

impl Campaign {
    /// `count` (not 0) seeds from `first` on; `None` when numbers run out.
    pub(super) fn new(first: u64, count: u64) -> Option<Self> {
        let last = first.checked_add(count.checked_sub(1)?)?;
        Some(Self {
            first,
            last,
            next: Some(first),
            passed: 0,
            failed: None,
        })
    }

    /// The seed to begin now; none after the last one, or after a failure.
    pub(super) fn begin(&mut self) -> Option<u64> {
        if self.failed.is_some() {
            return None;
        }
        let seed = self.next?;
        self.next = (seed < self.last).then(|| seed + 1);
        Some(seed)
    }

    /// A run has passed.
    pub(super) fn pass(&mut self) {
        self.passed += 1;
    }

    /// A run has failed. True: it is the lowest so far.
    pub(super) fn fail(&mut self, seed: u64) -> bool {
        let lowest = self.matters(seed);
        if lowest {
            self.failed = Some(seed);
        }
        lowest
    }

    /// Whether the run of this seed can still change the answer.
    pub(super) fn matters(&self, seed: u64) -> bool {
        self.failed.is_none_or(|failed| seed < failed)
    }

    /// The first seed.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// How many seeds there are.
    pub(super) fn count(&self) -> u64 {
        (self.last - self.first).saturating_add(1)
    }

    /// How many have passed.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// The lowest seed that has failed.
    pub(super) fn failed(&self) -> Option<u64> {
        self.failed
    }
}

#[cfg(test)]
mod tests {
    use super::Campaign;

    #[test]
    fn every_seed_begins_once_and_in_order() {
        let mut campaign = Campaign::new(5, 3).expect("in range");
        let begun: Vec<_> = std::iter::from_fn(|| campaign.begin()).collect();
        assert_eq!(begun, [5, 6, 7]);
        assert_eq!((campaign.first(), campaign.count()), (5, 3));
    }

    #[test]
    fn the_last_seed_there_is_can_be_used_and_none_above() {
        let mut campaign = Campaign::new(u64::MAX, 1).expect("in range");
        assert_eq!((campaign.begin(), campaign.begin()), (Some(u64::MAX), None));
        assert!(Campaign::new(u64::MAX, 2).is_none());
        assert!(Campaign::new(0, u64::MAX).is_some());
    }

    #[test]
    fn the_lowest_failure_wins_in_whatever_order_they_come() {
        for order in [[3, 1, 2], [1, 2, 3], [2, 3, 1], [3, 2, 1]] {
            let mut campaign = Campaign::new(0, 9).expect("in range");
            for _ in 0..4 {
                campaign.begin();
            }
            for seed in order {
                campaign.fail(seed);
                assert_eq!(campaign.begin(), None, "nothing begins after a failure");
            }
            assert_eq!(campaign.failed(), Some(1), "{order:?}");
            assert!(campaign.matters(0) && !campaign.matters(1) && !campaign.matters(2));
        }
    }
}
