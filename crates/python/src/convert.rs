//! Arguments: what a Python object must be to stand for a C value.
//!
//! The kinds are those of the `conv` column of `spec/pyacl.jsonl`. Numbers that are too large
//! wrap where the original wraps, and are refused where it refuses. Beyond it, any object with
//! `__index__` (such as a NumPy integer) is taken for a number everywhere.
//! A refusal is a `TypeError` whatever its cause, as programs expect.

use std::ffi::{CString, c_int};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt, PyString};
use pyo3::{Borrowed, ffi};

/// Kind `u64w`: an address, size or handle; wraps modulo 2^64.
#[derive(Clone, Copy)]
pub(crate) struct Word(pub(crate) usize);

/// Kind `u32w`: wraps modulo 2^32.
#[derive(Clone, Copy)]
pub(crate) struct Bits32(pub(crate) u32);

/// Kind `u16w`: wraps modulo 2^16.
#[derive(Clone, Copy)]
pub(crate) struct Bits16(pub(crate) u16);

/// Kind `i32`: a device id, enum value or timeout; refused when out of range.
#[derive(Clone, Copy)]
pub(crate) struct Int(pub(crate) i32);

/// Kind `i64`; refused when out of range.
#[derive(Clone, Copy)]
pub(crate) struct Long(pub(crate) i64);

/// Kind `f32`.
#[derive(Clone, Copy)]
pub(crate) struct Single(pub(crate) f32);

/// Kind `str`: as UTF-8 with a terminating zero. Undecodable bytes of file names survive.
pub(crate) struct Text(pub(crate) CString);

/// A `str` that may be left out, but not given as None.
#[derive(Default)]
pub(crate) struct OptionalText(pub(crate) Option<CString>);

/// The number behind `obj`: itself, or what its `__index__` gives.
fn integer<'py>(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Bound<'py, PyInt>> {
    // SAFETY: `obj` is a live object of the attached interpreter; the answer is a new reference
    // or NULL with an error set, which is what the conversion expects.
    let number =
        unsafe { Bound::from_owned_ptr_or_err(obj.py(), ffi::PyNumber_Index(obj.as_ptr())) }?;
    Ok(number.cast_into::<PyInt>()?)
}

/// The low 64 bits of a number, two's complement.
#[inline]
fn low_bits(obj: Borrowed<'_, '_, PyAny>) -> PyResult<u64> {
    // SAFETY: a live object whose type is `int`: the call cannot fail.
    let mask = |number: *mut ffi::PyObject| unsafe { ffi::PyLong_AsUnsignedLongLongMask(number) };
    if obj.cast::<PyInt>().is_ok() {
        return Ok(mask(obj.as_ptr()));
    }
    integer(obj).map(|number| mask(number.as_ptr()))
}

/// The value of a number that fits 64 bits.
#[inline]
fn exact(obj: Borrowed<'_, '_, PyAny>) -> PyResult<i64> {
    let owned;
    let number = if obj.cast::<PyInt>().is_ok() {
        obj.as_ptr()
    } else {
        owned = integer(obj)?;
        owned.as_ptr()
    };
    let mut overflow: c_int = 0;
    // SAFETY: a live object whose type is `int`, and a valid output.
    let value = unsafe { ffi::PyLong_AsLongLongAndOverflow(number, &raw mut overflow) };
    if overflow != 0 {
        return Err(out_of_range(64));
    }
    Ok(value)
}

#[cold]
fn out_of_range(bits: u32) -> PyErr {
    PyTypeError::new_err(format!(
        "the number does not fit a signed {bits}-bit integer"
    ))
}

impl<'a, 'py> FromPyObject<'a, 'py> for Word {
    type Error = PyErr;

    #[inline]
    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        // Addresses and sizes have 64 bits on every supported platform.
        low_bits(obj).map(|bits| Self(bits as usize))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Bits32 {
    type Error = PyErr;

    #[inline]
    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        low_bits(obj).map(|bits| Self(bits as u32))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Bits16 {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        low_bits(obj).map(|bits| Self(bits as u16))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Int {
    type Error = PyErr;

    #[inline]
    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        i32::try_from(exact(obj)?)
            .map(Self)
            .map_err(|_| out_of_range(32))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Long {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        exact(obj).map(Self)
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Single {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let value = match obj.cast::<PyFloat>() {
            Ok(number) => number.value(),
            Err(_) => obj
                .extract::<f64>()
                .map_err(|error| PyTypeError::new_err(error.to_string()))?,
        };
        Ok(Self(value as f32))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Text {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let text = obj.cast::<PyString>()?;
        // SAFETY: a live `str` and two terminated names; a new reference or NULL with an error.
        let encoded = unsafe {
            let bytes = ffi::PyUnicode_AsEncodedString(
                text.as_ptr(),
                c"utf-8".as_ptr(),
                c"surrogateescape".as_ptr(),
            );
            Bound::from_owned_ptr_or_err(obj.py(), bytes)
        };
        let encoded = encoded.map_err(|error| PyTypeError::new_err(error.to_string()))?;
        CString::new(encoded.cast::<PyBytes>()?.as_bytes())
            .map(Self)
            .map_err(|_| PyTypeError::new_err("the text has a zero character"))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for OptionalText {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let Text(text) = obj.extract()?;
        Ok(Self(Some(text)))
    }
}
