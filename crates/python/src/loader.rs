//! Finding and opening the C libraries.
//!
//! The library that a process has loaded already always wins: a process must never hold two
//! runtimes. Nothing is ever unloaded, for the library runs threads of its own.

use std::ffi::{CStr, CString, OsStr, c_void};
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// The library that holds the runtime, by its SONAME.
pub(crate) const RUNTIME: &CStr = c"libascendcl.so";

/// An open library.
pub(crate) struct Library {
    handle: NonNull<c_void>,
}

// SAFETY: the handle is a token for `dlsym`, which any thread may use; it is never closed.
unsafe impl Send for Library {}
// SAFETY: see above; `dlsym` may run in several threads at once.
unsafe impl Sync for Library {}

impl Library {
    /// The address of a symbol of this library or of one it depends on.
    pub(crate) fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle is open and the name terminated.
        NonNull::new(unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) })
    }

    /// The file that `symbol` of this library comes from.
    pub(crate) fn file_of(&self, symbol: &CStr) -> Option<PathBuf> {
        file_of_address(self.symbol(symbol)?.as_ptr())
    }
}

/// Opens `name` (a file name without directories): first the one already in the process, then,
/// in this order, `beside` (where a related library was found), the loader's search path, and
/// the places relative to this module: `../lib64` in a prefix, `cannery_npu/lib64` in a wheel.
///
/// # Errors
///
/// Every place that was tried, with the loader's reason.
pub(crate) fn open(name: &CStr, beside: Option<&Path>) -> Result<Library, String> {
    if let Ok(library) = open_file(name, libc::RTLD_NOLOAD) {
        return Ok(library);
    }
    let file = OsStr::from_bytes(name.to_bytes());
    let mut places: Vec<PathBuf> = beside
        .map(|directory| directory.join(file))
        .into_iter()
        .collect();
    places.push(PathBuf::from(file));
    if let Some(home) = module_directory() {
        places.extend(home.parent().map(|prefix| prefix.join("lib64").join(file)));
        places.push(home.join("cannery_npu/lib64").join(file));
    }
    let mut failures = String::new();
    for place in places {
        // Asking only for what exists keeps the report to reasons worth reading.
        if place.components().count() > 1 && !place.exists() {
            let _ = write!(failures, "\n  {}: no such file", place.display());
            continue;
        }
        let shown = place.display().to_string();
        let opened = CString::new(place.into_os_string().into_vec())
            .map_err(|_| "the path has a zero byte".to_owned())
            .and_then(|path| open_file(&path, 0));
        match opened {
            Ok(library) => return Ok(library),
            Err(reason) => {
                let _ = write!(failures, "\n  {shown}: {reason}");
            }
        }
    }
    Err(failures)
}

fn open_file(path: &CStr, extra: i32) -> Result<Library, String> {
    // Global: companion libraries and the program's own C code must meet the same runtime.
    let flags = libc::RTLD_NOW | libc::RTLD_GLOBAL | extra;
    // SAFETY: the path is terminated; initialisers of the library run, as loading it means.
    let handle = unsafe { libc::dlopen(path.as_ptr(), flags) };
    NonNull::new(handle)
        .map(|handle| Library { handle })
        .ok_or_else(last_reason)
}

/// The loader's text on the failure just seen in this thread.
fn last_reason() -> String {
    // SAFETY: the answer is NULL or a string that stays valid until the next `dl` call here.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "not loaded".to_owned();
    }
    // SAFETY: not NULL, so terminated, see above.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// The directory of this module's own file.
fn module_directory() -> Option<PathBuf> {
    let file = file_of_address(module_directory as *const c_void)?;
    let file = file.canonicalize().unwrap_or(file);
    Some(file.parent()?.to_path_buf())
}

fn file_of_address(address: *const c_void) -> Option<PathBuf> {
    let mut found = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: any address may be asked; `found` is a valid output.
    let known = unsafe { libc::dladdr(address, &raw mut found) } != 0;
    if !known || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a terminated name that lives as long as the library stays loaded.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}
