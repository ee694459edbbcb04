//! The crate `cannery` next to the C functions that it calls.

use std::hint::black_box;
use std::ptr;
use std::sync::Arc;

use cannery::{Context, Device, DeviceBuffer, Library, PinnedBuffer, Stream};
use cannery_abi as abi;

use crate::api::{self, Api};
use crate::bench::Bench;
use crate::clock::Busy;
use crate::rounds::{Samples, Side};
use crate::row::{Row, Unit};

const CALLS: usize = 1 << 13;
const SIZE: usize = 4096;
const IN_C: &str = "C";
const MEMORY: &str = "aclrtMalloc + aclrtFree, 4 KiB";
const COPY: &str = "aclrtMemcpy to the device, 4 KiB";
const QUEUE: &str = "aclrtMemcpyAsync, 4 KiB, raw form";
const BORROWED: &str = "aclrtMemcpyAsync, 4 KiB, buffers that know";
const WAITED: &str = "aclrtMemcpyAsync, 4 KiB, and a wait for the buffer";
const WITH_EVENT: &str = "C with an event a copy";
/// Queued copies before the stream is awaited.
const BATCH: usize = 256;

pub(crate) fn run(bench: &mut Bench<'_>) {
    if ![MEMORY, COPY, QUEUE, BORROWED, WAITED]
        .iter()
        .any(|name| bench.wants(name))
    {
        return;
    }
    if let Err(error) = rows(bench) {
        bench.row(Row::not_run(MEMORY, error.to_string()));
    }
}

fn rows(bench: &mut Bench<'_>) -> cannery::Result<()> {
    let api = bench.api;
    let context = Device::new(Library::open(api::library())?, 0)?.context()?;
    let calls = bench.effort.calls(CALLS);
    both(
        bench,
        MEMORY,
        20.0,
        || pairs(&context, calls),
        || pairs_in_c(api, calls),
    );

    let mut device = DeviceBuffer::<u8>::zeroed(&context, SIZE)?;
    let pinned = PinnedBuffer::<u8>::zeroed(&context, SIZE)?;
    let (to, from) = (device.as_ptr().as_raw(), pinned.host()?);
    both(
        bench,
        COPY,
        10.0,
        || time(calls, || good(device.copy_from(black_box(from)))),
        || {
            time(calls, || {
                // SAFETY: both blocks have SIZE bytes.
                let code = unsafe {
                    (api.aclrtMemcpy)(
                        to,
                        SIZE,
                        from.as_ptr().cast(),
                        SIZE,
                        abi::ACL_MEMCPY_HOST_TO_DEVICE,
                    )
                };
                api.check("aclrtMemcpy", code);
            })
        },
    );

    let stream = Stream::new(&context)?;
    let queue = |copy: &mut dyn FnMut()| {
        let mut sum = 0.0;
        for _ in 0..calls.div_ceil(BATCH) {
            sum += time(BATCH, &mut *copy);
            good(stream.synchronize());
        }
        sum / calls.div_ceil(BATCH) as f64
    };
    let raw = stream.as_raw();
    let queue_in_c = || {
        // SAFETY: both blocks have SIZE bytes and outlive the stream's work.
        let code = unsafe {
            (api.aclrtMemcpyAsync)(
                to,
                SIZE,
                from.as_ptr().cast(),
                SIZE,
                abi::ACL_MEMCPY_HOST_TO_DEVICE,
                raw,
            )
        };
        api.check("aclrtMemcpyAsync", code);
    };
    both(
        bench,
        QUEUE,
        10.0,
        || {
            queue(&mut || {
                // SAFETY: both blocks have SIZE bytes and outlive the stream's work.
                good(unsafe {
                    stream.memcpy_raw(
                        to,
                        SIZE,
                        from.as_ptr().cast(),
                        SIZE,
                        abi::ACL_MEMCPY_HOST_TO_DEVICE,
                    )
                });
            })
        },
        || queue(&mut || queue_in_c()),
    );

    let mut event = ptr::null_mut();
    // SAFETY: the place is valid. Other streams may wait for this kind, and it is recorded again and again.
    api.check("aclrtCreateEventExWithFlag", unsafe {
        (api.aclrtCreateEventExWithFlag)(&raw mut event, abi::ACL_EVENT_SYNC)
    });
    let record_in_c = || {
        // SAFETY: both handles are alive.
        api.check("aclrtRecordEvent", unsafe {
            (api.aclrtRecordEvent)(event, raw)
        });
    };
    if bench.wants(BORROWED) {
        let sides: Vec<Side<'_>> = vec![
            Box::new(|| queue(&mut || good(stream.copy_borrowed(&pinned, &mut device)))),
            Box::new(|| queue(&mut || queue_in_c())),
            Box::new(|| {
                queue(&mut || {
                    queue_in_c();
                    record_in_c();
                })
            }),
        ];
        let [ours, alone, with_event]: [Samples; 3] = bench
            .take_turns(sides)
            .try_into()
            .expect("one for each side");
        bench.row(
            Row::new(BORROWED, Unit::Nanoseconds, ours)
                .against(IN_C, alone)
                .against(WITH_EVENT, with_event)
                .above_at_most(IN_C, 10.0)
                .note(
                    "\"C with an event a copy\" is what C needs to wait for each buffer by itself, as \
                     the crate can.",
                ),
        );
    }
    both(
        bench,
        WAITED,
        30.0,
        || {
            time(calls / 8, || {
                good(stream.copy_borrowed(&pinned, &mut device));
                good(device.wait());
            })
        },
        || {
            time(calls / 8, || {
                queue_in_c();
                record_in_c();
                // SAFETY: the event is alive.
                api.check("aclrtSynchronizeEvent", unsafe {
                    (api.aclrtSynchronizeEvent)(event)
                });
            })
        },
    );
    // SAFETY: made above, and nothing waits for it.
    api.check("aclrtDestroyEvent", unsafe {
        (api.aclrtDestroyEvent)(event)
    });
    Ok(())
}

/// A row: at most 10 ns more for each call that is wrapped.
fn both<'a>(
    bench: &mut Bench<'_>,
    name: &str,
    bound: f64,
    ours: impl FnMut() -> f64 + 'a,
    in_c: impl FnMut() -> f64 + 'a,
) {
    if !bench.wants(name) {
        return;
    }
    let sides: Vec<Side<'_>> = vec![Box::new(ours), Box::new(in_c)];
    let [ours, in_c]: [Samples; 2] = bench
        .take_turns(sides)
        .try_into()
        .expect("one for each side");
    bench.row(
        Row::new(name, Unit::Nanoseconds, ours)
            .against(IN_C, in_c)
            .above_at_most(IN_C, bound)
            .note("\"C\" makes the same calls of the C interface through pointers. The crate may add 10 ns a call."),
    );
}

fn time(calls: usize, mut call: impl FnMut()) -> f64 {
    let begun = Busy::start();
    for _ in 0..calls {
        call();
    }
    begun.per(calls)
}

fn pairs(context: &Arc<Context>, calls: usize) -> f64 {
    time(calls, || {
        drop(black_box(good(DeviceBuffer::<u8>::uninit(context, SIZE))))
    })
}

fn pairs_in_c(api: Api, calls: usize) -> f64 {
    time(calls, || {
        let mut block = ptr::null_mut();
        // SAFETY: the place is valid.
        let code =
            unsafe { (api.aclrtMalloc)(&raw mut block, SIZE, abi::ACL_MEM_MALLOC_HUGE_FIRST) };
        api.check("aclrtMalloc", code);
        // SAFETY: the block was made above.
        api.check("aclrtFree", unsafe { (api.aclrtFree)(black_box(block)) });
    })
}

/// Ends the program when a call that is being measured failed.
#[inline(always)]
fn good<T>(outcome: cannery::Result<T>) -> T {
    match outcome {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}
