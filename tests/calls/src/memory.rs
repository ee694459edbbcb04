//! Short forms of the calls about memory, for what must succeed.

use std::ffi::c_void;
use std::ptr::null_mut;

use cannery_abi::*;

use crate::api::*;

/// Device memory.
pub fn device(bytes: usize) -> *mut c_void {
    let mut block = null_mut();
    let code = aclrtMalloc(&raw mut block, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    ok(code, "aclrtMalloc");
    block
}

/// Copies to the device.
pub fn upload(at: *mut c_void, bytes: &[u8]) {
    let from = bytes.as_ptr().cast();
    let kind = ACL_MEMCPY_HOST_TO_DEVICE;
    let code = aclrtMemcpy(at, bytes.len(), from, bytes.len(), kind);
    ok(code, "aclrtMemcpy to the device");
}

/// Copies from the device.
pub fn download(at: *const c_void, bytes: usize) -> Vec<u8> {
    let mut out = vec![0; bytes];
    let to = out.as_mut_ptr().cast();
    let code = aclrtMemcpy(to, bytes, at, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    ok(code, "aclrtMemcpy from the device");
    out
}
