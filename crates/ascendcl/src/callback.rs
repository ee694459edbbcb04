//! Chapter: callbacks.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::stream::{host_function, report};

use crate::face::faces;

faces! {
    /// aclrtLaunchHostFunc
    fn aclrtLaunchHostFunc(stream: abi::aclrtStream, r#fn: abi::aclrtHostFunc, args: *mut c_void)
        => host_function::launch(stream as u64, r#fn, args);
    /// aclrtSubscribeReport
    fn aclrtSubscribeReport(threadId: u64, stream: abi::aclrtStream)
        => report::subscribe(threadId, stream as u64);
    /// aclrtUnSubscribeReport
    fn aclrtUnSubscribeReport(threadId: u64, stream: abi::aclrtStream)
        => report::unsubscribe(threadId, stream as u64);
    /// aclrtLaunchCallback
    fn aclrtLaunchCallback(
        r#fn: abi::aclrtCallback,
        userData: *mut c_void,
        blockType: abi::aclrtCallbackBlockType,
        stream: abi::aclrtStream,
    ) => report::launch(r#fn, userData, blockType, stream as u64);
    /// aclrtProcessReport
    fn aclrtProcessReport(timeout: i32) => report::process(timeout);
}
