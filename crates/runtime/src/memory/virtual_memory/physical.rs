//! Physical memory behind handles: aclrtMallocPhysical, aclrtFreePhysical,
//! aclrtMemGetAllocationPropertiesFromHandle, aclrtMemRetainAllocationHandle.

use std::io;

use cannery_abi as abi;
use cannery_observe::{Family, PageKind};

use super::properties::{Home, Property, check_product};
use super::reservation::refuse_on_soc;
use super::state::Physical;
use crate::error::{Error, Fault, Result};
use crate::memory::malloc::shortage;
use crate::memory::store::{Refusal, Request, Store};
use crate::os::file_limits;
use crate::process::{Runtime, current, here};

/// No handle is larger: far beyond any device.
const LARGEST: u64 = 1 << 46;

/// aclrtMallocPhysical: memory without an address, `size` bytes rounded up to the granularity. Contents
/// are not initialised (they read as zero here). Needs a context only for memory of a NUMA node.
///
/// # Errors
/// 100000 for NULL, 0 bytes, flags that are not 0, and properties that do not exist; 107001 for a device
/// that does not exist; 107002 without a context (NUMA nodes); 207000 for pages that the product
/// lacks; 207001 when the device has not so much left. `out` stays untouched then.
pub fn malloc_physical(
    out: Option<&mut u64>,
    size: u64,
    property: Option<&Property>,
    flags: u64,
) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("handle"));
    };
    if size == 0 {
        return Err(Error::zero("size"));
    }
    let Some(property) = property else {
        return Err(Error::null("prop"));
    };
    if flags != 0 {
        return Err(Error::value("flags", flags, "must be 0"));
    }
    property.check()?;
    let decoded = property.decode()?;
    let runtime = current()?;
    refuse_on_soc(runtime)?;
    let home = property.home(runtime)?;
    if matches!(home, Home::Numa(_)) {
        here()?;
    }
    check_product(runtime.settings.profile, &decoded)?;
    let unit = decoded.pages.bytes();
    let bytes = size
        .checked_next_multiple_of(unit)
        .filter(|bytes| *bytes <= LARGEST);
    let bytes = match home {
        Home::Device(device) => charge(runtime, device, decoded.pages, size, bytes)?,
        Home::Host | Home::Numa(_) => bytes.ok_or_else(|| too_large(size))?,
    };
    let mut state = runtime.virtual_memory.state();
    let backing = match state.files.take(bytes) {
        Ok(backing) => backing,
        Err(error) => {
            drop(state);
            if let Home::Device(device) = home
                && let Some(store) = runtime.devices[device].store()
            {
                store.release_pool(decoded.pages, bytes);
            }
            return Err(no_file(bytes, &error));
        }
    };
    *out = state.insert(Physical {
        home,
        pages: decoded.pages,
        bytes,
        attribute: decoded.attribute,
        backing,
        imported: false,
        key: None,
        references: 1,
        mappings: 0,
    });
    Ok(())
}

/// Charges a device; `bytes` is `None` when no device could hold them. Returns the bytes.
fn charge(
    runtime: &Runtime,
    device: usize,
    pages: PageKind,
    size: u64,
    bytes: Option<u64>,
) -> Result<u64> {
    let store = open(runtime, device)?;
    if let Some(bytes) = bytes
        && store.charge_pool(pages, bytes)
    {
        return Ok(bytes);
    }
    store.count_failure();
    let request = Request {
        pages,
        size,
        requested: size,
        room: size,
        family: Family::Mapping,
        module: crate::memory::config::APP_MODULE,
    };
    Err(shortage(
        device as u32,
        store,
        &request,
        true,
        &Refusal::Memory,
    ))
}

/// The memory of a device, which need not be set for this.
fn open(runtime: &Runtime, device: usize) -> Result<&Store> {
    let device = &runtime.devices[device];
    match device.store() {
        Some(store) => Ok(store),
        None => {
            let _one = device.state();
            device.open(&runtime.window, &runtime.settings)
        }
    }
}

fn too_large(size: u64) -> Error {
    Fault::HostShortage {
        asked: size,
        cause: "no host has so much memory; ask for less".to_owned(),
    }
    .into()
}

pub(super) fn no_file(bytes: u64, error: &io::Error) -> Error {
    let remedy = file_limits::remedy(error).unwrap_or_else(|| {
        "raise the limits of open files and of file sizes (ulimit -n, ulimit -f)".to_owned()
    });
    Fault::HostShortage {
        asked: bytes,
        cause: format!("the system gave no memory file: {error}; {remedy}"),
    }
    .into()
}

/// aclrtFreePhysical: one reference less. With the last one the handle is gone; memory that is mapped lives
/// until it is unmapped.
///
/// # Errors
/// 100000 for NULL; 107000 for anything that is not a handle, freed ones included.
pub fn free_physical(handle: u64) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("handle"));
    }
    let runtime = current()?;
    refuse_on_soc(runtime)?;
    let mut state = runtime.virtual_memory.state();
    state.held(handle)?.references -= 1;
    state.drop_unused(runtime, handle);
    Ok(())
}

/// aclrtMemGetAllocationPropertiesFromHandle: what the memory is, which is not always what was asked for:
/// attributes name the kind of memory.
///
/// # Errors
/// 100000 for NULL; 107000 for anything that is not a handle.
pub fn properties_of(handle: u64, out: Option<&mut abi::aclrtPhysicalMemProp>) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("handle"));
    }
    let Some(out) = out else {
        return Err(Error::null("prop"));
    };
    let runtime = current()?;
    refuse_on_soc(runtime)?;
    let mut state = runtime.virtual_memory.state();
    let physical = state.held(handle)?;
    let (kind, id) = match physical.home {
        Home::Device(device) => (abi::ACL_MEM_LOCATION_TYPE_DEVICE, device as u32),
        Home::Host => (abi::ACL_MEM_LOCATION_TYPE_HOST, 0),
        Home::Numa(node) => (abi::ACL_MEM_LOCATION_TYPE_HOST_NUMA, node),
    };
    *out = abi::aclrtPhysicalMemProp {
        handleType: abi::ACL_MEM_HANDLE_TYPE_NONE,
        allocationType: abi::ACL_MEM_ALLOCATION_TYPE_PINNED,
        memAttr: physical.attribute,
        location: abi::aclrtMemLocation { id, r#type: kind },
        reserve: 0,
    };
    Ok(())
}

/// aclrtMemRetainAllocationHandle: the handle behind a mapped address (its first byte), with one reference
/// more; it has to be freed once more for it.
///
/// # Errors
/// 100000 for NULL; 107000 for an address that is not the first byte of a mapping.
pub fn retain(address: u64, out: Option<&mut u64>) -> Result<()> {
    if address == 0 {
        return Err(Error::null("virPtr"));
    }
    let Some(out) = out else {
        return Err(Error::null("handle"));
    };
    let runtime = current()?;
    refuse_on_soc(runtime)?;
    let mut state = runtime.virtual_memory.state();
    let handle = super::mapping::mapped_at(runtime, &state, "virPtr", address)?.handle;
    if let Some(physical) = state.handles.get_mut(&handle) {
        physical.references += 1;
        *out = handle;
    }
    Ok(())
}
