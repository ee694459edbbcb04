//! What captures forbid, to whom, and what that does to them.

use super::graph::*;
use super::support::*;

type Call = Box<dyn Fn() -> aclError>;

/// Every call that waits for the device, by name.
fn unsafe_calls(t: &T) -> Vec<(&'static str, Call)> {
    let d = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST) as usize;
    let h = t.malloc_host(LEN) as usize;
    let kind = ACL_MEMCPY_HOST_TO_DEVICE;
    vec![
        (
            "aclrtMemcpy",
            Box::new(move || aclrtMemcpy(addr(d), LEN, addr(h), LEN, kind)),
        ),
        (
            "aclrtMemset",
            Box::new(move || aclrtMemset(addr(d), LEN, 7, LEN)),
        ),
        (
            "aclrtMemcpy2d",
            Box::new(move || aclrtMemcpy2d(addr(d), 1000, addr(h), 1000, 500, 1000, kind)),
        ),
        ("aclrtSynchronizeDevice", Box::new(aclrtSynchronizeDevice)),
    ]
}

fn exchange(t: &T, mode: aclmdlRICaptureMode) -> aclmdlRICaptureMode {
    let mut place = mode;
    let code = aclmdlRICaptureThreadExchangeMode(&raw mut place);
    t.ok(code, "aclmdlRICaptureThreadExchangeMode");
    place
}

/// Whether a synchronous copy of another thread goes through, while a stream is captured by this one.
fn others_copy(t: &T, capture: aclmdlRICaptureMode, thread: aclmdlRICaptureMode) -> i64 {
    let s = t.stream();
    let (p, old) = t.filled(LEN);
    let new = t.random_bytes(LEN);
    t.begin(s, capture);
    let code = on_thread(|| {
        t.ok(aclrtSetDevice(0), "aclrtSetDevice");
        exchange(t, thread);
        let code = aclrtMemcpy(p, LEN, src(&new), LEN, ACL_MEMCPY_HOST_TO_DEVICE);
        if code != 0 {
            let text = t.pending_text("the refused copy");
            t.check(
                text.contains("aclrtMemcpy"),
                &format!("the text is {text:?}"),
            );
        }
        i64::from(code)
    });
    if code == 0 {
        let model = t.end(s);
        t.destroy_model(model);
        t.holds(p, &new, "memory after an allowed copy");
    } else {
        t.end_fails(
            s,
            INVALIDATED,
            "aclrtMemcpy",
            "the end of a disturbed capture",
        );
        t.holds(p, &old, "memory after a refused copy");
    }
    code
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = modes();
    cases.extend(field());
    cases
}

fn modes() -> Vec<Case> {
    vec![
        case("x.graph.modes.own_thread", Setup::device0(), |t| {
            for (name, call) in unsafe_calls(t) {
                for mode in [GLOBAL, THREAD_LOCAL] {
                    let s = t.stream();
                    t.begin(s, mode);
                    t.fails_with(call(), MODE, name, name);
                    t.end_fails(s, INVALIDATED, name, "the end");
                }
                let s = t.stream();
                t.begin(s, RELAXED);
                t.ok(call(), name);
                t.eq(
                    t.capture_status(s),
                    ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE,
                    "status",
                );
                let model = t.end(s);
                t.destroy_model(model);
                t.ok(call(), "afterwards");
            }
        }),
        case("x.graph.modes.other_threads", Setup::device0(), |t| {
            let table = [
                (GLOBAL, GLOBAL, MODE),
                (GLOBAL, THREAD_LOCAL, 0),
                (GLOBAL, RELAXED, 0),
                (THREAD_LOCAL, GLOBAL, 0),
                (THREAD_LOCAL, THREAD_LOCAL, 0),
                (RELAXED, GLOBAL, 0),
            ];
            for (capture, thread, want) in table {
                let what = format!("a copy beside a capture in mode {capture}, thread in {thread}");
                t.eq(others_copy(t, capture, thread), want, &what);
            }
        }),
        case("x.graph.modes.exchange", Setup::device0(), |t| {
            t.eq(exchange(t, RELAXED), GLOBAL, "the first mode");
            t.eq(exchange(t, THREAD_LOCAL), RELAXED, "the mode before");
            for bad in [-1, 3] {
                let mut place = bad;
                let code = aclmdlRICaptureThreadExchangeMode(&raw mut place);
                t.fails_with(code, ERROR_FRONT, "mode", "a mode that does not exist");
                t.eq(place, bad, "output");
            }
            let others = on_thread(|| exchange(t, RELAXED));
            t.eq(others, GLOBAL, "another thread has its own mode");
            // A relaxed thread may do anything, in its own capture too.
            t.eq(
                exchange(t, RELAXED),
                THREAD_LOCAL,
                "refused calls changed nothing",
            );
            let s = t.stream();
            t.begin(s, GLOBAL);
            for (name, call) in unsafe_calls(t) {
                t.ok(call(), name);
            }
            let model = t.end(s);
            t.destroy_model(model);
        }),
        case(
            "x.graph.modes.only_wrong_threads_end",
            Setup::device0(),
            |t| {
                for (mode, want) in [
                    (GLOBAL, WRONG_THREAD),
                    (THREAD_LOCAL, WRONG_THREAD),
                    (RELAXED, 0),
                ] {
                    let s = t.stream();
                    t.begin(s, mode);
                    let (code, model) = on_thread(|| {
                        t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                        let mut model = SENTINEL;
                        let code = aclmdlRICaptureEnd(s, &raw mut model);
                        (i64::from(code), model as usize)
                    });
                    t.eq(code, want, "the end by another thread");
                    if code == 0 {
                        t.destroy_model(addr(model));
                    } else {
                        t.eq(addr(model), SENTINEL, "output");
                        let model = t.end(s);
                        t.destroy_model(model);
                    }
                }
            },
        ),
        case("x.graph.modes.pageable_memory", Setup::device0(), |t| {
            let (p, old) = t.filled(LEN);
            let mut new = t.random_bytes(LEN);
            let up = ACL_MEMCPY_HOST_TO_DEVICE;
            let down = ACL_MEMCPY_DEVICE_TO_HOST;
            for mode in [GLOBAL, THREAD_LOCAL] {
                let s = t.stream();
                let why = format!("'pageable host memory' {s:?}");
                t.begin(s, mode);
                let code = aclrtMemcpyAsync(p, LEN, src(&new), LEN, up, s);
                t.fails(code, BLOCKING, "a copy from pageable memory");
                t.end_fails(s, INVALIDATED, &why, "the end");
                t.begin(s, mode);
                let before = new.clone();
                let code = aclrtMemcpyAsync(dst(&mut new), LEN, p, LEN, down, s);
                t.fails(code, BLOCKING, "a copy to pageable memory");
                t.end_fails(s, INVALIDATED, &why, "the end");
                t.same_bytes(&new, &before, "host memory");
                t.holds(p, &old, "memory");
            }
            let s = t.stream();
            t.begin(s, RELAXED);
            let code = aclrtMemcpyAsync(p, LEN, src(&new), LEN, up, s);
            t.ok(code, "a copy from pageable memory, relaxed");
            let model = t.end(s);
            t.holds(p, &old, "memory before the run");
            for _ in 0..3 {
                let bytes = t.random_bytes(LEN);
                new.copy_from_slice(&bytes);
                t.replay(model, s);
                t.sync(s);
                t.holds(p, &new, "a run reads what is there now");
            }
        }),
        case("x.graph.modes.runs_wait", Setup::device0(), |t| {
            // aclmdlRIExecute waits: it is as unsafe as any other call that does.
            let s = t.stream();
            let model = t.model(s, || {});
            t.begin(s, GLOBAL);
            t.fails(aclmdlRIExecute(model, -1), MODE, "aclmdlRIExecute");
            t.end_fails(s, INVALIDATED, "aclmdlRIExecute", "the end");
            t.ok(aclmdlRIExecute(model, -1), "aclmdlRIExecute afterwards");
        }),
        case(
            "x.graph.modes.what_cannot_be_repeated",
            Setup::device0(),
            |t| {
                // A call that no model can repeat is refused, or the capture says at its end that it is lost.
                let s = t.stream();
                let thread = super::gate::this_thread();
                t.ok(aclrtSubscribeReport(thread, s), "aclrtSubscribeReport");
                let counter = super::gate::Counter::new();
                t.begin(s, GLOBAL);
                let function = super::gate::Counter::function();
                let code = aclrtLaunchCallback(function, counter.data(), ACL_CALLBACK_BLOCK, s);
                if code != 0 {
                    t.fails(code, ERROR_UNSUPPORTED, "aclrtLaunchCallback");
                    t.destroy_model(t.end(s));
                } else {
                    t.end_fails(
                        s,
                        INVALIDATED,
                        "'kind \"callback\"' 'before or after the capture'",
                        "the end",
                    );
                }
                t.eq(counter.calls(), 0, "calls");
            },
        ),
    ]
}

/// Field case: synchronous calls during a capture.
fn field() -> Vec<Case> {
    let mut list = Vec::new();
    under_schedules!(list, "x.graph.modes.a_thousand_refusals", |t| {
        let s = t.stream();
        let (d, old) = t.filled(LEN);
        let h = t.random_bytes(LEN);
        t.begin(s, GLOBAL);
        for _ in 0..1001 {
            let code = aclrtMemcpy(d, LEN, src(&h), LEN, ACL_MEMCPY_HOST_TO_DEVICE);
            t.fails_with(code, MODE, "aclrtMemcpy RELAXED", "a copy");
        }
        t.fails(aclrtMemset(d, LEN, 0, LEN), MODE, "a fill");
        t.end_fails(s, INVALIDATED, "aclrtMemcpy", "the end");
        t.holds(d, &old, "memory");
        // Another thread beside a capture that is of its thread alone.
        t.begin(s, THREAD_LOCAL);
        on_thread(|| {
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            t.upload(d, &h);
        });
        let model = t.end(s);
        t.holds(d, &h, "memory after the copy of another thread");
        t.destroy_model(model);
    });
    list
}
