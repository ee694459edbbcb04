//! Between NumPy arrays and addresses: older helpers that programs still use.
//!
//! NumPy is imported on first use; the module does without it.

use std::ffi::CStr;

use pyo3::exceptions::{PyValueError, PyWarning};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::readable::check_readable;
use crate::convert::{Int, Long, Word};

/// A generic `Warning`, as the original gives, at the line that called.
fn warn(py: Python<'_>, text: &CStr) -> PyResult<()> {
    PyErr::warn(py, &py.get_type::<PyWarning>(), text, 1)
}

/// Refuses what is no array.
fn check_array(data: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = data.py();
    // Without NumPy in the process nothing can be an array.
    let modules = py.import("sys")?.getattr("modules")?;
    if modules.contains("numpy")? && data.is_instance(&py.import("numpy")?.getattr("ndarray")?)? {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "a numpy.ndarray is needed, not '{}'",
        data.get_type().name()?
    )))
}

fn is_contiguous(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    array.getattr("flags")?.getattr("c_contiguous")?.extract()
}

/// The address of the first element.
fn first_element(array: &Bound<'_, PyAny>) -> PyResult<usize> {
    array.getattr("ctypes")?.getattr("data")?.extract()
}

/// ptr = numpy_to_ptr(data): the address of the first element; nothing is copied.
///
/// Deprecated: use bytes_to_ptr. No reference is kept. Elements that are not contiguous give a
/// second warning: a copy from the address moves the wrong bytes.
#[pyfunction]
#[pyo3(signature = (data, /))]
pub(crate) fn numpy_to_ptr(data: &Bound<'_, PyAny>) -> PyResult<usize> {
    check_array(data)?;
    warn(data.py(), c"numpy_to_ptr is deprecated: use bytes_to_ptr")?;
    if !is_contiguous(data)? {
        warn(
            data.py(),
            c"the array is not C-contiguous: copies through this address move other bytes than its elements",
        )?;
    }
    first_element(data)
}

/// ptr, data_out = numpy_contiguous_to_ptr(data_in): an address, and the array to keep alive for it.
///
/// Deprecated. data_out is data_in itself when that is C-contiguous, else a copy. There is no code.
#[pyfunction]
#[pyo3(signature = (data_in, /))]
pub(crate) fn numpy_contiguous_to_ptr<'py>(
    data_in: &Bound<'py, PyAny>,
) -> PyResult<(usize, Bound<'py, PyAny>)> {
    check_array(data_in)?;
    let py = data_in.py();
    warn(
        py,
        c"numpy_contiguous_to_ptr is deprecated: use bytes_to_ptr",
    )?;
    let array = if is_contiguous(data_in)? {
        data_in.clone()
    } else {
        py.import("numpy")?
            .call_method1("ascontiguousarray", (data_in,))?
    };
    Ok((first_element(&array)?, array))
}

/// What NumPy asks an object that lends memory.
#[pyclass(frozen, module = "acl.util")]
struct Lender {
    interface: Py<PyDict>,
}

#[pymethods]
impl Lender {
    #[getter]
    fn __array_interface__(&self, py: Python<'_>) -> Py<PyDict> {
        self.interface.clone_ref(py)
    }
}

/// output = ptr_to_numpy(ptr, shape, type): a writable array on memory that it does not own.
///
/// Deprecated. shape is a tuple; type is NumPy's number of a numeric type (2 uint8, 11 float32 ...).
/// What the host cannot read (null, device memory, released memory) is a ValueError.
#[pyfunction]
#[pyo3(signature = (ptr, shape, r#type, /))]
pub(crate) fn ptr_to_numpy<'py>(
    py: Python<'py>,
    ptr: Word,
    shape: &Bound<'py, PyAny>,
    r#type: Int,
) -> PyResult<Bound<'py, PyAny>> {
    let Ok(shape) = shape.cast::<PyTuple>() else {
        return Err(PyValueError::new_err(format!(
            "shape must be a tuple, not '{}'",
            shape.get_type().name()?
        )));
    };
    let extents = shape.iter().map(|extent| extent.extract::<Long>());
    let extents = extents
        .map(|extent| extent.map(|Long(extent)| extent))
        .collect::<PyResult<Vec<_>>>()?;
    let numpy = py.import("numpy")?;
    warn(
        py,
        c"ptr_to_numpy is deprecated: use ptr_to_bytes and numpy.frombuffer",
    )?;
    let element = numpy.getattr("dtype")?.call1((type_code(r#type.0)?,))?;
    let element_size: usize = element.getattr("itemsize")?.extract()?;
    let size = byte_size(&extents, element_size)?;
    check_readable(ptr.0, size)?;
    if size == 0 {
        return numpy.call_method1("empty", (PyTuple::new(py, extents)?, element));
    }
    let interface = PyDict::new(py);
    interface.set_item("version", 3)?;
    interface.set_item("shape", PyTuple::new(py, extents)?)?;
    interface.set_item("typestr", element.getattr("str")?)?;
    interface.set_item("data", (ptr.0, false))?;
    let lender = Bound::new(
        py,
        Lender {
            interface: interface.unbind(),
        },
    )?;
    // The view has exactly the wanted type, also where two numbers mean the same one.
    numpy
        .call_method1("asarray", (lender,))?
        .call_method1("view", (element,))
}

/// Bytes of an array.
fn byte_size(extents: &[i64], element_size: usize) -> PyResult<usize> {
    let mut size = element_size;
    let mut empty = false;
    for &extent in extents {
        let extent = usize::try_from(extent)
            .map_err(|_| PyValueError::new_err(format!("an extent of {extent} makes no shape")))?;
        empty |= extent == 0;
        size = size.saturating_mul(extent.max(1));
    }
    if empty {
        return Ok(0);
    }
    if isize::try_from(size).is_err() {
        return Err(PyValueError::new_err("no array has that many bytes"));
    }
    Ok(size)
}

/// NumPy's letter for its number of a type.
fn type_code(number: i32) -> PyResult<&'static str> {
    Ok(match number {
        0 => "?",
        1 => "b",
        2 => "B",
        3 => "h",
        4 => "H",
        5 => "i",
        6 => "I",
        7 => "l",
        8 => "L",
        9 => "q",
        10 => "Q",
        11 => "f",
        12 => "d",
        13 => "g",
        14 => "F",
        15 => "D",
        16 => "G",
        23 => "e",
        _ => {
            return Err(PyValueError::new_err(format!(
                "{number} is no number of a numeric NumPy type (0 to 16, or 23)"
            )));
        }
    })
}
