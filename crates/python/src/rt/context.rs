//! Contexts: what a thread's calls belong to.

use pyo3::prelude::*;

use crate::c_api::{Memory, at, c_api};
use crate::calls::calls;
use crate::convert::{Int, Word};

calls! {
    also [get_primary_ctx_state];

    /// context, ret = create_context(device_id): a new context, current for this thread.
    fn create_context(device_id: Int) -> (context: Memory) = aclrtCreateContext(&raw mut context, device_id);

    /// ret = destroy_context(context): only contexts of create_context.
    fn destroy_context(context: Word) -> wait = aclrtDestroyContext(at(context));

    /// ret = set_context(context): make it current for this thread.
    fn set_context(context: Word) -> code = aclrtSetCurrentContext(at(context));

    /// context, ret = get_context(): the current context of this thread.
    fn get_context() -> (context: Memory) = aclrtGetCurrentContext(&raw mut context);

    /// stream, ret = ctx_get_current_default_stream()
    fn ctx_get_current_default_stream() -> (stream: Memory) = aclrtCtxGetCurrentDefaultStream(&raw mut stream);
}

/// active, flags, ret = get_primary_ctx_state(device_id): the order differs from C.
#[pyfunction]
#[pyo3(signature = (device_id, /))]
fn get_primary_ctx_state(device_id: Int) -> (i32, u32, i32) {
    let (mut flags, mut active) = (0_u32, 0_i32);
    // SAFETY: valid outputs.
    let ret =
        unsafe { (c_api().aclrtGetPrimaryCtxState)(device_id.0, &raw mut flags, &raw mut active) };
    (active, flags, ret)
}
