//! The program ends while work is queued: it ends, whatever the work is waiting for, with the code
//! that it wanted.

use std::ffi::c_void;
use std::time::Duration;

use cannery_abi::*;

use crate::api::*;
use crate::gate::Gate;
use crate::{make, progress};

/// How many ways to end there are.
pub(crate) const KINDS: u64 = 7;

/// Ends the process in one of the ways; does not come back.
pub(crate) fn play(kind: u64) {
    ok(aclrtSetDevice(0), "aclrtSetDevice");
    let stream = make::stream();
    match kind {
        0 => {
            progress::begin(0, "exit behind a function that never returns");
            Gate::closed().launch(stream);
            copies(stream, 100, 4096);
        }
        1 => {
            progress::begin(1, "exit while copies run");
            copies(stream, 2000, 1 << 20);
        }
        2 => {
            progress::begin(2, "exit while another thread waits");
            Gate::closed().launch(stream);
            let handle = stream.expose_provenance();
            std::thread::spawn(move || {
                let stream = std::ptr::with_exposed_provenance_mut(handle);
                // The process ends before this comes back.
                let _ = aclrtSynchronizeStream(stream);
            });
            std::thread::sleep(Duration::from_millis(50));
        }
        3 => {
            progress::begin(3, "exit inside of a function");
            extern "C" fn end(_: *mut c_void) {
                // SAFETY: no precondition.
                unsafe { libc::exit(0) }
            }
            let code = aclrtLaunchHostFunc(stream, Some(end), std::ptr::null_mut());
            ok(code, "aclrtLaunchHostFunc");
            ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
        }
        4 => {
            progress::begin(
                4,
                "aclFinalize and exit behind a function that never returns",
            );
            Gate::closed().launch(stream);
            ok(aclFinalize(), "aclFinalize");
        }
        5 => {
            progress::begin(5, "exit with streams that wait for each other's values");
            let cell = make::device(8);
            make::upload(cell, &[0; 8]);
            for _ in 0..20 {
                let flag = ACL_STREAM_WAIT_VALUE_EQ;
                let code = aclrtValueWait(cell, 1, flag, make::stream());
                ok(code, "aclrtValueWait");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        _ => {
            progress::begin(6, "exit while another thread resets the device by force");
            let gate = Gate::closed();
            gate.launch(stream);
            copies(stream, 100, 4096);
            gate.entered_within(Duration::from_millis(50));
            std::thread::spawn(|| {
                // The process ends before this comes back.
                let _ = aclrtResetDeviceForce(0);
            });
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    std::process::exit(0);
}

fn copies(stream: aclrtStream, count: usize, bytes: usize) {
    let (block, host) = (make::device(bytes), make::pinned(bytes));
    for _ in 0..count {
        let kind = ACL_MEMCPY_HOST_TO_DEVICE;
        let code = aclrtMemcpyAsync(block, bytes, host, bytes, kind, stream);
        ok(code, "aclrtMemcpyAsync");
    }
}
