//! aclrtMapMem and aclrtUnmapMem next to what the system needs for it; questions about mapped memory.

use std::ffi::c_void;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::ptr;

use cannery_abi as abi;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use crate::api::Api;
use crate::bench::Bench;
use crate::clock::Busy;
use crate::rounds::{Samples, Side};
use crate::row::{Row, Unit};

const UNIT: usize = 2 << 20;
const LIVE: usize = 1 << 14;
/// Places that take turns.
const PLACES: usize = 8;

pub(crate) fn run(bench: &mut Bench<'_>) {
    map_and_unmap(bench);
    questions(bench);
}

fn reserve(api: Api, bytes: usize) -> *mut c_void {
    let mut at = ptr::null_mut();
    // SAFETY: the place is valid.
    let code = unsafe { (api.aclrtReserveMemAddress)(&raw mut at, bytes, 0, ptr::null_mut(), 0) };
    api.check("aclrtReserveMemAddress", code);
    at
}

fn physical(api: Api) -> abi::aclrtDrvMemHandle {
    let property = abi::aclrtPhysicalMemProp {
        handleType: abi::ACL_MEM_HANDLE_TYPE_NONE,
        allocationType: abi::ACL_MEM_ALLOCATION_TYPE_PINNED,
        memAttr: abi::ACL_HBM_MEM_HUGE,
        location: abi::aclrtMemLocation {
            id: 0,
            r#type: abi::ACL_MEM_LOCATION_TYPE_DEVICE,
        },
        reserve: 0,
    };
    let mut handle = ptr::null_mut();
    // SAFETY: the place and the properties are valid.
    let code = unsafe { (api.aclrtMallocPhysical)(&raw mut handle, UNIT, &raw const property, 0) };
    api.check("aclrtMallocPhysical", code);
    handle
}

fn map(api: Api, at: *mut c_void, handle: abi::aclrtDrvMemHandle) {
    // SAFETY: any value may be given.
    api.check("aclrtMapMem", unsafe {
        (api.aclrtMapMem)(at, UNIT, 0, handle, 0)
    });
}

fn unmap(api: Api, at: *mut c_void) {
    // SAFETY: any value may be given.
    api.check("aclrtUnmapMem", unsafe { (api.aclrtUnmapMem)(at) });
}

/// Addresses and a memory file of the program.
struct Bare {
    base: *mut c_void,
    file: i32,
}

impl Bare {
    fn new() -> Bare {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: fresh addresses and a fresh file of our own.
        let (base, file) = unsafe {
            let bytes = (PLACES + 1) * UNIT;
            let base = libc::mmap(ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0);
            (
                base,
                libc::memfd_create(c"bench".as_ptr(), libc::MFD_CLOEXEC),
            )
        };
        assert!(
            base != libc::MAP_FAILED && file >= 0,
            "no addresses or no file"
        );
        // SAFETY: the length of our own file.
        assert_eq!(unsafe { libc::ftruncate(file, UNIT as i64) }, 0);
        let over = base as usize % UNIT;
        let base = base.wrapping_byte_add((UNIT - over) % UNIT);
        Bare { base, file }
    }

    fn put(&self, at: *mut c_void, access: i32, flags: i32, file: i32) {
        // SAFETY: replaces a part of our own addresses, which nobody touches.
        let got = unsafe { libc::mmap(at, UNIT, access, flags | libc::MAP_FIXED, file, 0) };
        assert_eq!(got, at, "mmap");
    }

    fn turn(&self, place: usize) {
        let at = self.base.wrapping_byte_add(place * UNIT);
        let both = libc::PROT_READ | libc::PROT_WRITE;
        self.put(at, both, libc::MAP_SHARED, self.file);
        let fresh = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        self.put(at, libc::PROT_NONE, fresh, -1);
    }
}

fn map_and_unmap(bench: &mut Bench<'_>) {
    let name = "map + unmap of a 2 MiB handle";
    if !bench.wants(name) {
        return;
    }
    let api = bench.api;
    let (at, handle, bare) = (reserve(api, PLACES * UNIT), physical(api), Bare::new());
    let calls = bench.effort.calls(1 << 10);
    let turns = |turn: &dyn Fn(usize)| {
        let begun = Busy::start();
        for number in 0..calls {
            turn(number % PLACES);
        }
        begun.per(calls)
    };
    let ours = |place: usize| {
        let at = at.wrapping_byte_add(place * UNIT);
        map(api, at, handle);
        unmap(api, at);
    };
    let sides: Vec<Side<'_>> = vec![
        Box::new(|| turns(&ours)),
        Box::new(|| turns(&|place| bare.turn(place))),
    ];
    let [ours, system]: [Samples; 2] = bench
        .take_turns(sides)
        .try_into()
        .expect("one for each side");
    bench.row(
        Row::new(name, Unit::Nanoseconds, ours)
            .against("mmap", system)
            .times_at_most("mmap", 1.3)
            .note(
                "The reference maps a memory file with MAP_FIXED and puts inaccessible addresses there again; \
                 it is spared the order to keep the memory out of core dumps.",
            ),
    );
}

fn questions(bench: &mut Bench<'_>) {
    let names = ["aclrtPointerGetAttributes", "aclrtMemGetAddressRange"]
        .map(|name| format!("{name}, any byte of any mapping"));
    if !names.iter().any(|name| bench.wants(name)) {
        return;
    }
    let api = bench.api;
    let at = reserve(api, LIVE * UNIT);
    for number in 0..LIVE {
        let handle = physical(api);
        map(api, at.wrapping_byte_add(number * UNIT), handle);
        // SAFETY: any value may be given.
        api.check("aclrtFreePhysical", unsafe {
            (api.aclrtFreePhysical)(handle)
        });
    }
    let mut random = SmallRng::seed_from_u64(3);
    let addresses: Vec<*mut c_void> = (0..bench.effort.calls(1 << 14))
        .map(|_| at.wrapping_byte_add(random.random_range(0..LIVE * UNIT)))
        .collect();
    let ask = |question: &dyn Fn(*mut c_void)| {
        let begun = Busy::start();
        for &address in &addresses {
            question(address);
        }
        begun.per(addresses.len())
    };
    let attributes = |address: *mut c_void| {
        let mut found = MaybeUninit::<abi::aclrtPtrAttributes>::uninit();
        // SAFETY: the place is valid.
        let code = unsafe { (api.aclrtPointerGetAttributes)(address, found.as_mut_ptr()) };
        api.check("aclrtPointerGetAttributes", code);
        black_box(found);
    };
    let range = |address: *mut c_void| {
        let (mut base, mut size) = (ptr::null_mut(), 0);
        // SAFETY: both places are valid.
        let code = unsafe { (api.aclrtMemGetAddressRange)(address, &raw mut base, &raw mut size) };
        api.check("aclrtMemGetAddressRange", code);
        black_box((base, size));
    };
    let sides: Vec<Side<'_>> = vec![Box::new(|| ask(&attributes)), Box::new(|| ask(&range))];
    let measured = bench.take_turns(sides);
    for (name, ours) in names.into_iter().zip(measured) {
        bench.row(
            Row::new(name, Unit::Nanoseconds, ours)
                .at_most(15.0)
                .note("16,384 mappings of 2 MiB are live."),
        );
    }
    for number in 0..LIVE {
        unmap(api, at.wrapping_byte_add(number * UNIT));
    }
    // SAFETY: any value may be given.
    let code = unsafe { (api.aclrtReleaseMemAddress)(at) };
    api.check("aclrtReleaseMemAddress", code);
}
