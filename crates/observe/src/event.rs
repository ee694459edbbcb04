//! Events and where they go.

use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Family, PageKind};

/// One thing that happened. Addresses and sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A block was made.
    Alloc {
        /// First byte.
        address: u64,
        /// Bytes asked for.
        requested: u64,
        /// Bytes charged.
        charged: u64,
        /// Where it came from.
        family: Family,
        /// Pages behind it.
        pages: PageKind,
        /// Device, or -1 for host memory.
        device: i32,
    },
    /// A block was released.
    Free {
        /// First byte.
        address: u64,
        /// Where it had come from.
        family: Family,
    },
    /// Bytes were copied.
    Copy {
        /// Destination.
        to: u64,
        /// Source.
        from: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// Bytes were set.
    Fill {
        /// Destination.
        to: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// A call was refused.
    Refused {
        /// The function.
        api: &'static str,
        /// The code it returned.
        code: i32,
    },
}

/// Receives events on the thread that caused them.
pub type Sink = fn(&Event);

static ENABLED: AtomicBool = AtomicBool::new(false);
static SINK: RwLock<Option<Sink>> = RwLock::new(None);

/// Whether a sink is installed: one relaxed load, the whole price while none is.
#[inline]
#[must_use]
pub fn enabled() -> bool {
    ENABLED.load(Ordering::Relaxed)
}

/// Tells the sink, if there is one. `make` runs only then.
#[inline]
pub fn emit(make: impl FnOnce() -> Event) {
    if enabled() {
        deliver(&make());
    }
}

#[cold]
fn deliver(event: &Event) {
    let sink = *SINK
        .read()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(sink) = sink {
        sink(event);
    }
}

/// Sends events to `sink` from now on.
pub fn install(sink: Sink) {
    *SINK
        .write()
        .unwrap_or_else(std::sync::PoisonError::into_inner) = Some(sink);
    ENABLED.store(true, Ordering::Relaxed);
}

/// Stops sending events.
pub fn uninstall() {
    ENABLED.store(false, Ordering::Relaxed);
    *SINK
        .write()
        .unwrap_or_else(std::sync::PoisonError::into_inner) = None;
}
