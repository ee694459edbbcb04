//! One page of memory that several processes see, behind a name in a directory of the user.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use super::map::{self, Access};

/// Words of a page.
pub(crate) const WORDS: usize = 512;
const BYTES: usize = WORDS * 8;

/// A mapping of the page; unmapped when dropped.
pub(crate) struct SharedPage {
    at: u64,
}

impl SharedPage {
    /// Makes a zeroed page under a new name.
    pub(crate) fn create(path: &Path) -> io::Result<SharedPage> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        let made = super::file_limits::without_signal(|| file.set_len(BYTES as u64))
            .and_then(|()| Self::map(&file));
        if made.is_err() {
            // An empty name would stand in the way of the next one who makes it.
            let _ = fs::remove_file(path);
        }
        made
    }

    /// Opens the page of a name.
    pub(crate) fn open(path: &Path) -> io::Result<SharedPage> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path)?;
        let about = file.metadata()?;
        if about.uid() != user() || about.len() != BYTES as u64 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Self::map(&file)
    }

    fn map(file: &fs::File) -> io::Result<SharedPage> {
        let at = map::reserve(None, BYTES as u64, Access::None)?;
        // SAFETY: replaces our own fresh reservation by a shared mapping of the file.
        let got = unsafe {
            libc::mmap(
                at as *mut libc::c_void,
                BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_FIXED,
                file.as_raw_fd(),
                0,
            )
        };
        if got == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            map::release(at, BYTES as u64);
            return Err(error);
        }
        Ok(SharedPage { at })
    }

    /// The words of the page.
    pub(crate) fn words(&self) -> &[AtomicU64; WORDS] {
        // SAFETY: mapped readable and writable while `self` lives, of this size, aligned to a page;
        // other processes touch it through atomics too, and any pattern of bits is a value.
        unsafe { &*(self.at as *const [AtomicU64; WORDS]) }
    }
}

impl Drop for SharedPage {
    fn drop(&mut self) {
        map::release(self.at, BYTES as u64);
    }
}

fn user() -> u32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::geteuid() }
}

/// The directory of the settings; leaked, so that it can be read at any time.
static CHOSEN: AtomicPtr<PathBuf> = AtomicPtr::new(std::ptr::null_mut());

/// Chooses the directory, or with `None` leaves it to the system.
pub(crate) fn choose_directory(path: Option<&Path>) {
    let place = path.map_or(std::ptr::null_mut(), |path| {
        Box::into_raw(Box::new(path.to_owned()))
    });
    // The old one stays: somebody may be reading it.
    CHOSEN.store(place, Ordering::Release);
}

/// The directory for what processes of this user share, made when it is missing and private to the
/// user.
pub(crate) fn directory() -> io::Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let chosen = super::published(&CHOSEN);
    let path = match (chosen, variable("XDG_RUNTIME_DIR")) {
        (Some(dir), _) => dir.clone(),
        (None, Some(dir)) if Path::new(&dir).is_dir() => PathBuf::from(dir).join("cannery"),
        _ => PathBuf::from(format!("/tmp/cannery-{}", user())),
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&path)?;
    let about = fs::symlink_metadata(&path)?;
    if !about.is_dir() || about.uid() != user() || about.mode() & 0o022 != 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("{} is not a private directory of this user", path.display()),
        ));
    }
    Ok(path)
}

/// Whether a process is there (a zombie is not).
pub(crate) fn is_alive(pid: i32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    // The state is the first field behind the name, which may hold anything.
    let state = stat
        .rfind(')')
        .and_then(|end| stat[end + 1..].trim_start().chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

/// 128 bits that nobody can guess.
pub(crate) fn random() -> io::Result<u128> {
    let mut bytes = [0u8; 16];
    // SAFETY: the buffer has room for 16 bytes.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if got != 16 {
        return Err(io::Error::last_os_error());
    }
    Ok(u128::from_le_bytes(bytes))
}

/// 128 bits that nobody can guess, as 32 hexadecimal digits.
pub(crate) fn token() -> io::Result<String> {
    Ok(format!("{:032x}", random()?))
}

/// Calls `clean` when the process exits by itself.
pub(crate) fn at_exit(clean: extern "C" fn()) {
    // SAFETY: the function stays in memory: the library is never unloaded.
    unsafe { libc::atexit(clean) };
}
