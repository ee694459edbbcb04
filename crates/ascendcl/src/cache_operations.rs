//! Chapter: cache operations in stream order.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::memory::cache_ops;

use crate::face::{faces, place};

faces! {
    /// aclrtDeviceL2CacheFlush
    fn aclrtDeviceL2CacheFlush(rsv: *mut c_void) => cache_ops::flush_l2(rsv as u64);
    /// aclrtCmoAsync
    fn aclrtCmoAsync(
        src: *mut c_void,
        size: usize,
        cmoType: abi::aclrtCmoType,
        stream: abi::aclrtStream,
    ) => cache_ops::operate(src as u64, size as u64, cmoType, stream as u64);
    /// aclrtCmoGetDescSize
    fn aclrtCmoGetDescSize(size: *mut usize) => cache_ops::descriptor_size(place(size));
    /// aclrtCmoSetDesc
    fn aclrtCmoSetDesc(cmoDesc: *mut c_void, src: *mut c_void, size: usize)
        => cache_ops::set_descriptor(cmoDesc as u64, src as u64, size as u64);
    /// aclrtCmoAsyncWithDesc
    fn aclrtCmoAsyncWithDesc(
        cmoDesc: *mut c_void,
        cmoType: abi::aclrtCmoType,
        stream: abi::aclrtStream,
        reserve: *const c_void,
    ) => cache_ops::operate_by_descriptor(
        cmoDesc as u64,
        cmoType,
        stream as u64,
        reserve as u64,
    );
    /// aclrtCmoAsyncWithBarrier
    fn aclrtCmoAsyncWithBarrier(
        src: *mut c_void,
        size: usize,
        cmoType: abi::aclrtCmoType,
        barrierId: u32,
        stream: abi::aclrtStream,
    ) => cache_ops::operate_with_barrier(
        src as u64,
        size as u64,
        cmoType,
        barrierId,
        stream as u64,
    );
    /// aclrtCmoWaitBarrier
    fn aclrtCmoWaitBarrier(
        taskInfo: *mut abi::aclrtBarrierTaskInfo,
        stream: abi::aclrtStream,
        flag: u32,
    ) => {
        let operations = place(taskInfo).map(|info| {
            (info.barrierNum, info.cmoInfo.map(|one| (one.cmoType, one.barrierId)))
        });
        cache_ops::wait_barrier(operations, stream as u64, flag)
    };
}
