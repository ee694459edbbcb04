//! Events between the streams of a built model, and runs of captured models on such streams.

use super::graph::*;
use super::graph_control::times;
use super::support::*;

const NOT_BOUND: i64 = ACL_ERROR_RT_STREAM_MODEL as i64;
const ABORTED: i64 = ACL_ERROR_RT_MODEL_ABORT_NORMAL as i64;
/// Bytes of the sums.
const SUM: usize = MIB + 4096;

pub(super) fn cases() -> Vec<Case> {
    let mut list = Vec::new();
    orders(&mut list);
    loops(&mut list);
    models(&mut list);
    list.extend(ends());
    list
}

impl T {
    fn reset_event(&self, e: aclrtEvent, s: aclrtStream) {
        self.ok(aclrtResetEvent(e, s), "aclrtResetEvent");
    }

    /// Runs, in one of the two ways.
    fn run_in_turn(&self, model: aclmdlRI, s: aclrtStream, round: i32) {
        if round % 2 == 0 {
            self.run(model);
        } else {
            self.replay(model, s);
            self.sync(s);
        }
    }
}

/// What one bound stream makes another one uses.
fn hand_over(t: &T, decides: bool) {
    let (h, _) = t.pinned(LEN);
    let (out, untouched) = t.pinned(LEN);
    let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
    let b = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
    let c = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
    let model = t.build();
    let (s, r, q) = (t.persistent(), t.persistent(), t.persistent());
    for own in [q, r, s] {
        t.bind(model, own);
    }
    if decides {
        t.decide(model);
    }
    let (e, f) = (t.event_ex(ACL_EVENT_SYNC), t.event_with(ACL_EVENT_SYNC));
    t.copy_async(a, h, LEN, s);
    t.record(e, s);
    t.wait_event(r, e);
    t.copy_async(b, a, LEN, r);
    t.record(f, r);
    // Recorded anew: what waits from now on waits for that.
    t.wait_event(s, f);
    t.fill(a, 7, s);
    t.record(e, s);
    t.wait_event(q, e);
    t.wait_event(q, f);
    t.copy_async(c, a, LEN, q);
    t.copy_async(out, b, LEN, q);
    for event in [e, f] {
        t.ok(aclrtDestroyEvent(event), "aclrtDestroyEvent");
    }
    t.build_end(model);
    t.same_bytes(&host_read(out, LEN), &untouched, "before the first run");
    let other = t.stream();
    for round in 0..8 {
        let bytes = t.refill(h);
        t.ok(aclrtMemset(c, LEN, 0, LEN), "aclrtMemset");
        t.run_in_turn(model, other, round);
        t.same_bytes(
            &host_read(out, LEN),
            &bytes,
            "what went through two streams",
        );
        t.holds(c, &vec![7; LEN], "what was recorded last");
    }
    t.destroy_model(model);
}

fn orders(list: &mut Vec<Case>) {
    under_schedules!(list, "x.graph.event.hand_over", |t| hand_over(t, false));
    under_schedules!(list, "x.graph.event.hand_over_in_walks", |t| hand_over(
        t, true
    ));
    under_schedules!(list, "x.graph.event.of_a_later_stream", |t| {
        // Its record comes when another stream has let it begin; what came before on a stream is behind its own waits.
        let (h, _) = t.pinned(LEN);
        let (out, _) = t.pinned(LEN);
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let (e, own) = (t.event_ex(ACL_EVENT_SYNC), t.event_ex(ACL_EVENT_SYNC));
        let (zero, label) = (t.words(&[0]), t.label());
        let one = t.label_list(&mut [label]);
        let model = t.build();
        let (s, r) = (t.persistent(), t.persistent());
        t.bind(model, s);
        t.bind_later(model, r);
        t.copy_async(a, h, LEN, r);
        t.record(e, r);
        t.ok(aclrtActiveStream(r, s), "aclrtActiveStream");
        // Passed over, and waited for on the same stream.
        t.jump(zero, 1, one, s);
        t.record(own, s);
        t.set_label(label, s);
        t.wait_event(s, own);
        t.wait_event(s, e);
        t.copy_async(out, a, LEN, s);
        t.build_end(model);
        let other = t.stream();
        for round in 0..6 {
            let bytes = t.refill(h);
            t.run_in_turn(model, other, round);
            t.same_bytes(&host_read(out, LEN), &bytes, "what the later stream made");
        }
        t.destroy_model(model);
    });
}

fn loops(list: &mut Vec<Case>) {
    under_schedules!(list, "x.graph.event.loops_in_step", |t| {
        // Two loops on two streams: each waits for what the other one recorded in this turn, and lowers it.
        let (data, bytes) = t.filled(SUM);
        let sum = t.malloc(SUM, ACL_MEM_MALLOC_HUGE_FIRST);
        let total = t.malloc(SUM, ACL_MEM_MALLOC_HUGE_FIRST);
        let (left, right) = (t.words(&[0]), t.words(&[0]));
        let minus = t.words(&[-1]);
        let (e, f) = (t.event_with(ACL_EVENT_SYNC), t.event_with(ACL_EVENT_SYNC));
        let model = t.build();
        let (s, r) = (t.persistent(), t.persistent());
        t.bind(model, s);
        t.bind(model, r);
        let labels: Vec<_> = (0..4).map(|_| t.label()).collect();
        for p in [sum, total] {
            t.ok(aclrtMemsetAsync(p, SUM, 0, SUM, s), "aclrtMemsetAsync");
        }
        t.set_label(labels[0], s);
        t.add(sum, data, SUM, s);
        t.record(e, s);
        t.set_label(labels[2], r);
        t.wait_event(r, e);
        t.reset_event(e, r);
        t.add(total, sum, SUM, r);
        t.record(f, r);
        t.wait_event(s, f);
        t.reset_event(f, s);
        for (own, count, at) in [(s, left, 0), (r, right, 2)] {
            t.add(count, minus, 4, own);
            let both = t.label_list(&mut [labels[at + 1], labels[at]]);
            t.jump(count, 2, both, own);
            t.set_label(labels[at + 1], own);
        }
        t.build_end(model);
        let other = t.stream();
        for turns in [1, 2, 3, 20, 5] {
            t.put_words(left, &[turns]);
            t.put_words(right, &[turns]);
            t.run_in_turn(model, other, turns);
            t.holds(sum, &times(&bytes, turns), "the sum");
            let want = times(&bytes, turns * (turns + 1) / 2);
            t.holds(total, &want, "the sums of all turns");
        }
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.event.once_in_a_run", |t| {
        // A record that nobody lowers stands for the rest of its run, and for no other run.
        let (h, _) = t.pinned(SUM);
        let a = t.malloc(SUM, ACL_MEM_MALLOC_HUGE_FIRST);
        let sum = t.malloc(SUM, ACL_MEM_MALLOC_HUGE_FIRST);
        let (count, three, minus) = (t.words(&[0]), t.words(&[3]), t.words(&[-1]));
        let e = t.event_ex(ACL_EVENT_SYNC);
        let model = t.build();
        let (s, r) = (t.persistent(), t.persistent());
        t.bind(model, r);
        t.bind(model, s);
        t.copy_async(a, h, SUM, s);
        t.record(e, s);
        let (top, end) = (t.label(), t.label());
        let both = t.label_list(&mut [end, top]);
        t.ok(aclrtMemsetAsync(sum, SUM, 0, SUM, r), "aclrtMemsetAsync");
        t.copy_async(count, three, 4, r);
        t.set_label(top, r);
        t.wait_event(r, e);
        t.add(sum, a, SUM, r);
        t.add(count, minus, 4, r);
        t.jump(count, 2, both, r);
        t.set_label(end, r);
        t.build_end(model);
        let other = t.stream();
        for _ in 0..5 {
            let bytes = t.random_bytes(SUM);
            host_write(h, &bytes);
            // The second one must not take the record of the first.
            t.replay(model, other);
            t.ok(aclrtMemsetAsync(a, SUM, 1, SUM, other), "aclrtMemsetAsync");
            t.replay(model, other);
            t.sync(other);
            t.holds(sum, &times(&bytes, 3), "three times what was copied");
        }
        t.destroy_model(model);
    });
}

/// A captured model that adds `data` to `sum` on another stream, if a condition holds, and `sum` to `total`.
fn inner(t: &T, data: *mut c_void, sum: *mut c_void, total: *mut c_void) -> aclmdlRI {
    let (s, r) = (t.stream(), t.stream());
    t.model(s, || {
        t.link(s, r);
        let (handle, _) = t.condition(s, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT);
        let body = t.choice(handle, ACL_MODEL_RI_COND_TYPE_IF, 1, r)[0];
        t.fill_body(body, |own| t.add(sum, data, SUM, own));
        t.link(r, s);
        t.add(total, sum, SUM, s);
    })
}

fn inner_runs(t: &T, decides: bool) {
    let (data, bytes) = t.filled(SUM);
    let sum = t.malloc(SUM, ACL_MEM_MALLOC_HUGE_FIRST);
    let total = t.malloc(SUM, ACL_MEM_MALLOC_HUGE_FIRST);
    let (count, minus) = (t.words(&[0]), t.words(&[-1]));
    let inner = inner(t, data, sum, total);
    let model = t.build();
    let (first, s) = (t.persistent(), t.persistent());
    t.bind(model, first);
    t.bind(model, s);
    let e = t.event_ex(ACL_EVENT_SYNC);
    for p in [sum, total] {
        t.ok(aclrtMemsetAsync(p, SUM, 0, SUM, first), "aclrtMemsetAsync");
    }
    t.record(e, first);
    t.wait_event(s, e);
    if decides {
        let (top, end) = (t.label(), t.label());
        let both = t.label_list(&mut [end, top]);
        t.set_label(top, s);
        t.replay(inner, s);
        t.add(count, minus, 4, s);
        t.jump(count, 2, both, s);
        t.set_label(end, s);
    } else {
        t.replay(inner, s);
    }
    t.build_end(model);
    let other = t.stream();
    for turns in [1, 3, 7, 2] {
        let turns = if decides { turns } else { 1 };
        t.put_words(count, &[turns]);
        t.run_in_turn(model, other, turns);
        t.holds(sum, &times(&bytes, turns), "the sum");
        let want = times(&bytes, turns * (turns + 1) / 2);
        t.holds(total, &want, "what the side handed over");
        if turns == 3 {
            // The built one has the work of the captured one, and needs it no more.
            t.destroy_model(inner);
        }
    }
    // Two runs behind each other.
    t.put_words(count, &[1]);
    t.replay(model, other);
    let one = t.words(&[1]);
    t.copy_async(count, one, 4, other);
    t.replay(model, other);
    t.sync(other);
    t.holds(total, &bytes, "the second of two runs");
    t.destroy_model(model);
}

fn models(list: &mut Vec<Case>) {
    under_schedules!(list, "x.graph.build.captured_model", |t| inner_runs(
        t, false
    ));
    under_schedules!(list, "x.graph.build.captured_model_in_walks", |t| {
        inner_runs(t, true)
    });
    under_schedules!(list, "x.graph.build.captured_model_cleaned", |t| {
        // The branches of a model go with the stream that it was given to.
        let (data, _) = t.filled(SUM);
        let (sum, old) = t.filled(SUM);
        let model = t.build();
        let s = t.persistent();
        t.bind(model, s);
        let inner = inner(t, data, sum, data);
        t.replay(inner, s);
        t.build_end(model);
        t.eq(t.tasks(s).len(), 1, "tasks of the stream");
        t.ok(aclrtPersistentTaskClean(s), "aclrtPersistentTaskClean");
        t.run(model);
        t.holds(sum, &old, "after a run without its tasks");
        t.destroy_model(model);
        t.destroy_model(inner);
    });
    list.push(case(
        "x.graph.build.captured_model_aborted",
        Setup::device0(),
        |t| {
            // A run that ends, ends on the branches of a captured model, too.
            let (p, old) = t.filled(LEN);
            let n = t.notify();
            let (s, side) = (t.stream(), t.stream());
            let inner = t.model(s, || {
                t.link(s, side);
                let code = aclrtWaitAndResetNotify(n, side, 0);
                t.ok(code, "aclrtWaitAndResetNotify");
                t.fill(p, 4, side);
                t.link(side, s);
            });
            let model = t.build();
            let own = t.persistent();
            t.bind(model, own);
            t.decide(model);
            t.replay(inner, own);
            t.build_end(model);
            for by_model in [true, false, true] {
                t.replay(model, s);
                let late = aclrtSynchronizeStreamWithTimeout(s, 50);
                t.fails(late, TOO_LATE, "a run that waits");
                if by_model {
                    t.ok(aclmdlRIAbort(model), "aclmdlRIAbort");
                    t.fails(aclrtSynchronizeStream(s), ABORTED, "the aborted run");
                } else {
                    t.ok(aclrtStreamAbort(s), "aclrtStreamAbort");
                }
                t.holds(p, &old, "what the side had not begun");
            }
            t.ok(aclrtRecordNotify(n, side), "aclrtRecordNotify");
            t.run(model);
            t.holds(p, &vec![4; LEN], "the next run");
            t.destroy_model(model);
        },
    ));
}

fn ends() -> Vec<Case> {
    vec![
        case("x.graph.event.never_recorded", Setup::device0(), |t| {
            // A run that never comes to the record waits for it, until it is ended.
            let (p, old) = t.filled(LEN);
            let (index, skip, go) = (t.words(&[0]), t.label(), t.label());
            let both = t.label_list(&mut [skip, go]);
            let e = t.event_ex(ACL_EVENT_SYNC);
            let model = t.build();
            let (s, r) = (t.persistent(), t.persistent());
            t.bind(model, s);
            t.bind(model, r);
            t.jump(index, 2, both, s);
            t.set_label(go, s);
            t.record(e, s);
            t.set_label(skip, s);
            t.wait_event(r, e);
            t.fill(p, 4, r);
            t.build_end(model);
            let other = t.stream();
            t.replay(model, other);
            let late = aclrtSynchronizeStreamWithTimeout(other, 50);
            t.fails(late, TOO_LATE, "a run that waits");
            t.ok(aclmdlRIAbort(model), "aclmdlRIAbort");
            t.fails(aclrtSynchronizeStream(other), ABORTED, "the aborted run");
            t.holds(p, &old, "what is behind the wait");
            t.put_words(index, &[1]);
            t.run(model);
            t.holds(p, &vec![4; LEN], "a run that comes to the record");
            t.destroy_model(model);
        }),
        case("x.graph.event.refusals", Setup::device0(), |t| {
            let plain = t.stream();
            let (e, f) = (t.event_ex(ACL_EVENT_SYNC), t.event_with(ACL_EVENT_SYNC));
            t.record(f, plain);
            let (model, second) = (t.build(), t.build());
            let (s, r, other) = (t.persistent(), t.persistent(), t.persistent());
            t.bind(model, s);
            t.bind(model, r);
            t.bind(second, other);
            for event in [e, f] {
                let code = aclrtStreamWaitEvent(r, event);
                let tokens = "aclrtStreamWaitEventWithFlag bound stream";
                t.fails_with(code, DEPENDENCY, tokens, "no record in the model");
            }
            t.record(e, s);
            t.record(f, s);
            for (own, what) in [
                (plain, "an ordinary stream"),
                (null_mut(), "the default stream"),
                (other, "a stream of another model"),
            ] {
                for event in [e, f] {
                    let code = aclrtStreamWaitEvent(own, event);
                    let tokens = format!("stream {model:?} aclmdlRIBindStream");
                    t.fails_with(code, NOT_BOUND, &tokens, what);
                }
            }
            t.begin(plain, GLOBAL);
            let code = aclrtStreamWaitEvent(plain, e);
            t.fails(code, DEPENDENCY, "a captured stream");
            let captured = t.end(plain);
            let mut status = -77;
            let code = aclrtQueryEventStatus(e, &raw mut status);
            t.fails_with(code, EVENT_CAPTURED, "model", "the status");
            t.eq(status, -77, "output");
            let code = aclrtSynchronizeEvent(f);
            t.fails(code, EVENT_CAPTURED, "a wait of the host");
            t.wait_event(r, e);
            t.build_end(model);
            t.eq(
                t.tasks(r).len(),
                1,
                "tasks: those of the refused calls are none",
            );
            t.run(model);
            for event in [e, f] {
                t.record(event, plain);
                t.ok(
                    aclrtSynchronizeEvent(event),
                    "an event outside of the model",
                );
            }
            // The wait stays when the stream of the record is emptied, and waits for nothing.
            t.ok(aclrtPersistentTaskClean(s), "aclrtPersistentTaskClean");
            t.run(model);
            t.decide_with(model, s, r);
            t.destroy_model(model);
            t.destroy_model(captured);
            t.record(e, other);
            t.destroy_model(second);
            t.eq(
                t.event_status(e),
                ACL_EVENT_RECORDED_STATUS_COMPLETE,
                "an event whose model ended before it was built",
            );
        }),
    ]
}

impl T {
    /// Fills the emptied stream `s` again, now so that runs decide.
    fn decide_with(&self, model: aclmdlRI, s: aclrtStream, r: aclrtStream) {
        let (p, _) = self.filled(LEN);
        let (zero, label) = (self.words(&[0]), self.label());
        let one = self.label_list(&mut [label]);
        let e = self.event_ex(ACL_EVENT_SYNC);
        self.set_label(label, s);
        self.fill(p, 3, s);
        self.record(e, s);
        self.run(model);
        self.holds(p, &vec![3; LEN], "a run of what was given later");
        self.ok(aclrtPersistentTaskClean(r), "aclrtPersistentTaskClean");
        self.wait_event(r, e);
        self.fill(p, 4, r);
        self.run(model);
        self.holds(
            p,
            &vec![4; LEN],
            "a run that waits for what was given later",
        );
        // Of a record that is no more.
        self.ok(aclrtPersistentTaskClean(s), "aclrtPersistentTaskClean");
        self.fails(
            aclrtStreamWaitEvent(r, e),
            DEPENDENCY,
            "a record that was taken out",
        );
        self.jump(zero, 1, one, s);
        self.set_label(label, s);
        self.run(model);
        self.holds(p, &vec![4; LEN], "a run that decides, without the record");
    }
}
