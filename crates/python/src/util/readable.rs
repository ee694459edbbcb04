//! Whether this process may read at an address.

use cannery_abi::{ACL_HOST, ACL_MEM_LOCATION_TYPE_DEVICE};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::c_api::c_api;
use crate::rt::memory_device::attributes_of;

/// Refuses null, and device memory that the host cannot reach, for a non-empty range. Any other
/// address is the program's word, as in C.
pub(crate) fn check_readable(address: usize, size: usize) -> PyResult<()> {
    if size == 0 {
        return Ok(());
    }
    if address == 0 {
        return Err(PyValueError::new_err(
            "the address is 0, so there is nothing to read",
        ));
    }
    let (attributes, ret) = attributes_of(address);
    if ret == 0 && attributes.location.r#type == ACL_MEM_LOCATION_TYPE_DEVICE && runs_on_the_host()
    {
        return Err(PyValueError::new_err(format!(
            "{address:#x} is memory of device {}, which the host cannot read; copy it to host memory first: \
             acl.rt.malloc_host(size), then acl.rt.memcpy(host_ptr, size, dev_ptr, size, 2)",
            attributes.location.id
        )));
    }
    Ok(())
}

fn runs_on_the_host() -> bool {
    let mut mode = 0_i32;
    // SAFETY: a valid output.
    let ret = unsafe { (c_api().aclrtGetRunMode)(&raw mut mode) };
    ret == 0 && mode == ACL_HOST
}
