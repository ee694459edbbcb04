//! Devices: choosing one, what it is, its peers and limits, waiting for it.

use cannery_abi::{aclrtUtilizationInfo, aclrtUuid};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::c_api::{at, c_api};
use crate::calls::calls;
use crate::convert::{Bits32, Int, Word};
use crate::outputs::Give;

calls! {
    also [get_device_utilization_rate, device_get_uuid];

    /// ret = set_device(device_id): bind this thread to a device; counted.
    fn set_device(device_id: Int) -> wait = aclrtSetDevice(device_id);

    /// ret = reset_device(device_id): undo one set_device; the last one releases the device.
    fn reset_device(device_id: Int) -> wait = aclrtResetDevice(device_id);

    /// ret = reset_device_force(device_id): release the device whatever the count.
    fn reset_device_force(device_id: Int) -> wait = aclrtResetDeviceForce(device_id);

    /// device_id, ret = get_device(): the device of this thread; 107002 when it has none.
    fn get_device() -> (device_id: i32) = aclrtGetDevice(&raw mut device_id);

    /// run_mode, ret = get_run_mode(): 0 on the device's side, 1 on the host's.
    fn get_run_mode() -> (run_mode: i32) = aclrtGetRunMode(&raw mut run_mode);

    /// ret = set_ts_device(ts_id): choose the task scheduler, 0 or 1.
    fn set_ts_device(ts_id: Int) -> code = aclrtSetTsDevice(ts_id);

    /// count, ret = get_device_count(): how many devices there are.
    fn get_device_count() -> (count: u32) = aclrtGetDeviceCount(&raw mut count);

    /// device_status, ret = query_device_status(device_id): 0 normal, 1 abnormal.
    fn query_device_status(device_id: Int) -> (device_status: i32) = aclrtQueryDeviceStatus(
        device_id,
        &raw mut device_status,
    );

    /// ret = set_device_sat_mode(mode): 0 saturates, 1 gives inf and nan; for later streams.
    fn set_device_sat_mode(mode: Int) -> code = aclrtSetDeviceSatMode(mode);

    /// mode, ret = get_device_sat_mode()
    fn get_device_sat_mode() -> (mode: i32) = aclrtGetDeviceSatMode(&raw mut mode);

    /// can_access_peer, ret = device_can_access_peer(dev_id, peer_dev_id): 1 yes, 0 no.
    fn device_can_access_peer(dev_id: Int, peer_dev_id: Int) -> (can_access_peer: i32) = aclrtDeviceCanAccessPeer(
        &raw mut can_access_peer,
        dev_id,
        peer_dev_id,
    );

    /// ret = device_enable_peer_access(peer_dev_id, flags): one direction; flags is 0.
    fn device_enable_peer_access(peer_dev_id: Int, flags: Bits32) -> code = aclrtDeviceEnablePeerAccess(
        peer_dev_id,
        flags,
    );

    /// ret = device_disable_peer_access(peer_dev_id)
    fn device_disable_peer_access(peer_dev_id: Int) -> code = aclrtDeviceDisablePeerAccess(peer_dev_id);

    /// status, ret = device_peer_access_status(device_id, peer_device_id): 0 off, 1 on.
    fn device_peer_access_status(device_id: Int, peer_device_id: Int) -> (status: i32) = aclrtDevicePeerAccessStatus(
        device_id,
        peer_device_id,
        &raw mut status,
    );

    /// ret = get_overflow_status(output_addr, output_size, stream): queue a write of the status to device memory.
    fn get_overflow_status(output_addr: Word, output_size: Word, stream: Word) -> code = aclrtGetOverflowStatus(
        at(output_addr),
        output_size,
        at(stream),
    );

    /// ret = reset_overflow_status(stream): queued.
    fn reset_overflow_status(stream: Word) -> code = aclrtResetOverflowStatus(at(stream));

    /// ret = synchronize_device(): wait for all work of the current context's device.
    fn synchronize_device() -> wait = aclrtSynchronizeDevice();

    /// ret = synchronize_device_with_timeout(timeout): milliseconds, -1 for ever; 507046 when it expires.
    fn synchronize_device_with_timeout(timeout: Int) -> wait = aclrtSynchronizeDeviceWithTimeout(timeout);

    /// value, ret = get_device_info(device_id, attr)
    fn get_device_info(device_id: Bits32, attr: Bits32) -> (value: i64) = aclrtGetDeviceInfo(
        device_id,
        attr as i32,
        &raw mut value,
    );

    /// min, max, ret = device_get_stream_priority_range(): least and greatest; smaller is more urgent.
    fn device_get_stream_priority_range() -> (min: i32, max: i32) = aclrtDeviceGetStreamPriorityRange(
        &raw mut min,
        &raw mut max,
    );

    /// value, ret = get_device_capability(device_id, dev_feature_type): 1 supported, 0 not.
    fn get_device_capability(device_id: Int, dev_feature_type: Bits32) -> (value: i32) = aclrtGetDeviceCapability(
        device_id,
        dev_feature_type as i32,
        &raw mut value,
    );

    /// value, ret = get_devices_topo(device_id, other_device_id): the kind of link, one bit.
    fn get_devices_topo(device_id: Bits32, other_device_id: Bits32) -> (value: u64) = aclrtGetDevicesTopo(
        device_id,
        other_device_id,
        &raw mut value,
    );

    /// value, ret = get_device_res_limit(device_id, type): cores; 0 cube, 1 vector.
    fn get_device_res_limit(device_id: Int, r#type: Bits32) -> (value: u32) = aclrtGetDeviceResLimit(
        device_id,
        r#type as i32,
        &raw mut value,
    );

    /// ret = set_device_res_limit(device_id, type, value)
    fn set_device_res_limit(device_id: Int, r#type: Bits32, value: Bits32) -> code = aclrtSetDeviceResLimit(
        device_id,
        r#type as i32,
        value,
    );

    /// ret = reset_device_res_limit(device_id)
    fn reset_device_res_limit(device_id: Int) -> code = aclrtResetDeviceResLimit(device_id);

    /// ret = device_task_abort(device_id, timeout): milliseconds, 0 for ever.
    fn device_task_abort(device_id: Int, timeout: Bits32) -> wait = aclrtDeviceTaskAbort(device_id, timeout);

    /// logic_dev_id, ret = get_logic_dev_id_by_user_dev_id(user_dev_id)
    fn get_logic_dev_id_by_user_dev_id(user_dev_id: Int) -> (logic_dev_id: i32) = aclrtGetLogicDevIdByUserDevId(
        user_dev_id,
        &raw mut logic_dev_id,
    );

    /// user_dev_id, ret = get_user_dev_id_by_logic_dev_id(logic_dev_id)
    fn get_user_dev_id_by_logic_dev_id(logic_dev_id: Int) -> (user_dev_id: i32) = aclrtGetUserDevIdByLogicDevId(
        logic_dev_id,
        &raw mut user_dev_id,
    );

    /// logic_dev_id, ret = get_logic_dev_id_by_phy_dev_id(phy_dev_id)
    fn get_logic_dev_id_by_phy_dev_id(phy_dev_id: Int) -> (logic_dev_id: i32) = aclrtGetLogicDevIdByPhyDevId(
        phy_dev_id,
        &raw mut logic_dev_id,
    );

    /// phy_dev_id, ret = get_phy_dev_id_by_logic_dev_id(logic_dev_id)
    fn get_phy_dev_id_by_logic_dev_id(logic_dev_id: Int) -> (phy_dev_id: i32) = aclrtGetPhyDevIdByLogicDevId(
        logic_dev_id,
        &raw mut phy_dev_id,
    );

    /// pid, ret = device_get_bare_tgid(): this process's id for the lists of processes that may import.
    fn device_get_bare_tgid() -> (pid: i32) = aclrtDeviceGetBareTgid(&raw mut pid);
}

/// utilization_info, ret = get_device_utilization_rate(device_id): percentages; -1 is unknown.
///
/// `ret` is unsigned here: a negative code shows as a large number.
#[pyfunction]
#[pyo3(signature = (device_id, /))]
fn get_device_utilization_rate(
    py: Python<'_>,
    device_id: Int,
) -> PyResult<(Bound<'_, PyDict>, u32)> {
    let mut info = aclrtUtilizationInfo {
        cubeUtilization: 0,
        vectorUtilization: 0,
        aicpuUtilization: 0,
        memoryUtilization: 0,
        utilizationExtend: std::ptr::null_mut(),
    };
    // SAFETY: a valid output.
    let ret = unsafe { (c_api().aclrtGetDeviceUtilizationRate)(device_id.0, &raw mut info) };
    let dict = PyDict::new(py);
    dict.set_item("cube_utilization", info.cubeUtilization)?;
    dict.set_item("vector_utilization", info.vectorUtilization)?;
    dict.set_item("aicpu_utilization", info.aicpuUtilization)?;
    dict.set_item("memory_utilization", info.memoryUtilization)?;
    dict.set_item("utilization_extend", info.utilizationExtend.give())?;
    Ok((dict, ret as u32))
}

/// uuid, ret = device_get_uuid(device_id): {"bytes": 16 numbers from 0 to 255}.
#[pyfunction]
#[pyo3(signature = (device_id, /))]
fn device_get_uuid(py: Python<'_>, device_id: Int) -> PyResult<(Bound<'_, PyDict>, i32)> {
    let mut uuid = aclrtUuid { bytes: [0; 16] };
    // SAFETY: a valid output.
    let ret = unsafe { (c_api().aclrtDeviceGetUuid)(device_id.0, &raw mut uuid) };
    let dict = PyDict::new(py);
    // Wider than a byte: a list of numbers is wanted, not a bytes object.
    let bytes: Vec<u16> = uuid
        .bytes
        .iter()
        .map(|&byte| u16::from(byte as u8))
        .collect();
    dict.set_item("bytes", bytes)?;
    Ok((dict, ret))
}
