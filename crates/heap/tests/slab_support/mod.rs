//! What the tests of the slabs share: storage for a table, an obvious model of what lives in it,
//! and the steps that are played on both.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64};

use cannery_heap::range::{NodeId, RangeHeap};
use cannery_heap::slab::{
    Arrays, Bins, Found, Freed, LargeInfo, Owner, Place, SliceRecord, SpanTable, Start, UNIT,
    WORDS_PER_SLICE, class_of, class_units, span_slices,
};

/// Bytes of a slice, as a shift: the only one that small blocks are made for.
pub(crate) const SHIFT: u32 = 16;
pub(crate) const SLICE: u64 = 1 << SHIFT;
/// Owners that share the table.
pub(crate) const OWNERS: usize = 3;
/// Number of the first owner's bins.
const FIRST: u32 = 7;
/// Empty spans of one class that an owner may keep: one with room, and those that blocks in its
/// magazine belong to.
const KEPT: usize = 17;
/// Largest padded size of a small block, in bytes.
const MAX_SMALL: u64 = 512 * UNIT;

/// The memory of a table.
pub(crate) struct Storage {
    map: Vec<AtomicU64>,
    notes: Vec<AtomicU32>,
    records: Vec<SliceRecord>,
    words: Vec<AtomicU32>,
}

impl Storage {
    pub(crate) fn new(slices: usize) -> Self {
        let words = |count| (0..count).map(|_| AtomicU32::new(0)).collect();
        Self {
            map: (0..slices).map(|_| AtomicU64::new(0)).collect(),
            notes: words(slices),
            records: (0..slices).map(|_| SliceRecord::default()).collect(),
            words: words(slices * WORDS_PER_SLICE.iter().sum::<usize>()),
        }
    }

    pub(crate) fn table(&self) -> SpanTable<'_> {
        SpanTable::new(Arrays {
            map: &self.map,
            notes: &self.notes,
            records: &self.records,
            words: &self.words,
        })
    }
}

/// One call. Blocks are chosen by their number among those that live.
#[derive(Clone, Debug, bolero::TypeGenerator)]
pub(crate) enum Step {
    Small {
        owner: u8,
        requested: u16,
        padding: u16,
        /// Bytes of address space beyond the padded size: another class than the size alone says.
        room: u16,
        family: u8,
        module: u8,
    },
    Large {
        slices: u8,
        spare: u32,
        family: u8,
        page: u8,
    },
    Free {
        which: u16,
    },
    Flush {
        owner: u8,
    },
    Look {
        offset: u32,
    },
    Note {
        which: u16,
        note: u32,
    },
}

#[derive(Clone, Copy, Debug)]
struct Block {
    size: u64,
    requested: u64,
    owner: Owner,
    place: Place,
}

#[derive(Debug)]
struct Span {
    owner: usize,
    class: usize,
    slices: u32,
    live: u64,
}

impl Span {
    fn capacity(&self) -> u64 {
        u64::from(self.slices) * (SLICE / UNIT) / u64::from(class_units(self.class))
    }

    fn has_room(&self) -> bool {
        self.live < self.capacity()
    }
}

/// Slabs and the model of them, always in step.
pub(crate) struct Pair<'a> {
    table: SpanTable<'a>,
    bins: Vec<Bins>,
    /// Where slices come from: the range allocator, as in the runtime.
    slices: RangeHeap,
    ids: BTreeMap<u32, NodeId>,
    blocks: BTreeMap<u64, Block>,
    spans: BTreeMap<u32, Span>,
    notes: BTreeMap<u32, u32>,
    most: usize,
}

impl<'a> Pair<'a> {
    pub(crate) fn new(storage: &'a Storage) -> Self {
        let table = storage.table();
        Self {
            table,
            bins: (0..OWNERS as u32).map(|n| Bins::new(n + FIRST)).collect(),
            slices: RangeHeap::new(table.slices() as u64),
            ids: BTreeMap::new(),
            blocks: BTreeMap::new(),
            spans: BTreeMap::new(),
            notes: BTreeMap::new(),
            most: 0,
        }
    }

    pub(crate) fn play(&mut self, step: &Step) {
        match *step {
            Step::Small {
                owner,
                requested,
                padding,
                room,
                family,
                module,
            } => {
                let size = (u64::from(requested) % MAX_SMALL + 1)
                    .next_multiple_of(32)
                    .min(MAX_SMALL);
                let requested = size.saturating_sub(u64::from(padding) % 512);
                let room = (size + u64::from(room)).min(MAX_SMALL);
                let keep = Owner {
                    family: family % 16,
                    module: module % 128,
                    page: 0,
                };
                self.small(usize::from(owner) % OWNERS, size, requested, room, keep);
            }
            Step::Large {
                slices,
                spare,
                family,
                page,
            } => {
                let keep = Owner {
                    family: family % 16,
                    module: page % 128,
                    page: page % 4,
                };
                let owner = usize::from(family) % OWNERS;
                self.large(owner, u32::from(slices).max(1), u64::from(spare), keep);
            }
            Step::Free { which } => {
                if let Some(start) = self.nth(which) {
                    self.free(start);
                }
            }
            Step::Flush { owner } => self.flush(usize::from(owner) % OWNERS),
            Step::Look { offset } => {
                let end = self.table.slices() as u64 * SLICE;
                self.look(u64::from(offset) * UNIT / 3 % (end + SLICE));
            }
            Step::Note { which, note } => {
                let first = self
                    .ids
                    .keys()
                    .nth(usize::from(which) % self.ids.len().max(1));
                if let Some(&first) = first {
                    self.table.set_note(first, note);
                    self.notes.insert(first, note);
                }
            }
        }
    }

    fn nth(&self, which: u16) -> Option<u64> {
        let at = usize::from(which) % self.blocks.len().max(1);
        self.blocks.keys().nth(at).copied()
    }

    fn small(&mut self, owner: usize, size: u64, requested: u64, room: u64, keep: Owner) {
        let class = class_of(room.div_ceil(UNIT) as u32);
        let expected = self
            .spans
            .values()
            .any(|span| span.owner == owner && span.class == class && span.has_room());
        let mut got = self.bins[owner].alloc(&self.table, class, size, requested, keep);
        assert_eq!(
            got.is_some(),
            expected,
            "room in the spans of class {class}"
        );
        if got.is_none() {
            let slices = span_slices(class);
            let Some(range) = self.slices.alloc(u64::from(slices), 1) else {
                return;
            };
            let first = range.start as u32;
            self.ids.insert(first, range.id);
            self.bins[owner].add_span(&self.table, class, first);
            self.spans.insert(
                first,
                Span {
                    owner,
                    class,
                    slices,
                    live: 0,
                },
            );
            got = self.bins[owner].alloc(&self.table, class, size, requested, keep);
        }
        let start = got.expect("a fresh span has room");
        assert_eq!(start % UNIT, 0, "{start:#x} is not aligned");
        let span = (start >> SHIFT) as u32;
        let (&span, known) = self.spans.range_mut(..=span).next_back().expect("a span");
        let units = u64::from(class_units(class));
        let within = start - u64::from(span) * SLICE;
        assert_eq!((known.owner, known.class), (owner, class), "span {span}");
        assert_eq!(
            within % (units * UNIT),
            0,
            "block {start:#x} of span {span}"
        );
        let index = within / (units * UNIT);
        assert!(index < known.capacity(), "block {index} of span {span}");
        known.live += 1;
        self.take(
            start,
            Block {
                size,
                requested,
                owner: keep,
                place: Place::Small {
                    span,
                    index: index as u32,
                    bins: owner as u32 + FIRST,
                },
            },
        );
    }

    fn large(&mut self, owner: usize, slices: u32, spare: u64, keep: Owner) {
        let Some(range) = self.slices.alloc(u64::from(slices), 1) else {
            return;
        };
        let first = range.start as u32;
        self.ids.insert(first, range.id);
        let size = u64::from(slices) * SLICE - spare % SLICE / 32 * 32;
        let requested = size - spare % 128 % size;
        let info = LargeInfo {
            first,
            slices,
            size,
            requested,
            owner: keep,
        };
        self.bins[owner].add_large(&self.table, &info);
        self.take(
            u64::from(first) * SLICE,
            Block {
                size,
                requested,
                owner: keep,
                place: Place::Large {
                    first,
                    bins: owner as u32 + FIRST,
                },
            },
        );
    }

    /// The slices of a large block that was released are for the next one of its owner.
    fn use_again(&mut self, before: &Block, first: u32) {
        let Place::Large { bins, .. } = before.place else {
            panic!("{before:?} is small");
        };
        let owner = &mut self.bins[(bins - FIRST) as usize];
        let slices = before.size.div_ceil(SLICE) as u32;
        let other = Owner {
            family: before.owner.family ^ 1,
            ..before.owner
        };
        let size = u64::from(slices) * SLICE - SLICE / 2;
        let info = LargeInfo {
            first,
            slices,
            size,
            requested: size - 1,
            owner: other,
        };
        owner.add_large(&self.table, &info);
        let start = u64::from(first) * SLICE;
        for offset in [start, start + size - 1] {
            let found = self.table.find(offset).expect("lives");
            assert_eq!((found.start, found.size), (start, size));
            assert_eq!((found.requested, found.owner), (size - 1, other));
        }
        assert_eq!(self.table.find(start + size), None);
        let Some(Start::Large(found)) = self.table.start(start) else {
            panic!("{first} is lost");
        };
        let freed = Freed { size, owner: other };
        assert_eq!(owner.free_large(&found), Some(freed));
    }

    /// Writes a block down after seeing that it overlaps no other.
    fn take(&mut self, start: u64, block: Block) {
        let end = start + block.size;
        assert!(
            end <= self.table.slices() as u64 * SLICE,
            "beyond the region"
        );
        let before = self.blocks.range(..end).next_back();
        if let Some((&other, known)) = before {
            assert!(
                other + known.size <= start,
                "{start:#x}..{end:#x} overlaps {known:?} at {other:#x}"
            );
        }
        self.blocks.insert(start, block);
        self.most = self.most.max(self.blocks.len());
        self.look_around(start, block.size);
    }

    fn free(&mut self, start: u64) {
        let block = self.blocks.remove(&start).expect("lives");
        let freed = Some(Freed {
            size: block.size,
            owner: block.owner,
        });
        match (block.place, self.table.start(start)) {
            (Place::Small { span, bins, .. }, Some(Start::Small(found))) => {
                assert_eq!((found.bins(), found.family()), (bins, block.owner.family));
                let owner = (bins - FIRST) as usize;
                self.spans.get_mut(&span).expect("a span").live -= 1;
                let mut given = vec![];
                let give = |first, slices| given.push((first, slices));
                assert_eq!(self.bins[owner].free(&self.table, &found, give), freed);
                let never = |_, _| panic!("nothing is released");
                let again = self.bins[owner].free(&self.table, &found, never);
                assert_eq!(again, None, "a second release");
                for (first, slices) in given {
                    self.emptied(owner, first, slices);
                }
                self.look_at_empty_spans(owner, self.spans.get(&span).map(|span| span.class));
            }
            (Place::Large { first, bins }, Some(Start::Large(found))) => {
                assert_eq!((found.bins(), found.first()), (bins, first));
                assert_eq!(found.family(), block.owner.family);
                let owner = &mut self.bins[(bins - FIRST) as usize];
                assert_eq!(owner.free_large(&found), freed);
                assert_eq!(owner.free_large(&found), None, "a second release");
                assert!(self.table.start(start).is_none(), "a second release");
                self.use_again(&block, first);
                self.give_back(first);
            }
            (place, start) => panic!("{place:?} begins as {start:?}"),
        }
        assert!(self.table.start(start).is_none(), "a second release");
        self.look_around(start, block.size);
    }

    /// A span left its bins: it had to be empty.
    fn emptied(&mut self, owner: usize, first: u32, slices: u32) {
        let span = self.spans.remove(&first).expect("a span");
        assert_eq!((span.owner, span.slices, span.live), (owner, slices, 0));
        self.give_back(first);
        assert!(!self.table.is_small_span(first));
    }

    fn look_at_empty_spans(&self, owner: usize, class: Option<usize>) {
        let empty =
            |span: &&Span| span.owner == owner && Some(span.class) == class && span.live == 0;
        let kept = self.spans.values().filter(empty).count();
        assert!(
            kept <= KEPT,
            "{kept} empty spans of class {class:?} are kept"
        );
    }

    fn flush(&mut self, owner: usize) {
        let mut given = BTreeMap::new();
        self.bins[owner].flush(&self.table, |first, slices| {
            assert_eq!(given.insert(first, slices), None, "given twice");
        });
        let expected: BTreeMap<u32, u32> = self
            .spans
            .iter()
            .filter(|(_, span)| span.owner == owner && span.live == 0)
            .map(|(&first, span)| (first, span.slices))
            .collect();
        assert_eq!(given, expected, "every empty span, and no other");
        for first in given.into_keys() {
            self.spans.remove(&first);
            self.give_back(first);
        }
    }

    fn give_back(&mut self, first: u32) {
        self.table.retract(first);
        let id = self.ids.remove(&first).expect("a run of slices");
        assert!(self.slices.free(id).is_some());
        if let Some(note) = self.notes.remove(&first) {
            assert_eq!(self.table.note(first), note, "a note stays with its run");
        }
    }

    /// What the model says is at an offset.
    fn expected(&self, offset: u64) -> Option<Found> {
        let (&start, block) = self.blocks.range(..=offset).next_back()?;
        (offset - start < block.size).then_some(Found {
            start,
            size: block.size,
            requested: block.requested,
            owner: block.owner,
            place: block.place,
        })
    }

    fn look(&self, offset: u64) {
        let begins = self.blocks.get(&offset);
        assert_eq!(
            self.table.start(offset).map(|start| start.family()),
            begins.map(|block| block.owner.family),
            "beginning at {offset:#x}, slice {}",
            offset >> SHIFT
        );
        assert_eq!(
            self.table.find(offset),
            self.expected(offset),
            "at {offset:#x}, slice {}",
            offset >> SHIFT
        );
    }

    /// First and last byte, one past the end, one before the start, and some between.
    fn look_around(&self, start: u64, size: u64) {
        for offset in [
            start,
            start + size - 1,
            start + size,
            start.saturating_sub(1),
        ] {
            self.look(offset);
        }
        for k in 1..5 {
            self.look(start + (size * k + start) % size);
        }
    }

    /// Every block and every slice, free or not, at its edges and inside.
    pub(crate) fn compare(&self) {
        for (&start, block) in &self.blocks {
            self.look_around(start, block.size);
        }
        for slice in 0..self.table.slices() as u64 + 2 {
            for within in [0, 1, 63, 64, 4096, SLICE / 2 + 7, SLICE - 1] {
                self.look(slice * SLICE + within);
            }
        }
        for offset in [u64::MAX, u64::MAX - 65535, 1 << 47, 1 << 32] {
            assert_eq!(self.table.find(offset), None);
            assert!(self.table.start(offset).is_none());
        }
        for (&first, span) in &self.spans {
            assert!(self.table.is_small_span(first), "{span:?}");
        }
    }

    /// Frees everything: the slices must be one free range again. Returns how many blocks lived at
    /// once at most.
    pub(crate) fn finish(mut self) -> usize {
        while let Some(&start) = self.blocks.keys().next() {
            self.free(start);
        }
        for owner in 0..OWNERS {
            self.flush(owner);
        }
        assert!(self.spans.is_empty(), "{:?} were kept", self.spans);
        assert_eq!(self.slices.largest_free(), self.slices.len());
        self.compare();
        self.most
    }
}
