//! Random graphs of queued work, against the bytes of a sequential execution.
//!
//! A world is streams, blocks of memory, events and notifies, and a program that is made up as it
//! goes: every choice comes from the seed, none from what the library answers, so a seed is the same
//! program under every schedule. The world knows for each stream which tasks are over before its
//! next one begins ([`clock::Clock`]). Before a task may touch a block, the tasks that touched it
//! before are put in front of it: by an event, a notify, a value in device memory, or the program
//! waiting. So the graph decides all bytes, and the order of submission is one sequential execution
//! of it: that is the model. Bytes are compared where the program may look at them: inside host
//! functions, after waits, at the end.

mod block;
mod clock;
mod functions;
mod marks;
mod order;
mod steps;
mod world;

use rand::SeedableRng;
use rand::rngs::SmallRng;

pub(crate) use world::World;

/// What a program may use.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    /// Steps.
    pub(crate) steps: u32,
    /// Callbacks on a second thread; such a program has two threads that run queued work.
    pub(crate) callbacks: bool,
    /// The world makes contexts of its own, for threads side by side.
    pub(crate) own_contexts: bool,
}

/// Plays the program of a seed to its end.
pub(crate) fn play(seed: u64, options: Options) {
    let mut world = World::new(SmallRng::seed_from_u64(seed), options);
    for step in 0..options.steps {
        world.step = step;
        world.random_step();
    }
    world.finish();
}
