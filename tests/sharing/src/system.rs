//! What the system says of processes.

use std::time::{Duration, Instant};

/// Open descriptors and mappings of this process.
pub(crate) fn counts() -> (usize, usize) {
    let descriptors = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    (descriptors, maps.lines().count())
}

/// Names under which a process listens.
pub(crate) fn names_of(pid: i32) -> Vec<String> {
    let sockets = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let middle = format!("-{pid}-");
    let names = sockets.lines().filter_map(|line| line.rsplit(' ').next());
    let mut names: Vec<_> = names
        .filter(|name| name.starts_with("@cannery-") && name.contains(&middle))
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Whether this becomes true within a few seconds.
pub(crate) fn soon(mut holds: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    loop {
        if holds() {
            return true;
        }
        if begin.elapsed() > Duration::from_secs(5) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal.
pub(crate) fn signal(pid: i32, number: i32) {
    // SAFETY: no memory is involved; the process is a child of this one.
    unsafe { libc::kill(pid, number) };
}

/// Whether every thread of a process is stopped.
pub(crate) fn is_stopped(pid: i32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task"));
    tasks.into_iter().flatten().flatten().all(|task| {
        let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        stat.rfind(')')
            .is_some_and(|end| stat[end..].starts_with(") T"))
    })
}

/// Forks; what the child does ends with the code that it is left with, without cleaning up.
pub(crate) fn fork(child: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child only calls what is safe after a fork in this single-threaded program, and
    // the library under test, whose promise that is.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let code = child();
        // SAFETY: ends the process.
        unsafe { libc::_exit(code) };
    }
    pid
}

/// Waits for a forked child; its exit code.
pub(crate) fn wait_for(pid: i32) -> i32 {
    let mut status = 0;
    // SAFETY: a place for the status.
    unsafe { libc::waitpid(pid, &raw mut status, 0) };
    libc::WEXITSTATUS(status)
}

/// Whether this process may become another user.
pub(crate) fn is_root() -> bool {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Becomes another user for good.
pub(crate) fn become_nobody() {
    // SAFETY: changes ids only.
    unsafe {
        libc::setgid(65534);
        libc::setuid(65534);
    }
}
