//! The memory of one device, or the pinned memory of the host.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cannery_heap::range::{NodeId, RangeHeap};
use cannery_heap::slab::{
    self, Found, LargeInfo, OBJECTS_PER_SLICE, Owner, Place, SpanRecord, SpanTable,
};
use cannery_observe::{Counters, Family, PageKind};

use super::arena::{Arena, HUGE, NORMAL};
use super::pins::Pins;
use crate::os::lock::{QuickGuard, QuickLock};
use crate::os::map::{self, Access, zeroed_array};
use crate::thread::{self, ARENAS};
use crate::window::{DevicePlan, MemoryPlan};

/// Slices of the pool of normal pages: 64 KiB. Of huge pages: one page.
const SHIFTS: [u32; 2] = [16, 21];
/// No block is larger: far beyond any store, and no sum of such sizes wraps.
const LARGEST: u64 = 1 << 46;
/// 2 MiB pages in a 1 GiB page.
const PAGES_IN_GIANT: u64 = 512;

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
    pub(crate) family: Family,
    pub(crate) module: u8,
    /// Bytes that it was charged.
    pub(crate) charge: u64,
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

/// Addresses of one pool and what is known about them.
struct Region {
    base: u64,
    bytes: u64,
    distance: u64,
    table: SpanTable<'static>,
    map: &'static [AtomicU32],
    records: &'static [SpanRecord],
    objects: &'static [AtomicU32],
}

impl Region {
    fn new(base: u64, bytes: u64, distance: u64, shift: u32) -> io::Result<Region> {
        let slices = (bytes >> shift) as usize;
        let map = zeroed_array::<AtomicU32>(slices)?;
        let records = zeroed_array::<SpanRecord>(slices)?;
        let words = if shift == SHIFTS[NORMAL] {
            slices * OBJECTS_PER_SLICE
        } else {
            0
        };
        let objects = zeroed_array::<AtomicU32>(words)?;
        let table = SpanTable::new(shift, map, records, objects);
        Ok(Region {
            base,
            bytes,
            distance,
            table,
            map,
            records,
            objects,
        })
    }

    #[inline]
    fn find(&self, address: u64) -> Option<Found> {
        let offset = address.wrapping_sub(self.base);
        if offset < self.bytes {
            self.table.find(offset)
        } else {
            None
        }
    }

    /// Gives the pages of free slices back to the system, and those of their records.
    fn discard(&self, first: u64, slices: u64) {
        let shift = self.table.shift();
        map::discard(
            self.base.wrapping_add(self.distance) + (first << shift),
            slices << shift,
        );
        let (from, to) = (first as usize, (first + slices) as usize);
        if !self.objects.is_empty() {
            map::discard_part(&self.objects[from * OBJECTS_PER_SLICE..to * OBJECTS_PER_SLICE]);
        }
        map::discard_part(&self.records[from..to]);
        map::discard_part(&self.map[from..to]);
    }
}

/// Bytes that no arena has credit for.
struct Central {
    free: [u64; 2],
    total: [u64; 2],
    giant_free: u64,
    giant_total: u64,
    /// Normal pages charged by somebody else: host memory in RC mode.
    foreign: u64,
    /// What an arena takes beyond its need.
    batch: [u64; 2],
}

/// Free and total bytes of the pools, read in one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) normal_free: u64,
    pub(crate) normal_total: u64,
    /// Without the part reserved for giant pages.
    pub(crate) huge_free: u64,
    pub(crate) huge_total: u64,
    /// The part reserved for giant pages.
    pub(crate) giant_free: u64,
    pub(crate) giant_total: u64,
}

/// See the module.
pub(crate) struct Store {
    regions: [Region; 2],
    arenas: Box<[QuickLock<Arena>]>,
    /// Bit i: arena i was used.
    active: AtomicU32,
    back: Mutex<[RangeHeap; 2]>,
    back_activity: AtomicU64,
    back_seen: AtomicU64,
    central: Mutex<Central>,
    purge: Mutex<()>,
    pins: Option<Pins>,
    failed: AtomicU64,
    recovered: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store {
    /// The memory of device `index`. In EP mode its alias is made readable and writable, in RC mode
    /// the addresses themselves are.
    pub(crate) fn for_device(_index: u32, plan: &DevicePlan, _rc: bool) -> io::Result<Store> {
        let alias = plan.base.wrapping_add(plan.distance);
        map::protect(alias, plan.bytes, Access::ReadWrite)?;
        map::want_huge_pages(alias + plan.normal_bytes, plan.bytes - plan.normal_bytes);
        let regions = [
            Region::new(plan.base, plan.normal_bytes, plan.distance, SHIFTS[NORMAL])?,
            Region::new(
                plan.base + plan.normal_bytes,
                plan.bytes - plan.normal_bytes,
                plan.distance,
                SHIFTS[HUGE],
            )?,
        ];
        Ok(Self::new(regions, Central::for_device(&plan.memory), None))
    }

    /// Pinned host memory at `base`, bounded by what the system gives.
    pub(crate) fn for_host(base: u64, bytes: u64, pins: Pins) -> io::Result<Store> {
        let regions = [
            Region::new(base, bytes, 0, SHIFTS[NORMAL])?,
            Region::new(base + bytes, 0, 0, SHIFTS[HUGE])?,
        ];
        let plenty = MemoryPlan {
            capacity: bytes,
            huge: 0,
            giant: 0,
            normal: bytes,
            known: false,
        };
        Ok(Self::new(regions, Central::for_device(&plenty), Some(pins)))
    }

    fn new(regions: [Region; 2], central: Central, pins: Option<Pins>) -> Store {
        let heaps = fresh_heaps(&regions);
        Store {
            regions,
            arenas: fresh_arenas(),
            active: AtomicU32::new(0),
            back: Mutex::new(heaps),
            back_activity: AtomicU64::new(0),
            back_seen: AtomicU64::new(0),
            central: Mutex::new(central),
            purge: Mutex::new(()),
            pins,
            failed: AtomicU64::new(0),
            recovered: AtomicU64::new(0),
        }
    }

    /// The live block that holds `address`, interior addresses included. Lock-free.
    #[inline]
    pub(crate) fn find(&self, address: u64) -> Option<(u64, Found)> {
        let region = &self.regions[usize::from(address >= self.regions[HUGE].base)];
        region
            .find(address)
            .map(|found| (region.base + found.start, found))
    }

    /// Kind of the pages behind a block found at `address`.
    pub(crate) fn pages_of(&self, address: u64, found: &Found) -> PageKind {
        if address >= self.regions[HUGE].base && matches!(found.place, Place::Large { .. }) {
            PageKind::from_number(found.owner.page)
        } else {
            PageKind::Normal
        }
    }

    /// An arena that has drawn credit before, or is about to.
    #[inline]
    fn arena(&self, number: usize) -> QuickGuard<'_, Arena> {
        self.arenas[number].lock()
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

    /// Makes a block. Contents are whatever was there.
    #[inline]
    pub(crate) fn alloc(&self, number: usize, request: &Request) -> Result<u64, Refusal> {
        if request.room > LARGEST {
            return Err(Refusal::Memory);
        }
        if request.pages == PageKind::Normal
            && request.room <= u64::from(slab::MAX_SMALL_UNITS) * slab::UNIT
        {
            match self.alloc_small(number, request) {
                // A span locks more than one block needs; a run of its own may fit the limit.
                Err(Refusal::Pinning(_)) => self.alloc_run(number, request),
                other => other,
            }
        } else {
            self.alloc_run(number, request)
        }
    }

    #[inline]
    fn alloc_small(&self, number: usize, request: &Request) -> Result<u64, Refusal> {
        let charge = normal_charge(request.size);
        let class = slab::class_of(request.room.div_ceil(slab::UNIT) as u32);
        let owner = Owner {
            family: request.family as u8,
            module: request.module,
            page: PageKind::Normal as u8,
        };
        let region = &self.regions[NORMAL];
        let mut arena = self.paid(number, NORMAL, charge)?;
        loop {
            let (size, requested) = (request.size, request.requested);
            if let Some(offset) = arena
                .bins
                .alloc(&region.table, class, size, requested, owner)
            {
                arena
                    .counters
                    .allocated(request.family, request.module, charge);
                return Ok(region.base + offset);
            }
            match self.take_run(&mut arena, NORMAL, slab::span_slices(class), 1) {
                Ok(first) => arena.bins.add_span(&region.table, class, first),
                Err(refusal) => {
                    arena.credit[NORMAL] += charge;
                    drop(arena);
                    self.retry_addresses(&refusal)?;
                    arena = self.paid(number, NORMAL, charge)?;
                    // Once: addresses that are short after everything idle was given up stay short.
                    match self.take_run(&mut arena, NORMAL, slab::span_slices(class), 1) {
                        Ok(first) => arena.bins.add_span(&region.table, class, first),
                        Err(refusal) => {
                            arena.credit[NORMAL] += charge;
                            return Err(refusal);
                        }
                    }
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
        let region = &self.regions[pool];
        region.table.publish(&LargeInfo {
            first,
            slices,
            size: request.size,
            requested: request.requested,
            owner: Owner {
                family: request.family as u8,
                module: request.module,
                page: request.pages as u8,
            },
        });
        arena
            .counters
            .allocated(request.family, request.module, charge);
        Ok(region.base + (u64::from(first) << region.table.shift()))
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
            if central.free[pool] >= need {
                let take = central.free[pool].min(need + central.batch[pool]);
                central.free[pool] -= take;
                arena.credit[pool] = arena.credit[pool] + take - charge;
                return Ok(arena);
            }
        }
        drop(arena);
        // Short: other arenas may have credit. With all of them locked the answer is exact.
        self.with_all_credit(pool, |central| {
            central.free[pool] = central.free[pool].checked_sub(charge)?;
            Some(())
        })
        .ok_or(Refusal::Memory)?;
        Ok(self.arena(number))
    }

    /// Collects the credit of every arena and calls `act` while all of them stay locked.
    fn with_all_credit<R>(&self, pool: usize, act: impl FnOnce(&mut Central) -> R) -> R {
        loop {
            let active = self.active.load(Ordering::Acquire);
            let mut arenas = self.all_arenas();
            let mut central = lock(&self.central);
            if self.active.load(Ordering::Acquire) != active {
                // An arena came to life meanwhile and may have drawn credit: look again.
                continue;
            }
            for arena in &mut arenas {
                central.free[pool] += std::mem::take(&mut arena.credit[pool]);
            }
            return act(&mut central);
        }
    }

    fn pay_giant(&self, charge: u64) -> Result<(), Refusal> {
        self.with_all_credit(HUGE, |central| central.take_giant(charge))
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
        let region = &self.regions[pool];
        if let Some(pins) = &self.pins {
            let bytes = range.len << region.table.shift();
            if let Err(error) = pins.hold(range.start << region.table.shift(), bytes) {
                back[pool].free_clean(range.id);
                return Err(Refusal::Pinning(error));
            }
        }
        region.table.set_note(first, range.id.index());
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
        arena.bins.flush(&self.regions[NORMAL].table, |first, _| {
            idle.push((NORMAL, first))
        });
        let mut back = lock(&self.back);
        for (pool, first) in idle {
            back[pool].free(NodeId::from_index(self.regions[pool].table.note(first)));
        }
    }

    /// Releases the block that begins at `address`, if its family is in the mask `families`.
    /// `None`: there is no such block; why is for the caller to find out.
    #[inline]
    pub(crate) fn release(&self, address: u64, families: u16) -> Option<Released> {
        let region = &self.regions[usize::from(address >= self.regions[HUGE].base)];
        let offset = address.wrapping_sub(region.base);
        if offset >= region.bytes {
            return None;
        }
        let (place, family) = region.table.find_start(offset)?;
        if families >> family & 1 == 0 {
            return None;
        }
        self.free(address, place)
    }

    #[inline]
    fn free(&self, address: u64, place: Place) -> Option<Released> {
        let pool = usize::from(address >= self.regions[HUGE].base);
        let table = &self.regions[pool].table;
        match place {
            Place::Small { span, index, bins } => {
                let mut arena = self.arena(bins as usize % ARENAS);
                let freed = arena.bins.free(table, span, index)?;
                let charge = normal_charge(freed.size);
                let family = Family::from_number(freed.owner.family);
                arena.counters.freed(family, freed.owner.module, charge);
                arena.credit[NORMAL] += charge;
                if let Some((first, slices)) = freed.emptied {
                    self.keep_run(&mut arena, NORMAL, first, slices);
                } else if freed.idle {
                    self.now_idle(&mut arena);
                }
                self.settle(&mut arena, NORMAL);
                Some(Released {
                    family,
                    module: freed.owner.module,
                    charge,
                })
            }
            Place::Large { first, .. } => {
                let info = table.retract(first)?;
                let pages = PageKind::from_number(info.owner.page);
                let (_, _, charge) = run_shape(pages, info.size, info.size);
                let family = Family::from_number(info.owner.family);
                let number = thread::arena();
                self.activate(number);
                let mut arena = self.arena(number);
                arena.counters.freed(family, info.owner.module, charge);
                self.keep_run(&mut arena, pool, first, info.slices);
                if pages == PageKind::Giant {
                    lock(&self.central).give_giant(charge);
                } else {
                    arena.credit[pool] += charge;
                    self.settle(&mut arena, pool);
                }
                Some(Released {
                    family,
                    module: info.owner.module,
                    charge,
                })
            }
        }
    }

    /// Keeps a freed run for reuse, or gives it to the store.
    fn keep_run(&self, arena: &mut Arena, pool: usize, first: u32, slices: u32) {
        if arena.runs[pool].put(first, slices) {
            self.now_idle(arena);
        } else {
            self.back_activity.fetch_add(1, Ordering::Relaxed);
            let node = NodeId::from_index(self.regions[pool].table.note(first));
            lock(&self.back)[pool].free(node);
            super::janitor::arm();
        }
    }

    fn now_idle(&self, arena: &mut Arena) {
        arena.holds_idle = true;
        super::janitor::arm();
    }

    /// Gives credit back when an arena has much more than it takes at a time.
    #[inline]
    fn settle(&self, arena: &mut Arena, pool: usize) {
        const PLENTY: [u64; 2] = [4 << 20, 256 << 20];
        if arena.credit[pool] > PLENTY[pool] {
            let mut central = lock(&self.central);
            let keep = central.batch[pool].min(arena.credit[pool]);
            central.free[pool] += arena.credit[pool] - keep;
            arena.credit[pool] = keep;
        }
    }

    /// Free and total bytes, exact: taken with every arena locked.
    pub(crate) fn usage(&self) -> Usage {
        let arenas = self.all_arenas();
        let central = lock(&self.central);
        let credit = |pool: usize| arenas.iter().map(|arena| arena.credit[pool]).sum::<u64>();
        Usage {
            normal_free: central.free[NORMAL] + credit(NORMAL),
            normal_total: central.total[NORMAL],
            huge_free: central.free[HUGE] + credit(HUGE),
            huge_total: central.total[HUGE],
            giant_free: central.giant_free,
            giant_total: central.giant_total,
        }
    }

    /// Sum of the counters, exact.
    pub(crate) fn counters(&self) -> Counters {
        let mut sum = Counters::default();
        for arena in self.all_arenas() {
            sum.add(&arena.counters);
        }
        sum
    }

    /// Largest run that could be handed out from a pool now, in bytes.
    pub(crate) fn largest(&self, pages: PageKind) -> u64 {
        self.give_up_idle();
        let usage = self.usage();
        let pool = if pages == PageKind::Normal {
            NORMAL
        } else {
            HUGE
        };
        let addresses = lock(&self.back)[pool].largest_free() << SHIFTS[pool];
        match pages {
            PageKind::Normal => usage.normal_free.min(addresses),
            PageKind::Huge => usage.huge_free.min(addresses),
            PageKind::Giant => (usage.huge_free + usage.giant_free).min(addresses) >> 30 << 30,
        }
    }

    /// Counts a refused request.
    pub(crate) fn count_failure(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a shortage that a retry cured.
    pub(crate) fn count_recovery(&self) {
        self.recovered.fetch_add(1, Ordering::Relaxed);
    }

    /// Refused requests, and those of them that a retry cured.
    pub(crate) fn failures(&self) -> (u64, u64) {
        (
            self.failed.load(Ordering::Relaxed),
            self.recovered.load(Ordering::Relaxed),
        )
    }

    /// Charges normal pages to somebody outside of the store.
    pub(crate) fn charge_foreign(&self, bytes: u64) -> bool {
        self.with_all_credit(NORMAL, |central| {
            match central.free[NORMAL].checked_sub(bytes) {
                Some(left) => {
                    central.free[NORMAL] = left;
                    central.foreign += bytes;
                    true
                }
                None => false,
            }
        })
    }

    /// Undoes [`charge_foreign`](Self::charge_foreign).
    pub(crate) fn release_foreign(&self, bytes: u64) {
        let mut central = lock(&self.central);
        central.free[NORMAL] += bytes;
        central.foreign -= bytes;
    }

    /// Takes all memory away: no block is live afterwards. The caller makes sure that no copy is
    /// under way.
    pub(crate) fn reset(&self) {
        let _purge = lock(&self.purge);
        let mut arenas = self.all_arenas();
        let mut back = lock(&self.back);
        let mut central = lock(&self.central);
        for arena in &mut arenas {
            arena.clear();
        }
        for region in &self.regions {
            // The records first: nothing is found any more while the pages go.
            map::discard_part(region.records);
            map::discard_part(region.map);
            map::discard_part(region.objects);
            map::discard(region.base.wrapping_add(region.distance), region.bytes);
        }
        *back = fresh_heaps(&self.regions);
        central.refill();
    }

    /// One round of the janitor: gives up what was idle since the last round and returns dirty
    /// pages to the system. True: there may be more to do next time.
    pub(crate) fn tidy(&self) -> bool {
        let mut more = false;
        let active = self.active.load(Ordering::Acquire);
        for number in (0..ARENAS).filter(|n| active >> n & 1 == 1) {
            let mut arena = self.arenas[number].lock();
            if !arena.holds_idle {
                continue;
            }
            if arena.activity() == arena.seen {
                self.drain(&mut arena);
            } else {
                arena.seen = arena.activity();
                more = true;
            }
        }
        let activity = self.back_activity.load(Ordering::Relaxed);
        if self.back_seen.swap(activity, Ordering::Relaxed) == activity {
            for pool in [NORMAL, HUGE] {
                self.purge(pool);
            }
            more
        } else {
            true
        }
    }

    fn purge(&self, pool: usize) {
        loop {
            let _purge = lock(&self.purge);
            let Some(range) = lock(&self.back)[pool].take_dirty() else {
                return;
            };
            let shift = self.regions[pool].table.shift();
            if let Some(pins) = &self.pins {
                pins.let_go(range.start << shift, range.len << shift);
            }
            self.regions[pool].discard(range.start, range.len);
            lock(&self.back)[pool].free_clean(range.id);
        }
    }

    /// What became of pinning, for host memory.
    pub(crate) fn pins(&self) -> Option<&Pins> {
        self.pins.as_ref()
    }
}

impl Central {
    fn for_device(plan: &MemoryPlan) -> Central {
        let huge = plan.huge - plan.giant;
        // Small devices share out in small steps, so that credit does not pile up in one arena.
        let batch = [
            (plan.normal / 64).min(1 << 20) & !63,
            (huge / 64).min(8 << 20) >> 21 << 21,
        ];
        Central {
            free: [plan.normal, huge],
            total: [plan.normal, huge],
            giant_free: plan.giant,
            giant_total: plan.giant,
            foreign: 0,
            batch,
        }
    }

    /// Reserved giant memory first, then the pool of 2 MiB pages.
    fn take_giant(&mut self, bytes: u64) -> Option<()> {
        let reserved = self.giant_free.min(bytes);
        self.free[HUGE] = self.free[HUGE].checked_sub(bytes - reserved)?;
        self.giant_free -= reserved;
        Some(())
    }

    fn give_giant(&mut self, bytes: u64) {
        let reserved = bytes.min(self.giant_total - self.giant_free);
        self.giant_free += reserved;
        self.free[HUGE] += bytes - reserved;
    }

    fn refill(&mut self) {
        self.free = self.total;
        self.free[NORMAL] -= self.foreign;
        self.giant_free = self.giant_total;
    }
}

/// One after the other, and not inlined: an arena is large, and callers may have small stacks.
#[inline(never)]
fn fresh_arenas() -> Box<[QuickLock<Arena>]> {
    let mut arenas = Vec::with_capacity(ARENAS);
    for number in 0..ARENAS as u32 {
        arenas.push(QuickLock::new(Arena::new(number)));
    }
    arenas.into_boxed_slice()
}

fn fresh_heaps(regions: &[Region; 2]) -> [RangeHeap; 2] {
    [
        RangeHeap::new(regions[NORMAL].bytes >> SHIFTS[NORMAL]),
        RangeHeap::new(regions[HUGE].bytes >> SHIFTS[HUGE]),
    ]
}

/// Blocks in normal pages share pages: charged in steps of 64 bytes.
#[inline]
fn normal_charge(size: u64) -> u64 {
    size.next_multiple_of(slab::UNIT)
}

/// Slices, alignment in slices, and charge in bytes of a block with slices of its own.
fn run_shape(pages: PageKind, size: u64, room: u64) -> (u64, u64, u64) {
    match pages {
        PageKind::Normal => (room.div_ceil(1 << SHIFTS[NORMAL]), 1, normal_charge(size)),
        PageKind::Huge => {
            let count = size.div_ceil(1 << SHIFTS[HUGE]);
            (count, 1, count << SHIFTS[HUGE])
        }
        PageKind::Giant => {
            let count = size.div_ceil(1 << 30);
            (count * PAGES_IN_GIANT, PAGES_IN_GIANT, count << 30)
        }
    }
}

/// What a block in these pages is charged, in bytes.
pub(crate) fn charge_of(pages: PageKind, size: u64) -> u64 {
    run_shape(pages, size, size).2
}
