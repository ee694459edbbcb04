//! Chapter: execution control.

use core::ffi::{c_char, c_void};

use cannery_abi as abi;
use cannery_runtime::graph::notes;
use cannery_runtime::memory::random_numbers;
use cannery_runtime::stream::{last_task, timeouts};

use crate::face::{array, faces, put};

faces! {
    /// aclrtSetOpExecuteTimeOut
    fn aclrtSetOpExecuteTimeOut(timeout: u32) => timeouts::set_operator_seconds(timeout);
    /// aclrtSetOpExecuteTimeOutWithMs
    fn aclrtSetOpExecuteTimeOutWithMs(timeout: u32) => timeouts::set_operator_milliseconds(timeout);
    /// aclrtSetOpExecuteTimeOutV2
    fn aclrtSetOpExecuteTimeOutV2(timeout: u64, actualTimeout: *mut u64)
        => put(actualTimeout, "actualTimeout", || timeouts::set_operator_micros(timeout));
    /// aclrtGetOpExecuteTimeout
    fn aclrtGetOpExecuteTimeout(timeoutMs: *mut u32)
        => put(timeoutMs, "timeoutMs", timeouts::operator_milliseconds);
    /// aclrtGetOpTimeOutInterval
    fn aclrtGetOpTimeOutInterval(interval: *mut u64)
        => put(interval, "interval", timeouts::operator_interval);
    /// aclrtGetThreadLastTaskId
    fn aclrtGetThreadLastTaskId(taskId: *mut u32) => put(taskId, "taskId", last_task::id);
    /// aclrtCacheLastTaskOpInfo
    fn aclrtCacheLastTaskOpInfo(infoPtr: *const c_void, infoSize: usize)
        => notes::operator(array(infoPtr.cast::<u8>(), infoSize.min(notes::MOST)), infoSize);
    /// aclrtCacheLastTaskExtendInfo
    fn aclrtCacheLastTaskExtendInfo(extendInfoPtr: *const c_char, infoSize: usize)
        => notes::more(array(extendInfoPtr.cast::<u8>(), infoSize.min(notes::MOST)), infoSize);
    /// aclrtRandomNumAsync
    fn aclrtRandomNumAsync(
        taskInfo: *const abi::aclrtRandomNumTaskInfo,
        stream: abi::aclrtStream,
        reserve: *mut c_void,
    ) => random_numbers::generate(
        array(taskInfo, 1).and_then(<[_]>::first),
        stream as u64,
        reserve as u64,
    );
}
