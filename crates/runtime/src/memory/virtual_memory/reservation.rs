//! aclrtReserveMemAddress, aclrtReserveMemAddressNoUCMemory, aclrtReleaseMemAddress.

use super::state::Reservation;
use crate::error::{Error, Fault, Result, show_bytes};
use crate::memory::areas::{NoArea, UNIT};
use crate::process::{Runtime, current};

const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;

fn check(out: bool, size: u64, alignment: u64, flags: u64) -> Result<()> {
    if !out {
        return Err(Error::null("virPtr"));
    }
    if size == 0 {
        return Err(Error::zero("size"));
    }
    if alignment != 0 {
        return Err(Error::value("alignment", alignment, "must be 0 (reserved)"));
    }
    // 1 is what old callers pass; it meant huge pages.
    if flags > 1 {
        return Err(Error::value("flags", flags, "must be 0"));
    }
    Ok(())
}

/// aclrtReserveMemAddress: `size` bytes of addresses (rounded up to 2 MiB) without memory, at `expected`
/// exactly when it is not 0. Needs no context and no device.
///
/// # Errors
/// 100000 for NULL, 0 bytes, an alignment that is not 0 and flags above 1; 107000 for a place that is
/// taken, outside of 16 to 24 TiB, not aligned, or chosen at all on a product without that; 207001
/// when no addresses are left. `out` stays untouched then.
pub fn reserve(
    out: Option<&mut u64>,
    size: u64,
    alignment: u64,
    expected: u64,
    flags: u64,
) -> Result<()> {
    check(out.is_some(), size, alignment, flags)?;
    let runtime = current()?;
    refuse_on_soc(runtime)?;
    if expected != 0 {
        check_place(runtime, size, expected)?;
    }
    let start = place(runtime, size, expected, "expectPtr")?;
    if let Some(out) = out {
        *out = start;
    }
    Ok(())
}

/// aclrtReserveMemAddressNoUCMemory: as [`reserve`], at a place that the caller must choose, in whole GiB.
///
/// # Errors
/// As [`reserve`]; 100000 without a place; 107000 for a size that is not whole GiB and for places
/// beyond what a program can have (47 bits).
pub fn reserve_no_uc(
    out: Option<&mut u64>,
    size: u64,
    alignment: u64,
    expected: u64,
    flags: u64,
) -> Result<()> {
    check(out.is_some(), size, alignment, flags)?;
    if expected == 0 {
        return Err(Error::null("expectPtr"));
    }
    let runtime = current()?;
    if !size.is_multiple_of(GIB) {
        return Err(Error::rt_value(
            "size",
            size,
            "a multiple of 1 GiB (1073741824)",
        ));
    }
    if !expected.is_multiple_of(GIB) {
        return Err(unaligned(expected, GIB));
    }
    let end = expected.checked_add(size);
    if end.is_none_or(|end| end > 1 << 47) {
        return Err(Error::address(
            "expectPtr",
            expected,
            "ends beyond the 47 bits of addresses that a program on this machine has (128 TiB); choose a \
             place from 40 TiB on",
        ));
    }
    let start = place(runtime, size, expected, "expectPtr")?;
    if let Some(out) = out {
        *out = start;
    }
    Ok(())
}

/// Where host and device share one memory, these functions cannot be called.
pub(super) fn refuse_on_soc(runtime: &Runtime) -> Result<()> {
    if runtime.is_rc() && runtime.settings.profile.name == "310B" {
        return Err(Error::unsupported(
            "profile 310B has no virtual memory in RC mode (CANNERY_MODE=rc); use aclrtMalloc, or EP mode \
             (CANNERY_MODE=ep)"
                .to_owned(),
        ));
    }
    Ok(())
}

fn check_place(runtime: &Runtime, size: u64, expected: u64) -> Result<()> {
    if runtime.settings.profile.name == "950" {
        return Err(Error::rt_cause(
            "expectPtr",
            format!("{expected:#x}"),
            "addresses cannot be chosen on profile 950; pass NULL",
        ));
    }
    let end = expected.saturating_add(size);
    if expected < 16 * TIB || end > 24 * TIB {
        return Err(Error::rt_value(
            "expectPtr",
            format!("{expected:#x}"),
            "a range within 16 TiB (0x100000000000) and 24 TiB (0x180000000000), or NULL",
        ));
    }
    let align = size.next_power_of_two().clamp(UNIT, GIB);
    if !expected.is_multiple_of(align) {
        return Err(unaligned(expected, align));
    }
    Ok(())
}

fn unaligned(expected: u64, align: u64) -> Error {
    Error::rt_cause(
        "expectPtr",
        format!("{expected:#x}"),
        format!(
            "must be a multiple of {} ({align:#x}) for this size",
            show_bytes(align)
        ),
    )
}

fn place(runtime: &Runtime, size: u64, expected: u64, param: &'static str) -> Result<u64> {
    let mut state = runtime.virtual_memory.state();
    let area = if expected == 0 {
        runtime.areas.reserve(size, UNIT)
    } else {
        runtime.areas.reserve_at(expected, size)
    };
    let start = area.map_err(|why| match why {
        NoArea::Taken => Error::address(
            param,
            expected,
            match runtime.areas.area_of(expected) {
                Some((start, bytes)) => format!(
                    "taken: {bytes} bytes are reserved at {start:#x}; choose another place, or NULL"
                ),
                None => "taken, at least in part, by another reservation, by the ordinary memory of a device or \
                         by something else in this process; choose another place, or NULL"
                    .to_owned(),
            },
        ),
        NoArea::Full => no_addresses(size, "no free range of addresses is so long"),
        NoArea::System(error) => no_addresses(size, &format!("the system refused: {error}")),
    })?;
    state.reservations.insert(
        start,
        Reservation {
            bytes: size.next_multiple_of(UNIT),
            bound: None,
            mappings: 0,
        },
    );
    Ok(start)
}

fn no_addresses(size: u64, why: &str) -> Error {
    Fault::HostShortage {
        asked: size,
        cause: format!(
            "addresses for {}: {why}; reserve less, or release a reservation",
            show_bytes(size)
        ),
    }
    .into()
}

/// aclrtReleaseMemAddress: gives a reservation back by its first byte.
///
/// # Errors
/// 100000 for NULL; 107000 for anything that is not the first byte of a reservation, and while
/// something is mapped in it: the mappings stay usable.
pub fn release(address: u64) -> Result<()> {
    if address == 0 {
        return Err(Error::null("virPtr"));
    }
    let runtime = current()?;
    refuse_on_soc(runtime)?;
    let mut state = runtime.virtual_memory.state();
    let Some(reservation) = state.reservations.get(&address) else {
        let cause = match state.reservations.range(..=address).next_back() {
            Some((start, found)) if address - start < found.bytes => {
                format!("inside the reservation at {start:#x}; pass its first byte")
            }
            _ => "not a reserved range: never reserved, or released already".to_owned(),
        };
        return Err(Error::address("virPtr", address, cause));
    };
    if reservation.mappings > 0 {
        let end = address + reservation.bytes;
        let first = state.mapped_between(address, end).first().copied();
        return Err(Error::address(
            "virPtr",
            address,
            format!(
                "{} mapping(s) are still in it, the first at {:#x}; call aclrtUnmapMem for each of them first",
                reservation.mappings,
                first.unwrap_or(address),
            ),
        ));
    }
    state.reservations.remove(&address);
    runtime.areas.release(address);
    Ok(())
}
