//! aclrtMalloc, aclrtMallocAlign32, aclrtMallocCached, aclrtMallocWithCfg,
//! aclrtMallocForTaskScheduler.

use cannery_abi as abi;
use cannery_observe::{Counters, Event, Family, PageKind, emit};

use super::card::Neighbour;
use super::config::{self, APP_MODULE, Attribute, Wishes};
use super::policy::{self, Pages};
use super::store::{LARGEST_SMALL, Refusal, Request, Store, charge_of};
use super::stream_ordered_pool::{self, Held};
use crate::error::{
    Error, Fault, ModuleShare, OtherShare, OwnerShare, Result, Shortage, show_bytes,
};
use crate::process::{Here, here_and_me};
use crate::settings::Profile;
use crate::thread::{self, Me};

type Rule = fn(&Profile, i32, u64, u64) -> Result<Pages>;

/// One of the allocation calls: what it is called, how it pads and which policies it knows.
struct Call {
    family: Family,
    /// Operation that the texts name.
    stage: Option<&'static str>,
    /// Whether aclrtMalloc's padding is added.
    padded: bool,
    /// Whether the rule gives small blocks normal pages under ACL_MEM_MALLOC_HUGE_FIRST, on every
    /// product.
    plain: bool,
    rule: Rule,
}

impl Call {
    #[inline(always)]
    fn tail(&self, here: &Here) -> u64 {
        if self.padded {
            here.runtime.settings.profile.malloc_padding
        } else {
            0
        }
    }

    fn named(&self, error: Error) -> Error {
        match self.stage {
            Some(stage) => error.at(stage),
            None => error,
        }
    }
}

/// aclrtMalloc: `size` bytes on the current device, padded to a multiple of 32 plus the product's
/// tail, at a multiple of 64.
///
/// # Errors
/// 100000 for no place, size 0 and sizes that wrap; 107002 without a context; 207000 for policies
/// that the product lacks; 207001 when the pages run out. `out` stays as it was then.
#[inline(always)]
pub fn malloc(out: Option<&mut u64>, size: u64, policy: i32) -> Result<()> {
    const CALL: Call = Call {
        family: Family::Malloc,
        stage: Some("aclMallocMemInner"),
        padded: true,
        plain: true,
        rule: policy::plain,
    };
    simple(&CALL, out, size, policy)
}

/// aclrtMallocAlign32: as [`malloc`], without the tail.
///
/// # Errors
/// As [`malloc`].
#[inline]
pub fn malloc_align32(out: Option<&mut u64>, size: u64, policy: i32) -> Result<()> {
    const CALL: Call = Call {
        family: Family::Align32,
        stage: Some("aclMallocMemInner"),
        padded: false,
        plain: true,
        rule: policy::plain,
    };
    simple(&CALL, out, size, policy)
}

/// aclrtMallocCached: as [`malloc`]; the memory is coherent.
///
/// # Errors
/// As [`malloc`].
#[inline]
pub fn malloc_cached(out: Option<&mut u64>, size: u64, policy: i32) -> Result<()> {
    const CALL: Call = Call {
        family: Family::Cached,
        stage: None,
        padded: true,
        plain: false,
        rule: policy::cached,
    };
    simple(&CALL, out, size, policy)
}

/// aclrtMallocWithCfg: as [`malloc`] without the tail, with flags or-ed to the policy and
/// attributes (`None`: no configuration).
///
/// # Errors
/// As [`malloc`]; 107000 for attributes that are not for device memory, or name another device.
pub fn malloc_with_config(
    out: Option<&mut u64>,
    size: u64,
    policy: i32,
    attributes: Option<&[Attribute]>,
) -> Result<()> {
    configured(&WITH_CONFIG, out, size, policy, attributes)
}

/// aclrtMallocForTaskScheduler: as [`malloc_with_config`].
///
/// # Errors
/// As [`malloc_with_config`].
pub fn malloc_for_task_scheduler(
    out: Option<&mut u64>,
    size: u64,
    policy: i32,
    attributes: Option<&[Attribute]>,
) -> Result<()> {
    configured(&TASK_SCHEDULER, out, size, policy, attributes)
}

/// The checks of aclrtMallocWithCfg that come before its configuration is read.
///
/// # Errors
/// 100000 for no place, size 0 and sizes that wrap.
pub fn check_config_call(no_place: bool, size: u64) -> Result<()> {
    check_front(&WITH_CONFIG, no_place, size)
}

/// The checks of aclrtMallocForTaskScheduler that come before its configuration is read.
///
/// # Errors
/// 100000 for no place, size 0 and sizes that wrap.
pub fn check_scheduler_call(no_place: bool, size: u64) -> Result<()> {
    check_front(&TASK_SCHEDULER, no_place, size)
}

fn check_front(call: &Call, no_place: bool, size: u64) -> Result<()> {
    if no_place {
        return Err(self::no_place(call));
    }
    check_size(call, size, 32)
}

const WITH_CONFIG: Call = Call {
    family: Family::WithCfg,
    stage: Some("aclrtMallocInnerWithCfg"),
    padded: false,
    plain: true,
    rule: policy::with_config,
};

const TASK_SCHEDULER: Call = Call {
    family: Family::TaskScheduler,
    stage: None,
    padded: false,
    plain: true,
    rule: policy::with_config,
};

/// Inlined where the call is known, so that its constants and its rule are, too.
#[inline(always)]
fn simple(call: &Call, out: Option<&mut u64>, size: u64, policy: i32) -> Result<()> {
    let Some(out) = out else {
        return Err(no_place(call));
    };
    let worst = if call.padded { 64 } else { 32 };
    check_size(call, size, worst)?;
    let (here, me) = here_and_me()?;
    *out = place(call, &here, me, size, policy, APP_MODULE)?;
    Ok(())
}

fn configured(
    call: &Call,
    out: Option<&mut u64>,
    size: u64,
    policy: i32,
    attributes: Option<&[Attribute]>,
) -> Result<()> {
    check_front(call, out.is_none(), size)?;
    let Some(out) = out else {
        return Err(no_place(call));
    };
    let Wishes { module, device, .. } = match attributes {
        Some(attributes) => config::for_device(attributes)?,
        None => Wishes::default(),
    };
    let (here, me) = here_and_me()?;
    let current = here.device().index() as u32;
    if let Some(device) = device
        && device != current
    {
        return Err(Error::rt_value(
            "cfg->attrs[].value.deviceId",
            device,
            format!("the current device, {current}; leave the attribute out"),
        ));
    }
    *out = place(call, &here, me, size, policy, module)?;
    Ok(())
}

#[inline(always)]
fn check_size(call: &Call, size: u64, worst: u64) -> Result<()> {
    // One comparison for both: nothing is as large as what is left of 0.
    if size.wrapping_sub(1) >= u64::MAX - worst {
        return Err(bad_size(call, size, worst));
    }
    Ok(())
}

#[cold]
fn no_place(call: &Call) -> Error {
    call.named(Error::null("devPtr"))
}

#[cold]
fn bad_size(call: &Call, size: u64, worst: u64) -> Error {
    if size == 0 {
        return call.named(Error::zero("size"));
    }
    call.named(Error::cause(
        "size",
        size,
        format!("wraps when it is padded by up to {worst} bytes"),
    ))
}

/// A place for a block, and the block in it.
#[inline(always)]
fn place(call: &Call, here: &Here, me: Me, size: u64, policy: i32, module: u8) -> Result<u64> {
    let aligned = size.next_multiple_of(32);
    let padded = aligned + call.tail(here);
    // The usual case, for which no rule needs to be asked.
    if call.plain && policy == abi::ACL_MEM_MALLOC_HUGE_FIRST && padded <= LARGEST_SMALL {
        let request = Request {
            pages: PageKind::Normal,
            size: padded,
            requested: size,
            room: padded,
            family: call.family,
            module,
        };
        let store = here.store()?;
        if let Some(address) = store.alloc_at_once(here.arena, &request) {
            made(here, me, store, &request, address);
            return Ok(address);
        }
    }
    place_by_rule(call, *here, me, size, policy, module)
}

/// Every case. Takes `here` by value, so that in the usual case it need not lie in memory.
#[inline(never)]
fn place_by_rule(
    call: &Call,
    here: Here,
    me: Me,
    size: u64,
    policy: i32,
    module: u8,
) -> Result<u64> {
    let aligned = size.next_multiple_of(32);
    let tail = call.tail(&here);
    let profile = here.runtime.settings.profile;
    let pages = (call.rule)(profile, policy, size, aligned + tail)?;
    // No tail behind 1 GiB pages, on any product.
    let padded = if pages.kind == PageKind::Giant {
        aligned
    } else {
        aligned + tail
    };
    let mut request = Request {
        pages: pages.kind,
        size: padded,
        requested: size,
        room: padded,
        family: call.family,
        module,
    };
    let store = here.store()?;
    let mut result = store.alloc(here.arena, &request);
    if pages.or_normal && result.is_err() {
        request.pages = PageKind::Normal;
        result = store.alloc(here.arena, &request);
    }
    match result {
        Ok(address) => {
            made(&here, me, store, &request, address);
            Ok(address)
        }
        Err(refusal) => Err(refused(&here, store, &request, &pages, &refusal)),
    }
}

#[inline(always)]
fn made(here: &Here, me: Me, store: &Store, request: &Request, address: u64) {
    if me.has_failed() && thread::recovered(request.requested) {
        store.count_recovery();
    }
    emit(|| Event::Alloc {
        address,
        requested: request.requested,
        charged: charge_of(request.pages, request.size),
        family: request.family,
        pages: request.pages,
        device: here.device().index() as i32,
    });
}

#[cold]
fn refused(
    here: &Here,
    store: &Store,
    request: &Request,
    pages: &Pages,
    refusal: &Refusal,
) -> Error {
    store.count_failure();
    thread::note_failed(request.requested);
    let device = here.device().index() as u32;
    shortage(device, store, request, pages.or_normal, refusal)
}

/// The whole story of a shortage. Reads every number in one moment per pool.
pub(crate) fn shortage(
    device: u32,
    store: &Store,
    request: &Request,
    tried_both: bool,
    refusal: &Refusal,
) -> Error {
    let largest = store.largest(request.pages);
    // The others were asked before this was refused.
    let usage = store.usage_now();
    let others: Vec<OtherShare> = store.neighbours().into_iter().map(share).collect();
    let (free, total, other_free) = match request.pages {
        PageKind::Normal => (usage.normal_free, usage.normal_total, usage.huge_free),
        PageKind::Huge => (usage.huge_free, usage.huge_total, usage.normal_free),
        PageKind::Giant => (
            (usage.huge_free + usage.giant_free) >> 30 << 30,
            (usage.huge_total + usage.giant_total) >> 30 << 30,
            usage.normal_free,
        ),
    };
    let rounded = charge_saturating(request.pages, request.size);
    let counters = store.counters();
    let held = stream_ordered_pool::held(device as usize);
    let next = if let Some((quota, _)) = usage.quota.filter(|(_, left)| *left < rounded) {
        format!(
            "release memory of this process (aclrtFree), or raise CANNERY_QUOTA ({})",
            show_bytes(quota)
        )
    } else if matches!(refusal, Refusal::Addresses) {
        "the memory is there, but its addresses are in pieces; release neighbouring blocks, or allocate \
         large blocks first"
            .to_owned()
    } else if rounded > usage.normal_total.max(usage.huge_total + usage.giant_total) {
        "no device of this profile holds so much in one pool; ask for less, or choose a larger card \
         (CANNERY_PROFILE, CANNERY_HBM_BYTES)"
            .to_owned()
    } else if !tried_both && request.pages == PageKind::Huge && usage.normal_free >= request.size {
        "ACL_MEM_MALLOC_HUGE_FIRST (0) would succeed with normal pages".to_owned()
    } else if !tried_both
        && request.pages == PageKind::Normal
        && usage.huge_free >= rounded.next_multiple_of(2 << 20)
    {
        "ACL_MEM_MALLOC_HUGE_ONLY (1) would succeed".to_owned()
    } else if held.idle > 0 && free + held.idle >= rounded {
        format!(
            "give back what pools hold and nobody uses, {} (aclrtMemPoolTrimTo), and try again",
            show_bytes(held.idle)
        )
    } else if held.pending > 0 && free + held.idle + held.pending >= rounded {
        format!(
            "wait for the streams that memory was freed on (aclrtSynchronizeStream), which makes {} usable, \
             trim its pools (aclrtMemPoolTrimTo), and try again",
            show_bytes(held.pending)
        )
    } else if let Some(other) = others.first() {
        format!(
            "release memory (aclrtFree), end one of the other processes (pid {} holds most), or choose \
             a larger card for all of them (CANNERY_HBM_BYTES)",
            other.pid
        )
    } else {
        "release memory (aclrtFree) and try again, or choose a larger card (CANNERY_HBM_BYTES)"
            .to_owned()
    };
    Fault::Shortage(Box::new(Shortage {
        device,
        asked: request.requested,
        rounded,
        pages: request.pages,
        free,
        total,
        largest,
        other_free,
        owners: owners(store, &counters, &held),
        modules: modules(&counters),
        idle: held.idle,
        pending: held.pending,
        others,
        quota: usage.quota,
        next,
    }))
    .into()
}

fn share(neighbour: Neighbour) -> OtherShare {
    OtherShare {
        pid: neighbour.pid,
        name: neighbour.name,
        bytes: neighbour.bytes,
        stopped: neighbour.stopped,
    }
}

fn charge_saturating(pages: PageKind, size: u64) -> u64 {
    if size > u64::MAX - (1 << 31) {
        size
    } else {
        charge_of(pages, size)
    }
}

/// What the modules hold that the program names itself (ACL_RT_MEM_ATTR_MODULE_ID), largest first.
fn modules(counters: &Counters) -> Vec<ModuleShare> {
    let numbers = counters.modules.iter().zip(&counters.module_peaks);
    let mut modules: Vec<ModuleShare> = (0..)
        .zip(numbers)
        .filter(|(module, (bytes, _))| *module != APP_MODULE && **bytes > 0)
        .map(|(module, (bytes, peak))| ModuleShare {
            module,
            bytes: bytes.unsigned_abs(),
            peak: peak.unsigned_abs(),
        })
        .collect();
    modules.sort_by_key(|share| std::cmp::Reverse(share.bytes));
    modules.truncate(5);
    modules
}

/// Owners of device memory in this process, largest first.
fn owners(store: &Store, counters: &Counters, held: &Held) -> Vec<OwnerShare> {
    let mut owners: Vec<OwnerShare> = Family::ALL
        .iter()
        .zip(&counters.families)
        .filter(|(_, tally)| tally.blocks > 0)
        .map(|(family, tally)| OwnerShare {
            name: family.made_by().to_owned(),
            blocks: tally.blocks.unsigned_abs(),
            bytes: tally.bytes.unsigned_abs(),
        })
        .collect();
    let Held { pools, bytes, .. } = *held;
    if pools > 0 {
        owners.push(OwnerShare {
            name: "pools of aclrtMemPoolCreate".to_owned(),
            blocks: pools,
            bytes,
        });
    }
    let others = store
        .foreign()
        .saturating_sub(if pools > 0 { bytes } else { 0 });
    if others > 0 {
        owners.push(OwnerShare {
            name: "aclrtMallocPhysical and other memory without blocks".to_owned(),
            blocks: 0,
            bytes: others,
        });
    }
    owners.sort_by_key(|owner| std::cmp::Reverse(owner.bytes));
    owners.truncate(5);
    owners
}
