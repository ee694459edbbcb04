//! Contexts are values: a call makes its context the current one of the thread where it is not.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cannery_abi::{
    ACL_ERROR_RT_CONTEXT_NULL, ACL_ERROR_RT_STREAM_CONTEXT, ACL_EVENT_SYNC, aclError, aclrtContext,
    aclrtEvent,
};

use crate::device::Device;
use crate::drop_failures;
use crate::error::Result;
use crate::library::Library;
use crate::table::Table;

thread_local! {
    /// Number of the context that this crate made current on the thread, 0 for none. Numbers are never
    /// used again, so a context that is gone matches nothing.
    static CURRENT: Cell<u64> = const { Cell::new(0) };
}

static NEXT: AtomicU64 = AtomicU64::new(1);

/// Events that a context keeps for the next queued copy.
const SPARE_EVENTS: usize = 256;

/// A context of a device, which everything else is made in. Held by whatever was made in it, so it outlives
/// its streams and buffers.
///
/// A call makes its context the current one of the calling thread when it is not, and leaves it so. To find
/// out costs a look at a variable of the thread: where C code switches contexts on a thread that Rust code
/// uses too, tell with [`Context::forget_current`] or [`Context::make_current`].
///
/// # Thread rules
/// `Send` and `Sync`: one context may be used by any number of threads at once.
///
/// ```
/// use cannery::{Device, DeviceBuffer, Library};
///
/// let device = Device::new(Library::find()?, 0)?;
/// let (a, b) = (device.context()?, device.new_context()?);
/// let of_a = DeviceBuffer::from_slice(&a, &[1u32, 2, 3])?;
/// let of_b = DeviceBuffer::from_slice(&b, &[4u32, 5, 6])?;
/// std::thread::scope(|threads| {
///     threads.spawn(|| assert_eq!(of_a.to_vec().unwrap(), [1, 2, 3]));
///     assert_eq!(of_b.to_vec().unwrap(), [4, 5, 6]);
/// });
/// # Ok::<(), cannery::Error>(())
/// ```
#[derive(Debug)]
pub struct Context {
    device: Device,
    raw: aclrtContext,
    number: u64,
    primary: bool,
    spare: Mutex<Vec<Handle>>,
}

#[derive(Clone, Copy, Debug)]
struct Handle(aclrtEvent);

// SAFETY: handles of the C interface may be used from any thread (manual, context and event chapters).
unsafe impl Send for Handle {}
// SAFETY: as above; the other members are Send themselves.
unsafe impl Send for Context {}
// SAFETY: every function that takes a context may be called by several threads at once.
unsafe impl Sync for Context {}

impl Context {
    #[track_caller]
    pub(crate) fn primary(device: Device) -> Result<Arc<Context>> {
        let library = device.library();
        // SAFETY: no pointers.
        let code = unsafe { (library.table().aclrtSetDevice)(device.id() as i32) };
        library.check("aclrtSetDevice", code)?;
        // The count is ours to give back from here on.
        let mut context = Context::of(device, ptr::null_mut(), true);
        // SAFETY: the place is valid.
        let code = unsafe { (library.table().aclrtGetCurrentContext)(&raw mut context.raw) };
        library.check("aclrtGetCurrentContext", code)?;
        CURRENT.set(context.number);
        Ok(Arc::new(context))
    }

    #[track_caller]
    pub(crate) fn explicit(device: Device) -> Result<Arc<Context>> {
        let library = device.library();
        let mut raw = ptr::null_mut();
        // SAFETY: the place is valid.
        let code =
            unsafe { (library.table().aclrtCreateContext)(&raw mut raw, device.id() as i32) };
        library.check("aclrtCreateContext", code)?;
        let context = Context::of(device, raw, false);
        CURRENT.set(context.number);
        Ok(Arc::new(context))
    }

    fn of(device: Device, raw: aclrtContext, primary: bool) -> Context {
        Context {
            device,
            raw,
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            primary,
            spare: Mutex::new(Vec::new()),
        }
    }

    /// Its device.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Its library.
    #[inline(always)]
    pub fn library(&self) -> Library {
        self.device.library()
    }

    /// The handle, for C code. It lives as long as this value.
    pub fn as_raw(&self) -> aclrtContext {
        self.raw
    }

    /// Makes it the current context of the calling thread, whatever was current before.
    ///
    /// # Errors
    /// 107002 when C code destroyed it, or reset its device.
    #[track_caller]
    pub fn make_current(&self) -> Result<()> {
        // SAFETY: no pointers that are followed; a context that is gone gives a code.
        let code = unsafe { (self.library().table().aclrtSetCurrentContext)(self.raw) };
        CURRENT.set(if code == 0 { self.number } else { 0 });
        self.library().check("aclrtSetCurrentContext", code)
    }

    /// Tells that C code changed the current context of the calling thread: the next call of this crate sets
    /// its own again.
    pub fn forget_current() {
        CURRENT.set(0);
    }

    /// Waits for all work of the device.
    ///
    /// # Errors
    /// Those of `aclrtSynchronizeDevice`: the first task that failed.
    #[track_caller]
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: no arguments.
        self.call("aclrtSynchronizeDevice", |table| unsafe {
            (table.aclrtSynchronizeDevice)()
        })
    }

    /// Makes it current where it is not.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn enter(&self) -> Result<()> {
        if CURRENT.get() == self.number {
            Ok(())
        } else {
            self.make_current()
        }
    }

    /// Calls a C function with this context current.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn call(
        &self,
        api: &'static str,
        mut call: impl FnMut(&Table) -> aclError,
    ) -> Result<()> {
        self.enter()?;
        match call(self.library().table()) {
            0 => Ok(()),
            code => self.again(api, code, &mut call),
        }
    }

    /// A call that found no context, or a foreign one, changed nothing: C code has switched behind our back,
    /// and once ours is set again the call is good.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn again(
        &self,
        api: &'static str,
        code: aclError,
        call: &mut dyn FnMut(&Table) -> aclError,
    ) -> Result<()> {
        let library = self.library();
        if !matches!(
            code,
            ACL_ERROR_RT_CONTEXT_NULL | ACL_ERROR_RT_STREAM_CONTEXT
        ) {
            return Err(library.failure(api, code));
        }
        let first = library.failure(api, code);
        self.make_current()?;
        match call(library.table()) {
            0 => Ok(()),
            second if second == code => Err(first),
            second => Err(library.failure(api, second)),
        }
    }

    /// An event for queued work: a spare one, or a new one.
    #[track_caller]
    pub(crate) fn take_event(&self) -> Result<aclrtEvent> {
        let spare = self
            .spare
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        if let Some(event) = spare {
            return Ok(event.0);
        }
        let mut event = ptr::null_mut();
        self.call("aclrtCreateEventExWithFlag", |table| {
            // SAFETY: the place is valid.
            unsafe { (table.aclrtCreateEventExWithFlag)(&raw mut event, ACL_EVENT_SYNC) }
        })?;
        Ok(event)
    }

    /// Takes an event back. It may still be pending: a new record replaces the old one.
    pub(crate) fn give_event(&self, event: aclrtEvent) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < SPARE_EVENTS {
            spare.push(Handle(event));
            return;
        }
        drop(spare);
        drop_failures::note(self.destroy_event(event));
    }

    fn destroy_event(&self, event: aclrtEvent) -> Result<()> {
        // SAFETY: an event of ours that nobody else has.
        self.call("aclrtDestroyEvent", |table| unsafe {
            (table.aclrtDestroyEvent)(event)
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let library = self.library();
        let spare = std::mem::take(self.spare.get_mut().unwrap_or_else(PoisonError::into_inner));
        for event in spare {
            drop_failures::note(self.destroy_event(event.0));
        }
        let table = library.table();
        let outcome = if self.primary {
            // SAFETY: no pointers.
            let code = unsafe { (table.aclrtResetDevice)(self.device.id() as i32) };
            library.check("aclrtResetDevice", code)
        } else {
            // SAFETY: a context of ours; nothing that was made in it is left.
            let code = unsafe { (table.aclrtDestroyContext)(self.raw) };
            library.check("aclrtDestroyContext", code)
        };
        if CURRENT.get() == self.number {
            CURRENT.set(0);
        }
        drop_failures::note(outcome);
    }
}
