//! Conditional tasks: bodies that run if, while, or by the number that eight bytes of device memory hold.

use super::gate::*;
use super::graph::*;
use super::graph_control::times;
use super::support::*;

const BODY_CAPTURED: i64 = ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING as i64;
const ASSIGN: aclmdlRICondHandleFlag = ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT;
/// Bytes of the sums.
const SUM: usize = MIB + 4096;

impl T {
    /// The model that a stream is captured into.
    fn captured_model(&self, s: aclrtStream) -> aclmdlRI {
        let mut model = null_mut();
        let code = aclmdlRICaptureGetInfo(s, null_mut(), &raw mut model);
        self.ok(code, "aclmdlRICaptureGetInfo");
        model
    }

    /// A condition of the model that a stream is captured into, and where it is.
    pub(super) fn condition(
        &self,
        s: aclrtStream,
        value: u32,
        flag: aclmdlRICondHandleFlag,
    ) -> (aclmdlRICondHandle, *mut c_void) {
        let (mut handle, mut place) = (SENTINEL, null_mut());
        let code = aclmdlRICondHandleCreate(self.captured_model(s), value, flag, &raw mut handle);
        self.ok(code, "aclmdlRICondHandleCreate");
        let code = aclmdlRICondHandleGetCondPtr(handle, &raw mut place);
        self.ok(code, "aclmdlRICondHandleGetCondPtr");
        (handle, place.cast())
    }

    /// Adds a conditional task; its bodies.
    pub(super) fn choice(
        &self,
        handle: aclmdlRICondHandle,
        kind: aclmdlRICondTaskType,
        bodies: usize,
        s: aclrtStream,
    ) -> Vec<aclmdlRI> {
        let mut models = vec![SENTINEL; bodies];
        let params = aclmdlRICondTaskParams {
            handle,
            r#type: kind,
            size: bodies as u32,
            modelRIArray: models.as_mut_ptr(),
        };
        self.ok(aclmdlRIAddCondTask(params, s, 0), "aclmdlRIAddCondTask");
        models
    }

    /// Captures into a body, on a stream of its own.
    pub(super) fn fill_body(&self, body: aclmdlRI, what: impl FnOnce(aclrtStream)) -> aclrtStream {
        let s = self.stream();
        let code = aclmdlRICaptureToModelRIBegin(s, body, GLOBAL);
        self.ok(code, "aclmdlRICaptureToModelRIBegin");
        what(s);
        let same = self.end(s);
        self.eq(same, body, "the model of the capture");
        s
    }

    fn zero(&self, p: *mut c_void, bytes: usize, s: aclrtStream) {
        let code = aclrtMemsetAsync(p, bytes, 0, bytes, s);
        self.ok(code, "aclrtMemsetAsync");
    }

    fn set(&self, p: *mut c_void, value: i32, s: aclrtStream) {
        let code = aclrtMemsetAsync(p, LEN, value, LEN, s);
        self.ok(code, "aclrtMemsetAsync");
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut list = Vec::new();
    kinds(&mut list);
    inside(&mut list);
    list.extend(life());
    list.extend(refusals());
    list
}

fn kinds(list: &mut Vec<Case>) {
    under_schedules!(list, "x.graph.condition.while", |t| {
        // The condition is set to its default at each run, and counted down by the body.
        let s = t.stream();
        let (data, bytes) = t.filled(SUM);
        let sum = t.malloc(SUM, ACL_MEM_MALLOC_HUGE_FIRST);
        let minus = t.words(&[-1]);
        let model = t.model(s, || {
            let (handle, place) = t.condition(s, 5, ASSIGN);
            t.zero(sum, SUM, s);
            let body = t.choice(handle, ACL_MODEL_RI_COND_TYPE_WHILE, 1, s)[0];
            t.fill_body(body, |own| {
                t.add(sum, data, SUM, own);
                t.add(place, minus, 4, own);
            });
        });
        for _ in 0..4 {
            t.replay(model, s);
            t.sync(s);
            t.holds(sum, &times(&bytes, 5), "the sum");
        }
        // Behind and in front of other work.
        let (h, new) = t.pinned(SUM);
        let (out, _) = t.pinned(SUM);
        t.copy_async(data, h, SUM, s);
        t.replay(model, s);
        t.copy_async(out, sum, SUM, s);
        t.zero(sum, SUM, s);
        t.sync(s);
        t.same_bytes(&host_read(out, SUM), &times(&new, 5), "between other work");
        t.ok(aclmdlRIExecute(model, 60_000), "aclmdlRIExecute");
        t.holds(sum, &times(&new, 5), "the sum");
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.condition.if", |t| {
        // A value that the program keeps, from host memory; the run copies it.
        let s = t.stream();
        let (h, _) = t.pinned(8);
        let one = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let two = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let model = t.model(s, || {
            let (handle, place) = t.condition(s, 1, 0);
            t.copy_async(place, h, 8, s);
            t.set(one, 0, s);
            t.set(two, 0, s);
            let bodies = t.choice(handle, ACL_MODEL_RI_COND_TYPE_IF, 2, s);
            t.fill_body(bodies[0], |own| t.set(one, 1, own));
            t.fill_body(bodies[1], |own| t.set(one, 2, own));
            // Without a second body nothing happens for 0.
            let bodies = t.choice(handle, ACL_MODEL_RI_COND_TYPE_IF, 1, s);
            t.fill_body(bodies[0], |own| t.set(two, 3, own));
        });
        for value in [1_u64, 0, 2, 0, 0, 1 << 32, u64::MAX] {
            host_write(h, &value.to_le_bytes());
            t.replay(model, s);
            t.sync(s);
            let want = if value == 0 { (2, 0) } else { (1, 3) };
            t.holds(one, &vec![want.0; LEN], &format!("with else, {value}"));
            t.holds(two, &vec![want.1; LEN], &format!("without, {value}"));
        }
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.condition.switch", |t| {
        let s = t.stream();
        let (h, _) = t.pinned(8);
        let p = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let model = t.model(s, || {
            let (handle, place) = t.condition(s, 2, ASSIGN);
            t.set(p, 0, s);
            let bodies = t.choice(handle, ACL_MODEL_RI_COND_TYPE_SWITCH, 4, s);
            for (value, body) in (1..).zip(bodies) {
                // One stays empty.
                if value != 4 {
                    t.fill_body(body, |own| t.set(p, value, own));
                }
            }
            // The second task sees what the first one saw, unless that was replaced.
            let bodies = t.choice(handle, ACL_MODEL_RI_COND_TYPE_SWITCH, 3, s);
            t.fill_body(bodies[2], |own| t.copy_async(place, h, 8, own));
            let bodies = t.choice(handle, ACL_MODEL_RI_COND_TYPE_SWITCH, 2, s);
            t.fill_body(bodies[1], |own| t.set(p, 50, own));
        });
        for (value, want) in [(0_u64, 3), (1, 50), (2, 3), (u64::MAX, 3), (1 << 32 | 1, 3)] {
            host_write(h, &value.to_le_bytes());
            t.replay(model, s);
            t.sync(s);
            t.holds(p, &vec![want; LEN], &format!("when the body wrote {value}"));
        }
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.condition.values", |t| {
        // The kept value decides; queued writes between runs change it.
        let s = t.stream();
        let p = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let mut at = null_mut();
        let model = t.model(s, || {
            let (handle, place) = t.condition(s, 3, 0);
            at = place;
            t.set(p, 0, s);
            let bodies = t.choice(handle, ACL_MODEL_RI_COND_TYPE_SWITCH, 4, s);
            for (value, body) in (1..).zip(bodies) {
                t.fill_body(body, |own| t.set(p, value, own));
            }
        });
        let (out, _) = t.pinned(LEN * 6);
        for (round, value) in [0_u64, 3, 1, 4, 2, 0].into_iter().enumerate() {
            t.ok(aclrtValueWrite(at, value, 0, s), "aclrtValueWrite");
            t.replay(model, s);
            t.copy_async(off(out, round * LEN), p, LEN, s);
        }
        t.sync(s);
        let seen = host_read(out, LEN * 6);
        for (part, want) in seen.chunks(LEN).zip([1, 4, 2, 0, 3, 1]) {
            t.same_bytes(part, &vec![want; LEN], "a run");
        }
        t.destroy_model(model);
    });
}

fn inside(list: &mut Vec<Case>) {
    under_schedules!(list, "x.graph.condition.nested", |t| {
        // The condition of the inner loop belongs to the body, and begins anew with it.
        let s = t.stream();
        let (data, bytes) = t.filled(SUM);
        let sum = t.malloc(SUM, ACL_MEM_MALLOC_HUGE_FIRST);
        let minus = t.words(&[-1]);
        let model = t.model(s, || {
            let (outer, outer_place) = t.condition(s, 4, ASSIGN);
            t.zero(sum, SUM, s);
            let body = t.choice(outer, ACL_MODEL_RI_COND_TYPE_WHILE, 1, s)[0];
            t.fill_body(body, |own| {
                let (inner, inner_place) = t.condition(own, 3, ASSIGN);
                let deep = t.choice(inner, ACL_MODEL_RI_COND_TYPE_WHILE, 1, own)[0];
                t.fill_body(deep, |own| {
                    t.add(sum, data, SUM, own);
                    t.add(inner_place, minus, 4, own);
                });
                t.add(outer_place, minus, 4, own);
            });
        });
        for _ in 0..3 {
            t.replay(model, s);
            t.sync(s);
            t.holds(sum, &times(&bytes, 12), "the sum");
        }
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.condition.body_on_streams", |t| {
        // A body whose work is on two streams; the next round comes after both.
        let s = t.stream();
        let (h, _) = t.pinned(LEN);
        let (out, _) = t.pinned(LEN);
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let b = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let c = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let (count, plus, minus) = (t.words(&[0]), t.words(&[1]), t.words(&[-1]));
        let counter = Counter::new();
        let model = t.model(s, || {
            let (handle, place) = t.condition(s, 3, ASSIGN);
            t.copy_async(a, h, LEN, s);
            let body = t.choice(handle, ACL_MODEL_RI_COND_TYPE_WHILE, 1, s)[0];
            t.fill_body(body, |own| {
                let side = t.stream();
                t.link(own, side);
                t.copy_async(b, a, LEN, side);
                t.host_function(side, Counter::function(), counter.data());
                t.add(count, plus, 4, own);
                t.link(side, own);
                t.copy_async(c, b, LEN, own);
                t.set(b, 0, own);
                t.add(place, minus, 4, own);
            });
            t.copy_async(out, c, LEN, s);
        });
        for round in 1..=4 {
            let bytes = t.refill(h);
            t.replay(model, s);
            t.sync(s);
            t.same_bytes(&host_read(out, LEN), &bytes, "what went through the body");
            t.eq(counter.calls(), 3 * round, "calls of the function in it");
            t.holds(count, &(3 * round as i32).to_le_bytes(), "rounds");
        }
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.condition.on_a_side_stream", |t| {
        // The task on another stream of the capture; two runs at a time on two streams.
        let (s, other) = (t.stream(), t.stream());
        let (data, bytes) = t.filled(SUM);
        let sum = t.malloc(SUM, ACL_MEM_MALLOC_HUGE_FIRST);
        let minus = t.words(&[-1]);
        let model = t.model(s, || {
            let (handle, place) = t.condition(s, 6, ASSIGN);
            t.zero(sum, SUM, s);
            let side = t.stream();
            t.link(s, side);
            let body = t.choice(handle, ACL_MODEL_RI_COND_TYPE_WHILE, 1, side)[0];
            t.fill_body(body, |own| {
                t.add(sum, data, SUM, own);
                t.add(place, minus, 4, own);
            });
            t.link(side, s);
        });
        for own in [s, other] {
            t.replay(model, own);
            t.sync(own);
            t.holds(sum, &times(&bytes, 6), "the sum");
        }
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.condition.run_in_a_capture", |t| {
        // The run of a model with a loop becomes part of another model, and outlives the first.
        let s = t.stream();
        let (data, bytes) = t.filled(SUM);
        let sum = t.malloc(SUM, ACL_MEM_MALLOC_HUGE_FIRST);
        let minus = t.words(&[-1]);
        let inner = t.model(s, || {
            let (handle, place) = t.condition(s, 2, ASSIGN);
            let body = t.choice(handle, ACL_MODEL_RI_COND_TYPE_WHILE, 1, s)[0];
            t.fill_body(body, |own| {
                let side = t.stream();
                t.link(own, side);
                t.add(sum, data, SUM, side);
                t.link(side, own);
                t.add(place, minus, 4, own);
            });
        });
        let outer = t.model(s, || {
            t.zero(sum, SUM, s);
            t.replay(inner, s);
            t.replay(inner, s);
        });
        t.destroy_model(inner);
        for _ in 0..3 {
            t.replay(outer, s);
            t.sync(s);
            t.holds(sum, &times(&bytes, 4), "the sum");
        }
        t.destroy_model(outer);
    });
}

fn life() -> Vec<Case> {
    vec![
        case("x.graph.condition.life", Setup::device0(), |t| {
            // The condition is charged, and goes with its model; so do the bodies.
            let s = t.stream();
            let p = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
            t.set(p, 0, s);
            t.sync(s);
            let mut handle = SENTINEL;
            let mut place = null_mut();
            let mut bodies = Vec::new();
            t.charges_nothing(|| {
                let model = t.model(s, || {
                    let (own, at) = t.condition(s, 1, ASSIGN);
                    (handle, place) = (own, at);
                    bodies = t.choice(own, ACL_MODEL_RI_COND_TYPE_IF, 2, s);
                    t.fill_body(bodies[0], |own| t.set(p, 1, own));
                });
                t.fails(aclrtFree(place), ERROR_PARAM, "its memory is the model's");
                t.replay(model, s);
                t.sync(s);
                t.fails(aclmdlRIDestroy(bodies[0]), ERROR_PARAM, "a body by itself");
                t.fails(
                    aclmdlRIExecuteAsync(bodies[0], s),
                    ERROR_PARAM,
                    "a run of it",
                );
                t.fails(aclmdlRIExecute(bodies[1], -1), ERROR_PARAM, "a run of it");
                t.destroy_model(model);
            });
            t.holds(p, &vec![1; LEN], "what the body did");
            let mut at = null_mut();
            let code = aclmdlRICondHandleGetCondPtr(handle, &raw mut at);
            t.fails(code, DEAD, "a condition of a model that is gone");
            t.fails(aclmdlRIDestroy(bodies[0]), DEAD, "a body of it");
            let mut id = 0;
            t.fails(aclmdlRIGetId(bodies[1], &raw mut id), DEAD, "the other one");
        }),
        case("x.graph.condition.shown", Setup::device0(), |t| {
            let s = t.stream();
            let p = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
            let mut bodies = Vec::new();
            let mut place = null_mut();
            let mut own = null_mut();
            let model = t.model(s, || {
                let (handle, at) = t.condition(s, 1, ASSIGN);
                place = at;
                bodies = t.choice(handle, ACL_MODEL_RI_COND_TYPE_SWITCH, 2, s);
                own = t.fill_body(bodies[0], |own| {
                    t.set(p, 1, own);
                    t.set(p, 2, own);
                });
            });
            let tasks = t.tasks(s);
            t.eq(tasks.len(), 1, "tasks of the model");
            let mut kind = -1;
            t.ok(
                aclmdlRITaskGetType(tasks[0], &raw mut kind),
                "aclmdlRITaskGetType",
            );
            t.eq(kind, ACL_MODEL_RI_TASK_DEFAULT, "kind of the task");
            t.fails(aclmdlRITaskDisable(tasks[0]), KIND, "to disable it");
            t.eq(t.tasks(own).len(), 2, "tasks of the body");
            t.ok(aclmdlRIDebugPrint(model), "aclmdlRIDebugPrint");
            let events = t.trace(model, 0);
            let task = t.traced(&events, model, 0);
            t.eq(task["task type"].as_str(), Some("switch"), "kind");
            let words = task["task"].as_str().unwrap_or_default();
            t.check(
                words.contains(&format!("{place:p}")),
                "the address of the condition",
            );
            for (at, body) in bodies.iter().enumerate() {
                let id = u64::from(t.model_id(*body));
                t.eq(task["models"][at].as_u64(), Some(id), "a body of the task");
            }
            let kind = t.traced(&events, bodies[0], 1)["task type"].clone();
            t.eq(kind.as_str(), Some("fill"), "the second task of the body");
            let none = t.traced(&events, bodies[0], 2);
            t.check(none.is_null(), "a third task of the body");
            t.destroy_model(model);
        }),
        case("x.graph.condition.failed_body", Setup::device0(), |t| {
            // A capture into a body that fails leaves it empty, and it can be captured into again.
            let s = t.stream();
            let p = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
            let mut body = null_mut();
            let model = t.model(s, || {
                let (handle, _) = t.condition(s, 1, ASSIGN);
                t.set(p, 0, s);
                body = t.choice(handle, ACL_MODEL_RI_COND_TYPE_IF, 1, s)[0];
                let own = t.stream();
                let code = aclmdlRICaptureToModelRIBegin(own, body, GLOBAL);
                t.ok(code, "aclmdlRICaptureToModelRIBegin");
                t.set(p, 1, own);
                let side = t.stream();
                t.link(own, side);
                t.set(p, 2, side);
                let tokens = format!("'stream {side:?} is not waited for' {own:?}");
                t.end_fails(own, UNJOINED, &tokens, "a body that is not joined");
            });
            t.replay(model, s);
            t.sync(s);
            t.holds(p, &vec![0; LEN], "with an empty body");
            t.fill_body(body, |own| t.set(p, 7, own));
            t.replay(model, s);
            t.sync(s);
            t.holds(p, &vec![7; LEN], "with a new one");
            t.destroy_model(model);
        }),
        case("x.graph.condition.endless", Setup::device0(), |t| {
            // Nothing ends it but the end of its stream's tasks.
            let s = t.stream();
            let (p, old) = t.filled(LEN);
            let mut place = null_mut();
            let model = t.model(s, || {
                let (handle, at) = t.condition(s, 1, 0);
                place = at;
                t.choice(handle, ACL_MODEL_RI_COND_TYPE_WHILE, 1, s);
            });
            t.upload(place, &1_u64.to_le_bytes());
            t.replay(model, s);
            t.set(p, 1, s);
            let code = aclrtSynchronizeStreamWithTimeout(s, 30);
            t.fails(code, TOO_LATE, "a loop without end");
            t.fails(aclmdlRIDestroy(model), RUNNING, "its end meanwhile");
            t.ok(aclrtStreamAbort(s), "aclrtStreamAbort");
            t.sync(s);
            t.holds(p, &old, "what was queued behind it");
            t.upload(place, &0_u64.to_le_bytes());
            t.replay(model, s);
            t.set(p, 2, s);
            t.sync(s);
            t.holds(p, &vec![2; LEN], "after a run that ends");
            // The value may also be taken away while the loop runs.
            t.upload(place, &1_u64.to_le_bytes());
            t.replay(model, s);
            let code = aclrtSynchronizeStreamWithTimeout(s, 30);
            t.fails(code, TOO_LATE, "a loop without end");
            let other = t.stream();
            t.ok(aclrtValueWrite(place, 0, 0, other), "aclrtValueWrite");
            t.sync(s);
            t.sync(other);
            t.destroy_model(model);
        }),
    ]
}

fn refusals() -> Vec<Case> {
    vec![
        case("x.graph.condition.refusals", Setup::device0(), |t| {
            let (s, plain, far) = (t.stream(), t.stream(), t.stream());
            let built = t.build();
            let (mut handle, mut place) = (SENTINEL, null_mut());
            t.begin(far, RELAXED);
            let (foreign, _) = t.condition(far, 1, ASSIGN);
            t.begin(s, RELAXED);
            let model = t.captured_model(s);
            let out = &raw mut handle;
            let create = aclmdlRICondHandleCreate;
            t.fails(create(null_mut(), 1, 1, out), ERROR_FRONT, "no model");
            t.fails(create(model, 1, 2, out), ERROR_FRONT, "a flag");
            t.fails(create(model, 1, 1, null_mut()), ERROR_FRONT, "no place");
            t.fails(create(addr(1), 1, 1, out), DEAD, "no model at all");
            t.fails(create(built, 1, 1, out), ERROR_PARAM, "a built model");
            let at = aclmdlRICondHandleGetCondPtr;
            t.fails(at(null_mut(), &raw mut place), ERROR_FRONT, "no condition");
            t.fails(at(foreign, null_mut()), ERROR_FRONT, "no place");
            t.fails(at(model, &raw mut place), DEAD, "a model as a condition");
            t.eq((handle, place), (SENTINEL, null_mut()), "outputs");
            let (own, _) = t.condition(s, 1, ASSIGN);
            let mut models = [SENTINEL; 3];
            let mut add = |handle, kind, size, with: bool, stream, flags| {
                let params = aclmdlRICondTaskParams {
                    handle,
                    r#type: kind,
                    size,
                    modelRIArray: if with {
                        models.as_mut_ptr()
                    } else {
                        null_mut()
                    },
                };
                aclmdlRIAddCondTask(params, stream, flags)
            };
            let none = null_mut();
            t.fails(add(none, 0, 1, true, s, 0), ERROR_FRONT, "no condition");
            t.fails(add(own, 0, 1, false, s, 0), ERROR_FRONT, "no array");
            t.fails(add(own, 0, 1, true, s, 1), ERROR_FRONT, "flags");
            t.fails(add(own, 3, 1, true, s, 0), ERROR_FRONT, "a kind");
            for (kind, size) in [(0, 0), (0, 3), (1, 0), (1, 2), (2, 0), (2, u32::MAX)] {
                let code = add(own, kind, size, true, s, 0);
                t.fails_with(code, ERROR_FRONT, "params.size", "a number of bodies");
            }
            t.fails(
                add(own, 0, 1, true, plain, 0),
                NOT_CAPTURED,
                "a stream that is not captured",
            );
            t.fails(
                add(own, 0, 1, true, none, 0),
                NOT_CAPTURED,
                "the default stream",
            );
            t.fails(add(own, 0, 1, true, addr(8), 0), DEAD, "no stream");
            t.fails(add(model, 0, 1, true, s, 0), DEAD, "a model as a condition");
            t.fails_with(
                add(foreign, 0, 1, true, s, 0),
                ERROR_PARAM,
                "params.handle aclmdlRICondHandleCreate",
                "a condition of another model",
            );
            t.eq(models, [SENTINEL; 3], "outputs");
            let ended = t.end(s);
            t.eq(t.tasks(s).len(), 0, "tasks that refused calls left");
            let other = t.end(far);
            t.destroy_model(ended);
            t.destroy_model(other);
            t.destroy_model(built);
        }),
        case("x.graph.condition.body_under_way", Setup::device0(), |t| {
            let s = t.stream();
            let p = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
            let mut body = null_mut();
            let model = t.model(s, || {
                let (handle, _) = t.condition(s, 1, ASSIGN);
                body = t.choice(handle, ACL_MODEL_RI_COND_TYPE_IF, 1, s)[0];
            });
            let gate = Gate::closed();
            t.fill_body(body, |own| {
                t.fails(
                    aclmdlRIExecuteAsync(model, s),
                    BODY_CAPTURED,
                    "a run meanwhile",
                );
                t.fails(aclmdlRIDestroy(model), BODY_CAPTURED, "its end");
                t.fails(aclmdlRIDebugPrint(model), BODY_CAPTURED, "a look at it");
                t.fails(
                    aclmdlRIExecuteAsync(model, own),
                    BODY_CAPTURED,
                    "a run inside of itself",
                );
                t.host_function(own, Gate::function(), gate.data());
                t.set(p, 3, own);
            });
            t.replay(model, s);
            gate.reached(t);
            let late = t.stream();
            let code = aclmdlRICaptureToModelRIBegin(late, body, GLOBAL);
            t.fails(
                code,
                RUNNING,
                "a capture into the body of a model that runs",
            );
            gate.open();
            t.sync(s);
            t.holds(p, &vec![3; LEN], "after the run");
            // More behind what it holds.
            t.fill_body(body, |own| t.set(p, 4, own));
            t.replay(model, s);
            t.sync(s);
            t.holds(p, &vec![4; LEN], "after a run of the longer body");
            t.destroy_model(model);
        }),
    ]
}
