//! A page that the kernel wipes in forked children.
//!
//! It holds the epoch of the running runtime: not zero in the process that started it, zero in
//! every child, whichever way the child was made. So one load answers "started here?" even where
//! no fork handler ran.

use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::map;

/// Stands in while the page does not exist: nothing has started.
static NOT_STARTED: AtomicU32 = AtomicU32::new(0);
/// The word that holds the epoch; never freed.
static WORD: AtomicPtr<AtomicU32> = AtomicPtr::new((&raw const NOT_STARTED).cast_mut());

/// The epoch of the runtime that this very process started, or 0.
#[inline]
pub(crate) fn epoch() -> u32 {
    // SAFETY: points to the static, or to the first word of a page that is never unmapped.
    unsafe { &*WORD.load(Ordering::Acquire) }.load(Ordering::Acquire)
}

/// Announces that the runtime of `epoch` runs in this process. Only one thread starts a runtime at
/// a time.
pub(crate) fn set(epoch: u32) {
    if std::ptr::eq(WORD.load(Ordering::Acquire), &raw const NOT_STARTED)
        && let Ok(page) = map::zeroed_array::<AtomicU32>(1024)
    {
        let word = page.as_ptr().cast_mut();
        // SAFETY: our own page; the advice takes effect in children only.
        let wiped = unsafe { libc::madvise(word.cast(), 4096, libc::MADV_WIPEONFORK) };
        if wiped == 0 {
            WORD.store(word, Ordering::Release);
        }
    }
    // SAFETY: as in `epoch`.
    unsafe { &*WORD.load(Ordering::Acquire) }.store(epoch, Ordering::Release);
}
