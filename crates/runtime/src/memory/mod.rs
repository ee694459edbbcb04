//! Manual chapter: memory management. Glossary:
//!
//! * **block**: what one allocation call hands out. It *owns* its padded size; the bytes behind the
//!   requested size are its tail.
//! * **charge**: what a block costs: whole pages in the huge and giant pools, the padded size
//!   rounded up to 64 bytes in the normal pool. Free plus charged is the pool, to the byte.
//! * **store**: the memory of one device, or the pinned memory of the host.
//! * **arena**: the part of a store that one thread (of every sixteen) uses; one lock, uncontended.
//! * **credit**: bytes an arena may charge without asking the store. Credit counts as free.
//! * **claim**, **slack**: what this process may charge on a card that others use too, see `card`.
//!
//! Lock order: purge, arenas in ascending order, back, central. No lock is held while the kernel
//! gives or takes pages, except for the first pinning of a range.
//!
//! Price of the levels: a hit in the arena is one lock, one magazine of free blocks, one object word
//! (see [`cannery_heap::slab`]); a miss goes to the spans, or takes slices from the store's range
//! allocator (one more lock); a shortage locks every arena, once, before it is reported.

pub(crate) mod areas;
pub(crate) mod arena;
pub mod async_copy;
pub mod batch;
pub mod cache;
pub mod cache_ops;
pub(crate) mod card;
mod central;
pub mod config;
pub mod copy;
pub mod copy2d;
pub mod descriptor;
mod distributions;
pub mod free;
pub(crate) mod guard;
pub mod host;
pub(crate) mod inner;
pub mod ipc;
pub(crate) mod janitor;
pub(crate) mod locate;
pub mod malloc;
pub mod managed;
pub mod media;
pub mod peer_map;
pub(crate) mod pins;
pub(crate) mod policy;
pub mod query;
pub mod random_numbers;
pub mod reduce;
mod region;
pub mod registered;
pub mod set;
pub(crate) mod sharing;
pub(crate) mod store;
pub mod stream_ordered_pool;
pub mod virtual_memory;
