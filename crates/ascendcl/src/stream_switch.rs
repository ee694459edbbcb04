//! Chapter: stream management; what streams of a model do to each other. Streams that begin when another one
//! says so are not built: the calls check what they are given and refuse.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::error::{Error, Fault};

use crate::face::faces;

faces! {
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
        let _ = (cond, dataType, stream);
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
        Err(Fault::NotBuilt.into())
    };
    /// aclrtStreamStop
    fn aclrtStreamStop(stream: abi::aclrtStream) => {
        if stream.is_null() {
            return Err(Fault::RtNull { param: "stm" }.into());
        }
        Err(Fault::NotBuilt.into())
    };
}
