//! Threads of the runtime.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread::Thread;

/// Starts a thread with so many bytes of stack that takes no signals of the program. False when there is none to be had.
pub(crate) fn spawn_quiet(name: &str, stack: usize, run: impl FnOnce() + Send + 'static) -> bool {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: both sets are places for the calls to write to; the first is filled before its use.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let started = std::thread::Builder::new()
        .name(name.to_owned())
        .stack_size(stack)
        .spawn(move || {
            // A panic here must not take the program down.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        })
        .is_ok();
    // SAFETY: `before` was written by the call above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    started
}

/// Makes the calling thread the one that [`unpark`] wakes.
pub(crate) fn publish_current(place: &AtomicPtr<Thread>) {
    let thread = Box::into_raw(Box::new(std::thread::current()));
    // The old one is leaked: somebody may be reading it.
    place.store(thread, Ordering::Release);
}

/// Wakes the published thread, if there is one.
pub(crate) fn unpark(place: &AtomicPtr<Thread>) {
    let thread = place.load(Ordering::Acquire);
    // SAFETY: published by `publish_current` and never freed.
    if let Some(thread) = unsafe { thread.as_ref() } {
        thread.unpark();
    }
}

/// Number of the calling thread in the system.
pub(crate) fn id() -> i32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::gettid() }
}

/// Whether a thread of this process neither runs nor waits for a core.
pub(crate) fn sleeps(id: i32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/self/task/{id}/stat")) else {
        return false;
    };
    // The state is the first field behind the name, which may hold anything.
    let state = stat
        .rfind(')')
        .and_then(|end| stat[end + 1..].trim_start().chars().next());
    state == Some('S')
}

/// Whether the program has ended all its threads, the first one included, so that only threads of
/// the runtime keep the process alive.
pub(crate) fn program_is_over() -> bool {
    // The state of the process is that of its first thread.
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else {
        return false;
    };
    let state = stat
        .rfind(')')
        .and_then(|end| stat[end + 1..].trim_start().chars().next());
    if state != Some('Z') {
        return false;
    }
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else {
        return false;
    };
    let first = super::host::pid().to_string();
    tasks.flatten().all(|task| {
        let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        *task.file_name() == *first || name.starts_with("cannery-")
    })
}

/// Calls `act` in every child that is forked from now on. It may only make system calls.
pub(crate) fn at_fork_in_child(act: extern "C" fn()) {
    // SAFETY: the function stays in memory: the library is never unloaded.
    unsafe { libc::pthread_atfork(None, None, Some(act)) };
}

/// Closes a descriptor whose owner does not exist in this process.
pub(crate) fn close_raw(descriptor: i32) {
    // SAFETY: per contract nobody else closes or uses it.
    unsafe { libc::close(descriptor) };
}
