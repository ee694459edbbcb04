//! One process at a time in a directory.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// Far longer than any holder needs.
const PATIENCE: Duration = Duration::from_secs(5);

/// Held until dropped; the system takes it back from a process that dies. Leaves no file behind.
pub(crate) struct DirectoryLock(File);

impl DirectoryLock {
    /// Waits for its turn, but not for ever.
    pub(crate) fn take(directory: &Path) -> io::Result<DirectoryLock> {
        let file = File::open(directory)?;
        let until = Instant::now() + PATIENCE;
        loop {
            // SAFETY: a descriptor of our own.
            if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
                return Ok(DirectoryLock(file));
            }
            let error = io::Error::last_os_error();
            let busy = matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
            );
            if !busy || Instant::now() >= until {
                return Err(error);
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // Given back by hand: a child that was forked meanwhile has the descriptor too.
        // SAFETY: a descriptor of our own.
        unsafe { libc::flock(self.0.as_raw_fd(), libc::LOCK_UN) };
    }
}
