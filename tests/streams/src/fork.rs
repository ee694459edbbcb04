//! A fork while work is queued: the child is refused until it starts afresh, the parent goes on.

use std::time::{Duration, Instant};

use cannery_abi::*;

use crate::api::*;
use crate::gate::Gate;
use crate::{make, progress, trouble};

const BYTES: usize = 100_000;
/// What the child must get from every call before aclInit.
const FORKED: aclError = 507_033;
/// What a handle of the parent's is worth afterwards.
const DEAD: aclError = 107_017;
/// No wait of the child takes longer, in milliseconds.
const LIMIT: i32 = 1000;
const SOON: Duration = Duration::from_secs(3);

/// Forks with work queued, several times, and runs programs besides.
pub(crate) fn play() {
    ok(aclrtSetDevice(0), "aclrtSetDevice");
    for (round, ends_by_exit) in (0..).zip([true, false, true]) {
        progress::begin(round, "a fork");
        fork_with_work(ends_by_exit);
    }
    ok(aclrtResetDevice(0), "aclrtResetDevice");
}

fn fork_with_work(ends_by_exit: bool) {
    let stream = make::stream();
    let (block, host) = (make::device(BYTES), make::pinned(BYTES));
    let bytes: Vec<u8> = (0..BYTES).map(|i| (i * 7 % 251) as u8).collect();
    make::write(host, &bytes);
    let gate = Gate::closed();
    gate.launch(stream);
    let kind = ACL_MEMCPY_HOST_TO_DEVICE;
    let code = aclrtMemcpyAsync(block, BYTES, host, BYTES, kind, stream);
    ok(code, "aclrtMemcpyAsync");
    // Where the schedule runs the function at once, fork while it is inside.
    gate.entered_within(Duration::from_millis(50));

    // SAFETY: the child makes calls of the interface, allocates, and ends; locks of this program
    // that other threads may hold are not touched there.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let verdict = child(stream);
        // SAFETY: neither call has a precondition here; `exit` runs what is registered for the end.
        unsafe {
            if ends_by_exit {
                libc::exit(verdict)
            }
            libc::_exit(verdict)
        }
    }
    match status_of(pid) {
        Some(0) => {}
        Some(verdict) => trouble::note(format!("the child: {}", reason(verdict))),
        None => trouble::note("the child hangs".to_owned()),
    }
    // SAFETY: a constant C string.
    let code = unsafe { libc::system(c"true".as_ptr()) };
    trouble::unless(code == 0, || format!("system() with work queued: {code}"));

    gate.open();
    ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    if let Some(text) = make::difference(&make::download(block, BYTES), &bytes) {
        trouble::note(format!("the parent's copy: {text}"));
    }
    ok(aclrtDestroyStream(stream), "aclrtDestroyStream");
    ok(aclrtFree(block), "aclrtFree");
    ok(aclrtFreeHost(host), "aclrtFreeHost");
}

/// Verdicts of the child: 0 for all well, else which of [`REASONS`].
const REASONS: [&str; 7] = [
    "the refusal has no text",
    "an allocation was not refused with 507033",
    "aclInit failed",
    "aclrtSetDevice failed after aclInit",
    "the parent's stream was accepted after aclInit",
    "work of its own was refused, or not done in time",
    "its own copy brought wrong bytes",
];

/// Verdicts from here on: which of the first calls was not refused with 507033.
const FIRST_CALL: i32 = 100;

fn reason(verdict: i32) -> String {
    if verdict >= FIRST_CALL {
        let number = verdict - FIRST_CALL + 1;
        return format!("first call {number} was not refused with {FORKED}");
    }
    let known = usize::try_from(verdict - 1)
        .ok()
        .and_then(|i| REASONS.get(i));
    known.map_or_else(|| format!("status {verdict}"), |text| (*text).to_owned())
}

fn child(stream: aclrtStream) -> i32 {
    let mut status = 0;
    let refused = [
        aclrtSynchronizeStreamWithTimeout(stream, LIMIT),
        aclrtStreamQuery(stream, &raw mut status),
        aclrtDestroyStreamForce(stream),
        aclrtSynchronizeDevice(),
        aclrtRecordNotify(stream, stream),
        aclrtProcessReport(LIMIT),
    ];
    if let Some(i) = refused.iter().position(|code| *code != FORKED) {
        return FIRST_CALL + i as i32;
    }
    if aclGetRecentErrMsg().is_null() {
        return 1;
    }
    let mut block = std::ptr::null_mut();
    if aclrtMalloc(&raw mut block, 64, ACL_MEM_MALLOC_HUGE_FIRST) != FORKED {
        return 2;
    }
    if aclInit(std::ptr::null()) != 0 {
        return 3;
    }
    if aclrtSetDevice(0) != 0 {
        return 4;
    }
    if aclrtSynchronizeStreamWithTimeout(stream, LIMIT) != DEAD {
        return 5;
    }
    let (mut own, mut host) = (std::ptr::null_mut(), std::ptr::null_mut());
    let refused = aclrtCreateStream(&raw mut own) != 0
        || aclrtMalloc(&raw mut block, 64, ACL_MEM_MALLOC_HUGE_FIRST) != 0
        || aclrtMallocHost(&raw mut host, 64) != 0
        || aclrtMemsetAsync(block, 64, 7, 64, own) != 0
        || aclrtMemcpyAsync(host, 64, block, 64, ACL_MEMCPY_DEVICE_TO_HOST, own) != 0
        || aclrtSynchronizeStreamWithTimeout(own, LIMIT) != 0;
    if refused {
        return 6;
    }
    if make::read(host, 64) != [7; 64] {
        return 7;
    }
    0
}

/// The exit status of the child, or the negative of the signal that ended it; `None` when it had to
/// be ended.
fn status_of(pid: i32) -> Option<i32> {
    let until = Instant::now() + SOON;
    loop {
        let mut status = 0;
        // SAFETY: `status` is valid; `pid` is this process's child.
        let done = unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) };
        if done == pid {
            return Some(if libc::WIFEXITED(status) {
                libc::WEXITSTATUS(status)
            } else {
                -libc::WTERMSIG(status)
            });
        }
        if Instant::now() >= until {
            // SAFETY: the child has not been waited for, so the number is still its own.
            unsafe {
                libc::kill(pid, libc::SIGKILL);
                libc::waitpid(pid, &raw mut status, 0);
            }
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
