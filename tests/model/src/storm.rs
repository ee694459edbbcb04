//! Threads that call at the same time.
//!
//! Nobody can say in which order racing calls take effect, so each thread checks what must hold
//! whatever the others do: its blocks lie apart from each other, keep their contents, are found by
//! every query, and are released once. When all stand still the figures must be exact again.
//!
//! In a *quiet* phase every thread keeps to its share of each pool: then no request may be refused,
//! however the runtime spreads free memory over threads. In a *hungry* phase threads take what they
//! get; a refusal is only right when the pool may really have been full.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};

use cannery_abi::{aclrtMemLocation, aclrtPtrAttributes};

use crate::api;
use crate::config::Config;
use crate::memory::{peek, poke};
use crate::model::{NO_MEMORY, PARAM_INVALID};
use crate::source::Source;

const MIB: u64 = 1 << 20;
/// Calls of a thread between two moments of rest.
const ROUND: u64 = 1_500;
const NORMAL: usize = 0;
const HUGE: usize = 1;

/// What all threads see.
struct Shared {
    config: Config,
    threads: usize,
    /// Upper bounds of what is charged, by device and pool: raised before a request, lowered after a
    /// release. And the highest they were in this phase.
    claimed: Vec<[AtomicU64; 2]>,
    highest: Vec<[AtomicU64; 2]>,
    /// Blocks on their way to another thread.
    passed: Mutex<Vec<Held>>,
    everybody: Barrier,
    quiet: AtomicBool,
    failed: AtomicBool,
}

/// A block in a thread's hands.
#[derive(Clone, Copy, Debug)]
struct Held {
    address: u64,
    size: u64,
    device: usize,
    /// `None`: pinned host memory.
    pool: Option<usize>,
    charge: u64,
    stamp: u64,
    /// Device whose normal pages pinned memory holds (RC mode).
    holder: usize,
}

/// One thread.
struct Thread<'a> {
    shared: &'a Shared,
    number: usize,
    source: Source,
    held: Vec<Held>,
    device: usize,
    /// Charged by this thread, by device and pool.
    own: Vec<[u64; 2]>,
    calls: u64,
}

/// Runs about `steps` calls. Returns how many were made.
pub(crate) fn play(config: &Config, seed: u64, steps: u64) -> u64 {
    let counters = || -> Vec<[AtomicU64; 2]> {
        (0..config.devices)
            .map(|_| [AtomicU64::new(0), AtomicU64::new(0)])
            .collect()
    };
    // Fewer threads than the runtime has arenas, and more.
    let threads = Source::seeded(seed).pick(&[2, 4, 4, 24]);
    let shared = Shared {
        config: config.clone(),
        threads,
        claimed: counters(),
        highest: counters(),
        passed: Mutex::default(),
        everybody: Barrier::new(threads),
        quiet: AtomicBool::new(true),
        failed: AtomicBool::new(false),
    };
    let rounds = (steps / (ROUND * threads as u64)).max(2);
    for device in 0..config.devices as i32 {
        must(api::aclrtSetDevice(device), "aclrtSetDevice");
    }
    let calls = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|number| {
                let shared = &shared;
                scope.spawn(move || run_thread(shared, number, seed, rounds))
            })
            .collect();
        // A thread that panics has said why; the others would wait for it for ever.
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| std::process::exit(1)))
            .sum()
    });
    for device in 0..config.devices {
        must(api::aclrtSetDevice(device as i32), "aclrtSetDevice");
        let pools = figures(config);
        assert_eq!(
            pools,
            totals(config),
            "device {device} is whole again at the end"
        );
    }
    calls
}

fn must(code: i32, function: &str) {
    if code != 0 {
        let text = api::recent_text().unwrap_or_default();
        panic!("{function} answered {code}: {text}");
    }
}

fn totals(config: &Config) -> [u64; 2] {
    [config.capacity - config.huge, config.huge - config.giant]
}

/// Free bytes of the pools of the current device.
fn figures(config: &Config) -> [u64; 2] {
    let attributes = if config.is_ddr() { [3, 2] } else { [5, 4] };
    attributes.map(|attribute| {
        let (mut free, mut total) = (0usize, 0usize);
        must(
            api::aclrtGetMemInfo(attribute, &raw mut free, &raw mut total),
            "aclrtGetMemInfo",
        );
        free as u64
    })
}

fn run_thread(shared: &Shared, number: usize, seed: u64, rounds: u64) -> u64 {
    let mut thread = Thread {
        shared,
        number,
        source: Source::seeded(seed * 64 + number as u64),
        held: Vec::new(),
        device: 0,
        own: vec![[0; 2]; shared.config.devices],
        calls: 0,
    };
    // Panicking while the others wait at the barrier would hang them.
    let alarm = Alarm(shared);
    thread.choose_device();
    for round in 0..rounds {
        for _ in 0..ROUND {
            thread.step();
        }
        thread.rest(round);
    }
    while let Some(held) = thread.held.pop() {
        thread.release(held);
    }
    for held in std::mem::take(&mut *shared.passed.lock().expect("no thread failed")) {
        thread.release(held);
    }
    shared.everybody.wait();
    let Thread { calls, .. } = thread;
    std::mem::forget(alarm);
    calls
}

/// Ends the process when a thread fails.
struct Alarm<'a>(&'a Shared);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if !self.0.failed.swap(true, Ordering::AcqRel) {
            std::process::exit(1);
        }
    }
}

impl Thread<'_> {
    fn choose_device(&mut self) {
        self.device = self.source.below(self.shared.config.devices as u64) as usize;
        must(api::aclrtSetDevice(self.device as i32), "aclrtSetDevice");
        self.calls += 1;
    }

    fn step(&mut self) {
        self.calls += 1;
        let full = self.held.len() > 400;
        match self
            .source
            .weighted(&[if full { 0 } else { 44 }, 36, 10, 4, 2, 2, 2])
        {
            0 => self.allocate(),
            1 => self.release_some(),
            2 => self.query(),
            3 => self.misuse(),
            4 => self.pass(),
            5 => self.choose_again(),
            _ => self.contexts(),
        }
    }

    /// One reference more and one less on a device that others use.
    fn choose_again(&mut self) {
        let before = self.device;
        self.choose_device();
        must(api::aclrtResetDevice(before as i32), "aclrtResetDevice");
    }

    fn contexts(&mut self) {
        let mut handle = 0u64;
        let place: *mut u64 = &raw mut handle;
        let mut before = 0u64;
        let saved: *mut u64 = &raw mut before;
        must(
            api::aclrtGetCurrentContext(saved.cast()),
            "aclrtGetCurrentContext",
        );
        must(
            api::aclrtCreateContext(place.cast(), self.device as i32),
            "aclrtCreateContext",
        );
        if self.source.once_in(2) {
            self.allocate();
        }
        must(
            api::aclrtDestroyContext(api::pointer(handle)),
            "aclrtDestroyContext",
        );
        must(
            api::aclrtSetCurrentContext(api::pointer(before)),
            "aclrtSetCurrentContext",
        );
    }

    fn allocate(&mut self) {
        let config = &self.shared.config;
        let host = self.source.once_in(5);
        let pool = if host {
            None
        } else if self.source.once_in(6) {
            Some(HUGE)
        } else {
            Some(NORMAL)
        };
        let size = match pool {
            Some(HUGE) => self.source.size(6 * MIB),
            _ if self.source.once_in(20) => self.source.size(3 * MIB),
            _ => self.source.size(24 << 10),
        };
        let padded = size.next_multiple_of(32) + if host { 0 } else { config.tail() };
        let charge = match pool {
            Some(HUGE) => padded.next_multiple_of(2 * MIB),
            Some(_) => padded.next_multiple_of(64),
            None if config.rc => padded.next_multiple_of(64),
            None => 0,
        };
        let counted = pool.unwrap_or(NORMAL);
        let share = totals(config)[counted] / self.shared.threads as u64;
        let quiet = self.shared.quiet.load(Ordering::Acquire);
        if quiet && self.own[self.device][counted] + charge > share {
            return self.release_some();
        }
        let claimed = &self.shared.claimed[self.device][counted];
        let now = claimed.fetch_add(charge, Ordering::AcqRel) + charge;
        let highest = &self.shared.highest[self.device][counted];
        highest.fetch_max(now, Ordering::AcqRel);
        let mut address = 0u64;
        let place: *mut u64 = &raw mut address;
        let code = match pool {
            None => api::aclrtMallocHost(place.cast(), size as usize),
            Some(HUGE) => api::aclrtMallocCached(place.cast(), size as usize, 1),
            Some(_) => api::aclrtMalloc(place.cast(), size as usize, 2),
        };
        if code == NO_MEMORY && charge > 0 {
            let total = totals(config)[counted];
            let text = api::recent_text();
            assert!(text.is_some(), "a refusal without a text");
            assert!(
                !quiet,
                "refused {charge} bytes of pool {counted} within the share: {text:?}"
            );
            let most = highest.load(Ordering::Acquire);
            assert!(
                most > total,
                "refused {charge} bytes, but at most {most} of {total} were taken: {text:?}"
            );
            claimed.fetch_sub(charge, Ordering::AcqRel);
            return;
        }
        must(code, "an allocation");
        let align = match pool {
            Some(HUGE) => 2 * MIB,
            None if config.rc => 1,
            _ => 64,
        };
        assert_eq!(address % align, 0, "{address:#x} is no multiple of {align}");
        let held = Held {
            address,
            size: padded,
            device: self.device,
            pool,
            charge,
            stamp: self.source.below(u64::MAX),
            holder: self.device,
        };
        self.own[self.device][counted] += charge;
        self.apart(&held);
        self.stamp(&held);
        self.held.push(held);
    }

    /// A new block overlaps none of the thread's.
    fn apart(&self, new: &Held) {
        for held in &self.held {
            let apart =
                held.address + held.size <= new.address || new.address + new.size <= held.address;
            assert!(apart, "{new:x?} overlaps {held:x?}");
        }
    }

    /// First and last bytes of a block: unlike those of every other block.
    fn marks(held: &Held) -> [(u64, [u8; 16]); 2] {
        let mut mark = [0; 16];
        mark[..8].copy_from_slice(&held.stamp.to_le_bytes());
        mark[8..].copy_from_slice(&held.address.to_le_bytes());
        [(0, mark), (held.size - 16, mark)]
    }

    fn stamp(&mut self, held: &Held) {
        for (at, mark) in Self::marks(held) {
            if held.pool.is_none() {
                poke(held.address + at, &mark);
            } else {
                let to = api::pointer(held.address + at);
                let code = api::aclrtMemcpy(to, 16, mark.as_ptr().cast(), 16, 1);
                must(code, "aclrtMemcpy to the device");
            }
        }
    }

    fn verify(&self, held: &Held) {
        for (at, mark) in Self::marks(held) {
            let got = if held.pool.is_none() {
                peek(held.address + at, 16)
            } else {
                let mut bytes = vec![0u8; 16];
                let from = api::pointer(held.address + at);
                let code = api::aclrtMemcpy(bytes.as_mut_ptr().cast(), 16, from, 16, 2);
                must(code, "aclrtMemcpy to the host");
                bytes
            };
            assert_eq!(got, mark, "somebody wrote into {held:x?} at {at}");
        }
    }

    fn release_some(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let at = self.source.below(self.held.len() as u64) as usize;
        let held = self.held.swap_remove(at);
        self.release(held);
    }

    fn release(&mut self, held: Held) {
        self.verify(&held);
        let pointer = api::pointer(held.address);
        let code = match held.pool {
            None => api::aclrtFreeHost(pointer),
            Some(_) => api::aclrtFree(pointer),
        };
        must(code, "a release");
        self.calls += 1;
        let counted = held.pool.unwrap_or(NORMAL);
        let own = &mut self.own[held.holder][counted];
        // Blocks that another thread made were never in this thread's count.
        *own = own.saturating_sub(held.charge);
        self.shared.claimed[held.holder][counted].fetch_sub(held.charge, Ordering::AcqRel);
    }

    /// What the runtime says of a block that is certainly alive.
    fn query(&mut self) {
        let Some(held) = self.held.last().copied() else {
            return;
        };
        let inside = self.source.below(held.size);
        let mut attributes = aclrtPtrAttributes {
            location: aclrtMemLocation { id: 77, r#type: 77 },
            pageSize: 0,
            rsv: [0; 4],
        };
        let at = api::pointer(held.address + inside);
        must(
            api::aclrtPointerGetAttributes(at, &raw mut attributes),
            "aclrtPointerGetAttributes",
        );
        let location = attributes.location;
        let right = match held.pool {
            None => location.r#type == 0,
            Some(_) => location.r#type == 1 && location.id == held.device as u32,
        };
        assert!(right, "{held:x?} at {inside} is said to be {attributes:?}");
        let (mut base, mut size) = (0u64, 0usize);
        let place: *mut u64 = &raw mut base;
        must(
            api::aclrtMemGetAddressRange(at, place.cast(), &raw mut size),
            "aclrtMemGetAddressRange",
        );
        assert_eq!((base, size as u64), (held.address, held.size));
        let free = figures(&self.shared.config);
        for (pool, total) in totals(&self.shared.config).into_iter().enumerate() {
            assert!(free[pool] <= total, "{} of {total} are free", free[pool]);
        }
    }

    /// Wrong releases that no race can make right.
    fn misuse(&mut self) {
        let Some(held) = self.held.last().copied() else {
            return;
        };
        let inside = held.address + 1 + self.source.below(held.size - 1);
        let wrong = match (held.pool, self.source.below(2)) {
            (None, 0) => api::aclrtFree(api::pointer(held.address)),
            (None, _) => api::aclrtFreeHost(api::pointer(inside)),
            (Some(_), 0) => api::aclrtFreeHost(api::pointer(held.address)),
            (Some(_), _) => api::aclrtFree(api::pointer(inside)),
        };
        assert_eq!(wrong, PARAM_INVALID, "a wrong release of {held:x?}");
        assert!(api::recent_text().is_some());
        self.verify(&held);
    }

    /// Hands a block to whoever comes first, and takes one in turn. In a quiet phase nothing is
    /// passed: shares would get mixed up.
    fn pass(&mut self) {
        if self.shared.quiet.load(Ordering::Acquire) {
            return;
        }
        let mut passed = self.shared.passed.lock().expect("no thread failed");
        if let Some(taken) = passed.pop() {
            self.held.push(taken);
        }
        if !self.held.is_empty() {
            let at = self.source.below(self.held.len() as u64) as usize;
            passed.push(self.held.swap_remove(at));
        }
    }

    /// All stand still: figures are exact, and all blocks of all threads lie apart.
    fn rest(&mut self, round: u64) {
        let shared = self.shared;
        shared.everybody.wait();
        // Everybody shows what it holds.
        let mut all = shared.passed.lock().expect("no thread failed");
        all.append(&mut self.held);
        drop(all);
        if shared.everybody.wait().is_leader() {
            let mut all = shared.passed.lock().expect("no thread failed");
            all.sort_unstable_by_key(|held| held.address);
            for pair in all.windows(2) {
                let apart = pair[0].address + pair[0].size <= pair[1].address;
                assert!(apart, "{pair:x?} overlap");
            }
            self.compare_figures(&all);
            let quiet = round % 2 == 1;
            shared.quiet.store(quiet, Ordering::Release);
            if quiet {
                // Everything is released, so that shares begin at nothing.
                for held in std::mem::take(&mut *all) {
                    self.release(held);
                }
            }
            for (highest, claimed) in shared.highest.iter().zip(&shared.claimed) {
                for (highest, claimed) in highest.iter().zip(claimed) {
                    highest.store(claimed.load(Ordering::Acquire), Ordering::Release);
                }
            }
        }
        shared.everybody.wait();
        if shared.quiet.load(Ordering::Acquire) {
            self.own = vec![[0; 2]; shared.config.devices];
        }
        // Back to work with an even part of the blocks, whoever made them.
        let mut all = shared.passed.lock().expect("no thread failed");
        let part = all.len() / (shared.threads - self.number).max(1);
        let rest = all.len() - part.min(all.len());
        self.held = all.split_off(rest);
        drop(all);
        shared.everybody.wait();
    }

    fn compare_figures(&self, all: &[Held]) {
        for device in 0..self.shared.config.devices {
            must(api::aclrtSetDevice(device as i32), "aclrtSetDevice");
            let mut right = totals(&self.shared.config);
            for held in all.iter().filter(|held| held.holder == device) {
                right[held.pool.unwrap_or(NORMAL)] -= held.charge;
            }
            let got = figures(&self.shared.config);
            assert_eq!(got, right, "free bytes of device {device} at rest");
            let claimed = self.shared.claimed[device]
                .each_ref()
                .map(|claimed| claimed.load(Ordering::Acquire));
            let taken = [0, 1].map(|pool| totals(&self.shared.config)[pool] - right[pool]);
            assert_eq!(claimed, taken, "the test's own count");
            must(api::aclrtResetDevice(device as i32), "aclrtResetDevice");
        }
        must(api::aclrtSetDevice(self.device as i32), "aclrtSetDevice");
        must(
            api::aclrtResetDevice(self.device as i32),
            "aclrtResetDevice",
        );
    }
}
