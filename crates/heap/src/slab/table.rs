//! The lock-free answer to "what is at this offset".

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};

use super::class::{INLINE_UNITS, INLINE_WORDS, UNIT};

/// Object words of a slice: one for each unit that could start a block.
pub const OBJECTS_PER_SLICE: usize = 1024;

const KIND: u32 = 0x3;
const SMALL: u32 = 1;
const LARGE: u32 = 2;

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
        /// Number of slices.
        slices: u32,
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

/// Description of a large block to publish.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LargeInfo {
    /// First slice.
    pub first: u32,
    /// Number of slices.
    pub slices: u32,
    /// Bytes that belong to the block.
    pub size: u64,
    /// Bytes that were asked for.
    pub requested: u64,
    /// What to remember.
    pub owner: Owner,
}

/// Record of a span or a large block, kept at the index of its first slice.
///
/// All zero means "nothing here", so fresh pages are a valid table.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub struct SpanRecord {
    /// Kind in bits 0 and 1, family 8..16, module 16..24, page kind 24..26.
    tag: AtomicU32,
    pub(super) slices: AtomicU32,
    size: AtomicU64,
    requested: AtomicU64,
    pub(super) units: AtomicU32,
    /// Blocks that fit the span.
    pub(super) capacity: AtomicU32,
    /// Ceiling of 2^31 / units, so that a division is a multiplication.
    magic: AtomicU32,
    pub(super) bins: AtomicU32,
    /// Index + 1 of the first free block.
    pub(super) free: AtomicU32,
    /// Blocks that were handed out at least once; those above are still unlinked.
    pub(super) carved: AtomicU32,
    pub(super) used: AtomicU32,
    /// Neighbours in the list of spans with room, as first slice + 1.
    pub(super) next: AtomicU32,
    pub(super) prev: AtomicU32,
    /// Number of the caller's, see [`SpanTable::set_note`].
    note: AtomicU32,
    /// Object words of a span of few blocks. They lie beside the rest, so that a lookup touches two
    /// neighbouring lines and no page of its own.
    words: [AtomicU32; INLINE_WORDS],
}

/// The arrays of one region. Cheap to copy; the storage belongs to the caller.
#[derive(Clone, Copy, Debug)]
pub struct SpanTable<'a> {
    shift: u32,
    map: &'a [AtomicU32],
    records: &'a [SpanRecord],
    objects: &'a [AtomicU32],
}

impl<'a> SpanTable<'a> {
    /// A table of `map.len()` slices of `1 << shift` bytes over zeroed storage.
    ///
    /// `objects` has [`OBJECTS_PER_SLICE`] words a slice, or none where only large blocks live.
    ///
    /// # Panics
    /// When the lengths do not fit each other.
    #[must_use]
    pub fn new(
        shift: u32,
        map: &'a [AtomicU32],
        records: &'a [SpanRecord],
        objects: &'a [AtomicU32],
    ) -> Self {
        assert_eq!(map.len(), records.len());
        assert!(objects.is_empty() || objects.len() == map.len() * OBJECTS_PER_SLICE);
        assert!(objects.is_empty() || 1u64 << shift == OBJECTS_PER_SLICE as u64 * UNIT);
        Self {
            shift,
            map,
            records,
            objects,
        }
    }

    /// Bytes of a slice, as a shift.
    #[inline]
    #[must_use]
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// Number of slices.
    #[inline]
    #[must_use]
    pub fn slices(&self) -> usize {
        self.map.len()
    }

    #[inline]
    pub(super) fn record(&self, first: u32) -> &'a SpanRecord {
        &self.records[first as usize]
    }

    /// The word of a block, if the span has one of this index. A stale map entry may lead here
    /// with an offset far beyond the span.
    #[inline]
    fn word(
        &self,
        record: &'a SpanRecord,
        span: u32,
        units: u32,
        index: u32,
    ) -> Option<&'a AtomicU32> {
        if index >= record.capacity.load(Relaxed) {
            return None;
        }
        if units >= INLINE_UNITS {
            record.words.get(index as usize)
        } else {
            self.objects
                .get(span as usize * OBJECTS_PER_SLICE + index as usize)
        }
    }

    #[inline]
    pub(super) fn object(
        &self,
        record: &'a SpanRecord,
        span: u32,
        units: u32,
        index: u32,
    ) -> &'a AtomicU32 {
        if units >= INLINE_UNITS {
            &record.words[index as usize]
        } else {
            &self.objects[span as usize * OBJECTS_PER_SLICE + index as usize]
        }
    }

    /// The live block that begins at `offset` exactly: where it lives and its family. For releases,
    /// which need no more.
    #[inline]
    #[must_use]
    pub fn find_start(&self, offset: u64) -> Option<(Place, u8)> {
        let slice = offset >> self.shift;
        let first = self
            .map
            .get(usize::try_from(slice).ok()?)?
            .load(Relaxed)
            .checked_sub(1)?;
        let record = self.records.get(first as usize)?;
        let tag = record.tag.load(Acquire);
        let within = offset.checked_sub(u64::from(first) << self.shift)?;
        match tag & KIND {
            SMALL => {
                let units = record.units.load(Relaxed);
                let unit = within / UNIT;
                let index = ((unit * u64::from(record.magic.load(Relaxed))) >> 31) as u32;
                if u64::from(index) * u64::from(units) * UNIT != within {
                    return None;
                }
                let word = self.word(record, first, units, index)?.load(Relaxed);
                let bins = record.bins.load(Relaxed);
                let place = Place::Small {
                    span: first,
                    index,
                    bins,
                };
                is_live(word).then_some((place, (word >> 27 & 0xf) as u8))
            }
            LARGE if within == 0 => {
                let place = Place::Large {
                    first,
                    slices: record.slices.load(Relaxed),
                };
                Some((place, (tag >> 8 & 0xff) as u8))
            }
            _ => None,
        }
    }

    /// The live block that holds the byte at `offset`, if any. Lock-free; the cost does not
    /// depend on the number of live blocks.
    #[inline]
    #[must_use]
    pub fn find(&self, offset: u64) -> Option<Found> {
        let slice = offset >> self.shift;
        let first = self
            .map
            .get(usize::try_from(slice).ok()?)?
            .load(Relaxed)
            .checked_sub(1)?;
        let record = self.records.get(first as usize)?;
        let tag = record.tag.load(Acquire);
        let within = offset.checked_sub(u64::from(first) << self.shift)?;
        match tag & KIND {
            SMALL => self.find_small(record, first, within),
            LARGE => {
                let size = record.size.load(Relaxed);
                (within < size).then(|| Found {
                    start: u64::from(first) << self.shift,
                    size,
                    requested: record.requested.load(Relaxed),
                    owner: unpack_tag(tag),
                    place: Place::Large {
                        first,
                        slices: record.slices.load(Relaxed),
                    },
                })
            }
            _ => None,
        }
    }

    #[inline]
    fn find_small(&self, record: &'a SpanRecord, span: u32, within: u64) -> Option<Found> {
        let units = record.units.load(Relaxed);
        let unit = within / UNIT;
        let index = ((unit * u64::from(record.magic.load(Relaxed))) >> 31) as u32;
        let word = self.word(record, span, units, index)?.load(Relaxed);
        if word & LIVE == 0 {
            return None;
        }
        let start = u64::from(index) * u64::from(units) * UNIT;
        let (size, requested, owner) = unpack_object(word);
        if within.checked_sub(start)? >= size {
            return None;
        }
        Some(Found {
            start: (u64::from(span) << self.shift) + start,
            size,
            requested,
            owner,
            place: Place::Small {
                span,
                index,
                bins: record.bins.load(Relaxed),
            },
        })
    }

    /// Makes a large block visible to [`find`](Self::find).
    pub fn publish(&self, info: &LargeInfo) {
        let record = self.record(info.first);
        record.slices.store(info.slices, Relaxed);
        record.size.store(info.size, Relaxed);
        record.requested.store(info.requested, Relaxed);
        self.point_at(info.first, info.slices);
        let owner = info.owner;
        let tag = LARGE
            | u32::from(owner.family) << 8
            | u32::from(owner.module) << 16
            | u32::from(owner.page) << 24;
        record.tag.store(tag, Release);
    }

    /// Takes a large block out of sight and says what it was. Only one of several racing callers
    /// gets an answer.
    #[must_use]
    pub fn retract(&self, first: u32) -> Option<LargeInfo> {
        let record = self.record(first);
        let tag = record.tag.load(Relaxed);
        if tag & KIND != LARGE
            || record
                .tag
                .compare_exchange(tag, 0, Acquire, Relaxed)
                .is_err()
        {
            return None;
        }
        Some(LargeInfo {
            first,
            slices: record.slices.load(Relaxed),
            size: record.size.load(Relaxed),
            requested: record.requested.load(Relaxed),
            owner: unpack_tag(tag),
        })
    }

    /// Remembers a number of the caller's for the run of slices that begins at `first`.
    pub fn set_note(&self, first: u32, note: u32) {
        self.record(first).note.store(note, Relaxed);
    }

    /// The number remembered by [`set_note`](Self::set_note).
    #[must_use]
    pub fn note(&self, first: u32) -> u32 {
        self.record(first).note.load(Relaxed)
    }

    /// Whether a span of small blocks begins at `first`.
    #[must_use]
    pub fn is_small_span(&self, first: u32) -> bool {
        self.record(first).tag.load(Relaxed) & KIND == SMALL
    }

    pub(super) fn publish_span(&self, first: u32, slices: u32, units: u32, bins: u32) {
        let record = self.record(first);
        record.slices.store(slices, Relaxed);
        record.units.store(units, Relaxed);
        let capacity = slices * OBJECTS_PER_SLICE as u32 / units;
        record.capacity.store(capacity, Relaxed);
        record.magic.store((1u32 << 31).div_ceil(units), Relaxed);
        record.bins.store(bins, Relaxed);
        record.free.store(0, Relaxed);
        record.carved.store(0, Relaxed);
        record.used.store(0, Relaxed);
        record.next.store(0, Relaxed);
        record.prev.store(0, Relaxed);
        self.point_at(first, slices);
        record.tag.store(SMALL, Release);
    }

    pub(super) fn retract_span(&self, first: u32) {
        self.record(first).tag.store(0, Release);
    }

    /// Entries are left behind when a block goes: its record then says "nothing here", or covers
    /// another range.
    #[inline]
    fn point_at(&self, first: u32, slices: u32) {
        let from = first as usize;
        for entry in &self.map[from..from + slices as usize] {
            entry.store(first + 1, Relaxed);
        }
    }
}

fn unpack_tag(tag: u32) -> Owner {
    Owner {
        family: (tag >> 8 & 0xff) as u8,
        module: (tag >> 16 & 0xff) as u8,
        page: (tag >> 24 & 3) as u8,
    }
}

/// Object word of a live block: padded size in 32-byte steps (bits 0..11), module (11..18), bytes
/// of padding (18..27), family (27..31), live (31).
#[inline]
pub(super) fn pack_object(size: u64, requested: u64, owner: Owner) -> u32 {
    debug_assert!(size.is_multiple_of(32) && size / 32 < 1 << 11);
    debug_assert!(size - requested < 1 << 9 && owner.module < 128 && owner.family < 16);
    LIVE | (size / 32) as u32
        | u32::from(owner.module) << 11
        | ((size - requested) as u32) << 18
        | u32::from(owner.family) << 27
}

#[inline]
pub(super) fn unpack_object(word: u32) -> (u64, u64, Owner) {
    let size = u64::from(word & 0x7ff) * 32;
    let owner = Owner {
        family: (word >> 27 & 0xf) as u8,
        module: (word >> 11 & 0x7f) as u8,
        page: 0,
    };
    (size, size - u64::from(word >> 18 & 0x1ff), owner)
}

#[inline]
pub(super) fn is_live(word: u32) -> bool {
    word & LIVE != 0
}

#[inline]
pub(super) fn free_word(next: u32) -> u32 {
    next & LINK
}
