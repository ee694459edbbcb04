//! What can be asked of a device without changing it (manual chapter: device management).

use std::ffi::CStr;
use std::sync::OnceLock;

use cannery_abi as abi;

use crate::error::{Error, Result};
use crate::process::{Runtime, current};

/// aclrtGetRunMode: on the host, or in RC mode on the device.
///
/// # Errors
/// Bad settings.
pub fn run_mode() -> Result<i32> {
    Ok(if current()?.is_rc() {
        abi::ACL_DEVICE
    } else {
        abi::ACL_HOST
    })
}

/// As [`run_mode`], with the place for the answer.
///
/// # Errors
/// 100000 without `out`.
pub fn check_run_mode(out: Option<&mut i32>) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("runMode"));
    };
    *out = run_mode()?;
    Ok(())
}

/// aclrtGetSocName: the name of the chip, at one address for the whole process.
///
/// # Errors
/// Bad settings.
pub fn soc_name() -> Result<&'static CStr> {
    static NAMES: OnceLock<Vec<(&'static str, std::ffi::CString)>> = OnceLock::new();
    let soc = current()?.settings.soc.name;
    let names = NAMES.get_or_init(|| {
        let socs = crate::settings::profile::PROFILES
            .iter()
            .flat_map(|profile| profile.socs);
        socs.filter_map(|soc| Some((soc.name, std::ffi::CString::new(soc.name).ok()?)))
            .collect()
    });
    let found = names
        .iter()
        .find(|(name, _)| *name == soc)
        .map(|(_, text)| text.as_c_str());
    found.ok_or_else(|| Error::unsupported("the chip has no name"))
}

/// aclrtGetVersion: the interface version. All three places are needed.
///
/// # Errors
/// 100000 without one of them; none is written then.
pub fn version(out: [Option<&mut i32>; 3]) -> Result<()> {
    let (major, minor, patch) = crate::settings::API_VERSION;
    let [a, b, c] = out;
    let a = a.ok_or_else(|| Error::null("majorVersion"))?;
    let b = b.ok_or_else(|| Error::null("minorVersion"))?;
    let c = c.ok_or_else(|| Error::null("patchVersion"))?;
    (*a, *b, *c) = (major, minor, patch);
    Ok(())
}

/// Physical id of a device as the process numbers it.
///
/// # Errors
/// 107000 for a negative id, 107001 for one that does not exist.
pub fn physical_id(param: &'static str, id: i32) -> Result<i32> {
    if id < 0 {
        return Err(Error::rt_value(param, id, "a device id from 0 up"));
    }
    let runtime = current()?;
    let index = runtime.device_index(param, id)?;
    Ok(runtime.devices[index].physical().cast_signed())
}

/// Id by which the process knows a physical device.
///
/// # Errors
/// 107000 for a negative id, 107001 for one that does not exist or is not visible.
pub fn user_id(param: &'static str, physical: i32) -> Result<i32> {
    if physical < 0 {
        return Err(Error::rt_value(param, physical, "a device id from 0 up"));
    }
    let runtime = current()?;
    let found = runtime
        .devices
        .iter()
        .position(|d| d.physical().cast_signed() == physical);
    found.map(|index| index as i32).ok_or_else(|| {
        Error::rt_value_code(
            abi::ACL_ERROR_RT_INVALID_DEVICEID,
            param,
            physical,
            "a device that this process sees (ASCEND_RT_VISIBLE_DEVICES)",
        )
    })
}

fn unknown(what: &str, runtime: &Runtime) -> Error {
    Error::unsupported(format!(
        "{what} of profile {} is not known; Cannery invents no hardware figures",
        runtime.settings.profile.name
    ))
}

/// aclrtGetDeviceInfo: one numeric attribute, where a source says its value.
///
/// # Errors
/// 107001 for an id that does not exist, 107000 for an unknown attribute, 207000 where the value is
/// not known.
pub fn attribute(id: u32, attribute: i32) -> Result<i64> {
    let runtime = current()?;
    let index = runtime.device_index("deviceId", i32::try_from(id).unwrap_or(i32::MAX))?;
    let profile = runtime.settings.profile;
    let memory = runtime.window.memory();
    match attribute {
        abi::ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE if memory.known => {
            Ok(memory.capacity.cast_signed())
        }
        abi::ACL_DEV_ATTR_L2_CACHE_SIZE => match profile.l2_bytes {
            Some(bytes) => Ok(bytes.cast_signed()),
            None => Err(unknown("the L2 cache size", runtime)),
        },
        abi::ACL_DEV_ATTR_PHY_CHIP_ID => Ok(i64::from(runtime.devices[index].physical())),
        abi::ACL_DEV_ATTR_IS_VIRTUAL => Ok(0),
        abi::ACL_DEV_ATTR_NPU_ARCH => Ok(profile.npu_arch),
        202..=212 if profile.name != "950" => Ok(0),
        1 | 101 | 102 | 201..=212 | 301 | 401..=409 => {
            Err(unknown(&format!("attribute {attribute}"), runtime))
        }
        _ => Err(Error::rt_value(
            "attr",
            attribute,
            "a value of aclrtDevAttr",
        )),
    }
}

/// aclGetDeviceCapability: one hardware size.
///
/// # Errors
/// 107001 for an id that does not exist, 100000 for an unknown question, 207000 where the answer is
/// not known.
pub fn capability(id: u32, question: i32) -> Result<i64> {
    let attribute_id = match question {
        abi::ACL_DEVICE_INFO_AI_CORE_NUM => abi::ACL_DEV_ATTR_AICORE_CORE_NUM,
        abi::ACL_DEVICE_INFO_VECTOR_CORE_NUM => abi::ACL_DEV_ATTR_VECTOR_CORE_NUM,
        abi::ACL_DEVICE_INFO_L2_SIZE => abi::ACL_DEV_ATTR_L2_CACHE_SIZE,
        _ => return Err(Error::value("deviceInfo", question, "must be 0, 1 or 2")),
    };
    attribute(id, attribute_id)
}

/// aclrtDeviceGetStreamPriorityRange: (least, greatest).
#[must_use]
pub fn priority_range() -> (i32, i32) {
    (7, 0)
}

/// aclrtDeviceGetBareTgid: process id for memory sharing.
#[must_use]
pub fn bare_pid() -> i32 {
    crate::os::host::pid()
}

/// aclrtGetDeviceUtilizationRate: nothing computes here, so every figure is "not supported" (-1).
///
/// # Errors
/// 100000 without a place, or with the reserved member set; 107001 for an id that does not exist.
pub fn utilization(id: i32, out: Option<&mut abi::aclrtUtilizationInfo>) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("utilizationInfo"));
    };
    if !out.utilizationExtend.is_null() {
        let error: Error = crate::error::Fault::Param {
            param: "utilizationInfo->utilizationExtend",
            cause: "reserved, must be NULL".to_owned(),
        }
        .into();
        return Err(error);
    }
    current()?.device_index("deviceId", id)?;
    out.cubeUtilization = -1;
    out.vectorUtilization = -1;
    out.aicpuUtilization = -1;
    out.memoryUtilization = -1;
    Ok(())
}
