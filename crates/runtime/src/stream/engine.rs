//! Who runs the tasks, and when.

mod ending;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Stream;
use super::bell::Bell;
use super::last_task;
use super::task::{Outcome, Task};
use super::timing;
use super::turn::Rest;
use crate::os;

pub(crate) use ending::{drop_tasks, finish_moving, let_go_of, stop_task};

/// When runners run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// In the background, in submission order.
    Fifo,
    /// Inside submit.
    Eager,
    /// When somebody waits.
    Lazy,
    /// One task at a time in an order that the seed decides.
    Random(u64),
}

impl std::fmt::Display for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Schedule::Fifo => write!(f, "fifo"),
            Schedule::Eager => write!(f, "eager"),
            Schedule::Lazy => write!(f, "lazy"),
            Schedule::Random(seed) => write!(f, "random:{seed}"),
        }
    }
}

/// How often blocked streams that nobody will bring on are looked at.
const LOOK: Duration = Duration::from_micros(100);
/// A worker without work ends after so long.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes of stack of a worker: host functions run there, those in Python too.
const STACK: usize = 8 << 20;
/// Turns of the loop before somebody without work sleeps.
const SPINS: u32 = 2_000;
/// Pieces of one task that are done before other streams have their turn.
const PIECES: u32 = 64;
/// For so many of them the worker that looks for work leaves it to whoever submitted it. Programs often wait
/// at once, and whoever waits runs small tasks himself in less time than it takes to hand them over: some
/// microseconds, little beside what a worker that sleeps takes to wake.
const HEAD_START: u32 = 200;
/// Most workers, those in host functions included.
const MOST_WORKERS: usize = 512;

struct Engine {
    state: Mutex<State>,
    bell: Condvar,
    /// Streams in the run queue: lets idle workers spin without the lock.
    waiting: AtomicUsize,
    /// Somebody waits for, or asks about, something that he cannot bring about himself: no head start.
    wanted: AtomicBool,
    mode: AtomicU8,
}

struct State {
    ready: VecDeque<&'static Stream>,
    /// Blocked streams that have to be looked at again.
    pollers: Vec<&'static Stream>,
    /// Held by the schedule (lazy, random), in order of submission.
    held: Vec<&'static Stream>,
    random: super::random::Random,
    workers: usize,
    idle: usize,
    /// Workers inside a host function.
    busy_outside: usize,
    /// A worker without work that has not gone to sleep yet; one at a time.
    spinner: bool,
}

static ENGINE: Engine = Engine {
    state: Mutex::new(State {
        ready: VecDeque::new(),
        pollers: Vec::new(),
        held: Vec::new(),
        random: super::random::Random::new(0),
        workers: 0,
        idle: 0,
        busy_outside: 0,
        spinner: false,
    }),
    bell: Condvar::new(),
    waiting: AtomicUsize::new(0),
    wanted: AtomicBool::new(false),
    mode: AtomicU8::new(FIFO),
};

const FIFO: u8 = 0;
const EAGER: u8 = 1;
const LAZY: u8 = 2;
const RANDOM: u8 = 3;

/// Streams that have something to do.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

/// Turns of the random schedule, one at a time.
/// A forked child takes the next one: a thread that does not exist there may hold the one before.
static TURNS: [Mutex<()>; GENERATIONS] = [const { Mutex::new(()) }; GENERATIONS];
/// Forks on the way to this process.
static GENERATION: AtomicUsize = AtomicUsize::new(0);
const GENERATIONS: usize = 64;
/// Workers that may run tasks at a time, set at the start.
static WORKERS: AtomicU32 = AtomicU32::new(2);

fn state() -> MutexGuard<'static, State> {
    ENGINE.state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[inline]
fn mode() -> u8 {
    ENGINE.mode.load(Ordering::Relaxed)
}

/// Whether work runs inside submit.
pub(crate) fn is_eager() -> bool {
    mode() == EAGER
}

/// Sets the schedule; before the first stream exists.
pub(crate) fn set_schedule(schedule: Schedule) {
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    WORKERS.store(cores.clamp(2, 64) as u32, Ordering::Relaxed);
    let number = match schedule {
        Schedule::Fifo => FIFO,
        Schedule::Eager => EAGER,
        Schedule::Lazy => LAZY,
        Schedule::Random(seed) => {
            state().random = super::random::Random::new(seed);
            RANDOM
        }
    };
    ENGINE.mode.store(number, Ordering::Release);
}

/// Appends a task.
#[inline]
pub(crate) fn submit(stream: &'static Stream, task: Task) {
    if stream.keeps_tasks() {
        return keep(stream, task);
    }
    submit_now(stream, task);
}

/// As [`submit`], for a task that is no part of what the program queues: it is not captured.
#[inline]
pub(crate) fn submit_now(stream: &'static Stream, task: Task) {
    let outside = task.is_awaited_outside();
    {
        let mut queue = stream.queue.lock();
        queue.push_back(task);
        let number = stream.submitted.load(Ordering::Relaxed) + 1;
        stream.submitted.store(number, Ordering::Release);
        last_task::note(stream, number - stream.before.load(Ordering::Relaxed));
    }
    if stream.turn.work_arrived() {
        ACTIVE.fetch_add(1, Ordering::SeqCst);
        if mode() == EAGER {
            run(stream, true);
        } else {
            enqueue(stream);
        }
    }
    if outside {
        awaited_outside();
    }
}

/// Somebody may wait for queued work whose waiting the runtime does not see.
pub(crate) fn awaited_outside() {
    if matches!(mode(), LAZY | RANDOM) {
        super::nudge::watch();
    }
}

/// The stream keeps its tasks instead of running them.
#[cold]
fn keep(stream: &'static Stream, task: Task) {
    if stream.is_captured() {
        crate::graph::capture::take(stream, task);
    } else {
        crate::graph::update::take(stream, task);
    }
}

/// Puts a stream with work where runners find it.
pub(crate) fn enqueue(stream: &'static Stream) {
    if !stream.turn.list() {
        return;
    }
    let mut state = state();
    if matches!(mode(), LAZY | RANDOM) {
        state.held.push(stream);
        ENGINE.bell.notify_all();
        return;
    }
    make_ready(&mut state, stream);
}

fn make_ready(state: &mut State, stream: &'static Stream) {
    state.ready.push_back(stream);
    ENGINE.waiting.fetch_add(1, Ordering::Release);
    call_worker(state);
}

fn call_worker(state: &mut State) {
    if state.spinner {
        // It is looking already, and calls the next one when it finds more than it takes.
        return;
    }
    if state.idle > 0 {
        ENGINE.bell.notify_one();
        return;
    }
    let able = state.workers - state.busy_outside.min(state.workers);
    if able < WORKERS.load(Ordering::Relaxed) as usize && state.workers < MOST_WORKERS {
        state.workers += 1;
        if !os::thread::spawn_quiet("cannery-worker", STACK, work) {
            // Whoever waits for the stream runs it.
            state.workers -= 1;
        }
    }
}

/// A blocked stream may go on: called by what it was waiting for.
pub(crate) fn bring_on(stream: &'static Stream) {
    if stream.turn.bring_on() {
        enqueue(stream);
    }
}

/// Something in memory changed: streams that wait for values look at once.
pub(crate) fn look_again() {
    let pollers = std::mem::take(&mut state().pollers);
    for stream in pollers {
        bring_on(stream);
    }
}

/// Runs the tasks of a stream until it has none, is blocked, or (for helpers) needs a worker.
/// Returns at once when another runner has it. `helper`: the caller is a thread of the program.
pub(crate) fn run(stream: &'static Stream, helper: bool) {
    run_tasks(stream, helper, u32::MAX);
}

fn run_tasks(stream: &'static Stream, helper: bool, most: u32) {
    if !stream.turn.take() {
        return;
    }
    let mut left = most;
    let mut pieces = PIECES;
    let empty = loop {
        if stream.turn.is_blocked() {
            break false;
        }
        if left == 0 || (mode() == LAZY && stream.reached(stream.released())) {
            // With no task left it has to become idle, or the next one would not list it.
            break stream.queue.lock().is_empty();
        }
        let (task, drops) = {
            let mut queue = stream.queue.lock();
            let drops = stream.drops.load(Ordering::Relaxed);
            match queue.front() {
                None => break true,
                Some(task) if helper && task.needs_worker() => break false,
                Some(task) => {
                    // Under the lock of the queue: see `let_go_of`.
                    stream.moving.store(task.moves_bytes(), Ordering::SeqCst);
                    let piecewise = matches!(task, Task::Composite(_));
                    stream.piecewise.store(piecewise, Ordering::Relaxed);
                    (queue.pop_front(), drops)
                }
            }
        };
        let Some(task) = task else { break true };
        left -= 1;
        let outside = task.needs_worker();
        crate::log::trace_task(stream.id.load(Ordering::Relaxed), task.name());
        // Before the task can register with what it waits for: whoever brings it on sees it.
        if stream.turn.begin() {
            ACTIVE.fetch_add(1, Ordering::SeqCst);
        }
        if stream.has_stopped() {
            task.drop_unrun();
            stream.moving.store(false, Ordering::Release);
            stream.turn.end();
            if super::failure::is_aborting(stream) {
                count_lost(stream, 1);
            } else {
                count_done(stream, 1);
            }
            continue;
        }
        let cost = timing::cost(&task).map(|cost| (Instant::now(), cost));
        let calls_program = outside;
        // Time that passes outside of the runtime: another worker takes over meanwhile.
        let outside = outside || (!helper && cost.is_some());
        if outside {
            leave_for_host_function();
        }
        let outcome = if calls_program {
            super::device_abort::inside(stream, || task.run(stream))
        } else {
            task.run(stream)
        };
        if let Some((began, cost)) = cost {
            timing::stretch(began, cost);
        }
        stream.moving.store(false, Ordering::Release);
        if outside {
            return_from_host_function();
        }
        match outcome {
            Outcome::Done => {
                stream.turn.end();
                count_done(stream, 1);
            }
            Outcome::Counted => stream.turn.end(),
            Outcome::Blocked(task) => {
                if put_back(stream, task, drops) {
                    break false;
                }
            }
            Outcome::Again(task) => {
                if put_back(stream, task, drops) {
                    stream.turn.end();
                    pieces -= 1;
                    if pieces == 0 {
                        break false;
                    }
                }
            }
            Outcome::LookAgain(task) => {
                if !put_back(stream, task, drops) {
                    continue;
                }
                let mut state = state();
                state.pollers.push(stream);
                // Somebody has to look: a worker.
                call_worker(&mut state);
                break false;
            }
        }
    };
    let rest = stream
        .turn
        .give_back(empty, || !stream.queue.lock().is_empty());
    settle(stream, rest);
}

/// After the token was given back.
fn settle(stream: &'static Stream, rest: Rest) {
    if rest.active != 0 {
        ACTIVE.fetch_add(rest.active as usize, Ordering::SeqCst);
    }
    if rest.list {
        enqueue(stream);
    }
}

/// A task that waits is the first one again. False: the tasks of the stream were dropped meanwhile,
/// and this one with them.
fn put_back(stream: &'static Stream, task: Task, drops: u64) -> bool {
    {
        let mut queue = stream.queue.lock();
        if stream.drops.load(Ordering::Relaxed) == drops {
            queue.push_front(task);
            return true;
        }
    }
    // Who waited when the others were dropped has been told then.
    let told = stream.piecewise.swap(false, Ordering::Relaxed);
    task.drop_unrun();
    stream.turn.end();
    if told {
        count_done(stream, 1);
    } else {
        count_lost(stream, 1);
    }
    false
}

/// Counts finished tasks and wakes whoever waits for them.
pub(super) fn count_done(stream: &Stream, tasks: u64) {
    stream.done.fetch_add(tasks, Ordering::SeqCst);
    if stream.bell.ring() {
        super::order::call_watchers(stream);
    }
}

/// Counts dropped tasks as done; whoever waits for them is told that they are lost.
fn count_lost(stream: &Stream, tasks: u64) {
    stream.lost.fetch_add(1, Ordering::SeqCst);
    count_done(stream, tasks);
}

fn leave_for_host_function() {
    let mut state = state();
    state.busy_outside += 1;
    if !state.ready.is_empty() {
        call_worker(&mut state);
    }
}

fn return_from_host_function() {
    state().busy_outside -= 1;
}

fn work() {
    let mut worked = Instant::now();
    loop {
        let mut guard = state();
        if guard.ready.is_empty() && !guard.spinner && worked.elapsed() < LOOK {
            // One worker stays awake for a moment, so that the next submission need not wake one.
            guard.spinner = true;
            drop(guard);
            spin_for_work();
            guard = state();
            guard.spinner = false;
        }
        if let Some(stream) = guard.ready.pop_front() {
            stream.turn.unlist();
            ENGINE.waiting.fetch_sub(1, Ordering::Release);
            if !guard.ready.is_empty() {
                call_worker(&mut guard);
            }
            drop(guard);
            run(stream, false);
            worked = Instant::now();
            continue;
        }
        let polling = !guard.pollers.is_empty() && !matches!(mode(), LAZY | RANDOM);
        if !polling && worked.elapsed() > PATIENCE {
            guard.workers -= 1;
            return;
        }
        guard.idle += 1;
        let limit = if polling { LOOK } else { PATIENCE };
        let (mut guard, _) = ENGINE
            .bell
            .wait_timeout(guard, limit)
            .unwrap_or_else(PoisonError::into_inner);
        guard.idle -= 1;
        if polling {
            let pollers = std::mem::take(&mut guard.pollers);
            drop(guard);
            pollers.into_iter().for_each(bring_on);
        }
    }
}

/// Looks at the count of waiting streams for a while. A single one is left alone at first, unless somebody
/// wants something done; several are work for several threads.
fn spin_for_work() {
    ENGINE.wanted.store(false, Ordering::Relaxed);
    let mut left = HEAD_START;
    for _ in 0..SPINS {
        match ENGINE.waiting.load(Ordering::Acquire) {
            0 => {}
            1 if left > 0 && !ENGINE.wanted.load(Ordering::Relaxed) => left -= 1,
            _ => return,
        }
        std::hint::spin_loop();
    }
}

/// See [`Engine::wanted`].
#[inline]
fn want() {
    if !ENGINE.wanted.load(Ordering::Relaxed) {
        ENGINE.wanted.store(true, Ordering::Relaxed);
    }
}

/// Somebody looks whether something is over. If it is not, the schedule makes progress after the look, so
/// that looking again and again ends, and what a single look sees does not depend on it.
pub(crate) fn look(over: impl FnOnce() -> bool) -> bool {
    let over = over();
    if !over {
        make_progress();
        want();
    }
    over
}

/// Somebody waits for something: lets the schedule make progress. With a random schedule one task
/// is done. False: nothing could be done now.
pub(crate) fn make_progress() -> bool {
    match mode() {
        LAZY => {
            let mut state = state();
            let held = std::mem::take(&mut state.held);
            let only_pollers = held.is_empty() && !state.pollers.is_empty();
            let any = !held.is_empty() || only_pollers;
            for stream in held {
                // What is queued from now on waits for the next one who waits.
                stream.release_queued();
                make_ready(&mut state, stream);
            }
            let pollers = std::mem::take(&mut state.pollers);
            drop(state);
            pollers.into_iter().for_each(bring_on);
            if only_pollers {
                std::thread::sleep(LOOK);
            }
            any
        }
        RANDOM => one_random_task(),
        _ => false,
    }
}

fn one_random_task() -> bool {
    let turn = &TURNS[GENERATION.load(Ordering::Relaxed) % GENERATIONS];
    let taken = turn.lock().unwrap_or_else(PoisonError::into_inner);
    let stream = {
        let mut state = state();
        if state.held.is_empty() {
            let pollers = std::mem::take(&mut state.pollers);
            drop(state);
            let any = !pollers.is_empty();
            pollers.into_iter().for_each(bring_on);
            drop(taken);
            if any {
                // What they wait for comes from elsewhere, from another process perhaps.
                std::thread::sleep(LOOK);
            }
            return any;
        }
        let count = state.held.len() as u64;
        let at = state.random.below(count) as usize;
        let stream = state.held.remove(at);
        stream.turn.unlist();
        stream
    };
    let outside = stream.queue.lock().front().is_some_and(Task::needs_worker);
    if outside {
        run_outside(stream);
    } else {
        run_tasks(stream, true, 1);
    }
    true
}

/// Runs one host function on a thread of the runtime while the caller waits: still one at a time. A
/// function that sleeps long, perhaps because it waits for its caller, is not waited for; one that is
/// slow because the machine is busy is.
fn run_outside(stream: &'static Stream) {
    const GRACE: Duration = Duration::from_millis(20);
    const MOST: u32 = 100;
    let (done, over) = std::sync::mpsc::channel();
    let id = Arc::new(AtomicI32::new(0));
    let run = {
        let id = Arc::clone(&id);
        move || {
            id.store(os::thread::id(), Ordering::Release);
            run_tasks(stream, false, 1);
            let _ = done.send(());
        }
    };
    let thread = std::thread::Builder::new()
        .name("cannery-worker".to_owned())
        .stack_size(STACK);
    if thread.spawn(run).is_err() {
        // No thread to be had now: the stream stays held.
        enqueue(stream);
        return;
    }
    for _ in 0..MOST {
        if over.recv_timeout(GRACE).is_ok() {
            return;
        }
        let id = id.load(Ordering::Acquire);
        if id != 0 && os::thread::sleeps(id) {
            return;
        }
    }
}

/// Waits until the first `target` tasks of a stream are done. False: `until` came first.
pub(crate) fn wait_for(stream: &'static Stream, target: u64, until: Option<Instant>) -> bool {
    if stream.reached(target) {
        return true;
    }
    sleep_until(&|| stream.reached(target), until, stream, &stream.bell)
}

/// How a wait for the tasks of a stream ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waited {
    /// They are done.
    Done,
    /// Tasks of the stream were dropped meanwhile.
    Lost,
    /// The time was over.
    TooLong,
}

/// As [`wait_for`], for those who have to know what became of the tasks.
pub(crate) fn wait_or_lose(stream: &'static Stream, target: u64, until: Option<Instant>) -> Waited {
    if stream.reached(target) {
        return Waited::Done;
    }
    let before = stream.lost.load(Ordering::SeqCst);
    let lost = || stream.lost.load(Ordering::SeqCst) != before;
    let over = || stream.reached(target) || lost();
    let ended = sleep_until(&over, until, stream, &stream.bell);
    match ended {
        false => Waited::TooLong,
        true if lost() => Waited::Lost,
        true => Waited::Done,
    }
}

/// Waits until `over` holds; `bell` rings when it may. The waiter lends `stream` a hand.
pub(crate) fn sleep_until(
    over: &dyn Fn() -> bool,
    until: Option<Instant>,
    stream: &'static Stream,
    bell: &Bell,
) -> bool {
    let mut spins = 0u32;
    loop {
        if over() {
            return true;
        }
        let expired = until.is_some_and(|until| Instant::now() >= until);
        if expired {
            return false;
        }
        let held = matches!(mode(), LAZY | RANDOM);
        if held && make_progress() {
            spins = 0;
            continue;
        }
        if !held && stream.turn.is_queued() {
            run(stream, true);
        }
        if over() {
            return true;
        }
        want();
        if spins < SPINS {
            spins += 1;
            std::hint::spin_loop();
            continue;
        }
        bell.sleep(over, || {
            let limit = until.map(|until| until.saturating_duration_since(Instant::now()));
            // What brings it on may be another thread's submission.
            let look = || limit.map_or(LOOK, |limit| limit.min(LOOK));
            if held { Some(look()) } else { limit }
        });
    }
}

/// In a forked child: workers stayed with the parent.
pub(crate) fn forget() {
    super::timeouts::forget();
    super::nudge::forget();
    GENERATION.fetch_add(1, Ordering::Relaxed);
    super::STREAMS.end_all();
    crate::graph::label::forget();
    super::event::EVENTS.end_all();
    super::notify::NOTIFIES.end_all();
    super::count_notify::COUNTERS.end_all();
    crate::memory::stream_ordered_pool::POOLS.end_all();
    if let Some(mut state) = crate::patient::lock(&ENGINE.state) {
        state.ready.clear();
        state.pollers.clear();
        state.held.clear();
        (state.workers, state.idle, state.busy_outside) = (0, 0, 0);
        state.spinner = false;
        ENGINE.waiting.store(0, Ordering::Release);
        ACTIVE.store(0, Ordering::Release);
    }
}

/// Whether any stream has something to do.
#[inline]
pub(crate) fn any_active() -> bool {
    ACTIVE.load(Ordering::SeqCst) > 0
}
