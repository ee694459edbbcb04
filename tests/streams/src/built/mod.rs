//! Random models that are built from bound streams, against a sequential execution.
//!
//! A plan ([`plan`]) is a tree, too: loops that count down in device memory, jumps by what memory holds, switches and
//! activations of streams, with notifies and events between these, runs of captured models, and two streams that begin
//! with every run. A mirror executes it step by step; the library builds it once ([`build`]) and runs it again and
//! again, on two streams, with other work between the runs. Now and then the runs are aborted: by their stream or by
//! their model. What was written until then is anybody's guess, so the memory is written anew, and the runs that
//! follow must be exact again.

mod build;
mod plan;
mod work;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use cannery_abi::*;
use cannery_test_calls::api::*;
use cannery_test_calls::trouble;

use crate::make;
use crate::progress;
use build::Built;
use plan::{Mirror, Plan};
use work::Work;

/// Models of a world.
const MODELS: usize = 3;
/// What the program does with them.
const STEPS: u32 = 60;

/// A model, the memory it works on, and what that must hold.
struct Place {
    plan: Plan,
    built: Built,
    mirror: Mirror,
    stream: aclrtStream,
    /// For runs only: work beside it would not know its place.
    other: aclrtStream,
}

impl Place {
    fn new(random: &mut SmallRng) -> Place {
        let plan = Plan::random(random);
        let mirror = Mirror::new(&plan, random);
        Place {
            built: Built::new(&plan, &mirror),
            plan,
            mirror,
            stream: make::stream(),
            other: make::stream(),
        }
    }

    fn queue(&mut self, stream: aclrtStream) {
        let code = aclmdlRIExecuteAsync(self.built.model, stream);
        ok(code, "aclmdlRIExecuteAsync");
        self.mirror.run(&self.plan);
    }

    fn run(&mut self, _: &mut SmallRng) {
        self.queue(self.stream);
    }

    /// Runs that follow each other on two streams.
    fn run_on_both(&mut self, random: &mut SmallRng) {
        self.wait();
        for _ in 0..random.random_range(2..5) {
            let stream = if random.random() {
                self.stream
            } else {
                self.other
            };
            self.queue(stream);
        }
        self.wait();
    }

    /// A run that the caller waits for. What is queued on the stream may be anything: it is waited for first.
    fn run_now(&mut self, _: &mut SmallRng) {
        self.wait();
        ok(aclmdlRIExecute(self.built.model, -1), "aclmdlRIExecute");
        self.mirror.run(&self.plan);
    }

    fn wait(&self) {
        for stream in [self.stream, self.other] {
            ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
        }
    }

    /// Other work between the runs.
    fn write(&mut self, random: &mut SmallRng) {
        let all: Vec<usize> = (0..self.plan.sizes.len()).collect();
        let work = Work::random(random, &self.plan.sizes, &all);
        work.queue(&self.built.blocks, self.stream);
        work.mirror(&mut self.mirror.blocks);
    }

    /// What runs look at.
    fn decide(&mut self, random: &mut SmallRng) {
        let word = random.random_range(0..plan::KEPT);
        let value = plan::value(random);
        let at = self.built.words[word];
        let code = aclrtValueWrite(at, value, 0, self.stream);
        ok(code, "aclrtValueWrite");
        self.mirror.words[word] = value;
    }

    /// Ends what is queued, and begins anew.
    fn abort(&mut self, random: &mut SmallRng) {
        for _ in 0..random.random_range(1..4) {
            self.queue(self.stream);
        }
        if random.random() {
            self.queue(self.other);
        }
        for _ in 0..random.random_range(0..50) {
            std::thread::yield_now();
        }
        if random.random() {
            ok(aclmdlRIAbort(self.built.model), "aclmdlRIAbort");
        } else {
            for stream in [self.stream, self.other] {
                ok(aclrtStreamAbort(stream), "aclrtStreamAbort");
            }
        }
        for stream in [self.stream, self.other] {
            // What it answers depends on how far the runs were.
            let code = aclrtSynchronizeStream(stream);
            trouble::unless(code == 0 || code == ACL_ERROR_RT_MODEL_ABORT_NORMAL, || {
                format!("aclrtSynchronizeStream after an abort: {code}")
            });
        }
        self.wait();
        self.built.lower();
        self.mirror.renew(random);
        self.built.upload(&self.mirror);
    }

    /// Waits, and compares every byte.
    fn check(&self, what: &str) {
        self.wait();
        for (number, want) in self.mirror.blocks.iter().enumerate() {
            let got = make::download(self.built.blocks[number], want.len());
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
        let (name, act): (_, fn(&mut Place, &mut SmallRng)) = match random.random_range(0..20) {
            0..=7 => ("a run", Place::run),
            8..=9 => ("runs on two streams", Place::run_on_both),
            10..=11 => ("work", Place::write),
            12..=13 => ("a value", Place::decide),
            14 => ("a run that is waited for", Place::run_now),
            15..=16 => ("an abort", Place::abort),
            _ => ("a look", |place, _| place.check("in the middle")),
        };
        progress::begin(step, name);
        act(place, &mut random);
    }
    progress::begin(STEPS, "the end");
    for place in &places {
        place.check("at the end");
        place.built.release();
        for stream in [place.stream, place.other] {
            ok(aclrtDestroyStream(stream), "aclrtDestroyStream");
        }
    }
}
