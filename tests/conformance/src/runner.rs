//! Runs cases in child processes, a few at a time, and judges how they ended.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::case::Case;
use crate::child::PREFIX_VARIABLE;

/// How a case ended.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// The case's id.
    pub(crate) id: &'static str,
    /// Why it failed; empty when it passed.
    pub(crate) failures: Vec<String>,
    /// How many different error texts it read.
    pub(crate) texts: usize,
    /// What the process printed.
    pub(crate) output: String,
    /// How long it ran.
    pub(crate) elapsed: Duration,
}

impl Outcome {
    /// True when nothing was wrong.
    pub(crate) fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}

/// How cases are run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Prefix with the libraries, absolute.
    pub(crate) prefix: PathBuf,
    /// Processes at a time.
    pub(crate) jobs: usize,
    /// Limit of one case.
    pub(crate) timeout: Duration,
    /// The language in which the cases fail, when texts alone are judged.
    pub(crate) texts: Option<String>,
}

/// Runs every case; `seen` is called with each outcome as it arrives. The
/// outcomes come back in the order of the cases.
pub(crate) fn run_all(
    cases: &[Case],
    plan: &Plan,
    seen: impl Fn(&Outcome) + Sync,
) -> Result<Vec<Outcome>, String> {
    let program = std::env::current_exe().map_err(|e| format!("cannot find myself: {e}"))?;
    let root = scratch().map_err(|e| format!("cannot make a scratch directory: {e}"))?;
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(vec![None; cases.len()]);
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs {
            scope.spawn(|| {
                while let Some((index, case)) = take(&next, cases) {
                    let dir = root.join(index.to_string());
                    let outcome = run_one(case, plan, &program, &dir);
                    seen(&outcome);
                    let mut all = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
                    all[index] = Some(outcome);
                }
            });
        }
    });
    // Left-over files harm nobody; a failed removal is no failed case.
    let _ = fs::remove_dir_all(&root);
    let outcomes = outcomes
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    Ok(outcomes.into_iter().flatten().collect())
}

fn take<'a>(next: &AtomicUsize, cases: &'a [Case]) -> Option<(usize, &'a Case)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    cases.get(index).map(|case| (index, case))
}

fn scratch() -> std::io::Result<PathBuf> {
    let name = format!("cannery-conformance-{}", std::process::id());
    let root = std::env::temp_dir().join(name);
    fs::create_dir_all(&root)?;
    Ok(root)
}

fn run_one(case: &Case, plan: &Plan, program: &Path, dir: &Path) -> Outcome {
    let begin = Instant::now();
    let mut failures = Vec::new();
    let mut texts = 0;
    let result = dir.join("result.json");
    match launch(case, plan, program, dir, &result) {
        Err(error) => failures.push(format!("cannot start the process: {error}")),
        Ok(child) => {
            let status = wait(child, plan.timeout);
            let (count, found) = read_result(&result);
            texts = count;
            failures.extend(found);
            failures.extend(judge_end(&status, plan.timeout, result.exists()));
        }
    }
    let output = read(&dir.join("stdout")) + &read(&dir.join("stderr"));
    let _ = fs::remove_dir_all(dir);
    Outcome {
        id: case.id,
        failures,
        texts,
        output,
        elapsed: begin.elapsed(),
    }
}

/// Starts the case's process with a clean environment: nothing of the
/// emulator's settings but what the case asks for, and a runtime directory of
/// its own, so that cases that run beside each other share no card.
fn launch(
    case: &Case,
    plan: &Plan,
    program: &Path,
    dir: &Path,
    result: &Path,
) -> std::io::Result<Child> {
    let runtime = dir.join("run");
    fs::create_dir_all(&runtime)?;
    let mut command = Command::new(program);
    command.arg("--case").arg(case.id);
    command.arg("--result").arg(result);
    if let Some(language) = &plan.texts {
        command.arg("--texts").arg(language);
    }
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CANNERY_") || text.starts_with("ASCEND_") {
            command.env_remove(&name);
        }
    }
    for name in ["LC_ALL", "LC_MESSAGES", "LANG"] {
        command.env_remove(name);
    }
    if let Some(language) = &plan.texts {
        command.env("CANNERY_LANG", language);
    }
    command
        .env(PREFIX_VARIABLE, &plan.prefix)
        .env("CANNERY_RUNTIME_DIR", &runtime)
        .env("ASCEND_PROCESS_LOG_PATH", dir.join("log"))
        .envs(case.setup.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(File::create(dir.join("stdout"))?)
        .stderr(File::create(dir.join("stderr"))?)
        .spawn()
}

/// Waits for the end; `None` after the limit, when the process is killed.
fn wait(mut child: Child, timeout: Duration) -> Option<ExitStatus> {
    let begin = Instant::now();
    let mut pause = Duration::from_micros(500);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if begin.elapsed() < timeout => std::thread::sleep(pause),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// Number of texts, and failures.
fn read_result(result: &Path) -> (usize, Vec<String>) {
    let text = read(result);
    if text.is_empty() {
        return (0, Vec::new());
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(found) => {
            let failures = found["failures"].as_array().into_iter().flatten();
            let failures = failures.filter_map(Value::as_str).map(str::to_owned);
            let texts = found["texts"].as_u64().unwrap_or_default();
            (texts as usize, failures.collect())
        }
        Err(error) => (0, vec![format!("the result is unreadable: {error}")]),
    }
}

/// Whatever the body found, the process must end by itself and normally.
fn judge_end(status: &Option<ExitStatus>, timeout: Duration, has_result: bool) -> Option<String> {
    let Some(status) = status else {
        return Some(format!("still running after {} s", timeout.as_secs_f64()));
    };
    let when = if has_result {
        "after the body"
    } else {
        "during the body"
    };
    if let Some(signal) = status.signal() {
        return Some(format!("killed by {} {when}", signal_name(signal)));
    }
    match status.code() {
        Some(0) if has_result => None,
        Some(0) => Some("the process ended without a result".to_owned()),
        code => Some(format!("exit code {} {when}", code.unwrap_or(-1))),
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGILL => "SIGILL",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGTERM => "SIGTERM",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

fn read(path: &Path) -> String {
    fs::read(path).map_or_else(
        |_| String::new(),
        |bytes| String::from_utf8_lossy(&bytes).into_owned(),
    )
}
