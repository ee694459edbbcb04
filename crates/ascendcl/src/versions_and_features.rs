//! Chapter: other functions. Versions of packages, features, data types.

use core::ffi::c_char;

use cannery_abi as abi;
use cannery_runtime::error::Error;
use cannery_runtime::{data_types, features, versions};

use crate::face::{answer, faces, place, put, text};

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
    /// aclGetCannAttribute
    fn aclGetCannAttribute(cannAttr: abi::aclCannAttr, value: *mut i32)
        => put(value, "value", || features::attribute(cannAttr));
    /// aclGetCannAttributeList
    fn aclGetCannAttributeList(cannAttrList: *mut *const abi::aclCannAttr, num: *mut usize) => {
        let Some(list) = place(cannAttrList) else { return Err(Error::null("cannAttrList")) };
        let Some(num) = place(num) else { return Err(Error::null("num")) };
        let known = features::attributes()?;
        (*list, *num) = (known.as_ptr(), known.len());
        Ok(())
    };
}

/// aclDataTypeSize: 0 on failure, with a text.
#[unsafe(no_mangle)]
extern "C" fn aclDataTypeSize(dataType: abi::aclDataType) -> usize {
    let products = cannery_runtime::profile::products_of("aclDataTypeSize");
    let mut size = 0;
    answer("aclDataTypeSize", products, || {
        size = data_types::size(dataType)? as usize;
        Ok(())
    });
    size
}

/// aclFloat16ToFloat
#[unsafe(no_mangle)]
extern "C" fn aclFloat16ToFloat(value: abi::aclFloat16) -> f32 {
    data_types::from_half(value)
}

/// aclFloatToFloat16
#[unsafe(no_mangle)]
extern "C" fn aclFloatToFloat16(value: f32) -> abi::aclFloat16 {
    data_types::to_half(value)
}
