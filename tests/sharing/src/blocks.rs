//! What becomes of the memory.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use cannery_abi::*;

use crate::api::*;
use crate::expect::expect;
use crate::lists::REFUSED;
use crate::memory;
use crate::peer;
use crate::trouble;

/// Bytes reach the other side both ways; the address and what it costs stay.
pub(crate) fn contents() {
    let mut peer = peer::start();
    for (round, bytes) in [1 << 20, (2 << 20) + 4096, 40_000, (5 << 20) + 12_345]
        .into_iter()
        .enumerate()
    {
        let seed = round as u64 * 10;
        let block = memory::filled(bytes, seed);
        let free = memory::free_bytes();
        let key = memory::exported(block, bytes, 1);
        judge(
            memory::holds(block, bytes, seed),
            "the exporter after the export",
        );
        let at = peer.must(&format!("import {key} 0"));
        peer.must(&format!("holds {at} {bytes} {seed}"));
        peer.must(&format!("fill {at} {bytes} {}", seed + 1));
        judge(
            memory::holds(block, bytes, seed + 1),
            "what the importer wrote",
        );
        memory::upload(block, &memory::random(bytes, seed + 2));
        peer.must(&format!("holds {at} {bytes} {}", seed + 2));
        trouble::unless(free == memory::free_bytes(), || {
            format!("free bytes {} instead of {free}", memory::free_bytes())
        });
        peer.must(&format!("close {key}"));
        expect(memory::close(&key), 0, "closing the export");
        expect(memory::close(&key), REFUSED, "closing it again");
        judge(
            memory::holds(block, bytes, seed + 2),
            "after everybody has closed",
        );
        ok(aclrtFree(block), "aclrtFree");
    }
    here();
    trouble::unless(peer.end(), || "the peer failed".to_owned());
}

/// Imports in one process: each has its address, the oldest is closed first.
fn here() {
    let bytes = 1 << 20;
    let block = memory::filled(bytes, 5);
    let key = memory::exported(block, bytes, 1);
    let (Ok(first), Ok(second)) = (memory::import(&key, 0), memory::import(&key, 0)) else {
        return trouble::note(format!("importing in the exporting process: {}", said()));
    };
    trouble::unless(first != second && first != block, || {
        "one address twice".to_owned()
    });
    about(second, bytes);
    expect(memory::close(&key), 0, "closing the first import");
    trouble::unless(kind_of(first) == ACL_MEM_LOCATION_TYPE_UNREGISTERED, || {
        "the oldest import is still there".to_owned()
    });
    judge(memory::holds(second, bytes, 5), "the second import");
    expect(memory::close(&key), 0, "closing the second import");
    trouble::unless(memory::import(&key, 0).is_ok(), || {
        format!("the export went with the imports: {}", said())
    });
    expect(memory::close(&key), 0, "closing the third import");
    expect(memory::close(&key), 0, "closing the export");
    trouble::unless(memory::import(&key, 0) == Err(REFUSED), || {
        "a closed key was imported".to_owned()
    });
    let _ = said();
    ok(aclrtFree(block), "aclrtFree");
}

fn kind_of(at: *const c_void) -> i32 {
    let mut about = aclrtPtrAttributes {
        location: aclrtMemLocation { id: 77, r#type: 77 },
        pageSize: 0,
        rsv: [0; 4],
    };
    ok(
        aclrtPointerGetAttributes(at, &raw mut about),
        "aclrtPointerGetAttributes",
    );
    about.location.r#type
}

/// An import is device memory to every question.
fn about(at: *mut c_void, bytes: usize) {
    let inside = at.wrapping_byte_add(bytes / 2 + 1);
    trouble::unless(kind_of(inside) == ACL_MEM_LOCATION_TYPE_DEVICE, || {
        "an import is no device memory".to_owned()
    });
    let (mut base, mut size) = (std::ptr::null_mut(), 0);
    let code = aclrtMemGetAddressRange(inside, &raw mut base, &raw mut size);
    expect(code, 0, "aclrtMemGetAddressRange");
    trouble::unless(base == at && size >= bytes, || {
        format!("the range of {at:?} is {size} bytes at {base:?}")
    });
    expect(aclrtFree(at), REFUSED, "aclrtFree of an import");
    let beyond = aclrtMemset(inside, bytes, 0, bytes);
    expect(beyond, REFUSED, "a fill beyond the end of an import");
}

fn judge(result: Result<(), String>, what: &str) {
    if let Err(text) = result {
        trouble::note(format!("{what}: {text}"));
    }
}

/// Copies of other threads at the moment of the export are not lost.
pub(crate) fn writes_meanwhile() {
    const BYTES: usize = 8 << 20;
    const PART: usize = 1 << 12;
    for _ in 0..20 {
        let block = memory::device(BYTES);
        ok(aclrtMemset(block, BYTES, 0, BYTES), "aclrtMemset");
        let (address, stop) = (block as usize, &AtomicBool::new(false));
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..2)
                .map(|me| scope.spawn(move || write_until(address, me, BYTES, PART, stop)))
                .collect();
            std::thread::sleep(std::time::Duration::from_millis(2));
            let key = memory::exported(block, BYTES, 1);
            std::thread::sleep(std::time::Duration::from_millis(2));
            stop.store(true, Ordering::Relaxed);
            let written: Vec<Vec<u32>> = writers
                .into_iter()
                .map(|it| it.join().expect("a writer"))
                .collect();
            nothing_lost(block, BYTES, PART, &written);
            expect(memory::close(&key), 0, "closing the export");
        });
        ok(aclrtFree(block), "aclrtFree");
    }
}

/// Whether every part holds the last number that was written there.
pub(crate) fn nothing_lost(block: *mut c_void, bytes: usize, part: usize, written: &[Vec<u32>]) {
    for (at, bytes) in memory::download(block, bytes).chunks(part).enumerate() {
        let want = written[at % 2][at / 2].to_le_bytes();
        let right = bytes.chunks(4).all(|word| word == want);
        trouble::unless(right, || format!("a write to part {at} was lost"));
    }
}

/// Writes numbers over every other part; the last number of each.
pub(crate) fn write_until(
    address: usize,
    me: usize,
    bytes: usize,
    part: usize,
    stop: &AtomicBool,
) -> Vec<u32> {
    ok(aclrtSetDevice(0), "aclrtSetDevice");
    let mut last = vec![0; bytes / part / 2];
    let mut number = 0u32;
    while !stop.load(Ordering::Relaxed) {
        for (at, last) in last.iter_mut().enumerate() {
            number += 1;
            let data = number.to_le_bytes().repeat(part / 4);
            memory::upload((address + (at * 2 + me) * part) as *mut c_void, &data);
            *last = number;
        }
    }
    ok(aclrtResetDevice(0), "aclrtResetDevice");
    last
}

/// A released block leaves its importers the memory, and nobody else sees it.
pub(crate) fn release() {
    const BYTES: usize = 4 << 20;
    let mut peer = peer::start();
    let before = memory::free_bytes();
    let block = memory::filled(BYTES, 1);
    let key = memory::exported(block, BYTES, 1);
    let at = peer.must(&format!("import {key} 0"));
    ok(aclrtFree(block), "aclrtFree");
    trouble::unless(memory::free_bytes() == before, || {
        "memory is missing".to_owned()
    });
    trouble::unless(memory::import(&key, 0) == Err(REFUSED), || {
        "a key of a released block was imported".to_owned()
    });
    let (code, _) = peer.ask(&format!("import {key} 0"));
    expect(code, REFUSED, "importing after the release");
    // Most likely the same addresses.
    let next = memory::filled(BYTES, 2);
    peer.must(&format!("holds {at} {BYTES} 1"));
    peer.must(&format!("fill {at} {BYTES} 3"));
    judge(memory::holds(next, BYTES, 2), "the next block");
    peer.must(&format!("close {key}"));
    ok(aclrtFree(next), "aclrtFree");
    // Blocks that share pages with others cannot be shared.
    let small = memory::device(64);
    trouble::unless(memory::export(small, 64, 1) == Err(REFUSED), || {
        "a block that shares its page was exported".to_owned()
    });
    let _ = said();
    ok(aclrtFree(small), "aclrtFree");
    trouble::unless(peer.end(), || "the peer failed".to_owned());
}

/// A reset ends the keys of the exporter and the imports of the importer.
pub(crate) fn reset() {
    const BYTES: usize = 2 << 20;
    let mut peer = peer::start();
    let block = memory::filled(BYTES, 1);
    let key = memory::exported(block, BYTES, 1);
    let at = peer.must(&format!("import {key} 0"));
    peer.must("reset 0");
    peer.must("device 0");
    let (code, _) = peer.ask(&format!("close {key}"));
    expect(code, REFUSED, "closing an import that went with its device");
    let again = peer.must(&format!("import {key} 0"));
    peer.must(&format!("holds {again} {BYTES} 1"));
    ok(aclrtResetDevice(0), "aclrtResetDevice");
    ok(aclrtSetDevice(0), "aclrtSetDevice");
    let (code, _) = peer.ask(&format!("import {key} 0"));
    expect(code, REFUSED, "importing after the exporter's reset");
    peer.must(&format!("holds {again} {BYTES} 1"));
    let next = memory::filled(BYTES, 2);
    peer.must(&format!("fill {again} {BYTES} 3"));
    judge(memory::holds(next, BYTES, 2), "a block after the reset");
    trouble::unless(!at.is_empty() && peer.end(), || {
        "the peer failed".to_owned()
    });
    ok(aclrtFree(next), "aclrtFree");
}

/// Memory of another device needs access to it.
pub(crate) fn two_devices() {
    const BYTES: usize = 2 << 20;
    let block = memory::filled(BYTES, 1);
    let key = memory::exported(block, BYTES, 1);
    let mut peer = peer::start_bare();
    peer.must("device 1");
    let (code, text) = peer.ask(&format!("import {key} 0"));
    expect(code, REFUSED, "importing without access to the device");
    trouble::unless(text.contains("aclrtDeviceEnablePeerAccess"), || {
        format!("the text names no remedy: {text}")
    });
    let at = peer.must(&format!("import {key} 1"));
    peer.must(&format!("holds {at} {BYTES} 1"));
    let again = peer.must(&format!("import {key} 0"));
    peer.must(&format!("holds {again} {BYTES} 1"));
    trouble::unless(peer.end(), || "the peer failed".to_owned());
    ok(aclrtFree(block), "aclrtFree");
}
