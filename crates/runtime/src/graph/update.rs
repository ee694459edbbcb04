//! Task groups: aclmdlRICaptureTaskGrpBegin, aclmdlRICaptureTaskGrpEnd, aclmdlRICaptureTaskUpdateBegin,
//! aclmdlRICaptureTaskUpdateEnd.
//!
//! An update is work of the stream it is made on: the new parameters count from when that stream gets
//! there. A run that is queued already and has not come to the group yet sees them; so a model can wait
//! (on an external event) for the update of its own run.

use std::sync::Arc;

use cannery_abi as abi;

use super::capture::not_captured;
use super::model::{Model, find_group};
use super::state::What;
use crate::error::{Error, Fault, Result};
use crate::stream::manage::stream_of_call;
use crate::stream::task::Task;
use crate::stream::{Stream, engine};

/// New parameters that are being collected on a stream.
pub(crate) struct Update {
    model: Arc<Model>,
    group: usize,
    tasks: Vec<Task>,
}

fn wrong_state(cause: impl Into<String>) -> Error {
    Fault::State {
        code: abi::ACL_ERROR_STREAM_TASK_GROUP_STATUS,
        cause: cause.into(),
    }
    .into()
}

/// The stream collects an update.
pub(super) fn under_way(handle: u64) -> Error {
    wrong_state(format!(
        "an update is under way on stream {handle:#x}; end it first (aclmdlRICaptureTaskUpdateEnd)"
    ))
}

/// aclmdlRICaptureTaskGrpBegin: what is captured on the stream from now on is a group.
///
/// # Errors
/// 107017, 107002, 107003; 107029 outside of a capture; 107033 inside of a group.
pub fn group_begin(handle: u64) -> Result<()> {
    let (_, stream) = stream_of_call("stream", handle)?;
    let Some(it) = stream.captured().filter(|it| it.model.is_capturing()) else {
        return Err(not_captured(handle));
    };
    let mut state = it.model.state();
    let open = &mut state.branches[it.branch].group;
    if open.is_some() {
        return Err(wrong_state(format!(
            "a task group is open on stream {handle:#x} already; end it first (aclmdlRICaptureTaskGrpEnd)"
        )));
    }
    *open = Some(Vec::new());
    state.branches[it.branch].interrupted = false;
    Ok(())
}

/// aclmdlRICaptureTaskGrpEnd: returns the group.
///
/// # Errors
/// 100000 for NULL; 107017, 107002, 107003; 107029; 107033 without a beginning; 107034 when another stream
/// of the capture was given something meanwhile; 507009 for a group with something that cannot be replaced
/// (events). There is no group in the last two cases, and the capture goes on.
pub fn group_end(handle: u64, out: Option<&mut u64>) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("handle"));
    };
    let (_, stream) = stream_of_call("stream", handle)?;
    let Some(it) = stream.captured().filter(|it| it.model.is_capturing()) else {
        return Err(not_captured(handle));
    };
    let mut state = it.model.state();
    let Some(nodes) = state.branches[it.branch].group.take() else {
        return Err(wrong_state(format!(
            "no task group was begun on stream {handle:#x}; begin one first (aclmdlRICaptureTaskGrpBegin)"
        )));
    };
    if state.branches[it.branch].interrupted {
        return Err(Fault::State {
            code: abi::ACL_ERROR_STREAM_TASK_GROUP_INTR,
            cause: "another stream of the capture was given something while the group was recorded; keep to \
                    the stream of the group between its beginning and its end"
                .to_owned(),
        }
        .into());
    }
    let fixed = |node: &usize| !matches!(state.nodes[*node].what, What::Run(_));
    if nodes.iter().any(fixed) {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
            "the group holds an event call or a conditional task, which cannot be updated; keep those outside of groups",
        ));
    }
    let number = state.groups.len();
    for node in &nodes {
        state.nodes[*node].group = Some(number);
    }
    state.groups.push(nodes);
    *out = it.model.group_handle(number);
    Ok(())
}

/// aclmdlRICaptureTaskUpdateBegin: what the stream is given from now on replaces the tasks of the group, one
/// after the other.
///
/// # Errors
/// 100000 for NULL; 107017 for the stream and the group; 107002, 107003; 107027 for a stream that is being
/// captured; 107026 while the model is; 107033 inside of an update.
pub fn update_begin(handle: u64, group: u64) -> Result<()> {
    let (model, number) = find_group(group)?;
    let (_, stream) = stream_of_call("stream", handle)?;
    super::capture::refuse_captured(stream, handle)?;
    model.ready()?;
    let update = Update {
        model,
        group: number,
        tasks: Vec::new(),
    };
    if stream.begin_update(update) {
        return Ok(());
    }
    if stream.is_captured() {
        return Err(wrong_state(format!(
            "stream {handle:#x} is bound to a model; update on another one"
        )));
    }
    Err(under_way(handle))
}

/// A task was submitted to a stream that collects an update.
#[cold]
pub(crate) fn take(stream: &'static Stream, task: Task) {
    stream
        .with_update(|update| match update {
            Some(update) => {
                update.tasks.push(task);
                None
            }
            None => Some(task),
        })
        // It ended at this very moment.
        .into_iter()
        .for_each(|task| engine::submit(stream, task));
}

/// aclmdlRICaptureTaskUpdateEnd: queues the replacement.
///
/// # Errors
/// 107017, 107002, 107003; 107033 without a beginning; 107040 when number or kinds of the tasks are not
/// those of the group: nothing changes then.
pub fn update_end(handle: u64) -> Result<()> {
    let (_, stream) = stream_of_call("stream", handle)?;
    let Some(mut update) = stream.end_update() else {
        return Err(wrong_state(format!(
            "no update was begun on stream {handle:#x}; begin one first (aclmdlRICaptureTaskUpdateBegin)"
        )));
    };
    let state = update.model.state();
    let nodes = &state.groups[update.group];
    let failed = |cause: String| -> Error {
        Fault::State {
            code: abi::ACL_ERROR_RT_MODEL_UPDATE_FAILED,
            cause,
        }
        .into()
    };
    if nodes.len() != update.tasks.len() {
        return Err(failed(format!(
            "the group has {} task(s), the update {}",
            nodes.len(),
            update.tasks.len()
        )));
    }
    let mut changes = Vec::with_capacity(nodes.len());
    let tasks = std::mem::take(&mut update.tasks);
    for (at, (node, task)) in nodes.iter().zip(tasks).enumerate() {
        let What::Run(slot) = &state.nodes[*node].what else {
            continue;
        };
        let was = slot.look(Task::name);
        if was != task.name() || task.needs_worker() != slot.needs_worker || task.again().is_none()
        {
            return Err(failed(format!(
                "task {at} of the group is of kind \"{was}\", that of the update of kind \"{}\"",
                task.name()
            )));
        }
        changes.push((Arc::clone(slot), task));
    }
    drop(state);
    engine::submit(
        stream,
        Task::Once(Box::new(move || {
            for (slot, task) in changes {
                slot.replace(task);
            }
            0
        })),
    );
    Ok(())
}

impl Drop for Update {
    fn drop(&mut self) {
        // What was submitted for it is not run.
        std::mem::take(&mut self.tasks)
            .into_iter()
            .for_each(Task::drop_unrun);
    }
}

/// A stream goes away in the middle of an update.
pub(crate) fn abandon(stream: &'static Stream) {
    drop(stream.end_update());
}
