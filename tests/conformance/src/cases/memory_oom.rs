//! Running out of device memory: codes, texts, and what stays usable.

use super::memory_malloc::ALL;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    vec![
        case(
            "x.oom.huge_only",
            Setup::device0().memory("72M", "8M"),
            |t| {
                let huge = || t.mem(ACL_HBM_MEM_HUGE).0;
                t.eq(huge(), 8 * MIB, "huge pages at the start");
                let a = t.malloc(5 * MIB, ACL_MEM_MALLOC_HUGE_ONLY);
                t.eq(huge(), 2 * MIB, "huge pages after 5 MiB");
                let mut b = SENTINEL;
                let code = aclrtMalloc(&raw mut b, 3 * MIB, ACL_MEM_MALLOC_HUGE_ONLY);
                t.eq(i64::from(code), ERROR_MEMORY, "3 MiB more");
                let text = t.pending_text("the shortage");
                t.eq(b, SENTINEL, "output");
                t.eq(huge(), 2 * MIB, "huge pages after the refusal");
                // Asked, rounded, free and total of the pool, and the way out.
                for number in [3 * MIB, 4 * MIB, 2 * MIB, 8 * MIB] {
                    t.check(
                        names_size(&text, number),
                        &format!("text names {number}: {text}"),
                    );
                }
                t.check(
                    text.contains("HUGE_FIRST"),
                    &format!("text names the way out: {text}"),
                );
                t.malloc(3 * MIB, ACL_MEM_MALLOC_HUGE_FIRST);
                t.free(a);
                t.malloc(3 * MIB, ACL_MEM_MALLOC_HUGE_ONLY);
            },
        ),
        case(
            "x.oom.retry_after_free",
            Setup::device0().memory("64M", "0"),
            |t| {
                let mut blocks = Vec::new();
                loop {
                    let mut p = SENTINEL;
                    let code = aclrtMalloc(&raw mut p, 4 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
                    if code != 0 {
                        t.eq(i64::from(code), ERROR_MEMORY, "code of the shortage");
                        t.eq(p, SENTINEL, "output");
                        break;
                    }
                    blocks.push(p);
                }
                t.eq(blocks.len(), 15, "blocks of 4 MiB and a tail in 64 MiB");
                t.free(blocks[3]);
                t.malloc(4 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
            },
        ),
        case(
            "x.oom.text_has_the_numbers",
            Setup::device0().memory("64M", "32M"),
            |t| {
                t.malloc(20 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
                let (free, total) = t.mem(ACL_HBM_MEM_NORMAL);
                let mut p = SENTINEL;
                let code = aclrtMalloc(&raw mut p, 25 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
                t.eq(i64::from(code), ERROR_MEMORY, "code");
                let text = t.pending_text("the shortage");
                for (what, number) in [("asked", 25 * MIB), ("free", free), ("total", total)] {
                    t.check(
                        names_size(&text, number),
                        &format!("{what} {number}: {text}"),
                    );
                }
            },
        ),
        case(
            "x.oom.every_function",
            Setup::device0().memory("16M", "8M"),
            |t| {
                for (name, malloc) in ALL {
                    for policy in [
                        ACL_MEM_MALLOC_HUGE_FIRST,
                        ACL_MEM_MALLOC_HUGE_ONLY,
                        ACL_MEM_MALLOC_NORMAL_ONLY,
                        77,
                    ] {
                        let mut p = SENTINEL;
                        let what = format!("{name}, policy {policy}");
                        t.charges_nothing(|| {
                            t.fails(malloc(&raw mut p, 20 * MIB, policy), ERROR_MEMORY, &what);
                        });
                        t.eq(p, SENTINEL, &what);
                    }
                }
            },
        ),
        case(
            "x.oom.last_byte_is_usable",
            Setup::device0().memory("16M", "8M"),
            |t| {
                // A block of exactly the free normal bytes fits.
                let free = t.mem(ACL_HBM_MEM_NORMAL).0;
                let p = t.block(aclrtMallocAlign32, free, ACL_MEM_MALLOC_NORMAL_ONLY);
                t.eq(t.mem(ACL_HBM_MEM_NORMAL).0, 0, "free bytes");
                let bytes = t.random_bytes(64);
                t.upload(off(p, free - 64), &bytes);
                t.holds(off(p, free - 64), &bytes, "last bytes of the card");
                let mut q = SENTINEL;
                let code = aclrtMalloc(&raw mut q, 1, ACL_MEM_MALLOC_NORMAL_ONLY);
                t.fails(code, ERROR_MEMORY, "one more byte");
            },
        ),
        case(
            "x.oom.uniform_blocks_fill_the_card",
            Setup::device0().memory("64M", "0"),
            |t| {
                // Power-of-two requests leave the bin grid; freeing and asking
                // again must not lose memory.
                let slot = normal_charge(padded(64 * KIB));
                let want = t.mem(ACL_HBM_MEM_NORMAL).0 / slot;
                for round in 0..3 {
                    let mut blocks = Vec::new();
                    loop {
                        let mut p = SENTINEL;
                        if aclrtMalloc(&raw mut p, 64 * KIB, ACL_MEM_MALLOC_NORMAL_ONLY) != 0 {
                            break;
                        }
                        blocks.push(p);
                    }
                    t.check(
                        blocks.len() * 100 >= want * 99,
                        &format!("round {round}: {} of {want} blocks", blocks.len()),
                    );
                    blocks.into_iter().for_each(|p| t.free(p));
                }
            },
        ),
    ]
}

/// Whether a text gives this number of bytes, plainly or in MiB.
fn names_size(text: &str, bytes: usize) -> bool {
    let plain = bytes.to_string();
    let mib = format!("{} MiB", bytes / MIB);
    crate::expect::has_word(text, &plain) || (bytes.is_multiple_of(MIB) && text.contains(&mib))
}
