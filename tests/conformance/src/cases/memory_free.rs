//! Releasing device memory, and what must not be released.

use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = free();
    cases.extend(own());
    cases.extend(own_wrong_family());
    cases
}

/// Judges the release of something that must be refused, with a block beside
/// it that must come to no harm.
fn refused(t: &T, p: *mut c_void) {
    let (bystander, bytes) = t.filled(1000);
    t.charges_nothing(|| t.ret(aclrtFree(p)));
    t.holds(bystander, &bytes, "another block");
    t.free(bystander);
}

/// Judges a release that must give everything back.
fn released(t: &T, before: Pools, p: *mut c_void) {
    t.ret(aclrtFree(p));
    t.eq(t.pools(), before, "page pools");
    t.fails(aclrtFree(p), ERROR_PARAM, "second release");
}

fn free() -> Vec<Case> {
    vec![
        case("memory.free.align32_block", Setup::device0(), |t| {
            let before = t.pools();
            let a = t.block(aclrtMallocAlign32, 1000, ACL_MEM_MALLOC_HUGE_FIRST);
            released(t, before, a);
        }),
        case("memory.free.cached_block", Setup::device0(), |t| {
            let before = t.pools();
            let c = t.block(aclrtMallocCached, 1000, ACL_MEM_MALLOC_HUGE_FIRST);
            released(t, before, c);
        }),
        case("memory.free.garbage", Setup::device0(), |t| {
            refused(t, addr(0x1000))
        }),
        case("memory.free.stack_pointer", Setup::device0(), |t| {
            let mut local = [0x77_u8; 64];
            refused(t, dst(&mut local));
            t.eq(local, [0x77; 64], "local variable");
        }),
        case("memory.free.host_pointer", Setup::device0(), |t| {
            let h = t.malloc_host(1000);
            let bytes = t.random_bytes(1000);
            host_write(h, &bytes);
            refused(t, h);
            t.same_bytes(&host_read(h, 1000), &bytes, "host block");
            t.free_host(h);
        }),
        case("memory.free.no_context", Setup::device0(), |t| {
            let keeper = Worker::new();
            keeper.run(|| t.ok(aclrtSetDevice(0), "the other thread's reference"));
            let before = t.pools();
            let p = t.malloc(1000, ACL_MEM_MALLOC_HUGE_FIRST);
            t.ok(aclrtResetDevice(0), "aclrtResetDevice");
            on_thread(|| {
                let mut d = -77;
                t.fails(
                    aclrtGetDevice(&raw mut d),
                    ERROR_CONTEXT,
                    "thread without a context",
                );
                t.ret(aclrtFree(p));
            });
            keeper.run(|| t.eq(t.pools(), before, "page pools"));
            t.fails(aclrtFree(p), ERROR_PARAM, "second release");
        }),
        case(
            "memory.free.other_device_current",
            Setup::device0().devices(2),
            |t| {
                let before = t.pools();
                let p = t.malloc(3 * MIB, ACL_MEM_MALLOC_HUGE_FIRST);
                t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
                t.charges_nothing(|| t.ret(aclrtFree(p)));
                t.ok(aclrtSetDevice(0), "aclrtSetDevice(0)");
                t.eq(t.pools(), before, "page pools of device 0");
            },
        ),
        case("memory.free.twice", Setup::device0(), |t| {
            let (a, a_bytes) = t.filled(1000);
            let (b, _) = t.filled(1000);
            let (c, c_bytes) = t.filled(1000);
            t.free(b);
            t.charges_nothing(|| t.ret(aclrtFree(b)));
            t.holds(a, &a_bytes, "block before it");
            t.holds(c, &c_bytes, "block after it");
            t.free(a);
            t.free(c);
        }),
        case("memory.free_sync.no_context", Setup::device0(), |t| {
            let (p, bytes) = t.filled(1000);
            let before = t.pools();
            on_thread(|| t.ret(aclrtFreeWithDevSync(p)));
            t.eq(t.pools(), before, "page pools");
            t.holds(p, &bytes, "block");
            t.free(p);
        }),
        case("memory.free_sync.null", Setup::device0(), |t| {
            t.charges_nothing(|| t.ret(aclrtFreeWithDevSync(null_mut())));
        }),
    ]
}

/// Everything that can release memory, and what it releases.
type Free = fn(*mut c_void) -> i32;
const RELEASES: [(&str, Free); 6] = [
    ("aclrtFree", aclrtFree),
    ("aclrtFreeWithDevSync", aclrtFreeWithDevSync),
    ("aclrtFreeHost", aclrtFreeHost),
    ("aclrtFreeHostWithDevSync", aclrtFreeHostWithDevSync),
    ("acldvppFree", acldvppFree),
    ("hi_mpi_dvpp_free", hi_mpi_dvpp_free),
];

/// A release that must be refused. The media functions of the hi family have
/// codes of their own; only success would be wrong.
fn must_refuse(t: &T, (name, free): (&str, Free), p: *mut c_void, what: &str) {
    let code = free(p);
    let what = format!("{name} of {what}");
    if name.starts_with("hi_") {
        t.check(code != 0, &format!("{what} returned 0"));
        t.check(recent_text().is_some(), &format!("{what} left no text"));
    } else {
        t.fails(code, ERROR_PARAM, &what);
    }
}

fn own() -> Vec<Case> {
    vec![
        case("x.free.null", Setup::device0(), |t| {
            for (name, free) in &RELEASES[..5] {
                t.fails_with(free(null_mut()), ERROR_FRONT, "EH0008", name);
            }
            t.check(hi_mpi_dvpp_free(null_mut()) != 0, "hi_mpi_dvpp_free(NULL)");
        }),
        case("x.free.sync_releases", Setup::device0(), |t| {
            let before = t.pools();
            let p = t.malloc(1000, ACL_MEM_MALLOC_HUGE_FIRST);
            t.ok(aclrtFreeWithDevSync(p), "aclrtFreeWithDevSync");
            t.eq(t.pools(), before, "page pools");
            t.fails(aclrtFreeWithDevSync(p), ERROR_PARAM, "second release");
            let h = t.malloc_host(1000);
            t.ok(aclrtFreeHostWithDevSync(h), "aclrtFreeHostWithDevSync");
            t.fails(aclrtFreeHostWithDevSync(h), ERROR_PARAM, "second release");
        }),
        case("x.free.interior", Setup::device0(), |t| {
            let (d, d_bytes) = t.filled(5000);
            let h = t.malloc_host(5000);
            let h_bytes = t.random_bytes(5000);
            host_write(h, &h_bytes);
            let mut m = SENTINEL;
            t.ok(acldvppMalloc(&raw mut m, 5000), "acldvppMalloc");
            t.upload(m, &d_bytes);
            for release in RELEASES {
                for at in [1, 32, 64, 4096, 4999] {
                    must_refuse(t, release, off(d, at), "a device block's inside");
                    must_refuse(t, release, off(h, at), "a host block's inside");
                    must_refuse(t, release, off(m, at), "a media block's inside");
                }
            }
            t.holds(d, &d_bytes, "device block");
            t.holds(m, &d_bytes, "media block");
            t.same_bytes(&host_read(h, 5000), &h_bytes, "host block");
            t.free(d);
            t.free_host(h);
            t.ok(acldvppFree(m), "acldvppFree");
        }),
        case("x.free.wild", Setup::device0(), |t| {
            let (d, bytes) = t.filled(64);
            let mut heap = vec![0_u8; 100];
            let code = x_free_code as *const () as usize;
            for number in [
                1,
                64,
                0x1000,
                usize::MAX,
                usize::MAX - 63,
                1 << 47,
                (1 << 47) - 64,
                16 << 40,
                (32 << 40) - 64,
                32 << 40,
                0x12c0_0000_0000,
                0x12c0_0000_0000 + 63 * GIB,
                0x12c0_0000_0000 + 200 * GIB,
                0x12ff_ffff_ffff,
                heap.as_mut_ptr().addr(),
                code,
            ] {
                if addr(number) == d {
                    continue;
                }
                for release in RELEASES {
                    must_refuse(t, release, addr(number), &format!("{number:#x}"));
                }
            }
            t.holds(d, &bytes, "block");
            t.free(d);
        }),
        case(
            "x.free.failed_sync_keeps_the_block",
            Setup::device0(),
            |t| {
                let d = t.malloc(MIB, ACL_MEM_MALLOC_HUGE_FIRST);
                let worker = Worker::new();
                worker.run(|| {
                    t.fails(aclrtFreeWithDevSync(d), ERROR_CONTEXT, "without a device");
                    t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                    t.ok(aclrtFreeWithDevSync(d), "with a device");
                    t.fails(aclrtFree(d), ERROR_PARAM, "second release");
                });
            },
        ),
        case("x.free.counters_never_drift", Setup::device0(), |t| {
            let before = t.pools();
            let mut live = Vec::new();
            for i in 0..3000_usize {
                let size = 1 + t.random() as usize % (3 * MIB);
                let policy = [0, 1, 2, 77][i % 4];
                live.push(t.malloc(size, policy));
                if live.len() > 50 {
                    let p = live.swap_remove(t.random() as usize % live.len());
                    t.free(p);
                }
                if i % 100 == 0 {
                    t.eq(t.pools(), t.pools(), "two idle queries");
                }
            }
            for p in live {
                t.free(p);
            }
            t.eq(t.pools(), before, "page pools afterwards");
        }),
        case("x.free.race_has_one_winner", Setup::device0(), |t| {
            for _ in 0..200 {
                let p = t.malloc(4096, ACL_MEM_MALLOC_HUGE_FIRST).addr();
                let codes: Vec<aclError> = std::thread::scope(|scope| {
                    let threads: Vec<_> = (0..4)
                        .map(|_| scope.spawn(move || aclrtFree(addr(p))))
                        .collect();
                    threads.into_iter().filter_map(|t| t.join().ok()).collect()
                });
                let won = codes.iter().filter(|c| **c == 0).count();
                let lost = codes
                    .iter()
                    .filter(|c| i64::from(**c) == ERROR_PARAM)
                    .count();
                t.eq((won, lost), (1, 3), "releases that succeeded and failed");
            }
        }),
    ]
}

/// Only its address is used.
fn x_free_code() {}

fn own_wrong_family() -> Vec<Case> {
    vec![
        case("x.free.device_block_by_others", Setup::device0(), |t| {
            let (d, bytes) = t.filled(4096);
            for release in &RELEASES[2..] {
                must_refuse(t, *release, d, "a device block");
                t.holds(d, &bytes, "device block");
            }
            t.free(d);
        }),
        case("x.free.host_block_by_others", Setup::device0(), |t| {
            let h = t.malloc_host(4096);
            let bytes = t.random_bytes(4096);
            host_write(h, &bytes);
            for release in [RELEASES[0], RELEASES[1], RELEASES[4], RELEASES[5]] {
                must_refuse(t, release, h, "a host block");
                t.same_bytes(&host_read(h, 4096), &bytes, "host block");
            }
            t.free_host(h);
        }),
        case("x.free.media_block_by_others", Setup::device0(), |t| {
            let mut m = SENTINEL;
            t.ok(acldvppMalloc(&raw mut m, 4096), "acldvppMalloc");
            let bytes = t.random_bytes(4096);
            t.upload(m, &bytes);
            for release in &RELEASES[..4] {
                must_refuse(t, *release, m, "a media block");
                t.holds(m, &bytes, "media block");
            }
            t.ok(acldvppFree(m), "acldvppFree");
        }),
        case("x.free.c_memory_by_all", Setup::device0(), |t| {
            let c = CMemory::new(4096);
            for release in RELEASES {
                must_refuse(t, release, c.p, "memory of C");
            }
            c.check_still_owned(t);
        }),
        case(
            "x.free.wrong_family_text_names_the_right_one",
            Setup::device0(),
            |t| {
                let h = t.malloc_host(64);
                t.eq(
                    i64::from(aclrtFree(h)),
                    ERROR_PARAM,
                    "aclrtFree of a host block",
                );
                let text = t.pending_text("the refusal");
                t.check(
                    text.contains("aclrtFreeHost"),
                    &format!("the right call: {text}"),
                );
                let d = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
                t.eq(
                    i64::from(aclrtFreeHost(d)),
                    ERROR_PARAM,
                    "aclrtFreeHost of a device block",
                );
                let text = t.pending_text("the refusal");
                t.check(
                    text.contains("aclrtFree"),
                    &format!("the right call: {text}"),
                );
            },
        ),
    ]
}
