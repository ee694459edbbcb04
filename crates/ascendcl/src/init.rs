//! Chapter: initialisation and de-initialisation.

use core::ffi::{CStr, c_char, c_void};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use cannery_abi::{aclFinalizeCallbackFunc, aclInitCallbackFunc, aclRegisterCallbackType};
use cannery_runtime::lifecycle;

use crate::face::{faces, place};

faces! {
    /// aclInit
    fn aclInit(configPath: *const c_char) => {
        // SAFETY: NULL or a C string per the contract of the faces.
        let path = (!configPath.is_null()).then(|| unsafe { CStr::from_ptr(configPath) });
        lifecycle::init(path.map(|path| Path::new(OsStr::from_bytes(path.to_bytes()))))
    };
    /// aclFinalize
    fn aclFinalize() => lifecycle::finalize();
    /// aclFinalizeReference
    fn aclFinalizeReference(refCount: *mut u64) => lifecycle::finalize_reference(place(refCount));
    /// aclInitCallbackRegister
    fn aclInitCallbackRegister(
        r#type: aclRegisterCallbackType,
        cbFunc: aclInitCallbackFunc,
        userData: *mut c_void,
    ) => lifecycle::register_init_callback(r#type, cbFunc, userData);
    /// aclInitCallbackUnRegister
    fn aclInitCallbackUnRegister(r#type: aclRegisterCallbackType, cbFunc: aclInitCallbackFunc)
        => lifecycle::unregister_init(r#type, cbFunc);
    /// aclFinalizeCallbackRegister
    fn aclFinalizeCallbackRegister(
        r#type: aclRegisterCallbackType,
        cbFunc: aclFinalizeCallbackFunc,
        userData: *mut c_void,
    ) => lifecycle::register_finalize(r#type, cbFunc, userData);
    /// aclFinalizeCallbackUnRegister
    fn aclFinalizeCallbackUnRegister(
        r#type: aclRegisterCallbackType,
        cbFunc: aclFinalizeCallbackFunc,
    ) => lifecycle::unregister_finalize(r#type, cbFunc);
}
