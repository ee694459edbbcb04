//! Start and end of the runtime, versions, capabilities, numbers and the log.

use std::ffi::CString;

use cannery_abi::{aclCANNPackageVersion, aclCannAttr};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::c_api::{app_log, c_api};
use crate::calls::calls;
use crate::convert::{Bits16, Bits32, Int, OptionalText, Single, Text};
use crate::outputs::text_in;

/// Room for a version text; the manual suggests 128 bytes.
const VERSION_SIZE: usize = 1024;

calls! {
    also [
        init, finalize, finalize_reference, get_version_str, get_cann_version, get_cann_attribute_list,
        float_to_float16, app_log_line,
    ];

    /// msg = get_recent_err_msg(): the pending error texts of this thread, newest first, or None.
    ///
    /// Reading clears them.
    fn get_recent_err_msg() -> [*const std::ffi::c_char] = aclGetRecentErrMsg();

    /// major_version, minor_version, patch_version, ret = get_version(): the interface version.
    fn get_version() -> (major_version: i32, minor_version: i32, patch_version: i32) = aclrtGetVersion(
        &raw mut major_version,
        &raw mut minor_version,
        &raw mut patch_version,
    );

    /// soc_name = get_soc_name(): the name of the chip, or None.
    fn get_soc_name() -> [*const std::ffi::c_char] = aclrtGetSocName();

    /// value, ret = get_cann_attribute(cann_attr): whether a feature exists.
    fn get_cann_attribute(cann_attr: Int) -> (value: i32) = aclGetCannAttribute(cann_attr, &raw mut value);

    /// value, ret = get_device_capability(device_id, device_info): a hardware size.
    ///
    /// `acl.rt.get_device_capability` is another function.
    fn get_device_capability(device_id: Bits32, device_info: Int) -> (value: i64) = aclGetDeviceCapability(
        device_id,
        device_info,
        &raw mut value,
    );

    /// size = data_type_size(data_type): bytes of one element.
    fn data_type_size(data_type: Int) -> [usize] = aclDataTypeSize(data_type);

    /// output = float16_to_float(value): the number with these 16 bits.
    fn float16_to_float(value: Bits16) -> [f32] = aclFloat16ToFloat(value);
}

/// ret = init() or init(config_path): start the runtime.
///
/// A second call returns 100002, which programs may ignore.
#[pyfunction]
#[pyo3(signature = (config_path = OptionalText::default(), /), text_signature = "(config_path=..., /)")]
fn init(py: Python<'_>, config_path: OptionalText) -> i32 {
    py.detach(move || {
        let path = config_path
            .0
            .as_ref()
            .map_or(std::ptr::null(), |path| path.as_ptr());
        // SAFETY: null or a terminated path that outlives the call.
        unsafe { (c_api().aclInit)(path) }
    })
}

/// ret = finalize(): end the runtime, however often it was initialised.
///
/// Arguments are ignored.
#[pyfunction]
#[pyo3(signature = (*_ignored), text_signature = "()")]
fn finalize(py: Python<'_>, _ignored: &Bound<'_, PyTuple>) -> i32 {
    // SAFETY: no arguments.
    py.detach(|| unsafe { (c_api().aclFinalize)() })
}

/// ref_count, ret = finalize_reference(): undo one init; the last one ends the runtime.
#[pyfunction]
fn finalize_reference(py: Python<'_>) -> (u64, i32) {
    py.detach(|| {
        let mut ref_count = 0_u64;
        // SAFETY: a valid output.
        let ret = unsafe { (c_api().aclFinalizeReference)(&raw mut ref_count) };
        (ref_count, ret)
    })
}

/// version_str, ret = get_version_str(pkg_name): the version of an installed package.
#[pyfunction]
#[pyo3(signature = (pkg_name, /))]
fn get_version_str(pkg_name: Text) -> (String, i32) {
    let mut buffer = [0_u8; VERSION_SIZE];
    // The C prototype lacks the `const`, so the name is a copy that may be written to.
    let mut name = pkg_name.0.into_bytes_with_nul();
    // SAFETY: a terminated name and a buffer that is larger than any version text.
    let ret = unsafe {
        (c_api().aclsysGetVersionStr)(name.as_mut_ptr().cast(), buffer.as_mut_ptr().cast())
    };
    (text_in(&buffer), ret)
}

/// version, ret = get_cann_version(name): a dictionary of texts.
///
/// `ret` is unsigned here: a negative code shows as a large number.
#[pyfunction]
#[pyo3(signature = (name, /))]
fn get_cann_version(py: Python<'_>, name: Bits32) -> PyResult<(Bound<'_, PyDict>, u32)> {
    let mut version = aclCANNPackageVersion {
        version: [0; 128],
        majorVersion: [0; 64],
        minorVersion: [0; 64],
        releaseVersion: [0; 64],
        patchVersion: [0; 64],
        reserved: [0; 128],
    };
    // SAFETY: a valid output.
    let ret = unsafe { (c_api().aclsysGetCANNVersion)(name.0 as i32, &raw mut version) };
    let dict = PyDict::new(py);
    let fields: [(&str, &[std::ffi::c_char]); 6] = [
        ("version", &version.version),
        ("major_version", &version.majorVersion),
        ("minor_version", &version.minorVersion),
        ("release_version", &version.releaseVersion),
        ("patch_version", &version.patchVersion),
        ("reserved", &version.reserved),
    ];
    for (key, field) in fields {
        let bytes: Vec<u8> = field.iter().map(|&character| character as u8).collect();
        dict.set_item(key, text_in(&bytes))?;
    }
    Ok((dict, ret as u32))
}

/// cann_attr_list, num, ret = get_cann_attribute_list(): the features that exist.
#[pyfunction]
fn get_cann_attribute_list() -> (Vec<aclCannAttr>, usize, i32) {
    let mut list = std::ptr::null::<aclCannAttr>();
    let mut count = 0_usize;
    // SAFETY: valid outputs.
    let ret = unsafe { (c_api().aclGetCannAttributeList)(&raw mut list, &raw mut count) };
    if ret != 0 || list.is_null() {
        return (Vec::new(), 0, ret);
    }
    // SAFETY: on success the library gives an array of `count` items that it owns until exit.
    let attributes = unsafe { std::slice::from_raw_parts(list, count) };
    (attributes.to_vec(), count, ret)
}

/// output = float_to_float16(value): the 16 bits of a number.
#[pyfunction]
#[pyo3(signature = (value, /))]
fn float_to_float16(value: Single) -> u16 {
    // SAFETY: a number.
    unsafe { (c_api().aclFloatToFloat16)(value.0) }
}

/// app_log(log_level, fmt): write one line to the log.
///
/// The text is taken literally. The line names the Python function, file and line.
#[pyfunction(name = "app_log")]
#[pyo3(signature = (log_level, fmt, /))]
fn app_log_line(py: Python<'_>, log_level: Int, fmt: Text) -> PyResult<()> {
    let Some(log) = app_log() else { return Ok(()) };
    let place = caller(py).unwrap_or_default();
    // SAFETY: terminated texts that outlive the call; "%s" takes exactly one of them.
    unsafe {
        log(
            log_level.0,
            place.function.as_ptr(),
            place.file.as_ptr(),
            place.line,
            c"%s".as_ptr(),
            fmt.0.as_ptr(),
        );
    }
    Ok(())
}

/// The place in the program that called.
#[derive(Default)]
struct Place {
    function: CString,
    file: CString,
    line: u32,
}

/// Where the running Python function is, if there is one.
fn caller(py: Python<'_>) -> PyResult<Place> {
    let frame = py.import("sys")?.call_method0("_getframe")?;
    let code = frame.getattr("f_code")?;
    let text = |name: &str| -> PyResult<CString> {
        let text: String = code.getattr(name)?.extract()?;
        CString::new(text).map_err(|error| PyTypeError::new_err(error.to_string()))
    };
    Ok(Place {
        function: text("co_name")?,
        file: text("co_filename")?,
        line: frame.getattr("f_lineno")?.extract()?,
    })
}
