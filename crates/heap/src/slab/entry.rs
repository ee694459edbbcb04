//! What the map says of a slice, in 64 bits.
//!
//! | bits | span of small blocks | first slice of a large block | its other slices |
//! |---|---|---|---|
//! | 0..2 | 1 | 2 | 3 |
//! | 2..8 | class | family (2..6) | |
//! | 6..15 | | module (6..13), page kind (13..15) | |
//! | 15..19 | number of the bins | number of the bins | |
//! | 19..26 | | padded size - requested size | |
//! | 26..64 | first slice (32..64) | padded size in 32-byte steps | first slice (32..64) |
//!
//! 0 means "nothing here", so fresh pages are a valid map.

use super::class::masked;
use super::table::{LargeInfo, Owner};

const KIND: u64 = 0x3;
const SMALL: u64 = 1;
const LARGE: u64 = 2;
const REST: u64 = 3;

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

    #[inline]
    pub(super) fn of_large(info: &LargeInfo, bins: u32) -> Entry {
        let LargeInfo {
            size,
            requested,
            owner,
            ..
        } = *info;
        let spare = size - requested;
        debug_assert!(size.is_multiple_of(32) && size < SIZE_END && spare < SPARE_END);
        debug_assert!(owner.family < 16 && owner.module < 128 && owner.page < 4);
        debug_assert!(bins < MAX_BINS);
        Entry(
            LARGE
                | u64::from(owner.family) << 2
                | u64::from(owner.module) << 6
                | u64::from(owner.page) << 13
                | u64::from(bins) << 15
                | spare << 19
                | (size / 32) << 26,
        )
    }

    /// A slice of a large block that begins at `first`, before this one.
    pub(super) fn rest_of(first: u32) -> Entry {
        Entry(REST | u64::from(first) << 32)
    }

    #[inline(always)]
    pub(super) fn is_small(self) -> bool {
        self.0 & KIND == SMALL
    }

    #[inline(always)]
    pub(super) fn is_large(self) -> bool {
        self.0 & KIND == LARGE
    }

    #[inline(always)]
    pub(super) fn is_rest(self) -> bool {
        self.0 & KIND == REST
    }

    /// Of a span and of the rest of a large block.
    #[inline(always)]
    pub(super) fn first(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Of a span.
    #[inline(always)]
    pub(super) fn class(self) -> usize {
        masked((self.0 >> 2) as usize)
    }

    /// Of a span and of a large block.
    #[inline(always)]
    pub(super) fn bins(self) -> u32 {
        (self.0 >> 15) as u32 & (MAX_BINS - 1)
    }

    /// Of a large block.
    #[inline(always)]
    pub(super) fn size(self) -> u64 {
        self.0 >> 26 << 5
    }

    /// Of a large block.
    #[inline(always)]
    pub(super) fn requested(self) -> u64 {
        self.size() - (self.0 >> 19 & (SPARE_END - 1))
    }

    /// Of a large block.
    #[inline(always)]
    pub(super) fn owner(self) -> Owner {
        Owner {
            family: (self.0 >> 2 & 0xf) as u8,
            module: (self.0 >> 6 & 0x7f) as u8,
            page: (self.0 >> 13 & 0x3) as u8,
        }
    }
}
