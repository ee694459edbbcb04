//! Cache operations in stream order, and calls that streams of a model make.

use super::support::*;

const PREFETCH: aclrtCmoType = ACL_RT_CMO_TYPE_PREFETCH;
const INVALID: aclrtCmoType = ACL_RT_CMO_TYPE_INVALID;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = lines();
    cases.extend(barriers());
    cases.extend(own());
    cases
}

fn lines() -> Vec<Case> {
    vec![
        case("cmo.async.null", Setup::device0(), |t| {
            let s = t.stream();
            t.ret(aclrtCmoAsync(null_mut(), 64, PREFETCH, s));
        }),
        case("cmo.async.bad_type", Setup::device0(), |t| {
            let (p, bytes) = t.filled(64);
            let s = t.stream();
            t.ret(aclrtCmoAsync(p, 64, 9, s));
            t.holds(p, &bytes, "block");
        }),
        case("cmo.async.destroyed_stream", Setup::device0(), |t| {
            let (p, _) = t.filled(64);
            let s = t.stream();
            t.ok(aclrtDestroyStream(s), "aclrtDestroyStream");
            t.ret(aclrtCmoAsync(p, 64, PREFETCH, s));
        }),
        case("cmo.async.prefetch_ok", Setup::device0(), |t| {
            let (p, bytes) = t.filled(MIB);
            let s = t.stream();
            t.ret(aclrtCmoAsync(p, 4 * KIB, PREFETCH, s));
            t.ok(aclrtSynchronizeStream(s), "aclrtSynchronizeStream");
            t.holds(p, &bytes, "block");
        }),
        case(
            "cmo.async.unsupported_product",
            Setup::device0().env("CANNERY_PROFILE", "310P"),
            |t| {
                let (p, _) = t.filled(64);
                let s = t.stream();
                t.ret(aclrtCmoAsync(p, 64, PREFETCH, s));
            },
        ),
        case("cmo.async_desc.reserve", Setup::device0(), |t| {
            let d = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            let s = t.stream();
            t.ret(aclrtCmoAsyncWithDesc(d, PREFETCH, s, addr(1)));
        }),
        case("cmo.desc_size.null", Setup::device0(), |t| {
            t.ret(aclrtCmoGetDescSize(null_mut()));
        }),
        case("cmo.set_desc.null_src", Setup::device0(), |t| {
            let d = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            t.ret(aclrtCmoSetDesc(d, null_mut(), 64));
        }),
        case("cmo.set_desc.size_zero", Setup::device0(), |t| {
            let d = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            t.ret(aclrtCmoSetDesc(d, p, 0));
        }),
        case("stream.stop.null", Setup::device0(), |t| {
            t.ret(aclrtStreamStop(null_mut()));
        }),
        case("stream.switch.false_reserved", Setup::device0(), |t| {
            let (l, _) = t.filled(8);
            let (r, _) = t.filled(8);
            let (s, other) = (t.stream(), t.stream());
            t.ret(aclrtSwitchStream(l, 0, r, 0, other, addr(1), s));
        }),
    ]
}

fn with_barriers() -> Setup {
    Setup::device0().env("CANNERY_PROFILE", "310B")
}

/// A stream that belongs to a model which is being built.
fn bound(t: &T) -> (aclmdlRI, aclrtStream) {
    let mut model = null_mut();
    t.ok(aclmdlRIBuildBegin(&raw mut model, 0), "aclmdlRIBuildBegin");
    let mut s = null_mut();
    t.ok(
        aclrtCreateStreamWithConfig(&raw mut s, 0, ACL_STREAM_PERSISTENT),
        "aclrtCreateStreamWithConfig",
    );
    t.ok(aclmdlRIBindStream(model, s, 0), "aclmdlRIBindStream");
    (model, s)
}

fn task(number: usize, kind: aclrtCmoType, barrier: u32) -> aclrtBarrierTaskInfo {
    aclrtBarrierTaskInfo {
        barrierNum: number,
        cmoInfo: [aclrtBarrierCmoInfo {
            cmoType: kind,
            barrierId: barrier,
        }; 6],
    }
}

fn barriers() -> Vec<Case> {
    vec![
        case("cmo.barrier.invalid_needs_id", with_barriers(), |t| {
            let (p, _) = t.filled(64);
            let (_, s) = bound(t);
            t.ret(aclrtCmoAsyncWithBarrier(p, 64, INVALID, 0, s));
        }),
        case("cmo.barrier.prefetch_needs_zero", with_barriers(), |t| {
            let (p, _) = t.filled(64);
            let (_, s) = bound(t);
            t.ret(aclrtCmoAsyncWithBarrier(p, 64, PREFETCH, 3, s));
        }),
        case("cmo.wait_barrier.null", Setup::device0(), |t| {
            let s = t.stream();
            t.ret(aclrtCmoWaitBarrier(null_mut(), s, 0));
        }),
        case("cmo.wait_barrier.num_seven", Setup::device0(), |t| {
            let s = t.stream();
            let mut info = task(7, INVALID, 1);
            t.ret(aclrtCmoWaitBarrier(&raw mut info, s, 0));
        }),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.cmo.barriers_of_a_model", with_barriers(), |t| {
            let (p, bytes) = t.filled(MIB);
            let (model, s) = bound(t);
            t.ok(
                aclrtCmoAsyncWithBarrier(p, MIB, INVALID, 3, s),
                "invalidate",
            );
            t.ok(aclrtCmoAsyncWithBarrier(p, MIB, PREFETCH, 0, s), "prefetch");
            let mut info = task(1, INVALID, 3);
            t.ok(
                aclrtCmoWaitBarrier(&raw mut info, s, 0),
                "aclrtCmoWaitBarrier",
            );
            t.ok(aclmdlRIEndTask(model, s), "aclmdlRIEndTask");
            t.ok(aclmdlRIBuildEnd(model, null_mut()), "aclmdlRIBuildEnd");
            t.ok(aclmdlRIExecute(model, 10_000), "aclmdlRIExecute");
            t.holds(p, &bytes, "block");
        }),
        case("x.cmo.barrier_needs_a_model", with_barriers(), |t| {
            let (p, _) = t.filled(64);
            let s = t.stream();
            let code = aclrtCmoAsyncWithBarrier(p, 64, INVALID, 3, s);
            t.fails_with(code, 107_000, "param=stream", "a stream of its own");
        }),
        case("x.cmo.description_and_range", Setup::device0(), |t| {
            let (p, bytes) = t.filled(MIB);
            let d = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            let s = t.stream();
            let empty = aclrtCmoAsyncWithDesc(d, PREFETCH, s, null());
            t.fails(empty, 107_000, "memory without a description");
            t.ok(aclrtCmoSetDesc(d, p, MIB), "aclrtCmoSetDesc");
            t.ok(
                aclrtCmoAsyncWithDesc(d, PREFETCH, s, null()),
                "aclrtCmoAsyncWithDesc",
            );
            t.fails(
                aclrtCmoAsync(p, 2 * MIB, PREFETCH, s),
                107_000,
                "beyond the block",
            );
            t.ok(aclrtSynchronizeStream(s), "aclrtSynchronizeStream");
            t.holds(p, &bytes, "block");
        }),
    ]
}
