//! What the bytes of a block must be. Bytes that nobody wrote are unknown and equal to anything.

use std::collections::HashMap;

/// Bytes of a piece.
const PIECE: u64 = 1024;
/// Stands for an unknown byte.
pub(crate) const UNKNOWN: u16 = 0x100;

/// Expected contents of a block, kept where something was written only.
#[derive(Default, Debug)]
pub(crate) struct Shadow {
    pieces: HashMap<u64, Box<[u16; PIECE as usize]>>,
}

impl Shadow {
    /// The bytes of a range, [`UNKNOWN`] where nobody wrote.
    pub(crate) fn read(&self, from: u64, len: u64) -> Vec<u16> {
        let mut bytes = Vec::with_capacity(len as usize);
        let (mut at, end) = (from, from + len);
        while at < end {
            let (piece, within) = (at / PIECE, at % PIECE);
            let count = (PIECE - within).min(end - at);
            match self.pieces.get(&piece) {
                Some(known) => {
                    bytes.extend_from_slice(&known[within as usize..(within + count) as usize]);
                }
                None => bytes.extend(std::iter::repeat_n(UNKNOWN, count as usize)),
            }
            at += count;
        }
        bytes
    }

    /// Remembers what was written.
    pub(crate) fn write(&mut self, from: u64, bytes: &[u16]) {
        let mut at = 0;
        while at < bytes.len() {
            let (piece, within) = ((from + at as u64) / PIECE, (from + at as u64) % PIECE);
            let count = ((PIECE - within) as usize).min(bytes.len() - at);
            let part = &bytes[at..at + count];
            if self.pieces.contains_key(&piece) || part.iter().any(|byte| *byte != UNKNOWN) {
                let known = self
                    .pieces
                    .entry(piece)
                    .or_insert_with(|| Box::new([UNKNOWN; PIECE as usize]));
                known[within as usize..within as usize + count].copy_from_slice(part);
            }
            at += count;
        }
    }

    /// Some range in which bytes are known, for a block of `size` bytes.
    pub(crate) fn some_known(&self, which: u64, size: u64) -> Option<(u64, u64)> {
        // The order of a hash map differs from run to run; a seed must not.
        let count = self.pieces.len() as u64;
        let mut keys: Vec<u64> = self.pieces.keys().copied().collect();
        keys.sort_unstable();
        let piece = *keys.get((which % count.max(1)) as usize)?;
        let from = piece * PIECE;
        Some((from, PIECE.min(size - from)))
    }

    /// Every piece with known bytes, in order.
    pub(crate) fn known_ranges(&self, size: u64) -> Vec<(u64, u64)> {
        let mut keys: Vec<u64> = self.pieces.keys().copied().collect();
        keys.sort_unstable();
        keys.into_iter()
            .map(|piece| (piece * PIECE, PIECE.min(size - piece * PIECE)))
            .collect()
    }
}

/// The first byte that differs from what is known: its position, what it must be, what it is.
pub(crate) fn first_difference(expected: &[u16], got: &[u8]) -> Option<(usize, u16, u8)> {
    expected
        .iter()
        .zip(got)
        .position(|(want, is)| *want != UNKNOWN && *want != u16::from(*is))
        .map(|at| (at, expected[at], got[at]))
}
