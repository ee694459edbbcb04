//! A second process that has something to share.

use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::support::*;

/// A forked child that lives until this is dropped.
pub(super) struct Other {
    pid: libc::pid_t,
    /// The child ends when this is closed.
    control: Option<PipeWriter>,
}

impl Other {
    /// Forks before this process has opened the library; the child runs `make` and stays. What `make`
    /// returned, as bytes.
    pub(super) fn start(make: fn() -> Vec<u8>) -> (Self, Vec<u8>) {
        let pipe = || std::io::pipe().unwrap_or_else(|_| abort("no pipe"));
        let (mut answers, answer) = pipe();
        let (orders, control) = pipe();
        #[allow(unsafe_code)] // There is no other way to a process that begins here.
        // SAFETY: the case has one thread; the child never returns into the harness.
        let pid = unsafe { libc::fork() };
        match pid {
            0 => {
                drop((answers, control));
                serve(make, answer, orders)
            }
            ..0 => abort("fork failed"),
            _ => {}
        }
        drop((answer, orders));
        let mut made = Vec::new();
        let other = Self {
            pid,
            control: Some(control),
        };
        if answers.read_to_end(&mut made).is_err() || made.is_empty() {
            abort("the other process made nothing");
        }
        (other, made)
    }

    /// Its process id.
    pub(super) fn pid(&self) -> i32 {
        self.pid
    }
}

fn serve(make: fn() -> Vec<u8>, mut answer: PipeWriter, mut orders: PipeReader) -> ! {
    let made = catch_unwind(AssertUnwindSafe(make)).unwrap_or_default();
    // The other end notices when nothing comes.
    let _ = answer.write_all(&made);
    drop(answer);
    let _ = orders.read(&mut [0]);
    #[allow(unsafe_code)] // The child must not return into the harness.
    // SAFETY: ends the process without running anything else.
    unsafe {
        libc::_exit(0)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        drop(self.control.take());
        let mut status = 0;
        #[allow(unsafe_code)] // A system call without a wrapper for pids.
        // SAFETY: `status` is valid; the pid is a child of this process.
        unsafe {
            libc::waitpid(self.pid, &raw mut status, 0);
        }
    }
}
