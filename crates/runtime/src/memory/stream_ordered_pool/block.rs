//! aclrtMemPoolMallocAsync and aclrtMemPoolFreeAsync.

use cannery_abi as abi;
use cannery_observe::{Event, Family, PageKind, emit};
use cannery_pool::{Grant, Refusal, Ticket};

use super::{Asking, Home, On, POOLS, Place, UNIT, dead, release};
use crate::error::{Error, Fault, Result, show_bytes};
use crate::memory::areas::Piece;
use crate::memory::{free as plain, locate};
use crate::process::Runtime;
use crate::stream::manage::stream_of_call;
use crate::stream::task::Task;
use crate::stream::{Stream, engine, order};

/// aclrtMemPoolMallocAsync: `size` bytes, rounded up to 2 MiB, for what is queued on the stream from
/// now on. Waits for nothing; contents are whatever was there. Size 0 succeeds and writes nothing.
///
/// # Errors
/// 100000 for NULL (the default stream is passed by its handle); 107017 and 107003 for streams;
/// 107002 without a context; 507000 for what is no living pool, and when the pool or the device has
/// not so much; 207000 where the product has no pools. `out` stays as it was then.
#[inline]
pub fn alloc(out: Option<&mut u64>, size: u64, pool: u64, stream: u64) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("ptr"));
    };
    if pool == 0 {
        return Err(Error::null("memPool"));
    }
    if stream == 0 {
        return Err(Error::null("stream"));
    }
    if size == 0 {
        return Ok(());
    }
    let (_, stream) = stream_of_call("stream", stream)?;
    crate::graph::capture::refuse_pool(stream)?;
    let place = POOLS.find(pool).ok_or_else(|| dead(pool))?;
    let units = size.div_ceil(UNIT);
    let (grant, base) = match take(place, pool, units, stream)? {
        Ok(granted) => granted,
        Err(refusal) => take_after_release(place, pool, size, stream, refusal)?,
    };
    // Outside of the lock: a schedule may run tasks inside.
    for wait in grant.waits {
        order::wait_for(stream, (wait.stream.0, wait.position));
    }
    *out = base + grant.start * UNIT;
    let address = *out;
    emit(|| Event::Alloc {
        address,
        requested: size,
        charged: units * UNIT,
        family: Family::Pool,
        pages: PageKind::Huge,
        device: stream.device().map_or(-1, |device| device as i32),
    });
    Ok(())
}

type Granted = core::result::Result<(Grant<On>, u64), Refusal>;

/// The living pool of a handle, locked, does something.
#[inline]
fn with<R>(place: &'static Place, handle: u64, act: impl FnOnce(&mut Home) -> R) -> Result<R> {
    match &mut *place.home.lock() {
        Some(home) if home.handle == handle && !home.ended => Ok(act(home)),
        _ => Err(dead(handle)),
    }
}

#[inline]
fn take(
    place: &'static Place,
    handle: u64,
    units: u64,
    stream: &'static Stream,
) -> Result<Granted> {
    with(place, handle, |home| {
        let asking = Asking(stream);
        let granted = home
            .pool
            .alloc(units, On(stream), &asking, &mut home.ground);
        granted.map(|grant| (grant, home.ground.base))
    })
}

/// Gives up what is idle and done, then tries once more.
#[cold]
fn take_after_release(
    place: &'static Place,
    handle: u64,
    size: u64,
    stream: &'static Stream,
    refusal: Refusal,
) -> Result<(Grant<On>, u64)> {
    let units = size.div_ceil(UNIT);
    let possible = with(place, handle, |home| units <= home.pool.limit())?;
    let mut last = refusal;
    if possible {
        release::give_up_done(place, handle, 0);
        match take(place, handle, units, stream)? {
            Ok(granted) => return Ok(granted),
            Err(refusal) => last = refusal,
        }
    }
    let text = with(place, handle, |home| exhausted(home, size, last))?;
    Err(Error::sequence(abi::ACL_ERROR_RT_INTERNAL_ERROR, text))
}

#[cold]
fn exhausted(home: &Home, size: u64, refusal: Refusal) -> String {
    let usage = home.pool.usage();
    let device = home.ground.device;
    let store = home.ground.runtime.devices[device].store();
    let free = store.map_or(0, |store| store.usage().huge_free);
    let (why, next) = match refusal {
        Refusal::Memory => (
            format!("the 2 MiB pages of device {device} have not so much left"),
            "release device memory, or trim other pools (aclrtMemPoolTrimTo)",
        ),
        Refusal::Full => (
            "the pool may not have so much".to_owned(),
            "release blocks of the pool (aclrtMemPoolFreeAsync) and let the work before them finish, or \
             create a larger pool (maxSize)",
        ),
    };
    format!(
        "argument size is {size}: {why}: asked {} ({} in whole 2 MiB); the pool uses {}, has reserved \
         {} and another {} that leave, of at most {}; 2 MiB pages free on the device {}. Next: {next}",
        show_bytes(size),
        show_bytes(size.div_ceil(UNIT).saturating_mul(UNIT)),
        show_bytes(usage.used * UNIT),
        show_bytes(usage.reserved * UNIT),
        show_bytes(home.pool.leaving() * UNIT),
        show_bytes(home.pool.limit() * UNIT),
        show_bytes(free),
    )
}

/// aclrtMemPoolFreeAsync: the block is its pool's again once the stream has done what was queued
/// before. A block of aclrtMalloc and its kin is released by a task of the stream.
///
/// # Errors
/// 100000 for NULL; 507000 for a NULL stream; 107017, 107003, 107002; 107000 for what is not the first
/// byte of a block in use. Nothing changes then.
#[inline]
pub fn free(address: u64, stream: u64) -> Result<()> {
    if address == 0 {
        return Err(Error::null("ptr"));
    }
    if stream == 0 {
        return Err(no_stream());
    }
    let (here, stream) = stream_of_call("stream", stream)?;
    crate::graph::capture::refuse_pool(stream)?;
    let Some((_, piece)) = here.runtime.areas.find(address) else {
        return free_other(here.runtime, address, stream);
    };
    if piece.family != Family::Pool {
        return free_other(here.runtime, address, stream);
    }
    let ticket = Ticket {
        stream: On(stream),
        position: stream.submitted(),
    };
    give_back(here.runtime, &piece, address, Some(ticket))
}

#[cold]
fn no_stream() -> Error {
    Fault::RtNullCode {
        code: abi::ACL_ERROR_RT_INTERNAL_ERROR,
        param: "stm",
    }
    .into()
}

/// For aclrtFree: a pool's block goes back to it, for everybody to reuse at once. `None`: the address
/// is in no pool.
pub(crate) fn free_now(runtime: &'static Runtime, address: u64) -> Option<Result<()>> {
    let (_, piece) = runtime.areas.find(address)?;
    (piece.family == Family::Pool).then(|| give_back(runtime, &piece, address, None))
}

#[inline]
fn give_back(
    runtime: &'static Runtime,
    piece: &Piece,
    address: u64,
    ticket: Option<Ticket<On>>,
) -> Result<()> {
    let place = u32::try_from(piece.owner).ok();
    let Some(place) = place.and_then(|place| POOLS.at(place)) else {
        return Err(not_live(runtime, address));
    };
    let freed = match &mut *place.home.lock() {
        // Another pool may be there by now; its addresses are others.
        Some(home) if address.wrapping_sub(home.ground.base) < home.ground.bytes => {
            let offset = address - home.ground.base;
            let whole = offset.is_multiple_of(UNIT);
            let freed = whole
                .then(|| home.pool.free(offset / UNIT, ticket, &mut home.ground))
                .flatten();
            freed.map(|_| home.ended)
        }
        _ => None,
    };
    let Some(ended) = freed else {
        return Err(not_live(runtime, address));
    };
    emit(|| Event::Free {
        address,
        family: Family::Pool,
    });
    if ended {
        // Nobody will ask for it again.
        release::give_up_all(place);
    }
    Ok(())
}

#[cold]
fn not_live(runtime: &Runtime, address: u64) -> Error {
    let any = |_: Family| true;
    match locate::exact(runtime, "ptr", address, any) {
        Err(error) => error,
        Ok(_) => plain::freed_meanwhile("ptr", address),
    }
}

/// A block that is no pool's.
#[cold]
fn free_other(runtime: &'static Runtime, address: u64, stream: &'static Stream) -> Result<()> {
    plain::check(runtime, "ptr", address)?;
    // Dropped tasks release it, too: nobody else could.
    let block = Block(address);
    engine::submit(
        stream,
        Task::Once(Box::new(move || {
            block.release().map_or_else(|e| e.code(), |()| 0)
        })),
    );
    Ok(())
}

/// A block to release, at the latest when this goes away.
struct Block(u64);

impl Block {
    fn release(mut self) -> Result<()> {
        plain::free(std::mem::take(&mut self.0))
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.0 != 0 {
            let _ = plain::free(self.0);
        }
    }
}
