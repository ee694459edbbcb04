//! One error type for the whole runtime. Each fault knows its ACL code, its message code and the
//! numbers that explain it.
//!
//! Faults come from three layers, which decides code and bookkeeping: the **front** (arguments:
//! 100000, message EHxxxx, not stored as last error), the **runtime** (107xxx, 207000, 507xxx;
//! EExxxx) and the **driver** underneath (unknown addresses, shortage; inner text).

mod fault;
pub(crate) mod language;
pub(crate) mod no_device;
mod pending;
mod shortage;

pub use fault::Fault;
pub use pending::{
    code_name, last_error, recent_message, record, record_silently, set_process_mode,
    take_last_error,
};
pub use shortage::{ModuleShare, OtherShare, OwnerShare, Shortage};

/// Bytes for people and for searching: "3 MiB (3145728 bytes)".
#[must_use]
pub fn show_bytes(bytes: u64) -> String {
    shortage::Bytes(bytes).to_string()
}

use cannery_abi as abi;

/// Result of every call into the runtime.
pub type Result<T> = core::result::Result<T, Error>;

/// A refused call. Thin, so that results stay cheap to pass.
#[derive(Debug, Clone)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    /// Operation named in the text when it is not the function itself.
    stage: Option<&'static str>,
    fault: Fault,
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Error(Box::new(Inner { stage: None, fault }))
    }
}

/// A value as texts show it: an empty one would not be seen.
fn shown(value: &impl ToString) -> String {
    match value.to_string() {
        empty if empty.is_empty() => "\"\"".to_owned(),
        value => value,
    }
}

impl Error {
    /// What went wrong.
    #[must_use]
    pub fn fault(&self) -> &Fault {
        &self.0.fault
    }

    /// The operation that the text names besides the function.
    #[must_use]
    pub fn stage(&self) -> Option<&'static str> {
        self.0.stage
    }

    /// Names the operation in the text.
    #[must_use]
    pub fn at(mut self, stage: &'static str) -> Self {
        self.0.stage = Some(stage);
        self
    }

    /// The aclError that the function returns.
    #[must_use]
    pub fn code(&self) -> i32 {
        self.0.fault.code()
    }

    /// A null pointer found by the front.
    #[must_use]
    pub fn null(param: &'static str) -> Self {
        Fault::Null { param }.into()
    }

    /// A size or count of zero found by the front.
    #[must_use]
    pub fn zero(param: &'static str) -> Self {
        Self::value(param, 0, "must be greater than 0")
    }

    /// A value that is not among the accepted ones, found by the front.
    #[must_use]
    pub fn value(param: &'static str, value: impl ToString, expected: impl Into<String>) -> Self {
        Fault::Value {
            param,
            value: shown(&value),
            expected: expected.into(),
        }
        .into()
    }

    /// As [`value`](Self::value), for calls whose front answers with a code of the runtime.
    #[must_use]
    pub fn front_value(
        code: i32,
        param: &'static str,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> Self {
        Fault::ValueCode {
            code,
            param,
            value: shown(&value),
            expected: expected.into(),
        }
        .into()
    }

    /// A value rejected for a reason, found by the front.
    #[must_use]
    pub fn cause(param: &'static str, value: impl ToString, cause: impl Into<String>) -> Self {
        Fault::Cause {
            param,
            value: shown(&value),
            cause: cause.into(),
        }
        .into()
    }

    /// A value rejected by the runtime: 107000.
    #[must_use]
    pub fn rt_value(
        param: &'static str,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> Self {
        Self::rt_value_code(abi::ACL_ERROR_RT_PARAM_INVALID, param, value, expected)
    }

    /// A value rejected by the runtime with a code of its own.
    #[must_use]
    pub fn rt_value_code(
        code: i32,
        param: &'static str,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> Self {
        Fault::RtValue {
            code,
            param,
            value: shown(&value),
            expected: expected.into(),
        }
        .into()
    }

    /// A value rejected by the runtime for a reason: 107000.
    #[must_use]
    pub fn rt_cause(param: &'static str, value: impl ToString, cause: impl Into<String>) -> Self {
        Fault::RtCause {
            param,
            value: shown(&value),
            cause: cause.into(),
        }
        .into()
    }

    /// A parameter rejected by the runtime, no value shown: 107000 or another code.
    #[must_use]
    pub fn rt_param(code: i32, param: &'static str, cause: impl Into<String>) -> Self {
        Fault::RtParam {
            code,
            param,
            cause: cause.into(),
        }
        .into()
    }

    /// Calls in the wrong order.
    #[must_use]
    pub fn sequence(code: i32, cause: impl Into<String>) -> Self {
        Fault::Sequence {
            code,
            cause: cause.into(),
        }
        .into()
    }

    /// An address that the driver does not accept: 107000.
    #[must_use]
    pub fn address(param: &'static str, address: u64, cause: impl Into<String>) -> Self {
        Fault::Address {
            param,
            address,
            cause: cause.into(),
        }
        .into()
    }

    /// Something this product, mode or build does not have: 207000.
    #[must_use]
    pub fn unsupported(cause: impl Into<String>) -> Self {
        Fault::Unsupported {
            cause: cause.into(),
        }
        .into()
    }
}

/// Records that `api` does not exist in this build and returns the code for it.
pub fn not_built(api: &'static str) -> i32 {
    record(api, &Fault::NotBuilt.into())
}
