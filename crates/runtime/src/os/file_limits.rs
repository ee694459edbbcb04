//! Limits for files of this process: how long they may be, and how many may be open.

use std::io;

/// Does something that makes files longer. Beyond the limit (`ulimit -f`) the kernel sends a signal that
/// ends a program which does not expect it; here the call fails with `EFBIG` alone.
pub(crate) fn without_signal<R>(act: impl FnOnce() -> R) -> R {
    let Some(mask) = Blocked::new() else {
        return act();
    };
    let result = act();
    drop(mask);
    result
}

/// `SIGXFSZ` waits for this thread while it lives; one that came meanwhile is taken away.
struct Blocked {
    only: libc::sigset_t,
    before: libc::sigset_t,
    /// It waited already: that one is the program's.
    waited: bool,
}

impl Blocked {
    fn new() -> Option<Blocked> {
        // SAFETY: plain bits; the calls below fill them.
        let (mut only, mut before, mut waiting): (libc::sigset_t, libc::sigset_t, libc::sigset_t) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed(), std::mem::zeroed()) };
        // SAFETY: valid places; the mask of this thread alone changes.
        unsafe {
            libc::sigemptyset(&raw mut only);
            libc::sigaddset(&raw mut only, libc::SIGXFSZ);
            if libc::pthread_sigmask(libc::SIG_BLOCK, &raw const only, &raw mut before) != 0 {
                return None;
            }
            let known = libc::sigpending(&raw mut waiting) == 0;
            let waited = known && libc::sigismember(&raw const waiting, libc::SIGXFSZ) == 1;
            Some(Blocked {
                only,
                before,
                waited,
            })
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        let at_once = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: valid places; the signal is sent to the thread that wrote, which is this one.
        unsafe {
            if !self.waited {
                let nothing = std::ptr::null_mut();
                libc::sigtimedwait(&raw const self.only, nothing, &raw const at_once);
            }
            let nothing = std::ptr::null_mut();
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, nothing);
        }
    }
}

fn limit(of: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a valid place for the answer.
    let known = unsafe { libc::getrlimit(of, &raw mut limit) } == 0;
    (known && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Bytes that a file of this process may have; `None`: any.
pub(crate) fn longest() -> Option<u64> {
    limit(libc::RLIMIT_FSIZE)
}

/// Files that are open, counted without opening one more.
fn open_files(most: u64) -> u64 {
    const FAR: u64 = 1 << 20;
    let is_open = |fd: &u64| {
        // SAFETY: asks for a flag of a number that may be no descriptor.
        unsafe { libc::fcntl(*fd as libc::c_int, libc::F_GETFD) >= 0 }
    };
    (0..most.min(FAR)).filter(is_open).count() as u64
}

/// What to do about an error that a limit for files explains; `None`: it is another one.
pub(crate) fn remedy(error: &io::Error) -> Option<String> {
    match error.raw_os_error() {
        Some(libc::EMFILE) => {
            let most = limit(libc::RLIMIT_NOFILE).unwrap_or(u64::MAX);
            Some(format!(
                "{} of the {most} files that this process may have are open; close some, or raise the limit \
                 (ulimit -n)",
                open_files(most)
            ))
        }
        Some(libc::ENFILE) => Some(
            "the machine has as many files open as it may; close some, or raise its limit (fs.file-max)"
                .to_owned(),
        ),
        _ if error.kind() == io::ErrorKind::FileTooLarge => Some(match longest() {
            Some(most) => format!(
                "a file of this process may have {most} bytes at most; raise the limit (ulimit -f)"
            ),
            None => "the file system takes no file so long; choose another one".to_owned(),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{remedy, without_signal};

    #[test]
    fn a_signal_that_waited_before_stays() {
        // SAFETY: blocks a signal for this thread, sends it to this thread, and takes it away again.
        unsafe {
            let mut only: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut only);
            libc::sigaddset(&raw mut only, libc::SIGXFSZ);
            let nothing = std::ptr::null_mut();
            assert_eq!(
                libc::pthread_sigmask(libc::SIG_BLOCK, &raw const only, nothing),
                0
            );
            assert_eq!(libc::pthread_kill(libc::pthread_self(), libc::SIGXFSZ), 0);
            without_signal(|| ());
            let at_once = libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            let got = libc::sigtimedwait(&raw const only, std::ptr::null_mut(), &raw const at_once);
            assert_eq!(got, libc::SIGXFSZ);
            // One that comes meanwhile is gone.
            without_signal(|| libc::pthread_kill(libc::pthread_self(), libc::SIGXFSZ));
            let got = libc::sigtimedwait(&raw const only, std::ptr::null_mut(), &raw const at_once);
            assert_eq!(got, -1);
        }
    }

    #[test]
    fn other_errors_have_no_remedy_here() {
        let error = std::io::Error::from_raw_os_error(libc::EACCES);
        assert_eq!(remedy(&error), None);
        let error = std::io::Error::from_raw_os_error(libc::EMFILE);
        assert!(remedy(&error).is_some_and(|text| text.contains("ulimit -n")));
        // The kernel's own, and what is refused before it comes to that.
        let ours = std::io::Error::new(std::io::ErrorKind::FileTooLarge, "too long");
        for error in [std::io::Error::from_raw_os_error(libc::EFBIG), ours] {
            assert!(remedy(&error).is_some());
        }
    }
}
