//! Manual chapter: errors. aclrtDeviceTaskAbort drops what is queued on every stream of a device;
//! aclrtSetDeviceTaskAbortCallback registers functions that are called before and after.
//!
//! While it runs, the streams of the device are halted with 107022 (see `failure`): they take no tasks, and
//! whoever holds the token of one drops its tasks instead of running them. A task that runs already cannot
//! be stopped; it is waited for.
#![allow(unsafe_code)] // the registered functions are C functions

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use cannery_abi as abi;

use super::{STREAMS, Stream, engine, failure};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::named_callbacks::{self, NamedCallbacks};
use crate::process::current;

type Function = unsafe extern "C" fn(i32, abi::aclrtDeviceTaskAbortStage, u32, *mut c_void) -> i32;

static CALLBACKS: NamedCallbacks<Function> = NamedCallbacks::new();

/// Longest wait: 36 minutes.
const LONGEST_MS: u32 = 36 * 60 * 1000;

thread_local! {
    /// The stream whose function of the program runs on this thread.
    static INSIDE: Cell<Option<&'static Stream>> = const { Cell::new(None) };
    /// Whether this thread is in a function that is called before or after an abort.
    static TOLD: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function of the program that is a task of `stream`.
pub(super) fn inside<R>(stream: &'static Stream, run: impl FnOnce() -> R) -> R {
    let before = INSIDE.replace(Some(stream));
    let result = crate::snapshot::gate::exempt(run);
    INSIDE.set(before);
    result
}

/// aclrtSetDeviceTaskAbortCallback: registers `function` under a name, or with `None` takes the name's
/// function away.
///
/// # Errors
/// 100000 without a name, for an empty one, one that is taken, or one to take away that is unknown; 207000
/// where the product lacks it.
pub fn register(
    name: Option<&str>,
    function: abi::aclrtDeviceTaskAbortCallback,
    args: *mut c_void,
) -> Result<()> {
    named_callbacks::check_name(name)?;
    current()?;
    CALLBACKS.register(name, function, args)
}

/// Calls what is registered; `Err`: the name and the answer of the one that did not answer 0.
fn tell(
    id: i32,
    stage: abi::aclrtDeviceTaskAbortStage,
    timeout: u32,
) -> std::result::Result<(), (String, i32)> {
    let before = TOLD.replace(true);
    let answer = CALLBACKS.each_until(|function, args| {
        // SAFETY: a function of the program, called as it was registered.
        unsafe { function(id, stage, timeout, args) }
    });
    TOLD.set(before);
    answer
}

/// Ends the abort of a device, however it goes.
struct Running(&'static Device);

impl Running {
    fn begin(device: &'static Device) -> Result<Running> {
        if device.aborting().swap(true, Ordering::SeqCst) {
            return Err(Error::sequence(
                abi::ACL_ERROR_RT_DEVICE_TASK_ABORT,
                format!(
                    "another thread aborts the tasks of device {}; wait until its aclrtDeviceTaskAbort \
                     returns",
                    device.index()
                ),
            ));
        }
        Ok(Running(device))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.aborting().store(false, Ordering::SeqCst);
        for stream in streams(self.0) {
            failure::lift_abort(stream);
        }
    }
}

fn streams(device: &Device) -> impl Iterator<Item = &'static Stream> {
    let index = device.index();
    let living = STREAMS.living().into_iter();
    living
        .filter(move |(_, stream)| stream.device() == Some(index))
        .map(|(_, stream)| stream)
}

/// aclrtDeviceTaskAbort: drops what is queued on the streams of a device and waits for the tasks that run,
/// at most `timeout` milliseconds (0: for ever). The streams can be used again afterwards.
///
/// # Errors
/// 107000 for more than 36 minutes; 107001; 107022 while another thread does the same, and in a
/// function that is registered for it; 107035 when a
/// function that is called before refuses (nothing is dropped); 107019 when a task still runs after the
/// time (the others are dropped); 207000 where the product lacks it.
pub fn abort(id: i32, timeout: u32) -> Result<()> {
    if timeout > LONGEST_MS {
        return Err(Error::rt_value(
            "timeout",
            timeout,
            format!("0 (for ever) or at most {LONGEST_MS} milliseconds (36 minutes)"),
        ));
    }
    let runtime = current()?;
    let device = &runtime.devices[runtime.device_index("deviceId", id)?];
    if TOLD.get() {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_DEVICE_TASK_ABORT,
            "a callback of aclrtDeviceTaskAbort asks for another abort; call it after the first one has returned",
        ));
    }
    let until = match timeout {
        0 => None,
        limit => Some(Instant::now() + Duration::from_millis(u64::from(limit))),
    };
    let running = Running::begin(device)?;
    if let Err((name, answer)) = tell(id, abi::ACL_RT_DEVICE_TASK_ABORT_PRE, timeout) {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_TASK_ABORT_STOP,
            format!(
                "the callback \"{name}\" answered {answer} before the abort of device {id}, so no task was \
                 dropped; let it answer 0, or unregister it with aclrtSetDeviceTaskAbortCallback"
            ),
        ));
    }
    // Every one first: what is dropped on one stream must not set another going.
    let all: Vec<&'static Stream> = streams(device).collect();
    all.iter().for_each(|stream| failure::begin_abort(stream));
    all.iter().for_each(|stream| engine::drop_tasks(stream));
    let own = INSIDE.get();
    let busy = all.iter().filter(|stream| {
        let mine = own.is_some_and(|own| std::ptr::eq(own, **stream));
        !mine && !engine::wait_for(stream, stream.submitted(), until)
    });
    let busy = busy.count();
    drop(running);
    if busy > 0 {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_WAIT_TIMEOUT,
            format!(
                "tasks of {busy} streams of device {id} still ran after {timeout} ms and go on; what was \
                 queued behind them is dropped; give it more time, or 0 to wait for ever"
            ),
        ));
    }
    if let Err((name, answer)) = tell(id, abi::ACL_RT_DEVICE_TASK_ABORT_POST, timeout) {
        crate::log::warn(format_args!(
            "the callback \"{name}\" answered {answer} after the abort of device {id}; the abort is done"
        ));
    }
    Ok(())
}
