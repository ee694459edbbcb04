//! Dropping everything that is queued on a device, and the questions about its faults.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};

use super::gate::*;
use super::support::*;

/// `ACL_ERROR_RT_DEVICE_TASK_ABORT`.
const ABORTING: i64 = ACL_ERROR_RT_DEVICE_TASK_ABORT as i64;
/// `ACL_ERROR_RT_INVALID_DEVICEID`.
const NO_SUCH_DEVICE: i64 = ACL_ERROR_RT_INVALID_DEVICEID as i64;
/// Longest time that an abort may take: 36 minutes.
const LONGEST_MS: u32 = 36 * 60 * 1000;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = drops();
    cases.extend(limits());
    cases.extend(callbacks());
    cases.extend(health());
    cases
}

/// A stream takes tasks and runs them.
fn works(t: &T, s: aclrtStream) {
    let counter = t.counted(s);
    t.sync(s);
    t.eq(counter.calls(), 1, "calls of a function on the stream");
}

fn abort_device(t: &T, id: i32) {
    t.ok(aclrtDeviceTaskAbort(id, 0), "aclrtDeviceTaskAbort");
}

fn drops() -> Vec<Case> {
    vec![
        case(
            "x.abort.drops_what_is_queued_on_every_stream",
            Setup::device0().devices(2),
            |t| {
                // Streams of two contexts of the device, and one of another device.
                let own = [t.stream(), t.stream()];
                let primary = t.context();
                t.create_context(0);
                let elsewhere = t.stream();
                let never = t.notify();
                let code = aclrtWaitAndResetNotify(never, elsewhere, 0);
                t.ok(code, "aclrtWaitAndResetNotify");
                let in_other_context = t.counted(elsewhere);
                t.ok(aclrtSetDevice(1), "aclrtSetDevice");
                let other = t.stream();
                let other_gate = t.hold(other);
                let other_counter = t.counted(other);
                t.ok(aclrtSetCurrentContext(primary), "aclrtSetCurrentContext");

                let (p, before) = t.filled(MIB);
                let (h, bytes) = t.pinned(MIB);
                let n = t.notify();
                let mut counters = vec![in_other_context];
                for s in own {
                    // Each stands before something that never comes.
                    t.ok(aclrtWaitAndResetNotify(n, s, 0), "aclrtWaitAndResetNotify");
                    t.copy_async(p, h, bytes.len(), s);
                    counters.push(t.counted(s));
                }
                // One that waits for a dropped record does not go on either.
                let e = t.event();
                t.record(e, own[0]);
                let follower = t.stream();
                t.wait_event(follower, e);
                counters.push(t.counted(follower));
                abort_device(t, 0);
                t.check(
                    t.is_idle(elsewhere),
                    "the stream of the other context has tasks",
                );
                for s in own {
                    t.check(t.is_idle(s), "the stream still has tasks");
                    t.sync(s);
                    works(t, s);
                }
                for counter in counters {
                    t.eq(counter.calls(), 0, "calls of a dropped task");
                }
                t.holds(p, &before, "memory that a dropped copy would have written");
                // What is queued from now on is done.
                t.copy_async(p, h, bytes.len(), own[1]);
                t.sync(own[1]);
                t.holds(p, &bytes, "memory after a new copy");
                // The other device has not noticed.
                t.eq(
                    other_counter.calls(),
                    0,
                    "calls behind the gate of the other device",
                );
                other_gate.open();
                t.ok(aclrtSetDevice(1), "aclrtSetDevice");
                t.sync(other);
                t.eq(other_counter.calls(), 1, "calls on the other device");
            },
        ),
        case("x.abort.waiters_are_told", Setup::device0(), |t| {
            let s = t.stream();
            let n = t.notify();
            t.ok(aclrtWaitAndResetNotify(n, s, 0), "aclrtWaitAndResetNotify");
            let counter = t.counted(s);
            let at = s as usize;
            let context = t.context() as usize;
            let waits = [AtomicI32::new(-1), AtomicI32::new(-1)];
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    t.ok(aclrtSetCurrentContext(addr(context)), "a context");
                    let code = aclrtSynchronizeStream(addr(at));
                    let text = recent_text().unwrap_or_default();
                    t.check(
                        text.contains("aclrtDeviceTaskAbort"),
                        "the text of the waiter",
                    );
                    waits[0].store(code, Ordering::SeqCst);
                });
                scope.spawn(|| {
                    t.ok(aclrtSetCurrentContext(addr(context)), "a context");
                    waits[1].store(aclrtSynchronizeDevice(), Ordering::SeqCst);
                });
                std::thread::sleep(HOLD);
                t.eq(
                    waits[0].load(Ordering::SeqCst),
                    -1,
                    "the wait for the stream",
                );
                t.eq(
                    waits[1].load(Ordering::SeqCst),
                    -1,
                    "the wait for the device",
                );
                abort_device(t, 0);
            });
            for wait in &waits {
                t.eq(
                    i64::from(wait.load(Ordering::SeqCst)),
                    ABORTING,
                    "the end of a wait",
                );
            }
            t.eq(counter.calls(), 0, "calls of a dropped task");
            works(t, s);
        }),
        case("x.abort.runs_of_a_graph", Setup::device0(), |t| {
            let s = t.stream();
            let mut model = null_mut();
            t.ok(
                aclmdlRICaptureBegin(s, ACL_MODEL_RI_CAPTURE_MODE_RELAXED),
                "aclmdlRICaptureBegin",
            );
            let (p, before) = t.filled(MIB);
            let (h, bytes) = t.pinned(MIB);
            t.copy_async(p, h, bytes.len(), s);
            t.ok(aclmdlRICaptureEnd(s, &raw mut model), "aclmdlRICaptureEnd");
            let n = t.notify();
            t.ok(aclrtWaitAndResetNotify(n, s, 0), "aclrtWaitAndResetNotify");
            t.ok(aclmdlRIExecuteAsync(model, s), "aclmdlRIExecuteAsync");
            abort_device(t, 0);
            t.sync(s);
            t.holds(p, &before, "memory that the dropped run would have written");
            t.ok(aclmdlRIExecuteAsync(model, s), "aclmdlRIExecuteAsync");
            t.sync(s);
            t.holds(p, &bytes, "memory after a run");
        }),
        case(
            "x.abort.eager",
            Setup::device0().env("CANNERY_SCHEDULE", "eager"),
            dropped,
        ),
        case(
            "x.abort.lazy",
            Setup::device0().env("CANNERY_SCHEDULE", "lazy"),
            dropped,
        ),
        case(
            "x.abort.random",
            Setup::device0().env("CANNERY_SCHEDULE", "random:3"),
            dropped,
        ),
        case("x.abort.nothing_is_queued", Setup::init(), |t| {
            abort_device(t, 0);
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            abort_device(t, 0);
            works(t, t.stream());
        }),
    ]
}

/// What cannot run yet is dropped, whatever decides when it runs.
fn dropped(t: &T) {
    let (s, n) = (t.stream(), t.notify());
    let (p, before) = t.filled(MIB);
    let (h, bytes) = t.pinned(MIB);
    t.ok(aclrtWaitAndResetNotify(n, s, 0), "aclrtWaitAndResetNotify");
    t.copy_async(p, h, bytes.len(), s);
    let counter = t.counted(s);
    abort_device(t, 0);
    t.check(t.is_idle(s), "the stream still has tasks");
    t.sync(s);
    t.eq(counter.calls(), 0, "calls of a dropped task");
    t.holds(p, &before, "memory that a dropped copy would have written");
    works(t, s);
    t.copy_async(p, h, bytes.len(), s);
    t.sync(s);
    t.holds(p, &bytes, "memory after a new copy");
}

fn limits() -> Vec<Case> {
    vec![
        case("x.abort.waits_for_what_runs", Setup::device0(), |t| {
            let s = t.stream();
            let gate = t.hold(s);
            let counter = t.counted(s);
            // The function that runs cannot be stopped.
            t.fails_with(
                aclrtDeviceTaskAbort(0, 30),
                ACL_ERROR_RT_WAIT_TIMEOUT.into(),
                "'of device 0' '30 ms' '0 to wait for ever'",
                "an abort whose time is over",
            );
            t.eq(counter.calls(), 0, "calls of a dropped task");
            t.blocks(*gate, || abort_device(t, 0));
            gate.left(t);
            t.sync(s);
            t.eq(counter.calls(), 0, "calls of a dropped task");
            works(t, s);
        }),
        case("x.abort.one_at_a_time", Setup::device0(), |t| {
            let (s, quiet) = (t.stream(), t.stream());
            let gate = t.hold(s);
            let context = t.context() as usize;
            let quiet_at = quiet as usize;
            let begun = || {
                // Streams refuse tasks as soon as the abort has begun.
                let counter = Counter::new();
                let code = aclrtLaunchHostFunc(addr(quiet_at), Counter::function(), counter.data());
                let _ = recent_text();
                i64::from(code) == ABORTING
            };
            std::thread::scope(|scope| {
                let abort = scope.spawn(|| aclrtDeviceTaskAbort(0, 0));
                t.ok(aclrtSetCurrentContext(addr(context)), "a context");
                while !begun() {
                    std::thread::yield_now();
                }
                t.fails(aclrtDeviceTaskAbort(0, 0), ABORTING, "a second abort");
                let mut new = SENTINEL;
                t.fails(aclrtCreateStream(&raw mut new), ABORTING, "a new stream");
                t.fails(
                    aclrtSynchronizeStream(quiet),
                    ABORTING,
                    "synchronising meanwhile",
                );
                gate.open();
                t.ok(abort.join().unwrap_or(-1), "the first abort");
            });
            works(t, s);
            works(t, quiet);
            works(t, t.stream());
        }),
        case("x.abort.from_a_host_function", Setup::device0(), |t| {
            static ANSWER: AtomicI32 = AtomicI32::new(-1);
            extern "C" fn abort_all(_: *mut c_void) {
                ANSWER.store(aclrtDeviceTaskAbort(0, 0), Ordering::SeqCst);
            }
            let s = t.stream();
            let n = t.notify();
            let blocked = t.stream();
            t.ok(
                aclrtWaitAndResetNotify(n, blocked, 0),
                "aclrtWaitAndResetNotify",
            );
            t.host_function(s, Some(abort_all), null_mut());
            // Either before the abort or dropped by it: the wait ends all the same.
            let _ = aclrtSynchronizeStream(s);
            let _ = recent_text();
            while ANSWER.load(Ordering::SeqCst) < 0 {
                std::thread::yield_now();
            }
            t.eq(ANSWER.load(Ordering::SeqCst), 0, "the abort");
            t.check(t.is_idle(blocked), "the other stream still has tasks");
            works(t, s);
        }),
        case("x.abort.arguments", Setup::device0().devices(2), |t| {
            for bad in [-1, 2, i32::MAX] {
                t.fails(
                    aclrtDeviceTaskAbort(bad, 0),
                    NO_SUCH_DEVICE,
                    "a device that is none",
                );
            }
            let code = aclrtDeviceTaskAbort(0, LONGEST_MS + 1);
            t.fails_with(code, ERROR_PARAM, "param=timeout", "a longer time");
            t.ok(aclrtDeviceTaskAbort(0, LONGEST_MS), "the longest time");
            t.ok(aclrtDeviceTaskAbort(1, 1), "a device that is not set");
        }),
        case("x.abort.products", Setup::device0().profile("310P"), |t| {
            let code = aclrtDeviceTaskAbort(0, LONGEST_MS + 1);
            t.fails(code, ERROR_PARAM, "the argument comes first");
            t.fails(
                aclrtDeviceTaskAbort(0, 0),
                ERROR_UNSUPPORTED,
                "aclrtDeviceTaskAbort",
            );
            let name = c"watcher".as_ptr();
            let code = aclrtSetDeviceTaskAbortCallback(name, Some(note), null_mut());
            t.fails(code, ERROR_UNSUPPORTED, "aclrtSetDeviceTaskAbortCallback");
            let mut info = blank();
            let code = aclrtGetErrorVerbose(0, &raw mut info);
            t.fails(code, ERROR_UNSUPPORTED, "aclrtGetErrorVerbose");
        }),
    ]
}

/// Device, stage, timeout, argument, and whether the stream was idle.
type Call = (i32, i32, u32, usize);
static CALLS: Mutex<Vec<Call>> = Mutex::new(Vec::new());
static REFUSE: AtomicI32 = AtomicI32::new(0);

#[allow(unsafe_code)] // The type of a C callback.
unsafe extern "C" fn note(
    device: i32,
    stage: aclrtDeviceTaskAbortStage,
    timeout: u32,
    args: *mut c_void,
) -> i32 {
    let call = (device, stage, timeout, args as usize);
    CALLS.lock().expect("no panic").push(call);
    REFUSE.load(Ordering::SeqCst)
}

#[allow(unsafe_code)] // The type of a C callback.
unsafe extern "C" fn abort_again(
    device: i32,
    stage: aclrtDeviceTaskAbortStage,
    timeout: u32,
    _args: *mut c_void,
) -> i32 {
    let code = aclrtDeviceTaskAbort(device, timeout);
    let call = (device, stage, timeout, code as usize);
    CALLS.lock().expect("no panic").push(call);
    let _ = recent_text();
    0
}

fn calls() -> Vec<Call> {
    std::mem::take(&mut *CALLS.lock().expect("no panic"))
}

fn callbacks() -> Vec<Case> {
    let again = case("x.abort.callbacks_that_abort", Setup::device0(), |t| {
        let code =
            aclrtSetDeviceTaskAbortCallback(c"again".as_ptr(), Some(abort_again), null_mut());
        t.ok(code, "aclrtSetDeviceTaskAbortCallback");
        let s = t.stream();
        let gate = t.hold(s);
        let counter = t.counted(s);
        t.blocks(*gate, || abort_device(t, 0));
        let (pre, post) = (ACL_RT_DEVICE_TASK_ABORT_PRE, ACL_RT_DEVICE_TASK_ABORT_POST);
        let refused = ABORTING as usize;
        t.eq(
            calls(),
            vec![(0, pre, 0, refused), (0, post, 0, refused)],
            "calls, with the code of the abort in them",
        );
        gate.left(t);
        t.eq(counter.calls(), 0, "calls of a dropped task");
        works(t, s);
    });
    let list = vec![case(
        "x.abort.callbacks",
        Setup::device0().devices(2),
        |t| {
            let register = |name: &CString, function, args| {
                aclrtSetDeviceTaskAbortCallback(name.as_ptr(), function, addr(args))
            };
            let (a, b, empty) = (c"a".to_owned(), c"b".to_owned(), c"".to_owned());
            let f: aclrtDeviceTaskAbortCallback = Some(note);
            let code = aclrtSetDeviceTaskAbortCallback(null(), f, null_mut());
            t.fails(code, ERROR_FRONT, "no name");
            t.fails(register(&empty, f, 0), ERROR_FRONT, "an empty name");
            t.fails(register(&a, None, 0), ERROR_FRONT, "one that is unknown");
            t.ok(register(&b, f, 2), "register b");
            t.ok(register(&a, f, 1), "register a");
            t.fails(register(&a, f, 3), ERROR_FRONT, "a name that is taken");
            let (pre, post) = (ACL_RT_DEVICE_TASK_ABORT_PRE, ACL_RT_DEVICE_TASK_ABORT_POST);
            t.ok(aclrtDeviceTaskAbort(1, 500), "aclrtDeviceTaskAbort");
            let want = vec![
                (1, pre, 500, 2),
                (1, pre, 500, 1),
                (1, post, 500, 2),
                (1, post, 500, 1),
            ];
            t.eq(calls(), want, "calls");
            // One that refuses before: nothing is dropped.
            let s = t.stream();
            let gate = t.hold(s);
            let counter = t.counted(s);
            REFUSE.store(7, Ordering::SeqCst);
            t.fails(
                aclrtDeviceTaskAbort(0, 0),
                ACL_ERROR_RT_TASK_ABORT_STOP.into(),
                "an abort that a callback refuses",
            );
            t.eq(calls(), vec![(0, pre, 0, 2)], "calls");
            REFUSE.store(0, Ordering::SeqCst);
            gate.open();
            t.sync(s);
            t.eq(counter.calls(), 1, "calls of a task that was kept");
            t.ok(register(&a, None, 0), "unregister a");
            t.ok(register(&b, None, 0), "unregister b");
            abort_device(t, 0);
            t.eq(calls(), vec![], "calls");
        },
    )];
    list.into_iter().chain([again]).collect()
}

const UNHURT: aclrtMemUceInfo = aclrtMemUceInfo {
    addr: SENTINEL,
    len: UNTOUCHED,
    reserved: [UNTOUCHED; 14],
};

/// A description that nobody has written.
fn blank() -> aclrtErrorInfo {
    aclrtErrorInfo {
        tryRepair: 77,
        hasDetail: 77,
        reserved: [77; 2],
        errorType: 77,
        detail: aclrtErrorInfoDetail {
            uceInfo: aclrtMemUceInfoArray {
                arraySize: UNTOUCHED,
                memUceInfoArray: [UNHURT; 20],
            },
        },
    }
}

fn health() -> Vec<Case> {
    vec![
        case("x.health.no_fault", Setup::device0(), |t| {
            // A task fails; the device is well all the same.
            let (s, n) = (t.stream(), t.notify());
            t.ok(aclrtWaitAndResetNotify(n, s, 1), "aclrtWaitAndResetNotify");
            let code = aclrtSynchronizeStream(s);
            t.fails(code, ACL_ERROR_RT_TASK_TIMEOUT.into(), "a task that fails");
            let mut info = blank();
            t.ok(
                aclrtGetErrorVerbose(0, &raw mut info),
                "aclrtGetErrorVerbose",
            );
            t.eq(
                (
                    info.tryRepair,
                    info.hasDetail,
                    info.reserved,
                    info.errorType,
                ),
                (0, 0, [0; 2], ACL_RT_NO_ERROR),
                "the fault",
            );
            #[allow(unsafe_code)] // The larger member of a union.
            // SAFETY: plain numbers, of which every byte was set.
            let ranges = unsafe { info.detail.uceInfo };
            t.eq(ranges.arraySize, 0, "damaged ranges");
            t.eq(ranges.memUceInfoArray[19].len, 0, "the last place");
            // The way out that programs take: fault, abort, repair, go on.
            t.ok(aclrtDeviceTaskAbort(0, 1000), "aclrtDeviceTaskAbort");
            t.ok(aclrtRepairError(0, &raw const info), "aclrtRepairError");
            works(t, s);
            info.errorType = ACL_RT_ERROR_MEMORY;
            let code = aclrtRepairError(0, &raw const info);
            t.fails_with(
                code,
                ERROR_PARAM,
                "param=errorInfo->errorType 'device 0' aclrtGetErrorVerbose",
                "a fault that the device does not have",
            );
            t.fails(aclrtGetErrorVerbose(0, null_mut()), ERROR_FRONT, "no place");
            t.fails(aclrtRepairError(0, null()), ERROR_FRONT, "no fault");
            t.fails(
                aclrtRepairError(9, &raw const info),
                NO_SUCH_DEVICE,
                "device 9",
            );
            t.fails(
                aclrtGetErrorVerbose(-1, &raw mut info),
                NO_SUCH_DEVICE,
                "device -1",
            );
        }),
        case("x.health.no_damaged_memory", Setup::device0(), |t| {
            let mut ranges = [UNHURT; 128];
            let mut count = UNTOUCHED;
            let at = ranges.as_mut_ptr();
            let ask = |at, room, count| aclrtGetMemUceInfo(0, at, room, count);
            t.ok(ask(at, 128, &raw mut count), "aclrtGetMemUceInfo");
            t.eq(count, 0, "damaged ranges");
            t.eq(ranges[0].len, UNTOUCHED, "the list");
            count = UNTOUCHED;
            t.fails(ask(null_mut(), 128, &raw mut count), ERROR_FRONT, "no list");
            t.fails(ask(at, 0, &raw mut count), ERROR_FRONT, "room for none");
            t.fails(
                ask(at, 129, &raw mut count),
                ERROR_FRONT,
                "room for too many",
            );
            t.fails(
                ask(at, 128, null_mut()),
                ERROR_FRONT,
                "no place for the number",
            );
            t.eq(count, UNTOUCHED, "the number");
            let code = aclrtGetMemUceInfo(3, at, 128, &raw mut count);
            t.fails(code, NO_SUCH_DEVICE, "device 3");
            let (p, bytes) = t.filled(MIB);
            let well = aclrtMemUceInfo {
                addr: p,
                len: MIB,
                reserved: [0; 14],
            };
            let mut ranges = [well; 129];
            let at = ranges.as_mut_ptr();
            let repair = |at, count| aclrtMemUceRepair(0, at, count);
            t.fails(repair(at, 1), ERROR_PARAM, "memory that is well");
            t.holds(p, &bytes, "memory that is well");
            t.fails(repair(at, 0), ERROR_FRONT, "no range");
            t.fails(repair(at, 129), ERROR_FRONT, "too many ranges");
            t.fails(repair(null_mut(), 1), ERROR_FRONT, "no list");
        }),
    ]
}
