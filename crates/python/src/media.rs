//! The modules `acl.media` and `acl.himpi`: the memory of the media functions.
//!
//! It is a family of its own: only its own function releases it.

/// `acl.media`, the first media family.
pub(crate) mod v1 {
    use pyo3::prelude::*;

    use crate::c_api::companions::dvpp;
    use crate::c_api::{Memory, at};
    use crate::convert::Word;
    use crate::outputs::Give;

    /// dev_ptr, ret = dvpp_malloc(size): memory for media functions, 128-byte aligned.
    #[pyfunction]
    #[pyo3(signature = (size, /))]
    fn dvpp_malloc(size: Word) -> (usize, i32) {
        let mut dev_ptr: Memory = std::ptr::null_mut();
        // SAFETY: a valid output.
        let ret = unsafe { (dvpp().acldvppMalloc)(&raw mut dev_ptr, size.0) };
        (dev_ptr.give(), ret)
    }

    /// ret = dvpp_free(dev_ptr): release memory of dvpp_malloc.
    #[pyfunction]
    #[pyo3(signature = (dev_ptr, /))]
    fn dvpp_free(dev_ptr: Word) -> i32 {
        // SAFETY: the library judges the address.
        unsafe { (dvpp().acldvppFree)(at(dev_ptr.0)) }
    }

    /// Adds the functions to `module`.
    pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add_function(wrap_pyfunction!(dvpp_malloc, module)?)?;
        module.add_function(wrap_pyfunction!(dvpp_free, module)?)
    }
}

/// `acl.himpi`, the second media family.
pub(crate) mod v2 {
    use pyo3::prelude::*;

    use crate::c_api::companions::dvpp_mpi;
    use crate::c_api::{Memory, at};
    use crate::convert::{Bits32, Word};
    use crate::outputs::Give;

    /// dev_ptr, ret = dvpp_malloc(dev_id, size): memory for media functions.
    #[pyfunction]
    #[pyo3(signature = (dev_id, size, /))]
    fn dvpp_malloc(dev_id: Bits32, size: Word) -> (usize, i32) {
        let mut dev_ptr: Memory = std::ptr::null_mut();
        // SAFETY: a valid output.
        let ret =
            unsafe { (dvpp_mpi().hi_mpi_dvpp_malloc)(dev_id.0, &raw mut dev_ptr, size.0 as u64) };
        (dev_ptr.give(), ret)
    }

    /// ret = dvpp_free(dev_ptr): release memory of dvpp_malloc.
    #[pyfunction]
    #[pyo3(signature = (dev_ptr, /))]
    fn dvpp_free(dev_ptr: Word) -> i32 {
        // SAFETY: the library judges the address.
        unsafe { (dvpp_mpi().hi_mpi_dvpp_free)(at(dev_ptr.0)) }
    }

    /// Adds the functions to `module`.
    pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add_function(wrap_pyfunction!(dvpp_malloc, module)?)?;
        module.add_function(wrap_pyfunction!(dvpp_free, module)?)
    }
}
