//! Python callables that the C library calls.
//!
//! The library calls from threads of its own and at times of its own. A trampoline attaches the
//! thread to the interpreter for the call; what the callable raises goes to
//! `sys.unraisablehook`, for there is no Python frame to raise it in. Once the interpreter has
//! begun to end, callables are no longer called.
//!
//! An interpreter that ends (before Python 3.14) kills a thread that is inside Python code at
//! the next bytecode, by unwinding its stack. Unwinding must not reach Rust frames with
//! destructors, so the calls here stop it and keep the thread waiting for the end of the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The functions through which Python code runs, with the ABI that lets the unwinding in.
mod unwinding {
    use pyo3::ffi::PyObject;

    unsafe extern "C-unwind" {
        pub(super) fn PyObject_CallObject(
            callable: *mut PyObject,
            arguments: *mut PyObject,
        ) -> *mut PyObject;
        pub(super) fn PyErr_WriteUnraisable(object: *mut PyObject);
        pub(super) fn PyErr_Display(
            class: *mut PyObject,
            value: *mut PyObject,
            traceback: *mut PyObject,
        );
    }
}

/// Dropped only by unwinding; ends it by never returning.
struct StayHere;

impl StayHere {
    /// Runs `f`, which calls one of [`unwinding`] and holds nothing that has a destructor.
    fn during<R>(f: impl FnOnce() -> R) -> R {
        let stay = Self;
        let answer = f();
        std::mem::forget(stay);
        answer
    }
}

impl Drop for StayHere {
    fn drop(&mut self) {
        loop {
            // SAFETY: has no conditions.
            unsafe { libc::pause() };
        }
    }
}

/// Calls a callable in a thread that the interpreter may end.
pub(crate) fn call<'py>(
    py: Python<'py>,
    callable: &Py<PyAny>,
    arguments: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let (callable, arguments) = (callable.as_ptr(), arguments.as_ptr());
    // SAFETY: a live callable and a live tuple; the answer is a new reference, or NULL with an
    // error set.
    unsafe {
        let answer = StayHere::during(|| unwinding::PyObject_CallObject(callable, arguments));
        Bound::from_owned_ptr_or_err(py, answer)
    }
}

/// Prints an exception with its traceback to `sys.stderr`.
pub(crate) fn print(py: Python<'_>, error: &PyErr) {
    let (class, value) = (error.get_type(py), error.value(py));
    let traceback = error.traceback(py);
    let traceback = traceback
        .as_ref()
        .map_or(std::ptr::null_mut(), Bound::as_ptr);
    let (class, value) = (class.as_ptr(), value.as_ptr());
    // SAFETY: live objects of the kinds that the function documents; the traceback may be NULL.
    StayHere::during(|| unsafe { unwinding::PyErr_Display(class, value, traceback) });
}

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
        .map_err(|error| {
            error.restore(py);
            let callable = callable.as_ptr();
            // SAFETY: an error is set, and the object is alive.
            StayHere::during(|| unsafe { unwinding::PyErr_WriteUnraisable(callable) });
        })
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
