//! Data types as numbers of the interface: their size, and half precision by its own rules (manual
//! chapter: other functions).

use cannery_abi as abi;

use crate::error::{Error, Result};
use crate::half;

/// Largest finite half, in bits.
const LARGEST: u16 = 0x7bff;
const SIGN: u16 = 0x8000;

/// aclDataTypeSize: bytes of one element.
///
/// # Errors
/// 100000 for an unknown type; 207000 for one whose elements are no whole bytes (strings, and types of
/// 1, 4 and 6 bits).
pub fn size(data_type: i32) -> Result<u64> {
    Ok(match data_type {
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
        abi::ACL_STRING
        | abi::ACL_INT4
        | abi::ACL_UINT1
        | abi::ACL_FLOAT6_E3M2
        | abi::ACL_FLOAT6_E2M3
        | abi::ACL_FLOAT4_E2M1
        | abi::ACL_FLOAT4_E1M2 => {
            return Err(Error::unsupported(format!(
                "elements of data type {data_type} are no whole number of bytes"
            )));
        }
        _ => {
            return Err(Error::value(
                "dataType",
                data_type,
                "must be a type of aclDataType",
            ));
        }
    })
}

/// aclFloat16ToFloat. Infinity and NaN are not kept: the exponent 31 counts like any other, so that
/// 0x7C00 is 65536.
#[must_use]
pub fn from_half(bits: u16) -> f32 {
    if bits & 0x7c00 != 0x7c00 {
        return half::from_f16(bits);
    }
    let magnitude = (1.0 + f32::from(bits & 0x3ff) / 1024.0) * 65536.0;
    if bits & SIGN == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// aclFloatToFloat16: to the nearest, ties to even; what is too large becomes the largest finite number
/// of its sign, NaN the positive one.
#[must_use]
pub fn to_half(value: f32) -> u16 {
    if value.is_nan() {
        return LARGEST;
    }
    match half::to_f16(value) {
        bits if bits & !SIGN > LARGEST => bits & SIGN | LARGEST,
        bits => bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_values() {
        assert_eq!(from_half(0x7c00), 65536.0);
        assert_eq!(from_half(0xfc00), -65536.0);
        assert_eq!(from_half(0x7e00), 98304.0);
        assert_eq!(to_half(f32::NAN), 0x7bff);
        assert_eq!(to_half(-f32::NAN), 0x7bff);
        assert_eq!(to_half(f32::INFINITY), 0x7bff);
        assert_eq!(to_half(f32::NEG_INFINITY), 0xfbff);
        assert_eq!(to_half(65520.0), 0x7bff);
        assert_eq!(to_half(-1e30), 0xfbff);
    }

    #[test]
    fn every_finite_half_comes_back() {
        for bits in (0..=u16::MAX).filter(|bits| bits & 0x7c00 != 0x7c00) {
            assert_eq!(to_half(from_half(bits)), bits);
        }
    }
}
