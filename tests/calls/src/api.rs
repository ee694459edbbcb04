//! The C functions under test, looked up by name at run time.
//!
//! A library is opened once, by path, and never closed. A function is looked up at its first call; when no
//! library exports it, that call panics with its name.
//!
//! The wrappers are safe to call on purpose: tests hand over NULL, stale, interior and invented handles and
//! device addresses, and the contract under test is that the library answers with a code. Host addresses that
//! they pass are live memory of the promised size; a test that breaks that rule by intent says so.
#![allow(non_snake_case)] // The names are the C names.
#![allow(clippy::not_unsafe_ptr_arg_deref)] // See above.

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cannery_abi::*;
use libloading::Library;

/// Libraries of the prefix that are searched in this order.
const LIBRARIES: [&str; 3] = ["libascendcl.so", "libacl_dvpp.so", "libacl_dvpp_mpi.so"];

static PREFIX: OnceLock<PathBuf> = OnceLock::new();
static OPENED: [OnceLock<Library>; 3] = [const { OnceLock::new() }; 3];

fn path(prefix: &Path, index: usize) -> PathBuf {
    prefix.join("lib64").join(LIBRARIES[index])
}

/// Path of the main library below a prefix.
pub fn main_library(prefix: &Path) -> PathBuf {
    path(prefix, 0)
}

/// Names the prefix; nothing is opened before the first call.
pub fn set_prefix(prefix: &Path) {
    // A process has one.
    let _ = PREFIX.set(prefix.to_owned());
}

/// Names the prefix and opens its main library; the others follow when a function is not there.
///
/// # Errors
/// What the loader says.
pub fn open(prefix: &Path) -> Result<(), String> {
    set_prefix(prefix);
    let library = load(&main_library(prefix))?;
    OPENED[0]
        .set(library)
        .map_err(|_| "the library is open already".to_owned())
}

/// Whether the main library was opened, which the first call does.
pub fn is_open() -> bool {
    OPENED[0].get().is_some()
}

fn load(path: &Path) -> Result<Library, String> {
    // SAFETY: the initialisers of the project's own libraries; a linked program runs them too.
    let library = unsafe { Library::new(path) };
    library.map_err(|error| format!("cannot open {}: {error}", path.display()))
}

fn library(index: usize) -> &'static Library {
    OPENED[index].get_or_init(|| {
        let prefix = PREFIX.get().expect("a prefix was set");
        load(&path(prefix, index)).unwrap_or_else(|error| panic!("{error}"))
    })
}

/// Whether any library of the prefix exports `name`.
pub fn exports(name: &str) -> bool {
    find::<*const c_void>(name).is_some()
}

fn find<F: Copy>(name: &str) -> Option<F> {
    (0..LIBRARIES.len()).find_map(|index| {
        // SAFETY: `F` is the pointer type that the contract's signature gives this name; the library stays
        // open for the rest of the process.
        let symbol = unsafe { library(index).get::<F>(name.as_bytes()) };
        symbol.ok().map(|symbol| *symbol)
    })
}

fn symbol<F: Copy>(name: &str) -> F {
    find(name).unwrap_or_else(|| panic!("the libraries do not export {name}"))
}

macro_rules! functions {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)?;)*) => {
        $(
            #[doc = concat!("Calls `", stringify!($name), "`.")]
            #[allow(clippy::too_many_arguments)] // The C signature.
            pub fn $name($($arg: $ty),*) $(-> $ret)? {
                type F = unsafe extern "C" fn($($ty),*) $(-> $ret)?;
                static SLOT: OnceLock<F> = OnceLock::new();
                let function = SLOT.get_or_init(|| symbol(stringify!($name)));
                // SAFETY: the signature is the contract's; see the module text for what tests pass.
                unsafe { function($($arg),*) }
            }
        )*
    };
}

functions! {
    // Process.
    fn aclInit(config: *const c_char) -> aclError;
    fn aclFinalize() -> aclError;
    fn aclFinalizeReference(count: *mut u64) -> aclError;
    fn aclInitCallbackRegister(kind: aclRegisterCallbackType, call: aclInitCallbackFunc, data: *mut c_void) -> aclError;
    fn aclInitCallbackUnRegister(kind: aclRegisterCallbackType, call: aclInitCallbackFunc) -> aclError;
    fn aclFinalizeCallbackRegister(kind: aclRegisterCallbackType, call: aclFinalizeCallbackFunc, data: *mut c_void) -> aclError;
    fn aclFinalizeCallbackUnRegister(kind: aclRegisterCallbackType, call: aclFinalizeCallbackFunc) -> aclError;
    fn aclrtGetVersion(major: *mut i32, minor: *mut i32, patch: *mut i32) -> aclError;
    fn aclrtGetSocName() -> *const c_char;

    // Errors.
    fn aclGetRecentErrMsg() -> *const c_char;
    fn aclrtGetLastError(level: aclrtLastErrLevel) -> aclError;
    fn aclrtPeekAtLastError(level: aclrtLastErrLevel) -> aclError;

    // Failed tasks.
    fn aclrtSetExceptionInfoCallback(callback: aclrtExceptionInfoCallback) -> aclError;
    fn aclrtExceptionInfoCallbackRegister(callback: aclrtExceptionInfoCallback) -> aclError;
    fn aclrtExceptionInfoCallbackUnregister(callback: aclrtExceptionInfoCallback) -> aclError;
    fn aclrtGetDeviceIdFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32;
    fn aclrtGetStreamIdFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32;
    fn aclrtGetTaskIdFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32;
    fn aclrtGetThreadIdFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32;
    fn aclrtGetErrorCodeFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32;

    // The toolkit around the runtime.
    fn aclGetCannAttribute(feature: aclCannAttr, value: *mut i32) -> aclError;
    fn aclGetCannAttributeList(list: *mut *const aclCannAttr, num: *mut usize) -> aclError;
    fn aclrtSetDeviceSatMode(mode: aclrtFloatOverflowMode) -> aclError;
    fn aclrtGetDeviceSatMode(mode: *mut aclrtFloatOverflowMode) -> aclError;
    fn aclrtSetSysParamOpt(opt: aclSysParamOpt, value: i64) -> aclError;
    fn aclrtGetSysParamOpt(opt: aclSysParamOpt, value: *mut i64) -> aclError;
    fn aclSetCompileopt(opt: i32, value: *const c_char) -> aclError;
    fn aclGetCompileopt(opt: i32, value: *mut c_char, length: usize) -> aclError;
    fn aclGetCompileoptSize(opt: i32) -> usize;
    fn aclDataTypeSize(data_type: aclDataType) -> usize;
    fn aclFloat16ToFloat(value: aclFloat16) -> f32;
    fn aclFloatToFloat16(value: f32) -> aclFloat16;

    // Devices.
    fn aclrtSetDevice(device: i32) -> aclError;
    fn aclrtResetDevice(device: i32) -> aclError;
    fn aclrtResetDeviceForce(device: i32) -> aclError;
    fn aclrtGetDevice(device: *mut i32) -> aclError;
    fn aclrtGetDeviceCount(count: *mut u32) -> aclError;
    fn aclrtGetRunMode(mode: *mut aclrtRunMode) -> aclError;
    fn aclrtQueryDeviceStatus(device: i32, status: *mut aclrtDeviceStatus) -> aclError;
    fn aclrtGetDeviceInfo(device: u32, attr: aclrtDevAttr, value: *mut i64) -> aclError;
    fn aclrtGetDeviceUtilizationRate(device: i32, info: *mut aclrtUtilizationInfo) -> aclError;
    fn aclrtDeviceGetStreamPriorityRange(least: *mut i32, greatest: *mut i32) -> aclError;
    fn aclrtDeviceSetLimit(limit: aclrtDeviceLimit, value: usize) -> aclError;
    fn aclrtSetTsDevice(ts: aclrtTsId) -> aclError;
    fn aclrtSynchronizeDevice() -> aclError;
    fn aclrtSynchronizeDeviceWithTimeout(milliseconds: i32) -> aclError;
    fn aclrtDeviceCanAccessPeer(can: *mut i32, device: i32, peer: i32) -> aclError;
    fn aclrtDeviceEnablePeerAccess(peer: i32, flags: u32) -> aclError;
    fn aclrtDeviceDisablePeerAccess(peer: i32) -> aclError;
    fn aclrtDevicePeerAccessStatus(device: i32, peer: i32, status: *mut i32) -> aclError;
    fn aclrtGetPhyDevIdByLogicDevId(logic: i32, phy: *mut i32) -> aclError;
    fn aclrtGetPhyDevIdByUserDevId(user: i32, phy: *mut i32) -> aclError;
    fn aclrtGetUserDevIdByPhyDevId(phy: i32, user: *mut i32) -> aclError;

    fn aclrtGetDeviceCapability(device: i32, feature: aclrtDevFeatureType, value: *mut i32) -> aclError;
    fn aclrtDeviceGetUuid(device: i32, uuid: *mut aclrtUuid) -> aclError;
    fn aclrtDeviceGetPCIBusId(device: i32, text: *mut c_char, len: i32) -> aclError;
    fn aclrtDeviceGetByPCIBusId(text: *const c_char, device: *mut i32) -> aclError;
    fn aclrtCtxGetFloatOverflowAddr(address: *mut *mut c_void) -> aclError;
    fn aclrtGetOverflowStatus(out: *mut c_void, size: usize, stream: aclrtStream) -> aclError;
    fn aclrtResetOverflowStatus(stream: aclrtStream) -> aclError;
    fn aclrtGetFloatOverflowStatus(out: *mut c_void, size: u64, stream: aclrtStream) -> aclError;
    fn aclrtResetFloatOverflowStatus(stream: aclrtStream) -> aclError;
    fn aclrtNpuGetFloatOverFlowStatus(out: *mut c_void, size: u64, mode: u32, stream: aclrtStream) -> aclError;
    fn aclrtNpuClearFloatOverFlowStatus(mode: u32, stream: aclrtStream) -> aclError;

    // Configuration.
    fn aclrtSetDeviceResLimit(device: i32, kind: aclrtDevResLimitType, value: u32) -> aclError;
    fn aclrtGetDeviceResLimit(device: i32, kind: aclrtDevResLimitType, value: *mut u32) -> aclError;
    fn aclrtResetDeviceResLimit(device: i32) -> aclError;
    fn aclrtSetStreamResLimit(stream: aclrtStream, kind: aclrtDevResLimitType, value: u32) -> aclError;
    fn aclrtGetStreamResLimit(stream: aclrtStream, kind: aclrtDevResLimitType, value: *mut u32) -> aclError;
    fn aclrtResetStreamResLimit(stream: aclrtStream) -> aclError;
    fn aclrtUseStreamResInCurrentThread(stream: aclrtStream) -> aclError;
    fn aclrtUnuseStreamResInCurrentThread(stream: aclrtStream) -> aclError;
    fn aclrtGetResInCurrentThread(kind: aclrtDevResLimitType, value: *mut u32) -> aclError;

    // Versions, features, data types.
    fn aclsysGetCANNVersion(name: aclCANNPackageName, version: *mut aclCANNPackageVersion) -> aclError;
    fn aclsysGetVersionStr(package: *const c_char, text: *mut c_char) -> aclError;
    fn aclsysGetVersionNum(package: *const c_char, number: *mut i32) -> aclError;

    // Operators.
    fn aclopCompileAndExecute(name: *const c_char) -> aclError;
    fn aclopSetAttrInt(attr: *mut c_void, name: *const c_char, value: i64) -> aclError;
    fn aclCreateTensorDesc() -> *mut c_void;
    fn aclDestroyTensorDesc(desc: *mut c_void);
    fn MsprofReportApi() -> i32;

    // Contexts.
    fn aclrtCreateContext(context: *mut aclrtContext, device: i32) -> aclError;
    fn aclrtDestroyContext(context: aclrtContext) -> aclError;
    fn aclrtSetCurrentContext(context: aclrtContext) -> aclError;
    fn aclrtGetCurrentContext(context: *mut aclrtContext) -> aclError;
    fn aclrtGetPrimaryCtxState(device: i32, flags: *mut u32, active: *mut i32) -> aclError;
    fn aclrtCtxGetCurrentDefaultStream(stream: *mut aclrtStream) -> aclError;
    fn aclrtCtxGetSysParamOpt(opt: aclSysParamOpt, value: *mut i64) -> aclError;
    fn aclrtCtxSetSysParamOpt(opt: aclSysParamOpt, value: i64) -> aclError;

    // Device memory.
    fn aclrtMalloc(ptr: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError;
    fn aclrtMallocAlign32(ptr: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError;
    fn aclrtMallocCached(ptr: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError;
    fn aclrtMallocWithCfg(ptr: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy, cfg: *mut aclrtMallocConfig) -> aclError;
    fn aclrtMallocForTaskScheduler(ptr: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy, cfg: *mut aclrtMallocConfig) -> aclError;
    fn aclrtFree(ptr: *mut c_void) -> aclError;
    fn aclrtFreeWithDevSync(ptr: *mut c_void) -> aclError;
    fn aclrtCmoAsync(src: *mut c_void, size: usize, kind: aclrtCmoType, stream: aclrtStream) -> aclError;
    fn aclrtCmoGetDescSize(size: *mut usize) -> aclError;
    fn aclrtCmoSetDesc(desc: *mut c_void, src: *mut c_void, size: usize) -> aclError;
    fn aclrtCmoAsyncWithDesc(desc: *mut c_void, kind: aclrtCmoType, stream: aclrtStream, reserve: *const c_void) -> aclError;
    fn aclrtCmoAsyncWithBarrier(src: *mut c_void, size: usize, kind: aclrtCmoType, barrier: u32, stream: aclrtStream) -> aclError;
    fn aclrtCmoWaitBarrier(info: *mut aclrtBarrierTaskInfo, stream: aclrtStream, flag: u32) -> aclError;
    fn aclrtSwitchStream(left: *mut c_void, cond: aclrtCondition, right: *mut c_void, kind: aclrtCompareDataType, yes: aclrtStream, no: aclrtStream, stream: aclrtStream) -> aclError;
    fn aclrtStreamStop(stream: aclrtStream) -> aclError;
    fn aclrtCacheLastTaskOpInfo(info: *const c_void, size: usize) -> aclError;
    fn aclrtCacheLastTaskExtendInfo(info: *const c_char, size: usize) -> aclError;
    fn aclrtActiveStream(active: aclrtStream, stream: aclrtStream) -> aclError;
    fn aclrtPersistentTaskClean(stream: aclrtStream) -> aclError;
    fn aclrtCreateLabel(label: *mut aclrtLabel) -> aclError;
    fn aclrtDestroyLabel(label: aclrtLabel) -> aclError;
    fn aclrtSetLabel(label: aclrtLabel, stream: aclrtStream) -> aclError;
    fn aclrtCreateLabelList(labels: *mut aclrtLabel, count: usize, list: *mut aclrtLabelList) -> aclError;
    fn aclrtDestroyLabelList(list: aclrtLabelList) -> aclError;
    fn aclrtSwitchLabelByIndex(index: *mut c_void, count: u32, list: aclrtLabelList, stream: aclrtStream) -> aclError;
    fn aclmdlRIBuildBegin(model: *mut aclmdlRI, flag: u32) -> aclError;
    fn aclmdlRIBindStream(model: aclmdlRI, stream: aclrtStream, flag: u32) -> aclError;
    fn aclmdlRIEndTask(model: aclmdlRI, stream: aclrtStream) -> aclError;
    fn aclmdlRIBuildEnd(model: aclmdlRI, reserve: *mut c_void) -> aclError;
    fn aclmdlRIExecute(model: aclmdlRI, timeout: i32) -> aclError;
    fn aclrtMemFlush(ptr: *mut c_void, size: usize) -> aclError;
    fn aclrtMemInvalidate(ptr: *mut c_void, size: usize) -> aclError;
    fn aclrtGetMemInfo(attr: aclrtMemAttr, free: *mut usize, total: *mut usize) -> aclError;
    fn aclrtGetMemUsageInfo(device: i32, info: *mut aclrtMemUsageInfo, num: usize, out: *mut usize) -> aclError;
    fn aclrtCheckMemType(list: *mut *mut c_void, size: u32, kind: u32, result: *mut u32, reserve: u32) -> aclError;
    fn aclrtPointerGetAttributes(ptr: *const c_void, attributes: *mut aclrtPtrAttributes) -> aclError;
    fn aclrtMemGetAddressRange(ptr: *mut c_void, base: *mut *mut c_void, size: *mut usize) -> aclError;

    // Host memory.
    fn aclrtMallocHost(ptr: *mut *mut c_void, size: usize) -> aclError;
    fn aclrtMallocHostWithCfg(ptr: *mut *mut c_void, size: u64, cfg: *mut aclrtMallocConfig) -> aclError;
    fn aclrtFreeHost(ptr: *mut c_void) -> aclError;
    fn aclrtFreeHostWithDevSync(ptr: *mut c_void) -> aclError;
    fn aclrtHostRegister(ptr: *mut c_void, size: u64, kind: aclrtHostRegisterType, device: *mut *mut c_void) -> aclError;
    fn aclrtHostRegisterV2(ptr: *mut c_void, size: u64, flag: u32) -> aclError;
    fn aclrtHostUnregister(ptr: *mut c_void) -> aclError;
    fn aclrtHostGetDevicePointer(host: *mut c_void, device: *mut *mut c_void, flag: u32) -> aclError;
    fn aclrtHostMemMapCapabilities(device: u32, kind: aclrtHacType, out: *mut aclrtHostMemMapCapability) -> aclError;

    // Shareable handles.
    fn aclrtMemExportToShareableHandle(handle: aclrtDrvMemHandle, kind: aclrtMemHandleType, flags: u64, out: *mut u64) -> aclError;
    fn aclrtMemExportToShareableHandleV2(handle: aclrtDrvMemHandle, flags: u64, kind: aclrtMemSharedHandleType, out: *mut c_void) -> aclError;
    fn aclrtMemSetPidToShareableHandle(handle: u64, pids: *mut i32, num: usize) -> aclError;
    fn aclrtMemSetPidToShareableHandleV2(handle: *mut c_void, kind: aclrtMemSharedHandleType, pids: *mut i32, num: usize) -> aclError;
    fn aclrtMemImportFromShareableHandle(handle: u64, device: i32, out: *mut aclrtDrvMemHandle) -> aclError;
    fn aclrtMemImportFromShareableHandleV2(handle: *mut c_void, kind: aclrtMemSharedHandleType, flags: u64, out: *mut aclrtDrvMemHandle) -> aclError;

    // IPC memory.
    fn aclrtIpcMemGetExportKey(ptr: *mut c_void, size: usize, key: *mut c_char, len: usize, flags: u64) -> aclError;
    fn aclrtIpcMemSetImportPid(key: *const c_char, pids: *mut i32, num: usize) -> aclError;
    fn aclrtIpcMemImportPidInterServer(key: *const c_char, servers: *mut aclrtServerPid, num: usize) -> aclError;
    fn aclrtIpcMemSetAttr(key: *const c_char, kind: aclrtIpcMemAttrType, attr: u64) -> aclError;
    fn aclrtIpcMemImportByKey(ptr: *mut *mut c_void, key: *const c_char, flags: u64) -> aclError;
    fn aclrtIpcMemClose(key: *const c_char) -> aclError;

    // Managed memory.
    fn aclrtMemAllocManaged(ptr: *mut *mut c_void, size: u64, flag: u32) -> aclError;
    fn aclrtMemManagedAdvise(ptr: *const c_void, size: u64, advise: aclrtMemManagedAdviseType, location: aclrtMemManagedLocation) -> aclError;
    fn aclrtMemManagedPrefetchAsync(ptr: *const c_void, size: usize, location: aclrtMemManagedLocation, flags: u32, stream: aclrtStream) -> aclError;
    fn aclrtMemManagedPrefetchBatchAsync(ptrs: *mut *const c_void, sizes: *mut usize, count: usize, locations: *mut aclrtMemManagedLocation, indexes: *mut usize, runs: usize, flags: u64, stream: aclrtStream) -> aclError;
    fn aclrtMemManagedGetAttr(attribute: aclrtMemManagedRangeAttribute, ptr: *const c_void, size: usize, data: *mut c_void, data_size: usize) -> aclError;
    fn aclrtMemManagedGetAttrs(attributes: *mut aclrtMemManagedRangeAttribute, num: usize, ptr: *const c_void, size: usize, data: *mut *mut c_void, sizes: *mut usize) -> aclError;
    fn aclrtMemP2PMap(ptr: *mut c_void, size: usize, device: i32, flags: u64) -> aclError;

    // Copies and sets.
    fn aclrtMemcpy(dst: *mut c_void, max: usize, src: *const c_void, count: usize, kind: aclrtMemcpyKind) -> aclError;
    fn aclrtMemset(ptr: *mut c_void, max: usize, value: i32, count: usize) -> aclError;
    fn aclrtMemsetD32(ptr: *mut c_void, size: usize, value: u32, n: usize) -> aclError;
    fn aclrtMemcpy2d(dst: *mut c_void, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: aclrtMemcpyKind) -> aclError;
    fn aclrtMemcpyBatch(dsts: *mut *mut c_void, maxs: *mut usize, srcs: *mut *mut c_void, sizes: *mut usize, num: usize, attrs: *mut aclrtMemcpyBatchAttr, indexes: *mut usize, num_attrs: usize, fail: *mut usize) -> aclError;
    fn aclrtMemcpyBatchV2(dsts: *mut *mut c_void, maxs: *mut usize, srcs: *mut *mut c_void, sizes: *mut usize, num: usize, attrs: *mut aclrtMemcpyBatchAttr, indexes: *mut usize, num_attrs: usize) -> aclError;
    fn aclrtGetMemcpyDescSize(kind: aclrtMemcpyKind, size: *mut usize) -> aclError;
    fn aclrtSetMemcpyDesc(desc: *mut c_void, kind: aclrtMemcpyKind, src: *mut c_void, dst: *mut c_void, count: usize, config: *mut c_void) -> aclError;

    fn aclrtMemcpyAsync(dst: *mut c_void, max: usize, src: *const c_void, count: usize, kind: aclrtMemcpyKind, stream: aclrtStream) -> aclError;
    fn aclrtMemcpyAsyncWithCondition(dst: *mut c_void, max: usize, src: *const c_void, count: usize, kind: aclrtMemcpyKind, stream: aclrtStream) -> aclError;
    fn aclrtMemcpyAsyncWithDesc(desc: *mut c_void, kind: aclrtMemcpyKind, stream: aclrtStream) -> aclError;
    fn aclrtMemcpyAsyncWithOffset(dst: *mut *mut c_void, max: usize, dst_offset: usize, src: *mut *const c_void, count: usize, src_offset: usize, kind: aclrtMemcpyKind, stream: aclrtStream) -> aclError;
    fn aclrtMemsetAsync(ptr: *mut c_void, max: usize, value: i32, count: usize, stream: aclrtStream) -> aclError;
    fn aclrtMemsetD32Async(ptr: *mut c_void, size: usize, value: u32, n: usize, stream: aclrtStream) -> aclError;
    fn aclrtMemcpy2dAsync(dst: *mut c_void, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: aclrtMemcpyKind, stream: aclrtStream) -> aclError;
    fn aclrtMemcpyBatchAsync(dsts: *mut *mut c_void, maxs: *mut usize, srcs: *mut *mut c_void, sizes: *mut usize, num: usize, attrs: *mut aclrtMemcpyBatchAttr, indexes: *mut usize, num_attrs: usize, fail: *mut usize, stream: aclrtStream) -> aclError;
    fn aclrtMemcpyBatchAsyncV2(dsts: *mut *mut c_void, maxs: *mut usize, srcs: *mut *mut c_void, sizes: *mut usize, num: usize, attrs: *mut aclrtMemcpyBatchAttr, indexes: *mut usize, num_attrs: usize, stream: aclrtStream) -> aclError;

    // Values in device memory.
    fn aclrtValueWrite(ptr: *mut c_void, value: u64, flag: u32, stream: aclrtStream) -> aclError;
    fn aclrtValueWait(ptr: *mut c_void, value: u64, flag: u32, stream: aclrtStream) -> aclError;

    // Virtual memory.
    fn aclrtReserveMemAddress(ptr: *mut *mut c_void, size: usize, alignment: usize, expected: *mut c_void, flags: u64) -> aclError;
    fn aclrtReserveMemAddressNoUCMemory(ptr: *mut *mut c_void, size: usize, alignment: usize, expected: *mut c_void, flags: u64) -> aclError;
    fn aclrtReleaseMemAddress(ptr: *mut c_void) -> aclError;
    fn aclrtMallocPhysical(handle: *mut aclrtDrvMemHandle, size: usize, prop: *const aclrtPhysicalMemProp, flags: u64) -> aclError;
    fn aclrtFreePhysical(handle: aclrtDrvMemHandle) -> aclError;
    fn aclrtMapMem(ptr: *mut c_void, size: usize, offset: usize, handle: aclrtDrvMemHandle, flags: u64) -> aclError;
    fn aclrtMemMapNoAccess(ptr: *mut c_void, size: usize, offset: usize, handle: aclrtDrvMemHandle, flags: u64) -> aclError;
    fn aclrtUnmapMem(ptr: *mut c_void) -> aclError;
    fn aclrtMemMapSelectedLink(dst: *mut c_void, size: usize, src: *mut c_void, link: u32) -> aclError;
    fn aclrtMemMapSetLink(handle: aclrtDrvMemHandle, link: aclrtMemLinkType) -> aclError;
    fn aclrtMemSetAccess(ptr: *mut c_void, size: usize, desc: *mut aclrtMemAccessDesc, count: usize) -> aclError;
    fn aclrtMemGetAccess(ptr: *mut c_void, location: *mut aclrtMemLocation, flag: *mut u64) -> aclError;
    fn aclrtMemGetAllocationGranularity(prop: *mut aclrtPhysicalMemProp, option: aclrtMemGranularityOptions, granularity: *mut usize) -> aclError;
    fn aclrtMemGetAllocationPropertiesFromHandle(handle: aclrtDrvMemHandle, prop: *mut aclrtPhysicalMemProp) -> aclError;
    fn aclrtMemRetainAllocationHandle(ptr: *mut c_void, handle: *mut aclrtDrvMemHandle) -> aclError;

    // Streams.
    fn aclrtCreateStream(stream: *mut aclrtStream) -> aclError;
    fn aclrtCreateStreamWithConfig(stream: *mut aclrtStream, priority: u32, flag: u32) -> aclError;
    fn aclrtDestroyStream(stream: aclrtStream) -> aclError;
    fn aclrtDestroyStreamForce(stream: aclrtStream) -> aclError;
    fn aclrtCreateStreamConfigHandle() -> *mut aclrtStreamConfigHandle;
    fn aclrtSetStreamConfigOpt(handle: *mut aclrtStreamConfigHandle, attr: aclrtStreamConfigAttr, value: *const c_void, size: usize) -> aclError;
    fn aclrtCreateStreamV2(stream: *mut aclrtStream, handle: *const aclrtStreamConfigHandle) -> aclError;
    fn aclrtDestroyStreamConfigHandle(handle: *mut aclrtStreamConfigHandle) -> aclError;
    fn aclrtGetGroupCount(count: *mut u32) -> aclError;
    fn aclrtSetGroup(group: i32) -> aclError;
    fn aclrtCreateGroupInfo() -> *mut aclrtGroupInfo;
    fn aclrtDestroyGroupInfo(info: *mut aclrtGroupInfo) -> aclError;
    fn aclrtGetAllGroupInfo(info: *mut aclrtGroupInfo) -> aclError;
    fn aclrtGetGroupInfoDetail(info: *const aclrtGroupInfo, index: i32, attr: aclrtGroupAttr, value: *mut c_void, size: usize, written: *mut usize) -> aclError;
    fn aclrtGetDevicesTopo(device: u32, other: u32, value: *mut u64) -> aclError;
    fn aclrtDeviceGetHostAtomicCapabilities(masks: *mut u32, operations: *const aclrtAtomicOperation, count: u32, device: i32) -> aclError;
    fn aclrtDeviceGetP2PAtomicCapabilities(masks: *mut u32, operations: *const aclrtAtomicOperation, count: u32, from: i32, to: i32) -> aclError;
    fn aclrtCheckArchCompatibility(chip: *const c_char, answer: *mut i32) -> aclError;
    fn aclrtDeviceL2CacheFlush(reserved: *mut c_void) -> aclError;
    fn aclrtNotifySetImportPidInterServer(notify: aclrtNotify, servers: *mut aclrtServerPid, count: usize) -> aclError;
    fn aclrtSnapShotProcessLock(pid: i32, reserve: *mut c_void) -> aclError;
    fn aclrtSnapShotProcessUnlock(pid: i32, reserve: *mut c_void) -> aclError;
    fn aclrtSnapShotProcessBackup(pid: i32, args: *mut aclrtSnapShotBackupArgs) -> aclError;
    fn aclrtSnapShotProcessRestore(pid: i32, args: *mut aclrtSnapShotRestoreArgs) -> aclError;
    fn aclrtSnapShotCallbackRegister(stage: aclrtSnapShotStage, call: aclrtSnapShotCallBack, args: *mut c_void) -> aclError;
    fn aclrtSnapShotCallbackUnregister(stage: aclrtSnapShotStage, call: aclrtSnapShotCallBack) -> aclError;
    fn aclrtDeviceTaskAbort(device: i32, timeout: u32) -> aclError;
    fn aclrtSetDeviceTaskAbortCallback(name: *const c_char, call: aclrtDeviceTaskAbortCallback, args: *mut c_void) -> aclError;
    fn aclrtGetErrorVerbose(device: i32, info: *mut aclrtErrorInfo) -> aclError;
    fn aclrtRepairError(device: i32, info: *const aclrtErrorInfo) -> aclError;
    fn aclrtGetMemUceInfo(device: i32, list: *mut aclrtMemUceInfo, room: usize, count: *mut usize) -> aclError;
    fn aclrtMemUceRepair(device: i32, list: *mut aclrtMemUceInfo, count: usize) -> aclError;
    fn aclrtStreamAbort(stream: aclrtStream) -> aclError;
    fn aclrtSynchronizeStream(stream: aclrtStream) -> aclError;
    fn aclrtSynchronizeStreamWithTimeout(stream: aclrtStream, milliseconds: i32) -> aclError;
    fn aclrtStreamQuery(stream: aclrtStream, status: *mut aclrtStreamStatus) -> aclError;
    fn aclrtStreamGetFlags(stream: aclrtStream, flags: *mut u32) -> aclError;
    fn aclrtStreamGetPriority(stream: aclrtStream, priority: *mut u32) -> aclError;
    fn aclrtStreamGetId(stream: aclrtStream, id: *mut i32) -> aclError;
    fn aclrtGetStreamAvailableNum(count: *mut u32) -> aclError;
    fn aclrtSetStreamFailureMode(stream: aclrtStream, mode: u64) -> aclError;
    fn aclrtSetStreamOverflowSwitch(stream: aclrtStream, flag: u32) -> aclError;
    fn aclrtGetStreamOverflowSwitch(stream: aclrtStream, flag: *mut u32) -> aclError;
    fn aclrtSetStreamAttribute(stream: aclrtStream, attr: aclrtStreamAttr, value: *mut aclrtStreamAttrValue) -> aclError;
    fn aclrtGetStreamAttribute(stream: aclrtStream, attr: aclrtStreamAttr, value: *mut aclrtStreamAttrValue) -> aclError;

    fn aclrtRegStreamStateCallback(name: *const c_char, call: aclrtStreamStateCallback, args: *mut c_void) -> aclError;

    // Reductions.
    fn aclrtReduceAsync(dst: *mut c_void, src: *const c_void, count: u64, kind: aclrtReduceKind, data_type: aclDataType, stream: aclrtStream, reserve: *mut c_void) -> aclError;

    // Timeouts and task ids.
    fn aclrtSetOpWaitTimeout(seconds: u32) -> aclError;
    fn aclrtSetOpExecuteTimeOut(seconds: u32) -> aclError;
    fn aclrtSetOpExecuteTimeOutWithMs(milliseconds: u32) -> aclError;
    fn aclrtSetOpExecuteTimeOutV2(microseconds: u64, actual: *mut u64) -> aclError;
    fn aclrtGetOpExecuteTimeout(milliseconds: *mut u32) -> aclError;
    fn aclrtGetOpTimeOutInterval(microseconds: *mut u64) -> aclError;
    fn aclrtGetThreadLastTaskId(id: *mut u32) -> aclError;

    // Random numbers.
    fn aclrtRandomNumAsync(info: *const aclrtRandomNumTaskInfo, stream: aclrtStream, reserve: *mut c_void) -> aclError;

    // Events.
    fn aclrtCreateEvent(event: *mut aclrtEvent) -> aclError;
    fn aclrtCreateEventWithFlag(event: *mut aclrtEvent, flag: u32) -> aclError;
    fn aclrtCreateEventExWithFlag(event: *mut aclrtEvent, flag: u32) -> aclError;
    fn aclrtDestroyEvent(event: aclrtEvent) -> aclError;
    fn aclrtRecordEvent(event: aclrtEvent, stream: aclrtStream) -> aclError;
    fn aclrtRecordEventWithFlag(event: aclrtEvent, stream: aclrtStream, flag: u32) -> aclError;
    fn aclrtResetEvent(event: aclrtEvent, stream: aclrtStream) -> aclError;
    fn aclrtStreamWaitEvent(stream: aclrtStream, event: aclrtEvent) -> aclError;
    fn aclrtStreamWaitEventWithTimeout(stream: aclrtStream, event: aclrtEvent, timeout: i32) -> aclError;
    fn aclrtStreamWaitEventWithFlag(stream: aclrtStream, event: aclrtEvent, timeout: u32, flag: u32) -> aclError;
    fn aclrtSynchronizeEvent(event: aclrtEvent) -> aclError;
    fn aclrtSynchronizeEventWithTimeout(event: aclrtEvent, milliseconds: i32) -> aclError;
    fn aclrtQueryEvent(event: aclrtEvent, status: *mut aclrtEventStatus) -> aclError;
    fn aclrtQueryEventStatus(event: aclrtEvent, status: *mut aclrtEventRecordedStatus) -> aclError;
    fn aclrtQueryEventWaitStatus(event: aclrtEvent, status: *mut aclrtEventWaitStatus) -> aclError;
    fn aclrtEventElapsedTime(ms: *mut f32, start: aclrtEvent, end: aclrtEvent) -> aclError;
    fn aclrtEventGetTimestamp(event: aclrtEvent, timestamp: *mut u64) -> aclError;
    fn aclrtGetEventId(event: aclrtEvent, id: *mut u32) -> aclError;
    fn aclrtGetEventAvailNum(count: *mut u32) -> aclError;

    // Notifies.
    fn aclrtCreateNotify(notify: *mut aclrtNotify, flag: u64) -> aclError;
    fn aclrtDestroyNotify(notify: aclrtNotify) -> aclError;
    fn aclrtRecordNotify(notify: aclrtNotify, stream: aclrtStream) -> aclError;
    fn aclrtWaitAndResetNotify(notify: aclrtNotify, stream: aclrtStream, timeout: u32) -> aclError;
    fn aclrtGetNotifyId(notify: aclrtNotify, id: *mut u32) -> aclError;
    fn aclrtNotifyBatchReset(notifies: *mut aclrtNotify, num: usize) -> aclError;
    fn aclrtNotifyGetExportKey(notify: aclrtNotify, key: *mut c_char, len: usize, flags: u64) -> aclError;
    fn aclrtNotifyImportByKey(notify: *mut aclrtNotify, key: *const c_char, flags: u64) -> aclError;
    fn aclrtCntNotifyCreate(notify: *mut aclrtCntNotify, flag: u64) -> aclError;
    fn aclrtCntNotifyDestroy(notify: aclrtCntNotify) -> aclError;
    fn aclrtCntNotifyRecord(notify: aclrtCntNotify, stream: aclrtStream, info: *mut aclrtCntNotifyRecordInfo) -> aclError;
    fn aclrtCntNotifyWaitWithTimeout(notify: aclrtCntNotify, stream: aclrtStream, info: *mut aclrtCntNotifyWaitInfo) -> aclError;
    fn aclrtCntNotifyReset(notify: aclrtCntNotify, stream: aclrtStream) -> aclError;
    fn aclrtCntNotifyGetId(notify: aclrtCntNotify, id: *mut u32) -> aclError;

    // Functions of the program in stream order.
    fn aclrtLaunchHostFunc(stream: aclrtStream, function: aclrtHostFunc, args: *mut c_void) -> aclError;
    fn aclrtSubscribeReport(thread: u64, stream: aclrtStream) -> aclError;
    fn aclrtUnSubscribeReport(thread: u64, stream: aclrtStream) -> aclError;
    fn aclrtLaunchCallback(function: aclrtCallback, data: *mut c_void, block: aclrtCallbackBlockType, stream: aclrtStream) -> aclError;
    fn aclrtProcessReport(milliseconds: i32) -> aclError;

    // Captures.
    fn aclmdlRICaptureBegin(stream: aclrtStream, mode: aclmdlRICaptureMode) -> aclError;
    fn aclmdlRICaptureEnd(stream: aclrtStream, model: *mut aclmdlRI) -> aclError;
    fn aclmdlRICaptureToModelRIBegin(stream: aclrtStream, model: aclmdlRI, mode: aclmdlRICaptureMode) -> aclError;
    fn aclmdlRICaptureGetInfo(stream: aclrtStream, status: *mut aclmdlRICaptureStatus, model: *mut aclmdlRI) -> aclError;
    fn aclmdlRICaptureThreadExchangeMode(mode: *mut aclmdlRICaptureMode) -> aclError;
    fn aclmdlRICaptureTaskGrpBegin(stream: aclrtStream) -> aclError;
    fn aclmdlRICaptureTaskGrpEnd(stream: aclrtStream, group: *mut aclrtTaskGrp) -> aclError;
    fn aclmdlRICaptureTaskUpdateBegin(stream: aclrtStream, group: aclrtTaskGrp) -> aclError;
    fn aclmdlRICaptureTaskUpdateEnd(stream: aclrtStream) -> aclError;
    fn aclmdlRIExecuteAsync(model: aclmdlRI, stream: aclrtStream) -> aclError;
    fn aclmdlRIAbort(model: aclmdlRI) -> aclError;
    fn aclmdlRIDestroy(model: aclmdlRI) -> aclError;
    fn aclmdlRIDestroyRegisterCallback(model: aclmdlRI, function: aclrtCallback, data: *mut c_void) -> aclError;
    fn aclmdlRIDestroyUnregisterCallback(model: aclmdlRI, function: aclrtCallback) -> aclError;
    fn aclmdlRIUnbindStream(model: aclmdlRI, stream: aclrtStream) -> aclError;
    fn aclmdlRIGetId(model: aclmdlRI, id: *mut u32) -> aclError;
    fn aclmdlRISetName(model: aclmdlRI, name: *const c_char) -> aclError;
    fn aclmdlRIGetName(model: aclmdlRI, max: u32, name: *mut c_char) -> aclError;
    fn aclmdlRIGetStreams(model: aclmdlRI, streams: *mut aclrtStream, count: *mut u32) -> aclError;
    fn aclmdlRIGetTasksByStream(stream: aclrtStream, tasks: *mut aclmdlRITask, count: *mut u32) -> aclError;
    fn aclmdlRITaskGetType(task: aclmdlRITask, kind: *mut aclmdlRITaskType) -> aclError;
    fn aclmdlRITaskGetSeqId(task: aclmdlRITask, id: *mut u32) -> aclError;
    fn aclmdlRITaskGetParams(task: aclmdlRITask, params: *mut aclmdlRITaskParams) -> aclError;
    fn aclmdlRITaskSetParams(task: aclmdlRITask, params: *mut aclmdlRITaskParams) -> aclError;
    fn aclmdlRITaskDisable(task: aclmdlRITask) -> aclError;
    fn aclmdlRIUpdate(model: aclmdlRI) -> aclError;
    fn aclmdlRIDebugPrint(model: aclmdlRI) -> aclError;
    fn aclmdlRIDebugJsonPrint(model: aclmdlRI, path: *const c_char, flags: u32) -> aclError;
    fn aclmdlRIAddCondTask(params: aclmdlRICondTaskParams, stream: aclrtStream, flags: u32) -> aclError;
    fn aclmdlRICondHandleCreate(model: aclmdlRI, value: u32, flag: aclmdlRICondHandleFlag, handle: *mut aclmdlRICondHandle) -> aclError;
    fn aclmdlRICondHandleGetCondPtr(handle: aclmdlRICondHandle, ptr: *mut *mut u64) -> aclError;
    fn aclmdlRIKernelTaskGetAttribute(task: aclmdlRITask, attribute: aclrtLaunchKernelAttrId, value: *mut aclrtLaunchKernelAttrValue) -> aclError;

    // Stream-ordered pools.
    fn aclrtMemPoolCreate(pool: *mut aclrtMemPool, props: *const aclrtMemPoolProps) -> aclError;
    fn aclrtMemPoolDestroy(pool: aclrtMemPool) -> aclError;
    fn aclrtMemPoolSetAttr(pool: aclrtMemPool, attr: aclrtMemPoolAttr, value: *mut c_void) -> aclError;
    fn aclrtMemPoolGetAttr(pool: aclrtMemPool, attr: aclrtMemPoolAttr, value: *mut c_void) -> aclError;
    fn aclrtMemPoolTrimTo(pool: aclrtMemPool, keep: usize) -> aclError;
    fn aclrtMemPoolMallocAsync(ptr: *mut *mut c_void, size: usize, pool: aclrtMemPool, stream: aclrtStream) -> aclError;
    fn aclrtMemPoolFreeAsync(ptr: *mut c_void, stream: aclrtStream) -> aclError;
    // Allocators of streams.
    fn aclrtAllocatorCreateDesc() -> aclrtAllocatorDesc;
    fn aclrtAllocatorDestroyDesc(desc: aclrtAllocatorDesc) -> aclError;
    fn aclrtAllocatorSetObjToDesc(desc: aclrtAllocatorDesc, object: aclrtAllocator) -> aclError;
    fn aclrtAllocatorSetAllocFuncToDesc(desc: aclrtAllocatorDesc, function: aclrtAllocatorAllocFunc) -> aclError;
    fn aclrtAllocatorSetFreeFuncToDesc(desc: aclrtAllocatorDesc, function: aclrtAllocatorFreeFunc) -> aclError;
    fn aclrtAllocatorSetAllocAdviseFuncToDesc(desc: aclrtAllocatorDesc, function: aclrtAllocatorAllocAdviseFunc) -> aclError;
    fn aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc: aclrtAllocatorDesc, function: aclrtAllocatorGetAddrFromBlockFunc) -> aclError;
    fn aclrtAllocatorRegister(stream: aclrtStream, desc: aclrtAllocatorDesc) -> aclError;
    fn aclrtAllocatorUnregister(stream: aclrtStream) -> aclError;
    fn aclrtAllocatorGetByStream(stream: aclrtStream, desc: *mut aclrtAllocatorDesc, object: *mut aclrtAllocator, alloc: *mut aclrtAllocatorAllocFunc, free: *mut aclrtAllocatorFreeFunc, advise: *mut aclrtAllocatorAllocAdviseFunc, address: *mut aclrtAllocatorGetAddrFromBlockFunc) -> aclError;

    // Kernels.
    fn aclrtBinaryLoadFromFile(path: *const c_char, options: *mut aclrtBinaryLoadOptions, binary: *mut aclrtBinHandle) -> aclError;
    fn aclrtBinaryLoadFromData(data: *const c_void, length: usize, options: *const aclrtBinaryLoadOptions, binary: *mut aclrtBinHandle) -> aclError;
    fn aclrtCreateBinary(data: *const c_void, length: usize) -> aclrtBinary;
    fn aclrtDestroyBinary(binary: aclrtBinary) -> aclError;
    fn aclrtBinaryLoad(binary: aclrtBinary, handle: *mut aclrtBinHandle) -> aclError;
    fn aclrtBinaryUnLoad(binary: aclrtBinHandle) -> aclError;
    fn aclrtBinaryGetFunction(binary: aclrtBinHandle, name: *const c_char, function: *mut aclrtFuncHandle) -> aclError;
    fn aclrtBinaryGetFunctionByEntry(binary: aclrtBinHandle, entry: u64, function: *mut aclrtFuncHandle) -> aclError;
    fn aclrtBinaryGetGlobal(binary: aclrtBinHandle, name: *const c_char, ptr: *mut *mut c_void, size: *mut usize) -> aclError;
    fn aclrtBinaryGetDevAddress(binary: aclrtBinHandle, ptr: *mut *mut c_void, size: *mut usize) -> aclError;
    fn aclrtBinarySetExceptionCallback(binary: aclrtBinHandle, callback: aclrtOpExceptionCallback, data: *mut c_void) -> aclError;
    fn aclrtRegisterCpuFunc(binary: aclrtBinHandle, function: *const c_char, kernel: *const c_char, handle: *mut aclrtFuncHandle) -> aclError;
    fn aclrtGetFunctionName(function: aclrtFuncHandle, max: u32, name: *mut c_char) -> aclError;
    fn aclrtGetFunctionAttribute(function: aclrtFuncHandle, attribute: aclrtFuncAttribute, value: *mut i64) -> aclError;
    fn aclrtGetFunctionAddr(function: aclrtFuncHandle, cube: *mut *mut c_void, vector: *mut *mut c_void) -> aclError;
    fn aclrtGetFunctionSize(function: aclrtFuncHandle, cube: *mut usize, vector: *mut usize) -> aclError;
    fn aclrtFunctionGetParamCount(function: *const c_void, count: *mut usize) -> aclError;
    fn aclrtFunctionGetParamInfo(function: *const c_void, index: usize, offset: *mut usize, size: *mut usize) -> aclError;
    fn aclrtFunctionGetAvailDynUbufPerBlock(function: *mut c_void, flags: u32, size: *mut usize) -> aclError;
    fn aclrtGetHardwareSyncAddr(address: *mut *mut c_void) -> aclError;
    fn aclrtGetFuncBySymbol(symbol: *const c_void, function: *mut aclrtFuncHandle) -> aclError;
    fn aclrtKernelArgsInit(function: aclrtFuncHandle, list: *mut aclrtArgsHandle) -> aclError;
    fn aclrtKernelArgsAppend(list: aclrtArgsHandle, value: *mut c_void, size: usize, parameter: *mut aclrtParamHandle) -> aclError;
    fn aclrtKernelArgsFinalize(list: aclrtArgsHandle) -> aclError;
    fn aclrtLaunchKernel(function: aclrtFuncHandle, blocks: u32, args: *const c_void, size: usize, stream: aclrtStream) -> aclError;
    fn aclrtLaunchKernelWithConfig(function: aclrtFuncHandle, blocks: u32, stream: aclrtStream, config: *mut aclrtLaunchKernelCfg, list: aclrtArgsHandle, reserve: *mut c_void) -> aclError;
    fn aclrtLaunchKernelWithHostArgs(function: aclrtFuncHandle, blocks: u32, stream: aclrtStream, config: *mut aclrtLaunchKernelCfg, args: *mut c_void, size: usize, placeholders: *mut aclrtPlaceHolderInfo, count: usize) -> aclError;
    fn aclrtKernelArgsInitByUserMem(function: aclrtFuncHandle, list: aclrtArgsHandle, memory: *mut c_void, size: usize) -> aclError;
    fn aclrtKernelArgsGetMemSize(function: aclrtFuncHandle, size: usize, actual: *mut usize) -> aclError;
    fn aclrtKernelArgsGetHandleMemSize(function: aclrtFuncHandle, size: *mut usize) -> aclError;
    fn aclrtKernelArgsAppendPlaceHolder(list: aclrtArgsHandle, parameter: *mut aclrtParamHandle) -> aclError;
    fn aclrtKernelArgsGetPlaceHolderBuffer(list: aclrtArgsHandle, parameter: aclrtParamHandle, size: usize, buffer: *mut *mut c_void) -> aclError;
    fn aclrtKernelArgsParaUpdate(list: aclrtArgsHandle, parameter: aclrtParamHandle, value: *mut c_void, size: usize) -> aclError;
    fn aclrtFunctionGetBinary(function: aclrtFuncHandle, binary: *mut aclrtBinHandle) -> aclError;
    fn aclrtGetFuncHandleFromExceptionInfo(info: *const c_void, function: *mut aclrtFuncHandle) -> aclError;
    fn aclrtGetArgsFromExceptionInfo(info: *const c_void, args: *mut *mut c_void, len: *mut u32) -> aclError;
    fn aclrtLaunchKernelV2(function: aclrtFuncHandle, blocks: u32, args: *const c_void, size: usize, config: *mut aclrtLaunchKernelCfg, stream: aclrtStream) -> aclError;
    fn aclrtLaunchSIMTKernelWithHostArgs(function: *mut c_void, grid: dim3, block: dim3, scratch: usize, stream: aclrtStream, config: *mut aclrtLaunchKernelCfg, args: *mut c_void, size: usize, placeholders: *mut aclrtPlaceHolderInfo, count: usize) -> aclError;
    fn aclrtLaunchSIMTKernelWithArgsArray(function: *mut c_void, grid: dim3, block: dim3, scratch: usize, stream: aclrtStream, config: *mut aclrtLaunchKernelCfg, args: *mut *mut c_void) -> aclError;
    fn aclrtLaunchKernelWithArgsArray(function: *mut c_void, blocks: u32, stream: aclrtStream, config: *mut aclrtLaunchKernelCfg, args: *mut *mut c_void) -> aclError;
    fn cannery_register_kernel(symbol: *const c_void, name: *const c_char, info: *const c_void, variables: *const c_void, end: *const c_void) -> aclError;
    fn cannery_register_variable(symbol: *const c_void, size: usize, variables: *const c_void, end: *const c_void) -> aclError;
    fn cannery_unregister(symbol: *const c_void);

    // Device variables.
    fn aclrtGetSymbolAddress(symbol: *const c_void, ptr: *mut *mut c_void) -> aclError;
    fn aclrtGetSymbolSize(symbol: *const c_void, size: *mut usize) -> aclError;
    fn aclrtMemcpyToSymbol(symbol: *const c_void, src: *const c_void, count: usize, offset: usize, kind: aclrtMemcpyKind) -> aclError;
    fn aclrtMemcpyFromSymbol(dst: *mut c_void, max: usize, symbol: *const c_void, count: usize, offset: usize, kind: aclrtMemcpyKind) -> aclError;
    fn aclrtMemcpyToSymbolAsync(symbol: *const c_void, src: *const c_void, count: usize, offset: usize, kind: aclrtMemcpyKind, stream: aclrtStream) -> aclError;
    fn aclrtMemcpyFromSymbolAsync(dst: *mut c_void, max: usize, symbol: *const c_void, count: usize, offset: usize, kind: aclrtMemcpyKind, stream: aclrtStream) -> aclError;

    // Media memory.
    fn acldvppMalloc(ptr: *mut *mut c_void, size: usize) -> aclError;
    fn acldvppFree(ptr: *mut c_void) -> aclError;
    fn hi_mpi_dvpp_malloc(device: u32, ptr: *mut *mut c_void, size: u64) -> i32;
    fn hi_mpi_dvpp_free(ptr: *mut c_void) -> i32;

    // Channels of tensors.
    fn acltdtAddDataItem(dataset: *mut acltdtDataset, data_item: *mut acltdtDataItem) -> aclError;
    fn acltdtCleanChannel(handle: *mut acltdtChannelHandle) -> aclError;
    fn acltdtCreateChannel(device_id: u32, name: *const c_char) -> *mut acltdtChannelHandle;
    fn acltdtCreateChannelWithCapacity(device_id: u32, name: *const c_char, capacity: usize) -> *mut acltdtChannelHandle;
    fn acltdtCreateDataItem(tdt_type: acltdtTensorType, dims: *const i64, dim_num: usize, data_type: aclDataType, data: *mut c_void, size: usize) -> *mut acltdtDataItem;
    fn acltdtCreateDataset() -> *mut acltdtDataset;
    fn acltdtDestroyChannel(handle: *mut acltdtChannelHandle) -> aclError;
    fn acltdtDestroyDataItem(data_item: *mut acltdtDataItem) -> aclError;
    fn acltdtDestroyDataset(dataset: *mut acltdtDataset) -> aclError;
    fn acltdtGetDataAddrFromItem(data_item: *const acltdtDataItem) -> *mut c_void;
    fn acltdtGetDataItem(dataset: *const acltdtDataset, index: usize) -> *mut acltdtDataItem;
    fn acltdtGetDataSizeFromItem(data_item: *const acltdtDataItem) -> usize;
    fn acltdtGetDataTypeFromItem(data_item: *const acltdtDataItem) -> aclDataType;
    fn acltdtGetDatasetName(dataset: *const acltdtDataset) -> *const c_char;
    fn acltdtGetDatasetSize(dataset: *const acltdtDataset) -> usize;
    fn acltdtGetDimNumFromItem(data_item: *const acltdtDataItem) -> usize;
    fn acltdtGetDimsFromItem(data_item: *const acltdtDataItem, dims: *mut i64, dim_num: usize) -> aclError;
    fn acltdtGetSliceInfoFromItem(data_item: *const acltdtDataItem, slice_num: *mut usize, slice_id: *mut usize) -> aclError;
    fn acltdtGetTensorTypeFromItem(data_item: *const acltdtDataItem) -> acltdtTensorType;
    fn acltdtQueryChannelSize(handle: *const acltdtChannelHandle, size: *mut usize) -> aclError;
    fn acltdtReceiveTensor(handle: *const acltdtChannelHandle, dataset: *mut acltdtDataset, timeout: i32) -> aclError;
    fn acltdtSendTensor(handle: *const acltdtChannelHandle, dataset: *const acltdtDataset, timeout: i32) -> aclError;
    fn acltdtStopChannel(handle: *mut acltdtChannelHandle) -> aclError;

    // Shared queues.
    fn acltdtAddQueueRoute(route_list: *mut acltdtQueueRouteList, route: *const acltdtQueueRoute) -> aclError;
    fn acltdtAllocBuf(size: usize, kind: u32, buf: *mut acltdtBuf) -> aclError;
    fn acltdtAppendBufChain(head_buf: acltdtBuf, buf: acltdtBuf) -> aclError;
    fn acltdtAttachQueue(qid: u32, timeout: i32, permission: *mut u32) -> aclError;
    fn acltdtBindQueueRoutes(q_route_list: *mut acltdtQueueRouteList) -> aclError;
    fn acltdtCopyBufRef(buf: acltdtBuf, new_buf: *mut acltdtBuf) -> aclError;
    fn acltdtCreateQueue(attr: *const acltdtQueueAttr, qid: *mut u32) -> aclError;
    fn acltdtCreateQueueAttr() -> *mut acltdtQueueAttr;
    fn acltdtCreateQueueRoute(src_id: u32, dst_id: u32) -> *mut acltdtQueueRoute;
    fn acltdtCreateQueueRouteList() -> *mut acltdtQueueRouteList;
    fn acltdtCreateQueueRouteQueryInfo() -> *mut acltdtQueueRouteQueryInfo;
    fn acltdtDequeue(qid: u32, buf: *mut acltdtBuf, timeout: i32) -> aclError;
    fn acltdtDequeueData(qid: u32, data: *mut c_void, data_size: usize, ret_data_size: *mut usize, user_data: *mut c_void, user_data_size: usize, timeout: i32) -> aclError;
    fn acltdtDestroyQueue(qid: u32) -> aclError;
    fn acltdtDestroyQueueAttr(attr: *const acltdtQueueAttr) -> aclError;
    fn acltdtDestroyQueueRoute(route: *const acltdtQueueRoute) -> aclError;
    fn acltdtDestroyQueueRouteList(route_list: *const acltdtQueueRouteList) -> aclError;
    fn acltdtDestroyQueueRouteQueryInfo(info: *const acltdtQueueRouteQueryInfo) -> aclError;
    fn acltdtEnqueue(qid: u32, buf: acltdtBuf, timeout: i32) -> aclError;
    fn acltdtEnqueueData(qid: u32, data: *const c_void, data_size: usize, user_data: *const c_void, user_data_size: usize, timeout: i32, rsv: u32) -> aclError;
    fn acltdtFreeBuf(buf: acltdtBuf) -> aclError;
    fn acltdtGetBufChainNum(head_buf: acltdtBuf, num: *mut u32) -> aclError;
    fn acltdtGetBufData(buf: acltdtBuf, data_ptr: *mut *mut c_void, size: *mut usize) -> aclError;
    fn acltdtGetBufDataLen(buf: acltdtBuf, len: *mut usize) -> aclError;
    fn acltdtGetBufFromChain(head_buf: acltdtBuf, index: u32, buf: *mut acltdtBuf) -> aclError;
    fn acltdtGetBufUserData(buf: acltdtBuf, data_ptr: *mut c_void, size: usize, offset: usize) -> aclError;
    fn acltdtGetQueueAttr(attr: *const acltdtQueueAttr, kind: acltdtQueueAttrType, len: usize, param_ret_size: *mut usize, param: *mut c_void) -> aclError;
    fn acltdtGetQueueRoute(route_list: *const acltdtQueueRouteList, index: usize, route: *mut acltdtQueueRoute) -> aclError;
    fn acltdtGetQueueRouteNum(route_list: *const acltdtQueueRouteList) -> usize;
    fn acltdtGetQueueRouteParam(route: *const acltdtQueueRoute, kind: acltdtQueueRouteParamType, len: usize, param_ret_size: *mut usize, param: *mut c_void) -> aclError;
    fn acltdtGrantQueue(qid: u32, pid: i32, permission: u32, timeout: i32) -> aclError;
    fn acltdtQueryQueueRoutes(query_info: *const acltdtQueueRouteQueryInfo, q_route_list: *mut acltdtQueueRouteList) -> aclError;
    fn acltdtSetBufDataLen(buf: acltdtBuf, len: usize) -> aclError;
    fn acltdtSetBufUserData(buf: acltdtBuf, data_ptr: *const c_void, size: usize, offset: usize) -> aclError;
    fn acltdtSetQueueAttr(attr: *mut acltdtQueueAttr, kind: acltdtQueueAttrType, len: usize, param: *const c_void) -> aclError;
    fn acltdtSetQueueRouteQueryInfo(param: *mut acltdtQueueRouteQueryInfo, kind: acltdtQueueRouteQueryInfoParamType, len: usize, value: *const c_void) -> aclError;
    fn acltdtUnbindQueueRoutes(q_route_list: *mut acltdtQueueRouteList) -> aclError;

    // Reserved buffers.
    fn aclrtAllocBuf(buf: *mut aclrtMbuf, size: usize) -> aclError;
    fn aclrtAppendBufChain(head_buf: aclrtMbuf, buf: aclrtMbuf) -> aclError;
    fn aclrtCopyBufRef(buf: aclrtMbuf, new_buf: *mut aclrtMbuf) -> aclError;
    fn aclrtFreeBuf(buf: aclrtMbuf) -> aclError;
    fn aclrtGetBufChainNum(head_buf: aclrtMbuf, num: *mut u32) -> aclError;
    fn aclrtGetBufData(buf: aclrtMbuf, data_ptr: *mut *mut c_void, size: *mut usize) -> aclError;
    fn aclrtGetBufDataLen(buf: aclrtMbuf, len: *mut usize) -> aclError;
    fn aclrtGetBufFromChain(head_buf: aclrtMbuf, index: u32, buf: *mut aclrtMbuf) -> aclError;
    fn aclrtGetBufUserData(buf: aclrtMbuf, data_ptr: *mut c_void, size: usize, offset: usize) -> aclError;
    fn aclrtSetBufDataLen(buf: aclrtMbuf, len: usize) -> aclError;
    fn aclrtSetBufUserData(buf: aclrtMbuf, data_ptr: *const c_void, size: usize, offset: usize) -> aclError;

    // Events and notifies between processes.
    fn aclrtNotifySetImportPid(notify: aclrtNotify, pids: *mut i32, num: usize) -> aclError;
    fn aclrtIpcGetEventHandle(event: aclrtEvent, handle: *mut aclrtIpcEventHandle) -> aclError;
    fn aclrtIpcOpenEventHandle(handle: aclrtIpcEventHandle, event: *mut aclrtEvent) -> aclError;

    // Cannery's own.
    fn cannery_stats(buf: *mut c_char, size: usize, needed: *mut usize) -> i32;

    // Data buffers.
    fn aclCreateDataBuffer(data: *mut c_void, size: usize) -> *mut aclDataBuffer;
    fn aclDestroyDataBuffer(buffer: *const aclDataBuffer) -> aclError;
    fn aclUpdateDataBuffer(buffer: *mut aclDataBuffer, data: *mut c_void, size: usize) -> aclError;
    fn aclGetDataBufferAddr(buffer: *const aclDataBuffer) -> *mut c_void;
    fn aclGetDataBufferSizeV2(buffer: *const aclDataBuffer) -> usize;
    fn aclGetDataBufferSize(buffer: *const aclDataBuffer) -> u32;
}

/// The pending error text of this thread, which reading clears.
pub fn recent_text() -> Option<String> {
    string(aclGetRecentErrMsg())
}

/// The same for a message: there may be none.
pub fn said() -> String {
    recent_text().unwrap_or_else(|| "no text".to_owned())
}

/// Copies a C string; `None` for NULL.
pub fn string(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: a non-NULL answer of the library is a string that stays valid until the thread's next call.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}

/// The number as the pointer that C wants.
pub fn pointer(address: u64) -> *mut c_void {
    address as *mut c_void
}

/// Ends the run unless the call succeeded.
#[track_caller]
pub fn ok(code: aclError, what: &str) {
    if code != 0 {
        panic!("{what} answered {code}: {}", said());
    }
}
