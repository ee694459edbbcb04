//! Sleeping until a word changes.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// A word that somebody sleeps on until it changes.
#[derive(Default)]
pub(crate) struct Word(AtomicU32);

impl Word {
    /// What it holds.
    pub(crate) fn value(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }

    /// Changes it and wakes everybody who sleeps on it.
    pub(crate) fn change(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        wake_all(&self.0);
    }

    /// Sleeps while it holds `value`, at most for `limit`. May return early.
    pub(crate) fn wait(&self, value: u32, limit: Option<Duration>) {
        wait(&self.0, value, limit);
    }
}

fn timespec(limit: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    }
}

/// Sleeps while `word` holds `value`, at most for `limit`. May return early.
pub(crate) fn wait(word: &AtomicU32, value: u32, limit: Option<Duration>) {
    let time = limit.map(timespec);
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word outlives the call, the time is NULL or valid for it.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            value,
            time,
        )
    };
}

/// Wakes everybody who sleeps on `word`.
pub(crate) fn wake_all(word: &AtomicU32) {
    // SAFETY: only the address is used.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            i32::MAX,
        )
    };
}

/// As [`wait`], on the lower half of a word that other processes map too.
pub(crate) fn wait_shared(word: &AtomicU64, value: u64, limit: Option<Duration>) {
    let time = limit.map(timespec);
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word outlives the call, its lower half comes first (little endian), the time is
    // NULL or valid for it.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr().cast::<u32>(),
            libc::FUTEX_WAIT,
            value as u32,
            time,
        )
    };
}

/// Wakes every process that sleeps on the lower half of `word`.
pub(crate) fn wake_all_shared(word: &AtomicU64) {
    // SAFETY: only the address is used.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr().cast::<u32>(),
            libc::FUTEX_WAKE,
            i32::MAX,
        )
    };
}
