//! Chapter: kernel loading and execution.

use core::ffi::{CStr, c_char, c_void};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use cannery_abi as abi;
use cannery_runtime::error::{Error, Result};
use cannery_runtime::kernel::launch::{self, Attribute, Dimensions, HostArgs};
use cannery_runtime::kernel::{args, binary, function, symbol};
use cannery_runtime::profile::products_of;

use crate::face::{address_place, answer, array, entries, faces, place};

/// A text of C; `None` for NULL.
pub(crate) fn text<'a>(pointer: *const c_char) -> Option<Cow<'a, str>> {
    // SAFETY: not NULL, so a C string per the contract of the faces.
    (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) }.to_string_lossy())
}

fn path<'a>(pointer: *const c_char) -> Option<&'a Path> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not NULL, so a C string per the contract of the faces.
    let bytes = unsafe { CStr::from_ptr(pointer) }.to_bytes();
    Some(Path::new(OsStr::from_bytes(bytes)))
}

/// Types and values of load options; empty without any.
fn options(options: *const abi::aclrtBinaryLoadOptions) -> Result<Vec<(i32, u32)>> {
    // SAFETY: NULL or valid per the contract of the faces.
    let Some(options) = (unsafe { options.as_ref() }) else {
        return Ok(Vec::new());
    };
    if options.numOpt == 0 {
        return Ok(Vec::new());
    }
    let list = entries(
        options.options.cast_const(),
        options.numOpt,
        "options->numOpt",
        || Error::null("options->options"),
    )?;
    let read = |option: &abi::aclrtBinaryLoadOption| {
        // SAFETY: the members of the union are plain numbers at the same place.
        (option.r#type, unsafe { option.value.magic })
    };
    Ok(list.iter().map(read).collect())
}

/// Attributes of a launch; empty without any.
pub(crate) fn attributes(cfg: *const abi::aclrtLaunchKernelCfg) -> Result<Vec<Attribute>> {
    // SAFETY: NULL or valid per the contract of the faces.
    let Some(cfg) = (unsafe { cfg.as_ref() }) else {
        return Ok(Vec::new());
    };
    if cfg.numAttrs == 0 {
        return Ok(Vec::new());
    }
    let attrs = cfg.attrs.cast_const();
    let list = entries(attrs, cfg.numAttrs, "cfg->numAttrs", || {
        Error::null("cfg->attrs")
    })?;
    let read = |attribute: &abi::aclrtLaunchKernelAttr| {
        // SAFETY: the members of the union are plain numbers at the same place.
        (attribute.id, unsafe { attribute.value.rsv })
    };
    Ok(list.iter().map(read).collect())
}

fn host_args<'a>(
    start: *mut c_void,
    bytes: usize,
    placeholders: *mut abi::aclrtPlaceHolderInfo,
    count: usize,
) -> HostArgs<'a> {
    HostArgs {
        start: start as u64,
        bytes: bytes as u64,
        placeholders: array(placeholders.cast_const(), count),
        placeholder_count: count,
    }
}

fn dimensions(grid: abi::dim3, block: abi::dim3, scratch: usize) -> Dimensions {
    Dimensions {
        grid: [grid.x, grid.y, grid.z],
        block: [block.x, block.y, block.z],
        scratch: scratch as u64,
    }
}

/// aclrtCreateBinary: NULL on failure.
#[unsafe(no_mangle)]
extern "C" fn aclrtCreateBinary(data: *const c_void, dataLen: usize) -> abi::aclrtBinary {
    const PRODUCTS: u8 = products_of("aclrtCreateBinary");
    let mut handle = 0;
    answer("aclrtCreateBinary", PRODUCTS, || {
        handle = binary::create(data as u64, dataLen as u64)?;
        Ok(())
    });
    handle as abi::aclrtBinary
}

faces! {
    /// aclrtDestroyBinary
    fn aclrtDestroyBinary(binary: abi::aclrtBinary) => binary::destroy(binary as u64);
    /// aclrtBinaryLoad
    fn aclrtBinaryLoad(binary: abi::aclrtBinary, binHandle: *mut abi::aclrtBinHandle) => {
        // SAFETY: what was described is valid per the contract of the faces.
        unsafe { binary::load_described(binary as u64, address_place(binHandle)) }
    };
    /// aclrtBinaryLoadFromFile
    fn aclrtBinaryLoadFromFile(
        binPath: *const c_char,
        options: *mut abi::aclrtBinaryLoadOptions,
        binHandle: *mut abi::aclrtBinHandle,
    ) => binary::load_file(path(binPath), || self::options(options), address_place(binHandle));
    /// aclrtBinaryLoadFromData
    fn aclrtBinaryLoadFromData(
        data: *const c_void,
        length: usize,
        options: *const abi::aclrtBinaryLoadOptions,
        binHandle: *mut abi::aclrtBinHandle,
    ) => {
        let list = || self::options(options);
        // SAFETY: the bytes are valid per the contract of the faces.
        unsafe { binary::load_data(data as u64, length as u64, list, address_place(binHandle)) }
    };
    /// aclrtBinaryUnLoad
    fn aclrtBinaryUnLoad(binHandle: abi::aclrtBinHandle) => binary::unload(binHandle as u64);
    /// aclrtBinaryGetFunction
    fn aclrtBinaryGetFunction(
        binHandle: abi::aclrtBinHandle,
        kernelName: *const c_char,
        funcHandle: *mut abi::aclrtFuncHandle,
    ) => binary::function(
        binHandle as u64,
        text(kernelName).as_deref(),
        address_place(funcHandle),
    );
    /// aclrtBinaryGetFunctionByEntry
    fn aclrtBinaryGetFunctionByEntry(
        binHandle: abi::aclrtBinHandle,
        _funcEntry: u64,
        funcHandle: *mut abi::aclrtFuncHandle,
    ) => binary::function_by_entry(binHandle as u64, address_place(funcHandle));
    /// aclrtRegisterCpuFunc
    fn aclrtRegisterCpuFunc(
        handle: abi::aclrtBinHandle,
        funcName: *const c_char,
        kernelName: *const c_char,
        funcHandle: *mut abi::aclrtFuncHandle,
    ) => binary::register_cpu_function(
        handle as u64,
        text(funcName).as_deref(),
        text(kernelName).as_deref(),
        address_place(funcHandle),
    );
    /// aclrtBinaryGetDevAddress
    fn aclrtBinaryGetDevAddress(
        binHandle: abi::aclrtBinHandle,
        binAddr: *mut *mut c_void,
        binSize: *mut usize,
    ) => binary::device_address(binHandle as u64, address_place(binAddr), place(binSize));
    /// aclrtBinaryGetGlobal
    fn aclrtBinaryGetGlobal(
        binHandle: abi::aclrtBinHandle,
        name: *const c_char,
        dptr: *mut *mut c_void,
        size: *mut usize,
    ) => binary::global(
        binHandle as u64,
        text(name).as_deref(),
        address_place(dptr),
        place(size),
    );
    /// aclrtBinarySetExceptionCallback
    fn aclrtBinarySetExceptionCallback(
        binHandle: abi::aclrtBinHandle,
        callback: abi::aclrtOpExceptionCallback,
        userData: *mut c_void,
    ) => binary::set_exception_callback(
        binHandle as u64,
        callback.map(|function| function as usize),
        userData as usize,
    );
    /// aclrtFunctionGetBinary
    fn aclrtFunctionGetBinary(
        funcHandle: abi::aclrtFuncHandle,
        binHandle: *mut abi::aclrtBinHandle,
    ) => function::binary(funcHandle as u64, address_place(binHandle));
    /// aclrtFunctionGetParamCount
    fn aclrtFunctionGetParamCount(func: *const c_void, paramCount: *mut usize)
        => function::parameter_count(func as u64, place(paramCount));
    /// aclrtFunctionGetParamInfo
    fn aclrtFunctionGetParamInfo(
        func: *const c_void,
        paramIndex: usize,
        paramOffset: *mut usize,
        paramSize: *mut usize,
    ) => function::parameter(func as u64, paramIndex, place(paramOffset), place(paramSize));
    /// aclrtFunctionGetAvailDynUbufPerBlock
    fn aclrtFunctionGetAvailDynUbufPerBlock(
        func: *mut c_void,
        flags: u32,
        dynamicUbufSize: *mut usize,
    ) => function::dynamic_buffer(func as u64, flags, place(dynamicUbufSize));
    /// aclrtGetFunctionAddr
    fn aclrtGetFunctionAddr(
        funcHandle: abi::aclrtFuncHandle,
        aicAddr: *mut *mut c_void,
        aivAddr: *mut *mut c_void,
    ) => function::addresses(funcHandle as u64, address_place(aicAddr), address_place(aivAddr));
    /// aclrtGetFunctionSize
    fn aclrtGetFunctionSize(
        funcHandle: abi::aclrtFuncHandle,
        aicSize: *mut usize,
        aivSize: *mut usize,
    ) => function::code_sizes(funcHandle as u64, place(aicSize), place(aivSize));
    /// aclrtGetFunctionName
    fn aclrtGetFunctionName(
        funcHandle: abi::aclrtFuncHandle,
        maxLen: u32,
        name: *mut c_char,
    ) => function::name(funcHandle as u64, maxLen, name.is_null(), |found| {
        // SAFETY: `name` has room for `maxLen` bytes per the contract; text and end fit.
        unsafe {
            core::ptr::copy_nonoverlapping(found.as_ptr().cast(), name, found.len());
            name.add(found.len()).write(0);
        }
    });
    /// aclrtGetFunctionAttribute
    fn aclrtGetFunctionAttribute(
        funcHandle: abi::aclrtFuncHandle,
        attrType: abi::aclrtFuncAttribute,
        attrValue: *mut i64,
    ) => function::attribute(funcHandle as u64, attrType, place(attrValue));
    /// aclrtGetHardwareSyncAddr
    fn aclrtGetHardwareSyncAddr(addr: *mut *mut c_void)
        => function::sync_address(address_place(addr));
    /// aclrtGetFuncBySymbol
    fn aclrtGetFuncBySymbol(symbol: *const c_void, funcHandle: *mut abi::aclrtFuncHandle)
        => symbol::function(symbol as u64, address_place(funcHandle));
    /// aclrtGetFuncHandleFromExceptionInfo
    fn aclrtGetFuncHandleFromExceptionInfo(
        info: *const c_void,
        func: *mut abi::aclrtFuncHandle,
    ) => function::of_exception(info as u64, &[("func", !func.is_null())]);
    /// aclrtGetArgsFromExceptionInfo
    fn aclrtGetArgsFromExceptionInfo(
        info: *const c_void,
        devArgsPtr: *mut *mut c_void,
        devArgsLen: *mut u32,
    ) => function::of_exception(
        info as u64,
        &[("devArgsPtr", !devArgsPtr.is_null()), ("devArgsLen", !devArgsLen.is_null())],
    );
    /// aclrtKernelArgsInit
    fn aclrtKernelArgsInit(
        funcHandle: abi::aclrtFuncHandle,
        argsHandle: *mut abi::aclrtArgsHandle,
    ) => args::init(funcHandle as u64, address_place(argsHandle));
    /// aclrtKernelArgsInitByUserMem
    fn aclrtKernelArgsInitByUserMem(
        funcHandle: abi::aclrtFuncHandle,
        argsHandle: abi::aclrtArgsHandle,
        userHostMem: *mut c_void,
        actualArgsSize: usize,
    ) => args::init_in_memory(
        funcHandle as u64,
        argsHandle as u64,
        userHostMem as u64,
        actualArgsSize as u64,
    );
    /// aclrtKernelArgsGetMemSize
    fn aclrtKernelArgsGetMemSize(
        funcHandle: abi::aclrtFuncHandle,
        userArgsSize: usize,
        actualArgsSize: *mut usize,
    ) => args::memory_size(funcHandle as u64, userArgsSize as u64, place(actualArgsSize));
    /// aclrtKernelArgsGetHandleMemSize
    fn aclrtKernelArgsGetHandleMemSize(funcHandle: abi::aclrtFuncHandle, memSize: *mut usize)
        => args::handle_size(funcHandle as u64, place(memSize));
    /// aclrtKernelArgsAppend
    fn aclrtKernelArgsAppend(
        argsHandle: abi::aclrtArgsHandle,
        param: *mut c_void,
        paramSize: usize,
        paramHandle: *mut abi::aclrtParamHandle,
    ) => {
        let out = address_place(paramHandle);
        // SAFETY: values and memory are valid per the contract of the faces.
        unsafe { args::append(argsHandle as u64, param as u64, paramSize as u64, out) }
    };
    /// aclrtKernelArgsAppendPlaceHolder
    fn aclrtKernelArgsAppendPlaceHolder(
        argsHandle: abi::aclrtArgsHandle,
        paramHandle: *mut abi::aclrtParamHandle,
    ) => args::append_placeholder(argsHandle as u64, address_place(paramHandle));
    /// aclrtKernelArgsGetPlaceHolderBuffer
    fn aclrtKernelArgsGetPlaceHolderBuffer(
        argsHandle: abi::aclrtArgsHandle,
        paramHandle: abi::aclrtParamHandle,
        dataSize: usize,
        bufferAddr: *mut *mut c_void,
    ) => args::placeholder_buffer(
        argsHandle as u64,
        paramHandle as u64,
        dataSize as u64,
        address_place(bufferAddr),
    );
    /// aclrtKernelArgsParaUpdate
    fn aclrtKernelArgsParaUpdate(
        argsHandle: abi::aclrtArgsHandle,
        paramHandle: abi::aclrtParamHandle,
        param: *mut c_void,
        paramSize: usize,
    ) => {
        let (list, parameter) = (argsHandle as u64, paramHandle as u64);
        // SAFETY: values and memory are valid per the contract of the faces.
        unsafe { args::update(list, parameter, param as u64, paramSize as u64) }
    };
    /// aclrtKernelArgsFinalize
    fn aclrtKernelArgsFinalize(argsHandle: abi::aclrtArgsHandle)
        => args::finalize(argsHandle as u64);
    /// aclrtLaunchKernel
    fn aclrtLaunchKernel(
        funcHandle: abi::aclrtFuncHandle,
        numBlocks: u32,
        argsData: *const c_void,
        argsSize: usize,
        stream: abi::aclrtStream,
    ) => launch::with_device_args(
        funcHandle as u64,
        numBlocks,
        argsData as u64,
        argsSize as u64,
        || Ok(Vec::new()),
        stream as u64,
    );
    /// aclrtLaunchKernelV2
    fn aclrtLaunchKernelV2(
        funcHandle: abi::aclrtFuncHandle,
        numBlocks: u32,
        argsData: *const c_void,
        argsSize: usize,
        cfg: *mut abi::aclrtLaunchKernelCfg,
        stream: abi::aclrtStream,
    ) => launch::with_device_args(
        funcHandle as u64,
        numBlocks,
        argsData as u64,
        argsSize as u64,
        || attributes(cfg),
        stream as u64,
    );
    /// aclrtLaunchKernelWithConfig
    fn aclrtLaunchKernelWithConfig(
        funcHandle: abi::aclrtFuncHandle,
        numBlocks: u32,
        stream: abi::aclrtStream,
        cfg: *mut abi::aclrtLaunchKernelCfg,
        argsHandle: abi::aclrtArgsHandle,
        reserve: *mut c_void,
    ) => launch::with_list(
        funcHandle as u64,
        numBlocks,
        stream as u64,
        || attributes(cfg),
        argsHandle as u64,
        reserve as u64,
    );
    /// aclrtLaunchKernelWithHostArgs
    fn aclrtLaunchKernelWithHostArgs(
        funcHandle: abi::aclrtFuncHandle,
        numBlocks: u32,
        stream: abi::aclrtStream,
        cfg: *mut abi::aclrtLaunchKernelCfg,
        hostArgs: *mut c_void,
        argsSize: usize,
        placeHolderArray: *mut abi::aclrtPlaceHolderInfo,
        placeHolderNum: usize,
    ) => {
        let args = host_args(hostArgs, argsSize, placeHolderArray, placeHolderNum);
        let cfg = || attributes(cfg);
        // SAFETY: the arguments are valid per the contract of the faces.
        unsafe { launch::with_host_args(funcHandle as u64, numBlocks, stream as u64, cfg, &args) }
    };
    /// aclrtLaunchKernelWithArgsArray
    fn aclrtLaunchKernelWithArgsArray(
        func: *mut c_void,
        numBlocks: u32,
        stream: abi::aclrtStream,
        cfg: *mut abi::aclrtLaunchKernelCfg,
        args: *mut *mut c_void,
    ) => {
        let cfg = || attributes(cfg);
        // SAFETY: the arguments are valid per the contract of the faces.
        unsafe { launch::with_array(func as u64, numBlocks, stream as u64, cfg, args as u64) }
    };
    /// aclrtLaunchSIMTKernelWithHostArgs
    fn aclrtLaunchSIMTKernelWithHostArgs(
        func: *mut c_void,
        gridDim: abi::dim3,
        blockDim: abi::dim3,
        dynUbufSize: usize,
        stream: abi::aclrtStream,
        cfg: *mut abi::aclrtLaunchKernelCfg,
        hostArgs: *mut c_void,
        argsSize: usize,
        placeHolderArray: *mut abi::aclrtPlaceHolderInfo,
        placeHolderNum: usize,
    ) => {
        let args = host_args(hostArgs, argsSize, placeHolderArray, placeHolderNum);
        let size = dimensions(gridDim, blockDim, dynUbufSize);
        let cfg = || attributes(cfg);
        // SAFETY: the arguments are valid per the contract of the faces.
        unsafe { launch::simt_with_host_args(func as u64, &size, stream as u64, cfg, &args) }
    };
    /// aclrtLaunchSIMTKernelWithArgsArray
    fn aclrtLaunchSIMTKernelWithArgsArray(
        func: *mut c_void,
        gridDim: abi::dim3,
        blockDim: abi::dim3,
        dynUbufSize: usize,
        stream: abi::aclrtStream,
        cfg: *mut abi::aclrtLaunchKernelCfg,
        args: *mut *mut c_void,
    ) => {
        let size = dimensions(gridDim, blockDim, dynUbufSize);
        let cfg = || attributes(cfg);
        // SAFETY: the arguments are valid per the contract of the faces.
        unsafe { launch::simt_with_array(func as u64, &size, stream as u64, cfg, args as u64) }
    };
}
