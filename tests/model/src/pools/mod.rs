//! Stream-ordered pools against a model: which idle piece serves a request, what each count and the
//! device say, and what the blocks hold once the streams have run.
//!
//! Streams stand still at gates that the model opens, and everything else is waited for, so that the
//! model knows after every call what is done.

mod blocks;
mod streams;

use std::collections::BTreeMap;
use std::ffi::c_void;

use cannery_abi as abi;

use crate::api;
use crate::config::Config;
use crate::journal::Journal;
use crate::model::{Code, PARAM_INVALID};
use crate::source::Source;
use streams::{Event, Stream};

const UNIT: u64 = 2 << 20;
/// Bytes of every unit that are filled.
const SAMPLE: usize = 4096;
const STREAMS: usize = 4;
const EVENTS: usize = 3;
const MOST_POOLS: usize = 3;
const INTERNAL: Code = 507_000;
const NOT_SUPPORTED: Code = 207_000;

const THRESHOLD: abi::aclrtMemPoolAttr = abi::ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD;
const RESERVED: abi::aclrtMemPoolAttr = abi::ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT;
const RESERVED_HIGH: abi::aclrtMemPoolAttr = abi::ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH;
const USED: abi::aclrtMemPoolAttr = abi::ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT;
const USED_HIGH: abi::aclrtMemPoolAttr = abi::ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH;

/// A stream and how much was queued on it.
type Position = (usize, usize);

#[derive(Clone, Copy)]
struct Piece {
    units: u64,
    /// `None`: given back without a stream.
    ticket: Option<Position>,
}

#[derive(Clone, Copy)]
struct Live {
    units: u64,
    tag: u8,
    pool: u64,
}

#[derive(Default)]
struct Pool {
    limit: u64,
    ended: bool,
    rules: [bool; 3],
    threshold: u64,
    idle: BTreeMap<u64, Piece>,
    /// Given up, while the release is not done.
    leaving: Vec<(Position, u64)>,
    used: u64,
    used_high: u64,
    reserved_high: u64,
    /// Units that are charged in normal pages.
    normal: u64,
}

impl Pool {
    fn idle_units(&self) -> u64 {
        self.idle.values().map(|piece| piece.units).sum()
    }

    fn reserved(&self) -> u64 {
        self.used + self.idle_units()
    }

    fn leaving_units(&self) -> u64 {
        self.leaving.iter().map(|(_, units)| units).sum()
    }
}

struct World {
    source: Source,
    streams: [Stream; STREAMS],
    /// Runs always.
    control: u64,
    gates: u64,
    events: [Event; EVENTS],
    pools: BTreeMap<u64, Pool>,
    blocks: BTreeMap<u64, Live>,
    gone: Vec<u64>,
    /// Units of huge, and of normal pages that are free.
    free: (u64, u64),
    /// Free bytes when no pool holds anything.
    base: usize,
    tag: u8,
    journal: Journal,
}

/// Plays random calls. Returns how many were made, and how many kinds of answers there were.
pub(crate) fn play(config: &Config, seed: u64, steps: u64) -> (u64, usize) {
    assert_eq!(api::aclrtSetDevice(0), 0);
    if !config.has("aclrtMemPoolCreate") {
        let mut pool = std::ptr::null_mut();
        let code =
            api::aclrtMemPoolCreate(&raw mut pool, &raw const *Box::leak(Box::new(props(0))));
        assert_eq!((code, pool.is_null()), (NOT_SUPPORTED, true));
        return (1, 1);
    }
    let mut world = World {
        source: Source::seeded(seed ^ 0x706f_6f6c),
        streams: Default::default(),
        control: 0,
        gates: 0,
        events: [Event::default(); EVENTS],
        pools: BTreeMap::new(),
        blocks: BTreeMap::new(),
        gone: vec![0x1000],
        free: (0, 0),
        base: 0,
        tag: 0,
        journal: Journal::default(),
    };
    world.begin();
    let steps = steps / 10;
    for _ in 0..steps {
        world.step();
    }
    world.finish();
    (steps, world.journal.kinds())
}

fn props(most: u64) -> abi::aclrtMemPoolProps {
    abi::aclrtMemPoolProps {
        allocType: abi::ACL_MEM_ALLOCATION_TYPE_PINNED,
        handleType: abi::ACL_MEM_HANDLE_TYPE_NONE,
        location: abi::aclrtMemLocation {
            id: 0,
            r#type: abi::ACL_MEM_LOCATION_TYPE_DEVICE,
        },
        maxSize: most as usize,
        reserved: [0; 32],
    }
}

fn free_bytes(attribute: abi::aclrtMemAttr) -> usize {
    let (mut free, mut total) = (0, 0);
    let code = api::aclrtGetMemInfo(attribute, &raw mut free, &raw mut total);
    assert_eq!(code, 0, "aclrtGetMemInfo");
    free
}

fn new_stream() -> u64 {
    let mut out = std::ptr::null_mut();
    assert_eq!(api::aclrtCreateStream(&raw mut out), 0);
    out as u64
}

impl World {
    fn begin(&mut self) {
        self.control = new_stream();
        let (mut gates, bytes) = (std::ptr::null_mut(), 8 * STREAMS);
        // The device may have pages of one kind only.
        let small = api::aclrtMalloc(&raw mut gates, bytes, abi::ACL_MEM_MALLOC_NORMAL_ONLY);
        if small != 0 {
            let code = api::aclrtMalloc(&raw mut gates, bytes, abi::ACL_MEM_MALLOC_HUGE_ONLY);
            assert_eq!(code, 0);
        }
        assert_eq!(api::aclrtMemset(gates, bytes, 0, bytes), 0);
        self.gates = gates as u64;
        for (number, stream) in self.streams.iter_mut().enumerate() {
            (stream.handle, stream.gate) = (new_stream(), gates as u64 + 8 * number as u64);
        }
        for event in &mut self.events {
            let mut out = std::ptr::null_mut();
            assert_eq!(api::aclrtCreateEvent(&raw mut out), 0);
            event.handle = out as u64;
        }
        let (huge, normal) = (
            free_bytes(abi::ACL_MEM_HUGE) as u64,
            free_bytes(abi::ACL_MEM_NORMAL) as u64,
        );
        self.free = (huge / UNIT, normal / UNIT);
        self.base = (huge + normal) as usize;
    }

    fn step(&mut self) {
        match self
            .source
            .weighted(&[3, 1, 34, 34, 2, 6, 6, 4, 5, 5, 3, 4])
        {
            0 => self.create(),
            1 => self.destroy(),
            2 => self.alloc(),
            3 => self.free(),
            4 => self.free_at_once(),
            5 => self.record(),
            6 => self.wait(),
            7 => self.close(),
            8 => self.open(),
            9 => self.synchronize(),
            10 => self.trim(),
            _ => self.set(),
        }
        self.figures();
    }

    /// A pool with a handle.
    fn pool(&mut self) -> Option<u64> {
        let living: Vec<u64> = self
            .pools
            .iter()
            .filter(|(_, pool)| !pool.ended)
            .map(|(handle, _)| *handle)
            .collect();
        (!living.is_empty()).then(|| self.source.pick(&living))
    }

    fn create(&mut self) {
        if self.pools.len() == MOST_POOLS {
            return;
        }
        let most = self.source.below(30 * UNIT) + 1;
        let mut out = std::ptr::null_mut();
        let props = props(most);
        let code = api::aclrtMemPoolCreate(&raw mut out, &raw const props);
        self.journal.judge(format!("create {most}"), code, 0);
        let pool = Pool {
            limit: most.div_ceil(UNIT),
            rules: [true; 3],
            ..Pool::default()
        };
        assert!(self.pools.insert(out as u64, pool).is_none());
    }

    fn destroy(&mut self) {
        let Some(handle) = self.pool() else { return };
        let code = api::aclrtMemPoolDestroy(handle as *mut c_void);
        self.journal.judge(format!("destroy {handle:#x}"), code, 0);
        self.end(handle);
        let code = api::aclrtMemPoolDestroy(handle as *mut c_void);
        self.journal
            .judge(format!("destroy again {handle:#x}"), code, INTERNAL);
        let code = api::aclrtMemPoolTrimTo(handle as *mut c_void, 0);
        self.journal
            .judge(format!("trim dead {handle:#x}"), code, INTERNAL);
    }

    fn end(&mut self, handle: u64) {
        self.pools.get_mut(&handle).expect("it lives").ended = true;
        self.give_up_all(handle);
        self.forget_ended();
    }

    /// Idle memory goes: what is done at once, the rest when it is.
    fn give_up_all(&mut self, handle: u64) {
        let idle = std::mem::take(&mut self.pools.get_mut(&handle).expect("known").idle);
        for piece in idle.into_values() {
            let pending = piece.ticket.filter(|ticket| !self.is_done(*ticket));
            let pool = self.pools.get_mut(&handle).expect("known");
            match pending {
                Some(ticket) => pool.leaving.push((ticket, piece.units)),
                None => refund(pool, &mut self.free, piece.units),
            }
        }
    }

    /// Idle memory that is done goes until no more than `keep` units are reserved. Which pieces go is
    /// the pool's own affair: when some stay, the model has them all go.
    fn give_up_done(&mut self, handle: u64, keep: u64) {
        let done = |world: &Self, piece: &Piece| piece.ticket.is_none_or(|at| world.is_done(at));
        let pool = &self.pools[&handle];
        let gone: u64 = pool
            .idle
            .values()
            .filter(|piece| done(self, piece))
            .map(|piece| piece.units)
            .sum();
        let surplus = pool.reserved().saturating_sub(keep);
        if surplus == 0 || pool.ended {
            return;
        }
        if surplus < gone {
            let right = (pool.reserved() - surplus) * UNIT;
            assert_eq!(
                self.attribute(handle, RESERVED),
                right,
                "{}",
                self.journal.last()
            );
            self.trim_to(handle, self.pools[&handle].used * UNIT);
            return;
        }
        let streams = &self.streams;
        let pool = self.pools.get_mut(&handle).expect("known");
        let is_done = |(stream, position): Position| streams[stream].done >= position;
        pool.idle
            .retain(|_, piece| piece.ticket.is_some_and(|ticket| !is_done(ticket)));
        refund(pool, &mut self.free, gone);
    }

    fn trim(&mut self) {
        let Some(handle) = self.pool() else { return };
        let pool = &self.pools[&handle];
        let (used, limit, reserved) = (pool.used, pool.limit, pool.reserved());
        let keep = match self.source.below(6) {
            0 => (limit * UNIT) + 1,
            1 if used > 0 => used * UNIT - 1,
            2 => limit * UNIT,
            3 if self.is_quiet() => used * UNIT + self.source.below((reserved - used) * UNIT + 1),
            _ => used * UNIT,
        };
        if keep > limit * UNIT || keep < used * UNIT {
            let code = api::aclrtMemPoolTrimTo(handle as *mut c_void, keep as usize);
            self.journal
                .judge(format!("trim {handle:#x} to {keep}"), code, INTERNAL);
            return;
        }
        self.trim_to(handle, keep);
        if keep > used * UNIT && keep < reserved * UNIT {
            let right = keep.div_ceil(UNIT) * UNIT;
            assert_eq!(
                self.attribute(handle, RESERVED),
                right,
                "{}",
                self.journal.last()
            );
            self.trim_to(handle, used * UNIT);
        }
    }

    fn trim_to(&mut self, handle: u64, keep: u64) {
        let code = api::aclrtMemPoolTrimTo(handle as *mut c_void, keep as usize);
        self.journal
            .judge(format!("trim {handle:#x} to {keep}"), code, 0);
        if keep == self.pools[&handle].used * UNIT {
            self.give_up_all(handle);
        }
    }

    fn attribute(&self, handle: u64, attribute: abi::aclrtMemPoolAttr) -> u64 {
        let mut value = 0u64;
        let place = (&raw mut value).cast();
        let code = api::aclrtMemPoolGetAttr(handle as *mut c_void, attribute, place);
        assert_eq!(code, 0, "aclrtMemPoolGetAttr({attribute})");
        value
    }

    fn set(&mut self) {
        let Some(handle) = self.pool() else { return };
        let attribute =
            self.source
                .pick(&[1, 2, 3, THRESHOLD, THRESHOLD, RESERVED_HIGH, USED_HIGH]);
        let limit = self.pools[&handle].limit;
        let mut value = match attribute {
            1..=3 => u64::from(!self.source.once_in(4)),
            THRESHOLD => self.source.below((limit + 2) * UNIT),
            _ => self.source.below(8) / 7,
        };
        let right = match attribute {
            THRESHOLD if value > limit * UNIT => INTERNAL,
            RESERVED_HIGH | USED_HIGH if value != 0 => PARAM_INVALID,
            _ => 0,
        };
        let place = (&raw mut value).cast();
        let code = api::aclrtMemPoolSetAttr(handle as *mut c_void, attribute, place);
        self.journal.judge(
            format!("set {attribute} of {handle:#x} to {value}"),
            code,
            right,
        );
        let pool = self.pools.get_mut(&handle).expect("it lives");
        match attribute {
            _ if right != 0 => {}
            1..=3 => pool.rules[attribute as usize - 1] = value != 0,
            THRESHOLD => pool.threshold = value,
            RESERVED_HIGH => pool.reserved_high = 0,
            _ => pool.used_high = 0,
        }
    }

    /// Every count of every pool, and what the device has left.
    fn figures(&mut self) {
        let blocks = &self.blocks;
        self.gone.retain(|at| !blocks.contains_key(at));
        for (&handle, pool) in self.pools.iter().filter(|(_, pool)| !pool.ended) {
            let right = [
                (USED, pool.used * UNIT),
                (RESERVED, pool.reserved() * UNIT),
                (USED_HIGH, pool.used_high * UNIT),
                (RESERVED_HIGH, pool.reserved_high * UNIT),
                (THRESHOLD, pool.threshold),
            ];
            for (attribute, right) in right {
                let got = self.attribute(handle, attribute);
                assert_eq!(
                    got,
                    right,
                    "{attribute} of {handle:#x}\n{}",
                    self.journal.last()
                );
            }
        }
        let charged: u64 = self
            .pools
            .values()
            .map(|pool| pool.reserved() + pool.leaving_units())
            .sum();
        let free = free_bytes(abi::ACL_MEM_HUGE) + free_bytes(abi::ACL_MEM_NORMAL);
        let right = self.base - (charged * UNIT) as usize;
        assert_eq!(
            free,
            right,
            "free bytes of the device\n{}",
            self.journal.last()
        );
    }

    /// Gives everything back, and sees that nothing is left.
    fn finish(&mut self) {
        self.open();
        self.figures();
        while let Some((address, block)) = self.blocks.pop_first() {
            let on = self.streams[0].handle as *mut c_void;
            let code = api::aclrtMemPoolFreeAsync(address as *mut c_void, on);
            self.journal
                .judge(format!("end: free {address:#x}"), code, 0);
            let ticket = Some(self.now(0));
            self.came_back(address, block, ticket);
        }
        while let Some(handle) = self.pool() {
            let code = api::aclrtMemPoolDestroy(handle as *mut c_void);
            self.journal
                .judge(format!("end: destroy {handle:#x}"), code, 0);
            self.end(handle);
        }
        self.figures();
        assert!(self.pools.is_empty(), "the model itself is wrong");
        for stream in &self.streams {
            assert_eq!(api::aclrtDestroyStream(stream.handle as *mut c_void), 0);
        }
        assert_eq!(api::aclrtDestroyStream(self.control as *mut c_void), 0);
        assert_eq!(api::aclrtFree(self.gates as *mut c_void), 0);
        for event in self.events {
            assert_eq!(api::aclrtDestroyEvent(event.handle as *mut c_void), 0);
        }
    }
}

/// The device has units back: those in normal pages first.
fn refund(pool: &mut Pool, free: &mut (u64, u64), units: u64) {
    let normal = units.min(pool.normal);
    pool.normal -= normal;
    free.0 += units - normal;
    free.1 += normal;
}
