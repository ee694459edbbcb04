//! Queued copies and fills: the lines of the contract.

use super::support::*;

pub(super) const H2H: aclrtMemcpyKind = ACL_MEMCPY_HOST_TO_HOST;
pub(super) const H2D: aclrtMemcpyKind = ACL_MEMCPY_HOST_TO_DEVICE;
pub(super) const D2H: aclrtMemcpyKind = ACL_MEMCPY_DEVICE_TO_HOST;
pub(super) const D2D: aclrtMemcpyKind = ACL_MEMCPY_DEVICE_TO_DEVICE;
pub(super) const DEFAULT: aclrtMemcpyKind = ACL_MEMCPY_DEFAULT;
pub(super) const BUFFERED: aclrtMemcpyKind = ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = refused();
    cases.extend(kinds());
    cases.extend(order());
    cases.extend(conditions_and_descriptors());
    cases.extend(fills());
    cases.extend(two_dimensional());
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
pub(super) fn copy_with_offsets(
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
pub(super) fn descriptor(t: &T, len: usize) -> (*mut c_void, Vec<u8>, *mut c_void, Vec<u8>) {
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

pub(super) const DEVICE: aclrtMemLocationType = ACL_MEM_LOCATION_TYPE_DEVICE;
pub(super) const HOST: aclrtMemLocationType = ACL_MEM_LOCATION_TYPE_HOST;

/// The arrays of a queued batch.
pub(super) struct Batch {
    to: Vec<*mut c_void>,
    from: Vec<*mut c_void>,
    sizes: Vec<usize>,
    attrs: [aclrtMemcpyBatchAttr; 1],
}

impl Batch {
    pub(super) fn new(
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

    pub(super) fn run(&mut self, fail: *mut usize, s: aclrtStream) -> aclError {
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

    pub(super) fn run_v2(&mut self, s: aclrtStream) -> aclError {
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
