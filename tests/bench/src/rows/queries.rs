//! What is this address: next to an ordered map of the blocks, which would be the obvious way.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::ptr;
use std::time::Instant;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use crate::bench::Bench;
use crate::replacement::{Replacement, Sizes};
use crate::rounds::{Samples, Side, take_turns};
use crate::row::{Row, Unit};
use crate::subjects::DeviceMemory;

const LIVE: usize = 1 << 14;
const NAMES: [&str; 2] = [
    "aclrtPointerGetAttributes, 16k live",
    "aclrtMemGetAddressRange, 16k live",
];

pub(crate) fn run(bench: &mut Bench<'_>) {
    if !NAMES.iter().any(|name| bench.wants(name)) {
        return;
    }
    let api = bench.api;
    let blocks = Replacement::new(DeviceMemory(api), LIVE, Sizes::Mixed, 1);
    let map: BTreeMap<u64, u64> = blocks
        .held()
        .iter()
        .map(|&block| (block as u64, block_size(bench, block)))
        .collect();
    // Any byte of any block, in no order.
    let mut rng = SmallRng::seed_from_u64(2);
    let count = bench.effort.calls(1 << 15);
    let addresses: Vec<*mut c_void> = (0..count)
        .map(|_| {
            let block = blocks.held()[rng.random_range(0..LIVE)];
            let inside = rng.random_range(0..map[&(block as u64)]);
            block.wrapping_byte_add(inside as usize)
        })
        .collect();
    let per_call = |begun: Instant| begun.elapsed().as_nanos() as f64 / count as f64;
    let sides: Vec<Side<'_>> = vec![
        Box::new(|| {
            let begun = Instant::now();
            for &address in &addresses {
                let mut attributes = MaybeUninit::uninit();
                // SAFETY: the place is valid.
                let code =
                    unsafe { (api.aclrtPointerGetAttributes)(address, attributes.as_mut_ptr()) };
                api.check("aclrtPointerGetAttributes", code);
                black_box(&attributes);
            }
            per_call(begun)
        }),
        Box::new(|| {
            let begun = Instant::now();
            for &address in &addresses {
                black_box(range(bench, address));
            }
            per_call(begun)
        }),
        Box::new(|| {
            let begun = Instant::now();
            for &address in &addresses {
                let at = address as u64;
                let found = map.range(..=at).next_back();
                black_box(found.filter(|&(start, size)| at - start < *size));
            }
            per_call(begun)
        }),
    ];
    let [attributes, ranges, by_map]: [Samples; 3] = take_turns(bench.effort, sides)
        .try_into()
        .expect("one for each side");
    for (name, ours) in NAMES.into_iter().zip([attributes, ranges]) {
        bench.row(
            Row::new(name, Unit::Nanoseconds, ours)
                .against("ordered map", by_map.clone())
                .at_most(15.0)
                .note(
                    "Any byte of any of 16,384 blocks of mixed size, in no order; the ordered map \
                     (BTreeMap) answers without a lock, which it would need.",
                ),
        );
    }
}

#[inline(always)]
fn range(bench: &Bench<'_>, address: *mut c_void) -> (*mut c_void, usize) {
    let (mut base, mut size) = (ptr::null_mut(), 0);
    // SAFETY: both places are valid.
    let code =
        unsafe { (bench.api.aclrtMemGetAddressRange)(address, &raw mut base, &raw mut size) };
    bench.api.check("aclrtMemGetAddressRange", code);
    (base, size)
}

fn block_size(bench: &Bench<'_>, block: *mut c_void) -> u64 {
    range(bench, block).1 as u64
}
