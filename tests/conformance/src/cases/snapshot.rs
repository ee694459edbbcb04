//! Snapshots of the process: calls stand still, device memory is kept and put back.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::gate::*;
use super::support::*;

const LOCK_FAILED: i64 = ACL_ERROR_SNAPSHOT_LOCK_FAILED as i64;
const LOCK_TIMEOUT: i64 = ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT as i64;
const UNLOCK_FAILED: i64 = ACL_ERROR_SNAPSHOT_UNLOCK_FAILED as i64;
const BACKUP_FAILED: i64 = ACL_ERROR_SNAPSHOT_BACKUP_FAILED as i64;
const RESTORE_FAILED: i64 = ACL_ERROR_SNAPSHOT_RESTORE_FAILED as i64;
const CALLBACK_FAILED: i64 = ACL_ERROR_SNAPSHOT_CALLBACK_FAILED as i64;
const REGISTER_FAILED: i64 = ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED as i64;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = states();
    cases.extend(standing_still());
    cases.extend(memory());
    cases.extend(callbacks());
    cases
}

fn me() -> i32 {
    std::process::id().cast_signed()
}

fn lock() -> aclError {
    aclrtSnapShotProcessLock(me(), null_mut())
}

fn unlock() -> aclError {
    aclrtSnapShotProcessUnlock(me(), null_mut())
}

fn backup() -> aclError {
    aclrtSnapShotProcessBackup(me(), null_mut())
}

fn restore() -> aclError {
    aclrtSnapShotProcessRestore(me(), null_mut())
}

fn states() -> Vec<Case> {
    vec![
        case("x.snapshot.states", Setup::device0(), |t| {
            // Running.
            t.fails(unlock(), UNLOCK_FAILED, "unlock while it runs");
            t.fails(backup(), BACKUP_FAILED, "backup while it runs");
            t.fails(restore(), RESTORE_FAILED, "restore while it runs");
            t.ok(lock(), "lock");
            // Locked.
            t.fails(lock(), LOCK_FAILED, "lock while it is locked");
            t.fails(restore(), RESTORE_FAILED, "restore while it is locked");
            t.ok(unlock(), "unlock");
            t.ok(lock(), "lock again");
            t.ok(backup(), "backup");
            // Backed up.
            t.fails(lock(), LOCK_FAILED, "lock while it is backed up");
            t.fails(backup(), BACKUP_FAILED, "backup while it is backed up");
            t.ok(restore(), "restore");
            // Locked.
            t.fails(restore(), RESTORE_FAILED, "restore twice");
            t.ok(backup(), "backup again");
            t.ok(unlock(), "unlock without restoring");
            t.fails(unlock(), UNLOCK_FAILED, "unlock twice");
            t.usable(t.malloc(MIB, ACL_MEM_MALLOC_HUGE_FIRST), MIB);
        }),
        case("x.snapshot.arguments", Setup::init(), |t| {
            type Call = fn(i32, *mut c_void) -> aclError;
            let calls: [(Call, &str); 4] = [
                (aclrtSnapShotProcessLock, "param=reserve"),
                (aclrtSnapShotProcessUnlock, "param=reserve"),
                (
                    |pid, p| aclrtSnapShotProcessBackup(pid, p.cast()),
                    "param=args",
                ),
                (
                    |pid, p| aclrtSnapShotProcessRestore(pid, p.cast()),
                    "param=args",
                ),
            ];
            for (call, reserved) in calls {
                for pid in [0, -1, 1, me() + 1] {
                    let code = call(pid, null_mut());
                    t.fails_with(code, ERROR_PARAM, "param=pid", "another process");
                }
                let code = call(me(), addr(64));
                t.fails_with(code, ERROR_PARAM, reserved, "a reserved argument");
            }
            // Without a device there is nothing to keep.
            for call in [lock, backup, restore, unlock] {
                t.ok(call(), "a step");
            }
        }),
        case(
            "x.snapshot.products",
            Setup::device0().profile("310P"),
            |t| {
                t.fails(lock(), ERROR_UNSUPPORTED, "lock");
                let code = aclrtSnapShotProcessLock(0, null_mut());
                t.fails(code, ERROR_PARAM, "the argument comes first");
                let code = aclrtSnapShotCallbackRegister(0, Some(note), null_mut());
                t.fails(code, ERROR_UNSUPPORTED, "register");
            },
        ),
        case(
            "x.snapshot.chip_without",
            Setup::device0().profile("Ascend950DT"),
            |t| {
                t.fails_with(
                    lock(),
                    ERROR_UNSUPPORTED,
                    "func=aclrtSnapShotProcessLock Ascend950DT Ascend950PR",
                    "lock on 950DT",
                );
                t.usable(t.malloc(MIB, ACL_MEM_MALLOC_HUGE_FIRST), MIB);
            },
        ),
        case(
            "x.snapshot.chip_with",
            Setup::device0().profile("Ascend950PR"),
            |t| {
                for call in [lock, backup, restore, unlock] {
                    t.ok(call(), "a step on 950PR");
                }
            },
        ),
    ]
}

fn standing_still() -> Vec<Case> {
    vec![
        case("x.snapshot.calls_wait", Setup::device0(), |t| {
            let context = t.context() as usize;
            t.ok(lock(), "lock");
            let came = AtomicU32::new(0);
            std::thread::scope(|scope| {
                type Call = fn(usize) -> aclError;
                let calls: [Call; 4] = [
                    |context| aclrtSetCurrentContext(addr(context)),
                    |_| aclrtSetDevice(0),
                    |context| {
                        let mut p = SENTINEL;
                        aclrtSetCurrentContext(addr(context))
                            + aclrtMalloc(&raw mut p, MIB, ACL_MEM_MALLOC_HUGE_FIRST)
                    },
                    |_| {
                        let mut count = 0;
                        aclrtGetDeviceCount(&raw mut count)
                    },
                ];
                for call in calls {
                    let came = &came;
                    scope.spawn(move || {
                        t.ok(call(context), "a call of another thread");
                        came.fetch_add(1, Ordering::SeqCst);
                    });
                }
                std::thread::sleep(HOLD);
                t.eq(
                    came.load(Ordering::SeqCst),
                    0,
                    "calls that came back while locked",
                );
                t.ok(backup(), "backup");
                std::thread::sleep(HOLD);
                t.eq(
                    came.load(Ordering::SeqCst),
                    0,
                    "calls that came back while backed up",
                );
                t.ok(unlock(), "unlock");
            });
            t.eq(
                came.load(Ordering::SeqCst),
                4,
                "calls that came back afterwards",
            );
        }),
        case(
            "x.snapshot.queued_work_is_finished",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let (p, _) = t.filled(MIB);
                let (h, bytes) = t.pinned(MIB);
                let gate = t.hold(s);
                t.copy_async(p, h, bytes.len(), s);
                let counter = t.counted(s);
                t.blocks(*gate, || t.ok(lock(), "lock"));
                t.eq(
                    counter.calls(),
                    1,
                    "calls of queued work when the process is locked",
                );
                t.ok(unlock(), "unlock");
                t.holds(p, &bytes, "what was queued");
            },
        ),
        case(
            "x.snapshot.eager",
            Setup::device0().env("CANNERY_SCHEDULE", "eager"),
            finished,
        ),
        case(
            "x.snapshot.lazy",
            Setup::device0().env("CANNERY_SCHEDULE", "lazy"),
            finished,
        ),
        case(
            "x.snapshot.random",
            Setup::device0().env("CANNERY_SCHEDULE", "random:3"),
            finished,
        ),
        case("x.snapshot.work_that_never_ends", Setup::device0(), |t| {
            let s = t.stream();
            let n = t.notify();
            t.ok(aclrtWaitAndResetNotify(n, s, 0), "aclrtWaitAndResetNotify");
            t.fails(lock(), LOCK_TIMEOUT, "lock");
            // The process runs on.
            t.fails(unlock(), UNLOCK_FAILED, "unlock");
            t.ok(aclrtRecordNotify(n, t.stream()), "aclrtRecordNotify");
            t.sync(s);
            t.ok(lock(), "lock");
            t.ok(unlock(), "unlock");
        }),
        case("x.snapshot.callback_threads", Setup::device0(), |t| {
            // A thread that serves callbacks waits inside a call for ever; work that needs it is finished.
            let s = t.stream() as usize;
            let counter = Counter::new();
            let stop = AtomicBool::new(false);
            let thread = std::sync::mpsc::channel();
            let context = t.context() as usize;
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let _ = thread.0.send(this_thread());
                    t.ok(aclrtSetCurrentContext(addr(context)), "a context");
                    while !stop.load(Ordering::SeqCst) {
                        let _ = aclrtProcessReport(1000);
                        let _ = recent_text();
                    }
                });
                let server = thread.1.recv().unwrap_or(0);
                t.ok(
                    aclrtSubscribeReport(server, addr(s)),
                    "aclrtSubscribeReport",
                );
                // The first call of the chapter: from now on calls are counted.
                t.ok(lock(), "lock");
                t.ok(unlock(), "unlock");
                std::thread::sleep(HOLD);
                let f = Counter::function();
                let code = aclrtLaunchCallback(f, counter.data(), ACL_CALLBACK_BLOCK, addr(s));
                t.ok(code, "aclrtLaunchCallback");
                t.ok(lock(), "lock");
                t.eq(counter.calls(), 1, "calls when the process is locked");
                t.ok(unlock(), "unlock");
                stop.store(true, Ordering::SeqCst);
            });
        }),
        case("x.snapshot.many_threads", Setup::device0(), |t| {
            // Threads that allocate, copy and free all the time meet snapshots; every byte stays right.
            let stop = AtomicBool::new(false);
            let context = t.context() as usize;
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        t.ok(aclrtSetCurrentContext(addr(context)), "a context");
                        while !stop.load(Ordering::SeqCst) {
                            let (p, bytes) = t.filled(MIB + 4096);
                            t.holds(p, &bytes, "bytes across snapshots");
                            t.free(p);
                        }
                    });
                }
                for round in 0..6 {
                    t.ok(lock(), "lock");
                    t.ok(backup(), "backup");
                    if round % 2 == 0 {
                        t.ok(restore(), "restore");
                    }
                    t.ok(unlock(), "unlock");
                    std::thread::sleep(HOLD / 5);
                }
                stop.store(true, Ordering::SeqCst);
            });
        }),
    ]
}

/// What is queued is done when the process is locked, whatever decides when it runs.
fn finished(t: &T) {
    let (s, other) = (t.stream(), t.stream());
    let (p, _) = t.filled(MIB);
    let (h, bytes) = t.pinned(MIB);
    let e = t.event();
    t.copy_async(p, h, bytes.len(), s);
    t.record(e, s);
    t.wait_event(other, e);
    let counter = t.counted(other);
    t.ok(lock(), "lock");
    t.eq(
        counter.calls(),
        1,
        "calls of queued work when the process is locked",
    );
    t.ok(backup(), "backup");
    t.ok(restore(), "restore");
    t.ok(unlock(), "unlock");
    t.holds(p, &bytes, "what was queued");
}

/// Memory that the callbacks below write over: device address, bytes.
static TARGETS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

#[allow(unsafe_code)] // The type of a C callback.
unsafe extern "C" fn scribble(_device: i32, _args: *mut c_void) -> u32 {
    let targets = TARGETS.lock().expect("no panic");
    let code = targets.iter().map(|(at, bytes)| {
        let code = aclrtMemset(addr(*at), *bytes, 0x5a, *bytes);
        u32::from(code != 0)
    });
    code.sum()
}

#[allow(unsafe_code)] // The type of a C callback.
unsafe extern "C" fn release(_device: i32, _args: *mut c_void) -> u32 {
    let mut targets = TARGETS.lock().expect("no panic");
    let codes = targets.drain(..);
    codes
        .map(|(at, _)| u32::from(aclrtFree(addr(at)) != 0))
        .sum()
}

fn target(p: *mut c_void, bytes: usize) {
    TARGETS.lock().expect("no panic").push((p as usize, bytes));
}

fn memory() -> Vec<Case> {
    vec![
        case(
            "x.snapshot.bytes_come_back",
            Setup::device0().devices(2),
            |t| {
                // Large and small blocks, cached and media memory, a second device, physical memory, a pool.
                let mut blocks: Vec<(*mut c_void, Vec<u8>)> = Vec::new();
                for bytes in [3 * MIB + 17, MIB, 100, 40 * KIB] {
                    blocks.push(t.filled(bytes));
                }
                let s = t.stream();
                for p in [t.mapped(2), t.pooled(4 * MIB, t.pool(), s)] {
                    let random = t.random_bytes(4 * MIB);
                    t.upload(p, &random);
                    blocks.push((p, random));
                }
                // One whose upper half was never written: zeros come back too.
                let half = t.malloc(4 * MIB, ACL_MEM_MALLOC_HUGE_ONLY);
                t.ok(aclrtMemset(half, 4 * MIB, 0, 4 * MIB), "aclrtMemset");
                let mut bytes = t.random_bytes(2 * MIB);
                t.upload(half, &bytes);
                bytes.resize(4 * MIB, 0);
                blocks.push((half, bytes));
                t.ok(aclrtSetDevice(1), "aclrtSetDevice");
                blocks.push(t.filled(2 * MIB));
                for (p, bytes) in &blocks {
                    target(*p, bytes.len());
                }
                let stage = ACL_RT_SNAPSHOT_RESTORE_PRE;
                let code = aclrtSnapShotCallbackRegister(stage, Some(scribble), null_mut());
                t.ok(code, "aclrtSnapShotCallbackRegister");
                let before = t.pools();
                t.ok(lock(), "lock");
                t.ok(backup(), "backup");
                t.ok(restore(), "restore");
                t.ok(unlock(), "unlock");
                for (p, bytes) in &blocks {
                    t.holds(*p, bytes, "bytes after restoring");
                }
                t.eq(t.pools(), before, "free memory");
                // Without restoring, what the callback writes stays.
                let stage = ACL_RT_SNAPSHOT_BACKUP_POST;
                let code = aclrtSnapShotCallbackRegister(stage, Some(scribble), null_mut());
                t.ok(code, "aclrtSnapShotCallbackRegister");
                t.ok(lock(), "lock");
                t.ok(backup(), "backup");
                t.ok(unlock(), "unlock");
                for (p, bytes) in &blocks {
                    t.holds(*p, &vec![0x5a; bytes.len()], "bytes that nobody restored");
                }
            },
        ),
        case("x.snapshot.last_backup_wins", Setup::device0(), |t| {
            let (p, first) = t.filled(2 * MIB);
            t.ok(lock(), "lock");
            t.ok(backup(), "backup");
            t.ok(unlock(), "unlock");
            let second = t.random_bytes(first.len());
            t.upload(p, &second);
            let stage = ACL_RT_SNAPSHOT_RESTORE_PRE;
            target(p, first.len());
            let code = aclrtSnapShotCallbackRegister(stage, Some(scribble), null_mut());
            t.ok(code, "aclrtSnapShotCallbackRegister");
            t.ok(lock(), "lock");
            t.ok(backup(), "backup");
            t.ok(restore(), "restore");
            t.ok(unlock(), "unlock");
            t.holds(p, &second, "bytes of the last backup");
        }),
        case("x.snapshot.memory_that_is_gone", Setup::device0(), |t| {
            let (kept, bytes) = t.filled(MIB);
            let (p, _) = t.filled(8 * MIB);
            target(p, 8 * MIB);
            let stage = ACL_RT_SNAPSHOT_BACKUP_POST;
            let code = aclrtSnapShotCallbackRegister(stage, Some(release), null_mut());
            t.ok(code, "aclrtSnapShotCallbackRegister");
            t.ok(lock(), "lock");
            t.ok(backup(), "backup");
            t.fails(
                restore(),
                RESTORE_FAILED,
                "restoring memory that a callback released",
            );
            t.ok(unlock(), "unlock");
            t.holds(kept, &bytes, "the other block");
        }),
    ]
}

/// Stage, device.
static CALLS: Mutex<Vec<(usize, i32)>> = Mutex::new(Vec::new());
static REFUSE_AT: AtomicU32 = AtomicU32::new(u32::MAX);

#[allow(unsafe_code)] // The type of a C callback.
unsafe extern "C" fn note(device: i32, args: *mut c_void) -> u32 {
    CALLS
        .lock()
        .expect("no panic")
        .push((args as usize, device));
    u32::from(args as usize == REFUSE_AT.load(Ordering::SeqCst) as usize)
}

fn calls() -> Vec<(usize, i32)> {
    std::mem::take(&mut *CALLS.lock().expect("no panic"))
}

fn callbacks() -> Vec<Case> {
    vec![
        case("x.snapshot.callbacks", Setup::device0().devices(3), |t| {
            t.ok(aclrtSetDevice(2), "aclrtSetDevice");
            for stage in 0..6 {
                let register =
                    || aclrtSnapShotCallbackRegister(stage, Some(note), addr(stage as usize));
                t.ok(register(), "aclrtSnapShotCallbackRegister");
                t.fails(register(), REGISTER_FAILED, "the same once more");
            }
            for call in [lock, backup, restore, unlock] {
                t.ok(call(), "a step");
            }
            // Every stage in its turn, for the devices that are set.
            let want: Vec<(usize, i32)> =
                (0..6).flat_map(|stage| [(stage, 0), (stage, 2)]).collect();
            t.eq(calls(), want, "calls");
            for stage in 0..6 {
                let unregister = || aclrtSnapShotCallbackUnregister(stage, Some(note));
                t.ok(unregister(), "aclrtSnapShotCallbackUnregister");
                t.fails(unregister(), ERROR_PARAM, "one that is unknown");
            }
            t.ok(lock(), "lock");
            t.ok(unlock(), "unlock");
            t.eq(calls(), vec![], "calls of nobody");
            for bad in [-1, 6, i32::MAX] {
                let code = aclrtSnapShotCallbackRegister(bad, Some(note), null_mut());
                t.fails(code, ERROR_PARAM, "an unknown stage");
            }
            let code = aclrtSnapShotCallbackRegister(0, None, null_mut());
            t.fails(code, ERROR_PARAM, "no function");
            t.fails(
                aclrtSnapShotCallbackUnregister(0, None),
                ERROR_PARAM,
                "no function",
            );
        }),
        case("x.snapshot.callbacks_that_fail", Setup::device0(), |t| {
            for stage in 0..6 {
                let code = aclrtSnapShotCallbackRegister(stage, Some(note), addr(stage as usize));
                t.ok(code, "aclrtSnapShotCallbackRegister");
            }
            let fail_at = |stage: i32| REFUSE_AT.store(stage as u32, Ordering::SeqCst);
            fail_at(ACL_RT_SNAPSHOT_LOCK_PRE);
            t.fails(lock(), CALLBACK_FAILED, "lock");
            t.fails(unlock(), UNLOCK_FAILED, "the process runs on");
            fail_at(ACL_RT_SNAPSHOT_BACKUP_PRE);
            t.ok(lock(), "lock");
            t.fails(backup(), CALLBACK_FAILED, "backup");
            t.fails(restore(), RESTORE_FAILED, "nothing was kept");
            fail_at(ACL_RT_SNAPSHOT_BACKUP_POST);
            t.fails(backup(), CALLBACK_FAILED, "backup");
            fail_at(ACL_RT_SNAPSHOT_RESTORE_PRE);
            t.fails(restore(), CALLBACK_FAILED, "restore");
            fail_at(ACL_RT_SNAPSHOT_RESTORE_POST);
            t.fails(restore(), CALLBACK_FAILED, "restore");
            t.fails(restore(), RESTORE_FAILED, "it was restored");
            fail_at(ACL_RT_SNAPSHOT_UNLOCK_POST);
            t.fails(unlock(), CALLBACK_FAILED, "unlock");
            t.usable(t.malloc(MIB, ACL_MEM_MALLOC_HUGE_FIRST), MIB);
        }),
    ]
}
