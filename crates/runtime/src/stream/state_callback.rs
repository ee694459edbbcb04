//! aclrtRegStreamStateCallback: functions called after a stream is made and before it is destroyed.
//!
//! Default streams are told of too. A context makes its own when it is first used; while something is
//! registered here, aclrtSetDevice and aclrtCreateContext make it at once, so that a program which
//! registers first sees every stream.
#![allow(unsafe_code)] // they are C functions

use std::ffi::c_void;

use cannery_abi as abi;

use crate::error::Result;
use crate::named_callbacks::NamedCallbacks;
use crate::process::here;

type Function = unsafe extern "C" fn(abi::aclrtStream, abi::aclrtStreamState, *mut c_void);

static CALLBACKS: NamedCallbacks<Function> = NamedCallbacks::new();

/// Registers `function` under a name, or with `None` takes the name's function away. Functions run on
/// the thread that makes or destroys the stream (or destroys its context, or resets its device), in
/// the order of their registration, and may call the runtime.
///
/// # Errors
/// 100000 without a name, for an empty one, one that is taken, or one to take away that is unknown.
pub fn register(
    name: Option<&str>,
    function: abi::aclrtStreamStateCallback,
    args: *mut c_void,
) -> Result<()> {
    CALLBACKS.register(name, function, args)
}

/// The stream of this handle exists now.
#[inline]
pub(crate) fn made(handle: u64) {
    tell(handle, abi::ACL_RT_STREAM_STATE_CREATE_POST);
}

/// The stream of this handle is about to be destroyed; it still works.
#[inline]
pub(crate) fn ending(handle: u64) {
    tell(handle, abi::ACL_RT_STREAM_STATE_DESTROY_PRE);
}

#[inline]
fn tell(handle: u64, state: abi::aclrtStreamState) {
    CALLBACKS.each(|function, args| {
        // SAFETY: a function of the program, called as it was registered.
        unsafe { function(handle as abi::aclrtStream, state, args) };
    });
}

/// The calling thread was bound to a context that may be new: see the module.
pub(crate) fn bound() {
    if CALLBACKS.any()
        && let Ok(here) = here()
    {
        // Without a stream left it is made when it is used, and refused then.
        let _ = super::manage::default_stream(&here);
    }
}
