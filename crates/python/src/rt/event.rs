//! Events: points in the work of a stream. Mind which status query counts which way.

use crate::c_api::{Memory, at};
use crate::calls::calls;
use crate::convert::{Bits32, Int, Word};

calls! {
    also [];

    /// event, ret = create_event()
    fn create_event() -> (event: Memory) = aclrtCreateEvent(&raw mut event);

    /// event, ret = create_event_with_flag(flag): bits 1 sync, 2 capture progress, 8 timeline.
    fn create_event_with_flag(flag: Bits32) -> (event: Memory) = aclrtCreateEventWithFlag(&raw mut event, flag);

    /// event, ret = create_event_ex_with_flag(flag): an event that can be recorded again.
    fn create_event_ex_with_flag(flag: Bits32) -> (event: Memory) = aclrtCreateEventExWithFlag(&raw mut event, flag);

    /// ret = destroy_event(event): never waits.
    fn destroy_event(event: Word) -> code = aclrtDestroyEvent(at(event));

    /// ret = record_event(event, stream): event first.
    fn record_event(event: Word, stream: Word) -> code = aclrtRecordEvent(at(event), at(stream));

    /// ret = reset_event(event, stream): queued; only events with the sync bit.
    fn reset_event(event: Word, stream: Word) -> code = aclrtResetEvent(at(event), at(stream));

    /// status, ret = query_event(event): 0 complete, 1 not ready. Use query_event_status.
    fn query_event(event: Word) -> (status: i32) = aclrtQueryEvent(at(event), &raw mut status);

    /// status, ret = query_event_status(event): 0 not ready, 1 complete.
    fn query_event_status(event: Word) -> (status: i32) = aclrtQueryEventStatus(at(event), &raw mut status);

    /// status, ret = query_event_wait_status(event): 0 complete, 1 not ready.
    fn query_event_wait_status(event: Word) -> (status: i32) = aclrtQueryEventWaitStatus(at(event), &raw mut status);

    /// ret = synchronize_event(event): wait for it; other threads run meanwhile.
    fn synchronize_event(event: Word) -> wait = aclrtSynchronizeEvent(at(event));

    /// ret = synchronize_event_with_timeout(event, timeout): milliseconds, -1 for ever; 507047 when it expires.
    fn synchronize_event_with_timeout(event: Word, timeout: Int) -> wait = aclrtSynchronizeEventWithTimeout(
        at(event),
        timeout,
    );

    /// ms, ret = event_elapsed_time(start, end): milliseconds between two events.
    fn event_elapsed_time(start: Word, end: Word) -> (ms: f32) = aclrtEventElapsedTime(
        &raw mut ms,
        at(start),
        at(end),
    );

    /// timestamp, ret = event_get_timestamp(event): microseconds since the device started.
    fn event_get_timestamp(event: Word) -> (timestamp: u64) = aclrtEventGetTimestamp(at(event), &raw mut timestamp);

    /// event_id, ret = get_event_id(event)
    fn get_event_id(event: Word) -> (event_id: u32) = aclrtGetEventId(at(event), &raw mut event_id);

    /// event_count, ret = get_event_avail_num(): how many more can be recorded.
    fn get_event_avail_num() -> (event_count: u32) = aclrtGetEventAvailNum(&raw mut event_count);

    /// ret = stream_wait_event(stream, event): stream first; queued, the caller goes on.
    fn stream_wait_event(stream: Word, event: Word) -> wait = aclrtStreamWaitEvent(at(stream), at(event));
}
