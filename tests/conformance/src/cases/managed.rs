//! Managed memory: the lines of the contract, and what its cases share.

use super::support::*;

/// The one flag of aclrtMemAllocManaged.
pub(super) const GLOBAL: u32 = ACL_RT_MEM_ATTACH_GLOBAL;
pub(super) const HOST: aclrtMemManagedLocation = aclrtMemManagedLocation {
    r#type: ACL_MEM_LOCATIONTYPE_HOST,
    id: 0,
};

pub(super) fn on_device(id: i32) -> aclrtMemManagedLocation {
    aclrtMemManagedLocation {
        r#type: ACL_MEM_LOCATIONTYPE_DEVICE,
        id,
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = allocation();
    cases.extend(policies());
    cases.extend(prefetch());
    cases
}

/// Free bytes of the huge pool of the current device.
pub(super) fn huge_free(t: &T) -> usize {
    t.mem(ACL_HBM_MEM_HUGE).0
}

impl T {
    /// Managed memory.
    pub(super) fn managed(&self, size: usize) -> *mut c_void {
        let mut m = SENTINEL;
        let code = aclrtMemAllocManaged(&raw mut m, size as u64, GLOBAL);
        self.ok(code, "aclrtMemAllocManaged");
        m
    }

    /// One attribute of a range.
    pub(super) fn attribute(&self, kind: i32, m: *mut c_void, size: usize) -> i32 {
        let mut value = 77;
        let code = aclrtMemManagedGetAttr(kind, m, size, (&raw mut value).cast(), 4);
        self.ok(code, "aclrtMemManagedGetAttr");
        value
    }

    pub(super) fn advise(
        &self,
        m: *mut c_void,
        size: usize,
        advice: i32,
        place: aclrtMemManagedLocation,
    ) {
        let code = aclrtMemManagedAdvise(m, size as u64, advice, place);
        self.ok(code, "aclrtMemManagedAdvise");
    }

    pub(super) fn prefetch(
        &self,
        m: *mut c_void,
        size: usize,
        place: aclrtMemManagedLocation,
        s: aclrtStream,
    ) {
        let code = aclrtMemManagedPrefetchAsync(m, size, place, 0, s);
        self.ok(code, "aclrtMemManagedPrefetchAsync");
    }
}

fn allocation() -> Vec<Case> {
    vec![
        case("managed.alloc.flag_zero", Setup::device0(), |t| {
            let mut m = SENTINEL;
            t.ret(aclrtMemAllocManaged(&raw mut m, 64, 0));
            t.eq(m, SENTINEL, "output");
        }),
        case("managed.alloc.host_writable", Setup::device0(), |t| {
            let m = t.managed(3 * MIB);
            let bytes = t.random_bytes(3 * MIB);
            host_write(m, &bytes);
            let d = t.malloc(3 * MIB, ACL_MEM_MALLOC_HUGE_FIRST);
            let kind = ACL_MEMCPY_DEVICE_TO_DEVICE;
            t.ret(aclrtMemcpy(d, 3 * MIB, m, 3 * MIB, kind));
            t.holds(d, &bytes, "device memory");
            let (p, other) = t.filled(MIB);
            t.ok(aclrtMemcpy(off(m, MIB), MIB, p, MIB, kind), "aclrtMemcpy");
            t.same_bytes(&host_read(off(m, MIB), MIB), &other, "what the host sees");
            t.same_bytes(&host_read(m, MIB), &bytes[..MIB], "the rest");
            t.free(m);
        }),
        case("managed.alloc.null", Setup::device0(), |t| {
            t.ret(aclrtMemAllocManaged(null_mut(), 64, GLOBAL));
        }),
        case("managed.alloc.pointer_type", Setup::device0(), |t| {
            let m = t.managed(64);
            for p in [m, off(m, 1), off(m, HUGE_PAGE - 1)] {
                let mut a = blank_attributes();
                t.ret(aclrtPointerGetAttributes(p, &raw mut a));
                let managed = (ACL_MEM_LOCATION_TYPE_MANAGED, 0);
                t.eq((a.location.r#type, a.location.id), managed, "location");
            }
            t.free(m);
            let a = t.attributes(m);
            let unregistered = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
            t.eq(a.location.r#type, unregistered, "location afterwards");
        }),
        case("managed.alloc.size_zero", Setup::device0(), |t| {
            let mut m = SENTINEL;
            t.ret(aclrtMemAllocManaged(&raw mut m, 0, GLOBAL));
            t.eq(m, SENTINEL, "output");
        }),
        case("memory.free.managed_block", Setup::device0(), |t| {
            let before = t.pools();
            let m = t.managed(5 * MIB);
            t.ok(aclrtMemset(m, 5 * MIB, 7, 5 * MIB), "aclrtMemset");
            t.ret(aclrtFree(m));
            t.eq(t.pools(), before, "page pools");
            t.fails(aclrtFree(m), ERROR_PARAM, "a second time");
        }),
        case("memory.memset_d32.managed_memory", Setup::device0(), |t| {
            let m = t.managed(MIB);
            let bytes = t.random_bytes(MIB);
            host_write(m, &bytes);
            t.ret(aclrtMemsetD32(m, MIB, 1, 8));
            t.same_bytes(&host_read(m, MIB), &bytes, "managed memory");
            t.free(m);
        }),
        case("vmm.p2p_map.flags", Setup::device0().devices(2), |t| {
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            t.ret(aclrtMemP2PMap(p, 64, 1, 1));
        }),
    ]
}

fn policies() -> Vec<Case> {
    const HOME: i32 = ACL_MEM_ADVISE_SET_PREFERRED_LOCATION;
    vec![
        case("managed.advise.bad_advise", Setup::device0(), |t| {
            let m = t.managed(HUGE_PAGE);
            t.ret(aclrtMemManagedAdvise(m, HUGE_PAGE as u64, 6, HOST));
            t.free(m);
        }),
        case("managed.advise.bad_device", Setup::device0(), |t| {
            let m = t.managed(HUGE_PAGE);
            let place = on_device(9999);
            t.ret(aclrtMemManagedAdvise(m, HUGE_PAGE as u64, HOME, place));
            let kind = ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION;
            t.eq(t.attribute(kind, m, HUGE_PAGE), -2, "preferred location");
            t.free(m);
        }),
        case("managed.advise.size_zero", Setup::device0(), |t| {
            let m = t.managed(HUGE_PAGE);
            t.ret(aclrtMemManagedAdvise(m, 0, HOME, HOST));
            t.free(m);
        }),
        case("managed.get_attr.bad_attribute", Setup::device0(), |t| {
            let m = t.managed(HUGE_PAGE);
            let mut value = 77_i32;
            let data = (&raw mut value).cast();
            t.ret(aclrtMemManagedGetAttr(0, m, HUGE_PAGE, data, 4));
            t.eq(value, 77, "output");
            t.free(m);
        }),
        case("managed.get_attrs.null_attributes", Setup::device0(), |t| {
            let m = t.managed(HUGE_PAGE);
            let (mut value, mut size) = (77_i32, 4);
            let mut data: *mut c_void = (&raw mut value).cast();
            t.ret(aclrtMemManagedGetAttrs(
                null_mut(),
                1,
                m,
                HUGE_PAGE,
                &raw mut data,
                &raw mut size,
            ));
            t.eq(value, 77, "output");
            t.free(m);
        }),
    ]
}

fn prefetch() -> Vec<Case> {
    vec![
        case("managed.prefetch.flags", Setup::device0(), |t| {
            let (m, s) = (t.managed(HUGE_PAGE), t.stream());
            t.ret(aclrtMemManagedPrefetchAsync(m, HUGE_PAGE, HOST, 1, s));
            t.free(m);
        }),
        case("managed.prefetch.null_stream", Setup::device0(), |t| {
            let m = t.managed(HUGE_PAGE);
            let null = null_mut();
            t.ret(aclrtMemManagedPrefetchAsync(m, HUGE_PAGE, HOST, 0, null));
            t.free(m);
        }),
        case("managed.prefetch_batch.count_zero", Setup::device0(), |t| {
            t.ret(batch(t, |b| b.count = 0));
        }),
        case(
            "managed.prefetch_batch.first_index",
            Setup::device0(),
            |t| {
                t.ret(batch(t, |b| b.index = 1));
            },
        ),
        case("managed.prefetch_batch.null_item", Setup::device0(), |t| {
            t.ret(batch(t, |b| b.item = null()));
        }),
        case("managed.prefetch_batch.null_ptrs", Setup::device0(), |t| {
            t.ret(batch(t, |b| b.null_items = true));
        }),
    ]
}

/// Arguments of a batch of one range, valid until they are changed.
struct One {
    count: usize,
    index: usize,
    item: *const c_void,
    null_items: bool,
}

fn batch(t: &T, change: impl FnOnce(&mut One)) -> aclError {
    let (m, s) = (t.managed(HUGE_PAGE), t.stream());
    let mut one = One {
        count: 1,
        index: 0,
        item: m,
        null_items: false,
    };
    change(&mut one);
    let (mut size, mut place) = (HUGE_PAGE, on_device(0));
    let items = if one.null_items {
        null_mut()
    } else {
        &raw mut one.item
    };
    let before = t.pools();
    let code = aclrtMemManagedPrefetchBatchAsync(
        items,
        &raw mut size,
        one.count,
        &raw mut place,
        &raw mut one.index,
        1,
        0,
        s,
    );
    t.sync(s);
    t.eq(t.pools(), before, "page pools");
    code
}
