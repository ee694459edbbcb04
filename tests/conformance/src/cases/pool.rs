//! Stream-ordered pools: arguments, attributes, counts. What the contract's lines leave
//! open is in `pool_own`, which memory goes to whom in `pool_order`.

use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = attributes();
    cases.extend(create_and_destroy());
    cases.extend(malloc());
    cases.extend(free_and_trim());
    cases
}

/// `ACL_ERROR_RT_INTERNAL_ERROR`, the code of pools.
pub(super) const ERROR_POOL: i64 = ACL_ERROR_RT_INTERNAL_ERROR as i64;

pub(super) const RESERVED: aclrtMemPoolAttr = ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT;
pub(super) const RESERVED_HIGH: aclrtMemPoolAttr = ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH;
pub(super) const USED: aclrtMemPoolAttr = ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT;
pub(super) const USED_HIGH: aclrtMemPoolAttr = ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH;
pub(super) const THRESHOLD: aclrtMemPoolAttr = ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD;

/// The properties of the contract's cases.
pub(super) fn props() -> aclrtMemPoolProps {
    aclrtMemPoolProps {
        allocType: ACL_MEM_ALLOCATION_TYPE_PINNED,
        handleType: ACL_MEM_HANDLE_TYPE_NONE,
        location: aclrtMemLocation {
            id: 0,
            r#type: ACL_MEM_LOCATION_TYPE_DEVICE,
        },
        maxSize: GIB,
        reserved: [0; 32],
    }
}

pub(super) fn make(props: &aclrtMemPoolProps) -> (aclError, aclrtMemPool) {
    let mut mp = SENTINEL;
    let code = aclrtMemPoolCreate(&raw mut mp, props);
    (code, mp)
}

impl T {
    /// A pool of at most so many bytes on device 0.
    pub(super) fn pool_of(&self, most: usize) -> aclrtMemPool {
        let mut props = props();
        props.maxSize = most;
        let (code, mp) = make(&props);
        self.ok(code, "aclrtMemPoolCreate");
        mp
    }

    /// The pool of the contract's cases.
    pub(super) fn pool(&self) -> aclrtMemPool {
        self.pool_of(GIB)
    }

    /// A block of a pool.
    pub(super) fn pooled(&self, size: usize, mp: aclrtMemPool, s: aclrtStream) -> *mut c_void {
        let mut p = SENTINEL;
        let code = aclrtMemPoolMallocAsync(&raw mut p, size, mp, s);
        self.ok(code, &format!("aclrtMemPoolMallocAsync of {size} bytes"));
        if p == SENTINEL || p.is_null() {
            abort("aclrtMemPoolMallocAsync succeeded without a pointer");
        }
        p
    }

    /// Releases a block on a stream.
    pub(super) fn unpool(&self, p: *mut c_void, s: aclrtStream) {
        self.ok(aclrtMemPoolFreeAsync(p, s), "aclrtMemPoolFreeAsync");
    }

    /// A 64-bit attribute.
    pub(super) fn pool_attr(&self, mp: aclrtMemPool, attr: aclrtMemPoolAttr) -> usize {
        let mut value = UNTOUCHED as u64;
        let code = aclrtMemPoolGetAttr(mp, attr, (&raw mut value).cast());
        self.ok(code, &format!("aclrtMemPoolGetAttr({attr})"));
        value as usize
    }

    /// Sets a 64-bit attribute.
    pub(super) fn set_pool_attr(&self, mp: aclrtMemPool, attr: aclrtMemPoolAttr, value: u64) {
        let code = set(mp, attr, value);
        self.ok(code, &format!("aclrtMemPoolSetAttr({attr}, {value})"));
    }

    /// Reserved and used bytes.
    pub(super) fn counts(&self, mp: aclrtMemPool) -> (usize, usize) {
        (self.pool_attr(mp, RESERVED), self.pool_attr(mp, USED))
    }
}

pub(super) fn set(mp: aclrtMemPool, attr: aclrtMemPoolAttr, mut value: u64) -> aclError {
    aclrtMemPoolSetAttr(mp, attr, (&raw mut value).cast())
}

/// A 32-bit attribute; what lies behind it stays as it was.
pub(super) fn short_attr(t: &T, mp: aclrtMemPool, attr: aclrtMemPoolAttr) -> u32 {
    let mut words = [77_u32, 0x5ea1_5ea1];
    let code = aclrtMemPoolGetAttr(mp, attr, words.as_mut_ptr().cast());
    t.ok(code, &format!("aclrtMemPoolGetAttr({attr})"));
    t.eq(words[1], 0x5ea1_5ea1, "the word behind a 32-bit attribute");
    words[0]
}

pub(super) fn set_short(t: &T, mp: aclrtMemPool, attr: aclrtMemPoolAttr, value: u32) {
    let mut word = value;
    let code = aclrtMemPoolSetAttr(mp, attr, (&raw mut word).cast());
    t.ok(code, &format!("aclrtMemPoolSetAttr({attr}, {value})"));
}

fn attributes() -> Vec<Case> {
    vec![
        case("pool.attr.get_null_pool", Setup::device0(), |t| {
            let mut v = UNTOUCHED as u64;
            t.ret(aclrtMemPoolGetAttr(
                null_mut(),
                THRESHOLD,
                (&raw mut v).cast(),
            ));
            t.eq(v, UNTOUCHED as u64, "output");
        }),
        case("pool.attr.get_unknown_pool", Setup::device0(), |t| {
            let mut v = UNTOUCHED as u64;
            t.ret(aclrtMemPoolGetAttr(
                addr(0xdead_beef),
                4,
                (&raw mut v).cast(),
            ));
            t.eq(v, UNTOUCHED as u64, "output");
            t.fails(
                aclrtMemPoolDestroy(addr(0xdead_beef)),
                ERROR_POOL,
                "destroying it",
            );
        }),
        case("pool.attr.reset_high", Setup::device0(), |t| {
            let (mp, s) = (t.pool(), t.stream());
            t.pooled(4 * MIB, mp, s);
            t.ret(set(mp, USED_HIGH, 0));
            t.eq(t.pool_attr(mp, USED_HIGH), 0, "peak after it was set to 0");
            t.eq(t.pool_attr(mp, USED), 4 * MIB, "current bytes");
            t.eq(t.pool_attr(mp, RESERVED_HIGH), 4 * MIB, "the other peak");
            t.pooled(2 * MIB, mp, s);
            t.eq(
                t.pool_attr(mp, USED_HIGH),
                6 * MIB,
                "peak after another block",
            );
        }),
        case("pool.attr.reuse_normalised", Setup::device0(), |t| {
            let mp = t.pool();
            let attr = ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC;
            let mut seven = 7_u32;
            t.ret(aclrtMemPoolSetAttr(mp, attr, (&raw mut seven).cast()));
            t.eq(short_attr(t, mp, attr), 1, "attribute");
            set_short(t, mp, attr, 0);
            t.eq(short_attr(t, mp, attr), 0, "attribute after 0");
        }),
        case("pool.attr.set_reserved_current", Setup::device0(), |t| {
            let (mp, s) = (t.pool(), t.stream());
            t.pooled(2 * MIB, mp, s);
            t.ret(set(mp, RESERVED, 0));
            t.eq(t.pool_attr(mp, RESERVED), 2 * MIB, "reserved");
        }),
        case("pool.attr.set_threshold", Setup::device0(), |t| {
            let mp = t.pool();
            t.eq(
                t.pool_attr(mp, THRESHOLD),
                0,
                "threshold that was never set",
            );
            t.ret(set(mp, THRESHOLD, 4 << 20));
            t.eq(t.pool_attr(mp, THRESHOLD), 4 * MIB, "threshold");
        }),
        case("pool.attr.threshold_trims_on_sync", Setup::device0(), |t| {
            let (mp, s) = (t.pool(), t.stream());
            let (_, before) = ((), t.pools());
            let p = t.pooled(2 * MIB, mp, s);
            t.unpool(p, s);
            t.eq(t.counts(mp), (2 * MIB, 0), "before the synchronisation");
            t.ret(aclrtSynchronizeStream(s));
            t.eq(t.counts(mp), (0, 0), "afterwards");
            t.eq(t.pools(), before, "device memory afterwards");
            t.set_pool_attr(mp, THRESHOLD, 4 << 20);
            let blocks: Vec<_> = (0..3).map(|_| t.pooled(2 * MIB, mp, s)).collect();
            blocks.into_iter().for_each(|p| t.unpool(p, s));
            t.sync(s);
            t.eq(t.counts(mp), (4 * MIB, 0), "with a threshold of 4 MiB");
            let (huge, normal) = before.taken(&t.pools());
            t.eq(huge + normal, 4 << 20, "device memory with it");
        }),
        case("pool.attr.threshold_over_pool", Setup::device0(), |t| {
            let mp = t.pool();
            t.set_pool_attr(mp, THRESHOLD, 6 << 20);
            t.ret(set(mp, THRESHOLD, GIB as u64 + 1));
            t.eq(t.pool_attr(mp, THRESHOLD), 6 * MIB, "threshold");
            t.set_pool_attr(mp, THRESHOLD, GIB as u64);
        }),
        case("pool.attr.unknown_attr", Setup::device0(), |t| {
            let mp = t.pool();
            let mut v = UNTOUCHED as u64;
            t.ret(aclrtMemPoolGetAttr(mp, 255, (&raw mut v).cast()));
            t.eq(v, UNTOUCHED as u64, "output");
            t.fails(set(mp, 255, 0), ERROR_POOL, "setting it");
            t.fails(set(mp, 0, 0), ERROR_POOL, "setting attribute 0");
        }),
    ]
}

fn create_and_destroy() -> Vec<Case> {
    vec![
        case("pool.create.bad_device", Setup::device0(), |t| {
            let mut props = props();
            props.location.id = 9999;
            let (code, mp) = make(&props);
            t.ret(code);
            t.eq(mp, SENTINEL, "output");
        }),
        case("pool.create.handle_type_unchecked", Setup::device0(), |t| {
            let mut props = props();
            props.handleType = ACL_MEM_HANDLE_TYPE_POSIX;
            let (code, mp) = make(&props);
            t.ret(code);
            let s = t.stream();
            t.usable(t.pooled(MIB, mp, s), MIB);
        }),
        case("pool.create.max_size_rounded_up", Setup::device0(), |t| {
            let mut props = props();
            props.maxSize = 1;
            let (code, mp) = make(&props);
            t.ret(code);
            let s = t.stream();
            let p = t.pooled(2 * MIB, mp, s);
            t.usable(p, 2 * MIB);
            let mut q = SENTINEL;
            let code = aclrtMemPoolMallocAsync(&raw mut q, 1, mp, s);
            t.fails(code, ERROR_POOL, "a second block");
            t.eq(q, SENTINEL, "output of the second");
        }),
        case(
            "pool.create.max_size_zero",
            Setup::device0().memory("65M", "50M"),
            |t| {
                let mut props = props();
                props.maxSize = 0;
                let (code, mp) = make(&props);
                t.ret(code);
                let s = t.stream();
                // 50 MiB in 2 MiB pages, the rest in small ones.
                let blocks: Vec<_> = (0..31).map(|_| t.pooled(2 * MIB, mp, s)).collect();
                t.eq(t.counts(mp), (62 * MIB, 62 * MIB), "reserved and used");
                let last = aclrtMemPoolTrimTo(mp, 64 * MIB);
                t.ok(last, "trimming to all of the device, rounded down");
                t.fails(aclrtMemPoolTrimTo(mp, 65 * MIB), ERROR_POOL, "to more");
                blocks.into_iter().for_each(|p| t.unpool(p, s));
            },
        ),
        case("pool.create.null_out", Setup::device0(), |t| {
            let props = props();
            t.ret(aclrtMemPoolCreate(null_mut(), &raw const props));
        }),
        case("pool.create.reserved", Setup::device0(), |t| {
            let mut props = props();
            props.reserved[0] = 1;
            let (code, mp) = make(&props);
            t.ret(code);
            t.eq(mp, SENTINEL, "output");
        }),
        case("pool.create.too_big", Setup::device0(), |t| {
            let total = t.mem(ACL_HBM_MEM).1;
            let mut props = props();
            props.maxSize = total + 2 * MIB;
            let (code, mp) = make(&props);
            t.ret(code);
            t.eq(mp, SENTINEL, "output");
            props.maxSize = usize::MAX;
            t.fails(make(&props).0, ERROR_PARAM, "a size that wraps");
            props.maxSize = total;
            t.ok(make(&props).0, "all of it");
        }),
        case("pool.destroy.null", Setup::device0(), |t| {
            t.ret(aclrtMemPoolDestroy(null_mut()));
        }),
        case("pool.destroy.with_live_blocks", Setup::device0(), |t| {
            let before = t.pools();
            let (mp, s) = (t.pool(), t.stream());
            let p = t.pooled(3 * MIB, mp, s);
            let bytes = t.random_bytes(3 * MIB);
            t.upload(p, &bytes);
            t.ret(aclrtMemPoolDestroy(mp));
            t.fails(aclrtMemPoolDestroy(mp), ERROR_POOL, "a second time");
            t.holds(p, &bytes, "the block after its pool was destroyed");
            t.unpool(p, s);
            t.sync(s);
            t.eq(t.pools(), before, "device memory in the end");
        }),
    ]
}

fn malloc() -> Vec<Case> {
    vec![
        case("pool.malloc.destroyed_pool", Setup::device0(), |t| {
            let (mp, s) = (t.pool(), t.stream());
            t.ok(aclrtMemPoolDestroy(mp), "aclrtMemPoolDestroy");
            let mut p = SENTINEL;
            t.ret(aclrtMemPoolMallocAsync(&raw mut p, 64, mp, s));
            t.eq(p, SENTINEL, "output");
        }),
        case("pool.malloc.destroyed_stream", Setup::device0(), |t| {
            let (mp, s) = (t.pool(), t.dead_stream());
            let mut p = SENTINEL;
            t.ret(aclrtMemPoolMallocAsync(&raw mut p, 64, mp, s));
            t.eq(p, SENTINEL, "output");
            t.eq(t.counts(mp), (0, 0), "reserved and used");
        }),
        case("pool.malloc.null_pool", Setup::device0(), |t| {
            let s = t.stream();
            let mut p = SENTINEL;
            t.ret(aclrtMemPoolMallocAsync(&raw mut p, 64, null_mut(), s));
            t.eq(p, SENTINEL, "output");
        }),
        case("pool.malloc.null_ptr", Setup::device0(), |t| {
            let (mp, s) = (t.pool(), t.stream());
            t.ret(aclrtMemPoolMallocAsync(null_mut(), 64, mp, s));
            t.eq(t.counts(mp), (0, 0), "reserved and used");
        }),
        case("pool.malloc.null_stream", Setup::device0(), |t| {
            let mp = t.pool();
            let mut p = SENTINEL;
            t.ret(aclrtMemPoolMallocAsync(&raw mut p, 64, mp, null_mut()));
            t.eq(p, SENTINEL, "output");
        }),
        case("pool.malloc.other_context_stream", Setup::device0(), |t| {
            let (mp, s) = (t.pool(), t.foreign_stream());
            let mut p = SENTINEL;
            t.ret(aclrtMemPoolMallocAsync(&raw mut p, 64, mp, s));
            t.eq(p, SENTINEL, "output");
            t.eq(t.counts(mp), (0, 0), "reserved and used");
        }),
        case("pool.malloc.rounds_to_2mib", Setup::device0(), |t| {
            let (mp, s) = (t.pool(), t.stream());
            let mut p = SENTINEL;
            t.ret(aclrtMemPoolMallocAsync(&raw mut p, 1, mp, s));
            t.eq(t.pool_attr(mp, USED), 2_097_152, "used");
            t.usable(p, 2 * MIB);
            t.pooled(2 * MIB + 1, mp, s);
            t.eq(
                t.pool_attr(mp, USED),
                6 * MIB,
                "used after one byte more than 2 MiB",
            );
        }),
        case("pool.malloc.size_zero_bad_stream", Setup::device0(), |t| {
            let mp = t.pool();
            let mut p = SENTINEL;
            t.ret(aclrtMemPoolMallocAsync(&raw mut p, 0, mp, addr(0x10)));
            t.eq(p, SENTINEL, "output");
        }),
        case("pool.malloc.usable_at_once", Setup::device0(), |t| {
            let (mp, s) = (t.pool(), t.stream());
            let gate = t.hold(s);
            let mut p = SENTINEL;
            let code = aclrtMemPoolMallocAsync(&raw mut p, 5 * MIB, mp, s);
            t.ret(code);
            let code = aclrtMemsetAsync(p, 5 * MIB, 0x3c, 5 * MIB, s);
            t.ok(code, "aclrtMemsetAsync");
            gate.open();
            t.sync(s);
            t.holds(p, &vec![0x3c; 5 * MIB], "data as set");
        }),
    ]
}

fn free_and_trim() -> Vec<Case> {
    vec![
        case("pool.free.keeps_reserved", Setup::device0(), |t| {
            let (mp, s) = (t.pool(), t.stream());
            let p = t.pooled(2 * MIB, mp, s);
            t.ret(aclrtMemPoolFreeAsync(p, s));
            t.eq(t.counts(mp), (2 * MIB, 0), "reserved and used");
        }),
        case("pool.free.null_ptr", Setup::device0(), |t| {
            t.ret(aclrtMemPoolFreeAsync(null_mut(), t.stream()));
        }),
        case("pool.free.null_stream", Setup::device0(), |t| {
            let (mp, s) = (t.pool(), t.stream());
            let p = t.pooled(2 * MIB, mp, s);
            t.ret(aclrtMemPoolFreeAsync(p, null_mut()));
            t.eq(t.counts(mp), (2 * MIB, 2 * MIB), "reserved and used");
        }),
        case("pool.free.twice", Setup::device0(), |t| {
            let (mp, s) = (t.pool(), t.stream());
            let p = t.pooled(2 * MIB, mp, s);
            t.unpool(p, s);
            t.ret(aclrtMemPoolFreeAsync(p, s));
            t.eq(t.counts(mp), (2 * MIB, 0), "reserved and used");
        }),
        case("pool.trim.below_used", Setup::device0(), |t| {
            let (mp, s) = (t.pool(), t.stream());
            let blocks: Vec<_> = (0..3).map(|_| t.pooled(2 * MIB, mp, s)).collect();
            t.unpool(blocks[1], s);
            t.ret(aclrtMemPoolTrimTo(mp, 0));
            t.eq(t.counts(mp), (6 * MIB, 4 * MIB), "reserved and used");
            t.ok(
                aclrtMemPoolTrimTo(mp, 4 * MIB),
                "trimming to what is in use",
            );
            t.eq(t.counts(mp), (4 * MIB, 4 * MIB), "reserved and used then");
        }),
        case("pool.trim.exact", Setup::device0(), |t| {
            let before = t.pools();
            let (mp, s) = (t.pool(), t.stream());
            let blocks: Vec<_> = (0..3).map(|_| t.pooled(2 * MIB, mp, s)).collect();
            blocks.into_iter().for_each(|p| t.unpool(p, s));
            t.eq(t.counts(mp), (6 * MIB, 0), "reserved and used before");
            t.ret(aclrtMemPoolTrimTo(mp, 2 * MIB));
            t.eq(t.counts(mp), (2 * MIB, 0), "reserved and used");
            let (huge, normal) = before.taken(&t.pools());
            t.eq(huge + normal, 2 << 20, "device memory");
        }),
        case("pool.trim.null", Setup::device0(), |t| {
            t.ret(aclrtMemPoolTrimTo(null_mut(), 0));
        }),
        case("pool.trim.over_size", Setup::device0(), |t| {
            let mp = t.pool();
            t.ret(aclrtMemPoolTrimTo(mp, GIB + 1));
        }),
    ]
}
