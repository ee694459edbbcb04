//! Moving managed ranges in stream order.

use std::sync::Arc;

use cannery_abi as abi;

use super::page::Place;
use super::policy::{Location, check_managed, check_range};
use crate::error::{Error, Result};
use crate::process::{Runtime, current};
use crate::stream::manage::{find, stream_of_call};
use crate::stream::task::Task;
use crate::stream::{Stream, engine};

/// A part of a block that is to move.
struct Move {
    /// Number of the block: when the task runs, another may be there.
    block: u64,
    start: u64,
    end: u64,
    place: Place,
}

fn check_stream(stream: u64) -> Result<()> {
    if stream == 0 {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_INTERNAL_ERROR,
            "stream",
            "is NULL; the default stream cannot be used here, pass a stream of aclrtCreateStream",
        ));
    }
    find("stream", stream).map(|_| ())
}

/// What a range means in blocks. The request is remembered at once.
fn plan(runtime: &Runtime, ranges: &[(u64, u64, Place)]) -> Result<Vec<Move>> {
    let mut state = runtime.managed.state();
    for (start, end, _) in ranges {
        check_managed(&state, *start, *end)?;
    }
    let mut moves = Vec::new();
    for (start, end, place) in ranges {
        let before = state.blocks.range(..=start).next_back().map(|(at, _)| *at);
        for (at, block) in state.blocks.range(before.unwrap_or(*start)..*end) {
            moves.push(Move {
                block: block.number,
                start: (*start).max(*at),
                end: (*end).min(at + block.bytes),
                place: *place,
            });
        }
        state.each_page(runtime, *start, *end, |page, _| page.set_prefetched(*place));
    }
    Ok(moves)
}

fn submit(runtime: &'static Runtime, stream: &'static Stream, moves: Vec<Move>) {
    let work = move || {
        let mut state = runtime.managed.state();
        for part in &moves {
            let same = state
                .blocks
                .range(..=part.start)
                .next_back()
                .is_some_and(|(_, block)| block.number == part.block);
            if same {
                state.each_page(runtime, part.start, part.end, |page, ground| {
                    page.bring(part.place, ground);
                });
            }
        }
        0
    };
    engine::submit(stream, Task::Compute(Arc::new(work)));
}

/// aclrtMemManagedPrefetchAsync: queued.
///
/// # Errors
/// 100000 for NULL, size 0 and flags; 507000 for a NULL stream; 107017 for a dead one; 107000 for a size
/// that is no multiple of 2 MiB or above 3 TiB, and a location that does not exist; 107002, 107003; 107000
/// for memory that is not managed.
pub fn prefetch(
    address: u64,
    size: u64,
    location: Location,
    flags: u32,
    stream: u64,
) -> Result<()> {
    if address == 0 {
        return Err(Error::null("ptr"));
    }
    if size == 0 {
        return Err(Error::zero("size"));
    }
    if flags != 0 {
        return Err(Error::cause("flags", flags, "reserved, must be 0"));
    }
    check_stream(stream)?;
    let end = check_range(address, size, true)?;
    let place = location.needed(current()?)?;
    let (here, stream) = stream_of_call("stream", stream)?;
    let moves = plan(here.runtime, &[(address, end, place)])?;
    submit(here.runtime, stream, moves);
    Ok(())
}

/// The arrays of a batch. `None` where the caller passed NULL.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// First bytes of the ranges.
    pub addresses: Option<&'a [u64]>,
    /// Their bytes.
    pub sizes: Option<&'a [u64]>,
    /// Where runs of ranges go.
    pub locations: Option<&'a [abi::aclrtMemManagedLocation]>,
    /// First range of each run.
    pub indexes: Option<&'a [u64]>,
    /// Number of ranges.
    pub count: usize,
    /// Number of runs.
    pub runs: usize,
}

/// aclrtMemManagedPrefetchBatchAsync: all ranges or none are queued, as one task.
///
/// # Errors
/// 100000 for NULL, counts of 0 and flags; 507000 for a NULL stream; 107017; 107000 for runs that do not
/// begin at 0, rise and end below the count, NULL ranges, and as [`prefetch`]; 107002, 107003.
pub fn prefetch_batch(batch: &Batch<'_>, flags: u64, stream: u64) -> Result<()> {
    let addresses = batch.addresses.ok_or_else(|| Error::null("ptrs"))?;
    let sizes = batch.sizes.ok_or_else(|| Error::null("sizes"))?;
    let locations = batch.locations.ok_or_else(|| Error::null("prefetchLocs"))?;
    let indexes = batch
        .indexes
        .ok_or_else(|| Error::null("prefetchLocIdxs"))?;
    if batch.count == 0 {
        return Err(Error::zero("count"));
    }
    if batch.runs == 0 {
        return Err(Error::zero("numPrefetchLocs"));
    }
    if flags != 0 {
        return Err(Error::cause("flags", flags, "reserved, must be 0"));
    }
    check_stream(stream)?;
    if batch.runs > batch.count {
        return Err(Error::rt_value(
            "numPrefetchLocs",
            batch.runs,
            format!("a number in [1, {}] (count)", batch.count),
        ));
    }
    check_indexes(indexes, batch.count)?;
    let runtime = current()?;
    let mut ranges = Vec::with_capacity(batch.count);
    let mut run = 0;
    for (i, (address, size)) in addresses.iter().zip(sizes).enumerate() {
        if *address == 0 {
            let cause = format!("entry {i} is NULL");
            return Err(Error::rt_param(
                abi::ACL_ERROR_RT_PARAM_INVALID,
                "ptrs",
                cause,
            ));
        }
        let end = check_range(*address, *size, true)?;
        while indexes.get(run + 1).is_some_and(|first| *first <= i as u64) {
            run += 1;
        }
        let abi::aclrtMemManagedLocation { r#type: kind, id } = locations[run];
        ranges.push((*address, end, Location { kind, id }.needed(runtime)?));
    }
    let (here, stream) = stream_of_call("stream", stream)?;
    let moves = plan(here.runtime, &ranges)?;
    submit(here.runtime, stream, moves);
    Ok(())
}

fn check_indexes(indexes: &[u64], count: usize) -> Result<()> {
    let mut before = None;
    for (i, index) in indexes.iter().enumerate() {
        let rising = match before {
            None => *index == 0,
            Some(before) => *index > before,
        };
        if !rising || *index >= count as u64 {
            return Err(Error::rt_cause(
                "prefetchLocIdxs",
                index,
                format!(
                    "entry {i}: the first must be 0, each larger than the one before, all below {count}"
                ),
            ));
        }
        before = Some(*index);
    }
    Ok(())
}
