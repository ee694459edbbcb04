//! `cannery run --seeds N`: the program once for each seed, until one fails.
//!
//! One thread, one wait: for the output and the end of runs, for signals, and
//! for the clock. A run is a process group of its own. It is killed when its
//! first process ends, when the answer no longer depends on it, and when this
//! tool ends, in whatever way.

mod attempt;
mod campaign;
mod capture;
mod ending;
mod progress;
mod replay;
mod system;

use std::env;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::num::NonZero;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use self::attempt::{Attempt, Finished, Launch};
use self::campaign::Campaign;
use self::capture::Capture;
use self::progress::Progress;
use self::system::Signals;
use crate::arguments::RunOptions;
use crate::complain;
use crate::error::Error;
use crate::language::said;
use crate::report::Inquiry;
use crate::run::explain;

/// Longest wait while a bar is shown: its clock goes on.
const TICK: Duration = Duration::from_millis(250);

/// Runs the program once for each seed, and tells what came of it. The exit
/// code of the tool: 0 when all passed, else that of the failing run.
///
/// # Errors
///
/// Options that do not fit together or a refused setting (2), a missing program
/// (127), or one that the system cannot execute (126).
pub(crate) fn run(options: &RunOptions) -> Result<u8, Error> {
    let Some((program, arguments)) = options.program.split_first() else {
        return Err(Error::refusal("no program given"));
    };
    let campaign = campaign(options)?;
    let first = attempt::schedule(campaign.first());
    let inquiry = Inquiry::new(&options.settings.with_schedule(first))?;
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let jobs = options.seeds.jobs.map_or(cores, usize::from);
    if !options.quiet {
        tell(&inquiry.report.banner());
    }
    let mut session = Session {
        progress: Progress::new(campaign.count(), !options.quiet),
        campaign,
        jobs,
        launch: Launch {
            program,
            arguments,
            variables: inquiry.variables,
            timeout: options.seeds.timeout,
        },
        signals: Signals::block().map_err(|cause| Error::io("cannot read signals", &cause))?,
        has_adopted: system::adopt_orphans(),
        running: Vec::new(),
        failure: None,
        stopped_by: None,
    };
    session.go_on_to_the_end()?;
    Ok(session.tell(options))
}

fn campaign(options: &RunOptions) -> Result<Campaign, Error> {
    let count = options.seeds.count.unwrap_or(1);
    match options.settings.schedule() {
        Some("random") => {}
        Some(other) if other.starts_with("random:") => {
            return Err(Error::refusal(format!(
                "--seeds chooses the seeds itself: give --schedule random and --first-seed K \
                 instead of --schedule {other}"
            )));
        }
        other => {
            return Err(Error::refusal(format!(
                "--seeds needs --schedule random, not {}",
                other.unwrap_or("fifo")
            )));
        }
    }
    Campaign::new(options.seeds.first, count).ok_or_else(|| {
        Error::refusal(format!(
            "--first-seed {} --seeds {count}: the last seed would be above {}",
            options.seeds.first,
            u64::MAX
        ))
    })
}

/// The runs of one command.
struct Session<'a> {
    campaign: Campaign,
    jobs: usize,
    launch: Launch<'a>,
    signals: Signals,
    progress: Progress,
    /// Whether all children of this process are of runs.
    has_adopted: bool,
    running: Vec<Attempt>,
    failure: Option<Finished>,
    stopped_by: Option<Stop>,
}

/// A signal that ended all of it.
struct Stop {
    signal: i32,
    /// The seeds that ran when it came.
    seeds: Vec<u64>,
}

impl Session<'_> {
    fn go_on_to_the_end(&mut self) -> Result<(), Error> {
        loop {
            self.begin_runs()?;
            if self.running.is_empty() {
                break;
            }
            self.show_progress();
            self.wait()
                .map_err(|cause| Error::io("cannot wait for the program", &cause))?;
            for signal in self.signals.take() {
                self.stop(signal);
            }
            for run in &mut self.running {
                run.read();
            }
            self.take_ended()
                .map_err(|cause| Error::io("cannot tell how the program ended", &cause))?;
            let now = Instant::now();
            for run in &mut self.running {
                run.mind_the_time(now);
            }
        }
        self.end_processes();
        Ok(())
    }

    /// After it nothing runs that a run has started.
    fn end_processes(&mut self) {
        self.running.clear();
        if self.has_adopted {
            system::end_children();
        }
        self.progress.clear();
    }

    fn begin_runs(&mut self) -> Result<(), Error> {
        while self.stopped_by.is_none() && self.running.len() < self.jobs {
            let Some(seed) = self.campaign.begin() else {
                break;
            };
            let run = Attempt::start(&self.launch, &self.signals, seed)
                .map_err(|cause| explain(self.launch.program, &cause))?;
            self.running.push(run);
        }
        Ok(())
    }

    /// Until something was printed, a process ended, a signal came, or a time is over.
    fn wait(&self) -> io::Result<()> {
        let mut readers = vec![self.signals.as_fd()];
        readers.extend(self.running.iter().flat_map(Attempt::pipes));
        let next = self.running.iter().filter_map(Attempt::next_moment).min();
        let limit = next.map(|next| next.saturating_duration_since(Instant::now()));
        let tick = self.progress.is_shown().then_some(TICK);
        system::wait_for_any(&readers, limit.into_iter().chain(tick).min())
    }

    /// The first signal asks all runs to end, the second one kills them.
    fn stop(&mut self, signal: i32) {
        if self.stopped_by.is_some() {
            self.running.iter_mut().for_each(Attempt::kill);
            return;
        }
        let now = Instant::now();
        self.running.iter_mut().for_each(|run| run.ask_to_end(now));
        self.stopped_by = Some(Stop {
            signal,
            seeds: self.running.iter().map(Attempt::seed).collect(),
        });
    }

    fn take_ended(&mut self) -> io::Result<()> {
        while let Some(id) = system::ended_child() {
            match self.running.iter().position(|run| run.id() == id) {
                Some(at) => {
                    let finished = self.running.swap_remove(at).finish()?;
                    self.judge(finished);
                }
                // Left behind by a run.
                None => system::reap(id),
            }
        }
        Ok(())
    }

    fn judge(&mut self, finished: Finished) {
        // After a signal of ours an ending says nothing about the program.
        if self.stopped_by.is_some() {
            return;
        }
        if finished.ending.is_pass() {
            self.campaign.pass();
        } else if self.campaign.fail(finished.seed) {
            self.failure = Some(finished);
            let campaign = &self.campaign;
            self.running.retain(|run| campaign.matters(run.seed()));
        }
    }

    fn show_progress(&self) {
        if self.progress.is_shown() {
            let seeds = seeds_text(self.running.iter().map(Attempt::seed).collect());
            let text = match self.campaign.failed() {
                Some(seed) => format!("seed {seed} failed; below it still runs {seeds}"),
                None => format!("now {seeds}"),
            };
            self.progress
                .show(self.campaign.passed(), said(&text).into_owned());
        }
    }

    /// Prints the result; the exit code for it.
    fn tell(mut self, options: &RunOptions) -> u8 {
        if let Some(stop) = self.stopped_by.take() {
            tell(&self.stopped_text(stop.seeds, stop.signal));
            return ending::code_of_signal(stop.signal);
        }
        let Some(failure) = self.failure.take() else {
            tell(&format!("{} seeds passed", self.campaign.passed()));
            return 0;
        };
        let Finished {
            seed,
            ending,
            output,
            errors,
        } = failure;
        tell(&if output.is_empty() && errors.is_empty() {
            format!("seed {seed} failed without output")
        } else {
            format!("seed {seed} failed, after this output:")
        });
        let before = match seed - self.campaign.first() {
            0 => None,
            1 => Some(format!("seed {} passed", seed - 1)),
            _ => Some(format!(
                "seeds {} to {} passed",
                self.campaign.first(),
                seed - 1
            )),
        };
        repeat(output, "output", &mut io::stdout());
        repeat(errors, "error output", &mut io::stderr());
        let clauses: Vec<String> = [
            Some(format!("seed {seed} {ending}")),
            before,
            Some("to replay it:".to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect();
        let mut text = format!("cannery: {}\n    ", said(&clauses.join("; "))).into_bytes();
        text.extend(replay::command(env::args_os().next(), options, seed));
        text.push(b'\n');
        // Where even that fails nobody is left to be told.
        let _ = io::stderr().write_all(&text);
        ending.exit_code()
    }

    fn stopped_text(&self, seeds: Vec<u64>, signal: i32) -> String {
        let mut text = format!(
            "stopped by {}: {} of {} seeds passed",
            ending::signal_text(signal),
            self.campaign.passed(),
            self.campaign.count(),
        );
        if let Some(seed) = self.campaign.failed() {
            // Writing to a String cannot fail.
            let _ = write!(text, ", seed {seed} failed");
        }
        if !seeds.is_empty() {
            let _ = write!(text, "; then running: {}", seeds_text(seeds));
        }
        text
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.end_processes();
    }
}

/// Prints a line of this tool, in the language of the environment.
fn tell(english: &str) {
    complain(&format!("cannery: {}\n", said(english)));
}

/// Seeds in order, the first few by number.
fn seeds_text(mut seeds: Vec<u64>) -> String {
    const NAMED: usize = 8;
    seeds.sort_unstable();
    let word = if seeds.len() == 1 { "seed" } else { "seeds" };
    let named: Vec<_> = seeds.iter().take(NAMED).map(u64::to_string).collect();
    let more = match seeds.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{word} {}{more}", named.join(", "))
}

/// Prints what a run printed, on the stream on which it printed it.
fn repeat(capture: Capture, name: &str, stream: &mut dyn Write) {
    let (mut bytes, left_out) = capture.into_end();
    if left_out > 0 {
        tell(&format!(
            "(the first {left_out} bytes of its {name} are left out)"
        ));
    }
    if bytes.last().is_some_and(|&last| last != b'\n') {
        bytes.push(b'\n');
    }
    // A reader that went away changes nothing about the result.
    let _ = stream.write_all(&bytes).and_then(|()| stream.flush());
}

#[cfg(test)]
mod tests {
    use super::seeds_text;

    #[test]
    fn seeds_in_words() {
        assert_eq!(seeds_text(vec![4]), "seed 4");
        assert_eq!(seeds_text(vec![9, 4]), "seeds 4, 9");
        assert_eq!(
            seeds_text((0..64).rev().collect()),
            "seeds 0, 1, 2, 3, 4, 5, 6, 7 and 56 more"
        );
    }
}
