//! Counters of one owner.

use crate::Family;

/// Number of module ids that are told apart.
pub const MODULES: usize = 64;

/// Live blocks and bytes. Signed: one owner may release what another one allocated, so that only
/// the sum over the owners is meaningful.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Live blocks.
    pub blocks: i64,
    /// Live bytes, as charged.
    pub bytes: i64,
}

/// All numbers one owner keeps. Add owners up with [`Counters::add`].
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// Allocations that succeeded.
    pub allocations: u64,
    /// Releases that succeeded.
    pub frees: u64,
    /// Live blocks and bytes by family.
    pub families: [Tally; Family::ALL.len()],
    /// Live bytes by module.
    pub modules: [i64; MODULES],
    /// Largest live bytes by module this owner has seen of its own.
    pub module_peaks: [i64; MODULES],
    /// Largest live bytes this owner has seen of its own.
    pub peak_bytes: i64,
    live_bytes: i64,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            allocations: 0,
            frees: 0,
            families: [Tally::default(); Family::ALL.len()],
            modules: [0; MODULES],
            module_peaks: [0; MODULES],
            peak_bytes: 0,
            live_bytes: 0,
        }
    }
}

impl Counters {
    /// Counts an allocation of `charged` bytes.
    #[inline]
    pub fn allocated(&mut self, family: Family, module: u8, charged: u64) {
        let charged = charged.cast_signed();
        self.allocations += 1;
        let tally = &mut self.families[family as usize];
        tally.blocks += 1;
        tally.bytes += charged;
        let at = usize::from(module) % MODULES;
        self.modules[at] += charged;
        self.module_peaks[at] = self.module_peaks[at].max(self.modules[at]);
        self.live_bytes += charged;
        self.peak_bytes = self.peak_bytes.max(self.live_bytes);
    }

    /// Counts a release of `charged` bytes.
    #[inline]
    pub fn freed(&mut self, family: Family, module: u8, charged: u64) {
        let charged = charged.cast_signed();
        self.frees += 1;
        let tally = &mut self.families[family as usize];
        tally.blocks -= 1;
        tally.bytes -= charged;
        self.modules[usize::from(module) % MODULES] -= charged;
        self.live_bytes -= charged;
    }

    /// Adds the numbers of another owner. Peaks add up too: the sum is never below the true peak,
    /// and equal to it when one owner did all the work.
    pub fn add(&mut self, other: &Counters) {
        self.allocations += other.allocations;
        self.frees += other.frees;
        for (mine, theirs) in self.families.iter_mut().zip(&other.families) {
            mine.blocks += theirs.blocks;
            mine.bytes += theirs.bytes;
        }
        for (mine, theirs) in self.modules.iter_mut().zip(&other.modules) {
            *mine += theirs;
        }
        for (mine, theirs) in self.module_peaks.iter_mut().zip(&other.module_peaks) {
            *mine += theirs;
        }
        self.live_bytes += other.live_bytes;
        self.peak_bytes += other.peak_bytes;
    }

    /// Live blocks of all families.
    #[must_use]
    pub fn live(&self) -> Tally {
        self.families
            .iter()
            .fold(Tally::default(), |sum, tally| Tally {
                blocks: sum.blocks + tally.blocks,
                bytes: sum.bytes + tally.bytes,
            })
    }

    /// Makes the peak start again from what is live now.
    pub fn reset_peak(&mut self) {
        self.peak_bytes = self.live_bytes.max(0);
    }

    /// Forgets everything that is live (its memory was taken away as a whole); the numbers of past
    /// allocations stay.
    pub fn forget_live(&mut self) {
        self.families = [Tally::default(); Family::ALL.len()];
        self.modules = [0; MODULES];
        self.live_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_reset_keeps_live_bytes() {
        let mut counters = Counters::default();
        counters.allocated(Family::Malloc, 33, 4 << 20);
        counters.allocated(Family::Malloc, 33, 2 << 20);
        counters.freed(Family::Malloc, 33, 2 << 20);
        assert_eq!(
            (counters.live().bytes, counters.peak_bytes),
            (4 << 20, 6 << 20)
        );
        counters.reset_peak();
        assert_eq!(
            (counters.live().bytes, counters.peak_bytes),
            (4 << 20, 4 << 20)
        );
        counters.freed(Family::Malloc, 33, 4 << 20);
        counters.reset_peak();
        assert_eq!((counters.live().bytes, counters.peak_bytes), (0, 0));
    }

    #[test]
    fn owners_add_up_when_one_frees_what_another_allocated() {
        let (mut a, mut b) = (Counters::default(), Counters::default());
        a.allocated(Family::Cached, 3, 128);
        b.freed(Family::Cached, 3, 128);
        a.add(&b);
        assert_eq!(a.live(), Tally::default());
        assert_eq!((a.allocations, a.frees, a.modules[3]), (1, 1, 0));
    }
}
