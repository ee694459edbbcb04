//! Streams: ordered queues of work. Handle 0 is the default stream of the current context.

use cannery_abi::{
    ACL_STREAM_ATTR_FAILURE_MODE, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK,
    ACL_STREAM_ATTR_USER_CUSTOM_TAG, aclrtStreamAttrValue,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::c_api::{Memory, at, c_api};
use crate::calls::calls;
use crate::convert::{Bits32, Int, Word};
use crate::structured::number;

calls! {
    also [set_stream_attribute, get_stream_attribute];

    /// stream, ret = create_stream(): a stream of the current context.
    fn create_stream() -> (stream: Memory) = aclrtCreateStream(&raw mut stream);

    /// stream, ret = create_stream_with_config(priority, flag): priority 0 (most urgent) to 7.
    fn create_stream_with_config(priority: Int, flag: Int) -> (stream: Memory) = aclrtCreateStreamWithConfig(
        &raw mut stream,
        priority as u32,
        flag as u32,
    );

    /// ret = destroy_stream(stream): waits for its work.
    fn destroy_stream(stream: Word) -> wait = aclrtDestroyStream(at(stream));

    /// ret = destroy_stream_force(stream): drops its work.
    fn destroy_stream_force(stream: Word) -> wait = aclrtDestroyStreamForce(at(stream));

    /// ret = set_stream_overflow_switch(stream, flag): 0 off, 1 on; for later work.
    fn set_stream_overflow_switch(stream: Word, flag: Bits32) -> code = aclrtSetStreamOverflowSwitch(at(stream), flag);

    /// flag, ret = get_stream_overflow_switch(stream)
    fn get_stream_overflow_switch(stream: Word) -> (flag: u32) = aclrtGetStreamOverflowSwitch(
        at(stream),
        &raw mut flag,
    );

    /// ret = set_stream_failure_mode(stream, mode): 0 goes on after a failed task, 1 stops.
    fn set_stream_failure_mode(stream: Word, mode: Bits32) -> code = aclrtSetStreamFailureMode(
        at(stream),
        u64::from(mode),
    );

    /// status, ret = stream_query(stream): 0 complete, 1 not ready.
    fn stream_query(stream: Word) -> (status: i32) = aclrtStreamQuery(at(stream), &raw mut status);

    /// ret = synchronize_stream(stream): wait for its work; other threads run meanwhile.
    fn synchronize_stream(stream: Word) -> wait = aclrtSynchronizeStream(at(stream));

    /// ret = synchronize_stream_with_timeout(stream, timeout): milliseconds, -1 for ever; 507046 when it expires.
    fn synchronize_stream_with_timeout(stream: Word, timeout: Int) -> wait = aclrtSynchronizeStreamWithTimeout(
        at(stream),
        timeout,
    );

    /// ret = stream_abort(stream): stop running work, drop queued work.
    fn stream_abort(stream: Word) -> wait = aclrtStreamAbort(at(stream));

    /// stream_id, ret = stream_get_id(stream)
    fn stream_get_id(stream: Word) -> (stream_id: i32) = aclrtStreamGetId(at(stream), &raw mut stream_id);

    /// stream_count, ret = get_stream_available_num(): how many more can be created.
    fn get_stream_available_num() -> (stream_count: u32) = aclrtGetStreamAvailableNum(&raw mut stream_count);

    /// value, ret = get_stream_res_limit(stream, type): cores; 0 cube, 1 vector.
    fn get_stream_res_limit(stream: Word, r#type: Int) -> (value: u32) = aclrtGetStreamResLimit(
        at(stream),
        r#type,
        &raw mut value,
    );

    /// ret = set_stream_res_limit(stream, type, value)
    fn set_stream_res_limit(stream: Word, r#type: Int, value: Bits32) -> code = aclrtSetStreamResLimit(
        at(stream),
        r#type,
        value,
    );

    /// ret = reset_stream_res_limit(stream)
    fn reset_stream_res_limit(stream: Word) -> code = aclrtResetStreamResLimit(at(stream));

    /// ret = use_stream_res_in_current_thread(stream): make its limits count.
    fn use_stream_res_in_current_thread(stream: Word) -> code = aclrtUseStreamResInCurrentThread(at(stream));

    /// ret = unuse_stream_res_in_current_thread(stream)
    fn unuse_stream_res_in_current_thread(stream: Word) -> code = aclrtUnuseStreamResInCurrentThread(at(stream));

    /// value, ret = get_res_in_current_thread(type): the limit in force; 0 cube, 1 vector.
    fn get_res_in_current_thread(r#type: Int) -> (value: u32) = aclrtGetResInCurrentThread(r#type, &raw mut value);
}

/// ret = set_stream_attribute(stream, stm_attr_type, value): value holds the key of the type:
/// failureMode (1), overflowSwitch (2), userCustomTag (3), else reserved (a list).
#[pyfunction]
#[pyo3(signature = (stream, stm_attr_type, value, /))]
fn set_stream_attribute(
    stream: Word,
    stm_attr_type: Int,
    value: &Bound<'_, PyDict>,
) -> PyResult<i32> {
    let mut raw = aclrtStreamAttrValue { reserve: [0; 4] };
    match stm_attr_type.0 {
        ACL_STREAM_ATTR_FAILURE_MODE => {
            raw.failureMode = number(value, "failureMode", Word(0))?.0 as u64
        }
        ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK => {
            raw.overflowSwitch = number(value, "overflowSwitch", Bits32(0))?.0;
        }
        ACL_STREAM_ATTR_USER_CUSTOM_TAG => {
            raw.userCustomTag = number(value, "userCustomTag", Bits32(0))?.0
        }
        _ => raw.reserve = reserved(value)?,
    }
    // SAFETY: a value of the union's size; the library judges handle and type.
    Ok(unsafe { (c_api().aclrtSetStreamAttribute)(at(stream.0), stm_attr_type.0, &raw mut raw) })
}

/// The numbers under `reserved`; what is missing is 0, what is too much is ignored.
fn reserved(value: &Bound<'_, PyDict>) -> PyResult<[u32; 4]> {
    let mut numbers = [0; 4];
    if let Some(given) = value.get_item("reserved")? {
        for (number, item) in numbers.iter_mut().zip(given.cast_into::<PyList>()?) {
            *number = item.extract::<Bits32>()?.0;
        }
    }
    Ok(numbers)
}

/// value, ret = get_stream_attribute(stream, stm_attr_type): a dictionary with the setter's key.
#[pyfunction]
#[pyo3(signature = (stream, stm_attr_type, /))]
fn get_stream_attribute(
    py: Python<'_>,
    stream: Word,
    stm_attr_type: Int,
) -> PyResult<(Bound<'_, PyDict>, i32)> {
    let mut raw = aclrtStreamAttrValue { reserve: [0; 4] };
    // SAFETY: a valid output of the union's size.
    let ret =
        unsafe { (c_api().aclrtGetStreamAttribute)(at(stream.0), stm_attr_type.0, &raw mut raw) };
    let dict = PyDict::new(py);
    // SAFETY: all 16 bytes are initialised, and every member is a plain number.
    let (failure_mode, switch, tag, reserve) = unsafe {
        (
            raw.failureMode,
            raw.overflowSwitch,
            raw.userCustomTag,
            raw.reserve,
        )
    };
    match stm_attr_type.0 {
        ACL_STREAM_ATTR_FAILURE_MODE => dict.set_item("failureMode", failure_mode)?,
        ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK => dict.set_item("overflowSwitch", switch)?,
        ACL_STREAM_ATTR_USER_CUSTOM_TAG => dict.set_item("userCustomTag", tag)?,
        _ => dict.set_item("reserved", reserve)?,
    }
    Ok((dict, ret))
}
