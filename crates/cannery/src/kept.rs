//! Counts everything, keeps the newest.

use std::collections::VecDeque;

use super::sync::{AtomicU64, Mutex, MutexGuard, Ordering, PoisonError};

/// How many are kept.
pub(crate) const KEPT: usize = 64;

/// What happened, for somebody who asks later.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    count: AtomicU64,
    recent: Mutex<VecDeque<T>>,
}

impl<T> Kept<T> {
    pub(crate) fn new() -> Kept<T> {
        Kept {
            count: AtomicU64::new(0),
            recent: Mutex::new(VecDeque::new()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, one: T) {
        let mut recent = self.lock();
        // Under the lock: whoever takes what is kept finds it counted.
        self.count.fetch_add(1, Ordering::Relaxed);
        if recent.len() == KEPT {
            recent.pop_front();
        }
        recent.push_back(one);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Takes what is kept, oldest first. The count stays.
    pub(crate) fn take(&self) -> Vec<T> {
        self.lock().drain(..).collect()
    }
}
