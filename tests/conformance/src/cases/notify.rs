//! Notifies: one-shot flags between streams.

use super::gate::*;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = arguments();
    cases.extend(keys());
    cases.extend(order());
    cases.extend(own());
    cases
}

/// Records a notify on a stream.
fn record(t: &T, n: aclrtNotify, s: aclrtStream) {
    t.ok(aclrtRecordNotify(n, s), "aclrtRecordNotify");
}

/// Queues a wait without limit.
fn wait(t: &T, n: aclrtNotify, s: aclrtStream) {
    t.ok(aclrtWaitAndResetNotify(n, s, 0), "aclrtWaitAndResetNotify");
}

fn arguments() -> Vec<Case> {
    vec![
        case("notify.batch_reset.null", Setup::device0(), |t| {
            t.ret(aclrtNotifyBatchReset(null_mut(), 1));
        }),
        case("notify.batch_reset.zero", Setup::device0(), |t| {
            let (s, n) = (t.stream(), t.notify());
            record(t, n, s);
            t.sync(s);
            t.ret(aclrtNotifyBatchReset([n].as_mut_ptr(), 0));
            // Nothing was reset: the wait goes through.
            wait(t, n, s);
            t.sync(s);
        }),
        case("notify.create.no_context", Setup::init(), |t| {
            let mut n = SENTINEL;
            t.fails(
                aclrtCreateNotify(&raw mut n, 2),
                ERROR_PARAM,
                "a bad flag without a context",
            );
            t.ret(aclrtCreateNotify(&raw mut n, 0));
            t.eq(n, SENTINEL, "output");
        }),
        case("notify.create.null", Setup::device0(), |t| {
            t.ret(aclrtCreateNotify(null_mut(), 0));
        }),
        case("notify.destroy.null", Setup::device0(), |t| {
            t.ret(aclrtDestroyNotify(null_mut()));
        }),
        case("notify.destroy.twice", Setup::device0(), |t| {
            let n = t.notify();
            t.ok(aclrtDestroyNotify(n), "aclrtDestroyNotify");
            t.ret(aclrtDestroyNotify(n));
        }),
        case("notify.record.null", Setup::device0(), |t| {
            let s = t.stream();
            t.ret(aclrtRecordNotify(null_mut(), s));
        }),
        case("notify.wait.other_context", Setup::device0(), |t| {
            let s = t.foreign_stream();
            let n = t.notify();
            t.ret(aclrtWaitAndResetNotify(n, s, 0));
            t.sync(s);
        }),
    ]
}

/// Room for a key.
const KEY: usize = 65;

fn keys() -> Vec<Case> {
    vec![
        case("notify.export.null_key", Setup::device0(), |t| {
            let n = t.notify();
            t.ret(aclrtNotifyGetExportKey(n, null_mut(), KEY, 0));
        }),
        case("notify.export.zero_len", Setup::device0(), |t| {
            let n = t.notify();
            let mut key = [0x77; KEY];
            t.ret(aclrtNotifyGetExportKey(n, key.as_mut_ptr(), 0, 0));
            t.eq(key, [0x77; KEY], "output");
        }),
        case("notify.import.null_key", Setup::device0(), |t| {
            let mut n = SENTINEL;
            t.ret(aclrtNotifyImportByKey(&raw mut n, null(), 0));
            t.eq(n, SENTINEL, "output");
        }),
        case("x.notify.unknown_keys", Setup::device0(), |t| {
            for key in [c"", c"nothing", c"../../etc/passwd", c"1-00000000"] {
                let mut n = SENTINEL;
                let code = aclrtNotifyImportByKey(&raw mut n, key.as_ptr(), 0);
                t.fails(code, ERROR_PARAM, &format!("key {key:?}"));
                t.eq(n, SENTINEL, "output");
            }
        }),
    ]
}

fn order() -> Vec<Case> {
    vec![case("notify.wait.then_record", Setup::device0(), |t| {
        let (s1, s2) = (t.stream(), t.stream());
        let n = t.notify();
        wait(t, n, s1);
        let first = t.counted(s1);
        first.stays_uncalled(t, "calls before the record");
        record(t, n, s2);
        t.ret(aclrtSynchronizeStream(s1));
        t.eq(first.calls(), 1, "calls after the record");
        // The wait took it: a second one blocks until there is another record.
        wait(t, n, s1);
        let second = t.counted(s1);
        second.stays_uncalled(t, "calls before the second record");
        t.check(!t.is_idle(s1), "the stream is idle");
        record(t, n, s2);
        t.sync(s1);
        t.eq(second.calls(), 1, "calls after the second record");
    })]
}

fn own() -> Vec<Case> {
    vec![
        case("x.notify.record_first", Setup::device0(), |t| {
            let (s1, s2) = (t.stream(), t.stream());
            let n = t.notify();
            record(t, n, s2);
            t.sync(s2);
            wait(t, n, s1);
            t.sync(s1);
            // Two records are one flag.
            record(t, n, s2);
            record(t, n, s2);
            t.sync(s2);
            wait(t, n, s1);
            t.sync(s1);
            wait(t, n, s1);
            let counter = t.counted(s1);
            counter.stays_uncalled(t, "calls behind the wait without a record");
            record(t, n, s2);
            t.sync(s1);
            t.eq(counter.calls(), 1, "calls behind it afterwards");
        }),
        case("x.notify.batch_reset", Setup::device0(), |t| {
            let s = t.stream();
            let all: Vec<_> = (0..5).map(|_| t.notify()).collect();
            for n in &all {
                record(t, *n, s);
            }
            t.sync(s);
            let mut list = all.clone();
            let dead = t.notify();
            t.ok(aclrtDestroyNotify(dead), "aclrtDestroyNotify");
            list.push(dead);
            let code = aclrtNotifyBatchReset(list.as_mut_ptr(), list.len());
            t.fails(code, ERROR_HANDLE, "a batch with a dead notify");
            wait(t, all[0], s);
            t.sync(s);
            let code = aclrtNotifyBatchReset(list.as_mut_ptr(), list.len() - 1);
            t.ok(code, "aclrtNotifyBatchReset");
            for n in &all {
                let s = t.stream();
                wait(t, *n, s);
                let counter = t.counted(s);
                counter.stays_uncalled(t, "calls behind a notify that was reset");
                record(t, *n, null_mut());
                t.sync(s);
                t.eq(counter.calls(), 1, "calls after a record");
            }
        }),
        case("x.notify.limit_passes", Setup::device0(), |t| {
            let s = t.stream();
            let n = t.notify();
            let code = aclrtWaitAndResetNotify(n, s, 1);
            t.ok(code, "aclrtWaitAndResetNotify");
            let code = i64::from(aclrtSynchronizeStream(s));
            let text = recent_text();
            t.check(code != 0, "the synchronisation knows nothing of it");
            t.check(text.is_some(), &format!("code {code} without a text"));
            t.sync(s);
        }),
        case("x.notify.one_waiter_goes_on", Setup::device0(), |t| {
            // Two waiters, one record: one of them goes on.
            let (a, b, s) = (t.stream(), t.stream(), t.stream());
            let n = t.notify();
            wait(t, n, a);
            wait(t, n, b);
            record(t, n, s);
            t.sync(s);
            let until = std::time::Instant::now() + std::time::Duration::from_secs(5);
            while !t.is_idle(a) && !t.is_idle(b) && std::time::Instant::now() < until {
                std::thread::yield_now();
            }
            std::thread::sleep(HOLD);
            t.check(
                t.is_idle(a) != t.is_idle(b),
                &format!("idle: a {}, b {}", t.is_idle(a), t.is_idle(b)),
            );
            record(t, n, s);
            t.sync(a);
            t.sync(b);
        }),
        case("x.notify.ids_differ", Setup::device0(), |t| {
            let id_of = |n| {
                let mut id = u32::MAX;
                t.ok(aclrtGetNotifyId(n, &raw mut id), "aclrtGetNotifyId");
                id
            };
            let (a, b, c) = (t.notify(), t.notify(), t.notify());
            let (second, third) = (id_of(b), id_of(c));
            t.ok(aclrtDestroyNotify(a), "aclrtDestroyNotify");
            let d = id_of(t.notify());
            t.check(
                second != third && d != second && d != third,
                &format!("ids of three living notifies: {second}, {third}, {d}"),
            );
        }),
        case("x.notify.limit", Setup::device0().profile("310P"), |t| {
            let all: Vec<_> = (0..1024).map(|_| t.notify()).collect();
            let mut n = SENTINEL;
            let code = aclrtCreateNotify(&raw mut n, 0);
            t.fails(code, 207_009, "the first notify too many");
            t.eq(n, SENTINEL, "output");
            for n in all {
                t.ok(aclrtDestroyNotify(n), "aclrtDestroyNotify");
            }
            let s = t.stream();
            let n = t.notify();
            record(t, n, s);
            wait(t, n, s);
            t.sync(s);
        }),
    ]
}
