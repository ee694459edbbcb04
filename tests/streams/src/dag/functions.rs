//! Functions of the program that look at a block and change it, in stream order.

use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::make;
use crate::trouble;

/// One call that was queued.
pub(crate) struct Call {
    /// Pinned memory to look at, what it must hold, and what it shall hold afterwards.
    pub(crate) work: Option<(usize, Vec<u8>, Vec<u8>)>,
    /// Calls on this stream before it, and the counter of the stream.
    pub(crate) place: u64,
    pub(crate) counter: &'static Counter,
    /// For failures.
    pub(crate) name: String,
    pub(crate) ran: AtomicU32,
}

/// Calls on a stream: how many have returned, and whether one is inside.
#[derive(Default)]
pub(crate) struct Counter {
    returned: AtomicU64,
    inside: Mutex<()>,
}

impl Call {
    /// The argument of [`run`].
    pub(crate) fn data(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    fn run(&self) {
        let alone = self.counter.inside.try_lock();
        if alone.is_err() {
            trouble::note(format!("{}: two functions of a stream at once", self.name));
        }
        if self.ran.fetch_add(1, Ordering::SeqCst) > 0 {
            return trouble::note(format!("{}: called twice", self.name));
        }
        let before = self.counter.returned.load(Ordering::SeqCst);
        if before != self.place {
            trouble::note(format!(
                "{}: {before} functions of the stream before it, expected {}",
                self.name, self.place
            ));
        }
        if let Some((at, want, then)) = &self.work {
            let at = std::ptr::with_exposed_provenance_mut::<c_void>(*at);
            if let Some(text) = make::difference(&make::read(at, want.len()), want) {
                trouble::note(format!("{}: {text}", self.name));
            }
            make::write(at, then);
        }
        self.counter.returned.fetch_add(1, Ordering::SeqCst);
    }
}

/// The C function.
pub(crate) extern "C" fn run(data: *mut c_void) {
    // SAFETY: `data` is a `Call` that its world keeps until everything queued is done.
    unsafe { &*data.cast::<Call>() }.run();
}
