//! Chapter: stream-ordered pools.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::error::Error;
use cannery_runtime::memory::stream_ordered_pool as pool;

use crate::face::{address_place, faces};

faces! {
    /// aclrtMemPoolCreate
    fn aclrtMemPoolCreate(
        memPool: *mut abi::aclrtMemPool,
        poolProps: *const abi::aclrtMemPoolProps,
    ) => {
        let Some(place) = address_place(memPool) else { return Err(Error::null("memPool")) };
        // SAFETY: NULL or valid per the contract of the faces.
        let Some(properties) = (unsafe { poolProps.as_ref() }) else {
            return Err(Error::null("poolProps"));
        };
        *place = pool::create(&pool::Properties {
            allocation: properties.allocType,
            location: properties.location.r#type,
            device: properties.location.id,
            most: properties.maxSize as u64,
            reserved: properties.reserved.iter().any(|byte| *byte != 0),
        })?;
        Ok(())
    };
    /// aclrtMemPoolDestroy
    fn aclrtMemPoolDestroy(memPool: abi::aclrtMemPool) => pool::destroy(memPool as u64);
    /// aclrtMemPoolSetAttr
    fn aclrtMemPoolSetAttr(
        memPool: abi::aclrtMemPool,
        attr: abi::aclrtMemPoolAttr,
        value: *mut c_void,
    ) => {
        let number = if pool::check_attribute(memPool as u64, attr, value.is_null())? {
            // SAFETY: not NULL, so it points to what the attribute is made of: 32 bits.
            u64::from(unsafe { value.cast::<u32>().read_unaligned() })
        } else {
            // SAFETY: as above: 64 bits.
            unsafe { value.cast::<u64>().read_unaligned() }
        };
        pool::set_attribute(memPool as u64, attr, number)
    };
    /// aclrtMemPoolGetAttr
    fn aclrtMemPoolGetAttr(
        memPool: abi::aclrtMemPool,
        attr: abi::aclrtMemPoolAttr,
        value: *mut c_void,
    ) => {
        let short = pool::check_attribute(memPool as u64, attr, value.is_null())?;
        let number = pool::get_attribute(memPool as u64, attr)?;
        if short {
            // SAFETY: not NULL, so it has room for what the attribute is made of: 32 bits.
            unsafe { value.cast::<u32>().write_unaligned(number as u32) };
        } else {
            // SAFETY: as above: 64 bits.
            unsafe { value.cast::<u64>().write_unaligned(number) };
        }
        Ok(())
    };
    /// aclrtMemPoolTrimTo
    fn aclrtMemPoolTrimTo(memPool: abi::aclrtMemPool, minBytesToKeep: usize)
        => pool::trim(memPool as u64, minBytesToKeep as u64);
    /// aclrtMemPoolMallocAsync
    fn aclrtMemPoolMallocAsync(
        ptr: *mut *mut c_void,
        size: usize,
        memPool: abi::aclrtMemPool,
        stream: abi::aclrtStream,
    ) => pool::alloc(address_place(ptr), size as u64, memPool as u64, stream as u64);
    /// aclrtMemPoolFreeAsync
    fn aclrtMemPoolFreeAsync(ptr: *mut c_void, stream: abi::aclrtStream)
        => pool::free(ptr as u64, stream as u64);
}
