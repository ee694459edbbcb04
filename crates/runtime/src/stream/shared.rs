//! Notifies and events that several processes use: one shared page each, named in the runtime
//! directory while its owner lives.
//!
//! Another process cannot be woken through it, so waits look at the page again and again; and since
//! the other side may die, they also look whether it is still there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use cannery_abi as abi;

use crate::error::{Error, Result};
use crate::os::file_limits;
use crate::os::host::pid;
use crate::os::shared_page::{self, SharedPage};
use crate::patient;

/// What a page is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Notify = 0x6e6f_7469,
    Event = 0x6576_6e74,
}

// Words of a page.
const KIND: usize = 0;
const OWNER: usize = 1;
const OPEN_TO_ALL: usize = 2;
/// Notify: 1 while raised. Event: number of records.
const FIRST: usize = 3;
/// Event: the newest record that was reached.
const SECOND: usize = 4;
const ALLOWED: usize = 16;
const ALLOWED_END: usize = 256;
const IMPORTERS: usize = 256;
const IMPORTERS_END: usize = 512;

/// A page of this process's own, or of another one's.
pub(crate) struct Shared {
    page: SharedPage,
    name: String,
    own: bool,
}

/// Names that this process made and has to remove, and where they are.
static NAMES: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());

/// Exports until this process looks for names of dead processes again.
static UNTIL_REAP: AtomicUsize = AtomicUsize::new(0);

/// Fewest exports between two looks.
const REAP_EVERY: usize = 16;

extern "C" fn remove_names() {
    // A forked child must not remove what its parent made.
    let me = format!("{}-", pid());
    let names = patient::lock(&NAMES)
        .map(|mut names| std::mem::take(&mut *names))
        .unwrap_or_default();
    for (_, path) in names.iter().filter(|(name, _)| name.starts_with(&me)) {
        let _ = std::fs::remove_file(path);
    }
    if let Ok(directory) = shared_page::directory() {
        reap(&directory);
    }
}

fn refused(error: &std::io::Error) -> Error {
    let remedy = file_limits::remedy(error)
        .unwrap_or_else(|| "set CANNERY_RUNTIME_DIR to a private directory".to_owned());
    Error::sequence(
        abi::ACL_ERROR_RT_DRV_INTERNAL_ERROR,
        format!("the directory for what processes share cannot be used: {error}; {remedy}"),
    )
}

/// Removes the names that dead processes left behind; how many names there were.
fn reap(directory: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return 0;
    };
    let (mut count, mut known) = (0, BTreeMap::new());
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name
            .to_string_lossy()
            .strip_prefix("share-")
            .and_then(|rest| rest.split('-').next()?.parse::<i32>().ok());
        let Some(owner) = owner else { continue };
        count += 1;
        if !*known
            .entry(owner)
            .or_insert_with(|| shared_page::is_alive(owner))
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    count
}

/// [`reap`], but not for each of many exports: after as many as there were names, so that what it costs is
/// spread over them.
fn reap_if_due(directory: &Path) {
    let counted = UNTIL_REAP.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        left.checked_sub(1)
    });
    if counted.is_err() {
        UNTIL_REAP.store(reap(directory).max(REAP_EVERY), Ordering::Relaxed);
    }
}

impl Shared {
    /// Makes a page and its name.
    pub(crate) fn export(kind: Kind, open_to_all: bool) -> Result<Shared> {
        let make = || {
            let directory = shared_page::directory()?;
            reap_if_due(&directory);
            let name = format!("{}-{}", pid(), shared_page::token()?);
            let path = directory.join(format!("share-{name}"));
            let page = SharedPage::create(&path)?;
            if let Some(mut names) = patient::lock(&NAMES) {
                if names.is_empty() {
                    shared_page::at_exit(remove_names);
                }
                names.insert(name.clone(), path);
            }
            Ok((name, page))
        };
        let (name, page) = make().map_err(|error| refused(&error))?;
        let shared = Shared {
            page,
            name,
            own: true,
        };
        shared
            .word(OWNER)
            .store(u64::from(pid().cast_unsigned()), Ordering::Relaxed);
        shared
            .word(OPEN_TO_ALL)
            .store(u64::from(open_to_all), Ordering::Relaxed);
        shared.word(KIND).store(kind as u64, Ordering::Release);
        Ok(shared)
    }

    /// Opens the page of a name.
    pub(crate) fn import(kind: Kind, name: &str) -> Result<Shared> {
        let param = if kind == Kind::Notify {
            "key"
        } else {
            "handle"
        };
        let unknown = |why: &str| Error::rt_cause(param, format!("\"{name}\""), why);
        let plain = name.len() < 65
            && name
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        if !plain {
            return Err(unknown("is no key that a process of this machine exported"));
        }
        let directory = shared_page::directory().map_err(|error| refused(&error))?;
        let path = directory.join(format!("share-{name}"));
        let nothing = "names nothing: never exported, destroyed, or its process has ended";
        let page = SharedPage::open(&path).map_err(|_| unknown(nothing))?;
        let shared = Shared {
            page,
            name: name.to_owned(),
            own: false,
        };
        if shared.word(KIND).load(Ordering::Acquire) != kind as u64 {
            return Err(unknown("names something of another kind"));
        }
        let owner = shared.word(OWNER).load(Ordering::Relaxed);
        if !i32::try_from(owner).is_ok_and(shared_page::is_alive) {
            let _ = std::fs::remove_file(&path);
            return Err(unknown(nothing));
        }
        let me = u64::from(pid().cast_unsigned());
        let listed = shared
            .words(ALLOWED, ALLOWED_END)
            .any(|word| word.load(Ordering::Acquire) == me);
        if shared.word(OPEN_TO_ALL).load(Ordering::Relaxed) == 0 && !listed {
            return Err(unknown(
                "may not be imported by this process: the exporter has not listed its pid",
            ));
        }
        shared.enter(me);
        Ok(shared)
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        &self.page.words()[at]
    }

    fn words(&self, from: usize, to: usize) -> impl Iterator<Item = &AtomicU64> {
        self.page.words()[from..to].iter()
    }

    fn enter(&self, me: u64) {
        for word in self.words(IMPORTERS, IMPORTERS_END) {
            if word
                .compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
            {
                return;
            }
        }
    }

    /// The key by which others import it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Lets more processes import it. False when the list is full.
    pub(crate) fn allow(&self, pids: &[i32]) -> bool {
        pids.iter().all(|pid| {
            let pid = u64::from(pid.cast_unsigned());
            self.words(ALLOWED, ALLOWED_END).any(|word| {
                word.load(Ordering::Acquire) == pid
                    || word
                        .compare_exchange(0, pid, Ordering::AcqRel, Ordering::Acquire)
                        .is_ok()
            })
        })
    }

    /// Notify: a record was reached.
    pub(crate) fn raise(&self) {
        self.word(FIRST).store(1, Ordering::Release);
    }

    /// Notify: takes the flag if it is raised.
    pub(crate) fn take(&self) -> bool {
        self.word(FIRST)
            .compare_exchange(1, 0, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Notify: lowers the flag.
    pub(crate) fn lower(&self) {
        self.word(FIRST).store(0, Ordering::Release);
    }

    /// Event: a record is queued; its number.
    pub(crate) fn begin_record(&self) -> u64 {
        self.word(FIRST).fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Event: the record of this number was reached.
    pub(crate) fn end_record(&self, number: u64) {
        self.word(SECOND).fetch_max(number, Ordering::AcqRel);
    }

    /// Event: number of the newest record; 0: none.
    pub(crate) fn newest(&self) -> u64 {
        self.word(FIRST).load(Ordering::Acquire)
    }

    /// Event: whether the record of this number was reached.
    pub(crate) fn reached(&self, number: u64) -> bool {
        self.word(SECOND).load(Ordering::Acquire) >= number
    }

    /// Whether somebody is left who could bring a wait to its end: for an importer the owner, for the
    /// owner one of the importers (or itself, while nobody has imported it).
    pub(crate) fn other_side_lives(&self) -> bool {
        let alive = |pid: u64| shared_page::is_alive(pid as i32);
        if !self.own {
            return alive(self.word(OWNER).load(Ordering::Relaxed));
        }
        let mut importers = self
            .words(IMPORTERS, IMPORTERS_END)
            .map(|word| word.load(Ordering::Acquire));
        let mut any = false;
        let lives = importers.any(|pid| {
            any |= pid != 0;
            pid != 0 && alive(pid)
        });
        lives || !any
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.own {
            if let Some(mut names) = patient::lock(&NAMES)
                && let Some(path) = names.remove(&self.name)
            {
                let _ = std::fs::remove_file(path);
            }
        } else {
            let me = u64::from(pid().cast_unsigned());
            for word in self.words(IMPORTERS, IMPORTERS_END) {
                if word
                    .compare_exchange(me, 0, Ordering::AcqRel, Ordering::Acquire)
                    .is_ok()
                {
                    return;
                }
            }
        }
    }
}
