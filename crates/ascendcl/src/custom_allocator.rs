//! Chapter: custom memory allocator.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::custom_allocator::{self, Member};
use cannery_runtime::profile::products_of;

use crate::face::{answer, faces};

/// aclrtAllocatorCreateDesc: NULL on failure.
#[unsafe(no_mangle)]
extern "C" fn aclrtAllocatorCreateDesc() -> abi::aclrtAllocatorDesc {
    const PRODUCTS: u8 = products_of("aclrtAllocatorCreateDesc");
    let mut handle = 0;
    answer("aclrtAllocatorCreateDesc", PRODUCTS, || {
        handle = custom_allocator::create()?;
        Ok(())
    });
    handle as abi::aclrtAllocatorDesc
}

faces! {
    /// aclrtAllocatorDestroyDesc
    fn aclrtAllocatorDestroyDesc(allocatorDesc: abi::aclrtAllocatorDesc)
        => custom_allocator::destroy(allocatorDesc as u64);
    /// aclrtAllocatorSetObjToDesc
    fn aclrtAllocatorSetObjToDesc(
        allocatorDesc: abi::aclrtAllocatorDesc,
        allocator: abi::aclrtAllocator,
    ) => custom_allocator::set(allocatorDesc as u64, Member::Object(allocator as u64));
    /// aclrtAllocatorSetAllocFuncToDesc
    fn aclrtAllocatorSetAllocFuncToDesc(
        allocatorDesc: abi::aclrtAllocatorDesc,
        func: abi::aclrtAllocatorAllocFunc,
    ) => custom_allocator::set(allocatorDesc as u64, Member::Alloc(func));
    /// aclrtAllocatorSetFreeFuncToDesc
    fn aclrtAllocatorSetFreeFuncToDesc(
        allocatorDesc: abi::aclrtAllocatorDesc,
        func: abi::aclrtAllocatorFreeFunc,
    ) => custom_allocator::set(allocatorDesc as u64, Member::Free(func));
    /// aclrtAllocatorSetAllocAdviseFuncToDesc
    fn aclrtAllocatorSetAllocAdviseFuncToDesc(
        allocatorDesc: abi::aclrtAllocatorDesc,
        func: abi::aclrtAllocatorAllocAdviseFunc,
    ) => custom_allocator::set(allocatorDesc as u64, Member::Advise(func));
    /// aclrtAllocatorSetGetAddrFromBlockFuncToDesc
    fn aclrtAllocatorSetGetAddrFromBlockFuncToDesc(
        allocatorDesc: abi::aclrtAllocatorDesc,
        func: abi::aclrtAllocatorGetAddrFromBlockFunc,
    ) => custom_allocator::set(allocatorDesc as u64, Member::Address(func));
    /// aclrtAllocatorRegister
    fn aclrtAllocatorRegister(
        stream: abi::aclrtStream,
        allocatorDesc: abi::aclrtAllocatorDesc,
    ) => custom_allocator::register(stream as u64, allocatorDesc as u64);
    /// aclrtAllocatorUnregister
    fn aclrtAllocatorUnregister(stream: abi::aclrtStream)
        => custom_allocator::unregister(stream as u64);
    /// aclrtAllocatorGetByStream
    fn aclrtAllocatorGetByStream(
        stream: abi::aclrtStream,
        allocatorDesc: *mut abi::aclrtAllocatorDesc,
        allocator: *mut abi::aclrtAllocator,
        allocFunc: *mut abi::aclrtAllocatorAllocFunc,
        freeFunc: *mut abi::aclrtAllocatorFreeFunc,
        allocAdviseFunc: *mut abi::aclrtAllocatorAllocAdviseFunc,
        getAddrFromBlockFunc: *mut abi::aclrtAllocatorGetAddrFromBlockFunc,
    ) => {
        let missing = [
            ("allocatorDesc", allocatorDesc.is_null()),
            ("allocator", allocator.is_null()),
            ("allocFunc", allocFunc.is_null()),
            ("freeFunc", freeFunc.is_null()),
            ("allocAdviseFunc", allocAdviseFunc.is_null()),
            ("getAddrFromBlockFunc", getAddrFromBlockFunc.is_null()),
        ];
        let missing = missing.iter().find(|(_, null)| *null).map(|(name, _)| *name);
        let (descriptor, found) = custom_allocator::of_stream(stream as u64, missing)?;
        // SAFETY: none is NULL, so each is valid per the contract of the faces.
        unsafe {
            allocatorDesc.write(descriptor as abi::aclrtAllocatorDesc);
            allocator.write(found.object as *mut c_void);
            allocFunc.write(found.alloc);
            freeFunc.write(found.free);
            allocAdviseFunc.write(found.advise);
            getAddrFromBlockFunc.write(found.address);
        }
        Ok(())
    };
}
