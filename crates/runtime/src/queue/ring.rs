//! Messages in order, between threads and processes.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cannery_abi as abi;

use super::names::Name;
use super::page::{Held, Page, State};
use super::parcel::{Parcel, Stored};
use crate::error::{Error, Fault, Result};
use crate::os::{file_limits, identity};

/// Time between two looks at the other users.
const LOOK: Duration = Duration::from_millis(50);

/// How long a call waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    until: Option<Instant>,
    milliseconds: i32,
}

impl Patience {
    /// -1: for ever, 0: not at all, else milliseconds.
    ///
    /// # Errors
    /// 100000 below -1.
    pub(crate) fn new(milliseconds: i32) -> Result<Patience> {
        let limit = match milliseconds {
            -1 => None,
            0.. => Some(Duration::from_millis(u64::from(
                milliseconds.cast_unsigned(),
            ))),
            _ => {
                return Err(Error::value(
                    "timeout",
                    milliseconds,
                    "must be -1 (wait for ever), 0 (return at once) or milliseconds",
                ));
            }
        };
        Ok(Patience {
            until: limit.map(|limit| Instant::now() + limit),
            milliseconds,
        })
    }

    /// As long as it takes.
    pub(crate) const ENDLESS: Patience = Patience {
        until: None,
        milliseconds: -1,
    };

    /// What is left of it, at most the time between two looks; `None` when it is over.
    fn rest(self) -> Option<Duration> {
        let Some(until) = self.until else {
            return Some(LOOK);
        };
        let left = until.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left.min(LOOK))
    }

    fn text(self) -> String {
        match self.milliseconds {
            0 => "at present".to_owned(),
            time => format!("after {time} ms"),
        }
    }
}

/// A message that is being written; removed unless it was published.
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn write(name: &Name, parcel: &Parcel) -> io::Result<Draft> {
        let path = name.draft();
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        let draft = Draft { path };
        file_limits::without_signal(|| parcel.write_to(&mut file))?;
        Ok(draft)
    }

    fn publish(self, place: &std::path::Path) -> io::Result<()> {
        fs::rename(&self.path, place)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After a rename there is nothing by this name.
        let _ = fs::remove_file(&self.path);
    }
}

/// See the module.
pub(crate) struct Ring {
    page: Page,
    name: Name,
    /// The argument that names it, and what texts call it.
    param: &'static str,
    what: String,
    /// Messages that never left this process, by number. Changed while the page is locked.
    own: Mutex<BTreeMap<u64, Parcel>>,
}

impl Ring {
    pub(crate) fn new(page: Page, name: Name, param: &'static str, what: String) -> Ring {
        Ring {
            page,
            name,
            param,
            what,
            own: Mutex::default(),
        }
    }

    pub(crate) fn page(&self) -> &Page {
        &self.page
    }

    pub(crate) fn name(&self) -> &Name {
        &self.name
    }

    fn own(&self) -> MutexGuard<'_, BTreeMap<u64, Parcel>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it can be used.
    ///
    /// # Errors
    /// 100032 when it was destroyed, 507022 when its maker was killed.
    pub(crate) fn check(&self) -> Result<()> {
        match self.page.state() {
            State::Open => Ok(()),
            State::Destroyed => Err(Error::rt_value_code(
                abi::ACL_ERROR_INVALID_QUEUE_ID,
                self.param,
                &self.what,
                "one that exists: it was destroyed, perhaps by another process",
            )),
            State::Orphaned => Err(Error::sequence(
                abi::ACL_ERROR_RT_IPC_ERROR,
                format!(
                    "process {}, which made {}, has ended without destroying it; make it again",
                    identity::pid(self.page.owner()),
                    self.what
                ),
            )),
        }
    }

    fn peer_killed(&self) -> Error {
        Error::sequence(
            abi::ACL_ERROR_RT_IPC_ERROR,
            format!(
                "a process that used {} was killed while this call waited; nothing was moved; call again to \
                 wait for others",
                self.what
            ),
        )
    }

    fn stopped(&self) -> Error {
        Error::sequence(
            abi::ACL_ERROR_RT_SOCKET_CLOSE,
            format!("{} was stopped; destroy it and make it again", self.what),
        )
    }

    /// Sleeps until something changes. The caller has found nothing to do since `bell` was read.
    fn wait(
        &self,
        bell: u64,
        deaths: u64,
        patience: Patience,
        stop: &AtomicBool,
        over: impl FnOnce() -> Error,
    ) -> Result<()> {
        let Some(rest) = patience.rest() else {
            return Err(over());
        };
        self.page.sleep(bell, rest);
        if stop.load(Ordering::Acquire) {
            return Err(self.stopped());
        }
        if self.page.bell() == bell {
            self.page.look_for_deaths();
        }
        self.check()?;
        if self.page.deaths() != deaths {
            return Err(self.peer_killed());
        }
        Ok(())
    }

    /// Puts a message behind the others; waits for room. Its segments go along, they are not copied while
    /// nobody else uses the ring. `stop` ends the wait.
    ///
    /// # Errors
    /// 207014 when there is no room in time; 507051 when the message cannot be written; 507022, 507901,
    /// 100032 when the ring ends meanwhile. Nothing was put in then.
    pub(crate) fn put(&self, parcel: &Parcel, patience: Patience, stop: &AtomicBool) -> Result<()> {
        let page = &self.page;
        let depth = page.depth();
        let deaths = page.deaths();
        let mut draft: Option<Draft> = None;
        loop {
            let bell = page.bell();
            self.check_use(stop)?;
            if page.count() < depth {
                if page.is_shared() && draft.is_none() {
                    // Written without the lock; renamed with it.
                    let written = Draft::write(&self.name, parcel);
                    draft = Some(written.map_err(|error| self.unwritten(&error))?);
                }
                let _held = page.lock();
                self.check()?;
                if page.count() < depth && page.is_shared() == draft.is_some() {
                    let number = page.tail();
                    match draft.take() {
                        None => drop(self.own().insert(number, parcel.clone())),
                        Some(draft) => draft
                            .publish(&self.name.message(number))
                            .map_err(|error| self.unwritten(&error))?,
                    }
                    page.set_tail(number + 1);
                    return Ok(());
                }
                continue;
            }
            self.wait(bell, deaths, patience, stop, || {
                Error::sequence(
                    abi::ACL_ERROR_RT_QUEUE_FULL,
                    format!(
                        "{} is full {}: it holds {depth} messages, its depth; take some out first",
                        self.what,
                        patience.text()
                    ),
                )
            })?;
        }
    }

    fn check_use(&self, stop: &AtomicBool) -> Result<()> {
        if stop.load(Ordering::Acquire) {
            return Err(self.stopped());
        }
        self.check()
    }

    fn unwritten(&self, error: &io::Error) -> Error {
        let remedy = file_limits::remedy(error)
            .unwrap_or_else(|| "is there room in the runtime directory?".to_owned());
        Error::sequence(
            abi::ACL_ERROR_RT_SEND_MSG,
            format!(
                "a message of {} could not be written: {error}; {remedy}",
                self.what
            ),
        )
    }

    fn unread(&self, error: &io::Error) -> Error {
        Error::sequence(
            abi::ACL_ERROR_RT_COPY_DATA,
            match file_limits::remedy(error) {
                Some(remedy) => format!(
                    "a message of {} could not be read: {error}; {remedy}",
                    self.what
                ),
                None => format!("a message of {} could not be read: {error}", self.what),
            },
        )
    }

    /// Takes the oldest message; waits for one. `accept` is told the bytes that count and may refuse it:
    /// it stays then. `stop` ends the wait.
    ///
    /// # Errors
    /// 207013 when none comes in time; 207001 without memory for it (it stays); 507052 when it cannot be
    /// read; 507022, 507901, 100032 when the ring ends meanwhile.
    pub(crate) fn take(
        &self,
        patience: Patience,
        stop: &AtomicBool,
        accept: impl Fn(u64) -> Result<()>,
    ) -> Result<Parcel> {
        let page = &self.page;
        let deaths = page.deaths();
        loop {
            let bell = page.bell();
            self.check_use(stop)?;
            while page.count() > 0 {
                if let Some(parcel) = self.take_one(&accept)? {
                    return Ok(parcel);
                }
            }
            self.wait(bell, deaths, patience, stop, || {
                Error::sequence(
                    abi::ACL_ERROR_RT_QUEUE_EMPTY,
                    format!(
                        "{} is empty {}; put a message in first, or wait longer",
                        self.what,
                        patience.text()
                    ),
                )
            })?;
        }
    }

    /// `None`: somebody else was faster, or the message went with a process that was killed.
    fn take_one(&self, accept: impl Fn(u64) -> Result<()>) -> Result<Option<Parcel>> {
        let page = &self.page;
        let held = page.lock();
        self.check()?;
        if page.count() == 0 {
            return Ok(None);
        }
        let number = page.head();
        let own = self.own().get(&number).map(Parcel::valid);
        if let Some(valid) = own {
            accept(valid)?;
            let parcel = self.own().remove(&number);
            page.set_head(number + 1);
            return Ok(parcel);
        }
        let path = self.name.message(number);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                page.set_head(number + 1);
                return Ok(None);
            }
            Err(error) => return Err(self.unread(&error)),
        };
        let room = match Stored::open(file) {
            Ok(stored) => {
                accept(stored.valid())?;
                let bytes = stored.valid();
                stored.make_room().ok_or_else(|| no_memory(bytes))?
            }
            Err(error) => {
                // It can never be read: out of the way of those behind it.
                let _ = fs::remove_file(&path);
                page.set_head(number + 1);
                return Err(self.unread(&error));
            }
        };
        let _ = fs::remove_file(&path);
        page.set_head(number + 1);
        drop(held);
        room.fill().map(Some).map_err(|error| self.unread(&error))
    }

    /// Puts a message that was taken before the others again, even when the ring is full.
    pub(crate) fn put_back(&self, parcel: Parcel) -> Result<()> {
        let _held = self.page.lock();
        let number = self.page.head() - 1;
        if self.page.is_shared() {
            self.store(&parcel, number)?;
        } else {
            self.own().insert(number, parcel);
        }
        self.page.set_head(number);
        Ok(())
    }

    fn store(&self, parcel: &Parcel, number: u64) -> Result<()> {
        Draft::write(&self.name, parcel)
            .and_then(|draft| draft.publish(&self.name.message(number)))
            .map_err(|error| self.unwritten(&error))
    }

    /// Waits a little for a message. True: there is one.
    pub(crate) fn has_message(&self) -> bool {
        let bell = self.page.bell();
        if self.page.count() == 0 && self.check().is_ok() {
            self.page.sleep(bell, LOOK);
            if self.page.bell() == bell {
                self.page.look_for_deaths();
            }
        }
        self.page.count() > 0
    }

    /// Drops every message.
    pub(crate) fn clear(&self) {
        let _held = self.page.lock();
        self.drop_messages();
    }

    fn drop_messages(&self) {
        let (head, tail) = (self.page.head(), self.page.tail());
        let own = std::mem::take(&mut *self.own());
        if own.is_empty() {
            for number in head..tail {
                let _ = fs::remove_file(self.name.message(number));
            }
        }
        self.page.set_head(tail);
    }

    /// Lets another process in. Messages that never left this one become files.
    ///
    /// # Errors
    /// 507051 when they cannot be written, 107000 when the list is full; nothing changes then.
    pub(crate) fn grant(&self, who: u64, rights: u64) -> Result<()> {
        let _held: Held<'_> = self.page.lock();
        self.check()?;
        let mut own = self.own();
        for (number, parcel) in own.iter() {
            if let Err(error) = self.store(parcel, *number) {
                for number in own.keys() {
                    let _ = fs::remove_file(self.name.message(*number));
                }
                return Err(error);
            }
        }
        own.clear();
        self.page.set_shared();
        if self.page.grant(who, rights) {
            Ok(())
        } else {
            Err(Error::rt_cause(
                "pid",
                identity::pid(who),
                "finds no room in the list of the queue: 240 processes have rights already",
            ))
        }
    }

    /// Waits until this process has rights.
    ///
    /// # Errors
    /// 107019 when none are given in time.
    pub(crate) fn wait_for_rights(&self, patience: Patience, stop: &AtomicBool) -> Result<u32> {
        loop {
            let bell = self.page.bell();
            self.check()?;
            let rights = self.page.granted();
            if rights != 0 {
                self.page.attach();
                return Ok(rights);
            }
            self.wait(bell, self.page.deaths(), patience, stop, || {
                Error::sequence(
                    abi::ACL_ERROR_RT_WAIT_TIMEOUT,
                    format!(
                        "{} gave this process no rights {}; its maker has to call acltdtGrantQueue",
                        self.what,
                        patience.text()
                    ),
                )
            })?;
        }
    }

    /// Ends it for everybody. The names are the caller's affair.
    pub(crate) fn close(&self) {
        let _held = self.page.lock();
        self.page.close(State::Destroyed);
        self.drop_messages();
    }
}

pub(crate) fn no_memory(asked: u64) -> Error {
    Fault::HostShortage {
        asked,
        cause: "the machine has no memory for the bytes of a message".to_owned(),
    }
    .into()
}
