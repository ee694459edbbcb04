//! Versions of packages, features, data types.

use core::ffi::c_char;

use super::support::*;

fn text(bytes: &[c_char]) -> String {
    bytes
        .iter()
        .take_while(|c| **c != 0)
        .map(|c| char::from(*c as u8))
        .collect()
}

fn blank() -> aclCANNPackageVersion {
    aclCANNPackageVersion {
        version: [0x55; 128],
        majorVersion: [0x55; 64],
        minorVersion: [0x55; 64],
        releaseVersion: [0x55; 64],
        patchVersion: [0x55; 64],
        reserved: [0x55; 128],
    }
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.version.one_for_all_questions", Setup::fresh(), |t| {
            let mut number = -77;
            let mut buffer = [0x55 as c_char; 128];
            t.ok(
                aclsysGetVersionStr(c"runtime".as_ptr(), buffer.as_mut_ptr()),
                "aclsysGetVersionStr",
            );
            t.ok(
                aclsysGetVersionNum(c"runtime".as_ptr(), &raw mut number),
                "aclsysGetVersionNum",
            );
            let whole = text(&buffer);
            t.check(
                whole.starts_with("8.5."),
                &format!("{whole} is not of the 8.5 family"),
            );
            t.check(number > 0, "a number that is not positive");
            for package in [ACL_PKG_NAME_CANN, ACL_PKG_NAME_RUNTIME] {
                let mut version = blank();
                t.ok(
                    aclsysGetCANNVersion(package, &raw mut version),
                    "aclsysGetCANNVersion",
                );
                t.eq(text(&version.version), whole.clone(), "version");
                let parts = format!(
                    "{}.{}.{}",
                    text(&version.majorVersion),
                    text(&version.minorVersion),
                    text(&version.releaseVersion)
                );
                t.eq(parts, whole.clone(), "parts");
            }
        }),
        case(
            "x.version.packages_that_are_not_there",
            Setup::fresh(),
            |t| {
                let mut version = blank();
                for package in [
                    ACL_PKG_NAME_OPP,
                    ACL_PKG_NAME_OPP_KERNEL,
                    ACL_PKG_NAME_DRIVER,
                ] {
                    t.fails(
                        aclsysGetCANNVersion(package, &raw mut version),
                        ACL_ERROR_INVALID_FILE.into(),
                        "a package that is not installed",
                    );
                }
                t.eq(version.version, [0x55; 128], "output");
                let mut buffer = [0x55 as c_char; 128];
                for name in [c"ops_math", c"driver", c"", c"../runtime"] {
                    t.fails(
                        aclsysGetVersionStr(name.as_ptr(), buffer.as_mut_ptr()),
                        ACL_ERROR_INVALID_FILE.into(),
                        "a package that is not installed",
                    );
                }
                t.eq(buffer, [0x55; 128], "output");
            },
        ),
        case("x.version.arguments", Setup::fresh(), |t| {
            let mut version = blank();
            for name in [-1, 8] {
                t.fails_with(
                    aclsysGetCANNVersion(name, &raw mut version),
                    ERROR_FRONT,
                    "EH0007 param=name",
                    "an unknown package",
                );
            }
            let no_place = aclsysGetCANNVersion(0, null_mut());
            t.fails_with(no_place, ERROR_FRONT, "EH0008 param=version", "no place");
            let mut number = 0;
            let no_name = aclsysGetVersionNum(null(), &raw mut number);
            t.fails_with(no_name, ERROR_FRONT, "EH0008 param=pkgName", "no name");
            let no_place = aclsysGetVersionStr(c"runtime".as_ptr(), null_mut());
            t.fails_with(no_place, ERROR_FRONT, "EH0008 param=versionStr", "no place");
        }),
        case("x.feature.list_and_single_answers", Setup::fresh(), |t| {
            let mut list: *const aclCannAttr = null();
            let mut count = 77;
            t.ok(
                aclGetCannAttributeList(&raw mut list, &raw mut count),
                "aclGetCannAttributeList",
            );
            let listed = host_read(list.cast(), count * size_of::<aclCannAttr>());
            let listed: Vec<i32> = listed
                .chunks_exact(4)
                .map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                .collect();
            for attribute in 0..3 {
                let mut value = -77;
                t.ok(
                    aclGetCannAttribute(attribute, &raw mut value),
                    "aclGetCannAttribute",
                );
                t.eq(value == 1, listed.contains(&attribute), "listed");
                t.check((0..2).contains(&value), "neither 0 nor 1");
            }
            let mut value = -77;
            t.fails(
                aclGetCannAttribute(3, &raw mut value),
                ERROR_FRONT,
                "an unknown feature",
            );
            t.eq(value, -77, "output");
        }),
        case("x.data_type.sizes", Setup::fresh(), |t| {
            for (data_type, size) in [
                (ACL_FLOAT, 4),
                (ACL_FLOAT16, 2),
                (ACL_BF16, 2),
                (ACL_INT8, 1),
                (ACL_BOOL, 1),
                (ACL_INT64, 8),
                (ACL_DOUBLE, 8),
                (ACL_COMPLEX64, 8),
                (ACL_COMPLEX128, 16),
            ] {
                t.eq(aclDataTypeSize(data_type), size, "size of a type");
            }
            for data_type in [ACL_DT_UNDEFINED, ACL_STRING, ACL_INT4, 99] {
                t.eq(aclDataTypeSize(data_type), 0, "size of no whole bytes");
                t.check(recent_text().is_some(), "no text");
            }
        }),
        case("x.data_type.half", Setup::fresh(), |t| {
            t.eq(aclFloat16ToFloat(0x3c00), 1.0, "one");
            t.eq(aclFloat16ToFloat(0x7c00), 65536.0, "infinity is not kept");
            t.eq(aclFloat16ToFloat(0xfc00), -65536.0, "nor its negative");
            t.eq(aclFloat16ToFloat(0x7e00), 98304.0, "nor NaN");
            t.eq(aclFloat16ToFloat(1), (-24_f32).exp2(), "the smallest one");
            t.eq(aclFloatToFloat16(f32::NAN), 0x7bff, "NaN");
            t.eq(aclFloatToFloat16(f32::INFINITY), 0x7bff, "infinity");
            t.eq(aclFloatToFloat16(f32::NEG_INFINITY), 0xfbff, "its negative");
            t.eq(aclFloatToFloat16(65504.0), 0x7bff, "the largest one");
            for bits in (0..=u16::MAX).filter(|bits| bits & 0x7c00 != 0x7c00) {
                t.eq(
                    aclFloatToFloat16(aclFloat16ToFloat(bits)),
                    bits,
                    "there and back",
                );
            }
        }),
    ]
}
