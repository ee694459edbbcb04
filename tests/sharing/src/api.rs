//! The C functions under test, looked up by name in the library of the prefix.
//!
//! The wrappers are safe to call on purpose: what is handed over is live memory of the promised
//! size, or a handle or device address about which the library has to answer with a code.
#![allow(non_snake_case)] // The names are the C names.

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::sync::OnceLock;

use cannery_abi::*;
use libloading::Library;

static OPENED: OnceLock<Library> = OnceLock::new();

/// Opens `prefix/lib64/libascendcl.so`. It is never closed.
pub(crate) fn open(prefix: &Path) -> Result<(), String> {
    let path = prefix.join("lib64").join("libascendcl.so");
    // SAFETY: the initialisers of the project's own library; a linked program runs them too.
    let library = unsafe { Library::new(&path) };
    let library = library.map_err(|error| format!("{}: {error}", path.display()))?;
    OPENED
        .set(library)
        .map_err(|_| "the library is open already".to_owned())
}

fn symbol<F: Copy>(name: &str) -> F {
    let library = OPENED.get().expect("the library is open");
    // SAFETY: `F` is the pointer type that the contract's signature gives this name; the library
    // stays open.
    let symbol = unsafe { library.get::<F>(name.as_bytes()) };
    *symbol.unwrap_or_else(|_| panic!("the library does not export {name}"))
}

macro_rules! functions {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)?;)*) => {
        $(
            #[allow(clippy::too_many_arguments)] // The C signature.
            pub(crate) fn $name($($arg: $ty),*) $(-> $ret)? {
                type F = unsafe extern "C" fn($($ty),*) $(-> $ret)?;
                static SLOT: OnceLock<F> = OnceLock::new();
                let function = SLOT.get_or_init(|| symbol(stringify!($name)));
                // SAFETY: the signature is the contract's; see the module text for what is passed.
                unsafe { function($($arg),*) }
            }
        )*
    };
}

functions! {
    fn aclInit(config: *const c_char) -> aclError;
    fn aclGetRecentErrMsg() -> *const c_char;
    fn aclrtSetDevice(device: i32) -> aclError;
    fn aclrtResetDevice(device: i32) -> aclError;
    fn aclrtMalloc(ptr: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError;
    fn aclrtFree(ptr: *mut c_void) -> aclError;
    fn aclrtMemcpy(dst: *mut c_void, max: usize, src: *const c_void, count: usize, kind: aclrtMemcpyKind) -> aclError;
    fn aclrtMemset(ptr: *mut c_void, max: usize, value: i32, count: usize) -> aclError;
    fn aclrtPointerGetAttributes(ptr: *const c_void, attributes: *mut aclrtPtrAttributes) -> aclError;
    fn aclrtMemGetAddressRange(ptr: *mut c_void, base: *mut *mut c_void, size: *mut usize) -> aclError;
    fn aclrtGetMemInfo(attr: aclrtMemAttr, free: *mut usize, total: *mut usize) -> aclError;

    fn aclrtIpcMemGetExportKey(ptr: *mut c_void, size: usize, key: *mut c_char, len: usize, flags: u64) -> aclError;
    fn aclrtIpcMemSetImportPid(key: *const c_char, pids: *mut i32, num: usize) -> aclError;
    fn aclrtIpcMemImportByKey(ptr: *mut *mut c_void, key: *const c_char, flags: u64) -> aclError;
    fn aclrtReserveMemAddress(ptr: *mut *mut c_void, size: usize, alignment: usize, expected: *mut c_void, flags: u64) -> aclError;
    fn aclrtReleaseMemAddress(ptr: *mut c_void) -> aclError;
    fn aclrtMallocPhysical(handle: *mut aclrtDrvMemHandle, size: usize, prop: *const aclrtPhysicalMemProp, flags: u64) -> aclError;
    fn aclrtFreePhysical(handle: aclrtDrvMemHandle) -> aclError;
    fn aclrtMapMem(ptr: *mut c_void, size: usize, offset: usize, handle: aclrtDrvMemHandle, flags: u64) -> aclError;
    fn aclrtUnmapMem(ptr: *mut c_void) -> aclError;
    fn aclrtMemExportToShareableHandle(handle: aclrtDrvMemHandle, kind: aclrtMemHandleType, flags: u64, out: *mut u64) -> aclError;
    fn aclrtMemSetPidToShareableHandle(shareable: u64, pids: *mut i32, num: usize) -> aclError;
    fn aclrtMemImportFromShareableHandle(shareable: u64, device: i32, out: *mut aclrtDrvMemHandle) -> aclError;
    fn aclrtMemExportToShareableHandleV2(handle: aclrtDrvMemHandle, flags: u64, kind: aclrtMemSharedHandleType, out: *mut c_void) -> aclError;
    fn aclrtMemSetPidToShareableHandleV2(shareable: *mut c_void, kind: aclrtMemSharedHandleType, pids: *mut i32, num: usize) -> aclError;
    fn aclrtMemImportFromShareableHandleV2(shareable: *mut c_void, kind: aclrtMemSharedHandleType, flags: u64, out: *mut aclrtDrvMemHandle) -> aclError;
    fn aclrtIpcMemClose(key: *const c_char) -> aclError;
}

/// The pending error text of this thread, which reading clears.
pub(crate) fn recent_text() -> String {
    let text = aclGetRecentErrMsg();
    if text.is_null() {
        return "no text".to_owned();
    }
    // SAFETY: a non-NULL answer is a string that stays valid until the thread's next call.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_string_lossy().into_owned()
}

/// Ends the run unless the call succeeded.
#[track_caller]
pub(crate) fn ok(code: aclError, what: &str) {
    if code != 0 {
        panic!("{what} answered {code}: {}", recent_text());
    }
}
