//! How much of its space the range heap has given out when the first request fails.
//!
//! Sizes are padded as device memory is (up to 32 and 32 more, in units of 64 bytes), which pushes
//! powers of two off the boundaries of the bins. Between allocations blocks are replaced at random,
//! four times for each block that their number grows by.

/// As in the tests of the heap.
#[path = "../../../../crates/heap/tests/until_full/mod.rs"]
mod until_full;

use crate::bench::Bench;
use crate::rounds::Samples;
use crate::row::{Row, Unit};
use cannery_heap::range::RangeHeap;
use rand::Rng;
use rand::rngs::SmallRng;
use until_full::{Allocator, BestFit, until_first_failure};

const MIB: u64 = 1 << 20;
const CHURN: usize = 4;
const UNIFORM: &str = "heap: one size 2^k, 512 B to 1 MiB, the worst k";
const RANDOM: &str = "heap: 64 B to 128 KiB, every magnitude alike";

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
    let of =
        |log2: u64| 100.0 * until_first_failure::<A>(128 * MIB / 64, log2, CHURN, |_| 1 << log2);
    Samples::exactly((9..=20).map(of).fold(100.0, f64::min))
}

fn random<A: Allocator>(seeds: u64) -> Samples {
    let size = |rng: &mut SmallRng| (64.0 * 2048_f64.powf(rng.random::<f64>())) as u64;
    Samples::of(
        (0..seeds)
            .map(|seed| 100.0 * until_first_failure::<A>(MIB, seed, CHURN, size))
            .collect(),
    )
}
