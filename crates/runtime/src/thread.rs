//! What a thread carries: its binding to a context, its arena, its allowance of host memory.
//!
//! A binding names the epoch of the runtime it was made in, so that nothing bound before a fork or
//! before a fresh start is ever taken for alive.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::context::Context;
use crate::settings::profile::ALL_PRODUCTS;

/// Allocator arenas of a device; a thread uses one of them.
pub(crate) const ARENAS: usize = 16;

const UNASSIGNED: u32 = u32::MAX;

static NEXT_ARENA: AtomicU32 = AtomicU32::new(0);

/// Plain cells without a destructor: the thread's storage costs no registration and stays usable
/// while the thread ends.
struct ThreadState {
    epoch: Cell<u32>,
    generation: Cell<u64>,
    context: Cell<Option<&'static Context>>,
    arena: Cell<u32>,
    allowance: Cell<u64>,
    failed: Cell<u64>,
    /// Products that have the function being called, and its name; see [`calling`].
    products: Cell<u8>,
    function: Cell<&'static str>,
}

thread_local! {
    static STATE: ThreadState = const {
        ThreadState {
            epoch: Cell::new(0),
            generation: Cell::new(0),
            context: Cell::new(None),
            arena: Cell::new(UNASSIGNED),
            allowance: Cell::new(0),
            failed: Cell::new(0),
            products: Cell::new(ALL_PRODUCTS),
            function: Cell::new(""),
        }
    };
}

/// What a call finds out about its thread in one look.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    /// The context bound in this epoch, if it is still alive.
    pub(crate) context: Option<&'static Context>,
    /// Products that have the function being called.
    pub(crate) products: u8,
    /// The arena of the thread.
    pub(crate) arena: u32,
    /// Whether the last allocation of the thread failed.
    pub(crate) has_failed: bool,
}

/// Looks at the calling thread.
#[inline]
pub(crate) fn caller(epoch: u32) -> Caller {
    STATE.with(|state| {
        let context = state.context.get().filter(|context| {
            state.epoch.get() == epoch && context.is_alive(state.generation.get())
        });
        let arena = match state.arena.get() {
            UNASSIGNED => assign(state),
            number => number,
        };
        Caller {
            context,
            products: state.products.get(),
            arena,
            has_failed: state.failed.get() != 0,
        }
    })
}

/// The context bound to this thread in `epoch`, if it is still alive.
#[inline]
pub(crate) fn bound(epoch: u32) -> Option<&'static Context> {
    caller(epoch).context
}

#[cold]
fn assign(state: &ThreadState) -> u32 {
    let number = NEXT_ARENA.fetch_add(1, Ordering::Relaxed) % ARENAS as u32;
    state.arena.set(number);
    number
}

/// Whether a context was bound in `epoch` that is gone now.
pub(crate) fn lost_binding(epoch: u32) -> bool {
    STATE.with(|state| state.epoch.get() == epoch && state.context.get().is_some())
        && bound(epoch).is_none()
}

/// Binds the thread to `context`, or to none.
pub(crate) fn bind(epoch: u32, context: Option<(&'static Context, u64)>) {
    STATE.with(|state| {
        state.epoch.set(epoch);
        state.context.set(context.map(|(context, _)| context));
        state
            .generation
            .set(context.map_or(0, |(_, generation)| generation));
    });
}

/// The arena of this thread.
#[inline]
pub(crate) fn arena() -> usize {
    STATE.with(|state| match state.arena.get() {
        UNASSIGNED => assign(state) as usize,
        number => number as usize,
    })
}

/// Takes `bytes` from the thread's allowance of untouched host memory. False: ask the system.
#[inline]
pub(crate) fn spend_allowance(bytes: u64) -> bool {
    STATE.with(|state| match state.allowance.get().checked_sub(bytes) {
        Some(left) => {
            state.allowance.set(left);
            true
        }
        None => false,
    })
}

/// Sets the allowance anew.
pub(crate) fn grant_allowance(bytes: u64) {
    STATE.with(|state| state.allowance.set(bytes));
}

/// Remembers that an allocation of `bytes` failed on this thread.
pub(crate) fn note_failed(bytes: u64) {
    STATE.with(|state| state.failed.set(bytes));
}

/// True once when an allocation of at least the failed size succeeds: the shortage was cured.
#[inline]
pub(crate) fn recovered(bytes: u64) -> bool {
    STATE.with(|state| {
        let failed = state.failed.get();
        let cured = failed != 0 && bytes >= failed;
        if cured {
            state.failed.set(0);
        }
        cured
    })
}

/// Runs a call of a function that some products lack. Its argument checks come first; where it
/// asks for the runtime, the product is checked (see `wanted`).
pub fn calling<R>(function: &'static str, products: u8, call: impl FnOnce() -> R) -> R {
    STATE.with(|state| {
        state.function.set(function);
        state.products.set(products);
    });
    let result = call();
    STATE.with(|state| state.products.set(ALL_PRODUCTS));
    result
}

/// Products that have the function being called.
#[inline]
pub(crate) fn wanted() -> u8 {
    STATE.with(|state| state.products.get())
}

/// The function named by [`calling`].
pub(crate) fn function() -> &'static str {
    STATE.with(|state| state.function.get())
}
