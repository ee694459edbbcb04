//! Starts the processes, a few at a time, and says what became of them.

use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::jobs::{self, Job};
use crate::options::{Options, Way};
use crate::replay;

/// Variable that names the prefix.
const PREFIX: &str = "CANNERY_PREFIX";
/// Most lines of a failed process that are shown.
const SHOWN: usize = 30;

/// Where the library is.
pub(crate) fn prefix() -> PathBuf {
    let chosen = std::env::var_os(PREFIX).map(PathBuf::from);
    chosen.unwrap_or_else(|| {
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
        target.unwrap_or(root).join("prefix")
    })
}

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
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    // Settings of the caller's would make another machine.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CANNERY_")) {
        command.env_remove(name);
    }
    let mut child = command
        .args(["--child", job.way.name(), "--seed", &job.seed.to_string()])
        .args(["--limit", &job.limit.as_secs().to_string()])
        .env(PREFIX, prefix())
        .env("CANNERY_RUNTIME_DIR", directory)
        .env("CANNERY_SCHEDULE", &job.schedule)
        .env("RUST_BACKTRACE", "0")
        .envs(settings.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start: {error}"))?;
    let pipe = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read until then is enough.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let begin = Instant::now();
    let mut pause = Duration::from_millis(1);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if begin.elapsed() < job.limit => std::thread::sleep(pause),
            _ => break None,
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    if status.is_none() {
        // It may have ended by itself meanwhile.
        let _ = child.kill();
        let _ = child.wait();
    }
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
