//! Between `bytes` and addresses.

use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::readable::check_readable;
use crate::c_api::{address_of, at};
use crate::convert::Word;

/// From this many bytes on, a copy lets other Python threads run.
const LARGE: usize = 64 * 1024;

/// ptr = bytes_to_ptr(data): the address of the bytes themselves; nothing is copied.
///
/// No reference is kept: data must live as long as the address is used. Programs may copy into
/// it, but not into objects of 0 or 1 bytes, which the interpreter shares.
#[pyfunction]
#[pyo3(signature = (data, /))]
pub(crate) fn bytes_to_ptr(data: &Bound<'_, PyAny>) -> PyResult<usize> {
    let Ok(bytes) = data.cast::<PyBytes>() else {
        return Err(PyValueError::new_err(format!(
            "bytes are needed, not '{}'",
            data.get_type().name()?
        )));
    };
    // SAFETY: a live `bytes` object; the answer is its payload.
    Ok(address_of(unsafe { ffi::PyBytes_AsString(bytes.as_ptr()) }))
}

/// bytes_out = ptr_to_bytes(ptr, size): a copy of size bytes of readable memory.
///
/// What the host cannot read (null, device memory, released memory) is a ValueError.
#[pyfunction]
#[pyo3(signature = (ptr, size, /))]
pub(crate) fn ptr_to_bytes(py: Python<'_>, ptr: Word, size: Word) -> PyResult<Bound<'_, PyBytes>> {
    let (Word(source), Word(size)) = (ptr, size);
    let Ok(length) = ffi::Py_ssize_t::try_from(size) else {
        return Err(PyValueError::new_err(format!("no object has {size} bytes")));
    };
    check_readable(source, size)?;
    // SAFETY: a null source asks for a new object of `length` bytes with any content.
    let bytes = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), length))?
    };
    // SAFETY: a live `bytes` object; the answer is its payload of `size` bytes.
    let payload = address_of(unsafe { ffi::PyBytes_AsString(bytes.as_ptr()) });
    // Copying nothing from null would be undefined; so it is left out.
    let copy = move || {
        if size > 0 {
            // SAFETY: the program vouches for `size` readable bytes; the new object has as many,
            // nobody else knows it yet, so the two do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(at::<u8>(source), at::<u8>(payload), size) }
        }
    };
    if size >= LARGE {
        py.detach(copy);
    } else {
        copy();
    }
    Ok(bytes.cast_into::<PyBytes>()?)
}
