//! aclrtMallocConfig: attributes of the WithCfg calls.

use cannery_abi as abi;

use crate::error::{Error, Fault, Result};
use crate::settings::Profile;

/// Module of an application that names none.
pub(crate) const APP_MODULE: u8 = 33;
/// Modules from here on are counted as the application.
const MODULE_END: u16 = 64;

/// One attribute: its type, and the bytes of its value as the two numbers they can mean.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// aclrtMallocAttrType.
    pub kind: i32,
    /// The value as a 16-bit number.
    pub short: u16,
    /// The value as a 32-bit number.
    pub word: u32,
}

/// What the attributes came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wishes {
    pub(crate) module: u8,
    /// Device that the caller names.
    pub(crate) device: Option<u32>,
    pub(crate) same_address: bool,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            module: APP_MODULE,
            device: None,
            same_address: false,
        }
    }
}

/// The array is missing although a configuration was passed.
#[must_use]
pub fn missing_attributes() -> Error {
    Fault::RtNull {
        param: "cfg->attrs",
    }
    .into()
}

fn take_module(wishes: &mut Wishes, attribute: &Attribute) {
    // Modules past the last one fall back to the application.
    wishes.module = if attribute.short < MODULE_END {
        attribute.short as u8
    } else {
        APP_MODULE
    };
}

fn not_legal(attribute: &Attribute, legal: &str) -> Error {
    Error::rt_value("cfg->attrs[].attr", attribute.kind, legal)
}

/// Attributes of device memory. The last of equal ones wins.
pub(crate) fn for_device(attributes: &[Attribute]) -> Result<Wishes> {
    let mut wishes = Wishes::default();
    for attribute in attributes {
        match attribute.kind {
            abi::ACL_RT_MEM_ATTR_MODULE_ID => take_module(&mut wishes, attribute),
            abi::ACL_RT_MEM_ATTR_DEVICE_ID => wishes.device = Some(attribute.word),
            _ => {
                let legal = "1 (module id) or 2 (device id) for device memory";
                return Err(not_legal(attribute, legal));
            }
        }
    }
    Ok(wishes)
}

/// Attributes of host memory. The last of equal ones wins.
pub(crate) fn for_host(profile: &Profile, attributes: &[Attribute]) -> Result<Wishes> {
    let mut wishes = Wishes::default();
    for attribute in attributes {
        match attribute.kind {
            abi::ACL_RT_MEM_ATTR_MODULE_ID => take_module(&mut wishes, attribute),
            abi::ACL_RT_MEM_ATTR_VA_FLAG => match attribute.word {
                0 => wishes.same_address = false,
                1 => wishes.same_address = true,
                other => {
                    return Err(Error::rt_value(
                        "cfg->attrs[].value.vaFlag",
                        other,
                        "0 or 1",
                    ));
                }
            },
            _ => {
                let legal = "1 (module id) or 3 (VA flag) for host memory";
                return Err(not_legal(attribute, legal));
            }
        }
    }
    if wishes.same_address && !profile.same_address_flag {
        return Err(Error::unsupported(format!(
            "profile {} has no memory with one address on host and device (VA flag); A3 and 910B have",
            profile.name
        )));
    }
    Ok(wishes)
}
