//! What operators need. Cannery runs memory, not operators:
//! everything here refuses, with the operator's name where the call has one.
// exports: aclGetTensorDescDimV2, aclSetTensorFormat, aclSetTensorPlaceMent, aclSetTensorShape
// exports: aclopSetAttrBool, aclopSetAttrDataType, aclopSetAttrFloat, aclopSetAttrInt
// exports: aclopSetAttrListBool, aclopSetAttrListFloat, aclopSetAttrListInt
// exports: aclopSetAttrListListInt, aclopSetAttrString, rtDevBinaryRegister, rtFunctionRegister
// exports: rtGetC2cCtrlAddr, rtKernelLaunch, aclCreateTensorDesc, aclopCreateAttr
// exports: aclGetTensorDescNumDims, aclGetTensorDescFormat, aclGetTensorDescType
// exports: aclDestroyTensorDesc, aclSetTensorDescName, aclopDestroyAttr
// exports: MsprofGetHashId, MsprofRegisterCallback, MsprofReportAdditionalInfo, MsprofReportApi
// exports: MsprofReportCompactInfo, MsprofSysCycleTime

use core::ffi::{c_char, c_void};

use cannery_abi::aclError;
use cannery_runtime::profile::ALL_PRODUCTS;
use cannery_runtime::refused_operators;

use crate::face::{answer, text};

/// aclopCompileAndExecute: refuses, with the name of the operator. The other arguments are not looked
/// at; in the C calling conventions of x86-64 and AArch64 they belong to the caller.
///
/// # Safety
/// The name is NULL or a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn aclopCompileAndExecute(opType: *const c_char) -> aclError {
    answer("aclopCompileAndExecute", ALL_PRODUCTS, || {
        refused_operators::run(text(opType).as_deref())
    })
}

/// For the refusing operator libraries: leaves the text for one of their functions.
///
/// # Safety
/// The name is NULL or a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn cannery_refuse_operator(function: *const c_char) -> aclError {
    let name = refused_operators::kept(&text(function).unwrap_or_default());
    answer(name, ALL_PRODUCTS, || refused_operators::function(name))
}

fn refuse(name: &'static str) -> aclError {
    answer(name, ALL_PRODUCTS, refused_operators::facility)
}

/// Functions that refuse: `value` is what they answer for "nothing", `code` stands for 207000. They
/// declare no parameters, as those of [`crate::refusal`].
macro_rules! refuse {
    ($kind:ty, |$code:ident| $value:expr => $($name:ident),* $(,)?) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> $kind {
                let $code = refuse(stringify!($name));
                $value
            }
        )*
    };
}

refuse!(aclError, |code| code =>
    aclGetTensorDescDimV2, aclSetTensorFormat, aclSetTensorPlaceMent, aclSetTensorShape,
    aclopSetAttrBool, aclopSetAttrDataType, aclopSetAttrFloat, aclopSetAttrInt, aclopSetAttrListBool,
    aclopSetAttrListFloat, aclopSetAttrListInt, aclopSetAttrListListInt, aclopSetAttrString,
    rtDevBinaryRegister, rtFunctionRegister, rtGetC2cCtrlAddr, rtKernelLaunch);
refuse!(*mut c_void, |_code| core::ptr::null_mut() => aclCreateTensorDesc, aclopCreateAttr);
refuse!(usize, |_code| 0 => aclGetTensorDescNumDims);
// UNDEFINED of the enums of formats and data types.
refuse!(i32, |_code| -1 => aclGetTensorDescFormat, aclGetTensorDescType);

/// Functions that return nothing. NULL, which is all that the functions that create give, is no reason
/// to complain: the text of what refused before stays the newest.
macro_rules! nothing {
    ($($name:ident),* $(,)?) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(object: *mut c_void) {
                if !object.is_null() {
                    refuse(stringify!($name));
                }
            }
        )*
    };
}

nothing!(aclDestroyTensorDesc, aclSetTensorDescName, aclopDestroyAttr);

/// Profiling hooks: programs call them all the time and ignore the answer. 0, and no text.
macro_rules! hooks {
    ($($name:ident),* $(,)?) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> u64 {
                0
            }
        )*
    };
}

hooks!(
    MsprofGetHashId,
    MsprofRegisterCallback,
    MsprofReportAdditionalInfo,
    MsprofReportApi,
    MsprofReportCompactInfo,
    MsprofSysCycleTime,
);
