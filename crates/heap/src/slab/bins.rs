//! One owner's spans by size class, and the blocks it has at hand.

use core::sync::atomic::Ordering::{Relaxed, Release};

use super::class::{CLASSES, PLACES, masked, shape};
use super::entry::{Block, MAX_BINS};
use super::table::{
    LargeInfo, LargeStart, Owner, SmallStart, SpanTable, free_word, pack_object, unpack_object,
};

/// Blocks that a magazine holds.
const DEPTH: usize = 16;
/// Blocks that move at a time between a magazine and the spans. Few, so that no call has much to do;
/// under releases and allocations in random order a magazine still reaches an end only once in some
/// fifty of them.
const MOVED: usize = DEPTH / 4;

/// A block that was released, as it stood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Freed {
    /// Padded size in bytes.
    pub size: u64,
    /// What was remembered.
    pub owner: Owner,
}

/// Free blocks of one class, the last freed on top. For their spans they count as used, so that the
/// usual call touches no span at all. First slice << 16 | index each.
type Magazine = [u64; DEPTH];

/// The blocks of a span, packed: used (bits 0..16), index + 1 of the first free one (16..32), how
/// many were ever taken, those above being unlinked yet (32..48).
#[derive(Clone, Copy)]
struct State(u64);

impl State {
    fn used(self) -> u64 {
        self.0 & 0xffff
    }

    /// Index + 1.
    fn free(self) -> u32 {
        (self.0 >> 16 & 0xffff) as u32
    }

    fn carved(self) -> u32 {
        (self.0 >> 32 & 0xffff) as u32
    }

    fn has_room(self, capacity: u16) -> bool {
        self.free() != 0 || self.carved() < u32::from(capacity)
    }

    /// One block less, the first free one; the next is `free`.
    fn taken(self, free: u32) -> Self {
        Self((self.0 & !0xffff_0000 | u64::from(free) << 16) + 1)
    }

    /// One block less, the first that was never taken.
    fn extended(self) -> Self {
        Self(self.0 + (1 << 32) + 1)
    }

    /// One block more; `free` is its index + 1.
    fn given(self, free: u32) -> Self {
        Self((self.0 & !0xffff_0000 | u64::from(free) << 16) - 1)
    }
}

/// Lists of spans with room, and a magazine of blocks, for each class.
///
/// Invariant: a span is in the list of its class exactly while it has a free block that is in no
/// magazine.
#[derive(Debug)]
pub struct Bins {
    number: u32,
    /// Blocks in each magazine.
    counts: [u8; PLACES],
    /// First slice + 1 of the first span with room.
    heads: [u32; PLACES],
    magazines: [Magazine; PLACES],
}

impl Bins {
    /// Bins without spans. `number` is written into the map, so that a lookup finds the owner.
    ///
    /// # Panics
    /// For numbers from [`MAX_BINS`] on.
    #[must_use]
    pub fn new(number: u32) -> Self {
        assert!(number < MAX_BINS);
        Self {
            number,
            counts: [0; PLACES],
            heads: [0; PLACES],
            magazines: [[0; DEPTH]; PLACES],
        }
    }

    /// Takes a block of `class`, or `None` when there is none (see
    /// [`add_span`](Self::add_span)). Returns the offset in the region.
    ///
    /// `size` is the padded size in bytes (a multiple of 32 that fits the class), `requested` what
    /// the caller asked for (less than 512 bytes below `size`).
    #[inline(always)]
    pub fn alloc<const SHIFT: u32>(
        &mut self,
        table: &SpanTable<'_, SHIFT>,
        class: usize,
        size: u64,
        requested: u64,
        owner: Owner,
    ) -> Option<u64> {
        let class = masked(class);
        if self.counts[class] == 0 {
            self.refill(table, class)?;
        }
        let top = self.counts[class].wrapping_sub(1);
        self.counts[class] = top;
        let block = self.magazines[class][usize::from(top) % DEPTH];
        let (first, index) = (block >> 16, block & 0xffff);
        let shape = shape(class);
        table
            .word_of(shape, first as u32, index as u32)
            .store(pack_object(size, requested, owner), Relaxed);
        Some((first << SHIFT) + index * u64::from(shape.bytes))
    }

    /// Gives these bins a fresh span of [`span_slices`](super::span_slices) slices starting at
    /// `first`.
    pub fn add_span<const SHIFT: u32>(
        &mut self,
        table: &SpanTable<'_, SHIFT>,
        class: usize,
        first: u32,
    ) {
        table.publish_span(first, class, self.number);
        self.link(table, first, class);
    }

    /// Frees a small block of these bins, or does nothing and returns `None` when it is not as it
    /// was found any more.
    ///
    /// Spans that have become empty may leave the bins with it: `give(first, slices)` for each. The
    /// last one of its class with room stays. Their slices are for the next span or large block of these
    /// bins; before they become anything else: [`SpanTable::retract`].
    #[inline(always)]
    pub fn free<const SHIFT: u32>(
        &mut self,
        table: &SpanTable<'_, SHIFT>,
        start: &SmallStart<'_>,
        give: impl FnMut(u32, u32),
    ) -> Option<Freed> {
        let SmallStart {
            entry,
            word,
            entry_at,
            word_at,
            index,
        } = *start;
        debug_assert_eq!(entry.bins(), self.number);
        // The entry still names the same span of these bins, so the word is still that of this block.
        if entry_at.load(Relaxed) != entry.0 || word_at.load(Relaxed) != word {
            return None;
        }
        word_at.store(free_word(0), Relaxed);
        let class = entry.class();
        let block = u64::from(entry.first()) << 16 | u64::from(index);
        let count = self.counts[class];
        match self.magazines[class].get_mut(usize::from(count)) {
            Some(place) => {
                *place = block;
                self.counts[class] = count + 1;
            }
            None => self.make_room(table, class, block, give),
        }
        let (size, _, owner) = unpack_object(word);
        Some(Freed { size, owner })
    }

    /// Makes a large block visible to lookups. Takes time in proportion to its slices, unless they were
    /// those of a large block of these bins just before.
    #[inline]
    pub fn add_large<const SHIFT: u32>(&mut self, table: &SpanTable<'_, SHIFT>, info: &LargeInfo) {
        table.publish_large(info, self.number);
    }

    /// Frees a large block of these bins, or does nothing and returns `None` when it is not as it
    /// was found any more. Its slices are for the next large block of these bins; before they become anything
    /// else: [`SpanTable::retract`].
    #[inline(always)]
    pub fn free_large(&mut self, start: &LargeStart<'_>) -> Option<Freed> {
        let LargeStart {
            entry,
            block,
            entry_at,
            block_at,
            ..
        } = *start;
        debug_assert_eq!(entry.bins(), self.number);
        if entry_at.load(Relaxed) != entry.0 || block_at.load(Relaxed) != block.0 {
            return None;
        }
        block_at.store(Block::NONE.0, Release);
        Some(Freed {
            size: block.size(),
            owner: block.owner(),
        })
    }

    /// Empties the magazines and gives up every span without live blocks, calling
    /// `give(first, slices)` for each, as [`free`](Self::free) does.
    pub fn flush<const SHIFT: u32>(
        &mut self,
        table: &SpanTable<'_, SHIFT>,
        mut give: impl FnMut(u32, u32),
    ) {
        for class in 0..CLASSES {
            self.spill(table, class, usize::from(self.counts[class]), &mut give);
            let mut at = self.heads[class];
            while let Some(span) = at.checked_sub(1) {
                let record = table.record(span);
                at = record.next.load(Relaxed);
                if State(record.state.load(Relaxed)).used() == 0 {
                    give(span, self.drop_span(table, span, class));
                }
            }
        }
    }

    /// Forgets every span and block: the caller has dropped the whole region.
    pub fn clear(&mut self) {
        *self = Self::new(self.number);
    }

    /// Puts some blocks into a magazine that is empty. `None`: no span has room.
    #[cold]
    #[inline(never)]
    fn refill<const SHIFT: u32>(
        &mut self,
        table: &SpanTable<'_, SHIFT>,
        class: usize,
    ) -> Option<()> {
        let shape = shape(class);
        let mut count = 0;
        while count < MOVED
            && let Some(span) = self.heads[class].checked_sub(1)
        {
            let record = table.record(span);
            let mut state = State(record.state.load(Relaxed));
            while count < MOVED && state.has_room(shape.capacity) {
                let index = match state.free().checked_sub(1) {
                    Some(index) => {
                        let word = table.word_of(shape, span, index);
                        state = state.taken(word.load(Relaxed));
                        word.store(free_word(0), Relaxed);
                        index
                    }
                    None => {
                        let index = state.carved();
                        state = state.extended();
                        index
                    }
                };
                self.magazines[class][count] = u64::from(span) << 16 | u64::from(index);
                count += 1;
            }
            record.state.store(state.0, Relaxed);
            if !state.has_room(shape.capacity) {
                self.unlink(table, span, class);
            }
        }
        // The first one that was found goes out first.
        self.magazines[class][..count].reverse();
        self.counts[class] = count as u8;
        (count > 0).then_some(())
    }

    /// Puts a block into a magazine that is full.
    #[cold]
    #[inline(never)]
    fn make_room<const SHIFT: u32>(
        &mut self,
        table: &SpanTable<'_, SHIFT>,
        class: usize,
        block: u64,
        give: impl FnMut(u32, u32),
    ) {
        self.spill(table, class, MOVED, give);
        self.magazines[class][DEPTH - MOVED] = block;
        self.counts[class] = (DEPTH - MOVED) as u8 + 1;
    }

    /// Returns the `count` oldest blocks of a magazine to their spans.
    #[cold]
    #[inline(never)]
    fn spill<const SHIFT: u32>(
        &mut self,
        table: &SpanTable<'_, SHIFT>,
        class: usize,
        count: usize,
        mut give: impl FnMut(u32, u32),
    ) {
        let blocks = self.magazines[class];
        let held = usize::from(self.counts[class]);
        self.magazines[class].copy_within(count..held, 0);
        self.counts[class] = (held - count) as u8;
        for block in &blocks[..count] {
            let (span, index) = ((block >> 16) as u32, (block & 0xffff) as u32);
            if let Some(slices) = self.put_back(table, span, index, class) {
                give(span, slices);
            }
        }
    }

    /// Returns a block to its span. The slices of the span, when it is empty now and leaves.
    fn put_back<const SHIFT: u32>(
        &mut self,
        table: &SpanTable<'_, SHIFT>,
        span: u32,
        index: u32,
        class: usize,
    ) -> Option<u32> {
        let shape = shape(class);
        let record = table.record(span);
        let before = State(record.state.load(Relaxed));
        table
            .word_of(shape, span, index)
            .store(free_word(before.free()), Relaxed);
        let state = before.given(index + 1);
        record.state.store(state.0, Relaxed);
        if !before.has_room(shape.capacity) {
            self.link(table, span, class);
        }
        let alone = self.heads[class] == span + 1 && record.next.load(Relaxed) == 0;
        (state.used() == 0 && !alone).then(|| self.drop_span(table, span, class))
    }

    fn drop_span<const SHIFT: u32>(
        &mut self,
        table: &SpanTable<'_, SHIFT>,
        span: u32,
        class: usize,
    ) -> u32 {
        self.unlink(table, span, class);
        u32::from(shape(class).slices)
    }

    fn link<const SHIFT: u32>(&mut self, table: &SpanTable<'_, SHIFT>, span: u32, class: usize) {
        let head = self.heads[class];
        let record = table.record(span);
        record.next.store(head, Relaxed);
        record.prev.store(0, Relaxed);
        if let Some(next) = head.checked_sub(1) {
            table.record(next).prev.store(span + 1, Relaxed);
        }
        self.heads[class] = span + 1;
    }

    fn unlink<const SHIFT: u32>(&mut self, table: &SpanTable<'_, SHIFT>, span: u32, class: usize) {
        let record = table.record(span);
        let (next, prev) = (record.next.load(Relaxed), record.prev.load(Relaxed));
        match prev.checked_sub(1) {
            Some(before) => table.record(before).next.store(next, Relaxed),
            None => self.heads[class] = next,
        }
        if let Some(after) = next.checked_sub(1) {
            table.record(after).prev.store(prev, Relaxed);
        }
    }
}
