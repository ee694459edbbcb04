//! Chapter: stream management; value write and wait.

use core::ffi::{CStr, c_char, c_void};

use cannery_abi as abi;
use cannery_runtime::error::Error;
use cannery_runtime::stream::{config_handle, failure, manage, state_callback, value, wait};

use crate::face::{address_place, array, faces, place, put, value_or};

faces! {
    /// aclrtCreateStream
    fn aclrtCreateStream(stream: *mut abi::aclrtStream) => {
        let Some(place) = address_place(stream) else { return Err(Error::null("stream")) };
        *place = manage::create(0, 0)?;
        Ok(())
    };
    /// aclrtCreateStreamWithConfig
    fn aclrtCreateStreamWithConfig(stream: *mut abi::aclrtStream, priority: u32, flag: u32) => {
        let Some(place) = address_place(stream) else { return Err(Error::null("stream")) };
        *place = manage::create(priority, flag)?;
        Ok(())
    };
    /// aclrtCreateStreamV2
    fn aclrtCreateStreamV2(
        stream: *mut abi::aclrtStream,
        handle: *const abi::aclrtStreamConfigHandle,
    ) => {
        let Some(place) = address_place(stream) else { return Err(Error::null("stream")) };
        *place = config_handle::make_stream(handle as u64)?;
        Ok(())
    };
    /// aclrtSetStreamConfigOpt
    fn aclrtSetStreamConfigOpt(
        handle: *mut abi::aclrtStreamConfigHandle,
        attr: abi::aclrtStreamConfigAttr,
        attrValue: *const c_void,
        valueSize: usize,
    ) => {
        if !attrValue.is_null() && valueSize > size_of::<u64>() {
            return Err(Error::value("valueSize", valueSize, "must be 4 or 8"));
        }
        config_handle::set(handle as u64, attr, array(attrValue.cast::<u8>(), valueSize))
    };
    /// aclrtDestroyStreamConfigHandle
    fn aclrtDestroyStreamConfigHandle(handle: *mut abi::aclrtStreamConfigHandle)
        => config_handle::destroy(handle as u64);
    /// aclrtDestroyStream
    fn aclrtDestroyStream(stream: abi::aclrtStream) => manage::destroy(stream as u64, false);
    /// aclrtDestroyStreamForce
    fn aclrtDestroyStreamForce(stream: abi::aclrtStream) => manage::destroy(stream as u64, true);
    /// aclrtStreamAbort
    fn aclrtStreamAbort(stream: abi::aclrtStream) => manage::abort(stream as u64);
    /// aclrtSynchronizeStream
    fn aclrtSynchronizeStream(stream: abi::aclrtStream) => wait::synchronize(stream as u64, None);
    /// aclrtSynchronizeStreamWithTimeout
    fn aclrtSynchronizeStreamWithTimeout(stream: abi::aclrtStream, timeout: i32)
        => wait::synchronize(stream as u64, Some(timeout));
    /// aclrtStreamQuery
    fn aclrtStreamQuery(stream: abi::aclrtStream, status: *mut abi::aclrtStreamStatus)
        => put(status, "status", || wait::query(stream as u64));
    /// aclrtGetStreamAvailableNum
    fn aclrtGetStreamAvailableNum(streamCount: *mut u32)
        => put(streamCount, "streamCount", manage::available);
    /// aclrtStreamGetFlags
    fn aclrtStreamGetFlags(stream: abi::aclrtStream, flags: *mut u32)
        => put(flags, "flags", || manage::flags(stream as u64));
    /// aclrtStreamGetPriority
    fn aclrtStreamGetPriority(stream: abi::aclrtStream, priority: *mut u32)
        => put(priority, "priority", || manage::priority(stream as u64));
    /// aclrtStreamGetId
    fn aclrtStreamGetId(stream: abi::aclrtStream, streamId: *mut i32)
        => put(streamId, "streamId", || manage::id(stream as u64));
    /// aclrtSetStreamFailureMode
    fn aclrtSetStreamFailureMode(stream: abi::aclrtStream, mode: u64)
        => failure::set(stream as u64, mode);
    /// aclrtSetStreamOverflowSwitch
    fn aclrtSetStreamOverflowSwitch(stream: abi::aclrtStream, flag: u32)
        => manage::set_overflow(stream as u64, flag);
    /// aclrtGetStreamOverflowSwitch
    fn aclrtGetStreamOverflowSwitch(stream: abi::aclrtStream, flag: *mut u32)
        => put(flag, "flag", || manage::overflow(stream as u64));
    /// aclrtSetStreamAttribute
    fn aclrtSetStreamAttribute(
        stream: abi::aclrtStream,
        stmAttrType: abi::aclrtStreamAttr,
        value: *mut abi::aclrtStreamAttrValue,
    ) => {
        let Some(value) = place(value) else { return Err(Error::null("value")) };
        let wide = stmAttrType == abi::ACL_STREAM_ATTR_FAILURE_MODE;
        // SAFETY: the members of the union are plain numbers at the same place.
        let number = unsafe {
            if wide { value.failureMode } else { u64::from(value.streamPriority) }
        };
        manage::set_attribute(stream as u64, stmAttrType, number)
    };
    /// aclrtGetStreamAttribute
    fn aclrtGetStreamAttribute(
        stream: abi::aclrtStream,
        stmAttrType: abi::aclrtStreamAttr,
        value: *mut abi::aclrtStreamAttrValue,
    ) => {
        let Some(value) = place(value) else { return Err(Error::null("value")) };
        value.failureMode = manage::attribute(stream as u64, stmAttrType)?;
        Ok(())
    };
    /// aclrtCtxGetCurrentDefaultStream
    fn aclrtCtxGetCurrentDefaultStream(stream: *mut abi::aclrtStream) => {
        let Some(place) = address_place(stream) else { return Err(Error::null("stream")) };
        *place = manage::current_default()?;
        Ok(())
    };
    /// aclrtRegStreamStateCallback
    fn aclrtRegStreamStateCallback(
        regName: *const c_char,
        callback: abi::aclrtStreamStateCallback,
        args: *mut c_void,
    ) => {
        // SAFETY: NULL or a C string per the contract of the faces.
        let name = (!regName.is_null()).then(|| unsafe { CStr::from_ptr(regName) }.to_string_lossy());
        state_callback::register(name.as_deref(), callback, args)
    };
    /// aclrtValueWrite
    fn aclrtValueWrite(devAddr: *mut c_void, value: u64, flag: u32, stream: abi::aclrtStream)
        => value::write(devAddr as u64, value, flag, stream as u64);
    /// aclrtValueWait
    fn aclrtValueWait(devAddr: *mut c_void, value: u64, flag: u32, stream: abi::aclrtStream)
        => value::wait(devAddr as u64, value, flag, stream as u64);
}

/// aclrtCreateStreamConfigHandle: NULL on failure, with a text.
#[unsafe(no_mangle)]
extern "C" fn aclrtCreateStreamConfigHandle() -> *mut abi::aclrtStreamConfigHandle {
    value_or!(0, "aclrtCreateStreamConfigHandle", config_handle::create) as *mut _
}
