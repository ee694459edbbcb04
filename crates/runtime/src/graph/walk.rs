//! Runs of models that decide for themselves which of their tasks they come to: built ones with labels,
//! switches, or streams that begin later.
//!
//! A **walk** is one pass over a branch, from its beginning or from a label. It is one task of the branch's
//! runner. A jump within the branch takes the walk elsewhere; a jump to another branch ends it and begins a walk
//! there. A branch that is to begin while a walk is on it begins again afterwards. The run is over when no walk
//! is left.
//!
//! To the stream that a run was queued on, the **whole** run is one task: its walks begin when that task does and the
//! run before is over, and never sooner, so that the runners of a model hold walks of one run only. When the task is
//! dropped (aclrtStreamAbort, aclrtDestroyStreamForce), so is the run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use cannery_abi as abi;

use super::branching::{self, Choice};
use super::condition::Conditional;
use super::control::{self, Comparison, Control};
use super::pass::{Fate, Pass};
use super::replay;
use super::slot::Slot;
use super::state::{State, What};
use crate::error::{Error, Result};
use crate::stream::composite::{self, Composite, Piece};
use crate::stream::record::Record;
use crate::stream::task::{Outcome, Task};
use crate::stream::{STREAMS, Stream, engine, last_task};

/// Branch, and number of the step in it.
type Place = (usize, usize);

/// What the runs of a model do, branch by branch.
pub(super) struct Program {
    branches: Vec<Vec<Step>>,
    /// The branch that records each label.
    labels: Vec<Option<usize>>,
    /// Whether any task may be awaited outside.
    awaited: bool,
}

enum Step {
    Task(Arc<Slot>),
    RecordExternal(u64),
    WaitExternal(u64),
    ResetExternal(u64),
    /// A run has come to the record of a label.
    Record(usize),
    /// For that.
    Wait(usize),
    /// It waits for the next time.
    Reset(usize),
    Conditional(Arc<Conditional>),
    Jump {
        at: u64,
        places: Box<[Place]>,
    },
    Activate {
        branch: usize,
    },
    Switch {
        values: Comparison,
        branch: usize,
    },
}

/// One run under way.
pub(super) struct Run {
    program: Program,
    /// Streams that do the work of the branches, with their handles.
    runners: Vec<(u64, &'static Stream)>,
    /// Its walks may have begun.
    begun: AtomicBool,
    /// It was dropped with its stream.
    dropped: AtomicBool,
    /// Walks that are not over; the whole run, until it has begun; the run before, until that is over.
    live: AtomicUsize,
    /// Reached when there are none.
    end: Arc<Record>,
    /// Nothing begins any more.
    stopped: AtomicBool,
    fate: Arc<Fate>,
    /// What conditional tasks of it are a part of.
    pass: Arc<Pass>,
    /// What stands for each label.
    records: Mutex<Vec<Arc<Record>>>,
    /// The run that follows.
    next: Mutex<Option<Arc<Run>>>,
}

/// Counts as a walk of a run.
struct Live(Arc<Run>);

impl Live {
    fn new(run: &Arc<Run>) -> Live {
        run.live.fetch_add(1, Ordering::SeqCst);
        Live(Arc::clone(run))
    }

    /// The run is not over before this one is dropped; `None`: it is over.
    fn hold(run: &Arc<Run>) -> Option<Live> {
        let more = |live: usize| (live > 0).then_some(live + 1);
        let held = run
            .live
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, more);
        held.is_ok().then(|| Live(Arc::clone(run)))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let last = |run: &Arc<Run>| run.live.fetch_sub(1, Ordering::SeqCst) == 1;
        let mut over = last(&self.0).then(|| Arc::clone(&self.0));
        // Runs that were dropped before they began end with the one before them, many in a row perhaps.
        while let Some(run) = over {
            // Before the next run can begin: what failed on the runners is of this one.
            if run.begun() {
                run.living_runners().for_each(|own| run.fate.take_from(own));
            }
            run.end.fire(|| {});
            over = run.next().take().filter(last);
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
        let mut jumps = Vec::new();
        let mut recorded = vec![None; self.labels.len()];
        let mut program = Program {
            branches: self.branches.iter().map(|_| Vec::new()).collect(),
            labels: Vec::new(),
            awaited: false,
        };
        for (number, node) in self.nodes.iter().enumerate() {
            let place = (node.branch, program.branches[node.branch].len());
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
                What::Record { label } => {
                    recorded[*label] = Some(node.branch);
                    Step::Record(*label)
                }
                What::Wait { label } => match recorded[*label] {
                    // What its own branch recorded is behind it, also where a jump passed over it; what was taken
                    // out of the model never comes.
                    Some(branch) if branch != node.branch => Step::Wait(*label),
                    _ => continue,
                },
                What::ResetLabel { label } => Step::Reset(*label),
                What::Conditional(task) => {
                    program.awaited |= task.bodies.iter().any(|body| branching::awaited(body));
                    Step::Conditional(Arc::clone(task))
                }
                What::Control(Control::Label(label)) => {
                    places.insert(*label, place);
                    continue;
                }
                What::Control(Control::Jump { at, labels }) => {
                    jumps.push((place, number, labels));
                    let places = Box::default();
                    Step::Jump { at: *at, places }
                }
                What::Control(Control::Activate { branch }) => Step::Activate { branch: *branch },
                What::Control(Control::Switch { values, branch }) => Step::Switch {
                    values: *values,
                    branch: *branch,
                },
                What::Gone => continue,
            };
            program.branches[node.branch].push(step);
        }
        // Labels may be set behind the jump.
        for ((branch, at), node, labels) in jumps {
            let find = |label: &u64| {
                places
                    .get(label)
                    .copied()
                    .ok_or_else(|| unset(*label, node))
            };
            let found = labels.iter().map(find).collect::<Result<_>>()?;
            if let Step::Jump { places, .. } = &mut program.branches[branch][at] {
                *places = found;
            }
        }
        program.labels = recorded;
        Ok(program)
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
    heads: Vec<usize>,
    runners: Vec<(u64, &'static Stream)>,
    stream: &'static Stream,
    before: Option<Arc<Run>>,
    fate: Arc<Fate>,
) -> Arc<Run> {
    // Its walks are no pieces: they end with what the runners have.
    let pass = Pass::new(Arc::clone(&fate), stream, Vec::new(), None);
    let new = |branch: &Option<usize>| {
        let by = branch.map_or(stream, |branch| runners[branch].1);
        Record::new(by, None)
    };
    let records = program.labels.iter().map(new).collect();
    let run = Arc::new(Run {
        program,
        runners,
        begun: AtomicBool::new(false),
        dropped: AtomicBool::new(false),
        live: AtomicUsize::new(0),
        end: Record::new(stream, None),
        stopped: AtomicBool::new(false),
        fate,
        pass,
        records: Mutex::new(records),
        next: Mutex::new(None),
    });
    let live = Live::new(&run);
    if let Some(before) = &before {
        let mut next = before.next();
        if !before.is_over() {
            run.live.fetch_add(1, Ordering::SeqCst);
            *next = Some(Arc::clone(&run));
        }
    }
    let whole = Whole {
        run: Arc::clone(&run),
        before,
        heads,
        live: Some(live),
    };
    engine::submit(stream, Task::Composite(Box::new(whole)));
    run
}

impl Run {
    fn next(&self) -> MutexGuard<'_, Option<Arc<Run>>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing begins any more.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.pass.stop();
    }

    /// aclmdlRIAbort ends it: nothing begins any more, and whoever waits is told.
    pub(super) fn call_off(&self) {
        self.fate.abort();
        self.stop();
    }

    fn records(&self) -> MutexGuard<'_, Vec<Arc<Record>>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a walk that comes to wait for a label waits for.
    fn record_of(&self, label: usize) -> Arc<Record> {
        Arc::clone(&self.records()[label])
    }

    /// A walk came to the record of a label.
    fn record(&self, label: usize) {
        let mut record = self.record_of(label);
        while record.is_done() {
            let now = self.record_of(label);
            if Arc::ptr_eq(&record, &now) {
                return;
            }
            // A reset came in between: before this.
            record = now;
        }
        // Nobody else does: one walk at a time is on the branch that records it.
        record.fire(|| {});
    }

    /// A walk came to the reset of a label.
    fn reset(&self, label: usize) {
        let mut records = self.records();
        let record = &mut records[label];
        if record.is_done() {
            *record = Record::new(record.stream, None);
        }
    }

    fn begun(&self) -> bool {
        self.begun.load(Ordering::SeqCst)
    }

    fn is_over(&self) -> bool {
        self.end.is_done()
    }

    /// Drops what its walks have not begun. One that has not begun itself comes to nothing.
    pub(super) fn abort(self: &Arc<Self>) {
        self.stop();
        // While it is held, what the runners have is of no other run.
        let Some(hold) = Live::hold(self) else { return };
        if self.begun() {
            self.living_runners().for_each(engine::drop_tasks);
            // Whoever drops a run may use its memory for something else.
            self.living_runners().for_each(engine::finish_moving);
            self.pass.drop_rest();
        }
        drop(hold);
    }

    /// Its runners, but those that ended with their device.
    fn living_runners(&self) -> impl Iterator<Item = &'static Stream> {
        let lives = |(handle, own): &(u64, &'static Stream)| {
            let same = |found: &Stream| std::ptr::eq(found, *own);
            STREAMS.find(*handle).is_some_and(same).then_some(*own)
        };
        self.runners.iter().filter_map(lives)
    }

    /// If it was ended, the tasks that it is at, or the run before, are all there is of it: gives them a moment to
    /// end. One that is queued yet is not over before its stream comes to it.
    pub(super) fn settle(&self) {
        const PATIENCE: Duration = Duration::from_millis(200);
        let set = |flag: &AtomicBool| flag.load(Ordering::SeqCst);
        if !(set(&self.dropped) || (set(&self.stopped) && self.begun())) {
            return;
        }
        let began = Instant::now();
        while !self.is_over() && began.elapsed() < PATIENCE {
            std::thread::yield_now();
        }
    }
}

/// A whole run, on the stream that it was queued on.
struct Whole {
    run: Arc<Run>,
    /// It begins when this one is over.
    before: Option<Arc<Run>>,
    /// Branches that begin with the run.
    heads: Vec<usize>,
    /// Until they have begun.
    live: Option<Live>,
}

impl Composite for Whole {
    fn step(mut self: Box<Self>, stream: &'static Stream) -> Outcome {
        if let Some(before) = &self.before {
            if !before.end.is_done_or_wait(stream) {
                return Outcome::Blocked(Task::Composite(self));
            }
            self.before = None;
        }
        if let Some(live) = self.live.take() {
            self.run.begun.store(true, Ordering::SeqCst);
            for branch in std::mem::take(&mut self.heads) {
                begin_walk(&self.run, (branch, 0));
            }
            drop(live);
        }
        if self.run.end.is_done_or_wait(stream) {
            self.run.fate.tell(stream);
            return Outcome::Done;
        }
        Outcome::Blocked(Task::Composite(self))
    }

    fn current(&self) -> Option<&Task> {
        None
    }

    fn name(&self) -> &'static str {
        "wait"
    }

    fn each(&mut self, _: &mut dyn FnMut(&mut Task)) {}

    fn is_awaited_outside(&self) -> bool {
        self.run.program.awaited
    }

    fn drop_unrun(self: Box<Self>) {
        self.run.dropped.store(true, Ordering::SeqCst);
        self.run.abort();
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

    /// Those that are not over.
    pub(super) fn living(&self) -> Vec<Arc<Run>> {
        let living = self.0.iter().filter_map(Weak::upgrade);
        living.filter(|run| !run.is_over()).collect()
    }

    pub(super) fn stop(&self) {
        self.living().iter().for_each(|run| run.stop());
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
            engine::submit_now(run.runners[branch].1, Task::Composite(walk));
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
            Some(Step::Conditional(task)) => Some(Choice::task(task, &self.live.0.pass)),
            _ => None,
        };
    }

    /// What is waited for is known when the walk is there, and not before: it may have to wait for its turn.
    fn await_label(&self) -> Option<Task> {
        match self.steps()[self.at] {
            Step::Wait(label) => Some(replay::wait(self.live.0.record_of(label))),
            _ => None,
        }
    }

    /// Does a step that is no task.
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
            Step::Record(label) => {
                run.record(*label);
                Next::On
            }
            Step::Reset(label) => {
                run.reset(*label);
                Next::On
            }
            Step::Switch { values, branch } => {
                if values.holds() {
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
            // What it has on further streams is over, too.
            self.current.into_iter().for_each(Task::drop_unrun);
            return Outcome::Done;
        }
        let next = match self.current.take().or_else(|| self.await_label()) {
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

    fn doomed(&self) {
        self.current.iter().for_each(Task::doomed);
    }

    fn drop_unrun(self: Box<Self>) {
        if let Some(task) = self.current {
            task.drop_unrun();
        }
    }
}
