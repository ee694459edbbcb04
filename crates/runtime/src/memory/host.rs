//! Manual chapter: host memory. aclrtMallocHost, aclrtMallocHostWithCfg, aclrtFreeHost,
//! aclrtFreeHostWithDevSync.
//!
//! Host memory is real memory of this process, locked when limits allow, and kept for reuse. It
//! survives device resets. In RC mode it is device memory: its bytes are charged to the device.

use std::sync::Arc;

use cannery_observe::{Event, Family, PageKind, emit};

use super::config::{self, APP_MODULE, Attribute};
use super::pins::{Budget, Pinned, Pins};
use super::store::{self, LARGEST_SMALL, Refusal, Released, Request, Store, charge_of};
use super::{free, guard, locate, malloc};
use crate::error::{Error, Fault, Result, show_bytes};
use crate::os::{self, map};
use crate::process::{Here, Runtime, current, current_of, here};
use crate::settings::Pin;
use crate::settings::profile::products_of;
use crate::stream::engine;

const PAGE: u64 = 4096;
/// Address space for host memory; halved until the system allows it.
const ROOM: u64 = 1 << 40;
const VALGRIND_ROOM: u64 = 1 << 30;
const LEAST_ROOM: u64 = 256 << 20;

/// The pinned memory of this process.
pub(crate) struct HostMemory {
    store: Store,
    base: u64,
    bytes: u64,
}

impl HostMemory {
    fn open(runtime: &Runtime) -> std::io::Result<HostMemory> {
        let mut bytes = ROOM;
        if os::host::overcommit_mode() == 2 {
            // Every byte of it counts against what the kernel promises.
            bytes = (os::host::available_memory().unwrap_or(1 << 30) / 4).next_power_of_two();
        }
        if os::tool::is_valgrind() {
            // Its leak check reads all of it.
            bytes = VALGRIND_ROOM;
        }
        let base = loop {
            match map::reserve(None, bytes, map::Access::ReadWrite) {
                Ok(base) => break base,
                Err(error) if bytes <= LEAST_ROOM => return Err(error),
                Err(_) => bytes /= 2,
            }
        };
        let pins = Pins::new(base, Arc::clone(runtime.lock_budget()));
        Ok(HostMemory {
            store: Store::for_host(base, bytes, pins)?,
            base,
            bytes,
        })
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Whether an address is among those that blocks come from.
    pub(crate) fn owns(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.bytes
    }

    pub(crate) fn pinned(&self) -> Pinned {
        self.store.pins().map(Pins::numbers).unwrap_or_default()
    }
}

impl Runtime {
    /// What may be locked of host memory, all kinds together.
    pub(crate) fn lock_budget(&self) -> &Arc<Budget> {
        self.lock_budget.get_or_init(|| {
            let limit = match (os::host::lock_limit(), self.settings.limits.lock) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            Arc::new(Budget::new(self.settings.pin, limit))
        })
    }

    fn host_memory(&'static self) -> Result<&'static HostMemory> {
        if let Some(host) = self.host.get() {
            return Ok(host);
        }
        let opened = HostMemory::open(self).map_err(|error| {
            Error::from(Fault::HostShortage {
                asked: LEAST_ROOM,
                cause: format!("no address space for host memory: {error}; raise ulimit -v"),
            })
        })?;
        // Two threads may both have opened one; the second reservation is never touched.
        Ok(self.host.get_or_init(|| opened))
    }
}

/// aclrtMallocHost: `size` bytes of page-locked host memory, at a multiple of 64; from 4 KiB of size
/// on at a page.
///
/// # Errors
/// 100000 for no place and size 0; 107002 without a context; 107000 for sizes that wrap; 207001 when
/// the host has not so much memory, or (CANNERY_PIN=strict) may not lock it.
#[inline(always)]
pub fn malloc_host(out: Option<&mut u64>, size: u64) -> Result<()> {
    let Some(out) = out else {
        return Err(no_address());
    };
    if size == 0 {
        return Err(no_size());
    }
    let here = here()?;
    *out = place(&here, size, Family::Host, APP_MODULE)?;
    Ok(())
}

/// The checks of aclrtMallocHostWithCfg that come before its configuration is read.
///
/// # Errors
/// 100000 for no place and size 0.
pub fn check_config_call(no_place: bool, size: u64) -> Result<()> {
    if no_place {
        return Err(Error::null("ptr"));
    }
    if size == 0 {
        return Err(Error::zero("size"));
    }
    Ok(())
}

/// aclrtMallocHostWithCfg: as [`malloc_host`], with attributes (`None`: no configuration).
///
/// # Errors
/// As [`malloc_host`]; 107000 for attributes that are not for host memory (found before the missing
/// context); 207000 for the VA flag where the product lacks it.
pub fn malloc_host_with_config(
    out: Option<&mut u64>,
    size: u64,
    attributes: Option<&[Attribute]>,
) -> Result<()> {
    check_config_call(out.is_none(), size)?;
    let Some(out) = out else {
        return Err(Error::null("ptr"));
    };
    let module = match attributes {
        Some(attributes) => config::for_host(current()?.settings.profile, attributes)?.module,
        None => APP_MODULE,
    };
    let here = here()?;
    *out = place(&here, size, Family::HostWithCfg, module)?;
    Ok(())
}

#[cold]
fn wraps(size: u64) -> Error {
    Error::rt_value(
        "size",
        size,
        "a size that does not wrap when it is rounded up to 32",
    )
}

#[inline(always)]
fn place(here: &Here, size: u64, family: Family, module: u8) -> Result<u64> {
    let Some(padded) = size.checked_next_multiple_of(32) else {
        return Err(wraps(size));
    };
    let store = here.runtime.host_memory()?.store();
    // Whole pages for whatever is large enough, so that direct file I/O takes them.
    let room = if size >= PAGE {
        padded.checked_next_multiple_of(PAGE).unwrap_or(padded)
    } else {
        padded
    };
    let request = Request {
        pages: PageKind::Normal,
        size: padded,
        requested: size,
        room,
        family,
        module,
    };
    if room <= LARGEST_SMALL
        && !here.runtime.is_rc()
        && let Some(address) = store.alloc_at_once(here.arena, &request)
    {
        made(&request, address);
        return Ok(address);
    }
    place_slowly(*here, store, request)
}

/// Everything but the usual case: large blocks, and RC mode.
#[inline(never)]
fn place_slowly(here: Here, store: &Store, mut request: Request) -> Result<u64> {
    guard::commit(request.requested)?;
    if here.runtime.is_rc() {
        charge_device(&here, &mut request)?;
    }
    match store.alloc(here.arena, &request) {
        Ok(address) => {
            made(&request, address);
            Ok(address)
        }
        Err(refusal) => {
            if here.runtime.is_rc() {
                here.store()?
                    .release_pool(PageKind::Normal, charge_of(PageKind::Normal, request.size));
            }
            Err(refused(store, request.requested, &refusal))
        }
    }
}

#[inline(always)]
fn made(request: &Request, address: u64) {
    emit(|| Event::Alloc {
        address,
        requested: request.requested,
        charged: charge_of(PageKind::Normal, request.size),
        family: request.family,
        pages: PageKind::Normal,
        device: -1,
    });
}

/// RC mode: the block is device memory in normal pages. Its module names the device, which gets the
/// bytes back.
fn charge_device(here: &Here, request: &mut Request) -> Result<()> {
    let device = here.store()?;
    request.module = here.device().index() as u8;
    if request.size < 1 << 46
        && device.charge_pool(PageKind::Normal, charge_of(PageKind::Normal, request.size))
    {
        return Ok(());
    }
    device.count_failure();
    Err(malloc::shortage(
        here.device().index() as u32,
        device,
        request,
        false,
        &Refusal::Memory,
    ))
}

#[cold]
fn refused(store: &Store, size: u64, refusal: &Refusal) -> Error {
    store.count_failure();
    let cause = match refusal {
        Refusal::Memory | Refusal::Addresses => {
            "the address space for host memory has no such run; release blocks with aclrtFreeHost"
                .to_owned()
        }
        Refusal::Pinning(error) => match store.pins() {
            Some(pins) => not_lockable(pins.budget(), error, size.next_multiple_of(1 << 16)),
            None => error.to_string(),
        },
    };
    Fault::HostShortage { asked: size, cause }.into()
}

/// Why `needed` bytes are not locked in strict mode, and what to do.
#[cold]
pub(crate) fn not_lockable(budget: &Budget, error: &std::io::Error, needed: u64) -> String {
    format!(
        "the pages may not be locked: {error}; limit {}, locked now {}, needed {}; raise the limit (ulimit \
         -l, or memlock in limits.conf), or set CANNERY_PIN=auto",
        budget.limit().map_or("none".to_owned(), show_bytes),
        show_bytes(budget.locked()),
        show_bytes(needed),
    )
}

/// aclrtFreeHost: releases a block of aclrtMallocHost or aclrtMallocHostWithCfg. Needs no context.
///
/// # Errors
/// 100000 for NULL; 107000 for everything that is not the first byte of such a block. Nothing
/// changes then.
#[inline(always)]
pub fn free_host(address: u64) -> Result<()> {
    if address == 0 {
        return Err(no_address());
    }
    release(current_of(const { products_of("aclrtFreeHost") })?, address)
}

/// aclrtFreeHostWithDevSync: as [`free_host`], after everything queued on the device is done.
///
/// # Errors
/// As [`free_host`], and 107002 without a context: the block stays.
pub fn free_host_with_sync(address: u64) -> Result<()> {
    if address == 0 {
        return Err(Error::null("hostPtr"));
    }
    let here = here()?;
    here.runtime.drain(here.device().index());
    release(here.runtime, address)
}

#[cold]
fn no_size() -> Error {
    Error::zero("size")
}

#[cold]
fn no_address() -> Error {
    Error::null("hostPtr")
}

/// Families that aclrtFreeHost takes.
const HOST: u16 = store::families(&[Family::Host, Family::HostWithCfg]);

#[inline(always)]
fn release(runtime: &'static Runtime, address: u64) -> Result<()> {
    if engine::any_active() {
        detach(runtime, address);
    }
    let released = runtime.host.get().and_then(|host| {
        host.store.release(address, HOST, |released| {
            if runtime.is_rc() {
                credit_device(runtime, released);
            }
            emit(|| Event::Free {
                address,
                family: released.family(),
            });
        })
    });
    match released {
        Some(()) => Ok(()),
        None => Err(not_released(runtime, address)),
    }
}

/// Queued copies may still need the block: they are made independent of it first.
#[cold]
fn detach(runtime: &Runtime, address: u64) {
    if let Ok(block) = locate::exact(runtime, "hostPtr", address, Family::is_host) {
        engine::let_go_of(block.start, block.start + block.size);
    }
}

fn credit_device(runtime: &Runtime, released: Released) {
    let device = runtime.devices.get(usize::from(released.module()));
    if let Some(store) = device.and_then(|device| device.store()) {
        store.release_pool(PageKind::Normal, released.charge);
    }
}

#[cold]
fn not_released(runtime: &Runtime, address: u64) -> Error {
    match locate::exact(runtime, "hostPtr", address, Family::is_host) {
        Ok(_) => free::freed_meanwhile("hostPtr", address),
        Err(error) => error,
    }
}

/// How pinning of the memory of aclrtMallocHost stands, for reports: mode, limit, locked bytes, bytes
/// that could not be locked.
pub(crate) fn pin_report(runtime: &Runtime) -> (Pin, Option<u64>, Pinned) {
    let budget = runtime.lock_budget();
    let pinned = runtime.host.get().map(HostMemory::pinned);
    (budget.mode(), budget.limit(), pinned.unwrap_or_default())
}
