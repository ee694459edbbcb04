//! Registered host memory and managed memory against a model: a list of registrations, a set of
//! policies for every page, and the bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;

use cannery_abi as abi;

use crate::api;
use crate::config::Config;
use crate::journal::Journal;
use crate::memory::{peek, poke};
use crate::model::{Code, PARAM_INVALID};
use crate::source::Source;

const PAGE: u64 = 4096;
const PAGES: u64 = 96;
const UNIT: u64 = 2 << 20;
const REGISTERED: Code = 507_910;
const NOT_REGISTERED: Code = 507_911;
const MAPPED: u32 = abi::ACL_HOST_REG_MAPPED as u32;
const PINNED: u32 = abi::ACL_HOST_REG_PINNED as u32;
/// What an attribute says when there is nothing to say.
const NONE: i32 = -2;

/// A registration: pages and whether the device has an address of it.
struct Range {
    pages: u64,
    mapped: bool,
}

/// Policies of 2 MiB of managed memory.
#[derive(Clone, Default)]
struct Page {
    read_mostly: bool,
    accessed: BTreeSet<i32>,
    preferred: Option<i32>,
    prefetched: Option<i32>,
    /// Its bytes were brought to the host.
    on_host: bool,
}

struct World {
    source: Source,
    devices: u64,
    /// Host memory of the program, and what it must hold.
    host: u64,
    shadow: Vec<u8>,
    ranges: BTreeMap<u64, Range>,
    /// Device memory as large, and what it must hold.
    device: u64,
    copy: Vec<u8>,
    stream: u64,
    has_managed: bool,
    blocks: BTreeMap<u64, Vec<Page>>,
    journal: Journal,
}

/// Plays random calls. Returns how many were made, and how many kinds of answers there were.
pub(crate) fn play(config: &Config, seed: u64, steps: u64) -> (u64, usize) {
    for device in (0..config.devices as i32).rev() {
        assert_eq!(api::aclrtSetDevice(device), 0);
    }
    if !config.has("aclrtHostRegisterV2") {
        assert_eq!(
            api::aclrtHostRegisterV2(PAGE as *mut c_void, PAGE, MAPPED),
            207_000
        );
        return (1, 1);
    }
    let bytes = (PAGES * PAGE) as usize;
    let room = vec![0u8; bytes + PAGE as usize].leak();
    let (mut device, mut stream) = (std::ptr::null_mut(), std::ptr::null_mut());
    if api::aclrtMalloc(&raw mut device, bytes, abi::ACL_MEM_MALLOC_NORMAL_ONLY) != 0 {
        let code = api::aclrtMalloc(&raw mut device, bytes, abi::ACL_MEM_MALLOC_HUGE_ONLY);
        assert_eq!(code, 0);
    }
    assert_eq!(api::aclrtMemset(device, bytes, 0, bytes), 0);
    assert_eq!(api::aclrtCreateStream(&raw mut stream), 0);
    let mut world = World {
        source: Source::seeded(seed ^ 0x6c65_6e74),
        devices: config.devices as u64,
        host: (room.as_ptr() as u64).next_multiple_of(PAGE),
        shadow: vec![0; bytes],
        ranges: BTreeMap::new(),
        device: device as u64,
        copy: vec![0; bytes],
        stream: stream as u64,
        has_managed: config.has("aclrtMemAllocManaged"),
        blocks: BTreeMap::new(),
        journal: Journal::default(),
    };
    let steps = steps / 5;
    for _ in 0..steps {
        world.step();
    }
    world.finish();
    (steps, world.journal.kinds())
}

fn place(id: i32) -> abi::aclrtMemManagedLocation {
    let kind = match id {
        -1 => abi::ACL_MEM_LOCATIONTYPE_HOST,
        _ => abi::ACL_MEM_LOCATIONTYPE_DEVICE,
    };
    abi::aclrtMemManagedLocation {
        r#type: kind,
        id: id.max(0),
    }
}

impl World {
    fn step(&mut self) {
        let managed = if self.has_managed { 4 } else { 0 };
        match self.source.weighted(&[
            6,
            6,
            4,
            6,
            6,
            3,
            3,
            managed,
            managed,
            3 * managed,
            3 * managed,
            2 * managed,
        ]) {
            0 => self.register(),
            1 => self.unregister(),
            2 => self.ask(),
            3 => self.copy_in(),
            4 => self.copy_out(),
            5 => self.copy_alias(),
            6 => self.write_through_alias(),
            7 => self.make(),
            8 => self.release(),
            9 => self.advise(),
            10 => self.attribute(),
            _ => self.prefetch(),
        }
    }

    fn page(&mut self) -> u64 {
        self.host + self.source.below(PAGES) * PAGE
    }

    fn holder(&self, address: u64) -> Option<(u64, &Range)> {
        let (&start, range) = self.ranges.range(..=address).next_back()?;
        (address < start + range.pages * PAGE).then_some((start, range))
    }

    fn register(&mut self) {
        let start = self.page();
        let most = (self.host + PAGES * PAGE - start) / PAGE;
        let pages = self.source.below(most.min(12)) + 1;
        let flags = self.source.pick(&[MAPPED, MAPPED, PINNED, MAPPED | PINNED]);
        let end = start + pages * PAGE;
        let overlaps = |(&at, range): (&u64, &Range)| at < end && start < at + range.pages * PAGE;
        let right = match self.ranges.iter().any(overlaps) {
            true => REGISTERED,
            false => 0,
        };
        let code = api::aclrtHostRegisterV2(start as *mut c_void, pages * PAGE, flags);
        self.journal.judge(
            format!("register {start:#x}, {pages} pages, {flags:#x}"),
            code,
            right,
        );
        if right == 0 {
            let mapped = flags & MAPPED != 0;
            self.ranges.insert(start, Range { pages, mapped });
        }
    }

    fn unregister(&mut self) {
        let at = self.source.below(self.ranges.len() as u64) as usize;
        let start = match self.ranges.keys().nth(at).copied() {
            Some(start) if !self.source.once_in(4) => start,
            _ => self.page(),
        };
        let right = match self.ranges.remove(&start) {
            Some(_) => 0,
            None => NOT_REGISTERED,
        };
        let code = api::aclrtHostUnregister(start as *mut c_void);
        self.journal
            .judge(format!("unregister {start:#x}"), code, right);
    }

    /// The device address, which is another one, and what the address is.
    fn ask(&mut self) {
        let address = self.page() + self.source.below(PAGE);
        let held = self.holder(address).map(|(_, range)| range.mapped);
        let mut out = std::ptr::null_mut();
        let code = api::aclrtHostGetDevicePointer(address as *mut c_void, &raw mut out, 0);
        let right = if held == Some(true) { 0 } else { PARAM_INVALID };
        self.journal
            .judge(format!("alias of {address:#x}"), code, right);
        assert_eq!(
            out.is_null(),
            right != 0,
            "the output of aclrtHostGetDevicePointer"
        );
        assert_ne!(out as u64, address, "host and device address are one");
        let mut found = abi::aclrtPtrAttributes {
            location: abi::aclrtMemLocation { id: 9, r#type: 9 },
            pageSize: 9,
            rsv: [9; 4],
        };
        let code = api::aclrtPointerGetAttributes(address as *const c_void, &raw mut found);
        self.journal
            .judge(format!("attributes of {address:#x}"), code, 0);
        let right = match held {
            Some(_) => (abi::ACL_MEM_LOCATION_TYPE_HOST, 4096),
            None => (abi::ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0),
        };
        assert_eq!(
            (found.location.r#type, found.pageSize),
            right,
            "{address:#x}"
        );
    }

    /// Offset and length of a piece of the memory.
    fn piece(&mut self) -> (usize, usize) {
        let whole = PAGES * PAGE;
        let from = self.source.below(whole);
        let len = self.source.size((whole - from).min(8 * PAGE));
        (from as usize, len as usize)
    }

    fn copy_in(&mut self) {
        let (from, len) = self.piece();
        let fresh: Vec<u8> = (0..len).map(|_| self.source.below(256) as u8).collect();
        poke(self.host + from as u64, &fresh);
        self.shadow[from..from + len].copy_from_slice(&fresh);
        let (to, at) = (self.device + from as u64, self.host + from as u64);
        let kind = abi::ACL_MEMCPY_HOST_TO_DEVICE;
        let code = api::aclrtMemcpy(to as *mut c_void, len, at as *const c_void, len, kind);
        self.journal
            .judge(format!("copy-in {from}, {len} bytes"), code, 0);
        self.copy[from..from + len].copy_from_slice(&fresh);
    }

    fn copy_out(&mut self) {
        let (from, len) = self.piece();
        let (at, to) = (self.device + from as u64, self.host + from as u64);
        let kind = abi::ACL_MEMCPY_DEVICE_TO_HOST;
        let code = api::aclrtMemcpy(to as *mut c_void, len, at as *const c_void, len, kind);
        self.journal
            .judge(format!("copy-out {from}, {len} bytes"), code, 0);
        self.shadow[from..from + len].copy_from_slice(&self.copy[from..from + len]);
        let whole = peek(self.host, PAGES * PAGE);
        assert!(
            whole == self.shadow,
            "host memory after a copy of {len} bytes to {from}"
        );
    }

    /// The device address of a registered page; `None`: it has none.
    fn alias(&mut self) -> Option<(u64, u64)> {
        let address = self.page();
        self.holder(address).filter(|(_, range)| range.mapped)?;
        let mut out = std::ptr::null_mut();
        let code = api::aclrtHostGetDevicePointer(address as *mut c_void, &raw mut out, 0);
        assert_eq!(code, 0, "aclrtHostGetDevicePointer");
        Some((address, out as u64))
    }

    /// Copies refuse the device address.
    fn copy_alias(&mut self) {
        let Some((_, alias)) = self.alias() else {
            return;
        };
        let kind = abi::ACL_MEMCPY_DEVICE_TO_DEVICE;
        let (to, from) = (self.device as *mut c_void, alias as *const c_void);
        let code = api::aclrtMemcpy(to, 64, from, 64, kind);
        self.journal
            .judge(format!("copy-alias {alias:#x}"), code, PARAM_INVALID);
    }

    /// What runs on the device reaches the host memory through it.
    fn write_through_alias(&mut self) {
        let Some((address, alias)) = self.alias() else {
            return;
        };
        let value = self.source.below(u64::MAX);
        let stream = self.stream as *mut c_void;
        let code = api::aclrtValueWrite(alias as *mut c_void, value, 0, stream);
        self.journal.judge(format!("write {alias:#x}"), code, 0);
        assert_eq!(api::aclrtSynchronizeStream(stream), 0);
        let at = (address - self.host) as usize;
        self.shadow[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        assert_eq!(peek(address, 8), value.to_ne_bytes(), "what a stream wrote");
    }

    // Managed memory.

    fn make(&mut self) {
        if self.blocks.len() == 6 {
            return;
        }
        let size = self.source.below(5 * UNIT) + 1;
        let mut out = std::ptr::null_mut();
        let code = api::aclrtMemAllocManaged(&raw mut out, size, 1);
        self.journal.judge(format!("make {size}"), code, 0);
        let (start, pages) = (out as u64, size.div_ceil(UNIT));
        let clear = |(&at, block): (&u64, &Vec<Page>)| {
            start + pages * UNIT <= at || at + block.len() as u64 * UNIT <= start
        };
        assert!(self.blocks.iter().all(clear), "{start:#x} overlaps a block");
        self.blocks
            .insert(start, vec![Page::default(); pages as usize]);
    }

    fn release(&mut self) {
        let at = self.source.below(self.blocks.len() as u64) as usize;
        let Some(start) = self.blocks.keys().nth(at).copied() else {
            return;
        };
        let inside = self.source.once_in(4);
        let address = if inside { start + PAGE } else { start };
        let code = api::aclrtFree(address as *mut c_void);
        let right = if inside { PARAM_INVALID } else { 0 };
        self.journal
            .judge(format!("release {address:#x}"), code, right);
        if !inside {
            self.blocks.remove(&start);
        }
    }

    /// A range of whole pages: block, first page, pages.
    fn range(&mut self) -> Option<(u64, usize, usize)> {
        let at = self.source.below(self.blocks.len() as u64) as usize;
        let (&start, pages) = self.blocks.iter().nth(at)?;
        let len = pages.len() as u64;
        let first = self.source.below(len);
        let count = self.source.below(len - first) + 1;
        Some((start, first as usize, count as usize))
    }

    fn location(&mut self) -> i32 {
        self.source.below(self.devices + 1) as i32 - 1
    }

    fn advise(&mut self) {
        let Some((start, first, count)) = self.range() else {
            return;
        };
        let advice = self.source.below(6) as i32;
        // Only the host is named as the place of the one copy that stays: no bytes ever leave it.
        let id = match advice {
            abi::ACL_MEM_ADVISE_UNSET_READ_MOSTLY => -1,
            _ => self.location(),
        };
        let (address, size) = (start + first as u64 * UNIT, count as u64 * UNIT);
        let code = api::aclrtMemManagedAdvise(address as *const c_void, size, advice, place(id));
        // A home is refused while bytes are on another side, unless they may be copied.
        let home = advice == abi::ACL_MEM_ADVISE_SET_PREFERRED_LOCATION && id >= 0;
        let elsewhere = |page: &Page| page.on_host && !page.read_mostly;
        let refused = home
            && self.blocks[&start][first..first + count]
                .iter()
                .any(elsewhere);
        let right = if refused { PARAM_INVALID } else { 0 };
        self.journal.judge(
            format!("advise {advice} {address:#x}, {count} pages, {id}"),
            code,
            right,
        );
        if refused {
            return;
        }
        let block = self.blocks.get_mut(&start).expect("chosen just now");
        for page in &mut block[first..first + count] {
            match advice {
                abi::ACL_MEM_ADVISE_SET_READ_MOSTLY => page.read_mostly = true,
                abi::ACL_MEM_ADVISE_UNSET_READ_MOSTLY => page.read_mostly = false,
                abi::ACL_MEM_ADVISE_SET_PREFERRED_LOCATION => page.preferred = Some(id),
                abi::ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION => page.preferred = None,
                abi::ACL_MEM_ADVISE_SET_ACCESSED_BY => _ = page.accessed.insert(id),
                _ => _ = page.accessed.remove(&id),
            }
        }
    }

    /// What is asked for can be read back at once. Nothing is there that could move.
    fn prefetch(&mut self) {
        let Some((start, first, count)) = self.range() else {
            return;
        };
        let (address, size) = (start + first as u64 * UNIT, count * UNIT as usize);
        let stream = self.stream as *mut c_void;
        let to = place(-1);
        let code = api::aclrtMemManagedPrefetchAsync(address as *const c_void, size, to, 0, stream);
        self.journal
            .judge(format!("prefetch {address:#x}, {count} pages"), code, 0);
        assert_eq!(api::aclrtSynchronizeStream(stream), 0);
        let block = self.blocks.get_mut(&start).expect("chosen just now");
        for page in &mut block[first..first + count] {
            (page.prefetched, page.on_host) = (Some(-1), true);
        }
    }

    fn attribute(&mut self) {
        let Some((start, first, count)) = self.range() else {
            return;
        };
        let pages = &self.blocks[&start][first..first + count];
        let common = |of: fn(&Page) -> Option<i32>| {
            let one = of(&pages[0]);
            one.filter(|_| pages.iter().all(|page| of(page) == one))
        };
        let id = |found: Option<i32>| found.unwrap_or(NONE);
        let kind = |found: Option<i32>| match found {
            None => abi::ACL_MEM_LOCATIONTYPE_INVALID,
            Some(id) => place(id).r#type,
        };
        let everybody = pages
            .iter()
            .skip(1)
            .fold(pages[0].accessed.clone(), |all, page| {
                all.intersection(&page.accessed).copied().collect()
            });
        let mut list: Vec<i32> = everybody.into_iter().collect();
        list.resize(4, NONE);
        let attribute = self.source.below(8) as i32 + 1;
        let right = match attribute {
            abi::ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY => {
                vec![i32::from(pages.iter().all(|page| page.read_mostly))]
            }
            abi::ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY => list,
            abi::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION
            | abi::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID => {
                vec![id(common(|page| page.preferred))]
            }
            abi::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE => {
                vec![kind(common(|page| page.preferred))]
            }
            abi::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE => {
                vec![kind(common(|page| page.prefetched))]
            }
            _ => vec![id(common(|page| page.prefetched))],
        };
        let mut got = vec![77; right.len()];
        let (address, size) = (start + first as u64 * UNIT, count * UNIT as usize);
        let place = got.as_mut_ptr().cast::<c_void>();
        let code = api::aclrtMemManagedGetAttr(
            attribute,
            address as *const c_void,
            size,
            place,
            4 * right.len(),
        );
        self.journal.judge(
            format!("attribute {attribute} of {address:#x}, {count} pages"),
            code,
            0,
        );
        let last = self.journal.last();
        assert_eq!(got, right, "attribute {attribute} of {address:#x}\n{last}");
    }

    /// Gives everything back.
    fn finish(&mut self) {
        for start in std::mem::take(&mut self.ranges).into_keys() {
            let code = api::aclrtHostUnregister(start as *mut c_void);
            self.journal
                .judge(format!("end: unregister {start:#x}"), code, 0);
        }
        for start in std::mem::take(&mut self.blocks).into_keys() {
            let code = api::aclrtFree(start as *mut c_void);
            self.journal
                .judge(format!("end: release {start:#x}"), code, 0);
        }
        assert!(peek(self.host, PAGES * PAGE) == self.shadow, "host memory");
        assert_eq!(api::aclrtDestroyStream(self.stream as *mut c_void), 0);
        assert_eq!(api::aclrtFree(self.device as *mut c_void), 0);
    }
}
