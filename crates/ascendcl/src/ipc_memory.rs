//! Chapter: IPC memory.

use core::ffi::{CStr, c_char, c_void};
use std::borrow::Cow;

use cannery_abi as abi;
use cannery_runtime::error::{Error, Fault, Result};
use cannery_runtime::memory::ipc;

use crate::face::{address_place, array, entries, faces};

/// A key, as text.
fn text<'a>(key: *const c_char) -> Option<Cow<'a, str>> {
    if key.is_null() {
        return None;
    }
    // SAFETY: not NULL, so a C string per the contract of the faces.
    Some(unsafe { CStr::from_ptr(key) }.to_string_lossy())
}

fn front_key<'a>(key: *const c_char) -> Result<Cow<'a, str>> {
    text(key).ok_or_else(|| Error::null("key"))
}

faces! {
    /// aclrtIpcMemGetExportKey
    fn aclrtIpcMemGetExportKey(
        devPtr: *mut c_void,
        size: usize,
        key: *mut c_char,
        len: usize,
        flags: u64,
    ) => {
        if devPtr.is_null() {
            return Err(Error::null("devPtr"));
        }
        if key.is_null() {
            return Err(Error::null("key"));
        }
        let name = ipc::export(devPtr as u64, size as u64, len, flags)?;
        // SAFETY: `key` has room for `len` bytes per the contract, which were found enough.
        unsafe {
            core::ptr::copy_nonoverlapping(name.as_ptr().cast(), key, name.len());
            key.add(name.len()).write(0);
        }
        Ok(())
    };
    /// aclrtIpcMemSetImportPid
    fn aclrtIpcMemSetImportPid(key: *const c_char, pid: *mut i32, num: usize) => {
        let key = front_key(key)?;
        let pids = array(pid.cast_const(), num).ok_or_else(|| Error::null("pid"))?;
        ipc::allow(&key, pids)
    };
    /// aclrtIpcMemImportPidInterServer
    fn aclrtIpcMemImportPidInterServer(
        key: *const c_char,
        serverPids: *mut abi::aclrtServerPid,
        num: usize,
    ) => {
        let key = text(key).ok_or(Fault::RtNull { param: "key" })?;
        let servers = entries(serverPids.cast_const(), num, "num", || {
            Fault::RtNull { param: "serverPids" }.into()
        })?;
        if servers.is_empty() {
            return Err(Error::rt_value("num", 0, "a number above 0"));
        }
        ipc::allow_servers(&key, &pids_of(servers)?)
    };
    /// aclrtIpcMemSetAttr
    fn aclrtIpcMemSetAttr(key: *const c_char, r#type: abi::aclrtIpcMemAttrType, attr: u64) => {
        let key = text(key).ok_or(Fault::RtNull { param: "name" })?;
        ipc::set_attribute(&key, r#type, attr)
    };
    /// aclrtIpcMemImportByKey
    fn aclrtIpcMemImportByKey(devPtr: *mut *mut c_void, key: *const c_char, flags: u64) => {
        let Some(place) = address_place(devPtr) else { return Err(Error::null("devPtr")) };
        let key = front_key(key)?;
        *place = ipc::import(&key, flags)?;
        Ok(())
    };
    /// aclrtIpcMemClose
    fn aclrtIpcMemClose(key: *const c_char) => ipc::close(&front_key(key)?);
}

/// The processes of all servers.
pub(crate) fn pids_of(servers: &[abi::aclrtServerPid]) -> Result<Vec<i32>> {
    let mut pids = Vec::new();
    for server in servers {
        let list = entries(
            server.pid.cast_const(),
            server.num,
            "serverPids->num",
            || {
                Fault::RtNull {
                    param: "serverPids->pid",
                }
                .into()
            },
        )?;
        pids.extend_from_slice(list);
    }
    Ok(pids)
}
