//! Queued copies and fills.

use super::gate::*;
use super::support::*;

const H2H: aclrtMemcpyKind = ACL_MEMCPY_HOST_TO_HOST;
const H2D: aclrtMemcpyKind = ACL_MEMCPY_HOST_TO_DEVICE;
const D2H: aclrtMemcpyKind = ACL_MEMCPY_DEVICE_TO_HOST;
const D2D: aclrtMemcpyKind = ACL_MEMCPY_DEVICE_TO_DEVICE;
const DEFAULT: aclrtMemcpyKind = ACL_MEMCPY_DEFAULT;
const BUFFERED: aclrtMemcpyKind = ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = refused();
    cases.extend(kinds());
    cases.extend(order());
    cases.extend(conditions_and_descriptors());
    cases.extend(fills());
    cases.extend(two_dimensional());
    cases.extend(own());
    cases
}

/// A handle that never was one.
fn wild_stream() -> aclrtStream {
    addr(0x10)
}

fn refused() -> Vec<Case> {
    vec![
        case(
            "memory.memcpy_async.dest_max_too_small",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let ((h, _), (d, before)) = (t.pinned(64), t.filled(64));
                t.ret(aclrtMemcpyAsync(d, 63, h, 64, H2D, s));
                t.check(t.is_idle(s), "something was queued");
                t.holds(d, &before, "destination");
            },
        ),
        case(
            "memory.memcpy_async.destroyed_stream",
            Setup::device0(),
            |t| {
                let s = t.dead_stream();
                let ((h, _), (d, before)) = (t.pinned(64), t.filled(64));
                t.ret(aclrtMemcpyAsync(d, 64, h, 64, H2D, s));
                t.holds(d, &before, "destination");
            },
        ),
        case("memory.memcpy_async.no_context", Setup::init(), |t| {
            let (h, mut out) = (t.random_bytes(64), vec![7; 64]);
            t.ret(aclrtMemcpyAsync(
                dst(&mut out),
                64,
                src(&h),
                64,
                H2D,
                null_mut(),
            ));
            t.same_bytes(&out, &[7; 64], "destination");
        }),
        case("memory.memcpy_async.null_dst", Setup::device0(), |t| {
            let s = t.stream();
            let (h, _) = t.pinned(64);
            t.ret(aclrtMemcpyAsync(null_mut(), 64, h, 64, H2D, s));
            t.check(t.is_idle(s), "something was queued");
        }),
        case("memory.memcpy_async.same_pointer", Setup::device0(), |t| {
            let s = t.stream();
            let (d, bytes) = t.filled(64);
            let gate = t.hold(s);
            t.ret(aclrtMemcpyAsync(d, 64, d, 64, D2D, s));
            gate.open();
            t.sync(s);
            t.holds(d, &bytes, "block");
        }),
    ]
}

fn kinds() -> Vec<Case> {
    vec![
        case(
            "memory.memcpy_async.device_to_unregistered_h2d_kind",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let (d, _) = t.filled(64);
                let mut h = vec![7; 64];
                t.ret(aclrtMemcpyAsync(dst(&mut h), 64, d, 64, H2D, s));
                t.sync(s);
                t.same_bytes(&h, &[7; 64], "destination");
            },
        ),
        case(
            "memory.memcpy_async.h2buf_kind_accepted",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let ((h, bytes), (d, _)) = (t.pinned(5000), t.filled(5000));
                t.ret(aclrtMemcpyAsync(d, 5000, h, 5000, BUFFERED, s));
                host_write(h, &[0; 5000]);
                t.sync(s);
                t.holds(d, &bytes, "destination: the bytes at the call");
            },
        ),
        case(
            "memory.memcpy_async.h2h_kind_on_h2d_pointers",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let ((h, bytes), (d, _)) = (t.pinned(5000), t.filled(5000));
                t.ret(aclrtMemcpyAsync(d, 5000, h, 5000, H2H, s));
                t.sync(s);
                t.holds(d, &bytes, "destination");
            },
        ),
        case(
            "memory.memcpy_async.h2h_pinned_default",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let ((from, _), (to, before)) = (t.pinned(64), t.pinned(64));
                t.ret(aclrtMemcpyAsync(to, 64, from, 64, DEFAULT, s));
                t.sync(s);
                t.same_bytes(&host_read(to, 64), &before, "destination");
            },
        ),
        case("memory.memcpy_async.rc_h2h", Setup::device0().rc(), |t| {
            let s = t.stream();
            let ((from, bytes), (to, _)) = (t.pinned(5000), t.filled(5000));
            t.ret(aclrtMemcpyAsync(to, 5000, from, 5000, H2H, s));
            t.sync(s);
            t.holds(to, &bytes, "destination");
        }),
        case(
            "memory.memcpy_async.unregistered_both_default",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let (from, mut to) = (t.random_bytes(64), vec![7; 64]);
                let code = aclrtMemcpyAsync(dst(&mut to), 64, src(&from), 64, DEFAULT, s);
                t.ret(code);
                t.sync(s);
                t.same_bytes(&to, &[7; 64], "destination");
            },
        ),
        case(
            "memory.memcpy_async.unregistered_to_device_d2h_kind",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let (d, before) = t.filled(64);
                let h = t.random_bytes(64);
                t.ret(aclrtMemcpyAsync(d, 64, src(&h), 64, D2H, s));
                t.sync(s);
                t.holds(d, &before, "destination");
            },
        ),
    ]
}

fn order() -> Vec<Case> {
    vec![
        case("memory.memcpy_async.null_stream", Setup::device0(), |t| {
            let ((h, bytes), (d, _)) = (t.pinned(5000), t.filled(5000));
            t.copy_async(d, h, 5000, null_mut());
            t.ret(aclrtSynchronizeStream(null_mut()));
            t.holds(d, &bytes, "destination");
        }),
        case(
            "memory.memcpy_async.pageable_is_synchronous",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let (d, _) = t.filled(5000);
                let gate = t.hold(s);
                let counter = t.counted(s);
                let h = t.random_bytes(5000);
                let copy = || aclrtMemcpyAsync(d, 5000, src(&h), 5000, H2D, s);
                t.ret(t.blocks(*gate, copy));
                t.eq(counter.calls(), 1, "calls in front of the copy");
                t.holds(d, &h, "destination right after the call");
            },
        ),
        case(
            "memory.memcpy_async.pinned_returns_early",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let ((h, bytes), (d, before)) = (t.pinned(5000), t.filled(5000));
                let gate = t.hold(s);
                t.ret(aclrtMemcpyAsync(d, 5000, h, 5000, H2D, s));
                t.check(!gate.is_open(), "the gate is open");
                t.holds(d, &before, "destination while the stream is blocked");
                gate.open();
                t.sync(s);
                t.holds(d, &bytes, "destination");
            },
        ),
    ]
}

fn conditions_and_descriptors() -> Vec<Case> {
    vec![
        case(
            "memory.memcpy_async_condition.count_zero",
            Setup::init(),
            |t| {
                let s = wild_stream();
                let code = aclrtMemcpyAsyncWithCondition(null_mut(), 0, null(), 0, 99, s);
                t.ret(code);
            },
        ),
        case(
            "memory.memcpy_async_condition.null_src",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let (d, before) = t.filled(64);
                t.ret(aclrtMemcpyAsyncWithCondition(d, 64, null(), 64, H2D, s));
                t.check(t.is_idle(s), "something was queued");
                t.holds(d, &before, "destination");
            },
        ),
        case(
            "memory.memcpy_batch_async.null_fail_index",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let ((h, _), (d, before)) = (t.pinned(64), t.filled(64));
                let mut batch = Batch::new(&[d], &[h], &[64], DEVICE, HOST);
                t.ret(batch.run(null_mut(), s));
                t.sync(s);
                t.holds(d, &before, "destination");
            },
        ),
        case("memory.memcpy_offset.count_zero", Setup::init(), |t| {
            let (none, s) = (null_mut(), wild_stream());
            t.ret(aclrtMemcpyAsyncWithOffset(
                none,
                0,
                0,
                null_mut(),
                0,
                0,
                99,
                s,
            ));
        }),
        case(
            "memory.memcpy_offset.unsupported",
            Setup::device0().profile("310B"),
            |t| {
                let s = t.stream();
                let ((from, _), (to, before)) = (t.filled(64), t.filled(64));
                t.ret(copy_with_offsets(t, (to, 0), (from, 0), 64, s));
                t.sync(s);
                t.holds(to, &before, "destination");
            },
        ),
        case(
            "memory.memcpy_desc.async_null_stream",
            Setup::device0(),
            |t| {
                let (desc, _, to, before) = descriptor(t, 64);
                let kind = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
                t.ret(aclrtMemcpyAsyncWithDesc(desc, kind, null_mut()));
                t.sync(null_mut());
                t.holds(to, &before, "destination");
            },
        ),
    ]
}

/// aclrtMemcpyAsyncWithOffset with blocks and offsets, the blocks' addresses in
/// device memory.
fn copy_with_offsets(
    t: &T,
    to: (*mut c_void, usize),
    from: (*mut c_void, usize),
    len: usize,
    s: aclrtStream,
) -> aclError {
    let places = t.malloc(16, ACL_MEM_MALLOC_NORMAL_ONLY);
    t.upload(places, &(to.0 as u64).to_le_bytes());
    t.upload(off(places, 8), &(from.0 as u64).to_le_bytes());
    let (kind, source) = (ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, off(places, 8));
    let (to_place, from_place) = (places.cast(), source.cast());
    aclrtMemcpyAsyncWithOffset(to_place, len, to.1, from_place, len, from.1, kind, s)
}

/// Device memory with the description of a copy of `len` bytes; the source's
/// bytes, the destination, and what it holds.
fn descriptor(t: &T, len: usize) -> (*mut c_void, Vec<u8>, *mut c_void, Vec<u8>) {
    let kind = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
    let mut size = 0;
    let code = aclrtGetMemcpyDescSize(kind, &raw mut size);
    t.ok(code, "aclrtGetMemcpyDescSize");
    let desc = t.malloc(size, ACL_MEM_MALLOC_NORMAL_ONLY);
    let ((from, bytes), (to, before)) = (t.filled(len), t.filled(len));
    let code = aclrtSetMemcpyDesc(desc, kind, from, to, len, null_mut());
    t.ok(code, "aclrtSetMemcpyDesc");
    (desc, bytes, to, before)
}

fn fills() -> Vec<Case> {
    vec![
        case(
            "memory.memset_async.count_over_max",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let (d, before) = t.filled(64);
                t.ret(aclrtMemsetAsync(d, 32, 0, 64, s));
                t.check(t.is_idle(s), "something was queued");
                t.holds(d, &before, "block");
            },
        ),
        case("memory.memset_async.count_zero", Setup::init(), |t| {
            t.ret(aclrtMemsetAsync(null_mut(), 1, 0, 0, wild_stream()));
        }),
        case(
            "memory.memset_async.destroyed_stream",
            Setup::device0(),
            |t| {
                let s = t.dead_stream();
                let (d, before) = t.filled(64);
                t.ret(aclrtMemsetAsync(d, 32, 0, 64, s));
                t.holds(d, &before, "block");
            },
        ),
        case(
            "memory.memset_async.other_context_stream",
            Setup::device0(),
            |t| {
                let s = t.foreign_stream();
                let (d, before) = t.filled(64);
                t.ret(aclrtMemsetAsync(d, 64, 0, 64, s));
                t.sync(s);
                t.holds(d, &before, "block");
            },
        ),
        case(
            "memory.memset_d32_async.device_ordered",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let (d, mut want) = t.filled(4096);
                let gate = t.hold(s);
                let value = 0x1234_5678_u32;
                t.ret(aclrtMemsetD32Async(off(d, 4), 4092, value, 1000, s));
                t.holds(d, &want, "block while the stream is blocked");
                gate.open();
                t.sync(s);
                for word in want[4..4004].chunks_mut(4) {
                    word.copy_from_slice(&value.to_le_bytes());
                }
                t.holds(d, &want, "block");
            },
        ),
        case(
            "memory.memset_d32_async.null_stream",
            Setup::device0(),
            |t| {
                let (d, _) = t.filled(64);
                t.ret(aclrtMemsetD32Async(d, 64, 0x0102_0304, 16, null_mut()));
                t.sync(null_mut());
                t.holds(d, &[4, 3, 2, 1].repeat(16), "block");
            },
        ),
    ]
}

/// A plane of `rows` rows in `bytes`, `pitch` bytes apart.
fn paste(into: &mut [u8], to_pitch: usize, from: &[u8], from_pitch: usize, width: usize) {
    for (to, from) in into.chunks_mut(to_pitch).zip(from.chunks(from_pitch)) {
        to[..width].copy_from_slice(&from[..width]);
    }
}

fn two_dimensional() -> Vec<Case> {
    vec![
        case("memory.memcpy2d_async.d2d", Setup::device0(), |t| {
            let s = t.stream();
            let ((from, bytes), (to, mut want)) = (t.filled(100 * 30), t.filled(80 * 30));
            t.ret(aclrtMemcpy2dAsync(to, 80, from, 100, 70, 30, D2D, s));
            t.sync(s);
            paste(&mut want, 80, &bytes, 100, 70);
            t.holds(to, &want, "destination with what lies between the rows");
        }),
        case("memory.memcpy2d_async.no_context", Setup::init(), |t| {
            let (h, mut out) = (t.random_bytes(64), vec![7; 64]);
            let to = dst(&mut out);
            t.ret(aclrtMemcpy2dAsync(to, 8, src(&h), 8, 8, 8, H2D, null_mut()));
            t.same_bytes(&out, &[7; 64], "destination");
        }),
        case("memory.memcpy2d_async.null_src", Setup::device0(), |t| {
            let s = t.stream();
            let (d, before) = t.filled(64);
            t.ret(aclrtMemcpy2dAsync(d, 8, null(), 8, 8, 8, H2D, s));
            t.sync(s);
            t.holds(d, &before, "destination");
        }),
        case(
            "memory.memcpy2d_async.pageable_synchronous",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let (d, mut want) = t.filled(80 * 30);
                let h = t.random_bytes(100 * 30);
                t.ret(aclrtMemcpy2dAsync(d, 80, src(&h), 100, 70, 30, H2D, s));
                paste(&mut want, 80, &h, 100, 70);
                t.holds(d, &want, "destination right after the call");
            },
        ),
    ]
}

const DEVICE: aclrtMemLocationType = ACL_MEM_LOCATION_TYPE_DEVICE;
const HOST: aclrtMemLocationType = ACL_MEM_LOCATION_TYPE_HOST;

/// The arrays of a queued batch.
struct Batch {
    to: Vec<*mut c_void>,
    from: Vec<*mut c_void>,
    sizes: Vec<usize>,
    attrs: [aclrtMemcpyBatchAttr; 1],
}

impl Batch {
    fn new(
        to: &[*mut c_void],
        from: &[*mut c_void],
        sizes: &[usize],
        to_kind: aclrtMemLocationType,
        from_kind: aclrtMemLocationType,
    ) -> Self {
        let location = |kind| aclrtMemLocation {
            id: 0,
            r#type: kind,
        };
        Self {
            to: to.to_vec(),
            from: from.to_vec(),
            sizes: sizes.to_vec(),
            attrs: [aclrtMemcpyBatchAttr {
                dstLoc: location(to_kind),
                srcLoc: location(from_kind),
                rsv: [0; 16],
            }],
        }
    }

    fn run(&mut self, fail: *mut usize, s: aclrtStream) -> aclError {
        let mut maxs = self.sizes.clone();
        aclrtMemcpyBatchAsync(
            self.to.as_mut_ptr(),
            maxs.as_mut_ptr(),
            self.from.as_mut_ptr(),
            self.sizes.as_mut_ptr(),
            self.sizes.len(),
            self.attrs.as_mut_ptr(),
            [0].as_mut_ptr(),
            1,
            fail,
            s,
        )
    }

    fn run_v2(&mut self, s: aclrtStream) -> aclError {
        let mut maxs = self.sizes.clone();
        aclrtMemcpyBatchAsyncV2(
            self.to.as_mut_ptr(),
            maxs.as_mut_ptr(),
            self.from.as_mut_ptr(),
            self.sizes.as_mut_ptr(),
            self.sizes.len(),
            self.attrs.as_mut_ptr(),
            [0].as_mut_ptr(),
            1,
            s,
        )
    }
}

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

fn own() -> Vec<Case> {
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
