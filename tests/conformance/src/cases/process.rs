//! Processes: forking, faults of host code.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::support::*;

/// Code of runtime calls in a forked child that did not initialise anew.
const FORKED: i32 = 507_033;

/// How a forked child ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Exit(i32),
    Signal(i32),
    Hung,
}

/// A forked child of the case.
struct Child(libc::pid_t);

impl Child {
    /// Forks; the child runs `body`, exits with what it returns, or with 99
    /// when it panics.
    fn start(body: impl FnOnce() -> i32) -> Self {
        #[allow(unsafe_code)] // Forking is what is tested.
        // SAFETY: the child only runs `body` and leaves without unwinding
        // into the harness. Bodies fork while no other thread of the case
        // holds a lock.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            let code = catch_unwind(AssertUnwindSafe(body)).unwrap_or(99);
            #[allow(unsafe_code)] // The child must not return into the harness.
            // SAFETY: ends the process without running anything else.
            unsafe {
                libc::_exit(code)
            }
        }
        if pid < 0 {
            abort("fork failed");
        }
        Self(pid)
    }

    /// Waits for the end, at most ten seconds.
    fn end(&self) -> End {
        let begin = Instant::now();
        loop {
            let mut status = 0;
            #[allow(unsafe_code)] // A system call without a wrapper for pids.
            // SAFETY: `status` is valid; the pid is a child of this process.
            let done = unsafe { libc::waitpid(self.0, &raw mut status, libc::WNOHANG) };
            if done == self.0 {
                return if libc::WIFSIGNALED(status) {
                    End::Signal(libc::WTERMSIG(status))
                } else {
                    End::Exit(libc::WEXITSTATUS(status))
                };
            }
            if begin.elapsed() > Duration::from_secs(10) {
                self.kill();
                return End::Hung;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn kill(&self) {
        #[allow(unsafe_code)] // A system call without a wrapper for pids.
        // SAFETY: the pid is a child of this process that was not waited for.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
        }
    }
}

/// The first failing step of a child, as its exit code; 0 when all hold.
fn steps(steps: &[&dyn Fn() -> bool]) -> i32 {
    let failing = steps.iter().position(|step| !step());
    failing.map_or(0, |at| at as i32 + 1)
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.fork.child_gets_an_error", Setup::device0(), |t| {
            let (p, bytes) = t.filled(1000);
            let begin = Instant::now();
            let child = Child::start(|| {
                let fails = |code: i32| {
                    let text = recent_text().unwrap_or_default();
                    code == FORKED && !text.is_empty()
                };
                let mut q = SENTINEL;
                let (mut free, mut total) = (UNTOUCHED, UNTOUCHED);
                let malloc = fails(aclrtMalloc(&raw mut q, 64, 0));
                let info = fails(aclrtGetMemInfo(ACL_HBM_MEM, &raw mut free, &raw mut total));
                steps(&[
                    &|| malloc,
                    &|| q == SENTINEL,
                    &|| info,
                    &|| (free, total) == (UNTOUCHED, UNTOUCHED),
                    &|| fails(aclrtSetDevice(0)),
                    &|| fails(aclrtFree(p)),
                    &|| fails(aclrtSynchronizeDevice()),
                ])
            });
            t.eq(child.end(), End::Exit(0), "first failing step of the child");
            t.check(
                begin.elapsed() < Duration::from_secs(2),
                "the child answers at once",
            );
            t.holds(p, &bytes, "the parent's block");
            t.free(p);
        }),
        case("x.fork.child_starts_afresh", Setup::device0(), |t| {
            let (p, bytes) = t.filled(1000);
            let child = Child::start(|| {
                let data = vec![9_u8; 1000];
                let mut back = vec![0_u8; 1000];
                let mut q = SENTINEL;
                let codes = [
                    aclInit(null()),
                    aclrtSetDevice(0),
                    aclrtMalloc(&raw mut q, 1000, 0),
                    aclrtMemcpy(q, 1000, src(&data), 1000, ACL_MEMCPY_HOST_TO_DEVICE),
                    aclrtMemcpy(dst(&mut back), 1000, q, 1000, ACL_MEMCPY_DEVICE_TO_HOST),
                    aclrtFree(q),
                    aclrtResetDevice(0),
                    aclFinalize(),
                ];
                let failing = codes.iter().position(|code| *code != 0);
                failing.map_or(i32::from(back != data) * 50, |at| at as i32 + 1)
            });
            t.eq(child.end(), End::Exit(0), "first failing call of the child");
            t.holds(p, &bytes, "the parent's block");
            t.free(p);
        }),
        case("x.fork.before_the_first_call", Setup::fresh(), |t| {
            let child = Child::start(|| {
                steps(&[
                    &|| aclInit(null()) == 0,
                    &|| aclrtSetDevice(0) == 0,
                    &|| {
                        let mut p = SENTINEL;
                        aclrtMalloc(&raw mut p, 64, 0) == 0
                    },
                ])
            });
            t.eq(child.end(), End::Exit(0), "first failing step of the child");
            t.ok(aclInit(null()), "aclInit in the parent");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice in the parent");
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            t.usable(p, 64);
        }),
        case("x.fork.child_exits_normally", Setup::device0(), |t| {
            // Exit handlers run in a child that never used the runtime.
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            let child = Child::start(|| std::process::exit(0));
            t.eq(child.end(), End::Exit(0), "end of the child");
            t.usable(p, 64);
        }),
        case("x.ep.host_dereference_faults", Setup::device0(), |t| {
            let p = t.malloc(4096, ACL_MEM_MALLOC_HUGE_FIRST);
            t.usable(p, 4096);
            let child = Child::start(|| {
                // Reads device memory on the host on purpose: must fault.
                let seen = host_read(p, 1);
                i32::from(seen[0]) & 1
            });
            t.eq(
                child.end(),
                End::Signal(libc::SIGSEGV),
                "end of a host read",
            );
            let child = Child::start(|| {
                host_write(p, &[1]);
                0
            });
            t.eq(
                child.end(),
                End::Signal(libc::SIGSEGV),
                "end of a host write",
            );
            t.usable(p, 4096);
        }),
    ]
}
