//! Chapter: errors. Functions that are called when a queued task fails; what is wrong with a device; dropping
//! everything that is queued on it.

use core::ffi::{c_char, c_void};

use cannery_abi as abi;
use cannery_abi::{aclrtExceptionInfo, aclrtExceptionInfoCallback};
use cannery_runtime::error::Error;
use cannery_runtime::health;
use cannery_runtime::stream::device_abort;
use cannery_runtime::stream::exception::{self, Failure};

use crate::face::{entries, faces, place, text, value_or};

faces! {
    /// aclrtSetExceptionInfoCallback
    fn aclrtSetExceptionInfoCallback(callback: aclrtExceptionInfoCallback)
        => exception::set(callback);
    /// aclrtExceptionInfoCallbackRegister
    fn aclrtExceptionInfoCallbackRegister(callback: aclrtExceptionInfoCallback)
        => exception::register(callback);
    /// aclrtExceptionInfoCallbackUnregister
    fn aclrtExceptionInfoCallbackUnregister(callback: aclrtExceptionInfoCallback)
        => exception::unregister(callback);
}

/// What the getters answer when there is no such information.
const NOTHING: u64 = u32::MAX as u64;

/// Defines getters of one fact.
macro_rules! facts {
    ($($(#[$meta:meta])* $name:ident, $text:literal: $fact:expr;)*) => {
        $(
            $(#[$meta])*
            #[unsafe(no_mangle)]
            extern "C" fn $name(info: *const aclrtExceptionInfo) -> u32 {
                let fact: fn(Failure) -> u32 = $fact;
                let find = || exception::facts(info as u64).map(|facts| u64::from(fact(facts)));
                value_or!(NOTHING, $text, find) as u32
            }
        )*
    };
}

// exports: aclrtGetDeviceIdFromExceptionInfo, aclrtGetStreamIdFromExceptionInfo
// exports: aclrtGetTaskIdFromExceptionInfo, aclrtGetThreadIdFromExceptionInfo
// exports: aclrtGetErrorCodeFromExceptionInfo
facts! {
    /// aclrtGetDeviceIdFromExceptionInfo
    aclrtGetDeviceIdFromExceptionInfo, "aclrtGetDeviceIdFromExceptionInfo": |facts| facts.device;
    /// aclrtGetStreamIdFromExceptionInfo
    aclrtGetStreamIdFromExceptionInfo, "aclrtGetStreamIdFromExceptionInfo": |facts| facts.stream;
    /// aclrtGetTaskIdFromExceptionInfo
    aclrtGetTaskIdFromExceptionInfo, "aclrtGetTaskIdFromExceptionInfo": |facts| facts.task;
    /// aclrtGetThreadIdFromExceptionInfo: who submitted a task is not kept.
    aclrtGetThreadIdFromExceptionInfo, "aclrtGetThreadIdFromExceptionInfo": |_| u32::MAX;
    /// aclrtGetErrorCodeFromExceptionInfo
    aclrtGetErrorCodeFromExceptionInfo, "aclrtGetErrorCodeFromExceptionInfo": |facts| facts.code;
}

faces! {
    /// aclrtDeviceTaskAbort
    fn aclrtDeviceTaskAbort(deviceId: i32, timeout: u32) => device_abort::abort(deviceId, timeout);
    /// aclrtSetDeviceTaskAbortCallback
    fn aclrtSetDeviceTaskAbortCallback(
        regName: *const c_char,
        callback: abi::aclrtDeviceTaskAbortCallback,
        args: *mut c_void,
    ) => device_abort::register(text(regName).as_deref(), callback, args);
    /// aclrtGetErrorVerbose
    fn aclrtGetErrorVerbose(deviceId: i32, errorInfo: *mut abi::aclrtErrorInfo)
        => health::fault(deviceId, place(errorInfo));
    /// aclrtRepairError
    fn aclrtRepairError(deviceId: i32, errorInfo: *const abi::aclrtErrorInfo)
        => health::repair(deviceId, place(errorInfo.cast_mut()).map(|info| &*info));
    /// aclrtGetMemUceInfo
    fn aclrtGetMemUceInfo(
        deviceId: i32,
        memUceInfoArray: *mut abi::aclrtMemUceInfo,
        arraySize: usize,
        retSize: *mut usize,
    ) => health::damaged(deviceId, !memUceInfoArray.is_null(), arraySize, place(retSize));
    /// aclrtMemUceRepair
    fn aclrtMemUceRepair(
        deviceId: i32,
        memUceInfoArray: *mut abi::aclrtMemUceInfo,
        arraySize: usize,
    ) => {
        let null = || Error::null("memUceInfoArray");
        let ranges = entries(memUceInfoArray.cast_const(), arraySize, "arraySize", null)?;
        health::repair_memory(deviceId, ranges)
    };
}
