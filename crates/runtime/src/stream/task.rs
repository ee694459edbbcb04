//! What can be queued, and how it is done.
#![allow(unsafe_code)] // moves bytes, calls functions of the program

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use cannery_abi as abi;

use super::count_notify::{Condition, Count};
use super::event::Event;
use super::notify::{self, Flag, Wait};
use super::record::Record;
use super::report::Report;
use super::shared::Shared;
use super::{Stream, engine, order, value};
use crate::os;

/// A function of the program.
pub type Function = unsafe extern "C" fn(*mut c_void);

/// One piece of queued work. Addresses are those the runtime may touch, checked at submission.
pub(crate) enum Task {
    Copy {
        to: u64,
        from: u64,
        bytes: u64,
    },
    Fill {
        at: u64,
        value: u8,
        bytes: u64,
    },
    FillWords {
        at: u64,
        value: u32,
        count: u64,
    },
    /// A copy whose source was released meanwhile: the bytes as they were then.
    CopyKept {
        to: u64,
        bytes: Box<[u8]>,
    },
    /// Several copies.
    Copies(Box<[(u64, u64, u64)]>),
    /// Work that needs no more than itself.
    Compute(Box<dyn FnOnce() -> i32 + Send>),
    HostFunction {
        function: Function,
        args: usize,
    },
    /// For a subscribed thread; done when it ran, or at once when the stream does not wait for it.
    Report(Arc<Report>),
    Record(Arc<Record>),
    /// The token goes with the task: the event knows by it that the wait is over.
    Wait {
        record: Arc<Record>,
        until: Option<Instant>,
        token: Arc<()>,
    },
    /// For a record of an event that other processes share.
    WaitShared {
        shared: Arc<Shared>,
        number: u64,
        until: Option<Instant>,
    },
    /// Takes the event back to the state before this record.
    ResetEvent {
        event: &'static Event,
        record: Option<Arc<Record>>,
    },
    NotifyRecord(Arc<Flag>),
    NotifyWait {
        flag: Arc<Flag>,
        until: Option<Instant>,
    },
    Count {
        count: Arc<Count>,
        mode: i32,
        value: u32,
    },
    CountWait {
        count: Arc<Count>,
        condition: Condition,
        until: Option<Instant>,
    },
    /// For what another stream has queued before a position.
    WaitPosition {
        other: &'static Stream,
        position: u64,
    },
    ValueWrite {
        at: u64,
        value: u64,
    },
    ValueWait {
        at: u64,
        value: u64,
        flag: u32,
    },
}

/// What became of a task.
pub(crate) enum Outcome {
    Done,
    /// Done, and counted on its stream already.
    Counted,
    /// Not yet; the stream is registered with whatever will bring it on.
    Blocked(Task),
    /// Not yet; look again soon.
    LookAgain(Task),
}

impl Task {
    /// Whether only a thread of the runtime may run it.
    pub(crate) fn needs_worker(&self) -> bool {
        matches!(self, Task::HostFunction { .. })
    }

    /// Whether it reads or writes memory of its caller.
    pub(crate) fn moves_bytes(&self) -> bool {
        matches!(
            self,
            Task::Copy { .. }
                | Task::CopyKept { .. }
                | Task::Copies(_)
                | Task::Fill { .. }
                | Task::FillWords { .. }
                | Task::Compute(_)
        )
    }

    /// Makes the task independent of host memory `[start, end)`, which is about to be released: what
    /// it would read there it keeps, what it would write there nobody may look at any more.
    pub(crate) fn let_go_of(&mut self, start: u64, end: u64) {
        let inside = |address: u64| (start..end).contains(&address);
        match self {
            Task::Copy { to, .. } if inside(*to) => *self = Task::nothing(),
            Task::Copy { to, from, bytes } if inside(*from) => {
                *self = Task::CopyKept {
                    to: *to,
                    bytes: keep(*from, *bytes),
                };
            }
            Task::Fill { at, .. } | Task::FillWords { at, .. } if inside(*at) => {
                *self = Task::nothing();
            }
            Task::Copies(list)
                if list
                    .iter()
                    .any(|(to, from, _)| inside(*to) || inside(*from)) =>
            {
                let kept: Vec<(u64, Box<[u8]>)> = list
                    .iter()
                    .filter(|(to, _, _)| !inside(*to))
                    .map(|(to, from, bytes)| (*to, keep(*from, *bytes)))
                    .collect();
                *self = Task::Compute(Box::new(move || {
                    for (to, bytes) in kept {
                        // SAFETY: the destination was checked at submission, the source is owned.
                        unsafe { os::copy::copy(to, bytes.as_ptr() as u64, bytes.len() as u64) };
                    }
                    0
                }));
            }
            _ => {}
        }
    }

    fn nothing() -> Task {
        Task::Compute(Box::new(|| 0))
    }

    /// Name for traces.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Task::Copy { .. } => "copy",
            Task::CopyKept { .. } => "copy",
            Task::Fill { .. } | Task::FillWords { .. } => "fill",
            Task::Copies(_) => "copies",
            Task::Compute(_) => "compute",
            Task::HostFunction { .. } => "host function",
            Task::Report(_) => "callback",
            Task::Record(_) => "record",
            Task::Wait { .. } => "wait",
            Task::WaitShared { .. } => "wait",
            Task::WaitPosition { .. } => "wait",
            Task::ResetEvent { .. } => "reset event",
            Task::NotifyRecord(_) => "notify",
            Task::NotifyWait { .. } => "wait for notify",
            Task::Count { .. } => "count",
            Task::CountWait { .. } => "wait for count",
            Task::ValueWrite { .. } => "write value",
            Task::ValueWait { .. } => "wait for value",
        }
    }

    /// It will not be run: what others wait for is released.
    pub(crate) fn drop_unrun(self) {
        match self {
            Task::Record(record) => record.fire(|| {}),
            Task::Report(report) => report.withdraw(),
            _ => {}
        }
    }

    /// Does the task for `stream`.
    pub(crate) fn run(self, stream: &'static Stream) -> Outcome {
        match self {
            Task::Copy { to, from, bytes } => {
                // SAFETY: both ranges were checked at submission; memory of the runtime stays
                // mapped, host memory is the program's to keep until the copy is done.
                unsafe { os::copy::copy(to, from, bytes) };
            }
            Task::CopyKept { to, bytes } => {
                let from = bytes.as_ptr() as u64;
                // SAFETY: the destination was checked at submission, the source is owned.
                unsafe { os::copy::copy(to, from, bytes.len() as u64) };
            }
            Task::Fill { at, value, bytes } => {
                // SAFETY: as above.
                unsafe { os::copy::fill(at, value, bytes) };
            }
            Task::FillWords { at, value, count } => {
                // SAFETY: as above, and 4-byte aligned.
                unsafe { os::copy::fill_words(at, value, count) };
            }
            Task::Copies(list) => {
                for (to, from, bytes) in &list {
                    // SAFETY: as above.
                    unsafe { os::copy::copy(*to, *from, *bytes) };
                }
            }
            Task::Compute(work) => {
                let code = work();
                if code != 0 {
                    stream.fail(code);
                }
            }
            Task::HostFunction { function, args } => {
                // SAFETY: a function of the program with the argument it came with.
                unsafe { function(args as *mut c_void) };
            }
            Task::Report(report) => return Report::offer(report, stream),
            Task::Record(record) => {
                record.fire(|| engine::count_done(stream, 1));
                return Outcome::Counted;
            }
            Task::Wait {
                record,
                until,
                token,
            } => {
                if record.is_done_or_wait(stream) {
                    return Outcome::Done;
                }
                return wait_or_expire(
                    stream,
                    until,
                    Task::Wait {
                        record,
                        until,
                        token,
                    },
                );
            }
            Task::ResetEvent { event, record } => event.forget(record.as_ref()),
            Task::NotifyRecord(flag) => flag.raise(),
            Task::NotifyWait { flag, until } => match notify::take_or_wait(&flag, stream) {
                Wait::Over => return Outcome::Done,
                Wait::Orphaned => {
                    stream.fail(abi::ACL_ERROR_RT_DRV_INTERNAL_ERROR);
                    return Outcome::Done;
                }
                Wait::Poll => {
                    return poll_or_expire(stream, until, Task::NotifyWait { flag, until });
                }
                Wait::Registered => {
                    return wait_or_expire(stream, until, Task::NotifyWait { flag, until });
                }
            },
            Task::WaitShared {
                shared,
                number,
                until,
            } => {
                if shared.reached(number) {
                    return Outcome::Done;
                }
                if !shared.other_side_lives() && !shared.reached(number) {
                    stream.fail(abi::ACL_ERROR_RT_DRV_INTERNAL_ERROR);
                    return Outcome::Done;
                }
                return poll_or_expire(
                    stream,
                    until,
                    Task::WaitShared {
                        shared,
                        number,
                        until,
                    },
                );
            }
            Task::Count { count, mode, value } => count.record(mode, value),
            Task::CountWait {
                count,
                condition,
                until,
            } => {
                if count.take_or_wait(&condition, stream) {
                    return Outcome::Done;
                }
                return wait_or_expire(
                    stream,
                    until,
                    Task::CountWait {
                        count,
                        condition,
                        until,
                    },
                );
            }
            Task::WaitPosition { other, position } => {
                if !order::is_reached_or_wait((other, position), stream) {
                    return Outcome::Blocked(Task::WaitPosition { other, position });
                }
            }
            Task::ValueWrite { at, value } => {
                // SAFETY: eight bytes of device memory at a multiple of 8, checked at submission.
                unsafe { AtomicU64::from_ptr(at as *mut u64) }.store(value, Ordering::Release);
                super::engine::look_again();
            }
            Task::ValueWait { at, value, flag } => {
                // SAFETY: as above.
                let now = unsafe { AtomicU64::from_ptr(at as *mut u64) }.load(Ordering::Acquire);
                if !value::holds(flag, now, value) {
                    return Outcome::LookAgain(Task::ValueWait { at, value, flag });
                }
            }
        }
        Outcome::Done
    }
}

fn keep(from: u64, bytes: u64) -> Box<[u8]> {
    // SAFETY: the range was checked at submission and is still the program's; u8 has no invalid
    // values.
    unsafe { std::slice::from_raw_parts(from as *const u8, bytes as usize) }.into()
}

/// A wait that is not over: with a time limit the engine looks again, else it is brought on.
fn wait_or_expire(stream: &Stream, until: Option<Instant>, task: Task) -> Outcome {
    match until {
        None => Outcome::Blocked(task),
        Some(until) if Instant::now() < until => Outcome::LookAgain(task),
        Some(_) => {
            stream.fail(abi::ACL_ERROR_RT_TASK_TIMEOUT);
            Outcome::Done
        }
    }
}

/// As [`wait_or_expire`] where nobody can bring the stream on.
fn poll_or_expire(stream: &Stream, until: Option<Instant>, task: Task) -> Outcome {
    match wait_or_expire(stream, until, task) {
        Outcome::Blocked(task) => Outcome::LookAgain(task),
        other => other,
    }
}
