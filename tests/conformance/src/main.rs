//! `cannery-conformance`: runs the contract's cases against the built library.
//!
//! Every id of `spec/conformance.jsonl` is a case with that name, verbatim. A
//! case runs in a process of its own, with the environment that it asks for;
//! the program opens `libascendcl.so` at run time (from `CANNERY_PREFIX`,
//! default `target/prefix`) and calls the C functions through typed pointers.
//!
//! # Glossary
//!
//! * **line**: one object of `spec/conformance.jsonl`: what is given, the
//!   call, and what must happen.
//! * **case**: a line's id (or an `x.` id of our own), its [`case::Setup`],
//!   and a body.
//! * **body**: a function that makes the calls and verifies the effect. It
//!   hands the code of the line's last call to the harness ([`t::T::ret`]).
//! * **harness**: everything that is not a body. It compares the code with the
//!   line, reads the error text on the calling thread and looks for the tokens
//!   that the line demands, and watches the process: a crash, a timeout or a
//!   bad exit is a failing case.
//! * **not built yet**: a line without a registered case. It is counted and
//!   listed, never silently missing.
//! * **own case**: an id that starts with `x.`: what the project promises
//!   beyond the lines.
//!
//! # Contract
//!
//! The last line printed is `N passed, N failed`; the exit code is 0 when
//! nothing failed, 1 when something failed, 2 when the run could not start.

mod api;
mod case;
mod cases;
mod child;
mod expect;
mod options;
mod report;
mod runner;
mod selftest;
mod spec;
mod t;
mod texts;
mod worker;

use std::process::ExitCode;

fn main() -> ExitCode {
    let options = match options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("cannery-conformance: {message}");
            eprintln!("{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    match options.mode {
        options::Mode::Help => {
            report::line(options::USAGE);
            ExitCode::SUCCESS
        }
        options::Mode::Child {
            ref id,
            ref result,
            texts,
        } => child::run(id, result, texts),
        options::Mode::SelfTest => selftest::run(&options),
        options::Mode::List => report::list(&options),
        options::Mode::Run => report::run(&options),
    }
}
