//! Chapter: runtime configuration. Limits of cores.

use cannery_abi as abi;
use cannery_runtime::core_limits;

use crate::face::{faces, put};

faces! {
    /// aclrtSetDeviceResLimit
    fn aclrtSetDeviceResLimit(deviceId: i32, r#type: abi::aclrtDevResLimitType, value: u32)
        => core_limits::set_of_device(deviceId, r#type, value);
    /// aclrtGetDeviceResLimit
    fn aclrtGetDeviceResLimit(deviceId: i32, r#type: abi::aclrtDevResLimitType, value: *mut u32)
        => put(value, "value", || core_limits::get_of_device(deviceId, r#type));
    /// aclrtResetDeviceResLimit
    fn aclrtResetDeviceResLimit(deviceId: i32) => core_limits::reset_of_device(deviceId);
    /// aclrtSetStreamResLimit
    fn aclrtSetStreamResLimit(
        stream: abi::aclrtStream,
        r#type: abi::aclrtDevResLimitType,
        value: u32,
    ) => core_limits::set_of_stream(stream as u64, r#type, value);
    /// aclrtGetStreamResLimit
    fn aclrtGetStreamResLimit(
        stream: abi::aclrtStream,
        r#type: abi::aclrtDevResLimitType,
        value: *mut u32,
    ) => put(value, "value", || core_limits::get_of_stream(stream as u64, r#type));
    /// aclrtResetStreamResLimit
    fn aclrtResetStreamResLimit(stream: abi::aclrtStream)
        => core_limits::reset_of_stream(stream as u64);
    /// aclrtUseStreamResInCurrentThread
    fn aclrtUseStreamResInCurrentThread(stream: abi::aclrtStream)
        => core_limits::use_in_thread(stream as u64);
    /// aclrtUnuseStreamResInCurrentThread
    fn aclrtUnuseStreamResInCurrentThread(stream: abi::aclrtStream)
        => core_limits::unuse_in_thread(stream as u64);
    /// aclrtGetResInCurrentThread
    fn aclrtGetResInCurrentThread(r#type: abi::aclrtDevResLimitType, value: *mut u32)
        => put(value, "value", || core_limits::in_thread(r#type));
}
