//! Virtual memory against a model: reservations, handles, mappings, rights and bytes in sorted maps, and
//! every question answered by looking at all of them.
//!
//! Memory is filled in cells, so that the model needs one byte for each.

use std::collections::BTreeMap;
use std::ffi::c_void;

use cannery_abi as abi;

use crate::api;
use crate::config::Config;
use crate::journal::Journal;
use crate::model::{NO_MEMORY, PARAM_INVALID};
use crate::source::Source;

const UNIT: u64 = 2 << 20;
/// Bytes that are filled alike.
const CELL: u64 = 256 << 10;
const MOST: usize = 24;

struct Memory {
    device: usize,
    bytes: u64,
    references: u32,
    cells: Vec<u8>,
}

struct Mapping {
    handle: u64,
    access: bool,
}

struct World {
    source: Source,
    reservations: BTreeMap<u64, u64>,
    memories: BTreeMap<u64, Memory>,
    mappings: BTreeMap<u64, Mapping>,
    /// Addresses and handles that were once something.
    gone: Vec<u64>,
    free: Vec<u64>,
    huge: i32,
    total: u64,
    journal: Journal,
}

/// Plays random calls. Returns how many were made, and how many kinds of answers there were.
pub(crate) fn play(config: &Config, seed: u64, steps: u64) -> (u64, usize) {
    let total = config.huge - config.giant;
    let mut world = World {
        source: Source::seeded(seed ^ 0x6d61_7070),
        reservations: BTreeMap::new(),
        memories: BTreeMap::new(),
        mappings: BTreeMap::new(),
        gone: vec![0x1000, UNIT],
        free: vec![total; config.devices],
        huge: if config.is_ddr() { 2 } else { 4 },
        total,
        journal: Journal::default(),
    };
    for device in (0..config.devices as i32).rev() {
        assert_eq!(api::aclrtSetDevice(device), 0);
    }
    // A step moves whole pages, so there are fewer of them.
    let steps = steps / 20;
    for _ in 0..steps {
        world.step();
    }
    world.finish();
    (steps, world.journal.kinds())
}

impl World {
    fn step(&mut self) {
        match self
            .source
            .weighted(&[8, 4, 12, 8, 20, 10, 4, 4, 14, 14, 6, 4])
        {
            0 => self.reserve(),
            1 => self.release(),
            2 => self.allocate(),
            3 => self.free(),
            4 => self.map(),
            5 => self.unmap(),
            6 => self.retain(),
            7 => self.give_rights(),
            8 => self.write(),
            9 => self.read(),
            10 => self.ask(),
            _ => self.figures(),
        }
        if self.source.once_in(400) {
            self.reset();
        }
    }

    fn key<V>(source: &mut Source, map: &BTreeMap<u64, V>) -> Option<u64> {
        let at = source.below(map.len() as u64) as usize;
        map.keys().nth(at).copied()
    }

    /// A key of the map, or sometimes something near it or long gone.
    fn about<V>(source: &mut Source, map: &BTreeMap<u64, V>, gone: &[u64]) -> u64 {
        match Self::key(source, map) {
            Some(key) if !source.once_in(6) => key,
            Some(key) if source.once_in(2) => key + source.pick(&[1, 4096, UNIT]),
            _ => source.pick(gone),
        }
    }

    fn bytes_of(&self, mapping: &Mapping) -> u64 {
        self.memories[&mapping.handle].bytes
    }

    /// The mapping that holds an address.
    fn at(&self, address: u64) -> Option<(u64, &Mapping)> {
        let (&start, mapping) = self.mappings.range(..=address).next_back()?;
        (address - start < self.bytes_of(mapping)).then_some((start, mapping))
    }

    /// Handle and number of every cell of a range; `None`: it may not be touched as a whole.
    fn cells(&self, address: u64, count: u64) -> Option<Vec<(u64, usize)>> {
        let device = |mapping: &Mapping| self.memories[&mapping.handle].device;
        let first = device(self.at(address)?.1);
        (0..count)
            .map(|number| {
                let address = address + number * CELL;
                let (start, mapping) = self.at(address)?;
                let good = mapping.access && device(mapping) == first;
                good.then_some((mapping.handle, ((address - start) / CELL) as usize))
            })
            .collect()
    }

    fn forget_unused(&mut self, handle: u64) {
        let mapped = self
            .mappings
            .values()
            .any(|mapping| mapping.handle == handle);
        if !mapped && self.memories[&handle].references == 0 {
            let memory = self.memories.remove(&handle).expect("found just now");
            self.free[memory.device] += memory.bytes;
            self.gone.push(handle);
        }
    }

    fn reserve(&mut self) {
        if self.reservations.len() == MOST {
            return;
        }
        let size = self.source.below(6 * UNIT) + 1;
        let mut out = std::ptr::null_mut();
        let code =
            api::aclrtReserveMemAddress(&raw mut out, size as usize, 0, std::ptr::null_mut(), 0);
        self.journal.judge(format!("reserve {size}"), code, 0);
        let (start, bytes) = (out as u64, size.next_multiple_of(UNIT));
        let clear = self
            .reservations
            .iter()
            .all(|(&at, &taken)| start + bytes <= at || at + taken <= start);
        assert!(
            clear && start.is_multiple_of(UNIT),
            "reserved at {start:#x}"
        );
        self.reservations.insert(start, bytes);
    }

    fn release(&mut self) {
        let start = Self::about(&mut self.source, &self.reservations, &self.gone);
        let found = self.reservations.get(&start).copied();
        let free =
            found.is_some_and(|bytes| self.mappings.range(start..start + bytes).next().is_none());
        let code = api::aclrtReleaseMemAddress(start as *mut c_void);
        self.journal.judge(
            format!("release {start:#x}"),
            code,
            if free { 0 } else { PARAM_INVALID },
        );
        if free {
            self.reservations.remove(&start);
            self.gone.push(start);
        }
    }

    fn allocate(&mut self) {
        let device = self.source.below(self.free.len() as u64) as usize;
        let size = self.source.below(4 * UNIT) + 1;
        let bytes = size.next_multiple_of(UNIT);
        let property = abi::aclrtPhysicalMemProp {
            handleType: abi::ACL_MEM_HANDLE_TYPE_NONE,
            allocationType: abi::ACL_MEM_ALLOCATION_TYPE_PINNED,
            memAttr: self.source.pick(&[
                abi::ACL_MEM_HUGE,
                abi::ACL_HBM_MEM_HUGE,
                abi::ACL_HBM_MEM_NORMAL,
            ]),
            location: abi::aclrtMemLocation {
                id: device as u32,
                r#type: abi::ACL_MEM_LOCATION_TYPE_DEVICE,
            },
            reserve: 0,
        };
        let mut out = std::ptr::null_mut();
        let code = api::aclrtMallocPhysical(&raw mut out, size as usize, &raw const property, 0);
        let fits = bytes <= self.free[device];
        self.journal.judge(
            format!("physical {size} on {device}"),
            code,
            if fits { 0 } else { NO_MEMORY },
        );
        assert_eq!(!out.is_null(), fits, "the output of aclrtMallocPhysical");
        if fits {
            self.free[device] -= bytes;
            let memory = Memory {
                device,
                bytes,
                references: 1,
                cells: vec![0; (bytes / CELL) as usize],
            };
            let old = self.memories.insert(out as u64, memory);
            assert!(old.is_none(), "the handle {out:?} twice");
        }
    }

    fn free(&mut self) {
        let handle = Self::about(&mut self.source, &self.memories, &self.gone);
        let held = self
            .memories
            .get_mut(&handle)
            .filter(|memory| memory.references > 0);
        let right = if held.is_some() { 0 } else { PARAM_INVALID };
        if let Some(memory) = held {
            memory.references -= 1;
            self.forget_unused(handle);
        }
        let code = api::aclrtFreePhysical(handle as *mut c_void);
        self.journal.judge(format!("free {handle:#x}"), code, right);
    }

    fn map(&mut self) {
        let handle = Self::about(&mut self.source, &self.memories, &self.gone);
        let place = Self::about(&mut self.source, &self.reservations, &self.gone);
        let address = place + self.source.pick(&[0, 0, UNIT, 2 * UNIT, 3 * UNIT, CELL]);
        let memory = self.memories.get(&handle);
        let held = memory.is_some_and(|memory| memory.references > 0);
        let (bytes, device) = memory.map_or((UNIT, 0), |memory| (memory.bytes, memory.device));
        let size = if self.source.once_in(16) {
            bytes + UNIT
        } else {
            bytes
        };
        let inside = self
            .reservations
            .iter()
            .find(|&(&start, &reserved)| start <= address && address + bytes <= start + reserved);
        let right = inside.is_some_and(|(&start, &reserved)| {
            let overlaps = |(&at, mapping): (&u64, &Mapping)| {
                at < address + bytes && address < at + self.bytes_of(mapping)
            };
            let another = |mapping: &Mapping| self.memories[&mapping.handle].device != device;
            !self.mappings.iter().any(overlaps)
                && !self
                    .mappings
                    .range(start..start + reserved)
                    .any(|(_, mapping)| another(mapping))
        }) && held
            && size == bytes
            && address.is_multiple_of(UNIT);
        let access = !self.source.once_in(4);
        let call = if access {
            api::aclrtMapMem
        } else {
            api::aclrtMemMapNoAccess
        };
        let code = call(
            address as *mut c_void,
            size as usize,
            0,
            handle as *mut c_void,
            0,
        );
        let what = format!("map {handle:#x} at {address:#x}, {size} bytes, access {access}");
        self.journal
            .judge(what, code, if right { 0 } else { PARAM_INVALID });
        if right {
            self.mappings.insert(address, Mapping { handle, access });
        }
    }

    fn unmap(&mut self) {
        let start = Self::about(&mut self.source, &self.mappings, &self.gone);
        let right = if self.mappings.contains_key(&start) {
            0
        } else {
            PARAM_INVALID
        };
        let code = api::aclrtUnmapMem(start as *mut c_void);
        self.journal.judge(format!("unmap {start:#x}"), code, right);
        if let Some(mapping) = self.mappings.remove(&start) {
            self.forget_unused(mapping.handle);
        }
    }

    fn retain(&mut self) {
        let start = Self::about(&mut self.source, &self.mappings, &self.gone);
        let found = self.mappings.get(&start).map(|mapping| mapping.handle);
        let mut out = std::ptr::null_mut();
        let code = api::aclrtMemRetainAllocationHandle(start as *mut c_void, &raw mut out);
        self.journal.judge(
            format!("retain {start:#x}"),
            code,
            if found.is_some() { 0 } else { PARAM_INVALID },
        );
        assert_eq!(
            out as u64,
            found.unwrap_or(0),
            "the handle behind {start:#x}"
        );
        if let Some(memory) = self.memories.get_mut(&(out as u64)) {
            memory.references += 1;
        }
    }

    fn give_rights(&mut self) {
        let start = Self::about(&mut self.source, &self.mappings, &self.gone);
        let bytes = self
            .mappings
            .get(&start)
            .map(|mapping| self.bytes_of(mapping));
        let wrong = self.source.once_in(4);
        let size = bytes.unwrap_or(UNIT) + if wrong { 4096 } else { 0 };
        let mut rights = abi::aclrtMemAccessDesc {
            flags: abi::ACL_RT_MEM_ACCESS_FLAGS_READWRITE,
            location: abi::aclrtMemLocation {
                id: 0,
                r#type: abi::ACL_MEM_LOCATION_TYPE_DEVICE,
            },
            rsv: [0; 12],
        };
        let right = bytes.is_some() && !wrong;
        let code = api::aclrtMemSetAccess(start as *mut c_void, size as usize, &raw mut rights, 1);
        self.journal.judge(
            format!("rights {start:#x}"),
            code,
            if right { 0 } else { PARAM_INVALID },
        );
        if right && let Some(mapping) = self.mappings.get_mut(&start) {
            mapping.access = true;
        }
    }

    /// A range of cells somewhere among the mappings.
    fn range(&mut self) -> Option<(u64, u64)> {
        let start = Self::key(&mut self.source, &self.mappings)?;
        let start = start + self.source.below(9) * CELL;
        Some((start, self.source.below(20) + 1))
    }

    fn write(&mut self) {
        let Some((start, count)) = self.range() else {
            return;
        };
        let cells = self.cells(start, count);
        let (value, len) = (self.source.below(256) as u8, (count * CELL) as usize);
        let to = start as *mut c_void;
        let code = if self.source.once_in(2) {
            api::aclrtMemset(to, len, i32::from(value), len)
        } else {
            let bytes = vec![value; len];
            api::aclrtMemcpy(to, len, bytes.as_ptr().cast(), len, 1)
        };
        self.journal.judge(
            format!("write {start:#x}, {count} cells"),
            code,
            if cells.is_some() { 0 } else { PARAM_INVALID },
        );
        for (handle, number) in cells.into_iter().flatten() {
            self.memories.get_mut(&handle).expect("mapped").cells[number] = value;
        }
    }

    fn read(&mut self) {
        let Some((start, count)) = self.range() else {
            return;
        };
        let len = (count * CELL) as usize;
        let mut bytes = vec![0xa5_u8; len];
        let code = api::aclrtMemcpy(bytes.as_mut_ptr().cast(), len, api::pointer(start), len, 2);
        let cells = self.cells(start, count);
        self.journal.judge(
            format!("read {start:#x}, {count} cells"),
            code,
            if cells.is_some() { 0 } else { PARAM_INVALID },
        );
        for (number, cell) in bytes.chunks(CELL as usize).enumerate() {
            let want = cells.as_ref().map_or(0xa5, |cells| {
                let (handle, at) = cells[number];
                self.memories[&handle].cells[at]
            });
            assert!(
                cell.iter().all(|&byte| byte == want),
                "cell {number} of {start:#x} is {:#04x} ..., must be {want:#04x}; last steps:\n{}",
                cell[0],
                self.journal.last()
            );
        }
    }

    fn ask(&mut self) {
        let start = Self::about(&mut self.source, &self.mappings, &self.gone);
        let address = start + self.source.pick(&[0, 1, 4096, UNIT - 1, UNIT]);
        let found = self
            .at(address)
            .map(|(start, mapping)| (start, self.bytes_of(mapping)));
        let (mut base, mut size) = (std::ptr::null_mut(), 0);
        let code =
            api::aclrtMemGetAddressRange(address as *mut c_void, &raw mut base, &raw mut size);
        self.journal.judge(
            format!("range of {address:#x}"),
            code,
            if found.is_some() { 0 } else { PARAM_INVALID },
        );
        assert_eq!(
            (base as u64, size as u64),
            found.unwrap_or((0, 0)),
            "the range of {address:#x}"
        );
    }

    fn figures(&mut self) {
        let device = self.source.below(self.free.len() as u64) as usize;
        assert_eq!(api::aclrtSetDevice(device as i32), 0);
        let (mut free, mut total) = (0usize, 0usize);
        let code = api::aclrtGetMemInfo(self.huge, &raw mut free, &raw mut total);
        self.journal.judge(format!("figures of {device}"), code, 0);
        let right = (self.free[device], self.total);
        assert_eq!(
            (free as u64, total as u64),
            right,
            "figures of device {device}"
        );
    }

    /// Takes a device back: its memory and mappings are gone, reservations stay.
    fn reset(&mut self) {
        let device = self.source.below(self.free.len() as u64) as usize;
        let code = api::aclrtResetDeviceForce(device as i32);
        self.journal.judge(format!("reset {device}"), code, 0);
        assert_eq!(api::aclrtSetDevice(device as i32), 0);
        let memories = &self.memories;
        let stays = |mapping: &Mapping| memories[&mapping.handle].device != device;
        self.gone.extend(
            self.mappings
                .iter()
                .filter(|(_, m)| !stays(m))
                .map(|(at, _)| *at),
        );
        self.mappings.retain(|_, mapping| stays(mapping));
        self.gone.extend(
            self.memories
                .iter()
                .filter(|(_, m)| m.device == device)
                .map(|(at, _)| *at),
        );
        self.memories.retain(|_, memory| memory.device != device);
        self.free[device] = self.total;
    }

    /// Gives everything back, and sees that nothing is left.
    fn finish(&mut self) {
        while let Some((&start, _)) = self.mappings.iter().next() {
            let handle = self.mappings[&start].handle;
            let code = api::aclrtUnmapMem(start as *mut c_void);
            self.journal
                .judge(format!("end: unmap {start:#x}"), code, 0);
            self.mappings.remove(&start);
            self.forget_unused(handle);
        }
        for (handle, memory) in std::mem::take(&mut self.memories) {
            for _ in 0..memory.references {
                let code = api::aclrtFreePhysical(handle as *mut c_void);
                self.journal
                    .judge(format!("end: free {handle:#x}"), code, 0);
            }
            self.free[memory.device] += memory.bytes;
        }
        for start in std::mem::take(&mut self.reservations).into_keys() {
            let code = api::aclrtReleaseMemAddress(start as *mut c_void);
            self.journal
                .judge(format!("end: release {start:#x}"), code, 0);
        }
        for _ in 0..2 * self.free.len() {
            self.figures();
        }
        assert!(
            self.free.iter().all(|free| *free == self.total),
            "the model itself is wrong"
        );
    }
}
