//! Manual chapter: custom memory allocator. A program gives a stream an allocator of its own; the device
//! memory that the runtime needs for work on that stream then comes from there.
//!
//! What needs device memory on a stream is the arguments of a kernel launch, where they come from the
//! host. The functions of the allocator run on the launching thread, inside the launch, without any lock
//! of the runtime. The block goes back as soon as the launch is queued: an allocator hands its blocks out
//! in stream order, and what is queued later on the stream may use the same bytes. (So its owner
//! synchronises the stream before it gives memory back to the device, as the manual demands.)
#![allow(unsafe_code)] // functions of the program

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cannery_abi as abi;

use crate::error::{Error, Fault, Result};
use crate::kernel::handles::Handles;
use crate::memory::inner::DeviceBlock;
use crate::memory::{guard, locate};
use crate::process::{Here, current};
use crate::stream::manage::find as find_stream;

type Alloc = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
type Advise = unsafe extern "C" fn(*mut c_void, usize, *mut c_void) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void, *mut c_void);
type GetAddress = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// What a descriptor holds.
#[derive(Clone, Copy, Default)]
pub struct Allocator {
    /// The program's object, as a number.
    pub object: u64,
    /// Makes a block.
    pub alloc: Option<Alloc>,
    /// Releases a block.
    pub free: Option<Free>,
    /// Makes a block, at an address where possible.
    pub advise: Option<Advise>,
    /// Device address of a block.
    pub address: Option<GetAddress>,
}

/// One member of a descriptor.
#[derive(Clone, Copy)]
pub enum Member {
    /// aclrtAllocatorSetObjToDesc
    Object(u64),
    /// aclrtAllocatorSetAllocFuncToDesc
    Alloc(Option<Alloc>),
    /// aclrtAllocatorSetFreeFuncToDesc
    Free(Option<Free>),
    /// aclrtAllocatorSetAllocAdviseFuncToDesc
    Advise(Option<Advise>),
    /// aclrtAllocatorSetGetAddrFromBlockFuncToDesc
    Address(Option<GetAddress>),
}

static DESCRIPTORS: Handles<Mutex<Allocator>> = Handles::new(0xb4);

struct Registration {
    descriptor: u64,
    allocator: Allocator,
    /// Where the last block was, for the advising function.
    last: u64,
}

static REGISTERED: Mutex<BTreeMap<u64, Registration>> = Mutex::new(BTreeMap::new());
/// Number of registrations, for a look without the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn registered() -> MutexGuard<'static, BTreeMap<u64, Registration>> {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// In a forked child: streams and descriptors belong to the parent.
pub(crate) fn forget() {
    DESCRIPTORS.end_all();
    if let Some(mut registered) = crate::patient::lock(&REGISTERED) {
        registered.clear();
        COUNT.store(0, Ordering::Release);
    }
}

fn bad_descriptor(handle: u64) -> Error {
    Fault::Param {
        param: "allocatorDesc",
        cause: format!(
            "{handle:#x} is no living descriptor; make one with aclrtAllocatorCreateDesc"
        ),
    }
    .into()
}

fn descriptor(handle: u64) -> Result<Arc<Mutex<Allocator>>> {
    if handle == 0 {
        return Err(Error::null("allocatorDesc"));
    }
    DESCRIPTORS
        .get(handle)
        .ok_or_else(|| bad_descriptor(handle))
}

/// aclrtAllocatorCreateDesc: an empty descriptor.
///
/// # Errors
/// 207000 where the product lacks it.
pub fn create() -> Result<u64> {
    current()?;
    DESCRIPTORS.add(Arc::new(Mutex::default())).ok_or_else(|| {
        Error::sequence(
            abi::ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
            "262144 allocator descriptors are alive; destroy some with aclrtAllocatorDestroyDesc",
        )
    })
}

/// aclrtAllocatorDestroyDesc. Registrations keep what the descriptor held.
///
/// # Errors
/// 100000 for NULL and what is no descriptor.
pub fn destroy(handle: u64) -> Result<()> {
    descriptor(handle)?;
    current()?;
    match DESCRIPTORS.remove(handle) {
        Some(_) => Ok(()),
        None => Err(bad_descriptor(handle)),
    }
}

/// Puts one member into a descriptor.
///
/// # Errors
/// 100000 for NULL and what is no descriptor.
pub fn set(handle: u64, member: Member) -> Result<()> {
    let descriptor = descriptor(handle)?;
    let missing = match member {
        Member::Object(0) => Some("allocator"),
        Member::Alloc(None) | Member::Free(None) | Member::Advise(None) | Member::Address(None) => {
            Some("func")
        }
        _ => None,
    };
    if let Some(param) = missing {
        return Err(Error::null(param));
    }
    current()?;
    let mut allocator = descriptor.lock().unwrap_or_else(PoisonError::into_inner);
    match member {
        Member::Object(object) => allocator.object = object,
        Member::Alloc(function) => allocator.alloc = function,
        Member::Free(function) => allocator.free = function,
        Member::Advise(function) => allocator.advise = function,
        Member::Address(function) => allocator.address = function,
    }
    Ok(())
}

/// aclrtAllocatorRegister: `stream` uses the allocator from now on, instead of an earlier one.
///
/// # Errors
/// 100000 for NULL, what is no descriptor, and one without object, alloc, free or get-address function;
/// 107017 for a dead stream; 207000 where the product lacks it.
pub fn register(stream: u64, handle: u64) -> Result<()> {
    if stream == 0 {
        return Err(Error::null("stream"));
    }
    let allocator = *descriptor(handle)?
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    for (param, missing) in [
        ("allocatorDesc->obj", allocator.object == 0),
        ("allocatorDesc->allocFunc", allocator.alloc.is_none()),
        ("allocatorDesc->freeFunc", allocator.free.is_none()),
        (
            "allocatorDesc->getAddrFromBlockFunc",
            allocator.address.is_none(),
        ),
    ] {
        if missing {
            return Err(Error::null(param));
        }
    }
    find_stream("stream", stream)?;
    let mut registered = registered();
    registered.insert(
        stream,
        Registration {
            descriptor: handle,
            allocator,
            last: 0,
        },
    );
    COUNT.store(registered.len(), Ordering::Release);
    Ok(())
}

/// aclrtAllocatorUnregister: the stream has no allocator of its own any more. Nothing happens where it
/// has none.
///
/// # Errors
/// 100000 for NULL; 207000 where the product lacks it.
pub fn unregister(stream: u64) -> Result<()> {
    if stream == 0 {
        return Err(Error::null("stream"));
    }
    current()?;
    end_of_stream(stream);
    Ok(())
}

/// The stream of this handle is gone.
pub(crate) fn end_of_stream(stream: u64) {
    if COUNT.load(Ordering::Acquire) == 0 {
        return;
    }
    let mut registered = registered();
    registered.remove(&stream);
    COUNT.store(registered.len(), Ordering::Release);
}

/// aclrtAllocatorGetByStream: descriptor and allocator of a stream. `missing`: names of the places that
/// the caller did not give, in their order.
///
/// # Errors
/// 100000 for a missing place, NULL, and a stream without an allocator; 207000 where the product lacks
/// it.
pub fn of_stream(stream: u64, missing: Option<&'static str>) -> Result<(u64, Allocator)> {
    if let Some(param) = missing {
        return Err(Error::null(param));
    }
    if stream == 0 {
        return Err(Error::null("stream"));
    }
    current()?;
    let registered = registered();
    let Some(found) = registered.get(&stream) else {
        return Err(Fault::Param {
            param: "stream",
            cause: format!(
                "no allocator is registered for {stream:#x}; call aclrtAllocatorRegister first"
            ),
        }
        .into());
    };
    Ok((found.descriptor, found.allocator))
}

/// Device memory for work on a stream.
pub(crate) struct Workspace {
    /// Device address, a multiple of 32.
    pub(crate) address: u64,
    /// Memory of the runtime, to be released when the work is done.
    pub(crate) block: Option<DeviceBlock>,
    /// Memory of the stream's allocator.
    _lent: Option<Lent>,
}

/// A block of an allocator; goes back when dropped.
struct Lent {
    allocator: Allocator,
    block: *mut c_void,
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(free) = self.allocator.free {
            // SAFETY: a function of the program, with its object and a block that it made.
            unsafe { free(self.allocator.object as *mut c_void, self.block) };
        }
    }
}

/// `bytes` bytes on the device of the caller's context, from the allocator of the stream `handle` where
/// it has one.
///
/// # Errors
/// 207001 when the allocator or the device has no memory left; 107000 when the allocator answers an
/// address that is no memory of this device.
pub(crate) fn workspace(here: &Here, handle: Option<u64>, bytes: u64) -> Result<Workspace> {
    if let Some(handle) = handle
        && COUNT.load(Ordering::Acquire) > 0
    {
        let known = registered()
            .get(&handle)
            .map(|found| (found.allocator, found.last));
        if let Some((allocator, last)) = known {
            return borrow(here, handle, allocator, last, bytes);
        }
    }
    let block = DeviceBlock::new(here, bytes)?;
    Ok(Workspace {
        address: block.address(),
        block: Some(block),
        _lent: None,
    })
}

fn borrow(
    here: &Here,
    handle: u64,
    allocator: Allocator,
    last: u64,
    bytes: u64,
) -> Result<Workspace> {
    const ALIGNMENT: u64 = 32;
    let asked = bytes.next_multiple_of(ALIGNMENT) + ALIGNMENT;
    let object = allocator.object as *mut c_void;
    let block = match (allocator.advise, allocator.alloc) {
        // SAFETY: functions of the program, called as they were registered.
        (Some(advise), _) if last != 0 => unsafe {
            advise(object, asked as usize, last as *mut c_void)
        },
        // SAFETY: as above.
        (_, Some(alloc)) => unsafe { alloc(object, asked as usize) },
        _ => std::ptr::null_mut(),
    };
    if block.is_null() {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_MEMORY_ALLOCATION,
            format!(
                "the allocator that is registered for stream {handle:#x} gave no block of {asked} bytes \
                 for launch arguments"
            ),
        ));
    }
    let lent = Lent { allocator, block };
    let start = match allocator.address {
        // SAFETY: a function of the program, with a block that it made.
        Some(address) => unsafe { address(block) as u64 },
        None => 0,
    };
    let spot = locate::range(here.runtime, "block", start, asked)
        .map_err(|error| error.at("address of a block of the registered allocator"))?;
    if spot.device != Some(here.device().index()) {
        return Err(Error::address(
            "block",
            start,
            format!(
                "the allocator that is registered for stream {handle:#x} must give memory of device {}",
                here.device().index()
            ),
        ));
    }
    guard::touch(spot.at, asked)?;
    if let Some(found) = registered().get_mut(&handle) {
        found.last = start;
    }
    Ok(Workspace {
        address: start.next_multiple_of(ALIGNMENT),
        block: None,
        _lent: Some(lent),
    })
}
