//! The ways to put a task behind others, and to wait for them.

use cannery_abi::*;
use rand::Rng;

use super::clock::{Clock, Task};
use super::marks::{Event, Notify, Stall};
use super::world::World;
use crate::api::*;
use crate::{progress, trouble};

/// Most events and notifies at a time.
const MOST_MARKS: usize = 40;

impl World {
    /// Makes the next task of `slot` come after all of these.
    pub(crate) fn put_after(&mut self, slot: usize, tasks: &[Task]) {
        for task in tasks {
            let mut clock = self.streams[slot].clock.clone();
            clock.join(&self.known);
            if !clock.covers(*task) {
                self.join_streams(task.stream, slot);
            }
        }
    }

    /// Makes the program itself know that all of these are over.
    pub(crate) fn wait_for(&mut self, tasks: &[Task]) {
        for task in tasks {
            if !self.known.covers(*task) {
                self.flush_stalls();
                match self.random.random_range(0..4) {
                    0 => self.wait_for_device(),
                    1 => {
                        let event = self.record_some_event(task.stream);
                        self.wait_for_event(event);
                    }
                    2 => self.ask_until_idle(task.stream),
                    _ => self.wait_for_stream(task.stream),
                }
            }
        }
    }

    /// Puts everything queued on `first` so far before what comes next on `then`.
    pub(crate) fn join_streams(&mut self, first: usize, then: usize) {
        self.flush_stalls();
        match self.random.random_range(0..8) {
            0..=2 => {
                let event = self.record_some_event(first);
                self.wait_on_stream(then, event);
            }
            3 | 4 => self.join_by_notify(first, then),
            5 | 6 => self.join_by_value(first, then),
            _ => self.wait_for_stream(first),
        }
    }

    /// Records an event on a stream; its place.
    pub(crate) fn record_some_event(&mut self, slot: usize) -> usize {
        let clock = self.clock_of(slot);
        let event = self.random.random_range(0..self.events.len());
        if !self.events[event].may_record(&clock) {
            // Another one in its place; what is queued about the old one goes on.
            let ex = self.random.random_bool(0.5);
            std::mem::replace(&mut self.events[event], Event::new(ex)).destroy();
        }
        let handle = self.events[event].handle;
        let task = self.submit(slot, "aclrtRecordEvent", |_, stream| {
            aclrtRecordEvent(handle, stream)
        });
        let clock = self.streams[slot].clock.clone();
        let event_slot = &mut self.events[event];
        event_slot.record = Some((task, clock));
        event_slot.reset = None;
        event
    }

    /// Makes a stream wait for an event, whenever that was recorded.
    pub(crate) fn wait_on_stream(&mut self, slot: usize, event: usize) {
        let Event { handle, ex, .. } = self.events[event];
        let Some((_, clock)) = self.events[event].record.clone() else {
            if ex {
                // Allowed, and without effect.
                self.submit(slot, "waiting for an unrecorded event", |_, stream| {
                    aclrtStreamWaitEvent(stream, handle)
                });
            }
            return;
        };
        self.flush_stalls();
        let task = self.submit(slot, "aclrtStreamWaitEvent", |_, stream| {
            aclrtStreamWaitEvent(stream, handle)
        });
        self.streams[slot].clock.join(&clock);
        self.events[event].users.push(task);
        if self.events[event].users.len() > 64 {
            let known = self.known.clone();
            self.events[event].users.retain(|user| !known.covers(*user));
        }
    }

    /// What is over before the next task of a stream.
    pub(crate) fn clock_of(&self, slot: usize) -> Clock {
        let mut clock = self.streams[slot].clock.clone();
        clock.join(&self.known);
        clock
    }

    /// A notify whose last wait is over before `record` and `wait` can touch it: what stands there
    /// for one pair of streams must not be taken by the next one.
    fn free_notify(&mut self, record: usize, wait: usize) -> usize {
        let clocks = [record, wait].map(|slot| self.clock_of(slot));
        let free = |notify: &Notify| clocks.iter().all(|clock| notify.is_free_after(clock));
        if let Some(found) = self.notifies.iter().position(free) {
            return found;
        }
        if self.notifies.len() < MOST_MARKS {
            self.notifies.push(Notify::new());
            return self.notifies.len() - 1;
        }
        self.wait_for_device();
        self.random.random_range(0..self.notifies.len())
    }

    fn record_notify(&mut self, slot: usize, notify: usize) {
        let handle = self.notifies[notify].handle;
        self.submit(slot, "aclrtRecordNotify", |_, stream| {
            aclrtRecordNotify(handle, stream)
        });
    }

    fn wait_notify(&mut self, slot: usize, notify: usize) {
        let handle = self.notifies[notify].handle;
        let task = self.submit(slot, "aclrtWaitAndResetNotify", |_, stream| {
            aclrtWaitAndResetNotify(handle, stream, 0)
        });
        self.notifies[notify].wait = Some(task);
    }

    fn join_by_notify(&mut self, first: usize, then: usize) {
        let notify = self.free_notify(first, then);
        let both = self.clock_of(first);
        if self.random.random_bool(0.5) {
            self.record_notify(first, notify);
            self.wait_notify(then, notify);
        } else {
            self.wait_notify(then, notify);
            self.record_notify(first, notify);
        }
        self.streams[then].clock.join(&both);
    }

    fn join_by_value(&mut self, first: usize, then: usize) {
        self.streams[first].value += 1;
        let (cell, value) = (self.streams[first].cell, self.streams[first].value);
        let clock = self.clock_of(first);
        let wait_first = self.random.random_bool(0.5);
        for turn in 0..2 {
            if (turn == 0) == wait_first {
                self.submit(then, "aclrtValueWait", |_, stream| {
                    aclrtValueWait(cell, value, ACL_STREAM_WAIT_VALUE_GEQ, stream)
                });
            } else {
                self.submit(first, "aclrtValueWrite", |_, stream| {
                    aclrtValueWrite(cell, value, 0, stream)
                });
            }
        }
        self.streams[then].clock.join(&clock);
    }

    /// Lets a stream wait for a notify that another one records some steps later.
    pub(crate) fn stall(&mut self) {
        let count = self.streams.len();
        let (stream, by) = (
            self.random.random_range(0..count),
            self.random.random_range(0..count),
        );
        let taken = |slot: usize| {
            let of = |stall: &Stall| stall.stream == slot || stall.by == slot;
            self.stalls.iter().any(of)
        };
        if stream == by || taken(stream) || taken(by) {
            return;
        }
        let notify = self.free_notify(by, stream);
        let clock = self.clock_of(by);
        self.wait_notify(stream, notify);
        self.streams[stream].clock.join(&clock);
        self.stalls.push(Stall { stream, by, notify });
    }

    /// Records the notifies that streams stand before.
    pub(crate) fn flush_stalls(&mut self) {
        for Stall { stream, by, notify } in std::mem::take(&mut self.stalls) {
            let clock = self.clock_of(by);
            self.record_notify(by, notify);
            self.streams[stream].clock.join(&clock);
        }
    }

    /// The program knows everything of a stream.
    pub(crate) fn learn_of(&mut self, slot: usize) {
        let clock = self.streams[slot].clock.clone();
        self.known.join(&clock);
    }

    /// aclrtSynchronizeStream.
    pub(crate) fn wait_for_stream(&mut self, slot: usize) {
        self.flush_stalls();
        let handle = self.streams[slot].handle;
        if handle.is_null() {
            // NULL is the default stream of the current context: queue something to be there.
            self.submit(slot, "a fill of nothing", |world, stream| {
                let cell = world.streams[slot].cell;
                aclrtMemsetAsync(cell, 8, 0, 0, stream)
            });
        }
        progress::begin(self.step, "aclrtSynchronizeStream");
        ok(
            aclrtSynchronizeStream(handle),
            &self.here("aclrtSynchronizeStream"),
        );
        self.learn_of(slot);
    }

    /// aclrtSynchronizeDevice.
    pub(crate) fn wait_for_device(&mut self) {
        self.flush_stalls();
        progress::begin(self.step, "aclrtSynchronizeDevice");
        ok(
            aclrtSynchronizeDevice(),
            &self.here("aclrtSynchronizeDevice"),
        );
        for slot in 0..self.streams.len() {
            self.learn_of(slot);
        }
    }

    /// aclrtSynchronizeEvent on a recorded event.
    pub(crate) fn wait_for_event(&mut self, event: usize) {
        self.flush_stalls();
        let handle = self.events[event].handle;
        progress::begin(self.step, "aclrtSynchronizeEvent");
        ok(
            aclrtSynchronizeEvent(handle),
            &self.here("aclrtSynchronizeEvent"),
        );
        if let Some((_, clock)) = self.events[event].record.clone() {
            self.known.join(&clock);
        }
        self.check_status(event);
    }

    /// Asks a stream again and again whether it is done.
    pub(crate) fn ask_until_idle(&mut self, slot: usize) {
        self.flush_stalls();
        if self.streams[slot].handle.is_null() {
            return self.wait_for_stream(slot);
        }
        progress::begin(self.step, "asking a stream until it is idle");
        loop {
            let mut status = -77;
            let code = aclrtStreamQuery(self.streams[slot].handle, &raw mut status);
            ok(code, &self.here("aclrtStreamQuery"));
            if status == ACL_STREAM_STATUS_COMPLETE {
                break;
            }
            std::thread::yield_now();
        }
        self.learn_of(slot);
    }

    /// Compares the status of an event with what the program knows.
    pub(crate) fn check_status(&mut self, event: usize) {
        let mut status = -77;
        let code = aclrtQueryEventStatus(self.events[event].handle, &raw mut status);
        ok(code, &self.here("aclrtQueryEventStatus"));
        if let Some(want) = self.events[event].status(&self.known) {
            trouble::unless(status == want, || {
                self.here(&format!(
                    "event {event} (ex: {}): status {status}, expected {want}",
                    self.events[event].ex
                ))
            });
        }
    }
}
