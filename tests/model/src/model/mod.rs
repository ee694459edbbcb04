//! The model: what must be true after each call, kept in the plainest way.
//!
//! It knows nothing of slabs, arenas or caches. Blocks are a sorted map, pools are three numbers,
//! and every question is answered by looking at all of it.

mod alloc;
mod bind;
mod range;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use alloc::{Call, Cfg, Plan, Wish};
pub(crate) use range::{End, Fill, Move};

use crate::config::Config;
use crate::shadow::Shadow;

/// A return code.
pub(crate) type Code = i32;

pub(crate) const SUCCESS: Code = 0;
/// Layer 1: NULL, zero, out of an enumeration.
pub(crate) const INVALID_PARAM: Code = 100_000;
/// Layer 2 and 3: a value that does not fit.
pub(crate) const PARAM_INVALID: Code = 107_000;
pub(crate) const INVALID_DEVICE: Code = 107_001;
pub(crate) const NO_CONTEXT: Code = 107_002;
pub(crate) const INVALID_MEMORY_TYPE: Code = 107_016;
pub(crate) const NOT_SUPPORTED: Code = 207_000;
pub(crate) const NO_MEMORY: Code = 207_001;
pub(crate) const CONTEXT_RELEASE: Code = 507_007;

/// Page pools.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pages {
    Normal,
    Huge,
    Giant,
}

/// Free bytes of a device by pool. Giant: the part that is kept for 1 GiB pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pools {
    pub(crate) normal: u64,
    pub(crate) huge: u64,
    pub(crate) giant: u64,
}

/// A device of the model.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) references: u32,
    pub(crate) explicit: u32,
    /// Number of the primary context.
    pub(crate) primary: Option<usize>,
    /// The memory goes with the last explicit context.
    pub(crate) release_pending: bool,
    pub(crate) free: Pools,
    pub(crate) total: Pools,
    /// Normal pages held by host memory (RC mode).
    pub(crate) held_by_host: u64,
    pub(crate) peers: BTreeSet<usize>,
}

/// A context, dead or alive.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) device: usize,
    pub(crate) primary: bool,
    pub(crate) alive: bool,
    /// The handle, once the library has shown it.
    pub(crate) handle: Option<u64>,
}

/// A live block.
#[derive(Debug)]
pub(crate) struct Block {
    /// `None`: host memory.
    pub(crate) device: Option<usize>,
    pub(crate) call: Call,
    /// Bytes that belong to it, padding included.
    pub(crate) size: u64,
    pub(crate) pages: Pages,
    /// What its pool is short of while it lives.
    pub(crate) charge: u64,
    /// Device whose normal pages it holds, for host memory in RC mode.
    pub(crate) held_on: Option<usize>,
    /// Module that it is counted under.
    pub(crate) module: u16,
    pub(crate) shadow: Shadow,
}

/// The state of the whole process as it must be.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) config: Config,
    pub(crate) devices: Vec<Device>,
    pub(crate) contexts: Vec<Context>,
    /// Context bound to each thread.
    pub(crate) threads: Vec<Option<usize>>,
    pub(crate) blocks: BTreeMap<u64, Block>,
    pub(crate) media_used: u64,
}

impl Model {
    pub(crate) fn new(config: Config, threads: usize) -> Self {
        let total = Pools {
            normal: config.capacity - config.huge,
            huge: config.huge - config.giant,
            giant: config.giant,
        };
        let device = || Device {
            references: 0,
            explicit: 0,
            primary: None,
            release_pending: false,
            free: total,
            total,
            held_by_host: 0,
            peers: BTreeSet::new(),
        };
        Self {
            devices: (0..config.devices).map(|_| device()).collect(),
            config,
            contexts: Vec::new(),
            threads: vec![None; threads],
            blocks: BTreeMap::new(),
            media_used: 0,
        }
    }

    /// The block that holds an address, with its first byte.
    pub(crate) fn find(&self, address: u64) -> Option<(u64, &Block)> {
        let (&start, block) = self.blocks.range(..=address).next_back()?;
        (address - start < block.size).then_some((start, block))
    }

    /// The device that a thread works on; `None`: it has no usable context.
    pub(crate) fn current(&self, thread: usize) -> Option<usize> {
        let context = &self.contexts[self.threads[thread]?];
        context.alive.then_some(context.device)
    }

    /// What aclrtGetMemInfo answers for a valid attribute: free and total bytes.
    pub(crate) fn info(&self, device: usize, attribute: i32) -> Result<(u64, u64), Code> {
        use Pages::{Giant, Huge, Normal};
        // Memory kind (true: DDR), and pool (`None`: huge and normal together).
        let (ddr, pages) = match attribute {
            0 => (Some(true), None),
            1 => (Some(false), None),
            2 | 6 => (Some(true), Some(Huge)),
            3 | 7 => (Some(true), Some(Normal)),
            4 | 8 => (Some(false), Some(Huge)),
            5 | 9 => (Some(false), Some(Normal)),
            10 | 11 => (Some(false), Some(Giant)),
            12 | 15 => (None, Some(Normal)),
            13 | 16 => (None, Some(Huge)),
            14 | 17 => (None, Some(Giant)),
            _ => return Err(INVALID_MEMORY_TYPE),
        };
        if pages == Some(Giant) && !self.config.has_giant_pages() {
            return Err(NOT_SUPPORTED);
        }
        // A question for HBM is answered as one for DDR where there is none, not the other way.
        if ddr == Some(true) && !self.config.is_ddr() {
            return Ok((0, 0));
        }
        let whole_giant = |pools: &Pools| pools.giant + (pools.huge >> 30 << 30);
        let device = &self.devices[device];
        let of = |pools: &Pools| match pages {
            None => pools.normal + pools.huge + pools.giant,
            Some(Normal) => pools.normal,
            Some(Huge) => pools.huge,
            Some(Giant) => whole_giant(pools),
        };
        Ok((of(&device.free), of(&device.total)))
    }

    /// Sum of the charges on a device, by component.
    pub(crate) fn usage(&self, device: usize) -> BTreeMap<String, u64> {
        let mut usage = BTreeMap::new();
        for block in self.blocks.values() {
            if block.device == Some(device) {
                let name = match (block.call.is_media(), block.module) {
                    (true, _) => "DVPP".to_owned(),
                    (false, 33) => "APP".to_owned(),
                    (false, module) => format!("MODULE_{module}"),
                };
                *usage.entry(name).or_default() += block.charge;
            }
        }
        usage
    }
}
