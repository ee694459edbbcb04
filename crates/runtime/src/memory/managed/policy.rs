//! Policies of managed ranges, and reading them back.

use cannery_abi as abi;

use super::page::{MOST_NODES, Page, Place};
use super::{MOST, PAGE, State};
use crate::error::{Error, Fault, Result, show_bytes};
use crate::os::host;
use crate::process::{Runtime, current, here};

/// A location as the interface names it.
#[derive(Clone, Copy, Debug)]
pub struct Location {
    /// A value of aclrtMemManagedLocationType.
    pub kind: i32,
    /// Number of the device or NUMA node.
    pub id: i32,
}

/// What an attribute says when the pages differ, or say nothing.
const INVALID: i32 = -2;
const ON_HOST: i32 = -1;

fn bad_location(kind: i32, id: i32, cause: &str) -> Error {
    Error::rt_value(
        "location",
        format!("type {kind}, id {id}"),
        format!("a device (1), the host (2), or a NUMA node (3, 4) that exists: {cause}"),
    )
}

impl Location {
    /// The place that is meant; `None` for the invalid location.
    pub(super) fn place(self, runtime: &Runtime) -> Result<Option<Place>> {
        let Location { kind, id } = self;
        Ok(Some(match kind {
            abi::ACL_MEM_LOCATIONTYPE_INVALID => return Ok(None),
            abi::ACL_MEM_LOCATIONTYPE_HOST => Place::Host,
            abi::ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT => Place::Node(host::numa_node()),
            abi::ACL_MEM_LOCATIONTYPE_DEVICE => match u8::try_from(id) {
                Ok(device) if usize::from(device) < runtime.devices.len() => Place::Device(device),
                _ => {
                    let cause = format!("there are {} devices", runtime.devices.len());
                    return Err(bad_location(kind, id, &cause));
                }
            },
            abi::ACL_MEM_LOCATIONTYPE_HOST_NUMA => match u16::try_from(id) {
                Ok(node) if node < MOST_NODES && host::has_numa_node(node) => Place::Node(node),
                _ => return Err(bad_location(kind, id, "no such NUMA node")),
            },
            _ => return Err(bad_location(kind, id, "no such type")),
        }))
    }

    /// As [`place`](Self::place), where one is needed.
    pub(super) fn needed(self, runtime: &Runtime) -> Result<Place> {
        let place = self.place(runtime)?;
        place.ok_or_else(|| bad_location(self.kind, self.id, "this call needs a location"))
    }
}

/// The checks of a range that come before the context. Policies and moves take whole pages.
pub(super) fn check_range(address: u64, size: u64, whole_pages: bool) -> Result<u64> {
    let end = address.checked_add(size);
    let Some(end) = end.filter(|_| (1..=MOST).contains(&size)) else {
        return Err(Error::rt_value(
            "size",
            size,
            format!("a number of bytes in (0, {MOST}]"),
        ));
    };
    if whole_pages && !size.is_multiple_of(PAGE) {
        return Err(Error::rt_value(
            "size",
            size,
            format!("a multiple of {PAGE}"),
        ));
    }
    Ok(end)
}

pub(super) fn check_managed(state: &State, address: u64, end: u64) -> Result<()> {
    if state.covers(address, end) {
        return Ok(());
    }
    let held = state.blocks.range(..=address).next_back();
    let cause = match held {
        Some((at, block)) if address < at + block.bytes => format!(
            "the range ends {} bytes beyond its block of {} at {at:#x}",
            end - (at + block.bytes),
            show_bytes(block.bytes)
        ),
        _ => "not managed memory; aclrtMemAllocManaged makes some".to_owned(),
    };
    Err(Error::address("ptr", address, cause))
}

/// aclrtMemManagedAdvise: sets or clears a policy of the pages of a range.
///
/// # Errors
/// 100000 for NULL and size 0; 107000 for a size that is no multiple of 2 MiB or above 3 TiB, an
/// unknown policy, a location that does not exist; 107002 without a context; 107000 for memory that is
/// not managed, and for a home while the bytes are somewhere else (unless mostly read). Nothing changes
/// then.
pub fn advise(address: u64, size: u64, advice: i32, location: Location) -> Result<()> {
    if address == 0 {
        return Err(Error::null("ptr"));
    }
    if size == 0 {
        return Err(Error::zero("size"));
    }
    if !(abi::ACL_MEM_ADVISE_SET_READ_MOSTLY..=abi::ACL_MEM_ADVISE_UNSET_ACCESSED_BY)
        .contains(&advice)
    {
        return Err(Error::rt_value(
            "advise",
            advice,
            "a value of aclrtMemManagedAdviseType, in [0, 5]",
        ));
    }
    let end = check_range(address, size, true)?;
    // The number of devices is that of the runtime; the product is looked at before.
    let runtime = current()?;
    let place = match advice {
        abi::ACL_MEM_ADVISE_SET_READ_MOSTLY | abi::ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION => None,
        abi::ACL_MEM_ADVISE_UNSET_READ_MOSTLY => location.place(runtime)?,
        _ => Some(location.needed(runtime)?),
    };
    let runtime = here()?.runtime;
    let mut state = runtime.managed.state();
    check_managed(&state, address, end)?;
    if advice == abi::ACL_MEM_ADVISE_SET_PREFERRED_LOCATION {
        check_home(&mut state, runtime, address, end, place)?;
    }
    state.each_page(runtime, address, end, |page, ground| {
        match (advice, place) {
            (abi::ACL_MEM_ADVISE_SET_READ_MOSTLY, _) => page.set_read_mostly(true),
            (abi::ACL_MEM_ADVISE_UNSET_READ_MOSTLY, place) => {
                if page.is_read_mostly() {
                    page.set_read_mostly(false);
                    page.keep_one(place.unwrap_or(Place::Host), ground);
                }
            }
            (abi::ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, place) => page.set_preferred(place),
            (abi::ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION, _) => page.set_preferred(None),
            (abi::ACL_MEM_ADVISE_SET_ACCESSED_BY, Some(place)) => page.set_accessed_by(place, true),
            (_, Some(place)) => page.set_accessed_by(place, false),
            (_, None) => {}
        }
    });
    Ok(())
}

/// A home is refused while the bytes are mapped on another side, unless they may be copied.
fn check_home(
    state: &mut State,
    runtime: &Runtime,
    address: u64,
    end: u64,
    place: Option<Place>,
) -> Result<()> {
    let mut elsewhere = None;
    state.each_page(runtime, address, end, |page, ground| {
        page.look(ground);
        let fits = match place.and_then(Place::device) {
            Some(device) => !page.is_on_host() && page.held() & !(1 << device) == 0,
            None => page.held() == 0,
        };
        if !fits && !page.is_read_mostly() && elsewhere.is_none() {
            elsewhere = Some(page.held());
        }
    });
    let Some(held) = elsewhere else {
        return Ok(());
    };
    let side = match held {
        0 => "the host".to_owned(),
        held => format!("device {}", held.trailing_zeros()),
    };
    Err(Error::address(
        "ptr",
        address,
        format!(
            "a part of the range is mapped on another side already, {side}; set the preferred location before \
             the first touch, prefetch the range there, or advise SET_READ_MOSTLY first"
        ),
    ))
}

/// One question about a range.
#[derive(Debug)]
pub struct Query<'a> {
    /// A value of aclrtMemManagedRangeAttribute.
    pub attribute: i32,
    /// Place for the answer; as long as the caller says.
    pub out: &'a mut [i32],
}

fn check_query(attribute: i32, bytes: u64) -> Result<()> {
    if !(abi::ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY
        ..=abi::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
        .contains(&attribute)
    {
        return Err(Error::rt_value(
            "attribute",
            attribute,
            "a value of aclrtMemManagedRangeAttribute, in [1, 8]",
        ));
    }
    let list = attribute == abi::ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
    if list && (bytes == 0 || !bytes.is_multiple_of(4)) {
        return Err(Error::rt_value(
            "dataSize",
            bytes,
            "a multiple of 4 above 0",
        ));
    }
    if !list && bytes != 4 {
        return Err(Error::rt_value("dataSize", bytes, "4"));
    }
    Ok(())
}

fn kind_of(place: Option<Place>) -> i32 {
    match place {
        None => abi::ACL_MEM_LOCATIONTYPE_INVALID,
        Some(Place::Host) => abi::ACL_MEM_LOCATIONTYPE_HOST,
        Some(Place::Node(_)) => abi::ACL_MEM_LOCATIONTYPE_HOST_NUMA,
        Some(Place::Device(_)) => abi::ACL_MEM_LOCATIONTYPE_DEVICE,
    }
}

fn id_of(place: Option<Place>) -> i32 {
    match place {
        None => INVALID,
        Some(Place::Host) => ON_HOST,
        Some(Place::Node(node)) => i32::from(node),
        Some(Place::Device(device)) => i32::from(device),
    }
}

/// What all pages of a range say together.
struct Common {
    read_mostly: bool,
    preferred: Option<Place>,
    prefetched: Option<Place>,
    /// Devices as a mask, and the host.
    accessed: (u16, bool),
}

fn common(state: &mut State, runtime: &Runtime, address: u64, end: u64) -> Common {
    let mut first: Option<Page> = None;
    let mut all = Common {
        read_mostly: true,
        preferred: None,
        prefetched: None,
        accessed: (u16::MAX, true),
    };
    state.each_page(runtime, address, end, |page, _| {
        let (preferred, prefetched) = (page.preferred(), page.prefetched());
        if first.is_none() {
            (all.preferred, all.prefetched) = (preferred, prefetched);
            first = Some(*page);
        }
        all.read_mostly &= page.is_read_mostly();
        all.preferred = all.preferred.filter(|place| Some(*place) == preferred);
        all.prefetched = all.prefetched.filter(|place| Some(*place) == prefetched);
        let (devices, host) = page.accessed();
        all.accessed = (all.accessed.0 & devices, all.accessed.1 & host);
    });
    all
}

impl Common {
    fn answer(&self, attribute: i32, out: &mut [i32]) {
        if attribute == abi::ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY {
            let (devices, host) = self.accessed;
            let ids = (0..16).filter(|device| devices >> device & 1 == 1);
            let mut ids = host.then_some(ON_HOST).into_iter().chain(ids);
            out.fill_with(|| ids.next().unwrap_or(INVALID));
            return;
        }
        let value = match attribute {
            abi::ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY => i32::from(self.read_mostly),
            abi::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE => kind_of(self.preferred),
            abi::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION
            | abi::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID => id_of(self.preferred),
            abi::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE => kind_of(self.prefetched),
            _ => id_of(self.prefetched),
        };
        out.fill(value);
    }
}

/// aclrtMemManagedGetAttr: `out` is the place of the answer and its bytes; `None`: no place.
///
/// # Errors
/// 100000 for NULL and size 0; 107000 for an unknown attribute, a place of another size, a size above 3 TiB;
/// 107002 without a context; 107000 for memory that is not managed.
pub fn attribute<'a>(
    attribute: i32,
    address: u64,
    size: u64,
    has_place: bool,
    bytes: u64,
    place: impl FnOnce(usize) -> &'a mut [i32],
) -> Result<()> {
    if address == 0 {
        return Err(Error::null("ptr"));
    }
    if !has_place {
        return Err(Error::null("data"));
    }
    if size == 0 {
        return Err(Error::zero("size"));
    }
    check_query(attribute, bytes)?;
    let mut query = [Query {
        attribute,
        out: place((bytes / 4) as usize),
    }];
    answer_all(address, size, &mut query)
}

/// aclrtMemManagedGetAttrs: several answers about one range; all or none are written. `place(i, n)` gives
/// the place for answer `i`, of `n` numbers; `None`: it is NULL.
///
/// # Errors
/// As [`attribute`]; 100000 for no attributes.
pub fn attributes<'a>(
    kinds: Option<&[i32]>,
    address: u64,
    size: u64,
    has_places: bool,
    sizes: Option<&[u64]>,
    place: impl Fn(usize, usize) -> Option<&'a mut [i32]>,
) -> Result<()> {
    let Some(kinds) = kinds else {
        return Err(Error::null("attributes"));
    };
    if address == 0 {
        return Err(Error::null("ptr"));
    }
    if !has_places {
        return Err(Error::null("data"));
    }
    let Some(sizes) = sizes else {
        return Err(Error::null("dataSizes"));
    };
    if kinds.is_empty() {
        return Err(Error::zero("numAttributes"));
    }
    if size == 0 {
        return Err(Error::zero("size"));
    }
    let mut queries = Vec::new();
    for (i, (kind, bytes)) in kinds.iter().zip(sizes).enumerate() {
        check_query(*kind, *bytes)?;
        let Some(out) = place(i, (bytes / 4) as usize) else {
            return Err(Fault::RtNull { param: "data" }.into());
        };
        queries.push(Query {
            attribute: *kind,
            out,
        });
    }
    answer_all(address, size, &mut queries)
}

fn answer_all(address: u64, size: u64, queries: &mut [Query<'_>]) -> Result<()> {
    let end = check_range(address, size, false)?;
    let runtime = here()?.runtime;
    let mut state = runtime.managed.state();
    check_managed(&state, address, end)?;
    let all = common(&mut state, runtime, address, end);
    for query in queries {
        all.answer(query.attribute, query.out);
    }
    Ok(())
}
