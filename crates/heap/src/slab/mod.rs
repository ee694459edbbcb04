//! Small blocks inside spans, with all metadata outside of the memory.
//!
//! * **slice**: the unit of address space that the range allocator hands out (64 KiB here).
//! * **span**: one to four neighbouring slices that hold blocks of one size class.
//! * **class**: a block size in 64-byte units; eight classes a doubling, so that at most 12.5 % of
//!   the *address space* of a block is spare. (What a block is charged for is its own business.)
//! * **object word**: 32 bits for each block of a span: live or free, sizes, owner; the link of
//!   the free list while the block is free.
//! * **table**: the three arrays that answer "what is at this address" without a lock.
//!
//! Price: [`Bins::alloc`] and [`Bins::free`] touch one record line and one object word;
//! [`SpanTable::find`] loads one map entry, one record line and one object word, whatever the
//! number of live blocks.
//!
//! Who may call what: [`SpanTable::find`] from any thread at any time. [`Bins`] belongs to one
//! owner behind a lock; a span is changed only by the owner of the bins it is linked into.
//! Racing a lookup against the release of the same block is a fault of the caller; it gets an old
//! or a new answer, never a wild one.

mod bins;
mod class;
mod table;

pub use bins::{Bins, Freed};
pub use class::{CLASSES, MAX_SMALL_UNITS, UNIT, class_of, class_units, span_slices};
pub use table::{Found, LargeInfo, OBJECTS_PER_SLICE, Owner, Place, SpanRecord, SpanTable};
