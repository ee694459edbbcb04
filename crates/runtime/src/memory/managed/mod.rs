//! Manual chapter: managed memory. aclrtMemAllocManaged, aclrtMemManagedAdvise,
//! aclrtMemManagedPrefetchAsync, aclrtMemManagedPrefetchBatchAsync, aclrtMemManagedGetAttr,
//! aclrtMemManagedGetAttrs. aclrtFree releases it.
//!
//! One memory file lies at the addresses and at their aliases, so host and device see the same bytes
//! at one address. It belongs to the process: no device, no reset takes it away.
//!
//! * **block**: one allocation; whole pages of 2 MiB.
//! * **page**: 2 MiB, with its policies and what is known of where its bytes are (see `page`).
//! * **touch**: a copy, fill, reduction or value task of a device reads or writes pages, which moves them
//!   there and charges the device. Touches count when the work is submitted.
//!
//! What the host touches is not seen: nothing faults. A page that has bytes without a touch that was
//! seen is the host's; a page that the host touches after a device stays charged to the device until
//! it is prefetched or released.
//!
//! The bytes never move in fact; only the books do.

mod page;
mod policy;
mod prefetch;

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cannery_abi as abi;
use cannery_observe::{Event, Family, PageKind, emit};

use self::page::{Counters, Ground, Page};
use super::areas::{NoArea, Piece, PieceId, Space, UNIT};
use super::free::freed_meanwhile;
use crate::device::Device;
use crate::error::{Error, Fault, Result, show_bytes};
use crate::os::map;
use crate::process::{Runtime, here};
use crate::stream::engine;

pub use policy::{Location, Query, advise, attribute, attributes};
pub use prefetch::{Batch, prefetch, prefetch_batch};

const PAGE: u64 = UNIT;
/// Where managed memory is on the real thing.
const BASE: u64 = 0x900_0000_0000;
/// Addresses of managed memory in a process.
const MOST: u64 = 3 << 40;
const LEAST: u64 = 1 << 30;

/// The managed memory of this process.
#[derive(Default)]
pub(crate) struct Managed {
    state: Mutex<State>,
    /// Whether there ever was some.
    any: AtomicBool,
}

#[derive(Default)]
struct State {
    home: Option<Home>,
    /// By first byte.
    blocks: BTreeMap<u64, Block>,
    /// Number of the last block.
    last: u64,
    counters: Counters,
}

/// The addresses, and the file behind them.
struct Home {
    file: OwnedFd,
    base: u64,
    bytes: u64,
    free: Space,
}

struct Block {
    /// Tells it from others at the same address.
    number: u64,
    bytes: u64,
    piece: PieceId,
    pages: Vec<u64>,
}

/// Numbers for reports, in bytes and pages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) blocks: u64,
    pub(crate) bytes: u64,
    /// By device.
    pub(crate) device_bytes: Vec<u64>,
    pub(crate) counters: Counters,
}

/// The machine around a page.
struct Around<'a> {
    devices: &'a [Device],
    counters: &'a mut Counters,
    file: &'a OwnedFd,
    /// Where the page is in the file.
    offset: u64,
}

impl Ground for Around<'_> {
    fn charge(&mut self, device: u8) -> bool {
        let store = self.devices.get(usize::from(device)).map(Device::store);
        store
            .flatten()
            .is_some_and(|store| store.charge_pool(PageKind::Huge, PAGE))
    }

    fn release(&mut self, device: u8) {
        let store = self.devices.get(usize::from(device)).map(Device::store);
        if let Some(store) = store.flatten() {
            store.release_pool(PageKind::Huge, PAGE);
        }
    }

    fn has_bytes(&mut self) -> bool {
        map::has_pages(self.file.as_fd(), self.offset, PAGE)
    }

    fn count(&mut self) -> &mut Counters {
        self.counters
    }
}

impl Home {
    fn open(runtime: &Runtime) -> std::result::Result<Home, NoArea> {
        let mut bytes = MOST;
        let region = runtime.areas.open_region(BASE, MOST);
        let base = loop {
            let reserved = match &region {
                Ok(region) => runtime.areas.reserve_in(*region, bytes, PAGE),
                // Something of the program is there: in the window, then.
                Err(_) => runtime.areas.reserve(bytes, PAGE),
            };
            match reserved {
                Ok(base) => break base,
                Err(error) if bytes <= LEAST => return Err(error),
                Err(_) => bytes /= 2,
            }
        };
        let file = map::memory_file(c"cannery-managed", bytes).map_err(NoArea::System)?;
        let mut free = Space::new(base);
        free.give(base, base + bytes);
        Ok(Home {
            file,
            base,
            bytes,
            free,
        })
    }

    /// Puts the file at addresses that were taken, on both sides.
    fn map(&self, runtime: &Runtime, start: u64, bytes: u64) -> std::io::Result<()> {
        let offset = start - self.base;
        let alias = start.wrapping_add(runtime.window.distance());
        for at in [alias, start] {
            map::map_shared(self.file.as_fd(), offset, at, bytes)?;
            map::keep_private(at, bytes);
        }
        Ok(())
    }

    /// Takes the file away again. What is queued still meets memory at the alias.
    fn unmap(&self, runtime: &Runtime, start: u64, bytes: u64) {
        let alias = start.wrapping_add(runtime.window.distance());
        if map::map_anonymous(alias, bytes).is_ok() {
            map::keep_private(alias, bytes);
        }
        map::reserve_again(start, bytes);
        // Fails only where holes are not known; then the bytes stay with the addresses.
        let _ = map::punch(self.file.as_fd(), start - self.base, bytes);
    }
}

impl State {
    /// Does something with every page of `[start, end)`, which lies in blocks.
    fn each_page(
        &mut self,
        runtime: &Runtime,
        start: u64,
        end: u64,
        mut work: impl FnMut(&mut Page, &mut dyn Ground),
    ) {
        let Some(home) = &self.home else { return };
        let first = start / PAGE * PAGE;
        let before = self.blocks.range(..=first).next_back().map(|(at, _)| *at);
        for (at, block) in self.blocks.range_mut(before.unwrap_or(first)..end) {
            let from = first.max(*at);
            let to = end.min(at + block.bytes);
            let mut page = from;
            while page < to {
                let mut around = Around {
                    devices: &runtime.devices,
                    counters: &mut self.counters,
                    file: &home.file,
                    offset: page - home.base,
                };
                let word = &mut block.pages[((page - at) / PAGE) as usize];
                let mut value = Page(*word);
                work(&mut value, &mut around);
                // Most of a large block was never touched: it stays as it was.
                if *word != value.0 {
                    *word = value.0;
                }
                page += PAGE;
            }
        }
    }

    /// Whether all of a range lies in blocks, without gaps.
    fn covers(&self, start: u64, end: u64) -> bool {
        let mut reached = start;
        while reached < end {
            match self.blocks.range(..=reached).next_back() {
                Some((at, block)) if reached < at + block.bytes => reached = at + block.bytes,
                _ => return false,
            }
        }
        true
    }
}

impl Managed {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether managed memory is, was or will be at an address.
    pub(crate) fn owns(&self, address: u64) -> bool {
        let state = self.state();
        let home = state.home.as_ref();
        home.is_some_and(|home| address.wrapping_sub(home.base) < home.bytes)
    }

    /// A device is reset: the bytes that it held are the host's.
    pub(crate) fn forget_device(&self, runtime: &Runtime, device: usize) {
        if !self.any.load(Ordering::Acquire) {
            return;
        }
        self.state()
            .each_page(runtime, 0, u64::MAX, |page, ground| {
                page.leave(1 << device, ground);
            });
    }

    pub(crate) fn totals(&self, devices: usize) -> Totals {
        let state = self.state();
        let mut totals = Totals {
            device_bytes: vec![0; devices],
            counters: state.counters,
            ..Totals::default()
        };
        for block in state.blocks.values() {
            totals.blocks += 1;
            totals.bytes += block.bytes;
            for page in &block.pages {
                let held = Page(*page).held();
                for (device, bytes) in totals.device_bytes.iter_mut().enumerate() {
                    *bytes += u64::from(held >> device & 1) * PAGE;
                }
            }
        }
        totals
    }
}

fn shortage(asked: u64, cause: String) -> Error {
    Fault::HostShortage { asked, cause }.into()
}

#[cold]
fn no_addresses(asked: u64, error: &NoArea) -> Error {
    let cause = match error {
        NoArea::System(error) => {
            format!(
                "the system gives none: {error}; raise the limits of addresses (ulimit -v), of open \
                 files (ulimit -n) or of mappings (vm.max_map_count)"
            )
        }
        NoArea::Taken | NoArea::Full => {
            "the addresses for managed memory are used up; release blocks with aclrtFree".to_owned()
        }
    };
    shortage(asked, cause)
}

/// aclrtMemAllocManaged: `size` bytes, rounded up to 2 MiB, at one address for the host and all devices.
/// Nothing is charged before a device touches it.
///
/// # Errors
/// 100000 for no place and a flag other than 1; 107000 for size 0; 107002 without a context; 207001 when
/// the 3 TiB of addresses of a process are used up.
pub fn allocate(out: Option<&mut u64>, size: u64, flag: u32) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("ptr"));
    };
    if flag != abi::ACL_RT_MEM_ATTACH_GLOBAL {
        return Err(Error::value(
            "flag",
            flag,
            "must be 1 (ACL_RT_MEM_ATTACH_GLOBAL)",
        ));
    }
    if size == 0 {
        return Err(Error::rt_value("size", 0, "a number of bytes above 0"));
    }
    let runtime = here()?.runtime;
    let mut guard = runtime.managed.state();
    let state = &mut *guard;
    let home = match &mut state.home {
        Some(home) => home,
        place => {
            let home = Home::open(runtime).map_err(|error| no_addresses(size, &error))?;
            place.insert(home)
        }
    };
    let bytes = size
        .checked_next_multiple_of(PAGE)
        .filter(|n| *n <= home.bytes);
    let room = bytes.and_then(|bytes| Some((home.free.take(bytes, PAGE)?, bytes)));
    let Some((start, bytes)) = room else {
        let used: u64 = state.blocks.values().map(|block| block.bytes).sum();
        let cause = format!(
            "a process has {} of addresses for managed memory, {} are in use, and no free run is so long; \
             release blocks with aclrtFree",
            show_bytes(home.bytes),
            show_bytes(used)
        );
        return Err(shortage(size, cause));
    };
    let piece = Piece {
        start,
        size: bytes,
        requested: size,
        family: Family::Managed,
        device: None,
        pages: PageKind::Huge,
        access: true,
        live: true,
        owner: 0,
    };
    let mapped = home.map(runtime, start, bytes).map_err(NoArea::System);
    let placed = mapped.and_then(|()| runtime.areas.put(&piece).ok_or(NoArea::Full));
    let piece = placed.map_err(|error| {
        home.unmap(runtime, start, bytes);
        home.free.give(start, start + bytes);
        no_addresses(size, &error)
    })?;
    state.last += 1;
    let block = Block {
        number: state.last,
        bytes,
        piece,
        pages: vec![0; (bytes / PAGE) as usize],
    };
    state.blocks.insert(start, block);
    drop(guard);
    runtime.managed.any.store(true, Ordering::Release);
    emit(|| Event::Alloc {
        address: start,
        requested: size,
        charged: 0,
        family: Family::Managed,
        pages: PageKind::Huge,
        device: -1,
    });
    *out = start;
    Ok(())
}

/// Releases the block that begins at `address`, for aclrtFree. `None`: no managed block begins there.
#[cold]
pub(crate) fn release(runtime: &Runtime, address: u64) -> Option<Result<()>> {
    if !runtime.managed.any.load(Ordering::Acquire) {
        return None;
    }
    let found = runtime.areas.find(address);
    found.filter(|(_, piece)| piece.family == Family::Managed && piece.start == address)?;
    let mut guard = runtime.managed.state();
    let state = &mut *guard;
    if !state.blocks.contains_key(&address) {
        return Some(Err(freed_meanwhile("devPtr", address)));
    }
    let end = state.blocks[&address].bytes + address;
    state.each_page(runtime, address, end, |page, ground| {
        if page.held() != 0 {
            page.leave(u16::MAX, ground);
        }
    });
    let block = state.blocks.remove(&address)?;
    runtime.areas.take(block.piece);
    // The addresses are nobody's yet; meanwhile others go on.
    drop(guard);
    let alias = address.wrapping_add(runtime.window.distance());
    if engine::any_active() {
        engine::let_go_of(alias, alias + block.bytes);
    }
    let mut guard = runtime.managed.state();
    if let Some(home) = &mut guard.home {
        home.unmap(runtime, address, block.bytes);
        home.free.give(address, address + block.bytes);
    }
    drop(guard);
    emit(|| Event::Free {
        address,
        family: Family::Managed,
    });
    Some(Ok(()))
}

/// Work of `device` on `bytes` bytes of managed memory at `address` is submitted: the pages come to it.
#[cold]
pub(crate) fn touched(runtime: &Runtime, device: usize, address: u64, bytes: u64, write: bool) {
    let end = address.saturating_add(bytes);
    runtime
        .managed
        .state()
        .each_page(runtime, address, end, |page, ground| {
            page.touch(device as u8, write, ground);
        });
}
