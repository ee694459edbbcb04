//! What the test programs share that call the built library: its C functions by name, processes of their own
//! that they start again and talk to, and notes of what went wrong.
#![allow(unsafe_code)] // Calls the C interface.

pub mod api;
pub mod memory;
pub mod peer;
pub mod process;
pub mod trouble;
