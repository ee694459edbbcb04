//! `cannery run`: become the program.

use std::convert::Infallible;
use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arguments::RunOptions;
use crate::complain;
use crate::error::Error;
use crate::language::said;
use crate::report::Inquiry;

/// Has the library judge the settings, prints the banner, and replaces this
/// process by the program. Returns only when that fails.
///
/// # Errors
///
/// A refused setting (2), a missing program (127), or one that the system
/// cannot execute (126).
pub(crate) fn run(options: &RunOptions) -> Result<Infallible, Error> {
    let Some((program, arguments)) = options.program.split_first() else {
        return Err(Error::refusal("no program given"));
    };
    let inquiry = Inquiry::new(&options.settings)?;
    if !options.quiet {
        complain(&format!("cannery: {}\n", said(&inquiry.report.banner())));
    }
    let cause = Command::new(program)
        .args(arguments)
        .envs(inquiry.variables)
        .exec();
    Err(explain(program, &cause))
}

/// Words a failed start as a shell would, with the shell's exit codes.
pub(crate) fn explain(program: &OsStr, cause: &io::Error) -> Error {
    let name = program.display();
    match cause.kind() {
        io::ErrorKind::NotFound => match found(program) {
            // The file is there, so what is missing is what it needs to start.
            Some(path) => Error::with_code(
                format!(
                    "cannot execute {}: the interpreter or loader that it names does not exist",
                    path.display()
                ),
                Error::NOT_EXECUTABLE,
            ),
            None if is_path(program) => {
                Error::with_code(format!("program not found: {name}"), Error::NOT_FOUND)
            }
            None => Error::with_code(
                format!("program not found: {name} (no such command in PATH)"),
                Error::NOT_FOUND,
            ),
        },
        io::ErrorKind::PermissionDenied if Path::new(program).is_dir() => Error::with_code(
            format!("cannot execute {name}: it is a directory"),
            Error::NOT_EXECUTABLE,
        ),
        io::ErrorKind::PermissionDenied => Error::with_code(
            format!("cannot execute {name}: permission denied (is it marked executable?)"),
            Error::NOT_EXECUTABLE,
        ),
        io::ErrorKind::NotADirectory => {
            Error::with_code(format!("program not found: {name}"), Error::NOT_FOUND)
        }
        _ => Error::with_code(
            format!("cannot execute {name}: {cause}"),
            Error::NOT_EXECUTABLE,
        ),
    }
}

fn is_path(program: &OsStr) -> bool {
    program.as_bytes().contains(&b'/')
}

/// The file that `exec` would have taken.
pub(crate) fn found(program: &OsStr) -> Option<PathBuf> {
    if is_path(program) {
        return Some(PathBuf::from(program)).filter(|path| path.exists());
    }
    if program.is_empty() {
        return None;
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file())
}
