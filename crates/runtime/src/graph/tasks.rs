//! What a model holds: aclmdlRIGetStreams, aclmdlRIGetTasksByStream, aclmdlRITaskGetType, aclmdlRITaskGetSeqId,
//! aclmdlRITaskGetParams, aclmdlRITaskSetParams, aclmdlRITaskDisable, aclmdlRIUpdate.

use std::sync::Arc;

use cannery_abi as abi;

use super::capture::Captured;
use super::condition::{Conditional, Kind};
use super::model::{self, Model, Phase, find, find_task};
use super::state::{About, Branch, Node, Shown, State, What};
use crate::error::{Error, Fault, Result};
use crate::kernel::captured;
use crate::process::here;
use crate::stream::Stream;
use crate::stream::task::Task;
use crate::stream::value;

/// Parameters of a task, as far as they can be read and changed.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the fields of aclmdlRITaskParams
pub enum Parameters {
    EventRecord {
        event: u64,
        event_flag: u32,
        flag: u32,
    },
    EventWait {
        event: u64,
        event_flag: u32,
        flag: u32,
    },
    EventReset {
        event: u64,
        event_flag: u32,
        flag: u32,
    },
    ValueWrite {
        address: u64,
        value: u64,
    },
    ValueWait {
        address: u64,
        value: u64,
        flag: u32,
    },
    Kernel(captured::Parameters),
}

/// What pointers in the parameters of a task lead to: copies that live as long as the model, or until the task is
/// shown again.
#[derive(Clone, Copy, Default, Debug)]
pub struct Places {
    /// Arguments from the host.
    pub args: u64,
    /// An aclrtLaunchKernelCfg; 0: without attributes.
    pub config: u64,
    /// What aclrtCacheLastTaskOpInfo said, and its bytes.
    pub operator: (u64, usize),
}

fn too_small(have: u32, need: usize) -> Error {
    Error::sequence(
        abi::ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY,
        format!(
            "there is room for {have} and there are {need}; call it with NULL first to get the number"
        ),
    )
}

/// Writes a list, or with no place for it its length.
fn answer(list: &[u64], out: Option<&mut [u64]>, count: &mut u32) -> Result<()> {
    if let Some(out) = out {
        if out.len() < list.len() {
            return Err(too_small(out.len() as u32, list.len()));
        }
        out[..list.len()].copy_from_slice(list);
    }
    *count = list.len() as u32;
    Ok(())
}

/// aclmdlRIGetStreams: the streams whose calls the model holds, as they were called when it was made.
///
/// # Errors
/// 100000 for NULL; 107017; 107026; 107039 for too little room.
pub fn streams(handle: u64, out: Option<&mut [u64]>, count: Option<&mut u32>) -> Result<()> {
    let model = find(handle)?;
    let Some(count) = count else {
        return Err(Error::null("numStreams"));
    };
    model.ready()?;
    let list: Vec<u64> = model
        .state()
        .branches
        .iter()
        .map(|branch| branch.handle)
        .collect();
    answer(&list, out, count)
}

/// aclmdlRIGetTasksByStream: the tasks of the newest model that holds calls of the stream.
///
/// # Errors
/// 100000 for NULL; 107000 for a stream of no model; 107039 for too little room.
pub fn tasks_of_stream(
    stream: u64,
    out: Option<&mut [u64]>,
    count: Option<&mut u32>,
) -> Result<()> {
    if stream == 0 {
        return Err(Error::null("stream"));
    }
    let Some(count) = count else {
        return Err(Error::null("numTasks"));
    };
    crate::process::current()?;
    for model in model::all().into_iter().rev() {
        let state = model.state();
        let of = |branch: &Branch| branch.handle == stream;
        if !matches!(state.phase, Phase::Ready) || !state.branches.iter().any(of) {
            continue;
        }
        let mine = |(number, node): (usize, &Node)| {
            let here = of(&state.branches[node.branch]) && !matches!(node.what, What::Gone);
            here.then(|| model.task_handle(number))
        };
        let list: Vec<u64> = state.nodes.iter().enumerate().filter_map(mine).collect();
        return answer(&list, out, count);
    }
    Err(Error::rt_param(
        abi::ACL_ERROR_RT_PARAM_INVALID,
        "stream",
        format!(
            "no model holds calls of stream {stream:#x}; pass one that aclmdlRIGetStreams names"
        ),
    ))
}

fn kind(node: &Node) -> i32 {
    match &node.what {
        What::Record { .. } | What::ExternalRecord => abi::ACL_MODEL_RI_TASK_EVENT_RECORD,
        What::Wait { .. } | What::ExternalWait => abi::ACL_MODEL_RI_TASK_EVENT_WAIT,
        What::ResetEvent | What::ResetLabel { .. } => abi::ACL_MODEL_RI_TASK_EVENT_RESET,
        What::Control(_) | What::Conditional(_) | What::Gone => abi::ACL_MODEL_RI_TASK_DEFAULT,
        What::Run(slot) => slot.look(|task| match task {
            Task::ValueWrite { .. } => abi::ACL_MODEL_RI_TASK_VALUE_WRITE,
            Task::ValueWait { .. } => abi::ACL_MODEL_RI_TASK_VALUE_WAIT,
            task if task.is_kernel() => abi::ACL_MODEL_RI_TASK_KERNEL,
            _ => abi::ACL_MODEL_RI_TASK_DEFAULT,
        }),
    }
}

/// aclmdlRITaskGetType: ACL_MODEL_RI_TASK_*.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn task_type(task: u64, out: Option<&mut i32>) -> Result<()> {
    let (model, node) = find_task(task)?;
    let Some(out) = out else {
        return Err(Error::null("type"));
    };
    *out = kind(&model.state().nodes[node]);
    Ok(())
}

/// aclmdlRITaskGetSeqId: position among all tasks of the model, from 0 on.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn task_sequence(task: u64, out: Option<&mut u32>) -> Result<()> {
    let (_, node) = find_task(task)?;
    let Some(out) = out else {
        return Err(Error::null("id"));
    };
    *out = node as u32;
    Ok(())
}

/// aclmdlRITaskGetParams: kind, group and parameters; `None` where a task has none that can be shown; and where what
/// they point to is.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn task_parameters(task: u64) -> Result<(i32, u64, Option<Parameters>, Places)> {
    let (model, number) = find_task(task)?;
    let mut state = model.state();
    let node = &state.nodes[number];
    let group = node.group.map_or(0, |group| model.group_handle(group));
    let (event, event_flag) = (node.about.event, node.about.event_flag);
    let distance = model_distance()?;
    let parameters = match &node.what {
        What::Record { .. } => Some(Parameters::EventRecord {
            event,
            event_flag,
            flag: 0,
        }),
        What::ExternalRecord => Some(Parameters::EventRecord {
            event,
            event_flag,
            flag: 1,
        }),
        What::Wait { .. } => Some(Parameters::EventWait {
            event,
            event_flag,
            flag: 0,
        }),
        What::ExternalWait => Some(Parameters::EventWait {
            event,
            event_flag,
            flag: 1,
        }),
        What::ResetEvent | What::ResetLabel { .. } => Some(Parameters::EventReset {
            event,
            event_flag,
            flag: 0,
        }),
        What::Control(_) | What::Conditional(_) | What::Gone => None,
        What::Run(slot) => slot.look(|task| match task {
            Task::ValueWrite { at, value } => Some(Parameters::ValueWrite {
                address: at.wrapping_sub(distance),
                value: *value,
            }),
            Task::ValueWait { at, value, flag } => Some(Parameters::ValueWait {
                address: at.wrapping_sub(distance),
                value: *value,
                flag: *flag,
            }),
            Task::Kernel(launch) => Some(Parameters::Kernel(launch.parameters())),
            _ => None,
        }),
    };
    let (kind, shown) = (kind(node), show(node, parameters.as_ref()));
    let places = Places {
        args: shown.args.as_ptr() as u64,
        config: match shown.config {
            [_, 0] => 0,
            _ => shown.config.as_ptr() as u64,
        },
        operator: match shown.operator.len() {
            0 => (0, 0),
            bytes => (shown.operator.as_ptr() as u64, bytes),
        },
    };
    state.nodes[number].shown = Some(shown);
    Ok((kind, group, parameters, places))
}

/// Copies of what the parameters of a node point to.
fn show(node: &Node, parameters: Option<&Parameters>) -> Box<Shown> {
    let mut shown = Box::new(Shown {
        operator: node.notes.operator.clone(),
        ..Shown::default()
    });
    if let Some(Parameters::Kernel(launch)) = parameters {
        if let captured::Arguments::Host(bytes) = &launch.args {
            shown.args = bytes.clone();
        }
        let attribute = |(id, words): &(i32, [u32; 4])| abi::aclrtLaunchKernelAttr {
            id: *id,
            value: abi::aclrtLaunchKernelAttrValue { rsv: *words },
        };
        shown.attributes = launch.attributes.iter().map(attribute).collect();
        let count = shown.attributes.len() as u64;
        shown.config = [shown.attributes.as_ptr() as u64, count];
    }
    shown
}

/// The launch behind a task.
fn launch(node: &Node) -> Result<Arc<crate::kernel::run::Launch>> {
    let found = match &node.what {
        What::Run(slot) => slot.look(|task| match task {
            Task::Kernel(launch) => Some(Arc::clone(launch)),
            _ => None,
        }),
        _ => None,
    };
    found.ok_or_else(|| {
        Error::sequence(
            abi::ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
            "the task is no kernel; ask for its kind first (aclmdlRITaskGetType)",
        )
    })
}

/// aclmdlRIKernelTaskGetAttribute: the words of an attribute's value; zeros where the launch does not set it.
///
/// # Errors
/// 100000 for NULL; 107017; 507009 for what is no kernel; 107000 for attributes that do not exist; 207000 for those
/// that cannot be asked for.
pub fn kernel_attribute(task: u64, attribute: i32, out: Option<&mut [u32; 4]>) -> Result<()> {
    let (model, number) = find_task(task)?;
    let Some(out) = out else {
        return Err(Error::null("attrValue"));
    };
    let launch = launch(&model.state().nodes[number])?;
    *out = launch.attribute(attribute)?;
    Ok(())
}

fn model_distance() -> Result<u64> {
    Ok(crate::process::current()?.window.distance())
}

/// Whether there is such a task.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn check_task(task: u64) -> Result<()> {
    find_task(task).map(drop)
}

/// aclmdlRITaskSetParams: parameters that count after aclmdlRIUpdate. Value tasks and kernels can be changed here.
///
/// # Errors
/// 107017; 107000 for parameters of another kind of task, or that are wrong; 507009 for tasks that cannot
/// be changed.
pub fn set_task_parameters(task: u64, parameters: Parameters) -> Result<()> {
    let (model, number) = find_task(task)?;
    let staged = match parameters {
        Parameters::ValueWrite { address, value } => Task::ValueWrite {
            at: value::task_place(address)?,
            value,
        },
        Parameters::ValueWait {
            address,
            value,
            flag,
        } => {
            if flag > abi::ACL_STREAM_WAIT_VALUE_NOR {
                return Err(Error::rt_value("flag", flag, "a value in [0, 3]"));
            }
            Task::ValueWait {
                at: value::task_place(address)?,
                value,
                flag,
            }
        }
        Parameters::Kernel(new) => {
            let old = launch(&model.state().nodes[number])?;
            Task::Kernel(Arc::new(old.with(new)?))
        }
        _ => return Err(fixed("event tasks")),
    };
    let mut state = model.state();
    let node = &mut state.nodes[number];
    let same = match &node.what {
        What::Run(slot) => slot.look(Task::name) == staged.name(),
        _ => return Err(fixed("tasks of this kind")),
    };
    if !same {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "params",
            "are those of another kind of task; read them with aclmdlRITaskGetParams first",
        ));
    }
    node.staged = Some(staged);
    Ok(())
}

fn fixed(what: &str) -> Error {
    Error::sequence(
        abi::ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
        format!(
            "{what} cannot be changed; value tasks and kernels can, and task groups (aclmdlRICaptureTaskUpdateBegin) change \
                 copies, sets, value tasks and kernels"
        ),
    )
}

/// aclmdlRITaskDisable: the task is left out from the next aclmdlRIUpdate on.
///
/// # Errors
/// 100000 for NULL; 107017; 507009 for event tasks, which others may wait for, and for what decides where runs go.
pub fn disable_task(task: u64) -> Result<()> {
    let (model, number) = find_task(task)?;
    let mut state = model.state();
    let node = &mut state.nodes[number];
    if !matches!(node.what, What::Run(_)) {
        return Err(fixed("tasks of this kind"));
    }
    node.staged = Some(Task::nothing());
    Ok(())
}

/// aclmdlRIUpdate: what was set and disabled counts for the runs that are queued from now on.
///
/// # Errors
/// 100000 for NULL; 107017; 107026; 107040 for a built model, and while a run is not over: nothing changes then.
pub fn update(handle: u64) -> Result<()> {
    let model = find(handle)?;
    model.ready()?;
    let running = model.is_running();
    let mut state = model.state();
    let cause = if state.built {
        format!("model {handle:#x} was built; only captured models can be updated")
    } else if running {
        format!(
            "a run of model {handle:#x} is not over; wait for its stream first (aclrtSynchronizeStream)"
        )
    } else {
        String::new()
    };
    if !cause.is_empty() {
        return Err(Fault::State {
            code: abi::ACL_ERROR_RT_MODEL_UPDATE_FAILED,
            cause,
        }
        .into());
    }
    for node in &mut state.nodes {
        if let (Some(task), What::Run(slot)) = (node.staged.take(), &node.what) {
            if task.is_nothing() {
                node.disabled = true;
            } else {
                slot.replace(task);
            }
        }
    }
    Ok(())
}

/// The run of a model becomes part of another one: its nodes are captured once more.
pub(super) fn copy_into(
    inner: &Arc<Model>,
    outer: &Captured,
    stream: &'static Stream,
    handle: u64,
) -> Result<()> {
    inner.ready()?;
    super::model::bodies_ready(inner)?;
    if inner.holds(&outer.model) {
        return Err(Fault::State {
            code: abi::ACL_ERROR_RT_MODEL_CAPTURED,
            cause: format!(
                "model {:#x} is being captured on stream {handle:#x}, and cannot hold itself; run another one there",
                inner.handle
            ),
        }
        .into());
    }
    let from = inner.state();
    if from.built {
        return Err(Error::unsupported(format!(
            "model {:#x} was built, and its runs cannot be captured; capture those of a captured model",
            inner.handle
        )));
    }
    let mut into = outer.model.state();
    if into.built {
        // As one task: runs may come to it any number of times, and then all of its branches begin.
        let body = Model::body(&here()?, Phase::Ready, &outer.model);
        {
            let mut copy = body.state();
            copy.conditions.clone_from(&from.conditions);
            // Its tasks are no tasks of the stream.
            let add = |_| copy.add_branch(0, stream);
            let branches: Vec<usize> = (0..from.branches.len()).map(add).collect();
            copy_nodes(&from, &mut copy, &branches);
        }
        body.publish()?;
        let task = Conditional {
            kind: Kind::Always,
            condition: None,
            bodies: vec![body],
        };
        let what = What::Conditional(Arc::new(task));
        into.push(outer.branch, what, About::default());
        return Ok(());
    }
    for task in from
        .conditions
        .iter()
        .filter_map(|condition| condition.reset())
    {
        into.push_task(outer.branch, task);
    }
    let branches: Vec<usize> = (0..from.branches.len())
        .map(|branch| match branch {
            0 => outer.branch,
            _ => into.add_branch(handle, stream),
        })
        .collect();
    copy_nodes(&from, &mut into, &branches);
    Ok(())
}

/// Adds the nodes of a model to another one, where its branches have these numbers.
fn copy_nodes(from: &State, into: &mut State, branches: &[usize]) {
    let mut labels = Vec::with_capacity(from.labels.len());
    for node in &from.nodes {
        let branch = branches[node.branch];
        match &node.what {
            What::Run(_) if node.disabled => {}
            What::Run(slot) => {
                if let Some(task) = slot.again() {
                    into.push_task(branch, task);
                }
            }
            What::Record { .. } => labels.push(into.push_record(branch, node.about)),
            What::Wait { label } => into.push_wait(branch, labels[*label], node.about),
            What::ExternalRecord => into.push(branch, What::ExternalRecord, node.about),
            What::ExternalWait => into.push(branch, What::ExternalWait, node.about),
            What::ResetEvent => into.push(branch, What::ResetEvent, node.about),
            What::ResetLabel { label } => {
                let label = labels[*label];
                into.push(branch, What::ResetLabel { label }, node.about);
            }
            What::Conditional(task) => {
                into.push(branch, What::Conditional(Arc::clone(task)), node.about);
            }
            What::Control(_) | What::Gone => {}
        }
    }
}
