//! Threads whose ids the runtime understands.
//!
//! A thread id is the pthread id, the same as `threading.get_ident()`. A new thread has no
//! device and no context.

use std::collections::HashMap;
use std::os::unix::thread::JoinHandleExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::callables::{self, with_python};
use crate::convert::Word;

/// Room for the stack, in bytes: what Python's own threads have on Linux.
const STACK_SIZE: usize = 8 << 20;

/// How long a wait goes on before it looks for a pending Ctrl-C.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(100);

/// How a thread ended.
enum End {
    /// Its function returned.
    Returned,
    /// Its function raised an exception of this class.
    Raised(String),
}

/// What a thread and those who wait for it share.
#[derive(Default)]
struct Ending {
    how: Mutex<Option<End>>,
    known: Condvar,
}

struct Started {
    handle: JoinHandle<()>,
    ending: Arc<Ending>,
}

/// Threads that were started and not stopped yet, by id.
static THREADS: Mutex<Option<HashMap<usize, Started>>> = Mutex::new(None);

/// A poisoned lock is as good as any: no code of ours leaves half-done work in it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// thr_id, ret = start_thread(thr_func, args_list): call thr_func(args_list) in a new thread.
///
/// args_list is passed on as the one argument; None calls thr_func without any. The thread must
/// choose its own context. What thr_func raises is printed, and raised again by stop_thread.
#[pyfunction]
#[pyo3(signature = (thr_func, args_list, /))]
pub(crate) fn start_thread(
    py: Python<'_>,
    thr_func: &Bound<'_, PyAny>,
    args_list: &Bound<'_, PyAny>,
) -> PyResult<(usize, i32)> {
    if !thr_func.is_callable() {
        return Err(PyValueError::new_err(format!(
            "thr_func must be callable, '{}' is not",
            thr_func.get_type().name()?
        )));
    }
    let function = thr_func.clone().unbind();
    let argument = (!args_list.is_none()).then(|| args_list.clone().unbind());
    let ending = Arc::new(Ending::default());
    let shared = Arc::clone(&ending);
    let body = move || {
        let end = with_python(|py| call(py, &function, argument.as_ref()));
        *locked(&shared.how) = Some(end.unwrap_or(End::Returned));
        shared.known.notify_all();
        // Counted references are given back with the interpreter; without one they stay.
        let references = (function, argument);
        if with_python(|_| ()).is_some() {
            drop(references);
        } else {
            std::mem::forget(references);
        }
    };
    let spawned = py.detach(|| Builder::new().stack_size(STACK_SIZE).spawn(body));
    match spawned {
        Ok(handle) => {
            let id = handle.as_pthread_t() as usize;
            locked(&THREADS)
                .get_or_insert_default()
                .insert(id, Started { handle, ending });
            Ok((id, 0))
        }
        Err(error) => Ok((0, error.raw_os_error().unwrap_or(libc::EAGAIN))),
    }
}

/// Calls the thread's function; what it raises is printed.
fn call(py: Python<'_>, function: &Py<PyAny>, argument: Option<&Py<PyAny>>) -> End {
    let answer =
        PyTuple::new(py, argument).and_then(|arguments| callables::call(py, function, &arguments));
    let Err(error) = answer else {
        return End::Returned;
    };
    let class = error
        .get_type(py)
        .name()
        .map_or_else(|_| "Exception".to_owned(), |name| name.to_string());
    callables::print(py, &error);
    End::Raised(class)
}

/// ret = stop_thread(thr_id): wait until the thread of start_thread has ended.
///
/// It does not ask the thread to end. Other threads run meanwhile, and Ctrl-C interrupts the
/// wait. A function that raised makes this raise RuntimeError. An id that start_thread did not
/// give, or that was stopped before, returns 3 (no such thread).
#[pyfunction]
#[pyo3(signature = (thr_id, /))]
pub(crate) fn stop_thread(py: Python<'_>, thr_id: Word) -> PyResult<i32> {
    let Word(id) = thr_id;
    // SAFETY: has no conditions.
    if id as libc::pthread_t == unsafe { libc::pthread_self() } {
        return Ok(libc::EDEADLK);
    }
    let ending = locked(&THREADS)
        .as_ref()
        .and_then(|threads| Some(Arc::clone(&threads.get(&id)?.ending)));
    let Some(ending) = ending else {
        return Ok(libc::ESRCH);
    };
    while !py.detach(|| ended_within(&ending, SIGNAL_INTERVAL)) {
        py.check_signals()?;
    }
    let started = locked(&THREADS)
        .as_mut()
        .and_then(|threads| threads.remove(&id));
    // Another call may have been quicker.
    let Some(Started { handle, ending }) = started else {
        return Ok(libc::ESRCH);
    };
    // The body has only its last lines left; it cannot have panicked before.
    let joined = py.detach(|| handle.join());
    let how = locked(&ending.how).take();
    match (joined, how) {
        (Ok(()), Some(End::Raised(class))) => Err(PyRuntimeError::new_err(format!(
            "the thread function failed with {class}"
        ))),
        (Ok(()), _) => Ok(0),
        (Err(_), _) => Ok(libc::EINVAL),
    }
}

/// Waits for the end, but not longer than `limit`.
fn ended_within(ending: &Ending, limit: Duration) -> bool {
    let how = locked(&ending.how);
    let waited = ending
        .known
        .wait_timeout_while(how, limit, |how| how.is_none());
    let (how, _) = waited.unwrap_or_else(PoisonError::into_inner);
    how.is_some()
}
