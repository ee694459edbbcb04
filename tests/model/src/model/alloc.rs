//! Allocation and release: sizes, pages, charges, and which code comes first.

use std::collections::BTreeSet;

use super::{
    Block, Code, INVALID_PARAM, Model, NO_CONTEXT, NO_MEMORY, NOT_SUPPORTED, PARAM_INVALID, Pages,
};
use crate::shadow::Shadow;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// The allocation functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    Malloc,
    Align32,
    Cached,
    WithCfg,
    TaskScheduler,
    Host,
    HostWithCfg,
    Dvpp,
    HiMpi,
}

impl Call {
    pub(crate) const ALL: [Call; 9] = [
        Call::Malloc,
        Call::Align32,
        Call::Cached,
        Call::WithCfg,
        Call::TaskScheduler,
        Call::Host,
        Call::HostWithCfg,
        Call::Dvpp,
        Call::HiMpi,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Call::Malloc => "aclrtMalloc",
            Call::Align32 => "aclrtMallocAlign32",
            Call::Cached => "aclrtMallocCached",
            Call::WithCfg => "aclrtMallocWithCfg",
            Call::TaskScheduler => "aclrtMallocForTaskScheduler",
            Call::Host => "aclrtMallocHost",
            Call::HostWithCfg => "aclrtMallocHostWithCfg",
            Call::Dvpp => "acldvppMalloc",
            Call::HiMpi => "hi_mpi_dvpp_malloc",
        }
    }

    pub(crate) fn is_host(self) -> bool {
        matches!(self, Call::Host | Call::HostWithCfg)
    }

    pub(crate) fn is_media(self) -> bool {
        matches!(self, Call::Dvpp | Call::HiMpi)
    }

    pub(crate) fn takes_cfg(self) -> bool {
        matches!(
            self,
            Call::WithCfg | Call::TaskScheduler | Call::HostWithCfg
        )
    }
}

/// The configuration argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Cfg {
    /// NULL.
    None,
    /// A configuration whose array is NULL.
    NoArray,
    /// Kind and value of each attribute.
    Attributes(Vec<(i32, u32)>),
}

/// An allocation call.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) call: Call,
    pub(crate) no_place: bool,
    pub(crate) size: u64,
    pub(crate) policy: i32,
    pub(crate) cfg: Cfg,
}

/// How a successful allocation looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    pub(crate) device: Option<usize>,
    pub(crate) size: u64,
    pub(crate) pages: Pages,
    pub(crate) charge: u64,
    pub(crate) held_on: Option<usize>,
    pub(crate) module: u16,
}

fn up(value: u64, step: u64) -> u64 {
    value.div_ceil(step) * step
}

/// What a block in these pages is charged.
fn charge(pages: Pages, size: u64) -> u64 {
    match pages {
        Pages::Normal => up(size, 64),
        Pages::Huge => up(size, 2 * MIB),
        Pages::Giant => up(size, GIB),
    }
}

impl Model {
    /// The answer to an allocation: how the block must look, or the codes that are right.
    pub(crate) fn allocate(&self, thread: usize, wish: &Wish) -> Result<Plan, Vec<Code>> {
        let only = |code| Err(vec![code]);
        if wish.no_place || wish.size == 0 {
            return only(INVALID_PARAM);
        }
        // Sizes that wrap when they are padded; host memory finds that out after the context.
        let worst: u64 = match wish.call {
            Call::Malloc | Call::Cached | Call::Dvpp | Call::HiMpi => 64,
            _ => 32,
        };
        let wraps = wish.size > u64::MAX - worst;
        if wraps && !wish.call.is_host() {
            return only(INVALID_PARAM);
        }
        let module = self.attributes(thread, wish)?;
        let lacks = !self.config.has(wish.call.name());
        let Some(device) = self.current(thread) else {
            // Whether the missing function or the missing context comes first is open.
            return Err(match lacks {
                true => vec![NO_CONTEXT, NOT_SUPPORTED],
                false => vec![NO_CONTEXT],
            });
        };
        if lacks {
            return only(NOT_SUPPORTED);
        }
        if wish.call.is_host() {
            return self.allocate_host(device, wish.size, module);
        }
        if wish.call.is_media() {
            return self.allocate_media(device, wish.size);
        }
        let aligned = up(wish.size.min(1 << 62), 32);
        let tail = match wish.call {
            Call::Malloc | Call::Cached => self.config.tail(),
            _ => 0,
        };
        let choices = self
            .pages(wish, aligned + tail)
            .map_err(|code| vec![code])?;
        for pages in choices {
            let size = if *pages == Pages::Giant {
                aligned
            } else {
                aligned + tail
            };
            let charge = charge(*pages, size);
            if self.has_room(device, *pages, charge) {
                return Ok(Plan {
                    device: Some(device),
                    size,
                    pages: *pages,
                    charge,
                    held_on: None,
                    module,
                });
            }
        }
        only(NO_MEMORY)
    }

    /// The module that the attributes name, checked before the context; the device attribute is
    /// compared with the current device.
    fn attributes(&self, thread: usize, wish: &Wish) -> Result<u16, Vec<Code>> {
        const APP: u16 = 33;
        let attributes = match &wish.cfg {
            Cfg::None => return Ok(APP),
            Cfg::NoArray => return Err(vec![PARAM_INVALID]),
            Cfg::Attributes(attributes) => attributes,
        };
        let legal: &[i32] = if wish.call.is_host() {
            &[1, 3]
        } else {
            &[1, 2]
        };
        if attributes.iter().any(|(kind, _)| !legal.contains(kind)) {
            return Err(vec![PARAM_INVALID]);
        }
        // Of equal ones the last wins.
        let last = |wanted| {
            let found = attributes.iter().rev().find(|(kind, _)| *kind == wanted);
            found.map(|(_, value)| *value)
        };
        if attributes
            .iter()
            .any(|(kind, value)| *kind == 3 && *value > 1)
        {
            return Err(vec![PARAM_INVALID]);
        }
        if last(3) == Some(1) && !self.config.has_same_address() {
            return Err(vec![NOT_SUPPORTED]);
        }
        if let Some(named) = last(2) {
            match self.current(thread) {
                None => return Err(vec![NO_CONTEXT]),
                Some(device) if device as u32 != named => return Err(vec![PARAM_INVALID]),
                Some(_) => {}
            }
        }
        let module = last(1).map_or(APP, |value| value as u16);
        Ok(if module < 64 { module } else { APP })
    }

    fn allocate_host(&self, device: usize, size: u64, module: u16) -> Result<Plan, Vec<Code>> {
        let Some(padded) = size.checked_next_multiple_of(32) else {
            return Err(vec![PARAM_INVALID]);
        };
        let plan = Plan {
            device: None,
            size: padded,
            pages: Pages::Normal,
            charge: 0,
            held_on: None,
            module,
        };
        if padded >= 1 << 46 {
            return Err(vec![NO_MEMORY]);
        }
        if !self.config.rc {
            return Ok(plan);
        }
        let charge = charge(Pages::Normal, padded);
        if !self.has_room(device, Pages::Normal, charge) {
            return Err(vec![NO_MEMORY]);
        }
        Ok(Plan {
            charge,
            held_on: Some(device),
            ..plan
        })
    }

    fn allocate_media(&self, device: usize, size: u64) -> Result<Plan, Vec<Code>> {
        if size > 1 << 62 {
            return Err(vec![NO_MEMORY]);
        }
        let size = up(size, 32) + 32;
        let charge = charge(Pages::Huge, size);
        let within = self.media_used + charge <= self.config.media_limit;
        if !within || !self.has_room(device, Pages::Huge, charge) {
            return Err(vec![NO_MEMORY]);
        }
        Ok(Plan {
            device: Some(device),
            size,
            pages: Pages::Huge,
            charge,
            held_on: None,
            module: 33,
        })
    }

    /// Pages that a policy asks for, in the order in which they are tried.
    fn pages(&self, wish: &Wish, padded: u64) -> Result<&'static [Pages], Code> {
        const NORMAL: &[Pages] = &[Pages::Normal];
        const HUGE: &[Pages] = &[Pages::Huge];
        const FIRST: &[Pages] = &[Pages::Huge, Pages::Normal];
        const GIANT: &[Pages] = &[Pages::Giant];
        let first = if padded > MIB { FIRST } else { NORMAL };
        let outside = if wish.size >= 2 * MIB { FIRST } else { NORMAL };
        let giant = if self.config.has_giant_pages() {
            Ok(GIANT)
        } else {
            Err(NOT_SUPPORTED)
        };
        let with_cfg = wish.call.takes_cfg();
        let cached = wish.call == Call::Cached;
        let (low, high, read_only) = (0x100, 0x1000, 0x10_0000);
        let mut policy = wish.policy;
        if with_cfg {
            if policy & low != 0 && policy & high != 0 {
                return Ok(outside);
            }
            policy &= !(low | high | read_only);
        }
        match policy {
            0 => Ok(first),
            1 => Ok(HUGE),
            2 => Ok(NORMAL),
            6 => giant,
            // Not translated for cached memory: the same as unknown values.
            3..=5 | 7 if cached => Ok(outside),
            7 => giant,
            3 if with_cfg => Ok(first),
            4 if with_cfg => Ok(HUGE),
            // Through the plain calls the huge P2P policies get normal pages.
            3..=5 => Ok(NORMAL),
            _ => Ok(outside),
        }
    }

    fn has_room(&self, device: usize, pages: Pages, charge: u64) -> bool {
        let free = &self.devices[device].free;
        match pages {
            Pages::Normal => charge <= free.normal,
            Pages::Huge => charge <= free.huge,
            // Kept pages first, then aligned runs of the huge part.
            Pages::Giant => charge <= free.giant + free.huge,
        }
    }

    /// Writes down a block that the library made as planned.
    pub(crate) fn take(&mut self, address: u64, call: Call, plan: &Plan) {
        if let Some(device) = plan.device.or(plan.held_on) {
            let free = &mut self.devices[device].free;
            match plan.pages {
                Pages::Normal => free.normal -= plan.charge,
                Pages::Huge => free.huge -= plan.charge,
                Pages::Giant => {
                    let kept = plan.charge.min(free.giant);
                    free.giant -= kept;
                    free.huge -= plan.charge - kept;
                }
            }
        }
        if let Some(device) = plan.held_on {
            self.devices[device].held_by_host += plan.charge;
        }
        if call.is_media() {
            self.media_used += plan.charge;
        }
        self.blocks.insert(
            address,
            Block {
                device: plan.device,
                call,
                size: plan.size,
                pages: plan.pages,
                charge: plan.charge,
                held_on: plan.held_on,
                module: plan.module,
                shadow: Shadow::default(),
            },
        );
    }

    /// The answer to a release by a function that takes the blocks of `makers`.
    pub(crate) fn release(&self, address: u64, makers: &[Call]) -> Code {
        if address == 0 {
            return INVALID_PARAM;
        }
        match self.find(address) {
            Some((start, block)) if start == address && makers.contains(&block.call) => 0,
            _ => PARAM_INVALID,
        }
    }

    /// Forgets a block and gives its charge back.
    pub(crate) fn give_back(&mut self, address: u64) -> Block {
        let block = self.blocks.remove(&address).expect("a live block");
        if let Some(device) = block.device.or(block.held_on) {
            let Self { devices, .. } = self;
            let device = &mut devices[device];
            match block.pages {
                Pages::Normal => device.free.normal += block.charge,
                Pages::Huge => device.free.huge += block.charge,
                Pages::Giant => {
                    let kept = block.charge.min(device.total.giant - device.free.giant);
                    device.free.giant += kept;
                    device.free.huge += block.charge - kept;
                }
            }
        }
        if let Some(device) = block.held_on {
            self.devices[device].held_by_host -= block.charge;
        }
        if block.call.is_media() {
            self.media_used -= block.charge;
        }
        block
    }

    /// All memory of a device goes at once. Returns the addresses of the blocks that went.
    pub(super) fn forget_memory(&mut self, device: usize) -> BTreeSet<u64> {
        let gone: BTreeSet<u64> = self
            .blocks
            .iter()
            .filter(|(_, block)| block.device == Some(device))
            .map(|(&start, _)| start)
            .collect();
        for start in &gone {
            let block = self.blocks.remove(start).expect("listed just now");
            if block.call.is_media() {
                self.media_used -= block.charge;
            }
        }
        let device = &mut self.devices[device];
        device.free = device.total;
        device.free.normal -= device.held_by_host;
        gone
    }
}
