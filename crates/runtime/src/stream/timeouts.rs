//! Manual chapter: execution control; timeouts of the process. The last call wins.
//!
//! * The **wait timeout** ends waits for events: it holds for aclrtStreamWaitEvent calls that come
//!   after it, not for waits that name a timeout of their own.
//! * The **operator timeout** would end operators. There are none yet, so nothing runs into it: it is
//!   checked, remembered and read back. Products round it up to a multiple of an interval; no source
//!   states the interval, so nothing is rounded here, and what follows from it is refused (207000):
//!   the interval itself, and the maximum of the products whose maximum is a multiple of it.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::event;
use crate::error::{Error, Result};
use crate::process::current;

/// Seconds; 0: none.
static WAIT: AtomicU32 = AtomicU32::new(0);
/// Microseconds, [`MAXIMUM`] or [`NEVER_SET`].
static OPERATOR: AtomicU64 = AtomicU64::new(NEVER_SET);

const MAXIMUM: u64 = 0;
const NEVER_SET: u64 = u64::MAX;
const SECOND: u64 = 1_000_000;

/// What is stated of the operator timeout of a product (of its AI Core), in microseconds.
struct Facts {
    profile: &'static str,
    default: Option<u64>,
    maximum: Option<u64>,
}

fn facts() -> Result<Facts> {
    let profile = current()?.settings.profile.name;
    let (default, maximum) = match profile {
        "950" | "A3" | "910B" => (Some(1091), None),
        "310B" => (Some(1091), Some(1091)),
        "310P" => (Some(547), Some(547)),
        "910" => (Some(68), Some(2176)),
        _ => (None, None),
    };
    let micros = |seconds: Option<u64>| seconds.map(|seconds| seconds * SECOND);
    Ok(Facts {
        profile,
        default: micros(default),
        maximum: micros(maximum),
    })
}

/// aclrtSetOpWaitTimeout: seconds, 0 for none. A wait that takes longer, counted from its submission,
/// is given up: the stream goes on, and the next synchronisation answers 107020.
///
/// # Errors
/// 207000 where the product lacks it.
pub fn set_wait(seconds: u32) -> Result<()> {
    current()?;
    WAIT.store(seconds, Ordering::Relaxed);
    Ok(())
}

/// aclrtStreamWaitEvent: a wait with the timeout of [`set_wait`].
///
/// # Errors
/// As [`event::stream_wait`].
pub fn stream_wait_event(stream: u64, event: u64) -> Result<()> {
    event::stream_wait(stream, event, WAIT.load(Ordering::Relaxed), None)
}

/// aclrtSetOpExecuteTimeOut: seconds, 0 for the maximum.
///
/// # Errors
/// 207000 above the maximum of the product, where that is stated: what happens then is not.
pub fn set_operator_seconds(seconds: u32) -> Result<()> {
    set_operator(u64::from(seconds) * SECOND, seconds, "seconds")
}

/// aclrtSetOpExecuteTimeOutWithMs: milliseconds, 0 for the maximum. No product has it.
///
/// # Errors
/// 207000.
pub fn set_operator_milliseconds(milliseconds: u32) -> Result<()> {
    set_operator(u64::from(milliseconds) * 1000, milliseconds, "milliseconds")
}

fn set_operator(micros: u64, asked: u32, unit: &str) -> Result<()> {
    let Facts {
        profile, maximum, ..
    } = facts()?;
    if let Some(maximum) = maximum
        && micros > maximum
    {
        return Err(above(profile, format!("{asked} {unit}"), maximum));
    }
    OPERATOR.store(micros, Ordering::Relaxed);
    Ok(())
}

fn above(profile: &str, asked: String, maximum: u64) -> Error {
    Error::unsupported(format!(
        "a timeout of {asked} is above the maximum of profile {profile}, {} seconds; what happens then \
         is not stated anywhere",
        maximum / SECOND
    ))
}

fn unknown_maximum(profile: &str) -> Error {
    Error::unsupported(format!(
        "the maximum of profile {profile} is 254 times its interval, which is not stated anywhere"
    ))
}

/// aclrtSetOpExecuteTimeOutV2: microseconds, 0 for the maximum. Returns the timeout in force.
///
/// # Errors
/// 207000 above the maximum of the product, and for a maximum that is not stated; nothing changes
/// then.
pub fn set_operator_micros(micros: u64) -> Result<u64> {
    let Facts {
        profile, maximum, ..
    } = facts()?;
    let in_force = match (micros, maximum) {
        (MAXIMUM, Some(maximum)) => maximum,
        (MAXIMUM, None) => return Err(unknown_maximum(profile)),
        (_, Some(maximum)) if micros > maximum => {
            return Err(above(profile, format!("{micros} microseconds"), maximum));
        }
        // Indistinguishable from "never set", and no product can have it.
        (NEVER_SET, None) => return Err(unknown_maximum(profile)),
        _ => micros,
    };
    OPERATOR.store(micros, Ordering::Relaxed);
    Ok(in_force)
}

/// aclrtGetOpExecuteTimeout: milliseconds, rounded up; the default of the product when it was never
/// set.
///
/// # Errors
/// 207000 when the figure is not stated anywhere, or does not fit.
pub fn operator_milliseconds() -> Result<u32> {
    let Facts {
        profile,
        default,
        maximum,
    } = facts()?;
    let micros = match OPERATOR.load(Ordering::Relaxed) {
        NEVER_SET => default.ok_or_else(|| {
            Error::unsupported(format!(
                "the default of profile {profile} is not stated anywhere"
            ))
        })?,
        MAXIMUM => maximum.ok_or_else(|| unknown_maximum(profile))?,
        micros => micros,
    };
    u32::try_from(micros.div_ceil(1000)).map_err(|_| {
        Error::unsupported(format!(
            "the timeout of {micros} microseconds does not fit 32 bits of milliseconds"
        ))
    })
}

/// aclrtGetOpTimeOutInterval.
///
/// # Errors
/// 207000: no source states it for any product.
pub fn operator_interval() -> Result<u64> {
    let Facts { profile, .. } = facts()?;
    Err(Error::unsupported(format!(
        "the interval of operator timeouts of profile {profile} is not stated anywhere"
    )))
}

/// In a forked child: nothing was set.
pub(crate) fn forget() {
    WAIT.store(0, Ordering::Relaxed);
    OPERATOR.store(NEVER_SET, Ordering::Relaxed);
}
