//! Manual chapter: managed memory. aclrtMemP2PMap.

use super::locate::{self, EVERY_DEVICE};
use crate::error::{Error, Result};
use crate::process::here;

/// aclrtMemP2PMap: builds the page tables of device `user` for memory of another device ahead. They need no
/// building here, so nothing is left to do when the arguments are right.
///
/// # Errors
/// 100000 for NULL, size 0 and flags; 107002 without a context; 107001 for a device that does not exist;
/// 107000 for a range that is not inside device memory, and while peer access between the two is off.
pub fn map(address: u64, size: u64, user: i32, flags: u64) -> Result<()> {
    if address == 0 {
        return Err(Error::null("devPtr"));
    }
    if size == 0 {
        return Err(Error::zero("size"));
    }
    if flags != 0 {
        return Err(Error::cause("flags", flags, "reserved, must be 0"));
    }
    let runtime = here()?.runtime;
    let user = runtime.device_index("dstDevId", user)?;
    let spot = locate::range(runtime, "devPtr", address, size)?;
    let Some(owner) = spot.device else {
        return Err(Error::address(
            "devPtr",
            address,
            "host memory; memory of a device is needed",
        ));
    };
    // Managed memory is reached from everywhere.
    if owner == user || owner == EVERY_DEVICE || runtime.devices[user].may_access(owner) {
        return Ok(());
    }
    let profile = runtime.settings.profile;
    if !profile.peer_access_needed {
        return Ok(());
    }
    Err(Error::rt_value(
        "dstDevId",
        user,
        format!(
            "a device that may access device {owner}; with device {user} current, call \
             aclrtDeviceEnablePeerAccess({owner}, 0) first"
        ),
    ))
}
