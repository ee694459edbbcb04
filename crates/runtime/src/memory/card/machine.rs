//! The file of a machine: its name, its words, who is in it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::POOLS;
use crate::os::process::{self, Seen};
use crate::os::shared_words::{DirectoryLock, SharedWords};
use crate::os::{host, shared_page};
use crate::settings::Settings;
use crate::window::MemoryPlan;

/// Changes with the layout of the file.
const VERSION: &str = "card1";
const MAGIC: u64 = 0x0063_616e_6e65_7279;
/// How long a start waits for others that start or end.
const PATIENCE: Duration = Duration::from_millis(500);

/// No machine has more devices.
const MOST_DEVICES: usize = 16;
/// Words of a slot, and of the head, which stands before the first one.
const STRIDE: usize = 128;
/// Processes at a time.
pub(super) const SLOTS: usize = 255;
const WORDS: usize = (SLOTS + 1) * STRIDE;

// Words of the head.
const HEAD_MAGIC: usize = 0;
const HEAD_CAPACITY: usize = 1;
/// Slots that were ever used lie before this one.
const HEAD_USED: usize = 4;
/// Counts the processes that came.
const HEAD_COMERS: usize = 5;
/// The largest number of devices that a process was started with.
const HEAD_DEVICES: usize = 6;
const HEAD_NAMES: usize = 16;
const NAME_WORDS: usize = 8;

// Words of a slot.
const OWNER: usize = 0;
const START: usize = 1;
const BELL: usize = 2;
const ANSWER: usize = 3;
const DEAF: usize = 4;
const OPENED: usize = 5;
const QUOTA: usize = 6;
const TENTATIVE: usize = 7;
const CLAIMS: usize = 16;
const _: () = assert!(CLAIMS + MOST_DEVICES * POOLS <= STRIDE);

/// What makes two processes see the same machine: product, chip, mode and memory of a device.
/// Another value of any of them is another machine, whose devices share nothing with these. The
/// number of devices is none of it: device 0 is the same one for those who see 1 or 8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) profile: String,
    pub(super) soc: String,
    pub(super) mode: String,
    pub(super) capacity: [u64; POOLS],
}

impl Identity {
    pub(super) fn new(settings: &Settings, plan: &MemoryPlan) -> Identity {
        Identity {
            profile: settings.profile.name.to_owned(),
            soc: settings.soc.name.to_owned(),
            mode: settings.mode.name().to_owned(),
            capacity: [plan.normal, plan.huge - plan.giant, plan.giant],
        }
    }

    /// Name of the file. Process ids of containers mean nothing outside of them, so each set of ids
    /// has files of its own.
    pub(super) fn file_name(&self) -> String {
        let [normal, huge, giant] = self.capacity;
        let (soc, mode, space) = (&self.soc, &self.mode, process::id_space());
        format!("{VERSION}-{soc}-{mode}-{normal}-{huge}-{giant}-{space}")
    }
}

/// Paths of the files of all machines that processes of this set of ids can be in.
pub(super) fn files(directory: &Path) -> Vec<PathBuf> {
    let space = format!("-{}", process::id_space());
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with(VERSION) && name.ends_with(&space)
    });
    let mut paths: Vec<PathBuf> = ours.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The file of a machine, mapped.
#[derive(Debug)]
pub(super) struct Machine {
    words: SharedWords,
}

/// The words of one process. Whoever reads them has to know that the owner may change meanwhile.
#[derive(Clone, Copy)]
pub(super) struct Slot<'a>(&'a [AtomicU64]);

impl<'a> Slot<'a> {
    /// The process id, and in the upper half the number under which it came; 0: nobody.
    pub(super) fn owner(self) -> &'a AtomicU64 {
        &self.0[OWNER]
    }

    /// See [`Seen::start`].
    pub(super) fn start(self) -> &'a AtomicU64 {
        &self.0[START]
    }

    /// Counts the questions to this process.
    pub(super) fn bell(self) -> &'a AtomicU64 {
        &self.0[BELL]
    }

    /// The last question that was answered.
    pub(super) fn answer(self) -> &'a AtomicU64 {
        &self.0[ANSWER]
    }

    /// 1: it let a question pass without an answer.
    pub(super) fn deaf(self) -> &'a AtomicU64 {
        &self.0[DEAF]
    }

    /// Bit i: device i was opened.
    pub(super) fn opened(self) -> &'a AtomicU64 {
        &self.0[OPENED]
    }

    /// Bytes that the process may charge on a device; 0: no limit.
    pub(super) fn quota(self) -> &'a AtomicU64 {
        &self.0[QUOTA]
    }

    /// The part of a claim that is being tried: bytes times 256, plus 1 plus the number of the
    /// claim; 0: none.
    pub(super) fn tentative(self) -> &'a AtomicU64 {
        &self.0[TENTATIVE]
    }

    pub(super) fn claim(self, device: usize, pool: usize) -> &'a AtomicU64 {
        &self.0[CLAIMS + device * POOLS + pool]
    }

    /// Bytes claimed on a device, in all pools.
    pub(super) fn claimed(self, device: usize) -> u64 {
        (0..POOLS)
            .map(|pool| self.claim(device, pool).load(Ordering::SeqCst))
            .sum()
    }

    pub(super) fn pid(owner: u64) -> i32 {
        (owner as u32).cast_signed()
    }

    /// The process in the slot: its owner word and what it does. Frees the slot when it is gone.
    pub(super) fn inhabitant(self) -> Option<(u64, Seen)> {
        let owner = self.owner().load(Ordering::SeqCst);
        if owner == 0 {
            return None;
        }
        let start = self.start().load(Ordering::SeqCst);
        let seen = process::look(Self::pid(owner));
        let same = |seen: &Seen| start == 0 || seen.start == 0 || seen.start == start;
        match seen.filter(same) {
            Some(seen) => Some((owner, seen)),
            None => {
                // Fails when somebody else did, and somebody new may be in by now.
                let _ = self
                    .owner()
                    .compare_exchange(owner, 0, Ordering::SeqCst, Ordering::SeqCst);
                None
            }
        }
    }
}

/// Number of a claim within its slot.
fn number(device: usize, pool: usize) -> u64 {
    (device * POOLS + pool) as u64
}

/// See [`Slot::tentative`].
pub(super) fn tentative(device: usize, pool: usize, bytes: u64) -> u64 {
    bytes << 8 | (number(device, pool) + 1)
}

/// Bytes of a tentative claim, when it is on this device and pool.
pub(super) fn tentative_bytes(word: u64, device: usize, pool: usize) -> u64 {
    if word & 0xff == number(device, pool) + 1 {
        word >> 8
    } else {
        0
    }
}

impl Machine {
    /// A machine that no other process sees.
    pub(super) fn private(identity: &Identity, devices: u32) -> io::Result<Machine> {
        let machine = Machine {
            words: SharedWords::private(WORDS)?,
        };
        machine.describe(identity, devices)?;
        Ok(machine)
    }

    /// Opens the file of a machine that somebody else made.
    pub(super) fn open(path: &Path) -> io::Result<Machine> {
        let words = SharedWords::open(path, WORDS, false)?;
        let machine = Machine { words };
        if machine.head(HEAD_MAGIC).load(Ordering::Acquire) == MAGIC {
            Ok(machine)
        } else {
            Err(io::ErrorKind::InvalidData.into())
        }
    }

    /// Opens the machine of `identity`, made when it is missing, and takes a slot in it: the machine,
    /// the slot, and what its owner word holds.
    pub(super) fn join(
        identity: &Identity,
        devices: u32,
        quota: Option<u64>,
    ) -> io::Result<(Machine, usize, u64)> {
        let directory = shared_page::directory()?;
        let path = directory.join(identity.file_name());
        let _lock = DirectoryLock::take(&directory, PATIENCE)?;
        for other in files(&directory) {
            if other != path {
                remove_if_empty(&other);
            }
        }
        let machine = Machine {
            words: SharedWords::open(&path, WORDS, true)?,
        };
        machine.describe(identity, devices)?;
        let (slot, owner) = machine.enter(quota)?;
        Ok((machine, slot, owner))
    }

    /// Gives the slot of a process back, and removes the file when it was the last one.
    pub(super) fn leave(&self, slot: usize, owner: u64, identity: &Identity) {
        let lock = shared_page::directory()
            .ok()
            .and_then(|directory| DirectoryLock::take(&directory, PATIENCE).ok());
        let word = self.slot(slot).owner();
        let _ = word.compare_exchange(owner, 0, Ordering::SeqCst, Ordering::SeqCst);
        let Some(_lock) = lock else {
            // The next one who comes removes it.
            return;
        };
        if let Ok(directory) = shared_page::directory() {
            let path = directory.join(identity.file_name());
            if self.words.is_at(&path) && self.is_empty() {
                let _ = std::fs::remove_file(path);
            }
        }
    }

    fn head(&self, word: usize) -> &AtomicU64 {
        &self.words.words()[word]
    }

    /// Slot `at`, below [`SLOTS`].
    pub(super) fn slot(&self, at: usize) -> Slot<'_> {
        let from = (at + 1) * STRIDE;
        Slot(&self.words.words()[from..from + STRIDE])
    }

    /// The slots that were ever used.
    pub(super) fn slots(&self) -> impl Iterator<Item = (usize, Slot<'_>)> {
        let used = self.head(HEAD_USED).load(Ordering::SeqCst) as usize;
        (0..used.min(SLOTS)).map(|at| (at, self.slot(at)))
    }

    /// Writes the head, where that was not done.
    fn describe(&self, identity: &Identity, devices: u32) -> io::Result<()> {
        self.head(HEAD_DEVICES)
            .fetch_max(devices.into(), Ordering::Relaxed);
        match self.head(HEAD_MAGIC).load(Ordering::Acquire) {
            MAGIC => return Ok(()),
            0 => {}
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
        for (pool, bytes) in identity.capacity.iter().enumerate() {
            self.head(HEAD_CAPACITY + pool)
                .store(*bytes, Ordering::Relaxed);
        }
        for (at, name) in [&identity.profile, &identity.soc, &identity.mode]
            .into_iter()
            .enumerate()
        {
            for (word, eight) in name.as_bytes().chunks(8).take(NAME_WORDS).enumerate() {
                let mut bytes = [0; 8];
                bytes[..eight.len()].copy_from_slice(eight);
                self.head(HEAD_NAMES + at * NAME_WORDS + word)
                    .store(u64::from_le_bytes(bytes), Ordering::Relaxed);
            }
        }
        self.head(HEAD_MAGIC).store(MAGIC, Ordering::Release);
        Ok(())
    }

    /// What the head says.
    pub(super) fn identity(&self) -> Identity {
        let name = |at: usize| {
            let words = 0..NAME_WORDS;
            let bytes = words.flat_map(|word| {
                let word = self.head(HEAD_NAMES + at * NAME_WORDS + word);
                word.load(Ordering::Relaxed).to_le_bytes()
            });
            let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Identity {
            profile: name(0),
            soc: name(1),
            mode: name(2),
            capacity: [0, 1, 2].map(|pool| self.capacity(pool)),
        }
    }

    /// The largest number of devices that a process was started with.
    pub(super) fn devices(&self) -> usize {
        (self.head(HEAD_DEVICES).load(Ordering::Relaxed) as usize).min(MOST_DEVICES)
    }

    /// Bytes of a pool of each device.
    pub(super) fn capacity(&self, pool: usize) -> u64 {
        self.head(HEAD_CAPACITY + pool).load(Ordering::Relaxed)
    }

    /// Takes a free slot. The caller holds the directory's lock, or nobody else sees the words.
    pub(super) fn enter(&self, quota: Option<u64>) -> io::Result<(usize, u64)> {
        let me = host::pid();
        let start = process::look(me).map_or(0, |seen| seen.start);
        for at in 0..SLOTS {
            let slot = self.slot(at);
            if let Some((owner, _)) = slot.inhabitant() {
                if Slot::pid(owner) != me {
                    continue;
                }
                // The program that this process was before it became another one (exec).
                slot.owner().store(0, Ordering::SeqCst);
            }
            for word in &slot.0[START..] {
                word.store(0, Ordering::SeqCst);
            }
            slot.start().store(start, Ordering::SeqCst);
            slot.quota().store(quota.unwrap_or(0), Ordering::SeqCst);
            let comer = self.head(HEAD_COMERS).fetch_add(1, Ordering::SeqCst) + 1;
            let owner = comer << 32 | u64::from(me.cast_unsigned());
            self.head(HEAD_USED)
                .fetch_max(at as u64 + 1, Ordering::SeqCst);
            slot.owner().store(owner, Ordering::SeqCst);
            return Ok((at, owner));
        }
        Err(io::Error::other(format!(
            "{SLOTS} processes use the card already"
        )))
    }

    fn is_empty(&self) -> bool {
        self.slots().all(|(_, slot)| slot.inhabitant().is_none())
    }
}

/// Removes the file of a machine that nobody is in. The caller holds the directory's lock.
fn remove_if_empty(path: &Path) {
    let empty = match Machine::open(path) {
        Ok(machine) => machine.is_empty(),
        // Left by a start that was killed half-way.
        Err(error) => error.kind() == io::ErrorKind::InvalidData,
    };
    if empty {
        let _ = std::fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tentative_claims_belong_to_one_pool_of_one_device() {
        let word = tentative(15, 2, 1 << 46);
        assert_eq!(tentative_bytes(word, 15, 2), 1 << 46);
        assert_eq!(tentative_bytes(word, 15, 1), 0);
        assert_eq!(tentative_bytes(0, 0, 0), 0);
    }
}
