//! The range heap at the edges of its contract, one promise a test.

use cannery_heap::range::{Freed, NodeId, Piece, RangeHeap};

fn heap_with(lens: &[u64]) -> (RangeHeap, Vec<NodeId>) {
    let mut heap = RangeHeap::new(lens.iter().sum());
    let ids = lens
        .iter()
        .map(|&len| heap.alloc(len, 1).expect("room").id)
        .collect();
    (heap, ids)
}

#[test]
fn an_empty_space_gives_nothing_and_breaks_nothing() {
    let mut heap = RangeHeap::new(0);
    assert_eq!(heap.alloc(1, 1), None);
    assert_eq!(heap.alloc(0, 1), None);
    assert_eq!(heap.alloc_at(0, 1), None);
    assert_eq!(heap.take_dirty(), None);
    assert_eq!(
        (
            heap.len(),
            heap.free_units(),
            heap.largest_free(),
            heap.live()
        ),
        (0, 0, 0, 0)
    );
    assert_eq!(heap.pieces().count(), 0);
    heap.check();
}

#[test]
fn the_longest_space_works_to_its_last_unit() {
    let mut heap = RangeHeap::new(RangeHeap::MAX_LEN);
    let all = heap.alloc(RangeHeap::MAX_LEN, 1).expect("all");
    assert_eq!((all.start, all.len), (0, RangeHeap::MAX_LEN));
    heap.free(all.id).expect("held");
    let last = heap.alloc_at(RangeHeap::MAX_LEN - 1, 1).expect("free");
    assert_eq!(heap.largest_free(), RangeHeap::MAX_LEN - 1);
    assert_eq!(heap.dirty_units(), RangeHeap::MAX_LEN - 1);
    let half = heap.alloc(1 << 52, 1 << 52).expect("the lower half");
    assert_eq!(half.start, 0);
    heap.check();
    heap.free(last.id).expect("held");
    heap.free(half.id).expect("held");
    assert_eq!(heap.largest_free(), RangeHeap::MAX_LEN);
    heap.check();
}

#[test]
#[should_panic(expected = "the limit is")]
fn a_longer_space_is_refused() {
    RangeHeap::new(RangeHeap::MAX_LEN + 1);
}

#[test]
fn impossible_requests_fail_and_change_nothing() {
    let (mut heap, _) = heap_with(&[10, 20]);
    heap.alloc_at(0, 1);
    let before: Vec<Piece> = heap.pieces().collect();
    for len in [0, 31, 1 << 53, 1 << 60, u64::MAX] {
        assert_eq!(heap.alloc(len, 1), None, "{len}");
        assert_eq!(heap.alloc(len, 8), None, "{len}");
    }
    for align in [0, 3, 6, u64::MAX] {
        assert_eq!(heap.alloc(1, align), None, "{align} is no power of two");
    }
    for (start, len) in [
        (0, 0),
        (0, 31),
        (30, 1),
        (29, 2),
        (u64::MAX, 1),
        (1, u64::MAX),
    ] {
        assert_eq!(heap.alloc_at(start, len), None, "{start}+{len}");
    }
    assert!(heap.pieces().eq(before));
    heap.check();
}

#[test]
fn the_greatest_alignment_is_met_at_the_start_and_nowhere_else() {
    let mut heap = RangeHeap::new(1 << 20);
    let first = heap.alloc(5, 1 << 63).expect("0 is a multiple of anything");
    assert_eq!(first.start, 0);
    assert_eq!(heap.alloc(5, 1 << 63), None);
    heap.check();
}

#[test]
fn what_the_alignment_skips_stays_free() {
    let mut heap = RangeHeap::new(1_000);
    heap.alloc(3, 1).expect("room");
    let aligned = heap.alloc(100, 64).expect("room");
    assert_eq!(aligned.start, 64);
    let between = heap.alloc(61, 1).expect("the gap of exactly this length");
    assert_eq!(between.start, 3);
    assert_eq!(heap.free_units(), 1_000 - 3 - 100 - 61);
    heap.check();
}

#[test]
fn an_aligned_request_finds_the_only_place_there_is() {
    // Free: [1, 128) is long but holds no aligned 64; [192, 256) is exactly one.
    let mut heap = RangeHeap::new(256);
    heap.alloc_at(0, 1).expect("free");
    heap.alloc_at(127, 65).expect("free");
    let only = heap.alloc(64, 64).expect("there is a place");
    assert_eq!(only.start, 192);
    heap.check();
}

#[test]
fn a_request_fails_only_when_there_is_no_room() {
    // One bin, many members, the newest of which are too short by a unit: no
    // bin promises a fit and no probe hits.
    let mut heap = RangeHeap::new(1_000_000);
    let mut short = Vec::new();
    let fits = heap.alloc(32 * 1_024 + 511, 1).expect("room");
    for _ in 0..10 {
        heap.alloc(1, 1).expect("room");
        short.push(heap.alloc(32 * 1_024 + 510, 1).expect("room").id);
    }
    let rest = heap.largest_free();
    heap.alloc(rest, 1).expect("room");
    heap.free(fits.id).expect("held");
    for id in short {
        heap.free(id).expect("held");
    }
    let found = heap
        .alloc(32 * 1_024 + 511, 1)
        .expect("the oldest of the bin");
    assert_eq!(found.start, fits.start);
    assert_eq!(heap.alloc(32 * 1_024 + 511, 1), None);
    heap.check();
}

#[test]
fn the_same_size_again_gets_the_same_place() {
    let mut heap = RangeHeap::new(1 << 20);
    for len in [1, 63, 65, 4_097, 65_537] {
        let first = heap.alloc(len, 1).expect("room");
        heap.alloc(1, 1).expect("a neighbour that stays");
        heap.free(first.id).expect("held");
        let again = heap.alloc(len, 1).expect("room");
        assert_eq!((again.start, again.dirty), (first.start, true));
    }
}

#[test]
fn freed_ranges_merge_on_both_sides() {
    let (mut heap, ids) = heap_with(&[10, 20, 30, 40]);
    assert_eq!(heap.free(ids[0]), Some(Freed { start: 0, len: 10 }));
    assert_eq!(heap.free(ids[2]), Some(Freed { start: 30, len: 30 }));
    assert_eq!(heap.free(ids[1]), Some(Freed { start: 0, len: 60 }));
    assert_eq!(heap.free(ids[3]), Some(Freed { start: 0, len: 100 }));
    assert_eq!(
        (heap.live(), heap.free_units(), heap.largest_free()),
        (0, 100, 100)
    );
    heap.check();
}

#[test]
fn ids_that_name_nothing_are_told_so() {
    let (mut heap, ids) = heap_with(&[10, 20]);
    heap.free(ids[0]).expect("held");
    for index in (0..100).chain([u32::MAX - 1, u32::MAX]) {
        let id = NodeId::from_index(index);
        if id != ids[1] {
            assert_eq!(heap.get(id), None);
            assert_eq!(heap.free(id), None);
            assert_eq!(heap.free_clean(id), None);
        }
    }
    assert_eq!(heap.get(ids[1]).map(|range| range.len), Some(20));
    heap.check();
}

#[test]
fn ids_are_never_zero_and_survive_the_round_trip() {
    let (_, ids) = heap_with(&[1; 100]);
    for id in ids {
        assert_ne!(id.index(), 0);
        assert_eq!(NodeId::from_index(id.index()), id);
    }
}

#[test]
fn ids_are_used_again() {
    let mut heap = RangeHeap::new(1 << 20);
    let mut highest = 0;
    for _ in 0..1_000 {
        let ids: Vec<NodeId> = (1..20)
            .map(|len| heap.alloc(len, 1).expect("room").id)
            .collect();
        highest = ids
            .iter()
            .map(|id| id.index())
            .max()
            .max(Some(highest))
            .unwrap_or(0);
        for id in ids {
            heap.free(id).expect("held");
        }
    }
    assert!(highest < 50, "19 ranges at a time, but ids up to {highest}");
}

#[test]
fn a_new_heap_is_clean_and_a_free_makes_dirty() {
    let mut heap = RangeHeap::new(100);
    assert_eq!(heap.take_dirty(), None);
    let a = heap.alloc(10, 1).expect("room");
    let b = heap.alloc(10, 1).expect("room");
    let keep = heap.alloc(10, 1).expect("room");
    assert!(!a.dirty && !b.dirty);
    heap.free(a.id).expect("held");
    assert_eq!(heap.dirty_units(), 10);
    heap.free_clean(b.id).expect("held");
    assert_eq!(
        heap.dirty_units(),
        20,
        "merged with a dirty one: all of it is dirty"
    );
    let part = heap.alloc(5, 1).expect("room");
    assert!(part.dirty);
    assert_eq!(heap.dirty_units(), 15, "split: the rest stays dirty");
    heap.free_clean(keep.id).expect("held");
    assert_eq!(heap.dirty_units(), 95);
    heap.check();
}

#[test]
fn cleaning_ends_with_nothing_dirty() {
    let (mut heap, ids) = heap_with(&[7; 64]);
    for id in ids.iter().step_by(2) {
        heap.free(*id).expect("held");
    }
    let mut taken = Vec::new();
    while let Some(range) = heap.take_dirty() {
        assert!(range.dirty && range.len == 7);
        assert_eq!(
            heap.get(range.id),
            Some(range),
            "as if it had been allocated"
        );
        taken.push(range.id);
    }
    assert_eq!(taken.len(), 32);
    assert_eq!(
        (heap.dirty_units(), heap.free_units(), heap.live()),
        (0, 0, 64)
    );
    for id in taken {
        heap.free_clean(id).expect("held");
    }
    assert_eq!(
        (heap.dirty_units(), heap.free_units(), heap.live()),
        (0, 32 * 7, 32)
    );
    assert_eq!(heap.take_dirty(), None);
    assert!(heap.alloc(7, 1).is_some_and(|range| !range.dirty));
    heap.check();
}

#[test]
fn the_debug_text_tells_the_counts() {
    let (heap, _) = heap_with(&[3, 4]);
    let text = format!("{heap:?}");
    assert!(
        text.contains("len: 7") && text.contains("live: 2"),
        "{text}"
    );
}
