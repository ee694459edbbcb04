//! Manual chapter: device management. What kind of link two devices have, which atomic operations work over
//! it, and which operator code a device takes. Answers without a source are refused.

use crate::error::{Error, Result};
use crate::process::{Runtime, current};
use crate::settings::profile;

fn check(runtime: &Runtime, param: &'static str, id: i64) -> Result<()> {
    let id = i32::try_from(id).unwrap_or(i32::MAX);
    runtime.device_index(param, id).map(|_| ())
}

/// aclrtGetDevicesTopo: no source states how emulated devices would be linked.
///
/// # Errors
/// 100000 without a place; 107001; 207000 for every pair of devices.
pub fn topology(id: u32, other: u32, has_place: bool) -> Result<()> {
    if !has_place {
        return Err(Error::null("value"));
    }
    let runtime = current()?;
    check(runtime, "deviceId", id.into())?;
    check(runtime, "otherDeviceId", other.into())?;
    Err(Error::unsupported(
        "emulated devices share the memory of this machine; no source states which link of a real one that \
         would be",
    ))
}

/// aclrtDeviceGetHostAtomicCapabilities and aclrtDeviceGetP2PAtomicCapabilities: no source states them.
///
/// # Errors
/// 100000 without places or operations, and for none; 107001; 207000.
pub fn atomics(
    has_places: bool,
    has_operations: bool,
    count: u32,
    devices: &[(&'static str, i32)],
) -> Result<()> {
    if !has_places {
        return Err(Error::null("capabilities"));
    }
    if !has_operations {
        return Err(Error::null("operations"));
    }
    if count == 0 {
        return Err(Error::zero("count"));
    }
    let runtime = current()?;
    for (param, id) in devices {
        check(runtime, param, i64::from(*id))?;
    }
    Err(Error::unsupported(
        "no source states which atomic operations the hardware has",
    ))
}

/// aclrtCheckArchCompatibility: whether the chip of this name has the architecture of the running one.
///
/// # Errors
/// 100000 for NULL; 207000 for a name whose architecture is not known, and where the product lacks it.
pub fn runs_code_of(name: Option<&str>, has_place: bool) -> Result<bool> {
    let Some(name) = name else {
        return Err(Error::null("socVersion"));
    };
    if !has_place {
        return Err(Error::null("canCompatible"));
    }
    let runtime = current()?;
    match profile::of_chip(name) {
        Some(other) => Ok(other.npu_arch == runtime.settings.profile.npu_arch),
        None => Err(Error::unsupported(format!(
            "no source states the architecture of \"{name}\"; the chips that are known: {}",
            profile::chips()
        ))),
    }
}
