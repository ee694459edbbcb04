//! Errors: the last code of a thread, and facts on failed tasks.

use cannery_abi::{aclrtExceptionInfo, aclrtExceptionInfoCallback};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::c_api::{address_of, at, c_api};
use crate::callables::{Slot, call, check_callable, reported, with_python};
use crate::calls::calls;
use crate::convert::{Int, Word};

calls! {
    also [
        set_exception_info_callback,
        get_error_code_from_exception_info, get_task_id_from_exception_info, get_stream_id_from_exception_info,
        get_thread_id_from_exception_info, get_device_id_from_exception_info,
    ];

    /// task_id, ret = get_thread_last_task_id(): the last task of this thread.
    fn get_thread_last_task_id() -> (task_id: u32) = aclrtGetThreadLastTaskId(&raw mut task_id);

    /// ret = peek_at_last_error(level): the last failure of this thread; it stays.
    fn peek_at_last_error(level: Int) -> code = aclrtPeekAtLastError(level);

    /// ret = get_last_error(level): the last failure of this thread; reading clears it.
    fn get_last_error(level: Int) -> code = aclrtGetLastError(level);
}

/// What a getter answers when there is no such information.
const NO_INFORMATION: u32 = u32::MAX;

/// A fact about a failed task; the pointer is good only inside the callback that got it.
fn fact(info: Word, getter: unsafe extern "C" fn(*const aclrtExceptionInfo) -> u32) -> u32 {
    if info.0 == 0 {
        return NO_INFORMATION;
    }
    // SAFETY: not null; the program passes on what its callback got.
    unsafe { getter(at(info.0)) }
}

macro_rules! facts {
    ($($(#[$doc:meta])* fn $name:ident = $getter:ident;)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (info, /))]
            fn $name(info: Word) -> u32 {
                fact(info, c_api().$getter)
            }
        )*
    };
}

facts! {
    /// ret = get_error_code_from_exception_info(info): its code; 0xFFFFFFFF is a device fault, or no information.
    fn get_error_code_from_exception_info = aclrtGetErrorCodeFromExceptionInfo;
    /// task_id = get_task_id_from_exception_info(info)
    fn get_task_id_from_exception_info = aclrtGetTaskIdFromExceptionInfo;
    /// stream_id = get_stream_id_from_exception_info(info)
    fn get_stream_id_from_exception_info = aclrtGetStreamIdFromExceptionInfo;
    /// thread_id = get_thread_id_from_exception_info(info)
    fn get_thread_id_from_exception_info = aclrtGetThreadIdFromExceptionInfo;
    /// device_id = get_device_id_from_exception_info(info)
    fn get_device_id_from_exception_info = aclrtGetDeviceIdFromExceptionInfo;
}

/// The program's function for failed tasks.
static ON_EXCEPTION: Slot = Slot::new();

/// ret = set_exception_info_callback(fn): call fn(info) when a task fails; None clears it.
///
/// One per process, the last one wins. fn runs in a thread of the runtime.
#[pyfunction]
#[pyo3(signature = (r#fn = None, /))]
fn set_exception_info_callback(py: Python<'_>, r#fn: Option<Bound<'_, PyAny>>) -> PyResult<i32> {
    let mut trampoline: aclrtExceptionInfoCallback = None;
    if let Some(callable) = &r#fn {
        check_callable(callable)?;
        trampoline = Some(on_exception);
    }
    // Without the GIL: the library may wait for a callback that runs now.
    // SAFETY: null or a function of the documented type that lives as long as the process.
    let ret = py.detach(|| unsafe { (c_api().aclrtSetExceptionInfoCallback)(trampoline) });
    if ret == 0 {
        ON_EXCEPTION.set(r#fn.map(Bound::unbind));
    }
    Ok(ret)
}

/// Calls the program's function.
unsafe extern "C" fn on_exception(info: *mut aclrtExceptionInfo) {
    with_python(|py| {
        if let Some(callable) = ON_EXCEPTION.get(py) {
            let arguments = PyTuple::new(py, [address_of(info)]);
            let answer = arguments.and_then(|arguments| call(py, &callable, &arguments));
            reported(py, &callable, answer);
        }
    });
}
