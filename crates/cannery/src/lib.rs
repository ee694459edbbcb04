//! AscendCL memory for Rust: devices, contexts, streams, buffers and pools, safe to use and the same with
//! Cannery's emulated devices and with the vendor's library.
//!
//! # Glossary
//!
//! * **[`Library`]**: a libascendcl.so that is open, found or named at run time. Everything goes through its
//!   one function [`Table`]; this crate links nothing of the kind.
//! * **[`Device`], [`Context`], [`Stream`], [`Event`]**: as in the manual, but values that own what they name.
//!   A call makes its context current on its thread.
//! * **[`DeviceBuffer`], [`DevSlice`], [`DevSliceMut`]**: device memory and views of it. Never Rust slices.
//! * **[`PinnedBuffer`]**: host memory for queued copies; a slice while no queued work uses it.
//! * **[`CachedBuffer`]**: device memory with flush and invalidate. **[`PoolBuffer`]**: of a [`Pool`].
//! * **[`InFlight`]**: a queued copy that owns its sides; wait for it, or `.await` it.
//! * **stretch**: a part of the work of a stream. Each buffer keeps the last stretch of each stream that uses
//!   it, so forgetting a guard is safe. **mark**: an event at the end of a stretch.
//!
//! # Contract
//!
//! * Safe code cannot follow a device address, read uninitialised memory, free memory that is being copied,
//!   or touch pinned memory that a device writes. What queued work does to a buffer is known to the buffer:
//!   host access waits for it, other streams are ordered behind it.
//! * Lengths are in elements; sizes, where they occur, are called bytes.
//! * Errors carry code, C function, text, numbers and the line that asked. What fails in `Drop` is counted and
//!   kept: [`drop_failures`].
//! * Every type is `Send` and `Sync` as far as its elements are: the manual allows every function in any
//!   thread.
//!
//! ```
//! use cannery::{Device, DeviceBuffer, Library, PinnedBuffer, Stream};
//!
//! let context = Device::new(Library::find()?, 0)?.context()?;
//! let stream = Stream::new(&context)?;
//! let numbers: Vec<f32> = (0..1_000_000).map(|i| i as f32).collect();
//!
//! let sent = PinnedBuffer::from_slice(&context, &numbers)?;
//! let device = DeviceBuffer::uninit(&context, numbers.len())?;
//! let (_, device) = stream.copy(sent, device)?.wait()?;
//! assert_eq!(device.to_vec()?, numbers);
//! # Ok::<(), cannery::Error>(())
//! ```

#![deny(missing_docs)]
// Calls of C functions, and memory that they give: the reason why this crate exists.
#![allow(unsafe_code)]

mod context;
mod device;
mod device_buffer;
pub mod drop_failures;
mod error;
mod in_flight;
mod kept;
mod lane;
mod library;
mod pinned;
mod places;
mod pool;
mod scope;
mod shared;
mod sharing;
mod stream;
mod sync;
mod table;
mod uses;
mod views;
mod virtual_memory;

/// The examples of the page are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
mod page {}

pub use cannery_knowledge::{Function, Words, function};
pub use context::Context;
pub use device::{Device, MemoryInfo};
pub use device_buffer::{
    Cached, CachedBuffer, DeviceBuffer, Imported, Plain, Policy, PoolBuffer, Pooled,
};
pub use error::{Code, Error, Result, Shortage};
pub use in_flight::{Failed, InFlight, Queued, QueuedStaged};
pub use library::Library;
pub use pinned::{PinnedBuffer, PinnedSlice, PinnedSliceMut};
pub use places::{Element, Place, Read, Source, Target, Write};
pub use pool::{OnDevice, Pinned, Pool, PoolKind};
pub use scope::Scope;
pub use sharing::{Exported, Key, process_number};
pub use stream::{Event, Stream};
pub use table::Table;
pub use views::{DevSlice, DevSliceMut, DevicePtr};
pub use virtual_memory::{Mapping, Pages, Physical, Reservation, SharedHandle};
