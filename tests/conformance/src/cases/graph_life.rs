//! The life of models: names and numbers, printing, ends in the middle, many of them.

use super::gate::*;
use super::graph::*;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut list = facts();
    list.extend(ends());
    crowds(&mut list);
    list
}

extern "C" fn destroyed(data: *mut c_void) {
    #[allow(unsafe_code)] // The argument that a C callback gets.
    // SAFETY: the bodies pass counters, which live as long as the process.
    let count = unsafe { &*data.cast::<std::sync::atomic::AtomicU64>() };
    count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
}

extern "C" fn not_registered(_: *mut c_void) {}

fn facts() -> Vec<Case> {
    vec![
        case("x.graph.names_and_numbers", Setup::device0(), |t| {
            let s = t.stream();
            let (a, b) = (t.model(s, || {}), t.model(s, || {}));
            let (mut first, mut second) = (77, 77);
            t.ok(aclmdlRIGetId(a, &raw mut first), "aclmdlRIGetId");
            t.ok(aclmdlRIGetId(b, &raw mut second), "aclmdlRIGetId");
            t.check(first != second, "two models have one number");
            t.fails(aclmdlRIGetId(a, null_mut()), ERROR_FRONT, "NULL");
            let name = |model, room: u32| -> String {
                let mut bytes = vec![0x7f_u8; 600];
                let code = aclmdlRIGetName(model, room, bytes.as_mut_ptr().cast());
                t.ok(code, "aclmdlRIGetName");
                let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(0);
                t.check(
                    bytes[end + 1..].iter().all(|byte| *byte == 0x7f),
                    "bytes behind",
                );
                String::from_utf8_lossy(&bytes[..end]).into_owned()
            };
            t.eq(name(a, 600), String::new(), "no name");
            for new in [c"one", c"the second"] {
                t.ok(aclmdlRISetName(a, new.as_ptr()), "aclmdlRISetName");
            }
            t.eq(name(a, 600), "the second".to_owned(), "the last name");
            t.eq(name(b, 600), String::new(), "another model");
            t.eq(name(a, 4), "the".to_owned(), "a short place");
            let long = CString::new("x".repeat(1000)).unwrap_or_default();
            t.ok(aclmdlRISetName(a, long.as_ptr()), "aclmdlRISetName");
            t.eq(name(a, 600), "x".repeat(511), "512 bytes with its end");
            t.fails(aclmdlRISetName(a, null()), ERROR_FRONT, "NULL");
            t.fails(
                aclmdlRIGetName(a, 600, null_mut()),
                ERROR_FRONT,
                "nowhere to write",
            );
            let mut byte = 7;
            t.fails(aclmdlRIGetName(a, 0, &raw mut byte), ERROR_FRONT, "no room");
            t.eq(byte, 7, "output");
        }),
        case("x.graph.destroy_callbacks", Setup::device0(), |t| {
            let s = t.stream();
            let model = t.model(s, || {});
            let count = Box::leak(Box::<std::sync::atomic::AtomicU64>::default());
            let data: *mut c_void = std::ptr::from_ref(&*count).cast_mut().cast();
            let register = |f| aclmdlRIDestroyRegisterCallback(model, f, data);
            t.fails(register(None), ERROR_FRONT, "NULL");
            let code = aclmdlRIDestroyUnregisterCallback(model, Some(destroyed));
            t.fails(code, ERROR_PARAM, "a function that is not registered");
            for _ in 0..2 {
                t.ok(register(Some(destroyed)), "aclmdlRIDestroyRegisterCallback");
            }
            let code = aclmdlRIDestroyUnregisterCallback(model, Some(not_registered));
            t.fails(code, ERROR_PARAM, "another function");
            let code = aclmdlRIDestroyUnregisterCallback(model, Some(destroyed));
            t.ok(code, "aclmdlRIDestroyUnregisterCallback");
            t.ok(register(Some(destroyed)), "aclmdlRIDestroyRegisterCallback");
            let calls = || count.load(std::sync::atomic::Ordering::SeqCst);
            t.replay(model, s);
            t.sync(s);
            t.eq(calls(), 0, "calls before the end");
            t.destroy_model(model);
            t.eq(calls(), 1, "calls");
            t.fails(aclmdlRIDestroy(model), ERROR_HANDLE, "the second end");
            t.eq(calls(), 1, "calls after the second end");
        }),
    ]
}

/// What a model may not survive, or has to.
fn ends() -> Vec<Case> {
    vec![
        case("x.graph.ends.stream_in_the_middle", Setup::device0(), |t| {
            let (p, old) = t.filled(LEN);
            let (s, r) = (t.stream(), t.stream());
            t.begin(s, GLOBAL);
            t.link(s, r);
            t.ok(aclrtMemsetAsync(p, LEN, 1, LEN, r), "aclrtMemsetAsync");
            t.ok(
                aclrtDestroyStreamForce(r),
                "aclrtDestroyStreamForce of a side",
            );
            // Another stream takes its place, and is captured for another model.
            let q = t.stream();
            t.begin(q, RELAXED);
            let tokens = format!("'stream {r:?} was destroyed' aclrtDestroyStream");
            t.end_fails(
                s,
                INVALIDATED,
                &tokens,
                "a capture without one of its streams",
            );
            let status = t.capture_status(q);
            t.eq(
                status,
                ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE,
                "status of the other capture",
            );
            t.ok(aclrtMemsetAsync(p, LEN, 2, LEN, q), "aclrtMemsetAsync");
            let model = t.end(q);
            t.holds(p, &old, "memory");
            t.replay(model, s);
            t.sync(s);
            t.holds(p, &vec![2; LEN], "memory after the run");
            // The one where it began: the capture is over, and nothing is forbidden any more.
            let (s, r) = (t.stream(), t.stream());
            t.begin(s, GLOBAL);
            t.link(s, r);
            t.ok(
                aclrtDestroyStreamForce(s),
                "aclrtDestroyStreamForce of the first",
            );
            t.upload(p, &old);
            t.eq(
                t.capture_status(r),
                ACL_MODEL_RI_CAPTURE_STATUS_NONE,
                "status of the side",
            );
            t.ok(aclrtMemsetAsync(p, LEN, 3, LEN, r), "aclrtMemsetAsync");
            t.sync(r);
            t.holds(p, &vec![3; LEN], "memory");
            t.destroy_model(model);
        }),
        case("x.graph.ends.device_in_the_middle", Setup::device0(), |t| {
            for _ in 0..20 {
                let (s, r) = (t.stream(), t.stream());
                let (p, _) = t.filled(LEN);
                t.begin(s, GLOBAL);
                t.link(s, r);
                t.ok(aclrtMemsetAsync(p, LEN, 1, LEN, r), "aclrtMemsetAsync");
                t.ok(aclrtResetDeviceForce(0), "aclrtResetDeviceForce");
                t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                let (p, bytes) = t.filled(LEN);
                t.holds(p, &bytes, "synchronous copies work again");
                let mut model = SENTINEL;
                let code = aclmdlRICaptureEnd(s, &raw mut model);
                t.fails(code, ERROR_HANDLE, "the end on a stream that went");
            }
        }),
        case("x.graph.ends.device_of_a_model", Setup::device0(), |t| {
            // Models outlive their device as handles only.
            let (s, r) = (t.stream(), t.stream());
            let (p, _) = t.filled(LEN);
            let model = t.model(s, || {
                t.link(s, r);
                t.ok(aclrtMemsetAsync(p, LEN, 1, LEN, r), "aclrtMemsetAsync");
                t.link(r, s);
            });
            t.replay(model, s);
            t.sync(s);
            t.ok(aclrtResetDeviceForce(0), "aclrtResetDeviceForce");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            let s = t.stream();
            let code = aclmdlRIExecuteAsync(model, s);
            t.check(code != 0, "a run on a device that is another one now");
            t.sync(s);
            t.check(
                aclmdlRIExecute(model, 1000) != 0,
                "a run that is waited for",
            );
            t.destroy_model(model);
        }),
        case("x.graph.ends.finalize", Setup::device0(), |t| {
            let s = t.stream();
            t.begin(s, GLOBAL);
            t.ok(aclFinalize(), "aclFinalize");
            t.ok(aclInit(null()), "aclInit");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            // aclFinalize releases nothing: the capture goes on, and forbids what it forbade.
            t.fails(aclrtSynchronizeDevice(), MODE, "aclrtSynchronizeDevice");
            t.end_fails(s, INVALIDATED, "aclrtSynchronizeDevice", "the end");
            let (p, _) = t.filled(LEN);
            let model = t.model(s, || {
                t.ok(aclrtMemsetAsync(p, LEN, 1, LEN, s), "aclrtMemsetAsync");
            });
            t.ok(aclFinalize(), "aclFinalize");
            t.ok(aclInit(null()), "aclInit");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            t.replay(model, s);
            t.sync(s);
            t.holds(p, &vec![1; LEN], "memory");
        }),
        case("x.graph.ends.abort_of_a_run", Setup::device0(), |t| {
            let (s, r) = (t.stream(), t.stream());
            let (p, bytes) = t.filled(LEN);
            let model = t.model(s, || {
                t.link(s, r);
                t.ok(aclrtMemsetAsync(p, LEN, 1, LEN, r), "aclrtMemsetAsync");
                t.link(r, s);
            });
            let gate = t.hold(s);
            t.replay(model, s);
            t.ok(aclrtStreamAbort(s), "aclrtStreamAbort");
            gate.open();
            t.sync(s);
            t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
            t.upload(p, &bytes);
            t.replay(model, s);
            t.sync(s);
            t.holds(p, &vec![1; LEN], "the next run");
            t.destroy_model(model);
        }),
        case("x.graph.ends.while_it_runs", Setup::device0(), |t| {
            let s = t.stream();
            let (p, _) = t.filled(LEN);
            let model = t.model(s, || {
                t.ok(aclrtMemsetAsync(p, LEN, 6, LEN, s), "aclrtMemsetAsync");
            });
            let gate = t.hold(s);
            t.replay(model, s);
            t.fails(
                aclmdlRIDestroy(model),
                RUNNING,
                "the end of a model that runs",
            );
            gate.open();
            t.sync(s);
            t.holds(p, &vec![6; LEN], "memory");
            t.destroy_model(model);
        }),
    ]
}

/// Resident bytes and open files of the process.
fn footprint() -> (usize, usize) {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    let files = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    (pages.unwrap_or(0usize) * 4 * KIB, files)
}

fn crowds(list: &mut Vec<Case>) {
    list.push(case("x.graph.a_thousand_captures", Setup::device0(), |t| {
        let (s, r) = (t.stream(), t.stream());
        let (h, _) = t.pinned(LEN);
        let (out, _) = t.pinned(LEN);
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let round = |check: bool| {
            let model = t.model(s, || {
                t.copy_async(a, h, LEN, s);
                t.link(s, r);
                t.copy_async(out, a, LEN, r);
                t.link(r, s);
            });
            t.replay(model, s);
            t.sync(s);
            if check {
                let bytes = t.refill(h);
                t.ok(aclmdlRIExecute(model, -1), "aclmdlRIExecute");
                t.same_bytes(&host_read(out, LEN), &bytes, "a run");
            }
            t.destroy_model(model);
            t.begin(s, GLOBAL);
            t.fails(aclrtSynchronizeDevice(), MODE, "aclrtSynchronizeDevice");
            t.end_fails(s, INVALIDATED, "aclrtSynchronizeDevice", "the end");
        };
        (0..100).for_each(|_| round(false));
        let (bytes, files) = footprint();
        (0..1000).for_each(|i| round(i % 100 == 0));
        let (bytes_after, files_after) = footprint();
        t.eq(files_after, files, "open files");
        let more = bytes_after.saturating_sub(bytes);
        t.check(more < 8 * MIB, &format!("{more} bytes more than before"));
    }));
    under_schedules!(list, "x.graph.eight_threads", |t| {
        std::thread::scope(|scope| {
            for number in 0..8u8 {
                scope.spawn(move || {
                    t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                    let (s, r) = (t.stream(), t.stream());
                    let (h, _) = t.pinned(LEN);
                    let (out, _) = t.pinned(LEN);
                    let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
                    let b = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
                    for round in 0..12 {
                        t.begin(s, if round % 2 == 0 { GLOBAL } else { THREAD_LOCAL });
                        t.copy_async(a, h, LEN, s);
                        t.link(s, r);
                        t.copy_async(b, a, LEN, r);
                        t.link(r, s);
                        t.copy_async(out, b, LEN, s);
                        let model = t.end(s);
                        for _ in 0..3 {
                            let mut bytes = t.refill(h);
                            bytes[0] = number;
                            host_write(h, &bytes);
                            t.replay(model, s);
                            t.sync(s);
                            t.same_bytes(&host_read(out, LEN), &bytes, "a run");
                        }
                        t.destroy_model(model);
                    }
                });
            }
        });
    });
}
