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
    /// Streams that are not idle: one fewer (-1), as many (0), or one more (1).
    pub(crate) active: isize,
    /// It has to be listed.
    pub(crate) list: bool,
}

impl Turn {
    /// A task was appended. True: the stream was idle, it is active now and has to be listed.
    #[inline]
    pub(crate) fn work_arrived(&self) -> bool {
        self.state.load(SeqCst) == IDLE && self.moves(IDLE, QUEUED)
    }

    /// The stream is about to enter the run queue. False: it is there already.
    pub(crate) fn list(&self) -> bool {
        !self.listed.swap(true, SeqCst)
    }

    /// The stream was taken out of the run queue.
    pub(crate) fn unlist(&self) {
        // A swap, not a store: what those did who found it listed happened before what follows.
        self.listed.swap(false, SeqCst);
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

    /// Whether there is nothing to do.
    pub(crate) fn is_idle(&self) -> bool {
        self.state.load(SeqCst) == IDLE
    }

    /// Whether the first task waits.
    pub(crate) fn is_blocked(&self) -> bool {
        self.state.load(SeqCst) == BLOCKED
    }

    /// Holding the token: a task begins. From now on it can be brought on. True: the stream was idle
    /// (the task was found before [`Turn::work_arrived`]), it is active now.
    pub(crate) fn begin(&self) -> bool {
        self.state.swap(BLOCKED, SeqCst) == IDLE
    }

    /// Holding the token: the task is done.
    pub(crate) fn end(&self) {
        self.state.store(QUEUED, SeqCst);
    }

    /// What the first task waits for is there. True: the stream has to be listed.
    pub(crate) fn bring_on(&self) -> bool {
        self.moves(BLOCKED, QUEUED)
    }

    /// Holding the token: the tasks of a blocked stream were dropped. True: it is idle now.
    pub(crate) fn unblock(&self) -> bool {
        self.moves(BLOCKED, IDLE)
    }

    /// Gives the token back. `empty`: the runner saw that there is no task (a stream that is left
    /// empty without saying so never becomes idle); `has_tasks` looks again, afterwards.
    pub(crate) fn give_back(&self, empty: bool, has_tasks: impl Fn() -> bool) -> Rest {
        let mut active = 0;
        let mut becomes_idle = empty && self.moves(QUEUED, IDLE);
        loop {
            active -= isize::from(becomes_idle);
            // A swap, not a store: what those did who found the token taken happened before what
            // follows.
            self.token.swap(false, SeqCst);
            if has_tasks() {
                // They may have gone away from a stream with tasks, or a task is about to be announced.
                active += isize::from(self.moves(IDLE, QUEUED));
                return Rest {
                    active,
                    list: self.is_queued(),
                };
            }
            // Not idle, and no task: they were dropped by somebody who found the token taken.
            if self.is_idle() || !self.take() {
                return Rest {
                    active,
                    list: false,
                };
            }
            becomes_idle = self.unblock() || self.moves(QUEUED, IDLE);
        }
    }

    fn moves(&self, from: u8, to: u8) -> bool {
        self.state
            .compare_exchange(from, to, SeqCst, SeqCst)
            .is_ok()
    }
}
