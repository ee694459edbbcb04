//! A clock that is cheap enough to time a single call.
//!
//! On x86-64 it counts ticks of the time stamp counter, with fences, so that nothing of what is timed
//! runs outside of the interval. Elsewhere it is the system's monotonic clock.

use std::time::{Duration, Instant};

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
