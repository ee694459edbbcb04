//! aclrtRegDeviceStateCallback: functions called around set and reset (manual chapter: device
//! management).
#![allow(unsafe_code)] // they are C functions

use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use cannery_abi as abi;

use crate::error::{Error, Fault, Result};
use crate::patient;

type Function = unsafe extern "C" fn(i32, abi::aclrtDeviceState, *mut c_void);

struct Entry {
    name: String,
    function: Function,
    args: usize,
}

static ENTRIES: Mutex<Vec<Entry>> = Mutex::new(Vec::new());
static ANY: AtomicBool = AtomicBool::new(false);

/// Registers `function` under a name, or with `None` takes the name's function away.
///
/// # Errors
/// 100000 without a name, for an empty one, one that is taken, or one to take away that is unknown.
pub fn register(
    name: Option<&str>,
    function: abi::aclrtDeviceStateCallback,
    args: *mut c_void,
) -> Result<()> {
    let Some(name) = name else {
        return Err(Error::null("regName"));
    };
    if name.is_empty() {
        return Err(Error::value("regName", "\"\"", "must not be empty"));
    }
    let Some(mut entries) = patient::lock(&ENTRIES) else {
        return Err(Fault::Forked.into());
    };
    let known = entries.iter().position(|entry| entry.name == name);
    match (function, known) {
        (Some(_), Some(_)) => Err(Error::cause("regName", name, "is registered already")),
        (None, None) => Err(Error::cause("regName", name, "is not registered")),
        (Some(function), None) => {
            entries.push(Entry {
                name: name.to_owned(),
                function,
                args: args as usize,
            });
            ANY.store(true, Ordering::Release);
            Ok(())
        }
        (None, Some(at)) => {
            entries.remove(at);
            Ok(())
        }
    }
}

/// Calls every function. No lock is held meanwhile: they may call the runtime.
pub(crate) fn tell(device: i32, state: abi::aclrtDeviceState) {
    if !ANY.load(Ordering::Acquire) {
        return;
    }
    let calls: Vec<(Function, usize)> = patient::lock(&ENTRIES)
        .map(|entries| {
            entries
                .iter()
                .map(|entry| (entry.function, entry.args))
                .collect()
        })
        .unwrap_or_default();
    for (function, args) in calls {
        // SAFETY: a function of the program, called as it was registered.
        unsafe { function(device, state, args as *mut c_void) };
    }
}
