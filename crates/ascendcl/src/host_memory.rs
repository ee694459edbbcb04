//! Chapter: host memory.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::memory::host;

use crate::device_memory::attributes;
use crate::face::{address_place, faces};

faces! {
    /// aclrtMallocHost
    fn aclrtMallocHost(hostPtr: *mut *mut c_void, size: usize)
        => host::malloc_host(address_place(hostPtr), size as u64);
    /// aclrtMallocHostWithCfg
    fn aclrtMallocHostWithCfg(ptr: *mut *mut c_void, size: u64, cfg: *mut abi::aclrtMallocConfig) => {
        host::check_config_call(ptr.is_null(), size)?;
        let attributes = attributes(cfg)?;
        host::malloc_host_with_config(address_place(ptr), size, attributes.as_deref())
    };
    /// aclrtFreeHost
    fn aclrtFreeHost(hostPtr: *mut c_void) => host::free_host(hostPtr as u64);
    /// aclrtFreeHostWithDevSync
    fn aclrtFreeHostWithDevSync(hostPtr: *mut c_void) => host::free_host_with_sync(hostPtr as u64);
}
