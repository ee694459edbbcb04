//! The C functions under test, looked up by name in the libraries of the prefix.
//!
//! The wrappers are safe to call on purpose: steps hand over NULL, stale, interior and invented
//! handles and device addresses, and the contract is that the library answers with a code. Host
//! addresses are live memory of the promised size, unless the step is about addresses that no
//! program can have.
#![allow(non_snake_case)] // The names are the C names.

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::sync::OnceLock;

use cannery_abi::*;
use libloading::Library;

/// Libraries of the prefix that are searched in this order.
const LIBRARIES: [&str; 3] = ["libascendcl.so", "libacl_dvpp.so", "libacl_dvpp_mpi.so"];

static OPENED: OnceLock<Vec<Library>> = OnceLock::new();

/// Opens the libraries below `prefix/lib64`. They are never closed.
pub(crate) fn open(prefix: &Path) -> Result<(), String> {
    let mut libraries = Vec::new();
    for name in LIBRARIES {
        let path = prefix.join("lib64").join(name);
        // SAFETY: the initialisers of the project's own libraries; a linked program runs them too.
        let library = unsafe { Library::new(&path) };
        libraries.push(library.map_err(|error| format!("{}: {error}", path.display()))?);
    }
    OPENED
        .set(libraries)
        .map_err(|_| "the libraries are open already".to_owned())
}

fn symbol<F: Copy>(name: &str) -> F {
    let libraries = OPENED.get().expect("the libraries are open");
    let found = libraries.iter().find_map(|library| {
        // SAFETY: `F` is the pointer type that the contract's signature gives this name; the
        // library stays open.
        let symbol = unsafe { library.get::<F>(name.as_bytes()) };
        symbol.ok().map(|symbol| *symbol)
    });
    found.unwrap_or_else(|| panic!("the libraries do not export {name}"))
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
    fn aclFinalize() -> aclError;
    fn aclGetRecentErrMsg() -> *const c_char;

    fn aclrtReserveMemAddress(ptr: *mut *mut c_void, size: usize, alignment: usize, expected: *mut c_void, flags: u64) -> aclError;
    fn aclrtReleaseMemAddress(ptr: *mut c_void) -> aclError;
    fn aclrtMallocPhysical(handle: *mut aclrtDrvMemHandle, size: usize, prop: *const aclrtPhysicalMemProp, flags: u64) -> aclError;
    fn aclrtFreePhysical(handle: aclrtDrvMemHandle) -> aclError;
    fn aclrtMapMem(ptr: *mut c_void, size: usize, offset: usize, handle: aclrtDrvMemHandle, flags: u64) -> aclError;
    fn aclrtMemMapNoAccess(ptr: *mut c_void, size: usize, offset: usize, handle: aclrtDrvMemHandle, flags: u64) -> aclError;
    fn aclrtUnmapMem(ptr: *mut c_void) -> aclError;
    fn aclrtMemSetAccess(ptr: *mut c_void, size: usize, desc: *mut aclrtMemAccessDesc, count: usize) -> aclError;
    fn aclrtMemRetainAllocationHandle(ptr: *mut c_void, handle: *mut aclrtDrvMemHandle) -> aclError;

    fn aclrtSetDevice(device: i32) -> aclError;
    fn aclrtResetDevice(device: i32) -> aclError;
    fn aclrtResetDeviceForce(device: i32) -> aclError;
    fn aclrtGetDevice(device: *mut i32) -> aclError;
    fn aclrtDeviceCanAccessPeer(can: *mut i32, device: i32, peer: i32) -> aclError;
    fn aclrtDeviceEnablePeerAccess(peer: i32, flags: u32) -> aclError;
    fn aclrtDeviceDisablePeerAccess(peer: i32) -> aclError;
    fn aclrtDevicePeerAccessStatus(device: i32, peer: i32, status: *mut i32) -> aclError;

    fn aclrtCreateContext(context: *mut aclrtContext, device: i32) -> aclError;
    fn aclrtDestroyContext(context: aclrtContext) -> aclError;
    fn aclrtSetCurrentContext(context: aclrtContext) -> aclError;
    fn aclrtGetCurrentContext(context: *mut aclrtContext) -> aclError;

    fn aclrtMalloc(ptr: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError;
    fn aclrtMallocAlign32(ptr: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError;
    fn aclrtMallocCached(ptr: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError;
    fn aclrtMallocWithCfg(ptr: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy, cfg: *mut aclrtMallocConfig) -> aclError;
    fn aclrtMallocForTaskScheduler(ptr: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy, cfg: *mut aclrtMallocConfig) -> aclError;
    fn aclrtFree(ptr: *mut c_void) -> aclError;
    fn aclrtFreeWithDevSync(ptr: *mut c_void) -> aclError;
    fn aclrtMemFlush(ptr: *mut c_void, size: usize) -> aclError;
    fn aclrtMemInvalidate(ptr: *mut c_void, size: usize) -> aclError;
    fn aclrtGetMemInfo(attr: aclrtMemAttr, free: *mut usize, total: *mut usize) -> aclError;
    fn aclrtGetMemUsageInfo(device: i32, info: *mut aclrtMemUsageInfo, num: usize, out: *mut usize) -> aclError;
    fn aclrtCheckMemType(list: *mut *mut c_void, size: u32, kind: u32, result: *mut u32, reserve: u32) -> aclError;
    fn aclrtPointerGetAttributes(ptr: *const c_void, attributes: *mut aclrtPtrAttributes) -> aclError;
    fn aclrtMemGetAddressRange(ptr: *mut c_void, base: *mut *mut c_void, size: *mut usize) -> aclError;

    fn aclrtMallocHost(ptr: *mut *mut c_void, size: usize) -> aclError;
    fn aclrtMallocHostWithCfg(ptr: *mut *mut c_void, size: u64, cfg: *mut aclrtMallocConfig) -> aclError;
    fn aclrtFreeHost(ptr: *mut c_void) -> aclError;
    fn aclrtFreeHostWithDevSync(ptr: *mut c_void) -> aclError;

    fn aclrtMemcpy(dst: *mut c_void, max: usize, src: *const c_void, count: usize, kind: aclrtMemcpyKind) -> aclError;
    fn aclrtMemset(ptr: *mut c_void, max: usize, value: i32, count: usize) -> aclError;
    fn aclrtMemsetD32(ptr: *mut c_void, size: usize, value: u32, n: usize) -> aclError;
    fn aclrtMemcpy2d(dst: *mut c_void, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: aclrtMemcpyKind) -> aclError;
    fn aclrtMemcpyBatch(dsts: *mut *mut c_void, maxs: *mut usize, srcs: *mut *mut c_void, sizes: *mut usize, num: usize, attrs: *mut aclrtMemcpyBatchAttr, indexes: *mut usize, num_attrs: usize, fail: *mut usize) -> aclError;
    fn aclrtMemcpyBatchV2(dsts: *mut *mut c_void, maxs: *mut usize, srcs: *mut *mut c_void, sizes: *mut usize, num: usize, attrs: *mut aclrtMemcpyBatchAttr, indexes: *mut usize, num_attrs: usize) -> aclError;

    fn aclrtCreateStream(stream: *mut aclrtStream) -> aclError;
    fn aclrtDestroyStream(stream: aclrtStream) -> aclError;
    fn aclrtSynchronizeStream(stream: aclrtStream) -> aclError;
    fn aclrtStreamQuery(stream: aclrtStream, status: *mut aclrtStreamStatus) -> aclError;
    fn aclrtCreateEvent(event: *mut aclrtEvent) -> aclError;
    fn aclrtDestroyEvent(event: aclrtEvent) -> aclError;
    fn aclrtRecordEvent(event: aclrtEvent, stream: aclrtStream) -> aclError;
    fn aclrtStreamWaitEvent(stream: aclrtStream, event: aclrtEvent) -> aclError;
    fn aclrtValueWrite(ptr: *mut c_void, value: u64, flag: u32, stream: aclrtStream) -> aclError;
    fn aclrtValueWait(ptr: *mut c_void, value: u64, flag: u32, stream: aclrtStream) -> aclError;
    fn aclrtMemsetAsync(ptr: *mut c_void, max: usize, value: i32, count: usize, stream: aclrtStream) -> aclError;

    fn aclrtMemPoolCreate(pool: *mut aclrtMemPool, props: *const aclrtMemPoolProps) -> aclError;
    fn aclrtMemPoolDestroy(pool: aclrtMemPool) -> aclError;
    fn aclrtMemPoolSetAttr(pool: aclrtMemPool, attr: aclrtMemPoolAttr, value: *mut c_void) -> aclError;
    fn aclrtMemPoolGetAttr(pool: aclrtMemPool, attr: aclrtMemPoolAttr, value: *mut c_void) -> aclError;
    fn aclrtMemPoolMallocAsync(ptr: *mut *mut c_void, size: usize, pool: aclrtMemPool, stream: aclrtStream) -> aclError;
    fn aclrtMemPoolFreeAsync(ptr: *mut c_void, stream: aclrtStream) -> aclError;
    fn aclrtMemPoolTrimTo(pool: aclrtMemPool, keep: usize) -> aclError;

    fn aclrtHostRegisterV2(ptr: *mut c_void, size: u64, flag: u32) -> aclError;
    fn aclrtHostUnregister(ptr: *mut c_void) -> aclError;
    fn aclrtHostGetDevicePointer(host: *mut c_void, device: *mut *mut c_void, flag: u32) -> aclError;
    fn aclrtMemAllocManaged(ptr: *mut *mut c_void, size: u64, flag: u32) -> aclError;
    fn aclrtMemManagedAdvise(ptr: *const c_void, size: u64, advise: aclrtMemManagedAdviseType, location: aclrtMemManagedLocation) -> aclError;
    fn aclrtMemManagedPrefetchAsync(ptr: *const c_void, size: usize, location: aclrtMemManagedLocation, flags: u32, stream: aclrtStream) -> aclError;
    fn aclrtMemManagedGetAttr(attribute: aclrtMemManagedRangeAttribute, ptr: *const c_void, size: usize, data: *mut c_void, data_size: usize) -> aclError;

    fn aclrtIpcMemGetExportKey(ptr: *mut c_void, size: usize, key: *mut c_char, len: usize, flags: u64) -> aclError;
    fn aclrtIpcMemImportByKey(ptr: *mut *mut c_void, key: *const c_char, flags: u64) -> aclError;
    fn aclrtIpcMemClose(key: *const c_char) -> aclError;

    fn acldvppMalloc(ptr: *mut *mut c_void, size: usize) -> aclError;
    fn acldvppFree(ptr: *mut c_void) -> aclError;
    fn hi_mpi_dvpp_malloc(device: u32, ptr: *mut *mut c_void, size: u64) -> i32;
    fn hi_mpi_dvpp_free(ptr: *mut c_void) -> i32;
}

/// The pending error text of this thread, which reading clears.
pub(crate) fn recent_text() -> Option<String> {
    let text = aclGetRecentErrMsg();
    if text.is_null() {
        return None;
    }
    // SAFETY: a non-NULL answer is a string that stays valid until the thread's next call.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}

/// The number as the pointer that C wants.
pub(crate) fn pointer(address: u64) -> *mut c_void {
    address as *mut c_void
}
