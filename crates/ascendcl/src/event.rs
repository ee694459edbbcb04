//! Chapter: event management.

use cannery_abi as abi;
use cannery_runtime::error::Error;
use cannery_runtime::stream::{event, timeouts};

use crate::face::{address_place, faces, place, put};

fn create(
    place: *mut abi::aclrtEvent,
    flags: Option<u32>,
    ex: bool,
) -> cannery_runtime::error::Result<()> {
    let Some(place) = address_place(place) else {
        return Err(Error::null("event"));
    };
    *place = event::create(flags, ex)?;
    Ok(())
}

faces! {
    /// aclrtCreateEvent
    fn aclrtCreateEvent(event: *mut abi::aclrtEvent) => create(event, None, false);
    /// aclrtCreateEventWithFlag
    fn aclrtCreateEventWithFlag(event: *mut abi::aclrtEvent, flag: u32)
        => create(event, Some(flag), false);
    /// aclrtCreateEventExWithFlag
    fn aclrtCreateEventExWithFlag(event: *mut abi::aclrtEvent, flag: u32)
        => create(event, Some(flag), true);
    /// aclrtDestroyEvent
    fn aclrtDestroyEvent(event: abi::aclrtEvent) => event::destroy(event as u64);
    /// aclrtRecordEvent
    fn aclrtRecordEvent(event: abi::aclrtEvent, stream: abi::aclrtStream)
        => event::record(event as u64, stream as u64, None);
    /// aclrtRecordEventWithFlag
    fn aclrtRecordEventWithFlag(event: abi::aclrtEvent, stream: abi::aclrtStream, flag: u32)
        => event::record(event as u64, stream as u64, Some(flag));
    /// aclrtSetOpWaitTimeout
    fn aclrtSetOpWaitTimeout(timeout: u32) => timeouts::set_wait(timeout);
    /// aclrtStreamWaitEvent
    fn aclrtStreamWaitEvent(stream: abi::aclrtStream, event: abi::aclrtEvent)
        => timeouts::stream_wait_event(stream as u64, event as u64);
    /// aclrtStreamWaitEventWithTimeout
    fn aclrtStreamWaitEventWithTimeout(
        stream: abi::aclrtStream,
        event: abi::aclrtEvent,
        timeout: i32,
    ) => event::stream_wait_with_timeout(stream as u64, event as u64, timeout);
    /// aclrtStreamWaitEventWithFlag
    fn aclrtStreamWaitEventWithFlag(
        stream: abi::aclrtStream,
        event: abi::aclrtEvent,
        timeout: u32,
        flag: u32,
    ) => event::stream_wait(stream as u64, event as u64, timeout, Some(flag));
    /// aclrtResetEvent
    fn aclrtResetEvent(event: abi::aclrtEvent, stream: abi::aclrtStream)
        => event::reset(event as u64, stream as u64);
    /// aclrtQueryEventStatus
    fn aclrtQueryEventStatus(event: abi::aclrtEvent, status: *mut abi::aclrtEventRecordedStatus)
        => {
            if event.is_null() {
                return Err(Error::null("event"));
            }
            put(status, "status", || event::recorded_status(event as u64))
        };
    /// aclrtQueryEvent
    fn aclrtQueryEvent(event: abi::aclrtEvent, status: *mut abi::aclrtEventStatus) => {
        if event.is_null() {
            return Err(Error::null("event"));
        }
        put(status, "status", || event::old_status(event as u64))
    };
    /// aclrtQueryEventWaitStatus
    fn aclrtQueryEventWaitStatus(event: abi::aclrtEvent, status: *mut abi::aclrtEventWaitStatus)
        => {
            if event.is_null() {
                return Err(Error::null("event"));
            }
            put(status, "status", || event::wait_status(event as u64))
        };
    /// aclrtSynchronizeEvent
    fn aclrtSynchronizeEvent(event: abi::aclrtEvent) => event::synchronize(event as u64, None);
    /// aclrtSynchronizeEventWithTimeout
    fn aclrtSynchronizeEventWithTimeout(event: abi::aclrtEvent, timeout: i32)
        => event::synchronize(event as u64, Some(timeout));
    /// aclrtEventElapsedTime
    fn aclrtEventElapsedTime(
        ms: *mut f32,
        startEvent: abi::aclrtEvent,
        endEvent: abi::aclrtEvent,
    ) => put(ms, "ms", || event::elapsed(startEvent as u64, endEvent as u64));
    /// aclrtEventGetTimestamp
    fn aclrtEventGetTimestamp(event: abi::aclrtEvent, timestamp: *mut u64)
        => put(timestamp, "timestamp", || event::timestamp(event as u64));
    /// aclrtGetEventId
    fn aclrtGetEventId(event: abi::aclrtEvent, eventId: *mut u32) => {
        if event.is_null() {
            return Err(Error::null("event"));
        }
        put(eventId, "eventId", || event::id(event as u64))
    };
    /// aclrtGetEventAvailNum
    fn aclrtGetEventAvailNum(eventCount: *mut u32) => put(eventCount, "eventCount", event::available);
    /// aclrtIpcGetEventHandle
    fn aclrtIpcGetEventHandle(event: abi::aclrtEvent, handle: *mut abi::aclrtIpcEventHandle) => {
        if event.is_null() {
            return Err(Error::null("event"));
        }
        let Some(place) = place(handle) else { return Err(Error::null("handle")) };
        let name = event::ipc_handle(event as u64)?;
        place.reserved = [0; 64];
        for (to, from) in place.reserved.iter_mut().zip(name.bytes().take(63)) {
            *to = from as core::ffi::c_char;
        }
        Ok(())
    };
    /// aclrtIpcOpenEventHandle
    fn aclrtIpcOpenEventHandle(handle: abi::aclrtIpcEventHandle, event: *mut abi::aclrtEvent) => {
        let Some(place) = address_place(event) else { return Err(Error::null("event")) };
        let bytes: Vec<u8> = handle
            .reserved
            .iter()
            .take_while(|byte| **byte != 0)
            .map(|byte| *byte as u8)
            .collect();
        *place = event::ipc_open(&String::from_utf8_lossy(&bytes))?;
        Ok(())
    };
}
