//! Models of several streams: forks and joins, events of the program, models in models, captures that go on.

use super::gate::*;
use super::graph::*;
use super::support::*;

const EXTERNAL: u32 = ACL_EVENT_RECORD_EXTERNAL;

pub(super) fn cases() -> Vec<Case> {
    let mut list = Vec::new();
    forks(&mut list);
    external(&mut list);
    nested(&mut list);
    list.extend(parallel());
    list
}

fn forks(list: &mut Vec<Case>) {
    under_schedules!(list, "x.graph.streams.fork_and_join", |t| {
        let s = t.stream();
        let sides: Vec<aclrtStream> = (0..4).map(|_| t.stream()).collect();
        let (h, _) = t.pinned(LEN);
        let (out, _) = t.pinned(LEN * 4);
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let all = t.malloc(LEN * 4, ACL_MEM_MALLOC_HUGE_FIRST);
        let model = t.model(s, || {
            t.copy_async(a, h, LEN, s);
            for (i, side) in sides.iter().enumerate() {
                t.link(s, *side);
                t.copy_async(off(all, i * LEN), a, LEN, *side);
            }
            // A chain: each side waits for the one before it as well.
            for pair in sides.windows(2) {
                t.link(pair[0], pair[1]);
                t.eq(
                    t.capture_status(pair[1]),
                    ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE,
                    "status of a side",
                );
            }
            t.link(sides[3], s);
            t.copy_async(out, all, LEN * 4, s);
        });
        for side in &sides {
            t.eq(
                t.capture_status(*side),
                ACL_MODEL_RI_CAPTURE_STATUS_NONE,
                "status of a side afterwards",
            );
        }
        for _ in 0..6 {
            let bytes = t.refill(h);
            t.replay(model, s);
            t.sync(s);
            let all = host_read(out, LEN * 4);
            for part in all.chunks(LEN) {
                t.same_bytes(part, &bytes, "what a side copied");
            }
        }
        // Its own streams are ordinary ones, and may go.
        for side in sides {
            t.ok(aclrtDestroyStream(side), "aclrtDestroyStream");
        }
        let bytes = t.refill(h);
        t.replay(model, s);
        t.sync(s);
        t.same_bytes(
            &host_read(out, LEN),
            &bytes,
            "without the streams of the capture",
        );
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.streams.runs_in_a_row", |t| {
        // Queued without waiting: the side of one run does not run ahead of the next.
        let (s, r) = (t.stream(), t.stream());
        let n = 20;
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let b = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let (h, mut bytes) = t.pinned(LEN);
        let function = t.add_kernel();
        let add = |at, s| {
            let args = super::kernel::AddArgs {
                at,
                bytes: LEN as u64,
                addend: 1,
            };
            t.ok(t.launch_add(function, 2, args, s), "a kernel");
        };
        let model = t.model(s, || {
            add(a, s);
            t.link(s, r);
            t.copy_async(b, a, LEN, r);
            add(b, r);
            t.link(r, s);
            t.copy_async(a, b, LEN, s);
        });
        t.copy_async(a, h, LEN, s);
        for _ in 0..n {
            t.replay(model, s);
        }
        t.sync(s);
        for byte in &mut bytes {
            *byte = byte.wrapping_add(2 * n);
        }
        t.holds(a, &bytes, "after all runs");
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.streams.failing_side", |t| {
        // A task that fails on another branch is told where the model ran.
        let (s, r) = (t.stream(), t.stream());
        let places = t.malloc(16, ACL_MEM_MALLOC_NORMAL_ONLY);
        t.upload(places, &[0; 16]);
        let (p, _) = t.filled(LEN);
        let model = t.model(s, || {
            t.link(s, r);
            let kind = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
            let from = off(places, 8).cast();
            let code = aclrtMemcpyAsyncWithOffset(places.cast(), 8, 0, from, 8, 0, kind, r);
            t.ok(code, "aclrtMemcpyAsyncWithOffset");
            t.ok(aclrtMemsetAsync(p, LEN, 3, LEN, r), "aclrtMemsetAsync");
            t.link(r, s);
        });
        for _ in 0..3 {
            t.replay(model, s);
            t.fails(aclrtSynchronizeStream(s), ERROR_PARAM, "synchronising");
            t.fails(aclmdlRIExecute(model, -1), ERROR_PARAM, "aclmdlRIExecute");
            t.sync(s);
        }
        t.holds(p, &vec![3; LEN], "the tasks behind it ran");
        t.destroy_model(model);
    });
}

fn external(list: &mut Vec<Case>) {
    under_schedules!(list, "x.graph.streams.external_record", |t| {
        let (s, r) = (t.stream(), t.stream());
        let e = t.event_ex(ACL_EVENT_SYNC);
        let (h, _) = t.pinned(LEN);
        let (out, _) = t.pinned(LEN);
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let model = t.model(s, || {
            t.copy_async(a, h, LEN, s);
            let code = aclrtRecordEventWithFlag(e, s, EXTERNAL);
            t.ok(code, "aclrtRecordEventWithFlag");
        });
        // Nobody recorded it yet.
        t.ok(aclrtSynchronizeEvent(e), "an event of nobody");
        for _ in 0..6 {
            let bytes = t.refill(h);
            t.replay(model, s);
            t.wait_event(r, e);
            t.copy_async(out, a, LEN, r);
            t.sync(r);
            t.same_bytes(&host_read(out, LEN), &bytes, "behind the event of the run");
            t.ok(aclrtSynchronizeEvent(e), "the event");
            t.sync(s);
        }
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.streams.external_wait", |t| {
        let (s, r) = (t.stream(), t.stream());
        let e = t.event_ex(ACL_EVENT_SYNC);
        let (h, _) = t.pinned(LEN);
        let (out, _) = t.pinned(LEN);
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let model = t.model(s, || {
            let code = aclrtStreamWaitEventWithFlag(s, e, 0, EXTERNAL);
            t.ok(code, "aclrtStreamWaitEventWithFlag");
            t.copy_async(out, a, LEN, s);
        });
        for _ in 0..6 {
            let bytes = t.refill(h);
            t.copy_async(a, h, LEN, r);
            t.record(e, r);
            t.replay(model, s);
            t.sync(s);
            t.same_bytes(
                &host_read(out, LEN),
                &bytes,
                "behind the event of the program",
            );
        }
        t.destroy_model(model);
    });
    list.push(case(
        "x.graph.streams.external_rules",
        Setup::device0(),
        |t| {
            let s = t.stream();
            let plain = t.event_with(ACL_EVENT_SYNC);
            let used = t.event_ex(ACL_EVENT_SYNC);
            let new = t.event_ex(ACL_EVENT_SYNC);
            t.record(used, s);
            t.begin(s, GLOBAL);
            let code = aclrtRecordEventWithFlag(plain, s, EXTERNAL);
            t.fails(code, ERROR_UNSUPPORTED, "a plain event");
            let code = aclrtRecordEventWithFlag(used, s, EXTERNAL);
            t.fails(code, ERROR_PARAM, "an event that was used without the flag");
            let code = aclrtRecordEventWithFlag(new, s, 2);
            t.fails(code, ERROR_PARAM, "a flag that does not exist");
            let code = aclrtStreamWaitEventWithFlag(s, new, 1, EXTERNAL);
            t.fails_with(code, ERROR_FRONT, "timeout", "a timeout with the flag");
            t.ok(aclrtRecordEventWithFlag(new, s, EXTERNAL), "the flag");
            let model = t.end(s);
            let code = aclrtRecordEventWithFlag(new, s, EXTERNAL);
            t.fails(code, NOT_CAPTURED, "outside of a capture");
            let code = aclrtStreamWaitEventWithFlag(s, new, 0, EXTERNAL);
            t.fails(code, NOT_CAPTURED, "a wait outside of a capture");
            t.destroy_model(model);
        },
    ));
    under_schedules!(list, "x.graph.streams.event_reset", |t| {
        // A plain event that each run resets when it has seen it: the next run waits for the next record.
        let (s, r) = (t.stream(), t.stream());
        let e = t.event_with(ACL_EVENT_SYNC);
        let (h, _) = t.pinned(LEN);
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        t.record(e, r);
        t.sync(r);
        let model = t.model(s, || {
            t.copy_async(a, h, LEN, s);
            t.ok(aclrtResetEvent(e, s), "aclrtResetEvent");
        });
        for _ in 0..3 {
            t.record(e, r);
            t.sync(r);
            t.eq(
                t.event_status(e),
                ACL_EVENT_RECORDED_STATUS_COMPLETE,
                "before a run",
            );
            let bytes = t.refill(h);
            t.replay(model, s);
            t.sync(s);
            t.holds(a, &bytes, "memory");
            t.eq(
                t.event_status(e),
                ACL_EVENT_RECORDED_STATUS_NOT_READY,
                "after a run",
            );
        }
        t.destroy_model(model);
    });
}

fn nested(list: &mut Vec<Case>) {
    under_schedules!(list, "x.graph.streams.model_in_a_model", |t| {
        let (s, r) = (t.stream(), t.stream());
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let b = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let c = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let (h, _) = t.pinned(LEN);
        let (out, _) = t.pinned(LEN);
        let inner = t.model(s, || {
            t.copy_async(b, a, LEN, s);
            t.link(s, r);
            t.copy_async(c, b, LEN, r);
            t.link(r, s);
        });
        let outer = t.model(s, || {
            t.copy_async(a, h, LEN, s);
            t.replay(inner, s);
            t.copy_async(out, c, LEN, s);
            t.ok(aclrtMemsetAsync(c, LEN, 0, LEN, s), "aclrtMemsetAsync");
            t.replay(inner, s);
        });
        let untouched = host_read(out, LEN);
        t.sync(s);
        t.same_bytes(&host_read(out, LEN), &untouched, "before the first run");
        for round in 0..4 {
            let bytes = t.refill(h);
            t.replay(outer, s);
            t.sync(s);
            t.same_bytes(&host_read(out, LEN), &bytes, "the first inner run");
            t.holds(c, &bytes, "the second inner run");
            if round == 1 {
                // The outer one has the work of the inner one, and needs it no more.
                t.destroy_model(inner);
            }
        }
        t.destroy_model(outer);
    });
    under_schedules!(list, "x.graph.streams.capture_goes_on", |t| {
        let (s, r, q) = (t.stream(), t.stream(), t.stream());
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let b = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let (h, _) = t.pinned(LEN);
        let (out, _) = t.pinned(LEN);
        let model = t.model(s, || {
            t.copy_async(a, h, LEN, s);
            t.link(s, q);
            t.copy_async(b, a, LEN, q);
            t.link(q, s);
        });
        let code = aclmdlRICaptureToModelRIBegin(r, model, GLOBAL);
        t.ok(code, "aclmdlRICaptureToModelRIBegin");
        t.copy_async(out, b, LEN, r);
        t.eq(t.end(r), model, "the same model");
        for own in [s, r] {
            let bytes = t.refill(h);
            t.replay(model, own);
            t.sync(own);
            t.same_bytes(&host_read(out, LEN), &bytes, "both parts ran");
        }
        // Refused beginnings leave the model as it was.
        for bad in [-1, 3] {
            let code = aclmdlRICaptureToModelRIBegin(s, model, bad);
            t.fails(code, ERROR_FRONT, "a mode");
        }
        let code = aclmdlRICaptureToModelRIBegin(null_mut(), model, GLOBAL);
        t.fails(code, IMPLICIT, "the default stream");
        let bytes = t.refill(h);
        t.replay(model, s);
        t.sync(s);
        t.same_bytes(&host_read(out, LEN), &bytes, "afterwards");
        t.destroy_model(model);
    });
}

fn parallel() -> Vec<Case> {
    vec![
        case(
            "x.graph.streams.sides_run_in_parallel",
            Setup::device0(),
            |t| {
                // A side that stands still does not stop the other.
                let (s, r) = (t.stream(), t.stream());
                let gate = Gate::closed();
                let counter = Counter::new();
                let model = t.model(s, || {
                    t.link(s, r);
                    t.host_function(r, Gate::function(), gate.data());
                    t.host_function(s, Counter::function(), counter.data());
                    t.link(r, s);
                });
                t.replay(model, s);
                gate.reached(t);
                let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
                while counter.calls() == 0 && std::time::Instant::now() < until {
                    std::thread::yield_now();
                }
                t.eq(counter.calls(), 1, "calls beside the closed gate");
                t.check(!t.is_idle(s), "the run is over before its side");
                gate.open();
                t.sync(s);
            },
        ),
        case("x.graph.streams.late_event", Setup::device0(), |t| {
            // A run may wait for a record that is queued after it.
            let (s, r) = (t.stream(), t.stream());
            let e = t.event_ex(ACL_EVENT_SYNC);
            let (h, bytes) = t.pinned(LEN);
            let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
            let (out, untouched) = t.pinned(LEN);
            let model = t.model(s, || {
                let code = aclrtStreamWaitEventWithFlag(s, e, 0, EXTERNAL);
                t.ok(code, "aclrtStreamWaitEventWithFlag");
                t.copy_async(out, a, LEN, s);
            });
            let gate = t.hold(r);
            t.copy_async(a, h, LEN, r);
            t.record(e, r);
            t.replay(model, s);
            let counter = t.counted(s);
            counter.stays_uncalled(t, "calls behind a run that waits");
            t.same_bytes(&host_read(out, LEN), &untouched, "while it waits");
            gate.open();
            t.sync(s);
            t.same_bytes(&host_read(out, LEN), &bytes, "afterwards");
        }),
    ]
}
