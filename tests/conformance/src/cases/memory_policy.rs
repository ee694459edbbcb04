//! Which pages a policy takes, and what they are charged.

use super::memory_malloc::{ALL, with_cfg};
use super::support::*;

/// A value that is no policy.
const UNKNOWN: aclrtMemMallocPolicy = 77;

/// Judges an allocation by what it takes from the huge and the normal pool.
fn takes(t: &T, malloc: Malloc, size: usize, policy: aclrtMemMallocPolicy, want: (usize, usize)) {
    let mut p = SENTINEL;
    let (code, taken) = t.charge(|| malloc(&raw mut p, size, policy));
    t.ret(code);
    t.eq(
        taken,
        (want.0 as i64, want.1 as i64),
        "huge and normal bytes taken",
    );
    works(t, p, size);
    let page = if want.0 > 0 { HUGE_PAGE } else { 4 * KIB };
    t.eq(
        t.attributes(p).pageSize as usize,
        page,
        "page size of the block",
    );
}

/// First and last bytes of a block can be used.
fn works(t: &T, p: *mut c_void, size: usize) {
    let n = size.min(1000);
    t.usable(p, n);
    t.usable(off(p, size - n), n);
}

/// A small block that is accepted and can be freed.
fn accepted(t: &T, malloc: Malloc, policy: aclrtMemMallocPolicy) {
    let before = t.pools();
    let mut p = SENTINEL;
    t.ret(malloc(&raw mut p, 1, policy));
    t.usable(p, 1);
    t.free(p);
    t.eq(t.pools(), before, "page pools afterwards");
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = huge_first();
    cases.extend(single());
    cases.extend(outside_the_enum());
    cases.extend(other_functions());
    cases.extend(own());
    cases
}

fn huge_first() -> Vec<Case> {
    vec![
        case(
            "memory.malloc.huge_first_exact_1mib_pads_over",
            Setup::device0(),
            |t| {
                takes(
                    t,
                    aclrtMalloc,
                    MIB,
                    ACL_MEM_MALLOC_HUGE_FIRST,
                    (HUGE_PAGE, 0),
                )
            },
        ),
        case(
            "memory.malloc.huge_first_falls_back",
            Setup::device0().memory("64M", "8M"),
            |t| {
                t.exhaust_huge();
                let size = 4 * MIB;
                let want = (0, normal_charge(padded(size)));
                takes(t, aclrtMalloc, size, ACL_MEM_MALLOC_HUGE_FIRST, want);
            },
        ),
        case(
            "memory.malloc.huge_first_large_uses_huge",
            Setup::device0(),
            |t| {
                takes(
                    t,
                    aclrtMalloc,
                    3 * MIB,
                    ACL_MEM_MALLOC_HUGE_FIRST,
                    (4 * MIB, 0),
                )
            },
        ),
        case(
            "memory.malloc.huge_first_small_uses_normal",
            Setup::device0(),
            |t| {
                let size = MIB - 64;
                let want = (0, normal_charge(padded(size)));
                takes(t, aclrtMalloc, size, ACL_MEM_MALLOC_HUGE_FIRST, want);
            },
        ),
        case(
            "memory.malloc_align32.exact_1mib_stays_normal",
            Setup::device0(),
            |t| {
                takes(
                    t,
                    aclrtMallocAlign32,
                    MIB,
                    ACL_MEM_MALLOC_HUGE_FIRST,
                    (0, MIB),
                )
            },
        ),
    ]
}

fn single() -> Vec<Case> {
    vec![
        case(
            "memory.malloc.huge_only_no_fallback",
            Setup::device0().memory("64M", "8M"),
            |t| {
                t.exhaust_huge();
                let normal = t.mem(ACL_HBM_MEM_NORMAL).0;
                t.check(normal >= 8 * MIB, "normal pages are available");
                let mut p = SENTINEL;
                t.charges_nothing(|| {
                    t.ret(aclrtMalloc(&raw mut p, 4 * MIB, ACL_MEM_MALLOC_HUGE_ONLY));
                });
                t.eq(p, SENTINEL, "output");
            },
        ),
        case("memory.malloc.huge_only_small", Setup::device0(), |t| {
            takes(
                t,
                aclrtMalloc,
                1024,
                ACL_MEM_MALLOC_HUGE_ONLY,
                (HUGE_PAGE, 0),
            );
        }),
        case("memory.malloc.normal_only_large", Setup::device0(), |t| {
            let size = 8 * MIB;
            let want = (0, normal_charge(padded(size)));
            takes(t, aclrtMalloc, size, ACL_MEM_MALLOC_NORMAL_ONLY, want);
        }),
        case("memory.malloc.huge1g_no_padding", Setup::device0(), |t| {
            let giant = |t: &T| t.mem(ACL_HBM_MEM_HUGE1G).0;
            let before = (giant(t), t.mem(ACL_HBM_MEM));
            let mut p = SENTINEL;
            t.ret(aclrtMalloc(&raw mut p, GIB, ACL_MEM_MALLOC_HUGE1G_ONLY));
            let after = (giant(t), t.mem(ACL_HBM_MEM));
            t.eq(before.0 - after.0, GIB, "1 GiB pages taken");
            t.eq(before.1.0 - after.1.0, GIB, "bytes taken");
            t.eq(p.addr() % GIB, 0, "alignment of the page");
            t.eq(t.range(p), (p, GIB), "address range");
            t.eq(t.attributes(p).pageSize as usize, GIB, "page size");
            works(t, p, GIB);
            t.free(p);
            t.eq(t.mem(ACL_HBM_MEM), before.1, "free bytes afterwards");
        }),
        case(
            "memory.malloc.huge1g_unsupported",
            Setup::device0().profile("310P"),
            |t| {
                let mut p = SENTINEL;
                t.charges_nothing(|| {
                    t.ret(aclrtMalloc(&raw mut p, GIB, ACL_MEM_MALLOC_HUGE1G_ONLY));
                });
                t.eq(p, SENTINEL, "output");
            },
        ),
        case("memory.malloc.policy_huge_first", Setup::device0(), |t| {
            accepted(t, aclrtMalloc, ACL_MEM_MALLOC_HUGE_FIRST);
        }),
        case(
            "memory.malloc.policy_huge_first_p2p",
            Setup::device0(),
            |t| {
                accepted(t, aclrtMalloc, ACL_MEM_MALLOC_HUGE_FIRST_P2P);
            },
        ),
        case("memory.malloc.policy_normal_only", Setup::device0(), |t| {
            accepted(t, aclrtMalloc, ACL_MEM_MALLOC_NORMAL_ONLY);
        }),
        case(
            "memory.malloc.policy_normal_only_p2p",
            Setup::device0(),
            |t| {
                accepted(t, aclrtMalloc, ACL_MEM_MALLOC_NORMAL_ONLY_P2P);
            },
        ),
        case(
            "memory.malloc.policy_huge_first_p2p_is_normal",
            Setup::device0(),
            |t| {
                let size = 4 * MIB;
                let want = (0, normal_charge(padded(size)));
                takes(t, aclrtMalloc, size, ACL_MEM_MALLOC_HUGE_FIRST_P2P, want);
            },
        ),
        case(
            "memory.malloc_cached.policy_huge_first",
            Setup::device0(),
            |t| {
                accepted(t, aclrtMallocCached, ACL_MEM_MALLOC_HUGE_FIRST);
            },
        ),
        case(
            "memory.malloc_cached.policy_normal_only",
            Setup::device0(),
            |t| {
                accepted(t, aclrtMallocCached, ACL_MEM_MALLOC_NORMAL_ONLY);
            },
        ),
    ]
}

fn outside_the_enum() -> Vec<Case> {
    vec![
        case("memory.malloc.policy_bit_or", Setup::device0(), |t| {
            let policy = ACL_MEM_MALLOC_HUGE_FIRST | ACL_MEM_TYPE_HIGH_BAND_WIDTH;
            takes(
                t,
                aclrtMalloc,
                4096,
                policy,
                (0, normal_charge(padded(4096))),
            );
        }),
        case(
            "memory.malloc.policy_normal_or_ddr_is_default",
            Setup::device0(),
            |t| {
                let policy = ACL_MEM_MALLOC_NORMAL_ONLY | ACL_MEM_TYPE_LOW_BAND_WIDTH;
                let want = (huge_charge(padded(4 * MIB)), 0);
                takes(t, aclrtMalloc, 4 * MIB, policy, want);
            },
        ),
        case(
            "memory.malloc.policy_out_of_range_between_1_and_2_mib",
            Setup::device0(),
            |t| {
                let size = 1536 * KIB;
                takes(
                    t,
                    aclrtMalloc,
                    size,
                    UNKNOWN,
                    (0, normal_charge(padded(size))),
                );
            },
        ),
        case(
            "memory.malloc.policy_out_of_range_large",
            Setup::device0().memory("64M", "16M"),
            |t| {
                // The line counts the two pages of the requested size; the
                // reserved tail of 32 bytes lies in a third one.
                let size = 4 * MIB;
                takes(
                    t,
                    aclrtMalloc,
                    size,
                    UNKNOWN,
                    (huge_charge(padded(size)), 0),
                );
                t.exhaust_huge();
                takes(
                    t,
                    aclrtMalloc,
                    size,
                    UNKNOWN,
                    (0, normal_charge(padded(size))),
                );
            },
        ),
        case(
            "memory.malloc.policy_out_of_range_small",
            Setup::device0(),
            |t| {
                takes(
                    t,
                    aclrtMalloc,
                    4096,
                    UNKNOWN,
                    (0, normal_charge(padded(4096))),
                )
            },
        ),
        case(
            "memory.malloc_cached.policy_p2p_is_default",
            Setup::device0().profile("310B"),
            |t| {
                let want = (0, normal_charge(padded(64)));
                takes(t, aclrtMallocCached, 64, ACL_MEM_MALLOC_HUGE_ONLY_P2P, want);
            },
        ),
        case(
            "memory.malloc_cached.arch5162_only_normal",
            Setup::init()
                .profile("IPV350")
                .env("CANNERY_HBM_BYTES", "64M"),
            |t| {
                // This product has no default context.
                t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                t.create_context(0);
                let mut p = SENTINEL;
                t.ret(aclrtMallocCached(&raw mut p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
                t.eq(p, SENTINEL, "output");
                let code = aclrtMallocCached(&raw mut p, 64, ACL_MEM_MALLOC_NORMAL_ONLY);
                t.ok(code, "NORMAL_ONLY");
                t.usable(p, 64);
                t.free(p);
            },
        ),
    ]
}

fn other_functions() -> Vec<Case> {
    vec![
        case(
            "memory.malloc_with_cfg.p2p_honours_huge",
            Setup::device0(),
            |t| {
                takes(
                    t,
                    with_cfg,
                    4 * MIB,
                    ACL_MEM_MALLOC_HUGE_ONLY_P2P,
                    (4 * MIB, 0),
                );
            },
        ),
        case(
            "memory.malloc_with_cfg.policy_band_alone",
            Setup::device0(),
            |t| {
                takes(t, with_cfg, 4096, ACL_MEM_TYPE_LOW_BAND_WIDTH, (0, 4096));
                // HUGE_FIRST shows above 1 MiB.
                let size = 1536 * KIB;
                let p = SENTINEL;
                let mut q = p;
                let (code, taken) =
                    t.charge(|| with_cfg(&raw mut q, size, ACL_MEM_TYPE_LOW_BAND_WIDTH));
                t.ok(code, "1.5 MiB");
                t.eq(taken, (HUGE_PAGE as i64, 0), "bytes taken");
            },
        ),
        case(
            "memory.malloc_with_cfg.policy_or_hbm",
            Setup::device0(),
            |t| {
                let policy = ACL_MEM_TYPE_HIGH_BAND_WIDTH | ACL_MEM_MALLOC_HUGE_FIRST;
                takes(t, with_cfg, 4096, policy, (0, 4096));
                let policy = ACL_MEM_TYPE_HIGH_BAND_WIDTH | ACL_MEM_MALLOC_NORMAL_ONLY;
                takes(t, with_cfg, 4 * MIB, policy, (0, 4 * MIB));
                let policy = ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_MALLOC_HUGE_ONLY;
                takes(t, with_cfg, 4096, policy, (HUGE_PAGE, 0));
            },
        ),
        case(
            "memory.malloc_with_cfg.policy_or_readonly",
            Setup::device0(),
            |t| {
                let policy = ACL_MEM_ACCESS_USER_SPACE_READONLY | ACL_MEM_MALLOC_NORMAL_ONLY;
                let mut p = SENTINEL;
                let (code, taken) = t.charge(|| with_cfg(&raw mut p, 4096, policy));
                t.ret(code);
                t.eq(taken, (0, 4096), "bytes taken");
                t.download(p, 4096);
                t.free(p);
            },
        ),
        case(
            "memory.malloc_with_cfg.policy_unknown",
            Setup::device0(),
            |t| {
                takes(t, with_cfg, 4096, 0x55, (0, 4096));
                // The flags are dropped with it: still the default policy.
                let flags = ACL_MEM_ACCESS_USER_SPACE_READONLY | ACL_MEM_TYPE_LOW_BAND_WIDTH;
                takes(t, with_cfg, 1536 * KIB, 0x55 | flags, (0, 1536 * KIB));
                takes(t, with_cfg, 2 * MIB, 0x55 | flags, (2 * MIB, 0));
            },
        ),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.policy.table", Setup::device0(), |t| {
            // Every function, the four common policies, sizes around the two
            // limits: 1 MiB of padded and 2 MiB of requested size.
            let sizes = [
                1,
                4096,
                MIB - 64,
                MIB - 63,
                MIB - 32,
                MIB - 31,
                MIB,
                MIB + 1,
                2 * MIB - 65,
                2 * MIB - 1,
                2 * MIB,
                2 * MIB + 1,
                5 * MIB,
            ];
            for (name, malloc) in ALL {
                let tail = matches!(name, "aclrtMalloc" | "aclrtMallocCached");
                for size in sizes {
                    let reserved = round_up(size, 32) + if tail { 32 } else { 0 };
                    for (policy, huge) in [
                        (ACL_MEM_MALLOC_HUGE_FIRST, reserved > MIB),
                        (ACL_MEM_MALLOC_HUGE_ONLY, true),
                        (ACL_MEM_MALLOC_NORMAL_ONLY, false),
                        (UNKNOWN, size >= 2 * MIB),
                    ] {
                        let (p, taken) = t.charge(|| t.block(malloc, size, policy));
                        let want = if huge {
                            (huge_charge(reserved) as i64, 0)
                        } else {
                            (0, normal_charge(reserved) as i64)
                        };
                        t.eq(taken, want, &format!("{name} of {size}, policy {policy}"));
                        works(t, p, size);
                        t.free(p);
                    }
                }
            }
        }),
        case("x.policy.negative_and_wide_values", Setup::device0(), |t| {
            for policy in [-1, i32::MIN, i32::MAX, 8, 255, 0x1100] {
                for (name, malloc) in [ALL[0], ALL[1], ALL[2]] {
                    let (p, taken) = t.charge(|| t.block(malloc, 2 * MIB, policy));
                    let what = format!("{name}, policy {policy:#x}");
                    t.check(taken.0 >= 2 * MIB as i64 && taken.1 == 0, &what);
                    t.free(p);
                    let (p, taken) = t.charge(|| t.block(malloc, 2 * MIB - 1, policy));
                    t.check(taken.0 == 0 && taken.1 > 0, &what);
                    t.free(p);
                }
            }
        }),
        case(
            "x.policy.p2p_without_peer_access",
            Setup::device0().profile("310B"),
            |t| {
                for policy in [
                    ACL_MEM_MALLOC_HUGE_FIRST_P2P,
                    ACL_MEM_MALLOC_HUGE_ONLY_P2P,
                    ACL_MEM_MALLOC_NORMAL_ONLY_P2P,
                ] {
                    let mut p = SENTINEL;
                    let code = aclrtMalloc(&raw mut p, 64, policy);
                    t.fails(
                        code,
                        ERROR_UNSUPPORTED,
                        &format!("aclrtMalloc, policy {policy}"),
                    );
                    let code = with_cfg(&raw mut p, 64, policy);
                    t.fails(
                        code,
                        ERROR_UNSUPPORTED,
                        &format!("with configuration, {policy}"),
                    );
                    t.eq(p, SENTINEL, "output");
                }
            },
        ),
        case("x.policy.huge_block_alignment", Setup::device0(), |t| {
            for size in [1, 3 * MIB, 5 * MIB] {
                let p = t.malloc(size, ACL_MEM_MALLOC_HUGE_ONLY);
                t.eq(p.addr() % HUGE_PAGE, 0, "alignment of whole huge pages");
            }
        }),
        case("x.policy.huge1g_rounds_up", Setup::device0(), |t| {
            let before = t.mem(ACL_HBM_MEM).0;
            let p = t.malloc(1, ACL_MEM_MALLOC_HUGE1G_ONLY);
            t.eq(
                before - t.mem(ACL_HBM_MEM).0,
                GIB,
                "bytes taken by one byte",
            );
            t.eq(t.attributes(p).pageSize as usize, GIB, "page size");
            let q = t.malloc(GIB + 1, ACL_MEM_MALLOC_HUGE1G_ONLY);
            t.eq(
                before - t.mem(ACL_HBM_MEM).0,
                3 * GIB,
                "bytes taken by both",
            );
            t.free(p);
            t.free(q);
            t.eq(t.mem(ACL_HBM_MEM).0, before, "free bytes afterwards");
        }),
        case(
            "x.policy.huge1g_exhausted",
            Setup::device0().memory("4G", "2G"),
            |t| {
                let first = t.malloc(GIB, ACL_MEM_MALLOC_HUGE1G_ONLY);
                let second = {
                    let mut p = SENTINEL;
                    (aclrtMalloc(&raw mut p, GIB, ACL_MEM_MALLOC_HUGE1G_ONLY), p)
                };
                let mut p = SENTINEL;
                let code = aclrtMalloc(&raw mut p, GIB, ACL_MEM_MALLOC_HUGE1G_ONLY);
                t.fails(code, ERROR_MEMORY, "a third page of two");
                t.eq(p, SENTINEL, "output");
                t.ok(second.0, "the second page");
                t.free(first);
                t.free(second.1);
            },
        ),
    ]
}
