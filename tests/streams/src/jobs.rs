//! What is run: ways, schedules and seeds.

use std::time::Duration;

use crate::dag;
use crate::options::{Options, Way};
use crate::{progress, trouble};

/// Programs that a process plays one after the other.
pub(crate) const WORLDS: u64 = 4;
/// Seeds of the random schedule.
const RANDOM: std::ops::RangeInclusive<u64> = 1..=20;
/// Limit of a process; a longer run counts as a hang.
const LIMIT: Duration = Duration::from_secs(10);
/// Limit of the ways that are meant to run for a while.
const LONG: Duration = Duration::from_secs(40);
/// Threads that play side by side.
const THREADS: u64 = 4;

/// One process, or one comparison of several.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) way: Way,
    pub(crate) schedule: String,
    pub(crate) seed: u64,
    pub(crate) limit: Duration,
}

/// The jobs that are asked for, long ones first.
pub(crate) fn list(options: &Options) -> Vec<Job> {
    let mut jobs = Vec::new();
    let mut add = |way: Way, schedule: &str, seeds: std::ops::Range<u64>| {
        let long = matches!(way, Way::Stress | Way::Resets);
        for seed in seeds {
            jobs.push(Job {
                way,
                schedule: schedule.to_owned(),
                seed,
                limit: if long { LONG } else { LIMIT },
            });
        }
    };
    let random: Vec<String> = RANDOM.map(|seed| format!("random:{seed}")).collect();
    let fixed = ["fifo", "eager", "lazy"];
    let more = options.more;
    add(Way::Stress, "fifo", 0..1);
    add(Way::Resets, "fifo", 0..1);
    for schedule in ["eager", "lazy", "random:1"] {
        add(Way::Resets, schedule, 0..1);
    }
    for schedule in fixed {
        add(Way::Chains, schedule, 0..1);
        add(Way::Dag, schedule, 0..20 * more);
        add(Way::Threads, schedule, 0..6 * more);
        add(Way::Models, schedule, 0..5 * more);
        add(Way::Built, schedule, 0..5 * more);
    }
    for (i, schedule) in (0..).zip(&random) {
        add(Way::Dag, schedule, i * 3 * more..(i + 1) * 3 * more);
        add(Way::Threads, schedule, i..i + 1);
        add(Way::Models, schedule, i * more..(i + 1) * more);
        add(Way::Built, schedule, i * more..(i + 1) * more);
    }
    for schedule in &random[..5] {
        add(Way::Replay, schedule, 0..2);
    }
    for schedule in fixed.into_iter().chain(["random:1"]) {
        add(Way::Mutual, schedule, 0..1);
        add(Way::Fork, schedule, 0..1);
        add(Way::Exit, schedule, 0..crate::exit::KINDS);
        add(Way::Shared, schedule, 0..1);
    }
    jobs.retain(|job| {
        options.way.is_none_or(|way| way == job.way)
            && options
                .schedule
                .as_ref()
                .is_none_or(|one| *one == job.schedule)
            && options.seed.is_none_or(|seed| seed == job.seed)
    });
    jobs
}

/// What the programs of a way may use.
pub(crate) fn dag_options(way: Way, world: u64) -> dag::Options {
    dag::Options {
        steps: if way == Way::Replay { 150 } else { 400 },
        callbacks: way == Way::Dag && world % 2 == 1,
        own_contexts: false,
    }
}

/// Several programs at the same time, each with streams and contexts of its own.
pub(crate) fn side_by_side(seed: u64) {
    progress::begin(0, "programs side by side");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                let options = dag::Options {
                    steps: 300,
                    callbacks: thread == 0,
                    own_contexts: true,
                };
                let seed = 1_000_000 + seed * THREADS + thread;
                let played = std::panic::catch_unwind(|| dag::play(seed, options));
                trouble::unless(played.is_ok(), || format!("thread {thread} panicked"));
            });
        }
    });
}
