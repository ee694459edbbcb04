//! How models and their runs end: streams that give a model no more tasks, runs that are aborted, and what of them
//! must not be seen by the next run.

use super::gate::*;
use super::graph::*;
use super::support::*;

/// A run that aclmdlRIAbort ended.
const ABORTED: i64 = ACL_ERROR_RT_MODEL_ABORT_NORMAL as i64;
const STREAM_ABORTED: i64 = ACL_ERROR_RT_STREAM_ABORT as i64;
/// Time for work to go wrong that must not be done.
const WHILE: std::time::Duration = std::time::Duration::from_millis(50);

pub(super) fn cases() -> Vec<Case> {
    let mut list = seals();
    list.extend(aborts());
    list.extend(drops());
    list.extend(errors());
    list
}

impl T {
    fn fill_on(&self, p: *mut c_void, value: i32, s: aclrtStream) {
        let code = aclrtMemsetAsync(p, LEN, value, LEN, s);
        self.ok(code, "aclrtMemsetAsync");
    }

    /// Device memory that a stream waits on until [`T::let_on`].
    fn barrier(&self) -> *mut c_void {
        let cell = self.malloc(8, ACL_MEM_MALLOC_NORMAL_ONLY);
        self.upload(cell, &[0; 8]);
        cell
    }

    fn wait_at(&self, cell: *mut c_void, s: aclrtStream) {
        let code = aclrtValueWait(cell, 1, ACL_STREAM_WAIT_VALUE_EQ, s);
        self.ok(code, "aclrtValueWait");
    }

    fn let_on(&self, cell: *mut c_void) {
        self.upload(cell, &1u64.to_le_bytes());
    }

    /// What is told once, and then no more.
    fn tells_once(&self, s: aclrtStream, want: i64, tokens: &str) {
        self.fails_with(aclrtSynchronizeStream(s), want, tokens, "the stream");
        self.sync(s);
    }

    /// Makes a built model one whose runs decide where they go.
    pub(super) fn decide(&self, model: aclmdlRI) {
        let later = self.persistent();
        let code = aclmdlRIBindStream(model, later, 0x7fff_ffff);
        self.ok(code, "aclmdlRIBindStream of one that begins later");
    }
}

/// Registers one body for models that decide where they go, and for those that do not.
macro_rules! both_kinds {
    ($list:ident, $plain:literal, $walks:literal, $body:ident) => {
        for (plain, walks, schedule) in [
            ($plain, $walks, "fifo"),
            (
                concat!($plain, ".random_3"),
                concat!($walks, ".random_3"),
                "random:3",
            ),
        ] {
            let setup = || Setup::device0().env("CANNERY_SCHEDULE", schedule);
            $list.push(case(plain, setup(), |t| $body(t, false)));
            $list.push(case(walks, setup(), |t| $body(t, true)));
        }
    };
}

fn seals() -> Vec<Case> {
    vec![
        case("x.graph.build.takes_no_more", Setup::device0(), |t| {
            let p = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
            let (q, old) = t.filled(LEN);
            let e = t.event_ex(ACL_EVENT_SYNC);
            let model = t.build();
            let (s, r) = (t.persistent(), t.persistent());
            t.bind(model, s);
            t.bind(model, r);
            let plain = t.stream();
            let captured = t.model(plain, || t.fill_on(q, 9, plain));
            let refuses = |own: aclrtStream, what: &str| {
                let numbers = format!("{own:?} {model:?} aclmdlRIEndTask aclrtPersistentTaskClean");
                let code = aclrtMemsetAsync(q, LEN, 8, LEN, own);
                t.fails_with(code, ERROR_PARAM, &numbers, what);
                let code = aclrtRecordEvent(e, own);
                t.fails_with(code, ERROR_PARAM, &numbers, what);
                let code = aclrtLaunchHostFunc(own, Gate::function(), null_mut());
                t.fails_with(code, ERROR_PARAM, &numbers, what);
                let code = aclmdlRIExecuteAsync(captured, own);
                t.fails_with(code, ERROR_PARAM, &numbers, what);
                let code = aclmdlRIEndTask(model, own);
                t.fails_with(code, ERROR_PARAM, &numbers, what);
            };
            t.fill_on(p, 1, s);
            t.ok(aclmdlRIEndTask(model, s), "aclmdlRIEndTask");
            refuses(s, "a stream whose tasks have ended");
            // The other stream goes on.
            t.fill_on(q, 2, r);
            t.build_end(model);
            refuses(s, "one of a model that was built");
            refuses(r, "one whose tasks ended with the model");
            t.eq(t.tasks(s).len() + t.tasks(r).len(), 2, "tasks");
            t.ok(aclmdlRIExecute(model, 60_000), "aclmdlRIExecute");
            t.holds(p, &vec![1; LEN], "the one");
            t.holds(q, &vec![2; LEN], "the other");
            // Emptied, it takes tasks again, and ends again.
            t.upload(q, &old);
            t.ok(aclrtPersistentTaskClean(s), "aclrtPersistentTaskClean");
            t.fill_on(p, 3, s);
            t.ok(aclmdlRIEndTask(model, s), "aclmdlRIEndTask once more");
            refuses(s, "a stream that was filled again");
            refuses(r, "one that was not emptied");
            t.ok(aclmdlRIExecute(model, 60_000), "aclmdlRIExecute");
            t.holds(p, &vec![3; LEN], "what it was filled with");
            t.holds(q, &vec![2; LEN], "the other");
            // Unbound, it is an ordinary stream, and another model takes what it is given.
            t.ok(aclmdlRIUnbindStream(model, r), "aclmdlRIUnbindStream");
            let second = t.build();
            t.bind(second, r);
            t.fill_on(q, 4, r);
            t.build_end(second);
            t.ok(aclmdlRIExecute(second, 60_000), "aclmdlRIExecute");
            t.holds(q, &vec![4; LEN], "of the second model");
            t.destroy_model(model);
            t.destroy_model(second);
            t.destroy_model(captured);
        }),
        case("x.graph.build.ordinary_again", Setup::device0(), |t| {
            // The end of its model sets a stream free.
            let p = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
            let model = t.build();
            let s = t.persistent();
            t.bind(model, s);
            t.fill_on(p, 1, s);
            t.build_end(model);
            t.destroy_model(model);
            t.fill_on(p, 2, s);
            let e = t.event_ex(ACL_EVENT_SYNC);
            t.record(e, s);
            t.ok(aclrtSynchronizeEvent(e), "aclrtSynchronizeEvent");
            t.holds(p, &vec![2; LEN], "work of the stream itself");
        }),
    ]
}

fn tells(t: &T, decides: bool) {
    let (p, old) = t.filled(LEN);
    let cell = t.barrier();
    let model = t.build();
    let s = t.persistent();
    t.bind(model, s);
    if decides {
        t.decide(model);
    }
    let begun = t.counted(s);
    t.wait_at(cell, s);
    t.fill_on(p, 4, s);
    t.build_end(model);
    let other = t.stream();
    t.replay(model, other);
    t.replay(model, other);
    let behind = t.counted(other);
    // The call that waits is told, too: its own run is behind the others, or beside them.
    let (handle, context) = (model as usize, t.context() as usize);
    let waiter = std::thread::spawn(move || {
        let code = aclrtSetCurrentContext(addr(context));
        if code == 0 {
            aclmdlRIExecute(addr(handle), 60_000)
        } else {
            code
        }
    });
    let late = aclrtSynchronizeStreamWithTimeout(other, 100);
    t.fails(late, TOO_LATE, "a run that waits");
    t.ok(aclmdlRIAbort(model), "aclmdlRIAbort");
    t.eq(
        waiter.join().ok().map(i64::from),
        Some(ABORTED),
        "aclmdlRIExecute",
    );
    t.tells_once(other, ABORTED, "aclmdlRIAbort");
    t.eq(behind.calls(), 1, "what is queued behind the runs");
    t.holds(p, &old, "memory after the abort");
    t.check(begun.calls() <= 3, "runs that began");
    t.ok(
        aclmdlRIAbort(model),
        "an abort of a model that does not run",
    );
    t.let_on(cell);
    t.replay(model, other);
    t.sync(other);
    t.holds(p, &vec![4; LEN], "the next run");
    t.ok(aclmdlRIExecute(model, 60_000), "aclmdlRIExecute");
    t.destroy_model(model);
}

fn aborts() -> Vec<Case> {
    let mut list = Vec::new();
    both_kinds!(
        list,
        "x.graph.abort.tells",
        "x.graph.abort.tells_of_walks",
        tells
    );
    list.push(case("x.graph.abort.text", Setup::device0(), |t| {
        let cell = t.barrier();
        let model = t.build();
        let s = t.persistent();
        t.bind(model, s);
        t.wait_at(cell, s);
        t.build_end(model);
        let handle = model as usize;
        let aborter = std::thread::spawn(move || {
            std::thread::sleep(HOLD);
            aclmdlRIAbort(addr(handle))
        });
        let code = aclmdlRIExecute(model, 60_000);
        t.fails_with(code, ABORTED, "aclmdlRIAbort run", "a run that was ended");
        t.eq(aborter.join().ok(), Some(ACL_SUCCESS), "aclmdlRIAbort");
        t.destroy_model(model);
    }));
    list
}

/// How a stream loses what it has.
#[derive(Clone, Copy)]
enum End {
    Abort,
    Destroy,
    Device,
}

impl End {
    fn of(self, t: &T, s: aclrtStream) {
        match self {
            End::Abort => t.ok(aclrtStreamAbort(s), "aclrtStreamAbort"),
            End::Destroy => t.ok(aclrtDestroyStreamForce(s), "aclrtDestroyStreamForce"),
            End::Device => t.ok(aclrtDeviceTaskAbort(0, 0), "aclrtDeviceTaskAbort"),
        }
    }
}

const ENDS: [End; 3] = [End::Abort, End::Destroy, End::Device];

/// Runs of a model whose tasks are dropped with their stream: before they begin, and in the middle.
fn dropped_with_the_stream(t: &T, model: aclmdlRI, cell: *mut c_void, p: *mut c_void, old: &[u8]) {
    for end in ENDS {
        for begun in [false, true] {
            let mut s = null_mut();
            t.ok(aclrtCreateStream(&raw mut s), "aclrtCreateStream");
            t.upload(cell, &[0; 8]);
            t.upload(p, old);
            let gate = Gate::closed();
            if !begun {
                t.host_function(s, Gate::function(), gate.data());
                gate.reached(t);
            }
            t.replay(model, s);
            t.replay(model, s);
            if begun {
                let late = aclrtSynchronizeStreamWithTimeout(s, 20);
                t.fails(late, TOO_LATE, "a run that waits");
            } else if matches!(end, End::Device) {
                // It waits for the function.
                gate.open();
            }
            end.of(t, s);
            gate.open();
            t.let_on(cell);
            std::thread::sleep(WHILE);
            t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
            t.holds(p, old, "memory after the runs were dropped");
            let mut s = null_mut();
            t.ok(aclrtCreateStream(&raw mut s), "aclrtCreateStream");
            t.replay(model, s);
            t.sync(s);
            t.holds(p, &vec![4; LEN], "the next run");
        }
    }
    t.destroy_model(model);
}

fn drops_bound(t: &T, decides: bool) {
    let (p, old) = t.filled(LEN);
    let cell = t.barrier();
    let model = t.build();
    let (s, r) = (t.persistent(), t.persistent());
    t.bind(model, s);
    t.bind(model, r);
    if decides {
        t.decide(model);
    }
    t.wait_at(cell, r);
    t.fill_on(p, 4, r);
    t.wait_at(cell, s);
    t.build_end(model);
    dropped_with_the_stream(t, model, cell, p, &old);
}

fn drops() -> Vec<Case> {
    let mut list = Vec::new();
    both_kinds!(
        list,
        "x.graph.ends.dropped_with_the_stream",
        "x.graph.ends.walks_dropped_with_the_stream",
        drops_bound
    );
    for (id, schedule) in [
        ("x.graph.ends.branches_dropped", "fifo"),
        ("x.graph.ends.branches_dropped.random_3", "random:3"),
    ] {
        let setup = Setup::device0().env("CANNERY_SCHEDULE", schedule);
        list.push(case(id, setup, |t| {
            // Another branch of a captured model.
            let (p, old) = t.filled(LEN);
            let cell = t.barrier();
            let (s, r) = (t.stream(), t.stream());
            let model = t.model(s, || {
                t.link(s, r);
                t.wait_at(cell, r);
                t.fill_on(p, 4, r);
                t.link(r, s);
            });
            dropped_with_the_stream(t, model, cell, p, &old);
        }));
    }
    list.push(case(
        "x.graph.ends.branches_of_a_body",
        Setup::device0(),
        |t| {
            let (p, old) = t.filled(LEN);
            let cell = t.barrier();
            let s = t.stream();
            let model = t.model(s, || {
                let flag = ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT;
                let (handle, _) = t.condition(s, 1, flag);
                let body = t.choice(handle, ACL_MODEL_RI_COND_TYPE_IF, 1, s)[0];
                t.fill_body(body, |own| {
                    let side = t.stream();
                    t.link(own, side);
                    t.wait_at(cell, side);
                    t.fill_on(p, 4, side);
                    t.link(side, own);
                });
            });
            dropped_with_the_stream(t, model, cell, p, &old);
        },
    ));
    list.push(case(
        "x.graph.ends.branches_of_a_stream_that_stops",
        Setup::device0(),
        |t| {
            // A stream that stops on failure drops what it has: of a run, all of it.
            let (p, old) = t.filled(LEN);
            let (s, r) = (t.stream(), t.stream());
            let model = t.model(s, || {
                t.link(s, r);
                t.fill_on(p, 4, r);
                t.link(r, s);
            });
            let place = t.stream();
            let mut value = aclrtStreamAttrValue { failureMode: 1 };
            let code = aclrtSetStreamAttribute(place, ACL_STREAM_ATTR_FAILURE_MODE, &raw mut value);
            t.ok(code, "aclrtSetStreamAttribute");
            let failing = t.fails_when_run();
            let gate = t.hold(place);
            t.replay(failing, place);
            t.replay(model, place);
            gate.open();
            t.fails(aclrtSynchronizeStream(place), DEAD, "the failed task");
            std::thread::sleep(WHILE);
            t.holds(p, &old, "what was queued behind it");
        },
    ));
    list.push(case(
        "x.graph.ends.told_while_waiting",
        Setup::device0(),
        |t| {
            // Whoever waits for the stream is told that its runs were dropped.
            let cell = t.barrier();
            let model = t.build();
            let s = t.persistent();
            t.bind(model, s);
            t.wait_at(cell, s);
            t.build_end(model);
            let other = t.stream();
            t.replay(model, other);
            let (place, context) = (other as usize, t.context() as usize);
            let aborter = std::thread::spawn(move || {
                std::thread::sleep(HOLD);
                let code = aclrtSetCurrentContext(addr(context));
                if code == 0 {
                    aclrtStreamAbort(addr(place))
                } else {
                    code
                }
            });
            t.tells_once(other, STREAM_ABORTED, "aclrtStreamAbort");
            t.eq(aborter.join().ok(), Some(ACL_SUCCESS), "aclrtStreamAbort");
            t.destroy_model(model);
        },
    ));
    list.push(case(
        "x.graph.ends.name_in_the_log",
        Setup::device0().env("CANNERY_LOG", "trace"),
        |t| {
            // A run that waits is called so, not by what decides within it.
            let cell = t.barrier();
            let model = t.build();
            let s = t.persistent();
            t.bind(model, s);
            t.decide(model);
            t.wait_at(cell, s);
            t.build_end(model);
            let other = t.stream();
            let mut number = 0;
            t.ok(aclrtStreamGetId(other, &raw mut number), "aclrtStreamGetId");
            t.replay(model, other);
            let late = aclrtSynchronizeStreamWithTimeout(other, 50);
            t.fails(late, TOO_LATE, "a run that waits");
            t.let_on(cell);
            t.sync(other);
            let said = std::fs::read_to_string("/proc/self/fd/2").unwrap_or_default();
            let of = format!("stream {number}: ");
            let named: Vec<&str> = said
                .lines()
                .filter_map(|line| Some(line.split_once(&of)?.1))
                .collect();
            t.check(
                !named.is_empty() && named.iter().all(|name| *name == "wait"),
                &format!("the tasks of the stream are called {named:?}"),
            );
            t.destroy_model(model);
        },
    ));
    list
}

impl T {
    /// A captured model whose run fails with 107017.
    fn fails_when_run(&self) -> aclmdlRI {
        let s = self.stream();
        let e = self.event_ex(ACL_EVENT_SYNC);
        let model = self.model(s, || {
            let code = aclrtStreamWaitEventWithFlag(s, e, 0, 1);
            self.ok(code, "aclrtStreamWaitEventWithFlag");
        });
        self.ok(aclrtDestroyEvent(e), "aclrtDestroyEvent");
        model
    }
}

fn errors_bound(t: &T, decides: bool) {
    // What failed in a run whose stream was aborted is nothing to the next one.
    let cell = t.barrier();
    let e = t.event_ex(ACL_EVENT_SYNC);
    let model = t.build();
    let (s, r) = (t.persistent(), t.persistent());
    t.bind(model, s);
    t.bind(model, r);
    if decides {
        t.decide(model);
    }
    let code = aclrtStreamWaitEventWithFlag(s, e, 0, 1);
    t.ok(code, "aclrtStreamWaitEventWithFlag");
    let failed = t.counted(s);
    t.wait_at(cell, r);
    t.build_end(model);
    t.ok(aclrtDestroyEvent(e), "aclrtDestroyEvent");
    let other = t.stream();
    t.replay(model, other);
    let late = aclrtSynchronizeStreamWithTimeout(other, 50);
    t.fails(late, TOO_LATE, "a run that waits");
    t.eq(failed.calls(), 1, "what is behind the failed task");
    t.ok(aclrtStreamAbort(other), "aclrtStreamAbort");
    t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
    // Without the task that fails.
    t.ok(aclrtPersistentTaskClean(s), "aclrtPersistentTaskClean");
    t.let_on(cell);
    t.replay(model, other);
    t.sync(other);
    t.ok(aclmdlRIExecute(model, 60_000), "aclmdlRIExecute");
    t.destroy_model(model);
}

fn errors() -> Vec<Case> {
    let mut list = Vec::new();
    both_kinds!(
        list,
        "x.graph.abort.errors_are_over",
        "x.graph.abort.errors_of_walks_are_over",
        errors_bound
    );
    list.push(case(
        "x.graph.ends.errors_of_branches",
        Setup::device0(),
        |t| {
            let (cell, n) = (t.barrier(), t.notify());
            let (s, r) = (t.stream(), t.stream());
            let model = t.model(s, || {
                t.link(s, r);
                t.ok(aclrtWaitAndResetNotify(n, r, 1), "aclrtWaitAndResetNotify");
                t.wait_at(cell, r);
                t.link(r, s);
            });
            let other = t.stream();
            t.replay(model, other);
            let late = aclrtSynchronizeStreamWithTimeout(other, 1300);
            t.fails(late, TOO_LATE, "a run whose branch failed, and waits");
            t.ok(aclrtStreamAbort(other), "aclrtStreamAbort");
            t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
            t.let_on(cell);
            t.ok(aclrtRecordNotify(n, s), "aclrtRecordNotify");
            t.replay(model, other);
            t.sync(other);
            // One that fails and is not aborted tells.
            t.replay(model, other);
            t.tells_once(
                other,
                i64::from(ACL_ERROR_RT_TASK_TIMEOUT),
                "'task of the stream failed'",
            );
            t.destroy_model(model);
        },
    ));
    list
}
