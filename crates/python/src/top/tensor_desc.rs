//! Tensor descriptions: data type, shape, format. Where the library has none, handles are 0,
//! enums -1 (undefined), numbers 0 and codes 207000.

use std::ffi::{c_char, c_void};

use cannery_abi::ACL_ERROR_INVALID_PARAM;
use pyo3::prelude::*;

use crate::c_api::{at, c_api};
use crate::calls::calls;
use crate::convert::{Int, Text, Word};
use crate::outputs::Give;
use crate::structured::{Longs, Ranges};

/// The most values that `get_tensor_desc_dim_range` reads.
const MAX_RANGE_VALUES: usize = 4096;

calls! {
    also [
        create_tensor_desc, get_tensor_desc_type, get_tensor_desc_format, get_tensor_desc_dim_range,
        set_tensor_storage_shape, set_tensor_shape, set_tensor_origin_shape,
        set_tensor_shape_range, set_tensor_value_range,
    ];

    /// destroy_tensor_desc(tensor_desc)
    fn destroy_tensor_desc(tensor_desc: Word) -> [()] = aclDestroyTensorDesc(at(tensor_desc));

    /// size = get_tensor_desc_size(tensor_desc): bytes.
    fn get_tensor_desc_size(tensor_desc: Word) -> [usize] = aclGetTensorDescSize(at(tensor_desc));

    /// count = get_tensor_desc_element_count(tensor_desc)
    fn get_tensor_desc_element_count(tensor_desc: Word) -> [usize] = aclGetTensorDescElementCount(at(tensor_desc));

    /// num = get_tensor_desc_num_dims(tensor_desc): the rank.
    fn get_tensor_desc_num_dims(tensor_desc: Word) -> [usize] = aclGetTensorDescNumDims(at(tensor_desc));

    /// name = get_tensor_desc_name(tensor_desc): the name, or None.
    fn get_tensor_desc_name(tensor_desc: Word) -> [*const c_char] = aclGetTensorDescName(at(tensor_desc));

    /// address = get_tensor_desc_address(tensor_desc): the data's address, 0 if none.
    fn get_tensor_desc_address(tensor_desc: Word) -> [*mut c_void] = aclGetTensorDescAddress(at(tensor_desc));

    /// dim = get_tensor_desc_dim(tensor_desc, index): one extent. Use get_tensor_desc_dim_v2.
    fn get_tensor_desc_dim(tensor_desc: Word, index: Word) -> [i64] = aclGetTensorDescDim(at(tensor_desc), index);

    /// dim, ret = get_tensor_desc_dim_v2(tensor_desc, index): one extent.
    fn get_tensor_desc_dim_v2(tensor_desc: Word, index: Word) -> (dim: i64) = aclGetTensorDescDimV2(
        at(tensor_desc),
        index,
        &raw mut dim,
    );

    /// desc = get_tensor_desc_by_index(tensor_desc, index): one of an array of descriptions.
    fn get_tensor_desc_by_index(tensor_desc: Word, index: Word) -> [*mut c_void] = aclGetTensorDescByIndex(
        at(tensor_desc),
        index,
    );

    /// set_tensor_desc_name(tensor_desc, name)
    fn set_tensor_desc_name(tensor_desc: Word, name: Text) -> [()] = aclSetTensorDescName(
        at(tensor_desc),
        name.as_ptr(),
    );

    /// dst_desc, ret = trans_tensor_desc_format(tensor_desc, format): a new description; destroy it.
    fn trans_tensor_desc_format(tensor_desc: Word, format: Int) -> (dst_desc: *mut c_void) = aclTransTensorDescFormat(
        at(tensor_desc),
        format,
        &raw mut dst_desc,
    );

    /// ret = set_tensor_storage_format(tensor_desc, format). Use set_tensor_format.
    fn set_tensor_storage_format(tensor_desc: Word, format: Int) -> code = aclSetTensorStorageFormat(
        at(tensor_desc),
        format,
    );

    /// ret = set_tensor_format(tensor_desc, format)
    fn set_tensor_format(tensor_desc: Word, format: Int) -> code = aclSetTensorFormat(at(tensor_desc), format);

    /// ret = set_tensor_origin_format(tensor_desc, format)
    fn set_tensor_origin_format(tensor_desc: Word, format: Int) -> code = aclSetTensorOriginFormat(
        at(tensor_desc),
        format,
    );

    /// ret = set_tensor_dynamic_input(tensor_desc, dynamic_input_name)
    fn set_tensor_dynamic_input(tensor_desc: Word, dynamic_input_name: Text) -> code = aclSetTensorDynamicInput(
        at(tensor_desc),
        dynamic_input_name.as_ptr(),
    );

    /// ret = set_tensor_const(tensor_desc, data, size): the memory must outlive the description.
    fn set_tensor_const(tensor_desc: Word, data: Word, size: Word) -> code = aclSetTensorConst(
        at(tensor_desc),
        at(data),
        size,
    );

    /// ret = set_tensor_place_ment(tensor_desc, mem_type): 0 device, 1 host.
    fn set_tensor_place_ment(tensor_desc: Word, mem_type: Int) -> code = aclSetTensorPlaceMent(
        at(tensor_desc),
        mem_type,
    );
}

/// The number of axes as C wants it. A list longer than that cannot exist in memory.
fn rank(dims: &[i64]) -> i32 {
    i32::try_from(dims.len()).unwrap_or(i32::MAX)
}

/// desc = create_tensor_desc(data_type, dims, format): a handle, 0 on failure; dims is a list.
#[pyfunction]
#[pyo3(signature = (data_type, dims, format, /))]
fn create_tensor_desc(data_type: Int, dims: Longs, format: Int) -> usize {
    let Longs(dims) = dims;
    // SAFETY: `dims` has as many numbers as it says, and outlives the call.
    unsafe { (c_api().aclCreateTensorDesc)(data_type.0, rank(&dims), dims.as_ptr(), format.0) }
        .give()
}

/// type = get_tensor_desc_type(tensor_desc): the data type.
#[pyfunction]
#[pyo3(signature = (tensor_desc, /))]
fn get_tensor_desc_type(tensor_desc: Word) -> i32 {
    // SAFETY: the library judges the handle.
    unsafe { (c_api().aclGetTensorDescType)(at(tensor_desc.0)) }.0
}

/// format = get_tensor_desc_format(tensor_desc)
#[pyfunction]
#[pyo3(signature = (tensor_desc, /))]
fn get_tensor_desc_format(tensor_desc: Word) -> i32 {
    // SAFETY: the library judges the handle.
    unsafe { (c_api().aclGetTensorDescFormat)(at(tensor_desc.0)) }.0
}

/// dim_range, ret = get_tensor_desc_dim_range(tensor_desc, index, dim_range_num): a list, or None on failure.
#[pyfunction]
#[pyo3(signature = (tensor_desc, index, dim_range_num, /))]
fn get_tensor_desc_dim_range(
    tensor_desc: Word,
    index: Word,
    dim_range_num: Word,
) -> (Option<Vec<i64>>, i32) {
    let count = dim_range_num.0;
    if count > MAX_RANGE_VALUES {
        return (None, ACL_ERROR_INVALID_PARAM);
    }
    let mut values = vec![0_i64; count];
    // SAFETY: the output has room for `count` numbers.
    let ret = unsafe {
        (c_api().aclGetTensorDescDimRange)(at(tensor_desc.0), index.0, count, values.as_mut_ptr())
    };
    ((ret == 0).then_some(values), ret)
}

/// ret = set_tensor_storage_shape(tensor_desc, dims). Use set_tensor_shape.
#[pyfunction]
#[pyo3(signature = (tensor_desc, dims, /))]
fn set_tensor_storage_shape(tensor_desc: Word, dims: Longs) -> i32 {
    // SAFETY: `dims` has as many numbers as it says, and outlives the call.
    unsafe { (c_api().aclSetTensorStorageShape)(at(tensor_desc.0), rank(&dims.0), dims.0.as_ptr()) }
}

/// ret = set_tensor_shape(tensor_desc, dims)
#[pyfunction]
#[pyo3(signature = (tensor_desc, dims, /))]
fn set_tensor_shape(tensor_desc: Word, dims: Longs) -> i32 {
    // SAFETY: as in `set_tensor_storage_shape`.
    unsafe { (c_api().aclSetTensorShape)(at(tensor_desc.0), rank(&dims.0), dims.0.as_ptr()) }
}

/// ret = set_tensor_origin_shape(tensor_desc, dims)
#[pyfunction]
#[pyo3(signature = (tensor_desc, dims, /))]
fn set_tensor_origin_shape(tensor_desc: Word, dims: Longs) -> i32 {
    // SAFETY: as in `set_tensor_storage_shape`.
    unsafe { (c_api().aclSetTensorOriginShape)(at(tensor_desc.0), rank(&dims.0), dims.0.as_ptr()) }
}

/// ret = set_tensor_shape_range(tensor_desc, dims_range): one [low, high] list per axis.
#[pyfunction]
#[pyo3(signature = (tensor_desc, dims_range, /))]
fn set_tensor_shape_range(tensor_desc: Word, dims_range: Ranges) -> i32 {
    let Ranges(mut ranges) = dims_range;
    // SAFETY: `ranges` has as many pairs as it says, and outlives the call.
    unsafe {
        (c_api().aclSetTensorShapeRange)(at(tensor_desc.0), ranges.len(), ranges.as_mut_ptr())
    }
}

/// ret = set_tensor_value_range(tensor_desc, value_range): [low, high] lists.
#[pyfunction]
#[pyo3(signature = (tensor_desc, value_range, /))]
fn set_tensor_value_range(tensor_desc: Word, value_range: Ranges) -> i32 {
    let Ranges(mut ranges) = value_range;
    // SAFETY: as in `set_tensor_shape_range`.
    unsafe {
        (c_api().aclSetTensorValueRange)(at(tensor_desc.0), ranges.len(), ranges.as_mut_ptr())
    }
}
