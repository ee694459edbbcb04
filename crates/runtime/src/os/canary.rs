//! A page that the kernel wipes in forked children.
//!
//! It holds the epoch of the running runtime: not zero in the process that started it, zero in
//! every child, whichever way the child was made. So one load answers "started here?" even where
//! no fork handler ran.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::map;

static PAGE: OnceLock<&'static [AtomicU32]> = OnceLock::new();
/// Stands in while the page does not exist: nothing has started.
static NOT_STARTED: AtomicU32 = AtomicU32::new(0);

fn word() -> &'static AtomicU32 {
    PAGE.get()
        .and_then(|page| page.first())
        .unwrap_or(&NOT_STARTED)
}

/// The epoch of the runtime that this very process started, or 0.
#[inline]
pub(crate) fn epoch() -> u32 {
    word().load(Ordering::Acquire)
}

/// Announces that the runtime of `epoch` runs in this process.
pub(crate) fn set(epoch: u32) {
    let page = PAGE.get_or_init(|| {
        let page = map::zeroed_array::<AtomicU32>(1024).unwrap_or(&[]);
        if !page.is_empty() {
            // SAFETY: our own page; the advice takes effect in children only.
            unsafe {
                libc::madvise(
                    page.as_ptr() as *mut libc::c_void,
                    4096,
                    libc::MADV_WIPEONFORK,
                )
            };
        }
        page
    });
    match page.first() {
        Some(word) => word.store(epoch, Ordering::Release),
        None => NOT_STARTED.store(epoch, Ordering::Release),
    }
}
