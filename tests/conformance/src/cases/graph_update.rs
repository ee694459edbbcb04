//! Changing models: task groups, parameters of tasks, tasks that are left out.

use super::gate::*;
use super::graph::*;
use super::kernel::AddArgs;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut list = Vec::new();
    groups(&mut list);
    waiting(&mut list);
    list.extend(refusals());
    list.extend(parameters());
    list
}

impl T {
    /// Captures what `body` queues as a group.
    fn group(&self, s: aclrtStream, body: impl FnOnce()) -> aclrtTaskGrp {
        self.ok(
            aclmdlRICaptureTaskGrpBegin(s),
            "aclmdlRICaptureTaskGrpBegin",
        );
        body();
        let mut group = SENTINEL;
        let code = aclmdlRICaptureTaskGrpEnd(s, &raw mut group);
        self.ok(code, "aclmdlRICaptureTaskGrpEnd");
        group
    }

    /// Replaces the tasks of a group by what `body` queues.
    fn update(&self, s: aclrtStream, group: aclrtTaskGrp, body: impl FnOnce()) {
        let code = aclmdlRICaptureTaskUpdateBegin(s, group);
        self.ok(code, "aclmdlRICaptureTaskUpdateBegin");
        body();
        let code = aclmdlRICaptureTaskUpdateEnd(s);
        self.ok(code, "aclmdlRICaptureTaskUpdateEnd");
    }

    /// Parameters of a task.
    pub(super) fn params(&self, task: aclmdlRITask) -> aclmdlRITaskParams {
        let mut params = blank_params();
        let code = aclmdlRITaskGetParams(task, &raw mut params);
        self.ok(code, "aclmdlRITaskGetParams");
        let mut kind = -77;
        self.ok(
            aclmdlRITaskGetType(task, &raw mut kind),
            "aclmdlRITaskGetType",
        );
        self.eq(params.r#type, kind, "type in the parameters");
        params
    }
}

fn groups(list: &mut Vec<Case>) {
    under_schedules!(list, "x.graph.update.copies", |t| {
        let (s, u) = (t.stream(), t.stream());
        let (h, _) = t.pinned(LEN);
        let outs: Vec<*mut c_void> = (0..4).map(|_| t.pinned(LEN).0).collect();
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let b = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let mut group = null_mut();
        let model = t.model(s, || {
            t.copy_async(a, h, LEN, s);
            group = t.group(s, || {
                t.copy_async(outs[0], a, LEN, s);
                t.ok(aclrtMemsetAsync(b, LEN, 1, LEN, s), "aclrtMemsetAsync");
            });
        });
        let untouched: Vec<Vec<u8>> = outs.iter().map(|out| host_read(*out, LEN)).collect();
        let bytes = t.refill(h);
        t.replay(model, s);
        t.sync(s);
        t.same_bytes(&host_read(outs[0], LEN), &bytes, "before any update");
        t.holds(b, &vec![1; LEN], "the fill before any update");
        for (i, out) in outs.iter().enumerate().skip(1) {
            let before = host_read(outs[i - 1], LEN);
            let value = i as u8 + 1;
            t.update(u, group, || {
                t.copy_async(*out, a, LEN, u);
                t.ok(
                    aclrtMemsetAsync(b, LEN, value.into(), LEN, u),
                    "aclrtMemsetAsync",
                );
            });
            t.sync(u);
            t.same_bytes(
                &host_read(*out, LEN),
                &untouched[i],
                "an update runs nothing",
            );
            let bytes = t.refill(h);
            t.replay(model, s);
            t.sync(s);
            t.same_bytes(&host_read(*out, LEN), &bytes, "the new place");
            t.same_bytes(&host_read(outs[i - 1], LEN), &before, "the old place");
            t.holds(b, &vec![value; LEN], "the new fill");
        }
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.update.kernels_and_values", |t| {
        let (s, u) = (t.stream(), t.stream());
        let function = t.add_kernel();
        let (p, mut p_bytes) = t.filled(LEN);
        let (q, mut q_bytes) = t.filled(LEN);
        let flag = t.malloc(16, ACL_MEM_MALLOC_NORMAL_ONLY);
        t.upload(flag, &[0; 16]);
        let add = |at, addend, s| {
            let args = AddArgs {
                at,
                bytes: LEN as u64,
                addend,
            };
            t.ok(t.launch_add(function, 3, args, s), "a kernel");
        };
        let mut group = null_mut();
        let model = t.model(s, || {
            group = t.group(s, || {
                add(p, 1, s);
                t.ok(aclrtValueWrite(flag, 11, 0, s), "aclrtValueWrite");
            });
        });
        t.replay(model, s);
        t.sync(s);
        t.update(u, group, || {
            add(q, 5, u);
            t.ok(aclrtValueWrite(off(flag, 8), 12, 0, u), "aclrtValueWrite");
        });
        t.sync(u);
        t.holds(q, &q_bytes, "an update runs nothing");
        t.replay(model, s);
        t.sync(s);
        p_bytes
            .iter_mut()
            .for_each(|byte| *byte = byte.wrapping_add(1));
        q_bytes
            .iter_mut()
            .for_each(|byte| *byte = byte.wrapping_add(5));
        t.holds(p, &p_bytes, "the first arguments");
        t.holds(q, &q_bytes, "the second arguments");
        let mut flags = 11u64.to_le_bytes().to_vec();
        flags.extend(12u64.to_le_bytes());
        t.holds(flag, &flags, "the values");
        t.destroy_model(model);
    });
}

/// A run waits for an event that the stream records which updates its own task group.
fn waiting(list: &mut Vec<Case>) {
    under_schedules!(list, "x.graph.update.while_a_run_waits", |t| {
        let (s, u) = (t.stream(), t.stream());
        let e = t.event_with(ACL_EVENT_EXTERNAL);
        let (h, _) = t.pinned(LEN);
        let outs: Vec<*mut c_void> = (0..3).map(|_| t.pinned(LEN).0).collect();
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let mut group = null_mut();
        let model = t.model(s, || {
            t.copy_async(a, h, LEN, s);
            t.wait_event(s, e);
            t.ok(aclrtResetEvent(e, s), "aclrtResetEvent");
            group = t.group(s, || t.copy_async(outs[0], a, LEN, s));
        });
        for round in 0..9 {
            let bytes = t.refill(h);
            let out = outs[round % outs.len()];
            // The run first: it stands at the event until its parameters are there.
            t.replay(model, s);
            t.update(u, group, || t.copy_async(out, a, LEN, u));
            t.record(e, u);
            t.sync(s);
            t.same_bytes(&host_read(out, LEN), &bytes, "the run saw the update");
        }
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.update.runs_and_updates_in_a_row", |t| {
        // Two events in turn, nothing waited for on the host: each run has the parameters of its round.
        let (s, u) = (t.stream(), t.stream());
        let (ready, done) = (
            t.event_with(ACL_EVENT_EXTERNAL),
            t.event_with(ACL_EVENT_EXTERNAL),
        );
        let n = 12;
        let (p, _) = t.filled(LEN * n);
        t.ok(aclrtMemset(p, LEN * n, 0, LEN * n), "aclrtMemset");
        let (q, bytes) = t.filled(LEN * n);
        let mut group = null_mut();
        let work = t.model(s, || {
            t.wait_event(s, ready);
            t.ok(aclrtResetEvent(ready, s), "aclrtResetEvent");
            group = t.group(s, || t.copy_async(p, q, LEN, s));
            t.record(done, s);
        });
        let turn = t.model(u, || {
            t.wait_event(u, done);
            t.ok(aclrtResetEvent(done, u), "aclrtResetEvent");
        });
        for i in 0..n {
            t.replay(work, s);
            t.update(u, group, || {
                t.copy_async(off(p, i * LEN), off(q, i * LEN), LEN, u)
            });
            t.record(ready, u);
            t.replay(turn, u);
        }
        t.sync(u);
        t.sync(s);
        t.holds(p, &bytes, "every round moved its part");
    });
    list.push(case(
        "x.graph.update.a_waiting_run_stays",
        Setup::device0(),
        |t| {
            let (s, u) = (t.stream(), t.stream());
            let e = t.event_with(ACL_EVENT_EXTERNAL);
            let (out, untouched) = t.pinned(LEN);
            let (a, bytes) = t.filled(LEN);
            let model = t.model(s, || {
                t.wait_event(s, e);
                t.copy_async(out, a, LEN, s);
            });
            t.replay(model, s);
            let counter = t.counted(s);
            counter.stays_uncalled(t, "calls behind a run that waits");
            t.same_bytes(&host_read(out, LEN), &untouched, "while it waits");
            t.fails(
                aclmdlRIDestroy(model),
                RUNNING,
                "the end of a model that runs",
            );
            t.fails(
                aclmdlRIUpdate(model),
                UPDATE_FAILED,
                "the update of a model that runs",
            );
            t.record(e, u);
            t.sync(s);
            t.same_bytes(&host_read(out, LEN), &bytes, "afterwards");
            t.ok(aclmdlRIUpdate(model), "aclmdlRIUpdate");
            t.destroy_model(model);
        },
    ));
    list.push(case("x.graph.update.dead_event", Setup::device0(), |t| {
        // A run that waits for an event which is destroyed ends with a code instead of never.
        let s = t.stream();
        let e = t.event_with(ACL_EVENT_EXTERNAL);
        let (p, _) = t.filled(LEN);
        let model = t.model(s, || {
            t.wait_event(s, e);
            t.ok(aclrtMemsetAsync(p, LEN, 5, LEN, s), "aclrtMemsetAsync");
        });
        t.replay(model, s);
        t.ok(aclrtDestroyEvent(e), "aclrtDestroyEvent");
        t.fails(aclrtSynchronizeStream(s), ERROR_HANDLE, "synchronising");
        t.holds(p, &vec![5; LEN], "the task behind it ran");
    }));
}

fn refusals() -> Vec<Case> {
    vec![
        case("x.graph.update.group_states", Setup::device0(), |t| {
            let (s, r) = (t.stream(), t.stream());
            let mut group = SENTINEL;
            let out = &raw mut group;
            t.fails(
                aclmdlRICaptureTaskGrpBegin(s),
                NOT_CAPTURED,
                "a group outside",
            );
            t.fails(
                aclmdlRICaptureTaskGrpEnd(s, out),
                NOT_CAPTURED,
                "its end outside",
            );
            t.begin(s, GLOBAL);
            t.fails(
                aclmdlRICaptureTaskGrpEnd(s, out),
                GROUP_STATE,
                "an end without a beginning",
            );
            t.ok(
                aclmdlRICaptureTaskGrpBegin(s),
                "aclmdlRICaptureTaskGrpBegin",
            );
            t.fails(
                aclmdlRICaptureTaskGrpBegin(s),
                GROUP_STATE,
                "a group in a group",
            );
            t.fails(
                aclmdlRICaptureTaskGrpEnd(s, null_mut()),
                ERROR_FRONT,
                "NULL",
            );
            t.fails(
                aclmdlRICaptureTaskGrpEnd(r, out),
                NOT_CAPTURED,
                "the end elsewhere",
            );
            t.eq(group, SENTINEL, "output");
            t.end_fails(
                s,
                GROUP_STATE,
                "aclmdlRICaptureTaskGrpEnd",
                "the end in a group",
            );
            // Events cannot be replaced.
            t.begin(s, GLOBAL);
            t.ok(
                aclmdlRICaptureTaskGrpBegin(s),
                "aclmdlRICaptureTaskGrpBegin",
            );
            t.record(t.event_ex(ACL_EVENT_SYNC), s);
            t.fails(
                aclmdlRICaptureTaskGrpEnd(s, out),
                KIND,
                "a group with an event",
            );
            t.eq(group, SENTINEL, "output");
            let model = t.end(s);
            t.destroy_model(model);
        }),
        case("x.graph.update.group_interrupted", Setup::device0(), |t| {
            let (s, r) = (t.stream(), t.stream());
            let (p, bytes) = t.filled(LEN);
            let mut group = SENTINEL;
            t.begin(s, GLOBAL);
            t.link(s, r);
            t.ok(
                aclmdlRICaptureTaskGrpBegin(s),
                "aclmdlRICaptureTaskGrpBegin",
            );
            t.ok(aclrtMemsetAsync(p, LEN, 1, LEN, s), "aclrtMemsetAsync");
            t.ok(
                aclrtMemsetAsync(p, LEN, 2, LEN, r),
                "a task of another stream",
            );
            let code = aclmdlRICaptureTaskGrpEnd(s, &raw mut group);
            t.fails(code, GROUP_INTERRUPTED, "the end of an interrupted group");
            t.eq(group, SENTINEL, "output");
            // The capture itself is as good as before.
            t.link(r, s);
            let model = t.end(s);
            t.holds(p, &bytes, "memory before the run");
            t.destroy_model(model);
        }),
        case("x.graph.update.update_states", Setup::device0(), |t| {
            let (s, u) = (t.stream(), t.stream());
            let (p, _) = t.filled(LEN);
            let (q, q_bytes) = t.filled(LEN);
            t.begin(s, GLOBAL);
            let group = t.group(s, || {
                t.ok(aclrtMemsetAsync(p, LEN, 1, LEN, s), "aclrtMemsetAsync");
            });
            let code = aclmdlRICaptureTaskUpdateBegin(u, group);
            t.fails(code, MODEL_CAPTURED, "an update while the capture goes on");
            let model = t.end(s);
            t.fails(
                aclmdlRICaptureTaskUpdateEnd(u),
                GROUP_STATE,
                "an end without a beginning",
            );
            let code = aclmdlRICaptureTaskUpdateBegin(u, null_mut());
            t.fails(code, ERROR_FRONT, "no group");
            let begin = |t: &T| {
                let code = aclmdlRICaptureTaskUpdateBegin(u, group);
                t.ok(code, "aclmdlRICaptureTaskUpdateBegin");
            };
            begin(t);
            let code = aclmdlRICaptureTaskUpdateBegin(u, group);
            t.fails(code, GROUP_STATE, "an update in an update");
            t.fails(
                aclmdlRICaptureBegin(u, GLOBAL),
                GROUP_STATE,
                "a capture in an update",
            );
            let failed = |t: &T, what: &str| {
                t.fails(aclmdlRICaptureTaskUpdateEnd(u), UPDATE_FAILED, what);
                t.replay(model, s);
                t.sync(s);
                t.sync(u);
                t.holds(p, &vec![1; LEN], "the old task");
                t.holds(q, &q_bytes, "memory of a failed update");
                t.ok(aclrtMemset(p, LEN, 0, LEN), "aclrtMemset");
            };
            failed(t, "no task");
            begin(t);
            for _ in 0..2 {
                t.ok(aclrtMemsetAsync(q, LEN, 2, LEN, u), "aclrtMemsetAsync");
            }
            failed(t, "too many tasks");
            begin(t);
            t.copy_async(q, p, LEN, u);
            failed(t, "a task of another kind");
            begin(t);
            t.record(t.event_ex(ACL_EVENT_SYNC), u);
            failed(t, "an event");
            begin(t);
            t.counted(u);
            failed(t, "a host function");
            // The stream works, and so does the next update.
            t.update(u, group, || {
                t.ok(aclrtMemsetAsync(q, LEN, 9, LEN, u), "aclrtMemsetAsync");
            });
            t.sync(u);
            t.replay(model, s);
            t.sync(s);
            t.holds(q, &vec![9; LEN], "the new task");
            // A stream that ends in the middle takes its update along.
            begin(t);
            t.ok(aclrtMemsetAsync(p, LEN, 3, LEN, u), "aclrtMemsetAsync");
            t.ok(aclrtDestroyStream(u), "aclrtDestroyStream");
            t.ok(aclrtMemset(q, LEN, 0, LEN), "aclrtMemset");
            t.replay(model, s);
            t.sync(s);
            t.holds(q, &vec![9; LEN], "the last whole update");
            t.destroy_model(model);
        }),
    ]
}

fn parameters() -> Vec<Case> {
    let mut list = Vec::new();
    under_schedules!(list, "x.graph.params.values", |t| {
        let s = t.stream();
        let at = t.malloc(32, ACL_MEM_MALLOC_NORMAL_ONLY);
        t.upload(at, &[0; 32]);
        let (p, bytes) = t.filled(LEN);
        let model = t.model(s, || {
            t.ok(aclrtValueWrite(at, 5, 0, s), "aclrtValueWrite");
            t.ok(aclrtValueWait(at, 5, 1, s), "aclrtValueWait");
            t.ok(aclrtMemsetAsync(p, LEN, 1, LEN, s), "aclrtMemsetAsync");
            t.ok(aclrtValueWrite(off(at, 16), 7, 0, s), "aclrtValueWrite");
        });
        let tasks = t.tasks(s);
        t.eq(tasks.len(), 4, "number of tasks");
        for (i, task) in tasks.iter().enumerate() {
            let mut id = 77;
            t.ok(
                aclmdlRITaskGetSeqId(*task, &raw mut id),
                "aclmdlRITaskGetSeqId",
            );
            t.eq(id as usize, i, "number of a task");
        }
        let [write, wait, fill, last] = tasks[..] else {
            return;
        };
        let mut w = t.params(write);
        let mut v = t.params(wait);
        #[allow(unsafe_code)] // The member that the type names.
        // SAFETY: its bytes are numbers, written by the call.
        let (ww, vv) = unsafe { (w.detail.valueWriteTaskParams, v.detail.valueWaitTaskParams) };
        t.eq((ww.devAddr, ww.value), (at, 5), "what is written");
        t.eq(
            (vv.devAddr, vv.value, vv.flag),
            (at, 5, 1),
            "what is waited for",
        );
        t.eq(
            t.params(fill).r#type,
            ACL_MODEL_RI_TASK_DEFAULT,
            "type of a fill",
        );
        w.detail.valueWriteTaskParams.devAddr = off(at, 8);
        w.detail.valueWriteTaskParams.value = 9;
        v.detail.valueWaitTaskParams.devAddr = off(at, 8);
        v.detail.valueWaitTaskParams.value = 8;
        v.detail.valueWaitTaskParams.flag = 0;
        t.ok(
            aclmdlRITaskSetParams(write, &raw mut w),
            "aclmdlRITaskSetParams",
        );
        t.ok(
            aclmdlRITaskSetParams(wait, &raw mut v),
            "aclmdlRITaskSetParams",
        );
        t.ok(aclmdlRITaskDisable(fill), "aclmdlRITaskDisable");
        let values = |t: &T, want: [u64; 4], what: &str| {
            let want: Vec<u8> = want.iter().flat_map(|value| value.to_le_bytes()).collect();
            t.holds(at, &want, what);
        };
        // Nothing counts before the update.
        t.replay(model, s);
        t.sync(s);
        values(t, [5, 0, 7, 0], "values before the update");
        t.holds(p, &vec![1; LEN], "the fill before the update");
        t.upload(p, &bytes);
        t.upload(at, &[0; 32]);
        t.ok(aclmdlRIUpdate(model), "aclmdlRIUpdate");
        t.replay(model, s);
        t.sync(s);
        values(t, [0, 9, 7, 0], "values after the update");
        t.holds(p, &bytes, "a disabled task does nothing");
        // Refused ones change nothing.
        let mut bad = t.params(last);
        t.eq(
            aclmdlRITaskSetParams(write, null_mut()).into(),
            ERROR_FRONT,
            "NULL",
        );
        let code = aclmdlRITaskSetParams(wait, &raw mut bad);
        t.fails(code, ERROR_PARAM, "parameters of another kind");
        bad.detail.valueWriteTaskParams.devAddr = null_mut();
        let code = aclmdlRITaskSetParams(last, &raw mut bad);
        t.check(code != 0, "NULL as the place");
        let mut place = blank_params();
        place.r#type = ACL_MODEL_RI_TASK_DEFAULT;
        t.fails(aclmdlRITaskSetParams(fill, &raw mut place), KIND, "a fill");
        let code = aclmdlRITaskSetParams(null_mut(), &raw mut place);
        t.fails(code, ERROR_FRONT, "no task");
        let code = aclmdlRITaskSetParams(s, &raw mut place);
        t.fails(code, DEAD, "a stream as the task");
        t.ok(aclmdlRIUpdate(model), "aclmdlRIUpdate");
        t.replay(model, s);
        t.sync(s);
        values(t, [0, 9, 7, 0], "values at the end");
        t.destroy_model(model);
    });
    list.push(case("x.graph.params.lists", Setup::device0(), |t| {
        let (s, r) = (t.stream(), t.stream());
        let e = t.event_ex(ACL_EVENT_SYNC);
        let x = t.event_ex(ACL_EVENT_SYNC);
        let plain = t.event_with(ACL_EVENT_SYNC);
        let function = t.add_kernel();
        let (p, _) = t.filled(LEN);
        let mut count = 77;
        let code = aclmdlRIGetTasksByStream(s, null_mut(), &raw mut count);
        t.fails(code, ERROR_PARAM, "a stream of no model");
        let model = t.model(s, || {
            t.record(e, s);
            t.wait_event(r, e);
            let args = AddArgs {
                at: p,
                bytes: 1,
                addend: 0,
            };
            t.ok(t.launch_add(function, 1, args, r), "a kernel");
            t.link(r, s);
            t.ok(
                aclrtRecordEventWithFlag(x, s, 1),
                "aclrtRecordEventWithFlag",
            );
            t.ok(aclrtResetEvent(plain, s), "aclrtResetEvent");
        });
        t.eq(count, 77, "output");
        let code = aclmdlRIGetStreams(model, null_mut(), &raw mut count);
        t.ok(code, "aclmdlRIGetStreams for the number");
        t.eq(count, 2, "number of streams");
        let mut streams = [SENTINEL; 3];
        count = 1;
        let code = aclmdlRIGetStreams(model, streams.as_mut_ptr(), &raw mut count);
        t.fails(code, TOO_SMALL, "too little room");
        count = 0;
        let code = aclmdlRIGetStreams(model, streams.as_mut_ptr(), &raw mut count);
        t.fails(code, TOO_SMALL, "no room");
        t.eq((streams, count), ([SENTINEL; 3], 0), "output");
        count = 3;
        let code = aclmdlRIGetStreams(model, streams.as_mut_ptr(), &raw mut count);
        t.ok(code, "aclmdlRIGetStreams");
        t.eq((streams, count), ([s, r, SENTINEL], 2), "streams");
        let mut one = [SENTINEL];
        count = 1;
        let code = aclmdlRIGetTasksByStream(s, one.as_mut_ptr(), &raw mut count);
        t.fails(code, TOO_SMALL, "too little room for tasks");
        let kinds = |s| -> Vec<aclmdlRITaskType> {
            t.tasks(s)
                .iter()
                .map(|task| t.params(*task).r#type)
                .collect()
        };
        let (record, wait) = (ACL_MODEL_RI_TASK_EVENT_RECORD, ACL_MODEL_RI_TASK_EVENT_WAIT);
        let reset = ACL_MODEL_RI_TASK_EVENT_RESET;
        t.eq(
            kinds(s),
            vec![record, wait, record, reset],
            "tasks of the first stream",
        );
        t.eq(
            kinds(r),
            vec![wait, ACL_MODEL_RI_TASK_KERNEL, record],
            "tasks of the second",
        );
        let first = t.params(t.tasks(s)[0]);
        let external = t.params(t.tasks(s)[2]);
        #[allow(unsafe_code)] // The members that the types name.
        // SAFETY: their bytes are numbers, written by the calls.
        let (a, b) = unsafe {
            (
                first.detail.eventRecordTaskParams,
                external.detail.eventRecordTaskParams,
            )
        };
        t.eq(
            (a.event, a.eventFlag, a.recordFlag),
            (e, ACL_EVENT_SYNC, 0),
            "a record",
        );
        t.eq(
            (b.event, b.eventFlag, b.recordFlag),
            (x, ACL_EVENT_SYNC, 1),
            "an external record",
        );
        t.fails(
            aclmdlRITaskDisable(t.tasks(s)[0]),
            KIND,
            "an event task left out",
        );
        let mut params = first;
        let code = aclmdlRITaskSetParams(t.tasks(s)[0], &raw mut params);
        t.fails(code, KIND, "an event task changed");
        t.destroy_model(model);
    }));
    list
}
