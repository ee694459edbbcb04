//! What can be registered: arguments beyond the lines of the contract, locking, limits.

use super::registered::*;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = arguments();
    cases.extend(limits());
    cases
}

fn arguments() -> Vec<Case> {
    vec![
        case("x.register.order_of_checks", Setup::init(), |t| {
            let pages = Pages::new(8192);
            let mut d = SENTINEL;
            let out = &raw mut d;
            let odd = pages.at_byte(64);
            t.fails_with(
                aclrtHostRegister(null_mut(), 0, 77, null_mut()),
                ERROR_FRONT,
                "EH0008 param=ptr",
                "EH0008 param=ptr",
            );
            t.fails_with(
                aclrtHostRegister(odd, 0, 77, null_mut()),
                ERROR_FRONT,
                "EH0008 param=devPtr",
                "EH0008 param=devPtr",
            );
            t.fails_with(
                aclrtHostRegister(odd, 0, 77, out),
                ERROR_FRONT,
                "EH0007 param=size",
                "EH0007 param=size",
            );
            t.fails_with(
                aclrtHostRegister(odd, 1, 77, out),
                ERROR_UNSUPPORTED,
                "EE1005 param=type value=77",
                "EE1005 param=type value=77",
            );
            t.fails_with(
                aclrtHostRegister(odd, 1, TYPE, out),
                ERROR_CONTEXT,
                "EE1018",
                "EE1018",
            );
            t.fails_with(
                aclrtHostRegisterV2(odd, 0, 0),
                ERROR_FRONT,
                "EH0007 param=size",
                "EH0007 param=size",
            );
            t.fails_with(
                aclrtHostRegisterV2(odd, 1, 0),
                ERROR_PARAM,
                "EE1011 param=flag value=0x0",
                "EE1011 param=flag value=0x0",
            );
            t.fails_with(
                aclrtHostRegisterV2(odd, 1, MAPPED),
                ERROR_CONTEXT,
                "EE1018",
                "EE1018",
            );
            t.fails_with(
                aclrtHostUnregister(null_mut()),
                ERROR_FRONT,
                "EH0008 param=ptr",
                "EH0008 param=ptr",
            );
            t.fails_with(
                aclrtHostGetDevicePointer(odd, null_mut(), 1),
                ERROR_FRONT,
                "EH0008 param=pDevice",
                "EH0008 param=pDevice",
            );
            t.fails_with(
                aclrtHostGetDevicePointer(odd, out, 1),
                ERROR_FRONT,
                "EH0009 param=flag",
                "EH0009 param=flag",
            );
            t.fails_with(
                aclrtHostGetDevicePointer(odd, out, 0),
                ERROR_CONTEXT,
                "EE1018",
                "EE1018",
            );
            t.eq(d, SENTINEL, "output");
        }),
        case("x.register.reserved_kinds", Setup::device0(), |t| {
            let pages = Pages::new(4096);
            let mut d = SENTINEL;
            for kind in [
                ACL_HOST_REGISTER_IOMEMORY,
                ACL_HOST_REGISTER_READONLY,
                2,
                -1,
            ] {
                let code = aclrtHostRegister(pages.p, 4096, kind, &raw mut d);
                t.fails_with(code, ERROR_UNSUPPORTED, "func=aclrtHostRegister", "type");
            }
            for flag in [
                ACL_HOST_REG_IOMEMORY,
                ACL_HOST_REG_READONLY | ACL_HOST_REG_MAPPED,
            ] {
                let code = aclrtHostRegisterV2(pages.p, 4096, flag as u32);
                t.fails_with(code, ERROR_UNSUPPORTED, "func=aclrtHostRegisterV2", "flag");
            }
            t.is_unregistered(pages.p);
            t.eq(d, SENTINEL, "output");
        }),
        case("x.register.whole_pages", Setup::device0(), |t| {
            let pages = Pages::new(MIB + 8192);
            let mut d = SENTINEL;
            let code = aclrtHostRegister(pages.at_byte(64), MIB as u64, TYPE, &raw mut d);
            let first = format!("EE1011 param=ptr value=4096 value={:#x}", pages.p.addr());
            t.fails_with(code, ERROR_PARAM, &first, "address + 64");
            let code = aclrtHostRegister(pages.p, MIB as u64 + 1, TYPE, &raw mut d);
            t.fails_with(
                code,
                ERROR_PARAM,
                "EE1003 param=size value=4096",
                "size + 1",
            );
            t.eq(d, SENTINEL, "output");
            t.register(pages.p, MIB);
            let code = aclrtHostRegister(pages.at_byte(4096), 4096, TYPE, &raw mut d);
            let range = format!("value={:#x}", pages.p.addr());
            t.fails_with(code, ERROR_REGISTERED, &range, "a part of it");
            // Half open: the neighbour does not overlap.
            t.register(pages.at_byte(MIB), 4096);
            t.unregister(pages.p);
            t.is_registered(pages.at_byte(MIB));
            t.unregister(pages.at_byte(MIB));
        }),
        case(
            "x.register.overlaps_from_every_side",
            Setup::device0(),
            |t| {
                let pages = Pages::new(16 * 4096);
                t.register(pages.at_byte(4 * 4096), 4 * 4096);
                for (first, count) in [(0, 5), (3, 2), (4, 4), (5, 1), (7, 3), (0, 16), (3, 6)] {
                    let code =
                        aclrtHostRegisterV2(pages.at_byte(first * 4096), count * 4096, PINNED);
                    t.fails(
                        code,
                        ERROR_REGISTERED,
                        &format!("{count} pages from page {first}"),
                    );
                }
                for (first, count) in [(0, 4), (8, 8)] {
                    let code =
                        aclrtHostRegisterV2(pages.at_byte(first * 4096), count * 4096, PINNED);
                    t.ok(code, "a neighbour");
                }
                for first in [0, 4, 8] {
                    t.unregister(pages.at_byte(first * 4096));
                }
            },
        ),
        case(
            "x.register.without_rights",
            Setup::device0().env("CANNERY_PIN", "strict"),
            without_rights,
        ),
        case(
            "x.register.without_rights_unlocked",
            Setup::device0().env("CANNERY_PIN", "off"),
            without_rights,
        ),
        case(
            "x.register.what_cannot_be_registered",
            Setup::device0(),
            |t| {
                let device = t.malloc(MIB, ACL_MEM_MALLOC_HUGE_ONLY);
                let hole = Pages::new(3 * 4096);
                #[allow(unsafe_code)] // Makes a hole in memory of its own.
                // SAFETY: the middle page is the body's own; nothing uses it.
                unsafe {
                    libc::munmap(hole.at_byte(4096), 4096);
                }
                let pinned = t.malloc_host(8192);
                for (p, size, what) in [
                    (device, 4096, "device memory"),
                    (hole.p, 3 * 4096, "a range with a hole"),
                    (hole.at_byte(4096), 4096, "memory that is not mapped"),
                    (addr(1 << 47), 4096, "an address of the kernel"),
                    (addr(usize::MAX & !4095), 4096, "the end of everything"),
                    (hole.p, u64::MAX - 4095, "a size that wraps"),
                    (pinned, 3 * 4096, "more than the block"),
                ] {
                    t.fails_with(
                        aclrtHostRegisterV2(p, size, MAPPED),
                        ERROR_PARAM,
                        "func=aclrtHostRegisterV2",
                        what,
                    );
                }
                let code = aclrtHostRegisterV2(pinned, 8192, PINNED);
                t.fails_with(
                    code,
                    ERROR_PARAM,
                    "EE1011 param=ptr func=aclrtMallocHost",
                    "pinned already",
                );
                t.ok(
                    aclrtHostRegisterV2(pinned, 5000, MAPPED),
                    "a part of a pinned block",
                );
                t.unregister(pinned);
                t.free_host(pinned);
                t.fails(
                    aclrtHostRegisterV2(pinned, 4096, MAPPED),
                    ERROR_PARAM,
                    "released memory",
                );
            },
        ),
        case("x.register.map_capabilities", Setup::device0(), |t| {
            for kind in 0..=9 {
                let mut cap = 77;
                t.ok(
                    aclrtHostMemMapCapabilities(0, kind, &raw mut cap),
                    "aclrtHostMemMapCapabilities",
                );
                t.eq(
                    cap,
                    i32::from([0, 1, 2, 3, 4, 6].contains(&kind)),
                    &format!("kind {kind}"),
                );
            }
            let mut cap = 77;
            for device in [1, u32::MAX] {
                let code = aclrtHostMemMapCapabilities(device, 0, &raw mut cap);
                t.fails(code, ERROR_DEVICE, "a device that does not exist");
            }
            t.eq(cap, 77, "output");
        }),
        case(
            "x.register.products_without_it",
            Setup::device0().profile("310P"),
            |t| {
                let pages = Pages::new(4096);
                let mut d = SENTINEL;
                t.fails_with(
                    aclrtHostRegister(pages.at_byte(1), 4096, TYPE, &raw mut d),
                    ERROR_UNSUPPORTED,
                    "310P 910B",
                    "a product without it",
                );
                t.fails_with(
                    aclrtHostRegisterV2(pages.p, 4096, PINNED),
                    ERROR_UNSUPPORTED,
                    "310P 910B",
                    "a product without it",
                );
                t.fails_with(
                    aclrtHostUnregister(pages.p),
                    ERROR_UNSUPPORTED,
                    "310P 910B",
                    "a product without it",
                );
                t.fails_with(
                    aclrtHostGetDevicePointer(pages.p, &raw mut d, 0),
                    ERROR_UNSUPPORTED,
                    "310P 910B",
                    "a product without it",
                );
                t.fails(
                    aclrtHostRegisterV2(pages.p, 4096, 0),
                    ERROR_PARAM,
                    "arguments first",
                );
                let mut cap = 77;
                t.ok(
                    aclrtHostMemMapCapabilities(0, 0, &raw mut cap),
                    "aclrtHostMemMapCapabilities",
                );
                t.eq(cap, ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED, "capability");
                t.eq(d, SENTINEL, "output");
            },
        ),
    ]
}

fn limits() -> Vec<Case> {
    let limited = |list: &str| Setup::device0().env("CANNERY_LIMITS", list);
    vec![
        case("x.register.really_locked", Setup::device0(), |t| {
            let before = locked_kib();
            let pages = Pages::new(4 * MIB);
            t.register(pages.p, MIB);
            let code = aclrtHostRegisterV2(pages.at_byte(MIB), MIB as u64, PINNED);
            t.ok(code, "aclrtHostRegisterV2");
            t.eq(locked_kib(), before + 2048, "locked KiB");
            // The neighbour stays locked.
            t.unregister(pages.p);
            t.eq(locked_kib(), before + 1024, "locked KiB");
            t.unregister(pages.at_byte(MIB));
            t.eq(locked_kib(), before, "locked KiB");
            // Memory of aclrtMallocHost stays locked, too.
            let h = t.malloc_host(MIB);
            let with_host = locked_kib();
            t.register(h, MIB);
            t.unregister(h);
            t.eq(locked_kib(), with_host, "locked KiB");
            t.free_host(h);
        }),
        case(
            "x.register.pin_off",
            Setup::device0().env("CANNERY_PIN", "off"),
            |t| {
                let pages = Pages::new(MIB);
                let before = locked_kib();
                t.register(pages.p, MIB);
                t.eq(locked_kib(), before, "locked KiB");
                t.is_registered(pages.p);
                t.unregister(pages.p);
            },
        ),
        case(
            "x.register.strict_beyond_the_lock_limit",
            limited("lock=1M").env("CANNERY_PIN", "strict"),
            |t| {
                let pages = Pages::new(4 * MIB);
                let before = locked_kib();
                t.register(pages.p, 512 * KIB);
                let mut d = SENTINEL;
                let code = aclrtHostRegister(pages.at_byte(MIB), MIB as u64, TYPE, &raw mut d);
                t.fails_with(
                    code,
                    ERROR_MEMORY,
                    "EE1013 value=524288 value=1048576 CANNERY_PIN",
                    "beyond",
                );
                t.eq(
                    (d, locked_kib()),
                    (SENTINEL, before + 512),
                    "output and locked KiB",
                );
                t.is_unregistered(pages.at_byte(MIB));
                // One limit for all: memory of aclrtMallocHost takes from it too.
                let h = t.malloc_host(4096);
                let code =
                    aclrtHostRegister(pages.at_byte(MIB), 512 * KIB as u64, TYPE, &raw mut d);
                t.fails(code, ERROR_MEMORY, "beside aclrtMallocHost");
                t.free_host(h);
                t.unregister(pages.p);
            },
        ),
        case(
            "x.register.auto_beyond_the_lock_limit",
            limited("lock=64K"),
            |t| {
                let s = t.stream();
                let pages = Pages::new(MIB);
                let bytes = pages.fill(t);
                let before = locked_kib();
                t.register(pages.p, MIB);
                t.eq(locked_kib(), before, "locked KiB");
                let d = t.malloc(MIB, ACL_MEM_MALLOC_HUGE_FIRST);
                t.ok(
                    aclrtMemcpyAsync(d, MIB, pages.p, MIB, ACL_MEMCPY_HOST_TO_DEVICE, s),
                    "aclrtMemcpyAsync",
                );
                t.sync(s);
                t.holds(d, &bytes, "device memory");
                t.unregister(pages.p);
                t.eq(locked_kib(), before, "locked KiB");
            },
        ),
        case("x.register.size_limit", limited("registration=1M"), |t| {
            let pages = Pages::new(2 * MIB);
            let code = aclrtHostRegisterV2(pages.p, MIB as u64 + 4096, MAPPED);
            t.fails_with(
                code,
                ERROR_MEMORY,
                "EE1013 value=1048576 CANNERY_LIMITS",
                "one page more",
            );
            t.register(pages.p, MIB);
            t.register(pages.at_byte(MIB), MIB);
            t.unregister(pages.p);
            t.unregister(pages.at_byte(MIB));
        }),
        case(
            "x.register.page_table_entries",
            limited("page-table-entries=1024"),
            |t| {
                let pages = Pages::new(8 * MIB);
                let before = locked_kib();
                let code = aclrtHostRegisterV2(pages.p, 8 * MIB as u64, MAPPED);
                t.fails_with(
                    code,
                    ERROR_MEMORY,
                    "EE1013 value=2048 value=1024 value=4 CANNERY_LIMITS",
                    "2048 entries",
                );
                t.is_unregistered(pages.p);
                t.eq(locked_kib(), before, "locked KiB");
                t.register(pages.p, 3 * MIB);
                let code = aclrtHostRegisterV2(pages.at_byte(4 * MIB), 2 * MIB as u64, MAPPED);
                t.fails_with(
                    code,
                    ERROR_MEMORY,
                    "value=768 value=512",
                    "512 entries more",
                );
                t.register(pages.at_byte(4 * MIB), MIB);
                t.unregister(pages.p);
                t.unregister(pages.at_byte(4 * MIB));
                // Nothing is kept of what has ended.
                t.register(pages.p, 4 * MIB);
                t.unregister(pages.p);
            },
        ),
        case(
            "x.register.page_table_entries_of_huge_pages",
            limited("page-table-entries=1024"),
            |t| {
                let pages = Pages::new(10 * MIB);
                let first =
                    pages.at_byte(pages.p.addr().next_multiple_of(2 * MIB) - pages.p.addr());
                #[allow(unsafe_code)] // Advice about memory of its own.
                // SAFETY: the range lies in the body's pages.
                unsafe {
                    libc::madvise(first, 8 * MIB, libc::MADV_HUGEPAGE);
                }
                host_write(first, &t.random_bytes(8 * MIB));
                let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
                // A machine without huge pages to give has nothing to show.
                if smaps.contains("AnonHugePages:      8192 kB") {
                    t.register(first, 8 * MIB);
                    t.unregister(first);
                }
            },
        ),
    ]
}

/// Memory that is mapped without rights is refused for that, whatever may be locked.
fn without_rights(t: &T) {
    for forbidden in [0, 1, 255] {
        let memory = Pages::new(MIB);
        let page = memory.at_byte(forbidden * 4096);
        let rights = |which| {
            #[allow(unsafe_code)] // Takes rights from memory of its own.
            // SAFETY: the body's own page, which nothing uses meanwhile.
            unsafe {
                libc::mprotect(page, 4096, which)
            }
        };
        t.eq(rights(libc::PROT_NONE), 0, "mprotect");
        let code = aclrtHostRegisterV2(memory.p, MIB as u64, MAPPED);
        let text = t.pending_text("aclrtHostRegisterV2");
        t.eq(
            i64::from(code),
            ERROR_PARAM,
            "memory with a page without rights",
        );
        for word in ["PROT_NONE", &format!("{:#x}", page as usize)] {
            t.check(text.contains(word), &format!("no {word} in: {text}"));
        }
        t.check(
            !text.contains("ulimit"),
            &format!("a limit is blamed: {text}"),
        );
        t.eq(rights(libc::PROT_READ | libc::PROT_WRITE), 0, "mprotect");
        let code = aclrtHostRegisterV2(memory.p, MIB as u64, MAPPED);
        t.ok(code, "the same memory with rights");
        t.unregister(memory.p);
    }
}
