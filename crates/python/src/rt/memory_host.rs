//! Host memory that the device can reach: pinned, or registered by the program.

use pyo3::prelude::*;

use crate::c_api::{Memory, at, c_api};
use crate::calls::calls;
use crate::convert::{Bits32, Int, Word};
use crate::outputs::Give;
use crate::structured::MallocAttributes;

calls! {
    also [malloc_host_with_cfg];

    /// host_ptr, ret = malloc_host(size): pinned host memory, 64-byte aligned, not initialised.
    ///
    /// size is in bytes, not 0. Release it with free_host.
    fn malloc_host(size: Word) -> (host_ptr: Memory) = aclrtMallocHost(&raw mut host_ptr, size);

    /// ret = free_host(host_ptr): release memory of malloc_host.
    fn free_host(host_ptr: Word) -> code = aclrtFreeHost(at(host_ptr));

    /// dev_ptr, ret = host_register(ptr, size, type): let the device reach the program's memory.
    ///
    /// ptr is aligned to 4 KiB. dev_ptr is for kernels only.
    fn host_register(ptr: Word, size: Word, r#type: Int) -> (dev_ptr: Memory) = aclrtHostRegister(
        at(ptr),
        size as u64,
        r#type,
        &raw mut dev_ptr,
    );

    /// ret = host_register_v2(ptr, size, flag): bits 2 mapped, 4 I/O, 8 read-only, 0x10000000 pinned.
    fn host_register_v2(ptr: Word, size: Word, flag: Bits32) -> code = aclrtHostRegisterV2(at(ptr), size as u64, flag);

    /// ptr_device, ret = host_get_device_pointer(ptr_host, flag): the device's address of registered memory.
    fn host_get_device_pointer(ptr_host: Word, flag: Bits32) -> (ptr_device: Memory) = aclrtHostGetDevicePointer(
        at(ptr_host),
        &raw mut ptr_device,
        flag,
    );

    /// ret = host_unregister(ptr): the address that was registered.
    fn host_unregister(ptr: Word) -> code = aclrtHostUnregister(at(ptr));
}

/// host_ptr, ret = malloc_host_with_cfg(size, cfg): as malloc_host, with attributes.
///
/// cfg is {} or {"attrs": [{"attr": 1, "value": {"moduleId": n}}], "numAttrs": 1}; attr 3 takes vaFlag.
#[pyfunction]
#[pyo3(signature = (size, cfg, /))]
fn malloc_host_with_cfg(size: Word, cfg: MallocAttributes) -> (usize, i32) {
    let mut host_ptr: Memory = std::ptr::null_mut();
    let ret = cfg.with(|cfg| {
        // SAFETY: a valid output and a configuration that outlives the call.
        unsafe { (c_api().aclrtMallocHostWithCfg)(&raw mut host_ptr, size.0 as u64, cfg) }
    });
    (host_ptr.give(), ret)
}
