//! Models that are built from bound streams: aclmdlRIBuildBegin, aclmdlRIBindStream, aclmdlRIEndTask,
//! aclmdlRIUnbindStream, aclmdlRIBuildEnd.

use std::sync::Arc;

use cannery_abi as abi;

use super::capture::Captured;
use super::model::{Model, Phase, find};
use super::state::What;
use crate::error::{Error, Result};
use crate::process::here;
use crate::stream::Stream;
use crate::stream::manage::working_stream;

/// A bound stream begins with the run.
const HEAD: u32 = 0;
/// It begins when another one activates it (aclrtActiveStream, aclrtSwitchStream).
const LATER: u32 = 0x7fff_ffff;

/// aclmdlRIBuildBegin.
///
/// # Errors
/// 100000 for NULL and for flags that are not 0; 107002 without a context.
pub fn build_begin(out: Option<&mut u64>, flag: u32) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("modelRI"));
    };
    if flag != 0 {
        return Err(Error::value("flag", flag, "must be 0 (reserved)"));
    }
    let model = Model::new(&here()?, Phase::Building, true);
    model.publish()?;
    *out = model.handle;
    Ok(())
}

fn building(model: &Model) -> Result<()> {
    if matches!(model.state().phase, Phase::Building) {
        return Ok(());
    }
    Err(Error::rt_param(
        abi::ACL_ERROR_RT_PARAM_INVALID,
        "modelRI",
        format!(
            "model {:#x} is not being built: a capture made it, or aclmdlRIBuildEnd ended that; begin another one \
             (aclmdlRIBuildBegin)",
            model.handle
        ),
    ))
}

/// aclmdlRIBindStream: what the stream is given from now on belongs to the model.
///
/// # Errors
/// 100000 for NULL; 107017; 107002, 107003; 107000 for a stream without ACL_STREAM_PERSISTENT, one that
/// belongs to a model, flags, and a model that is not being built.
pub fn bind_stream(model: u64, handle: u64, flag: u32) -> Result<()> {
    let model = find(model)?;
    if handle == 0 {
        return Err(Error::null("stream"));
    }
    if flag != HEAD && flag != LATER {
        return Err(Error::rt_value(
            "flag",
            flag,
            format!("0 (begins with the run) or {LATER:#x} (begins when activated)"),
        ));
    }
    let (_, stream) = working_stream("stream", handle)?;
    building(&model)?;
    let flags = stream.flags.load(std::sync::atomic::Ordering::Relaxed);
    if flags & abi::ACL_STREAM_PERSISTENT == 0 {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "stream",
            format!(
                "stream {handle:#x} was made without ACL_STREAM_PERSISTENT (4); only streams with it can be bound \
                 (aclrtCreateStreamWithConfig)"
            ),
        ));
    }
    let branch = {
        let mut state = model.state();
        let branch = state.add_branch(handle, stream);
        state.branches[branch].from_start = flag == HEAD;
        branch
    };
    if stream.begin_capture(Captured {
        model: Arc::clone(&model),
        branch,
    }) {
        return Ok(());
    }
    model.state().branches.pop();
    Err(Error::rt_param(
        abi::ACL_ERROR_RT_PARAM_INVALID,
        "stream",
        taken(stream, handle),
    ))
}

/// Why a stream cannot be bound.
fn taken(stream: &Stream, handle: u64) -> String {
    match stream.captured() {
        Some(it) if it.model.is_capturing() => format!(
            "stream {handle:#x} is being captured; end the capture first (aclmdlRICaptureEnd)"
        ),
        Some(it) => format!(
            "stream {handle:#x} belongs to model {:#x} already; unbind it first (aclmdlRIUnbindStream)",
            it.model.handle
        ),
        None => format!(
            "an update is under way on stream {handle:#x}; end it first (aclmdlRICaptureTaskUpdateEnd)"
        ),
    }
}

fn bound(model: &Arc<Model>, handle: u64) -> Result<&'static Stream> {
    if handle == 0 {
        return Err(Error::null("stream"));
    }
    let (_, stream) = working_stream("stream", handle)?;
    match stream.captured() {
        Some(it) if Arc::ptr_eq(&it.model, model) => Ok(stream),
        _ => Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "stream",
            format!(
                "stream {handle:#x} is not bound to model {:#x}; bind it first (aclmdlRIBindStream)",
                model.handle
            ),
        )),
    }
}

/// aclmdlRIEndTask: the stream gives the model no more tasks.
///
/// # Errors
/// 100000 for NULL; 107017; 107000 for a stream that is not bound to the model, and for one whose tasks have ended
/// already (aclmdlRIEndTask, aclmdlRIBuildEnd).
pub fn end_task(model: u64, handle: u64) -> Result<()> {
    let model = find(model)?;
    let stream = bound(&model, handle)?;
    if stream.is_sealed() {
        return Err(super::capture::sealed("stream", stream, handle));
    }
    stream.seal(&model, true);
    Ok(())
}

/// aclmdlRIUnbindStream: the stream is an ordinary one again; what it gave the model stays there.
///
/// # Errors
/// As [`end_task`]; 107037 while a run of the model is not over.
pub fn unbind_stream(model: u64, stream: u64) -> Result<()> {
    let model = find(model)?;
    let stream = bound(&model, stream)?;
    if model.is_running() {
        return Err(model.running());
    }
    stream.end_capture(&model);
    Ok(())
}

/// aclmdlRIBuildEnd: the model can run, and takes no more tasks.
///
/// # Errors
/// 100000 for NULL and for a reserved argument that is not; 107017; 107000 for a model that is not being
/// built, and for jumps to labels that none of its streams has: it goes on being built then.
pub fn build_end(model: u64, reserve: u64) -> Result<()> {
    let model = find(model)?;
    if reserve != 0 {
        return Err(Error::cause(
            "reserve",
            format!("{reserve:#x}"),
            "reserved, must be NULL",
        ));
    }
    building(&model)?;
    let mut state = model.state();
    state.program()?;
    state.phase = Phase::Ready;
    for branch in &state.branches {
        branch.stream.seal(&model, true);
    }
    Ok(())
}

/// aclrtPersistentTaskClean: what a stream with ACL_STREAM_PERSISTENT was given is dropped, and it can be filled
/// again: out of the model that it is bound to, or out of its own queue.
///
/// # Errors
/// 100000 for NULL; 107017; 107002, 107003; 107000 for other streams; 107037 while a run of its model is not over.
pub fn clean_stream(handle: u64) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("stream"));
    }
    let (_, stream) = working_stream("stream", handle)?;
    let flags = stream.flags.load(std::sync::atomic::Ordering::Relaxed);
    if flags & abi::ACL_STREAM_PERSISTENT == 0 {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "stream",
            format!(
                "stream {handle:#x} was made without ACL_STREAM_PERSISTENT (4); only streams with it keep their tasks \
                 (aclrtCreateStreamWithConfig)"
            ),
        ));
    }
    let Some(it) = stream.captured().filter(|it| it.model.state().built) else {
        super::capture::refuse_captured(stream, handle)?;
        crate::stream::engine::drop_tasks(stream);
        return Ok(());
    };
    let mut state = it.model.state();
    if state.is_running() {
        return Err(it.model.running());
    }
    for node in state
        .nodes
        .iter_mut()
        .filter(|node| node.branch == it.branch)
    {
        node.what = What::Gone;
        node.staged = None;
    }
    stream.seal(&it.model, false);
    Ok(())
}
