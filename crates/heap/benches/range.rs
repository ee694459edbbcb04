//! Price of a free and an allocation, for the range heap and for what else could
//! do its work.
//!
//! `cargo bench -p cannery-heap --bench range` prints, for 64, 1,024 and 16,384
//! live ranges of 64 B to 128 KiB (every magnitude alike, padded as device memory
//! is, in units of 64 bytes):
//!
//! * **pair**: nanoseconds for one free of a random range and one allocation of a
//!   random size, median of the rounds, and the best round;
//! * **p99.9**: of single pairs, less the clock's own price;
//! * **hot**: one allocation and the free of it, again and again.
//!
//! The allocators take turns in short rounds, so that a busy machine disturbs all
//! of them alike; compare the ratios, not the nanoseconds. `malloc` is the C
//! library's, and unlike the others it works inside the memory that it gives out.
//! The `clock` row is the price of the clock and what the machine itself does to
//! the tail. Without `--bench` (as under `cargo test`) a single round is run.
#![allow(clippy::print_stdout)]

use cannery_heap::range::{NodeId, RangeHeap};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hint::black_box;
use std::time::Instant;

const LIVE: [usize; 3] = [64, 1_024, 16_384];
/// Pairs in a round.
const ROUND: usize = 1 << 13;
const SPACE: u64 = 1 << 26;

fn random_units(rng: &mut SmallRng) -> u32 {
    let bytes = (64.0 * 2048_f64.powf(rng.random::<f64>())) as u32;
    (bytes.next_multiple_of(32) + 32).div_ceil(64)
}

trait Allocator {
    type Handle;
    fn new() -> Self;
    fn alloc(&mut self, units: u32) -> Self::Handle;
    fn free(&mut self, handle: Self::Handle);
}

impl<const PROBES: usize> Allocator for RangeHeap<PROBES> {
    type Handle = NodeId;

    fn new() -> Self {
        Self::with_probes(SPACE)
    }

    #[inline]
    fn alloc(&mut self, units: u32) -> NodeId {
        let range = RangeHeap::alloc(self, u64::from(units), 1).expect("room");
        black_box(range.start);
        range.id
    }

    #[inline]
    fn free(&mut self, id: NodeId) {
        let freed = RangeHeap::free(self, id).expect("held");
        black_box(freed.len);
    }
}

impl Allocator for offset_allocator::Allocator<u32> {
    type Handle = offset_allocator::Allocation<u32>;

    fn new() -> Self {
        Self::with_max_allocs(SPACE as u32, 1 << 17)
    }

    #[inline]
    fn alloc(&mut self, units: u32) -> Self::Handle {
        self.allocate(units).expect("room")
    }

    #[inline]
    fn free(&mut self, handle: Self::Handle) {
        self.free(handle);
    }
}

/// Best fit by ordered sets and a table of what is allocated, as in the pools of
/// machine-learning frameworks.
struct OrderedSets {
    by_start: BTreeMap<u64, u64>,
    by_len: BTreeSet<(u64, u64)>,
    live: HashMap<u64, u64>,
}

impl OrderedSets {
    fn insert(&mut self, start: u64, len: u64) {
        self.by_start.insert(start, len);
        self.by_len.insert((len, start));
    }

    fn remove(&mut self, start: u64, len: u64) {
        self.by_start.remove(&start);
        self.by_len.remove(&(len, start));
    }
}

impl Allocator for OrderedSets {
    type Handle = u64;

    fn new() -> Self {
        let mut new = Self {
            by_start: BTreeMap::new(),
            by_len: BTreeSet::new(),
            live: HashMap::new(),
        };
        new.insert(0, SPACE);
        new
    }

    fn alloc(&mut self, units: u32) -> u64 {
        let units = u64::from(units);
        let (len, start) = *self.by_len.range((units, 0)..).next().expect("room");
        self.remove(start, len);
        if len > units {
            self.insert(start + units, len - units);
        }
        self.live.insert(start, units);
        start
    }

    fn free(&mut self, mut start: u64) {
        let mut len = self.live.remove(&start).expect("held");
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

/// The allocator of this program, which is the C library's; nothing is written.
struct Malloc;

impl Allocator for Malloc {
    type Handle = Vec<u8>;

    fn new() -> Self {
        Self
    }

    #[inline]
    fn alloc(&mut self, units: u32) -> Vec<u8> {
        black_box(Vec::with_capacity(units as usize * 64))
    }

    #[inline]
    fn free(&mut self, handle: Vec<u8>) {
        drop(black_box(handle));
    }
}

/// One allocator at one number of live ranges.
struct Subject<A: Allocator> {
    allocator: A,
    held: Vec<Option<A::Handle>>,
    steps: Vec<(u32, u32)>,
    at: usize,
    pairs: Vec<f64>,
    hot: Vec<f64>,
    singles: Histogram,
}

/// Counts of durations, by nanosecond. Never grows: a list of them would fault in
/// a page every thousand entries, just often enough to be the p99.9.
struct Histogram(Box<[u32; 1 << 15]>);

impl Histogram {
    fn new() -> Self {
        Self(Box::new([0; 1 << 15]))
    }

    fn add(&mut self, nanos: u128) {
        self.0[(nanos as usize).min(self.0.len() - 1)] += 1;
    }

    fn quantile(&self, share: f64) -> f64 {
        let total: u32 = self.0.iter().sum();
        let mut left = (f64::from(total) * share) as u32;
        let at = self.0.iter().position(|&count| {
            let here = left < count;
            left = left.saturating_sub(count);
            here
        });
        at.unwrap_or(self.0.len()) as f64
    }
}

impl<A: Allocator> Subject<A> {
    fn new(live: usize) -> Self {
        let mut rng = SmallRng::seed_from_u64(live as u64);
        let mut allocator = A::new();
        let held = (0..live)
            .map(|_| Some(allocator.alloc(random_units(&mut rng))))
            .collect();
        let step = |_| (rng.random_range(0..live) as u32, random_units(&mut rng));
        let steps = (0..ROUND * 16).map(step).collect();
        let (pairs, hot, singles) = (Vec::new(), Vec::new(), Histogram::new());
        Self {
            allocator,
            held,
            steps,
            at: 0,
            pairs,
            hot,
            singles,
        }
    }

    fn run(&mut self, mut after: impl FnMut()) {
        for &(slot, units) in &self.steps[self.at..self.at + ROUND] {
            if let Some(handle) = self.held[slot as usize].take() {
                self.allocator.free(handle);
            }
            self.held[slot as usize] = Some(self.allocator.alloc(units));
            after();
        }
        self.at = (self.at + ROUND) % self.steps.len();
    }
}

/// What a row of the table is made of.
trait Row {
    fn round(&mut self);
    fn figures(&mut self) -> [f64; 4];
}

impl<A: Allocator> Row for Subject<A> {
    fn round(&mut self) {
        // Once for the caches, which the one before has filled.
        self.run(|| {});
        let begin = Instant::now();
        self.run(|| {});
        self.pairs
            .push(begin.elapsed().as_nanos() as f64 / ROUND as f64);

        let mut singles = std::mem::replace(&mut self.singles, Histogram::new());
        let mut last = Instant::now();
        self.run(|| {
            let now = Instant::now();
            singles.add((now - last).as_nanos());
            last = now;
        });
        self.singles = singles;

        let begin = Instant::now();
        for _ in 0..ROUND {
            let handle = self.allocator.alloc(black_box(65));
            self.allocator.free(handle);
        }
        self.hot
            .push(begin.elapsed().as_nanos() as f64 / ROUND as f64);
    }

    fn figures(&mut self) -> [f64; 4] {
        self.pairs.sort_by(f64::total_cmp);
        self.hot.sort_by(f64::total_cmp);
        let tail = self.singles.quantile(0.999);
        let middle = |all: &[f64]| all[all.len() / 2];
        [middle(&self.pairs), self.pairs[0], tail, middle(&self.hot)]
    }
}

/// The clock alone: its price, and the tail that the machine itself has.
fn clock() -> (f64, f64) {
    let mut gaps = Histogram::new();
    let mut last = Instant::now();
    for _ in 0..1 << 20 {
        let now = Instant::now();
        gaps.add((now - last).as_nanos());
        last = now;
    }
    (gaps.quantile(0.5), gaps.quantile(0.999))
}

fn rows<A: Allocator + 'static>(name: &'static str) -> (&'static str, Vec<Box<dyn Row>>) {
    (
        name,
        LIVE.map(|live| Box::new(Subject::<A>::new(live)) as Box<dyn Row>)
            .into(),
    )
}

fn main() {
    let rounds = if std::env::args().any(|arg| arg == "--bench") {
        200
    } else {
        1
    };
    let mut table = [
        rows::<RangeHeap>("RangeHeap"),
        rows::<RangeHeap<0>>("  no probe"),
        rows::<RangeHeap<4>>("  4 probes"),
        rows::<offset_allocator::Allocator<u32>>("offset-allocator"),
        rows::<OrderedSets>("ordered sets"),
        rows::<Malloc>("malloc"),
    ];
    for _ in 0..rounds {
        for column in 0..LIVE.len() {
            for (_, row) in &mut table {
                row[column].round();
            }
        }
    }
    let (price, tail) = clock();
    println!(
        "clock: {price} ns a reading, p99.9 {} ns above that",
        tail - price
    );
    for (column, live) in LIVE.iter().enumerate() {
        println!("\n{live} live           pair    best   p99.9     hot   pair, hot : RangeHeap");
        let mut first = None;
        for (name, row) in &mut table {
            let [pair, best, tail, hot] = row[column].figures();
            let tail = tail - price;
            let (pair0, hot0) = *first.get_or_insert((pair, hot));
            let (by_pair, by_hot) = (pair / pair0, hot / hot0);
            println!(
                "{name:<16} {pair:>7.1} {best:>7.1} {tail:>7.0} {hot:>7.1}   {by_pair:>7.2} {by_hot:>6.2}"
            );
        }
    }
}
