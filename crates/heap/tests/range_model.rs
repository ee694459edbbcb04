//! Random calls on a range heap and on an obvious model of it: same answers,
//! same counts, same pieces, and the heap's structure intact.

mod support;

use proptest::prelude::*;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use support::{Pair, Step};

/// Lengths from 1 to 2^15 with every magnitude alike; alignments mostly none.
fn random_step(rng: &mut SmallRng, space: u16, allocating: f64) -> Step {
    let len = |rng: &mut SmallRng| (rng.random::<u16>() >> rng.random_range(1..16)).max(1);
    if rng.random_bool(0.02) {
        return match rng.random_range(0..3) {
            0 => Step::TakeDirty,
            1 => Step::FreeUnknown {
                id: rng.random_range(0..1 << 12),
            },
            _ => Step::AllocAt {
                start: rng.random_range(0..=space),
                len: len(rng),
            },
        };
    }
    if rng.random_bool(allocating) {
        let align_log2 = if rng.random_bool(0.8) {
            0
        } else {
            rng.random_range(0..9)
        };
        Step::Alloc {
            len: len(rng),
            align_log2,
        }
    } else if rng.random_bool(0.8) {
        Step::Free {
            which: rng.random(),
        }
    } else {
        Step::FreeClean {
            which: rng.random(),
        }
    }
}

/// Grows to the brim and shrinks to nothing again and again.
fn long_run<const PROBES: usize>(seed: u64, space: u16, steps: u32) {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut pair = Pair::<PROBES>::new(u64::from(space));
    let mut allocating = 0.6;
    for step in 0..steps {
        if step % 4096 == 0 {
            allocating = [0.55, 0.65, 0.35, 0.5][(step / 4096) as usize % 4];
        }
        pair.play(&random_step(&mut rng, space, allocating));
        if step % 257 == 0 {
            pair.compare();
        }
    }
    pair.compare();
    let most = pair.finish();
    assert!(
        most > usize::from(space) / 1_000,
        "the run was too tame: {most} held at most"
    );
}

#[test]
fn long_runs_agree_with_the_model() {
    for seed in 0..4 {
        long_run::<1>(seed, 60_000, 120_000);
        long_run::<1>(seed, 4_096, 60_000);
    }
}

#[test]
fn long_runs_agree_with_the_model_at_other_numbers_of_probes() {
    long_run::<0>(5, 40_000, 60_000);
    long_run::<2>(6, 40_000, 60_000);
    long_run::<4>(7, 40_000, 60_000);
}

#[test]
fn long_runs_in_tiny_spaces_agree_with_the_model() {
    for space in [1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 129] {
        long_run::<1>(u64::from(space), space, 6_000);
    }
}

fn any_step(space: u16) -> impl Strategy<Value = Step> {
    let len = prop_oneof![4 => 1..64_u16, 2 => 64..512_u16, 1 => 0..=space];
    let align = prop_oneof![6 => Just(0_u8), 3 => 1..7_u8, 1 => 0..=255_u8];
    prop_oneof![
        12 => (len.clone(), align).prop_map(|(len, align_log2)| Step::Alloc { len, align_log2 }),
        2 => (0..=space, len).prop_map(|(start, len)| Step::AllocAt { start, len }),
        7 => any::<u16>().prop_map(|which| Step::Free { which }),
        3 => any::<u16>().prop_map(|which| Step::FreeClean { which }),
        2 => Just(Step::TakeDirty),
        1 => prop_oneof![0..64_u32, any::<u32>()].prop_map(|id| Step::FreeUnknown { id }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Short sequences, compared after each step; a failure is made smaller.
    #[test]
    fn short_sequences_agree_with_the_model(
        space in 0..2_048_u16,
        steps in prop::collection::vec(any_step(2_048), 1..160),
    ) {
        let mut pair = Pair::<1>::new(u64::from(space));
        for step in &steps {
            pair.play(step);
            pair.compare();
        }
        pair.finish();
    }
}
