//! The lock-free answer to "what is at this offset".

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};

use super::class::{FEW, MANY, Shape, shape};
use super::entry::{Block, Entry};

const LIVE: u32 = 1 << 31;
const LINK: u32 = 0xffff;

/// What the caller wants to be remembered about a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Owner {
    /// Caller's family number, 0 to 15.
    pub family: u8,
    /// Caller's module number, 0 to 127.
    pub module: u8,
    /// Caller's page kind, 0 to 3 (kept for large blocks only, 0 for small ones).
    pub page: u8,
}

/// Where a block lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In a span of small blocks.
    Small {
        /// First slice of the span.
        span: u32,
        /// Index of the block in the span.
        index: u32,
        /// Number of the bins that own the span.
        bins: u32,
    },
    /// A run of slices of its own.
    Large {
        /// First slice.
        first: u32,
        /// Number of the bins that made it.
        bins: u32,
    },
}

/// A live block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// First byte, relative to the region.
    pub start: u64,
    /// Bytes that belong to the block (the padded size).
    pub size: u64,
    /// Bytes that were asked for.
    pub requested: u64,
    /// What was remembered.
    pub owner: Owner,
    /// Where it lives.
    pub place: Place,
}

/// Description of a large block, see [`Bins::add_large`](super::Bins::add_large).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LargeInfo {
    /// First slice.
    pub first: u32,
    /// Number of slices.
    pub slices: u32,
    /// Bytes that belong to the block: a multiple of 32, less than 8 TiB.
    pub size: u64,
    /// Bytes that were asked for: less than 128 below `size`.
    pub requested: u64,
    /// What to remember.
    pub owner: Owner,
}

/// A live block that was looked up by its first byte, for the bins that it is released to.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// For [`Bins::free`](super::Bins::free).
    Small(SmallStart<'a>),
    /// For [`Bins::free_large`](super::Bins::free_large).
    Large(LargeStart<'a>),
}

impl Start<'_> {
    /// Number of the bins that own the block.
    #[must_use]
    pub fn bins(&self) -> u32 {
        match self {
            Start::Small(start) => start.bins(),
            Start::Large(start) => start.bins(),
        }
    }

    /// Family of the block.
    #[must_use]
    pub fn family(&self) -> u8 {
        match self {
            Start::Small(start) => start.family(),
            Start::Large(start) => start.family(),
        }
    }
}

/// See [`Start`].
#[derive(Clone, Copy, Debug)]
pub struct SmallStart<'a> {
    /// As they were seen; whoever holds the lock of the bins finds out whether they still stand.
    pub(super) entry: Entry,
    pub(super) word: u32,
    pub(super) entry_at: &'a AtomicU64,
    pub(super) word_at: &'a AtomicU32,
    pub(super) index: u32,
}

impl SmallStart<'_> {
    /// Number of the bins that own the block.
    #[inline(always)]
    #[must_use]
    pub fn bins(&self) -> u32 {
        self.entry.bins()
    }

    /// Family of the block.
    #[inline(always)]
    #[must_use]
    pub fn family(&self) -> u8 {
        family_of(self.word)
    }
}

/// See [`Start`].
#[derive(Clone, Copy, Debug)]
pub struct LargeStart<'a> {
    pub(super) entry: Entry,
    pub(super) block: Block,
    pub(super) entry_at: &'a AtomicU64,
    pub(super) block_at: &'a AtomicU64,
    first: u32,
}

impl LargeStart<'_> {
    /// Number of the bins that own the block.
    #[inline(always)]
    #[must_use]
    pub fn bins(&self) -> u32 {
        self.entry.bins()
    }

    /// Family of the block.
    #[inline(always)]
    #[must_use]
    pub fn family(&self) -> u8 {
        self.block.owner().family
    }

    /// First slice of the block.
    #[inline(always)]
    #[must_use]
    pub fn first(&self) -> u32 {
        self.first
    }
}

/// What is written often about a span or a run, kept at the index of its first slice. Belongs to the
/// bins that own it. With a cache line of its own: neighbouring slices may belong to threads that work
/// at the same time.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct SliceRecord {
    /// The large block in a run.
    pub(super) block: AtomicU64,
    /// See `bins::State`.
    pub(super) state: AtomicU64,
    /// Neighbours in the list of spans with room, as first slice + 1.
    pub(super) next: AtomicU32,
    pub(super) prev: AtomicU32,
}

/// The storage of a table: zeroed, and the caller's.
#[derive(Clone, Copy, Debug)]
pub struct Arrays<'a> {
    /// What each slice is part of.
    pub map: &'a [AtomicU64],
    /// A number of the caller's for each slice, see [`SpanTable::set_note`].
    pub notes: &'a [AtomicU32],
    /// One for each slice.
    pub records: &'a [SliceRecord],
    /// [`WORDS_PER_SLICE`] for each slice, or none where only large blocks live.
    pub words: &'a [AtomicU32],
}

/// Object words of a slice: those for spans of few blocks, and those for spans of many. First come
/// the former of all slices, so that the words of the most numerous spans lie close together; then
/// the latter of all slices.
pub const WORDS_PER_SLICE: [usize; 2] = [FEW, MANY];

/// The arrays of one region of slices of `1 << SHIFT` bytes. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct SpanTable<'a, const SHIFT: u32 = 16> {
    arrays: Arrays<'a>,
    /// Where the words for spans of many blocks begin.
    many_at: usize,
}

impl<'a, const SHIFT: u32> SpanTable<'a, SHIFT> {
    /// A table of `map.len()` slices over zeroed storage.
    ///
    /// # Panics
    /// When the lengths do not fit each other, or small blocks the slices.
    #[must_use]
    pub fn new(arrays: Arrays<'a>) -> Self {
        let slices = arrays.map.len();
        assert_eq!(slices, arrays.notes.len());
        assert_eq!(slices, arrays.records.len());
        let small = if arrays.words.is_empty() { 0 } else { slices };
        assert_eq!(arrays.words.len(), small * (FEW + MANY));
        assert!(small == 0 || 1u64 << SHIFT == MANY as u64 * super::UNIT);
        Self {
            arrays,
            many_at: small * FEW,
        }
    }

    /// The storage.
    #[inline]
    #[must_use]
    pub fn arrays(&self) -> &Arrays<'a> {
        &self.arrays
    }

    /// Number of slices.
    #[inline]
    #[must_use]
    pub fn slices(&self) -> usize {
        self.arrays.map.len()
    }

    #[inline]
    pub(super) fn record(&self, first: u32) -> &'a SliceRecord {
        &self.arrays.records[first as usize]
    }

    /// The block in the run that begins at a slice. Comes after the look at its entry.
    #[inline(always)]
    fn block(&self, slice: u64) -> Option<(Block, &'a AtomicU64)> {
        let place = &self.arrays.records.get(usize::try_from(slice).ok()?)?.block;
        Some((Block(place.load(Acquire)), place))
    }

    /// Which word belongs to block `index` of a span of this shape. Without branches: sizes come in
    /// no order that could be predicted.
    #[inline(always)]
    fn word_index(&self, shape: &Shape, first: u32, index: u32) -> usize {
        let from = self.many_at & shape.many as usize;
        ((first as usize) << shape.word_shift) + index as usize + from
    }

    /// The word of the block that a byte of a span belongs to. Bytes behind the last block lead to
    /// a word that is never live.
    #[inline(always)]
    fn word(&self, shape: &Shape, first: u32, index: u32) -> Option<&'a AtomicU32> {
        self.arrays.words.get(self.word_index(shape, first, index))
    }

    /// The word of a block that exists.
    #[inline(always)]
    pub(super) fn word_of(&self, shape: &Shape, first: u32, index: u32) -> &'a AtomicU32 {
        &self.arrays.words[self.word_index(shape, first, index)]
    }

    #[inline(always)]
    fn entry(&self, slice: u64) -> Option<(Entry, &'a AtomicU64)> {
        let place = self.arrays.map.get(usize::try_from(slice).ok()?)?;
        Some((Entry(place.load(Acquire)), place))
    }

    /// The live block that begins at `offset` exactly.
    #[inline(always)]
    #[must_use]
    pub fn start(&self, offset: u64) -> Option<Start<'a>> {
        let (entry, entry_at) = self.entry(offset >> SHIFT)?;
        if entry.is_small() {
            let shape = shape(entry.class());
            let first = entry.first();
            let within = offset.wrapping_sub(u64::from(first) << SHIFT);
            let index = shape.index_of(within);
            if u64::from(index) * u64::from(shape.bytes) != within {
                return None;
            }
            let word_at = self.word(shape, first, index)?;
            let word = word_at.load(Relaxed);
            return is_live(word).then_some(Start::Small(SmallStart {
                entry,
                word,
                entry_at,
                word_at,
                index,
            }));
        }
        if entry.is_run() && offset & ((1 << SHIFT) - 1) == 0 {
            let (block, block_at) = self.block(offset >> SHIFT)?;
            return block.lives().then_some(Start::Large(LargeStart {
                entry,
                block,
                entry_at,
                block_at,
                first: (offset >> SHIFT) as u32,
            }));
        }
        None
    }

    /// The live block that holds the byte at `offset`, if any. Lock-free; the cost does not
    /// depend on the number of live blocks.
    #[inline(always)]
    #[must_use]
    pub fn find(&self, offset: u64) -> Option<Found> {
        let slice = offset >> SHIFT;
        let (entry, _) = self.entry(slice)?;
        if entry.is_small() {
            return self.find_small(entry, offset);
        }
        let (first, entry) = if entry.is_rest() {
            let first = u64::from(entry.first());
            (first, self.entry(first)?.0)
        } else {
            (slice, entry)
        };
        let start = first << SHIFT;
        if !entry.is_run() {
            return None;
        }
        let (block, _) = self.block(first)?;
        // What a run leaves behind in the slices after its first may lead anywhere.
        if !block.lives() || offset.wrapping_sub(start) >= block.size() {
            return None;
        }
        Some(Found {
            start,
            size: block.size(),
            requested: block.requested(),
            owner: block.owner(),
            place: Place::Large {
                first: first as u32,
                bins: entry.bins(),
            },
        })
    }

    #[inline(always)]
    fn find_small(&self, entry: Entry, offset: u64) -> Option<Found> {
        let shape = shape(entry.class());
        let first = entry.first();
        let base = u64::from(first) << SHIFT;
        let within = offset.wrapping_sub(base);
        let index = shape.index_of(within);
        let word = self.word(shape, first, index)?.load(Relaxed);
        if !is_live(word) {
            return None;
        }
        let start = u64::from(index) * u64::from(shape.bytes);
        let (size, requested, owner) = unpack_object(word);
        if within.wrapping_sub(start) >= size {
            return None;
        }
        Some(Found {
            start: base + start,
            size,
            requested,
            owner,
            place: Place::Small {
                span: first,
                index,
                bins: entry.bins(),
            },
        })
    }

    /// Remembers a number of the caller's for the run of slices that begins at `first`.
    pub fn set_note(&self, first: u32, note: u32) {
        self.arrays.notes[first as usize].store(note, Relaxed);
    }

    /// The number remembered by [`set_note`](Self::set_note).
    #[must_use]
    pub fn note(&self, first: u32) -> u32 {
        self.arrays.notes[first as usize].load(Relaxed)
    }

    /// Whether a span of small blocks begins at `first`.
    #[must_use]
    pub fn is_small_span(&self, first: u32) -> bool {
        let entry = Entry(self.arrays.map[first as usize].load(Relaxed));
        entry.is_small() && entry.first() == first
    }

    /// Makes a large block of these bins visible. The map is written only when it does not say already
    /// that there is such a run of theirs: what is read by many stays in their caches.
    #[inline]
    pub(super) fn publish_large(&self, info: &LargeInfo, bins: u32) {
        let from = info.first as usize;
        let entry = Entry::of_run(info.slices, bins);
        self.arrays.records[from]
            .block
            .store(Block::new(info).0, Release);
        if self.arrays.map[from].load(Relaxed) != entry.0 {
            self.publish_run(from, info.slices, entry);
        }
    }

    #[cold]
    #[inline(never)]
    fn publish_run(&self, from: usize, slices: u32, entry: Entry) {
        let run = &self.arrays.map[from..from + slices as usize];
        if let Some((head, rest)) = run.split_first() {
            for place in rest {
                place.store(Entry::rest_of(from as u32).0, Relaxed);
            }
            head.store(entry.0, Release);
        }
    }

    /// Forgets what slices without a block were, before they become another's: a run for large blocks, or
    /// a span that was given up.
    pub fn retract(&self, first: u32) {
        let place = &self.arrays.map[first as usize];
        let entry = Entry(place.load(Relaxed));
        if entry.is_run() {
            place.store(Entry::NOTHING.0, Release);
        } else if entry.is_small() {
            // All of them: what they lead to may be the words of somebody else's blocks soon.
            self.fill(first, entry.class(), Entry::NOTHING);
        }
    }

    pub(super) fn publish_span(&self, first: u32, class: usize, bins: u32) {
        let record = self.record(first);
        record.state.store(0, Relaxed);
        record.next.store(0, Relaxed);
        record.prev.store(0, Relaxed);
        let entry = Entry::of_span(first, class, bins);
        // As with a run: written only when it does not say so already.
        if self.arrays.map[first as usize].load(Relaxed) != entry.0 {
            self.fill(first, class, entry);
        }
    }

    fn fill(&self, first: u32, class: usize, entry: Entry) {
        let from = first as usize;
        for place in &self.arrays.map[from..from + usize::from(shape(class).slices)] {
            place.store(entry.0, Release);
        }
    }
}

/// Object word of a live block: padded size in 32-byte steps (bits 0..11), module (11..18), bytes
/// of padding (18..27), family (27..31), live (31).
#[inline(always)]
pub(super) fn pack_object(size: u64, requested: u64, owner: Owner) -> u32 {
    debug_assert!(size.is_multiple_of(32) && size / 32 < 1 << 11);
    debug_assert!(size - requested < 1 << 9 && owner.module < 128 && owner.family < 16);
    LIVE | (size / 32) as u32
        | u32::from(owner.module) << 11
        | ((size - requested) as u32) << 18
        | u32::from(owner.family) << 27
}

#[inline(always)]
pub(super) fn unpack_object(word: u32) -> (u64, u64, Owner) {
    let size = u64::from(word & 0x7ff) * 32;
    let owner = Owner {
        family: family_of(word),
        module: (word >> 11 & 0x7f) as u8,
        page: 0,
    };
    (size, size - u64::from(word >> 18 & 0x1ff), owner)
}

#[inline(always)]
fn family_of(word: u32) -> u8 {
    (word >> 27 & 0xf) as u8
}

#[inline(always)]
pub(super) fn is_live(word: u32) -> bool {
    word & LIVE != 0
}

/// Object word of a free block: index + 1 of the next one of its span, 0 for none.
#[inline(always)]
pub(super) fn free_word(next: u32) -> u32 {
    next & LINK
}
