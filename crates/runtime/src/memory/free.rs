//! aclrtFree and aclrtFreeWithDevSync.

use cannery_observe::{Event, Family, emit};

use super::{locate, managed, store, stream_ordered_pool};
use crate::error::{Error, Result};
use crate::process::{Runtime, current_of, here};
use crate::settings::profile::products_of;

/// aclrtFree: releases a block of aclrtMalloc, aclrtMallocCached, aclrtMallocAlign32, their
/// configured forms, and of aclrtMemAllocManaged. Needs no context and waits for nothing.
///
/// # Errors
/// 100000 for NULL; 107000 for everything that is not the first byte of such a block: host and media
/// memory, interior, freed and foreign addresses. Nothing changes then.
#[inline(always)]
pub fn free(address: u64) -> Result<()> {
    if address == 0 {
        return Err(no_address());
    }
    release(current_of(const { products_of("aclrtFree") })?, address)
}

/// aclrtFreeWithDevSync: as [`free`], after everything queued on the device is done.
///
/// # Errors
/// As [`free`], and 107002 without a context: the block stays.
pub fn free_with_sync(address: u64) -> Result<()> {
    if address == 0 {
        return Err(no_address());
    }
    let here = here()?;
    here.runtime.drain(here.device().index());
    release(here.runtime, address)
}

/// Families that aclrtFree takes.
const PLAIN: u16 = store::families(&[
    Family::Malloc,
    Family::Cached,
    Family::Align32,
    Family::WithCfg,
    Family::TaskScheduler,
]);

/// Whether aclrtFree takes blocks of this family.
pub(crate) fn is_plain(family: Family) -> bool {
    PLAIN >> family as u16 & 1 == 1
}

#[cold]
fn no_address() -> Error {
    Error::null("devPtr")
}

#[inline(always)]
fn release(runtime: &'static Runtime, address: u64) -> Result<()> {
    if runtime.sharing.blocks.may_hold(address) {
        runtime.sharing.blocks.before_release(runtime, address)?;
    }
    let memory = runtime.memory_at(address);
    let released = memory.and_then(|(_, store)| {
        store.release(address, PLAIN, |released| {
            emit(|| Event::Free {
                address,
                family: released.family(),
            });
        })
    });
    match released {
        Some(()) => Ok(()),
        None => other(runtime, address),
    }
}

/// What is not a block of the store: perhaps of a pool, or managed.
#[cold]
fn other(runtime: &'static Runtime, address: u64) -> Result<()> {
    stream_ordered_pool::free_now(runtime, address)
        .or_else(|| managed::release(runtime, address))
        .unwrap_or_else(|| Err(refused(runtime, address)))
}

fn refused(runtime: &Runtime, address: u64) -> Error {
    match check(runtime, "devPtr", address) {
        Ok(()) => freed_meanwhile("devPtr", address),
        Err(error) => error,
    }
}

/// Whether [`free`] would release a block that begins at `address`.
pub(crate) fn check(runtime: &Runtime, param: &'static str, address: u64) -> Result<()> {
    let released = |family| is_plain(family) || family == Family::Managed;
    locate::exact(runtime, param, address, released).map(|_| ())
}

/// Two threads released one block at once; this one came second.
#[cold]
pub(crate) fn freed_meanwhile(param: &'static str, address: u64) -> Error {
    Error::address(
        param,
        address,
        "another thread released this block at the same moment",
    )
}
