//! How much of the memory is allocated when the first request fails.
//!
//! Sizes are padded as device memory is: ALIGN_UP(len, 32) + 32, on a grid of
//! 64 bytes. That pushes every power of two off the boundaries of the bins, the
//! case in which an allocator that only rounds requests up loses a third of the
//! memory. The same experiments run with no probe (the classical algorithm), with
//! one (the default), with four, and on an ordered-set best fit as a reference.
//!
//! The figures are printed: `cargo test -p cannery-heap --test range_utilisation
//! -- --nocapture`.
#![allow(clippy::print_stdout)]

mod until_full;

use cannery_heap::range::RangeHeap;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use until_full::{Allocator, BestFit, padded_units, until_first_failure};

const MIB: u64 = 1 << 20;
/// Replacements for each block that the number of blocks grows by.
const CHURN: usize = 4;

/// Fills the space, then replaces at random for a while, counting the failed
/// requests (each costs a block): what is still allocated at the end.
fn after_churn<A: Allocator>(units: u64, seed: u64, bytes: u64) -> f64 {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut heap = A::new(units);
    let len = padded_units(bytes);
    let mut held: Vec<A::Handle> = std::iter::from_fn(|| heap.alloc(len)).collect();
    for _ in 0..held.len() * 8 {
        // A few are out at a time, as in a server that ends one sequence and
        // begins another.
        for _ in 0..4.min(held.len() - 1) {
            heap.free(held.swap_remove(rng.random_range(0..held.len())));
        }
        held.extend(std::iter::from_fn(|| heap.alloc(len)).take(4));
    }
    (held.len() as u64 * len) as f64 / units as f64
}

fn percent(share: f64) -> String {
    format!("{:6.2} %", share * 100.0)
}

#[test]
fn one_uniform_size_uses_all_of_the_memory() {
    println!("uniform size, 128 MiB, random replacement until the first failure");
    println!(
        "{:>10} {:>10} {:>10} {:>10} {:>10}",
        "bytes", "no probe", "one", "four", "best fit"
    );
    let units = 128 * MIB / 64;
    let (mut worst, mut worst_bare) = (1.0_f64, 1.0_f64);
    for log2 in 9..=20 {
        let size = |_: &mut SmallRng| 1 << log2;
        let bare = until_first_failure::<RangeHeap<0>>(units, log2, CHURN, size);
        let one = until_first_failure::<RangeHeap<1>>(units, log2, CHURN, size);
        let four = until_first_failure::<RangeHeap<4>>(units, log2, CHURN, size);
        let best = until_first_failure::<BestFit>(units, log2, CHURN, size);
        println!(
            "{:>10} {:>10} {:>10} {:>10} {:>10}",
            1 << log2,
            percent(bare),
            percent(one),
            percent(four),
            percent(best)
        );
        worst = worst.min(one).min(four);
        if log2 >= 12 {
            assert!(
                bare < 0.85,
                "{bare}: without a probe size 2^{log2} should lose memory"
            );
        }
        worst_bare = worst_bare.min(bare);
    }
    assert!(worst >= 0.99, "{worst}");
    assert!(
        worst_bare < 0.70,
        "{worst_bare}: the loss that the probe is there for"
    );
}

#[test]
fn one_uniform_size_keeps_all_of_the_memory() {
    println!("uniform size, 64 MiB filled, then replaced four at a time, 8 x the blocks");
    println!(
        "{:>10} {:>10} {:>10} {:>10}",
        "bytes", "no probe", "one", "four"
    );
    let units = 64 * MIB / 64;
    for log2 in 12..=18 {
        let bare = after_churn::<RangeHeap<0>>(units, log2, 1 << log2);
        let one = after_churn::<RangeHeap<1>>(units, log2, 1 << log2);
        let four = after_churn::<RangeHeap<4>>(units, log2, 1 << log2);
        println!(
            "{:>10} {:>10} {:>10} {:>10}",
            1 << log2,
            percent(bare),
            percent(one),
            percent(four)
        );
        assert!(one >= 0.99 && four >= 0.99, "2^{log2}: {one}, {four}");
        assert!(bare < 0.80, "2^{log2} without a probe: {bare}");
    }
}

/// Mean and worst of some seeds.
fn over_seeds(run: impl Fn(u64) -> f64) -> (f64, f64) {
    let shares: Vec<f64> = (0..16).map(run).collect();
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    (mean, shares.into_iter().fold(1.0, f64::min))
}

/// Sizes from `low` to `high` with every magnitude alike.
fn log_uniform(low: u64, high: u64) -> impl Fn(&mut SmallRng) -> u64 + Copy {
    let ratio = high as f64 / low as f64;
    move |rng| (low as f64 * ratio.powf(rng.random::<f64>())) as u64
}

fn compare_mixes(
    what: &str,
    units: u64,
    size: impl Fn(&mut SmallRng) -> u64 + Copy,
) -> [(f64, f64); 4] {
    let results = [
        over_seeds(|seed| until_first_failure::<RangeHeap<0>>(units, seed, CHURN, size)),
        over_seeds(|seed| until_first_failure::<RangeHeap<1>>(units, seed, CHURN, size)),
        over_seeds(|seed| until_first_failure::<RangeHeap<4>>(units, seed, CHURN, size)),
        over_seeds(|seed| until_first_failure::<BestFit>(units, seed, CHURN, size)),
    ];
    println!("{what}: share at the first failure, mean and worst of 16 seeds");
    for (name, (mean, worst)) in ["no probe", "one", "four", "best fit"].iter().zip(results) {
        println!("{name:>10} {:>10} {:>10}", percent(mean), percent(worst));
    }
    results
}

#[test]
fn a_random_mix_of_small_sizes_uses_nearly_all_of_the_memory() {
    let size = log_uniform(64, 128 << 10);
    let [_, one, four, best] = compare_mixes("64 B to 128 KiB in 64 MiB", 64 * MIB / 64, size);
    assert!(one.0 >= 0.96 && four.0 >= 0.96, "{one:?}, {four:?}");
    assert!(one.0 >= best.0 - 0.005, "{one:?} against {best:?}");
}

#[test]
fn a_random_mix_of_large_sizes_keeps_up_with_best_fit() {
    let size = log_uniform(512, 16 * MIB);
    let [_, one, _, best] = compare_mixes("512 B to 16 MiB in 512 MiB", 512 * MIB / 64, size);
    assert!(one.0 >= best.0 - 0.02, "{one:?} against {best:?}");
    assert!(one.0 >= 0.84, "{one:?}");
}
