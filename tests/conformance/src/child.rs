//! Runs one body in this process and writes its outcome to a file.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use crate::api;
use crate::case::{Case, Start};
use crate::spec::{self, Line};
use crate::t::{Abort, T};
use crate::{cases, selftest, texts};

/// Variable that carries the prefix to the case's process.
pub(crate) const PREFIX_VARIABLE: &str = "CANNERY_PREFIX";

/// A case with what it is judged by.
struct Job {
    case: Case,
    line: Option<Line>,
    text: fn() -> Option<String>,
}

/// Runs the case `id`; the failures go to `result` as JSON, with the number of texts that were judged.
/// `texts_alone`: what else fails is not counted.
/// The process then ends as a program does, by returning from `main`, so that
/// what the library does at exit is part of the case.
pub(crate) fn run(id: &str, result: &Path, texts_alone: bool) -> ExitCode {
    no_core_files();
    quiet_panics();
    if texts_alone {
        texts::judge_alone();
    }
    let Some(job) = find(id) else {
        eprintln!("no case {id}");
        return ExitCode::from(2);
    };
    if let Some(prefix) = std::env::var_os(PREFIX_VARIABLE) {
        api::set_prefix(Path::new(&prefix));
    }
    let dir = result.parent().unwrap_or(Path::new("."));
    let t = T::new(id, job.line, job.text, dir);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        start(job.case.setup.start, &t);
        (job.case.body)(&t);
    }));
    if let Err(panic) = outcome {
        t.fail(reason(panic.as_ref()));
    }
    let (count, complaints) = texts::judge();
    let mut failures = if texts_alone { Vec::new() } else { t.finish() };
    failures.extend(complaints);
    let report = json!({ "failures": failures, "texts": count });
    match std::fs::write(result, report.to_string()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write {}: {error}", result.display());
            ExitCode::from(2)
        }
    }
}

fn find(id: &str) -> Option<Job> {
    if let Some((case, line)) = selftest::find(id) {
        return Some(Job {
            case,
            line,
            text: selftest::text,
        });
    }
    let case = cases::all().into_iter().find(|case| case.id == id)?;
    let line = spec::line(id).cloned();
    Some(Job {
        case,
        line,
        text: api::recent_text,
    })
}

fn start(start: Start, t: &T) {
    if matches!(start, Start::Init | Start::Device0) {
        t.ok(api::aclInit(std::ptr::null()), "aclInit(NULL)");
    }
    if start == Start::Device0 {
        t.ok(api::aclrtSetDevice(0), "aclrtSetDevice(0)");
    }
}

/// Words for what a body panicked with.
fn reason(panic: &(dyn Any + Send)) -> String {
    if let Some(Abort(reason)) = panic.downcast_ref() {
        reason.clone()
    } else if let Some(text) = panic.downcast_ref::<&str>() {
        format!("the body panicked: {text}")
    } else if let Some(text) = panic.downcast_ref::<String>() {
        format!("the body panicked: {text}")
    } else {
        "the body panicked".to_owned()
    }
}

/// An [`Abort`] is a result, not a panic worth a report.
fn quiet_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.payload().is::<Abort>() {
            print(info);
        }
    }));
}

/// Crashing cases are expected while something is wrong; their images are not.
fn no_core_files() {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    #[allow(unsafe_code)] // A system call without a safe wrapper in std.
    // SAFETY: the argument is a valid structure; failure changes nothing.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
    }
}
