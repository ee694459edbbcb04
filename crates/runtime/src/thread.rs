//! What a thread carries: its binding to a context, its arena, its allowance of host memory.
//!
//! A binding names the runtime it was made in, so that nothing bound before a fork or before a fresh
//! start is ever taken for alive.
#![allow(unsafe_code)] // `Me`: finds the thread's state once a call

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::context::Context;
use crate::memory::store::Store;
use crate::process::{Runtime, running};
use crate::settings::profile::ALL_PRODUCTS;

/// Allocator arenas of a device; a thread uses one of them.
pub(crate) const ARENAS: usize = 16;

const UNASSIGNED: u32 = u32::MAX;

static NEXT_ARENA: AtomicU32 = AtomicU32::new(0);

/// Plain cells without a destructor: the thread's storage costs no registration and stays usable
/// while the thread ends.
struct ThreadState {
    /// Where the binding was made. Runtimes are never freed, so that an address stands for one.
    runtime: Cell<Option<&'static Runtime>>,
    generation: Cell<u64>,
    context: Cell<Option<&'static Context>>,
    /// The memory of the context's device.
    store: Cell<Option<&'static Store>>,
    arena: Cell<u32>,
    /// Products that have the function being called, and its name; see [`calling`].
    products: Cell<u8>,
    allowance: Cell<u64>,
    failed: Cell<u64>,
    function: Cell<&'static str>,
}

thread_local! {
    static STATE: ThreadState = const {
        ThreadState {
            runtime: Cell::new(None),
            generation: Cell::new(0),
            context: Cell::new(None),
            store: Cell::new(None),
            arena: Cell::new(UNASSIGNED),
            products: Cell::new(ALL_PRODUCTS),
            allowance: Cell::new(0),
            failed: Cell::new(0),
            function: Cell::new(""),
        }
    };
}

impl ThreadState {
    fn is_of(&self, epoch: u32) -> bool {
        self.runtime
            .get()
            .is_some_and(|runtime| runtime.epoch() == epoch)
    }
}

/// The state of the thread that it was made in, which it cannot leave. Finding the state takes a call
/// into the loader; this way one is enough for a call of ours.
#[derive(Clone, Copy)]
pub(crate) struct Me(NonNull<ThreadState>);

impl Me {
    #[inline(always)]
    fn state(&self) -> &ThreadState {
        // SAFETY: the state of this thread (a `NonNull` is neither Send nor Sync), which has no
        // destructor: its storage lasts until the thread is gone, and is never borrowed exclusively.
        unsafe { self.0.as_ref() }
    }

    /// Takes `bytes` from the thread's allowance of untouched host memory. False: ask the system.
    #[inline(always)]
    pub(crate) fn spend_allowance(&self, bytes: u64) -> bool {
        let allowance = &self.state().allowance;
        match allowance.get().checked_sub(bytes) {
            Some(left) => {
                allowance.set(left);
                true
            }
            None => false,
        }
    }

    /// Whether an allocation of this thread failed and none so large has succeeded since.
    #[inline(always)]
    pub(crate) fn has_failed(&self) -> bool {
        self.state().failed.get() != 0
    }
}

/// What a call finds out about its thread in one look.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    pub(crate) me: Me,
    /// The context bound to the thread.
    pub(crate) context: &'static Context,
    /// The memory of its device.
    pub(crate) store: Option<&'static Store>,
    /// The arena of the thread.
    pub(crate) arena: usize,
}

/// Looks at the calling thread. `None`: no context that was bound in `runtime` and is still alive,
/// or the product lacks the function being called.
#[inline(always)]
pub(crate) fn caller(runtime: &'static Runtime) -> Option<Caller> {
    // The body of `with` is kept small, so that it needs no call of its own.
    let me = STATE.with(|state| Me(NonNull::from(state)));
    let state = me.state();
    let home = state.runtime.get()?;
    let context = state.context.get()?;
    let products = state.products.get();
    let known = std::ptr::eq(home, runtime)
        && context.is_alive(state.generation.get())
        && (products == ALL_PRODUCTS || runtime.settings.profile.is_in(products));
    let arena = state.arena.get();
    (known && arena != UNASSIGNED).then_some(Caller {
        me,
        context,
        store: state.store.get(),
        arena: arena as usize,
    })
}

/// The context bound to this thread in `epoch`, if it is still alive.
pub(crate) fn bound(epoch: u32) -> Option<&'static Context> {
    STATE.with(|state| {
        let context = state.context.get()?;
        (state.is_of(epoch) && context.is_alive(state.generation.get())).then_some(context)
    })
}

#[cold]
fn assign(state: &ThreadState) -> u32 {
    let number = NEXT_ARENA.fetch_add(1, Ordering::Relaxed) % ARENAS as u32;
    state.arena.set(number);
    number
}

/// Whether a context was bound in `epoch` that is gone now.
pub(crate) fn lost_binding(epoch: u32) -> bool {
    STATE.with(|state| state.is_of(epoch) && state.context.get().is_some())
        && bound(epoch).is_none()
}

/// Binds the thread to `context`, or to none.
pub(crate) fn bind(epoch: u32, context: Option<(&'static Context, u64)>) {
    if context.is_some() {
        crate::error::no_device::forget();
    }
    let runtime = running().filter(|runtime| runtime.epoch() == epoch);
    let store = runtime.zip(context).and_then(|(runtime, (context, _))| {
        let device = runtime.devices.get(context.device_index());
        device.and_then(|device| device.store())
    });
    STATE.with(|state| {
        state.runtime.set(runtime);
        state.context.set(context.map(|(context, _)| context));
        state
            .generation
            .set(context.map_or(0, |(_, generation)| generation));
        state.store.set(store);
        if state.arena.get() == UNASSIGNED {
            assign(state);
        }
    });
}

/// As [`Me::spend_allowance`].
pub(crate) fn spend_allowance(bytes: u64) -> bool {
    STATE.with(|state| Me(NonNull::from(state)).spend_allowance(bytes))
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
#[cold]
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
