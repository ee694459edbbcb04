//! Stream-ordered pools: which idle memory serves which request, and that nobody's bytes suffer.

use super::pool::{RESERVED, THRESHOLD};
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = reuse();
    cases.extend(aborted());
    cases.extend(leaving());
    cases.extend(storm());
    cases
}

const FOLLOW: aclrtMemPoolAttr = ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES;
const OPPORTUNISTIC: aclrtMemPoolAttr = ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC;
const INTERNAL: aclrtMemPoolAttr = ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES;

/// A pool with only these rules of reuse.
fn pool_with(t: &T, rules: &[aclrtMemPoolAttr]) -> aclrtMemPool {
    let mp = t.pool();
    for attr in [FOLLOW, OPPORTUNISTIC, INTERNAL] {
        let mut word = u32::from(rules.contains(&attr));
        let code = aclrtMemPoolSetAttr(mp, attr, (&raw mut word).cast());
        t.ok(code, "aclrtMemPoolSetAttr");
    }
    mp
}

fn fill(t: &T, p: *mut c_void, len: usize, value: i32, s: aclrtStream) {
    t.ok(aclrtMemsetAsync(p, len, value, len, s), "aclrtMemsetAsync");
}

fn reuse() -> Vec<Case> {
    vec![
        case("x.pool.same_stream", Setup::device0(), |t| {
            // At once, while the work before the release is still queued.
            let (mp, s) = (pool_with(t, &[]), t.stream());
            let gate = t.hold(s);
            let p = t.pooled(2 * MIB, mp, s);
            let (h1, h2) = (t.malloc_host(2 * MIB), t.malloc_host(2 * MIB));
            fill(t, p, 2 * MIB, 0x11, s);
            t.copy_async(h1, p, 2 * MIB, s);
            t.unpool(p, s);
            let q = t.pooled(2 * MIB, mp, s);
            t.eq(q, p, "the block of the same stream");
            fill(t, q, 2 * MIB, 0x22, s);
            t.copy_async(h2, q, 2 * MIB, s);
            t.eq(t.counts(mp), (2 * MIB, 2 * MIB), "reserved and used");
            gate.open();
            t.sync(s);
            t.same_bytes(
                &host_read(h1, 2 * MIB),
                &vec![0x11; 2 * MIB],
                "the first owner's",
            );
            t.same_bytes(
                &host_read(h2, 2 * MIB),
                &vec![0x22; 2 * MIB],
                "the second owner's",
            );
        }),
        case("x.pool.closest_size", Setup::device0(), |t| {
            let (mp, s) = (pool_with(t, &[]), t.stream());
            // With a block in use between them, so that they do not touch.
            let mut idle = Vec::new();
            for size in [8, 4, 200, 6, 2, 140] {
                idle.push((size, t.pooled(size * MIB, mp, s)));
                t.pooled(MIB, mp, s);
            }
            for (_, p) in &idle {
                t.unpool(*p, s);
            }
            let reserved = t.pool_attr(mp, RESERVED);
            let of = |size: usize| idle.iter().find(|(n, _)| *n == size).map(|(_, p)| *p);
            for (asked, from) in [(5, 6), (2, 2), (6, 8), (4, 4), (130, 140), (150, 200)] {
                let p = t.pooled(asked * MIB, mp, s);
                t.eq(
                    Some(p),
                    of(from),
                    &format!("{asked} MiB come from {from} MiB"),
                );
            }
            t.eq(t.pool_attr(mp, RESERVED), reserved, "reserved");
            // What was left of the pieces is not lost: 2 of 8, 10 of 140, 50 of 200.
            for (asked, after, whole) in [(2, 6, 8), (10, 130, 140), (50, 150, 200)] {
                let p = t.pooled(asked * MIB, mp, s);
                let start = of(whole).map(|start| off(start, after * MIB));
                t.eq(Some(p), start, &format!("{asked} MiB, the rest of {whole}"));
            }
            t.eq(t.counts(mp), (reserved, reserved), "reserved and used");
        }),
        case("x.pool.joins_neighbours", Setup::device0(), |t| {
            let (mp, s) = (pool_with(t, &[]), t.stream());
            let gate = t.hold(s);
            let blocks: Vec<_> = (0..4).map(|_| t.pooled(2 * MIB, mp, s)).collect();
            blocks.iter().for_each(|p| t.unpool(*p, s));
            let p = t.pooled(7 * MIB, mp, s);
            t.eq(t.counts(mp), (8 * MIB, 8 * MIB), "reserved and used");
            gate.open();
            t.sync(s);
            t.usable(p, 7 * MIB);
        }),
        case("x.pool.other_stream_strict", Setup::device0(), |t| {
            // Without any rule nothing passes from stream to stream.
            let (mp, s1, s2) = (pool_with(t, &[]), t.stream(), t.stream());
            let p = t.pooled(2 * MIB, mp, s1);
            t.unpool(p, s1);
            let e = t.event();
            t.record(e, s1);
            t.wait_event(s2, e);
            t.check(
                t.pooled(2 * MIB, mp, s2) != p,
                "another stream got the block",
            );
            t.eq(t.pooled(2 * MIB, mp, s1), p, "block of the same stream");
        }),
        case("x.pool.follows_event", Setup::device0(), |t| {
            let (mp, s1, s2) = (pool_with(t, &[FOLLOW]), t.stream(), t.stream());
            let (early, late) = (t.event_ex(ACL_EVENT_SYNC), t.event());
            let gate = t.hold(s1);
            let p = t.pooled(4 * MIB, mp, s1);
            let h = t.malloc_host(4 * MIB);
            t.record(early, s1);
            fill(t, p, 4 * MIB, 0x11, s1);
            t.copy_async(h, p, 4 * MIB, s1);
            t.unpool(p, s1);
            t.record(late, s1);
            // An event from before the release orders nothing.
            t.wait_event(s2, early);
            let other = t.pooled(4 * MIB, mp, s2);
            t.check(
                other != p,
                "the block passed over an event from before its release",
            );
            t.wait_event(s2, late);
            let q = t.pooled(4 * MIB, mp, s2);
            t.eq(q, p, "the block after the event");
            t.eq(t.pool_attr(mp, RESERVED), 8 * MIB, "reserved");
            fill(t, q, 4 * MIB, 0x22, s2);
            gate.open();
            t.sync(s2);
            t.same_bytes(
                &host_read(h, 4 * MIB),
                &vec![0x11; 4 * MIB],
                "the first owner's",
            );
            t.holds(q, &vec![0x22; 4 * MIB], "the second owner's");
        }),
        case("x.pool.follows_chain", Setup::device0(), |t| {
            // s1 -> s2 -> s3, each over an event.
            let (mp, s1) = (pool_with(t, &[FOLLOW]), t.stream());
            let (s2, s3) = (t.stream(), t.stream());
            let gate = t.hold(s1);
            let p = t.pooled(2 * MIB, mp, s1);
            t.unpool(p, s1);
            let (first, second) = (t.event(), t.event());
            t.record(first, s1);
            t.wait_event(s2, first);
            t.record(second, s2);
            t.check(t.pooled(2 * MIB, mp, s3) != p, "the block came too early");
            t.wait_event(s3, second);
            t.eq(t.pooled(2 * MIB, mp, s3), p, "the block after two events");
            gate.open();
            t.sync(s3);
        }),
        case("x.pool.follows_not_a_timeout", Setup::device0(), |t| {
            // A wait that may be given up orders nothing.
            let (mp, s1, s2) = (pool_with(t, &[FOLLOW]), t.stream(), t.stream());
            let gate = t.hold(s1);
            let p = t.pooled(2 * MIB, mp, s1);
            t.unpool(p, s1);
            let e = t.event_ex(ACL_EVENT_SYNC);
            t.record(e, s1);
            let code = aclrtStreamWaitEventWithTimeout(s2, e, 100);
            t.ok(code, "aclrtStreamWaitEventWithTimeout");
            t.check(
                t.pooled(2 * MIB, mp, s2) != p,
                "the block passed over a limited wait",
            );
            gate.open();
        }),
        case("x.pool.opportunistic", Setup::device0(), |t| {
            let (mp, s1, s2) = (pool_with(t, &[OPPORTUNISTIC]), t.stream(), t.stream());
            t.set_pool_attr(mp, THRESHOLD, 64 << 20);
            let gate = t.hold(s1);
            let p = t.pooled(2 * MIB, mp, s1);
            t.unpool(p, s1);
            let q = t.pooled(2 * MIB, mp, s2);
            t.check(q != p, "the block passed before its release was done");
            gate.open();
            t.sync(s1);
            t.eq(t.pooled(2 * MIB, mp, s2), p, "the block after its release");
        }),
        case("x.pool.internal_wait", Setup::device0(), |t| {
            let (mp, s1, s2) = (pool_with(t, &[INTERNAL]), t.stream(), t.stream());
            let gate = t.hold(s1);
            let p = t.pooled(4 * MIB, mp, s1);
            let h = t.malloc_host(4 * MIB);
            fill(t, p, 4 * MIB, 0x11, s1);
            t.copy_async(h, p, 4 * MIB, s1);
            t.unpool(p, s1);
            // Later work of the first stream is not waited for: it waits for the second one.
            let n = t.notify();
            t.ok(aclrtWaitAndResetNotify(n, s1, 0), "aclrtWaitAndResetNotify");
            let q = t.pooled(4 * MIB, mp, s2);
            t.eq(q, p, "the block, after a wait");
            t.eq(t.pool_attr(mp, RESERVED), 4 * MIB, "reserved");
            fill(t, q, 4 * MIB, 0x22, s2);
            let counter = t.counted(s2);
            t.ok(aclrtRecordNotify(n, s2), "aclrtRecordNotify");
            counter.stays_uncalled(t, "work of the second stream before the release");
            gate.open();
            t.sync(s2);
            t.eq(counter.calls(), 1, "calls afterwards");
            t.sync(s1);
            t.same_bytes(
                &host_read(h, 4 * MIB),
                &vec![0x11; 4 * MIB],
                "the first owner's",
            );
            t.holds(q, &vec![0x22; 4 * MIB], "the second owner's");
        }),
        case("x.pool.internal_wait_dropped", Setup::device0(), |t| {
            // The stream that is waited for is aborted, or destroyed: the wait ends.
            for force in [false, true] {
                let (mp, s1, s2) = (pool_with(t, &[INTERNAL]), t.stream(), t.stream());
                let gate = t.hold(s1);
                let p = t.pooled(2 * MIB, mp, s1);
                fill(t, p, 2 * MIB, 0x11, s1);
                t.unpool(p, s1);
                t.eq(t.pooled(2 * MIB, mp, s2), p, "the block, after a wait");
                fill(t, p, 2 * MIB, 0x22, s2);
                if force {
                    gate.open();
                    t.ok(aclrtDestroyStreamForce(s1), "aclrtDestroyStreamForce");
                } else {
                    t.ok(aclrtStreamAbort(s1), "aclrtStreamAbort");
                    gate.open();
                }
                t.sync(s2);
                t.holds(p, &vec![0x22; 2 * MIB], "the second owner's");
            }
        }),
    ]
}

fn aborted() -> Vec<Case> {
    vec![case("x.pool.abort_while_copying", Setup::device0(), |t| {
        // The copy that an aborted stream is in the middle of ends before its block is anybody's.
        const LEN: usize = 64 * MIB;
        let (mp, s1, s2) = (pool_with(t, &[OPPORTUNISTIC]), t.stream(), t.stream());
        t.set_pool_attr(mp, THRESHOLD, 1 << 30);
        let (h, _) = t.pinned(LEN);
        for round in 0..8 {
            let p = t.pooled(LEN, mp, s1);
            for _ in 0..3 {
                t.copy_async(p, h, LEN, s1);
            }
            t.unpool(p, s1);
            // Dropped tasks from behind the release count as done.
            t.counted(s1);
            t.counted(s1);
            if round % 2 == 1 {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            t.ok(aclrtStreamAbort(s1), "aclrtStreamAbort");
            let q = t.pooled(LEN, mp, s2);
            fill(t, q, LEN, 0x22, s2);
            t.sync(s2);
            std::thread::sleep(std::time::Duration::from_millis(30));
            t.holds(q, &vec![0x22; LEN], "the block of the other stream");
            t.unpool(q, s2);
            t.sync(s1);
        }
    })]
}

fn leaving() -> Vec<Case> {
    vec![
        case("x.pool.trim_while_queued", Setup::device0(), |t| {
            // What is queued before a release meets its memory, and the device has it back later.
            let before = t.pools();
            let (mp, s) = (t.pool(), t.stream());
            let gate = t.hold(s);
            let p = t.pooled(4 * MIB, mp, s);
            let (h, bytes) = t.pinned(4 * MIB);
            let back = t.malloc_host(4 * MIB);
            t.copy_async(p, h, 4 * MIB, s);
            t.copy_async(back, p, 4 * MIB, s);
            t.unpool(p, s);
            t.ok(aclrtMemPoolTrimTo(mp, 2 * MIB), "aclrtMemPoolTrimTo");
            t.eq(t.counts(mp), (2 * MIB, 0), "reserved and used at once");
            let (huge, normal) = before.taken(&t.pools());
            t.eq(huge + normal, 4 << 20, "device memory while work is queued");
            t.ok(aclrtMemPoolTrimTo(mp, 0), "aclrtMemPoolTrimTo");
            let q = t.pooled(4 * MIB, mp, s);
            t.check(q != p, "addresses that are leaving were handed out");
            t.unpool(q, s);
            gate.open();
            t.sync(s);
            t.same_bytes(&host_read(back, 4 * MIB), &bytes, "bytes through the block");
            t.eq(t.counts(mp), (0, 0), "reserved and used in the end");
            t.eq(t.pools(), before, "device memory in the end");
        }),
        case("x.pool.trim_while_capturing", Setup::device0(), |t| {
            // What a pool queues for itself is no part of a capture.
            let before = t.pools();
            let (mp, s) = (t.pool(), t.stream());
            let gate = t.hold(s);
            let p = t.pooled(4 * MIB, mp, s);
            let (h, bytes) = t.pinned(4 * MIB);
            let back = t.malloc_host(4 * MIB);
            t.copy_async(p, h, 4 * MIB, s);
            t.copy_async(back, p, 4 * MIB, s);
            t.unpool(p, s);
            let mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
            t.ok(aclmdlRICaptureBegin(s, mode), "aclmdlRICaptureBegin");
            let mut q = SENTINEL;
            let code = aclrtMemPoolMallocAsync(&raw mut q, MIB, mp, s);
            t.fails(code, ERROR_UNSUPPORTED, "a block on a captured stream");
            t.ok(aclrtMemPoolTrimTo(mp, 0), "aclrtMemPoolTrimTo");
            let mut model = null_mut();
            let code = aclmdlRICaptureEnd(s, &raw mut model);
            t.ok(code, "aclmdlRICaptureEnd");
            gate.open();
            t.sync(s);
            t.same_bytes(&host_read(back, 4 * MIB), &bytes, "bytes through the block");
            t.eq(t.pools(), before, "device memory in the end");
        }),
        case("x.pool.destroy_while_queued", Setup::device0(), |t| {
            let before = t.pools();
            let (mp, s) = (t.pool(), t.stream());
            let gate = t.hold(s);
            let (p, q) = (t.pooled(4 * MIB, mp, s), t.pooled(4 * MIB, mp, s));
            let (h, bytes) = t.pinned(4 * MIB);
            let back = t.malloc_host(4 * MIB);
            t.copy_async(p, h, 4 * MIB, s);
            t.copy_async(q, p, 4 * MIB, s);
            t.unpool(p, s);
            t.ok(aclrtMemPoolDestroy(mp), "aclrtMemPoolDestroy");
            t.copy_async(back, q, 4 * MIB, s);
            t.unpool(q, s);
            gate.open();
            t.sync(s);
            t.same_bytes(
                &host_read(back, 4 * MIB),
                &bytes,
                "bytes through two blocks",
            );
            t.eq(t.pools(), before, "device memory in the end");
        }),
        case("x.pool.threshold_spares_queued", Setup::device0(), |t| {
            // Synchronising one stream releases nothing that another one may still touch.
            let (mp, s1, s2) = (t.pool(), t.stream(), t.stream());
            let gate = t.hold(s1);
            let p = t.pooled(2 * MIB, mp, s1);
            let q = t.pooled(2 * MIB, mp, s2);
            let (h, bytes) = t.pinned(2 * MIB);
            let back = t.malloc_host(2 * MIB);
            t.copy_async(p, h, 2 * MIB, s1);
            t.copy_async(back, p, 2 * MIB, s1);
            t.unpool(p, s1);
            t.unpool(q, s2);
            t.sync(s2);
            t.eq(t.counts(mp), (2 * MIB, 0), "reserved and used");
            gate.open();
            t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
            t.eq(t.counts(mp), (0, 0), "reserved and used in the end");
            t.same_bytes(&host_read(back, 2 * MIB), &bytes, "bytes through the block");
        }),
        case("x.pool.shortage_releases_idle", Setup::device0(), |t| {
            // Idle memory in pieces is given up before a request fails.
            let (mp, s1, s2) = (t.pool_of(16 * MIB), t.stream(), t.stream());
            let blocks: Vec<_> = (0..8).map(|_| t.pooled(2 * MIB, mp, s1)).collect();
            for p in blocks.iter().step_by(2) {
                t.unpool(*p, s1);
            }
            let p = t.pooled(8 * MIB, mp, s2);
            t.eq(t.counts(mp), (16 * MIB, 16 * MIB), "reserved and used");
            t.usable(p, 8 * MIB);
        }),
    ]
}

fn storm() -> Vec<Case> {
    vec![
        case("x.pool.storm", Setup::device0(), |t| run_storm(t, 8)),
        case(
            "x.pool.storm_random",
            Setup::device0().env("CANNERY_SCHEDULE", "random:11"),
            |t| run_storm(t, 2),
        ),
        case(
            "x.pool.storm_lazy",
            Setup::device0().env("CANNERY_SCHEDULE", "lazy"),
            |t| run_storm(t, 2),
        ),
    ]
}

/// One block in the storm: the stream that it is used on and what it must hold.
struct Block {
    p: usize,
    len: usize,
    value: u8,
}

/// Threads with a stream each share one pool and events: every block is filled when it is got, and
/// must hold that when it is given back, whoever had it before and after.
fn run_storm(t: &T, threads: usize) {
    let before = t.pools();
    let mp = t.pool_of(256 * MIB) as usize;
    t.set_pool_attr(addr(mp), THRESHOLD, 64 << 20);
    let context = t.context() as usize;
    let events: Vec<usize> = (0..threads)
        .map(|_| t.event_ex(ACL_EVENT_SYNC) as usize)
        .collect();
    let seeds: Vec<u64> = (0..threads).map(|_| t.random()).collect();
    std::thread::scope(|scope| {
        for (number, seed) in seeds.iter().enumerate() {
            let events = &events;
            scope.spawn(move || {
                t.ok(
                    aclrtSetCurrentContext(addr(context)),
                    "aclrtSetCurrentContext",
                );
                walk(t, addr(mp), events, number, *seed);
            });
        }
    });
    t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
    t.eq(
        t.pool_attr(addr(mp), ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT),
        0,
        "used",
    );
    t.check(
        t.pool_attr(addr(mp), RESERVED) <= 64 * MIB,
        "reserved above the threshold",
    );
    t.ok(aclrtMemPoolDestroy(addr(mp)), "aclrtMemPoolDestroy");
    t.eq(t.pools(), before, "device memory in the end");
}

fn walk(t: &T, mp: aclrtMemPool, events: &[usize], number: usize, seed: u64) {
    const STEPS: u32 = 400;
    let s = t.stream();
    let mut random = seed | 1;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random >> 16
    };
    let mut blocks: Vec<Block> = Vec::new();
    // Host memory that receives what blocks hold in the end, with what that must be.
    let mut checks: Vec<(*mut c_void, usize, u8)> = Vec::new();
    for step in 0..STEPS {
        match next() % 8 {
            0..=3 if blocks.len() < 6 => {
                let len = (1 + next() as usize % 3) * 2 * MIB - next() as usize % MIB;
                let mut p = SENTINEL;
                if aclrtMemPoolMallocAsync(&raw mut p, len, mp, s) != 0 {
                    // Others have it all; reading the text clears it.
                    t.check(
                        crate::api::recent_text().is_some(),
                        "a refusal without a text",
                    );
                    continue;
                }
                let value = (number as u8) << 4 | (next() % 16) as u8;
                fill(t, p, len, i32::from(value), s);
                blocks.push(Block {
                    p: p as usize,
                    len,
                    value,
                });
            }
            4 if !events.is_empty() => {
                let other = events[next() as usize % events.len()];
                t.wait_event(s, addr(other));
            }
            5 => t.record(addr(events[number]), s),
            6 if step % 16 == 0 => t.sync(s),
            7 if step % 32 == 0 => {
                // Refused while more is in use.
                if aclrtMemPoolTrimTo(mp, 192 * MIB) != 0 {
                    t.check(
                        crate::api::recent_text().is_some(),
                        "a refusal without a text",
                    );
                }
            }
            _ => {
                let Some(which) = blocks.len().checked_sub(1) else {
                    continue;
                };
                let block = blocks.swap_remove(next() as usize % (which + 1));
                // The last bytes too.
                let part = block.len.min(64 * KIB);
                let host = t.malloc_host(part);
                let from = off(addr(block.p), block.len - part);
                t.copy_async(host, from, part, s);
                checks.push((host, part, block.value));
                if next() % 8 == 0 {
                    // Without a stream: it has to be done first.
                    t.sync(s);
                    t.free(addr(block.p));
                } else {
                    t.unpool(addr(block.p), s);
                }
            }
        }
    }
    for block in blocks {
        t.unpool(addr(block.p), s);
    }
    t.sync(s);
    for (host, len, value) in checks {
        let what = format!("a block of thread {number}");
        t.same_bytes(&host_read(host, len), &vec![value; len], &what);
        t.free_host(host);
    }
}
