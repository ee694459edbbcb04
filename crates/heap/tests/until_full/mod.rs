//! The range heap and a best fit, filled under random replacement: the tests and the benchmark look at the same.

use std::collections::{BTreeMap, BTreeSet};

use cannery_heap::range::{NodeId, RangeHeap};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// Units of 64 bytes that a request of `bytes` occupies.
pub(crate) fn padded_units(bytes: u64) -> u64 {
    (bytes.next_multiple_of(32) + 32).div_ceil(64)
}

pub(crate) trait Allocator {
    type Handle;
    fn new(units: u64) -> Self;
    fn alloc(&mut self, units: u64) -> Option<Self::Handle>;
    fn free(&mut self, handle: Self::Handle);
}

impl<const PROBES: usize> Allocator for RangeHeap<PROBES> {
    type Handle = NodeId;

    fn new(units: u64) -> Self {
        Self::with_probes(units)
    }

    fn alloc(&mut self, units: u64) -> Option<NodeId> {
        Some(RangeHeap::alloc(self, units, 1)?.id)
    }

    fn free(&mut self, id: NodeId) {
        RangeHeap::free(self, id).expect("held");
    }
}

/// The tightest free range wins, the lowest among equals; frees merge.
pub(crate) struct BestFit {
    by_start: BTreeMap<u64, u64>,
    by_len: BTreeSet<(u64, u64)>,
}

impl BestFit {
    fn insert(&mut self, start: u64, len: u64) {
        self.by_start.insert(start, len);
        self.by_len.insert((len, start));
    }

    fn remove(&mut self, start: u64, len: u64) {
        self.by_start.remove(&start);
        self.by_len.remove(&(len, start));
    }
}

impl Allocator for BestFit {
    type Handle = (u64, u64);

    fn new(units: u64) -> Self {
        let mut new = Self {
            by_start: BTreeMap::new(),
            by_len: BTreeSet::new(),
        };
        new.insert(0, units);
        new
    }

    fn alloc(&mut self, units: u64) -> Option<(u64, u64)> {
        let (len, start) = *self.by_len.range((units, 0)..).next()?;
        self.remove(start, len);
        if len > units {
            self.insert(start + units, len - units);
        }
        Some((start, units))
    }

    fn free(&mut self, (mut start, mut len): (u64, u64)) {
        if let Some((&s, &l)) = self.by_start.range(..start).next_back()
            && s + l == start
        {
            self.remove(s, l);
            (start, len) = (s, len + l);
        }
        if let Some(&l) = self.by_start.get(&(start + len)) {
            self.remove(start + len, l);
            len += l;
        }
        self.insert(start, len);
    }
}

/// Random replacement, `churn` times for each block that the number of blocks
/// grows by, until a request fails; the share of the space that is then allocated.
pub(crate) fn until_first_failure<A: Allocator>(
    units: u64,
    seed: u64,
    churn: usize,
    mut size: impl FnMut(&mut SmallRng) -> u64,
) -> f64 {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut heap = A::new(units);
    let mut held = Vec::new();
    let mut used = 0;
    loop {
        for step in 0..=churn {
            if step > 0 {
                let (handle, len) = held.swap_remove(rng.random_range(0..held.len()));
                heap.free(handle);
                used -= len;
            }
            let len = padded_units(size(&mut rng));
            let Some(handle) = heap.alloc(len) else {
                return used as f64 / units as f64;
            };
            held.push((handle, len));
            used += len;
        }
    }
}
