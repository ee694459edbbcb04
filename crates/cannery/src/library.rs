//! The library behind the table: the emulator's, or the vendor's, chosen at run time.

use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

use cannery_abi::{ACL_ERROR_REPEAT_INITIALIZE, aclError};
use libloading::os::unix::{Library as Loaded, RTLD_LOCAL, RTLD_NOW};

use crate::error::{Code, Error, Result};
use crate::table::Table;

const NAME: &str = "libascendcl.so";

/// A libascendcl.so that is open: Cannery's, which runs without a card, or the vendor's.
///
/// A small value that can be copied. A library that was opened stays open until the process ends, and
/// each file is opened once; both may be used by one process, side by side.
///
/// # Thread rules
/// May be used from any thread.
///
/// ```
/// use cannery::{Device, Library};
///
/// let library = Library::find()?;
/// println!("{} has {} device(s)", library.path().display(), Device::count(library)?);
/// # Ok::<(), cannery::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Library(&'static Opened);

struct Opened {
    path: PathBuf,
    table: Table,
    missing: Vec<&'static str>,
    /// The first aclInit: its code and text when it failed.
    begun: OnceLock<std::result::Result<(), (aclError, String)>>,
}

static OPENED: Mutex<Vec<&'static Opened>> = Mutex::new(Vec::new());

impl Library {
    /// Opens the library that is found first:
    ///
    /// 1. `$CANNERY_PREFIX/lib64` and `$CANNERY_PREFIX/lib`,
    /// 2. beside the program, and in `../lib64` and `../lib` of its directory,
    /// 3. `$ASCEND_HOME_PATH/lib64`,
    /// 4. the search path of the system's loader (`LD_LIBRARY_PATH` and the rest).
    ///
    /// # Errors
    /// [`Code::LibraryNotFound`]; the text names every place and what was wrong there.
    #[track_caller]
    pub fn find() -> Result<Library> {
        let mut tried = Vec::new();
        for place in places() {
            if place.is_absolute() && !place.is_file() {
                tried.push(format!("{}: no such file", place.display()));
                continue;
            }
            match Self::open(&place) {
                Ok(library) => return Ok(library),
                Err(error) => tried.push(error.message().to_owned()),
            }
        }
        Err(Error::own(
            Code::LibraryNotFound,
            "dlopen",
            format!(
                "no {NAME} found; set CANNERY_PREFIX to a Cannery prefix, run the program with `cannery run`, \
                 or open a library by its path. Tried: {}",
                tried.join("; ")
            ),
        ))
    }

    /// Opens the library in a file, such as the vendor's. A name without a slash is looked for by the
    /// system's loader.
    ///
    /// # Errors
    /// [`Code::LibraryNotFound`] with the words of the loader. Functions that the library lacks are no
    /// error here: calling one gives 207000 and a text that names it.
    #[track_caller]
    pub fn open(path: impl AsRef<Path>) -> Result<Library> {
        let path = path.as_ref();
        let canonical = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = opened.iter().find(|known| known.path == canonical) {
            return Ok(Library(known));
        }
        // SAFETY: the initialisers of the library run, as they would for a program linked with it.
        let loaded = match unsafe { Loaded::open(Some(path), RTLD_NOW | RTLD_LOCAL) } {
            Ok(loaded) => loaded,
            Err(error) => {
                return Err(Error::own(
                    Code::LibraryNotFound,
                    "dlopen",
                    reason(path, &error),
                ));
            }
        };
        let mut missing = Vec::new();
        let find = |name: &'static str| {
            // SAFETY: only the address is taken; the table gives it its type.
            let symbol = unsafe { loaded.get::<*mut std::ffi::c_void>(name.as_bytes()) };
            symbol.ok().map(libloading::os::unix::Symbol::into_raw)
        };
        let table = Table::look_up(find, &mut missing);
        if missing.contains(&"aclInit") {
            return Err(Error::own(
                Code::LibraryNotFound,
                "dlopen",
                format!(
                    "{}: not an AscendCL library, it has no aclInit",
                    path.display()
                ),
            ));
        }
        // Objects of this crate point into the library until the process ends.
        std::mem::forget(loaded);
        let known: &'static Opened = Box::leak(Box::new(Opened {
            path: canonical,
            table,
            missing,
            begun: OnceLock::new(),
        }));
        opened.push(known);
        Ok(Library(known))
    }

    /// The file, or the name that was given to the loader.
    pub fn path(self) -> &'static Path {
        &self.0.path
    }

    /// The C functions. Calling them is `unsafe`.
    #[inline(always)]
    pub fn table(self) -> &'static Table {
        &self.0.table
    }

    /// Names of functions that the library does not have.
    pub fn missing(self) -> &'static [&'static str] {
        &self.0.missing
    }

    /// Name of the chip, such as `Ascend910B3`.
    ///
    /// # Errors
    /// When the process cannot be initialised, or no name is known.
    #[track_caller]
    pub fn soc_name(self) -> Result<String> {
        self.begin()?;
        // SAFETY: no arguments; the text lives as long as the process.
        let name = unsafe { (self.table().aclrtGetSocName)() };
        if name.is_null() {
            return Err(self.failure("aclrtGetSocName", Code::NOT_SUPPORTED));
        }
        // SAFETY: a C text, for it is not NULL.
        Ok(unsafe { CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned())
    }

    /// aclInit without a configuration, at the first use. That the program did it before is no error.
    #[track_caller]
    pub(crate) fn begin(self) -> Result<()> {
        let begun = self.0.begun.get_or_init(|| {
            // SAFETY: NULL is a valid configuration.
            match unsafe { (self.table().aclInit)(ptr::null::<c_char>()) } {
                0 | ACL_ERROR_REPEAT_INITIALIZE => Ok(()),
                code => Err((code, self.text("aclInit", code))),
            }
        });
        match begun {
            Ok(()) => Ok(()),
            Err((code, text)) => Err(Error::own(Code::from_raw(*code), "aclInit", text.clone())),
        }
    }

    /// De-initialises the library: `aclFinalize`. Nothing needs it; a process may simply end.
    ///
    /// # Safety
    /// No object of this crate that belongs to the library is used or dropped afterwards.
    ///
    /// # Errors
    /// 100037 when it was finalised before.
    #[track_caller]
    pub unsafe fn finalize(self) -> Result<()> {
        // SAFETY: as the caller promises.
        let code = unsafe { (self.table().aclFinalize)() };
        self.check("aclFinalize", code)
    }

    /// Turns a code into a result.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn check(self, api: &'static str, code: aclError) -> Result<()> {
        if code == 0 {
            Ok(())
        } else {
            Err(self.failure(api, code))
        }
    }

    /// The error of a call that has just failed on this thread.
    #[cold]
    #[inline(never)]
    #[track_caller]
    pub(crate) fn failure(self, api: &'static str, code: aclError) -> Error {
        Error::own(Code::from_raw(code), api, self.text(api, code))
    }

    /// The pending texts of this thread, or what is known without them.
    fn text(self, api: &'static str, code: aclError) -> String {
        if self.0.missing.contains(&api) {
            return format!(
                "{api}: {} does not have this function",
                self.0.path.display()
            );
        }
        // SAFETY: no arguments; the text is valid until this thread asks again.
        let text = unsafe { (self.table().aclGetRecentErrMsg)() };
        if text.is_null() {
            return format!("{api} returned {code} and left no text");
        }
        // SAFETY: a C text, for it is not NULL.
        unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .trim_end()
            .to_owned()
    }
}

/// Where the library may lie, best first.
fn places() -> Vec<PathBuf> {
    let mut places = Vec::new();
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    if let Some(prefix) = std::env::var_os("CANNERY_PREFIX").filter(|prefix| !prefix.is_empty()) {
        let prefix = absolute(PathBuf::from(prefix));
        places.extend(["lib64", "lib"].map(|lib| prefix.join(lib).join(NAME)));
    }
    let program = std::env::current_exe().ok();
    if let Some(folder) = program.as_deref().and_then(Path::parent) {
        places.extend([".", "../lib64", "../lib"].map(|lib| folder.join(lib).join(NAME)));
    }
    if let Some(home) = std::env::var_os("ASCEND_HOME_PATH").filter(|home| !home.is_empty()) {
        places.push(absolute(PathBuf::from(home)).join("lib64").join(NAME));
    }
    places.push(PathBuf::from(NAME));
    places
}

/// The words of the loader, which stand in the source of the error; they begin with the path most times.
fn reason(path: &Path, error: &libloading::Error) -> String {
    let words = std::error::Error::source(error)
        .map_or_else(|| error.to_string(), |source| source.to_string());
    let path = path.display().to_string();
    if words.contains(&path) {
        words
    } else {
        format!("{path}: {words}")
    }
}

impl PartialEq for Library {
    fn eq(&self, other: &Library) -> bool {
        ptr::eq(self.0, other.0)
    }
}

impl Eq for Library {}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Library").field(&self.0.path).finish()
    }
}
