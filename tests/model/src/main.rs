//! Cannery against a model: random call sequences through the C interface, each compared with what
//! a small, obviously right model says.
//!
//! # Glossary
//!
//! * **Seed**: decides everything about a run: the product, the memory of the devices, the calls.
//!   Each seed runs in a process of its own.
//! * **Way**: how a seed plays. *walk*: several threads in turns, every answer predicted. *mutate*:
//!   walks whose choices are tapes that a fuzzer changes. *storm*: threads at the same time, with
//!   what must hold whatever the order. *resets*: threads at the same time while devices are set and
//!   reset under them. *mappings*: virtual memory, every answer and byte predicted. *pools*:
//!   stream-ordered pools, every address, count and byte predicted. *lent*: registered and managed memory.
//!   *keys*: memory that is exported and imported, every byte and charge predicted.
//! * **Step**: one call, with everything that is checked about it.
//!
//! # Contract
//!
//! A seed fails when a code, an address, a size, a figure, a byte, an output or a text is not what
//! the model says, or when its process crashes or hangs. The failure names the seed and the command
//! that plays it again. The last line is `N passed, N failed`.
#![allow(unsafe_code)] // Calls the C interface, and reads and writes the memory that it gives out.
#![allow(clippy::print_stdout)] // A command-line tool.

mod config;
mod journal;
mod keys;
mod lent;
mod mappings;
mod memory;
mod model;
mod mutate;
mod pools;
mod resets;
mod runner;
mod shadow;
mod source;
mod storm;
mod turns;
mod walk;

use std::process::ExitCode;

use cannery_test_calls::{api, process};
use runner::{Options, Way};

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(text) => {
            eprintln!("{text}");
            return ExitCode::from(2);
        }
    };
    match options.child {
        Some(seed) => play(&options, seed),
        None => runner::run(&options),
    }
}

/// Plays one seed in this process, which was started with the settings of the seed.
fn play(options: &Options, seed: u64) -> ExitCode {
    if let Err(error) = api::open(&process::prefix()) {
        eprintln!("cannot open the library: {error}");
        return ExitCode::from(2);
    }
    let code = api::aclInit(std::ptr::null());
    if code != 0 {
        eprintln!("aclInit answered {code}: {:?}", api::recent_text());
        return ExitCode::FAILURE;
    }
    let config = config::Config::of_seed(seed);
    let way = options.way.unwrap_or(Way::of_seed(seed));
    let steps = options.steps;
    let (steps, kinds) = match way {
        Way::Walk => {
            let source = source::Source::seeded(seed);
            let world = walk::World::new(config, source, turns::THREADS, options.trace);
            let Some(world) = turns::play(world, steps) else {
                return ExitCode::FAILURE;
            };
            (world.steps, world.seen.len())
        }
        Way::Mutate => mutate::play(&config, seed, steps, options.trace),
        Way::Storm => (storm::play(&config, seed, steps), 0),
        Way::Resets => (resets::play(&config, seed, steps), 0),
        Way::Mappings => mappings::play(&config, seed, steps),
        Way::Pools => pools::play(&config, seed, steps),
        Way::Lent => lent::play(&config, seed, steps),
        Way::Keys => keys::play(&config, seed, steps),
    };
    let code = api::aclFinalize();
    if code != 0 {
        eprintln!("aclFinalize answered {code}: {:?}", api::recent_text());
        return ExitCode::FAILURE;
    }
    println!("{steps} {kinds}");
    ExitCode::SUCCESS
}
