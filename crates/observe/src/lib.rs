//! What happened in the runtime: event types and the counters made of them. Knows no backend.
//!
//! * **family**: which function a block came from; it decides which function may release it.
//! * **page kind**: 4 KiB, 2 MiB or 1 GiB pages.
//! * **event**: one allocation, release, copy or fill, as it is told to a [`Sink`].
//! * **ledger**: plain numbers kept by one owner behind that owner's lock. No number is shared between
//!   threads on a hot path.
//! * **counters**: what a reader gets: the numbers of one owner, or of all of them added up.
//!
//! Everything here is safe to use from any thread; a [`Sink`] must not call the runtime.

mod counters;
mod event;
mod family;

pub use counters::{Counters, Ledger, MODULES, Tally};
pub use event::{Event, Sink, emit, enabled, install, uninstall};
pub use family::{Family, PageKind};
