//! Contexts: primary and explicit ones, the current one, system parameters.

use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = create_and_destroy();
    cases.extend(current());
    cases.extend(state());
    cases.extend(own());
    cases
}

fn create_and_destroy() -> Vec<Case> {
    vec![
        case("context.create.bad_device", Setup::device0(), |t| {
            let current = t.context();
            let mut c = SENTINEL;
            t.ret(aclrtCreateContext(&raw mut c, -1));
            t.eq(c, SENTINEL, "output");
            t.eq(t.context(), current, "context of the thread");
        }),
        case("context.create.null", Setup::device0(), |t| {
            let current = t.context();
            t.ret(aclrtCreateContext(null_mut(), 0));
            t.eq(t.context(), current, "context of the thread");
        }),
        case("context.create.ok", Setup::init(), |t| {
            let c = t.create_context(0);
            let mut g = SENTINEL;
            t.ret(aclrtGetCurrentContext(&raw mut g));
            t.eq(g, c, "current context");
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            t.usable(p, 64);
        }),
        case(
            "context.destroy.current_of_other_thread",
            Setup::device0(),
            |t| {
                let b = Worker::new();
                let c = b.run(|| t.create_context(0));
                t.ret(aclrtDestroyContext(c));
                b.run(|| t.has_no_context("allocation on thread B"));
                b.run(|| t.fails(aclrtSynchronizeDevice(), ERROR_CONTEXT, "synchronise on B"));
            },
        ),
        case("context.destroy.current_unbinds", Setup::init(), |t| {
            let c = t.create_context(0);
            t.ret(aclrtDestroyContext(c));
            let mut g = SENTINEL;
            let code = aclrtGetCurrentContext(&raw mut g);
            t.fails(code, ERROR_CONTEXT, "aclrtGetCurrentContext afterwards");
        }),
        case("context.destroy.null", Setup::device0(), |t| {
            let current = t.context();
            t.ret(aclrtDestroyContext(null_mut()));
            t.eq(t.context(), current, "context of the thread");
        }),
        case("context.destroy.primary", Setup::device0(), |t| {
            let primary = t.context();
            t.ret(aclrtDestroyContext(primary));
            t.eq(t.context(), primary, "context of the thread");
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            t.usable(p, 64);
        }),
    ]
}

fn current() -> Vec<Case> {
    vec![
        case("context.default_stream.null", Setup::device0(), |t| {
            t.ret(aclrtCtxGetCurrentDefaultStream(null_mut()));
        }),
        case("context.get_current.none", Setup::init(), |t| {
            let mut g = SENTINEL;
            t.ret(aclrtGetCurrentContext(&raw mut g));
            t.eq(g, null_mut(), "output");
        }),
        case("context.get_current.null", Setup::device0(), |t| {
            t.ret(aclrtGetCurrentContext(null_mut()));
        }),
        case(
            "context.get_current.primary_is_shared",
            Setup::device0(),
            |t| {
                let theirs = on_thread(|| {
                    t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                    t.context()
                });
                let mut ours = SENTINEL;
                t.ret(aclrtGetCurrentContext(&raw mut ours));
                t.eq(ours, theirs, "handles of both threads");
            },
        ),
        case("context.set_current.destroyed", Setup::device0(), |t| {
            let primary = t.context();
            let c = t.create_context(0);
            t.ok(aclrtDestroyContext(c), "aclrtDestroyContext");
            t.ok(aclrtSetCurrentContext(primary), "back to the primary one");
            t.ret(aclrtSetCurrentContext(c));
            t.eq(t.context(), primary, "context of the thread");
        }),
        case(
            "context.set_current.switches_device",
            Setup::init().devices(2),
            |t| {
                let a = t.create_context(0);
                let b = t.create_context(1);
                t.eq(t.device(), 1, "device of context b");
                t.ok(aclrtSetCurrentContext(a), "aclrtSetCurrentContext(a)");
                let mut d = -77;
                t.ret(aclrtGetDevice(&raw mut d));
                t.eq(d, 0, "device");
                let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
                t.eq(t.attributes(p).location.id, 0, "device of a block in a");
                t.ok(aclrtSetCurrentContext(b), "aclrtSetCurrentContext(b)");
                let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
                t.eq(t.attributes(p).location.id, 1, "device of a block in b");
            },
        ),
    ]
}

fn state() -> Vec<Case> {
    vec![
        case("context.primary_state.active", Setup::device0(), |t| {
            let mut active = -77;
            t.ret(aclrtGetPrimaryCtxState(0, null_mut(), &raw mut active));
            t.eq(active, 1, "active");
        }),
        case("context.primary_state.inactive", Setup::init(), |t| {
            let mut active = -77;
            t.ret(aclrtGetPrimaryCtxState(0, null_mut(), &raw mut active));
            t.eq(active, 0, "active");
        }),
        case("context.primary_state.null_active", Setup::device0(), |t| {
            t.ret(aclrtGetPrimaryCtxState(0, null_mut(), null_mut()));
        }),
        case("context.sysparam.get_unset", Setup::device0(), |t| {
            let mut v = -77;
            t.ret(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &raw mut v));
            t.eq(v, -77, "output");
        }),
        case("context.sysparam.roundtrip", Setup::device0(), |t| {
            t.ok(
                aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1),
                "aclrtCtxSetSysParamOpt",
            );
            let mut v = -77;
            t.ret(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &raw mut v));
            t.eq(v, 1, "value");
            t.create_context(0);
            let mut v = -77;
            let code = aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &raw mut v);
            t.fails(code, 107_021, "the same option in another context");
            t.eq(v, -77, "output in the other context");
        }),
        case("context.sysparam.set_bad_opt", Setup::device0(), |t| {
            t.ret(aclrtCtxSetSysParamOpt(99, 1));
            let mut v = -77;
            let code = aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &raw mut v);
            t.fails(code, 107_021, "a legal option afterwards");
        }),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.context.invented_handles", Setup::device0(), |t| {
            let current = t.context();
            let (block, bytes) = t.filled(64);
            let heap = vec![0_u8; 4096];
            let handles = [
                addr(1),
                addr(0x1234_5678),
                addr(usize::MAX),
                block,
                heap.as_ptr().cast_mut().cast(),
                off(current, 8),
            ];
            for handle in handles {
                let what = format!("aclrtSetCurrentContext({handle:p})");
                t.fails(aclrtSetCurrentContext(handle), ERROR_PARAM, &what);
                let code = i64::from(aclrtDestroyContext(handle));
                let text = recent_text();
                t.check(
                    [ERROR_PARAM, ERROR_CONTEXT].contains(&code) && text.is_some(),
                    &format!("aclrtDestroyContext({handle:p}) returned {code}, text {text:?}"),
                );
                t.eq(t.context(), current, "context of the thread");
            }
            t.fails(aclrtSetCurrentContext(null_mut()), ERROR_FRONT, "NULL");
            t.holds(block, &bytes, "a block whose address was tried");
        }),
        case("x.context.destroyed_twice", Setup::device0(), |t| {
            let c = t.create_context(0);
            t.ok(aclrtDestroyContext(c), "aclrtDestroyContext");
            let code = i64::from(aclrtDestroyContext(c));
            t.check(
                [ERROR_PARAM, ERROR_CONTEXT].contains(&code),
                &format!("second destruction returned {code}"),
            );
        }),
        case(
            "x.context.memory_outlives_its_context",
            Setup::device0(),
            |t| {
                let c = t.create_context(0);
                let (p, bytes) = t.filled(1000);
                t.ok(aclrtDestroyContext(c), "aclrtDestroyContext");
                t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                t.holds(p, &bytes, "block of the destroyed context");
                t.free(p);
            },
        ),
        case(
            "x.context.last_binding_wins",
            Setup::device0().devices(2),
            |t| {
                let primary = t.context();
                let c = t.create_context(1);
                t.eq(
                    (t.context(), t.device()),
                    (c, 1),
                    "after aclrtCreateContext",
                );
                t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                t.eq(
                    (t.context(), t.device()),
                    (primary, 0),
                    "after aclrtSetDevice",
                );
                t.ok(aclrtSetCurrentContext(c), "aclrtSetCurrentContext");
                t.eq(
                    (t.context(), t.device()),
                    (c, 1),
                    "after aclrtSetCurrentContext",
                );
            },
        ),
        case(
            "x.context.explicit_keeps_device_alive",
            Setup::init(),
            |t| {
                let c = t.create_context(0);
                let (p, bytes) = t.filled(1000);
                let mut active = -77;
                let code = aclrtGetPrimaryCtxState(0, null_mut(), &raw mut active);
                t.ok(code, "aclrtGetPrimaryCtxState");
                on_thread(|| {
                    t.ok(aclrtSetCurrentContext(c), "aclrtSetCurrentContext");
                    t.holds(p, &bytes, "block on another thread");
                });
                t.free(p);
                t.ok(aclrtDestroyContext(c), "aclrtDestroyContext");
            },
        ),
        case("x.context.many", Setup::device0(), |t| {
            let primary = t.context();
            let all: Vec<_> = (0..200).map(|_| t.create_context(0)).collect();
            let mut sorted = all.clone();
            sorted.sort_unstable();
            sorted.dedup();
            t.eq(sorted.len(), 200, "distinct handles");
            for c in all {
                t.ok(aclrtDestroyContext(c), "aclrtDestroyContext");
            }
            t.ok(aclrtSetCurrentContext(primary), "primary context");
        }),
        case(
            "x.context.dead_handle_is_not_reused_soon",
            Setup::device0(),
            |t| {
                // A stale handle must not name a newer context.
                let c = t.create_context(0);
                t.ok(aclrtDestroyContext(c), "aclrtDestroyContext");
                let newer = t.create_context(0);
                t.check(
                    newer != c,
                    "the handle of a destroyed context came back at once",
                );
                t.fails(aclrtSetCurrentContext(c), ERROR_PARAM, "stale handle");
            },
        ),
    ]
}
