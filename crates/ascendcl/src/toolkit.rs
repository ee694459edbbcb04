//! Chapter: other functions (features of the toolkit, data types), options of the process and of the
//! operator compiler.

use core::ffi::{CStr, c_char};

use cannery_abi as abi;
use cannery_runtime::error::Error;
use cannery_runtime::{devices, toolkit};

use crate::face::{faces, put, value_or};

faces! {
    /// aclGetCannAttribute
    fn aclGetCannAttribute(cannAttr: abi::aclCannAttr, value: *mut i32)
        => put(value, "value", || toolkit::attribute(cannAttr));
    /// aclGetCannAttributeList
    fn aclGetCannAttributeList(cannAttrList: *mut *const abi::aclCannAttr, num: *mut usize) => {
        if num.is_null() {
            return Err(Error::null("num"));
        }
        let list = toolkit::attributes()?;
        put(cannAttrList, "cannAttrList", || Ok(list.as_ptr()))?;
        put(num, "num", || Ok(list.len()))
    };
    /// aclrtSetSysParamOpt
    fn aclrtSetSysParamOpt(opt: abi::aclSysParamOpt, value: i64)
        => devices::set_process_option(opt, value);
    /// aclrtGetSysParamOpt
    fn aclrtGetSysParamOpt(opt: abi::aclSysParamOpt, value: *mut i64)
        => put(value, "value", || devices::process_option(opt));
    /// aclSetCompileopt
    fn aclSetCompileopt(opt: i32, value: *const c_char) => {
        if value.is_null() {
            return Err(Error::null("value"));
        }
        // SAFETY: not NULL, so a C string per the contract of the faces.
        let value = unsafe { CStr::from_ptr(value) }.to_string_lossy();
        toolkit::set_compile_option(opt, &value)
    };
    /// aclGetCompileopt
    fn aclGetCompileopt(opt: i32, value: *mut c_char, length: usize) => {
        if value.is_null() {
            return Err(Error::null("value"));
        }
        let text = toolkit::compile_option(opt)?;
        if length <= text.len() {
            return Err(Error::value(
                "length",
                length,
                format!("must be at least {} (aclGetCompileoptSize)", text.len() + 1),
            ));
        }
        // SAFETY: `value` has room for `length` bytes; text and end fit.
        unsafe {
            core::ptr::copy_nonoverlapping(text.as_ptr().cast(), value, text.len());
            value.add(text.len()).write(0);
        }
        Ok(())
    };
}

/// aclGetCompileoptSize: bytes with the end; 0 on failure.
#[unsafe(no_mangle)]
extern "C" fn aclGetCompileoptSize(opt: i32) -> usize {
    let find = || toolkit::compile_option(opt).map(|text| text.len() as u64 + 1);
    value_or!(0, "aclGetCompileoptSize", find) as usize
}

/// aclDataTypeSize: 0 on failure.
#[unsafe(no_mangle)]
extern "C" fn aclDataTypeSize(dataType: abi::aclDataType) -> usize {
    value_or!(0, "aclDataTypeSize", || toolkit::data_type_size(dataType)) as usize
}

/// aclFloat16ToFloat: 0 on failure.
#[unsafe(no_mangle)]
extern "C" fn aclFloat16ToFloat(value: abi::aclFloat16) -> f32 {
    let convert = || toolkit::from_half(value).map(|value| u64::from(value.to_bits()));
    f32::from_bits(value_or!(0, "aclFloat16ToFloat", convert) as u32)
}

/// aclFloatToFloat16: 0 on failure.
#[unsafe(no_mangle)]
extern "C" fn aclFloatToFloat16(value: f32) -> abi::aclFloat16 {
    let convert = || toolkit::to_half(value).map(u64::from);
    value_or!(0, "aclFloatToFloat16", convert) as abi::aclFloat16
}
