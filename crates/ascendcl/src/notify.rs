//! Chapters: notify management, counting notifies.

use core::ffi::{CStr, c_char};

use cannery_abi as abi;
use cannery_runtime::error::Error;
use cannery_runtime::stream::count_notify::{self, Condition};
use cannery_runtime::stream::notify;

use crate::face::{address_place, addresses, array, entries, faces, place, put};
use crate::ipc_memory::pids_of;

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
    /// aclrtCntNotifyCreate
    fn aclrtCntNotifyCreate(cntNotify: *mut abi::aclrtCntNotify, flag: u64) => {
        let Some(place) = address_place(cntNotify) else { return Err(Error::null("cntNotify")) };
        *place = count_notify::create(flag)?;
        Ok(())
    };
    /// aclrtCntNotifyDestroy
    fn aclrtCntNotifyDestroy(cntNotify: abi::aclrtCntNotify)
        => count_notify::destroy(cntNotify as u64);
    /// aclrtCntNotifyRecord
    fn aclrtCntNotifyRecord(
        cntNotify: abi::aclrtCntNotify,
        stream: abi::aclrtStream,
        info: *mut abi::aclrtCntNotifyRecordInfo,
    ) => {
        if cntNotify.is_null() {
            return Err(Error::null("cntNotify"));
        }
        let Some(info) = place(info) else { return Err(Error::null("info")) };
        count_notify::record(cntNotify as u64, stream as u64, info.mode, info.value)
    };
    /// aclrtCntNotifyWaitWithTimeout
    fn aclrtCntNotifyWaitWithTimeout(
        cntNotify: abi::aclrtCntNotify,
        stream: abi::aclrtStream,
        info: *mut abi::aclrtCntNotifyWaitInfo,
    ) => {
        if cntNotify.is_null() {
            return Err(Error::null("cntNotify"));
        }
        let Some(info) = place(info) else { return Err(Error::null("info")) };
        let condition =
            Condition { mode: info.mode, value: info.value, clear: info.isClear == 1 };
        count_notify::wait(cntNotify as u64, stream as u64, condition, info.timeout)
    };
    /// aclrtCntNotifyReset
    fn aclrtCntNotifyReset(cntNotify: abi::aclrtCntNotify, stream: abi::aclrtStream)
        => count_notify::reset(cntNotify as u64, stream as u64);
    /// aclrtCntNotifyGetId
    fn aclrtCntNotifyGetId(cntNotify: abi::aclrtCntNotify, notifyId: *mut u32) => {
        if cntNotify.is_null() {
            return Err(Error::null("cntNotify"));
        }
        put(notifyId, "notifyId", || count_notify::id(cntNotify as u64))
    };
    /// aclrtNotifyGetExportKey
    fn aclrtNotifyGetExportKey(
        notify: abi::aclrtNotify,
        key: *mut c_char,
        len: usize,
        flags: u64,
    ) => {
        if notify.is_null() {
            return Err(Error::null("notify"));
        }
        if key.is_null() {
            return Err(Error::null("key"));
        }
        let name = notify::export(notify as u64, len, flags)?;
        // SAFETY: `key` has room for `len` bytes per the contract, which were found enough.
        unsafe {
            core::ptr::copy_nonoverlapping(name.as_ptr().cast(), key, name.len());
            key.add(name.len()).write(0);
        }
        Ok(())
    };
    /// aclrtNotifySetImportPid
    fn aclrtNotifySetImportPid(notify: abi::aclrtNotify, pid: *mut i32, num: usize) => {
        if notify.is_null() {
            return Err(Error::null("notify"));
        }
        let pids = array(pid.cast_const(), num).ok_or_else(|| Error::null("pid"))?;
        notify::allow(notify as u64, pids)
    };
    /// aclrtNotifySetImportPidInterServer
    fn aclrtNotifySetImportPidInterServer(
        notify: abi::aclrtNotify,
        serverPids: *mut abi::aclrtServerPid,
        num: usize,
    ) => {
        if notify.is_null() {
            return Err(Error::null("notify"));
        }
        let null = || Error::null("serverPids");
        let servers = entries(serverPids.cast_const(), num, "num", null)?;
        notify::allow_servers(notify as u64, &pids_of(servers)?)
    };
    /// aclrtNotifyImportByKey
    fn aclrtNotifyImportByKey(notify: *mut abi::aclrtNotify, key: *const c_char, flags: u64) => {
        let Some(place) = address_place(notify) else { return Err(Error::null("notify")) };
        if key.is_null() {
            return Err(Error::null("key"));
        }
        // SAFETY: not NULL, so a C string per the contract of the faces.
        let key = unsafe { CStr::from_ptr(key) }.to_string_lossy();
        *place = notify::import(&key, flags)?;
        Ok(())
    };
}
