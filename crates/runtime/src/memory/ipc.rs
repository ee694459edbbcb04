//! Manual chapter: IPC memory. A block of device memory for other processes, by a key.

use cannery_abi as abi;

use super::sharing::exports::About;
use super::sharing::key::Key;
use crate::error::{Error, Result};
use crate::process::{Here, Runtime, here};

/// Bytes of a key with its end.
const KEY_BYTES: usize = 65;

/// Whether a key has room in `len` bytes; those of notifies are as long.
pub(crate) fn check_room(len: usize) -> Result<()> {
    if len < KEY_BYTES {
        return Err(Error::rt_value(
            "len",
            len,
            format!("at least {KEY_BYTES} bytes"),
        ));
    }
    Ok(())
}

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
    check_room(len)?;
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

/// The key, if this process exports it.
fn own_key(runtime: &Runtime, param: &'static str, text: &str) -> Result<Key> {
    Key::from_text(text)
        .filter(|key| runtime.sharing.exports.has(key))
        .ok_or_else(|| not_exported(param, text))
}

/// aclrtIpcMemSetImportPid: lets these processes import the memory of a key.
///
/// # Errors
/// 107000 for no pids, and for what this process does not export; 107002 without a context.
pub fn allow(text: &str, pids: &[i32]) -> Result<()> {
    if pids.is_empty() {
        return Err(Error::rt_value("num", 0, "a number above 0"));
    }
    list(text, pids)
}

fn list(text: &str, pids: &[i32]) -> Result<()> {
    let runtime = here()?.runtime;
    let key = own_key(runtime, "key", text)?;
    if runtime.sharing.exports.allow(&key, pids) {
        Ok(())
    } else {
        Err(not_exported("key", text))
    }
}

/// aclrtIpcMemImportPidInterServer: as [`allow`], for processes of other servers. There is one
/// server here, so their ids are those of processes of this machine.
///
/// # Errors
/// As [`allow`]; 207000 for a product other than A3.
pub fn allow_servers(text: &str, pids: &[i32]) -> Result<()> {
    list(text, pids)
}

/// aclrtIpcMemSetAttr: which link importers use. There is one kind of link here: the value is checked.
///
/// # Errors
/// 107000 for a type other than 0, an unknown link, and what this process does not export; 107002
/// without a context; 207000 for a product other than A3.
pub fn set_attribute(text: &str, kind: i32, value: u64) -> Result<()> {
    if kind != abi::ACL_RT_IPC_MEM_ATTR_ACCESS_LINK {
        return Err(Error::rt_value("type", kind, "0 (ACCESS_LINK)"));
    }
    let links = 0..=abi::ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS as u64;
    if !links.contains(&value) {
        return Err(Error::rt_value("attr", value, "0 (SIO) or 1 (HCCS)"));
    }
    let runtime = here()?.runtime;
    own_key(runtime, "name", text).map(|_| ())
}

/// aclrtIpcMemImportByKey: the memory of a key at an address of this process, on the device of the
/// caller's context. Each import has an address of its own. Flags 1: enables the access to the
/// exporter's device that is needed.
///
/// # Errors
/// 107000 for flags other than 0 and 1, unknown and closed keys, keys of processes that have ended,
/// keys whose list lacks this process, and devices without access to each other; 107002 without a
/// context; 207001 when there is no room.
pub fn import(text: &str, flags: u64) -> Result<u64> {
    check_flags(flags)?;
    let here = here()?;
    let refuse = |why: String| Error::rt_cause("key", format!("\"{text}\""), why);
    let key = Key::from_text(text)
        .ok_or_else(|| refuse("is no key that a process of this machine exported".to_owned()))?;
    let (about, memory) = here
        .runtime
        .sharing
        .fetch(&key)
        .map_err(|refusal| refuse(refusal.explain(&key, "aclrtIpcMemSetImportPid")))?;
    check_devices(&here, &about, flags == 1)?;
    let device = here.device().index();
    here.runtime
        .sharing
        .imports
        .attach(here.runtime, &key, &memory, &about, device)
}

/// Whether the caller's device may use memory of the exporter's device.
fn check_devices(here: &Here, about: &About, enable: bool) -> Result<()> {
    let (own, runtime) = (here.device(), here.runtime);
    if about.device == own.physical() || !runtime.settings.profile.peer_access_needed {
        return Ok(());
    }
    let peer = runtime
        .devices
        .iter()
        .find(|device| device.physical() == about.device);
    match peer {
        _ if enable => {
            if let Some(peer) = peer {
                own.set_access(peer.index(), true);
            }
            Ok(())
        }
        Some(peer) if own.may_access(peer.index()) => Ok(()),
        Some(peer) => Err(Error::rt_cause(
            "flags",
            0,
            format!(
                "the memory is on device {}, and access from device {} is not enabled; call \
                 aclrtDeviceEnablePeerAccess({}, 0) first, or import with flags 1",
                peer.index(),
                own.index(),
                peer.index()
            ),
        )),
        None => Err(Error::rt_cause(
            "flags",
            0,
            format!(
                "the memory is on device {} of the machine, which this process does not see; import with \
                 flags 1",
                about.device
            ),
        )),
    }
}

/// aclrtIpcMemClose: ends the oldest import of a key in this process; without one, its export here.
/// Then nobody can import it any more; who has imported it keeps it.
///
/// # Errors
/// 107000 for what is neither imported nor exported here; 107002 without a context.
pub fn close(text: &str) -> Result<()> {
    let runtime = here()?.runtime;
    let unknown = || {
        Error::rt_cause(
            "key",
            format!("\"{text}\""),
            "is neither imported nor exported by this process; closed already?",
        )
    };
    let key = Key::from_text(text).ok_or_else(unknown)?;
    if runtime.sharing.imports.detach_oldest(runtime, &key) {
        return Ok(());
    }
    let address = runtime.sharing.exports.withdraw(&key).ok_or_else(unknown)?;
    runtime.sharing.blocks.forget(&key, address);
    Ok(())
}
