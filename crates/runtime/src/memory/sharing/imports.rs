//! Memory of other processes at addresses of this one.

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cannery_abi as abi;
use cannery_observe::{Family, PageKind};

use super::exports::About;
use super::key::Key;
use crate::error::{Error, Fault, Result};
use crate::memory::areas::{NoArea, Piece, PieceId, UNIT};
use crate::os::{conversion, map};
use crate::process::Runtime;
use crate::stream::engine;

/// Areas that are kept for the next import of the same size.
const PARKED: usize = 8;

struct Import {
    start: u64,
    bytes: u64,
    piece: PieceId,
    device: usize,
}

/// An area that nobody uses, with plain memory in it: work that is still queued may meet it.
struct Parked {
    start: u64,
    bytes: u64,
}

/// All imports of the process.
#[derive(Default)]
pub(crate) struct Imports {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Oldest first.
    by_key: BTreeMap<Key, VecDeque<Import>>,
    parked: Vec<Parked>,
}

impl Imports {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts imported memory at addresses of this process; the first of them.
    pub(crate) fn attach(
        &self,
        runtime: &Runtime,
        key: &Key,
        memory: &OwnedFd,
        about: &About,
        device: usize,
    ) -> Result<u64> {
        if about.bytes == 0 || conversion::length(memory).is_none_or(|len| len < about.bytes) {
            return Err(Error::sequence(
                abi::ACL_ERROR_RT_DRV_INTERNAL_ERROR,
                "the exporter sent memory that is smaller than it says",
            ));
        }
        let bytes = about.bytes;
        let parked = {
            let mut state = self.state();
            let at = state.parked.iter().position(|it| it.bytes == bytes);
            at.map(|at| state.parked.swap_remove(at).start)
        };
        let start = match parked {
            Some(start) => start,
            None => runtime
                .areas
                .reserve(bytes, UNIT)
                .map_err(|why| no_room(bytes, &why))?,
        };
        let at = start.wrapping_add(runtime.window.distance());
        let give_up = |why: &str| {
            runtime.areas.release(start);
            Err(no_memory(bytes, why))
        };
        if let Err(error) = map::map_shared(memory.as_fd(), 0, at, bytes) {
            return give_up(&error.to_string());
        }
        map::keep_private(at, bytes);
        let piece = Piece {
            start,
            size: bytes,
            requested: about.requested,
            family: Family::Imported,
            device: Some(device),
            pages: PageKind::from_number(about.pages as u8),
            access: true,
            live: true,
            owner: 0,
        };
        let Some(piece) = runtime.areas.put(&piece) else {
            return give_up("there are too many pieces of memory");
        };
        let import = Import {
            start,
            bytes,
            piece,
            device,
        };
        self.state()
            .by_key
            .entry(*key)
            .or_default()
            .push_back(import);
        Ok(start)
    }

    /// Closes the oldest import of a key. False: there is none.
    pub(crate) fn detach_oldest(&self, runtime: &Runtime, key: &Key) -> bool {
        let import = {
            let mut state = self.state();
            let Some(list) = state.by_key.get_mut(key) else {
                return false;
            };
            let import = list.pop_front();
            if list.is_empty() {
                state.by_key.remove(key);
            }
            import
        };
        let Some(import) = import else { return false };
        self.detach(runtime, &import);
        true
    }

    fn detach(&self, runtime: &Runtime, import: &Import) {
        runtime.areas.take(import.piece);
        let at = import.start.wrapping_add(runtime.window.distance());
        if map::map_anonymous(at, import.bytes).is_err() {
            // No mapping is left for plain memory; the addresses alone need none.
            runtime.areas.release(import.start);
            return;
        }
        let mut state = self.state();
        state.parked.push(Parked {
            start: import.start,
            bytes: import.bytes,
        });
        let surplus = state.parked.len().saturating_sub(PARKED);
        // While something is queued, all of it may be needed.
        if surplus > 0 && !engine::any_active() {
            for parked in state.parked.drain(..surplus) {
                runtime.areas.release(parked.start);
            }
        }
    }

    /// The device loses its memory: what was imported for it goes too.
    pub(crate) fn before_reset(&self, runtime: &Runtime, device: usize) {
        let mut gone = Vec::new();
        self.state().by_key.retain(|_, list| {
            let (of_device, others) = std::mem::take(list)
                .into_iter()
                .partition(|it: &Import| it.device == device);
            let of_device: VecDeque<Import> = of_device;
            gone.extend(of_device);
            *list = others;
            !list.is_empty()
        });
        for import in &gone {
            self.detach(runtime, import);
        }
    }
}

fn no_memory(asked: u64, why: &str) -> Error {
    Fault::HostShortage {
        asked,
        cause: format!("the memory cannot be mapped into this process: {why}"),
    }
    .into()
}

fn no_room(bytes: u64, why: &NoArea) -> Error {
    let why = match why {
        NoArea::Taken | NoArea::Full => "the device window has no free addresses for it".to_owned(),
        NoArea::System(error) => error.to_string(),
    };
    no_memory(bytes, &why)
}
