//! What the bodies about queued work share: host functions that wait, note and
//! count, and short forms of the calls on streams, events and notifies.
//!
//! A gate blocks a stream until the body opens it, so a body decides what has
//! run and what has not; nothing depends on how long a machine takes. Where a
//! call must *block*, a thread opens the gate a little later and the body looks
//! whether the call came back before that.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::support::*;

/// Longest wait for what must happen soon: a busy machine takes its time, and only a failure waits so long.
const SOON: Duration = Duration::from_secs(60);
/// How long a gate stays closed while a call must block.
pub(super) const HOLD: Duration = Duration::from_millis(50);
/// How long the bodies wait for what must not happen.
const NEVER: Duration = Duration::from_millis(30);

#[derive(Default)]
struct Passage {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default)]
struct State {
    open: bool,
    entered: u32,
    left: u32,
}

impl Passage {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    /// Waits until `holds`; false when that takes too long.
    fn wait(&self, holds: impl Fn(&State) -> bool) -> bool {
        let until = Instant::now() + SOON;
        let mut state = self.state();
        while !holds(&state) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let woken = self.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

/// A host function that does not return before the gate is opened. Dropping
/// the gate opens it, so a body that ends early leaves nothing blocked.
#[derive(Clone, Copy)]
pub(super) struct Gate(&'static Passage);

/// Owner of a gate.
pub(super) struct Held(Gate);

impl std::ops::Deref for Held {
    type Target = Gate;
    fn deref(&self) -> &Gate {
        &self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.open();
    }
}

extern "C" fn pass(data: *mut c_void) {
    #[allow(unsafe_code)] // The argument that a C callback gets.
    // SAFETY: `Gate::function` and its users pass a leaked `Passage`.
    let passage = unsafe { &*data.cast::<Passage>() };
    passage.change(|state| state.entered += 1);
    // A body that hangs is ended by the harness, so the gate needs no limit.
    let closed = passage
        .changed
        .wait_while(passage.state(), |state| !state.open);
    drop(closed.unwrap_or_else(PoisonError::into_inner));
    passage.change(|state| state.left += 1);
}

impl Gate {
    /// A closed gate.
    pub(super) fn closed() -> Held {
        // The library may call the function after the body: never given back.
        Held(Self(Box::leak(Box::default())))
    }

    /// The argument of the function.
    pub(super) fn data(self) -> *mut c_void {
        std::ptr::from_ref(self.0).cast_mut().cast()
    }

    /// The function for the calls that queue one.
    pub(super) fn function() -> aclrtHostFunc {
        Some(pass)
    }

    /// Lets the functions return.
    pub(super) fn open(self) {
        self.0.change(|state| state.open = true);
    }

    /// Whether it was opened.
    pub(super) fn is_open(self) -> bool {
        self.0.state().open
    }

    /// Opens it from another thread after [`HOLD`].
    pub(super) fn open_later(self) {
        std::thread::spawn(move || {
            std::thread::sleep(HOLD);
            self.open();
        });
    }

    /// Waits until the stream has reached the gate.
    pub(super) fn reached(self, t: &T) {
        t.check(
            self.0.wait(|state| state.entered > 0),
            "the host function in front of the queue was never called",
        );
    }

    /// Waits until the function has returned.
    pub(super) fn left(self, t: &T) {
        t.check(
            self.0.wait(|state| state.left > 0),
            "the host function did not return",
        );
    }
}

/// A host function that counts its calls and notes on which thread it ran.
#[derive(Default)]
pub(super) struct Counter {
    calls: AtomicU64,
    thread: AtomicU64,
}

extern "C" fn count(data: *mut c_void) {
    #[allow(unsafe_code)] // The argument that a C callback gets.
    // SAFETY: `Counter::data` passes a leaked `Counter`.
    let counter = unsafe { &*data.cast::<Counter>() };
    counter.thread.store(this_thread(), Ordering::SeqCst);
    counter.calls.fetch_add(1, Ordering::SeqCst);
}

impl Counter {
    /// A counter at 0 that lives as long as the process.
    pub(super) fn new() -> &'static Self {
        Box::leak(Box::default())
    }

    /// The function for the calls that queue one.
    pub(super) fn function() -> aclrtHostFunc {
        Some(count)
    }

    /// The argument of the function.
    pub(super) fn data(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// Calls so far.
    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// Thread of the last call.
    pub(super) fn thread(&self) -> u64 {
        self.thread.load(Ordering::SeqCst)
    }

    /// Waits a while and says whether it is still uncalled.
    pub(super) fn stays_uncalled(&self, t: &T, what: &str) {
        std::thread::sleep(NEVER);
        t.eq(self.calls(), 0, what);
    }
}

/// A host function that notes whether memory already holds what it should.
pub(super) struct Look {
    at: usize,
    want: Vec<u8>,
    seen: AtomicBool,
    called: AtomicBool,
}

extern "C" fn look(data: *mut c_void) {
    #[allow(unsafe_code)] // The argument that a C callback gets.
    // SAFETY: `Look::new` leaks the object; `at` is live pinned host memory.
    let look = unsafe { &*data.cast::<Look>() };
    let now = host_read(addr(look.at), look.want.len());
    look.seen.store(now == look.want, Ordering::SeqCst);
    look.called.store(true, Ordering::SeqCst);
}

impl Look {
    /// Will compare the host memory at `at` with `want`.
    pub(super) fn new(at: *mut c_void, want: &[u8]) -> &'static Self {
        Box::leak(Box::new(Self {
            at: at as usize,
            want: want.to_vec(),
            seen: AtomicBool::new(false),
            called: AtomicBool::new(false),
        }))
    }

    /// Queues the comparison.
    pub(super) fn launch(&'static self, t: &T, stream: aclrtStream) {
        let data = std::ptr::from_ref(self).cast_mut().cast();
        t.ok(
            aclrtLaunchHostFunc(stream, Some(look), data),
            "aclrtLaunchHostFunc",
        );
    }

    /// `None` before the function ran; else whether the bytes were there.
    pub(super) fn outcome(&self) -> Option<bool> {
        let called = self.called.load(Ordering::SeqCst);
        called.then(|| self.seen.load(Ordering::SeqCst))
    }
}

/// Id of the calling thread, as aclrtSubscribeReport takes it.
pub(super) fn this_thread() -> u64 {
    #[allow(unsafe_code)] // A system call without a safe wrapper in std.
    // SAFETY: no arguments, cannot fail.
    unsafe {
        libc::pthread_self()
    }
}

/// `ACL_ERROR_RT_STREAM_CONTEXT`.
pub(super) const ERROR_FOREIGN_STREAM: i64 = ACL_ERROR_RT_STREAM_CONTEXT as i64;
/// `ACL_ERROR_RT_INVALID_HANDLE`.
pub(super) const ERROR_HANDLE: i64 = ACL_ERROR_RT_INVALID_HANDLE as i64;

impl T {
    /// A stream of the current context.
    pub(super) fn stream(&self) -> aclrtStream {
        let mut s = SENTINEL;
        self.ok(aclrtCreateStream(&raw mut s), "aclrtCreateStream");
        s
    }

    /// A stream that is destroyed already.
    pub(super) fn dead_stream(&self) -> aclrtStream {
        let s = self.stream();
        self.ok(aclrtDestroyStream(s), "aclrtDestroyStream");
        s
    }

    /// A stream of a context that is not the current one.
    pub(super) fn foreign_stream(&self) -> aclrtStream {
        let current = self.context();
        self.create_context(0);
        let s = self.stream();
        self.ok(aclrtSetCurrentContext(current), "aclrtSetCurrentContext");
        s
    }

    /// Waits for a stream.
    pub(super) fn sync(&self, s: aclrtStream) {
        self.ok(aclrtSynchronizeStream(s), "aclrtSynchronizeStream");
    }

    /// Whether a stream is done.
    pub(super) fn is_idle(&self, s: aclrtStream) -> bool {
        let mut status = -77;
        self.ok(aclrtStreamQuery(s, &raw mut status), "aclrtStreamQuery");
        status == ACL_STREAM_STATUS_COMPLETE
    }

    /// Queues a closed gate and waits until the stream stands before it.
    pub(super) fn hold(&self, s: aclrtStream) -> Held {
        let gate = Gate::closed();
        self.host_function(s, Gate::function(), gate.data());
        gate.reached(self);
        gate
    }

    /// Queues a host function.
    pub(super) fn host_function(&self, s: aclrtStream, f: aclrtHostFunc, data: *mut c_void) {
        self.ok(aclrtLaunchHostFunc(s, f, data), "aclrtLaunchHostFunc");
    }

    /// Queues a call that is counted.
    pub(super) fn counted(&self, s: aclrtStream) -> &'static Counter {
        let counter = Counter::new();
        self.host_function(s, Counter::function(), counter.data());
        counter
    }

    /// An event of aclrtCreateEvent.
    pub(super) fn event(&self) -> aclrtEvent {
        let mut e = SENTINEL;
        self.ok(aclrtCreateEvent(&raw mut e), "aclrtCreateEvent");
        e
    }

    /// An event of aclrtCreateEventWithFlag.
    pub(super) fn event_with(&self, flag: u32) -> aclrtEvent {
        let mut e = SENTINEL;
        let code = aclrtCreateEventWithFlag(&raw mut e, flag);
        self.ok(code, "aclrtCreateEventWithFlag");
        e
    }

    /// An event of aclrtCreateEventExWithFlag.
    pub(super) fn event_ex(&self, flag: u32) -> aclrtEvent {
        let mut e = SENTINEL;
        let code = aclrtCreateEventExWithFlag(&raw mut e, flag);
        self.ok(code, "aclrtCreateEventExWithFlag");
        e
    }

    /// Records an event.
    pub(super) fn record(&self, e: aclrtEvent, s: aclrtStream) {
        self.ok(aclrtRecordEvent(e, s), "aclrtRecordEvent");
    }

    /// Makes a stream wait for an event.
    pub(super) fn wait_event(&self, s: aclrtStream, e: aclrtEvent) {
        self.ok(aclrtStreamWaitEvent(s, e), "aclrtStreamWaitEvent");
    }

    /// Answer of aclrtQueryEventStatus.
    pub(super) fn event_status(&self, e: aclrtEvent) -> aclrtEventRecordedStatus {
        let mut status = -77;
        let code = aclrtQueryEventStatus(e, &raw mut status);
        self.ok(code, "aclrtQueryEventStatus");
        status
    }

    /// A notify.
    pub(super) fn notify(&self) -> aclrtNotify {
        let mut n = SENTINEL;
        self.ok(aclrtCreateNotify(&raw mut n, 0), "aclrtCreateNotify");
        n
    }

    /// Pinned host memory with random bytes, and the bytes.
    pub(super) fn pinned(&self, len: usize) -> (*mut c_void, Vec<u8>) {
        let h = self.malloc_host(len);
        let bytes = self.random_bytes(len);
        host_write(h, &bytes);
        (h, bytes)
    }

    /// Queues a copy between pinned host memory and the device.
    pub(super) fn copy_async(
        &self,
        to: *mut c_void,
        from: *const c_void,
        len: usize,
        s: aclrtStream,
    ) {
        let code = aclrtMemcpyAsync(to, len, from, len, ACL_MEMCPY_DEFAULT, s);
        self.ok(code, "aclrtMemcpyAsync");
    }

    /// Judges a call that must come back only after the work behind `gate`,
    /// which is closed now.
    pub(super) fn blocks<R>(&self, gate: Gate, call: impl FnOnce() -> R) -> R {
        gate.open_later();
        let result = call();
        self.check(
            gate.is_open(),
            "the call came back while the queue was blocked",
        );
        result
    }
}
