//! The streams of the model: what is queued on them, what of it is done, and what comes after what.

use std::ffi::c_void;

use cannery_abi as abi;

use super::{EVENTS, Position, SAMPLE, STREAMS, UNIT, World, refund};
use crate::api;

#[derive(Clone, Copy)]
pub(super) enum Item {
    Gate,
    Work,
    /// Until so much of another stream is done.
    Wait(Position),
}

#[derive(Default)]
pub(super) struct Stream {
    pub(super) handle: u64,
    pub(super) items: Vec<Item>,
    pub(super) done: usize,
    pub(super) gates: u64,
    pub(super) gate: u64,
    /// What everything queued from now on comes after, by stream.
    pub(super) after: [usize; STREAMS],
}

#[derive(Default, Clone, Copy)]
pub(super) struct Event {
    pub(super) handle: u64,
    /// Position behind the last record, and what a wait for it learns.
    pub(super) record: Option<(Position, [usize; STREAMS])>,
}

impl World {
    pub(super) fn put(&mut self, stream: usize, item: Item) {
        self.streams[stream].items.push(item);
        self.run();
    }

    /// Everything that can run runs, here and there.
    pub(super) fn run(&mut self) {
        loop {
            let before: usize = self.streams.iter().map(|stream| stream.done).sum();
            for number in 0..STREAMS {
                while let Some(item) = self.streams[number].items.get(self.streams[number].done) {
                    match *item {
                        Item::Gate => break,
                        Item::Wait((other, position)) if self.streams[other].done < position => {
                            break;
                        }
                        Item::Wait(_) | Item::Work => self.streams[number].done += 1,
                    }
                }
            }
            if before == self.streams.iter().map(|stream| stream.done).sum::<usize>() {
                break;
            }
        }
        for stream in &self.streams {
            let idle = stream.done == stream.items.len();
            let mut status = abi::ACL_STREAM_STATUS_RESERVED;
            loop {
                let code = api::aclrtStreamQuery(stream.handle as *mut c_void, &raw mut status);
                assert_eq!(code, 0, "aclrtStreamQuery");
                if !idle || status == abi::ACL_STREAM_STATUS_COMPLETE {
                    break;
                }
                std::thread::yield_now();
            }
            // What is given up may be behind a stream that has nothing else to do.
            assert!(
                idle || status == abi::ACL_STREAM_STATUS_NOT_READY,
                "a stream that waits is complete\n{}",
                self.journal.last()
            );
        }
        let streams = &self.streams;
        for pool in self.pools.values_mut() {
            let left: u64 = pool
                .leaving
                .extract_if(.., |((stream, position), _)| {
                    streams[*stream].done >= *position
                })
                .map(|(_, units)| units)
                .sum();
            refund(pool, &mut self.free, left);
        }
        self.forget_ended();
    }

    pub(super) fn forget_ended(&mut self) {
        self.pools
            .retain(|_, pool| !pool.ended || pool.used > 0 || !pool.leaving.is_empty());
    }

    pub(super) fn is_done(&self, (stream, position): Position) -> bool {
        self.streams[stream].done >= position
    }

    pub(super) fn now(&self, stream: usize) -> Position {
        (stream, self.streams[stream].items.len())
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.streams
            .iter()
            .all(|stream| stream.done == stream.items.len())
    }

    /// A stream stands still from here on.
    pub(super) fn close(&mut self) {
        let number = self.source.below(STREAMS as u64) as usize;
        let stream = &mut self.streams[number];
        stream.gates += 1;
        let (gate, value) = (stream.gate as *mut c_void, stream.gates);
        let flag = abi::ACL_STREAM_WAIT_VALUE_GEQ;
        let code = api::aclrtValueWait(gate, value, flag, stream.handle as *mut c_void);
        self.journal.judge(format!("close {number}"), code, 0);
        self.put(number, Item::Gate);
    }

    /// All gates open, and every stream runs to its end: the blocks hold what was queued last.
    pub(super) fn open(&mut self) {
        for number in 0..STREAMS {
            let stream = &mut self.streams[number];
            let (gate, value) = (stream.gate as *mut c_void, stream.gates);
            let code = api::aclrtValueWrite(gate, value, 0, self.control as *mut c_void);
            stream.done = stream.items.len();
            self.journal.judge(format!("open {number}"), code, 0);
        }
        self.run();
        for (address, block) in &self.blocks {
            for unit in 0..block.units {
                let from = (address + unit * UNIT) as *const c_void;
                let mut bytes = [0u8; SAMPLE];
                let to = bytes.as_mut_ptr().cast::<c_void>();
                let code =
                    api::aclrtMemcpy(to, SAMPLE, from, SAMPLE, abi::ACL_MEMCPY_DEVICE_TO_HOST);
                assert_eq!(code, 0, "aclrtMemcpy");
                assert!(
                    bytes.iter().all(|byte| *byte == block.tag),
                    "unit {unit} of {address:#x} holds {:#04x} ..., must hold {:#04x}; last steps:\n{}",
                    bytes[0],
                    block.tag,
                    self.journal.last()
                );
            }
        }
    }

    pub(super) fn record(&mut self) {
        let event = self.source.below(EVENTS as u64) as usize;
        let number = self.source.below(STREAMS as u64) as usize;
        let stream = self.streams[number].handle as *mut c_void;
        let code = api::aclrtRecordEvent(self.events[event].handle as *mut c_void, stream);
        self.journal
            .judge(format!("record {event} on {number}"), code, 0);
        let mut after = self.streams[number].after;
        after[number] = self.now(number).1;
        self.put(number, Item::Work);
        self.events[event].record = Some((self.now(number), after));
    }

    pub(super) fn wait(&mut self) {
        let event = self.source.below(EVENTS as u64) as usize;
        let number = self.source.below(STREAMS as u64) as usize;
        let stream = self.streams[number].handle as *mut c_void;
        let Some((position, after)) = self.events[event].record else {
            return;
        };
        let code = api::aclrtStreamWaitEvent(stream, self.events[event].handle as *mut c_void);
        self.journal
            .judge(format!("wait {event} on {number}"), code, 0);
        for (mine, theirs) in self.streams[number].after.iter_mut().zip(after) {
            *mine = (*mine).max(theirs);
        }
        self.streams[number].after[number] = 0;
        self.put(number, Item::Wait(position));
    }

    /// Waits for a stream that nothing holds up: idle memory above the threshold goes.
    pub(super) fn synchronize(&mut self) {
        let number = self.source.below(STREAMS as u64) as usize;
        if self.streams[number].done < self.streams[number].items.len() {
            return;
        }
        let code = api::aclrtSynchronizeStream(self.streams[number].handle as *mut c_void);
        self.journal.judge(format!("synchronize {number}"), code, 0);
        for handle in self.pools.keys().copied().collect::<Vec<_>>() {
            let pool = &self.pools[&handle];
            let keep = pool.threshold / UNIT;
            self.give_up_done(handle, keep);
        }
    }

    /// The stream comes after everything that is queued on the others.
    pub(super) fn chain_all(&mut self, stream: usize) {
        for other in (0..STREAMS).filter(|other| *other != stream) {
            if self.streams[other].done == self.streams[other].items.len() {
                continue;
            }
            // The last event is kept for this.
            let event = EVENTS - 1;
            let handle = self.events[event].handle as *mut c_void;
            let (from, to) = (self.streams[other].handle, self.streams[stream].handle);
            let code = api::aclrtRecordEvent(handle, from as *mut c_void);
            self.journal
                .judge(format!("record {event} on {other}"), code, 0);
            let mut after = self.streams[other].after;
            after[other] = self.now(other).1;
            self.put(other, Item::Work);
            let position = self.now(other);
            self.events[event].record = Some((position, after));
            let code = api::aclrtStreamWaitEvent(to as *mut c_void, handle);
            self.journal
                .judge(format!("wait {event} on {stream}"), code, 0);
            for (mine, theirs) in self.streams[stream].after.iter_mut().zip(after) {
                *mine = (*mine).max(theirs);
            }
            self.streams[stream].after[stream] = 0;
            self.put(stream, Item::Wait(position));
        }
    }
}
