//! Options of the process (manual chapter: runtime configuration). They are about operators; each is
//! remembered as it was set.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::context::OPTIONS;
use crate::error::Result;
use crate::manage::option_index;
use crate::process::current;

/// What the manual says of an option that was never set.
const OFF: i64 = 0;

static VALUES: [AtomicI64; OPTIONS] = [const { AtomicI64::new(OFF) }; OPTIONS];

/// aclrtSetSysParamOpt: for the whole process. Options of a context (aclrtCtxSetSysParamOpt) are kept
/// apart.
///
/// # Errors
/// 100000 for an unknown option, 207000 where the product lacks it.
pub fn set(option: i32, value: i64) -> Result<()> {
    let index = option_index(option)?;
    current()?;
    VALUES[index].store(value, Ordering::Relaxed);
    Ok(())
}

/// aclrtGetSysParamOpt: 0 (off) until it was set.
///
/// # Errors
/// As [`set`].
pub fn get(option: i32) -> Result<i64> {
    let index = option_index(option)?;
    current()?;
    Ok(VALUES[index].load(Ordering::Relaxed))
}
