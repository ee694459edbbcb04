//! Small blocks inside spans, with all metadata outside of the memory.
//!
//! * **slice**: the unit of address space that the range allocator hands out (64 KiB here).
//! * **span**: one to four neighbouring slices that hold blocks of one size class.
//! * **class**: a block size in 64-byte units; eight classes a doubling, so that at most 12.5 % of
//!   the *address space* of a block is spare. (What a block is charged for is its own business.)
//! * **large block**: a run of slices of its own.
//! * **run**: slices that hold one large block, or wait for the next one of the same owner.
//! * **map**: 64 bits for each slice: the span or the run it belongs to (first slice, class, owner).
//! * **record**: what changes often about a span or a run, among it all that is known of a large block;
//!   one cache line for each slice. The map, where neighbours share a line, is written when slices change
//!   their owner or their kind, and only then, so that threads with blocks side by side do not wait for
//!   each other.
//! * **object word**: 32 bits for each block of a span: live or free, sizes, family; the link of
//!   the free list while the block is free.
//! * **magazine**: free blocks of one class that an owner has at hand.
//! * **table**: the arrays that answer "what is at this address" without a lock.
//!
//! Price: [`Bins::alloc`] and [`Bins::free`] touch a magazine and one object word, and a span once in
//! several calls; [`SpanTable::find`] loads one map entry and one object word of a small block, one
//! or two map entries and the record of a large one, whatever the number of live blocks.
//!
//! Who may call what: [`SpanTable::find`] and [`SpanTable::start`] from any thread at any time.
//! [`Bins`] belongs to one owner behind a lock; a span is changed only by the bins it is linked
//! into, a large block is freed only by the bins that made it.
//! Racing a lookup against the release of the same block is a fault of the caller; it gets an old
//! or a new answer, never a wild one. Releasing twice at once frees once.

mod bins;
mod class;
mod entry;
mod table;

pub use bins::{Bins, Freed};
pub use class::{CLASSES, MAX_SMALL_UNITS, UNIT, class_of, class_units, span_slices};
pub use entry::MAX_BINS;
pub use table::{
    Arrays, Found, LargeInfo, LargeStart, Owner, Place, SliceRecord, SmallStart, SpanTable, Start,
    WORDS_PER_SLICE,
};
