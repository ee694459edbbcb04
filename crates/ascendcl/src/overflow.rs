//! The overflow status: device management, and the functions that only the header has.

use core::ffi::c_void;

use cannery_abi::aclrtStream;
use cannery_runtime::error::Error;
use cannery_runtime::stream::overflow::{flag_address, query, reset};

use crate::face::{address_place, faces};

faces! {
    /// aclrtCtxGetFloatOverflowAddr
    fn aclrtCtxGetFloatOverflowAddr(overflowAddr: *mut *mut c_void) => {
        let Some(place) = address_place(overflowAddr) else {
            return Err(Error::null("overflowAddr"));
        };
        *place = flag_address()?;
        Ok(())
    };
    /// aclrtGetOverflowStatus
    fn aclrtGetOverflowStatus(outputAddr: *mut c_void, outputSize: usize, stream: aclrtStream)
        => query(outputAddr as u64, outputSize as u64, stream as u64);
    /// aclrtResetOverflowStatus
    fn aclrtResetOverflowStatus(stream: aclrtStream) => reset(stream as u64);
    /// aclrtGetFloatOverflowStatus
    fn aclrtGetFloatOverflowStatus(outputAddr: *mut c_void, outputSize: u64, stream: aclrtStream)
        => query(outputAddr as u64, outputSize, stream as u64);
    /// aclrtResetFloatOverflowStatus
    fn aclrtResetFloatOverflowStatus(stream: aclrtStream) => reset(stream as u64);
    /// aclrtNpuGetFloatOverFlowStatus: no source says what `checkMode` chooses; there is one status.
    fn aclrtNpuGetFloatOverFlowStatus(
        outputAddr: *mut c_void,
        outputSize: u64,
        checkMode: u32,
        stream: aclrtStream,
    ) => {
        let _ = checkMode;
        query(outputAddr as u64, outputSize, stream as u64)
    };
    /// aclrtNpuClearFloatOverFlowStatus: as aclrtNpuGetFloatOverFlowStatus.
    fn aclrtNpuClearFloatOverFlowStatus(checkMode: u32, stream: aclrtStream) => {
        let _ = checkMode;
        reset(stream as u64)
    };
}
