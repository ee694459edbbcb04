//! Tasks of models as they are kept between runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::os::lock::QuickLock;
use crate::stream::task::Task;

/// A task that can be run again and again, and be replaced.
pub(crate) struct Slot {
    /// With how long it waits at most, each time anew.
    task: QuickLock<(Task, Option<Duration>)>,
    /// Whether a thread of the runtime has to run it.
    pub(crate) needs_worker: bool,
}

impl Slot {
    pub(super) fn new(task: Task) -> Arc<Slot> {
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
