//! Allocators that streams are given, and what the runtime takes from them.
#![allow(unsafe_code)] // The functions of an allocator work on its object.

use std::sync::{Mutex, PoisonError};

use super::kernel::AddArgs;
use super::support::*;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = lines();
    cases.extend(own());
    cases
}

/// What an allocator was asked for. Blocks are numbers: 1 + index.
#[derive(Default)]
struct Log {
    allocated: Vec<(usize, *mut c_void)>,
    advised: Vec<*mut c_void>,
    freed: Vec<usize>,
    /// Answered instead of memory.
    instead: Option<*mut c_void>,
    nothing: bool,
}

/// An allocator of a program; lives for ever.
struct Own(Mutex<Log>);

// SAFETY: the pointers are numbers to this test.
unsafe impl Sync for Own {}

impl Own {
    fn new() -> &'static Own {
        Box::leak(Box::new(Own(Mutex::default())))
    }

    fn log(&self) -> std::sync::MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn object(&'static self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }
}

fn own_of(object: *mut c_void) -> &'static Own {
    // SAFETY: every object of these cases is a leaked `Own`.
    unsafe { &*object.cast::<Own>() }
}

/// The allocator whose blocks `address_of` is asked for: one in each process.
static CURRENT: Mutex<Option<&'static Own>> = Mutex::new(None);

fn make(own: &Own, size: usize) -> *mut c_void {
    let mut log = own.log();
    if log.nothing {
        return null_mut();
    }
    let mut p = null_mut();
    if aclrtMalloc(&mut p, size, ACL_MEM_MALLOC_HUGE_FIRST) != 0 {
        return null_mut();
    }
    log.allocated.push((size, p));
    addr(log.allocated.len())
}

unsafe extern "C" fn alloc(object: *mut c_void, size: usize) -> *mut c_void {
    make(own_of(object), size)
}

unsafe extern "C" fn advise(object: *mut c_void, size: usize, at: *mut c_void) -> *mut c_void {
    own_of(object).log().advised.push(at);
    make(own_of(object), size)
}

/// A pool: blocks stay allocated on the device until the stream is synchronised.
unsafe extern "C" fn free(object: *mut c_void, block: *mut c_void) {
    own_of(object).log().freed.push(block.addr());
}

unsafe extern "C" fn address_of(block: *mut c_void) -> *mut c_void {
    let current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    let log = current.map(Own::log);
    log.map_or(null_mut(), |log| {
        log.instead
            .unwrap_or_else(|| log.allocated[block.addr() - 1].1)
    })
}

impl T {
    fn descriptor(&self, own: &'static Own) -> aclrtAllocatorDesc {
        *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = Some(own);
        let d = aclrtAllocatorCreateDesc();
        self.check(!d.is_null(), "no descriptor");
        self.ok(aclrtAllocatorSetObjToDesc(d, own.object()), "object");
        self.ok(aclrtAllocatorSetAllocFuncToDesc(d, Some(alloc)), "alloc");
        self.ok(aclrtAllocatorSetFreeFuncToDesc(d, Some(free)), "free");
        let code = aclrtAllocatorSetGetAddrFromBlockFuncToDesc(d, Some(address_of));
        self.ok(code, "get address");
        d
    }

    fn get(&self, s: aclrtStream) -> (aclError, aclrtAllocatorDesc, aclrtAllocator) {
        let (mut d, mut object) = (SENTINEL, SENTINEL);
        let (mut f1, mut f2, mut f3, mut f4) = (None, None, None, None);
        let code =
            aclrtAllocatorGetByStream(s, &mut d, &mut object, &mut f1, &mut f2, &mut f3, &mut f4);
        if code == 0 {
            let same = f1.map(|f| f as usize) == Some(alloc as *const () as usize)
                && f2.map(|f| f as usize) == Some(free as *const () as usize)
                && f4.map(|f| f as usize) == Some(address_of as *const () as usize);
            self.check(same, "the functions are others");
        }
        (code, d, object)
    }
}

fn lines() -> Vec<Case> {
    vec![
        case("allocator.destroy_desc.null", Setup::init(), |t| {
            t.ret(aclrtAllocatorDestroyDesc(null_mut()));
        }),
        case("allocator.get.null_desc", Setup::device0(), |t| {
            let s = t.stream();
            let d = t.descriptor(Own::new());
            t.ok(aclrtAllocatorRegister(s, d), "aclrtAllocatorRegister");
            let mut object = SENTINEL;
            let (mut f1, mut f2, mut f3, mut f4) = (None, None, None, None);
            // A stream that is missing too: the descriptor is looked at first.
            let code = aclrtAllocatorGetByStream(
                null_mut(),
                null_mut(),
                &mut object,
                &mut f1,
                &mut f2,
                &mut f3,
                &mut f4,
            );
            t.ret(code);
            t.eq(object, SENTINEL, "the object");
        }),
        case("allocator.get.unregistered", Setup::device0(), |t| {
            let (code, d, object) = t.get(t.stream());
            t.ret(code);
            t.eq((d, object), (SENTINEL, SENTINEL), "the answers");
        }),
        case(
            "allocator.register.advise_optional",
            Setup::device0(),
            |t| {
                let (s, own) = (t.stream(), Own::new());
                let d = t.descriptor(own);
                t.ret(aclrtAllocatorRegister(s, d));
                let (code, got, object) = t.get(s);
                t.ok(code, "aclrtAllocatorGetByStream");
                t.eq((got, object), (d, own.object()), "the answers");
            },
        ),
        case("allocator.register.missing_free", Setup::device0(), |t| {
            let s = t.stream();
            let d = aclrtAllocatorCreateDesc();
            t.ok(aclrtAllocatorSetObjToDesc(d, Own::new().object()), "object");
            t.ok(aclrtAllocatorSetAllocFuncToDesc(d, Some(alloc)), "alloc");
            let code = aclrtAllocatorSetGetAddrFromBlockFuncToDesc(d, Some(address_of));
            t.ok(code, "get address");
            t.ret(aclrtAllocatorRegister(s, d));
            t.fails(t.get(s).0, 100_000, "nothing is registered");
        }),
        case("allocator.register.null_stream", Setup::device0(), |t| {
            let d = t.descriptor(Own::new());
            t.ret(aclrtAllocatorRegister(null_mut(), d));
        }),
        case("allocator.set_alloc.null_desc", Setup::init(), |t| {
            t.ret(aclrtAllocatorSetAllocFuncToDesc(null_mut(), Some(alloc)));
        }),
        case("allocator.set_obj.null_obj", Setup::init(), |t| {
            t.ret(aclrtAllocatorSetObjToDesc(
                aclrtAllocatorCreateDesc(),
                null_mut(),
            ));
        }),
        case("allocator.unregister.null", Setup::init(), |t| {
            t.ret(aclrtAllocatorUnregister(null_mut()));
        }),
        case("allocator.unregister.unknown", Setup::device0(), |t| {
            t.ret(aclrtAllocatorUnregister(t.stream()));
        }),
    ]
}

fn own() -> Vec<Case> {
    vec![
        case("x.allocator.descriptors", Setup::init(), |t| {
            let d = t.descriptor(Own::new());
            t.ok(aclrtAllocatorDestroyDesc(d), "aclrtAllocatorDestroyDesc");
            for (code, what) in [
                (aclrtAllocatorDestroyDesc(d), "a second time"),
                (
                    aclrtAllocatorSetAllocFuncToDesc(d, Some(alloc)),
                    "a dead one",
                ),
                (
                    aclrtAllocatorSetFreeFuncToDesc(addr(8), Some(free)),
                    "an invented one",
                ),
            ] {
                t.check(code == 100_000, what);
            }
            let _ = t.pending_text("the refusals");
        }),
        case("x.allocator.launch_arguments", Setup::device0(), |t| {
            // Arguments of launches come from the stream's allocator, those of other streams do not.
            let function = t.add_kernel();
            let (s, other, own) = (t.stream(), t.stream(), Own::new());
            let d = t.descriptor(own);
            t.ok(aclrtAllocatorRegister(s, d), "aclrtAllocatorRegister");
            // The registration keeps what it needs.
            t.ok(aclrtAllocatorDestroyDesc(d), "aclrtAllocatorDestroyDesc");
            let (p, mut bytes) = t.filled(MIB + 3);
            for addend in 0..20_u8 {
                let args = AddArgs {
                    at: p,
                    bytes: bytes.len() as u64,
                    addend,
                };
                t.ok(t.launch_add(function, 3, args, s), "launch");
                bytes.iter_mut().for_each(|b| *b = b.wrapping_add(addend));
            }
            {
                let log = own.log();
                t.eq(log.allocated.len(), 20, "blocks");
                let small = log
                    .allocated
                    .iter()
                    .all(|(n, _)| *n >= size_of::<AddArgs>());
                t.check(small, "blocks are too small");
                t.eq(
                    log.freed.clone(),
                    (1..=20).collect(),
                    "blocks that went back",
                );
            }
            t.sync(s);
            t.holds(p, &bytes, "the bytes");
            let args = AddArgs {
                at: p,
                bytes: 1,
                addend: 0,
            };
            t.ok(t.launch_add(function, 1, args, other), "launch elsewhere");
            t.ok(aclrtAllocatorUnregister(s), "aclrtAllocatorUnregister");
            t.ok(t.launch_add(function, 1, args, s), "launch afterwards");
            t.ok(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
            t.eq(own.log().allocated.len(), 20, "blocks");
        }),
        case(
            "x.allocator.blocks_are_used_in_stream_order",
            Setup::device0(),
            |t| {
                // One block for all launches: the pool hands it out again at once, as it may.
                let function = t.add_kernel();
                let (s, own) = (t.stream(), Own::new());
                let d = t.descriptor(own);
                let block = t.malloc(MIB, ACL_MEM_MALLOC_HUGE_FIRST);
                own.log().instead = Some(block);
                t.ok(aclrtAllocatorRegister(s, d), "aclrtAllocatorRegister");
                let (p, mut bytes) = t.filled(1000);
                let gate = t.hold(s);
                for i in 0..100_usize {
                    let args = AddArgs {
                        at: off(p, i * 10),
                        bytes: 10,
                        addend: i as u8,
                    };
                    t.ok(t.launch_add(function, 2, args, s), "launch");
                    let part = &mut bytes[i * 10..][..10];
                    part.iter_mut().for_each(|b| *b = b.wrapping_add(i as u8));
                }
                gate.open();
                t.sync(s);
                t.holds(p, &bytes, "the bytes");
                t.check(
                    t.download(block, 8) != vec![0; 8],
                    "the arguments were not where the allocator said",
                );
            },
        ),
        case(
            "x.allocator.advises_the_last_block",
            Setup::device0(),
            |t| {
                let function = t.add_kernel();
                let (s, own) = (t.stream(), Own::new());
                let d = t.descriptor(own);
                let code = aclrtAllocatorSetAllocAdviseFuncToDesc(d, Some(advise));
                t.ok(code, "advise");
                t.ok(aclrtAllocatorRegister(s, d), "aclrtAllocatorRegister");
                let (p, _) = t.filled(8);
                for _ in 0..3 {
                    let args = AddArgs {
                        at: p,
                        bytes: 8,
                        addend: 1,
                    };
                    t.ok(t.launch_add(function, 1, args, s), "launch");
                }
                t.sync(s);
                let log = own.log();
                let first: Vec<_> = log.allocated.iter().map(|(_, p)| *p).take(2).collect();
                t.eq(log.advised.clone(), first, "addresses that were advised");
            },
        ),
        case("x.allocator.without_memory", Setup::device0(), |t| {
            let function = t.add_kernel();
            let (s, own) = (t.stream(), Own::new());
            let d = t.descriptor(own);
            t.ok(aclrtAllocatorRegister(s, d), "aclrtAllocatorRegister");
            let (p, bytes) = t.filled(64);
            let args = AddArgs {
                at: p,
                bytes: 64,
                addend: 1,
            };
            own.log().nothing = true;
            t.fails(t.launch_add(function, 1, args, s), 207_001, "no block");
            own.log().nothing = false;
            let host = t.malloc_host(4096);
            for wrong in [host, addr(64), null_mut()] {
                own.log().instead = Some(wrong);
                let code = t.launch_add(function, 1, args, s);
                t.fails(code, ERROR_PARAM, "a block that is no device memory");
            }
            t.check(t.is_idle(s), "something was queued");
            t.holds(p, &bytes, "the bytes");
            let log = own.log();
            t.eq(
                log.freed.len(),
                log.allocated.len(),
                "blocks that went back",
            );
        }),
        case(
            "x.allocator.last_registration_wins",
            Setup::device0(),
            |t| {
                let (s, one, two) = (t.stream(), Own::new(), Own::new());
                let (d1, d2) = (t.descriptor(one), t.descriptor(two));
                t.ok(aclrtAllocatorRegister(s, d1), "aclrtAllocatorRegister");
                t.ok(aclrtAllocatorRegister(s, d2), "aclrtAllocatorRegister");
                t.eq(t.get(s), (0, d2, two.object()), "the answers");
                t.ok(aclrtAllocatorUnregister(s), "aclrtAllocatorUnregister");
                t.ok(aclrtAllocatorUnregister(s), "a second time");
                t.fails(t.get(s).0, 100_000, "nothing is registered");
            },
        ),
        case("x.allocator.ends_with_its_stream", Setup::device0(), |t| {
            let (s, own) = (t.stream(), Own::new());
            let d = t.descriptor(own);
            t.ok(aclrtAllocatorRegister(s, d), "aclrtAllocatorRegister");
            t.ok(aclrtDestroyStream(s), "aclrtDestroyStream");
            t.fails(t.get(s).0, 100_000, "nothing is registered");
            t.fails(aclrtAllocatorRegister(s, d), 107_017, "a dead stream");
        }),
        case(
            "x.allocator.products",
            Setup::device0().profile("310B"),
            |t| {
                let s = t.stream();
                let d = t.descriptor(Own::new());
                t.fails(
                    aclrtAllocatorRegister(null_mut(), d),
                    100_000,
                    "NULL comes first",
                );
                t.fails(
                    aclrtAllocatorRegister(s, d),
                    207_000,
                    "the product lacks it",
                );
                t.fails(aclrtAllocatorUnregister(s), 207_000, "the product lacks it");
            },
        ),
    ]
}
