//! Texts about threads, contexts, devices and streams: whose something is, who took it away, and which
//! earlier failure explains this one.

use super::graph::{GLOBAL, INVALIDATED, MODE};
use super::support::*;
use super::texts::both;

/// Runs on a thread with a name.
fn on_named_thread<R: Send>(name: &str, body: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name(name.to_owned());
        let body = move || {
            let result = body();
            crate::texts::thread_ends();
            result
        };
        let started = thread.spawn_scoped(scope, body);
        let joined = started.ok().and_then(|thread| thread.join().ok());
        joined.unwrap_or_else(|| abort("the thread failed"))
    })
}

type Call = fn() -> aclError;

/// Every call of memory that needs a device.
fn calls() -> Vec<(&'static str, Call)> {
    vec![
        ("aclrtMalloc", || aclrtMalloc(&mut SENTINEL.clone(), 64, 0)),
        ("aclrtMallocAlign32", || {
            aclrtMallocAlign32(&mut SENTINEL.clone(), 64, 0)
        }),
        ("aclrtMallocCached", || {
            aclrtMallocCached(&mut SENTINEL.clone(), 64, 0)
        }),
        ("aclrtMallocWithCfg", || {
            aclrtMallocWithCfg(&mut SENTINEL.clone(), 64, 0, null_mut())
        }),
        ("aclrtMallocHost", || {
            aclrtMallocHost(&mut SENTINEL.clone(), 64)
        }),
        ("acldvppMalloc", || acldvppMalloc(&mut SENTINEL.clone(), 64)),
        ("aclrtGetMemInfo", || {
            aclrtGetMemInfo(ACL_HBM_MEM, &mut 0, &mut 0)
        }),
        ("aclrtGetDevice", || aclrtGetDevice(&mut 0)),
        ("aclrtGetCurrentContext", || {
            aclrtGetCurrentContext(&mut null_mut())
        }),
        ("aclrtCreateStream", || aclrtCreateStream(&mut null_mut())),
        ("aclrtSynchronizeDevice", aclrtSynchronizeDevice),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let mut list = threads();
    list.extend(chains());
    list.extend(streams());
    list
}

fn threads() -> Vec<Case> {
    let mut list = Vec::new();
    both!(
        list,
        "x.text.thread_without_a_device",
        Setup::device0(),
        |t| {
            // F69, F74 to F78, F80 to F82: the thread, the function, and the call that is missing.
            on_named_thread("loader-7", || {
                #[allow(unsafe_code)] // A system call without arguments.
                // SAFETY: it always succeeds.
                let id = unsafe { libc::gettid() };
                for (name, call) in calls() {
                    t.code(call(), ERROR_CONTEXT, name);
                    t.carries(
                        name,
                        &[
                            &"EE1018",
                            &name,
                            &"loader-7",
                            &id,
                            &"aclrtSetDevice",
                            &"aclrtSetCurrentContext",
                        ],
                    );
                }
            });
        }
    );
    both!(list, "x.text.thread_repeats", Setup::device0(), |t| {
        // F78, F81: workers that go on without a device leave one line each, with a count.
        for worker in ["worker-1", "worker-2", "worker-3", "worker-4"] {
            on_named_thread(worker, || {
                for _ in 0..300 {
                    let mut p = SENTINEL;
                    t.code(aclrtMalloc(&raw mut p, 64, 0), ERROR_CONTEXT, worker);
                }
                t.folded(worker, 300, &[&"aclrtMalloc", &worker]);
            });
        }
    });
    both!(list, "x.text.context_is_gone", Setup::device0(), |t| {
        // F79: the context of this thread was destroyed by another one.
        let context = t.create_context(0);
        on_thread(|| t.ok(aclrtDestroyContext(context), "aclrtDestroyContext"));
        let mut p = SENTINEL;
        t.code(aclrtMalloc(&raw mut p, 64, 0), ERROR_CONTEXT, "code");
        t.carries(
            "the lost context",
            &[&"aclrtMalloc", &"aclrtSetDevice", &"aclrtSetCurrentContext"],
        );
        // By the thread itself: the call that did it.
        let context = t.create_context(0);
        t.ok(aclrtDestroyContext(context), "aclrtDestroyContext");
        t.code(aclrtMalloc(&raw mut p, 64, 0), ERROR_CONTEXT, "code");
        t.carries(
            "its own context",
            &[&"aclrtMalloc", &format!("aclrtDestroyContext({context:?})")],
        );
    });
    both!(list, "x.text.reset_took_it", Setup::device0(), |t| {
        // C17: which reset took the block back, of which thread, and how much went with it.
        let d = t.malloc(MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
        let held = normal_charge(padded(MIB)) + normal_charge(padded(4 * KIB));
        t.malloc(4 * KIB, ACL_MEM_MALLOC_NORMAL_ONLY);
        on_named_thread("cleaner", || {
            t.ok(aclrtResetDeviceForce(0), "aclrtResetDeviceForce");
        });
        for round in ["before", "after"] {
            t.code(aclrtFree(d), ERROR_PARAM, round);
            t.carries(
                round,
                &[
                    &"aclrtFree",
                    &format!("{d:?}"),
                    &2,
                    &held,
                    &"aclrtResetDeviceForce(0)",
                    &"cleaner",
                ],
            );
            if round == "before" {
                t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            }
        }
        // What was never allocated before a reset is not blamed on one.
        t.ok(aclrtResetDevice(0), "aclrtResetDevice");
        t.code(aclrtFree(d), ERROR_PARAM, "after an empty reset");
        t.carries("after an empty reset", &[&"aclrtResetDeviceForce(0)"]);
    });
    list
}

fn chains() -> Vec<Case> {
    let mut list = Vec::new();
    both!(
        list,
        "x.text.set_failed_first",
        Setup::init().devices(2),
        |t| {
            // F38, F172: what fails after a failed aclrtSetDevice names it, root cause first.
            t.code(
                aclrtSetDevice(5),
                ERROR_DEVICE,
                "a device that is not there",
            );
            t.carries("the root", &[&"aclrtSetDevice", &5, &"[0, 2)"]);
            let (mut free, mut total) = (0, 0);
            let code = aclrtGetMemInfo(ACL_HBM_MEM, &raw mut free, &raw mut total);
            t.code(code, ERROR_CONTEXT, "aclrtGetMemInfo");
            let text = t.carries(
                "the consequence",
                &[&"aclrtGetMemInfo", &"aclrtSetDevice", &5],
            );
            let (root, rest) = (text.find("[0, 2)"), text.rfind("aclrtSetCurrentContext"));
            t.check(
                root.is_some() && root < rest,
                &format!("the root does not stand first: {text:?}"),
            );
            let code = aclrtResetDevice(1);
            t.code(
                code,
                i64::from(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR),
                "aclrtResetDevice",
            );
            let text = t.carries(
                "the reset",
                &[&"aclrtResetDevice", &"aclrtSetDevice", &5, &1],
            );
            t.check(
                text.find("[0, 2)").is_some(),
                &format!("the reset does not tell the cause: {text:?}"),
            );
        }
    );
    both!(
        list,
        "x.text.no_room_for_a_device",
        Setup::fresh().memory("64G", "32G"),
        |t| {
            // F37: the device cannot be set for want of address space. The first line says so.
            let space = libc::rlimit {
                rlim_cur: 4 << 30,
                rlim_max: 4 << 30,
            };
            #[allow(unsafe_code)] // A system call without a safe wrapper in std.
            // SAFETY: the argument is a valid structure.
            let limited = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const space) } == 0;
            t.check(limited, "no limit was set");
            let refused = i64::from(ACL_ERROR_RT_DEV_SETUP_ERROR);
            let ways: [&dyn std::fmt::Display; 3] = [&"ulimit -v", &"CANNERY_HBM_BYTES", &"EE1023"];
            t.code(aclInit(null()), refused, "aclInit");
            t.carries("aclInit", &ways);
            t.code(aclrtSetDevice(0), refused, "aclrtSetDevice");
            t.carries("aclrtSetDevice", &ways);
            let (mut free, mut total) = (0, 0);
            let code = aclrtGetMemInfo(ACL_HBM_MEM, &raw mut free, &raw mut total);
            t.code(code, refused, "aclrtGetMemInfo");
            t.carries("aclrtGetMemInfo", &ways);
        }
    );
    both!(
        list,
        "x.text.refused_while_capturing",
        Setup::device0(),
        |t| {
            // F88, F89, F91: the stream, who captures it, a count, and the end that names the refusal.
            let s = t.stream();
            let (d, old) = t.filled(64 * KIB);
            let h = t.random_bytes(64 * KIB);
            #[allow(unsafe_code)] // A system call without arguments.
            // SAFETY: it always succeeds.
            let id = unsafe { libc::gettid() };
            t.begin(s, GLOBAL);
            for _ in 0..1000 {
                let code = aclrtMemcpy(d, h.len(), src(&h), h.len(), ACL_MEMCPY_HOST_TO_DEVICE);
                t.code(code, MODE, "a copy");
            }
            t.folded(
                "1000 copies",
                1000,
                &[
                    &"aclrtMemcpy",
                    &format!("{s:?}"),
                    &id,
                    &"aclmdlRICaptureThreadExchangeMode",
                ],
            );
            let mut model = null_mut();
            t.code(
                aclmdlRICaptureEnd(s, &raw mut model),
                INVALIDATED,
                "aclmdlRICaptureEnd",
            );
            t.carries(
                "the end",
                &[&"aclmdlRICaptureEnd", &"aclrtMemcpy", &format!("{s:?}")],
            );
            t.holds(d, &old, "memory");
        }
    );
    list
}

fn streams() -> Vec<Case> {
    let mut list = Vec::new();
    both!(
        list,
        "x.text.stream_of_another_device",
        Setup::device0().devices(2),
        |t| {
            // F84: the stream, its device, the current device.
            let s = t.stream();
            t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
            let (d, old) = t.filled(4 * KIB);
            let h = t.malloc_host(4 * KIB);
            host_write(h, &t.random_bytes(4 * KIB));
            let code = aclrtMemcpyAsync(d, 4 * KIB, h, 4 * KIB, ACL_MEMCPY_HOST_TO_DEVICE, s);
            t.code(
                code,
                i64::from(ACL_ERROR_RT_STREAM_CONTEXT),
                "aclrtMemcpyAsync",
            );
            t.carries(
                "the stream",
                &[
                    &"aclrtMemcpyAsync",
                    &format!("{s:?}"),
                    &0,
                    &1,
                    &"aclrtSetCurrentContext",
                ],
            );
            t.holds(d, &old, "the destination");
            let code = aclrtDestroyStream(s);
            t.code(
                code,
                i64::from(ACL_ERROR_RT_STREAM_CONTEXT),
                "aclrtDestroyStream",
            );
            t.carries(
                "its end",
                &[&"aclrtDestroyStream", &format!("{s:?}"), &0, &1],
            );
        }
    );
    list
}
