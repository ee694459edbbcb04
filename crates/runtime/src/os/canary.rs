//! A page that the kernel wipes in forked children.
//!
//! It holds the address of the running runtime: set in the process that started it, NULL in every
//! child, whichever way the child was made. So one look answers both "which runtime" and "started
//! here?", even where no fork handler ran.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use super::map;
use crate::process::Runtime;

/// Stands in while the page does not exist: nothing has started.
static NOT_STARTED: AtomicPtr<Runtime> = AtomicPtr::new(std::ptr::null_mut());
/// The word that holds the address; never freed.
static WORD: AtomicPtr<AtomicPtr<Runtime>> = AtomicPtr::new((&raw const NOT_STARTED).cast_mut());

#[inline(always)]
fn word() -> &'static AtomicPtr<Runtime> {
    // SAFETY: points to the static, or to the first word of a page that is never unmapped.
    unsafe { &*WORD.load(Ordering::Acquire) }
}

/// The runtime that this very process started.
#[inline(always)] // the first thing that every call asks
pub(crate) fn runtime() -> Option<&'static Runtime> {
    super::published(word())
}

/// Announces that `runtime` runs in this process. Only one thread starts a runtime at a time.
pub(crate) fn set(runtime: &'static Runtime) {
    const _: () = assert!(size_of::<AtomicPtr<Runtime>>() == size_of::<AtomicU64>());
    if std::ptr::eq(WORD.load(Ordering::Acquire), &raw const NOT_STARTED)
        && let Ok(page) = map::zeroed_array::<AtomicU64>(512)
    {
        let word = page.as_ptr().cast_mut();
        // SAFETY: our own page; the advice takes effect in children only.
        let wiped = unsafe { libc::madvise(word.cast(), 4096, libc::MADV_WIPEONFORK) };
        if wiped == 0 {
            WORD.store(word.cast(), Ordering::Release);
        }
    }
    word().store(std::ptr::from_ref(runtime).cast_mut(), Ordering::Release);
}
