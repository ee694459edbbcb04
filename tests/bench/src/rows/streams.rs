//! Streams and events through the C interface.

use std::ffi::c_void;
use std::hint::black_box;
use std::ptr;
use std::sync::Barrier;
use std::time::Instant;

use cannery_abi as abi;

use crate::api::Api;
use crate::bench::Bench;
use crate::buffer::Buffer;
use crate::clock::Busy;
use crate::ping_pong::PingPong;
use crate::rounds::{Samples, Side};
use crate::row::{Row, Unit};
use crate::subjects::{DeviceMemory, HostMemory, Subject};

const BACK_TO_BACK: &str = "MemcpyAsync 64 B + SynchronizeStream";
const BATCH: &str = "MemcpyAsync 64 B, synchronised every 64";
const PING_PONG: &str = "ping-pong";
/// How often a round is repeated in which a thread had to sleep because the other was not on its core.
const TRIES: usize = 50;
const SMALL: usize = 64;

pub(crate) fn run(bench: &mut Bench<'_>) {
    let api = bench.api;
    let stream = create(api);
    let device = DeviceMemory(api).alloc(SMALL);
    let pinned = HostMemory(api).alloc(SMALL);
    let copies = Copies {
        api,
        to: device,
        from: pinned,
        size: SMALL,
        stream,
    };
    hand_over(bench, &copies);
    batches(bench, &copies);
    questions(bench, stream);
    events(bench, stream);
    life(bench);
    HostMemory(api).free(pinned);
    DeviceMemory(api).free(device);
    destroy(api, stream);
    for (size, text, count) in [(1 << 20, "1 MiB", 32), (64 << 20, "64 MiB", 1)] {
        parallel(bench, size, text, count);
    }
}

fn create(api: Api) -> abi::aclrtStream {
    let mut stream = ptr::null_mut();
    // SAFETY: the place is valid.
    let code = unsafe { (api.aclrtCreateStream)(&raw mut stream) };
    api.check("aclrtCreateStream", code);
    stream
}

fn destroy(api: Api, stream: abi::aclrtStream) {
    // SAFETY: any value may be given.
    let code = unsafe { (api.aclrtDestroyStream)(stream) };
    api.check("aclrtDestroyStream", code);
}

#[inline(always)]
fn synchronize(api: Api, stream: abi::aclrtStream) {
    // SAFETY: any value may be given.
    let code = unsafe { (api.aclrtSynchronizeStream)(stream) };
    api.check("aclrtSynchronizeStream", code);
}

/// One copy that is queued again and again.
#[derive(Clone, Copy)]
struct Copies {
    api: Api,
    to: *mut c_void,
    from: *mut c_void,
    size: usize,
    stream: abi::aclrtStream,
}

impl Copies {
    #[inline(always)]
    fn submit(&self) {
        let kind = abi::ACL_MEMCPY_HOST_TO_DEVICE;
        // SAFETY: both blocks have `size` bytes and live until the stream is synchronised.
        let code = unsafe {
            (self.api.aclrtMemcpyAsync)(self.to, self.size, self.from, self.size, kind, self.stream)
        };
        self.api.check("aclrtMemcpyAsync", code);
    }
}

/// Nanoseconds on the wall of one of `count`.
fn on_the_wall(count: usize, mut act: impl FnMut()) -> f64 {
    let begun = Instant::now();
    for _ in 0..count {
        act();
    }
    begun.elapsed().as_nanos() as f64 / count as f64
}

/// Nanoseconds of processor time of one of `count`.
fn busy(count: usize, mut act: impl FnMut()) -> f64 {
    let begun = Busy::start();
    for _ in 0..count {
        act();
    }
    begun.per(count)
}

fn measure<const N: usize>(bench: &Bench<'_>, sides: [Side<'_>; N]) -> [Samples; N] {
    let samples = bench.take_turns(Vec::from(sides));
    samples.try_into().expect("one for each side")
}

fn hand_over(bench: &mut Bench<'_>, copies: &Copies) {
    if !bench.wants(BACK_TO_BACK) {
        return;
    }
    let count = bench.effort.calls(1 << 8);
    let mut table = PingPong::new();
    let mut slow = false;
    let [ours, reference] = measure(
        bench,
        [
            Box::new(|| {
                on_the_wall(count, || {
                    copies.submit();
                    synchronize(copies.api, copies.stream);
                })
            }),
            Box::new(|| {
                for _ in 0..TRIES {
                    let time = on_the_wall(count, || table.play());
                    if !table.slept() {
                        return time;
                    }
                }
                slow = true;
                f64::NAN
            }),
        ],
    );
    if slow {
        let reason = "other programs want both cores, and no ping-pong was undisturbed";
        return bench.row(Row::not_run(BACK_TO_BACK, reason));
    }
    bench.row(
        Row::new(BACK_TO_BACK, Unit::Nanoseconds, ours)
            .against(PING_PONG, reference)
            .times_at_most(PING_PONG, 1.5)
            .note(
                "The ping-pong hands a number to another thread and waits for its answer: both look for a \
                 while, then sleep. Time on the wall.",
            ),
    );
}

fn batches(bench: &mut Bench<'_>, copies: &Copies) {
    if !bench.wants(BATCH) {
        return;
    }
    let count = bench.effort.calls(1 << 8);
    let [ours] = measure(
        bench,
        [Box::new(|| {
            let batch = on_the_wall(count, || {
                (0..64).for_each(|_| copies.submit());
                synchronize(copies.api, copies.stream);
            });
            batch / 64.0
        })],
    );
    bench.row(Row::new(BATCH, Unit::Nanoseconds, ours).at_most(150.0));
}

fn questions(bench: &mut Bench<'_>, stream: abi::aclrtStream) {
    let api = bench.api;
    let count = bench.effort.calls(1 << 15);
    let names = ["SynchronizeStream, idle", "StreamQuery, idle"];
    if !names.iter().any(|name| bench.wants(name)) {
        return;
    }
    let samples: [Samples; 2] = measure(
        bench,
        [
            Box::new(|| busy(count, || synchronize(api, stream))),
            Box::new(|| {
                busy(count, || {
                    let mut status = 0;
                    // SAFETY: the place is valid.
                    let code = unsafe { (api.aclrtStreamQuery)(stream, &raw mut status) };
                    api.check("aclrtStreamQuery", code);
                    black_box(status);
                })
            }),
        ],
    );
    for (name, ours) in names.into_iter().zip(samples) {
        bench.row(Row::new(name, Unit::Nanoseconds, ours).at_most(30.0));
    }
}

fn create_event(api: Api) -> abi::aclrtEvent {
    let mut event = ptr::null_mut();
    // SAFETY: the place is valid.
    let code = unsafe { (api.aclrtCreateEvent)(&raw mut event) };
    api.check("aclrtCreateEvent", code);
    event
}

fn destroy_event(api: Api, event: abi::aclrtEvent) {
    // SAFETY: any value may be given.
    let code = unsafe { (api.aclrtDestroyEvent)(event) };
    api.check("aclrtDestroyEvent", code);
}

fn events(bench: &mut Bench<'_>, stream: abi::aclrtStream) {
    let api = bench.api;
    let (few, many) = (bench.effort.calls(1 << 8), bench.effort.calls(1 << 14));
    let names = [
        "RecordEvent, synchronised every 64",
        "QueryEventStatus",
        "CreateEvent + DestroyEvent",
    ];
    if !names.iter().any(|name| bench.wants(name)) {
        return;
    }
    let event = create_event(api);
    let record = || {
        // SAFETY: any value may be given.
        let code = unsafe { (api.aclrtRecordEvent)(event, stream) };
        api.check("aclrtRecordEvent", code);
    };
    record();
    synchronize(api, stream);
    let samples: [Samples; 3] = measure(
        bench,
        [
            Box::new(|| {
                let batch = on_the_wall(few, || {
                    (0..64).for_each(|_| record());
                    synchronize(api, stream);
                });
                batch / 64.0
            }),
            Box::new(|| {
                busy(many, || {
                    let mut status = 0;
                    // SAFETY: the place is valid.
                    let code = unsafe { (api.aclrtQueryEventStatus)(event, &raw mut status) };
                    api.check("aclrtQueryEventStatus", code);
                    black_box(status);
                })
            }),
            Box::new(|| busy(many, || destroy_event(api, black_box(create_event(api))))),
        ],
    );
    destroy_event(api, event);
    for ((name, aim), ours) in names.into_iter().zip([100.0, 15.0, 80.0]).zip(samples) {
        bench.row(Row::new(name, Unit::Nanoseconds, ours).at_most(aim));
    }
}

fn life(bench: &mut Bench<'_>) {
    let name = "CreateStream + DestroyStream";
    if !bench.wants(name) {
        return;
    }
    let api = bench.api;
    let count = bench.effort.calls(1 << 12);
    let [ours] = measure(
        bench,
        [Box::new(|| {
            busy(count, || destroy(api, black_box(create(api))))
        })],
    );
    bench.row(Row::new(name, Unit::Nanoseconds, ours).at_most(500.0));
}

/// Two streams that copy against two threads that do.
fn parallel(bench: &mut Bench<'_>, size: usize, text: &str, count: usize) {
    let name = format!("two streams, {count} x {text} each");
    if !bench.wants(&name) {
        return;
    }
    let api = bench.api;
    let queues = [create(api), create(api)].map(|stream| Copies {
        api,
        to: DeviceMemory(api).alloc(size),
        from: HostMemory(api).alloc(size),
        size,
        stream,
    });
    let buffers = queues.map(|queue| [Buffer::new(size, queue.to), Buffer::new(size, queue.from)]);
    for queue in &queues {
        // SAFETY: the block has `size` bytes. Written once, as the buffers are.
        unsafe { ptr::write_bytes(queue.from.cast::<u8>(), 0x5a, size) };
    }
    let both = || {
        let begun = Instant::now();
        for _ in 0..count {
            queues.iter().for_each(Copies::submit);
        }
        queues
            .iter()
            .for_each(|queue| synchronize(api, queue.stream));
        begun.elapsed().as_nanos() as f64
    };
    let threads = || {
        let barrier = Barrier::new(3);
        let barrier = &barrier;
        std::thread::scope(|scope| {
            for [to, from] in &buffers {
                let (to, from) = (to.at as usize, from.at as usize);
                scope.spawn(move || {
                    barrier.wait();
                    for _ in 0..count {
                        // SAFETY: both buffers have `size` bytes and outlive the scope.
                        unsafe { libc::memcpy(to as *mut c_void, from as *const c_void, size) };
                        black_box(to);
                    }
                    barrier.wait();
                });
            }
            barrier.wait();
            let begun = Instant::now();
            barrier.wait();
            begun.elapsed().as_nanos() as f64
        })
    };
    let [ours, reference] = measure(bench, [Box::new(both), Box::new(threads)]);
    let row = Row::new(name, Unit::Nanoseconds, ours).against("two threads", reference);
    let speed = (2 * count * size) as f64 / row.value();
    let note = format!("{}: {speed:.1} GB/s together.", row.name);
    bench.row(row.speed_at_least("two threads", 0.9).note(note));
    for queue in queues {
        destroy(api, queue.stream);
        DeviceMemory(api).free(queue.to);
        HostMemory(api).free(queue.from);
    }
}
