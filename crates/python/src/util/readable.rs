//! Whether this process may read at an address.

use cannery_abi::{ACL_HOST, ACL_MEM_LOCATION_TYPE_DEVICE, ACL_MEM_LOCATION_TYPE_UNREGISTERED};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::c_api::{at, c_api};
use crate::rt::memory_device::attributes_of;

/// Refuses a non-empty range that this process cannot read: null, device memory that the host
/// cannot reach, and addresses where nothing is (any more). A hole inside the range is not seen.
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
    let known = (ret == 0).then_some(attributes.location.r#type);
    match known {
        Some(ACL_MEM_LOCATION_TYPE_DEVICE) if runs_on_the_host() => {
            Err(PyValueError::new_err(format!(
                "{address:#x} is memory of device {}, which the host cannot read; copy it to host memory first: \
             acl.rt.malloc_host(size), then acl.rt.memcpy(host_ptr, size, dev_ptr, size, 2)",
                attributes.location.id
            )))
        }
        // The runtime answers for what it has given out.
        Some(kind) if kind != ACL_MEM_LOCATION_TYPE_UNREGISTERED => Ok(()),
        _ if ends_exist(address, size) => Ok(()),
        _ => Err(PyValueError::new_err(format!(
            "{size} bytes from {address:#x} on are no memory of this process: released, or never allocated"
        ))),
    }
}

/// Whether the first and the last byte can be read. Asks the kernel, which answers with an error
/// where a load would end the process; where it may not be asked, the program's word counts.
fn ends_exist(address: usize, size: usize) -> bool {
    let Some(last) = address.checked_add(size - 1) else {
        return false;
    };
    let mut bytes = [0_u8; 2];
    let byte_at = |address| libc::iovec {
        iov_base: at(address),
        iov_len: 1,
    };
    let local = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    let remote = [byte_at(address), byte_at(last)];
    // SAFETY: writes only into `bytes`; a bad remote address is an answer, not a fault.
    let copied = unsafe {
        libc::process_vm_readv(libc::getpid(), &raw const local, 1, remote.as_ptr(), 2, 0)
    };
    match copied {
        2 => true,
        -1 => std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT),
        _ => false,
    }
}

fn runs_on_the_host() -> bool {
    let mut mode = 0_i32;
    // SAFETY: a valid output.
    let ret = unsafe { (c_api().aclrtGetRunMode)(&raw mut mode) };
    ret == 0 && mode == ACL_HOST
}
