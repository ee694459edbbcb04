//! Copies and fills.
//!
//! A large synchronous copy lets other Python threads run. A queued one always does: with
//! pageable host memory it first waits for the stream, where a Python callback may be due.

use std::ffi::c_void;

use pyo3::prelude::*;

use crate::c_api::{at, c_api};
use crate::calls::calls;
use crate::convert::{Bits32, Int, Word};

/// From this many bytes on, a copy takes much longer than releasing the GIL and taking it again.
const LARGE: usize = 64 * 1024;

calls! {
    also [memcpy, memcpy2d, memset, set_memcpy_desc];

    /// ret = memcpy_async(dst, dest_max, src, count, kind, stream): queue a copy.
    ///
    /// Keep both sides alive until the stream is synchronised.
    fn memcpy_async(dst: Word, dest_max: Word, src: Word, count: Word, kind: Int, stream: Word) -> wait
        = aclrtMemcpyAsync(at(dst), dest_max, at(src), count, kind, at(stream));

    /// ret = memcpy_async_with_condition(dst, dest_max, src, count, kind, stream). Use memcpy_async.
    fn memcpy_async_with_condition(
        dst: Word, dest_max: Word, src: Word, count: Word, kind: Int, stream: Word,
    ) -> wait = aclrtMemcpyAsyncWithCondition(at(dst), dest_max, at(src), count, kind, at(stream));

    /// ret = memcpy2d_async(dst, dpitch, src, spitch, width, height, kind, stream): queue a copy of rows.
    fn memcpy2d_async(
        dst: Word, dpitch: Word, src: Word, spitch: Word, width: Word, height: Word, kind: Int, stream: Word,
    ) -> wait = aclrtMemcpy2dAsync(at(dst), dpitch, at(src), spitch, width, height, kind, at(stream));

    /// ret = memset_async(dev_ptr, max_count, value, count, stream): queue a fill.
    fn memset_async(dev_ptr: Word, max_count: Word, value: Int, count: Word, stream: Word) -> wait
        = aclrtMemsetAsync(at(dev_ptr), max_count, value, count, at(stream));

    /// ret = reduce_async(dst, src, count, kind, type, stream, reserve): queue dst = dst op src.
    ///
    /// count is in bytes; kind 10 sum, 11 max, 12 min; reserve is 0.
    fn reduce_async(
        dst: Word, src: Word, count: Word, kind: Int, r#type: Int, stream: Word, reserve: Word,
    ) -> code = aclrtReduceAsync(at(dst), at(src), count as u64, kind, r#type, at(stream), at(reserve));

    /// desc_size, ret = get_memcpy_desc_size(kind): bytes of a copy description; kind is 6.
    fn get_memcpy_desc_size(kind: Int) -> (desc_size: usize) = aclrtGetMemcpyDescSize(kind, &raw mut desc_size);

    /// ret = memcpy_async_with_desc(desc, kind, stream): queue a described copy.
    fn memcpy_async_with_desc(desc: Word, kind: Int, stream: Word) -> code = aclrtMemcpyAsyncWithDesc(
        at(desc),
        kind,
        at(stream),
    );

    /// ret = value_write(dev_addr, value, flag, stream): queue a write of 8 bytes.
    fn value_write(dev_addr: Word, value: Word, flag: Bits32, stream: Word) -> code = aclrtValueWrite(
        at(dev_addr),
        value as u64,
        flag,
        at(stream),
    );

    /// ret = value_wait(dev_addr, value, flag, stream): the stream waits for 8 bytes: 0 >=, 1 ==, 2 and, 3 nor.
    fn value_wait(dev_addr: Word, value: Word, flag: Bits32, stream: Word) -> code = aclrtValueWait(
        at(dev_addr),
        value as u64,
        flag,
        at(stream),
    );
}

/// Runs a copy of `size` bytes, without the GIL when it is large.
#[inline]
fn copy_of(py: Python<'_>, size: usize, copy: impl FnOnce() -> i32 + Send) -> i32 {
    if size >= LARGE {
        py.detach(copy)
    } else {
        copy()
    }
}

/// ret = memcpy(dst, dest_max, src, count, kind): copy now. The addresses decide the direction.
///
/// kind: 0 host to host, 1 host to device, 2 device to host, 3 device to device, 4 by the addresses.
#[pyfunction]
#[pyo3(signature = (dst, dest_max, src, count, kind, /))]
fn memcpy(py: Python<'_>, dst: Word, dest_max: Word, src: Word, count: Word, kind: Int) -> i32 {
    copy_of(py, count.0, move || {
        // SAFETY: the library checks device sides; a host side is memory that the program names.
        unsafe {
            (c_api().aclrtMemcpy)(at(dst.0), dest_max.0, at::<c_void>(src.0), count.0, kind.0)
        }
    })
}

/// ret = memcpy2d(dst, dpitch, src, spitch, width, height, kind): copy rows now.
#[pyfunction]
#[pyo3(signature = (dst, dpitch, src, spitch, width, height, kind, /))]
#[allow(clippy::too_many_arguments)] // The interface has them.
fn memcpy2d(
    py: Python<'_>,
    dst: Word,
    dpitch: Word,
    src: Word,
    spitch: Word,
    width: Word,
    height: Word,
    kind: Int,
) -> i32 {
    copy_of(py, width.0.saturating_mul(height.0), move || {
        // SAFETY: as in `memcpy`.
        unsafe {
            (c_api().aclrtMemcpy2d)(
                at(dst.0),
                dpitch.0,
                at::<c_void>(src.0),
                spitch.0,
                width.0,
                height.0,
                kind.0,
            )
        }
    })
}

/// ret = memset(dev_ptr, max_count, value, count): fill now, with the low byte of value.
#[pyfunction]
#[pyo3(signature = (dev_ptr, max_count, value, count, /))]
fn memset(py: Python<'_>, dev_ptr: Word, max_count: Word, value: Int, count: Word) -> i32 {
    copy_of(py, count.0, move || {
        // SAFETY: as in `memcpy`.
        unsafe { (c_api().aclrtMemset)(at(dev_ptr.0), max_count.0, value.0, count.0) }
    })
}

/// desc, ret = set_memcpy_desc(desc, kind, src_addr, dst_addr, count, config): source first; config is 0.
#[pyfunction]
#[pyo3(signature = (desc, kind, src_addr, dst_addr, count, config, /))]
fn set_memcpy_desc(
    desc: Word,
    kind: Int,
    src_addr: Word,
    dst_addr: Word,
    count: Word,
    config: Word,
) -> (usize, i32) {
    // SAFETY: the library judges the addresses.
    let ret = unsafe {
        (c_api().aclrtSetMemcpyDesc)(
            at(desc.0),
            kind.0,
            at(src_addr.0),
            at(dst_addr.0),
            count.0,
            at(config.0),
        )
    };
    (desc.0, ret)
}
