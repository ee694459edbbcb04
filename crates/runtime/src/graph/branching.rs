//! Conditional tasks as runs come to them: the condition is looked at, and the tasks of the body that it asks for
//! become pieces of the conditional one. What a body has on further streams is queued on runners of its own when
//! the body begins; its end waits for them.

use std::collections::VecDeque;
use std::sync::Arc;

use super::condition::{Conditional, Kind};
use super::model::Model;
use super::pass::{Fate, Pass};
use super::replay;
use super::state::What;
use crate::error::Result;
use crate::stream::composite::{self, Composite, Piece};
use crate::stream::record::Record;
use crate::stream::task::{Outcome, Task};
use crate::stream::{Stream, engine, last_task};

/// A conditional task that a run has come to, or will.
pub(super) struct Choice {
    task: Arc<Conditional>,
    /// What is left of the body.
    todo: VecDeque<Task>,
    /// The pass through the body, where that has further streams.
    pass: Option<Arc<Pass>>,
    /// The pass that has the task.
    within: Arc<Pass>,
    /// The condition was looked at.
    chosen: bool,
    awaited: bool,
}

impl Choice {
    /// The task, as a part of a pass.
    pub(super) fn task(task: &Arc<Conditional>, within: &Arc<Pass>) -> Task {
        Task::Composite(Box::new(Choice {
            task: Arc::clone(task),
            todo: VecDeque::new(),
            pass: None,
            within: Arc::clone(within),
            chosen: false,
            awaited: task.bodies.iter().any(|body| awaited(body)),
        }))
    }

    /// Looks at the condition. False: there is nothing more to do.
    fn choose(&mut self, stream: &'static Stream) -> bool {
        if self.chosen && self.task.kind != Kind::While {
            return false;
        }
        self.chosen = true;
        let Some(body) = self.task.choose() else {
            return false;
        };
        match begin(body, stream, &self.within) {
            Ok((tasks, pass)) => {
                (self.todo, self.pass) = (tasks, pass);
                true
            }
            Err(error) => {
                stream.fail(error.code());
                false
            }
        }
    }
}

/// Whether a body has anything that may be awaited outside.
pub(super) fn awaited(body: &Model) -> bool {
    body.state().nodes.iter().any(|node| match &node.what {
        What::Run(slot) => slot.look(Task::is_awaited_outside),
        What::ExternalRecord => true,
        What::Conditional(task) => task.bodies.iter().any(|body| awaited(body)),
        _ => false,
    })
}

/// A body begins: what its first branch does, and the rest is queued.
fn begin(
    body: &Model,
    stream: &'static Stream,
    within: &Arc<Pass>,
) -> Result<(VecDeque<Task>, Option<Arc<Pass>>)> {
    let mut guard = body.state();
    let state = &mut *guard;
    let mut todo: VecDeque<Task> = state
        .conditions
        .iter()
        .filter_map(|condition| condition.reset())
        .collect();
    let mut runners = Vec::new();
    for branch in 1..state.branches.len() {
        runners.push(replay::runner(body, state, branch)?);
    }
    let outer = Some(Arc::clone(within));
    let pass = Pass::new(Fate::new(false), stream, runners.clone(), outer);
    let mut labels: Vec<Option<Arc<Record>>> = vec![None; state.labels.len()];
    for node in &state.nodes {
        let own = node.branch.checked_sub(1).map(|branch| runners[branch]);
        let task = match &node.what {
            What::Run(_) if node.disabled => continue,
            What::Run(slot) => Task::Captured(Arc::clone(slot)),
            What::Conditional(task) => Choice::task(task, &pass),
            What::Record { label } => {
                let record = Record::new(own.unwrap_or(stream), None);
                labels[*label] = Some(Arc::clone(&record));
                Task::Reach(record)
            }
            What::Wait { label } => match &labels[*label] {
                Some(record) => replay::wait(Arc::clone(record)),
                None => continue,
            },
            What::ExternalRecord => Task::RecordExternal(node.about.event),
            What::ExternalWait => Task::WaitExternal(node.about.event),
            What::ResetEvent => Task::ResetExternal(node.about.event),
            What::ResetLabel { .. } | What::Control(_) | What::Gone => continue,
        };
        match own {
            None => todo.push_back(task),
            Some(own) => last_task::undisturbed(|| engine::submit_now(own, pass.piece(task))),
        }
    }
    if !pass.has_runners() {
        return Ok((todo, None));
    }
    todo.push_back(pass.end());
    Ok((todo, Some(pass)))
}

impl Composite for Choice {
    fn step(mut self: Box<Self>, stream: &'static Stream) -> Outcome {
        match self.todo.pop_front() {
            Some(task) => {
                if let Piece::Goes(task, outcome) = composite::run(task, stream) {
                    self.todo.push_front(task);
                    return outcome(Task::Composite(self));
                }
            }
            None => {
                if !self.choose(stream) {
                    return Outcome::Done;
                }
            }
        }
        Outcome::Again(Task::Composite(self))
    }

    fn current(&self) -> Option<&Task> {
        self.todo.front()
    }

    fn each(&mut self, act: &mut dyn FnMut(&mut Task)) {
        self.todo.iter_mut().for_each(act);
    }

    fn is_awaited_outside(&self) -> bool {
        self.awaited
    }

    fn doomed(&self) {
        self.pass.iter().for_each(|pass| pass.drop_rest());
        self.todo.iter().for_each(Task::doomed);
    }

    fn drop_unrun(self: Box<Self>) {
        self.doomed();
        self.todo.into_iter().for_each(Task::drop_unrun);
    }
}
