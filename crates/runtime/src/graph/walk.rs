//! Runs of models that decide for themselves which of their tasks they come to: built ones with labels,
//! switches, or streams that begin later.
//!
//! A **walk** is one pass over a branch, from its beginning or from a label. It is one task of the branch's
//! runner. A jump within the branch takes the walk elsewhere; a jump to another branch ends it and begins a walk
//! there. A branch that is to begin while a walk is on it begins again afterwards. The run is over when no walk
//! is left. Runs of one model follow each other: the next one begins when the one before is over.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use cannery_abi as abi;

use super::control::{self, Control};
use super::model::{Slot, State, What};
use crate::error::{Error, Result};
use crate::stream::composite::{self, Composite, Piece};
use crate::stream::record::Record;
use crate::stream::task::{Outcome, Task};
use crate::stream::{Stream, engine, last_task};

/// Branch, and number of the step in it.
type Place = (usize, usize);

/// What the runs of a model do, branch by branch.
pub(super) struct Program {
    branches: Vec<Vec<Step>>,
    /// Whether any task may be awaited outside.
    awaited: bool,
}

enum Step {
    Task(Arc<Slot>),
    RecordExternal(u64),
    WaitExternal(u64),
    ResetExternal(u64),
    Jump {
        at: u64,
        places: Box<[Place]>,
    },
    Activate {
        branch: usize,
    },
    Switch {
        left: u64,
        right: u64,
        condition: i32,
        wide: bool,
        branch: usize,
    },
}

/// One run under way.
pub(super) struct Run {
    program: Program,
    runners: Vec<&'static Stream>,
    /// Walks that are not over.
    live: AtomicUsize,
    /// Reached when there are none.
    end: Arc<Record>,
    /// aclmdlRIAbort: nothing begins any more.
    stopped: AtomicBool,
}

/// Counts as a walk of a run.
struct Live(Arc<Run>);

impl Live {
    fn new(run: &Arc<Run>) -> Live {
        run.live.fetch_add(1, Ordering::SeqCst);
        Live(Arc::clone(run))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if self.0.live.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.end.fire(|| {});
        }
    }
}

/// See the module.
struct Walk {
    live: Live,
    branch: usize,
    /// Step that is next, or being done.
    at: usize,
    /// Its task.
    current: Option<Task>,
}

impl State {
    /// Whether runs have to look where they go.
    pub(super) fn decides(&self) -> bool {
        let branches = self.branches.iter().any(|branch| !branch.from_start);
        let control = |what: &What| matches!(what, What::Control(_));
        self.built && (branches || self.nodes.iter().any(|node| control(&node.what)))
    }

    /// What runs do.
    ///
    /// # Errors
    /// 107000 for a jump to a label that is not set in the model.
    pub(super) fn program(&self) -> Result<Program> {
        let mut places: BTreeMap<u64, Place> = BTreeMap::new();
        let mut lengths = vec![0; self.branches.len()];
        for node in &self.nodes {
            match &node.what {
                What::Control(Control::Label(label)) => {
                    places.insert(*label, (node.branch, lengths[node.branch]));
                }
                what if is_step(what) => lengths[node.branch] += 1,
                _ => {}
            }
        }
        let mut program = Program {
            branches: lengths.into_iter().map(Vec::with_capacity).collect(),
            awaited: false,
        };
        for (number, node) in self.nodes.iter().enumerate() {
            let step = match &node.what {
                What::Run(slot) => {
                    program.awaited |= slot.look(Task::is_awaited_outside);
                    Step::Task(Arc::clone(slot))
                }
                What::ExternalRecord => {
                    program.awaited = true;
                    Step::RecordExternal(node.about.event)
                }
                What::ExternalWait => Step::WaitExternal(node.about.event),
                What::ResetEvent => Step::ResetExternal(node.about.event),
                What::Control(Control::Jump { at, labels }) => Step::Jump {
                    at: *at,
                    places: labels
                        .iter()
                        .map(|label| {
                            places
                                .get(label)
                                .copied()
                                .ok_or_else(|| unset(*label, number))
                        })
                        .collect::<Result<_>>()?,
                },
                What::Control(Control::Activate { branch }) => Step::Activate { branch: *branch },
                What::Control(Control::Switch {
                    left,
                    right,
                    condition,
                    wide,
                    branch,
                }) => Step::Switch {
                    left: *left,
                    right: *right,
                    condition: *condition,
                    wide: *wide,
                    branch: *branch,
                },
                _ => continue,
            };
            program.branches[node.branch].push(step);
        }
        Ok(program)
    }
}

/// Whether a node of a built model is something that a walk does.
fn is_step(what: &What) -> bool {
    match what {
        What::Run(_) | What::ExternalRecord | What::ExternalWait | What::ResetEvent => true,
        What::Control(control) => !matches!(control, Control::Label(_)),
        _ => false,
    }
}

fn unset(label: u64, node: usize) -> Error {
    Error::rt_param(
        abi::ACL_ERROR_RT_PARAM_INVALID,
        "modelRI",
        format!(
            "task {node} jumps to label {label:#x}, which no stream of the model has; set it with aclrtSetLabel"
        ),
    )
}

/// Queues a run behind what `stream` has. Its walks begin when the run `before` is over.
pub(super) fn queue(
    program: Program,
    heads: impl Iterator<Item = usize>,
    runners: Vec<&'static Stream>,
    stream: &'static Stream,
    before: Option<Arc<Run>>,
) -> Arc<Run> {
    let run = Arc::new(Run {
        program,
        runners,
        live: AtomicUsize::new(0),
        end: Record::new(stream, None),
        stopped: AtomicBool::new(false),
    });
    // Before a walk can end, all are counted.
    let whole = Live::new(&run);
    let begin = super::replay::record(stream);
    for branch in heads {
        let own = run.runners[branch];
        if let Some(before) = &before {
            super::replay::wait(own, Arc::clone(&before.end));
        }
        super::replay::wait(own, Arc::clone(&begin));
        begin_walk(&run, (branch, 0));
    }
    drop(whole);
    super::replay::wait(stream, Arc::clone(&run.end));
    run
}

impl Run {
    /// Nothing begins any more.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_over(&self) -> bool {
        self.end.is_done()
    }
}

/// The runs of a model that may go on.
#[derive(Default)]
pub(super) struct Runs(Vec<Weak<Run>>);

impl Runs {
    pub(super) fn add(&mut self, run: &Arc<Run>) {
        self.0.retain(|run| run.strong_count() > 0);
        self.0.push(Arc::downgrade(run));
    }

    /// The one that was queued last, if it is not over.
    pub(super) fn newest(&self) -> Option<Arc<Run>> {
        let run = self.0.last().and_then(Weak::upgrade);
        run.filter(|run| !run.is_over())
    }

    pub(super) fn stop(&self) {
        self.0
            .iter()
            .filter_map(Weak::upgrade)
            .for_each(|run| run.stop());
    }
}

/// Lets a walk begin; nothing where the branch has no step there.
fn begin_walk(run: &Arc<Run>, (branch, at): Place) {
    if run.stopped.load(Ordering::SeqCst) {
        return;
    }
    let mut walk = Box::new(Walk {
        live: Live::new(run),
        branch,
        at,
        current: None,
    });
    walk.fetch();
    if !walk.is_over() {
        last_task::undisturbed(|| {
            engine::submit_now(run.runners[branch], Task::Composite(walk));
        });
    }
}

/// Where a walk goes after a step.
enum Next {
    On,
    To(usize),
    Nowhere,
}

impl Walk {
    fn steps(&self) -> &[Step] {
        &self.live.0.program.branches[self.branch]
    }

    fn is_over(&self) -> bool {
        self.at >= self.steps().len()
    }

    /// Makes the task of the step, if it is one.
    fn fetch(&mut self) {
        self.current = match self.steps().get(self.at) {
            Some(Step::Task(slot)) => Some(Task::Captured(Arc::clone(slot))),
            Some(Step::RecordExternal(event)) => Some(Task::RecordExternal(*event)),
            Some(Step::WaitExternal(event)) => Some(Task::WaitExternal(*event)),
            Some(Step::ResetExternal(event)) => Some(Task::ResetExternal(*event)),
            _ => None,
        };
    }

    /// Does a step that decides.
    fn decide(&self) -> Next {
        let run = &self.live.0;
        match &self.steps()[self.at] {
            Step::Jump { at, places } => {
                let index = control::word(*at) as usize;
                let (branch, at) = places[index.min(places.len() - 1)];
                if branch == self.branch {
                    return Next::To(at);
                }
                begin_walk(run, (branch, at));
                Next::Nowhere
            }
            Step::Activate { branch } => {
                begin_walk(run, (*branch, 0));
                Next::On
            }
            Step::Switch {
                left,
                right,
                condition,
                wide,
                branch,
            } => {
                if control::compares(*left, *right, *condition, *wide) {
                    begin_walk(run, (*branch, 0));
                    return Next::Nowhere;
                }
                Next::On
            }
            _ => Next::On,
        }
    }
}

impl Composite for Walk {
    fn step(mut self: Box<Self>, stream: &'static Stream) -> Outcome {
        if self.live.0.stopped.load(Ordering::SeqCst) {
            return Outcome::Done;
        }
        let next = match self.current.take() {
            Some(task) => match composite::run(task, stream) {
                Piece::Over => Next::On,
                Piece::Goes(task, outcome) => {
                    self.current = Some(task);
                    return outcome(Task::Composite(self));
                }
            },
            None => self.decide(),
        };
        match next {
            Next::On => self.at += 1,
            Next::To(at) => self.at = at,
            Next::Nowhere => return Outcome::Done,
        }
        self.fetch();
        if self.is_over() {
            return Outcome::Done;
        }
        Outcome::Again(Task::Composite(self))
    }

    fn current(&self) -> Option<&Task> {
        self.current.as_ref()
    }

    fn each(&mut self, act: &mut dyn FnMut(&mut Task)) {
        self.current.iter_mut().for_each(act);
    }

    fn is_awaited_outside(&self) -> bool {
        self.live.0.program.awaited
    }

    fn drop_unrun(self: Box<Self>) {
        if let Some(task) = self.current {
            task.drop_unrun();
        }
    }
}
