//! Manual chapter: other functions. What the toolkit around the runtime can do (nothing here computes),
//! options of the operator compiler, and plain facts about data types.

use std::collections::BTreeMap;
use std::sync::Mutex;

use cannery_abi as abi;

use crate::error::{Error, Fault, Result};
use crate::half;
use crate::patient;
use crate::process::current;

/// aclGetCannAttribute: 1 when the feature is there. They are features of operators, of which there are
/// none: always 0.
///
/// # Errors
/// 100000 for an unknown feature.
pub fn attribute(feature: i32) -> Result<i32> {
    if !(abi::ACL_CANN_ATTR_INF_NAN..=abi::ACL_CANN_ATTR_JIT_COMPILE).contains(&feature) {
        return Err(Error::value(
            "cannAttr",
            feature,
            "must be in [0, 2] (aclCannAttr)",
        ));
    }
    current()?;
    Ok(0)
}

/// aclGetCannAttributeList: the features that are there: none.
///
/// # Errors
/// Bad settings.
pub fn attributes() -> Result<&'static [i32]> {
    current()?;
    Ok(&[])
}

/// The option that chooses whether operators are compiled when they are first used.
const JIT_COMPILE: i32 = 10;
/// Options that are known to exist are not above this.
const MOST_OPTIONS: i32 = 64;

static OPTIONS: Mutex<BTreeMap<i32, String>> = Mutex::new(BTreeMap::new());

fn check_option(option: i32) -> Result<()> {
    if (0..MOST_OPTIONS).contains(&option) {
        return Ok(());
    }
    Err(Error::value(
        "opt",
        option,
        format!("must be in [0, {MOST_OPTIONS})"),
    ))
}

/// aclSetCompileopt: remembered; nothing compiles.
///
/// # Errors
/// 100000 for an option outside 0 to 63.
pub fn set_compile_option(option: i32, value: &str) -> Result<()> {
    check_option(option)?;
    current()?;
    let mut options = patient::lock(&OPTIONS).ok_or(Fault::Forked)?;
    options.insert(option, value.to_owned());
    Ok(())
}

/// aclGetCompileopt: what was set; for the option 10 (compile when first used) else "disable".
///
/// # Errors
/// 100000 for an option outside 0 to 63, and for one that was never set.
pub fn compile_option(option: i32) -> Result<String> {
    check_option(option)?;
    current()?;
    let options = patient::lock(&OPTIONS).ok_or(Fault::Forked)?;
    match options.get(&option) {
        Some(value) => Ok(value.clone()),
        None if option == JIT_COMPILE => Ok("disable".to_owned()),
        None => Err(Error::cause(
            "opt",
            option,
            "was never set and has no default here; set it with aclSetCompileopt",
        )),
    }
}

/// aclDataTypeSize, in bytes.
///
/// # Errors
/// 100000 for types that have no whole number of bytes, and for unknown ones.
pub fn data_type_size(data_type: i32) -> Result<u64> {
    let size = match data_type {
        abi::ACL_INT8
        | abi::ACL_UINT8
        | abi::ACL_BOOL
        | abi::ACL_HIFLOAT8
        | abi::ACL_FLOAT8_E5M2
        | abi::ACL_FLOAT8_E4M3FN
        | abi::ACL_FLOAT8_E8M0 => 1,
        abi::ACL_FLOAT16 | abi::ACL_BF16 | abi::ACL_INT16 | abi::ACL_UINT16 => 2,
        abi::ACL_FLOAT | abi::ACL_INT32 | abi::ACL_UINT32 | abi::ACL_COMPLEX32 => 4,
        abi::ACL_DOUBLE | abi::ACL_INT64 | abi::ACL_UINT64 | abi::ACL_COMPLEX64 => 8,
        abi::ACL_COMPLEX128 => 16,
        _ => {
            return Err(Error::cause(
                "dataType",
                data_type,
                "has no size of whole bytes (strings, types below 8 bits, unknown types)",
            ));
        }
    };
    current()?;
    Ok(size)
}

/// aclFloat16ToFloat. The largest exponent is an ordinary one: 0x7C00 is 65536.
///
/// # Errors
/// 207000 where the product lacks it.
pub fn from_half(bits: u16) -> Result<f32> {
    current()?;
    if bits & 0x7c00 != 0x7c00 {
        return Ok(half::from_f16(bits));
    }
    let magnitude = 65536.0 * (1.0 + f32::from(bits & 0x3ff) / 1024.0);
    Ok(if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    })
}

/// aclFloatToFloat16: to the nearest; what is too large, and NaN, becomes the largest number.
///
/// # Errors
/// As [`from_half`].
pub fn to_half(value: f32) -> Result<u16> {
    current()?;
    if value.is_nan() {
        return Ok(0x7bff);
    }
    let bits = half::to_f16(value);
    Ok(if bits & 0x7fff >= 0x7c00 {
        bits & 0x8000 | 0x7bff
    } else {
        bits
    })
}
