//! Counters of one owner, and what many owners add up to.

use crate::Family;

/// Number of module ids that are told apart.
pub const MODULES: usize = 64;

/// Family numbers take four bits.
const FAMILIES: usize = 16;

/// Live blocks and bytes. Signed: one owner may release what another one allocated, so that only
/// the sum over the owners is meaningful.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Live blocks.
    pub blocks: i64,
    /// Live bytes, as charged.
    pub bytes: i64,
}

/// Numbers to report: those of one owner, or of several. Add them up with [`Counters::add`].
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
    /// Largest live bytes by module each owner has seen of its own.
    pub module_peaks: [i64; MODULES],
    /// Largest live bytes each owner has seen of its own.
    pub peak_bytes: i64,
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
        }
    }
}

impl Counters {
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
}

/// The books of one owner, made for being written: an allocation or a release of the module
/// `USUAL`, which most of them name, changes three numbers. [`Ledger::counters`] works the others
/// out.
#[derive(Clone, Debug)]
pub struct Ledger<const USUAL: u8> {
    // By family. Each in a list of its own: numbers that lie side by side would be changed together
    // by wide instructions, which wait for the narrow ones of the call before.
    allocations: [u64; FAMILIES],
    frees: [u64; FAMILIES],
    bytes: [i64; FAMILIES],
    /// Live bytes of the usual module, and the most since the other modules last changed.
    usual: i64,
    usual_peak: i64,
    /// The other modules, and what was true when one of them last changed.
    others: Others,
    /// Allocations and releases of memory that was forgotten.
    past: (u64, u64),
}

#[derive(Clone, Debug)]
struct Others {
    live: i64,
    modules: [i64; MODULES],
    peaks: [i64; MODULES],
    peak: i64,
}

impl<const USUAL: u8> Default for Ledger<USUAL> {
    fn default() -> Self {
        Self {
            allocations: [0; FAMILIES],
            frees: [0; FAMILIES],
            bytes: [0; FAMILIES],
            usual: 0,
            usual_peak: 0,
            others: Others {
                live: 0,
                modules: [0; MODULES],
                peaks: [0; MODULES],
                peak: 0,
            },
            past: (0, 0),
        }
    }
}

impl<const USUAL: u8> Ledger<USUAL> {
    const USUAL_AT: usize = {
        assert!((USUAL as usize) < MODULES);
        USUAL as usize
    };

    /// Counts an allocation of `charged` bytes.
    #[inline(always)]
    pub fn allocated(&mut self, family: u8, module: u8, charged: u64) {
        let (at, charged) = (usize::from(family) % FAMILIES, charged.cast_signed());
        self.allocations[at] += 1;
        self.bytes[at] += charged;
        if module == USUAL {
            self.usual += charged;
            if self.usual > self.usual_peak {
                self.usual_peak = self.usual;
            }
        } else {
            self.other(module, charged);
        }
    }

    /// Counts a release of `charged` bytes.
    #[inline(always)]
    pub fn freed(&mut self, family: u8, module: u8, charged: u64) {
        let (at, charged) = (usize::from(family) % FAMILIES, charged.cast_signed());
        self.frees[at] += 1;
        self.bytes[at] -= charged;
        if module == USUAL {
            self.usual -= charged;
        } else {
            self.other(module, -charged);
        }
    }

    #[cold]
    fn other(&mut self, module: u8, change: i64) {
        self.close();
        let at = usize::from(module) % MODULES;
        let others = &mut self.others;
        others.live += change;
        others.modules[at] += change;
        others.peaks[at] = others.peaks[at].max(others.modules[at]);
        others.peak = others.peak.max(self.usual + others.live);
    }

    /// Ends a time in which the other modules did not change: the most that was live meanwhile was
    /// the most of the usual one, and the others.
    fn close(&mut self) {
        let others = &mut self.others;
        let peak = &mut others.peaks[Self::USUAL_AT];
        *peak = (*peak).max(self.usual_peak);
        others.peak = others.peak.max(self.usual_peak + others.live);
        self.usual_peak = self.usual;
    }

    fn totals(&self) -> (u64, u64) {
        let (allocations, frees) = self.past;
        (
            allocations + self.allocations.iter().sum::<u64>(),
            frees + self.frees.iter().sum::<u64>(),
        )
    }

    /// A number that changes with every allocation and release.
    #[must_use]
    pub fn activity(&self) -> u64 {
        let (allocations, frees) = self.totals();
        allocations + frees
    }

    /// The numbers to report.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let mut closed = self.clone();
        closed.close();
        let (allocations, frees) = self.totals();
        let mut counters = Counters {
            allocations,
            frees,
            modules: closed.others.modules,
            module_peaks: closed.others.peaks,
            peak_bytes: closed.others.peak,
            ..Counters::default()
        };
        counters.modules[Self::USUAL_AT] += self.usual;
        for (at, tally) in counters.families.iter_mut().enumerate() {
            *tally = Tally {
                blocks: self.allocations[at]
                    .wrapping_sub(self.frees[at])
                    .cast_signed(),
                bytes: self.bytes[at],
            };
        }
        counters
    }

    /// Makes the peak start again from what is live now.
    pub fn reset_peak(&mut self) {
        self.close();
        self.others.peak = (self.usual + self.others.live).max(0);
    }

    /// Forgets everything that is live (its memory was taken away as a whole); the numbers of past
    /// allocations stay.
    pub fn forget_live(&mut self) {
        self.close();
        let past = self.totals();
        let others = Others {
            live: 0,
            modules: [0; MODULES],
            ..self.others.clone()
        };
        *self = Self {
            others,
            past,
            ..Self::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: u8 = 33;
    const MALLOC: u8 = Family::Malloc as u8;

    #[test]
    fn peak_reset_keeps_live_bytes() {
        let mut ledger = Ledger::<USUAL>::default();
        ledger.allocated(MALLOC, 33, 4 << 20);
        ledger.allocated(MALLOC, 33, 2 << 20);
        ledger.freed(MALLOC, 33, 2 << 20);
        let numbers = |ledger: &Ledger<USUAL>| {
            let counters = ledger.counters();
            (counters.live().bytes, counters.peak_bytes)
        };
        assert_eq!(numbers(&ledger), (4 << 20, 6 << 20));
        ledger.reset_peak();
        assert_eq!(numbers(&ledger), (4 << 20, 4 << 20));
        ledger.freed(MALLOC, 33, 4 << 20);
        ledger.reset_peak();
        assert_eq!(numbers(&ledger), (0, 0));
    }

    #[test]
    fn owners_add_up_when_one_frees_what_another_allocated() {
        let (mut a, mut b) = (Ledger::<USUAL>::default(), Ledger::<USUAL>::default());
        a.allocated(Family::Cached as u8, 3, 128);
        b.freed(Family::Cached as u8, 3, 128);
        let mut sum = a.counters();
        sum.add(&b.counters());
        assert_eq!(sum.live(), Tally::default());
        assert_eq!((sum.allocations, sum.frees, sum.modules[3]), (1, 1, 0));
    }

    /// Every number is counted on the spot, as the reports promise it.
    struct Plain {
        live: i64,
        peak: i64,
        modules: [i64; MODULES],
        peaks: [i64; MODULES],
    }

    #[test]
    fn shortcuts_agree_with_counting_everything() {
        let mut ledger = Ledger::<USUAL>::default();
        let mut plain = Plain {
            live: 0,
            peak: 0,
            modules: [0; MODULES],
            peaks: [0; MODULES],
        };
        let mut blocks: Vec<(u8, u8, u64)> = vec![];
        let (mut made, mut gone, mut random) = (0_u64, 0_u64, 1_u64);
        for step in 0..20_000_u64 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(step | 1);
            let pick = random >> 33;
            if pick % 5 < 3 - (step / 1000) % 2 || blocks.is_empty() {
                let module = if pick % 7 == 0 {
                    (pick % 61) as u8
                } else {
                    USUAL
                };
                let block = ((pick % 9) as u8, module, (pick % 1000 + 1) * 64);
                blocks.push(block);
                ledger.allocated(block.0, module, block.2);
                made += 1;
                let at = usize::from(module);
                plain.modules[at] += block.2.cast_signed();
                plain.peaks[at] = plain.peaks[at].max(plain.modules[at]);
                plain.live += block.2.cast_signed();
                plain.peak = plain.peak.max(plain.live);
            } else {
                let block = blocks.swap_remove(pick as usize % blocks.len());
                ledger.freed(block.0, block.1, block.2);
                gone += 1;
                plain.modules[usize::from(block.1)] -= block.2.cast_signed();
                plain.live -= block.2.cast_signed();
            }
            if step == 9_000 {
                ledger.forget_live();
                blocks.clear();
                plain.modules = [0; MODULES];
                plain.live = 0;
            }
            if step % 97 == 0 {
                let counters = ledger.counters();
                assert_eq!((counters.allocations, counters.frees), (made, gone));
                let live = Tally {
                    blocks: blocks.len() as i64,
                    bytes: plain.live,
                };
                assert_eq!((counters.live(), counters.peak_bytes), (live, plain.peak));
                assert_eq!(counters.modules, plain.modules);
                assert_eq!(counters.module_peaks, plain.peaks);
                assert_eq!(ledger.activity(), made + gone);
            }
        }
    }
}
