//! Chapter: device management.

use core::ffi::{c_char, c_void};

use cannery_abi as abi;
use cannery_runtime::{devices, error, links};

use crate::face::{faces, place, put, slice_mut, text};

faces! {
    /// aclrtSetDevice
    fn aclrtSetDevice(deviceId: i32) => devices::set_device(deviceId);
    /// aclrtResetDevice
    fn aclrtResetDevice(deviceId: i32) => devices::reset_device(deviceId, false);
    /// aclrtGetDeviceCount
    fn aclrtGetDeviceCount(count: *mut u32) => put(count, "count", devices::device_count);
    /// aclrtGetRunMode
    fn aclrtGetRunMode(runMode: *mut abi::aclrtRunMode) => devices::check_run_mode(place(runMode));
    /// aclrtSetTsDevice
    fn aclrtSetTsDevice(tsId: abi::aclrtTsId) => devices::select_scheduler(tsId);
    /// aclrtQueryDeviceStatus
    fn aclrtQueryDeviceStatus(deviceId: i32, deviceStatus: *mut abi::aclrtDeviceStatus)
        => put(deviceStatus, "deviceStatus", || devices::status(deviceId));
    /// aclrtGetDeviceUtilizationRate
    fn aclrtGetDeviceUtilizationRate(deviceId: i32, utilizationInfo: *mut abi::aclrtUtilizationInfo)
        => devices::utilization(deviceId, place(utilizationInfo));
    /// aclrtSynchronizeDevice
    fn aclrtSynchronizeDevice() => devices::synchronize_device(None);
    /// aclrtSynchronizeDeviceWithTimeout
    fn aclrtSynchronizeDeviceWithTimeout(timeout: i32) => devices::synchronize_device(Some(timeout));
    /// aclrtSetDeviceSatMode
    fn aclrtSetDeviceSatMode(mode: abi::aclrtFloatOverflowMode) => devices::set_saturation(mode);
    /// aclrtGetDeviceSatMode
    fn aclrtGetDeviceSatMode(mode: *mut abi::aclrtFloatOverflowMode)
        => put(mode, "mode", devices::saturation);
    /// aclrtDeviceCanAccessPeer
    fn aclrtDeviceCanAccessPeer(canAccessPeer: *mut i32, deviceId: i32, peerDeviceId: i32)
        => devices::can_access(place(canAccessPeer), deviceId, peerDeviceId);
    /// aclrtDeviceEnablePeerAccess
    fn aclrtDeviceEnablePeerAccess(peerDeviceId: i32, flags: u32)
        => devices::enable(peerDeviceId, flags);
    /// aclrtDeviceDisablePeerAccess
    fn aclrtDeviceDisablePeerAccess(peerDeviceId: i32) => devices::disable(peerDeviceId);
    /// aclrtDevicePeerAccessStatus
    fn aclrtDevicePeerAccessStatus(deviceId: i32, peerDeviceId: i32, status: *mut i32)
        => put(status, "status", || devices::is_enabled(deviceId, peerDeviceId).map(i32::from));
    /// aclrtDeviceGetBareTgid
    fn aclrtDeviceGetBareTgid(pid: *mut i32) => put(pid, "pid", || Ok(devices::bare_pid()));
    /// aclrtGetDeviceInfo
    fn aclrtGetDeviceInfo(deviceId: u32, attr: abi::aclrtDevAttr, value: *mut i64)
        => put(value, "value", || devices::attribute(deviceId, attr));
    /// aclGetDeviceCapability
    fn aclGetDeviceCapability(deviceId: u32, deviceInfo: abi::aclDeviceInfo, value: *mut i64)
        => put(value, "value", || devices::capability(deviceId, deviceInfo));
    /// aclrtGetDeviceCapability
    fn aclrtGetDeviceCapability(
        deviceId: i32,
        devFeatureType: abi::aclrtDevFeatureType,
        value: *mut i32,
    ) => put(value, "value", || devices::feature(deviceId, devFeatureType));
    /// aclrtDeviceGetUuid
    fn aclrtDeviceGetUuid(deviceId: i32, uuid: *mut abi::aclrtUuid) => put(uuid, "uuid", || {
        let bytes = devices::uuid(deviceId)?;
        Ok(abi::aclrtUuid { bytes: bytes.map(|byte| byte.cast_signed() as c_char) })
    });
    /// aclrtDeviceGetPCIBusId
    fn aclrtDeviceGetPCIBusId(deviceId: i32, pciBusId: *mut c_char, len: i32) => devices::bus_id(
        deviceId,
        slice_mut(pciBusId.cast::<u8>(), usize::try_from(len).unwrap_or(0)),
        len,
    );
    /// aclrtDeviceGetByPCIBusId
    fn aclrtDeviceGetByPCIBusId(pciBusId: *const c_char, deviceId: *mut i32) => {
        if pciBusId.is_null() {
            return Err(error::Error::null("pciBusId"));
        }
        put(deviceId, "deviceId", || devices::by_bus_id(text(pciBusId).as_deref()))
    };
    /// aclrtDeviceGetStreamPriorityRange
    fn aclrtDeviceGetStreamPriorityRange(leastPriority: *mut i32, greatestPriority: *mut i32) => {
        let (least, greatest) = devices::priority_range();
        if let Some(place) = place(leastPriority) {
            *place = least;
        }
        if let Some(place) = place(greatestPriority) {
            *place = greatest;
        }
        Ok(())
    };
    /// aclrtDeviceSetLimit
    fn aclrtDeviceSetLimit(limit: abi::aclrtDeviceLimit, value: usize)
        => devices::set_limit(limit, value as u64);
    /// aclrtDeviceGetLimit
    fn aclrtDeviceGetLimit(limit: abi::aclrtDeviceLimit, value: *mut usize)
        => devices::limit(limit, place(value));
    /// aclrtGetPhyDevIdByLogicDevId
    fn aclrtGetPhyDevIdByLogicDevId(logicDevId: i32, phyDevId: *mut i32)
        => put(phyDevId, "phyDevId", || devices::physical_id("logicDevId", logicDevId));
    /// aclrtGetLogicDevIdByPhyDevId
    fn aclrtGetLogicDevIdByPhyDevId(phyDevId: i32, logicDevId: *mut i32)
        => put(logicDevId, "logicDevId", || devices::user_id("phyDevId", phyDevId));
    /// aclrtGetPhyDevIdByUserDevId
    fn aclrtGetPhyDevIdByUserDevId(userDevId: i32, phyDevId: *mut i32)
        => put(phyDevId, "phyDevId", || devices::physical_id("userDevId", userDevId));
    /// aclrtGetUserDevIdByPhyDevId
    fn aclrtGetUserDevIdByPhyDevId(phyDevId: i32, userDevId: *mut i32)
        => put(userDevId, "userDevId", || devices::user_id("phyDevId", phyDevId));
    /// aclrtGetLogicDevIdByUserDevId: without containers logical and physical ids are the same.
    fn aclrtGetLogicDevIdByUserDevId(userDevid: i32, logicDevId: *mut i32)
        => put(logicDevId, "logicDevId", || devices::physical_id("userDevid", userDevid));
    /// aclrtGetUserDevIdByLogicDevId
    fn aclrtGetUserDevIdByLogicDevId(logicDevId: i32, userDevid: *mut i32)
        => put(userDevid, "userDevid", || devices::user_id("logicDevId", logicDevId));
    /// aclrtGetDevicesTopo
    fn aclrtGetDevicesTopo(deviceId: u32, otherDeviceId: u32, value: *mut u64)
        => links::topology(deviceId, otherDeviceId, !value.is_null());
    /// aclrtDeviceGetHostAtomicCapabilities
    fn aclrtDeviceGetHostAtomicCapabilities(
        capabilities: *mut u32,
        operations: *const abi::aclrtAtomicOperation,
        count: u32,
        deviceId: i32,
    ) => links::atomics(
        !capabilities.is_null(),
        !operations.is_null(),
        count,
        &[("deviceId", deviceId)],
    );
    /// aclrtDeviceGetP2PAtomicCapabilities
    fn aclrtDeviceGetP2PAtomicCapabilities(
        capabilities: *mut u32,
        operations: *const abi::aclrtAtomicOperation,
        count: u32,
        srcDeviceId: i32,
        dstDeviceId: i32,
    ) => links::atomics(
        !capabilities.is_null(),
        !operations.is_null(),
        count,
        &[("srcDeviceId", srcDeviceId), ("dstDeviceId", dstDeviceId)],
    );
    /// aclrtCheckArchCompatibility
    fn aclrtCheckArchCompatibility(socVersion: *const c_char, canCompatible: *mut i32) => {
        let runs = links::runs_code_of(text(socVersion).as_deref(), !canCompatible.is_null())?;
        put(canCompatible, "canCompatible", || Ok(i32::from(runs)))
    };
    /// aclrtRegDeviceStateCallback
    fn aclrtRegDeviceStateCallback(
        regName: *const c_char,
        callback: abi::aclrtDeviceStateCallback,
        args: *mut c_void,
    ) => {
        devices::register_state_callback(text(regName).as_deref(), callback, args)
    };
}

/// aclrtGetDevice. Its missing context is not stored as the last error.
///
/// # Safety
/// The pointer is NULL or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn aclrtGetDevice(deviceId: *mut i32) -> abi::aclError {
    quietly("aclrtGetDevice", || {
        put(deviceId, "deviceId", devices::current_device)
    })
}

/// aclrtResetDeviceForce. Its refusals are not stored as the last error.
#[unsafe(no_mangle)]
extern "C" fn aclrtResetDeviceForce(deviceId: i32) -> abi::aclError {
    quietly("aclrtResetDeviceForce", || {
        devices::reset_device(deviceId, true)
    })
}

fn quietly(api: &'static str, call: impl FnOnce() -> error::Result<()>) -> abi::aclError {
    let mut code = abi::ACL_SUCCESS;
    let result = crate::face::answer(api, cannery_runtime::profile::ALL_PRODUCTS, || {
        if let Err(fault) = call() {
            code = error::record_silently(api, &fault);
        }
        Ok(())
    });
    if code == abi::ACL_SUCCESS {
        result
    } else {
        code
    }
}

/// aclrtGetSocName: NULL on failure, with a text.
#[unsafe(no_mangle)]
extern "C" fn aclrtGetSocName() -> *const c_char {
    let mut name = core::ptr::null();
    crate::face::answer(
        "aclrtGetSocName",
        cannery_runtime::profile::ALL_PRODUCTS,
        || {
            name = devices::soc_name()?.as_ptr();
            Ok(())
        },
    );
    name
}
