//! Events and waking (`reached.rs` and `bell.rs` of `crates/runtime/src/stream`, the files themselves): a
//! stream reaches a point while others ask, wait without sleeping, or sleep. A lost wake-up is a deadlock
//! here, which the model reports.

/// Atomics whose operations are in one order for all, as SeqCst promises; the model treats that as
/// acquire and release alone, but knows fences. And a word to sleep on, without early returns.
mod sync {
    use std::time::Duration;

    use loom::sync::Condvar;
    use loom::sync::atomic::fence;

    pub(crate) use loom::sync::Mutex;
    pub(crate) use loom::sync::atomic::Ordering;
    pub(crate) use loom::thread::yield_now;

    pub(crate) const PATIENCE: u32 = 12;

    macro_rules! atomic {
        ($name:ident, $number:ty) => {
            #[derive(Default)]
            pub(crate) struct $name(loom::sync::atomic::$name);

            #[allow(dead_code)] // Each has what one of them needs.
            impl $name {
                pub(crate) fn new(value: $number) -> Self {
                    Self(loom::sync::atomic::$name::new(value))
                }

                pub(crate) fn load(&self, order: Ordering) -> $number {
                    in_order(|| self.0.load(order))
                }

                pub(crate) fn store(&self, value: $number, order: Ordering) {
                    in_order(|| self.0.store(value, order));
                }

                pub(crate) fn fetch_add(&self, value: $number, order: Ordering) -> $number {
                    in_order(|| self.0.fetch_add(value, order))
                }

                pub(crate) fn fetch_sub(&self, value: $number, order: Ordering) -> $number {
                    in_order(|| self.0.fetch_sub(value, order))
                }
            }
        };
    }

    atomic!(AtomicU8, u8);
    atomic!(AtomicU32, u32);

    fn in_order<R>(act: impl FnOnce() -> R) -> R {
        fence(Ordering::SeqCst);
        let result = act();
        fence(Ordering::SeqCst);
        result
    }

    pub(crate) struct Word {
        value: Mutex<u32>,
        changed: Condvar,
    }

    impl Default for Word {
        fn default() -> Self {
            Self {
                value: Mutex::new(0),
                changed: Condvar::new(),
            }
        }
    }

    impl Word {
        pub(crate) fn value(&self) -> u32 {
            *self.value.lock().expect("lock")
        }

        pub(crate) fn change(&self) {
            *self.value.lock().expect("lock") += 1;
            self.changed.notify_all();
        }

        pub(crate) fn wait(&self, value: u32, limit: Option<Duration>) {
            assert!(limit.is_none(), "the model has no clock");
            let mut now = self.value.lock().expect("lock");
            while *now == value {
                now = self.changed.wait(now).expect("lock");
            }
        }
    }
}

#[path = "../../../crates/runtime/src/stream/bell.rs"]
mod bell;
#[path = "../../../crates/runtime/src/stream/reached.rs"]
mod reached;

use super::bounded;
use bell::Bell;
use loom::sync::Arc;
use loom::thread;
use reached::Reached;
use sync::{AtomicU32, Ordering::SeqCst};

/// A point, what its stream counts, and who was brought on.
struct World {
    point: Reached<u32>,
    counted: AtomicU32,
    brought_on: [AtomicU32; 2],
    waits: [AtomicU32; 2],
}

impl World {
    fn reach(&self) {
        for who in self.point.reach(|| self.counted.store(1, SeqCst)) {
            self.brought_on[who as usize].fetch_add(1, SeqCst);
        }
    }

    /// A stream comes to wait for it.
    fn wait(&self, who: u32) {
        if !self.point.is_done_or_wait(who) {
            self.waits[who as usize].store(1, SeqCst);
        }
    }

    /// A thread of the program sleeps until it is reached.
    fn sleep(&self) {
        while !self.point.is_done() {
            self.point.bell.sleep(|| self.point.is_done(), || None);
        }
        assert_eq!(self.counted.load(SeqCst), 1, "reached and not counted");
    }

    /// A thread of the program asks, in both orders.
    fn ask(&self) {
        if self.point.is_done() {
            assert_eq!(self.counted.load(SeqCst), 1, "reached and not counted");
        }
        if self.counted.load(SeqCst) == 1 {
            assert!(self.point.is_done(), "counted and not reached");
        }
    }
}

fn explore(threads: &'static [fn(&World)]) {
    let mut model = bounded();
    model.max_branches = 10_000;
    model.check(move || {
        let world = Arc::new(World {
            point: Reached::new(),
            counted: AtomicU32::new(0),
            brought_on: Default::default(),
            waits: Default::default(),
        });
        let others: Vec<_> = threads
            .iter()
            .map(|act| {
                let world = Arc::clone(&world);
                let act = *act;
                thread::spawn(move || act(&world))
            })
            .collect();
        world.reach();
        others
            .into_iter()
            .for_each(|thread| thread.join().expect("a thread failed"));
        for (brought_on, waits) in world.brought_on.iter().zip(&world.waits) {
            assert_eq!(
                brought_on.load(SeqCst),
                waits.load(SeqCst),
                "a stream that waits is brought on once, any other never"
            );
        }
        assert!(world.point.is_done());
    });
}

#[test]
fn a_stream_comes_to_wait_while_the_event_fires() {
    explore(&[|world| world.wait(0), |world| world.wait(1)]);
}

#[test]
fn a_stream_that_comes_twice_is_brought_on_once() {
    explore(&[|world| {
        world.wait(0);
        world.wait(0);
    }]);
}

#[test]
fn threads_sleep_while_the_event_fires() {
    explore(&[World::sleep, World::sleep]);
}

#[test]
fn a_thread_sleeps_and_a_stream_waits() {
    explore(&[World::sleep, |world| world.wait(1)]);
}

#[test]
fn reached_and_counted_are_seen_together() {
    explore(&[World::ask]);
}

#[test]
fn a_thread_sleeps_until_two_runners_have_counted() {
    bounded().check(|| {
        let world = Arc::new((Bell::default(), AtomicU32::new(0)));
        let runners: Vec<_> = (0..2)
            .map(|_| {
                let world = Arc::clone(&world);
                thread::spawn(move || {
                    world.1.fetch_add(1, SeqCst);
                    world.0.ring();
                })
            })
            .collect();
        let over = || world.1.load(SeqCst) == 2;
        while !over() {
            world.0.sleep(over, || None);
        }
        runners
            .into_iter()
            .for_each(|thread| thread.join().expect("a thread failed"));
    });
}

#[test]
fn a_watcher_that_listens_is_told_or_sees_it() {
    // As stream order has it: note the watcher, listen, look; the runner counts, rings, and tells watchers.
    bounded().check(|| {
        let world = Arc::new((Bell::default(), AtomicU32::new(0), AtomicU32::new(0)));
        let runner = {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                world.1.fetch_add(1, SeqCst);
                if world.0.ring() {
                    world.2.fetch_add(1, SeqCst);
                }
            })
        };
        world.0.listen();
        let seen = world.1.load(SeqCst) == 1;
        runner.join().expect("a thread failed");
        let told = world.2.load(SeqCst) == 1;
        assert!(seen || told, "neither told nor seen");
        world.0.leave(1);
    });
}
