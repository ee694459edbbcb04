//! aclrtMemcpyBatch and aclrtMemcpyBatchV2.
#![allow(unsafe_code)] // moves the bytes

use cannery_abi as abi;
use cannery_observe::{Event, emit};

use super::copy;
use super::locate::{EVERY_DEVICE, Spot};
use crate::error::{Error, Fault, Result};
use crate::os;
use crate::process::{Here, here};

/// Most copies of one call.
const MOST: usize = 4096;
/// "No item in particular".
pub const NO_ITEM: usize = usize::MAX;

/// The arrays of a batch. `None` where the caller passed NULL.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// Destinations.
    pub dsts: Option<&'a [u64]>,
    /// Room at the destinations, in bytes.
    pub dest_maxs: Option<&'a [u64]>,
    /// Sources.
    pub srcs: Option<&'a [u64]>,
    /// Bytes to copy.
    pub sizes: Option<&'a [u64]>,
    /// Where the ends are, for a run of items each.
    pub attrs: Option<&'a [abi::aclrtMemcpyBatchAttr]>,
    /// First item of each run.
    pub attr_indexes: Option<&'a [u64]>,
    /// Number of items.
    pub count: usize,
}

/// Copies every item at once, or none: all are checked first.
///
/// `fail` gets the offending item, or [`NO_ITEM`] when the arguments themselves are wrong or all is
/// well; `fail_expected` tells whether its absence is an error.
///
/// # Errors
/// 100000 for a count of 0, missing arrays and destinations that are too small; 107000 for more than
/// 4096 items, wrong runs, ends that are not where the attributes say, or items that do not cross
/// between host and device; 107002 without a context; 207000 where the product lacks it.
///
/// # Safety
/// Host ranges are mapped for the whole call, as in any C call.
pub unsafe fn memcpy_batch(
    batch: &Batch<'_>,
    fail: Option<&mut usize>,
    fail_expected: bool,
) -> Result<()> {
    let ready = prepare(batch, fail, fail_expected, false)?.unwrap_or_default();
    crate::graph::mode::unsafe_call("aclrtMemcpyBatch")?;
    for (to, from, bytes) in ready {
        // SAFETY: `prepare` checked device ranges; host ranges per contract.
        unsafe { os::copy::copy(to.at, from.at, bytes) };
        emit(|| Event::Copy {
            to: to.at,
            from: from.at,
            bytes,
        });
    }
    Ok(())
}

/// One copy of a batch, checked.
type Ready = (Spot, Spot, u64);

/// All checks of a batch: what is to be copied, or `None` for nothing to do. The queued form takes no
/// items of size 0, and any number of items.
pub(crate) fn prepare(
    batch: &Batch<'_>,
    fail: Option<&mut usize>,
    fail_expected: bool,
    queued: bool,
) -> Result<Option<Vec<Ready>>> {
    if batch.count == 0 {
        return Err(Error::zero("numBatches"));
    }
    let Some(sizes) = batch.sizes else {
        return Err(Error::null("sizes"));
    };
    let mut nowhere = NO_ITEM;
    let fail = match fail {
        Some(fail) => fail,
        None if fail_expected => return Err(Error::null("failIndex")),
        None => &mut nowhere,
    };
    if sizes.iter().all(|size| *size == 0) {
        *fail = NO_ITEM;
        return Ok(None);
    }
    let items = check_front(batch, sizes)?;
    if queued && let Some(i) = sizes.iter().position(|size| *size == 0) {
        *fail = NO_ITEM;
        return Err(item_fault(
            i,
            "has size 0, which the queued form does not take".to_owned(),
        ));
    }
    let most = if queued { usize::MAX } else { MOST };
    check_runs(&items, batch.count, most).inspect_err(|_| *fail = NO_ITEM)?;
    // On products that lack it, the place stays as it was.
    let here = here()?;
    *fail = NO_ITEM;
    resolve(&here, &items, fail).map(Some)
}

/// Arrays that are all there.
struct Items<'a> {
    dsts: &'a [u64],
    srcs: &'a [u64],
    sizes: &'a [u64],
    attrs: &'a [abi::aclrtMemcpyBatchAttr],
    indexes: &'a [u64],
}

fn check_front<'a>(batch: &Batch<'a>, sizes: &'a [u64]) -> Result<Items<'a>> {
    let dsts = batch.dsts.ok_or_else(|| Error::null("dsts"))?;
    let dest_maxs = batch.dest_maxs.ok_or_else(|| Error::null("destMaxs"))?;
    let srcs = batch.srcs.ok_or_else(|| Error::null("srcs"))?;
    let attrs = batch.attrs.ok_or_else(|| Error::null("attrs"))?;
    let indexes = batch
        .attr_indexes
        .ok_or_else(|| Error::null("attrsIndexes"))?;
    for (i, (size, room)) in sizes.iter().zip(dest_maxs).enumerate() {
        if size > room {
            return Err(Error::cause(
                "destMaxs/sizes",
                format!("{room}/{size}"),
                format!("item {i}: the destination has room for {room} bytes"),
            ));
        }
    }
    Ok(Items {
        dsts,
        srcs,
        sizes,
        attrs,
        indexes,
    })
}

fn check_runs(items: &Items<'_>, count: usize, most: usize) -> Result<()> {
    if count > most {
        return Err(Error::rt_value(
            "count",
            count,
            format!("a number of copies in [1, {most}]"),
        ));
    }
    let runs = items.attrs.len();
    if runs == 0 || runs > count {
        return Err(Error::rt_value(
            "numAttrs",
            runs,
            format!("a number in [1, {count}]"),
        ));
    }
    let mut before: Option<u64> = None;
    for (i, index) in items.indexes.iter().enumerate() {
        let rising = match before {
            None => *index == 0,
            Some(before) => *index > before,
        };
        if !rising || *index >= count as u64 {
            return Err(Error::rt_cause(
                "attrsIndexes",
                index,
                format!(
                    "entry {i}: the first must be 0, each larger than the one before, all below {count}"
                ),
            ));
        }
        before = Some(*index);
    }
    if let Some(i) = items
        .attrs
        .iter()
        .position(|attr| attr.rsv.iter().any(|byte| *byte != 0))
    {
        return Err(Error::rt_value(
            "attrs->rsv",
            format!("not 0 in entry {i}"),
            "0, it is reserved",
        ));
    }
    Ok(())
}

fn resolve(here: &Here, items: &Items<'_>, fail: &mut usize) -> Result<Vec<Ready>> {
    let mut ready = Vec::with_capacity(items.sizes.len());
    let mut run = 0;
    let mut direction: Option<bool> = None;
    for (i, size) in items.sizes.iter().enumerate() {
        while items
            .indexes
            .get(run + 1)
            .is_some_and(|first| *first <= i as u64)
        {
            run += 1;
        }
        if *size == 0 {
            continue;
        }
        let one = resolve_item(here, items, i, &items.attrs[run]);
        let (to, from) = one.inspect_err(|_| *fail = i)?;
        let to_device = to.device.is_some();
        if *direction.get_or_insert(to_device) != to_device {
            *fail = i;
            return Err(item_fault(
                i,
                "goes the other way; a batch has one direction".to_owned(),
            ));
        }
        ready.push((to, from, *size));
    }
    Ok(ready)
}

fn resolve_item(
    here: &Here,
    items: &Items<'_>,
    i: usize,
    attr: &abi::aclrtMemcpyBatchAttr,
) -> Result<(Spot, Spot)> {
    let (dst, src) = (items.dsts[i], items.srcs[i]);
    let (to, from) = copy::ends(here, dst, src, items.sizes[i])?;
    for (name, address, spot, declared) in [
        ("destination", dst, to, &attr.dstLoc),
        ("source", src, from, &attr.srcLoc),
    ] {
        let fits = match declared.r#type {
            abi::ACL_MEM_LOCATION_TYPE_DEVICE => {
                [Some(declared.id as usize), Some(EVERY_DEVICE)].contains(&spot.device)
            }
            abi::ACL_MEM_LOCATION_TYPE_MANAGED => spot.device == Some(EVERY_DEVICE),
            abi::ACL_MEM_LOCATION_TYPE_HOST => spot.device.is_none(),
            _ => false,
        };
        if !fits {
            let real = match spot.device {
                Some(EVERY_DEVICE) => "managed memory".to_owned(),
                Some(device) => format!("memory of device {device}"),
                None => "host memory".to_owned(),
            };
            return Err(item_fault(
                i,
                format!(
                    "the {name} {address:#x} is {real}, but its attribute says type {} id {}",
                    declared.r#type, declared.id
                ),
            ));
        }
    }
    if to.device.is_some() == from.device.is_some() {
        return Err(item_fault(
            i,
            "does not cross between host and device".to_owned(),
        ));
    }
    Ok((to, from))
}

fn item_fault(i: usize, cause: String) -> Error {
    Fault::RtCause {
        param: "attrs",
        value: format!("item {i}"),
        cause,
    }
    .into()
}
