//! aclmdlRIDebugPrint: what a model holds, for people.

use std::io::Write as _;

use super::model::{Model, bodies_ready, find};
use super::state::{Node, State, What};
use crate::error::Result;
use crate::os::file_limits;
use crate::process::current;
use crate::window::Window;

/// A model that can be shown: it is complete, and so are its bodies.
pub(super) fn ready(handle: u64) -> Result<std::sync::Arc<Model>> {
    let model = find(handle)?;
    model.ready()?;
    bodies_ready(&model)?;
    Ok(model)
}

/// A task, in words.
pub(super) fn what(node: &Node, window: &Window) -> String {
    match &node.what {
        What::Record { label } => format!("record event {:#x} (label {label})", node.about.event),
        What::Wait { label } => format!("wait for event {:#x} (label {label})", node.about.event),
        What::ExternalRecord => format!("record external event {:#x}", node.about.event),
        What::ExternalWait => format!("wait for external event {:#x}", node.about.event),
        What::ResetEvent | What::ResetLabel { .. } => {
            format!("reset event {:#x}", node.about.event)
        }
        What::Control(control) => control.show(window),
        What::Conditional(task) => {
            let run = || format!("run of model {}", task.models());
            task.show().unwrap_or_else(run)
        }
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
            state.branches[node.branch].id,
            what(node, window)
        ));
    }
    drop(state);
    for body in model.bodies() {
        lines(&body, window, &format!("{indent}    "), text);
    }
}

/// The nodes that were not removed, with their numbers.
pub(super) fn shown(state: &State) -> impl Iterator<Item = (usize, &Node)> {
    let there = |(_, node): &(usize, &Node)| !matches!(node.what, What::Gone);
    state.nodes.iter().enumerate().filter(there)
}
