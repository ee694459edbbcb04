//! Where choices come from: a seeded generator, or a tape of bytes that a fuzzer changes.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// A stream of choices. The same seed or tape gives the same choices.
#[derive(Debug)]
pub(crate) enum Source {
    /// Endless.
    Seeded(SmallRng),
    /// Ends; beyond the end every choice is the first one.
    Tape {
        /// The choices.
        bytes: Vec<u8>,
        /// The next one.
        at: usize,
    },
}

impl Source {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self::Seeded(SmallRng::seed_from_u64(seed))
    }

    pub(crate) fn tape(bytes: Vec<u8>) -> Self {
        Self::Tape { bytes, at: 0 }
    }

    /// Whether a tape is used up.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Self::Seeded(_) => false,
            Self::Tape { bytes, at } => *at >= bytes.len(),
        }
    }

    /// A number in `0..end`; 0 when `end` is 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        if end <= 1 {
            return 0;
        }
        match self {
            Self::Seeded(rng) => rng.random_range(0..end),
            Self::Tape { bytes, at } => {
                let count = (64 - (end - 1).leading_zeros()).div_ceil(8) as usize;
                let mut number = 0;
                for _ in 0..count {
                    number = number << 8 | u64::from(bytes.get(*at).copied().unwrap_or(0));
                    *at += 1;
                }
                number % end
            }
        }
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        // The rare case is the last number, so that a used-up tape chooses the usual case.
        self.below(times) + 1 == times
    }

    /// One of the values.
    pub(crate) fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }

    /// An index chosen by weight.
    pub(crate) fn weighted(&mut self, weights: &[u64]) -> usize {
        let mut at = self.below(weights.iter().sum());
        for (index, weight) in weights.iter().enumerate() {
            match at.checked_sub(*weight) {
                Some(rest) => at = rest,
                None => return index,
            }
        }
        weights.len() - 1
    }

    /// A number in `1..=most` with every magnitude alike.
    pub(crate) fn size(&mut self, most: u64) -> u64 {
        let bits = 64 - most.max(1).leading_zeros();
        let top = 1 << self.below(u64::from(bits));
        (top + self.below(top)).min(most.max(1))
    }
}
