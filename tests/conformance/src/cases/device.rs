//! Devices: setting and resetting, counts, status, limits, synchronising.

use super::support::*;

/// Code of a reset without a reference.
const NO_REFERENCE: i64 = ACL_ERROR_RT_CONTEXT_RELEASE_ERROR as i64;

fn primary_is_active(t: &T, device: i32) -> bool {
    let mut active = -77;
    let code = aclrtGetPrimaryCtxState(device, null_mut(), &raw mut active);
    t.ok(code, "aclrtGetPrimaryCtxState");
    active == 1
}

fn device_count(t: &T) -> u32 {
    let mut n = 77;
    t.ok(aclrtGetDeviceCount(&raw mut n), "aclrtGetDeviceCount");
    n
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = set();
    cases.extend(reset());
    cases.extend(queries());
    cases.extend(synchronise());
    cases.extend(own());
    cases
}

fn set() -> Vec<Case> {
    vec![
        case(
            "device.set_device.failure_keeps_binding",
            Setup::device0(),
            |t| {
                t.ret(aclrtSetDevice(9999));
                t.eq(t.device(), 0, "device of the thread");
            },
        ),
        case(
            "device.set_device.switch",
            Setup::device0().devices(2),
            |t| {
                let (p, bytes) = t.filled(1000);
                t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
                let mut d = -77;
                t.ret(aclrtGetDevice(&raw mut d));
                t.eq(d, 1, "device");
                t.check(primary_is_active(t, 0), "device 0 keeps its reference");
                t.ok(aclrtSetDevice(0), "aclrtSetDevice(0)");
                t.holds(p, &bytes, "block of device 0");
            },
        ),
        case(
            "device.set_device.too_large",
            Setup::device0().devices(3),
            |t| {
                let n = device_count(t);
                t.eq(n, 3, "devices");
                t.ret(aclrtSetDevice(n as i32));
                t.eq(t.device(), 0, "device of the thread");
            },
        ),
        case(
            "device.set_device.visible_list",
            Setup::init()
                .devices(2)
                .env("ASCEND_RT_VISIBLE_DEVICES", "1"),
            |t| {
                t.ret(aclrtSetDevice(1));
                t.ok(aclrtSetDevice(0), "aclrtSetDevice(0)");
                let mut phy = -77;
                let code = aclrtGetPhyDevIdByUserDevId(0, &raw mut phy);
                t.ok(code, "aclrtGetPhyDevIdByUserDevId");
                t.eq(phy, 1, "physical id of user id 0");
            },
        ),
    ]
}

fn reset() -> Vec<Case> {
    vec![
        case("device.reset_device.bad_id", Setup::device0(), |t| {
            t.ret(aclrtResetDevice(-1));
            t.eq(t.device(), 0, "device of the thread");
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            t.usable(p, 64);
        }),
        case("device.reset_device.beyond_zero", Setup::device0(), |t| {
            t.ok(aclrtResetDevice(0), "first reset");
            t.ret(aclrtResetDevice(0));
            // The count did not go below zero: one set, one reset.
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            t.check(primary_is_active(t, 0), "the device is active again");
            t.ok(aclrtResetDevice(0), "reset");
            t.check(!primary_is_active(t, 0), "one reset undoes one set");
        }),
        case("device.reset_device.counted", Setup::device0(), |t| {
            t.ok(aclrtSetDevice(0), "second aclrtSetDevice");
            t.ok(aclrtResetDevice(0), "aclrtResetDevice");
            let mut p = SENTINEL;
            t.ret(aclrtMalloc(&raw mut p, 64, 0));
            t.usable(p, 64);
            t.ok(aclrtResetDevice(0), "last aclrtResetDevice");
            t.check(!primary_is_active(t, 0), "two resets undo two sets");
        }),
        case(
            "device.reset_device.last_tears_down",
            Setup::device0(),
            |t| {
                t.ret(aclrtResetDevice(0));
                t.has_no_context("allocation afterwards");
            },
        ),
        case(
            "device.reset_device.other_thread_ref",
            Setup::device0(),
            |t| {
                let b = Worker::new();
                b.run(|| t.ok(aclrtSetDevice(0), "B: aclrtSetDevice"));
                t.ok(aclrtResetDevice(0), "A: aclrtResetDevice");
                b.run(|| {
                    let mut p = SENTINEL;
                    t.ret(aclrtMalloc(&raw mut p, 64, 0));
                    t.usable(p, 64);
                });
            },
        ),
        case(
            "device.reset_force.after_counted_reset",
            Setup::device0(),
            |t| {
                t.ok(aclrtSetDevice(0), "second aclrtSetDevice");
                t.ok(aclrtResetDevice(0), "aclrtResetDevice");
                t.ret(aclrtResetDeviceForce(0));
                t.check(!primary_is_active(t, 0), "the reference is dropped");
                t.fails(aclrtResetDevice(0), NO_REFERENCE, "a further reset");
            },
        ),
        case("device.reset_force.bad_id", Setup::device0(), |t| {
            t.ret(aclrtResetDeviceForce(4096));
            t.eq(t.device(), 0, "device of the thread");
            t.check(primary_is_active(t, 0), "device 0 is untouched");
        }),
        case("device.reset_force.never_set", Setup::init(), |t| {
            // A value to be kept: an unusable device id is recorded.
            t.fails(aclrtSetDevice(-1), ERROR_DEVICE, "given failure");
            let before = aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
            t.ret(aclrtResetDeviceForce(0));
            let after = aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
            t.eq(after, before, "last-error value of the thread");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice afterwards");
        }),
        case("device.reset_force.twice", Setup::device0(), |t| {
            t.ok(aclrtResetDeviceForce(0), "first");
            t.ret(aclrtResetDeviceForce(0));
            t.check(!primary_is_active(t, 0), "the device stays reset");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice afterwards");
        }),
    ]
}

fn queries() -> Vec<Case> {
    vec![
        case("device.get_count.ok", Setup::fresh(), |t| {
            let mut n = 0;
            t.ret(aclrtGetDeviceCount(&raw mut n));
            t.check(n >= 1, "at least one device");
        }),
        case(
            "device.get_count.respects_visible",
            Setup::fresh()
                .devices(4)
                .env("ASCEND_RT_VISIBLE_DEVICES", "0,2"),
            |t| {
                let mut n = 77;
                t.ret(aclrtGetDeviceCount(&raw mut n));
                t.eq(n, 2, "devices");
            },
        ),
        case("device.get_device.none", Setup::init(), |t| {
            let mut d = -77;
            t.ret(aclrtGetDevice(&raw mut d));
            t.eq(d, -77, "output");
            t.eq(
                aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL),
                0,
                "last-error value",
            );
        }),
        case("device.get_device.null", Setup::device0(), |t| {
            t.ret(aclrtGetDevice(null_mut()));
        }),
        case("device.phy_id.negative", Setup::device0(), |t| {
            let mut p = -77;
            t.ret(aclrtGetPhyDevIdByLogicDevId(-1, &raw mut p));
            t.eq(p, -77, "output");
        }),
        case(
            "device.priority_range.nulls_allowed",
            Setup::device0(),
            |t| {
                t.ret(aclrtDeviceGetStreamPriorityRange(null_mut(), null_mut()));
                let (mut least, mut greatest) = (-77, -77);
                t.ok(
                    aclrtDeviceGetStreamPriorityRange(&raw mut least, null_mut()),
                    "greatest NULL",
                );
                t.ok(
                    aclrtDeviceGetStreamPriorityRange(null_mut(), &raw mut greatest),
                    "least NULL",
                );
                t.eq((least, greatest), (7, 0), "values");
            },
        ),
        case("device.priority_range.values", Setup::device0(), |t| {
            let (mut least, mut greatest) = (-77, -77);
            t.ret(aclrtDeviceGetStreamPriorityRange(
                &raw mut least,
                &raw mut greatest,
            ));
            t.eq((least, greatest), (7, 0), "values");
        }),
        case("device.run_mode.device", Setup::init().rc(), |t| {
            let mut m = -77;
            t.ret(aclrtGetRunMode(&raw mut m));
            t.eq(m, ACL_DEVICE, "run mode");
        }),
        case("device.run_mode.host", Setup::fresh(), |t| {
            let mut m = -77;
            t.ret(aclrtGetRunMode(&raw mut m));
            t.eq(m, ACL_HOST, "run mode");
        }),
        case("device.set_limit.value_too_big", Setup::device0(), |t| {
            t.ret(aclrtDeviceSetLimit(0, 0x1_0000_0000));
        }),
        case("device.status.bad_id", Setup::device0(), |t| {
            let mut s = -77;
            t.ret(aclrtQueryDeviceStatus(-1, &raw mut s));
            t.eq(s, -77, "output");
        }),
        case("device.status.null", Setup::device0(), |t| {
            t.ret(aclrtQueryDeviceStatus(0, null_mut()));
        }),
        case("device.ts_device.invalid", Setup::device0(), |t| {
            t.ret(aclrtSetTsDevice(ACL_TS_ID_RESERVED));
        }),
        case("device.util.extend_reserved", Setup::device0(), |t| {
            let mut info = utilisation(addr(1));
            t.ret(aclrtGetDeviceUtilizationRate(0, &raw mut info));
            t.eq(
                (info.cubeUtilization, info.memoryUtilization),
                (-77, -77),
                "outputs",
            );
        }),
        case(
            "device.util.memory_always_minus_one",
            Setup::device0(),
            |t| {
                let mut info = utilisation(null_mut());
                t.ret(aclrtGetDeviceUtilizationRate(0, &raw mut info));
                t.eq(info.memoryUtilization, -1, "memoryUtilization");
                for value in [
                    info.cubeUtilization,
                    info.vectorUtilization,
                    info.aicpuUtilization,
                ] {
                    t.check(
                        (-1..=100).contains(&value),
                        "a counter is -1 or a percentage",
                    );
                }
            },
        ),
    ]
}

fn utilisation(extend: *mut c_void) -> aclrtUtilizationInfo {
    aclrtUtilizationInfo {
        cubeUtilization: -77,
        vectorUtilization: -77,
        aicpuUtilization: -77,
        memoryUtilization: -77,
        utilizationExtend: extend.cast(),
    }
}

fn synchronise() -> Vec<Case> {
    vec![
        case("device.sync.none", Setup::init(), |t| {
            t.ret(aclrtSynchronizeDevice());
        }),
        case("device.sync_timeout.minus_two", Setup::device0(), |t| {
            t.ret(aclrtSynchronizeDeviceWithTimeout(-2));
        }),
        case("device.sync_timeout.zero", Setup::device0(), |t| {
            t.ret(aclrtSynchronizeDeviceWithTimeout(0));
        }),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.device.sync_idle", Setup::device0(), |t| {
            t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
            t.ok(aclrtSynchronizeDeviceWithTimeout(-1), "for ever");
            t.ok(aclrtSynchronizeDeviceWithTimeout(1), "one millisecond");
        }),
        case("x.device.sixteen", Setup::init().devices(16), |t| {
            t.eq(device_count(t), 16, "devices");
            let mut blocks = Vec::new();
            for device in 0..16 {
                t.ok(aclrtSetDevice(device), "aclrtSetDevice");
                let (p, bytes) = t.filled(4096);
                t.eq(
                    t.attributes(p).location.id,
                    device as u32,
                    "device of the block",
                );
                blocks.push((device, p, bytes));
            }
            for (device, p, bytes) in blocks {
                t.ok(aclrtSetDevice(device), "aclrtSetDevice");
                t.holds(p, &bytes, "block");
                t.ok(aclrtResetDevice(device), "aclrtResetDevice");
            }
        }),
        case(
            "x.device.pointers_lie_where_expected",
            Setup::init().devices(2),
            |t| {
                // Device i starts at 0x12c0_0000_0000 + i x 256 GiB.
                for device in 0..2 {
                    t.ok(aclrtSetDevice(device), "aclrtSetDevice");
                    let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST).addr();
                    let base = 0x12c0_0000_0000 + device as usize * 256 * GIB;
                    t.check(
                        (base..base + 256 * GIB).contains(&p),
                        &format!("block of device {device} at {p:#x}"),
                    );
                }
            },
        ),
        case(
            "x.device.overflow_mode_before_any_device",
            Setup::init().devices(2),
            |t| {
                let mode = || {
                    let mut mode = 77;
                    (aclrtGetDeviceSatMode(&raw mut mode), mode)
                };
                let unknown = aclrtSetDeviceSatMode(2);
                t.fails(unknown, 100_000, "an unknown mode");
                let early = aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN);
                t.ok(early, "aclrtSetDeviceSatMode without a device");
                for device in 0..2 {
                    t.ok(aclrtSetDevice(device), "aclrtSetDevice");
                    t.eq(mode(), (0, ACL_RT_OVERFLOW_MODE_INFNAN), "mode");
                }
                let one = aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION);
                t.ok(one, "aclrtSetDeviceSatMode on device 1");
                t.eq(mode(), (0, ACL_RT_OVERFLOW_MODE_SATURATION), "of device 1");
                t.ok(aclrtSetDevice(0), "aclrtSetDevice(0)");
                t.eq(mode(), (0, ACL_RT_OVERFLOW_MODE_INFNAN), "of device 0");
                // A thread whose device is gone is not one that never had a device.
                for _ in 0..2 {
                    t.ok(on_thread(|| aclrtResetDevice(0)), "aclrtResetDevice");
                }
                let late = aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION);
                t.fails(late, ERROR_CONTEXT, "after the reset");
            },
        ),
        case("x.device.reset_releases_memory", Setup::device0(), |t| {
            let before = t.pools();
            for size in [1, 5000, 3 * MIB] {
                t.malloc(size, ACL_MEM_MALLOC_HUGE_FIRST);
            }
            t.ok(aclrtResetDevice(0), "aclrtResetDevice");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            t.eq(t.pools(), before, "page pools of the fresh device");
        }),
        case("x.device.free_after_last_reset", Setup::device0(), |t| {
            let d = t.malloc(MIB, ACL_MEM_MALLOC_HUGE_FIRST);
            t.ok(aclrtResetDevice(0), "aclrtResetDevice");
            t.fails(aclrtFree(d), ERROR_PARAM, "aclrtFree after the last reset");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            t.fails(aclrtFree(d), ERROR_PARAM, "aclrtFree after a new set");
            let full = t.pools();
            t.eq(full.all.0, full.all.1, "free bytes of the empty card");
        }),
        case(
            "x.device.force_reset_releases_memory",
            Setup::device0(),
            |t| {
                t.ok(aclrtSetDevice(0), "second aclrtSetDevice");
                let d = t.malloc(MIB, ACL_MEM_MALLOC_HUGE_FIRST);
                t.ok(aclrtResetDeviceForce(0), "aclrtResetDeviceForce");
                t.has_no_context("allocation afterwards");
                t.fails(aclrtFree(d), ERROR_PARAM, "aclrtFree");
            },
        ),
        case(
            "x.device.host_memory_survives_reset",
            Setup::device0(),
            |t| {
                let h = t.malloc_host(5000);
                let bytes = t.random_bytes(5000);
                host_write(h, &bytes);
                t.ok(aclrtResetDevice(0), "aclrtResetDevice");
                t.same_bytes(&host_read(h, 5000), &bytes, "host block");
                t.ok(aclrtFreeHost(h), "aclrtFreeHost without a context");
                t.fails(aclrtFreeHost(h), ERROR_PARAM, "second release");
            },
        ),
        case(
            "x.device.reset_on_one_leaves_the_other",
            Setup::device0().devices(2),
            |t| {
                let (p, bytes) = t.filled(1000);
                t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
                t.ok(aclrtResetDevice(1), "aclrtResetDevice(1)");
                t.ok(aclrtSetDevice(0), "aclrtSetDevice(0)");
                t.holds(p, &bytes, "block of device 0");
            },
        ),
        case("x.device.status_normal", Setup::device0(), |t| {
            let mut s = -77;
            t.ok(
                aclrtQueryDeviceStatus(0, &raw mut s),
                "aclrtQueryDeviceStatus",
            );
            t.eq(s, ACL_RT_DEVICE_STATUS_NORMAL, "status");
        }),
        case("x.device.many_cycles", Setup::init(), |t| {
            for _ in 0..200 {
                t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                let p = t.malloc(100_000, ACL_MEM_MALLOC_HUGE_FIRST);
                t.usable(p, 1000);
                t.ok(aclrtResetDevice(0), "aclrtResetDevice");
            }
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            let pools = t.pools();
            t.eq(pools.all.0, pools.all.1, "free bytes of the empty card");
        }),
        case("x.device.bad_ids", Setup::device0(), |t| {
            for id in [-1, 1, 16, 4096, i32::MAX, i32::MIN] {
                t.fails_with(aclrtSetDevice(id), ERROR_DEVICE, "EE1003", "aclrtSetDevice");
                t.fails(aclrtResetDevice(id), ERROR_DEVICE, "aclrtResetDevice");
                t.fails(
                    aclrtResetDeviceForce(id),
                    ERROR_DEVICE,
                    "aclrtResetDeviceForce",
                );
                let mut c = SENTINEL;
                t.fails(
                    aclrtCreateContext(&raw mut c, id),
                    ERROR_DEVICE,
                    "aclrtCreateContext",
                );
                t.eq(c, SENTINEL, "output");
            }
            t.eq(t.device(), 0, "device of the thread");
        }),
    ]
}
