//! Chapter: shared buffers (reserved). The manual reserves these names and lists them for no product, so
//! that every product refuses them after the argument checks; behind them is what the queue
//! functions of the same kind do.

use core::ffi::c_void;

use cannery_abi as abi;
use cannery_runtime::error::Error;
use cannery_runtime::queue::buffer;

use crate::face::{address_place, faces, put};
use crate::tdt_queue::{bytes, get_data};

/// The one kind of memory that these functions have.
const NORMAL: u32 = abi::ACL_TDT_NORMAL_MEM.cast_unsigned();

faces! {
    /// aclrtAllocBuf
    fn aclrtAllocBuf(buf: *mut abi::aclrtMbuf, size: usize) => {
        let Some(place) = address_place(buf) else { return Err(Error::null("buf")) };
        *place = buffer::alloc(size as u64, NORMAL)?;
        Ok(())
    };
    /// aclrtFreeBuf
    fn aclrtFreeBuf(buf: abi::aclrtMbuf) => buffer::free(buf as u64);
    /// aclrtGetBufData
    fn aclrtGetBufData(buf: abi::aclrtMbuf, dataPtr: *mut *mut c_void, size: *mut usize)
        => get_data(buf, dataPtr, size);
    /// aclrtGetBufDataLen
    fn aclrtGetBufDataLen(buf: abi::aclrtMbuf, len: *mut usize) => {
        if buf.is_null() {
            return Err(Error::null("buf"));
        }
        put(len, "len", || Ok(buffer::valid_length(buf as u64)? as usize))
    };
    /// aclrtSetBufDataLen
    fn aclrtSetBufDataLen(buf: abi::aclrtMbuf, len: usize)
        => buffer::set_valid_length(buf as u64, len as u64);
    /// aclrtGetBufUserData
    fn aclrtGetBufUserData(
        buf: abi::aclrtMbuf,
        dataPtr: *mut c_void,
        size: usize,
        offset: usize,
    ) => buffer::user_data(buf as u64, bytes(dataPtr, size), offset as u64);
    /// aclrtSetBufUserData
    fn aclrtSetBufUserData(
        buf: abi::aclrtMbuf,
        dataPtr: *const c_void,
        size: usize,
        offset: usize,
    ) => buffer::set_user_data(buf as u64, bytes(dataPtr, size), offset as u64);
    /// aclrtCopyBufRef
    fn aclrtCopyBufRef(buf: abi::aclrtMbuf, newBuf: *mut abi::aclrtMbuf) => {
        if buf.is_null() {
            return Err(Error::null("buf"));
        }
        let Some(place) = address_place(newBuf) else { return Err(Error::null("newBuf")) };
        *place = buffer::copy_reference(buf as u64)?;
        Ok(())
    };
    /// aclrtAppendBufChain
    fn aclrtAppendBufChain(headBuf: abi::aclrtMbuf, buf: abi::aclrtMbuf)
        => buffer::append(headBuf as u64, buf as u64);
    /// aclrtGetBufChainNum
    fn aclrtGetBufChainNum(headBuf: abi::aclrtMbuf, num: *mut u32) => {
        if headBuf.is_null() {
            return Err(Error::null("headBuf"));
        }
        put(num, "num", || buffer::chain_length(headBuf as u64))
    };
    /// aclrtGetBufFromChain
    fn aclrtGetBufFromChain(headBuf: abi::aclrtMbuf, index: u32, buf: *mut abi::aclrtMbuf) => {
        if headBuf.is_null() {
            return Err(Error::null("headBuf"));
        }
        let Some(place) = address_place(buf) else { return Err(Error::null("buf")) };
        *place = buffer::of_chain(headBuf as u64, index)?;
        Ok(())
    };
}
