//! Short chains: a stream's work, an event, another stream that waits for it. The program waits for
//! the second stream only, so nobody lends the first one a hand: whoever forgets it is found out.

use std::time::{Duration, Instant};

use cannery_abi::*;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use crate::api::*;
use crate::{make, progress, trouble};

/// Threads that do this at the same time; more than there are cores.
const THREADS: u64 = 6;
const LENGTH: Duration = Duration::from_secs(3);
/// A chain that takes so many milliseconds was forgotten.
const FORGOTTEN: i32 = 3000;

/// Plays for [`LENGTH`].
pub(crate) fn play(seed: u64) {
    progress::begin(0, "chains");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || chains(seed * THREADS + thread));
        }
    });
}

fn chains(seed: u64) {
    let mut random = SmallRng::seed_from_u64(seed);
    ok(aclrtSetDevice(0), "aclrtSetDevice");
    let (first, then) = (make::stream(), make::stream());
    let event = make::event(true);
    let (block, host) = (make::device(64), make::pinned(64));
    let until = Instant::now() + LENGTH;
    let mut round = 0_u32;
    while Instant::now() < until {
        round += 1;
        for _ in 0..random.random_range(1..4) {
            let code = aclrtMemsetAsync(block, 64, round as i32, 64, first);
            ok(code, "aclrtMemsetAsync");
            if random.random_bool(0.3) {
                std::thread::yield_now();
            }
        }
        ok(aclrtRecordEvent(event, first), "aclrtRecordEvent");
        ok(aclrtStreamWaitEvent(then, event), "aclrtStreamWaitEvent");
        let kind = ACL_MEMCPY_DEVICE_TO_HOST;
        let code = aclrtMemcpyAsync(host, 64, block, 64, kind, then);
        ok(code, "aclrtMemcpyAsync");
        let code = aclrtSynchronizeStreamWithTimeout(then, FORGOTTEN);
        if code != 0 {
            let text = said();
            let fault = whose_fault(first, event, then);
            return trouble::note(format!("chain {round} of thread {seed}: {text}\n  {fault}"));
        }
        let got = make::read(host, 64);
        if let Some(text) = make::difference(&got, &[round as u8; 64]) {
            trouble::note(format!("chain {round} of thread {seed}: {text}"));
        }
    }
    for stream in [first, then] {
        ok(aclrtDestroyStream(stream), "aclrtDestroyStream");
    }
    ok(aclrtDestroyEvent(event), "aclrtDestroyEvent");
    ok(aclrtFree(block), "aclrtFree");
    ok(aclrtFreeHost(host), "aclrtFreeHost");
}

/// Which part of a chain was forgotten.
fn whose_fault(first: aclrtStream, event: aclrtEvent, then: aclrtStream) -> String {
    let is_done = |stream| {
        let mut status = 0;
        let code = aclrtStreamQuery(stream, &raw mut status);
        code == 0 && status == ACL_STREAM_STATUS_COMPLETE
    };
    let mut reached = 0;
    let code = aclrtQueryEventStatus(event, &raw mut reached);
    let reached = code == 0 && reached == ACL_EVENT_RECORDED_STATUS_COMPLETE;
    let (one, two) = (is_done(first), is_done(then));
    let helped = aclrtSynchronizeStreamWithTimeout(first, FORGOTTEN);
    let then_too = aclrtSynchronizeStreamWithTimeout(then, FORGOTTEN);
    format!(
        "first stream done: {one}, event reached: {reached}, second stream done: {two}; \
         waiting for the first: {helped}, then for the second: {then_too}"
    )
}
