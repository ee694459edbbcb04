//! Captured models: what they hold and what a run does; and what the bodies about models share.

use super::gate::*;
use super::kernel::AddArgs;
use super::support::*;

pub(super) const GLOBAL: aclmdlRICaptureMode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
pub(super) const THREAD_LOCAL: aclmdlRICaptureMode = ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
pub(super) const RELAXED: aclmdlRICaptureMode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;

pub(super) const UNJOINED: i64 = ACL_ERROR_RT_STREAM_UNJOINED as i64;
pub(super) const DEPENDENCY: i64 = ACL_ERROR_RT_CAPTURE_DEPENDENCY as i64;
pub(super) const MODEL_CAPTURED: i64 = ACL_ERROR_RT_MODEL_CAPTURED as i64;
pub(super) const STREAM_CAPTURED: i64 = ACL_ERROR_RT_STREAM_CAPTURED as i64;
pub(super) const EVENT_CAPTURED: i64 = ACL_ERROR_RT_EVENT_CAPTURED as i64;
pub(super) const NOT_CAPTURED: i64 = ACL_ERROR_RT_STREAM_NOT_CAPTURED as i64;
pub(super) const MODE: i64 = ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT as i64;
pub(super) const IMPLICIT: i64 = ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT as i64;
pub(super) const CONFLICT: i64 = ACL_ERROR_STREAM_CAPTURE_CONFLICT as i64;
pub(super) const GROUP_STATE: i64 = ACL_ERROR_STREAM_TASK_GROUP_STATUS as i64;
pub(super) const GROUP_INTERRUPTED: i64 = ACL_ERROR_STREAM_TASK_GROUP_INTR as i64;
pub(super) const UNMATCHED: i64 = ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED as i64;
pub(super) const RUNNING: i64 = ACL_ERROR_RT_MODEL_RUNNING as i64;
pub(super) const WRONG_THREAD: i64 = ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD as i64;
pub(super) const DEAD: i64 = ACL_ERROR_RT_INVALID_HANDLE as i64;
pub(super) const TOO_SMALL: i64 = ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY as i64;
pub(super) const UPDATE_FAILED: i64 = ACL_ERROR_RT_MODEL_UPDATE_FAILED as i64;
pub(super) const BLOCKING: i64 = ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC as i64;
pub(super) const INVALIDATED: i64 = ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED as i64;
pub(super) const KIND: i64 = ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT as i64;
pub(super) const TOO_LATE: i64 = ACL_ERROR_RT_STREAM_SYNC_TIMEOUT as i64;

/// Bytes of the buffers: no whole number of pages.
pub(super) const LEN: usize = MIB + 4099;

/// Registers one body under every schedule.
macro_rules! under_schedules {
    ($list:ident, $id:literal, $body:expr) => {
        for (id, schedule) in [
            ($id, "fifo"),
            (concat!($id, ".eager"), "eager"),
            (concat!($id, ".lazy"), "lazy"),
            (concat!($id, ".random_1"), "random:1"),
            (concat!($id, ".random_77"), "random:77"),
            (concat!($id, ".random_4242"), "random:4242"),
        ] {
            $list.push(case(
                id,
                Setup::device0().env("CANNERY_SCHEDULE", schedule),
                $body,
            ));
        }
    };
}
pub(super) use under_schedules;

impl T {
    /// Begins a capture.
    pub(super) fn begin(&self, s: aclrtStream, mode: aclmdlRICaptureMode) {
        self.ok(aclmdlRICaptureBegin(s, mode), "aclmdlRICaptureBegin");
    }

    /// Ends a capture.
    pub(super) fn end(&self, s: aclrtStream) -> aclmdlRI {
        let mut model = SENTINEL;
        self.ok(aclmdlRICaptureEnd(s, &raw mut model), "aclmdlRICaptureEnd");
        model
    }

    /// A capture that must fail at its end, and leaves no model.
    pub(super) fn end_fails(&self, s: aclrtStream, want: i64, tokens: &str, what: &str) {
        let mut model = SENTINEL;
        let code = aclmdlRICaptureEnd(s, &raw mut model);
        self.fails_with(code, want, tokens, what);
        self.eq(model, null_mut(), "the model of a failed capture");
        self.eq(
            self.capture_status(s),
            ACL_MODEL_RI_CAPTURE_STATUS_NONE,
            "status afterwards",
        );
        self.sync(s);
    }

    /// Captures what `body` queues.
    pub(super) fn model(&self, s: aclrtStream, body: impl FnOnce()) -> aclmdlRI {
        self.begin(s, GLOBAL);
        body();
        self.end(s)
    }

    /// Queues a run.
    pub(super) fn replay(&self, model: aclmdlRI, s: aclrtStream) {
        self.ok(aclmdlRIExecuteAsync(model, s), "aclmdlRIExecuteAsync");
    }

    /// Destroys a model.
    pub(super) fn destroy_model(&self, model: aclmdlRI) {
        self.ok(aclmdlRIDestroy(model), "aclmdlRIDestroy");
    }

    /// The status of a stream.
    pub(super) fn capture_status(&self, s: aclrtStream) -> aclmdlRICaptureStatus {
        let mut status = -77;
        let code = aclmdlRICaptureGetInfo(s, &raw mut status, null_mut());
        self.ok(code, "aclmdlRICaptureGetInfo");
        status
    }

    /// New random bytes for pinned memory.
    pub(super) fn refill(&self, h: *mut c_void) -> Vec<u8> {
        let bytes = self.random_bytes(LEN);
        host_write(h, &bytes);
        bytes
    }

    /// `from` waits for nothing; `to` waits for what `from` has.
    pub(super) fn link(&self, from: aclrtStream, to: aclrtStream) {
        let e = self.event_ex(ACL_EVENT_SYNC);
        self.record(e, from);
        self.wait_event(to, e);
        self.ok(aclrtDestroyEvent(e), "aclrtDestroyEvent");
    }

    /// The tasks of a stream of a model.
    pub(super) fn tasks(&self, s: aclrtStream) -> Vec<aclmdlRITask> {
        let mut count = 0;
        let code = aclmdlRIGetTasksByStream(s, null_mut(), &raw mut count);
        self.ok(code, "aclmdlRIGetTasksByStream for the number");
        let mut tasks = vec![SENTINEL; count as usize];
        let code = aclmdlRIGetTasksByStream(s, tasks.as_mut_ptr(), &raw mut count);
        self.ok(code, "aclmdlRIGetTasksByStream");
        self.eq(count as usize, tasks.len(), "number of tasks");
        tasks
    }
}

pub(super) fn cases() -> Vec<Case> {
    runs()
}

fn runs() -> Vec<Case> {
    let mut list = Vec::new();
    under_schedules!(list, "x.graph.copies", |t| {
        let s = t.stream();
        let (h, old) = t.pinned(LEN);
        let (out, untouched) = t.pinned(LEN);
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let b = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let before = t.filled(LEN);
        let model = t.model(s, || {
            t.copy_async(a, h, LEN, s);
            t.copy_async(b, a, LEN, s);
            t.copy_async(before.0, b, LEN, s);
            t.copy_async(out, before.0, LEN, s);
        });
        // Captured is not run.
        t.holds(before.0, &before.1, "memory before the first run");
        t.same_bytes(
            &host_read(out, LEN),
            &untouched,
            "host memory before the first run",
        );
        t.replay(model, s);
        t.sync(s);
        t.same_bytes(&host_read(out, LEN), &old, "the first run");
        for _ in 0..10 {
            let bytes = t.refill(h);
            t.replay(model, s);
            t.sync(s);
            t.same_bytes(&host_read(out, LEN), &bytes, "a run");
            t.holds(b, &bytes, "device memory");
        }
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.behind_and_before_the_queue", |t| {
        // A run stands where it was queued: behind the work before it, in front of the work after it.
        let s = t.stream();
        let (h, bytes) = t.pinned(LEN);
        let (out, _) = t.pinned(LEN);
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let b = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let model = t.model(s, || {
            let r = t.stream();
            t.link(s, r);
            t.copy_async(b, a, LEN, r);
            t.link(r, s);
        });
        for value in 0..8 {
            t.copy_async(a, h, LEN, s);
            t.replay(model, s);
            t.ok(aclrtMemsetAsync(a, LEN, value, LEN, s), "aclrtMemsetAsync");
            t.copy_async(out, b, LEN, s);
            t.replay(model, s);
        }
        t.sync(s);
        t.same_bytes(&host_read(out, LEN), &bytes, "what the run saw");
        t.holds(b, &vec![7; LEN], "the last run");
    });
    under_schedules!(list, "x.graph.every_kind_of_task", every_kind);
    under_schedules!(list, "x.graph.kernels", |t| {
        let s = t.stream();
        let function = t.add_kernel();
        let (p, mut bytes) = t.filled(LEN);
        let model = t.model(s, || {
            for addend in [3, 4] {
                let args = AddArgs {
                    at: p,
                    bytes: LEN as u64,
                    addend,
                };
                t.ok(t.launch_add(function, 5, args, s), "a kernel");
            }
        });
        t.holds(p, &bytes, "memory before the first run");
        for _ in 0..4 {
            t.replay(model, s);
        }
        t.sync(s);
        for byte in &mut bytes {
            *byte = byte.wrapping_add(28);
        }
        t.holds(p, &bytes, "memory after four runs");
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.notifies", |t| {
        let (s, r) = (t.stream(), t.stream());
        let n = t.notify();
        let (h, _) = t.pinned(LEN);
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let (out, _) = t.pinned(LEN);
        // One model tells the other by a notify.
        let first = t.model(s, || {
            t.copy_async(a, h, LEN, s);
            t.ok(aclrtRecordNotify(n, s), "aclrtRecordNotify");
        });
        let second = t.model(r, || {
            t.ok(aclrtWaitAndResetNotify(n, r, 0), "aclrtWaitAndResetNotify");
            t.copy_async(out, a, LEN, r);
        });
        for _ in 0..5 {
            let bytes = t.refill(h);
            t.replay(second, r);
            t.replay(first, s);
            t.sync(r);
            t.same_bytes(&host_read(out, LEN), &bytes, "behind the notify");
        }
    });
    list
}

/// Copies in a batch, two-dimensional copies, fills, reductions, values and host functions.
fn every_kind(t: &T) {
    let s = t.stream();
    let (h, bytes) = t.pinned(LEN);
    let (out, _) = t.pinned(LEN);
    let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
    let b = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
    let words = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
    let flag = t.malloc(8, ACL_MEM_MALLOC_NORMAL_ONLY);
    t.upload(flag, &[0; 8]);
    let counter = Counter::new();
    let whole = LEN / 4;
    let model = t.model(s, || {
        // Two pieces in one call.
        let half = LEN / 2;
        let mut to = [a, off(a, half)];
        let mut from = [h, off(h, half)];
        let mut room = [half, LEN - half];
        let mut sizes = room;
        let mut attrs = [aclrtMemcpyBatchAttr {
            dstLoc: aclrtMemLocation {
                id: 0,
                r#type: ACL_MEM_LOCATION_TYPE_DEVICE,
            },
            srcLoc: aclrtMemLocation {
                id: 0,
                r#type: ACL_MEM_LOCATION_TYPE_HOST,
            },
            rsv: [0; 16],
        }];
        let mut index = [0];
        let mut fail = 0;
        let code = aclrtMemcpyBatchAsync(
            to.as_mut_ptr(),
            room.as_mut_ptr(),
            from.as_mut_ptr(),
            sizes.as_mut_ptr(),
            2,
            attrs.as_mut_ptr(),
            index.as_mut_ptr(),
            1,
            &raw mut fail,
            s,
        );
        t.ok(code, "aclrtMemcpyBatchAsync");
        t.ok(aclrtMemsetAsync(b, LEN, 0, LEN, s), "aclrtMemsetAsync");
        let kind = ACL_MEMCPY_DEVICE_TO_DEVICE;
        let code = aclrtMemcpy2dAsync(b, 1000, a, 1000, 500, 1000, kind, s);
        t.ok(code, "aclrtMemcpy2dAsync");
        // words += 1 as 32-bit numbers, from a block of ones.
        let sum = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM;
        let code = aclrtReduceAsync(words, flag, 4, sum, ACL_INT32, s, null_mut());
        t.ok(code, "aclrtReduceAsync");
        t.ok(aclrtValueWrite(flag, 1, 0, s), "aclrtValueWrite");
        t.ok(aclrtValueWait(flag, 1, 1, s), "aclrtValueWait");
        t.host_function(s, Counter::function(), counter.data());
        t.copy_async(out, a, LEN, s);
    });
    t.upload(words, &vec![0; whole * 4]);
    t.eq(counter.calls(), 0, "calls before the first run");
    for run in 1..=5 {
        t.replay(model, s);
        t.sync(s);
        t.eq(counter.calls(), run, "calls of the host function");
        t.same_bytes(&host_read(out, LEN), &bytes, "the batch");
        let picture = t.download(b, 1000 * 1000);
        for row in [0, 1, 499, 999] {
            let at = row * 1000;
            t.same_bytes(&picture[at..at + 500], &bytes[at..at + 500], "a row");
            t.same_bytes(&picture[at + 500..at + 1000], &[0; 500], "beside a row");
        }
        // The first run adds the 0 that was there, later ones the 1 that it wrote.
        let sum = t.download(words, 4);
        t.same_bytes(&sum, &(run as u32 - 1).to_le_bytes(), "the sum");
        let ran = t.download(flag, 8);
        t.same_bytes(&ran, &1u64.to_le_bytes(), "the value");
    }
}

/// Parameters with nothing in them.
pub(super) fn blank_params() -> aclmdlRITaskParams {
    #[allow(unsafe_code)] // A C structure of numbers, pointers and a union of such.
    // SAFETY: zero bytes are valid for each of its members.
    unsafe {
        std::mem::zeroed()
    }
}
