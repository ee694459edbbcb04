//! Two threads on two cores against one: random replacement of mixed sizes, each thread among blocks
//! of its own.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::api::Api;
use crate::bench::Bench;
use crate::clock::interruptions;
use crate::replacement::{Replacement, Sizes};
use crate::rounds::{Samples, Side};
use crate::row::{Row, Unit};
use crate::subjects::{DeviceMemory, Malloc, Subject};

/// How long a round takes: short, so that it is often undisturbed.
const ROUND: Duration = Duration::from_millis(2);
/// Pairs between two looks at the clock.
const CHUNK: usize = 1 << 10;
/// Chunks that are drawn beforehand, more than a round takes.
const CHUNKS: usize = 1 << 8;
/// How often a round is repeated until nobody was disturbed.
const TRIES: usize = 50;
const WORKERS: usize = 2;

/// Who works in a round.
#[derive(Clone, Copy)]
enum Job {
    Cannery,
    Mimalloc,
}

/// A round for a worker: what to do, with how many others, for how long.
struct Order {
    job: Job,
    ready: &'static AtomicU32,
    workers: u32,
    time: Duration,
}

struct Worker {
    orders: Option<Sender<Order>>,
    rates: Receiver<Option<f64>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn new(api: Api, core: usize, live: usize) -> Worker {
        let (orders, inbox) = channel::<Order>();
        let (outbox, rates) = channel();
        let thread = thread::spawn(move || {
            stay_on(core);
            api.set_device().expect("device 0");
            let seed = 10 + core as u64;
            let mut ours = Replacement::new(DeviceMemory(api), live, Sizes::Mixed, seed);
            let mut mimalloc = Replacement::new(Malloc::mimalloc(), live, Sizes::Mixed, seed);
            // Ready when everything is set up.
            let mut answer = outbox.send(None);
            while let (Ok(()), Ok(order)) = (answer, inbox.recv()) {
                let rate = match order.job {
                    Job::Cannery => work(&mut ours, &order),
                    Job::Mimalloc => work(&mut mimalloc, &order),
                };
                answer = outbox.send(rate);
            }
        });
        Worker {
            orders: Some(orders),
            rates,
            thread: Some(thread),
        }
    }

    fn order(&self, order: Order) {
        let orders = self.orders.as_ref().expect("at work");
        orders.send(order).expect("the worker lives");
    }

    fn rate(&self) -> Option<f64> {
        self.rates.recv().expect("the worker lives")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // A panic of it has been printed already.
            let _ = thread.join();
        }
    }
}

/// Pairs a microsecond; `None` when the system took the core away meanwhile.
fn work(replacement: &mut Replacement<impl Subject>, order: &Order) -> Option<f64> {
    replacement.draw(CHUNKS * CHUNK);
    order.ready.fetch_add(1, Ordering::AcqRel);
    while order.ready.load(Ordering::Acquire) < order.workers {
        std::hint::spin_loop();
    }
    let (begun, before) = (Instant::now(), interruptions());
    let mut done = 0;
    while done < CHUNKS && begun.elapsed() < order.time {
        replacement.play(done * CHUNK..(done + 1) * CHUNK);
        done += 1;
    }
    let took = begun.elapsed();
    let undisturbed = interruptions() == before;
    undisturbed.then(|| (done * CHUNK) as f64 * 1e3 / took.as_nanos() as f64)
}

fn stay_on(core: usize) {
    // SAFETY: an empty set is valid, and the calls only read or write it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_ZERO(&mut set);
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
}

/// The first cores that this process may use.
fn cores() -> Vec<usize> {
    // SAFETY: as in `stay_on`.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
        (0..libc::CPU_SETSIZE as usize)
            .filter(|&core| libc::CPU_ISSET(core, &set))
            .take(WORKERS)
            .collect()
    }
}

pub(crate) fn run(bench: &mut Bench<'_>) {
    for (live, text) in [(1 << 10, "1k"), (1 << 14, "16k")] {
        let name = format!("mixed, {text} live each: two threads against one");
        if !bench.wants(&name) {
            continue;
        }
        let cores = cores();
        if cores.len() < WORKERS {
            bench.row(Row::not_run(name, "one core"));
            continue;
        }
        measure(bench, &name, live, &cores);
    }
}

fn measure(bench: &mut Bench<'_>, name: &str, live: usize, cores: &[usize]) {
    let workers: Vec<Worker> = cores
        .iter()
        .map(|&core| Worker::new(bench.api, core, live))
        .collect();
    for worker in &workers {
        worker.rate();
    }
    let together = |job: Job, count: usize| -> Option<f64> {
        // Leaked: four bytes a round.
        let ready: &'static AtomicU32 = Box::leak(Box::default());
        for worker in &workers[..count] {
            worker.order(Order {
                job,
                ready,
                workers: count as u32,
                time: ROUND,
            });
        }
        // All answers are taken, also when one is missing.
        let rates: Vec<_> = workers[..count].iter().map(Worker::rate).collect();
        rates.into_iter().sum()
    };
    // One thread and two threads in one round: whatever slows the machine slows both.
    let disturbed = Cell::new(0);
    let scale = |job: Job| {
        for _ in 0..TRIES {
            if let (Some(two), Some(one)) = (together(job, 2), together(job, 1)) {
                return two / one;
            }
        }
        disturbed.set(disturbed.get() + 1);
        f64::NAN
    };
    let sides: Vec<Side<'_>> = vec![
        Box::new(|| scale(Job::Cannery)),
        Box::new(|| scale(Job::Mimalloc)),
    ];
    let [ours, mimalloc]: [Samples; 2] = bench
        .take_turns(sides)
        .try_into()
        .expect("one for each side");
    if disturbed.get() > 0 {
        let reason = "other programs want both cores, and no round was undisturbed";
        bench.row(Row::not_run(name, reason));
        return;
    }
    bench.row(
        Row::new(name, Unit::Times, ours)
            .against("mimalloc", mimalloc)
            .at_least(1.7)
            .note(
                "Pairs a second of two threads together, by those of one thread alone, in the same round. Rounds \
                 in which the system took a core away are repeated. \
                 mimalloc's shows what the machine has to give.",
            ),
    );
}
