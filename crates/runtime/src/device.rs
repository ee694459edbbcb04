//! Manual chapter: device management. A device counts its references; its memory appears when it
//! is first set and goes with the last reset.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use cannery_observe::Tally;

use crate::context::Context;
use crate::error::{Error, Fault, Result};
use crate::memory::card;
use crate::memory::store::Store;
use crate::os::host;
use crate::settings::Settings;
use crate::window::Window;

/// One emulated device. Lives as long as the process.
pub(crate) struct Device {
    /// Position in the device list of this process (the user id).
    index: usize,
    /// Position on the machine, before `ASCEND_RT_VISIBLE_DEVICES` renumbers.
    physical: u32,
    state: Mutex<State>,
    store: OnceLock<Store>,
    /// Bit i: this device may access device i.
    peers: AtomicU16,
    saturation: AtomicI32,
    /// Events and notifies alive.
    events: AtomicU32,
    notifies: AtomicU32,
    /// What is queued on it is being dropped.
    aborting: AtomicBool,
    /// How often its memory was taken back.
    resets: AtomicU64,
    /// The last time that it held something.
    taken_back: Mutex<Option<TakenBack>>,
}

/// A reset, and the blocks that it took back.
#[derive(Clone, Debug)]
pub(crate) struct TakenBack {
    /// The call, and the thread that made it.
    pub(crate) by: String,
    pub(crate) blocks: u64,
    pub(crate) bytes: u64,
}

/// References that keep the device alive.
#[derive(Default)]
pub(crate) struct State {
    /// Number of aclrtSetDevice not undone yet.
    pub(crate) references: u32,
    /// The primary context and its generation, while there are references.
    pub(crate) primary: Option<(&'static Context, u64)>,
    /// Explicit contexts alive.
    pub(crate) explicit: u32,
    /// The last reference went while explicit contexts were alive: the memory goes with them.
    pub(crate) release_pending: bool,
}

impl Device {
    pub(crate) fn new(index: usize, physical: u32) -> Self {
        Self {
            index,
            physical,
            state: Mutex::default(),
            store: OnceLock::new(),
            peers: AtomicU16::new(0),
            saturation: AtomicI32::new(0),
            events: AtomicU32::new(0),
            notifies: AtomicU32::new(0),
            aborting: AtomicBool::new(false),
            resets: AtomicU64::new(0),
            taken_back: Mutex::default(),
        }
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    pub(crate) fn physical(&self) -> u32 {
        self.physical
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The memory, once the device was opened.
    #[inline]
    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.get()
    }

    /// Opens the memory of the device. The caller holds the state lock, so only one thread does.
    #[inline]
    pub(crate) fn open(&self, window: &Window, settings: &Settings) -> Result<&Store> {
        match self.store.get() {
            Some(store) => Ok(store),
            None => self.open_first(window, settings),
        }
    }

    /// Not inlined: its frame is large, and callers may have small stacks.
    #[cold]
    #[inline(never)]
    fn open_first(&self, window: &Window, settings: &Settings) -> Result<&Store> {
        let plan = window.device_plan(self.index);
        let card = card::claims(settings, &plan.memory, self.physical);
        let store = card.and_then(|card| Ok((card, Store::for_device(&plan, card)?)));
        let (card, store) = store.map_err(|error| {
            Error::from(Fault::NoWindow {
                cause: no_memory_text(&error, plan.bytes),
            })
        })?;
        let store = self.store.get_or_init(|| store);
        card.listen();
        Ok(store)
    }

    pub(crate) fn may_access(&self, peer: usize) -> bool {
        self.peers.load(Ordering::Acquire) >> peer & 1 == 1
    }

    /// Switches access to `peer`; returns whether it was on before.
    pub(crate) fn set_access(&self, peer: usize, on: bool) -> bool {
        let bit = 1u16 << peer;
        let before = if on {
            self.peers.fetch_or(bit, Ordering::AcqRel)
        } else {
            self.peers.fetch_and(!bit, Ordering::AcqRel)
        };
        before & bit != 0
    }

    pub(crate) fn forget_peers(&self) {
        self.peers.store(0, Ordering::Release);
    }

    /// Number of events alive.
    pub(crate) fn events(&self) -> &AtomicU32 {
        &self.events
    }

    /// Number of notifies alive.
    pub(crate) fn notifies(&self) -> &AtomicU32 {
        &self.notifies
    }

    /// Set while aclrtDeviceTaskAbort runs.
    pub(crate) fn aborting(&self) -> &AtomicBool {
        &self.aborting
    }

    /// How often a reset took its memory back; changes under the state lock.
    pub(crate) fn resets(&self) -> &AtomicU64 {
        &self.resets
    }

    /// A call takes back what is still allocated.
    pub(crate) fn note_taken_back(&self, call: &str, live: Tally) {
        if live.blocks <= 0 {
            return;
        }
        let (name, id) = (host::thread_name(), host::thread_id());
        let mut last = self
            .taken_back
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *last = Some(TakenBack {
            by: format!("{call} in thread {name}, id {id}"),
            blocks: live.blocks.unsigned_abs(),
            bytes: live.bytes.unsigned_abs(),
        });
    }

    /// The last reset that took blocks back.
    pub(crate) fn taken_back(&self) -> Option<TakenBack> {
        let last = self.taken_back.lock();
        last.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Float overflow mode (a number that operators would read; remembered as it was set).
    pub(crate) fn saturation(&self) -> &AtomicI32 {
        &self.saturation
    }
}

fn no_memory_text(error: &std::io::Error, bytes: u64) -> String {
    let mode = crate::os::host::overcommit_mode();
    let why = if mode == 2 {
        "the kernel promises no more than it has (vm.overcommit_memory=2)"
    } else {
        "an address-space limit is in the way (ulimit -v)"
    };
    format!(
        "the address space for the device memory ({bytes} bytes) was refused: {error}; probably {why}; \
         raise it, or choose a smaller device with CANNERY_HBM_BYTES"
    )
}
