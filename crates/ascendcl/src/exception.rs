//! Chapter: errors. Functions that are called when a queued task fails.

use cannery_abi::{aclrtExceptionInfo, aclrtExceptionInfoCallback};
use cannery_runtime::stream::exception::{self, Failure};

use crate::face::{faces, value_or};

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
