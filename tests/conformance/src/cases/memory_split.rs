//! How a device's memory is split into page pools.

use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.split.default", Setup::device0(), |t| {
            let pools = t.pools();
            t.eq(pools.all.1, 64 * GIB, "capacity of the default product");
            t.eq(pools.huge.1, 48 * GIB, "three quarters in huge pages");
            t.eq(pools.normal.1, 16 * GIB, "one quarter in normal pages");
            t.eq(pools.all, (64 * GIB, 64 * GIB), "all free");
        }),
        case(
            "x.split.capacity_setting",
            Setup::device0().env("CANNERY_HBM_BYTES", "1G"),
            |t| {
                let pools = t.pools();
                t.eq(pools.all.1, GIB, "total");
                t.eq(pools.huge.1, 768 * MIB, "huge");
                t.eq(pools.normal.1, 256 * MIB, "normal");
            },
        ),
        case(
            "x.split.both_settings",
            Setup::device0().memory("100M", "36M"),
            |t| {
                let pools = t.pools();
                t.eq(pools.huge, (36 * MIB, 36 * MIB), "huge");
                t.eq(pools.normal, (64 * MIB, 64 * MIB), "normal");
                t.eq(pools.all, (100 * MIB, 100 * MIB), "all");
            },
        ),
        case(
            "x.split.suffixes",
            Setup::device0().memory("131072K", "67108864"),
            |t| {
                let pools = t.pools();
                t.eq((pools.all.1, pools.huge.1), (128 * MIB, 64 * MIB), "totals");
            },
        ),
        case(
            "x.split.no_huge_pages",
            Setup::device0().memory("64M", "0"),
            |t| {
                let pools = t.pools();
                t.eq((pools.huge.1, pools.normal.1), (0, 64 * MIB), "totals");
                let mut p = SENTINEL;
                let code = aclrtMalloc(&raw mut p, 64, ACL_MEM_MALLOC_HUGE_ONLY);
                t.fails(code, ERROR_MEMORY, "HUGE_ONLY");
                let (_, taken) = t.charge(|| t.malloc(3 * MIB, ACL_MEM_MALLOC_HUGE_FIRST));
                t.eq(
                    taken,
                    (0, normal_charge(padded(3 * MIB)) as i64),
                    "HUGE_FIRST",
                );
            },
        ),
        case(
            "x.split.only_huge_pages",
            Setup::device0().memory("64M", "64M"),
            |t| {
                let pools = t.pools();
                t.eq((pools.huge.1, pools.normal.1), (64 * MIB, 0), "totals");
                let mut p = SENTINEL;
                let code = aclrtMalloc(&raw mut p, 64, ACL_MEM_MALLOC_NORMAL_ONLY);
                t.fails(code, ERROR_MEMORY, "NORMAL_ONLY");
                t.malloc(64, ACL_MEM_MALLOC_HUGE_ONLY);
            },
        ),
        case(
            "x.split.each_device_has_its_own",
            Setup::device0().devices(2),
            |t| {
                t.malloc(GIB, ACL_MEM_MALLOC_HUGE_FIRST);
                t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
                let pools = t.pools();
                t.eq(pools.all.0, pools.all.1, "free bytes of the other device");
            },
        ),
        case(
            "x.split.capacity_by_soc_name",
            Setup::device0().profile("Ascend910B4"),
            |t| {
                t.eq(t.mem(ACL_HBM_MEM).1, 32 * GIB, "capacity");
                t.eq(
                    string(aclrtGetSocName()).as_deref(),
                    Some("Ascend910B4"),
                    "name",
                );
            },
        ),
    ]
}
