//! Captures of tasks that wait for, or make, numbers: count notifies, random numbers, values.

use super::graph::*;
use super::random_numbers::{Bench, UNIFORM};
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut list = Vec::new();
    for (id, schedule) in [
        ("x.graph.count_notifies", "fifo"),
        ("x.graph.count_notifies.eager", "eager"),
        ("x.graph.count_notifies.lazy", "lazy"),
        ("x.graph.count_notifies.random_1", "random:1"),
        ("x.graph.count_notifies.random_77", "random:77"),
        ("x.graph.count_notifies.random_4242", "random:4242"),
    ] {
        let setup = Setup::device0().profile("950");
        list.push(case(id, setup.env("CANNERY_SCHEDULE", schedule), counts));
    }
    under_schedules!(list, "x.graph.random_numbers", |t| {
        // The counter goes on from run to run: the numbers of the runs are those of as many calls.
        let bench = Bench::new(t);
        let s = bench.s;
        let n = 300_001;
        let bytes = 4 * n;
        let room = t.malloc(bytes, ACL_MEM_MALLOC_HUGE_FIRST);
        let mut task = bench.floats(UNIFORM, -1.0, 1.0, 77, n);
        task.randomResultAddr = room;
        let queue = || {
            let code = aclrtRandomNumAsync(&raw const task, s, null_mut());
            t.ok(code, "aclrtRandomNumAsync");
        };
        let mut want = Vec::new();
        for _ in 0..3 {
            queue();
            t.sync(s);
            want.push(t.download(room, bytes));
        }
        t.check(
            want[0] != want[1] && want[1] != want[2],
            "the numbers go on",
        );
        t.upload(bench.counter, &[0; 16]);
        let (out, _) = t.pinned(bytes);
        let model = t.model(s, || {
            queue();
            t.copy_async(out, room, bytes, s);
        });
        t.holds(bench.counter, &[0; 16], "the counter before the first run");
        for numbers in &want {
            t.replay(model, s);
            t.sync(s);
            t.same_bytes(&host_read(out, bytes), numbers, "the numbers of a run");
        }
        t.destroy_model(model);
    });
    under_schedules!(list, "x.graph.values.across_runs", |t| {
        // Two models that wait for each other by values, run by run.
        let (s, r) = (t.stream(), t.stream());
        let cells = t.malloc(16, ACL_MEM_MALLOC_NORMAL_ONLY);
        let (ask, answer) = (cells, off(cells, 8));
        t.upload(cells, &[0; 16]);
        let write = |at, value, own| t.ok(aclrtValueWrite(at, value, 0, own), "aclrtValueWrite");
        let wait = |at, own| {
            let code = aclrtValueWait(at, 1, ACL_STREAM_WAIT_VALUE_EQ, own);
            t.ok(code, "aclrtValueWait");
        };
        let (h, _) = t.pinned(LEN);
        let (out, _) = t.pinned(LEN);
        let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
        let first = t.model(s, || {
            t.copy_async(a, h, LEN, s);
            write(ask, 1, s);
            wait(answer, s);
            write(answer, 0, s);
        });
        let second = t.model(r, || {
            wait(ask, r);
            t.copy_async(out, a, LEN, r);
            write(ask, 0, r);
            write(answer, 1, r);
        });
        for round in 0..6 {
            let bytes = t.refill(h);
            if round % 2 == 0 {
                t.replay(second, r);
                t.replay(first, s);
            } else {
                t.replay(first, s);
                t.replay(second, r);
            }
            t.sync(s);
            t.sync(r);
            t.same_bytes(
                &host_read(out, LEN),
                &bytes,
                "what went from one to the other",
            );
            t.holds(cells, &[0; 16], "the cells");
        }
        // Several runs that are queued at a time follow each other.
        let bytes = t.refill(h);
        for _ in 0..4 {
            t.replay(second, r);
            t.replay(first, s);
        }
        t.sync(r);
        t.sync(s);
        t.same_bytes(&host_read(out, LEN), &bytes, "after four at a time");
        t.destroy_model(first);
        t.destroy_model(second);
    });
    list.push(case("x.graph.notify_timeout", Setup::device0(), |t| {
        // The time of a wait begins anew with each run, however long ago it was captured.
        let (s, r) = (t.stream(), t.stream());
        let n = t.notify();
        let (p, _) = t.filled(LEN);
        let model = t.model(s, || {
            let code = aclrtWaitAndResetNotify(n, s, 3);
            t.ok(code, "aclrtWaitAndResetNotify");
            t.ok(aclrtMemsetAsync(p, LEN, 8, LEN, s), "aclrtMemsetAsync");
        });
        std::thread::sleep(std::time::Duration::from_millis(3100));
        t.replay(model, s);
        t.check(!t.is_idle(s), "the wait was over");
        t.ok(aclrtRecordNotify(n, r), "aclrtRecordNotify");
        t.sync(s);
        t.holds(p, &vec![8; LEN], "behind the wait");
        // And it ends.
        t.replay(model, s);
        let timeout = i64::from(ACL_ERROR_RT_TASK_TIMEOUT);
        t.fails(aclrtSynchronizeStream(s), timeout, "a wait for nothing");
        t.destroy_model(model);
    }));
    list
}

/// Runs of two models make up what a third one waits for, and takes away.
fn counts(t: &T) {
    let mut n = SENTINEL;
    t.ok(aclrtCntNotifyCreate(&raw mut n, 0), "aclrtCntNotifyCreate");
    let (s, r) = (t.stream(), t.stream());
    let (h, _) = t.pinned(LEN);
    let (out, _) = t.pinned(LEN);
    let a = t.malloc(LEN, ACL_MEM_MALLOC_HUGE_FIRST);
    let add = |value| {
        let mut info = aclrtCntNotifyRecordInfo {
            mode: ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE,
            value,
        };
        let code = aclrtCntNotifyRecord(n, s, &raw mut info);
        t.ok(code, "aclrtCntNotifyRecord");
    };
    let one = t.model(s, || {
        t.copy_async(a, h, LEN, s);
        add(1);
    });
    let five = t.model(s, || add(5));
    let reader = t.model(r, || {
        let mut info = aclrtCntNotifyWaitInfo {
            mode: ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE,
            value: 7,
            timeout: 0,
            isClear: 1,
            rsv: [0; 3],
        };
        let code = aclrtCntNotifyWaitWithTimeout(n, r, &raw mut info);
        t.ok(code, "aclrtCntNotifyWaitWithTimeout");
        t.copy_async(out, a, LEN, r);
    });
    for _ in 0..5 {
        let bytes = t.refill(h);
        t.replay(reader, r);
        t.replay(one, s);
        t.replay(five, s);
        t.sync(s);
        t.check(!t.is_idle(r), "the wait was over at 6");
        t.replay(one, s);
        t.sync(r);
        t.same_bytes(&host_read(out, LEN), &bytes, "behind the count");
        t.sync(s);
    }
    // A reset is captured, too.
    let reset = t.model(s, || {
        add(3);
        t.ok(aclrtCntNotifyReset(n, s), "aclrtCntNotifyReset");
        add(2);
    });
    let old = host_read(out, LEN);
    t.refill(h);
    t.replay(reader, r);
    t.replay(reset, s);
    t.sync(s);
    t.check(!t.is_idle(r), "the wait was over at 2");
    t.replay(five, s);
    t.sync(r);
    t.same_bytes(&host_read(out, LEN), &old, "nothing else was copied in");
    t.sync(s);
    for model in [one, five, reader, reset] {
        t.destroy_model(model);
    }
}
