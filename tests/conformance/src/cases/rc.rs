//! Host and device are one memory (RC form).

use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let rc = || Setup::device0().rc();
    vec![
        case("x.rc.host_memory_is_device_memory", rc(), |t| {
            for size in [1, 64, 5000, 3 * MIB] {
                let (h, taken) = t.charge(|| t.malloc_host(size));
                let want = (0, normal_charge(round_up(size, 32)) as i64);
                t.eq(
                    taken,
                    want,
                    &format!("bytes taken by {size} bytes of host memory"),
                );
                host_write(h, &vec![7; size]);
                let (_, back) = t.charge(|| t.free_host(h));
                t.eq(back, (0, -want.1), "bytes that come back");
            }
        }),
        case("x.rc.host_reads_and_writes_device_memory", rc(), |t| {
            for policy in [ACL_MEM_MALLOC_NORMAL_ONLY, ACL_MEM_MALLOC_HUGE_ONLY] {
                let p = t.malloc(5000, policy);
                let bytes = t.random_bytes(5000);
                host_write(p, &bytes);
                t.holds(p, &bytes, "bytes written by the host");
                let bytes = t.random_bytes(5000);
                t.upload(p, &bytes);
                t.same_bytes(&host_read(p, 5000), &bytes, "bytes read by the host");
                t.free(p);
            }
        }),
        case("x.rc.copies_of_any_kind", rc(), |t| {
            let p = t.malloc(1000, ACL_MEM_MALLOC_HUGE_FIRST);
            let h = t.malloc_host(1000);
            for kind in 0..=5 {
                let bytes = t.random_bytes(1000);
                host_write(h, &bytes);
                t.ok(aclrtMemcpy(p, 1000, h, 1000, kind), &format!("kind {kind}"));
                t.same_bytes(&host_read(p, 1000), &bytes, "destination");
            }
        }),
        case("x.rc.no_2d_copies", rc(), |t| {
            let (p, bytes) = t.filled(64);
            let h = vec![0_u8; 64];
            let kind = ACL_MEMCPY_HOST_TO_DEVICE;
            let code = aclrtMemcpy2d(p, 8, src(&h), 8, 8, 2, kind);
            t.fails(code, ERROR_UNSUPPORTED, "valid arguments");
            let code = aclrtMemcpy2d(p, 4, src(&h), 8, 8, 2, kind);
            t.fails(code, ERROR_FRONT, "arguments first");
            t.holds(p, &bytes, "block");
        }),
        case(
            "x.rc.310P",
            Setup::device0().profile("310P").env("CANNERY_MODE", "rc"),
            |t| {
                let mut m = -77;
                t.ok(aclrtGetRunMode(&raw mut m), "aclrtGetRunMode");
                t.eq(m, ACL_DEVICE, "run mode");
                let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
                host_write(p, &[7; 64]);
                t.holds(p, &[7; 64], "bytes written by the host");
            },
        ),
        case("x.rc.families_stay_apart", rc(), |t| {
            let h = t.malloc_host(1000);
            let (d, bytes) = t.filled(1000);
            t.fails(
                aclrtFreeHost(d),
                ERROR_PARAM,
                "aclrtFreeHost of a device block",
            );
            t.holds(d, &bytes, "device block");
            t.free_host(h);
            t.fails(aclrtFreeHost(h), ERROR_PARAM, "second release");
            t.free(d);
            t.fails(aclrtFree(d), ERROR_PARAM, "second release");
        }),
        case("x.rc.exhaustion", rc().memory("64M", "32M"), |t| {
            let mut h = SENTINEL;
            let code = aclrtMallocHost(&raw mut h, 40 * MIB);
            t.fails(code, ERROR_MEMORY, "more than the normal pages");
            t.eq(h, SENTINEL, "output");
            let h = t.malloc_host(30 * MIB);
            t.free_host(h);
        }),
    ]
}
