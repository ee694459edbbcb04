//! Texts about arguments: which one, its value, what it is, and what was expected in its place.

use super::other_process::Other;
use super::registered::Pages;
use super::support::*;
use super::texts::both;
use super::virtual_memory::property_at;

/// Bytes of a copy.
const LEN: usize = 4 * KIB;

pub(super) fn cases() -> Vec<Case> {
    let mut list = registering();
    list.extend(copying());
    list.extend(pointers());
    list
}

fn registering() -> Vec<Case> {
    let mut list = Vec::new();
    both!(list, "x.text.unaligned", Setup::device0(), |t| {
        // F54, F63: which argument, by how much, and the range that would do.
        let pages = Pages::new(MIB + 8 * KIB);
        let mut d = SENTINEL;
        let odd = pages.at_byte(64);
        t.code(
            aclrtHostRegister(odd, MIB as u64, ACL_HOST_REGISTER_MAPPED, &raw mut d),
            ERROR_PARAM,
            "an odd address",
        );
        t.carries(
            "an odd address",
            &[
                &"aclrtHostRegister",
                &"ptr",
                &format!("{odd:?}"),
                &64,
                &4096,
                &(MIB + 4 * KIB),
                &format!("{:?}", pages.p),
            ],
        );
        t.code(
            aclrtHostRegister(
                pages.p,
                MIB as u64 + 1,
                ACL_HOST_REGISTER_MAPPED,
                &raw mut d,
            ),
            ERROR_PARAM,
            "an odd size",
        );
        t.carries(
            "an odd size",
            &[&"size", &(MIB + 1), &4096, &(MIB + 4 * KIB)],
        );
    });
    both!(list, "x.text.overlap", Setup::device0(), |t| {
        // C26: the existing range, and how to end it.
        let pages = Pages::new(MIB);
        t.register(pages.p, MIB);
        let mut d = SENTINEL;
        let inside = pages.at_byte(4 * KIB);
        let code = aclrtHostRegister(inside, 4096, ACL_HOST_REGISTER_MAPPED, &raw mut d);
        t.check(code != 0, "an overlap");
        t.carries(
            "an overlap",
            &[
                &4096,
                &MIB,
                &format!("{:?}", pages.p),
                &"aclrtHostUnregister",
            ],
        );
        t.unregister(pages.p);
        t.check(aclrtHostUnregister(pages.p) != 0, "a second end");
        t.carries(
            "a second end",
            &[&"aclrtHostUnregister", &format!("{:?}", pages.p)],
        );
    });
    both!(
        list,
        "x.text.what_a_product_lacks",
        Setup::device0().profile("310P"),
        |t| {
            // F73: what lacks it, and which products have it.
            let mut p = SENTINEL;
            let code = aclrtMemAllocManaged(&raw mut p, MIB as u64, 1);
            t.code(code, ERROR_UNSUPPORTED, "managed memory");
            t.carries(
                "managed memory",
                &[&"aclrtMemAllocManaged", &"310P", &"910B", &"A3"],
            );
            let code = aclrtMalloc(&raw mut p, GIB, ACL_MEM_MALLOC_HUGE1G_ONLY);
            t.check(code != 0, "1 GiB pages");
            t.carries(
                "1 GiB pages",
                &[
                    &"aclrtMalloc",
                    &"310P",
                    &"910B",
                    &"ACL_MEM_MALLOC_HUGE_FIRST",
                ],
            );
        }
    );
    list
}

fn copying() -> Vec<Case> {
    let mut list = Vec::new();
    both!(list, "x.text.copy_kind", Setup::device0(), |t| {
        // F93, F95: both pointers, what each is, the constant that was given and the right one.
        let (d, old) = t.filled(LEN);
        let heap = vec![7_u8; LEN];
        let mut back = vec![9_u8; LEN];
        let s = t.stream();
        let shown = |p: *const c_void| format!("{p:?}");
        let code = aclrtMemcpyAsync(d, LEN, src(&heap), LEN, ACL_MEMCPY_DEVICE_TO_HOST, s);
        t.code(code, ERROR_PARAM, "to the device");
        t.carries(
            "to the device",
            &[
                &"aclrtMemcpyAsync",
                &"kind",
                &shown(d),
                &shown(src(&heap)),
                &"ACL_MEMCPY_DEVICE_TO_HOST",
                &2,
                &"ACL_MEMCPY_HOST_TO_DEVICE",
                &1,
            ],
        );
        let to = dst(&mut back);
        let code = aclrtMemcpyAsync(to, LEN, d, LEN, ACL_MEMCPY_HOST_TO_HOST, s);
        t.code(code, ERROR_PARAM, "to the host");
        t.carries(
            "to the host",
            &[
                &shown(to),
                &shown(d),
                &"ACL_MEMCPY_HOST_TO_HOST",
                &0,
                &"ACL_MEMCPY_DEVICE_TO_HOST",
                &2,
            ],
        );
        let code = aclrtMemcpyAsync(to, LEN, src(&heap), LEN, ACL_MEMCPY_DEFAULT, s);
        t.code(code, ERROR_UNSUPPORTED, "from host to host");
        t.carries(
            "from host to host",
            &[&shown(to), &shown(src(&heap)), &"aclrtMemcpy"],
        );
        t.holds(d, &old, "the device");
        t.eq(back, vec![9; LEN], "the host");
    });
    both!(list, "x.text.too_far", Setup::device0(), |t| {
        let d = t.malloc(100, ACL_MEM_MALLOC_NORMAL_ONLY);
        t.code(aclrtMemset(d, 400, 0, 400), ERROR_PARAM, "code");
        let beyond = 400 - padded(100);
        t.carries(
            "beyond the block",
            &[
                &"aclrtMemset",
                &"devPtr",
                &format!("{d:?}"),
                &400,
                &beyond,
                &"aclrtMalloc",
                &100,
                &padded(100),
            ],
        );
    });
    both!(list, "x.text.no_link", Setup::fresh().devices(2), |t| {
        // F128: from which device to which there is no access, and the call that gives it.
        let (_other, key) = Other::start(export_of_device_1);
        t.ok(aclInit(null()), "aclInit");
        t.ok(aclrtSetDevice(0), "aclrtSetDevice");
        let key = CString::new(key).unwrap_or_default();
        let mut v = SENTINEL;
        let code = aclrtIpcMemImportByKey(&raw mut v, key.as_ptr(), 0);
        t.check(code != 0, "an import without access");
        t.carries(
            "the import",
            &[
                &"aclrtIpcMemImportByKey",
                &1,
                &0,
                &"aclrtDeviceEnablePeerAccess",
            ],
        );
        t.ok(
            aclrtDeviceEnablePeerAccess(1, 0),
            "aclrtDeviceEnablePeerAccess",
        );
        t.ok(
            aclrtIpcMemImportByKey(&raw mut v, key.as_ptr(), 0),
            "the way out",
        );
    });
    list
}

/// Runs in another process: a key of memory on device 1, for everybody.
fn export_of_device_1() -> Vec<u8> {
    let mut p = SENTINEL;
    let mut key = [0 as core::ffi::c_char; 65];
    let done = aclInit(null()) == 0
        && aclrtSetDevice(1) == 0
        && aclrtMalloc(&raw mut p, HUGE_PAGE, ACL_MEM_MALLOC_HUGE_ONLY) == 0
        && aclrtIpcMemGetExportKey(p, HUGE_PAGE, key.as_mut_ptr(), key.len(), 1) == 0;
    let bytes = key.iter().take_while(|c| **c != 0).map(|c| *c as u8);
    if done { bytes.collect() } else { Vec::new() }
}

fn pointers() -> Vec<Case> {
    let mut list = Vec::new();
    both!(list, "x.text.wrong_family", Setup::device0(), |t| {
        // C16, C20: what the pointer is, and the function that releases it.
        let h = t.malloc_host(4 * KIB);
        t.code(aclrtFree(h), ERROR_PARAM, "host memory");
        t.carries(
            "host memory",
            &[&"aclrtFree", &"aclrtMallocHost", &"aclrtFreeHost"],
        );
        let d = t.malloc(4 * KIB, ACL_MEM_MALLOC_NORMAL_ONLY);
        t.check(aclrtFreeHost(d) != 0, "device memory");
        t.carries(
            "device memory",
            &[&"aclrtFreeHost", &"aclrtMalloc", &"aclrtFree"],
        );
        t.code(aclrtFree(off(d, 64)), ERROR_PARAM, "inside");
        t.carries(
            "inside",
            &[
                &format!("{:?}", off(d, 64)),
                &64,
                &(4 * KIB),
                &format!("{d:?}"),
            ],
        );
        let memory = CMemory::new(4 * KIB);
        t.check(aclrtFree(memory.p) != 0, "memory of C");
        t.carries("memory of C", &[&"aclrtFree", &"devPtr"]);
        memory.check_still_owned(t);
        t.free_host(h);
        t.free(d);
    });
    both!(list, "x.text.kind_of_host_memory", Setup::device0(), |t| {
        // F73, and C28: host memory behind a mapping in the device window is host memory.
        let property = property_at(ACL_MEM_HUGE, ACL_MEM_LOCATION_TYPE_HOST, 0);
        let mut h = SENTINEL;
        let code = aclrtMallocPhysical(&raw mut h, 2 * MIB, &raw const property, 0);
        if code == 0 {
            let v = t.reserve(2 * MIB);
            t.map(v, 2 * MIB, h);
            t.eq(
                t.attributes(v).location.r#type,
                ACL_MEM_LOCATION_TYPE_HOST,
                "kind",
            );
            t.unmap(v);
            t.free_physical(h);
            t.release(v);
        } else {
            t.carries("host memory", &[&"aclrtMallocPhysical"]);
        }
    });
    list
}
