//! `cannery-bench`: how fast Cannery is, next to what could do the same work, in one run.
//!
//! The program opens the built `libascendcl.so` (below `CANNERY_PREFIX`, default `target/prefix`)
//! and calls its C functions through pointers, as a linked program would.
//!
//! # Glossary
//!
//! * **row**: one thing that is measured: what Cannery needs, what the references need, the ratio.
//! * **side**: whoever does the work of a row: Cannery or a reference.
//! * **reference**: something else that does the same work: mimalloc, the C library, `memcpy`,
//!   `mmap`, an ordered map, a function that does nothing.
//! * **round**: some thousands of calls of one side, timed together, so that the clock costs nothing.
//!   The sides take turns, round by round, and every round begins with another side: a busy machine
//!   disturbs them alike. A row reports medians over the rounds.
//! * **aim**: what a row should reach. Met or missed, always printed.
//! * **chapter**: rows about one subject; a file in `rows/`.
//! * **replacement**: free a random live block, allocate another in its place. The number of live
//!   blocks stays.
//!
//! # Contract
//!
//! Both sides do the same sequence, drawn from the same seed. What one side is spared is said in the
//! row's note. A row that could not be measured is printed with the reason, never left out. The exit
//! code is 0 when the run came to its end, whatever the aims say; 2 when it could not start.

// Calls of foreign functions and raw memory are what is measured.
#![allow(unsafe_code)]
// The output of this program is its purpose.
#![allow(clippy::print_stdout)]

mod api;
mod bench;
mod buffer;
mod c_program;
mod clock;
mod core;
mod machine;
mod options;
mod ping_pong;
mod replacement;
mod report;
mod rounds;
mod row;
mod rows;
mod scratch;
mod single_step;
mod subjects;

use std::process::ExitCode;

use options::Task;

fn main() -> ExitCode {
    // `cannery-bench | head` is no fault.
    // SAFETY: the default action of a signal, before there is another thread.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    // Numbers of a card that other programs use at the time would be theirs as well.
    let place = std::env::temp_dir().join(format!("cannery-bench-{}", std::process::id()));
    let own = std::env::var_os("CANNERY_RUNTIME_DIR").is_none();
    if own {
        // SAFETY: there is no other thread yet.
        unsafe { std::env::set_var("CANNERY_RUNTIME_DIR", &place) };
    }
    let outcome = match options::parse(std::env::args().skip(1)) {
        Ok(Task::Measure(options)) => bench::run(&options),
        Ok(Task::Repeat { name, count }) => rows::instructions::repeat(&name, count),
        Ok(Task::Help) => {
            print!("{}", options::HELP);
            Ok(())
        }
        Err(text) => Err(text),
    };
    if own {
        // The library holds its file until the process ends; the system keeps it until then.
        let _ = std::fs::remove_dir_all(&place);
    }
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("cannery-bench: {text}");
            ExitCode::from(2)
        }
    }
}
