//! Steps that copy many ranges in one call.

use std::ptr::null_mut;

use cannery_abi::{aclrtMemLocation, aclrtMemcpyBatchAttr};

use super::World;
use super::copy::Spot;
use crate::api;
use crate::model::{Code, End, INVALID_PARAM, NO_CONTEXT, NOT_SUPPORTED, PARAM_INVALID};
use crate::shadow::UNKNOWN;

const NOWHERE: usize = usize::MAX;
/// What the failing index holds before a call.
const PRESET: usize = 0x7777_7777;
const HOST: i32 = 0;
const DEVICE: i32 = 1;

/// The arrays of a call, as they are handed over.
#[derive(Debug, Default)]
struct Batch {
    dsts: Vec<u64>,
    maxs: Vec<usize>,
    srcs: Vec<u64>,
    sizes: Vec<usize>,
    attrs: Vec<Attr>,
    indexes: Vec<usize>,
    /// Arrays that are NULL: destinations, room, sources, sizes, attributes, indexes.
    missing: Option<u8>,
    no_fail_place: bool,
    count: usize,
}

/// Where the ends of a run of items are said to be: device (or -1 for the host) and id.
#[derive(Clone, Copy, Debug)]
struct Attr {
    dst: (i32, u32),
    src: (i32, u32),
    reserved: u8,
}

impl World {
    pub(super) fn copy_batch(&mut self, thread: usize) {
        let Some(mut batch) = self.random_batch() else {
            return;
        };
        self.spoil(&mut batch);
        let second = self.source.once_in(3);
        let function = if second {
            "aclrtMemcpyBatchV2"
        } else {
            "aclrtMemcpyBatch"
        };
        let right = self.judge_batch(thread, &batch, function);
        self.note(format!(
            "thread {thread}: {function} {batch:x?} -> {right:x?}"
        ));
        let mut fail = PRESET;
        let code = call_library(&batch, second, &mut fail);
        let codes = match &right {
            Ok(()) => vec![0],
            Err((codes, _)) => codes.clone(),
        };
        self.judge(function, code, &codes);
        if !second && !batch.no_fail_place {
            let places = match &right {
                Ok(()) => vec![NOWHERE],
                Err((_, places)) => places.clone(),
            };
            self.insist(places.contains(&fail), || {
                format!("the failing index is {fail:#x}, right is {places:x?}")
            });
        }
        if right.is_ok() {
            self.apply_batch(thread, &batch);
        }
    }

    fn apply_batch(&mut self, thread: usize, batch: &Batch) {
        let mut written: Vec<(u64, u64)> = Vec::new();
        for item in 0..batch.count {
            let (dst, count) = (batch.dsts[item], batch.sizes[item] as u64);
            if count > 0 {
                self.apply_copy(dst, batch.srcs[item], count);
                written.push((dst, count));
            }
        }
        // The copies of a batch have no order: where two meet, either may have come last.
        let mut sorted = written.clone();
        sorted.sort_unstable();
        let mut reached = 0;
        for (dst, count) in sorted {
            if dst < reached {
                let twice = reached.min(dst + count) - dst;
                self.expect(dst, &vec![UNKNOWN; twice as usize]);
            }
            reached = reached.max(dst + count);
        }
        for (dst, count) in written.into_iter().take(8) {
            let end = self.model.end(dst, count).expect("it was written");
            self.spot_check(thread, end, dst, count);
        }
    }

    /// A batch that is right, in one direction.
    fn random_batch(&mut self) -> Option<Batch> {
        let to_device = self.source.once_in(2);
        let many = self.source.once_in(40);
        let count = if many {
            self.source.pick(&[4096, 4096, 1000, 4097])
        } else {
            1 + self.source.below(7) as usize
        };
        let mut batch = Batch {
            count,
            ..Batch::default()
        };
        let anchor = self.block_spot(true)?;
        let mut said: Option<Attr> = None;
        for item in 0..count {
            let device = if many {
                let at = self.source.below(anchor.room);
                anchor.further(at)
            } else {
                self.block_spot(true)?
            };
            let host = match self.source.below(3) {
                0 if !many => self.block_spot(false).unwrap_or_else(|| self.arena_spot()),
                _ => self.arena_spot(),
            };
            let size = self.batch_size(device, host, many);
            let (dst, src) = if to_device {
                (device, host)
            } else {
                (host, device)
            };
            batch.dsts.push(dst.address);
            batch.srcs.push(src.address);
            batch.sizes.push(size as usize);
            batch
                .maxs
                .push(size as usize + self.source.below(2) as usize * 5);
            let attr = Attr {
                dst: self.location(dst.address),
                src: self.location(src.address),
                reserved: 0,
            };
            let same = said.is_some_and(|said| said.dst == attr.dst && said.src == attr.src);
            if !same {
                said = Some(attr);
                batch.attrs.push(attr);
                batch.indexes.push(item);
            }
        }
        Some(batch)
    }

    fn batch_size(&mut self, device: Spot, host: Spot, many: bool) -> u64 {
        let room = device.room.min(host.room);
        match self.source.below(16) {
            0 => 0,
            _ if many => self.source.size(room.min(64)),
            _ => self.source.size(room.min(2048)),
        }
    }

    /// Type and id of the memory at an address, as an attribute says it.
    fn location(&self, address: u64) -> (i32, u32) {
        match self.model.find(address) {
            Some((_, block)) => match block.device {
                Some(device) => (DEVICE, device as u32),
                None => (HOST, 0),
            },
            None => (HOST, 0),
        }
    }

    /// Makes a batch wrong, now and then.
    fn spoil(&mut self, batch: &mut Batch) {
        if !self.source.once_in(3) {
            return;
        }
        let item = self.source.below(batch.count as u64) as usize;
        let run = self.source.below(batch.attrs.len() as u64) as usize;
        match self.source.below(16) {
            0 => batch.count = 0,
            1 => batch.missing = Some(self.source.below(6) as u8),
            2 => batch.no_fail_place = true,
            3 => {
                batch.sizes.fill(0);
                batch.missing = Some(0);
            }
            4 => batch.maxs[item] = batch.sizes[item].saturating_sub(1),
            5 => batch.attrs.clear(),
            6 => batch.indexes[run] = batch.count,
            7 => batch.indexes[0] = 1,
            8 => batch.indexes[run] = batch.indexes[run.saturating_sub(1)],
            9 => batch.attrs[run].reserved = 1,
            10 => batch.attrs[run].dst.0 = self.source.pick(&[0, 1, 2, 3, 9]),
            11 => batch.attrs[run].src.1 += 1,
            12 => batch.attrs[run].src.0 = self.source.pick(&[0, 1, 2, 3, 9]),
            13 => {
                let stray = self.stray();
                if self.model.end(stray, 1).is_err() {
                    batch.dsts[item] = stray;
                }
            }
            14 => batch.srcs[item] = batch.dsts[item],
            _ => {
                batch.attrs[run].dst = batch.attrs[run].src;
            }
        }
    }

    /// The codes that are right, with the failing indexes that are right.
    fn judge_batch(
        &self,
        thread: usize,
        batch: &Batch,
        function: &str,
    ) -> Result<(), (Vec<Code>, Vec<usize>)> {
        let front = |holds: bool| match holds {
            true => Ok(()),
            false => Err((vec![INVALID_PARAM], vec![PRESET])),
        };
        let missing = |array: u8| batch.missing == Some(array);
        front(batch.count != 0)?;
        front(!missing(3))?;
        front(!batch.no_fail_place || function.ends_with("V2"))?;
        let sizes = &batch.sizes[..batch.count];
        if sizes.iter().all(|size| *size == 0) {
            return Ok(());
        }
        front(batch.missing.is_none())?;
        front(sizes.iter().zip(&batch.maxs).all(|(size, max)| size <= max))?;

        let range = |holds: bool| match holds {
            true => Ok(()),
            false => Err((vec![PARAM_INVALID], vec![NOWHERE])),
        };
        let runs = batch.attrs.len();
        let indexes = &batch.indexes[..runs];
        range(batch.count <= 4096)?;
        range((1..=batch.count).contains(&runs))?;
        range(indexes[0] == 0)?;
        range(indexes.windows(2).all(|pair| pair[0] < pair[1]))?;
        range(indexes.iter().all(|index| *index < batch.count))?;
        range(batch.attrs.iter().all(|attr| attr.reserved == 0))?;
        let anywhere = vec![NOWHERE, PRESET];
        let lacks = !self.model.config.has(function);
        if self.model.current(thread).is_none() {
            return Err(match lacks {
                true => (vec![NO_CONTEXT, NOT_SUPPORTED], anywhere),
                false => (vec![NO_CONTEXT], anywhere),
            });
        }
        if lacks {
            return Err((vec![NOT_SUPPORTED], anywhere));
        }
        let mut direction = None;
        for (item, size) in sizes.iter().enumerate() {
            if *size > 0 {
                let run = indexes.iter().rposition(|first| *first <= item);
                let attr = &batch.attrs[run.expect("the first run begins at 0")];
                let to_device = self.judge_item(batch, item, *size as u64, attr);
                let fits = to_device
                    .is_some_and(|to_device| *direction.get_or_insert(to_device) == to_device);
                if !fits {
                    return Err((vec![PARAM_INVALID], vec![item]));
                }
            }
        }
        Ok(())
    }

    /// Whether an item goes to the device; `None` when it is wrong in itself.
    fn judge_item(&self, batch: &Batch, item: usize, size: u64, attr: &Attr) -> Option<bool> {
        let to = self.end_of(batch.dsts[item], size).ok()?;
        let from = self.end_of(batch.srcs[item], size).ok()?;
        let fits = |end: End, (kind, id): (i32, u32)| match (end.device(), kind) {
            (Some(device), DEVICE) => device as u32 == id,
            (None, HOST) => true,
            _ => false,
        };
        let crosses = to.device().is_some() != from.device().is_some();
        (fits(to, attr.dst) && fits(from, attr.src) && crosses).then_some(to.device().is_some())
    }
}

fn call_library(batch: &Batch, second: bool, fail: &mut usize) -> Code {
    let mut dsts: Vec<_> = batch.dsts.iter().map(|to| api::pointer(*to)).collect();
    let mut srcs: Vec<_> = batch.srcs.iter().map(|from| api::pointer(*from)).collect();
    let (mut maxs, mut sizes) = (batch.maxs.clone(), batch.sizes.clone());
    let mut indexes = batch.indexes.clone();
    let location = |(kind, id): (i32, u32)| aclrtMemLocation { id, r#type: kind };
    let mut attrs: Vec<aclrtMemcpyBatchAttr> = batch
        .attrs
        .iter()
        .map(|attr| aclrtMemcpyBatchAttr {
            dstLoc: location(attr.dst),
            srcLoc: location(attr.src),
            rsv: [attr.reserved; 16],
        })
        .collect();
    let here = |array: u8| batch.missing != Some(array);
    let dsts = if here(0) {
        dsts.as_mut_ptr()
    } else {
        null_mut()
    };
    let maxs = if here(1) {
        maxs.as_mut_ptr()
    } else {
        null_mut()
    };
    let srcs = if here(2) {
        srcs.as_mut_ptr()
    } else {
        null_mut()
    };
    let sizes = if here(3) {
        sizes.as_mut_ptr()
    } else {
        null_mut()
    };
    let runs = attrs.len();
    let attrs = if here(4) {
        attrs.as_mut_ptr()
    } else {
        null_mut()
    };
    let indexes = if here(5) {
        indexes.as_mut_ptr()
    } else {
        null_mut()
    };
    let fail = if batch.no_fail_place {
        null_mut()
    } else {
        std::ptr::from_mut(fail)
    };
    let count = batch.count;
    if second {
        api::aclrtMemcpyBatchV2(dsts, maxs, srcs, sizes, count, attrs, indexes, runs)
    } else {
        api::aclrtMemcpyBatch(dsts, maxs, srcs, sizes, count, attrs, indexes, runs, fail)
    }
}
