//! What views of a buffer share with it; and the work that it knows of: the stream and its events.

use std::sync::Arc;

use cannery_abi::{ACL_EVENT_RECORDED_STATUS_COMPLETE, aclrtEvent, aclrtStream};

use crate::context::Context;
use crate::error::Result;
use crate::lane::Work;

/// A stream as C has it.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) raw: aclrtStream,
    pub(crate) context: Arc<Context>,
}

// SAFETY: streams may be used from any thread (manual, stream chapter).
unsafe impl Send for Queue {}
// SAFETY: as above.
unsafe impl Sync for Queue {}

pub(crate) type Lane = crate::lane::Lane<Queue>;
pub(crate) type Uses = crate::uses::Uses<Queue>;

/// An event behind queued work. It goes back to its context when nobody needs it any more.
#[derive(Debug)]
pub(crate) struct Mark {
    event: aclrtEvent,
    context: Arc<Context>,
}

// SAFETY: events may be recorded, queried and awaited from any thread (manual, event chapter).
unsafe impl Send for Mark {}
// SAFETY: as above.
unsafe impl Sync for Mark {}

impl Drop for Mark {
    fn drop(&mut self) {
        self.context.give_event(self.event);
    }
}

impl Work for Queue {
    type Mark = Arc<Mark>;

    #[track_caller]
    fn record(&self) -> Result<Arc<Mark>> {
        let mark = Mark {
            event: self.context.take_event()?,
            context: Arc::clone(&self.context),
        };
        self.context.call("aclrtRecordEvent", |table| {
            // SAFETY: the event is alive; the lane asks only while the stream is.
            unsafe { (table.aclrtRecordEvent)(mark.event, self.raw) }
        })?;
        Ok(Arc::new(mark))
    }

    #[track_caller]
    fn drain(&self) -> Result<()> {
        self.context.call("aclrtSynchronizeStream", |table| {
            // SAFETY: the lane asks only while the stream is alive.
            unsafe { (table.aclrtSynchronizeStream)(self.raw) }
        })
    }

    #[track_caller]
    fn wait(&self, mark: &Arc<Mark>) -> Result<()> {
        mark.context.call("aclrtSynchronizeEvent", |table| {
            // SAFETY: the event is alive.
            unsafe { (table.aclrtSynchronizeEvent)(mark.event) }
        })
    }

    #[track_caller]
    fn is_done(&self, mark: &Arc<Mark>) -> Result<bool> {
        let mut status = 0;
        mark.context.call("aclrtQueryEventStatus", |table| {
            // SAFETY: the event is alive, the place valid.
            unsafe { (table.aclrtQueryEventStatus)(mark.event, &raw mut status) }
        })?;
        Ok(status == ACL_EVENT_RECORDED_STATUS_COMPLETE)
    }

    #[track_caller]
    fn hold(&self, mark: &Arc<Mark>) -> Result<()> {
        self.context.call("aclrtStreamWaitEvent", |table| {
            // SAFETY: both handles are alive.
            unsafe { (table.aclrtStreamWaitEvent)(self.raw, mark.event) }
        })
    }
}

/// What views of a buffer share with it.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) context: Arc<Context>,
    pub(crate) uses: Uses,
}

impl Shared {
    pub(crate) fn new(context: &Arc<Context>) -> Shared {
        Shared {
            context: Arc::clone(context),
            uses: Uses::default(),
        }
    }
}
