//! Random requests, releases, waits and trims against a model that knows every unit: what a grant may
//! be, what it must be, and that every count is right.

use std::cell::RefCell;
use std::collections::BTreeMap;

use cannery_pool::{Backing, Leaving, Order, Pool, Refusal, Rules, Ticket};
use proptest::prelude::*;

const STREAMS: usize = 4;
const LIMIT: u64 = 160;
const ROOM: u64 = 200;

#[derive(Clone, Debug)]
enum Step {
    /// Work is queued on a stream.
    Queue(usize),
    /// A stream does some of its work.
    Do(usize, u64),
    /// A stream waits for all that another one has queued.
    Wait(usize, usize),
    Alloc(usize, u64),
    Free(usize, usize),
    /// Outside of any stream.
    FreeNow(usize),
    /// A start that may be anything.
    FreeWild(u64),
    /// Idle memory whose release is done goes.
    Threshold(u64),
    /// Idle memory goes.
    Trim(u64),
    /// Everything leaving whose release is done is gone.
    Leave,
    Rules(bool, bool, bool),
    /// How much the device has.
    Capacity(u64),
    ClearHigh,
}

fn step() -> impl Strategy<Value = Step> {
    let stream = || 0..STREAMS;
    let units = prop_oneof![6 => 1..6u64, 2 => 6..40u64, 1 => 60..80u64, 1 => 0..200u64];
    prop_oneof![
        4 => stream().prop_map(Step::Queue),
        3 => (stream(), 1..4u64).prop_map(|(s, n)| Step::Do(s, n)),
        2 => (stream(), stream()).prop_map(|(a, b)| Step::Wait(a, b)),
        12 => (stream(), units).prop_map(|(s, n)| Step::Alloc(s, n)),
        11 => (any::<usize>(), stream()).prop_map(|(i, s)| Step::Free(i, s)),
        1 => any::<usize>().prop_map(Step::FreeNow),
        1 => prop_oneof![0..ROOM + 2, any::<u64>()].prop_map(Step::FreeWild),
        1 => (0..40u64).prop_map(Step::Threshold),
        1 => (0..40u64).prop_map(Step::Trim),
        2 => Just(Step::Leave),
        1 => any::<(bool, bool, bool)>().prop_map(|(a, b, c)| Step::Rules(a, b, c)),
        1 => (40..200u64).prop_map(Step::Capacity),
        1 => Just(Step::ClearHigh),
    ]
}

/// What the streams did, without any cleverness.
#[derive(Default)]
struct Streams {
    queued: [u64; STREAMS],
    done: [u64; STREAMS],
    /// `known[a][b]`: how much of `b` the future of `a` comes after.
    known: [[u64; STREAMS]; STREAMS],
}

struct View<'a>(&'a Streams, usize);

impl Order<usize> for View<'_> {
    fn follows(&self, ticket: &Ticket<usize>) -> bool {
        self.0.known[self.1][ticket.stream] >= ticket.position
    }

    fn is_done(&self, ticket: &Ticket<usize>) -> bool {
        self.0.done[ticket.stream] >= ticket.position
    }
}

/// The device: pays, and keeps the segments that it was told of.
struct Device {
    capacity: u64,
    paid: u64,
    segments: RefCell<BTreeMap<u64, (u64, bool)>>,
}

impl Backing for Device {
    /// The start.
    type Tag = u64;

    fn pay(&mut self, units: u64) -> bool {
        let enough = self.paid + units <= self.capacity;
        self.paid += if enough { units } else { 0 };
        enough
    }

    fn make(&mut self, start: u64, units: u64, live: bool) -> u64 {
        let before = self.segments.borrow_mut().insert(start, (units, live));
        assert_eq!(before, None, "made twice");
        start
    }

    fn unmake(&mut self, tag: u64) {
        let was = self.segments.borrow_mut().remove(&tag);
        assert!(was.is_some(), "unmade without being made");
    }

    fn set_live(&mut self, tag: u64, live: bool) {
        let mut segments = self.segments.borrow_mut();
        let segment = segments.get_mut(&tag).expect("a segment that was made");
        assert_ne!(segment.1, live, "set as it was");
        segment.1 = live;
    }
}

type Released = Option<Ticket<usize>>;

/// What the model knows of the pool.
#[derive(Default)]
struct Model {
    live: BTreeMap<u64, u64>,
    idle: BTreeMap<u64, (u64, Released)>,
    leaving: BTreeMap<u64, (u64, Released)>,
    rules: Rules,
    reserved_high: u64,
    used_high: u64,
}

fn sum<T>(map: &BTreeMap<u64, (u64, T)>) -> u64 {
    map.values().map(|(units, _)| units).sum()
}

impl Model {
    fn used(&self) -> u64 {
        self.live.values().sum()
    }

    fn reserved(&self) -> u64 {
        self.used() + sum(&self.idle)
    }

    fn usable(&self, released: &Released, stream: usize, view: &View<'_>) -> bool {
        released.is_none_or(|ticket| {
            ticket.stream == stream
                || self.rules.opportunistic && view.is_done(&ticket)
                || self.rules.follow_events && view.follows(&ticket)
        })
    }

    /// Length of the longest run of neighbours among idle segments that fit.
    fn longest_run(&self, fits: impl Fn(&Released) -> bool) -> u64 {
        let (mut longest, mut length, mut end) = (0, 0, u64::MAX);
        for (start, (units, released)) in &self.idle {
            if !fits(released) {
                end = u64::MAX;
                continue;
            }
            length = if *start == end {
                length + units
            } else {
                *units
            };
            end = start + units;
            longest = longest.max(length);
        }
        longest
    }

    /// Takes `[start, start + units)` out of the idle segments; returns the releases it had.
    fn take_idle(&mut self, start: u64, units: u64) -> Vec<Released> {
        let (mut at, end) = (start, start + units);
        let mut had = Vec::new();
        while at < end {
            let (length, released) = self.idle.remove(&at).expect("whole idle segments");
            had.push(released);
            at += length;
            if at > end {
                self.idle.insert(end, (at - end, released));
            }
        }
        had
    }

    fn is_unreserved(&self, start: u64, units: u64) -> bool {
        let apart = |(other, length): (u64, u64)| other + length <= start || start + units <= other;
        let pair = |(start, (units, _)): (&u64, &(u64, Released))| (*start, *units);
        self.live.iter().all(|(s, u)| apart((*s, *u)))
            && self.idle.iter().map(pair).all(apart)
            && self.leaving.iter().map(pair).all(apart)
            && start + units <= ROOM
    }

    /// Longest run of addresses that nobody has.
    fn longest_gap(&self) -> u64 {
        let mut taken = vec![false; ROOM as usize];
        let idle = self.idle.iter().chain(&self.leaving);
        let pieces = idle.map(|(start, (units, _))| (*start, *units));
        for (start, units) in pieces.chain(self.live.iter().map(|(s, u)| (*s, *u))) {
            taken[start as usize..(start + units) as usize].fill(true);
        }
        let gaps = taken.split(|taken| *taken).map(<[bool]>::len);
        gaps.max().unwrap_or(0) as u64
    }
}

struct World {
    pool: Pool<usize, u64>,
    device: Device,
    streams: Streams,
    model: Model,
}

impl World {
    fn alloc(&mut self, stream: usize, units: u64) {
        let view = View(&self.streams, stream);
        let model = &self.model;
        let usable = |released: &Released| model.usable(released, stream, &view);
        let enough = |(_, (length, _)): &(&u64, &(u64, Released))| *length >= units;
        let closest = |fits: &dyn Fn(&Released) -> bool| {
            let fitting = model.idle.iter().filter(enough);
            fitting
                .filter(|(_, (_, r))| fits(r))
                .map(|(_, (n, _))| *n)
                .min()
        };
        let at_hand = closest(&usable);
        let after_wait = closest(&|_| model.rules.internal_waits);
        let joined = model.longest_run(usable) >= units;
        let before = model.reserved();
        let leaving = sum(&model.leaving);
        let new = before + leaving + units <= LIMIT
            && before + leaving + units <= self.device.capacity.max(self.device.paid)
            && self.device.paid + units <= self.device.capacity
            && model.longest_gap() >= units;
        let joined_after_waits = model.rules.internal_waits && model.longest_run(|_| true) >= units;

        let got = self.pool.alloc(units, stream, &view, &mut self.device);
        let grant = match got {
            Ok(grant) => grant,
            Err(refusal) => {
                let ways = at_hand.is_some() || after_wait.is_some() || joined || new;
                let possible = ways || joined_after_waits;
                assert!(
                    units == 0 || !possible,
                    "refused ({refusal:?}) without need"
                );
                if refusal == Refusal::Memory {
                    assert!(self.device.paid + units > self.device.capacity);
                }
                return;
            }
        };
        assert!(units > 0, "nothing was handed out");
        let start = grant.start;
        let fresh = model.is_unreserved(start, units);
        if fresh {
            assert!(at_hand.is_none() && after_wait.is_none() && !joined && new);
            assert!(grant.waits.is_empty());
        } else {
            let first = model.idle.get(&start).map(|(length, _)| *length);
            if let Some(closest) = at_hand {
                assert_eq!(first, Some(closest), "the closest usable one");
                assert!(grant.waits.is_empty());
            } else if joined {
                assert!(grant.waits.is_empty());
            } else if let Some(closest) = after_wait {
                assert_eq!(first, Some(closest), "the closest one");
            }
            let unusable: Vec<_> = {
                let mut copy = Model {
                    idle: self.model.idle.clone(),
                    ..Model::default()
                };
                let had = copy.take_idle(start, units);
                let needs = had
                    .into_iter()
                    .filter(|r| !self.model.usable(r, stream, &view));
                needs.flatten().collect()
            };
            assert_eq!(
                grant.waits, unusable,
                "waits for what it may not use yet, only"
            );
            assert!(unusable.is_empty() || self.model.rules.internal_waits);
            self.model.take_idle(start, units);
        }
        // The caller queues the waits.
        for wait in &grant.waits {
            let known = &mut self.streams.known[stream][wait.stream];
            *known = (*known).max(wait.position);
        }
        self.model.live.insert(start, units);
        self.model.used_high = self.model.used_high.max(self.model.used());
        self.model.reserved_high = self.model.reserved_high.max(self.model.reserved());
    }

    fn free(&mut self, start: u64, ticket: Released) {
        let got = self.pool.free(start, ticket, &mut self.device);
        assert_eq!(got, self.model.live.remove(&start));
        if let Some(units) = got {
            self.model.idle.insert(start, (units, ticket));
        }
    }

    fn give_up(&mut self, keep: u64, only_done: bool) {
        let streams = &self.streams;
        let goes = |ticket: Option<&Ticket<usize>>| {
            !only_done || ticket.is_none_or(|ticket| View(streams, 0).is_done(ticket))
        };
        let idle = self.model.idle.values();
        let can: u64 = idle.filter(|(_, r)| goes(r.as_ref())).map(|(n, _)| n).sum();
        let surplus = self.model.reserved().saturating_sub(keep);
        let mut out: Vec<Leaving<usize>> = Vec::new();
        self.pool.give_up(keep, goes, &mut self.device, &mut out);
        let gone: u64 = out.iter().map(|leaving| leaving.units).sum();
        assert_eq!(gone, surplus.min(can), "as much as needed, and possible");
        for leaving in out {
            assert!(goes(leaving.ticket.as_ref()));
            let had = self.model.take_idle(leaving.start, leaving.units);
            assert_eq!(had, [leaving.ticket], "parts of one segment");
            let entry = (leaving.units, leaving.ticket);
            self.model.leaving.insert(leaving.start, entry);
        }
    }

    fn leave(&mut self) {
        let done = |released: &Released| {
            released.is_none_or(|ticket| View(&self.streams, 0).is_done(&ticket))
        };
        let leaving = self.model.leaving.iter();
        let starts: Vec<u64> = leaving
            .filter(|(_, (_, r))| done(r))
            .map(|(s, _)| *s)
            .collect();
        for start in starts {
            let (units, _) = self.model.leaving.remove(&start).expect("as listed");
            assert_eq!(self.pool.left(start), Some(units));
            assert_eq!(self.pool.left(start), None, "a second time");
            self.device.paid -= units;
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Queue(stream) => self.streams.queued[stream] += 1,
            Step::Do(stream, most) => {
                let done = &mut self.streams.done[stream];
                *done = (*done + most).min(self.streams.queued[stream]);
            }
            Step::Wait(who, whom) => {
                let theirs = self.streams.known[whom];
                let mine = &mut self.streams.known[who];
                for (known, other) in mine.iter_mut().zip(theirs) {
                    *known = (*known).max(other);
                }
                mine[whom] = mine[whom].max(self.streams.queued[whom]);
            }
            Step::Alloc(stream, units) => self.alloc(stream, units),
            Step::Free(which, stream) => {
                let count = self.model.live.len().max(1);
                if let Some(start) = self.model.live.keys().nth(which % count).copied() {
                    let position = self.streams.queued[stream];
                    self.free(start, Some(Ticket { stream, position }));
                }
            }
            Step::FreeNow(which) => {
                let count = self.model.live.len().max(1);
                if let Some(start) = self.model.live.keys().nth(which % count).copied() {
                    self.free(start, None);
                }
            }
            Step::FreeWild(start) => {
                assert_eq!(self.pool.live(start), self.model.live.get(&start).copied());
                if !self.model.live.contains_key(&start) {
                    self.free(start, None);
                    if !self.model.leaving.contains_key(&start) {
                        assert_eq!(self.pool.left(start), None);
                    }
                }
            }
            Step::Threshold(keep) => self.give_up(keep, true),
            Step::Trim(keep) => self.give_up(keep, false),
            Step::Leave => self.leave(),
            Step::Rules(follow_events, opportunistic, internal_waits) => {
                self.model.rules = Rules {
                    follow_events,
                    opportunistic,
                    internal_waits,
                };
                self.pool.set_rules(self.model.rules);
            }
            Step::Capacity(units) => self.device.capacity = units,
            Step::ClearHigh => {
                self.pool.clear_used_high();
                self.pool.clear_reserved_high();
                (self.model.used_high, self.model.reserved_high) = (0, 0);
            }
        }
        self.check();
    }

    fn check(&self) {
        let usage = self.pool.usage();
        assert_eq!(usage.used, self.model.used());
        assert_eq!(usage.reserved, self.model.reserved());
        assert_eq!(usage.used_high, self.model.used_high);
        assert_eq!(usage.reserved_high, self.model.reserved_high);
        assert_eq!(self.pool.leaving(), sum(&self.model.leaving));
        assert_eq!(self.device.paid, usage.reserved + self.pool.leaving());
        let segments = self.device.segments.borrow();
        let idle = self.model.idle.iter().map(|(s, (n, _))| (*s, (*n, false)));
        let live = self.model.live.iter().map(|(s, n)| (*s, (*n, true)));
        let wanted: BTreeMap<u64, (u64, bool)> = idle.chain(live).collect();
        assert_eq!(*segments, wanted, "what the backing was told");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]
    #[test]
    fn pool_and_model_agree(steps in prop::collection::vec(step(), 1..300)) {
        let mut world = World {
            pool: Pool::new(LIMIT, ROOM),
            device: Device {
                capacity: LIMIT,
                paid: 0,
                segments: RefCell::default(),
            },
            streams: Streams::default(),
            model: Model::default(),
        };
        for step in &steps {
            world.step(step);
        }
        // In the end everything can go.
        world.streams.done = world.streams.queued;
        let live: Vec<u64> = world.model.live.keys().copied().collect();
        for start in live {
            world.free(start, None);
        }
        world.give_up(0, true);
        world.leave();
        world.check();
        assert_eq!(world.device.paid, 0);
        assert!(world.pool.alloc(LIMIT, 0, &View(&world.streams, 0), &mut Device {
            capacity: LIMIT,
            paid: 0,
            segments: RefCell::default(),
        }).is_ok(), "one piece again");
    }
}
