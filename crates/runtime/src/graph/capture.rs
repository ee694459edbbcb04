//! aclmdlRICaptureBegin, aclmdlRICaptureToModelRIBegin, aclmdlRICaptureEnd, aclmdlRICaptureGetInfo; and what
//! streams and events do while they are captured.

use std::sync::Arc;

use cannery_abi as abi;

use super::model::{Capturing, Model, Phase, find};
use super::state::{About, What};
use super::{mode, notes};
use crate::error::{Error, Fault, Result};
use crate::os;
use crate::process::Here;
use crate::stream::manage::{find as find_stream, stream_of_call};
use crate::stream::task::Task;
use crate::stream::{STREAMS, Stream};

/// Where the calls of a captured stream go.
#[derive(Clone)]
pub(crate) struct Captured {
    pub(crate) model: Arc<Model>,
    pub(crate) branch: usize,
}

/// What an event stands for after a captured record.
#[derive(Clone)]
pub(crate) struct Label {
    pub(crate) model: Arc<Model>,
    number: usize,
}

impl Label {
    /// Whether the model still takes tasks: the record stands for no work then.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.model.state().phase, Phase::Ready)
    }

    /// Whether a wait on a stream that gives its calls to `it` is a wait within the model.
    pub(crate) fn is_for(&self, it: Option<&Captured>) -> bool {
        if !self.model.state().is_recorded(self.number) {
            return false;
        }
        if it.is_some_and(|it| Arc::ptr_eq(&it.model, &self.model)) {
            return true;
        }
        // A stream that is captured comes into no model that is built.
        self.model.is_capturing()
            || (self.is_open() && !it.is_some_and(|it| it.model.is_capturing()))
    }
}

fn captured(handle: u64) -> Error {
    Fault::State {
        code: abi::ACL_ERROR_RT_STREAM_CAPTURED,
        cause: format!(
            "stream {handle:#x} is being captured; end the capture first (aclmdlRICaptureEnd)"
        ),
    }
    .into()
}

/// Refuses a call that needs a captured stream.
pub(super) fn not_captured(handle: u64) -> Error {
    Fault::State {
        code: abi::ACL_ERROR_RT_STREAM_NOT_CAPTURED,
        cause: format!(
            "stream {handle:#x} is not being captured; begin a capture first (aclmdlRICaptureBegin)"
        ),
    }
    .into()
}

/// Refuses a call that does not go with a captured stream.
///
/// # Errors
/// 107027.
#[inline]
pub(crate) fn refuse_captured(stream: &Stream, handle: u64) -> Result<()> {
    if stream.is_captured() && stream.captured().is_some_and(|it| it.model.is_capturing()) {
        return Err(captured(handle));
    }
    Ok(())
}

/// Refuses a task for a stream whose model takes no more of it.
#[cold]
pub(crate) fn sealed(param: &'static str, stream: &Stream, handle: u64) -> Error {
    let model = stream.captured().map_or(0, |it| it.model.handle);
    Error::rt_param(
        abi::ACL_ERROR_RT_PARAM_INVALID,
        param,
        format!(
            "stream {handle:#x} gives model {model:#x} no more tasks since aclmdlRIEndTask or aclmdlRIBuildEnd; unbind \
             it (aclmdlRIUnbindStream), or empty it to fill it again (aclrtPersistentTaskClean)"
        ),
    )
}

fn start(handle: u64, mode: i32) -> Result<(Here, &'static Stream)> {
    mode::check(mode)?;
    if handle == 0 {
        return Err(implicit());
    }
    let (here, stream) = stream_of_call("stream", handle)?;
    if stream.home().is_default {
        return Err(implicit());
    }
    if stream.is_captured() {
        return Err(captured(handle));
    }
    if stream.keeps_tasks() {
        return Err(super::update::under_way(handle));
    }
    Ok((here, stream))
}

fn implicit() -> Error {
    Fault::State {
        code: abi::ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
        cause: "a default stream cannot be captured; make one with aclrtCreateStream".to_owned(),
    }
    .into()
}

fn capturing(handle: u64, mode: i32) -> Capturing {
    Capturing {
        mode,
        thread: os::thread::id(),
        origin: handle,
        invalid: None,
    }
}

/// aclmdlRICaptureBegin: what the stream is given from now on is kept, not run.
///
/// # Errors
/// 100000 for modes; 107031 for a default stream; 107017, 107002, 107003; 107027 for one that is captured.
pub fn begin(handle: u64, mode: i32) -> Result<()> {
    let (here, stream) = start(handle, mode)?;
    let model = Model::new(&here, Phase::Capturing(capturing(handle, mode)), false);
    model.state().add_branch(handle, stream);
    model.publish()?;
    enter(&model, handle, stream).inspect_err(|_| {
        let _ = super::life::remove(&model);
    })
}

/// The stream gives its tasks to the model from now on. Another thread may have been faster.
fn enter(model: &Arc<Model>, handle: u64, stream: &'static Stream) -> Result<()> {
    mode::began();
    let model = Arc::clone(model);
    if stream.begin_capture(Captured { model, branch: 0 }) {
        return Ok(());
    }
    mode::ended();
    Err(captured(handle))
}

/// aclmdlRICaptureToModelRIBegin: as [`begin`], behind what a captured model, or the body of a conditional task,
/// holds already.
///
/// # Errors
/// As [`begin`]; 107017 for the model; 107026 while that is being captured or built; 107037 while a run of the
/// model that has it as a body is not over.
pub fn begin_to_model(handle: u64, model: u64, mode: i32) -> Result<()> {
    let (_, stream) = start(handle, mode)?;
    let model = find(model)?;
    if model.is_body() && model.is_running() {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_MODEL_RUNNING,
            format!(
                "a run of the model that has body {:#x} is not over; wait for its stream first \
                 (aclrtSynchronizeStream)",
                model.handle
            ),
        ));
    }
    {
        let mut state = model.state();
        if !matches!(state.phase, Phase::Ready) || state.built {
            return Err(Error::sequence(
                abi::ACL_ERROR_RT_MODEL_CAPTURED,
                format!(
                    "model {:#x} is being captured or built, or was built; only a captured model takes more",
                    model.handle
                ),
            ));
        }
        enter(&model, handle, stream)?;
        state.phase = Phase::Capturing(capturing(handle, mode));
        if state.branches.is_empty() {
            state.add_branch(handle, stream);
            return Ok(());
        }
        // The same branch goes on, on another stream: everything so far comes first.
        let joined: Vec<usize> = state.branches.iter().map(|branch| branch.count).collect();
        let first = &mut state.branches[0];
        first.handle = handle;
        first.stream = stream;
        first.knows = joined;
    }
    Ok(())
}

/// aclmdlRICaptureEnd: returns the model.
///
/// # Errors
/// 100000 for NULL; 107017; 107036 for a stream where no capture began; 107038 from another thread, unless the
/// capture is relaxed; 107025 when work of another stream is not waited for; 107033 in a task group;
/// 507903 when the capture became invalid. The capture is over and there is no model in the last three
/// cases.
pub fn end(handle: u64, out: Option<&mut u64>) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("modelRI"));
    };
    if handle == 0 {
        return Err(implicit());
    }
    let stream = find_stream("stream", handle)?;
    let unmatched = || -> Error {
        Fault::State {
            code: abi::ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
            cause: format!(
                "no capture began on stream {handle:#x}; call aclmdlRICaptureBegin on it first, and end it on the \
                 same stream"
            ),
        }
        .into()
    };
    let Some(it) = stream.captured().filter(|it| it.branch == 0) else {
        return Err(unmatched());
    };
    let model = it.model;
    let failed = {
        let mut state = model.state();
        let Phase::Capturing(capture) = &state.phase else {
            return Err(unmatched());
        };
        let relaxed = capture.mode == abi::ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
        if !relaxed && capture.thread != os::thread::id() {
            return Err(Fault::State {
                code: abi::ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
                cause: format!(
                    "the capture was begun by thread {}; end it there, or begin it in mode RELAXED (2)",
                    capture.thread
                ),
            }
            .into());
        }
        let failed = if let Some(why) = &capture.invalid {
            Some((
                abi::ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                format!("the capture became invalid: {why}"),
            ))
        } else if state.branches.iter().any(|branch| branch.group.is_some()) {
            Some((
                abi::ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                "a task group is open; end it first (aclmdlRICaptureTaskGrpEnd)".to_owned(),
            ))
        } else {
            state.unjoined().first().map(|other| (
                    abi::ACL_ERROR_RT_STREAM_UNJOINED,
                    format!(
                        "the last work of stream {other:#x} is not waited for; record an event on it and let \
                         stream {handle:#x} wait for that before the end"
                    ),
                ))
        };
        for branch in &state.branches {
            branch.stream.end_capture(&model);
        }
        state.phase = Phase::Ready;
        failed
    };
    mode::ended();
    match failed {
        None => {
            *out = model.handle;
            Ok(())
        }
        Some((code, cause)) => {
            *out = 0;
            super::life::fail(&model)?;
            Err(Fault::State { code, cause }.into())
        }
    }
}

/// aclmdlRICaptureGetInfo: ACL_MODEL_RI_CAPTURE_STATUS_*, and the model while there is one.
///
/// # Errors
/// 107017; 107002 for the default stream without a context.
pub fn info(handle: u64, status: Option<&mut i32>, model: Option<&mut u64>) -> Result<()> {
    if status.is_none() && model.is_none() {
        return Err(Error::null("status"));
    }
    let stream = crate::stream::manage::or_default(handle)?;
    let (what, which) = match stream.captured() {
        None => (abi::ACL_MODEL_RI_CAPTURE_STATUS_NONE, 0),
        Some(it) => match &it.model.state().phase {
            Phase::Capturing(capture) if capture.invalid.is_some() => {
                (abi::ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED, 0)
            }
            Phase::Capturing(_) => (abi::ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE, it.model.handle),
            _ => (abi::ACL_MODEL_RI_CAPTURE_STATUS_NONE, 0),
        },
    };
    if let Some(status) = status {
        *status = what;
    }
    if let Some(model) = model {
        *model = which;
    }
    Ok(())
}

/// A task was submitted to a stream that keeps its tasks.
#[cold]
pub(crate) fn take(stream: &'static Stream, task: Task) {
    let Some(it) = stream.captured() else {
        // It ended at this very moment.
        return crate::stream::engine::submit(stream, task);
    };
    let mut state = it.model.state();
    if task.again().is_none() {
        let why = format!(
            "a task of kind \"{}\" cannot be captured; queue it before or after the capture",
            task.name()
        );
        if let Phase::Capturing(capture) = &mut state.phase {
            capture.invalid.get_or_insert(why);
        }
        drop(state);
        return task.drop_unrun();
    }
    state.push_task(it.branch, task);
    notes::note(&it.model, state.nodes.len() - 1, stream);
}

/// Memory of a pool belongs to a position of its stream, and a captured stream has none.
///
/// # Errors
/// 207000 while the stream is captured.
#[inline]
pub(crate) fn refuse_pool(stream: &Stream) -> Result<()> {
    if stream.is_captured() {
        return Err(Error::unsupported(
            "stream-ordered pools cannot be used on a stream that is being captured; allocate before the capture",
        ));
    }
    Ok(())
}

/// An event is recorded on a captured stream; what it stands for now.
pub(crate) fn record(it: &Captured, event: u64, flags: u32) -> Label {
    let about = About {
        event,
        event_flag: flags,
    };
    let number = it.model.state().push_record(it.branch, about);
    Label {
        model: Arc::clone(&it.model),
        number,
    }
}

/// An event is recorded, or waited for, or reset on a captured stream, each time the model runs.
pub(crate) fn external(it: &Captured, event: u64, flags: u32, what: External) {
    let about = About {
        event,
        event_flag: flags,
    };
    let what = match what {
        External::Record => What::ExternalRecord,
        External::Wait => What::ExternalWait,
        External::Reset => What::ResetEvent,
        External::Forget(label) => What::ResetLabel {
            label: label.number,
        },
    };
    it.model.state().push(it.branch, what, about);
}

/// What is done with an event outside of the model.
pub(crate) enum External {
    Record,
    Wait,
    Reset,
    /// A reset of an event that the model itself records: each run has its own record.
    Forget(Label),
}

/// A stream waits for an event whose record was captured: it becomes part of that capture. Streams of models that are
/// built are bound before.
///
/// # Errors
/// 107031 for a default stream; 107032 for a stream of another capture; 107005 for one that is not bound to the model
/// that is built.
pub(crate) fn join(
    label: &Label,
    handle: u64,
    stream: &'static Stream,
    event: u64,
    flags: u32,
) -> Result<()> {
    let built = label.model.state().built;
    if stream.home().is_default && !built {
        return Err(implicit());
    }
    let branch = match stream.captured() {
        Some(it) if Arc::ptr_eq(&it.model, &label.model) => it.branch,
        _ if built => return Err(not_of_the_model(&label.model, handle)),
        Some(_) => return Err(conflict(handle)),
        None => {
            let branch = label.model.state().add_branch(handle, stream);
            let model = Arc::clone(&label.model);
            if !stream.begin_capture(Captured { model, branch }) {
                return Err(conflict(handle));
            }
            branch
        }
    };
    let about = About {
        event,
        event_flag: flags,
    };
    label.model.state().push_wait(branch, label.number, about);
    Ok(())
}

fn conflict(handle: u64) -> Error {
    Fault::State {
        code: abi::ACL_ERROR_STREAM_CAPTURE_CONFLICT,
        cause: format!(
            "the event was recorded in another capture than the one of stream {handle:#x}; captures cannot be linked"
        ),
    }
    .into()
}

fn not_of_the_model(model: &Model, handle: u64) -> Error {
    let model = model.handle;
    Error::rt_param(
        abi::ACL_ERROR_RT_STREAM_MODEL,
        "stream",
        format!(
            "the event was recorded on a stream of model {model:#x}, which is being built; bind stream {handle:#x} to \
             it first (aclmdlRIBindStream)"
        ),
    )
}

/// A captured stream waits for an event that was not recorded in its capture, or a bound one for one that was not
/// recorded in its model.
pub(crate) fn no_record(it: &Captured) -> Error {
    let cause = if it.model.state().built {
        "the event was not recorded on a stream of this model; record it on a bound stream first, or wait with the \
         external flag (aclrtStreamWaitEventWithFlag)"
    } else {
        "the event was not recorded in this capture; record it on a captured stream first, or wait with the external \
         flag (aclrtStreamWaitEventWithFlag)"
    };
    Fault::State {
        code: abi::ACL_ERROR_RT_CAPTURE_DEPENDENCY,
        cause: cause.to_owned(),
    }
    .into()
}

/// The host asks about an event that was recorded in a capture which goes on, or in a model that is being built.
pub(crate) fn event_captured(label: &Label) -> Error {
    let cause = if label.model.is_capturing() {
        "the event was recorded in a capture, so it stands for no work yet; end the capture first"
    } else {
        "the event was recorded on a stream of a model that is being built, so it stands for no work yet; record it on \
         another stream to wait for it here"
    };
    Fault::State {
        code: abi::ACL_ERROR_RT_EVENT_CAPTURED,
        cause: cause.to_owned(),
    }
    .into()
}

/// A stream goes away while it is captured: the capture is invalid.
pub(crate) fn abandon(handle: u64, stream: &'static Stream) {
    if let Some(it) = stream.captured() {
        let mut state = it.model.state();
        if let Phase::Capturing(capture) = &mut state.phase {
            capture.invalid.get_or_insert_with(|| {
                format!(
                    "stream {handle:#x} was destroyed while it was captured; destroy it after the end of the capture \
                     (aclrtDestroyStream)"
                )
            });
            if it.branch == 0 {
                // Nobody can end it any more.
                for branch in &state.branches {
                    branch.stream.end_capture(&it.model);
                }
                state.phase = Phase::Ready;
                drop(state);
                mode::ended();
                let _ = super::life::fail(&it.model);
                return;
            }
        }
        stream.end_capture(&it.model);
    }
}

/// The stream of a handle, if it keeps its calls for a model.
pub(crate) fn of_handle(handle: u64) -> Option<Captured> {
    STREAMS.find(handle)?.captured()
}
