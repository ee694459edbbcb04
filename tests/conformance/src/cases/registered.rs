//! Registered host memory: the lines of the contract, and what its cases share.

use super::support::*;

/// `ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED`.
pub(super) const ERROR_REGISTERED: i64 = ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED as i64;
/// The flags of aclrtHostRegisterV2, as they are passed.
pub(super) const MAPPED: u32 = ACL_HOST_REG_MAPPED as u32;
pub(super) const PINNED: u32 = ACL_HOST_REG_PINNED as u32;
/// The one type of aclrtHostRegister.
pub(super) const TYPE: aclrtHostRegisterType = ACL_HOST_REGISTER_MAPPED;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = register();
    cases.extend(register_v2());
    cases.extend(unregister());
    cases.extend(device_pointer());
    cases
}

/// Memory of `mmap`, given back when dropped.
pub(super) struct Pages {
    pub(super) p: *mut c_void,
    pub(super) len: usize,
}

impl Pages {
    /// Whole pages of 4 KiB.
    pub(super) fn new(len: usize) -> Self {
        Self::at(null_mut(), len)
    }

    /// At an address where nothing is; anywhere for NULL.
    pub(super) fn at(hint: *mut c_void, len: usize) -> Self {
        let fixed = if hint.is_null() {
            0
        } else {
            libc::MAP_FIXED_NOREPLACE
        };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | fixed;
        #[allow(unsafe_code)] // Memory of the program's own.
        // SAFETY: a fresh mapping that replaces nothing.
        let p = unsafe { libc::mmap(hint, len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if p == libc::MAP_FAILED {
            abort("mmap failed");
        }
        Self { p, len }
    }

    /// The address `bytes` bytes behind the start.
    pub(super) fn at_byte(&self, bytes: usize) -> *mut c_void {
        off(self.p, bytes)
    }

    /// Random bytes all over; returns them.
    pub(super) fn fill(&self, t: &T) -> Vec<u8> {
        let bytes = t.random_bytes(self.len);
        host_write(self.p, &bytes);
        bytes
    }

    /// The bytes now.
    pub(super) fn read(&self) -> Vec<u8> {
        host_read(self.p, self.len)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        #[allow(unsafe_code)] // Memory of the program's own.
        // SAFETY: mapped by `at`; nobody uses it any more.
        unsafe {
            libc::munmap(self.p, self.len);
        }
    }
}

/// Locked memory of this process in KiB, as the kernel counts it.
pub(super) fn locked_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmLck:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or_else(|| abort("no VmLck in the process status"))
}

impl T {
    /// Registers as mapped; the device address.
    pub(super) fn register(&self, p: *mut c_void, size: usize) -> *mut c_void {
        let mut d = SENTINEL;
        let code = aclrtHostRegister(p, size as u64, TYPE, &raw mut d);
        self.ok(code, "aclrtHostRegister");
        d
    }

    pub(super) fn unregister(&self, p: *mut c_void) {
        self.ok(aclrtHostUnregister(p), "aclrtHostUnregister");
    }

    /// The address is in no registration.
    pub(super) fn is_unregistered(&self, p: *mut c_void) {
        let a = self.attributes(p);
        let unregistered = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
        self.eq(a.location.r#type, unregistered, "location");
    }

    /// The address is in a registration.
    pub(super) fn is_registered(&self, p: *mut c_void) {
        let a = self.attributes(p);
        let host = (ACL_MEM_LOCATION_TYPE_HOST, 0, 4096);
        let got = (a.location.r#type, a.location.id, a.pageSize);
        self.eq(got, host, "location of registered memory");
    }
}

fn register() -> Vec<Case> {
    vec![
        case("memory.host_register.no_context", Setup::init(), |t| {
            let pages = Pages::new(4096);
            let mut d = SENTINEL;
            t.ret(aclrtHostRegister(pages.p, 4096, TYPE, &raw mut d));
            t.eq(d, SENTINEL, "output");
            t.is_unregistered(pages.p);
        }),
        case("memory.host_register.null_ptr", Setup::device0(), |t| {
            let mut d = SENTINEL;
            t.ret(aclrtHostRegister(null_mut(), 4096, TYPE, &raw mut d));
            t.eq(d, SENTINEL, "output");
        }),
        case("memory.host_register.ok", Setup::device0(), |t| {
            let h = t.malloc_host(4096);
            let mut d = null_mut();
            t.ret(aclrtHostRegister(h, 4096, TYPE, &raw mut d));
            t.check(!d.is_null(), "the device address is NULL");
            t.check(d != h, "the device address is the host address");
            t.is_registered(h);
            t.unregister(h);
            t.free_host(h);
            t.is_unregistered(h);
        }),
        case("memory.host_register.size_zero", Setup::device0(), |t| {
            let pages = Pages::new(4096);
            let mut d = SENTINEL;
            t.ret(aclrtHostRegister(pages.p, 0, TYPE, &raw mut d));
            t.eq(d, SENTINEL, "output");
            t.is_unregistered(pages.p);
        }),
        case("memory.host_register.twice", Setup::device0(), |t| {
            let pages = Pages::new(4096);
            let first = t.register(pages.p, 4096);
            let mut d = SENTINEL;
            t.ret(aclrtHostRegister(pages.p, 4096, TYPE, &raw mut d));
            t.eq(d, SENTINEL, "output");
            let mut again = SENTINEL;
            let code = aclrtHostGetDevicePointer(pages.p, &raw mut again, 0);
            t.ok(code, "aclrtHostGetDevicePointer");
            t.eq(again, first, "device address of the first registration");
            t.unregister(pages.p);
        }),
    ]
}

fn register_v2() -> Vec<Case> {
    vec![
        case(
            "memory.host_register_v2.flag_unknown_bit",
            Setup::device0(),
            |t| {
                let pages = Pages::new(4096);
                t.ret(aclrtHostRegisterV2(pages.p, 4096, MAPPED | 1));
                t.is_unregistered(pages.p);
            },
        ),
        case("memory.host_register_v2.flag_zero", Setup::device0(), |t| {
            let pages = Pages::new(4096);
            t.ret(aclrtHostRegisterV2(pages.p, 4096, 0));
            t.is_unregistered(pages.p);
        }),
        case("memory.host_register_v2.null", Setup::device0(), |t| {
            t.ret(aclrtHostRegisterV2(null_mut(), 4096, MAPPED));
        }),
        case(
            "memory.host_register_v2.pinned_makes_copy_async",
            Setup::device0(),
            |t| {
                let s = t.stream();
                let pages = Pages::new(4096);
                let bytes = pages.fill(t);
                let (d, before) = t.filled(4096);
                let code = aclrtHostRegisterV2(pages.p, 4096, PINNED);
                t.ok(code, "aclrtHostRegisterV2");
                let gate = t.hold(s);
                t.ret(aclrtMemcpyAsync(
                    d,
                    4096,
                    pages.p,
                    4096,
                    ACL_MEMCPY_HOST_TO_DEVICE,
                    s,
                ));
                t.check(!gate.is_open(), "the call waited for the stream");
                t.holds(d, &before, "destination before the stream came to it");
                gate.open();
                t.sync(s);
                t.holds(d, &bytes, "destination afterwards");
                t.unregister(pages.p);
            },
        ),
        case("memory.host_register_v2.size_zero", Setup::device0(), |t| {
            let pages = Pages::new(4096);
            t.ret(aclrtHostRegisterV2(pages.p, 0, MAPPED));
            t.is_unregistered(pages.p);
        }),
    ]
}

fn unregister() -> Vec<Case> {
    vec![
        case("memory.host_unregister.interior", Setup::device0(), |t| {
            let pages = Pages::new(8192);
            t.register(pages.p, 8192);
            t.ret(aclrtHostUnregister(pages.at_byte(4096)));
            t.is_registered(pages.p);
            t.is_registered(pages.at_byte(8191));
            t.unregister(pages.p);
        }),
        case("memory.host_unregister.no_context", Setup::init(), |t| {
            let pages = Pages::new(4096);
            t.ret(aclrtHostUnregister(pages.p));
        }),
        case("memory.host_unregister.twice", Setup::device0(), |t| {
            let pages = Pages::new(4096);
            t.register(pages.p, 4096);
            t.unregister(pages.p);
            t.ret(aclrtHostUnregister(pages.p));
            t.is_unregistered(pages.p);
        }),
        case("memory.host_unregister.unknown", Setup::device0(), |t| {
            let pages = Pages::new(4096);
            t.ret(aclrtHostUnregister(pages.p));
        }),
    ]
}

fn device_pointer() -> Vec<Case> {
    vec![
        case(
            "memory.host_get_device_pointer.flag",
            Setup::device0(),
            |t| {
                let pages = Pages::new(4096);
                t.register(pages.p, 4096);
                let mut d = SENTINEL;
                t.ret(aclrtHostGetDevicePointer(pages.p, &raw mut d, 1));
                t.eq(d, SENTINEL, "output");
                t.unregister(pages.p);
            },
        ),
        case(
            "memory.host_get_device_pointer.null",
            Setup::device0(),
            |t| {
                let mut d = SENTINEL;
                t.ret(aclrtHostGetDevicePointer(null_mut(), &raw mut d, 0));
                t.eq(d, SENTINEL, "output");
            },
        ),
        case(
            "memory.host_get_device_pointer.pinned_only",
            Setup::device0(),
            |t| {
                let pages = Pages::new(4096);
                let code = aclrtHostRegisterV2(pages.p, 4096, PINNED);
                t.ok(code, "aclrtHostRegisterV2");
                let mut d = SENTINEL;
                t.ret(aclrtHostGetDevicePointer(pages.p, &raw mut d, 0));
                t.eq(d, SENTINEL, "output");
                t.unregister(pages.p);
            },
        ),
        case(
            "memory.host_get_device_pointer.same_as_register",
            Setup::device0(),
            |t| {
                let pages = Pages::new(4096);
                let d1 = t.register(pages.p, 4096);
                let mut d2 = SENTINEL;
                t.ret(aclrtHostGetDevicePointer(pages.p, &raw mut d2, 0));
                t.eq(d2, d1, "device address");
                t.unregister(pages.p);
            },
        ),
        case("memory.host_map_cap.bad_type", Setup::device0(), |t| {
            let mut cap = 77;
            t.ret(aclrtHostMemMapCapabilities(0, 99, &raw mut cap));
            t.eq(cap, 77, "output");
        }),
        case("memory.host_map_cap.null", Setup::device0(), |t| {
            t.ret(aclrtHostMemMapCapabilities(0, 0, null_mut()));
        }),
    ]
}
