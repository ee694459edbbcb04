//! Whether the core runs at full speed.
//!
//! A core is slowed by what cannot be seen from inside: another guest on its other hardware thread, a
//! lower clock. It can be felt: a fixed piece of arithmetic takes longer. A round of a measurement counts
//! when that piece was fast before and after it; else the round is repeated. Before a round the core is
//! given time to become fast again. Both have their limits: the run must end.

use std::cell::Cell;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Slower than the best by this factor is disturbed.
const TOLERANCE: f64 = 1.15;
/// Between two looks at a slow core.
const PAUSE: Duration = Duration::from_millis(1);
/// Steps of the arithmetic: some 20 microseconds, so that a cold start of it does not count.
const STEPS: u32 = 6000;

/// The core under the calling thread.
#[derive(Debug)]
pub(crate) struct Core {
    /// The fastest that the arithmetic has ever been, in nanoseconds.
    best: Cell<f64>,
    /// How much time the run may still lose to a slow core.
    patience: Cell<Duration>,
    rounds: Cell<u32>,
    disturbed: Cell<u32>,
}

impl Core {
    /// Tries the core for some milliseconds.
    pub(crate) fn new(patience: Duration) -> Core {
        let core = Core {
            best: Cell::new(f64::INFINITY),
            patience: Cell::new(patience),
            rounds: Cell::new(0),
            disturbed: Cell::new(0),
        };
        for _ in 0..1000 {
            core.is_fast();
        }
        core
    }

    fn is_fast(&self) -> bool {
        let took = arithmetic();
        self.best.set(self.best.get().min(took));
        took <= self.best.get() * TOLERANCE
    }

    /// What `round` returns, of a try with a fast core before and after. When patience is at its end,
    /// or the tries are, what it returned last.
    pub(crate) fn undisturbed(&self, tries: usize, round: &mut dyn FnMut() -> f64) -> f64 {
        self.judge(tries, || self.is_fast(), round)
    }

    fn judge(
        &self,
        tries: usize,
        mut is_fast: impl FnMut() -> bool,
        round: &mut dyn FnMut() -> f64,
    ) -> f64 {
        self.rounds.set(self.rounds.get() + 1);
        let mut value = None;
        for _ in 0..tries {
            let begun = Instant::now();
            while !is_fast() && begun.elapsed() < self.patience.get() {
                std::thread::sleep(PAUSE);
            }
            self.lose(begun);
            let begun = Instant::now();
            value = Some(round());
            if is_fast() {
                return value.unwrap_or(f64::NAN);
            }
            self.lose(begun);
            if self.patience.get().is_zero() {
                break;
            }
        }
        self.disturbed.set(self.disturbed.get() + 1);
        value.unwrap_or(f64::NAN)
    }

    /// The time since `begun` was of no use.
    fn lose(&self, begun: Instant) {
        let left = self.patience.get().saturating_sub(begun.elapsed());
        self.patience.set(left);
    }

    /// Share of the rounds that were disturbed in every try, in percent.
    pub(crate) fn disturbed(&self) -> f64 {
        f64::from(self.disturbed.get()) * 100.0 / f64::from(self.rounds.get().max(1))
    }
}

/// Nanoseconds for a piece of arithmetic that keeps every unit of a core busy: eight chains at once,
/// each of a multiplication and some cheap steps.
fn arithmetic() -> f64 {
    let begun = Instant::now();
    let mut chains = black_box([1_u64, 2, 3, 4, 5, 6, 7, 8]);
    for _ in 0..STEPS {
        for chain in &mut chains {
            let mixed = chain.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
            *chain = (mixed ^ *chain).wrapping_add(77);
        }
    }
    black_box(chains);
    begun.elapsed().as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbed_rounds_are_repeated() {
        let core = Core::new(Duration::from_secs(60));
        let mut value = 0.0;
        let mut round = || {
            value += 1.0;
            value
        };
        // Slow before; slow after the first round; fast around the second.
        let mut answers = [false, true, false, true, true].into_iter();
        let counted = core.judge(5, || answers.next().unwrap_or(false), &mut round);
        assert_eq!((counted, core.disturbed()), (2.0, 0.0));
        assert_eq!(answers.next(), None);
        core.patience.set(Duration::ZERO);
        let last = core.judge(5, || false, &mut round);
        assert_eq!((last, core.disturbed()), (3.0, 50.0));
    }
}
