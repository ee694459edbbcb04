//! Device memory that the runtime takes for itself: kernel binaries, device variables, launch
//! arguments, conditions of models, words of a context or device. It is charged like any other and named in the reports; aclrtFree refuses it.

use std::sync::atomic::Ordering;

use cannery_observe::{Family, PageKind};

use super::config::APP_MODULE;
use super::store::{Request, families};
use super::{guard, malloc};
use crate::error::Result;
use crate::process::{Here, Runtime};

/// From here on blocks start on pages.
const PAGE: u64 = 4096;
/// From here on 2 MiB pages are tried first.
const LARGE: u64 = 1 << 20;

/// A block of device memory, released when dropped.
pub(crate) struct DeviceBlock {
    runtime: &'static Runtime,
    device: usize,
    /// Resets of the device when the block was made: a reset takes it away.
    resets: u64,
    address: u64,
    family: Family,
}

impl DeviceBlock {
    /// `bytes` bytes on the device of the caller for kernels, at a multiple of 64. Contents are whatever was there.
    ///
    /// # Errors
    /// 207001 when the pages run out.
    pub(crate) fn new(here: &Here, bytes: u64) -> Result<DeviceBlock> {
        DeviceBlock::of(here, bytes, Family::Kernel)
    }

    /// As [`new`](Self::new), for another purpose.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn of(here: &Here, bytes: u64, family: Family) -> Result<DeviceBlock> {
        let store = here.store()?;
        let size = bytes.next_multiple_of(32);
        let mut request = Request {
            pages: if size > LARGE {
                PageKind::Huge
            } else {
                PageKind::Normal
            },
            size,
            requested: bytes,
            room: if size >= PAGE {
                size.next_multiple_of(PAGE)
            } else {
                size
            },
            family,
            module: APP_MODULE,
        };
        let resets = here.device().resets().load(Ordering::Acquire);
        let mut result = store.alloc(here.arena, &request);
        if result.is_err() {
            request.pages = match request.pages {
                PageKind::Normal => PageKind::Huge,
                _ => PageKind::Normal,
            };
            result = store.alloc(here.arena, &request);
        }
        let address = match result {
            Ok(address) => address,
            Err(refusal) => {
                store.count_failure();
                let device = here.device().index() as u32;
                return Err(malloc::shortage(device, store, &request, true, &refusal));
            }
        };
        let block = DeviceBlock {
            runtime: here.runtime,
            device: here.device().index(),
            resets,
            address,
            family,
        };
        guard::touch(block.alias(), bytes)?;
        Ok(block)
    }

    /// As programs and kernels name it.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Where the runtime touches it.
    pub(crate) fn alias(&self) -> u64 {
        self.address.wrapping_add(self.runtime.window.distance())
    }

    /// Index of the device.
    pub(crate) fn device(&self) -> usize {
        self.device
    }

    /// Whether it is still there: the device was not reset since, in this very process.
    pub(crate) fn is_there(&self) -> bool {
        let runs = crate::process::running();
        let same = runs.is_some_and(|runtime| std::ptr::eq(runtime, self.runtime));
        let resets = self.runtime.devices[self.device].resets();
        same && resets.load(Ordering::Acquire) == self.resets
    }
}

impl Drop for DeviceBlock {
    fn drop(&mut self) {
        if !self.is_there() {
            return;
        }
        let device = &self.runtime.devices[self.device];
        // With the lock no reset comes between the look and the release.
        let _state = device.state();
        if self.is_there()
            && let Some(store) = device.store()
        {
            store.release(self.address, families(&[self.family]), |_| ());
        }
    }
}

/// Fills a block with zeros.
#[allow(unsafe_code)] // writes to it
pub(crate) fn clear(block: &DeviceBlock, bytes: u64) {
    // SAFETY: the block has so many bytes.
    unsafe { crate::os::copy::fill(block.alias(), 0, bytes) };
}
