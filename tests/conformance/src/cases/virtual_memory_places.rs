//! Virtual memory: where reservations may be, of which memory they may be, and which products have
//! what.

use super::support::*;
use super::virtual_memory::{place, property, property_at};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = hints();
    cases.extend(whole_gib());
    cases.extend(host_memory());
    cases.extend(kinds());
    cases.extend(products());
    cases
}

const TIB: usize = 1 << 40;
const DEVICE: aclrtMemLocationType = ACL_MEM_LOCATION_TYPE_DEVICE;
const HOST: aclrtMemLocationType = ACL_MEM_LOCATION_TYPE_HOST;
const NUMA: aclrtMemLocationType = ACL_MEM_LOCATION_TYPE_HOST_NUMA;

/// A reservation at a place is refused with these words and writes no address.
fn no_place(t: &T, size: usize, at: usize, tokens: &str) {
    let mut v = SENTINEL;
    let code = aclrtReserveMemAddress(&raw mut v, size, 0, addr(at), 0);
    t.fails_with(
        code,
        ERROR_PARAM,
        tokens,
        &format!("{size} bytes at {at:#x}"),
    );
    t.eq(v, SENTINEL, "output");
}

fn hints() -> Vec<Case> {
    vec![
        case("x.vmm.hint.honoured", Setup::device0(), |t| {
            for (size, at) in [
                (HUGE_PAGE, 16 * TIB),
                (HUGE_PAGE, 24 * TIB - HUGE_PAGE),
                (3 * HUGE_PAGE, 17 * TIB + 8 * MIB),
                (5 * GIB, 18 * TIB + GIB),
            ] {
                let v = t.reserve_at(size, addr(at));
                t.map(v, HUGE_PAGE, t.physical(HUGE_PAGE));
                t.usable(v, HUGE_PAGE);
                t.unmap(v);
                t.release(v);
                // Released, it can be had again.
                t.release(t.reserve_at(size, addr(at)));
            }
        }),
        case("x.vmm.hint.outside", Setup::device0(), |t| {
            let tokens = "EE1003 param=expectPtr expect '16 TiB'";
            no_place(t, HUGE_PAGE, 16 * TIB - HUGE_PAGE, tokens);
            no_place(t, HUGE_PAGE, 24 * TIB, tokens);
            no_place(t, 2 * HUGE_PAGE, 24 * TIB - HUGE_PAGE, tokens);
            no_place(t, HUGE_PAGE, 0x1000, tokens);
            no_place(t, HUGE_PAGE, usize::MAX - HUGE_PAGE + 1, tokens);
        }),
        case("x.vmm.hint.alignment", Setup::device0(), |t| {
            // The next power of two up to 1 GiB, then 1 GiB.
            let at = 17 * TIB;
            no_place(t, HUGE_PAGE, at + MIB, "param=expectPtr expect '0x200000'");
            no_place(
                t,
                3 * MIB,
                at + 2 * MIB,
                "param=expectPtr expect '0x400000'",
            );
            no_place(
                t,
                5 * GIB,
                at + 512 * MIB,
                "param=expectPtr expect '0x40000000'",
            );
            t.reserve_at(3 * MIB, addr(at + 4 * MIB));
        }),
        case("x.vmm.hint.taken_in_part", Setup::device0(), |t| {
            let v = t.reserve_at(GIB, addr(17 * TIB));
            let tokens = "param=expectPtr value=0x110000000000 expect '1073741824 bytes'";
            no_place(t, HUGE_PAGE, v.addr(), tokens);
            no_place(t, HUGE_PAGE, v.addr() + GIB - HUGE_PAGE, "param=expectPtr");
            no_place(t, 2 * GIB, v.addr() - GIB, "param=expectPtr");
            let (p, bytes) = t.filled(MIB);
            no_place(t, GIB, p.addr() / GIB * GIB, "param=expectPtr");
            t.holds(p, &bytes, "the block that was there");
            t.reserve_at(GIB, off(v, GIB));
        }),
        case(
            "x.vmm.hint.refused_by_950",
            Setup::device0().profile("950"),
            |t| {
                no_place(t, HUGE_PAGE, 17 * TIB, "param=expectPtr expect '950'");
                let v = t.mapped(1);
                t.usable(v, HUGE_PAGE);
            },
        ),
        case("x.vmm.reserve.arguments", Setup::device0(), |t| {
            let mut v = SENTINEL;
            let code = aclrtReserveMemAddress(&raw mut v, 0, 4096, null_mut(), 9);
            t.fails_with(code, ERROR_FRONT, "EH0007 param=size value=0", "no bytes");
            let code = aclrtReserveMemAddress(&raw mut v, HUGE_PAGE, 4096, null_mut(), 9);
            let tokens = "EH0007 param=alignment value=4096";
            t.fails_with(code, ERROR_FRONT, tokens, "an alignment");
            let code = aclrtReserveMemAddress(&raw mut v, usize::MAX, 0, null_mut(), 0);
            t.fails(code, ERROR_MEMORY, "more than there is");
            let code = aclrtReserveMemAddress(&raw mut v, 1 << 46, 0, null_mut(), 0);
            t.fails(code, ERROR_MEMORY, "more than there is");
            t.eq(v, SENTINEL, "output");
        }),
        case("x.vmm.reserve.many", Setup::device0(), |t| {
            // Apart from each other, and all of the card's memory many times over.
            let mut all: Vec<_> = (0..200).map(|_| t.reserve(72 * GIB)).collect();
            all.sort_unstable();
            for pair in all.windows(2) {
                t.check(pair[1].addr() - pair[0].addr() >= 72 * GIB, "they overlap");
            }
            for v in all.iter().skip(1).step_by(2) {
                t.release(*v);
            }
            let v = t.reserve(72 * GIB);
            t.map(
                off(v, 72 * GIB - HUGE_PAGE),
                HUGE_PAGE,
                t.physical(HUGE_PAGE),
            );
            t.usable(off(v, 72 * GIB - HUGE_PAGE), HUGE_PAGE);
        }),
    ]
}

fn whole_gib() -> Vec<Case> {
    let a3 = || Setup::device0().profile("A3");
    vec![
        case("x.vmm.no_uc.a3", a3(), |t| {
            let mut v = SENTINEL;
            let code = aclrtReserveMemAddressNoUCMemory(&raw mut v, GIB, 0, null_mut(), 0);
            t.fails_with(code, ERROR_FRONT, "EH0008 param=expectPtr", "no place");
            let code =
                aclrtReserveMemAddressNoUCMemory(&raw mut v, GIB + MIB, 0, addr(40 * TIB), 0);
            t.fails_with(code, ERROR_PARAM, "param=size expect '1 GiB'", "odd size");
            let code =
                aclrtReserveMemAddressNoUCMemory(&raw mut v, GIB, 0, addr(40 * TIB + MIB), 0);
            t.fails_with(
                code,
                ERROR_PARAM,
                "param=expectPtr expect '0x40000000'",
                "odd place",
            );
            let code = aclrtReserveMemAddressNoUCMemory(&raw mut v, GIB, 0, addr(200 * TIB), 0);
            t.fails_with(
                code,
                ERROR_PARAM,
                "param=expectPtr expect '128 TiB'",
                "too far",
            );
            t.eq(v, SENTINEL, "output");
            let code = aclrtReserveMemAddressNoUCMemory(&raw mut v, 2 * GIB, 0, addr(40 * TIB), 0);
            t.ok(code, "aclrtReserveMemAddressNoUCMemory");
            t.eq(v, addr(40 * TIB), "address");
            t.map(off(v, GIB), HUGE_PAGE, t.physical(HUGE_PAGE));
            t.usable(off(v, GIB), HUGE_PAGE);
            let mut w = SENTINEL;
            let code = aclrtReserveMemAddressNoUCMemory(&raw mut w, GIB, 0, addr(41 * TIB), 0);
            t.ok(code, "a second one");
            let code = aclrtReserveMemAddressNoUCMemory(&raw mut w, GIB, 0, off(v, GIB), 0);
            t.fails_with(
                code,
                ERROR_PARAM,
                "param=expectPtr",
                "a place that is taken",
            );
            t.unmap(off(v, GIB));
            t.release(v);
        }),
        case("x.vmm.no_uc.only_a3", Setup::device0(), |t| {
            let mut v = SENTINEL;
            let code = aclrtReserveMemAddressNoUCMemory(&raw mut v, GIB, 0, addr(40 * TIB), 0);
            let tokens = "func=aclrtReserveMemAddressNoUCMemory expect '910B' expect 'A3'";
            t.fails_with(code, ERROR_UNSUPPORTED, tokens, "on 910B");
            t.eq(v, SENTINEL, "output");
        }),
    ]
}

/// Memory of the host that is mapped at an address that host and device share.
fn host_memory() -> Vec<Case> {
    vec![
        case("x.vmm.host.one_address_for_both", Setup::device0(), |t| {
            let before = t.pools();
            for (kind, attribute, size) in [
                (HOST, ACL_DDR_MEM_NORMAL, 2 * MIB + 4096),
                (HOST, ACL_DDR_MEM_HUGE, 2 * HUGE_PAGE),
                (NUMA, ACL_MEM_P2P_NORMAL, 3 * MIB),
                (NUMA, ACL_MEM_HUGE, HUGE_PAGE),
            ] {
                let v = t.reserve(2 * HUGE_PAGE);
                let h = t.physical_of(size, &property_at(attribute, kind, 0));
                t.map(v, size, h);
                let bytes = t.random_bytes(size);
                host_write(v, &bytes);
                let (block, _) = t.filled(size);
                let copy = aclrtMemcpy(block, size, v, size, ACL_MEMCPY_DEFAULT);
                t.ok(copy, "to the device");
                t.holds(block, &bytes, "block");
                let bytes = t.random_bytes(size);
                t.upload(block, &bytes);
                let copy = aclrtMemcpy(v, size, block, size, ACL_MEMCPY_DEFAULT);
                t.ok(copy, "from the device");
                t.same_bytes(&host_read(v, size), &bytes, "bytes for the host");
                t.eq(t.attributes(v).location.r#type, HOST, "location");
                let found = t.properties(h).location.r#type;
                t.eq(found, kind, "location of the handle");
                t.free(block);
                // Another place of the same memory shows the same bytes.
                let w = t.reserve(2 * HUGE_PAGE);
                t.map(w, size, h);
                t.same_bytes(&host_read(w, size), &bytes, "the second place");
                host_write(w, &[9; 4096]);
                t.same_bytes(&host_read(v, 4096), &[9; 4096], "the first place");
                for place in [v, w] {
                    t.unmap(place);
                    t.release(place);
                }
                t.free_physical(h);
            }
            t.eq(t.pools(), before, "pools of the device");
        }),
        case("x.vmm.host.rights", Setup::device0(), |t| {
            let v = t.reserve(HUGE_PAGE);
            let h = t.physical_of(8192, &property_at(ACL_DDR_MEM_NORMAL, HOST, 0));
            t.ok(aclrtMemMapNoAccess(v, 8192, 0, h, 0), "aclrtMemMapNoAccess");
            t.eq(t.access(v, place(HOST, 0)), 0, "rights of the host");
            let flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
            t.set_access(v, 8192, super::virtual_memory::grant(flags, place(HOST, 0)));
            t.eq(t.access(v, place(HOST, 0)), 3, "rights of the host");
            t.eq(t.access(v, place(DEVICE, 0)), 0, "rights of the device");
            host_write(v, &[5; 8192]);
            t.same_bytes(&host_read(v, 8192), &[5; 8192], "bytes");
        }),
        case(
            "x.vmm.host.device_memory_for_the_host",
            Setup::device0(),
            |t| {
                let v = t.mapped(1);
                let flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
                let bytes = t.random_bytes(HUGE_PAGE);
                t.upload(v, &bytes);
                t.set_access(
                    v,
                    HUGE_PAGE,
                    super::virtual_memory::grant(flags, place(HOST, 0)),
                );
                t.same_bytes(&host_read(v, HUGE_PAGE), &bytes, "what the host reads");
                let bytes = t.random_bytes(HUGE_PAGE);
                host_write(v, &bytes);
                t.holds(v, &bytes, "what the host wrote");
                t.take_down(v, 1);
            },
        ),
    ]
}

fn kinds() -> Vec<Case> {
    vec![
        case("x.vmm.kinds.charge_and_answer", Setup::device0(), |t| {
            // Normal pages of a device are served with huge ones.
            for (asked, answered) in [
                (ACL_HBM_MEM_NORMAL, ACL_HBM_MEM_NORMAL),
                (ACL_MEM_NORMAL, ACL_HBM_MEM_NORMAL),
                (ACL_HBM_MEM_HUGE, ACL_HBM_MEM_HUGE),
                (ACL_MEM_HUGE, ACL_HBM_MEM_HUGE),
                (ACL_MEM_P2P_HUGE, ACL_HBM_MEM_P2P_HUGE),
                (ACL_MEM_P2P_NORMAL, ACL_HBM_MEM_P2P_NORMAL),
            ] {
                let what = format!("attribute {asked}");
                let (h, taken) = t.charge(|| t.physical_of(4096, &property(asked)));
                t.eq(taken, (HUGE_PAGE as i64, 0), &what);
                t.eq(t.properties(h).memAttr, answered, &what);
                let mut prop = property(asked);
                let mut unit = UNTOUCHED;
                let code = aclrtMemGetAllocationGranularity(&raw mut prop, 0, &raw mut unit);
                t.ok(code, "aclrtMemGetAllocationGranularity");
                t.eq(unit, HUGE_PAGE, &what);
                let v = t.reserve(HUGE_PAGE);
                t.map(v, unit, h);
                t.eq(t.attributes(v).pageSize as usize, HUGE_PAGE, &what);
                t.usable(v, unit);
                t.unmap(v);
                t.release(v);
                t.free_physical(h);
            }
        }),
        case(
            "x.vmm.kinds.giant",
            Setup::device0().memory("4G", "3G"),
            |t| {
                let h = t.physical_of(1, &property(ACL_HBM_MEM_HUGE1G));
                t.eq(t.properties(h).memAttr, ACL_HBM_MEM_HUGE1G, "attribute");
                t.eq(t.mem(ACL_HBM_MEM).0, 3 * GIB, "free bytes");
                let v = t.reserve(2 * GIB);
                let code = aclrtMapMem(off(v, HUGE_PAGE), GIB, 0, h, 0);
                t.fails_with(code, ERROR_PARAM, "param=virPtr expect '1 GiB'", "between");
                let aligned = off(v, v.addr().next_multiple_of(GIB) - v.addr());
                t.map(aligned, GIB, h);
                t.usable(off(aligned, GIB - MIB), MIB);
                t.physical_of(GIB, &property(ACL_HBM_MEM_HUGE1G));
                t.physical_of(GIB, &property(ACL_MEM_HUGE1G));
                let mut h = SENTINEL;
                let giant = property(ACL_HBM_MEM_HUGE1G);
                let code = aclrtMallocPhysical(&raw mut h, GIB, &raw const giant, 0);
                t.fails(code, ERROR_MEMORY, "none left");
                t.eq(h, SENTINEL, "output");
            },
        ),
        case(
            "x.vmm.kinds.shortage_text",
            Setup::device0().memory("64M", "32M"),
            |t| {
                let huge = property(ACL_HBM_MEM_HUGE);
                let first = t.physical(30 * MIB);
                let mut h = SENTINEL;
                let code = aclrtMallocPhysical(&raw mut h, 3 * MIB, &raw const huge, 0);
                let tokens = "EL0004 func=aclrtMallocPhysical value=3145728 expect 'device 0' \
                              expect 'aclrtMallocPhysical and other memory without blocks 30 MiB (31457280 bytes)'";
                t.fails_with(code, ERROR_MEMORY, tokens, "4 MiB of 2");
                t.eq(h, SENTINEL, "output");
                let block = t.malloc(MIB, ACL_MEM_MALLOC_HUGE_ONLY);
                let code = aclrtMallocPhysical(&raw mut h, 1, &raw const huge, 0);
                t.fails(code, ERROR_MEMORY, "blocks and handles share the pages");
                t.free(block);
                t.free_physical(first);
                t.eq(t.pools().huge.0, 32 * MIB, "free bytes");
                t.free_physical(t.physical(32 * MIB));
            },
        ),
        case("x.vmm.kinds.host_attributes", Setup::device0(), |t| {
            let mut h = SENTINEL;
            for attribute in [ACL_HBM_MEM_HUGE, ACL_MEM_HUGE1G, ACL_HBM_MEM_HUGE1G] {
                let wrong = property_at(attribute, HOST, 0);
                let code = aclrtMallocPhysical(&raw mut h, 4096, &raw const wrong, 0);
                t.fails_with(code, ERROR_FRONT, "param=memAttr", "on the host");
            }
            t.eq(h, SENTINEL, "output");
        }),
    ]
}

/// Whether a code is one that a function answers where it exists, given arguments that name nothing.
fn exists(code: aclError) -> bool {
    i64::from(code) != ERROR_UNSUPPORTED
}

fn products() -> Vec<Case> {
    vec![
        case(
            "x.vmm.product.ipv350",
            Setup::device0().profile("IPV350"),
            |t| {
                let mut v = SENTINEL;
                let huge = property(ACL_HBM_MEM_HUGE);
                let codes = [
                    (
                        "aclrtReserveMemAddress",
                        aclrtReserveMemAddress(&raw mut v, HUGE_PAGE, 0, null_mut(), 0),
                    ),
                    (
                        "aclrtMallocPhysical",
                        aclrtMallocPhysical(&raw mut v, HUGE_PAGE, &raw const huge, 0),
                    ),
                ];
                for (name, code) in codes {
                    t.eq(i64::from(code), ERROR_UNSUPPORTED, name);
                }
                let code = aclrtUnmapMem(addr(16 * TIB));
                t.fails_with(
                    code,
                    ERROR_UNSUPPORTED,
                    "func=aclrtUnmapMem expect 'IPV350'",
                    "unmap",
                );
                let code = aclrtFreePhysical(addr(0x10));
                t.fails_with(code, ERROR_UNSUPPORTED, "func=aclrtFreePhysical", "free");
                let code = aclrtReserveMemAddress(null_mut(), 0, 0, null_mut(), 0);
                t.fails(code, ERROR_FRONT, "arguments come first");
                t.eq(v, SENTINEL, "output");
            },
        ),
        case(
            "x.vmm.product.giant_pages",
            Setup::device0().profile("310P"),
            |t| {
                let mut h = SENTINEL;
                let giant = property(ACL_HBM_MEM_HUGE1G);
                let code = aclrtMallocPhysical(&raw mut h, GIB, &raw const giant, 0);
                t.fails_with(code, ERROR_UNSUPPORTED, "expect '310P'", "1 GiB pages");
                t.eq(h, SENTINEL, "output");
                // The size is no reason.
                t.free_physical(t.physical_of(GIB, &property(ACL_MEM_HUGE)));
            },
        ),
        case("x.vmm.product.rc_310b", Setup::device0().rc(), |t| {
            let mut v = SENTINEL;
            let huge = property(ACL_MEM_HUGE);
            let words = "expect '310B' expect 'RC'";
            let refused = |code, what: &str| t.fails_with(code, ERROR_UNSUPPORTED, words, what);
            refused(
                aclrtReserveMemAddress(&raw mut v, HUGE_PAGE, 0, null_mut(), 0),
                "reserve",
            );
            refused(aclrtReleaseMemAddress(addr(16 * TIB)), "release");
            refused(
                aclrtMallocPhysical(&raw mut v, HUGE_PAGE, &raw const huge, 0),
                "physical",
            );
            refused(aclrtFreePhysical(addr(0x10)), "free");
            refused(
                aclrtMapMem(addr(16 * TIB), HUGE_PAGE, 0, addr(0x10), 0),
                "map",
            );
            refused(
                aclrtMemMapNoAccess(addr(16 * TIB), HUGE_PAGE, 0, addr(0x10), 0),
                "no access",
            );
            refused(aclrtUnmapMem(addr(16 * TIB)), "unmap");
            refused(
                aclrtMemRetainAllocationHandle(addr(16 * TIB), &raw mut v),
                "retain",
            );
            let mut prop = property(ACL_MEM_HUGE);
            let code = aclrtMemGetAllocationPropertiesFromHandle(addr(0x10), &raw mut prop);
            refused(code, "properties");
            let mut unit = UNTOUCHED;
            let code = aclrtMemGetAllocationGranularity(&raw mut prop, 0, &raw mut unit);
            refused(code, "granularity");
            t.eq(v, SENTINEL, "outputs");
        }),
        case(
            "x.vmm.product.rc_310p",
            Setup::device0().profile("310P").env("CANNERY_MODE", "rc"),
            |t| {
                // One memory: the host reaches what is mapped.
                let v = t.reserve(HUGE_PAGE);
                t.map(
                    v,
                    HUGE_PAGE,
                    t.physical_of(HUGE_PAGE, &property(ACL_MEM_HUGE)),
                );
                let bytes = t.random_bytes(HUGE_PAGE);
                host_write(v, &bytes);
                t.holds(v, &bytes, "bytes that the host wrote");
                t.unmap(v);
                t.release(v);
            },
        ),
        case("x.vmm.product.links", Setup::device0(), |t| {
            let (d, s) = (t.reserve(HUGE_PAGE), t.mapped(1));
            let code = aclrtMemMapSelectedLink(d, HUGE_PAGE, s, 0);
            let tokens = "func=aclrtMemMapSelectedLink expect '910B' expect 'A3'";
            t.fails_with(code, ERROR_UNSUPPORTED, tokens, "on 910B");
            t.fails(aclrtUnmapMem(d), ERROR_PARAM, "nothing was mapped");
            let h = t.physical(HUGE_PAGE);
            t.fails(
                aclrtMemMapSetLink(h, 0),
                ERROR_UNSUPPORTED,
                "set link on 910B",
            );
        }),
        case(
            "x.vmm.product.set_link",
            Setup::device0().profile("A3"),
            |t| {
                let h = t.physical(HUGE_PAGE);
                let code = aclrtMemMapSetLink(h, 0);
                t.fails_with(
                    code,
                    ERROR_PARAM,
                    "param=handle",
                    "a handle of this process",
                );
                t.check(exists(code), "A3 has links");
                t.fails(aclrtMemMapSetLink(addr(0x10), 0), ERROR_PARAM, "no handle");
            },
        ),
        case(
            "x.vmm.product.all_others",
            Setup::device0().profile("910"),
            |t| {
                let v = t.reserve_at(HUGE_PAGE, addr(17 * TIB));
                t.map(v, HUGE_PAGE, t.physical_of(1, &property(ACL_MEM_HUGE)));
                t.usable(v, HUGE_PAGE);
                let h = t.retain(v);
                t.free_physical(h);
                t.set_access(v, HUGE_PAGE, super::virtual_memory::device0());
            },
        ),
    ]
}
