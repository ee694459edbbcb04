//! Every system call of the runtime, and nothing else.
//!
//! * [`map`]: address space: reserve, make usable, give pages back, lock them.
//! * [`host`]: what this machine has: memory, limits, process ids.
//! * [`canary`]: one page that tells a forked child from its parent.
//! * [`conversion`]: makes private memory shared where it stands.
//! * [`file_limits`]: how long and how many files may be; no signal ends the program for one.
//! * [`socket`]: messages between processes, with descriptors and credentials.
#![allow(unsafe_code)] // system calls and raw memory: the reason why this module exists

pub(crate) mod block;
pub(crate) mod canary;
pub(crate) mod clock;
pub(crate) mod conversion;
pub(crate) mod copy;
pub(crate) mod directory_lock;
pub(crate) mod file_limits;
pub(crate) mod futex;
pub(crate) mod host;
pub(crate) mod identity;
pub(crate) mod loader;
pub(crate) mod lock;
pub(crate) mod map;
pub(crate) mod pages;
pub(crate) mod process;
pub(crate) mod shared_page;
pub(crate) mod shared_words;
pub(crate) mod socket;
pub(crate) mod thread;
pub(crate) mod tool;

use std::sync::atomic::{AtomicPtr, Ordering};

/// What a pointer to something that is never freed points to.
#[inline]
pub(crate) fn published<T: Sync>(place: &AtomicPtr<T>) -> Option<&'static T> {
    // SAFETY: such places are only ever set to null or to leaked boxes (see their uses).
    unsafe { place.load(Ordering::Acquire).as_ref() }
}
