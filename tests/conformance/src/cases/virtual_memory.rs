//! Virtual memory: the lines of the contract, and the short forms of its calls.

use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = reserving();
    cases.extend(releasing());
    cases.extend(allocating());
    cases.extend(attributes());
    cases.extend(granularity());
    cases.extend(freeing());
    cases.extend(mapping());
    cases.extend(mapping_again());
    cases.extend(rights());
    cases.extend(links());
    cases
}

/// A location.
pub(super) fn place(kind: aclrtMemLocationType, id: u32) -> aclrtMemLocation {
    aclrtMemLocation { id, r#type: kind }
}

/// Memory of device 0 with an attribute.
pub(super) fn property(attribute: aclrtMemAttr) -> aclrtPhysicalMemProp {
    property_at(attribute, ACL_MEM_LOCATION_TYPE_DEVICE, 0)
}

/// Memory with an attribute at a location.
pub(super) fn property_at(
    attribute: aclrtMemAttr,
    kind: aclrtMemLocationType,
    id: u32,
) -> aclrtPhysicalMemProp {
    aclrtPhysicalMemProp {
        handleType: ACL_MEM_HANDLE_TYPE_NONE,
        allocationType: ACL_MEM_ALLOCATION_TYPE_PINNED,
        memAttr: attribute,
        location: place(kind, id),
        reserve: 0,
    }
}

/// Rights of a location.
pub(super) fn grant(flags: aclrtMemAccessFlags, location: aclrtMemLocation) -> aclrtMemAccessDesc {
    aclrtMemAccessDesc {
        flags,
        location,
        rsv: [0; 12],
    }
}

/// The rights that there are, for device 0.
pub(super) fn device0() -> aclrtMemAccessDesc {
    grant(
        ACL_RT_MEM_ACCESS_FLAGS_READWRITE,
        place(ACL_MEM_LOCATION_TYPE_DEVICE, 0),
    )
}

impl T {
    /// Reserves addresses anywhere.
    pub(super) fn reserve(&self, size: usize) -> *mut c_void {
        self.reserve_at(size, null_mut())
    }

    /// Reserves addresses at a place.
    pub(super) fn reserve_at(&self, size: usize, at: *mut c_void) -> *mut c_void {
        let mut v = SENTINEL;
        let code = aclrtReserveMemAddress(&raw mut v, size, 0, at, 0);
        self.ok(code, "aclrtReserveMemAddress");
        if !at.is_null() {
            self.eq(v, at, "address of the reservation");
        }
        v
    }

    /// Gives addresses back.
    pub(super) fn release(&self, v: *mut c_void) {
        self.ok(aclrtReleaseMemAddress(v), "aclrtReleaseMemAddress");
    }

    /// Physical memory in huge pages of device 0.
    pub(super) fn physical(&self, size: usize) -> aclrtDrvMemHandle {
        self.physical_of(size, &property(ACL_HBM_MEM_HUGE))
    }

    /// Physical memory with these properties.
    pub(super) fn physical_of(
        &self,
        size: usize,
        property: &aclrtPhysicalMemProp,
    ) -> aclrtDrvMemHandle {
        let mut h = SENTINEL;
        let code = aclrtMallocPhysical(&raw mut h, size, property, 0);
        self.ok(code, "aclrtMallocPhysical");
        h
    }

    /// One reference less.
    pub(super) fn free_physical(&self, h: aclrtDrvMemHandle) {
        self.ok(aclrtFreePhysical(h), "aclrtFreePhysical");
    }

    /// Maps a handle.
    pub(super) fn map(&self, v: *mut c_void, size: usize, h: aclrtDrvMemHandle) {
        self.ok(aclrtMapMem(v, size, 0, h, 0), "aclrtMapMem");
    }

    /// Takes a mapping away.
    pub(super) fn unmap(&self, v: *mut c_void) {
        self.ok(aclrtUnmapMem(v), "aclrtUnmapMem");
    }

    /// `parts` handles of 2 MiB side by side in a reservation of their size; the handles are freed
    /// already, so the memory goes with its mappings.
    pub(super) fn mapped(&self, parts: usize) -> *mut c_void {
        let v = self.reserve(parts * HUGE_PAGE);
        for part in 0..parts {
            let h = self.physical(HUGE_PAGE);
            self.map(off(v, part * HUGE_PAGE), HUGE_PAGE, h);
            self.free_physical(h);
        }
        v
    }

    /// Takes away what [`mapped`](Self::mapped) made.
    pub(super) fn take_down(&self, v: *mut c_void, parts: usize) {
        for part in 0..parts {
            self.unmap(off(v, part * HUGE_PAGE));
        }
        self.release(v);
    }

    /// Rights of a location to a mapping.
    pub(super) fn access(&self, v: *mut c_void, mut location: aclrtMemLocation) -> u64 {
        let mut flags = UNTOUCHED as u64;
        let code = aclrtMemGetAccess(v, &raw mut location, &raw mut flags);
        self.ok(code, "aclrtMemGetAccess");
        flags
    }

    /// Gives rights to a mapping.
    pub(super) fn set_access(&self, v: *mut c_void, size: usize, mut desc: aclrtMemAccessDesc) {
        let code = aclrtMemSetAccess(v, size, &raw mut desc, 1);
        self.ok(code, "aclrtMemSetAccess");
    }

    /// The properties of a handle.
    pub(super) fn properties(&self, h: aclrtDrvMemHandle) -> aclrtPhysicalMemProp {
        let mut property = property(77);
        let code = aclrtMemGetAllocationPropertiesFromHandle(h, &raw mut property);
        self.ok(code, "aclrtMemGetAllocationPropertiesFromHandle");
        property
    }

    /// The handle behind a mapping, with one reference more.
    pub(super) fn retain(&self, v: *mut c_void) -> aclrtDrvMemHandle {
        let mut h = SENTINEL;
        let code = aclrtMemRetainAllocationHandle(v, &raw mut h);
        self.ok(code, "aclrtMemRetainAllocationHandle");
        h
    }

    /// Judges a call of the line that must write no address.
    fn reserves_nothing(&self, size: usize, expected: *mut c_void, flags: u64) {
        let mut v = SENTINEL;
        let code = aclrtReserveMemAddress(&raw mut v, size, 0, expected, flags);
        self.ret(code);
        self.eq(v, SENTINEL, "output");
    }

    /// Judges an allocation of the line that must give nothing and charge nothing.
    fn allocates_nothing(&self, size: usize, property: &aclrtPhysicalMemProp) {
        let mut h = SENTINEL;
        let call = || aclrtMallocPhysical(&raw mut h, size, property, 0);
        let code = self.charges_nothing(call);
        self.ret(code);
        self.eq(h, SENTINEL, "output");
    }

    /// Judges an allocation of the line that must give this many bytes, which work.
    fn allocates(&self, asked: usize, gives: usize, property: &aclrtPhysicalMemProp) {
        let mut h = SENTINEL;
        let call = || aclrtMallocPhysical(&raw mut h, asked, property, 0);
        let (code, taken) = self.charge(call);
        self.ret(code);
        let device = property.location.r#type == ACL_MEM_LOCATION_TYPE_DEVICE;
        let charged = if device { gives as i64 } else { 0 };
        self.eq(taken, (charged, 0), "what was charged");
        let v = self.reserve(gives);
        self.map(v, gives, h);
        self.usable(v, gives);
        self.eq(self.range(off(v, gives - 1)), (v, gives), "its range");
        self.unmap(v);
        self.free_physical(h);
        self.release(v);
    }
}

fn reserving() -> Vec<Case> {
    vec![
        case("vmm.reserve.expect_taken", Setup::device0(), |t| {
            let v = t.reserve(HUGE_PAGE);
            t.reserves_nothing(HUGE_PAGE, v, 0);
            let v = t.reserve_at(HUGE_PAGE, addr(17 << 40));
            let mut w = SENTINEL;
            let code = aclrtReserveMemAddress(&raw mut w, HUGE_PAGE, 0, v, 0);
            t.fails(code, ERROR_PARAM, "the same place again");
            t.eq(w, SENTINEL, "output");
        }),
        case("vmm.reserve.flags_one_accepted", Setup::device0(), |t| {
            let mut v = SENTINEL;
            t.ret(aclrtReserveMemAddress(
                &raw mut v,
                HUGE_PAGE,
                0,
                null_mut(),
                1,
            ));
            t.map(v, HUGE_PAGE, t.physical(HUGE_PAGE));
            t.usable(v, HUGE_PAGE);
        }),
        case("vmm.reserve.flags_two", Setup::device0(), |t| {
            t.reserves_nothing(HUGE_PAGE, null_mut(), 2);
        }),
        case("vmm.reserve.no_context", Setup::fresh(), |t| {
            let mut v = SENTINEL;
            t.ret(aclrtReserveMemAddress(
                &raw mut v,
                HUGE_PAGE,
                0,
                null_mut(),
                0,
            ));
            t.check(v != SENTINEL && !v.is_null(), "no address");
            t.release(v);
        }),
        case("vmm.reserve.null", Setup::device0(), |t| {
            t.ret(aclrtReserveMemAddress(
                null_mut(),
                HUGE_PAGE,
                0,
                null_mut(),
                0,
            ));
        }),
        case(
            "vmm.reserve_no_uc.size_zero",
            Setup::device0().profile("A3"),
            |t| {
                let mut v = SENTINEL;
                t.ret(aclrtReserveMemAddressNoUCMemory(
                    &raw mut v,
                    0,
                    0,
                    null_mut(),
                    0,
                ));
                t.eq(v, SENTINEL, "output");
            },
        ),
    ]
}

fn releasing() -> Vec<Case> {
    vec![
        case("vmm.release.null", Setup::device0(), |t| {
            t.ret(aclrtReleaseMemAddress(null_mut()));
        }),
        case("vmm.release.twice", Setup::device0(), |t| {
            let v = t.reserve(HUGE_PAGE);
            t.release(v);
            t.ret(aclrtReleaseMemAddress(v));
        }),
        case("vmm.release.unknown", Setup::device0(), |t| {
            t.ret(aclrtReleaseMemAddress(addr(0x1000)));
        }),
        case("vmm.release.while_mapped", Setup::device0(), |t| {
            let v = t.mapped(2);
            let bytes = t.random_bytes(2 * HUGE_PAGE);
            t.upload(v, &bytes);
            t.ret(aclrtReleaseMemAddress(v));
            t.holds(v, &bytes, "the mappings");
            t.take_down(v, 2);
        }),
    ]
}

fn allocating() -> Vec<Case> {
    vec![
        case("vmm.malloc_physical.alloc_type", Setup::device0(), |t| {
            let mut wrong = property(ACL_HBM_MEM_HUGE);
            wrong.allocationType = 100;
            t.allocates_nothing(HUGE_PAGE, &wrong);
        }),
        case("vmm.malloc_physical.bad_device", Setup::device0(), |t| {
            let wrong = property_at(ACL_HBM_MEM_HUGE, ACL_MEM_LOCATION_TYPE_DEVICE, 9999);
            t.allocates_nothing(HUGE_PAGE, &wrong);
        }),
        case("vmm.malloc_physical.host_numa_ddr", Setup::device0(), |t| {
            let numa = ACL_MEM_LOCATION_TYPE_HOST_NUMA;
            t.allocates(4096, 4096, &property_at(ACL_DDR_MEM_NORMAL, numa, 0));
        }),
        case(
            "vmm.malloc_physical.host_numa_no_context",
            Setup::init(),
            |t| {
                let mut h = SENTINEL;
                let numa = property_at(ACL_DDR_MEM_NORMAL, ACL_MEM_LOCATION_TYPE_HOST_NUMA, 0);
                t.ret(aclrtMallocPhysical(&raw mut h, 4096, &raw const numa, 0));
                t.eq(h, SENTINEL, "output");
                // Only that: memory of a device and of the host need none.
                t.physical(HUGE_PAGE);
                t.physical_of(
                    4096,
                    &property_at(ACL_DDR_MEM_NORMAL, ACL_MEM_LOCATION_TYPE_HOST, 0),
                );
            },
        ),
        case(
            "vmm.malloc_physical.location_unregistered",
            Setup::device0(),
            |t| {
                let nowhere = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
                t.allocates_nothing(HUGE_PAGE, &property_at(ACL_HBM_MEM_HUGE, nowhere, 0));
            },
        ),
        case("vmm.malloc_physical.null_handle", Setup::device0(), |t| {
            let huge = property(ACL_HBM_MEM_HUGE);
            let code = t
                .charges_nothing(|| aclrtMallocPhysical(null_mut(), HUGE_PAGE, &raw const huge, 0));
            t.ret(code);
        }),
        case("vmm.malloc_physical.oom", Setup::device0(), |t| {
            let total = t.pools().all.1;
            t.allocates_nothing(2 * total, &property(ACL_HBM_MEM_HUGE));
        }),
        case(
            "vmm.malloc_physical.unaligned_size",
            Setup::device0(),
            |t| t.allocates(1, HUGE_PAGE, &property(ACL_HBM_MEM_HUGE)),
        ),
    ]
}

fn attributes() -> Vec<Case> {
    vec![
        case("vmm.malloc_physical.attr_ddr_mem", Setup::device0(), |t| {
            t.allocates_nothing(4096, &property(ACL_DDR_MEM));
        }),
        case("vmm.malloc_physical.attr_hbm_p2p", Setup::device0(), |t| {
            t.allocates_nothing(HUGE_PAGE, &property(ACL_HBM_MEM_P2P_HUGE));
        }),
        case(
            "vmm.malloc_physical.attr_hbm_p2p_huge1g",
            Setup::device0(),
            |t| t.allocates_nothing(GIB, &property(ACL_HBM_MEM_P2P_HUGE1G)),
        ),
        case(
            "vmm.malloc_physical.attr_p2p_huge_ok",
            Setup::device0(),
            |t| t.allocates(HUGE_PAGE, HUGE_PAGE, &property(ACL_MEM_P2P_HUGE)),
        ),
        case("vmm.malloc_physical.ddr_on_device", Setup::device0(), |t| {
            t.allocates_nothing(4096, &property(ACL_DDR_MEM_NORMAL));
        }),
        case("vmm.props.attr_normalised", Setup::device0(), |t| {
            let h = t.physical_of(HUGE_PAGE, &property(ACL_MEM_HUGE));
            let mut found = property(77);
            t.ret(aclrtMemGetAllocationPropertiesFromHandle(h, &raw mut found));
            t.eq(found.memAttr, ACL_HBM_MEM_HUGE, "memAttr");
            t.eq(
                (found.handleType, found.allocationType, found.reserve),
                (ACL_MEM_HANDLE_TYPE_NONE, ACL_MEM_ALLOCATION_TYPE_PINNED, 0),
                "the rest",
            );
            t.eq(
                (found.location.r#type, found.location.id),
                (ACL_MEM_LOCATION_TYPE_DEVICE, 0),
                "location",
            );
        }),
        case("vmm.props.null", Setup::device0(), |t| {
            let h = t.physical(HUGE_PAGE);
            t.ret(aclrtMemGetAllocationPropertiesFromHandle(h, null_mut()));
            t.properties(h);
        }),
    ]
}

/// Judges a question of the line that must write no answer.
fn no_granularity(t: &T, mut property: aclrtPhysicalMemProp) {
    let mut unit = UNTOUCHED;
    let minimum = ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM;
    t.ret(aclrtMemGetAllocationGranularity(
        &raw mut property,
        minimum,
        &raw mut unit,
    ));
    t.eq(unit, UNTOUCHED, "output");
}

/// Judges a question of the line that has an answer, the same for both options.
fn has_granularity(t: &T, mut property: aclrtPhysicalMemProp, want: usize) {
    for option in [
        ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED,
        ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM,
    ] {
        let mut unit = UNTOUCHED;
        t.ret(aclrtMemGetAllocationGranularity(
            &raw mut property,
            option,
            &raw mut unit,
        ));
        t.eq(unit, want, "granularity");
    }
}

fn granularity() -> Vec<Case> {
    vec![
        case("vmm.granularity.bad_attr", Setup::device0(), |t| {
            no_granularity(t, property(ACL_HBM_MEM_P2P_NORMAL));
        }),
        case("vmm.granularity.bad_device", Setup::device0(), |t| {
            let device = ACL_MEM_LOCATION_TYPE_DEVICE;
            no_granularity(t, property_at(ACL_HBM_MEM_HUGE, device, 9999));
        }),
        case("vmm.granularity.ddr_on_device", Setup::device0(), |t| {
            no_granularity(t, property(ACL_DDR_MEM_HUGE));
        }),
        case("vmm.granularity.huge", Setup::device0(), |t| {
            has_granularity(t, property(ACL_HBM_MEM_HUGE), HUGE_PAGE);
        }),
        case("vmm.granularity.huge1g", Setup::device0(), |t| {
            has_granularity(t, property(ACL_HBM_MEM_HUGE1G), GIB);
        }),
        case("vmm.granularity.no_location_check", Setup::device0(), |t| {
            let managed = ACL_MEM_LOCATION_TYPE_MANAGED;
            has_granularity(t, property_at(ACL_MEM_HUGE, managed, 0), HUGE_PAGE);
        }),
        case("vmm.granularity.null_out", Setup::device0(), |t| {
            let mut huge = property(ACL_HBM_MEM_HUGE);
            let minimum = ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM;
            t.ret(aclrtMemGetAllocationGranularity(
                &raw mut huge,
                minimum,
                null_mut(),
            ));
        }),
    ]
}

fn freeing() -> Vec<Case> {
    vec![
        case("vmm.free_physical.twice", Setup::device0(), |t| {
            let h = t.physical(HUGE_PAGE);
            t.free_physical(h);
            let code = t.charges_nothing(|| aclrtFreePhysical(h));
            t.ret(code);
        }),
        case("vmm.free_physical.while_mapped", Setup::device0(), |t| {
            let before = t.pools();
            let (v, h) = (t.reserve(HUGE_PAGE), t.physical(HUGE_PAGE));
            t.map(v, HUGE_PAGE, h);
            let bytes = t.random_bytes(HUGE_PAGE);
            t.upload(v, &bytes);
            t.ret(aclrtFreePhysical(h));
            t.holds(v, &bytes, "the mapping");
            t.usable(v, HUGE_PAGE);
            let taken = before.taken(&t.pools());
            t.eq(taken, (HUGE_PAGE as i64, 0), "charged while mapped");
            t.unmap(v);
            t.eq(t.pools(), before, "pools after the mapping is gone");
        }),
        case("vmm.retain.null_va", Setup::device0(), |t| {
            let mut h = SENTINEL;
            t.ret(aclrtMemRetainAllocationHandle(null_mut(), &raw mut h));
            t.eq(h, SENTINEL, "output");
        }),
    ]
}

/// Judges a mapping of the line that must not come about: `v`, which has 2 MiB of a reservation, is as free
/// afterwards as before.
fn maps_nothing(t: &T, v: *mut c_void, map: impl FnOnce() -> aclError) {
    let code = t.charges_nothing(map);
    t.ret(code);
    t.fails(
        aclrtUnmapMem(v),
        ERROR_PARAM,
        "unmap of what was not mapped",
    );
    t.map(v, HUGE_PAGE, t.physical(HUGE_PAGE));
    t.usable(v, HUGE_PAGE);
}

fn mapping() -> Vec<Case> {
    vec![
        case("vmm.map.flags", Setup::device0(), |t| {
            let (v, h) = (t.reserve(HUGE_PAGE), t.physical(HUGE_PAGE));
            maps_nothing(t, v, || aclrtMapMem(v, HUGE_PAGE, 0, h, 1));
        }),
        case("vmm.map.null_va", Setup::device0(), |t| {
            let h = t.physical(HUGE_PAGE);
            t.ret(aclrtMapMem(null_mut(), HUGE_PAGE, 0, h, 0));
        }),
        case("vmm.map.size_zero", Setup::device0(), |t| {
            let (v, h) = (t.reserve(HUGE_PAGE), t.physical(HUGE_PAGE));
            maps_nothing(t, v, || aclrtMapMem(v, 0, 0, h, 0));
        }),
        case("vmm.map.offset_nonzero", Setup::device0(), |t| {
            let (v, h) = (t.reserve(HUGE_PAGE), t.physical(HUGE_PAGE));
            maps_nothing(t, v, || aclrtMapMem(v, HUGE_PAGE, 4096, h, 0));
        }),
        case("vmm.map.order", Setup::device0(), |t| {
            let code = aclrtMapMem(null_mut(), 0, 0, null_mut(), 1);
            t.ret(code);
            // The rest of the order, one step at a time.
            let v = t.reserve(HUGE_PAGE);
            let code = aclrtMapMem(v, 0, 0, null_mut(), 1);
            t.fails_with(code, ERROR_FRONT, "EH0008 param=handle", "no handle");
            let h = t.physical(HUGE_PAGE);
            let code = aclrtMapMem(v, 0, 0, h, 1);
            t.fails_with(code, ERROR_FRONT, "EH0007 param=size", "no bytes");
        }),
        case("vmm.map.not_reserved", Setup::device0(), |t| {
            let h = t.physical(HUGE_PAGE);
            let v = addr(17 << 40);
            let code = t.charges_nothing(|| aclrtMapMem(v, HUGE_PAGE, 0, h, 0));
            t.ret(code);
            let block = t.malloc(4 * HUGE_PAGE, ACL_MEM_MALLOC_HUGE_ONLY);
            let code = aclrtMapMem(block, HUGE_PAGE, 0, h, 0);
            t.fails(code, ERROR_PARAM, "over ordinary memory");
            t.usable(block, HUGE_PAGE);
            let heap = vec![7_u8; 4096];
            let at = src(&heap).cast_mut();
            let code = aclrtMapMem(at, HUGE_PAGE, 0, h, 0);
            t.fails(code, ERROR_PARAM, "over memory of the program");
            t.same_bytes(&heap, &[7; 4096], "memory of the program");
        }),
        case("vmm.map.past_reservation", Setup::device0(), |t| {
            let (v, h) = (t.reserve(HUGE_PAGE), t.physical(2 * HUGE_PAGE));
            maps_nothing(t, v, || aclrtMapMem(v, 2 * HUGE_PAGE, 0, h, 0));
        }),
    ]
}

fn mapping_again() -> Vec<Case> {
    vec![
        case("vmm.map.offset_into_reservation", Setup::device0(), |t| {
            let v = t.reserve(2 * HUGE_PAGE);
            let (h1, h2) = (t.physical(HUGE_PAGE), t.physical(HUGE_PAGE));
            t.map(v, HUGE_PAGE, h1);
            t.ret(aclrtMapMem(off(v, HUGE_PAGE), HUGE_PAGE, 0, h2, 0));
            t.usable(v, 2 * HUGE_PAGE);
        }),
        case("vmm.map.readwrite", Setup::device0(), |t| {
            let v = t.mapped(1);
            t.set_access(v, HUGE_PAGE, device0());
            let bytes = t.random_bytes(HUGE_PAGE);
            t.upload(v, &bytes);
            let mut back = vec![0; HUGE_PAGE];
            let kind = ACL_MEMCPY_DEVICE_TO_HOST;
            t.ret(aclrtMemcpy(dst(&mut back), HUGE_PAGE, v, HUGE_PAGE, kind));
            t.same_bytes(&back, &bytes, "bytes that came back");
        }),
        case("vmm.map_no_access.flags", Setup::device0(), |t| {
            let (v, h) = (t.reserve(HUGE_PAGE), t.physical(HUGE_PAGE));
            maps_nothing(t, v, || aclrtMemMapNoAccess(v, HUGE_PAGE, 0, h, 1));
        }),
        case("vmm.map_no_access.null_va", Setup::device0(), |t| {
            let h = t.physical(HUGE_PAGE);
            t.ret(aclrtMemMapNoAccess(null_mut(), HUGE_PAGE, 0, h, 0));
        }),
        case("vmm.unmap.not_mapped", Setup::device0(), |t| {
            let v = t.reserve(HUGE_PAGE);
            t.ret(aclrtUnmapMem(v));
        }),
        case("vmm.unmap.null", Setup::device0(), |t| {
            t.ret(aclrtUnmapMem(null_mut()));
        }),
        case("vmm.unmap.then_remap", Setup::device0(), |t| {
            let (v, h) = (t.reserve(HUGE_PAGE), t.physical(HUGE_PAGE));
            t.map(v, HUGE_PAGE, h);
            let bytes = t.random_bytes(HUGE_PAGE);
            t.upload(v, &bytes);
            t.unmap(v);
            t.ret(aclrtMapMem(v, HUGE_PAGE, 0, h, 0));
            t.holds(v, &bytes, "memory that was mapped again");
        }),
    ]
}

fn rights() -> Vec<Case> {
    vec![
        case("vmm.get_access.roundtrip", Setup::device0(), |t| {
            let (v, h) = (t.reserve(HUGE_PAGE), t.physical(HUGE_PAGE));
            t.ok(
                aclrtMemMapNoAccess(v, HUGE_PAGE, 0, h, 0),
                "aclrtMemMapNoAccess",
            );
            let mut location = place(ACL_MEM_LOCATION_TYPE_DEVICE, 0);
            t.eq(t.access(v, location), 0, "rights before");
            t.set_access(v, HUGE_PAGE, device0());
            let mut flags = UNTOUCHED as u64;
            t.ret(aclrtMemGetAccess(v, &raw mut location, &raw mut flags));
            t.eq(flags, 3, "rights that were set");
        }),
        case("vmm.set_access.not_mapped", Setup::device0(), |t| {
            let (v, mut desc) = (t.reserve(HUGE_PAGE), device0());
            t.ret(aclrtMemSetAccess(v, HUGE_PAGE, &raw mut desc, 1));
        }),
        case("vmm.set_access.null_desc", Setup::device0(), |t| {
            let v = t.mapped(1);
            t.ret(aclrtMemSetAccess(v, HUGE_PAGE, null_mut(), 1));
        }),
        case("vmm.set_access.wrong_size", Setup::device0(), |t| {
            let (v, h) = (t.reserve(HUGE_PAGE), t.physical(HUGE_PAGE));
            t.ok(
                aclrtMemMapNoAccess(v, HUGE_PAGE, 0, h, 0),
                "aclrtMemMapNoAccess",
            );
            let mut desc = device0();
            t.ret(aclrtMemSetAccess(v, 4096, &raw mut desc, 1));
            let device = place(ACL_MEM_LOCATION_TYPE_DEVICE, 0);
            t.eq(t.access(v, device), 0, "rights");
        }),
    ]
}

fn links() -> Vec<Case> {
    let a3 = || Setup::device0().profile("A3");
    vec![
        case("vmm.selected_link.bad_link", a3(), |t| {
            let (d, s) = (t.reserve(HUGE_PAGE), t.mapped(1));
            maps_nothing(t, d, || aclrtMemMapSelectedLink(d, HUGE_PAGE, s, 2));
        }),
        case("vmm.selected_link.size_zero", a3(), |t| {
            let (d, s) = (t.reserve(HUGE_PAGE), t.mapped(1));
            maps_nothing(t, d, || aclrtMemMapSelectedLink(d, 0, s, 0));
        }),
        case("vmm.set_link.null", a3(), |t| {
            t.ret(aclrtMemMapSetLink(null_mut(), 0));
        }),
    ]
}
