//! From an address to the piece that holds it: one load for the 2 MiB slot of the address, one for
//! its 4 KiB page where several pieces share a slot, and the record of the piece.
//!
//! Records are reused; a reader takes one only if it did not change meanwhile and really holds the
//! address, so a stale step on the way leads to "nothing there", never to something else.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use cannery_observe::{Family, PageKind};

use super::MOST_REGIONS;
use crate::os::map::zeroed_array;

const SLOT_SHIFT: u32 = 21;
const PAGE_SHIFT: u32 = 12;
const PAGES: usize = 1 << (SLOT_SHIFT - PAGE_SHIFT);
/// Pieces that can exist at once.
const RECORDS: usize = 1 << 22;
/// Slots that several pieces can share at once.
const SHARED_SLOTS: usize = 1 << 14;
/// Marks the entry of a shared slot.
const SHARED: u32 = 1 << 31;

const LIVE: u32 = 1;
const ACCESS: u32 = 2;

/// What lies at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    /// First byte.
    pub(crate) start: u64,
    /// Bytes; whole pages.
    pub(crate) size: u64,
    /// Bytes that were asked for.
    pub(crate) requested: u64,
    /// What made it.
    pub(crate) family: Family,
    /// Whose memory it is; `None`: the host's.
    pub(crate) device: Option<usize>,
    pub(crate) pages: PageKind,
    /// Whether copies may touch it.
    pub(crate) access: bool,
    /// Whether it is somebody's.
    pub(crate) live: bool,
    /// Whatever its maker needs to find its own record.
    pub(crate) owner: u64,
}

/// A piece that was put.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PieceId(u32);

/// A span of addresses and its slots.
pub(super) struct Region {
    base: u64,
    pub(super) slots: &'static [AtomicU32],
}

/// Made of atomic integers; zero is a value: a record that was never used. One cache line.
#[repr(align(64))]
pub(crate) struct Record {
    /// Odd while it is written.
    version: AtomicU32,
    flags: AtomicU32,
    start: AtomicU64,
    size: AtomicU64,
    requested: AtomicU64,
    about: AtomicU64,
    owner: AtomicU64,
}

/// See the module.
pub(super) struct Table {
    regions: [OnceLock<Region>; MOST_REGIONS],
    records: &'static [Record],
    /// Entries of shared slots, [`PAGES`] each.
    pages: &'static [AtomicU32],
    free: Mutex<Free>,
}

struct Free {
    records: Vec<u32>,
    next_record: u32,
    /// Shared slots to reuse.
    shared: Vec<u32>,
    /// Entries in use, by shared slot.
    used: Vec<u32>,
}

impl Table {
    pub(super) fn new() -> io::Result<Table> {
        Ok(Table {
            regions: Default::default(),
            records: zeroed_array(RECORDS)?,
            pages: zeroed_array(SHARED_SLOTS * PAGES)?,
            free: Mutex::new(Free {
                records: Vec::new(),
                next_record: 0,
                shared: Vec::new(),
                used: Vec::new(),
            }),
        })
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a span known; its number.
    pub(super) fn open(&self, base: u64, bytes: u64) -> io::Result<usize> {
        let slots = zeroed_array((bytes >> SLOT_SHIFT) as usize)?;
        let number = self
            .regions
            .iter()
            .position(|place| place.get().is_none())
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let _ = self.regions[number].set(Region { base, slots });
        Ok(number)
    }

    /// The number of the region that holds an address.
    #[inline]
    pub(super) fn region_of(&self, address: u64) -> Option<usize> {
        for (number, place) in self.regions.iter().enumerate() {
            let region = place.get()?;
            if address.wrapping_sub(region.base) < region.bytes() {
                return Some(number);
            }
        }
        None
    }

    fn region(&self, address: u64) -> Option<&Region> {
        self.regions[self.region_of(address)?].get()
    }

    /// See [`Areas::find`](super::Areas::find).
    #[inline]
    pub(super) fn find(&self, address: u64) -> Option<(PieceId, Piece)> {
        self.look(address)?
    }

    /// See [`Areas::look`](super::Areas::look).
    #[inline]
    pub(super) fn look(&self, address: u64) -> Option<Option<(PieceId, Piece)>> {
        Some(self.find_in(self.region(address)?, address))
    }

    #[inline]
    fn find_in(&self, region: &Region, address: u64) -> Option<(PieceId, Piece)> {
        let offset = address - region.base;
        let mut entry = region.slots[(offset >> SLOT_SHIFT) as usize].load(Ordering::Acquire);
        if entry & SHARED != 0 {
            let page = (offset >> PAGE_SHIFT) as usize % PAGES;
            entry = self.pages[(entry & !SHARED) as usize * PAGES + page].load(Ordering::Acquire);
        }
        let id = PieceId(entry.checked_sub(1)?);
        let piece = self.read(id)?;
        (address.wrapping_sub(piece.start) < piece.size).then_some((id, piece))
    }

    #[inline]
    fn read(&self, id: PieceId) -> Option<Piece> {
        let record = self.records.get(id.0 as usize)?;
        let version = record.version.load(Ordering::Acquire);
        let flags = record.flags.load(Ordering::Relaxed);
        let about = record.about.load(Ordering::Relaxed);
        let piece = Piece {
            start: record.start.load(Ordering::Relaxed),
            size: record.size.load(Ordering::Relaxed),
            requested: record.requested.load(Ordering::Relaxed),
            family: Family::from_number(about as u8),
            device: ((about >> 16) as u16).checked_sub(1).map(usize::from),
            pages: PageKind::from_number((about >> 8) as u8),
            access: flags & ACCESS != 0,
            live: flags & LIVE != 0,
            owner: record.owner.load(Ordering::Relaxed),
        };
        fence(Ordering::Acquire);
        let same = record.version.load(Ordering::Relaxed) == version && version & 1 == 0;
        same.then_some(piece)
    }

    fn write(&self, id: PieceId, piece: &Piece) {
        let record = &self.records[id.0 as usize];
        let version = record.version.load(Ordering::Relaxed);
        record
            .version
            .store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        let flags = if piece.live { LIVE } else { 0 } | if piece.access { ACCESS } else { 0 };
        let device = piece.device.map_or(0, |device| device as u64 + 1);
        let about = piece.family as u64 | (piece.pages as u64) << 8 | device << 16;
        record.flags.store(flags, Ordering::Relaxed);
        record.start.store(piece.start, Ordering::Relaxed);
        record.size.store(piece.size, Ordering::Relaxed);
        record.requested.store(piece.requested, Ordering::Relaxed);
        record.about.store(about, Ordering::Relaxed);
        record.owner.store(piece.owner, Ordering::Relaxed);
        record
            .version
            .store(version.wrapping_add(2), Ordering::Release);
    }

    /// Publishes a piece whose addresses belong to no other one.
    pub(super) fn put(&self, piece: &Piece) -> Option<PieceId> {
        let region = self.region(piece.start)?;
        let mut free = self.free();
        let shared_left = SHARED_SLOTS - free.used.len() + free.shared.len();
        let fresh = match free.records.pop() {
            Some(id) => id,
            None if (free.next_record as usize) < RECORDS => {
                free.next_record += 1;
                free.next_record - 1
            }
            None => return None,
        };
        // At most the two ends of a piece share their slot with others.
        if shared_left < 2 {
            free.records.push(fresh);
            return None;
        }
        let id = PieceId(fresh);
        self.write(id, piece);
        self.enter(&mut free, region, piece, 0, fresh + 1);
        Some(id)
    }

    /// Takes a piece away.
    pub(super) fn take(&self, id: PieceId) {
        let mut free = self.free();
        let Some(piece) = self.read(id) else { return };
        if let Some(region) = self.region(piece.start) {
            self.enter(&mut free, region, &piece, id.0 + 1, 0);
        }
        let nothing = Piece {
            size: 0,
            live: false,
            ..piece
        };
        self.write(id, &nothing);
        free.records.push(id.0);
    }

    /// Changes every entry of the piece from `from` to `to`; one of them is 0.
    fn enter(&self, free: &mut Free, region: &Region, piece: &Piece, from: u32, to: u32) {
        let slot_bytes = 1u64 << SLOT_SHIFT;
        let (start, end) = (
            piece.start - region.base,
            piece.start - region.base + piece.size,
        );
        let mut at = start;
        while at < end {
            let slot = &region.slots[(at >> SLOT_SHIFT) as usize];
            let next = (at + 1).next_multiple_of(slot_bytes);
            if at % slot_bytes == 0 && next <= end {
                slot.store(to, Ordering::Release);
            } else {
                let pages = (at >> PAGE_SHIFT)..(next.min(end) >> PAGE_SHIFT);
                self.enter_shared(free, slot, pages, from, to);
            }
            at = next;
        }
    }

    fn enter_shared(
        &self,
        free: &mut Free,
        slot: &AtomicU32,
        pages: std::ops::Range<u64>,
        from: u32,
        to: u32,
    ) {
        let entry = slot.load(Ordering::Relaxed);
        let number = if entry & SHARED != 0 {
            entry & !SHARED
        } else {
            // Empty before: whole slots belong to one piece.
            debug_assert_eq!(from, 0);
            free.shared.pop().unwrap_or_else(|| {
                free.used.push(0);
                free.used.len() as u32 - 1
            })
        };
        let count = (pages.end - pages.start) as u32;
        for page in pages {
            let place = &self.pages[number as usize * PAGES + page as usize % PAGES];
            place.store(to, Ordering::Release);
        }
        let used = &mut free.used[number as usize];
        if to == 0 {
            *used -= count;
            if *used == 0 {
                slot.store(0, Ordering::Release);
                free.shared.push(number);
            }
        } else {
            *used += count;
            slot.store(SHARED | number, Ordering::Release);
        }
    }

    pub(super) fn set_live(&self, id: PieceId, live: bool) {
        self.set_flag(id, LIVE, live);
    }

    pub(super) fn set_access(&self, id: PieceId, access: bool) {
        self.set_flag(id, ACCESS, access);
    }

    fn set_flag(&self, id: PieceId, flag: u32, on: bool) {
        let flags = &self.records[id.0 as usize].flags;
        if on {
            flags.fetch_or(flag, Ordering::AcqRel);
        } else {
            flags.fetch_and(!flag, Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::AtomicBool;

    use rand::rngs::SmallRng;
    use rand::{Rng as _, SeedableRng as _};

    use super::*;

    const BASE: u64 = 1 << 44;
    const BYTES: u64 = 1 << 26;

    fn piece(start: u64, size: u64) -> Piece {
        Piece {
            start,
            size,
            requested: size - 1,
            family: Family::Mapping,
            device: Some(3),
            pages: PageKind::Huge,
            access: true,
            live: true,
            owner: start ^ size,
        }
    }

    /// Random pieces against a map, while other threads look: what they find is always whole.
    #[test]
    fn finds_what_was_put_and_nothing_else() {
        let table = Table::new().expect("memory for the table");
        table.open(BASE, BYTES).expect("memory for the slots");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut random = SmallRng::seed_from_u64(2);
                while !done.load(Ordering::Relaxed) {
                    let address = BASE + random.random_range(0..BYTES);
                    if let Some((_, found)) = table.find(address) {
                        assert_eq!(found, piece(found.start, found.size));
                        assert!(address - found.start < found.size);
                    }
                }
            });
            let mut random = SmallRng::seed_from_u64(1);
            let mut model: BTreeMap<u64, (u64, PieceId)> = BTreeMap::new();
            for _ in 0..20_000 {
                let start = BASE + random.random_range(0..BYTES >> 12 << 12) / 4096 * 4096;
                let size = match random.random_range(0..3) {
                    0 => random.random_range(1..=8u64) << 12,
                    1 => random.random_range(1..=4u64) << 21,
                    _ => random.random_range(1..=1500u64) << 12,
                };
                let free = start + size <= BASE + BYTES
                    && model
                        .range(..start + size)
                        .next_back()
                        .is_none_or(|(at, (bytes, _))| at + bytes <= start);
                if free && random.random_bool(0.6) {
                    let id = table.put(&piece(start, size)).expect("a free record");
                    model.insert(start, (size, id));
                } else if let Some((at, (_, id))) = model.range(start..).next() {
                    table.take(*id);
                    let at = *at;
                    model.remove(&at);
                }
                let probe = BASE + random.random_range(0..BYTES);
                let expected = model
                    .range(..=probe)
                    .next_back()
                    .filter(|(at, (bytes, _))| probe - **at < *bytes)
                    .map(|(at, (bytes, id))| (*id, piece(*at, *bytes)));
                assert_eq!(table.find(probe), expected);
            }
            for (_, (_, id)) in std::mem::take(&mut model) {
                table.take(id);
            }
            done.store(true, Ordering::Relaxed);
        });
        for slot in table.regions[0].get().expect("opened").slots {
            assert_eq!(slot.load(Ordering::Relaxed), 0);
        }
        let free = table.free();
        assert_eq!(free.records.len(), free.next_record as usize);
        assert_eq!(free.shared.len(), free.used.len());
    }
}
