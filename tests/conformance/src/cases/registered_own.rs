//! Registered host memory beyond the lines of the contract: bytes, aliases, memory
//! that is given back too early, many ranges, many threads.

use super::kernel::AddArgs;
use super::registered::*;
use super::support::*;

const H2D: aclrtMemcpyKind = ACL_MEMCPY_HOST_TO_DEVICE;
const D2H: aclrtMemcpyKind = ACL_MEMCPY_DEVICE_TO_HOST;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = copies();
    cases.extend(alias());
    cases.extend(lives());
    cases.extend(many());
    cases
}

fn copies() -> Vec<Case> {
    vec![
        case("x.register.copies_are_queued", Setup::device0(), |t| {
            let len = 3 * MIB;
            let s = t.stream();
            let (up, down) = (Pages::new(len), Pages::new(len));
            let bytes = up.fill(t);
            let before = down.fill(t);
            let d = t.malloc(len, ACL_MEM_MALLOC_HUGE_FIRST);
            t.register(up.p, len);
            t.ok(
                aclrtHostRegisterV2(down.p, len as u64, PINNED | MAPPED),
                "aclrtHostRegisterV2",
            );
            let gate = t.hold(s);
            // Inside, and up to the last byte.
            t.ok(aclrtMemcpyAsync(d, len, up.p, len, H2D, s), "to the device");
            t.ok(
                aclrtMemcpyAsync(down.at_byte(5), len, d, len - 5, D2H, s),
                "to the host",
            );
            t.ok(
                aclrtMemsetAsync(down.p, len, 0x17, 5, s),
                "aclrtMemsetAsync",
            );
            t.same_bytes(
                &down.read(),
                &before,
                "destination while the stream is held",
            );
            gate.open();
            t.sync(s);
            t.same_bytes(&down.read()[5..], &bytes[..len - 5], "bytes that came back");
            t.same_bytes(&down.read()[..5], &[0x17; 5], "bytes that were set");
            // Beyond the end it is pageable memory: the call waits.
            let tail = Pages::new(8192);
            t.register(tail.p, 4096);
            let code = t.blocks(*t.hold(s), || {
                aclrtMemcpyAsync(d, 8192, tail.p, 8192, H2D, s)
            });
            t.ok(code, "half registered");
            // Two neighbours are as good as one.
            t.register(tail.at_byte(4096), 4096);
            let gate = t.hold(s);
            t.ok(
                aclrtMemcpyAsync(d, 8192, tail.p, 8192, H2D, s),
                "two neighbours",
            );
            t.check(!gate.is_open(), "the call waited");
            gate.open();
            t.sync(s);
            t.unregister(tail.p);
            t.unregister(tail.at_byte(4096));
            t.unregister(up.p);
            t.unregister(down.p);
            // Pageable again.
            let code = t.blocks(*t.hold(s), || aclrtMemcpyAsync(d, len, up.p, len, H2D, s));
            t.ok(code, "after the end of the registration");
        }),
        case("x.register.other_copies", Setup::device0(), |t| {
            let pages = Pages::new(MIB);
            let bytes = pages.fill(t);
            let d = t.malloc(MIB, ACL_MEM_MALLOC_HUGE_FIRST);
            t.register(pages.p, MIB);
            t.ok(aclrtMemcpy(d, MIB, pages.p, MIB, H2D), "aclrtMemcpy");
            t.holds(d, &bytes, "device");
            t.ok(aclrtMemset(pages.p, MIB, 9, 4096), "aclrtMemset");
            t.ok(
                aclrtMemsetD32(pages.at_byte(4096), 8, 0x0403_0201, 2),
                "aclrtMemsetD32",
            );
            t.ok(
                aclrtMemcpy2d(pages.at_byte(8192), 256, d, 256, 100, 16, D2H),
                "aclrtMemcpy2d",
            );
            let mut want = bytes.clone();
            want[..4096].fill(9);
            want[4096..4104].copy_from_slice(&[1, 2, 3, 4, 1, 2, 3, 4]);
            for row in 0..16 {
                let (at, from) = (8192 + row * 256, row * 256);
                want[at..at + 100].copy_from_slice(&bytes[from..from + 100]);
            }
            t.same_bytes(&pages.read(), &want, "registered memory");
            t.unregister(pages.p);
        }),
        case("x.register.pointer_kinds", Setup::device0(), |t| {
            let pages = Pages::new(4 * 4096);
            let d = t.register(pages.at_byte(4096), 2 * 4096);
            for (at, registered) in [
                (0, false),
                (4095, false),
                (4096, true),
                (9000, true),
                (12287, true),
                (12288, false),
            ] {
                if registered {
                    t.is_registered(pages.at_byte(at));
                } else {
                    t.is_unregistered(pages.at_byte(at));
                }
            }
            // The manual leaves it open what the device address is.
            t.is_unregistered(d);
            t.unregister(pages.at_byte(4096));
            t.is_unregistered(pages.at_byte(4096));
        }),
    ]
}

fn alias() -> Vec<Case> {
    vec![
        case(
            "x.register.alias_is_not_for_copies",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let pages = Pages::new(MIB);
                let bytes = pages.fill(t);
                let (p, before) = t.filled(MIB);
                let d = t.register(pages.p, MIB);
                t.check(d != pages.p, "the device address is the host address");
                let tokens = format!("EE1011 {:#x}", pages.p.addr() + 4096);
                for round in 0..2 {
                    let at = off(d, 4096);
                    t.fails_with(
                        aclrtMemcpy(p, 64, at, 64, H2D),
                        ERROR_PARAM,
                        &tokens,
                        "aclrtMemcpy from it",
                    );
                    t.fails_with(
                        aclrtMemcpy(at, 64, p, 64, D2H),
                        ERROR_PARAM,
                        &tokens,
                        "aclrtMemcpy to it",
                    );
                    t.fails_with(
                        aclrtMemcpyAsync(p, 64, at, 64, H2D, s),
                        ERROR_PARAM,
                        &tokens,
                        "aclrtMemcpyAsync from it",
                    );
                    t.fails_with(
                        aclrtMemcpyAsync(at, 64, p, 64, D2H, s),
                        ERROR_PARAM,
                        &tokens,
                        "aclrtMemcpyAsync to it",
                    );
                    t.fails_with(
                        aclrtMemset(at, 64, 1, 64),
                        ERROR_PARAM,
                        &tokens,
                        "aclrtMemset",
                    );
                    t.fails_with(
                        aclrtMemsetAsync(at, 64, 1, 64, s),
                        ERROR_PARAM,
                        &tokens,
                        "aclrtMemsetAsync",
                    );
                    t.fails_with(
                        aclrtMemcpy2d(at, 64, p, 64, 64, 1, D2H),
                        ERROR_PARAM,
                        &tokens,
                        "aclrtMemcpy2d",
                    );
                    t.fails(aclrtMemsetD32(at, 64, 1, 1), ERROR_FRONT, "aclrtMemsetD32");
                    t.sync(s);
                    if round == 0 {
                        // The address stays an error when the registration has ended.
                        t.unregister(pages.p);
                    }
                }
                t.holds(p, &before, "device memory");
                t.same_bytes(&pages.read(), &bytes, "host memory");
            },
        ),
        case("x.register.alias_in_value_tasks", Setup::device0(), |t| {
            let (s1, s2) = (t.stream(), t.stream());
            let pages = Pages::new(4096);
            let mut want = pages.fill(t);
            let d = t.register(pages.p, 4096);
            t.ok(
                aclrtValueWait(off(d, 4088), 7, ACL_STREAM_WAIT_VALUE_EQ, s1),
                "aclrtValueWait",
            );
            let counter = t.counted(s1);
            counter.stays_uncalled(t, "calls before the value is there");
            t.ok(aclrtValueWrite(off(d, 4088), 7, 0, s2), "aclrtValueWrite");
            t.sync(s1);
            t.eq(counter.calls(), 1, "calls afterwards");
            want[4088..].copy_from_slice(&7_u64.to_le_bytes());
            t.same_bytes(&pages.read(), &want, "host memory");
            t.fails_with(
                aclrtValueWrite(pages.p, 1, 0, s1),
                ERROR_PARAM,
                "param=devAddr",
                "the host address",
            );
            t.fails_with(
                aclrtValueWrite(off(d, 4096), 1, 0, s1),
                ERROR_PARAM,
                "param=devAddr",
                "behind the end",
            );
            t.fails_with(
                aclrtValueWrite(off(d, 4), 1, 0, s1),
                ERROR_PARAM,
                "param=devAddr",
                "no multiple of 8",
            );
            t.sync(s1);
            t.unregister(pages.p);
            t.fails(aclrtValueWrite(d, 1, 0, s1), ERROR_PARAM, "after the end");
            t.same_bytes(&pages.read(), &want, "host memory");
        }),
        case("x.register.alias_in_kernels", Setup::device0(), |t| {
            let function = t.add_kernel();
            let s = t.stream();
            let pages = Pages::new(2 * MIB);
            let mut bytes = pages.fill(t);
            let d = t.register(pages.p, 2 * MIB);
            let args = AddArgs {
                at: off(d, 100),
                bytes: (MIB + 3) as u64,
                addend: 77,
            };
            t.ok(t.launch_add(function, 3, args, s), "launch");
            t.sync(s);
            for byte in &mut bytes[100..100 + MIB + 3] {
                *byte = byte.wrapping_add(77);
            }
            t.same_bytes(&pages.read(), &bytes, "host memory");
            t.unregister(pages.p);
        }),
        case("x.register.alias_in_reductions", Setup::device0(), |t| {
            let s = t.stream();
            let words = MIB / 4;
            let pages = Pages::new(MIB);
            let host = pages.fill(t);
            let (p, device) = t.filled(MIB);
            let d = t.register(pages.p, MIB);
            let sum = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
            let reduce = |to, from, bytes: usize| {
                aclrtReduceAsync(to, from, bytes as u64, sum, ACL_INT32, s, null_mut())
            };
            t.ok(reduce(d, p, MIB), "to host memory");
            t.ok(reduce(p, d, MIB), "from host memory");
            t.sync(s);
            let word = |bytes: &[u8], i: usize| {
                let at = &bytes[i * 4..i * 4 + 4];
                i32::from_le_bytes([at[0], at[1], at[2], at[3]])
            };
            let mut want = (Vec::new(), Vec::new());
            for i in 0..words {
                let first = word(&host, i).wrapping_add(word(&device, i));
                want.0.extend_from_slice(&first.to_le_bytes());
                want.1
                    .extend_from_slice(&word(&device, i).wrapping_add(first).to_le_bytes());
            }
            t.same_bytes(&pages.read(), &want.0, "sums in host memory");
            t.holds(p, &want.1, "sums in device memory");
            t.fails(reduce(p, pages.p, 64), ERROR_PARAM, "the host address");
            t.fails(
                reduce(p, off(d, MIB - 32), 64),
                ERROR_PARAM,
                "beyond the end",
            );
            t.unregister(pages.p);
            t.fails(reduce(p, d, 64), ERROR_PARAM, "after the end");
        }),
        case(
            "x.register.alias_moves_with_the_host_address",
            Setup::device0(),
            |t| {
                let pages = Pages::new(MIB);
                let d = t.register(pages.p, MIB);
                for at in [1, 4096, MIB - 1] {
                    let mut inside = SENTINEL;
                    let code = aclrtHostGetDevicePointer(pages.at_byte(at), &raw mut inside, 0);
                    t.ok(code, "an address inside");
                    t.eq(inside, off(d, at), "device address");
                }
                let mut outside = SENTINEL;
                let code = aclrtHostGetDevicePointer(pages.at_byte(MIB), &raw mut outside, 0);
                t.fails_with(code, ERROR_PARAM, "EE1011 param=pHost", "an address behind");
                t.eq(outside, SENTINEL, "output");
                t.unregister(pages.p);
            },
        ),
    ]
}

fn lives() -> Vec<Case> {
    vec![
        case(
            "x.register.outlives_resets_and_the_end",
            Setup::device0(),
            |t| {
                let pages = Pages::new(4096);
                t.register(pages.p, 4096);
                t.ok(aclrtResetDevice(0), "aclrtResetDevice");
                t.is_registered(pages.p);
                t.fails(
                    aclrtHostUnregister(pages.p),
                    ERROR_CONTEXT,
                    "without a context",
                );
                t.ok(aclFinalize(), "aclFinalize");
                t.ok(aclInit(null()), "aclInit");
                t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                t.is_registered(pages.p);
                t.unregister(pages.p);
                t.is_unregistered(pages.p);
            },
        ),
        case(
            "x.register.memory_given_back_too_early",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let (d, before) = t.filled(8192);
                let pages = Pages::new(64 * KIB);
                let (p, len) = (pages.p, pages.len);
                let alias = t.register(p, len);
                drop(pages);
                // Still registered, but there is nothing to copy.
                t.is_registered(p);
                t.fails_with(
                    aclrtMemcpy(d, 4096, p, 4096, H2D),
                    ERROR_PARAM,
                    "EE1011 func=aclrtHostUnregister",
                    "aclrtMemcpy",
                );
                t.fails_with(
                    aclrtMemcpyAsync(d, 4096, off(p, 4096), 4096, H2D, s),
                    ERROR_PARAM,
                    "EE1011 func=aclrtHostUnregister",
                    "aclrtMemcpyAsync",
                );
                t.fails_with(
                    aclrtMemcpyAsync(p, 4096, d, 4096, D2H, s),
                    ERROR_PARAM,
                    "EE1011 func=aclrtHostUnregister",
                    "back",
                );
                t.fails_with(
                    aclrtValueWrite(alias, 1, 0, s),
                    ERROR_PARAM,
                    "EE1011 func=aclrtHostUnregister",
                    "aclrtValueWrite",
                );
                t.holds(d, &before, "device memory");
                let again = Pages::at(p, len);
                let code = aclrtHostRegisterV2(again.p, len as u64, MAPPED);
                t.fails(code, ERROR_REGISTERED, "the same addresses");
                t.unregister(p);
                t.register(p, len);
                let bytes = again.fill(t);
                t.ok(
                    aclrtMemcpyAsync(d, 8192, p, 8192, H2D, s),
                    "aclrtMemcpyAsync",
                );
                t.sync(s);
                t.holds(d, &bytes[..8192], "device memory");
                t.unregister(p);
            },
        ),
        case(
            "x.register.block_released_too_early",
            Setup::device0(),
            |t| {
                let h = t.malloc_host(MIB);
                t.register(h, MIB);
                t.free_host(h);
                t.is_registered(h);
                let code = aclrtHostRegisterV2(h, 4096, MAPPED);
                t.fails(code, ERROR_PARAM, "released memory");
                t.unregister(h);
                t.is_unregistered(h);
            },
        ),
        case(
            "x.register.alias_beside_memory_of_the_program",
            Setup::device0(),
            |t| {
                // Something of the program lies where the device address falls.
                let pages = Pages::new(8192);
                let d = t.register(pages.p, 4096);
                if d.addr() >= 1 << 47 {
                    return t.unregister(pages.p);
                }
                t.unregister(pages.p);
                let there = Pages::at(d, 4096);
                t.eq(t.register(pages.p, 4096), d, "device address");
                let (p, bytes) = t.filled(4096);
                let mine = there.fill(t);
                let host = pages.fill(t);
                t.ok(
                    aclrtMemcpy(p, 4096, d, 4096, H2D),
                    "copy of the program's memory",
                );
                t.holds(p, &mine, "bytes of the program's memory");
                t.upload(p, &bytes);
                t.ok(
                    aclrtMemcpy(d, 4096, p, 4096, D2H),
                    "copy to the program's memory",
                );
                t.same_bytes(&there.read(), &bytes, "the program's memory");
                t.same_bytes(&pages.read(), &host, "registered memory");
                let s = t.stream();
                t.ok(
                    aclrtValueWrite(d, 5, 0, s),
                    "the device uses the registered memory",
                );
                t.sync(s);
                t.same_bytes(
                    &pages.read()[..8],
                    &5_u64.to_le_bytes(),
                    "registered memory",
                );
                t.unregister(pages.p);
            },
        ),
    ]
}

fn many() -> Vec<Case> {
    vec![
        case("x.register.ten_thousand", Setup::device0(), |t| {
            let count = 10_000;
            let pages = Pages::new(count * 2 * 4096);
            let before = locked_kib();
            for i in 0..count {
                t.ok(
                    aclrtHostRegisterV2(pages.at_byte(i * 8192), 4096, MAPPED),
                    "aclrtHostRegisterV2",
                );
            }
            t.eq(locked_kib(), before + 4 * count as u64, "locked KiB");
            for i in [0, 1, 4999, count - 1] {
                t.is_registered(pages.at_byte(i * 8192 + 4095));
                t.is_unregistered(pages.at_byte(i * 8192 + 4096));
            }
            for i in 0..count {
                t.unregister(pages.at_byte(i * 8192));
            }
            t.eq(locked_kib(), before, "locked KiB");
            t.is_unregistered(pages.p);
        }),
        case("x.register.from_many_threads", Setup::device0(), |t| {
            let threads = 4;
            let pages = Pages::new(threads * 64 * 4096);
            let before = locked_kib();
            let base = pages.p.addr();
            std::thread::scope(|scope| {
                for n in 0..threads {
                    scope.spawn(move || {
                        t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                        for round in 0..500 {
                            let first = n * 64 + round % 32;
                            let (p, len) = (addr(base + first * 4096), (round % 31 + 1) * 4096);
                            let d = t.register(p, len);
                            t.is_registered(off(p, len - 1));
                            let mut again = SENTINEL;
                            let code =
                                aclrtHostGetDevicePointer(off(p, len - 1), &raw mut again, 0);
                            t.ok(code, "aclrtHostGetDevicePointer");
                            t.eq(again, off(d, len - 1), "device address");
                            t.unregister(p);
                        }
                    });
                }
            });
            t.eq(locked_kib(), before, "locked KiB");
        }),
        case(
            "x.register.one_range_for_many_threads",
            Setup::device0(),
            |t| {
                use std::sync::atomic::{AtomicU64, Ordering};
                // Only one of them can have it at a time.
                let pages = Pages::new(4096);
                let base = pages.p.addr();
                let holders = AtomicU64::new(0);
                std::thread::scope(|scope| {
                    for _ in 0..4 {
                        scope.spawn(|| {
                            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                            for _ in 0..500 {
                                let code = aclrtHostRegisterV2(addr(base), 4096, PINNED);
                                if code == 0 {
                                    t.eq(
                                        holders.fetch_add(1, Ordering::SeqCst),
                                        0,
                                        "other holders",
                                    );
                                    holders.fetch_sub(1, Ordering::SeqCst);
                                    t.unregister(addr(base));
                                } else {
                                    t.eq(i64::from(code), ERROR_REGISTERED, "code");
                                    recent_text();
                                }
                            }
                        });
                    }
                });
                t.is_unregistered(pages.p);
            },
        ),
        case("x.register.again_and_again", Setup::device0(), |t| {
            let pages = Pages::new(64 * 4096);
            let resident = || {
                let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
                statm
                    .split(' ')
                    .nth(1)
                    .and_then(|n| n.parse::<usize>().ok())
                    .unwrap_or(0)
            };
            let round = |round: usize| {
                let first = round * 7 % 60;
                let len = (round % 4 + 1) * 4096;
                t.register(pages.at_byte(first * 4096), len);
                t.unregister(pages.at_byte(first * 4096));
            };
            (0..1000).for_each(round);
            let before = resident();
            (0..20_000).for_each(round);
            t.check(
                resident() <= before + 64,
                "memory grows with every registration",
            );
        }),
    ]
}
