//! Managed memory: policies that are read back, moves in stream order and what they charge.

use super::managed::*;
use super::support::*;

const READ_MOSTLY: i32 = ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
const PREFERRED: i32 = ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION;
const PREFERRED_TYPE: i32 = ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE;
const PREFERRED_ID: i32 = ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID;
const ACCESSED: i32 = ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
const PREFETCHED: i32 = ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
const PREFETCHED_TYPE: i32 = ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE;
const SET_HOME: i32 = ACL_MEM_ADVISE_SET_PREFERRED_LOCATION;
const SET_MOSTLY: i32 = ACL_MEM_ADVISE_SET_READ_MOSTLY;
const UNSET_MOSTLY: i32 = ACL_MEM_ADVISE_UNSET_READ_MOSTLY;
const SET_ACCESSED: i32 = ACL_MEM_ADVISE_SET_ACCESSED_BY;
const UNSET_ACCESSED: i32 = ACL_MEM_ADVISE_UNSET_ACCESSED_BY;
const PAGE: usize = HUGE_PAGE;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = policies();
    cases.extend(moves());
    cases
}

fn policies() -> Vec<Case> {
    vec![
        case(
            "x.managed.policies_are_read_back",
            Setup::device0().devices(2),
            |t| {
                let m = t.managed(4 * PAGE);
                let (p, rest) = (off(m, PAGE), 2 * PAGE);
                for kind in [PREFERRED, PREFERRED_ID, PREFETCHED] {
                    t.eq(t.attribute(kind, m, 4 * PAGE), -2, "before any advice");
                }
                t.eq(
                    t.attribute(PREFERRED_TYPE, m, 4 * PAGE),
                    0,
                    "before any advice",
                );
                t.advise(p, rest, SET_MOSTLY, on_device(777));
                t.eq(t.attribute(READ_MOSTLY, p, rest), 1, "read mostly");
                t.eq(
                    t.attribute(READ_MOSTLY, off(p, 5), 1),
                    1,
                    "read mostly, one byte",
                );
                t.eq(
                    t.attribute(READ_MOSTLY, m, 4 * PAGE),
                    0,
                    "read mostly, mixed",
                );
                t.advise(p, rest, SET_HOME, on_device(1));
                t.eq(t.attribute(PREFERRED, p, rest), 1, "preferred location");
                t.eq(t.attribute(PREFERRED_ID, p, rest), 1, "preferred id");
                t.eq(
                    t.attribute(PREFERRED_TYPE, p, rest),
                    ACL_MEM_LOCATIONTYPE_DEVICE,
                    "preferred type",
                );
                t.eq(
                    t.attribute(PREFERRED, m, 4 * PAGE),
                    -2,
                    "preferred location, mixed",
                );
                t.eq(
                    t.attribute(PREFERRED_TYPE, m, 4 * PAGE),
                    ACL_MEM_LOCATIONTYPE_INVALID,
                    "mixed",
                );
                t.advise(p, PAGE, SET_HOME, HOST);
                t.eq(
                    t.attribute(PREFERRED, p, PAGE),
                    -1,
                    "preferred location: the host",
                );
                t.eq(
                    t.attribute(PREFERRED_TYPE, p, PAGE),
                    ACL_MEM_LOCATIONTYPE_HOST,
                    "preferred type",
                );
                let node = aclrtMemManagedLocation {
                    r#type: ACL_MEM_LOCATIONTYPE_HOST_NUMA,
                    id: 0,
                };
                t.advise(p, PAGE, SET_HOME, node);
                t.eq(t.attribute(PREFERRED, p, PAGE), 0, "preferred node");
                t.eq(
                    t.attribute(PREFERRED_TYPE, p, PAGE),
                    ACL_MEM_LOCATIONTYPE_HOST_NUMA,
                    "preferred type",
                );
                let here = aclrtMemManagedLocation {
                    r#type: ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT,
                    id: -9,
                };
                t.advise(p, PAGE, SET_HOME, here);
                t.check(
                    t.attribute(PREFERRED, p, PAGE) >= 0,
                    "the node of the thread",
                );
                t.advise(p, rest, ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION, HOST);
                t.eq(t.attribute(PREFERRED, p, rest), -2, "preferred location");
                t.advise(p, rest, UNSET_MOSTLY, HOST);
                t.eq(t.attribute(READ_MOSTLY, p, rest), 0, "read mostly");
                t.free(m);
                let m = t.managed(4 * PAGE);
                t.eq(
                    t.attribute(PREFERRED, m, 4 * PAGE),
                    -2,
                    "a new block has no policies",
                );
                t.free(m);
            },
        ),
        case(
            "x.managed.accessed_by_is_a_list",
            Setup::device0().devices(3),
            |t| {
                let m = t.managed(2 * PAGE);
                let list = |size: usize| {
                    let mut ids = [77; 5];
                    let code =
                        aclrtMemManagedGetAttr(ACCESSED, m, size, ids.as_mut_ptr().cast(), 20);
                    t.ok(code, "aclrtMemManagedGetAttr");
                    ids
                };
                t.eq(list(PAGE), [-2; 5], "nobody");
                t.advise(m, 2 * PAGE, SET_ACCESSED, on_device(2));
                t.advise(m, PAGE, SET_ACCESSED, on_device(0));
                t.advise(m, PAGE, SET_ACCESSED, HOST);
                t.eq(list(PAGE), [-1, 0, 2, -2, -2], "everybody");
                t.eq(list(2 * PAGE), [2, -2, -2, -2, -2], "those of all pages");
                t.advise(m, PAGE, UNSET_ACCESSED, on_device(2));
                t.eq(list(PAGE), [-1, 0, -2, -2, -2], "without device 2");
                t.free(m);
            },
        ),
        case("x.managed.several_attributes", Setup::device0(), |t| {
            let m = t.managed(PAGE);
            t.advise(m, PAGE, SET_HOME, on_device(0));
            t.advise(m, PAGE, SET_ACCESSED, on_device(0));
            let mut kinds = [PREFERRED_TYPE, ACCESSED, READ_MOSTLY];
            let (mut home, mut list, mut mostly) = (77_i32, [77_i32; 2], 77_i32);
            let mut data: [*mut c_void; 3] = [
                (&raw mut home).cast(),
                list.as_mut_ptr().cast(),
                (&raw mut mostly).cast(),
            ];
            let mut sizes = [4, 8, 4];
            let ask =
                |kinds: &mut [i32; 3], data: &mut [*mut c_void; 3], sizes: &mut [usize; 3]| {
                    aclrtMemManagedGetAttrs(
                        kinds.as_mut_ptr(),
                        3,
                        m,
                        PAGE,
                        data.as_mut_ptr(),
                        sizes.as_mut_ptr(),
                    )
                };
            // All or none.
            sizes[1] = 6;
            t.fails_with(
                ask(&mut kinds, &mut data, &mut sizes),
                ERROR_PARAM,
                "EE1003 value=6",
                "a size",
            );
            sizes[1] = 8;
            kinds[2] = 9;
            t.fails_with(
                ask(&mut kinds, &mut data, &mut sizes),
                ERROR_PARAM,
                "EE1003 value=9",
                "a kind",
            );
            t.eq((home, list, mostly), (77, [77; 2], 77), "outputs");
            kinds[2] = READ_MOSTLY;
            t.ok(
                ask(&mut kinds, &mut data, &mut sizes),
                "aclrtMemManagedGetAttrs",
            );
            t.eq(
                (home, list, mostly),
                (ACL_MEM_LOCATIONTYPE_DEVICE, [0, -2], 0),
                "outputs",
            );
            t.free(m);
        }),
    ]
}

fn moves() -> Vec<Case> {
    vec![
        case(
            "x.managed.prefetch_in_stream_order",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let m = t.managed(8 * PAGE);
                let bytes = t.random_bytes(8 * PAGE);
                host_write(m, &bytes);
                let full = huge_free(t);
                let gate = t.hold(s);
                t.prefetch(m, 4 * PAGE, on_device(0), s);
                t.eq(
                    huge_free(t),
                    full,
                    "free huge bytes before the stream comes to it",
                );
                // The request is known at once.
                t.eq(t.attribute(PREFETCHED, m, 4 * PAGE), 0, "last prefetch");
                t.eq(
                    t.attribute(PREFETCHED_TYPE, m, 4 * PAGE),
                    ACL_MEM_LOCATIONTYPE_DEVICE,
                    "its type",
                );
                t.eq(
                    t.attribute(PREFETCHED, m, 8 * PAGE),
                    -2,
                    "last prefetch, mixed",
                );
                gate.open();
                t.sync(s);
                t.eq(huge_free(t), full - 4 * PAGE, "free huge bytes");
                t.prefetch(m, 8 * PAGE, on_device(0), s);
                t.prefetch(off(m, 6 * PAGE), 2 * PAGE, HOST, s);
                t.sync(s);
                t.eq(huge_free(t), full - 6 * PAGE, "free huge bytes");
                t.eq(
                    t.attribute(PREFETCHED, off(m, 6 * PAGE), PAGE),
                    -1,
                    "last prefetch",
                );
                t.same_bytes(&host_read(m, 8 * PAGE), &bytes, "bytes");
                t.free(m);
                t.eq(huge_free(t), full, "free huge bytes");
            },
        ),
        case(
            "x.managed.prefetch_batch",
            Setup::device0().devices(2),
            |t| {
                let s = t.stream();
                let blocks = [1, 2, 3].map(|pages| t.managed(pages * PAGE));
                let full = huge_free(t);
                let mut ptrs = blocks.map(|m| m.cast_const());
                let mut sizes = [PAGE, 2 * PAGE, 3 * PAGE];
                let mut places = [on_device(0), HOST];
                let mut indexes = [0, 2];
                let code = aclrtMemManagedPrefetchBatchAsync(
                    ptrs.as_mut_ptr(),
                    sizes.as_mut_ptr(),
                    3,
                    places.as_mut_ptr(),
                    indexes.as_mut_ptr(),
                    2,
                    0,
                    s,
                );
                t.ok(code, "aclrtMemManagedPrefetchBatchAsync");
                t.sync(s);
                t.eq(huge_free(t), full - 3 * PAGE, "free huge bytes");
                t.eq(
                    blocks.map(|m| t.attribute(PREFETCHED, m, PAGE)),
                    [0, 0, -1],
                    "last prefetch",
                );
                // One wrong range: nothing is queued.
                sizes[2] = 4 * PAGE;
                places[0] = HOST;
                let code = aclrtMemManagedPrefetchBatchAsync(
                    ptrs.as_mut_ptr(),
                    sizes.as_mut_ptr(),
                    3,
                    places.as_mut_ptr(),
                    indexes.as_mut_ptr(),
                    2,
                    0,
                    s,
                );
                t.fails(code, ERROR_PARAM, "a range beyond its block");
                t.sync(s);
                t.eq(
                    blocks.map(|m| t.attribute(PREFETCHED, m, PAGE)),
                    [0, 0, -1],
                    "last prefetch",
                );
                for m in blocks {
                    t.free(m);
                }
                t.eq(huge_free(t), full, "free huge bytes");
            },
        ),
        case("x.managed.mostly_read", Setup::device0().devices(2), |t| {
            let m = t.managed(PAGE);
            let free0 = huge_free(t);
            t.ok(aclrtMemset(m, PAGE, 3, PAGE), "aclrtMemset");
            t.advise(m, PAGE, SET_MOSTLY, HOST);
            t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
            let free1 = huge_free(t);
            t.holds(m, &[3; 4096], "bytes");
            t.eq(huge_free(t), free1 - PAGE, "a copy on device 1");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice(0)");
            t.eq(huge_free(t), free0 - PAGE, "and the one on device 0");
            // A write ends it.
            t.ok(aclrtMemset(m, PAGE, 4, PAGE), "aclrtMemset");
            t.eq(t.attribute(READ_MOSTLY, m, PAGE), 0, "read mostly");
            t.eq(huge_free(t), free0 - PAGE, "free huge bytes of device 0");
            t.ok(aclrtSetDevice(1), "aclrtSetDevice(1)");
            t.eq(huge_free(t), free1, "free huge bytes of device 1");
            t.free(m);
        }),
        case("x.managed.homes", Setup::device0().devices(2), |t| {
            let s = t.stream();
            let m = t.managed(2 * PAGE);
            let full = huge_free(t);
            // At home on the host: the device reaches it there.
            t.advise(m, PAGE, SET_HOME, HOST);
            t.ok(aclrtMemset(m, 2 * PAGE, 1, 2 * PAGE), "aclrtMemset");
            t.eq(huge_free(t), full - PAGE, "free huge bytes");
            // A home elsewhere than the bytes is refused, unless they may be copied.
            let code = aclrtMemManagedAdvise(off(m, PAGE), PAGE as u64, SET_HOME, HOST);
            t.fails_with(code, ERROR_PARAM, "EE1011 param=ptr", "bytes on the device");
            t.advise(off(m, PAGE), PAGE, SET_MOSTLY, HOST);
            t.advise(off(m, PAGE), PAGE, SET_HOME, on_device(1));
            t.prefetch(m, PAGE, on_device(0), s);
            t.sync(s);
            t.eq(huge_free(t), full - 2 * PAGE, "free huge bytes");
            t.free(m);
            t.eq(huge_free(t), full, "free huge bytes");
        }),
        case(
            "x.managed.bytes_that_the_host_wrote_first",
            Setup::device0(),
            |t| {
                let m = t.managed(PAGE);
                host_write(m, &[1; 64]);
                let code = aclrtMemManagedAdvise(m, PAGE as u64, SET_HOME, on_device(0));
                t.fails_with(
                    code,
                    ERROR_PARAM,
                    "EE1011 param=ptr",
                    "a home on the other side",
                );
                t.advise(m, PAGE, SET_HOME, HOST);
                t.free(m);
            },
        ),
        case(
            "x.managed.full_device",
            Setup::device0().memory("64M", "32M"),
            |t| {
                // More than the device has: the rest stays on the host.
                let m = t.managed(64 * MIB);
                let bytes = t.random_bytes(64 * MIB);
                t.upload(m, &bytes);
                t.eq(huge_free(t), 0, "free huge bytes");
                t.same_bytes(&host_read(m, 64 * MIB), &bytes, "bytes");
                let mut p = SENTINEL;
                let code = aclrtMalloc(&raw mut p, PAGE, ACL_MEM_MALLOC_HUGE_ONLY);
                t.fails(code, ERROR_MEMORY, "aclrtMalloc");
                t.free(m);
                t.eq(t.mem(ACL_HBM_MEM_HUGE), (32 * MIB, 32 * MIB), "huge pool");
            },
        ),
    ]
}
