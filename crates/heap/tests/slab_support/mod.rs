//! What the tests of the slabs share: storage for a table, an obvious model of what lives in it,
//! and the steps that are played on both.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;

use cannery_heap::range::{NodeId, RangeHeap};
use cannery_heap::slab::{
    Bins, Found, LargeInfo, OBJECTS_PER_SLICE, Owner, Place, SpanRecord, SpanTable, UNIT, class_of,
    class_units, span_slices,
};

/// Bytes of a slice, as a shift: the only one that small blocks are made for.
pub(crate) const SHIFT: u32 = 16;
pub(crate) const SLICE: u64 = 1 << SHIFT;
/// Owners that share the table.
pub(crate) const OWNERS: usize = 3;
/// Largest padded size of a small block, in bytes.
const MAX_SMALL: u64 = 512 * UNIT;

/// The memory of a table.
pub(crate) struct Storage {
    map: Vec<AtomicU32>,
    records: Vec<SpanRecord>,
    objects: Vec<AtomicU32>,
}

impl Storage {
    pub(crate) fn new(slices: usize) -> Self {
        let words = |count| (0..count).map(|_| AtomicU32::new(0)).collect();
        Self {
            map: words(slices),
            records: (0..slices).map(|_| SpanRecord::default()).collect(),
            objects: words(slices * OBJECTS_PER_SLICE),
        }
    }

    pub(crate) fn table(&self) -> SpanTable<'_> {
        SpanTable::new(SHIFT, &self.map, &self.records, &self.objects)
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
    FreeAsAnother {
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
        u64::from(self.slices) * OBJECTS_PER_SLICE as u64 / u64::from(class_units(self.class))
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
            bins: (0..OWNERS as u32).map(|n| Bins::new(n + 100)).collect(),
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
                    family,
                    module: page,
                    page: page % 4,
                };
                self.large(u32::from(slices).max(1), u64::from(spare), keep);
            }
            Step::Free { which } => {
                if let Some(start) = self.nth(which) {
                    self.free(start);
                }
            }
            Step::FreeAsAnother { which } => {
                if let Some(start) = self.nth(which) {
                    self.free_as_another(start);
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
                    bins: owner as u32 + 100,
                },
            },
        );
    }

    fn large(&mut self, slices: u32, spare: u64, keep: Owner) {
        let Some(range) = self.slices.alloc(u64::from(slices), 1) else {
            return;
        };
        let first = range.start as u32;
        self.ids.insert(first, range.id);
        let size = u64::from(slices) * SLICE - spare % SLICE;
        let requested = size - spare % 97 % size;
        self.table.publish(&LargeInfo {
            first,
            slices,
            size,
            requested,
            owner: keep,
        });
        self.take(
            u64::from(first) * SLICE,
            Block {
                size,
                requested,
                owner: keep,
                place: Place::Large { first, slices },
            },
        );
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
        match block.place {
            Place::Small { span, index, bins } => {
                self.free_small(span, index, bins as usize - 100, &block);
            }
            Place::Large { first, slices } => {
                let info = self.table.retract(first).expect("lives");
                let expected = LargeInfo {
                    first,
                    slices,
                    size: block.size,
                    requested: block.requested,
                    owner: block.owner,
                };
                assert_eq!(info, expected);
                assert_eq!(self.table.retract(first), None, "a second release");
                self.give_back(first);
            }
        }
        self.look_around(start, block.size);
    }

    fn free_small(&mut self, span: u32, index: u32, owner: usize, block: &Block) {
        let known = self.spans.get_mut(&span).expect("a span");
        known.live -= 1;
        let (class, slices, empty) = (known.class, known.slices, known.live == 0);
        let others = self.spans.iter().any(|(&first, other)| {
            first != span && other.owner == owner && other.class == class && other.has_room()
        });
        let freed = self.bins[owner]
            .free(&self.table, span, index)
            .expect("lives");
        assert_eq!((freed.size, freed.owner), (block.size, block.owner));
        assert_eq!(
            freed.emptied,
            (empty && others).then_some((span, slices)),
            "an empty span stays only while it is the last of its class with room"
        );
        assert_eq!(freed.idle, empty && !others);
        assert_eq!(
            self.bins[owner].free(&self.table, span, index),
            None,
            "a second release"
        );
        if freed.emptied.is_some() {
            self.spans.remove(&span);
            assert!(!self.table.is_small_span(span));
            self.give_back(span);
        }
    }

    /// Bins that do not own a span cannot release its blocks.
    fn free_as_another(&mut self, start: u64) {
        if let Place::Small { span, index, bins } = self.blocks[&start].place {
            for other in (0..OWNERS).filter(|n| *n as u32 + 100 != bins) {
                assert_eq!(self.bins[other].free(&self.table, span, index), None);
            }
            assert_eq!(self.table.retract(span), None, "a span is no large block");
        }
        self.look(start);
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
            self.table.find_start(offset),
            begins.map(|block| (block.place, block.owner.family)),
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
            assert_eq!(self.table.find_start(offset), None);
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
