//! What ends the task or the tasks of a stream: runs of built models without an end, waits that nobody ends.

use super::gate::*;
use super::graph::*;
use super::support::*;

/// A built model whose runs go on without end while the first integer of `index` is 0; then they fill memory
/// with 4 on a second stream, and end.
struct Endless {
    model: aclmdlRI,
    index: *mut c_void,
    p: *mut c_void,
    old: Vec<u8>,
}

/// `front` queues what comes before the loop.
fn endless<R>(t: &T, front: impl FnOnce(aclrtStream) -> R) -> (Endless, R) {
    let index = t.words(&[0]);
    let (p, old) = t.filled(LEN);
    let model = t.build();
    let (s, r) = (t.persistent(), t.persistent());
    t.bind(model, s);
    t.bind_later(model, r);
    let (top, end) = (t.label(), t.label());
    let both = t.label_list(&mut [top, end]);
    let queued = front(s);
    t.set_label(top, s);
    t.jump(index, 2, both, s);
    t.set_label(end, r);
    t.fill(p, 4, r);
    t.build_end(model);
    let endless = Endless {
        model,
        index,
        p,
        old,
    };
    (endless, queued)
}

/// Ends a stream that endless runs were queued on.
fn endless_on_a_stream(t: &T, force: bool) {
    // The end of what is queued on a stream is the end of the runs that are queued there, of no other.
    let (it, begun) = endless(t, |s| t.counted(s));
    let Endless {
        model, index, p, ..
    } = it;
    let other = t.stream();
    for last in [false, true] {
        let calls = begun.calls();
        let mut own = null_mut();
        t.ok(aclrtCreateStream(&raw mut own), "aclrtCreateStream");
        t.put_words(index, &[0]);
        t.replay(model, own);
        t.replay(model, own);
        if !last {
            t.replay(model, other);
        }
        let late = aclrtSynchronizeStreamWithTimeout(own, 100);
        t.fails(late, TOO_LATE, "a run without end");
        t.fails(aclmdlRIDestroy(model), RUNNING, "its end meanwhile");
        if force {
            t.ok(aclrtDestroyStreamForce(own), "aclrtDestroyStreamForce");
        } else {
            t.ok(aclrtStreamAbort(own), "aclrtStreamAbort");
            t.sync(own);
        }
        if last {
            break;
        }
        // It may have begun already.
        t.put_words(index, &[1]);
        t.sync(other);
        t.holds(p, &vec![4; LEN], "after the run on another stream");
        t.eq(begun.calls(), calls + 2, "runs that began");
    }
    t.destroy_model(model);
    t.ok(aclrtResetDevice(0), "aclrtResetDevice");
    t.ok(aclrtSetDevice(0), "aclrtSetDevice");
}

pub(super) fn cases() -> Vec<Case> {
    let mut list = Vec::new();
    for (id, schedule) in [
        ("x.graph.label.endless", "fifo"),
        ("x.graph.label.endless.random_3", "random:3"),
    ] {
        let setup = Setup::device0().env("CANNERY_SCHEDULE", schedule);
        list.push(case(id, setup, |t| {
            // Ended by an abort; the streams of the model can run it again.
            let (it, ()) = endless(t, |_| ());
            let Endless {
                model,
                index,
                p,
                old,
            } = it;
            t.fails(aclmdlRIExecute(model, 30), TOO_LATE, "a run without end");
            t.fails(aclmdlRIDestroy(model), RUNNING, "its end meanwhile");
            t.ok(aclmdlRIAbort(model), "aclmdlRIAbort");
            t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
            t.holds(p, &old, "after the abort");
            t.put_words(index, &[1]);
            t.run(model);
            t.holds(p, &vec![4; LEN], "after the next run");
            t.destroy_model(model);
        }));
    }
    for (ids, schedule) in [
        (
            [
                "x.graph.label.endless_stream_abort",
                "x.graph.label.endless_stream_destroy",
            ],
            "fifo",
        ),
        (
            [
                "x.graph.label.endless_stream_abort.random_3",
                "x.graph.label.endless_stream_destroy.random_3",
            ],
            "random:3",
        ),
    ] {
        let setup = || Setup::device0().env("CANNERY_SCHEDULE", schedule);
        list.push(case(ids[0], setup(), |t| endless_on_a_stream(t, false)));
        list.push(case(ids[1], setup(), |t| endless_on_a_stream(t, true)));
    }
    list.push(case("x.graph.label.endless_reset", Setup::device0(), |t| {
        let index = t.words(&[0]);
        let model = t.build();
        let s = t.persistent();
        t.bind(model, s);
        let top = t.label();
        let one = t.label_list(&mut [top]);
        t.set_label(top, s);
        t.jump(index, 1, one, s);
        t.build_end(model);
        t.replay(model, t.stream());
        // A reset waits for what is queued.
        let handle = model as usize;
        let ended = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let aborter = std::thread::spawn({
            let ended = ended.clone();
            move || {
                std::thread::sleep(HOLD);
                ended.store(true, std::sync::atomic::Ordering::SeqCst);
                aclmdlRIAbort(addr(handle))
            }
        });
        t.ok(aclrtResetDeviceForce(0), "aclrtResetDeviceForce");
        t.check(
            ended.load(std::sync::atomic::Ordering::SeqCst),
            "the reset came back while the model ran",
        );
        t.eq(aborter.join().ok(), Some(ACL_SUCCESS), "aclmdlRIAbort");
        t.ok(aclrtSetDevice(0), "aclrtSetDevice");
        let (p, _) = t.filled(LEN);
        let other = t.stream();
        t.fill(p, 6, other);
        t.sync(other);
        t.holds(p, &vec![6; LEN], "work after the reset");
    }));
    list.push(case("x.stream.stop.ends_a_wait", Setup::device0(), |t| {
        let s = t.stream();
        let (p, _) = t.filled(LEN);
        let cell = t.malloc(8, ACL_MEM_MALLOC_NORMAL_ONLY);
        t.upload(cell, &[0; 8]);
        let n = t.notify();
        for kind in 0..3 {
            let value = 10 + kind;
            let reached = t.counted(s);
            match kind {
                0 => {
                    let code = aclrtValueWait(cell, 1, ACL_STREAM_WAIT_VALUE_EQ, s);
                    t.ok(code, "aclrtValueWait");
                }
                1 => t.ok(aclrtWaitAndResetNotify(n, s, 0), "aclrtWaitAndResetNotify"),
                _ => t.ok(
                    aclrtWaitAndResetNotify(n, s, 600),
                    "aclrtWaitAndResetNotify",
                ),
            }
            t.fill(p, value, s);
            let late = aclrtSynchronizeStreamWithTimeout(s, 50);
            t.fails(late, TOO_LATE, "before the stop");
            t.eq(reached.calls(), 1, "what is in front of the wait");
            t.ok(aclrtStreamStop(s), "aclrtStreamStop");
            t.sync(s);
            t.holds(p, &vec![value as u8; LEN], "what was queued behind");
        }
        t.ok(aclrtStreamStop(s), "of a stream that has nothing to do");
        // The notify was not taken by a wait that was ended.
        t.ok(aclrtRecordNotify(n, s), "aclrtRecordNotify");
        t.ok(aclrtWaitAndResetNotify(n, s, 0), "aclrtWaitAndResetNotify");
        t.sync(s);
    }));
    list.push(case("x.device.reset_force.waits", Setup::device0(), |t| {
        // The manual says so; a wait that nothing ends is ended by an abort of its stream.
        let s = t.stream();
        let cell = t.malloc(8, ACL_MEM_MALLOC_NORMAL_ONLY);
        t.upload(cell, &[0; 8]);
        let code = aclrtValueWait(cell, 1, ACL_STREAM_WAIT_VALUE_EQ, s);
        t.ok(code, "aclrtValueWait");
        let context = t.context() as usize;
        let stream = s as usize;
        let ended = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let aborter = std::thread::spawn({
            let ended = ended.clone();
            move || {
                std::thread::sleep(HOLD);
                ended.store(true, std::sync::atomic::Ordering::SeqCst);
                let code = aclrtSetCurrentContext(addr(context));
                if code == 0 {
                    aclrtStreamAbort(addr(stream))
                } else {
                    code
                }
            }
        });
        t.ok(aclrtResetDeviceForce(0), "aclrtResetDeviceForce");
        t.check(
            ended.load(std::sync::atomic::Ordering::SeqCst),
            "the reset came back while the wait was queued",
        );
        t.eq(aborter.join().ok(), Some(ACL_SUCCESS), "aclrtStreamAbort");
    }));
    list.push(case("x.stream.stop.refusals", Setup::device0(), |t| {
        t.fails(aclrtStreamStop(t.dead_stream()), DEAD, "a dead stream");
        let s = t.stream();
        let model = t.model(s, || {
            t.fails(aclrtStreamStop(s), STREAM_CAPTURED, "a captured stream");
        });
        t.destroy_model(model);
        let model = t.build();
        let bound = t.persistent();
        t.bind(model, bound);
        t.fails(aclrtStreamStop(bound), ERROR_PARAM, "a bound stream");
        t.fails(aclrtStreamAbort(bound), ERROR_PARAM, "an abort of it");
        let gate = Gate::closed();
        t.host_function(s, Gate::function(), gate.data());
        gate.reached(t);
        t.fails_with(
            aclrtStreamStop(s),
            ERROR_UNSUPPORTED,
            "func=aclrtStreamStop 'host function' 'let it return first'",
            "a stream in a host function",
        );
        gate.open();
        t.sync(s);
        t.destroy_model(model);
    }));
    list
}
