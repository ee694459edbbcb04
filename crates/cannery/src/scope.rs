//! Copies of borrowed memory that are all done when a scope ends.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::error::{Error, Result};
use crate::places::{Element, Place, Side, Write, borrowed_kind};
use crate::shared::Shared;
use crate::stream::Stream;

/// Where borrowed copies are queued; see [`Stream::scope`].
pub struct Scope<'scope, 'env: 'scope> {
    stream: &'scope Stream,
    used: RefCell<Vec<&'scope Shared>>,
    /// Both life times invariant, as in `std::thread::Scope`.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
}

impl Stream {
    /// Queues copies of borrowed memory and waits for them at the end, also when the function panics. What is
    /// borrowed can be used again after the scope. Cheaper for many copies than
    /// [`copy_borrowed`](Stream::copy_borrowed): the end is marked once.
    ///
    /// ```
    /// use cannery::{Device, DeviceBuffer, Library, PinnedBuffer, Stream};
    ///
    /// let context = Device::new(Library::find()?, 0)?.context()?;
    /// let stream = Stream::new(&context)?;
    /// let sent = PinnedBuffer::from_slice(&context, &[1u32, 2, 3, 4])?;
    /// let mut received = PinnedBuffer::<u32>::zeroed(&context, 4)?;
    /// let mut device = DeviceBuffer::<u32>::zeroed(&context, 4)?;
    /// stream.scope(|s| {
    ///     let there = s.copy(&sent, &mut device)?;
    ///     s.copy(there, &mut received)?;
    ///     Ok(())
    /// })?;
    /// assert_eq!(received[..], sent[..]);
    /// # Ok::<(), cannery::Error>(())
    /// ```
    ///
    /// # Errors
    /// What the function returns, or what the work failed with. When the end cannot be awaited at all, the
    /// buffers are never touched or freed again: they answer with an error.
    #[track_caller]
    pub fn scope<'env, R>(
        &self,
        queue: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<R>,
    ) -> Result<R> {
        let scope = Scope {
            stream: self,
            used: RefCell::new(Vec::new()),
            _scope: PhantomData,
            _env: PhantomData,
        };
        let returned = catch_unwind(AssertUnwindSafe(|| queue(&scope)));
        let joined = scope.join();
        match returned {
            Ok(result) => {
                let value = result?;
                joined.map(|()| value)
            }
            Err(panic) => resume_unwind(panic),
        }
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Queues a copy. What it gives back can be read by later copies of the scope.
    ///
    /// # Errors
    /// Lengths that differ; those of `aclrtMemcpyAsync`.
    #[track_caller]
    pub fn copy<T, S, D>(&'scope self, source: S, target: D) -> Result<D::Frozen>
    where
        T: Element + 'scope,
        S: Place<'scope, T>,
        D: Place<'scope, T, Way = Write>,
    {
        let kind = borrowed_kind::<T, S, D>();
        let (from, _) = source.into_side();
        let (to, frozen) = target.into_side();
        if from.len != to.len {
            return Err(Error::lengths("aclrtMemcpyAsync", from.len, to.len));
        }
        self.remember([from, to]);
        self.stream.queue_unmarked(from, to, kind)?;
        Ok(frozen)
    }

    fn remember(&self, sides: [Side<'scope>; 2]) {
        self.used.borrow_mut().extend(sides.map(|side| side.shared));
    }

    /// Waits for everything. The stream's own failure is reported; whether the memory is free is another
    /// question, which a second, empty wait answers.
    fn join(&self) -> Result<()> {
        if self.used.borrow().is_empty() {
            return Ok(());
        }
        let first = self.stream.synchronize();
        if first.is_err() && self.stream.synchronize().is_err() {
            self.used
                .borrow()
                .iter()
                .for_each(|shared| shared.uses.lose());
        }
        first
    }
}

impl std::fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope")
            .field("stream", self.stream)
            .finish_non_exhaustive()
    }
}
