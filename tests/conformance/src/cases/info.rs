//! Questions about memory: what is free, who uses it, what a pointer is.

use super::support::*;

/// Reading a bad attribute must leave both outputs alone.
fn bad_attribute(t: &T, attr: aclrtMemAttr) {
    let (mut free, mut total) = (UNTOUCHED, UNTOUCHED);
    t.ret(aclrtGetMemInfo(attr, &raw mut free, &raw mut total));
    t.eq((free, total), (UNTOUCHED, UNTOUCHED), "outputs");
}

/// Asks which kinds of memory a list of addresses is.
fn check_type(list: &mut [*mut c_void], kind: u32) -> (aclError, u32) {
    let mut result = 77;
    let size = list.len() as u32;
    let code = aclrtCheckMemType(list.as_mut_ptr(), size, kind, &raw mut result, 0);
    (code, result)
}

/// Judges the location type of a pointer.
fn is_kind(t: &T, p: *const c_void, kind: aclrtMemLocationType) -> aclrtPtrAttributes {
    let mut a = blank_attributes();
    t.ret(aclrtPointerGetAttributes(p, &raw mut a));
    t.eq(a.location.r#type, kind, "location");
    a
}

fn blank_usage() -> aclrtMemUsageInfo {
    aclrtMemUsageInfo {
        name: [0x55; 32],
        curMemSize: 77,
        memPeakSize: 77,
        reserved: [77; 8],
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = mem_info();
    cases.extend(usage());
    cases.extend(check_mem_type());
    cases.extend(pointers());
    cases.extend(ranges());
    cases.extend(own());
    cases
}

fn mem_info() -> Vec<Case> {
    vec![
        case("info.mem.bad_attr", Setup::device0(), |t| {
            bad_attribute(t, 18)
        }),
        case("info.mem.negative_attr", Setup::device0(), |t| {
            bad_attribute(t, -1)
        }),
        case("info.mem.free_drops", Setup::device0(), |t| {
            let read = |t: &T| {
                let (mut free, mut total) = (UNTOUCHED, UNTOUCHED);
                t.ret(aclrtGetMemInfo(
                    ACL_HBM_MEM_HUGE,
                    &raw mut free,
                    &raw mut total,
                ));
                (free, total)
            };
            let before = read(t);
            t.malloc(64 * MIB, ACL_MEM_MALLOC_HUGE_ONLY);
            let after = read(t);
            t.check(before.0 - after.0 >= 64 * MIB, "at least 64 MiB less");
            t.eq(
                before.0 - after.0,
                huge_charge(padded(64 * MIB)),
                "bytes taken",
            );
            t.eq(after.1, before.1, "total");
        }),
        case("info.mem.free_le_total", Setup::device0(), |t| {
            t.malloc(3 * MIB, ACL_MEM_MALLOC_HUGE_FIRST);
            for attr in 0..=9 {
                let (mut free, mut total) = (UNTOUCHED, UNTOUCHED);
                t.ret(aclrtGetMemInfo(attr, &raw mut free, &raw mut total));
                t.check(
                    free <= total && total != UNTOUCHED,
                    &format!("attribute {attr}: free {free}, total {total}"),
                );
            }
        }),
        case("info.mem.free_returns", Setup::device0(), |t| {
            let before = t.pools();
            for policy in [ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_NORMAL_ONLY] {
                let p = t.malloc(64 * MIB, policy);
                t.check(t.pools() != before, "the block is counted");
                t.free(p);
                t.eq(t.pools(), before, "page pools");
            }
            let (mut free, mut total) = (UNTOUCHED, UNTOUCHED);
            t.ret(aclrtGetMemInfo(ACL_HBM_MEM, &raw mut free, &raw mut total));
            t.eq((free, total), before.all, "values");
        }),
        case(
            "info.mem.hbm_on_ddr_product",
            Setup::device0().profile("310P"),
            |t| {
                t.malloc(3 * MIB, ACL_MEM_MALLOC_HUGE_FIRST);
                for (hbm, ddr) in [
                    (ACL_HBM_MEM_HUGE, ACL_DDR_MEM_HUGE),
                    (ACL_HBM_MEM_NORMAL, ACL_DDR_MEM_NORMAL),
                    (ACL_HBM_MEM, ACL_DDR_MEM),
                ] {
                    let (mut free, mut total) = (UNTOUCHED, UNTOUCHED);
                    t.ret(aclrtGetMemInfo(hbm, &raw mut free, &raw mut total));
                    t.eq((free, total), t.mem(ddr), "the matching DDR attribute");
                    t.check(total > 0, "the product has memory");
                }
            },
        ),
        case(
            "info.mem.huge1g_unsupported",
            Setup::device0().profile("310P"),
            |t| bad_attribute(t, ACL_HBM_MEM_HUGE1G),
        ),
        case("info.mem.null_total", Setup::device0(), |t| {
            let mut free = UNTOUCHED;
            t.ret(aclrtGetMemInfo(ACL_HBM_MEM, &raw mut free, null_mut()));
            t.eq(free, UNTOUCHED, "output");
        }),
    ]
}

fn usage() -> Vec<Case> {
    vec![
        case("info.usage.input_zero", Setup::device0(), |t| {
            let mut info = blank_usage();
            let mut n = UNTOUCHED;
            t.ret(aclrtGetMemUsageInfo(0, &raw mut info, 0, &raw mut n));
            t.eq(n, 0, "outputNum");
            t.eq((info.curMemSize, info.memPeakSize), (77, 77), "array");
        }),
        case("info.usage.null_array", Setup::device0(), |t| {
            let mut n = UNTOUCHED;
            t.ret(aclrtGetMemUsageInfo(0, null_mut(), 4, &raw mut n));
            t.eq(n, UNTOUCHED, "outputNum");
        }),
        case("info.usage.null_out", Setup::device0(), |t| {
            let mut info = [blank_usage(); 4];
            t.ret(aclrtGetMemUsageInfo(0, info.as_mut_ptr(), 4, null_mut()));
            t.eq(info[0].curMemSize, 77, "array");
        }),
        case("info.usage.sorted", Setup::device0(), |t| {
            use super::memory_malloc::{attribute, config};
            for (module, size) in [(3, MIB), (7, 5 * MIB), (33, 3 * MIB)] {
                let mut attrs = [attribute(ACL_RT_MEM_ATTR_MODULE_ID, module)];
                let mut cfg = config(&mut attrs);
                let mut p = SENTINEL;
                let policy = ACL_MEM_MALLOC_NORMAL_ONLY;
                let code = aclrtMallocWithCfg(&raw mut p, size, policy, &raw mut cfg);
                t.ok(code, "allocation of a module");
            }
            let mut info = [blank_usage(); 32];
            let mut n = UNTOUCHED;
            t.ret(aclrtGetMemUsageInfo(0, info.as_mut_ptr(), 32, &raw mut n));
            if n > 32 {
                abort(&format!("outputNum is {n}"));
            }
            t.check(n >= 3, &format!("{n} components"));
            let sizes: Vec<u64> = info[..n].iter().map(|i| i.curMemSize).collect();
            t.check(
                sizes.is_sorted_by(|a, b| a >= b),
                &format!("sizes {sizes:?}"),
            );
            t.check(
                sizes.starts_with(&[5 * MIB as u64]),
                "the largest comes first",
            );
            for i in &info[..n] {
                t.check(
                    i.memPeakSize >= i.curMemSize,
                    "the peak is no less than the use",
                );
                t.check(
                    i.name.contains(&0) && i.name[0] != 0,
                    "the name is a string",
                );
            }
        }),
    ]
}

fn check_mem_type() -> Vec<Case> {
    vec![
        case("info.check_type.device_match", Setup::device0(), |t| {
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            let (code, result) = check_type(&mut [p], ACL_RT_MEM_TYPE_DEV);
            t.ret(code);
            t.eq(result, 1, "checkResult");
        }),
        case("info.check_type.host_no_match", Setup::device0(), |t| {
            let c = CMemory::new(64);
            let (code, result) = check_type(&mut [c.p], ACL_RT_MEM_TYPE_DEV);
            t.ret(code);
            t.eq(result, 0, "checkResult");
            c.check_still_owned(t);
        }),
        case("info.check_type.null_result", Setup::device0(), |t| {
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            let mut list = [p];
            let kind = ACL_RT_MEM_TYPE_DEV;
            t.ret(aclrtCheckMemType(list.as_mut_ptr(), 1, kind, null_mut(), 0));
        }),
        case("info.check_type.rsvd_public_bit", Setup::device0(), |t| {
            let mut v = SENTINEL;
            let code = aclrtReserveMemAddress(&raw mut v, HUGE_PAGE, 0, null_mut(), 0);
            t.ok(code, "aclrtReserveMemAddress");
            let (code, result) = check_type(&mut [v], ACL_RT_MEM_TYPE_RSVD);
            t.ret(code);
            t.eq(result, 1, "checkResult");
            let (code, result) = check_type(&mut [v], ACL_RT_MEM_TYPE_DEV);
            t.ok(code, "aclrtCheckMemType");
            t.eq(result, 0, "checkResult for device memory");
        }),
        case("info.pointer.pool_block", Setup::device0(), |t| {
            let (mut mp, mut p, mut s) = (null_mut(), SENTINEL, null_mut());
            t.ok(aclrtCreateStream(&raw mut s), "aclrtCreateStream");
            let props = super::pool::props();
            t.ok(
                aclrtMemPoolCreate(&raw mut mp, &raw const props),
                "aclrtMemPoolCreate",
            );
            let code = aclrtMemPoolMallocAsync(&raw mut p, 64, mp, s);
            t.ok(code, "aclrtMemPoolMallocAsync");
            is_kind(t, p, ACL_MEM_LOCATION_TYPE_DEVICE);
        }),
        case("info.check_type.size_zero", Setup::device0(), |t| {
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            let mut list = [p];
            let mut result = 77;
            let kind = ACL_RT_MEM_TYPE_DEV;
            t.ret(aclrtCheckMemType(
                list.as_mut_ptr(),
                0,
                kind,
                &raw mut result,
                0,
            ));
            t.eq(result, 0, "checkResult");
        }),
        case("info.check_type.unknown_bit", Setup::device0(), |t| {
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            let (code, result) = check_type(&mut [p], 0x1);
            t.ret(code);
            t.eq(result, 0, "checkResult");
        }),
    ]
}

fn pointers() -> Vec<Case> {
    vec![
        case("info.pointer.device", Setup::device0(), |t| {
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            let a = is_kind(t, p, ACL_MEM_LOCATION_TYPE_DEVICE);
            t.eq(a.location.id, 0, "device");
        }),
        case("info.pointer.device_interior", Setup::device0(), |t| {
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            is_kind(t, off(p, 10), ACL_MEM_LOCATION_TYPE_DEVICE);
            is_kind(t, off(p, 63), ACL_MEM_LOCATION_TYPE_DEVICE);
        }),
        case("info.pointer.freed", Setup::device0(), |t| {
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            t.free(p);
            is_kind(t, p, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
        }),
        case("info.pointer.no_context", Setup::device0(), |t| {
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            on_thread(|| {
                let a = is_kind(t, p, ACL_MEM_LOCATION_TYPE_DEVICE);
                t.eq(a.location.id, 0, "device");
            });
        }),
        case("info.pointer.null_out", Setup::device0(), |t| {
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            t.ret(aclrtPointerGetAttributes(p, null_mut()));
        }),
        case("info.pointer.page_size_huge", Setup::device0(), |t| {
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_ONLY);
            let a = is_kind(t, p, ACL_MEM_LOCATION_TYPE_DEVICE);
            t.eq(a.pageSize as usize, HUGE_PAGE, "page size");
        }),
    ]
}

fn ranges() -> Vec<Case> {
    vec![
        case("vmm.address_range.both_null", Setup::device0(), |t| {
            let p = t.malloc(1000, ACL_MEM_MALLOC_HUGE_FIRST);
            t.ret(aclrtMemGetAddressRange(p, null_mut(), null_mut()));
        }),
        case("vmm.address_range.host", Setup::device0(), |t| {
            let h = t.malloc_host(1000);
            let (mut b, mut s) = (SENTINEL, UNTOUCHED);
            t.ret(aclrtMemGetAddressRange(off(h, 1), &raw mut b, &raw mut s));
            t.eq(b, h, "base");
            t.eq(s, 1024, "size");
        }),
        case("vmm.address_range.interior", Setup::device0(), |t| {
            let p = t.malloc(1000, ACL_MEM_MALLOC_HUGE_FIRST);
            let (mut b, mut s) = (SENTINEL, UNTOUCHED);
            t.ret(aclrtMemGetAddressRange(off(p, 100), &raw mut b, &raw mut s));
            t.eq(b, p, "base");
            t.check(s >= 1000, "the size covers the block");
            t.eq(s, padded(1000), "size");
        }),
        case("vmm.address_range.null_ptr", Setup::device0(), |t| {
            let (mut b, mut s) = (SENTINEL, UNTOUCHED);
            t.ret(aclrtMemGetAddressRange(null_mut(), &raw mut b, &raw mut s));
            t.eq((b, s), (SENTINEL, UNTOUCHED), "outputs");
        }),
        case("vmm.address_range.one_null", Setup::device0(), |t| {
            let p = t.malloc(1000, ACL_MEM_MALLOC_HUGE_FIRST);
            let mut b = SENTINEL;
            t.ret(aclrtMemGetAddressRange(p, &raw mut b, null_mut()));
            t.eq(b, p, "base");
            let mut s = UNTOUCHED;
            let code = aclrtMemGetAddressRange(p, null_mut(), &raw mut s);
            t.ok(code, "the other one NULL");
            t.eq(s, padded(1000), "size");
        }),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.info.two_idle_queries", Setup::device0(), |t| {
            for attr in 0..=17 {
                let (mut free, mut total) = (UNTOUCHED, UNTOUCHED);
                let first = aclrtGetMemInfo(attr, &raw mut free, &raw mut total);
                let (mut free2, mut total2) = (UNTOUCHED, UNTOUCHED);
                let second = aclrtGetMemInfo(attr, &raw mut free2, &raw mut total2);
                t.eq((first, free, total), (second, free2, total2), "two queries");
            }
        }),
        case("x.info.attribute_before_context", Setup::init(), |t| {
            let (mut free, mut total) = (UNTOUCHED, UNTOUCHED);
            let code = aclrtGetMemInfo(18, &raw mut free, &raw mut total);
            t.fails(code, 107_016, "bad attribute without a device");
            let code = aclrtGetMemInfo(ACL_HBM_MEM, &raw mut free, &raw mut total);
            t.fails(code, ERROR_CONTEXT, "good attribute without a device");
            let code = aclrtGetMemInfo(ACL_HBM_MEM, null_mut(), &raw mut total);
            t.fails_with(
                code,
                ERROR_FRONT,
                "EH0008 func=aclrtGetMemInfo param=free",
                "NULL",
            );
            t.eq((free, total), (UNTOUCHED, UNTOUCHED), "outputs");
        }),
        case(
            "x.info.missing_memory_kind_is_zero",
            Setup::device0(),
            |t| {
                t.eq(t.mem(ACL_DDR_MEM), (0, 0), "DDR of a product with HBM");
            },
        ),
        case("x.info.parts_add_up", Setup::device0(), |t| {
            t.malloc(5 * MIB, ACL_MEM_MALLOC_HUGE_FIRST);
            t.malloc(5000, ACL_MEM_MALLOC_NORMAL_ONLY);
            let pools = t.pools();
            t.eq(pools.huge.0 + pools.normal.0, pools.all.0, "free");
            t.eq(pools.huge.1 + pools.normal.1, pools.all.1, "total");
            t.eq(
                t.mem(ACL_MEM_NORMAL),
                pools.normal,
                "normal pages of any kind",
            );
            t.eq(t.mem(ACL_MEM_HUGE), pools.huge, "huge pages of any kind");
        }),
        case("x.info.check_type_mixed", Setup::device0(), |t| {
            let d = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            let mut m = SENTINEL;
            t.ok(acldvppMalloc(&raw mut m, 64), "acldvppMalloc");
            let h = t.malloc_host(64);
            let both = ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP;
            for (what, list, kind, want) in [
                ("device", vec![d], ACL_RT_MEM_TYPE_DEV, 1),
                ("device as media", vec![d], ACL_RT_MEM_TYPE_DVPP, 0),
                ("media", vec![m], ACL_RT_MEM_TYPE_DVPP, 1),
                ("media as device", vec![m], ACL_RT_MEM_TYPE_DEV, 0),
                ("both", vec![d, m], both, 1),
                ("both as device", vec![d, m], ACL_RT_MEM_TYPE_DEV, 0),
                ("host among them", vec![d, h, m], both, 0),
                (
                    "inside of a block",
                    vec![off(d, 10)],
                    ACL_RT_MEM_TYPE_DEV,
                    1,
                ),
                ("NULL", vec![null_mut()], ACL_RT_MEM_TYPE_DEV, 0),
                ("nothing", vec![addr(0x1000)], both, 0),
            ] {
                let mut list = list;
                let (code, result) = check_type(&mut list, kind);
                t.ok(code, what);
                t.eq(result, want, what);
            }
        }),
        case(
            "x.info.check_type_on_950",
            Setup::device0().profile("950"),
            |t| {
                let mut m = SENTINEL;
                t.eq(
                    hi_mpi_dvpp_malloc(0, &raw mut m, 64),
                    0,
                    "hi_mpi_dvpp_malloc",
                );
                let (code, result) = check_type(&mut [m], ACL_RT_MEM_TYPE_DEV);
                t.ok(code, "aclrtCheckMemType");
                t.eq(result, 1, "media memory counts as device memory");
            },
        ),
        case("x.info.check_type_null_list", Setup::device0(), |t| {
            let mut result = 77;
            let kind = ACL_RT_MEM_TYPE_DEV;
            let code = aclrtCheckMemType(null_mut(), 1, kind, &raw mut result, 0);
            t.fails_with(code, ERROR_FRONT, "EH0008", "addrList NULL");
        }),
        case("x.info.pointer_kinds", Setup::device0().devices(2), |t| {
            let d0 = t.malloc(5000, ACL_MEM_MALLOC_NORMAL_ONLY);
            let h = t.malloc_host(5000);
            t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
            let d1 = t.malloc(5000, ACL_MEM_MALLOC_NORMAL_ONLY);
            let local = 0_u8;
            let heap = vec![0_u8; 64];
            let (device, host, unknown) = (
                ACL_MEM_LOCATION_TYPE_DEVICE,
                ACL_MEM_LOCATION_TYPE_HOST,
                ACL_MEM_LOCATION_TYPE_UNREGISTERED,
            );
            let local: *const c_void = (&raw const local).cast();
            for (what, p, kind, id) in [
                ("block of device 0", d0.cast_const(), device, Some(0)),
                ("its last byte", off(d0, 4999).cast_const(), device, Some(0)),
                ("block of device 1", d1.cast_const(), device, Some(1)),
                ("pinned memory", h.cast_const(), host, Some(0)),
                ("heap", src(&heap), unknown, None),
                ("stack", local, unknown, None),
                ("nothing", addr(0x1000), unknown, None),
                ("far past a block", off(d1, GIB).cast_const(), unknown, None),
            ] {
                let a = t.attributes(p);
                t.eq(a.location.r#type, kind, what);
                if let Some(id) = id {
                    t.eq(a.location.id, id, what);
                }
            }
            t.eq(
                t.attributes(d0).pageSize,
                4096,
                "page size of a normal block",
            );
            let mut a = blank_attributes();
            let code = aclrtPointerGetAttributes(null(), &raw mut a);
            t.fails_with(code, ERROR_FRONT, "EH0008", "NULL");
            t.eq(a.location.r#type, 77, "output");
        }),
        case("x.info.one_past_the_block", Setup::device0(), |t| {
            // Owned bytes are the block; the byte after them is nobody's.
            let p = t.malloc(33, ACL_MEM_MALLOC_NORMAL_ONLY);
            let a = t.attributes(off(p, 95));
            t.eq(
                a.location.r#type,
                ACL_MEM_LOCATION_TYPE_DEVICE,
                "last owned byte",
            );
            let a = t.attributes(off(p, 96));
            t.eq(
                a.location.r#type,
                ACL_MEM_LOCATION_TYPE_UNREGISTERED,
                "byte after it",
            );
        }),
        case("x.info.range_of_nothing", Setup::device0(), |t| {
            let freed = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            t.free(freed);
            let heap = Box::new([0_u8; 64]);
            for p in [freed, addr(0x1000), heap.as_ptr().cast_mut().cast()] {
                let (mut b, mut s) = (SENTINEL, UNTOUCHED);
                let code = aclrtMemGetAddressRange(p, &raw mut b, &raw mut s);
                t.fails(code, ERROR_PARAM, "range of no block");
                t.eq((b, s), (SENTINEL, UNTOUCHED), "outputs");
            }
        }),
        case("x.info.usage_follows_blocks", Setup::device0(), |t| {
            use super::memory_malloc::usage;
            let sum = |t: &T| usage(t).iter().map(|(_, bytes)| bytes).sum::<u64>();
            let before = sum(t);
            let (p, taken) = t.charge(|| t.malloc(3 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
            t.eq(sum(t) - before, taken.0 as u64, "use after the allocation");
            t.free(p);
            t.eq(sum(t), before, "use after the release");
        }),
        case(
            "x.info.usage_unsupported_after_checks",
            Setup::device0().profile("950"),
            |t| {
                let mut info = [blank_usage(); 4];
                let mut n = UNTOUCHED;
                let code = aclrtGetMemUsageInfo(0, info.as_mut_ptr(), 4, &raw mut n);
                t.fails(code, ERROR_UNSUPPORTED, "valid arguments");
                let code = aclrtGetMemUsageInfo(0, null_mut(), 4, &raw mut n);
                t.fails(code, ERROR_FRONT, "array NULL");
                t.eq(info[0].curMemSize, 77, "array");
            },
        ),
        case("x.info.capacity_attribute", Setup::device0(), |t| {
            let mut value = -77;
            let attr = ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE;
            t.ok(
                aclrtGetDeviceInfo(0, attr, &raw mut value),
                "aclrtGetDeviceInfo",
            );
            t.eq(value as usize, t.mem(ACL_HBM_MEM).1, "capacity");
        }),
    ]
}
