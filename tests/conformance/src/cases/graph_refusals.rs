//! What is refused to captures, models, and streams that are captured.

use super::gate::*;
use super::graph::*;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.graph.begin.bad_arguments", Setup::device0(), |t| {
            let s = t.stream();
            for mode in [-1, 3, i32::MAX] {
                let code = aclmdlRICaptureBegin(s, mode);
                t.fails_with(code, ERROR_FRONT, "mode", "a mode that does not exist");
            }
            t.fails(aclmdlRICaptureBegin(null_mut(), GLOBAL), IMPLICIT, "NULL");
            let mut own = SENTINEL;
            let code = aclrtCtxGetCurrentDefaultStream(&raw mut own);
            t.ok(code, "aclrtCtxGetCurrentDefaultStream");
            t.fails(
                aclmdlRICaptureBegin(own, GLOBAL),
                IMPLICIT,
                "the default stream",
            );
            t.fails(
                aclmdlRICaptureBegin(t.dead_stream(), GLOBAL),
                ERROR_HANDLE,
                "a dead stream",
            );
            t.fails(
                aclmdlRICaptureBegin(t.foreign_stream(), GLOBAL),
                ERROR_FOREIGN_STREAM,
                "foreign",
            );
            t.begin(s, GLOBAL);
            t.fails(
                aclmdlRICaptureBegin(s, GLOBAL),
                STREAM_CAPTURED,
                "a captured stream",
            );
            // The refused begin changed nothing.
            t.eq(
                t.capture_status(s),
                ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE,
                "status",
            );
            let model = t.end(s);
            t.destroy_model(model);
            let code = on_thread(|| aclmdlRICaptureBegin(s, GLOBAL));
            t.eq(i64::from(code), ERROR_CONTEXT, "a thread without a context");
        }),
        case("x.graph.end.bad_arguments", Setup::device0(), |t| {
            let s = t.stream();
            let mut model = SENTINEL;
            let out = &raw mut model;
            t.fails(aclmdlRICaptureEnd(s, null_mut()), ERROR_FRONT, "NULL");
            t.fails(aclmdlRICaptureEnd(null_mut(), out), IMPLICIT, "no stream");
            t.fails(
                aclmdlRICaptureEnd(t.dead_stream(), out),
                ERROR_HANDLE,
                "a dead stream",
            );
            t.fails(aclmdlRICaptureEnd(s, out), UNMATCHED, "no capture");
            t.begin(s, GLOBAL);
            let r = t.stream();
            t.link(s, r);
            t.fails(
                aclmdlRICaptureEnd(r, out),
                UNMATCHED,
                "the end on another stream",
            );
            t.fails(
                aclmdlRICaptureEnd(s, null_mut()),
                ERROR_FRONT,
                "NULL in a capture",
            );
            t.eq(model, SENTINEL, "output");
            t.link(r, s);
            let model = t.end(s);
            t.fails(aclmdlRICaptureEnd(s, out), UNMATCHED, "the second end");
            t.destroy_model(model);
        }),
        case("x.graph.dead_models", Setup::device0(), |t| {
            let s = t.stream();
            let model = t.model(s, || {});
            let task_of = t.model(s, || {
                t.ok(aclrtValueWrite(t.malloc(8, 0), 1, 0, s), "aclrtValueWrite");
            });
            let task = t.tasks(s)[0];
            t.destroy_model(model);
            t.destroy_model(task_of);
            let mut number = 77;
            let mut place: aclmdlRITaskParams = blank_params();
            let mut kind = -77;
            for dead in [model, addr(1), s] {
                t.fails(aclmdlRIExecuteAsync(dead, s), ERROR_HANDLE, "ExecuteAsync");
                t.fails(aclmdlRIExecute(dead, -1), ERROR_HANDLE, "Execute");
                t.fails(aclmdlRIDestroy(dead), ERROR_HANDLE, "Destroy");
                t.fails(aclmdlRIAbort(dead), ERROR_HANDLE, "Abort");
                t.fails(aclmdlRIUpdate(dead), ERROR_HANDLE, "Update");
                t.fails(aclmdlRIDebugPrint(dead), ERROR_HANDLE, "DebugPrint");
                let path = c"/dev/null".as_ptr();
                t.fails(
                    aclmdlRIDebugJsonPrint(dead, path, 0),
                    ERROR_HANDLE,
                    "DebugJsonPrint",
                );
                t.fails(aclmdlRIGetId(dead, &raw mut number), ERROR_HANDLE, "GetId");
                t.fails(
                    aclmdlRISetName(dead, c"x".as_ptr()),
                    ERROR_HANDLE,
                    "SetName",
                );
                let code = aclmdlRIGetStreams(dead, null_mut(), &raw mut number);
                t.fails(code, ERROR_HANDLE, "GetStreams");
                t.fails(aclmdlRIBindStream(dead, s, 0), ERROR_HANDLE, "BindStream");
                t.fails(aclmdlRIUnbindStream(dead, s), ERROR_HANDLE, "UnbindStream");
                t.fails(aclmdlRIEndTask(dead, s), ERROR_HANDLE, "EndTask");
                t.fails(aclmdlRIBuildEnd(dead, null_mut()), ERROR_HANDLE, "BuildEnd");
                let code = aclmdlRICaptureToModelRIBegin(s, dead, GLOBAL);
                t.fails(code, ERROR_HANDLE, "CaptureToModelRIBegin");
            }
            for dead in [task, model] {
                t.fails(
                    aclmdlRITaskGetType(dead, &raw mut kind),
                    ERROR_HANDLE,
                    "TaskGetType",
                );
                t.fails(
                    aclmdlRITaskGetSeqId(dead, &raw mut number),
                    ERROR_HANDLE,
                    "TaskGetSeqId",
                );
                t.fails(
                    aclmdlRITaskGetParams(dead, &raw mut place),
                    ERROR_HANDLE,
                    "TaskGetParams",
                );
                t.fails(aclmdlRITaskDisable(dead), ERROR_HANDLE, "TaskDisable");
                let code = aclmdlRICaptureTaskUpdateBegin(s, dead);
                t.fails(code, ERROR_HANDLE, "TaskUpdateBegin");
            }
            t.eq((number, kind), (77, -77), "outputs");
            for code in [
                aclmdlRIExecuteAsync(null_mut(), s),
                aclmdlRIExecute(null_mut(), -1),
                aclmdlRIDestroy(null_mut()),
                aclmdlRIAbort(null_mut()),
                aclmdlRIUpdate(null_mut()),
                aclmdlRIDebugPrint(null_mut()),
                aclmdlRIGetId(null_mut(), &raw mut number),
                aclmdlRITaskDisable(null_mut()),
                aclmdlRICaptureThreadExchangeMode(null_mut()),
                aclmdlRIBuildBegin(null_mut(), 0),
            ] {
                t.eq(i64::from(code), ERROR_FRONT, "NULL");
            }
        }),
        case("x.graph.unjoined", Setup::device0(), |t| {
            let (s, r) = (t.stream(), t.stream());
            let (p, bytes) = t.filled(LEN);
            t.begin(s, GLOBAL);
            t.link(s, r);
            t.ok(aclrtMemsetAsync(p, LEN, 7, LEN, r), "aclrtMemsetAsync");
            let tokens = format!("'stream {r:?} is not waited for' {s:?}");
            t.end_fails(s, UNJOINED, &tokens, "without a join");
            // Work after the join is as lost as work without one.
            t.begin(s, GLOBAL);
            t.link(s, r);
            t.link(r, s);
            t.ok(aclrtMemsetAsync(p, LEN, 7, LEN, r), "aclrtMemsetAsync");
            t.end_fails(s, UNJOINED, &tokens, "with work after the join");
            t.sync(r);
            t.holds(p, &bytes, "memory");
            t.ok(aclrtMemsetAsync(p, LEN, 9, LEN, r), "aclrtMemsetAsync");
            t.sync(r);
            t.holds(p, &vec![9; LEN], "the stream works again");
        }),
        case("x.graph.conflicts", Setup::device0(), |t| {
            let (s, r, other) = (t.stream(), t.stream(), t.stream());
            let e = t.event_ex(ACL_EVENT_SYNC);
            t.begin(s, GLOBAL);
            t.begin(r, GLOBAL);
            t.record(e, s);
            t.fails(
                aclrtStreamWaitEvent(r, e),
                CONFLICT,
                "a wait of another capture",
            );
            // A record that was not captured is nothing a captured stream can wait for.
            let outside = t.event_ex(ACL_EVENT_SYNC);
            t.record(outside, other);
            t.fails(
                aclrtStreamWaitEvent(s, outside),
                DEPENDENCY,
                "an event from outside",
            );
            let never = t.event_ex(ACL_EVENT_SYNC);
            t.fails(
                aclrtStreamWaitEvent(s, never),
                DEPENDENCY,
                "an event of nobody",
            );
            // The host can do nothing with a captured event.
            let mut status = -77;
            let code = aclrtQueryEventStatus(e, &raw mut status);
            t.fails(code, EVENT_CAPTURED, "the query of a captured event");
            t.fails(aclrtSynchronizeEvent(e), EVENT_CAPTURED, "synchronising it");
            t.eq(status, -77, "output");
            let mut model = SENTINEL;
            // Refused calls cost the capture nothing.
            let code = aclmdlRICaptureEnd(r, &raw mut model);
            t.ok(code, "the end of the capture that was refused a wait");
            t.destroy_model(model);
            let model = t.end(s);
            t.destroy_model(model);
            t.ok(aclrtSynchronizeEvent(e), "the event afterwards");
        }),
        case("x.graph.default_stream_joins", Setup::device0(), |t| {
            let s = t.stream();
            let e = t.event_ex(ACL_EVENT_SYNC);
            let (p, _) = t.filled(LEN);
            t.begin(s, GLOBAL);
            t.record(e, s);
            let code = aclrtStreamWaitEvent(null_mut(), e);
            t.fails(code, IMPLICIT, "a wait of the default stream");
            t.ok(
                aclrtMemsetAsync(p, LEN, 7, LEN, null_mut()),
                "the default stream",
            );
            t.sync(null_mut());
            let model = t.end(s);
            t.holds(p, &vec![7; LEN], "the default stream was not captured");
            t.destroy_model(model);
        }),
        case("x.graph.models_in_use", Setup::device0(), |t| {
            let s = t.stream();
            t.begin(s, GLOBAL);
            let mut model = null_mut();
            let mut status = -77;
            let code = aclmdlRICaptureGetInfo(s, &raw mut status, &raw mut model);
            t.ok(code, "aclmdlRICaptureGetInfo");
            t.eq(status, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE, "status");
            let other = t.stream();
            t.fails(aclmdlRIExecuteAsync(model, other), MODEL_CAPTURED, "a run");
            t.fails(
                aclmdlRIExecuteAsync(model, s),
                MODEL_CAPTURED,
                "a model in itself",
            );
            t.fails(aclmdlRIDestroy(model), MODEL_CAPTURED, "its end");
            t.fails(aclmdlRIUpdate(model), MODEL_CAPTURED, "its update");
            t.fails(aclmdlRIDebugPrint(model), MODEL_CAPTURED, "its print");
            let code = aclmdlRIDebugJsonPrint(model, c"/dev/null".as_ptr(), 0);
            t.fails(code, MODEL_CAPTURED, "its print to a file");
            let mut count = 0;
            let code = aclmdlRIGetStreams(model, null_mut(), &raw mut count);
            t.fails(code, MODEL_CAPTURED, "its streams");
            let code = aclmdlRICaptureToModelRIBegin(other, model, GLOBAL);
            t.fails(code, MODEL_CAPTURED, "a second capture into it");
            // The stream that is captured.
            t.fails(aclrtSynchronizeStream(s), STREAM_CAPTURED, "synchronising");
            let code = aclrtSynchronizeStreamWithTimeout(s, 10);
            t.fails(code, STREAM_CAPTURED, "synchronising with a timeout");
            let code = aclrtStreamQuery(s, &raw mut status);
            t.fails(code, STREAM_CAPTURED, "its query");
            t.fails(aclrtStreamAbort(s), STREAM_CAPTURED, "its abort");
            t.fails(aclrtDestroyStream(s), STREAM_CAPTURED, "its end");
            t.eq(t.end(s), model, "the model is the one that was shown");
            t.destroy_model(model);
            t.ok(aclrtDestroyStream(s), "aclrtDestroyStream");
        }),
        case("x.graph.info", Setup::device0(), |t| {
            let s = t.stream();
            let code = aclmdlRICaptureGetInfo(s, null_mut(), null_mut());
            t.fails(code, ERROR_FRONT, "nowhere to answer to");
            let (mut status, mut model) = (-77, SENTINEL);
            let code = aclmdlRICaptureGetInfo(t.dead_stream(), &raw mut status, null_mut());
            t.fails(code, ERROR_HANDLE, "a dead stream");
            t.eq(status, -77, "output");
            let ask = |t: &T, s, status: &mut i32, model: &mut aclmdlRI| {
                t.ok(
                    aclmdlRICaptureGetInfo(s, status, model),
                    "aclmdlRICaptureGetInfo",
                );
            };
            ask(t, s, &mut status, &mut model);
            t.eq(
                (status, model),
                (ACL_MODEL_RI_CAPTURE_STATUS_NONE, null_mut()),
                "before",
            );
            t.begin(s, GLOBAL);
            t.fails(aclrtSynchronizeDevice(), MODE, "synchronising the device");
            ask(t, s, &mut status, &mut model);
            t.eq(
                (status, model),
                (ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED, null_mut()),
                "invalid",
            );
            t.end_fails(s, INVALIDATED, "aclrtSynchronizeDevice", "the end");
            ask(t, null_mut(), &mut status, &mut model);
            t.eq(
                (status, model),
                (ACL_MODEL_RI_CAPTURE_STATUS_NONE, null_mut()),
                "the default stream",
            );
        }),
    ]
}
