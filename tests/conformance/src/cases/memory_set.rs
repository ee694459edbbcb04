//! Filling memory with bytes and with 32-bit words.

use super::support::*;

/// Judges a fill that must leave a device block and its neighbours alone.
fn refused(t: &T, fill: impl FnOnce(*mut c_void) -> aclError) {
    let (before, before_bytes) = t.filled(64);
    let (p, bytes) = t.filled(64);
    let (after, after_bytes) = t.filled(64);
    t.ret(fill(p));
    t.holds(p, &bytes, "block");
    t.holds(before, &before_bytes, "block before it");
    t.holds(after, &after_bytes, "block after it");
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = bytes();
    cases.extend(words());
    cases.extend(own());
    cases
}

fn bytes() -> Vec<Case> {
    vec![
        case("memory.memset.count_over_max", Setup::device0(), |t| {
            refused(t, |p| aclrtMemset(p, 32, 0, 64));
        }),
        case("memory.memset.count_zero", Setup::init(), |t| {
            t.ret(aclrtMemset(null_mut(), 0, 1, 0));
        }),
        case("memory.memset.no_context", Setup::device0(), |t| {
            let (p, bytes) = t.filled(64);
            on_thread(|| t.ret(aclrtMemset(p, 64, 0, 64)));
            t.holds(p, &bytes, "block");
        }),
        case("memory.memset.null", Setup::device0(), |t| {
            t.ret(aclrtMemset(null_mut(), 1, 1, 1));
        }),
    ]
}

fn words() -> Vec<Case> {
    vec![
        case("memory.memset_d32.exact_size", Setup::device0(), |t| {
            let (p, mut mirror) = t.filled(64);
            t.ret(aclrtMemsetD32(p, 16, 0xDEAD_BEEF, 4));
            for word in 0..4 {
                mirror[word * 4..word * 4 + 4].copy_from_slice(&0xDEAD_BEEF_u32.to_le_bytes());
            }
            t.holds(p, &mirror, "four words and the rest");
        }),
        case("memory.memset_d32.mem_size_short", Setup::device0(), |t| {
            refused(t, |p| aclrtMemsetD32(p, 15, 7, 4));
        }),
        case("memory.memset_d32.misaligned", Setup::device0(), |t| {
            refused(t, |p| aclrtMemsetD32(off(p, 2), 16, 7, 4));
        }),
        case("memory.memset_d32.n_overflow", Setup::device0(), |t| {
            refused(t, |p| aclrtMemsetD32(p, 16, 7, usize::MAX / 4 + 2));
        }),
        case("memory.memset_d32.null", Setup::device0(), |t| {
            t.ret(aclrtMemsetD32(null_mut(), 16, 7, 4));
        }),
        case(
            "memory.memset_d32.unsupported",
            Setup::device0().profile("310P"),
            |t| refused(t, |p| aclrtMemsetD32(p, 16, 7, 4)),
        ),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.set.low_byte_counts", Setup::device0(), |t| {
            for value in [0, 0x5a, 0xff, 0x1_5a5a, -1, i32::MIN] {
                let (p, _) = t.filled(100);
                t.ok(aclrtMemset(p, 100, value, 100), "aclrtMemset");
                t.holds(p, &[value as u8; 100], &format!("value {value:#x}"));
            }
        }),
        case("x.set.only_the_asked_bytes", Setup::device0(), |t| {
            let (p, mut mirror) = t.filled(1000);
            for (at, count) in [(0, 1), (999, 1), (3, 7), (64, 64), (100, 800)] {
                t.ok(
                    aclrtMemset(off(p, at), 1000 - at, 0x11, count),
                    "aclrtMemset",
                );
                mirror[at..at + count].fill(0x11);
                t.holds(p, &mirror, "whole block");
            }
        }),
        case("x.set.host_memory", Setup::device0(), |t| {
            let h = t.malloc_host(1000);
            t.ok(
                aclrtMemset(h, 1000, 0x33, 1000),
                "aclrtMemset of pinned memory",
            );
            t.same_bytes(&host_read(h, 1000), &[0x33; 1000], "pinned memory");
            t.ok(
                aclrtMemsetD32(h, 1000, 0x0102_0304, 250),
                "aclrtMemsetD32 of pinned memory",
            );
            let words = 0x0102_0304_u32.to_le_bytes().repeat(250);
            t.same_bytes(&host_read(h, 1000), &words, "pinned memory");
        }),
        case("x.set.past_block_end", Setup::device0(), |t| {
            let (p, bytes) = t.filled(64);
            let (q, q_bytes) = t.filled(64);
            t.fails(aclrtMemset(p, 4096, 0, 4096), ERROR_PARAM, "aclrtMemset");
            t.fails(
                aclrtMemsetD32(p, 4096, 0, 1024),
                ERROR_PARAM,
                "aclrtMemsetD32",
            );
            t.holds(p, &bytes, "block");
            t.holds(q, &q_bytes, "neighbour");
        }),
        case("x.set.large", Setup::device0(), |t| {
            let size = 33 * MIB + 7;
            let p = t.malloc(size, ACL_MEM_MALLOC_HUGE_FIRST);
            t.ok(aclrtMemset(p, size, 0xa7, size), "aclrtMemset");
            t.holds(p, &vec![0xa7; size], "block");
        }),
        case("x.set.d32_unknown_memory", Setup::device0(), |t| {
            // The fill needs memory that the runtime knows.
            let mut heap = [0x77_u32; 16];
            let (freed, _) = t.filled(64);
            t.free(freed);
            for p in [
                heap.as_mut_ptr().cast(),
                freed,
                addr(0x12c0_0000_0000 + 30 * GIB),
            ] {
                let code = aclrtMemsetD32(p, 64, 7, 16);
                t.fails(code, ERROR_FRONT, "aclrtMemsetD32 of unknown memory");
            }
            t.eq(heap, [0x77; 16], "memory");
        }),
    ]
}
