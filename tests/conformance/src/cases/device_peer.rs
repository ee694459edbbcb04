//! Access between devices.

use super::memory_async::{D2D, H2D};
use super::support::*;

/// Whether `device` may access the memory of `peer` now.
fn enabled(t: &T, device: i32, peer: i32) -> i32 {
    let mut status = -77;
    let code = aclrtDevicePeerAccessStatus(device, peer, &raw mut status);
    t.ok(code, "aclrtDevicePeerAccessStatus");
    status
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case(
            "device.peer_disable.self",
            Setup::device0().devices(2),
            |t| {
                t.ret(aclrtDeviceDisablePeerAccess(0));
            },
        ),
        case(
            "device.peer_enable.no_device",
            Setup::init().devices(2),
            |t| {
                t.ret(aclrtDeviceEnablePeerAccess(1, 0));
            },
        ),
        case(
            "device.peer_enable.self",
            Setup::device0().devices(2),
            |t| {
                t.ret(aclrtDeviceEnablePeerAccess(0, 0));
                t.eq(enabled(t, 0, 1), 0, "access to the other device");
            },
        ),
        case("device.peer_query.same", Setup::device0().devices(2), |t| {
            let mut r = -77;
            t.ret(aclrtDeviceCanAccessPeer(&raw mut r, 0, 0));
            t.eq(r, -77, "output");
        }),
        case(
            "device.peer_query.same_beats_null",
            Setup::device0().devices(2),
            |t| t.ret(aclrtDeviceCanAccessPeer(null_mut(), 0, 0)),
        ),
        case("x.peer.can_access", Setup::device0().devices(2), |t| {
            let mut r = -77;
            t.ok(aclrtDeviceCanAccessPeer(&raw mut r, 0, 1), "0 to 1");
            t.eq(r, 1, "answer");
            t.fails(
                aclrtDeviceCanAccessPeer(null_mut(), 0, 1),
                ERROR_FRONT,
                "NULL",
            );
        }),
        case("x.peer.one_direction", Setup::device0().devices(2), |t| {
            t.eq((enabled(t, 0, 1), enabled(t, 1, 0)), (0, 0), "before");
            t.ok(
                aclrtDeviceEnablePeerAccess(1, 0),
                "aclrtDeviceEnablePeerAccess",
            );
            t.eq((enabled(t, 0, 1), enabled(t, 1, 0)), (1, 0), "after 0 to 1");
            t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
            t.ok(aclrtDeviceEnablePeerAccess(0, 0), "the reverse");
            t.eq((enabled(t, 0, 1), enabled(t, 1, 0)), (1, 1), "after both");
            t.ok(
                aclrtDeviceDisablePeerAccess(0),
                "aclrtDeviceDisablePeerAccess",
            );
            t.eq(
                (enabled(t, 0, 1), enabled(t, 1, 0)),
                (1, 0),
                "after disabling",
            );
        }),
        case(
            "x.peer.copies_and_directions",
            Setup::device0().devices(2),
            |t| {
                let n = MIB + 17;
                let (p0, bytes) = t.filled(n);
                t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
                let (p1, other) = t.filled(n);
                let stream = t.stream();
                // Access of the current device is enough for a copy that is made at once, into it ...
                t.ok(aclrtDeviceEnablePeerAccess(0, 0), "1 to 0");
                t.ok(aclrtMemcpy(p1, n, p0, n, D2D), "into the current device");
                t.holds(p1, &bytes, "device 1");
                // ... not for one that is queued,
                let queued = aclrtMemcpyAsync(p1, n, p0, n, D2D, stream);
                t.fails(queued, ERROR_PARAM, "queued, one direction");
                t.ok(aclrtDeviceDisablePeerAccess(0), "1 to 0, off");
                let none = aclrtMemcpy(p1, n, p0, n, D2D);
                t.fails(none, ERROR_PARAM, "without access");
                // ... and out of it.
                t.ok(aclrtMemcpy(p1, n, src(&other), n, H2D), "other bytes");
                t.ok(aclrtDeviceEnablePeerAccess(0, 0), "1 to 0 again");
                t.ok(aclrtMemcpy(p0, n, p1, n, D2D), "out of the current device");
                t.holds(p0, &other, "device 0");
                t.ok(aclrtSetDevice(0), "aclrtSetDevice(0)");
                t.ok(aclrtDeviceEnablePeerAccess(1, 0), "0 to 1");
                t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
                let queued = aclrtMemcpyAsync(p1, n, p0, n, D2D, stream);
                t.ok(queued, "queued, both directions");
                t.ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
                t.holds(p1, &other, "device 1");
            },
        ),
        case("x.peer.bad_ids", Setup::device0().devices(2), |t| {
            for id in [-1, 2, 9999] {
                let code = aclrtDeviceEnablePeerAccess(id, 0);
                t.check(code != 0, &format!("enable of {id} returned 0"));
                t.pending_text("the refusal");
                let mut r = -77;
                let code = aclrtDeviceCanAccessPeer(&raw mut r, 0, id);
                t.check(code != 0, &format!("query of {id} returned 0"));
                t.eq(r, -77, "output");
            }
        }),
        case(
            "x.peer.flags_are_reserved",
            Setup::device0().devices(2),
            |t| {
                let code = aclrtDeviceEnablePeerAccess(1, 1);
                t.check(code != 0, "flags 1 accepted");
                t.pending_text("the refusal");
                t.eq(enabled(t, 0, 1), 0, "access");
            },
        ),
        case(
            "x.peer.unsupported_after_checks",
            Setup::device0().devices(2).profile("310B"),
            |t| {
                let mut r = -77;
                let code = aclrtDeviceCanAccessPeer(&raw mut r, 0, 1);
                t.fails(code, ERROR_UNSUPPORTED, "aclrtDeviceCanAccessPeer");
                t.eq(r, -77, "output");
                let code = aclrtDeviceCanAccessPeer(&raw mut r, 0, 0);
                t.fails(code, ERROR_FRONT, "equal devices come first");
                let code = aclrtDeviceEnablePeerAccess(1, 0);
                t.fails(code, ERROR_UNSUPPORTED, "aclrtDeviceEnablePeerAccess");
                t.fails(
                    aclrtDeviceEnablePeerAccess(0, 0),
                    ERROR_FRONT,
                    "self comes first",
                );
            },
        ),
    ]
}
