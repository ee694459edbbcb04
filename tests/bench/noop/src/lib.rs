//! The floor of what a call from Python costs: the shapes of `acl.rt.malloc` and `acl.rt.free`
//! around nothing, built as the `acl` module is (PyO3, abi3 for CPython 3.9).

use pyo3::prelude::*;

/// The module `cannery_noop`.
#[pymodule]
mod cannery_noop {
    use super::*;

    /// ptr, ret = malloc(size, policy): a made-up address. As large as a device address, for a
    /// Python integer costs by its digits.
    #[pyfunction]
    #[pyo3(signature = (size, policy, /))]
    fn malloc(size: usize, policy: i32) -> (usize, i32) {
        (0x1000_0000_0000 | (size & 0xffff), i32::from(policy < 0))
    }

    /// ret = free(ptr)
    #[pyfunction]
    #[pyo3(signature = (ptr, /))]
    fn free(ptr: usize) -> i32 {
        i32::from(ptr == 0)
    }
}
