//! Where an address leads, and what is wrong with it when it leads nowhere.

use cannery_heap::slab::Owner;
use cannery_observe::Family;

use super::areas::Piece;
use super::config::APP_MODULE;
use super::guard;
use super::registered;
use crate::device::Device;
use crate::error::{Error, Result, show_bytes};
use crate::process::{Here, Runtime};

/// First address that a program can have mapped, in practice and by the kernel's default.
const LOWEST: u64 = 1 << 16;
/// End of what user programs can map.
const HIGHEST: u64 = 1 << 47;

/// Stands for the device of managed memory, which is memory of every device, and of the host.
pub(crate) const EVERY_DEVICE: usize = usize::MAX;

/// A range that may be touched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    /// Device it belongs to, or [`EVERY_DEVICE`]; `None`: host memory.
    pub(crate) device: Option<usize>,
    /// Where the runtime touches it.
    pub(crate) at: u64,
}

/// A live block, wherever it is.
pub(crate) struct Block {
    /// `None`: host memory.
    pub(crate) device: Option<usize>,
    /// First byte.
    pub(crate) start: u64,
    /// Bytes that belong to it.
    pub(crate) size: u64,
    /// Bytes that were asked for.
    pub(crate) requested: u64,
    pub(crate) owner: Owner,
}

impl Block {
    #[inline]
    pub(crate) fn family(&self) -> Family {
        Family::from_number(self.owner.family)
    }
}

/// The live block that holds `address`.
#[inline(always)]
pub(crate) fn block(runtime: &Runtime, address: u64) -> Option<Block> {
    if let Some((index, store)) = runtime.memory_at(address) {
        let (start, found) = store.find(address)?;
        return Some(Block {
            device: Some(index),
            start,
            size: found.size,
            requested: found.requested,
            owner: found.owner,
        });
    }
    if let Some(found) = runtime.areas.look(address) {
        return of_piece(found?.1);
    }
    let store = runtime.host.get()?.store();
    let (start, found) = store.find(address)?;
    Some(Block {
        device: None,
        start,
        size: found.size,
        requested: found.requested,
        owner: found.owner,
    })
}

/// A live piece as a block.
#[inline]
fn of_piece(piece: Piece) -> Option<Block> {
    piece.live.then_some(Block {
        device: piece.device,
        start: piece.start,
        size: piece.size,
        requested: piece.requested,
        owner: Owner {
            family: piece.family as u8,
            module: APP_MODULE,
            page: piece.pages as u8,
        },
    })
}

/// As [`range`], in an area. Mappings that touch are one range, if they are of one device.
fn range_in_areas(
    runtime: &Runtime,
    param: &'static str,
    address: u64,
    bytes: u64,
) -> Result<Spot> {
    let mut reached = address;
    let end = address.saturating_add(bytes);
    let mut device = None;
    while let Some((_, piece)) = runtime.areas.find(reached) {
        let fits =
            reached == address || (piece.family == Family::Mapping && piece.device == device);
        if !piece.live || !fits {
            break;
        }
        if !piece.access {
            return Err(Error::address(
                param,
                address,
                format!(
                    "the memory mapped at {:#x} has no access rights; set them with aclrtMemSetAccess",
                    piece.start
                ),
            ));
        }
        device = piece.device;
        reached = piece.start + piece.size;
        if end <= reached {
            let at = address.wrapping_add(runtime.window.distance());
            let managed = piece.family == Family::Managed;
            if managed || piece.family == Family::Mapping {
                // Pages of files come in also when they are only read, and those of host memory are
                // nobody else's either.
                guard::touch(at, bytes)?;
            }
            let device = if managed { Some(EVERY_DEVICE) } else { device };
            return Ok(Spot { device, at });
        }
        if piece.family != Family::Mapping {
            break;
        }
    }
    if reached > address && block(runtime, address).is_some_and(|b| b.family() == Family::Mapping) {
        return Err(Error::address(
            param,
            address,
            format!(
                "the range of {bytes} bytes ends {} bytes beyond what is mapped: nothing of the same device is \
                 mapped at {reached:#x}",
                end - reached
            ),
        ));
    }
    Err(bad_range(runtime, param, address, bytes))
}

/// Checks that `bytes` bytes from `address` on may be touched: inside one device block, or host
/// memory. Host memory of the program is taken at its word, like a pointer in any C call; numbers
/// that cannot be host addresses are refused.
#[inline(always)]
pub(crate) fn range(
    runtime: &Runtime,
    param: &'static str,
    address: u64,
    bytes: u64,
) -> Result<Spot> {
    if let Some((index, store)) = runtime.memory_at(address) {
        if let Some((start, found)) = store.find(address)
            && bytes <= found.size - (address - start)
        {
            let at = address.wrapping_add(runtime.window.distance());
            return Ok(Spot {
                device: Some(index),
                at,
            });
        }
        return Err(bad_range(runtime, param, address, bytes));
    }
    if runtime.areas.covers(address) {
        return range_in_areas(runtime, param, address, bytes);
    }
    let plausible = address >= LOWEST
        && address.checked_add(bytes).is_some_and(|end| end <= HIGHEST)
        && !runtime.window.contains(address);
    if plausible {
        if runtime.registered.any() {
            registered::check_copy(runtime, param, address, bytes)?;
        }
        Ok(Spot {
            device: None,
            at: address,
        })
    } else {
        Err(bad_range(runtime, param, address, bytes))
    }
}

/// Work of the calling thread's device on a range is submitted: managed pages come to it.
#[inline(always)]
pub(crate) fn note_touch(here: &Here, spot: &Spot, address: u64, bytes: u64, write: bool) {
    if spot.device == Some(EVERY_DEVICE) {
        let device = here.context.device_index();
        super::managed::touched(here.runtime, device, address, bytes, write);
    }
}

/// As [`range`], for what runs on the device: memory of a device, or the alias of registered host
/// memory, which counts as memory of device `here`. Host memory is refused.
pub(crate) fn device_range(
    runtime: &Runtime,
    here: usize,
    param: &'static str,
    address: u64,
    bytes: u64,
) -> Result<Spot> {
    if let Some(at) = registered::touch_alias(runtime, param, address, bytes)? {
        return Ok(Spot {
            device: Some(here),
            at,
        });
    }
    let spot = range(runtime, param, address, bytes)?;
    if spot.device.is_some() {
        return Ok(spot);
    }
    let cause = if runtime.registered.holds(address) {
        "the host address of registered host memory; the device takes its device address \
         (aclrtHostGetDevicePointer)"
    } else {
        "host memory; device memory is needed"
    };
    Err(Error::address(param, address, cause))
}

#[cold]
fn bad_range(runtime: &Runtime, param: &'static str, address: u64, bytes: u64) -> Error {
    let Some(block) = block(runtime, address) else {
        return Error::address(param, address, unknown_text(runtime, address));
    };
    let (start, size) = (block.start, block.size);
    let over = bytes.saturating_sub(size - (address - start));
    Error::address(
        param,
        address,
        format!(
            "the range of {bytes} bytes ends {over} bytes beyond its block: {} made {} at {start:#x} \
             ({} with padding)",
            block.family().made_by(),
            show_bytes(block.requested),
            show_bytes(size),
        ),
    )
}

/// What can be said about an address that is in no live block.
#[cold]
pub(crate) fn unknown_text(runtime: &Runtime, address: u64) -> String {
    if let Some(text) = registered::describe_alias(runtime, address) {
        return text;
    }
    if let Some(device) = runtime.window.device_of(address) {
        if let Some(before) = address.checked_sub(1).and_then(|last| block(runtime, last)) {
            return format!(
                "one byte past the block of {} at {:#x}",
                show_bytes(before.size),
                before.start
            );
        }
        let taken = runtime.devices.get(device).and_then(Device::taken_back);
        return match taken {
            None => "a device address without a live block: never allocated, or freed already"
                .to_owned(),
            Some(taken) => format!(
                "a device address without a live block: never allocated, freed already, or of the {} block(s), \
                 {}, that {} took back; memory of a device ends with its last reset: allocate again",
                taken.blocks,
                show_bytes(taken.bytes),
                taken.by,
            ),
        };
    }
    if runtime.managed.owns(address) {
        return "an address for managed memory, but there is none: never allocated, or released"
            .to_owned();
    }
    if let Some((start, bytes)) = runtime.areas.area_of(address) {
        return format!(
            "an address in the {bytes} bytes reserved at {start:#x}, but nothing is mapped there (or it was \
             released); map memory with aclrtMapMem first"
        );
    }
    if runtime.window.contains(address) {
        return "an address of the device window that belongs to no device".to_owned();
    }
    "not memory of this runtime (heap, stack or mapped memory of the program, or a wild pointer)"
        .to_owned()
}

/// Finds the block that begins at `address` exactly, for a release by `by`. Families are told
/// apart by `accepts`; whatever does not fit is explained.
pub(crate) fn exact(
    runtime: &Runtime,
    param: &'static str,
    address: u64,
    accepts: impl Fn(Family) -> bool,
) -> Result<Block> {
    let Some(block) = block(runtime, address) else {
        return Err(Error::address(
            param,
            address,
            unknown_text(runtime, address),
        ));
    };
    let family = block.family();
    if !accepts(family) {
        let kind = if family.is_host() {
            "pinned host memory"
        } else if family.is_media() {
            "media memory"
        } else {
            "device memory"
        };
        return Err(Error::address(
            param,
            address,
            format!(
                "{kind} made by {}; release it with {}",
                family.made_by(),
                family.freed_by()
            ),
        ));
    }
    if block.start != address {
        return Err(Error::address(
            param,
            address,
            format!(
                "{} bytes inside the block of {} at {:#x}; pass its first byte",
                address - block.start,
                show_bytes(block.requested),
                block.start
            ),
        ));
    }
    Ok(block)
}
