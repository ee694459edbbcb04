//! How a run ended.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// By itself, with this exit code.
    Code(u8),
    /// Killed by this signal.
    Signal(i32),
    /// By this tool, because this time was over.
    OutOfTime(Duration),
}

impl Ending {
    /// What the system says of a process that ended without our doing.
    pub(super) fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            // The system keeps eight bits of an exit code.
            (Some(code), _) => Self::Code(u8::try_from(code).unwrap_or(u8::MAX)),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }

    /// Whether the run has passed.
    pub(super) fn is_pass(self) -> bool {
        self == Self::Code(0)
    }

    /// The exit code of the tool for it, as shells and `timeout` have it.
    pub(super) fn exit_code(self) -> u8 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => code_of_signal(signal),
            Self::OutOfTime(_) => 124,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "ended with exit code {code}"),
            Self::Signal(signal) => write!(f, "was killed by {}", signal_text(*signal)),
            Self::OutOfTime(time) => {
                write!(
                    f,
                    "did not end within {} s and was stopped",
                    time.as_secs_f64()
                )
            }
        }
    }
}

/// The exit code that stands for a signal.
pub(super) fn code_of_signal(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// A signal for people: its name where it is a usual one.
pub(super) fn signal_text(signal: i32) -> String {
    let name = match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGSYS => "SIGSYS",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_words() {
        for (status, code, words) in [
            (0x0000, 0, "ended with exit code 0"),
            (0x0300, 3, "ended with exit code 3"),
            (0xff00, 255, "ended with exit code 255"),
            (9, 137, "was killed by signal 9 (SIGKILL)"),
            (0x80 | 11, 139, "was killed by signal 11 (SIGSEGV)"),
            (35, 163, "was killed by signal 35"),
        ] {
            let ending = Ending::of(ExitStatus::from_raw(status));
            assert_eq!(
                (ending.exit_code(), ending.to_string().as_str()),
                (code, words)
            );
            assert_eq!(ending.is_pass(), code == 0);
        }
        let late = Ending::OutOfTime(Duration::from_millis(1500));
        assert_eq!(late.exit_code(), 124);
        assert_eq!(late.to_string(), "did not end within 1.5 s and was stopped");
        assert!(!late.is_pass());
    }
}
