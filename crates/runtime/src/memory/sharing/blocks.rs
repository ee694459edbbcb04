//! Blocks of device memory that are shared: converted where they stand, and private again when they
//! are released.
//!
//! A block stays converted after its keys are closed, until it is released: exporting it again costs
//! nothing, and an importer may still have it. When it is released, its addresses get fresh pages
//! before anybody else can get them, so importers keep the old ones for themselves.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cannery_abi as abi;
use cannery_observe::{Family, PageKind};

use super::exports::{About, Export};
use super::key::{Key, Kind};
use crate::error::{Error, Fault, Result, show_bytes};
use crate::memory::free::is_plain;
use crate::memory::locate::{self, Block};
use crate::memory::store::LARGEST_SMALL;
use crate::os::{conversion, file_limits, map};
use crate::process::Runtime;

const NORMAL_PAGE: u64 = 4096;
const HUGE_PAGE: u64 = 2 << 20;

/// One block that was converted.
struct SharedBlock {
    memory: Arc<OwnedFd>,
    /// Where the runtime touches it.
    at: u64,
    bytes: u64,
    pages: PageKind,
    device: usize,
    keys: Vec<Key>,
}

/// All of them, by their first byte.
#[derive(Default)]
pub(crate) struct Blocks {
    /// So that a release finds out with one load that there are none.
    count: AtomicUsize,
    list: Mutex<BTreeMap<u64, SharedBlock>>,
}

impl Blocks {
    fn list(&self) -> MutexGuard<'_, BTreeMap<u64, SharedBlock>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a shared block may begin at an address; else a release need not ask.
    #[inline(always)]
    pub(crate) fn may_hold(&self, address: u64) -> bool {
        self.count.load(Ordering::Relaxed) != 0 && address.is_multiple_of(NORMAL_PAGE)
    }

    /// Shares the first `size` bytes of the block that begins at `address`, under a key of its own.
    pub(crate) fn export(
        &self,
        runtime: &Runtime,
        address: u64,
        size: u64,
        open_to_all: bool,
    ) -> Result<Key> {
        // Counted first, so that a release meanwhile waits for the lock.
        self.count.fetch_add(1, Ordering::SeqCst);
        let result = self.export_counted(runtime, address, size, open_to_all);
        if !matches!(result, Ok((_, true))) {
            self.count.fetch_sub(1, Ordering::SeqCst);
        }
        result.map(|(key, _)| key)
    }

    /// The key, and whether the block is newly converted.
    fn export_counted(
        &self,
        runtime: &Runtime,
        address: u64,
        size: u64,
        open_to_all: bool,
    ) -> Result<(Key, bool)> {
        let mut list = self.list();
        if let Some(block) = locate::block(runtime, address) {
            check_family(block.family(), address)?;
        }
        let block = locate::exact(runtime, "devPtr", address, is_plain)?;
        let (device, bytes) = shareable(&block, address, size)?;
        let pages = PageKind::from_number(block.owner.page);
        let about = About {
            bytes: size.next_multiple_of(NORMAL_PAGE),
            requested: size,
            device: runtime.devices[device].physical(),
            pages: pages as u32,
            more: [0; 2],
        };
        if let Some(shared) = list.get_mut(&address) {
            let export = Export::new(Arc::clone(&shared.memory), about, open_to_all);
            let key = publish(runtime, export, address)?;
            shared.keys.push(key);
            return Ok((key, false));
        }
        let at = address.wrapping_add(runtime.window.distance());
        let memory =
            conversion::share_in_place(at, bytes).map_err(|error| shortage(bytes, &error))?;
        let mut shared = SharedBlock {
            memory: Arc::new(memory),
            at,
            bytes,
            pages,
            device,
            keys: Vec::new(),
        };
        let export = Export::new(Arc::clone(&shared.memory), about, open_to_all);
        match publish(runtime, export, address) {
            Ok(key) => {
                shared.keys.push(key);
                list.insert(address, shared);
                Ok((key, true))
            }
            Err(error) => {
                // It stays converted, known and without a key; released as any other.
                list.insert(address, shared);
                self.count.fetch_add(1, Ordering::SeqCst);
                Err(error)
            }
        }
    }

    /// A key of a block was closed.
    pub(crate) fn forget(&self, key: &Key, address: u64) {
        if let Some(shared) = self.list().get_mut(&address) {
            shared.keys.retain(|other| other != key);
        }
    }

    /// The block that begins at `address` is about to be released: its keys end, and its addresses
    /// get fresh pages.
    ///
    /// # Errors
    /// 207001 when the system refuses; the block stays as it is, without keys.
    #[cold]
    pub(crate) fn before_release(&self, runtime: &Runtime, address: u64) -> Result<()> {
        let mut list = self.list();
        let Some(shared) = list.get_mut(&address) else {
            return Ok(());
        };
        shared.end(runtime)?;
        list.remove(&address);
        self.count.fetch_sub(1, Ordering::SeqCst);
        Ok(())
    }

    /// The memory of a device is about to be taken away as a whole.
    pub(crate) fn before_reset(&self, runtime: &Runtime, device: usize) {
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        self.list().retain(|_, shared| {
            if shared.device != device {
                return true;
            }
            if let Err(error) = shared.end(runtime) {
                let mut text = String::new();
                error.fault().explain(&mut text);
                crate::log::error(format_args!("a shared block stays shared: {text}"));
                return true;
            }
            self.count.fetch_sub(1, Ordering::SeqCst);
            false
        });
    }
}

impl SharedBlock {
    fn end(&mut self, runtime: &Runtime) -> Result<()> {
        for key in self.keys.drain(..) {
            runtime.sharing.exports.withdraw(&key);
        }
        conversion::make_private(self.at, self.bytes)
            .map_err(|error| shortage(self.bytes, &error))?;
        if self.pages != PageKind::Normal {
            map::want_huge_pages(self.at, self.bytes);
        }
        Ok(())
    }
}

fn publish(runtime: &Runtime, export: Export, address: u64) -> Result<Key> {
    runtime
        .sharing
        .publish(Kind::Block, export.of(address))
        .map_err(|error| no_broker(&error))
}

/// The exporting thread cannot be had: 507899.
pub(crate) fn no_broker(error: &std::io::Error) -> Error {
    let what = format!("memory cannot be handed to other processes here: {error}");
    Error::sequence(
        abi::ACL_ERROR_RT_DRV_INTERNAL_ERROR,
        match file_limits::remedy(error) {
            Some(remedy) => format!("{what}; {remedy}"),
            None => what,
        },
    )
}

fn shortage(asked: u64, error: &std::io::Error) -> Error {
    let remedy = file_limits::remedy(error).unwrap_or_else(|| {
        "look at the limits for mappings (vm.max_map_count), files (ulimit -n, -f) and memory"
            .to_owned()
    });
    Fault::HostShortage {
        asked,
        cause: format!(
            "the system refuses to make the block shared memory, or private again: {error}; {remedy}"
        ),
    }
    .into()
}

/// Refuses memory that no key can be made for.
fn check_family(family: Family, address: u64) -> Result<()> {
    if is_plain(family) {
        return Ok(());
    }
    let made_by = family.made_by();
    let instead = match family {
        Family::Mapping => "export its handle with aclrtMemExportToShareableHandle",
        Family::Imported => "pass the key on by which it was imported",
        _ => "allocate with aclrtMalloc or aclrtMallocWithCfg",
    };
    Err(Error::address(
        "devPtr",
        address,
        format!("memory of {made_by} has no key; {instead}"),
    ))
}

/// Device and bytes of a block that can be shared: it has its pages for itself.
fn shareable(block: &Block, address: u64, size: u64) -> Result<(usize, u64)> {
    let Some(device) = block.device else {
        return Err(Error::address("devPtr", address, "host memory"));
    };
    if size > block.size {
        return Err(Error::rt_value(
            "byteCount",
            size,
            format!(
                "at most the {} of the block at {address:#x}",
                show_bytes(block.requested)
            ),
        ));
    }
    let pages = PageKind::from_number(block.owner.page);
    if pages == PageKind::Normal
        && (block.size <= LARGEST_SMALL || !address.is_multiple_of(NORMAL_PAGE))
    {
        return Err(Error::address(
            "devPtr",
            address,
            format!(
                "a block of {} shares its pages (4 KiB) with other blocks; memory is shared page by page: \
                 allocate more than {}, or with ACL_MEM_MALLOC_HUGE_ONLY",
                show_bytes(block.requested),
                show_bytes(LARGEST_SMALL)
            ),
        ));
    }
    let grain = match pages {
        PageKind::Normal => NORMAL_PAGE,
        _ => HUGE_PAGE,
    };
    Ok((device, block.size.next_multiple_of(grain)))
}
