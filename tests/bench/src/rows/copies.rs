//! aclrtMemcpy next to memcpy between two buffers of the program.

use std::ffi::c_void;
use std::hint::black_box;

use cannery_abi as abi;

use crate::api::Api;
use crate::bench::Bench;
use crate::buffer::Buffer;
use crate::clock::Busy;
use crate::rounds::Side;
use crate::row::{Row, Unit};
use crate::subjects::{DeviceMemory, Subject};

const LARGE: usize = 64 << 20;

const NOTE: &str = "The reference is memcpy between two ordinary buffers of the program that are warm, begin \
    at the same place in a page as the device memory and, for 64 MiB, are advised for huge pages as the \
    device memory is.";

type Memcpy = unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void;

pub(crate) fn run(bench: &mut Bench<'_>) {
    for (size, text) in [(64, "64 B"), (4096, "4 KiB"), (LARGE, "64 MiB")] {
        let names = ["H2D", "D2H", "D2D"].map(|way| format!("{way}, {text}"));
        if names.iter().any(|name| bench.wants(name)) {
            rows(bench, size, names);
        }
    }
}

fn rows(bench: &mut Bench<'_>, size: usize, names: [String; 3]) {
    let memory = DeviceMemory(bench.api);
    let devices = [memory.alloc(size), memory.alloc(size)];
    let hosts = devices.map(|device| Buffer::new(size, device));
    let [a, b] = [hosts[0].at, hosts[1].at];
    let [x, y] = devices;
    for device in devices {
        copy(
            bench.api,
            device,
            a,
            size,
            abi::ACL_MEMCPY_HOST_TO_DEVICE,
            1,
        );
    }
    let ways = [
        (abi::ACL_MEMCPY_HOST_TO_DEVICE, (y, a), (b, a)),
        (abi::ACL_MEMCPY_DEVICE_TO_HOST, (a, y), (a, b)),
        (abi::ACL_MEMCPY_DEVICE_TO_DEVICE, (y, x), (b, a)),
    ];
    let calls = if size == LARGE {
        2
    } else {
        bench.effort.calls(((8 << 20) / size).min(1 << 14))
    };
    for (name, (kind, ours, reference)) in names.into_iter().zip(ways) {
        if !bench.wants(&name) {
            continue;
        }
        let api = bench.api;
        let memcpy: Memcpy = black_box(libc::memcpy);
        let sides: Vec<Side<'_>> = vec![
            Box::new(move || copy(api, ours.0, ours.1, size, kind, calls)),
            Box::new(move || plain(memcpy, reference.0, reference.1, size, calls)),
        ];
        let mut samples = bench.take_turns(sides).into_iter();
        let mut next = || samples.next().unwrap_or_default();
        let row = Row::new(name, Unit::Nanoseconds, next()).against("memcpy", next());
        bench.row(match size {
            64 => row.above_at_most("memcpy", 30.0).note(NOTE),
            LARGE => {
                let speed = size as f64 / row.value();
                let note = format!("{}: {speed:.1} GB/s.", row.name);
                row.speed_at_least("memcpy", 0.95).note(note)
            }
            _ => row,
        });
    }
    drop(hosts);
    for device in devices {
        memory.free(device);
    }
}

/// Nanoseconds of a copy.
fn copy(api: Api, to: *mut c_void, from: *mut c_void, size: usize, kind: i32, calls: usize) -> f64 {
    let begun = Busy::start();
    for _ in 0..calls {
        // SAFETY: both have `size` bytes.
        let code = unsafe { (api.aclrtMemcpy)(to, size, from, size, kind) };
        api.check("aclrtMemcpy", code);
    }
    begun.per(calls)
}

fn plain(memcpy: Memcpy, to: *mut c_void, from: *mut c_void, size: usize, calls: usize) -> f64 {
    let begun = Busy::start();
    for _ in 0..calls {
        // SAFETY: both have `size` bytes and do not overlap.
        black_box(unsafe { memcpy(to, from, size) });
    }
    begun.per(calls)
}
