//! Addresses of the devices outside of their ordinary memory, and what lies there: virtual memory,
//! pools, managed and imported memory.
//!
//! * **region**: a span of addresses that was taken from the system once: the window, and on demand
//!   others beyond it. The memory of every address is `distance` further, as for ordinary memory.
//! * **area**: what one reservation holds: whole 2 MiB of a region.
//! * **piece**: something usable inside an area, in whole 4 KiB. Finding the piece of an address is
//!   O(1) and takes no lock (see [`table`]).
//!
//! Memory of an area is anonymous until its owner puts something else there; it can be read and
//! written at its alias, so that work which is still queued when a piece or the area goes away meets
//! memory instead of a fault. In EP mode the addresses themselves stay out of the host's reach.
//!
//! Lock order: the areas, then the table. Neither is held while the owners of pieces hold theirs,
//! except from there.

mod space;
pub(crate) mod table;

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

pub(crate) use space::Space;
pub(crate) use table::{Piece, PieceId};
use table::{Region, Table};

use crate::os::host;
use crate::os::map::{self, Access};
use crate::window::Window;

/// Areas are whole units of so many bytes.
pub(crate) const UNIT: u64 = 2 << 20;
/// Address spaces that can be opened in a process; the window is the first.
const MOST_REGIONS: usize = 8;

/// Why there is no area.
#[derive(Debug)]
pub(crate) enum NoArea {
    /// The addresses asked for are taken, at least in part.
    Taken,
    /// No range of free addresses is so long.
    Full,
    /// The system refused.
    System(io::Error),
}

/// See the module.
pub(crate) struct Areas {
    distance: u64,
    /// Whether host and device share the addresses (RC mode).
    shared: bool,
    /// Whether the system counts every writable byte (vm.overcommit_memory=2).
    strict: bool,
    /// Addresses of the window that devices have.
    devices: (u64, u64),
    window: (u64, u64),
    /// First address of all regions, and the one behind the last: most host addresses are outside.
    /// Nothing lies between before the first region is opened.
    lowest: AtomicU64,
    highest: AtomicU64,
    table: OnceLock<Table>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Free addresses, by region.
    spaces: Vec<Space>,
    /// Start to bytes, and to what it took of its space (a gap behind it).
    areas: BTreeMap<u64, Area>,
}

#[derive(Clone, Copy)]
struct Area {
    bytes: u64,
    taken: u64,
    region: usize,
}

impl Areas {
    /// Nothing is committed before the first reservation.
    pub(crate) fn new(window: &Window, shared: bool) -> Areas {
        let (first, end) = window.devices_span();
        Areas {
            distance: window.distance(),
            shared,
            strict: host::overcommit_mode() == 2,
            devices: (first, end),
            window: (window.base(), window.base() + window.bytes()),
            lowest: AtomicU64::new(u64::MAX),
            highest: AtomicU64::new(0),
            table: OnceLock::new(),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The table, and the space of the window, once.
    fn opened(&self, state: &mut State) -> Result<&Table, NoArea> {
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        let (base, end) = self.window;
        let table = Table::new().map_err(NoArea::System)?;
        table.open(base, end - base).map_err(NoArea::System)?;
        let mut space = Space::new((base + end) / 2);
        space.give(base, self.devices.0);
        space.give(self.devices.1, end);
        state.spaces.push(space);
        self.widen(base, end);
        Ok(self.table.get_or_init(|| table))
    }

    /// A region comes. Under the lock of the state, before anybody knows of an area in it.
    fn widen(&self, base: u64, end: u64) {
        self.highest.fetch_max(end, Ordering::AcqRel);
        self.lowest.fetch_min(base, Ordering::AcqRel);
    }

    /// Whether a region may hold an address.
    #[inline(always)]
    fn may_cover(&self, address: u64) -> bool {
        address >= self.lowest.load(Ordering::Acquire)
            && address < self.highest.load(Ordering::Acquire)
    }

    /// Reserves `bytes` of addresses anywhere in the window, from a multiple of `align` on.
    ///
    /// # Errors
    /// `Full` when no free range is so long, `System` when the kernel refuses.
    pub(crate) fn reserve(&self, bytes: u64, align: u64) -> Result<u64, NoArea> {
        self.reserve_in(0, bytes, align)
    }

    /// As [`reserve`](Self::reserve), in a region that [`open_region`](Self::open_region) gave.
    pub(crate) fn reserve_in(&self, region: usize, bytes: u64, align: u64) -> Result<u64, NoArea> {
        let bytes = bytes.checked_next_multiple_of(UNIT).ok_or(NoArea::Full)?;
        let mut state = self.state();
        self.opened(&mut state)?;
        let space = &mut state.spaces[region];
        let align = align.max(UNIT);
        // With a gap where there is room for one: who runs past the end meets nobody.
        let (start, taken) = match space.take(bytes + UNIT, align) {
            Some(start) => (start, bytes + UNIT),
            None => (space.take(bytes, align).ok_or(NoArea::Full)?, bytes),
        };
        let area = Area {
            bytes,
            taken,
            region,
        };
        self.settle(&mut state, start, area)
    }

    /// Reserves `bytes` from `at` on, which lie in the window or are free in this process.
    ///
    /// # Errors
    /// `Taken` when they are not all free; `System`.
    pub(crate) fn reserve_at(&self, at: u64, bytes: u64) -> Result<u64, NoArea> {
        let bytes = bytes.checked_next_multiple_of(UNIT).ok_or(NoArea::Full)?;
        let end = at.checked_add(bytes).ok_or(NoArea::Taken)?;
        let mut state = self.state();
        let table = self.opened(&mut state)?;
        let region = match table.region_of(at) {
            Some(region) => region,
            None => self.open_locked(&mut state, at, bytes)?,
        };
        if !state.spaces[region].take_at(at, end) {
            return Err(NoArea::Taken);
        }
        let area = Area {
            bytes,
            taken: bytes,
            region,
        };
        self.settle(&mut state, at, area)
    }

    fn settle(&self, state: &mut State, start: u64, area: Area) -> Result<u64, NoArea> {
        let alias = start.wrapping_add(self.distance);
        // Fresh, rather than made accessible: what is mapped and taken away again later becomes one
        // with it, and the process does not run out of mappings.
        match map::map_anonymous(alias, area.bytes) {
            Ok(()) => {
                state.areas.insert(start, area);
                Ok(start)
            }
            Err(error) => {
                state.spaces[area.region].give(start, start + area.taken);
                Err(NoArea::System(error))
            }
        }
    }

    /// Takes a span of addresses outside of the window from the system, for good. Whoever asked for
    /// the same span before gets the same answer.
    ///
    /// # Errors
    /// `Taken` when something else in this process is there, or where its memory would be.
    pub(crate) fn open_region(&self, base: u64, bytes: u64) -> Result<usize, NoArea> {
        let mut state = self.state();
        let table = self.opened(&mut state)?;
        match table.region_of(base) {
            Some(region) => Ok(region),
            None => self.open_locked(&mut state, base, bytes),
        }
    }

    fn open_locked(&self, state: &mut State, base: u64, bytes: u64) -> Result<usize, NoArea> {
        let table = self.opened(state)?;
        if state.spaces.len() == MOST_REGIONS {
            return Err(NoArea::Full);
        }
        let taken = |_| NoArea::Taken;
        map::reserve(Some(base), bytes, Access::None).map_err(taken)?;
        let alias = base.wrapping_add(self.distance);
        if !self.shared {
            map::reserve(Some(alias), bytes, Access::None).map_err(|_| {
                map::release(base, bytes);
                NoArea::Taken
            })?;
            map::keep_private(alias, bytes);
        }
        map::keep_private(base, bytes);
        let region = table.open(base, bytes).map_err(NoArea::System)?;
        let mut space = Space::new(base);
        space.give(base, base + bytes);
        state.spaces.push(space);
        self.widen(base, base + bytes);
        Ok(region)
    }

    /// Gives an area back by its first byte; its owner removed all pieces. Returns its bytes; `None`:
    /// no area begins there.
    pub(crate) fn release(&self, start: u64) -> Option<u64> {
        let mut state = self.state();
        let area = state.areas.remove(&start)?;
        let alias = start.wrapping_add(self.distance);
        // Work may still be queued for it. Where every writable byte counts, it is on its own.
        if self.strict || map::map_anonymous(alias, area.bytes).is_err() {
            map::reserve_again(alias, area.bytes);
        }
        if !self.shared {
            map::reserve_again(start, area.bytes);
        }
        state.spaces[area.region].give(start, start + area.taken);
        Some(area.bytes)
    }

    /// Start and bytes of the area that holds an address.
    pub(crate) fn area_of(&self, address: u64) -> Option<(u64, u64)> {
        let state = self.state();
        let (start, area) = state.areas.range(..=address).next_back()?;
        (address - start < area.bytes).then_some((*start, area.bytes))
    }

    /// Publishes a piece: from now on its addresses lead to it. `None`: there are too many.
    pub(crate) fn put(&self, piece: &Piece) -> Option<PieceId> {
        self.table.get()?.put(piece)
    }

    /// Takes a piece away again.
    pub(crate) fn take(&self, id: PieceId) {
        if let Some(table) = self.table.get() {
            table.take(id);
        }
    }

    /// Whether the piece is somebody's: one that is not is as good as none to those who look.
    pub(crate) fn set_live(&self, id: PieceId, live: bool) {
        if let Some(table) = self.table.get() {
            table.set_live(id, live);
        }
    }

    /// Whether the piece may be touched.
    pub(crate) fn set_access(&self, id: PieceId, access: bool) {
        if let Some(table) = self.table.get() {
            table.set_access(id, access);
        }
    }

    /// Whether an address belongs to a region, so that no host memory of the program is there.
    #[inline(always)]
    pub(crate) fn covers(&self, address: u64) -> bool {
        self.may_cover(address) && self.has_region(address)
    }

    fn has_region(&self, address: u64) -> bool {
        self.table
            .get()
            .is_some_and(|table| table.region_of(address).is_some())
    }

    /// As [`find`](Self::find) and [`covers`](Self::covers) at once: `None` outside of every region.
    #[inline]
    pub(crate) fn look(&self, address: u64) -> Option<Option<(PieceId, Piece)>> {
        self.table.get()?.look(address)
    }

    /// The piece that holds an address, interior addresses included. Lock-free.
    #[inline]
    pub(crate) fn find(&self, address: u64) -> Option<(PieceId, Piece)> {
        self.table.get()?.find(address)
    }
}

impl Region {
    /// Bytes of a region from its slots.
    pub(super) fn bytes(&self) -> u64 {
        self.slots.len() as u64 * UNIT
    }
}
