//! Chapter: managed memory.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::memory::managed::{self, Batch, Location};
use cannery_runtime::memory::peer_map;

use crate::face::{address_place, addresses, array, faces, sizes};

faces! {
    /// aclrtMemAllocManaged
    fn aclrtMemAllocManaged(ptr: *mut *mut c_void, size: u64, flag: u32)
        => managed::allocate(address_place(ptr), size, flag);
    /// aclrtMemManagedAdvise
    fn aclrtMemManagedAdvise(
        ptr: *const c_void,
        size: u64,
        advise: abi::aclrtMemManagedAdviseType,
        location: abi::aclrtMemManagedLocation,
    ) => managed::advise(ptr as u64, size, advise, place(location));
    /// aclrtMemManagedPrefetchAsync
    fn aclrtMemManagedPrefetchAsync(
        ptr: *const c_void,
        size: usize,
        location: abi::aclrtMemManagedLocation,
        flags: u32,
        stream: abi::aclrtStream,
    ) => managed::prefetch(ptr as u64, size as u64, place(location), flags, stream as u64);
    /// aclrtMemManagedPrefetchBatchAsync
    fn aclrtMemManagedPrefetchBatchAsync(
        ptrs: *mut *const c_void,
        sizes: *mut usize,
        count: usize,
        prefetchLocs: *mut abi::aclrtMemManagedLocation,
        prefetchLocIdxs: *mut usize,
        numPrefetchLocs: usize,
        flags: u64,
        stream: abi::aclrtStream,
    ) => {
        let batch = Batch {
            addresses: addresses(ptrs.cast(), count),
            sizes: crate::face::sizes(sizes, count),
            locations: array(prefetchLocs.cast_const(), numPrefetchLocs),
            indexes: crate::face::sizes(prefetchLocIdxs, numPrefetchLocs),
            count,
            runs: numPrefetchLocs,
        };
        managed::prefetch_batch(&batch, flags, stream as u64)
    };
    /// aclrtMemManagedGetAttr
    fn aclrtMemManagedGetAttr(
        attribute: abi::aclrtMemManagedRangeAttribute,
        ptr: *const c_void,
        size: usize,
        data: *mut c_void,
        dataSize: usize,
    ) => managed::attribute(
        attribute,
        ptr as u64,
        size as u64,
        !data.is_null(),
        dataSize as u64,
        |numbers| answers(data, numbers),
    );
    /// aclrtMemManagedGetAttrs
    fn aclrtMemManagedGetAttrs(
        attributes: *mut abi::aclrtMemManagedRangeAttribute,
        numAttributes: usize,
        ptr: *const c_void,
        size: usize,
        data: *mut *mut c_void,
        dataSizes: *mut usize,
    ) => managed::attributes(
        array(attributes.cast_const(), numAttributes),
        ptr as u64,
        size as u64,
        !data.is_null(),
        sizes(dataSizes, numAttributes),
        |i, numbers| {
            let place = addresses(data, numAttributes)?[i] as *mut c_void;
            (!place.is_null()).then(|| answers(place, numbers))
        },
    );
    /// aclrtMemP2PMap
    fn aclrtMemP2PMap(devPtr: *mut c_void, size: usize, dstDevId: i32, flags: u64)
        => peer_map::map(devPtr as u64, size as u64, dstDevId, flags);
}

fn place(location: abi::aclrtMemManagedLocation) -> Location {
    Location {
        kind: location.r#type,
        id: location.id,
    }
}

/// A place for so many numbers.
fn answers<'a>(data: *mut c_void, numbers: usize) -> &'a mut [i32] {
    // SAFETY: not NULL, as the callers checked, so valid for the bytes that the caller of the C function
    // gave, per the contract of the faces.
    unsafe { core::slice::from_raw_parts_mut(data.cast::<i32>(), numbers) }
}
