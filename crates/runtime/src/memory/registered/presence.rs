//! Whether registered memory is still there.
//!
//! The program may give memory back while it is registered, and only the system knows. It is asked
//! once for a registration in a tick of the coarse clock (1 to 10 ms, as the kernel was built), so that
//! small copies make no system call. Within the tick of a look that found the memory, a copy takes the
//! program at its word, like any C call.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Record;
use crate::os::{clock, map};

const SLOTS: usize = 64;
const PAGE_SHIFT: u32 = 12;

/// Looks that found everything there, by registration and tick. Registrations that share a slot cost
/// each other a look.
pub(super) struct Presence {
    slots: [AtomicU64; SLOTS],
}

impl Default for Presence {
    fn default() -> Self {
        Self {
            slots: [const { AtomicU64::new(0) }; SLOTS],
        }
    }
}

impl Presence {
    fn slot(&self, start: u64) -> &AtomicU64 {
        let page = start >> PAGE_SHIFT;
        &self.slots[(page ^ page >> 6 ^ page >> 12) as usize % SLOTS]
    }

    /// Whether `bytes` bytes at `address`, inside of the registration, are mapped.
    pub(super) fn check(&self, record: Record, address: u64, bytes: u64) -> bool {
        let slot = self.slot(record.start);
        let token = token(record.start, clock::coarse());
        if slot.load(Ordering::Relaxed) == token {
            return true;
        }
        if map::is_mapped(record.start, record.bytes) {
            slot.store(token, Ordering::Relaxed);
            return true;
        }
        // Parts may be gone that nobody asks for.
        map::is_mapped(address, bytes)
    }

    /// Forgets the looks at a registration that ends.
    pub(super) fn forget(&self, start: u64) {
        self.slot(start).store(0, Ordering::Relaxed);
    }
}

/// Stands for a registration and a tick.
fn token(start: u64, tick: u64) -> u64 {
    (start >> PAGE_SHIFT).wrapping_add(tick.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1 << 63
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::os::map::Access;

    #[test]
    fn memory_that_is_gone_is_noticed_in_the_next_tick() {
        let bytes = 4 << 20;
        let start = map::reserve(None, bytes, Access::ReadWrite).expect("free addresses");
        let record = Record {
            start,
            bytes,
            mapped: true,
        };
        let presence = Presence::default();
        assert!(presence.check(record, start + 4096, 64));
        map::release(start + 4096, 4096);
        let begun = Instant::now();
        while presence.check(record, start + 4096, 64) {
            assert!(begun.elapsed() < Duration::from_secs(1), "never noticed");
        }
        // What is left is as good as before, in every tick.
        assert!(presence.check(record, start, 4096));
        assert!(presence.check(record, start + 8192, bytes - 8192));
        assert!(!presence.check(record, start, 8192));
        map::release(start, bytes);
        assert!(!presence.check(record, start, 4096));
    }

    #[test]
    fn a_new_registration_at_the_same_place_is_looked_at() {
        let bytes = 1 << 20;
        let start = map::reserve(None, bytes, Access::ReadWrite).expect("free addresses");
        let record = Record {
            start,
            bytes,
            mapped: false,
        };
        let presence = Presence::default();
        assert!(presence.check(record, start, bytes));
        presence.forget(start);
        map::release(start, bytes);
        assert!(!presence.check(record, start, bytes));
    }
}
