//! Chapter: tensor data transfer (tdt channel).

use core::ffi::{CStr, c_char, c_void};

use cannery_abi as abi;
use cannery_runtime::error::{Error, Result};
use cannery_runtime::queue::channel;
use cannery_runtime::queue::dataset::{self, Description};

use crate::face::{array, faces, put, slice_mut, value_or};

faces! {
    /// acltdtStopChannel
    fn acltdtStopChannel(handle: *mut abi::acltdtChannelHandle) => channel::stop(handle as u64);
    /// acltdtDestroyChannel
    fn acltdtDestroyChannel(handle: *mut abi::acltdtChannelHandle) => channel::destroy(handle as u64);
    /// acltdtCleanChannel
    fn acltdtCleanChannel(handle: *mut abi::acltdtChannelHandle) => channel::clean(handle as u64);
    /// acltdtQueryChannelSize
    fn acltdtQueryChannelSize(handle: *const abi::acltdtChannelHandle, size: *mut usize) => {
        if handle.is_null() {
            return Err(Error::null("handle"));
        }
        put(size, "size", || Ok(channel::count(handle as u64)? as usize))
    };
    /// acltdtSendTensor
    fn acltdtSendTensor(
        handle: *const abi::acltdtChannelHandle,
        dataset: *const abi::acltdtDataset,
        timeout: i32,
    ) => channel::send(handle as u64, dataset as u64, timeout);
    /// acltdtReceiveTensor
    fn acltdtReceiveTensor(
        handle: *const abi::acltdtChannelHandle,
        dataset: *mut abi::acltdtDataset,
        timeout: i32,
    ) => channel::receive(handle as u64, dataset as u64, timeout);
    /// acltdtDestroyDataItem
    fn acltdtDestroyDataItem(dataItem: *mut abi::acltdtDataItem)
        => dataset::destroy_item(dataItem as u64);
    /// acltdtGetDimsFromItem
    fn acltdtGetDimsFromItem(
        dataItem: *const abi::acltdtDataItem,
        dims: *mut i64,
        dimNum: usize,
    ) => {
        // Room for more than any tensor has is not needed.
        let room = slice_mut(dims, dimNum.min(128));
        dataset::dims(dataItem as u64, room, dimNum as u64)
    };
    /// acltdtGetSliceInfoFromItem
    fn acltdtGetSliceInfoFromItem(
        dataItem: *const abi::acltdtDataItem,
        sliceNum: *mut usize,
        sliceId: *mut usize,
    ) => {
        if dataItem.is_null() {
            return Err(Error::null("dataItem"));
        }
        if sliceNum.is_null() {
            return Err(Error::null("sliceNum"));
        }
        if sliceId.is_null() {
            return Err(Error::null("sliceId"));
        }
        let (number, index) = dataset::slices(dataItem as u64)?;
        put(sliceNum, "sliceNum", || Ok(number))?;
        put(sliceId, "sliceId", || Ok(index))
    };
    /// acltdtDestroyDataset
    fn acltdtDestroyDataset(dataset: *mut abi::acltdtDataset) => dataset::destroy(dataset as u64);
    /// acltdtAddDataItem
    fn acltdtAddDataItem(
        dataset: *mut abi::acltdtDataset,
        dataItem: *mut abi::acltdtDataItem,
    ) => dataset::add(dataset as u64, dataItem as u64);
}

fn open(device: u32, name: *const c_char, capacity: Option<usize>) -> Result<u64> {
    // SAFETY: NULL or a C string per the contract of the faces.
    let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_bytes());
    channel::create(device, name, capacity.map(|capacity| capacity as u64))
}

/// acltdtCreateChannel: NULL on failure.
///
/// # Safety
/// `name` is NULL or a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn acltdtCreateChannel(
    deviceId: u32,
    name: *const c_char,
) -> *mut abi::acltdtChannelHandle {
    value_or!(0, "acltdtCreateChannel", || open(deviceId, name, None)) as *mut _
}

/// acltdtCreateChannelWithCapacity: NULL on failure.
///
/// # Safety
/// `name` is NULL or a C string.
#[unsafe(no_mangle)]
unsafe extern "C" fn acltdtCreateChannelWithCapacity(
    deviceId: u32,
    name: *const c_char,
    capacity: usize,
) -> *mut abi::acltdtChannelHandle {
    let open = || open(deviceId, name, Some(capacity));
    value_or!(0, "acltdtCreateChannelWithCapacity", open) as *mut _
}

/// acltdtCreateDataItem: NULL on failure.
///
/// # Safety
/// `dims` is NULL or has `dimNum` numbers.
#[unsafe(no_mangle)]
unsafe extern "C" fn acltdtCreateDataItem(
    tdtType: abi::acltdtTensorType,
    dims: *const i64,
    dimNum: usize,
    dataType: abi::aclDataType,
    data: *mut c_void,
    size: usize,
) -> *mut abi::acltdtDataItem {
    let create = || {
        let dims = match dimNum {
            0 => &[],
            _ => array(dims, dimNum).ok_or_else(|| Error::null("dims"))?,
        };
        let tensor = Description {
            kind: tdtType,
            dims,
            data_type: dataType,
        };
        dataset::create_item(&tensor, data as u64, size as u64)
    };
    value_or!(0, "acltdtCreateDataItem", create) as *mut _
}

/// acltdtCreateDataset: NULL on failure.
#[unsafe(no_mangle)]
extern "C" fn acltdtCreateDataset() -> *mut abi::acltdtDataset {
    value_or!(0, "acltdtCreateDataset", dataset::create) as *mut _
}

/// acltdtGetDataItem: NULL on failure.
#[unsafe(no_mangle)]
extern "C" fn acltdtGetDataItem(
    dataset: *const abi::acltdtDataset,
    index: usize,
) -> *mut abi::acltdtDataItem {
    let find = || dataset::item(dataset as u64, index as u64);
    value_or!(0, "acltdtGetDataItem", find) as *mut _
}

/// acltdtGetDatasetName: NULL on failure.
#[unsafe(no_mangle)]
extern "C" fn acltdtGetDatasetName(dataset: *const abi::acltdtDataset) -> *const c_char {
    let find = || dataset::name_address(dataset as u64);
    value_or!(0, "acltdtGetDatasetName", find) as *const _
}

/// acltdtGetDatasetSize: 0 on failure.
#[unsafe(no_mangle)]
extern "C" fn acltdtGetDatasetSize(dataset: *const abi::acltdtDataset) -> usize {
    value_or!(0, "acltdtGetDatasetSize", || {
        dataset::length(dataset as u64)
    }) as usize
}

/// acltdtGetDataAddrFromItem: NULL on failure.
#[unsafe(no_mangle)]
extern "C" fn acltdtGetDataAddrFromItem(dataItem: *const abi::acltdtDataItem) -> *mut c_void {
    let find = || dataset::address(dataItem as u64);
    value_or!(0, "acltdtGetDataAddrFromItem", find) as *mut _
}

/// acltdtGetDataSizeFromItem: 0 on failure.
#[unsafe(no_mangle)]
extern "C" fn acltdtGetDataSizeFromItem(dataItem: *const abi::acltdtDataItem) -> usize {
    let find = || dataset::size(dataItem as u64);
    value_or!(0, "acltdtGetDataSizeFromItem", find) as usize
}

/// acltdtGetDimNumFromItem: 0 on failure.
#[unsafe(no_mangle)]
extern "C" fn acltdtGetDimNumFromItem(dataItem: *const abi::acltdtDataItem) -> usize {
    let find = || dataset::dimensions(dataItem as u64);
    value_or!(0, "acltdtGetDimNumFromItem", find) as usize
}

/// acltdtGetDataTypeFromItem: -1 (undefined) on failure.
#[unsafe(no_mangle)]
extern "C" fn acltdtGetDataTypeFromItem(dataItem: *const abi::acltdtDataItem) -> abi::aclDataType {
    value_or!(UNDEFINED, "acltdtGetDataTypeFromItem", || number(|| {
        dataset::data_type(dataItem as u64)
    })) as u32 as i32
}

/// acltdtGetTensorTypeFromItem: -1 (undefined) on failure.
#[unsafe(no_mangle)]
extern "C" fn acltdtGetTensorTypeFromItem(
    dataItem: *const abi::acltdtDataItem,
) -> abi::acltdtTensorType {
    value_or!(UNDEFINED, "acltdtGetTensorTypeFromItem", || number(|| {
        dataset::kind(dataItem as u64)
    })) as u32 as i32
}

/// A number of an enumeration.
fn number(find: impl FnOnce() -> Result<i32>) -> Result<u64> {
    find().map(|number| u64::from(number.cast_unsigned()))
}

const UNDEFINED: u64 = u32::MAX as u64;
