//! The function table: every C function that this crate calls, looked up once when a library is
//! opened.

use std::ffi::{c_char, c_void};
use std::ptr;

use cannery_abi::*;

/// What stands in for a function that a library does not have: it answers 207000, and the error says
/// which function is missing in which library.
trait Absent {
    const ANSWER: Self;
}

impl Absent for aclError {
    const ANSWER: Self = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
}

impl Absent for *const c_char {
    const ANSWER: Self = ptr::null();
}

macro_rules! table {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {
        /// Pointers to the C functions, by their C names: the whole of what this crate knows of a
        /// library. The types are the signatures of the manual.
        ///
        /// Calling through the table is the raw form of everything here: the caller answers for
        /// addresses, life times and the current context. Every function may be called from any thread.
        #[allow(non_snake_case)] // The names are the C names.
        #[derive(Clone, Copy)]
        #[non_exhaustive]
        pub struct Table {
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub $name: unsafe extern "C" fn($($ty),*) -> $ret,
            )*
        }

        impl Table {
            /// Looks everything up; the names that were not found stand in `missing`.
            pub(crate) fn look_up(
                find: impl Fn(&'static str) -> Option<*mut c_void>,
                missing: &mut Vec<&'static str>,
            ) -> Table {
                $(
                    #[allow(non_snake_case)]
                    unsafe extern "C" fn $name($(_: $ty),*) -> $ret {
                        <$ret as Absent>::ANSWER
                    }
                )*
                Table {
                    $($name: match find(concat!(stringify!($name), "\0")) {
                        // SAFETY: the type is the signature that the contract gives this name.
                        Some(symbol) => unsafe {
                            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) -> $ret>(symbol)
                        },
                        None => {
                            missing.push(stringify!($name));
                            $name
                        }
                    },)*
                }
            }
        }
    };
}

table! {
    // Process and errors.
    fn aclInit(config: *const c_char) -> aclError;
    fn aclFinalize() -> aclError;
    fn aclGetRecentErrMsg() -> *const c_char;
    fn aclrtGetSocName() -> *const c_char;

    // Devices and contexts.
    fn aclrtGetDeviceCount(count: *mut u32) -> aclError;
    fn aclrtSetDevice(device: i32) -> aclError;
    fn aclrtResetDevice(device: i32) -> aclError;
    fn aclrtSynchronizeDevice() -> aclError;
    fn aclrtGetMemInfo(attribute: aclrtMemAttr, free: *mut usize, total: *mut usize) -> aclError;
    fn aclrtCreateContext(context: *mut aclrtContext, device: i32) -> aclError;
    fn aclrtDestroyContext(context: aclrtContext) -> aclError;
    fn aclrtSetCurrentContext(context: aclrtContext) -> aclError;
    fn aclrtGetCurrentContext(context: *mut aclrtContext) -> aclError;
    fn aclrtDeviceGetBareTgid(pid: *mut i32) -> aclError;

    // Streams, events, host functions.
    fn aclrtCreateStream(stream: *mut aclrtStream) -> aclError;
    fn aclrtDestroyStream(stream: aclrtStream) -> aclError;
    fn aclrtSynchronizeStream(stream: aclrtStream) -> aclError;
    fn aclrtStreamQuery(stream: aclrtStream, status: *mut aclrtStreamStatus) -> aclError;
    fn aclrtStreamWaitEvent(stream: aclrtStream, event: aclrtEvent) -> aclError;
    fn aclrtCreateEventExWithFlag(event: *mut aclrtEvent, flag: u32) -> aclError;
    fn aclrtDestroyEvent(event: aclrtEvent) -> aclError;
    fn aclrtRecordEvent(event: aclrtEvent, stream: aclrtStream) -> aclError;
    fn aclrtQueryEventStatus(event: aclrtEvent, status: *mut aclrtEventRecordedStatus) -> aclError;
    fn aclrtSynchronizeEvent(event: aclrtEvent) -> aclError;
    fn aclrtEventElapsedTime(ms: *mut f32, start: aclrtEvent, end: aclrtEvent) -> aclError;
    fn aclrtLaunchHostFunc(stream: aclrtStream, function: aclrtHostFunc, args: *mut c_void) -> aclError;

    // Memory.
    fn aclrtMalloc(block: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError;
    fn aclrtMallocCached(block: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError;
    fn aclrtMemFlush(address: *mut c_void, size: usize) -> aclError;
    fn aclrtMemInvalidate(address: *mut c_void, size: usize) -> aclError;
    fn aclrtFree(block: *mut c_void) -> aclError;
    fn aclrtMallocHost(block: *mut *mut c_void, size: usize) -> aclError;
    fn aclrtFreeHost(block: *mut c_void) -> aclError;
    fn aclrtMemcpy(to: *mut c_void, max: usize, from: *const c_void, count: usize, kind: aclrtMemcpyKind) -> aclError;
    fn aclrtMemcpyAsync(to: *mut c_void, max: usize, from: *const c_void, count: usize, kind: aclrtMemcpyKind, stream: aclrtStream) -> aclError;
    fn aclrtMemset(to: *mut c_void, max: usize, value: i32, count: usize) -> aclError;
    fn aclrtMemsetAsync(to: *mut c_void, max: usize, value: i32, count: usize, stream: aclrtStream) -> aclError;

    // Stream-ordered pools.
    fn aclrtMemPoolCreate(pool: *mut aclrtMemPool, properties: *const aclrtMemPoolProps) -> aclError;
    fn aclrtMemPoolDestroy(pool: aclrtMemPool) -> aclError;
    fn aclrtMemPoolMallocAsync(block: *mut *mut c_void, size: usize, pool: aclrtMemPool, stream: aclrtStream) -> aclError;
    fn aclrtMemPoolFreeAsync(block: *mut c_void, stream: aclrtStream) -> aclError;
    fn aclrtMemPoolGetAttr(pool: aclrtMemPool, attribute: aclrtMemPoolAttr, value: *mut c_void) -> aclError;
    fn aclrtMemPoolSetAttr(pool: aclrtMemPool, attribute: aclrtMemPoolAttr, value: *mut c_void) -> aclError;
    fn aclrtMemPoolTrimTo(pool: aclrtMemPool, keep: usize) -> aclError;

    // Virtual memory and shareable handles.
    fn aclrtReserveMemAddress(address: *mut *mut c_void, size: usize, alignment: usize, wanted: *mut c_void, flags: u64) -> aclError;
    fn aclrtReleaseMemAddress(address: *mut c_void) -> aclError;
    fn aclrtMallocPhysical(handle: *mut aclrtDrvMemHandle, size: usize, properties: *const aclrtPhysicalMemProp, flags: u64) -> aclError;
    fn aclrtFreePhysical(handle: aclrtDrvMemHandle) -> aclError;
    fn aclrtMapMem(address: *mut c_void, size: usize, offset: usize, handle: aclrtDrvMemHandle, flags: u64) -> aclError;
    fn aclrtUnmapMem(address: *mut c_void) -> aclError;
    fn aclrtMemSetAccess(address: *mut c_void, size: usize, rights: *mut aclrtMemAccessDesc, count: usize) -> aclError;
    fn aclrtMemGetAllocationGranularity(properties: *mut aclrtPhysicalMemProp, option: aclrtMemGranularityOptions, granularity: *mut usize) -> aclError;
    fn aclrtMemExportToShareableHandle(handle: aclrtDrvMemHandle, kind: aclrtMemHandleType, flags: u64, shared: *mut u64) -> aclError;
    fn aclrtMemImportFromShareableHandle(shared: u64, device: i32, handle: *mut aclrtDrvMemHandle) -> aclError;
    fn aclrtMemSetPidToShareableHandle(shared: u64, pids: *mut i32, count: usize) -> aclError;

    // Memory of several processes by key.
    fn aclrtIpcMemGetExportKey(block: *mut c_void, size: usize, key: *mut c_char, length: usize, flags: u64) -> aclError;
    fn aclrtIpcMemSetImportPid(key: *const c_char, pids: *mut i32, count: usize) -> aclError;
    fn aclrtIpcMemImportByKey(block: *mut *mut c_void, key: *const c_char, flags: u64) -> aclError;
    fn aclrtIpcMemClose(key: *const c_char) -> aclError;
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").finish_non_exhaustive()
    }
}
