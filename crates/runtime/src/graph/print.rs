//! aclmdlRIDebugPrint, aclmdlRIDebugJsonPrint: what a model holds, for people and for programs.

use std::io::Write as _;

use cannery_abi as abi;
use serde_json::{Value, json};

use super::model::{Model, Node, Phase, State, What, bodies_ready, find};
use crate::error::{Error, Result};
use crate::os::file_limits;
use crate::process::current;
use crate::stream::task::Task;
use crate::window::Window;

fn ready(handle: u64) -> Result<std::sync::Arc<Model>> {
    let model = find(handle)?;
    if matches!(model.state().phase, Phase::Ready) {
        bodies_ready(&model)?;
        return Ok(model);
    }
    Err(Error::sequence(
        abi::ACL_ERROR_RT_MODEL_CAPTURED,
        "the model is being captured or built; end that first",
    ))
}

fn what(node: &Node, window: &Window) -> String {
    match &node.what {
        What::Record { label } => format!("record event {:#x} (label {label})", node.about.event),
        What::Wait { label } => format!("wait for event {:#x} (label {label})", node.about.event),
        What::ExternalRecord => format!("record external event {:#x}", node.about.event),
        What::ExternalWait => format!("wait for external event {:#x}", node.about.event),
        What::ResetEvent | What::ResetLabel => format!("reset event {:#x}", node.about.event),
        What::Control(control) => control.show(window),
        What::Conditional(task) => task.show(),
        What::Gone => String::new(),
        What::Run(slot) => slot.look(|task| {
            let details = task.details(window);
            if details.is_empty() {
                task.name().to_owned()
            } else {
                format!("{} {details}", task.name())
            }
        }),
    }
}

/// aclmdlRIDebugPrint: to standard output, a line for each task, bodies of conditional tasks behind their model.
///
/// # Errors
/// 100000 for NULL; 107017; 107026 while the model is being captured, 107045 while a body is.
pub fn debug_print(handle: u64) -> Result<()> {
    let model = ready(handle)?;
    let mut text = String::new();
    lines(&model, &current()?.window, "", &mut text);
    // A closed output is no reason to fail.
    let _ = file_limits::without_signal(|| std::io::stdout().lock().write_all(text.as_bytes()));
    Ok(())
}

/// A model and its bodies, line by line.
fn lines(model: &Model, window: &Window, indent: &str, text: &mut String) {
    let state = model.state();
    text.push_str(&format!(
        "{indent}model {} \"{}\": {} stream(s), {} task(s)\n",
        model.id,
        state.name,
        state.branches.len(),
        shown(&state).count()
    ));
    for (number, node) in shown(&state) {
        let mark = match (node.disabled, node.group) {
            (true, _) => " (disabled)".to_owned(),
            (false, Some(group)) => format!(" (group {group})"),
            (false, None) => String::new(),
        };
        text.push_str(&format!(
            "{indent}  {number:4}  stream {}  {}{mark}\n",
            node.branch,
            what(node, window)
        ));
    }
    drop(state);
    for body in model.bodies() {
        lines(&body, window, &format!("{indent}    "), text);
    }
}

/// The nodes that were not removed, with their numbers.
fn shown(state: &State) -> impl Iterator<Item = (usize, &Node)> {
    let there = |(_, node): &(usize, &Node)| !matches!(node.what, What::Gone);
    state.nodes.iter().enumerate().filter(there)
}

/// aclmdlRIDebugJsonPrint: to a file, which is replaced. Flags: 0 streams and the numbers of their tasks, 1 every
/// task.
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
    let document = document(&model, flags == 1, &current()?.window);
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    file_limits::without_signal(|| std::fs::write(path, text + "\n")).map_err(|error| {
        Error::rt_cause(
            "path",
            path,
            format!("cannot be written: {error}; choose a file in a directory of yours"),
        )
    })
}

/// What the program said of a task: JSON where it is.
fn info(text: &str) -> Value {
    if text.is_empty() {
        return Value::Null;
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn document(model: &Model, verbose: bool, window: &Window) -> Value {
    let state = model.state();
    let streams: Vec<Value> = state
        .branches
        .iter()
        .enumerate()
        .map(|(branch, place)| {
            let tasks = shown(&state)
                .filter(|(_, node)| node.branch == branch)
                .count();
            json!({ "stream": branch, "handle": format!("{:#x}", place.handle), "tasks": tasks })
        })
        .collect();
    let mut document = json!({
        "id": model.id,
        "name": state.name,
        "streams": streams,
        "groups": state.groups.len(),
    });
    if verbose {
        let tasks: Vec<Value> = shown(&state)
            .map(|(number, node)| {
                let kind = match &node.what {
                    What::Record { .. } | What::ExternalRecord => "record event",
                    What::Wait { .. } | What::ExternalWait => "wait for event",
                    What::ResetEvent | What::ResetLabel => "reset event",
                    What::Control(control) => control.name(),
                    What::Conditional(task) => task.name(),
                    What::Gone => "",
                    What::Run(slot) => slot.look(Task::name),
                };
                let models: Vec<u32> = match &node.what {
                    What::Conditional(task) => task.bodies.iter().map(|body| body.id).collect(),
                    _ => Vec::new(),
                };
                json!({
                    "id": number,
                    "stream": node.branch,
                    "kind": kind,
                    "text": what(node, window),
                    "group": node.group,
                    "disabled": node.disabled,
                    "models": models,
                    "operator_info": node.notes.operator.len(),
                    "info": info(&node.notes.more),
                })
            })
            .collect();
        document["tasks"] = Value::Array(tasks);
    }
    drop(state);
    let bodies: Vec<Value> = model
        .bodies()
        .iter()
        .map(|body| self::document(body, verbose, window))
        .collect();
    if !bodies.is_empty() {
        document["models"] = Value::Array(bodies);
    }
    document
}
