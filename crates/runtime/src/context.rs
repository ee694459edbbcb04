//! Manual chapter: context management.
//!
//! * **primary context**: the one that aclrtSetDevice makes and counts; one for each device.
//! * **explicit context**: made by aclrtCreateContext.
//! * **handle**: an opaque number, never an address. It holds a generation, so a handle of a
//!   destroyed context is known to be dead even when its slot lives again.
//!
//! Slots are never given back to the allocator: a thread may hold a reference to a slot for as
//! long as it likes and find out with one load that the context is gone.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cannery_abi as abi;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::inner::DeviceBlock;
use crate::os::lock::{QuickGuard, QuickLock};
use crate::stream::{STREAMS, Stream};

/// Options that a context can hold (aclSysParamOpt has so many values).
pub(crate) const OPTIONS: usize = 4;
/// "Never set", which no option value of the manual is.
const UNSET: i64 = i64::MIN;

/// What a context is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Primary,
    Explicit,
}

/// A slot. Alive while its generation is odd.
pub(crate) struct Context {
    slot: u32,
    generation: AtomicU64,
    place: Mutex<Option<(&'static Device, Kind)>>,
    /// The same device as in `place`, readable without a lock by threads that are bound.
    device: AtomicU64,
    options: [AtomicI64; OPTIONS],
    /// Handle of the default stream, once it was used.
    default_stream: AtomicU64,
    making_default: Mutex<()>,
    /// Device memory that operators raise the overflow status in, once somebody asked for its address.
    overflow_flag: QuickLock<Option<DeviceBlock>>,
}

impl Context {
    /// Whether the context is still the one of `generation`.
    #[inline]
    pub(crate) fn is_alive(&self, generation: u64) -> bool {
        self.generation.load(Ordering::Acquire) == generation
    }

    /// Index of the device it belongs to.
    #[inline]
    pub(crate) fn device_index(&self) -> usize {
        self.device.load(Ordering::Relaxed) as usize
    }

    /// See the field.
    pub(crate) fn overflow_flag(&self) -> QuickGuard<'_, Option<DeviceBlock>> {
        self.overflow_flag.lock()
    }

    /// Handle of the default stream; 0 while it was not used.
    #[inline]
    pub(crate) fn default_stream(&self) -> u64 {
        self.default_stream.load(Ordering::Acquire)
    }

    /// Makes the default stream; one thread does, the others get the same.
    pub(crate) fn make_default_stream(
        &self,
        make: impl FnOnce() -> Result<(u64, &'static Stream)>,
    ) -> Result<(u64, &'static Stream)> {
        let _one = self
            .making_default
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let known = self.default_stream();
        if let Some(stream) = STREAMS.find(known) {
            return Ok((known, stream));
        }
        let (handle, stream) = make()?;
        self.default_stream.store(handle, Ordering::Release);
        Ok((handle, stream))
    }

    fn place(&self) -> MutexGuard<'_, Option<(&'static Device, Kind)>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of an option, when it was set.
    pub(crate) fn option(&self, option: usize) -> Option<i64> {
        let value = self.options.get(option)?.load(Ordering::Relaxed);
        (value != UNSET).then_some(value)
    }

    /// Sets an option.
    pub(crate) fn set_option(&self, option: usize, value: i64) {
        if let Some(place) = self.options.get(option) {
            place.store(value, Ordering::Relaxed);
        }
    }
}

/// All contexts of the process.
#[derive(Default)]
pub(crate) struct Contexts {
    slots: Mutex<Slots>,
}

#[derive(Default)]
struct Slots {
    all: Vec<&'static Context>,
    free: Vec<u32>,
}

/// Handles look like addresses that no mapping has, so that using one as a pointer faults.
const HANDLE_TAG: u64 = 0x00c7_0000_0000_0000;

fn handle_of(slot: u32, generation: u64) -> u64 {
    HANDLE_TAG | (generation & 0xffff_ffff) << 16 | u64::from(slot)
}

impl Contexts {
    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a context on `device`.
    pub(crate) fn create(
        &self,
        device: &'static Device,
        kind: Kind,
    ) -> Result<(&'static Context, u64)> {
        let mut slots = self.slots();
        let context = match slots.free.pop() {
            Some(slot) => slots.all[slot as usize],
            None => {
                let slot = slots.all.len() as u32;
                if slot > 0xffff {
                    return Err(Error::sequence(
                        abi::ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                        "65536 contexts are alive; destroy some with aclrtDestroyContext",
                    ));
                }
                let context: &'static Context = Box::leak(Box::new(Context {
                    slot,
                    generation: AtomicU64::new(0),
                    place: Mutex::new(None),
                    device: AtomicU64::new(0),
                    options: std::array::from_fn(|_| AtomicI64::new(UNSET)),
                    default_stream: AtomicU64::new(0),
                    overflow_flag: QuickLock::new(None),
                    making_default: Mutex::new(()),
                }));
                slots.all.push(context);
                context
            }
        };
        context.default_stream.store(0, Ordering::Relaxed);
        for option in &context.options {
            option.store(UNSET, Ordering::Relaxed);
        }
        *context.place() = Some((device, kind));
        context
            .device
            .store(device.index() as u64, Ordering::Relaxed);
        let generation = context.generation.load(Ordering::Relaxed) + 1;
        context.generation.store(generation, Ordering::Release);
        Ok((context, generation))
    }

    /// The living context of a handle, with its generation.
    pub(crate) fn find(&self, handle: u64) -> Option<(&'static Context, u64)> {
        if handle & !0xffff_ffff_ffff != HANDLE_TAG {
            return None;
        }
        let context = *self.slots().all.get((handle & 0xffff) as usize)?;
        let generation = context.generation.load(Ordering::Acquire);
        (generation % 2 == 1 && handle == handle_of(context.slot, generation))
            .then_some((context, generation))
    }

    /// Device and kind of a living context.
    pub(crate) fn place(
        &self,
        context: &'static Context,
        generation: u64,
    ) -> Option<(&'static Device, Kind)> {
        let place = context.place();
        if context.is_alive(generation) {
            *place
        } else {
            None
        }
    }

    /// Ends a context. True for one of several racing callers.
    pub(crate) fn destroy(&self, context: &'static Context, generation: u64) -> bool {
        let mut slots = self.slots();
        let ended = context
            .generation
            .compare_exchange(
                generation,
                generation + 1,
                Ordering::AcqRel,
                Ordering::Relaxed,
            )
            .is_ok();
        if ended {
            *context.place() = None;
            slots.free.push(context.slot);
        }
        ended
    }
}

/// The handle of a living context.
pub(crate) fn handle(context: &Context, generation: u64) -> u64 {
    handle_of(context.slot, generation)
}

impl Contexts {
    /// The handle of a context that is alive now.
    pub(crate) fn handle_of(&self, context: &Context) -> Option<u64> {
        let generation = context.generation.load(Ordering::Acquire);
        (generation % 2 == 1).then(|| handle_of(context.slot, generation))
    }
}

impl Contexts {
    /// Generation of a context that is alive now.
    pub(crate) fn generation_of(&self, context: &Context) -> u64 {
        context.generation.load(Ordering::Acquire)
    }
}
