//! The memory of the devices, kept in the host: ordinary blocks and those of media processing, pools, and
//! physical memory behind handles.
//!
//! Memory that another process made is left to it; managed memory belongs to the process, not to a device.
#![allow(unsafe_code)] // reads and writes memory of the devices

use crate::error::Result;
use crate::memory::virtual_memory::Seen;
use crate::memory::{guard, stream_ordered_pool};
use crate::os::pages::{Contents, PAGE, pages_in_use};
use crate::process::Runtime;

/// Where memory is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Alias of memory of the device at this position.
    Device(usize, u64),
    /// Physical memory of this handle.
    Handle(u64),
}

/// Everything that a backup keeps.
#[derive(Default)]
pub(super) struct Backup {
    kept: Vec<(Place, Contents)>,
}

/// All memory of the devices: place and bytes.
fn everything(runtime: &'static Runtime) -> Vec<(Place, u64)> {
    let distance = runtime.window.distance();
    let mut places = Vec::new();
    for device in &runtime.devices {
        let Some(store) = device.store() else {
            continue;
        };
        let index = device.index();
        let runs = store.runs();
        places.extend(
            runs.iter()
                .map(|(at, bytes)| (Place::Device(index, at.wrapping_add(distance)), *bytes)),
        );
    }
    for (device, at, bytes) in stream_ordered_pool::memory(runtime) {
        places.push((Place::Device(device, at.wrapping_add(distance)), bytes));
    }
    let handles = runtime.virtual_memory.own_device_memory();
    places.extend(
        handles
            .into_iter()
            .map(|(handle, bytes)| (Place::Handle(handle), bytes)),
    );
    places
}

/// Calls `act` with where the runtime may touch a place. `None`: it is gone.
fn with<R>(runtime: &Runtime, place: Place, act: impl FnOnce(u64) -> R) -> Option<R> {
    match place {
        Place::Device(_, at) => Some(act(at)),
        Place::Handle(handle) => {
            let seen: Seen = runtime.virtual_memory.look_at(handle)?;
            Some(act(seen.at()))
        }
    }
}

impl Backup {
    /// Keeps what all devices hold.
    ///
    /// # Errors
    /// 207001 when the host has no memory for it.
    pub(super) fn take(runtime: &'static Runtime) -> Result<Backup> {
        let places = everything(runtime);
        let pages = places.iter().filter_map(|(place, bytes)| {
            // SAFETY: memory of the runtime, mapped as long as the block, pool or handle is there; nobody is
            // inside a call that could end it.
            with(runtime, *place, |at| unsafe { pages_in_use(at, *bytes) })
        });
        let needed = pages.sum::<u64>() * PAGE;
        guard::commit(needed)?;
        let mut backup = Backup::default();
        for (place, bytes) in places {
            // SAFETY: as above.
            match with(runtime, place, |at| unsafe { Contents::of(at, bytes) }) {
                Some(Some(contents)) => backup.kept.push((place, contents)),
                Some(None) => return Err(guard::none_for(needed)),
                None => {}
            }
        }
        Ok(backup)
    }

    /// What it would write to and is not there any more, as a device or a handle; `None`: all is there.
    pub(super) fn missing(&self, runtime: &'static Runtime) -> Option<String> {
        let now = everything(runtime);
        let lost = self
            .kept
            .iter()
            .find(|(place, contents)| !now.contains(&(*place, contents.bytes())))?;
        Some(match lost.0 {
            Place::Device(device, at) => format!(
                "memory of device {device} at {:#x}",
                at.wrapping_sub(runtime.window.distance())
            ),
            Place::Handle(handle) => format!("physical memory {handle:#x}"),
        })
    }

    /// Makes all devices hold it again. The caller has asked [`missing`](Self::missing).
    pub(super) fn put_back(&self, runtime: &Runtime) {
        for (place, contents) in &self.kept {
            // SAFETY: all of it is there, as it was when it was kept.
            with(runtime, *place, |at| unsafe { contents.put_back(at) });
        }
    }
}
