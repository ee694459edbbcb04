//! Texts of shortages: every number that tells why, who holds the memory, and what to do.

use super::memory_malloc::{attribute, config};
use super::other_process::Other;
use super::registered::{MAPPED, Pages};
use super::support::*;
use super::texts::both;
use super::virtual_memory::property;

/// An allocation that must find no memory, its text left pending.
fn no_room(t: &T, size: usize, policy: aclrtMemMallocPolicy) {
    let mut p = SENTINEL;
    let code = aclrtMalloc(&raw mut p, size, policy);
    t.code(code, ERROR_MEMORY, "code of the shortage");
    t.eq(p, SENTINEL, "output of the shortage");
}

/// Runs in another process: half of the card, which it keeps.
fn take_half() -> Vec<u8> {
    let mut p = SENTINEL;
    let done = aclInit(null()) == 0
        && aclrtSetDevice(0) == 0
        && aclrtMalloc(&raw mut p, 128 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY) == 0;
    if done { vec![1] } else { Vec::new() }
}

pub(super) fn cases() -> Vec<Case> {
    let mut list = numbers();
    list.extend(pools());
    list.extend(registrations());
    list
}

fn numbers() -> Vec<Case> {
    let mut list = Vec::new();
    both!(
        list,
        "x.text.shortage",
        Setup::device0().memory("2G", "0"),
        |t| {
            t.block(aclrtMalloc, 150 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
            t.block(aclrtMallocAlign32, 20 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
            t.block(aclrtMallocAlign32, 20 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
            let (free, total) = t.mem(ACL_HBM_MEM_NORMAL);
            let held = normal_charge(padded(150 * MIB));
            // Two different sizes in a row: both texts have everything.
            for size in [2 * GIB, 1990 * MIB] {
                no_room(t, size, ACL_MEM_MALLOC_NORMAL_ONLY);
                let rounded = normal_charge(padded(size));
                // The largest run is all that is free: nothing lies in its way.
                t.carries(
                    "the shortage",
                    &[
                        &"EL0004",
                        &"aclrtMalloc",
                        &size,
                        &rounded,
                        &free,
                        &total,
                        &held,
                        &"aclrtMallocAlign32",
                        &(40 * MIB),
                        &"CANNERY_HBM_BYTES",
                    ],
                );
            }
        }
    );
    both!(
        list,
        "x.text.largest_run",
        Setup::device0().memory("64M", "0"),
        |t| {
            // Every second block is free: plenty in all, little in one run.
            let mut blocks = Vec::new();
            let mut p = SENTINEL;
            while aclrtMalloc(&raw mut p, MIB, ACL_MEM_MALLOC_NORMAL_ONLY) == 0 {
                blocks.push(p);
            }
            t.pending_text("the card is full");
            blocks.iter().step_by(2).for_each(|p| t.free(*p));
            let free = t.mem(ACL_HBM_MEM_NORMAL).0;
            no_room(t, 48 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
            t.carries(
                "in pieces",
                &[
                    &(48 * MIB),
                    &free,
                    &"aclrtMalloc",
                    &blocks.len().div_euclid(2),
                ],
            );
        }
    );
    both!(
        list,
        "x.text.huge_pages",
        Setup::device0().memory("72M", "8M"),
        |t| {
            // C01: 5 MiB take three huge pages, 3 MiB need two, and one is left.
            t.malloc(5 * MIB, ACL_MEM_MALLOC_HUGE_ONLY);
            no_room(t, 3 * MIB, ACL_MEM_MALLOC_HUGE_ONLY);
            t.carries(
                "the shortage",
                &[
                    &(3 * MIB),
                    &(4 * MIB),
                    &(2 * MIB),
                    &(8 * MIB),
                    &(64 * MIB),
                    &"ACL_MEM_MALLOC_HUGE_FIRST",
                ],
            );
            // The other way round: normal pages are gone, huge ones are there.
            t.malloc(62 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
            let free = t.mem(ACL_HBM_MEM_NORMAL).0;
            no_room(t, 2 * MIB - 32, ACL_MEM_MALLOC_NORMAL_ONLY);
            t.carries("the other pool", &[&free, &"ACL_MEM_MALLOC_HUGE_ONLY"]);
        }
    );
    both!(
        list,
        "x.text.capacity",
        Setup::device0().memory("6G", "0"),
        |t| {
            no_room(t, 8 * GIB, ACL_MEM_MALLOC_NORMAL_ONLY);
            let (free, total) = t.mem(ACL_HBM_MEM_NORMAL);
            t.carries(
                "more than the card",
                &[&(8 * GIB), &free, &total, &"CANNERY_PROFILE"],
            );
            let blocks: Vec<_> = (0..100)
                .map(|_| t.malloc(16 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY))
                .collect();
            blocks.into_iter().for_each(|p| t.free(p));
        }
    );
    both!(
        list,
        "x.text.repeats",
        Setup::device0().memory("64M", "32M"),
        |t| {
            // F02: the card is full of physical memory, and the program goes on asking.
            let property = property(ACL_HBM_MEM_HUGE);
            let mut h = SENTINEL;
            let mut pieces = 0;
            while aclrtMallocPhysical(&raw mut h, 2 * MIB, &raw const property, 0) == 0 {
                pieces += 1;
            }
            t.eq(pieces, 16, "pieces of 2 MiB in 32 MiB");
            for _ in 0..500 {
                let code = aclrtMallocPhysical(&raw mut h, 2 * MIB, &raw const property, 0);
                t.code(code, ERROR_MEMORY, "a retry");
            }
            t.folded(
                "501 refusals",
                501,
                &[&"aclrtMallocPhysical", &(2 * MIB), &(32 * MIB), &207_001],
            );
        }
    );
    both!(
        list,
        "x.text.recovered",
        Setup::device0().memory("64M", "0"),
        |t| {
            // F31: a shortage that a retry cured leaves its text, and is counted; it is no error later.
            let mut blocks = Vec::new();
            let mut p = SENTINEL;
            while aclrtMalloc(&raw mut p, 4 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY) == 0 {
                blocks.push(p);
            }
            t.free(blocks[3]);
            t.malloc(4 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
            t.folded_once("the shortage");
            t.eq(recent_text(), None, "text of what succeeded");
            let stats = t.stats();
            t.eq(
                stats["failed_allocations"].as_u64(),
                Some(1),
                "failed allocations",
            );
            t.eq(
                stats["recovered_allocations"].as_u64(),
                Some(1),
                "recovered ones",
            );
        }
    );
    list
}

impl T {
    /// One pending line, without a count.
    fn folded_once(&self, what: &str) {
        let text = self.pending_text(what);
        self.eq(text.lines().count(), 1, what);
        self.check(text.ends_with(" 207001]"), &format!("{what}: {text:?}"));
    }

    /// What the library counts, as `cannery_stats` tells it.
    fn stats(&self) -> serde_json::Value {
        let mut text = vec![0_u8; 64 * KIB];
        let code = cannery_stats(text.as_mut_ptr().cast(), text.len(), null_mut());
        self.ok(code, "cannery_stats");
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(0);
        serde_json::from_slice(&text[..end]).unwrap_or_default()
    }
}

fn pools() -> Vec<Case> {
    let mut list = Vec::new();
    let setup = || Setup::device0().memory("64M", "64M");
    both!(list, "x.text.idle_in_pools", setup(), |t| {
        // F12: most of the card sits unused in a pool. The text says how much, and how to get it.
        let (s, pool) = (t.stream(), t.pool_of(64 * MIB));
        let mut keep = 64 * MIB as u64;
        let code = aclrtMemPoolSetAttr(pool, super::pool::THRESHOLD, (&raw mut keep).cast());
        t.ok(code, "aclrtMemPoolSetAttr");
        let p = t.pooled(40 * MIB, pool, s);
        let used = t.pooled(6 * MIB, pool, s);
        t.unpool(p, s);
        t.sync(s);
        no_room(t, 30 * MIB, ACL_MEM_MALLOC_HUGE_ONLY);
        t.carries(
            "the shortage",
            &[
                &(46 * MIB),
                &(40 * MIB),
                &"aclrtMemPoolCreate",
                &"aclrtMemPoolTrimTo",
            ],
        );
        // The way out that the text names works.
        t.ok(aclrtMemPoolTrimTo(pool, 6 * MIB), "aclrtMemPoolTrimTo");
        t.malloc(30 * MIB, ACL_MEM_MALLOC_HUGE_ONLY);
        t.unpool(used, s);
    });
    both!(list, "x.text.freed_but_not_usable", setup(), |t| {
        // F36: freed in the order of a stream that stands still. A stall is told from a shortage.
        let (s, pool) = (t.stream(), t.pool_of(64 * MIB));
        let p = t.pooled(40 * MIB, pool, s);
        t.sync(s);
        let gate = t.hold(s);
        t.unpool(p, s);
        no_room(t, 30 * MIB, ACL_MEM_MALLOC_HUGE_ONLY);
        t.carries(
            "the stall",
            &[
                &(40 * MIB),
                &"aclrtMemPoolCreate",
                &"aclrtSynchronizeStream",
                &"aclrtMemPoolTrimTo",
            ],
        );
        gate.open();
        t.sync(s);
        t.ok(aclrtMemPoolTrimTo(pool, 0), "aclrtMemPoolTrimTo");
        t.malloc(30 * MIB, ACL_MEM_MALLOC_HUGE_ONLY);
    });
    both!(list, "x.text.pool_exhausted", setup(), |t| {
        let (s, pool) = (t.stream(), t.pool_of(32 * MIB));
        t.pooled(20 * MIB, pool, s);
        let mut p = SENTINEL;
        let code = aclrtMemPoolMallocAsync(&raw mut p, 13 * MIB, pool, s);
        t.code(code, super::pool::ERROR_POOL, "a pool that is full");
        t.carries(
            "the full pool",
            &[
                &(13 * MIB),
                &(14 * MIB),
                &(20 * MIB),
                &(32 * MIB),
                &(44 * MIB),
                &"aclrtMemPoolFreeAsync",
            ],
        );
    });
    both!(
        list,
        "x.text.modules",
        Setup::device0().memory("64M", "0"),
        |t| {
            // F33, F176: three modules that the program names itself, one of them was larger before.
            let allocate = |module: u32, size: usize| {
                let mut attributes = [attribute(ACL_RT_MEM_ATTR_MODULE_ID, module)];
                let mut config = config(&mut attributes);
                let mut p = SENTINEL;
                let policy = ACL_MEM_MALLOC_NORMAL_ONLY;
                let code = aclrtMallocWithCfg(&raw mut p, size, policy, &raw mut config);
                t.ok(code, "aclrtMallocWithCfg");
                p
            };
            let gone = allocate(5, 10 * MIB);
            t.free(gone);
            allocate(5, 4 * MIB);
            allocate(9, 20 * MIB);
            allocate(11, 16 * MIB);
            no_room(t, 41 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
            let sum = 40 * MIB;
            let text = t.carries(
                "the shortage",
                &[
                    &"aclrtMallocWithCfg",
                    &sum,
                    &(4 * MIB),
                    &(20 * MIB),
                    &(16 * MIB),
                    &(10 * MIB),
                ],
            );
            // Largest first: 9, 11, 5.
            let at = |size: usize| text.rfind(&format!("({size} bytes)")).unwrap_or(0);
            t.check(
                at(16 * MIB) < at(4 * MIB),
                "the largest module stands first",
            );
            for module in [5, 9, 11] {
                let named = text.contains(&format!(" {module} "))
                    || text.contains(&format!("：{module} "))
                    || text.contains(&format!("，{module} "));
                t.check(named, &format!("module {module} is not in {text:?}"));
            }
        }
    );
    both!(
        list,
        "x.text.neighbours",
        Setup::fresh().memory("256M", "0"),
        |t| {
            // F175: what the card has, what this process holds, what the others do, and who they are.
            let (other, _) = Other::start(take_half);
            t.ok(aclInit(null()), "aclInit");
            t.ok(aclrtSetDevice(0), "aclrtSetDevice");
            t.malloc(32 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
            let (free, total) = t.mem(ACL_HBM_MEM_NORMAL);
            no_room(t, 200 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
            t.carries(
                "the shortage",
                &[
                    &(200 * MIB),
                    &free,
                    &total,
                    &normal_charge(padded(32 * MIB)),
                    &other.pid(),
                    &normal_charge(padded(128 * MIB)),
                ],
            );
        }
    );
    both!(
        list,
        "x.text.quota",
        Setup::device0()
            .memory("64M", "0")
            .env("CANNERY_QUOTA", "16M"),
        |t| {
            t.malloc(10 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
            no_room(t, 8 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
            t.carries("the quota", &[&(8 * MIB), &(16 * MIB), &"CANNERY_QUOTA"]);
        }
    );
    both!(
        list,
        "x.text.media",
        Setup::device0().memory("64M", "0"),
        |t| {
            // F34: the code says memory for every kind of it, and so does the text.
            let mut p = SENTINEL;
            t.code(
                acldvppMalloc(&raw mut p, 100 * MIB),
                ERROR_MEMORY,
                "media memory",
            );
            t.carries("media memory", &[&"acldvppMalloc", &(100 * MIB)]);
            t.code(
                aclrtMallocCached(&raw mut p, 100 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY),
                ERROR_MEMORY,
                "cached memory",
            );
            t.carries(
                "cached memory",
                &[&"EL0004", &"aclrtMallocCached", &(100 * MIB), &(64 * MIB)],
            );
        }
    );
    list
}

fn registrations() -> Vec<Case> {
    let mut list = Vec::new();
    let limited = |limits: &str| Setup::device0().env("CANNERY_LIMITS", limits);
    both!(
        list,
        "x.text.page_table",
        limited("page-table-entries=1024"),
        |t| {
            // F45, F46: limit, use and need in entries, and what larger pages would save.
            let pages = Pages::new(8 * MIB);
            t.register(pages.p, MIB);
            let second = pages.at_byte(2 * MIB);
            let code = aclrtHostRegisterV2(second, 5 * MIB as u64, MAPPED);
            t.code(code, ERROR_MEMORY, "code");
            t.carries(
                "the page table",
                &[
                    &"aclrtHostRegisterV2",
                    &(5 * MIB),
                    &1024,
                    &256,
                    &1280,
                    &"2 MiB",
                    &"page-table-entries",
                ],
            );
            t.unregister(pages.p);
        }
    );
    both!(
        list,
        "x.text.registration_limit",
        limited("registration=1M"),
        |t| {
            let pages = Pages::new(2 * MIB);
            let code = aclrtHostRegisterV2(pages.p, 2 * MIB as u64, MAPPED);
            t.check(code != 0, "a registration above the limit");
            t.carries("the limit", &[&(2 * MIB), &MIB, &"CANNERY_LIMITS"]);
        }
    );
    both!(
        list,
        "x.text.lock_limit",
        limited("lock=64K").env("CANNERY_PIN", "strict"),
        |t| {
            // F44: limit, use, need, and where to raise it.
            let mut p = SENTINEL;
            t.code(aclrtMallocHost(&raw mut p, MIB), ERROR_MEMORY, "code");
            t.carries(
                "the lock limit",
                &[
                    &"aclrtMallocHost",
                    &MIB,
                    &(64 * KIB),
                    &"ulimit -l",
                    &"CANNERY_PIN",
                ],
            );
        }
    );
    list
}
