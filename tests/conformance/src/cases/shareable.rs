//! Physical memory of another process, by a shareable handle.

use super::other_process::Other;
use super::support::*;

/// An output that no call wrote.
const NUMBER: u64 = 0x5ea1_5ea1_5ea1;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = export();
    cases.extend(import());
    cases.extend(lists());
    cases.extend(own());
    cases
}

fn property() -> aclrtPhysicalMemProp {
    aclrtPhysicalMemProp {
        handleType: ACL_MEM_HANDLE_TYPE_NONE,
        allocationType: ACL_MEM_ALLOCATION_TYPE_PINNED,
        memAttr: ACL_HBM_MEM_HUGE,
        location: aclrtMemLocation {
            id: 0,
            r#type: ACL_MEM_LOCATION_TYPE_DEVICE,
        },
        reserve: 0,
    }
}

/// 2 MiB of physical memory; NULL when there is none.
fn physical() -> aclrtDrvMemHandle {
    let (mut handle, property) = (null_mut(), property());
    let _ = aclrtMallocPhysical(&raw mut handle, HUGE_PAGE, &raw const property, 0);
    handle
}

/// Maps a handle into a reservation of its own; NULL when that fails.
fn mapped(handle: aclrtDrvMemHandle) -> *mut c_void {
    let mut v = null_mut();
    let made = aclrtReserveMemAddress(&raw mut v, HUGE_PAGE, 0, null_mut(), 0) == 0
        && aclrtMapMem(v, HUGE_PAGE, 0, handle, 0) == 0;
    if made { v } else { null_mut() }
}

fn shared(t: &T, handle: aclrtDrvMemHandle, flags: u64) -> u64 {
    let mut s = NUMBER;
    let none = ACL_MEM_HANDLE_TYPE_NONE;
    let code = aclrtMemExportToShareableHandle(handle, none, flags, &raw mut s);
    t.ok(code, "aclrtMemExportToShareableHandle");
    s
}

fn export() -> Vec<Case> {
    vec![
        case("vmm.export.flags_two", Setup::device0(), |t| {
            let mut s = NUMBER;
            let none = ACL_MEM_HANDLE_TYPE_NONE;
            t.ret(aclrtMemExportToShareableHandle(
                physical(),
                none,
                2,
                &raw mut s,
            ));
            t.eq(s, NUMBER, "output");
        }),
        case("vmm.export.handle_type", Setup::device0(), |t| {
            let mut s = NUMBER;
            let posix = ACL_MEM_HANDLE_TYPE_POSIX;
            t.ret(aclrtMemExportToShareableHandle(
                physical(),
                posix,
                0,
                &raw mut s,
            ));
            t.eq(s, NUMBER, "output");
        }),
        case("vmm.export.null_handle", Setup::device0(), |t| {
            let mut s = NUMBER;
            let none = ACL_MEM_HANDLE_TYPE_NONE;
            t.ret(aclrtMemExportToShareableHandle(
                null_mut(),
                none,
                0,
                &raw mut s,
            ));
            t.eq(s, NUMBER, "output");
        }),
        case("vmm.export_v2.flags_two", Setup::device0(), |t| {
            let mut s = NUMBER;
            let default = ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT;
            let out = (&raw mut s).cast();
            t.ret(aclrtMemExportToShareableHandleV2(
                physical(),
                2,
                default,
                out,
            ));
            t.eq(s, NUMBER, "output");
        }),
        case("vmm.export_v2.null_out", Setup::device0(), |t| {
            let default = ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT;
            t.ret(aclrtMemExportToShareableHandleV2(
                physical(),
                0,
                default,
                null_mut(),
            ));
        }),
    ]
}

/// In the other process: memory with a known pattern, as the bytes of a number.
fn make(flags: u64) -> Vec<u8> {
    let started = aclInit(null()) == 0 && aclrtSetDevice(0) == 0;
    if !started {
        return Vec::new();
    }
    let (handle, bytes, mut s) = (physical(), pattern(), 0u64);
    let v = mapped(handle);
    let none = ACL_MEM_HANDLE_TYPE_NONE;
    let made = aclrtMemcpy(
        v,
        HUGE_PAGE,
        src(&bytes),
        HUGE_PAGE,
        ACL_MEMCPY_HOST_TO_DEVICE,
    ) == 0
        && aclrtMemExportToShareableHandle(handle, none, flags, &raw mut s) == 0;
    if made {
        s.to_le_bytes().to_vec()
    } else {
        Vec::new()
    }
}

/// Bytes that both processes know.
fn pattern() -> Vec<u8> {
    let mut x = 0x2545_f491_4f6c_dd1d_u64;
    let next = |_| {
        x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        x.to_le_bytes()
    };
    (0..HUGE_PAGE / 8).flat_map(next).collect()
}

fn number(bytes: &[u8]) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(number)
}

fn begin(t: &T) {
    t.ok(aclInit(null()), "aclInit");
    t.ok(aclrtSetDevice(0), "aclrtSetDevice");
}

fn import() -> Vec<Case> {
    vec![
        case("vmm.import.bad_device", Setup::device0(), |t| {
            let s = shared(t, physical(), 1);
            let mut h = SENTINEL;
            t.ret(aclrtMemImportFromShareableHandle(
                s,
                9999,
                (&raw mut h).cast(),
            ));
            t.eq(h, SENTINEL, "output");
        }),
        case("vmm.import.null_out", Setup::device0(), |t| {
            let s = shared(t, physical(), 1);
            t.ret(aclrtMemImportFromShareableHandle(s, 0, null_mut()));
        }),
        case(
            "vmm.import.other_process_flag_disable",
            Setup::fresh(),
            |t| {
                let (_other, s) = Other::start(|| make(1));
                begin(t);
                let mut h = null_mut();
                t.ret(aclrtMemImportFromShareableHandle(number(&s), 0, &raw mut h));
                t.holds(mapped(h), &pattern(), "what the other process wrote");
            },
        ),
        case("vmm.import.other_process_no_pid", Setup::fresh(), |t| {
            let (_other, s) = Other::start(|| make(0));
            begin(t);
            let mut h = SENTINEL;
            t.ret(aclrtMemImportFromShareableHandle(
                number(&s),
                0,
                (&raw mut h).cast(),
            ));
            t.eq(h, SENTINEL, "output");
        }),
        case("vmm.import_v2.bad_type", Setup::device0(), |t| {
            let mut s = shared(t, physical(), 1);
            let mut h = SENTINEL;
            let (s, h_out) = ((&raw mut s).cast(), (&raw mut h).cast());
            t.ret(aclrtMemImportFromShareableHandleV2(s, 7, 0, h_out));
            t.eq(h, SENTINEL, "output");
        }),
        case("vmm.import_v2.flags", Setup::device0(), |t| {
            let mut s = shared(t, physical(), 1);
            let mut h = SENTINEL;
            let (s, h_out) = ((&raw mut s).cast(), (&raw mut h).cast());
            let default = ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT;
            t.ret(aclrtMemImportFromShareableHandleV2(s, default, 1, h_out));
            t.eq(h, SENTINEL, "output");
        }),
    ]
}

fn lists() -> Vec<Case> {
    vec![
        case("vmm.set_pid.null", Setup::device0(), |t| {
            let s = shared(t, physical(), 0);
            t.ret(aclrtMemSetPidToShareableHandle(s, null_mut(), 1));
        }),
        case("vmm.set_pid_v2.zero", Setup::device0(), |t| {
            let (mut s, mut pid) = (shared(t, physical(), 0), 1);
            let default = ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT;
            let s = (&raw mut s).cast();
            t.ret(aclrtMemSetPidToShareableHandleV2(
                s,
                default,
                &raw mut pid,
                0,
            ));
        }),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.vmm.export.once", Setup::device0(), |t| {
            let handle = physical();
            let v = mapped(handle);
            let bytes = t.random_bytes(HUGE_PAGE);
            t.upload(v, &bytes);
            let s = t.charges_nothing(|| shared(t, handle, 1));
            t.holds(v, &bytes, "after the export");
            let (mut again, mut h) = (NUMBER, SENTINEL);
            let none = ACL_MEM_HANDLE_TYPE_NONE;
            let code = aclrtMemExportToShareableHandle(handle, none, 1, &raw mut again);
            t.fails(code, ERROR_PARAM, "a second export");
            t.eq(again, NUMBER, "output");
            let code = aclrtMemImportFromShareableHandle(s, 0, (&raw mut h).cast());
            t.fails(code, ERROR_PARAM, "importing in the exporting process");
            t.eq(h, SENTINEL, "output");
            let mut pid = 1;
            let listed = aclrtMemSetPidToShareableHandle(s, &raw mut pid, 1);
            t.ok(listed, "aclrtMemSetPidToShareableHandle");
            // Freed, but mapped: the export lives as long as the memory does.
            t.ok(aclrtFreePhysical(handle), "aclrtFreePhysical");
            let listed = aclrtMemSetPidToShareableHandle(s, &raw mut pid, 1);
            t.ok(listed, "listing for a handle that is mapped");
            t.holds(v, &bytes, "after the handle was freed");
            t.ok(aclrtUnmapMem(v), "aclrtUnmapMem");
            let listed = aclrtMemSetPidToShareableHandle(s, &raw mut pid, 1);
            t.fails(listed, ERROR_PARAM, "listing for what is gone");
        }),
        case("x.vmm.export.stale_handles", Setup::device0(), |t| {
            let handle = physical();
            t.ok(aclrtFreePhysical(handle), "aclrtFreePhysical");
            let none = ACL_MEM_HANDLE_TYPE_NONE;
            for h in [handle, addr(0x1234).cast(), addr(usize::MAX).cast()] {
                let mut s = NUMBER;
                let code = aclrtMemExportToShareableHandle(h, none, 1, &raw mut s);
                t.fails(code, ERROR_PARAM, &format!("exporting {h:?}"));
                t.eq(s, NUMBER, "output");
            }
        }),
        case("x.vmm.import.bad_numbers", Setup::device0(), |t| {
            let s = shared(t, physical(), 1);
            for number in [0, 1, s ^ 1, s ^ 1 << 41, s ^ 1 << 42, !s, u64::MAX] {
                let mut h = SENTINEL;
                let code = aclrtMemImportFromShareableHandle(number, 0, (&raw mut h).cast());
                t.fails(code, ERROR_PARAM, &format!("importing {number:#x}"));
                t.eq(h, SENTINEL, "output");
                let mut pid = 1;
                let code = aclrtMemSetPidToShareableHandle(number, &raw mut pid, 1);
                t.fails(code, ERROR_PARAM, &format!("listing for {number:#x}"));
            }
        }),
        case("x.vmm.fabric.only_a3", Setup::device0(), |t| {
            let (handle, mut s) = (physical(), [0x77u8; 128]);
            let fabric = ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
            let out = s.as_mut_ptr().cast();
            let code = aclrtMemExportToShareableHandleV2(handle, 1, fabric, out);
            t.fails(code, ERROR_UNSUPPORTED, "exporting");
            t.eq(s, [0x77; 128], "output");
            let mut h = SENTINEL;
            let out = s.as_mut_ptr().cast();
            let code = aclrtMemImportFromShareableHandleV2(out, fabric, 0, (&raw mut h).cast());
            t.fails(code, ERROR_UNSUPPORTED, "importing");
        }),
        case("x.vmm.fabric.a3", Setup::device0().profile("A3"), |t| {
            let (handle, mut s) = (physical(), [0u8; 128]);
            let fabric = ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
            let out = s.as_mut_ptr().cast();
            let code = aclrtMemExportToShareableHandleV2(handle, 0, fabric, out);
            t.ok(code, "aclrtMemExportToShareableHandleV2");
            let mut pid = 1;
            for (at, good) in [
                (None, true),
                (Some(0), false),
                (Some(20), false),
                (Some(127), false),
            ] {
                let mut bytes = s;
                if let Some(at) = at {
                    bytes[at] ^= 1;
                }
                let handle = bytes.as_mut_ptr().cast();
                let code = aclrtMemSetPidToShareableHandleV2(handle, fabric, &raw mut pid, 1);
                if good {
                    t.ok(code, "listing");
                } else {
                    t.fails(code, ERROR_PARAM, "listing for a forged handle");
                }
            }
        }),
        case("x.vmm.export.rc_310b", Setup::device0().rc(), |t| {
            let mut s = NUMBER;
            let none = ACL_MEM_HANDLE_TYPE_NONE;
            let handle = addr(0xca_0000_0000_0010).cast();
            let code = aclrtMemExportToShareableHandle(handle, none, 0, &raw mut s);
            t.fails(code, ERROR_UNSUPPORTED, "exporting");
        }),
    ]
}
