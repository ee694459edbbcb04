//! Stream-ordered pools: what the contract's lines leave open.

use super::pool::*;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.pool.bad_properties", Setup::device0(), |t| {
            let mut wrong = props();
            wrong.allocType = 1;
            let (code, mp) = make(&wrong);
            t.fails_with(code, ERROR_FRONT, "param=poolProps->allocType", "allocType");
            wrong = props();
            wrong.location.r#type = ACL_MEM_LOCATION_TYPE_HOST;
            let code = make(&wrong).0;
            t.fails_with(code, ERROR_FRONT, "param=poolProps->location", "location");
            let mut out = SENTINEL;
            let code = aclrtMemPoolCreate(&raw mut out, null());
            t.fails_with(code, ERROR_FRONT, "EH0008 param=poolProps", "no properties");
            t.eq((mp, out), (SENTINEL, SENTINEL), "outputs");
        }),
        case(
            "x.pool.product_lacks_it",
            Setup::device0().profile("310P"),
            |t| {
                let (code, mp) = make(&props());
                t.fails_with(
                    code,
                    ERROR_UNSUPPORTED,
                    "func=aclrtMemPoolCreate 310P 910B",
                    "create",
                );
                t.eq(mp, SENTINEL, "output");
                let s = t.stream();
                let mut p = SENTINEL;
                // Argument checks come first.
                let code = aclrtMemPoolMallocAsync(&raw mut p, 64, null_mut(), s);
                t.fails(code, ERROR_FRONT, "no pool");
                let code = aclrtMemPoolMallocAsync(&raw mut p, 64, addr(64), s);
                t.fails(code, ERROR_UNSUPPORTED, "malloc");
                let q = t.malloc(64, ACL_MEM_MALLOC_NORMAL_ONLY);
                t.fails(aclrtMemPoolFreeAsync(q, s), ERROR_UNSUPPORTED, "free");
                t.free(q);
                t.fails(aclrtMemPoolTrimTo(addr(64), 0), ERROR_UNSUPPORTED, "trim");
                t.fails(aclrtMemPoolDestroy(addr(64)), ERROR_UNSUPPORTED, "destroy");
                t.fails(set(addr(64), THRESHOLD, 0), ERROR_UNSUPPORTED, "set");
            },
        ),
        case("x.pool.defaults", Setup::device0(), |t| {
            let mp = t.pool();
            for attr in 1..=3 {
                t.eq(
                    short_attr(t, mp, attr),
                    1,
                    "a rule of reuse that was never set",
                );
                set_short(t, mp, attr, 0);
                t.eq(short_attr(t, mp, attr), 0, "the same, switched off");
            }
            for attr in 4..=8 {
                t.eq(
                    t.pool_attr(mp, attr),
                    0,
                    "threshold and counts of a new pool",
                );
            }
        }),
        case("x.pool.refused_settings", Setup::device0(), |t| {
            let (mp, s) = (t.pool(), t.stream());
            let p = t.pooled(2 * MIB, mp, s);
            t.fails(set(mp, USED, 0), ERROR_PARAM, "the bytes in use");
            t.fails(set(mp, USED_HIGH, 1), ERROR_PARAM, "a peak that is not 0");
            t.fails(set(mp, RESERVED_HIGH, 2 << 20), ERROR_PARAM, "another one");
            let code = aclrtMemPoolSetAttr(mp, THRESHOLD, null_mut());
            t.fails_with(code, ERROR_FRONT, "EH0008 param=value", "no value");
            t.fails(set(addr(0x10), THRESHOLD, 0), ERROR_PARAM, "no pool");
            t.eq(t.pool_attr(mp, USED_HIGH), 2 * MIB, "peak");
            t.set_pool_attr(mp, RESERVED_HIGH, 0);
            t.eq(t.pool_attr(mp, RESERVED_HIGH), 0, "peak that was set to 0");
            t.unpool(p, s);
            t.pooled(2 * MIB, mp, s);
            t.eq(
                t.pool_attr(mp, RESERVED_HIGH),
                2 * MIB,
                "after the next block",
            );
        }),
        case("x.pool.pointers", Setup::device0().devices(2), |t| {
            let mut props = props();
            props.location.id = 1;
            t.fails(
                make(&props).0,
                ERROR_CONTEXT,
                "a pool on a device that is not set",
            );
            t.ok(aclrtSetDevice(1), "aclrtSetDevice");
            let (code, mp) = make(&props);
            t.ok(code, "aclrtMemPoolCreate");
            let s = t.stream();
            let p = t.pooled(3 * MIB, mp, s);
            let inside = off(p, 3 * MIB + 5);
            let attributes = t.attributes(inside);
            t.eq(
                (attributes.location.r#type, attributes.location.id),
                (ACL_MEM_LOCATION_TYPE_DEVICE, 1),
                "location",
            );
            t.eq(t.range(inside), (p, 4 * MIB), "range");
            // A copy stays inside its block.
            let q = t.pooled(2 * MIB, mp, s);
            t.usable(p, 4 * MIB);
            let bytes = vec![1; 4 * MIB + 1];
            let code = aclrtMemcpy(
                p,
                8 * MIB,
                src(&bytes),
                4 * MIB + 1,
                ACL_MEMCPY_HOST_TO_DEVICE,
            );
            t.fails(code, ERROR_PARAM, "a copy past the end of a block");
            t.fails(
                aclrtMemPoolFreeAsync(off(p, 2 * MIB), s),
                ERROR_PARAM,
                "an interior address",
            );
            t.fails(
                aclrtMemPoolFreeAsync(off(p, 1), s),
                ERROR_PARAM,
                "an odd address",
            );
            t.unpool(p, s);
            let unknown = t.attributes(p).location.r#type;
            t.eq(
                unknown,
                ACL_MEM_LOCATION_TYPE_UNREGISTERED,
                "kind after the release",
            );
            let code = aclrtMemset(p, 16, 0, 16);
            t.fails(code, ERROR_PARAM, "touching it after the release");
            t.usable(q, 2 * MIB);
        }),
        case("x.pool.plain_free", Setup::device0(), |t| {
            // aclrtFree gives a block back to its pool, for everybody at once.
            let (mp, s1, s2) = (t.pool(), t.stream(), t.stream());
            for attr in 1..=3 {
                set_short(t, mp, attr, 0);
            }
            let p = t.pooled(2 * MIB, mp, s1);
            t.fails(aclrtFreeHost(p), ERROR_PARAM, "aclrtFreeHost");
            t.fails(aclrtFree(off(p, 64)), ERROR_PARAM, "an interior address");
            t.free(p);
            t.eq(t.counts(mp), (2 * MIB, 0), "reserved and used");
            t.fails(aclrtFree(p), ERROR_PARAM, "a second time");
            t.eq(t.pooled(MIB, mp, s2), p, "block of another stream");
        }),
        case("x.pool.other_memory", Setup::device0(), |t| {
            // What is no pool's is released in stream order.
            let before = t.pools();
            let s = t.stream();
            let (p, bytes) = t.filled(MIB);
            let gate = t.hold(s);
            let (h, _) = t.pinned(MIB);
            t.copy_async(h, p, MIB, s);
            t.unpool(p, s);
            t.holds(
                p,
                &bytes,
                "the block before the stream comes to its release",
            );
            gate.open();
            t.sync(s);
            t.same_bytes(&host_read(h, MIB), &bytes, "copied before the release");
            t.eq(t.pools(), before, "device memory afterwards");
            t.fails(aclrtFree(p), ERROR_PARAM, "releasing it again");
            t.fails(aclrtMemPoolFreeAsync(p, s), ERROR_PARAM, "and so");
            t.fails(aclrtMemPoolFreeAsync(h, s), ERROR_PARAM, "host memory");
            t.fails(
                aclrtMemPoolFreeAsync(addr(0x1234), s),
                ERROR_PARAM,
                "a wild address",
            );
            // Dropped tasks lose nothing.
            let q = t.malloc(MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
            let gate = t.hold(s);
            t.unpool(q, s);
            t.ok(aclrtStreamAbort(s), "aclrtStreamAbort");
            gate.open();
            t.sync(s);
            t.eq(t.pools(), before, "device memory after an abort");
        }),
        case("x.pool.device_reset", Setup::device0(), |t| {
            t.ok(aclrtSetDevice(0), "a second reference");
            let (mp, s) = (t.pool(), t.stream());
            let p = t.pooled(4 * MIB, mp, s);
            let q = t.pooled(2 * MIB, mp, s);
            t.unpool(q, s);
            t.ok(aclrtResetDevice(0), "the first reset");
            t.usable(p, 4 * MIB);
            t.ok(aclrtResetDevice(0), "the last reset");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            let (free, total) = t.mem(ACL_HBM_MEM);
            t.eq(free, total, "free memory of the device");
            let s = t.stream();
            let mut r = SENTINEL;
            let code = aclrtMemPoolMallocAsync(&raw mut r, 64, mp, s);
            t.fails(code, ERROR_POOL, "a block of a dead pool");
            t.fails(aclrtMemPoolDestroy(mp), ERROR_POOL, "destroying it");
            t.fails(aclrtMemPoolTrimTo(mp, 0), ERROR_POOL, "trimming it");
            t.fails(
                aclrtMemPoolFreeAsync(p, s),
                ERROR_PARAM,
                "releasing its block",
            );
            t.fails(aclrtFree(p), ERROR_PARAM, "releasing its block so");
            t.eq(r, SENTINEL, "output");
            t.usable(t.pooled(MIB, t.pool(), s), MIB);
        }),
        case(
            "x.pool.exhaustion",
            Setup::device0().memory("64M", "32M"),
            |t| {
                let before = t.pools();
                let (small, large, s) = (t.pool_of(8 * MIB), t.pool_of(64 * MIB), t.stream());
                let fails = |mp, size: usize, what: &str| {
                    let mut p = SENTINEL;
                    let code = aclrtMemPoolMallocAsync(&raw mut p, size, mp, s);
                    let tokens = format!("func=aclrtMemPoolMallocAsync {size}");
                    t.fails_with(code, ERROR_POOL, &tokens, what);
                    t.eq(p, SENTINEL, "output");
                };
                fails(small, 8 * MIB + 1, "more than the pool may have");
                fails(small, usize::MAX, "more than there is");
                let blocks: Vec<_> = (0..4).map(|_| t.pooled(MIB, small, s)).collect();
                fails(small, 1, "a pool that is full");
                t.eq(
                    t.counts(small),
                    (8 * MIB, 8 * MIB),
                    "counts of the full pool",
                );
                // The device: 2 MiB pages first, then normal ones.
                let rest = t.pooled(56 * MIB - 32 * MIB, large, s);
                let (huge, normal) = before.taken(&t.pools());
                t.eq((huge, normal), (32 << 20, 0), "all 2 MiB pages");
                let more = t.pooled(30 * MIB, large, s);
                let mut q = SENTINEL;
                let code = aclrtMalloc(&raw mut q, 4 * MIB, ACL_MEM_MALLOC_HUGE_FIRST);
                t.fails_with(
                    code,
                    ERROR_MEMORY,
                    "aclrtMemPoolCreate",
                    "a block beside the pools",
                );
                fails(large, 2 * MIB + 1, "more than the device has left");
                for p in blocks {
                    t.unpool(p, s);
                }
                t.unpool(rest, s);
                t.unpool(more, s);
                t.sync(s);
                t.eq(t.pools(), before, "device memory in the end");
            },
        ),
        case("x.pool.many", Setup::device0(), |t| {
            // Pools come and go; nothing is left.
            let before = t.pools();
            let s = t.stream();
            for round in 0..600 {
                let mp = t.pool_of(if round % 2 == 0 { 64 * MIB } else { GIB });
                let p = t.pooled(2 * MIB, mp, s);
                let q = t.pooled(6 * MIB, mp, s);
                t.unpool(p, s);
                if round % 3 == 0 {
                    t.unpool(q, s);
                    t.ok(aclrtMemPoolDestroy(mp), "aclrtMemPoolDestroy");
                } else {
                    t.ok(aclrtMemPoolDestroy(mp), "aclrtMemPoolDestroy");
                    t.free(q);
                }
            }
            t.eq(t.pools(), before, "device memory in the end");
        }),
    ]
}
