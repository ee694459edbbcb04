//! aclrtMemFlush and aclrtMemInvalidate: the memory is coherent, so they validate and do nothing
//! else, as documented.

use super::locate;
use crate::error::{Error, Result};
use crate::process::here;

/// Checks a range of device memory.
///
/// # Errors
/// 100000 for NULL and size 0; 107002 without a context; 107000 for what is not inside one device
/// block.
pub fn maintain(address: u64, size: u64) -> Result<()> {
    if address == 0 {
        return Err(Error::null("devPtr"));
    }
    if size == 0 {
        return Err(Error::zero("size"));
    }
    let here = here()?;
    let spot = locate::range(here.runtime, "devPtr", address, size)?;
    // In RC mode pinned host memory is device memory.
    let one_memory = here.runtime.is_rc() && locate::block(here.runtime, address).is_some();
    if spot.device.is_none() && !one_memory {
        return Err(Error::address(
            "devPtr",
            address,
            "host memory; flush and invalidate are for device memory",
        ));
    }
    Ok(())
}
