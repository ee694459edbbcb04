//! Manual chapter: compute groups (310P in its control-CPU form). A group is a part of the cores of a device;
//! an emulated device has no cores, so it has no groups.

use cannery_abi as abi;

use crate::error::{Error, Result};
use crate::process::{current, here};

/// Refuses what has no compute groups at all.
fn able() -> Result<()> {
    let runtime = current()?;
    if !runtime.is_rc() {
        return Err(Error::unsupported(format!(
            "profile {} has compute groups where host and device are one (CANNERY_MODE=rc) only",
            runtime.settings.profile.name
        )));
    }
    here().map(|_| ())
}

fn none(cause: String) -> Error {
    Error::sequence(abi::ACL_ERROR_RT_GROUP_NOT_CREATE, cause)
}

/// aclrtGetGroupCount: 0.
///
/// # Errors
/// 107002 without a context; 207000.
pub fn count() -> Result<u32> {
    able().map(|()| 0)
}

/// aclrtSetGroup.
///
/// # Errors
/// 107014: there is no group of any id; 107002; 207000.
pub fn choose(id: i32) -> Result<()> {
    able()?;
    Err(none(format!(
        "there is no compute group {id}: an emulated device has no cores and so no groups \
         (aclrtGetGroupCount answers 0); leave the choice out"
    )))
}

/// aclrtCreateGroupInfo: nothing to make room for.
///
/// # Errors
/// 107014: there are no groups; 107002; 207000.
pub fn create() -> Result<u64> {
    able()?;
    Err(none(
        "an emulated device has no cores and so no compute groups (aclrtGetGroupCount answers 0)"
            .to_owned(),
    ))
}

/// aclrtDestroyGroupInfo, aclrtGetAllGroupInfo, aclrtGetGroupInfoDetail: what they are given was never made.
///
/// # Errors
/// 100000 for NULL; 107000 for everything else; 107002; 207000.
pub fn use_info(info: u64) -> Result<()> {
    if info == 0 {
        return Err(Error::null("groupInfo"));
    }
    able()?;
    Err(Error::address(
        "groupInfo",
        info,
        "no group information of aclrtCreateGroupInfo, which answers NULL where there are no groups",
    ))
}
