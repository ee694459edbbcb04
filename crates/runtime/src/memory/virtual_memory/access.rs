//! aclrtMemSetAccess, aclrtMemGetAccess. The fronts of these check nothing: everything is 107000.

use cannery_abi as abi;

use super::mapping::{mapped_at, show_to_host};
use crate::error::{Error, Fault, Result};
use crate::process::{Runtime, current};

/// Rights for one location.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // the fields of aclrtMemAccessDesc
pub struct Grant {
    pub flags: i32,
    pub location_type: i32,
    pub location_id: u32,
}

/// A location that can have rights.
enum Who {
    Host,
    Device(usize),
}

fn who(runtime: &Runtime, param: &'static str, kind: i32, id: u32) -> Result<Who> {
    match kind {
        abi::ACL_MEM_LOCATION_TYPE_HOST => Ok(Who::Host),
        abi::ACL_MEM_LOCATION_TYPE_DEVICE => {
            let id = i32::try_from(id).unwrap_or(-1);
            Ok(Who::Device(runtime.device_index(param, id)?))
        }
        _ => Err(Error::rt_value(
            param,
            kind,
            "a location of type HOST (0) or DEVICE (1)",
        )),
    }
}

/// aclrtMemSetAccess: lets the locations read and write a mapping, `size` bytes from its first byte on. Rights
/// are added; every location may be named again.
///
/// # Errors
/// 107000 for NULL, no locations, an address that is not the first byte of a mapping, a size that is not
/// that of the mapping, other rights than read and write, and other locations than host and device; 107001
/// for a device that does not exist. Nothing changes then.
pub fn set_access(address: u64, size: u64, grants: &[Grant]) -> Result<()> {
    if address == 0 {
        return Err(Fault::RtNull { param: "virPtr" }.into());
    }
    if grants.is_empty() {
        return Err(Error::rt_value(
            "count",
            0,
            "a number of descriptions above 0",
        ));
    }
    let runtime = current()?;
    let (mut host, mut devices) = (false, 0u16);
    for grant in grants {
        if grant.flags != abi::ACL_RT_MEM_ACCESS_FLAGS_READWRITE {
            return Err(Error::rt_value(
                "desc->flags",
                grant.flags,
                "ACL_RT_MEM_ACCESS_FLAGS_READWRITE (3), the only rights there are",
            ));
        }
        match who(
            runtime,
            "desc->location",
            grant.location_type,
            grant.location_id,
        )? {
            Who::Host => host = true,
            Who::Device(device) => devices |= 1 << device,
        }
    }
    let mut guard = runtime.virtual_memory.state();
    let state = &mut *guard;
    let mapping = mapped_at(runtime, state, "virPtr", address)?;
    if size != mapping.bytes {
        return Err(Error::rt_value(
            "size",
            size,
            format!("the size of the mapping, {}", mapping.bytes),
        ));
    }
    if host && !mapping.host {
        show_to_host(runtime, state, address, mapping, true).map_err(|error| {
            Error::from(Fault::HostShortage {
                asked: size,
                cause: format!("the system made no mapping: {error}; raise vm.max_map_count"),
            })
        })?;
    }
    if let Some(mapping) = state.mappings.get_mut(&address) {
        mapping.host |= host;
        mapping.devices |= devices;
        runtime.areas.set_access(mapping.piece, true);
    }
    Ok(())
}

/// aclrtMemGetAccess: the rights of one location: 0 or 3.
///
/// # Errors
/// 107000 for NULL, an address that is not the first byte of a mapping, and other locations than host and
/// device; 107001 for a device that does not exist.
pub fn get_access(address: u64, location: Option<(i32, u32)>, out: Option<&mut u64>) -> Result<()> {
    if address == 0 {
        return Err(Fault::RtNull { param: "virPtr" }.into());
    }
    let Some((kind, id)) = location else {
        return Err(Fault::RtNull { param: "location" }.into());
    };
    let Some(out) = out else {
        return Err(Fault::RtNull { param: "flag" }.into());
    };
    let runtime = current()?;
    let who = who(runtime, "location", kind, id)?;
    let state = runtime.virtual_memory.state();
    let mapping = mapped_at(runtime, &state, "virPtr", address)?;
    let has = match who {
        Who::Host => mapping.host,
        Who::Device(device) => mapping.devices >> device & 1 == 1,
    };
    *out = if has {
        abi::ACL_RT_MEM_ACCESS_FLAGS_READWRITE as u64
    } else {
        abi::ACL_RT_MEM_ACCESS_FLAGS_NONE as u64
    };
    Ok(())
}
