//! aclrtMemPoolMallocAsync and aclrtMemPoolFreeAsync next to aclrtMalloc and aclrtFree.

use std::ffi::c_void;
use std::ptr;

use cannery_abi as abi;

use crate::api::Api;
use crate::bench::Bench;
use crate::replacement::{Replacement, Sizes, hot};
use crate::rounds::{Samples, Side};
use crate::row::{Row, Unit};
use crate::subjects::{DeviceMemory, Subject};

const MIB: usize = 1 << 20;
const PAIRS: usize = 1 << 13;
const LIVE: usize = 1 << 10;

/// A pool and the stream that uses it.
#[derive(Clone, Copy)]
struct Pool {
    api: Api,
    pool: abi::aclrtMemPool,
    stream: abi::aclrtStream,
}

impl Pool {
    fn create(api: Api) -> Pool {
        let (mut pool, mut stream) = (ptr::null_mut(), ptr::null_mut());
        let properties = abi::aclrtMemPoolProps {
            allocType: abi::ACL_MEM_ALLOCATION_TYPE_PINNED,
            handleType: abi::ACL_MEM_HANDLE_TYPE_NONE,
            location: abi::aclrtMemLocation {
                id: 0,
                r#type: abi::ACL_MEM_LOCATION_TYPE_DEVICE,
            },
            maxSize: 0,
            reserved: [0; 32],
        };
        // SAFETY: the places are valid.
        unsafe {
            let code = (api.aclrtMemPoolCreate)(&raw mut pool, &raw const properties);
            api.check("aclrtMemPoolCreate", code);
            let code = (api.aclrtCreateStream)(&raw mut stream);
            api.check("aclrtCreateStream", code);
        }
        Pool { api, pool, stream }
    }

    fn destroy(self) {
        // SAFETY: any value may be given.
        unsafe {
            let code = (self.api.aclrtMemPoolDestroy)(self.pool);
            self.api.check("aclrtMemPoolDestroy", code);
            let code = (self.api.aclrtDestroyStream)(self.stream);
            self.api.check("aclrtDestroyStream", code);
        }
    }
}

impl Subject for Pool {
    #[inline(always)]
    fn alloc(&self, size: usize) -> *mut c_void {
        let mut block = ptr::null_mut();
        // SAFETY: the place is valid.
        let code = unsafe {
            (self.api.aclrtMemPoolMallocAsync)(&raw mut block, size, self.pool, self.stream)
        };
        self.api.check("aclrtMemPoolMallocAsync", code);
        block
    }

    #[inline(always)]
    fn free(&self, block: *mut c_void) {
        // SAFETY: any value may be given.
        let code = unsafe { (self.api.aclrtMemPoolFreeAsync)(block, self.stream) };
        self.api.check("aclrtMemPoolFreeAsync", code);
    }
}

pub(crate) fn run(bench: &mut Bench<'_>) {
    let rows = [("2 MiB, hot", 2 * MIB), ("200 MiB, hot", 200 * MIB)];
    let live_row = "2 MiB, 1k live";
    if !rows.iter().any(|(name, _)| bench.wants(name)) && !bench.wants(live_row) {
        return;
    }
    let (pool, plain) = (Pool::create(bench.api), DeviceMemory(bench.api));
    for (name, size) in rows {
        if !bench.wants(name) {
            continue;
        }
        let pairs = bench.effort.calls(PAIRS);
        let sides: [Side<'_>; 2] = [
            Box::new(|| hot(pool, size, pairs)),
            Box::new(|| hot(plain, size, pairs)),
        ];
        let [ours, of_plain] = measure(bench, sides);
        bench.row(
            Row::new(name, Unit::Nanoseconds, ours)
                .against("aclrtMalloc + aclrtFree", of_plain)
                .at_most(80.0),
        );
    }
    if bench.wants(live_row) {
        let pairs = bench.effort.calls(PAIRS);
        let sizes = Sizes::One(2 * MIB);
        let mut ours = Replacement::new(pool, LIVE, sizes, 1);
        let mut of_plain = Replacement::new(plain, LIVE, sizes, 1);
        let sides: [Side<'_>; 2] = [
            Box::new(|| ours.round(pairs)),
            Box::new(|| of_plain.round(pairs)),
        ];
        let [time, of_plain] = measure(bench, sides);
        bench.row(
            Row::new(live_row, Unit::Nanoseconds, time)
                .against("aclrtMalloc + aclrtFree", of_plain)
                .at_most(80.0),
        );
    }
    pool.destroy();
}

fn measure(bench: &Bench<'_>, sides: [Side<'_>; 2]) -> [Samples; 2] {
    let samples = bench.take_turns(Vec::from(sides));
    samples.try_into().expect("one for each side")
}
