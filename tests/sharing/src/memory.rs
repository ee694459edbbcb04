//! Short forms of the calls about memory.

use std::ffi::{CString, c_void};
use std::ptr::null_mut;

use cannery_abi::*;
use rand::rngs::SmallRng;
use rand::{RngCore as _, SeedableRng as _};

use crate::api::*;

pub(crate) use cannery_test_calls::memory::{device, download, upload};

/// Room for a key.
pub(crate) const KEY: usize = 65;

/// The same bytes for the same seed.
pub(crate) fn random(bytes: usize, seed: u64) -> Vec<u8> {
    let mut list = vec![0; bytes];
    SmallRng::seed_from_u64(seed).fill_bytes(&mut list);
    list
}

/// Device memory with random bytes.
pub(crate) fn filled(bytes: usize, seed: u64) -> *mut c_void {
    let block = device(bytes);
    upload(block, &random(bytes, seed));
    block
}

/// Whether device memory holds the bytes of a seed; else where it does not.
pub(crate) fn holds(at: *const c_void, bytes: usize, seed: u64) -> Result<(), String> {
    let (got, want) = (download(at, bytes), random(bytes, seed));
    match (0..bytes).find(|&i| got[i] != want[i]) {
        None => Ok(()),
        Some(i) => Err(format!(
            "byte {i} of {bytes} is {:#04x}, expected {:#04x}",
            got[i], want[i]
        )),
    }
}

/// Exports a block; its key.
pub(crate) fn export(block: *mut c_void, bytes: usize, flags: u64) -> Result<String, aclError> {
    let mut key = [0; KEY];
    match aclrtIpcMemGetExportKey(block, bytes, key.as_mut_ptr(), KEY, flags) {
        0 => Ok(key
            .iter()
            .take_while(|byte| **byte != 0)
            .map(|byte| char::from(byte.cast_unsigned()))
            .collect()),
        code => Err(code),
    }
}

/// Exports a block that can be exported.
pub(crate) fn exported(block: *mut c_void, bytes: usize, flags: u64) -> String {
    match export(block, bytes, flags) {
        Ok(key) => key,
        Err(code) => panic!("aclrtIpcMemGetExportKey answered {code}: {}", said()),
    }
}

fn c_key(key: &str) -> CString {
    CString::new(key).expect("a key without NUL")
}

/// Imports what a key names.
pub(crate) fn import(key: &str, flags: u64) -> Result<*mut c_void, aclError> {
    let mut block = null_mut();
    match aclrtIpcMemImportByKey(&raw mut block, c_key(key).as_ptr(), flags) {
        0 => Ok(block),
        code => Err(code),
    }
}

/// Ends an import or an export.
pub(crate) fn close(key: &str) -> aclError {
    aclrtIpcMemClose(c_key(key).as_ptr())
}

/// Lists processes that may import.
pub(crate) fn allow(key: &str, pids: &[i32]) -> aclError {
    let mut pids = pids.to_vec();
    aclrtIpcMemSetImportPid(c_key(key).as_ptr(), pids.as_mut_ptr(), pids.len())
}

/// Free bytes of the device.
pub(crate) fn free_bytes() -> usize {
    let (mut free, mut total) = (0, 0);
    let code = aclrtGetMemInfo(ACL_HBM_MEM, &raw mut free, &raw mut total);
    ok(code, "aclrtGetMemInfo");
    free
}
