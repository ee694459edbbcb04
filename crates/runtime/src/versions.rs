//! Versions of the packages of the toolkit that Cannery stands in for (manual chapter: other
//! functions). One version, fixed: programs choose calls by it, and these are the calls that exist here.

use cannery_abi as abi;

use crate::error::{Error, Fault, Result};
use crate::process::current;

/// Major, minor, patch.
const VERSION: [u32; 3] = [8, 5, 0];

/// Packages by number and by directory name; `None`: no directory of that name.
const PACKAGES: &[(i32, &str)] = &[
    (abi::ACL_PKG_NAME_CANN, "CANN"),
    (abi::ACL_PKG_NAME_RUNTIME, "runtime"),
    (abi::ACL_PKG_NAME_COMPILER, "compiler"),
    (abi::ACL_PKG_NAME_HCCL, "hccl"),
    (abi::ACL_PKG_NAME_TOOLKIT, "toolkit"),
    (abi::ACL_PKG_NAME_OPP, "opp"),
    (abi::ACL_PKG_NAME_OPP_KERNEL, "opp_kernel"),
    (abi::ACL_PKG_NAME_DRIVER, "driver"),
];

/// The whole and the one package of it that Cannery is.
const INSTALLED: [&str; 2] = ["CANN", "runtime"];

fn text() -> String {
    let [major, minor, patch] = VERSION;
    format!("{major}.{minor}.{patch}")
}

fn installed(package: &str) -> Result<()> {
    if INSTALLED.contains(&package) {
        return Ok(());
    }
    Err(Fault::File {
        code: abi::ACL_ERROR_INVALID_FILE,
        message: "EH0003",
        path: format!("share/info/{package}/version.info"),
        cause: format!(
            "package {package:?} is not installed; Cannery is the runtime package, and tells the \
             version of runtime and CANN"
        ),
    }
    .into())
}

/// aclsysGetCANNVersion.
///
/// # Errors
/// 100000 without `out` and for an unknown package; 100003 for a package that is not there: operators,
/// compiler, driver.
pub fn package(name: i32, out: Option<&mut abi::aclCANNPackageVersion>) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("version"));
    };
    let Some((_, package)) = PACKAGES.iter().find(|(number, _)| *number == name) else {
        return Err(Error::value("name", name, "must be in [0, 7]"));
    };
    current()?;
    installed(package)?;
    let [major, minor, patch] = VERSION;
    write(&mut out.version, &text());
    write(&mut out.majorVersion, &major.to_string());
    write(&mut out.minorVersion, &minor.to_string());
    // The third number has two names in the structure.
    write(&mut out.releaseVersion, &patch.to_string());
    write(&mut out.patchVersion, &patch.to_string());
    out.reserved.fill(0);
    Ok(())
}

fn write(place: &mut [core::ffi::c_char], text: &str) {
    place.fill(0);
    for (to, from) in place.iter_mut().zip(text.bytes()) {
        *to = from.cast_signed() as core::ffi::c_char;
    }
}

/// aclsysGetVersionStr: the text, of at most 127 bytes.
///
/// # Errors
/// 100000 without a name; 100003 for a package that is not there.
pub fn package_text(name: Option<&str>) -> Result<String> {
    let Some(name) = name else {
        return Err(Error::null("pkgName"));
    };
    current()?;
    installed(name)?;
    Ok(text())
}

/// aclsysGetVersionNum: a number that grows with the version. Two digits for each part and two for the
/// stage, 99 for a release.
///
/// # Errors
/// As [`package_text`].
pub fn package_number(name: Option<&str>) -> Result<i32> {
    package_text(name)?;
    let [major, minor, patch] = VERSION.map(u32::cast_signed);
    Ok(((major * 100 + minor) * 100 + patch) * 100 + 99)
}
