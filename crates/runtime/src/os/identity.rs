//! Processes told apart even when the system uses a process id again.

use std::os::unix::fs::MetadataExt as _;

use super::{host, process};

/// A process as one number: its id, and when it started. `None`: there is no such process (a zombie is
/// none). Never 0.
pub(crate) fn of(pid: i32) -> Option<u64> {
    let seen = process::look(pid)?;
    Some((seen.start & 0xffff_ffff) << 32 | u64::from(pid.cast_unsigned()))
}

/// The calling process.
pub(crate) fn own() -> u64 {
    let pid = host::pid();
    of(pid).unwrap_or_else(|| u64::from(pid.cast_unsigned()))
}

/// Whether a process belongs to the user of this one.
pub(crate) fn is_of_same_user(pid: i32) -> bool {
    let owner = |path: String| std::fs::metadata(path).map(|about| about.uid()).ok();
    owner(format!("/proc/{pid}")).is_some_and(|uid| owner("/proc/self".to_owned()) == Some(uid))
}

/// Whether this very process is still there.
pub(crate) fn lives(identity: u64) -> bool {
    of(pid(identity)) == Some(identity)
}

/// The process id.
pub(crate) fn pid(identity: u64) -> i32 {
    (identity as u32).cast_signed()
}

#[cfg(test)]
mod tests {
    #[test]
    fn processes_are_told_apart() {
        let me = super::own();
        assert!(super::lives(me));
        assert_eq!(super::pid(me), super::host::pid());
        // The same id with another start is another process.
        assert!(!super::lives(me ^ 1 << 40));
        assert_eq!(super::of(i32::MAX), None);
    }
}
