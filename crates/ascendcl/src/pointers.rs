//! Questions about addresses (chapters: managed memory, virtual memory).

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::memory::query;

use crate::face::{address_place, faces, place};

faces! {
    /// aclrtPointerGetAttributes
    fn aclrtPointerGetAttributes(ptr: *const c_void, attributes: *mut abi::aclrtPtrAttributes)
        => query::pointer_attributes(ptr as u64, place(attributes));
    /// aclrtMemGetAddressRange
    fn aclrtMemGetAddressRange(ptr: *mut c_void, pbase: *mut *mut c_void, psize: *mut usize)
        => query::address_range(ptr as u64, address_place(pbase), place(psize));
}
