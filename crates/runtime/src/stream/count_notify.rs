//! Manual chapter: counting notifies.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use cannery_abi as abi;

use super::Stream;
use super::engine::{self, bring_on};
use super::event::bad_handle;
use super::manage::stream_of_call;
use super::task::Task;
use crate::error::{Error, Result};
use crate::os::lock::QuickLock;
use crate::process::{current, here};
use crate::registry::Registry;

pub(crate) static COUNTERS: Registry<Counter> = Registry::new(0xd4);

/// The count that queued tasks share with the notify.
#[derive(Default)]
pub(crate) struct Count {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    value: u32,
    waiting: Vec<&'static Stream>,
}

/// What a wait waits for.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// aclrtCntNotifyWaitMode.
    pub mode: i32,
    /// Compared with the count.
    pub value: u32,
    /// Whether the count becomes 0 afterwards.
    pub clear: bool,
}

impl Condition {
    fn holds(&self, count: u32) -> bool {
        match self.mode {
            abi::ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE => count < self.value,
            abi::ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE => count == self.value,
            abi::ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE => count > self.value,
            abi::ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE => count >= self.value,
            _ => count & self.value == self.value,
        }
    }
}

impl Count {
    /// A record was reached.
    pub(crate) fn record(&self, mode: i32, value: u32) {
        let waiting = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.value = match mode {
                abi::ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE => value,
                abi::ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE => state.value.wrapping_add(value),
                abi::ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE => state.value | value,
                _ => state.value & value,
            };
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(bring_on);
    }

    /// True when the condition holds; else `stream` is brought on at the next record.
    pub(crate) fn take_or_wait(&self, condition: &Condition, stream: &'static Stream) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if condition.holds(state.value) {
            if condition.clear {
                state.value = 0;
            }
            return true;
        }
        if !state
            .waiting
            .iter()
            .any(|other| std::ptr::eq(*other, stream))
        {
            state.waiting.push(stream);
        }
        false
    }
}

#[derive(Default)]
pub(crate) struct Counter {
    count: QuickLock<Arc<Count>>,
}

fn find(handle: u64) -> Result<&'static Counter> {
    if handle == 0 {
        return Err(Error::null("cntNotify"));
    }
    // A forked child is refused here: objects of the parent would be waited for in vain.
    current()?;
    COUNTERS
        .find(handle)
        .ok_or_else(|| bad_handle("cntNotify", handle, "CntNotify"))
}

/// aclrtCntNotifyCreate.
///
/// # Errors
/// 107000 for flags; 107002 without a context; 207009 when none is left.
pub fn create(flag: u64) -> Result<u64> {
    if flag != 0 {
        return Err(Error::rt_value("flag", flag, "0, it is reserved"));
    }
    here()?;
    let made = COUNTERS.create(|counter| {
        *counter.count.lock() = Arc::default();
    });
    made.ok_or_else(|| {
        Error::sequence(
            abi::ACL_ERROR_RT_NO_NOTIFY_RESOURCE,
            "too many counting notifies are alive",
        )
    })
}

/// aclrtCntNotifyDestroy.
///
/// # Errors
/// 100000 for NULL, 107017 for what is no living counting notify.
pub fn destroy(handle: u64) -> Result<()> {
    find(handle)?;
    if !COUNTERS.end(handle) {
        return Err(bad_handle("cntNotify", handle, "CntNotify"));
    }
    COUNTERS.recycle(handle);
    Ok(())
}

/// aclrtCntNotifyRecord: queued.
///
/// # Errors
/// 100000 for NULL; 107017; 107000 for modes; 107002, 107003.
pub fn record(handle: u64, stream: u64, mode: i32, value: u32) -> Result<()> {
    let counter = find(handle)?;
    if !matches!(mode, 0 | 1 | 2 | 4) {
        return Err(Error::rt_value("info->mode", mode, "0, 1, 2 or 4"));
    }
    let (_, stream) = stream_of_call("stream", stream)?;
    let count = counter.count.lock().clone();
    engine::submit(stream, Task::Count { count, mode, value });
    Ok(())
}

/// aclrtCntNotifyReset: queued.
///
/// # Errors
/// As [`record`].
pub fn reset(handle: u64, stream: u64) -> Result<()> {
    record(
        handle,
        stream,
        abi::ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE,
        0,
    )
}

/// aclrtCntNotifyWaitWithTimeout: queued; timeout in seconds, 0 for ever.
///
/// # Errors
/// As [`record`].
pub fn wait(handle: u64, stream: u64, condition: Condition, timeout_s: u32) -> Result<()> {
    let counter = find(handle)?;
    if !(0..=4).contains(&condition.mode) {
        return Err(Error::rt_value(
            "info->mode",
            condition.mode,
            "a value in [0, 4]",
        ));
    }
    let (_, stream) = stream_of_call("stream", stream)?;
    let count = counter.count.lock().clone();
    let until: Option<Instant> = super::notify::deadline(timeout_s);
    engine::submit(
        stream,
        Task::CountWait {
            count,
            condition,
            until,
        },
    );
    Ok(())
}

/// aclrtCntNotifyGetId.
///
/// # Errors
/// 100000 for NULL, 107017.
pub fn id(handle: u64) -> Result<u32> {
    find(handle)?;
    Ok(COUNTERS.place_of(handle))
}
