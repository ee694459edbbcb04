//! Managed memory beyond the lines of the contract: bytes on both sides, addresses,
//! releases, refusals.

use super::gate::ERROR_FOREIGN_STREAM;
use super::kernel::AddArgs;
use super::managed::*;
use super::support::*;

const READ_MOSTLY: i32 = ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
const SET_MOSTLY: i32 = ACL_MEM_ADVISE_SET_READ_MOSTLY;
const D2D: aclrtMemcpyKind = ACL_MEMCPY_DEVICE_TO_DEVICE;
const DEFAULT: aclrtMemcpyKind = ACL_MEMCPY_DEFAULT;
const PAGE: usize = HUGE_PAGE;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = allocation();
    cases.extend(copies());
    cases.extend(refusals());
    cases
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

fn allocation() -> Vec<Case> {
    vec![
        case("x.managed.addresses", Setup::device0(), |t| {
            let blocks: Vec<_> = [1, PAGE, PAGE + 1, 64 * MIB]
                .map(|size| t.managed(size))
                .into();
            for (m, pages) in blocks.iter().zip([1, 1, 2, 32]) {
                let inside =
                    (0x900_0000_0000..0x900_0000_0000 + (3_usize << 40)).contains(&m.addr());
                t.check(
                    inside && m.addr() % PAGE == 0,
                    "an address outside of the window",
                );
                t.eq(
                    t.range(off(*m, pages * PAGE - 1)),
                    (*m, pages * PAGE),
                    "range",
                );
            }
            let mut all = blocks.clone();
            all.sort();
            for pair in all.windows(2) {
                t.check(pair[1].addr() - pair[0].addr() >= PAGE, "blocks overlap");
            }
            for m in blocks {
                t.free(m);
            }
        }),
        case("x.managed.three_tebibytes", Setup::device0(), |t| {
            let before = t.pools();
            let mut m = SENTINEL;
            for size in [(3_u64 << 40) + 1, u64::MAX, 1 << 60] {
                let code = aclrtMemAllocManaged(&raw mut m, size, GLOBAL);
                t.fails_with(
                    code,
                    ERROR_MEMORY,
                    "EE1013 func=aclrtMemAllocManaged",
                    "too much",
                );
            }
            let half = t.managed(2 << 40);
            let code = aclrtMemAllocManaged(&raw mut m, (1 << 40) + 1, GLOBAL);
            t.fails(code, ERROR_MEMORY, "beyond the addresses of the process");
            t.eq(m, SENTINEL, "output");
            let rest = t.managed(1 << 40);
            // The far ends work.
            let bytes = t.random_bytes(4096);
            for p in [
                half,
                off(half, (2 << 40) - 4096),
                off(rest, (1 << 40) - 4096),
            ] {
                t.upload(p, &bytes);
                t.same_bytes(&host_read(p, 4096), &bytes, "bytes");
            }
            t.free(half);
            t.free(rest);
            t.eq(t.pools(), before, "page pools");
        }),
        case("x.managed.a_thousand_rounds", Setup::device0(), |t| {
            let round = |i: usize| {
                let size = (i % 7 + 1) * MIB;
                let m = t.managed(size);
                let bytes = t.random_bytes(4096);
                host_write(off(m, size - 4096), &bytes);
                t.holds(off(m, size - 4096), &bytes, "bytes");
                t.same_bytes(&host_read(m, 4096), &[0; 4096], "bytes of an earlier block");
                t.free(m);
            };
            round(0);
            let (before, open) = (t.pools(), descriptors());
            (0..1000).for_each(round);
            t.eq(
                (t.pools(), descriptors()),
                (before, open),
                "page pools and descriptors",
            );
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
            t.check(maps.lines().count() < 500, "mappings pile up");
        }),
        case(
            "x.managed.freed_memory_traps_and_is_forgotten",
            Setup::device0(),
            |t| {
                let m = t.managed(2 * PAGE);
                t.fails(aclrtFree(off(m, 64)), ERROR_PARAM, "an address inside");
                t.fails(aclrtFreeHost(m), ERROR_PARAM, "aclrtFreeHost");
                t.usable(m, 2 * PAGE);
                t.free(m);
                let mut out = [0; 64];
                let code = aclrtMemcpy(dst(&mut out), 64, m, 64, DEFAULT);
                t.fails(code, ERROR_PARAM, "copy of released memory");
                t.fails(
                    aclrtMemManagedAdvise(m, PAGE as u64, SET_MOSTLY, HOST),
                    ERROR_PARAM,
                    "advice",
                );
            },
        ),
        case("x.managed.outlives_resets", Setup::device0(), |t| {
            let m = t.managed(2 * PAGE);
            let bytes = t.random_bytes(2 * PAGE);
            let full = huge_free(t);
            t.upload(m, &bytes);
            t.eq(huge_free(t), full - 2 * PAGE, "free huge bytes");
            t.ok(aclrtResetDevice(0), "aclrtResetDevice");
            t.same_bytes(&host_read(m, 2 * PAGE), &bytes, "bytes");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            t.eq(huge_free(t), full, "free huge bytes");
            t.holds(m, &bytes, "bytes");
            t.eq(huge_free(t), full - 2 * PAGE, "free huge bytes");
            t.free(m);
            t.eq(huge_free(t), full, "free huge bytes");
        }),
        case("x.managed.threads", Setup::device0(), |t| {
            let before = t.pools();
            std::thread::scope(|scope| {
                for n in 0..4_u8 {
                    scope.spawn(move || {
                        t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                        for _ in 0..50 {
                            let m = t.managed(MIB);
                            t.ok(aclrtMemset(m, MIB, n.into(), MIB), "aclrtMemset");
                            t.same_bytes(&host_read(m, MIB), &vec![n; MIB], "bytes");
                            t.free(m);
                        }
                    });
                }
            });
            t.eq(t.pools(), before, "page pools");
        }),
    ]
}

fn copies() -> Vec<Case> {
    vec![
        case("x.managed.every_copy", Setup::device0(), |t| {
            let s = t.stream();
            let (m, n) = (t.managed(2 * MIB), t.managed(2 * MIB));
            let (h, mut bytes) = t.pinned(2 * MIB);
            let size = 2 * MIB;
            t.ok(
                aclrtMemcpyAsync(m, size, h, size, DEFAULT, s),
                "from pinned memory",
            );
            t.ok(
                aclrtMemcpyAsync(n, size, m, size, D2D, s),
                "from managed memory",
            );
            t.sync(s);
            t.same_bytes(&host_read(n, size), &bytes, "bytes");
            let mut heap = vec![0; size];
            let code =
                aclrtMemcpyAsync(dst(&mut heap), size, n, size, ACL_MEMCPY_DEVICE_TO_HOST, s);
            t.ok(code, "to the heap");
            t.same_bytes(&heap, &bytes, "bytes");
            t.ok(
                aclrtMemsetAsync(off(n, 1000), MIB, 0x5b, MIB, s),
                "aclrtMemsetAsync",
            );
            t.ok(aclrtValueWrite(off(n, 8), 7, 0, s), "aclrtValueWrite");
            t.sync(s);
            bytes[1000..1000 + MIB].fill(0x5b);
            bytes[8..16].copy_from_slice(&7_u64.to_le_bytes());
            t.same_bytes(&host_read(n, size), &bytes, "bytes");
            let code = aclrtMemcpy2d(n, 512, h, 512, 100, 50, ACL_MEMCPY_HOST_TO_DEVICE);
            t.ok(code, "aclrtMemcpy2d");
            t.same_bytes(
                &host_read(off(n, 512), 100),
                &host_read(off(h, 512), 100),
                "row",
            );
            t.fails(
                aclrtMemcpy(off(n, 4096), size, h, size, DEFAULT),
                ERROR_PARAM,
                "beyond the end",
            );
            t.free(m);
            t.free(n);
        }),
        case("x.managed.kernels", Setup::device0(), |t| {
            let function = t.add_kernel();
            let s = t.stream();
            let m = t.managed(2 * MIB);
            let mut bytes = t.random_bytes(2 * MIB);
            host_write(m, &bytes);
            let args = AddArgs {
                at: m,
                bytes: bytes.len() as u64,
                addend: 5,
            };
            t.ok(t.launch_add(function, 4, args, s), "launch");
            t.sync(s);
            bytes.iter_mut().for_each(|b| *b = b.wrapping_add(5));
            t.same_bytes(&host_read(m, 2 * MIB), &bytes, "what the host sees");
            t.free(m);
        }),
        case("x.managed.two_devices", Setup::device0().devices(2), |t| {
            // Both reach it, without peer access.
            let m = t.managed(PAGE);
            let free0 = huge_free(t);
            let (p0, bytes) = t.filled(MIB);
            t.ok(aclrtMemcpy(m, MIB, p0, MIB, D2D), "from device 0");
            t.eq(huge_free(t), free0 - PAGE, "free huge bytes of device 0");
            t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
            let free1 = huge_free(t);
            let p1 = t.malloc(MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
            t.ok(aclrtMemcpy(p1, MIB, m, MIB, D2D), "to device 1");
            t.holds(p1, &bytes, "bytes");
            // The page has moved.
            t.eq(huge_free(t), free1 - PAGE, "free huge bytes of device 1");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice(0)");
            t.eq(huge_free(t), free0, "free huge bytes of device 0");
            t.free(m);
            t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
            t.eq(huge_free(t), free1, "free huge bytes of device 1");
        }),
        case("x.managed.released_while_queued", Setup::device0(), |t| {
            let s = t.stream();
            let size = 2 * MIB;
            let m = t.managed(size);
            let bytes = t.random_bytes(size);
            host_write(m, &bytes);
            let d = t.malloc(size, ACL_MEM_MALLOC_HUGE_FIRST);
            let gate = t.hold(s);
            t.ok(
                aclrtMemcpyAsync(d, size, m, size, D2D, s),
                "aclrtMemcpyAsync",
            );
            t.ok(
                aclrtMemcpyAsync(m, size, d, size, D2D, s),
                "aclrtMemcpyAsync",
            );
            t.prefetch(m, size, on_device(0), s);
            t.free(m);
            let free = huge_free(t);
            let next = t.managed(size);
            gate.open();
            t.sync(s);
            t.holds(d, &bytes, "the bytes at the release");
            t.same_bytes(&host_read(next, size), &vec![0; size], "the next block");
            t.eq(
                huge_free(t),
                free,
                "free huge bytes: the prefetch was for the block before",
            );
            t.free(next);
        }),
    ]
}

fn refusals() -> Vec<Case> {
    vec![
        case("x.managed.order_of_checks", Setup::init(), |t| {
            let (m, mut v) = (addr(0x900_0000_0000), 7_i32);
            let data: *mut c_void = (&raw mut v).cast();
            let alloc = |size, flag| {
                let mut m = SENTINEL;
                let code = aclrtMemAllocManaged(&raw mut m, size, flag);
                t.eq(m, SENTINEL, "output");
                code
            };
            t.fails_with(
                aclrtMemAllocManaged(null_mut(), 0, 0),
                ERROR_FRONT,
                "EH0008 param=ptr",
                "pointer",
            );
            t.fails_with(alloc(0, 0), ERROR_FRONT, "EH0007 param=flag", "flag");
            t.fails_with(alloc(0, 1), ERROR_PARAM, "EE1003 param=size", "size");
            t.fails(alloc(1, 1), ERROR_CONTEXT, "context");
            let advise = |p, size, advice, place| aclrtMemManagedAdvise(p, size, advice, place);
            t.fails_with(
                advise(null_mut(), 0, 9, HOST),
                ERROR_FRONT,
                "EH0008 param=ptr",
                "pointer",
            );
            t.fails_with(
                advise(m, 0, 9, HOST),
                ERROR_FRONT,
                "EH0007 param=size",
                "size",
            );
            t.fails_with(
                advise(m, 1, 9, HOST),
                ERROR_PARAM,
                "EE1003 param=advise",
                "advice",
            );
            t.fails_with(
                advise(m, 1, 2, on_device(9)),
                ERROR_PARAM,
                "EE1003 param=size",
                "size",
            );
            let page = PAGE as u64;
            t.fails_with(
                advise(m, page, 2, on_device(9)),
                ERROR_PARAM,
                "EE1003 param=location",
                "place",
            );
            t.fails(advise(m, page, 2, HOST), ERROR_CONTEXT, "context");
            let get =
                |kind, p, size, data, bytes| aclrtMemManagedGetAttr(kind, p, size, data, bytes);
            t.fails_with(
                get(0, null_mut(), 0, null_mut(), 0),
                ERROR_FRONT,
                "EH0008 param=ptr",
                "pointer",
            );
            t.fails_with(
                get(0, m, 0, null_mut(), 0),
                ERROR_FRONT,
                "EH0008 param=data",
                "place",
            );
            t.fails_with(
                get(0, m, 0, data, 0),
                ERROR_FRONT,
                "EH0007 param=size",
                "size",
            );
            t.fails_with(
                get(9, m, 1, data, 0),
                ERROR_PARAM,
                "EE1003 param=attribute",
                "attribute",
            );
            t.fails_with(
                get(1, m, 1, data, 8),
                ERROR_PARAM,
                "EE1003 param=dataSize",
                "size of the place",
            );
            t.fails(get(1, m, 1, data, 4), ERROR_CONTEXT, "context");
            t.eq(v, 7, "output");
        }),
        case("x.managed.not_managed", Setup::device0(), |t| {
            let s = t.stream();
            let d = t.malloc(PAGE, ACL_MEM_MALLOC_HUGE_FIRST);
            let m = t.managed(PAGE);
            let mut value = 77_i32;
            for p in [
                d,
                off(m, PAGE),
                t.malloc_host(64),
                addr(0x1000),
                addr(usize::MAX & !4095),
            ] {
                t.fails(
                    aclrtMemManagedAdvise(p, PAGE as u64, SET_MOSTLY, HOST),
                    ERROR_PARAM,
                    "advice",
                );
                t.fails(
                    aclrtMemManagedPrefetchAsync(p, PAGE, HOST, 0, s),
                    ERROR_PARAM,
                    "prefetch",
                );
                let code = aclrtMemManagedGetAttr(READ_MOSTLY, p, 64, (&raw mut value).cast(), 4);
                t.fails(code, ERROR_PARAM, "attribute");
            }
            let code = aclrtMemManagedAdvise(m, 2 * PAGE as u64, SET_MOSTLY, HOST);
            t.fails_with(code, ERROR_PARAM, "EE1011 param=ptr", "beyond the end");
            t.eq(
                t.attribute(READ_MOSTLY, m, PAGE),
                0,
                "nothing of it was done",
            );
            t.eq(value, 77, "output");
            t.fails(aclrtHostRegisterV2(m, 4096, 2), ERROR_PARAM, "registration");
            t.free(m);
        }),
        case("x.managed.streams_of_prefetch", Setup::device0(), |t| {
            let m = t.managed(PAGE);
            let go = |s| aclrtMemManagedPrefetchAsync(m, PAGE, on_device(0), 0, s);
            let before = t.pools();
            t.fails(
                go(t.dead_stream()),
                ACL_ERROR_RT_INVALID_HANDLE.into(),
                "a dead stream",
            );
            t.fails(
                go(t.foreign_stream()),
                ERROR_FOREIGN_STREAM,
                "a stream of another context",
            );
            let invalid = aclrtMemManagedLocation {
                r#type: ACL_MEM_LOCATIONTYPE_INVALID,
                id: 0,
            };
            let s = t.stream();
            let code = aclrtMemManagedPrefetchAsync(m, PAGE, invalid, 0, s);
            t.fails_with(code, ERROR_PARAM, "EE1003 param=location", "no location");
            t.sync(s);
            t.eq(t.pools(), before, "page pools");
            t.free(m);
        }),
        case(
            "x.managed.products_without_it",
            Setup::device0().profile("950"),
            |t| {
                let mut m = SENTINEL;
                let code = aclrtMemAllocManaged(&raw mut m, 64, GLOBAL);
                t.fails_with(
                    code,
                    ERROR_UNSUPPORTED,
                    "EE1005 950 910B",
                    "aclrtMemAllocManaged",
                );
                t.eq(m, SENTINEL, "output");
                let p = addr(0x900_0000_0000);
                let code = aclrtMemManagedAdvise(p, PAGE as u64, SET_MOSTLY, HOST);
                t.fails_with(
                    code,
                    ERROR_UNSUPPORTED,
                    "EE1005 func=aclrtMemManagedAdvise",
                    "advice",
                );
                t.fails(
                    aclrtMemManagedAdvise(p, 0, SET_MOSTLY, HOST),
                    ERROR_FRONT,
                    "arguments first",
                );
            },
        ),
        case("x.managed.p2p_map", Setup::device0().devices(2), |t| {
            let p = t.malloc(MIB, ACL_MEM_MALLOC_HUGE_FIRST);
            let map = |p, size, device| aclrtMemP2PMap(p, size, device, 0);
            t.fails_with(
                map(null_mut(), 0, 9),
                ERROR_FRONT,
                "EH0008 param=devPtr",
                "pointer",
            );
            t.fails_with(map(p, 0, 9), ERROR_FRONT, "EH0007 param=size", "size");
            t.fails_with(map(p, MIB, 9), ERROR_DEVICE, "param=dstDevId", "device");
            t.fails_with(
                map(p, MIB, 1),
                ERROR_PARAM,
                "func=aclrtDeviceEnablePeerAccess",
                "no access",
            );
            t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
            t.ok(
                aclrtDeviceEnablePeerAccess(0, 0),
                "aclrtDeviceEnablePeerAccess",
            );
            t.ok(map(p, MIB, 1), "aclrtMemP2PMap");
            t.ok(map(off(p, 4096), 64, 1), "a part of a block");
            t.fails(map(p, 2 * MIB, 1), ERROR_PARAM, "beyond the block");
            t.fails(map(t.malloc_host(64), 64, 1), ERROR_PARAM, "host memory");
            t.ok(map(t.managed(64), 64, 1), "managed memory");
        }),
    ]
}
