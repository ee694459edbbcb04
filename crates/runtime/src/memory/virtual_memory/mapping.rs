//! aclrtMapMem, aclrtMemMapNoAccess, aclrtUnmapMem, aclrtMemMapSelectedLink, aclrtMemMapSetLink.

use std::io;

use cannery_abi as abi;
use cannery_observe::Family;

use super::reservation::refuse_on_soc;
use super::state::{Bound, Mapping, State};
use crate::error::{Error, Fault, Result, show_bytes};
use crate::memory::areas::Piece;
use crate::memory::locate;
use crate::os::map as pages;
use crate::process::{Runtime, current};

/// aclrtMapMem: puts the memory of a handle at an address inside a reservation; the device whose memory it is
/// (and the host, for host memory) may touch it.
///
/// # Errors
/// 100000 for NULL, 0 bytes and flags that are not 0; 107000 for a size that is not that of the handle, an
/// offset that is not 0, an unaligned address, a range that is not reserved or already mapped in
/// part, a reservation that holds memory of another device or imported memory beside own one.
/// Nothing is mapped then.
pub fn map(address: u64, size: u64, offset: u64, handle: u64, flags: u64) -> Result<()> {
    map_with(address, size, offset, handle, flags, true)
}

/// aclrtMemMapNoAccess: as [`map`], but nobody may touch it before aclrtMemSetAccess.
///
/// # Errors
/// As [`map`].
pub fn map_no_access(address: u64, size: u64, offset: u64, handle: u64, flags: u64) -> Result<()> {
    map_with(address, size, offset, handle, flags, false)
}

fn map_with(
    address: u64,
    size: u64,
    offset: u64,
    handle: u64,
    flags: u64,
    access: bool,
) -> Result<()> {
    if address == 0 {
        return Err(Error::null("virPtr"));
    }
    if handle == 0 {
        return Err(Error::null("handle"));
    }
    if size == 0 {
        return Err(Error::zero("size"));
    }
    if flags != 0 {
        return Err(Error::value("flags", flags, "must be 0"));
    }
    let runtime = current()?;
    refuse_on_soc(runtime)?;
    if offset != 0 {
        return Err(Error::rt_value("offset", offset, "0"));
    }
    let mut state = runtime.virtual_memory.state();
    state.held(handle)?;
    put_into(runtime, &mut state, address, size, handle, access)
}

/// Maps the whole of a handle.
fn put_into(
    runtime: &Runtime,
    state: &mut State,
    address: u64,
    size: u64,
    handle: u64,
    access: bool,
) -> Result<()> {
    let Some(physical) = state.handles.get(&handle) else {
        return Err(Error::address(
            "handle",
            handle,
            "not a handle of physical memory",
        ));
    };
    if size != physical.bytes {
        return Err(Error::rt_cause(
            "size",
            size,
            format!(
                "must be the size of the physical memory, {} bytes (what aclrtMallocPhysical was asked for, \
                 rounded up to its granularity)",
                physical.bytes
            ),
        ));
    }
    let unit = physical.pages.bytes();
    if !address.is_multiple_of(unit) {
        return Err(Error::address(
            "virPtr",
            address,
            format!(
                "must be a multiple of the granularity, {} ({unit:#x})",
                show_bytes(unit)
            ),
        ));
    }
    let bound = Bound {
        device: physical.home.device(),
        imported: physical.imported,
    };
    let (host, devices) = match physical.home.device() {
        Some(device) => (false, 1u16 << device),
        None => (true, 0),
    };
    let family = Family::Mapping;
    let piece = Piece {
        start: address,
        size,
        requested: size,
        family,
        device: bound.device,
        pages: physical.pages,
        access,
        live: true,
        owner: handle,
    };
    if let Some(taken) = state
        .mapped_between(address, address.saturating_add(size))
        .first()
    {
        return Err(Error::address(
            "virPtr",
            address,
            format!(
                "memory is mapped there already, at {taken:#x}; unmap it first (aclrtUnmapMem)"
            ),
        ));
    }
    let Some(reservation) = state.reservation_of(address, size) else {
        return Err(Error::address(
            "virPtr",
            address,
            match runtime.areas.area_of(address) {
                Some((start, bytes)) => format!(
                    "the range of {size} bytes is not inside the reservation of {bytes} bytes at {start:#x}"
                ),
                None => {
                    "not in a reserved range; reserve one with aclrtReserveMemAddress".to_owned()
                }
            },
        ));
    };
    if let Some(first) = reservation.bound
        && first != bound
    {
        return Err(Error::address(
            "virPtr",
            address,
            if first.device == bound.device {
                "the reservation holds own and imported memory already, or would: use one reservation for each"
            } else {
                "the reservation holds memory of another device; use one reservation for each device"
            },
        ));
    }
    reservation.bound = Some(bound);
    reservation.mappings += 1;
    let host = host && access;
    let Some(id) = place_pages(runtime, state, address, size, handle, host)
        .map_err(|error| no_mapping(size, &error))
        .map(|()| runtime.areas.put(&piece))
        .inspect_err(|_| forget(state, address, size))?
    else {
        let _ = clear_pages(runtime, address, size, host);
        forget(state, address, size);
        return Err(no_mapping(size, &io::ErrorKind::OutOfMemory.into()));
    };
    if let Some(physical) = state.handles.get_mut(&handle) {
        physical.mappings += 1;
    }
    state.mappings.insert(
        address,
        Mapping {
            bytes: size,
            handle,
            piece: id,
            devices: if access { devices } else { 0 },
            host,
        },
    );
    Ok(())
}

/// One mapping less in a reservation.
fn forget(state: &mut State, address: u64, size: u64) {
    if let Some(reservation) = state.reservation_of(address, size) {
        reservation.mappings -= 1;
        if reservation.mappings == 0 {
            reservation.bound = None;
        }
    }
}

fn no_mapping(size: u64, error: &io::Error) -> Error {
    Fault::HostShortage {
        asked: size,
        cause: format!(
            "the system made no mapping: {error}; raise vm.max_map_count, or map fewer and larger handles"
        ),
    }
    .into()
}

/// Puts the bytes of a handle where the runtime touches the range, and where the host does.
fn place_pages(
    runtime: &Runtime,
    state: &State,
    address: u64,
    size: u64,
    handle: u64,
    host: bool,
) -> io::Result<()> {
    let Some(physical) = state.handles.get(&handle) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let (file, offset) = state.files.place(&physical.backing);
    let alias = address.wrapping_add(runtime.window.distance());
    pages::map_shared(file, offset, alias, size)?;
    if host && alias != address {
        pages::map_shared(file, offset, address, size).inspect_err(|_| {
            let _ = pages::map_anonymous(alias, size);
        })?;
    }
    Ok(())
}

/// Lets the host touch a mapping, or no longer.
pub(super) fn show_to_host(
    runtime: &Runtime,
    state: &State,
    address: u64,
    mapping: &Mapping,
    host: bool,
) -> io::Result<()> {
    if runtime.window.distance() == 0 {
        return Ok(());
    }
    if !host {
        pages::reserve_again(address, mapping.bytes);
        return Ok(());
    }
    match state.handles.get(&mapping.handle) {
        Some(physical) => {
            let (file, offset) = state.files.place(&physical.backing);
            pages::map_shared(file, offset, address, mapping.bytes)
        }
        None => Ok(()),
    }
}

/// Makes a range as it was before something was mapped.
fn clear_pages(runtime: &Runtime, address: u64, size: u64, host: bool) -> io::Result<()> {
    let alias = address.wrapping_add(runtime.window.distance());
    if host && alias != address {
        pages::reserve_again(address, size);
    }
    // Fresh memory instead of none: work that is still queued for these addresses meets no fault.
    pages::map_anonymous(alias, size)
}

/// The mapping that begins at an address.
pub(super) fn mapped_at<'a>(
    runtime: &Runtime,
    state: &'a State,
    param: &'static str,
    address: u64,
) -> Result<&'a Mapping> {
    state.mappings.get(&address).ok_or_else(|| {
        let cause = match state.mappings.range(..=address).next_back() {
            Some((start, found)) if address - start < found.bytes => {
                format!("inside the mapping at {start:#x}; pass its first byte")
            }
            _ if state
                .reservations
                .range(..=address)
                .next_back()
                .is_some_and(|(start, found)| address - start < found.bytes) =>
            {
                "reserved, but nothing is mapped there; map memory with aclrtMapMem first"
                    .to_owned()
            }
            _ => locate::unknown_text(runtime, address),
        };
        Error::address(param, address, cause)
    })
}

/// aclrtUnmapMem: takes a mapping away by its first byte. Waits for nothing: what is still queued for these
/// addresses finds other memory. Memory whose handle was freed is given back.
///
/// # Errors
/// 100000 for NULL; 107000 for anything that is not the first byte of a mapping.
pub fn unmap(address: u64) -> Result<()> {
    if address == 0 {
        return Err(Error::null("virPtr"));
    }
    let runtime = current()?;
    refuse_on_soc(runtime)?;
    let mut state = runtime.virtual_memory.state();
    mapped_at(runtime, &state, "virPtr", address)?;
    take_away(runtime, &mut state, address);
    Ok(())
}

/// Takes a mapping away that exists.
pub(super) fn take_away(runtime: &Runtime, state: &mut State, address: u64) {
    let Some(mapping) = state.mappings.remove(&address) else {
        return;
    };
    runtime.areas.take(mapping.piece);
    // Fails only for want of kernel memory; then the old bytes stay where they are, out of reach.
    let _ = clear_pages(runtime, address, mapping.bytes, mapping.host);
    forget(state, address, mapping.bytes);
    if let Some(physical) = state.handles.get_mut(&mapping.handle) {
        physical.mappings -= 1;
    }
    state.drop_unused(runtime, mapping.handle);
}

/// aclrtMemMapSelectedLink: maps what is mapped from `source` on once more at `target`, the first byte of a
/// reservation of the same length. The link (0 or 1) is how a card would reach it; here all are one.
///
/// # Errors
/// 100000 for NULL, 0 bytes and an unknown link; 107000 when `target` is not a reservation of `size` bytes
/// without mappings, or `source` is not `size` bytes of mappings without gaps. Nothing is mapped then.
pub fn map_selected_link(target: u64, size: u64, source: u64, link: u32) -> Result<()> {
    if target == 0 {
        return Err(Error::null("virPtrDst"));
    }
    if size == 0 {
        return Err(bad("size", size, "must be greater than 0"));
    }
    if source == 0 {
        return Err(Error::null("virPtrSrc"));
    }
    if link > abi::ACL_RT_MEM_LINK_IDX_1 {
        return Err(bad(
            "linkIdx",
            u64::from(link),
            "must be 0 (SIO) or 1 (HCCS)",
        ));
    }
    let runtime = current()?;
    let mut state = runtime.virtual_memory.state();
    match state.reservations.get(&target) {
        Some(found) if found.bytes == size && found.mappings == 0 => {}
        Some(found) => {
            return Err(Error::address(
                "virPtrDst",
                target,
                format!(
                    "the reservation has {} bytes and {} mapping(s); it must have {size} bytes and none",
                    found.bytes, found.mappings
                ),
            ));
        }
        None => {
            return Err(Error::address(
                "virPtrDst",
                target,
                "not the first byte of a reserved range",
            ));
        }
    }
    let mut parts = Vec::new();
    let mut reached = source;
    while reached - source < size {
        let mapping = mapped_at(runtime, &state, "virPtrSrc", reached)?;
        parts.push((reached - source, mapping.bytes, mapping.handle));
        reached += mapping.bytes;
    }
    if reached - source != size {
        return Err(Error::rt_value(
            "size",
            size,
            format!(
                "the bytes of whole mappings from virPtrSrc on, {}",
                reached - source
            ),
        ));
    }
    for (done, (offset, bytes, handle)) in parts.iter().enumerate() {
        if let Err(error) = put_into(runtime, &mut state, target + offset, *bytes, *handle, true) {
            for (offset, _, _) in &parts[..done] {
                take_away(runtime, &mut state, target + offset);
            }
            return Err(error);
        }
    }
    Ok(())
}

fn bad(param: &'static str, value: u64, cause: &str) -> Error {
    Fault::Bad {
        param,
        value: value.to_string(),
        cause: cause.to_owned(),
    }
    .into()
}

/// aclrtMemMapSetLink: how an imported handle is reached: 0 SIO, 1 HCCS, 2 and 3 UB. Links are one here; the
/// call checks what it is given.
///
/// # Errors
/// 100000 for NULL; 107000 for what is no handle, or none that was imported, or is mapped; 207021 for a
/// link that the product lacks.
pub fn set_link(handle: u64, link: i32) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("handle"));
    }
    let runtime = current()?;
    let links: std::ops::RangeInclusive<i32> = match runtime.settings.profile.name {
        "A3" => 0..=1,
        "950" => 2..=3,
        name => {
            return Err(Error::unsupported(format!(
                "profile {name} has no links to choose from; A3 (0, 1) and 950 (2, 3) have"
            )));
        }
    };
    let mut state = runtime.virtual_memory.state();
    let physical = state.held(handle)?;
    if !physical.imported {
        return Err(Error::address(
            "handle",
            handle,
            "made by this process; links are chosen for handles of aclrtMemImportFromShareableHandle",
        ));
    }
    if physical.mappings > 0 {
        return Err(Error::address(
            "handle",
            handle,
            "mapped already; choose the link before",
        ));
    }
    if !links.contains(&link) {
        return Err(Error::rt_value_code(
            abi::ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED,
            "adviceLink",
            link,
            format!(
                "{} or {} on profile {}",
                links.start(),
                links.end(),
                runtime.settings.profile.name
            ),
        ));
    }
    Ok(())
}
