//! Streams: making, destroying, attributes.

use super::gate::*;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = create();
    cases.extend(destroy());
    cases.extend(force());
    cases.extend(attributes());
    cases.extend(own());
    cases
}

/// A stream that exists works: it runs something and is idle afterwards.
fn works(t: &T, s: aclrtStream) {
    let counter = t.counted(s);
    t.sync(s);
    t.eq(counter.calls(), 1, "calls of a function on the stream");
    t.check(t.is_idle(s), "the stream is not idle");
}

fn create() -> Vec<Case> {
    vec![
        case("stream.create.null", Setup::device0(), |t| {
            t.ret(aclrtCreateStream(null_mut()));
        }),
        case("stream.create.ok", Setup::device0(), |t| {
            let mut s = SENTINEL;
            t.ret(aclrtCreateStream(&raw mut s));
            t.check(s != SENTINEL && !s.is_null(), "no handle was written");
            t.check(t.is_idle(s), "a new stream is not idle");
            works(t, s);
        }),
        case(
            "stream.create_config.flags_roundtrip",
            Setup::device0(),
            |t| {
                let mut s = SENTINEL;
                let flags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC;
                let code = aclrtCreateStreamWithConfig(&raw mut s, 0, flags);
                t.ok(code, "aclrtCreateStreamWithConfig");
                let mut f = 77;
                t.ret(aclrtStreamGetFlags(s, &raw mut f));
                t.eq(f, 3, "flags");
                works(t, s);
            },
        ),
        case("stream.create_config.null", Setup::device0(), |t| {
            t.ret(aclrtCreateStreamWithConfig(null_mut(), 0, 0));
        }),
        case(
            "stream.create_config.priority_clamped",
            Setup::device0(),
            |t| {
                let mut s = SENTINEL;
                let code = aclrtCreateStreamWithConfig(&raw mut s, 100, 0);
                t.ok(code, "aclrtCreateStreamWithConfig");
                let mut p = 77;
                t.ret(aclrtStreamGetPriority(s, &raw mut p));
                t.eq(p, 7, "priority");
                works(t, s);
            },
        ),
        case(
            "stream.create_config.unknown_bits_ignored",
            Setup::device0(),
            |t| {
                let mut s = SENTINEL;
                let code = aclrtCreateStreamWithConfig(&raw mut s, 0, 0x8000_0000);
                t.ok(code, "aclrtCreateStreamWithConfig");
                let mut f = 77;
                t.ret(aclrtStreamGetFlags(s, &raw mut f));
                t.eq(f, 0, "flags");
                works(t, s);
            },
        ),
        case("stream.available.decreases", Setup::device0(), |t| {
            let (mut n0, mut n1) = (0, 0);
            let code = aclrtGetStreamAvailableNum(&raw mut n0);
            t.ok(code, "aclrtGetStreamAvailableNum");
            let s = t.stream();
            t.ret(aclrtGetStreamAvailableNum(&raw mut n1));
            t.check(
                n1 < n0,
                &format!("{n0} before, {n1} after a stream was made"),
            );
            t.ok(aclrtDestroyStream(s), "aclrtDestroyStream");
            let code = aclrtGetStreamAvailableNum(&raw mut n1);
            t.ok(code, "aclrtGetStreamAvailableNum");
            t.eq(n1, n0, "available after the stream was destroyed");
        }),
        case("stream.available.null", Setup::device0(), |t| {
            t.ret(aclrtGetStreamAvailableNum(null_mut()));
        }),
    ]
}

fn destroy() -> Vec<Case> {
    vec![
        case("stream.destroy.no_context", Setup::init(), |t| {
            let a = Worker::new();
            let s = a.run(|| {
                t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                t.stream()
            });
            t.ret(aclrtDestroyStream(s));
            a.run(|| works(t, s));
        }),
        case("stream.destroy.twice", Setup::device0(), |t| {
            let s = t.dead_stream();
            t.ret(aclrtDestroyStream(s));
        }),
        case("stream.destroy.waits_for_work", Setup::device0(), |t| {
            let s = t.stream();
            let (h, bytes) = t.pinned(5000);
            let (d, _) = t.filled(5000);
            let gate = t.hold(s);
            t.copy_async(d, h, 5000, s);
            let counter = t.counted(s);
            t.ret(t.blocks(*gate, || aclrtDestroyStream(s)));
            t.eq(counter.calls(), 1, "calls of the last function");
            t.holds(d, &bytes, "destination of the queued copy");
            t.fails(aclrtSynchronizeStream(s), ERROR_HANDLE, "the handle");
        }),
        case("stream.destroy.wrong_kind", Setup::device0(), |t| {
            let e = t.event();
            t.ret(aclrtDestroyStream(e));
            let s = t.stream();
            t.record(e, s);
            t.sync(s);
            t.eq(
                t.event_status(e),
                ACL_EVENT_RECORDED_STATUS_COMPLETE,
                "status of the event",
            );
            t.ok(aclrtDestroyEvent(e), "aclrtDestroyEvent");
        }),
    ]
}

fn force() -> Vec<Case> {
    vec![
        case("stream.destroy_force.drops_work", Setup::device0(), |t| {
            let s = t.stream();
            let (h, _) = t.pinned(64);
            let (d, before) = t.filled(64);
            let gate = t.hold(s);
            t.copy_async(d, h, 64, s);
            let counter = t.counted(s);
            t.ret(aclrtDestroyStreamForce(s));
            t.check(!gate.is_open(), "the gate is open");
            gate.open();
            gate.left(t);
            counter.stays_uncalled(t, "calls of the dropped function");
            t.holds(d, &before, "destination of the dropped copy");
            t.fails(aclrtSynchronizeStream(s), ERROR_HANDLE, "the handle");
            t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
        }),
        case("stream.destroy_force.null", Setup::device0(), |t| {
            t.ret(aclrtDestroyStreamForce(null_mut()));
        }),
    ]
}

/// A value of a stream attribute.
fn value(number: u64) -> aclrtStreamAttrValue {
    let mut value = aclrtStreamAttrValue { reserve: [0; 4] };
    value.failureMode = number;
    value
}

/// aclrtSetStreamAttribute with a number.
fn set_attribute(s: aclrtStream, attr: aclrtStreamAttr, number: u64) -> aclError {
    let mut v = value(number);
    aclrtSetStreamAttribute(s, attr, &raw mut v)
}

/// The attribute as a number.
fn attribute(t: &T, s: aclrtStream, attr: aclrtStreamAttr) -> u64 {
    let mut v = value(0);
    let code = aclrtGetStreamAttribute(s, attr, &raw mut v);
    t.ok(code, "aclrtGetStreamAttribute");
    #[allow(unsafe_code)] // A union of the C interface.
    // SAFETY: every member is a plain number; all bytes were written.
    unsafe {
        v.failureMode
    }
}

fn attributes() -> Vec<Case> {
    vec![
        case("stream.attr.get_null", Setup::device0(), |t| {
            let s = t.stream();
            let attr = ACL_STREAM_ATTR_FAILURE_MODE;
            t.ret(aclrtGetStreamAttribute(s, attr, null_mut()));
        }),
        case("stream.attr.set_null", Setup::device0(), |t| {
            let s = t.stream();
            let attr = ACL_STREAM_ATTR_FAILURE_MODE;
            t.ret(aclrtSetStreamAttribute(s, attr, null_mut()));
            t.eq(attribute(t, s, attr), 0, "failure mode");
        }),
        case("stream.flags.null_out", Setup::device0(), |t| {
            let s = t.stream();
            t.ret(aclrtStreamGetFlags(s, null_mut()));
        }),
        case("stream.get_id.default", Setup::device0(), |t| {
            let (mut a, mut b, mut d) = (-77, -78, SENTINEL);
            t.ok(aclrtStreamGetId(null_mut(), &raw mut a), "id of NULL");
            let code = aclrtCtxGetCurrentDefaultStream(&raw mut d);
            t.ok(code, "aclrtCtxGetCurrentDefaultStream");
            t.ret(aclrtStreamGetId(d, &raw mut b));
            t.eq(b, a, "id of the default stream's handle");
            let mut other = a;
            let code = aclrtStreamGetId(t.stream(), &raw mut other);
            t.ok(code, "id of another stream");
            t.check(other != a, "two streams have one id");
        }),
        case("stream.get_id.null_out", Setup::device0(), |t| {
            let s = t.stream();
            t.ret(aclrtStreamGetId(s, null_mut()));
        }),
        case("stream.overflow.bad_flag", Setup::device0(), |t| {
            let s = t.stream();
            t.ret(aclrtSetStreamOverflowSwitch(s, 2));
            let mut flag = 77;
            let code = aclrtGetStreamOverflowSwitch(s, &raw mut flag);
            t.ok(code, "aclrtGetStreamOverflowSwitch");
            t.eq(flag, 0, "switch");
        }),
        case("stream.overflow.get_null", Setup::device0(), |t| {
            let s = t.stream();
            t.ret(aclrtGetStreamOverflowSwitch(s, null_mut()));
        }),
        case("stream.priority.null_out", Setup::device0(), |t| {
            let s = t.stream();
            t.ret(aclrtStreamGetPriority(s, null_mut()));
        }),
        case("context.default_stream.ok", Setup::device0(), |t| {
            let mut s = SENTINEL;
            t.ret(aclrtCtxGetCurrentDefaultStream(&raw mut s));
            t.check(s != SENTINEL && !s.is_null(), "no handle was written");
            // What stands on one name blocks the other.
            let gate = t.hold(s);
            let counter = t.counted(null_mut());
            t.check(
                !t.is_idle(null_mut()),
                "NULL is idle while the handle is not",
            );
            counter.stays_uncalled(t, "calls behind the gate");
            gate.open();
            t.sync(s);
            t.eq(counter.calls(), 1, "calls after the handle was waited for");
        }),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.stream.attr.roundtrip", Setup::device0(), |t| {
            let s = t.stream();
            let legal = [
                (ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, 1),
                (ACL_STREAM_ATTR_USER_CUSTOM_TAG, 0xdead_beef),
                (ACL_STREAM_ATTR_CACHE_OP_INFO, 1),
                (ACL_STREAM_ATTR_PRIORITY, 5),
                (ACL_STREAM_ATTR_FAILURE_MODE, 1),
            ];
            for (attr, number) in legal {
                let code = set_attribute(s, attr, number);
                t.ok(code, &format!("attribute {attr}"));
            }
            for (attr, number) in legal {
                let what = format!("attribute {attr}");
                t.eq(attribute(t, s, attr), number, &what);
            }
            let (mut flag, mut priority) = (77, 77);
            let code = aclrtGetStreamOverflowSwitch(s, &raw mut flag);
            t.ok(code, "aclrtGetStreamOverflowSwitch");
            let code = aclrtStreamGetPriority(s, &raw mut priority);
            t.ok(code, "aclrtStreamGetPriority");
            t.eq((flag, priority), (1, 5), "the same by the other functions");
            let other = t.stream();
            t.eq(
                attribute(t, other, ACL_STREAM_ATTR_USER_CUSTOM_TAG),
                0,
                "attribute of another stream",
            );
        }),
        case("x.stream.failure_mode", Setup::device0(), |t| {
            let s = t.stream();
            let code = aclrtSetStreamFailureMode(s, 2);
            t.fails(code, ERROR_PARAM, "mode 2");
            t.ok(aclrtSetStreamFailureMode(s, 1), "mode 1");
            t.eq(attribute(t, s, ACL_STREAM_ATTR_FAILURE_MODE), 1, "mode");
            works(t, s);
        }),
        case("x.stream.attr.bad_values", Setup::device0(), |t| {
            let s = t.stream();
            for (attr, number) in [
                (ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, 2),
                (ACL_STREAM_ATTR_CACHE_OP_INFO, 2),
                (ACL_STREAM_ATTR_FAILURE_MODE, 2),
                (0, 0),
                (6, 0),
                (-1, 0),
            ] {
                let code = set_attribute(s, attr, number);
                t.fails(code, ERROR_PARAM, &format!("{number} for attribute {attr}"));
            }
            for attr in [0, 6, -1] {
                let mut v = value(77);
                let code = aclrtGetStreamAttribute(s, attr, &raw mut v);
                t.fails(code, ERROR_PARAM, &format!("reading attribute {attr}"));
            }
        }),
        case(
            "x.stream.default_cannot_be_destroyed",
            Setup::device0(),
            |t| {
                let mut s = SENTINEL;
                let code = aclrtCtxGetCurrentDefaultStream(&raw mut s);
                t.ok(code, "aclrtCtxGetCurrentDefaultStream");
                t.fails(aclrtDestroyStream(s), ERROR_PARAM, "aclrtDestroyStream");
                let code = aclrtDestroyStreamForce(s);
                t.fails(code, ERROR_PARAM, "aclrtDestroyStreamForce");
                works(t, s);
            },
        ),
        case(
            "x.stream.foreign_cannot_be_destroyed",
            Setup::device0(),
            |t| {
                let s = t.foreign_stream();
                for (call, name) in [
                    (
                        aclrtDestroyStream as fn(aclrtStream) -> aclError,
                        "aclrtDestroyStream",
                    ),
                    (aclrtDestroyStreamForce, "aclrtDestroyStreamForce"),
                    (aclrtStreamAbort, "aclrtStreamAbort"),
                ] {
                    t.fails(call(s), ERROR_FOREIGN_STREAM, name);
                }
                t.sync(s);
            },
        ),
        case("x.stream.invented_handles", Setup::device0(), |t| {
            let (e, n, dead) = (t.event(), t.notify(), t.dead_stream());
            let (block, bytes) = t.filled(64);
            let heap = vec![0_u8; 4096];
            let live = t.stream();
            for s in [
                addr(1),
                addr(0x10),
                addr(usize::MAX),
                off(live, 1),
                heap.as_ptr().cast_mut().cast(),
                block,
                e,
                n,
                dead,
                t.context(),
            ] {
                let mut status = -77;
                let what = format!("{s:p}");
                t.fails_with(aclrtSynchronizeStream(s), ERROR_HANDLE, "EE1017", &what);
                t.fails(aclrtDestroyStream(s), ERROR_HANDLE, &what);
                t.fails(aclrtDestroyStreamForce(s), ERROR_HANDLE, &what);
                t.fails(aclrtStreamAbort(s), ERROR_HANDLE, &what);
                t.fails(aclrtStreamQuery(s, &raw mut status), ERROR_HANDLE, &what);
                t.eq(status, -77, "output");
                let code = aclrtMemsetAsync(block, 64, 0, 64, s);
                t.fails(code, ERROR_HANDLE, &what);
                let f = Counter::function();
                let code = aclrtLaunchHostFunc(s, f, Counter::new().data());
                t.fails(code, ERROR_HANDLE, &what);
            }
            t.holds(block, &bytes, "a block whose address was tried");
            works(t, live);
        }),
        case("x.stream.limit", Setup::device0().profile("310B"), |t| {
            let mut left = 0;
            let code = aclrtGetStreamAvailableNum(&raw mut left);
            t.ok(code, "aclrtGetStreamAvailableNum");
            t.check(
                (510..=512).contains(&left),
                &format!("{left} streams available at the start"),
            );
            let mut all = Vec::new();
            let code = loop {
                let mut s = SENTINEL;
                let code = aclrtCreateStream(&raw mut s);
                if code != 0 {
                    t.eq(s, SENTINEL, "output of the refused call");
                    break code;
                }
                all.push(s);
                if all.len() > 600 {
                    abort("more streams than the product has");
                }
            };
            t.fails(code, 207_008, "the first stream too many");
            t.eq(all.len() as u32, left, "streams that could be made");
            let mut none = 77;
            let code = aclrtGetStreamAvailableNum(&raw mut none);
            t.ok(code, "aclrtGetStreamAvailableNum");
            t.eq(none, 0, "available afterwards");
            let again = all.pop().unwrap_or(SENTINEL);
            t.ok(aclrtDestroyStream(again), "aclrtDestroyStream");
            all.push(t.stream());
            for s in all {
                works(t, s);
                t.ok(aclrtDestroyStream(s), "aclrtDestroyStream");
            }
        }),
        case("x.stream.abort_drops_work", Setup::device0(), |t| {
            let s = t.stream();
            let gate = t.hold(s);
            let counter = t.counted(s);
            t.ok(aclrtStreamAbort(s), "aclrtStreamAbort");
            gate.open();
            gate.left(t);
            counter.stays_uncalled(t, "calls of the dropped function");
            works(t, s);
        }),
        case("x.stream.abort_tells_who_waits", Setup::device0(), |t| {
            // The waiter comes back although the running function does not end.
            let s = t.stream();
            let gate = t.hold(s);
            let back = std::sync::atomic::AtomicBool::new(false);
            let (s_address, counter) = (s.addr(), t.counted(s));
            std::thread::scope(|scope| {
                let waiter = scope.spawn(|| {
                    let code = aclrtSynchronizeStream(addr(s_address));
                    let text = recent_text();
                    back.store(true, std::sync::atomic::Ordering::SeqCst);
                    (code, text)
                });
                // Until it waits: nothing but the code says that it does.
                for _ in 0..6000 {
                    if back.load(std::sync::atomic::Ordering::SeqCst) {
                        break;
                    }
                    t.counted(s);
                    t.ok(aclrtStreamAbort(s), "aclrtStreamAbort");
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                t.check(!gate.is_open(), "the gate is open");
                gate.open();
                let (code, text) = waiter.join().unwrap_or((-1, None));
                t.eq(code, ACL_ERROR_RT_STREAM_ABORT, "code of the wait");
                t.check(text.is_some(), "the wait left a text");
            });
            gate.left(t);
            counter.stays_uncalled(t, "calls of the dropped function");
            works(t, s);
        }),
        case(
            "x.stream.context_destroyed_ends_streams",
            Setup::device0(),
            |t| {
                let primary = t.context();
                let c = t.create_context(0);
                let s = t.stream();
                let gate = t.hold(s);
                let counter = t.counted(s);
                t.ok(
                    t.blocks(*gate, || aclrtDestroyContext(c)),
                    "aclrtDestroyContext",
                );
                t.eq(counter.calls(), 1, "calls of the queued function");
                t.ok(aclrtSetCurrentContext(primary), "aclrtSetCurrentContext");
                t.fails(aclrtSynchronizeStream(s), ERROR_HANDLE, "the handle");
                works(t, t.stream());
            },
        ),
        case("x.stream.reset_waits", Setup::device0(), |t| {
            let s = t.stream();
            let gate = t.hold(s);
            let counter = t.counted(s);
            t.ok(t.blocks(*gate, || aclrtResetDevice(0)), "aclrtResetDevice");
            t.eq(counter.calls(), 1, "calls of the queued function");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            t.fails(aclrtSynchronizeStream(s), ERROR_HANDLE, "the handle");
            works(t, t.stream());
        }),
    ]
}
