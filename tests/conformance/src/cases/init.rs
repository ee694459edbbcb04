//! Initialising and finalising: counts, configuration files, callbacks.

use std::ffi::c_char;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::support::*;

/// Configuration with error texts per thread.
const PER_THREAD: &str = r#"{"err_msg_mode":"0"}"#;
/// Configuration with error texts per process.
const PER_PROCESS: &str = r#"{"err_msg_mode":"1"}"#;
/// Configuration that names a default device.
pub(super) const DEFAULT_DEVICE: &str = r#"{"defaultDevice":{"default_device":"0"}}"#;

static FIRST: AtomicUsize = AtomicUsize::new(0);
static SECOND: AtomicUsize = AtomicUsize::new(0);

extern "C" fn first(_: *const c_char, _: usize, _: *mut c_void) -> aclError {
    FIRST.fetch_add(1, Ordering::SeqCst);
    0
}

extern "C" fn second(_: *const c_char, _: usize, _: *mut c_void) -> aclError {
    SECOND.fetch_add(1, Ordering::SeqCst);
    0
}

extern "C" fn refuse_finalize(data: *mut c_void) -> aclError {
    FIRST.fetch_add(1, Ordering::SeqCst);
    SECOND.store(data.addr(), Ordering::SeqCst);
    ACL_ERROR_RT_PARAM_INVALID
}

fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::SeqCst)
}

/// `aclInit(NULL)` that must be the repeated one.
fn init_again(t: &T) {
    t.fails(aclInit(null()), 100_002, "repeated aclInit");
}

/// Lowers the count and checks what remains.
fn reference_goes_to(t: &T, want: u64) {
    let mut n = 77;
    t.ok(aclFinalizeReference(&raw mut n), "aclFinalizeReference");
    t.eq(n, want, "remaining count");
}

fn is_uninitialised(t: &T) {
    t.fails(aclFinalize(), ERROR_REPEAT_FINALIZE, "aclFinalize now");
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = finalize();
    cases.extend(init());
    cases.extend(callbacks());
    cases.extend(version());
    cases.extend(own());
    cases
}

fn finalize() -> Vec<Case> {
    vec![
        case("init.finalize.ignores_count", Setup::init(), |t| {
            init_again(t);
            init_again(t);
            t.ret(aclFinalize());
            is_uninitialised(t);
        }),
        case("init.finalize.twice", Setup::init(), |t| {
            t.ok(aclFinalize(), "aclFinalize");
            t.ret(aclFinalize());
            t.ok(aclInit(null()), "aclInit after it");
            reference_goes_to(t, 0);
        }),
        case("init.finalize_callback.error_aborts", Setup::init(), |t| {
            let code = aclFinalizeCallbackRegister(
                ACL_REG_TYPE_OTHER,
                Some(refuse_finalize),
                addr(0x1234),
            );
            t.ok(code, "aclFinalizeCallbackRegister");
            t.ret(aclFinalize());
            t.eq(count(&FIRST), 1, "calls of the callback");
            t.eq(count(&SECOND), 0x1234, "user data of the callback");
            init_again(t);
        }),
        case(
            "init.finalize_reference.after_finalize_reset",
            Setup::init(),
            |t| {
                init_again(t);
                init_again(t);
                reference_goes_to(t, 2);
                t.ret(aclFinalize());
                is_uninitialised(t);
            },
        ),
        case("init.finalize_reference.below_zero", Setup::init(), |t| {
            t.ok(aclFinalize(), "aclFinalize");
            let mut n = 7;
            t.ret(aclFinalizeReference(&raw mut n));
            t.eq(n, 0, "count");
        }),
        case("init.finalize_reference.last_one", Setup::init(), |t| {
            init_again(t);
            reference_goes_to(t, 1);
            let mut n = 7;
            t.ret(aclFinalizeReference(&raw mut n));
            t.eq(n, 0, "count");
            is_uninitialised(t);
        }),
        case("init.finalize_reference.null_count", Setup::init(), |t| {
            t.ret(aclFinalizeReference(null_mut()));
            is_uninitialised(t);
        }),
    ]
}

fn init() -> Vec<Case> {
    vec![
        case("init.init.after_finalize", Setup::init(), |t| {
            t.ok(aclFinalize(), "aclFinalize");
            t.ret(aclInit(null()));
            reference_goes_to(t, 0);
        }),
        case(
            "init.init.after_finalize_other_config",
            Setup::fresh(),
            |t| {
                let a = t.config("a.json", PER_THREAD);
                let b = t.config("b.json", PER_PROCESS);
                t.ok(aclInit(a.as_ptr()), "aclInit with content A");
                t.ok(aclFinalize(), "aclFinalize");
                t.ret(aclInit(b.as_ptr()));
                is_uninitialised(t);
                t.ok(aclInit(a.as_ptr()), "aclInit with content A again");
            },
        ),
        case("init.init.bad_err_msg_mode", Setup::fresh(), |t| {
            let file = t.config("bad.json", r#"{"err_msg_mode":"2"}"#);
            t.ret(aclInit(file.as_ptr()));
            is_uninitialised(t);
        }),
        case("init.init.default_device_ok", Setup::fresh(), |t| {
            let file = t.config("device.json", DEFAULT_DEVICE);
            t.ok(aclInit(file.as_ptr()), "aclInit");
            on_thread(|| {
                let mut p = SENTINEL;
                t.ret(aclrtMalloc(&raw mut p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
                t.usable(p, 64);
                t.eq(t.attributes(p).location.id, 0, "device of the block");
            });
        }),
        case("init.init.err_msg_mode_process", Setup::fresh(), |t| {
            let file = t.config("mode.json", PER_PROCESS);
            t.ret(aclInit(file.as_ptr()));
            let code = on_thread(|| aclrtSetDevice(-1));
            t.eq(i64::from(code), ERROR_DEVICE, "code on the other thread");
            let text = t.pending_text("the other thread's failure");
            t.check(text.contains("EE1003"), "the shared text names EE1003");
        }),
        case(
            "init.init.not_required_for_runtime_calls",
            Setup::fresh(),
            |t| {
                t.ret(aclrtSetDevice(0));
                let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
                t.usable(p, 64);
                t.free(p);
            },
        ),
        case("init.init.repeat", Setup::init(), |t| {
            t.ret(aclInit(null()));
            t.ok(aclrtSetDevice(0), "aclrtSetDevice after the repeat");
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            t.usable(p, 64);
            reference_goes_to(t, 1);
        }),
        case("init.init.repeat_bad_path_not_opened", Setup::init(), |t| {
            t.ret(aclInit(c"/does/not/exist.json".as_ptr()));
            reference_goes_to(t, 1);
        }),
    ]
}

fn callbacks() -> Vec<Case> {
    vec![
        case("init.init_callback.duplicate_type", Setup::fresh(), |t| {
            let register =
                |kind, call: aclInitCallbackFunc| aclInitCallbackRegister(kind, call, null_mut());
            t.ok(register(ACL_REG_TYPE_ACL_MODEL, Some(first)), "first");
            t.ret(register(ACL_REG_TYPE_ACL_MODEL, Some(second)));
            t.ok(aclInit(null()), "aclInit");
            t.eq(count(&FIRST), 1, "calls of the first registration");
            t.eq(count(&SECOND), 0, "calls of the refused registration");
        }),
        case("init.init_callback.null_func", Setup::fresh(), |t| {
            let register = |call: aclInitCallbackFunc| {
                aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, call, null_mut())
            };
            t.ret(register(None));
            // The type is still free, and initialising calls nothing invented.
            t.ok(register(Some(first)), "registration of the same type");
            t.ok(aclInit(null()), "aclInit");
            t.eq(count(&FIRST), 1, "calls of the callback");
        }),
    ]
}

fn version() -> Vec<Case> {
    vec![
        case("init.version.null_major", Setup::fresh(), |t| {
            let (mut minor, mut patch) = (-77, -77);
            t.ret(aclrtGetVersion(null_mut(), &raw mut minor, &raw mut patch));
            t.eq((minor, patch), (-77, -77), "outputs");
        }),
        case("init.version.null_patch", Setup::fresh(), |t| {
            let (mut major, mut minor) = (-77, -77);
            t.ret(aclrtGetVersion(&raw mut major, &raw mut minor, null_mut()));
            t.eq((major, minor), (-77, -77), "outputs");
        }),
        case("init.soc_name.not_null", Setup::device0(), |t| {
            let name = aclrtGetSocName();
            t.judged();
            t.check(!name.is_null(), "the name is NULL");
            t.eq(aclrtGetSocName(), name, "pointer of a second call");
            let elsewhere = on_thread(|| aclrtGetSocName().addr());
            t.eq(elsewhere, name.addr(), "pointer on another thread");
            t.eq(string(name).as_deref(), Some("Ascend910B3"), "name");
        }),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.version.macros", Setup::fresh(), |t| {
            let (mut major, mut minor, mut patch) = (-1, -1, -1);
            t.ok(
                aclrtGetVersion(&raw mut major, &raw mut minor, &raw mut patch),
                "aclrtGetVersion",
            );
            t.eq(
                (major, minor, patch),
                (ACL_MAJOR_VERSION, ACL_MINOR_VERSION, ACL_PATCH_VERSION),
                "version",
            );
        }),
        case(
            "x.init.callback_after_init_runs_at_once",
            Setup::init(),
            |t| {
                let code = aclInitCallbackRegister(ACL_REG_TYPE_OTHER, Some(first), null_mut());
                t.ok(code, "aclInitCallbackRegister");
                t.eq(count(&FIRST), 1, "calls of the callback");
            },
        ),
        case("x.init.callback_unregistered", Setup::fresh(), |t| {
            let kind = ACL_REG_TYPE_OTHER;
            t.ok(
                aclInitCallbackRegister(kind, Some(first), null_mut()),
                "first",
            );
            t.ok(
                aclInitCallbackRegister(kind, Some(second), null_mut()),
                "second of type OTHER",
            );
            t.ok(aclInitCallbackUnRegister(kind, Some(first)), "unregister");
            t.ok(aclInit(null()), "aclInit");
            t.eq((count(&FIRST), count(&SECOND)), (0, 1), "calls");
        }),
        case(
            "x.init.finalize_callback_unregistered",
            Setup::init(),
            |t| {
                let kind = ACL_REG_TYPE_OTHER;
                let code = aclFinalizeCallbackRegister(kind, Some(refuse_finalize), null_mut());
                t.ok(code, "aclFinalizeCallbackRegister");
                let code = aclFinalizeCallbackUnRegister(kind, Some(refuse_finalize));
                t.ok(code, "aclFinalizeCallbackUnRegister");
                t.ok(aclFinalize(), "aclFinalize");
                t.eq(count(&FIRST), 0, "calls of the callback");
            },
        ),
        case("x.init.callbacks_are_called_once", Setup::fresh(), |t| {
            extern "C" fn slow(_: *const c_char, _: usize, _: *mut c_void) -> aclError {
                FIRST.fetch_add(1, Ordering::SeqCst);
                // From within, it is a repeat.
                SECOND.store(aclInit(null()) as usize, Ordering::SeqCst);
                std::thread::sleep(std::time::Duration::from_millis(30));
                0
            }
            let code = aclInitCallbackRegister(ACL_REG_TYPE_OTHER, Some(slow), null_mut());
            t.ok(code, "aclInitCallbackRegister");
            let mut codes: Vec<aclError> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| aclInit(null()))).collect();
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or(-1))
                    .collect()
            });
            codes.sort_unstable();
            t.eq(codes, [&[0][..], &[100_002; 7]].concat(), "codes");
            t.eq(
                (count(&FIRST), count(&SECOND)),
                (1, 100_002),
                "calls, and a call in it",
            );
        }),
        case("x.init.callback_receives_the_file", Setup::fresh(), |t| {
            extern "C" fn look(text: *const c_char, len: usize, data: *mut c_void) -> aclError {
                FIRST.store(len, Ordering::SeqCst);
                SECOND.store(data.addr(), Ordering::SeqCst);
                let seen = string(text).unwrap_or_default();
                i32::from(!(seen.contains("err_msg_mode") && seen.len() == len))
            }
            let file = t.config("a.json", PER_THREAD);
            let code = aclInitCallbackRegister(ACL_REG_TYPE_OTHER, Some(look), addr(0x77));
            t.ok(code, "aclInitCallbackRegister");
            t.ok(aclInit(file.as_ptr()), "aclInit");
            t.eq(count(&FIRST), PER_THREAD.len(), "length of the text");
            t.eq(count(&SECOND), 0x77, "user data");
        }),
        case("x.init.missing_file", Setup::fresh(), |t| {
            bad_file(t, c"/does/not/exist.json".as_ptr(), "/does/not/exist.json");
        }),
        case("x.init.directory_as_file", Setup::fresh(), |t| {
            let path = CString::new(t.dir().to_string_lossy().as_bytes()).unwrap_or_default();
            bad_file(t, path.as_ptr(), &t.dir().to_string_lossy());
        }),
        case("x.init.bad_json", Setup::fresh(), |t| {
            for (name, text) in [
                ("open.json", "{"),
                ("word.json", "hello"),
                ("list.json", "[1,2]"),
                ("binary.json", "\u{1}\u{2}\u{0}"),
                ("comma.json", r#"{"err_msg_mode":"0",}"#),
            ] {
                let file = t.config(name, text);
                bad_file(t, file.as_ptr(), name);
            }
            t.ok(aclInit(null()), "aclInit afterwards");
        }),
        case("x.init.nesting_limit", Setup::fresh(), |t| {
            let nested = |n: usize| format!("{}{}", r#"{"a":"#.repeat(n), "1") + &"}".repeat(n);
            let file = t.config("deep.json", &nested(11));
            bad_file(t, file.as_ptr(), "deep.json");
            let file = t.config("ten.json", &nested(10));
            t.ok(aclInit(file.as_ptr()), "aclInit with ten levels of braces");
        }),
        case("x.init.empty_object", Setup::fresh(), |t| {
            let file = t.config("empty.json", "{}");
            t.ok(aclInit(file.as_ptr()), "aclInit with an empty object");
            t.ok(aclFinalize(), "aclFinalize");
            t.ok(aclInit(file.as_ptr()), "aclInit again");
        }),
        case("x.init.bad_default_device", Setup::fresh(), |t| {
            let json = r#"{"defaultDevice":{"default_device":"7"}}"#;
            let file = t.config("seven.json", json);
            let code = aclInit(file.as_ptr());
            if code == 0 {
                // Found when the device is first needed.
                let mut p = SENTINEL;
                let code = aclrtMalloc(&raw mut p, 64, ACL_MEM_MALLOC_HUGE_FIRST);
                t.check(code != 0, "an allocation on a device that does not exist");
                t.eq(p, SENTINEL, "output");
            }
            let text = t.pending_text("the failure");
            t.check(text.contains('7'), "the text names the device");
        }),
        case("x.init.finalize_keeps_memory", Setup::device0(), |t| {
            let (p, bytes) = t.filled(5000);
            let h = t.malloc_host(5000);
            host_write(h, &bytes);
            t.ok(aclFinalize(), "aclFinalize with live blocks");
            t.holds(p, &bytes, "device block after aclFinalize");
            t.same_bytes(&host_read(h, 5000), &bytes, "host block after aclFinalize");
            t.free(p);
            t.free_host(h);
            t.ok(aclrtResetDevice(0), "aclrtResetDevice");
        }),
        case("x.init.threads_count_exactly", Setup::fresh(), |t| {
            let codes: Vec<aclError> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..8)
                    .map(|_| scope.spawn(|| (0..50).map(|_| aclInit(null())).collect::<Vec<_>>()))
                    .collect();
                threads
                    .into_iter()
                    .flat_map(|thread| thread.join().unwrap_or_default())
                    .collect()
            });
            t.eq(
                codes.iter().filter(|c| **c == 0).count(),
                1,
                "first initialisations",
            );
            t.eq(
                codes.iter().filter(|c| **c == 100_002).count(),
                399,
                "repeats",
            );
            reference_goes_to(t, 399);
        }),
        case("x.exit.live_allocations", Setup::device0(), |t| {
            // The harness checks that the process still ends normally.
            for size in [1, 4096, 3 * MIB] {
                t.malloc(size, ACL_MEM_MALLOC_HUGE_FIRST);
                t.malloc_host(size);
            }
            t.create_context(0);
        }),
        case("x.exit.from_another_thread", Setup::device0(), |t| {
            let worker = Worker::new();
            worker.run(|| {
                t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                t.malloc(MIB, ACL_MEM_MALLOC_HUGE_FIRST);
            });
            // The thread lives on while the process ends.
            std::mem::forget(worker);
        }),
    ]
}

/// A configuration file that must be refused, leaving the process
/// uninitialised and a text that names the file.
fn bad_file(t: &T, path: *const c_char, name: &str) {
    let code = aclInit(path);
    t.check(code != 0, &format!("aclInit accepted {name}"));
    if code != 0 {
        let text = t.pending_text("the refusal");
        t.check(
            text.contains(name),
            &format!("the text names {name}: {text:?}"),
        );
        is_uninitialised(t);
    }
}
