//! What this process has taken from the cards.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::POOLS;
use super::machine::{Identity, Machine, Slot, tentative, tentative_bytes};
use crate::log;
use crate::os::{file_limits, host, process, shared_page};
use crate::patient;
use crate::settings::Settings;
use crate::window::MemoryPlan;

/// How long two processes that claim the same bytes get out of each other's way before one gives up.
const CONTEST: Duration = Duration::from_millis(5);

/// This process in the file of its machine. Never freed, like the runtime.
pub(super) struct Member {
    pub(super) machine: Machine,
    identity: Identity,
    pub(super) slot: usize,
    pub(super) owner: u64,
    /// Whether others can be in the machine.
    pub(super) shared: bool,
    quota: Option<u64>,
    pid: i32,
    /// Held while a claim changes: one writer for the words of the slot. True: the process is
    /// ending, and the slot is not its own any more.
    left: Mutex<bool>,
    listens: AtomicBool,
}

static JOINED: Mutex<Option<&'static Member>> = Mutex::new(None);
static CLEANS_UP: AtomicBool = AtomicBool::new(false);

/// The claims of this process on one device.
#[derive(Clone, Copy)]
pub(crate) struct Claims {
    member: &'static Member,
    device: usize,
}

/// Another process on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Neighbour {
    pub(crate) pid: i32,
    pub(crate) name: String,
    /// Bytes that it holds.
    pub(crate) bytes: u64,
    /// It is stopped, so that the bytes may include some that it would give back.
    pub(crate) stopped: bool,
}

/// Opens device `physical` of the machine. Where the runtime directory cannot be used the process
/// has a machine to itself, and says so once.
pub(crate) fn claims(
    settings: &Settings,
    plan: &MemoryPlan,
    physical: u32,
) -> std::io::Result<Claims> {
    let claims = Claims {
        member: member(settings, plan)?,
        device: physical as usize,
    };
    let slot = claims.slot();
    slot.opened().fetch_or(1 << physical, Ordering::SeqCst);
    Ok(claims)
}

fn member(settings: &Settings, plan: &MemoryPlan) -> std::io::Result<&'static Member> {
    let pid = host::pid();
    let mut joined = patient::lock(&JOINED);
    // A forked child starts afresh.
    if let Some(member) = joined.as_deref().copied().flatten()
        && member.pid == pid
    {
        return Ok(member);
    }
    let identity = Identity::new(settings, plan);
    let (machine, slot, owner, shared) =
        match Machine::join(&identity, settings.devices, settings.quota) {
            Ok((machine, slot, owner)) => (machine, slot, owner, true),
            Err(error) => {
                let remedy = file_limits::remedy(&error)
                    .unwrap_or_else(|| "set CANNERY_RUNTIME_DIR to a private directory".to_owned());
                log::warn(format_args!(
                    "device memory is not shared with other processes, this one has the card to \
                     itself: {error}; {remedy}"
                ));
                let machine = Machine::private(&identity, settings.devices)?;
                let (slot, owner) = machine.enter(settings.quota)?;
                (machine, slot, owner, false)
            }
        };
    let member: &'static Member = Box::leak(Box::new(Member {
        machine,
        identity,
        slot,
        owner,
        shared,
        quota: settings.quota,
        pid,
        left: Mutex::new(false),
        listens: AtomicBool::new(false),
    }));
    if let Some(joined) = &mut joined {
        **joined = Some(member);
    }
    drop(joined);
    if shared {
        if !CLEANS_UP.swap(true, Ordering::AcqRel) {
            shared_page::at_exit(leave);
        }
        // Whoever had the card to himself learns that it is not so any more.
        super::ask::ask(&member.machine, Some(member.slot));
    }
    Ok(member)
}

/// Gives the slot back when the process ends by itself.
extern "C" fn leave() {
    let member = patient::lock(&JOINED).and_then(|joined| *joined);
    // A forked child must not give back what its parent holds.
    let Some(member) = member.filter(|member| member.shared && member.pid == host::pid()) else {
        return;
    };
    let Some(mut left) = patient::lock(&member.left) else {
        // Somebody is claiming and never comes back; others will see that the process is gone.
        return;
    };
    *left = true;
    member
        .machine
        .leave(member.slot, member.owner, &member.identity);
}

impl Claims {
    fn slot(self) -> Slot<'static> {
        self.member.machine.slot(self.member.slot)
    }

    fn others(self) -> impl Iterator<Item = Slot<'static>> {
        let mine = self.member.slot;
        let slots = self.member.machine.slots();
        slots
            .filter(move |(at, slot)| *at != mine && slot.owner().load(Ordering::SeqCst) != 0)
            .map(|(_, slot)| slot)
    }

    /// Answers the other processes from now on. The device can be found by then.
    pub(crate) fn listen(self) {
        if self.member.shared && !self.member.listens.swap(true, Ordering::AcqRel) {
            super::ask::listen(self.member);
        }
    }

    /// Whether another process uses the machine.
    pub(crate) fn crowded(self) -> bool {
        self.member.shared && self.others().next().is_some()
    }

    /// The right to change the claims; `None` when the slot is not this process's any more: it is
    /// ending, or its file was tampered with. It is not counted then.
    fn write(self) -> Option<MutexGuard<'static, bool>> {
        let left = self.member.left.lock();
        let left = left.unwrap_or_else(PoisonError::into_inner);
        let ours = self.slot().owner().load(Ordering::SeqCst) == self.member.owner;
        (!*left && ours).then_some(left)
    }

    /// Claims bytes of a pool. False: the card has not so much left, or the quota does not allow it.
    pub(crate) fn claim(self, pool: usize, bytes: u64) -> bool {
        let Some(_one_writer) = self.write() else {
            return true;
        };
        let slot = self.slot();
        if self
            .member
            .quota
            .is_some_and(|quota| slot.claimed(self.device) + bytes > quota)
        {
            return false;
        }
        let capacity = self.member.machine.capacity(pool);
        let mine = slot.claim(self.device, pool);
        let taken_by_others = || {
            let (mut sum, mut tried) = (0, 0);
            for other in self.others() {
                sum += other.claim(self.device, pool).load(Ordering::SeqCst);
                let word = other.tentative().load(Ordering::SeqCst);
                tried += tentative_bytes(word, self.device, pool);
            }
            (sum, tried)
        };
        // What does not fit even without what others only try is not worth a try.
        let (sum, tried) = taken_by_others();
        if (mine.load(Ordering::SeqCst) + bytes + sum).saturating_sub(tried) > capacity {
            return false;
        }
        let mut begin = None;
        let mut pause = 1 + u64::from(self.member.pid.cast_unsigned()) % 7;
        loop {
            // Seen by everybody before anything is counted: of two that are too many together, the
            // later one sees the earlier.
            slot.tentative()
                .store(tentative(self.device, pool, bytes), Ordering::SeqCst);
            let before = mine.fetch_add(bytes, Ordering::SeqCst);
            let (others, tried) = taken_by_others();
            let sum = before + bytes + others;
            if sum <= capacity {
                slot.tentative().store(0, Ordering::SeqCst);
                return true;
            }
            mine.fetch_sub(bytes, Ordering::SeqCst);
            slot.tentative().store(0, Ordering::SeqCst);
            // Without what others only try it does not fit either, or they never come to an end.
            if sum.saturating_sub(tried) > capacity
                || begin.get_or_insert_with(Instant::now).elapsed() > CONTEST
            {
                return false;
            }
            std::thread::sleep(Duration::from_micros(pause));
            pause = pause * 5 / 3 + 1;
        }
    }

    /// Gives claimed bytes of a pool back.
    pub(crate) fn give(self, pool: usize, bytes: u64) {
        if bytes == 0 {
            return;
        }
        if let Some(_one_writer) = self.write() {
            self.slot()
                .claim(self.device, pool)
                .fetch_sub(bytes, Ordering::SeqCst);
        }
    }

    /// Bytes of a pool that this process has claimed.
    pub(crate) fn own(self, pool: usize) -> u64 {
        self.slot().claim(self.device, pool).load(Ordering::SeqCst)
    }

    /// Bytes of each pool that nobody has claimed.
    pub(crate) fn left(self) -> [u64; POOLS] {
        let mine = self.slot();
        let mut left: [u64; POOLS] = std::array::from_fn(|pool| {
            let capacity = self.member.machine.capacity(pool);
            capacity.saturating_sub(mine.claim(self.device, pool).load(Ordering::SeqCst))
        });
        for other in self.others() {
            for (pool, left) in left.iter_mut().enumerate() {
                let claim = other.claim(self.device, pool).load(Ordering::SeqCst);
                *left = left.saturating_sub(claim);
            }
        }
        left
    }

    /// Bytes that this process may charge on a device.
    pub(crate) fn quota(self) -> Option<u64> {
        self.member.quota
    }

    /// Bytes that this process has claimed, in all pools.
    pub(crate) fn own_sum(self) -> u64 {
        self.slot().claimed(self.device)
    }

    /// Has every other process give back what it does not use. False: there is none, so that
    /// nothing changed. The caller holds no lock of a store.
    pub(crate) fn ask(self) -> bool {
        self.crowded() && super::ask::ask(&self.member.machine, Some(self.member.slot))
    }

    /// The others on this device, who holds most first. Exact after [`ask`](Self::ask).
    pub(crate) fn neighbours(self) -> Vec<Neighbour> {
        let mut list: Vec<Neighbour> = self
            .others()
            .filter_map(|slot| {
                let (owner, seen) = slot.inhabitant()?;
                let pid = Slot::pid(owner);
                Some(Neighbour {
                    pid,
                    name: process::name(pid).unwrap_or_default(),
                    bytes: slot.claimed(self.device),
                    stopped: seen.stopped,
                })
            })
            .filter(|neighbour| neighbour.bytes > 0)
            .collect();
        list.sort_by_key(|neighbour| (std::cmp::Reverse(neighbour.bytes), neighbour.pid));
        list
    }
}
