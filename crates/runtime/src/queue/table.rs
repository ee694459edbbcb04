//! Small objects behind handles. A handle is a number that is looked up, so that any value may be
//! passed; none is used twice.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use crate::error::{Error, Fault, Result};
use crate::patient;
use crate::process;

/// All objects of one kind.
pub(crate) struct Table<T> {
    entries: LazyLock<Mutex<Entries<T>>>,
    /// In the upper bits of every handle: no mapping has such an address.
    tag: u64,
    /// What texts call an object, and the function that makes one.
    what: &'static str,
    made_by: &'static str,
}

struct Entries<T> {
    /// The start of the runtime that the objects belong to.
    epoch: u32,
    next: u64,
    living: HashMap<u64, T>,
}

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self {
            epoch: 0,
            next: 0,
            living: HashMap::new(),
        }
    }
}

impl<T> Table<T> {
    pub(crate) const fn new(tag: u16, what: &'static str, made_by: &'static str) -> Self {
        Self {
            entries: LazyLock::new(Mutex::default),
            tag: (tag as u64) << 48,
            what,
            made_by,
        }
    }

    /// Calls `act` with the living objects. Those of a parent process are gone.
    fn entries<R>(&self, act: impl FnOnce(&mut Entries<T>) -> Result<R>) -> Result<R> {
        let epoch = process::current()?.epoch();
        let mut entries = patient::lock(&self.entries).ok_or(Fault::Forked)?;
        if entries.epoch != epoch {
            entries.epoch = epoch;
            entries.living.clear();
        }
        act(&mut entries)
    }

    /// A new object; its handle.
    pub(crate) fn add(&self, object: T) -> Result<u64> {
        self.entries(|entries| {
            entries.next += 16;
            let handle = self.tag | entries.next;
            entries.living.insert(handle, object);
            Ok(handle)
        })
    }

    /// Calls `act` with the object of a handle.
    pub(crate) fn with<R>(
        &self,
        param: &'static str,
        handle: u64,
        act: impl FnOnce(&mut T) -> Result<R>,
    ) -> Result<R> {
        self.entries(|entries| match entries.living.get_mut(&handle) {
            Some(object) => act(object),
            None => Err(self.unknown(param, handle)),
        })
    }

    /// Calls `act` with all living objects at once.
    pub(crate) fn all<R>(&self, act: impl FnOnce(&mut HashMap<u64, T>) -> Result<R>) -> Result<R> {
        self.entries(|entries| act(&mut entries.living))
    }

    /// Takes an object out, if `check` has nothing against it.
    pub(crate) fn remove_if(
        &self,
        param: &'static str,
        handle: u64,
        check: impl FnOnce(&T) -> Result<()>,
    ) -> Result<T> {
        self.entries(|entries| {
            let object = entries.living.get(&handle);
            check(object.ok_or_else(|| self.unknown(param, handle))?)?;
            let removed = entries.living.remove(&handle);
            removed.ok_or_else(|| self.unknown(param, handle))
        })
    }

    /// Takes an object out.
    pub(crate) fn remove(&self, param: &'static str, handle: u64) -> Result<T> {
        self.remove_if(param, handle, |_| Ok(()))
    }

    /// Puts an object that was taken out back under its handle.
    pub(crate) fn restore(&self, handle: u64, object: T) -> Result<()> {
        self.entries(|entries| {
            entries.living.insert(handle, object);
            Ok(())
        })
    }

    /// What to answer for a handle without an object.
    pub(crate) fn unknown(&self, param: &'static str, handle: u64) -> Error {
        Error::cause(
            param,
            format!("{handle:#x}"),
            format!(
                "is no living {}; destroyed already, or not made by {}?",
                self.what, self.made_by
            ),
        )
    }
}
