//! Cannery's queued work under test: order, replay, load, fork and exit, through the C interface.
//!
//! # Glossary
//!
//! * **Way**: what a process does: plays a random graph, or one of the fixed plots (functions that
//!   wait for each other, a fork with work queued, ...). Each run is a process of its own.
//! * **Schedule**: the value of `CANNERY_SCHEDULE` of that process.
//! * **Seed**: decides the program that a process plays.
//! * **Gate**: a host function that waits until the program lets it go on.
//!
//! # Contract
//!
//! A run fails when a code, a status or a byte is not what the graph demands, when its process
//! crashes, or when it is still running after its limit (10 s for most). The failure names the
//! command that plays it again. The last line is `N passed, N failed`; the exit code is 0 when
//! nothing failed.
#![allow(unsafe_code)] // Calls the C interface, and is called by it.
#![allow(clippy::print_stdout)] // A command-line tool.

mod built;
mod chains;
mod dag;
mod exit;
mod fork;
mod gate;
mod jobs;
mod make;
mod models;
mod mutual;
mod options;
mod peer;
mod progress;
mod replay;
mod runner;
mod shared;
mod stress;
mod usage;

use std::process::ExitCode;
use std::time::Duration;

use cannery_test_calls::{api, process, trouble};
use options::{Options, Way};

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(text) => {
            eprintln!("{text}");
            return ExitCode::from(2);
        }
    };
    match options.child {
        Some(way) => play(way, options.seed.unwrap_or(0), options.limit),
        None => runner::run(&options),
    }
}

/// Plays one way in this process, which was started with the settings for it.
fn play(way: Way, seed: u64, limit: Duration) -> ExitCode {
    progress::watch(limit);
    if let Err(error) = api::open(&process::prefix()) {
        eprintln!("cannot open the library: {error}");
        return ExitCode::from(2);
    }
    api::ok(api::aclInit(std::ptr::null()), "aclInit");
    match way {
        Way::Dag | Way::Replay => {
            for world in 0..jobs::WORLDS {
                dag::play(seed * jobs::WORLDS + world, jobs::dag_options(way, world));
            }
        }
        Way::Threads => jobs::side_by_side(seed),
        Way::Models => models::play(seed),
        Way::Built => built::play(seed),
        Way::Chains => chains::play(seed),
        Way::Mutual => mutual::play(),
        Way::Stress => stress::play(seed),
        Way::Resets => stress::play_resets(seed),
        Way::Fork => fork::play(),
        Way::Exit => exit::play(seed),
        Way::Shared => shared::play(),
        Way::Peer => peer::serve(),
    }
    api::ok(api::aclFinalize(), "aclFinalize");
    let notes = trouble::taken();
    for note in &notes {
        eprintln!("{note}");
    }
    ExitCode::from(u8::from(!notes.is_empty()))
}
