//! From results to codes and texts, and from C arguments to Rust ones.

use core::ffi::{CStr, c_char, c_void};
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cannery_abi::{ACL_SUCCESS, aclError};
use cannery_runtime::error::{self, Error, Fault, Result};
use cannery_runtime::snapshot::gate;

/// Defines exported functions. `name(arguments) => call` is called as it is; the products that have
/// the function are checked where the runtime is asked for, after the argument checks.
macro_rules! faces {
    ($($faces:tt)*) => { $crate::face::faces_by!(answer: $($faces)*); };
}
pub(crate) use faces;

/// As `faces`, for functions that are let in while a snapshot of the process keeps others out.
macro_rules! faces_let_in {
    ($($faces:tt)*) => { $crate::face::faces_by!(answer_let_in: $($faces)*); };
}
pub(crate) use faces_let_in;

macro_rules! faces_by {
    ($answer:ident: $(
        $(#[$meta:meta])* fn $name:ident($($arg:ident: $kind:ty),* $(,)?) => $call:expr;
    )*) => {
        $(
            $(#[$meta])*
            #[doc = ""]
            #[doc = "# Safety"]
            #[doc = "Pointers are NULL or valid for what the manual says of them."]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($arg: $kind),*) -> cannery_abi::aclError {
                const PRODUCTS: u8 = cannery_runtime::profile::products_of(stringify!($name));
                $crate::face::$answer(stringify!($name), PRODUCTS, || $call)
            }
        )*
    };
}
pub(crate) use faces_by;

/// Runs a call, records its error and returns the code. While a snapshot of the process is taken it waits
/// first.
#[inline]
pub(crate) fn answer(
    api: &'static str,
    products: u8,
    call: impl FnOnce() -> Result<()>,
) -> aclError {
    // Apart, so that the usual call pays for this look alone.
    if gate::is_watched() {
        return answer_counted(api, products, call);
    }
    answer_let_in(api, products, call)
}

#[cold]
#[inline(never)]
fn answer_counted(api: &'static str, products: u8, call: impl FnOnce() -> Result<()>) -> aclError {
    gate::enter();
    let code = answer_let_in(api, products, call);
    gate::leave();
    code
}

/// As [`answer`], without waiting.
#[inline]
pub(crate) fn answer_let_in(
    api: &'static str,
    products: u8,
    call: impl FnOnce() -> Result<()>,
) -> aclError {
    let guarded = || catch_unwind(AssertUnwindSafe(call));
    let result = if products == cannery_runtime::profile::ALL_PRODUCTS
        || cannery_runtime::product_has(products)
    {
        guarded()
    } else {
        cannery_runtime::calling(api, products, guarded)
    };
    match result {
        Ok(Ok(())) => ACL_SUCCESS,
        Ok(Err(error)) => error::record(api, &error),
        Err(panic) => panicked(api, &*panic),
    }
}

#[cold]
pub(crate) fn panicked(api: &'static str, panic: &(dyn core::any::Any + Send)) -> aclError {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    let fault = Fault::Internal {
        cause: format!("a fault inside Cannery was stopped: {text}; please report it"),
    };
    error::record(api, &fault.into())
}

/// Writes an answer to where `place` points, or reports it missing.
#[inline]
pub(crate) fn put<T>(
    place: *mut T,
    param: &'static str,
    value: impl FnOnce() -> Result<T>,
) -> Result<()> {
    if place.is_null() {
        return Err(Error::null(param));
    }
    let value = value()?;
    // SAFETY: not NULL, so valid per the contract of the faces.
    unsafe { place.write(value) };
    Ok(())
}

/// A place for an answer, as an option.
#[inline]
pub(crate) fn place<'a, T>(pointer: *mut T) -> Option<&'a mut T> {
    // SAFETY: NULL or valid per the contract of the faces; the borrow ends with the call.
    unsafe { pointer.as_mut() }
}

/// A text that C passes; `None` for NULL. What is not UTF-8 is replaced.
pub(crate) fn text<'a>(pointer: *const c_char) -> Option<Cow<'a, str>> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not NULL, so a C string per the contract of the faces; the borrow ends with the call.
    Some(unsafe { CStr::from_ptr(pointer) }.to_string_lossy())
}

/// A place for a pointer, as the number it will hold.
#[inline]
pub(crate) fn address_place<'a>(pointer: *mut *mut c_void) -> Option<&'a mut u64> {
    place(pointer.cast::<u64>())
}

/// An array that C passes as a pointer and a length; `None` for NULL.
#[inline]
pub(crate) fn array<'a, T>(pointer: *const T, len: usize) -> Option<&'a [T]> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not NULL, so it has `len` elements per the contract of the faces.
    Some(unsafe { core::slice::from_raw_parts(pointer, len) })
}

/// Most entries of a list of attributes, options or processes: more is a length that was never set.
const MOST_ENTRIES: usize = 1 << 16;

/// A list that C passes as a pointer and a length, where nothing but the length says how long it is;
/// `missing` for NULL.
///
/// # Errors
/// `missing`; 107000 for more than 65536 entries, before one is read.
pub(crate) fn entries<'a, T>(
    pointer: *const T,
    len: usize,
    length: &'static str,
    missing: impl FnOnce() -> Error,
) -> Result<&'a [T]> {
    if !pointer.is_null() && len > MOST_ENTRIES {
        let expected = format!("at most {MOST_ENTRIES}; set the length to the entries of the list");
        return Err(Error::rt_value(length, len, expected));
    }
    array(pointer, len).ok_or_else(missing)
}

/// An array that a call fills; `None` for NULL.
#[inline]
pub(crate) fn slice_mut<'a, T>(pointer: *mut T, len: usize) -> Option<&'a mut [T]> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not NULL, so it has room for `len` elements per the contract of the faces.
    Some(unsafe { core::slice::from_raw_parts_mut(pointer, len) })
}

/// Runs a call of the function of this name, which returns a number instead of a code: `failed` on
/// failure, with a text. The products are checked where the runtime is asked for.
macro_rules! value_or {
    ($failed:expr, $api:literal, $call:expr) => {{
        const PRODUCTS: u8 = cannery_runtime::profile::products_of($api);
        let mut value: u64 = $failed;
        $crate::face::answer($api, PRODUCTS, || {
            value = ($call)()?;
            Ok(())
        });
        value
    }};
}
pub(crate) use value_or;

/// An array of pointers, as numbers.
#[inline]
pub(crate) fn addresses<'a>(pointer: *mut *mut c_void, len: usize) -> Option<&'a [u64]> {
    array(pointer.cast::<u64>().cast_const(), len)
}

/// An array of sizes, as numbers.
#[inline]
pub(crate) fn sizes<'a>(pointer: *mut usize, len: usize) -> Option<&'a [u64]> {
    const { assert!(size_of::<usize>() == size_of::<u64>()) };
    array(pointer.cast::<u64>().cast_const(), len)
}
