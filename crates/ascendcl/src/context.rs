//! Chapter: context management.

use cannery_abi::{aclSysParamOpt, aclrtContext};
use cannery_runtime::devices;
use cannery_runtime::error::Error;

use crate::face::{address_place, faces, place, put};

faces! {
    /// aclrtCreateContext
    fn aclrtCreateContext(context: *mut aclrtContext, deviceId: i32) => {
        let Some(place) = address_place(context) else { return Err(Error::null("context")) };
        *place = devices::create_context(deviceId)?;
        Ok(())
    };
    /// aclrtDestroyContext
    fn aclrtDestroyContext(context: aclrtContext) => match context as u64 {
        0 => Err(Error::null("context")),
        handle => devices::destroy_context(handle),
    };
    /// aclrtSetCurrentContext
    fn aclrtSetCurrentContext(context: aclrtContext) => match context as u64 {
        0 => Err(Error::null("context")),
        handle => devices::set_current_context(handle),
    };
    /// aclrtGetCurrentContext: writes NULL when it fails, since programs look at the pointer too.
    fn aclrtGetCurrentContext(context: *mut aclrtContext) => {
        let Some(place) = address_place(context) else { return Err(Error::null("context")) };
        let current = devices::current_context();
        *place = current.as_ref().copied().unwrap_or(0);
        current.map(|_| ())
    };
    /// aclrtGetPrimaryCtxState
    fn aclrtGetPrimaryCtxState(deviceId: i32, flags: *mut u32, active: *mut i32) => {
        let Some(active) = place(active) else { return Err(Error::null("active")) };
        *active = i32::from(devices::primary_state(deviceId)?);
        if let Some(flags) = place(flags) {
            *flags = 0;
        }
        Ok(())
    };
    /// aclrtCtxSetSysParamOpt
    fn aclrtCtxSetSysParamOpt(opt: aclSysParamOpt, value: i64)
        => devices::set_context_option(opt, value);
    /// aclrtCtxGetSysParamOpt
    fn aclrtCtxGetSysParamOpt(opt: aclSysParamOpt, value: *mut i64)
        => put(value, "value", || devices::context_option(opt));
}
