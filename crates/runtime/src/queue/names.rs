//! Names of rings in the runtime directory, and the files of their messages.
//!
//! `queue-ID` and `channel-HASH` are pages; `NAME.NUMBER` is a message, `NAME.new-PID-N` one that is being
//! written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use cannery_abi as abi;

use super::page::{Kind, Page};
use crate::error::{Error, Result};
use crate::os::directory_lock::DirectoryLock;
use crate::os::file_limits;
use crate::os::host;
use crate::os::shared_page;

/// Queues of all processes of a user.
pub(crate) const MOST_QUEUES: u32 = 8192;

const QUEUE: &str = "queue-";
const CHANNEL: &str = "channel-";

/// A place in the runtime directory.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    directory: PathBuf,
    name: String,
}

impl Name {
    fn new(directory: &Path, name: String) -> Name {
        Name {
            directory: directory.to_owned(),
            name,
        }
    }

    /// The page.
    pub(crate) fn page(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    /// The message of a number.
    pub(crate) fn message(&self, number: u64) -> PathBuf {
        self.directory.join(format!("{}.{number}", self.name))
    }

    /// A place for a message that is being written.
    pub(crate) fn draft(&self) -> PathBuf {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.directory
            .join(format!("{}.new-{}-{number}", self.name, host::pid()))
    }

    /// Removes the page and all messages.
    pub(crate) fn remove(&self) {
        remove(&self.directory, &self.name);
    }
}

fn remove(directory: &Path, name: &str) {
    let _ = fs::remove_file(directory.join(name));
    let messages = format!("{name}.");
    for other in files(directory) {
        if other.starts_with(&messages) {
            let _ = fs::remove_file(directory.join(other));
        }
    }
}

fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(QUEUE) || name.starts_with(CHANNEL))
        .collect()
}

pub(crate) fn unusable(error: &io::Error) -> Error {
    let remedy = file_limits::remedy(error)
        .unwrap_or_else(|| "set CANNERY_RUNTIME_DIR to a private directory with room".to_owned());
    Error::sequence(
        abi::ACL_ERROR_RT_DRV_INTERNAL_ERROR,
        format!("the directory for what processes share cannot be used: {error}; {remedy}"),
    )
}

/// Calls `act` while no other process makes or removes names; clears up after killed processes, once.
pub(crate) fn alone<R>(act: impl FnOnce(&Path) -> Result<R>) -> Result<R> {
    // The process that did; a forked child is another one.
    static CLEAN: AtomicI32 = AtomicI32::new(0);
    let directory = shared_page::directory().map_err(|error| unusable(&error))?;
    let _held = DirectoryLock::take(&directory).map_err(|error| unusable(&error))?;
    if CLEAN.swap(host::pid(), Ordering::AcqRel) != host::pid() {
        reap(&directory);
    }
    act(&directory)
}

/// Removes what killed processes left behind. The caller holds the directory.
pub(crate) fn reap(directory: &Path) {
    for name in files(directory) {
        let (page, is_message) = match name.split_once('.') {
            Some((page, _)) => (page, true),
            None => (name.as_str(), false),
        };
        if is_message {
            if !directory.join(page).exists() {
                let _ = fs::remove_file(directory.join(&name));
            }
            continue;
        }
        let kind = if page.starts_with(QUEUE) {
            Kind::Queue
        } else {
            Kind::Channel
        };
        let used = Page::open(&directory.join(page), kind).is_ok_and(|page| page.is_used());
        if !used {
            remove(directory, page);
        }
    }
}

/// The place of a queue.
pub(crate) fn queue(directory: &Path, id: u32) -> Name {
    Name::new(directory, format!("{QUEUE}{id}"))
}

/// A queue id that no process uses. `None`: all are used.
pub(crate) fn free_queue_id(directory: &Path) -> Option<u32> {
    // Ids are not used again soon, so that a stale one does not lead to somebody else's queue.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let first = NEXT.load(Ordering::Relaxed);
    let ids = (0..MOST_QUEUES).map(|step| (first + step) % MOST_QUEUES);
    let free = { ids }.find(|id| !queue(directory, *id).page().exists());
    if let Some(id) = free {
        NEXT.store((id + 1) % MOST_QUEUES, Ordering::Relaxed);
    }
    free
}

/// The place of the channel of a name on a device of the machine.
pub(crate) fn channel(directory: &Path, device: u32, name: &[u8]) -> Name {
    // Two runs of FNV-1a from different starts; the page holds the name itself.
    let hash = |start: u64| {
        name.iter().fold(start, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    };
    let (a, b) = (hash(0xcbf2_9ce4_8422_2325), hash(0x6c62_272e_07bb_0142));
    Name::new(directory, format!("{CHANNEL}{device}-{a:016x}{b:016x}"))
}
