//! The end of models, and who is told: aclmdlRIDestroy, aclmdlRIDestroyRegisterCallback,
//! aclmdlRIDestroyUnregisterCallback.

use std::ffi::c_void;
use std::sync::Arc;

use cannery_abi as abi;

use super::model::{Model, Phase, bad, bodies_ready, find, list, no_body};
use crate::error::{Error, Result};
use crate::stream::Stream;

/// A function that is told that a model is destroyed.
pub type Destroyed = unsafe extern "C" fn(*mut c_void);

/// aclmdlRIDestroyRegisterCallback: `function(data)` is called when the model is destroyed.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn register_destroy_callback(
    handle: u64,
    function: Option<Destroyed>,
    data: *mut c_void,
) -> Result<()> {
    let model = find(handle)?;
    let Some(function) = function else {
        return Err(Error::null("func"));
    };
    model.state().callbacks.push((function, data as usize));
    Ok(())
}

/// aclmdlRIDestroyUnregisterCallback: takes every registration of the function away.
///
/// # Errors
/// 100000 for NULL; 107017; 107000 for a function that is not registered.
pub fn unregister_destroy_callback(handle: u64, function: Option<Destroyed>) -> Result<()> {
    let model = find(handle)?;
    let Some(function) = function else {
        return Err(Error::null("func"));
    };
    let mut state = model.state();
    let before = state.callbacks.len();
    state
        .callbacks
        .retain(|(other, _)| *other as usize != function as usize);
    if state.callbacks.len() == before {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "func",
            format!(
                "function {:#x} is not registered for model {handle:#x}, or no longer; pass one that was registered \
                 (aclmdlRIDestroyRegisterCallback)",
                function as usize
            ),
        ));
    }
    Ok(())
}

/// aclmdlRIDestroy.
///
/// # Errors
/// 100000 for NULL; 107017; 107000 for a body of a conditional task; 107026 while it is being captured, 107045
/// while a body is; 107037 while it runs.
pub fn destroy(handle: u64) -> Result<()> {
    let model = find(handle)?;
    no_body(&model)?;
    bodies_ready(&model)?;
    let runs = model.state().walks.living();
    runs.iter().for_each(|run| run.settle());
    {
        let mut state = model.state();
        if matches!(state.phase, Phase::Capturing(_)) {
            return Err(model.capturing());
        }
        if state.is_running() {
            return Err(model.running());
        }
    }
    remove(&model)
}

/// Ends a model, whatever it does; a run that is queued still comes to its end.
///
/// # Errors
/// 107017 for one that has ended.
pub(super) fn remove(model: &Arc<Model>) -> Result<()> {
    if list()?.remove(&model.handle).is_none() {
        return Err(bad("modelRI", model.handle, "model"));
    }
    let (callbacks, runners, bound) = {
        let mut state = model.state();
        if matches!(state.phase, Phase::Building) {
            // Events that it was to record stand for nothing any more.
            state.phase = Phase::Ready;
        }
        let bound: Vec<&'static Stream> = if state.built {
            state.branches.iter().map(|branch| branch.stream).collect()
        } else {
            Vec::new()
        };
        let runners: Vec<u64> = state
            .branches
            .iter_mut()
            .map(|branch| branch.runner)
            .collect();
        (std::mem::take(&mut state.callbacks), runners, bound)
    };
    bound
        .into_iter()
        .for_each(|stream| stream.end_capture(model));
    super::replay::give_up(runners);
    for body in model.bodies() {
        // One that ended with another model that has it too has ended.
        let _ = remove(&body);
    }
    for (function, data) in callbacks {
        call(function, data);
    }
    Ok(())
}

/// A capture failed: there is no model then. A body stays, and is empty.
///
/// # Errors
/// As [`remove`].
pub(super) fn fail(model: &Arc<Model>) -> Result<()> {
    if !model.is_body() {
        return remove(model);
    }
    for body in model.bodies() {
        let _ = remove(&body);
    }
    let runners = {
        let mut state = model.state();
        state.nodes.clear();
        state.labels.clear();
        state.groups.clear();
        let branches = std::mem::take(&mut state.branches);
        branches.into_iter().map(|branch| branch.runner).collect()
    };
    super::replay::give_up(runners);
    Ok(())
}

impl Drop for Model {
    fn drop(&mut self) {
        // Bodies may outlive the model that they were made for, and get runners then.
        let runners: Vec<u64> = self
            .state()
            .branches
            .iter()
            .map(|branch| branch.runner)
            .collect();
        if runners.iter().any(|runner| *runner != 0) {
            super::replay::give_up(runners);
        }
    }
}

#[allow(unsafe_code)] // calls a function of the program
fn call(function: Destroyed, data: usize) {
    // SAFETY: a function of the program with the argument it came with.
    unsafe { function(data as *mut c_void) };
}
