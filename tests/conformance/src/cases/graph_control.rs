//! Built models in which runs decide where they go: labels, streams that begin later, switches.

use super::gate::*;
use super::graph::*;
use super::support::*;

const NOT_BOUND: i64 = ACL_ERROR_RT_STREAM_MODEL as i64;
const NO_RESOURCE: i64 = ACL_ERROR_RT_RESOURCE_ALLOC_FAIL as i64;
/// A bound stream begins when another one says so.
const LATER: u32 = 0x7fff_ffff;
/// Bytes of the sums.
const SUM: usize = MIB + 4096;

impl T {
    pub(super) fn bind_later(&self, model: aclmdlRI, s: aclrtStream) {
        let code = aclmdlRIBindStream(model, s, LATER);
        self.ok(code, "aclmdlRIBindStream of one that begins later");
    }

    pub(super) fn label(&self) -> aclrtLabel {
        let mut label = SENTINEL;
        self.ok(aclrtCreateLabel(&raw mut label), "aclrtCreateLabel");
        label
    }

    pub(super) fn set_label(&self, label: aclrtLabel, s: aclrtStream) {
        self.ok(aclrtSetLabel(label, s), "aclrtSetLabel");
    }

    pub(super) fn label_list(&self, labels: &mut [aclrtLabel]) -> aclrtLabelList {
        let mut list = SENTINEL;
        let code = aclrtCreateLabelList(labels.as_mut_ptr(), labels.len(), &raw mut list);
        self.ok(code, "aclrtCreateLabelList");
        list
    }

    pub(super) fn jump(
        &self,
        index: *mut c_void,
        count: usize,
        list: aclrtLabelList,
        s: aclrtStream,
    ) {
        let code = aclrtSwitchLabelByIndex(index, count as u32, list, s);
        self.ok(code, "aclrtSwitchLabelByIndex");
    }

    /// Queues `to += from`, both of `bytes` bytes of 32-bit integers.
    pub(super) fn add(&self, to: *mut c_void, from: *mut c_void, bytes: usize, s: aclrtStream) {
        let sum = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
        let code = aclrtReduceAsync(to, from, bytes as u64, sum, ACL_INT32, s, null_mut());
        self.ok(code, "aclrtReduceAsync");
    }

    /// Device memory that holds some integers.
    pub(super) fn words(&self, words: &[i32]) -> *mut c_void {
        let p = self.malloc(words.len() * 4, ACL_MEM_MALLOC_NORMAL_ONLY);
        self.put_words(p, words);
        p
    }

    pub(super) fn put_words(&self, p: *mut c_void, words: &[i32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.upload(p, &bytes);
    }

    fn activate(&self, other: aclrtStream, s: aclrtStream) {
        self.ok(aclrtActiveStream(other, s), "aclrtActiveStream");
    }

    pub(super) fn fill(&self, p: *mut c_void, value: i32, s: aclrtStream) {
        let code = aclrtMemsetAsync(p, LEN, value, LEN, s);
        self.ok(code, "aclrtMemsetAsync");
    }

    pub(super) fn run(&self, model: aclmdlRI) {
        self.ok(aclmdlRIExecute(model, 60_000), "aclmdlRIExecute");
    }

    /// Runs, in one of the two ways.
    fn run_somehow(&self, model: aclmdlRI, s: aclrtStream, round: u32) {
        if round.is_multiple_of(2) {
            self.run(model);
        } else {
            self.replay(model, s);
            self.sync(s);
        }
    }
}

/// `times` times the integers in `bytes`.
pub(super) fn times(bytes: &[u8], times: i32) -> Vec<u8> {
    bytes
        .chunks_exact(4)
        .map(|word| i32::from_le_bytes(word.try_into().unwrap_or_default()))
        .flat_map(|word| word.wrapping_mul(times).to_le_bytes())
        .collect()
}

pub(super) fn cases() -> Vec<Case> {
    let mut list = Vec::new();
    labels(&mut list);
    streams(&mut list);
    list.extend(refusals());
    list
}

fn labels(list: &mut Vec<Case>) {
    under_schedules!(list, "x.graph.label.loop", |t| {
        // As many rounds as the counter says; an index beyond the list is the last label.
        let (data, bytes) = t.filled(SUM);
        let sum = t.malloc(SUM, ACL_MEM_MALLOC_HUGE_FIRST);
        let (counter, minus) = (t.words(&[0]), t.words(&[-1]));
        let model = t.build();
        let s = t.persistent();
        t.bind(model, s);
        let (top, end) = (t.label(), t.label());
        let both = t.label_list(&mut [end, top]);
        t.ok(aclrtMemsetAsync(sum, SUM, 0, SUM, s), "aclrtMemsetAsync");
        t.set_label(top, s);
        t.add(sum, data, SUM, s);
        t.add(counter, minus, 4, s);
        t.jump(counter, 2, both, s);
        t.fill(data, 9, s);
        t.set_label(end, s);
        t.build_end(model);
        // What was queued with them keeps them.
        for label in [top, end] {
            t.ok(aclrtDestroyLabel(label), "aclrtDestroyLabel");
        }
        t.ok(aclrtDestroyLabelList(both), "aclrtDestroyLabelList");
        let other = t.stream();
        for round in 1..=5 {
            t.put_words(counter, &[round]);
            t.run_somehow(model, other, round as u32);
            t.holds(sum, &times(&bytes, round), "the sum");
            t.holds(counter, &[0; 4], "the counter");
        }
        t.holds(data, &bytes, "what a jump passed over");
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.label.on_other_streams", |t| {
        // The stream that jumps ends there; the one of the label goes on from it.
        let out = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let (index, never) = (t.words(&[0]), t.filled(LEN));
        let model = t.build();
        let s = t.persistent();
        t.bind(model, s);
        let mut labels = Vec::new();
        for value in 1..=3 {
            let r = t.persistent();
            t.bind_later(model, r);
            t.fill(never.0, 99, r);
            let label = t.label();
            t.set_label(label, r);
            t.fill(out, value, r);
            labels.push(label);
        }
        let all = t.label_list(&mut labels);
        t.jump(index, 3, all, s);
        t.fill(out, 77, s);
        t.build_end(model);
        let other = t.stream();
        for (round, (number, want)) in [(0, 1), (2, 3), (1, 2), (3, 3), (700, 3), (-1, 3), (0, 1)]
            .into_iter()
            .enumerate()
        {
            t.put_words(index, &[number]);
            t.run_somehow(model, other, round as u32);
            t.holds(out, &vec![want; LEN], &format!("with index {number}"));
        }
        t.holds(never.0, &never.1, "what lies in front of the labels");
        t.destroy_model(model);
    });
}

fn streams(list: &mut Vec<Case>) {
    under_schedules!(list, "x.graph.stream.loop_in_flight", |t| {
        // Two streams that begin each other, three rounds in every run; runs follow each other.
        let (data, bytes) = t.filled(SUM);
        let sum = t.malloc(SUM, ACL_MEM_MALLOC_HUGE_FIRST);
        t.ok(aclrtMemset(sum, SUM, 0, SUM), "aclrtMemset");
        let (counter, minus) = (t.words(&[3]), t.words(&[-1]));
        let (three, zero) = (t.words(&[3]), t.words(&[0]));
        let model = t.build();
        let (s, r) = (t.persistent(), t.persistent());
        t.bind(model, s);
        t.bind_later(model, r);
        t.add(sum, data, SUM, s);
        t.add(counter, minus, 4, s);
        let greater = ACL_RT_GREATER;
        let code = aclrtSwitchStream(counter, greater, zero, 0, r, null_mut(), s);
        t.ok(code, "aclrtSwitchStream");
        t.add(counter, three, 4, s);
        t.activate(s, r);
        t.build_end(model);
        let (one, other) = (t.stream(), t.stream());
        for place in [one, one, other, one, other, one] {
            t.replay(model, place);
        }
        t.sync(one);
        t.sync(other);
        t.holds(sum, &times(&bytes, 18), "after six runs of three rounds");
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.active_stream", |t| {
        let (h, _) = t.pinned(LEN);
        let (out, _) = t.pinned(LEN);
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let b = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let never = t.filled(LEN);
        let (there, back) = (t.notify(), t.notify());
        let model = t.build();
        let (s, r, idle) = (t.persistent(), t.persistent(), t.persistent());
        t.bind(model, s);
        t.bind_later(model, r);
        t.bind_later(model, idle);
        t.fill(never.0, 3, idle);
        // Both go on at the same time, each waits for the other.
        t.ok(
            aclrtWaitAndResetNotify(there, r, 0),
            "aclrtWaitAndResetNotify",
        );
        t.copy_async(b, a, LEN, r);
        t.ok(aclrtRecordNotify(back, r), "aclrtRecordNotify");
        t.copy_async(a, h, LEN, s);
        t.activate(r, s);
        t.ok(aclrtRecordNotify(there, s), "aclrtRecordNotify");
        t.ok(
            aclrtWaitAndResetNotify(back, s, 0),
            "aclrtWaitAndResetNotify",
        );
        t.copy_async(out, b, LEN, s);
        t.build_end(model);
        let other = t.stream();
        for round in 0..6 {
            let bytes = t.refill(h);
            t.run_somehow(model, other, round);
            t.same_bytes(&host_read(out, LEN), &bytes, "what went through both");
        }
        // The end of a run is the end of what it activated, too.
        let bytes = t.refill(h);
        t.replay(model, other);
        t.replay(model, other);
        t.copy_async(never.0, b, LEN, other);
        t.sync(other);
        t.holds(never.0, &bytes, "behind two runs");
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.switch_stream", |t| {
        let out = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        // Behind every value lies something that counts only for the wider type.
        let (left, right) = (t.words(&[0, -5]), t.words(&[0, 5]));
        let value = |a: [i32; 2]| i64::from(a[1]) << 32 | i64::from(a[0] as u32);
        let other = t.stream();
        for condition in ACL_RT_EQUAL..=ACL_RT_LESS_OR_EQUAL {
            for wide in [false, true] {
                let kind = if wide {
                    ACL_RT_SWITCH_INT64
                } else {
                    ACL_RT_SWITCH_INT32
                };
                let model = t.build();
                let (s, r) = (t.persistent(), t.persistent());
                t.bind(model, s);
                t.bind_later(model, r);
                t.fill(out, 1, r);
                let code = aclrtSwitchStream(left, condition, right, kind, r, null_mut(), s);
                t.ok(code, "aclrtSwitchStream");
                t.fill(out, 2, s);
                t.build_end(model);
                let mut round = 0;
                for a in [[7, 0], [-7, 0], [7, -1], [0, 0]] {
                    for b in [[7, 0], [-7, 0], [7, 1]] {
                        t.put_words(left, &a);
                        t.put_words(right, &b);
                        let (x, y) = match wide {
                            true => (value(a), value(b)),
                            false => (i64::from(a[0]), i64::from(b[0])),
                        };
                        let holds = [x == y, x != y, x > y, x >= y, x < y, x <= y];
                        let want = if holds[condition as usize] { 1 } else { 2 };
                        t.run_somehow(model, other, round);
                        round += 1;
                        let what = format!("{a:?} and {b:?}, condition {condition}, wide: {wide}");
                        t.holds(out, &vec![want; LEN], &what);
                    }
                }
                t.destroy_model(model);
            }
        }
    });
    under_schedules!(list, "x.graph.switch_stream.loop", |t| {
        // Two streams that begin each other, until a counter is down.
        let (data, bytes) = t.filled(SUM);
        let sum = t.malloc(SUM, ACL_MEM_MALLOC_HUGE_FIRST);
        let (counter, minus, zero) = (t.words(&[0]), t.words(&[-1]), t.words(&[0]));
        let out = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let model = t.build();
        let (first, s, r) = (t.persistent(), t.persistent(), t.persistent());
        t.bind(model, first);
        t.bind_later(model, s);
        t.bind_later(model, r);
        t.ok(
            aclrtMemsetAsync(sum, SUM, 0, SUM, first),
            "aclrtMemsetAsync",
        );
        t.fill(out, 0, first);
        t.activate(s, first);
        t.add(sum, data, SUM, s);
        t.add(counter, minus, 4, s);
        let code = aclrtSwitchStream(
            counter,
            ACL_RT_GREATER,
            zero,
            ACL_RT_SWITCH_INT32,
            r,
            null_mut(),
            s,
        );
        t.ok(code, "aclrtSwitchStream");
        t.fill(out, 5, s);
        t.activate(s, r);
        t.build_end(model);
        let other = t.stream();
        for rounds in [1, 2, 3, 100] {
            t.put_words(counter, &[rounds]);
            t.run_somehow(model, other, rounds as u32);
            t.holds(sum, &times(&bytes, rounds), "the sum");
            t.holds(out, &vec![5; LEN], "what follows the loop");
        }
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.persistent_clean", |t| {
        let (p, old) = t.filled(LEN);
        let q = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let model = t.build();
        let (s, r) = (t.persistent(), t.persistent());
        t.bind(model, s);
        t.bind(model, r);
        t.fill(p, 1, s);
        t.fill(q, 1, r);
        t.build_end(model);
        let stale = t.tasks(s)[0];
        t.ok(aclrtPersistentTaskClean(s), "aclrtPersistentTaskClean");
        t.eq(t.tasks(s).len(), 0, "tasks left");
        t.eq(t.tasks(r).len(), 1, "tasks of the other stream");
        let mut kind = -1;
        t.fails(
            aclmdlRITaskGetType(stale, &raw mut kind),
            DEAD,
            "a task that is gone",
        );
        t.run(model);
        t.holds(p, &old, "after a run without its tasks");
        t.holds(q, &vec![1; LEN], "what the other stream did");
        t.fill(p, 3, s);
        t.run(model);
        t.holds(p, &vec![3; LEN], "after a run with new ones");
        t.holds(q, &vec![1; LEN], "what the other stream did");
        t.eq(t.tasks(s).len(), 1, "new tasks");
        t.destroy_model(model);
    });
}

fn refusals() -> Vec<Case> {
    vec![
        case("x.graph.label.refusals", Setup::device0(), |t| {
            let (label, mut out) = (t.label(), SENTINEL);
            let plain = t.stream();
            let model = t.build();
            let s = t.persistent();
            t.bind(model, s);
            t.fails(aclrtCreateLabel(null_mut()), ERROR_FRONT, "no place");
            t.fails(aclrtDestroyLabel(null_mut()), ERROR_FRONT, "no label");
            t.fails(aclrtSetLabel(null_mut(), s), ERROR_FRONT, "no label");
            t.fails(aclrtSetLabel(s, s), DEAD, "a stream as a label");
            t.fails(aclrtSetLabel(label, addr(8)), DEAD, "a dead stream");
            t.fails_with(
                aclrtSetLabel(label, plain),
                NOT_BOUND,
                &format!("func=aclrtSetLabel param=stream {plain:?} aclmdlRIBindStream"),
                "a stream that is not bound",
            );
            t.fails(
                aclrtSetLabel(label, null_mut()),
                NOT_BOUND,
                "the default stream",
            );
            let captured = t.model(plain, || {
                t.fails(aclrtSetLabel(label, plain), NOT_BOUND, "a captured stream");
            });
            t.destroy_model(captured);
            let mut labels = [label, label];
            let list =
                |labels: *mut aclrtLabel, count, out| aclrtCreateLabelList(labels, count, out);
            let place = &raw mut out;
            t.fails(list(null_mut(), 1, place), ERROR_FRONT, "no labels");
            t.fails(
                list(labels.as_mut_ptr(), 2, null_mut()),
                ERROR_FRONT,
                "no place",
            );
            t.fails(
                list(labels.as_mut_ptr(), 0, place),
                ERROR_FRONT,
                "a list of none",
            );
            t.fails(
                list(labels.as_mut_ptr(), 65_536, place),
                ERROR_FRONT,
                "a list too long",
            );
            labels[1] = addr(16);
            t.fails(
                list(labels.as_mut_ptr(), 2, place),
                DEAD,
                "a label that is none",
            );
            t.eq(out, SENTINEL, "output");
            let one = t.label_list(&mut [label]);
            let index = t.words(&[0, 0]);
            let switch = aclrtSwitchLabelByIndex;
            t.fails(switch(null_mut(), 1, one, s), ERROR_FRONT, "no index");
            t.fails(switch(index, 0, one, s), ERROR_FRONT, "no labels");
            t.fails(switch(index, 1, null_mut(), s), ERROR_FRONT, "no list");
            t.fails(switch(index, 1, label, s), DEAD, "a label as a list");
            t.fails(
                switch(index, 2, one, s),
                ERROR_PARAM,
                "more labels than the list has",
            );
            t.fails(
                switch(index, 1, one, plain),
                NOT_BOUND,
                "a stream that is not bound",
            );
            t.fails(
                switch(off(index, 2), 1, one, s),
                ERROR_PARAM,
                "an address between words",
            );
            let host = t.malloc_host(64);
            t.fails(switch(host, 1, one, s), ERROR_PARAM, "host memory");
            // A jump to where no label is.
            t.jump(index, 1, one, s);
            t.fails_with(
                aclmdlRIBuildEnd(model, null_mut()),
                ERROR_PARAM,
                "func=aclmdlRIBuildEnd param=modelRI aclrtSetLabel",
                "a label that was never set",
            );
            t.set_label(label, s);
            t.fails(aclrtSetLabel(label, s), ERROR_PARAM, "a label twice");
            t.build_end(model);
            t.eq(
                t.tasks(s).len(),
                2,
                "tasks: those of the refused calls are none",
            );
            t.ok(aclrtDestroyLabelList(one), "aclrtDestroyLabelList");
            t.fails(aclrtDestroyLabelList(one), DEAD, "a list twice");
            t.ok(aclrtDestroyLabel(label), "aclrtDestroyLabel");
            t.fails(aclrtDestroyLabel(label), DEAD, "a label twice");
            t.destroy_model(model);
        }),
        case("x.graph.label.of_another_context", Setup::device0(), |t| {
            let label = t.label();
            let _own = t.create_context(0);
            let model = t.build();
            let s = t.persistent();
            t.bind(model, s);
            let foreign = i64::from(ACL_ERROR_RT_LABEL_CONTEXT);
            t.fails(
                aclrtSetLabel(label, s),
                foreign,
                "a label of another context",
            );
            let (mut labels, mut out) = ([label], SENTINEL);
            let code = aclrtCreateLabelList(labels.as_mut_ptr(), 1, &raw mut out);
            t.fails(code, foreign, "a list of it");
            t.ok(aclrtDestroyLabel(label), "its end is for everybody");
        }),
        case("x.graph.label.most", Setup::device0(), |t| {
            let labels: Vec<aclrtLabel> = (0..65_535).map(|_| t.label()).collect();
            let mut one_more = SENTINEL;
            let code = aclrtCreateLabel(&raw mut one_more);
            t.fails_with(code, NO_RESOURCE, "65535 aclrtDestroyLabel", "one more");
            t.eq(one_more, SENTINEL, "output");
            t.ok(aclrtDestroyLabel(labels[7]), "aclrtDestroyLabel");
            let again = t.label();
            t.check(again != labels[7], "a new label has a new name");
            let mut all: Vec<aclrtLabel> = labels;
            all[7] = again;
            let list = t.label_list(&mut all);
            t.ok(aclrtDestroyLabelList(list), "aclrtDestroyLabelList");
            for label in all {
                t.ok(aclrtDestroyLabel(label), "aclrtDestroyLabel");
            }
        }),
        case("x.graph.switch_stream.refusals", Setup::device0(), |t| {
            let plain = t.stream();
            let (model, second) = (t.build(), t.build());
            let (s, r, far) = (t.persistent(), t.persistent(), t.persistent());
            t.bind(model, s);
            t.bind_later(model, r);
            t.bind_later(second, far);
            let (l, q) = (t.words(&[0, 0, 0]), t.words(&[0, 0]));
            let active = aclrtActiveStream;
            t.fails(active(null_mut(), s), ERROR_FRONT, "no stream to begin");
            t.fails(active(r, null_mut()), NOT_BOUND, "the default stream");
            t.fails(active(r, plain), NOT_BOUND, "a stream that is not bound");
            t.fails(active(plain, s), NOT_BOUND, "another that is not");
            t.fails(active(far, s), NOT_BOUND, "a stream of another model");
            t.fails(active(addr(8), s), DEAD, "no stream at all");
            let switch = |left, condition, right, kind, yes, own| {
                aclrtSwitchStream(left, condition, right, kind, yes, null_mut(), own)
            };
            t.fails(
                switch(null_mut(), 0, q, 0, r, s),
                ERROR_FRONT,
                "no left value",
            );
            t.fails(
                switch(l, 0, null_mut(), 0, r, s),
                ERROR_FRONT,
                "no right value",
            );
            t.fails(
                switch(l, 0, q, 0, null_mut(), s),
                ERROR_FRONT,
                "no stream to begin",
            );
            t.fails(switch(l, 6, q, 0, r, s), ERROR_PARAM, "a condition");
            t.fails(switch(l, -1, q, 0, r, s), ERROR_PARAM, "a condition");
            t.fails(switch(l, 0, q, 2, r, s), ERROR_PARAM, "a type");
            t.fails(
                switch(off(l, 4), 0, q, 1, r, s),
                ERROR_PARAM,
                "an address between values",
            );
            t.fails(
                switch(l, 0, addr(4096), 0, r, s),
                ERROR_PARAM,
                "no device memory",
            );
            t.fails(
                switch(l, 0, q, 0, plain, s),
                NOT_BOUND,
                "a stream that is not bound",
            );
            t.fails(
                switch(l, 0, q, 0, far, s),
                NOT_BOUND,
                "a stream of another model",
            );
            t.fails(
                switch(l, 0, q, 0, r, plain),
                NOT_BOUND,
                "a stream that is not bound",
            );
            t.ok(switch(off(l, 4), 0, q, 0, r, s), "aclrtSwitchStream");
            t.build_end(model);
            t.eq(
                t.tasks(s).len(),
                1,
                "tasks: those of the refused calls are none",
            );
            t.destroy_model(model);
            t.destroy_model(second);
        }),
        case("x.graph.persistent_clean.refusals", Setup::device0(), |t| {
            let gate = Gate::closed();
            let clean = aclrtPersistentTaskClean;
            t.fails(clean(null_mut()), ERROR_FRONT, "no stream");
            t.fails(clean(addr(8)), DEAD, "no stream at all");
            t.fails(clean(t.stream()), ERROR_PARAM, "an ordinary stream");
            let model = t.build();
            let s = t.persistent();
            t.bind(model, s);
            t.host_function(s, Gate::function(), gate.data());
            t.build_end(model);
            let other = t.stream();
            t.replay(model, other);
            gate.reached(t);
            t.fails(clean(s), RUNNING, "a stream of a model that runs");
            let code = aclmdlRIUnbindStream(model, s);
            t.fails(code, RUNNING, "unbinding it");
            gate.open();
            t.sync(other);
            t.ok(clean(s), "aclrtPersistentTaskClean");
            t.destroy_model(model);
        }),
    ]
}
