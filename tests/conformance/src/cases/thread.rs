//! What belongs to a thread and what to the process.

use super::init::DEFAULT_DEVICE;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("thread.binding.default_device_mode", Setup::fresh(), |t| {
            let file = t.config("device.json", DEFAULT_DEVICE);
            t.ok(aclInit(file.as_ptr()), "aclInit");
            on_thread(|| {
                let mut p = SENTINEL;
                t.ret(aclrtMalloc(&raw mut p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
                t.eq(t.device(), 0, "device of the thread");
                t.usable(p, 64);
            });
        }),
        case("thread.binding.free_any_thread", Setup::device0(), |t| {
            let before = t.pools();
            let p = t.malloc(4096, ACL_MEM_MALLOC_HUGE_FIRST);
            on_thread(|| t.ret(aclrtFree(p)));
            t.eq(t.pools(), before, "page pools after the release");
            t.fails(aclrtFree(p), ERROR_PARAM, "second release");
        }),
        case("thread.binding.share_by_context", Setup::device0(), |t| {
            let c = t.create_context(0);
            on_thread(|| {
                t.has_no_context("allocation before the thread has a context");
                t.ok(aclrtSetCurrentContext(c), "aclrtSetCurrentContext");
                let mut p = SENTINEL;
                t.ret(aclrtMalloc(&raw mut p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
                t.usable(p, 64);
                t.eq(t.context(), c, "context of the thread");
            });
            t.eq(t.context(), c, "context of the first thread");
        }),
        case(
            "x.thread.new_threads_have_no_device",
            Setup::device0(),
            |t| {
                on_thread(|| {
                    let mut device = -77;
                    t.fails(
                        aclrtGetDevice(&raw mut device),
                        ERROR_CONTEXT,
                        "aclrtGetDevice",
                    );
                    t.eq(device, -77, "output");
                    t.has_no_context("allocation");
                });
                let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
                t.usable(p, 64);
            },
        ),
        case("x.thread.calls_without_a_device", Setup::init(), |t| {
            // Every call of the foundation that needs a device says so, and
            // leaves its outputs alone.
            let other = Worker::new();
            let (d, mut h) = other.run(|| {
                t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                (t.malloc(4096, ACL_MEM_MALLOC_HUGE_FIRST), vec![7_u8; 64])
            });
            type Call = fn(*mut *mut c_void) -> aclError;
            let allocations: [(&str, Call); 7] = [
                ("aclrtMalloc", |p| aclrtMalloc(p, 64, 0)),
                ("aclrtMallocAlign32", |p| aclrtMallocAlign32(p, 64, 0)),
                ("aclrtMallocCached", |p| aclrtMallocCached(p, 64, 0)),
                ("aclrtMallocWithCfg", |p| {
                    aclrtMallocWithCfg(p, 64, 0, null_mut())
                }),
                ("aclrtMallocForTaskScheduler", |p| {
                    aclrtMallocForTaskScheduler(p, 64, 0, null_mut())
                }),
                ("aclrtMallocHost", |p| aclrtMallocHost(p, 64)),
                ("aclrtMallocHostWithCfg", |p| {
                    aclrtMallocHostWithCfg(p, 64, null_mut())
                }),
            ];
            for (name, call) in allocations {
                let mut p = SENTINEL;
                t.fails_with(call(&raw mut p), ERROR_CONTEXT, "EE1018", name);
                t.eq(p, SENTINEL, &format!("output of {name}"));
            }
            let mut p = SENTINEL;
            t.fails(
                acldvppMalloc(&raw mut p, 64),
                ERROR_CONTEXT,
                "acldvppMalloc",
            );
            t.eq(p, SENTINEL, "output of acldvppMalloc");
            let (mut free, mut total) = (UNTOUCHED, UNTOUCHED);
            let code = aclrtGetMemInfo(ACL_HBM_MEM, &raw mut free, &raw mut total);
            t.fails(code, ERROR_CONTEXT, "aclrtGetMemInfo");
            t.eq(
                (free, total),
                (UNTOUCHED, UNTOUCHED),
                "outputs of aclrtGetMemInfo",
            );
            let copy = aclrtMemcpy(dst(&mut h), 64, d, 64, ACL_MEMCPY_DEVICE_TO_HOST);
            t.fails(copy, ERROR_CONTEXT, "aclrtMemcpy");
            t.same_bytes(&h, &[7; 64], "destination of the refused copy");
            t.fails(aclrtMemset(d, 64, 1, 64), ERROR_CONTEXT, "aclrtMemset");
            t.fails(aclrtMemsetD32(d, 64, 1, 4), ERROR_CONTEXT, "aclrtMemsetD32");
            t.fails(aclrtMemFlush(d, 64), ERROR_CONTEXT, "aclrtMemFlush");
            t.fails(
                aclrtMemInvalidate(d, 64),
                ERROR_CONTEXT,
                "aclrtMemInvalidate",
            );
            t.fails(
                aclrtFreeWithDevSync(d),
                ERROR_CONTEXT,
                "aclrtFreeWithDevSync",
            );
            t.fails(
                aclrtSynchronizeDevice(),
                ERROR_CONTEXT,
                "aclrtSynchronizeDevice",
            );
            t.ok(aclrtFree(d), "aclrtFree, which needs no context");
        }),
        case(
            "x.thread.pinned_memory_in_a_worker",
            Setup::device0(),
            |t| {
                let p = t.malloc_host(MIB);
                let worker = Worker::new();
                let q = worker.run(|| {
                    let mut q = SENTINEL;
                    t.fails(
                        aclrtMallocHost(&raw mut q, MIB),
                        ERROR_CONTEXT,
                        "before a device",
                    );
                    t.eq(q, SENTINEL, "output");
                    t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                    let q = t.malloc_host(MIB);
                    t.free_host(p);
                    q
                });
                t.free_host(q);
            },
        ),
        case(
            "x.thread.parallel_allocation_is_exact",
            Setup::device0(),
            |t| {
                let before = t.pools();
                std::thread::scope(|scope| {
                    for seed in 0..4_usize {
                        scope.spawn(move || {
                            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                            let mut live = Vec::new();
                            for round in 0..500_usize {
                                let size = 1 + (round * 7919 + seed * 104_729) % 70_000;
                                let p = t.malloc(size, ACL_MEM_MALLOC_HUGE_FIRST);
                                t.ok(aclrtMemset(p, size, seed as i32, size), "aclrtMemset");
                                live.push((p, size));
                                if round % 3 == 2 {
                                    let (p, size) = live.swap_remove(round % live.len());
                                    t.holds(p, &vec![seed as u8; size], "own block");
                                    t.free(p);
                                }
                            }
                            for (p, size) in live {
                                t.holds(p, &vec![seed as u8; size], "own block");
                                t.free(p);
                            }
                        });
                    }
                });
                t.eq(t.pools(), before, "page pools afterwards");
            },
        ),
    ]
}
