//! Runs whose tasks are queued one by one: of captured models, of their conditional bodies, and of built models
//! that do not decide where they go.
//!
//! What the run has on runners is made of **pieces**: each looks whether the run goes on before it does anything, so
//! that the end of the run is the end of all its branches, while the runners go on with the next one. What fails in a
//! piece belongs to its run, not to the runner. The last task that a run has on its own stream is its **end**: it
//! tells the stream what became of the run, and if the stream's tasks are dropped, the rest of the run is dropped
//! before any other of them can set a branch going.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use cannery_abi as abi;

use crate::error::Error;
use crate::stream::composite::{self, Composite, Piece as Rest};
use crate::stream::task::{Outcome, Task};
use crate::stream::{Stream, engine};

/// What becomes of a run.
pub(super) struct Fate {
    /// The first error of its branches.
    error: AtomicI32,
    /// aclmdlRIAbort ended it.
    aborted: AtomicBool,
    /// Whether its stream tells that: nobody waits for a run of aclmdlRIExecute any more who has not been told.
    tells: bool,
}

impl Fate {
    pub(super) fn new(tells: bool) -> Arc<Fate> {
        Arc::new(Fate {
            error: AtomicI32::new(0),
            aborted: AtomicBool::new(false),
            tells,
        })
    }

    /// aclmdlRIAbort ends the run.
    pub(super) fn abort(&self) {
        self.aborted.store(true, Ordering::SeqCst);
    }

    pub(super) fn was_aborted(&self) -> bool {
        self.aborted.load(Ordering::SeqCst)
    }

    /// What failed on a runner failed in this run.
    pub(super) fn take_from(&self, runner: &Stream) {
        let code = runner.take_error();
        if code != 0 {
            let _ = self
                .error
                .compare_exchange(0, code, Ordering::SeqCst, Ordering::Relaxed);
        }
    }

    /// The run is over: tells its stream.
    pub(super) fn tell(&self, stream: &Stream) {
        match self.error.swap(0, Ordering::SeqCst) {
            0 if self.tells && self.was_aborted() => {
                stream.note_error(abi::ACL_ERROR_RT_MODEL_ABORT_NORMAL);
            }
            0 => {}
            code => stream.fail(code),
        }
    }
}

/// Whoever waits for a run that aclmdlRIAbort ended.
#[cold]
pub(crate) fn aborted() -> Error {
    Error::sequence(
        abi::ACL_ERROR_RT_MODEL_ABORT_NORMAL,
        "aclmdlRIAbort ended a run of the model: its tasks that had not begun have not run; run the model again",
    )
}

/// One run, or one pass through the body of a conditional task.
pub(super) struct Pass {
    fate: Arc<Fate>,
    /// Where it was queued.
    stream: &'static Stream,
    runners: Vec<&'static Stream>,
    /// No piece begins any more.
    ended: AtomicBool,
    /// The pass that has it as a part: it ends with that one, even before anybody comes to it.
    within: Option<Arc<Pass>>,
    /// Pieces that are at bytes right now, of the whole run.
    moving: Arc<AtomicUsize>,
}

impl Pass {
    pub(super) fn new(
        fate: Arc<Fate>,
        stream: &'static Stream,
        runners: Vec<&'static Stream>,
        within: Option<Arc<Pass>>,
    ) -> Arc<Pass> {
        let moving = within.as_ref().map(|outer| Arc::clone(&outer.moving));
        Arc::new(Pass {
            fate,
            stream,
            runners,
            ended: AtomicBool::new(false),
            within,
            moving: moving.unwrap_or_default(),
        })
    }

    /// Whether it has branches besides that of its own stream.
    pub(super) fn has_runners(&self) -> bool {
        !self.runners.is_empty()
    }

    /// A task on one of its runners.
    pub(super) fn piece(self: &Arc<Self>, task: Task) -> Task {
        Task::Composite(Box::new(Piece {
            awaited: task.is_awaited_outside(),
            pass: Arc::clone(self),
            task: Some(task),
        }))
    }

    /// The last task on its own stream.
    pub(super) fn end(self: &Arc<Self>) -> Task {
        Task::Composite(Box::new(End(Arc::clone(self))))
    }

    /// Whether no piece begins any more. A stream that stopped after a failure drops what it has one by one.
    fn has_ended(&self) -> bool {
        let outer = || self.within.as_ref().is_some_and(|outer| outer.has_ended());
        self.ended.load(Ordering::SeqCst) || self.stream.has_stopped() || outer()
    }

    /// No piece begins any more; those that wait are brought on to see that. Those that are at bytes are over
    /// afterwards: whoever drops a run may use its memory for something else.
    pub(super) fn drop_rest(&self) {
        self.stop();
        self.runners
            .iter()
            .for_each(|runner| engine::bring_on(runner));
        while self.moving.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
    }

    /// No piece begins any more.
    pub(super) fn stop(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    /// aclmdlRIAbort.
    fn abort(&self) {
        self.fate.abort();
        self.drop_rest();
    }
}

/// The passes of a model that may go on.
#[derive(Default)]
pub(super) struct Passes(Vec<Weak<Pass>>);

impl Passes {
    pub(super) fn add(&mut self, pass: &Arc<Pass>) {
        self.0.retain(|pass| pass.strong_count() > 0);
        self.0.push(Arc::downgrade(pass));
    }

    /// Those that are not over.
    pub(super) fn living(&self) -> Vec<Arc<Pass>> {
        self.0.iter().filter_map(Weak::upgrade).collect()
    }
}

/// Ends runs of a model.
pub(super) fn abort_all(passes: &[Arc<Pass>]) {
    passes.iter().for_each(|pass| pass.abort());
}

/// See the module.
struct Piece {
    pass: Arc<Pass>,
    /// There until it is done.
    task: Option<Task>,
    awaited: bool,
}

/// A piece is at bytes.
struct Moving(Arc<AtomicUsize>);

impl Moving {
    fn new(pass: &Pass) -> Moving {
        pass.moving.fetch_add(1, Ordering::SeqCst);
        Moving(Arc::clone(&pass.moving))
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Composite for Piece {
    fn step(mut self: Box<Self>, stream: &'static Stream) -> Outcome {
        let Some(task) = self.task.take() else {
            return Outcome::Done;
        };
        // Told before it looks whether the run goes on: see `drop_rest`.
        let moving = task.moves_bytes().then(|| Moving::new(&self.pass));
        if self.pass.has_ended() {
            drop(moving);
            task.drop_unrun();
            return Outcome::Done;
        }
        let rest = composite::run(task, stream);
        drop(moving);
        // Before whoever waits for the branch goes on: that is a later piece.
        self.pass.fate.take_from(stream);
        match rest {
            Rest::Over => Outcome::Done,
            Rest::Goes(task, outcome) => {
                self.task = Some(task);
                outcome(Task::Composite(self))
            }
        }
    }

    fn current(&self) -> Option<&Task> {
        self.task.as_ref()
    }

    fn each(&mut self, act: &mut dyn FnMut(&mut Task)) {
        self.task.iter_mut().for_each(act);
    }

    fn is_awaited_outside(&self) -> bool {
        self.awaited
    }

    fn doomed(&self) {
        self.task.iter().for_each(Task::doomed);
    }

    fn drop_unrun(self: Box<Self>) {
        if let Some(task) = self.task {
            task.drop_unrun();
        }
    }
}

/// See the module.
struct End(Arc<Pass>);

impl Composite for End {
    fn step(self: Box<Self>, stream: &'static Stream) -> Outcome {
        self.0.fate.tell(stream);
        Outcome::Done
    }

    fn current(&self) -> Option<&Task> {
        None
    }

    fn name(&self) -> &'static str {
        "end of a model run"
    }

    fn each(&mut self, _: &mut dyn FnMut(&mut Task)) {}

    fn is_awaited_outside(&self) -> bool {
        false
    }

    fn doomed(&self) {
        self.0.drop_rest();
    }

    fn drop_unrun(self: Box<Self>) {
        self.0.drop_rest();
    }
}
