//! What a failed task does to its stream and to others of the context.

use super::gate::*;
use super::support::*;

/// The modes.
const GO_ON: u64 = ACL_CONTINUE_ON_FAILURE as u64;
const STOP: u64 = ACL_STOP_ON_FAILURE as u64;

/// Queues a task that fails with 107000: a copy whose base addresses, read when it runs, are no memory.
fn queue_failure(t: &T, s: aclrtStream) {
    let places = t.malloc(16, ACL_MEM_MALLOC_NORMAL_ONLY);
    t.upload(places, &[0; 16]);
    t.ok(failing_copy(places, s), "aclrtMemcpyAsyncWithOffset");
}

fn failing_copy(places: *mut c_void, s: aclrtStream) -> aclError {
    let kind = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
    aclrtMemcpyAsyncWithOffset(places.cast(), 8, 0, off(places, 8).cast(), 8, 0, kind, s)
}

/// A stream that stops on failure.
fn stopping(t: &T) -> aclrtStream {
    let s = t.stream();
    t.ok(aclrtSetStreamFailureMode(s, STOP), "stop mode");
    s
}

/// A stream that a failure has stopped.
fn stopped(t: &T) -> aclrtStream {
    let s = stopping(t);
    queue_failure(t, s);
    t.fails(aclrtSynchronizeStream(s), ERROR_PARAM, "synchronising it");
    s
}

/// A stream takes tasks and runs them.
fn works(t: &T, s: aclrtStream) {
    let counter = t.counted(s);
    t.sync(s);
    t.eq(counter.calls(), 1, "calls of a function on the stream");
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = modes();
    cases.extend(stops());
    cases.extend(spreads());
    cases
}

fn modes() -> Vec<Case> {
    vec![
        case("x.stream.failure.goes_on", Setup::device0(), |t| {
            let (s, chosen) = (t.stream(), t.stream());
            t.ok(aclrtSetStreamFailureMode(chosen, GO_ON), "mode 0");
            for s in [s, chosen] {
                queue_failure(t, s);
                let counter = t.counted(s);
                t.fails(aclrtSynchronizeStream(s), ERROR_PARAM, "the failed task");
                t.eq(counter.calls(), 1, "calls of the next task");
                t.sync(s);
                works(t, s);
            }
        }),
        case("x.stream.failure.set_once", Setup::device0(), |t| {
            for (first, second) in [(STOP, GO_ON), (STOP, STOP), (GO_ON, STOP)] {
                let s = t.stream();
                t.ok(aclrtSetStreamFailureMode(s, first), "the first mode");
                let code = aclrtSetStreamFailureMode(s, second);
                t.fails(code, ERROR_PARAM, &format!("mode {second} after {first}"));
                let mut value = aclrtStreamAttrValue { failureMode: 77 };
                let code = aclrtGetStreamAttribute(s, ACL_STREAM_ATTR_FAILURE_MODE, &raw mut value);
                t.ok(code, "aclrtGetStreamAttribute");
                #[allow(unsafe_code)] // The member that was written.
                // SAFETY: every member is a number; all its bytes were set.
                t.eq(unsafe { value.failureMode }, first, "mode");
                works(t, s);
            }
        }),
        case("x.stream.failure.default_stream", Setup::device0(), |t| {
            t.ok(aclrtSetStreamFailureMode(null_mut(), STOP), "stop mode");
            queue_failure(t, null_mut());
            let code = aclrtSynchronizeStream(null_mut());
            t.fails(code, ERROR_PARAM, "synchronising");
            let counter = Counter::new();
            let code = aclrtLaunchHostFunc(null_mut(), Counter::function(), counter.data());
            t.fails(code, ERROR_PARAM, "a new task");
            t.ok(aclrtResetDevice(0), "aclrtResetDevice");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            works(t, null_mut());
        }),
        case(
            "x.stream.failure.default_stream_without_mode",
            Setup::device0().profile("310P"),
            |t| {
                let code = aclrtSetStreamFailureMode(null_mut(), STOP);
                t.fails(code, ERROR_PARAM, "the default stream");
                t.ok(aclrtSetStreamFailureMode(t.stream(), STOP), "another");
            },
        ),
    ]
}

fn stops() -> Vec<Case> {
    vec![
        case(
            "x.stream.failure.drops_queued_tasks",
            Setup::device0(),
            |t| {
                let s = stopping(t);
                let gate = t.hold(s);
                queue_failure(t, s);
                let counters = [t.counted(s), t.counted(s)];
                let e = t.event();
                t.record(e, s);
                gate.open();
                t.fails(aclrtSynchronizeStream(s), ERROR_PARAM, "synchronising");
                t.check(t.is_idle(s), "the stream still has tasks");
                for counter in counters {
                    t.eq(counter.calls(), 0, "calls of a dropped task");
                }
                t.ok(aclrtSynchronizeEvent(e), "the event of a dropped record");
            },
        ),
        case(
            "x.stream.failure.refuses_new_tasks",
            Setup::device0(),
            |t| {
                let s = stopped(t);
                let counter = Counter::new();
                let code = aclrtLaunchHostFunc(s, Counter::function(), counter.data());
                t.fails(code, ERROR_PARAM, "a host function");
                t.fails(aclrtRecordEvent(t.event(), s), ERROR_PARAM, "a record");
                let (p, bytes) = t.filled(64);
                let code = aclrtMemsetAsync(p, 64, 7, 64, s);
                t.fails(code, ERROR_PARAM, "a fill");
                let new = t.random_bytes(64);
                let kind = ACL_MEMCPY_HOST_TO_DEVICE;
                let code = aclrtMemcpyAsync(p, 64, src(&new), 64, kind, s);
                t.fails(code, ERROR_PARAM, "a copy of pageable memory");
                t.holds(p, &bytes, "memory");
                t.eq(counter.calls(), 0, "calls");
                // It says so as often as it is asked, whoever asks.
                t.fails(aclrtSynchronizeStream(s), ERROR_PARAM, "synchronising");
                t.fails(aclrtSynchronizeDevice(), ERROR_PARAM, "the device");
                t.check(t.is_idle(s), "the stream has tasks");
                t.ok(aclrtStreamAbort(s), "aclrtStreamAbort");
                t.ok(aclrtDestroyStream(s), "aclrtDestroyStream");
                t.ok(aclrtSynchronizeDevice(), "the device afterwards");
                // A new stream may take the place of the old one.
                for _ in 0..4 {
                    works(t, t.stream());
                }
            },
        ),
        case(
            "x.stream.failure.lazy",
            Setup::device0().env("CANNERY_SCHEDULE", "lazy"),
            |t| {
                let s = stopping(t);
                queue_failure(t, s);
                let counter = t.counted(s);
                t.fails(aclrtSynchronizeStream(s), ERROR_PARAM, "synchronising");
                t.eq(counter.calls(), 0, "calls of a dropped task");
            },
        ),
        case(
            "x.stream.failure.eager",
            Setup::device0().env("CANNERY_SCHEDULE", "eager"),
            |t| {
                let s = stopping(t);
                queue_failure(t, s);
                let counter = Counter::new();
                let code = aclrtLaunchHostFunc(s, Counter::function(), counter.data());
                t.fails(code, ERROR_PARAM, "a task after the failure");
            },
        ),
        case(
            "x.stream.failure.random",
            Setup::device0().env("CANNERY_SCHEDULE", "random:7"),
            |t| {
                let streams = [stopping(t), stopping(t), stopping(t)];
                let n = t.notify();
                let code = aclrtWaitAndResetNotify(n, streams[2], 0);
                t.ok(code, "aclrtWaitAndResetNotify");
                let last = t.counted(streams[2]);
                queue_failure(t, streams[0]);
                for s in streams {
                    t.fails(aclrtSynchronizeStream(s), ERROR_PARAM, "synchronising");
                }
                t.eq(last.calls(), 0, "calls of a dropped task");
            },
        ),
        case("x.stream.failure.storm", Setup::device0(), |t| {
            // One stream fails while others run, wait and are being filled: all stop, nothing hangs.
            for round in 0..40 {
                let failing = stopping(t);
                let others: Vec<aclrtStream> = (0..6).map(|_| stopping(t)).collect();
                let n = t.notify();
                for (i, s) in others.iter().enumerate() {
                    if i % 2 == round % 2 {
                        t.ok(aclrtWaitAndResetNotify(n, *s, 0), "a wait for nothing");
                    }
                    t.counted(*s);
                }
                queue_failure(t, failing);
                for s in &others {
                    let counter = Counter::new();
                    for _ in 0..50 {
                        let code = aclrtLaunchHostFunc(*s, Counter::function(), counter.data());
                        if code != 0 {
                            t.fails(code, ERROR_PARAM, "a refused task");
                        }
                    }
                }
                for s in [&failing].into_iter().chain(&others) {
                    t.fails(aclrtSynchronizeStream(*s), ERROR_PARAM, "synchronising");
                    t.ok(aclrtDestroyStream(*s), "aclrtDestroyStream");
                }
                t.ok(aclrtDestroyNotify(n), "aclrtDestroyNotify");
            }
        }),
    ]
}

fn spreads() -> Vec<Case> {
    vec![
        case(
            "x.stream.failure.spreads_to_waiting",
            Setup::device0(),
            |t| {
                let (failing, waiting) = (stopping(t), stopping(t));
                let n = t.notify();
                let code = aclrtWaitAndResetNotify(n, waiting, 0);
                t.ok(code, "aclrtWaitAndResetNotify");
                let counter = t.counted(waiting);
                queue_failure(t, failing);
                t.fails(aclrtSynchronizeStream(failing), ERROR_PARAM, "the stream");
                t.fails(aclrtSynchronizeStream(waiting), ERROR_PARAM, "another");
                t.eq(counter.calls(), 0, "calls behind the wait");
                // The wait was dropped: it does not take what comes later.
                let other = t.stream();
                t.ok(aclrtRecordNotify(n, other), "aclrtRecordNotify");
                let code = aclrtWaitAndResetNotify(n, other, 0);
                t.ok(code, "aclrtWaitAndResetNotify");
                works(t, other);
            },
        ),
        case(
            "x.stream.failure.spreads_to_running",
            Setup::device0(),
            |t| {
                let (failing, running) = (stopping(t), stopping(t));
                let gate = t.hold(running);
                let counter = t.counted(running);
                queue_failure(t, failing);
                t.fails(aclrtSynchronizeStream(failing), ERROR_PARAM, "the stream");
                gate.open();
                t.fails(aclrtSynchronizeStream(running), ERROR_PARAM, "another");
                gate.left(t);
                t.eq(counter.calls(), 0, "calls behind the running task");
            },
        ),
        case(
            "x.stream.failure.spreads_no_further",
            Setup::device0(),
            |t| {
                let home = t.context();
                let (plain, failing) = (t.stream(), stopping(t));
                t.create_context(0);
                let elsewhere = stopping(t);
                t.ok(aclrtSetCurrentContext(home), "aclrtSetCurrentContext");
                queue_failure(t, failing);
                t.fails(aclrtSynchronizeStream(failing), ERROR_PARAM, "the stream");
                works(t, plain);
                works(t, stopping(t));
                t.sync(elsewhere);
            },
        ),
        case(
            "x.stream.failure.releases_who_waits",
            Setup::device0(),
            |t| {
                let (failing, plain) = (stopping(t), t.stream());
                let gate = t.hold(failing);
                queue_failure(t, failing);
                let e = t.event();
                t.record(e, failing);
                t.wait_event(plain, e);
                let counter = t.counted(plain);
                gate.open();
                t.sync(plain);
                t.eq(counter.calls(), 1, "calls behind the dropped record");
            },
        ),
    ]
}
