//! Peer access between devices (manual chapter: device management).

use cannery_abi as abi;

use crate::error::{Error, Result};
use crate::memory::locate::EVERY_DEVICE;
use crate::process::{Runtime, current, here};

fn check_product(runtime: &Runtime) -> Result<()> {
    if !runtime.settings.profile.peer_access {
        return Err(Error::unsupported(format!(
            "profile {} has no peer access; 910B, A3, 950, 910 and 310P have it",
            runtime.settings.profile.name
        )));
    }
    if runtime.is_rc() {
        return Err(Error::unsupported(
            "there is no peer access where host and device are one (CANNERY_MODE=rc)",
        ));
    }
    Ok(())
}

fn same_device(param: &'static str, id: i32) -> Error {
    Error::cause(param, id, "must differ from the device itself")
}

/// aclrtDeviceCanAccessPeer: emulated devices are always linked.
///
/// # Errors
/// 100000 for equal ids (tested before everything else) and without `out`; 107001 for ids that do
/// not exist; 207000 where the product has no peer access.
pub fn can_access(out: Option<&mut i32>, id: i32, peer: i32) -> Result<()> {
    if id == peer {
        return Err(same_device("peerDeviceId", peer));
    }
    let Some(out) = out else {
        return Err(Error::null("canAccessPeer"));
    };
    let runtime = current()?;
    runtime.device_index("deviceId", id)?;
    runtime.device_index("peerDeviceId", peer)?;
    check_product(runtime)?;
    *out = 1;
    Ok(())
}

/// aclrtDeviceEnablePeerAccess: from the current device to `peer`, one direction. Again: no effect.
///
/// # Errors
/// 100000 for flags other than 0 and for the current device itself; 107002 without a context;
/// 107001 for an id that does not exist; 207000 where the product has no peer access.
pub fn enable(peer: i32, flags: u32) -> Result<()> {
    if flags != 0 {
        return Err(Error::cause("flags", flags, "reserved, must be 0"));
    }
    if crate::process::bound_device().is_some_and(|index| index as i32 == peer) {
        return Err(same_device("peerDeviceId", peer));
    }
    let here = here()?;
    let index = here.runtime.device_index("peerDeviceId", peer)?;
    check_product(here.runtime)?;
    here.device().set_access(index, true);
    Ok(())
}

/// aclrtDeviceDisablePeerAccess.
///
/// # Errors
/// As [`enable`]; 107000 when access was not enabled.
pub fn disable(peer: i32) -> Result<()> {
    if crate::process::bound_device().is_some_and(|index| index as i32 == peer) {
        return Err(same_device("peerDeviceId", peer));
    }
    let here = here()?;
    let device = here.device();
    let index = here.runtime.device_index("peerDeviceId", peer)?;
    check_product(here.runtime)?;
    if device.set_access(index, false) {
        return Ok(());
    }
    Err(Error::sequence(
        abi::ACL_ERROR_RT_PARAM_INVALID,
        format!(
            "access from device {} to device {peer} was not enabled",
            device.index()
        ),
    ))
}

/// aclrtDevicePeerAccessStatus: whether access from `id` to `peer` is enabled.
///
/// # Errors
/// 107000 for ids that do not exist; 207000 where the product has no peer access.
pub fn is_enabled(id: i32, peer: i32) -> Result<bool> {
    let runtime = current()?;
    let count = runtime.devices.len();
    let known = |param, id: i32| {
        usize::try_from(id)
            .ok()
            .filter(|index| *index < count)
            .ok_or_else(|| Error::rt_value(param, id, format!("a device id in [0, {count})")))
    };
    let (id, peer) = (known("deviceId", id)?, known("peerDeviceId", peer)?);
    check_product(runtime)?;
    Ok(runtime.devices[id].may_access(peer))
}

/// Who makes a copy, which decides in which directions access must be enabled.
#[derive(Clone, Copy)]
pub(crate) enum Maker {
    /// This device, at once: it must have access to the other one.
    Device(usize),
    /// A stream, later: both must have access.
    Queue,
}

impl Runtime {
    /// Whether a copy between two devices is allowed.
    pub(crate) fn check_peer_copy(&self, from: usize, to: usize, maker: Maker) -> Result<()> {
        let profile = self.settings.profile;
        let every = from == EVERY_DEVICE || to == EVERY_DEVICE;
        if from == to || every || !profile.peer_access_needed {
            return Ok(());
        }
        let needed = |a: usize, b: usize| match maker {
            Maker::Device(device) if device == a || device == b => device == a,
            Maker::Device(_) | Maker::Queue => true,
        };
        let missing = [(to, from), (from, to)]
            .into_iter()
            .find(|(a, b)| needed(*a, *b) && !self.devices[*a].may_access(*b));
        let Some((a, b)) = missing else {
            return Ok(());
        };
        Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "src",
            format!(
                "a copy from device {from} to device {to} needs peer access, and {a} -> {b} is not \
                 enabled; with device {a} current call aclrtDeviceEnablePeerAccess({b}, 0)"
            ),
        ))
    }
}
