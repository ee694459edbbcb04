//! What a case is: a name, the environment of its process, and a body.

use crate::t::T;

/// The part of a case that makes the calls and verifies the effect.
pub(crate) type Body = fn(&T);

/// What the harness does before the body runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Nothing: a fresh process.
    Fresh,
    /// `aclInit(NULL)`.
    Init,
    /// `aclInit(NULL)`, `aclrtSetDevice(0)`.
    Device0,
}

/// Environment and start of a case's process. Every other setting of the
/// emulator is cleared first, so a case never depends on the caller's shell.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// Calls before the body.
    pub(crate) start: Start,
    /// Environment variables.
    pub(crate) env: Vec<(&'static str, String)>,
}

impl Setup {
    fn new(start: Start) -> Self {
        Self {
            start,
            env: Vec::new(),
        }
    }

    /// A process that made no call yet.
    pub(crate) fn fresh() -> Self {
        Self::new(Start::Fresh)
    }

    /// Initialised, but no thread has a device.
    pub(crate) fn init() -> Self {
        Self::new(Start::Init)
    }

    /// Initialised, device 0 set on the body's thread.
    pub(crate) fn device0() -> Self {
        Self::new(Start::Device0)
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &'static str, value: &str) -> Self {
        self.env.push((name, value.to_owned()));
        self
    }

    /// Emulates `n` devices.
    pub(crate) fn devices(self, n: u32) -> Self {
        self.env("CANNERY_DEVICES", &n.to_string())
    }

    /// Chooses the product profile.
    pub(crate) fn profile(self, name: &str) -> Self {
        self.env("CANNERY_PROFILE", name)
    }

    /// Host and device are one memory.
    pub(crate) fn rc(self) -> Self {
        self.profile("310B").env("CANNERY_MODE", "rc")
    }

    /// Sets the memory of a device and the part of it that is 2 MiB pages.
    pub(crate) fn memory(self, total: &str, huge: &str) -> Self {
        self.env("CANNERY_HBM_BYTES", total)
            .env("CANNERY_HUGE_BYTES", huge)
    }
}

/// A registered case.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Id of the line, or an id that starts with `x.`.
    pub(crate) id: &'static str,
    /// Environment and start.
    pub(crate) setup: Setup,
    /// Calls and checks.
    pub(crate) body: Body,
}

impl Case {
    /// True for the cases that no line describes.
    #[cfg(test)] // The tests tell the two kinds apart; the harness looks for a line.
    pub(crate) fn is_own(&self) -> bool {
        self.id.starts_with("x.")
    }
}

/// Registers a case.
pub(crate) fn case(id: &'static str, setup: Setup, body: Body) -> Case {
    Case { id, setup, body }
}
