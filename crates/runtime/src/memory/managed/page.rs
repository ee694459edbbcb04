//! What is known of one 2 MiB page of managed memory: where its bytes are, and the policies. In one
//! word, so that a table of a terabyte is small and begins as zeroes.

/// A place for bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Host,
    /// A NUMA node of the host.
    Node(u16),
    Device(u8),
}

impl Place {
    pub(super) fn device(self) -> Option<u8> {
        match self {
            Place::Device(device) => Some(device),
            Place::Host | Place::Node(_) => None,
        }
    }
}

/// Largest number of a NUMA node that fits.
pub(super) const MOST_NODES: u16 = 1 << 10;

// Bits 0 to 15: devices that hold the bytes.
const HOST: u64 = 1 << 16;
const READ_MOSTLY: u64 = 1 << 17;
const PREFERRED: u32 = 18;
const PREFETCHED: u32 = 30;
/// Kind (2 bits) and number (10 bits) of a place.
const PLACE_BITS: u32 = 12;
const PLACE_MASK: u64 = (1 << PLACE_BITS) - 1;
/// Bits from here on: devices for which it is mapped ahead; then the host.
const ACCESSED: u32 = 42;
const ACCESSED_HOST: u32 = ACCESSED + 16;

/// See the module. Zero: no bytes yet, no policies.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Page(pub(super) u64);

fn pack(place: Option<Place>) -> u64 {
    match place {
        None => 0,
        Some(Place::Device(device)) => 1 | u64::from(device) << 2,
        Some(Place::Host) => 2,
        Some(Place::Node(node)) => 3 | u64::from(node % MOST_NODES) << 2,
    }
}

fn unpack(bits: u64) -> Option<Place> {
    let number = (bits & PLACE_MASK) >> 2;
    match bits & 3 {
        1 => Some(Place::Device(number as u8)),
        2 => Some(Place::Host),
        3 => Some(Place::Node(number as u16)),
        _ => None,
    }
}

impl Page {
    /// Devices that hold the bytes, as a mask.
    pub(super) fn held(self) -> u16 {
        self.0 as u16
    }

    pub(super) fn is_on_host(self) -> bool {
        self.0 & HOST != 0
    }

    pub(super) fn is_read_mostly(self) -> bool {
        self.0 & READ_MOSTLY != 0
    }

    pub(super) fn set_read_mostly(&mut self, on: bool) {
        self.0 = self.0 & !READ_MOSTLY | if on { READ_MOSTLY } else { 0 };
    }

    pub(super) fn preferred(self) -> Option<Place> {
        unpack(self.0 >> PREFERRED)
    }

    pub(super) fn set_preferred(&mut self, place: Option<Place>) {
        self.0 = self.0 & !(PLACE_MASK << PREFERRED) | pack(place) << PREFERRED;
    }

    pub(super) fn prefetched(self) -> Option<Place> {
        unpack(self.0 >> PREFETCHED)
    }

    pub(super) fn set_prefetched(&mut self, place: Place) {
        self.0 = self.0 & !(PLACE_MASK << PREFETCHED) | pack(Some(place)) << PREFETCHED;
    }

    fn accessed_bit(place: Place) -> u64 {
        match place.device() {
            Some(device) => 1 << (ACCESSED + u32::from(device)),
            None => 1 << ACCESSED_HOST,
        }
    }

    pub(super) fn is_accessed_by(self, place: Place) -> bool {
        self.0 & Self::accessed_bit(place) != 0
    }

    pub(super) fn set_accessed_by(&mut self, place: Place, on: bool) {
        let bit = Self::accessed_bit(place);
        self.0 = self.0 & !bit | if on { bit } else { 0 };
    }

    /// All who it is mapped ahead for: devices as a mask, and the host.
    pub(super) fn accessed(self) -> (u16, bool) {
        (
            (self.0 >> ACCESSED) as u16,
            self.0 >> ACCESSED_HOST & 1 == 1,
        )
    }
}

/// How often bytes came into being and moved, in pages.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) first_touched_by_host: u64,
    pub(crate) first_touched_by_device: u64,
    pub(crate) moved_to_device: u64,
    pub(crate) moved_to_host: u64,
    /// Copies beside the first, of pages that are mostly read.
    pub(crate) duplicated: u64,
    /// Stayed on the host because the device was full.
    pub(crate) refused: u64,
}

/// What moving a page needs from outside.
pub(super) trait Ground {
    /// Charges a page to a device. False: it is full.
    fn charge(&mut self, device: u8) -> bool;
    /// Undoes it.
    fn release(&mut self, device: u8);
    /// Whether the page has bytes that nobody here has seen coming: the host's.
    fn has_bytes(&mut self) -> bool;
    fn count(&mut self) -> &mut Counters;
}

impl Page {
    /// Finds out what the host did unseen. Whether the page has bytes anywhere.
    pub(super) fn look(&mut self, ground: &mut dyn Ground) -> bool {
        if self.held() == 0 && !self.is_on_host() && ground.has_bytes() {
            self.0 |= HOST;
            ground.count().first_touched_by_host += 1;
        }
        self.held() != 0 || self.is_on_host()
    }

    /// Gives up the copies on all devices but `kept`.
    fn release_but(&mut self, kept: Option<u8>, ground: &mut dyn Ground) {
        for device in 0..16 {
            if self.held() >> device & 1 == 1 && kept != Some(device) {
                ground.release(device);
                self.0 &= !(1 << device);
            }
        }
    }

    /// A device reads or writes the page.
    pub(super) fn touch(&mut self, device: u8, write: bool, ground: &mut dyn Ground) {
        let had_bytes = self.look(ground);
        if write && self.is_read_mostly() {
            self.set_read_mostly(false);
            self.keep_one(self.writer_keeps(device), ground);
        }
        if self.held() >> device & 1 == 1 {
            return;
        }
        let me = Place::Device(device);
        let goal = match self.preferred() {
            Some(home) => home,
            None if had_bytes && self.is_accessed_by(me) => return,
            None => me,
        };
        // Whoever has a home elsewhere is reached there; a copy goes to whoever reads.
        let goal = if self.is_read_mostly() { me } else { goal };
        let moved = self.bring(goal, ground);
        if !had_bytes && moved {
            ground.count().first_touched_by_device += 1;
        }
    }

    /// Which copy stays when a device writes.
    fn writer_keeps(self, device: u8) -> Place {
        if self.held() >> device & 1 == 1 {
            Place::Device(device)
        } else if self.is_on_host() || self.held() == 0 {
            Place::Host
        } else {
            Place::Device(self.held().trailing_zeros() as u8)
        }
    }

    /// The bytes are at one place afterwards: where `place` has a copy, the others go.
    pub(super) fn keep_one(&mut self, place: Place, ground: &mut dyn Ground) {
        if self.held() == 0 && !self.is_on_host() {
            return;
        }
        match place.device() {
            Some(device) => {
                if self.held() >> device & 1 == 1 {
                    self.release_but(Some(device), ground);
                    self.0 &= !HOST;
                } else {
                    self.move_to(place, ground);
                }
            }
            None => {
                self.release_but(None, ground);
                self.0 |= HOST;
            }
        }
    }

    /// Brings the page to a place: as a copy beside the others when it is mostly read, else wholly.
    /// Whether it is there then.
    pub(super) fn bring(&mut self, place: Place, ground: &mut dyn Ground) -> bool {
        let had_bytes = self.look(ground);
        if !self.is_read_mostly() || !had_bytes {
            return self.move_to(place, ground);
        }
        match place.device() {
            Some(device) if self.held() >> device & 1 == 0 => {
                if !ground.charge(device) {
                    ground.count().refused += 1;
                    return false;
                }
                self.0 |= 1 << device;
                ground.count().duplicated += 1;
            }
            None if !self.is_on_host() => {
                self.0 |= HOST;
                ground.count().duplicated += 1;
            }
            _ => {}
        }
        true
    }

    fn move_to(&mut self, place: Place, ground: &mut dyn Ground) -> bool {
        let had_bytes = self.held() != 0 || self.is_on_host();
        match place.device() {
            Some(device) => {
                if self.held() >> device & 1 == 0 {
                    if !ground.charge(device) {
                        // The bytes are where they were; new ones come to the host.
                        ground.count().refused += 1;
                        if !had_bytes {
                            self.0 |= HOST;
                        }
                        return false;
                    }
                    self.0 |= 1 << device;
                    ground.count().moved_to_device += u64::from(had_bytes);
                }
                self.release_but(Some(device), ground);
                self.0 &= !HOST;
            }
            None => {
                ground.count().moved_to_host += u64::from(self.held() != 0 && !self.is_on_host());
                self.release_but(None, ground);
                self.0 |= HOST;
            }
        }
        true
    }

    /// The device is reset, or the page released: nothing of it is charged there any more.
    pub(super) fn leave(&mut self, devices: u16, ground: &mut dyn Ground) {
        for device in 0..16 {
            if self.held() & devices & 1 << device != 0 {
                ground.release(device);
                self.0 &= !(1 << device);
                if self.held() == 0 {
                    self.0 |= HOST;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Test {
        charged: [i64; 16],
        room: i64,
        bytes: bool,
        counters: Counters,
    }

    impl Ground for Test {
        fn charge(&mut self, device: u8) -> bool {
            let free = self.charged[usize::from(device)] < self.room;
            self.charged[usize::from(device)] += i64::from(free);
            free
        }
        fn release(&mut self, device: u8) {
            self.charged[usize::from(device)] -= 1;
        }
        fn has_bytes(&mut self) -> bool {
            self.bytes
        }
        fn count(&mut self) -> &mut Counters {
            &mut self.counters
        }
    }

    fn ground() -> Test {
        Test {
            room: 9,
            ..Test::default()
        }
    }

    #[test]
    fn first_touch_and_moves() {
        let mut world = ground();
        let mut page = Page::default();
        page.touch(0, true, &mut world);
        assert_eq!(
            (page.held(), world.counters.first_touched_by_device),
            (1, 1)
        );
        page.touch(1, false, &mut world);
        assert_eq!((page.held(), world.counters.moved_to_device), (2, 1));
        assert_eq!(world.charged[..2], [0, 1]);
        assert!(page.bring(Place::Host, &mut world));
        assert_eq!((page.held(), page.is_on_host()), (0, true));
        assert_eq!(world.counters.moved_to_host, 1);
        assert_eq!(world.charged, [0; 16]);
    }

    #[test]
    fn bytes_that_the_host_wrote_unseen() {
        let mut world = Test {
            bytes: true,
            ..ground()
        };
        let mut page = Page::default();
        page.touch(3, false, &mut world);
        let counters = world.counters;
        assert_eq!(
            (counters.first_touched_by_host, counters.moved_to_device),
            (1, 1)
        );
        assert_eq!(counters.first_touched_by_device, 0);
    }

    #[test]
    fn mostly_read_pages_have_copies_until_somebody_writes() {
        let mut world = ground();
        let mut page = Page::default();
        page.touch(0, true, &mut world);
        page.set_read_mostly(true);
        page.touch(1, false, &mut world);
        page.touch(2, false, &mut world);
        assert_eq!((page.held(), world.counters.duplicated), (7, 2));
        page.touch(1, true, &mut world);
        assert_eq!((page.held(), page.is_read_mostly()), (2, false));
        assert_eq!(world.charged[..3], [0, 1, 0]);
    }

    #[test]
    fn a_full_device_leaves_the_bytes_where_they_are() {
        let mut world = Test::default();
        let mut page = Page::default();
        page.touch(0, true, &mut world);
        assert_eq!((page.held(), page.is_on_host()), (0, true));
        assert_eq!(world.counters.refused, 1);
        assert_eq!(world.charged, [0; 16]);
    }

    #[test]
    fn homes_and_mapping_ahead() {
        let mut world = ground();
        let mut page = Page::default();
        page.set_preferred(Some(Place::Device(2)));
        page.touch(0, true, &mut world);
        assert_eq!(page.held(), 4, "at home");
        page.set_preferred(None);
        page.set_accessed_by(Place::Device(0), true);
        page.touch(0, true, &mut world);
        assert_eq!(page.held(), 4, "reached where it is");
        page.set_accessed_by(Place::Device(0), false);
        page.touch(0, true, &mut world);
        assert_eq!(page.held(), 1);
        page.leave(1, &mut world);
        assert_eq!((page.held(), page.is_on_host()), (0, true));
        assert_eq!(world.charged, [0; 16]);
    }

    #[test]
    fn policies_do_not_disturb_each_other() {
        let mut page = Page::default();
        page.set_preferred(Some(Place::Node(1023)));
        page.set_prefetched(Place::Device(15));
        page.set_accessed_by(Place::Device(15), true);
        page.set_accessed_by(Place::Host, true);
        page.set_read_mostly(true);
        assert_eq!(page.preferred(), Some(Place::Node(1023)));
        assert_eq!(page.prefetched(), Some(Place::Device(15)));
        assert_eq!(page.accessed(), (1 << 15, true));
        assert_eq!((page.held(), page.is_on_host()), (0, false));
        page.set_preferred(None);
        page.set_read_mostly(false);
        assert_eq!((page.preferred(), page.is_read_mostly()), (None, false));
        assert_eq!(page.prefetched(), Some(Place::Device(15)));
    }
}
