//! Two clocks.
//!
//! [`Busy`] times a round: the time that the thread really ran. Where nothing waits for anything that is
//! the time on the wall of a quiet machine, and on a busy one it is still true.
//!
//! [`ticks`] is cheap enough to time a single call. On x86-64 it counts ticks of the time stamp counter, with fences, so that nothing of what is timed
//! runs outside of the interval. Elsewhere it is the system's monotonic clock.

use std::time::{Duration, Instant};

/// Processor time of the calling thread since it was made.
pub(crate) struct Busy(u64);

impl Busy {
    pub(crate) fn start() -> Busy {
        Busy(Self::now())
    }

    /// Nanoseconds for each of `calls` since the start.
    pub(crate) fn per(&self, calls: usize) -> f64 {
        (Self::now() - self.0) as f64 / calls as f64
    }

    fn now() -> u64 {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the place is valid.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}

/// How often the system took the processor away from this thread though it wanted to go on.
pub(crate) fn interruptions() -> i64 {
    // SAFETY: all zero is a valid value, and the place is valid.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage.ru_nivcsw
    }
}

/// Now, in ticks.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    use std::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: both instructions exist on every x86-64 processor and touch no memory.
    unsafe {
        _mm_lfence();
        let now = _rdtsc();
        _mm_lfence();
        now
    }
}

/// Now, in ticks.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// The clock against the system's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// Ticks of a nanosecond.
    pub(crate) ticks_per_ns: f64,
    /// What an empty interval shows, in ticks.
    pub(crate) own_ticks: u32,
}

impl Clock {
    /// Measures both. Takes 50 ms.
    pub(crate) fn calibrate() -> Clock {
        let (begun, first) = (Instant::now(), ticks());
        while begun.elapsed() < Duration::from_millis(50) {
            std::hint::spin_loop();
        }
        let (last, took) = (ticks(), begun.elapsed());
        let mut empty: Vec<u32> = (0..20_001)
            .map(|_| {
                let begun = ticks();
                (ticks() - begun) as u32
            })
            .collect();
        let middle = empty.len() / 2;
        Clock {
            ticks_per_ns: (last - first) as f64 / took.as_nanos() as f64,
            own_ticks: *empty.select_nth_unstable(middle).1,
        }
    }

    /// The quantile of intervals, in nanoseconds, without what the clock itself costs.
    pub(crate) fn quantile(&self, intervals: &mut [u32], share: f64) -> f64 {
        let at = ((intervals.len() as f64 * share) as usize).min(intervals.len() - 1);
        let ticks = *intervals.select_nth_unstable(at).1;
        f64::from(ticks.saturating_sub(self.own_ticks)) / self.ticks_per_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_leave_out_the_clock() {
        let clock = Clock {
            ticks_per_ns: 2.0,
            own_ticks: 10,
        };
        let mut intervals: Vec<u32> = (0..1000).rev().map(|n| 10 + 2 * n).collect();
        assert_eq!(clock.quantile(&mut intervals, 0.999), 999.0);
        assert_eq!(clock.quantile(&mut intervals, 0.5), 500.0);
        assert_eq!(clock.quantile(&mut [3, 3], 0.999), 0.0);
    }

    #[test]
    fn ticks_follow_the_system_clock() {
        let clock = Clock::calibrate();
        let (begun, first) = (Instant::now(), ticks());
        std::thread::sleep(Duration::from_millis(20));
        let took = (ticks() - first) as f64 / clock.ticks_per_ns;
        let true_time = begun.elapsed().as_nanos() as f64;
        assert!(
            (took / true_time - 1.0).abs() < 0.05,
            "{took} ns, not {true_time}"
        );
    }
}
