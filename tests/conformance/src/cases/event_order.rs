//! Events: what a record captures, waiting, asking, timing.

use super::gate::*;
use super::support::*;

const READY: aclrtEventRecordedStatus = ACL_EVENT_RECORDED_STATUS_COMPLETE;
const NOT_READY: aclrtEventRecordedStatus = ACL_EVENT_RECORDED_STATUS_NOT_READY;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = time();
    cases.extend(status());
    cases.extend(wait());
    cases.extend(own());
    cases
}

/// Records `start`, keeps the stream for a few milliseconds, records `end`.
fn interval(t: &T, s: aclrtStream) -> (aclrtEvent, aclrtEvent) {
    let (start, end) = (t.event(), t.event());
    t.record(start, s);
    let gate = t.hold(s);
    t.record(end, s);
    gate.open_later();
    t.sync(s);
    (start, end)
}

fn time() -> Vec<Case> {
    vec![
        case("event.elapsed.not_yet_executed", Setup::device0(), |t| {
            let s = t.stream();
            let (start, end) = (t.event(), t.event());
            t.record(start, s);
            t.sync(s);
            let gate = t.hold(s);
            t.record(end, s);
            let mut ms = 77.0;
            t.ret(aclrtEventElapsedTime(&raw mut ms, start, end));
            t.eq(ms, 77.0, "output");
            gate.open();
            t.sync(s);
            let code = aclrtEventElapsedTime(&raw mut ms, start, end);
            t.ok(code, "aclrtEventElapsedTime afterwards");
        }),
        case("event.elapsed.reversed", Setup::device0(), |t| {
            let s = t.stream();
            let (start, end) = interval(t, s);
            let (mut forth, mut back) = (0.0, 0.0);
            let code = aclrtEventElapsedTime(&raw mut forth, start, end);
            t.ok(code, "aclrtEventElapsedTime");
            t.ret(aclrtEventElapsedTime(&raw mut back, end, start));
            t.check(back < 0.0, &format!("{back} ms is not negative"));
            t.eq(back, -forth, "the reversed time");
        }),
        case("event.elapsed.unrecorded", Setup::device0(), |t| {
            let s = t.stream();
            let (start, end) = (t.event(), t.event());
            t.record(start, s);
            t.sync(s);
            let mut ms = 77.0;
            t.ret(aclrtEventElapsedTime(&raw mut ms, start, end));
            t.eq(ms, 77.0, "output");
        }),
    ]
}

fn status() -> Vec<Case> {
    vec![
        case("event.query_old.before_record", Setup::device0(), |t| {
            let e = t.event();
            let mut status = -77;
            t.ret(aclrtQueryEvent(e, &raw mut status));
            t.eq(status, ACL_EVENT_STATUS_COMPLETE, "status");
            t.eq(t.event_status(e), NOT_READY, "answer of the other query");
        }),
        case("event.query_old.pending", Setup::device0(), |t| {
            let s = t.stream();
            let e = t.event();
            let gate = t.hold(s);
            t.record(e, s);
            let mut status = -77;
            t.ret(aclrtQueryEvent(e, &raw mut status));
            t.eq(status, ACL_EVENT_STATUS_NOT_READY, "status");
            gate.open();
            t.sync(s);
            t.ok(aclrtQueryEvent(e, &raw mut status), "aclrtQueryEvent");
            t.eq(status, ACL_EVENT_STATUS_COMPLETE, "status afterwards");
        }),
        case(
            "event.query_status.before_record_ex",
            Setup::device0(),
            |t| {
                let e = t.event_ex(ACL_EVENT_SYNC);
                let mut status = -77;
                t.ret(aclrtQueryEventStatus(e, &raw mut status));
                t.eq(status, READY, "status");
            },
        ),
        case(
            "event.query_status.before_record_plain",
            Setup::device0(),
            |t| {
                let e = t.event();
                let mut status = -77;
                t.ret(aclrtQueryEventStatus(e, &raw mut status));
                t.eq(status, NOT_READY, "status");
            },
        ),
        case("event.query_status.done", Setup::device0(), |t| {
            let s = t.stream();
            let e = t.event();
            let gate = t.hold(s);
            t.record(e, s);
            t.eq(t.event_status(e), NOT_READY, "status of the pending event");
            gate.open();
            t.sync(s);
            let mut status = -77;
            t.ret(aclrtQueryEventStatus(e, &raw mut status));
            t.eq(status, READY, "status");
        }),
        case("event.query_wait.no_waits", Setup::device0(), |t| {
            let e = t.event_with(ACL_EVENT_SYNC);
            let mut status = -77;
            t.ret(aclrtQueryEventWaitStatus(e, &raw mut status));
            t.eq(status, ACL_EVENT_WAIT_STATUS_COMPLETE, "status");
        }),
    ]
}

fn wait() -> Vec<Case> {
    vec![
        case("event.rerecord.ex_latest_wins", Setup::device0(), |t| {
            let (s1, s2) = (t.stream(), t.stream());
            let e = t.event_ex(ACL_EVENT_SYNC);
            let gate = t.hold(s1);
            t.record(e, s1);
            t.record(e, s2);
            t.ret(aclrtSynchronizeEvent(e));
            t.check(!gate.is_open(), "the gate is open");
        }),
        case("event.sync_timeout.expires", Setup::device0(), |t| {
            let s = t.stream();
            let e = t.event();
            let gate = t.hold(s);
            t.record(e, s);
            let begin = std::time::Instant::now();
            t.ret(aclrtSynchronizeEventWithTimeout(e, 20));
            let took = begin.elapsed().as_millis();
            t.check(took >= 20, &format!("it came back after {took} ms"));
            gate.open();
            let code = aclrtSynchronizeEventWithTimeout(e, 10_000);
            t.ok(code, "aclrtSynchronizeEventWithTimeout afterwards");
        }),
        case("event.wait.orders_streams", Setup::device0(), |t| {
            let (s1, s2) = (t.stream(), t.stream());
            let e = t.event();
            let gate = t.hold(s1);
            let before = t.counted(s1);
            t.record(e, s1);
            t.ret(aclrtStreamWaitEvent(s2, e));
            let after = t.counted(s2);
            after.stays_uncalled(t, "calls on s2 while s1 is before the record");
            gate.open();
            t.sync(s2);
            t.eq(
                (before.calls(), after.calls()),
                (1, 1),
                "calls on s1 and s2",
            );
        }),
        case("event.wait.unrecorded_ex", Setup::device0(), |t| {
            let s = t.stream();
            let e = t.event_ex(ACL_EVENT_SYNC);
            t.ok(aclrtStreamWaitEvent(s, e), "aclrtStreamWaitEvent");
            t.ret(aclrtSynchronizeStream(s));
            t.check(t.is_idle(s), "a wait was queued");
        }),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.event.wait.unrecorded_plain", Setup::device0(), |t| {
            let s = t.stream();
            let e = t.event();
            t.fails(
                aclrtStreamWaitEvent(s, e),
                ERROR_PARAM,
                "aclrtStreamWaitEvent",
            );
            t.check(t.is_idle(s), "a wait was queued");
            t.ok(aclrtSynchronizeEvent(e), "aclrtSynchronizeEvent");
        }),
        case("x.event.wait.keeps_its_record", Setup::device0(), |t| {
            // Recorded again on a blocked stream: the wait queued before that
            // is for the first record, the one after it for the second.
            let (s1, s2, early, late) = (t.stream(), t.stream(), t.stream(), t.stream());
            let e = t.event_ex(ACL_EVENT_SYNC);
            let gate = t.hold(s2);
            t.record(e, s1);
            t.wait_event(early, e);
            t.record(e, s2);
            t.wait_event(late, e);
            let first = t.counted(early);
            let second = t.counted(late);
            t.sync(early);
            t.eq(first.calls(), 1, "calls behind the first record");
            second.stays_uncalled(t, "calls behind the second record");
            t.eq(t.event_status(e), NOT_READY, "status of the second record");
            gate.open();
            t.sync(late);
            t.eq(second.calls(), 1, "calls behind the second record");
        }),
        case("x.event.wait.limit_passes", Setup::device0(), |t| {
            // The wait gives up after a second, and the next synchronisation
            // of its stream says so.
            let (s1, s2) = (t.stream(), t.stream());
            let e = t.event();
            let gate = t.hold(s1);
            t.record(e, s1);
            let code = aclrtStreamWaitEventWithTimeout(s2, e, 1);
            t.ok(code, "aclrtStreamWaitEventWithTimeout");
            let code = i64::from(aclrtSynchronizeStream(s2));
            let text = recent_text();
            t.check(code != 0, "the synchronisation knows nothing of it");
            t.check(text.is_some(), &format!("code {code} without a text"));
            t.check(!gate.is_open(), "the gate is open");
            t.sync(s2);
        }),
        case("x.event.wait_status", Setup::device0(), |t| {
            let (s1, s2) = (t.stream(), t.stream());
            let e = t.event_with(ACL_EVENT_SYNC);
            let gate = t.hold(s1);
            t.record(e, s1);
            t.wait_event(s2, e);
            let status = || {
                let mut status = -77;
                let code = aclrtQueryEventWaitStatus(e, &raw mut status);
                t.ok(code, "aclrtQueryEventWaitStatus");
                status
            };
            t.eq(
                status(),
                ACL_EVENT_WAIT_STATUS_NOT_READY,
                "status while blocked",
            );
            gate.open();
            t.sync(s2);
            t.eq(
                status(),
                ACL_EVENT_WAIT_STATUS_COMPLETE,
                "status afterwards",
            );
            // The stream's place may go to another one, whose tasks are none
            // of this event's business.
            t.ok(aclrtDestroyStream(s2), "aclrtDestroyStream");
            let s3 = t.stream();
            t.eq(
                status(),
                ACL_EVENT_WAIT_STATUS_COMPLETE,
                "status after s2 is gone",
            );
            t.sync(s3);
        }),
        case("x.event.reset.then_record_again", Setup::device0(), |t| {
            // record, wait, reset, record: all queued before any of it runs.
            let s = t.stream();
            let e = t.event_with(ACL_EVENT_SYNC);
            let gate = t.hold(s);
            t.record(e, s);
            t.wait_event(s, e);
            t.ok(aclrtResetEvent(e, s), "aclrtResetEvent");
            t.record(e, s);
            gate.open();
            t.sync(s);
            t.eq(t.event_status(e), READY, "status after the second record");
            let mut time = 0;
            let code = aclrtEventGetTimestamp(e, &raw mut time);
            t.ok(code, "aclrtEventGetTimestamp");
        }),
        case("x.event.reset.clears", Setup::device0(), |t| {
            let s = t.stream();
            let e = t.event_with(ACL_EVENT_SYNC);
            t.record(e, s);
            t.sync(s);
            t.eq(t.event_status(e), READY, "status after the record");
            let gate = t.hold(s);
            t.ok(aclrtResetEvent(e, s), "aclrtResetEvent");
            t.eq(t.event_status(e), READY, "status before the reset ran");
            gate.open();
            t.sync(s);
            t.eq(t.event_status(e), NOT_READY, "status after the reset");
        }),
        case(
            "x.event.reset.of_a_destroyed_event",
            Setup::device0(),
            |t| {
                // The queued reset of an event that is gone touches no other one.
                let (s, idle) = (t.stream(), t.stream());
                let old = t.event_with(ACL_EVENT_SYNC);
                let gate = t.hold(s);
                t.ok(aclrtResetEvent(old, s), "aclrtResetEvent");
                t.ok(aclrtDestroyEvent(old), "aclrtDestroyEvent");
                let e = t.event_with(ACL_EVENT_SYNC);
                t.record(e, idle);
                t.sync(idle);
                gate.open();
                t.sync(s);
                t.eq(t.event_status(e), READY, "status of the newer event");
            },
        ),
        case("x.event.sync.waits", Setup::device0(), |t| {
            for e in [t.event(), t.event_ex(ACL_EVENT_SYNC)] {
                let s = t.stream();
                let gate = t.hold(s);
                let counter = t.counted(s);
                t.record(e, s);
                t.ok(
                    t.blocks(*gate, || aclrtSynchronizeEvent(e)),
                    "aclrtSynchronizeEvent",
                );
                t.eq(counter.calls(), 1, "calls before the record");
            }
        }),
        case("x.event.sync.not_what_comes_after", Setup::device0(), |t| {
            let s = t.stream();
            let e = t.event();
            t.record(e, s);
            let gate = t.hold(s);
            t.ok(aclrtSynchronizeEvent(e), "aclrtSynchronizeEvent");
            t.eq(t.event_status(e), READY, "status");
            t.check(!gate.is_open(), "the gate is open");
        }),
        case("x.event.time.is_the_interval", Setup::device0(), |t| {
            let s = t.stream();
            let begin = std::time::Instant::now();
            let (start, end) = interval(t, s);
            let most = begin.elapsed().as_secs_f32() * 1e3;
            let least = HOLD.as_secs_f32() * 1e3;
            let mut ms = 0.0;
            let code = aclrtEventElapsedTime(&raw mut ms, start, end);
            t.ok(code, "aclrtEventElapsedTime");
            t.check(
                ms >= least && ms <= most,
                &format!("{ms} ms, not between {least} and {most}"),
            );
            let (mut from, mut to) = (0, 0);
            t.ok(aclrtEventGetTimestamp(start, &raw mut from), "start");
            t.ok(aclrtEventGetTimestamp(end, &raw mut to), "end");
            let between = to.wrapping_sub(from) as f32 / 1e3;
            t.check(
                (between - ms).abs() < 0.01,
                &format!("{between} ms by the timestamps, {ms} ms elapsed"),
            );
        }),
        case("x.event.many_waiters", Setup::device0(), |t| {
            let s = t.stream();
            let e = t.event();
            let gate = t.hold(s);
            t.record(e, s);
            let waiters: Vec<_> = (0..100)
                .map(|_| {
                    let w = t.stream();
                    t.wait_event(w, e);
                    (w, t.counted(w))
                })
                .collect();
            let (_, last) = &waiters[99];
            last.stays_uncalled(t, "calls on the last stream before the record");
            t.check(
                waiters.iter().all(|(_, counter)| counter.calls() == 0),
                "a stream went on before the record",
            );
            gate.open();
            for (w, counter) in waiters {
                t.sync(w);
                t.eq(counter.calls(), 1, "calls behind a wait");
            }
        }),
    ]
}
