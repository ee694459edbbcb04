//! Size classes: which bin a length belongs to, which bins have members, and
//! the list of the free ranges in each bin.
//!
//! A bin is named by the upper bits of its lengths written as a floating-point
//! number: the exponent and five bits of the fraction. So every power of two is
//! divided into 32 bins of equal width, a bin pieces at most 1/32 (3.1 %) of its
//! lengths, and lengths below 64 have a bin of their own. One conversion gives
//! both roundings, and it is shorter than counting leading zeros and shifting
//! on machines whose base instruction set has no such count.
//!
//! The set of non-empty bins is a bitmap of two levels: a bit in `top` for each
//! word of `words` that is not zero. Finding the first non-empty bin at or above
//! a given one takes two bit scans at most.

use super::nodes::{Node, WALL};

/// Lengths must be below this: from here on a double no longer holds each of
/// them exactly.
pub(super) const LEN_LIMIT: u64 = 1 << f64::MANTISSA_DIGITS;

/// Bits of the fraction that tell bins apart: 32 bins in each power of two.
const SECOND_LEVEL_BITS: u32 = 5;
/// Bits of a double below those that name the bin.
const DROPPED_BITS: u32 = f64::MANTISSA_DIGITS - 1 - SECOND_LEVEL_BITS;
/// The name of the bin of length 1, which becomes bin 0.
const FIRST: u32 = (f64::MAX_EXP as u32 - 1) << SECOND_LEVEL_BITS;

/// Size of the table of bins: a power of two, so that a masked index needs no
/// check. Lengths up to [`LEN_LIMIT`] use the bins 0 to 1696.
const BINS: usize = 2048;
const WORDS: usize = BINS / 64;
/// Takes the writes that are meant for no bin.
const NO_BIN: usize = BINS - 1;

/// The bin that holds free ranges of `len` units (1 to [`LEN_LIMIT`]; for 0 the
/// answer is not a bin).
#[inline(always)]
pub(super) fn floor(len: u64) -> u32 {
    name(bits(len))
}

/// The first bin whose members all hold `len` units.
#[inline(always)]
pub(super) fn ceil(len: u64) -> u32 {
    name(bits(len) + ((1 << DROPPED_BITS) - 1))
}

/// `len` as a double. The detour over `i64` is one instruction where `u64` takes
/// several; the values agree below [`LEN_LIMIT`].
#[inline(always)]
fn bits(len: u64) -> u64 {
    (len.cast_signed() as f64).to_bits()
}

#[inline(always)]
fn name(bits: u64) -> u32 {
    ((bits >> DROPPED_BITS) as u32).wrapping_sub(FIRST)
}

/// The free ranges, by bin. Each list is linked through `up` and `down` of its
/// nodes, newest first; the ends are [`WALL`], whose own links take stray writes
/// and mean nothing. That, and [`NO_BIN`], spare the hot paths most branches
/// that no predictor gets right.
pub(super) struct Bins {
    top: u32,
    words: [u64; WORDS],
    heads: [u32; BINS],
}

impl Bins {
    pub(super) const fn new() -> Self {
        Self {
            top: 0,
            words: [0; WORDS],
            heads: [WALL; BINS],
        }
    }

    /// The newest member of `bin`, or [`WALL`].
    #[inline(always)]
    pub(super) fn head(&self, bin: u32) -> u32 {
        self.heads[bin as usize % BINS]
    }

    /// The lowest non-empty bin that is not below `bin`.
    #[inline(always)]
    pub(super) fn at_or_above(&self, bin: u32) -> Option<u32> {
        let word = word(bin);
        let here = self.words[word] & (u64::MAX << (bin % 64));
        if here != 0 {
            return Some(bin / 64 * 64 + here.trailing_zeros());
        }
        let above = self.top & (u32::MAX << 1 << word);
        if above == 0 {
            return None;
        }
        let word = above.trailing_zeros();
        Some(word * 64 + self.words[word as usize % WORDS].trailing_zeros())
    }

    /// The highest non-empty bin.
    pub(super) fn highest(&self) -> Option<u32> {
        let word = self.top.checked_ilog2()?;
        Some(word * 64 + self.words[word as usize % WORDS].checked_ilog2()?)
    }

    /// Puts the free node `id` at the head of `bin`, which is that of its length.
    #[inline(always)]
    pub(super) fn link(&mut self, nodes: &mut [Node], id: u32, bin: u32) {
        let head = &mut self.heads[bin as usize % BINS];
        let old = *head;
        *head = id;
        nodes[old as usize].up = id;
        let node = &mut nodes[id as usize];
        node.up = WALL;
        node.down = old;
        let word = word(bin);
        self.words[word] |= 1 << (bin % 64);
        self.top |= 1 << word;
    }

    /// Takes a node out of its list; `node` is a copy of it as it stands.
    #[inline(always)]
    pub(super) fn unlink(&mut self, nodes: &mut [Node], node: &Node) {
        let Node { up, down, .. } = *node;
        nodes[down as usize].up = up;
        nodes[up as usize].down = down;
        let bin = floor(node.len());
        let head = if up == WALL {
            bin as usize % BINS
        } else {
            NO_BIN
        };
        self.heads[head] = down;
        let empty = up | down == WALL;
        let word = word(bin);
        self.words[word] &= !(u64::from(empty) << (bin % 64));
        self.top &= !(u32::from(self.words[word] == 0) << word);
    }

    /// As `unlink` followed by `link` into `bin`; nothing happens when the node
    /// is already there.
    #[inline(always)]
    pub(super) fn relink(&mut self, nodes: &mut [Node], id: u32, node: &Node, bin: u32) {
        if floor(node.len()) != bin {
            self.unlink(nodes, node);
            self.link(nodes, id, bin);
        }
    }
}

#[inline(always)]
fn word(bin: u32) -> usize {
    (bin / 64) as usize % WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shortest length of a bin, found by bisection.
    fn shortest(bin: u32) -> u64 {
        let (mut low, mut high) = (1, LEN_LIMIT);
        while low < high {
            let middle = low + (high - low) / 2;
            if floor(middle) < bin {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low
    }

    #[test]
    fn short_lengths_have_their_own_bin() {
        for len in 1..64 {
            assert_eq!(floor(len), ceil(len));
            assert!(floor(len) < floor(len + 1));
        }
    }

    #[test]
    fn a_bin_spans_at_most_a_32nd_of_its_lengths() {
        for bin in floor(64)..floor(LEN_LIMIT) {
            let (first, next) = (shortest(bin), shortest(bin + 1));
            assert_eq!((floor(first), floor(next - 1)), (bin, bin));
            assert!((next - first) * 32 <= first, "bin {bin}: {first} to {next}");
        }
    }

    #[test]
    fn roundings_agree_with_their_promise_at_every_edge() {
        for bin in 0..floor(LEN_LIMIT) {
            let edge = shortest(bin);
            for len in [edge.saturating_sub(1).max(1), edge, edge + 1] {
                let up = ceil(len);
                assert!(shortest(up) >= len, "ceil({len})");
                assert!(up == floor(len) || up == floor(len) + 1 || len < 64);
                assert!(shortest(floor(len)) <= len, "floor({len})");
            }
        }
        assert!(floor(LEN_LIMIT) < NO_BIN as u32);
    }

    #[test]
    fn the_set_finds_the_nearest_bin_above_and_the_highest() {
        let mut nodes = vec![Node::EMPTY; 2];
        let mut bins = Bins::new();
        assert_eq!((bins.at_or_above(0), bins.highest()), (None, None));
        for bin in [0, 31, 63, 64, 100, 1695] {
            let len = shortest(bin);
            let bin = floor(len);
            nodes[1].set(len, 0);
            bins.link(&mut nodes, 1, bin);
            assert_eq!(bins.highest(), Some(bin));
            for from in 0..=1696 {
                assert_eq!(
                    bins.at_or_above(from),
                    (from <= bin).then_some(bin),
                    "{from}"
                );
            }
            let node = nodes[1];
            bins.unlink(&mut nodes, &node);
            assert_eq!((bins.at_or_above(0), bins.highest()), (None, None));
        }
    }
}
