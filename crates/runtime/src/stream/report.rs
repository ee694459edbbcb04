//! Manual chapter: callbacks, the older style: a thread of the program subscribes a stream and runs
//! its callbacks inside aclrtProcessReport.
#![allow(unsafe_code)] // calls functions of the program

use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use cannery_abi as abi;

use super::Stream;
use super::engine::{self, bring_on};
use super::host_function::{REPORTS, choose};
use super::manage::{own_stream, stream_of_call};
use super::task::{Function, Outcome, Task};
use crate::error::{Error, Result};

const WAITING: u8 = 0;
const RAN: u8 = 1;

/// A queued callback.
pub(crate) struct Report {
    function: Function,
    args: usize,
    thread: u64,
    /// Whether later tasks of the stream wait for it.
    blocks: bool,
    state: AtomicU8,
    offered: AtomicU8,
    stream: Mutex<Option<&'static Stream>>,
}

/// Callbacks that wait for their thread, by thread id.
static MAIL: LazyLock<Mutex<HashMap<u64, Mailbox>>> = LazyLock::new(Mutex::default);
static BELL: Condvar = Condvar::new();

#[derive(Default)]
struct Mailbox {
    /// Streams that this thread serves.
    streams: usize,
    ready: VecDeque<Arc<Report>>,
}

fn mail() -> MutexGuard<'static, HashMap<u64, Mailbox>> {
    MAIL.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Report {
    /// The stream reached it: hands it to the thread.
    pub(super) fn offer(report: Arc<Report>, stream: &'static Stream) -> Outcome {
        if report.offered.swap(1, Ordering::AcqRel) == 0 {
            *report.stream.lock().unwrap_or_else(PoisonError::into_inner) = Some(stream);
            let mut mail = mail();
            mail.entry(report.thread)
                .or_default()
                .ready
                .push_back(report.clone());
            BELL.notify_all();
        }
        if !report.blocks || report.state.load(Ordering::SeqCst) == RAN {
            return Outcome::Done;
        }
        // The thread brings the stream on when the function returned; if it did already, nobody will.
        Outcome::Blocked(Task::Report(report))
    }

    /// Its stream was dropped: it never runs.
    pub(super) fn withdraw(&self) {
        let mut mail = mail();
        if let Some(mailbox) = mail.get_mut(&self.thread) {
            mailbox
                .ready
                .retain(|other| !std::ptr::eq(&raw const **other, self));
        }
    }

    fn run(&self) {
        // SAFETY: a function of the program with the argument it came with.
        unsafe { (self.function)(self.args as *mut c_void) };
        self.state.store(RAN, Ordering::SeqCst);
        if self.blocks
            && let Some(stream) = *self.stream.lock().unwrap_or_else(PoisonError::into_inner)
        {
            bring_on(stream);
        }
    }
}

fn this_thread() -> u64 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::pthread_self() }
}

/// aclrtSubscribeReport: `thread` (a pthread id) runs the callbacks of the stream.
///
/// # Errors
/// 107017, 107002, 107003 for the stream; 107011 when it is subscribed already or has used
/// aclrtLaunchHostFunc.
pub fn subscribe(thread: u64, stream: u64) -> Result<()> {
    let (_, stream) = own_stream("stream", stream)?;
    choose(stream, REPORTS)?;
    if stream
        .subscriber
        .compare_exchange(0, thread, Ordering::AcqRel, Ordering::Acquire)
        .is_err()
    {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_STREAM_SUBSCRIBE,
            "the stream has a subscribed thread already; call aclrtUnSubscribeReport first",
        ));
    }
    mail().entry(thread).or_default().streams += 1;
    Ok(())
}

/// aclrtUnSubscribeReport.
///
/// # Errors
/// 107017, 107002, 107003 for the stream; 107012 when another thread serves it.
pub fn unsubscribe(thread: u64, stream: u64) -> Result<()> {
    let (_, stream) = own_stream("stream", stream)?;
    if stream
        .subscriber
        .compare_exchange(thread, 0, Ordering::AcqRel, Ordering::Acquire)
        .is_err()
    {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_THREAD_SUBSCRIBE,
            format!("thread {thread} does not serve this stream"),
        ));
    }
    leave(thread);
    Ok(())
}

/// One stream less for a thread.
fn leave(thread: u64) {
    let mut mail = mail();
    if let Some(mailbox) = mail.get_mut(&thread) {
        mailbox.streams = mailbox.streams.saturating_sub(1);
        if mailbox.streams == 0 && mailbox.ready.is_empty() {
            mail.remove(&thread);
        }
    }
    BELL.notify_all();
}

/// A stream is going away: its subscription ends.
pub(super) fn end_subscription(stream: &Stream) {
    let thread = stream.subscriber.swap(0, Ordering::AcqRel);
    if thread != 0 {
        leave(thread);
    }
}

/// aclrtLaunchCallback: queues `function(args)` for the subscribed thread.
///
/// # Errors
/// 100000 for the block type and without a function; 107017, 107002, 107003; 107015 for a stream that
/// nobody serves.
pub fn launch(
    function: Option<Function>,
    args: *mut c_void,
    block: i32,
    stream: u64,
) -> Result<()> {
    if !matches!(block, abi::ACL_CALLBACK_NO_BLOCK | abi::ACL_CALLBACK_BLOCK) {
        return Err(Error::value(
            "blockType",
            block,
            "must be 0 (no block) or 1 (block)",
        ));
    }
    let Some(function) = function else {
        return Err(Error::null("fn"));
    };
    let args = args as usize;
    let (_, stream) = stream_of_call("stream", stream)?;
    let thread = stream.subscriber.load(Ordering::Acquire);
    if thread == 0 {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_STREAM_NO_CB_REG,
            "no thread serves this stream; call aclrtSubscribeReport first",
        ));
    }
    let report = Report {
        function,
        args,
        thread,
        blocks: block == abi::ACL_CALLBACK_BLOCK,
        state: AtomicU8::new(WAITING),
        offered: AtomicU8::new(0),
        stream: Mutex::new(None),
    };
    engine::submit(stream, Task::Report(Arc::new(report)));
    Ok(())
}

/// aclrtProcessReport: runs one callback on the calling thread, waiting for it at most `timeout`
/// milliseconds (-1: for ever).
///
/// # Errors
/// 100000 for timeouts; 107012 for a thread that serves no stream; 507012 when none came in time.
pub fn process(timeout: i32) -> Result<()> {
    crate::process::current()?;
    if timeout == 0 || timeout < -1 {
        return Err(Error::cause(
            "timeout",
            timeout,
            "must be -1 (for ever) or above 0 milliseconds",
        ));
    }
    let until = super::wait::deadline(timeout)?;
    let me = this_thread();
    loop {
        let next = {
            let mut mail = mail();
            match mail.get_mut(&me) {
                Some(mailbox) if mailbox.streams > 0 || !mailbox.ready.is_empty() => {
                    mailbox.ready.pop_front()
                }
                _ => return Err(not_subscribed()),
            }
        };
        if let Some(report) = next {
            report.run();
            return Ok(());
        }
        if engine::make_progress() {
            continue;
        }
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(Error::sequence(
                abi::ACL_ERROR_RT_REPORT_TIMEOUT,
                "no callback came in time; call aclrtProcessReport again",
            ));
        }
        let mail = mail();
        if mail
            .get(&me)
            .is_some_and(|mailbox| !mailbox.ready.is_empty())
        {
            continue;
        }
        let step = std::time::Duration::from_millis(50);
        let step = left.map_or(step, |left| left.min(step));
        // It may wait for ever: a snapshot of the process does not wait for it.
        crate::snapshot::gate::idle(|| {
            drop(
                BELL.wait_timeout(mail, step)
                    .unwrap_or_else(PoisonError::into_inner),
            );
        });
    }
}

fn not_subscribed() -> Error {
    Error::sequence(
        abi::ACL_ERROR_RT_THREAD_SUBSCRIBE,
        "the calling thread serves no stream; call aclrtSubscribeReport with its id first",
    )
}
