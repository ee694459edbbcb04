//! Device memory: arguments, padding, alignment, configuration.

use super::support::*;

/// One attribute of an allocation.
pub(super) fn attribute(attr: aclrtMallocAttrType, value: u32) -> aclrtMallocAttribute {
    let mut rsv = [0; 8];
    rsv[..4].copy_from_slice(&value.to_ne_bytes());
    aclrtMallocAttribute {
        attr,
        value: aclrtMallocAttrValue { rsv },
    }
}

/// A configuration over attributes, which must outlive its use.
pub(super) fn config(attributes: &mut [aclrtMallocAttribute]) -> aclrtMallocConfig {
    aclrtMallocConfig {
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len(),
    }
}

/// `aclrtMallocWithCfg` without a configuration.
pub(super) fn with_cfg(p: *mut *mut c_void, size: usize, policy: aclrtMemMallocPolicy) -> aclError {
    aclrtMallocWithCfg(p, size, policy, null_mut())
}

/// `aclrtMallocForTaskScheduler` without a configuration.
pub(super) fn for_task_scheduler(
    p: *mut *mut c_void,
    size: usize,
    policy: aclrtMemMallocPolicy,
) -> aclError {
    aclrtMallocForTaskScheduler(p, size, policy, null_mut())
}

/// The five allocation functions of device memory.
pub(super) const ALL: [(&str, Malloc); 5] = [
    ("aclrtMalloc", aclrtMalloc),
    ("aclrtMallocAlign32", aclrtMallocAlign32),
    ("aclrtMallocCached", aclrtMallocCached),
    ("aclrtMallocWithCfg", with_cfg),
    ("aclrtMallocForTaskScheduler", for_task_scheduler),
];

/// The block owns exactly `owned` bytes: all can be written, none beyond.
pub(super) fn owns(t: &T, p: *mut c_void, owned: usize) {
    let bytes = t.random_bytes(owned);
    t.upload(p, &bytes);
    t.holds(p, &bytes, "owned bytes");
    let beyond = vec![0; owned + 1];
    let code = aclrtMemcpy(
        p,
        owned + 1,
        src(&beyond),
        owned + 1,
        ACL_MEMCPY_HOST_TO_DEVICE,
    );
    t.fails(code, ERROR_PARAM, &format!("copy of {} bytes", owned + 1));
    t.holds(p, &bytes, "bytes after the refused copy");
    t.eq(t.range(p), (p, owned), "address range");
}

/// Judges a call that must fail, take nothing and leave its output alone.
fn refused(t: &T, call: impl FnOnce(*mut *mut c_void) -> aclError) {
    let mut p = SENTINEL;
    t.charges_nothing(|| t.ret(call(&raw mut p)));
    t.eq(p, SENTINEL, "output");
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = arguments();
    cases.extend(layout());
    cases.extend(configured());
    cases.extend(own());
    cases
}

fn arguments() -> Vec<Case> {
    vec![
        case("memory.malloc.null_ptr", Setup::device0(), |t| {
            t.charges_nothing(|| t.ret(aclrtMalloc(null_mut(), 64, 0)));
        }),
        case("memory.malloc_align32.null", Setup::device0(), |t| {
            t.charges_nothing(|| t.ret(aclrtMallocAlign32(null_mut(), 64, 0)));
        }),
        case("memory.malloc_cached.null", Setup::device0(), |t| {
            t.charges_nothing(|| t.ret(aclrtMallocCached(null_mut(), 64, 0)));
        }),
        case("memory.malloc_with_cfg.null_ptr", Setup::device0(), |t| {
            t.charges_nothing(|| t.ret(with_cfg(null_mut(), 64, 0)));
        }),
        case("memory.malloc_cached.size_zero", Setup::device0(), |t| {
            refused(t, |p| aclrtMallocCached(p, 0, 0));
        }),
        case("memory.malloc_with_cfg.size_zero", Setup::device0(), |t| {
            refused(t, |p| with_cfg(p, 0, 0));
        }),
        case("memory.malloc_cached.no_context", Setup::init(), |t| {
            let mut p = SENTINEL;
            t.ret(aclrtMallocCached(&raw mut p, 64, 0));
            t.eq(p, SENTINEL, "output");
        }),
        case("memory.malloc_with_cfg.no_context", Setup::init(), |t| {
            let mut p = SENTINEL;
            t.ret(with_cfg(&raw mut p, 64, 0));
            t.eq(p, SENTINEL, "output");
        }),
        case("memory.malloc_align32.overflow", Setup::device0(), |t| {
            refused(t, |p| aclrtMallocAlign32(p, usize::MAX - 30, 0));
        }),
        case(
            "memory.malloc_align32.no_overflow_at_minus_63",
            Setup::device0(),
            |t| refused(t, |p| aclrtMallocAlign32(p, usize::MAX - 63, 0)),
        ),
        case("memory.malloc.too_big_for_device", Setup::device0(), |t| {
            let total = t.mem(ACL_HBM_MEM).1;
            refused(t, |p| aclrtMalloc(p, total * 2, ACL_MEM_MALLOC_HUGE_FIRST));
            let p = t.malloc(64, ACL_MEM_MALLOC_HUGE_FIRST);
            t.usable(p, 64);
        }),
    ]
}

fn layout() -> Vec<Case> {
    vec![
        case("memory.malloc.alignment", Setup::device0(), |t| {
            for i in 0..100 {
                let size = 2 * i * i + 1;
                let mut p = SENTINEL;
                t.ret(aclrtMalloc(&raw mut p, size, ACL_MEM_MALLOC_HUGE_FIRST));
                t.eq(p.addr() % 64, 0, &format!("alignment of {size} bytes"));
            }
        }),
        case(
            "memory.malloc.distinct_nonoverlapping",
            Setup::device0(),
            |t| {
                let mut blocks = Vec::new();
                for _ in 0..1000 {
                    let size = 1 + t.random() as usize % 4096;
                    let mut p = SENTINEL;
                    t.ret(aclrtMalloc(&raw mut p, size, ACL_MEM_MALLOC_HUGE_FIRST));
                    let bytes = t.random_bytes(padded(size));
                    t.upload(p, &bytes);
                    blocks.push((p, bytes));
                }
                for (p, bytes) in &blocks {
                    t.holds(*p, bytes, "padded block");
                }
                let mut spans: Vec<_> = blocks.iter().map(|(p, b)| (p.addr(), b.len())).collect();
                spans.sort_unstable();
                for pair in spans.windows(2) {
                    t.check(pair[0].0 + pair[0].1 <= pair[1].0, "blocks overlap");
                }
            },
        ),
        case("memory.malloc.padding_33", Setup::device0(), |t| {
            let mut p = SENTINEL;
            t.ret(aclrtMalloc(&raw mut p, 33, ACL_MEM_MALLOC_NORMAL_ONLY));
            owns(t, p, 96);
        }),
        case(
            "memory.malloc.padding_950",
            Setup::device0().profile("950"),
            |t| {
                let mut p = SENTINEL;
                t.ret(aclrtMalloc(&raw mut p, 33, ACL_MEM_MALLOC_NORMAL_ONLY));
                owns(t, p, 64);
            },
        ),
        case("memory.malloc.padding_rule", Setup::device0(), |t| {
            let mut p = SENTINEL;
            t.ok(
                aclrtMalloc(&raw mut p, 1, ACL_MEM_MALLOC_NORMAL_ONLY),
                "aclrtMalloc",
            );
            let (mut base, mut size) = (SENTINEL, UNTOUCHED);
            t.ret(aclrtMemGetAddressRange(p, &raw mut base, &raw mut size));
            t.eq((base, size), (p, 64), "address range");
        }),
        case("memory.malloc_cached.padding", Setup::device0(), |t| {
            let mut p = SENTINEL;
            let (_, taken) = t.charge(|| {
                t.ret(aclrtMallocCached(&raw mut p, 1, ACL_MEM_MALLOC_NORMAL_ONLY));
            });
            t.eq(taken, (0, 64), "bytes taken");
            owns(t, p, 64);
        }),
        case("memory.malloc_task_scheduler.ok", Setup::device0(), |t| {
            let before = t.pools();
            let mut p = SENTINEL;
            t.ret(for_task_scheduler(
                &raw mut p,
                4096,
                ACL_MEM_MALLOC_HUGE_FIRST,
            ));
            t.usable(p, 4096);
            t.eq(p.addr() % 64, 0, "alignment");
            t.free(p);
            t.eq(t.pools(), before, "page pools");
        }),
    ]
}

fn configured() -> Vec<Case> {
    vec![
        case(
            "memory.malloc_with_cfg.attr_device_other",
            Setup::device0().devices(2),
            |t| {
                let mut attrs = [attribute(ACL_RT_MEM_ATTR_DEVICE_ID, 1)];
                let mut cfg = config(&mut attrs);
                refused(t, |p| aclrtMallocWithCfg(p, 64, 0, &raw mut cfg));
                // The current device is allowed.
                let mut attrs = [attribute(ACL_RT_MEM_ATTR_DEVICE_ID, 0)];
                let mut cfg = config(&mut attrs);
                let mut p = SENTINEL;
                let code = aclrtMallocWithCfg(&raw mut p, 64, 0, &raw mut cfg);
                t.ok(code, "the current device");
                t.usable(p, 64);
            },
        ),
        case(
            "memory.malloc_with_cfg.attr_module_id",
            Setup::device0(),
            |t| {
                let allocate = |module: u32, size: usize| {
                    let mut attrs = [attribute(ACL_RT_MEM_ATTR_MODULE_ID, module)];
                    let mut cfg = config(&mut attrs);
                    let mut p = SENTINEL;
                    let policy = ACL_MEM_MALLOC_NORMAL_ONLY;
                    (
                        aclrtMallocWithCfg(&raw mut p, size, policy, &raw mut cfg),
                        p,
                    )
                };
                // The module of plain allocations, by what they change.
                let before = usage(t);
                t.malloc(MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
                let app = grown(t, &before, normal_charge(padded(MIB)));
                let before = usage(t);
                let (code, p) = allocate(3, 3 * MIB);
                t.ret(code);
                t.usable(p, 3 * MIB);
                let third = grown(t, &before, 3 * MIB);
                t.check(third != app, "module 3 is not the application");
                let before = usage(t);
                let (code, _) = allocate(0xfff0, MIB);
                t.ok(code, "a module past the last one");
                t.eq(grown(t, &before, MIB), app, "module that it falls back to");
            },
        ),
        case(
            "memory.malloc_with_cfg.attr_unknown",
            Setup::device0(),
            |t| {
                let mut attrs = [attribute(99, 0)];
                let mut cfg = config(&mut attrs);
                refused(t, |p| aclrtMallocWithCfg(p, 64, 0, &raw mut cfg));
            },
        ),
        case("memory.malloc_with_cfg.null_cfg", Setup::device0(), |t| {
            let mut p = SENTINEL;
            t.ret(with_cfg(&raw mut p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
            t.usable(p, 64);
            t.free(p);
        }),
    ]
}

/// Current bytes of every component that uses memory of device 0.
pub(super) fn usage(t: &T) -> Vec<(String, u64)> {
    let blank = aclrtMemUsageInfo {
        name: [0; 32],
        curMemSize: 0,
        memPeakSize: 0,
        reserved: [0; 8],
    };
    let mut info = [blank; 64];
    let mut n = UNTOUCHED;
    let code = aclrtGetMemUsageInfo(0, info.as_mut_ptr(), info.len(), &raw mut n);
    t.ok(code, "aclrtGetMemUsageInfo");
    if n > info.len() {
        abort(&format!("outputNum is {n}"));
    }
    info[..n]
        .iter()
        .map(|info| {
            let name = info.name.iter().take_while(|c| **c != 0);
            (name.map(|c| *c as u8 as char).collect(), info.curMemSize)
        })
        .collect()
}

/// Name of the one component that grew, which must be by `bytes`.
fn grown(t: &T, before: &[(String, u64)], bytes: usize) -> String {
    let old = |name: &str| {
        before
            .iter()
            .find(|(n, _)| n == name)
            .map_or(0, |(_, b)| *b)
    };
    let grown: Vec<_> = usage(t)
        .into_iter()
        .filter(|(name, now)| *now > old(name))
        .map(|(name, now)| (now - old(&name), name))
        .collect();
    match grown.as_slice() {
        [(by, name)] => {
            t.eq(*by, bytes as u64, &format!("bytes that {name} grew by"));
            name.clone()
        }
        other => abort(&format!("one component must grow, not {other:?}")),
    }
}

fn own() -> Vec<Case> {
    vec![
        case("x.malloc.argument_order", Setup::init(), |t| {
            // Pointer, size, wrapping size, then the context.
            for (name, malloc) in ALL {
                t.fails_with(
                    malloc(null_mut(), 0, 0),
                    ERROR_FRONT,
                    "EH0008 param=devPtr",
                    name,
                );
                let mut p = SENTINEL;
                let zero = "EH0007 value=0 param=size expect 'must be greater than 0'";
                t.fails_with(malloc(&raw mut p, 0, 0), ERROR_FRONT, zero, name);
                t.fails(malloc(&raw mut p, 64, 0), ERROR_CONTEXT, name);
                t.eq(p, SENTINEL, "output");
            }
            let mut p = SENTINEL;
            for size in [usize::MAX, usize::MAX - 31, usize::MAX - 62] {
                let code = aclrtMalloc(&raw mut p, size, 0);
                t.fails(code, ERROR_FRONT, &format!("aclrtMalloc of {size:#x}"));
                let code = aclrtMallocCached(&raw mut p, size, 0);
                t.fails(
                    code,
                    ERROR_FRONT,
                    &format!("aclrtMallocCached of {size:#x}"),
                );
            }
            t.eq(p, SENTINEL, "output");
        }),
        case("x.malloc.size_zero_text", Setup::device0(), |t| {
            let mut p = SENTINEL;
            let tokens = "EH0007 value=0 param=size expect 'must be greater than 0'";
            t.fails_with(
                aclrtMalloc(&raw mut p, 0, 0),
                ERROR_FRONT,
                tokens,
                "aclrtMalloc",
            );
            t.eq(p, SENTINEL, "output");
        }),
        case(
            "x.malloc.reserved_bytes_by_function",
            Setup::device0(),
            |t| {
                for size in [1, 31, 32, 33, 64, 65, 1000, 4096] {
                    for (name, malloc) in ALL {
                        let p = t.block(malloc, size, ACL_MEM_MALLOC_NORMAL_ONLY);
                        let tail = matches!(name, "aclrtMalloc" | "aclrtMallocCached");
                        let reserved = round_up(size, 32) + if tail { 32 } else { 0 };
                        t.eq(p.addr() % 64, 0, &format!("alignment of {name}"));
                        t.eq(t.range(p), (p, reserved), &format!("{name} of {size}"));
                        owns(t, p, reserved);
                    }
                }
            },
        ),
        case(
            "x.malloc.charged_bytes_by_function",
            Setup::device0(),
            |t| {
                for size in [1, 31, 32, 33, 63, 64, 65, 95, 96, 97, 4095, 4096, 100_000] {
                    for (name, malloc) in ALL {
                        let (p, taken) =
                            t.charge(|| t.block(malloc, size, ACL_MEM_MALLOC_NORMAL_ONLY));
                        let tail = matches!(name, "aclrtMalloc" | "aclrtMallocCached");
                        let reserved = round_up(size, 32) + if tail { 32 } else { 0 };
                        let want = (0, normal_charge(reserved) as i64);
                        t.eq(taken, want, &format!("bytes that {name} of {size} takes"));
                        let (_, taken) = t.charge(|| t.free(p));
                        t.eq(
                            taken,
                            (0, -want.1),
                            &format!("bytes that come back, {size}"),
                        );
                    }
                }
            },
        ),
        case("x.malloc.large_blocks", Setup::device0(), |t| {
            let p = t.malloc(GIB, ACL_MEM_MALLOC_HUGE_FIRST);
            let bytes = t.random_bytes(5 * MIB);
            for at in [0, 512 * MIB + 3, GIB - bytes.len()] {
                t.upload(off(p, at), &bytes);
                t.holds(off(p, at), &bytes, "bytes inside a large block");
            }
        }),
        case(
            "x.malloc.freed_memory_is_reused",
            Setup::device0().memory("64M", "32M"),
            |t| {
                // A thousand times more than the card holds, one block at a time.
                for i in 0..4000_usize {
                    let p = t.malloc(16 * MIB, ACL_MEM_MALLOC_NORMAL_ONLY);
                    if i % 500 == 0 {
                        t.usable(p, 4096);
                    }
                    t.free(p);
                }
            },
        ),
        case(
            "x.malloc.config_without_attributes",
            Setup::device0(),
            |t| {
                let mut cfg = aclrtMallocConfig {
                    attrs: null_mut(),
                    numAttrs: 0,
                };
                let mut p = SENTINEL;
                let code = aclrtMallocWithCfg(&raw mut p, 64, 0, &raw mut cfg);
                t.fails_with(code, ERROR_PARAM, "EE1004", "attrs NULL");
                t.eq(p, SENTINEL, "output");
            },
        ),
        case(
            "x.malloc.last_duplicate_attribute_wins",
            Setup::device0().devices(2),
            |t| {
                let device = |id| attribute(ACL_RT_MEM_ATTR_DEVICE_ID, id);
                let mut p = SENTINEL;
                let mut attrs = [device(0), device(1)];
                let mut cfg = config(&mut attrs);
                let code = aclrtMallocWithCfg(&raw mut p, 64, 0, &raw mut cfg);
                t.fails(code, ERROR_PARAM, "the other device last");
                t.eq(p, SENTINEL, "output");
                let mut attrs = [device(1), device(0)];
                let mut cfg = config(&mut attrs);
                let code = aclrtMallocWithCfg(&raw mut p, 64, 0, &raw mut cfg);
                t.ok(code, "the current device last");
            },
        ),
        case(
            "x.malloc.va_flag_is_for_host_memory",
            Setup::device0(),
            |t| {
                let mut attrs = [attribute(ACL_RT_MEM_ATTR_VA_FLAG, 1)];
                let mut cfg = config(&mut attrs);
                let mut p = SENTINEL;
                let code = aclrtMallocWithCfg(&raw mut p, 64, 0, &raw mut cfg);
                t.fails(code, ERROR_PARAM, "VA flag on device memory");
                t.eq(p, SENTINEL, "output");
            },
        ),
    ]
}
