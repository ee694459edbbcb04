//! What is this memory, and how much is left: aclrtGetMemInfo, aclrtGetMemUsageInfo,
//! aclrtCheckMemType, aclrtPointerGetAttributes, aclrtMemGetAddressRange.

use cannery_abi as abi;
use cannery_observe::{Family, PageKind};

use super::config::APP_MODULE;
use super::locate;
use crate::error::{Error, Fault, Result};
use crate::process::{Runtime, current, current_of, here};
use crate::settings::MemoryKind;
use crate::settings::profile::products_of;

const GIB: u64 = 1 << 30;

/// Which figures of aclrtGetMemInfo are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pool {
    All,
    Huge,
    Normal,
    Giant,
}

/// Memory kind (`None`: the library chooses), pool, and whether peer access is needed.
fn decode(attribute: i32) -> Option<(Option<MemoryKind>, Pool, bool)> {
    use MemoryKind::{Ddr, Hbm};
    Some(match attribute {
        abi::ACL_DDR_MEM => (Some(Ddr), Pool::All, false),
        abi::ACL_HBM_MEM => (Some(Hbm), Pool::All, false),
        abi::ACL_DDR_MEM_HUGE => (Some(Ddr), Pool::Huge, false),
        abi::ACL_DDR_MEM_NORMAL => (Some(Ddr), Pool::Normal, false),
        abi::ACL_HBM_MEM_HUGE => (Some(Hbm), Pool::Huge, false),
        abi::ACL_HBM_MEM_NORMAL => (Some(Hbm), Pool::Normal, false),
        abi::ACL_DDR_MEM_P2P_HUGE => (Some(Ddr), Pool::Huge, true),
        abi::ACL_DDR_MEM_P2P_NORMAL => (Some(Ddr), Pool::Normal, true),
        abi::ACL_HBM_MEM_P2P_HUGE => (Some(Hbm), Pool::Huge, true),
        abi::ACL_HBM_MEM_P2P_NORMAL => (Some(Hbm), Pool::Normal, true),
        abi::ACL_HBM_MEM_HUGE1G => (Some(Hbm), Pool::Giant, false),
        abi::ACL_HBM_MEM_P2P_HUGE1G => (Some(Hbm), Pool::Giant, true),
        abi::ACL_MEM_NORMAL => (None, Pool::Normal, false),
        abi::ACL_MEM_HUGE => (None, Pool::Huge, false),
        abi::ACL_MEM_HUGE1G => (None, Pool::Giant, false),
        abi::ACL_MEM_P2P_NORMAL => (None, Pool::Normal, true),
        abi::ACL_MEM_P2P_HUGE => (None, Pool::Huge, true),
        abi::ACL_MEM_P2P_HUGE1G => (None, Pool::Giant, true),
        _ => return None,
    })
}

/// aclrtGetMemInfo: free and total bytes of the current device. Exact: two queries with nothing
/// between them are equal.
///
/// # Errors
/// 100000 without a place; 107016 for an unknown attribute (before the context); 107002 without a
/// context; 207000 for a page kind that the product lacks, and where the capacity is not known.
pub fn mem_info(attribute: i32, free: Option<&mut usize>, total: Option<&mut usize>) -> Result<()> {
    let Some(free) = free else {
        return Err(Error::null("free"));
    };
    let Some(total) = total else {
        return Err(Error::null("total"));
    };
    let Some((kind, pool, peer)) = decode(attribute) else {
        return Err(Error::rt_value_code(
            abi::ACL_ERROR_RT_INVALID_MEMORY_TYPE,
            "memInfoType",
            attribute,
            "a value of aclrtMemAttr, in [0, 17]",
        ));
    };
    let here = here()?;
    let profile = here.runtime.settings.profile;
    if pool == Pool::Giant && !profile.giant_pages {
        return Err(Error::unsupported(format!(
            "profile {} has no 1 GiB pages; 910B, A3 and 950 have",
            profile.name
        )));
    }
    if !here.runtime.window.memory().known {
        return Err(Error::unsupported(format!(
            "the capacity of profile {} is not known; set CANNERY_HBM_BYTES to give the device one",
            profile.name
        )));
    }
    // Questions for HBM are answered as DDR where there is none; a kind that is missing is 0 of 0.
    let missing_kind = kind == Some(MemoryKind::Ddr) && profile.memory != MemoryKind::Ddr;
    if missing_kind || (peer && !profile.peer_access) {
        (*free, *total) = (0, 0);
        return Ok(());
    }
    let usage = here.store()?.usage();
    let (left, all) = match pool {
        Pool::Normal => (usage.normal_free, usage.normal_total),
        Pool::Huge => (usage.huge_free, usage.huge_total),
        Pool::All => (
            usage.normal_free + usage.huge_free + usage.giant_free,
            usage.normal_total + usage.huge_total + usage.giant_total,
        ),
        Pool::Giant => (
            usage.giant_free + usage.huge_free / GIB * GIB,
            usage.giant_total + usage.huge_total / GIB * GIB,
        ),
    };
    // A process with a quota sees a card of that size.
    let (left, all) = match usage.quota {
        Some((quota, quota_left)) => (left.min(quota_left), all.min(quota)),
        None => (left, all),
    };
    (*free, *total) = (left as usize, all as usize);
    Ok(())
}

/// aclrtGetMemUsageInfo: bytes by component, largest first. The component is the module that an
/// allocation named (APP unless it did), or the media memory.
///
/// # Errors
/// 100000 without a place; 107000 for room for 0 entries (`count` is 0 then); 107001 for a device that
/// does not exist; 207000 where the product lacks it.
pub fn usage_info(
    device: i32,
    out: Option<&mut [abi::aclrtMemUsageInfo]>,
    count: Option<&mut usize>,
) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("memUsageInfo"));
    };
    let Some(count) = count else {
        return Err(Error::null("outputNum"));
    };
    if out.is_empty() {
        *count = 0;
        return Err(Error::rt_value("inputNum", 0, "a number above 0"));
    }
    let runtime = current()?;
    let index = runtime.device_index("deviceId", device)?;
    let Some(store) = runtime.devices[index].store() else {
        *count = 0;
        return Ok(());
    };
    let counters = store.counters();
    let media: i64 = [Family::Dvpp, Family::HiMpi]
        .iter()
        .map(|family| counters.families[*family as usize].bytes)
        .sum();
    let mut rows: Vec<(String, u64, u64)> = Vec::new();
    for (module, bytes) in counters.modules.iter().enumerate() {
        let app = module == usize::from(APP_MODULE);
        // Media memory is counted under the application's module; it is shown on its own.
        let bytes = if app { bytes - media } else { *bytes };
        if bytes > 0 {
            let name = if app {
                "APP".to_owned()
            } else {
                format!("MODULE_{module}")
            };
            let peak = counters.module_peaks[module].max(bytes);
            rows.push((name, bytes.unsigned_abs(), peak.unsigned_abs()));
        }
    }
    if media > 0 {
        rows.push((
            "DVPP".to_owned(),
            media.unsigned_abs(),
            media.unsigned_abs(),
        ));
    }
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    rows.truncate(out.len());
    for (place, (name, bytes, peak)) in out.iter_mut().zip(&rows) {
        *place = abi::aclrtMemUsageInfo {
            name: [0; 32],
            curMemSize: *bytes,
            memPeakSize: *peak,
            reserved: [0; 8],
        };
        for (to, from) in place.name.iter_mut().zip(name.bytes().take(31)) {
            *to = from as core::ffi::c_char;
        }
    }
    *count = rows.len();
    Ok(())
}

/// aclrtCheckMemType: whether every address belongs to one of the device memory types of the mask.
///
/// # Errors
/// 100000 for NULL and a reserved argument that is not 0; 107000 for no addresses and for unknown bits
/// (`out` is 0 then).
pub fn check_type(
    addresses: Option<&[u64]>,
    types: u32,
    out: Option<&mut u32>,
    reserved: u32,
) -> Result<()> {
    const KNOWN: u32 =
        abi::ACL_RT_MEM_TYPE_DEV | abi::ACL_RT_MEM_TYPE_DVPP | abi::ACL_RT_MEM_TYPE_RSVD;
    let Some(addresses) = addresses else {
        return Err(Error::null("addrList"));
    };
    let Some(out) = out else {
        return Err(Error::null("checkResult"));
    };
    if reserved != 0 {
        return Err(Error::cause("reserve", reserved, "reserved, must be 0"));
    }
    *out = 0;
    if addresses.is_empty() {
        return Err(Error::rt_value("size", 0, "a number of addresses above 0"));
    }
    if types == 0 || types & !KNOWN != 0 {
        return Err(Fault::RtUnknown {
            param: "memType",
            value: format!("{types:#x}"),
            cause: "must be a mask of DEV (0x2), DVPP (0x8) and RSVD (0x10)".to_owned(),
        }
        .into());
    }
    let runtime = current()?;
    let ordinary_media = runtime.settings.profile.media_is_ordinary;
    let matches = |address: &u64| {
        let reserved = || runtime.virtual_memory.is_reserved(*address);
        if types & abi::ACL_RT_MEM_TYPE_RSVD != 0 && reserved() {
            return true;
        }
        let Some(block) = locate::block(runtime, *address) else {
            return false;
        };
        let kind = match block.family() {
            family if family.is_host() => return false,
            family if family.is_media() && !ordinary_media => abi::ACL_RT_MEM_TYPE_DVPP,
            _ => abi::ACL_RT_MEM_TYPE_DEV,
        };
        types & kind != 0
    };
    *out = u32::from(addresses.iter().all(matches));
    Ok(())
}

/// aclrtPointerGetAttributes: what an address is. Interior addresses count; anything that is in no
/// live block is "unregistered", with success. Needs no context, takes no lock.
///
/// # Errors
/// 100000 for NULL.
#[inline(always)]
pub fn pointer_attributes(address: u64, out: Option<&mut abi::aclrtPtrAttributes>) -> Result<()> {
    if address == 0 {
        return Err(null("ptr"));
    }
    let Some(out) = out else {
        return Err(null("attributes"));
    };
    let runtime = current_of(const { products_of("aclrtPointerGetAttributes") })?;
    // Ordinary memory first and on its own: the usual answer needs nothing else in registers.
    let (kind, id, page) = match runtime.memory_at(address) {
        Some((device, store)) => match store.find(address) {
            Some((_, found)) => (
                abi::ACL_MEM_LOCATION_TYPE_DEVICE,
                device as u32,
                PageKind::from_number(found.owner.page).bytes() as u32,
            ),
            None => elsewhere(runtime, address),
        },
        None => elsewhere(runtime, address),
    };
    *out = abi::aclrtPtrAttributes {
        location: abi::aclrtMemLocation { id, r#type: kind },
        pageSize: page,
        rsv: [0; 4],
    };
    Ok(())
}

/// Kind, device and bytes of a page of an address that is not ordinary memory of a device.
#[inline(never)]
fn elsewhere(runtime: &Runtime, address: u64) -> (i32, u32, u32) {
    match locate::block(runtime, address) {
        Some(block) => match block.device {
            _ if block.family() == Family::Managed => (
                abi::ACL_MEM_LOCATION_TYPE_MANAGED,
                0,
                PageKind::Huge.bytes() as u32,
            ),
            Some(device) => (
                abi::ACL_MEM_LOCATION_TYPE_DEVICE,
                device as u32,
                PageKind::from_number(block.owner.page).bytes() as u32,
            ),
            None => (abi::ACL_MEM_LOCATION_TYPE_HOST, 0, 4096),
        },
        None if runtime.registered.holds(address) => (abi::ACL_MEM_LOCATION_TYPE_HOST, 0, 4096),
        None => (abi::ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0, 0),
    }
}

#[cold]
fn null(parameter: &'static str) -> Error {
    Error::null(parameter)
}

/// aclrtMemGetAddressRange: first byte and owned bytes of the block that holds an address.
///
/// # Errors
/// 100000 for NULL; 107000 when both places are missing, and for an address in no live block.
#[inline(always)]
pub fn address_range(address: u64, base: Option<&mut u64>, size: Option<&mut usize>) -> Result<()> {
    if address == 0 {
        return Err(null("ptr"));
    }
    if base.is_none() && size.is_none() {
        return Err(nothing_asked());
    }
    let runtime = current_of(const { products_of("aclrtMemGetAddressRange") })?;
    // As in `pointer_attributes`.
    let found = match runtime.memory_at(address) {
        Some((_, store)) => store.find(address).map(|(at, found)| (at, found.size)),
        None => beyond(runtime, address),
    };
    let Some((start, bytes)) = found else {
        return Err(unknown(runtime, address));
    };
    if let Some(base) = base {
        *base = start;
    }
    if let Some(size) = size {
        *size = bytes as usize;
    }
    Ok(())
}

/// First byte and bytes of a block that is not ordinary memory of a device.
#[inline(never)]
fn beyond(runtime: &Runtime, address: u64) -> Option<(u64, u64)> {
    locate::block(runtime, address).map(|block| (block.start, block.size))
}

#[cold]
fn nothing_asked() -> Error {
    Fault::RtTogether {
        params: "pbase and psize",
        cause: "must not both be NULL; pass at least one".to_owned(),
    }
    .into()
}

#[cold]
fn unknown(runtime: &Runtime, address: u64) -> Error {
    Error::address("ptr", address, locate::unknown_text(runtime, address))
}
