//! [`Pool`]: see the crate.

use cannery_heap::{NodeId, RangeHeap};

use crate::idle::Idle;
use crate::segments::{Segment, Segments, State};
use crate::{Backing, Order, Ticket};

/// Which idle memory of another stream a request may get.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// What the asking stream waits for already.
    pub follow_events: bool,
    /// What the other stream is done with.
    pub opportunistic: bool,
    /// Anything, after a wait that the pool asks for.
    pub internal_waits: bool,
}

impl Default for Rules {
    /// All of them.
    fn default() -> Self {
        Self {
            follow_events: true,
            opportunistic: true,
            internal_waits: true,
        }
    }
}

/// Units of a pool, now and at most so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Live and idle.
    pub reserved: u64,
    /// Most that was reserved.
    pub reserved_high: u64,
    /// Live.
    pub used: u64,
    /// Most that was live.
    pub used_high: u64,
}

/// What a request got.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grant<K> {
    /// First unit.
    pub start: u64,
    /// What the asking stream has to wait for before it touches the memory; usually nothing.
    pub waits: Vec<Ticket<K>>,
}

/// Why a request got nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The pool may not have so much, or has no run of addresses as long.
    Full,
    /// The backing does not pay.
    Memory,
}

/// Units that were given up: they go when the release is done, and [`Pool::left`] is told then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leaving<K> {
    /// First unit.
    pub start: u64,
    /// How many.
    pub units: u64,
    /// The release; `None`: done long ago.
    pub ticket: Option<Ticket<K>>,
}

/// See the [crate]. `K`: a stream. `T`: what the backing calls a segment.
///
/// Not synchronised: callers on several threads put it behind a lock.
pub struct Pool<K, T> {
    segments: Segments<K, T>,
    idle: Idle,
    addresses: Box<RangeHeap>,
    limit: u64,
    leaving: u64,
    usage: Usage,
    rules: Rules,
}

impl<K: Copy + Eq, T: Copy> Pool<K, T> {
    /// A pool of at most `limit` units in `room` units of addresses, all of them unpaid. More room
    /// than limit keeps fragmentation of the addresses from mattering.
    ///
    /// # Panics
    /// When `room` is above 2^32 - 2 units.
    #[must_use]
    pub fn new(limit: u64, room: u64) -> Self {
        assert!(room < u64::from(u32::MAX), "a pool of {room} units");
        Self {
            segments: Segments::new(room),
            idle: Idle::new(),
            addresses: Box::new(RangeHeap::new(room)),
            limit,
            leaving: 0,
            usage: Usage::default(),
            rules: Rules::default(),
        }
    }

    /// Most units it may reserve.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Units in use and reserved.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Units given up that have not left yet.
    #[must_use]
    pub fn leaving(&self) -> u64 {
        self.leaving
    }

    /// Idle units for which `when` holds, told from the ticket of their release (`None`: it is done).
    pub fn idle_units(&self, when: impl Fn(Option<&Ticket<K>>) -> bool) -> u64 {
        let all = self.idle.all().into_iter();
        let segments = all.map(|id| self.segments.get(id));
        segments
            .filter(|segment| when(segment.ticket.as_ref()))
            .map(|segment| segment.units)
            .sum()
    }

    /// Forgets the most that was reserved: it is 0 until the next request.
    pub fn clear_reserved_high(&mut self) {
        self.usage.reserved_high = 0;
    }

    /// Forgets the most that was used: it is 0 until the next request.
    pub fn clear_used_high(&mut self) {
        self.usage.used_high = 0;
    }

    /// The rules in force.
    #[must_use]
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Sets the rules for requests to come.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// Length of the live segment that begins with this unit.
    #[must_use]
    pub fn live(&self, start: u64) -> Option<u64> {
        let segment = self.segments.get(self.segments.find(start)?);
        (segment.state == State::Live).then_some(segment.units)
    }

    /// Serves a request for `units` units by `stream`, of which `order` knows.
    ///
    /// # Errors
    /// When there is neither idle memory for it nor new memory, and for 0 units; nothing changes then.
    #[inline]
    pub fn alloc(
        &mut self,
        units: u64,
        stream: K,
        order: &impl Order<K>,
        backing: &mut impl Backing<Tag = T>,
    ) -> Result<Grant<K>, Refusal> {
        if units == 0 {
            return Err(Refusal::Full);
        }
        let rules = self.rules;
        let usable = |segment: &Segment<K, T>| match &segment.ticket {
            None => true,
            Some(ticket) => {
                ticket.stream == stream
                    || rules.opportunistic && order.is_done(ticket)
                    || rules.follow_events && order.follows(ticket)
            }
        };
        let start = match self.idle.closest(&self.segments, units, usable) {
            Some(id) => self.hand_out(id, units, backing),
            None => return self.alloc_otherwise(units, usable, backing),
        };
        self.count(units);
        Ok(Grant {
            start,
            waits: Vec::new(),
        })
    }

    fn count(&mut self, units: u64) {
        let usage = &mut self.usage;
        usage.used += units;
        usage.used_high = usage.used_high.max(usage.used);
        usage.reserved_high = usage.reserved_high.max(usage.reserved);
    }

    /// Without a single idle segment that is at hand.
    #[cold]
    #[inline(never)]
    fn alloc_otherwise(
        &mut self,
        units: u64,
        usable: impl Fn(&Segment<K, T>) -> bool,
        backing: &mut impl Backing<Tag = T>,
    ) -> Result<Grant<K>, Refusal> {
        if units > self.limit {
            return Err(Refusal::Full);
        }
        let mut grant = Grant {
            start: 0,
            waits: Vec::new(),
        };
        if let Some(run) = self.run(units, &usable) {
            grant.start = self.join(&run, units, backing);
        } else if let Some(id) = self.closest_of_all(units) {
            grant.waits.extend(self.segments.get(id).ticket);
            grant.start = self.hand_out(id, units, backing);
        } else {
            match self.grow(units, backing) {
                Ok(start) => grant.start = start,
                Err(refusal) => {
                    let all = |_: &Segment<K, T>| self.rules.internal_waits;
                    let run = self.run(units, &all).ok_or(refusal)?;
                    let needs = run.iter().map(|id| self.segments.get(*id));
                    let needs = needs.filter(|segment| !usable(segment));
                    grant.waits = needs.filter_map(|segment| segment.ticket).collect();
                    grant.start = self.join(&run, units, backing);
                }
            }
        }
        self.count(units);
        Ok(grant)
    }

    fn closest_of_all(&self, units: u64) -> Option<u32> {
        if !self.rules.internal_waits {
            return None;
        }
        self.idle.closest(&self.segments, units, |_| true)
    }

    /// New memory.
    fn grow(&mut self, units: u64, backing: &mut impl Backing<Tag = T>) -> Result<u64, Refusal> {
        if self.usage.reserved + self.leaving + units > self.limit {
            return Err(Refusal::Full);
        }
        let range = self.addresses.alloc(units, 1).ok_or(Refusal::Full)?;
        if !backing.pay(units) {
            self.addresses.free_clean(range.id);
            return Err(Refusal::Memory);
        }
        self.usage.reserved += units;
        self.enter(range.start, units, range.id, None, true, backing);
        Ok(range.start)
    }

    /// Makes an idle segment live, as far as it is needed; returns its first unit.
    #[inline]
    fn hand_out(&mut self, id: u32, units: u64, backing: &mut impl Backing<Tag = T>) -> u64 {
        self.idle.take(&mut self.segments, id);
        let segment = self.segments.get_mut(id);
        if segment.units != units {
            return self.cut(id, units, true, backing);
        }
        segment.state = State::Live;
        if let Some(tag) = segment.tag {
            backing.set_live(tag, true);
        }
        segment.start
    }

    /// Cuts a segment that is in no list: the first `units` units become a segment of their own, live
    /// or leaving, the rest an idle one. Returns the first unit.
    #[cold]
    #[inline(never)]
    fn cut(&mut self, id: u32, units: u64, live: bool, backing: &mut impl Backing<Tag = T>) -> u64 {
        let whole = self.remove(id, backing);
        let (start, rest) = (whole.start, whole.units - units);
        let node = self.place(start, units);
        if live {
            self.enter(start, units, node, whole.ticket, true, backing);
        } else {
            self.segments.add(Segment {
                units,
                node,
                state: State::Leaving,
                tag: None,
                ..whole
            });
        }
        if rest > 0 {
            let node = self.place(start + units, rest);
            let id = self.enter(start + units, rest, node, whole.ticket, false, backing);
            self.idle.put(&mut self.segments, id);
        }
        start
    }

    /// Takes a segment out of the table and gives its addresses back.
    fn remove(&mut self, id: u32, backing: &mut impl Backing<Tag = T>) -> Segment<K, T> {
        let segment = self.segments.remove(id);
        if let Some(tag) = segment.tag {
            backing.unmake(tag);
        }
        self.addresses.free(segment.node);
        segment
    }

    /// Takes addresses that are known to be free.
    fn place(&mut self, start: u64, units: u64) -> NodeId {
        let range = self.addresses.alloc_at(start, units);
        range.expect("these addresses were given back before").id
    }

    fn enter(
        &mut self,
        start: u64,
        units: u64,
        node: NodeId,
        ticket: Option<Ticket<K>>,
        live: bool,
        backing: &mut impl Backing<Tag = T>,
    ) -> u32 {
        let tag = backing.make(start, units, live);
        self.segments.add(Segment {
            start,
            units,
            state: if live { State::Live } else { State::Idle },
            slot: 0,
            node,
            tag: Some(tag),
            ticket,
        })
    }

    /// The shortest run of neighbouring idle segments that fit and are long enough together.
    fn run(&self, units: u64, fits: &dyn Fn(&Segment<K, T>) -> bool) -> Option<Vec<u32>> {
        if self.idle.units < units {
            return None;
        }
        let mut idle = self.idle.all();
        idle.retain(|id| fits(self.segments.get(*id)));
        idle.sort_unstable_by_key(|id| self.segments.get(*id).start);
        let mut best: Option<(u64, usize, usize)> = None;
        let (mut first, mut sum) = (0, 0);
        for (last, id) in idle.iter().enumerate() {
            let segment = self.segments.get(*id);
            if last > first {
                let before = self.segments.get(idle[last - 1]);
                if before.start + before.units != segment.start {
                    (first, sum) = (last, 0);
                }
            }
            sum += segment.units;
            while sum - self.segments.get(idle[first]).units >= units {
                sum -= self.segments.get(idle[first]).units;
                first += 1;
            }
            if sum >= units && best.is_none_or(|(least, _, _)| sum < least) {
                best = Some((sum, first, last));
            }
        }
        best.map(|(_, first, last)| idle[first..=last].to_vec())
    }

    /// Makes a live segment of a run; what is left of its last member stays idle.
    fn join(&mut self, run: &[u32], units: u64, backing: &mut impl Backing<Tag = T>) -> u64 {
        let start = self.segments.get(run[0]).start;
        let (mut sum, mut ticket) = (0, None);
        for id in run {
            self.idle.take(&mut self.segments, *id);
            let segment = self.remove(*id, backing);
            sum += segment.units;
            ticket = segment.ticket;
        }
        let node = self.place(start, units);
        self.enter(start, units, node, None, true, backing);
        if sum > units {
            let node = self.place(start + units, sum - units);
            let id = self.enter(start + units, sum - units, node, ticket, false, backing);
            self.idle.put(&mut self.segments, id);
        }
        start
    }

    /// Takes back the live segment that begins with `start`: it is idle from now on. Without a ticket
    /// everybody may use it at once. `None`: there is no such segment.
    #[inline]
    pub fn free(
        &mut self,
        start: u64,
        ticket: Option<Ticket<K>>,
        backing: &mut impl Backing<Tag = T>,
    ) -> Option<u64> {
        let id = self.segments.find(start)?;
        let segment = self.segments.get_mut(id);
        if segment.state != State::Live {
            return None;
        }
        segment.state = State::Idle;
        segment.ticket = ticket;
        if let Some(tag) = segment.tag {
            backing.set_live(tag, false);
        }
        let units = segment.units;
        self.usage.used -= units;
        self.idle.put(&mut self.segments, id);
        Some(units)
    }

    /// Gives up idle units until no more than `keep` are reserved: those that `goes` accepts, exactly
    /// as many as are needed. They go to `out`, count no more, and leave when the caller says so.
    pub fn give_up(
        &mut self,
        keep: u64,
        goes: impl Fn(Option<&Ticket<K>>) -> bool,
        backing: &mut impl Backing<Tag = T>,
        out: &mut Vec<Leaving<K>>,
    ) {
        if self.idle.units == 0 || self.usage.reserved <= keep {
            return;
        }
        for id in self.idle.all() {
            let Some(surplus) = self.usage.reserved.checked_sub(keep + 1) else {
                return;
            };
            let segment = *self.segments.get(id);
            if !goes(segment.ticket.as_ref()) {
                continue;
            }
            let units = segment.units.min(surplus + 1);
            self.idle.take(&mut self.segments, id);
            self.cut(id, units, false, backing);
            self.usage.reserved -= units;
            self.leaving += units;
            out.push(Leaving {
                start: segment.start,
                units,
                ticket: segment.ticket,
            });
        }
    }

    /// Nothing is live, idle or leaving.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.usage.reserved == 0 && self.leaving == 0
    }

    /// Takes everything away at once, whoever uses it: only the limit and the rules stay. What was
    /// paid for is for the caller to settle.
    pub fn clear(&mut self, backing: &mut impl Backing<Tag = T>) {
        for tag in self.segments.clear() {
            backing.unmake(tag);
        }
        self.idle = Idle::new();
        *self.addresses = RangeHeap::new(self.addresses.len());
        self.leaving = 0;
        self.usage.used = 0;
        self.usage.reserved = 0;
    }

    /// The leaving units that begin with `start` are gone: nobody touches them any more, and they are
    /// not paid for. Returns how many they were.
    pub fn left(&mut self, start: u64) -> Option<u64> {
        let id = self.segments.find(start)?;
        if self.segments.get(id).state != State::Leaving {
            return None;
        }
        let segment = self.segments.remove(id);
        self.addresses.free(segment.node);
        self.leaving -= segment.units;
        Some(segment.units)
    }
}

impl<K, T> std::fmt::Debug for Pool<K, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("limit", &self.limit)
            .field("usage", &self.usage)
            .field("leaving", &self.leaving)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}
