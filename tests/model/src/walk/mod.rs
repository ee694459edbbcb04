//! One random walk: steps that call the library and the model, and compare.
//!
//! A step is played on some thread; only one is played at a time, so the model says exactly what
//! each call must answer. What may differ is nothing: codes, addresses that lie right, sizes,
//! figures to the byte, contents, outputs that a failed call must leave alone, and texts.

mod allocate;
mod ask;
mod batch;
mod bind;
mod copy;

use std::collections::{BTreeMap, VecDeque};

use crate::api;
use crate::config::Config;
use crate::memory::{Arena, peek};
use crate::model::{Code, End, Model};
use crate::shadow::{UNKNOWN, first_difference};
use crate::source::Source;

/// Steps that are shown when one fails.
const REMEMBERED: usize = 24;
/// Characters of a step that are shown.
const LONGEST_NOTE: usize = 700;
/// What outputs hold before a call.
const UNTOUCHED: u64 = 0x5a5a_a5a5_dead_beef;
/// Bytes of the program's own memory.
const ARENA: usize = 256 << 10;

/// A walk under way.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) model: Model,
    pub(crate) source: Source,
    /// Answers by function and code: what the walk has seen.
    pub(crate) seen: BTreeMap<(&'static str, Code), u64>,
    pub(crate) steps: u64,
    arena: Arena,
    /// Live blocks, in no order.
    live: Vec<u64>,
    /// Blocks that were released lately: first byte and size.
    dead: VecDeque<(u64, u64)>,
    log: VecDeque<String>,
    trace: bool,
    /// Whether the walk is growing (else shrinking).
    growing: bool,
}

impl World {
    pub(crate) fn new(config: Config, source: Source, threads: usize, trace: bool) -> Self {
        Self {
            model: Model::new(config, threads),
            source,
            seen: BTreeMap::new(),
            steps: 0,
            arena: Arena::new(ARENA),
            live: Vec::new(),
            dead: VecDeque::new(),
            log: VecDeque::new(),
            trace,
            growing: true,
        }
    }

    /// Plays one step on a thread: the calling one must be it.
    pub(crate) fn step(&mut self, thread: usize) {
        self.steps += 1;
        if self.source.once_in(2_000) {
            self.growing = !self.growing;
        }
        let (grow, shrink) = if self.growing { (34, 22) } else { (22, 36) };
        match self.source.weighted(&[grow, shrink, 18, 6, 4, 6, 8, 4, 6]) {
            0 => self.allocate(thread),
            1 => self.release(thread),
            2 => self.copy(thread),
            3 => self.fill(thread),
            4 => self.copy_2d(thread),
            5 => self.copy_batch(thread),
            6 => self.ask(thread),
            7 => self.touch_directly(thread),
            _ => self.bind(thread),
        }
        if self.source.once_in(12) {
            self.check_figures(thread);
        }
    }

    /// Remembers what is about to be called.
    fn note(&mut self, mut text: String) {
        if text.len() > LONGEST_NOTE {
            text.truncate(LONGEST_NOTE);
            text.push_str(" ...");
        }
        if self.trace {
            eprintln!("{:>6} {text}", self.steps);
        }
        if self.log.len() == REMEMBERED {
            self.log.pop_front();
        }
        self.log.push_back(format!("{:>6} {text}", self.steps));
    }

    /// Stops the walk.
    fn wrong(&self, text: &str) -> ! {
        let steps: Vec<&str> = self.log.iter().map(String::as_str).collect();
        panic!("{text}\nlast steps:\n{}", steps.join("\n"));
    }

    fn insist(&self, holds: bool, text: impl FnOnce() -> String) {
        if !holds {
            self.wrong(&text());
        }
    }

    /// Compares a code with those that are right, and looks at the text that goes with it.
    fn judge(&mut self, function: &'static str, got: Code, right: &[Code]) {
        self.insist(right.contains(&got), || {
            let text = api::recent_text().unwrap_or_default();
            format!("{function} answered {got}, right is {right:?}; its text: {text}")
        });
        *self.seen.entry((function, got)).or_default() += 1;
        if got != 0 {
            let text = api::recent_text();
            self.insist(text.is_some_and(|text| !text.is_empty()), || {
                format!("{function} failed with {got} and left no text")
            });
        }
        if got != 0 || self.source.once_in(16) {
            let more = api::recent_text();
            self.insist(more.is_none(), || {
                format!("a text is pending after {function} = {got}: {more:?}")
            });
        }
    }

    fn some_live(&mut self) -> Option<u64> {
        let at = self.source.below(self.live.len() as u64) as usize;
        self.live.get(at).copied()
    }

    /// Addresses that belong to nobody, or not to a block as a whole.
    fn stray(&mut self) -> u64 {
        const STEP: u64 = 64 << 10;
        const STRAYS: [u64; 14] = [
            0x1000,
            0xffff,
            0x1fff_0000_0000,
            0x1000_0000_0000,
            0x12c0_0000_0000 - 64,
            0x2fff_ffff_ffc0,
            0x4fff_ffff_ffc0,
            0x13ff_ffff_ffc0,
            0x2000_0000_0000 - 64,
            0x7fff_ffff_fff8,
            1 << 47,
            0x00c7_0000_0001_0000,
            u64::MAX - 63,
            u64::MAX,
        ];
        match self.source.below(5) {
            // Released blocks, at their first byte and behind it: what was long may be many now.
            kind @ 0..2 if !self.dead.is_empty() => {
                let at = self.source.below(self.dead.len() as u64) as usize;
                let (start, size) = self.dead[at];
                if kind == 0 {
                    start
                } else {
                    start + self.source.below(size) / STEP * STEP
                }
            }
            // Somewhere among the blocks of a device.
            2 => {
                let device = self.source.below(self.model.devices.len() as u64) as usize;
                let within = self.source.below(1 << 10) * STEP;
                let base = self.model.config.addresses(device).start;
                base + within + self.source.pick(&[0, 0, 64, 4096])
            }
            3 => match self.some_live() {
                Some(start) => {
                    let size = self.model.blocks[&start].size;
                    let inside = 1 + self.source.below(size - 1);
                    let next = start + size;
                    self.source.pick(&[start + inside, next, start + 1])
                }
                None => 0x1000,
            },
            _ => self.source.pick(&STRAYS),
        }
    }

    fn bytes(&mut self, len: u64) -> Vec<u8> {
        let (start, step) = (self.source.below(256), self.source.below(255) + 1);
        (0..len)
            .map(|k| (start + k * step + (k >> 8)) as u8)
            .collect()
    }

    /// What a range must hold.
    fn expected(&self, address: u64, len: u64) -> Vec<u16> {
        match self.model.find(address) {
            Some((start, block)) => block.shadow.read(address - start, len),
            None => self.arena.expected(address, len).to_vec(),
        }
    }

    /// Remembers what a range holds from now on.
    fn expect(&mut self, address: u64, bytes: &[u16]) {
        let start = self.model.find(address).map(|(start, _)| start);
        match start {
            Some(start) => {
                let block = self.model.blocks.get_mut(&start).expect("found just now");
                block.shadow.write(address - start, bytes);
            }
            None => self.arena.expect(address, bytes),
        }
    }

    /// Whether the program may touch a block itself.
    fn host_may_touch(&self, start: u64) -> bool {
        self.model.config.rc || self.model.blocks[&start].device.is_none()
    }

    /// Reads a range of a block back and compares it with what is known. Device memory needs a
    /// context on the thread.
    fn verify(&mut self, thread: usize, start: u64, from: u64, len: u64) {
        let expected = self.model.blocks[&start].shadow.read(from, len);
        if expected.iter().all(|byte| *byte == UNKNOWN) {
            return;
        }
        let got = if self.host_may_touch(start) {
            peek(start + from, len)
        } else if self.model.current(thread).is_some() {
            let mut bytes = vec![0u8; len as usize];
            let to = bytes.as_mut_ptr().cast();
            let source = api::pointer(start + from);
            let code = api::aclrtMemcpy(to, len as usize, source, len as usize, 2);
            self.judge("aclrtMemcpy", code, &[0]);
            bytes
        } else {
            return;
        };
        self.same(&expected, &got, start, from);
    }

    fn same(&self, expected: &[u16], got: &[u8], start: u64, from: u64) {
        if let Some((at, want, is)) = first_difference(expected, got) {
            let block = self.model.blocks.get(&start);
            self.wrong(&format!(
                "the byte at {start:#x} + {} is {is:#04x}, must be {want:#04x}; block {block:?}",
                from + at as u64,
                block = block.map(|block| (block.call, block.size, block.pages, block.device)),
            ));
        }
    }

    /// Checks the program's own memory around a range.
    fn verify_arena(&self, address: u64, len: u64) {
        let base = self.arena.base();
        let from = address.saturating_sub(64).max(base);
        let end = (address + len + 64).min(base + self.arena.len());
        let got = peek(from, end - from);
        self.same(self.arena.expected(from, end - from), &got, from, 0);
    }

    /// Free and total bytes of every pool of the current device.
    fn check_figures(&mut self, thread: usize) {
        let Some(device) = self.model.current(thread) else {
            return;
        };
        let normal_huge = if self.model.config.is_ddr() {
            [3, 2, 0]
        } else {
            [5, 4, 1]
        };
        for attribute in normal_huge {
            let right = self.model.info(device, attribute);
            let (mut free, mut total) = (0, 0);
            let code = api::aclrtGetMemInfo(attribute, &raw mut free, &raw mut total);
            let got = (free as u64, total as u64);
            self.insist(code == 0 && right == Ok(got), || {
                format!(
                    "device {device}, attribute {attribute}: code {code}, free and total {got:?}, \
                     right is {right:?}"
                )
            });
        }
    }

    /// Ends the walk: verifies and releases everything on the calling thread, and sees that nothing
    /// is left.
    pub(crate) fn finish(&mut self, thread: usize) {
        for device in 0..self.model.devices.len() as i32 {
            let code = api::aclrtSetDevice(device);
            let right = self.model.set_device(thread, device);
            self.note(format!("end: aclrtSetDevice({device})"));
            self.judge("aclrtSetDevice", code, &[right]);
        }
        let starts: Vec<u64> = self.model.blocks.keys().copied().collect();
        for start in starts {
            let block = &self.model.blocks[&start];
            for (from, len) in block.shadow.known_ranges(block.size) {
                self.verify(thread, start, from, len);
            }
            self.note(format!("end: release {start:#x}"));
            self.release_properly(start);
        }
        for device in 0..self.model.devices.len() {
            let id = device as i32;
            let code = api::aclrtSetDevice(id);
            let right = self.model.set_device(thread, id);
            self.judge("aclrtSetDevice", code, &[right]);
            let state = &self.model.devices[device];
            self.insist(state.free == state.total, || {
                format!("the model itself is wrong on device {device}: {state:?}")
            });
            self.check_figures(thread);
        }
        self.end_contexts(thread);
    }

    /// Ends of a copy that were found: their bytes.
    fn apply_copy(&mut self, dst: u64, src: u64, count: u64) {
        let bytes = self.expected(src, count);
        self.expect(dst, &bytes);
    }

    /// Checks what was written at an end of a copy, now and then.
    fn spot_check(&mut self, thread: usize, end: End, address: u64, count: u64) {
        if !self.source.once_in(6) {
            return;
        }
        match end {
            End::Device { start, .. } | End::Host { start: Some(start) } => {
                let size = self.model.blocks[&start].size;
                let from = (address - start).saturating_sub(32);
                let len = (address - start + count + 32).min(size) - from;
                self.verify(thread, start, from, len.min(64 << 10));
            }
            End::Host { start: None } => self.verify_arena(address, count),
        }
    }
}
