//! What a queued copy can read from and write to. Plain host memory is not among it.

use std::ffi::c_void;
use std::mem::{MaybeUninit, size_of};

use bytemuck::{AnyBitPattern, NoUninit};
use cannery_abi::{
    ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE,
    aclrtMemcpyKind,
};

use crate::device_buffer::DeviceBuffer;
use crate::pinned::{PinnedBuffer, PinnedSlice, PinnedSliceMut};
use crate::shared::Shared;
use crate::views::{DevSlice, DevSliceMut};

/// One end of a copy, as C sees it.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub(crate) address: *mut c_void,
    pub(crate) len: usize,
    pub(crate) bytes: usize,
    pub(crate) shared: &'a Shared,
}

impl<'a> Side<'a> {
    fn new<T>(address: *mut c_void, len: usize, shared: &'a Shared) -> Side<'a> {
        Side {
            address,
            len,
            bytes: len * size_of::<T>(),
            shared,
        }
    }
}

impl std::fmt::Debug for Side<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Side({:p}, {} bytes)", self.address, self.bytes)
    }
}

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// Values that may lie in memory which devices write: any bytes are one, and all their bytes are
/// initialised (numbers, arrays of them, and structs for which bytemuck says so).
pub trait Element: AnyBitPattern + NoUninit {}

impl<T: AnyBitPattern + NoUninit> Element for T {}

/// Memory that a queued copy may own and read: [`PinnedBuffer`] and [`DeviceBuffer`].
///
/// One side of a copy is device memory:
///
/// ```compile_fail,E0080
/// use cannery::{Device, Library, PinnedBuffer, Stream};
///
/// let context = Device::new(Library::find()?, 0)?.context()?;
/// let host = || PinnedBuffer::<u32>::zeroed(&context, 4);
/// Stream::new(&context)?.copy(host()?, host()?)?.wait()?;
/// # Ok::<(), cannery::Error>(())
/// ```
pub trait Source<T>: Sealed {
    /// Whether it is host memory.
    #[doc(hidden)]
    const HOST: bool;
    #[doc(hidden)]
    fn source(&self) -> Side<'_>;
}

/// Memory that a queued copy may own and write: [`PinnedBuffer`] and [`DeviceBuffer`], initialised or not.
pub trait Target<T>: Sealed {
    /// Whether it is host memory.
    #[doc(hidden)]
    const HOST: bool;
    /// The same buffer, initialised.
    type Written;
    #[doc(hidden)]
    fn target(&self) -> Side<'_>;
    /// # Safety
    /// Every element is written before it is read.
    #[doc(hidden)]
    unsafe fn written(self) -> Self::Written;
}

/// How a [`Place`] is borrowed: to be read.
#[derive(Debug)]
pub enum Read {}

/// How a [`Place`] is borrowed: to be written.
#[derive(Debug)]
pub enum Write {}

/// Memory that a queued copy may borrow: views of device and pinned memory, and references to buffers.
pub trait Place<'a, T>: Sealed {
    /// [`Read`] or [`Write`].
    type Way;
    /// What can be read in stream order once the copy is queued.
    type Frozen;
    /// Whether it is host memory.
    #[doc(hidden)]
    const HOST: bool;
    #[doc(hidden)]
    fn into_side(self) -> (Side<'a>, Self::Frozen);
}

const fn kind(from_host: bool, to_host: bool) -> aclrtMemcpyKind {
    assert!(
        !(from_host && to_host),
        "a queued copy has device memory on one side at least"
    );
    match (from_host, to_host) {
        (true, _) => ACL_MEMCPY_HOST_TO_DEVICE,
        (_, true) => ACL_MEMCPY_DEVICE_TO_HOST,
        _ => ACL_MEMCPY_DEVICE_TO_DEVICE,
    }
}

pub(crate) const fn owned_kind<T, S: Source<T>, D: Target<T>>() -> aclrtMemcpyKind {
    const { kind(S::HOST, D::HOST) }
}

pub(crate) const fn borrowed_kind<'a, T, S: Place<'a, T>, D: Place<'a, T>>() -> aclrtMemcpyKind {
    const { kind(S::HOST, D::HOST) }
}

fn device<T, K>(buffer: &DeviceBuffer<T, K>) -> Side<'_> {
    Side::new::<T>(buffer.as_ptr().as_raw(), buffer.len(), buffer.shared())
}

fn pinned<T, K>(buffer: &PinnedBuffer<T, K>) -> Side<'_> {
    Side::new::<T>(buffer.ptr.cast(), buffer.len, &buffer.shared)
}

macro_rules! buffers {
    ($($buffer:ident, $host:literal, $side:ident;)*) => {$(
        impl<T, K> Sealed for $buffer<T, K> {}
        impl<T, K> Sealed for &$buffer<T, K> {}
        impl<T, K> Sealed for &mut $buffer<T, K> {}

        impl<T, K> Source<T> for $buffer<T, K> {
            const HOST: bool = $host;
            fn source(&self) -> Side<'_> {
                $side(self)
            }
        }

        impl<T, K> Target<T> for $buffer<T, K> {
            const HOST: bool = $host;
            type Written = Self;
            fn target(&self) -> Side<'_> {
                $side(self)
            }
            unsafe fn written(self) -> Self {
                self
            }
        }

        impl<T, K> Target<T> for $buffer<MaybeUninit<T>, K> {
            const HOST: bool = $host;
            type Written = $buffer<T, K>;
            fn target(&self) -> Side<'_> {
                $side(self)
            }
            unsafe fn written(self) -> $buffer<T, K> {
                // SAFETY: as the caller promises.
                unsafe { self.assume_init() }
            }
        }

        impl<'a, T, K> Place<'a, T> for &'a $buffer<T, K> {
            type Way = Read;
            type Frozen = Self;
            const HOST: bool = $host;
            fn into_side(self) -> (Side<'a>, Self) {
                ($side(self), self)
            }
        }
    )*};
}

buffers! {
    DeviceBuffer, false, device;
    PinnedBuffer, true, pinned;
}

macro_rules! views {
    ($($view:ty, $frozen:ty, $way:ty, $host:literal, |$self:ident| $side:expr, $freeze:expr;)*) => {$(
        impl<'a, T> Place<'a, T> for $view {
            type Way = $way;
            type Frozen = $frozen;
            const HOST: bool = $host;
            fn into_side($self) -> (Side<'a>, $frozen) {
                ($side, $freeze)
            }
        }
    )*};
}

impl<T> Sealed for DevSlice<'_, T> {}
impl<T> Sealed for DevSliceMut<'_, T> {}
impl<T> Sealed for PinnedSlice<'_, T> {}
impl<T> Sealed for PinnedSliceMut<'_, T> {}

views! {
    DevSlice<'a, T>, Self, Read, false,
        |self| Side::new::<T>(self.ptr.as_raw(), self.len, self.shared), self;
    DevSliceMut<'a, T>, DevSlice<'a, T>, Write, false,
        |self| Side::new::<T>(self.ptr.as_raw(), self.len, self.shared), self.freeze();
    PinnedSlice<'a, T>, Self, Read, true,
        |self| Side::new::<T>(self.ptr.cast(), self.len, self.shared), self;
    PinnedSliceMut<'a, T>, PinnedSlice<'a, T>, Write, true,
        |self| Side::new::<T>(self.ptr.cast(), self.len, self.shared), self.freeze();
}

impl<'a, T, K> Place<'a, T> for &'a mut DeviceBuffer<T, K> {
    type Way = Write;
    type Frozen = DevSlice<'a, T>;
    const HOST: bool = false;
    fn into_side(self) -> (Side<'a>, DevSlice<'a, T>) {
        self.view_mut().into_side()
    }
}

impl<'a, T, K> Place<'a, T> for &'a mut PinnedBuffer<T, K> {
    type Way = Write;
    // Not `&PinnedBuffer`, through which the host could look before the copy is done.
    type Frozen = PinnedSlice<'a, T>;
    const HOST: bool = true;
    fn into_side(self) -> (Side<'a>, PinnedSlice<'a, T>) {
        self.view_mut().into_side()
    }
}
