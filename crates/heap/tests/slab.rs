//! Random calls on slabs and on an obvious model of them: disjoint, aligned, remembered as they
//! were, found by every interior offset and by no other, gone when they are released.

mod slab_support;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cannery_heap::range::{NodeId, RangeHeap};
use cannery_heap::slab::{
    Bins, CLASSES, LargeInfo, MAX_BINS, Owner, Place, SpanTable, Start, class_of, span_slices,
};
use proptest::prelude::*;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use slab_support::{Pair, SLICE, Step, Storage};

/// Every magnitude of size alike; owners, families and modules at random.
fn random_step(rng: &mut SmallRng, allocating: f64) -> Step {
    let which = rng.random();
    if rng.random_bool(0.05) {
        return match rng.random_range(0..40) {
            0..8 => Step::Flush {
                owner: rng.random(),
            },
            8..14 => Step::Note {
                which,
                note: rng.random(),
            },
            _ => Step::Look {
                offset: rng.random(),
            },
        };
    }
    if !rng.random_bool(allocating) {
        return Step::Free { which };
    }
    if rng.random_bool(0.04) {
        return Step::Large {
            slices: rng.random::<u8>() >> rng.random_range(2..8),
            spare: rng.random(),
            family: rng.random(),
            page: rng.random_range(0..128),
        };
    }
    Step::Small {
        owner: rng.random(),
        requested: rng.random::<u16>() >> rng.random_range(1..12),
        padding: rng.random::<u16>() >> rng.random_range(7..16),
        room: if rng.random_bool(0.9) {
            0
        } else {
            rng.random_range(0..4096)
        },
        family: rng.random(),
        module: rng.random(),
    }
}

/// Grows to the brim and shrinks to nothing again and again.
fn long_run(seed: u64, slices: usize, steps: u32, at_least: usize) {
    let mut rng = SmallRng::seed_from_u64(seed);
    let storage = Storage::new(slices);
    let mut pair = Pair::new(&storage);
    for step in 0..steps {
        let allocating = [0.7, 0.5, 0.2, 0.55][(step / 1024) as usize % 4];
        pair.play(&random_step(&mut rng, allocating));
        if step % 509 == 0 {
            pair.compare();
        }
    }
    pair.compare();
    let most = pair.finish();
    assert!(
        most >= at_least,
        "the run was too tame: {most} held at most"
    );
}

#[test]
fn long_runs_agree_with_the_model() {
    for seed in 0..6 {
        long_run(seed, 160, 20_000, 100);
    }
}

#[test]
fn long_runs_in_little_room_agree_with_the_model() {
    for seed in 0..6 {
        long_run(seed, 24, 12_000, 20);
    }
}

fn any_step() -> impl Strategy<Value = Step> {
    let small = (
        0..3_u8,
        prop_oneof![3 => 0..600_u16, 2 => 0..8_192_u16, 1 => 0..32_768_u16],
        prop_oneof![3 => 0..64_u16, 1 => 0..512_u16],
        prop_oneof![5 => Just(0_u16), 1 => 0..4_096_u16],
        any::<u8>(),
        any::<u8>(),
    );
    let small = small.prop_map(
        |(owner, requested, padding, room, family, module)| Step::Small {
            owner,
            requested,
            padding,
            room,
            family,
            module,
        },
    );
    let large = (1..24_u8, any::<u32>(), any::<u8>(), 0..128_u8);
    let large = large.prop_map(|(slices, spare, family, page)| Step::Large {
        slices,
        spare,
        family,
        page,
    });
    prop_oneof![
        12 => small,
        3 => large,
        9 => any::<u16>().prop_map(|which| Step::Free { which }),
        2 => (0..3_u8).prop_map(|owner| Step::Flush { owner }),
        1 => (any::<u16>(), any::<u32>()).prop_map(|(which, note)| Step::Note { which, note }),
        2 => any::<u32>().prop_map(|offset| Step::Look { offset }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Short sequences, compared after each step; a failure is made smaller.
    #[test]
    fn short_sequences_agree_with_the_model(
        slices in 1..48_usize,
        steps in prop::collection::vec(any_step(), 1..80),
    ) {
        let storage = Storage::new(slices);
        let mut pair = Pair::new(&storage);
        for step in &steps {
            pair.play(step);
            pair.compare();
        }
        pair.finish();
    }
}

const NOBODY: Owner = Owner {
    family: 0,
    module: 0,
    page: 0,
};

fn bins_of(place: Place) -> u32 {
    match place {
        Place::Small { bins, .. } | Place::Large { bins, .. } => bins,
    }
}

/// Releases the block at `start`; spans that empty are forgotten.
fn free(bins: &mut Bins, table: &SpanTable<'_>, start: u64) {
    let freed = match table.start(start) {
        Some(Start::Small(found)) => bins.free(table, &found, |_, _| {}),
        Some(Start::Large(found)) => bins.free_large(&found),
        None => panic!("{start:#x} is lost"),
    };
    assert!(freed.is_some(), "{start:#x} belongs to other bins");
}

/// A map entry stays behind when a long block goes. The span that comes to its first slice must
/// not answer for the slices behind it, not even through the words of a neighbour.
#[test]
fn a_stale_entry_finds_nothing_through_a_neighbour() {
    let storage = Storage::new(32);
    let table = storage.table();
    let mut large = Bins::new(6);
    large.add_large(
        &table,
        &LargeInfo {
            first: 0,
            slices: 32,
            size: 32 * SLICE,
            requested: 32 * SLICE,
            owner: NOBODY,
        },
    );
    free(&mut large, &table, 0);
    table.retract(0);
    for units in [1, 2, 3, 5, 8, 16, 64, 128] {
        let size = u64::from(units) * 64;
        let mut bins = Bins::new(7);
        bins.add_span(&table, class_of(units), 0);
        let mut neighbours = Bins::new(8);
        let mut starts = vec![];
        for first in 1..4 {
            neighbours.add_span(&table, class_of(units), first);
            while let Some(start) = neighbours.alloc(&table, class_of(units), size, size, NOBODY) {
                starts.push(start);
            }
        }
        for offset in (4 * SLICE..32 * SLICE).step_by(64) {
            assert_eq!(table.find(offset), None, "{units} units, at {offset:#x}");
            let start = table.start(offset);
            assert!(start.is_none(), "{units} units, at {offset:#x}");
        }
        for start in starts {
            free(&mut neighbours, &table, start);
        }
        neighbours.flush(&table, |_, _| {});
        bins.flush(&table, |_, _| {});
    }
}

/// The numbers at the edges of their fields come back as they went in.
#[test]
fn sizes_and_owners_round_trip_at_their_limits() {
    let storage = Storage::new(64);
    let table = storage.table();
    let mut bins = Bins::new(MAX_BINS - 1);
    let mut next = 0;
    for size in [32_u64, 64, 96, 4096, 32_736, 32_768] {
        for spare in [0, 1, 31, 511_u64] {
            for (family, module) in [(0, 0), (15, 127), (15, 0), (0, 127)] {
                let owner = Owner {
                    family,
                    module,
                    page: 0,
                };
                let requested = size.saturating_sub(spare);
                let class = class_of(size.div_ceil(64) as u32);
                let mut got = bins.alloc(&table, class, size, requested, owner);
                if got.is_none() {
                    bins.add_span(&table, class, next);
                    next += 4;
                    got = bins.alloc(&table, class, size, requested, owner);
                }
                let start = got.expect("room");
                for offset in [start, start + 1, start + size - 1] {
                    let found = table.find(offset).expect("lives");
                    assert_eq!((found.start, found.size), (start, size));
                    assert_eq!((found.requested, found.owner), (requested, owner));
                }
                if size.is_multiple_of(64) {
                    continue;
                }
                assert_eq!(table.find(start + size), None, "the spare half of a unit");
            }
        }
    }
}

/// Slices that stay with their bins may say what they were. Whatever they become, nothing is found there
/// but what lives.
#[test]
fn slices_that_stay_with_their_bins_become_anything() {
    let storage = Storage::new(4);
    let table = storage.table();
    let mut bins = Bins::new(3);
    let nothing_lives = || {
        for offset in (0..4 * SLICE).step_by(64) {
            assert_eq!(table.find(offset), None);
            assert!(table.start(offset).is_none());
        }
    };
    // Spans of four slices, one of them twice; where it says 0, a large block.
    for units in [512, 512, 300, 0, 300, 0, 512] {
        let mut starts = vec![];
        if units > 0 {
            let class = class_of(units);
            assert_eq!(span_slices(class), 4);
            bins.add_span(&table, class, 0);
            while let Some(start) = bins.alloc(&table, class, 64, 64, NOBODY) {
                starts.push(start);
            }
        } else {
            let info = LargeInfo {
                first: 0,
                slices: 4,
                size: 4 * SLICE,
                requested: 4 * SLICE,
                owner: NOBODY,
            };
            bins.add_large(&table, &info);
            starts.push(0);
        }
        assert!(!starts.is_empty());
        for &start in &starts {
            assert_eq!(table.find(start).expect("lives").start, start);
        }
        for start in starts {
            free(&mut bins, &table, start);
        }
        bins.flush(&table, |first, slices| assert_eq!((first, slices), (0, 4)));
        nothing_lives();
    }
    table.retract(0);
    nothing_lives();
    // Somebody else's spans begin inside of what was a span.
    let mut others = Bins::new(4);
    for first in [0, 2] {
        others.add_span(&table, class_of(64), first);
        while others.alloc(&table, class_of(64), 64, 64, NOBODY).is_some() {}
    }
    for slice in [1, 3] {
        for offset in (slice * SLICE..(slice + 1) * SLICE).step_by(64) {
            assert_eq!(table.find(offset), None);
        }
    }
}

/// Cleared bins have forgotten their spans: they neither give out blocks of them nor give them up.
#[test]
fn cleared_bins_hold_nothing() {
    let storage = Storage::new(16);
    let mut bins = Bins::new(1);
    for (k, class) in [0, 8, 30].into_iter().enumerate() {
        bins.add_span(&storage.table(), class, 4 * k as u32);
    }
    bins.clear();
    bins.flush(&storage.table(), |first, _| panic!("gave up {first}"));
    let fresh = Storage::new(16);
    for class in 0..CLASSES {
        assert_eq!(bins.alloc(&fresh.table(), class, 32, 32, NOBODY), None);
    }
}

/// Readers look up blocks that they know to live while owners make and release others around them:
/// every answer about a known block is exact, and no answer at all is a wild one.
#[test]
fn readers_find_live_blocks_while_owners_churn() {
    const SLICES: usize = 96;
    const KNOWN: usize = 64;
    let storage = Storage::new(SLICES);
    let table = storage.table();
    let runs = Mutex::new(RangeHeap::new(SLICES as u64));
    // Whoever holds the lock of a place keeps its block alive.
    let known: Vec<Mutex<Option<Known>>> = (0..KNOWN).map(|_| Mutex::default()).collect();
    let owners_left = AtomicUsize::new(2);
    let looks = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for number in 0..2 {
            let (runs, looks, leaving) = (&runs, &looks, Leaving(&owners_left));
            let mine = &known[number as usize * KNOWN / 2..][..KNOWN / 2];
            scope.spawn(move || {
                let _leaving = leaving;
                churn(number, table, runs, mine, looks);
            });
        }
        for number in 0..2 {
            let (known, owners_left, looks) = (&known, &owners_left, &looks);
            scope.spawn(move || {
                let mut rng = SmallRng::seed_from_u64(100 + number);
                while owners_left.load(Ordering::Acquire) > 0 {
                    let place = known[rng.random_range(0..KNOWN)].lock().expect("no panic");
                    if let Some(block) = &*place {
                        for within in [0, block.size - 1, rng.random_range(0..block.size)] {
                            let found = table.find(block.start + within).expect("lives");
                            assert_eq!((found.start, found.size), (block.start, block.size));
                            assert_eq!(found.owner, block.owner);
                        }
                        let start = table.start(block.start).expect("lives");
                        assert_eq!(start.family(), block.owner.family);
                        let place = table.find(block.start).expect("lives").place;
                        assert_eq!(start.bins(), bins_of(place));
                        looks.fetch_add(1, Ordering::Relaxed);
                    }
                    drop(place);
                    let offset = rng.random_range(0..SLICES as u64 * SLICE);
                    if let Some(found) = table.find(offset) {
                        let inside = found.start <= offset && offset - found.start < found.size;
                        assert!(inside && found.start % 64 == 0, "{offset:#x}: {found:?}");
                    }
                }
            });
        }
    });
    assert!(looks.into_inner() >= LOOKS, "the readers were left behind");
    let runs = runs.into_inner().expect("no panic");
    assert_eq!(runs.largest_free(), SLICES as u64);
}

/// Counts an owner out, whichever way it ends.
struct Leaving<'a>(&'a AtomicUsize);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// Blocks that the readers look at before the owners may end.
const LOOKS: usize = 2_000;

struct Known {
    start: u64,
    size: u64,
    owner: Owner,
}

/// One owner: fills and empties its places at random, with blocks of every kind, until the readers
/// have seen enough.
fn churn(
    number: u32,
    table: SpanTable<'_>,
    runs: &Mutex<RangeHeap>,
    known: &[Mutex<Option<Known>>],
    looks: &AtomicUsize,
) {
    let mut rng = SmallRng::seed_from_u64(u64::from(number));
    let mut bins = Bins::new(number);
    let give = |first: u32| {
        table.retract(first);
        let id = NodeId::from_index(table.note(first));
        assert!(runs.lock().expect("no panic").free(id).is_some());
    };
    let take = |slices: u32| {
        let range = runs.lock().expect("no panic").alloc(u64::from(slices), 1)?;
        table.set_note(range.start as u32, range.id.index());
        Some(range.start as u32)
    };
    let release = |bins: &mut Bins, block: &Known| match table.start(block.start).expect("lives") {
        Start::Small(found) => {
            assert_eq!(found.bins(), number);
            let freed = bins.free(&table, &found, |first, _| give(first));
            assert_eq!(freed.expect("lives").size, block.size);
        }
        Start::Large(found) => {
            assert_eq!(found.bins(), number);
            assert!(bins.free_large(&found).is_some());
            give(found.first());
        }
    };
    let mut rounds = 0;
    while rounds < 60_000 || (rounds < 100_000_000 && looks.load(Ordering::Relaxed) < LOOKS) {
        rounds += 1;
        let mut place = known[rng.random_range(0..known.len())]
            .lock()
            .expect("no panic");
        if let Some(block) = place.take() {
            release(&mut bins, &block);
            continue;
        }
        let owner = Owner {
            family: rng.random_range(0..16),
            module: rng.random_range(0..128),
            page: 0,
        };
        let (start, size) = if rng.random_bool(0.1) {
            let slices = rng.random_range(1..5);
            let Some(first) = take(slices) else { continue };
            let size = u64::from(slices) * SLICE - rng.random_range(0..SLICE / 32) * 32;
            let info = LargeInfo {
                first,
                slices,
                size,
                requested: size,
                owner,
            };
            bins.add_large(&table, &info);
            (u64::from(first) * SLICE, size)
        } else {
            let most = 1024_u64 >> rng.random_range(0..10);
            let size = rng.random_range(1..=most) * 32;
            let class = class_of(size.div_ceil(64) as u32);
            let mut got = bins.alloc(&table, class, size, size, owner);
            if got.is_none() {
                let Some(first) = take(span_slices(class)) else {
                    bins.flush(&table, |first, _| give(first));
                    continue;
                };
                bins.add_span(&table, class, first);
                got = bins.alloc(&table, class, size, size, owner);
            }
            (got.expect("a fresh span has room"), size)
        };
        *place = Some(Known { start, size, owner });
    }
    for place in known {
        if let Some(block) = place.lock().expect("no panic").take() {
            release(&mut bins, &block);
        }
    }
    bins.flush(&table, |first, _| give(first));
}
