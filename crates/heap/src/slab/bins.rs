//! One owner's spans, by size class.

use core::sync::atomic::Ordering::Relaxed;

use super::class::{CLASSES, class_units, span_slices};
use super::table::{Owner, SpanTable, free_word, is_live, pack_object, unpack_object};

/// A block that [`Bins::free`] released, as it stood under the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Freed {
    /// Padded size in bytes.
    pub size: u64,
    /// What was remembered.
    pub owner: Owner,
    /// First slice and number of slices of a span that became empty and left the bins.
    pub emptied: Option<(u32, u32)>,
    /// The span is empty and stays, because it is the last one of its class with room.
    pub idle: bool,
}

/// Lists of spans with room, one for each class.
///
/// Invariant: a span is in the list of its class exactly while it has a free block.
#[derive(Debug)]
pub struct Bins {
    number: u32,
    /// First slice + 1 of the first span with room.
    heads: [u32; CLASSES],
}

impl Bins {
    /// Bins without spans. `number` is written into the spans, so that a lookup finds the owner.
    #[must_use]
    pub fn new(number: u32) -> Self {
        Self {
            number,
            heads: [0; CLASSES],
        }
    }

    /// Takes a block of `class`, or `None` when no span has room (see
    /// [`add_span`](Self::add_span)). Returns the offset in the region.
    ///
    /// `size` is the padded size in bytes (a multiple of 32 that fits the class), `requested` what
    /// the caller asked for (less than 512 bytes below `size`).
    #[inline]
    pub fn alloc(
        &mut self,
        table: &SpanTable<'_>,
        class: usize,
        size: u64,
        requested: u64,
        owner: Owner,
    ) -> Option<u64> {
        let span = self.heads[class].checked_sub(1)?;
        let record = table.record(span);
        let units = record.units.load(Relaxed);
        let free = record.free.load(Relaxed);
        let carved = record.carved.load(Relaxed);
        let word = pack_object(size, requested, owner);
        let (index, next, carved) = if free == 0 {
            table
                .object(record, span, units, carved)
                .store(word, Relaxed);
            record.carved.store(carved + 1, Relaxed);
            (carved, 0, carved + 1)
        } else {
            let object = table.object(record, span, units, free - 1);
            let next = object.load(Relaxed);
            object.store(word, Relaxed);
            record.free.store(next, Relaxed);
            (free - 1, next, carved)
        };
        record.used.store(record.used.load(Relaxed) + 1, Relaxed);
        if next == 0 && carved == record.capacity.load(Relaxed) {
            self.unlink(table, span, class);
        }
        Some((u64::from(span) << table.shift()) + u64::from(index) * u64::from(units) * super::UNIT)
    }

    /// Gives these bins a fresh span of [`span_slices`] slices starting at `first`.
    pub fn add_span(&mut self, table: &SpanTable<'_>, class: usize, first: u32) {
        table.publish_span(first, span_slices(class), class_units(class), self.number);
        self.link(table, first, class);
    }

    /// Frees the block at `index` of `span`, or `None` when no live block of these bins is there.
    ///
    /// An empty span is kept only while it is the last one of its class with room.
    #[inline]
    pub fn free(&mut self, table: &SpanTable<'_>, span: u32, index: u32) -> Option<Freed> {
        let record = table.record(span);
        let units = record.units.load(Relaxed);
        let object = table.object(record, span, units, index);
        let word = object.load(Relaxed);
        if !is_live(word) || record.bins.load(Relaxed) != self.number {
            return None;
        }
        let free = record.free.load(Relaxed);
        let was_full = free == 0 && record.carved.load(Relaxed) == record.capacity.load(Relaxed);
        object.store(free_word(free), Relaxed);
        record.free.store(index + 1, Relaxed);
        let used = record.used.load(Relaxed) - 1;
        record.used.store(used, Relaxed);
        let (size, _, owner) = unpack_object(word);
        let mut freed = Freed {
            size,
            owner,
            emptied: None,
            idle: used == 0,
        };
        if was_full {
            self.link(table, span, super::class_of(units));
        }
        if used == 0 {
            let class = super::class_of(units);
            let alone = self.heads[class] == span + 1 && record.next.load(Relaxed) == 0;
            if !alone {
                freed.emptied = Some(self.drop_span(table, span, class));
                freed.idle = false;
            }
        }
        Some(freed)
    }

    /// Gives up every span without live blocks, calling `give(first, slices)` for each.
    pub fn flush(&mut self, table: &SpanTable<'_>, mut give: impl FnMut(u32, u32)) {
        for class in 0..CLASSES {
            let mut at = self.heads[class];
            while let Some(span) = at.checked_sub(1) {
                let record = table.record(span);
                at = record.next.load(Relaxed);
                if record.used.load(Relaxed) == 0 {
                    let (first, slices) = self.drop_span(table, span, class);
                    give(first, slices);
                }
            }
        }
    }

    /// Forgets every span: the caller has dropped the whole region.
    pub fn clear(&mut self) {
        self.heads = [0; CLASSES];
    }

    fn drop_span(&mut self, table: &SpanTable<'_>, span: u32, class: usize) -> (u32, u32) {
        self.unlink(table, span, class);
        table.retract_span(span);
        (span, table.record(span).slices.load(Relaxed))
    }

    fn link(&mut self, table: &SpanTable<'_>, span: u32, class: usize) {
        let head = self.heads[class];
        let record = table.record(span);
        record.next.store(head, Relaxed);
        record.prev.store(0, Relaxed);
        if let Some(next) = head.checked_sub(1) {
            table.record(next).prev.store(span + 1, Relaxed);
        }
        self.heads[class] = span + 1;
    }

    fn unlink(&mut self, table: &SpanTable<'_>, span: u32, class: usize) {
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
