//! Counts the instructions of a child process, one by one.
//!
//! Hardware counters are often missing in virtual machines, and tools that translate the program have
//! no room for Cannery's address window. Single steps work wherever a process may trace its child: a
//! few microseconds each, and the same number every time.
//!
//! The child stops itself ([`mark`]) four times: around nothing, for the loader to look up what it has
//! not yet; around nothing again; around the work. What the marks cost is in the last two counts alike.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::ptr;

/// Stops this process until the parent goes on.
#[inline(never)]
pub(crate) fn mark() {
    // SAFETY: a signal to this thread.
    unsafe { libc::raise(libc::SIGSTOP) };
}

/// Instructions between the third and the fourth mark of the command.
///
/// # Errors
/// Why it could not be traced, or how it ended early.
pub(crate) fn count(command: &mut Command) -> Result<u64, String> {
    // SAFETY: one system call, which is allowed between fork and exec.
    unsafe { command.pre_exec(|| told(libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0))) };
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let counted = traced(&child);
    // The child may be stopped; it is ours, and nothing of it is needed any more.
    end(&mut child);
    counted.map_err(|error| error.to_string())
}

fn traced(child: &Child) -> io::Result<u64> {
    let pid = child.id() as libc::pid_t;
    expect_stop(pid, libc::SIGTRAP)?; // the exec
    for _ in 0..2 {
        resume(pid, libc::PTRACE_CONT)?;
        expect_stop(pid, libc::SIGSTOP)?;
    }
    let nothing = steps(pid)?;
    let work = steps(pid)?;
    work.checked_sub(nothing)
        .ok_or_else(|| io::Error::other("the marks did not enclose the work"))
}

/// Steps to the next mark.
fn steps(pid: libc::pid_t) -> io::Result<u64> {
    let mut count = 0;
    loop {
        resume(pid, libc::PTRACE_SINGLESTEP)?;
        match stop(pid)? {
            libc::SIGTRAP => count += 1,
            libc::SIGSTOP => return Ok(count),
            other => return Err(io::Error::other(format!("signal {other}"))),
        }
    }
}

fn resume(pid: libc::pid_t, request: libc::c_uint) -> io::Result<()> {
    let none = ptr::null_mut::<libc::c_void>();
    // SAFETY: the child is ours and stopped; no address is given.
    told(unsafe { libc::ptrace(request, pid, none, none) })
}

fn told(answer: libc::c_long) -> io::Result<()> {
    if answer == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn expect_stop(pid: libc::pid_t, signal: i32) -> io::Result<()> {
    match stop(pid)? {
        seen if seen == signal => Ok(()),
        other => Err(io::Error::other(format!("stopped by signal {other}"))),
    }
}

/// The signal that the child stopped by.
fn stop(pid: libc::pid_t) -> io::Result<i32> {
    let mut status = 0;
    // SAFETY: the place is valid.
    told(unsafe { libc::waitpid(pid, &raw mut status, 0) }.into())?;
    if libc::WIFSTOPPED(status) {
        return Ok(libc::WSTOPSIG(status));
    }
    Err(io::Error::other("the child ended before its last mark"))
}

fn end(child: &mut Child) {
    // Both fail when it has ended already.
    let _ = child.kill();
    let _ = child.wait();
}
