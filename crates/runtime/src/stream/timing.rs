//! The cost model (`CANNERY_TIMING`): stretches queued copies and fills to the bandwidths of a product,
//! so that programs which overlap and time their work have something to see. Off by default.
//!
//! It knows two numbers, the link between host and device and the memory of the device. Tasks never
//! become faster than this machine, and streams do not share a bandwidth.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::task::Task;

/// Bytes a second; 0: off.
static LINK: AtomicU64 = AtomicU64::new(0);
static MEMORY: AtomicU64 = AtomicU64::new(0);

/// Bandwidths of a product in bytes a second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bandwidths {
    pub(crate) link: u64,
    pub(crate) memory: u64,
}

/// Switches the model on or off.
pub(crate) fn set(bandwidths: Option<Bandwidths>) {
    LINK.store(bandwidths.map_or(0, |b| b.link), Ordering::Relaxed);
    MEMORY.store(bandwidths.map_or(0, |b| b.memory), Ordering::Relaxed);
}

/// What a task takes at least; `None` when the model is off or says nothing of it.
#[inline]
pub(crate) fn cost(task: &Task) -> Option<Duration> {
    let link = LINK.load(Ordering::Relaxed);
    if link == 0 { None } else { cost_of(task, link) }
}

#[cold]
fn cost_of(task: &Task, link: u64) -> Option<Duration> {
    let memory = MEMORY.load(Ordering::Relaxed);
    let window = &crate::process::running()?.window;
    let time = |to: u64, from: u64, bytes: u64| {
        let on_device = window.alias_contains(to) && window.alias_contains(from);
        // Within the device every byte is read and written.
        let (bytes, rate) = if on_device {
            (bytes * 2, memory)
        } else {
            (bytes, link)
        };
        Duration::from_secs_f64(bytes as f64 / rate as f64)
    };
    match task {
        Task::Copy { to, from, bytes } => Some(time(*to, *from, *bytes)),
        Task::Copies(list) => Some(list.iter().map(|(to, from, n)| time(*to, *from, *n)).sum()),
        Task::Fill { bytes, .. } => Some(Duration::from_secs_f64(*bytes as f64 / memory as f64)),
        Task::FillWords { count, .. } => {
            Some(Duration::from_secs_f64(*count as f64 * 4.0 / memory as f64))
        }
        Task::Captured(slot) => slot.look(|task| cost_of(task, link)),
        Task::Composite(work) => cost_of(work.current()?, link),
        _ => None,
    }
}

/// Lets time pass until a task that began at `began` has taken `cost`.
pub(crate) fn stretch(began: Instant, cost: Duration) {
    /// Below that, sleeping is too coarse.
    const COARSE: Duration = Duration::from_micros(200);
    let until = began + cost;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        if left > COARSE {
            std::thread::sleep(left - COARSE / 2);
        } else {
            std::hint::spin_loop();
        }
    }
}
