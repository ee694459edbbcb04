//! aclrtMemcpy.
#![allow(unsafe_code)] // moves the bytes

use cannery_abi as abi;
use cannery_observe::{Event, emit};

use super::guard;
use super::locate::{self, Spot};
use crate::error::{Error, Result};
use crate::os;
use crate::peer::Maker;
use crate::process::{Here, here_and_me};

/// Copies `count` bytes at once and returns when they are there. The addresses decide the direction;
/// `kind` must be one of 0 to 5 and is ignored otherwise. Waits for nothing that is queued.
///
/// # Errors
/// In this order: 100000 for NULL and unknown kinds, 107000 for a count above `dest_max`, 107002
/// without a context, 107000 for ranges that are not inside one block or need peer access, 207001
/// when the host runs out of memory. Nothing is copied then.
///
/// # Safety
/// Host ranges are mapped for the whole call, as in any C call.
#[inline]
pub unsafe fn memcpy(dst: u64, dest_max: u64, src: u64, count: u64, kind: i32) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    check_arguments(dst, dest_max, src, count, kind)?;
    if dst == src {
        return Ok(());
    }
    let (here, me) = here_and_me()?;
    crate::graph::mode::unsafe_call("aclrtMemcpy")?;
    let at_once = || Maker::Device(here.device().index());
    let (to, from) = find_ends(&here, dst, src, count, at_once)?;
    if to.device.is_some() {
        guard::touch_by(me, to.at, count)?;
    }
    note(&here, (dst, &to), (src, &from), count);
    // SAFETY: `find_ends` checked device ranges; host ranges per contract.
    unsafe { os::copy::copy(to.at, from.at, count) };
    emit(|| Event::Copy {
        to: dst,
        from: src,
        bytes: count,
    });
    Ok(())
}

#[inline]
fn check_arguments(dst: u64, dest_max: u64, src: u64, count: u64, kind: i32) -> Result<()> {
    if dst == 0 {
        return Err(null("dst"));
    }
    if src == 0 {
        return Err(null("src"));
    }
    if !(abi::ACL_MEMCPY_HOST_TO_HOST..=abi::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE).contains(&kind) {
        return Err(bad_kind(kind));
    }
    if count > dest_max {
        return Err(too_many(count, dest_max));
    }
    Ok(())
}

#[cold]
fn null(parameter: &'static str) -> Error {
    Error::null(parameter)
}

#[cold]
fn too_many(count: u64, dest_max: u64) -> Error {
    Error::rt_value(
        "cnt",
        count,
        format!("a value in (0, {dest_max}] (destMax)"),
    )
}

#[cold]
fn bad_kind(kind: i32) -> Error {
    Error::value("kind", kind, "must be in [0, 5] (aclrtMemcpyKind)")
        .at("Memory copy type conversion")
}

/// Both ends of a copy, checked and ready to be touched.
pub(crate) fn ends(here: &Here, dst: u64, src: u64, count: u64) -> Result<(Spot, Spot)> {
    let (to, from) = find_ends(here, dst, src, count, || Maker::Queue)?;
    if to.device.is_some() {
        guard::touch(to.at, count)?;
    }
    note(here, (dst, &to), (src, &from), count);
    Ok((to, from))
}

#[inline(always)]
fn note(here: &Here, to: (u64, &Spot), from: (u64, &Spot), count: u64) {
    locate::note_touch(here, to.1, to.0, count, true);
    locate::note_touch(here, from.1, from.0, count, false);
}

#[inline(always)]
fn find_ends(
    here: &Here,
    dst: u64,
    src: u64,
    count: u64,
    maker: impl Fn() -> Maker,
) -> Result<(Spot, Spot)> {
    let to = locate::range(here.runtime, "dst", dst, count)?;
    let from = locate::range(here.runtime, "src", src, count)?;
    if let (Some(a), Some(b)) = (from.device, to.device)
        && a != b
    {
        here.runtime.check_peer_copy(a, b, maker())?;
    }
    Ok((to, from))
}
