//! Counting notifies, which the 950 has.

use super::gate::*;
use super::support::*;

fn setup() -> Setup {
    Setup::device0().profile("950")
}

/// A counting notify.
fn create(t: &T) -> aclrtCntNotify {
    let mut n = SENTINEL;
    let code = aclrtCntNotifyCreate(&raw mut n, 0);
    t.ok(code, "aclrtCntNotifyCreate");
    n
}

fn record(n: aclrtCntNotify, s: aclrtStream, mode: i32, value: u32) -> aclError {
    let mut info = aclrtCntNotifyRecordInfo { mode, value };
    aclrtCntNotifyRecord(n, s, &raw mut info)
}

fn wait(n: aclrtCntNotify, s: aclrtStream, mode: i32, value: u32, clear: bool) -> aclError {
    let mut info = aclrtCntNotifyWaitInfo {
        mode,
        value,
        timeout: 0,
        isClear: u8::from(clear),
        rsv: [0; 3],
    };
    aclrtCntNotifyWaitWithTimeout(n, s, &raw mut info)
}

const SET: i32 = ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE;
const ADD: i32 = ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE;
const OR: i32 = ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE;
const AND: i32 = ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE;

const LESS: i32 = ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE;
const EQUAL: i32 = ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE;
const BIGGER: i32 = ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE;
const AT_LEAST: i32 = ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE;
const MASK: i32 = ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE;

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("notify.cnt.record_null_info", setup(), |t| {
            let (n, s) = (create(t), t.stream());
            t.ret(aclrtCntNotifyRecord(n, s, null_mut()));
            t.check(t.is_idle(s), "something was queued");
        }),
        case("x.notify.cnt.records", setup(), |t| {
            let (n, s) = (create(t), t.stream());
            let mut count = 0_u32;
            for (mode, value) in [
                (SET, 12),
                (ADD, 30),
                (OR, 0x101),
                (AND, 0xf2),
                (ADD, 5),
                (SET, 3),
            ] {
                t.ok(record(n, s, mode, value), &format!("record {mode}"));
                count = match mode {
                    SET => value,
                    ADD => count + value,
                    OR => count | value,
                    _ => count & value,
                };
                t.ok(wait(n, s, EQUAL, count, false), "wait");
                let code = aclrtSynchronizeStreamWithTimeout(s, 5000);
                t.ok(
                    code,
                    &format!("count {count} after record {mode} of {value}"),
                );
            }
        }),
        case("x.notify.cnt.waits", setup(), |t| {
            // Count 5; what lets a wait through, and what does not.
            for (mode, value, passes) in [
                (LESS, 6, true),
                (LESS, 5, false),
                (EQUAL, 5, true),
                (EQUAL, 4, false),
                (BIGGER, 4, true),
                (BIGGER, 5, false),
                (AT_LEAST, 5, true),
                (AT_LEAST, 6, false),
                (MASK, 4, true),
                (MASK, 2, false),
            ] {
                let (n, s) = (create(t), t.stream());
                t.ok(record(n, null_mut(), SET, 5), "record");
                t.sync(null_mut());
                t.ok(wait(n, s, mode, value, false), "wait");
                let what = format!("condition {mode} with {value}");
                let code = aclrtSynchronizeStreamWithTimeout(s, if passes { 5000 } else { 30 });
                if passes {
                    t.ok(code, &what);
                } else {
                    t.fails(code, 507_046, &what);
                    t.ok(aclrtStreamAbort(s), "aclrtStreamAbort");
                }
            }
        }),
        case("x.notify.cnt.joins_many_streams", setup(), |t| {
            // The last of eight streams to add lets the ninth go on; then the
            // count is 0 again.
            let n = create(t);
            let (adders, last) = ((0..8).map(|_| t.stream()).collect::<Vec<_>>(), t.stream());
            t.ok(wait(n, last, AT_LEAST, 8, true), "wait");
            let counter = t.counted(last);
            for s in &adders[..7] {
                t.ok(record(n, *s, ADD, 1), "record");
                t.sync(*s);
            }
            counter.stays_uncalled(t, "calls after seven of eight");
            t.ok(record(n, adders[7], ADD, 1), "record");
            t.sync(last);
            t.eq(counter.calls(), 1, "calls after all eight");
            t.ok(wait(n, last, EQUAL, 0, false), "wait");
            let code = aclrtSynchronizeStreamWithTimeout(last, 5000);
            t.ok(code, "the count after a wait that clears it");
        }),
        case("x.notify.cnt.reset", setup(), |t| {
            let (n, s) = (create(t), t.stream());
            t.ok(record(n, s, SET, 7), "record");
            let gate = t.hold(s);
            t.ok(aclrtCntNotifyReset(n, s), "aclrtCntNotifyReset");
            t.ok(wait(n, null_mut(), EQUAL, 7, false), "wait");
            t.sync(null_mut());
            gate.open();
            t.ok(wait(n, s, EQUAL, 0, false), "wait");
            t.sync(s);
        }),
        case("x.notify.cnt.handles", setup(), |t| {
            let (s, dead, live) = (t.stream(), create(t), create(t));
            t.ok(aclrtCntNotifyDestroy(dead), "aclrtCntNotifyDestroy");
            for n in [dead, s, t.event(), t.notify(), addr(1), off(live, 1)] {
                let what = format!("{n:p}");
                let mut id = 77;
                t.fails(record(n, s, SET, 1), ERROR_HANDLE, &what);
                t.fails(wait(n, s, EQUAL, 1, false), ERROR_HANDLE, &what);
                t.fails(aclrtCntNotifyReset(n, s), ERROR_HANDLE, &what);
                t.fails(aclrtCntNotifyGetId(n, &raw mut id), ERROR_HANDLE, &what);
                t.fails(aclrtCntNotifyDestroy(n), ERROR_HANDLE, &what);
                t.eq(id, 77, "output");
            }
            t.fails(record(live, s, 3, 1), ERROR_PARAM, "record mode 3");
            t.fails(wait(live, s, 5, 1, false), ERROR_PARAM, "wait mode 5");
            let mut n = SENTINEL;
            let code = aclrtCntNotifyCreate(&raw mut n, 1);
            t.fails(code, ERROR_PARAM, "flag 1");
            t.eq(n, SENTINEL, "output");
        }),
        case("x.notify.cnt.other_products", Setup::device0(), |t| {
            let mut n = SENTINEL;
            let code = aclrtCntNotifyCreate(&raw mut n, 0);
            t.fails(code, ERROR_UNSUPPORTED, "on a product without them");
            t.eq(n, SENTINEL, "output");
        }),
    ]
}
