//! Values in device memory: written and waited for in stream order.

use super::gate::*;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = write();
    cases.extend(wait());
    cases.extend(own());
    cases
}

/// A cell of device memory that holds `number`.
fn cell(t: &T, number: u64) -> *mut c_void {
    let p = t.malloc(8, ACL_MEM_MALLOC_NORMAL_ONLY);
    t.upload(p, &number.to_le_bytes());
    p
}

/// Waits on `s1` for a value that only `s2` brings.
fn brought_by(t: &T, before: u64, flag: u32, value: u64, wrong: &[u64], right: u64) {
    let (s1, s2) = (t.stream(), t.stream());
    let p = cell(t, before);
    let code = aclrtValueWait(p, value, flag, s1);
    t.ok(code, "aclrtValueWait");
    let counter = t.counted(s1);
    counter.stays_uncalled(t, &format!("calls while the cell holds {before:#x}"));
    for number in wrong {
        t.ok(aclrtValueWrite(p, *number, 0, s2), "aclrtValueWrite");
        t.sync(s2);
        counter.stays_uncalled(t, &format!("calls while the cell holds {number:#x}"));
    }
    t.ok(aclrtValueWrite(p, right, 0, s2), "aclrtValueWrite");
    t.ret(aclrtSynchronizeStream(s1));
    t.eq(counter.calls(), 1, "calls afterwards");
}

fn write() -> Vec<Case> {
    vec![
        case("memory.value_write.effect", Setup::device0(), |t| {
            let s = t.stream();
            let (p, bytes) = t.filled(24);
            let q = off(p, 8);
            t.ret(aclrtValueWrite(q, 0x1122_3344_5566_7788, 0, s));
            t.sync(s);
            let mut want = bytes;
            want[8..16].copy_from_slice(&[0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]);
            t.holds(p, &want, "the cell and its neighbours");
        }),
        case("memory.value_write.flag", Setup::device0(), |t| {
            let s = t.stream();
            let p = cell(t, 5);
            t.ret(aclrtValueWrite(p, 1, 1, s));
            t.sync(s);
            t.holds(p, &5_u64.to_le_bytes(), "cell");
        }),
        case("memory.value_write.null", Setup::device0(), |t| {
            let s = t.stream();
            t.ret(aclrtValueWrite(null_mut(), 1, 0, s));
        }),
        case("memory.value_write.other_context", Setup::device0(), |t| {
            let s = t.foreign_stream();
            let p = cell(t, 5);
            t.ret(aclrtValueWrite(p, 1, 0, s));
            t.sync(s);
            t.holds(p, &5_u64.to_le_bytes(), "cell");
        }),
        case(
            "memory.value_write.unsupported",
            Setup::device0().profile("310B"),
            |t| {
                let s = t.stream();
                let p = cell(t, 5);
                t.ret(aclrtValueWrite(p, 1, 0, s));
                t.sync(s);
                t.holds(p, &5_u64.to_le_bytes(), "cell");
            },
        ),
    ]
}

fn wait() -> Vec<Case> {
    vec![
        case("memory.value_wait.and", Setup::device0(), |t| {
            let s = t.stream();
            let p = cell(t, 0x10);
            let flag = ACL_STREAM_WAIT_VALUE_AND;
            t.ok(aclrtValueWait(p, 0x30, flag, s), "aclrtValueWait");
            t.ret(aclrtSynchronizeStream(s));
        }),
        case("memory.value_wait.flag_4", Setup::device0(), |t| {
            let s = t.stream();
            let p = cell(t, 0);
            t.ret(aclrtValueWait(p, 1, 4, s));
            t.sync(s);
        }),
        case("memory.value_wait.geq_signed", Setup::device0(), |t| {
            let flag = ACL_STREAM_WAIT_VALUE_GEQ;
            brought_by(t, 0, flag, 5, &[4, u64::MAX], 6);
        }),
        case("memory.value_wait.nor", Setup::device0(), |t| {
            let flag = ACL_STREAM_WAIT_VALUE_NOR;
            brought_by(t, u64::MAX, flag, 0, &[], 0);
        }),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.value.wait_conditions", Setup::device0(), |t| {
            // What each condition lets through at once, and what it stops.
            let (geq, eq) = (ACL_STREAM_WAIT_VALUE_GEQ, ACL_STREAM_WAIT_VALUE_EQ);
            let (and, nor) = (ACL_STREAM_WAIT_VALUE_AND, ACL_STREAM_WAIT_VALUE_NOR);
            for (flag, now, value, passes) in [
                (geq, 5, 5, true),
                (geq, 4, 5, false),
                (geq, u64::MAX, 0, false),
                (geq, 0, u64::MAX, true),
                (eq, 7, 7, true),
                (eq, 8, 7, false),
                (and, 0x30, 0x10, true),
                (and, 0x30, 0x40, false),
                (nor, 0, 0, true),
                (nor, u64::MAX, 0, false),
                (nor, 1, 2, true),
            ] {
                let s = t.stream();
                let p = cell(t, now);
                t.ok(aclrtValueWait(p, value, flag, s), "aclrtValueWait");
                let code = aclrtSynchronizeStreamWithTimeout(s, if passes { 5000 } else { 30 });
                let what = format!("condition {flag}, cell {now:#x}, value {value:#x}");
                if passes {
                    t.ok(code, &what);
                } else {
                    t.fails(code, 507_046, &what);
                }
                t.ok(aclrtStreamAbort(s), "aclrtStreamAbort");
            }
        }),
        case("x.value.in_stream_order", Setup::device0(), |t| {
            let s = t.stream();
            let p = cell(t, 1);
            let gate = t.hold(s);
            t.ok(aclrtValueWrite(p, 2, 0, s), "aclrtValueWrite");
            std::thread::sleep(HOLD);
            t.holds(p, &1_u64.to_le_bytes(), "cell before its turn");
            gate.open();
            t.sync(s);
            t.holds(p, &2_u64.to_le_bytes(), "cell afterwards");
        }),
        case("x.value.brought_by_a_copy", Setup::device0(), |t| {
            // Whatever writes the cell: a queued copy, a set, the host.
            for how in 0..3 {
                let (s1, s2) = (t.stream(), t.stream());
                let p = cell(t, 0);
                let flag = ACL_STREAM_WAIT_VALUE_EQ;
                let value = 0x0101_0101_0101_0101;
                t.ok(aclrtValueWait(p, value, flag, s1), "aclrtValueWait");
                match how {
                    0 => {
                        let (h, _) = t.pinned(8);
                        host_write(h, &value.to_le_bytes());
                        t.copy_async(p, h, 8, s2);
                    }
                    1 => {
                        let code = aclrtMemsetAsync(p, 8, 1, 8, s2);
                        t.ok(code, "aclrtMemsetAsync");
                    }
                    _ => t.upload(p, &value.to_le_bytes()),
                }
                t.sync(s1);
            }
        }),
        case("x.value.bad_addresses", Setup::device0(), |t| {
            let s = t.stream();
            let p = cell(t, 5);
            let h = t.malloc_host(64);
            let c = CMemory::new(64);
            let freed = t.malloc(64, ACL_MEM_MALLOC_NORMAL_ONLY);
            t.free(freed);
            for (address, what) in [
                (off(p, 4), "a misaligned address"),
                (h, "pinned host memory"),
                (c.p, "memory of C"),
                (freed, "a released block"),
                (addr(8), "an invented address"),
            ] {
                let code = aclrtValueWrite(address, 1, 0, s);
                t.fails(code, ERROR_PARAM, &format!("write to {what}"));
                let code = aclrtValueWait(address, 1, 0, s);
                t.fails(code, ERROR_PARAM, &format!("wait on {what}"));
            }
            t.check(t.is_idle(s), "something was queued");
            c.check_still_owned(t);
        }),
    ]
}
