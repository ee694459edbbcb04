//! Functions of Cannery itself (include/cannery/cannery.h), and what the companion libraries need.

use core::ffi::{c_char, c_void};

use cannery_abi::aclError;
use cannery_runtime::error::{Error, Result};
use cannery_runtime::info;
use cannery_runtime::memory::media::{self, Generation};
use cannery_runtime::profile::ALL_PRODUCTS;

use crate::face::{address_place, answer, place};

fn give_text(text: &str, buf: *mut c_char, size: usize, needed: *mut usize) -> Result<()> {
    if let Some(needed) = place(needed) {
        *needed = text.len() + 1;
    }
    if buf.is_null() && size > 0 {
        return Err(Error::null("buf"));
    }
    if size > 0 {
        let copied = text.len().min(size - 1);
        // SAFETY: `buf` has room for `size` bytes per the contract; text and end fit.
        unsafe {
            core::ptr::copy_nonoverlapping(text.as_ptr().cast(), buf, copied);
            buf.add(copied).write(0);
        }
    }
    Ok(())
}

/// The emulated machine and its settings as JSON; at most `size` bytes with the end are written.
///
/// # Safety
/// `buf` has room for `size` bytes; `needed` is NULL or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn cannery_info(buf: *mut c_char, size: usize, needed: *mut usize) -> aclError {
    answer("cannery_info", ALL_PRODUCTS, || {
        give_text(&info::machine()?, buf, size, needed)
    })
}

/// The cards of this user and the processes on them as JSON; at most `size` bytes with the end are
/// written.
///
/// # Safety
/// `buf` has room for `size` bytes; `needed` is NULL or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn cannery_cards(buf: *mut c_char, size: usize, needed: *mut usize) -> aclError {
    answer("cannery_cards", ALL_PRODUCTS, || {
        give_text(&info::cards()?, buf, size, needed)
    })
}

/// Counters of this process as JSON; at most `size` bytes with the end are written.
///
/// # Safety
/// `buf` has room for `size` bytes; `needed` is NULL or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn cannery_stats(buf: *mut c_char, size: usize, needed: *mut usize) -> aclError {
    answer("cannery_stats", ALL_PRODUCTS, || {
        give_text(&info::statistics()?, buf, size, needed)
    })
}

fn media_call(generation: i32) -> (&'static str, &'static str, Generation) {
    match generation {
        1 => ("acldvppMalloc", "acldvppFree", Generation::First),
        _ => ("hi_mpi_dvpp_malloc", "hi_mpi_dvpp_free", Generation::Second),
    }
}

/// For the media libraries: allocates media memory of generation 1 or 2.
///
/// # Safety
/// `devPtr` is NULL or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn cannery_dvpp_malloc(
    devPtr: *mut *mut c_void,
    size: usize,
    generation: i32,
) -> aclError {
    let (api, _, generation) = media_call(generation);
    answer(api, ALL_PRODUCTS, || {
        media::malloc(address_place(devPtr), size as u64, generation)
    })
}

/// For the media libraries: releases media memory of generation 1 or 2.
#[unsafe(no_mangle)]
extern "C" fn cannery_dvpp_free(devPtr: *mut c_void, generation: i32) -> aclError {
    let (_, api, generation) = media_call(generation);
    answer(api, ALL_PRODUCTS, || media::free(devPtr as u64, generation))
}
