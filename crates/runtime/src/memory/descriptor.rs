//! aclrtGetMemcpyDescSize and aclrtSetMemcpyDesc: descriptions of a copy in device memory.
#![allow(unsafe_code)] // writes the description

use cannery_abi as abi;

use super::{guard, locate};
use crate::error::{Error, Result};
use crate::os;
use crate::process::{Here, here};

/// Bytes of a description.
const SIZE: u64 = 64;
/// Descriptions start on multiples of it.
const ALIGNMENT: u64 = 64;
/// Marks memory that holds one.
const MARK: u64 = u64::from_le_bytes(*b"cpy-desc");

pub(crate) fn check_kind(kind: i32) -> Result<()> {
    if kind == abi::ACL_MEMCPY_INNER_DEVICE_TO_DEVICE {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "copy kind {kind} has no descriptors; only 6 (ACL_MEMCPY_INNER_DEVICE_TO_DEVICE) has"
    )))
}

/// Bytes that a description takes.
///
/// # Errors
/// 100000 without `out`, 207000 for other kinds and products, 107002 without a context.
pub fn size(kind: i32, out: Option<&mut usize>) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("descSize"));
    };
    check_kind(kind)?;
    here()?;
    *out = SIZE as usize;
    Ok(())
}

/// Writes a description of a copy of `count` bytes from `src` to `dst` to device memory at `desc`.
///
/// # Errors
/// 100000 for NULL, a count of 0 and a configuration; 207000 for other kinds and products; 107000 for
/// a place that is no device memory, or no multiple of 64; 107002 without a context.
pub fn set(desc: u64, kind: i32, src: u64, dst: u64, count: u64, config: u64) -> Result<()> {
    for (name, address) in [("desc", desc), ("srcAddr", src), ("dstAddr", dst)] {
        if address == 0 {
            return Err(Error::null(name));
        }
    }
    if count == 0 {
        return Err(Error::zero("count"));
    }
    if config != 0 {
        return Err(Error::cause(
            "config",
            format!("{config:#x}"),
            "reserved, must be NULL",
        ));
    }
    check_kind(kind)?;
    if !desc.is_multiple_of(ALIGNMENT) {
        return Err(Error::address("desc", desc, "must be a multiple of 64"));
    }
    let here = here()?;
    let spot = locate::range(here.runtime, "desc", desc, SIZE)?;
    if spot.device.is_none() {
        return Err(Error::address(
            "desc",
            desc,
            "host memory; a description lies in device memory",
        ));
    }
    guard::touch(spot.at, SIZE)?;
    let words = [MARK, src, dst, count, 0, 0, 0, 0];
    // SAFETY: the range of 64 bytes was checked and is a multiple of 8.
    unsafe { os::copy::copy(spot.at, words.as_ptr() as u64, SIZE) };
    Ok(())
}

/// The copy that a description in device memory holds: source, destination, bytes.
pub(crate) fn read(here: &Here, desc: u64) -> Result<(u64, u64, u64)> {
    if !desc.is_multiple_of(ALIGNMENT) {
        return Err(Error::address("desc", desc, "must be a multiple of 64"));
    }
    let spot = locate::range(here.runtime, "desc", desc, SIZE)?;
    let mut words = [0u64; 8];
    // SAFETY: the range of 64 bytes was checked; `words` has as many.
    unsafe { os::copy::copy(words.as_mut_ptr() as u64, spot.at, SIZE) };
    let [mark, src, dst, count, ..] = words;
    if spot.device.is_none() || mark != MARK {
        return Err(Error::address(
            "desc",
            desc,
            "holds no description; call aclrtSetMemcpyDesc first",
        ));
    }
    Ok((src, dst, count))
}
