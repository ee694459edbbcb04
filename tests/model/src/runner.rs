//! Plays many seeds, each in a process of its own, a few at a time.

use std::collections::VecDeque;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, ExitCode, Stdio};
use std::time::{Duration, Instant};

use crate::config::Config;
use crate::process;

/// Longest time that one seed may take.
const LIMIT: Duration = Duration::from_secs(120);
const HELP: &str = "\
cannery-model [--seed N] [--seeds COUNT] [--way walk|mutate|storm|resets|mappings|pools|lent|keys]
              [--steps COUNT] [--jobs COUNT] [--trace]

  --seed N       first seed (default 0)
  --seeds COUNT  how many seeds (default 60, or 1 when --seed is given)
  --way WAY      play every seed this way (default: by seed)
  --steps COUNT  steps of a seed (default 50000)
  --jobs COUNT   processes at a time (default: one for each core)
  --trace        print every step before it is played (walk and mutate)

The library is looked for in $CANNERY_PREFIX, else in target/prefix.";

/// How a seed plays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Walk,
    Mutate,
    Storm,
    Resets,
    Mappings,
    Pools,
    Lent,
    Keys,
}

impl Way {
    const ALL: [(Way, &'static str); 8] = [
        (Way::Walk, "walk"),
        (Way::Mutate, "mutate"),
        (Way::Storm, "storm"),
        (Way::Resets, "resets"),
        (Way::Mappings, "mappings"),
        (Way::Pools, "pools"),
        (Way::Lent, "lent"),
        (Way::Keys, "keys"),
    ];

    /// Every product meets every way: products go by the seed modulo 4.
    pub(crate) fn of_seed(seed: u64) -> Way {
        match seed / 4 % 15 {
            0..6 => Way::Walk,
            6 | 7 => Way::Mutate,
            8 | 9 => Way::Storm,
            10 => Way::Resets,
            11 => Way::Mappings,
            12 => Way::Pools,
            13 => Way::Lent,
            _ => Way::Keys,
        }
    }

    fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(way, _)| *way == self);
        found.map_or("", |(_, name)| name)
    }
}

/// The command line.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) way: Option<Way>,
    pub(crate) steps: u64,
    pub(crate) trace: bool,
    /// Play this seed in this very process.
    pub(crate) child: Option<u64>,
    first: u64,
    count: u64,
    jobs: usize,
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let mut options = Self {
            way: None,
            steps: 50_000,
            trace: false,
            child: None,
            first: 0,
            count: 60,
            jobs: cores,
        };
        let mut count = None;
        while let Some(argument) = arguments.next() {
            if argument == "--trace" {
                options.trace = true;
                continue;
            }
            let known = ["--seed", "--seeds", "--way", "--steps", "--jobs", "--child"];
            if !known.contains(&argument.as_str()) {
                return Err(format!("unknown argument {argument}\n\n{HELP}"));
            }
            let value = arguments
                .next()
                .ok_or_else(|| format!("{argument} needs a value\n\n{HELP}"))?;
            if argument == "--way" {
                let found = Way::ALL.iter().find(|(_, name)| *name == value);
                let (way, _) = found.ok_or_else(|| format!("no way {value}\n\n{HELP}"))?;
                options.way = Some(*way);
                continue;
            }
            let number: u64 = value
                .parse()
                .map_err(|_| format!("{argument} {value}: not a number\n\n{HELP}"))?;
            match argument.as_str() {
                "--seed" => {
                    options.first = number;
                    count = count.or(Some(1));
                }
                "--seeds" => count = Some(number),
                "--steps" => options.steps = number,
                "--jobs" => options.jobs = (number as usize).max(1),
                _ => options.child = Some(number),
            }
        }
        options.count = count.unwrap_or(options.count);
        Ok(options)
    }
}

/// Runtime directory of a seed: what runs beside it shares no card.
fn own_directory(seed: u64) -> PathBuf {
    let name = format!("cannery-model-{}-{seed}", std::process::id());
    std::env::temp_dir().join(name)
}

/// A seed under way.
struct Running {
    seed: u64,
    way: Way,
    child: Child,
    since: Instant,
}

/// Plays the seeds and prints what became of them.
pub(crate) fn run(options: &Options) -> ExitCode {
    let started = Instant::now();
    let mut waiting: VecDeque<u64> = (options.first..options.first + options.count).collect();
    let mut running: Vec<Running> = Vec::new();
    let (mut passed, mut failed, mut steps) = (0u64, 0u64, 0u64);
    while !waiting.is_empty() || !running.is_empty() {
        while running.len() < options.jobs {
            let Some(seed) = waiting.pop_front() else {
                break;
            };
            match start(options, seed) {
                Ok(child) => running.push(child),
                Err(error) => {
                    println!("seed {seed}: cannot start: {error}");
                    failed += 1;
                }
            }
        }
        std::thread::sleep(Duration::from_millis(10));
        running.retain_mut(|one| match look(one) {
            None => true,
            Some(Ok((done, kinds))) => {
                let seconds = one.since.elapsed().as_secs_f32();
                let (seed, way) = (one.seed, one.way.name());
                println!(
                    "seed {seed:<6} {way:<7} {done:>8} steps {kinds:>4} kinds {seconds:>6.1} s"
                );
                passed += 1;
                steps += done;
                false
            }
            Some(Err(text)) => {
                println!("seed {} {} FAILED\n{text}", one.seed, one.way.name());
                println!(
                    "again: cannery-model --seed {} --way {} --steps {} --trace\n",
                    one.seed,
                    one.way.name(),
                    options.steps
                );
                failed += 1;
                false
            }
        });
    }
    let seconds = started.elapsed().as_secs_f32();
    println!("{steps} steps in {seconds:.1} s");
    println!("{passed} passed, {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}

fn start(options: &Options, seed: u64) -> std::io::Result<Running> {
    let way = options.way.unwrap_or(Way::of_seed(seed));
    let mut command = process::again()?;
    command
        .args(["--child", &seed.to_string(), "--way", way.name()])
        .args(["--steps", &options.steps.to_string()])
        .env("CANNERY_RUNTIME_DIR", own_directory(seed))
        .env("RUST_BACKTRACE", "0")
        .envs(Config::of_seed(seed).environment())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if options.trace {
        command.arg("--trace").stderr(Stdio::inherit());
    }
    Ok(Running {
        seed,
        way,
        child: command.spawn()?,
        since: Instant::now(),
    })
}

/// What a child came to: steps and kinds of answers, or what it said when it failed.
fn look(one: &mut Running) -> Option<Result<(u64, u64), String>> {
    let result = look_at(one)?;
    // It may never have been made.
    let _ = std::fs::remove_dir_all(own_directory(one.seed));
    Some(result)
}

fn look_at(one: &mut Running) -> Option<Result<(u64, u64), String>> {
    match one.child.try_wait() {
        Ok(None) if one.since.elapsed() < LIMIT => None,
        Ok(None) => {
            let _ = one.child.kill();
            let _ = one.child.wait();
            let limit = LIMIT.as_secs();
            Some(Err(format!(
                "still running after {limit} s\n{}",
                words(one)
            )))
        }
        Ok(Some(status)) if status.success() => {
            let mut text = String::new();
            if let Some(mut out) = one.child.stdout.take() {
                let _ = out.read_to_string(&mut text);
            }
            let mut numbers = text.split_whitespace().map(str::parse);
            match (numbers.next(), numbers.next()) {
                (Some(Ok(steps)), Some(Ok(kinds))) => Some(Ok((steps, kinds))),
                _ => Some(Err(format!("it ended well, but said {text:?}"))),
            }
        }
        Ok(Some(status)) => Some(Err(format!("{status}\n{}", words(one)))),
        Err(error) => Some(Err(error.to_string())),
    }
}

/// What a child wrote on its error stream.
fn words(one: &mut Running) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stream) = one.child.stderr.take() {
        let _ = stream.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
