//! Chapter: stream management; what streams of a model do to each other.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::error::{Error, Fault};
use cannery_runtime::graph::{self, control};
use cannery_runtime::stream::manage;

use crate::face::faces;

faces! {
    /// aclrtActiveStream
    fn aclrtActiveStream(activeStream: abi::aclrtStream, stream: abi::aclrtStream)
        => control::activate(activeStream as u64, stream as u64);
    /// aclrtSwitchStream
    fn aclrtSwitchStream(
        leftValue: *mut c_void,
        cond: abi::aclrtCondition,
        rightValue: *mut c_void,
        dataType: abi::aclrtCompareDataType,
        trueStream: abi::aclrtStream,
        falseStream: abi::aclrtStream,
        stream: abi::aclrtStream,
    ) => {
        if leftValue.is_null() {
            return Err(Error::null("leftValue"));
        }
        if rightValue.is_null() {
            return Err(Error::null("rightValue"));
        }
        if trueStream.is_null() {
            return Err(Error::null("trueStream"));
        }
        if !falseStream.is_null() {
            return Err(Fault::Param {
                param: "falseStream",
                cause: format!("is {falseStream:p}; it is reserved and must be NULL"),
            }
            .into());
        }
        control::switch(
            leftValue as u64,
            cond,
            rightValue as u64,
            dataType,
            trueStream as u64,
            stream as u64,
        )
    };
    /// aclrtPersistentTaskClean
    fn aclrtPersistentTaskClean(stream: abi::aclrtStream) => graph::clean_stream(stream as u64);
    /// aclrtStreamStop
    fn aclrtStreamStop(stream: abi::aclrtStream) => manage::stop(stream as u64);
}
