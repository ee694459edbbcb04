//! Functions on different streams that wait for each other: every one of them must get a thread.

use std::time::Duration;

use crate::api::*;
use crate::gate::Gate;
use crate::{make, progress, trouble};

/// Streams with a function inside at the same time.
const STREAMS: usize = 48;
const SOON: Duration = Duration::from_secs(5);

/// Two plots, each twice.
pub(crate) fn play() {
    ok(aclrtSetDevice(0), "aclrtSetDevice");
    for round in 0..2 {
        progress::begin(round, "all functions inside at the same time");
        all_inside();
        progress::begin(round, "each function opens the one before it");
        chain();
    }
    ok(aclrtResetDevice(0), "aclrtResetDevice");
}

/// The functions return when all have begun. Another thread is what waits for the streams, so that
/// held work runs.
fn all_inside() {
    let streams: Vec<_> = (0..STREAMS).map(|_| make::stream()).collect();
    let gates: Vec<_> = streams.iter().map(|_| Gate::closed()).collect();
    for (stream, gate) in streams.iter().zip(&gates) {
        gate.launch(*stream);
    }
    let handles: Vec<usize> = streams
        .iter()
        .map(|stream| stream.expose_provenance())
        .collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            ok(aclrtSetDevice(0), "aclrtSetDevice");
            for handle in &handles {
                let stream = std::ptr::with_exposed_provenance_mut(*handle);
                ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
            }
        });
        let inside = gates
            .iter()
            .filter(|gate| gate.entered_within(SOON))
            .count();
        trouble::unless(inside == STREAMS, || {
            format!("{inside} of {STREAMS} functions were called while the others waited")
        });
        gates.iter().for_each(|gate| gate.open());
    });
    for stream in streams {
        ok(aclrtDestroyStream(stream), "aclrtDestroyStream");
    }
}

/// A function that opens the gate of an earlier stream and waits at its own: only the last one can
/// return at first, and it is submitted last.
fn chain() {
    struct Link {
        opens: Option<&'static Gate>,
        passes: &'static Gate,
    }
    extern "C" fn pass(data: *mut std::ffi::c_void) {
        // SAFETY: `data` is a link that lives until all streams have been waited for.
        let link = unsafe { &*data.cast::<Link>() };
        if let Some(gate) = link.opens {
            gate.open();
        }
        link.passes.wait_open();
    }
    let gates: Vec<_> = (0..STREAMS).map(|_| Gate::closed()).collect();
    // The last one finds its gate open.
    gates[STREAMS - 1].open();
    let links: Vec<_> = (0..STREAMS)
        .map(|i| Link {
            opens: (i > 0).then(|| gates[i - 1]),
            passes: gates[i],
        })
        .collect();
    let streams: Vec<_> = links.iter().map(|_| make::stream()).collect();
    for (stream, link) in streams.iter().zip(&links) {
        let data = std::ptr::from_ref(link).cast_mut().cast();
        let code = aclrtLaunchHostFunc(*stream, Some(pass), data);
        ok(code, "aclrtLaunchHostFunc");
    }
    for stream in streams {
        ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
        ok(aclrtDestroyStream(stream), "aclrtDestroyStream");
    }
}
