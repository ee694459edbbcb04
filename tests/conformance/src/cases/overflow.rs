//! The overflow status: written in stream order, always "none".

use super::gate::*;
use super::support::*;

/// A function that writes the status, with its name.
type Query = (
    &'static str,
    fn(*mut c_void, usize, aclrtStream) -> aclError,
);

/// Bytes of the status.
const STATUS: usize = 64;

fn queries() -> [Query; 3] {
    [
        ("aclrtGetOverflowStatus", aclrtGetOverflowStatus),
        ("aclrtGetFloatOverflowStatus", |p, n, s| {
            aclrtGetFloatOverflowStatus(p, n as u64, s)
        }),
        ("aclrtNpuGetFloatOverFlowStatus", |p, n, s| {
            aclrtNpuGetFloatOverFlowStatus(p, n as u64, 0, s)
        }),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case(
            "x.overflow.status_is_written_in_stream_order",
            Setup::device0(),
            |t| {
                for (name, query) in queries() {
                    let (p, before) = t.filled(1 << 20);
                    let s = t.stream();
                    let gate = Gate::closed();
                    t.ok(
                        aclrtLaunchHostFunc(s, Gate::function(), gate.data()),
                        "aclrtLaunchHostFunc",
                    );
                    gate.reached(t);
                    t.ok(query(off(p, 4096), STATUS, s), name);
                    t.ok(aclrtResetOverflowStatus(s), "aclrtResetOverflowStatus");
                    t.ok(aclrtResetFloatOverflowStatus(s), "float reset");
                    t.ok(aclrtNpuClearFloatOverFlowStatus(0, s), "clear");
                    t.holds(p, &before, "before the turn of the stream");
                    gate.open();
                    t.ok(aclrtSynchronizeStream(s), "aclrtSynchronizeStream");
                    let mut want = before;
                    want[4096..4096 + STATUS].fill(0);
                    t.holds(p, &want, name);
                }
            },
        ),
        case("x.overflow.flag_of_a_context", Setup::device0(), |t| {
            let flag = || {
                let mut p = SENTINEL;
                let code = aclrtCtxGetFloatOverflowAddr(&raw mut p);
                t.ok(code, "aclrtCtxGetFloatOverflowAddr");
                p
            };
            t.fails(
                aclrtCtxGetFloatOverflowAddr(null_mut()),
                ERROR_FRONT,
                "no place",
            );
            let first = flag();
            t.eq(flag(), first, "the address, asked again");
            t.holds(first, &[0; STATUS], "the flag in the beginning");
            // What is written there is the status, of the streams of this context.
            let raised = t.random_bytes(STATUS);
            t.upload(first, &raised);
            let (s, p) = (t.stream(), t.malloc(MIB, ACL_MEM_MALLOC_HUGE_FIRST));
            for (name, query) in queries() {
                t.ok(aclrtMemset(p, MIB, 0x77, MIB), "aclrtMemset");
                t.ok(query(off(p, 64), STATUS, s), name);
                t.sync(s);
                t.holds(off(p, 64), &raised, name);
                t.holds(
                    off(p, 64 + STATUS),
                    &vec![0x77; MIB - 64 - STATUS],
                    "what is behind",
                );
            }
            let primary = t.context();
            t.create_context(0);
            t.check(flag() != first, "two contexts with one flag");
            let other = t.stream();
            t.ok(
                aclrtGetOverflowStatus(p, STATUS, other),
                "aclrtGetOverflowStatus",
            );
            t.sync(other);
            t.holds(p, &[0; STATUS], "the status of the other context");
            t.ok(aclrtSetCurrentContext(primary), "aclrtSetCurrentContext");
            t.ok(aclrtResetOverflowStatus(s), "aclrtResetOverflowStatus");
            t.ok(
                aclrtGetOverflowStatus(p, STATUS, s),
                "aclrtGetOverflowStatus",
            );
            t.sync(s);
            t.holds(p, &[0; STATUS], "the status after a reset");
            t.fails(aclrtFree(first), ERROR_PARAM, "releasing the flag");
            // It goes with its device, and comes anew.
            t.ok(aclrtResetDeviceForce(0), "aclrtResetDeviceForce");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            t.holds(flag(), &[0; STATUS], "the new flag");
        }),
        case("x.overflow.flags_do_not_leak", Setup::device0(), |t| {
            let before = t.pools();
            for _ in 0..20 {
                let context = t.create_context(0);
                let mut p = SENTINEL;
                t.ok(aclrtCtxGetFloatOverflowAddr(&raw mut p), "the address");
                t.ok(aclrtDestroyContext(context), "aclrtDestroyContext");
            }
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            t.eq(t.pools(), before, "free memory");
        }),
        case("x.overflow.arguments", Setup::device0(), |t| {
            let (p, before) = t.filled(4096);
            let host = t.malloc_host(4096);
            for (name, query) in queries() {
                let null = null_mut();
                t.fails_with(
                    query(null, STATUS, null),
                    ERROR_FRONT,
                    "EH0008 param=outputAddr",
                    name,
                );
                for size in [0, 63, 65] {
                    t.fails_with(
                        query(p, size, null),
                        ERROR_FRONT,
                        "EH0007 param=outputSize",
                        name,
                    );
                }
                t.fails(query(p, STATUS, addr(0x5555)), 107_017, "no stream");
                for bad in [off(p, 4096), host] {
                    t.fails(
                        query(bad, STATUS, null),
                        ACL_ERROR_RT_PARAM_INVALID.into(),
                        "what is not 64 bytes of device memory",
                    );
                }
            }
            t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
            t.holds(p, &before, "memory");
        }),
    ]
}
