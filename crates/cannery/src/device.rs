//! Devices.

use std::sync::Arc;

use cannery_abi::ACL_HBM_MEM;

use crate::context::Context;
use crate::error::{Code, Error, Result};
use crate::library::Library;

/// A device of a library. A small value; it holds nothing of the device.
///
/// # Thread rules
/// May be used from any thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    library: Library,
    id: u32,
}

/// Memory of a device in bytes: the answer of `aclrtGetMemInfo` for all its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Free bytes, of all processes alike.
    pub free: usize,
    /// All bytes.
    pub total: usize,
}

impl Device {
    /// Number of devices.
    ///
    /// # Errors
    /// When the process cannot be initialised.
    #[track_caller]
    pub fn count(library: Library) -> Result<u32> {
        library.begin()?;
        let mut count = 0;
        // SAFETY: the place is valid.
        let code = unsafe { (library.table().aclrtGetDeviceCount)(&raw mut count) };
        library.check("aclrtGetDeviceCount", code)?;
        Ok(count)
    }

    /// The device with a number; initialises the library at its first use.
    ///
    /// # Errors
    /// [`Code::InvalidDevice`] when there is no such device.
    #[track_caller]
    pub fn new(library: Library, id: u32) -> Result<Device> {
        let count = Self::count(library)?;
        if id >= count {
            return Err(Error::own(
                Code::InvalidDevice,
                "aclrtGetDeviceCount",
                format!("device {id} does not exist: there are {count}, numbered from 0"),
            ));
        }
        Ok(Device { library, id })
    }

    /// Its number.
    pub fn id(self) -> u32 {
        self.id
    }

    /// Its library.
    pub fn library(self) -> Library {
        self.library
    }

    /// The primary context, which every user of the device in this process shares; C code finds it with
    /// `aclrtSetDevice`. Every value counts as one `aclrtSetDevice`, its drop as one `aclrtResetDevice`.
    ///
    /// # Errors
    /// Those of `aclrtSetDevice`.
    #[track_caller]
    pub fn context(self) -> Result<Arc<Context>> {
        Context::primary(self)
    }

    /// A context of its own (`aclrtCreateContext`).
    ///
    /// # Errors
    /// Those of `aclrtCreateContext`.
    #[track_caller]
    pub fn new_context(self) -> Result<Arc<Context>> {
        Context::explicit(self)
    }
}

impl Context {
    /// Free and total memory of the device.
    ///
    /// # Errors
    /// Those of `aclrtGetMemInfo`.
    #[track_caller]
    pub fn memory(&self) -> Result<MemoryInfo> {
        let (mut free, mut total) = (0, 0);
        self.call("aclrtGetMemInfo", |table| {
            // SAFETY: both places are valid.
            unsafe { (table.aclrtGetMemInfo)(ACL_HBM_MEM, &raw mut free, &raw mut total) }
        })?;
        Ok(MemoryInfo { free, total })
    }
}
