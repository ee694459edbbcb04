//! The memory of one device, or the pinned memory of the host.

mod accounts;
mod tidy;

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cannery_heap::range::{NodeId, RangeHeap};
use cannery_heap::slab::{self, Found, LargeInfo, LargeStart, Owner, Start};
use cannery_observe::{Counters, Family, PageKind};

use super::arena::{Arena, HUGE, NORMAL, RunCache};
use super::card::{Claims, Neighbour};
use super::central::{Central, normal_charge, run_shape};
pub(crate) use super::central::{Usage, charge_of};
use super::pins::Pins;
use super::region::{HUGE_SHIFT, NORMAL_SHIFT, Region, SHIFTS};
use crate::os::lock::{QuickGuard, QuickLock};
use crate::os::map::{self, Access};
use crate::thread::ARENAS;
use crate::window::{DevicePlan, MemoryPlan};

/// Larger blocks have slices of their own.
pub(crate) const LARGEST_SMALL: u64 = slab::MAX_SMALL_UNITS as u64 * slab::UNIT;
/// No block is larger: far beyond any store, and no sum of such sizes wraps.
const LARGEST: u64 = 1 << 46;

/// What a caller wants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) pages: PageKind,
    /// Bytes that the block owns (padded); a multiple of 32.
    pub(crate) size: u64,
    /// Bytes that were asked for.
    pub(crate) requested: u64,
    /// Bytes of address space to place it in, at least `size`; decides the alignment too: a
    /// multiple of 4 KiB starts on a page.
    pub(crate) room: u64,
    pub(crate) family: Family,
    pub(crate) module: u8,
}

/// Why there is no block.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The pool has not so much memory left.
    Memory,
    /// The memory is there, but no run of addresses is long enough.
    Addresses,
    /// The pages could not be locked.
    Pinning(io::Error),
}

/// A block that was released.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Released {
    owner: Owner,
    /// Bytes that it was charged.
    pub(crate) charge: u64,
}

impl Released {
    pub(crate) fn family(&self) -> Family {
        Family::from_number(self.owner.family)
    }

    pub(crate) fn module(&self) -> u8 {
        self.owner.module
    }
}

/// Families as a mask, for [`Store::release`].
pub(crate) const fn families(list: &[Family]) -> u16 {
    let (mut mask, mut i) = (0, 0);
    while i < list.len() {
        mask |= 1 << list[i] as u16;
        i += 1;
    }
    mask
}

/// See the module.
pub(crate) struct Store {
    normal: Region<NORMAL_SHIFT>,
    huge: Region<HUGE_SHIFT>,
    arenas: Box<[QuickLock<Arena>; ARENAS]>,
    /// Bit i: arena i was used.
    active: AtomicU32,
    back: Mutex<Box<[RangeHeap; 2]>>,
    back_activity: AtomicU64,
    back_seen: AtomicU64,
    central: Mutex<Central>,
    /// The device; `None` for host memory.
    card: Option<Claims>,
    purge: Mutex<()>,
    pins: Option<Pins>,
    failed: AtomicU64,
    recovered: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store {
    /// The memory of a device. In EP mode its alias is made readable and writable, in RC mode the
    /// addresses themselves are.
    pub(crate) fn for_device(plan: &DevicePlan, card: Claims) -> io::Result<Store> {
        let alias = plan.base.wrapping_add(plan.distance);
        map::protect(alias, plan.bytes, Access::ReadWrite)?;
        map::want_huge_pages(alias + plan.normal_bytes, plan.bytes - plan.normal_bytes);
        let normal = Region::new(plan.base, plan.normal_bytes, plan.distance)?;
        let huge = Region::new(
            plan.base + plan.normal_bytes,
            plan.bytes - plan.normal_bytes,
            plan.distance,
        )?;
        Ok(Self::new(normal, huge, &plan.memory, Some(card), None))
    }

    /// Pinned host memory at `base`, bounded by what the system gives.
    pub(crate) fn for_host(base: u64, bytes: u64, pins: Pins) -> io::Result<Store> {
        let (normal, huge) = (
            Region::new(base, bytes, 0)?,
            Region::new(base + bytes, 0, 0)?,
        );
        let plenty = MemoryPlan {
            capacity: bytes,
            huge: 0,
            giant: 0,
            normal: bytes,
            known: false,
        };
        Ok(Self::new(normal, huge, &plenty, None, Some(pins)))
    }

    fn new(
        normal: Region<NORMAL_SHIFT>,
        huge: Region<HUGE_SHIFT>,
        plan: &MemoryPlan,
        card: Option<Claims>,
        pins: Option<Pins>,
    ) -> Store {
        let back = fresh_heaps(&normal, &huge);
        Store {
            normal,
            huge,
            arenas: fresh_arenas(),
            active: AtomicU32::new(0),
            back: Mutex::new(back),
            back_activity: AtomicU64::new(0),
            back_seen: AtomicU64::new(0),
            central: Mutex::new(Central::new(plan, card)),
            card,
            purge: Mutex::new(()),
            pins,
            failed: AtomicU64::new(0),
            recovered: AtomicU64::new(0),
        }
    }

    /// The live block that holds `address`, interior addresses included, and its first byte.
    /// Lock-free.
    #[inline(always)]
    pub(crate) fn find(&self, address: u64) -> Option<(u64, Found)> {
        if address < self.huge.base {
            self.normal.find(address)
        } else {
            self.huge.find(address)
        }
    }

    fn note(&self, pool: usize, first: u32) -> NodeId {
        NodeId::from_index(match pool {
            NORMAL => self.normal.table.note(first),
            _ => self.huge.table.note(first),
        })
    }

    /// Slices leave their arena: nothing says any more that they are its own. The id to free them by.
    fn leave(&self, pool: usize, first: u32) -> NodeId {
        match pool {
            NORMAL => self.normal.table.retract(first),
            _ => self.huge.table.retract(first),
        }
        self.note(pool, first)
    }

    fn set_note(&self, pool: usize, first: u32, id: NodeId) {
        match pool {
            NORMAL => self.normal.table.set_note(first, id.index()),
            _ => self.huge.table.set_note(first, id.index()),
        }
    }

    /// An arena that has drawn credit before, or is about to.
    #[inline(always)]
    fn arena(&self, number: usize) -> QuickGuard<'_, Arena> {
        self.arenas[number % ARENAS].lock()
    }

    /// Notes that an arena holds something from now on. Comes before it does.
    #[inline]
    fn activate(&self, number: usize) {
        if self.active.load(Ordering::Relaxed) >> number & 1 == 0 {
            self.active.fetch_or(1 << number, Ordering::AcqRel);
        }
    }

    /// All arenas that were ever used, locked in ascending order.
    fn all_arenas(&self) -> Vec<QuickGuard<'_, Arena>> {
        // An arena that becomes active meanwhile starts without credit and takes it from the
        // central count, which the callers hold or read afterwards.
        let active = self.active.load(Ordering::Acquire);
        (0..ARENAS)
            .filter(|n| active >> n & 1 == 1)
            .map(|n| self.arenas[n].lock())
            .collect()
    }

    /// A block in normal pages of at most [`LARGEST_SMALL`] bytes of room, where credit and a block
    /// are at hand: the usual case, without the rest of [`alloc`](Self::alloc). `None` says nothing
    /// about what `alloc` will answer.
    #[inline(always)]
    pub(crate) fn alloc_at_once(&self, number: usize, request: &Request) -> Option<u64> {
        self.take_small(&mut self.arena(number), request)
    }

    #[inline(always)]
    fn take_small(&self, arena: &mut Arena, request: &Request) -> Option<u64> {
        let charge = normal_charge(request.size);
        let left = arena.credit[NORMAL].checked_sub(charge)?;
        let owner = Owner {
            family: request.family as u8,
            module: request.module,
            page: PageKind::Normal as u8,
        };
        let (size, requested) = (request.size, request.requested);
        let offset = arena.bins.alloc(
            &self.normal.table,
            slab::class_of(request.room.div_ceil(slab::UNIT) as u32),
            size,
            requested,
            owner,
        )?;
        arena.credit[NORMAL] = left;
        arena.ledger.allocated(owner.family, owner.module, charge);
        Some(self.normal.base + offset)
    }

    /// Makes a block. Contents are whatever was there.
    pub(crate) fn alloc(&self, number: usize, request: &Request) -> Result<u64, Refusal> {
        if request.room > LARGEST {
            return Err(Refusal::Memory);
        }
        if request.pages == PageKind::Normal && request.room <= LARGEST_SMALL {
            match self.alloc_small(number, request) {
                // A span locks more than one block needs; a run of its own may fit the limit.
                Err(Refusal::Pinning(_)) => self.alloc_run(number, request),
                other => other,
            }
        } else {
            self.alloc_run(number, request)
        }
    }

    fn alloc_small(&self, number: usize, request: &Request) -> Result<u64, Refusal> {
        let charge = normal_charge(request.size);
        let class = slab::class_of(request.room.div_ceil(slab::UNIT) as u32);
        let slices = slab::span_slices(class);
        let mut tried = false;
        loop {
            let mut arena = self.paid(number, NORMAL, charge)?;
            // Credit was found, and is taken together with the block.
            arena.credit[NORMAL] += charge;
            if let Some(address) = self.take_small(&mut arena, request) {
                return Ok(address);
            }
            match self.take_run(&mut arena, NORMAL, slices, 1) {
                Ok(first) => {
                    arena.bins.add_span(&self.normal.table, class, first);
                    if let Some(address) = self.take_small(&mut arena, request) {
                        return Ok(address);
                    }
                }
                // Once: addresses that are short after everything idle was given up stay short.
                Err(refusal) if tried => return Err(refusal),
                Err(refusal) => {
                    drop(arena);
                    self.retry_addresses(&refusal)?;
                    tried = true;
                }
            }
        }
    }

    fn alloc_run(&self, number: usize, request: &Request) -> Result<u64, Refusal> {
        let pool = if request.pages == PageKind::Normal {
            NORMAL
        } else {
            HUGE
        };
        let (slices, align, charge) = run_shape(request.pages, request.size, request.room);
        let slices = u32::try_from(slices).map_err(|_| Refusal::Memory)?;
        if align == 1 {
            let mut guard = self.arena(number);
            let arena = &mut *guard;
            // The usual case: credit and a run of this length are at hand.
            if arena.credit[pool] >= charge
                && let Some(first) = arena.runs[pool].take(slices)
            {
                arena.credit[pool] -= charge;
                return Ok(self.put_into(arena, pool, first, slices, charge, request));
            }
        }
        self.alloc_new_run(number, request, pool, (slices, align, charge))
    }

    /// As [`alloc_run`](Self::alloc_run), without what is at hand.
    #[inline(never)]
    fn alloc_new_run(
        &self,
        number: usize,
        request: &Request,
        pool: usize,
        (slices, align, charge): (u32, u64, u64),
    ) -> Result<u64, Refusal> {
        let mut arena = match request.pages {
            PageKind::Giant => {
                self.pay_giant(charge)?;
                self.activate(number);
                self.arena(number)
            }
            _ => self.paid(number, pool, charge)?,
        };
        let mut taken = self.take_run(&mut arena, pool, slices, align);
        if let Err(refusal) = &taken {
            drop(arena);
            let again = self.retry_addresses(refusal);
            arena = self.arena(number);
            taken = again.and_then(|()| self.take_run(&mut arena, pool, slices, align));
        }
        let first = match taken {
            Ok(first) => first,
            Err(refusal) => {
                drop(arena);
                self.refund(number, request.pages, charge);
                return Err(refusal);
            }
        };
        Ok(self.put_into(&mut arena, pool, first, slices, charge, request))
    }

    /// Makes a run of slices the block of a request that is paid.
    #[inline(always)]
    fn put_into(
        &self,
        arena: &mut Arena,
        pool: usize,
        first: u32,
        slices: u32,
        charge: u64,
        request: &Request,
    ) -> u64 {
        let owner = Owner {
            family: request.family as u8,
            module: request.module,
            page: request.pages as u8,
        };
        let info = LargeInfo {
            first,
            slices,
            size: request.size,
            requested: request.requested,
            owner,
        };
        arena.ledger.allocated(owner.family, owner.module, charge);
        match pool {
            NORMAL => {
                arena.bins.add_large(&self.normal.table, &info);
                self.normal.base + (u64::from(first) << NORMAL_SHIFT)
            }
            _ => {
                arena.bins.add_large(&self.huge.table, &info);
                self.huge.base + (u64::from(first) << HUGE_SHIFT)
            }
        }
    }

    /// Locks the arena and takes `charge` from its credit.
    #[inline]
    fn paid(
        &self,
        number: usize,
        pool: usize,
        charge: u64,
    ) -> Result<QuickGuard<'_, Arena>, Refusal> {
        let mut arena = self.arena(number);
        if arena.credit[pool] >= charge {
            arena.credit[pool] -= charge;
            return Ok(arena);
        }
        self.draw(arena, number, pool, charge)
    }

    #[cold]
    fn draw<'a>(
        &'a self,
        mut arena: QuickGuard<'a, Arena>,
        number: usize,
        pool: usize,
        charge: u64,
    ) -> Result<QuickGuard<'a, Arena>, Refusal> {
        self.activate(number);
        {
            let mut central = lock(&self.central);
            let need = charge - arena.credit[pool];
            if central.reach(pool, need) {
                let take = central.free[pool].min(need + central.batch(pool));
                central.free[pool] -= take;
                arena.credit[pool] = arena.credit[pool] + take - charge;
                return Ok(arena);
            }
            // With the lock of the central count: whoever wants credit for the first time waits.
            if self.is_alone(number) {
                return Err(Refusal::Memory);
            }
        }
        drop(arena);
        // Short: other arenas may have credit. With all of them locked the answer is exact.
        self.with_all_credit(|central| central.take(pool, charge))
            .ok_or(Refusal::Memory)?;
        Ok(self.arena(number))
    }

    /// Whether nobody but this arena has anything that could be collected.
    fn is_alone(&self, number: usize) -> bool {
        self.active.load(Ordering::Acquire) == 1 << number
            && self
                .card
                .is_none_or(|card| card.quota().is_none() && !card.crowded())
    }

    /// Collects the credit of every arena and calls `act` while all of them stay locked. As long as
    /// that is not enough, the other processes on the card are asked for what they do not use.
    fn with_all_credit<R>(&self, mut act: impl FnMut(&mut Central) -> Option<R>) -> Option<R> {
        const QUESTIONS: u32 = 3;
        for _ in 0..QUESTIONS {
            let done = self.collect(&mut act);
            if done.is_some() || !self.card.is_some_and(Claims::ask) {
                return done;
            }
        }
        self.collect(act)
    }

    fn collect<R>(&self, mut act: impl FnMut(&mut Central) -> R) -> R {
        loop {
            let active = self.active.load(Ordering::Acquire);
            let mut arenas = self.all_arenas();
            let mut central = lock(&self.central);
            if self.active.load(Ordering::Acquire) != active {
                // An arena came to life meanwhile and may have drawn credit: look again.
                continue;
            }
            for pool in [NORMAL, HUGE] {
                for arena in &mut arenas {
                    central.free[pool] += std::mem::take(&mut arena.credit[pool]);
                }
            }
            central.give_back();
            return act(&mut central);
        }
    }

    /// Gives the card back what is not charged, so that others see exactly what is.
    pub(crate) fn give_back_slack(&self) {
        self.collect(|_| ());
    }

    fn pay_giant(&self, charge: u64) -> Result<(), Refusal> {
        self.with_all_credit(|central| central.take_giant(charge))
            .ok_or(Refusal::Memory)
    }

    fn refund(&self, number: usize, pages: PageKind, charge: u64) {
        match pages {
            PageKind::Normal => self.arena(number).credit[NORMAL] += charge,
            PageKind::Huge => self.arena(number).credit[HUGE] += charge,
            PageKind::Giant => lock(&self.central).give_giant(charge),
        }
    }

    /// A run of slices out of the arena's cache or the store.
    fn take_run(
        &self,
        arena: &mut Arena,
        pool: usize,
        slices: u32,
        align: u64,
    ) -> Result<u32, Refusal> {
        if align == 1
            && let Some(first) = arena.runs[pool].take(slices)
        {
            return Ok(first);
        }
        self.back_activity.fetch_add(1, Ordering::Relaxed);
        let mut back = lock(&self.back);
        let range = back[pool]
            .alloc(u64::from(slices), align)
            .ok_or(Refusal::Addresses)?;
        let first = range.start as u32;
        if let Some(pins) = &self.pins {
            let bytes = range.len << SHIFTS[pool];
            if let Err(error) = pins.hold(range.start << SHIFTS[pool], bytes) {
                back[pool].free_clean(range.id);
                return Err(Refusal::Pinning(error));
            }
        }
        self.set_note(pool, first, range.id);
        Ok(first)
    }

    /// Gives up everything idle, so that a second look for addresses sees them all.
    fn retry_addresses(&self, refusal: &Refusal) -> Result<(), Refusal> {
        match refusal {
            Refusal::Addresses => {
                let _purge = lock(&self.purge);
                self.give_up_idle();
                Ok(())
            }
            Refusal::Memory => Err(Refusal::Memory),
            Refusal::Pinning(error) => Err(Refusal::Pinning(error.kind().into())),
        }
    }

    fn give_up_idle(&self) {
        for mut arena in self.all_arenas() {
            self.drain(&mut arena);
        }
    }

    fn drain(&self, arena: &mut Arena) {
        let mut idle: Vec<(usize, u32)> = Vec::new();
        arena.drain_runs(|pool, first| idle.push((pool, first)));
        let give = |first, _| idle.push((NORMAL, first));
        arena.bins.flush(&self.normal.table, give);
        let mut back = lock(&self.back);
        for (pool, first) in idle {
            back[pool].free(self.leave(pool, first));
        }
    }

    /// Releases the block that begins at `address`, if its family is in the mask `families`, and
    /// calls `then` with what it was. `None`: there is no such block; why is for the caller to find
    /// out. (With a call, because what `then` does not ask for is then not worked out.)
    #[inline(always)]
    pub(crate) fn release<R>(
        &self,
        address: u64,
        families: u16,
        then: impl FnOnce(Released) -> R,
    ) -> Option<R> {
        if address >= self.huge.base {
            return self.release_huge(address, families).map(then);
        }
        let table = &self.normal.table;
        let start = match table.start(address.wrapping_sub(self.normal.base))? {
            Start::Small(start) => start,
            Start::Large(start) => return self.release_run(NORMAL, start, families).map(then),
        };
        if families >> start.family() & 1 == 0 {
            return None;
        }
        let mut guard = self.arena(start.bins() as usize);
        let arena = &mut *guard;
        let runs = &mut arena.runs[NORMAL];
        let keep = |first, slices| self.keep_run(runs, NORMAL, first, slices);
        let freed = arena.bins.free(table, &start, keep)?;
        let charge = normal_charge(freed.size);
        arena
            .ledger
            .freed(freed.owner.family, freed.owner.module, charge);
        self.credit(arena, NORMAL, charge);
        drop(guard);
        super::janitor::arm();
        Some(then(Released {
            owner: freed.owner,
            charge,
        }))
    }

    fn release_huge(&self, address: u64, families: u16) -> Option<Released> {
        let offset = address.wrapping_sub(self.huge.base);
        match self.huge.table.start(offset)? {
            Start::Small(_) => None,
            Start::Large(start) => self.release_run(HUGE, start, families),
        }
    }

    #[inline(never)]
    fn release_run(&self, pool: usize, start: LargeStart<'_>, families: u16) -> Option<Released> {
        if families >> start.family() & 1 == 0 {
            return None;
        }
        let mut guard = self.arena(start.bins() as usize);
        let arena = &mut *guard;
        let freed = arena.bins.free_large(&start)?;
        let pages = PageKind::from_number(freed.owner.page);
        let (slices, _, charge) = run_shape(pages, freed.size, freed.size);
        arena
            .ledger
            .freed(freed.owner.family, freed.owner.module, charge);
        self.keep_run(&mut arena.runs[pool], pool, start.first(), slices as u32);
        if pages == PageKind::Giant {
            lock(&self.central).give_giant(charge);
            arena.holds_idle = true;
        } else {
            self.credit(arena, pool, charge);
        }
        drop(guard);
        super::janitor::arm();
        Some(Released {
            owner: freed.owner,
            charge,
        })
    }

    /// Keeps a freed run for reuse, or gives it to the store.
    #[inline]
    fn keep_run(&self, runs: &mut RunCache, pool: usize, first: u32, slices: u32) {
        if !runs.put(first, slices) {
            self.give_back(pool, first);
        }
    }

    #[inline(never)]
    fn give_back(&self, pool: usize, first: u32) {
        self.back_activity.fetch_add(1, Ordering::Relaxed);
        lock(&self.back)[pool].free(self.leave(pool, first));
    }

    /// An arena gets the bytes of a block that was released to it, and has something idle now. It
    /// gives credit back when it has much more than it takes at a time.
    #[inline(always)]
    fn credit(&self, arena: &mut Arena, pool: usize, charge: u64) {
        const PLENTY: [u64; 2] = [4 << 20, 256 << 20];
        arena.holds_idle = true;
        arena.credit[pool] += charge;
        if arena.credit[pool] > PLENTY[pool] {
            self.settle(arena, pool);
        }
    }

    #[cold]
    fn settle(&self, arena: &mut Arena, pool: usize) {
        let mut central = lock(&self.central);
        let keep = central.batch(pool).min(arena.credit[pool]);
        central.free[pool] += arena.credit[pool] - keep;
        arena.credit[pool] = keep;
    }

    /// What became of pinning, for host memory.
    pub(crate) fn pins(&self) -> Option<&Pins> {
        self.pins.as_ref()
    }
}

/// One after the other, and not inlined: an arena is large, and callers may have small stacks.
#[inline(never)]
fn fresh_arenas() -> Box<[QuickLock<Arena>; ARENAS]> {
    in_a_box((0..ARENAS as u32).map(|number| QuickLock::new(Arena::new(number))))
}

/// As [`fresh_arenas`]: a heap is large, too.
#[inline(never)]
fn fresh_heaps(normal: &Region<NORMAL_SHIFT>, huge: &Region<HUGE_SHIFT>) -> Box<[RangeHeap; 2]> {
    in_a_box(
        [normal.slices(), huge.slices()]
            .into_iter()
            .map(RangeHeap::new),
    )
}

/// Makes an array where it will stay, so that it never lies on the stack as a whole.
fn in_a_box<T, const N: usize>(items: impl Iterator<Item = T>) -> Box<[T; N]> {
    let mut list = Vec::with_capacity(N);
    list.extend(items.take(N));
    match Box::try_from(list) {
        Ok(array) => array,
        Err(_) => unreachable!("as many items as the array has places"),
    }
}
