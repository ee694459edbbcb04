//! Steps that change blocks of memory, as both sides do them.

use std::ffi::c_void;
use std::ptr::null_mut;

use cannery_abi::*;
use cannery_test_calls::api::*;
use rand::Rng;
use rand::rngs::SmallRng;

/// A piece of a block.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) block: usize,
    pub(super) at: usize,
    pub(super) bytes: usize,
}

/// See the module. Targets and sources are of the same length and do not touch each other.
pub(super) enum Work {
    Fill {
        to: Piece,
        value: u8,
    },
    Copy {
        to: Piece,
        from: Piece,
    },
    /// Adds words.
    Add {
        to: Piece,
        from: Piece,
    },
}

impl Piece {
    /// One of some blocks, whole units of it.
    pub(super) fn random(
        random: &mut SmallRng,
        sizes: &[usize],
        blocks: &[usize],
        unit: usize,
    ) -> Piece {
        let block = blocks[random.random_range(0..blocks.len())];
        let size = sizes[block] / unit;
        let at = random.random_range(0..size);
        let bytes = random.random_range(1..=size - at);
        Piece {
            block,
            at: at * unit,
            bytes: bytes * unit,
        }
    }

    fn of(self, blocks: &[*mut c_void]) -> *mut c_void {
        blocks[self.block].wrapping_byte_add(self.at)
    }
}

impl Work {
    /// Work within some blocks.
    pub(super) fn random(random: &mut SmallRng, sizes: &[usize], blocks: &[usize]) -> Work {
        let kind = random.random_range(0..4);
        let unit = if kind == 3 { 4 } else { 1 };
        let mut piece = || Piece::random(random, sizes, blocks, unit);
        let (mut to, mut from) = (piece(), piece());
        let bytes = to.bytes.min(from.bytes);
        let apart = to.block != from.block || to.at + bytes <= from.at || from.at + bytes <= to.at;
        if kind == 0 || !apart {
            let value = random.random();
            return Work::Fill { to, value };
        }
        (to.bytes, from.bytes) = (bytes, bytes);
        if kind == 3 {
            Work::Add { to, from }
        } else {
            Work::Copy { to, from }
        }
    }

    /// Does it in the mirror.
    pub(super) fn mirror(&self, blocks: &mut [Vec<u8>]) {
        let bytes = |blocks: &[Vec<u8>], piece: &Piece| {
            blocks[piece.block][piece.at..piece.at + piece.bytes].to_vec()
        };
        let (Work::Fill { to, .. } | Work::Copy { to, .. } | Work::Add { to, .. }) = self;
        let new = match self {
            Work::Fill { value, .. } => vec![*value; to.bytes],
            Work::Copy { from, .. } => bytes(blocks, from),
            Work::Add { from, .. } => {
                let number = |word: &[u8]| u32::from_ne_bytes(word.try_into().expect("four"));
                let (old, more) = (bytes(blocks, to), bytes(blocks, from));
                let words = old.chunks_exact(4).zip(more.chunks_exact(4));
                words
                    .flat_map(|(a, b)| number(a).wrapping_add(number(b)).to_ne_bytes())
                    .collect()
            }
        };
        blocks[to.block][to.at..to.at + to.bytes].copy_from_slice(&new);
    }

    /// Queues it.
    pub(super) fn queue(&self, blocks: &[*mut c_void], s: aclrtStream) {
        match self {
            Work::Fill { to, value } => {
                let code = aclrtMemsetAsync(to.of(blocks), to.bytes, (*value).into(), to.bytes, s);
                ok(code, "aclrtMemsetAsync");
            }
            Work::Copy { to, from } => copy(to.of(blocks), from.of(blocks), to.bytes, s),
            Work::Add { to, from } => add(to.of(blocks), from.of(blocks), to.bytes, s),
        }
    }
}

/// Queues a copy within the device.
pub(super) fn copy(to: *mut c_void, from: *const c_void, bytes: usize, s: aclrtStream) {
    let kind = ACL_MEMCPY_DEVICE_TO_DEVICE;
    let code = aclrtMemcpyAsync(to, bytes, from, bytes, kind, s);
    ok(code, "aclrtMemcpyAsync");
}

/// Queues `to += from`, 32-bit integers.
pub(super) fn add(to: *mut c_void, from: *const c_void, bytes: usize, s: aclrtStream) {
    let (sum, kind) = (ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32);
    let code = aclrtReduceAsync(to, from, bytes as u64, sum, kind, s, null_mut());
    ok(code, "aclrtReduceAsync");
}
