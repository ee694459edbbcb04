//! The random schedule replays: with one thread that submits, a seed runs all tasks in the same
//! order every time.

use crate::jobs::Job;
use crate::runner;

/// Runs that must be equal.
const RUNS: usize = 20;

/// Runs the job again and again and compares the traces.
pub(crate) fn compare(job: &Job) -> Result<(), String> {
    let first = trace(job)?;
    if first.len() < 300 {
        return Err(format!("only {} tasks in the trace", first.len()));
    }
    for run in 1..RUNS {
        let other = trace(job)?;
        if other != first {
            return Err(format!("run {run}: {}", first_difference(&first, &other)));
        }
    }
    let elsewhere = Job {
        schedule: "random:4711".to_owned(),
        ..job.clone()
    };
    if trace(&elsewhere)? == first {
        return Err("another seed of the schedule gives the same order".to_owned());
    }
    Ok(())
}

/// The lines `stream N: task` of one run.
fn trace(job: &Job) -> Result<Vec<String>, String> {
    let said = runner::child(job, &[("CANNERY_LOG", "trace")])?;
    let task = |line: &str| line.find("stream ").map(|at| line[at..].to_owned());
    Ok(said.lines().filter_map(task).collect())
}

fn first_difference(first: &[String], other: &[String]) -> String {
    let least = first.len().min(other.len());
    let at = (0..least).find(|&i| first[i] != other[i]).unwrap_or(least);
    let line = |lines: &[String]| lines.get(at).map_or("the end", String::as_str).to_owned();
    format!(
        "task {at} of {}: {}, before it was {}",
        first.len(),
        line(other),
        line(first)
    )
}
