//! libascendcl.so: the C face of the runtime. One file for each chapter of the manual.
//!
//! * **face**: an exported function. It turns C arguments into Rust ones, calls the runtime, and
//!   turns the result into a code and a text. It decides nothing.
//! * **refusal**: what a function answers that is not built yet (207000 and a text).
//!
//! # Contract
//!
//! Names, signatures, codes and layouts are those of the manual. No panic crosses into C. Any value
//! may be passed as a handle or as a device address; a pointer to a place for an answer is NULL or
//! valid, as in any C call. Every function may be called from any thread.
#![allow(non_snake_case)] // the argument names of the manual
#![allow(unsafe_code)] // pointers from C: the reason why this crate exists

mod cache_operations;
mod callback;
mod context;
mod copy_and_set;
mod core_limits;
mod custom_allocator;
mod device;
mod device_memory;
mod device_symbols;
mod error;
mod event;
mod exception;
mod execution_control;
mod extension;
mod face;
mod group;
mod host_memory;
mod init;
mod ipc_memory;
mod kernel;
mod label;
mod managed_memory;
mod model_ri;
mod not_built;
mod notify;
mod operators;
mod other;
mod overflow;
mod pointers;
mod refusal;
mod shared_buffer;
mod snapshot;
mod stream;
mod stream_ordered_pool;
mod stream_switch;
mod tdt_channel;
mod tdt_queue;
mod toolkit;
mod versions;
mod virtual_memory;
