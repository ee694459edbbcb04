//! What exists: reservations, handles, mappings.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cannery_observe::PageKind;

use super::backing::{Backing, Files};
use super::properties::Home;
use crate::error::{Error, Result};
use crate::memory::areas::PieceId;
use crate::memory::sharing::key::Key;
use crate::process::Runtime;

/// Marks a number as the handle of physical memory.
const TAG: u64 = 0x00ca << 48;

/// See the module.
#[derive(Default)]
pub(crate) struct VirtualMemory {
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    /// By first byte.
    pub(super) reservations: BTreeMap<u64, Reservation>,
    pub(super) handles: HashMap<u64, Physical>,
    /// By first byte.
    pub(super) mappings: BTreeMap<u64, Mapping>,
    pub(super) files: Files,
    last: u64,
}

/// Addresses of the program.
pub(crate) struct Reservation {
    pub(super) bytes: u64,
    /// What was mapped there first decides what else may be, while anything is.
    pub(super) bound: Option<Bound>,
    pub(super) mappings: u32,
}

/// Memory of one device, or the host's; own or imported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(super) device: Option<usize>,
    pub(super) imported: bool,
}

/// What a handle stands for.
pub(crate) struct Physical {
    pub(crate) home: Home,
    pub(crate) pages: PageKind,
    /// Whole pages.
    pub(crate) bytes: u64,
    /// As read back.
    pub(crate) attribute: i32,
    pub(crate) backing: Backing,
    /// Whether another process made it; then it is charged there.
    pub(crate) imported: bool,
    /// Under which it was exported, or from which it was imported.
    pub(crate) key: Option<Key>,
    /// How often it has to be freed; 0: it lives only as long as it is mapped.
    pub(crate) references: u32,
    pub(crate) mappings: u32,
}

/// A handle somewhere in a reservation.
pub(crate) struct Mapping {
    pub(super) bytes: u64,
    pub(super) handle: u64,
    pub(super) piece: PieceId,
    /// Bit i: device i may touch it.
    pub(super) devices: u16,
    /// Whether the host may.
    pub(super) host: bool,
}

impl VirtualMemory {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl VirtualMemory {
    /// Whether an address lies in a reservation, mapped or not.
    pub(crate) fn is_reserved(&self, address: u64) -> bool {
        let state = self.state();
        let found = state.reservations.range(..=address).next_back();
        found.is_some_and(|(start, found)| address - start < found.bytes)
    }
}

impl State {
    /// Keeps physical memory under a new handle.
    pub(crate) fn insert(&mut self, physical: Physical) -> u64 {
        self.last += 1;
        // Like a pointer: not every number is one.
        let handle = TAG | self.last << 4;
        self.handles.insert(handle, physical);
        handle
    }

    /// The memory of a handle that the program holds.
    pub(crate) fn held(&mut self, handle: u64) -> Result<&mut Physical> {
        match self.handles.get_mut(&handle) {
            Some(physical) if physical.references > 0 => Ok(physical),
            found => Err(Error::address(
                "handle",
                handle,
                if found.is_some() {
                    "this physical memory was freed already and lives only until it is unmapped; \
                     aclrtMemRetainAllocationHandle gives a new reference"
                } else {
                    "not a handle of physical memory: never made by aclrtMallocPhysical, freed already, or \
                     gone with its device"
                },
            )),
        }
    }

    /// The handle that the program holds for memory imported from a key.
    pub(super) fn imported_by(&self, key: &Key) -> Option<u64> {
        let held = |physical: &Physical| physical.imported && physical.references > 0;
        let mut handles = self.handles.iter();
        handles
            .find(|(_, physical)| physical.key == Some(*key) && held(physical))
            .map(|(handle, _)| *handle)
    }

    /// Takes physical memory away when nobody needs it any more, and its charge.
    pub(super) fn drop_unused(&mut self, runtime: &Runtime, handle: u64) {
        let unused = |physical: &Physical| physical.references == 0 && physical.mappings == 0;
        if !self.handles.get(&handle).is_some_and(unused) {
            return;
        }
        if let Some(physical) = self.handles.remove(&handle) {
            if let Some(key) = physical.key.filter(|_| !physical.imported) {
                runtime.sharing.exports.withdraw(&key);
            }
            self.files.give(physical.backing, physical.bytes);
            if let Home::Device(device) = physical.home
                && !physical.imported
                && let Some(store) = runtime.devices[device].store()
            {
                store.release_pool(physical.pages, physical.bytes);
            }
        }
    }

    /// The reservation that holds `[start, start + bytes)`, by its first byte.
    pub(super) fn reservation_of(&mut self, start: u64, bytes: u64) -> Option<&mut Reservation> {
        let (first, reservation) = self.reservations.range_mut(..=start).next_back()?;
        let inside = start.checked_add(bytes)? <= first + reservation.bytes;
        inside.then_some(reservation)
    }

    /// Mappings that have a byte in `[start, end)`.
    pub(super) fn mapped_between(&self, start: u64, end: u64) -> Vec<u64> {
        let before = self
            .mappings
            .range(..start)
            .next_back()
            .filter(|(at, mapping)| **at + mapping.bytes > start);
        let inside = self.mappings.range(start..end);
        before
            .into_iter()
            .chain(inside)
            .map(|(at, _)| *at)
            .collect()
    }
}

impl VirtualMemory {
    /// Takes the physical memory of a device away, and its mappings: the device was reset for the last
    /// time. Reservations stay; they are of no device.
    pub(crate) fn forget_device(&self, runtime: &Runtime, device: usize) {
        let mut state = self.state();
        let of_device: Vec<u64> = state
            .handles
            .iter()
            .filter(|(_, physical)| physical.home.device() == Some(device))
            .map(|(handle, _)| *handle)
            .collect();
        let mapped: Vec<u64> = state
            .mappings
            .iter()
            .filter(|(_, mapping)| of_device.contains(&mapping.handle))
            .map(|(start, _)| *start)
            .collect();
        for start in mapped {
            super::mapping::take_away(runtime, &mut state, start);
        }
        for handle in of_device {
            if let Some(physical) = state.handles.get_mut(&handle) {
                physical.references = 0;
            }
            state.drop_unused(runtime, handle);
        }
    }
}
