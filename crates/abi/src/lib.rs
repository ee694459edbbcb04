//! The facts of the AscendCL C interface that a program can see: enum values, constants, return
//! codes, memory layouts, handle and callback types. No logic, no dependencies, no `std`.
//!
//! Every item has the name of the manual and stands at the root of the crate, so that
//! `cannery_abi::ACL_MEM_MALLOC_HUGE_FIRST`, `cannery_abi::aclrtMemUsageInfo` and
//! `cannery_abi::ACL_ERROR_RT_MEMORY_ALLOCATION` work. The modules hold the same items by subject.
//!
//! # Glossary
//!
//! * *enum type*: an alias of `i32` with its values as constants. It is no Rust `enum`, because
//!   a C program may pass any number, and a number outside the list must stay representable.
//! * *constant*: a number that the C headers define as a macro; it has the C type of its use.
//! * *code*: what a function returns ([`aclError`]); 0 is success.
//! * *message code*: the six characters (such as `EE1001`) at the head of an error text.
//! * *layout*: a struct or union, `repr(C)`, byte for byte as a C compiler lays it out.
//! * *handle*: a pointer that programs pass on and never look into.
//! * *callback*: a C function of the program that the runtime calls; `None` is the null pointer.
//!
//! # Contract
//!
//! * Values, sizes, alignments and offsets equal `spec/` of this repository; the tests of this
//!   crate compare every one of them. The generated modules come from `tools/gen_abi.py`.
//! * Nothing here allocates, locks or can fail; all items may be used from any thread.
//! * The tables ([`ENUMS`], [`CODES`], [`MESSAGES`], [`LAYOUTS`], [`HANDLES`], [`SCALARS`],
//!   [`CALLBACKS`]) list every item once, so that other crates and tests can walk them.
//! * Layouts hold on every 64-bit platform whose C `int` has 4 bytes (x86-64 and AArch64 Linux).

#![no_std]
// The names are those of the C interface and its manual. A program that is ported, and a reader
// with the manual open, must find them unchanged.
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

#[macro_use]
mod macros;
mod tables;

pub mod callbacks;
pub mod codes;
pub mod constants;
pub mod enums;
mod flat;
pub mod handles;
pub mod layouts;
pub mod messages;

pub use flat::*;
pub use tables::*;

// For the generated modules, which import the crate root.
use core::ffi::{c_char, c_void};
