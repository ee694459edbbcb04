//! Notifies and events of two processes: who waits for whom, who may, and what the survivor is told
//! when the other one is killed.

use std::ptr::null_mut;

use cannery_abi::*;

use crate::api::*;
use crate::gate::Gate;
use crate::peer;
use crate::{make, progress, trouble};

/// Milliseconds of a wait that must end well.
const SOON: i32 = 5000;
const REFUSED: aclError = 107_000;
const STREAM_TIMEOUT: aclError = 507_046;
const EVENT_TIMEOUT: aclError = 507_047;

fn expect(got: aclError, want: aclError, what: &str) {
    trouble::unless(got == want, || format!("{what}: {got}, expected {want}"));
}

/// All plots, one after the other.
pub(crate) fn play() {
    ok(aclrtSetDevice(0), "aclrtSetDevice");
    progress::begin(0, "who may import");
    white_list();
    progress::begin(1, "notifies to and fro");
    to_and_fro();
    progress::begin(2, "an event of both");
    event();
    progress::begin(3, "the importer is killed");
    importer_dies();
    progress::begin(4, "the owner is killed");
    owner_dies();
    ok(aclrtResetDevice(0), "aclrtResetDevice");
    let left = names_left();
    trouble::unless(left.is_empty(), || format!("names left behind: {left:?}"));
}

/// What lies in the directory of the shared things.
fn names_left() -> Vec<String> {
    let directory = std::env::var("CANNERY_RUNTIME_DIR").unwrap_or_default();
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("share-")).collect()
}

fn white_list() {
    let notify = make::notify();
    let mut other = peer::start();
    let key = peer::export(notify, 0);
    expect(
        other.ask(&format!("import {key}")).0,
        REFUSED,
        "importing without being listed",
    );
    let mut pids = [other.pid()];
    let code = aclrtNotifySetImportPid(notify, pids.as_mut_ptr(), 1);
    ok(code, "aclrtNotifySetImportPid");
    expect(
        other.ask(&format!("import {key}")).0,
        0,
        "importing when listed",
    );
    trouble::unless(other.end(), || "the peer failed".to_owned());
    ok(aclrtDestroyNotify(notify), "aclrtDestroyNotify");
    trouble::unless(peer::import(&key).is_err(), || {
        "a key of a destroyed notify was imported".to_owned()
    });
    let _ = said();
}

fn to_and_fro() {
    let (ping, pong, stream) = (make::notify(), make::notify(), make::stream());
    let mut other = peer::start();
    for notify in [ping, pong] {
        let key = peer::export(notify, peer::FOR_ALL);
        expect(other.ask(&format!("import {key}")).0, 0, "importing");
    }
    for round in 0..100 {
        for line in ["wait 0", "record 1"] {
            expect(other.ask(line).0, 0, line);
        }
        let code = aclrtWaitAndResetNotify(pong, stream, 0);
        ok(code, "aclrtWaitAndResetNotify");
        if round % 20 == 0 {
            let code = aclrtSynchronizeStreamWithTimeout(stream, 10);
            expect(code, STREAM_TIMEOUT, "before the notify");
            let code = other.ask("sync 10").0;
            expect(code, STREAM_TIMEOUT, "the peer before the notify");
        }
        ok(aclrtRecordNotify(ping, null_mut()), "aclrtRecordNotify");
        other.tell(&format!("sync {SOON}"));
        let code = aclrtSynchronizeStreamWithTimeout(stream, SOON);
        expect(code, 0, "after both notifies");
        expect(other.answer().0, 0, "the peer after both notifies");
    }
    trouble::unless(other.end(), || "the peer failed".to_owned());
    for notify in [ping, pong] {
        ok(aclrtDestroyNotify(notify), "aclrtDestroyNotify");
    }
    ok(aclrtDestroyStream(stream), "aclrtDestroyStream");
}

/// An event that the other process can open.
fn shared_event() -> aclrtEvent {
    let mut event = null_mut();
    let code = aclrtCreateEventExWithFlag(&raw mut event, ACL_EVENT_IPC);
    ok(code, "aclrtCreateEventExWithFlag");
    event
}

fn event() {
    let (event, stream) = (shared_event(), make::stream());
    let mut other = peer::start();
    let name = peer::event_name(event);
    expect(other.ask(&format!("open {name}")).0, 0, "opening the event");
    for _ in 0..3 {
        let gate = Gate::closed();
        gate.launch(stream);
        ok(aclrtRecordEvent(event, stream), "aclrtRecordEvent");
        expect(other.ask("event-wait").0, 0, "the peer's stream waits");
        expect(other.ask("sync 20").0, STREAM_TIMEOUT, "the peer's stream");
        expect(other.ask("event-sync 20").0, EVENT_TIMEOUT, "the peer");
        let status = ACL_EVENT_RECORDED_STATUS_NOT_READY.to_string();
        trouble::unless(other.ask("event-query") == (0, status), || {
            "the peer finds the pending event complete".to_owned()
        });
        gate.open();
        other.tell(&format!("sync {SOON}"));
        ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
        expect(other.answer().0, 0, "the peer's stream after the record");
        expect(other.ask(&format!("event-sync {SOON}")).0, 0, "the peer");
        let status = ACL_EVENT_RECORDED_STATUS_COMPLETE.to_string();
        trouble::unless(other.ask("event-query") == (0, status), || {
            "the peer finds the reached event pending".to_owned()
        });
    }
    // The other way round.
    expect(other.ask("event-record").0, 0, "the peer records");
    ok(aclrtStreamWaitEvent(stream, event), "aclrtStreamWaitEvent");
    other.tell(&format!("sync {SOON}"));
    let code = aclrtSynchronizeStreamWithTimeout(stream, SOON);
    expect(code, 0, "waiting for the peer's record");
    expect(aclrtSynchronizeEvent(event), 0, "aclrtSynchronizeEvent");
    expect(other.answer().0, 0, "the peer's own stream");
    trouble::unless(other.end(), || "the peer failed".to_owned());
    ok(aclrtDestroyEvent(event), "aclrtDestroyEvent");
    ok(aclrtDestroyStream(stream), "aclrtDestroyStream");
}

/// The stream waits for what can never come: it says so, with a text, and works afterwards.
fn told_of_death(stream: aclrtStream, what: &str) {
    let code = aclrtSynchronizeStreamWithTimeout(stream, SOON);
    let text = said();
    trouble::unless(
        code != 0 && code != STREAM_TIMEOUT && text != "no text",
        || format!("{what}: the wait ended with {code} ({text})"),
    );
    let counted = aclrtSynchronizeStreamWithTimeout(stream, SOON);
    expect(counted, 0, &format!("{what}: the stream afterwards"));
}

fn importer_dies() {
    let (notify, event, stream) = (make::notify(), shared_event(), make::stream());
    let mut other = peer::start();
    let key = peer::export(notify, peer::FOR_ALL);
    expect(other.ask(&format!("import {key}")).0, 0, "importing");
    let name = peer::event_name(event);
    expect(other.ask(&format!("open {name}")).0, 0, "opening the event");
    let code = aclrtWaitAndResetNotify(notify, stream, 0);
    ok(code, "aclrtWaitAndResetNotify");
    let code = aclrtSynchronizeStreamWithTimeout(stream, 20);
    expect(code, STREAM_TIMEOUT, "while the peer lives");
    other.kill();
    told_of_death(stream, "the importer was killed");
    // What this process records itself is reached whoever died.
    let gate = Gate::closed();
    gate.launch(stream);
    ok(aclrtRecordEvent(event, stream), "aclrtRecordEvent");
    let code = aclrtSynchronizeEventWithTimeout(event, 50);
    expect(code, EVENT_TIMEOUT, "an own record after the importer died");
    gate.open();
    let code = aclrtSynchronizeEventWithTimeout(event, SOON);
    expect(code, 0, "an own record that is reached");
    ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    ok(aclrtDestroyNotify(notify), "aclrtDestroyNotify");
    ok(aclrtDestroyEvent(event), "aclrtDestroyEvent");
    ok(aclrtDestroyStream(stream), "aclrtDestroyStream");
}

fn owner_dies() {
    let stream = make::stream();
    let mut other = peer::start();
    let (code, key) = other.ask("export");
    expect(code, 0, "the peer exports");
    let notify = match peer::import(&key) {
        Ok(notify) => notify,
        Err(code) => return trouble::note(format!("importing the peer's notify: {code}")),
    };
    let code = aclrtWaitAndResetNotify(notify, stream, 0);
    ok(code, "aclrtWaitAndResetNotify");
    let code = aclrtSynchronizeStreamWithTimeout(stream, 20);
    expect(code, STREAM_TIMEOUT, "while the owner lives");
    other.kill();
    told_of_death(stream, "the owner was killed");
    ok(aclrtDestroyNotify(notify), "aclrtDestroyNotify");
    ok(aclrtDestroyStream(stream), "aclrtDestroyStream");
    trouble::unless(peer::import(&key).is_err(), || {
        "the key of a process that was killed was imported".to_owned()
    });
    let _ = said();
}
