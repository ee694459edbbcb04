//! Time as the kernel shows it without a system call.

/// Nanoseconds of the monotonic clock at its last tick: cheap to read, and the same number for a tick
/// of 1 to 10 ms.
pub(crate) fn coarse() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the place is ours. This clock always exists; else the time stays 0.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut now) };
    now.tv_sec
        .cast_unsigned()
        .wrapping_mul(1_000_000_000)
        .wrapping_add(now.tv_nsec.cast_unsigned())
}
