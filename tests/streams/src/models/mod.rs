//! Random models that decide where their runs go, against a sequential execution.
//!
//! A plan ([`plan`]) is a tree: steps that write blocks of memory, steps that write conditions, conditional tasks
//! with plans as their bodies, and forks, whose two sides touch different blocks. A mirror ([`mirror`]) executes it
//! step by step; the library captures it once ([`capture`]) and runs it again and again. Several models, each with
//! memory of its own, are run from one thread, with other work on their streams between the runs. Now and then the
//! queue of a stream is aborted: what was written until then is anybody's guess, so the memory is written anew, and
//! the runs that follow must be exact again.

mod capture;
mod mirror;
mod plan;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use cannery_abi::*;
use cannery_test_calls::api::*;
use cannery_test_calls::trouble;

use crate::make;
use crate::progress;
use capture::Captured;
use mirror::Mirror;
use plan::Plan;

/// Models of a world.
const MODELS: usize = 3;
/// What the program does with them.
const STEPS: u32 = 60;

/// A model, the memory it works on, and what that must hold.
struct Place {
    plan: Plan,
    captured: Captured,
    mirror: Mirror,
    stream: aclrtStream,
}

impl Place {
    fn new(random: &mut SmallRng) -> Place {
        let plan = Plan::random(random);
        let mirror = Mirror::new(&plan, random);
        let stream = make::stream();
        let captured = Captured::new(&plan, &mirror, stream, random);
        Place {
            plan,
            captured,
            mirror,
            stream,
        }
    }

    /// A run, queued.
    fn run(&mut self) {
        let code = aclmdlRIExecuteAsync(self.captured.model, self.stream);
        ok(code, "aclmdlRIExecuteAsync");
        self.mirror.run(&self.plan);
    }

    /// A run that the caller waits for. What is queued on the stream may be anything: it is waited for first.
    fn run_now(&mut self) {
        self.wait();
        ok(aclmdlRIExecute(self.captured.model, -1), "aclmdlRIExecute");
        self.mirror.run(&self.plan);
    }

    fn wait(&self) {
        ok(
            aclrtSynchronizeStream(self.stream),
            "aclrtSynchronizeStream",
        );
    }

    /// Other work between the runs.
    fn write(&mut self, random: &mut SmallRng) {
        let block = random.random_range(0..self.mirror.blocks.len());
        let size = self.mirror.blocks[block].len();
        let at = random.random_range(0..size);
        let bytes = random.random_range(1..=size - at);
        let value = random.random::<u8>();
        let to = self.captured.block(block, at);
        let code = aclrtMemsetAsync(to, bytes, value.into(), bytes, self.stream);
        ok(code, "aclrtMemsetAsync");
        self.mirror.blocks[block][at..at + bytes].fill(value);
    }

    /// Conditions that keep their value are the program's.
    fn decide(&mut self, random: &mut SmallRng) {
        let kept: Vec<usize> = self.plan.kept().collect();
        if kept.is_empty() {
            return;
        }
        let condition = kept[random.random_range(0..kept.len())];
        let value = random.random_range(0..plan::VALUES).into();
        let at = self.captured.condition(condition);
        ok(
            aclrtValueWrite(at, value, 0, self.stream),
            "aclrtValueWrite",
        );
        self.mirror.conditions[condition] = value;
    }

    /// Drops what is queued, and begins anew.
    fn abort(&mut self, random: &mut SmallRng) {
        for _ in 0..random.random_range(1..4) {
            self.run();
        }
        for _ in 0..random.random_range(0..50) {
            std::thread::yield_now();
        }
        ok(aclrtStreamAbort(self.stream), "aclrtStreamAbort");
        // What it answers depends on how far the runs were.
        let _ = aclrtSynchronizeStream(self.stream);
        self.wait();
        self.mirror.renew(&self.plan, random);
        self.captured.upload(&self.mirror);
    }

    /// Waits, and compares every byte.
    fn check(&self, what: &str) {
        self.wait();
        for (number, want) in self.mirror.blocks.iter().enumerate() {
            let got = make::download(self.captured.block(number, 0), want.len());
            if let Some(text) = make::difference(&got, want) {
                trouble::note(format!("{what}: block {number}: {text}"));
            }
        }
    }
}

/// Plays the program of a seed to its end.
pub(crate) fn play(seed: u64) {
    ok(aclrtSetDevice(0), "aclrtSetDevice");
    let mut random = SmallRng::seed_from_u64(seed);
    let mut places: Vec<Place> = (0..MODELS).map(|_| Place::new(&mut random)).collect();
    for step in 0..STEPS {
        let number = random.random_range(0..MODELS);
        let place = &mut places[number];
        let what = random.random_range(0..20);
        let (name, act): (_, fn(&mut Place, &mut SmallRng)) = match what {
            0..=9 => ("a run", |place, _| place.run()),
            10..=12 => ("a fill", Place::write),
            13..=14 => ("a value", Place::decide),
            15 => ("a run that is waited for", |place, _| place.run_now()),
            16 => ("an abort", Place::abort),
            _ => ("a look", |place, _| place.check("in the middle")),
        };
        progress::begin(step, name);
        act(place, &mut random);
    }
    progress::begin(STEPS, "the end");
    for place in &places {
        place.check("at the end");
        ok(aclmdlRIDestroy(place.captured.model), "aclmdlRIDestroy");
        place.captured.release();
        ok(aclrtDestroyStream(place.stream), "aclrtDestroyStream");
    }
}
