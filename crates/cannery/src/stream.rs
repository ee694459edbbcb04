//! Streams and events, and the one way in which copies are queued.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cannery_abi::{
    ACL_EVENT_RECORDED_STATUS_COMPLETE, ACL_EVENT_SYNC, ACL_EVENT_TIME_LINE,
    ACL_STREAM_STATUS_COMPLETE, aclrtEvent, aclrtMemcpyKind, aclrtStream,
};

use crate::context::Context;
use crate::drop_failures;
use crate::error::{Error, Result};
use crate::in_flight::{Failed, InFlight, Queued, QueuedStaged};
use crate::lane::Work as _;
use crate::places::{Element, Place, Side, Source, Target, Write, borrowed_kind, owned_kind};
use crate::shared::{Lane, Queue, Shared};

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A queue of work of a device. Work of one stream is done in its order.
///
/// The value can be cloned; the stream is destroyed, after its work, with the last clone.
///
/// # Copies
/// Three ways, all with pinned host memory only:
///
/// * [`copy`](Stream::copy) takes both buffers and gives an [`InFlight`], which gives them back: `wait`, or
///   `.await`.
/// * [`copy_borrowed`](Stream::copy_borrowed) borrows them for the call. The buffers know what is queued:
///   touching one waits.
/// * [`scope`](Stream::scope) queues any number of copies of borrowed parts and waits at its end.
///
/// [`memcpy_raw`](Stream::memcpy_raw) is the C function.
///
/// # Thread rules
/// `Send` and `Sync`: threads may queue to one stream at once; each copy is queued whole.
///
/// ```
/// use cannery::{Device, DeviceBuffer, Library, PinnedBuffer, Stream};
///
/// let context = Device::new(Library::find()?, 0)?.context()?;
/// let stream = Stream::new(&context)?;
/// let sent = PinnedBuffer::from_slice(&context, &vec![3u32; 1 << 18])?;
/// let device = DeviceBuffer::<u32>::uninit(&context, 1 << 18)?;
///
/// let (sent, device) = stream.copy(sent, device)?.wait()?;
/// let received = PinnedBuffer::<u32>::zeroed(&context, 1 << 18)?;
/// let (_, received) = stream.copy(device, received)?.wait()?;
/// assert_eq!(received[..], sent[..]);
/// # Ok::<(), cannery::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stream(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// What its buffers know of it; they may keep it longer than the stream lives.
    lane: Arc<Lane>,
}

impl Stream {
    /// Creates a stream (`aclrtCreateStream`).
    ///
    /// # Errors
    /// Those of `aclrtCreateStream`.
    #[track_caller]
    pub fn new(context: &Arc<Context>) -> Result<Stream> {
        let mut raw = ptr::null_mut();
        context.call("aclrtCreateStream", |table| {
            // SAFETY: the place is valid.
            unsafe { (table.aclrtCreateStream)(&raw mut raw) }
        })?;
        let queue = Queue {
            raw,
            context: Arc::clone(context),
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Stream(Arc::new(Inner {
            lane: Arc::new(Lane::new(queue, number)),
        })))
    }

    /// The handle, for C code. It lives as long as a clone of this value.
    ///
    /// Ask for it again before each piece of work that C code queues: what was queued by this crate is marked
    /// off then, so that a buffer which was used before that work does not wait for it.
    pub fn as_raw(&self) -> aclrtStream {
        self.0.lane.cut();
        self.raw()
    }

    #[inline(always)]
    pub(crate) fn raw(&self) -> aclrtStream {
        self.lane().work().raw
    }

    /// The context it was made in.
    #[inline(always)]
    pub fn context(&self) -> &Arc<Context> {
        &self.lane().work().context
    }

    #[inline(always)]
    pub(crate) fn lane(&self) -> &Arc<Lane> {
        &self.0.lane
    }

    /// Waits for all its work.
    ///
    /// # Errors
    /// What the work failed with.
    #[track_caller]
    pub fn synchronize(&self) -> Result<()> {
        let stretch = self.lane().begin_drain();
        self.lane().work().drain()?;
        if !self.lane().is_reached(stretch) {
            self.lane().reached(stretch);
        }
        Ok(())
    }

    /// Whether all its work is done.
    ///
    /// # Errors
    /// Those of `aclrtStreamQuery`.
    #[track_caller]
    pub fn is_done(&self) -> Result<bool> {
        let mut status = 0;
        self.context().call("aclrtStreamQuery", |table| {
            // SAFETY: the stream is alive, the place valid.
            unsafe { (table.aclrtStreamQuery)(self.raw(), &raw mut status) }
        })?;
        Ok(status == ACL_STREAM_STATUS_COMPLETE)
    }

    /// Lets later work of this stream wait for what the event recorded.
    ///
    /// # Errors
    /// Those of `aclrtStreamWaitEvent`.
    #[track_caller]
    pub fn wait_for(&self, event: &Event) -> Result<()> {
        // What comes now may take long: buffers of earlier work are not to wait for it.
        self.lane().cut();
        self.context().call("aclrtStreamWaitEvent", |table| {
            // SAFETY: both handles are alive.
            unsafe { (table.aclrtStreamWaitEvent)(self.raw(), event.raw) }
        })
    }

    /// Queues a copy and takes both sides until it is done: pinned host memory and device memory, or device
    /// memory twice. The lengths are equal. The target may be uninitialised; it comes back initialised.
    ///
    /// # Errors
    /// Lengths that differ; those of `aclrtMemcpyAsync`. [`Failed`] gives the sides back; `?` turns it into
    /// the error alone.
    #[track_caller]
    pub fn copy<T, S, D>(&self, source: S, target: D) -> Queued<S, D, D::Written>
    where
        T: Element,
        S: Source<T>,
        D: Target<T>,
    {
        match self.queue(source.source(), target.target(), owned_kind::<T, S, D>()) {
            Ok(stretch) => {
                // SAFETY: the copy writes every element, and all use is ordered behind it.
                let written = unsafe { target.written() };
                Ok(InFlight::new((source, written), stretch, self.clone()))
            }
            Err(error) => Err(Failed::new(error, (source, target))),
        }
    }

    /// Copies host memory that is not pinned: first into a block of the pool, which the copy then reads.
    ///
    /// # Errors
    /// Those of [`PinnedBuffer::uninit`](crate::PinnedBuffer::uninit) and [`Stream::copy`].
    #[track_caller]
    pub fn copy_staged<T, D>(
        &self,
        pool: &crate::Pool<crate::Pinned>,
        source: &[T],
        target: D,
    ) -> QueuedStaged<T, D, D::Written>
    where
        T: Element,
        D: Target<T>,
    {
        match pool.from_slice(source) {
            Ok(staged) => self.copy(staged, target).map_err(|failed| {
                let (error, (_, target)) = failed.into_parts();
                Failed::new(error, target)
            }),
            Err(error) => Err(Failed::new(error, target)),
        }
    }

    /// Queues a copy between borrowed buffers or parts of them. When it returns the copy may still run: the
    /// buffers know, and whatever touches or drops them waits for it, or is queued behind it.
    ///
    /// ```
    /// use cannery::{Device, DeviceBuffer, Library, PinnedBuffer, Stream};
    ///
    /// let context = Device::new(Library::find()?, 0)?.context()?;
    /// let stream = Stream::new(&context)?;
    /// let mut pinned = PinnedBuffer::from_slice(&context, &[1u8, 2, 3, 4])?;
    /// let mut device = DeviceBuffer::<u8>::zeroed(&context, 4)?;
    /// stream.copy_borrowed(&pinned, &mut device)?;
    /// stream.copy_borrowed(device.slice(2..)?, pinned.slice_mut(..2)?)?;
    /// assert_eq!(pinned[..], [3, 4, 3, 4]); // waits
    /// # Ok::<(), cannery::Error>(())
    /// ```
    ///
    /// # Errors
    /// Lengths that differ; those of `aclrtMemcpyAsync`.
    #[track_caller]
    pub fn copy_borrowed<'a, T, S, D>(&self, source: S, target: D) -> Result<()>
    where
        T: Element + 'a,
        S: Place<'a, T>,
        D: Place<'a, T, Way = Write>,
    {
        let kind = borrowed_kind::<T, S, D>();
        self.queue(source.into_side().0, target.into_side().0, kind)
            .map(drop)
    }

    /// Sets every byte of a borrowed part in stream order.
    ///
    /// # Errors
    /// Those of `aclrtMemsetAsync`.
    #[track_caller]
    pub fn fill_bytes<T: bytemuck::AnyBitPattern>(
        &self,
        target: crate::DevSliceMut<'_, T>,
        value: u8,
    ) -> Result<()> {
        let bytes = target.len() * size_of::<T>();
        target.shared.uses.before_write(self.lane())?;
        self.context().call("aclrtMemsetAsync", |table| {
            let address = target.ptr.as_raw();
            // SAFETY: the part has this many bytes and is kept until the stretch is done.
            unsafe { (table.aclrtMemsetAsync)(address, bytes, i32::from(value), bytes, self.raw()) }
        })?;
        self.writes(target.shared, self.lane().queued(bytes));
        Ok(())
    }

    /// `aclrtMemcpyAsync` as the manual has it.
    ///
    /// # Safety
    /// Both ranges stay valid, and nothing else writes the target or the source, until the stream has done
    /// the copy. The buffers of this crate do not learn of it.
    ///
    /// # Errors
    /// Those of `aclrtMemcpyAsync`.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn memcpy_raw(
        &self,
        to: *mut c_void,
        max: usize,
        from: *const c_void,
        count: usize,
        kind: aclrtMemcpyKind,
    ) -> Result<()> {
        self.context().call("aclrtMemcpyAsync", |table| {
            // SAFETY: as the caller promises.
            unsafe { (table.aclrtMemcpyAsync)(to, max, from, count, kind, self.raw()) }
        })
    }

    /// A block of a pool is used in the order of this stream from the start.
    pub(crate) fn note_write<T, K>(&self, block: &crate::DeviceBuffer<T, K>) {
        self.writes(block.shared(), self.lane().queued(0));
    }

    #[inline(always)]
    fn writes(&self, target: &Shared, stretch: u64) {
        target.uses.writes_until(self.lane(), stretch);
    }

    /// Queues a copy behind whatever else uses the two sides, and lets them know the stretch that it is in.
    #[inline]
    #[track_caller]
    fn queue(&self, source: Side<'_>, target: Side<'_>, kind: aclrtMemcpyKind) -> Result<u64> {
        if source.len != target.len {
            return Err(Error::lengths("aclrtMemcpyAsync", source.len, target.len));
        }
        self.queue_unmarked(source, target, kind)?;
        let stretch = self.lane().queued(target.bytes);
        source.shared.uses.reads_until(self.lane(), stretch);
        self.writes(target.shared, stretch);
        Ok(stretch)
    }

    /// The copy alone: somebody else answers for the end of it.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn queue_unmarked(
        &self,
        source: Side<'_>,
        target: Side<'_>,
        kind: aclrtMemcpyKind,
    ) -> Result<()> {
        source.shared.uses.before_read(self.lane())?;
        target.shared.uses.before_write(self.lane())?;
        // SAFETY: the sides have as many bytes; their memory is kept until the copy is done.
        unsafe {
            self.memcpy_raw(
                target.address,
                target.bytes,
                source.address,
                source.bytes,
                kind,
            )
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.lane.end();
        let Queue { raw, context } = self.lane.work();
        let outcome = context.call("aclrtDestroyStream", |table| {
            // SAFETY: the stream is alive; this is its last owner. Its work is done first.
            unsafe { (table.aclrtDestroyStream)(*raw) }
        });
        drop_failures::note(outcome);
    }
}

/// A point in the work of a stream.
///
/// # Thread rules
/// `Send` and `Sync`.
///
/// ```
/// use cannery::{Device, Event, Library, Stream};
///
/// let context = Device::new(Library::find()?, 0)?.context()?;
/// let (first, second) = (Stream::new(&context)?, Stream::new(&context)?);
/// let event = Event::new(&context)?;
/// event.record(&first)?;
/// second.wait_for(&event)?;
/// event.synchronize()?;
/// assert!(event.is_done()?);
/// # Ok::<(), cannery::Error>(())
/// ```
#[derive(Debug)]
pub struct Event {
    raw: aclrtEvent,
    context: Arc<Context>,
}

// SAFETY: events may be used from any thread (manual, event chapter).
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Creates an event that streams can wait for and that keeps the time
    /// (`aclrtCreateEventExWithFlag`).
    ///
    /// # Errors
    /// Those of `aclrtCreateEventExWithFlag`.
    #[track_caller]
    pub fn new(context: &Arc<Context>) -> Result<Event> {
        let mut raw = ptr::null_mut();
        context.call("aclrtCreateEventExWithFlag", |table| {
            // SAFETY: the place is valid.
            unsafe {
                (table.aclrtCreateEventExWithFlag)(
                    &raw mut raw,
                    ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE,
                )
            }
        })?;
        Ok(Event {
            raw,
            context: Arc::clone(context),
        })
    }

    /// The handle, for C code. It lives as long as this value.
    pub fn as_raw(&self) -> aclrtEvent {
        self.raw
    }

    /// Records what is queued in the stream now, in place of what was recorded before.
    ///
    /// # Errors
    /// Those of `aclrtRecordEvent`.
    #[track_caller]
    pub fn record(&self, stream: &Stream) -> Result<()> {
        stream.context().call("aclrtRecordEvent", |table| {
            // SAFETY: both handles are alive.
            unsafe { (table.aclrtRecordEvent)(self.raw, stream.raw()) }
        })
    }

    /// Whether what was recorded is done; true before the first record.
    ///
    /// # Errors
    /// Those of `aclrtQueryEventStatus`.
    #[track_caller]
    pub fn is_done(&self) -> Result<bool> {
        let mut status = 0;
        self.context.call("aclrtQueryEventStatus", |table| {
            // SAFETY: the event is alive, the place valid.
            unsafe { (table.aclrtQueryEventStatus)(self.raw, &raw mut status) }
        })?;
        Ok(status == ACL_EVENT_RECORDED_STATUS_COMPLETE)
    }

    /// Waits for what was recorded.
    ///
    /// # Errors
    /// What the work failed with.
    #[track_caller]
    pub fn synchronize(&self) -> Result<()> {
        self.context.call("aclrtSynchronizeEvent", |table| {
            // SAFETY: the event is alive.
            unsafe { (table.aclrtSynchronizeEvent)(self.raw) }
        })
    }

    /// Milliseconds from an earlier event to this one; both are done.
    ///
    /// # Errors
    /// Those of `aclrtEventElapsedTime`.
    #[track_caller]
    pub fn milliseconds_since(&self, earlier: &Event) -> Result<f32> {
        let mut time = 0.0;
        self.context.call("aclrtEventElapsedTime", |table| {
            // SAFETY: both events are alive, the place valid.
            unsafe { (table.aclrtEventElapsedTime)(&raw mut time, earlier.raw, self.raw) }
        })?;
        Ok(time)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let outcome = self.context.call("aclrtDestroyEvent", |table| {
            // SAFETY: the event is alive; this is its owner.
            unsafe { (table.aclrtDestroyEvent)(self.raw) }
        });
        drop_failures::note(outcome);
    }
}
