//! Shared objects of the program: opened, looked into, closed.

use std::ffi::{CStr, CString, c_void};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::path::Path;

use super::file_limits;

/// An open shared object; closed when dropped.
#[derive(Debug)]
pub(crate) struct Library {
    handle: u64,
    /// The file in memory that it was opened from. It stays open as long as the object is loaded: the
    /// loader knows objects by name, and the name holds the number of this file.
    file: Option<(OwnedFd, CString)>,
}

impl Library {
    /// Opens the file at `path`. All its symbols must be found.
    pub(crate) fn open(path: &Path) -> Result<Library, String> {
        use std::os::unix::ffi::OsStrExt as _;
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        Ok(Library {
            handle: open(&name)?,
            file: None,
        })
    }

    /// Opens a copy of `bytes` that has no name in the file system.
    pub(crate) fn open_bytes(bytes: &[u8]) -> Result<Library, String> {
        let file = memory_file().map_err(|error| told("no file in memory", &error))?;
        let mut file = File::from(file);
        file_limits::without_signal(|| file.write_all(bytes))
            .map_err(|error| told("a copy in memory cannot be written", &error))?;
        let name = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))
            .map_err(|error| error.to_string())?;
        Ok(Library {
            handle: open(&name)?,
            file: Some((file.into(), name)),
        })
    }

    /// Address of an exported symbol.
    pub(crate) fn symbol(&self, name: &CStr) -> Option<u64> {
        // SAFETY: the handle is open while `self` lives; the name ends with NUL.
        let at = unsafe { libc::dlsym(self.handle as *mut c_void, name.as_ptr()) };
        (!at.is_null()).then_some(at as u64)
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: opened once, closed once; nothing runs in it any more (see `crate::kernel`).
        unsafe { libc::dlclose(self.handle as *mut c_void) };
        if let Some((file, name)) = self.file.take() {
            // An object that does not go (it says so itself, or a thread still uses it) keeps its name,
            // so no other may get it.
            // SAFETY: the name ends with NUL; nothing is loaded.
            let still = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
            if !still.is_null() {
                // SAFETY: undoes the call above.
                unsafe { libc::dlclose(still) };
                std::mem::forget(file);
            }
        }
    }
}

fn told(what: &str, error: &io::Error) -> String {
    match file_limits::remedy(error) {
        Some(remedy) => format!("{what}: {error}; {remedy}"),
        None => format!("{what}: {error}"),
    }
}

fn open(name: &CStr) -> Result<u64, String> {
    // SAFETY: the name ends with NUL. Initialisers of the object run, as the program asks for.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if !handle.is_null() {
        return Ok(handle as u64);
    }
    // SAFETY: no arguments; the text is the thread's own until its next call of this kind.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return Err("the loader gives no reason".to_owned());
    }
    // SAFETY: not NULL, so a text that ends with NUL.
    Err(unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned())
}

fn memory_file() -> io::Result<OwnedFd> {
    let create = |flags| {
        // SAFETY: the name ends with NUL.
        unsafe { libc::memfd_create(c"cannery-kernels".as_ptr(), flags) }
    };
    let mut fd = create(libc::MFD_CLOEXEC | libc::MFD_EXEC);
    if fd < 0 {
        // Kernels before 6.3 do not know the flag, and need none.
        fd = create(libc::MFD_CLOEXEC);
    }
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Calls `entry(args, index, count, distance, launch)`, the entry of a kernel.
///
/// # Safety
/// `entry` is a function of that type that may be called now, with what it expects behind the pointers.
pub(crate) unsafe fn call_kernel<L>(
    entry: u64,
    args: u64,
    index: u32,
    count: u32,
    distance: u64,
    launch: &L,
) {
    type Entry = unsafe extern "C" fn(*const c_void, u32, u32, isize, *const c_void);
    // SAFETY: per contract.
    unsafe {
        let entry = std::mem::transmute::<u64, Entry>(entry);
        entry(
            args as *const c_void,
            index,
            count,
            distance.cast_signed() as isize,
            std::ptr::from_ref(launch).cast(),
        );
    }
}
