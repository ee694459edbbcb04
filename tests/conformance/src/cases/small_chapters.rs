//! Stream configurations of IPV350, compute groups of 310P, links of devices, the L2 cache, notifies for other
//! servers.

use super::support::*;

const NO_SUCH_DEVICE: i64 = ACL_ERROR_RT_INVALID_DEVICEID as i64;
const NO_CONTEXT: i64 = ACL_ERROR_RT_CONTEXT_NULL as i64;
const NO_GROUP: i64 = ACL_ERROR_RT_GROUP_NOT_CREATE as i64;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = stream_configurations();
    cases.extend(groups());
    cases.extend(devices());
    cases
}

fn ipv350() -> Setup {
    Setup::init()
        .profile("IPV350")
        .env("CANNERY_HBM_BYTES", "64M")
}

/// Sets a number as an attribute.
fn set<V>(handle: *mut aclrtStreamConfigHandle, attribute: i32, value: &V) -> aclError {
    let size = size_of_val(value);
    aclrtSetStreamConfigOpt(handle, attribute, std::ptr::from_ref(value).cast(), size)
}

fn stream_configurations() -> Vec<Case> {
    vec![
        case("x.stream_config.makes_streams", ipv350(), |t| {
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            t.create_context(0);
            let handle = aclrtCreateStreamConfigHandle();
            t.check(!handle.is_null(), "no configuration");
            let fields = |handle: *mut aclrtStreamConfigHandle| {
                #[allow(unsafe_code)] // A record that programs may read.
                // SAFETY: made by the call above and not destroyed yet.
                let record = unsafe { *handle };
                (
                    record.workptr as usize,
                    record.workSize,
                    record.flag,
                    record.priority,
                )
            };
            t.eq(fields(handle), (0, 0, 0, 0), "the defaults");
            let p = t.malloc(MIB, ACL_MEM_MALLOC_HUGE_FIRST);
            t.ok(
                set(handle, ACL_RT_STREAM_WORK_ADDR_PTR, &p),
                "the work memory",
            );
            t.ok(set(handle, ACL_RT_STREAM_WORK_SIZE, &MIB), "its size");
            t.ok(set(handle, ACL_RT_STREAM_FLAG, &0usize), "the flag");
            t.ok(set(handle, ACL_RT_STREAM_PRIORITY, &5u32), "the priority");
            t.eq(fields(handle), (p as usize, MIB, 0, 5), "what was set");
            let mut streams = [SENTINEL; 2];
            for s in &mut streams {
                t.ok(aclrtCreateStreamV2(s, handle), "aclrtCreateStreamV2");
            }
            t.check(streams[0] != streams[1], "one stream twice");
            t.ok(aclrtDestroyStreamConfigHandle(handle), "destroy");
            for s in streams {
                t.sync(s);
                t.ok(aclrtDestroyStream(s), "aclrtDestroyStream");
            }
            for gone in [handle, addr(64).cast(), null_mut()] {
                let mut s = SENTINEL;
                t.fails(
                    aclrtCreateStreamV2(&raw mut s, gone),
                    ERROR_FRONT,
                    "making a stream",
                );
                t.eq(s, SENTINEL, "output");
                t.fails(
                    aclrtDestroyStreamConfigHandle(gone),
                    ERROR_FRONT,
                    "destroying it",
                );
                let code = set(gone, ACL_RT_STREAM_PRIORITY, &1u32);
                t.fails(code, ERROR_FRONT, "setting its priority");
            }
        }),
        case("x.stream_config.values", ipv350(), |t| {
            let handle = aclrtCreateStreamConfigHandle();
            let bad = |code, what| t.fails(code, ERROR_FRONT, what);
            bad(set(handle, -1, &0u32), "attribute -1");
            bad(set(handle, 4, &0u32), "attribute 4");
            bad(set(handle, ACL_RT_STREAM_PRIORITY, &8u32), "priority 8");
            bad(
                set(handle, ACL_RT_STREAM_PRIORITY, &1u64),
                "a priority of 8 bytes",
            );
            bad(
                set(handle, ACL_RT_STREAM_WORK_SIZE, &1u32),
                "a size of 4 bytes",
            );
            bad(set(handle, ACL_RT_STREAM_FLAG, &1usize), "a reserved flag");
            bad(set(handle, ACL_RT_STREAM_FLAG, &[0u64; 9]), "72 bytes");
            let code = aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_PRIORITY, null(), 4);
            bad(code, "no value");
            bad(aclrtCreateStreamV2(null_mut(), handle), "no place");
            let mut s = SENTINEL;
            let code = aclrtCreateStreamV2(&raw mut s, handle);
            t.fails(code, NO_CONTEXT, "a thread without a context");
            t.ok(aclrtDestroyStreamConfigHandle(handle), "destroy");
        }),
        case("x.stream_config.products", Setup::device0(), |t| {
            t.check(
                aclrtCreateStreamConfigHandle().is_null(),
                "a configuration on 910B",
            );
            let text = t.pending_text("aclrtCreateStreamConfigHandle");
            t.check(
                text.contains("IPV350"),
                "the text names the product that has it",
            );
            let code = set(addr(64).cast(), ACL_RT_STREAM_PRIORITY, &1u32);
            t.fails(code, ERROR_UNSUPPORTED, "aclrtSetStreamConfigOpt");
        }),
    ]
}

fn groups() -> Vec<Case> {
    vec![
        case(
            "x.group.there_are_none",
            Setup::device0().profile("310P").env("CANNERY_MODE", "rc"),
            |t| {
                let mut count = 77;
                t.ok(aclrtGetGroupCount(&raw mut count), "aclrtGetGroupCount");
                t.eq(count, 0, "groups");
                t.fails(aclrtGetGroupCount(null_mut()), ERROR_FRONT, "no place");
                t.check(aclrtCreateGroupInfo().is_null(), "information on no groups");
                t.check(recent_text().is_some(), "no text");
                for id in [-1, 0, 1] {
                    t.fails(aclrtSetGroup(id), NO_GROUP, "choosing a group");
                }
                let invented = addr(4096).cast::<aclrtGroupInfo>();
                for (info, want) in [(null_mut(), ERROR_FRONT), (invented, ERROR_PARAM)] {
                    t.fails(aclrtGetAllGroupInfo(info), want, "aclrtGetAllGroupInfo");
                    t.fails(aclrtDestroyGroupInfo(info), want, "aclrtDestroyGroupInfo");
                    let (mut value, mut size) = (0u32, UNTOUCHED);
                    let at = (&raw mut value).cast();
                    let code = aclrtGetGroupInfoDetail(info, 0, 0, at, 4, &raw mut size);
                    t.fails(code, want, "aclrtGetGroupInfoDetail");
                    t.eq(size, UNTOUCHED, "output");
                }
            },
        ),
        case(
            "x.group.other_forms",
            Setup::device0().profile("310P"),
            |t| {
                let mut count = 77;
                t.fails(
                    aclrtGetGroupCount(&raw mut count),
                    ERROR_UNSUPPORTED,
                    "310P as a card",
                );
                t.eq(count, 77, "output");
                t.fails(aclrtSetGroup(0), ERROR_UNSUPPORTED, "310P as a card");
            },
        ),
        case("x.group.other_products", Setup::device0().rc(), |t| {
            t.fails(aclrtSetGroup(0), ERROR_UNSUPPORTED, "310B");
            t.check(aclrtCreateGroupInfo().is_null(), "information on 310B");
            t.check(recent_text().is_some(), "no text");
        }),
    ]
}

fn devices() -> Vec<Case> {
    vec![
        case(
            "x.device.links_are_not_known",
            Setup::init().devices(2),
            |t| {
                let mut link = 77;
                let at = &raw mut link;
                t.fails(
                    aclrtGetDevicesTopo(0, 1, at),
                    ERROR_UNSUPPORTED,
                    "two devices",
                );
                t.fails(aclrtGetDevicesTopo(0, 2, at), NO_SUCH_DEVICE, "device 2");
                t.fails(
                    aclrtGetDevicesTopo(u32::MAX, 0, at),
                    NO_SUCH_DEVICE,
                    "the largest id",
                );
                t.fails(
                    aclrtGetDevicesTopo(0, 1, null_mut()),
                    ERROR_FRONT,
                    "no place",
                );
                t.eq(link, 77, "output");
                let operation = ACL_RT_ATOMIC_OPERATION_INTEGER_ADD;
                let (mut mask, ask) = (77, &raw const operation);
                let host = |mask, ask, count, id| {
                    aclrtDeviceGetHostAtomicCapabilities(mask, ask, count, id)
                };
                t.fails(
                    host(&raw mut mask, ask, 1, 0),
                    ERROR_UNSUPPORTED,
                    "device and host",
                );
                t.fails(host(null_mut(), ask, 1, 0), ERROR_FRONT, "no place");
                t.fails(
                    host(&raw mut mask, null(), 1, 0),
                    ERROR_FRONT,
                    "no operations",
                );
                t.fails(host(&raw mut mask, ask, 0, 0), ERROR_FRONT, "none");
                t.fails(host(&raw mut mask, ask, 1, 2), NO_SUCH_DEVICE, "device 2");
                let mut peers =
                    |a, b| aclrtDeviceGetP2PAtomicCapabilities(&raw mut mask, ask, 1, a, b);
                t.fails(peers(0, 1), ERROR_UNSUPPORTED, "two devices");
                t.fails(peers(-1, 1), NO_SUCH_DEVICE, "device -1");
                t.fails(peers(0, 2), NO_SUCH_DEVICE, "device 2");
                t.eq(mask, 77, "output");
            },
        ),
        case("x.device.code_of_other_chips", Setup::init(), |t| {
            let ask = |name: &str| {
                let (name, mut answer) = (CString::new(name).expect("no NUL"), 77);
                let code = aclrtCheckArchCompatibility(name.as_ptr(), &raw mut answer);
                (i64::from(code), answer)
            };
            for name in [
                "Ascend910B3",
                "Ascend910B1",
                "ascend910b4",
                "Ascend910_9392",
            ] {
                t.eq(ask(name), (0, 1), name);
            }
            for name in [
                "Ascend910A",
                "Ascend910B",
                "Ascend310P3",
                "Ascend950PR",
                "Ascend035",
            ] {
                t.eq(ask(name), (0, 0), name);
            }
            for name in ["", "910B", "Ascend999"] {
                t.eq(ask(name), (ERROR_UNSUPPORTED, 77), name);
                t.check(recent_text().is_some(), "no text");
            }
            let mut answer = 77;
            let code = aclrtCheckArchCompatibility(null(), &raw mut answer);
            t.fails(code, ERROR_FRONT, "no name");
            let code = aclrtCheckArchCompatibility(c"Ascend910B3".as_ptr(), null_mut());
            t.fails(code, ERROR_FRONT, "no place");
        }),
        case("x.cache.l2_flush", Setup::device0(), |t| {
            let (p, bytes) = t.filled(MIB);
            t.ok(
                aclrtDeviceL2CacheFlush(null_mut()),
                "aclrtDeviceL2CacheFlush",
            );
            t.holds(p, &bytes, "memory after a flush");
            t.fails(
                aclrtDeviceL2CacheFlush(addr(1)),
                ERROR_FRONT,
                "a reserved argument",
            );
            on_thread(|| {
                t.fails(
                    aclrtDeviceL2CacheFlush(null_mut()),
                    NO_CONTEXT,
                    "no context",
                )
            });
        }),
        case(
            "x.notify.other_servers",
            Setup::device0().profile("A3"),
            |t| {
                let n = t.notify();
                let mut pid = std::process::id().cast_signed();
                let mut server = aclrtServerPid {
                    sdid: 0,
                    pid: &raw mut pid,
                    num: 1,
                };
                let allow = |n, servers, num| aclrtNotifySetImportPidInterServer(n, servers, num);
                let servers = &raw mut server;
                t.fails(
                    allow(n, servers, 1),
                    ERROR_PARAM,
                    "one that was not exported",
                );
                let mut key = [0; 65];
                let code = aclrtNotifyGetExportKey(n, key.as_mut_ptr(), key.len(), 0);
                t.ok(code, "aclrtNotifyGetExportKey");
                let mut other = SENTINEL;
                let import = |other| aclrtNotifyImportByKey(other, key.as_ptr(), 0);
                t.fails(
                    import(&raw mut other),
                    ERROR_PARAM,
                    "a process that is not listed",
                );
                t.fails(allow(null_mut(), servers, 1), ERROR_FRONT, "no notify");
                t.fails(allow(n, null_mut(), 1), ERROR_FRONT, "no servers");
                t.fails(allow(n, servers, 0), ERROR_PARAM, "no processes");
                t.ok(allow(n, servers, 1), "aclrtNotifySetImportPidInterServer");
                t.ok(import(&raw mut other), "a process that is listed");
                // What is recorded under one name is seen under the other.
                let (a, b) = (t.stream(), t.stream());
                t.ok(
                    aclrtWaitAndResetNotify(other, a, 0),
                    "aclrtWaitAndResetNotify",
                );
                let counter = t.counted(a);
                t.ok(aclrtRecordNotify(n, b), "aclrtRecordNotify");
                t.sync(a);
                t.eq(counter.calls(), 1, "calls behind the wait");
            },
        ),
        case("x.notify.other_servers_products", Setup::device0(), |t| {
            let mut server = aclrtServerPid {
                sdid: 0,
                pid: null_mut(),
                num: 0,
            };
            let code = aclrtNotifySetImportPidInterServer(t.notify(), &raw mut server, 1);
            t.check(code != 0, "910B has it");
            let _ = recent_text();
            let mut pid = 1;
            server.pid = &raw mut pid;
            server.num = 1;
            let code = aclrtNotifySetImportPidInterServer(t.notify(), &raw mut server, 1);
            t.fails(code, ERROR_UNSUPPORTED, "910B");
        }),
    ]
}
