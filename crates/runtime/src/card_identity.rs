//! How one card is told from another (unique id, place on the bus), and which features it has (manual
//! chapter: device management).

use cannery_abi as abi;

use crate::error::{Error, Result};
use crate::process::{Runtime, current};

/// Bytes of a place on the bus with the byte that ends it.
const BUS_ID: usize = 13;

/// Domain of the emulated cards. No bridge of a real machine has it, so that a program that looks a
/// card up in the system's own tables finds nothing rather than the facts of another device.
const DOMAIN: u32 = 0xca00;

fn physical(runtime: &Runtime, id: i32) -> Result<u32> {
    let index = runtime.device_index("deviceId", id)?;
    Ok(runtime.devices[index].physical())
}

/// aclrtDeviceGetUuid: of the machine and the physical device, so that every process of the machine
/// sees the same, and two machines do not.
///
/// # Errors
/// 107001 for an id that does not exist, 207000 where the product lacks it.
pub fn uuid(id: i32) -> Result<[u8; 16]> {
    let physical = physical(current()?, id)?;
    let machine = crate::os::host::machine_id();
    // FNV-1a of 128 bits: spreads, and needs nothing.
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let bytes = b"cannery".iter().chain(machine.as_bytes());
    for byte in bytes.chain(&physical.to_le_bytes()) {
        hash = (hash ^ u128::from(*byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
    }
    let mut uuid = hash.to_be_bytes();
    // Version 8 (made by a rule of one's own), variant of RFC 9562.
    uuid[6] = uuid[6] & 0x0f | 0x80;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    Ok(uuid)
}

fn bus_id_of(physical: u32) -> String {
    format!("{DOMAIN:04x}:{:02x}:00.0", physical + 1)
}

/// aclrtDeviceGetPCIBusId: domain:bus:device.function, ended by a zero byte.
///
/// # Errors
/// 100000 without `out` and for less than 13 bytes; 107001 for an id that does not exist; 207000 where
/// the product lacks it.
pub fn bus_id(id: i32, out: Option<&mut [u8]>, len: i32) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("pciBusId"));
    };
    if out.len() < BUS_ID {
        return Err(Error::value("len", len, "must be at least 13"));
    }
    let text = bus_id_of(physical(current()?, id)?);
    out[..BUS_ID - 1].copy_from_slice(text.as_bytes());
    out[BUS_ID - 1] = 0;
    Ok(())
}

/// aclrtDeviceGetByPCIBusId.
///
/// # Errors
/// 100000 without an id and for a text that no device has; 207000 where the product lacks it.
pub fn by_bus_id(text: Option<&str>) -> Result<i32> {
    let Some(text) = text else {
        return Err(Error::null("pciBusId"));
    };
    let runtime = current()?;
    let found = runtime
        .devices
        .iter()
        .position(|device| bus_id_of(device.physical()).eq_ignore_ascii_case(text));
    found.map(|index| index as i32).ok_or_else(|| {
        let there: Vec<String> = runtime
            .devices
            .iter()
            .map(|device| bus_id_of(device.physical()))
            .collect();
        Error::rt_value_code(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "pciBusId",
            format!("{text:?}"),
            format!(
                "the place of a device that this process sees: {}",
                there.join(", ")
            ),
        )
    })
}

/// aclrtGetDeviceCapability: 1 or 0. No task of an AI Core is updated and no queue reports events of
/// another device here.
///
/// # Errors
/// 100000 for an unknown feature, 107001 for an id that does not exist.
pub fn feature(id: i32, kind: i32) -> Result<i32> {
    match kind {
        abi::ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV
        | abi::ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV => {
            current()?.device_index("deviceId", id)?;
            Ok(0)
        }
        _ => Err(Error::value("devFeatureType", kind, "must be 1 or 21")),
    }
}
