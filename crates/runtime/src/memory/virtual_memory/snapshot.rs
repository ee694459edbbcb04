//! A look at the bytes of physical memory, mapped or not.

use super::VirtualMemory;
use crate::os::map::{self, Access};

/// Physical memory where the runtime may touch it, while this lives.
pub(crate) struct Seen {
    at: u64,
    bytes: u64,
}

impl Seen {
    pub(crate) fn at(&self) -> u64 {
        self.at
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        map::release(self.at, self.bytes);
    }
}

impl VirtualMemory {
    /// Memory of devices that this process made: handle and bytes.
    pub(crate) fn own_device_memory(&self) -> Vec<(u64, u64)> {
        let state = self.state();
        let handles = state.handles.iter();
        handles
            .filter(|(_, physical)| !physical.imported && physical.home.device().is_some())
            .map(|(handle, physical)| (*handle, physical.bytes))
            .collect()
    }

    /// Makes the memory of a handle visible. `None`: it is gone, or there are no addresses for it.
    pub(crate) fn look_at(&self, handle: u64) -> Option<Seen> {
        let state = self.state();
        let physical = state.handles.get(&handle)?;
        let bytes = physical.bytes;
        let at = map::reserve(None, bytes, Access::None).ok()?;
        let seen = Seen { at, bytes };
        let (file, offset) = state.files.place(&physical.backing);
        map::map_shared(file, offset, at, bytes).ok()?;
        Some(seen)
    }
}
