//! Starts the processes, a few at a time, and says what became of them.

use std::collections::VecDeque;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::jobs::{self, Job};
use crate::options::{Options, Way};
use crate::process;
use crate::replay;

/// Most lines of a failed process that are shown.
const SHOWN: usize = 30;

/// Jobs and results that the workers share.
struct Shared {
    waiting: Mutex<VecDeque<Job>>,
    counts: Mutex<(u64, u64)>,
}

/// Runs all jobs and prints what failed.
pub(crate) fn run(options: &Options) -> ExitCode {
    let jobs = jobs::list(options);
    let total = jobs.len();
    let begin = Instant::now();
    let shared = Shared {
        waiting: Mutex::new(jobs.into()),
        counts: Mutex::new((0, 0)),
    };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| work(&shared));
        }
    });
    let (passed, failed) = *shared.counts.lock().expect("no worker panicked");
    println!("{total} runs in {:.1} s", begin.elapsed().as_secs_f32());
    println!("{passed} passed, {failed} failed");
    ExitCode::from(u8::from(failed > 0 || passed == 0))
}

fn work(shared: &Shared) {
    loop {
        let next = shared
            .waiting
            .lock()
            .expect("no worker panicked")
            .pop_front();
        let Some(job) = next else { return };
        let result = match job.way {
            Way::Replay => replay::compare(&job),
            Way::Shared => child(&job, &[]).map(|_| ()),
            _ => child(&job, &[]).map(|_| ()),
        };
        let mut counts = shared.counts.lock().expect("no worker panicked");
        match result {
            Ok(()) => counts.0 += 1,
            Err(text) => {
                counts.1 += 1;
                let Job {
                    way,
                    schedule,
                    seed,
                    ..
                } = &job;
                println!("FAILED {} {schedule} seed {seed}\n{text}", way.name());
                println!(
                    "again: cannery-streams-test --way {} --schedule {schedule} --seed {seed}\n",
                    way.name()
                );
            }
        }
    }
}

/// Runs one process to its end; what it said on its error stream.
pub(crate) fn child(job: &Job, settings: &[(&str, &str)]) -> Result<String, String> {
    static CHILDREN: AtomicUsize = AtomicUsize::new(0);
    // Of its own: what runs beside it shares no card, and no names.
    let number = CHILDREN.fetch_add(1, Ordering::Relaxed);
    let name = format!("cannery-streams-{}-{number}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    let result = child_in(&directory, job, settings);
    // It may never have been made.
    let _ = std::fs::remove_dir_all(directory);
    result
}

fn child_in(directory: &Path, job: &Job, settings: &[(&str, &str)]) -> Result<String, String> {
    let mut command = process::again().map_err(|error| error.to_string())?;
    let child = command
        .args(["--child", job.way.name(), "--seed", &job.seed.to_string()])
        .args(["--limit", &job.limit.as_secs().to_string()])
        .env("CANNERY_RUNTIME_DIR", directory)
        .env("CANNERY_SCHEDULE", &job.schedule)
        .env("RUST_BACKTRACE", "0")
        .envs(settings.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start: {error}"))?;
    let (status, reader) = process::watch(child, job.limit);
    let said = reader.join().unwrap_or_default();
    match status {
        Some(status) if status.success() => Ok(said),
        Some(status) => Err(format!("{status}\n{}", last_lines(&said))),
        None => Err(format!(
            "hangs: still running after {} s\n{}",
            job.limit.as_secs(),
            last_lines(&said)
        )),
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN)..].join("\n")
}
