//! Whose turn a stream is: the protocol between those who submit, run, block and bring on, apart from
//! everything else, so that it can be checked exhaustively (tests/loom).
//!
//! * **state**: idle (nothing to do), queued (something to do), blocked (its first task waits; also
//!   while a task runs, so that whoever brings it on meanwhile is seen).
//! * **token**: the right to run tasks; one runner has it.
//! * **listed**: in the run queue. A stream is listed once; whoever takes it from the run queue and finds
//!   the token taken goes away, because the runner lists it again when it gives the token back.
//!
//! Promise: a stream with tasks is listed, or has a runner, or is blocked and will be brought on.

use super::sync::{AtomicBool, AtomicU8, Ordering::SeqCst};

const IDLE: u8 = 0;
const QUEUED: u8 = 1;
const BLOCKED: u8 = 2;

/// See the module.
#[derive(Default)]
pub(crate) struct Turn {
    state: AtomicU8,
    token: AtomicBool,
    listed: AtomicBool,
}

/// What giving the token back came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rest {
    /// The stream became idle, and stays so.
    pub(crate) idle: bool,
    /// It has to be listed.
    pub(crate) list: bool,
}

impl Turn {
    /// A task was appended. True: the stream was idle, it is active now and has to be listed.
    #[inline]
    pub(crate) fn work_arrived(&self) -> bool {
        self.state.load(SeqCst) == IDLE
            && self
                .state
                .compare_exchange(IDLE, QUEUED, SeqCst, SeqCst)
                .is_ok()
    }

    /// The stream is about to enter the run queue. False: it is there already.
    pub(crate) fn list(&self) -> bool {
        !self.listed.swap(true, SeqCst)
    }

    /// The stream was taken out of the run queue.
    pub(crate) fn unlist(&self) {
        self.listed.store(false, SeqCst);
    }

    /// Takes the token. False: there is a runner.
    pub(crate) fn take(&self) -> bool {
        !self.token.swap(true, SeqCst)
    }

    /// Whether a runner has the token.
    pub(crate) fn has_runner(&self) -> bool {
        self.token.load(SeqCst)
    }

    /// Whether there is something to do that nobody blocks.
    #[inline]
    pub(crate) fn is_queued(&self) -> bool {
        self.state.load(SeqCst) == QUEUED
    }

    /// Whether the first task waits.
    pub(crate) fn is_blocked(&self) -> bool {
        self.state.load(SeqCst) == BLOCKED
    }

    /// Holding the token: a task begins. From now on it can be brought on.
    pub(crate) fn begin(&self) {
        self.state.store(BLOCKED, SeqCst);
    }

    /// Holding the token: the task is done.
    pub(crate) fn end(&self) {
        self.state.store(QUEUED, SeqCst);
    }

    /// What the first task waits for is there. True: the stream has to be listed.
    pub(crate) fn bring_on(&self) -> bool {
        self.state
            .compare_exchange(BLOCKED, QUEUED, SeqCst, SeqCst)
            .is_ok()
    }

    /// Holding the token: the tasks of a blocked stream were dropped. True: it is idle now.
    pub(crate) fn unblock(&self) -> bool {
        self.state
            .compare_exchange(BLOCKED, IDLE, SeqCst, SeqCst)
            .is_ok()
    }

    /// Gives the token back. `empty`: the runner saw that there is no task (a stream that is left
    /// empty without saying so never becomes idle); `has_tasks` looks again, afterwards.
    pub(crate) fn give_back(&self, empty: bool, has_tasks: impl FnOnce() -> bool) -> Rest {
        let idle = empty
            && self
                .state
                .compare_exchange(QUEUED, IDLE, SeqCst, SeqCst)
                .is_ok();
        self.token.store(false, SeqCst);
        // While the token was held, others may have found it taken and gone away.
        if !has_tasks() {
            return Rest { idle, list: false };
        }
        let again = self
            .state
            .compare_exchange(IDLE, QUEUED, SeqCst, SeqCst)
            .is_ok();
        Rest {
            idle: idle && !again,
            list: self.is_queued(),
        }
    }
}
