//! Views of device memory. Never a Rust slice: the host cannot follow the addresses.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, size_of, size_of_val};
use std::ops::{Bound, RangeBounds};

use bytemuck::{AnyBitPattern, NoUninit, Zeroable};
use cannery_abi::{
    ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE,
};

use crate::error::{Error, Result};
use crate::shared::Shared;

/// An address in device memory. It can be passed on, not followed.
///
/// ```compile_fail
/// fn first(address: cannery::DevicePtr<u32>) -> u32 {
///     *address
/// }
/// ```
pub struct DevicePtr<T> {
    address: *mut c_void,
    _of: PhantomData<*mut T>,
}

// SAFETY: an address is a number; nothing here follows it.
unsafe impl<T> Send for DevicePtr<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for DevicePtr<T> {}

impl<T> DevicePtr<T> {
    pub(crate) fn new(address: *mut c_void) -> DevicePtr<T> {
        DevicePtr {
            address,
            _of: PhantomData,
        }
    }

    /// The address as C functions take it.
    pub fn as_raw(self) -> *mut c_void {
        self.address
    }

    fn add(self, elements: usize) -> DevicePtr<T> {
        DevicePtr::new(self.address.wrapping_byte_add(elements * size_of::<T>()))
    }

    fn cast<U>(self) -> DevicePtr<U> {
        DevicePtr::new(self.address)
    }
}

impl<T> Clone for DevicePtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DevicePtr<T> {}

impl<T> std::fmt::Debug for DevicePtr<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DevicePtr({:p})", self.address)
    }
}

/// Start and length of a range of elements.
#[track_caller]
pub(crate) fn resolve(
    api: &'static str,
    range: impl RangeBounds<usize>,
    length: usize,
) -> Result<(usize, usize)> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => length,
    };
    if start > end || end > length {
        return Err(Error::range(api, start, end, length));
    }
    Ok((start, end - start))
}

/// Part of a device buffer, to read from.
pub struct DevSlice<'a, T> {
    pub(crate) ptr: DevicePtr<T>,
    pub(crate) len: usize,
    pub(crate) shared: &'a Shared,
}

/// Part of a device buffer, to read from and write to; no other view of the part exists.
pub struct DevSliceMut<'a, T> {
    pub(crate) ptr: DevicePtr<T>,
    pub(crate) len: usize,
    pub(crate) shared: &'a Shared,
    /// Not to be copied, and invariant like `&mut [T]`.
    pub(crate) _unique: PhantomData<&'a mut T>,
}

impl<T> Clone for DevSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DevSlice<'_, T> {}

impl<'a, T> DevSlice<'a, T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Address of the first element.
    pub fn as_ptr(&self) -> DevicePtr<T> {
        self.ptr
    }

    /// A part of it.
    ///
    /// # Errors
    /// When the range does not lie inside.
    #[track_caller]
    pub fn slice(self, range: impl RangeBounds<usize>) -> Result<DevSlice<'a, T>> {
        let (start, len) = resolve("DevSlice::slice", range, self.len)?;
        Ok(DevSlice {
            ptr: self.ptr.add(start),
            len,
            shared: self.shared,
        })
    }

    /// The elements before a place, and those from it on.
    ///
    /// # Errors
    /// When the place lies outside.
    #[track_caller]
    pub fn split_at(self, middle: usize) -> Result<(DevSlice<'a, T>, DevSlice<'a, T>)> {
        Ok((self.slice(..middle)?, self.slice(middle..)?))
    }
}

impl<T: AnyBitPattern> DevSlice<'_, T> {
    /// Copies to host memory of the same length, after queued work that writes the buffer. Returns when it
    /// is done.
    ///
    /// # Errors
    /// Lengths that differ; those of `aclrtMemcpy`.
    #[inline]
    #[track_caller]
    pub fn copy_to(&self, host: &mut [T]) -> Result<()> {
        if host.len() != self.len {
            return Err(Error::lengths("aclrtMemcpy", self.len, host.len()));
        }
        self.shared.uses.wait_to_read()?;
        let bytes = size_of_val(host);
        let to = host.as_mut_ptr().cast::<c_void>();
        self.shared.context.call("aclrtMemcpy", |table| {
            // SAFETY: both sides have this many bytes, nothing else writes them, and any bytes make a `T`.
            unsafe {
                (table.aclrtMemcpy)(
                    to,
                    bytes,
                    self.ptr.as_raw(),
                    bytes,
                    ACL_MEMCPY_DEVICE_TO_HOST,
                )
            }
        })
    }

    /// Copies to a new vector.
    ///
    /// # Errors
    /// Those of [`DevSlice::copy_to`].
    #[track_caller]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut vector = vec![T::zeroed(); self.len];
        self.copy_to(&mut vector)?;
        Ok(vector)
    }
}

impl<'a, T> DevSliceMut<'a, T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Address of the first element.
    pub fn as_ptr(&self) -> DevicePtr<T> {
        self.ptr
    }

    fn part<U>(self, ptr: DevicePtr<U>, len: usize) -> DevSliceMut<'a, U> {
        DevSliceMut {
            ptr,
            len,
            shared: self.shared,
            _unique: PhantomData,
        }
    }

    /// A view that ends earlier; the view itself can be used again then.
    pub fn reborrow(&mut self) -> DevSliceMut<'_, T> {
        DevSliceMut {
            ptr: self.ptr,
            len: self.len,
            shared: self.shared,
            _unique: PhantomData,
        }
    }

    /// A view to read from.
    pub fn freeze(self) -> DevSlice<'a, T> {
        DevSlice {
            ptr: self.ptr,
            len: self.len,
            shared: self.shared,
        }
    }

    /// A part of it.
    ///
    /// # Errors
    /// When the range does not lie inside.
    #[track_caller]
    pub fn slice(self, range: impl RangeBounds<usize>) -> Result<DevSliceMut<'a, T>> {
        let (start, len) = resolve("DevSliceMut::slice", range, self.len)?;
        let ptr = self.ptr.add(start);
        Ok(self.part(ptr, len))
    }

    /// The elements before a place, and those from it on.
    ///
    /// # Errors
    /// When the place lies outside.
    #[track_caller]
    pub fn split_at(self, middle: usize) -> Result<(DevSliceMut<'a, T>, DevSliceMut<'a, T>)> {
        if middle > self.len {
            return Err(Error::range("DevSliceMut::split_at", 0, middle, self.len));
        }
        let after = DevSliceMut {
            ptr: self.ptr.add(middle),
            len: self.len - middle,
            shared: self.shared,
            _unique: PhantomData,
        };
        let before = self.ptr;
        Ok((self.part(before, middle), after))
    }

    /// Fills it with zeros, after queued work with the buffer. Returns when it is done.
    ///
    /// # Errors
    /// Those of `aclrtMemset`.
    #[track_caller]
    pub fn zero(&mut self) -> Result<()>
    where
        T: Zeroable,
    {
        self.set(0)
    }

    /// Sets every byte, after queued work with the buffer. Returns when it is done.
    ///
    /// # Errors
    /// Those of `aclrtMemset`.
    #[track_caller]
    pub fn fill_bytes(&mut self, value: u8) -> Result<()>
    where
        T: AnyBitPattern,
    {
        self.set(value)
    }

    #[track_caller]
    fn set(&mut self, value: u8) -> Result<()> {
        self.shared.uses.wait_to_write()?;
        let bytes = self.len * size_of::<T>();
        self.shared.context.call("aclrtMemset", |table| {
            // SAFETY: the view has this many bytes.
            unsafe { (table.aclrtMemset)(self.ptr.as_raw(), bytes, i32::from(value), bytes) }
        })
    }
}

impl<T: NoUninit> DevSliceMut<'_, T> {
    /// Copies from host memory of the same length, after queued work with the buffer. Returns when it is
    /// done.
    ///
    /// # Errors
    /// Lengths that differ; those of `aclrtMemcpy`.
    #[inline]
    #[track_caller]
    pub fn copy_from(&mut self, host: &[T]) -> Result<()> {
        if host.len() != self.len {
            return Err(Error::lengths("aclrtMemcpy", host.len(), self.len));
        }
        self.shared.uses.wait_to_write()?;
        let bytes = size_of_val(host);
        self.shared.context.call("aclrtMemcpy", |table| {
            // SAFETY: both sides have this many bytes; every byte of the source is initialised.
            unsafe {
                (table.aclrtMemcpy)(
                    self.ptr.as_raw(),
                    bytes,
                    host.as_ptr().cast(),
                    bytes,
                    ACL_MEMCPY_HOST_TO_DEVICE,
                )
            }
        })
    }
}

impl<T: Copy> DevSliceMut<'_, T> {
    /// Copies from device memory of the same length, after queued work with either buffer. Returns when it
    /// is done.
    ///
    /// # Errors
    /// Lengths that differ; those of `aclrtMemcpy`.
    #[track_caller]
    pub fn copy_from_device(&mut self, from: DevSlice<'_, T>) -> Result<()> {
        if from.len != self.len {
            return Err(Error::lengths("aclrtMemcpy", from.len, self.len));
        }
        from.shared.uses.wait_to_read()?;
        self.shared.uses.wait_to_write()?;
        let bytes = self.len * size_of::<T>();
        self.shared.context.call("aclrtMemcpy", |table| {
            // SAFETY: both sides have this many bytes.
            unsafe {
                (table.aclrtMemcpy)(
                    self.ptr.as_raw(),
                    bytes,
                    from.ptr.as_raw(),
                    bytes,
                    ACL_MEMCPY_DEVICE_TO_DEVICE,
                )
            }
        })
    }
}

impl<'a, T> DevSliceMut<'a, MaybeUninit<T>> {
    /// Writes every element, which makes it a view of initialised memory.
    ///
    /// # Errors
    /// Those of [`DevSliceMut::copy_from`].
    #[track_caller]
    pub fn write(self, host: &[T]) -> Result<DevSliceMut<'a, T>>
    where
        T: NoUninit,
    {
        // SAFETY: it is only written to before the next line is reached.
        let mut view = unsafe { self.assume_init() };
        view.copy_from(host)?;
        Ok(view)
    }

    /// Takes it for initialised.
    ///
    /// # Safety
    /// Every element was written with bytes that are a `T`.
    pub unsafe fn assume_init(self) -> DevSliceMut<'a, T> {
        let (ptr, len) = (self.ptr.cast(), self.len);
        self.part(ptr, len)
    }
}

impl<T> std::fmt::Debug for DevSlice<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "DevSlice({:p}, {} elements)",
            self.ptr.as_raw(),
            self.len
        )
    }
}

impl<T> std::fmt::Debug for DevSliceMut<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "DevSliceMut({:p}, {} elements)",
            self.ptr.as_raw(),
            self.len
        )
    }
}
