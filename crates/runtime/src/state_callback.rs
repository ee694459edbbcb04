//! aclrtRegDeviceStateCallback: functions called around set and reset (manual chapter: device
//! management).
#![allow(unsafe_code)] // they are C functions

use std::ffi::c_void;

use cannery_abi as abi;

use crate::error::Result;
use crate::named_callbacks::NamedCallbacks;

type Function = unsafe extern "C" fn(i32, abi::aclrtDeviceState, *mut c_void);

static CALLBACKS: NamedCallbacks<Function> = NamedCallbacks::new();

/// Registers `function` under a name, or with `None` takes the name's function away.
///
/// # Errors
/// 100000 without a name, for an empty one, one that is taken, or one to take away that is unknown.
pub fn register(
    name: Option<&str>,
    function: abi::aclrtDeviceStateCallback,
    args: *mut c_void,
) -> Result<()> {
    CALLBACKS.register(name, function, args)
}

/// Calls every function. No lock is held meanwhile: they may call the runtime.
pub(crate) fn tell(device: i32, state: abi::aclrtDeviceState) {
    CALLBACKS.each(|function, args| {
        // SAFETY: a function of the program, called as it was registered.
        unsafe { function(device, state, args) };
    });
}
