//! Device memory of another process, by a key.

use std::ffi::CStr;

use super::other_process::Other;
use super::support::*;

/// Room for a key.
const KEY: usize = 65;

/// A key with its end.
type Key = [core::ffi::c_char; KEY];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = export();
    cases.extend(import());
    cases.extend(close());
    cases.extend(lists());
    cases.extend(own());
    cases
}

fn a3() -> Setup {
    Setup::device0().profile("A3")
}

/// A block of whole huge pages with random bytes.
fn huge(t: &T) -> (*mut c_void, Vec<u8>) {
    let p = t.malloc(HUGE_PAGE, ACL_MEM_MALLOC_HUGE_ONLY);
    let bytes = t.random_bytes(HUGE_PAGE);
    t.upload(p, &bytes);
    (p, bytes)
}

/// The key of a block, for everybody.
fn key_of(t: &T, p: *mut c_void, size: usize) -> Key {
    let mut key = [0x77; KEY];
    let code = aclrtIpcMemGetExportKey(p, size, key.as_mut_ptr(), KEY, 1);
    t.ok(code, "aclrtIpcMemGetExportKey");
    key
}

fn imported(t: &T, key: &Key) -> *mut c_void {
    let mut v = SENTINEL;
    let code = aclrtIpcMemImportByKey(&raw mut v, key.as_ptr(), 0);
    t.ok(code, "aclrtIpcMemImportByKey");
    v
}

/// An export that must fail and leave the room for the key alone.
fn refused(t: &T, p: *mut c_void, size: usize, len: usize, flags: u64) {
    let mut key = [0x77; KEY];
    t.ret(aclrtIpcMemGetExportKey(
        p,
        size,
        key.as_mut_ptr(),
        len,
        flags,
    ));
    t.eq(key, [0x77; KEY], "output");
}

fn is_device_memory(t: &T, p: *const c_void) -> bool {
    t.attributes(p).location.r#type == ACL_MEM_LOCATION_TYPE_DEVICE
}

fn export() -> Vec<Case> {
    vec![
        case("ipc.export.bad_flags", Setup::device0(), |t| {
            refused(t, huge(t).0, HUGE_PAGE, KEY, 2);
        }),
        case("ipc.export.interior", Setup::device0(), |t| {
            refused(t, off(huge(t).0, 4 * KIB), 4 * KIB, KEY, 1);
        }),
        case("ipc.export.len_zero", Setup::device0(), |t| {
            refused(t, huge(t).0, 64, 0, 0);
        }),
        case("ipc.export.no_context", Setup::init(), |t| {
            refused(t, addr(0x12d0_0000_0000), HUGE_PAGE, KEY, 0);
        }),
        case("ipc.export.ok", Setup::device0(), |t| {
            let (p, bytes) = huge(t);
            let mut key = [0x77; KEY];
            t.ret(aclrtIpcMemGetExportKey(
                p,
                HUGE_PAGE,
                key.as_mut_ptr(),
                KEY,
                1,
            ));
            t.check(key.contains(&0), "the key has no end");
            t.holds(p, &bytes, "the block");
            t.free(p);
        }),
        case("ipc.export.short_len", Setup::device0(), |t| {
            refused(t, huge(t).0, HUGE_PAGE, 10, 1);
        }),
        case("ipc.export.size_zero", Setup::device0(), |t| {
            refused(t, huge(t).0, 0, KEY, 0);
        }),
        case("ipc.export.unaligned", Setup::device0(), |t| {
            // Of two small neighbours one at least does not begin a page.
            let blocks = [64, 64].map(|size| t.malloc(size, ACL_MEM_MALLOC_NORMAL_ONLY));
            let p = blocks
                .into_iter()
                .find(|p| !p.addr().is_multiple_of(4 * KIB));
            refused(
                t,
                p.unwrap_or_else(|| abort("both begin a page")),
                64,
                KEY,
                1,
            );
        }),
    ]
}

/// In the other process: a key of 2 MiB, and what is in it.
fn make(flags: u64, allowed: Option<i32>) -> Vec<u8> {
    let started = aclInit(null()) == 0 && aclrtSetDevice(0) == 0;
    let (mut p, bytes) = (null_mut(), pattern());
    let mut key = [0; KEY];
    let made = started
        && aclrtMalloc(&raw mut p, HUGE_PAGE, ACL_MEM_MALLOC_HUGE_ONLY) == 0
        && aclrtMemcpy(
            p,
            HUGE_PAGE,
            src(&bytes),
            HUGE_PAGE,
            ACL_MEMCPY_HOST_TO_DEVICE,
        ) == 0
        && aclrtIpcMemGetExportKey(p, HUGE_PAGE, key.as_mut_ptr(), KEY, flags) == 0
        && allowed
            .is_none_or(|mut pid| aclrtIpcMemSetImportPid(key.as_ptr(), &raw mut pid, 1) == 0);
    if made {
        key.map(i8::cast_unsigned).to_vec()
    } else {
        Vec::new()
    }
}

/// Bytes that both processes know.
fn pattern() -> Vec<u8> {
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    let next = |_| {
        x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        x.to_le_bytes()
    };
    (0..HUGE_PAGE / 8).flat_map(next).collect()
}

fn as_key(bytes: &[u8]) -> Key {
    let mut key = [0; KEY];
    for (to, from) in key.iter_mut().zip(bytes) {
        *to = from.cast_signed();
    }
    key
}

fn begin(t: &T) {
    t.ok(aclInit(null()), "aclInit");
    t.ok(aclrtSetDevice(0), "aclrtSetDevice");
}

fn import() -> Vec<Case> {
    vec![
        case("ipc.import.bad_flags", Setup::device0(), |t| {
            let key = key_of(t, huge(t).0, HUGE_PAGE);
            not_imported(t, key.as_ptr(), 2);
        }),
        case("ipc.import.no_context", Setup::init(), |t| {
            not_imported(t, c"1-00000000000000000000000000000000".as_ptr(), 0);
        }),
        case("ipc.import.null_key", Setup::device0(), |t| {
            not_imported(t, null(), 0);
        }),
        case("ipc.import.null_out", Setup::device0(), |t| {
            let key = key_of(t, huge(t).0, HUGE_PAGE);
            t.ret(aclrtIpcMemImportByKey(null_mut(), key.as_ptr(), 0));
        }),
        case("ipc.import.pid_not_listed", Setup::fresh(), |t| {
            let (_other, key) = Other::start(|| make(0, None));
            begin(t);
            not_imported(t, as_key(&key).as_ptr(), 0);
        }),
        case("ipc.import.unknown_key", Setup::device0(), |t| {
            not_imported(t, c"no_such_key".as_ptr(), 0);
        }),
    ]
}

fn not_imported(t: &T, key: *const core::ffi::c_char, flags: u64) {
    let mut v = SENTINEL;
    t.ret(aclrtIpcMemImportByKey(&raw mut v, key, flags));
    t.eq(v, SENTINEL, "output");
}

fn close() -> Vec<Case> {
    vec![
        case("ipc.close.exporter", Setup::device0(), |t| {
            let (p, bytes) = huge(t);
            let key = key_of(t, p, HUGE_PAGE);
            t.ret(aclrtIpcMemClose(key.as_ptr()));
            let mut v = SENTINEL;
            let code = aclrtIpcMemImportByKey(&raw mut v, key.as_ptr(), 0);
            t.fails(code, ERROR_PARAM, "importing a closed key");
            t.holds(p, &bytes, "the block");
            t.free(p);
        }),
        case("ipc.close.importer_oldest_first", Setup::device0(), |t| {
            let (p, bytes) = huge(t);
            let key = key_of(t, p, HUGE_PAGE);
            let (v1, v2) = (imported(t, &key), imported(t, &key));
            t.ret(aclrtIpcMemClose(key.as_ptr()));
            t.check(!is_device_memory(t, v1), "the first import is still there");
            t.holds(v2, &bytes, "the second import");
            t.ok(aclrtIpcMemClose(key.as_ptr()), "closing the second import");
            t.check(!is_device_memory(t, v2), "the second import is still there");
            t.holds(imported(t, &key), &bytes, "an import after that");
        }),
        case("ipc.close.no_context", Setup::init(), |t| {
            t.ret(aclrtIpcMemClose(
                c"1-00000000000000000000000000000000".as_ptr(),
            ));
        }),
        case("ipc.close.null", Setup::device0(), |t| {
            t.ret(aclrtIpcMemClose(null()));
        }),
    ]
}

fn lists() -> Vec<Case> {
    vec![
        case("ipc.set_import_pid.null_pid", Setup::device0(), |t| {
            let key = key_of(t, huge(t).0, HUGE_PAGE);
            t.ret(aclrtIpcMemSetImportPid(key.as_ptr(), null_mut(), 1));
        }),
        case("ipc.import_pid_inter.null_key", a3(), |t| {
            let mut servers = server(&mut 1);
            t.ret(aclrtIpcMemImportPidInterServer(null(), &raw mut servers, 1));
        }),
        case("ipc.import_pid_inter.zero", a3(), |t| {
            let key = key_of(t, huge(t).0, HUGE_PAGE);
            let mut servers = server(&mut 1);
            t.ret(aclrtIpcMemImportPidInterServer(
                key.as_ptr(),
                &raw mut servers,
                0,
            ));
        }),
        case("ipc.set_attr.bad_type", a3(), |t| {
            let key = key_of(t, huge(t).0, HUGE_PAGE);
            t.ret(aclrtIpcMemSetAttr(key.as_ptr(), 1, 0));
        }),
        case("ipc.set_attr.null_key", a3(), |t| {
            t.ret(aclrtIpcMemSetAttr(
                null(),
                ACL_RT_IPC_MEM_ATTR_ACCESS_LINK,
                0,
            ));
        }),
    ]
}

fn server(pid: &mut i32) -> aclrtServerPid {
    aclrtServerPid {
        sdid: 0,
        pid,
        num: 1,
    }
}

fn own() -> Vec<Case> {
    vec![
        case("x.ipc.listed_process", Setup::fresh(), |t| {
            // A process that is forked has its parent's number to list.
            let (other, key) = Other::start(|| make(0, Some(parent())));
            begin(t);
            let key = as_key(&key);
            let v = imported(t, &key);
            t.check(other.pid() > 0, "the other process is gone");
            t.holds(v, &pattern(), "what the other process wrote");
            t.eq(t.range(v), (v, HUGE_PAGE), "range");
            t.fails(aclrtFree(v), ERROR_PARAM, "aclrtFree of an import");
            let again = [7; 64];
            t.upload(off(v, HUGE_PAGE - 64), &again);
            t.fails(
                aclrtMemcpy(
                    off(v, HUGE_PAGE - 63),
                    64,
                    src(&again),
                    64,
                    ACL_MEMCPY_HOST_TO_DEVICE,
                ),
                ERROR_PARAM,
                "a copy beyond the end",
            );
            t.ok(aclrtIpcMemClose(key.as_ptr()), "aclrtIpcMemClose");
            t.fails(aclrtIpcMemClose(key.as_ptr()), ERROR_PARAM, "closing again");
        }),
        case("x.ipc.bad_keys", Setup::device0(), |t| {
            let key = key_of(t, huge(t).0, HUGE_PAGE);
            #[allow(unsafe_code)] // Text out of a buffer of C.
            // SAFETY: the call ended it.
            let text = unsafe { CStr::from_ptr(key.as_ptr()) }
                .to_string_lossy()
                .into_owned();
            let (pid, digits) = text.split_once('-').unwrap_or_default();
            let bad = [
                String::new(),
                "x".repeat(5000),
                format!("{pid}-{}", &digits[1..]),
                format!("1-{digits}"),
                format!("4194304-{digits}"),
                format!("-{pid}-{digits}"),
                format!("{pid}-{}", "0".repeat(32)),
                "../../etc/passwd".to_owned(),
            ];
            for text in bad {
                let name = CString::new(text.clone()).unwrap_or_default();
                let mut v = SENTINEL;
                let code = aclrtIpcMemImportByKey(&raw mut v, name.as_ptr(), 0);
                t.fails_with(
                    code,
                    ERROR_PARAM,
                    "EE1011 func=aclrtIpcMemImportByKey",
                    &text,
                );
                t.eq(v, SENTINEL, "output");
                t.fails(aclrtIpcMemClose(name.as_ptr()), ERROR_PARAM, &text);
                let mut pid = 1;
                let code = aclrtIpcMemSetImportPid(name.as_ptr(), &raw mut pid, 1);
                t.fails(code, ERROR_PARAM, &text);
            }
        }),
        case("x.ipc.what_is_no_block", Setup::device0(), |t| {
            let (p, _) = huge(t);
            let host = t.malloc_host(MIB);
            let small = t.malloc(64, ACL_MEM_MALLOC_NORMAL_ONLY);
            let mut media = null_mut();
            t.ok(acldvppMalloc(&raw mut media, MIB), "acldvppMalloc");
            let freed = huge(t).0;
            t.free(freed);
            let mut key = [0x77; KEY];
            for (what, at, size) in [
                ("host memory", host, MIB),
                ("media memory", media, MIB),
                ("a small block", small, 64),
                ("a released block", freed, HUGE_PAGE),
                ("a wild address", addr(0x1234_5000), 4 * KIB),
                ("more than the block", p, 64 * MIB),
                ("all there is", p, usize::MAX),
            ] {
                let code = aclrtIpcMemGetExportKey(at, size, key.as_mut_ptr(), KEY, 1);
                t.fails(code, ERROR_PARAM, what);
            }
            for (what, at, to) in [
                ("no address", null_mut(), key.as_mut_ptr()),
                ("no room", p, null_mut()),
            ] {
                t.fails(
                    aclrtIpcMemGetExportKey(at, 64, to, KEY, 1),
                    ERROR_FRONT,
                    what,
                );
            }
            t.eq(key, [0x77; KEY], "output");
        }),
        case("x.ipc.text_names_the_way", Setup::device0(), |t| {
            let v = imported(t, &key_of(t, huge(t).0, HUGE_PAGE));
            for (what, at, word) in [
                ("an import", v, "the key on by which"),
                ("host memory", t.malloc_host(MIB), "aclrtMalloc"),
                (
                    "a small block",
                    t.malloc(64, ACL_MEM_MALLOC_NORMAL_ONLY),
                    "HUGE_ONLY",
                ),
            ] {
                let mut key = [0x77; KEY];
                let code = aclrtIpcMemGetExportKey(at, 64, key.as_mut_ptr(), KEY, 1);
                t.eq(i64::from(code), ERROR_PARAM, what);
                let text = t.pending_text(what);
                t.check(text.contains(word), &format!("{what}: {text}"));
            }
        }),
        case("x.ipc.keys_of_one_block", Setup::device0(), |t| {
            let (p, bytes) = huge(t);
            let keys = [key_of(t, p, HUGE_PAGE), key_of(t, p, 4 * KIB)];
            t.check(keys[0] != keys[1], "one key twice");
            let v = imported(t, &keys[1]);
            t.eq(t.range(v), (v, 4 * KIB), "range of the short one");
            t.holds(v, &bytes[..4 * KIB], "the short one");
            t.ok(aclrtIpcMemClose(keys[1].as_ptr()), "closing the import");
            t.ok(aclrtIpcMemClose(keys[1].as_ptr()), "closing the export");
            t.holds(imported(t, &keys[0]), &bytes, "the other key");
        }),
        case("x.ipc.charges_nothing", Setup::device0(), |t| {
            let (p, _) = huge(t);
            let key = t.charges_nothing(|| key_of(t, p, HUGE_PAGE));
            t.charges_nothing(|| imported(t, &key));
            let (_, taken) = t.charge(|| t.free(p));
            t.eq(
                taken,
                (-(HUGE_PAGE as i64) * 2, 0),
                "what the release gives back",
            );
        }),
        case("x.ipc.fill_and_attributes", Setup::device0(), |t| {
            let (p, _) = huge(t);
            let v = imported(t, &key_of(t, p, HUGE_PAGE));
            t.ok(aclrtMemset(v, HUGE_PAGE, 0x5a, HUGE_PAGE), "aclrtMemset");
            t.holds(p, &vec![0x5a; HUGE_PAGE], "the block");
            let about = t.attributes(off(v, 12_345));
            t.eq(about.location.r#type, ACL_MEM_LOCATION_TYPE_DEVICE, "type");
            t.eq(about.location.id, 0, "device");
        }),
        case("x.ipc.servers_and_links", a3(), |t| {
            let key = key_of(t, huge(t).0, HUGE_PAGE);
            let mut servers = server(&mut 1);
            let code = aclrtIpcMemImportPidInterServer(key.as_ptr(), &raw mut servers, 1);
            t.ok(code, "aclrtIpcMemImportPidInterServer");
            let code = aclrtIpcMemImportPidInterServer(key.as_ptr(), null_mut(), 1);
            t.fails(code, ERROR_PARAM, "no servers");
            for (link, good) in [(0, true), (1, true), (2, false), (u64::MAX, false)] {
                let code = aclrtIpcMemSetAttr(key.as_ptr(), ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, link);
                if good {
                    t.ok(code, "aclrtIpcMemSetAttr");
                } else {
                    t.fails(code, ERROR_PARAM, "a link that does not exist");
                }
            }
            let code = aclrtIpcMemSetAttr(c"no_such_key".as_ptr(), 0, 0);
            t.fails(code, ERROR_PARAM, "a key of nobody");
        }),
        case(
            "x.ipc.product.310B",
            Setup::device0().profile("310B"),
            |t| {
                let p = t.malloc(HUGE_PAGE, ACL_MEM_MALLOC_HUGE_ONLY);
                let mut key = [0x77; KEY];
                let code = aclrtIpcMemGetExportKey(p, HUGE_PAGE, key.as_mut_ptr(), KEY, 1);
                t.fails(code, ERROR_UNSUPPORTED, "exporting");
                t.eq(key, [0x77; KEY], "output");
            },
        ),
        case("x.ipc.product.910B", Setup::device0(), |t| {
            let key = key_of(t, huge(t).0, HUGE_PAGE);
            t.fails(
                aclrtIpcMemSetAttr(key.as_ptr(), 0, 0),
                ERROR_UNSUPPORTED,
                "a link",
            );
        }),
    ]
}

/// The process that forked this one.
fn parent() -> i32 {
    std::os::unix::process::parent_id().cast_signed()
}
