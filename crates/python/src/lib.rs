//! The drop-in `acl` module: pyACL on whichever `libascendcl.so` the process has.
//!
//! # Glossary
//!
//! * *library*: the loaded `libascendcl.so`, Cannery's or another one; it holds the runtime.
//! * *companion*: a library beside it that holds a media allocator.
//! * *stand-in*: what takes the place of a function that the library lacks; it answers
//!   "not supported" (207000) or a neutral value.
//! * *word*: an address, size or handle; a plain number in Python, 0 is null.
//! * *shape*: what a function returns: a code alone, outputs and a code, or a bare value.
//! * *trampoline*: a C function that calls a Python callable.
//!
//! # Contract
//!
//! * Names, argument kinds and shapes are those of `spec/pyacl.jsonl`; every argument is
//!   positional. A failure of the runtime is a code, never an exception; outputs are 0 then.
//!   Exceptions are for misuse: `TypeError` for wrong arguments, the others where documented.
//! * This module translates and decides nothing. It holds no runtime: all calls go through the
//!   C interface, and nothing is loaded when the process has a `libascendcl.so` already.
//! * Waits and large copies let other Python threads run; short calls keep the GIL.
//! * No panic crosses into Python or C.

// Calling C functions through pointers, and the few Python C functions that PyO3 does not wrap,
// cannot be expressed without `unsafe`.
#![allow(unsafe_code)]

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("the acl module needs 64-bit Linux");

mod c_api;
mod callables;
mod calls;
mod convert;
mod loader;
mod media;
mod outputs;
mod rt;
mod structured;
mod top;
mod util;

use std::path::PathBuf;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

/// The module `acl`.
#[pymodule]
mod acl {
    use super::*;

    #[pymodule_init]
    fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::fill(module)
    }
}

/// Submodules that exist, and are empty: their chapters are not about memory.
const EMPTY: [&str; 5] = ["blas", "fv", "mdl", "op", "prof"];

type Register = fn(&Bound<'_, PyModule>) -> PyResult<()>;

/// Connects to the library and adds everything.
fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let library = loader::open(loader::RUNTIME, None).map_err(|places| {
        PyImportError::new_err(format!(
            "no libascendcl.so, which this module needs; tried:{places}\n\
             Put its directory on LD_LIBRARY_PATH (a prefix has a set_env.sh for that)."
        ))
    })?;
    c_api::connect(&library);
    py.import("atexit")?.call_method1(
        "register",
        (wrap_pyfunction!(callables::interpreter_is_ending, py)?,),
    )?;

    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    let file = library.file_of(c"aclInit").map(PathBuf::into_os_string);
    module.add("__libascendcl__", file)?;
    top::init::register(module)?;
    top::data_buffer::register(module)?;
    top::tensor_desc::register(module)?;

    let rt: [Register; 16] = [
        rt::device::register,
        rt::context::register,
        rt::config::register,
        rt::stream::register,
        rt::event::register,
        rt::callback::register,
        rt::exception::register,
        rt::memory_device::register,
        rt::memory_host::register,
        rt::memory_copy::register,
        rt::memory_virtual::register,
        rt::memory_ipc::register,
        rt::allocator::register,
        rt::notify::register,
        rt::group::register,
        rt::kernel::register,
    ];
    submodule(module, "rt", &rt)?;
    submodule(module, "util", &[util::register])?;
    submodule(module, "media", &[media::v1::register])?;
    submodule(module, "himpi", &[media::v2::register])?;
    EMPTY
        .iter()
        .try_for_each(|name| submodule(module, name, &[]))
}

/// Adds `acl.name`, also where `import acl.name` looks.
fn submodule(parent: &Bound<'_, PyModule>, name: &str, chapters: &[Register]) -> PyResult<()> {
    let py = parent.py();
    let full = format!("acl.{name}");
    let module = PyModule::new(py, &full)?;
    chapters.iter().try_for_each(|register| register(&module))?;
    parent.add(name, &module)?;
    py.import("sys")?.getattr("modules")?.set_item(full, module)
}
