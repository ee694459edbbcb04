//! What can be done here, asked as features (manual chapters: other functions, device management).

use cannery_abi as abi;

use crate::error::{Error, Result};
use crate::process::current;

/// Features that exist. Both modes of overflow can be set and read back; copies that reduce and random
/// numbers know bfloat16. Operators are not compiled.
pub static SUPPORTED: [i32; 2] = [abi::ACL_CANN_ATTR_INF_NAN, abi::ACL_CANN_ATTR_BF16];

/// aclGetCannAttribute: 1 or 0.
///
/// # Errors
/// 100000 for an unknown feature.
pub fn attribute(attribute: i32) -> Result<i32> {
    current()?;
    match attribute {
        abi::ACL_CANN_ATTR_INF_NAN | abi::ACL_CANN_ATTR_BF16 | abi::ACL_CANN_ATTR_JIT_COMPILE => {
            Ok(i32::from(SUPPORTED.contains(&attribute)))
        }
        _ => Err(Error::value("cannAttr", attribute, "must be 0, 1 or 2")),
    }
}

/// aclGetCannAttributeList.
///
/// # Errors
/// Bad settings.
pub fn attributes() -> Result<&'static [i32]> {
    current()?;
    Ok(&SUPPORTED)
}

/// aclrtGetDeviceCapability: 1 or 0. No task of an AI Core is updated and no queue reports events of
/// another device here.
///
/// # Errors
/// 100000 for an unknown feature, 107001 for an id that does not exist.
pub fn of_device(id: i32, feature: i32) -> Result<i32> {
    match feature {
        abi::ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV
        | abi::ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV => {
            current()?.device_index("deviceId", id)?;
            Ok(0)
        }
        _ => Err(Error::value("devFeatureType", feature, "must be 1 or 21")),
    }
}
