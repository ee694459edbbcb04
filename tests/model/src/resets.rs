//! Threads that allocate, copy and release while others set and reset the devices under them.
//!
//! Device blocks may vanish at any moment, so almost every code is right; what counts is that
//! nothing crashes or hangs, that pinned host memory stays as it was, that only documented codes
//! appear, and that afterwards the devices are whole.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::api;
use crate::config::Config;
use crate::memory::{peek, poke};
use crate::model::{CONTEXT_RELEASE, NO_CONTEXT, NO_MEMORY, PARAM_INVALID};
use crate::source::Source;

const THREADS: u64 = 4;

/// Runs about `steps` calls. Returns how many were made.
pub(crate) fn play(config: &Config, seed: u64, steps: u64) -> u64 {
    let calls = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let calls = &calls;
            scope.spawn(move || {
                let source = Source::seeded(seed * 64 + number);
                calls.fetch_add(work(config, source, steps / THREADS), Ordering::Relaxed);
            });
        }
    });
    for device in 0..config.devices as i32 {
        // A request that raced with the last reset may have come after it: its block lives until the
        // next one.
        answers(api::aclrtSetDevice(device), &[0], "aclrtSetDevice");
        answers(
            api::aclrtResetDeviceForce(device),
            &[0],
            "aclrtResetDeviceForce",
        );
        answers(api::aclrtSetDevice(device), &[0], "aclrtSetDevice");
        let attribute = i32::from(!config.is_ddr());
        let (mut free, mut total) = (0usize, 0usize);
        let code = api::aclrtGetMemInfo(attribute, &raw mut free, &raw mut total);
        answers(code, &[0], "aclrtGetMemInfo");
        assert_eq!(
            (free as u64, total as u64),
            (config.capacity, config.capacity),
            "device {device} after the last reset"
        );
    }
    calls.into_inner()
}

fn answers(code: i32, right: &[i32], function: &str) {
    if !right.contains(&code) {
        let text = api::recent_text().unwrap_or_default();
        panic!("{function} answered {code}, right is {right:?}: {text}");
    }
    if code != 0 {
        assert!(
            api::recent_text().is_some(),
            "{function} failed with {code} and left no text"
        );
    }
}

fn work(config: &Config, mut source: Source, steps: u64) -> u64 {
    let mut device_blocks: Vec<u64> = Vec::new();
    let mut pinned: Vec<(u64, u64, u64)> = Vec::new();
    let mut contexts: BTreeSet<u64> = BTreeSet::new();
    for step in 0..steps {
        let device = source.below(config.devices as u64) as i32;
        match source.weighted(&[30, 28, 6, 6, 8, 8, 12, 7, 1, 3, 3]) {
            0 => {
                let mut address = 0u64;
                let place: *mut u64 = &raw mut address;
                let size = source.size(3 << 20) as usize;
                let policy = source.below(3) as i32;
                let code = api::aclrtMalloc(place.cast(), size, policy);
                answers(code, &[0, NO_CONTEXT, NO_MEMORY], "aclrtMalloc");
                if code == 0 {
                    device_blocks.push(address);
                }
            }
            1 if !device_blocks.is_empty() => {
                let at = source.below(device_blocks.len() as u64) as usize;
                let code = api::aclrtFree(api::pointer(device_blocks.swap_remove(at)));
                answers(code, &[0, PARAM_INVALID], "aclrtFree");
            }
            2 => {
                let mut address = 0u64;
                let place: *mut u64 = &raw mut address;
                let size = source.size(64 << 10).max(16);
                let code = api::aclrtMallocHost(place.cast(), size as usize);
                answers(code, &[0, NO_CONTEXT, NO_MEMORY], "aclrtMallocHost");
                if code == 0 {
                    poke(address, &step.to_le_bytes());
                    poke(address + size - 8, &step.to_le_bytes());
                    pinned.push((address, size, step));
                }
            }
            3 if !pinned.is_empty() => {
                let at = source.below(pinned.len() as u64) as usize;
                free_pinned(pinned.swap_remove(at));
            }
            4 | 5 => {
                if let Some(address) = device_blocks.last() {
                    copy(*address, source.once_in(2));
                }
            }
            6 => {
                answers(api::aclrtSetDevice(device), &[0], "aclrtSetDevice");
            }
            7 | 8 => {
                let code = if source.once_in(8) {
                    api::aclrtResetDeviceForce(device)
                } else {
                    api::aclrtResetDevice(device)
                };
                answers(code, &[0, CONTEXT_RELEASE], "a reset");
            }
            9 => {
                let mut handle = 0u64;
                let place: *mut u64 = &raw mut handle;
                let code = api::aclrtCreateContext(place.cast(), device);
                answers(code, &[0], "aclrtCreateContext");
                contexts.insert(handle);
            }
            _ => {
                if let Some(handle) = contexts.pop_first() {
                    let code = api::aclrtDestroyContext(api::pointer(handle));
                    answers(code, &[0], "aclrtDestroyContext");
                }
            }
        }
    }
    for block in pinned {
        free_pinned(block);
    }
    for handle in contexts {
        let code = api::aclrtDestroyContext(api::pointer(handle));
        answers(code, &[0], "aclrtDestroyContext");
    }
    steps
}

/// Pinned memory survives every reset.
fn free_pinned((address, size, mark): (u64, u64, u64)) {
    let last = peek(address + size - 8, 8);
    assert_eq!(
        last,
        mark.to_le_bytes(),
        "the end of pinned memory {address:#x}"
    );
    if size > 16 {
        assert_eq!(
            peek(address, 8),
            mark.to_le_bytes(),
            "pinned memory {address:#x}"
        );
    }
    let code = api::aclrtFreeHost(api::pointer(address));
    answers(code, &[0], "aclrtFreeHost");
}

fn copy(address: u64, to_device: bool) {
    let mut bytes = [7u8; 32];
    let (host, device) = (bytes.as_mut_ptr().cast(), api::pointer(address));
    let code = if to_device {
        api::aclrtMemcpy(device, 32, host, 32, 1)
    } else {
        api::aclrtMemcpy(host, 32, device, 32, 2)
    };
    answers(code, &[0, PARAM_INVALID, NO_CONTEXT], "aclrtMemcpy");
}
