//! Models, and how they are found.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use cannery_abi as abi;

use super::condition::{Condition, Conditional};
use super::control::Control;
use super::pass::Passes;
use super::walk::Runs;
use crate::context::Context;
use crate::error::{Error, Fault, Result};
use crate::os::lock::QuickLock;
use crate::patient;
use crate::process::{Here, current};
use crate::stream::task::Task;
use crate::stream::{STREAMS, Stream};

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

/// A function that is told that a model is destroyed.
pub type Destroyed = unsafe extern "C" fn(*mut c_void);

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

pub(super) struct State {
    pub(super) name: String,
    pub(super) phase: Phase,
    /// Built rather than captured: every branch has a runner, and all begin with the run.
    pub(super) built: bool,
    pub(super) branches: Vec<Branch>,
    pub(super) nodes: Vec<Node>,
    /// What the branch of each label knew at it.
    pub(super) labels: Vec<Vec<usize>>,
    /// Nodes of each group.
    pub(super) groups: Vec<Vec<usize>>,
    /// What conditional tasks look at.
    pub(super) conditions: Vec<Arc<Condition>>,
    pub(super) callbacks: Vec<(Destroyed, usize)>,
    /// Runs that may go on: a stream, its handle, and how far it has to get.
    pub(super) runs: Vec<(u64, &'static Stream, u64)>,
    /// Those that decide where they go.
    pub(super) walks: Runs,
    /// The others that have branches.
    pub(super) passes: Passes,
}

pub(super) struct Branch {
    /// The stream of the program.
    pub(super) handle: u64,
    pub(super) stream: &'static Stream,
    /// What aclrtStreamGetId said of it: the stream may be another one by the time the model is shown.
    pub(super) id: u32,
    /// The stream that does its work; 0: none yet.
    pub(super) runner: u64,
    /// How many nodes of each branch are done when it gets here.
    pub(super) knows: Vec<usize>,
    /// Its own nodes so far.
    pub(super) count: usize,
    /// The group that is being recorded on it.
    pub(super) group: Option<Vec<usize>>,
    /// Something was captured on another branch meanwhile.
    pub(super) interrupted: bool,
    /// Whether it begins with the run (built models).
    pub(super) from_start: bool,
}

pub(super) struct Node {
    pub(super) branch: usize,
    pub(super) what: What,
    pub(super) disabled: bool,
    pub(super) group: Option<usize>,
    /// Parameters that wait for aclmdlRIUpdate.
    pub(super) staged: Option<Task>,
    pub(super) about: About,
    pub(super) notes: Notes,
    /// Copies of what was shown of it, for as long as the model lives or until it is shown again.
    pub(super) shown: Option<Box<Shown>>,
}

/// What the program said of a task (aclrtCacheLastTaskOpInfo, aclrtCacheLastTaskExtendInfo).
#[derive(Default)]
pub(super) struct Notes {
    pub(super) operator: Vec<u8>,
    pub(super) more: String,
}

/// What pointers in the parameters of a task lead to.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) args: Vec<u8>,
    pub(super) attributes: Vec<abi::aclrtLaunchKernelAttr>,
    /// An aclrtLaunchKernelCfg: the address of the attributes, and their number.
    pub(super) config: [u64; 2],
    pub(super) operator: Vec<u8>,
}

/// What a node does.
pub(super) enum What {
    Run(Arc<Slot>),
    Record {
        label: usize,
    },
    Wait {
        label: usize,
    },
    /// On an event of the program, each time the model runs.
    ExternalRecord,
    ExternalWait,
    ResetEvent,
    /// On an event that the model itself records: nothing to do, each run has its own.
    ResetLabel,
    /// Decides where the run goes on.
    Control(Control),
    /// Runs one of several bodies.
    Conditional(Arc<Conditional>),
    /// It was removed.
    Gone,
}

/// What is known of the call behind a node, for those who ask.
#[derive(Clone, Copy, Default)]
pub(super) struct About {
    pub(super) event: u64,
    pub(super) event_flag: u32,
}

/// A task that can be run again and again, and be replaced.
pub(crate) struct Slot {
    /// With how long it waits at most, each time anew.
    task: QuickLock<(Task, Option<Duration>)>,
    /// Whether a thread of the runtime has to run it.
    pub(crate) needs_worker: bool,
}

impl Slot {
    fn new(task: Task) -> Arc<Slot> {
        Arc::new(Slot {
            needs_worker: task.needs_worker(),
            task: QuickLock::new(with_limit(task)),
        })
    }

    /// The task once more.
    pub(crate) fn again(&self) -> Option<Task> {
        let (task, limit) = &*self.task.lock();
        let mut task = task.again()?;
        if let (Some(until), Some(limit)) = (task.until_mut(), limit) {
            *until = Some(Instant::now() + *limit);
        }
        Some(task)
    }

    /// Replaces the task by one of the same kind.
    pub(super) fn replace(&self, task: Task) {
        *self.task.lock() = with_limit(task);
    }

    pub(crate) fn look<R>(&self, at: impl FnOnce(&Task) -> R) -> R {
        at(&self.task.lock().0)
    }
}

/// A task that was made just now, with how long it waits at most.
fn with_limit(mut task: Task) -> (Task, Option<Duration>) {
    let until = task.until_mut().and_then(|until| *until);
    let limit = until.map(|until| until.saturating_duration_since(Instant::now()));
    (task, limit)
}

impl State {
    /// Adds a node to a branch.
    pub(super) fn push(&mut self, branch: usize, what: What, about: About) {
        let number = self.nodes.len();
        for (other, place) in self.branches.iter_mut().enumerate() {
            place.interrupted |= other != branch && place.group.is_some();
        }
        let place = &mut self.branches[branch];
        place.count += 1;
        let count = place.count;
        place.knows.resize(place.knows.len().max(branch + 1), 0);
        place.knows[branch] = count;
        if let Some(group) = &mut place.group {
            group.push(number);
        }
        self.nodes.push(Node {
            branch,
            what,
            disabled: false,
            group: None,
            staged: None,
            about,
            notes: Notes::default(),
            shown: None,
        });
    }

    /// Adds a task to a branch.
    pub(super) fn push_task(&mut self, branch: usize, task: Task) {
        self.push(branch, What::Run(Slot::new(task)), About::default());
    }

    /// Adds the record of a new label.
    pub(super) fn push_record(&mut self, branch: usize, about: About) -> usize {
        let label = self.labels.len();
        self.push(branch, What::Record { label }, about);
        self.labels.push(self.branches[branch].knows.clone());
        label
    }

    /// Adds a wait for a label.
    pub(super) fn push_wait(&mut self, branch: usize, label: usize, about: About) {
        let known = self.labels[label].clone();
        let knows = &mut self.branches[branch].knows;
        knows.resize(knows.len().max(known.len()), 0);
        for (mine, other) in knows.iter_mut().zip(known) {
            *mine = (*mine).max(other);
        }
        self.push(branch, What::Wait { label }, about);
    }

    /// Adds a branch.
    pub(super) fn add_branch(&mut self, handle: u64, stream: &'static Stream) -> usize {
        self.branches.push(Branch {
            handle,
            stream,
            id: stream.id.load(Ordering::Relaxed),
            runner: 0,
            knows: Vec::new(),
            count: 0,
            group: None,
            interrupted: false,
            from_start: true,
        });
        self.branches.len() - 1
    }

    /// Whether a run is not over.
    pub(super) fn is_running(&mut self) -> bool {
        self.runs.retain(|(handle, stream, position)| {
            let same = |other: &Stream| std::ptr::eq(other, *stream);
            STREAMS.find(*handle).is_some_and(same) && !stream.reached(*position)
        });
        // One that was dropped with its stream may be at a task yet.
        !self.runs.is_empty() || self.walks.newest().is_some()
    }

    /// Branches whose last work the first one does not wait for.
    pub(super) fn unjoined(&self) -> Vec<u64> {
        let knows = &self.branches[0].knows;
        let missed = |(number, branch): (usize, &Branch)| {
            let known = knows.get(number).copied().unwrap_or(0);
            (number > 0 && known < branch.count).then_some(branch.handle)
        };
        self.branches
            .iter()
            .enumerate()
            .filter_map(missed)
            .collect()
    }
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

fn list() -> Result<MutexGuard<'static, BTreeMap<u64, Arc<Model>>>> {
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
