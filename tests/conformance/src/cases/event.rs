//! Events: making, destroying, flags, and calls that are refused.

use super::gate::*;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = create();
    cases.extend(create_ex());
    cases.extend(destroy());
    cases.extend(nulls());
    cases.extend(refused());
    cases.extend(flags_of_use());
    cases.extend(own());
    cases
}

/// A flag that aclrtCreateEventWithFlag must refuse.
fn no_event(t: &T, call: fn(*mut aclrtEvent, u32) -> aclError, flag: u32) {
    let mut e = SENTINEL;
    t.ret(call(&raw mut e, flag));
    t.eq(e, SENTINEL, "output");
}

/// The event works: recorded and waited for.
fn works(t: &T, e: aclrtEvent) {
    let s = t.stream();
    t.record(e, s);
    t.ok(aclrtSynchronizeEvent(e), "aclrtSynchronizeEvent");
    t.eq(
        t.event_status(e),
        ACL_EVENT_RECORDED_STATUS_COMPLETE,
        "status of the recorded event",
    );
}

fn create() -> Vec<Case> {
    vec![
        case("event.create.no_context", Setup::init(), |t| {
            let mut e = SENTINEL;
            t.ret(aclrtCreateEvent(&raw mut e));
            t.eq(e, SENTINEL, "output");
        }),
        case("event.create_flag.combo_ok", Setup::device0(), |t| {
            let flag = ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE | ACL_EVENT_CAPTURE_STREAM_PROGRESS;
            let mut e = SENTINEL;
            t.ret(aclrtCreateEventWithFlag(&raw mut e, flag));
            works(t, e);
        }),
        case("event.create_flag.external_alone", Setup::device0(), |t| {
            let mut e = SENTINEL;
            t.ret(aclrtCreateEventWithFlag(&raw mut e, ACL_EVENT_EXTERNAL));
            t.check(e != SENTINEL && !e.is_null(), "no handle was written");
            t.ok(aclrtDestroyEvent(e), "aclrtDestroyEvent");
        }),
        case(
            "event.create_flag.external_combined",
            Setup::device0(),
            |t| {
                let flag = ACL_EVENT_EXTERNAL | ACL_EVENT_SYNC;
                no_event(t, aclrtCreateEventWithFlag, flag);
            },
        ),
        case("event.create_flag.null", Setup::device0(), |t| {
            t.ret(aclrtCreateEventWithFlag(null_mut(), ACL_EVENT_SYNC));
        }),
        case("event.create_flag.too_big", Setup::device0(), |t| {
            no_event(t, aclrtCreateEventWithFlag, 0x40);
        }),
    ]
}

fn create_ex() -> Vec<Case> {
    vec![
        case("event.create_ex.external", Setup::device0(), |t| {
            no_event(t, aclrtCreateEventExWithFlag, ACL_EVENT_EXTERNAL);
        }),
        case(
            "event.create_ex.ipc_unsupported",
            Setup::device0().profile("310B"),
            |t| no_event(t, aclrtCreateEventExWithFlag, ACL_EVENT_IPC),
        ),
        case("event.create_ex.null", Setup::device0(), |t| {
            t.ret(aclrtCreateEventExWithFlag(null_mut(), ACL_EVENT_SYNC));
        }),
        case("event.create_ex.zero", Setup::device0(), |t| {
            no_event(t, aclrtCreateEventExWithFlag, 0);
        }),
    ]
}

fn destroy() -> Vec<Case> {
    vec![
        case("event.destroy.null", Setup::device0(), |t| {
            t.ret(aclrtDestroyEvent(null_mut()));
        }),
        case("event.destroy.twice", Setup::device0(), |t| {
            let e = t.event();
            t.ok(aclrtDestroyEvent(e), "aclrtDestroyEvent");
            t.ret(aclrtDestroyEvent(e));
        }),
        case("event.destroy.while_pending", Setup::device0(), |t| {
            let (s, waiter) = (t.stream(), t.stream());
            let e = t.event();
            let gate = t.hold(s);
            t.record(e, s);
            t.wait_event(waiter, e);
            let counter = t.counted(waiter);
            t.ret(aclrtDestroyEvent(e));
            t.check(!gate.is_open(), "the gate is open");
            counter.stays_uncalled(t, "calls behind the wait for the destroyed event");
            // The wait outlives the event, and so does what it waits for.
            gate.open();
            t.sync(waiter);
            t.eq(counter.calls(), 1, "calls behind the wait");
            t.sync(s);
        }),
    ]
}

fn nulls() -> Vec<Case> {
    vec![
        case("event.elapsed.null_order", Setup::device0(), |t| {
            t.ret(aclrtEventElapsedTime(null_mut(), null_mut(), null_mut()));
        }),
        case("event.id.null_event", Setup::device0(), |t| {
            let mut id = 77;
            t.ret(aclrtGetEventId(null_mut(), &raw mut id));
            t.eq(id, 77, "output");
        }),
        case("event.query_status.null_status", Setup::device0(), |t| {
            let e = t.event();
            t.ret(aclrtQueryEventStatus(e, null_mut()));
        }),
        case("event.reset.null", Setup::device0(), |t| {
            let s = t.stream();
            t.ret(aclrtResetEvent(null_mut(), s));
        }),
        case("event.sync.null", Setup::device0(), |t| {
            t.ret(aclrtSynchronizeEvent(null_mut()));
        }),
        case("event.sync_timeout.order", Setup::device0(), |t| {
            t.ret(aclrtSynchronizeEventWithTimeout(null_mut(), -2));
        }),
        case("event.sync_timeout.zero", Setup::device0(), |t| {
            let e = t.event();
            t.ret(aclrtSynchronizeEventWithTimeout(e, 0));
        }),
        case("event.timestamp.null_order", Setup::device0(), |t| {
            t.ret(aclrtEventGetTimestamp(null_mut(), null_mut()));
        }),
    ]
}

fn refused() -> Vec<Case> {
    vec![
        case("event.query_wait.ex_event", Setup::device0(), |t| {
            let e = t.event_ex(ACL_EVENT_SYNC);
            let mut status = -77;
            t.ret(aclrtQueryEventWaitStatus(e, &raw mut status));
            t.eq(status, -77, "output");
        }),
        case("event.record.destroyed_event", Setup::device0(), |t| {
            let s = t.stream();
            let e = t.event();
            t.ok(aclrtDestroyEvent(e), "aclrtDestroyEvent");
            t.ret(aclrtRecordEvent(e, s));
            t.check(t.is_idle(s), "something was queued");
        }),
        case("event.record.device_only_event", Setup::device0(), |t| {
            let s = t.stream();
            let e = t.event_with(ACL_EVENT_DEVICE_USE_ONLY);
            t.ret(aclrtRecordEvent(e, s));
        }),
        case("event.record.other_context_stream", Setup::device0(), |t| {
            let s = t.foreign_stream();
            let e = t.event();
            t.ret(aclrtRecordEvent(e, s));
            t.eq(
                t.event_status(e),
                ACL_EVENT_RECORDED_STATUS_NOT_READY,
                "status: still unrecorded",
            );
        }),
        case("event.reset.ex_event", Setup::device0(), |t| {
            let s = t.stream();
            let e = t.event_ex(ACL_EVENT_SYNC);
            t.ret(aclrtResetEvent(e, s));
        }),
        case("event.reset.no_sync_flag", Setup::device0(), |t| {
            let s = t.stream();
            let e = t.event_with(ACL_EVENT_TIME_LINE);
            t.record(e, s);
            t.ret(aclrtResetEvent(e, s));
            t.sync(s);
            t.eq(
                t.event_status(e),
                ACL_EVENT_RECORDED_STATUS_COMPLETE,
                "status: not reset",
            );
        }),
        case("event.sync.external_event", Setup::device0(), |t| {
            let e = t.event_with(ACL_EVENT_EXTERNAL);
            t.ret(aclrtSynchronizeEvent(e));
        }),
        case("event.wait.no_sync_flag", Setup::device0(), |t| {
            let (s, other) = (t.stream(), t.stream());
            let e = t.event_with(ACL_EVENT_TIME_LINE);
            let gate = t.hold(other);
            t.record(e, other);
            t.ret(aclrtStreamWaitEvent(s, e));
            t.sync(s);
            t.check(!gate.is_open(), "the gate is open");
        }),
        case("event.wait.other_context_stream", Setup::device0(), |t| {
            let s = t.foreign_stream();
            let e = t.event();
            t.record(e, null_mut());
            t.ret(aclrtStreamWaitEvent(s, e));
        }),
        case("event.wait_timeout.negative", Setup::device0(), |t| {
            let (s, other) = (t.stream(), t.stream());
            let e = t.event();
            let gate = t.hold(other);
            t.record(e, other);
            t.ret(aclrtStreamWaitEventWithTimeout(s, e, -1));
            t.sync(s);
            t.check(!gate.is_open(), "the gate is open");
        }),
    ]
}

fn flags_of_use() -> Vec<Case> {
    vec![
        case(
            "event.record_flag.external_outside_capture",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let e = t.event_ex(ACL_EVENT_SYNC);
                let flag = ACL_EVENT_RECORD_EXTERNAL;
                t.ret(aclrtRecordEventWithFlag(e, s, flag));
                t.check(t.is_idle(s), "something was queued");
            },
        ),
        case(
            "event.record_flag.external_wrong_event",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let e = t.event();
                let flag = ACL_EVENT_RECORD_EXTERNAL;
                t.ret(aclrtRecordEventWithFlag(e, s, flag));
                t.eq(
                    t.event_status(e),
                    ACL_EVENT_RECORDED_STATUS_NOT_READY,
                    "status: still unrecorded",
                );
            },
        ),
        case(
            "event.record_flag.switch_forbidden",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let e = t.event_ex(ACL_EVENT_SYNC);
                let code = aclrtRecordEventWithFlag(e, s, ACL_EVENT_RECORD_DEFAULT);
                t.ok(code, "aclrtRecordEventWithFlag");
                let flag = ACL_EVENT_RECORD_EXTERNAL;
                t.ret(aclrtRecordEventWithFlag(e, s, flag));
                works(t, e);
                // The first use counts even when it failed.
                let e = t.event_ex(ACL_EVENT_SYNC);
                let code = aclrtRecordEventWithFlag(e, s, flag);
                t.fails(code, 107_029, "first use with the external flag");
                let code = aclrtRecordEventWithFlag(e, s, ACL_EVENT_RECORD_DEFAULT);
                t.fails(code, ERROR_PARAM, "then the default flag");
            },
        ),
        case("event.wait_flag.external_timeout", Setup::device0(), |t| {
            let s = t.stream();
            let e = t.event_ex(ACL_EVENT_SYNC);
            let flag = ACL_EVENT_WAIT_EXTERNAL;
            t.ret(aclrtStreamWaitEventWithFlag(s, e, 5, flag));
        }),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.event.invented_handles", Setup::device0(), |t| {
            let s = t.stream();
            let dead = t.event();
            t.ok(aclrtDestroyEvent(dead), "aclrtDestroyEvent");
            let live = t.event();
            let heap = vec![0_u8; 4096];
            let handles = [
                addr(1),
                addr(usize::MAX),
                off(live, 1),
                s,
                t.notify(),
                heap.as_ptr().cast_mut().cast(),
                dead,
            ];
            for e in handles {
                let what = format!("{e:p}");
                let mut status = -77;
                let (mut id, mut time, mut ms) = (77, 77, 77.0);
                t.fails(aclrtRecordEvent(e, s), ERROR_HANDLE, &what);
                t.fails(aclrtStreamWaitEvent(s, e), ERROR_HANDLE, &what);
                t.fails(aclrtResetEvent(e, s), ERROR_HANDLE, &what);
                t.fails(aclrtSynchronizeEvent(e), ERROR_HANDLE, &what);
                t.fails(aclrtQueryEvent(e, &raw mut status), ERROR_HANDLE, &what);
                let code = aclrtQueryEventStatus(e, &raw mut status);
                t.fails(code, ERROR_HANDLE, &what);
                let code = aclrtQueryEventWaitStatus(e, &raw mut status);
                t.fails(code, ERROR_HANDLE, &what);
                t.fails(aclrtGetEventId(e, &raw mut id), ERROR_HANDLE, &what);
                let code = aclrtEventGetTimestamp(e, &raw mut time);
                t.fails(code, ERROR_HANDLE, &what);
                let code = aclrtEventElapsedTime(&raw mut ms, e, live);
                t.fails(code, ERROR_HANDLE, &what);
                t.fails(aclrtDestroyEvent(e), ERROR_HANDLE, &what);
                t.eq((status, id, time, ms), (-77, 77, 77, 77.0), "outputs");
            }
            works(t, live);
        }),
        case("x.event.limit", Setup::device0().profile("310P"), |t| {
            let mut left = 0;
            let code = aclrtGetEventAvailNum(&raw mut left);
            t.ok(code, "aclrtGetEventAvailNum");
            t.eq(left, 1023, "events of the product");
            let all: Vec<_> = (0..left).map(|_| t.event_with(ACL_EVENT_SYNC)).collect();
            let mut e = SENTINEL;
            let code = aclrtCreateEventWithFlag(&raw mut e, ACL_EVENT_SYNC);
            t.fails(code, 207_007, "the first event too many");
            t.eq(e, SENTINEL, "output");
            let mut none = 77;
            let code = aclrtGetEventAvailNum(&raw mut none);
            t.ok(code, "aclrtGetEventAvailNum");
            t.eq(none, 0, "events left");
            for e in all {
                t.ok(aclrtDestroyEvent(e), "aclrtDestroyEvent");
            }
            works(t, t.event());
        }),
        case(
            "x.event.limit_is_per_device",
            Setup::device0().profile("310P").devices(2),
            |t| {
                let mut before = 0;
                t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
                let code = aclrtGetEventAvailNum(&raw mut before);
                t.ok(code, "aclrtGetEventAvailNum on device 1");
                t.ok(aclrtSetDevice(0), "aclrtSetDevice(0)");
                t.event_with(ACL_EVENT_SYNC);
                t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
                let mut after = 0;
                let code = aclrtGetEventAvailNum(&raw mut after);
                t.ok(code, "aclrtGetEventAvailNum on device 1");
                t.eq(
                    after,
                    before,
                    "events left on device 1 after one was made on device 0",
                );
            },
        ),
        case("x.event.ids_differ", Setup::device0(), |t| {
            // Destroying one must not make the next one a namesake of another.
            let id_of = |e| {
                let mut id = u32::MAX;
                t.ok(aclrtGetEventId(e, &raw mut id), "aclrtGetEventId");
                id
            };
            let (a, b, c) = (t.event(), t.event(), t.event());
            let first = [id_of(a), id_of(b), id_of(c)];
            t.ok(aclrtDestroyEvent(a), "aclrtDestroyEvent");
            let d = t.event();
            let mut ids = vec![first[1], first[2], id_of(d)];
            ids.sort_unstable();
            ids.dedup();
            t.eq(ids.len(), 3, "different ids of three living events");
        }),
    ]
}
