//! One of the processes ends, in any order and in any way.

use std::time::{Duration, Instant};

use crate::api::*;
use crate::expect::expect;
use crate::lists::REFUSED;
use crate::memory;
use crate::peer;
use crate::system;
use crate::trouble;

const BYTES: usize = 3 << 20;

/// An import that must be refused, and soon.
fn refused_within(key: &str, limit: Duration, what: &str) {
    let begin = Instant::now();
    let code = memory::import(key, 0).err().unwrap_or(0);
    let text = said();
    expect(code, REFUSED, what);
    trouble::unless(begin.elapsed() < limit, || {
        format!("{what}: answered after {:?} ({text})", begin.elapsed())
    });
    trouble::unless(text.contains("aclrtIpcMemImportByKey"), || {
        format!("{what}: the text is {text:?}")
    });
}

/// The exporter does not mind.
pub(crate) fn importer_dies() {
    let block = memory::filled(BYTES, 1);
    let key = memory::exported(block, BYTES, 1);
    for round in 0..3 {
        let mut peer = peer::start();
        let at = peer.must(&format!("import {key} 0"));
        peer.must(&format!("fill {at} {BYTES} {round}"));
        peer.kill();
        if let Err(text) = memory::holds(block, BYTES, round) {
            trouble::note(format!("after the importer's death: {text}"));
        }
    }
    let mut peer = peer::start();
    let at = peer.must(&format!("import {key} 0"));
    peer.must(&format!("holds {at} {BYTES} 2"));
    ok(aclrtFree(block), "aclrtFree");
    peer.kill();
}

/// The importer keeps what it has, and gets nothing new.
pub(crate) fn exporter_dies() {
    let mut peer = peer::start();
    let block = peer.must(&format!("malloc {BYTES} 1"));
    let key = peer.must(&format!("export {block} {BYTES} 1"));
    let at = match memory::import(&key, 0) {
        Ok(at) => at,
        Err(code) => panic!("the import answered {code}: {}", said()),
    };
    let pid = peer.pid();
    trouble::unless(!system::names_of(pid).is_empty(), || {
        "nobody listens".to_owned()
    });
    peer.kill();
    trouble::unless(system::names_of(pid).is_empty(), || {
        format!("names of a dead process: {:?}", system::names_of(pid))
    });
    if let Err(text) = memory::holds(at, BYTES, 1) {
        trouble::note(format!("after the exporter's death: {text}"));
    }
    memory::upload(at, &memory::random(BYTES, 2));
    if let Err(text) = memory::holds(at, BYTES, 2) {
        trouble::note(format!("written after the exporter's death: {text}"));
    }
    let soon = Duration::from_secs(1);
    refused_within(&key, soon, "importing from a dead process");
    expect(memory::close(&key), 0, "closing after the exporter's death");
    expect(memory::close(&key), REFUSED, "closing again");
}

/// The exporter ends by itself; nothing is left.
pub(crate) fn exporter_ends() {
    let mut peer = peer::start();
    let block = peer.must(&format!("malloc {BYTES} 1"));
    let key = peer.must(&format!("export {block} {BYTES} 1"));
    let pid = peer.pid();
    trouble::unless(peer.end(), || "the peer failed".to_owned());
    let names = system::names_of(pid);
    trouble::unless(names.is_empty(), || format!("names left behind: {names:?}"));
    let soon = Duration::from_secs(1);
    refused_within(&key, soon, "importing from a process that has ended");
}

/// An exporter that is stopped holds nobody up for long, and serves when it goes on.
pub(crate) fn exporter_stops() {
    let mut peer = peer::start();
    let block = peer.must(&format!("malloc {BYTES} 1"));
    let key = peer.must(&format!("export {block} {BYTES} 1"));
    system::signal(peer.pid(), libc::SIGSTOP);
    let stopped = system::soon(|| system::is_stopped(peer.pid()));
    trouble::unless(stopped, || "the peer does not stop".to_owned());
    let limit = Duration::from_secs(10);
    refused_within(&key, limit, "importing from a stopped process");
    system::signal(peer.pid(), libc::SIGCONT);
    match memory::import(&key, 0) {
        Ok(at) => {
            if let Err(text) = memory::holds(at, BYTES, 1) {
                trouble::note(format!("after it went on: {text}"));
            }
        }
        Err(code) => trouble::note(format!("after it went on: {code}: {}", said())),
    }
    trouble::unless(peer.end(), || "the peer failed".to_owned());
}

/// A child of the exporter inherits its sockets and outlives it.
pub(crate) fn child_stays() {
    let mut peer = peer::start();
    let block = peer.must(&format!("malloc {BYTES} 1"));
    let key = peer.must(&format!("export {block} {BYTES} 1"));
    // A connection of this process's, kept.
    let at = memory::import(&key, 0);
    trouble::unless(at.is_ok(), || format!("the import failed: {}", said()));
    let child = peer.must("fork-stay").parse().expect("a process id");
    let pid = peer.pid();
    peer.kill();
    // The child closes what it inherited as the first thing it does.
    let gone = system::soon(|| system::names_of(pid).is_empty());
    trouble::unless(gone, || {
        format!("names left behind: {:?}", system::names_of(pid))
    });
    let soon = Duration::from_secs(1);
    refused_within(&key, soon, "importing from a process with a living child");
    refused_within(&key, soon, "importing from it again");
    system::signal(child, libc::SIGKILL);
}
