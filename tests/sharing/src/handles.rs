//! Physical handles of other processes.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cannery_abi::*;

use crate::api::*;
use crate::blocks::{nothing_lost, write_until};
use crate::expect::expect;
use crate::lists::REFUSED;
use crate::memory;
use crate::peer::{self, DIFFERENT};
use crate::system;
use crate::trouble;

const BYTES: usize = 4 << 20;

/// Physical memory of device 0.
pub(crate) fn make(bytes: usize) -> u64 {
    let property = aclrtPhysicalMemProp {
        handleType: ACL_MEM_HANDLE_TYPE_NONE,
        allocationType: ACL_MEM_ALLOCATION_TYPE_PINNED,
        memAttr: ACL_HBM_MEM_HUGE,
        location: aclrtMemLocation {
            id: 0,
            r#type: ACL_MEM_LOCATION_TYPE_DEVICE,
        },
        reserve: 0,
    };
    let mut handle = null_mut();
    let code = aclrtMallocPhysical(&raw mut handle, bytes, &raw const property, 0);
    ok(code, "aclrtMallocPhysical");
    handle as u64
}

pub(crate) fn free(handle: u64) -> aclError {
    aclrtFreePhysical(handle as aclrtDrvMemHandle)
}

/// Maps a handle into a reservation of its own.
pub(crate) fn map(handle: u64, bytes: usize) -> Result<*mut c_void, aclError> {
    let mut at = null_mut();
    let code = aclrtReserveMemAddress(&raw mut at, bytes, 0, null_mut(), 0);
    ok(code, "aclrtReserveMemAddress");
    match aclrtMapMem(at, bytes, 0, handle as aclrtDrvMemHandle, 0) {
        0 => Ok(at),
        code => Err(code),
    }
}

/// Undoes [`map`].
pub(crate) fn unmap(at: *mut c_void) -> aclError {
    match aclrtUnmapMem(at) {
        0 => aclrtReleaseMemAddress(at),
        code => code,
    }
}

/// Exports a handle; the shareable one as text.
pub(crate) fn export(handle: u64, fabric: bool, flags: u64) -> Result<String, aclError> {
    let handle = handle as aclrtDrvMemHandle;
    if fabric {
        let mut bytes = [0u8; 128];
        let kind = ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
        let out = bytes.as_mut_ptr().cast();
        let code = aclrtMemExportToShareableHandleV2(handle, flags, kind, out);
        let hex = bytes.iter().map(|byte| format!("{byte:02x}"));
        return if code == 0 {
            Ok(hex.collect())
        } else {
            Err(code)
        };
    }
    let (kind, mut number) = (ACL_MEM_HANDLE_TYPE_NONE, 0u64);
    match aclrtMemExportToShareableHandle(handle, kind, flags, &raw mut number) {
        0 => Ok(number.to_string()),
        code => Err(code),
    }
}

fn bytes_of(text: &str) -> [u8; 128] {
    let mut bytes = [0; 128];
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[i * 2..i * 2 + 2], 16).expect("two digits");
    }
    bytes
}

/// Imports a shareable handle.
pub(crate) fn import(text: &str, device: i32) -> Result<u64, aclError> {
    let mut handle = null_mut();
    let code = if text.len() == 256 {
        let mut bytes = bytes_of(text);
        let kind = ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
        aclrtMemImportFromShareableHandleV2(bytes.as_mut_ptr().cast(), kind, 0, &raw mut handle)
    } else {
        let number = text.parse().expect("a number");
        aclrtMemImportFromShareableHandle(number, device, &raw mut handle)
    };
    if code == 0 {
        Ok(handle as u64)
    } else {
        Err(code)
    }
}

fn allow(text: &str, pids: &[i32]) -> aclError {
    let mut pids = pids.to_vec();
    let (list, count) = (pids.as_mut_ptr(), pids.len());
    if text.len() == 256 {
        let mut bytes = bytes_of(text);
        let kind = ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
        return aclrtMemSetPidToShareableHandleV2(bytes.as_mut_ptr().cast(), kind, list, count);
    }
    aclrtMemSetPidToShareableHandle(text.parse().expect("a number"), list, count)
}

/// Imports, maps, compares and gives back, so many times.
pub(crate) fn rounds(text: &str, count: u64, bytes: usize, seed: u64) -> (aclError, String) {
    for _ in 0..count {
        let mapped = import(text, 0).and_then(|handle| Ok((handle, map(handle, bytes)?)));
        let (handle, at) = match mapped {
            Ok(mapped) => mapped,
            Err(code) => return (code, said()),
        };
        if let Err(text) = memory::holds(at, bytes, seed) {
            return (DIFFERENT, text);
        }
        for code in [unmap(at), free(handle)] {
            if code != 0 {
                return (code, said());
            }
        }
    }
    (0, String::new())
}

/// A handle with memory that holds random bytes, mapped.
fn filled(seed: u64) -> (u64, *mut c_void) {
    let handle = make(BYTES);
    let at = map(handle, BYTES).expect("mapped");
    memory::upload(at, &memory::random(BYTES, seed));
    (handle, at)
}

fn exported(handle: u64, fabric: bool, flags: u64) -> String {
    export(handle, fabric, flags)
        .unwrap_or_else(|code| panic!("the export answered {code}: {}", said()))
}

/// Who may import, and how often.
pub(crate) fn white_list() {
    list(false);
    // Two shareable handles lead to two memories.
    let (handles, mut texts) = ([make(BYTES), make(BYTES)], Vec::new());
    for handle in handles {
        texts.push(exported(handle, false, 1));
        trouble::unless(export(handle, false, 1) == Err(REFUSED), || {
            "a handle was exported twice".to_owned()
        });
        trouble::unless(said().contains("once"), || "no word of why".to_owned());
    }
    trouble::unless(texts[0] != texts[1], || "one number for two".to_owned());
    trouble::unless(import(&texts[0], 0) == Err(REFUSED), || {
        "imported in the exporting process".to_owned()
    });
    let _ = said();
    let mut peer = peer::start();
    let own = peer.must(&format!("handle-import {} 0", texts[0]));
    let (code, _) = peer.ask(&format!("handle-import {} 0", texts[0]));
    expect(code, REFUSED, "importing twice");
    let (code, _) = peer.ask(&format!("handle-export {own} 1"));
    expect(code, REFUSED, "exporting an imported handle");
    let (code, _) = peer.ask(&format!("handle-import {} 99", texts[1]));
    expect(
        code,
        ACL_ERROR_RT_INVALID_DEVICEID,
        "importing on a device that is not there",
    );
    peer.must(&format!("handle-free {own}"));
    let again = peer.must(&format!("handle-import {} 1", texts[0]));
    peer.must(&format!("handle-free {again}"));
    trouble::unless(peer.end(), || "the peer failed".to_owned());
    for handle in handles {
        ok(free(handle), "aclrtFreePhysical");
    }
}

fn list(fabric: bool) {
    let (handle, at) = filled(1);
    let text = exported(handle, fabric, 0);
    let (mut one, mut other) = (peer::start(), peer::start());
    for peer in [&mut one, &mut other] {
        let (code, said) = peer.ask(&format!("handle-import {text} 0"));
        expect(code, REFUSED, "importing without being listed");
        trouble::unless(said.contains("aclrtMemSetPidToShareableHandle"), || {
            format!("the text names no remedy: {said}")
        });
    }
    ok(allow(&text, &[one.pid()]), "listing a process");
    one.must(&format!("handle-rounds {text} 3 {BYTES} 1"));
    let (code, _) = other.ask(&format!("handle-import {text} 0"));
    expect(code, REFUSED, "importing when another one is listed");
    trouble::unless(one.end() && other.end(), || "a peer failed".to_owned());
    ok(unmap(at), "unmapping");
    ok(free(handle), "aclrtFreePhysical");
    expect(allow(&text, &[1]), REFUSED, "listing for what is gone");
}

/// Handles of 128 bytes, on the product that has them.
pub(crate) fn fabric() {
    list(true);
    let handle = make(BYTES);
    let text = exported(handle, true, 1);
    trouble::unless(export(handle, false, 1) == Err(REFUSED), || {
        "a handle was exported in two forms".to_owned()
    });
    let mut forged = text.clone();
    let end = if forged.remove(40) == '0' { '1' } else { '0' };
    forged.insert(40, end);
    let mut peer = peer::start();
    let (code, _) = peer.ask(&format!("handle-import {forged} 0"));
    expect(code, REFUSED, "importing a forged handle");
    peer.must(&format!("handle-import {text} 0"));
    trouble::unless(peer.end(), || "the peer failed".to_owned());
    ok(free(handle), "aclrtFreePhysical");
}

/// Bytes reach the other side both ways, whether the handle was mapped when it was exported or not,
/// and what it costs stays.
pub(crate) fn contents() {
    let mut peer = peer::start();
    let begin = memory::free_bytes();
    for mapped in [true, false] {
        let (handle, mut at) = filled(1);
        let twice = map(handle, BYTES).expect("mapped a second time");
        if !mapped {
            ok(unmap(at), "unmapping");
            ok(unmap(twice), "unmapping");
        }
        let free_before = memory::free_bytes();
        let text = exported(handle, false, 1);
        let own = peer.must(&format!("handle-import {text} 0"));
        let there = peer.must(&format!("map {own} {BYTES}"));
        peer.must(&format!("holds {there} {BYTES} 1"));
        peer.must(&format!("fill {there} {BYTES} 2"));
        if !mapped {
            at = map(handle, BYTES).expect("mapped again");
        }
        let places = if mapped { vec![at, twice] } else { vec![at] };
        for at in places {
            if let Err(text) = memory::holds(at, BYTES, 2) {
                trouble::note(format!("mapped {mapped}: what the importer wrote: {text}"));
            }
            expect(
                memory::free_bytes() as i32,
                free_before as i32,
                "free bytes",
            );
            ok(unmap(at), "unmapping");
        }
        // The importer keeps the memory; nobody gets it any more.
        ok(free(handle), "aclrtFreePhysical");
        expect(
            memory::free_bytes() as i32,
            begin as i32,
            "free bytes at the end",
        );
        peer.must(&format!("holds {there} {BYTES} 2"));
        let (code, _) = peer.ask(&format!("handle-import {text} 0"));
        expect(code, REFUSED, "importing after the last reference");
        peer.must(&format!("handle-free {own}"));
        peer.must(&format!("holds {there} {BYTES} 2"));
        peer.must(&format!("unmap {there}"));
    }
    trouble::unless(peer.end(), || "the peer failed".to_owned());
}

/// Copies of other threads at the moment of the export are not lost.
pub(crate) fn writes_meanwhile() {
    const PART: usize = 1 << 12;
    for _ in 0..20 {
        let (handle, at) = filled(1);
        let other = map(handle, BYTES).expect("mapped a second time");
        ok(aclrtMemset(at, BYTES, 0, BYTES), "aclrtMemset");
        let (address, stop) = (at as usize, &AtomicBool::new(false));
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..2)
                .map(|me| scope.spawn(move || write_until(address, me, BYTES, PART, stop)))
                .collect();
            std::thread::sleep(Duration::from_millis(2));
            exported(handle, false, 1);
            std::thread::sleep(Duration::from_millis(2));
            stop.store(true, Ordering::Relaxed);
            let written: Vec<Vec<u32>> = writers
                .into_iter()
                .map(|it| it.join().expect("a writer"))
                .collect();
            nothing_lost(at, BYTES, PART, &written);
            nothing_lost(other, BYTES, PART, &written);
        });
        for at in [at, other] {
            ok(unmap(at), "unmapping");
        }
        ok(free(handle), "aclrtFreePhysical");
    }
}

/// Both orders of death.
pub(crate) fn deaths() {
    let (handle, at) = filled(1);
    let text = exported(handle, false, 1);
    let mut peer = peer::start();
    let own = peer.must(&format!("handle-import {text} 0"));
    let there = peer.must(&format!("map {own} {BYTES}"));
    peer.must(&format!("fill {there} {BYTES} 5"));
    peer.kill();
    if let Err(text) = memory::holds(at, BYTES, 5) {
        trouble::note(format!("after the importer's death: {text}"));
    }
    ok(unmap(at), "unmapping");
    ok(free(handle), "aclrtFreePhysical");

    let mut peer = peer::start();
    let theirs = peer.must(&format!("handle-make {BYTES}"));
    let there = peer.must(&format!("map {theirs} {BYTES}"));
    peer.must(&format!("fill {there} {BYTES} 7"));
    let text = peer.must(&format!("handle-export {theirs} 1"));
    let own = import(&text, 0).expect("imported");
    let at = map(own, BYTES).expect("mapped");
    peer.kill();
    if let Err(text) = memory::holds(at, BYTES, 7) {
        trouble::note(format!("after the exporter's death: {text}"));
    }
    ok(unmap(at), "unmapping");
    ok(free(own), "aclrtFreePhysical");
    let begin = Instant::now();
    expect(
        import(&text, 0).err().unwrap_or(0),
        REFUSED,
        "importing from a dead process",
    );
    trouble::unless(begin.elapsed() < Duration::from_secs(1), || {
        format!("answered after {:?}", begin.elapsed())
    });
}

/// Again and again, with nothing left behind on either side.
pub(crate) fn many() {
    let mut peer = peer::start();
    let (mut early, begin) = (None, memory::free_bytes());
    for round in 1..=1000u64 {
        let handle = make(BYTES / 2);
        let at = map(handle, BYTES / 2).expect("mapped");
        memory::upload(at, &memory::random(BYTES / 2, round));
        let text = exported(handle, false, 0);
        ok(allow(&text, &[peer.pid()]), "listing a process");
        let (code, said) = peer.ask(&format!("handle-rounds {text} 1 {} {round}", BYTES / 2));
        if code != 0 {
            return trouble::note(format!("round {round}: {code}: {said}"));
        }
        ok(free(handle), "aclrtFreePhysical");
        ok(unmap(at), "unmapping");
        if round == 100 || round == 1000 {
            let now = (system::counts(), peer.must("counts"));
            match &early {
                None => early = Some(now),
                Some(early) => trouble::unless(*early == now, || {
                    format!(
                        "descriptors and mappings were {early:?} after round 100, {now:?} after 1000"
                    )
                }),
            }
        }
    }
    trouble::unless(memory::free_bytes() == begin, || {
        "memory is missing".to_owned()
    });
    trouble::unless(peer.end(), || "the peer failed".to_owned());
}
