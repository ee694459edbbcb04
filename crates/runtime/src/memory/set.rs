//! aclrtMemset and aclrtMemsetD32.
#![allow(unsafe_code)] // sets the bytes

use cannery_observe::{Event, Family, emit};

use super::guard;
use super::locate::{self, Spot};
use crate::error::{Error, Fault, Result};
use crate::os;
use crate::process::{here, here_and_me};

/// aclrtMemset: sets `count` bytes to the low byte of `value` at once.
///
/// # Errors
/// 100000 for NULL; 107002 without a context; 107000 for a count above `max`, or a range that is not
/// inside one block; 207001 when the host runs out of memory. Nothing is set then.
///
/// # Safety
/// Host ranges are mapped writable for the whole call, as in any C call.
#[inline]
pub unsafe fn memset(address: u64, max: u64, value: i32, count: u64) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    if address == 0 {
        return Err(Error::null("devPtr"));
    }
    let (here, me) = here_and_me()?;
    if count > max {
        return Err(Error::rt_value(
            "count",
            count,
            format!("a value in (0, {max}] (maxCount)"),
        ));
    }
    crate::graph::mode::unsafe_call("aclrtMemset")?;
    let spot = locate::range(here.runtime, "devPtr", address, count)?;
    if spot.device.is_some() {
        guard::touch_by(me, spot.at, count)?;
    }
    locate::note_touch(&here, &spot, address, count, true);
    // SAFETY: a device range was checked; a host range per contract. Only the low byte counts.
    unsafe { os::copy::fill(spot.at, value as u8, count) };
    emit(|| Event::Fill {
        to: address,
        bytes: count,
    });
    Ok(())
}

/// aclrtMemsetD32: sets `count` 32-bit words to `value` at once.
///
/// # Errors
/// 100000 for NULL, addresses that are no multiple of 4, memory that this runtime did not make, and a
/// count that does not fit `size` bytes (its product may wrap, as in the reference); 107002 without a
/// context; 107000 for a range outside of its block.
pub fn memset_d32(address: u64, size: u64, value: u32, count: u64) -> Result<()> {
    let Some((spot, count)) = check_d32(address, size, count)? else {
        return Ok(());
    };
    crate::graph::mode::unsafe_call("aclrtMemsetD32")?;
    // SAFETY: inside a live block of this runtime, at a multiple of 4.
    unsafe { os::copy::fill_words(spot.at, value, count) };
    emit(|| Event::Fill {
        to: address,
        bytes: count * 4,
    });
    Ok(())
}

/// The checks of a 32-bit fill: where to fill and how many words; `None` for nothing to do.
pub(crate) fn check_d32(address: u64, size: u64, count: u64) -> Result<Option<(Spot, u64)>> {
    if count == 0 {
        return Ok(None);
    }
    if address == 0 {
        return Err(Error::null("ptr"));
    }
    if !address.is_multiple_of(4) {
        return Err(Error::cause(
            "ptr",
            format!("{address:#x}"),
            "must be a multiple of 4",
        ));
    }
    if size < count.wrapping_mul(4) {
        return Err(Error::cause(
            "N",
            count,
            format!("so many 32-bit words do not fit memSize ({size} bytes)"),
        ));
    }
    let here = here()?;
    let Some(block) = locate::block(here.runtime, address) else {
        if let Some(bytes) = count.checked_mul(4)
            && here.runtime.registered.covers(address, bytes)
        {
            let spot = locate::range(here.runtime, "ptr", address, bytes)?;
            return Ok(Some((spot, count)));
        }
        let cause = format!(
            "memory of aclrtMalloc or aclrtMallocHost, or registered memory, is needed: {}",
            locate::unknown_text(here.runtime, address)
        );
        return Err(Error::cause("ptr", format!("{address:#x}"), cause));
    };
    if block.family() == Family::Managed {
        return Err(Fault::Inner {
            param: "ptr",
            address,
            cause: "managed memory; memory of aclrtMalloc or aclrtMallocHost is needed".to_owned(),
        }
        .into());
    }
    let left = block.size - (address - block.start);
    // Mappings that touch are one range.
    let may_go_on = block.family() == Family::Mapping;
    let fits = |bytes: &u64| *bytes <= left || may_go_on;
    let Some(bytes) = count.checked_mul(4).filter(fits) else {
        return Err(Error::rt_value(
            "N",
            count,
            format!("at most {} words, which is where the block ends", left / 4),
        ));
    };
    let spot = locate::range(here.runtime, "ptr", address, bytes)?;
    if spot.device.is_some() {
        guard::touch(spot.at, bytes)?;
    }
    Ok(Some((spot, count)))
}
