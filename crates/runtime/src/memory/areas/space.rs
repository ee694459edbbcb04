//! Free addresses of a region: ranges by their start. Reservations are few and long, so a walk over
//! the ranges is cheap.

use std::collections::BTreeMap;

/// See the module.
pub(crate) struct Space {
    /// Start to end; no two ranges touch.
    free: BTreeMap<u64, u64>,
    /// Addresses from here on are handed out first, so that those below stay free for callers who
    /// choose their own.
    preferred: u64,
}

impl Space {
    pub(crate) fn new(preferred: u64) -> Space {
        Space {
            free: BTreeMap::new(),
            preferred,
        }
    }

    /// Makes `[start, end)` free.
    pub(crate) fn give(&mut self, mut start: u64, mut end: u64) {
        if start >= end {
            return;
        }
        if let Some((&before, &stop)) = self.free.range(..start).next_back()
            && stop == start
        {
            self.free.remove(&before);
            start = before;
        }
        if let Some(after) = self.free.remove(&end) {
            end = after;
        }
        self.free.insert(start, end);
    }

    /// `bytes` from a multiple of `align` (a power of two) on.
    pub(crate) fn take(&mut self, bytes: u64, align: u64) -> Option<u64> {
        let fits = |start: u64, end: u64, least: u64| {
            let at = start.max(least).checked_next_multiple_of(align)?;
            (at.checked_add(bytes)? <= end).then_some(at)
        };
        let ranges = || self.free.iter().map(|(start, end)| (*start, *end));
        let at = ranges()
            .find_map(|(start, end)| fits(start, end, self.preferred))
            .or_else(|| ranges().find_map(|(start, end)| fits(start, end, 0)))?;
        self.take_at(at, at + bytes).then_some(at)
    }

    /// Exactly `[start, end)`. False, and nothing changes: it is not free as a whole.
    pub(crate) fn take_at(&mut self, start: u64, end: u64) -> bool {
        let Some((&from, &to)) = self.free.range(..=start).next_back() else {
            return false;
        };
        if end > to || start >= end {
            return false;
        }
        self.free.remove(&from);
        self.give(from, start);
        self.give(end, to);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_ranges_come_together_again() {
        let mut space = Space::new(0);
        space.give(0, 100);
        assert_eq!(space.take(30, 1), Some(0));
        assert_eq!(space.take(30, 1), Some(30));
        assert!(space.take_at(80, 90));
        assert!(!space.take_at(75, 85));
        space.give(0, 30);
        space.give(80, 90);
        space.give(30, 60);
        assert_eq!(space.free, BTreeMap::from([(0, 100)]));
    }

    #[test]
    fn preferred_addresses_first_and_aligned() {
        let mut space = Space::new(50);
        space.give(0, 100);
        assert_eq!(space.take(10, 16), Some(64));
        assert_eq!(space.take(30, 16), Some(0));
        assert_eq!(space.take(1000, 1), None);
    }
}
