//! Compute groups of a device.

use cannery_abi::aclrtGroupInfo;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::c_api::{at, c_api};
use crate::calls::calls;
use crate::convert::{Bits32, Int, Word};

/// Room for the values of one attribute; all of them are single numbers today.
const MAX_VALUES: usize = 64;

calls! {
    also [get_group_count, get_group_info_detail];

    /// ret = set_group(group_id): compute with this group.
    fn set_group(group_id: Bits32) -> code = aclrtSetGroup(group_id as i32);

    /// group_info = create_group_info(): a handle, 0 on failure.
    fn create_group_info() -> [*mut aclrtGroupInfo] = aclrtCreateGroupInfo();

    /// ret = destroy_group_info(group_info)
    fn destroy_group_info(group_info: Word) -> code = aclrtDestroyGroupInfo(at(group_info));

    /// ret = get_all_group_info(group_info): fill the handle.
    fn get_all_group_info(group_info: Word) -> code = aclrtGetAllGroupInfo(at(group_info));
}

/// count, ret = get_group_count(count): the argument is ignored and may be left out.
#[pyfunction]
#[pyo3(signature = (count = Bits32(0), /), text_signature = "(count=0, /)")]
fn get_group_count(count: Bits32) -> (u32, i32) {
    let Bits32(_ignored) = count;
    let mut groups = 0_u32;
    // SAFETY: a valid output.
    let ret = unsafe { (c_api().aclrtGetGroupCount)(&raw mut groups) };
    (groups, ret)
}

/// attr_value, ret = get_group_info_detail(group_info, group_id, attr): a list of numbers.
///
/// Unlike elsewhere, a failure raises RuntimeError.
#[pyfunction]
#[pyo3(signature = (group_info, group_id, attr, /))]
fn get_group_info_detail(group_info: Word, group_id: Int, attr: Int) -> PyResult<(Vec<i32>, i32)> {
    let mut values = [0_i32; MAX_VALUES];
    let mut written = 0_usize;
    // SAFETY: the output has as many bytes as it says; the library judges the handle.
    let ret = unsafe {
        (c_api().aclrtGetGroupInfoDetail)(
            at(group_info.0),
            group_id.0,
            attr.0,
            values.as_mut_ptr().cast(),
            size_of_val(&values),
            &raw mut written,
        )
    };
    if ret != 0 {
        return Err(PyRuntimeError::new_err(format!(
            "no detail of the compute group: code {ret}"
        )));
    }
    let count = (written / size_of::<i32>()).min(MAX_VALUES);
    Ok((values[..count].to_vec(), ret))
}
