//! Locks that outlive a runtime.
//!
//! A few process-wide tables exist before the runtime starts. A thread that held one of their
//! locks does not exist in a forked child, so nobody would ever unlock it there: waiting is
//! bounded, and the caller copes with not getting in.

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// Far longer than any holder needs.
const PATIENCE: Duration = Duration::from_millis(500);

/// The lock, unless its holder is gone.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    let mut began: Option<Instant> = None;
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
        if began.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return None;
        }
        std::thread::yield_now();
    }
}
