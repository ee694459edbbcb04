//! Virtual memory: address ranges, physical memory, and what joins them.

use pyo3::prelude::*;

use crate::c_api::{Memory, at, c_api};
use crate::calls::calls;
use crate::convert::{Int, Word};
use crate::outputs::Give;
use crate::structured::{PhysicalProp, Pids};

calls! {
    also [malloc_physical, mem_get_allocation_granularity, mem_set_pid_to_shareable_handle];

    /// vir_ptr, ret = reserve_mem_address(size, alignment, expect_ptr, flags): a range of addresses.
    fn reserve_mem_address(size: Word, alignment: Word, expect_ptr: Word, flags: Word) -> (vir_ptr: Memory)
        = aclrtReserveMemAddress(&raw mut vir_ptr, size, alignment, at(expect_ptr), flags as u64);

    /// ret = release_mem_address(vir_ptr): unmap first.
    fn release_mem_address(vir_ptr: Word) -> code = aclrtReleaseMemAddress(at(vir_ptr));

    /// ret = free_physical(handle): the memory goes once it is unmapped.
    fn free_physical(handle: Word) -> code = aclrtFreePhysical(at(handle));

    /// ret = map_mem(vir_ptr, size, offset, handle, flags): offset and flags are 0.
    fn map_mem(vir_ptr: Word, size: Word, offset: Word, handle: Word, flags: Word) -> code = aclrtMapMem(
        at(vir_ptr),
        size,
        offset,
        at(handle),
        flags as u64,
    );

    /// ret = unmap_mem(vir_ptr)
    fn unmap_mem(vir_ptr: Word) -> code = aclrtUnmapMem(at(vir_ptr));

    /// shareable_handle, ret = mem_export_to_shareable_handle(handle, handle_type, flags): a token.
    ///
    /// flags: 0 only listed processes may import, 1 any.
    fn mem_export_to_shareable_handle(handle: Word, handle_type: Int, flags: Word) -> (shareable_handle: u64)
        = aclrtMemExportToShareableHandle(at(handle), handle_type, flags as u64, &raw mut shareable_handle);

    /// handle, ret = mem_import_from_shareable_handle(shareable_handle, device_id): free_physical releases it.
    fn mem_import_from_shareable_handle(shareable_handle: Word, device_id: Int) -> (handle: Memory)
        = aclrtMemImportFromShareableHandle(shareable_handle as u64, device_id, &raw mut handle);
}

/// handle, ret = malloc_physical(size, prop, flags): physical memory; flags is 0.
///
/// prop holds handleType (0), allocationType (0), memAttr, location ({"id", "type"}: type 0 host,
/// 1 device, 4 NUMA node) and reserve; a missing key is 0.
#[pyfunction]
#[pyo3(signature = (size, prop, flags, /))]
fn malloc_physical(size: Word, prop: PhysicalProp, flags: Word) -> (usize, i32) {
    let mut handle: Memory = std::ptr::null_mut();
    // SAFETY: a valid output and properties that outlive the call.
    let ret = unsafe {
        (c_api().aclrtMallocPhysical)(&raw mut handle, size.0, &raw const prop.0, flags.0 as u64)
    };
    (handle.give(), ret)
}

/// granularity, ret = mem_get_allocation_granularity(prop, option): bytes; 0 minimum, 1 recommended.
#[pyfunction]
#[pyo3(signature = (prop, option, /))]
fn mem_get_allocation_granularity(prop: PhysicalProp, option: Int) -> (usize, i32) {
    let PhysicalProp(mut prop) = prop;
    let mut granularity = 0_usize;
    // SAFETY: valid properties and a valid output.
    let ret = unsafe {
        (c_api().aclrtMemGetAllocationGranularity)(&raw mut prop, option.0, &raw mut granularity)
    };
    (granularity, ret)
}

/// ret = mem_set_pid_to_shareable_handle(shareable_handle, pid): the list of processes that may import.
#[pyfunction]
#[pyo3(signature = (shareable_handle, pid, /))]
fn mem_set_pid_to_shareable_handle(shareable_handle: Word, pid: Pids) -> i32 {
    let Pids(mut pids) = pid;
    // SAFETY: an array of as many ids as it says.
    unsafe {
        (c_api().aclrtMemSetPidToShareableHandle)(
            shareable_handle.0 as u64,
            pids.as_mut_ptr(),
            pids.len(),
        )
    }
}
