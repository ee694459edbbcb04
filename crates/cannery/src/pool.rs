//! Pools. A block knows its pool by type.

use std::collections::HashMap;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, align_of, size_of};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::{NoUninit, Zeroable};
use cannery_abi as abi;

use crate::context::Context;
use crate::device_buffer::{Owner, PoolBuffer, Pooled, bytes_of};
use crate::drop_failures;
use crate::error::Result;
use crate::pinned::PinnedBuffer;
use crate::shared::{Shared, Uses};
use crate::stream::Stream;

/// Pool of device memory.
#[derive(Debug)]
pub enum OnDevice {}

/// Pool of pinned host memory.
#[derive(Debug)]
pub enum Pinned {}

/// A kind of pool: [`OnDevice`] or [`Pinned`].
pub trait PoolKind {
    #[doc(hidden)]
    type Inner;
}

impl PoolKind for OnDevice {
    type Inner = DevicePool;
}

impl PoolKind for Pinned {
    type Inner = PinnedPool;
}

/// A pool of blocks: `Pool<OnDevice>` is ordered by streams (`aclrtMemPool*`), `Pool<Pinned>` keeps pinned
/// host memory, which is dear to make.
///
/// The value can be cloned. Blocks hold their pool, and return to it when they are dropped; one of a pool of
/// the other kind does not even compile.
///
/// # Thread rules
/// `Send` and `Sync`.
///
/// ```
/// use cannery::{Device, Library, OnDevice, PinnedBuffer, Pool, Stream};
///
/// let context = Device::new(Library::find()?, 0)?.context()?;
/// let stream = Stream::new(&context)?;
/// let pool = Pool::<OnDevice>::new(&context, 64 << 20)?;
/// for round in 0..3u32 {
///     let sent = PinnedBuffer::from_slice(&context, &vec![round; 1 << 18])?;
///     let block = pool.alloc::<u32>(&stream, 1 << 18)?;
///     let (_, block) = stream.copy(sent, block)?.without_waiting();
///     assert_eq!(block.slice(..2)?.to_vec()?, [round; 2]);
/// } // each block is freed behind its work, and the next round gets its memory
/// assert!(pool.reserved()? <= 2 << 20);
/// # Ok::<(), cannery::Error>(())
/// ```
pub struct Pool<K: PoolKind>(Arc<K::Inner>);

impl<K: PoolKind> Clone for Pool<K> {
    fn clone(&self) -> Self {
        Pool(Arc::clone(&self.0))
    }
}

impl<K: PoolKind> std::fmt::Debug for Pool<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Pool").finish_non_exhaustive()
    }
}

/// What a `Pool<OnDevice>` is made of.
#[doc(hidden)]
#[derive(Debug)]
pub struct DevicePool {
    raw: abi::aclrtMemPool,
    context: Arc<Context>,
}

// SAFETY: pools may be used from any thread (manual, chapter of stream-ordered pools).
unsafe impl Send for DevicePool {}
// SAFETY: as above.
unsafe impl Sync for DevicePool {}

impl Drop for DevicePool {
    fn drop(&mut self) {
        let outcome = self.context.call("aclrtMemPoolDestroy", |table| {
            // SAFETY: the pool is alive and this is its last owner: every block went back.
            unsafe { (table.aclrtMemPoolDestroy)(self.raw) }
        });
        drop_failures::note(outcome);
    }
}

impl Pool<OnDevice> {
    /// A pool of at most so many bytes (`aclrtMemPoolCreate`), 0 for all the device has. Only some products
    /// have such pools.
    ///
    /// # Errors
    /// Those of `aclrtMemPoolCreate`.
    #[track_caller]
    pub fn new(context: &Arc<Context>, bytes: usize) -> Result<Pool<OnDevice>> {
        let properties = abi::aclrtMemPoolProps {
            allocType: abi::ACL_MEM_ALLOCATION_TYPE_PINNED,
            handleType: abi::ACL_MEM_HANDLE_TYPE_NONE,
            location: abi::aclrtMemLocation {
                id: context.device().id(),
                r#type: abi::ACL_MEM_LOCATION_TYPE_DEVICE,
            },
            maxSize: bytes,
            reserved: [0; 32],
        };
        let mut raw = ptr::null_mut();
        context.call("aclrtMemPoolCreate", |table| {
            // SAFETY: both places are valid.
            unsafe { (table.aclrtMemPoolCreate)(&raw mut raw, &raw const properties) }
        })?;
        Ok(Pool(Arc::new(DevicePool {
            raw,
            context: Arc::clone(context),
        })))
    }

    /// A block that may be used in the order of the stream, and goes back in that order when it is dropped.
    ///
    /// # Errors
    /// Those of `aclrtMemPoolMallocAsync`: 507000 when the pool is full.
    #[track_caller]
    pub fn alloc<T>(&self, stream: &Stream, len: usize) -> Result<PoolBuffer<MaybeUninit<T>>> {
        let bytes = bytes_of::<T>("aclrtMemPoolMallocAsync", len)?;
        let mut block = ptr::null_mut();
        stream.context().call("aclrtMemPoolMallocAsync", |table| {
            // SAFETY: the place is valid, pool and stream are alive.
            unsafe {
                (table.aclrtMemPoolMallocAsync)(&raw mut block, bytes, self.0.raw, stream.raw())
            }
        })?;
        let owner = Owner::Pool(Arc::clone(&self.0), stream.clone());
        // SAFETY: a block of this size that is ours.
        let buffer =
            unsafe { PoolBuffer::<MaybeUninit<T>>::own(stream.context(), block, len, owner) };
        // Its memory may still be in use by work that its stream is behind: the order of the stream holds
        // for the block from the start.
        stream.note_write(&buffer);
        Ok(buffer)
    }

    /// Gives a block back now: as dropping it, but with the error.
    ///
    /// # Errors
    /// Those of `aclrtMemPoolFreeAsync`.
    #[track_caller]
    pub fn free<T>(&self, block: PoolBuffer<T>) -> Result<()> {
        block.free()
    }

    /// Bytes that the pool holds of the device.
    ///
    /// # Errors
    /// Those of `aclrtMemPoolGetAttr`.
    #[track_caller]
    pub fn reserved(&self) -> Result<u64> {
        self.attribute(abi::ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT)
    }

    /// Bytes of its blocks that are in use.
    ///
    /// # Errors
    /// Those of `aclrtMemPoolGetAttr`.
    #[track_caller]
    pub fn used(&self) -> Result<u64> {
        self.attribute(abi::ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT)
    }

    #[track_caller]
    fn attribute(&self, attribute: abi::aclrtMemPoolAttr) -> Result<u64> {
        let mut value = 0u64;
        self.0.context.call("aclrtMemPoolGetAttr", |table| {
            // SAFETY: the attribute is one of 64 bits, the place valid.
            unsafe { (table.aclrtMemPoolGetAttr)(self.0.raw, attribute, (&raw mut value).cast()) }
        })?;
        Ok(value)
    }

    /// How many bytes the pool keeps of what is free, at a synchronisation. 0 at first.
    ///
    /// # Errors
    /// Those of `aclrtMemPoolSetAttr`.
    #[track_caller]
    pub fn set_release_threshold(&self, bytes: u64) -> Result<()> {
        let mut value = bytes;
        self.0.context.call("aclrtMemPoolSetAttr", |table| {
            // SAFETY: the attribute is one of 64 bits, the place valid.
            unsafe {
                let attribute = abi::ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD;
                (table.aclrtMemPoolSetAttr)(self.0.raw, attribute, (&raw mut value).cast())
            }
        })
    }

    /// Gives free memory back to the device until so many bytes are left.
    ///
    /// # Errors
    /// Those of `aclrtMemPoolTrimTo`.
    #[track_caller]
    pub fn trim_to(&self, bytes: usize) -> Result<()> {
        self.0.context.call("aclrtMemPoolTrimTo", |table| {
            // SAFETY: the pool is alive.
            unsafe { (table.aclrtMemPoolTrimTo)(self.0.raw, bytes) }
        })
    }
}

/// What a `Pool<Pinned>` is made of.
#[doc(hidden)]
#[derive(Debug)]
pub struct PinnedPool {
    context: Arc<Context>,
    /// Free blocks by their size, which is a power of two.
    free: Mutex<HashMap<usize, Vec<FreeBlock>>>,
}

/// A block that nobody holds; queued work may still use it.
#[derive(Debug)]
struct FreeBlock(*mut c_void, Uses);

// SAFETY: host memory that nobody else knows.
unsafe impl Send for FreeBlock {}

/// Size of the block for so many bytes.
fn class(bytes: usize) -> usize {
    bytes.checked_next_power_of_two().unwrap_or(bytes).max(4096)
}

impl PinnedPool {
    /// Takes a block back, with the work that still uses it.
    pub(crate) fn take_back(&self, block: *mut c_void, bytes: usize, uses: Uses) -> Result<()> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.entry(class(bytes))
            .or_default()
            .push(FreeBlock(block, uses));
        Ok(())
    }

    /// A free block that no work uses.
    #[track_caller]
    fn reuse(&self, class: usize) -> Result<Option<*mut c_void>> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(blocks) = free.get_mut(&class) else {
            return Ok(None);
        };
        for index in (0..blocks.len()).rev() {
            if blocks[index].1.is_ready(true)? {
                return Ok(Some(blocks.swap_remove(index).0));
            }
        }
        Ok(None)
    }

    fn release(&self, block: &FreeBlock) -> Result<()> {
        block.1.wait_to_write()?;
        let library = self.context.library();
        // SAFETY: a block of the pool that nothing uses any more.
        let code = unsafe { (library.table().aclrtFreeHost)(block.0) };
        library.check("aclrtFreeHost", code)
    }
}

impl Drop for PinnedPool {
    fn drop(&mut self) {
        let free = std::mem::take(self.free.get_mut().unwrap_or_else(PoisonError::into_inner));
        for block in free.into_values().flatten() {
            drop_failures::note(self.release(&block));
        }
    }
}

impl Pool<Pinned> {
    /// An empty pool; it grows as it is asked.
    pub fn pinned(context: &Arc<Context>) -> Pool<Pinned> {
        Pool(Arc::new(PinnedPool {
            context: Arc::clone(context),
            free: Mutex::new(HashMap::new()),
        }))
    }

    /// A block whose elements are not initialised: a free one that no queued work uses any more, or a new
    /// one. Blocks have powers of two of bytes.
    ///
    /// # Errors
    /// Those of `aclrtMallocHost`.
    #[track_caller]
    pub fn alloc<T>(&self, len: usize) -> Result<PinnedBuffer<MaybeUninit<T>, Pooled>> {
        const {
            assert!(
                align_of::<T>() <= 64,
                "pinned memory is aligned to 64 bytes"
            )
        };
        let bytes = class(bytes_of::<T>("aclrtMallocHost", len)?);
        let block = match self.0.reuse(bytes)? {
            Some(block) => block,
            None => {
                let mut block = ptr::null_mut();
                self.0.context.call("aclrtMallocHost", |table| {
                    // SAFETY: the place is valid.
                    unsafe { (table.aclrtMallocHost)(&raw mut block, bytes) }
                })?;
                block
            }
        };
        Ok(PinnedBuffer {
            ptr: block.cast(),
            len,
            pool: Some(Arc::clone(&self.0)),
            shared: Shared::new(&self.0.context),
            _kind: PhantomData,
        })
    }

    /// A block of zeros.
    ///
    /// # Errors
    /// Those of `aclrtMallocHost`.
    #[track_caller]
    pub fn zeroed<T: Zeroable>(&self, len: usize) -> Result<PinnedBuffer<T, Pooled>> {
        Ok(self.alloc(len)?.into_zeroed())
    }

    /// A block with a copy of the slice.
    ///
    /// # Errors
    /// Those of `aclrtMallocHost`.
    #[track_caller]
    pub fn from_slice<T: NoUninit>(&self, from: &[T]) -> Result<PinnedBuffer<T, Pooled>> {
        Ok(self.alloc(from.len())?.filled(from))
    }

    /// Gives a block back now, as dropping it does.
    pub fn free<T>(&self, block: PinnedBuffer<T, Pooled>) {
        drop(block);
    }

    /// Bytes of blocks that nobody holds.
    pub fn idle(&self) -> usize {
        let free = self.0.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.iter()
            .map(|(class, blocks)| class * blocks.len())
            .sum()
    }
}

const _: () = assert!(size_of::<usize>() == 8, "64-bit platforms only");
