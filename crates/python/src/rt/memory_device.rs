//! Device memory: allocation, release, cache operations, questions about addresses.
//!
//! Allocation and release keep the GIL: they never wait for the device.

use cannery_abi::{aclrtMallocConfig, aclrtMemLocation, aclrtMemUceInfo, aclrtPtrAttributes};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::c_api::{Memory, at, c_api};
use crate::calls::calls;
use crate::convert::{Bits32, Int, Word};
use crate::outputs::Give;
use crate::structured::{MallocAttributes, dict_at, number};

/// The most damaged ranges that one query asks for.
const MAX_UCE_RANGES: usize = 1 << 16;

calls! {
    also [
        malloc_with_cfg, malloc_for_task_scheduler, pointer_get_attributes, get_mem_uce_info, mem_uce_repair,
    ];

    /// dev_ptr, ret = malloc(size, policy): device memory, 64-byte aligned, not initialised.
    ///
    /// size is in bytes, not 0. Release it with free.
    fn malloc(size: Word, policy: Int) -> (dev_ptr: Memory) = aclrtMalloc(&raw mut dev_ptr, size, policy);

    /// dev_ptr, ret = malloc_align32(size, policy): as malloc, without its 32 spare bytes.
    fn malloc_align32(size: Word, policy: Int) -> (dev_ptr: Memory) = aclrtMallocAlign32(
        &raw mut dev_ptr,
        size,
        policy,
    );

    /// dev_ptr, ret = malloc_cached(size, policy): as malloc; cacheable and coherent, no flush needed.
    fn malloc_cached(size: Word, policy: Int) -> (dev_ptr: Memory) = aclrtMallocCached(
        &raw mut dev_ptr,
        size,
        policy,
    );

    /// ret = mem_flush(dev_ptr, size): write cached data back. Not needed for coherence.
    fn mem_flush(dev_ptr: Word, size: Word) -> code = aclrtMemFlush(at(dev_ptr), size);

    /// ret = mem_invalidate(dev_ptr, size): drop cached data. Not needed for coherence.
    fn mem_invalidate(dev_ptr: Word, size: Word) -> code = aclrtMemInvalidate(at(dev_ptr), size);

    /// ret = free(dev_ptr): release memory of malloc and its variants; never waits.
    fn free(dev_ptr: Word) -> code = aclrtFree(at(dev_ptr));

    /// free, total, ret = get_mem_info(attr): bytes of a kind of memory of the current device.
    fn get_mem_info(attr: Int) -> (free_size: usize, total_size: usize) = aclrtGetMemInfo(
        attr,
        &raw mut free_size,
        &raw mut total_size,
    );

    /// ret = cmo_async(src, size, cmo_type, stream): queue a cache operation; 0 prefetches.
    fn cmo_async(src: Word, size: Word, cmo_type: Int, stream: Word) -> code = aclrtCmoAsync(
        at(src),
        size,
        cmo_type,
        at(stream),
    );
}

/// dev_ptr, ret = malloc_with_cfg(size, policy, cfg): as malloc, with attributes.
///
/// cfg is {} or {"attrs": [{"attr": 1, "value": {"moduleId": n}}], "numAttrs": 1}; attr 2 takes deviceId.
#[pyfunction]
#[pyo3(signature = (size, policy, cfg, /))]
fn malloc_with_cfg(size: Word, policy: Int, cfg: MallocAttributes) -> (usize, i32) {
    configured(c_api().aclrtMallocWithCfg, size, policy, cfg)
}

/// dev_ptr, ret = malloc_for_task_scheduler(size, policy, cfg): memory for the task scheduler.
#[pyfunction]
#[pyo3(signature = (size, policy, cfg, /))]
fn malloc_for_task_scheduler(size: Word, policy: Int, cfg: MallocAttributes) -> (usize, i32) {
    configured(c_api().aclrtMallocForTaskScheduler, size, policy, cfg)
}

type ConfiguredMalloc =
    unsafe extern "C" fn(*mut Memory, usize, i32, *mut aclrtMallocConfig) -> i32;

fn configured(
    malloc: ConfiguredMalloc,
    size: Word,
    policy: Int,
    cfg: MallocAttributes,
) -> (usize, i32) {
    let mut dev_ptr: Memory = std::ptr::null_mut();
    // SAFETY: a valid output and a configuration that outlives the call.
    let ret = cfg.with(|cfg| unsafe { malloc(&raw mut dev_ptr, size.0, policy.0, cfg) });
    (dev_ptr.give(), ret)
}

/// Asks the library about an address; any number may be asked.
pub(crate) fn attributes_of(address: usize) -> (aclrtPtrAttributes, i32) {
    let mut attributes = aclrtPtrAttributes {
        location: aclrtMemLocation { id: 0, r#type: 0 },
        pageSize: 0,
        rsv: [0; 4],
    };
    // SAFETY: a valid output; the library looks the address up and does not read through it.
    let ret = unsafe { (c_api().aclrtPointerGetAttributes)(at(address), &raw mut attributes) };
    (attributes, ret)
}

/// attributes, ret = pointer_get_attributes(ptr): {"location": {"id", "type"}, "page_size", "rsv"}.
///
/// type: 0 host, 1 device, 2 unknown to the runtime, 3 managed, 4 host of a NUMA node.
#[pyfunction]
#[pyo3(signature = (ptr, /))]
fn pointer_get_attributes(py: Python<'_>, ptr: Word) -> PyResult<(Bound<'_, PyDict>, i32)> {
    let (attributes, ret) = attributes_of(ptr.0);
    let location = PyDict::new(py);
    location.set_item("id", attributes.location.id)?;
    location.set_item("type", attributes.location.r#type)?;
    let dict = PyDict::new(py);
    dict.set_item("location", location)?;
    dict.set_item("page_size", attributes.pageSize)?;
    dict.set_item("rsv", attributes.rsv)?;
    Ok((dict, ret))
}

const NO_DAMAGE: aclrtMemUceInfo = aclrtMemUceInfo {
    addr: std::ptr::null_mut(),
    len: 0,
    reserved: [0; 14],
};

/// mem_uce_info, ret = get_mem_uce_info(device_id, array_size): ranges with uncorrectable errors,
/// a list of {"addr", "len", "reserved"}.
#[pyfunction]
#[pyo3(signature = (device_id, array_size, /))]
fn get_mem_uce_info(
    py: Python<'_>,
    device_id: Int,
    array_size: Bits32,
) -> PyResult<(Bound<'_, PyList>, i32)> {
    let mut ranges = vec![NO_DAMAGE; (array_size.0 as usize).min(MAX_UCE_RANGES)];
    let mut found = 0_usize;
    // SAFETY: an array of as many items as it says, and a valid output.
    let ret = unsafe {
        (c_api().aclrtGetMemUceInfo)(
            device_id.0,
            ranges.as_mut_ptr(),
            ranges.len(),
            &raw mut found,
        )
    };
    let list = PyList::empty(py);
    if ret == 0 {
        for range in ranges.iter().take(found) {
            let item = PyDict::new(py);
            item.set_item("addr", range.addr.give())?;
            item.set_item("len", range.len)?;
            item.set_item("reserved", range.reserved)?;
            list.append(item)?;
        }
    }
    Ok((list, ret))
}

/// ret = mem_uce_repair(device_id, mem_uce_info): a list as get_mem_uce_info gives it.
#[pyfunction]
#[pyo3(signature = (device_id, mem_uce_info, /))]
fn mem_uce_repair(device_id: Int, mem_uce_info: &Bound<'_, PyList>) -> PyResult<i32> {
    let mut ranges = Vec::with_capacity(mem_uce_info.len());
    for position in 0..mem_uce_info.len() {
        let item = dict_at(mem_uce_info, position)?;
        let Word(address) = number(&item, "addr", Word(0))?;
        let Word(len) = number(&item, "len", Word(0))?;
        ranges.push(aclrtMemUceInfo {
            addr: at(address),
            len,
            reserved: [0; 14],
        });
    }
    // SAFETY: an array of as many items as it says; the library judges the ranges.
    Ok(unsafe { (c_api().aclrtMemUceRepair)(device_id.0, ranges.as_mut_ptr(), ranges.len()) })
}
