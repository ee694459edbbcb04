//! Virtual memory: how long things live, and what is left when something fails.

use super::support::*;
use super::virtual_memory::{device0, grant, place, property, property_at};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = references();
    cases.extend(failures());
    cases.extend(wrong_addresses());
    cases.extend(resets());
    cases.extend(while_queued());
    cases.extend(questions());
    cases.extend(second_places());
    cases
}

const DEVICE: aclrtMemLocationType = ACL_MEM_LOCATION_TYPE_DEVICE;
const TAKEN: (i64, i64) = (HUGE_PAGE as i64, 0);

fn references() -> Vec<Case> {
    vec![
        case("x.vmm.retain.counts", Setup::device0(), |t| {
            let before = t.pools();
            let (v, h) = (t.reserve(HUGE_PAGE), t.physical(HUGE_PAGE));
            t.map(v, HUGE_PAGE, h);
            for _ in 0..3 {
                t.eq(t.retain(v), h, "handle behind the mapping");
            }
            t.unmap(v);
            // One of the allocation, three of retaining.
            for left in (0..4).rev() {
                t.eq(before.taken(&t.pools()), TAKEN, "charged");
                t.eq(t.properties(h).memAttr, ACL_HBM_MEM_HUGE, "properties");
                t.free_physical(h);
                if left > 0 {
                    t.map(v, HUGE_PAGE, h);
                    t.unmap(v);
                }
            }
            t.eq(t.pools(), before, "pools after the last release");
            t.fails(aclrtFreePhysical(h), ERROR_PARAM, "one release too many");
            t.release(v);
        }),
        case("x.vmm.retain.brings_back", Setup::device0(), |t| {
            // The handle was freed; the mapping still knows it.
            let before = t.pools();
            let v = t.mapped(1);
            let bytes = t.random_bytes(HUGE_PAGE);
            t.upload(v, &bytes);
            let h = t.retain(v);
            t.unmap(v);
            t.eq(before.taken(&t.pools()), TAKEN, "charged");
            t.map(v, HUGE_PAGE, h);
            t.holds(v, &bytes, "memory that was kept");
            t.free_physical(h);
            t.fails(aclrtFreePhysical(h), ERROR_PARAM, "one release too many");
            t.holds(v, &bytes, "memory that is mapped");
            t.take_down(v, 1);
            t.eq(t.pools(), before, "pools");
        }),
        case("x.vmm.retain.first_byte_only", Setup::device0(), |t| {
            let v = t.mapped(1);
            let mut h = SENTINEL;
            for at in [off(v, 1), off(v, MIB), off(v, HUGE_PAGE)] {
                let code = aclrtMemRetainAllocationHandle(at, &raw mut h);
                t.fails_with(code, ERROR_PARAM, "param=virPtr", "another address");
            }
            let code = aclrtMemRetainAllocationHandle(v, null_mut());
            t.fails_with(code, ERROR_FRONT, "EH0008 param=handle", "no place");
            let (p, _) = t.filled(64);
            let code = aclrtMemRetainAllocationHandle(p, &raw mut h);
            t.fails(code, ERROR_PARAM, "a device block");
            t.eq(h, SENTINEL, "output");
        }),
        case(
            "x.vmm.free.deferred",
            Setup::device0().memory("64M", "32M"),
            |t| {
                // Freed while mapped at two places: the pages come back with the second one.
                let h = t.physical(32 * MIB);
                let (v, w) = (t.reserve(32 * MIB), t.reserve(32 * MIB));
                t.map(v, 32 * MIB, h);
                t.map(w, 32 * MIB, h);
                t.free_physical(h);
                t.fails(aclrtFreePhysical(h), ERROR_PARAM, "a second time");
                let code = aclrtMapMem(v, 32 * MIB, 0, h, 0);
                t.fails(code, ERROR_PARAM, "a freed handle cannot be mapped");
                let bytes = t.random_bytes(32 * MIB);
                t.upload(v, &bytes);
                t.holds(w, &bytes, "the second place");
                let mut none = SENTINEL;
                let huge = property(ACL_HBM_MEM_HUGE);
                let mut full = |what: &str| {
                    let code = aclrtMallocPhysical(&raw mut none, 1, &raw const huge, 0);
                    t.fails(code, ERROR_MEMORY, what);
                };
                full("while two mappings live");
                t.unmap(v);
                full("while one mapping lives");
                t.holds(w, &bytes, "the second place");
                t.unmap(w);
                t.physical(32 * MIB);
            },
        ),
        case(
            "x.vmm.free.fresh_memory_is_not_old",
            Setup::device0(),
            |t| {
                // What another handle left behind is not handed out.
                for _ in 0..4 {
                    let v = t.mapped(4);
                    t.holds(v, &vec![0; 4 * HUGE_PAGE], "fresh memory");
                    t.upload(v, &t.random_bytes(4 * HUGE_PAGE));
                    t.take_down(v, 4);
                }
            },
        ),
        case("x.vmm.rounds.end_where_they_began", Setup::device0(), |t| {
            let before = t.pools();
            let ranges: Vec<_> = (0..8).map(|_| t.reserve(4 * MIB)).collect();
            let bytes: Vec<_> = (0..8).map(|_| t.random_bytes(4 * MIB)).collect();
            for round in 0..50 {
                for (v, kept) in ranges.iter().zip(&bytes) {
                    let h = t.physical(4 * MIB);
                    t.map(*v, 4 * MIB, h);
                    t.upload(off(*v, round * 32 * KIB), &kept[round * 32 * KIB..]);
                    t.holds(off(*v, 3 * MIB), &kept[3 * MIB..], "the last MiB");
                    t.unmap(*v);
                    t.free_physical(h);
                }
                t.eq(t.pools(), before, "pools after a round");
            }
            for v in ranges {
                t.release(v);
            }
        }),
    ]
}

fn failures() -> Vec<Case> {
    vec![
        case(
            "x.vmm.map.failures_leave_nothing",
            Setup::device0().devices(2),
            |t| {
                let before = t.pools();
                let v = t.reserve(3 * HUGE_PAGE);
                let (h, long) = (t.physical(HUGE_PAGE), t.physical(2 * HUGE_PAGE));
                let other = property_at(ACL_HBM_MEM_HUGE, DEVICE, 1);
                let foreign = t.physical_of(HUGE_PAGE, &other);
                t.map(off(v, HUGE_PAGE), HUGE_PAGE, h);
                let bytes = t.random_bytes(HUGE_PAGE);
                t.upload(off(v, HUGE_PAGE), &bytes);
                let refused = |part: usize, size: usize, handle, tokens: &str| {
                    let code = aclrtMapMem(off(v, part * MIB), size, 0, handle, 0);
                    t.fails_with(code, ERROR_PARAM, tokens, tokens);
                };
                let taken = format!("param=virPtr expect '{:#x}'", v.addr() + HUGE_PAGE);
                refused(2, HUGE_PAGE, h, &taken);
                refused(0, 2 * HUGE_PAGE, long, &taken);
                refused(2, 2 * HUGE_PAGE, long, &taken);
                refused(
                    4,
                    2 * HUGE_PAGE,
                    long,
                    "param=virPtr expect '6291456 bytes'",
                );
                refused(
                    0,
                    HUGE_PAGE,
                    foreign,
                    "param=virPtr expect 'another device'",
                );
                refused(
                    0,
                    HUGE_PAGE,
                    long,
                    "param=size value=2097152 expect '4194304'",
                );
                refused(0, 4096, h, "param=size value=4096");
                refused(1, HUGE_PAGE, h, "param=virPtr expect '0x200000'");
                refused(0, HUGE_PAGE, addr(0x10), "param=handle value=0x10");
                t.holds(off(v, HUGE_PAGE), &bytes, "the mapping that was there");
                // Nothing stands in the way afterwards.
                t.map(v, HUGE_PAGE, h);
                t.unmap(v);
                t.unmap(off(v, HUGE_PAGE));
                // The reservation is empty, so another device may have it.
                t.map(v, HUGE_PAGE, foreign);
                t.usable(v, HUGE_PAGE);
                t.unmap(v);
                for handle in [h, long, foreign] {
                    t.free_physical(handle);
                }
                t.release(v);
                t.eq(t.pools(), before, "pools");
            },
        ),
        case(
            "x.vmm.access.failures_change_nothing",
            Setup::device0().devices(2),
            |t| {
                let (v, h) = (t.reserve(HUGE_PAGE), t.physical(HUGE_PAGE));
                let code = aclrtMemMapNoAccess(v, HUGE_PAGE, 0, h, 0);
                t.ok(code, "aclrtMemMapNoAccess");
                let refused = |desc: &mut [aclrtMemAccessDesc], want: i64, tokens: &str| {
                    let code = aclrtMemSetAccess(v, HUGE_PAGE, desc.as_mut_ptr(), desc.len());
                    t.fails_with(code, want, tokens, tokens);
                    for id in 0..2 {
                        t.eq(t.access(v, place(DEVICE, id)), 0, "rights of a device");
                    }
                    t.eq(
                        t.access(v, place(ACL_MEM_LOCATION_TYPE_HOST, 0)),
                        0,
                        "rights of the host",
                    );
                };
                let good = device0();
                let read = grant(ACL_RT_MEM_ACCESS_FLAGS_READ, place(DEVICE, 0));
                let both = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
                let managed = grant(both, place(ACL_MEM_LOCATION_TYPE_MANAGED, 0));
                let missing = grant(both, place(DEVICE, 2));
                refused(&mut [good, read], ERROR_PARAM, "param=desc->flags value=1");
                refused(&mut [good, managed], ERROR_PARAM, "param=desc->location");
                refused(
                    &mut [good, missing],
                    ERROR_DEVICE,
                    "param=desc->location value=2",
                );
                refused(&mut [], ERROR_PARAM, "param=count value=0");
                let second = grant(both, place(DEVICE, 1));
                let mut all = [good, second, good];
                let code = aclrtMemSetAccess(v, HUGE_PAGE, all.as_mut_ptr(), 3);
                t.ok(code, "aclrtMemSetAccess");
                for id in 0..2 {
                    t.eq(t.access(v, place(DEVICE, id)), 3, "rights of a device");
                }
                t.usable(v, HUGE_PAGE);
                // They go with the mapping.
                t.unmap(v);
                let code = aclrtMemMapNoAccess(v, HUGE_PAGE, 0, h, 0);
                t.ok(code, "aclrtMemMapNoAccess");
                t.eq(t.access(v, place(DEVICE, 0)), 0, "rights of a new mapping");
            },
        ),
        case("x.vmm.no_access.until_given", Setup::device0(), |t| {
            let (v, h) = (t.reserve(HUGE_PAGE), t.physical(HUGE_PAGE));
            let code = aclrtMemMapNoAccess(v, HUGE_PAGE, 0, h, 0);
            t.ok(code, "aclrtMemMapNoAccess");
            let s = t.stream();
            let (host, _) = t.pinned(MIB);
            let words = "expect 'aclrtMemSetAccess'";
            let kind = ACL_MEMCPY_HOST_TO_DEVICE;
            let is = |code: aclError, what: &str| t.fails_with(code, ERROR_PARAM, words, what);
            is(aclrtMemcpy(v, MIB, host, MIB, kind), "copy");
            is(
                aclrtMemcpy(host, MIB, v, MIB, ACL_MEMCPY_DEVICE_TO_HOST),
                "copy out",
            );
            is(aclrtMemset(v, MIB, 1, MIB), "set");
            is(aclrtMemcpyAsync(v, MIB, host, MIB, kind, s), "queued copy");
            is(aclrtMemsetAsync(v, MIB, 1, MIB, s), "queued set");
            t.check(t.is_idle(s), "something was queued");
            t.set_access(v, HUGE_PAGE, device0());
            t.holds(v, &vec![0; HUGE_PAGE], "memory that nobody touched");
            t.usable(v, HUGE_PAGE);
        }),
    ]
}

fn wrong_addresses() -> Vec<Case> {
    vec![
        case("x.vmm.unmap.exact_only", Setup::device0(), |t| {
            let v = t.mapped(2);
            let (p, bytes) = t.filled(MIB);
            let at = format!("param=virPtr expect '{:#x}'", v.addr());
            t.fails_with(
                aclrtUnmapMem(off(v, 1)),
                ERROR_PARAM,
                &at,
                "an interior address",
            );
            t.fails_with(
                aclrtUnmapMem(off(v, MIB)),
                ERROR_PARAM,
                &at,
                "an interior address",
            );
            t.fails(aclrtUnmapMem(off(v, 2 * HUGE_PAGE)), ERROR_PARAM, "behind");
            t.fails(aclrtUnmapMem(p), ERROR_PARAM, "a device block");
            t.fails(aclrtUnmapMem(addr(0x10)), ERROR_PARAM, "a wild address");
            t.usable(v, 2 * HUGE_PAGE);
            t.holds(p, &bytes, "the device block");
            t.unmap(v);
            t.fails(aclrtUnmapMem(v), ERROR_PARAM, "a second time");
            t.usable(off(v, HUGE_PAGE), HUGE_PAGE);
        }),
        case("x.vmm.release.exact_only", Setup::device0(), |t| {
            let v = t.reserve(3 * HUGE_PAGE);
            let at = format!("param=virPtr expect '{:#x}'", v.addr());
            let code = aclrtReleaseMemAddress(off(v, HUGE_PAGE));
            t.fails_with(code, ERROR_PARAM, &at, "an interior address");
            let (p, bytes) = t.filled(MIB);
            t.fails(aclrtReleaseMemAddress(p), ERROR_PARAM, "a device block");
            t.holds(p, &bytes, "the device block");
            t.map(v, HUGE_PAGE, t.physical(HUGE_PAGE));
            let code = aclrtReleaseMemAddress(v);
            t.fails_with(code, ERROR_PARAM, "expect 'aclrtUnmapMem'", "while mapped");
            t.unmap(v);
            t.release(v);
        }),
        case("x.vmm.other_families_refuse", Setup::device0(), |t| {
            // A mapping is nobody's block.
            let v = t.mapped(1);
            let bytes = t.random_bytes(HUGE_PAGE);
            t.upload(v, &bytes);
            let words = "expect 'aclrtUnmapMem'";
            t.fails_with(aclrtFree(v), ERROR_PARAM, words, "aclrtFree");
            t.fails(aclrtFreeHost(v), ERROR_PARAM, "aclrtFreeHost");
            t.fails(acldvppFree(v), ERROR_PARAM, "acldvppFree");
            t.fails(
                aclrtFree(off(v, 64)),
                ERROR_PARAM,
                "aclrtFree of an interior address",
            );
            t.holds(v, &bytes, "the mapping");
            let h = t.physical(HUGE_PAGE);
            t.fails(aclrtFree(h), ERROR_PARAM, "aclrtFree of a handle");
            t.free_physical(h);
        }),
        case("x.vmm.handles.wild", Setup::device0(), |t| {
            let v = t.reserve(HUGE_PAGE);
            let (p, _) = t.filled(64);
            let stale = t.physical(HUGE_PAGE);
            t.free_physical(stale);
            let mut prop = property(77);
            for h in [stale, p, v, addr(0x10), addr(usize::MAX)] {
                t.fails(aclrtFreePhysical(h), ERROR_PARAM, "free");
                t.fails(aclrtMapMem(v, HUGE_PAGE, 0, h, 0), ERROR_PARAM, "map");
                let code = aclrtMemGetAllocationPropertiesFromHandle(h, &raw mut prop);
                t.fails(code, ERROR_PARAM, "properties");
            }
            t.eq(prop.memAttr, 77, "output");
            // A new handle is not an old one.
            for _ in 0..100 {
                let h = t.physical(HUGE_PAGE);
                t.check(h != stale, "a handle came back");
                t.free_physical(h);
            }
        }),
    ]
}

fn resets() -> Vec<Case> {
    vec![
        case(
            "x.vmm.reset.takes_memory",
            Setup::device0().devices(2),
            |t| {
                let before = t.pools();
                let (v, w) = (t.mapped(2), t.reserve(HUGE_PAGE));
                let other = property_at(ACL_HBM_MEM_HUGE, DEVICE, 1);
                t.ok(aclrtSetDevice(1), "aclrtSetDevice");
                let kept = t.physical_of(HUGE_PAGE, &other);
                t.map(w, HUGE_PAGE, kept);
                let bytes = t.random_bytes(HUGE_PAGE);
                t.upload(w, &bytes);
                let h = t.physical(HUGE_PAGE);
                t.ok(aclrtResetDevice(0), "aclrtResetDevice(0)");
                t.fails(aclrtUnmapMem(v), ERROR_PARAM, "a mapping of the device");
                t.fails(aclrtFreePhysical(h), ERROR_PARAM, "a handle of the device");
                t.holds(w, &bytes, "memory of the other device");
                t.ok(aclrtSetDevice(0), "aclrtSetDevice(0)");
                t.eq(t.pools(), before, "pools");
                // The addresses are the program's.
                t.map(v, HUGE_PAGE, t.physical(HUGE_PAGE));
                t.holds(v, &vec![0; HUGE_PAGE], "memory after the reset");
                t.unmap(v);
                t.release(v);
                t.unmap(w);
                t.free_physical(kept);
                t.release(w);
            },
        ),
        case("x.vmm.reset.while_queued", Setup::device0(), |t| {
            let s = t.stream();
            let v = t.mapped(4);
            let (h, _) = t.pinned(4 * HUGE_PAGE);
            for _ in 0..20 {
                t.copy_async(v, h, 4 * HUGE_PAGE, s);
            }
            t.ok(aclrtResetDeviceForce(0), "aclrtResetDeviceForce");
            t.release(v);
        }),
    ]
}

fn while_queued() -> Vec<Case> {
    vec![
        case("x.vmm.unmap.while_a_copy_waits", Setup::device0(), |t| {
            let before = t.pools();
            let s = t.stream();
            let v = t.mapped(2);
            let (h, _) = t.pinned(2 * HUGE_PAGE);
            let gate = t.hold(s);
            t.copy_async(v, h, 2 * HUGE_PAGE, s);
            t.copy_async(h, v, 2 * HUGE_PAGE, s);
            t.ok(aclrtMemsetAsync(v, 64, 1, 64, s), "aclrtMemsetAsync");
            t.take_down(v, 2);
            t.eq(t.pools(), before, "pools");
            let w = t.reserve_at(2 * HUGE_PAGE, addr(17 << 40));
            gate.open();
            t.sync(s);
            t.release(w);
            // What was queued for the old mapping left nothing in fresh memory.
            let v = t.mapped(2);
            t.holds(v, &vec![0; 2 * HUGE_PAGE], "fresh memory");
        }),
        case("x.vmm.unmap.while_copies_run", Setup::device0(), |t| {
            let before = t.pools();
            let s = t.stream();
            let (h, _) = t.pinned(8 * HUGE_PAGE);
            for _ in 0..10 {
                let v = t.mapped(8);
                for _ in 0..8 {
                    t.copy_async(v, h, 8 * HUGE_PAGE, s);
                }
                t.take_down(v, 8);
            }
            t.sync(s);
            t.eq(t.pools(), before, "pools");
        }),
        case("x.vmm.threads.map_and_copy", Setup::device0(), |t| {
            // Two threads map and unmap, two copy whatever is there: codes only, no crash.
            let before = t.pools();
            let v = t.reserve(8 * HUGE_PAGE);
            let at = v.addr();
            std::thread::scope(|scope| {
                for thread in 0..2 {
                    scope.spawn(move || {
                        t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                        for round in 0..300 {
                            let place = addr(at + (round * 2 + thread) % 8 * HUGE_PAGE);
                            let h = t.physical(HUGE_PAGE);
                            t.map(place, HUGE_PAGE, h);
                            t.free_physical(h);
                            t.unmap(place);
                        }
                    });
                    scope.spawn(move || {
                        t.ok(aclrtSetDevice(0), "aclrtSetDevice");
                        let bytes = t.random_bytes(64 * KIB);
                        for round in 0..3000 {
                            let to = addr(at + round % 8 * HUGE_PAGE + thread * MIB);
                            let len = bytes.len();
                            let kind = ACL_MEMCPY_HOST_TO_DEVICE;
                            let code = i64::from(aclrtMemcpy(to, len, src(&bytes), len, kind));
                            if code != 0 {
                                t.eq(code, ERROR_PARAM, "code of a copy to nothing");
                                t.pending_text("the copy");
                            }
                        }
                    });
                }
            });
            t.release(v);
            t.eq(t.pools(), before, "pools");
        }),
    ]
}

fn questions() -> Vec<Case> {
    vec![
        case(
            "x.vmm.pointer.attributes",
            Setup::device0().devices(2),
            |t| {
                let other = property_at(ACL_HBM_MEM_HUGE, DEVICE, 1);
                let v = t.reserve(2 * HUGE_PAGE);
                t.map(v, HUGE_PAGE, t.physical_of(HUGE_PAGE, &other));
                for at in [v, off(v, 12345), off(v, HUGE_PAGE - 1)] {
                    let found = t.attributes(at);
                    t.eq(found.location.r#type, DEVICE, "location");
                    t.eq(found.location.id, 1, "device");
                    t.eq(found.pageSize as usize, HUGE_PAGE, "page size");
                    t.eq(t.range(at), (v, HUGE_PAGE), "range");
                }
                let unknown = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
                for at in [off(v, HUGE_PAGE), off(v, 2 * HUGE_PAGE), addr(17 << 40)] {
                    t.eq(t.attributes(at).location.r#type, unknown, "nothing mapped");
                    let (mut base, mut size) = (SENTINEL, UNTOUCHED);
                    let code = aclrtMemGetAddressRange(at, &raw mut base, &raw mut size);
                    t.fails(code, ERROR_PARAM, "range of nothing");
                    t.eq((base, size), (SENTINEL, UNTOUCHED), "outputs");
                }
                t.unmap(v);
                t.eq(t.attributes(v).location.r#type, unknown, "unmapped");
            },
        ),
        case(
            "x.vmm.pointer.range_is_one_mapping",
            Setup::device0(),
            |t| {
                let v = t.mapped(3);
                for part in 0..3 {
                    let first = off(v, part * HUGE_PAGE);
                    t.eq(t.range(off(first, 777)), (first, HUGE_PAGE), "range");
                }
            },
        ),
        case("x.vmm.text.not_mapped", Setup::device0(), |t| {
            let v = t.reserve(4 * HUGE_PAGE);
            let heap = vec![7; MIB];
            let at = v.addr() + HUGE_PAGE;
            let code = aclrtMemcpy(addr(at), MIB, src(&heap), MIB, ACL_MEMCPY_HOST_TO_DEVICE);
            let tokens = format!(
                "EE1011 func=aclrtMemcpy param=dst value={at:#x} expect '8388608 bytes reserved at {:#x}' \
                 expect 'aclrtMapMem'",
                v.addr()
            );
            t.fails_with(code, ERROR_PARAM, &tokens, "copy to what is only reserved");
        }),
    ]
}

/// aclrtMemMapSelectedLink: the same memory at a second place.
fn second_places() -> Vec<Case> {
    let a3 = || Setup::device0().profile("A3");
    vec![
        case("x.vmm.selected_link.same_memory", a3(), |t| {
            let before = t.pools();
            let s = t.mapped(3);
            let mut bytes = t.random_bytes(3 * HUGE_PAGE);
            t.upload(s, &bytes);
            for link in [0, 1] {
                let d = t.reserve(3 * HUGE_PAGE);
                let code = aclrtMemMapSelectedLink(d, 3 * HUGE_PAGE, s, link);
                t.ok(code, "aclrtMemMapSelectedLink");
                t.holds(d, &bytes, "the second place");
                bytes = t.random_bytes(3 * HUGE_PAGE);
                t.upload(d, &bytes);
                t.holds(s, &bytes, "the first place");
                let taken = before.taken(&t.pools());
                t.eq(taken, (3 * HUGE_PAGE as i64, 0), "charged once");
                // As many mappings as the source has.
                t.take_down(d, 3);
                t.holds(s, &bytes, "the source afterwards");
            }
            t.take_down(s, 3);
            t.eq(t.pools(), before, "pools");
        }),
        case("x.vmm.selected_link.refused", a3(), |t| {
            let (s, d) = (t.mapped(2), t.reserve(2 * HUGE_PAGE));
            let long = t.reserve(3 * HUGE_PAGE);
            let all = 2 * HUGE_PAGE;
            let is = |to, size, from, tokens: &str| {
                let code = aclrtMemMapSelectedLink(to, size, from, 0);
                t.fails_with(code, ERROR_PARAM, tokens, tokens);
            };
            is(off(d, HUGE_PAGE), HUGE_PAGE, s, "param=virPtrDst");
            is(long, all, s, "param=virPtrDst expect '6291456 bytes'");
            is(long, 3 * HUGE_PAGE, s, "param=virPtrSrc");
            is(d, all, off(s, HUGE_PAGE), "param=virPtrSrc");
            is(d, all, off(s, MIB), "param=virPtrSrc");
            is(d, all, d, "param=virPtrSrc");
            is(s, all, s, "param=virPtrDst");
            t.fails(aclrtUnmapMem(d), ERROR_PARAM, "nothing was mapped");
            let code = aclrtMemMapSelectedLink(d, all, s, 1);
            t.ok(code, "aclrtMemMapSelectedLink");
        }),
    ]
}
