//! Shared queues: data in and out, attributes, refusals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::support::*;

pub(super) const EMPTY: i64 = 207_013;
pub(super) const FULL: i64 = 207_014;
pub(super) const UNKNOWN_QUEUE: i64 = 100_032;
pub(super) const ARGUMENT: i64 = 100_000;
pub(super) const UNSUPPORTED: i64 = 207_000;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = data();
    cases.extend(objects());
    cases.extend(super::queue_buffers::cases());
    cases.extend(super::queue_routes::cases());
    cases.extend(refusals());
    cases
}

impl T {
    /// A queue without attributes.
    pub(super) fn queue(&self) -> u32 {
        let mut id = u32::MAX;
        self.ok(acltdtCreateQueue(null(), &raw mut id), "acltdtCreateQueue");
        id
    }

    /// Puts bytes in, without any of the user's own.
    pub(super) fn enqueue(&self, id: u32, bytes: &[u8]) {
        let code = acltdtEnqueueData(id, src(bytes), bytes.len(), null(), 0, 1000, 0);
        self.ok(code, "acltdtEnqueueData");
    }

    /// Takes at most `room` bytes out.
    pub(super) fn dequeue(&self, id: u32, room: usize) -> Vec<u8> {
        let mut bytes = vec![0xa5; room];
        let mut size = UNTOUCHED;
        let code = acltdtDequeueData(
            id,
            dst(&mut bytes),
            room,
            &raw mut size,
            null_mut(),
            0,
            2000,
        );
        self.ok(code, "acltdtDequeueData");
        bytes.truncate(size);
        bytes
    }

    /// The code of taking something out that is not there.
    pub(super) fn dequeue_code(&self, id: u32, timeout: i32) -> i64 {
        let (mut byte, mut size) = ([0u8], UNTOUCHED);
        let place = &raw mut size;
        let code = acltdtDequeueData(id, dst(&mut byte), 1, place, null_mut(), 0, timeout).into();
        if code != 0 {
            self.eq(size, UNTOUCHED, "size after a failure");
        }
        code
    }
}

fn data() -> Vec<Case> {
    vec![
        case("x.queue.bytes_in_order", Setup::device0(), |t| {
            let id = t.queue();
            let all: Vec<_> = [MIB, 1, 3 * MIB + 5, 64]
                .iter()
                .map(|size| t.random_bytes(*size))
                .collect();
            for bytes in &all {
                t.enqueue(id, bytes);
            }
            for bytes in &all {
                t.same_bytes(&t.dequeue(id, 4 * MIB), bytes, "message");
            }
            t.eq(t.dequeue_code(id, 1), EMPTY, "code of the empty queue");
            t.ok(acltdtDestroyQueue(id), "acltdtDestroyQueue");
        }),
        case("x.queue.user_data", Setup::device0(), |t| {
            let id = t.queue();
            let (bytes, noted) = (t.random_bytes(MIB), t.random_bytes(96));
            let code = acltdtEnqueueData(id, src(&bytes), MIB, src(&noted), 97, -1, 0);
            t.fails_with(code, ARGUMENT, "userDataSize 97", "97 bytes of user data");
            let code = acltdtEnqueueData(id, src(&bytes), MIB, src(&noted), 40, -1, 0);
            t.ok(code, "acltdtEnqueueData");
            let (mut got, mut user, mut size) = (vec![0; MIB], vec![0xa5; 96], 0);
            let (data, place) = (dst(&mut got), &raw mut size);
            let code = acltdtDequeueData(id, data, MIB, place, dst(&mut user), 60, -1);
            t.ok(code, "acltdtDequeueData");
            t.same_bytes(&got, &bytes, "data");
            let mut want = noted[..40].to_vec();
            want.resize(60, 0);
            want.resize(96, 0xa5);
            t.same_bytes(&user, &want, "user data");
        }),
        case("x.queue.message_too_large_stays", Setup::device0(), |t| {
            let id = t.queue();
            let bytes = t.random_bytes(MIB);
            t.enqueue(id, &bytes);
            let (mut got, mut size) = (vec![0xa5; MIB - 1], UNTOUCHED);
            let (data, place) = (dst(&mut got), &raw mut size);
            let code = acltdtDequeueData(id, data, MIB - 1, place, null_mut(), 0, 1);
            t.fails_with(code, 107_000, "dataSize 1048575 1048576", "too little room");
            t.eq(size, MIB, "the size that is needed");
            t.check(got.iter().all(|byte| *byte == 0xa5), "bytes were written");
            t.same_bytes(&t.dequeue(id, MIB), &bytes, "message");
        }),
        case("x.queue.full", Setup::device0(), |t| {
            // Without attributes the depth is 8.
            let id = t.queue();
            let bytes = t.random_bytes(1000);
            for _ in 0..8 {
                t.enqueue(id, &bytes);
            }
            let began = Instant::now();
            let code = acltdtEnqueueData(id, src(&bytes), 1000, null(), 0, 60, 0);
            t.fails(code, FULL, "the ninth message");
            let took = began.elapsed();
            t.check(
                took >= Duration::from_millis(60) && took < Duration::from_secs(5),
                &format!("a wait of 60 ms took {took:?}"),
            );
            t.dequeue(id, 1000);
            t.enqueue(id, &bytes);
        }),
        case("x.queue.waits_are_woken", Setup::device0(), |t| {
            let id = t.queue();
            let bytes = t.random_bytes(MIB);
            std::thread::scope(|scope| {
                let taker = scope.spawn(|| {
                    t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                    let began = Instant::now();
                    let (mut got, mut size) = (vec![0; MIB], 0);
                    let (data, place) = (dst(&mut got), &raw mut size);
                    let code = acltdtDequeueData(id, data, MIB, place, null_mut(), 0, -1);
                    t.ok(code, "acltdtDequeueData without limit");
                    (got, began.elapsed())
                });
                std::thread::sleep(Duration::from_millis(80));
                t.enqueue(id, &bytes);
                let (got, took) = taker.join().expect("no panic");
                t.same_bytes(&got, &bytes, "message");
                t.check(took >= Duration::from_millis(60), &format!("took {took:?}"));
            });
            // Destroying it ends a wait too.
            std::thread::scope(|scope| {
                let taker = scope.spawn(|| {
                    t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                    t.dequeue_code(id, -1)
                });
                std::thread::sleep(Duration::from_millis(50));
                t.ok(acltdtDestroyQueue(id), "acltdtDestroyQueue");
                t.eq(
                    taker.join().expect("no panic"),
                    UNKNOWN_QUEUE,
                    "code of the waiter",
                );
            });
        }),
        case("x.queue.many_threads", Setup::device0(), |t| {
            // Every message arrives once, whole, and in order for each sender.
            const SENDERS: u64 = 3;
            const EACH: u64 = 400;
            let id = t.queue();
            let got = std::sync::Mutex::new(Vec::new());
            let done = AtomicBool::new(false);
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                        let mut mine = Vec::new();
                        loop {
                            let (mut words, mut size) = ([0u64; 512], 0);
                            let data = (&raw mut words).cast();
                            let place = &raw mut size;
                            let code = acltdtDequeueData(id, data, 4096, place, null_mut(), 0, 20);
                            if code == 0 {
                                let first = words[0];
                                let whole = words[..size / 8].iter().all(|word| *word == first);
                                t.check(whole, "a message is mixed");
                                mine.push(first);
                            } else if done.load(Ordering::Acquire) {
                                break;
                            }
                        }
                        for sender in 0..SENDERS {
                            let of = mine.iter().filter(|word| *word >> 32 == sender);
                            t.check(of.is_sorted(), "messages out of order");
                        }
                        got.lock().expect("no panic").extend(mine);
                    });
                }
                let senders: Vec<_> = (0..SENDERS)
                    .map(|sender| {
                        scope.spawn(move || {
                            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                            for number in 0..EACH {
                                let words = vec![sender << 32 | number; 1 + number as usize % 512];
                                let bytes = words.len() * 8;
                                let data = words.as_ptr().cast();
                                t.ok(
                                    acltdtEnqueueData(id, data, bytes, null(), 0, -1, 0),
                                    "acltdtEnqueueData",
                                );
                            }
                        })
                    })
                    .collect();
                for sender in senders {
                    sender.join().expect("no panic");
                }
                done.store(true, Ordering::Release);
            });
            let mut got = got.into_inner().expect("no panic");
            got.sort_unstable();
            let all: Vec<_> = (0..SENDERS)
                .flat_map(|sender| (0..EACH).map(move |number| sender << 32 | number))
                .collect();
            t.check(
                got == all,
                &format!("{} messages of {}", got.len(), all.len()),
            );
        }),
    ]
}

fn objects() -> Vec<Case> {
    vec![
        case("x.queue.attributes", Setup::init(), |t| {
            let attr = acltdtCreateQueueAttr();
            t.check(!attr.is_null(), "acltdtCreateQueueAttr");
            let name = CString::new("input of the model").expect("no end inside");
            let pointer = name.as_ptr();
            let set = |kind, len, param| acltdtSetQueueAttr(attr, kind, len, param);
            let place = (&raw const pointer).cast();
            t.ok(set(ACL_TDT_QUEUE_NAME_PTR, 8, place), "set name");
            t.fails(set(ACL_TDT_QUEUE_NAME_PTR, 4, place), ARGUMENT, "length 4");
            t.fails(set(7, 8, place), ARGUMENT, "type 7");
            t.fails(set(ACL_TDT_QUEUE_NAME_PTR, 8, null()), ARGUMENT, "no name");
            let depth = 3u32;
            let place = (&raw const depth).cast();
            t.ok(set(ACL_TDT_QUEUE_DEPTH_UINT32, 4, place), "set depth");
            let wrong = 1u32;
            let place = (&raw const wrong).cast();
            t.fails(
                set(ACL_TDT_QUEUE_DEPTH_UINT32, 4, place),
                ARGUMENT,
                "depth 1",
            );
            drop(name);
            // A copy was kept.
            let (mut kept, mut size) = (null::<std::ffi::c_char>(), 0);
            let param = (&raw mut kept).cast();
            let code = acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, 8, &raw mut size, param);
            t.ok(code, "get name");
            t.eq(string(kept), Some("input of the model".to_owned()), "name");
            t.eq(size, 8, "its size");
            let mut depth = 0u32;
            let param = (&raw mut depth).cast();
            let code =
                acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, 4, &raw mut size, param);
            t.ok(code, "get depth");
            t.eq((depth, size), (3, 4), "depth and its size");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            let mut id = u32::MAX;
            t.ok(acltdtCreateQueue(attr, &raw mut id), "acltdtCreateQueue");
            t.ok(acltdtDestroyQueueAttr(attr), "acltdtDestroyQueueAttr");
            t.fails(acltdtDestroyQueueAttr(attr), ARGUMENT, "a second time");
            let bytes = t.random_bytes(100);
            for _ in 0..3 {
                t.enqueue(id, &bytes);
            }
            let code = acltdtEnqueueData(id, src(&bytes), 100, null(), 0, 1, 0);
            t.fails(code, FULL, "the fourth message of a depth of 3");
        }),
        case("x.queue.handles_of_another_kind", Setup::device0(), |t| {
            let attr = acltdtCreateQueueAttr();
            let list = acltdtCreateQueueRouteList();
            let mut id = u32::MAX;
            for wrong in [list.cast(), addr(8), addr(usize::MAX)] {
                let code = acltdtCreateQueue(wrong.cast(), &raw mut id);
                t.fails(code, ARGUMENT, "a queue by a wrong attribute object");
                t.eq(id, u32::MAX, "output");
            }
            t.fails(
                acltdtDestroyQueueRouteList(attr.cast()),
                ARGUMENT,
                "attribute as list",
            );
            t.fails(acltdtDestroyQueueRouteList(null()), ARGUMENT, "no list");
            t.ok(
                acltdtDestroyQueueRouteList(list),
                "acltdtDestroyQueueRouteList",
            );
            t.ok(acltdtDestroyQueueAttr(attr), "acltdtDestroyQueueAttr");
        }),
    ]
}

fn refusals() -> Vec<Case> {
    vec![
        case("x.queue.arguments", Setup::device0(), |t| {
            let id = t.queue();
            let bytes = t.random_bytes(64);
            let put = |data, size, user_size, timeout, rsv| {
                acltdtEnqueueData(id, data, size, null(), user_size, timeout, rsv)
            };
            let data = src(&bytes);
            t.fails(
                acltdtCreateQueue(null(), null_mut()),
                ARGUMENT,
                "no place for the id",
            );
            t.fails(put(null(), 64, 0, 1, 0), ARGUMENT, "no data");
            t.fails(put(data, 0, 0, 1, 0), ARGUMENT, "no bytes");
            t.fails(
                put(data, 64, 1, 1, 0),
                ARGUMENT,
                "user data NULL with a size",
            );
            t.fails_with(
                put(data, 64, 0, -2, 0),
                ARGUMENT,
                "timeout -2",
                "timeout -2",
            );
            t.fails_with(put(data, 64, 0, 1, 1), ARGUMENT, "rsv", "rsv 1");
            t.fails_with(
                put(data, 64, 0, 0, 0),
                UNSUPPORTED,
                "timeout RC",
                "timeout 0 in EP mode",
            );
            t.fails(t.dequeue_code(id, 0), UNSUPPORTED, "timeout 0 in EP mode");
            let device = t.malloc(4096, ACL_MEM_MALLOC_HUGE_FIRST);
            t.fails_with(
                put(device, 64, 0, 1, 0),
                107_000,
                "data device",
                "device memory",
            );
            t.free(device);
            t.eq(t.dequeue_code(id, 1), EMPTY, "code after all refusals");
            t.ok(acltdtDestroyQueue(id), "acltdtDestroyQueue");
            t.fails(acltdtDestroyQueue(id), UNKNOWN_QUEUE, "a second time");
            t.fails(put(data, 64, 0, 1, 0), UNKNOWN_QUEUE, "a destroyed queue");
            t.fails(t.dequeue_code(id, 1), UNKNOWN_QUEUE, "a destroyed queue");
            t.fails_with(
                t.dequeue_code(8191, 1),
                UNKNOWN_QUEUE,
                "qid 8191",
                "no queue",
            );
        }),
        case("x.queue.no_context", Setup::init(), |t| {
            let mut id = u32::MAX;
            t.fails(acltdtCreateQueue(null(), &raw mut id), 107_002, "no device");
            t.eq(id, u32::MAX, "output");
        }),
        case("x.queue.grant_and_attach", Setup::device0(), |t| {
            let id = t.queue();
            let me = std::process::id() as i32;
            let all = 7;
            t.fails_with(
                acltdtGrantQueue(id, me, all, 0),
                107_000,
                "pid",
                "the own process",
            );
            t.fails_with(
                acltdtGrantQueue(id, i32::MAX, all, 0),
                107_000,
                "pid",
                "no process",
            );
            t.fails(acltdtGrantQueue(id, 0, all, 0), 107_000, "process 0");
            t.fails(acltdtGrantQueue(id, 1, 0, 0), ARGUMENT, "no rights");
            t.fails(acltdtGrantQueue(id, 1, 8, 0), ARGUMENT, "rights 8");
            t.fails(acltdtGrantQueue(8191, 1, 1, 0), UNKNOWN_QUEUE, "no queue");
            let mut rights = 0;
            t.ok(
                acltdtAttachQueue(id, 0, &raw mut rights),
                "attach to the own queue",
            );
            t.eq(rights, all, "rights on the own queue");
            rights = 77;
            t.fails(
                acltdtAttachQueue(8190, 0, &raw mut rights),
                UNKNOWN_QUEUE,
                "no queue",
            );
            t.eq(rights, 77, "output");
            t.fails(acltdtAttachQueue(id, 0, null_mut()), ARGUMENT, "no place");
        }),
        case(
            "x.queue.product_without",
            Setup::device0().profile("IPV350"),
            |t| {
                let mut id = u32::MAX;
                let code = acltdtCreateQueue(null(), &raw mut id);
                t.fails_with(
                    code,
                    UNSUPPORTED,
                    "IPV350 acltdtCreateQueue 910B",
                    "no queues",
                );
                t.eq(id, u32::MAX, "output");
                t.fails(
                    acltdtCreateQueue(null(), null_mut()),
                    ARGUMENT,
                    "arguments come first",
                );
                t.check(acltdtCreateQueueAttr().is_null(), "an attribute object");
                t.check(
                    t.pending_text("acltdtCreateQueueAttr").contains("IPV350"),
                    "the text lacks the profile",
                );
                t.eq(
                    acltdtGetQueueRouteNum(addr(16).cast()),
                    0,
                    "routes of a wild list",
                );
            },
        ),
        case("x.queue.reserved_buffers", Setup::device0().rc(), |t| {
            let (mut buf, mut number, mut size) = (SENTINEL, 77u32, UNTOUCHED);
            t.fails(aclrtAllocBuf(null_mut(), 64), ARGUMENT, "no place");
            let code = aclrtAllocBuf(&raw mut buf, 64);
            t.fails_with(code, UNSUPPORTED, "aclrtAllocBuf 310B", "aclrtAllocBuf");
            let wild = addr(64);
            let at = &raw mut buf;
            let byte = [0u8];
            t.fails(aclrtFreeBuf(wild), UNSUPPORTED, "aclrtFreeBuf");
            t.fails(
                aclrtGetBufData(wild, at, &raw mut size),
                UNSUPPORTED,
                "aclrtGetBufData",
            );
            t.fails(
                aclrtGetBufDataLen(wild, &raw mut size),
                UNSUPPORTED,
                "aclrtGetBufDataLen",
            );
            t.fails(
                aclrtSetBufDataLen(wild, 1),
                UNSUPPORTED,
                "aclrtSetBufDataLen",
            );
            t.fails(aclrtCopyBufRef(wild, at), UNSUPPORTED, "aclrtCopyBufRef");
            t.fails(
                aclrtAppendBufChain(wild, addr(128)),
                UNSUPPORTED,
                "aclrtAppendBufChain",
            );
            t.fails(
                aclrtGetBufChainNum(wild, &raw mut number),
                UNSUPPORTED,
                "aclrtGetBufChainNum",
            );
            t.fails(
                aclrtGetBufFromChain(wild, 0, at),
                UNSUPPORTED,
                "aclrtGetBufFromChain",
            );
            t.fails(
                aclrtGetBufUserData(wild, addr(8), 97, 0),
                ARGUMENT,
                "97 bytes of user data",
            );
            let code = aclrtSetBufUserData(wild, src(&byte), 1, 0);
            t.fails(code, UNSUPPORTED, "aclrtSetBufUserData");
            t.eq((buf, number, size), (SENTINEL, 77, UNTOUCHED), "outputs");
        }),
        case(
            "x.queue.buffers_need_rc",
            Setup::device0().profile("310B"),
            |t| {
                let mut buf = SENTINEL;
                t.fails(
                    acltdtAllocBuf(64, 0, &raw mut buf),
                    UNSUPPORTED,
                    "acltdtAllocBuf in EP mode",
                );
                t.eq(buf, SENTINEL, "output");
            },
        ),
    ]
}
