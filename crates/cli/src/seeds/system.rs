//! The calls to the system that the standard library lacks.

// Signals, groups of processes and waiting on many descriptors are reached
// through the C library; none of it can be expressed without `unsafe`.
#![allow(unsafe_code)]

use std::fs::{self, File};
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;
use std::time::Duration;

/// The id of a process; of the group that it leads, too.
pub(super) type ProcessId = libc::pid_t;

/// Signals that ask a program to end.
const STOPPING: [libc::c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// Signals as something to read, so that one wait covers them, the pipes and
/// the clock, and none is lost in between.
pub(super) struct Signals {
    file: File,
    inherited: libc::sigset_t,
}

impl Signals {
    /// From here on the end of a child and the stopping signals are read, not
    /// acted upon. One that the caller of this tool has ignored (`nohup`) stays
    /// ignored.
    ///
    /// # Errors
    ///
    /// The system gives no descriptor.
    pub(super) fn block() -> io::Result<Self> {
        let mut watched = empty_set();
        // SAFETY: the default disposition involves no code of ours. Were it
        // ignored, as a caller may have left it, children could not be waited for.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
        // SAFETY: an initialised set and a signal that exists.
        unsafe { libc::sigaddset(&raw mut watched, libc::SIGCHLD) };
        for signal in STOPPING.into_iter().filter(|&signal| !is_ignored(signal)) {
            // SAFETY: as above.
            unsafe { libc::sigaddset(&raw mut watched, signal) };
        }
        let mut inherited = empty_set();
        // SAFETY: two initialised sets that outlive the call.
        succeeded(unsafe {
            libc::sigprocmask(libc::SIG_BLOCK, &raw const watched, &raw mut inherited)
        })?;
        let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
        // SAFETY: -1 asks for a new descriptor; the set is initialised.
        let number = succeeded(unsafe { libc::signalfd(-1, &raw const watched, flags) })?;
        // SAFETY: new, so nobody else owns it.
        let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
        Ok(Self {
            file: File::from(descriptor),
            inherited,
        })
    }

    /// The stopping signals that have come since the last call.
    pub(super) fn take(&self) -> Vec<libc::c_int> {
        const SIZE: usize = size_of::<libc::signalfd_siginfo>();
        let mut taken = Vec::new();
        let mut record = [0_u8; SIZE];
        // An error is the answer that there is none (left).
        while matches!((&self.file).read(&mut record), Ok(SIZE)) {
            // The number is the first field, of 32 bits.
            let number = i32::from_ne_bytes([record[0], record[1], record[2], record[3]]);
            if STOPPING.contains(&number) {
                taken.push(number);
            }
        }
        taken
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Prepares a program to run under this process: it leads a group of its own,
/// gets the signals that this process was started with, and is killed when this
/// process ends in whatever way.
pub(super) fn tie(command: &mut Command, signals: &Signals) {
    let mask = signals.inherited;
    let parent = own_id();
    command.process_group(0);
    // SAFETY: the closure runs in the child between fork and exec. It makes
    // system calls only, allocates nothing and takes no lock.
    unsafe { command.pre_exec(move || begin_child(parent, &mask)) };
}

fn begin_child(parent: ProcessId, mask: &libc::sigset_t) -> io::Result<()> {
    // SAFETY: takes a number and changes this process alone.
    succeeded(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })?;
    // SAFETY: no arguments.
    if unsafe { libc::getppid() } != parent {
        // It ended before the line above: there is nobody to report to.
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    // SAFETY: an initialised set; the old one is not asked for.
    succeeded(unsafe { libc::sigprocmask(libc::SIG_SETMASK, mask, ptr::null_mut()) })?;
    Ok(())
}

/// Waits until one of these can be read, or the time is over.
///
/// # Errors
///
/// The system cannot wait.
pub(super) fn wait_for_any(readers: &[BorrowedFd<'_>], limit: Option<Duration>) -> io::Result<()> {
    let mut list: Vec<libc::pollfd> = readers
        .iter()
        .map(|reader| libc::pollfd {
            fd: reader.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    // Rounded up: what is waited for must have come when the wait is over.
    let limit = limit.map_or(-1, |limit| {
        limit
            .as_micros()
            .div_ceil(1000)
            .try_into()
            .unwrap_or(libc::c_int::MAX)
    });
    // SAFETY: the list has this many entries and outlives the call; the
    // descriptors in it are borrowed, hence open.
    match succeeded(unsafe { libc::poll(list.as_mut_ptr(), list.len() as libc::nfds_t, limit) }) {
        Err(cause) if cause.kind() != io::ErrorKind::Interrupted => Err(cause),
        _ => Ok(()),
    }
}

/// Makes reads of this pipe return at once when it is empty.
///
/// # Errors
///
/// The system refuses.
pub(super) fn do_not_block(pipe: BorrowedFd<'_>) -> io::Result<()> {
    let number = pipe.as_raw_fd();
    // SAFETY: an open descriptor; the call takes no pointer.
    let flags = succeeded(unsafe { libc::fcntl(number, libc::F_GETFL) })?;
    // SAFETY: as above.
    succeeded(unsafe { libc::fcntl(number, libc::F_SETFL, flags | libc::O_NONBLOCK) })?;
    Ok(())
}

/// A child that has ended and was not reaped yet. It stays so: its id, which is
/// that of its group, cannot be given to another process meanwhile.
pub(super) fn ended_child() -> Option<ProcessId> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: room for the answer, which outlives the call.
    let answer = unsafe { libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), flags) };
    if answer != 0 {
        return None;
    }
    // SAFETY: all bytes are zero or written by the call, which any siginfo_t may be.
    let info = unsafe { info.assume_init() };
    // SAFETY: this answer of waitid has that field; zero when no child has ended.
    let id = unsafe { info.si_pid() };
    (id != 0).then_some(id)
}

/// Removes what is left of a child that has ended; waits for one that has not.
pub(super) fn reap(child: ProcessId) {
    // SAFETY: a null pointer says that the status is not wanted.
    unsafe { libc::waitpid(child, ptr::null_mut(), 0) };
}

/// Sends a signal to the group that a child leads; to the child alone when it
/// left that group. The child must not have been reaped.
pub(super) fn signal_group(leader: ProcessId, signal: libc::c_int) {
    // SAFETY: takes numbers. The group is a child's own, see above.
    if unsafe { libc::kill(-leader, signal) } != 0 {
        // SAFETY: as above.
        unsafe { libc::kill(leader, signal) };
    }
}

/// Makes this process the parent of processes whose parents end below it, so
/// that none can slip away by leaving its group. False: it does not, because it
/// has children that others started before it became this tool (`exec` in a
/// script); or the system lacks it. Groups still get nearly all.
pub(super) fn adopt_orphans() -> bool {
    // SAFETY: takes numbers and changes this process alone.
    children().is_some_and(|list| list.is_empty())
        && unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) } == 0
}

/// Ends every child, and those that become children by that.
pub(super) fn end_children() {
    while let Some(children) = children().filter(|list| !list.is_empty()) {
        for child in children {
            // SAFETY: takes numbers. A child of this process that was not reaped.
            unsafe { libc::kill(child, libc::SIGKILL) };
            reap(child);
        }
    }
}

/// The children of this process, which has one thread.
fn children() -> Option<Vec<ProcessId>> {
    let list = fs::read_to_string("/proc/thread-self/children").ok()?;
    list.split_whitespace().map(|id| id.parse().ok()).collect()
}

fn own_id() -> ProcessId {
    // SAFETY: no arguments.
    unsafe { libc::getpid() }
}

fn empty_set() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: room for a set, which the call fills.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: filled by the line above.
    unsafe { set.assume_init() }
}

fn is_ignored(signal: libc::c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: asks only; room for the answer, which outlives the call.
    let answer = unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: all bytes are zero or written by the call; both are valid.
    let action = unsafe { action.assume_init() };
    answer == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// The answer of a call that says -1 when it fails.
fn succeeded(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(answer)
}
