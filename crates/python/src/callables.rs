//! Python callables that the C library calls.
//!
//! The library calls from threads of its own and at times of its own. A trampoline attaches the
//! thread to the interpreter for the call; what the callable raises goes to
//! `sys.unraisablehook`, for there is no Python frame to raise it in. Once the interpreter has
//! begun to end, callables are no longer called.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

static ENDING: AtomicBool = AtomicBool::new(false);

/// Called by `atexit`: from here on the library finds no interpreter.
#[pyfunction]
pub(crate) fn interpreter_is_ending() {
    ENDING.store(true, Ordering::Release);
}

/// Runs `f` with the interpreter; `None` when there is none any more.
pub(crate) fn with_python<R>(f: impl FnOnce(Python<'_>) -> R) -> Option<R> {
    if ENDING.load(Ordering::Acquire) {
        return None;
    }
    Python::try_attach(f)
}

/// The answer of a call from C, or `None` after reporting what it raised.
pub(crate) fn reported<'py, T>(
    py: Python<'py>,
    callable: &Py<PyAny>,
    answer: PyResult<T>,
) -> Option<T> {
    answer
        .map_err(|error| error.write_unraisable(py, Some(callable.bind(py))))
        .ok()
}

/// A `TypeError` for what cannot be called.
pub(crate) fn check_callable(object: &Bound<'_, PyAny>) -> PyResult<()> {
    if object.is_callable() {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "'{}' object is not callable",
        object.get_type().name()?
    )))
}

/// A process-wide place for one callable: C callbacks of this kind carry no data of their own.
pub(crate) struct Slot(Mutex<Option<Py<PyAny>>>);

impl Slot {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Puts `callable` here. The last one wins.
    pub(crate) fn set(&self, callable: Option<Py<PyAny>>) {
        let previous = {
            let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *place, callable)
        };
        // Outside the lock: dropping may run Python code.
        drop(previous);
    }

    /// The callable that is here now.
    pub(crate) fn get(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        place.as_ref().map(|callable| callable.clone_ref(py))
    }
}
