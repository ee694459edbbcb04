//! The addresses of one pool, and what is known about them.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use cannery_heap::slab::{Arrays, Found, SliceRecord, SpanTable, WORDS_PER_SLICE};

use crate::os::map::{self, Zeroed, zeroed_array};

const FEW: usize = WORDS_PER_SLICE[0];
const MANY: usize = WORDS_PER_SLICE[1];

/// Slices of the pool of normal pages: 64 KiB.
pub(super) const NORMAL_SHIFT: u32 = 16;
/// Slices of the pool of huge pages: one page, 2 MiB.
pub(super) const HUGE_SHIFT: u32 = 21;
/// Both, by pool.
pub(super) const SHIFTS: [u32; 2] = [NORMAL_SHIFT, HUGE_SHIFT];

/// See the module.
pub(super) struct Region<const SHIFT: u32> {
    pub(super) base: u64,
    bytes: u64,
    distance: u64,
    pub(super) table: SpanTable<'static, SHIFT>,
}

impl<const SHIFT: u32> Region<SHIFT> {
    /// `bytes` of addresses from `base` on, whose memory is `distance` further.
    pub(super) fn new(base: u64, bytes: u64, distance: u64) -> io::Result<Self> {
        let slices = (bytes >> SHIFT) as usize;
        // Small blocks live in normal pages.
        let small = if SHIFT == NORMAL_SHIFT { slices } else { 0 };
        let table = SpanTable::new(Arrays {
            map: zeroed_array::<AtomicU64>(slices)?,
            notes: zeroed_array::<AtomicU32>(slices)?,
            records: zeroed_array::<SliceRecord>(slices)?,
            words: zeroed_array::<AtomicU32>(small * (FEW + MANY))?,
        });
        Ok(Self {
            base,
            bytes,
            distance,
            table,
        })
    }

    /// Number of slices.
    pub(super) fn slices(&self) -> u64 {
        self.table.slices() as u64
    }

    /// The live block that holds `address`, by its first byte.
    #[inline(always)]
    pub(super) fn find(&self, address: u64) -> Option<(u64, Found)> {
        let found = self.table.find(address.wrapping_sub(self.base))?;
        Some((self.base + found.start, found))
    }

    /// Gives the pages of free slices back to the system, and those of what is known about them.
    pub(super) fn discard(&self, first: u64, slices: u64) {
        map::discard(
            self.base.wrapping_add(self.distance) + (first << SHIFT),
            slices << SHIFT,
        );
        let (from, to) = (first as usize, (first + slices) as usize);
        let arrays = self.table.arrays();
        map::discard_part(&arrays.map[from..to]);
        map::discard_part(&arrays.notes[from..to]);
        map::discard_part(&arrays.records[from..to]);
        if !arrays.words.is_empty() {
            let (few, many) = arrays.words.split_at(arrays.records.len() * FEW);
            map::discard_part(&few[from * FEW..to * FEW]);
            map::discard_part(&many[from * MANY..to * MANY]);
        }
    }

    /// Forgets every block and gives all pages back to the system.
    pub(super) fn reset(&self) {
        let arrays = self.table.arrays();
        // The map first: nothing is found any more while the pages go.
        wipe(arrays.map, |entry| entry.store(0, Ordering::Release));
        wipe(arrays.words, |word| word.store(0, Ordering::Relaxed));
        map::discard_part(arrays.notes);
        map::discard_part(arrays.records);
        map::discard(self.base.wrapping_add(self.distance), self.bytes);
    }
}

/// Makes a whole array zero: its pages go back to the system, and what is left behind the last whole
/// one is written.
fn wipe<T: Zeroed>(array: &[T], zero: impl Fn(&T)) {
    map::discard_part(array);
    let whole = size_of_val(array) / 4096 * 4096;
    array[whole / size_of::<T>()..].iter().for_each(zero);
}
