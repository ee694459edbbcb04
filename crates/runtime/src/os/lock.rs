//! A lock for very short sections that are almost never contended.
//!
//! Taking it is one atomic exchange, giving it back one plain store: half the price of a lock that
//! must look for sleepers when it is given back. Whoever does not get it spins briefly, then yields,
//! then sleeps in small steps, so that a holder that was descheduled gets its turn.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const SPINS: u32 = 64;
const YIELDS: u32 = 64;

/// See the module.
#[repr(C, align(128))] // neighbouring locks do not share lines; the value begins beside its lock
pub(crate) struct QuickLock<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only through the guard, and one guard exists at a time.
unsafe impl<T: Send> Sync for QuickLock<T> {}

/// Access to the value; gives the lock back when dropped.
pub(crate) struct QuickGuard<'a, T> {
    lock: &'a QuickLock<T>,
    /// Guards stay on their thread.
    _not_send: std::marker::PhantomData<*const ()>,
}

impl<T> QuickLock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self {
            held: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Takes the lock.
    #[inline]
    pub(crate) fn lock(&self) -> QuickGuard<'_, T> {
        if self.held.swap(true, Ordering::Acquire) {
            self.wait();
        }
        QuickGuard {
            lock: self,
            _not_send: std::marker::PhantomData,
        }
    }

    #[cold]
    fn wait(&self) {
        let mut round = 0u32;
        loop {
            while self.held.load(Ordering::Relaxed) {
                match round {
                    0..SPINS => std::hint::spin_loop(),
                    _ if round < SPINS + YIELDS => std::thread::yield_now(),
                    _ => std::thread::sleep(Duration::from_micros(50)),
                }
                round = round.saturating_add(1);
            }
            if !self.held.swap(true, Ordering::Acquire) {
                return;
            }
        }
    }
}

impl<T: Default> Default for QuickLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Deref for QuickGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard proves that the lock is held by this thread.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for QuickGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed exclusively.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for QuickGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.held.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::QuickLock;

    #[test]
    fn increments_from_several_threads_add_up() {
        let lock = QuickLock::new(0u64);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100_000 {
                        *lock.lock() += 1;
                    }
                });
            }
        });
        assert_eq!(*lock.lock(), 400_000);
    }
}
