//! Functions called after streams are made and before they are destroyed.

use std::ffi::CStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::gate::*;
use super::support::*;

const MADE: aclrtStreamState = ACL_RT_STREAM_STATE_CREATE_POST;
const ENDING: aclrtStreamState = ACL_RT_STREAM_STATE_DESTROY_PRE;

/// What the functions were called with: the number they were registered with, the stream, the state.
static CALLS: Mutex<Vec<(usize, usize, aclrtStreamState)>> = Mutex::new(Vec::new());

fn calls() -> MutexGuard<'static, Vec<(usize, usize, aclrtStreamState)>> {
    CALLS.lock().unwrap_or_else(PoisonError::into_inner)
}

extern "C" fn note(stream: aclrtStream, state: aclrtStreamState, args: *mut c_void) {
    calls().push((args as usize, stream as usize, state));
}

/// Queues and waits on the stream, whatever state it is told of.
extern "C" fn use_it(stream: aclrtStream, state: aclrtStreamState, args: *mut c_void) {
    let counter = Counter::new();
    let works = aclrtLaunchHostFunc(stream, Counter::function(), counter.data()) == 0
        && aclrtSynchronizeStream(stream) == 0
        && counter.calls() == 1;
    calls().push((args as usize + usize::from(works), stream as usize, state));
}

fn register(name: &CStr, call: aclrtStreamStateCallback, number: usize) -> aclError {
    aclrtRegStreamStateCallback(name.as_ptr(), call, addr(number))
}

/// Registers `note` under "first".
fn watch(t: &T) {
    t.ok(register(c"first", Some(note), 1), "registration");
}

/// Exactly these calls since the last look.
fn saw(t: &T, want: &[(usize, usize, aclrtStreamState)], what: &str) {
    let got = std::mem::take(&mut *calls());
    t.eq(got.as_slice(), want, what);
}

fn default_stream(t: &T) -> usize {
    let mut s = SENTINEL;
    let code = aclrtCtxGetCurrentDefaultStream(&raw mut s);
    t.ok(code, "aclrtCtxGetCurrentDefaultStream");
    s as usize
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = streams();
    cases.extend(names());
    cases
}

fn streams() -> Vec<Case> {
    vec![
        case("x.stream_state.create_and_destroy", Setup::device0(), |t| {
            watch(t);
            let s = t.stream();
            let a = s as usize;
            saw(t, &[(1, a, MADE)], "after aclrtCreateStream");
            let mut s2 = SENTINEL;
            let code = aclrtCreateStreamWithConfig(&raw mut s2, 0, ACL_STREAM_FAST_SYNC);
            t.ok(code, "aclrtCreateStreamWithConfig");
            let b = s2 as usize;
            saw(t, &[(1, b, MADE)], "after aclrtCreateStreamWithConfig");
            t.ok(aclrtDestroyStream(s), "aclrtDestroyStream");
            saw(t, &[(1, a, ENDING)], "after aclrtDestroyStream");
            t.ok(aclrtDestroyStreamForce(s2), "aclrtDestroyStreamForce");
            saw(t, &[(1, b, ENDING)], "after aclrtDestroyStreamForce");
        }),
        case("x.stream_state.refused_calls", Setup::device0(), |t| {
            watch(t);
            let code = aclrtCreateStream(null_mut());
            t.fails(code, ERROR_FRONT, "no place");
            let foreign = t.foreign_stream();
            calls().clear();
            let code = aclrtDestroyStream(foreign);
            t.fails(code, ERROR_FOREIGN_STREAM, "a foreign stream");
            let dead = t.dead_stream();
            calls().clear();
            let code = aclrtDestroyStream(dead);
            t.fails(code, ERROR_HANDLE, "a dead stream");
            saw(t, &[], "calls of failed calls");
        }),
        case("x.stream_state.default_stream", Setup::init(), |t| {
            watch(t);
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            let primary = default_stream(t);
            saw(t, &[(1, primary, MADE)], "after aclrtSetDevice");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            saw(t, &[], "after aclrtSetDevice again");
            let context = t.create_context(0);
            let own = default_stream(t);
            saw(t, &[(1, own, MADE)], "after aclrtCreateContext");
            let s = t.stream() as usize;
            saw(t, &[(1, s, MADE)], "after aclrtCreateStream");
            t.ok(aclrtDestroyContext(context), "aclrtDestroyContext");
            let mut got = std::mem::take(&mut *calls());
            got.sort_unstable();
            let mut want = [(1, own, ENDING), (1, s, ENDING)];
            want.sort_unstable();
            t.eq(got.as_slice(), &want[..], "after aclrtDestroyContext");
            t.ok(aclrtResetDevice(0), "aclrtResetDevice");
            saw(t, &[], "after the first aclrtResetDevice");
            t.ok(aclrtResetDevice(0), "aclrtResetDevice");
            saw(
                t,
                &[(1, primary, ENDING)],
                "after the last aclrtResetDevice",
            );
        }),
        case(
            "x.stream_state.default_stream_later",
            Setup::device0(),
            |t| {
                watch(t);
                saw(t, &[], "before the default stream is used");
                let counter = t.counted(null_mut());
                t.sync(null_mut());
                t.eq(counter.calls(), 1, "calls on the default stream");
                saw(t, &[(1, default_stream(t), MADE)], "after its first use");
                t.ok(aclrtResetDeviceForce(0), "aclrtResetDeviceForce");
                let got = std::mem::take(&mut *calls());
                t.eq(got.len(), 1, "calls of the reset");
                t.check(got.iter().all(|call| call.2 == ENDING), "states");
            },
        ),
        case("x.stream_state.may_use_the_stream", Setup::init(), |t| {
            t.ok(register(c"user", Some(use_it), 10), "registration");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            let default = default_stream(t);
            let s = t.stream();
            t.ok(aclrtDestroyStream(s), "aclrtDestroyStream");
            t.ok(aclrtResetDevice(0), "aclrtResetDevice");
            let s = s as usize;
            let want = [
                (11, default, MADE),
                (11, s, MADE),
                (11, s, ENDING),
                (11, default, ENDING),
            ];
            saw(t, &want, "calls in which the stream worked");
        }),
    ]
}

fn names() -> Vec<Case> {
    vec![
        case("x.stream_state.names", Setup::device0(), |t| {
            let code = aclrtRegStreamStateCallback(null(), Some(note), null_mut());
            t.fails_with(code, ERROR_FRONT, "EH0008 param=regName", "no name");
            t.fails(register(c"", Some(note), 1), ERROR_FRONT, "an empty name");
            t.fails(register(c"first", None, 1), ERROR_FRONT, "an unknown name");
            watch(t);
            let code = register(c"first", Some(note), 2);
            t.fails(code, ERROR_FRONT, "a name that is taken");
            t.ok(register(c"second", Some(note), 3), "a second name");
            let s = t.stream();
            let a = s as usize;
            let want = [(1, a, MADE), (3, a, MADE)];
            saw(t, &want, "two functions in their order");
            t.ok(register(c"first", None, 0), "taking one away");
            t.ok(aclrtDestroyStream(s), "aclrtDestroyStream");
            saw(t, &[(3, a, ENDING)], "the other one");
            t.ok(register(c"second", None, 0), "taking the other away");
            t.stream();
            saw(t, &[], "none");
            let code = register(c"second", None, 0);
            t.fails(code, ERROR_FRONT, "taking it away twice");
        }),
        case("x.stream_state.before_init", Setup::fresh(), |t| {
            watch(t);
            t.ok(aclInit(null()), "aclInit");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            saw(t, &[(1, default_stream(t), MADE)], "after aclrtSetDevice");
        }),
    ]
}
