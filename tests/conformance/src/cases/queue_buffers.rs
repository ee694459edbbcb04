//! Buffers that queues carry.

use super::queue::*;
use super::support::*;

impl T {
    /// A buffer of the queue functions.
    pub(super) fn buffer(&self, size: usize) -> acltdtBuf {
        let mut buf = SENTINEL;
        self.ok(acltdtAllocBuf(size, 0, &raw mut buf), "acltdtAllocBuf");
        buf
    }

    /// Address and size of a buffer.
    pub(super) fn buffer_data(&self, buf: acltdtBuf) -> (*mut c_void, usize) {
        let (mut at, mut size) = (null_mut(), 0);
        let code = acltdtGetBufData(buf, &raw mut at, &raw mut size);
        self.ok(code, "acltdtGetBufData");
        (at, size)
    }

    /// Bytes of a buffer that count.
    pub(super) fn buffer_len(&self, buf: acltdtBuf) -> usize {
        let mut len = UNTOUCHED;
        self.ok(
            acltdtGetBufDataLen(buf, &raw mut len),
            "acltdtGetBufDataLen",
        );
        len
    }
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.queue.buffer_travels", Setup::device0().rc(), |t| {
            let id = t.queue();
            let (bytes, noted) = (t.random_bytes(2 * MIB), t.random_bytes(96));
            let buf = t.buffer(2 * MIB);
            let (at, size) = t.buffer_data(buf);
            t.eq(size, 2 * MIB, "size");
            t.eq(t.buffer_len(buf), 0, "length of a fresh buffer");
            host_write(at, &bytes);
            t.fails(
                acltdtSetBufDataLen(buf, 2 * MIB + 1),
                ARGUMENT,
                "more than the size",
            );
            t.ok(acltdtSetBufDataLen(buf, MIB), "acltdtSetBufDataLen");
            let set = |size, offset| acltdtSetBufUserData(buf, src(&noted), size, offset);
            t.ok(set(96, 0), "acltdtSetBufUserData");
            t.fails(set(1, 96), ARGUMENT, "user byte 97");
            t.fails(set(97, 0), ARGUMENT, "97 user bytes");
            t.fails(set(16, usize::MAX), ARGUMENT, "a wild offset");
            t.ok(acltdtEnqueue(id, buf, 1), "acltdtEnqueue");
            t.fails(acltdtFreeBuf(buf), ARGUMENT, "a buffer that the queue has");
            let mut other = SENTINEL;
            t.ok(acltdtDequeue(id, &raw mut other, 1), "acltdtDequeue");
            let (now, size) = t.buffer_data(other);
            t.eq(
                (now, size),
                (at, 2 * MIB),
                "memory of the buffer: nothing was copied",
            );
            t.eq(t.buffer_len(other), MIB, "length");
            t.same_bytes(&host_read(now, 2 * MIB), &bytes, "bytes");
            let mut user = vec![0; 90];
            let code = acltdtGetBufUserData(other, dst(&mut user), 90, 6);
            t.ok(code, "acltdtGetBufUserData");
            t.same_bytes(&user, &noted[6..], "user data");
            t.ok(acltdtFreeBuf(other), "acltdtFreeBuf");
            t.fails(acltdtFreeBuf(other), ARGUMENT, "a second time");
            t.fails(acltdtDequeue(id, &raw mut other, 0), EMPTY, "nothing left");
        }),
        case(
            "x.queue.buffer_stays_when_full",
            Setup::device0().rc(),
            |t| {
                let id = t.queue();
                for _ in 0..8 {
                    t.enqueue(id, &[1, 2, 3]);
                }
                let bytes = t.random_bytes(MIB);
                let buf = t.buffer(MIB);
                host_write(t.buffer_data(buf).0, &bytes);
                t.fails(acltdtEnqueue(id, buf, 0), FULL, "a full queue");
                t.same_bytes(&host_read(t.buffer_data(buf).0, MIB), &bytes, "bytes");
                t.ok(acltdtFreeBuf(buf), "acltdtFreeBuf");
            },
        ),
        case("x.queue.buffer_references", Setup::device0().rc(), |t| {
            let bytes = t.random_bytes(MIB);
            let buf = t.buffer(MIB);
            let mut twin = SENTINEL;
            t.ok(acltdtCopyBufRef(buf, &raw mut twin), "acltdtCopyBufRef");
            t.check(twin != buf, "the reference is the buffer");
            host_write(t.buffer_data(buf).0, &bytes);
            t.ok(acltdtSetBufDataLen(twin, 77), "acltdtSetBufDataLen");
            t.eq(t.buffer_len(buf), 77, "length by the other handle");
            t.ok(acltdtFreeBuf(buf), "acltdtFreeBuf");
            // The memory lives as long as a reference does.
            let (at, size) = t.buffer_data(twin);
            t.same_bytes(&host_read(at, size), &bytes, "bytes by the reference");
            t.ok(acltdtFreeBuf(twin), "acltdtFreeBuf");
        }),
        case("x.queue.buffer_chains", Setup::device0().rc(), |t| {
            let id = t.queue();
            let parts: Vec<_> = (0..5).map(|n| t.random_bytes(100_000 + n)).collect();
            let bufs: Vec<_> = parts.iter().map(|part| t.buffer(part.len())).collect();
            for (buf, part) in bufs.iter().zip(&parts) {
                host_write(t.buffer_data(*buf).0, part);
                t.ok(acltdtSetBufDataLen(*buf, part.len()), "acltdtSetBufDataLen");
            }
            let head = bufs[0];
            t.fails(acltdtAppendBufChain(head, head), ARGUMENT, "itself");
            for buf in &bufs[1..] {
                t.ok(acltdtAppendBufChain(head, *buf), "acltdtAppendBufChain");
            }
            t.fails(
                acltdtAppendBufChain(head, bufs[2]),
                ARGUMENT,
                "a part again",
            );
            t.fails(acltdtFreeBuf(bufs[2]), ARGUMENT, "a part of a chain");
            t.fails(acltdtEnqueue(id, bufs[2], 0), ARGUMENT, "a part of a chain");
            let mut number = 0;
            t.ok(
                acltdtGetBufChainNum(head, &raw mut number),
                "acltdtGetBufChainNum",
            );
            t.eq(number, 5, "length of the chain");
            let mut third = SENTINEL;
            t.ok(
                acltdtGetBufFromChain(head, 2, &raw mut third),
                "acltdtGetBufFromChain",
            );
            t.eq(third, bufs[2], "the third part");
            let code = acltdtGetBufFromChain(head, 5, &raw mut third);
            t.fails(code, ARGUMENT, "beyond the chain");
            t.ok(acltdtEnqueue(id, head, 0), "acltdtEnqueue");
            t.fails(
                acltdtGetBufChainNum(bufs[3], &raw mut number),
                ARGUMENT,
                "a part that left",
            );
            let mut other = SENTINEL;
            t.ok(acltdtDequeue(id, &raw mut other, 0), "acltdtDequeue");
            for (index, part) in parts.iter().enumerate() {
                let mut buf = SENTINEL;
                let code = acltdtGetBufFromChain(other, index as u32, &raw mut buf);
                t.ok(code, "acltdtGetBufFromChain");
                let at = t.buffer_data(buf).0;
                t.same_bytes(&host_read(at, part.len()), part, "a part");
            }
            // As plain data it is one run of bytes.
            t.ok(acltdtEnqueue(id, other, 0), "acltdtEnqueue");
            t.same_bytes(&t.dequeue(id, MIB), &parts.concat(), "all parts");
            let mut chain = t.buffer(8);
            for _ in 1..128 {
                let code = acltdtAppendBufChain(chain, t.buffer(8));
                t.ok(code, "acltdtAppendBufChain");
            }
            let one = t.buffer(8);
            t.fails(acltdtAppendBufChain(chain, one), ARGUMENT, "part 129");
            t.ok(acltdtFreeBuf(one), "acltdtFreeBuf");
            t.ok(
                acltdtFreeBuf(std::mem::replace(&mut chain, null_mut())),
                "acltdtFreeBuf",
            );
        }),
        case("x.queue.buffer_arguments", Setup::device0().rc(), |t| {
            let mut buf = SENTINEL;
            let place = &raw mut buf;
            t.fails(acltdtAllocBuf(0, 0, place), ARGUMENT, "size 0");
            t.fails(
                acltdtAllocBuf(4 * GIB + 1, 0, place),
                ARGUMENT,
                "above 4 GiB",
            );
            t.fails(acltdtAllocBuf(8, 1, place), ARGUMENT, "media memory");
            t.fails(acltdtAllocBuf(8, 0, null_mut()), ARGUMENT, "no place");
            t.eq(buf, SENTINEL, "output");
            let mut size = UNTOUCHED;
            for wild in [null_mut(), addr(64), addr(usize::MAX)] {
                t.fails(acltdtFreeBuf(wild), ARGUMENT, "a wild buffer");
                t.fails(
                    acltdtGetBufDataLen(wild, &raw mut size),
                    ARGUMENT,
                    "a wild buffer",
                );
            }
            t.eq(size, UNTOUCHED, "output");
        }),
    ]
}
