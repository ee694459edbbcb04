//! Settings: the environment, a section of the init file, and the profile they choose.
//!
//! The environment wins over the file. A bad value is refused by name, value and choices; nothing
//! is guessed. Names of parts that do not exist yet are refused too: a setting that does nothing
//! would be a lie.

mod parse;
mod products;
pub mod profile;

pub(crate) use parse::default_huge;
pub use parse::{BadSetting, Settings, Source, Used};
pub(crate) use profile::{MemoryKind, Profile};

/// EP: a card in a host, two memories. RC: host and device are one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A card in a host.
    Ep,
    /// Host and device share memory.
    Rc,
}

impl Mode {
    /// Name as in `CANNERY_MODE`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mode::Ep => "ep",
            Mode::Rc => "rc",
        }
    }
}

/// How host memory is pinned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pin {
    /// Locked when limits allow, else it works unlocked and says so once.
    Auto,
    /// Locked, or the allocation fails.
    Strict,
    /// Never locked.
    Off,
}

impl Pin {
    /// Name as in `CANNERY_PIN`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Pin::Auto => "auto",
            Pin::Strict => "strict",
            Pin::Off => "off",
        }
    }
}

/// How much is told on standard error.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Log {
    /// Nothing.
    Off,
    /// Refused calls that point to a fault of the set-up.
    Error,
    /// What works, but not as asked.
    Warn,
    /// The chosen profile, devices set and reset.
    Info,
    /// Every allocation, release and refused call.
    Debug,
    /// Copies and fills too.
    Trace,
}

impl Log {
    /// Name as in `CANNERY_LOG`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Log::Off => "off",
            Log::Error => "error",
            Log::Warn => "warn",
            Log::Info => "info",
            Log::Debug => "debug",
            Log::Trace => "trace",
        }
    }
}

/// Limits that `CANNERY_LIMITS` can lower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of host memory that may be locked (`lock=`), on top of the limit of the system.
    pub lock: Option<u64>,
    /// Bytes of media memory of this process (`media=`).
    pub media: Option<u64>,
    /// Bytes of host memory of one registration (`registration=`).
    pub registration: Option<u64>,
    /// Entries that all registrations together may take in the page table of a device
    /// (`page-table-entries=`); one for each page of host memory, whatever its size.
    pub page_table_entries: Option<u64>,
}

/// Version of CANN that the emulation answers with.
pub(crate) const CANN_VERSION: &str = "8.5.0";
/// Interface version.
pub(crate) const API_VERSION: (i32, i32, i32) = (1, 17, 0);
