//! Chapter: shared queues and the buffers in them (tdt queue).

use core::ffi::{CStr, c_void};
use std::sync::atomic::AtomicBool;

use cannery_abi as abi;
use cannery_runtime::error::{Error, Result};
use cannery_runtime::profile::products_of;
use cannery_runtime::queue::attribute::{self, Value};
use cannery_runtime::queue::queues::{self, Bytes};
use cannery_runtime::queue::{buffer, route};

use crate::face::{address_place, answer, faces, place, put, value_or};

/// An address and a number of bytes.
pub(crate) fn bytes(at: *const c_void, len: usize) -> Bytes {
    Bytes {
        at: at as u64,
        len: len as u64,
    }
}

/// Checks where an attribute is written to or read from.
fn check_length(len: usize, size: usize) -> Result<()> {
    if len == size {
        return Ok(());
    }
    Err(Error::value(
        "len",
        len,
        format!("must be {size} for this type"),
    ))
}

/// Writes a number where a program asked for an attribute of `len` bytes.
fn give<T>(value: T, param: *mut c_void, ret: *mut usize) -> Result<()> {
    put(param.cast::<T>(), "param", || Ok(value))?;
    put(ret, "paramRetSize", || Ok(size_of::<T>()))
}

fn check_answers(param: *mut c_void, ret: *mut usize) -> Result<()> {
    if ret.is_null() {
        return Err(Error::null("paramRetSize"));
    }
    if param.is_null() {
        return Err(Error::null("param"));
    }
    Ok(())
}

faces! {
    /// acltdtCreateQueue
    fn acltdtCreateQueue(attr: *const abi::acltdtQueueAttr, qid: *mut u32)
        => put(qid, "qid", || queues::create(attr as u64));
    /// acltdtDestroyQueue
    fn acltdtDestroyQueue(qid: u32) => queues::destroy(qid);
    /// acltdtEnqueueData
    fn acltdtEnqueueData(
        qid: u32,
        data: *const c_void,
        dataSize: usize,
        userData: *const c_void,
        userDataSize: usize,
        timeout: i32,
        rsv: u32,
    ) => {
        let (data, user) = (bytes(data, dataSize), bytes(userData, userDataSize));
        queues::enqueue_data(qid, data, user, timeout, rsv)
    };
    /// acltdtDequeueData
    fn acltdtDequeueData(
        qid: u32,
        data: *mut c_void,
        dataSize: usize,
        retDataSize: *mut usize,
        userData: *mut c_void,
        userDataSize: usize,
        timeout: i32,
    ) => {
        const { assert!(size_of::<usize>() == size_of::<u64>()) };
        let (data, user) = (bytes(data, dataSize), bytes(userData, userDataSize));
        queues::dequeue_data(qid, data, place(retDataSize.cast::<u64>()), user, timeout)
    };
    /// acltdtDestroyQueueAttr
    fn acltdtDestroyQueueAttr(attr: *const abi::acltdtQueueAttr) => attribute::destroy(attr as u64);
    /// acltdtSetQueueAttr
    fn acltdtSetQueueAttr(
        attr: *mut abi::acltdtQueueAttr,
        r#type: abi::acltdtQueueAttrType,
        len: usize,
        param: *const c_void,
    ) => {
        if attr.is_null() {
            return Err(Error::null("attr"));
        }
        check_length(len, attribute::size(r#type)?)?;
        if param.is_null() {
            return Err(Error::null("param"));
        }
        let value = if r#type == abi::ACL_TDT_QUEUE_NAME_PTR {
            // SAFETY: `param` points to a pointer of 8 bytes, as its length says.
            let name = unsafe { param.cast::<*const core::ffi::c_char>().read_unaligned() };
            if name.is_null() {
                return Err(Error::null("*param"));
            }
            // SAFETY: not NULL, so a C string per the contract of the faces.
            Value::Name(unsafe { CStr::from_ptr(name) }.to_owned())
        } else {
            // SAFETY: `param` points to 4 bytes, as its length says.
            Value::Depth(unsafe { param.cast::<u32>().read_unaligned() })
        };
        attribute::set(attr as u64, value)
    };
    /// acltdtGetQueueAttr
    fn acltdtGetQueueAttr(
        attr: *const abi::acltdtQueueAttr,
        r#type: abi::acltdtQueueAttrType,
        len: usize,
        paramRetSize: *mut usize,
        param: *mut c_void,
    ) => {
        if attr.is_null() {
            return Err(Error::null("attr"));
        }
        check_length(len, attribute::size(r#type)?)?;
        check_answers(param, paramRetSize)?;
        if r#type == abi::ACL_TDT_QUEUE_NAME_PTR {
            give(attribute::name_address(attr as u64)?, param, paramRetSize)
        } else {
            give(attribute::depth(attr as u64)?, param, paramRetSize)
        }
    };
    /// acltdtDestroyQueueRoute
    fn acltdtDestroyQueueRoute(route: *const abi::acltdtQueueRoute) => route::destroy(route as u64);
    /// acltdtGetQueueRouteParam
    fn acltdtGetQueueRouteParam(
        route: *const abi::acltdtQueueRoute,
        r#type: abi::acltdtQueueRouteParamType,
        len: usize,
        paramRetSize: *mut usize,
        param: *mut c_void,
    ) => {
        if route.is_null() {
            return Err(Error::null("route"));
        }
        check_answers(param, paramRetSize)?;
        give(route::param(route as u64, r#type, len)?, param, paramRetSize)
    };
    /// acltdtDestroyQueueRouteList
    fn acltdtDestroyQueueRouteList(routeList: *const abi::acltdtQueueRouteList)
        => route::destroy_list(routeList as u64);
    /// acltdtAddQueueRoute
    fn acltdtAddQueueRoute(
        routeList: *mut abi::acltdtQueueRouteList,
        route: *const abi::acltdtQueueRoute,
    ) => route::add(routeList as u64, route as u64);
    /// acltdtGetQueueRoute
    fn acltdtGetQueueRoute(
        routeList: *const abi::acltdtQueueRouteList,
        index: usize,
        route: *mut abi::acltdtQueueRoute,
    ) => route::get(routeList as u64, index as u64, route as u64);
    /// acltdtDestroyQueueRouteQueryInfo
    fn acltdtDestroyQueueRouteQueryInfo(info: *const abi::acltdtQueueRouteQueryInfo)
        => route::destroy_query(info as u64);
    /// acltdtSetQueueRouteQueryInfo
    fn acltdtSetQueueRouteQueryInfo(
        param: *mut abi::acltdtQueueRouteQueryInfo,
        r#type: abi::acltdtQueueRouteQueryInfoParamType,
        len: usize,
        value: *const c_void,
    ) => {
        if param.is_null() {
            return Err(Error::null("param"));
        }
        route::check_query(r#type, len)?;
        if value.is_null() {
            return Err(Error::null("value"));
        }
        // SAFETY: `value` points to 4 bytes, as its length says.
        let value = unsafe { value.cast::<u32>().read_unaligned() };
        route::set_query(param as u64, r#type, value)
    };
    /// acltdtBindQueueRoutes
    fn acltdtBindQueueRoutes(qRouteList: *mut abi::acltdtQueueRouteList)
        => route::bind(qRouteList as u64);
    /// acltdtUnbindQueueRoutes
    fn acltdtUnbindQueueRoutes(qRouteList: *mut abi::acltdtQueueRouteList)
        => route::unbind(qRouteList as u64);
    /// acltdtQueryQueueRoutes
    fn acltdtQueryQueueRoutes(
        queryInfo: *const abi::acltdtQueueRouteQueryInfo,
        qRouteList: *mut abi::acltdtQueueRouteList,
    ) => route::query(queryInfo as u64, qRouteList as u64);
    /// acltdtAllocBuf
    fn acltdtAllocBuf(size: usize, r#type: u32, buf: *mut abi::acltdtBuf) => {
        let Some(place) = address_place(buf) else { return Err(Error::null("buf")) };
        *place = buffer::alloc(size as u64, r#type)?;
        Ok(())
    };
    /// acltdtFreeBuf
    fn acltdtFreeBuf(buf: abi::acltdtBuf) => buffer::free(buf as u64);
    /// acltdtGetBufData
    fn acltdtGetBufData(buf: abi::acltdtBuf, dataPtr: *mut *mut c_void, size: *mut usize)
        => get_data(buf, dataPtr, size);
    /// acltdtGetBufDataLen
    fn acltdtGetBufDataLen(buf: abi::acltdtBuf, len: *mut usize) => {
        if buf.is_null() {
            return Err(Error::null("buf"));
        }
        put(len, "len", || Ok(buffer::valid_length(buf as u64)? as usize))
    };
    /// acltdtSetBufDataLen
    fn acltdtSetBufDataLen(buf: abi::acltdtBuf, len: usize)
        => buffer::set_valid_length(buf as u64, len as u64);
    /// acltdtGetBufUserData
    fn acltdtGetBufUserData(
        buf: abi::acltdtBuf,
        dataPtr: *mut c_void,
        size: usize,
        offset: usize,
    ) => buffer::user_data(buf as u64, bytes(dataPtr, size), offset as u64);
    /// acltdtSetBufUserData
    fn acltdtSetBufUserData(
        buf: abi::acltdtBuf,
        dataPtr: *const c_void,
        size: usize,
        offset: usize,
    ) => buffer::set_user_data(buf as u64, bytes(dataPtr, size), offset as u64);
    /// acltdtCopyBufRef
    fn acltdtCopyBufRef(buf: abi::acltdtBuf, newBuf: *mut abi::acltdtBuf) => {
        if buf.is_null() {
            return Err(Error::null("buf"));
        }
        let Some(place) = address_place(newBuf) else { return Err(Error::null("newBuf")) };
        *place = buffer::copy_reference(buf as u64)?;
        Ok(())
    };
    /// acltdtAppendBufChain
    fn acltdtAppendBufChain(headBuf: abi::acltdtBuf, buf: abi::acltdtBuf)
        => buffer::append(headBuf as u64, buf as u64);
    /// acltdtGetBufChainNum
    fn acltdtGetBufChainNum(headBuf: abi::acltdtBuf, num: *mut u32) => {
        if headBuf.is_null() {
            return Err(Error::null("headBuf"));
        }
        put(num, "num", || buffer::chain_length(headBuf as u64))
    };
    /// acltdtGetBufFromChain
    fn acltdtGetBufFromChain(headBuf: abi::acltdtBuf, index: u32, buf: *mut abi::acltdtBuf) => {
        if headBuf.is_null() {
            return Err(Error::null("headBuf"));
        }
        let Some(place) = address_place(buf) else { return Err(Error::null("buf")) };
        *place = buffer::of_chain(headBuf as u64, index)?;
        Ok(())
    };
}

/// Address and size of a buffer.
pub(crate) fn get_data(buf: *mut c_void, data: *mut *mut c_void, size: *mut usize) -> Result<()> {
    if buf.is_null() {
        return Err(Error::null("buf"));
    }
    let Some(place) = address_place(data) else {
        return Err(Error::null("dataPtr"));
    };
    if size.is_null() {
        return Err(Error::null("size"));
    }
    let (at, bytes) = buffer::data(buf as u64)?;
    *place = at;
    put(size, "size", || Ok(bytes as usize))
}

/// acltdtCreateQueueAttr: NULL on failure.
#[unsafe(no_mangle)]
extern "C" fn acltdtCreateQueueAttr() -> *mut abi::acltdtQueueAttr {
    value_or!(0, "acltdtCreateQueueAttr", attribute::create) as *mut _
}

/// acltdtCreateQueueRoute: NULL on failure.
#[unsafe(no_mangle)]
extern "C" fn acltdtCreateQueueRoute(srcId: u32, dstId: u32) -> *mut abi::acltdtQueueRoute {
    value_or!(0, "acltdtCreateQueueRoute", || route::create(srcId, dstId)) as *mut _
}

/// acltdtCreateQueueRouteList: NULL on failure.
#[unsafe(no_mangle)]
extern "C" fn acltdtCreateQueueRouteList() -> *mut abi::acltdtQueueRouteList {
    value_or!(0, "acltdtCreateQueueRouteList", route::create_list) as *mut _
}

/// acltdtCreateQueueRouteQueryInfo: NULL on failure.
#[unsafe(no_mangle)]
extern "C" fn acltdtCreateQueueRouteQueryInfo() -> *mut abi::acltdtQueueRouteQueryInfo {
    value_or!(0, "acltdtCreateQueueRouteQueryInfo", route::create_query) as *mut _
}

/// acltdtGetQueueRouteNum: 0 on failure.
#[unsafe(no_mangle)]
extern "C" fn acltdtGetQueueRouteNum(routeList: *const abi::acltdtQueueRouteList) -> usize {
    value_or!(0, "acltdtGetQueueRouteNum", || {
        route::length(routeList as u64)
    }) as usize
}

/// Answers a function that the manual lists for no product: it works where others of its kind do.
fn unlisted(
    api: &'static str,
    products: u8,
    told: &AtomicBool,
    call: impl FnOnce() -> Result<()>,
) -> abi::aclError {
    answer(api, products, || {
        queues::warn_unlisted(api, told);
        call()
    })
}

/// acltdtGrantQueue
#[unsafe(no_mangle)]
extern "C" fn acltdtGrantQueue(qid: u32, pid: i32, permission: u32, timeout: i32) -> abi::aclError {
    static TOLD: AtomicBool = AtomicBool::new(false);
    unlisted(
        "acltdtGrantQueue",
        const { products_of("acltdtCreateQueue") },
        &TOLD,
        || queues::grant(qid, pid, permission, timeout),
    )
}

/// acltdtAttachQueue
#[unsafe(no_mangle)]
extern "C" fn acltdtAttachQueue(qid: u32, timeout: i32, permission: *mut u32) -> abi::aclError {
    static TOLD: AtomicBool = AtomicBool::new(false);
    unlisted(
        "acltdtAttachQueue",
        const { products_of("acltdtCreateQueue") },
        &TOLD,
        || put(permission, "permission", || queues::attach(qid, timeout)),
    )
}

/// acltdtEnqueue
#[unsafe(no_mangle)]
extern "C" fn acltdtEnqueue(qid: u32, buf: abi::acltdtBuf, timeout: i32) -> abi::aclError {
    static TOLD: AtomicBool = AtomicBool::new(false);
    unlisted(
        "acltdtEnqueue",
        const { products_of("acltdtAllocBuf") },
        &TOLD,
        || queues::enqueue(qid, buf as u64, timeout),
    )
}

/// acltdtDequeue
#[unsafe(no_mangle)]
extern "C" fn acltdtDequeue(qid: u32, buf: *mut abi::acltdtBuf, timeout: i32) -> abi::aclError {
    static TOLD: AtomicBool = AtomicBool::new(false);
    unlisted(
        "acltdtDequeue",
        const { products_of("acltdtAllocBuf") },
        &TOLD,
        || {
            let Some(place) = address_place(buf) else {
                return Err(Error::null("buf"));
            };
            *place = queues::dequeue(qid, timeout)?;
            Ok(())
        },
    )
}
