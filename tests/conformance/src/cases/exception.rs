//! Functions that are called when a queued task fails, and what they can ask.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = lines();
    cases.extend(own());
    cases
}

static FIRST: AtomicU32 = AtomicU32::new(0);
static SECOND: AtomicU32 = AtomicU32::new(0);
static SEEN: Mutex<Vec<[u32; 5]>> = Mutex::new(Vec::new());

/// What the getters say.
fn facts(info: *const aclrtExceptionInfo) -> [u32; 5] {
    [
        aclrtGetDeviceIdFromExceptionInfo(info),
        aclrtGetStreamIdFromExceptionInfo(info),
        aclrtGetTaskIdFromExceptionInfo(info),
        aclrtGetThreadIdFromExceptionInfo(info),
        aclrtGetErrorCodeFromExceptionInfo(info),
    ]
}

#[allow(unsafe_code)] // The type of a C callback.
unsafe extern "C" fn first(info: *mut aclrtExceptionInfo) {
    SEEN.lock().expect("no panic").push(facts(info));
    FIRST.fetch_add(1, Ordering::SeqCst);
}

#[allow(unsafe_code)] // The type of a C callback.
unsafe extern "C" fn second(_info: *mut aclrtExceptionInfo) {
    SECOND.fetch_add(1, Ordering::SeqCst);
}

/// Calls of both since the last look.
fn calls() -> (u32, u32) {
    (
        FIRST.swap(0, Ordering::SeqCst),
        SECOND.swap(0, Ordering::SeqCst),
    )
}

/// A task of the stream fails: a wait of one second that nobody ends.
fn fail(t: &T, s: aclrtStream) -> i64 {
    let n = t.notify();
    t.ok(aclrtWaitAndResetNotify(n, s, 1), "aclrtWaitAndResetNotify");
    let code = i64::from(aclrtSynchronizeStream(s));
    t.check(
        code != 0 && recent_text().is_some(),
        "the task did not fail",
    );
    code
}

fn lines() -> Vec<Case> {
    vec![
        case("callback.exception.register_null", Setup::device0(), |t| {
            t.ret(aclrtExceptionInfoCallbackRegister(None));
            let code = aclrtExceptionInfoCallbackUnregister(None);
            t.fails(code, 107_000, "nothing to unregister");
        }),
        case(
            "callback.exception.register_same_twice",
            Setup::device0(),
            |t| {
                let code = aclrtExceptionInfoCallbackRegister(Some(first));
                t.ok(code, "aclrtExceptionInfoCallbackRegister");
                t.ret(aclrtExceptionInfoCallbackRegister(Some(first)));
                fail(t, t.stream());
                t.eq(calls(), (1, 0), "calls of one registered twice");
            },
        ),
        case("callback.exception.set_null", Setup::device0(), |t| {
            t.ok(aclrtSetExceptionInfoCallback(Some(first)), "set");
            t.ret(aclrtSetExceptionInfoCallback(None));
            fail(t, t.stream());
            t.eq(calls(), (0, 0), "calls of one that was cleared");
        }),
        case(
            "callback.exception_info.null_device",
            Setup::device0(),
            |t| {
                t.ret(aclrtGetDeviceIdFromExceptionInfo(null()));
            },
        ),
        case(
            "callback.exception_info.null_error_code",
            Setup::device0(),
            |t| {
                t.ret(aclrtGetErrorCodeFromExceptionInfo(null()));
            },
        ),
        case("callback.exception_info.null_task", Setup::device0(), |t| {
            t.ret(aclrtGetTaskIdFromExceptionInfo(null()));
        }),
        case(
            "callback.exception_info.null_thread",
            Setup::device0(),
            |t| {
                t.ret(aclrtGetThreadIdFromExceptionInfo(null()));
            },
        ),
    ]
}

fn own() -> Vec<Case> {
    vec![case(
        "x.exception.called_with_facts",
        Setup::device0().devices(2),
        |t| {
            t.ok(aclrtSetExceptionInfoCallback(Some(first)), "set");
            t.ok(aclrtExceptionInfoCallbackRegister(Some(second)), "register");
            t.ok(aclrtSetDevice(1), "aclrtSetDevice");
            let s = t.stream();
            let n = t.notify();
            // Two tasks before the one that fails.
            for _ in 0..2 {
                t.ok(aclrtRecordNotify(n, s), "aclrtRecordNotify");
            }
            let code = fail(t, s);
            let mut last = 0;
            t.ok(
                aclrtGetThreadLastTaskId(&raw mut last),
                "aclrtGetThreadLastTaskId",
            );
            let mut id = -1;
            t.ok(aclrtStreamGetId(s, &raw mut id), "aclrtStreamGetId");
            t.eq(calls(), (1, 1), "calls of both kinds");
            let seen = std::mem::take(&mut *SEEN.lock().expect("no panic"));
            let want = [1, id.cast_unsigned(), last, u32::MAX, code as u32];
            t.eq(seen, vec![want], "device, stream, task, thread, code");
            // One that was set and registered is called twice.
            t.ok(aclrtExceptionInfoCallbackRegister(Some(first)), "register");
            t.ok(
                aclrtExceptionInfoCallbackUnregister(Some(second)),
                "unregister",
            );
            t.ok(
                aclrtExceptionInfoCallbackUnregister(Some(second)),
                "one that is unknown",
            );
            fail(t, s);
            t.eq(calls(), (2, 0), "calls");
            // Unregistering does not remove what was set.
            t.ok(
                aclrtExceptionInfoCallbackUnregister(Some(first)),
                "unregister",
            );
            fail(t, s);
            t.eq(calls(), (1, 0), "calls");
            // A pointer is good inside the callback only, and no value crashes.
            for wild in [8usize, usize::MAX, 0x00d8_0000_0000_0010] {
                t.eq(
                    facts(addr(wild).cast_const().cast()),
                    [u32::MAX; 5],
                    "facts of nothing",
                );
                t.check(recent_text().is_some(), "no text");
            }
        },
    )]
}
