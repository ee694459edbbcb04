//! Other processes: whether they are there, and what they are called.

use std::fs;
use std::io;

/// A process that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// When it began, in clock ticks since the system did; with the pid it names a process for good.
    /// 0: the system does not tell.
    pub(crate) start: u64,
    /// Held by a signal or a debugger: it does nothing until it is let go.
    pub(crate) stopped: bool,
}

/// Looks at a process; `None` when it is gone (a zombie is).
pub(crate) fn look(pid: i32) -> Option<Seen> {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(text) => parse(&text),
        Err(error) => {
            let gone = error.kind() == io::ErrorKind::NotFound
                || error.raw_os_error() == Some(libc::ESRCH);
            (!gone).then_some(Seen {
                start: 0,
                stopped: false,
            })
        }
    }
}

/// One line of `/proc/PID/stat`.
fn parse(text: &str) -> Option<Seen> {
    // The name may hold anything; the state is the first field behind it, number 3.
    let mut fields = text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace();
    let state = fields.next()?;
    let threads = fields.nth(16)?; // field 20
    let start = fields.nth(1)?.parse().ok()?; // field 22
    // The first thread of a process may have ended while others go on.
    if state == "X" || state == "Z" && threads.parse::<u32>().ok()? < 2 {
        return None;
    }
    Some(Seen {
        start,
        stopped: matches!(state, "T" | "t"),
    })
}

/// Name of a process, for people.
pub(crate) fn name(pid: i32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(text.trim_end().to_owned())
}

/// Command line of a process, words parted by spaces, for people.
pub(crate) fn command(pid: i32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = bytes
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty());
    let words: Vec<_> = words.map(|word| String::from_utf8_lossy(word)).collect();
    words.join(" ")
}

/// Names the set of process ids that this process sees: ids of two sets mean nothing to each other.
pub(crate) fn id_space() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let text = link.to_string_lossy();
    text.chars().filter(char::is_ascii_digit).collect()
}

#[cfg(test)]
mod tests {
    use super::{Seen, look, parse};

    #[test]
    fn a_line_with_a_wild_name() {
        let line = |state: &str, threads: u32| {
            format!(
                "12 (a) R (b) {state} 1 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 {threads} 0 98765 1 2 3"
            )
        };
        let seen = |stopped| {
            Some(Seen {
                start: 98765,
                stopped,
            })
        };
        assert_eq!(parse(&line("S", 1)), seen(false));
        assert_eq!(parse(&line("T", 1)), seen(true));
        assert_eq!(parse(&line("Z", 1)), None);
        assert_eq!(parse(&line("Z", 3)), seen(false), "other threads go on");
        assert_eq!(parse("12 (x) S 1"), None);
    }

    #[test]
    fn this_process_is_there_and_began_once() {
        let pid = super::super::host::pid();
        let first = look(pid).expect("this process");
        assert_eq!(look(pid), Some(first));
        assert!(first.start > 0);
    }
}
