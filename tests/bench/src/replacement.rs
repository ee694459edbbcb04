//! Workloads of allocators: hot pairs and random replacement.

use std::ffi::c_void;
use std::hint::black_box;
use std::ops::Range;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use crate::clock::{Busy, Clock, ticks};
use crate::subjects::Subject;

/// The last block freed is the next one allocated: nanoseconds for a pair.
pub(crate) fn hot(subject: impl Subject, size: usize, pairs: usize) -> f64 {
    let begun = Busy::start();
    for _ in 0..pairs {
        let block = black_box(subject.alloc(size));
        subject.free(block);
    }
    begun.per(pairs)
}

/// Sizes of a workload, in bytes.
#[derive(Clone, Copy)]
pub(crate) enum Sizes {
    One(usize),
    /// 64 B to 128 KiB, every magnitude alike.
    Mixed,
}

impl Sizes {
    fn draw(self, rng: &mut SmallRng) -> u32 {
        match self {
            Sizes::One(size) => size as u32,
            Sizes::Mixed => (64.0 * 2048_f64.powf(rng.random::<f64>())) as u32,
        }
    }
}

/// Random replacement among a number of live blocks. Two of one seed do the same.
pub(crate) struct Replacement<S: Subject> {
    subject: S,
    sizes: Sizes,
    rng: SmallRng,
    held: Vec<*mut c_void>,
    /// Block and new size of every step of the next round.
    steps: Vec<(u32, u32)>,
    intervals: Vec<u32>,
}

impl<S: Subject> Replacement<S> {
    pub(crate) fn new(subject: S, live: usize, sizes: Sizes, seed: u64) -> Self {
        let mut rng = SmallRng::seed_from_u64(seed);
        let held = (0..live)
            .map(|_| subject.alloc(sizes.draw(&mut rng) as usize))
            .collect();
        let mut new = Self {
            subject,
            sizes,
            rng,
            held,
            steps: Vec::new(),
            intervals: Vec::new(),
        };
        // Every block is replaced twice, so that what is measured is not the order of the filling.
        for _ in 0..2 {
            new.round(live);
        }
        new
    }

    /// Draws the steps of a round.
    pub(crate) fn draw(&mut self, steps: usize) {
        let (rng, sizes, live) = (&mut self.rng, self.sizes, self.held.len() as u32);
        self.steps.clear();
        self.steps
            .extend((0..steps).map(|_| (rng.random_range(0..live), sizes.draw(rng))));
    }

    /// Nanoseconds for one free and one allocation.
    pub(crate) fn round(&mut self, pairs: usize) -> f64 {
        self.draw(pairs);
        let begun = Busy::start();
        self.play(0..pairs);
        begun.per(pairs)
    }

    /// Does a part of what was drawn.
    #[inline]
    pub(crate) fn play(&mut self, steps: Range<usize>) {
        for &(at, size) in &self.steps[steps] {
            let place = &mut self.held[at as usize];
            self.subject.free(*place);
            *place = self.subject.alloc(size as usize);
        }
    }

    /// One in a thousand of the single calls takes longer: nanoseconds, without the clock's.
    pub(crate) fn tail(&mut self, clock: &Clock, pairs: usize) -> f64 {
        self.draw(pairs);
        // Fully written before, so that storing an interval never faults in a page.
        self.intervals.clear();
        self.intervals.resize(2 * pairs, 0);
        for (&(at, size), times) in self.steps.iter().zip(self.intervals.chunks_exact_mut(2)) {
            let place = &mut self.held[at as usize];
            let begun = ticks();
            self.subject.free(*place);
            let between = ticks();
            *place = self.subject.alloc(size as usize);
            let ended = ticks();
            times[0] = clamp(between - begun);
            times[1] = clamp(ended - between);
        }
        clock.quantile(&mut self.intervals, 0.999)
    }

    /// The live blocks.
    pub(crate) fn held(&self) -> &[*mut c_void] {
        &self.held
    }
}

/// The tail of intervals in which nothing happens: what the machine and the clock do on their own.
pub(crate) fn empty_tail(clock: &Clock, intervals: &mut Vec<u32>, count: usize) -> f64 {
    intervals.clear();
    intervals.resize(count, 0);
    for interval in intervals.iter_mut() {
        let begun = ticks();
        *interval = clamp(ticks() - begun);
    }
    clock.quantile(intervals, 0.999)
}

fn clamp(ticks: u64) -> u32 {
    u32::try_from(ticks).unwrap_or(u32::MAX)
}

impl<S: Subject> Drop for Replacement<S> {
    fn drop(&mut self) {
        for block in self.held.drain(..) {
            self.subject.free(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subjects::Malloc;

    #[test]
    fn two_of_one_seed_do_the_same() {
        let make = |seed| Replacement::new(Malloc::c_library(), 100, Sizes::Mixed, seed);
        let (mut a, mut b, mut c) = (make(1), make(1), make(2));
        for replacement in [&mut a, &mut b, &mut c] {
            replacement.draw(1000);
        }
        assert_eq!(a.steps, b.steps);
        assert_ne!(a.steps, c.steps);
        assert!(
            a.steps
                .iter()
                .all(|&(at, size)| at < 100 && (64..=128 << 10).contains(&size))
        );
    }
}
