//! Who may import.

use crate::api::*;
use crate::expect::expect;
use crate::peer;
use crate::trouble;
use crate::{memory, system};

const BYTES: usize = 3 << 20;
/// What an import answers to those who may not.
pub(crate) const REFUSED: i32 = 107_000;

/// The exporter's list counts, and each process counts for itself.
pub(crate) fn white_list() {
    let block = memory::filled(BYTES, 1);
    let key = memory::exported(block, BYTES, 0);
    let (mut one, mut other) = (peer::start(), peer::start());
    for peer in [&mut one, &mut other] {
        let (code, text) = peer.ask(&format!("import {key} 0"));
        expect(code, REFUSED, "importing without being listed");
        trouble::unless(text.contains("aclrtIpcMemSetImportPid"), || {
            format!("the text names no remedy: {text}")
        });
    }
    ok(
        memory::allow(&key, &[one.pid(), 1]),
        "aclrtIpcMemSetImportPid",
    );
    let at = one.must(&format!("import {key} 0"));
    one.must(&format!("holds {at} {BYTES} 1"));
    let (code, _) = other.ask(&format!("import {key} 0"));
    expect(code, REFUSED, "importing when another one is listed");
    // An importer cannot list anybody.
    let (code, _) = one.ask(&format!("allow {key} {}", other.pid()));
    expect(code, REFUSED, "an importer lists a process");
    let (code, _) = other.ask(&format!("import {key} 0"));
    expect(code, REFUSED, "importing when an importer said so");
    // One list for each key.
    let second = memory::exported(block, BYTES, 0);
    let (code, _) = one.ask(&format!("import {second} 0"));
    expect(code, REFUSED, "importing by a key with an empty list");
    let open = memory::exported(block, BYTES, 1);
    let at = other.must(&format!("import {open} 0"));
    other.must(&format!("holds {at} {BYTES} 1"));
    // A key that differs in one digit.
    let end = if open.ends_with('0') { '1' } else { '0' };
    let forged = format!("{}{end}", &open[..open.len() - 1]);
    let (code, _) = other.ask(&format!("import {forged} 0"));
    expect(code, REFUSED, "importing by a forged key");
    trouble::unless(one.end() && other.end(), || "a peer failed".to_owned());
    ok(aclrtFree(block), "aclrtFree");
}

/// The right to a memory does not go to a child, although it inherits every descriptor.
pub(crate) fn forked_importer() {
    let block = memory::filled(BYTES, 2);
    let key = memory::exported(block, BYTES, 0);
    let mut peer = peer::start();
    ok(
        memory::allow(&key, &[peer.pid()]),
        "aclrtIpcMemSetImportPid",
    );
    peer.must(&format!("import {key} 0"));
    let (code, _) = peer.ask(&format!("fork-import {key}"));
    expect(code, 1, "the import of a child of a listed process");
    let open = memory::exported(block, BYTES, 1);
    let (code, text) = peer.ask(&format!("fork-import {open}"));
    expect(
        code,
        0,
        &format!("the import of a child without a list ({text})"),
    );
    trouble::unless(peer.end(), || "the peer failed".to_owned());
    ok(aclrtFree(block), "aclrtFree");
}

/// Other users get nothing, whatever the list says.
pub(crate) fn other_user() {
    if !system::is_root() {
        eprintln!("not run as root: no other user can be had");
        return;
    }
    let block = memory::filled(BYTES, 3);
    let key = memory::exported(block, BYTES, 1);
    let mut peer = peer::start_bare();
    ok(
        memory::allow(&key, &[peer.pid()]),
        "aclrtIpcMemSetImportPid",
    );
    peer.must("nobody");
    peer.must("device 0");
    let (code, _) = peer.ask(&format!("import {key} 0"));
    expect(code, REFUSED, "importing as another user");
    trouble::unless(peer.end(), || "the peer failed".to_owned());
    ok(aclrtFree(block), "aclrtFree");
}
