//! Queued copies and fills beyond the lines of the contract: every combination
//! of kinds and ends, memory that is released or changed meanwhile, batches.

use super::gate::*;
use super::memory_async::*;
use super::support::*;

/// The kinds of memory that an end of a copy can lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Heap,
    Pinned,
    Device,
}

/// Codes that a copy between two ends may answer.
fn codes(to: End, from: End, kind: aclrtMemcpyKind) -> &'static [i64] {
    const OK: &[i64] = &[0];
    const UNFIT: &[i64] = &[ERROR_PARAM];
    const HOST_ONLY: &[i64] = &[ERROR_UNSUPPORTED];
    /// No end is on the device, and the kind is none that fits: either.
    const EITHER: &[i64] = &[ERROR_PARAM, ERROR_UNSUPPORTED];
    let fits = |natural| [natural, D2D, DEFAULT].contains(&kind);
    match (to, from) {
        (End::Device, End::Device | End::Pinned) | (End::Pinned, End::Device) => OK,
        (End::Device, End::Heap) if fits(H2D) || kind == BUFFERED => OK,
        (End::Heap, End::Device) if fits(D2H) => OK,
        (End::Device, End::Heap) | (End::Heap, End::Device) => UNFIT,
        (End::Pinned, End::Pinned) => HOST_ONLY,
        _ if kind == H2H || kind == DEFAULT => HOST_ONLY,
        _ => EITHER,
    }
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("x.memcpy_async.every_kind", Setup::device0(), |t| {
            let s = t.stream();
            let ends = [End::Heap, End::Pinned, End::Device];
            for (to, from) in ends.iter().flat_map(|to| ends.map(|from| (*to, from))) {
                for kind in H2H..=BUFFERED {
                    let mut heaps = [t.random_bytes(64), t.random_bytes(64)];
                    let mut at = [null_mut(), null_mut()];
                    for (i, end) in [to, from].into_iter().enumerate() {
                        at[i] = match end {
                            End::Heap => dst(&mut heaps[i]),
                            End::Pinned => t.malloc_host(64),
                            End::Device => t.malloc(64, ACL_MEM_MALLOC_NORMAL_ONLY),
                        };
                    }
                    let write = |end, p, bytes: &[u8]| match end {
                        End::Device => t.upload(p, bytes),
                        _ => host_write(p, bytes),
                    };
                    let read = |end, p: *mut c_void| match end {
                        End::Device => t.download(p, 64),
                        _ => host_read(p, 64),
                    };
                    let (before, bytes) = (t.random_bytes(64), t.random_bytes(64));
                    write(to, at[0], &before);
                    write(from, at[1], &bytes);
                    let code = i64::from(aclrtMemcpyAsync(at[0], 64, at[1], 64, kind, s));
                    let text = recent_text();
                    let what = format!("kind {kind} from {from:?} to {to:?}");
                    let allowed = codes(to, from, kind);
                    t.check(
                        allowed.contains(&code) && (code == 0 || text.is_some()),
                        &format!("{what}: {code}, expected {allowed:?}, text {text:?}"),
                    );
                    t.sync(s);
                    let want = if code == 0 { &bytes } else { &before };
                    t.same_bytes(&read(to, at[0]), want, &what);
                }
            }
        }),
        case(
            "x.memcpy_async.device_of_another_stream",
            Setup::device0().devices(2),
            |t| {
                let s0 = t.stream();
                t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
                let (d1, before) = t.filled(4096);
                let (h, _) = t.pinned(4096);
                let code = aclrtMemcpyAsync(d1, 4096, h, 4096, H2D, s0);
                t.fails_with(code, ERROR_FOREIGN_STREAM, "EE1010", "aclrtMemcpyAsync");
                t.holds(d1, &before, "destination");
            },
        ),
        case("x.memcpy_async.order_of_checks", Setup::device0(), |t| {
            let (dead, foreign) = (t.dead_stream(), t.foreign_stream());
            let ((h, _), (d, before)) = (t.pinned(64), t.filled(64));
            for (code, want, what) in [
                (
                    aclrtMemcpyAsync(null_mut(), 0, h, 64, 99, dead),
                    ERROR_FRONT,
                    "NULL before everything",
                ),
                (
                    aclrtMemcpyAsync(d, 0, h, 64, 99, dead),
                    ERROR_FRONT,
                    "the kind before the stream",
                ),
                (
                    aclrtMemcpyAsync(d, 0, h, 64, H2D, dead),
                    ERROR_HANDLE,
                    "the stream before the size",
                ),
                (
                    aclrtMemcpyAsync(d, 0, h, 64, H2D, foreign),
                    ERROR_PARAM,
                    "the size before the context of the stream",
                ),
                (
                    aclrtMemcpyAsync(d, 64, h, 64, H2D, foreign),
                    ERROR_FOREIGN_STREAM,
                    "the context of the stream",
                ),
                (aclrtMemcpyAsync(d, 0, h, 0, 99, dead), 0, "nothing to do"),
                (
                    aclrtMemcpyAsync(d, 64, d, 64, D2D, foreign),
                    0,
                    "the same pointer before the context of the stream",
                ),
            ] {
                if want == 0 {
                    t.ok(code, what);
                } else {
                    t.check(
                        i64::from(code) == want,
                        &format!("{what}: {code}, expected {want}"),
                    );
                }
            }
            t.holds(d, &before, "destination");
        }),
        case("x.memcpy_async.past_block_end", Setup::device0(), |t| {
            let s = t.stream();
            let ((d, before), (after, after_bytes)) = (t.filled(64), t.filled(64));
            let (h, bytes) = t.pinned(64 * KIB);
            let code = aclrtMemcpyAsync(d, 4096, h, 4096, H2D, s);
            t.fails(code, ERROR_PARAM, "past the end of the destination");
            let code = aclrtMemcpyAsync(h, 4096, d, 4096, D2H, s);
            t.fails(code, ERROR_PARAM, "past the end of the source");
            let code = aclrtMemsetAsync(d, 4096, 0, 4096, s);
            t.fails(code, ERROR_PARAM, "a fill past the end");
            t.sync(s);
            t.holds(d, &before, "block");
            t.holds(after, &after_bytes, "block after it");
            t.same_bytes(&host_read(h, 64 * KIB), &bytes, "pinned memory");
        }),
        case("x.memcpy_async.released_source", Setup::device0(), |t| {
            // Pinned memory that is released while its copy is queued: the
            // release succeeds, the copy still moves the bytes.
            let s = t.stream();
            let len = 100 * KIB;
            let ((h, bytes), (d, _)) = (t.pinned(len), t.filled(len));
            let gate = t.hold(s);
            t.copy_async(d, h, len, s);
            t.free_host(h);
            t.fails(aclrtFreeHost(h), ERROR_PARAM, "second release");
            // Whoever gets the memory next may write there.
            let (other, _) = t.pinned(len);
            gate.open();
            t.sync(s);
            t.holds(d, &bytes, "destination");
            t.free_host(other);
        }),
        case(
            "x.memcpy_async.released_destination",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let len = 100 * KIB;
                let ((h, _), (d, _)) = (t.pinned(len), t.filled(len));
                let gate = t.hold(s);
                t.copy_async(h, d, len, s);
                t.free_host(h);
                let (other, bytes) = t.pinned(len);
                gate.open();
                t.sync(s);
                t.same_bytes(&host_read(other, len), &bytes, "the next owner's memory");
                t.free_host(other);
            },
        ),
        case(
            "x.memcpy_async.released_device_block",
            Setup::device0(),
            |t| {
                // The release does not wait; the next owner of the memory must
                // not find the queued bytes in it, and nothing crashes.
                for size in [64, 100 * KIB, 3 * MIB] {
                    let s = t.stream();
                    let (h, _) = t.pinned(size);
                    let (d, _) = t.filled(size);
                    let gate = t.hold(s);
                    t.copy_async(d, h, size, s);
                    t.free(d);
                    t.check(!gate.is_open(), "the gate is open");
                    gate.open();
                    // The stream may report an error, but it ends.
                    let code = aclrtSynchronizeStreamWithTimeout(s, 5000);
                    t.check(code != 507_046, "the stream does not end");
                    let _ = recent_text();
                    let (again, bytes) = t.filled(size);
                    t.holds(again, &bytes, "the next block");
                    t.free(again);
                }
            },
        ),
        case("x.memcpy_async.changed_source", Setup::device0(), |t| {
            // The bytes that move are those present when the copy runs.
            let s = t.stream();
            let ((h, _), (d, _)) = (t.pinned(4096), t.filled(4096));
            let gate = t.hold(s);
            t.copy_async(d, h, 4096, s);
            let bytes = t.random_bytes(4096);
            host_write(h, &bytes);
            gate.open();
            t.sync(s);
            t.holds(d, &bytes, "destination");
        }),
        case(
            "x.memcpy_async.pageable_destination",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let (d, _) = t.filled(5000);
                let (h, bytes) = t.pinned(5000);
                let mut out = vec![0; 5000];
                let gate = t.hold(s);
                t.copy_async(d, h, 5000, s);
                let to = dst(&mut out);
                let copy = || aclrtMemcpyAsync(to, 5000, d, 5000, D2H, s);
                t.ok(t.blocks(*gate, copy), "aclrtMemcpyAsync");
                t.same_bytes(&out, &bytes, "destination right after the call");
            },
        ),
        case("x.memcpy_async.large_and_small", Setup::device0(), |t| {
            let s = t.stream();
            for len in [1, 3, 63, 64, 65, 4095, 4097, 3 * MIB + 5] {
                let ((h, bytes), (back, _)) = (t.pinned(len), t.pinned(len));
                let (d, q) = (
                    t.malloc(len, ACL_MEM_MALLOC_HUGE_FIRST),
                    t.malloc(len, ACL_MEM_MALLOC_HUGE_FIRST),
                );
                t.copy_async(d, h, len, s);
                t.copy_async(q, d, len, s);
                t.copy_async(back, q, len, s);
                t.sync(s);
                t.same_bytes(&host_read(back, len), &bytes, &format!("{len} bytes"));
            }
        }),
        case("x.memcpy_async.batch", Setup::device0(), |t| {
            let s = t.stream();
            let sizes = [64, 5000, 1, 100 * KIB];
            let hosts: Vec<_> = sizes.iter().map(|n| t.pinned(*n)).collect();
            let blocks: Vec<_> = sizes.iter().map(|n| t.filled(*n)).collect();
            let from: Vec<_> = hosts.iter().map(|(p, _)| *p).collect();
            let to: Vec<_> = blocks.iter().map(|(p, _)| *p).collect();
            let mut batch = Batch::new(&to, &from, &sizes, DEVICE, HOST);
            let gate = t.hold(s);
            let mut fail = UNTOUCHED;
            t.ok(batch.run(&raw mut fail, s), "aclrtMemcpyBatchAsync");
            for (p, before) in &blocks {
                t.holds(*p, before, "destination while the stream is blocked");
            }
            gate.open();
            t.sync(s);
            for ((p, _), (_, bytes)) in blocks.iter().zip(&hosts) {
                t.holds(*p, bytes, "destination");
            }
            // Back, in the other form, after the blocks have been filled.
            for ((p, _), n) in blocks.iter().zip(sizes) {
                t.ok(aclrtMemsetAsync(*p, n, 9, n, s), "aclrtMemsetAsync");
            }
            let mut batch = Batch::new(&from, &to, &sizes, HOST, DEVICE);
            t.ok(batch.run_v2(s), "aclrtMemcpyBatchAsyncV2");
            t.sync(s);
            for ((p, _), n) in hosts.iter().zip(sizes) {
                t.same_bytes(&host_read(*p, n), &vec![9; n], "pinned memory");
            }
        }),
        case("x.memcpy_async.batch_refusals", Setup::device0(), |t| {
            let s = t.stream();
            let hosts: Vec<_> = (0..3).map(|_| t.pinned(64)).collect();
            let blocks: Vec<_> = (0..3).map(|_| t.filled(64)).collect();
            let from: Vec<_> = hosts.iter().map(|(p, _)| *p).collect();
            let to: Vec<_> = blocks.iter().map(|(p, _)| *p).collect();
            let mut fail = UNTOUCHED;
            let mut batch = Batch::new(&to, &from, &[64, 0, 64], DEVICE, HOST);
            let code = batch.run(&raw mut fail, s);
            t.check(code != 0, "an item of size zero was accepted");
            let _ = recent_text();
            let mut batch = Batch::new(&to, &from, &[64; 3], DEVICE, HOST);
            let dead = t.dead_stream();
            let code = batch.run(&raw mut fail, dead);
            t.fails(code, ERROR_HANDLE, "a destroyed stream");
            let foreign = t.foreign_stream();
            let code = batch.run(&raw mut fail, foreign);
            t.fails(code, ERROR_FOREIGN_STREAM, "a stream of another context");
            t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
            for (p, before) in &blocks {
                t.holds(*p, before, "destination");
            }
        }),
        case("x.memcpy_async.descriptor", Setup::device0(), |t| {
            let s = t.stream();
            let (desc, bytes, to, before) = descriptor(t, 5000);
            let gate = t.hold(s);
            let kind = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
            let code = aclrtMemcpyAsyncWithDesc(desc, kind, s);
            t.ok(code, "aclrtMemcpyAsyncWithDesc");
            t.holds(to, &before, "destination while the stream is blocked");
            gate.open();
            t.sync(s);
            t.holds(to, &bytes, "destination");
        }),
        case("x.memcpy_async.offsets", Setup::device0(), |t| {
            let s = t.stream();
            let ((from, bytes), (to, before)) = (t.filled(5000), t.filled(5000));
            let gate = t.hold(s);
            let code = copy_with_offsets(t, (to, 100), (from, 200), 3000, s);
            t.ok(code, "aclrtMemcpyAsyncWithOffset");
            t.holds(to, &before, "destination while the stream is blocked");
            gate.open();
            t.sync(s);
            let mut want = before;
            want[100..3100].copy_from_slice(&bytes[200..3200]);
            t.holds(to, &want, "destination");
        }),
        case("x.memset_async.order_and_places", Setup::device0(), |t| {
            let s = t.stream();
            let ((h, mut pinned), (d, mut device)) = (t.pinned(300), t.filled(300));
            let gate = t.hold(s);
            // Only the low eight bits count; nothing around it changes.
            t.ok(aclrtMemsetAsync(off(d, 7), 200, 0x1_02, 100, s), "device");
            t.ok(aclrtMemsetAsync(off(h, 7), 200, -1, 100, s), "pinned");
            t.holds(d, &device, "block while the stream is blocked");
            gate.open();
            t.sync(s);
            device[7..107].fill(2);
            pinned[7..107].fill(0xff);
            t.holds(d, &device, "block");
            t.same_bytes(&host_read(h, 300), &pinned, "pinned memory");
        }),
        case(
            "x.memcpy_async.no_gap_between_streams",
            Setup::device0(),
            |t| {
                // A copy on one stream while another is blocked does not wait.
                let (s1, s2) = (t.stream(), t.stream());
                let ((h, bytes), (d, _)) = (t.pinned(MIB), t.filled(MIB));
                let gate = t.hold(s1);
                t.copy_async(d, h, MIB, s2);
                t.sync(s2);
                t.check(!gate.is_open(), "the gate is open");
                t.holds(d, &bytes, "destination");
            },
        ),
    ]
}
