//! The C functions of the loaded library, resolved once.
//!
//! One line of [`table`] declares a function; the macro below makes a field of that type, fills it
//! when the library is opened, and gives a stand-in to a function the library lacks. So a call
//! never tests for presence: it jumps, and an absent function answers like a refused one.

#[macro_use]
mod declare;
pub(crate) mod companions;
mod table;

use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

use cannery_abi::ACL_ERROR_RT_FEATURE_NOT_SUPPORT;

pub(crate) use table::CApi;

use crate::loader::Library;

static TABLE: OnceLock<CApi> = OnceLock::new();

/// `aclAppLog`, the one function with a variable number of arguments.
pub(crate) type AppLog =
    unsafe extern "C" fn(i32, *const c_char, *const c_char, u32, *const c_char, ...);

static APP_LOG: OnceLock<AppLog> = OnceLock::new();

/// The log function, if the library has it.
pub(crate) fn app_log() -> Option<AppLog> {
    APP_LOG.get().copied()
}

/// The functions of the library that this process uses.
///
/// Before [`connect`] every function is a stand-in; the module is not importable then.
#[inline]
pub(crate) fn c_api() -> &'static CApi {
    TABLE.get_or_init(|| CApi::resolve(|_| None))
}

/// Fills the table from `library`. Later calls change nothing: a process has one runtime.
pub(crate) fn connect(library: &Library) {
    TABLE.get_or_init(|| CApi::resolve(|name| library.symbol(name)));
    if let Some(symbol) = library.symbol(c"aclAppLog") {
        // SAFETY: a symbol of this name is a function with this prototype.
        let log = unsafe { std::mem::transmute::<*mut c_void, AppLog>(symbol.as_ptr()) };
        APP_LOG.get_or_init(|| log);
    }
}

/// What the stand-in of an absent function answers.
///
/// Codes say "not supported"; everything else is its neutral value.
pub(crate) trait Absent {
    /// The answer.
    fn absent() -> Self;
}

impl Absent for i32 {
    // Functions that return an `int` return a code; the two exceptions have their own type.
    fn absent() -> Self {
        ACL_ERROR_RT_FEATURE_NOT_SUPPORT
    }
}

macro_rules! neutral {
    ($($ty:ty = $value:expr;)*) => {
        $(impl Absent for $ty {
            fn absent() -> Self {
                $value
            }
        })*
    };
}

neutral! {
    () = ();
    u16 = 0;
    u32 = 0;
    i64 = 0;
    usize = 0;
    f32 = 0.0;
    *const c_char = std::ptr::null();
}

impl<T> Absent for *mut T {
    fn absent() -> Self {
        std::ptr::null_mut()
    }
}

/// A pointer argument: the program's number as an address.
///
/// The number may be anything; what it points to is the library's question, not ours.
#[inline]
pub(crate) fn at<T>(address: usize) -> *mut T {
    std::ptr::with_exposed_provenance_mut(address)
}

/// An address as the program sees it.
#[inline]
pub(crate) fn address_of<T>(pointer: *const T) -> usize {
    pointer.expose_provenance()
}

/// Untyped memory of C, the type of most pointer arguments.
pub(crate) type Memory = *mut c_void;
