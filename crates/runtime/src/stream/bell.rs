//! Sleeping until something has happened, and waking those who sleep, apart from everything else, so that
//! it can be checked exhaustively (tests/loom).
//!
//! * **listener**: who wants to be woken, or has it noted that others are to be told.
//!
//! Promise: who writes down what happened and rings afterwards wakes every listener that did not see it.
//! With no listener ringing costs one load.

use std::time::Duration;

use super::sync::{AtomicU32, Ordering::SeqCst, Word};

/// See the module.
#[derive(Default)]
pub(crate) struct Bell {
    listeners: AtomicU32,
    word: Word,
}

impl Bell {
    /// Something happened, and was written down before (SeqCst). True: somebody listens, and is woken.
    #[inline]
    pub(crate) fn ring(&self) -> bool {
        if self.listeners.load(SeqCst) == 0 {
            return false;
        }
        self.word.change();
        true
    }

    /// Sleeps until it rings, at most for as long as `limit` says; not at all when `over` holds. May return
    /// early.
    pub(crate) fn sleep(
        &self,
        over: impl FnOnce() -> bool,
        limit: impl FnOnce() -> Option<Duration>,
    ) {
        self.listen();
        let value = self.word.value();
        // After the listener counts: who rings before this is seen here, who rings later sees it.
        if !over() {
            self.word.wait(value, limit());
        }
        self.leave(1);
    }

    /// Somebody is to be told from now on; look whether it has happened afterwards.
    pub(crate) fn listen(&self) {
        self.listeners.fetch_add(1, SeqCst);
    }

    /// So many of those that began to [`listen`](Self::listen) have been told, or gave up.
    pub(crate) fn leave(&self, listeners: u32) {
        self.listeners.fetch_sub(listeners, SeqCst);
    }
}
