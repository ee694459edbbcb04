//! Notifies: one-shot signals between streams, also of other processes.

use std::ffi::c_void;

use pyo3::prelude::*;

use crate::c_api::{Memory, at, c_api};
use crate::calls::calls;
use crate::convert::{Bits32, Text, Word};
use crate::outputs::text_in;
use crate::rt::memory_ipc::key_buffer;
use crate::structured::{Handles, PidsOrTypeError};

calls! {
    also [notify_batch_reset, notify_get_export_key, notify_set_import_pid];

    /// notify, ret = create_notify(flag): flag is 0.
    fn create_notify(flag: Word) -> (notify: Memory) = aclrtCreateNotify(&raw mut notify, flag as u64);

    /// ret = destroy_notify(notify)
    fn destroy_notify(notify: Word) -> code = aclrtDestroyNotify(at(notify));

    /// ret = record_notify(notify, stream): queued.
    fn record_notify(notify: Word, stream: Word) -> code = aclrtRecordNotify(at(notify), at(stream));

    /// ret = wait_and_reset_notify(notify, stream, timeout): queued; 0 is for ever.
    fn wait_and_reset_notify(notify: Word, stream: Word, timeout: Bits32) -> code = aclrtWaitAndResetNotify(
        at(notify),
        at(stream),
        timeout,
    );

    /// notify_id, ret = get_notify_id(notify)
    fn get_notify_id(notify: Word) -> (notify_id: u32) = aclrtGetNotifyId(at(notify), &raw mut notify_id);

    /// notify, ret = notify_import_by_key(key, flags): flag 2 also enables peer access.
    fn notify_import_by_key(key: Text, flags: Word) -> (notify: Memory) = aclrtNotifyImportByKey(
        &raw mut notify,
        key.as_ptr(),
        flags as u64,
    );
}

/// ret = notify_batch_reset(notifies): a list of handles.
#[pyfunction]
#[pyo3(signature = (notifies, /))]
fn notify_batch_reset(notifies: Handles) -> i32 {
    let mut handles: Vec<*mut c_void> = notifies.0.into_iter().map(at).collect();
    // SAFETY: an array of as many handles as it says; the library judges each.
    unsafe { (c_api().aclrtNotifyBatchReset)(handles.as_mut_ptr(), handles.len()) }
}

/// key, ret = notify_get_export_key(notify, len, flags): len is at least 65; flag 2 checks no process ids.
#[pyfunction]
#[pyo3(signature = (notify, len, flags, /))]
fn notify_get_export_key(notify: Word, len: Word, flags: Word) -> PyResult<(String, i32)> {
    let mut key = key_buffer(len)?;
    // SAFETY: the output has at least `len` bytes.
    let ret = unsafe {
        (c_api().aclrtNotifyGetExportKey)(
            at(notify.0),
            key.as_mut_ptr().cast(),
            len.0,
            flags.0 as u64,
        )
    };
    Ok((text_in(&key), ret))
}

/// ret = notify_set_import_pid(notify, pid): the list of processes that may import.
#[pyfunction]
#[pyo3(signature = (notify, pid, /))]
fn notify_set_import_pid(notify: Word, pid: PidsOrTypeError) -> i32 {
    let PidsOrTypeError(mut pids) = pid;
    // SAFETY: an array of as many ids as it says.
    unsafe { (c_api().aclrtNotifySetImportPid)(at(notify.0), pids.as_mut_ptr(), pids.len()) }
}
