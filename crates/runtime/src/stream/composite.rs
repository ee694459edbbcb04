//! Tasks that are done piece by piece. To its stream such a task is one task, however many pieces it comes
//! to: what follows waits for the last one. Between two pieces the schedule may do something else.

use super::Stream;
use super::task::{Outcome, Task};

/// See the module.
pub(crate) trait Composite: Send {
    /// Does the next piece: [`Outcome::Again`] with itself while there are more.
    fn step(self: Box<Self>, stream: &'static Stream) -> Outcome;

    /// The task that the next piece is, if it is one.
    fn current(&self) -> Option<&Task>;

    /// Name for traces.
    fn name(&self) -> &'static str {
        self.current().map_or("branch", Task::name)
    }

    /// Every task that it holds already.
    fn each(&mut self, act: &mut dyn FnMut(&mut Task));

    /// Whether any piece may be awaited outside: see [`Task::is_awaited_outside`].
    fn is_awaited_outside(&self) -> bool;

    /// It is about to be dropped, with what is queued beside it: what must not go on when the others are dropped
    /// does not begin any more.
    fn doomed(&self) {}

    /// It will not be run, or not to its end: what others wait for is released.
    fn drop_unrun(self: Box<Self>);
}

/// What is left of a composite after the task of its current piece ran: the task, where it goes on; the outcome.
pub(crate) enum Piece {
    /// The next piece is due.
    Over,
    /// The task goes on, and the composite is to answer so.
    Goes(Task, fn(Task) -> Outcome),
}

/// Runs the task of a piece.
pub(crate) fn run(task: Task, stream: &'static Stream) -> Piece {
    match task.run(stream) {
        Outcome::Done | Outcome::Counted => Piece::Over,
        Outcome::Blocked(task) => Piece::Goes(task, Outcome::Blocked),
        Outcome::LookAgain(task) => Piece::Goes(task, Outcome::LookAgain),
        Outcome::Again(task) => Piece::Goes(task, Outcome::Again),
    }
}
