//! Chapter: virtual memory management.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::memory::virtual_memory::{self, Grant, Property};

use crate::face::{address_place, array, faces, place};

fn property(pointer: *const abi::aclrtPhysicalMemProp) -> Option<Property> {
    let prop = array(pointer, 1)?.first()?;
    Some(Property {
        handle_type: prop.handleType,
        allocation_type: prop.allocationType,
        attribute: prop.memAttr,
        location_type: prop.location.r#type,
        location_id: prop.location.id,
    })
}

fn grants(desc: *const abi::aclrtMemAccessDesc, count: usize) -> Option<Vec<Grant>> {
    let grant = |desc: &abi::aclrtMemAccessDesc| Grant {
        flags: desc.flags,
        location_type: desc.location.r#type,
        location_id: desc.location.id,
    };
    Some(array(desc, count)?.iter().map(grant).collect())
}

fn location(pointer: *const abi::aclrtMemLocation) -> Option<(i32, u32)> {
    let location = array(pointer, 1)?.first()?;
    Some((location.r#type, location.id))
}

faces! {
    /// aclrtReserveMemAddress
    fn aclrtReserveMemAddress(
        virPtr: *mut *mut c_void,
        size: usize,
        alignment: usize,
        expectPtr: *mut c_void,
        flags: u64,
    ) => virtual_memory::reserve(
        address_place(virPtr), size as u64, alignment as u64, expectPtr as u64, flags,
    );
    /// aclrtReserveMemAddressNoUCMemory
    fn aclrtReserveMemAddressNoUCMemory(
        virPtr: *mut *mut c_void,
        size: usize,
        alignment: usize,
        expectPtr: *mut c_void,
        flags: u64,
    ) => virtual_memory::reserve_no_uc(
        address_place(virPtr), size as u64, alignment as u64, expectPtr as u64, flags,
    );
    /// aclrtReleaseMemAddress
    fn aclrtReleaseMemAddress(virPtr: *mut c_void) => virtual_memory::release(virPtr as u64);
    /// aclrtMallocPhysical
    fn aclrtMallocPhysical(
        handle: *mut abi::aclrtDrvMemHandle,
        size: usize,
        prop: *const abi::aclrtPhysicalMemProp,
        flags: u64,
    ) => virtual_memory::malloc_physical(
        address_place(handle.cast()), size as u64, property(prop).as_ref(), flags,
    );
    /// aclrtFreePhysical
    fn aclrtFreePhysical(handle: abi::aclrtDrvMemHandle) => virtual_memory::free_physical(handle as u64);
    /// aclrtMapMem
    fn aclrtMapMem(
        virPtr: *mut c_void,
        size: usize,
        offset: usize,
        handle: abi::aclrtDrvMemHandle,
        flags: u64,
    ) => virtual_memory::map(virPtr as u64, size as u64, offset as u64, handle as u64, flags);
    /// aclrtMemMapNoAccess
    fn aclrtMemMapNoAccess(
        virPtr: *mut c_void,
        size: usize,
        offset: usize,
        handle: abi::aclrtDrvMemHandle,
        flags: u64,
    ) => virtual_memory::map_no_access(virPtr as u64, size as u64, offset as u64, handle as u64, flags);
    /// aclrtUnmapMem
    fn aclrtUnmapMem(virPtr: *mut c_void) => virtual_memory::unmap(virPtr as u64);
    /// aclrtMemMapSelectedLink
    fn aclrtMemMapSelectedLink(
        virPtrDst: *mut c_void,
        size: usize,
        virPtrSrc: *mut c_void,
        linkIdx: u32,
    ) => virtual_memory::map_selected_link(virPtrDst as u64, size as u64, virPtrSrc as u64, linkIdx);
    /// aclrtMemMapSetLink
    fn aclrtMemMapSetLink(handle: abi::aclrtDrvMemHandle, adviceLink: abi::aclrtMemLinkType)
        => virtual_memory::set_link(handle as u64, adviceLink);
    /// aclrtMemSetAccess
    fn aclrtMemSetAccess(
        virPtr: *mut c_void,
        size: usize,
        desc: *mut abi::aclrtMemAccessDesc,
        count: usize,
    ) => virtual_memory::set_access(virPtr as u64, size as u64, grants(desc, count).as_deref());
    /// aclrtMemGetAccess
    fn aclrtMemGetAccess(
        virPtr: *mut c_void,
        location: *mut abi::aclrtMemLocation,
        flag: *mut u64,
    ) => virtual_memory::get_access(virPtr as u64, self::location(location), place(flag));
    /// aclrtMemGetAllocationGranularity
    fn aclrtMemGetAllocationGranularity(
        prop: *mut abi::aclrtPhysicalMemProp,
        option: abi::aclrtMemGranularityOptions,
        granularity: *mut usize,
    ) => virtual_memory::granularity(property(prop).as_ref(), option, place(granularity));
    /// aclrtMemGetAllocationPropertiesFromHandle
    fn aclrtMemGetAllocationPropertiesFromHandle(
        handle: abi::aclrtDrvMemHandle,
        prop: *mut abi::aclrtPhysicalMemProp,
    ) => virtual_memory::properties_of(handle as u64, place(prop));
    /// aclrtMemRetainAllocationHandle
    fn aclrtMemRetainAllocationHandle(virPtr: *mut c_void, handle: *mut abi::aclrtDrvMemHandle)
        => virtual_memory::retain(virPtr as u64, address_place(handle.cast()));
}
