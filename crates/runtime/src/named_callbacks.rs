//! Functions of the program that are registered under a name and called when something happens
//! (aclrtRegDeviceStateCallback, aclrtRegStreamStateCallback).

use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Fault, Result};
use crate::patient;

struct Entry<F> {
    name: String,
    function: F,
    args: usize,
}

/// Refuses what can be no name.
///
/// # Errors
/// 100000 without a name, and for an empty one.
pub(crate) fn check_name(name: Option<&str>) -> Result<&str> {
    match name {
        None => Err(Error::null("regName")),
        Some("") => Err(Error::value("regName", "\"\"", "must not be empty")),
        Some(name) => Ok(name),
    }
}

/// One kind of callback; functions are called in the order of their registration.
pub(crate) struct NamedCallbacks<F> {
    entries: Mutex<Vec<Entry<F>>>,
    any: AtomicBool,
}

impl<F: Copy> NamedCallbacks<F> {
    pub(crate) const fn new() -> Self {
        Self {
            entries: Mutex::new(Vec::new()),
            any: AtomicBool::new(false),
        }
    }

    /// Whether anything is registered.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Registers `function` under a name, or with `None` takes the name's function away.
    ///
    /// # Errors
    /// 100000 without a name, for an empty one, one that is taken, or one to take away that is
    /// unknown.
    pub(crate) fn register(
        &self,
        name: Option<&str>,
        function: Option<F>,
        args: *mut c_void,
    ) -> Result<()> {
        let name = check_name(name)?;
        let Some(mut entries) = patient::lock(&self.entries) else {
            return Err(Fault::Forked.into());
        };
        let known = entries.iter().position(|entry| entry.name == name);
        match (function, known) {
            (Some(_), Some(_)) => {
                return Err(Error::cause(
                    "regName",
                    name,
                    "is registered already; unregister it first (NULL as the function), or choose another name",
                ));
            }
            (None, None) => {
                return Err(Error::cause(
                    "regName",
                    name,
                    "is not registered, or no longer; pass a name that was registered",
                ));
            }
            (Some(function), None) => entries.push(Entry {
                name: name.to_owned(),
                function,
                args: args as usize,
            }),
            (None, Some(at)) => {
                entries.remove(at);
            }
        }
        self.any.store(!entries.is_empty(), Ordering::Release);
        Ok(())
    }

    /// Hands every function and its argument to `call`. No lock is held meanwhile: they may call the
    /// runtime.
    #[inline]
    pub(crate) fn each(&self, call: impl Fn(F, *mut c_void)) {
        if self.any() {
            self.each_of_some(call);
        }
    }

    /// As [`each`](Self::each), until one answers something else than 0.
    ///
    /// # Errors
    /// The name of that one, and its answer.
    pub(crate) fn each_until(
        &self,
        call: impl Fn(F, *mut c_void) -> i32,
    ) -> std::result::Result<(), (String, i32)> {
        let calls: Vec<(String, F, usize)> = patient::lock(&self.entries)
            .map(|entries| {
                let all = entries.iter();
                all.map(|entry| (entry.name.clone(), entry.function, entry.args))
                    .collect()
            })
            .unwrap_or_default();
        for (name, function, args) in calls {
            match call(function, args as *mut c_void) {
                0 => {}
                answer => return Err((name, answer)),
            }
        }
        Ok(())
    }

    #[cold]
    fn each_of_some(&self, call: impl Fn(F, *mut c_void)) {
        let calls: Vec<(F, usize)> = patient::lock(&self.entries)
            .map(|entries| {
                entries
                    .iter()
                    .map(|entry| (entry.function, entry.args))
                    .collect()
            })
            .unwrap_or_default();
        for (function, args) in calls {
            call(function, args as *mut c_void);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::ptr::null_mut;

    use super::NamedCallbacks;

    #[test]
    fn names_are_unique_and_the_order_is_kept() {
        let callbacks = NamedCallbacks::<u8>::new();
        let register = |name, number| callbacks.register(name, number, null_mut());
        assert!(!callbacks.any());
        assert!(register(None, Some(1)).is_err() && register(Some(""), Some(1)).is_err());
        assert!(register(Some("a"), None).is_err());
        for (name, number) in [("b", 2), ("a", 1), ("c", 3)] {
            assert!(register(Some(name), Some(number)).is_ok());
        }
        assert!(register(Some("a"), Some(9)).is_err());
        assert!(register(Some("a"), None).is_ok());
        let seen = RefCell::new(Vec::new());
        callbacks.each(|number, _| seen.borrow_mut().push(number));
        assert_eq!(seen.into_inner(), [2, 3]);
        for name in ["b", "c"] {
            assert!(callbacks.any());
            assert!(register(Some(name), None).is_ok());
        }
        assert!(!callbacks.any());
    }
}
