//! Models that are built from bound streams.

use super::gate::*;
use super::graph::*;
use super::support::*;

impl T {
    /// A stream that can be bound.
    pub(super) fn persistent(&self) -> aclrtStream {
        let mut s = SENTINEL;
        let code = aclrtCreateStreamWithConfig(&raw mut s, 0, ACL_STREAM_PERSISTENT);
        self.ok(code, "aclrtCreateStreamWithConfig");
        s
    }

    /// Waits for what the stream has, also where synchronising it does not.
    fn wait_for_record(&self, s: aclrtStream) {
        let e = self.event_ex(ACL_EVENT_SYNC);
        self.record(e, s);
        self.ok(aclrtSynchronizeEvent(e), "aclrtSynchronizeEvent");
    }

    /// A model that is being built.
    pub(super) fn build(&self) -> aclmdlRI {
        let mut model = SENTINEL;
        self.ok(aclmdlRIBuildBegin(&raw mut model, 0), "aclmdlRIBuildBegin");
        model
    }

    pub(super) fn bind(&self, model: aclmdlRI, s: aclrtStream) {
        self.ok(aclmdlRIBindStream(model, s, 0), "aclmdlRIBindStream");
    }

    pub(super) fn build_end(&self, model: aclmdlRI) {
        self.ok(aclmdlRIBuildEnd(model, null_mut()), "aclmdlRIBuildEnd");
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut list = Vec::new();
    built(&mut list);
    list
}

fn built(list: &mut Vec<Case>) {
    under_schedules!(list, "x.graph.build.two_streams", |t| {
        let (h, _) = t.pinned(LEN);
        let (out, untouched) = t.pinned(LEN * 2);
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let b = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let n = t.notify();
        let model = t.build();
        let (s, r) = (t.persistent(), t.persistent());
        t.bind(model, s);
        t.bind(model, r);
        t.copy_async(a, h, LEN, s);
        t.ok(aclrtRecordNotify(n, s), "aclrtRecordNotify");
        t.copy_async(out, a, LEN, s);
        t.ok(aclrtWaitAndResetNotify(n, r, 0), "aclrtWaitAndResetNotify");
        t.copy_async(b, a, LEN, r);
        t.copy_async(off(out, LEN), b, LEN, r);
        for own in [s, r] {
            t.ok(aclmdlRIEndTask(model, own), "aclmdlRIEndTask");
        }
        t.build_end(model);
        t.same_bytes(&host_read(out, LEN * 2), &untouched, "before the first run");
        let other = t.stream();
        for round in 0..6 {
            let bytes = t.refill(h);
            if round % 2 == 0 {
                t.ok(aclmdlRIExecute(model, 60_000), "aclmdlRIExecute");
            } else {
                t.replay(model, other);
                t.sync(other);
            }
            for part in host_read(out, LEN * 2).chunks(LEN) {
                t.same_bytes(part, &bytes, "a run");
            }
        }
        for own in [s, r] {
            t.ok(aclmdlRIUnbindStream(model, own), "aclmdlRIUnbindStream");
        }
        let bytes = t.refill(h);
        t.ok(aclmdlRIExecute(model, -1), "a run without its streams");
        t.same_bytes(
            &host_read(out, LEN),
            &bytes,
            "what it gave the model stays there",
        );
        t.destroy_model(model);
    });
    list.push(case("x.graph.build.refusals", Setup::device0(), |t| {
        let model = t.build();
        let s = t.persistent();
        let mut other = SENTINEL;
        t.fails(aclmdlRIBuildBegin(&raw mut other, 1), ERROR_FRONT, "flags");
        t.eq(other, SENTINEL, "output");
        t.fails(
            aclmdlRIBindStream(model, null_mut(), 0),
            ERROR_FRONT,
            "no stream",
        );
        t.fails(
            aclmdlRIBindStream(model, t.stream(), 0),
            ERROR_PARAM,
            "an ordinary stream",
        );
        t.fails(aclmdlRIBindStream(model, s, 3), ERROR_PARAM, "a flag");
        t.fails(
            aclmdlRIUnbindStream(model, s),
            ERROR_PARAM,
            "a stream that is not bound",
        );
        t.fails(
            aclmdlRIEndTask(model, s),
            ERROR_PARAM,
            "the end of its tasks",
        );
        t.bind(model, s);
        t.fails(
            aclmdlRIBindStream(model, s, 0),
            ERROR_PARAM,
            "a bound stream",
        );
        let second = t.build();
        t.fails(
            aclmdlRIBindStream(second, s, 0),
            ERROR_PARAM,
            "a stream of another model",
        );
        t.fails(
            aclmdlRIUnbindStream(second, s),
            ERROR_PARAM,
            "from another model",
        );
        let run = i64::from(ACL_ERROR_RT_MODEL_EXECUTE);
        t.fails(
            aclmdlRIExecute(model, -1),
            run,
            "a model that is being built",
        );
        t.fails(
            aclmdlRIBuildEnd(model, addr(1)),
            ERROR_FRONT,
            "a reserved argument",
        );
        t.build_end(model);
        t.fails(
            aclmdlRIBuildEnd(model, null_mut()),
            ERROR_PARAM,
            "the second end",
        );
        t.fails(
            aclmdlRIBindStream(model, t.persistent(), 0),
            ERROR_PARAM,
            "a stream too late",
        );
        let code = aclmdlRICaptureToModelRIBegin(t.stream(), model, GLOBAL);
        t.fails(code, MODEL_CAPTURED, "a capture into a built model");
        for timeout in [0, -2, i32::MIN] {
            t.fails(aclmdlRIExecute(model, timeout), ERROR_PARAM, "a timeout");
        }
        t.destroy_model(model);
        t.destroy_model(second);
    }));
    list.push(case(
        "x.graph.build.a_stream_changes_models",
        Setup::device0(),
        |t| {
            // The end of a model that a stream belonged to is nothing to the model that it belongs to now.
            let (p, bytes) = t.filled(LEN);
            let s = t.persistent();
            let (first, second) = (t.build(), t.build());
            t.bind(first, s);
            t.ok(aclmdlRIUnbindStream(first, s), "aclmdlRIUnbindStream");
            t.bind(second, s);
            t.destroy_model(first);
            t.ok(aclrtMemsetAsync(p, LEN, 4, LEN, s), "aclrtMemsetAsync");
            // Nothing waits for such a stream: time for it to go wrong.
            std::thread::sleep(HOLD);
            t.build_end(second);
            t.holds(p, &bytes, "memory before the run");
            t.ok(aclmdlRIExecute(second, -1), "aclmdlRIExecute");
            t.holds(p, &vec![4; LEN], "memory after the run");
            t.destroy_model(second);
            t.ok(aclrtMemsetAsync(p, LEN, 5, LEN, s), "aclrtMemsetAsync");
            t.wait_for_record(s);
            t.holds(p, &vec![5; LEN], "the stream is an ordinary one again");
        },
    ));
    list.push(case("x.graph.build.abort", Setup::device0(), |t| {
        let gate = Gate::closed();
        let (p, bytes) = t.filled(LEN);
        let s = t.persistent();
        let model = t.build();
        t.bind(model, s);
        t.host_function(s, Gate::function(), gate.data());
        t.ok(aclrtMemsetAsync(p, LEN, 4, LEN, s), "aclrtMemsetAsync");
        t.build_end(model);
        let code = aclmdlRIExecute(model, 20);
        t.fails(code, TOO_LATE, "a run that takes too long");
        gate.reached(t);
        t.ok(aclmdlRIAbort(model), "aclmdlRIAbort");
        gate.open();
        t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
        t.holds(p, &bytes, "memory after the abort");
        t.ok(aclmdlRIExecute(model, -1), "the next run");
        t.holds(p, &vec![4; LEN], "memory after the next run");
        let other = t.stream();
        let captured = t.model(other, || {});
        t.fails(
            aclmdlRIAbort(captured),
            ERROR_UNSUPPORTED,
            "a captured model",
        );
    }));
}
