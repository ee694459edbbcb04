//! Objects behind handles. A handle is a number with a kind tag and a generation, looked up without
//! a lock: a stale one, or one of another kind, is found out and never followed.
//!
//! Objects are never given back to the allocator, only reused, so that a thread that looks at one
//! while another destroys it sees old or new contents, never freed memory.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::os::lock::QuickLock;

const CHUNK: usize = 256;
const CHUNKS: usize = 1024;
/// Generations in a handle; they wrap after so many reuses of one place.
const GENERATIONS: u32 = 1 << 27;

/// One kind of object.
pub(crate) struct Registry<T: 'static> {
    /// In the upper 16 bits of every handle.
    tag: u16,
    chunks: [OnceLock<Box<[Slot<T>]>>; CHUNKS],
    free: QuickLock<Free>,
}

struct Free {
    places: Vec<u32>,
    made: u32,
}

struct Slot<T> {
    /// Odd while the object is alive.
    generation: AtomicU32,
    object: T,
}

impl<T: Default + Sync> Registry<T> {
    pub(crate) const fn new(tag: u16) -> Self {
        Self {
            tag,
            chunks: [const { OnceLock::new() }; CHUNKS],
            free: QuickLock::new(Free {
                places: Vec::new(),
                made: 0,
            }),
        }
    }

    fn slot(&self, place: u32) -> Option<&Slot<T>> {
        self.chunks
            .get(place as usize / CHUNK)?
            .get()?
            .get(place as usize % CHUNK)
    }

    fn handle_of(&self, place: u32, generation: u32) -> u64 {
        u64::from(self.tag) << 48 | u64::from(generation) << 20 | u64::from(place)
    }

    /// Brings an object to life: `prepare` sets it up before its handle is valid. `None` when every
    /// place is taken.
    pub(crate) fn create(&'static self, prepare: impl FnOnce(&'static T)) -> Option<u64> {
        let mut free = self.free.lock();
        let place = match free.places.pop() {
            Some(place) => place,
            None => {
                let place = free.made;
                let chunk = self.chunks.get(place as usize / CHUNK)?;
                chunk.get_or_init(|| {
                    let slot = || Slot {
                        generation: AtomicU32::new(0),
                        object: T::default(),
                    };
                    std::iter::repeat_with(slot).take(CHUNK).collect()
                });
                free.made += 1;
                place
            }
        };
        drop(free);
        let slot = self.slot(place)?;
        prepare(&slot.object);
        let generation = (slot.generation.load(Ordering::Relaxed) + 1) % GENERATIONS;
        slot.generation.store(generation, Ordering::Release);
        Some(self.handle_of(place, generation))
    }

    /// The living object of a handle.
    #[inline]
    pub(crate) fn find(&'static self, handle: u64) -> Option<&'static T> {
        let slot = self.slot((handle & 0xf_ffff) as usize as u32)?;
        let generation = slot.generation.load(Ordering::Acquire);
        let same = handle == self.handle_of((handle & 0xf_ffff) as u32, generation);
        (same && generation % 2 == 1).then_some(&slot.object)
    }

    /// Ends an object. True for one of several racing callers; its place is reused after
    /// [`recycle`](Self::recycle).
    pub(crate) fn end(&'static self, handle: u64) -> bool {
        let Some(slot) = self.slot((handle & 0xf_ffff) as u32) else {
            return false;
        };
        let generation = (handle >> 20 & u64::from(GENERATIONS - 1)) as u32;
        let next = (generation + 1) % GENERATIONS;
        generation % 2 == 1
            && handle >> 48 == u64::from(self.tag)
            && slot
                .generation
                .compare_exchange(generation, next, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
    }

    /// In a forked child: every object belongs to the parent, and its place is not used again. Takes no
    /// lock.
    pub(crate) fn end_all(&'static self) {
        let chunks = self.chunks.iter().filter_map(OnceLock::get);
        for slot in chunks.flat_map(|chunk| chunk.iter()) {
            let generation = slot.generation.load(Ordering::Acquire);
            if generation % 2 == 1 {
                let next = (generation + 1) % GENERATIONS;
                slot.generation.store(next, Ordering::Release);
            }
        }
    }

    /// Gives the place of an ended object back.
    pub(crate) fn recycle(&'static self, handle: u64) {
        self.free.lock().places.push((handle & 0xf_ffff) as u32);
    }

    /// The object in a place, alive or not.
    pub(crate) fn at(&'static self, place: u32) -> Option<&'static T> {
        self.slot(place).map(|slot| &slot.object)
    }

    /// The objects of all places that were ever used, alive or not.
    pub(crate) fn all(&'static self) -> impl Iterator<Item = &'static T> {
        let made = self.free.lock().made;
        (0..made).filter_map(|place| self.at(place))
    }

    /// A number for the object of a handle that no other living one has.
    pub(crate) fn place_of(&self, handle: u64) -> u32 {
        (handle & 0xf_ffff) as u32
    }

    /// Every living object with its handle.
    pub(crate) fn living(&'static self) -> Vec<(u64, &'static T)> {
        let made = self.free.lock().made;
        let alive = |place: u32| {
            let slot = self.slot(place)?;
            let generation = slot.generation.load(Ordering::Acquire);
            (generation % 2 == 1).then(|| (self.handle_of(place, generation), &slot.object))
        };
        (0..made).filter_map(alive).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Registry;

    #[test]
    fn stale_and_foreign_handles_are_found_out() {
        static ONE: Registry<u8> = Registry::new(0xd1);
        static TWO: Registry<u8> = Registry::new(0xd2);
        let a = ONE.create(|_| ()).expect("room");
        let b = TWO.create(|_| ()).expect("room");
        assert!(ONE.find(a).is_some() && TWO.find(b).is_some());
        assert!(ONE.find(b).is_none() && TWO.find(a).is_none());
        for wild in [0, 1, 0x10, u64::MAX, a ^ 1, a + (2 << 20), 0x7fff_ffff_f000] {
            assert!(ONE.find(wild).is_none(), "{wild:#x}");
        }
        assert!(ONE.end(a) && !ONE.end(a));
        ONE.recycle(a);
        let again = ONE.create(|_| ()).expect("room");
        assert!(ONE.find(a).is_none() && ONE.find(again).is_some());
        assert_eq!(ONE.living().len(), 1);
    }
}
