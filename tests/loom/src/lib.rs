//! The run protocol of streams (`crates/runtime/src/stream/turn.rs`, the file itself) under every
//! interleaving of the threads that meet at a stream: whoever submits, workers, whoever waits and lends
//! a hand, whoever brings a blocked stream on.
//!
//! The promise that is checked: when all of them have gone, and the run queue has been worked off, no
//! task is left, every task ran once, one runner at a time, and the stream is idle, once.
#![cfg(test)]

mod buffers;
mod event;

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8, Ordering};
}

#[path = "../../../crates/runtime/src/stream/turn.rs"]
mod turn;

use std::collections::VecDeque;

use loom::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::SeqCst};
use loom::sync::{Arc, Mutex};
use loom::thread;
use turn::Turn;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Task {
    /// Does something.
    Work,
    /// Waits for the event.
    Wait,
    /// A thread of the program must not run it.
    ForWorkers,
    /// Does a piece, and is the first task again so many times.
    Pieces(u32),
}

/// A stream, the run queue, and one event, as the engine has them.
#[derive(Default)]
struct World {
    turn: Turn,
    tasks: Mutex<VecDeque<Task>>,
    /// How often the tasks were dropped; changes under the lock of the tasks.
    drops: AtomicU32,
    /// How often the stream is in the run queue.
    ready: Mutex<u32>,
    active: AtomicI32,
    ran: AtomicU32,
    inside: AtomicBool,
    /// Fired, and who waits for it.
    event: Mutex<(bool, bool)>,
}

impl World {
    fn submit(&self, task: Task) {
        self.tasks.lock().expect("lock").push_back(task);
        if self.turn.work_arrived() {
            self.active.fetch_add(1, SeqCst);
            self.enqueue();
        }
    }

    fn enqueue(&self) {
        if self.turn.list() {
            let mut ready = self.ready.lock().expect("lock");
            *ready += 1;
            assert_eq!(*ready, 1, "listed twice");
        }
    }

    /// A worker looks at the run queue once. False: it was empty.
    fn work(&self, most: u32) -> bool {
        {
            let mut ready = self.ready.lock().expect("lock");
            if *ready == 0 {
                return false;
            }
            *ready -= 1;
            self.turn.unlist();
        }
        self.run(false, most);
        true
    }

    fn works(&self, most: u32) {
        let _found = self.work(most);
    }

    /// A thread that waits for the stream looks at it once.
    fn help(&self) {
        if self.turn.is_queued() {
            self.run(true, u32::MAX);
        }
    }

    fn run(&self, helper: bool, most: u32) {
        if !self.turn.take() {
            return;
        }
        assert!(!self.inside.swap(true, SeqCst), "two runners");
        let mut left = most;
        let empty = loop {
            if self.turn.is_blocked() {
                break false;
            }
            if left == 0 {
                break self.tasks.lock().expect("lock").is_empty();
            }
            let (task, drops) = {
                let mut tasks = self.tasks.lock().expect("lock");
                let drops = self.drops.load(SeqCst);
                match tasks.front() {
                    None => break true,
                    Some(Task::ForWorkers) if helper => break false,
                    Some(_) => (tasks.pop_front(), drops),
                }
            };
            let Some(task) = task else { break true };
            left -= 1;
            if self.turn.begin() {
                self.active.fetch_add(1, SeqCst);
            }
            if task == Task::Wait && !self.event_is_over() {
                let mut tasks = self.tasks.lock().expect("lock");
                if self.drops.load(SeqCst) == drops {
                    tasks.push_front(task);
                    break false;
                }
            }
            if let Task::Pieces(more @ 1..) = task {
                let mut tasks = self.tasks.lock().expect("lock");
                if self.drops.load(SeqCst) == drops {
                    tasks.push_front(Task::Pieces(more - 1));
                    drop(tasks);
                    self.turn.end();
                    continue;
                }
            }
            self.turn.end();
            self.ran.fetch_add(1, SeqCst);
        };
        self.inside.store(false, SeqCst);
        self.give_back(empty);
    }

    fn give_back(&self, empty: bool) {
        let rest = self
            .turn
            .give_back(empty, || !self.tasks.lock().expect("lock").is_empty());
        self.active.fetch_add(rest.active as i32, SeqCst);
        if rest.list {
            self.enqueue();
        }
    }

    /// Gives the token back after tasks were dropped.
    fn leave(&self) {
        if self.turn.unblock() {
            self.active.fetch_sub(1, SeqCst);
        }
        self.give_back(true);
    }

    /// Registers the stream when it is not.
    fn event_is_over(&self) -> bool {
        let mut event = self.event.lock().expect("lock");
        event.1 = !event.0;
        event.0
    }

    fn fire(&self) {
        let waits = {
            let mut event = self.event.lock().expect("lock");
            event.0 = true;
            std::mem::take(&mut event.1)
        };
        if waits && self.turn.bring_on() {
            self.enqueue();
        }
    }

    fn drop_tasks(&self) {
        let dropped = {
            let mut tasks = self.tasks.lock().expect("lock");
            self.drops.fetch_add(1, SeqCst);
            std::mem::take(&mut *tasks)
        };
        self.ran.fetch_add(dropped.len() as u32, SeqCst);
        if self.turn.take() {
            self.leave();
        }
    }

    /// Ends the first task if the stream waits at it, and nobody is looking just now.
    fn stop(&self) {
        if !self.turn.is_blocked() || !self.turn.take() {
            return;
        }
        if self.turn.is_blocked() {
            let task = self.tasks.lock().expect("lock").pop_front();
            self.ran.fetch_add(u32::from(task.is_some()), SeqCst);
        }
        self.leave();
    }

    /// What the workers do in the end, and the promise.
    fn settle(&self, tasks: u32) {
        while self.work(u32::MAX) {}
        if self.turn.is_blocked() {
            self.fire();
        }
        while self.work(u32::MAX) {}
        assert!(
            self.tasks.lock().expect("lock").is_empty(),
            "a stream with tasks was forgotten"
        );
        assert_eq!(self.ran.load(SeqCst), tasks, "a task ran twice or never");
        assert_eq!(
            self.active.load(SeqCst),
            0,
            "the stream counts as active, or was counted off twice (blocked {}, queued {}, runner {})",
            self.turn.is_blocked(),
            self.turn.is_queued(),
            self.turn.has_runner()
        );
        assert!(!self.turn.has_runner() && !self.turn.is_blocked() && !self.turn.is_queued());
    }
}

/// Every interleaving with at most three preemptions of each thread: what loom's authors found to show nearly
/// all faults, and what ends within a minute.
fn bounded() -> loom::model::Builder {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model
}

/// What `threads` do to a stream at the same time, [`bounded`].
fn explore(tasks: u32, threads: &'static [fn(&World)]) {
    bounded().check(move || {
        let world = Arc::new(World::default());
        let (last, others) = threads.split_last().expect("threads");
        let others: Vec<_> = others
            .iter()
            .map(|act| {
                let world = Arc::clone(&world);
                let act = *act;
                thread::spawn(move || act(&world))
            })
            .collect();
        last(&world);
        others
            .into_iter()
            .for_each(|thread| thread.join().expect("a thread failed"));
        world.settle(tasks);
    });
}

#[test]
fn a_worker_and_a_helper_race_with_submissions() {
    explore(
        2,
        &[
            |world| world.works(u32::MAX),
            World::help,
            |world| {
                world.submit(Task::Work);
                world.submit(Task::Work);
            },
        ],
    );
}

#[test]
fn two_threads_submit_to_one_stream() {
    explore(
        2,
        &[
            |world| world.submit(Task::Work),
            |world| {
                world.work(u32::MAX);
                world.work(u32::MAX);
            },
            |world| world.submit(Task::Work),
        ],
    );
}

#[test]
fn an_event_fires_while_the_stream_blocks_on_it() {
    explore(
        2,
        &[World::fire, World::help, |world| {
            world.submit(Task::Wait);
            world.submit(Task::Work);
            world.work(u32::MAX);
        }],
    );
}

#[test]
fn a_task_for_workers_is_left_to_them() {
    explore(
        2,
        &[
            |world| world.works(u32::MAX),
            World::help,
            |world| {
                world.submit(Task::Work);
                world.submit(Task::ForWorkers);
            },
        ],
    );
}

#[test]
fn one_task_at_a_time() {
    explore(
        2,
        &[
            |world| world.works(1),
            |world| world.works(1),
            |world| {
                world.submit(Task::Work);
                world.submit(Task::Work);
            },
        ],
    );
}

#[test]
fn the_tasks_are_dropped_while_the_stream_blocks() {
    explore(
        2,
        &[
            World::drop_tasks,
            |world| world.works(u32::MAX),
            |world| {
                world.submit(Task::Wait);
                world.submit(Task::Wait);
            },
        ],
    );
}

#[test]
fn a_task_in_pieces_has_its_turn_and_others_theirs() {
    explore(
        2,
        &[
            |world| world.works(2),
            World::help,
            |world| {
                world.submit(Task::Pieces(2));
                world.submit(Task::Work);
            },
        ],
    );
}

#[test]
fn a_task_in_pieces_is_dropped_between_them() {
    explore(
        2,
        &[
            World::drop_tasks,
            |world| world.works(u32::MAX),
            |world| {
                world.submit(Task::Pieces(2));
                world.submit(Task::Work);
            },
        ],
    );
}

#[test]
fn a_wait_is_ended_while_the_stream_blocks() {
    explore(
        3,
        &[
            |world| {
                world.stop();
                world.stop();
            },
            World::fire,
            |world| {
                world.submit(Task::Wait);
                world.submit(Task::Work);
                world.works(u32::MAX);
                world.submit(Task::Wait);
            },
        ],
    );
}
