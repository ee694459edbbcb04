//! Schedules that hold work (lazy, random) let it run when somebody waits inside of the library. A program that
//! queued a host function may wait for that function by its own means instead; and for a record of an event or
//! a notify that is shared, another process waits. So while one is queued and nothing is done for a while, a
//! thread of the runtime waits in the program's place.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::engine;
use super::task::Task;
use super::{STREAMS, Stream};
use crate::os;

/// Far longer than a thread that is about to wait takes to do so.
const GRACE: Duration = Duration::from_millis(500);
/// Between two steps.
const PAUSE: Duration = Duration::from_micros(100);
/// Bytes of stack: it runs tasks.
const STACK: usize = 8 << 20;

static RUNS: AtomicBool = AtomicBool::new(false);

/// Something was queued that is awaited outside, while work is held.
#[cold]
pub(super) fn watch() {
    if !RUNS.swap(true, Ordering::SeqCst) && !os::thread::spawn_quiet("cannery-nudge", STACK, run) {
        // Without a thread only waiting inside of the library brings it on, as before.
        RUNS.store(false, Ordering::SeqCst);
    }
}

/// In a forked child: the thread stayed with the parent.
pub(super) fn forget() {
    RUNS.store(false, Ordering::SeqCst);
}

fn is_awaited(stream: &Stream) -> bool {
    !stream.is_idle() && stream.queue.lock().iter().any(Task::is_awaited_outside)
}

/// Whether anything is queued that is awaited outside, and how many tasks are done on all streams.
fn look() -> (bool, u64) {
    let living = STREAMS.living();
    let queued = living.iter().any(|(_, stream)| is_awaited(stream));
    let done = |(_, stream): &(u64, &'static Stream)| stream.done.load(Ordering::SeqCst);
    (queued, living.iter().map(done).fold(0, u64::wrapping_add))
}

fn run() {
    let (_, mut before) = look();
    loop {
        std::thread::sleep(GRACE);
        let (queued, done) = look();
        if !queued {
            RUNS.store(false, Ordering::SeqCst);
            // One that was queued meanwhile found this thread running.
            if !look().0 || RUNS.swap(true, Ordering::SeqCst) {
                return;
            }
            continue;
        }
        if done == before {
            while look().0 && engine::make_progress() {
                // Workers may be at it.
                std::thread::sleep(PAUSE);
            }
        }
        before = look().1;
    }
}
