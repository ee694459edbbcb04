//! Chapter: labels.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::graph::label;

use crate::face::{address_place, addresses, faces};

/// Most labels that are looked at: a longer list is refused by its length.
const MOST: usize = 65_535;

faces! {
    /// aclrtCreateLabel
    fn aclrtCreateLabel(label: *mut abi::aclrtLabel) => label::create(address_place(label.cast()));
    /// aclrtDestroyLabel
    fn aclrtDestroyLabel(label: abi::aclrtLabel) => label::destroy(label as u64);
    /// aclrtSetLabel
    fn aclrtSetLabel(label: abi::aclrtLabel, stream: abi::aclrtStream)
        => label::set(label as u64, stream as u64);
    /// aclrtCreateLabelList
    fn aclrtCreateLabelList(
        labels: *mut abi::aclrtLabel,
        num: usize,
        labelList: *mut abi::aclrtLabelList,
    ) => label::create_list(
        addresses(labels.cast(), num.min(MOST)),
        num,
        address_place(labelList.cast()),
    );
    /// aclrtDestroyLabelList
    fn aclrtDestroyLabelList(labelList: abi::aclrtLabelList) => label::destroy_list(labelList as u64);
    /// aclrtSwitchLabelByIndex
    fn aclrtSwitchLabelByIndex(
        ptr: *mut c_void,
        maxValue: u32,
        labelList: abi::aclrtLabelList,
        stream: abi::aclrtStream,
    ) => label::switch(ptr as u64, maxValue, labelList as u64, stream as u64);
}
