//! A file of words that several processes map, and the lock of the directory it lies in.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use super::map::{self, Access};

/// A mapping of the words; unmapped when dropped.
#[derive(Debug)]
pub(crate) struct SharedWords {
    at: u64,
    count: usize,
    /// Device and inode of the file; `None`: memory of this process alone.
    file: Option<(u64, u64)>,
}

impl SharedWords {
    /// Opens a file of `count` words of this user; with `create`, makes it (zeroed) where it is
    /// missing.
    pub(crate) fn open(path: &Path, count: usize, create: bool) -> io::Result<SharedWords> {
        let bytes = count as u64 * 8;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(create)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path)?;
        let mut about = file.metadata()?;
        if create && about.len() == 0 {
            // With its blocks: a full disk is refused here instead of ending the process later.
            fill(&file, bytes)?;
            about = file.metadata()?;
        }
        // SAFETY: no arguments, cannot fail.
        let user = unsafe { libc::geteuid() };
        if !about.is_file() || about.uid() != user || about.len() != bytes {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{} is not a file of this user and version", path.display()),
            ));
        }
        let at = map::reserve(None, bytes, Access::None)?;
        // SAFETY: replaces our own fresh reservation by a shared mapping of the file.
        let got = unsafe {
            libc::mmap(
                at as *mut libc::c_void,
                bytes as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_FIXED,
                file.as_raw_fd(),
                0,
            )
        };
        if got == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            map::release(at, bytes);
            return Err(error);
        }
        Ok(SharedWords {
            at,
            count,
            file: Some((about.dev(), about.ino())),
        })
    }

    /// Zeroed words that no other process sees.
    pub(crate) fn private(count: usize) -> io::Result<SharedWords> {
        let at = map::reserve(None, count as u64 * 8, Access::ReadWrite)?;
        Ok(SharedWords {
            at,
            count,
            file: None,
        })
    }

    /// Whether `path` still leads to this file.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        std::fs::symlink_metadata(path)
            .is_ok_and(|about| self.file == Some((about.dev(), about.ino())))
    }

    /// The words.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: mapped readable and writable while `self` lives, of this size, aligned to a page;
        // other processes touch them through atomics too, and any pattern of bits is a value.
        unsafe { std::slice::from_raw_parts(self.at as *const AtomicU64, self.count) }
    }
}

impl Drop for SharedWords {
    fn drop(&mut self) {
        map::release(self.at, self.count as u64 * 8);
    }
}

fn fill(file: &File, bytes: u64) -> io::Result<()> {
    map::within_file_limit(bytes)?;
    file.set_len(bytes)?;
    // SAFETY: the descriptor is open; only the file is changed.
    let code = unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, bytes as libc::off_t) };
    let error = io::Error::last_os_error();
    let full = [libc::ENOSPC, libc::EDQUOT];
    if code != 0 && error.raw_os_error().is_some_and(|n| full.contains(&n)) {
        let _ = file.set_len(0);
        return Err(error);
    }
    Ok(())
}

/// The right to add and remove files of a directory; given back when dropped, by the kernel when
/// the process dies.
pub(crate) struct DirectoryLock(File);

impl DirectoryLock {
    /// Takes it, waiting for others at most so long.
    pub(crate) fn take(directory: &Path, limit: Duration) -> io::Result<DirectoryLock> {
        let file = File::open(directory)?;
        let begin = Instant::now();
        loop {
            // SAFETY: the descriptor is open.
            if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
                return Ok(DirectoryLock(file));
            }
            let error = io::Error::last_os_error();
            let busy = error.raw_os_error() == Some(libc::EWOULDBLOCK)
                || error.kind() == io::ErrorKind::Interrupted;
            if !busy {
                return Err(error);
            }
            if begin.elapsed() > limit {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "another process holds the directory (is it stopped?)",
                ));
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // By name, as a forked child may hold the descriptor too.
        // SAFETY: the descriptor is open.
        unsafe { libc::flock(self.0.as_raw_fd(), libc::LOCK_UN) };
    }
}
