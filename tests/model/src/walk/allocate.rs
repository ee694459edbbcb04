//! Steps that allocate and release.

use cannery_abi::{aclrtMallocAttrValue, aclrtMallocAttribute, aclrtMallocConfig};

use super::{UNTOUCHED, World};
use crate::api;
use crate::model::{Call, Cfg, Code, NOT_SUPPORTED, Pages, Plan, Wish};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// Live blocks at most.
const MOST_LIVE: usize = 3_000;

/// A release function and the makers of the blocks that it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    Free,
    FreeSync,
    FreeHost,
    FreeHostSync,
    Dvpp,
    HiMpi,
}

impl By {
    const ALL: [By; 6] = [
        By::Free,
        By::FreeSync,
        By::FreeHost,
        By::FreeHostSync,
        By::Dvpp,
        By::HiMpi,
    ];

    fn of(call: Call, sync: bool) -> By {
        match (call, sync) {
            (Call::Host | Call::HostWithCfg, false) => By::FreeHost,
            (Call::Host | Call::HostWithCfg, true) => By::FreeHostSync,
            (Call::Dvpp, _) => By::Dvpp,
            (Call::HiMpi, _) => By::HiMpi,
            (_, false) => By::Free,
            (_, true) => By::FreeSync,
        }
    }

    fn name(self) -> &'static str {
        match self {
            By::Free => "aclrtFree",
            By::FreeSync => "aclrtFreeWithDevSync",
            By::FreeHost => "aclrtFreeHost",
            By::FreeHostSync => "aclrtFreeHostWithDevSync",
            By::Dvpp => "acldvppFree",
            By::HiMpi => "hi_mpi_dvpp_free",
        }
    }

    fn makers(self) -> &'static [Call] {
        match self {
            By::Free | By::FreeSync => &[
                Call::Malloc,
                Call::Align32,
                Call::Cached,
                Call::WithCfg,
                Call::TaskScheduler,
            ],
            By::FreeHost | By::FreeHostSync => &[Call::Host, Call::HostWithCfg],
            By::Dvpp => &[Call::Dvpp],
            By::HiMpi => &[Call::HiMpi],
        }
    }

    fn call(self, address: u64) -> Code {
        let pointer = api::pointer(address);
        match self {
            By::Free => api::aclrtFree(pointer),
            By::FreeSync => api::aclrtFreeWithDevSync(pointer),
            By::FreeHost => api::aclrtFreeHost(pointer),
            By::FreeHostSync => api::aclrtFreeHostWithDevSync(pointer),
            By::Dvpp => api::acldvppFree(pointer),
            By::HiMpi => api::hi_mpi_dvpp_free(pointer),
        }
    }
}

impl World {
    fn random_size(&mut self, call: Call) -> u64 {
        let edges = [
            1, 31, 32, 33, 63, 64, 65, 95, 96, 97, 4095, 4096, 4097, 8160, 8192,
        ];
        let around = self
            .source
            .pick(&[32 * KIB, 64 * KIB, MIB, 2 * MIB, 4 * MIB]);
        let off = self.source.pick(&[0, 1, 31, 32, 33, 63, 64, 65]);
        let most = if call.is_host() && !self.model.config.rc {
            4 * MIB
        } else {
            self.model.config.capacity
        };
        match self.source.weighted(&[60, 16, 10, 6, 3, 2, 1]) {
            0 => self.source.size(16 * KIB),
            1 => self.source.pick(&edges),
            2 => around + off,
            3 => around - off,
            4 => self.source.size(most / 2),
            5 if call.is_host() => self.source.size(most / 2),
            5 => self
                .source
                .pick(&[most, most / 2, most - 32, GIB, GIB - 1, GIB + 1]),
            _ => self.source.pick(&[
                0,
                1 << 46,
                1 << 60,
                1 << 63,
                u64::MAX - 1000,
                u64::MAX - 20,
                u64::MAX - 1,
                u64::MAX,
            ]),
        }
    }

    fn random_policy(&mut self) -> i32 {
        let flags = self
            .source
            .pick(&[0, 0, 0, 0x100, 0x1000, 0x10_0000, 0x1100]);
        match self.source.weighted(&[30, 30, 8, 4]) {
            0 => self.source.pick(&[0, 1, 2]),
            1 => self.source.below(8) as i32,
            2 => self.source.pick(&[8, 77, -1, 0x55, i32::MAX, i32::MIN]),
            _ => self.source.below(8) as i32 | flags,
        }
    }

    fn random_cfg(&mut self, call: Call) -> Cfg {
        if !call.takes_cfg() {
            return Cfg::None;
        }
        match self.source.below(8) {
            0..4 => Cfg::None,
            4 if self.source.once_in(4) => Cfg::NoArray,
            _ => {
                let count = 1 + self.source.below(3);
                let one = |source: &mut crate::source::Source| {
                    let legal = if call.is_host() { [1, 3] } else { [1, 2] };
                    let kind = if source.once_in(12) {
                        source.pick(&[0, 2, 3, 99, -1])
                    } else {
                        source.pick(&legal)
                    };
                    let value = match kind {
                        1 => source.pick(&[3, 33, 0, 63, 64, 7]),
                        _ => source.below(3) as u32,
                    };
                    (kind, value)
                };
                Cfg::Attributes((0..count).map(|_| one(&mut self.source)).collect())
            }
        }
    }

    pub(super) fn allocate(&mut self, thread: usize) {
        if self.live.len() >= MOST_LIVE {
            return self.release(thread);
        }
        let call = Call::ALL[self.source.weighted(&[30, 8, 12, 10, 4, 16, 6, 5, 5])];
        let wish = Wish {
            call,
            no_place: self.source.once_in(300),
            size: self.random_size(call),
            policy: self.random_policy(),
            cfg: self.random_cfg(call),
        };
        let right = self.model.allocate(thread, &wish);
        self.note(format!("thread {thread}: {wish:x?} -> {right:x?}"));
        let mut place = UNTOUCHED;
        let code = call_library(&wish, &mut place);
        match right {
            Ok(plan) => {
                self.judge(call.name(), code, &[0]);
                self.take(thread, &wish, place, &plan);
            }
            Err(codes) => {
                self.judge(call.name(), code, &codes);
                self.insist(place == UNTOUCHED, || {
                    format!("{} failed and wrote {place:#x}", call.name())
                });
                if codes.contains(&crate::model::NO_MEMORY) {
                    self.check_figures(thread);
                }
            }
        }
    }

    /// Looks at a new block and takes it into the model.
    fn take(&mut self, thread: usize, wish: &Wish, address: u64, plan: &Plan) {
        let call = wish.call;
        let align = match (call.is_media(), plan.pages) {
            (true, _) => 128,
            // Where host and device are one, pinned memory has no such promise.
            _ if call.is_host() && self.model.config.rc => 1,
            (_, Pages::Huge) => 2 * MIB,
            (_, Pages::Giant) => GIB,
            (false, Pages::Normal) => 64,
        };
        self.insist(address.is_multiple_of(align), || {
            format!("{} gave {address:#x}, no multiple of {align}", call.name())
        });
        let end = address + plan.size;
        let neighbour = self.model.blocks.range(..end).next_back();
        let clear = neighbour.is_none_or(|(start, block)| start + block.size <= address);
        self.insist(clear, || {
            format!("{address:#x}..{end:#x} overlaps {neighbour:x?}")
        });
        if let Some(device) = plan.device {
            let all = self.model.config.addresses(device);
            let inside = address >= all.start && end <= all.end;
            self.insist(inside, || {
                format!("{address:#x} does not belong to device {device}")
            });
        }
        if call.is_host() && wish.size >= 4096 && !self.model.config.rc {
            self.insist(address.is_multiple_of(4096), || {
                format!("pinned memory of {} bytes at {address:#x}", wish.size)
            });
        }
        self.model.take(address, call, plan);
        self.live.push(address);
        if plan.size <= 64 * KIB && self.source.once_in(3) {
            self.stamp(thread, address, plan.size);
        }
    }

    /// Fills a new block to its last byte, so that an overlap shows.
    fn stamp(&mut self, thread: usize, address: u64, size: u64) {
        if self.model.current(thread).is_none() {
            return;
        }
        let value = self.source.below(256) as i32;
        let code = api::aclrtMemset(api::pointer(address), size as usize, value, size as usize);
        self.judge("aclrtMemset", code, &[0]);
        self.expect(address, &vec![value as u16; size as usize]);
    }

    pub(super) fn release(&mut self, thread: usize) {
        let sync = self.source.once_in(5);
        let (address, by) = match self.source.weighted(&[80, 6, 10, 1]) {
            0 | 1 if self.live.is_empty() => return self.allocate(thread),
            0 => {
                let address = self.some_live().expect("not empty");
                (address, By::of(self.model.blocks[&address].call, sync))
            }
            1 => {
                let address = self.some_live().expect("not empty");
                (address, self.source.pick(&By::ALL))
            }
            2 => (self.stray(), self.source.pick(&By::ALL)),
            _ => (0, self.source.pick(&By::ALL)),
        };
        let needs_context = matches!(by, By::FreeSync | By::FreeHostSync);
        let mut right = vec![self.model.release(address, by.makers())];
        if address != 0 {
            if needs_context && self.model.current(thread).is_none() {
                right = vec![crate::model::NO_CONTEXT];
            }
            if !self.model.config.has(by.name()) {
                right = vec![NOT_SUPPORTED];
            }
        }
        self.note(format!(
            "thread {thread}: {}({address:#x}) -> {right:?}",
            by.name()
        ));
        if right == [0] && self.source.once_in(2) {
            let (which, block) = (self.source.below(64), &self.model.blocks[&address]);
            if let Some((from, len)) = block.shadow.some_known(which, block.size) {
                self.verify(thread, address, from, len);
            }
        }
        let code = by.call(address);
        self.judge(by.name(), code, &right);
        if code == 0 {
            self.gone(address);
            if self.source.once_in(8) {
                let again = by.call(address);
                self.judge(
                    by.name(),
                    again,
                    &right_after_release(needs_context, self, thread),
                );
            }
        } else if self.source.once_in(4) {
            self.check_figures(thread);
        }
    }

    /// Releases a live block by its own function.
    pub(super) fn release_properly(&mut self, address: u64) {
        let by = By::of(self.model.blocks[&address].call, false);
        let code = by.call(address);
        self.judge(by.name(), code, &[0]);
        self.gone(address);
    }

    fn gone(&mut self, address: u64) {
        let size = self.model.give_back(address).size;
        let at = self.live.iter().position(|live| *live == address);
        self.live.swap_remove(at.expect("was live"));
        self.bury(address, size);
    }

    fn bury(&mut self, address: u64, size: u64) {
        if self.dead.len() == 64 {
            self.dead.pop_front();
        }
        self.dead.push_back((address, size));
    }

    /// After a device reset: what the model has forgotten is gone here too.
    pub(super) fn forget_gone(&mut self) {
        let (kept, gone): (Vec<u64>, Vec<u64>) = std::mem::take(&mut self.live)
            .into_iter()
            .partition(|start| self.model.blocks.contains_key(start));
        self.live = kept;
        for address in gone {
            self.bury(address, 1);
        }
    }
}

fn right_after_release(needs_context: bool, world: &World, thread: usize) -> [Code; 1] {
    if needs_context && world.model.current(thread).is_none() {
        [crate::model::NO_CONTEXT]
    } else {
        [crate::model::PARAM_INVALID]
    }
}

fn call_library(wish: &Wish, place: &mut u64) -> Code {
    let out = if wish.no_place {
        std::ptr::null_mut()
    } else {
        std::ptr::from_mut(place).cast()
    };
    let (size, policy) = (wish.size as usize, wish.policy);
    let mut attributes: Vec<aclrtMallocAttribute> = match &wish.cfg {
        Cfg::Attributes(list) => list
            .iter()
            .map(|(attr, value)| aclrtMallocAttribute {
                attr: *attr,
                value: aclrtMallocAttrValue { deviceId: *value },
            })
            .collect(),
        _ => Vec::new(),
    };
    let mut with_array = aclrtMallocConfig {
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len(),
    };
    let mut without_array = aclrtMallocConfig {
        attrs: std::ptr::null_mut(),
        numAttrs: 0,
    };
    let cfg = match &wish.cfg {
        Cfg::None => std::ptr::null_mut(),
        Cfg::NoArray => &raw mut without_array,
        Cfg::Attributes(_) => &raw mut with_array,
    };
    match wish.call {
        Call::Malloc => api::aclrtMalloc(out, size, policy),
        Call::Align32 => api::aclrtMallocAlign32(out, size, policy),
        Call::Cached => api::aclrtMallocCached(out, size, policy),
        Call::WithCfg => api::aclrtMallocWithCfg(out, size, policy, cfg),
        Call::TaskScheduler => api::aclrtMallocForTaskScheduler(out, size, policy, cfg),
        Call::Host => api::aclrtMallocHost(out, size),
        Call::HostWithCfg => api::aclrtMallocHostWithCfg(out, wish.size, cfg),
        Call::Dvpp => api::acldvppMalloc(out, size),
        Call::HiMpi => api::hi_mpi_dvpp_malloc(0, out, wish.size),
    }
}
