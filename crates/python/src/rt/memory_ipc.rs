//! Device memory shared between processes by a key.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::c_api::{Memory, at, c_api};
use crate::calls::calls;
use crate::convert::{Text, Word};
use crate::outputs::text_in;
use crate::structured::Pids;

/// Key lengths from here on are refused.
const KEY_LIMIT: usize = 1024;

calls! {
    also [ipc_mem_get_export_key, ipc_mem_set_import_pid];

    /// dev_ptr, ret = ipc_mem_import_by_key(key, flags): flag 1 also enables peer access.
    fn ipc_mem_import_by_key(key: Text, flags: Word) -> (dev_ptr: Memory) = aclrtIpcMemImportByKey(
        &raw mut dev_ptr,
        key.as_ptr(),
        flags as u64,
    );

    /// ret = ipc_mem_close(key): importers close before the exporter.
    fn ipc_mem_close(key: Text) -> code = aclrtIpcMemClose(key.as_ptr());
}

/// Room for a key of `len` bytes.
pub(crate) fn key_buffer(len: Word) -> PyResult<Vec<u8>> {
    if len.0 >= KEY_LIMIT {
        return Err(PyValueError::new_err(format!(
            "a key has fewer than {KEY_LIMIT} bytes, not {}",
            len.0
        )));
    }
    Ok(vec![0; len.0 + 1])
}

/// key, ret = ipc_mem_get_export_key(dev_ptr, size, len, flags): len is 65; flag 1 checks no process ids.
#[pyfunction]
#[pyo3(signature = (dev_ptr, size, len, flags, /))]
fn ipc_mem_get_export_key(
    dev_ptr: Word,
    size: Word,
    len: Word,
    flags: Word,
) -> PyResult<(String, i32)> {
    let mut key = key_buffer(len)?;
    // SAFETY: the output has more than `len` bytes; the library judges the address.
    let ret = unsafe {
        (c_api().aclrtIpcMemGetExportKey)(
            at(dev_ptr.0),
            size.0,
            key.as_mut_ptr().cast(),
            len.0,
            flags.0 as u64,
        )
    };
    Ok((text_in(&key), ret))
}

/// ret = ipc_mem_set_import_pid(key, pid): the list of processes that may import.
#[pyfunction]
#[pyo3(signature = (key, pid, /))]
fn ipc_mem_set_import_pid(key: Text, pid: Pids) -> i32 {
    let Pids(mut pids) = pid;
    // SAFETY: a terminated key and an array of as many ids as it says.
    unsafe { (c_api().aclrtIpcMemSetImportPid)(key.0.as_ptr(), pids.as_mut_ptr(), pids.len()) }
}
