//! Manual chapter: host memory. aclrtHostRegister, aclrtHostRegisterV2, aclrtHostUnregister,
//! aclrtHostGetDevicePointer, aclrtHostMemMapCapabilities.
//!
//! * **registration**: a range of whole pages of host memory that the program lends to the device.
//!   It is locked where limits allow, counts as pinned for queued copies, belongs to the process, and
//!   lasts until it is ended: through resets of devices, and through aclFinalize.
//! * **alias**: the device address of a mapped registration: `host - distance` of the window, so that
//!   what kernels do with every device pointer (add the distance) leads to the host memory. It is a
//!   number; nothing is mapped there. What runs on the device takes it (kernels, reductions, value
//!   tasks), copies and fills do not, as the manual says.
//!
//! An alias can fall on memory of the program by accident. Copies then take the address for that
//! memory. The alias of a registration that has ended is remembered, so that its use is an error too.
//!
//! Memory that the program gives back while it is registered stays registered (its addresses do), and
//! copies with it are refused while nothing is mapped there (see `presence`).

mod page_map;
mod presence;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use cannery_abi as abi;
use cannery_observe::Family;

use self::page_map::{Entry, PageMap, Record, Spare};
use self::presence::Presence;
use super::host::not_lockable;
use super::{guard, locate};
use crate::error::{Error, Fault, Result, show_bytes};
use crate::os::{host, map};
use crate::process::{Runtime, current, here};
use crate::settings::Pin;
use crate::settings::profile::products_of;

const PAGE: u64 = 4096;
/// Bits of the flags of aclrtHostRegisterV2.
const MAPPED: u32 = abi::ACL_HOST_REG_MAPPED as u32;
const PINNED: u32 = abi::ACL_HOST_REG_PINNED as u32;
const RESERVED: u32 = (abi::ACL_HOST_REG_IOMEMORY | abi::ACL_HOST_REG_READONLY) as u32;

/// Products that register host memory.
const REGISTERING: u8 = products_of("aclrtHostRegister");

/// All registrations of this process.
#[derive(Default)]
pub(crate) struct Registered {
    /// Whether there ever was one: then addresses are looked up.
    any: AtomicBool,
    map: OnceLock<PageMap>,
    presence: Presence,
    ranges: Mutex<Ranges>,
}

#[derive(Default)]
struct Ranges {
    by_start: BTreeMap<u64, Range>,
    spare: Spare,
    /// Page table entries taken.
    entries: u64,
}

/// Where the life of a registration stands. Locking and unlocking happen outside of the lock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Coming,
    Live { record: u32 },
    Going,
}

struct Range {
    bytes: u64,
    state: State,
    mapped: bool,
    locked: bool,
    entries: u64,
}

/// Numbers for reports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) ranges: u64,
    pub(crate) bytes: u64,
    pub(crate) locked: u64,
}

impl Registered {
    fn ranges(&self) -> MutexGuard<'_, Ranges> {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether anything was ever registered. One load.
    #[inline(always)]
    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    fn entry(&self, address: u64) -> Entry {
        match self.map.get() {
            Some(map) => map.find(address),
            None => Entry::Nothing,
        }
    }

    fn live(&self, address: u64) -> Option<Record> {
        match self.entry(address) {
            Entry::Live(record) => Some(record),
            _ => None,
        }
    }

    /// Whether a host address is registered.
    #[inline]
    pub(crate) fn holds(&self, address: u64) -> bool {
        self.any() && self.live(address).is_some()
    }

    /// Whether all of a host range is registered, by one registration or by neighbours.
    #[inline]
    pub(crate) fn covers(&self, address: u64, bytes: u64) -> bool {
        self.any() && self.covered(address, bytes, false)
    }

    fn covered(&self, mut address: u64, bytes: u64, mapped: bool) -> bool {
        let Some(end) = address.checked_add(bytes) else {
            return false;
        };
        loop {
            match self.live(address) {
                Some(record) if record.mapped || !mapped => address = record.start + record.bytes,
                _ => return false,
            }
            if address >= end {
                return true;
            }
        }
    }

    /// Whether a range that begins in `record`, and may go on in its neighbours, is mapped.
    fn are_there(&self, record: Record, address: u64, bytes: u64) -> bool {
        let inside = bytes.min(record.start + record.bytes - address);
        self.presence.check(record, address, inside)
            && (inside == bytes || map::is_mapped(address + inside, bytes - inside))
    }

    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for range in self.ranges().by_start.values() {
            totals.ranges += 1;
            totals.bytes += range.bytes;
            totals.locked += if range.locked { range.bytes } else { 0 };
        }
        totals
    }
}

/// Refuses host addresses that copies must not use: aliases, and registered memory that is gone. The
/// caller saw that something was registered.
#[inline(never)]
pub(crate) fn check_copy(
    runtime: &Runtime,
    param: &'static str,
    address: u64,
    bytes: u64,
) -> Result<()> {
    let registered = &runtime.registered;
    let host = address.wrapping_add(runtime.window.distance());
    match registered.entry(host) {
        Entry::Live(record) if record.mapped && !map::is_readable(address) => {
            return Err(Error::address(param, address, alias_text(host, record)));
        }
        Entry::Ended if !map::is_readable(address) => {
            return Err(Error::address(param, address, ended_text(host)));
        }
        _ => {}
    }
    if let Some(record) = registered.live(address) {
        let inside = bytes.min(record.start + record.bytes - address);
        if !registered.presence.check(record, address, inside) {
            return Err(Error::address(param, address, gone_text(record)));
        }
    }
    Ok(())
}

/// What an address is that is no host address, when it is an alias; `None` when it is not.
#[cold]
pub(crate) fn describe_alias(runtime: &Runtime, address: u64) -> Option<String> {
    let host = address.wrapping_add(runtime.window.distance());
    match runtime.registered.entry(host) {
        Entry::Live(record) if record.mapped => Some(alias_text(host, record)),
        Entry::Ended => Some(ended_text(host)),
        _ => None,
    }
}

fn alias_text(host: u64, record: Record) -> String {
    format!(
        "the device address of registered host memory ({} at {:#x}), which is for kernels, reductions and \
         value tasks only; copies and fills take the host address, {host:#x}",
        show_bytes(record.bytes),
        record.start
    )
}

fn ended_text(host: u64) -> String {
    format!(
        "the device address of host memory at {host:#x} that is not registered any more \
         (aclrtHostUnregister); use the host address"
    )
}

fn gone_text(record: Record) -> String {
    format!(
        "host memory that the program has given back while it was registered ({} at {:#x}); call \
         aclrtHostUnregister before memory is unmapped or freed",
        show_bytes(record.bytes),
        record.start
    )
}

/// Where the runtime touches an alias; `None` when the address is none. For what runs on the device.
///
/// # Errors
/// 107000 for a range that leaves what is registered, and for memory that is gone.
pub(crate) fn touch_alias(
    runtime: &Runtime,
    param: &'static str,
    address: u64,
    bytes: u64,
) -> Result<Option<u64>> {
    let registered = &runtime.registered;
    if !registered.any() {
        return Ok(None);
    }
    let host = address.wrapping_add(runtime.window.distance());
    let record = match registered.entry(host) {
        Entry::Live(record) if record.mapped => record,
        Entry::Ended if locate::block(runtime, address).is_none() => {
            return Err(Error::address(param, address, ended_text(host)));
        }
        _ => return Ok(None),
    };
    if !registered.covered(host, bytes, true) {
        let cause = format!(
            "the range of {bytes} bytes leaves the registered host memory of {} at {:#x}",
            show_bytes(record.bytes),
            record.start
        );
        return Err(Error::address(param, address, cause));
    }
    if !registered.are_there(record, host, bytes) {
        return Err(Error::address(param, address, gone_text(record)));
    }
    Ok(Some(host))
}

/// aclrtHostRegister: lends `bytes` bytes of host memory at `address` to the device; `out` gets the
/// alias.
///
/// # Errors
/// 100000 for NULL and size 0; 207000 for types other than MAPPED; 107002 without a context; 107000 for
/// an address that is no multiple of 4096, a size that is none (memory of aclrtMallocHost is rounded
/// up), memory that is not mapped and memory of the runtime; 507910 for a range that overlaps a
/// registration; 207001 beyond the limits, and (strict) for memory that may not be locked.
pub fn register(address: u64, bytes: u64, kind: i32, out: Option<&mut u64>) -> Result<()> {
    if address == 0 {
        return Err(Error::null("ptr"));
    }
    let Some(out) = out else {
        return Err(Error::null("devPtr"));
    };
    if bytes == 0 {
        return Err(Error::zero("size"));
    }
    if kind != abi::ACL_HOST_REGISTER_MAPPED {
        return Err(Error::unsupported(format!(
            "argument type is {kind}: host memory is registered as 0 (ACL_HOST_REGISTER_MAPPED) only; 4 (I/O \
             memory) and 8 (read-only) are reserved"
        )));
    }
    let here = here()?;
    add(here.runtime, address, bytes, MAPPED)?;
    *out = address.wrapping_sub(here.runtime.window.distance());
    Ok(())
}

/// aclrtHostRegisterV2: as [`register`], by flags. MAPPED gives it an alias, PINNED only locks it.
///
/// # Errors
/// As [`register`]; 107000 for flags of which none or an unknown one is set, 207000 for the reserved
/// ones; 107000 for PINNED on memory of aclrtMallocHost, which is.
pub fn register_with_flags(address: u64, bytes: u64, flags: u32) -> Result<()> {
    if address == 0 {
        return Err(Error::null("ptr"));
    }
    if bytes == 0 {
        return Err(Error::zero("size"));
    }
    if flags == 0 || flags & !(MAPPED | PINNED | RESERVED) != 0 {
        return Err(Error::rt_cause(
            "flag",
            format!("{flags:#x}"),
            "must be a mask of 0x2 (mapped) and 0x10000000 (pinned), of which one is set at least",
        ));
    }
    if flags & RESERVED != 0 {
        return Err(Error::unsupported(format!(
            "argument flag is {flags:#x}: 0x4 (I/O memory) and 0x8 (read-only) are reserved; use 0x2 (mapped) \
             and 0x10000000 (pinned)"
        )));
    }
    add(here()?.runtime, address, bytes, flags)
}

/// aclrtHostUnregister: ends the registration that begins at `address`. Queued work that uses the
/// memory is not waited for, and goes on to use it.
///
/// # Errors
/// 100000 for NULL; 107002 without a context; 507911 for everything else that is not the first byte of
/// a registration.
pub fn unregister(address: u64) -> Result<()> {
    if address == 0 {
        return Err(Error::null("ptr"));
    }
    remove(here()?.runtime, address)
}

/// aclrtHostGetDevicePointer: the alias of a host address inside a mapped registration.
///
/// # Errors
/// 100000 for NULL and flags; 107002 without a context; 107000 for memory that is not registered, or
/// not mapped.
pub fn device_pointer(address: u64, out: Option<&mut u64>, flag: u32) -> Result<()> {
    if address == 0 {
        return Err(Error::null("pHost"));
    }
    let Some(out) = out else {
        return Err(Error::null("pDevice"));
    };
    if flag != 0 {
        return Err(Error::cause("flag", flag, "reserved, must be 0"));
    }
    let runtime = here()?.runtime;
    let cause = match runtime.registered.live(address) {
        Some(record) if record.mapped => {
            *out = address.wrapping_sub(runtime.window.distance());
            return Ok(());
        }
        Some(_) => {
            "registered as pinned only, which gives no device address; register it as mapped (0x2)"
        }
        None => {
            "not registered; call aclrtHostRegister, or aclrtHostRegisterV2 with 0x2 (mapped), first"
        }
    };
    Err(Error::address("pHost", address, cause))
}

/// aclrtHostMemMapCapabilities: whether a kind of accelerator reaches registered host memory. Those
/// that exist here do, on products that register host memory.
///
/// # Errors
/// 100000 without a place; 107000 for an unknown kind; 107001 for a device that does not exist.
pub fn capabilities(device: u32, kind: i32, out: Option<&mut i32>) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("capabilities"));
    };
    if !(abi::ACL_RT_HAC_TYPE_STARS..=abi::ACL_RT_HAC_TYPE_CCU).contains(&kind) {
        return Err(Error::rt_value(
            "hacType",
            kind,
            "a value of aclrtHacType, in [0, 9]",
        ));
    }
    let runtime = current()?;
    let index = i32::try_from(device).unwrap_or(i32::MAX);
    runtime.device_index("deviceId", index)?;
    let exists = [
        abi::ACL_RT_HAC_TYPE_STARS,
        abi::ACL_RT_HAC_TYPE_AICPU,
        abi::ACL_RT_HAC_TYPE_AIC,
        abi::ACL_RT_HAC_TYPE_AIV,
        abi::ACL_RT_HAC_TYPE_PCIEDMA,
        abi::ACL_RT_HAC_TYPE_SDMA,
    ];
    *out = if exists.contains(&kind) && runtime.settings.profile.is_in(REGISTERING) {
        abi::ACL_RT_HOST_MEM_MAP_SUPPORTED
    } else {
        abi::ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED
    };
    Ok(())
}

/// Bytes that a registration takes; refuses ranges that cannot be one.
fn check_range(runtime: &Runtime, address: u64, bytes: u64, flags: u32) -> Result<u64> {
    let first = address & !(PAGE - 1);
    let end = address
        .checked_add(bytes)
        .and_then(|end| end.checked_next_multiple_of(PAGE))
        .filter(|end| *end <= 1 << 47);
    let Some(end) = end else {
        return Err(Error::rt_value(
            "size",
            bytes,
            "a size that ends inside the address space",
        ));
    };
    let fitting = || {
        format!(
            "the smallest range of whole pages around it is {} at {first:#x}",
            show_bytes(end - first)
        )
    };
    if address != first {
        let cause = format!(
            "must be a multiple of {PAGE} and is {} bytes behind one; {}",
            address - first,
            fitting()
        );
        return Err(Error::address("ptr", address, cause));
    }
    let whole = end - first;
    let mapped_host = is_mapped_host_memory(runtime, address, end);
    let foreign = runtime.window.contains(address)
        || runtime.areas.covers(address)
        || runtime.window.alias_contains(address);
    if foreign && !mapped_host {
        let cause = "memory of a device, managed memory, or a mapping without rights for the host; only host \
                     memory is registered";
        return Err(Error::address("ptr", address, cause));
    }
    if runtime.host.get().is_some_and(|host| host.owns(address)) {
        let Some(block) = locate::block(runtime, address) else {
            let cause = "memory that aclrtFreeHost has taken back";
            return Err(Error::address("ptr", address, cause));
        };
        if end > (block.start + block.size).next_multiple_of(PAGE) {
            let cause = format!(
                "the range of {bytes} bytes leaves its block of {} at {:#x}",
                show_bytes(block.requested),
                block.start
            );
            return Err(Error::address("ptr", address, cause));
        }
        if flags & PINNED != 0 {
            let cause =
                "memory of aclrtMallocHost, which is pinned already; register it as mapped (0x2)";
            return Err(Error::address("ptr", address, cause));
        }
        return Ok(whole);
    }
    // The last page of a block of aclrtMallocHost is the block's own; one of the program may be shared.
    if !bytes.is_multiple_of(PAGE) {
        return Err(Error::rt_value(
            "size",
            bytes,
            format!("a multiple of {PAGE}; {}", fitting()),
        ));
    }
    if !map::is_mapped(address, whole) {
        let cause = format!("not all of the {} from there are mapped", show_bytes(whole));
        return Err(Error::address("ptr", address, cause));
    }
    Ok(whole)
}

/// Whether a range of an area is host memory that the program may touch.
fn is_mapped_host_memory(runtime: &Runtime, address: u64, end: u64) -> bool {
    let mut at = address;
    while at < end {
        match runtime.areas.find(at) {
            Some((_, piece))
                if piece.live
                    && piece.family == Family::Mapping
                    && piece.device.is_none()
                    && map::is_readable(at) =>
            {
                at = piece.start + piece.size;
            }
            _ => return false,
        }
    }
    true
}

fn shortage(asked: u64, cause: String) -> Error {
    Fault::HostShortage { asked, cause }.into()
}

fn add(runtime: &Runtime, address: u64, bytes: u64, flags: u32) -> Result<()> {
    let whole = check_range(runtime, address, bytes, flags)?;
    let limits = &runtime.settings.limits;
    if let Some(most) = limits.registration.filter(|most| whole > *most) {
        let cause = format!(
            "one registration may have {} at most (CANNERY_LIMITS registration=); register smaller parts",
            show_bytes(most)
        );
        return Err(shortage(whole, cause));
    }
    reserve(&runtime.registered, address, whole, flags & MAPPED != 0)?;
    let made = bring_in(runtime, address, whole).and_then(|locked| {
        let entries = limits
            .page_table_entries
            .map(|most| (most, host::pages_of(address, whole)));
        publish(&runtime.registered, address, locked, entries).inspect_err(|_| {
            if locked {
                runtime.lock_budget().unlock(address, whole);
            }
        })
    });
    if made.is_err() {
        runtime.registered.ranges().by_start.remove(&address);
    }
    made
}

/// Puts a range on the list that is not live yet.
fn reserve(registered: &Registered, address: u64, bytes: u64, mapped: bool) -> Result<()> {
    let mut ranges = registered.ranges();
    let before = ranges.by_start.range(..address + bytes).next_back();
    if let Some((start, range)) = before
        && start + range.bytes > address
    {
        return Err(Error::sequence(
            abi::ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
            format!(
                "argument ptr is {address:#x}: the range of {} overlaps the registered one of {} at \
                 {start:#x}; call aclrtHostUnregister({start:#x}) first",
                show_bytes(bytes),
                show_bytes(range.bytes),
            ),
        ));
    }
    let range = Range {
        bytes,
        state: State::Coming,
        mapped,
        locked: false,
        entries: 0,
    };
    ranges.by_start.insert(address, range);
    Ok(())
}

/// Locks the memory; whether it is locked by the registration. Memory of aclrtMallocHost is locked by
/// its owner.
fn bring_in(runtime: &Runtime, address: u64, bytes: u64) -> Result<bool> {
    let budget = runtime.lock_budget();
    if runtime.host.get().is_some_and(|host| host.owns(address)) {
        return Ok(false);
    }
    // Before it is tried: a limit that is not at fault is not blamed then.
    if !map::is_readable(address) || !map::is_readable(address + bytes - PAGE) {
        check_rights(address, bytes)?;
    }
    if budget.mode() == Pin::Off {
        check_rights(address, bytes)?;
        return Ok(false);
    }
    guard::commit_rest(address, bytes)?;
    let locked = budget.lock(address, bytes);
    if !matches!(locked, Ok(true)) {
        // Locked memory can be reached; of other memory nobody has said so yet.
        check_rights(address, bytes)?;
    }
    locked.map_err(|error| shortage(bytes, not_lockable(budget, &error, bytes)))
}

/// Refuses memory of which a part is mapped without the right to read it (`PROT_NONE`).
fn check_rights(address: u64, bytes: u64) -> Result<()> {
    let Some(at) = map::first_unreadable(address, bytes) else {
        return Ok(());
    };
    let cause = format!(
        "the memory at {at:#x} is mapped without the right to read it (PROT_NONE), so the device cannot reach \
         it; give it rights with mprotect first, or register memory that has them"
    );
    Err(Error::address("ptr", address, cause))
}

fn publish(
    registered: &Registered,
    address: u64,
    locked: bool,
    entries: Option<(u64, (u64, u64))>,
) -> Result<()> {
    let mut ranges = registered.ranges();
    let ranges = &mut *ranges;
    let Some(range) = ranges.by_start.get_mut(&address) else {
        return Ok(());
    };
    if let Some((most, (small, huge))) = entries {
        let needed = small + huge;
        if ranges.entries + needed > most {
            let cause = format!(
                "the page table of the device has {most} entries (CANNERY_LIMITS page-table-entries=), {} are \
                 in use, and {needed} more are needed ({small} pages of 4 KiB, {huge} huge ones); in pages of \
                 2 MiB it would be {}; end other registrations, or use huge pages",
                ranges.entries,
                range.bytes.div_ceil(2 << 20),
            );
            return Err(shortage(range.bytes, cause));
        }
        range.entries = needed;
    }
    let no_room = |error: std::io::Error| {
        let cause = format!("no memory for the list of registrations: {error}");
        shortage(4096, cause)
    };
    let map = match registered.map.get() {
        Some(map) => map,
        None => {
            let map = PageMap::new(&mut ranges.spare).map_err(no_room)?;
            registered.map.get_or_init(|| map)
        }
    };
    let record = Record {
        start: address,
        bytes: range.bytes,
        mapped: range.mapped,
    };
    let record = map.insert(&mut ranges.spare, record).map_err(no_room)?;
    (range.state, range.locked) = (State::Live { record }, locked);
    ranges.entries += range.entries;
    registered.any.store(true, Ordering::Release);
    Ok(())
}

fn remove(runtime: &Runtime, address: u64) -> Result<()> {
    let registered = &runtime.registered;
    let mut guard = registered.ranges();
    let ranges = &mut *guard;
    let live = match ranges.by_start.get_mut(&address) {
        Some(range) => match range.state {
            State::Live { record } => Some((range, record)),
            State::Coming | State::Going => None,
        },
        None => None,
    };
    let (Some((range, record)), Some(map)) = (live, registered.map.get()) else {
        return Err(not_registered(ranges, address));
    };
    map.remove(&mut ranges.spare, record);
    registered.presence.forget(address);
    range.state = State::Going;
    ranges.entries -= range.entries;
    let (bytes, locked) = (range.bytes, range.locked);
    if locked {
        // Nobody registers the range before it is unlocked: it is still on the list.
        drop(guard);
        runtime.lock_budget().unlock(address, bytes);
        guard = registered.ranges();
    }
    guard.by_start.remove(&address);
    Ok(())
}

#[cold]
fn not_registered(ranges: &Ranges, address: u64) -> Error {
    let before = ranges.by_start.range(..=address).next_back();
    let cause = match before {
        Some((start, range)) if *start < address && address < start + range.bytes => format!(
            "argument ptr is {address:#x}: {} bytes inside the registration of {} at {start:#x}; pass its first \
             byte",
            address - start,
            show_bytes(range.bytes)
        ),
        _ => format!(
            "argument ptr is {address:#x}: no registration begins there (never registered, or ended already)"
        ),
    };
    Error::sequence(abi::ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, cause)
}
