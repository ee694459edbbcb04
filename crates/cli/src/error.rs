//! The one error of the tool: a text and the exit code that goes with it.

use std::fmt;
use std::io;

/// A failure, ready to be printed after `cannery: `.
#[derive(Debug)]
pub(crate) struct Error {
    text: String,
    exit_code: u8,
    broken_pipe: bool,
}

impl Error {
    /// Exit code of a negative answer: nothing is known, or something will fail.
    pub(crate) const NEGATIVE: u8 = 1;
    /// Exit code of a refusal: wrong usage, a refused setting, a failed command.
    pub(crate) const USAGE: u8 = 2;
    /// Exit code when a program exists but cannot be executed (as shells do).
    pub(crate) const NOT_EXECUTABLE: u8 = 126;
    /// Exit code when a program was not found (as shells do).
    pub(crate) const NOT_FOUND: u8 = 127;

    /// A refusal (exit code 2).
    pub(crate) fn refusal(text: impl Into<String>) -> Self {
        Self::with_code(text, Self::USAGE)
    }

    /// A failure with an exit code of its own.
    pub(crate) fn with_code(text: impl Into<String>, exit_code: u8) -> Self {
        Self {
            text: text.into(),
            exit_code,
            broken_pipe: false,
        }
    }

    /// A failed operation on a file: what was tried, and why it failed.
    pub(crate) fn io(what: impl fmt::Display, cause: &io::Error) -> Self {
        Self::refusal(format!("{what}: {cause}"))
    }

    /// The exit code of the tool for this failure.
    pub(crate) fn exit_code(&self) -> u8 {
        self.exit_code
    }

    /// Whether the reader of our output went away, which is no failure.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.broken_pipe
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.trim_end())
    }
}

/// A failed write to standard output.
impl From<io::Error> for Error {
    fn from(cause: io::Error) -> Self {
        Self {
            broken_pipe: cause.kind() == io::ErrorKind::BrokenPipe,
            ..Self::io("cannot write to standard output", &cause)
        }
    }
}
