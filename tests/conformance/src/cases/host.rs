//! Pinned host memory.

use super::memory_malloc::{attribute, config};
use super::support::*;

/// Pinning must fail beyond this.
const SMALL_LOCK: &str = "lock=64K";

pub(super) fn cases() -> Vec<Case> {
    let mut cases = malloc();
    cases.extend(free());
    cases.extend(own());
    cases.extend(own_pinning());
    cases
}

fn malloc() -> Vec<Case> {
    vec![
        case("memory.malloc_host.alignment", Setup::device0(), |t| {
            for i in 0..100 {
                let mut h = SENTINEL;
                t.ret(aclrtMallocHost(&raw mut h, 1000 + i));
                t.eq(h.addr() % 64, 0, "alignment");
                host_write(h, &vec![i as u8; 1000 + i]);
            }
        }),
        case("memory.malloc_host.no_context", Setup::init(), |t| {
            let mut h = SENTINEL;
            t.ret(aclrtMallocHost(&raw mut h, 64));
            t.eq(h, SENTINEL, "output");
        }),
        case(
            "memory.malloc_host.pointer_is_host",
            Setup::device0(),
            |t| {
                let h = t.malloc_host(64);
                let mut a = blank_attributes();
                t.ret(aclrtPointerGetAttributes(h, &raw mut a));
                t.eq(
                    (a.location.r#type, a.location.id),
                    (ACL_MEM_LOCATION_TYPE_HOST, 0),
                    "location",
                );
            },
        ),
        case("memory.malloc_host.size_max", Setup::device0(), |t| {
            let mut h = SENTINEL;
            t.ret(aclrtMallocHost(&raw mut h, usize::MAX));
            t.eq(h, SENTINEL, "output");
        }),
        case("memory.malloc_host.size_zero", Setup::device0(), |t| {
            let mut h = SENTINEL;
            t.ret(aclrtMallocHost(&raw mut h, 0));
            t.eq(h, SENTINEL, "output");
        }),
        case(
            "memory.malloc_host_cfg.bad_attr_without_context",
            Setup::init(),
            device_attribute,
        ),
        case(
            "memory.malloc_host_cfg.device_id_attr",
            Setup::device0(),
            |t| {
                device_attribute(t);
            },
        ),
        case("memory.malloc_host_cfg.null_attrs", Setup::device0(), |t| {
            let mut cfg = aclrtMallocConfig {
                attrs: null_mut(),
                numAttrs: 0,
            };
            let mut h = SENTINEL;
            t.ret(aclrtMallocHostWithCfg(&raw mut h, 64, &raw mut cfg));
            t.eq(h, SENTINEL, "output");
        }),
        case("memory.malloc_host_cfg.size_zero", Setup::device0(), |t| {
            let mut h = SENTINEL;
            t.ret(aclrtMallocHostWithCfg(&raw mut h, 0, null_mut()));
            t.eq(h, SENTINEL, "output");
        }),
    ]
}

/// Host memory takes no device attribute.
fn device_attribute(t: &T) {
    let mut attrs = [attribute(ACL_RT_MEM_ATTR_DEVICE_ID, 0)];
    let mut cfg = config(&mut attrs);
    let mut h = SENTINEL;
    t.ret(aclrtMallocHostWithCfg(&raw mut h, 64, &raw mut cfg));
    t.eq(h, SENTINEL, "output");
}

fn free() -> Vec<Case> {
    vec![
        case("memory.free_host.malloc_pointer", Setup::device0(), |t| {
            let c = CMemory::new(1000);
            t.ret(aclrtFreeHost(c.p));
            c.check_still_owned(t);
        }),
        case("memory.free_host.null", Setup::device0(), |t| {
            t.ret(aclrtFreeHost(null_mut()));
        }),
        case("memory.free_host.ok", Setup::device0(), |t| {
            let h = t.malloc_host(1000);
            t.ret(aclrtFreeHost(h));
            let a = t.attributes(h);
            t.eq(
                a.location.r#type,
                ACL_MEM_LOCATION_TYPE_UNREGISTERED,
                "location of the released block",
            );
        }),
        case("memory.free_host.twice", Setup::device0(), |t| {
            let a = t.malloc_host(1000);
            let h = t.malloc_host(1000);
            let bytes = t.random_bytes(1000);
            host_write(a, &bytes);
            t.free_host(h);
            t.ret(aclrtFreeHost(h));
            t.same_bytes(&host_read(a, 1000), &bytes, "another block");
            t.free_host(a);
        }),
        case("memory.free_host_sync.null", Setup::device0(), |t| {
            t.ret(aclrtFreeHostWithDevSync(null_mut()));
        }),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.host.argument_order", Setup::init(), |t| {
            let null = aclrtMallocHost(null_mut(), 0);
            t.fails_with(null, ERROR_FRONT, "EH0008 param=hostPtr", "pointer first");
            let mut h = SENTINEL;
            t.fails_with(
                aclrtMallocHost(&raw mut h, 0),
                ERROR_FRONT,
                "EH0007",
                "then size",
            );
            t.eq(h, SENTINEL, "output");
            let null = aclrtMallocHostWithCfg(null_mut(), 0, null_mut());
            t.fails_with(
                null,
                ERROR_FRONT,
                "EH0008",
                "pointer first, with configuration",
            );
        }),
        case("x.host.distinct_and_writable", Setup::device0(), |t| {
            let mut blocks = Vec::new();
            for i in 0..500_usize {
                let size = 1 + t.random() as usize % [64, 5000, 300_000][i % 3];
                let h = t.malloc_host(size);
                let bytes = t.random_bytes(round_up(size, 32));
                host_write(h, &bytes);
                blocks.push((h, bytes));
            }
            for (h, bytes) in &blocks {
                t.same_bytes(&host_read(*h, bytes.len()), bytes, "host block");
            }
            for (h, _) in blocks {
                t.free_host(h);
            }
        }),
        case(
            "x.host.recycled_block_is_a_new_block",
            Setup::device0(),
            |t| {
                for size in [64, 4096, MIB] {
                    let h = t.malloc_host(size);
                    t.free_host(h);
                    let again = t.malloc_host(size);
                    host_write(again, &vec![1; size]);
                    t.eq(
                        t.attributes(again).location.r#type,
                        ACL_MEM_LOCATION_TYPE_HOST,
                        "type",
                    );
                    t.free_host(again);
                    t.fails(aclrtFreeHost(again), ERROR_PARAM, "second release");
                }
            },
        ),
        case(
            "x.host.device_memory_is_not_charged",
            Setup::device0(),
            |t| {
                t.charges_nothing(|| t.malloc_host(5 * MIB));
            },
        ),
        case("x.host.free_needs_no_context", Setup::device0(), |t| {
            let h = t.malloc_host(1000);
            on_thread(|| t.free_host(h));
            t.fails(aclrtFreeHost(h), ERROR_PARAM, "second release");
        }),
        case("x.host.module_attribute", Setup::device0(), |t| {
            let mut attrs = [attribute(ACL_RT_MEM_ATTR_MODULE_ID, 33)];
            let mut cfg = config(&mut attrs);
            let mut h = SENTINEL;
            let code = aclrtMallocHostWithCfg(&raw mut h, 1000, &raw mut cfg);
            t.ok(code, "module id");
            host_write(h, &[7; 1000]);
            t.free_host(h);
        }),
        case("x.host.va_flag", Setup::device0(), |t| va_flag(t, true)),
        case(
            "x.host.va_flag_on_products_without_it",
            Setup::device0().profile("310P"),
            |t| va_flag(t, false),
        ),
        case("x.host.huge_request", Setup::device0(), |t| {
            let mut h = SENTINEL;
            let code = aclrtMallocHost(&raw mut h, 1 << 50);
            t.fails(code, ERROR_MEMORY, "one PiB of host memory");
            t.eq(h, SENTINEL, "output");
            let h = t.malloc_host(64);
            host_write(h, &[1; 64]);
        }),
        case("x.host.interior_is_host", Setup::device0(), |t| {
            let h = t.malloc_host(5000);
            for at in [0, 1, 64, 4999] {
                let a = t.attributes(off(h, at));
                t.eq(a.location.r#type, ACL_MEM_LOCATION_TYPE_HOST, "location");
            }
        }),
    ]
}

/// Host memory with one address on both sides, where the product has it; an
/// error elsewhere, whose code the contract leaves open.
fn va_flag(t: &T, has_it: bool) {
    let mut attrs = [attribute(ACL_RT_MEM_ATTR_VA_FLAG, 1)];
    let mut cfg = config(&mut attrs);
    let mut h = SENTINEL;
    let code = aclrtMallocHostWithCfg(&raw mut h, 4096, &raw mut cfg);
    if has_it {
        t.ok(code, "VA flag");
        host_write(h, &[7; 4096]);
        t.free_host(h);
    } else {
        t.check(code != 0, "the VA flag was accepted");
        t.pending_text("the refusal");
        t.eq(h, SENTINEL, "output");
    }
}

fn own_pinning() -> Vec<Case> {
    vec![
        case(
            "x.pin.strict_refuses_beyond_the_limit",
            Setup::device0()
                .env("CANNERY_PIN", "strict")
                .env("CANNERY_LIMITS", SMALL_LOCK),
            |t| {
                let mut h = SENTINEL;
                let code = aclrtMallocHost(&raw mut h, 8 * MIB);
                t.eq(
                    i64::from(code),
                    ERROR_MEMORY,
                    "8 MiB with a limit of 64 KiB",
                );
                t.eq(h, SENTINEL, "output");
                let text = t.pending_text("the refusal");
                t.check(
                    text.contains("65536") || text.contains("64 KiB"),
                    &format!("the text names the limit: {text}"),
                );
                t.check(
                    text.contains("8388608") || text.contains("8 MiB"),
                    &format!("the text names the need: {text}"),
                );
                t.check(
                    text.contains("ulimit") || text.contains("MEMLOCK") || text.contains("memlock"),
                    &format!("the text names the way to raise it: {text}"),
                );
            },
        ),
        case(
            "x.pin.auto_works_beyond_the_limit",
            Setup::device0()
                .env("CANNERY_PIN", "auto")
                .env("CANNERY_LIMITS", SMALL_LOCK),
            |t| {
                for _ in 0..3 {
                    let h = t.malloc_host(8 * MIB);
                    host_write(h, &vec![3; 8 * MIB]);
                    let a = t.attributes(h);
                    t.eq(a.location.r#type, ACL_MEM_LOCATION_TYPE_HOST, "location");
                    t.free_host(h);
                }
            },
        ),
        case(
            "x.pin.off_works",
            Setup::device0().env("CANNERY_PIN", "off"),
            |t| {
                let h = t.malloc_host(MIB);
                host_write(h, &vec![3; MIB]);
                t.eq(locked_kib(), 0, "locked KiB of the process");
                t.free_host(h);
            },
        ),
        case(
            "x.pin.memory_is_really_locked",
            Setup::device0().env("CANNERY_PIN", "auto"),
            |t| {
                let limit = lock_limit();
                let h = t.malloc_host(4 * MIB);
                // Only where the machine lets a process lock that much.
                if limit >= 8 * MIB as u64 {
                    let locked = locked_kib();
                    t.check(locked >= 4 * 1024, &format!("{locked} KiB are locked"));
                } else {
                    host_write(h, &vec![3; 4 * MIB]);
                }
            },
        ),
    ]
}

/// Soft limit of locked memory in bytes; `u64::MAX` for none.
fn lock_limit() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    #[allow(unsafe_code)] // A system call without a safe wrapper in std.
    // SAFETY: the argument is a valid structure.
    unsafe {
        libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit);
    }
    limit.rlim_cur
}

/// Locked memory of this process in KiB, as the kernel counts it.
fn locked_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmLck:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or_else(|| abort("no VmLck in the process status"))
}
