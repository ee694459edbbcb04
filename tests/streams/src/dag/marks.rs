//! Events and notifies of a world, with what they stand for.

use cannery_abi::*;

use super::clock::{Clock, Task};
use crate::api::*;
use crate::make;

/// An event.
pub(crate) struct Event {
    pub(crate) handle: aclrtEvent,
    /// Made by aclrtCreateEventExWithFlag.
    pub(crate) ex: bool,
    /// The newest record, with what is over once it is reached.
    pub(crate) record: Option<(Task, Clock)>,
    /// Waits that were queued for it, and resets.
    pub(crate) users: Vec<Task>,
    /// The newest thing that happened to it is a reset.
    pub(crate) reset: Option<Task>,
}

impl Event {
    pub(crate) fn new(ex: bool) -> Self {
        Self {
            handle: make::event(ex),
            ex,
            record: None,
            users: Vec::new(),
            reset: None,
        }
    }

    /// Whether a stream that knows `clock` may record it: always for Ex events; others only when
    /// nothing queued needs their present state any more.
    pub(crate) fn may_record(&self, clock: &Clock) -> bool {
        self.ex || self.is_unused_after(clock)
    }

    /// Whether everything queued about it is over by then.
    pub(crate) fn is_unused_after(&self, clock: &Clock) -> bool {
        let recorded = self
            .record
            .as_ref()
            .is_none_or(|(task, _)| clock.covers(*task));
        recorded && self.users.iter().all(|task| clock.covers(*task))
    }

    /// The status that it must have for a program that knows `clock`; `None` when both are right.
    pub(crate) fn status(&self, clock: &Clock) -> Option<aclrtEventRecordedStatus> {
        match (&self.record, self.reset) {
            (Some((task, _)), _) if clock.covers(*task) => Some(ACL_EVENT_RECORDED_STATUS_COMPLETE),
            (Some(_), _) => None,
            (None, Some(task)) if !clock.covers(task) => None,
            (None, _) if self.ex => Some(ACL_EVENT_RECORDED_STATUS_COMPLETE),
            (None, _) => Some(ACL_EVENT_RECORDED_STATUS_NOT_READY),
        }
    }

    /// Destroys it, whatever is queued about it.
    pub(crate) fn destroy(self) {
        ok(aclrtDestroyEvent(self.handle), "aclrtDestroyEvent");
    }
}

/// A notify.
pub(crate) struct Notify {
    pub(crate) handle: aclrtNotify,
    /// The last wait, which resets it.
    pub(crate) wait: Option<Task>,
}

impl Notify {
    pub(crate) fn new() -> Self {
        Self {
            handle: make::notify(),
            wait: None,
        }
    }

    /// Whether the last wait is over for a stream that knows `clock`.
    pub(crate) fn is_free_after(&self, clock: &Clock) -> bool {
        self.wait.is_none_or(|task| clock.covers(task))
    }
}

/// A wait for a notify that nobody has recorded yet: `stream` stands until `by` records it.
pub(crate) struct Stall {
    pub(crate) stream: usize,
    pub(crate) by: usize,
    pub(crate) notify: usize,
}
