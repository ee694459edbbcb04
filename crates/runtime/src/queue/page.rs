//! What processes share of a ring: one page.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::os::shared_page::SharedPage;
use crate::os::{futex, identity};

/// What a page is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Queue = 0x7175_6575,
    Channel = 0x6368_616e,
}

/// Whether a ring can be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Open = 0,
    /// Destroyed by one of its users.
    Destroyed = 1,
    /// Its maker was killed.
    Orphaned = 2,
}

// Words of a page.
const KIND: usize = 0;
/// The process that made the queue; 0: all users are equal.
const OWNER: usize = 1;
const DEPTH: usize = 2;
/// Number of the oldest message.
const HEAD: usize = 3;
/// Number of the next message to come.
const TAIL: usize = 4;
const LOCK: usize = 5;
const BELL: usize = 6;
/// 1 once others than the owner may use it.
const SHARED: usize = 7;
const STATE: usize = 8;
/// Users that were found killed.
const DEATHS: usize = 9;
const NAME: usize = 16;
const NAME_END: usize = 32;
const USERS: usize = 32;
const USERS_END: usize = 512;

/// Bytes of a name with its end.
pub(crate) const NAME_BYTES: usize = (NAME_END - NAME) * 8;
/// A user beside the owner: rights below, and whether it has taken them up.
const ATTACHED: u64 = 1 << 32;
/// Messages are counted from here, so that one can be put back before the first.
const FIRST_NUMBER: u64 = 1 << 32;
/// Rounds of waiting for the lock (50 us each) between two looks at its holder.
const LOOK: u32 = 200;

/// See the module.
pub(crate) struct Page {
    page: SharedPage,
    /// This process.
    pub(crate) me: u64,
}

/// The lock of a page; given back when dropped.
pub(crate) struct Held<'a>(&'a Page);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.word(LOCK).store(0, Ordering::Release);
    }
}

impl Page {
    /// A new page; `owner` is 0 where all users are equal.
    pub(crate) fn create(
        path: &Path,
        kind: Kind,
        depth: u64,
        name: &[u8],
        owner: u64,
    ) -> io::Result<Page> {
        let page = Page {
            page: SharedPage::create(path)?,
            me: identity::own(),
        };
        for (at, part) in name[..name.len().min(NAME_BYTES - 1)].chunks(8).enumerate() {
            let mut eight = [0; 8];
            eight[..part.len()].copy_from_slice(part);
            page.word(NAME + at)
                .store(u64::from_le_bytes(eight), Ordering::Relaxed);
        }
        for (at, value) in [
            (OWNER, owner),
            (DEPTH, depth),
            (HEAD, FIRST_NUMBER),
            (TAIL, FIRST_NUMBER),
            (SHARED, u64::from(owner == 0)),
        ] {
            page.word(at).store(value, Ordering::Relaxed);
        }
        page.word(KIND).store(kind as u64, Ordering::Release);
        Ok(page)
    }

    /// The page of a path, if it is of this kind.
    pub(crate) fn open(path: &Path, kind: Kind) -> io::Result<Page> {
        let page = Page {
            page: SharedPage::open(path)?,
            me: identity::own(),
        };
        if page.word(KIND).load(Ordering::Acquire) != kind as u64 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(page)
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        &self.page.words()[at]
    }

    fn get(&self, at: usize) -> u64 {
        self.word(at).load(Ordering::Acquire)
    }

    pub(crate) fn name(&self) -> Vec<u8> {
        let bytes = (NAME..NAME_END).flat_map(|at| self.get(at).to_le_bytes());
        bytes.take_while(|byte| *byte != 0).collect()
    }

    pub(crate) fn owner(&self) -> u64 {
        self.get(OWNER)
    }

    pub(crate) fn depth(&self) -> u64 {
        self.get(DEPTH)
    }

    pub(crate) fn head(&self) -> u64 {
        self.get(HEAD)
    }

    pub(crate) fn tail(&self) -> u64 {
        self.get(TAIL)
    }

    /// Messages inside.
    pub(crate) fn count(&self) -> u64 {
        self.tail().saturating_sub(self.head())
    }

    /// Ends a change at the old end. The caller holds the lock.
    pub(crate) fn set_head(&self, number: u64) {
        self.word(HEAD).store(number, Ordering::Release);
        self.ring();
    }

    /// Ends a change at the new end. The caller holds the lock.
    pub(crate) fn set_tail(&self, number: u64) {
        self.word(TAIL).store(number, Ordering::Release);
        self.ring();
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.get(SHARED) != 0
    }

    /// From now on messages are files. The caller holds the lock.
    pub(crate) fn set_shared(&self) {
        self.word(SHARED).store(1, Ordering::Release);
    }

    pub(crate) fn state(&self) -> State {
        match self.get(STATE) {
            0 => State::Open,
            1 => State::Destroyed,
            _ => State::Orphaned,
        }
    }

    /// Ends it for everybody; the first reason stays.
    pub(crate) fn close(&self, state: State) {
        let _ =
            self.word(STATE)
                .compare_exchange(0, state as u64, Ordering::AcqRel, Ordering::Acquire);
        self.ring();
    }

    pub(crate) fn deaths(&self) -> u64 {
        self.get(DEATHS)
    }

    /// The bell as it is now, for [`sleep`](Self::sleep).
    pub(crate) fn bell(&self) -> u64 {
        self.get(BELL)
    }

    /// Wakes everybody who sleeps.
    pub(crate) fn ring(&self) {
        self.word(BELL).fetch_add(1, Ordering::AcqRel);
        futex::wake_all_shared(self.word(BELL));
    }

    /// Sleeps until the bell rings, or for so long. It may have rung since `bell` was read.
    pub(crate) fn sleep(&self, bell: u64, limit: Duration) {
        futex::wait_shared(self.word(BELL), bell, Some(limit));
    }

    /// Takes the lock, also from a process that was killed while it held it.
    pub(crate) fn lock(&self) -> Held<'_> {
        let lock = self.word(LOCK);
        let mut round = 0u32;
        loop {
            match lock.compare_exchange(0, self.me, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Held(self),
                Err(holder)
                    if round > 0 && round.is_multiple_of(LOOK) && !identity::lives(holder) =>
                {
                    let taken = lock.compare_exchange(
                        holder,
                        self.me,
                        Ordering::Acquire,
                        Ordering::Relaxed,
                    );
                    if taken.is_ok() {
                        return Held(self);
                    }
                }
                Err(_) => {}
            }
            round += 1;
            match round {
                0..16 => std::hint::spin_loop(),
                16..32 => std::thread::yield_now(),
                _ => std::thread::sleep(Duration::from_micros(50)),
            }
        }
    }

    fn users(&self) -> impl Iterator<Item = (&AtomicU64, &AtomicU64)> {
        (USERS..USERS_END)
            .step_by(2)
            .map(|at| (self.word(at), self.word(at + 1)))
    }

    fn entry(&self, who: u64) -> Option<(&AtomicU64, &AtomicU64)> {
        self.users()
            .find(|(name, _)| name.load(Ordering::Acquire) == who)
    }

    /// Adds rights to those of a process. False when the list is full. The caller holds the lock.
    pub(crate) fn grant(&self, who: u64, rights: u64) -> bool {
        if let Some((_, has)) = self.entry(who) {
            has.fetch_or(rights, Ordering::AcqRel);
        } else if let Some((name, has)) = self.entry(0) {
            has.store(rights, Ordering::Release);
            name.store(who, Ordering::Release);
        } else {
            return false;
        }
        self.ring();
        true
    }

    /// Rights of this process from the list; 0: none.
    pub(crate) fn granted(&self) -> u32 {
        let entry = self.entry(self.me);
        entry.map_or(0, |(_, has)| has.load(Ordering::Acquire) as u32)
    }

    /// This process takes its rights up: from now on its death matters to the others.
    pub(crate) fn attach(&self) {
        if let Some((_, has)) = self.entry(self.me) {
            has.fetch_or(ATTACHED, Ordering::AcqRel);
        }
    }

    /// Adds this process once more as one of equal users. False when the list is full. The caller
    /// holds the lock.
    pub(crate) fn join(&self) -> bool {
        let place = self.entry(0);
        if let Some((name, has)) = place {
            has.store(ATTACHED, Ordering::Release);
            name.store(self.me, Ordering::Release);
        }
        place.is_some()
    }

    /// This process uses it no longer (one entry of it).
    pub(crate) fn leave(&self) {
        if let Some((name, has)) = self.entry(self.me) {
            has.store(0, Ordering::Release);
            name.store(0, Ordering::Release);
            self.ring();
        }
    }

    /// Strikes out users that were killed, and lets those who wait know of them.
    pub(crate) fn look_for_deaths(&self) {
        let owner = self.owner();
        if owner != 0 && owner != self.me && !identity::lives(owner) {
            self.close(State::Orphaned);
        }
        for (name, has) in self.users() {
            let who = name.load(Ordering::Acquire);
            if who == 0 || who == self.me || identity::lives(who) {
                continue;
            }
            let _held = self.lock();
            if name.load(Ordering::Acquire) != who {
                continue;
            }
            let attached = has.swap(0, Ordering::AcqRel) & ATTACHED != 0;
            name.store(0, Ordering::Release);
            if attached {
                self.word(DEATHS).fetch_add(1, Ordering::AcqRel);
                self.ring();
            }
        }
    }

    /// Whether a process is left that uses it.
    pub(crate) fn is_used(&self) -> bool {
        let owner = self.owner();
        if owner != 0 {
            return identity::lives(owner);
        }
        self.users().any(|(name, _)| {
            let who = name.load(Ordering::Acquire);
            who != 0 && identity::lives(who)
        })
    }
}
