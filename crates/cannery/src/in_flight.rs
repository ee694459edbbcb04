//! A queued copy that owns its two sides.

use std::ffi::c_void;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context as Task, Poll, Waker};

use crate::error::{Error, Result};
use crate::stream::Stream;

/// A copy that is queued, with the buffers `B` that it uses.
///
/// [`wait`](InFlight::wait) blocks the thread; as a `Future` it wakes any executor, by a function that the
/// stream calls when it gets there. Dropped, it drops the buffers, which wait for their work; forgotten, it
/// leaks them. So no use of it frees memory that is being copied.
///
/// # Thread rules
/// `Send` and `Sync` where the buffers are.
#[must_use = "the buffers come back from `wait` or `.await`"]
pub struct InFlight<B> {
    buffers: Option<B>,
    stretch: u64,
    stream: Stream,
    signal: Option<Arc<Signal>>,
}

/// Buffers of work that failed, and the error. `?` makes it the error alone and drops the buffers.
pub struct Failed<B> {
    error: Error,
    buffers: B,
}

/// A copy that was queued, or its sides and why it was not.
pub type Queued<S, D, W> = std::result::Result<InFlight<(S, W)>, Failed<(S, D)>>;

/// A copy that was queued from a staged block, or its target and why it was not.
pub type QueuedStaged<T, D, W> =
    std::result::Result<InFlight<(crate::PinnedBuffer<T, crate::Pooled>, W)>, Failed<D>>;

/// Who is to be woken when the stream gets there.
#[derive(Default)]
struct Signal {
    waker: Mutex<Option<Waker>>,
}

impl<B> InFlight<B> {
    pub(crate) fn new(buffers: B, stretch: u64, stream: Stream) -> InFlight<B> {
        InFlight {
            buffers: Some(buffers),
            stretch,
            stream,
            signal: None,
        }
    }

    /// Waits for the copy and gives its buffers back.
    ///
    /// # Errors
    /// What the work of the stream failed with; [`Failed`] has the buffers.
    #[track_caller]
    pub fn wait(mut self) -> std::result::Result<B, Failed<B>> {
        let outcome = self.stream.lane().wait(self.stretch);
        self.finish(outcome)
    }

    /// Whether the copy is done: `wait` would not block.
    ///
    /// # Errors
    /// Those of `aclrtQueryEventStatus`.
    #[track_caller]
    pub fn is_done(&self) -> Result<bool> {
        self.stream.lane().is_done(self.stretch)
    }

    /// Gives the buffers back at once. They know of the copy: touching one waits for it, and more work can be
    /// queued behind it.
    pub fn without_waiting(mut self) -> B {
        match self.buffers.take() {
            Some(buffers) => buffers,
            None => unreachable!("only `poll` takes the buffers of a value that lives on"),
        }
    }

    fn finish(&mut self, outcome: Result<()>) -> std::result::Result<B, Failed<B>> {
        let Some(buffers) = self.buffers.take() else {
            unreachable!("a future is not polled after it was ready");
        };
        match outcome {
            Ok(()) => Ok(buffers),
            Err(error) => Err(Failed { error, buffers }),
        }
    }
}

/// Runs on a thread of the library.
unsafe extern "C" fn wake(signal: *mut c_void) {
    // SAFETY: the count that `poll` gave to this call.
    let signal = unsafe { Arc::from_raw(signal.cast_const().cast::<Signal>()) };
    // No panic of an executor crosses into C.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let waker = signal
            .waker
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }));
}

impl<B: Unpin> Future for InFlight<B> {
    type Output = std::result::Result<B, Failed<B>>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        match this.stream.lane().is_done(this.stretch) {
            Ok(false) => {}
            // A wait for what is done returns at once, with the failure of the work if there was one.
            Ok(true) => {
                let outcome = this.stream.lane().wait(this.stretch);
                return Poll::Ready(this.finish(outcome));
            }
            Err(error) => return Poll::Ready(this.finish(Err(error))),
        }
        if let Some(signal) = &this.signal {
            let mut waker = signal.waker.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut *waker {
                Some(old) => old.clone_from(task.waker()),
                // It was called between the question above and here.
                None => task.waker().wake_by_ref(),
            }
            return Poll::Pending;
        }
        let signal = Arc::new(Signal {
            waker: Mutex::new(Some(task.waker().clone())),
        });
        let given = Arc::into_raw(Arc::clone(&signal));
        let asked = this.stream.context().call("aclrtLaunchHostFunc", |table| {
            // SAFETY: the stream is alive; the function takes the count that is given to it, once.
            unsafe {
                (table.aclrtLaunchHostFunc)(this.stream.raw(), Some(wake), given.cast_mut().cast())
            }
        });
        match asked {
            Ok(()) => this.signal = Some(signal),
            Err(_) => {
                // SAFETY: nobody took the count.
                drop(unsafe { Arc::from_raw(given) });
                // The executor has to ask again and again.
                task.waker().wake_by_ref();
            }
        }
        Poll::Pending
    }
}

impl<B> fmt::Debug for InFlight<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InFlight")
            .field("stream", &self.stream)
            .finish_non_exhaustive()
    }
}

impl<B> Failed<B> {
    pub(crate) fn new(error: Error, buffers: B) -> Failed<B> {
        Failed { error, buffers }
    }

    /// What went wrong.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The error and the buffers.
    pub fn into_parts(self) -> (Error, B) {
        (self.error, self.buffers)
    }
}

impl<B> From<Failed<B>> for Error {
    fn from(failed: Failed<B>) -> Error {
        failed.error
    }
}

impl<B> fmt::Debug for Failed<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.error, f)
    }
}

impl<B> fmt::Display for Failed<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl<B> std::error::Error for Failed<B> {}
