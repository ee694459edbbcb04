//! Host functions that wait until the program lets them go on.

use std::ffi::c_void;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cannery_abi::*;

use crate::api::*;

/// A host function that does not return before the gate is opened.
#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    open: bool,
    entered: bool,
}

impl Gate {
    /// A closed gate that lives as long as the process.
    pub(crate) fn closed() -> &'static Gate {
        Box::leak(Box::default())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    /// Queues the function.
    pub(crate) fn launch(&'static self, stream: aclrtStream) {
        let data = std::ptr::from_ref(self).cast_mut().cast();
        let code = aclrtLaunchHostFunc(stream, Some(pass), data);
        ok(code, "aclrtLaunchHostFunc");
    }

    /// Lets the function return.
    pub(crate) fn open(&self) {
        self.change(|state| state.open = true);
    }

    /// Blocks the calling thread until the gate is open.
    pub(crate) fn wait_open(&self) {
        let closed = self.changed.wait_while(self.state(), |state| !state.open);
        drop(closed.unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits until the function is inside; false when that takes more than `limit`.
    pub(crate) fn entered_within(&self, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        let mut state = self.state();
        while !state.entered {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let woken = self.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

extern "C" fn pass(data: *mut c_void) {
    // SAFETY: `Gate::launch` passes a gate that lives as long as the process.
    let gate = unsafe { &*data.cast::<Gate>() };
    gate.change(|state| state.entered = true);
    gate.wait_open();
}
