//! Streams: order, waiting and asking.

use super::gate::*;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = order();
    cases.extend(query());
    cases.extend(synchronize());
    cases.extend(device());
    cases.extend(own());
    cases
}

fn order() -> Vec<Case> {
    vec![
        case("stream.order.default_not_special", Setup::device0(), |t| {
            let s = t.stream();
            let (h, bytes) = t.pinned(5000);
            let (d, _) = t.filled(5000);
            let gate = t.hold(s);
            t.copy_async(d, h, 5000, null_mut());
            t.ret(aclrtSynchronizeStream(null_mut()));
            t.check(!gate.is_open(), "the gate is open");
            t.holds(d, &bytes, "destination");
            t.check(!t.is_idle(s), "the blocked stream is idle");
        }),
        case("stream.order.in_order", Setup::device0(), |t| {
            let s = t.stream();
            let len = 300 * KIB;
            let ((a, _), (b, bytes)) = (t.pinned(len), t.pinned(len));
            let (d, _) = t.filled(len);
            t.copy_async(d, a, len, s);
            t.copy_async(d, b, len, s);
            t.ret(aclrtSynchronizeStream(s));
            t.holds(d, &bytes, "destination");
        }),
    ]
}

fn query() -> Vec<Case> {
    vec![
        case("stream.query.busy", Setup::device0(), |t| {
            let s = t.stream();
            let gate = t.hold(s);
            let mut status = -77;
            t.ret(aclrtStreamQuery(s, &raw mut status));
            t.eq(status, ACL_STREAM_STATUS_NOT_READY, "status");
            gate.open();
            t.sync(s);
            t.check(
                t.is_idle(s),
                "the stream is not idle after it was waited for",
            );
        }),
        case("stream.query.null_status", Setup::device0(), |t| {
            let s = t.stream();
            t.ret(aclrtStreamQuery(s, null_mut()));
        }),
        case("stream.query.null_stream", Setup::device0(), |t| {
            let mut status = -77;
            t.ret(aclrtStreamQuery(null_mut(), &raw mut status));
            t.eq(status, ACL_STREAM_STATUS_COMPLETE, "status");
            let gate = t.hold(null_mut());
            t.check(!t.is_idle(null_mut()), "the blocked default stream is idle");
            gate.open();
            t.sync(null_mut());
        }),
    ]
}

fn synchronize() -> Vec<Case> {
    vec![
        case("stream.sync.no_context_default", Setup::init(), |t| {
            t.ret(aclrtSynchronizeStream(null_mut()));
        }),
        case("stream.sync.null_is_default", Setup::device0(), |t| {
            let gate = t.hold(null_mut());
            let counter = t.counted(null_mut());
            t.ret(t.blocks(*gate, || aclrtSynchronizeStream(null_mut())));
            t.eq(counter.calls(), 1, "calls of the queued function");
        }),
        case("stream.sync.other_context_allowed", Setup::device0(), |t| {
            t.create_context(0);
            let s = t.stream();
            let gate = t.hold(s);
            let counter = t.counted(s);
            let b = t.create_context(0);
            t.ret(t.blocks(*gate, || aclrtSynchronizeStream(s)));
            t.eq(counter.calls(), 1, "calls of the queued function");
            t.eq(t.context(), b, "current context");
        }),
        case("stream.sync_timeout.expires", Setup::device0(), |t| {
            let s = t.stream();
            let gate = t.hold(s);
            let counter = t.counted(s);
            let begin = std::time::Instant::now();
            t.ret(aclrtSynchronizeStreamWithTimeout(s, 20));
            let took = begin.elapsed().as_millis();
            t.check(took >= 20, &format!("it came back after {took} ms"));
            t.check(!t.is_idle(s), "the stream is idle");
            gate.open();
            let code = aclrtSynchronizeStreamWithTimeout(s, 10_000);
            t.ok(code, "aclrtSynchronizeStreamWithTimeout");
            t.eq(counter.calls(), 1, "calls of the queued function");
        }),
        case("stream.sync_timeout.minus_two", Setup::device0(), |t| {
            let s = t.stream();
            t.ret(aclrtSynchronizeStreamWithTimeout(s, -2));
        }),
    ]
}

fn device() -> Vec<Case> {
    vec![
        case("device.sync_timeout.expires", Setup::device0(), |t| {
            let s = t.stream();
            let gate = t.hold(s);
            let counter = t.counted(s);
            t.ret(aclrtSynchronizeDeviceWithTimeout(10));
            t.eq(counter.calls(), 0, "calls behind the gate");
            t.ok(
                t.blocks(*gate, aclrtSynchronizeDevice),
                "aclrtSynchronizeDevice",
            );
            t.eq(counter.calls(), 1, "calls of the queued function");
        }),
        case("init.finalize.pending_resources", Setup::device0(), |t| {
            let (d, bytes) = t.filled(5000);
            let (s, e) = (t.stream(), t.event());
            t.ret(aclFinalize());
            t.holds(d, &bytes, "block");
            let (h, bytes) = t.pinned(5000);
            t.copy_async(d, h, 5000, s);
            t.record(e, s);
            t.sync(s);
            t.eq(
                t.event_status(e),
                ACL_EVENT_RECORDED_STATUS_COMPLETE,
                "status of the event",
            );
            t.holds(d, &bytes, "block written by the stream");
            t.ok(aclrtResetDevice(0), "aclrtResetDevice");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            t.fails(
                aclrtSynchronizeStream(s),
                ERROR_HANDLE,
                "stream after the reset",
            );
            t.fails(aclrtFree(d), ERROR_PARAM, "block after the reset");
        }),
        case("memory.free_host_sync.waits", Setup::device0(), |t| {
            let s = t.stream();
            let (d, bytes) = t.filled(5000);
            let ((h, _), (kept, _)) = (t.pinned(5000), t.pinned(5000));
            let gate = t.hold(s);
            t.copy_async(h, d, 5000, s);
            t.copy_async(kept, d, 5000, s);
            t.ret(t.blocks(*gate, || aclrtFreeHostWithDevSync(h)));
            t.same_bytes(&host_read(kept, 5000), &bytes, "the copy queued last");
            t.fails(aclrtFreeHost(h), ERROR_PARAM, "second release");
        }),
    ]
}

/// A body that holds under every schedule: work on two streams, ordered by an
/// event, with functions of the program, asked for and waited for.
fn every_schedule(t: &T) {
    let (a, b) = (t.stream(), t.stream());
    let e = t.event_ex(ACL_EVENT_SYNC);
    let ((h, bytes), (back, _)) = (t.pinned(5000), t.pinned(5000));
    let (d, _) = t.filled(5000);
    for _ in 0..20 {
        let first = t.counted(a);
        t.copy_async(d, h, 5000, a);
        t.record(e, a);
        t.wait_event(b, e);
        t.copy_async(back, d, 5000, b);
        let look = Look::new(back, &bytes);
        look.launch(t, b);
        t.sync(b);
        t.eq(look.outcome(), Some(true), "the copy before the function");
        t.eq(first.calls(), 1, "calls of the first function");
        t.check(t.is_idle(a) && t.is_idle(b), "a stream is not idle");
        let code = aclrtMemsetAsync(d, 5000, 0, 5000, a);
        t.ok(code, "aclrtMemsetAsync");
        t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
        t.holds(d, &[0; 5000], "the block after the fill");
        host_write(back, &[1; 5000]);
    }
}

/// A body that holds under every schedule: a function of the program that
/// waits for the thread that waits for it, with a limit.
fn function_that_waits_for_the_caller(t: &T) {
    let s = t.stream();
    let gate = Gate::closed();
    t.host_function(s, Gate::function(), gate.data());
    t.check(!t.is_idle(s), "the blocked stream is idle");
    let code = aclrtSynchronizeStreamWithTimeout(s, 20);
    t.fails(code, 507_046, "aclrtSynchronizeStreamWithTimeout");
    let code = aclrtSynchronizeDeviceWithTimeout(20);
    t.fails(code, 507_046, "aclrtSynchronizeDeviceWithTimeout");
    gate.open();
    t.sync(s);
    t.check(t.is_idle(s), "the stream is not idle");
}

fn scheduled(name: &str) -> Setup {
    Setup::device0().env("CANNERY_SCHEDULE", name)
}

fn own() -> Vec<Case> {
    vec![
        case("x.schedule.order.fifo", scheduled("fifo"), every_schedule),
        case("x.schedule.order.eager", scheduled("eager"), every_schedule),
        case("x.schedule.order.lazy", scheduled("lazy"), every_schedule),
        case(
            "x.schedule.order.random",
            scheduled("random:7"),
            every_schedule,
        ),
        case(
            "x.schedule.limit.fifo",
            scheduled("fifo"),
            function_that_waits_for_the_caller,
        ),
        case(
            "x.schedule.limit.eager",
            scheduled("eager"),
            function_that_waits_for_the_caller,
        ),
        case(
            "x.schedule.limit.lazy",
            scheduled("lazy"),
            function_that_waits_for_the_caller,
        ),
        case(
            "x.schedule.limit.random",
            scheduled("random:7"),
            function_that_waits_for_the_caller,
        ),
        case("x.schedule.lazy_holds_work", scheduled("lazy"), |t| {
            let s = t.stream();
            let counter = t.counted(s);
            let (h, bytes) = t.pinned(64);
            let (d, before) = t.filled(64);
            t.copy_async(d, h, 64, s);
            counter.stays_uncalled(t, "calls before anybody waits");
            t.holds(d, &before, "destination before anybody waits");
            t.sync(s);
            t.eq(counter.calls(), 1, "calls afterwards");
            t.holds(d, &bytes, "destination afterwards");
        }),
        case("x.schedule.eager_runs_in_submit", scheduled("eager"), |t| {
            let s = t.stream();
            let (h, bytes) = t.pinned(64);
            let (d, _) = t.filled(64);
            t.copy_async(d, h, 64, s);
            t.holds(d, &bytes, "destination right after the call");
            t.check(t.is_idle(s), "the stream is not idle right after the call");
        }),
        case(
            "x.schedule.bad_value",
            Setup::fresh().env("CANNERY_SCHEDULE", "random:"),
            |t| {
                let code = aclInit(null());
                t.fails(code, ERROR_FRONT, "aclInit");
            },
        ),
        case("x.stream.timeouts.bad", Setup::device0(), |t| {
            let s = t.stream();
            for timeout in [0, -2, i32::MIN] {
                let code = aclrtSynchronizeStreamWithTimeout(s, timeout);
                t.fails(code, ERROR_PARAM, &format!("stream, {timeout} ms"));
                let code = aclrtSynchronizeDeviceWithTimeout(timeout);
                t.fails(code, ERROR_PARAM, &format!("device, {timeout} ms"));
            }
            let code = aclrtSynchronizeStreamWithTimeout(s, -1);
            t.ok(code, "no limit on an idle stream");
            let code = aclrtSynchronizeStreamWithTimeout(s, 1);
            t.ok(code, "1 ms on an idle stream");
        }),
        case("x.stream.independent_streams", Setup::device0(), |t| {
            // 64 streams that cannot go on before the last one has run.
            let streams: Vec<_> = (0..64).map(|_| t.stream()).collect();
            let gate = Gate::closed();
            let mut counters = Vec::new();
            for s in &streams[..63] {
                t.host_function(*s, Gate::function(), gate.data());
                counters.push(t.counted(*s));
            }
            let last = t.counted(streams[63]);
            t.sync(streams[63]);
            t.eq(last.calls(), 1, "calls on the last stream");
            t.check(
                counters.iter().all(|counter| counter.calls() == 0),
                "a function ran before the one in front of it returned",
            );
            gate.open();
            t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
            t.check(
                counters.iter().all(|counter| counter.calls() == 1),
                "a function did not run once",
            );
        }),
        case("x.stream.detached_answer_at_once", Setup::device0(), |t| {
            for flag in [ACL_STREAM_PERSISTENT, ACL_STREAM_CPU_SCHEDULE] {
                let mut s = SENTINEL;
                let code = aclrtCreateStreamWithConfig(&raw mut s, 0, flag);
                t.ok(code, &format!("stream with flag {flag:#x}"));
                t.ok(aclrtSynchronizeStream(s), "aclrtSynchronizeStream");
                t.check(t.is_idle(s), "aclrtStreamQuery");
            }
            let mut s = SENTINEL;
            let flags = ACL_STREAM_DEVICE_USE_ONLY | ACL_STREAM_FAST_SYNC;
            let code = aclrtCreateStreamWithConfig(&raw mut s, 0, flags);
            t.fails(code, ERROR_PARAM, "device-only with another flag");
            t.eq(s, SENTINEL, "output");
        }),
        case("x.stream.waits_in_many_threads", Setup::device0(), |t| {
            let s = t.stream();
            let gate = t.hold(s);
            let counter = t.counted(s);
            let handle = s as usize;
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(move || {
                        t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                        t.sync(addr(handle));
                        t.eq(counter.calls(), 1, "calls when the wait was over");
                    });
                }
                gate.open_later();
            });
        }),
    ]
}
