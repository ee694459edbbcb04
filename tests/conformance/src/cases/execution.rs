//! Timeouts of the process, ids of tasks, arguments of reductions.

use std::time::{Duration, Instant};

use super::support::*;

const ERROR_TASK_TIMEOUT: i64 = ACL_ERROR_RT_TASK_TIMEOUT as i64;
const ERROR_INTERNAL: i64 = ACL_ERROR_RT_INTERNAL_ERROR as i64;
const NO_U32: u32 = 0x5ea1_5ea1;
const NO_U64: u64 = 0x5ea1_5ea1_5ea1_5ea1;

/// The operator timeout reads this many milliseconds.
fn reads(t: &T, milliseconds: u32, what: &str) {
    let mut got = NO_U32;
    t.ok(aclrtGetOpExecuteTimeout(&raw mut got), what);
    t.eq(got, milliseconds, what);
}

/// No source has the figure.
fn reads_nothing(t: &T, what: &str) {
    let mut got = NO_U32;
    let code = aclrtGetOpExecuteTimeout(&raw mut got);
    t.fails(code, ERROR_UNSUPPORTED, what);
    t.eq(got, NO_U32, "output of a failed call");
}

/// Sets a number of microseconds that comes into force as it is, or as `want`.
fn sets_micros(t: &T, micros: u64, want: u64) {
    let mut actual = NO_U64;
    let code = aclrtSetOpExecuteTimeOutV2(micros, &raw mut actual);
    t.ok(code, &format!("aclrtSetOpExecuteTimeOutV2({micros})"));
    t.eq(actual, want, "timeout in force");
}

fn refuses_micros(t: &T, micros: u64) {
    let mut actual = NO_U64;
    let code = aclrtSetOpExecuteTimeOutV2(micros, &raw mut actual);
    let what = format!("aclrtSetOpExecuteTimeOutV2({micros})");
    t.fails(code, ERROR_UNSUPPORTED, &what);
    t.eq(actual, NO_U64, "output of a failed call");
}

/// A product whose default and maximum are stated, in seconds.
fn stated(t: &T, default: u32, maximum: u32) {
    reads(t, default * 1000, "default");
    t.ok(aclrtSetOpExecuteTimeOut(30), "aclrtSetOpExecuteTimeOut");
    reads(t, 30_000, "30 seconds");
    t.ok(aclrtSetOpExecuteTimeOut(maximum), "the maximum");
    reads(t, maximum * 1000, "the maximum");
    sets_micros(t, 1_234_567, 1_234_567);
    reads(t, 1235, "1234567 microseconds, rounded up");
    let code = aclrtSetOpExecuteTimeOut(maximum + 1);
    t.fails(code, ERROR_UNSUPPORTED, "above the maximum");
    let micros = u64::from(maximum) * 1_000_000;
    refuses_micros(t, micros + 1);
    reads(t, 1235, "after refused calls");
    sets_micros(t, 0, micros);
    reads(t, maximum * 1000, "0 microseconds");
    t.ok(aclrtSetOpExecuteTimeOut(1), "aclrtSetOpExecuteTimeOut");
    t.ok(aclrtSetOpExecuteTimeOut(0), "aclrtSetOpExecuteTimeOut");
    reads(t, maximum * 1000, "0 seconds");
}

/// A product whose maximum is not stated.
fn without_maximum(t: &T) {
    reads(t, 1_091_000, "default");
    refuses_micros(t, 0);
    reads(t, 1_091_000, "after a refused call");
    t.ok(aclrtSetOpExecuteTimeOut(7200), "aclrtSetOpExecuteTimeOut");
    reads(t, 7_200_000, "two hours");
    sets_micros(t, 1, 1);
    reads(t, 1, "one microsecond, rounded up");
    t.ok(aclrtSetOpExecuteTimeOut(0), "aclrtSetOpExecuteTimeOut");
    reads_nothing(t, "the maximum");
    t.ok(aclrtSetOpExecuteTimeOut(u32::MAX), "a very long time");
    reads_nothing(t, "more than 32 bits of milliseconds");
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = waits();
    cases.extend(operators());
    cases.extend(task_ids());
    cases.extend(reductions());
    cases
}

fn waits() -> Vec<Case> {
    vec![
        case("x.op_wait_timeout.expires", Setup::device0(), |t| {
            let (held, before, after) = (t.stream(), t.stream(), t.stream());
            let gate = t.hold(held);
            let e = t.event();
            t.record(e, held);
            t.wait_event(before, e);
            t.ok(aclrtSetOpWaitTimeout(1), "aclrtSetOpWaitTimeout");
            let began = Instant::now();
            t.wait_event(after, e);
            let counter = t.counted(after);
            t.ok(aclrtSetOpWaitTimeout(0), "aclrtSetOpWaitTimeout");
            t.wait_event(held, e);
            let code = aclrtSynchronizeStream(after);
            t.fails(code, ERROR_TASK_TIMEOUT, "the wait with a timeout");
            let took = began.elapsed();
            let second = Duration::from_secs(1);
            t.check(took >= second, &format!("it took {took:?}"));
            t.eq(counter.calls(), 1, "calls of the next task");
            t.check(!t.is_idle(before), "an earlier wait is over");
            gate.open();
            for s in [before, held, after] {
                t.sync(s);
            }
        }),
        case("x.op_wait_timeout.not_reached", Setup::device0(), |t| {
            t.ok(aclrtSetOpWaitTimeout(60), "aclrtSetOpWaitTimeout");
            let (held, s) = (t.stream(), t.stream());
            let gate = t.hold(held);
            let e = t.event();
            t.record(e, held);
            t.wait_event(s, e);
            let counter = t.counted(s);
            counter.stays_uncalled(t, "calls while the event is not reached");
            gate.open();
            t.sync(s);
            t.eq(counter.calls(), 1, "calls afterwards");
        }),
        case(
            "x.op_wait_timeout.product",
            Setup::device0().profile("310P"),
            |t| {
                let code = aclrtSetOpWaitTimeout(1);
                t.fails(code, ERROR_UNSUPPORTED, "aclrtSetOpWaitTimeout");
            },
        ),
    ]
}

fn operators() -> Vec<Case> {
    vec![
        case(
            "x.op_timeout.950",
            Setup::init().profile("950"),
            without_maximum,
        ),
        case(
            "x.op_timeout.a3",
            Setup::init().profile("A3"),
            without_maximum,
        ),
        case(
            "x.op_timeout.910b",
            Setup::init().profile("910B"),
            without_maximum,
        ),
        case("x.op_timeout.310b", Setup::init().profile("310B"), |t| {
            stated(t, 1091, 1091);
        }),
        case("x.op_timeout.310p", Setup::init().profile("310P"), |t| {
            stated(t, 547, 547);
        }),
        case("x.op_timeout.910", Setup::init().profile("910"), |t| {
            stated(t, 68, 2176);
        }),
        case(
            "x.op_timeout.ipv350",
            Setup::init().profile("IPV350"),
            |t| {
                t.ok(aclrtSetOpExecuteTimeOut(9), "aclrtSetOpExecuteTimeOut");
                reads_nothing(t, "a product without the getter");
                refuses_micros(t, 5);
            },
        ),
        case("x.op_timeout.refusals", Setup::init(), |t| {
            let mut interval = NO_U64;
            let code = aclrtGetOpTimeOutInterval(&raw mut interval);
            t.fails(code, ERROR_UNSUPPORTED, "the interval");
            t.eq(interval, NO_U64, "output of a failed call");
            let code = aclrtSetOpExecuteTimeOutWithMs(5);
            t.fails(code, ERROR_UNSUPPORTED, "milliseconds");
            reads(t, 1_091_000, "after refused calls");
            let nulls = [
                (aclrtSetOpExecuteTimeOutV2(5, null_mut()), "actualTimeout"),
                (aclrtGetOpExecuteTimeout(null_mut()), "timeoutMs"),
                (aclrtGetOpTimeOutInterval(null_mut()), "interval"),
            ];
            for (code, name) in nulls {
                t.eq(i64::from(code), ERROR_FRONT, name);
            }
            t.check(
                t.pending_text("a NULL place").contains("interval"),
                "the newest text names no parameter",
            );
        }),
    ]
}

/// Id of the last task of the calling thread.
fn last(t: &T) -> u32 {
    let mut id = NO_U32;
    t.ok(aclrtGetThreadLastTaskId(&raw mut id), "the last task");
    id
}

/// The calling thread has none.
fn has_none(t: &T, what: &str) {
    let mut id = NO_U32;
    let code = aclrtGetThreadLastTaskId(&raw mut id);
    t.fails(code, ERROR_INTERNAL, what);
    t.eq(id, NO_U32, "output of a failed call");
}

fn task_ids() -> Vec<Case> {
    vec![
        case("x.last_task.counts_per_stream", Setup::device0(), |t| {
            has_none(t, "before any task");
            t.counted(null_mut());
            t.sync(null_mut());
            has_none(t, "after a task of the default stream");
            let (s1, s2) = (t.stream(), t.stream());
            has_none(t, "after streams were made");
            for want in 0..3 {
                t.counted(s1);
                t.eq(last(t), want, "id on the first stream");
            }
            t.counted(s2);
            t.eq(last(t), 0, "id on the second stream");
            t.counted(null_mut());
            t.eq(last(t), 0, "id after another task of the default stream");
            t.record(t.event(), s1);
            t.eq(last(t), 3, "id of a record");
            let code = aclrtLaunchHostFunc(s1, None, null_mut());
            t.check(code != 0, "a task without a function");
            t.eq(last(t), 3, "id after a refused task");
            t.sync(s1);
            t.eq(last(t), 3, "id after the tasks are done");
        }),
        case("x.last_task.belongs_to_the_thread", Setup::device0(), |t| {
            let s = t.stream();
            t.counted(s);
            let context = t.context();
            on_thread(|| {
                has_none(t, "in another thread");
                t.ok(aclrtSetCurrentContext(context), "aclrtSetCurrentContext");
                t.counted(s);
                t.eq(last(t), 1, "id in another thread");
            });
            t.eq(last(t), 0, "id in this thread");
            t.sync(s);
        }),
        case("x.last_task.null", Setup::device0(), |t| {
            let code = aclrtGetThreadLastTaskId(null_mut());
            t.fails_with(code, ERROR_FRONT, "EH0008 param=taskId", "no place");
        }),
    ]
}

/// Queues a sum of floats on a new stream.
fn sum(t: &T, to: *mut c_void, from: *const c_void, bytes: u64, reserve: *mut c_void) -> aclError {
    let kind = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
    aclrtReduceAsync(to, from, bytes, kind, ACL_FLOAT, t.stream(), reserve)
}

fn reductions() -> Vec<Case> {
    vec![
        case("memory.reduce_async.null_dst", Setup::device0(), |t| {
            let (p, bytes) = t.filled(64);
            t.ret(sum(t, null_mut(), p, 64, null_mut()));
            t.holds(p, &bytes, "source");
        }),
        case("memory.reduce_async.reserve", Setup::device0(), |t| {
            let ((p, bytes), (q, _)) = (t.filled(64), t.filled(64));
            t.ret(sum(t, p, q, 64, addr(1)));
            t.holds(p, &bytes, "destination");
        }),
        case("memory.reduce_async.count_zero", Setup::device0(), |t| {
            let ((p, bytes), (q, _)) = (t.filled(64), t.filled(64));
            t.ret(sum(t, p, q, 0, null_mut()));
            t.holds(p, &bytes, "destination");
        }),
        case("x.reduce.sum", Setup::device0(), |t| {
            let floats = |all: [f32; 4]| all.map(f32::to_le_bytes).concat();
            let ((p, _), (q, _)) = (t.filled(16), t.filled(16));
            t.upload(p, &floats([1.0, -2.0, 0.5, 1e9]));
            t.upload(q, &floats([10.0, 2.0, 0.25, 1e9]));
            t.ok(sum(t, p, q, 16, null_mut()), "aclrtReduceAsync");
            t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
            t.holds(p, &floats([11.0, 0.0, 0.75, 2e9]), "sums");
            t.holds(q, &floats([10.0, 2.0, 0.25, 1e9]), "source");
        }),
    ]
}
