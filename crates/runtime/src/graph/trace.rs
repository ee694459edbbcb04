//! aclmdlRIDebugJsonPrint: what a model holds, as trace events, the format that chrome://tracing and its kin open.
//!
//! A list of complete events and nothing else, since programs that read it expect no other kind: a model is a process
//! of the trace, its streams are the threads, a task is an event of length 1 at the place where it was captured (no
//! time: a model has not run). Bodies of conditional tasks are processes of their own.

use serde_json::{Value, json};

use super::model::Model;
use super::print::{ready, shown, what};
use super::state::{Node, State, What};
use crate::error::{Error, Result};
use crate::os::file_limits;
use crate::process::current;
use crate::stream::task::Task;
use crate::window::Window;

/// Writes a file, or replaces it. Flags: 0 every task with its model, stream, number and kind; 1 what kernels are
/// given, too.
///
/// # Errors
/// 100000 for NULL and flags; 107017; 107026, 107045; 107000 for a file that cannot be written.
pub fn debug_json(handle: u64, path: Option<&str>, flags: u32) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("modelRI"));
    }
    let Some(path) = path else {
        return Err(Error::null("path"));
    };
    if flags > 1 {
        return Err(Error::value(
            "flags",
            flags,
            "must be 0 (summary) or 1 (verbose)",
        ));
    }
    let model = ready(handle)?;
    let mut events = Vec::new();
    collect(&model, flags == 1, &current()?.window, &mut events);
    let text = serde_json::to_string_pretty(&events).unwrap_or_default();
    file_limits::without_signal(|| std::fs::write(path, text + "\n")).map_err(|error| {
        Error::rt_cause(
            "path",
            path,
            match file_limits::remedy(&error) {
                Some(remedy) => format!("cannot be written: {error}; {remedy}"),
                None => {
                    format!("cannot be written: {error}; choose a file in a directory of yours")
                }
            },
        )
    })
}

/// The events of a model, and of its bodies behind it.
fn collect(model: &Model, verbose: bool, window: &Window, events: &mut Vec<Value>) {
    let state = model.state();
    for (number, node) in shown(&state) {
        events.push(json!({
            "ph": "X",
            "cat": "task",
            "name": title_of(node),
            "pid": model.id,
            "tid": state.branches[node.branch].id,
            "ts": number,
            "dur": 1,
            "args": arguments(model, &state, number, node, verbose, window),
        }));
    }
    drop(state);
    for body in model.bodies() {
        collect(&body, verbose, window, events);
    }
}

/// What kind of task it is.
fn kind(node: &Node) -> &'static str {
    match &node.what {
        What::Record { .. } | What::ExternalRecord => "record event",
        What::Wait { .. } | What::ExternalWait => "wait for event",
        What::ResetEvent | What::ResetLabel { .. } => "reset event",
        What::Control(control) => control.name(),
        What::Conditional(task) => task.name(),
        What::Gone => "",
        What::Run(slot) => slot.look(Task::name),
    }
}

/// What a viewer writes on it: kernels by their name.
fn title_of(node: &Node) -> String {
    if let What::Run(slot) = &node.what {
        let kernel = slot.look(|task| match task {
            Task::Kernel(launch) => Some(launch.kernel_name().to_owned()),
            _ => None,
        });
        if let Some(name) = kernel {
            return name;
        }
    }
    kind(node).to_owned()
}

/// What the program said of a task: JSON where it is.
fn info(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// What a viewer shows of a task that is chosen.
fn arguments(
    model: &Model,
    state: &State,
    number: usize,
    node: &Node,
    verbose: bool,
    window: &Window,
) -> Value {
    let mut all = json!({
        "model id": model.id,
        "stream id": state.branches[node.branch].id,
        "task id": number,
        "task type": kind(node),
        "task": what(node, window),
    });
    if !state.name.is_empty() {
        all["model name"] = state.name.as_str().into();
    }
    if let What::Record { label } | What::Wait { label } = node.what {
        all["label"] = label.into();
    }
    if node.disabled {
        all["disabled"] = true.into();
    }
    if let Some(group) = node.group {
        all["task group"] = group.into();
    }
    if let What::Conditional(task) = &node.what {
        all["models"] = task.bodies.iter().map(|body| body.id).collect();
    }
    if !node.notes.operator.is_empty() {
        all["operator info bytes"] = node.notes.operator.len().into();
    }
    if !node.notes.more.is_empty() {
        all["extend info"] = info(&node.notes.more);
    }
    if let (true, What::Run(slot)) = (verbose, &node.what) {
        slot.look(|task| {
            if let Task::Kernel(launch) = task {
                all["kernel arguments"] = launch.show_arguments().into();
            }
        });
    }
    all
}
