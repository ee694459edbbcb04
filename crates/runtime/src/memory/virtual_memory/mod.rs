//! Manual chapter: virtual memory management. Addresses and memory apart: a range is reserved,
//! memory is allocated behind a handle, and the one is mapped into the other. Glossary:
//!
//! * **reservation**: an area (see `areas`) that belongs to the program.
//! * **physical memory**: what a handle stands for, charged to a device in whole pages, or the host's.
//!   Its bytes lie in a memory file, so that they can be seen at several addresses and by other
//!   processes.
//! * **mapping**: one handle at one place of a reservation; a piece of the area.
//! * **rights**: which locations may touch a mapping.
//!
//! Memory lives as long as its handle has references or a mapping: freeing a mapped handle is allowed,
//! and the pages go when the last mapping goes. A call that fails half-way takes back what it did.
//!
//! Mapping costs two system calls, unmapping one. One lock for the process; copies do not take it, they
//! find mappings through the areas.
//!
//! Lock order: this one, then the areas, then the stores; the broker's and the exports' come last.

mod access;
mod backing;
mod mapping;
mod physical;
mod properties;
mod reservation;
mod sharing;
mod snapshot;
mod state;

pub use access::{Grant, get_access, set_access};
pub use mapping::{map, map_no_access, map_selected_link, set_link, unmap};
pub use physical::{free_physical, malloc_physical, properties_of, retain};
pub use properties::{Property, granularity};
pub use reservation::{release, reserve, reserve_no_uc};
pub use sharing::{Form, Shareable, allow, export, import};
pub(crate) use snapshot::Seen;
pub(crate) use state::VirtualMemory;
