//! Buffers in pinned host memory: the only host memory that queued copies take.

use std::marker::PhantomData;
use std::mem::{MaybeUninit, align_of, size_of};
use std::ops::{Deref, DerefMut, RangeBounds};
use std::ptr;
use std::sync::Arc;

use bytemuck::{NoUninit, Zeroable};

use crate::context::Context;
use crate::device_buffer::{Plain, bytes_of};
use crate::drop_failures;
use crate::error::{Code, Error, Result};
use crate::pool::PinnedPool;
use crate::shared::Shared;
use crate::views::resolve;

/// Elements in pinned host memory (`aclrtMallocHost`), of the kind `K`.
///
/// The host sees it as a slice, but only while no queued work uses it: [`host`](PinnedBuffer::host) and
/// `Deref` wait for queued writes, [`host_mut`](PinnedBuffer::host_mut) and `DerefMut` for queued reads
/// too; the `try_` forms fail instead. Dropped while queued work uses it, it waits; forgotten, it leaks.
///
/// # Thread rules
/// `Send` and `Sync` where `T` is.
///
/// ```
/// use cannery::{Device, Library, PinnedBuffer};
///
/// let context = Device::new(Library::find()?, 0)?.context()?;
/// let mut pinned = PinnedBuffer::<u64>::zeroed(&context, 1000)?;
/// pinned[7] = 49;
/// assert_eq!(pinned.iter().sum::<u64>(), 49);
/// # Ok::<(), cannery::Error>(())
/// ```
pub struct PinnedBuffer<T, K = Plain> {
    pub(crate) ptr: *mut T,
    pub(crate) len: usize,
    pub(crate) pool: Option<Arc<PinnedPool>>,
    pub(crate) shared: Shared,
    pub(crate) _kind: PhantomData<(T, fn(K))>,
}

// SAFETY: host memory of its own, like a Vec.
unsafe impl<T: Send, K> Send for PinnedBuffer<T, K> {}
// SAFETY: as above; the state of queued work is locked.
unsafe impl<T: Sync, K> Sync for PinnedBuffer<T, K> {}

/// Part of a pinned buffer that a queued copy reads. The host reads through the buffer itself.
pub struct PinnedSlice<'a, T> {
    pub(crate) ptr: *mut T,
    pub(crate) len: usize,
    pub(crate) shared: &'a Shared,
    pub(crate) _of: PhantomData<&'a [T]>,
}

/// Part of a pinned buffer that a queued copy writes.
pub struct PinnedSliceMut<'a, T> {
    pub(crate) ptr: *mut T,
    pub(crate) len: usize,
    pub(crate) shared: &'a Shared,
    pub(crate) _of: PhantomData<&'a mut [T]>,
}

// SAFETY: like `&[T]`.
unsafe impl<T: Sync> Send for PinnedSlice<'_, T> {}
// SAFETY: like `&[T]`.
unsafe impl<T: Sync> Sync for PinnedSlice<'_, T> {}
// SAFETY: like `&mut [T]`.
unsafe impl<T: Send> Send for PinnedSliceMut<'_, T> {}
// SAFETY: like `&mut [T]`.
unsafe impl<T: Sync> Sync for PinnedSliceMut<'_, T> {}

/// What `aclrtMallocHost` promises of its addresses.
const ALIGNMENT: usize = 64;

impl<T> PinnedBuffer<T> {
    /// Allocates without initialising.
    ///
    /// # Errors
    /// Those of `aclrtMallocHost`: [`Code::OutOfMemory`] at the limit of locked memory, too.
    #[track_caller]
    pub fn uninit(context: &Arc<Context>, len: usize) -> Result<PinnedBuffer<MaybeUninit<T>>> {
        const {
            assert!(
                align_of::<T>() <= ALIGNMENT,
                "pinned memory is aligned to 64 bytes"
            )
        };
        let bytes = bytes_of::<T>("aclrtMallocHost", len)?;
        let mut block = ptr::null_mut();
        context.call("aclrtMallocHost", |table| {
            // SAFETY: the place is valid.
            unsafe { (table.aclrtMallocHost)(&raw mut block, bytes) }
        })?;
        Ok(PinnedBuffer {
            ptr: block.cast(),
            len,
            pool: None,
            shared: Shared::new(context),
            _kind: PhantomData,
        })
    }

    /// Allocates and fills with zeros.
    ///
    /// # Errors
    /// Those of [`PinnedBuffer::uninit`].
    #[track_caller]
    pub fn zeroed(context: &Arc<Context>, len: usize) -> Result<PinnedBuffer<T>>
    where
        T: Zeroable,
    {
        Ok(Self::uninit(context, len)?.into_zeroed())
    }

    /// Allocates and copies from a slice.
    ///
    /// # Errors
    /// Those of [`PinnedBuffer::uninit`].
    #[track_caller]
    pub fn from_slice(context: &Arc<Context>, from: &[T]) -> Result<PinnedBuffer<T>>
    where
        T: NoUninit,
    {
        Ok(Self::uninit(context, from.len())?.filled(from))
    }
}

impl<T, K> PinnedBuffer<MaybeUninit<T>, K> {
    pub(crate) fn into_zeroed(self) -> PinnedBuffer<T, K>
    where
        T: Zeroable,
    {
        // SAFETY: the memory is ours, nothing is queued, and zeros are a `T`.
        unsafe {
            ptr::write_bytes(self.ptr, 0, self.len);
            self.assume_init()
        }
    }

    /// The lengths are equal.
    pub(crate) fn filled(self, from: &[T]) -> PinnedBuffer<T, K>
    where
        T: NoUninit,
    {
        debug_assert_eq!(self.len, from.len());
        // SAFETY: the memory is ours, nothing is queued, and it has room for as many elements.
        unsafe {
            ptr::copy_nonoverlapping(
                from.as_ptr(),
                self.ptr.cast::<T>(),
                from.len().min(self.len),
            );
            self.assume_init()
        }
    }

    /// Takes it for initialised.
    ///
    /// # Safety
    /// Every element was written with bytes that are a `T`.
    pub unsafe fn assume_init(self) -> PinnedBuffer<T, K> {
        let whole = std::mem::ManuallyDrop::new(self);
        PinnedBuffer {
            ptr: whole.ptr.cast(),
            len: whole.len,
            // SAFETY: each member is moved out once; the old buffer is never dropped.
            pool: unsafe { ptr::read(&raw const whole.pool) },
            // SAFETY: as above.
            shared: unsafe { ptr::read(&raw const whole.shared) },
            _kind: PhantomData,
        }
    }
}

impl<T, K> PinnedBuffer<T, K> {
    /// Number of elements. Does not wait, unlike `len` of the slice.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none. Buffers have at least one.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The context it was made in.
    pub fn context(&self) -> &Arc<Context> {
        &self.shared.context
    }

    /// The elements, once no queued work writes them.
    ///
    /// # Errors
    /// What that work failed with.
    #[inline]
    #[track_caller]
    pub fn host(&self) -> Result<&[T]> {
        self.shared.uses.wait_to_read()?;
        // SAFETY: initialised memory of ours that nothing writes while it is borrowed: queued work that
        // writes takes the buffer by value or by `&mut`.
        Ok(unsafe { std::slice::from_raw_parts(self.ptr, self.len) })
    }

    /// The elements, once no queued work uses them.
    ///
    /// # Errors
    /// What that work failed with.
    #[inline]
    #[track_caller]
    pub fn host_mut(&mut self) -> Result<&mut [T]> {
        self.shared.uses.wait_to_write()?;
        self.shared.uses.settle();
        // SAFETY: as in `host`; queued work that reads is done, too.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.ptr, self.len) })
    }

    /// The elements, when no queued work writes them now.
    ///
    /// # Errors
    /// [`Code::InFlight`] when some does.
    #[track_caller]
    pub fn try_host(&self) -> Result<&[T]> {
        if self.shared.uses.is_ready(false)? {
            self.host()
        } else {
            Err(in_flight("writes"))
        }
    }

    /// The elements, when no queued work uses them now.
    ///
    /// # Errors
    /// [`Code::InFlight`] when some does.
    #[track_caller]
    pub fn try_host_mut(&mut self) -> Result<&mut [T]> {
        if self.shared.uses.is_ready(true)? {
            self.host_mut()
        } else {
            Err(in_flight("uses"))
        }
    }

    /// A part that a queued copy is to read.
    ///
    /// # Errors
    /// When the range does not lie inside.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<PinnedSlice<'_, T>> {
        let (start, len) = resolve("PinnedBuffer::slice", range, self.len)?;
        Ok(PinnedSlice {
            ptr: self.ptr.wrapping_add(start),
            len,
            shared: &self.shared,
            _of: PhantomData,
        })
    }

    pub(crate) fn view_mut(&mut self) -> PinnedSliceMut<'_, T> {
        self.shared.uses.settle();
        PinnedSliceMut {
            ptr: self.ptr,
            len: self.len,
            shared: &self.shared,
            _of: PhantomData,
        }
    }

    /// A part that a queued copy is to write.
    ///
    /// # Errors
    /// When the range does not lie inside.
    #[track_caller]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<PinnedSliceMut<'_, T>> {
        let (start, len) = resolve("PinnedBuffer::slice_mut", range, self.len)?;
        Ok(PinnedSliceMut {
            ptr: self.ptr.wrapping_add(start),
            len,
            shared: &self.shared,
            _of: PhantomData,
        })
    }
}

#[cold]
#[track_caller]
fn in_flight(what: &str) -> Error {
    Error::own(
        Code::InFlight,
        "aclrtQueryEventStatus",
        format!(
            "queued work still {what} this pinned memory; wait for it, or use host() or host_mut(), which do"
        ),
    )
}

impl<'a, T> PinnedSliceMut<'a, T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements before a place, and those from it on.
    ///
    /// # Errors
    /// When the place lies outside.
    #[track_caller]
    pub fn split_at(self, middle: usize) -> Result<(PinnedSliceMut<'a, T>, PinnedSliceMut<'a, T>)> {
        if middle > self.len {
            return Err(Error::range(
                "PinnedSliceMut::split_at",
                0,
                middle,
                self.len,
            ));
        }
        let part = |start: usize, len| PinnedSliceMut {
            ptr: self.ptr.wrapping_add(start),
            len,
            shared: self.shared,
            _of: PhantomData,
        };
        Ok((part(0, middle), part(middle, self.len - middle)))
    }
}

impl<'a, T> PinnedSliceMut<'a, T> {
    /// A part to read from. The host cannot look through it.
    pub fn freeze(self) -> PinnedSlice<'a, T> {
        PinnedSlice {
            ptr: self.ptr,
            len: self.len,
            shared: self.shared,
            _of: PhantomData,
        }
    }
}

impl<T> PinnedSlice<'_, T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Waits like [`PinnedBuffer::host`].
///
/// # Panics
/// When the queued work failed; `host` returns the error instead.
impl<T, K> Deref for PinnedBuffer<T, K> {
    type Target = [T];

    #[track_caller]
    fn deref(&self) -> &[T] {
        match self.host() {
            Ok(slice) => slice,
            Err(error) => panic!("pinned memory cannot be read: {error}"),
        }
    }
}

/// Waits like [`PinnedBuffer::host_mut`].
///
/// # Panics
/// When the queued work failed; `host_mut` returns the error instead.
impl<T, K> DerefMut for PinnedBuffer<T, K> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut [T] {
        match self.host_mut() {
            Ok(slice) => slice,
            Err(error) => panic!("pinned memory cannot be written: {error}"),
        }
    }
}

impl<T, K> Drop for PinnedBuffer<T, K> {
    fn drop(&mut self) {
        let block = self.ptr.cast();
        if let Some(pool) = &self.pool {
            let uses = std::mem::take(&mut self.shared.uses);
            drop_failures::note(pool.take_back(block, self.len * size_of::<T>(), uses));
            return;
        }
        let outcome = self.shared.uses.wait_to_write().and_then(|()| {
            let library = self.shared.context.library();
            // SAFETY: a block of ours that nothing uses any more.
            let code = unsafe { (library.table().aclrtFreeHost)(block) };
            library.check("aclrtFreeHost", code)
        });
        drop_failures::note(outcome);
    }
}

impl<T, K> std::fmt::Debug for PinnedBuffer<T, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PinnedBuffer({:p}, {} elements)", self.ptr, self.len)
    }
}
