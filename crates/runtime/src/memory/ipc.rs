//! Manual chapter: IPC memory. A block of device memory for other processes, by a key.

use super::sharing::exports::About;
use super::sharing::key::Key;
use crate::error::{Error, Result};
use crate::process::{Here, here};

/// Bytes of a key with its end.
const KEY_BYTES: usize = 65;

fn check_flags(flags: u64) -> Result<()> {
    if flags <= 1 {
        return Ok(());
    }
    Err(Error::rt_value("flags", flags, "0 or 1"))
}

/// aclrtIpcMemGetExportKey: shares the first `size` bytes of the block that begins at `address`
/// with other processes of this user; its key. Contents and address stay. Each call gives a key of
/// its own. Flags 1: without a white list.
///
/// # Errors
/// 107000 for a size of 0 or beyond the block, room below 65 bytes, flags other than 0 and 1, and for
/// what is no block with pages of its own; 107002 without a context; 207001 when the system refuses.
pub fn export(address: u64, size: u64, len: usize, flags: u64) -> Result<String> {
    if size == 0 {
        return Err(Error::rt_value("byteCount", 0, "a size above 0"));
    }
    if len < KEY_BYTES {
        return Err(Error::rt_value(
            "len",
            len,
            format!("at least {KEY_BYTES} bytes"),
        ));
    }
    check_flags(flags)?;
    let runtime = here()?.runtime;
    let key = runtime
        .sharing
        .blocks
        .export(runtime, address, size, flags == 1)?;
    Ok(key.text())
}

fn not_exported(param: &'static str, key: &str) -> Error {
    Error::rt_cause(
        param,
        format!("\"{key}\""),
        "is no key that this process exports; take the key of aclrtIpcMemGetExportKey, before it is closed",
    )
}
