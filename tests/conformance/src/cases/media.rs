//! Media memory: a family of its own with a stricter alignment.

use super::support::*;

type MediaMalloc = fn(*mut *mut c_void, usize) -> i32;
type MediaFree = fn(*mut c_void) -> i32;

fn hi_malloc(p: *mut *mut c_void, size: usize) -> i32 {
    hi_mpi_dvpp_malloc(0, p, size as u64)
}

const BOTH: [(&str, MediaMalloc, MediaFree); 2] = [
    ("acldvppMalloc", acldvppMalloc, acldvppFree),
    ("hi_mpi_dvpp_malloc", hi_malloc, hi_mpi_dvpp_free),
];

fn block(t: &T, name: &str, malloc: MediaMalloc, size: usize) -> *mut c_void {
    let mut p = SENTINEL;
    t.ok(malloc(&raw mut p, size), name);
    p
}

/// A call of either family that must fail; the hi family has codes of its own.
fn fails(t: &T, code: i32, want: i64, name: &str) {
    if name.starts_with("hi_") {
        t.check(code != 0, &format!("{name} returned 0"));
        t.check(recent_text().is_some(), &format!("{name} left no text"));
    } else {
        t.fails(code, want, name);
    }
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.media.alignment", Setup::device0(), |t| {
            for (name, malloc, _) in BOTH {
                for i in 0..100 {
                    let p = block(t, name, malloc, 2 * i * i + 1);
                    t.eq(p.addr() % 128, 0, &format!("alignment of {name}"));
                }
            }
        }),
        case("x.media.reserved_bytes", Setup::device0(), |t| {
            for (name, malloc, _) in BOTH {
                for size in [1, 32, 33, 4096] {
                    let p = block(t, name, malloc, size);
                    t.usable(p, padded(size));
                    let beyond = vec![0; padded(size) + 1];
                    let len = beyond.len();
                    let code = aclrtMemcpy(p, len, src(&beyond), len, ACL_MEMCPY_HOST_TO_DEVICE);
                    t.fails(
                        code,
                        ERROR_PARAM,
                        &format!("{len} bytes into {name} of {size}"),
                    );
                }
            }
        }),
        case("x.media.arguments", Setup::device0(), |t| {
            for (name, malloc, _) in BOTH {
                let mut p = SENTINEL;
                fails(t, malloc(null_mut(), 64), ERROR_FRONT, name);
                fails(t, malloc(&raw mut p, 0), ERROR_FRONT, name);
                fails(t, malloc(&raw mut p, usize::MAX), ERROR_FRONT, name);
                t.eq(p, SENTINEL, "output");
            }
            let code = acldvppMalloc(null_mut(), 64);
            t.fails_with(code, ERROR_FRONT, "EH0008 param=devPtr", "NULL");
            let mut p = SENTINEL;
            let code = acldvppMalloc(&raw mut p, 0);
            t.fails_with(code, ERROR_FRONT, "param=size", "size zero");
        }),
        case("x.media.no_context", Setup::init(), |t| {
            for (name, malloc, _) in BOTH {
                let mut p = SENTINEL;
                fails(t, malloc(&raw mut p, 64), ERROR_CONTEXT, name);
                t.eq(p, SENTINEL, "output");
            }
        }),
        case("x.media.charged_and_returned", Setup::device0(), |t| {
            for (name, malloc, free) in BOTH {
                for size in [64, 5000, 3 * MIB] {
                    let before = t.pools();
                    let p = block(t, name, malloc, size);
                    let taken = before.all.0 - t.pools().all.0;
                    t.check(
                        taken >= padded(size),
                        &format!("{name} of {size} takes {taken}"),
                    );
                    t.usable(p, size);
                    t.ok(free(p), "release");
                    t.eq(t.pools(), before, "page pools");
                    fails(t, free(p), ERROR_PARAM, name);
                }
            }
        }),
        case("x.media.limit_of_a_process", Setup::device0(), |t| {
            for (name, malloc, free) in BOTH {
                let mut p = SENTINEL;
                fails(t, malloc(&raw mut p, 17 * GIB), ERROR_MEMORY, name);
                let large = block(t, name, malloc, 15 * GIB);
                fails(t, malloc(&raw mut p, 2 * GIB), ERROR_MEMORY, name);
                t.eq(p, SENTINEL, "output");
                // Ordinary memory is not limited by it.
                let d = t.malloc(2 * GIB, ACL_MEM_MALLOC_HUGE_FIRST);
                t.free(d);
                t.ok(free(large), "release");
                let again = block(t, name, malloc, 2 * GIB);
                t.ok(free(again), "release");
            }
        }),
        case(
            "x.media.hi_device_id_is_ignored",
            Setup::device0().devices(2),
            |t| {
                let mut p = SENTINEL;
                t.ok(
                    hi_mpi_dvpp_malloc(9999, &raw mut p, 64),
                    "hi_mpi_dvpp_malloc",
                );
                t.eq(t.attributes(p).location.id, 0, "device of the block");
                t.ok(hi_mpi_dvpp_free(p), "hi_mpi_dvpp_free");
            },
        ),
        case("x.media.reset_releases", Setup::device0(), |t| {
            let m = block(t, "acldvppMalloc", acldvppMalloc, MIB);
            t.ok(aclrtResetDevice(0), "aclrtResetDevice");
            t.fails(
                acldvppFree(m),
                ERROR_PARAM,
                "acldvppFree after the last reset",
            );
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            let pools = t.pools();
            t.eq(pools.all.0, pools.all.1, "free bytes of the empty card");
        }),
        case(
            "x.media.first_family_missing",
            Setup::device0().profile("950"),
            |t| {
                let mut p = SENTINEL;
                t.fails(
                    acldvppMalloc(&raw mut p, 64),
                    ERROR_UNSUPPORTED,
                    "acldvppMalloc",
                );
                t.fails(
                    acldvppMalloc(null_mut(), 64),
                    ERROR_FRONT,
                    "arguments first",
                );
                t.eq(p, SENTINEL, "output");
                t.fails(acldvppFree(null_mut()), ERROR_FRONT, "acldvppFree(NULL)");
                t.ok(hi_mpi_dvpp_malloc(0, &raw mut p, 64), "hi_mpi_dvpp_malloc");
                t.usable(p, 64);
            },
        ),
        case(
            "x.media.second_family_missing",
            Setup::device0().profile("910"),
            |t| {
                let mut p = SENTINEL;
                fails(t, hi_malloc(&raw mut p, 64), 0, "hi_mpi_dvpp_malloc");
                t.eq(p, SENTINEL, "output");
                let m = block(t, "acldvppMalloc", acldvppMalloc, 64);
                t.usable(m, 64);
            },
        ),
    ]
}
