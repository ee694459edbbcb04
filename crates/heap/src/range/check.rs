//! The structural promises, checked by walking everything.

use super::bins::floor;
use super::nodes::{DIRTY, FREE, LISTED, LIVE, WALL};
use super::{Counts, RangeHeap};

impl<const PROBES: usize> RangeHeap<PROBES> {
    /// Walks all of the structure and compares it with itself: the ranges tile
    /// the space, no two free ones touch, each free range is in the list of its
    /// bin and nothing else is, the bitmaps tell which lists have members, every
    /// slot is accounted for, each dirty free range can be found, and the counts
    /// are those of what is there. For tests, fuzzers and debugging.
    ///
    /// # Panics
    ///
    /// When a promise is broken, with its name.
    pub fn check(&self) {
        let nodes = &self.table.nodes[..];
        let mut end = 0;
        let mut before = WALL;
        let mut counts = (0, 0, 0);
        let mut free_ranges = 0;
        let mut ranges = 0;
        let mut id = nodes[WALL as usize].next;
        while id != WALL {
            let node = &nodes[id as usize];
            assert_eq!(
                node.start, end,
                "range {id} starts where the one before it ends"
            );
            assert!(node.len() > 0, "range {id} has a length");
            assert_eq!(node.prev, before, "range {id} knows the one before it");
            assert!(
                node.is(FREE) != node.is(LIVE),
                "range {id} is either free or live"
            );
            if node.is(FREE) {
                assert!(
                    !nodes[before as usize].is(FREE),
                    "free ranges {before}, {id} are merged"
                );
                assert!(
                    !node.is(DIRTY) || node.is(LISTED),
                    "dirty range {id} can be found"
                );
                free_ranges += 1;
                counts.0 += node.len();
                counts.1 += node.dirty_len();
            } else {
                counts.2 += 1;
            }
            end = node.end();
            before = id;
            ranges += 1;
            id = node.next;
        }
        assert_eq!(end, self.len, "the ranges tile the space");
        assert_eq!(
            nodes[WALL as usize].prev, before,
            "the wall knows the last range"
        );
        let Counts {
            free_units,
            dirty_units,
            live,
        } = self.counts;
        assert_eq!(counts, (free_units, dirty_units, live), "free, dirty, live");
        assert_eq!(
            ranges + 1 + self.table.spare.count(nodes),
            nodes.len(),
            "every slot is accounted for"
        );
        assert!(
            !nodes[WALL as usize].is(FREE | LIVE) && nodes[WALL as usize].len() == 0,
            "wall"
        );
        self.check_bins(free_ranges);
        self.check_candidates();
    }

    fn check_bins(&self, free_ranges: usize) {
        let nodes = &self.table.nodes[..];
        let mut members = 0;
        for bin in 0..=floor(super::LEN_LIMIT) {
            let mut up = WALL;
            let mut id = self.bins.head(bin);
            assert_eq!(
                self.bins.at_or_above(bin) == Some(bin),
                id != WALL,
                "bit of bin {bin}"
            );
            while id != WALL {
                let node = &nodes[id as usize];
                assert!(node.is(FREE), "member {id} of bin {bin} is free");
                assert_eq!(
                    floor(node.len()),
                    bin,
                    "member {id} is in the bin of its length"
                );
                assert_eq!(
                    node.up, up,
                    "member {id} of bin {bin} knows the one before it"
                );
                members += 1;
                up = id;
                id = node.down;
            }
        }
        assert_eq!(members, free_ranges, "each free range is in one bin");
        assert_eq!(
            self.members_from(0).count(),
            members,
            "a walk over the bins finds them all"
        );
    }

    fn check_candidates(&self) {
        let nodes = &self.table.nodes[..];
        let listed = nodes.iter().filter(|node| node.is(LISTED)).count();
        let mut seen = self.candidates.clone();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(
            seen.len(),
            self.candidates.len(),
            "no slot is a candidate twice"
        );
        assert_eq!(
            seen.len(),
            listed,
            "the flag tells which slots are candidates"
        );
        assert!(
            seen.iter().all(|&id| nodes[id as usize].is(LISTED)),
            "candidates are flagged"
        );
    }
}
