//! The prototypes of `libascendcl.so`, by chapter, with the types of the manual.
//!
//! `tests/python/test_prototypes.py` compares every line with `spec/functions.jsonl`.

use std::ffi::{c_char, c_void};

use cannery_abi::*;

use super::Absent;

/// A tensor description; only the library knows what is behind it.
type TensorDesc = c_void;

/// A number that a description getter returns; no code, although it is an `int`.
#[repr(transparent)]
pub(crate) struct DescValue(pub(crate) i32);

impl Absent for DescValue {
    // "Undefined" in both enums, data type and format.
    fn absent() -> Self {
        Self(ACL_FORMAT_UNDEFINED)
    }
}

c_functions! {
    /// Function pointers into the library, or stand-ins.
    struct CApi;

    // acl.init
    fn aclInit(configPath: *const c_char) -> aclError;
    fn aclFinalize() -> aclError;
    fn aclFinalizeReference(refCount: *mut u64) -> aclError;
    fn aclGetRecentErrMsg() -> *const c_char;
    fn aclrtGetVersion(majorVersion: *mut i32, minorVersion: *mut i32, patchVersion: *mut i32) -> aclError;
    fn aclrtGetSocName() -> *const c_char;
    fn aclsysGetVersionStr(pkgName: *mut c_char, versionStr: *mut c_char) -> aclError;
    fn aclsysGetCANNVersion(name: aclCANNPackageName, version: *mut aclCANNPackageVersion) -> aclError;
    fn aclGetCannAttributeList(cannAttrList: *mut *const aclCannAttr, num: *mut usize) -> aclError;
    fn aclGetCannAttribute(cannAttr: aclCannAttr, value: *mut i32) -> aclError;
    fn aclGetDeviceCapability(deviceId: u32, deviceInfo: aclDeviceInfo, value: *mut i64) -> aclError;
    fn aclDataTypeSize(dataType: aclDataType) -> usize;
    fn aclFloat16ToFloat(value: aclFloat16) -> f32;
    fn aclFloatToFloat16(value: f32) -> aclFloat16;

    // acl.data_buffer
    fn aclCreateDataBuffer(data: *mut c_void, size: usize) -> *mut aclDataBuffer;
    fn aclDestroyDataBuffer(dataBuffer: *const aclDataBuffer) -> aclError;
    fn aclGetDataBufferAddr(dataBuffer: *const aclDataBuffer) -> *mut c_void;
    fn aclGetDataBufferSize(dataBuffer: *const aclDataBuffer) -> u32;
    fn aclGetDataBufferSizeV2(dataBuffer: *const aclDataBuffer) -> usize;
    fn aclUpdateDataBuffer(dataBuffer: *mut aclDataBuffer, data: *mut c_void, size: usize) -> aclError;

    // rt.device
    fn aclrtSetDevice(deviceId: i32) -> aclError;
    fn aclrtResetDevice(deviceId: i32) -> aclError;
    fn aclrtResetDeviceForce(deviceId: i32) -> aclError;
    fn aclrtGetDevice(deviceId: *mut i32) -> aclError;
    fn aclrtGetRunMode(runMode: *mut aclrtRunMode) -> aclError;
    fn aclrtSetTsDevice(tsId: aclrtTsId) -> aclError;
    fn aclrtGetDeviceCount(count: *mut u32) -> aclError;
    fn aclrtGetDeviceUtilizationRate(deviceId: i32, utilizationInfo: *mut aclrtUtilizationInfo) -> aclError;
    fn aclrtQueryDeviceStatus(deviceId: i32, deviceStatus: *mut aclrtDeviceStatus) -> aclError;
    fn aclrtSetDeviceSatMode(mode: aclrtFloatOverflowMode) -> aclError;
    fn aclrtGetDeviceSatMode(mode: *mut aclrtFloatOverflowMode) -> aclError;
    fn aclrtDeviceCanAccessPeer(canAccessPeer: *mut i32, deviceId: i32, peerDeviceId: i32) -> aclError;
    fn aclrtDeviceEnablePeerAccess(peerDeviceId: i32, flags: u32) -> aclError;
    fn aclrtDeviceDisablePeerAccess(peerDeviceId: i32) -> aclError;
    fn aclrtDevicePeerAccessStatus(deviceId: i32, peerDeviceId: i32, status: *mut i32) -> aclError;
    fn aclrtGetOverflowStatus(outputAddr: *mut c_void, outputSize: usize, stream: aclrtStream) -> aclError;
    fn aclrtResetOverflowStatus(stream: aclrtStream) -> aclError;
    fn aclrtSynchronizeDevice() -> aclError;
    fn aclrtSynchronizeDeviceWithTimeout(timeout: i32) -> aclError;
    fn aclrtGetDeviceInfo(deviceId: u32, attr: aclrtDevAttr, value: *mut i64) -> aclError;
    fn aclrtDeviceGetStreamPriorityRange(leastPriority: *mut i32, greatestPriority: *mut i32) -> aclError;
    fn aclrtGetDeviceCapability(deviceId: i32, devFeatureType: aclrtDevFeatureType, value: *mut i32) -> aclError;
    fn aclrtGetDevicesTopo(deviceId: u32, otherDeviceId: u32, value: *mut u64) -> aclError;
    fn aclrtGetDeviceResLimit(deviceId: i32, r#type: aclrtDevResLimitType, value: *mut u32) -> aclError;
    fn aclrtSetDeviceResLimit(deviceId: i32, r#type: aclrtDevResLimitType, value: u32) -> aclError;
    fn aclrtResetDeviceResLimit(deviceId: i32) -> aclError;
    fn aclrtDeviceTaskAbort(deviceId: i32, timeout: u32) -> aclError;
    fn aclrtGetLogicDevIdByUserDevId(userDevid: i32, logicDevId: *mut i32) -> aclError;
    fn aclrtGetUserDevIdByLogicDevId(logicDevId: i32, userDevid: *mut i32) -> aclError;
    fn aclrtGetLogicDevIdByPhyDevId(phyDevId: i32, logicDevId: *mut i32) -> aclError;
    fn aclrtGetPhyDevIdByLogicDevId(logicDevId: i32, phyDevId: *mut i32) -> aclError;
    fn aclrtDeviceGetUuid(deviceId: i32, uuid: *mut aclrtUuid) -> aclError;
    fn aclrtDeviceGetBareTgid(pid: *mut i32) -> aclError;

    // rt.context
    fn aclrtCreateContext(context: *mut aclrtContext, deviceId: i32) -> aclError;
    fn aclrtDestroyContext(context: aclrtContext) -> aclError;
    fn aclrtSetCurrentContext(context: aclrtContext) -> aclError;
    fn aclrtGetCurrentContext(context: *mut aclrtContext) -> aclError;
    fn aclrtCtxGetCurrentDefaultStream(stream: *mut aclrtStream) -> aclError;
    fn aclrtCtxSetSysParamOpt(opt: aclSysParamOpt, value: i64) -> aclError;
    fn aclrtCtxGetSysParamOpt(opt: aclSysParamOpt, value: *mut i64) -> aclError;
    fn aclrtGetPrimaryCtxState(deviceId: i32, flags: *mut u32, active: *mut i32) -> aclError;

    // rt.config
    fn aclrtSetSysParamOpt(opt: aclSysParamOpt, value: i64) -> aclError;
    fn aclrtGetSysParamOpt(opt: aclSysParamOpt, value: *mut i64) -> aclError;

    // rt.stream
    fn aclrtCreateStream(stream: *mut aclrtStream) -> aclError;
    fn aclrtCreateStreamWithConfig(stream: *mut aclrtStream, priority: u32, flag: u32) -> aclError;
    fn aclrtDestroyStream(stream: aclrtStream) -> aclError;
    fn aclrtDestroyStreamForce(stream: aclrtStream) -> aclError;
    fn aclrtSetStreamOverflowSwitch(stream: aclrtStream, flag: u32) -> aclError;
    fn aclrtGetStreamOverflowSwitch(stream: aclrtStream, flag: *mut u32) -> aclError;
    fn aclrtSetStreamFailureMode(stream: aclrtStream, mode: u64) -> aclError;
    fn aclrtStreamQuery(stream: aclrtStream, status: *mut aclrtStreamStatus) -> aclError;
    fn aclrtSynchronizeStream(stream: aclrtStream) -> aclError;
    fn aclrtSynchronizeStreamWithTimeout(stream: aclrtStream, timeout: i32) -> aclError;
    fn aclrtStreamAbort(stream: aclrtStream) -> aclError;
    fn aclrtStreamGetId(stream: aclrtStream, streamId: *mut i32) -> aclError;
    fn aclrtGetStreamAvailableNum(streamCount: *mut u32) -> aclError;
    fn aclrtSetStreamAttribute(
        stream: aclrtStream,
        stmAttrType: aclrtStreamAttr,
        value: *mut aclrtStreamAttrValue,
    ) -> aclError;
    fn aclrtGetStreamAttribute(
        stream: aclrtStream,
        stmAttrType: aclrtStreamAttr,
        value: *mut aclrtStreamAttrValue,
    ) -> aclError;
    fn aclrtGetStreamResLimit(stream: aclrtStream, r#type: aclrtDevResLimitType, value: *mut u32) -> aclError;
    fn aclrtSetStreamResLimit(stream: aclrtStream, r#type: aclrtDevResLimitType, value: u32) -> aclError;
    fn aclrtResetStreamResLimit(stream: aclrtStream) -> aclError;
    fn aclrtUseStreamResInCurrentThread(stream: aclrtStream) -> aclError;
    fn aclrtUnuseStreamResInCurrentThread(stream: aclrtStream) -> aclError;
    fn aclrtGetResInCurrentThread(r#type: aclrtDevResLimitType, value: *mut u32) -> aclError;

    // rt.event
    fn aclrtCreateEvent(event: *mut aclrtEvent) -> aclError;
    fn aclrtCreateEventWithFlag(event: *mut aclrtEvent, flag: u32) -> aclError;
    fn aclrtCreateEventExWithFlag(event: *mut aclrtEvent, flag: u32) -> aclError;
    fn aclrtDestroyEvent(event: aclrtEvent) -> aclError;
    fn aclrtRecordEvent(event: aclrtEvent, stream: aclrtStream) -> aclError;
    fn aclrtResetEvent(event: aclrtEvent, stream: aclrtStream) -> aclError;
    fn aclrtQueryEvent(event: aclrtEvent, status: *mut aclrtEventStatus) -> aclError;
    fn aclrtQueryEventStatus(event: aclrtEvent, status: *mut aclrtEventRecordedStatus) -> aclError;
    fn aclrtQueryEventWaitStatus(event: aclrtEvent, status: *mut aclrtEventWaitStatus) -> aclError;
    fn aclrtSynchronizeEvent(event: aclrtEvent) -> aclError;
    fn aclrtSynchronizeEventWithTimeout(event: aclrtEvent, timeout: i32) -> aclError;
    fn aclrtEventElapsedTime(ms: *mut f32, startEvent: aclrtEvent, endEvent: aclrtEvent) -> aclError;
    fn aclrtEventGetTimestamp(event: aclrtEvent, timestamp: *mut u64) -> aclError;
    fn aclrtGetEventId(event: aclrtEvent, eventId: *mut u32) -> aclError;
    fn aclrtGetEventAvailNum(eventCount: *mut u32) -> aclError;
    fn aclrtStreamWaitEvent(stream: aclrtStream, event: aclrtEvent) -> aclError;
    fn aclrtSetOpWaitTimeout(timeout: u32) -> aclError;

    // rt.callback
    fn aclrtSubscribeReport(threadId: u64, stream: aclrtStream) -> aclError;
    fn aclrtUnSubscribeReport(threadId: u64, stream: aclrtStream) -> aclError;
    fn aclrtProcessReport(timeout: i32) -> aclError;
    fn aclrtLaunchCallback(
        r#fn: aclrtCallback,
        userData: *mut c_void,
        blockType: aclrtCallbackBlockType,
        stream: aclrtStream,
    ) -> aclError;
    fn aclrtSetExceptionInfoCallback(callback: aclrtExceptionInfoCallback) -> aclError;
    fn aclrtGetErrorCodeFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32;
    fn aclrtGetTaskIdFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32;
    fn aclrtGetStreamIdFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32;
    fn aclrtGetThreadIdFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32;
    fn aclrtGetDeviceIdFromExceptionInfo(info: *const aclrtExceptionInfo) -> u32;
    fn aclrtGetThreadLastTaskId(taskId: *mut u32) -> aclError;
    fn aclrtPeekAtLastError(level: aclrtLastErrLevel) -> aclError;
    fn aclrtGetLastError(level: aclrtLastErrLevel) -> aclError;
    fn aclrtSetOpExecuteTimeOut(timeout: u32) -> aclError;
    fn aclrtSetOpExecuteTimeOutV2(timeout: u64, actualTimeout: *mut u64) -> aclError;
    fn aclrtGetOpExecuteTimeout(timeoutMs: *mut u32) -> aclError;
    fn aclrtReduceAsync(
        dst: *mut c_void,
        src: *const c_void,
        count: u64,
        kind: aclrtReduceKind,
        r#type: aclDataType,
        stream: aclrtStream,
        reserve: *mut c_void,
    ) -> aclError;

    // rt.memory.device
    fn aclrtMalloc(devPtr: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError;
    fn aclrtMallocAlign32(devPtr: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError;
    fn aclrtMallocCached(devPtr: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError;
    fn aclrtMallocWithCfg(
        devPtr: *mut *mut c_void,
        size: usize,
        policy: aclrtMemMallocPolicy,
        cfg: *mut aclrtMallocConfig,
    ) -> aclError;
    fn aclrtMallocForTaskScheduler(
        devPtr: *mut *mut c_void,
        size: usize,
        policy: aclrtMemMallocPolicy,
        cfg: *mut aclrtMallocConfig,
    ) -> aclError;
    fn aclrtMemFlush(devPtr: *mut c_void, size: usize) -> aclError;
    fn aclrtMemInvalidate(devPtr: *mut c_void, size: usize) -> aclError;
    fn aclrtFree(devPtr: *mut c_void) -> aclError;
    fn aclrtGetMemInfo(attr: aclrtMemAttr, free: *mut usize, total: *mut usize) -> aclError;
    fn aclrtCmoAsync(src: *mut c_void, size: usize, cmoType: aclrtCmoType, stream: aclrtStream) -> aclError;
    fn aclrtPointerGetAttributes(ptr: *const c_void, attributes: *mut aclrtPtrAttributes) -> aclError;
    fn aclrtGetMemUceInfo(
        deviceId: i32,
        memUceInfoArray: *mut aclrtMemUceInfo,
        arraySize: usize,
        retSize: *mut usize,
    ) -> aclError;
    fn aclrtMemUceRepair(deviceId: i32, memUceInfoArray: *mut aclrtMemUceInfo, arraySize: usize) -> aclError;

    // rt.memory.host
    fn aclrtMallocHost(hostPtr: *mut *mut c_void, size: usize) -> aclError;
    fn aclrtMallocHostWithCfg(ptr: *mut *mut c_void, size: u64, cfg: *mut aclrtMallocConfig) -> aclError;
    fn aclrtFreeHost(hostPtr: *mut c_void) -> aclError;
    fn aclrtHostRegister(
        ptr: *mut c_void,
        size: u64,
        r#type: aclrtHostRegisterType,
        devPtr: *mut *mut c_void,
    ) -> aclError;
    fn aclrtHostRegisterV2(ptr: *mut c_void, size: u64, flag: u32) -> aclError;
    fn aclrtHostGetDevicePointer(pHost: *mut c_void, pDevice: *mut *mut c_void, flag: u32) -> aclError;
    fn aclrtHostUnregister(ptr: *mut c_void) -> aclError;

    // rt.memory.copy
    fn aclrtMemcpy(
        dst: *mut c_void,
        destMax: usize,
        src: *const c_void,
        count: usize,
        kind: aclrtMemcpyKind,
    ) -> aclError;
    fn aclrtMemcpyAsync(
        dst: *mut c_void,
        destMax: usize,
        src: *const c_void,
        count: usize,
        kind: aclrtMemcpyKind,
        stream: aclrtStream,
    ) -> aclError;
    fn aclrtMemcpyAsyncWithCondition(
        dst: *mut c_void,
        destMax: usize,
        src: *const c_void,
        count: usize,
        kind: aclrtMemcpyKind,
        stream: aclrtStream,
    ) -> aclError;
    fn aclrtMemcpy2d(
        dst: *mut c_void,
        dpitch: usize,
        src: *const c_void,
        spitch: usize,
        width: usize,
        height: usize,
        kind: aclrtMemcpyKind,
    ) -> aclError;
    fn aclrtMemcpy2dAsync(
        dst: *mut c_void,
        dpitch: usize,
        src: *const c_void,
        spitch: usize,
        width: usize,
        height: usize,
        kind: aclrtMemcpyKind,
        stream: aclrtStream,
    ) -> aclError;
    fn aclrtMemset(devPtr: *mut c_void, maxCount: usize, value: i32, count: usize) -> aclError;
    fn aclrtMemsetAsync(
        devPtr: *mut c_void,
        maxCount: usize,
        value: i32,
        count: usize,
        stream: aclrtStream,
    ) -> aclError;
    fn aclrtGetMemcpyDescSize(kind: aclrtMemcpyKind, descSize: *mut usize) -> aclError;
    fn aclrtSetMemcpyDesc(
        desc: *mut c_void,
        kind: aclrtMemcpyKind,
        srcAddr: *mut c_void,
        dstAddr: *mut c_void,
        count: usize,
        config: *mut c_void,
    ) -> aclError;
    fn aclrtMemcpyAsyncWithDesc(desc: *mut c_void, kind: aclrtMemcpyKind, stream: aclrtStream) -> aclError;
    fn aclrtValueWrite(devAddr: *mut c_void, value: u64, flag: u32, stream: aclrtStream) -> aclError;
    fn aclrtValueWait(devAddr: *mut c_void, value: u64, flag: u32, stream: aclrtStream) -> aclError;

    // rt.memory.virtual
    fn aclrtReserveMemAddress(
        virPtr: *mut *mut c_void,
        size: usize,
        alignment: usize,
        expectPtr: *mut c_void,
        flags: u64,
    ) -> aclError;
    fn aclrtReleaseMemAddress(virPtr: *mut c_void) -> aclError;
    fn aclrtMallocPhysical(
        handle: *mut aclrtDrvMemHandle,
        size: usize,
        prop: *const aclrtPhysicalMemProp,
        flags: u64,
    ) -> aclError;
    fn aclrtFreePhysical(handle: aclrtDrvMemHandle) -> aclError;
    fn aclrtMapMem(
        virPtr: *mut c_void,
        size: usize,
        offset: usize,
        handle: aclrtDrvMemHandle,
        flags: u64,
    ) -> aclError;
    fn aclrtUnmapMem(virPtr: *mut c_void) -> aclError;
    fn aclrtMemGetAllocationGranularity(
        prop: *mut aclrtPhysicalMemProp,
        option: aclrtMemGranularityOptions,
        granularity: *mut usize,
    ) -> aclError;
    fn aclrtMemExportToShareableHandle(
        handle: aclrtDrvMemHandle,
        handleType: aclrtMemHandleType,
        flags: u64,
        shareableHandle: *mut u64,
    ) -> aclError;
    fn aclrtMemSetPidToShareableHandle(shareableHandle: u64, pid: *mut i32, pidNum: usize) -> aclError;
    fn aclrtMemImportFromShareableHandle(
        shareableHandle: u64,
        deviceId: i32,
        handle: *mut aclrtDrvMemHandle,
    ) -> aclError;

    // rt.memory.ipc
    fn aclrtIpcMemGetExportKey(
        devPtr: *mut c_void,
        size: usize,
        key: *mut c_char,
        len: usize,
        flags: u64,
    ) -> aclError;
    fn aclrtIpcMemSetImportPid(key: *const c_char, pid: *mut i32, num: usize) -> aclError;
    fn aclrtIpcMemImportByKey(devPtr: *mut *mut c_void, key: *const c_char, flags: u64) -> aclError;
    fn aclrtIpcMemClose(key: *const c_char) -> aclError;

    // rt.memory.allocator
    fn aclrtAllocatorCreateDesc() -> aclrtAllocatorDesc;
    fn aclrtAllocatorDestroyDesc(allocatorDesc: aclrtAllocatorDesc) -> aclError;
    fn aclrtAllocatorSetObjToDesc(allocatorDesc: aclrtAllocatorDesc, allocator: aclrtAllocator) -> aclError;
    fn aclrtAllocatorSetAllocFuncToDesc(
        allocatorDesc: aclrtAllocatorDesc,
        func: aclrtAllocatorAllocFunc,
    ) -> aclError;
    fn aclrtAllocatorSetFreeFuncToDesc(
        allocatorDesc: aclrtAllocatorDesc,
        func: aclrtAllocatorFreeFunc,
    ) -> aclError;
    fn aclrtAllocatorSetAllocAdviseFuncToDesc(
        allocatorDesc: aclrtAllocatorDesc,
        func: aclrtAllocatorAllocAdviseFunc,
    ) -> aclError;
    fn aclrtAllocatorSetGetAddrFromBlockFuncToDesc(
        allocatorDesc: aclrtAllocatorDesc,
        func: aclrtAllocatorGetAddrFromBlockFunc,
    ) -> aclError;
    fn aclrtAllocatorRegister(stream: aclrtStream, allocatorDesc: aclrtAllocatorDesc) -> aclError;
    fn aclrtAllocatorUnregister(stream: aclrtStream) -> aclError;

    // rt.notify
    fn aclrtCreateNotify(notify: *mut aclrtNotify, flag: u64) -> aclError;
    fn aclrtDestroyNotify(notify: aclrtNotify) -> aclError;
    fn aclrtRecordNotify(notify: aclrtNotify, stream: aclrtStream) -> aclError;
    fn aclrtWaitAndResetNotify(notify: aclrtNotify, stream: aclrtStream, timeout: u32) -> aclError;
    fn aclrtGetNotifyId(notify: aclrtNotify, notifyId: *mut u32) -> aclError;
    fn aclrtNotifyBatchReset(notifies: *mut aclrtNotify, num: usize) -> aclError;
    fn aclrtNotifyGetExportKey(notify: aclrtNotify, key: *mut c_char, len: usize, flags: u64) -> aclError;
    fn aclrtNotifySetImportPid(notify: aclrtNotify, pid: *mut i32, num: usize) -> aclError;
    fn aclrtNotifyImportByKey(notify: *mut aclrtNotify, key: *const c_char, flags: u64) -> aclError;

    // rt.group
    fn aclrtSetGroup(groupId: i32) -> aclError;
    fn aclrtGetGroupCount(count: *mut u32) -> aclError;
    fn aclrtCreateGroupInfo() -> *mut aclrtGroupInfo;
    fn aclrtDestroyGroupInfo(groupInfo: *mut aclrtGroupInfo) -> aclError;
    fn aclrtGetAllGroupInfo(groupInfo: *mut aclrtGroupInfo) -> aclError;
    fn aclrtGetGroupInfoDetail(
        groupInfo: *const aclrtGroupInfo,
        groupIndex: i32,
        attr: aclrtGroupAttr,
        attrValue: *mut c_void,
        valueLen: usize,
        paramRetSize: *mut usize,
    ) -> aclError;

    // rt.kernel
    fn aclrtCreateBinary(data: *const c_void, dataLen: usize) -> aclrtBinary;
    fn aclrtDestroyBinary(binary: aclrtBinary) -> aclError;
    fn aclrtBinaryLoad(binary: aclrtBinary, binHandle: *mut aclrtBinHandle) -> aclError;
    fn aclrtBinaryUnLoad(binHandle: aclrtBinHandle) -> aclError;
    fn aclrtBinaryLoadFromFile(
        binPath: *const c_char,
        options: *mut aclrtBinaryLoadOptions,
        binHandle: *mut aclrtBinHandle,
    ) -> aclError;
    fn aclrtBinaryLoadFromData(
        data: *const c_void,
        length: usize,
        options: *const aclrtBinaryLoadOptions,
        binHandle: *mut aclrtBinHandle,
    ) -> aclError;
    fn aclrtBinaryGetFunction(
        binHandle: aclrtBinHandle,
        kernelName: *const c_char,
        funcHandle: *mut aclrtFuncHandle,
    ) -> aclError;
    fn aclrtGetFunctionAddr(
        funcHandle: aclrtFuncHandle,
        aicAddr: *mut *mut c_void,
        aivAddr: *mut *mut c_void,
    ) -> aclError;
    fn aclrtGetFunctionName(funcHandle: aclrtFuncHandle, maxLen: u32, name: *mut c_char) -> aclError;
    fn aclrtRegisterCpuFunc(
        handle: aclrtBinHandle,
        funcName: *const c_char,
        kernelName: *const c_char,
        funcHandle: *mut aclrtFuncHandle,
    ) -> aclError;
    fn aclrtKernelArgsInit(funcHandle: aclrtFuncHandle, argsHandle: *mut aclrtArgsHandle) -> aclError;
    fn aclrtKernelArgsInitByUserMem(
        funcHandle: aclrtFuncHandle,
        argsHandle: aclrtArgsHandle,
        userHostMem: *mut c_void,
        actualArgsSize: usize,
    ) -> aclError;
    fn aclrtKernelArgsGetMemSize(
        funcHandle: aclrtFuncHandle,
        userArgsSize: usize,
        actualArgsSize: *mut usize,
    ) -> aclError;
    fn aclrtKernelArgsGetHandleMemSize(funcHandle: aclrtFuncHandle, memSize: *mut usize) -> aclError;
    fn aclrtKernelArgsAppend(
        argsHandle: aclrtArgsHandle,
        param: *mut c_void,
        paramSize: usize,
        paramHandle: *mut aclrtParamHandle,
    ) -> aclError;
    fn aclrtKernelArgsAppendPlaceHolder(
        argsHandle: aclrtArgsHandle,
        paramHandle: *mut aclrtParamHandle,
    ) -> aclError;
    fn aclrtKernelArgsGetPlaceHolderBuffer(
        argsHandle: aclrtArgsHandle,
        paramHandle: aclrtParamHandle,
        dataSize: usize,
        bufferAddr: *mut *mut c_void,
    ) -> aclError;
    fn aclrtKernelArgsParaUpdate(
        argsHandle: aclrtArgsHandle,
        paramHandle: aclrtParamHandle,
        param: *mut c_void,
        paramSize: usize,
    ) -> aclError;
    fn aclrtKernelArgsFinalize(argsHandle: aclrtArgsHandle) -> aclError;
    fn aclrtLaunchKernel(
        funcHandle: aclrtFuncHandle,
        numBlocks: u32,
        argsData: *const c_void,
        argsSize: usize,
        stream: aclrtStream,
    ) -> aclError;
    fn aclrtLaunchKernelWithConfig(
        funcHandle: aclrtFuncHandle,
        numBlocks: u32,
        stream: aclrtStream,
        cfg: *mut aclrtLaunchKernelCfg,
        argsHandle: aclrtArgsHandle,
        reserve: *mut c_void,
    ) -> aclError;
    fn aclrtLaunchKernelWithHostArgs(
        funcHandle: aclrtFuncHandle,
        numBlocks: u32,
        stream: aclrtStream,
        cfg: *mut aclrtLaunchKernelCfg,
        hostArgs: *mut c_void,
        argsSize: usize,
        placeHolderArray: *mut aclrtPlaceHolderInfo,
        placeHolderNum: usize,
    ) -> aclError;

    // acl.tensor_desc: in an operator library of the vendor, so often absent.
    fn aclCreateTensorDesc(dataType: aclDataType, numDims: i32, dims: *const i64, format: aclFormat) -> *mut TensorDesc;
    fn aclDestroyTensorDesc(desc: *const TensorDesc) -> ();
    fn aclGetTensorDescType(desc: *const TensorDesc) -> DescValue;
    fn aclGetTensorDescFormat(desc: *const TensorDesc) -> DescValue;
    fn aclGetTensorDescSize(desc: *const TensorDesc) -> usize;
    fn aclGetTensorDescElementCount(desc: *const TensorDesc) -> usize;
    fn aclGetTensorDescNumDims(desc: *const TensorDesc) -> usize;
    fn aclGetTensorDescName(desc: *mut TensorDesc) -> *const c_char;
    fn aclGetTensorDescAddress(desc: *const TensorDesc) -> *mut c_void;
    fn aclGetTensorDescDim(desc: *const TensorDesc, index: usize) -> i64;
    fn aclGetTensorDescDimV2(desc: *const TensorDesc, index: usize, dimSize: *mut i64) -> aclError;
    fn aclGetTensorDescDimRange(
        desc: *const TensorDesc,
        index: usize,
        dimRangeNum: usize,
        dimRange: *mut i64,
    ) -> aclError;
    fn aclGetTensorDescByIndex(desc: *mut TensorDesc, index: usize) -> *mut TensorDesc;
    fn aclSetTensorDescName(desc: *mut TensorDesc, name: *const c_char) -> ();
    fn aclTransTensorDescFormat(
        srcDesc: *const TensorDesc,
        dstFormat: aclFormat,
        dstDesc: *mut *mut TensorDesc,
    ) -> aclError;
    fn aclSetTensorStorageFormat(desc: *mut TensorDesc, format: aclFormat) -> aclError;
    fn aclSetTensorFormat(desc: *mut TensorDesc, format: aclFormat) -> aclError;
    fn aclSetTensorOriginFormat(desc: *mut TensorDesc, format: aclFormat) -> aclError;
    fn aclSetTensorStorageShape(desc: *mut TensorDesc, numDims: i32, dims: *const i64) -> aclError;
    fn aclSetTensorShape(desc: *mut TensorDesc, numDims: i32, dims: *const i64) -> aclError;
    fn aclSetTensorOriginShape(desc: *mut TensorDesc, numDims: i32, dims: *const i64) -> aclError;
    fn aclSetTensorShapeRange(desc: *mut TensorDesc, dimsCount: usize, dimsRange: *mut [i64; 2]) -> aclError;
    fn aclSetTensorValueRange(desc: *mut TensorDesc, valueCount: usize, valueRange: *mut [i64; 2]) -> aclError;
    fn aclSetTensorDynamicInput(desc: *mut TensorDesc, dynamicInputName: *const c_char) -> aclError;
    fn aclSetTensorConst(desc: *mut TensorDesc, dataBuffer: *mut c_void, length: usize) -> aclError;
    fn aclSetTensorPlaceMent(desc: *mut TensorDesc, memType: aclMemType) -> aclError;

    // Only in some releases.
    fn aclrtGetOpTimeoutInterval(interval: *mut u64) -> aclError;
}
