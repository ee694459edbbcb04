//! What is this address: next to an ordered map of the blocks, which would be the obvious way.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::ptr;

use cannery_abi as abi;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use crate::api::Api;
use crate::bench::Bench;
use crate::clock::Busy;
use crate::replacement::{Replacement, Sizes};
use crate::rounds::{Samples, Side};
use crate::row::{Row, Unit};
use crate::subjects::DeviceMemory;

const LIVE: usize = 1 << 14;
/// Which addresses are asked about.
const PATTERNS: [(usize, &str); 2] = [
    (1, "one block again and again"),
    (LIVE, "any byte of any block"),
];
const FUNCTIONS: [&str; 2] = ["aclrtPointerGetAttributes", "aclrtMemGetAddressRange"];

pub(crate) fn run(bench: &mut Bench<'_>) {
    let names = PATTERNS.map(|(_, text)| FUNCTIONS.map(|name| format!("{name}, {text}")));
    if !names.iter().flatten().any(|name| bench.wants(name)) {
        return;
    }
    let api = bench.api;
    let blocks = Replacement::new(DeviceMemory(api), LIVE, Sizes::Mixed, 1);
    let map: BTreeMap<u64, u64> = blocks
        .held()
        .iter()
        .map(|&block| (block as u64, range(api, block).1 as u64))
        .collect();
    for ((asked, _), names) in PATTERNS.into_iter().zip(names) {
        let mut rng = SmallRng::seed_from_u64(2);
        let addresses: Vec<*mut c_void> = (0..bench.effort.calls(1 << 14))
            .map(|_| {
                let block = blocks.held()[rng.random_range(0..asked)];
                let inside = rng.random_range(0..map[&(block as u64)]);
                block.wrapping_byte_add(inside as usize)
            })
            .collect();
        let addresses = &addresses;
        let sides: Vec<Side<'_>> = vec![
            Box::new(|| ask(addresses, |address| attributes(api, address))),
            Box::new(|| ask(addresses, |address| range(api, address))),
            Box::new(|| {
                ask(addresses, |address| {
                    let at = address as u64;
                    let found = map.range(..=at).next_back();
                    found.filter(|&(start, size)| at - start < *size)
                })
            }),
        ];
        let [attributes, ranges, by_map]: [Samples; 3] = bench
            .take_turns(sides)
            .try_into()
            .expect("one for each side");
        for (name, ours) in names.into_iter().zip([attributes, ranges]) {
            bench.row(
                Row::new(name, Unit::Nanoseconds, ours)
                    .against("ordered map", by_map.clone())
                    .at_most(15.0)
                    .note(
                        "16,384 blocks of mixed size are live. The ordered map (BTreeMap) answers without \
                         the lock that it would need.",
                    ),
            );
        }
    }
}

/// Nanoseconds for a question.
fn ask<R>(addresses: &[*mut c_void], mut question: impl FnMut(*mut c_void) -> R) -> f64 {
    let begun = Busy::start();
    for &address in addresses {
        black_box(question(address));
    }
    begun.per(addresses.len())
}

#[inline(always)]
fn attributes(api: Api, address: *mut c_void) -> abi::aclrtPtrAttributes {
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: the place is valid.
    let code = unsafe { (api.aclrtPointerGetAttributes)(address, attributes.as_mut_ptr()) };
    api.check("aclrtPointerGetAttributes", code);
    // SAFETY: written, for the call succeeded.
    unsafe { attributes.assume_init() }
}

#[inline(always)]
fn range(api: Api, address: *mut c_void) -> (*mut c_void, usize) {
    let (mut base, mut size) = (ptr::null_mut(), 0);
    // SAFETY: both places are valid.
    let code = unsafe { (api.aclrtMemGetAddressRange)(address, &raw mut base, &raw mut size) };
    api.check("aclrtMemGetAddressRange", code);
    (base, size)
}
