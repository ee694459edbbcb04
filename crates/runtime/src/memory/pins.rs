//! Which parts of the host memory are locked, and how much may be.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::os::map;
use crate::settings::Pin;

/// Locked in steps of a slice of the store: 64 KiB.
const STEP: u64 = 1 << 16;
/// No unlocking leaves more stretches of locked memory. Each costs the kernel two mappings, of which a
/// process has 65530 unless the machine says otherwise (vm.max_map_count); the others are for the program.
const MOST_STRETCHES: usize = 4096;

/// What this process may lock, shared by all who lock.
pub(crate) struct Budget {
    mode: Pin,
    /// Bytes that may be locked; `None`: no limit.
    limit: Option<u64>,
    locked: AtomicU64,
    said: AtomicBool,
}

impl Budget {
    pub(crate) fn new(mode: Pin, limit: Option<u64>) -> Budget {
        Budget {
            mode,
            limit,
            locked: AtomicU64::new(0),
            said: AtomicBool::new(false),
        }
    }

    pub(crate) fn mode(&self) -> Pin {
        self.mode
    }

    pub(crate) fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Bytes locked now.
    pub(crate) fn locked(&self) -> u64 {
        self.locked.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: u64) -> bool {
        let most = self.limit.unwrap_or(u64::MAX);
        let taken = self
            .locked
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |locked| {
                locked.checked_add(bytes).filter(|sum| *sum <= most)
            });
        taken.is_ok()
    }

    fn give_back(&self, bytes: u64) {
        self.locked.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Locks a range. Whether it is locked; an error only in strict mode. Nothing of it stays locked
    /// otherwise.
    pub(crate) fn lock(&self, at: u64, bytes: u64) -> io::Result<bool> {
        if self.mode == Pin::Off {
            return Ok(false);
        }
        let locked = if self.take(bytes) {
            map::lock(at, bytes).inspect_err(|_| {
                // A failed lock may have locked a part.
                map::unlock(at, bytes);
                self.give_back(bytes);
            })
        } else {
            Err(io::ErrorKind::QuotaExceeded.into())
        };
        match locked {
            Ok(()) => Ok(true),
            Err(error) if self.mode == Pin::Strict => Err(error),
            Err(error) => {
                self.say_once(&error);
                Ok(false)
            }
        }
    }

    /// Undoes [`lock`](Self::lock) that locked.
    pub(crate) fn unlock(&self, at: u64, bytes: u64) {
        map::unlock(at, bytes);
        self.give_back(bytes);
    }

    fn say_once(&self, error: &io::Error) {
        if !self.said.swap(true, Ordering::Relaxed) {
            let limit = self
                .limit
                .map_or("none".to_owned(), |limit| format!("{limit} bytes"));
            crate::log::warn(format_args!(
                "host memory works but is not locked: {error} (limit {limit}); raise it with \
                 ulimit -l, or set CANNERY_PIN=strict to make this an error, off to silence it"
            ));
        }
    }
}

/// Pinning of one range of addresses.
pub(crate) struct Pins {
    base: u64,
    budget: Arc<Budget>,
    most_stretches: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    locked: Steps,
    /// Locked, though nobody uses them: to unlock them would make one stretch too many.
    kept: Steps,
    kept_steps: u64,
    /// Stretches of locked steps.
    stretches: usize,
    locked_bytes: u64,
    /// Bytes in use that could not be locked (mode auto).
    unlocked_bytes: u64,
}

/// A set of steps, one bit each.
#[derive(Default)]
struct Steps(Vec<u64>);

impl Steps {
    fn has(&self, step: u64) -> bool {
        self.0
            .get((step / 64) as usize)
            .is_some_and(|word| word >> (step % 64) & 1 == 1)
    }

    /// True: that changed something.
    fn set(&mut self, step: u64, on: bool) -> bool {
        let at = (step / 64) as usize;
        if at >= self.0.len() {
            self.0.resize(at + 1, 0);
        }
        let (old, bit) = (self.0[at], 1 << (step % 64));
        self.0[at] = if on { old | bit } else { old & !bit };
        self.0[at] != old
    }

    /// The first step of the set at or after `from`.
    fn next(&self, from: u64) -> Option<u64> {
        let mut at = (from / 64) as usize;
        let mut word = self.0.get(at)? & (u64::MAX << (from % 64));
        while word == 0 {
            at += 1;
            word = *self.0.get(at)?;
        }
        Some(at as u64 * 64 + u64::from(word.trailing_zeros()))
    }
}

impl State {
    /// Locked from now on, or unlocked; it was not before.
    fn mark(&mut self, step: u64, locked: bool) {
        self.locked.set(step, locked);
        let before = step > 0 && self.locked.has(step - 1);
        let beside = usize::from(before) + usize::from(self.locked.has(step + 1));
        if locked {
            self.stretches = self.stretches + 1 - beside;
            self.locked_bytes += STEP;
        } else {
            self.stretches = self.stretches + beside - 1;
            self.locked_bytes -= STEP;
        }
    }

    fn keep(&mut self, step: u64, kept: bool) {
        if self.kept.set(step, kept) {
            self.kept_steps = if kept {
                self.kept_steps + 1
            } else {
                self.kept_steps - 1
            };
        }
    }
}

/// Numbers for reports, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pinned {
    pub(crate) locked: u64,
    pub(crate) unlocked: u64,
}

impl Pins {
    pub(crate) fn new(base: u64, budget: Arc<Budget>) -> Pins {
        Pins {
            base,
            budget,
            most_stretches: MOST_STRETCHES,
            state: Mutex::default(),
        }
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn numbers(&self) -> Pinned {
        let state = self.state();
        Pinned {
            locked: state.locked_bytes,
            unlocked: state.unlocked_bytes,
        }
    }

    /// Locks what is not locked yet of a range that is about to be used. Both numbers are whole
    /// steps. An error only in strict mode.
    pub(crate) fn hold(&self, offset: u64, bytes: u64) -> io::Result<()> {
        if self.budget.mode == Pin::Off {
            return Ok(());
        }
        let mut state = self.state();
        let (mut step, end) = (offset / STEP, (offset + bytes) / STEP);
        while step < end {
            if state.locked.has(step) {
                state.keep(step, false);
                step += 1;
                continue;
            }
            let mut until = step + 1;
            while until < end && !state.locked.has(until) {
                until += 1;
            }
            let run = (until - step) * STEP;
            if self.budget.lock(self.base + step * STEP, run)? {
                (step..until).for_each(|step| state.mark(step, true));
            } else {
                state.unlocked_bytes += run;
            }
            step = until;
        }
        Ok(())
    }

    /// Unlocks a range that nobody uses any more, unless the kernel would have to remember too many
    /// stretches: then it stays locked until its neighbours are let go of. Both numbers are whole
    /// steps.
    pub(crate) fn let_go(&self, offset: u64, bytes: u64) {
        if self.budget.mode == Pin::Off {
            return;
        }
        let mut state = self.state();
        let (from, end) = (offset / STEP, (offset + bytes) / STEP);
        // With what was kept on both sides.
        let (mut first, mut last) = (from, end);
        while first > 0 && state.kept.has(first - 1) {
            first -= 1;
        }
        while state.kept.has(last) {
            last += 1;
        }
        if self.unlock(&mut state, first, last) {
            // The pages of the range itself are the caller's to give back.
            self.discard(first, from);
            self.discard(end, last);
        }
        if state.kept_steps > 0 && state.stretches <= self.most_stretches / 2 {
            self.unlock_kept(&mut state);
        }
        // Steps that were never handed out are neither; the number is for reports.
        if state.locked_bytes == 0 {
            state.unlocked_bytes = 0;
        }
    }

    /// False: the steps stay locked, and are marked as kept.
    fn unlock(&self, state: &mut State, first: u64, end: u64) -> bool {
        // Only the middle of a stretch leaves one more.
        let outer = first > 0 && state.locked.has(first - 1) && state.locked.has(end);
        let splits = outer && (first..end).all(|step| state.locked.has(step));
        let room = !splits || state.stretches < self.most_stretches;
        let done = room && map::unlock(self.base + first * STEP, (end - first) * STEP);
        for step in first..end {
            if done && state.locked.has(step) {
                state.mark(step, false);
                self.budget.give_back(STEP);
            }
            let kept = state.locked.has(step);
            state.keep(step, kept);
        }
        done
    }

    /// There is room again for what was kept.
    #[cold]
    fn unlock_kept(&self, state: &mut State) {
        let mut from = 0;
        while let Some(first) = state.kept.next(from) {
            let mut end = first + 1;
            while state.kept.has(end) {
                end += 1;
            }
            if self.unlock(state, first, end) {
                self.discard(first, end);
            }
            from = end;
        }
    }

    /// Gives the pages of kept steps back, which nobody did while they were locked. The state is held:
    /// nobody begins to use them meanwhile.
    fn discard(&self, first: u64, end: u64) {
        map::discard(self.base + first * STEP, (end - first) * STEP);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Budget, Pins, STEP};
    use crate::os::map;
    use crate::settings::Pin;

    const STEPS: u64 = 64;
    const MOST: usize = 8;

    /// Mappings of the kernel within a range.
    fn mappings(base: u64, bytes: u64) -> usize {
        let maps =
            std::fs::read_to_string("/proc/self/maps").expect("the mappings of this process");
        let within = |line: &&str| {
            let range = line
                .split(' ')
                .next()
                .and_then(|range| range.split_once('-'));
            range.is_some_and(|(from, to)| {
                let number = |text| u64::from_str_radix(text, 16).expect("an address");
                number(from) < base + bytes && number(to) > base
            })
        };
        maps.lines().filter(within).count()
    }

    fn opened() -> (Pins, u64) {
        let base = map::reserve(None, STEPS * STEP, map::Access::ReadWrite).expect("4 MiB");
        let mut pins = Pins::new(base, Arc::new(Budget::new(Pin::Auto, None)));
        pins.most_stretches = MOST;
        pins.hold(0, STEPS * STEP).expect("auto never fails");
        (pins, base)
    }

    /// Letting go never goes beyond `most` stretches.
    fn check(pins: &Pins, base: u64, most: usize) {
        let state = pins.state();
        assert!(state.stretches <= most, "{} stretches", state.stretches);
        let count = |set: &super::Steps| (0..STEPS).filter(|step| set.has(*step)).count() as u64;
        assert_eq!(count(&state.locked) * STEP, state.locked_bytes);
        assert_eq!(count(&state.kept), state.kept_steps);
        let begins =
            |step: &u64| state.locked.has(*step) && (*step == 0 || !state.locked.has(*step - 1));
        assert_eq!((0..STEPS).filter(begins).count(), state.stretches);
        let most = 2 * most + 1;
        let mappings = mappings(base, STEPS * STEP);
        assert!(
            mappings <= most,
            "{mappings} mappings, at most {most} expected"
        );
    }

    /// As the store does.
    fn let_go(pins: &Pins, base: u64, step: u64) {
        pins.let_go(step * STEP, STEP);
        map::discard(base + step * STEP, STEP);
    }

    #[test]
    fn a_checkerboard_stays_within_the_stretches() {
        let (pins, base) = opened();
        if pins.numbers().unlocked > 0 {
            eprintln!("4 MiB may not be locked here: nothing to see");
            return;
        }
        for step in (0..STEPS).filter(|step| step % 2 == 1) {
            let_go(&pins, base, step);
            check(&pins, base, MOST);
        }
        let locked = pins.numbers().locked / STEP;
        assert!(locked > STEPS / 2, "{locked} steps locked: some are kept");
        // Used again, while kept.
        pins.hold((STEPS - 1) * STEP, STEP).expect("locked already");
        let_go(&pins, base, STEPS - 1);
        for step in (0..STEPS).filter(|step| step % 2 == 0) {
            let_go(&pins, base, step);
            check(&pins, base, MOST);
        }
        assert_eq!(pins.numbers().locked, 0);
        assert_eq!(pins.budget().locked(), 0);
        assert_eq!(pins.state().kept_steps, 0);
        assert_eq!(map::resident_bytes(base, STEPS * STEP, u64::MAX), 0);
        map::release(base, STEPS * STEP);
    }

    #[test]
    fn a_random_order_ends_unlocked() {
        for seed in 1..20u64 {
            let (pins, base) = opened();
            if pins.numbers().unlocked > 0 {
                eprintln!("4 MiB may not be locked here: nothing to see");
                return;
            }
            let mut random = crate::stream::random::Random::new(seed);
            let mut used: Vec<u64> = (0..STEPS).collect();
            let mut free = Vec::new();
            while !used.is_empty() {
                if !free.is_empty() && random.below(4) == 0 {
                    let step = free.swap_remove(random.below(free.len() as u64) as usize);
                    pins.hold(step * STEP, STEP).expect("auto never fails");
                    used.push(step);
                }
                let step = used.swap_remove(random.below(used.len() as u64) as usize);
                // Those that were locked while it was in use stay.
                let before = pins.state().stretches;
                let_go(&pins, base, step);
                free.push(step);
                check(&pins, base, before.max(MOST));
            }
            assert_eq!(pins.numbers().locked, 0, "seed {seed}");
            assert_eq!(
                map::resident_bytes(base, STEPS * STEP, u64::MAX),
                0,
                "seed {seed}"
            );
            map::release(base, STEPS * STEP);
        }
    }
}
