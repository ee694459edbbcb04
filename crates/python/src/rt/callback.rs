//! Host callbacks in the order of a stream.
//!
//! A thread loops on `process_report`; `subscribe_report` binds it to a stream; what
//! `launch_callback` queues there runs in that thread.

use std::ffi::c_void;

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::c_api::{address_of, at, c_api};
use crate::callables::{call, check_callable, reported, with_python};
use crate::calls::calls;
use crate::convert::{Int, Word};

calls! {
    also [launch_callback];

    /// ret = subscribe_report(thread_id, stream): callbacks of the stream run in that thread.
    ///
    /// thread_id comes from acl.util.start_thread or threading.get_ident().
    fn subscribe_report(thread_id: Word, stream: Word) -> code = aclrtSubscribeReport(thread_id as u64, at(stream));

    /// ret = unsubscribe_report(thread_id, stream)
    fn unsubscribe_report(thread_id: Word, stream: Word) -> wait = aclrtUnSubscribeReport(
        thread_id as u64,
        at(stream),
    );

    /// ret = process_report(timeout): run callbacks of this thread; milliseconds, -1 for ever.
    ///
    /// Nothing to run in that time is a code too (507012).
    fn process_report(timeout: Int) -> wait = aclrtProcessReport(timeout);
}

/// A queued callback: the function and its one argument.
struct Launch {
    function: Py<PyAny>,
    data: Py<PyAny>,
}

/// ret = launch_callback(fn, user_data_list, block_type, stream): queue fn(user_data_list).
///
/// block_type: 1 holds later work of the stream back until fn has run, 0 does not. What fn
/// raises is reported and dropped.
#[pyfunction]
#[pyo3(signature = (r#fn, user_data_list, block_type, stream, /))]
fn launch_callback(
    py: Python<'_>,
    r#fn: &Bound<'_, PyAny>,
    user_data_list: Py<PyAny>,
    block_type: Int,
    stream: Word,
) -> PyResult<i32> {
    check_callable(r#fn)?;
    let launch = Box::new(Launch {
        function: r#fn.clone().unbind(),
        data: user_data_list,
    });
    let data = address_of(Box::into_raw(launch));
    // Without the GIL: the library may run the callback before it returns, in another thread.
    let ret = py.detach(move || {
        // SAFETY: `run` takes what `data` is; the library calls it at most once.
        unsafe { (c_api().aclrtLaunchCallback)(Some(run), at(data), block_type.0, at(stream.0)) }
    });
    if ret != 0 {
        // SAFETY: a refused callback is never run, so the box is still ours.
        drop(unsafe { Box::from_raw(at::<Launch>(data)) });
    }
    Ok(ret)
}

/// Runs one queued callback.
unsafe extern "C" fn run(user_data: *mut c_void) {
    // SAFETY: made by `launch_callback` for exactly one run.
    let launch = unsafe { Box::from_raw(user_data.cast::<Launch>()) };
    let mut launch = Some(launch);
    with_python(|py| {
        if let Some(Launch { function, data }) = launch.take().map(|launch| *launch) {
            let answer =
                PyTuple::new(py, [data]).and_then(|arguments| call(py, &function, &arguments));
            reported(py, &function, answer);
        }
    });
    // The interpreter is gone, and with it the right to touch its objects.
    std::mem::forget(launch);
}
