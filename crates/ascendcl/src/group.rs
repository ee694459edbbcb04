//! Chapter: compute groups.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::groups;

use crate::face::{faces, put, value_or};

faces! {
    /// aclrtGetGroupCount
    fn aclrtGetGroupCount(count: *mut u32) => put(count, "count", groups::count);
    /// aclrtSetGroup
    fn aclrtSetGroup(groupId: i32) => groups::choose(groupId);
    /// aclrtDestroyGroupInfo
    fn aclrtDestroyGroupInfo(groupInfo: *mut abi::aclrtGroupInfo)
        => groups::use_info(groupInfo as u64);
    /// aclrtGetAllGroupInfo
    fn aclrtGetAllGroupInfo(groupInfo: *mut abi::aclrtGroupInfo)
        => groups::use_info(groupInfo as u64);
    /// aclrtGetGroupInfoDetail
    fn aclrtGetGroupInfoDetail(
        groupInfo: *const abi::aclrtGroupInfo,
        groupIndex: i32,
        attr: abi::aclrtGroupAttr,
        attrValue: *mut c_void,
        valueLen: usize,
        paramRetSize: *mut usize,
    ) => {
        let _ = (groupIndex, attr, attrValue, valueLen, paramRetSize);
        groups::use_info(groupInfo as u64)
    };
}

/// aclrtCreateGroupInfo: NULL, with a text: there are no groups.
#[unsafe(no_mangle)]
extern "C" fn aclrtCreateGroupInfo() -> *mut abi::aclrtGroupInfo {
    value_or!(0, "aclrtCreateGroupInfo", groups::create) as *mut _
}
