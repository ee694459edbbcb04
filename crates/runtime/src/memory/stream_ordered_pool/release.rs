//! How memory of a pool goes back to the device: trimming, the release threshold, the end of a pool.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use cannery_abi as abi;
use cannery_pool::{Leaving, Ticket};

use super::{Ground, Home, On, POOLS, Place, UNIT, dead, is_done};
use crate::error::{Error, Result, show_bytes};
use crate::os::map;
use crate::patient;
use crate::process::{Runtime, current, running};
use crate::stream::engine;
use crate::stream::task::Task;

/// aclrtMemPoolTrimTo: gives idle memory up until no more than `keep` bytes, rounded up to 2 MiB, are
/// reserved. The device has it back when the releases are done.
///
/// # Errors
/// 100000 for NULL; 507000 for what is no living pool, and for less than is in use or more than the
/// pool may have; 207000 where the product has no pools. Nothing changes then.
pub fn trim(handle: u64, keep: u64) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("memPool"));
    }
    current()?;
    let place = POOLS.find(handle).ok_or_else(|| dead(handle))?;
    let leaving = match &mut *place.home.lock() {
        Some(home) if home.handle == handle && !home.ended => {
            let (used, most) = (home.pool.usage().used * UNIT, home.pool.limit() * UNIT);
            if keep < used || keep > most {
                return Err(Error::sequence(
                    abi::ACL_ERROR_RT_INTERNAL_ERROR,
                    format!(
                        "argument minBytesToKeep is {keep}, expected at least what is in use, {}, and \
                         at most the size of the pool, {}",
                        show_bytes(used),
                        show_bytes(most)
                    ),
                ));
            }
            give_up(home, keep.div_ceil(UNIT), |_| true)
        }
        _ => return Err(dead(handle)),
    };
    depart(place, leaving);
    Ok(())
}

/// What left a pool and the pool's handle.
type Departing = (u64, Vec<Leaving<On>>);

fn give_up(home: &mut Home, keep: u64, goes: impl Fn(Option<&Ticket<On>>) -> bool) -> Departing {
    let mut out = Vec::new();
    home.pool.give_up(keep, goes, &mut home.ground, &mut out);
    (home.handle, out)
}

fn give_up_home_done(home: &mut Home, keep: u64) -> Departing {
    give_up(home, keep, |ticket| ticket.is_none_or(is_done))
}

/// Gives up idle memory whose release is done.
pub(super) fn give_up_done(place: &'static Place, handle: u64, keep: u64) {
    let leaving = match &mut *place.home.lock() {
        Some(home) if home.handle == handle => give_up_home_done(home, keep),
        _ => return,
    };
    depart(place, leaving);
}

/// Gives up all idle memory of a pool that has no handle any more.
pub(super) fn give_up_all(place: &'static Place) {
    let leaving = match &mut *place.home.lock() {
        Some(home) if home.ended => give_up(home, 0, |_| true),
        _ => return,
    };
    depart(place, leaving);
}

/// A stream of the device, or all of them, were waited for: idle memory above the threshold goes.
#[cold]
pub(crate) fn after_synchronization(device: usize) {
    let Some(runtime) = running() else { return };
    for place in of(runtime) {
        let leaving = match &mut *place.home.lock() {
            Some(home) if home.ground.device == device => {
                let keep = if home.ended { 0 } else { home.threshold };
                give_up_home_done(home, keep)
            }
            _ => continue,
        };
        depart(place, leaving);
    }
    bury(runtime, None);
}

/// Memory that blocks of pools are made of: device, first byte, bytes.
pub(crate) fn memory(runtime: &'static Runtime) -> Vec<(usize, u64, u64)> {
    let mut pieces = Vec::new();
    for place in of(runtime) {
        let ground = match &*place.home.lock() {
            Some(home) => (home.ground.device, home.ground.base, home.ground.bytes),
            None => continue,
        };
        let (device, base, bytes) = ground;
        let mut at = base;
        while at < base + bytes {
            at = match runtime.areas.find(at) {
                Some((_, piece)) => {
                    pieces.push((device, piece.start, piece.size));
                    piece.start + piece.size
                }
                None => at + UNIT,
            };
        }
    }
    pieces
}

/// What pools hold of a device, for the text of a shortage. All in bytes but the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// How many pools hold something.
    pub(crate) pools: u64,
    pub(crate) bytes: u64,
    /// Of it: nobody's, which a trim gives back.
    pub(crate) idle: u64,
    /// Of it: freed, and not usable before a stream has come so far.
    pub(crate) pending: u64,
}

/// What pools hold of a device.
pub(crate) fn held(device: usize) -> Held {
    let mut held = Held::default();
    for place in running().into_iter().flat_map(of) {
        if let Some(home) = &*place.home.lock()
            && home.ground.device == device
            && home.ground.huge + home.ground.normal > 0
        {
            let waits = |ticket: Option<&Ticket<On>>| ticket.is_some_and(|ticket| !is_done(ticket));
            held.pools += 1;
            held.bytes += home.ground.huge + home.ground.normal;
            held.idle += home.pool.idle_units(|ticket| !waits(ticket)) * UNIT;
            held.pending += (home.pool.idle_units(waits) + home.pool.leaving()) * UNIT;
        }
    }
    held
}

/// Places of pools of this runtime, and of none.
fn of(runtime: &'static Runtime) -> impl Iterator<Item = &'static Place> {
    let mine = |place: &&'static Place| place.epoch.load(Ordering::Acquire) == runtime.epoch();
    POOLS.all().filter(mine)
}

/// Lets units go: now where their release is done, else when their stream has come so far.
fn depart(place: &'static Place, (handle, leaving): Departing) {
    for piece in leaving {
        let departure = Departure {
            place,
            handle,
            start: piece.start,
            units: piece.units,
        };
        match piece.ticket {
            Some(ticket) if !is_done(&ticket) => {
                // At the end of the stream, which is later than it must be. Dropped with the
                // other tasks of the stream it lets go, too.
                let work = move || {
                    drop(departure);
                    0
                };
                engine::submit_now(ticket.stream.0, Task::Once(Box::new(work)));
            }
            _ => drop(departure),
        }
    }
}

/// Units that leave when this is dropped.
struct Departure {
    place: &'static Place,
    handle: u64,
    start: u64,
    units: u64,
}

impl Departure {
    /// Calls `act` with the pool, if it is still there.
    fn with<R>(&self, act: impl FnOnce(&mut Home) -> R) -> Option<R> {
        match &mut *self.place.home.lock() {
            Some(home) if home.handle == self.handle => Some(act(home)),
            _ => None,
        }
    }
}

impl Drop for Departure {
    fn drop(&mut self) {
        let Some(alias) = self.with(|home| home.ground.alias(self.start)) else {
            return;
        };
        // Nobody gets these addresses before they have left.
        map::discard(alias, self.units * UNIT);
        let empty = self.with(|home| {
            if let Some(units) = home.pool.left(self.start) {
                home.ground.refund(units * UNIT);
            }
            home.ended && home.pool.is_empty()
        });
        if empty == Some(true) {
            vacate(self.place, self.handle);
        }
    }
}

/// The pool lost its handle: idle memory goes, and with the last block the pool.
pub(super) fn end(runtime: &'static Runtime, place: &'static Place, handle: u64) {
    let leaving = match &mut *place.home.lock() {
        Some(home) if home.handle == handle => {
            home.ended = true;
            give_up(home, 0, |_| true)
        }
        _ => return,
    };
    depart(place, leaving);
    vacate(place, handle);
    bury(runtime, None);
}

/// Takes an ended pool with nothing in it away.
fn vacate(place: &'static Place, handle: u64) {
    let ground = {
        let mut home = place.home.lock();
        match &*home {
            Some(there) if there.handle == handle && there.ended && there.pool.is_empty() => {
                home.take().map(|home| home.ground)
            }
            _ => None,
        }
    };
    if let Some(ground) = ground {
        POOLS.recycle(handle);
        bury(ground.runtime, Some(&ground));
    }
}

/// The memory of a device goes: its pools end, whoever uses them.
pub(crate) fn end_of_device(runtime: &'static Runtime, device: usize) {
    for place in of(runtime) {
        let ended = {
            let mut home = place.home.lock();
            match &*home {
                Some(there) if there.ground.device == device => home.take(),
                _ => None,
            }
        };
        let Some(mut home) = ended else { continue };
        // Nobody finds the pool any more, so no other lock is needed.
        POOLS.end(home.handle);
        home.pool.clear(&mut home.ground);
        let paid = home.ground.normal + home.ground.huge;
        home.ground.refund(paid);
        POOLS.recycle(home.handle);
        bury(runtime, Some(&home.ground));
    }
    bury(runtime, None);
}

/// Areas of pools that are gone, while work that may still touch them is queued: start and bytes, and
/// the start of the runtime that they are of.
static GRAVES: Mutex<Vec<(u32, u64)>> = Mutex::new(Vec::new());

/// Gives the area of a pool that is gone back, and those from before, once nothing is queued.
fn bury(runtime: &'static Runtime, ground: Option<&Ground>) {
    // Somebody else is at it, or was in the process that this one was forked from: next time.
    let open = match ground {
        Some(_) => patient::lock(&GRAVES),
        None => GRAVES.try_lock().ok(),
    };
    let Some(mut graves) = open else { return };
    if let Some(ground) = ground {
        map::discard(ground.alias(0), ground.bytes);
        graves.push((runtime.epoch(), ground.base));
    }
    if graves.is_empty() || engine::any_active() {
        return;
    }
    for (epoch, base) in graves.drain(..) {
        if epoch == runtime.epoch() {
            runtime.areas.release(base);
        }
    }
}
