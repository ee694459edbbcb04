//! Plays a walk on several threads in turns: one at a time, in an order that the seed fixes.
//!
//! Threads end and new ones take their places, so that what is bound to a thread, or kept for it,
//! is tried with fresh threads too.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::walk::World;

/// Threads that take turns.
pub(crate) const THREADS: usize = 4;

struct State {
    world: World,
    /// Whose turn it is; [`THREADS`]: nobody's, a thread must be started.
    turn: usize,
    /// Place of the thread to start.
    wanted: usize,
    left: u64,
}

struct Table {
    state: Mutex<State>,
    bells: Vec<Condvar>,
}

impl Table {
    /// `None` when a step failed: the walk is over.
    fn lock(&self) -> Option<MutexGuard<'_, State>> {
        self.state.lock().ok()
    }

    fn wait_for(&self, turn: usize) -> Option<MutexGuard<'_, State>> {
        let mut state = self.lock()?;
        while state.turn != turn && state.left > 0 {
            state = self.bells[turn].wait(state).ok()?;
        }
        (state.left > 0).then_some(state)
    }

    fn ring_all(&self) {
        for bell in &self.bells {
            bell.notify_all();
        }
    }
}

/// Wakes the others whichever way a thread ends, a failed step included.
struct Alarm(Arc<Table>);

impl Drop for Alarm {
    fn drop(&mut self) {
        self.0.ring_all();
    }
}

/// Plays `steps` steps and ends the walk. `None`: a step failed, and has said why.
pub(crate) fn play(world: World, steps: u64) -> Option<World> {
    let table = Arc::new(Table {
        state: Mutex::new(State {
            world,
            turn: THREADS,
            wanted: 0,
            left: steps,
        }),
        bells: (0..=THREADS).map(|_| Condvar::new()).collect(),
    });
    let mut threads: Vec<JoinHandle<()>> = (1..THREADS).map(|n| start(&table, n)).collect();
    while let Some(mut state) = table.wait_for(THREADS) {
        let number = state.wanted;
        state.world.model.threads[number] = None;
        state.turn = number;
        threads.push(start(&table, number));
    }
    // Also wakes those that wait while a step fails: the lock tells them.
    table.ring_all();
    let failed = threads.into_iter().any(|thread| thread.join().is_err());
    let table = Arc::into_inner(table)?;
    let state = table
        .state
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let mut world = state.world;
    if failed {
        return None;
    }
    world.model.threads[0] = None;
    world.finish(0);
    Some(world)
}

fn start(table: &Arc<Table>, number: usize) -> JoinHandle<()> {
    let table = Arc::clone(table);
    let body = move || {
        let alarm = Alarm(table);
        let table = &alarm.0;
        while let Some(mut state) = table.wait_for(number) {
            let run = (1 + state.world.source.below(40)).min(state.left);
            for _ in 0..run {
                state.world.step(number);
            }
            state.left -= run;
            if state.left == 0 {
                return;
            }
            if state.world.source.once_in(150) {
                state.turn = THREADS;
                state.wanted = number;
                table.bells[THREADS].notify_all();
                return;
            }
            state.turn = state.world.source.below(THREADS as u64) as usize;
            table.bells[state.turn].notify_all();
        }
    };
    let named = std::thread::Builder::new().name(format!("turn-{number}"));
    named.spawn(body).expect("a thread can be started")
}
