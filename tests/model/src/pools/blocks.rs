//! Blocks of the pools: which memory a request must get, and what becomes of it.

use std::ffi::c_void;

use super::streams::Item;
use super::{INTERNAL, Live, Piece, Pool, Position, SAMPLE, STREAMS, UNIT, World};
use crate::api;
use crate::model::PARAM_INVALID;

/// Where the memory for a request comes from.
#[derive(Clone, Copy, Debug)]
enum Choice {
    /// A single idle piece of this length; `any`: whoever it waits for.
    Closest {
        length: u64,
        any: bool,
    },
    /// Neighbours.
    Joined {
        any: bool,
    },
    New,
}

impl World {
    fn may_use(&self, pool: &Pool, piece: &Piece, stream: usize) -> bool {
        let Some((other, position)) = piece.ticket else {
            return true;
        };
        let [follow, opportunistic, _] = pool.rules;
        other == stream
            || opportunistic && self.is_done((other, position))
            || follow && self.streams[stream].after[other] >= position
    }

    /// Idle pieces that may serve a request and the units that count as taken: `None` for new memory.
    fn predict(&self, handle: u64, units: u64, stream: usize) -> Option<Choice> {
        let pool = &self.pools[&handle];
        let internal = pool.rules[2];
        let usable = |piece: &Piece| self.may_use(pool, piece, stream);
        let closest = |may: &dyn Fn(&Piece) -> bool| {
            let fitting = pool.idle.values().filter(|p| p.units >= units && may(p));
            fitting.map(|piece| piece.units).min()
        };
        let runs = |may: &dyn Fn(&Piece) -> bool| {
            let mut reach = 0;
            let mut length = 0;
            pool.idle.iter().any(|(&start, piece)| {
                if !may(piece) {
                    length = 0;
                    return false;
                }
                length = if start == reach { length } else { 0 } + piece.units;
                reach = start + piece.units * UNIT;
                length >= units
            })
        };
        if let Some(length) = closest(&usable) {
            return Some(Choice::Closest { length, any: false });
        }
        if runs(&usable) {
            return Some(Choice::Joined { any: false });
        }
        if internal && let Some(length) = closest(&|_| true) {
            return Some(Choice::Closest { length, any: true });
        }
        let (huge, normal) = self.free;
        let fits = pool.reserved() + pool.leaving_units() + units <= pool.limit;
        if fits && (units <= huge || units <= normal) {
            return Some(Choice::New);
        }
        (internal && runs(&|_| true)).then_some(Choice::Joined { any: true })
    }

    pub(super) fn alloc(&mut self) {
        let Some(handle) = self.pool() else { return };
        let stream = self.source.below(STREAMS as u64) as usize;
        let size = self.source.below(6 * UNIT) + 1;
        let units = size.div_ceil(UNIT);
        let mut choice = self.predict(handle, units, stream);
        if choice.is_none() && units <= self.pools[&handle].limit {
            self.give_up_done(handle, 0);
            choice = self.predict(handle, units, stream);
        }
        let mut out = std::ptr::null_mut();
        let on = self.streams[stream].handle as *mut c_void;
        let pool = handle as *mut c_void;
        let code = api::aclrtMemPoolMallocAsync(&raw mut out, size as usize, pool, on);
        let what = format!("alloc {size} of {handle:#x} on {stream}: {out:?}, {choice:?}");
        self.journal
            .judge(what, code, if choice.is_some() { 0 } else { INTERNAL });
        let Some(choice) = choice else {
            assert!(out.is_null(), "an address of a refused request");
            return;
        };
        self.settle(handle, out as u64, units, stream, choice);
        self.tag = self.tag.wrapping_add(1);
        let block = Live {
            units,
            tag: self.tag,
            pool: handle,
        };
        self.blocks.insert(out as u64, block);
        for unit in 0..units {
            let at = (out as u64 + unit * UNIT) as *mut c_void;
            let code = api::aclrtMemsetAsync(at, SAMPLE, i32::from(block.tag), SAMPLE, on);
            assert_eq!(code, 0, "aclrtMemsetAsync: {:?}", api::recent_text());
        }
        self.put(stream, Item::Work);
    }

    /// The block is where the model expects it, and takes what it takes.
    fn settle(&mut self, handle: u64, start: u64, units: u64, stream: usize, choice: Choice) {
        let end = start + units * UNIT;
        let clear = |at: u64, taken: u64| at + taken * UNIT <= start || end <= at;
        let last = self.journal.last();
        for (&at, block) in &self.blocks {
            assert!(
                clear(at, block.units),
                "{start:#x} overlaps a block\n{last}"
            );
        }
        let touched: Vec<(u64, Piece)> = self.pools[&handle]
            .idle
            .iter()
            .filter(|(at, piece)| !clear(**at, piece.units))
            .map(|(at, piece)| (*at, *piece))
            .collect();
        let covered = |from: u64, list: &[(u64, Piece)]| {
            list.iter().try_fold(from, |reach, (at, piece)| {
                (reach == *at).then_some(at + piece.units * UNIT)
            })
        };
        let mut waits = Vec::new();
        match choice {
            Choice::New => assert!(touched.is_empty(), "{start:#x} is not new memory\n{last}"),
            Choice::Closest { length, any } => {
                let [(at, piece)] = touched[..] else {
                    panic!("{start:#x} is no single piece\n{last}");
                };
                let right = at == start && piece.units == length;
                assert!(right, "{start:#x}: not the closest piece\n{last}");
                waits.push((any, piece));
            }
            Choice::Joined { any } => {
                let whole = covered(start, &touched).is_some_and(|reach| reach >= end);
                assert!(whole, "{start:#x}: not whole neighbours\n{last}");
                waits.extend(touched.iter().map(|(_, piece)| (any, *piece)));
            }
        }
        for (any, piece) in waits {
            if self.may_use(&self.pools[&handle], &piece, stream) {
                continue;
            }
            assert!(any, "{start:#x} may not be used by {stream} yet\n{last}");
            let (other, position) = piece.ticket.expect("else anybody may use it");
            let after = &mut self.streams[stream].after[other];
            *after = (*after).max(position);
            self.put(stream, Item::Wait((other, position)));
        }
        let pool = self.pools.get_mut(&handle).expect("it lives");
        for (at, piece) in touched {
            pool.idle.remove(&at);
            let rest = (at + piece.units * UNIT).saturating_sub(end) / UNIT;
            if rest > 0 {
                let piece = Piece {
                    units: rest,
                    ..piece
                };
                pool.idle.insert(end, piece);
            }
        }
        if matches!(choice, Choice::New) {
            if units <= self.free.0 {
                self.free.0 -= units;
            } else {
                self.free.1 -= units;
                pool.normal += units;
            }
        }
        pool.used += units;
        pool.used_high = pool.used_high.max(pool.used);
        pool.reserved_high = pool.reserved_high.max(pool.reserved());
    }

    /// A block in use, or something that is none.
    pub(super) fn block(&mut self) -> u64 {
        let at = self.source.below(self.blocks.len() as u64) as usize;
        match self.blocks.keys().nth(at).copied() {
            Some(block) if !self.source.once_in(8) => block,
            Some(block) if self.source.once_in(2) => block + self.source.pick(&[1, 4096, UNIT / 2]),
            _ => self.source.pick(&self.gone),
        }
    }

    pub(super) fn free(&mut self) {
        let address = self.block();
        let stream = self.source.below(STREAMS as u64) as usize;
        let found = self.blocks.remove(&address);
        // Whoever frees on another stream than the one that used the block waits for that one first.
        if found.is_some() {
            self.chain_all(stream);
        }
        let on = self.streams[stream].handle as *mut c_void;
        let code = api::aclrtMemPoolFreeAsync(address as *mut c_void, on);
        let right = if found.is_some() { 0 } else { PARAM_INVALID };
        self.journal
            .judge(format!("free {address:#x} on {stream}"), code, right);
        if let Some(block) = found {
            let ticket = Some(self.now(stream));
            self.came_back(address, block, ticket);
        }
    }

    /// aclrtFree, when nothing is queued that could touch the block.
    pub(super) fn free_at_once(&mut self) {
        if !self.is_quiet() {
            return;
        }
        let address = self.block();
        let found = self.blocks.remove(&address);
        let code = api::aclrtFree(address as *mut c_void);
        let right = if found.is_some() { 0 } else { PARAM_INVALID };
        self.journal
            .judge(format!("free-at-once {address:#x}"), code, right);
        if let Some(block) = found {
            self.came_back(address, block, None);
        }
    }

    pub(super) fn came_back(&mut self, address: u64, block: Live, ticket: Option<Position>) {
        let pool = self.pools.get_mut(&block.pool).expect("it holds a block");
        pool.used -= block.units;
        let piece = Piece {
            units: block.units,
            ticket,
        };
        pool.idle.insert(address, piece);
        if pool.ended {
            self.give_up_all(block.pool);
            self.forget_ended();
        }
        self.gone.push(address);
        if self.gone.len() > 64 {
            self.gone.swap_remove(0);
        }
        let blocks = &self.blocks;
        self.gone.retain(|at| !blocks.contains_key(at));
    }
}
