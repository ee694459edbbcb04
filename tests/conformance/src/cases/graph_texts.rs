//! Texts of refusals about models: they name the model, the stream and what to do.

use super::gate::*;
use super::graph::*;
use super::support::*;

/// A model that is not ready to run.
const NOT_BUILT: i64 = ACL_ERROR_RT_MODEL_EXECUTE as i64;

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.graph.texts.building", Setup::device0(), building),
        case(
            "x.graph.texts.barrier",
            Setup::device0().env("CANNERY_PROFILE", "310B"),
            barrier,
        ),
        case("x.graph.texts.running", Setup::device0(), running),
        case("x.graph.texts.kinds", Setup::device0(), kinds),
        case("x.graph.texts.updates", Setup::device0(), updates),
        case("x.graph.texts.names", Setup::device0(), names),
        case("x.graph.texts.callbacks", Setup::device0(), callbacks),
        case("x.graph.texts.own_memory", Setup::device0(), own_memory),
        case("x.graph.texts.reserved", Setup::device0(), reserved),
        case("x.graph.destroy_callbacks.twice", Setup::device0(), twice),
        case("x.graph.notes.json", Setup::device0(), json),
    ]
}

fn building(t: &T) {
    let (model, second) = (t.build(), t.build());
    let (plain, s, free) = (t.stream(), t.persistent(), t.persistent());
    t.fails_with(
        aclmdlRIBindStream(model, plain, 0),
        ERROR_PARAM,
        &format!("{plain:?} ACL_STREAM_PERSISTENT aclrtCreateStreamWithConfig"),
        "an ordinary stream",
    );
    t.bind(model, s);
    t.fails_with(
        aclmdlRIBindStream(second, s, 0),
        ERROR_PARAM,
        &format!("{s:?} {model:?} aclmdlRIUnbindStream"),
        "a stream of another model",
    );
    t.begin(free, RELAXED);
    t.fails_with(
        aclmdlRIBindStream(second, free, 0),
        ERROR_PARAM,
        &format!("{free:?} captured aclmdlRICaptureEnd"),
        "a captured stream",
    );
    let captured = t.end(free);
    let not_bound = format!("{free:?} {model:?} aclmdlRIBindStream");
    let code = aclmdlRIEndTask(model, free);
    t.fails_with(code, ERROR_PARAM, &not_bound, "the end of its tasks");
    let code = aclmdlRIUnbindStream(model, free);
    t.fails_with(code, ERROR_PARAM, &not_bound, "unbinding it");
    let unfinished = format!("{model:?} aclmdlRIBuildEnd");
    let code = aclmdlRIExecute(model, -1);
    t.fails_with(code, NOT_BUILT, &unfinished, "a run of it");
    let code = aclmdlRIDebugPrint(model);
    t.fails_with(code, MODEL_CAPTURED, &unfinished, "printing it");
    t.build_end(model);
    let over = format!("{model:?} aclmdlRIBuildBegin");
    let code = aclmdlRIBuildEnd(model, null_mut());
    t.fails_with(code, ERROR_PARAM, &over, "the second end");
    let code = aclmdlRIBindStream(model, free, 0);
    t.fails_with(code, ERROR_PARAM, &over, "a stream too late");
    for model in [model, second, captured] {
        t.destroy_model(model);
    }
}

fn barrier(t: &T) {
    let s = t.stream();
    let mut info = aclrtBarrierTaskInfo {
        barrierNum: 1,
        cmoInfo: [aclrtBarrierCmoInfo {
            cmoType: ACL_RT_CMO_TYPE_INVALID,
            barrierId: 1,
        }; 6],
    };
    t.fails_with(
        aclrtCmoWaitBarrier(&raw mut info, s, 0),
        ERROR_PARAM,
        &format!("{s:?} aclmdlRIBindStream"),
        "a barrier on a stream that is not bound",
    );
}

fn running(t: &T) {
    let gate = Gate::closed();
    let model = t.build();
    let s = t.persistent();
    t.bind(model, s);
    t.host_function(s, Gate::function(), gate.data());
    t.build_end(model);
    t.fails_with(
        aclmdlRIExecute(model, 20),
        TOO_LATE,
        &format!("{model:?} 20 aclmdlRIAbort"),
        "a run that takes too long",
    );
    gate.reached(t);
    let runs = format!("{model:?} aclrtSynchronizeStream");
    let refused = |code: aclError, what: &str| t.fails_with(code, RUNNING, &runs, what);
    refused(aclmdlRIDestroy(model), "its end");
    refused(aclmdlRIUnbindStream(model, s), "unbinding its stream");
    refused(aclrtPersistentTaskClean(s), "emptying its stream");
    gate.open();
    t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
    t.destroy_model(model);
}

fn kinds(t: &T) {
    let (s, r) = (t.stream(), t.stream());
    let built = t.build();
    t.build_end(built);
    let captured = t.model(s, || {});
    t.fails_with(
        aclmdlRIAbort(captured),
        ERROR_UNSUPPORTED,
        &format!("{captured:?} aclrtStreamAbort"),
        "an abort of a captured model",
    );
    t.fails_with(
        aclmdlRIUpdate(built),
        UPDATE_FAILED,
        &format!("{built:?} captured"),
        "an update of a built model",
    );
    t.fails_with(
        aclmdlRICaptureToModelRIBegin(r, built, GLOBAL),
        MODEL_CAPTURED,
        &format!("{built:?} captured"),
        "a capture into it",
    );
    t.begin(s, RELAXED);
    t.fails_with(
        aclmdlRIExecuteAsync(built, s),
        ERROR_UNSUPPORTED,
        &format!("{built:?} captured"),
        "its run in a capture",
    );
    let mut under_way = null_mut();
    let code = aclmdlRICaptureGetInfo(s, null_mut(), &raw mut under_way);
    t.ok(code, "aclmdlRICaptureGetInfo");
    let captured_now = format!("{under_way:?} aclmdlRICaptureEnd");
    let refused =
        |code: aclError, what: &str| t.fails_with(code, MODEL_CAPTURED, &captured_now, what);
    refused(aclmdlRIExecuteAsync(under_way, r), "its run");
    refused(aclmdlRIDestroy(under_way), "its end");
    refused(aclmdlRIUpdate(under_way), "its update");
    let second = t.end(s);
    for model in [built, captured, second] {
        t.destroy_model(model);
    }
}

fn updates(t: &T) {
    let s = t.stream();
    let here = format!("{s:?}");
    let tell = |code: aclError, tokens: &str, what: &str| {
        t.fails_with(code, GROUP_STATE, &format!("{here} {tokens}"), what);
    };
    let code = aclmdlRICaptureTaskUpdateEnd(s);
    tell(code, "aclmdlRICaptureTaskUpdateBegin", "an update");
    t.begin(s, RELAXED);
    let mut group = SENTINEL;
    let code = aclmdlRICaptureTaskGrpEnd(s, &raw mut group);
    tell(code, "aclmdlRICaptureTaskGrpBegin", "a group");
    t.ok(
        aclmdlRICaptureTaskGrpBegin(s),
        "aclmdlRICaptureTaskGrpBegin",
    );
    let code = aclmdlRICaptureTaskGrpBegin(s);
    tell(code, "aclmdlRICaptureTaskGrpEnd", "a group in a group");
    let (p, _) = t.filled(64);
    t.ok(aclrtMemsetAsync(p, 64, 1, 64, s), "aclrtMemsetAsync");
    let code = aclmdlRICaptureTaskGrpEnd(s, &raw mut group);
    t.ok(code, "aclmdlRICaptureTaskGrpEnd");
    let model = t.end(s);
    let begin = || aclmdlRICaptureTaskUpdateBegin(s, group);
    t.ok(begin(), "aclmdlRICaptureTaskUpdateBegin");
    tell(
        begin(),
        "aclmdlRICaptureTaskUpdateEnd",
        "an update in an update",
    );
    t.ok(aclrtMemsetAsync(p, 64, 2, 64, s), "aclrtMemsetAsync");
    let code = aclmdlRICaptureTaskUpdateEnd(s);
    t.ok(code, "aclmdlRICaptureTaskUpdateEnd");
    t.sync(s);
    t.destroy_model(model);
}

fn names(t: &T) {
    let s = t.stream();
    let model = t.model(s, || {});
    let wrong = CString::new(&b"\xff\xfe"[..]).unwrap_or_default();
    t.fails_with(
        aclmdlRISetName(model, wrong.as_ptr()),
        ERROR_FRONT,
        "name UTF-8",
        "a name that is no UTF-8",
    );
    t.fails_with(
        aclmdlRIDebugJsonPrint(model, wrong.as_ptr(), 0),
        ERROR_FRONT,
        "path UTF-8",
        "a path that is none",
    );
    t.destroy_model(model);
}

extern "C" fn unknown(_: *mut c_void) {}

fn callbacks(t: &T) {
    let s = t.stream();
    let model = t.model(s, || {});
    t.fails_with(
        aclmdlRIDestroyUnregisterCallback(model, Some(unknown)),
        ERROR_PARAM,
        &format!(
            "{model:?} {:#x} aclmdlRIDestroyRegisterCallback",
            unknown as extern "C" fn(*mut c_void) as usize
        ),
        "a function that is not registered",
    );
    t.fails_with(
        aclrtRegStreamStateCallback(c"cb_1".as_ptr(), None, null_mut()),
        ERROR_FRONT,
        "cb_1 pass",
        "a name that is not registered",
    );
    t.destroy_model(model);
}

fn own_memory(t: &T) {
    let s = t.stream();
    t.begin(s, RELAXED);
    let flag = ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT;
    let (_, place) = t.condition(s, 1, flag);
    t.fails_with(
        aclrtFree(place),
        ERROR_PARAM,
        "aclmdlRICondHandleCreate aclmdlRIDestroy",
        "the value of a condition",
    );
    let model = t.end(s);
    t.destroy_model(model);
    let mut flag = null_mut();
    let code = aclrtCtxGetFloatOverflowAddr(&raw mut flag);
    t.ok(code, "aclrtCtxGetFloatOverflowAddr");
    t.fails_with(
        aclrtFree(flag),
        ERROR_PARAM,
        "aclrtCtxGetFloatOverflowAddr aclrtResetDevice",
        "the status of a context",
    );
}

fn reserved(t: &T) {
    let mut model = SENTINEL;
    t.fails_with(
        aclmdlRIBuildBegin(&raw mut model, 3),
        ERROR_FRONT,
        "flag 3 must 0",
        "flags",
    );
    let model = t.build();
    t.fails_with(
        aclmdlRIBuildEnd(model, addr(0x70)),
        ERROR_FRONT,
        "reserve 0x70 NULL",
        "a reserved argument",
    );
    t.destroy_model(model);
    let mut p = null_mut();
    t.fails_with(
        aclrtReserveMemAddress(&raw mut p, 2 * MIB, 7, null_mut(), 0),
        ERROR_FRONT,
        "alignment 7 must 0",
        "an alignment",
    );
}

static CALLS: std::sync::Mutex<Vec<usize>> = std::sync::Mutex::new(Vec::new());

extern "C" fn noted(data: *mut c_void) {
    if let Ok(mut calls) = CALLS.lock() {
        calls.push(data as usize);
    }
}

fn twice(t: &T) {
    // Each registration is a call, in their order, with what it came with.
    let s = t.stream();
    let model = t.model(s, || {});
    for data in [3, 5, 3] {
        let code = aclmdlRIDestroyRegisterCallback(model, Some(noted), addr(data));
        t.ok(code, "aclmdlRIDestroyRegisterCallback");
    }
    t.destroy_model(model);
    let calls = CALLS.lock().map(|calls| calls.clone()).unwrap_or_default();
    t.eq(calls, vec![3, 5, 3], "calls");
}

fn json(t: &T) {
    let s = t.stream();
    let (p, _) = t.filled(64);
    let note = |text: &[u8]| {
        let text = CString::new(text).unwrap_or_default();
        aclrtCacheLastTaskExtendInfo(text.as_ptr(), text.as_bytes().len())
    };
    t.begin(s, RELAXED);
    t.ok(aclrtMemsetAsync(p, 64, 1, 64, s), "aclrtMemsetAsync");
    for wrong in [
        &b"name"[..],
        b"{\"name\": }",
        b"{} {}",
        b"{\"name\": \"a\"",
        b" ",
    ] {
        t.fails_with(note(wrong), ERROR_FRONT, "extendInfoPtr JSON", "no JSON");
    }
    let long = format!("[{}", "1,".repeat(10_000));
    t.fails_with(note(long.as_bytes()), ERROR_FRONT, "JSON", "a long text");
    for right in [&b"{\"name\": \"a\"}"[..], b" [1, 2]\n", b"\"text\"", b"7"] {
        t.ok(note(right), "aclrtCacheLastTaskExtendInfo");
    }
    // What a string of C ends with may be counted.
    let code = aclrtCacheLastTaskExtendInfo(c"{}".as_ptr(), 3);
    t.ok(
        code,
        "aclrtCacheLastTaskExtendInfo with the end of the string",
    );
    let model = t.end(s);
    t.destroy_model(model);
}
