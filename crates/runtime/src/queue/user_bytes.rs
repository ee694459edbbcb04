//! Bytes of the program that go into a message or come out of one.
#![allow(unsafe_code)] // moves the bytes

use crate::error::{Error, Result};
use crate::memory::locate;
use crate::os::block::Block;
use crate::process::Runtime;

/// A range of the program, checked; in EP mode host memory, in RC mode any.
#[derive(Clone, Copy)]
pub(crate) struct UserBytes {
    at: u64,
    bytes: u64,
}

impl UserBytes {
    /// # Errors
    /// 107000 for what is no host memory, and in RC mode also no device memory.
    pub(crate) fn check(
        runtime: &Runtime,
        param: &'static str,
        address: u64,
        bytes: u64,
    ) -> Result<UserBytes> {
        let spot = locate::range(runtime, param, address, bytes)?;
        if spot.device.is_some() && !runtime.is_rc() {
            return Err(Error::address(
                param,
                address,
                "device memory; the bytes of a message are host memory in EP mode: copy them with \
                 aclrtMemcpy",
            ));
        }
        Ok(UserBytes { at: spot.at, bytes })
    }

    /// No bytes.
    pub(crate) const NONE: UserBytes = UserBytes { at: 0, bytes: 0 };

    /// Number of bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The same bytes in a block.
    pub(crate) fn to_block(self) -> Option<Block> {
        let block = Block::new(self.bytes)?;
        // SAFETY: checked; host ranges stay mapped for the call, as in any C call.
        unsafe { block.fill(0, self.at, self.bytes) };
        Some(block)
    }

    /// Copies out of a block to offset `to` of the range. The caller has checked that `bytes` fit.
    pub(crate) fn fill_from(&self, to: u64, block: &Block, bytes: u64) {
        debug_assert!(to + bytes <= self.bytes);
        // SAFETY: checked; host ranges stay mapped for the call, as in any C call.
        unsafe { block.drain(self.at + to, bytes) };
    }

    /// Copies the range into a small array, as far as it goes.
    pub(crate) fn copy_to(&self, array: &mut [u8]) {
        let bytes = self.bytes.min(array.len() as u64);
        // SAFETY: as above; the array has room.
        unsafe { crate::os::copy::copy(array.as_mut_ptr() as u64, self.at, bytes) };
    }

    /// Copies a small array into the range, as far as it goes.
    pub(crate) fn copy_from(&self, array: &[u8]) {
        let bytes = self.bytes.min(array.len() as u64);
        // SAFETY: as above; the array is as long.
        unsafe { crate::os::copy::copy(self.at, array.as_ptr() as u64, bytes) };
    }
}
