//! Many at a time, and many times.

use crate::api::*;
use crate::expect::expect;
use crate::memory;
use crate::peer::{self, Peer};
use crate::system;
use crate::trouble;

/// Eight processes have one block at the same moment; each writes a part of its own.
pub(crate) fn eight_importers() {
    const PART: usize = 512 << 10;
    const COUNT: usize = 8;
    let block = memory::filled(PART * COUNT, 99);
    let key = memory::exported(block, PART * COUNT, 0);
    let mut peers: Vec<Peer> = (0..COUNT).map(|_| peer::start()).collect();
    let pids: Vec<i32> = peers.iter().map(Peer::pid).collect();
    ok(memory::allow(&key, &pids), "aclrtIpcMemSetImportPid");
    // All at once.
    for peer in &mut peers {
        peer.tell(&format!("import {key} 0"));
    }
    let mut places = Vec::new();
    for peer in &mut peers {
        let (code, at) = peer.answer();
        expect(code, 0, &format!("importing: {at}"));
        places.push(at.parse::<usize>().expect("an address"));
    }
    for (peer, at) in peers.iter_mut().zip(&places) {
        peer.tell(&format!("holds {at} {} 99", PART * COUNT));
    }
    for peer in &mut peers {
        let (code, text) = peer.answer();
        expect(code, 0, &format!("comparing: {text}"));
    }
    for (i, (peer, at)) in peers.iter_mut().zip(&places).enumerate() {
        peer.tell(&format!("fill {} {PART} {i}", at + i * PART));
    }
    for peer in &mut peers {
        expect(peer.answer().0, 0, "writing a part");
    }
    for (i, (peer, at)) in peers.iter_mut().zip(&places).enumerate() {
        // What the next one wrote.
        let next = (i + 1) % COUNT;
        peer.must(&format!("holds {} {PART} {next}", at + next * PART));
        let own = block.wrapping_byte_add(i * PART);
        if let Err(text) = memory::holds(own, PART, i as u64) {
            trouble::note(format!("the part of importer {i}: {text}"));
        }
    }
    for (i, mut peer) in peers.into_iter().enumerate() {
        if i % 2 == 0 {
            peer.must(&format!("close {key}"));
            trouble::unless(peer.end(), || "a peer failed".to_owned());
        } else {
            peer.kill();
        }
    }
    ok(aclrtFree(block), "aclrtFree");
}

/// Exports and imports again and again leave nothing behind, on either side.
pub(crate) fn many() {
    const BYTES: usize = 1 << 20;
    let mut peer = peer::start();
    let mut early = None;
    for round in 1..=1000u64 {
        let block = memory::filled(BYTES, round);
        let key = memory::exported(block, BYTES, 0);
        ok(
            memory::allow(&key, &[peer.pid()]),
            "aclrtIpcMemSetImportPid",
        );
        let (code, text) = peer.ask(&format!("rounds {key} 1 {BYTES} {round}"));
        if code != 0 {
            return trouble::note(format!("round {round}: {code}: {text}"));
        }
        if round % 2 == 0 {
            expect(memory::close(&key), 0, "closing the export");
        }
        ok(aclrtFree(block), "aclrtFree");
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
    trouble::unless(peer.end(), || "the peer failed".to_owned());
}

/// Several threads export, import, close and release at the same time, on both sides.
pub(crate) fn threads() {
    const BYTES: usize = 1 << 20;
    const ROUNDS: u64 = 60;
    let block = memory::filled(BYTES, 7);
    let address = block as usize;
    std::thread::scope(|scope| {
        for me in 0..2u64 {
            scope.spawn(move || {
                ok(aclrtSetDevice(0), "aclrtSetDevice");
                let mut peer = peer::start();
                for round in 0..ROUNDS {
                    let seed = me * 1000 + round;
                    let own = memory::filled(BYTES, seed);
                    let key = memory::exported(own, BYTES, 1);
                    let (code, text) = peer.ask(&format!("rounds {key} 2 {BYTES} {seed}"));
                    expect(code, 0, &format!("thread {me}, round {round}: {text}"));
                    ok(aclrtFree(own), "aclrtFree");
                }
                trouble::unless(peer.end(), || "a peer failed".to_owned());
                ok(aclrtResetDevice(0), "aclrtResetDevice");
            });
        }
        for _ in 0..3 {
            scope.spawn(move || {
                ok(aclrtSetDevice(0), "aclrtSetDevice");
                let block = address as *mut std::ffi::c_void;
                for _ in 0..ROUNDS {
                    let key = memory::exported(block, BYTES, 1);
                    match memory::import(&key, 0) {
                        Ok(at) => {
                            if let Err(text) = memory::holds(at, BYTES, 7) {
                                trouble::note(text);
                            }
                            expect(memory::close(&key), 0, "closing the import");
                        }
                        Err(code) => expect(code, 0, "importing"),
                    }
                    expect(memory::close(&key), 0, "closing the export");
                }
                ok(aclrtResetDevice(0), "aclrtResetDevice");
            });
        }
    });
    ok(aclrtFree(block), "aclrtFree");
}
