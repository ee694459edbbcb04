//! Threads for bodies that need more than one.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use crate::texts;

type Job = Box<dyn FnOnce() + Send>;

/// A closure that is handed to another thread while its owner waits.
struct Lent<F>(F);

#[allow(unsafe_code)] // See above; raw pointers alone keep the closures from being `Send`.
// SAFETY: `Worker::run` blocks until the closure has run, so nothing that the
// closure borrows or copies is touched by two threads at once. Bodies capture
// numbers, handles, device addresses and the `Sync` harness object only.
unsafe impl<F> Send for Lent<F> {}

impl<F: FnOnce()> Lent<F> {
    fn call(self) {
        (self.0)();
    }
}

/// One thread that runs closures in turn. It never had a device set.
pub(crate) struct Worker {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread.
    pub(crate) fn new() -> Self {
        let (jobs, queue) = channel::<Job>();
        let thread = std::thread::spawn(move || {
            for job in queue {
                job();
            }
            texts::thread_ends();
        });
        Self {
            jobs: Some(jobs),
            thread: Some(thread),
        }
    }

    /// Runs `f` on the thread and waits for it; a panic of `f` goes on here.
    pub(crate) fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        let mut outcome: Option<Result<R, Box<dyn Any + Send>>> = None;
        let slot = &mut outcome;
        let (done, wait) = channel::<()>();
        let lent = Lent(move || {
            *slot = Some(catch_unwind(AssertUnwindSafe(f)));
            // The receiver waits below, so this cannot fail.
            let _ = done.send(());
        });
        let job: Box<dyn FnOnce() + Send + '_> = Box::new(move || lent.call());
        #[allow(unsafe_code)] // A scoped thread would end after one closure.
        // SAFETY: only the lifetime changes. `wait.recv()` below returns after
        // the job has run or was dropped, so no borrow outlives this call.
        let job: Job = unsafe { std::mem::transmute(job) };
        let sent = self.jobs.as_ref().map(|jobs| jobs.send(job));
        assert!(matches!(sent, Some(Ok(()))), "worker thread is gone");
        let _ = wait.recv();
        match outcome {
            Some(Ok(value)) => value,
            Some(Err(panic)) => resume_unwind(panic),
            None => panic!("the worker dropped a job"),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // Jobs catch their panics, so the thread ends normally.
            let _ = thread.join();
        }
    }
}

/// Runs `f` on a fresh thread and waits for it.
pub(crate) fn on_thread<R>(f: impl FnOnce() -> R) -> R {
    Worker::new().run(f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_run_in_turn_on_one_other_thread() {
        let worker = Worker::new();
        let first = worker.run(|| std::thread::current().id());
        let second = worker.run(|| std::thread::current().id());
        assert_eq!(first, second);
        assert_ne!(first, std::thread::current().id());
        let mut sum = 0;
        worker.run(|| sum += 2);
        worker.run(|| sum += 3);
        assert_eq!(sum, 5);
    }

    #[test]
    fn a_panic_comes_back_to_the_caller() {
        let worker = Worker::new();
        let caught = catch_unwind(AssertUnwindSafe(|| worker.run(|| panic!("inside"))));
        assert!(caught.is_err());
        assert_eq!(worker.run(|| 7), 7);
    }
}
