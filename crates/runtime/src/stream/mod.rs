//! Manual chapters: streams, events, notifies, callbacks; the engine that runs queued work.
//!
//! # Glossary
//!
//! * **stream**: an ordered queue of tasks. Independent streams run in parallel.
//! * **task**: one piece of queued work. It is *done*, or *blocked* on something that another stream,
//!   a host thread or time will bring.
//! * **runner**: whoever executes the tasks of a stream at a moment: a worker, or a thread that waits
//!   for the stream and lends a hand. One at a time; see turn.rs.
//! * **record**: what one aclrtRecordEvent captured; an event points to its newest one.
//! * **schedule**: when runners run: at once in the background (fifo), inside submit (eager), only
//!   when somebody waits (lazy), one task at a time in a seeded order (random).
//!
//! # Invariants
//!
//! Tasks of a stream are done in the order in which they were submitted. `done` never passes
//! `submitted`; a waiter waits for the number that was submitted when it began. A stream with tasks
//! that is neither running nor blocked is in the run queue, or held by the schedule.
//!
//! Lock order: a stream's queue, a record, the run queue; none is held while a task runs.

pub(crate) mod bell;
pub(crate) mod composite;
pub mod config_handle;
pub mod count_notify;
pub mod device_abort;
pub(crate) mod engine;
pub mod event;
pub mod exception;
pub mod failure;
pub mod host_function;
pub mod last_task;
pub mod manage;
pub mod notify;
mod nudge;
pub(crate) mod order;
pub mod overflow;
pub(crate) mod random;
pub(crate) mod reached;
pub(crate) mod record;
pub mod report;
pub(crate) mod shared;
pub mod state_callback;
pub(crate) mod task;
pub mod timeouts;
pub(crate) mod timing;
pub(crate) mod turn;
pub mod value;
pub mod wait;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};

use bell::Bell;
use task::Task;
use turn::Turn;

/// What [`turn`], [`bell`] and [`reached`] are made of; models of them are made of other things.
mod sync {
    pub(crate) use std::sync::Mutex;
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
    pub(crate) use std::thread::yield_now;

    pub(crate) use crate::os::futex::Word;

    /// How often somebody yields to another thread that is about to say something.
    pub(crate) const PATIENCE: u32 = 100_000;
}

use crate::context::Context;
use crate::graph::capture::Captured;
use crate::graph::{Model, Update};
use crate::os::lock::QuickLock;
use crate::registry::Registry;

/// All streams of the process.
pub(crate) static STREAMS: Registry<Stream> = Registry::new(0xd1);

/// See the module.
#[derive(Default)]
pub(crate) struct Stream {
    queue: QuickLock<VecDeque<Task>>,
    submitted: AtomicU64,
    /// Tasks of earlier streams at this place.
    before: AtomicU64,
    done: AtomicU64,
    /// Lazy schedule: so many tasks somebody waits for.
    released: AtomicU64,
    turn: Turn,
    /// How often its tasks were dropped; changes under the lock of the queue.
    drops: AtomicU64,
    /// How often tasks were dropped that somebody may wait for.
    lost: AtomicU64,
    /// The last ones went with all of the device.
    lost_with_device: AtomicBool,
    /// The task being run moves bytes.
    moving: AtomicBool,
    /// It is done piece by piece: it ends with the piece when its tasks are dropped.
    piecewise: AtomicBool,
    /// For threads that sleep until `done` changes, and for streams that wait for that.
    bell: Bell,
    /// What it comes after, and who waits for it.
    known: order::Known,
    /// First error of a task, until a synchronisation reports it.
    error: AtomicI32,
    /// Where it belongs.
    home: QuickLock<Home>,
    /// As in `home`, for a look without its lock.
    is_default: AtomicBool,
    pub(crate) flags: AtomicU32,
    pub(crate) priority: AtomicU32,
    pub(crate) id: AtomicU32,
    failure_mode: AtomicU8,
    /// Why it takes no tasks any more; 0: it does. See `failure`.
    halted: AtomicI32,
    /// [`RUNS`], [`CAPTURED`], [`SEALED`] or [`UPDATES`].
    keeps: AtomicU8,
    /// Where its tasks go instead of being run.
    kept: QuickLock<Kept>,
    pub(crate) overflow: AtomicU32,
    pub(crate) tag: AtomicU32,
    pub(crate) cache_info: AtomicU32,
    pub(crate) core_limits: crate::core_limits::CoreLimits,
    /// Thread that runs its callbacks (aclrtSubscribeReport); 0: none.
    pub(crate) subscriber: AtomicU64,
    /// Which kind of callbacks it has used; the two cannot be mixed.
    pub(crate) callback_kind: AtomicU8,
}

/// A stream runs its tasks.
const RUNS: u8 = 0;
/// It gives them to a model.
const CAPTURED: u8 = 1;
/// It collects them for an update of a task group.
const UPDATES: u8 = 2;

/// A model has what it was given, and takes no more.
const SEALED: u8 = 3;

/// What a stream does with its tasks when it does not run them.
#[derive(Default)]
enum Kept {
    #[default]
    Nowhere,
    Model(Captured),
    Update(Update),
}

/// The context of a stream.
#[derive(Clone, Copy, Default)]
pub(crate) struct Home {
    pub(crate) context: Option<&'static Context>,
    pub(crate) generation: u64,
    pub(crate) is_default: bool,
}

impl Stream {
    pub(crate) fn home(&self) -> Home {
        *self.home.lock()
    }

    pub(crate) fn set_home(&self, home: Home) {
        *self.home.lock() = home;
        self.is_default.store(home.is_default, Ordering::Relaxed);
    }

    /// Tasks submitted so far.
    #[inline]
    pub(crate) fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Acquire)
    }

    /// Whether the first `target` tasks are done.
    #[inline]
    pub(crate) fn reached(&self, target: u64) -> bool {
        self.done.load(Ordering::SeqCst) >= target
    }

    /// Lets everything submitted so far run (lazy schedule).
    fn release_queued(&self) {
        self.released.store(self.submitted(), Ordering::Release);
    }

    /// How many tasks may run (lazy schedule).
    fn released(&self) -> u64 {
        self.released.load(Ordering::Acquire)
    }

    /// Whether everything submitted is done.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.reached(self.submitted())
    }

    /// Whether it keeps its tasks for somebody.
    #[inline]
    pub(crate) fn keeps_tasks(&self) -> bool {
        self.keeps.load(Ordering::Acquire) != RUNS
    }

    /// Whether a model gets its tasks.
    #[inline]
    pub(crate) fn is_captured(&self) -> bool {
        matches!(self.keeps.load(Ordering::Acquire), CAPTURED | SEALED)
    }

    /// Whether it belongs to a model that takes no more tasks of it.
    #[inline]
    pub(crate) fn is_sealed(&self) -> bool {
        self.keeps.load(Ordering::Acquire) == SEALED
    }

    /// Whether the model that gets its tasks takes more of them.
    pub(crate) fn seal(&self, model: &Arc<Model>, sealed: bool) {
        let kept = self.kept.lock();
        if matches!(&*kept, Kept::Model(captured) if Arc::ptr_eq(&captured.model, model)) {
            let how = if sealed { SEALED } else { CAPTURED };
            self.keeps.store(how, Ordering::Release);
        }
    }

    /// The model that gets its tasks.
    pub(crate) fn captured(&self) -> Option<Captured> {
        if !self.is_captured() {
            return None;
        }
        match &*self.kept.lock() {
            Kept::Model(captured) => Some(captured.clone()),
            _ => None,
        }
    }

    fn keep(&self, what: Kept, how: u8) -> bool {
        let mut kept = self.kept.lock();
        if !matches!(*kept, Kept::Nowhere) {
            return false;
        }
        *kept = what;
        self.keeps.store(how, Ordering::Release);
        true
    }

    /// Gives its tasks to a model from now on. False: it keeps them for somebody already.
    pub(crate) fn begin_capture(&self, captured: Captured) -> bool {
        self.keep(Kept::Model(captured), CAPTURED)
    }

    /// Runs its tasks again, unless another model gets them by now: the place of a stream that ended may be
    /// that of a new one.
    pub(crate) fn end_capture(&self, model: &Arc<Model>) {
        let mut kept = self.kept.lock();
        if matches!(&*kept, Kept::Model(captured) if Arc::ptr_eq(&captured.model, model)) {
            self.keeps.store(RUNS, Ordering::Release);
            let model = std::mem::take(&mut *kept);
            drop(kept);
            drop(model);
        }
    }

    /// Collects its tasks for an update from now on. False: it keeps them for somebody already.
    pub(crate) fn begin_update(&self, update: Update) -> bool {
        self.keep(Kept::Update(update), UPDATES)
    }

    /// Does something with the update that it collects.
    pub(crate) fn with_update<R>(&self, act: impl FnOnce(Option<&mut Update>) -> R) -> R {
        match &mut *self.kept.lock() {
            Kept::Update(update) => act(Some(update)),
            _ => act(None),
        }
    }

    /// Runs its tasks again; what it collected.
    pub(crate) fn end_update(&self) -> Option<Update> {
        let mut kept = self.kept.lock();
        if !matches!(*kept, Kept::Update(_)) {
            return None;
        }
        self.keeps.store(RUNS, Ordering::Release);
        match std::mem::take(&mut *kept) {
            Kept::Update(update) => Some(update),
            _ => None,
        }
    }

    /// Device it belongs to.
    pub(crate) fn device(&self) -> Option<usize> {
        self.home().context.map(Context::device_index)
    }

    /// Remembers the first error, for whoever synchronises.
    pub(crate) fn note_error(&self, code: i32) {
        let _ = self
            .error
            .compare_exchange(0, code, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// A task failed: remembers the first error, and may stop the stream.
    pub(crate) fn fail(&self, code: i32) {
        self.note_error(code);
        exception::tell(self, code);
        failure::after(self, code);
    }

    /// Whether the last tasks that it lost went with all of its device.
    pub(crate) fn was_lost_with_device(&self) -> bool {
        self.lost_with_device.load(Ordering::SeqCst)
    }

    /// Whether a failure stopped it: its tasks are dropped, not run.
    #[inline]
    pub(crate) fn has_stopped(&self) -> bool {
        self.halted.load(Ordering::SeqCst) != 0
    }

    /// The first error since it was last taken; 0 when all is well.
    pub(crate) fn take_error(&self) -> i32 {
        match self.error.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.error.swap(0, Ordering::AcqRel),
        }
    }
}
