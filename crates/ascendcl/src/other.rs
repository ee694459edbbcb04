//! Chapter: other functions. Versions, data buffers, the application log.
// exports: aclAppLog

use core::ffi::{CStr, c_char, c_void};

use cannery_abi::aclDataBuffer;
use cannery_runtime::error::Result;
use cannery_runtime::profile::ALL_PRODUCTS;
use cannery_runtime::{buffers, devices};

use crate::face::{answer, faces, place};

faces! {
    /// aclrtGetVersion
    fn aclrtGetVersion(majorVersion: *mut i32, minorVersion: *mut i32, patchVersion: *mut i32)
        => devices::version([place(majorVersion), place(minorVersion), place(patchVersion)]);
    /// aclDestroyDataBuffer
    fn aclDestroyDataBuffer(dataBuffer: *const aclDataBuffer) => buffers::destroy(dataBuffer as u64);
    /// aclUpdateDataBuffer
    fn aclUpdateDataBuffer(dataBuffer: *mut aclDataBuffer, data: *mut c_void, size: usize)
        => buffers::update(dataBuffer as u64, data as u64, size as u64);
}

/// Runs a call that returns a value instead of a code: 0 on failure, with a text.
fn value_or_zero(api: &'static str, call: impl FnOnce() -> Result<u64>) -> u64 {
    let mut value = 0;
    answer(api, ALL_PRODUCTS, || {
        value = call()?;
        Ok(())
    });
    value
}

/// aclCreateDataBuffer: NULL on failure.
#[unsafe(no_mangle)]
extern "C" fn aclCreateDataBuffer(data: *mut c_void, size: usize) -> *mut aclDataBuffer {
    let create = || buffers::create(data as u64, size as u64);
    value_or_zero("aclCreateDataBuffer", create) as *mut aclDataBuffer
}

/// aclGetDataBufferAddr: NULL on failure.
#[unsafe(no_mangle)]
extern "C" fn aclGetDataBufferAddr(dataBuffer: *const aclDataBuffer) -> *mut c_void {
    value_or_zero("aclGetDataBufferAddr", || {
        buffers::address(dataBuffer as u64)
    }) as *mut c_void
}

/// aclGetDataBufferSize: the lower 32 bits; 0 on failure.
#[unsafe(no_mangle)]
extern "C" fn aclGetDataBufferSize(dataBuffer: *const aclDataBuffer) -> u32 {
    value_or_zero("aclGetDataBufferSize", || buffers::size(dataBuffer as u64)) as u32
}

/// aclGetDataBufferSizeV2: 0 on failure.
#[unsafe(no_mangle)]
extern "C" fn aclGetDataBufferSizeV2(dataBuffer: *const aclDataBuffer) -> usize {
    value_or_zero("aclGetDataBufferSizeV2", || {
        buffers::size(dataBuffer as u64)
    }) as usize
}

unsafe extern "C" {
    /// In app_log.c; takes the variable arguments.
    fn cannery_app_log();
}

/// aclAppLog: variadic, so it goes straight on to C with every register as it came.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn aclAppLog() {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!("jmp {}", sym cannery_app_log);
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!("b {}", sym cannery_app_log);
}

/// A formatted line of the application, from app_log.c.
#[unsafe(no_mangle)]
extern "C" fn cannery_log_line(
    level: i32,
    func: *const c_char,
    file: *const c_char,
    line: u32,
    text: *const c_char,
) {
    let string = |pointer: *const c_char| {
        if pointer.is_null() {
            return String::new();
        }
        // SAFETY: not NULL, so a C string per the manual.
        unsafe { CStr::from_ptr(pointer) }
            .to_string_lossy()
            .into_owned()
    };
    let (func, file, text) = (string(func), string(file), string(text));
    answer("aclAppLog", ALL_PRODUCTS, || {
        cannery_runtime::app_log(level, &func, &file, line, &text);
        Ok(())
    });
}
