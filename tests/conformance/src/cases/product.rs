//! What differs between products: capacity, padding, pages, missing functions.

use super::memory_malloc::{for_task_scheduler, owns, with_cfg};
use super::support::*;

/// A device whose product has no default context of its own.
fn ipv350() -> Setup {
    Setup::init()
        .profile("IPV350")
        .env("CANNERY_HBM_BYTES", "64M")
}

fn start_ipv350(t: &T) {
    t.ok(aclrtSetDevice(0), "aclrtSetDevice");
    t.create_context(0);
}

/// Capacity of the profile's default variant.
fn capacity(t: &T, want: usize) {
    let pools = t.pools();
    t.eq(pools.all.1, want, "capacity");
    t.eq(pools.huge.1 + pools.normal.1, want, "huge and normal pages");
}

/// The product adds the tail of 32 bytes.
fn has_tail(t: &T) {
    let p = t.malloc(33, ACL_MEM_MALLOC_NORMAL_ONLY);
    owns(t, p, 96);
    let p = t.block(aclrtMallocAlign32, 33, ACL_MEM_MALLOC_NORMAL_ONLY);
    owns(t, p, 64);
}

/// Products without 1 GiB pages refuse them everywhere.
fn no_giant_pages(t: &T) {
    let mut p = SENTINEL;
    for policy in [ACL_MEM_MALLOC_HUGE1G_ONLY, ACL_MEM_MALLOC_HUGE1G_ONLY_P2P] {
        let code = aclrtMalloc(&raw mut p, GIB, policy);
        t.fails(code, ERROR_UNSUPPORTED, "aclrtMalloc");
        let code = with_cfg(&raw mut p, GIB, policy);
        t.fails(code, ERROR_UNSUPPORTED, "aclrtMallocWithCfg");
    }
    t.eq(p, SENTINEL, "output");
    for attr in [ACL_HBM_MEM_HUGE1G, ACL_HBM_MEM_P2P_HUGE1G, ACL_MEM_HUGE1G] {
        let (mut free, mut total) = (UNTOUCHED, UNTOUCHED);
        let code = aclrtGetMemInfo(attr, &raw mut free, &raw mut total);
        t.fails(code, ERROR_UNSUPPORTED, "aclrtGetMemInfo");
        t.eq((free, total), (UNTOUCHED, UNTOUCHED), "outputs");
    }
}

/// Copy descriptors and 32-bit fills are missing, after the argument checks.
fn no_descriptors(t: &T) {
    let mut n = UNTOUCHED;
    let kind = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
    let code = aclrtGetMemcpyDescSize(kind, &raw mut n);
    t.fails(code, ERROR_UNSUPPORTED, "aclrtGetMemcpyDescSize");
    t.eq(n, UNTOUCHED, "output");
    t.fails(
        aclrtGetMemcpyDescSize(kind, null_mut()),
        ERROR_FRONT,
        "size NULL",
    );
    let (p, bytes) = t.filled(4096);
    let code = aclrtSetMemcpyDesc(p, kind, off(p, 1024), off(p, 2048), 64, null_mut());
    t.fails(code, ERROR_UNSUPPORTED, "aclrtSetMemcpyDesc");
    let code = aclrtSetMemcpyDesc(p, kind, null_mut(), off(p, 2048), 64, null_mut());
    t.fails(code, ERROR_FRONT, "source NULL");
    t.holds(p, &bytes, "block");
}

fn no_fill(t: &T) {
    let (p, bytes) = t.filled(64);
    t.fails(
        aclrtMemsetD32(p, 16, 7, 4),
        ERROR_UNSUPPORTED,
        "aclrtMemsetD32",
    );
    t.fails(aclrtMemsetD32(null_mut(), 16, 7, 4), ERROR_FRONT, "NULL");
    t.fails(aclrtMemsetD32(p, 15, 7, 4), ERROR_FRONT, "size too short");
    t.holds(p, &bytes, "block");
}

/// The walk through that every product has.
fn walk_through(t: &T) {
    let p = t.malloc(5000, ACL_MEM_MALLOC_HUGE_FIRST);
    t.usable(p, 5000);
    t.ok(aclrtMemset(p, 5000, 0x33, 5000), "aclrtMemset");
    t.holds(p, &[0x33; 5000], "set bytes");
    t.free(p);
    let p = t.block(aclrtMallocAlign32, 5000, ACL_MEM_MALLOC_HUGE_ONLY);
    t.usable(p, 5000);
    t.free(p);
    let pools = t.pools();
    t.eq(pools.all.0, pools.all.1, "free bytes at the end");
}

pub(super) fn cases() -> Vec<Case> {
    let on = |profile: &str| Setup::device0().profile(profile);
    let mut cases = vec![
        case("x.product.910", on("910"), |t| {
            walk_through(t);
            has_tail(t);
            no_giant_pages(t);
            no_descriptors(t);
            no_fill(t);
        }),
        case("x.product.310P", on("310P"), |t| {
            // 24 000 000 000 bytes is no whole number of huge pages.
            let total = t.mem(ACL_HBM_MEM).1;
            t.check(
                (23_990_000_000..=24_000_000_000).contains(&total),
                "capacity",
            );
            walk_through(t);
            has_tail(t);
            no_giant_pages(t);
            no_descriptors(t);
            no_fill(t);
        }),
        case("x.product.310B", on("310B"), |t| {
            capacity(t, 32 * GIB);
            walk_through(t);
            has_tail(t);
            no_giant_pages(t);
            no_fill(t);
        }),
        case("x.product.910B", on("910B"), |t| {
            capacity(t, 64 * GIB);
            walk_through(t);
            has_tail(t);
        }),
        case("x.product.A3", on("A3"), |t| {
            capacity(t, 64 * GIB);
            walk_through(t);
            has_tail(t);
            let p = t.malloc(1, ACL_MEM_MALLOC_HUGE1G_ONLY);
            t.free(p);
        }),
        case("x.product.950", on("950"), |t| {
            capacity(t, 128 * GIB);
            walk_through(t);
            let p = t.malloc(33, ACL_MEM_MALLOC_NORMAL_ONLY);
            owns(t, p, 64);
            let p = t.block(aclrtMallocCached, 33, ACL_MEM_MALLOC_NORMAL_ONLY);
            owns(t, p, 64);
            // Exactly 1 MiB stays in normal pages: there is no tail.
            let (_, taken) = t.charge(|| t.malloc(MIB, ACL_MEM_MALLOC_HUGE_FIRST));
            t.eq(taken, (0, MIB as i64), "bytes taken by 1 MiB");
            let p = t.malloc(1, ACL_MEM_MALLOC_HUGE1G_ONLY);
            t.free(p);
        }),
    ];
    cases.extend(smallest());
    cases
}

fn smallest() -> Vec<Case> {
    vec![
        case("x.product.IPV350_basics", ipv350(), |t| {
            start_ipv350(t);
            walk_through(t);
            no_giant_pages(t);
            // Without a question for the range, the copies tell what is owned.
            for (malloc, owned) in [(aclrtMalloc as Malloc, 96), (aclrtMallocAlign32, 64)] {
                let p = t.block(malloc, 33, ACL_MEM_MALLOC_NORMAL_ONLY);
                t.usable(p, owned);
                let beyond = vec![0; owned + 1];
                let kind = ACL_MEMCPY_HOST_TO_DEVICE;
                let code = aclrtMemcpy(p, owned + 1, src(&beyond), owned + 1, kind);
                t.eq(i64::from(code), ERROR_PARAM, "one byte more");
            }
        }),
        case("x.product.IPV350_band_policies", ipv350(), |t| {
            start_ipv350(t);
            // Here the band flags act as HUGE_FIRST and may be or-ed.
            for band in [ACL_MEM_TYPE_LOW_BAND_WIDTH, ACL_MEM_TYPE_HIGH_BAND_WIDTH] {
                let size = 1536 * KIB;
                let (p, taken) = t.charge(|| t.malloc(size, band));
                t.eq(taken, (HUGE_PAGE as i64, 0), "band alone");
                t.free(p);
                let policy = band | ACL_MEM_MALLOC_NORMAL_ONLY;
                let (p, taken) = t.charge(|| t.malloc(3 * MIB, policy));
                let want = (0, normal_charge(padded(3 * MIB)) as i64);
                t.eq(taken, want, "band and NORMAL_ONLY");
                t.free(p);
            }
        }),
        case("x.product.IPV350_missing_functions", ipv350(), |t| {
            start_ipv350(t);
            let (p, bytes) = t.filled(4096);
            let mut out = vec![0x77_u8; 64];
            let mut q = SENTINEL;
            let q = &raw mut q;
            let h2d = ACL_MEMCPY_HOST_TO_DEVICE;
            for (name, code) in [
                ("aclrtMallocHost", aclrtMallocHost(q, 64)),
                (
                    "aclrtMallocHostWithCfg",
                    aclrtMallocHostWithCfg(q, 64, null_mut()),
                ),
                ("aclrtMallocWithCfg", with_cfg(q, 64, 0)),
                ("aclrtMallocForTaskScheduler", for_task_scheduler(q, 64, 0)),
                ("aclrtFreeWithDevSync", aclrtFreeWithDevSync(p)),
                (
                    "aclrtMemcpy2d",
                    aclrtMemcpy2d(p, 8, src(&out), 8, 8, 2, h2d),
                ),
                ("aclrtMemsetD32", aclrtMemsetD32(p, 16, 7, 4)),
            ] {
                t.eq(i64::from(code), ERROR_UNSUPPORTED, name);
            }
            for (name, code) in [
                ("aclrtMallocHost", aclrtMallocHost(q, 0)),
                ("aclrtMallocWithCfg", with_cfg(null_mut(), 64, 0)),
                ("aclrtFreeWithDevSync", aclrtFreeWithDevSync(null_mut())),
                ("aclrtFreeHost", aclrtFreeHost(null_mut())),
                (
                    "aclrtMemcpy2d",
                    aclrtMemcpy2d(p, 4, src(&out), 8, 8, 2, h2d),
                ),
            ] {
                t.eq(
                    i64::from(code),
                    ERROR_FRONT,
                    &format!("{name} with a bad argument"),
                );
            }
            let mut a = blank_attributes();
            let code = aclrtPointerGetAttributes(p, &raw mut a);
            t.eq(
                i64::from(code),
                ERROR_UNSUPPORTED,
                "aclrtPointerGetAttributes",
            );
            t.eq(a.location.r#type, 77, "output");
            t.holds(p, &bytes, "block");
            out.clear();
            t.free(p);
        }),
        case("x.exports.foundation", Setup::fresh(), |t| {
            for line in crate::spec::foundation_functions() {
                t.check(exports(line), &format!("{line} is not exported"));
            }
        }),
    ]
}
