//! Chapter: other functions. Versions of packages.

use core::ffi::c_char;

use cannery_abi as abi;
use cannery_runtime::error::Error;
use cannery_runtime::versions;

use crate::face::{faces, place, put, text};

faces! {
    /// aclsysGetCANNVersion
    fn aclsysGetCANNVersion(
        name: abi::aclCANNPackageName,
        version: *mut abi::aclCANNPackageVersion,
    ) => versions::package(name, place(version));
    /// aclsysGetVersionStr: the caller's buffer has ACL_PKG_VERSION_MAX_SIZE (128) bytes.
    fn aclsysGetVersionStr(pkgName: *mut c_char, versionStr: *mut c_char) => {
        let version = versions::package_text(text(pkgName).as_deref());
        if pkgName.is_null() {
            return version.map(|_| ());
        }
        if versionStr.is_null() {
            return Err(Error::null("versionStr"));
        }
        let version = version?;
        // SAFETY: room for 128 bytes per the manual; a version has far fewer.
        unsafe {
            core::ptr::copy_nonoverlapping(version.as_ptr().cast(), versionStr, version.len());
            versionStr.add(version.len()).write(0);
        }
        Ok(())
    };
    /// aclsysGetVersionNum
    fn aclsysGetVersionNum(pkgName: *mut c_char, versionNum: *mut i32) => {
        if pkgName.is_null() {
            return Err(Error::null("pkgName"));
        }
        put(versionNum, "versionNum", || versions::package_number(text(pkgName).as_deref()))
    };
}
