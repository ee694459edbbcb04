//! Manual chapter: errors. Functions of the program that are called when a queued task fails, and what they
//! can ask about it.
//!
//! They are called on the thread that found the failure, which has to go on with the stream: they must
//! not wait for it.
#![allow(unsafe_code)] // they are C functions

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cannery_abi as abi;

use super::Stream;
use crate::error::{Error, Fault, Result};
use crate::patient;
use crate::process::current;

type Function = unsafe extern "C" fn(*mut abi::aclrtExceptionInfo);

/// What is registered, process-wide.
struct Callbacks {
    /// By aclrtSetExceptionInfoCallback.
    single: Option<Function>,
    /// By aclrtExceptionInfoCallbackRegister.
    others: Vec<Function>,
}

static CALLBACKS: Mutex<Callbacks> = Mutex::new(Callbacks {
    single: None,
    others: Vec::new(),
});
/// Whether there is any: streams look here first.
static ANY: AtomicBool = AtomicBool::new(false);

/// Facts about a failed task.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    /// User id of the device.
    pub device: u32,
    /// As aclrtStreamGetId.
    pub stream: u32,
    /// As aclrtGetThreadLastTaskId.
    pub task: u32,
    /// The aclError.
    pub code: u32,
}

/// Failures whose callbacks run now, by the number that those get as a pointer.
static RUNNING: Mutex<BTreeMap<u64, Failure>> = Mutex::new(BTreeMap::new());
static NEXT: AtomicU64 = AtomicU64::new(1);
/// Handles look like addresses that no mapping has.
const TAG: u64 = 0x00d8_0000_0000_0000;

fn change(act: impl FnOnce(&mut Callbacks)) -> Result<()> {
    current()?;
    let mut callbacks = patient::lock(&CALLBACKS).ok_or(Fault::Forked)?;
    act(&mut callbacks);
    let any = callbacks.single.is_some() || !callbacks.others.is_empty();
    ANY.store(any, Ordering::Release);
    Ok(())
}

/// aclrtSetExceptionInfoCallback: the last one counts, none clears it.
///
/// # Errors
/// 207000 where the product has none.
pub fn set(callback: abi::aclrtExceptionInfoCallback) -> Result<()> {
    change(|callbacks| callbacks.single = callback)
}

fn needed(callback: abi::aclrtExceptionInfoCallback) -> Result<Function> {
    callback.ok_or_else(|| {
        Fault::NullCode {
            code: abi::ACL_ERROR_RT_PARAM_INVALID,
            param: "callback",
        }
        .into()
    })
}

/// aclrtExceptionInfoCallbackRegister: one more; the same one again is kept once.
///
/// # Errors
/// 107000 without a function; 207000.
pub fn register(callback: abi::aclrtExceptionInfoCallback) -> Result<()> {
    let function = needed(callback)?;
    change(|callbacks| {
        let others = &mut callbacks.others;
        if !others
            .iter()
            .any(|other| std::ptr::fn_addr_eq(*other, function))
        {
            others.push(function);
        }
    })
}

/// aclrtExceptionInfoCallbackUnregister. Does not wait for calls under way.
///
/// # Errors
/// As [`register`]. One that is not registered is no error.
pub fn unregister(callback: abi::aclrtExceptionInfoCallback) -> Result<()> {
    let function = needed(callback)?;
    change(|callbacks| {
        callbacks
            .others
            .retain(|other| !std::ptr::fn_addr_eq(*other, function));
    })
}

/// A task of the stream failed with `code`.
#[cold]
pub(super) fn tell(stream: &Stream, code: i32) {
    if !ANY.load(Ordering::Acquire) {
        return;
    }
    let functions: Vec<Function> = match patient::lock(&CALLBACKS) {
        Some(callbacks) => {
            let others = callbacks.others.iter().copied();
            callbacks.single.into_iter().chain(others).collect()
        }
        None => return,
    };
    let number = stream.done.load(Ordering::Acquire) - stream.before.load(Ordering::Acquire);
    let device = stream.home().context.map(|context| context.device_index());
    let failure = Failure {
        device: device.map_or(u32::MAX, |index| index as u32),
        stream: stream.id.load(Ordering::Acquire),
        task: number as u32,
        code: code.cast_unsigned(),
    };
    let handle = TAG | NEXT.fetch_add(1, Ordering::Relaxed) << 4;
    if let Some(mut running) = patient::lock(&RUNNING) {
        running.insert(handle, failure);
    }
    for function in functions {
        // SAFETY: a function of the program for this purpose; it passes the pointer on to the getters,
        // which follow no pointer.
        unsafe { function(handle as *mut abi::aclrtExceptionInfo) };
    }
    if let Some(mut running) = patient::lock(&RUNNING) {
        running.remove(&handle);
    }
}

/// The facts that a callback asks for.
///
/// # Errors
/// 100000 for NULL, and for what is no failure whose callbacks run.
pub fn facts(info: u64) -> Result<Failure> {
    if info == 0 {
        return Err(Error::null("info"));
    }
    current()?;
    let running = patient::lock(&RUNNING).ok_or(Fault::Forked)?;
    running.get(&info).copied().ok_or_else(|| {
        Error::cause(
            "info",
            format!("{info:#x}"),
            "is no exception information; it is good only inside the callback that got it",
        )
    })
}
