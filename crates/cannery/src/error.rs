//! Errors: code, C function, text, numbers, and the line of the program that asked.

use std::fmt;
use std::panic::Location;

use cannery_abi::{self as abi, aclError};
use cannery_knowledge::{Function, Language, Words};

/// What the functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;

macro_rules! codes {
    ($($(#[$attr:meta])* $name:ident = $raw:expr;)*) => {
        /// What went wrong. The common codes have a name here; every other number is kept.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$attr])* $name,)*
            /// No libascendcl.so could be opened; the library was never asked.
            LibraryNotFound,
            /// A `try_` form found the memory in use by queued work.
            InFlight,
            /// Any other code of the interface.
            Other(aclError),
        }

        impl Code {
            /// The code of a number.
            pub fn from_raw(raw: aclError) -> Code {
                match raw {
                    $(value if value == $raw => Code::$name,)*
                    other => Code::Other(other),
                }
            }

            /// The number, as C returns it. None where no C function was asked.
            pub fn raw(self) -> Option<aclError> {
                match self {
                    $(Code::$name => Some($raw),)*
                    Code::LibraryNotFound | Code::InFlight => None,
                    Code::Other(raw) => Some(raw),
                }
            }
        }
    };
}

codes! {
    /// 100000: an argument is wrong in itself. Lengths that do not match are this, too.
    InvalidParam = abi::ACL_ERROR_INVALID_PARAM;
    /// 107000: a range, flag, handle or address is not what the call takes.
    ParamInvalid = abi::ACL_ERROR_RT_PARAM_INVALID;
    /// 107001: no such device.
    InvalidDevice = abi::ACL_ERROR_RT_INVALID_DEVICEID;
    /// 107002: the thread has no context, or the context is gone.
    NoContext = abi::ACL_ERROR_RT_CONTEXT_NULL;
    /// 107003: the stream belongs to another context.
    ForeignStream = abi::ACL_ERROR_RT_STREAM_CONTEXT;
    /// 207000: the product or the library lacks it.
    NotSupported = abi::ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    /// 207001: no memory left. [`Error::shortage`] has the numbers.
    OutOfMemory = abi::ACL_ERROR_RT_MEMORY_ALLOCATION;
    /// 507000: the runtime failed inside; pools answer it when they are full.
    Internal = abi::ACL_ERROR_RT_INTERNAL_ERROR;
    /// 507046: a wait for a stream or device took too long.
    StreamTimeout = abi::ACL_ERROR_RT_STREAM_SYNC_TIMEOUT;
}

impl Code {
    pub(crate) const NOT_SUPPORTED: aclError = abi::ACL_ERROR_RT_FEATURE_NOT_SUPPORT;

    /// Its name in the manual, such as `ACL_ERROR_RT_PARAM_INVALID`.
    pub fn name(self) -> &'static str {
        match self.raw() {
            Some(raw) => abi::code_fact(raw).map_or("unknown code", |fact| fact.name),
            None if self == Code::InFlight => "in flight",
            None => "library not found",
        }
    }

    /// What it means, its usual causes and what to do, in the language of the library's texts
    /// (`CANNERY_LANG`, else the locale). `cannery explain` reads the same table.
    ///
    /// ```
    /// use cannery::Code;
    ///
    /// let words = Code::OutOfMemory.words().unwrap();
    /// assert!(!words.meaning.is_empty() && !words.causes.is_empty() && !words.remedy.is_empty());
    /// assert!(Code::InFlight.words().is_none()); // no code of the interface
    /// ```
    pub fn words(self) -> Option<&'static Words> {
        let language = Language::of_environment(|name| std::env::var(name).ok());
        cannery_knowledge::code(self.raw()?).map(|code| code.words(language))
    }
}

/// The numbers of a refused allocation, in bytes. Other numbers (largest block, owners) are in the text
/// where the library tells them: the C interface has no question for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shortage {
    /// What was asked for.
    pub requested: usize,
    /// What the device had free just after, in all its pages.
    pub free: usize,
    /// What the device has in all.
    pub total: usize,
    /// The page policy that was asked for.
    pub policy: crate::Policy,
}

/// A call that failed. It changed nothing.
///
/// ```
/// use cannery::{Code, Device, DeviceBuffer, Library};
///
/// let context = Device::new(Library::find()?, 0)?.context()?;
/// let error = DeviceBuffer::<u8>::zeroed(&context, 1 << 50).unwrap_err();
/// assert_eq!(error.code(), Code::OutOfMemory);
/// assert_eq!(error.api(), "aclrtMalloc");
/// assert_eq!(error.shortage().unwrap().requested, 1 << 50);
/// # Ok::<(), cannery::Error>(())
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    code: Code,
    api: &'static str,
    message: String,
    shortage: Option<Shortage>,
    location: &'static Location<'static>,
}

impl Error {
    #[cold]
    #[inline(never)]
    #[track_caller]
    pub(crate) fn own(code: Code, api: &'static str, message: String) -> Error {
        Error(Box::new(Inner {
            code,
            api,
            message,
            shortage: None,
            location: Location::caller(),
        }))
    }

    /// The lengths of the two sides of a copy differ.
    #[cold]
    #[track_caller]
    pub(crate) fn lengths(api: &'static str, source: usize, target: usize) -> Error {
        Error::own(
            Code::InvalidParam,
            api,
            format!(
                "{api}: the source has {source} elements, the target {target}; both must have the same length: \
                 take a slice of the longer one"
            ),
        )
    }

    /// A range does not fit.
    #[cold]
    #[track_caller]
    pub(crate) fn range(api: &'static str, start: usize, end: usize, length: usize) -> Error {
        Error::own(
            Code::InvalidParam,
            api,
            format!("{api}: the range {start}..{end} does not lie in 0..{length}"),
        )
    }

    /// Queued work with a memory can be awaited no more.
    #[cold]
    #[track_caller]
    pub(crate) fn lost() -> Error {
        Error::own(
            Code::InFlight,
            "aclrtSynchronizeStream",
            "an earlier wait for queued work with this memory failed, so it may still be in use: it is kept and \
             cannot be used any more; see the earlier error for the cause"
                .to_owned(),
        )
    }

    pub(crate) fn with_shortage(mut self, shortage: Shortage) -> Error {
        self.0.shortage = Some(shortage);
        self
    }

    /// What went wrong.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The C function that failed.
    pub fn api(&self) -> &'static str {
        self.0.api
    }

    /// The text that `aclGetRecentErrMsg` gave: all texts that were pending in this thread, newest first.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What the interface tells of the function that failed: chapter, page of the manual, products, rules.
    ///
    /// ```
    /// use cannery::Library;
    ///
    /// let error = Library::open("/no/such/libascendcl.so").err().unwrap();
    /// assert!(error.function().is_none()); // the library was never asked
    /// let malloc = cannery::function("aclrtMalloc").unwrap();
    /// assert_eq!(malloc.chapter, "device memory");
    /// assert!(malloc.rules.iter().any(|rule| !rule.products.is_empty()));
    /// ```
    pub fn function(&self) -> Option<&'static Function> {
        cannery_knowledge::function(self.0.api)
    }

    /// The numbers of a refused allocation.
    pub fn shortage(&self) -> Option<&Shortage> {
        self.0.shortage.as_ref()
    }

    /// The line of the program that asked.
    pub fn location(&self) -> &'static Location<'static> {
        self.0.location
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            code,
            api,
            message,
            location,
            ..
        } = &*self.0;
        match code.raw() {
            Some(raw) => write!(f, "{api}: {} ({raw}) at {location}: {message}", code.name()),
            None => write!(f, "{api}: {} at {location}: {message}", code.name()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl std::error::Error for Error {}
