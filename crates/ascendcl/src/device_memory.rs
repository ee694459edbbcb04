//! Chapter: device memory.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::error::Result;
use cannery_runtime::memory::config::{Attribute, missing_attributes};
use cannery_runtime::memory::{cache, free, malloc, query};

use crate::face::{address_place, addresses, entries, faces, place};

/// The attributes of a configuration; `None` without one.
pub(crate) fn attributes(cfg: *const abi::aclrtMallocConfig) -> Result<Option<Vec<Attribute>>> {
    // SAFETY: NULL or valid per the contract of the faces.
    let Some(cfg) = (unsafe { cfg.as_ref() }) else {
        return Ok(None);
    };
    let attrs = cfg.attrs.cast_const();
    let list = entries(attrs, cfg.numAttrs, "cfg->numAttrs", missing_attributes)?;
    let read = |attribute: &abi::aclrtMallocAttribute| Attribute {
        kind: attribute.attr,
        // SAFETY: the members of the union are plain numbers at the same place.
        short: unsafe { attribute.value.moduleId },
        // SAFETY: as above.
        word: unsafe { attribute.value.deviceId },
    };
    Ok(Some(list.iter().map(read).collect()))
}

faces! {
    /// aclrtMalloc
    fn aclrtMalloc(devPtr: *mut *mut c_void, size: usize, policy: abi::aclrtMemMallocPolicy)
        => malloc::malloc(address_place(devPtr), size as u64, policy);
    /// aclrtMallocAlign32
    fn aclrtMallocAlign32(devPtr: *mut *mut c_void, size: usize, policy: abi::aclrtMemMallocPolicy)
        => malloc::malloc_align32(address_place(devPtr), size as u64, policy);
    /// aclrtMallocCached
    fn aclrtMallocCached(devPtr: *mut *mut c_void, size: usize, policy: abi::aclrtMemMallocPolicy)
        => malloc::malloc_cached(address_place(devPtr), size as u64, policy);
    /// aclrtMallocWithCfg
    fn aclrtMallocWithCfg(
        devPtr: *mut *mut c_void,
        size: usize,
        policy: abi::aclrtMemMallocPolicy,
        cfg: *mut abi::aclrtMallocConfig,
    ) => {
        malloc::check_config_call(devPtr.is_null(), size as u64)?;
        let attributes = attributes(cfg)?;
        malloc::malloc_with_config(address_place(devPtr), size as u64, policy, attributes.as_deref())
    };
    /// aclrtMallocForTaskScheduler
    fn aclrtMallocForTaskScheduler(
        devPtr: *mut *mut c_void,
        size: usize,
        policy: abi::aclrtMemMallocPolicy,
        cfg: *mut abi::aclrtMallocConfig,
    ) => {
        malloc::check_scheduler_call(devPtr.is_null(), size as u64)?;
        let attributes = attributes(cfg)?;
        malloc::malloc_for_task_scheduler(
            address_place(devPtr),
            size as u64,
            policy,
            attributes.as_deref(),
        )
    };
    /// aclrtFree
    fn aclrtFree(devPtr: *mut c_void) => free::free(devPtr as u64);
    /// aclrtFreeWithDevSync
    fn aclrtFreeWithDevSync(devPtr: *mut c_void) => free::free_with_sync(devPtr as u64);
    /// aclrtMemFlush
    fn aclrtMemFlush(devPtr: *mut c_void, size: usize) => cache::maintain(devPtr as u64, size as u64);
    /// aclrtMemInvalidate
    fn aclrtMemInvalidate(devPtr: *mut c_void, size: usize)
        => cache::maintain(devPtr as u64, size as u64);
    /// aclrtGetMemInfo
    fn aclrtGetMemInfo(attr: abi::aclrtMemAttr, free: *mut usize, total: *mut usize)
        => query::mem_info(attr, place(free), place(total));
    /// aclrtGetMemUsageInfo
    fn aclrtGetMemUsageInfo(
        deviceId: i32,
        memUsageInfo: *mut abi::aclrtMemUsageInfo,
        inputNum: usize,
        outputNum: *mut usize,
    ) => {
        let rows = (!memUsageInfo.is_null()).then(|| {
            // SAFETY: not NULL, so it has room for `inputNum` entries per the contract of the faces.
            unsafe { core::slice::from_raw_parts_mut(memUsageInfo, inputNum) }
        });
        query::usage_info(deviceId, rows, place(outputNum))
    };
    /// aclrtCheckMemType
    fn aclrtCheckMemType(
        addrList: *mut *mut c_void,
        size: u32,
        memType: u32,
        checkResult: *mut u32,
        reserve: u32,
    ) => query::check_type(addresses(addrList, size as usize), memType, place(checkResult), reserve);
}
