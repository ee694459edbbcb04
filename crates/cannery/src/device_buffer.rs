//! Buffers in device memory.

use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::mem::{MaybeUninit, size_of};
use std::ops::RangeBounds;
use std::ptr;
use std::sync::Arc;

use bytemuck::{AnyBitPattern, NoUninit, Zeroable};
use cannery_abi as abi;

use crate::context::Context;
use crate::drop_failures;
use crate::error::{Code, Error, Result, Shortage};
use crate::pool::DevicePool;
use crate::shared::Shared;
use crate::stream::Stream;
use crate::views::{DevSlice, DevSliceMut, DevicePtr, resolve};

/// Which pages an allocation takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// 2 MiB pages above 1 MiB, normal pages when there are none.
    #[default]
    HugeFirst,
    /// 2 MiB pages only.
    HugeOnly,
    /// 4 KiB pages only.
    NormalOnly,
}

impl Policy {
    fn raw(self) -> abi::aclrtMemMallocPolicy {
        match self {
            Policy::HugeFirst => abi::ACL_MEM_MALLOC_HUGE_FIRST,
            Policy::HugeOnly => abi::ACL_MEM_MALLOC_HUGE_ONLY,
            Policy::NormalOnly => abi::ACL_MEM_MALLOC_NORMAL_ONLY,
        }
    }
}

/// Kind of a buffer: memory of `aclrtMalloc`, or of `aclrtMallocHost`.
#[derive(Debug)]
pub enum Plain {}

/// Kind of a buffer: memory of `aclrtMallocCached`.
#[derive(Debug)]
pub enum Cached {}

/// Kind of a buffer: memory of a pool, to which it returns.
#[derive(Debug)]
pub enum Pooled {}

/// Kind of a buffer: memory of another process.
#[derive(Debug)]
pub enum Imported {}

/// Who gets the memory back.
pub(crate) enum Owner {
    Device,
    Pool(Arc<DevicePool>, Stream),
    OtherProcess(CString),
}

/// Elements in device memory, of the kind `K` (see [`Plain`], [`Cached`], [`Pooled`], [`Imported`]).
///
/// It can be copied to and from, filled, and cut into views. It is no slice: the host cannot look into it.
/// Dropped while queued work uses it, a buffer of a pool is freed behind that work; any other waits for
/// it. Forgotten, it leaks its memory.
///
/// # Thread rules
/// `Send` and `Sync` where `T` is.
///
/// ```
/// use cannery::{Device, DeviceBuffer, Library};
///
/// let context = Device::new(Library::find()?, 0)?.context()?;
/// let mut numbers = DeviceBuffer::from_slice(&context, &[1.0f32, 2.0, 3.0, 4.0])?;
/// numbers.slice_mut(1..3)?.zero()?;
/// assert_eq!(numbers.to_vec()?, [1.0, 0.0, 0.0, 4.0]);
/// # Ok::<(), cannery::Error>(())
/// ```
pub struct DeviceBuffer<T, K = Plain> {
    ptr: *mut c_void,
    len: usize,
    owner: Owner,
    shared: Shared,
    _of: PhantomData<(T, fn(K))>,
}

/// Device memory with a cache between it and the host: what the host wrote is seen by the device after
/// [`flush`](DeviceBuffer::flush), what the device wrote by the host after
/// [`invalidate`](DeviceBuffer::invalidate).
pub type CachedBuffer<T> = DeviceBuffer<T, Cached>;

/// Memory of a [`Pool<Device>`](crate::Pool).
pub type PoolBuffer<T> = DeviceBuffer<T, Pooled>;

// SAFETY: device memory is reached through C functions that any thread may call; the elements are values.
unsafe impl<T: Send, K> Send for DeviceBuffer<T, K> {}
// SAFETY: as above; shared access only reads, and the state of queued work is locked.
unsafe impl<T: Sync, K> Sync for DeviceBuffer<T, K> {}

/// Bytes of `len` elements.
#[inline(always)]
#[track_caller]
pub(crate) fn bytes_of<T>(api: &'static str, len: usize) -> Result<usize> {
    const {
        assert!(
            size_of::<T>() != 0,
            "elements without a size need no device memory"
        )
    };
    match len.checked_mul(size_of::<T>()) {
        Some(bytes) => Ok(bytes),
        None => Err(too_long(api, len, size_of::<T>())),
    }
}

#[cold]
#[track_caller]
fn too_long(api: &'static str, len: usize, size: usize) -> Error {
    let text = format!(
        "{api}: {len} elements of {size} bytes are more than an address can count; ask for fewer"
    );
    Error::own(Code::InvalidParam, api, text)
}

impl<T> DeviceBuffer<T> {
    /// Allocates with `aclrtMalloc`. The elements are not initialised, and the type says so.
    ///
    /// # Errors
    /// [`Code::OutOfMemory`] with the numbers; [`Code::InvalidParam`] for no elements.
    #[inline]
    #[track_caller]
    pub fn uninit(context: &Arc<Context>, len: usize) -> Result<DeviceBuffer<MaybeUninit<T>>> {
        Self::uninit_with(context, len, Policy::default())
    }

    /// [`DeviceBuffer::uninit`] with a page policy.
    ///
    /// # Errors
    /// As there.
    #[inline]
    #[track_caller]
    pub fn uninit_with(
        context: &Arc<Context>,
        len: usize,
        policy: Policy,
    ) -> Result<DeviceBuffer<MaybeUninit<T>>> {
        let bytes = bytes_of::<T>("aclrtMalloc", len)?;
        let mut block = ptr::null_mut();
        let outcome = context.call("aclrtMalloc", |table| {
            // SAFETY: the place is valid.
            unsafe { (table.aclrtMalloc)(&raw mut block, bytes, policy.raw()) }
        });
        match outcome {
            // SAFETY: a block of this size that is ours.
            Ok(()) => Ok(unsafe { DeviceBuffer::own(context, block, len, Owner::Device) }),
            Err(error) => Err(with_numbers(context, error, bytes, policy)),
        }
    }

    /// Allocates and fills with zeros.
    ///
    /// # Errors
    /// Those of [`DeviceBuffer::uninit`] and of `aclrtMemset`.
    #[track_caller]
    pub fn zeroed(context: &Arc<Context>, len: usize) -> Result<DeviceBuffer<T>>
    where
        T: Zeroable,
    {
        Self::uninit(context, len)?.into_zeroed()
    }

    /// Allocates and copies from host memory.
    ///
    /// # Errors
    /// Those of [`DeviceBuffer::uninit`] and of `aclrtMemcpy`.
    #[track_caller]
    pub fn from_slice(context: &Arc<Context>, host: &[T]) -> Result<DeviceBuffer<T>>
    where
        T: NoUninit,
    {
        Self::uninit(context, host.len())?.write(host)
    }
}

impl<T> DeviceBuffer<T, Cached> {
    /// Allocates with `aclrtMallocCached`.
    ///
    /// # Errors
    /// Those of [`DeviceBuffer::uninit`].
    #[track_caller]
    pub fn uninit_cached(
        context: &Arc<Context>,
        len: usize,
    ) -> Result<CachedBuffer<MaybeUninit<T>>> {
        let bytes = bytes_of::<T>("aclrtMallocCached", len)?;
        let mut block = ptr::null_mut();
        let policy = Policy::default();
        let outcome = context.call("aclrtMallocCached", |table| {
            // SAFETY: the place is valid.
            unsafe { (table.aclrtMallocCached)(&raw mut block, bytes, policy.raw()) }
        });
        match outcome {
            // SAFETY: a block of this size that is ours.
            Ok(()) => Ok(unsafe { DeviceBuffer::own(context, block, len, Owner::Device) }),
            Err(error) => Err(with_numbers(context, error, bytes, policy)),
        }
    }

    /// Allocates cached memory and fills it with zeros.
    ///
    /// # Errors
    /// Those of [`DeviceBuffer::uninit`] and of `aclrtMemset`.
    #[track_caller]
    pub fn zeroed_cached(context: &Arc<Context>, len: usize) -> Result<CachedBuffer<T>>
    where
        T: Zeroable,
    {
        Self::uninit_cached(context, len)?.into_zeroed()
    }

    /// Writes what lies in the cache to the memory, for a range of elements (`aclrtMemFlush`).
    ///
    /// ```
    /// use cannery::{CachedBuffer, Device, Library};
    ///
    /// let context = Device::new(Library::find()?, 0)?.context()?;
    /// let mut cached = CachedBuffer::<u32>::zeroed_cached(&context, 1024)?;
    /// cached.slice_mut(..3)?.copy_from(&[7, 8, 9])?;
    /// cached.flush(..3)?;
    /// cached.invalidate(..)?;
    /// assert_eq!(cached.slice(1..3)?.to_vec()?, [8, 9]);
    /// # Ok::<(), cannery::Error>(())
    /// ```
    ///
    /// # Errors
    /// A range that does not lie inside, or is empty; those of `aclrtMemFlush`.
    #[track_caller]
    pub fn flush(&self, range: impl RangeBounds<usize>) -> Result<()> {
        let (address, bytes) = self.range("aclrtMemFlush", range)?;
        self.shared.context.call("aclrtMemFlush", |table| {
            // SAFETY: the range lies in the block.
            unsafe { (table.aclrtMemFlush)(address, bytes) }
        })
    }

    /// Drops what lies in the cache, for a range of elements (`aclrtMemInvalidate`): the next read comes
    /// from the memory.
    ///
    /// # Errors
    /// As for [`flush`](DeviceBuffer::flush).
    #[track_caller]
    pub fn invalidate(&self, range: impl RangeBounds<usize>) -> Result<()> {
        let (address, bytes) = self.range("aclrtMemInvalidate", range)?;
        self.shared.context.call("aclrtMemInvalidate", |table| {
            // SAFETY: the range lies in the block.
            unsafe { (table.aclrtMemInvalidate)(address, bytes) }
        })
    }

    #[track_caller]
    fn range(
        &self,
        api: &'static str,
        range: impl RangeBounds<usize>,
    ) -> Result<(*mut c_void, usize)> {
        let (start, len) = resolve(api, range, self.len)?;
        Ok((
            self.ptr.wrapping_byte_add(start * size_of::<T>()),
            len * size_of::<T>(),
        ))
    }
}

/// Adds the numbers of the device to a refused allocation.
#[cold]
fn with_numbers(context: &Context, error: Error, requested: usize, policy: Policy) -> Error {
    if error.code() != Code::OutOfMemory {
        return error;
    }
    match context.memory() {
        Ok(memory) => error.with_shortage(Shortage {
            requested,
            free: memory.free,
            total: memory.total,
            policy,
        }),
        Err(_) => error,
    }
}

impl<T, K> DeviceBuffer<T, K> {
    /// # Safety
    /// The block has `len` elements, belongs to the context's device, and `owner` gets it back.
    #[inline(always)]
    pub(crate) unsafe fn own(
        context: &Arc<Context>,
        block: *mut c_void,
        len: usize,
        owner: Owner,
    ) -> Self {
        DeviceBuffer {
            ptr: block,
            len,
            owner,
            shared: Shared::new(context),
            _of: PhantomData,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none. Buffers have at least one.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Address of the first element.
    pub fn as_ptr(&self) -> DevicePtr<T> {
        DevicePtr::new(self.ptr)
    }

    /// The context it was made in.
    pub fn context(&self) -> &Arc<Context> {
        &self.shared.context
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// All of it, to read from.
    pub fn view(&self) -> DevSlice<'_, T> {
        DevSlice {
            ptr: self.as_ptr(),
            len: self.len,
            shared: &self.shared,
        }
    }

    /// All of it, to write to.
    pub fn view_mut(&mut self) -> DevSliceMut<'_, T> {
        self.shared.uses.settle();
        DevSliceMut {
            ptr: DevicePtr::new(self.ptr),
            len: self.len,
            shared: &self.shared,
            _unique: PhantomData,
        }
    }

    /// A part of it, to read from.
    ///
    /// # Errors
    /// When the range does not lie inside.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<DevSlice<'_, T>> {
        self.view().slice(range)
    }

    /// A part of it, to write to.
    ///
    /// # Errors
    /// When the range does not lie inside.
    #[track_caller]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<DevSliceMut<'_, T>> {
        self.view_mut().slice(range)
    }

    /// Copies from host memory: [`DevSliceMut::copy_from`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    #[track_caller]
    pub fn copy_from(&mut self, host: &[T]) -> Result<()>
    where
        T: NoUninit,
    {
        self.view_mut().copy_from(host)
    }

    /// Copies to host memory: [`DevSlice::copy_to`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    #[track_caller]
    pub fn copy_to(&self, host: &mut [T]) -> Result<()>
    where
        T: AnyBitPattern,
    {
        self.view().copy_to(host)
    }

    /// Copies to a new vector.
    ///
    /// # Errors
    /// Those of [`DevSlice::copy_to`].
    #[track_caller]
    pub fn to_vec(&self) -> Result<Vec<T>>
    where
        T: AnyBitPattern,
    {
        self.view().to_vec()
    }

    /// Waits for queued work with the buffer.
    ///
    /// # Errors
    /// What that work failed with.
    #[track_caller]
    pub fn wait(&mut self) -> Result<()> {
        self.shared.uses.wait_to_write()?;
        self.shared.uses.settle();
        Ok(())
    }

    /// The same memory with elements of another name.
    ///
    /// # Safety
    /// `U` has the layout of `T`, and the memory holds values of it.
    pub(crate) unsafe fn transmute<U>(self) -> DeviceBuffer<U, K> {
        let whole = std::mem::ManuallyDrop::new(self);
        DeviceBuffer {
            ptr: whole.ptr,
            len: whole.len,
            // SAFETY: each member is moved out once; the old buffer is never dropped.
            owner: unsafe { ptr::read(&raw const whole.owner) },
            // SAFETY: as above.
            shared: unsafe { ptr::read(&raw const whole.shared) },
            _of: PhantomData,
        }
    }
}

impl<T> DeviceBuffer<T> {
    /// Gives the block away, to C or Python, which frees it with `aclrtFree`; waits for queued work first.
    ///
    /// # Errors
    /// What the work failed with; the memory is leaked then.
    #[track_caller]
    pub fn into_raw(self) -> Result<(DevicePtr<T>, usize)> {
        let mut whole = std::mem::ManuallyDrop::new(self);
        whole.shared.uses.wait_to_write()?;
        let parts = (whole.as_ptr(), whole.len);
        // SAFETY: moved out once; the buffer is never dropped.
        drop(unsafe { ptr::read(&raw mut whole.shared) });
        Ok(parts)
    }

    /// Takes a block of `aclrtMalloc`.
    ///
    /// # Safety
    /// The block was made by `aclrtMalloc` on the context's device, has room for `len` values of `T` and
    /// holds them; nobody else frees it, and no queued work uses it.
    pub unsafe fn from_raw(
        context: &Arc<Context>,
        block: *mut c_void,
        len: usize,
    ) -> DeviceBuffer<T> {
        // SAFETY: as the caller promises.
        unsafe { DeviceBuffer::<T>::own(context, block, len, Owner::Device) }
    }
}

impl<T, K> DeviceBuffer<MaybeUninit<T>, K> {
    /// Writes every element, which makes it a buffer of initialised memory.
    ///
    /// # Errors
    /// Lengths that differ; those of `aclrtMemcpy`. The buffer is freed then.
    #[track_caller]
    pub fn write(self, host: &[T]) -> Result<DeviceBuffer<T, K>>
    where
        T: NoUninit,
    {
        // SAFETY: it is only written to before the next line is reached.
        let mut buffer = unsafe { self.assume_init() };
        buffer.copy_from(host)?;
        Ok(buffer)
    }

    /// Fills it with zeros, which makes it a buffer of initialised memory.
    ///
    /// # Errors
    /// Those of `aclrtMemset`. The buffer is freed then.
    #[track_caller]
    pub fn into_zeroed(self) -> Result<DeviceBuffer<T, K>>
    where
        T: Zeroable,
    {
        // SAFETY: it is only written to before the next line is reached.
        let mut buffer = unsafe { self.assume_init() };
        buffer.view_mut().zero()?;
        Ok(buffer)
    }

    /// Takes it for initialised.
    ///
    /// # Safety
    /// Every element was written, or queued work that later use is ordered behind writes it, with bytes
    /// that are a `T`.
    pub unsafe fn assume_init(self) -> DeviceBuffer<T, K> {
        // SAFETY: MaybeUninit has the layout of what it holds; the values are there, says the caller.
        unsafe { self.transmute() }
    }
}

impl<T, K> Drop for DeviceBuffer<T, K> {
    fn drop(&mut self) {
        drop_failures::note(self.release());
    }
}

impl<T> PoolBuffer<T> {
    #[track_caller]
    pub(crate) fn free(self) -> Result<()> {
        let mut whole = std::mem::ManuallyDrop::new(self);
        let outcome = whole.release();
        // SAFETY: moved out once; the buffer is never dropped.
        drop(unsafe {
            (
                ptr::read(&raw mut whole.owner),
                ptr::read(&raw mut whole.shared),
            )
        });
        outcome
    }
}

impl<T, K> DeviceBuffer<T, K> {
    fn release(&mut self) -> Result<()> {
        let Shared { context, uses } = &self.shared;
        let table = context.library().table();
        match &self.owner {
            Owner::Device => {
                uses.wait_to_write()?;
                // SAFETY: a block of ours that nothing uses any more. No context is needed.
                let code = unsafe { (table.aclrtFree)(self.ptr) };
                context.library().check("aclrtFree", code)
            }
            Owner::Pool(_pool, stream) => {
                uses.before_write(stream.lane())?;
                stream.context().call("aclrtMemPoolFreeAsync", |table| {
                    // SAFETY: a block of the pool; the stream runs behind everything that uses it.
                    unsafe { (table.aclrtMemPoolFreeAsync)(self.ptr, stream.raw()) }
                })
            }
            Owner::OtherProcess(key) => {
                uses.wait_to_write()?;
                context.call("aclrtIpcMemClose", |table| {
                    // SAFETY: a key that this process imported.
                    unsafe { (table.aclrtIpcMemClose)(key.as_ptr()) }
                })
            }
        }
    }
}

impl<T, K> std::fmt::Debug for DeviceBuffer<T, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DeviceBuffer({:p}, {} elements)", self.ptr, self.len)
    }
}
