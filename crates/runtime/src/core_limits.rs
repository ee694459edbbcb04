//! Limits of how many cores operators may use (manual chapter: runtime configuration): of a device for
//! this process, of a stream, and what holds for a thread. Nothing computes on cores here; the limits
//! are remembered, so that a program reads back what it set. How many cores the hardware has is not
//! stated anywhere: a limit that was never set is refused.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::{Error, Result};
use crate::process::{Runtime, current, here};
use crate::stream::manage::or_default;

/// Cube cores and vector cores.
const KINDS: usize = 2;
/// No limit was set. Nothing has so many cores.
const UNSET: u32 = u32::MAX;
const MOST_DEVICES: usize = 16;

/// A limit for each kind of core.
#[derive(Debug)]
pub(crate) struct CoreLimits([AtomicU32; KINDS]);

impl Default for CoreLimits {
    fn default() -> Self {
        Self::new()
    }
}

impl CoreLimits {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU32::new(UNSET) }; KINDS])
    }

    pub(crate) fn forget(&self) {
        for limit in &self.0 {
            limit.store(UNSET, Ordering::Relaxed);
        }
    }

    fn values(&self) -> [u32; KINDS] {
        [0, 1].map(|kind: usize| self.0[kind].load(Ordering::Relaxed))
    }
}

static OF_DEVICES: [CoreLimits; MOST_DEVICES] = [const { CoreLimits::new() }; MOST_DEVICES];

thread_local! {
    /// Limits of the stream that the thread uses, as they were when it said so.
    static USED: Cell<[u32; KINDS]> = const { Cell::new([UNSET; KINDS]) };
}

fn kind_of(kind: i32) -> Result<usize> {
    usize::try_from(kind)
        .ok()
        .filter(|kind| *kind < KINDS)
        .ok_or_else(|| Error::value("type", kind, "must be 0 (cube cores) or 1 (vector cores)"))
}

fn value_of(value: u32) -> Result<u32> {
    if value == UNSET {
        return Err(Error::rt_value("value", value, "a number of cores"));
    }
    Ok(value)
}

fn unknown(runtime: &Runtime, kind: usize) -> Error {
    Error::unsupported(format!(
        "no limit was set, and how many {} cores profile {} has is not known; Cannery invents no \
         hardware figures",
        ["cube", "vector"][kind],
        runtime.settings.profile.name
    ))
}

fn of_device(id: i32) -> Result<(&'static Runtime, &'static CoreLimits)> {
    let runtime = current()?;
    let index = runtime.device_index("deviceId", id)?;
    Ok((runtime, &OF_DEVICES[index]))
}

/// aclrtSetDeviceResLimit.
///
/// # Errors
/// 100000 for an unknown kind, 107001 for an id that does not exist, 107000 for a value that is no
/// number of cores.
pub fn set_of_device(id: i32, kind: i32, value: u32) -> Result<()> {
    let kind = kind_of(kind)?;
    let (_, limits) = of_device(id)?;
    limits.0[kind].store(value_of(value)?, Ordering::Relaxed);
    Ok(())
}

/// aclrtGetDeviceResLimit.
///
/// # Errors
/// 100000 for an unknown kind, 107001 for an id that does not exist, 207000 where none was set.
pub fn get_of_device(id: i32, kind: i32) -> Result<u32> {
    let kind = kind_of(kind)?;
    let (runtime, limits) = of_device(id)?;
    set_one([limits.values()[kind]]).ok_or_else(|| unknown(runtime, kind))
}

/// aclrtResetDeviceResLimit.
///
/// # Errors
/// 107001 for an id that does not exist.
pub fn reset_of_device(id: i32) -> Result<()> {
    of_device(id)?.1.forget();
    Ok(())
}

/// aclrtSetStreamResLimit.
///
/// # Errors
/// 100000 for an unknown kind; 107017; 107002; 107000 for a value that is no number of cores.
pub fn set_of_stream(stream: u64, kind: i32, value: u32) -> Result<()> {
    let kind = kind_of(kind)?;
    let stream = or_default(stream)?;
    stream.core_limits.0[kind].store(value_of(value)?, Ordering::Relaxed);
    Ok(())
}

/// aclrtGetStreamResLimit: of the stream, else of the device.
///
/// # Errors
/// 100000 for an unknown kind; 107017; 107002; 207000 where none was set.
pub fn get_of_stream(stream: u64, kind: i32) -> Result<u32> {
    let kind = kind_of(kind)?;
    let limits = or_default(stream)?.core_limits.values();
    let here = here()?;
    let device = OF_DEVICES[here.context.device_index()].values();
    set_one([limits[kind], device[kind]]).ok_or_else(|| unknown(here.runtime, kind))
}

/// aclrtResetStreamResLimit.
///
/// # Errors
/// 107017; 107002.
pub fn reset_of_stream(stream: u64) -> Result<()> {
    or_default(stream)?.core_limits.forget();
    Ok(())
}

/// aclrtUseStreamResInCurrentThread: the limits of the stream hold for the thread; the last call wins.
///
/// # Errors
/// 107017; 107002; 107000 for a stream without limits.
pub fn use_in_thread(stream: u64) -> Result<()> {
    let limits = or_default(stream)?.core_limits.values();
    if limits == [UNSET; KINDS] {
        return Err(Error::rt_cause(
            "stream",
            format!("{stream:#x}"),
            "no limit was set on it; call aclrtSetStreamResLimit first",
        ));
    }
    USED.set(limits);
    Ok(())
}

/// aclrtUnuseStreamResInCurrentThread.
///
/// # Errors
/// 107017; 107002.
pub fn unuse_in_thread(stream: u64) -> Result<()> {
    or_default(stream)?;
    USED.set([UNSET; KINDS]);
    Ok(())
}

/// aclrtGetResInCurrentThread: of the stream in use, else of the device.
///
/// # Errors
/// 100000 for an unknown kind; 107002; 207000 where none was set.
pub fn in_thread(kind: i32) -> Result<u32> {
    let kind = kind_of(kind)?;
    let here = here()?;
    let device = OF_DEVICES[here.context.device_index()].values();
    set_one([USED.get()[kind], device[kind]]).ok_or_else(|| unknown(here.runtime, kind))
}

/// The first limit that was set.
fn set_one<const N: usize>(limits: [u32; N]) -> Option<u32> {
    limits.into_iter().find(|limit| *limit != UNSET)
}
