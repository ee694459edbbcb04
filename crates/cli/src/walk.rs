//! The calls that every program makes, once, in a process of its own (`cannery doctor` asks).

// The library is reached through its C ABI.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_void};
use std::io::{self, Write};
use std::ptr;

use libloading::Library;
use serde_json::{Value, json};

use crate::error::Error;
use crate::library;

/// Bytes of each block.
const SIZE: usize = 1 << 20;

/// Prints `{"failed": null}`, or which call failed, with its code and text.
///
/// # Errors
///
/// The library cannot be loaded.
pub(crate) fn walk() -> Result<(), Error> {
    let library = library::load()?;
    let answer = match calls(&library) {
        Ok(()) => json!({ "failed": Value::Null }),
        Err((call, code)) => {
            let text = library::recent_text(&library).unwrap_or_default();
            json!({ "failed": call, "code": code, "text": text })
        }
    };
    let mut out = io::stdout().lock();
    writeln!(out, "{answer}")?;
    Ok(out.flush()?)
}

type Failure = (&'static str, i32);

/// The result of a call, under its name.
fn done(call: &'static str, code: i32) -> Result<(), Failure> {
    if code == 0 { Ok(()) } else { Err((call, code)) }
}

/// Asks for a function by its name.
macro_rules! function {
    ($library:expr, $name:literal, ($($argument:ty),*)) => {{
        // SAFETY: the name has exactly this signature in the library's header.
        let found = unsafe { $library.get::<unsafe extern "C" fn($($argument),*) -> i32>($name) };
        *found.map_err(|_| ($name, -1))?
    }};
}

fn calls(library: &Library) -> Result<(), Failure> {
    let init = function!(library, "aclInit", (*const c_char));
    let finalize = function!(library, "aclFinalize", ());
    let set_device = function!(library, "aclrtSetDevice", (i32));
    let reset_device = function!(library, "aclrtResetDevice", (i32));
    let malloc = function!(library, "aclrtMalloc", (*mut *mut c_void, usize, i32));
    let malloc_host = function!(library, "aclrtMallocHost", (*mut *mut c_void, usize));
    let free = function!(library, "aclrtFree", (*mut c_void));
    let free_host = function!(library, "aclrtFreeHost", (*mut c_void));
    let copy = function!(
        library,
        "aclrtMemcpy",
        (*mut c_void, usize, *const c_void, usize, i32)
    );

    let (mut device, mut host) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: NULL stands for no file.
    done("aclInit", unsafe { init(ptr::null()) })?;
    // SAFETY: takes a number.
    done("aclrtSetDevice", unsafe { set_device(0) })?;
    // SAFETY: the output is a live pointer.
    done("aclrtMalloc", unsafe { malloc(&raw mut device, SIZE, 0) })?;
    // SAFETY: the output is a live pointer.
    done("aclrtMallocHost", unsafe {
        malloc_host(&raw mut host, SIZE)
    })?;
    // SAFETY: a success means that the library made SIZE writable bytes there.
    unsafe { ptr::write_bytes(host.cast::<u8>(), 0xa5, SIZE) };
    // SAFETY: both blocks have SIZE bytes.
    done("aclrtMemcpy to the device", unsafe {
        copy(device, SIZE, host, SIZE, 1)
    })?;
    // SAFETY: as above.
    unsafe { ptr::write_bytes(host.cast::<u8>(), 0, SIZE) };
    // SAFETY: both blocks have SIZE bytes.
    done("aclrtMemcpy to the host", unsafe {
        copy(host, SIZE, device, SIZE, 2)
    })?;
    // SAFETY: the block has SIZE bytes, all written by the copy or before.
    let bytes = unsafe { std::slice::from_raw_parts(host.cast::<u8>(), SIZE) };
    if bytes.iter().any(|byte| *byte != 0xa5) {
        return Err(("aclrtMemcpy (the bytes came back changed)", 0));
    }
    // SAFETY: the block is live and not used any more.
    done("aclrtFree", unsafe { free(device) })?;
    // SAFETY: as above; `bytes` is not used any more.
    done("aclrtFreeHost", unsafe { free_host(host) })?;
    // SAFETY: takes a number.
    done("aclrtResetDevice", unsafe { reset_device(0) })?;
    // SAFETY: takes nothing.
    done("aclFinalize", unsafe { finalize() })
}
