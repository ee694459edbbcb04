//! The kinds of faults, with code, message code and text.

use std::fmt::Write as _;

use cannery_abi as abi;

use super::Shortage;
use crate::settings::BadSetting;

/// What went wrong, with the numbers that explain it.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are named after what they carry
pub enum Fault {
    /// Front: a pointer is NULL.
    Null { param: &'static str },
    /// Front: as `Null`, with a code of the runtime.
    NullCode { code: i32, param: &'static str },
    /// Front: a value is not among the accepted ones.
    Value {
        param: &'static str,
        value: String,
        expected: String,
    },
    /// Front: as `Value`, with a code of the runtime.
    ValueCode {
        code: i32,
        param: &'static str,
        value: String,
        expected: String,
    },
    /// Front: a value is rejected for a reason.
    Cause {
        param: &'static str,
        value: String,
        cause: String,
    },
    /// Front: as `Cause`, where the reference has the shorter message.
    Bad {
        param: &'static str,
        value: String,
        cause: String,
    },
    /// Front: a parameter is rejected, no value shown.
    Param { param: &'static str, cause: String },
    /// Front: refused further inside, without a message code for the reason.
    Inner {
        param: &'static str,
        address: u64,
        cause: String,
    },
    /// Front: the init file cannot be used.
    File {
        code: i32,
        message: &'static str,
        path: String,
        cause: String,
    },
    /// Front: a setting of the emulator is wrong.
    Setting(BadSetting),
    /// Front: aclInit again. The only fault without a text.
    RepeatInit,
    /// Front: aclFinalize again.
    RepeatFinalize,
    /// Front: registered twice, or something similar with a code of its own.
    Refused {
        code: i32,
        param: &'static str,
        cause: String,
    },
    /// Runtime: a value is not among the accepted ones.
    RtValue {
        code: i32,
        param: &'static str,
        value: String,
        expected: String,
    },
    /// Runtime: a pointer is NULL.
    RtNull { param: &'static str },
    /// Runtime: as `RtNull`, with a code of its own.
    RtNullCode { code: i32, param: &'static str },
    /// Runtime: a value is rejected for a reason.
    RtCause {
        param: &'static str,
        value: String,
        cause: String,
    },
    /// Runtime: a kernel binary cannot be used.
    Binary { cause: String },
    /// Runtime: several values are rejected together.
    RtTogether { params: &'static str, cause: String },
    /// Runtime: a parameter is rejected, no value shown.
    RtParam {
        code: i32,
        param: &'static str,
        cause: String,
    },
    /// Runtime: a parameter or value is not supported, without being a bad argument of the front.
    RtUnknown {
        param: &'static str,
        value: String,
        cause: String,
    },
    /// Runtime: calls in the wrong order.
    Sequence { code: i32, cause: String },
    /// Runtime: not in the present state (a capture, for instance).
    State { code: i32, cause: String },
    /// Runtime: an object of another context.
    Ownership {
        code: i32,
        object: &'static str,
        details: String,
    },
    /// Runtime: the calling thread has no usable context.
    NoContext { cause: String },
    /// Runtime: this process was forked from one that uses the runtime.
    Forked,
    /// Runtime: the address space for the devices cannot be had.
    NoWindow { cause: String },
    /// Runtime: the product, mode or build lacks it.
    Unsupported { cause: String },
    /// Runtime: as `Unsupported`, under a message code of its own.
    UnsupportedAs {
        message: &'static str,
        cause: String,
    },
    /// Runtime: this function is not built yet.
    NotBuilt,
    /// Runtime: the visible devices leave none.
    NoDevice {
        message: &'static str,
        cause: String,
    },
    /// Driver: the address is not one that may be given here.
    Address {
        param: &'static str,
        address: u64,
        cause: String,
    },
    /// Driver: no device memory.
    Shortage(Box<Shortage>),
    /// Driver: no host memory, or not lockable.
    HostShortage { asked: u64, cause: String },
    /// A panic was stopped at the C boundary.
    Internal { cause: String },
}

/// Lower-level faults are kept as the thread's last error; those of the front are not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    Front,
    Runtime,
}

impl Fault {
    /// The aclError value.
    #[must_use]
    pub fn code(&self) -> i32 {
        match self {
            Fault::Null { .. }
            | Fault::Value { .. }
            | Fault::Cause { .. }
            | Fault::Bad { .. }
            | Fault::Param { .. }
            | Fault::Inner { .. }
            | Fault::Setting(_) => abi::ACL_ERROR_INVALID_PARAM,
            Fault::File { code, .. }
            | Fault::NullCode { code, .. }
            | Fault::ValueCode { code, .. }
            | Fault::Refused { code, .. }
            | Fault::RtValue { code, .. }
            | Fault::RtNullCode { code, .. }
            | Fault::RtParam { code, .. }
            | Fault::State { code, .. }
            | Fault::Ownership { code, .. }
            | Fault::Sequence { code, .. } => *code,
            Fault::RepeatInit => abi::ACL_ERROR_REPEAT_INITIALIZE,
            Fault::RepeatFinalize => abi::ACL_ERROR_REPEAT_FINALIZE,
            Fault::RtNull { .. }
            | Fault::RtCause { .. }
            | Fault::Binary { .. }
            | Fault::RtTogether { .. }
            | Fault::RtUnknown { .. }
            | Fault::Address { .. } => abi::ACL_ERROR_RT_PARAM_INVALID,
            Fault::NoContext { .. } => abi::ACL_ERROR_RT_CONTEXT_NULL,
            Fault::Forked | Fault::NoWindow { .. } => abi::ACL_ERROR_RT_DEV_SETUP_ERROR,
            Fault::Unsupported { .. } | Fault::UnsupportedAs { .. } | Fault::NotBuilt => {
                abi::ACL_ERROR_RT_FEATURE_NOT_SUPPORT
            }
            Fault::NoDevice { .. } => abi::ACL_ERROR_RT_NO_DEVICE,
            Fault::Shortage(_) | Fault::HostShortage { .. } => abi::ACL_ERROR_RT_MEMORY_ALLOCATION,
            Fault::Internal { .. } => abi::ACL_ERROR_INTERNAL_ERROR,
        }
    }

    /// Documented message code, as it stands at the head of the text.
    #[must_use]
    pub fn message_code(&self) -> &'static str {
        match self {
            Fault::Null { .. } | Fault::NullCode { .. } => "EH0008",
            Fault::Value { .. } | Fault::ValueCode { .. } => "EH0007",
            Fault::Cause { .. } => "EH0009",
            Fault::Param { .. } | Fault::Refused { .. } => "EH0012",
            Fault::Inner { .. } => "EH9999",
            Fault::File { message, .. } => message,
            Fault::Setting(_) | Fault::Bad { .. } => "EH0001",
            Fault::RepeatInit | Fault::RepeatFinalize => "EH0006",
            Fault::RtValue { .. } => "EE1003",
            Fault::RtNull { .. } | Fault::RtNullCode { .. } => "EE1004",
            Fault::RtCause { .. } | Fault::Address { .. } => "EE1011",
            Fault::RtTogether { .. } => "EE1022",
            Fault::Binary { .. } => "EE1014",
            Fault::RtParam { .. } => "EE1017",
            Fault::RtUnknown { .. } => "EE1006",
            Fault::State { .. } => "EE1016",
            Fault::Ownership { .. } => "EE1010",
            Fault::Sequence { .. } | Fault::NoContext { .. } | Fault::Forked => "EE1018",
            Fault::NoWindow { .. } => "EE1023",
            Fault::Unsupported { .. } | Fault::NotBuilt => "EE1005",
            Fault::NoDevice { message, .. } | Fault::UnsupportedAs { message, .. } => message,
            Fault::Shortage(_) => "EL0004",
            Fault::HostShortage { .. } => "EE1013",
            Fault::Internal { .. } => "EE1019",
        }
    }

    pub(super) fn layer(&self) -> Layer {
        match self {
            Fault::Null { .. }
            | Fault::NullCode { .. }
            | Fault::Value { .. }
            | Fault::Cause { .. }
            | Fault::Bad { .. }
            | Fault::Param { .. }
            | Fault::Inner { .. }
            | Fault::File { .. }
            | Fault::Setting(_)
            | Fault::RepeatInit
            | Fault::RepeatFinalize
            | Fault::Refused { .. }
            | Fault::Internal { .. } => Layer::Front,
            _ => Layer::Runtime,
        }
    }

    /// What happened and what to do, without code and function.
    pub(crate) fn explain(&self, text: &mut String) {
        // Writing to a String cannot fail.
        let _ = match self {
            Fault::Null { param }
            | Fault::NullCode { param, .. }
            | Fault::RtNull { param }
            | Fault::RtNullCode { param, .. } => {
                write!(text, "argument {param} is NULL; pass a valid pointer")
            }
            Fault::Value {
                param,
                value,
                expected,
            }
            | Fault::ValueCode {
                param,
                value,
                expected,
                ..
            } => {
                write!(text, "argument {param} is {value}: {expected}")
            }
            Fault::RtValue {
                param,
                value,
                expected,
                ..
            } => {
                write!(text, "argument {param} is {value}, expected {expected}")
            }
            Fault::Cause {
                param,
                value,
                cause,
            }
            | Fault::Bad {
                param,
                value,
                cause,
            }
            | Fault::RtCause {
                param,
                value,
                cause,
            }
            | Fault::RtUnknown {
                param,
                value,
                cause,
            } => {
                write!(text, "argument {param} is {value}: {cause}")
            }
            Fault::Param { param, cause }
            | Fault::Refused { param, cause, .. }
            | Fault::RtParam { param, cause, .. } => write!(text, "argument {param}: {cause}"),
            Fault::RtTogether { params, cause } => write!(text, "arguments {params}: {cause}"),
            Fault::File { path, cause, .. } => write!(text, "file {path}: {cause}"),
            Fault::Setting(bad) => write!(text, "setting {bad}"),
            Fault::Ownership {
                object, details, ..
            } => write!(text, "{object} {details}"),
            Fault::RepeatInit => {
                write!(
                    text,
                    "already initialised; the call counts and may be ignored"
                )
            }
            Fault::RepeatFinalize => {
                write!(
                    text,
                    "not initialised, or finalised already; call aclInit first"
                )
            }
            Fault::Sequence { cause, .. }
            | Fault::State { cause, .. }
            | Fault::NoContext { cause }
            | Fault::NoWindow { cause }
            | Fault::Unsupported { cause }
            | Fault::UnsupportedAs { cause, .. }
            | Fault::NoDevice { cause, .. }
            | Fault::Binary { cause }
            | Fault::Internal { cause } => write!(text, "{cause}"),
            Fault::Forked => write!(
                text,
                "this process was forked from one that had started the runtime, so its devices and \
                 memory belong to the parent; start workers with spawn (fork and exec), or call \
                 aclInit in the child to begin afresh"
            ),
            Fault::NotBuilt => write!(
                text,
                "Cannery has no implementation of this function; docs/coverage.md lists what it has"
            ),
            Fault::Address {
                param,
                address,
                cause,
            }
            | Fault::Inner {
                param,
                address,
                cause,
            } => {
                write!(text, "argument {param} is {address:#x}: {cause}")
            }
            Fault::Shortage(shortage) => write!(text, "{shortage}"),
            Fault::HostShortage { asked, cause } => {
                write!(text, "{asked} bytes of host memory cannot be had: {cause}")
            }
        };
    }
}
