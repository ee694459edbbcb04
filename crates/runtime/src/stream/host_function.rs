//! Manual chapter: callbacks. aclrtLaunchHostFunc: a function of the program that a thread of the
//! runtime runs in stream order.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use cannery_abi as abi;

use super::Stream;
use super::engine;
use super::manage::stream_of_call;
pub use super::task::Function;
use super::task::Task;
use crate::error::{Error, Fault, Result};

/// A stream has used aclrtLaunchHostFunc.
pub(super) const HOST_FUNCTIONS: u8 = 1;
/// A stream has used aclrtSubscribeReport.
pub(super) const REPORTS: u8 = 2;

/// The two kinds of callbacks cannot be mixed on a stream.
pub(super) fn choose(stream: &Stream, kind: u8) -> Result<()> {
    let chosen =
        stream
            .callback_kind
            .compare_exchange(0, kind, Ordering::AcqRel, Ordering::Acquire);
    match chosen {
        Err(other) if other != kind => Err(Error::sequence(
            abi::ACL_ERROR_RT_STREAM_SUBSCRIBE,
            "aclrtLaunchHostFunc and the subscribe family cannot be mixed on one stream",
        )),
        _ => Ok(()),
    }
}

/// Queues `function(args)`.
///
/// # Errors
/// 107000 without a function; 107017, 107002, 107003 for the stream; 107011 when it has a subscribed
/// thread.
pub fn launch(stream: u64, function: Option<Function>, args: *mut c_void) -> Result<()> {
    let Some(function) = function else {
        return Err(Fault::RtNull {
            param: "callBackFunc",
        }
        .into());
    };
    let args = args as usize;
    let (_, stream) = stream_of_call("stream", stream)?;
    choose(stream, HOST_FUNCTIONS)?;
    engine::submit(stream, Task::HostFunction { function, args });
    Ok(())
}
