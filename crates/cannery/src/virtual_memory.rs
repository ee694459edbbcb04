//! Virtual memory: ranges of addresses, physical memory, and mappings of one into the other.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, size_of};
use std::ptr;
use std::sync::Arc;

use bytemuck::AnyBitPattern;
use cannery_abi as abi;

use crate::context::Context;
use crate::drop_failures;
use crate::error::{Error, Result};
use crate::shared::Shared;
use crate::views::{DevSliceMut, DevicePtr};

/// Which pages physical memory has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pages {
    /// 2 MiB.
    #[default]
    Huge,
    /// 1 GiB, where the product has them.
    Giant,
}

fn properties(device: u32, pages: Pages) -> abi::aclrtPhysicalMemProp {
    abi::aclrtPhysicalMemProp {
        handleType: abi::ACL_MEM_HANDLE_TYPE_NONE,
        allocationType: abi::ACL_MEM_ALLOCATION_TYPE_PINNED,
        memAttr: match pages {
            Pages::Huge => abi::ACL_HBM_MEM_HUGE,
            Pages::Giant => abi::ACL_HBM_MEM_HUGE1G,
        },
        location: abi::aclrtMemLocation {
            id: device,
            r#type: abi::ACL_MEM_LOCATION_TYPE_DEVICE,
        },
        reserve: 0,
    }
}

/// Physical memory of a device (`aclrtMallocPhysical`), without an address.
///
/// # Thread rules
/// `Send` and `Sync`.
#[derive(Debug)]
pub struct Physical {
    raw: abi::aclrtDrvMemHandle,
    bytes: usize,
    context: Arc<Context>,
}

/// A range of addresses (`aclrtReserveMemAddress`), without memory.
///
/// # Thread rules
/// `Send` and `Sync`.
#[derive(Debug)]
pub struct Reservation {
    address: *mut c_void,
    bytes: usize,
    context: Arc<Context>,
}

/// Physical memory at addresses of a reservation. Holds both; unmapped when dropped, after queued work with
/// it.
///
/// # Thread rules
/// `Send` and `Sync`.
///
/// ```
/// use std::sync::Arc;
///
/// use cannery::{Device, Library, Pages, Physical, Reservation};
///
/// let context = Device::new(Library::find()?, 0)?.context()?;
/// let step = Physical::granularity(&context, Pages::Huge)?;
/// let range = Arc::new(Reservation::new(&context, 2 * step)?);
/// let memory = Arc::new(Physical::new(&context, step, Pages::Huge)?);
/// let mut mapping = range.map(step, &memory)?;
/// let mut view = mapping.uninit::<u32>().slice(..4)?.write(&[1, 2, 3, 4])?;
/// view.reborrow().slice(2..)?.zero()?;
/// assert_eq!(view.freeze().to_vec()?, [1, 2, 0, 0]);
/// # Ok::<(), cannery::Error>(())
/// ```
#[derive(Debug)]
pub struct Mapping {
    address: *mut c_void,
    memory: Arc<Physical>,
    shared: Shared,
    /// Released after the mapping.
    _range: Arc<Reservation>,
}

// SAFETY: handles and addresses of virtual memory may be used from any thread (manual, that chapter).
unsafe impl Send for Physical {}
// SAFETY: as above.
unsafe impl Sync for Physical {}
// SAFETY: as above.
unsafe impl Send for Reservation {}
// SAFETY: as above.
unsafe impl Sync for Reservation {}
// SAFETY: as above.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Physical {
    /// The unit of sizes, in bytes.
    ///
    /// # Errors
    /// Those of `aclrtMemGetAllocationGranularity`.
    #[track_caller]
    pub fn granularity(context: &Context, pages: Pages) -> Result<usize> {
        let mut properties = properties(context.device().id(), pages);
        let mut granularity = 0;
        context.call("aclrtMemGetAllocationGranularity", |table| {
            let option = abi::ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM;
            // SAFETY: both places are valid.
            unsafe {
                (table.aclrtMemGetAllocationGranularity)(
                    &raw mut properties,
                    option,
                    &raw mut granularity,
                )
            }
        })?;
        Ok(granularity)
    }

    /// Allocates; the size is a multiple of the granularity.
    ///
    /// # Errors
    /// Those of `aclrtMallocPhysical`.
    #[track_caller]
    pub fn new(context: &Arc<Context>, bytes: usize, pages: Pages) -> Result<Physical> {
        let properties = properties(context.device().id(), pages);
        let mut raw = ptr::null_mut();
        context.call("aclrtMallocPhysical", |table| {
            // SAFETY: both places are valid.
            unsafe { (table.aclrtMallocPhysical)(&raw mut raw, bytes, &raw const properties, 0) }
        })?;
        Ok(Physical {
            raw,
            bytes,
            context: Arc::clone(context),
        })
    }

    /// Its size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes a handle for other processes of the machine: those in the list, or all for `None`
    /// (`aclrtMemExportToShareableHandle`). Each physical memory is exported once.
    ///
    /// # Errors
    /// Those of the C functions; 107000 for a second export.
    #[track_caller]
    pub fn export(&self, processes: Option<&[i32]>) -> Result<SharedHandle> {
        let flags = if processes.is_some() {
            abi::ACL_RT_VMM_EXPORT_FLAG_DEFAULT
        } else {
            abi::ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION
        };
        let mut handle = 0;
        self.context
            .call("aclrtMemExportToShareableHandle", |table| {
                let kind = abi::ACL_MEM_HANDLE_TYPE_NONE;
                // SAFETY: the memory is alive, the place valid.
                unsafe {
                    (table.aclrtMemExportToShareableHandle)(self.raw, kind, flags, &raw mut handle)
                }
            })?;
        if let Some(processes) = processes {
            let mut processes = processes.to_vec();
            self.context
                .call("aclrtMemSetPidToShareableHandle", |table| {
                    // SAFETY: the list has this length.
                    unsafe {
                        (table.aclrtMemSetPidToShareableHandle)(
                            handle,
                            processes.as_mut_ptr(),
                            processes.len(),
                        )
                    }
                })?;
        }
        Ok(SharedHandle {
            handle,
            bytes: self.bytes,
        })
    }

    /// Opens memory that another process exported (`aclrtMemImportFromShareableHandle`).
    ///
    /// # Errors
    /// Those of the C function: this process is not on the list, or the memory is gone.
    #[track_caller]
    pub fn import(context: &Arc<Context>, shared: SharedHandle) -> Result<Physical> {
        let mut raw = ptr::null_mut();
        let device = context.device().id() as i32;
        context.call("aclrtMemImportFromShareableHandle", |table| {
            // SAFETY: the place is valid.
            unsafe {
                (table.aclrtMemImportFromShareableHandle)(shared.handle, device, &raw mut raw)
            }
        })?;
        Ok(Physical {
            raw,
            bytes: shared.bytes,
            context: Arc::clone(context),
        })
    }
}

/// Names physical memory for another process. Send both numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedHandle {
    /// The handle of `aclrtMemExportToShareableHandle`.
    pub handle: u64,
    /// Size of the memory.
    pub bytes: usize,
}

impl Reservation {
    /// Reserves addresses.
    ///
    /// # Errors
    /// Those of `aclrtReserveMemAddress`.
    #[track_caller]
    pub fn new(context: &Arc<Context>, bytes: usize) -> Result<Reservation> {
        let mut address = ptr::null_mut();
        context.call("aclrtReserveMemAddress", |table| {
            // SAFETY: the place is valid.
            unsafe {
                (table.aclrtReserveMemAddress)(&raw mut address, bytes, 0, ptr::null_mut(), 0)
            }
        })?;
        Ok(Reservation {
            address,
            bytes,
            context: Arc::clone(context),
        })
    }

    /// Its size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Maps physical memory, all of it, at an offset in bytes.
    ///
    /// # Errors
    /// What does not fit; those of `aclrtMapMem`.
    #[track_caller]
    pub fn map(self: &Arc<Self>, offset: usize, memory: &Arc<Physical>) -> Result<Mapping> {
        if offset
            .checked_add(memory.bytes)
            .is_none_or(|end| end > self.bytes)
        {
            let end = offset.saturating_add(memory.bytes);
            return Err(Error::range("aclrtMapMem", offset, end, self.bytes));
        }
        let address = self.address.wrapping_byte_add(offset);
        self.context.call("aclrtMapMem", |table| {
            // SAFETY: the range lies in the reservation; both are kept by the mapping.
            unsafe { (table.aclrtMapMem)(address, memory.bytes, 0, memory.raw, 0) }
        })?;
        Ok(Mapping {
            address,
            memory: Arc::clone(memory),
            shared: Shared::new(&self.context),
            _range: Arc::clone(self),
        })
    }
}

impl Mapping {
    /// Its size.
    pub fn bytes(&self) -> usize {
        self.memory.bytes
    }

    /// Where it lies.
    pub fn as_ptr(&self) -> DevicePtr<u8> {
        DevicePtr::new(self.address)
    }

    /// Allows a device to read and write it (`aclrtMemSetAccess`).
    ///
    /// # Errors
    /// Those of `aclrtMemSetAccess`.
    #[track_caller]
    pub fn allow(&self, device: crate::Device) -> Result<()> {
        let mut right = abi::aclrtMemAccessDesc {
            flags: abi::ACL_RT_MEM_ACCESS_FLAGS_READWRITE,
            location: abi::aclrtMemLocation {
                id: device.id(),
                r#type: abi::ACL_MEM_LOCATION_TYPE_DEVICE,
            },
            rsv: [0; 12],
        };
        self.shared.context.call("aclrtMemSetAccess", |table| {
            // SAFETY: the range is that of the mapping, the right valid.
            unsafe { (table.aclrtMemSetAccess)(self.address, self.memory.bytes, &raw mut right, 1) }
        })
    }

    /// The memory as elements that nobody has written yet.
    pub fn uninit<T>(&mut self) -> DevSliceMut<'_, MaybeUninit<T>> {
        self.elements()
    }

    /// The memory as elements.
    ///
    /// # Safety
    /// All of it was written.
    pub unsafe fn init<T: AnyBitPattern>(&mut self) -> DevSliceMut<'_, T> {
        self.elements()
    }

    fn elements<U>(&mut self) -> DevSliceMut<'_, U> {
        const {
            assert!(
                size_of::<U>() != 0,
                "elements without a size need no memory"
            )
        };
        DevSliceMut {
            ptr: DevicePtr::new(self.address),
            len: self.memory.bytes / size_of::<U>(),
            shared: &self.shared,
            _unique: PhantomData,
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let outcome = self.shared.uses.wait_to_write().and_then(|()| {
            self.shared.context.call("aclrtUnmapMem", |table| {
                // SAFETY: a mapping of ours that nothing uses any more.
                unsafe { (table.aclrtUnmapMem)(self.address) }
            })
        });
        drop_failures::note(outcome);
    }
}

impl Drop for Physical {
    fn drop(&mut self) {
        let outcome = self.context.call("aclrtFreePhysical", |table| {
            // SAFETY: memory of ours; every mapping of it is gone.
            unsafe { (table.aclrtFreePhysical)(self.raw) }
        });
        drop_failures::note(outcome);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let outcome = self.context.call("aclrtReleaseMemAddress", |table| {
            // SAFETY: addresses of ours; every mapping in them is gone.
            unsafe { (table.aclrtReleaseMemAddress)(self.address) }
        });
        drop_failures::note(outcome);
    }
}
