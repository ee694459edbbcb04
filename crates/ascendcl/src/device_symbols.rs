//! Chapter: device variables, and how a program registers them (include/cannery/kernel.h).

use core::ffi::{c_char, c_void};

use cannery_abi as abi;
use cannery_runtime::kernel::module::KernelInfo;
use cannery_runtime::kernel::symbol::{self, SymbolCopy};
use cannery_runtime::profile::ALL_PRODUCTS;

use crate::face::{address_place, answer, array, faces, place};
use crate::kernel::text;

fn to_symbol(
    symbol: *const c_void,
    src: *const c_void,
    count: usize,
    offset: usize,
    kind: abi::aclrtMemcpyKind,
) -> SymbolCopy {
    SymbolCopy {
        host: src as u64,
        host_max: count as u64,
        symbol: symbol as u64,
        count: count as u64,
        offset: offset as u64,
        kind,
        to_symbol: true,
    }
}

fn from_symbol(
    dst: *mut c_void,
    dst_max: usize,
    symbol: *const c_void,
    count: usize,
    offset: usize,
    kind: abi::aclrtMemcpyKind,
) -> SymbolCopy {
    SymbolCopy {
        host: dst as u64,
        host_max: dst_max as u64,
        symbol: symbol as u64,
        count: count as u64,
        offset: offset as u64,
        kind,
        to_symbol: false,
    }
}

faces! {
    /// aclrtGetSymbolAddress
    fn aclrtGetSymbolAddress(symbol: *const c_void, devPtr: *mut *mut c_void)
        => symbol::address(symbol as u64, address_place(devPtr));
    /// aclrtGetSymbolSize
    fn aclrtGetSymbolSize(symbol: *const c_void, size: *mut usize)
        => symbol::size(symbol as u64, place(size));
    /// aclrtMemcpyToSymbol
    fn aclrtMemcpyToSymbol(
        symbol: *const c_void,
        src: *const c_void,
        count: usize,
        offset: usize,
        kind: abi::aclrtMemcpyKind,
    ) => {
        // SAFETY: the host range is valid per the contract of the faces.
        unsafe { symbol::memcpy(&to_symbol(symbol, src, count, offset, kind)) }
    };
    /// aclrtMemcpyToSymbolAsync
    fn aclrtMemcpyToSymbolAsync(
        symbol: *const c_void,
        src: *const c_void,
        count: usize,
        offset: usize,
        kind: abi::aclrtMemcpyKind,
        stream: abi::aclrtStream,
    ) => symbol::memcpy_async(&to_symbol(symbol, src, count, offset, kind), stream as u64);
    /// aclrtMemcpyFromSymbol
    fn aclrtMemcpyFromSymbol(
        dst: *mut c_void,
        dstMax: usize,
        symbol: *const c_void,
        count: usize,
        offset: usize,
        kind: abi::aclrtMemcpyKind,
    ) => {
        // SAFETY: the host range is valid per the contract of the faces.
        unsafe { symbol::memcpy(&from_symbol(dst, dstMax, symbol, count, offset, kind)) }
    };
    /// aclrtMemcpyFromSymbolAsync
    fn aclrtMemcpyFromSymbolAsync(
        dst: *mut c_void,
        dstMax: usize,
        symbol: *const c_void,
        count: usize,
        offset: usize,
        kind: abi::aclrtMemcpyKind,
        stream: abi::aclrtStream,
    ) => symbol::memcpy_async(
        &from_symbol(dst, dstMax, symbol, count, offset, kind),
        stream as u64,
    );
}

/// A variable of the program in `[variables, end)` of which each device has a copy. See kernel.h.
#[unsafe(no_mangle)]
extern "C" fn cannery_register_variable(
    symbol: *const c_void,
    size: usize,
    variables: *const c_void,
    end: *const c_void,
) -> abi::aclError {
    answer("cannery_register_variable", ALL_PRODUCTS, || {
        symbol::register_variable(symbol as u64, size as u64, (variables as u64, end as u64))
    })
}

/// A kernel of the program, with the variables that it sees. See kernel.h.
///
/// # Safety
/// `name` is NULL or a text, `info` NULL or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn cannery_register_kernel(
    symbol: *const c_void,
    name: *const c_char,
    info: *const KernelInfo,
    variables: *const c_void,
    end: *const c_void,
) -> abi::aclError {
    answer("cannery_register_kernel", ALL_PRODUCTS, || {
        let info = array(info, 1).and_then(<[_]>::first);
        let name = text(name);
        let variables = (variables as u64, end as u64);
        symbol::register_kernel(symbol as u64, name.as_deref(), info, variables)
    })
}

/// Forgets a kernel or variable of the program, before it is unloaded.
#[unsafe(no_mangle)]
extern "C" fn cannery_unregister(symbol: *const c_void) {
    answer("cannery_unregister", ALL_PRODUCTS, || {
        symbol::unregister(symbol as u64);
        Ok(())
    });
}
