//! From a page of host memory to its registration: a tree of tables as page tables are.
//!
//! Readers take no lock and make no system call: at most four loads lead from an address to an entry,
//! and one more look at the record verifies it. Large aligned runs need one entry, on the level that
//! covers them. Writers exclude each other (the caller's lock).
//!
//! A table that an entry on a higher level has made needless is used again for another place. A
//! reader that is still in it may see an entry of that other place; the record tells it apart.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use crate::os::map::{self, Zeroed};

const PAGE_SHIFT: u32 = 12;
/// Host addresses have 47 bits; a reader may ask about any number.
const ADDRESS_BITS: u32 = 48;
const BITS: u32 = 9;
const LEVELS: u32 = (ADDRESS_BITS - PAGE_SHIFT) / BITS;
const ENTRIES: usize = 1 << BITS;
/// Tables that one insertion needs at most: a path to each ragged end.
const MOST_NEW_TABLES: usize = 2 * (LEVELS as usize - 1);

/// The entry leads to a table; the other bits are its number.
const TABLE: u32 = 1 << 31;
/// The page was registered and mapped once.
const ENDED: u32 = 1 << 30;

/// Words of a record.
const VERSION: usize = 0;
const START: usize = 1;
const BYTES: usize = 2;
const FLAGS: usize = 3;
const WORDS: usize = 4;

/// Both arrays grow by so many words: 512 tables, and 1024 records.
const ENTRIES_SHIFT: u32 = BITS + 9;
const RECORDS_SHIFT: u32 = 12;
const _: () = assert!(1 << RECORDS_SHIFT == 1024 * WORDS);

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) start: u64,
    pub(super) bytes: u64,
    /// Whether the device has an alias of it.
    pub(super) mapped: bool,
}

/// What stands at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Nothing,
    /// A registration that had an alias was here.
    Ended,
    Live(Record),
}

/// An array that grows in steps of `1 << SHIFT` and never moves.
struct Growing<T: 'static, const SHIFT: u32> {
    chunks: Box<[OnceLock<&'static [T]>]>,
}

impl<T: Zeroed, const SHIFT: u32> Growing<T, SHIFT> {
    fn new(chunks: usize) -> Self {
        Self {
            chunks: (0..chunks).map(|_| OnceLock::new()).collect(),
        }
    }

    #[inline]
    fn get(&self, index: usize) -> Option<&'static T> {
        let chunk = self.chunks.get(index >> SHIFT)?.get()?;
        chunk.get(index % (1 << SHIFT))
    }

    /// Makes room for `index`.
    fn reach(&self, index: usize) -> io::Result<()> {
        let place = self.chunks.get(index >> SHIFT);
        let place = place.ok_or(io::ErrorKind::OutOfMemory)?;
        if place.get().is_none() {
            // Writers exclude each other, so nobody else sets it meanwhile.
            let _ = place.set(map::zeroed_array(1 << SHIFT)?);
        }
        Ok(())
    }
}

/// What only writers need.
#[derive(Default)]
pub(super) struct Spare {
    tables: Vec<u32>,
    tables_made: u32,
    records: Vec<u32>,
    records_made: u32,
}

/// See the module.
pub(super) struct PageMap {
    entries: Growing<AtomicU32, ENTRIES_SHIFT>,
    records: Growing<AtomicU64, RECORDS_SHIFT>,
}

impl PageMap {
    /// An empty map; its first table is the root.
    pub(super) fn new(spare: &mut Spare) -> io::Result<PageMap> {
        let map = PageMap {
            entries: Growing::new(1024),
            records: Growing::new(1024),
        };
        map.entries.reach(0)?;
        spare.tables_made = 1;
        Ok(map)
    }

    /// What stands at `address`.
    pub(super) fn find(&self, address: u64) -> Entry {
        loop {
            let entry = self.entry(address);
            if entry == 0 {
                return Entry::Nothing;
            }
            if entry == ENDED {
                return Entry::Ended;
            }
            match self.read(entry - 1) {
                Some(record) if address.wrapping_sub(record.start) < record.bytes => {
                    return Entry::Live(record);
                }
                Some(_) => return Entry::Nothing,
                // It ended while we looked; the entry has changed too.
                None if self.entry(address) == entry => return Entry::Nothing,
                None => {}
            }
        }
    }

    fn entry(&self, address: u64) -> u32 {
        if address >> ADDRESS_BITS != 0 {
            return 0;
        }
        let page = address >> PAGE_SHIFT;
        let mut table = 0;
        for level in (0..LEVELS).rev() {
            let index = (page >> (BITS * level)) as usize % ENTRIES;
            let Some(entry) = self.entries.get(table * ENTRIES + index) else {
                return 0;
            };
            let entry = entry.load(Ordering::Acquire);
            if entry & TABLE == 0 {
                return entry;
            }
            table = (entry & !TABLE) as usize;
        }
        0
    }

    fn word(&self, record: u32, word: usize) -> Option<&'static AtomicU64> {
        self.records.get(record as usize * WORDS + word)
    }

    /// `None` while it changes.
    fn read(&self, record: u32) -> Option<Record> {
        let version = self.word(record, VERSION)?;
        let before = version.load(Ordering::Acquire);
        let load = |word| Some(self.word(record, word)?.load(Ordering::Relaxed));
        let (start, bytes, flags) = (load(START)?, load(BYTES)?, load(FLAGS)?);
        fence(Ordering::Acquire);
        let same = version.load(Ordering::Relaxed) == before;
        (same && before % 2 == 0).then_some(Record {
            start,
            bytes,
            mapped: flags != 0,
        })
    }

    fn write(&self, record: u32, value: Record) {
        let store = |word, value| {
            if let Some(place) = self.word(record, word) {
                place.store(value, Ordering::Relaxed);
            }
        };
        let Some(version) = self.word(record, VERSION) else {
            return;
        };
        let before = version.load(Ordering::Relaxed);
        version.store(before + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        store(START, value.start);
        store(BYTES, value.bytes);
        store(FLAGS, u64::from(value.mapped));
        version.store(before + 2, Ordering::Release);
    }

    /// Publishes a range of whole pages that overlaps no other; returns the number of its record.
    pub(super) fn insert(&self, spare: &mut Spare, value: Record) -> io::Result<u32> {
        while spare.tables.len() < MOST_NEW_TABLES {
            self.entries.reach(spare.tables_made as usize * ENTRIES)?;
            spare.tables.push(spare.tables_made);
            spare.tables_made += 1;
        }
        if spare.records.is_empty() {
            self.records.reach(spare.records_made as usize * WORDS)?;
            spare.records.push(spare.records_made);
            spare.records_made += 1;
        }
        let Some(record) = spare.records.pop() else {
            return Err(io::ErrorKind::OutOfMemory.into());
        };
        self.write(record, value);
        self.fill(spare, value, record + 1);
        Ok(record)
    }

    /// Takes a range away again. Where it had an alias, that is remembered.
    pub(super) fn remove(&self, spare: &mut Spare, record: u32) {
        let Some(value) = self.read(record) else {
            return;
        };
        self.fill(spare, value, if value.mapped { ENDED } else { 0 });
        let nothing = Record {
            start: 0,
            bytes: 0,
            mapped: false,
        };
        self.write(record, nothing);
        spare.records.push(record);
    }

    fn fill(&self, spare: &mut Spare, range: Record, value: u32) {
        let first = range.start >> PAGE_SHIFT;
        let end = (range.start + range.bytes) >> PAGE_SHIFT;
        self.fill_table(spare, 0, LEVELS - 1, first, end, value);
    }

    /// Pages `[first, end)` of the table that `first` lies in.
    fn fill_table(
        &self,
        spare: &mut Spare,
        table: usize,
        level: u32,
        mut first: u64,
        end: u64,
        value: u32,
    ) {
        let shift = BITS * level;
        while first < end {
            let index = (first >> shift) as usize % ENTRIES;
            let next = ((first >> shift) + 1) << shift;
            let Some(place) = self.entries.get(table * ENTRIES + index) else {
                return;
            };
            let entry = place.load(Ordering::Relaxed);
            if first.is_multiple_of(1 << shift) && next <= end {
                place.store(value, Ordering::Release);
                self.recycle(spare, entry, level);
            } else {
                let child = if entry & TABLE != 0 {
                    (entry & !TABLE) as usize
                } else {
                    // Enough are at hand, see `insert`; a removal meets the tables of its insertion.
                    let Some(child) = spare.tables.pop() else {
                        return;
                    };
                    for index in 0..ENTRIES {
                        if let Some(place) = self.entries.get(child as usize * ENTRIES + index) {
                            place.store(entry, Ordering::Relaxed);
                        }
                    }
                    place.store(TABLE | child, Ordering::Release);
                    child as usize
                };
                self.fill_table(spare, child, level - 1, first, end.min(next), value);
            }
            first = next;
        }
    }

    /// Keeps the tables below an entry that was overwritten for another use.
    fn recycle(&self, spare: &mut Spare, entry: u32, level: u32) {
        if entry & TABLE == 0 {
            return;
        }
        let table = entry & !TABLE;
        if level > 1 {
            for index in 0..ENTRIES {
                if let Some(place) = self.entries.get(table as usize * ENTRIES + index) {
                    self.recycle(spare, place.load(Ordering::Relaxed), level - 1);
                }
            }
        }
        spare.tables.push(table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 1 << PAGE_SHIFT;

    fn record(start: u64, pages: u64, mapped: bool) -> Record {
        Record {
            start,
            bytes: pages * PAGE,
            mapped,
        }
    }

    fn opened() -> (PageMap, Spare) {
        let mut spare = Spare::default();
        let map = PageMap::new(&mut spare).expect("room for the root");
        (map, spare)
    }

    #[test]
    fn edges_on_every_level() {
        let (map, mut spare) = opened();
        for (start, pages) in [
            (0x7f00_0000_0000, 1),
            (0x7f00_0000_1000, 511),
            (0x7f00_0020_0000, 512),
            (0x7f00_0040_3000, 512 * 512 * 3 + 7),
            (0x7f80_0000_0000, 512 * 512 * 512),
            (0x5555_5555_5000, 100_000),
        ] {
            let value = record(start, pages, true);
            let number = map.insert(&mut spare, value).expect("room");
            let end = start + value.bytes;
            for inside in [start, start + value.bytes / 2, end - 1] {
                assert_eq!(map.find(inside), Entry::Live(value), "{inside:#x}");
            }
            assert_ne!(map.find(start - 1), Entry::Live(value));
            assert_eq!(map.find(end), Entry::Nothing, "{end:#x}");
            map.remove(&mut spare, number);
            assert_eq!(map.find(start), Entry::Ended);
            assert_eq!(map.find(end - 1), Entry::Ended);
            assert_eq!(map.find(end), Entry::Nothing);
        }
        assert_eq!(map.find(u64::MAX), Entry::Nothing);
    }

    /// Random ranges against a list.
    #[test]
    fn as_a_list_would() {
        let (map, mut spare) = opened();
        let mut live: Vec<(Record, u32)> = Vec::new();
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let base = 0x7e00_0000_0000_u64;
        for _ in 0..20_000 {
            let pages = if random() % 4 == 0 {
                random() % (1 << 19)
            } else {
                random() % 700
            } + 1;
            let start = base + random() % (1 << 22) * PAGE;
            let value = record(start, pages, random() % 2 == 0);
            let hit = live.iter().position(|(other, _)| {
                start < other.start + other.bytes && other.start < start + value.bytes
            });
            match hit {
                Some(i) => {
                    let (old, number) = live.swap_remove(i);
                    assert_eq!(map.find(old.start + old.bytes - 1), Entry::Live(old));
                    map.remove(&mut spare, number);
                }
                None => live.push((value, map.insert(&mut spare, value).expect("room"))),
            }
            let asked = base + random() % (1 << 22) * PAGE + random() % PAGE;
            let expected = live
                .iter()
                .find(|(range, _)| asked.wrapping_sub(range.start) < range.bytes);
            match (map.find(asked), expected) {
                (Entry::Live(got), Some((want, _))) => assert_eq!(got, *want),
                (Entry::Live(got), None) => panic!("{asked:#x} is not in {got:?}"),
                (_, Some((want, _))) => panic!("{asked:#x} is in {want:?}"),
                (_, None) => {}
            }
        }
        // Tables are used again: no more than there are places for.
        assert!(spare.tables_made < 20_000, "{}", spare.tables_made);
    }

    /// Readers never see a range that is not one of those that were there.
    #[test]
    fn readers_beside_a_writer() {
        let (map, mut spare) = opened();
        let base = 0x7d00_0000_0000_u64;
        let kept = record(base, 3, false);
        map.insert(&mut spare, kept).expect("room");
        let over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        assert_eq!(map.find(base + 2 * PAGE), Entry::Live(kept));
                        match map.find(base + 5 * PAGE) {
                            Entry::Live(got) => {
                                assert_eq!(got.bytes, (got.start - base) * 1000);
                            }
                            Entry::Nothing | Entry::Ended => {}
                        }
                    }
                });
            }
            for round in 0..20_000_u64 {
                let start = base + (round % 2 + 4) * PAGE;
                let value = Record {
                    start,
                    bytes: (start - base) * 1000,
                    mapped: true,
                };
                let number = map.insert(&mut spare, value).expect("room");
                map.remove(&mut spare, number);
            }
            over.store(true, Ordering::Relaxed);
        });
    }
}
