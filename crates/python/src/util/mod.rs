//! The module `acl.util`: what Python programs need beside the C functions.
//!
//! It has exactly seven functions: programs look with `dir()` which helpers there are.

mod bytes;
mod numpy;
mod readable;
mod thread;

use pyo3::prelude::*;

/// Adds the seven functions to `module`.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(bytes::bytes_to_ptr, module)?)?;
    module.add_function(wrap_pyfunction!(bytes::ptr_to_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(numpy::numpy_to_ptr, module)?)?;
    module.add_function(wrap_pyfunction!(numpy::numpy_contiguous_to_ptr, module)?)?;
    module.add_function(wrap_pyfunction!(numpy::ptr_to_numpy, module)?)?;
    module.add_function(wrap_pyfunction!(thread::start_thread, module)?)?;
    module.add_function(wrap_pyfunction!(thread::stop_thread, module)?)?;
    Ok(())
}
