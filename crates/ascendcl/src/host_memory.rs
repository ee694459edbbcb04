//! Chapter: host memory.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::memory::{host, registered};

use crate::device_memory::attributes;
use crate::face::{address_place, faces, place};

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
    /// aclrtHostRegister
    fn aclrtHostRegister(
        ptr: *mut c_void,
        size: u64,
        r#type: abi::aclrtHostRegisterType,
        devPtr: *mut *mut c_void,
    ) => registered::register(ptr as u64, size, r#type, address_place(devPtr));
    /// aclrtHostRegisterV2
    fn aclrtHostRegisterV2(ptr: *mut c_void, size: u64, flag: u32)
        => registered::register_with_flags(ptr as u64, size, flag);
    /// aclrtHostUnregister
    fn aclrtHostUnregister(ptr: *mut c_void) => registered::unregister(ptr as u64);
    /// aclrtHostGetDevicePointer
    fn aclrtHostGetDevicePointer(pHost: *mut c_void, pDevice: *mut *mut c_void, flag: u32)
        => registered::device_pointer(pHost as u64, address_place(pDevice), flag);
    /// aclrtHostMemMapCapabilities
    fn aclrtHostMemMapCapabilities(
        deviceId: u32,
        hacType: abi::aclrtHacType,
        capabilities: *mut abi::aclrtHostMemMapCapability,
    ) => registered::capabilities(deviceId, hacType, place(capabilities));
}
