//! The honest refusal: what an exported function answers while Cannery does not have it.
//!
//! A refusal never looks like success. A function that returns a code answers "feature not
//! supported" (207000); one that returns a pointer answers NULL; a number is 0, or the value that
//! the interface itself calls invalid or undefined where 0 would be a valid answer. Every refusal
//! leaves a text for `aclGetRecentErrMsg` that names the function. Profiling hooks are the one
//! exception: programs call them all the time and ignore the answer, so they return 0 in silence.
//!
//! The refusing functions declare no parameters: in the C calling conventions of x86-64 and
//! AArch64 the caller owns the argument registers and the stack, so that ignoring them is sound.

/// Records that `name` was called and is not built; returns the code to answer with.
pub(crate) fn refuse(name: &'static str) -> cannery_abi::aclError {
    cannery_runtime::error::not_built(name)
}

/// Defines the refusing exports of one class of return type.
///
/// * `code`: `aclError` 207000
/// * `ptr`: a null pointer
/// * `size`, `u32`: 0
/// * `invalid_u32`: 0xFFFFFFFF, what the getters of exception facts call invalid
/// * `f32`, `f16`: 0.0
/// * `undefined`: -1, the `UNDEFINED` value of the data type, format and tensor type enums
/// * `void`: nothing
/// * `hook`: 0, and no text
macro_rules! not_built {
    (code: $($name:ident),*) => {
        $(not_built!(@export $name, cannery_abi::aclError, |code| code);)*
    };
    (ptr: $($name:ident),*) => {
        $(not_built!(@export $name, *mut core::ffi::c_void, |_code| core::ptr::null_mut());)*
    };
    (size: $($name:ident),*) => {
        $(not_built!(@export $name, usize, |_code| 0);)*
    };
    (u32: $($name:ident),*) => {
        $(not_built!(@export $name, u32, |_code| 0);)*
    };
    (invalid_u32: $($name:ident),*) => {
        $(not_built!(@export $name, u32, |_code| u32::MAX);)*
    };
    (f32: $($name:ident),*) => {
        $(not_built!(@export $name, f32, |_code| 0.0);)*
    };
    (f16: $($name:ident),*) => {
        $(not_built!(@export $name, cannery_abi::aclFloat16, |_code| 0);)*
    };
    (undefined: $($name:ident),*) => {
        $(not_built!(@export $name, i32, |_code| -1);)*
    };
    (void: $($name:ident),*) => {
        $(not_built!(@export $name, (), |_code| ());)*
    };
    (hook: $($name:ident),*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> u64 {
                0
            }
        )*
    };
    (@export $name:ident, $ret:ty, |$code:ident| $answer:expr) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> $ret {
            let $code = crate::refusal::refuse(stringify!($name));
            $answer
        }
    };
}
pub(crate) use not_built;
