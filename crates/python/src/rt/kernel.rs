//! Kernels: binaries, functions, arguments, launches.

use std::ffi::c_void;

use cannery_abi::{
    aclrtBinaryLoadOption, aclrtBinaryLoadOptionValue, aclrtBinaryLoadOptions,
    aclrtLaunchKernelAttr, aclrtLaunchKernelAttrValue, aclrtLaunchKernelCfg, aclrtPlaceHolderInfo,
};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::{Borrowed, PyAny};

use crate::c_api::{Memory, at, c_api};
use crate::calls::calls;
use crate::convert::{Bits32, Int, Text, Word};
use crate::outputs::{Give, text_in};
use crate::structured::{dict_at, list_or_value_error, number};

/// Name lengths from here on are refused.
const NAME_LIMIT: u32 = 1024;

calls! {
    also [
        binary_load_from_file, binary_load_from_data, get_function_name, register_cpu_func,
        launch_kernel_with_config, launch_kernel_with_host_args,
    ];

    /// binary = create_binary(data, data_len): a handle, 0 on failure.
    fn create_binary(data: Word, data_len: Word) -> [Memory] = aclrtCreateBinary(at::<c_void>(data), data_len);

    /// ret = destroy_binary(binary)
    fn destroy_binary(binary: Word) -> code = aclrtDestroyBinary(at(binary));

    /// bin_handle, ret = binary_load(binary): load it to the device.
    fn binary_load(binary: Word) -> (bin_handle: Memory) = aclrtBinaryLoad(at(binary), &raw mut bin_handle);

    /// ret = binary_unload(bin_handle)
    fn binary_unload(bin_handle: Word) -> code = aclrtBinaryUnLoad(at(bin_handle));

    /// func_handle, ret = binary_get_function(bin_handle, kernel_name)
    fn binary_get_function(bin_handle: Word, kernel_name: Text) -> (func_handle: Memory) = aclrtBinaryGetFunction(
        at(bin_handle),
        kernel_name.as_ptr(),
        &raw mut func_handle,
    );

    /// aic_addr, aiv_addr, ret = get_function_addr(func_handle): entries on cube and vector cores.
    fn get_function_addr(func_handle: Word) -> (aic_addr: Memory, aiv_addr: Memory) = aclrtGetFunctionAddr(
        at(func_handle),
        &raw mut aic_addr,
        &raw mut aiv_addr,
    );

    /// args_handle, ret = kernel_args_init(func_handle): a new list of arguments.
    fn kernel_args_init(func_handle: Word) -> (args_handle: Memory) = aclrtKernelArgsInit(
        at(func_handle),
        &raw mut args_handle,
    );

    /// ret = kernel_args_init_by_user_mem(func_handle, args_handle, user_host_mem, actual_args_size)
    fn kernel_args_init_by_user_mem(
        func_handle: Word, args_handle: Word, user_host_mem: Word, actual_args_size: Word,
    ) -> code = aclrtKernelArgsInitByUserMem(at(func_handle), at(args_handle), at(user_host_mem), actual_args_size);

    /// actual_args_size, ret = kernel_args_get_mem_size(func_handle, user_args_size): bytes to provide.
    fn kernel_args_get_mem_size(func_handle: Word, user_args_size: Word) -> (actual_args_size: usize)
        = aclrtKernelArgsGetMemSize(at(func_handle), user_args_size, &raw mut actual_args_size);

    /// mem_size, ret = kernel_args_get_handle_mem_size(func_handle): bytes of a list handle.
    fn kernel_args_get_handle_mem_size(func_handle: Word) -> (mem_size: usize) = aclrtKernelArgsGetHandleMemSize(
        at(func_handle),
        &raw mut mem_size,
    );

    /// param_handle, ret = kernel_args_append(args_handle, param, param_size): copy a value in.
    fn kernel_args_append(args_handle: Word, param: Word, param_size: Word) -> (param_handle: Memory)
        = aclrtKernelArgsAppend(at(args_handle), at(param), param_size, &raw mut param_handle);

    /// param_handle, ret = kernel_args_append_place_holder(args_handle): room to be filled later.
    fn kernel_args_append_place_holder(args_handle: Word) -> (param_handle: Memory) = aclrtKernelArgsAppendPlaceHolder(
        at(args_handle),
        &raw mut param_handle,
    );

    /// buffer_addr, ret = kernel_args_get_place_holder_buffer(args_handle, param_handle, data_size)
    fn kernel_args_get_place_holder_buffer(
        args_handle: Word, param_handle: Word, data_size: Word,
    ) -> (buffer_addr: Memory) = aclrtKernelArgsGetPlaceHolderBuffer(
        at(args_handle),
        at(param_handle),
        data_size,
        &raw mut buffer_addr,
    );

    /// ret = kernel_args_para_update(args_handle, param_handle, param, param_size): change a value.
    fn kernel_args_para_update(args_handle: Word, param_handle: Word, param: Word, param_size: Word) -> code
        = aclrtKernelArgsParaUpdate(at(args_handle), at(param_handle), at(param), param_size);

    /// ret = kernel_args_finalize(args_handle): the list is complete.
    fn kernel_args_finalize(args_handle: Word) -> code = aclrtKernelArgsFinalize(at(args_handle));

    /// ret = launch_kernel(func_handle, num_blocks, args_data, args_size, stream): queue a kernel.
    fn launch_kernel(func_handle: Word, num_blocks: Bits32, args_data: Word, args_size: Word, stream: Word) -> code
        = aclrtLaunchKernel(at(func_handle), num_blocks, at::<c_void>(args_data), args_size, at(stream));
}

/// A number as the low bytes of a 16-byte union whose members are little-endian numbers.
fn words(value: Word) -> [u32; 4] {
    [value.0 as u32, (value.0 as u64 >> 32) as u32, 0, 0]
}

/// Load options: a list of {"type", "value"}; anything but a list is a `ValueError`.
struct LoadOptions(Vec<aclrtBinaryLoadOption>);

impl<'a, 'py> FromPyObject<'a, 'py> for LoadOptions {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let list = list_or_value_error(obj)?;
        let option = |position| -> PyResult<aclrtBinaryLoadOption> {
            let item = dict_at(&list, position)?;
            let Int(kind) = number(&item, "type", Int(0))?;
            let rsv = words(number(&item, "value", Word(0))?);
            Ok(aclrtBinaryLoadOption {
                r#type: kind,
                value: aclrtBinaryLoadOptionValue { rsv },
            })
        };
        (0..list.len())
            .map(option)
            .collect::<PyResult<Vec<_>>>()
            .map(Self)
    }
}

impl LoadOptions {
    /// Calls `f` with the options in C form; none is the null pointer.
    fn with<R>(mut self, f: impl FnOnce(*mut aclrtBinaryLoadOptions) -> R) -> R {
        if self.0.is_empty() {
            return f(std::ptr::null_mut());
        }
        let mut options = aclrtBinaryLoadOptions {
            options: self.0.as_mut_ptr(),
            numOpt: self.0.len(),
        };
        f(&raw mut options)
    }
}

/// Launch attributes: a list of {"id", "value"}; anything but a list is a `ValueError`.
struct LaunchConfig(Vec<aclrtLaunchKernelAttr>);

impl<'a, 'py> FromPyObject<'a, 'py> for LaunchConfig {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let list = list_or_value_error(obj)?;
        let attribute = |position| -> PyResult<aclrtLaunchKernelAttr> {
            let item = dict_at(&list, position)?;
            let Int(id) = number(&item, "id", Int(0))?;
            let rsv = words(number(&item, "value", Word(0))?);
            Ok(aclrtLaunchKernelAttr {
                id,
                value: aclrtLaunchKernelAttrValue { rsv },
            })
        };
        (0..list.len())
            .map(attribute)
            .collect::<PyResult<Vec<_>>>()
            .map(Self)
    }
}

impl LaunchConfig {
    /// Calls `f` with the attributes in C form; none is the null pointer.
    fn with<R>(mut self, f: impl FnOnce(*mut aclrtLaunchKernelCfg) -> R) -> R {
        if self.0.is_empty() {
            return f(std::ptr::null_mut());
        }
        let mut config = aclrtLaunchKernelCfg {
            attrs: self.0.as_mut_ptr(),
            numAttrs: self.0.len(),
        };
        f(&raw mut config)
    }
}

/// Place holders: a list of {"addrOffset", "dataOffset"}; anything but a list is a `ValueError`.
struct PlaceHolders(Vec<aclrtPlaceHolderInfo>);

impl<'a, 'py> FromPyObject<'a, 'py> for PlaceHolders {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let list = list_or_value_error(obj)?;
        let holder = |position| -> PyResult<aclrtPlaceHolderInfo> {
            let item = dict_at(&list, position)?;
            Ok(aclrtPlaceHolderInfo {
                addrOffset: number(&item, "addrOffset", Bits32(0))?.0,
                dataOffset: number(&item, "dataOffset", Bits32(0))?.0,
            })
        };
        (0..list.len())
            .map(holder)
            .collect::<PyResult<Vec<_>>>()
            .map(Self)
    }
}

/// bin_handle, ret = binary_load_from_file(bin_path, options): options is a list of {"type", "value"}.
#[pyfunction]
#[pyo3(signature = (bin_path, options, /))]
fn binary_load_from_file(bin_path: Text, options: LoadOptions) -> (usize, i32) {
    let mut handle: Memory = std::ptr::null_mut();
    let ret = options.with(|options| {
        // SAFETY: a terminated path, options that outlive the call, a valid output.
        unsafe { (c_api().aclrtBinaryLoadFromFile)(bin_path.0.as_ptr(), options, &raw mut handle) }
    });
    (handle.give(), ret)
}

/// bin_handle, ret = binary_load_from_data(mem_addr, length, options): options as in binary_load_from_file.
#[pyfunction]
#[pyo3(signature = (mem_addr, length, options, /))]
fn binary_load_from_data(mem_addr: Word, length: Word, options: LoadOptions) -> (usize, i32) {
    let mut handle: Memory = std::ptr::null_mut();
    let ret = options.with(|options| {
        // SAFETY: memory that the program names, options that outlive the call, a valid output.
        unsafe {
            (c_api().aclrtBinaryLoadFromData)(
                at::<c_void>(mem_addr.0),
                length.0,
                options.cast_const(),
                &raw mut handle,
            )
        }
    });
    (handle.give(), ret)
}

/// name, ret = get_function_name(func_handle, max_len): max_len below 1024.
#[pyfunction]
#[pyo3(signature = (func_handle, max_len, /))]
fn get_function_name(func_handle: Word, max_len: Bits32) -> PyResult<(String, i32)> {
    let Bits32(length) = max_len;
    if length >= NAME_LIMIT {
        return Err(PyValueError::new_err(format!(
            "max_len must be below {NAME_LIMIT}, not {length}"
        )));
    }
    let mut name = vec![0_u8; length as usize + 1];
    // SAFETY: the output has more than `length` bytes; the library judges the handle.
    let ret = unsafe {
        (c_api().aclrtGetFunctionName)(at(func_handle.0), length, name.as_mut_ptr().cast())
    };
    Ok((text_in(&name), ret))
}

/// func_handle, ret = register_cpu_func(bin_handle, func_name, kernel_name): names are not empty.
#[pyfunction]
#[pyo3(signature = (bin_handle, func_name, kernel_name, /))]
fn register_cpu_func(
    bin_handle: Word,
    func_name: Text,
    kernel_name: Text,
) -> PyResult<(usize, i32)> {
    if func_name.0.is_empty() || kernel_name.0.is_empty() {
        return Err(PyValueError::new_err(
            "func_name and kernel_name must not be empty",
        ));
    }
    let mut handle: Memory = std::ptr::null_mut();
    // SAFETY: terminated names and a valid output; the library judges the handle.
    let ret = unsafe {
        (c_api().aclrtRegisterCpuFunc)(
            at(bin_handle.0),
            func_name.0.as_ptr(),
            kernel_name.0.as_ptr(),
            &raw mut handle,
        )
    };
    Ok((handle.give(), ret))
}

/// ret = launch_kernel_with_config(func_handle, num_blocks, stream, cfg, args_handle, reserve): queue a kernel.
///
/// cfg is a list of {"id", "value"}; reserve is 0.
#[pyfunction]
#[pyo3(signature = (func_handle, num_blocks, stream, cfg, args_handle, reserve, /))]
fn launch_kernel_with_config(
    func_handle: Word,
    num_blocks: Bits32,
    stream: Word,
    cfg: LaunchConfig,
    args_handle: Word,
    reserve: Word,
) -> i32 {
    cfg.with(|cfg| {
        // SAFETY: a configuration that outlives the call; the library judges the handles.
        unsafe {
            (c_api().aclrtLaunchKernelWithConfig)(
                at(func_handle.0),
                num_blocks.0,
                at(stream.0),
                cfg,
                at(args_handle.0),
                at(reserve.0),
            )
        }
    })
}

/// ret = launch_kernel_with_host_args(func_handle, num_blocks, stream, cfg, host_args_ptr, host_args_size,
/// place_holder_list, place_holder_num): queue a kernel with arguments in host memory.
///
/// cfg as in launch_kernel_with_config; place_holder_list is a list of {"addrOffset", "dataOffset"}.
#[pyfunction]
#[pyo3(signature = (
    func_handle, num_blocks, stream, cfg, host_args_ptr, host_args_size, place_holder_list, place_holder_num, /
))]
#[allow(clippy::too_many_arguments)] // The interface has them.
fn launch_kernel_with_host_args(
    func_handle: Word,
    num_blocks: Bits32,
    stream: Word,
    cfg: LaunchConfig,
    host_args_ptr: Word,
    host_args_size: Word,
    place_holder_list: PlaceHolders,
    place_holder_num: Word,
) -> PyResult<i32> {
    let PlaceHolders(mut holders) = place_holder_list;
    if place_holder_num.0 != holders.len() {
        return Err(PyKeyError::new_err(format!(
            "place_holder_num is {}, but place_holder_list has {} items",
            place_holder_num.0,
            holders.len()
        )));
    }
    Ok(cfg.with(|cfg| {
        // SAFETY: configuration and place holders outlive the call; the arguments are memory that
        // the program names.
        unsafe {
            (c_api().aclrtLaunchKernelWithHostArgs)(
                at(func_handle.0),
                num_blocks.0,
                at(stream.0),
                cfg,
                at(host_args_ptr.0),
                host_args_size.0,
                holders.as_mut_ptr(),
                holders.len(),
            )
        }
    }))
}
