//! Which parts of the host memory are locked, and how much may be.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::os::map;
use crate::settings::Pin;

/// Locked in steps of a slice of the store: 64 KiB.
const STEP: u64 = 1 << 16;

/// What this process may lock, shared by all who lock.
pub(crate) struct Budget {
    mode: Pin,
    /// Bytes that may be locked; `None`: no limit.
    limit: Option<u64>,
    locked: AtomicU64,
    said: AtomicBool,
}

impl Budget {
    pub(crate) fn new(mode: Pin, limit: Option<u64>) -> Budget {
        Budget {
            mode,
            limit,
            locked: AtomicU64::new(0),
            said: AtomicBool::new(false),
        }
    }

    pub(crate) fn mode(&self) -> Pin {
        self.mode
    }

    pub(crate) fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Bytes locked now.
    pub(crate) fn locked(&self) -> u64 {
        self.locked.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: u64) -> bool {
        let most = self.limit.unwrap_or(u64::MAX);
        let taken = self
            .locked
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |locked| {
                locked.checked_add(bytes).filter(|sum| *sum <= most)
            });
        taken.is_ok()
    }

    fn give_back(&self, bytes: u64) {
        self.locked.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Locks a range. Whether it is locked; an error only in strict mode. Nothing of it stays locked
    /// otherwise.
    pub(crate) fn lock(&self, at: u64, bytes: u64) -> io::Result<bool> {
        if self.mode == Pin::Off {
            return Ok(false);
        }
        let locked = if self.take(bytes) {
            map::lock(at, bytes).inspect_err(|_| {
                // A failed lock may have locked a part.
                map::unlock(at, bytes);
                self.give_back(bytes);
            })
        } else {
            Err(io::ErrorKind::QuotaExceeded.into())
        };
        match locked {
            Ok(()) => Ok(true),
            Err(error) if self.mode == Pin::Strict => Err(error),
            Err(error) => {
                self.say_once(&error);
                Ok(false)
            }
        }
    }

    /// Undoes [`lock`](Self::lock) that locked.
    pub(crate) fn unlock(&self, at: u64, bytes: u64) {
        map::unlock(at, bytes);
        self.give_back(bytes);
    }

    fn say_once(&self, error: &io::Error) {
        if !self.said.swap(true, Ordering::Relaxed) {
            let limit = self
                .limit
                .map_or("none".to_owned(), |limit| format!("{limit} bytes"));
            crate::log::warn(format_args!(
                "host memory works but is not locked: {error} (limit {limit}); raise it with \
                 ulimit -l, or set CANNERY_PIN=strict to make this an error, off to silence it"
            ));
        }
    }
}

/// Pinning of one range of addresses.
pub(crate) struct Pins {
    base: u64,
    budget: Arc<Budget>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// One bit a step.
    locked: Vec<u64>,
    locked_bytes: u64,
    /// Bytes in use that could not be locked (mode auto).
    unlocked_bytes: u64,
}

impl State {
    fn is_locked(&self, step: u64) -> bool {
        self.locked
            .get((step / 64) as usize)
            .is_some_and(|word| word >> (step % 64) & 1 == 1)
    }

    fn mark(&mut self, step: u64, locked: bool) {
        let at = (step / 64) as usize;
        if at >= self.locked.len() {
            self.locked.resize(at + 1, 0);
        }
        let bit = 1 << (step % 64);
        if locked {
            self.locked[at] |= bit;
        } else {
            self.locked[at] &= !bit;
        }
    }
}

/// Numbers for reports, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pinned {
    pub(crate) locked: u64,
    pub(crate) unlocked: u64,
}

impl Pins {
    pub(crate) fn new(base: u64, budget: Arc<Budget>) -> Pins {
        Pins {
            base,
            budget,
            state: Mutex::default(),
        }
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn numbers(&self) -> Pinned {
        let state = self.state();
        Pinned {
            locked: state.locked_bytes,
            unlocked: state.unlocked_bytes,
        }
    }

    /// Locks what is not locked yet of a range that is about to be used. Both numbers are whole
    /// steps. An error only in strict mode.
    pub(crate) fn hold(&self, offset: u64, bytes: u64) -> io::Result<()> {
        if self.budget.mode == Pin::Off {
            return Ok(());
        }
        let mut state = self.state();
        let (mut step, end) = (offset / STEP, (offset + bytes) / STEP);
        while step < end {
            if state.is_locked(step) {
                step += 1;
                continue;
            }
            let mut until = step + 1;
            while until < end && !state.is_locked(until) {
                until += 1;
            }
            let run = (until - step) * STEP;
            if self.budget.lock(self.base + step * STEP, run)? {
                (step..until).for_each(|step| state.mark(step, true));
                state.locked_bytes += run;
            } else {
                state.unlocked_bytes += run;
            }
            step = until;
        }
        Ok(())
    }

    /// Unlocks a range that nobody uses any more. Both numbers are whole steps.
    pub(crate) fn let_go(&self, offset: u64, bytes: u64) {
        if self.budget.mode == Pin::Off {
            return;
        }
        let mut state = self.state();
        map::unlock(self.base + offset, bytes);
        for step in offset / STEP..(offset + bytes) / STEP {
            if state.is_locked(step) {
                state.mark(step, false);
                state.locked_bytes -= STEP;
                self.budget.give_back(STEP);
            }
        }
        // Steps that were never handed out are neither; the number is for reports.
        if state.locked_bytes == 0 {
            state.unlocked_bytes = 0;
        }
    }
}
