//! Functions of the program in stream order: host functions, and callbacks
//! that a subscribed thread runs.

use super::gate::*;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = host_functions();
    cases.extend(reports());
    cases.extend(own());
    cases
}

/// Queues a counted callback.
fn launch(t: &T, counter: &Counter, block: aclrtCallbackBlockType, s: aclrtStream) {
    let code = aclrtLaunchCallback(Counter::function(), counter.data(), block, s);
    t.ok(code, "aclrtLaunchCallback");
}

/// Subscribes a thread to a stream.
fn subscribe(t: &T, thread: u64, s: aclrtStream) {
    t.ok(aclrtSubscribeReport(thread, s), "aclrtSubscribeReport");
}

fn host_functions() -> Vec<Case> {
    vec![
        case("callback.host_func.blocks_stream", Setup::device0(), |t| {
            let s = t.stream();
            let (h, bytes) = t.pinned(5000);
            let (d, before) = t.filled(5000);
            let gate = Gate::closed();
            t.ret(aclrtLaunchHostFunc(s, Gate::function(), gate.data()));
            t.copy_async(d, h, 5000, s);
            gate.reached(t);
            std::thread::sleep(HOLD);
            t.holds(d, &before, "destination while the function runs");
            gate.open();
            t.sync(s);
            t.holds(d, &bytes, "destination afterwards");
        }),
        case("callback.host_func.default_stream", Setup::device0(), |t| {
            let counter = Counter::new();
            let code = aclrtLaunchHostFunc(null_mut(), Counter::function(), counter.data());
            t.ret(code);
            t.sync(null_mut());
            t.eq(counter.calls(), 1, "calls");
            t.check(counter.thread() != this_thread(), "it ran on the caller");
        }),
        case("callback.host_func.null_fn", Setup::device0(), |t| {
            let s = t.stream();
            t.ret(aclrtLaunchHostFunc(s, None, null_mut()));
            t.check(t.is_idle(s), "something was queued");
        }),
    ]
}

fn reports() -> Vec<Case> {
    vec![
        case("callback.launch.bad_block_type", Setup::device0(), |t| {
            let s = t.stream();
            let code = aclrtLaunchCallback(None, null_mut(), 2, s);
            t.fails_with(code, ERROR_FRONT, "param=blockType", "without a function");
            let counter = Counter::new();
            let f = Counter::function();
            t.ret(aclrtLaunchCallback(f, counter.data(), 2, s));
        }),
        case("callback.launch.not_subscribed", Setup::device0(), |t| {
            let s = t.stream();
            let counter = Counter::new();
            let f = Counter::function();
            let code = aclrtLaunchCallback(f, counter.data(), ACL_CALLBACK_BLOCK, s);
            t.ret(code);
            t.sync(s);
            counter.stays_uncalled(t, "calls");
        }),
        case("callback.process.minus_two", Setup::device0(), |t| {
            t.ret(aclrtProcessReport(-2));
        }),
        case("callback.process.runs_on_caller", Setup::device0(), |t| {
            let s = t.stream();
            let worker = Worker::new();
            let thread = worker.run(this_thread);
            subscribe(t, thread, s);
            let counter = Counter::new();
            launch(t, counter, ACL_CALLBACK_BLOCK, s);
            counter.stays_uncalled(t, "calls before the thread asks for them");
            worker.run(|| t.ret(aclrtProcessReport(1000)));
            t.eq(counter.calls(), 1, "calls");
            t.eq(counter.thread(), thread, "thread");
            t.sync(s);
            let code = aclrtUnSubscribeReport(thread, s);
            t.ok(code, "aclrtUnSubscribeReport");
        }),
        case(
            "callback.process.unsubscribed_thread",
            Setup::device0(),
            |t| {
                let begin = std::time::Instant::now();
                t.ret(aclrtProcessReport(10_000));
                t.check(begin.elapsed().as_secs() < 5, "it waited");
            },
        ),
        case("callback.subscribe.twice", Setup::device0(), |t| {
            let s = t.stream();
            let me = this_thread();
            subscribe(t, me, s);
            t.ret(aclrtSubscribeReport(me, s));
            let counter = Counter::new();
            launch(t, counter, ACL_CALLBACK_BLOCK, s);
            t.ok(aclrtProcessReport(1000), "aclrtProcessReport");
            t.eq(counter.calls(), 1, "calls by the first subscription");
        }),
        case("callback.unsubscribe.wrong_thread", Setup::device0(), |t| {
            let s = t.stream();
            let me = this_thread();
            let worker = Worker::new();
            let other = worker.run(this_thread);
            subscribe(t, me, s);
            t.ret(aclrtUnSubscribeReport(other, s));
            let counter = Counter::new();
            launch(t, counter, ACL_CALLBACK_BLOCK, s);
            t.ok(aclrtProcessReport(1000), "aclrtProcessReport");
            t.eq(counter.calls(), 1, "calls by the subscribed thread");
        }),
    ]
}

/// Bytes of stack that `deep` uses.
const DEEP: usize = 4 << 20;
/// Pages that it wrote and read back.
static DEEP_PAGES: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// A host function that needs half of the 8 MiB of stack that it may count on.
extern "C" fn deep(_: *mut c_void) {
    let mut room = [0_u8; DEEP];
    let pages = std::hint::black_box(&mut room).chunks_mut(4096);
    let written = pages.filter_map(|page| {
        page[0] = 1;
        std::hint::black_box(page).first().copied()
    });
    let pages = written.map(usize::from).sum();
    DEEP_PAGES.store(pages, std::sync::atomic::Ordering::SeqCst);
}

fn own() -> Vec<Case> {
    vec![
        case("x.callback.stack", Setup::device0(), |t| {
            let s = t.stream();
            t.ok(
                aclrtLaunchHostFunc(s, Some(deep), null_mut()),
                "aclrtLaunchHostFunc",
            );
            t.sync(s);
            let pages = DEEP_PAGES.load(std::sync::atomic::Ordering::SeqCst);
            t.eq(pages, DEEP / 4096, "pages of stack that were used");
        }),
        case("x.callback.block_and_no_block", Setup::device0(), |t| {
            let me = this_thread();
            for (block, want) in [(ACL_CALLBACK_NO_BLOCK, true), (ACL_CALLBACK_BLOCK, false)] {
                let s = t.stream();
                subscribe(t, me, s);
                let (h, bytes) = t.pinned(64);
                let (d, before) = t.filled(64);
                let counter = Counter::new();
                launch(t, counter, block, s);
                t.copy_async(d, h, 64, s);
                let code = aclrtSynchronizeStreamWithTimeout(s, 50);
                if want {
                    t.ok(code, "a stream that does not wait for its callback");
                    t.holds(d, &bytes, "destination before the callback ran");
                } else {
                    t.fails(code, 507_046, "a stream that waits for its callback");
                    t.holds(d, &before, "destination before the callback ran");
                }
                t.ok(aclrtProcessReport(1000), "aclrtProcessReport");
                t.eq(counter.calls(), 1, "calls");
                t.sync(s);
                t.holds(d, &bytes, "destination after the callback");
            }
        }),
        case("x.callback.no_callback_in_time", Setup::device0(), |t| {
            let s = t.stream();
            subscribe(t, this_thread(), s);
            let begin = std::time::Instant::now();
            t.fails(aclrtProcessReport(30), 507_012, "aclrtProcessReport");
            let took = begin.elapsed().as_millis();
            t.check(took >= 30, &format!("it came back after {took} ms"));
            t.fails(aclrtProcessReport(0), ERROR_FRONT, "timeout 0");
        }),
        case("x.callback.styles_do_not_mix", Setup::device0(), |t| {
            let (a, b) = (t.stream(), t.stream());
            let me = this_thread();
            subscribe(t, me, a);
            let counter = Counter::new();
            let f = Counter::function();
            let code = aclrtLaunchHostFunc(a, f, counter.data());
            t.fails(code, 107_011, "aclrtLaunchHostFunc on a subscribed stream");
            t.counted(b);
            t.sync(b);
            let code = aclrtSubscribeReport(me, b);
            t.fails(code, 107_011, "subscribing a stream with host functions");
            counter.stays_uncalled(t, "calls");
        }),
        case(
            "x.callback.one_thread_many_streams",
            Setup::device0(),
            |t| {
                let worker = Worker::new();
                let thread = worker.run(this_thread);
                let streams: Vec<_> = (0..5).map(|_| t.stream()).collect();
                let counter = Counter::new();
                for s in &streams {
                    subscribe(t, thread, *s);
                    for _ in 0..10 {
                        launch(t, counter, ACL_CALLBACK_BLOCK, *s);
                    }
                }
                worker.run(|| {
                    for _ in 0..50 {
                        t.ok(aclrtProcessReport(5000), "aclrtProcessReport");
                    }
                    t.fails(aclrtProcessReport(20), 507_012, "one report more");
                });
                t.eq(counter.calls(), 50, "calls");
                for s in streams {
                    t.sync(s);
                    let code = aclrtUnSubscribeReport(thread, s);
                    t.ok(code, "aclrtUnSubscribeReport");
                }
                worker.run(|| t.fails(aclrtProcessReport(20), 107_012, "after the last one left"));
            },
        ),
        case(
            "x.callback.waiting_thread_is_woken",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let counter = Counter::new();
                let handle = s as usize;
                let (send, receive) = std::sync::mpsc::channel();
                std::thread::scope(|scope| {
                    scope.spawn(move || {
                        // The receiver is alive until the scope ends.
                        let _ = send.send(this_thread());
                        let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
                        while aclrtProcessReport(20) != 0 && std::time::Instant::now() < until {
                            std::thread::yield_now();
                        }
                        let code = aclrtProcessReport(-1);
                        t.ok(code, "aclrtProcessReport without a limit");
                    });
                    let thread = receive.recv().unwrap_or(0);
                    let s = addr(handle);
                    subscribe(t, thread, s);
                    launch(t, counter, ACL_CALLBACK_BLOCK, s);
                    std::thread::sleep(HOLD);
                    launch(t, counter, ACL_CALLBACK_BLOCK, s);
                    t.sync(s);
                });
                t.eq(counter.calls(), 2, "calls");
            },
        ),
        case(
            "x.callback.stream_destroyed_with_its_subscription",
            Setup::device0(),
            |t| {
                // The thread of a stream that is gone serves nothing any more.
                let s = t.stream();
                subscribe(t, this_thread(), s);
                t.ok(aclrtDestroyStream(s), "aclrtDestroyStream");
                let begin = std::time::Instant::now();
                let code = aclrtProcessReport(10_000);
                t.fails(code, 107_012, "aclrtProcessReport");
                t.check(begin.elapsed().as_secs() < 5, "it waited");
            },
        ),
        case(
            "x.callback.host_functions_in_order",
            Setup::device0(),
            |t| {
                // Two streams of functions, one set of results: each in its order.
                let (a, b) = (t.stream(), t.stream());
                let gate_b = t.hold(b);
                let first: Vec<_> = (0..50).map(|_| t.counted(a)).collect();
                let second: Vec<_> = (0..50).map(|_| t.counted(b)).collect();
                t.sync(a);
                t.check(
                    first.iter().all(|counter| counter.calls() == 1),
                    "a function of the free stream did not run once",
                );
                t.check(
                    second.iter().all(|counter| counter.calls() == 0),
                    "a function of the blocked stream ran",
                );
                gate_b.open();
                t.sync(b);
                t.check(
                    second.iter().all(|counter| counter.calls() == 1),
                    "a function of the other stream did not run once",
                );
            },
        ),
        case(
            "x.callback.functions_that_wait_for_each_other",
            Setup::device0(),
            |t| {
                // The function on the first stream returns after the one on the
                // last stream has begun, and so on: all of them are inside at once.
                let gates: Vec<_> = (0..32).map(|_| (t.stream(), Gate::closed())).collect();
                for (s, gate) in &gates {
                    t.host_function(*s, Gate::function(), gate.data());
                }
                for (_, gate) in gates.iter().rev() {
                    gate.reached(t);
                }
                for (_, gate) in &gates {
                    gate.open();
                }
                for (s, _) in &gates {
                    t.sync(*s);
                }
            },
        ),
    ]
}
