//! Idle segments by length, so that the closest one is found first.

use crate::segments::{Segment, Segments};

/// Lists of one length each; the last list has everything longer.
const LISTS: usize = 64;
const LONG: usize = LISTS - 1;

/// See the module.
pub(crate) struct Idle {
    lists: Vec<Vec<u32>>,
    /// Bit i: list i has members.
    mask: u64,
    pub(crate) units: u64,
}

#[inline]
fn list_of(units: u64) -> usize {
    (units.wrapping_sub(1)).min(LONG as u64) as usize
}

impl Idle {
    pub(crate) fn new() -> Self {
        Self {
            lists: vec![Vec::new(); LISTS],
            mask: 0,
            units: 0,
        }
    }

    #[inline]
    pub(crate) fn put<K: Copy, T: Copy>(&mut self, all: &mut Segments<K, T>, id: u32) {
        let segment = all.get_mut(id);
        let number = list_of(segment.units);
        let list = &mut self.lists[number];
        segment.slot = list.len() as u32;
        list.push(id);
        self.mask |= 1 << number;
        self.units += segment.units;
    }

    #[inline]
    pub(crate) fn take<K: Copy, T: Copy>(&mut self, all: &mut Segments<K, T>, id: u32) {
        let (units, slot) = (all.get(id).units, all.get(id).slot as usize);
        let number = list_of(units);
        let list = &mut self.lists[number];
        list.swap_remove(slot);
        if let Some(moved) = list.get(slot) {
            all.get_mut(*moved).slot = slot as u32;
        }
        if list.is_empty() {
            self.mask &= !(1 << number);
        }
        self.units -= units;
    }

    /// The shortest segment of at least `units` units that `fits`; the newest of several.
    #[inline]
    pub(crate) fn closest<K: Copy, T: Copy>(
        &self,
        all: &Segments<K, T>,
        units: u64,
        fits: impl Fn(&Segment<K, T>) -> bool,
    ) -> Option<u32> {
        let mut mask = self.mask & (u64::MAX << list_of(units));
        while mask != 0 {
            let number = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            let list = &self.lists[number];
            if number != LONG {
                if let Some(id) = list.iter().rev().find(|id| fits(all.get(**id))) {
                    return Some(*id);
                }
                continue;
            }
            let long = list.iter().rev().copied().filter(|id| {
                let segment = all.get(*id);
                segment.units >= units && fits(segment)
            });
            return long.min_by_key(|id| all.get(*id).units);
        }
        None
    }

    /// Numbers of all idle segments, the longest lists first.
    pub(crate) fn all(&self) -> Vec<u32> {
        self.lists.iter().rev().flatten().copied().collect()
    }
}
