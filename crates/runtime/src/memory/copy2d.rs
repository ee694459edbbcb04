//! aclrtMemcpy2d.
#![allow(unsafe_code)] // moves the bytes

use cannery_abi as abi;
use cannery_observe::{Event, emit};

use super::guard;
use super::locate::{self, Spot};
use crate::error::{Error, Result};
use crate::os;
use crate::process::{Here, here};

/// Largest row in bytes.
const WIDEST: u64 = 5_000_000;
/// Most rows.
const TALLEST: u64 = 5 << 20;
const STAGE: &str = "Checking the synchronous memory copy parameter validity";

/// A pitched region: `height` rows of `width` bytes, `pitch` bytes from row to row.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    /// First byte.
    pub address: u64,
    /// Bytes from one row to the next.
    pub pitch: u64,
}

/// Copies `height` rows of `width` bytes between host and device at once. Gaps stay as they were.
///
/// # Errors
/// In this order: 100000 for NULL, kinds, and rows wider than a pitch; 107000 above the limits
/// (5,000,000 bytes by 5,242,880 rows); 107002 without a context; 207000 in RC mode; 107000 when the
/// ends are not one of the host and one of the device, or outside of their blocks.
///
/// # Safety
/// Host ranges are mapped for the whole call, as in any C call.
pub unsafe fn memcpy2d(dst: Plane, src: Plane, width: u64, height: u64, kind: i32) -> Result<()> {
    if width == 0 || height == 0 {
        return Ok(());
    }
    check_arguments(dst, src, width, height, kind)?;
    let here = here()?;
    crate::graph::mode::unsafe_call("aclrtMemcpy2d")?;
    let (to, from) = ends(&here, dst, src, width, height)?;
    if to.device.is_some() == from.device.is_some() {
        let both = if to.device.is_some() {
            "device"
        } else {
            "host"
        };
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "kind",
            format!(
                "both ends are {both} memory; only host to device and device to host are possible"
            ),
        ));
    }
    if dst.pitch == width && src.pitch == width {
        // SAFETY: both whole spans were checked; host ranges per contract.
        unsafe { os::copy::copy(to.at, from.at, width * height) };
    } else {
        for row in 0..height {
            // SAFETY: row by row inside the spans that were checked.
            unsafe { os::copy::copy(to.at + row * dst.pitch, from.at + row * src.pitch, width) };
        }
    }
    emit(|| Event::Copy {
        to: dst.address,
        from: src.address,
        bytes: width * height,
    });
    Ok(())
}

/// Both ends of a 2D copy, checked and ready to be touched.
pub(crate) fn ends(
    here: &Here,
    dst: Plane,
    src: Plane,
    width: u64,
    height: u64,
) -> Result<(Spot, Spot)> {
    if here.runtime.is_rc() {
        return Err(Error::unsupported(
            "there are no 2D copies where host and device are one (CANNERY_MODE=rc); copy row by row",
        ));
    }
    let span = |plane: Plane| {
        plane
            .pitch
            .checked_mul(height - 1)
            .and_then(|n| n.checked_add(width))
    };
    let (Some(to_span), Some(from_span)) = (span(dst), span(src)) else {
        return Err(Error::rt_value(
            "height",
            height,
            "rows that fit the address space with this pitch",
        ));
    };
    let to = locate::range(here.runtime, "dst", dst.address, to_span)?;
    let from = locate::range(here.runtime, "src", src.address, from_span)?;
    if to.device.is_some() {
        guard::touch(to.at, to_span)?;
    }
    locate::note_touch(here, &to, dst.address, to_span, true);
    locate::note_touch(here, &from, src.address, from_span, false);
    Ok((to, from))
}

pub(crate) fn check_arguments(
    dst: Plane,
    src: Plane,
    width: u64,
    height: u64,
    kind: i32,
) -> Result<()> {
    if dst.address == 0 {
        return Err(Error::null("dst").at(STAGE));
    }
    if src.address == 0 {
        return Err(Error::null("src").at(STAGE));
    }
    if !(abi::ACL_MEMCPY_HOST_TO_DEVICE..=abi::ACL_MEMCPY_DEFAULT).contains(&kind) {
        return Err(Error::value(
            "kind",
            kind,
            "must be 1 (host to device), 2 (device to host) or 4 (default)",
        ));
    }
    for (name, pitch) in [("dpitch", dst.pitch), ("spitch", src.pitch)] {
        if width > pitch {
            let cause = format!("a row must fit its pitch, and {name} is {pitch}");
            return Err(Error::cause("width", width, cause).at(STAGE));
        }
    }
    if width > WIDEST {
        return Err(Error::rt_value(
            "width",
            width,
            format!("a value in (0, {WIDEST}]"),
        ));
    }
    if height > TALLEST {
        return Err(Error::rt_value(
            "height",
            height,
            format!("a value in (0, {TALLEST}]"),
        ));
    }
    Ok(())
}
