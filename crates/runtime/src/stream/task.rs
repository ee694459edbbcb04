//! What can be queued, and how it is done.
#![allow(unsafe_code)] // moves bytes, calls functions of the program

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use cannery_abi as abi;

use super::composite::Composite;
use super::count_notify::{Condition, Count};
use super::event::{self, Event, Found};
use super::notify::{self, Flag, Wait};
use super::record::Record;
use super::report::Report;
use super::shared::Shared;
use super::{Stream, engine, order, value};
use crate::graph::Slot;
use crate::kernel::run::Launch;
use crate::os;
use crate::window::Window;

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
    Compute(Arc<dyn Fn() -> i32 + Send + Sync>),
    /// As `Compute`, for work that can be done only once; what it holds is let go when it is dropped.
    Once(Box<dyn FnOnce() -> i32 + Send>),
    /// A task of a model, as it is when its turn comes.
    Captured(Arc<Slot>),
    HostFunction {
        function: Function,
        args: usize,
    },
    /// Kernels of the program; see [`crate::kernel`].
    Kernel(Arc<Launch>),
    /// Work that is done piece by piece.
    Composite(Box<dyn Composite>),
    /// For a subscribed thread; done when it ran, or at once when the stream does not wait for it.
    Report(Arc<Report>),
    Record(Arc<Record>),
    /// A record inside of a larger task: what it stands for is reached, nothing is counted.
    Reach(Arc<Record>),
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
    /// The record of an event is reached that was shared when the record was queued already.
    EndShared {
        shared: Arc<Shared>,
        number: u64,
    },
    /// For an event of the program that a model waits for: until it is recorded, however late.
    WaitExternal(u64),
    /// Records an event of the program inside of a larger task.
    RecordExternal(u64),
    /// Takes an event of the program back to the state before any record.
    ResetExternal(u64),
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
    /// A piece of it is done; the next one can be.
    Again(Task),
}

impl Task {
    /// Whether only a thread of the runtime may run it: it has a stack of known size.
    pub(crate) fn needs_worker(&self) -> bool {
        match self {
            Task::HostFunction { .. } => true,
            // Eager work runs inside submit, so that a debugger shows who launched it.
            Task::Kernel(_) => !engine::is_eager(),
            Task::Captured(slot) => slot.needs_worker,
            Task::Composite(work) => work.current().is_some_and(Task::needs_worker),
            _ => false,
        }
    }

    /// Whether somebody may wait for it whose waiting the runtime does not see: the program by its own means,
    /// or another process.
    pub(crate) fn is_awaited_outside(&self) -> bool {
        match self {
            Task::Record(record) | Task::Reach(record) => record.is_shared(),
            Task::NotifyRecord(flag) => flag.is_shared(),
            Task::EndShared { .. } => true,
            Task::Composite(work) => work.is_awaited_outside(),
            _ => self.needs_worker(),
        }
    }

    /// The same task once more, for a model that runs it again and again. `None`: there is only this
    /// one.
    pub(crate) fn again(&self) -> Option<Task> {
        Some(match self {
            Task::Copy { to, from, bytes } => Task::Copy {
                to: *to,
                from: *from,
                bytes: *bytes,
            },
            Task::Fill { at, value, bytes } => Task::Fill {
                at: *at,
                value: *value,
                bytes: *bytes,
            },
            Task::FillWords { at, value, count } => Task::FillWords {
                at: *at,
                value: *value,
                count: *count,
            },
            Task::Copies(list) => Task::Copies(list.clone()),
            Task::Compute(work) => Task::Compute(Arc::clone(work)),
            Task::Kernel(launch) => Task::Kernel(Arc::clone(launch)),
            Task::HostFunction { function, args } => Task::HostFunction {
                function: *function,
                args: *args,
            },
            Task::NotifyRecord(flag) => Task::NotifyRecord(Arc::clone(flag)),
            Task::NotifyWait { flag, until } => Task::NotifyWait {
                flag: Arc::clone(flag),
                until: *until,
            },
            Task::Count { count, mode, value } => Task::Count {
                count: Arc::clone(count),
                mode: *mode,
                value: *value,
            },
            Task::CountWait {
                count,
                condition,
                until,
            } => Task::CountWait {
                count: Arc::clone(count),
                condition: *condition,
                until: *until,
            },
            Task::ValueWrite { at, value } => Task::ValueWrite {
                at: *at,
                value: *value,
            },
            Task::ValueWait { at, value, flag } => Task::ValueWait {
                at: *at,
                value: *value,
                flag: *flag,
            },
            Task::CopyKept { .. }
            | Task::Once(_)
            | Task::Captured(_)
            | Task::Report(_)
            | Task::Composite(_)
            | Task::Record(_)
            | Task::Reach(_)
            | Task::RecordExternal(_)
            | Task::WaitPosition { .. }
            | Task::WaitExternal(_)
            | Task::ResetExternal(_)
            | Task::Wait { .. }
            | Task::WaitShared { .. }
            | Task::EndShared { .. }
            | Task::ResetEvent { .. } => return None,
        })
    }

    /// When it gives up waiting, for tasks that a model can repeat.
    pub(crate) fn until_mut(&mut self) -> Option<&mut Option<Instant>> {
        match self {
            Task::NotifyWait { until, .. } | Task::CountWait { until, .. } => Some(until),
            _ => None,
        }
    }

    /// Whether it is a kernel.
    pub(crate) fn is_kernel(&self) -> bool {
        matches!(self, Task::Kernel(_))
    }

    /// Whether it does nothing, made by [`nothing`](Self::nothing).
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Task::Fill { bytes: 0, .. })
    }

    /// Numbers of the task for those who read about it: device addresses and bytes.
    pub(crate) fn details(&self, window: &Window) -> String {
        let show = |at: &u64| {
            if window.alias_contains(*at) {
                at.wrapping_sub(window.distance())
            } else {
                *at
            }
        };
        match self {
            Task::Copy { to, from, bytes } => {
                format!("{bytes} bytes from {:#x} to {:#x}", show(from), show(to))
            }
            Task::Fill { at, value, bytes } => {
                format!("{bytes} bytes at {:#x} with {value:#x}", show(at))
            }
            Task::FillWords { at, value, count } => {
                format!("{count} words at {:#x} with {value:#x}", show(at))
            }
            Task::Copies(list) => format!("{} pieces", list.len()),
            Task::ValueWrite { at, value } => format!("{value:#x} at {:#x}", show(at)),
            Task::ValueWait { at, value, flag } => {
                format!("{value:#x} at {:#x}, condition {flag}", show(at))
            }
            Task::Kernel(launch) => launch.show(),
            _ => String::new(),
        }
    }

    /// Whether it reads or writes memory of its caller.
    pub(crate) fn moves_bytes(&self) -> bool {
        match self {
            Task::Composite(work) => work.current().is_some_and(Task::moves_bytes),
            // What takes its place is of the same kind.
            Task::Captured(slot) => slot.look(Task::moves_bytes),
            Task::Copy { .. }
            | Task::CopyKept { .. }
            | Task::Copies(_)
            | Task::Fill { .. }
            | Task::FillWords { .. }
            | Task::Compute(_) => true,
            _ => false,
        }
    }

    /// Makes the task independent of host memory `[start, end)`, which is about to be released: what
    /// it would read there it keeps, what it would write there nobody may look at any more.
    pub(crate) fn let_go_of(&mut self, start: u64, end: u64) {
        let inside = |address: u64| (start..end).contains(&address);
        match self {
            Task::Composite(work) => work.each(&mut |task| task.let_go_of(start, end)),
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
                *self = Task::Compute(Arc::new(move || {
                    for (to, bytes) in &kept {
                        // SAFETY: the destination was checked at submission, the source is owned.
                        unsafe { os::copy::copy(*to, bytes.as_ptr() as u64, bytes.len() as u64) };
                    }
                    0
                }));
            }
            _ => {}
        }
    }

    /// A task that does nothing.
    pub(crate) fn nothing() -> Task {
        Task::Fill {
            at: 0,
            value: 0,
            bytes: 0,
        }
    }

    /// Name for traces.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Task::Copy { .. } => "copy",
            Task::CopyKept { .. } => "copy",
            Task::Fill { .. } | Task::FillWords { .. } => "fill",
            Task::Copies(_) => "copies",
            Task::Compute(_) => "compute",
            Task::Once(_) => "release",
            Task::Captured(_) => "captured task",
            Task::HostFunction { .. } => "host function",
            Task::Kernel(_) => "kernel",
            Task::Report(_) => "callback",
            Task::Record(_) | Task::Reach(_) | Task::EndShared { .. } => "record",
            Task::RecordExternal(_) => "record external event",
            Task::Composite(work) => work.name(),
            Task::Wait { .. } => "wait",
            Task::WaitShared { .. } => "wait",
            Task::WaitPosition { .. } => "wait",
            Task::WaitExternal(_) => "wait for external event",
            Task::ResetEvent { .. } | Task::ResetExternal(_) => "reset event",
            Task::NotifyRecord(_) => "notify",
            Task::NotifyWait { .. } => "wait for notify",
            Task::Count { .. } => "count",
            Task::CountWait { .. } => "wait for count",
            Task::ValueWrite { .. } => "write value",
            Task::ValueWait { .. } => "wait for value",
        }
    }

    /// It will be dropped, and others with it: see [`Composite::doomed`].
    pub(crate) fn doomed(&self) {
        if let Task::Composite(work) = self {
            work.doomed();
        }
    }

    /// It will not be run: what others wait for is released.
    pub(crate) fn drop_unrun(self) {
        match self {
            Task::Record(record) | Task::Reach(record) => record.fire(|| {}),
            Task::Composite(work) => work.drop_unrun(),
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
            Task::Fill { bytes: 0, .. } => {}
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
            Task::Once(work) => {
                let code = work();
                if code != 0 {
                    stream.fail(code);
                }
            }
            Task::Captured(slot) => {
                return slot.again().map_or(Outcome::Done, |task| task.run(stream));
            }
            Task::HostFunction { function, args } => {
                // SAFETY: a function of the program with the argument it came with.
                unsafe { function(args as *mut c_void) };
            }
            Task::Kernel(launch) => launch.run(),
            Task::Composite(work) => return work.step(stream),
            Task::Reach(record) => record.fire(|| {}),
            Task::RecordExternal(handle) => event::record_now(handle, stream),
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
            Task::WaitExternal(handle) => match event::look(handle) {
                Found::Done => {}
                Found::Recorded(record) if record.is_done_or_wait(stream) => {}
                Found::Recorded(_) => return Outcome::Blocked(Task::WaitExternal(handle)),
                Found::Nothing => return Outcome::LookAgain(Task::WaitExternal(handle)),
                // Nobody can record it any more.
                Found::Dead => stream.fail(abi::ACL_ERROR_RT_INVALID_HANDLE),
            },
            Task::ResetExternal(handle) => event::reset_now(handle),
            Task::ResetEvent { event, record } => event.forget(record.as_ref()),
            Task::NotifyRecord(flag) => flag.raise(),
            Task::EndShared { shared, number } => shared.end_record(number),
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
