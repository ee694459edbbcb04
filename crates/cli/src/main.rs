//! `cannery`: the command line tool of the emulated NPU.
//!
//! # Glossary
//!
//! * **Prefix**: the directory that holds everything a program needs
//!   (`include/ lib64/ bin/ python/ set_env.sh`), laid out as Ascend build
//!   scripts expect. The tool belongs to the prefix it lies in.
//! * **Setting**: one `CANNERY_*` environment variable. An option such as
//!   `--devices 2` is another spelling of `CANNERY_DEVICES=2`.
//! * **Environment**: the variables a program needs to find and configure the
//!   library of a prefix: the settings, plus the search paths.
//! * **Seed**: the number that decides the order of queued work under the
//!   schedule `random:SEED`.
//! * **Report**: what the library itself says about the device it would
//!   emulate under an environment (`cannery_info`, JSON).
//!
//! # Contract
//!
//! * The library alone judges settings. The tool hands them over as environment
//!   variables and asks for the report; a refusal is printed as the library
//!   words it. Nothing is checked twice, so nothing can be checked differently.
//! * `cannery run` *becomes* the program (`exec`): its standard streams,
//!   signals, process id and exit status are the program's own. With `--seeds`
//!   it stays, as the parent of one run for each seed: the answer is the lowest
//!   seed that fails, and no process outlives the tool.
//! * Exit codes: 0 success; 1 a negative answer of `explain` (nothing is known) and
//!   of `doctor` (something will fail); 2 a refusal of the tool or of a setting; 126 the
//!   program exists but cannot be executed; 127 the program was not found;
//!   otherwise the program's own (a shell shows 128+N for signal N). With
//!   `--seeds` those of the failing run, 128+N for signal N, 124 when its time
//!   ran out; 128+N when signal N stopped the tool.
//! * Errors go to standard error and begin with `cannery:`. Colours appear on
//!   terminals only, and never with `NO_COLOR`.

mod arguments;
mod doctor;
mod environment;
mod error;
mod explain;
mod info;
mod install;
mod language;
mod library;
mod manners;
mod page;
mod prefix;
mod report;
mod run;
mod seeds;
mod shell;
mod size;
mod smi;
mod style;
mod walk;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command};
use crate::error::Error;
use crate::language::said;
use crate::style::{Palette, Style};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(refusal) => return show_refusal(&refusal),
    };
    let result = match arguments.command {
        Command::Run(options) if options.seeds.count.is_some() => match seeds::run(&options) {
            Ok(code) => return ExitCode::from(code),
            Err(error) => Err(error),
        },
        Command::Run(options) => run::run(&options).map(|never| match never {}),
        Command::Env(options) => shell::print_exports(&options),
        Command::Info(options) => info::show(&options),
        Command::Smi(options) => smi::show(&options),
        Command::Install(options) => install::install(&options),
        Command::Explain(options) => explain::explain(&options),
        Command::Doctor(options) => doctor::examine(&options),
        Command::Completions(options) => manners::completions(&options),
        Command::Man(options) => manners::man(&options),
        Command::Walk => walk::walk(),
        Command::Report => library::print_report(),
        Command::Cards => library::print_cards(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            let text = error.to_string();
            complain(&format!("{} {}\n", own_name(), said(&text)));
            ExitCode::from(error.exit_code())
        }
    }
}

/// Prints what clap has to say: help and version on standard output, a usage
/// error on standard error with this tool's own prefix.
fn show_refusal(refusal: &clap::Error) -> ExitCode {
    if refusal.use_stderr() {
        let text = refusal.render().to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        complain(&format!("{} {text}", own_name()));
        ExitCode::from(Error::USAGE)
    } else {
        let text = if Palette::of_output().coloured() {
            refusal.render().ansi().to_string()
        } else {
            refusal.render().to_string()
        };
        // A closed pipe (`cannery --help | head -1`) is no failure.
        let _ = io::stdout().write_all(text.as_bytes());
        ExitCode::SUCCESS
    }
}

/// How an error of the tool begins.
fn own_name() -> String {
    Palette::of_errors().paint(Style::Bad, "cannery:")
}

/// Writes to standard error. Where even that fails nobody is left to be told.
fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
