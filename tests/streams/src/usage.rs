//! What the process holds of the system: threads, descriptors, memory.

use std::time::{Duration, Instant};

/// Threads, open descriptors, resident KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) threads: usize,
    pub(crate) descriptors: usize,
    pub(crate) resident: usize,
}

impl Usage {
    /// At this moment.
    pub(crate) fn now() -> Self {
        let entries = |path: &str| std::fs::read_dir(path).map_or(0, Iterator::count);
        Self {
            threads: entries("/proc/self/task"),
            descriptors: entries("/proc/self/fd"),
            resident: resident(),
        }
    }

    /// Once there are no more threads than in `wanted`, or after `limit`.
    pub(crate) fn settled(wanted: &Usage, limit: Duration) -> Self {
        let until = Instant::now() + limit;
        loop {
            let now = Self::now();
            if now.threads <= wanted.threads || Instant::now() >= until {
                return now;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}
