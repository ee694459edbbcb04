//! The last-error value and the error texts.

use super::support::*;

/// Makes the calling thread fail in the inner layer (107000, EE1003).
fn fail_inside(t: &T) -> aclError {
    let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
    let bytes = [1_u8; 2];
    aclrtMemcpy(p, 1, src(&bytes), 2, ACL_MEMCPY_HOST_TO_DEVICE)
}

fn peek() -> aclError {
    aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL)
}

fn last() -> aclError {
    aclrtGetLastError(ACL_RT_THREAD_LEVEL)
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = last_error();
    cases.extend(texts());
    cases.extend(own());
    cases
}

fn last_error() -> Vec<Case> {
    vec![
        case("error.last.bad_level", Setup::device0(), |t| {
            t.eq(fail_inside(t), ACL_ERROR_RT_PARAM_INVALID, "given failure");
            t.ret(aclrtGetLastError(1));
            t.eq(peek(), ACL_ERROR_RT_PARAM_INVALID, "value afterwards");
        }),
        case(
            "error.last.first_layer_not_recorded",
            Setup::device0(),
            |t| {
                let mut p = SENTINEL;
                t.fails(aclrtMalloc(&raw mut p, 0, 0), ERROR_FRONT, "size zero");
                t.value(last());
            },
        ),
        case("error.last.returns_and_clears", Setup::device0(), |t| {
            t.eq(fail_inside(t), ACL_ERROR_RT_PARAM_INVALID, "given failure");
            t.value(last());
            t.eq(last(), 0, "second call");
        }),
        case("error.last.success_does_not_clear", Setup::device0(), |t| {
            t.eq(fail_inside(t), ACL_ERROR_RT_PARAM_INVALID, "given failure");
            t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            t.value(peek());
        }),
        case("error.peek.bad_level", Setup::device0(), |t| {
            t.eq(fail_inside(t), ACL_ERROR_RT_PARAM_INVALID, "given failure");
            t.ret(aclrtPeekAtLastError(1));
            t.eq(peek(), ACL_ERROR_RT_PARAM_INVALID, "value afterwards");
        }),
        case("error.peek.keeps", Setup::device0(), |t| {
            t.eq(fail_inside(t), ACL_ERROR_RT_PARAM_INVALID, "given failure");
            t.eq(peek(), ACL_ERROR_RT_PARAM_INVALID, "first call");
            t.value(peek());
            t.eq(last(), ACL_ERROR_RT_PARAM_INVALID, "value that was kept");
        }),
    ]
}

fn texts() -> Vec<Case> {
    vec![
        case("error.msg.first_layer", Setup::device0(), |t| {
            let code = aclrtMalloc(null_mut(), 64, 0);
            t.eq(i64::from(code), ERROR_FRONT, "code");
            let text = recent_text();
            t.text(text.as_deref());
            let text = text.unwrap_or_default();
            t.check(text.contains("devPtr"), "the text names devPtr");
        }),
        case("error.msg.initial_null", Setup::fresh(), |t| {
            t.judged();
            t.eq(recent_text(), None, "text of a process that never failed");
        }),
        case("error.msg.inner_layer", Setup::device0(), |t| {
            t.eq(fail_inside(t), ACL_ERROR_RT_PARAM_INVALID, "code");
            t.text(recent_text().as_deref());
        }),
        case("error.msg.per_thread", Setup::device0(), |t| {
            let a = Worker::new();
            let code = a.run(|| aclrtSetDevice(-1));
            t.eq(i64::from(code), ERROR_DEVICE, "code on thread A");
            t.judged();
            t.eq(recent_text(), None, "text of thread B");
            let text = a.run(recent_text);
            t.check(text.is_some(), "thread A still has its text");
        }),
        case("error.msg.process_mode", Setup::fresh(), |t| {
            let file = t.config("mode.json", r#"{"err_msg_mode":"1"}"#);
            t.ok(aclInit(file.as_ptr()), "aclInit");
            let code = on_thread(|| aclrtSetDevice(-1));
            t.eq(i64::from(code), ERROR_DEVICE, "code on thread A");
            t.judged();
            let text = t.pending_text("thread A's failure");
            t.check(text.contains("EE1003"), "the text is the one of thread A");
            t.eq(recent_text(), None, "second call");
        }),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.error.reading_clears", Setup::device0(), |t| {
            t.eq(fail_inside(t), ACL_ERROR_RT_PARAM_INVALID, "code");
            t.check(recent_text().is_some(), "a text is pending");
            t.eq(recent_text(), None, "second call");
        }),
        case("x.error.newest_first", Setup::device0(), |t| {
            let mut p = SENTINEL;
            aclrtMalloc(&raw mut p, 0, 0);
            aclrtSetDevice(-1);
            let text = t.pending_text("two failures");
            match (text.find("EE1003"), text.find("EH0007")) {
                (Some(newer), Some(older)) => t.check(newer < older, "newest first"),
                (newer, _) => t.check(newer.is_some(), "the newest message is there"),
            }
        }),
        case("x.error.success_keeps_the_text", Setup::device0(), |t| {
            t.eq(fail_inside(t), ACL_ERROR_RT_PARAM_INVALID, "code");
            t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            t.check(recent_text().is_some(), "the text survives a success");
        }),
        case("x.error.last_is_per_thread", Setup::device0(), |t| {
            t.eq(fail_inside(t), ACL_ERROR_RT_PARAM_INVALID, "code");
            t.eq(on_thread(peek), 0, "value of another thread");
            t.eq(last(), ACL_ERROR_RT_PARAM_INVALID, "value of this thread");
        }),
        case("x.error.last_keeps_the_newest", Setup::device0(), |t| {
            t.eq(fail_inside(t), ACL_ERROR_RT_PARAM_INVALID, "first failure");
            aclrtSetDevice(-1);
            t.eq(i64::from(last()), ERROR_DEVICE, "value");
        }),
        case("x.error.no_device_names_its_cause", Setup::init(), |t| {
            // What a call without a device blames: the newest call of the thread that explains it.
            let blames = |what: &str, named: &str, others: &[&str]| {
                let mut p = SENTINEL;
                let code = aclrtMalloc(&raw mut p, 64, 0);
                t.eq(code, ACL_ERROR_RT_CONTEXT_NULL, what);
                let text = t.pending_text(what);
                let newest = text.lines().next().unwrap_or_default();
                t.check(
                    newest.contains(named),
                    &format!("{what}: {newest:?} names {named}"),
                );
                for other in others {
                    let silent = !newest.contains(other);
                    t.check(
                        silent,
                        &format!("{what}: {newest:?} does not blame {other}"),
                    );
                }
            };
            let bad_device = || {
                t.fails(
                    aclrtSetDevice(-1),
                    ERROR_DEVICE,
                    "a device that does not exist",
                );
            };
            let bad_context = || {
                let code = aclrtSetCurrentContext(addr(0x1000));
                t.fails(code, ERROR_PARAM, "a context that does not exist");
            };
            bad_device();
            blames("nothing set", "aclrtSetDevice failed", &["aclrtReset"]);
            bad_context();
            blames(
                "no context",
                "aclrtSetCurrentContext failed",
                &["aclrtSetDevice failed"],
            );

            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            bad_device();
            bad_context();
            t.ok(aclrtResetDevice(0), "aclrtResetDevice");
            blames("own reset", "aclrtResetDevice(0)", &["failed"]);
            t.eq(
                aclrtResetDevice(0),
                ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
                "second reset",
            );
            let text = t.pending_text("second reset");
            t.check(
                text.contains("aclrtResetDevice(0)"),
                "the first reset is named",
            );
            t.check(!text.contains("failed"), "no failure is blamed");
            bad_device();
            blames(
                "after the reset",
                "aclrtSetDevice failed",
                &["aclrtResetDevice(0)"],
            );

            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            t.ok(aclrtResetDeviceForce(0), "aclrtResetDeviceForce");
            blames("own forced reset", "aclrtResetDeviceForce(0)", &["failed"]);

            let context = t.create_context(0);
            bad_device();
            t.ok(aclrtDestroyContext(context), "aclrtDestroyContext");
            blames("own end of a context", "aclrtDestroyContext", &["failed"]);

            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            bad_device();
            on_thread(|| t.ok(aclrtResetDeviceForce(0), "reset by another thread"));
            blames("reset elsewhere", "its device was reset", &["failed"]);
        }),
        case("x.error.repeat_init_leaves_no_text", Setup::init(), |t| {
            t.eq(aclInit(null()), ACL_ERROR_REPEAT_INITIALIZE, "code");
            t.eq(recent_text(), None, "text");
        }),
        case(
            "x.error.many_failures_stay_bounded",
            Setup::device0(),
            |t| {
                // Programs that poll a failing call must not grow without bound.
                for _ in 0..20_000 {
                    aclrtFree(addr(0x1000));
                }
                let text = t.pending_text("many failures");
                t.check(text.len() < MIB, "the text stays below 1 MiB");
                t.eq(recent_text(), None, "second call");
            },
        ),
        case("x.error.polls_do_not_bury_the_cause", Setup::fresh(), |t| {
            let file = t.config("mode.json", r#"{"err_msg_mode":"1"}"#);
            t.ok(aclInit(file.as_ptr()), "aclInit");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            let code = aclrtFree(addr(0x1000));
            t.eq(i64::from(code), ERROR_PARAM, "aclrtFree");
            // A loop that serves callbacks on another thread, as frameworks have one.
            let code = on_thread(|| aclrtProcessReport(1));
            t.eq(code, 107_012, "aclrtProcessReport");
            let text = t.pending_text("two failures");
            let lines: Vec<&str> = text.lines().collect();
            t.eq(lines.len(), 2, "texts");
            t.check(lines[0].contains("aclrtFree:"), "the cause first");
            t.check(lines[1].contains("aclrtProcessReport:"), "the loop");
        }),
        case(
            "x.error.text_of_process_mode_is_shared_once",
            Setup::fresh(),
            |t| {
                let file = t.config("mode.json", r#"{"err_msg_mode":"1"}"#);
                t.ok(aclInit(file.as_ptr()), "aclInit");
                aclrtSetDevice(-1);
                t.check(on_thread(recent_text).is_some(), "another thread reads it");
                t.eq(recent_text(), None, "reading clears it for everyone");
            },
        ),
    ]
}
