//! Models, and how they are found.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cannery_abi as abi;

use super::pass::Passes;
use super::state::{Node, State, What};
use super::walk::Runs;
use crate::context::Context;
use crate::error::{Error, Fault, Result};
use crate::patient;
use crate::process::{Here, current};

/// Marks a number as the handle of a model.
const TAG: u64 = 0xd7 << 48;
/// Marks a number as the handle of a task of a model.
const TASK_TAG: u64 = 0xd8 << 48;
/// Marks a number as the handle of a task group.
const GROUP_TAG: u64 = 0xd9 << 48;
/// Marks a number as the handle of a condition.
const CONDITION_TAG: u64 = 0xdc << 48;
/// Bits of the number of a task, group or condition in its handle.
const PART_BITS: u32 = 24;

static MODELS: Mutex<BTreeMap<u64, Arc<Model>>> = Mutex::new(BTreeMap::new());
static NEXT: AtomicU32 = AtomicU32::new(1);

/// See the module.
pub(crate) struct Model {
    pub(super) id: u32,
    pub(super) handle: u64,
    /// Where its runners live.
    pub(super) context: &'static Context,
    pub(super) generation: u64,
    /// The model that has it as a body.
    parent: Option<Weak<Model>>,
    state: Mutex<State>,
}

/// What a model is at the moment.
pub(super) enum Phase {
    Capturing(Capturing),
    /// Between aclmdlRIBuildBegin and aclmdlRIBuildEnd.
    Building,
    Ready,
}

pub(super) struct Capturing {
    pub(super) mode: i32,
    /// The thread that began.
    pub(super) thread: i32,
    pub(super) origin: u64,
    /// Why it cannot become a model any more.
    pub(super) invalid: Option<String>,
}

impl Model {
    /// A model that nobody knows yet.
    pub(super) fn new(here: &Here, phase: Phase, built: bool) -> Arc<Model> {
        Model::make(here, phase, built, None)
    }

    /// An empty body for a conditional task of `parent`.
    pub(super) fn body(here: &Here, phase: Phase, parent: &Arc<Model>) -> Arc<Model> {
        Model::make(here, phase, false, Some(Arc::downgrade(parent)))
    }

    fn make(here: &Here, phase: Phase, built: bool, parent: Option<Weak<Model>>) -> Arc<Model> {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Arc::new(Model {
            id,
            handle: TAG | u64::from(id) << 4,
            context: here.context,
            generation: here.runtime.contexts.generation_of(here.context),
            parent,
            state: Mutex::new(State {
                name: String::new(),
                phase,
                built,
                branches: Vec::new(),
                nodes: Vec::new(),
                labels: Vec::new(),
                groups: Vec::new(),
                conditions: Vec::new(),
                callbacks: Vec::new(),
                runs: Vec::new(),
                walks: Runs::default(),
                passes: Passes::default(),
            }),
        })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is being captured.
    pub(crate) fn is_capturing(&self) -> bool {
        matches!(self.state().phase, Phase::Capturing(_))
    }

    /// Whether it is a body of a conditional task.
    pub(super) fn is_body(&self) -> bool {
        self.parent.is_some()
    }

    /// Whether a run of it is not over, or of a model that has it as a body.
    pub(super) fn is_running(&self) -> bool {
        if self.state().is_running() {
            return true;
        }
        let parent = self.parent.as_ref().and_then(Weak::upgrade);
        parent.is_some_and(|parent| parent.is_running())
    }

    /// Refuses a call while a run is not over.
    pub(super) fn running(&self) -> Error {
        let handle = self.handle;
        Error::sequence(
            abi::ACL_ERROR_RT_MODEL_RUNNING,
            format!(
                "a run of model {handle:#x} is not over; wait for its stream first (aclrtSynchronizeStream)"
            ),
        )
    }

    /// Refuses a call while it is being captured.
    pub(super) fn capturing(&self) -> Error {
        let handle = self.handle;
        Error::sequence(
            abi::ACL_ERROR_RT_MODEL_CAPTURED,
            format!(
                "model {handle:#x} is being captured; end the capture first (aclmdlRICaptureEnd)"
            ),
        )
    }

    /// Refuses a call that needs a model that was made.
    ///
    /// # Errors
    /// 107026 while it is being captured or built.
    pub(super) fn ready(&self) -> Result<()> {
        match self.state().phase {
            Phase::Ready => Ok(()),
            Phase::Capturing(_) => Err(self.capturing()),
            Phase::Building => Err(self.building(abi::ACL_ERROR_RT_MODEL_CAPTURED)),
        }
    }

    /// Refuses a call while it is being built.
    pub(super) fn building(&self, code: i32) -> Error {
        let handle = self.handle;
        Error::sequence(
            code,
            format!("model {handle:#x} is being built; end that first (aclmdlRIBuildEnd)"),
        )
    }

    /// Its bodies.
    pub(super) fn bodies(&self) -> Vec<Arc<Model>> {
        let state = self.state();
        let of = |what: &What| match what {
            What::Conditional(task) => task.bodies.clone(),
            _ => Vec::new(),
        };
        state.nodes.iter().flat_map(|node| of(&node.what)).collect()
    }

    /// Whether something is captured into one of its bodies, however deep.
    pub(super) fn body_is_capturing(&self) -> bool {
        let capturing = |body: &Arc<Model>| body.is_capturing() || body.body_is_capturing();
        self.bodies().iter().any(capturing)
    }

    /// Whether it is `other`, or has it as a body, however deep.
    pub(super) fn holds(&self, other: &Model) -> bool {
        std::ptr::eq(self, other) || self.bodies().iter().any(|body| body.holds(other))
    }

    /// Makes its handle valid.
    pub(super) fn publish(self: &Arc<Self>) -> Result<()> {
        list()?.insert(self.handle, Arc::clone(self));
        Ok(())
    }

    /// The handle of one of its tasks.
    pub(super) fn task_handle(&self, node: usize) -> u64 {
        TASK_TAG | u64::from(self.id) << PART_BITS | node as u64
    }

    /// The handle of one of its conditions.
    pub(super) fn condition_handle(&self, condition: usize) -> u64 {
        CONDITION_TAG | u64::from(self.id) << PART_BITS | condition as u64
    }

    /// The handle of one of its groups.
    pub(super) fn group_handle(&self, group: usize) -> u64 {
        GROUP_TAG | u64::from(self.id) << PART_BITS | group as u64
    }
}

/// All of them.
pub(super) fn list() -> Result<MutexGuard<'static, BTreeMap<u64, Arc<Model>>>> {
    patient::lock(&MODELS).ok_or_else(|| Fault::Forked.into())
}

/// Every model.
pub(super) fn all() -> Vec<Arc<Model>> {
    list().map_or_else(|_| Vec::new(), |list| list.values().cloned().collect())
}

pub(super) fn bad(param: &'static str, handle: u64, what: &str) -> Error {
    Error::rt_param(
        abi::ACL_ERROR_RT_INVALID_HANDLE,
        param,
        format!("{handle:#x} is no living {what}; destroyed already, or of another kind"),
    )
}

/// The model of a handle.
///
/// # Errors
/// 100000 for NULL; 107017 for what is no living model.
pub(super) fn find(handle: u64) -> Result<Arc<Model>> {
    if handle == 0 {
        return Err(Error::null("modelRI"));
    }
    current()?;
    let found = list()?.get(&handle).cloned();
    found.ok_or_else(|| bad("modelRI", handle, "model"))
}

fn find_part(
    param: &'static str,
    handle: u64,
    tag: u64,
    what: &str,
) -> Result<(Arc<Model>, usize)> {
    if handle == 0 {
        return Err(Error::null(param));
    }
    current()?;
    let id = handle >> PART_BITS & 0xff_ffff;
    let part = handle & ((1 << PART_BITS) - 1);
    if handle >> 48 == tag >> 48
        && let Some(model) = list()?.get(&(TAG | id << 4)).cloned()
    {
        return Ok((model, part as usize));
    }
    Err(bad(param, handle, what))
}

/// The model and the node of a task.
pub(super) fn find_task(handle: u64) -> Result<(Arc<Model>, usize)> {
    let (model, node) = find_part("task", handle, TASK_TAG, "task of a model")?;
    let gone = |node: &Node| matches!(node.what, What::Gone);
    if model
        .state()
        .nodes
        .get(node)
        .is_some_and(|node| !gone(node))
    {
        return Ok((model, node));
    }
    Err(bad("task", handle, "task of a model"))
}

/// The model and the group of a handle.
pub(super) fn find_group(handle: u64) -> Result<(Arc<Model>, usize)> {
    let (model, group) = find_part("handle", handle, GROUP_TAG, "task group")?;
    if group < model.state().groups.len() {
        return Ok((model, group));
    }
    Err(bad("handle", handle, "task group"))
}

/// The model and the number of a condition.
pub(super) fn find_condition(handle: u64) -> Result<(Arc<Model>, usize)> {
    let (model, number) = find_part("handle", handle, CONDITION_TAG, "condition")?;
    if number < model.state().conditions.len() {
        return Ok((model, number));
    }
    Err(bad("handle", handle, "condition"))
}

/// Refuses a call while something is captured into a body.
///
/// # Errors
/// 107045.
pub(super) fn bodies_ready(model: &Model) -> Result<()> {
    if !model.body_is_capturing() {
        return Ok(());
    }
    Err(Error::sequence(
        abi::ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING,
        format!(
            "a body of a conditional task of model {:#x} is being captured; end that first (aclmdlRICaptureEnd)",
            model.handle
        ),
    ))
}

/// Refuses a call that goes with whole models only.
///
/// # Errors
/// 107000 for a body.
pub(super) fn no_body(model: &Model) -> Result<()> {
    if !model.is_body() {
        return Ok(());
    }
    Err(Error::rt_param(
        abi::ACL_ERROR_RT_PARAM_INVALID,
        "modelRI",
        format!(
            "model {:#x} is a body of a conditional task; run and destroy the model that has the task",
            model.handle
        ),
    ))
}

/// aclmdlRIGetId.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn id(handle: u64, out: Option<&mut u32>) -> Result<()> {
    let model = find(handle)?;
    let Some(out) = out else {
        return Err(Error::null("modelRIId"));
    };
    *out = model.id;
    Ok(())
}

/// aclmdlRISetName: the last one counts.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn set_name(handle: u64, name: Option<&str>) -> Result<()> {
    let model = find(handle)?;
    let Some(name) = name else {
        return Err(Error::null("name"));
    };
    model.state().name = name.to_owned();
    Ok(())
}

/// aclmdlRIGetName: empty when none was set.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn name(handle: u64) -> Result<String> {
    Ok(find(handle)?.state().name.clone())
}
