//! Steps that move and set bytes.

use super::World;
use crate::api;
use crate::memory::poke;
use crate::model::{
    Code, End, Fill, INVALID_PARAM, Move, NO_CONTEXT, NOT_SUPPORTED, PARAM_INVALID,
};

/// Bytes of a usual copy at most.
const USUAL: u64 = 4 << 10;
/// Bytes of any copy at most.
const LARGEST: u64 = 1 << 20;

/// A place that a copy may begin or end at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) address: u64,
    /// Bytes up to the end of what it lies in.
    pub(super) room: u64,
    /// The library touches host memory there, taking the program at its word.
    host: bool,
}

impl Spot {
    /// The place `bytes` further on.
    pub(super) fn further(self, bytes: u64) -> Self {
        Self {
            address: self.address + bytes,
            room: self.room - bytes,
            ..self
        }
    }
}

impl World {
    /// A place in the program's own memory.
    pub(super) fn arena_spot(&mut self) -> Spot {
        let at = self.source.below(self.arena.len());
        Spot {
            address: self.arena.base() + at,
            room: self.arena.len() - at,
            host: true,
        }
    }

    /// A place in a live block of the wanted side, or in the program's memory when there is none.
    pub(super) fn block_spot(&mut self, device: bool) -> Option<Spot> {
        for _ in 0..8 {
            let start = self.some_live()?;
            let block = &self.model.blocks[&start];
            if block.device.is_some() == device {
                let (size, whole) = (block.size, self.source.once_in(4));
                let at = if whole { 0 } else { self.source.below(size) };
                return Some(Spot {
                    address: start + at,
                    room: size - at,
                    host: !device,
                });
            }
        }
        None
    }

    fn spot(&mut self) -> Spot {
        let found = match self.source.weighted(&[50, 16, 26, 3]) {
            0 => self.block_spot(true),
            1 => self.block_spot(false),
            2 => None,
            _ => {
                let address = self.stray();
                // A stray inside a live block is as good as any other place in it.
                match self.model.find(address) {
                    Some((start, block)) => Some(Spot {
                        address,
                        room: block.size - (address - start),
                        host: block.device.is_none(),
                    }),
                    None if self.model.end(address, 1).is_err() => Some(Spot {
                        address,
                        room: 4096,
                        host: false,
                    }),
                    // Host memory that may not be mapped: not touched.
                    None => None,
                }
            }
        };
        found.unwrap_or_else(|| self.arena_spot())
    }

    /// A count for a range that begins at these places. Device ranges may be asked too much of,
    /// host ranges never.
    fn count(&mut self, spots: &[Spot]) -> u64 {
        let all = spots.iter().map(|spot| spot.room).min().unwrap_or(1);
        let host = spots.iter().filter(|spot| spot.host);
        let safe = host.map(|spot| spot.room).min();
        match self.source.weighted(&[2, 80, 8, 6]) {
            0 => 0,
            1 => self.source.size(all.min(USUAL)),
            2 => all.min(LARGEST),
            _ => {
                let off = self.source.below(64) + 1;
                let near = self.source.pick(&[all + off, all + 1, all + 4096]);
                match safe {
                    Some(safe) if near > safe => all.min(LARGEST),
                    Some(_) => near,
                    None => self.source.pick(&[
                        near,
                        near,
                        1 << 40,
                        1 << 63,
                        u64::MAX - off,
                        u64::MAX,
                        0u64.wrapping_sub(all),
                    ]),
                }
            }
        }
    }

    pub(super) fn copy(&mut self, thread: usize) {
        let (to, mut from) = (self.spot(), self.spot());
        if self.source.once_in(60) {
            from = to;
        }
        let mut count = self.count(&[to, from]);
        let apart = to.address.abs_diff(from.address);
        if apart != 0 && apart < count && count <= to.room.min(from.room) {
            // Ranges that overlap are nobody's promise.
            count = apart;
        }
        let max = match self.source.below(40) {
            0 => count.saturating_sub(1 + self.source.below(64)),
            1 => u64::MAX,
            2 => count.saturating_add(self.source.below(1 << 20)),
            _ => count,
        };
        let kind = match self.source.below(40) {
            0 => self.source.pick(&[6, 7, 9, -1, i32::MAX]),
            _ => self.source.below(6) as i32,
        };
        let it = Move {
            dst: if self.source.once_in(200) {
                0
            } else {
                to.address
            },
            max,
            src: if self.source.once_in(200) {
                0
            } else {
                from.address
            },
            count,
            kind,
        };
        let right = self.model.copy(thread, &it);
        self.note(format!(
            "thread {thread}: aclrtMemcpy {it:x?} -> {right:x?}"
        ));
        let code = api::aclrtMemcpy(
            api::pointer(it.dst),
            it.max as usize,
            api::pointer(it.src),
            it.count as usize,
            it.kind,
        );
        self.judge("aclrtMemcpy", code, &[right.err().unwrap_or(0)]);
        if let Ok(Some((end, _))) = right {
            self.apply_copy(it.dst, it.src, it.count);
            self.spot_check(thread, end, it.dst, it.count);
        }
    }

    pub(super) fn fill(&mut self, thread: usize) {
        if self.source.once_in(3) {
            return self.fill_words(thread);
        }
        // Heap memory is not promised to be settable.
        let spot = match self.source.weighted(&[60, 30, 4]) {
            0 => self.block_spot(true),
            1 => self.block_spot(false),
            _ => Some(self.spot()).filter(|spot| !spot.host),
        };
        let Some(spot) = spot else {
            return;
        };
        let count = self.count(&[spot]);
        let it = Fill {
            at: if self.source.once_in(100) {
                0
            } else {
                spot.address
            },
            max: match self.source.below(30) {
                0 => count.saturating_sub(1 + self.source.below(32)),
                _ => count.saturating_add(self.source.below(3)),
            },
            count,
            unit: 1,
        };
        let value = self.source.pick(&[0, 0xff, -1, 0x1234, i32::MIN]) ^ self.steps as i32;
        let right = self.model.set(thread, &it);
        self.note(format!(
            "thread {thread}: aclrtMemset {it:x?} with {value:#x} -> {right:x?}"
        ));
        let code = api::aclrtMemset(
            api::pointer(it.at),
            it.max as usize,
            value,
            it.count as usize,
        );
        self.judge("aclrtMemset", code, &[right.err().unwrap_or(0)]);
        if let Ok(Some(end)) = right {
            self.expect(it.at, &vec![u16::from(value as u8); it.count as usize]);
            self.spot_check(thread, end, it.at, it.count);
        }
    }

    fn fill_words(&mut self, thread: usize) {
        let device = !self.source.once_in(3);
        let Some(spot) = self.block_spot(device) else {
            return;
        };
        let mut at = spot.address & !3;
        if self.source.once_in(20) {
            let stray = self.stray() & !3;
            at = self.source.pick(&[at + 1, at + 2, at + 3, 0, stray]);
        }
        let room = spot.room / 4;
        let count = match self.source.below(20) {
            0 => 0,
            1 => room + 1 + self.source.below(8),
            2 => self.source.pick(&[
                u64::MAX / 4 + 2,
                u64::MAX,
                1 << 62,
                (1 << 62) + 1,
                u64::MAX / 4,
            ]),
            _ => self.source.size(room.clamp(1, USUAL)),
        };
        let it = Fill {
            at,
            max: match self.source.below(20) {
                0 => count.wrapping_mul(4).saturating_sub(1),
                _ => count.wrapping_mul(4),
            },
            count,
            unit: 4,
        };
        let value = 0x0102_0304u32.wrapping_mul(self.steps as u32 | 1);
        let right = self.model.set_words(thread, &it);
        self.note(format!(
            "thread {thread}: aclrtMemsetD32 {it:x?} with {value:#x} -> {right:x?}"
        ));
        let code = api::aclrtMemsetD32(
            api::pointer(it.at),
            it.max as usize,
            value,
            it.count as usize,
        );
        let codes = match &right {
            Ok(_) => vec![0],
            Err(codes) => codes.clone(),
        };
        self.judge("aclrtMemsetD32", code, &codes);
        if let Ok(Some(end)) = right {
            let bytes: Vec<u16> = (0..it.count)
                .flat_map(|_| value.to_le_bytes().map(u16::from))
                .collect();
            self.expect(it.at, &bytes);
            self.spot_check(thread, end, it.at, it.count * it.unit);
        }
    }

    pub(super) fn copy_2d(&mut self, thread: usize) {
        let Some(device) = self.block_spot(true) else {
            return;
        };
        let host = match self.source.below(3) {
            0 => self.block_spot(false).unwrap_or_else(|| self.arena_spot()),
            _ => self.arena_spot(),
        };
        let to_device = self.source.once_in(2);
        let least = device.room.min(host.room);
        let width = self.source.size(least.min(512));
        let spare = |world: &mut World| world.source.below(48);
        let (mut dpitch, mut spitch) = (width + spare(self), width + spare(self));
        let widest = dpitch.max(spitch);
        // height - 1 pitches and one row fit both ends.
        let mut height = self.source.size(((least - width) / widest + 1).min(40));
        let mut kind = self.source.pick(&[4, if to_device { 1 } else { 2 }]);
        let (mut width_given, mut bad) = (width, None);
        match self.source.below(30) {
            0 => (kind, bad) = (self.source.pick(&[0, 5, 6, -1]), Some(INVALID_PARAM)),
            1 => (dpitch, bad) = (width - 1, Some(INVALID_PARAM)),
            2 => (spitch, bad) = (width - 1, Some(INVALID_PARAM)),
            3 => (height, bad) = ((5 << 20) + 1, Some(PARAM_INVALID)),
            4 => {
                width_given = 5_000_001;
                (dpitch, spitch) = (width_given, width_given);
                bad = Some(PARAM_INVALID);
            }
            5 => width_given = 0,
            6 => height = 0,
            _ => {}
        }
        let (to, from) = if to_device {
            (device, host)
        } else {
            (host, device)
        };
        let nothing = width_given == 0 || height == 0;
        let right = match bad {
            _ if nothing => 0,
            Some(code) => code,
            None if self.model.current(thread).is_none() => NO_CONTEXT,
            None if self.model.config.rc => NOT_SUPPORTED,
            None => 0,
        };
        self.note(format!(
            "thread {thread}: aclrtMemcpy2d({:#x}, {dpitch}, {:#x}, {spitch}, {width_given}, {height}, \
             {kind}) -> {right}",
            to.address, from.address
        ));
        let code = api::aclrtMemcpy2d(
            api::pointer(to.address),
            dpitch as usize,
            api::pointer(from.address),
            spitch as usize,
            width_given as usize,
            height as usize,
            kind,
        );
        self.judge("aclrtMemcpy2d", code, &[right]);
        if right != 0 || nothing {
            return;
        }
        for row in 0..height {
            self.apply_copy(
                to.address + row * dpitch,
                from.address + row * spitch,
                width,
            );
        }
        let end = self.model.end(to.address, 1).expect("it was written");
        self.spot_check(thread, end, to.address, (height - 1) * dpitch + width);
    }

    /// The program writes to memory that it may touch itself.
    pub(super) fn touch_directly(&mut self, thread: usize) {
        if self.source.once_in(2) {
            let spot = self.arena_spot();
            let len = self.source.size(spot.room.min(USUAL));
            let bytes = self.bytes(len);
            self.note(format!(
                "thread {thread}: the program writes {len} bytes at {:#x}",
                spot.address
            ));
            self.arena.write(spot.address, &bytes);
            return;
        }
        let device = self.model.config.rc && self.source.once_in(2);
        let Some(spot) = self.block_spot(device) else {
            return;
        };
        let len = self.source.size(spot.room.min(USUAL));
        let bytes = self.bytes(len);
        self.note(format!(
            "thread {thread}: the program writes {len} bytes of block memory at {:#x}",
            spot.address
        ));
        poke(spot.address, &bytes);
        let expected: Vec<u16> = bytes.into_iter().map(u16::from).collect();
        self.expect(spot.address, &expected);
    }

    /// The code for an end that a batch declares.
    pub(super) fn end_of(&self, address: u64, bytes: u64) -> Result<End, Code> {
        self.model.end(address, bytes)
    }
}
