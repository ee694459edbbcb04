//! Keeps a program from touching more device memory than the host has.
//!
//! Device memory is committed when it is touched, so 64 GiB of it fit on a laptop until they are
//! written. Before that would bring the system's out-of-memory killer, the call is refused. Each
//! thread may touch a certain number of bytes unasked; then the system is asked what is left.

use crate::error::{Error, Fault, Result};
use crate::os::{host, map};
use crate::thread::{self, Me};

/// Bytes a thread may touch between two looks at the system.
const ALLOWANCE: u64 = 256 << 20;
/// Left to everybody else.
const RESERVE: u64 = 256 << 20;

/// The caller is about to write `bytes` at the alias address `at`.
///
/// # Errors
/// 207001 when the host has not so much memory left.
#[inline(always)]
pub(crate) fn touch_by(me: Me, at: u64, bytes: u64) -> Result<()> {
    if me.spend_allowance(bytes) {
        Ok(())
    } else {
        ask(at, bytes)
    }
}

/// As [`touch_by`], where the thread is not at hand.
///
/// # Errors
/// As [`touch_by`].
pub(crate) fn touch(at: u64, bytes: u64) -> Result<()> {
    if thread::spend_allowance(bytes) {
        Ok(())
    } else {
        ask(at, bytes)
    }
}

#[cold]
fn ask(at: u64, bytes: u64) -> Result<()> {
    let Some(available) = host::available_memory() else {
        return Ok(());
    };
    let room = available.saturating_sub(RESERVE);
    if bytes > room {
        let fresh = bytes.saturating_sub(map::resident_bytes(at, bytes, room));
        if fresh > room {
            return Err(shortage(fresh, available));
        }
    }
    thread::grant_allowance(ALLOWANCE.min(room / 8));
    Ok(())
}

/// As [`touch`] for memory that is brought in at once, whatever was touched before.
pub(crate) fn commit(bytes: u64) -> Result<()> {
    /// Below that, no look at the system is worth its price.
    const SMALL: u64 = 64 << 20;
    if bytes < SMALL {
        return Ok(());
    }
    match host::available_memory() {
        Some(available) if bytes > available.saturating_sub(RESERVE) => {
            Err(shortage(bytes, available))
        }
        _ => Ok(()),
    }
}

/// As [`commit`] for memory that may be in part there already.
pub(crate) fn commit_rest(at: u64, bytes: u64) -> Result<()> {
    commit(bytes)
        .or_else(|_| commit(bytes.saturating_sub(map::resident_bytes(at, bytes, u64::MAX))))
}

/// There is no host memory for `asked` bytes, though there seemed to be.
pub(crate) fn none_for(asked: u64) -> Error {
    shortage(asked, host::available_memory().unwrap_or(0))
}

fn shortage(asked: u64, available: u64) -> Error {
    Fault::HostShortage {
        asked,
        cause: format!(
            "this machine has {available} bytes available; use smaller sizes, or a machine with more \
             memory (the emulated device keeps its bytes in host memory)"
        ),
    }
    .into()
}
