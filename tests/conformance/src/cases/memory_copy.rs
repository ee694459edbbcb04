//! Synchronous copies, 2D copies and copy descriptors.

use super::support::*;

const H2D: aclrtMemcpyKind = ACL_MEMCPY_HOST_TO_DEVICE;
const D2H: aclrtMemcpyKind = ACL_MEMCPY_DEVICE_TO_HOST;
const D2D: aclrtMemcpyKind = ACL_MEMCPY_DEVICE_TO_DEVICE;
const H2H: aclrtMemcpyKind = ACL_MEMCPY_HOST_TO_HOST;
const INNER: aclrtMemcpyKind = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;

/// Judges a copy of host bytes to a device block that must change nothing.
fn refused(t: &T, max: usize, count: usize, kind: aclrtMemcpyKind) {
    let (p, before) = t.filled(64);
    let bytes = t.random_bytes(64);
    t.ret(aclrtMemcpy(p, max, src(&bytes), count, kind));
    t.holds(p, &before, "destination");
}

/// Judges a host-to-host copy that must change nothing.
fn refused_on_host(t: &T, max: usize) {
    let bytes = t.random_bytes(64);
    let mut out = vec![0x77; 64];
    t.ret(aclrtMemcpy(dst(&mut out), max, src(&bytes), 64, H2H));
    t.same_bytes(&out, &[0x77; 64], "destination");
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = arguments();
    cases.extend(bytes());
    cases.extend(two_dimensional());
    cases.extend(descriptors());
    cases.extend(own());
    cases
}

fn arguments() -> Vec<Case> {
    vec![
        case("memory.memcpy.bad_kind", Setup::device0(), |t| {
            refused(t, 64, 64, 9)
        }),
        case(
            "memory.memcpy.bad_kind_beats_dest_max",
            Setup::device0(),
            |t| {
                refused(t, 1, 64, 9);
            },
        ),
        case("memory.memcpy.count_zero", Setup::init(), |t| {
            t.ret(aclrtMemcpy(null_mut(), 0, null(), 0, i32::MAX));
        }),
        case("memory.memcpy.dest_max_too_small", Setup::device0(), |t| {
            refused(t, 63, 64, H2D);
        }),
        case(
            "memory.memcpy.dest_max_without_context",
            Setup::init(),
            |t| {
                refused_on_host(t, 63);
            },
        ),
        case(
            "memory.memcpy.kind_inner_d2d_rejected",
            Setup::device0(),
            |t| {
                let (p, before) = t.filled(64);
                let (q, _) = t.filled(64);
                t.ret(aclrtMemcpy(p, 64, q, 64, INNER));
                t.holds(p, &before, "destination");
            },
        ),
        case("memory.memcpy.no_context", Setup::init(), |t| {
            refused_on_host(t, 64)
        }),
        case(
            "memory.memcpy.null_both_reports_dst",
            Setup::device0(),
            |t| {
                t.ret(aclrtMemcpy(null_mut(), 0, null(), 64, 9));
            },
        ),
        case("memory.memcpy.null_src", Setup::device0(), |t| {
            let (p, before) = t.filled(64);
            t.ret(aclrtMemcpy(p, 64, null(), 64, H2D));
            t.holds(p, &before, "destination");
        }),
        case("memory.memcpy.past_block_end", Setup::device0(), |t| {
            let (before, before_bytes) = t.filled(64);
            let (p, bytes) = t.filled(64);
            let (after, after_bytes) = t.filled(64);
            let h = t.random_bytes(4096);
            t.ret(aclrtMemcpy(p, 4096, src(&h), 4096, H2D));
            t.holds(p, &bytes, "block");
            t.holds(before, &before_bytes, "block before it");
            t.holds(after, &after_bytes, "block after it");
        }),
        case(
            "memory.memcpy.same_pointer_without_context",
            Setup::init(),
            |t| {
                let mut h = t.random_bytes(64);
                let want = h.clone();
                let p = dst(&mut h);
                t.ret(aclrtMemcpy(p, 64, p, 64, H2H));
                t.same_bytes(&h, &want, "bytes");
            },
        ),
    ]
}

fn bytes() -> Vec<Case> {
    vec![
        case(
            "memory.memcpy.cross_device_needs_peer",
            Setup::device0().devices(2),
            |t| {
                let (p0, bytes) = t.filled(64);
                t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
                let (p1, before) = t.filled(64);
                t.ret(aclrtMemcpy(p1, 64, p0, 64, D2D));
                t.holds(p1, &before, "destination of the refused copy");
                t.ok(aclrtDeviceEnablePeerAccess(0, 0), "access from 1 to 0");
                t.ok(aclrtSetDevice(0), "aclrtSetDevice(0)");
                t.ok(aclrtDeviceEnablePeerAccess(1, 0), "access from 0 to 1");
                t.ok(aclrtMemcpy(p1, 64, p0, 64, D2D), "copy with access");
                t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
                t.holds(p1, &bytes, "destination");
            },
        ),
        case("memory.memcpy.d2d_same_device", Setup::device0(), |t| {
            let (p, bytes) = t.filled(5000);
            let (q, _) = t.filled(5000);
            t.ret(aclrtMemcpy(q, 5000, p, 5000, D2D));
            t.holds(q, &bytes, "destination");
            t.holds(p, &bytes, "source");
        }),
        case("memory.memcpy.h2d_d2h_roundtrip", Setup::device0(), |t| {
            let p = t.malloc(4096, ACL_MEM_MALLOC_HUGE_FIRST);
            let bytes = t.random_bytes(4096);
            t.ret(aclrtMemcpy(p, 4096, src(&bytes), 4096, H2D));
            let mut back = vec![0; 4096];
            t.ret(aclrtMemcpy(dst(&mut back), 4096, p, 4096, D2H));
            t.same_bytes(&back, &bytes, "bytes that came back");
        }),
        case("memory.memcpy.interior_pointers", Setup::device0(), |t| {
            let (p, mut mirror) = t.filled(4096);
            for (at, len) in [
                (100, 1),
                (101, 7),
                (4095, 1),
                (63, 66),
                (1, 4094),
                (0, 4096),
            ] {
                let bytes = t.random_bytes(len);
                t.ret(aclrtMemcpy(off(p, at), len, src(&bytes), len, H2D));
                mirror[at..at + len].copy_from_slice(&bytes);
                t.holds(p, &mirror, "whole block");
            }
            let mut back = vec![0; 1000];
            t.ret(aclrtMemcpy(dst(&mut back), 1000, off(p, 7), 1000, D2H));
            t.same_bytes(&back, &mirror[7..1007], "bytes from p+7");
        }),
        case(
            "memory.memcpy.kind_mismatch_ignored",
            Setup::device0(),
            |t| {
                let p = t.malloc(1000, ACL_MEM_MALLOC_HUGE_FIRST);
                let bytes = t.random_bytes(1000);
                t.ret(aclrtMemcpy(p, 1000, src(&bytes), 1000, D2H));
                t.holds(p, &bytes, "destination");
            },
        ),
    ]
}

fn two_dimensional() -> Vec<Case> {
    vec![
        case(
            "memory.memcpy2d.default_on_device_pair",
            Setup::device0(),
            |t| {
                let (p, before) = t.filled(64);
                let (q, _) = t.filled(64);
                t.ret(aclrtMemcpy2d(p, 8, q, 8, 8, 2, ACL_MEMCPY_DEFAULT));
                t.holds(p, &before, "destination");
            },
        ),
        case("memory.memcpy2d.height_limit", Setup::device0(), |t| {
            let height = 5 * 1024 * 1024;
            let p = t.malloc(height + 1, ACL_MEM_MALLOC_HUGE_FIRST);
            t.ok(aclrtMemset(p, height + 1, 0, height + 1), "aclrtMemset");
            let bytes = t.random_bytes(height + 1);
            t.ret(aclrtMemcpy2d(p, 1, src(&bytes), 1, 1, height + 1, H2D));
            t.holds(p, &vec![0; height + 1], "destination");
            // One row less is legal.
            let code = aclrtMemcpy2d(p, 1, src(&bytes), 1, 1, height, H2D);
            t.ok(code, "the largest height");
            t.holds(p, &bytes[..height], "destination");
        }),
        case("memory.memcpy2d.height_zero", Setup::init(), |t| {
            t.ret(aclrtMemcpy2d(null_mut(), 0, null(), 0, 1, 0, H2H));
        }),
        case("memory.memcpy2d.kind_h2h", Setup::device0(), |t| {
            let bytes = t.random_bytes(16);
            let mut out = vec![0x77; 16];
            t.ret(aclrtMemcpy2d(dst(&mut out), 8, src(&bytes), 8, 8, 2, H2H));
            t.same_bytes(&out, &[0x77; 16], "destination");
        }),
        case("memory.memcpy2d.no_context", Setup::init(), |t| {
            let bytes = t.random_bytes(16);
            let mut out = vec![0x77; 16];
            t.ret(aclrtMemcpy2d(dst(&mut out), 8, src(&bytes), 8, 8, 2, H2D));
            t.same_bytes(&out, &[0x77; 16], "destination");
        }),
        case("memory.memcpy2d.roundtrip", Setup::device0(), |t| {
            // Three rows of five bytes; the destination keeps its gaps.
            let (p, mut mirror) = t.filled(48);
            let bytes = t.random_bytes(24);
            t.ret(aclrtMemcpy2d(p, 16, src(&bytes), 8, 5, 3, H2D));
            for row in 0..3 {
                mirror[row * 16..row * 16 + 5].copy_from_slice(&bytes[row * 8..row * 8 + 5]);
            }
            t.holds(p, &mirror, "device rows and gaps");
            let mut back = vec![0x77; 24];
            t.ret(aclrtMemcpy2d(dst(&mut back), 8, p, 16, 5, 3, D2H));
            for row in 0..3 {
                let at = row * 8;
                t.same_bytes(&back[at..at + 5], &bytes[at..at + 5], "host row");
                t.same_bytes(&back[at + 5..at + 8], &[0x77; 3], "host gap");
            }
        }),
        case("memory.memcpy2d.width_over_dpitch", Setup::device0(), |t| {
            let (p, before) = t.filled(64);
            let bytes = t.random_bytes(64);
            t.ret(aclrtMemcpy2d(p, 4, src(&bytes), 8, 8, 2, H2D));
            t.holds(p, &before, "destination");
        }),
        case("memory.memcpy2d.width_over_spitch", Setup::device0(), |t| {
            let (p, before) = t.filled(64);
            let bytes = t.random_bytes(64);
            t.ret(aclrtMemcpy2d(p, 8, src(&bytes), 4, 8, 2, H2D));
            t.holds(p, &before, "destination");
        }),
        case("memory.memcpy2d.width_zero", Setup::init(), |t| {
            t.ret(aclrtMemcpy2d(null_mut(), 0, null(), 0, 0, 1, i32::MAX));
        }),
    ]
}

/// Source, destination and an aligned descriptor block.
fn described(t: &T) -> (*mut c_void, *mut c_void, *mut c_void, Vec<u8>) {
    let mut n = UNTOUCHED;
    t.ok(
        aclrtGetMemcpyDescSize(INNER, &raw mut n),
        "aclrtGetMemcpyDescSize",
    );
    if n == 0 || n > MIB {
        abort(&format!("descriptor size {n}"));
    }
    let (d, before) = t.filled(n + 64);
    (t.filled(64).0, t.filled(64).0, d, before)
}

fn descriptors() -> Vec<Case> {
    vec![
        case("memory.memcpy_desc.set_count_zero", Setup::device0(), |t| {
            let (s, to, d, before) = described(t);
            t.ret(aclrtSetMemcpyDesc(d, INNER, s, to, 0, null_mut()));
            t.holds(d, &before, "descriptor");
        }),
        case("memory.memcpy_desc.set_null_src", Setup::device0(), |t| {
            let (_, to, d, before) = described(t);
            t.ret(aclrtSetMemcpyDesc(d, INNER, null_mut(), to, 64, null_mut()));
            t.holds(d, &before, "descriptor");
        }),
        case(
            "memory.memcpy_desc.set_unaligned_desc",
            Setup::device0(),
            |t| {
                let (s, to, d, before) = described(t);
                t.eq(d.addr() % 64, 0, "alignment of the block");
                t.ret(aclrtSetMemcpyDesc(off(d, 32), INNER, s, to, 64, null_mut()));
                t.holds(d, &before, "descriptor");
            },
        ),
        case("memory.memcpy_desc.size_null", Setup::device0(), |t| {
            t.ret(aclrtGetMemcpyDescSize(INNER, null_mut()));
        }),
        case(
            "memory.memcpy_desc.size_other_kind",
            Setup::device0(),
            |t| {
                let mut n = UNTOUCHED;
                t.ret(aclrtGetMemcpyDescSize(D2D, &raw mut n));
                t.eq(n, UNTOUCHED, "output");
            },
        ),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.copy.all_directions", Setup::device0(), |t| {
            // Pageable, pinned and device memory in every pairing, with any
            // kind, at odd offsets and sizes.
            const LEN: usize = 70_000;
            let mut heaps = [vec![0_u8; LEN], vec![0_u8; LEN]];
            let [a, b] = &mut heaps;
            let pairs = [
                (dst(a), dst(b)),
                (t.malloc_host(LEN), t.malloc_host(LEN)),
                (
                    t.malloc(LEN, ACL_MEM_MALLOC_NORMAL_ONLY),
                    t.malloc(LEN, ACL_MEM_MALLOC_HUGE_ONLY),
                ),
            ];
            let put = |p: *mut c_void, bytes: &[u8], device: bool| {
                if device {
                    t.upload(p, bytes);
                } else {
                    host_write(p, bytes);
                }
            };
            let get = |p: *mut c_void, device: bool| {
                if device {
                    t.download(p, LEN)
                } else {
                    host_read(p, LEN)
                }
            };
            for (i, (from, _)) in pairs.iter().enumerate() {
                for (j, (_, to)) in pairs.iter().enumerate() {
                    for kind in 0..=5 {
                        let source = t.random_bytes(LEN);
                        let mut want = t.random_bytes(LEN);
                        put(*from, &source, i == 2);
                        put(*to, &want, j == 2);
                        let len = 1 + t.random() as usize % 60_000;
                        let at = t.random() as usize % (LEN - len);
                        let x = t.random() as usize % (LEN - len);
                        want[at..at + len].copy_from_slice(&source[x..x + len]);
                        let code = aclrtMemcpy(off(*to, at), len, off(*from, x), len, kind);
                        t.ok(code, &format!("copy from {i} to {j}, kind {kind}"));
                        t.same_bytes(&get(*to, j == 2), &want, &format!("{i} to {j}"));
                    }
                }
            }
        }),
        case("x.copy.large", Setup::device0(), |t| {
            let bytes = t.random_bytes(64 * MIB);
            let p = t.malloc(bytes.len(), ACL_MEM_MALLOC_HUGE_FIRST);
            t.upload(p, &bytes);
            t.holds(p, &bytes, "64 MiB");
        }),
        case(
            "x.copy.dead_and_wild_device_addresses",
            Setup::device0(),
            |t| {
                let (freed, _) = t.filled(5000);
                t.free(freed);
                let mut out = vec![0x77_u8; 64];
                let bytes = vec![1_u8; 64];
                for (what, p) in [
                    ("a freed block", freed),
                    (
                        "an address that was never allocated",
                        addr(0x12c0_0000_0000 + 30 * GIB),
                    ),
                    (
                        "an address between the devices' memory",
                        addr(0x12c0_0000_0000 + 200 * GIB),
                    ),
                    ("the window's first byte", addr(16 << 40)),
                    ("the window's last bytes", addr((32 << 40) - 64)),
                ] {
                    let code = aclrtMemcpy(p, 64, src(&bytes), 64, H2D);
                    t.fails(code, ERROR_PARAM, &format!("copy to {what}"));
                    let code = aclrtMemcpy(dst(&mut out), 64, p, 64, D2H);
                    t.fails(code, ERROR_PARAM, &format!("copy from {what}"));
                    t.fails(
                        aclrtMemset(p, 64, 0, 64),
                        ERROR_PARAM,
                        &format!("set of {what}"),
                    );
                }
                t.same_bytes(&out, &[0x77; 64], "destination");
            },
        ),
        case("x.copy.ends_inside_another_block", Setup::device0(), |t| {
            let (a, a_bytes) = t.filled(64);
            let (b, b_bytes) = t.filled(64);
            let (low, high) = if a < b { (a, b) } else { (b, a) };
            let len = high.addr() - low.addr() + 64;
            let bytes = vec![0_u8; len];
            let code = aclrtMemcpy(low, len, src(&bytes), len, H2D);
            t.fails(code, ERROR_PARAM, "copy across two blocks");
            let mut out = vec![0x77_u8; len];
            let code = aclrtMemcpy(dst(&mut out), len, low, len, D2H);
            t.fails(code, ERROR_PARAM, "copy from two blocks");
            t.same_bytes(&out, &vec![0x77; len], "destination");
            t.holds(a, &a_bytes, "first block");
            t.holds(b, &b_bytes, "second block");
        }),
        case("x.copy.count_wraps_the_address", Setup::device0(), |t| {
            let (p, bytes) = t.filled(64);
            let h = vec![0_u8; 64];
            let count = usize::MAX - 10;
            let code = aclrtMemcpy(p, usize::MAX, src(&h), count, H2D);
            t.fails(code, ERROR_PARAM, "copy of nearly everything");
            t.holds(p, &bytes, "block");
        }),
        case(
            "x.copy.reserved_tail_can_be_copied",
            Setup::device0(),
            |t| {
                let (p, _) = t.filled(33);
                let (q, _) = t.filled(33);
                let bytes = t.random_bytes(96);
                t.upload(p, &bytes);
                t.ok(aclrtMemcpy(q, 96, p, 96, D2D), "96 of 96 owned bytes");
                t.holds(q, &bytes, "destination");
                t.fails(
                    aclrtMemcpy(q, 97, p, 97, D2D),
                    ERROR_PARAM,
                    "97 of 96 owned bytes",
                );
            },
        ),
        case(
            "x.copy.across_devices_via_host",
            Setup::device0().devices(2),
            |t| {
                let (p0, bytes) = t.filled(5000);
                let h = t.download(p0, 5000);
                t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
                let p1 = t.malloc(5000, ACL_MEM_MALLOC_HUGE_FIRST);
                t.upload(p1, &h);
                t.holds(p1, &bytes, "bytes on the other device");
            },
        ),
        case("x.copy.2d_random_shapes", Setup::device0(), |t| {
            for _ in 0..50 {
                let width = 1 + t.random() as usize % 300;
                let height = 1 + t.random() as usize % 40;
                let spitch = width + t.random() as usize % 20;
                let dpitch = width + t.random() as usize % 20;
                let bytes = t.random_bytes(spitch * height);
                let (p, mut mirror) = t.filled(dpitch * height);
                let code = aclrtMemcpy2d(p, dpitch, src(&bytes), spitch, width, height, H2D);
                t.ok(code, "host to device");
                for row in 0..height {
                    mirror[row * dpitch..row * dpitch + width]
                        .copy_from_slice(&bytes[row * spitch..row * spitch + width]);
                }
                t.holds(p, &mirror, "rows and gaps");
                let mut back = vec![0x77; spitch * height];
                let code = aclrtMemcpy2d(dst(&mut back), spitch, p, dpitch, width, height, D2H);
                t.ok(code, "device to host");
                for row in 0..height {
                    let at = row * spitch;
                    t.same_bytes(&back[at..at + width], &bytes[at..at + width], "row");
                    let gap = &back[at + width..at + spitch];
                    t.check(gap.iter().all(|b| *b == 0x77), "gap of the host");
                }
                t.free(p);
            }
        }),
        case("x.copy.2d_past_block_end", Setup::device0(), |t| {
            let (p, before) = t.filled(64);
            let (q, q_before) = t.filled(64);
            let bytes = vec![0_u8; 4096];
            let code = aclrtMemcpy2d(p, 16, src(&bytes), 16, 16, 100, H2D);
            t.fails(code, ERROR_PARAM, "100 rows of 16 bytes into 64");
            t.holds(p, &before, "block");
            t.holds(q, &q_before, "neighbour");
        }),
        case("x.copy.2d_default_kind", Setup::device0(), |t| {
            let (p, _) = t.filled(64);
            let bytes = t.random_bytes(64);
            let code = aclrtMemcpy2d(p, 8, src(&bytes), 8, 8, 8, ACL_MEMCPY_DEFAULT);
            t.ok(code, "host to device by default");
            t.holds(p, &bytes, "destination");
            let mut out = vec![0; 64];
            let code = aclrtMemcpy2d(dst(&mut out), 8, p, 8, 8, 8, ACL_MEMCPY_DEFAULT);
            t.ok(code, "device to host by default");
            t.same_bytes(&out, &bytes, "destination");
        }),
        case("x.copy.descriptor_arguments", Setup::device0(), |t| {
            let (s, to, d, before) = described(t);
            t.fails_with(
                aclrtSetMemcpyDesc(null_mut(), INNER, s, to, 64, null_mut()),
                ERROR_FRONT,
                "EH0008 func=aclrtSetMemcpyDesc",
                "desc NULL",
            );
            t.fails_with(
                aclrtSetMemcpyDesc(d, INNER, s, null_mut(), 64, null_mut()),
                ERROR_FRONT,
                "EH0008 param=dstAddr",
                "dstAddr NULL",
            );
            t.holds(d, &before, "descriptor");
            t.ok(
                aclrtSetMemcpyDesc(d, INNER, s, to, 64, null_mut()),
                "all valid",
            );
        }),
        case("x.copy.parallel_threads", Setup::device0(), |t| {
            std::thread::scope(|scope| {
                for seed in 0..4_u8 {
                    scope.spawn(move || {
                        t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                        let p = t.malloc(MIB, ACL_MEM_MALLOC_HUGE_FIRST);
                        for round in 0..20_u8 {
                            let bytes = vec![seed.wrapping_mul(50).wrapping_add(round); MIB];
                            t.upload(p, &bytes);
                            t.holds(p, &bytes, "own block");
                        }
                    });
                }
            });
        }),
    ]
}
