//! Chapter: memory copy and set.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::memory::batch::{self, Batch};
use cannery_runtime::memory::copy2d::{self, Plane};
use cannery_runtime::memory::{async_copy, copy, descriptor, reduce, set};

use crate::face::{addresses, array, faces, place, sizes};

faces! {
    /// aclrtMemcpy
    fn aclrtMemcpy(
        dst: *mut c_void,
        destMax: usize,
        src: *const c_void,
        count: usize,
        kind: abi::aclrtMemcpyKind,
    ) => {
        // SAFETY: host ranges are valid per the contract of the faces.
        unsafe { copy::memcpy(dst as u64, destMax as u64, src as u64, count as u64, kind) }
    };
    /// aclrtMemset
    fn aclrtMemset(devPtr: *mut c_void, maxCount: usize, value: i32, count: usize) => {
        // SAFETY: host ranges are valid per the contract of the faces.
        unsafe { set::memset(devPtr as u64, maxCount as u64, value, count as u64) }
    };
    /// aclrtMemsetD32
    fn aclrtMemsetD32(ptr: *mut c_void, memSize: usize, value: u32, N: usize)
        => set::memset_d32(ptr as u64, memSize as u64, value, N as u64);
    /// aclrtMemcpy2d
    fn aclrtMemcpy2d(
        dst: *mut c_void,
        dpitch: usize,
        src: *const c_void,
        spitch: usize,
        width: usize,
        height: usize,
        kind: abi::aclrtMemcpyKind,
    ) => {
        let to = Plane { address: dst as u64, pitch: dpitch as u64 };
        let from = Plane { address: src as u64, pitch: spitch as u64 };
        // SAFETY: host ranges are valid per the contract of the faces.
        unsafe { copy2d::memcpy2d(to, from, width as u64, height as u64, kind) }
    };
    /// aclrtMemcpyBatch
    fn aclrtMemcpyBatch(
        dsts: *mut *mut c_void,
        destMaxs: *mut usize,
        srcs: *mut *mut c_void,
        sizes: *mut usize,
        numBatches: usize,
        attrs: *mut abi::aclrtMemcpyBatchAttr,
        attrsIndexes: *mut usize,
        numAttrs: usize,
        failIndex: *mut usize,
    ) => {
        let batch = as_batch(dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs);
        // SAFETY: host ranges are valid per the contract of the faces.
        unsafe { batch::memcpy_batch(&batch, place(failIndex), true) }
    };
    /// aclrtMemcpyBatchV2
    fn aclrtMemcpyBatchV2(
        dsts: *mut *mut c_void,
        destMaxs: *mut usize,
        srcs: *mut *mut c_void,
        sizes: *mut usize,
        numBatches: usize,
        attrs: *mut abi::aclrtMemcpyBatchAttr,
        attrsIndexes: *mut usize,
        numAttrs: usize,
    ) => {
        let batch = as_batch(dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs);
        // SAFETY: host ranges are valid per the contract of the faces.
        unsafe { batch::memcpy_batch(&batch, None, false) }
    };
    /// aclrtMemcpyAsync
    fn aclrtMemcpyAsync(
        dst: *mut c_void,
        destMax: usize,
        src: *const c_void,
        count: usize,
        kind: abi::aclrtMemcpyKind,
        stream: abi::aclrtStream,
    ) => async_copy::memcpy(
        dst as u64,
        destMax as u64,
        src as u64,
        count as u64,
        kind,
        stream as u64,
    );
    /// aclrtMemcpyAsyncWithCondition
    fn aclrtMemcpyAsyncWithCondition(
        dst: *mut c_void,
        destMax: usize,
        src: *const c_void,
        count: usize,
        kind: abi::aclrtMemcpyKind,
        stream: abi::aclrtStream,
    ) => async_copy::memcpy(
        dst as u64,
        destMax as u64,
        src as u64,
        count as u64,
        kind,
        stream as u64,
    );
    /// aclrtMemsetAsync
    fn aclrtMemsetAsync(
        devPtr: *mut c_void,
        maxCount: usize,
        value: i32,
        count: usize,
        stream: abi::aclrtStream,
    ) => async_copy::memset(devPtr as u64, maxCount as u64, value, count as u64, stream as u64);
    /// aclrtMemsetD32Async
    fn aclrtMemsetD32Async(
        ptr: *mut c_void,
        memSize: usize,
        value: u32,
        N: usize,
        stream: abi::aclrtStream,
    ) => async_copy::memset_d32(ptr as u64, memSize as u64, value, N as u64, stream as u64);
    /// aclrtMemcpy2dAsync
    fn aclrtMemcpy2dAsync(
        dst: *mut c_void,
        dpitch: usize,
        src: *const c_void,
        spitch: usize,
        width: usize,
        height: usize,
        kind: abi::aclrtMemcpyKind,
        stream: abi::aclrtStream,
    ) => {
        let to = Plane { address: dst as u64, pitch: dpitch as u64 };
        let from = Plane { address: src as u64, pitch: spitch as u64 };
        async_copy::memcpy2d(to, from, width as u64, height as u64, kind, stream as u64)
    };
    /// aclrtMemcpyBatchAsync
    fn aclrtMemcpyBatchAsync(
        dsts: *mut *mut c_void,
        destMaxs: *mut usize,
        srcs: *mut *mut c_void,
        sizes: *mut usize,
        numBatches: usize,
        attrs: *mut abi::aclrtMemcpyBatchAttr,
        attrsIndexes: *mut usize,
        numAttrs: usize,
        failIndex: *mut usize,
        stream: abi::aclrtStream,
    ) => {
        let batch = as_batch(dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs);
        async_copy::memcpy_batch(&batch, place(failIndex), true, stream as u64)
    };
    /// aclrtMemcpyBatchAsyncV2
    fn aclrtMemcpyBatchAsyncV2(
        dsts: *mut *mut c_void,
        destMaxs: *mut usize,
        srcs: *mut *mut c_void,
        sizes: *mut usize,
        numBatches: usize,
        attrs: *mut abi::aclrtMemcpyBatchAttr,
        attrsIndexes: *mut usize,
        numAttrs: usize,
        stream: abi::aclrtStream,
    ) => {
        let batch = as_batch(dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs);
        async_copy::memcpy_batch(&batch, None, false, stream as u64)
    };
    /// aclrtMemcpyAsyncWithDesc
    fn aclrtMemcpyAsyncWithDesc(
        desc: *mut c_void,
        kind: abi::aclrtMemcpyKind,
        stream: abi::aclrtStream,
    ) => async_copy::memcpy_with_descriptor(desc as u64, kind, stream as u64);
    /// aclrtReduceAsync
    fn aclrtReduceAsync(
        dst: *mut c_void,
        src: *const c_void,
        count: u64,
        kind: abi::aclrtReduceKind,
        r#type: abi::aclDataType,
        stream: abi::aclrtStream,
        reserve: *mut c_void,
    ) => reduce::reduce(
        dst as u64,
        src as u64,
        count,
        kind,
        r#type,
        stream as u64,
        reserve as u64,
    );
    /// aclrtMemcpyAsyncWithOffset
    fn aclrtMemcpyAsyncWithOffset(
        dst: *mut *mut c_void,
        destMax: usize,
        dstDataOffset: usize,
        src: *mut *const c_void,
        count: usize,
        srcDataOffset: usize,
        kind: abi::aclrtMemcpyKind,
        stream: abi::aclrtStream,
    ) => reduce::copy_with_offset(
        dst as u64,
        destMax as u64,
        dstDataOffset as u64,
        src as u64,
        count as u64,
        srcDataOffset as u64,
        kind,
        stream as u64,
    );
    /// aclrtGetMemcpyDescSize
    fn aclrtGetMemcpyDescSize(kind: abi::aclrtMemcpyKind, descSize: *mut usize)
        => descriptor::size(kind, place(descSize));
    /// aclrtSetMemcpyDesc
    fn aclrtSetMemcpyDesc(
        desc: *mut c_void,
        kind: abi::aclrtMemcpyKind,
        srcAddr: *mut c_void,
        dstAddr: *mut c_void,
        count: usize,
        config: *mut c_void,
    ) => descriptor::set(
        desc as u64,
        kind,
        srcAddr as u64,
        dstAddr as u64,
        count as u64,
        config as u64,
    );
}

#[allow(clippy::too_many_arguments)] // the arrays of the C call
fn as_batch<'a>(
    dsts: *mut *mut c_void,
    dest_maxs: *mut usize,
    srcs: *mut *mut c_void,
    sizes_array: *mut usize,
    count: usize,
    attrs: *mut abi::aclrtMemcpyBatchAttr,
    indexes: *mut usize,
    runs: usize,
) -> Batch<'a> {
    Batch {
        dsts: addresses(dsts, count),
        dest_maxs: sizes(dest_maxs, count),
        srcs: addresses(srcs, count),
        sizes: sizes(sizes_array, count),
        attrs: array(attrs.cast_const(), runs),
        attr_indexes: sizes(indexes, runs),
        count,
    }
}
