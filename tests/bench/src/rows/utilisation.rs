//! How much of its space the range heap has given out when the first request fails.
//!
//! Sizes are padded as device memory is (up to 32 and 32 more, in units of 64 bytes), which pushes
//! powers of two off the boundaries of the bins. Between allocations blocks are replaced at random,
//! four times for each block that their number grows by.

use std::collections::{BTreeMap, BTreeSet};

use cannery_heap::range::{NodeId, RangeHeap};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use crate::bench::Bench;
use crate::rounds::Samples;
use crate::row::{Row, Unit};

const MIB: u64 = 1 << 20;
const CHURN: usize = 4;
const UNIFORM: &str = "heap: one size 2^k, 512 B to 1 MiB, the worst k";
const RANDOM: &str = "heap: 64 B to 128 KiB, every magnitude alike";

trait Allocator {
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

/// The tightest free range wins, the lowest among equals.
struct BestFit {
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

/// The share of the space that is given out at the first failure, in percent.
fn until_failure<A: Allocator>(
    units: u64,
    seed: u64,
    mut size: impl FnMut(&mut SmallRng) -> u64,
) -> f64 {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut heap = A::new(units);
    let mut held = Vec::new();
    let mut used = 0;
    loop {
        for step in 0..=CHURN {
            if step > 0 {
                let (handle, len) = held.swap_remove(rng.random_range(0..held.len()));
                heap.free(handle);
                used -= len;
            }
            let len = (size(&mut rng).next_multiple_of(32) + 32).div_ceil(64);
            let Some(handle) = heap.alloc(len) else {
                return used as f64 / units as f64 * 100.0;
            };
            held.push((handle, len));
            used += len;
        }
    }
}

pub(crate) fn run(bench: &mut Bench<'_>) {
    if bench.wants(UNIFORM) {
        let row = Row::new(UNIFORM, Unit::Percent, uniform::<RangeHeap<1>>())
            .against("without the probe", uniform::<RangeHeap<0>>())
            .against("best fit", uniform::<BestFit>());
        bench.row(row.at_least(99.0));
    }
    if bench.wants(RANDOM) {
        let seeds = if bench.effort.divisor == 1 { 16 } else { 4 };
        let row = Row::new(RANDOM, Unit::Percent, random::<RangeHeap<1>>(seeds))
            .against("without the probe", random::<RangeHeap<0>>(seeds))
            .against("best fit", random::<BestFit>(seeds));
        bench.row(row.at_least(96.0).note(
            "Given out at the first failed request, after random replacement; the same on every machine. \
             Best fit keeps ordered sets and costs several times as much.",
        ));
    }
}

fn uniform<A: Allocator>() -> Samples {
    let of = |log2: u64| until_failure::<A>(128 * MIB / 64, log2, |_| 1 << log2);
    Samples::exactly((9..=20).map(of).fold(100.0, f64::min))
}

fn random<A: Allocator>(seeds: u64) -> Samples {
    let size = |rng: &mut SmallRng| (64.0 * 2048_f64.powf(rng.random::<f64>())) as u64;
    Samples::of(
        (0..seeds)
            .map(|seed| until_failure::<A>(MIB, seed, size))
            .collect(),
    )
}
