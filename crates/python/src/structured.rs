//! Arguments that are lists and dictionaries.
//!
//! A missing key of a dictionary stands for 0. Each function documents which class of exception
//! a wrong container gives; wrong items are a `TypeError` like every wrong argument.

use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use pyo3::{Borrowed, CastIntoError};

use cannery_abi::*;

use crate::convert::{Bits32, Int, Long, Word};

/// A list of signed 64-bit numbers, such as a shape. No other sequence is taken.
pub(crate) struct Longs(pub(crate) Vec<i64>);

/// A list of `[low, high]` lists.
pub(crate) struct Ranges(pub(crate) Vec<[i64; 2]>);

/// A list of handles.
pub(crate) struct Handles(pub(crate) Vec<usize>);

/// A list of process ids; anything but a list is a `ValueError`.
pub(crate) struct Pids(pub(crate) Vec<i32>);

/// A list of process ids; anything but a list is a `TypeError`.
pub(crate) struct PidsOrTypeError(pub(crate) Vec<i32>);

/// Physical memory properties (see `acl.rt.malloc_physical`).
pub(crate) struct PhysicalProp(pub(crate) aclrtPhysicalMemProp);

/// The attributes of a configured allocation.
pub(crate) struct MallocAttributes(Vec<aclrtMallocAttribute>);

/// The values of `items`, each converted as `T`.
fn each<'py, T, U>(list: &Bound<'py, PyList>, value: impl Fn(T) -> U) -> PyResult<Vec<U>>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    let mut values = Vec::with_capacity(list.len());
    // By index: an `__index__` of the program might shorten the list meanwhile.
    let mut position = 0;
    while position < list.len() {
        values.push(value(list.get_item(position)?.extract::<T>()?));
        position += 1;
    }
    Ok(values)
}

/// A list, or a `ValueError` that says what came instead.
pub(crate) fn list_or_value_error<'py>(
    obj: Borrowed<'_, 'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    obj.to_owned()
        .cast_into::<PyList>()
        .map_err(|error: CastIntoError<'_>| PyValueError::new_err(error.to_string()))
}

/// The number under `key`, or `absent` when the dictionary has no such key.
pub(crate) fn number<'py, T>(dict: &Bound<'py, PyDict>, key: &str, absent: T) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    match dict.get_item(key)? {
        Some(value) => value.extract::<T>(),
        None => Ok(absent),
    }
}

/// A dictionary item of a list.
pub(crate) fn dict_at<'py>(
    list: &Bound<'py, PyList>,
    position: usize,
) -> PyResult<Bound<'py, PyDict>> {
    Ok(list.get_item(position)?.cast_into::<PyDict>()?)
}

impl<'a, 'py> FromPyObject<'a, 'py> for Longs {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        each(&obj.cast::<PyList>()?.to_owned(), |Long(value)| value).map(Self)
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Handles {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        each(&obj.cast::<PyList>()?.to_owned(), |Word(value)| value).map(Self)
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Pids {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        each(&list_or_value_error(obj)?, |Int(value)| value).map(Self)
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for PidsOrTypeError {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        each(&obj.cast::<PyList>()?.to_owned(), |Int(value)| value).map(Self)
    }
}

/// One item of [`Ranges`].
struct Range([i64; 2]);

impl<'a, 'py> FromPyObject<'a, 'py> for Range {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let Longs(ends) = obj.extract()?;
        let ends = <[i64; 2]>::try_from(ends);
        ends.map(Self)
            .map_err(|_| PyTypeError::new_err("a range is a list of two numbers"))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Ranges {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        each(&obj.cast::<PyList>()?.to_owned(), |Range(ends)| ends).map(Self)
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for PhysicalProp {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let prop = obj.cast::<PyDict>()?.to_owned();
        // An enum field that is no number keeps its zero, as in the original.
        let field = |dict: &Bound<'py, PyDict>, key: &str| -> PyResult<i32> {
            let Some(value) = dict.get_item(key)? else {
                return Ok(0);
            };
            Ok(value.extract::<Int>().map_or(0, |Int(number)| number))
        };
        let location = match prop.get_item("location")? {
            Some(location) => location.cast_into::<PyDict>()?,
            None => PyDict::new(obj.py()),
        };
        let Bits32(id) = number(&location, "id", Bits32(0))?;
        let Word(reserve) = number(&prop, "reserve", Word(0))?;
        Ok(Self(aclrtPhysicalMemProp {
            handleType: field(&prop, "handleType")?,
            allocationType: field(&prop, "allocationType")?,
            memAttr: field(&prop, "memAttr")?,
            location: aclrtMemLocation {
                id,
                r#type: field(&location, "type")?,
            },
            reserve: reserve as u64,
        }))
    }
}

impl MallocAttributes {
    /// Calls `f` with the configuration in C form; an empty one is the null pointer.
    pub(crate) fn with<R>(mut self, f: impl FnOnce(*mut aclrtMallocConfig) -> R) -> R {
        if self.0.is_empty() {
            return f(std::ptr::null_mut());
        }
        let mut config = aclrtMallocConfig {
            attrs: self.0.as_mut_ptr(),
            numAttrs: self.0.len(),
        };
        f(&raw mut config)
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for MallocAttributes {
    type Error = PyErr;

    fn extract(obj: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let config = obj.cast::<PyDict>()?.to_owned();
        let attributes = match config.get_item("attrs")? {
            Some(attributes) => attributes.cast_into::<PyList>()?,
            None => PyList::empty(obj.py()),
        };
        let Word(declared) = number(&config, "numAttrs", Word(0))?;
        if declared != attributes.len() {
            return Err(PyKeyError::new_err(format!(
                "numAttrs is {declared}, but attrs has {} items",
                attributes.len()
            )));
        }
        let items = 0..attributes.len();
        let converted = items.map(|position| malloc_attribute(&dict_at(&attributes, position)?));
        converted.collect::<PyResult<Vec<_>>>().map(Self)
    }
}

fn malloc_attribute(item: &Bound<'_, PyDict>) -> PyResult<aclrtMallocAttribute> {
    let Int(attr) = number(item, "attr", Int(0))?;
    let given = match item.get_item("value")? {
        Some(value) => value.cast_into::<PyDict>()?,
        None => PyDict::new(item.py()),
    };
    let mut value = aclrtMallocAttrValue { rsv: [0; 8] };
    match attr {
        ACL_RT_MEM_ATTR_MODULE_ID => {
            let Bits32(id) = number(&given, "moduleId", Bits32(0))?;
            value.moduleId = id as u16;
        }
        ACL_RT_MEM_ATTR_DEVICE_ID => value.deviceId = number(&given, "deviceId", Bits32(0))?.0,
        ACL_RT_MEM_ATTR_VA_FLAG => value.vaFlag = number(&given, "vaFlag", Bits32(0))?.0,
        _ => value.rsv = reserved_bytes(&given)?,
    }
    Ok(aclrtMallocAttribute { attr, value })
}

/// The bytes under `rsv`; what is missing is 0, what is too much is ignored.
fn reserved_bytes(value: &Bound<'_, PyDict>) -> PyResult<[u8; 8]> {
    let mut bytes = [0; 8];
    if let Some(given) = value.get_item("rsv")? {
        let given = each(&given.cast_into::<PyList>()?, |Bits32(byte)| byte as u8)?;
        for (byte, given) in bytes.iter_mut().zip(given) {
            *byte = given;
        }
    }
    Ok(bytes)
}
