//! Flushing and invalidating device memory.

use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = lines();
    cases.extend(own());
    cases
}

type CacheCall = fn(*mut c_void, usize) -> aclError;
const BOTH: [(&str, CacheCall); 2] = [
    ("aclrtMemFlush", aclrtMemFlush),
    ("aclrtMemInvalidate", aclrtMemInvalidate),
];

/// The call on a thread without a context.
fn no_context(t: &T, call: CacheCall) {
    let (p, bytes) = t.filled(64);
    on_thread(|| t.ret(call(p, 64)));
    t.holds(p, &bytes, "block");
}

/// The call on a block changes nothing.
fn no_effect(t: &T, call: CacheCall) {
    let (p, bytes) = t.filled(64);
    t.charges_nothing(|| t.ret(call(p, 64)));
    t.holds(p, &bytes, "block");
}

fn lines() -> Vec<Case> {
    vec![
        case("memory.flush.no_context", Setup::device0(), |t| {
            no_context(t, aclrtMemFlush);
        }),
        case("memory.flush.null", Setup::device0(), |t| {
            t.ret(aclrtMemFlush(null_mut(), 64));
        }),
        case("memory.flush.ok", Setup::device0(), |t| {
            no_effect(t, aclrtMemFlush)
        }),
        case("memory.invalidate.no_context", Setup::device0(), |t| {
            no_context(t, aclrtMemInvalidate);
        }),
        case("memory.invalidate.null", Setup::device0(), |t| {
            t.ret(aclrtMemInvalidate(null_mut(), 64));
        }),
        case("memory.invalidate.ok", Setup::device0(), |t| {
            no_effect(t, aclrtMemInvalidate);
        }),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.cache.size_zero", Setup::device0(), |t| {
            let (p, _) = t.filled(64);
            for (name, call) in BOTH {
                let zero = "EH0007 value=0 param=size expect 'must be greater than 0'";
                t.fails_with(call(p, 0), ERROR_FRONT, zero, name);
                t.fails_with(
                    call(null_mut(), 0),
                    ERROR_FRONT,
                    "EH0008 param=devPtr",
                    name,
                );
            }
        }),
        case("x.cache.parts_of_a_block", Setup::device0(), |t| {
            let (p, bytes) = t.filled(5000);
            for (name, call) in BOTH {
                for (at, len) in [(0, 1), (1, 1), (64, 64), (100, 4900), (0, 5000)] {
                    t.ok(
                        call(off(p, at), len),
                        &format!("{name} of {len} bytes at {at}"),
                    );
                }
            }
            t.holds(p, &bytes, "block");
        }),
        case("x.cache.every_allocation_function", Setup::device0(), |t| {
            for (name, malloc) in super::memory_malloc::ALL {
                let p = t.block(malloc, 5000, ACL_MEM_MALLOC_HUGE_FIRST);
                for (call_name, call) in BOTH {
                    t.ok(call(p, 5000), &format!("{call_name} after {name}"));
                }
            }
        }),
        case("x.cache.padded_tail", Setup::device0(), |t| {
            // 100 bytes asked, 160 reserved: the tail belongs to the block, what follows does not.
            let (p, bytes) = t.filled(100);
            let reserved = padded(100);
            for (name, call) in BOTH {
                t.ok(call(p, reserved), name);
                t.ok(call(off(p, 100), reserved - 100), name);
                t.fails(call(p, reserved + 1), ERROR_PARAM, name);
                t.fails(call(off(p, 100), reserved - 99), ERROR_PARAM, name);
            }
            t.holds(p, &bytes, "block");
        }),
        case("x.cache.bad_ranges", Setup::device0(), |t| {
            let (p, bytes) = t.filled(64);
            let (freed, _) = t.filled(64);
            t.free(freed);
            for (name, call) in BOTH {
                for (what, q, len) in [
                    ("past the end", p, 4096),
                    ("a size that wraps", p, usize::MAX),
                    ("a freed block", freed, 64),
                    ("nothing at all", addr(0x1000), 64),
                    (
                        "unallocated device memory",
                        addr(0x12c0_0000_0000 + 30 * GIB),
                        64,
                    ),
                ] {
                    t.fails(call(q, len), ERROR_PARAM, &format!("{name} of {what}"));
                }
            }
            t.holds(p, &bytes, "block");
        }),
        case(
            "x.cache.unsupported_after_checks",
            Setup::init()
                .profile("IPV350")
                .env("CANNERY_HBM_BYTES", "64M"),
            |t| {
                t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                t.create_context(0);
                let p = t.malloc(64, ACL_MEM_MALLOC_NORMAL_ONLY);
                for (name, call) in BOTH {
                    t.fails(call(p, 64), ERROR_UNSUPPORTED, name);
                    t.fails(call(null_mut(), 64), ERROR_FRONT, name);
                    t.fails(call(p, 0), ERROR_FRONT, name);
                }
            },
        ),
        case("x.cache.cached_walk_through", Setup::device0(), |t| {
            // The mission's sequence: copy in, flush, invalidate, copy back.
            let p = t.block(aclrtMallocCached, 8192, ACL_MEM_MALLOC_HUGE_FIRST);
            let bytes = t.random_bytes(8192);
            t.upload(p, &bytes);
            t.ok(aclrtMemFlush(p, 8192), "aclrtMemFlush");
            t.ok(aclrtMemInvalidate(p, 8192), "aclrtMemInvalidate");
            t.holds(p, &bytes, "bytes that came back");
            t.free(p);
        }),
    ]
}
