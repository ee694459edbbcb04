//! aclrtMemPoolSetAttr and aclrtMemPoolGetAttr.

use cannery_abi as abi;

use super::{Home, POOLS, UNIT};
use crate::error::{Error, Result};
use crate::process::current;

/// Checks that come before the value is looked at. Whether the value is 32 bits wide (else 64).
///
/// # Errors
/// 100000 for NULL; 107000 for what is no living pool; 507000 for attributes that pools do not have;
/// 207000 where the product has no pools.
pub fn check_attribute(handle: u64, attribute: i32, no_value: bool) -> Result<bool> {
    if handle == 0 {
        return Err(Error::null("memPool"));
    }
    if no_value {
        return Err(Error::null("value"));
    }
    current()?;
    if POOLS.find(handle).is_none() {
        return Err(unknown(handle));
    }
    match attribute {
        abi::ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES
        | abi::ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC
        | abi::ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES => Ok(true),
        abi::ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD
        | abi::ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT
        | abi::ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH
        | abi::ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT
        | abi::ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH => Ok(false),
        _ => Err(Error::sequence(
            abi::ACL_ERROR_RT_INTERNAL_ERROR,
            format!("argument attr is {attribute}, expected an attribute of pools, in [1, 8]"),
        )),
    }
}

#[cold]
fn unknown(handle: u64) -> Error {
    Error::rt_param(
        abi::ACL_ERROR_RT_PARAM_INVALID,
        "memPool",
        format!(
            "{handle:#x} is no living pool; destroyed already, its device was reset, or it never was \
             a pool"
        ),
    )
}

fn with<R>(handle: u64, act: impl FnOnce(&mut Home) -> Result<R>) -> Result<R> {
    let place = POOLS.find(handle).ok_or_else(|| unknown(handle))?;
    match &mut *place.home.lock() {
        Some(home) if home.handle == handle && !home.ended => act(home),
        _ => Err(unknown(handle)),
    }
}

/// aclrtMemPoolGetAttr, as a number; after [`check_attribute`].
///
/// # Errors
/// 107000 when the pool was destroyed meanwhile.
pub fn get_attribute(handle: u64, attribute: i32) -> Result<u64> {
    with(handle, |home| {
        let (rules, usage) = (home.pool.rules(), home.pool.usage());
        Ok(match attribute {
            abi::ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES => u64::from(rules.follow_events),
            abi::ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC => u64::from(rules.opportunistic),
            abi::ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES => {
                u64::from(rules.internal_waits)
            }
            abi::ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD => home.threshold_bytes,
            abi::ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT => usage.reserved * UNIT,
            abi::ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH => usage.reserved_high * UNIT,
            abi::ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT => usage.used * UNIT,
            _ => usage.used_high * UNIT,
        })
    })
}

/// aclrtMemPoolSetAttr, with the value as a number; after [`check_attribute`].
///
/// # Errors
/// 107000 for the current counts, for peaks set to anything but 0, and when the pool was destroyed
/// meanwhile; 507000 for a threshold above the size of the pool. Nothing changes then.
pub fn set_attribute(handle: u64, attribute: i32, value: u64) -> Result<()> {
    with(handle, |home| {
        let mut rules = home.pool.rules();
        match attribute {
            abi::ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES => {
                rules.follow_events = value != 0
            }
            abi::ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC => rules.opportunistic = value != 0,
            abi::ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES => {
                rules.internal_waits = value != 0;
            }
            abi::ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD => {
                let most = home.pool.limit() * UNIT;
                if value > most {
                    return Err(Error::sequence(
                        abi::ACL_ERROR_RT_INTERNAL_ERROR,
                        format!(
                            "argument value is {value}: a release threshold is at most the size of \
                             the pool, {most} bytes"
                        ),
                    ));
                }
                (home.threshold, home.threshold_bytes) = (value / UNIT, value);
            }
            abi::ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH
            | abi::ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH
                if value != 0 =>
            {
                return Err(Error::rt_cause(
                    "value",
                    value,
                    "peaks can only be set to 0",
                ));
            }
            abi::ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH => home.pool.clear_reserved_high(),
            abi::ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH => home.pool.clear_used_high(),
            _ => {
                return Err(Error::rt_cause(
                    "attr",
                    attribute,
                    "the current counts of a pool can only be read",
                ));
            }
        }
        home.pool.set_rules(rules);
        Ok(())
    })
}
