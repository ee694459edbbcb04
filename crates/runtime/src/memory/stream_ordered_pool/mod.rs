//! Manual chapter: stream-ordered memory pools (910B). Which memory serves a request is decided by
//! [`cannery_pool`]; here it meets addresses, the memory of the device and the streams.
//!
//! * A pool has an **area** of addresses, twice as many as it may have memory. Its memory is charged
//!   to the device as it is taken (2 MiB pages, and normal ones when those run out) and released when
//!   it is given up.
//! * A release on a stream is a **ticket**: the stream, and how much was queued on it. No task is
//!   queued for it; whether it is done is a look at how far the stream is.
//! * What is given up before its release is done is **leaving**: a task at the end of the stream
//!   lets it go, so that work queued before meets its memory.
//! * A destroyed pool lasts, without a handle, as long as blocks of it are in use; with the last
//!   reset of its device it ends at once.
//!
//! Lock order: a pool, then the store, the areas or what a stream knows. No lock is held while the
//! kernel takes pages back or a task is queued.

mod attributes;
mod block;
mod release;

use std::sync::atomic::{AtomicU32, Ordering};

use cannery_abi as abi;
use cannery_observe::{Family, PageKind};
use cannery_pool::{Backing, Order, Pool, Ticket};

pub use attributes::{check_attribute, get_attribute, set_attribute};
pub use block::{alloc, free};
pub use release::trim;
pub(crate) use release::{Held, after_synchronization, end_of_device, held, memory};

pub(crate) use block::free_now;

use super::areas::{NoArea, Piece, PieceId};
use crate::error::{Error, Result, show_bytes};
use crate::os::lock::QuickLock;
use crate::os::map;
use crate::process::{Runtime, current, here};
use crate::registry::Registry;
use crate::stream::{Stream, order};

/// All pools of the process.
pub(crate) static POOLS: Registry<Place> = Registry::new(0xd7);

/// Requests are rounded up to so many bytes.
const UNIT: u64 = 2 << 20;

/// Room for a pool.
#[derive(Default)]
pub(crate) struct Place {
    /// Start of the runtime that the pool in it belongs to: another one (of a parent) has nothing to
    /// do with it.
    epoch: AtomicU32,
    home: QuickLock<Option<Home>>,
}

/// A pool where it lives.
pub(crate) struct Home {
    pool: Pool<On, Option<PieceId>>,
    ground: Ground,
    handle: u64,
    /// It has no handle any more.
    ended: bool,
    /// Units that a synchronisation leaves reserved.
    threshold: u64,
    /// The same as it was set, in bytes.
    threshold_bytes: u64,
}

/// What a pool stands on.
struct Ground {
    runtime: &'static Runtime,
    device: usize,
    /// First address.
    base: u64,
    bytes: u64,
    /// Bytes charged to the device in normal pages, and in 2 MiB pages.
    normal: u64,
    huge: u64,
    place: u64,
}

/// A stream, as a pool knows it.
#[derive(Clone, Copy)]
pub(crate) struct On(&'static Stream);

impl PartialEq for On {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for On {}

/// A stream that asks for memory.
struct Asking(&'static Stream);

impl Order<On> for Asking {
    fn follows(&self, ticket: &Ticket<On>) -> bool {
        order::follows(self.0, (ticket.stream.0, ticket.position))
    }

    #[inline]
    fn is_done(&self, ticket: &Ticket<On>) -> bool {
        is_done(ticket)
    }
}

#[inline]
fn is_done(ticket: &Ticket<On>) -> bool {
    ticket.stream.0.reached(ticket.position)
}

impl Backing for Ground {
    /// None: too many pieces; copies will not know the memory.
    type Tag = Option<PieceId>;

    fn pay(&mut self, units: u64) -> bool {
        let Some(store) = self.runtime.devices[self.device].store() else {
            return false;
        };
        let bytes = units * UNIT;
        if store.charge_pool(PageKind::Huge, bytes) {
            self.huge += bytes;
            return true;
        }
        let paid = store.charge_pool(PageKind::Normal, bytes);
        self.normal += if paid { bytes } else { 0 };
        paid
    }

    fn make(&mut self, start: u64, units: u64, live: bool) -> Option<PieceId> {
        self.runtime.areas.put(&Piece {
            start: self.base + start * UNIT,
            size: units * UNIT,
            requested: units * UNIT,
            family: Family::Pool,
            device: Some(self.device),
            pages: PageKind::Huge,
            access: true,
            live,
            owner: self.place,
        })
    }

    fn unmake(&mut self, tag: Option<PieceId>) {
        if let Some(id) = tag {
            self.runtime.areas.take(id);
        }
    }

    #[inline]
    fn set_live(&mut self, tag: Option<PieceId>, live: bool) {
        if let Some(id) = tag {
            self.runtime.areas.set_live(id, live);
        }
    }
}

impl Ground {
    /// Memory that was charged is the device's again: normal pages first.
    fn refund(&mut self, bytes: u64) {
        let normal = bytes.min(self.normal);
        self.normal -= normal;
        self.huge -= bytes - normal;
        if let Some(store) = self.runtime.devices[self.device].store() {
            store.release_pool(PageKind::Normal, normal);
            store.release_pool(PageKind::Huge, bytes - normal);
        }
    }

    /// Where the runtime touches the memory of a unit.
    fn alias(&self, unit: u64) -> u64 {
        let address = self.base + unit * UNIT;
        address.wrapping_add(self.runtime.window.distance())
    }
}

/// What aclrtMemPoolCreate is given.
#[derive(Clone, Copy, Debug)]
pub struct Properties {
    /// ACL_MEM_ALLOCATION_TYPE_*.
    pub allocation: i32,
    /// ACL_MEM_LOCATION_TYPE_*.
    pub location: i32,
    /// Device.
    pub device: u32,
    /// Most bytes, rounded up to 2 MiB; 0: as many as the device has.
    pub most: u64,
    /// Whether a reserved byte is not 0.
    pub reserved: bool,
}

/// aclrtMemPoolCreate: a pool without memory; returns its handle.
///
/// # Errors
/// 100000 for properties that pools do not have; 107001 for an unknown device; 107000 for more than
/// the device has; 107002 without a context, and for a device that is not set; 507000 when no pool or
/// no addresses are left; 207000 where the product has no pools.
pub fn create(properties: &Properties) -> Result<u64> {
    check_properties(properties)?;
    let runtime = current()?;
    let id = properties.device.cast_signed();
    let device = runtime.device_index("poolProps->location.id", id)?;
    let capacity = runtime.window.memory().capacity / UNIT * UNIT;
    let most = match properties.most {
        0 => capacity,
        most => most.checked_next_multiple_of(UNIT).unwrap_or(u64::MAX),
    };
    if most > capacity {
        return Err(Error::rt_cause(
            "rtMemPoolProps.maxSize",
            properties.most,
            format!(
                "device {device} has {} in all; ask for less, or for 0, which is all",
                show_bytes(capacity)
            ),
        ));
    }
    here()?;
    // The device stays as it is until the pool is listed: whoever resets it finds the pool.
    let state = runtime.devices[device].state();
    if state.references == 0 && state.explicit == 0 {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_CONTEXT_NULL,
            format!("device {device} is not set; call aclrtSetDevice({device}) first"),
        ));
    }
    let (base, bytes) = addresses(runtime, most)?;
    order::watch();
    let prepare = |place: &'static Place| {
        place.epoch.store(runtime.epoch(), Ordering::Release);
        *place.home.lock() = Some(Home {
            pool: Pool::new(most / UNIT, bytes / UNIT),
            ground: Ground {
                runtime,
                device,
                base,
                bytes,
                normal: 0,
                huge: 0,
                place: u64::MAX,
            },
            handle: 0,
            ended: false,
            threshold: 0,
            threshold_bytes: 0,
        });
    };
    let Some(handle) = POOLS.create(prepare) else {
        runtime.areas.release(base);
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_INTERNAL_ERROR,
            "too many pools are alive; destroy some with aclrtMemPoolDestroy",
        ));
    };
    if let Some(place) = POOLS.find(handle)
        && let Some(home) = &mut *place.home.lock()
    {
        home.handle = handle;
        home.ground.place = u64::from(POOLS.place_of(handle));
    }
    drop(state);
    crate::log::info(format_args!(
        "pool {handle:#x} of at most {} on device {device}",
        show_bytes(most)
    ));
    Ok(handle)
}

fn check_properties(properties: &Properties) -> Result<()> {
    if properties.allocation != abi::ACL_MEM_ALLOCATION_TYPE_PINNED {
        return Err(Error::value(
            "poolProps->allocType",
            properties.allocation,
            "must be ACL_MEM_ALLOCATION_TYPE_PINNED",
        ));
    }
    if properties.location != abi::ACL_MEM_LOCATION_TYPE_DEVICE {
        return Err(Error::value(
            "poolProps->location.type",
            properties.location,
            "must be ACL_MEM_LOCATION_TYPE_DEVICE",
        ));
    }
    if properties.reserved {
        return Err(crate::error::Fault::Param {
            param: "poolProps->reserved",
            cause: "must be zero in every byte".to_owned(),
        }
        .into());
    }
    Ok(())
}

/// Addresses for a pool: twice as many as it may have memory, where they are to be had.
fn addresses(runtime: &Runtime, most: u64) -> Result<(u64, u64)> {
    let twice = runtime
        .areas
        .reserve(most * 2, UNIT)
        .map(|at| (at, most * 2));
    let (base, bytes) = twice
        .or_else(|_| runtime.areas.reserve(most, UNIT).map(|at| (at, most)))
        .map_err(|why| {
            let why = match why {
                NoArea::System(error) => error.to_string(),
                NoArea::Full | NoArea::Taken => "no free range of the window is so long".to_owned(),
            };
            Error::sequence(
                abi::ACL_ERROR_RT_INTERNAL_ERROR,
                format!(
                    "no addresses for a pool of {}: {why}; choose a smaller maxSize",
                    show_bytes(most)
                ),
            )
        })?;
    map::want_huge_pages(base.wrapping_add(runtime.window.distance()), bytes);
    Ok((base, bytes))
}

/// aclrtMemPoolDestroy: the handle is invalid at once. Idle memory goes; blocks in use stay valid
/// until they are released.
///
/// # Errors
/// 100000 for NULL; 507000 for what is no living pool.
pub fn destroy(handle: u64) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("memPool"));
    }
    let runtime = current()?;
    let place = POOLS.find(handle).ok_or_else(|| dead(handle))?;
    if !POOLS.end(handle) {
        return Err(dead(handle));
    }
    release::end(runtime, place, handle);
    Ok(())
}

#[cold]
fn dead(handle: u64) -> Error {
    Error::sequence(
        abi::ACL_ERROR_RT_INTERNAL_ERROR,
        format!(
            "argument memPool is {handle:#x}: no living pool; destroyed already, its device was \
             reset, or it never was a pool"
        ),
    )
}
