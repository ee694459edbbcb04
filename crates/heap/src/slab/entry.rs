//! What the map says of a slice, in 64 bits, and what is said of a large block, in 64 more.
//!
//! | bits | span of small blocks | first slice of a run for large blocks | its other slices |
//! |---|---|---|---|
//! | 0..2 | 1 | 2 | 3 |
//! | 2..8 | class | | |
//! | 15..19 | number of the bins | number of the bins | |
//! | 32..64 | first slice | slices | first slice |
//!
//! 0 means "nothing here", so fresh pages are a valid map.
//!
//! | bits | the large block in a run |
//! |---|---|
//! | 0 | 1: it lives |
//! | 2..6, 6..13, 13..15 | family, module, page kind |
//! | 19..26 | padded size - requested size |
//! | 26..64 | padded size in 32-byte steps |

use super::class::masked;
use super::table::{LargeInfo, Owner};

const KIND: u64 = 0x3;
const SMALL: u64 = 1;
const RUN: u64 = 2;
const REST: u64 = 3;

const LIVES: u64 = 1;

/// Numbers of bins are smaller.
pub const MAX_BINS: u32 = 16;
/// Large blocks are smaller, in bytes.
const SIZE_END: u64 = 1 << 43;
/// What the padding of a large block stays below, in bytes.
const SPARE_END: u64 = 1 << 7;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry(pub(super) u64);

impl Entry {
    pub(super) const NOTHING: Entry = Entry(0);

    pub(super) fn of_span(first: u32, class: usize, bins: u32) -> Entry {
        debug_assert!(bins < MAX_BINS);
        Entry(SMALL | (masked(class) as u64) << 2 | u64::from(bins) << 15 | u64::from(first) << 32)
    }

    #[inline(always)]
    pub(super) fn of_run(slices: u32, bins: u32) -> Entry {
        debug_assert!(bins < MAX_BINS);
        Entry(RUN | u64::from(bins) << 15 | u64::from(slices) << 32)
    }

    /// A slice of a run that begins at `first`, before this one.
    pub(super) fn rest_of(first: u32) -> Entry {
        Entry(REST | u64::from(first) << 32)
    }

    #[inline(always)]
    pub(super) fn is_small(self) -> bool {
        self.0 & KIND == SMALL
    }

    #[inline(always)]
    pub(super) fn is_run(self) -> bool {
        self.0 & KIND == RUN
    }

    #[inline(always)]
    pub(super) fn is_rest(self) -> bool {
        self.0 & KIND == REST
    }

    /// Of a span and of the rest of a run.
    #[inline(always)]
    pub(super) fn first(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Of a span.
    #[inline(always)]
    pub(super) fn class(self) -> usize {
        masked((self.0 >> 2) as usize)
    }

    /// Of a span and of a run.
    #[inline(always)]
    pub(super) fn bins(self) -> u32 {
        (self.0 >> 15) as u32 & (MAX_BINS - 1)
    }
}

/// A large block. See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Block(pub(super) u64);

impl Block {
    pub(super) const NONE: Block = Block(0);

    #[inline]
    pub(super) fn new(info: &LargeInfo) -> Block {
        let LargeInfo {
            size,
            requested,
            owner,
            ..
        } = *info;
        let spare = size - requested;
        debug_assert!(size.is_multiple_of(32) && size < SIZE_END && spare < SPARE_END);
        debug_assert!(owner.family < 16 && owner.module < 128 && owner.page < 4);
        Block(
            LIVES
                | u64::from(owner.family) << 2
                | u64::from(owner.module) << 6
                | u64::from(owner.page) << 13
                | spare << 19
                | (size / 32) << 26,
        )
    }

    #[inline(always)]
    pub(super) fn lives(self) -> bool {
        self.0 & LIVES != 0
    }

    #[inline(always)]
    pub(super) fn size(self) -> u64 {
        self.0 >> 26 << 5
    }

    #[inline(always)]
    pub(super) fn requested(self) -> u64 {
        self.size() - (self.0 >> 19 & (SPARE_END - 1))
    }

    #[inline(always)]
    pub(super) fn owner(self) -> Owner {
        Owner {
            family: (self.0 >> 2 & 0xf) as u8,
            module: (self.0 >> 6 & 0x7f) as u8,
            page: (self.0 >> 13 & 0x3) as u8,
        }
    }
}
