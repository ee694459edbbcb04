//! Chapter: errors.

use core::ffi::c_char;
use std::panic::catch_unwind;

use cannery_abi::{ACL_RT_THREAD_LEVEL, aclError, aclrtLastErrLevel};
use cannery_runtime::error::{self, Error};

fn last(api: &'static str, level: aclrtLastErrLevel, read: fn() -> i32) -> aclError {
    if level == ACL_RT_THREAD_LEVEL {
        return read();
    }
    error::record(
        api,
        &Error::value("level", level, "must be 0 (ACL_RT_THREAD_LEVEL)"),
    )
}

/// aclrtPeekAtLastError
#[unsafe(no_mangle)]
extern "C" fn aclrtPeekAtLastError(level: aclrtLastErrLevel) -> aclError {
    last("aclrtPeekAtLastError", level, error::last_error)
}

/// aclrtGetLastError
#[unsafe(no_mangle)]
extern "C" fn aclrtGetLastError(level: aclrtLastErrLevel) -> aclError {
    last("aclrtGetLastError", level, error::take_last_error)
}

/// aclGetRecentErrMsg
#[unsafe(no_mangle)]
extern "C" fn aclGetRecentErrMsg() -> *const c_char {
    catch_unwind(error::recent_message)
        .ok()
        .flatten()
        .unwrap_or(core::ptr::null())
}
