//! Chapter: notify management.

use cannery_abi as abi;
use cannery_runtime::error::Error;
use cannery_runtime::stream::notify;

use crate::face::{address_place, addresses, faces, put};

faces! {
    /// aclrtCreateNotify
    fn aclrtCreateNotify(notify: *mut abi::aclrtNotify, flag: u64) => {
        let Some(place) = address_place(notify) else { return Err(Error::null("notify")) };
        *place = notify::create(flag)?;
        Ok(())
    };
    /// aclrtDestroyNotify
    fn aclrtDestroyNotify(notify: abi::aclrtNotify) => notify::destroy(notify as u64);
    /// aclrtRecordNotify
    fn aclrtRecordNotify(notify: abi::aclrtNotify, stream: abi::aclrtStream)
        => notify::record(notify as u64, stream as u64);
    /// aclrtWaitAndResetNotify
    fn aclrtWaitAndResetNotify(
        notify: abi::aclrtNotify,
        stream: abi::aclrtStream,
        timeout: u32,
    ) => notify::wait_and_reset(notify as u64, stream as u64, timeout);
    /// aclrtGetNotifyId
    fn aclrtGetNotifyId(notify: abi::aclrtNotify, notifyId: *mut u32) => {
        if notify.is_null() {
            return Err(Error::null("notify"));
        }
        put(notifyId, "notifyId", || notify::id(notify as u64))
    };
    /// aclrtNotifyBatchReset
    fn aclrtNotifyBatchReset(notifies: *mut abi::aclrtNotify, num: usize) => {
        let list = addresses(notifies, num).ok_or_else(|| Error::null("notifies"))?;
        notify::batch_reset(list)
    };
}
