//! What this process lets others have.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Sharing;
use super::key::{Key, Kind};
pub(crate) use super::message::About;
use super::message::Status;
use crate::os::host;
use crate::os::socket::{self, Credentials};

/// One export.
pub(crate) struct Export {
    /// The memory, from its first byte on.
    pub(crate) memory: Arc<OwnedFd>,
    pub(crate) about: About,
    /// No white list.
    open_to_all: bool,
    allowed: Vec<i32>,
    /// What it is an export of: the first byte of the block, or the handle.
    of: u64,
}

impl Export {
    pub(crate) fn new(memory: Arc<OwnedFd>, about: About, open_to_all: bool) -> Self {
        Self {
            memory,
            about,
            open_to_all,
            allowed: Vec::new(),
            of: 0,
        }
    }

    /// Notes what it is an export of.
    pub(crate) fn of(self, of: u64) -> Self {
        Self { of, ..self }
    }
}

/// Whether a key says that it is of this process.
fn is_own(key: &Key) -> bool {
    key.pid == host::pid()
}

/// All exports of the process.
#[derive(Default)]
pub(crate) struct Exports {
    list: Mutex<BTreeMap<(Kind, u128), Export>>,
}

impl Exports {
    fn list(&self) -> MutexGuard<'_, BTreeMap<(Kind, u128), Export>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list().is_empty()
    }

    /// Whether this process exports what the key names.
    pub(crate) fn has(&self, key: &Key) -> bool {
        is_own(key) && self.list().contains_key(&(key.kind, key.secret))
    }

    /// Ends an export: nobody gets it any more; who has it keeps it. What it was an export of.
    pub(crate) fn withdraw(&self, key: &Key) -> Option<u64> {
        if !is_own(key) {
            return None;
        }
        let export = self.list().remove(&(key.kind, key.secret))?;
        Some(export.of)
    }

    /// Lets more processes have an export. False: there is none.
    pub(crate) fn allow(&self, key: &Key, pids: &[i32]) -> bool {
        match self.list().get_mut(&(key.kind, key.secret)) {
            Some(export) if is_own(key) => {
                for pid in pids {
                    if !export.allowed.contains(pid) {
                        export.allowed.push(*pid);
                    }
                }
                true
            }
            _ => false,
        }
    }

    /// What the broker answers to somebody who asks for this, and the memory if it may have it.
    pub(crate) fn answer(
        &self,
        kind: Kind,
        secret: u128,
        who: Credentials,
    ) -> (Status, About, Option<Arc<OwnedFd>>) {
        let refuse = |status| (status, About::default(), None);
        if who.user != socket::user() {
            return refuse(Status::Stranger);
        }
        let list = self.list();
        let Some(export) = list.get(&(kind, secret)) else {
            return refuse(Status::Unknown);
        };
        if !export.open_to_all && !export.allowed.contains(&who.pid) {
            return refuse(Status::NotListed);
        }
        (
            Status::Granted,
            export.about,
            Some(Arc::clone(&export.memory)),
        )
    }
}

impl Sharing {
    /// Lets others have an export under a fresh key.
    pub(crate) fn publish(&self, kind: Kind, export: Export) -> io::Result<Key> {
        let mut export = Some(export);
        self.broker.while_running(|| {
            loop {
                let key = Key::fresh(kind)?;
                let mut list = self.exports.list();
                let place = list.entry((key.kind, key.secret));
                // Short secrets may meet.
                if let std::collections::btree_map::Entry::Vacant(place) = place {
                    if let Some(export) = export.take() {
                        place.insert(export);
                    }
                    return Ok(key);
                }
            }
        })
    }
}
