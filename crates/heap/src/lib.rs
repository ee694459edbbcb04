//! Cannery's heap: who owns which part of an address space, decided without
//! looking at it.
//!
//! # Glossary
//!
//! * **Unit**: what lengths and offsets are counted in. The caller decides what a
//!   unit stands for (a 64-byte line, a 2 MiB page); the heap only counts.
//! * **Space**: the units `0..len` that a heap gives out. Nothing of the heap's
//!   own knowledge is kept there, so it may be memory of another device, a
//!   reserved window without pages, or no memory at all.
//! * **Range**: neighbouring units with one owner. Free or allocated; the ranges
//!   of a heap tile its space.
//! * **Id**: a small number that names an allocated range and is what it is freed
//!   by. Ids are reused after a free.
//! * **Bin**: free ranges of about the same length.
//! * **Probe**: a look at a range that might fit, before the search goes on to
//!   the bin where every range does.
//! * **Dirty**: a free range is dirty when something may have been written in it
//!   since it was last clean, so that memory may be resident behind it. A new
//!   heap is clean, a free makes dirty, a merge is dirty if a part of it is.
//!
//! # Contract
//!
//! * Allocated ranges never overlap, lie within the space, and have the length
//!   and the alignment that were asked for.
//! * Two free ranges never touch: a free merges at once, and when everything is
//!   free there is one range again.
//! * A request fails only when no free range can hold it, and changes nothing
//!   then.
//! * Counts are exact after every call.
//! * Any value may be given as an id; one that names no allocated range is told
//!   so and changes nothing. (A kept id may name a *newer* range: whoever hands
//!   ids to strangers checks them first.)
//! * The calls on the hot path take constant time; where the price is another,
//!   the documentation of the call says so.
//!
//! No `unsafe`, no system calls, no dependencies, no locks.

#![forbid(unsafe_code)]

pub mod range;
pub mod slab;

pub use range::{NodeId, Range, RangeHeap};
