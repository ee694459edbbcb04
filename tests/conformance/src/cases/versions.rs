//! Versions of packages.

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
    ]
}
