//! The command line.

use std::time::Duration;

const HELP: &str = "\
cannery-streams-test [--way WAY] [--schedule SCHEDULE] [--seed N] [--jobs COUNT] [--more FACTOR]

  --way WAY            only this: dag, threads, replay, models, built, chains, mutual, stress,
                       resets, fork, exit, shared
  --schedule SCHEDULE  only this: fifo, eager, lazy, random:SEED
  --seed N             only this seed of each
  --jobs COUNT         processes at a time (default: two for each core)
  --more FACTOR        so many times as many seeds of the random graphs and models (default 1)

The library is looked for in $CANNERY_PREFIX, else in target/prefix.";

/// What a process does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// Random graphs.
    Dag,
    /// Random graphs of several threads side by side.
    Threads,
    /// The same graph again and again: the order of all tasks must be the same.
    Replay,
    /// Random models that decide where their runs go.
    Models,
    /// Random models that are built from bound streams.
    Built,
    /// Short chains over two streams, from several threads: nothing may be forgotten.
    Chains,
    /// Functions that wait for functions on other streams.
    Mutual,
    /// Many streams, tasks and threads; destruction and abort in the middle.
    Stress,
    /// Forced resets of the device under threads at work.
    Resets,
    /// Forks while work is queued.
    Fork,
    /// The program ends while work is queued.
    Exit,
    /// Notifies and events of two processes.
    Shared,
    /// The other process of [`Way::Shared`].
    Peer,
}

impl Way {
    const ALL: [(Way, &'static str); 13] = [
        (Way::Dag, "dag"),
        (Way::Threads, "threads"),
        (Way::Replay, "replay"),
        (Way::Models, "models"),
        (Way::Built, "built"),
        (Way::Chains, "chains"),
        (Way::Mutual, "mutual"),
        (Way::Stress, "stress"),
        (Way::Resets, "resets"),
        (Way::Fork, "fork"),
        (Way::Exit, "exit"),
        (Way::Shared, "shared"),
        (Way::Peer, "peer"),
    ];

    /// As the command line calls it.
    pub(crate) fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(way, _)| *way == self);
        found.map_or("", |(_, name)| name)
    }
}

/// See [`HELP`].
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) way: Option<Way>,
    pub(crate) schedule: Option<String>,
    pub(crate) seed: Option<u64>,
    pub(crate) jobs: usize,
    pub(crate) more: u64,
    /// Play this way in this very process.
    pub(crate) child: Option<Way>,
    /// Limit of this process.
    pub(crate) limit: Duration,
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            way: None,
            schedule: None,
            seed: None,
            // Many of them sleep.
            jobs: 2 * std::thread::available_parallelism().map_or(1, usize::from),
            more: 1,
            child: None,
            limit: Duration::from_secs(10),
        };
        while let Some(argument) = arguments.next() {
            let value = arguments
                .next()
                .ok_or_else(|| format!("{argument}: unknown, or without a value\n\n{HELP}"))?;
            let number = || {
                value
                    .parse::<u64>()
                    .map_err(|_| format!("{argument} {value}: not a number\n\n{HELP}"))
            };
            let way = || {
                let found = Way::ALL.iter().find(|(_, name)| *name == value);
                let found = found.map(|(way, _)| *way);
                found.ok_or_else(|| format!("no way {value}\n\n{HELP}"))
            };
            match argument.as_str() {
                "--way" => options.way = Some(way()?),
                "--child" => options.child = Some(way()?),
                "--schedule" => options.schedule = Some(value),
                "--seed" => options.seed = Some(number()?),
                "--jobs" => options.jobs = (number()? as usize).max(1),
                "--more" => options.more = number()?.max(1),
                "--limit" => options.limit = Duration::from_secs(number()?),
                _ => return Err(format!("unknown argument {argument}\n\n{HELP}")),
            }
        }
        Ok(options)
    }
}
