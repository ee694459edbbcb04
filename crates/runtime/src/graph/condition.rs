//! Conditional tasks: aclmdlRICondHandleCreate, aclmdlRICondHandleGetCondPtr, aclmdlRIAddCondTask.
//!
//! A **condition** is eight bytes of device memory that belong to a model. A **conditional task** looks at them when
//! a run comes to it, and runs one of its **bodies**, or none: models of its own, empty until something is captured
//! into them (aclmdlRICaptureToModelRIBegin). A body is no model that could be run or destroyed by itself.

use std::sync::Arc;

use cannery_abi as abi;
use cannery_observe::Family;

use super::capture::not_captured;
use super::control;
use super::model::{Model, Phase, bad, find, find_condition};
use super::state::{About, What};
use crate::error::{Error, Result};
use crate::memory::inner::DeviceBlock;
use crate::process::here;
use crate::stream::manage::stream_of_call;
use crate::stream::task::Task;

/// See the module.
pub(crate) struct Condition {
    pub(super) block: DeviceBlock,
    /// What it is set to when its model begins.
    default: Option<u32>,
}

impl Condition {
    /// What sets it to its default, if it has one.
    pub(super) fn reset(&self) -> Option<Task> {
        self.default.map(|value| Task::ValueWrite {
            at: self.block.alias(),
            value: value.into(),
        })
    }
}

/// Which body runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The first one for what is not 0, else the second one, if there is one.
    If,
    /// The first one, as long as it is not 0.
    While,
    /// The one of that number, if there is one.
    Switch,
    /// The first one, without a condition: a run of a captured model in a built one.
    Always,
}

/// A conditional task.
pub(crate) struct Conditional {
    pub(super) kind: Kind,
    /// `None` where there is nothing to look at.
    pub(super) condition: Option<Arc<Condition>>,
    pub(super) bodies: Vec<Arc<Model>>,
}

impl Conditional {
    /// The body that its condition asks for now.
    pub(super) fn choose(&self) -> Option<&Arc<Model>> {
        let look = |condition: &Arc<Condition>| control::long(condition.block.alias());
        let value = self.condition.as_ref().map_or(0, look);
        let number = match self.kind {
            Kind::If => u64::from(value == 0),
            Kind::While if value == 0 => return None,
            Kind::While | Kind::Always => 0,
            Kind::Switch => value,
        };
        self.bodies.get(usize::try_from(number).ok()?)
    }

    /// What it is, for people and for programs.
    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            Kind::If => "if",
            Kind::While => "while",
            Kind::Switch => "switch",
            Kind::Always => "run",
        }
    }

    /// The numbers of its bodies.
    pub(super) fn models(&self) -> String {
        let models: Vec<String> = self.bodies.iter().map(|body| body.id.to_string()).collect();
        models.join(", ")
    }

    /// With its numbers, where it looks at a condition.
    pub(super) fn show(&self) -> Option<String> {
        let at = self.condition.as_ref()?.block.address();
        Some(format!(
            "{} condition at {at:#x}, model(s) {}",
            self.name(),
            self.models()
        ))
    }
}

/// aclmdlRICondHandleCreate: a condition of a model that is being captured, or was.
///
/// # Errors
/// 100000 for NULL and flags; 107017; 107000 for a built model; 107002; 107004 where the model belongs to another
/// context; 207001.
pub fn create(model: u64, default: u32, flag: i32, out: Option<&mut u64>) -> Result<()> {
    if model == 0 {
        return Err(Error::null("modelRI"));
    }
    if flag != 0 && flag != abi::ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT {
        return Err(Error::value(
            "flag",
            flag,
            "must be 0 (the value stays) or 1 (ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT)",
        ));
    }
    let Some(out) = out else {
        return Err(Error::null("handle"));
    };
    let model = find(model)?;
    let here = here()?;
    if !std::ptr::eq(model.context, here.context) {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_MODEL_CONTEXT,
            "modelRI",
            format!(
                "model {:#x} belongs to another context; make that current first (aclrtSetCurrentContext)",
                model.handle
            ),
        ));
    }
    if model.state().built {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "modelRI",
            format!(
                "model {:#x} is built from bound streams; conditions belong to captured ones",
                model.handle
            ),
        ));
    }
    let block = DeviceBlock::of(&here, 8, Family::Condition)?;
    crate::memory::inner::clear(&block, 8);
    let assigned = flag == abi::ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT;
    let mut state = model.state();
    let number = state.conditions.len();
    state.conditions.push(Arc::new(Condition {
        block,
        default: assigned.then_some(default),
    }));
    *out = model.condition_handle(number);
    Ok(())
}

/// aclmdlRICondHandleGetCondPtr: where the condition is in device memory; it ends with its model.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn place(handle: u64, out: Option<&mut u64>) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("handle"));
    }
    let Some(out) = out else {
        return Err(Error::null("ptr"));
    };
    let (model, number) = find_condition(handle)?;
    *out = model.state().conditions[number].block.address();
    Ok(())
}

/// What kind of task, and whether it has so many bodies.
fn kind(kind: i32, bodies: usize) -> Result<Kind> {
    let (kind, fits, expected) = match kind {
        abi::ACL_MODEL_RI_COND_TYPE_IF => {
            (Kind::If, bodies == 1 || bodies == 2, "1 or 2 for an if")
        }
        abi::ACL_MODEL_RI_COND_TYPE_WHILE => (Kind::While, bodies == 1, "1 for a while"),
        abi::ACL_MODEL_RI_COND_TYPE_SWITCH => (
            Kind::Switch,
            (1..=MOST_BODIES).contains(&bodies),
            "1 to 65536 for a switch",
        ),
        _ => {
            return Err(Error::value(
                "params.type",
                kind,
                "must be 0 (if), 1 (while) or 2 (switch)",
            ));
        }
    };
    if fits {
        return Ok(kind);
    }
    Err(Error::value(
        "params.size",
        bodies,
        format!("must be {expected}"),
    ))
}

/// Most bodies of a switch: more is a size that was never set.
pub const MOST_BODIES: usize = 1 << 16;

/// Checks what a conditional task is to be, before the array of its bodies is looked at.
///
/// # Errors
/// 100000 for NULL, flags, kinds, and numbers of bodies.
pub fn check(handle: u64, what: i32, bodies: u32, no_array: bool, flags: u32) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("params.handle"));
    }
    if no_array {
        return Err(Error::null("params.modelRIArray"));
    }
    kind(what, bodies as usize)?;
    if flags != 0 {
        return Err(Error::value("flags", flags, "must be 0 (reserved)"));
    }
    Ok(())
}

/// aclmdlRIAddCondTask, its arguments checked: captures a conditional task, and returns its bodies.
///
/// # Errors
/// 107017 for the stream and the condition; 107002, 107003; 107029 for a stream that is not being captured; 107000
/// for a condition of another model.
pub fn add(handle: u64, what: i32, out: &mut [u64], stream: u64) -> Result<()> {
    let kind = kind(what, out.len())?;
    let (here, own) = stream_of_call("stream", stream)?;
    let Some(it) = own.captured().filter(|it| it.model.is_capturing()) else {
        return Err(not_captured(stream));
    };
    let (model, number) = find_condition(handle)?;
    if !Arc::ptr_eq(&model, &it.model) {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "params.handle",
            format!(
                "condition {handle:#x} belongs to model {:#x}, stream {stream:#x} is captured into model {:#x}; make \
                 one for that (aclmdlRICondHandleCreate)",
                model.handle, it.model.handle
            ),
        ));
    }
    let bodies: Vec<Arc<Model>> = out
        .iter()
        .map(|_| Model::body(&here, Phase::Ready, &it.model))
        .collect();
    for (place, body) in out.iter_mut().zip(&bodies) {
        body.publish()?;
        *place = body.handle;
    }
    let mut state = it.model.state();
    let condition = state.conditions.get(number).cloned();
    let condition = condition.ok_or_else(|| bad("params.handle", handle, "condition"))?;
    let task = Conditional {
        kind,
        condition: Some(condition),
        bodies,
    };
    state.push(
        it.branch,
        What::Conditional(Arc::new(task)),
        About::default(),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_many_bodies() {
        let fits = |what: i32, bodies: usize| kind(what, bodies).is_ok();
        assert!(fits(0, 1) && fits(0, 2) && !fits(0, 0) && !fits(0, 3));
        assert!(fits(1, 1) && !fits(1, 2));
        assert!(fits(2, 1) && fits(2, 9) && !fits(2, 0) && !fits(2, MOST_BODIES + 1));
        assert!(!fits(3, 1) && !fits(-1, 1));
    }
}
