//! Chapter: virtual memory management.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::error::{Error, Fault, Result};
use cannery_runtime::memory::virtual_memory::{self, Form, Grant, Property, Shareable};

use crate::face::{address_place, array, entries, faces, place};

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

fn grants(desc: *const abi::aclrtMemAccessDesc, count: usize) -> Result<Vec<Grant>> {
    let grant = |desc: &abi::aclrtMemAccessDesc| Grant {
        flags: desc.flags,
        location_type: desc.location.r#type,
        location_id: desc.location.id,
    };
    let list = entries(desc, count, "count", || {
        Fault::RtNull { param: "desc" }.into()
    })?;
    Ok(list.iter().map(grant).collect())
}

fn location(pointer: *const abi::aclrtMemLocation) -> Option<(i32, u32)> {
    let location = array(pointer, 1)?.first()?;
    Some((location.r#type, location.id))
}

fn pids<'a>(pid: *mut i32, count: usize) -> Result<&'a [i32]> {
    if pid.is_null() {
        return Err(Error::null("pid"));
    }
    if count == 0 {
        return Err(Error::zero("pidNum"));
    }
    array(pid.cast_const(), count).ok_or_else(|| Error::null("pid"))
}

fn of_number(number: u64) -> Shareable {
    let mut bytes = [0; 128];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes
}

/// Reads a shareable handle that is not NULL.
fn read_shareable(at: *const c_void, form: Form) -> Shareable {
    let mut bytes = [0; 128];
    // SAFETY: not NULL, so a handle of this form per the contract of the faces.
    unsafe { core::ptr::copy_nonoverlapping(at.cast(), bytes.as_mut_ptr(), form.bytes()) };
    bytes
}

/// Writes a shareable handle to a place that is not NULL.
fn write_shareable(to: *mut c_void, form: Form, bytes: &Shareable) {
    // SAFETY: not NULL, so it has room for a handle of this form per the contract of the faces.
    unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), form.bytes()) };
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
    ) => {
        // NULL as the address is found before the list is read.
        let grants = if virPtr.is_null() { Vec::new() } else { grants(desc, count)? };
        virtual_memory::set_access(virPtr as u64, size as u64, &grants)
    };
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
    /// aclrtMemExportToShareableHandle
    fn aclrtMemExportToShareableHandle(
        handle: abi::aclrtDrvMemHandle,
        handleType: abi::aclrtMemHandleType,
        flags: u64,
        shareableHandle: *mut u64,
    ) => {
        if handle.is_null() {
            return Err(Error::null("handle"));
        }
        if handleType != abi::ACL_MEM_HANDLE_TYPE_NONE {
            return Err(Error::value("handleType", handleType, "must be 0 (ACL_MEM_HANDLE_TYPE_NONE)"));
        }
        if shareableHandle.is_null() {
            return Err(Error::null("shareableHandle"));
        }
        let made = virtual_memory::export(handle as u64, Form::Number, flags)?;
        write_shareable(shareableHandle.cast(), Form::Number, &made);
        Ok(())
    };
    /// aclrtMemExportToShareableHandleV2
    fn aclrtMemExportToShareableHandleV2(
        handle: abi::aclrtDrvMemHandle,
        flags: u64,
        shareType: abi::aclrtMemSharedHandleType,
        shareableHandle: *mut c_void,
    ) => {
        if handle.is_null() {
            return Err(Error::null("handle"));
        }
        if shareableHandle.is_null() {
            return Err(Error::null("shareableHandle"));
        }
        let form = Form::of(shareType)?;
        let made = virtual_memory::export(handle as u64, form, flags)?;
        write_shareable(shareableHandle, form, &made);
        Ok(())
    };
    /// aclrtMemSetPidToShareableHandle
    fn aclrtMemSetPidToShareableHandle(shareableHandle: u64, pid: *mut i32, pidNum: usize) => {
        let pids = pids(pid, pidNum)?;
        virtual_memory::allow(Form::Number, &of_number(shareableHandle), pids)
    };
    /// aclrtMemSetPidToShareableHandleV2
    fn aclrtMemSetPidToShareableHandleV2(
        shareableHandle: *mut c_void,
        shareType: abi::aclrtMemSharedHandleType,
        pid: *mut i32,
        pidNum: usize,
    ) => {
        if shareableHandle.is_null() {
            return Err(Error::null("shareableHandle"));
        }
        let pids = pids(pid, pidNum)?;
        let form = Form::of(shareType)?;
        virtual_memory::allow(form, &read_shareable(shareableHandle, form), pids)
    };
    /// aclrtMemImportFromShareableHandle
    fn aclrtMemImportFromShareableHandle(
        shareableHandle: u64,
        deviceId: i32,
        handle: *mut abi::aclrtDrvMemHandle,
    ) => {
        let Some(place) = address_place(handle.cast()) else { return Err(Error::null("handle")) };
        *place = virtual_memory::import(Form::Number, &of_number(shareableHandle), Some(deviceId))?;
        Ok(())
    };
    /// aclrtMemImportFromShareableHandleV2
    fn aclrtMemImportFromShareableHandleV2(
        shareableHandle: *mut c_void,
        shareType: abi::aclrtMemSharedHandleType,
        flags: u64,
        handle: *mut abi::aclrtDrvMemHandle,
    ) => {
        if shareableHandle.is_null() {
            return Err(Error::null("shareableHandle"));
        }
        let Some(place) = address_place(handle.cast()) else { return Err(Error::null("handle")) };
        if flags != 0 {
            return Err(Error::cause("flags", flags, "reserved, must be 0"));
        }
        let form = Form::of(shareType)?;
        *place = virtual_memory::import(form, &read_shareable(shareableHandle, form), None)?;
        Ok(())
    };
}
