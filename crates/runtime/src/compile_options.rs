//! Options of the operator compiler. There is no compiler; programs set options at their start and
//! read back how operators are found, so they are remembered.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::process::current;

/// ACL_OP_JIT_COMPILE: whether operators are compiled when they are first called.
const JIT_COMPILE: i32 = 10;
/// Its value until a program sets another: operators come from libraries.
const JIT_DEFAULT: &str = "disable";
/// Values are short words and lists of paths.
const LONGEST: usize = 64 * 1024;

static SET: Mutex<BTreeMap<i32, String>> = Mutex::new(BTreeMap::new());

fn check(option: i32) -> Result<()> {
    current()?;
    if (0..256).contains(&option) {
        Ok(())
    } else {
        Err(Error::value("opt", option, "must be in [0, 255]"))
    }
}

/// aclSetCompileopt.
///
/// # Errors
/// 100000 without a value, for options that cannot exist, and for values above 64 KiB.
pub fn set(option: i32, value: Option<&str>) -> Result<()> {
    let Some(value) = value else {
        return Err(Error::null("value"));
    };
    check(option)?;
    if value.len() > LONGEST {
        return Err(Error::cause(
            "value",
            format!("of {} bytes", value.len()),
            format!("at most {LONGEST} bytes are kept"),
        ));
    }
    let mut set = SET.lock().unwrap_or_else(|held| held.into_inner());
    set.insert(option, value.to_owned());
    Ok(())
}

/// The value that was set. ACL_OP_JIT_COMPILE (10) is "disable" until then.
///
/// # Errors
/// 100000 for options that cannot exist, 207000 for one that was never set: the compiler, whose
/// default it would be, is not part of Cannery.
pub fn get(option: i32) -> Result<String> {
    check(option)?;
    let set = SET.lock().unwrap_or_else(|held| held.into_inner());
    match set.get(&option) {
        Some(value) => Ok(value.clone()),
        None if option == JIT_COMPILE => Ok(JIT_DEFAULT.to_owned()),
        None => Err(Error::unsupported(format!(
            "option {option} was never set, and its default is the operator compiler's: Cannery runs \
             memory, not operators; call aclSetCompileopt first"
        ))),
    }
}

/// aclGetCompileoptSize: bytes of the value with the byte that ends it.
///
/// # Errors
/// As [`get`].
pub fn size(option: i32) -> Result<u64> {
    get(option).map(|value| value.len() as u64 + 1)
}

/// aclGetCompileopt: writes the value and the byte that ends it.
///
/// # Errors
/// 100000 without `out` and where it is too small; as [`get`].
pub fn read(option: i32, out: Option<&mut [u8]>) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("value"));
    };
    let value = get(option)?;
    let len = out.len();
    let Some(place) = out.get_mut(..=value.len()) else {
        return Err(Error::value(
            "length",
            len,
            format!(
                "must be at least {} (aclGetCompileoptSize)",
                value.len() + 1
            ),
        ));
    };
    place[..value.len()].copy_from_slice(value.as_bytes());
    place[value.len()] = 0;
    Ok(())
}
