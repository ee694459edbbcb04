//! Load: many streams, tasks and threads, with destruction, abort and resets in the middle; what the
//! process holds of the system is the same afterwards.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use cannery_abi::*;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use crate::api::*;
use crate::usage::Usage;
use crate::{make, progress, trouble};

const THREADS: usize = 8;
/// Streams of each thread: 1,000 in all, of the 1,984 that the product has.
const STREAMS: usize = 125;
/// Tasks of each thread: 100,000 in all.
const TASKS: usize = 12_500;
const BYTES: usize = 256;
const EVENTS: usize = 40;
/// Idle threads of the runtime are gone after 3 s; the rest is for a busy machine.
const SETTLED: Duration = Duration::from_secs(6);
/// Growth of the resident memory, in KiB, from one equal round to the next.
const GROWTH: usize = 8 << 10;
/// No wait takes longer.
const LIMIT: i32 = 20_000;

/// A stream with what was queued on it.
struct Stream {
    handle: aclrtStream,
    /// Calls that have run, and calls that were queued.
    ran: &'static AtomicU64,
    queued: u64,
    /// Dropped work makes the counts differ.
    dropped: bool,
}

impl Stream {
    fn new() -> Self {
        Self {
            handle: make::stream(),
            ran: Box::leak(Box::default()),
            queued: 0,
            dropped: false,
        }
    }

    fn check(&self) {
        let ran = self.ran.load(Ordering::SeqCst);
        let right = if self.dropped {
            ran <= self.queued
        } else {
            ran == self.queued
        };
        trouble::unless(right, || {
            format!(
                "{ran} of {} functions ran (work dropped: {})",
                self.queued, self.dropped
            )
        });
    }
}

extern "C" fn count(data: *mut c_void) {
    // SAFETY: `data` is the counter of a stream, which is never given back.
    unsafe { &*data.cast::<AtomicU64>() }.fetch_add(1, Ordering::SeqCst);
}

/// What one thread works with.
struct Worker {
    random: SmallRng,
    streams: Vec<Stream>,
    events: Vec<aclrtEvent>,
    device: [*mut c_void; 4],
    host: *mut c_void,
}

impl Worker {
    fn new(seed: u64) -> Self {
        ok(aclrtSetDevice(0), "aclrtSetDevice");
        Self {
            random: SmallRng::seed_from_u64(seed),
            streams: (0..STREAMS).map(|_| Stream::new()).collect(),
            events: (0..EVENTS).map(|_| make::event(true)).collect(),
            device: [(); 4].map(|()| make::device(BYTES)),
            host: make::pinned(BYTES),
        }
    }

    fn task(&mut self) -> aclError {
        let device = self.device[self.random.random_range(0..4)];
        let other = self.device[self.random.random_range(0..4)];
        let event = self.events[self.random.random_range(0..EVENTS)];
        let choice = self.random.random_range(0..100);
        let stream = self.random.random_range(0..self.streams.len());
        let stream = &mut self.streams[stream];
        let s = stream.handle;
        match choice {
            0..=34 => {
                let kind = ACL_MEMCPY_HOST_TO_DEVICE;
                aclrtMemcpyAsync(device, BYTES, self.host, BYTES, kind, s)
            }
            35..=44 => {
                let kind = ACL_MEMCPY_DEVICE_TO_DEVICE;
                aclrtMemcpyAsync(device, BYTES, other, BYTES, kind, s)
            }
            45..=59 => aclrtMemsetAsync(device, BYTES, choice, BYTES, s),
            60..=69 => {
                let data = std::ptr::from_ref(stream.ran).cast_mut().cast();
                let code = aclrtLaunchHostFunc(s, Some(count), data);
                stream.queued += u64::from(code == 0);
                code
            }
            70..=79 => aclrtRecordEvent(event, s),
            80..=89 => aclrtStreamWaitEvent(s, event),
            90..=97 => aclrtValueWrite(device, u64::from(choice.unsigned_abs()), 0, s),
            98 => {
                let mut status = 0;
                aclrtStreamQuery(s, &raw mut status)
            }
            _ => aclrtSynchronizeStreamWithTimeout(s, LIMIT),
        }
    }

    /// Ends some streams in every way there is, and makes others in their place.
    fn disturb(&mut self) {
        for i in 0..30 {
            let at = self.random.random_range(0..self.streams.len());
            let stream = &mut self.streams[at];
            let code = match i % 3 {
                0 => aclrtDestroyStream(stream.handle),
                1 => {
                    stream.dropped = true;
                    aclrtDestroyStreamForce(stream.handle)
                }
                _ => {
                    stream.dropped = true;
                    ok(aclrtStreamAbort(stream.handle), "aclrtStreamAbort");
                    continue;
                }
            };
            ok(code, "ending a stream");
            if i % 3 == 0 {
                stream.check();
            }
            self.streams[at] = Stream::new();
        }
    }

    fn finish(self) {
        for stream in &self.streams {
            let code = aclrtSynchronizeStreamWithTimeout(stream.handle, LIMIT);
            ok(code, "waiting for a stream");
            stream.check();
            ok(aclrtDestroyStream(stream.handle), "aclrtDestroyStream");
        }
        for event in self.events {
            ok(aclrtDestroyEvent(event), "aclrtDestroyEvent");
        }
        for block in self.device {
            ok(aclrtFree(block), "aclrtFree");
        }
        ok(aclrtFreeHost(self.host), "aclrtFreeHost");
    }
}

fn threads(work: impl Fn(u64) + Sync) {
    let work = &work;
    std::thread::scope(|scope| {
        for thread in 0..THREADS as u64 {
            scope.spawn(move || work(thread));
        }
    });
}

fn round(seed: u64) {
    threads(|thread| {
        let mut worker = Worker::new(seed * THREADS as u64 + thread);
        for i in 0..TASKS {
            ok(worker.task(), "a task");
            if i % (TASKS / 4) == TASKS / 8 {
                worker.disturb();
            }
        }
        worker.finish();
    });
}

/// Two equal rounds; the second one leaves nothing behind.
pub(crate) fn play(seed: u64) {
    ok(aclrtSetDevice(0), "aclrtSetDevice");
    let first = Usage::now();
    progress::begin(1, "the first round");
    round(seed);
    let before = Usage::settled(&first, SETTLED);
    progress::begin(2, "the second round");
    round(seed + 1);
    compare(&first, &before, &Usage::settled(&first, SETTLED));
    ok(aclrtResetDevice(0), "aclrtResetDevice");
}

fn compare(first: &Usage, before: &Usage, after: &Usage) {
    trouble::unless(after.threads == first.threads, || {
        format!(
            "{} threads at the start, {} at the end",
            first.threads, after.threads
        )
    });
    trouble::unless(after.descriptors == first.descriptors, || {
        format!(
            "{} descriptors at the start, {} at the end",
            first.descriptors, after.descriptors
        )
    });
    trouble::unless(after.resident <= before.resident + GROWTH, || {
        format!(
            "{} KiB resident after the first round, {} KiB after the second",
            before.resident, after.resident
        )
    });
}

/// Codes that a call may answer while the device is being reset: no context, a dead handle, memory
/// that is gone, a stream of a context that is gone, work that was dropped.
const GONE: [aclError; 5] = [107_000, 107_002, 107_003, 107_017, 107_023];

/// Threads at work while the device is reset by force under them.
pub(crate) fn play_resets(seed: u64) {
    ok(aclrtSetDevice(0), "aclrtSetDevice");
    // The first round fills the runtime's own stores.
    let first = Usage::now();
    reset_round(seed, 8);
    let before = Usage::settled(&first, SETTLED);
    reset_round(seed + 1, 16);
    compare(&first, &before, &Usage::settled(&first, SETTLED));
    // The device works.
    ok(aclrtSetDevice(0), "aclrtSetDevice");
    let worker = Worker::new(seed);
    worker.finish();
    ok(aclrtResetDeviceForce(0), "aclrtResetDeviceForce");
}

fn reset_round(seed: u64, resets: u32) {
    let over = AtomicBool::new(false);
    let over = &over;
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let mut random = SmallRng::seed_from_u64(seed * 100 + thread);
                while !over.load(Ordering::SeqCst) {
                    let code = until_refused(&mut random, over);
                    trouble::unless(code == 0 || GONE.contains(&code), || {
                        format!("while the device is reset: {code}: {}", said())
                    });
                    let _ = said();
                }
            });
        }
        for i in 0..resets {
            progress::begin(i, "forced resets");
            std::thread::sleep(Duration::from_millis(25));
            // 507007: between two resets nobody had set it again.
            let code = aclrtResetDeviceForce(0);
            trouble::unless(code == 0 || code == 507_007, || {
                format!("aclrtResetDeviceForce answered {code}: {}", said())
            });
            let _ = said();
        }
        over.store(true, Ordering::SeqCst);
        progress::begin(resets, "the threads after the last reset");
    });
    // Whoever set it last.
    let _ = aclrtResetDeviceForce(0);
    let _ = said();
}

/// Sets the device and queues work until a call is refused; its code.
fn until_refused(random: &mut SmallRng, over: &AtomicBool) -> aclError {
    macro_rules! go_on {
        ($call:expr) => {
            match $call {
                0 => {}
                code => return code,
            }
        };
    }
    static RAN: AtomicU64 = AtomicU64::new(0);
    go_on!(aclrtSetDevice(0));
    let mut streams = [std::ptr::null_mut(); 8];
    for stream in &mut streams {
        go_on!(aclrtCreateStream(stream));
    }
    let (mut block, mut host) = (std::ptr::null_mut(), std::ptr::null_mut());
    let mut event = std::ptr::null_mut();
    go_on!(aclrtMalloc(
        &raw mut block,
        1 << 16,
        ACL_MEM_MALLOC_HUGE_FIRST
    ));
    go_on!(aclrtCreateEventExWithFlag(&raw mut event, ACL_EVENT_SYNC));
    go_on!(aclrtMallocHost(&raw mut host, 1 << 16));
    let mut code = 0;
    while code == 0 && !over.load(Ordering::SeqCst) {
        let s = streams[random.random_range(0..8)];
        code = match random.random_range(0..8) {
            0 | 1 => {
                let kind = ACL_MEMCPY_HOST_TO_DEVICE;
                aclrtMemcpyAsync(block, 1 << 16, host, 1 << 16, kind, s)
            }
            2 => aclrtMemsetAsync(block, 1 << 16, 1, 1 << 16, s),
            3 => {
                let data = std::ptr::from_ref(&RAN).cast_mut().cast();
                aclrtLaunchHostFunc(s, Some(count), data)
            }
            4 => aclrtRecordEvent(event, s),
            5 => aclrtStreamWaitEvent(s, event),
            6 => aclrtSynchronizeStreamWithTimeout(s, LIMIT),
            _ => aclrtSynchronizeDevice(),
        };
    }
    // Host memory and events are the process's, whatever became of the device. A queued copy that
    // the reset dropped needs the host memory no more.
    let freed = aclrtFreeHost(host);
    trouble::unless(freed == 0, || {
        format!("aclrtFreeHost answered {freed}: {}", said())
    });
    let destroyed = aclrtDestroyEvent(event);
    trouble::unless(destroyed == 0, || {
        format!("aclrtDestroyEvent answered {destroyed}: {}", said())
    });
    code
}
