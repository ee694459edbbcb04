//! Rounds: the sides take turns.

use std::time::Duration;

use crate::core::Core;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Rounds of every side.
    pub(crate) rounds: usize,
    /// How often as many rounds are added while the figures scatter.
    pub(crate) repeats: usize,
    /// How often a round is tried until nothing disturbed the core.
    pub(crate) tries: usize,
    /// How much time the whole run may lose to a slow core.
    pub(crate) patience: Duration,
    /// By what the calls of a round are divided.
    pub(crate) divisor: usize,
}

impl Effort {
    pub(crate) const FULL: Effort = Effort {
        rounds: 21,
        repeats: 4,
        tries: 10,
        patience: Duration::from_secs(120),
        divisor: 1,
    };
    pub(crate) const QUICK: Effort = Effort {
        rounds: 5,
        repeats: 0,
        tries: 1,
        patience: Duration::ZERO,
        divisor: 8,
    };

    /// Calls of a round, where a full run makes `calls`.
    pub(crate) fn calls(&self, calls: usize) -> usize {
        (calls / self.divisor).max(1)
    }
}

/// Half of the rounds lie within this share of the median, or more rounds are made.
const SCATTER: f64 = 0.05;

/// What one side measured: a value a round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    /// A figure that does not scatter.
    pub(crate) fn exactly(value: f64) -> Samples {
        Samples(vec![value])
    }

    fn at(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1) as f64;
        let (low, high) = ((share * last).floor(), (share * last).ceil());
        match (sorted.get(low as usize), sorted.get(high as usize)) {
            (Some(a), Some(b)) => a + (b - a) * (share * last - low),
            _ => f64::NAN,
        }
    }

    pub(crate) fn median(&self) -> f64 {
        self.at(0.5)
    }

    /// A quarter of the rounds lies below the first, a quarter above the second.
    pub(crate) fn quartiles(&self) -> (f64, f64) {
        (self.at(0.25), self.at(0.75))
    }

    pub(crate) fn rounds(&self) -> usize {
        self.0.len()
    }

    fn scatters(&self) -> bool {
        let (low, high) = self.quartiles();
        (high - low) > 2.0 * SCATTER * self.median().abs()
    }

    /// Every value changed alike.
    pub(crate) fn map(&self, change: impl Fn(f64) -> f64) -> Samples {
        Samples(self.0.iter().map(|&value| change(value)).collect())
    }

    /// Values that somebody else measured.
    pub(crate) fn of(values: Vec<f64>) -> Samples {
        Samples(values)
    }
}

/// One round of one side: does the work and says what it measured.
pub(crate) type Side<'a> = Box<dyn FnMut() -> f64 + 'a>;

/// Rounds of every side in turn, after one for each that does not count. Every round begins with
/// another side. More rounds are made while the first side scatters.
pub(crate) fn take_turns(effort: Effort, core: &Core, mut sides: Vec<Side<'_>>) -> Vec<Samples> {
    let mut samples = vec![Samples::default(); sides.len()];
    for side in &mut sides {
        side();
    }
    for repeat in 0..=effort.repeats {
        if repeat > 0 && !samples.first().is_some_and(Samples::scatters) {
            break;
        }
        for round in 0..effort.rounds {
            for turn in 0..sides.len() {
                let at = (round + turn) % sides.len();
                let value = core.undisturbed(effort.tries, &mut sides[at]);
                samples[at].0.push(value);
            }
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn quartiles_lie_between_neighbours() {
        let samples = Samples::of(vec![40.0, 10.0, 20.0, 30.0]);
        assert_eq!(samples.median(), 25.0);
        assert_eq!(samples.quartiles(), (17.5, 32.5));
        assert!(Samples::default().median().is_nan());
    }

    #[test]
    fn every_round_begins_with_another_side() {
        let turns = RefCell::new(String::new());
        let turns = &turns;
        let side = |name: char| -> Side<'_> {
            Box::new(move || {
                turns.borrow_mut().push(name);
                1.0
            })
        };
        let effort = Effort {
            rounds: 3,
            repeats: 5,
            tries: 1,
            patience: Duration::ZERO,
            divisor: 1,
        };
        let samples = take_turns(
            effort,
            &Core::new(Duration::ZERO),
            vec![side('a'), side('b'), side('c')],
        );
        assert_eq!(*turns.borrow(), "abcabcbcacab");
        assert!(samples.iter().all(|side| side.rounds() == 3));
    }

    #[test]
    fn rounds_are_added_while_the_first_side_scatters() {
        let effort = Effort {
            rounds: 4,
            repeats: 2,
            tries: 1,
            patience: Duration::ZERO,
            divisor: 1,
        };
        let mut last = 0.0;
        let restless: Side<'_> = Box::new(move || {
            last = 1.0 - last;
            10.0 + 3.0 * last
        });
        let samples = take_turns(
            effort,
            &Core::new(Duration::ZERO),
            vec![restless, Box::new(|| 1.0)],
        );
        assert_eq!((samples[0].rounds(), samples[1].rounds()), (12, 12));
    }
}
