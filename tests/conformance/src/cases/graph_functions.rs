//! What host functions within models may do.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::graph::*;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut list = Vec::new();
    under_schedules!(list, "x.graph.function.frees", frees);
    under_schedules!(list, "x.graph.function.aborts", aborts);
    list
}

/// A function that takes longer does not return.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the call of a function answered.
static ANSWER: AtomicI64 = AtomicI64::new(-1);

extern "C" fn free(data: *mut c_void) {
    ANSWER.store(aclrtFreeHost(data).into(), Ordering::SeqCst);
}

/// The context of the stream that is aborted: the thread of a function has none of its own.
static CONTEXT: AtomicU64 = AtomicU64::new(0);

extern "C" fn abort_stream(data: *mut c_void) {
    let context = addr(CONTEXT.load(Ordering::SeqCst) as usize);
    assert_eq!(aclrtSetCurrentContext(context), 0, "aclrtSetCurrentContext");
    ANSWER.store(aclrtStreamAbort(data).into(), Ordering::SeqCst);
}

/// A model whose body calls a function between two fills, on a branch of its own.
fn with_function(
    t: &T,
    s: aclrtStream,
    p: *mut c_void,
    function: aclrtHostFunc,
    data: *mut c_void,
) -> aclmdlRI {
    let side = t.stream();
    let fill = |value, own| {
        let code = aclrtMemsetAsync(p, LEN, value, LEN, own);
        t.ok(code, "aclrtMemsetAsync");
    };
    t.model(s, || {
        let (handle, _) = t.condition(s, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT);
        let bodies = t.choice(handle, ACL_MODEL_RI_COND_TYPE_IF, 1, s);
        t.fill_body(bodies[0], |own| {
            fill(1, own);
            t.link(own, side);
            t.host_function(side, function, data);
            t.link(side, own);
            fill(2, own);
        });
    })
}

/// Memory goes while the task that lets it go is at work.
fn frees(t: &T) {
    let s = t.stream();
    let p = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
    let mut block = null_mut();
    t.ok(aclrtMallocHost(&raw mut block, LEN), "aclrtMallocHost");
    let model = with_function(t, s, p, Some(free), block);
    for want in [0, ERROR_PARAM] {
        t.replay(model, s);
        t.sync(s);
        t.eq(ANSWER.load(Ordering::SeqCst), want, "aclrtFreeHost");
        t.holds(p, &vec![2; LEN], "what follows");
    }
    t.destroy_model(model);
}

/// A run ends while a function of it is at work.
fn aborts(t: &T) {
    let s = t.stream();
    let (p, old) = t.filled(LEN);
    CONTEXT.store(t.context() as u64, Ordering::SeqCst);
    let model = with_function(t, s, p, Some(abort_stream), s);
    t.replay(model, s);
    // Who waits already is told that the tasks have not run.
    let code = i64::from(aclrtSynchronizeStream(s));
    let told = i64::from(ACL_ERROR_RT_STREAM_ABORT);
    t.check(code == 0 || code == told, &format!("the wait: {code}"));
    t.sync(s);
    // The function itself may take a moment more.
    let began = Instant::now();
    while ANSWER.load(Ordering::SeqCst) == -1 && began.elapsed() < PATIENCE {
        std::thread::yield_now();
    }
    t.eq(ANSWER.load(Ordering::SeqCst), 0, "aclrtStreamAbort");
    t.holds(p, &vec![1; LEN], "nothing follows");
    t.upload(p, &old);
    let q = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
    let code = aclrtMemsetAsync(q, LEN, 3, LEN, s);
    t.ok(code, "aclrtMemsetAsync");
    t.sync(s);
    t.holds(q, &vec![3; LEN], "the stream goes on");
    t.holds(p, &old, "nothing comes later");
    t.destroy_model(model);
}
