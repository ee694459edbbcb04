//! What the bodies share: sizes, pointers, host memory, and short forms of the
//! calls that only prepare or read back.

pub(super) use std::ffi::{CString, c_void};
pub(super) use std::ptr::{null, null_mut};

pub(super) use cannery_abi::*;

pub(super) use crate::api::*;
pub(super) use crate::case::{Case, Setup, case};
pub(super) use crate::t::{T, abort};
pub(super) use crate::worker::{Worker, on_thread};

/// 2^10 bytes.
pub(super) const KIB: usize = 1 << 10;
/// 2^20 bytes.
pub(super) const MIB: usize = 1 << 20;
/// 2^30 bytes.
pub(super) const GIB: usize = 1 << 30;
/// Bytes of a huge page.
pub(super) const HUGE_PAGE: usize = 2 * MIB;
/// Shared pages are charged in units of this many bytes.
pub(super) const CHARGE_UNIT: usize = 64;

/// Value that an untouched output pointer keeps.
pub(super) const SENTINEL: *mut c_void = std::ptr::without_provenance_mut(0x5ea1_5ea1_5ea0);
/// Value that an untouched output number keeps.
pub(super) const UNTOUCHED: usize = 0x5ea1_5ea1_5ea1;

/// A pointer made of a number.
pub(super) fn addr(number: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(number)
}

/// `p` moved by `bytes`, without looking at what is there.
pub(super) fn off(p: *mut c_void, bytes: usize) -> *mut c_void {
    p.wrapping_byte_add(bytes)
}

/// `n` rounded up to a multiple of `unit`.
pub(super) fn round_up(n: usize, unit: usize) -> usize {
    n.div_ceil(unit) * unit
}

/// Bytes that `aclrtMalloc` reserves on products with the tail.
pub(super) fn padded(size: usize) -> usize {
    round_up(size, 32) + 32
}

/// Bytes charged for a block of `reserved` bytes in normal pages.
pub(super) fn normal_charge(reserved: usize) -> usize {
    round_up(reserved, CHARGE_UNIT)
}

/// Bytes charged for a block of `reserved` bytes in huge pages.
pub(super) fn huge_charge(reserved: usize) -> usize {
    round_up(reserved, HUGE_PAGE)
}

/// Pointer to the bytes of a vector, as a copy's source.
pub(super) fn src(bytes: &[u8]) -> *const c_void {
    bytes.as_ptr().cast()
}

/// Pointer to the bytes of a vector, as a copy's destination.
pub(super) fn dst(bytes: &mut [u8]) -> *mut c_void {
    bytes.as_mut_ptr().cast()
}

/// Memory of C's `malloc`, which the runtime knows nothing about.
pub(super) struct CMemory {
    /// First byte.
    pub(super) p: *mut c_void,
    len: usize,
}

impl CMemory {
    /// Allocates `len` bytes.
    pub(super) fn new(len: usize) -> Self {
        #[allow(unsafe_code)] // Memory that must come from C.
        // SAFETY: malloc has no precondition.
        let p = unsafe { libc::malloc(len) };
        if p.is_null() {
            abort("malloc failed");
        }
        Self { p, len }
    }

    /// The block is still the caller's: it can be written, read and released.
    pub(super) fn check_still_owned(self, t: &T) {
        let bytes = t.random_bytes(self.len);
        host_write(self.p, &bytes);
        t.same_bytes(&host_read(self.p, self.len), &bytes, "memory of C");
        #[allow(unsafe_code)] // Memory that must go back to C.
        // SAFETY: `p` came from malloc and is released once.
        unsafe {
            libc::free(self.p);
        }
    }
}

/// Writes host memory through a raw pointer of the runtime.
pub(super) fn host_write(p: *mut c_void, bytes: &[u8]) {
    #[allow(unsafe_code)] // Pinned memory has no safe type here.
    // SAFETY: bodies pass live host memory of at least that many bytes, which
    // no other thread touches.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), p.cast(), bytes.len());
    }
}

/// Reads host memory through a raw pointer of the runtime.
pub(super) fn host_read(p: *const c_void, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    #[allow(unsafe_code)] // Pinned memory has no safe type here.
    // SAFETY: as in `host_write`; any bit pattern is a byte.
    unsafe {
        std::ptr::copy_nonoverlapping(p.cast(), bytes.as_mut_ptr(), len);
    }
    bytes
}

/// Free and total bytes of the page pools of the current device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pools {
    /// 2 MiB pages: free, total.
    pub(super) huge: (usize, usize),
    /// 4 KiB pages: free, total.
    pub(super) normal: (usize, usize),
    /// Both: free, total.
    pub(super) all: (usize, usize),
}

impl Pools {
    /// Bytes that left the huge and the normal pool between `self` and `later`.
    pub(super) fn taken(&self, later: &Self) -> (i64, i64) {
        let taken = |before: usize, after: usize| before as i64 - after as i64;
        (
            taken(self.huge.0, later.huge.0),
            taken(self.normal.0, later.normal.0),
        )
    }
}

/// A call that allocates device memory with a policy.
pub(super) type Malloc = fn(*mut *mut c_void, usize, aclrtMemMallocPolicy) -> aclError;

impl T {
    /// A device block from `aclrtMalloc`.
    pub(super) fn malloc(&self, size: usize, policy: aclrtMemMallocPolicy) -> *mut c_void {
        self.block(aclrtMalloc, size, policy)
    }

    /// A device block from any of the allocation functions.
    pub(super) fn block(
        &self,
        malloc: Malloc,
        size: usize,
        policy: aclrtMemMallocPolicy,
    ) -> *mut c_void {
        let mut p = SENTINEL;
        let what = format!("allocation of {size} bytes, policy {policy:#x}");
        self.ok(malloc(&raw mut p, size, policy), &what);
        if p == SENTINEL || p.is_null() {
            abort(&format!("{what} succeeded without a pointer"));
        }
        p
    }

    /// Pinned host memory.
    pub(super) fn malloc_host(&self, size: usize) -> *mut c_void {
        let mut p = SENTINEL;
        self.ok(aclrtMallocHost(&raw mut p, size), "aclrtMallocHost");
        p
    }

    /// Releases a device block.
    pub(super) fn free(&self, p: *mut c_void) {
        self.ok(aclrtFree(p), "aclrtFree");
    }

    /// Releases pinned host memory.
    pub(super) fn free_host(&self, p: *mut c_void) {
        self.ok(aclrtFreeHost(p), "aclrtFreeHost");
    }

    /// Copies bytes to the device.
    pub(super) fn upload(&self, p: *mut c_void, bytes: &[u8]) {
        let len = bytes.len();
        let code = aclrtMemcpy(p, len, src(bytes), len, ACL_MEMCPY_HOST_TO_DEVICE);
        self.ok(code, &format!("copy of {len} bytes to the device"));
    }

    /// Copies bytes from the device.
    pub(super) fn download(&self, p: *const c_void, len: usize) -> Vec<u8> {
        let mut bytes = vec![0xa5; len];
        let code = aclrtMemcpy(dst(&mut bytes), len, p, len, ACL_MEMCPY_DEVICE_TO_HOST);
        self.ok(code, &format!("copy of {len} bytes from the device"));
        bytes
    }

    /// Device memory holds these bytes.
    pub(super) fn holds(&self, p: *const c_void, bytes: &[u8], what: &str) {
        self.same_bytes(&self.download(p, bytes.len()), bytes, what);
    }

    /// A device block filled with random bytes, and the bytes.
    pub(super) fn filled(&self, size: usize) -> (*mut c_void, Vec<u8>) {
        let p = self.malloc(size, ACL_MEM_MALLOC_NORMAL_ONLY);
        let bytes = self.random_bytes(size);
        self.upload(p, &bytes);
        (p, bytes)
    }

    /// The block works: random bytes go there and come back.
    pub(super) fn usable(&self, p: *mut c_void, len: usize) {
        let bytes = self.random_bytes(len);
        self.upload(p, &bytes);
        self.holds(p, &bytes, "bytes of the block");
    }

    /// Free and total bytes of one memory attribute.
    pub(super) fn mem(&self, attr: aclrtMemAttr) -> (usize, usize) {
        let (mut free, mut total) = (UNTOUCHED, UNTOUCHED);
        let code = aclrtGetMemInfo(attr, &raw mut free, &raw mut total);
        self.ok(code, &format!("aclrtGetMemInfo({attr})"));
        (free, total)
    }

    /// Free and total bytes of the page pools.
    pub(super) fn pools(&self) -> Pools {
        Pools {
            huge: self.mem(ACL_HBM_MEM_HUGE),
            normal: self.mem(ACL_HBM_MEM_NORMAL),
            all: self.mem(ACL_HBM_MEM),
        }
    }

    /// What `call` takes from the huge and the normal pool.
    pub(super) fn charge<R>(&self, call: impl FnOnce() -> R) -> (R, (i64, i64)) {
        let before = self.pools();
        let result = call();
        let after = self.pools();
        self.eq(
            (after.huge.1, after.normal.1, after.all.1),
            (before.huge.1, before.normal.1, before.all.1),
            "totals of the page pools",
        );
        (result, before.taken(&after))
    }

    /// Runs a call that must not change what is charged.
    pub(super) fn charges_nothing<R>(&self, call: impl FnOnce() -> R) -> R {
        let before = self.pools();
        let result = call();
        self.eq(self.pools(), before, "page pools after the call");
        result
    }

    /// Location and page size of a pointer.
    pub(super) fn attributes(&self, p: *const c_void) -> aclrtPtrAttributes {
        let mut attributes = blank_attributes();
        let code = aclrtPointerGetAttributes(p, &raw mut attributes);
        self.ok(code, "aclrtPointerGetAttributes");
        attributes
    }

    /// Base and size of the block around a pointer.
    pub(super) fn range(&self, p: *mut c_void) -> (*mut c_void, usize) {
        let (mut base, mut size) = (SENTINEL, UNTOUCHED);
        let code = aclrtMemGetAddressRange(p, &raw mut base, &raw mut size);
        self.ok(code, "aclrtMemGetAddressRange");
        (base, size)
    }

    /// Takes huge pages until none is left; returns the blocks.
    pub(super) fn exhaust_huge(&self) -> Vec<*mut c_void> {
        let mut blocks = Vec::new();
        loop {
            let mut p = SENTINEL;
            let code = aclrtMalloc(&raw mut p, 1024, ACL_MEM_MALLOC_HUGE_ONLY);
            if code != 0 {
                self.eq(code, ACL_ERROR_RT_MEMORY_ALLOCATION, "code of exhaustion");
                self.eq(self.mem(ACL_HBM_MEM_HUGE).0, 0, "free huge bytes");
                return blocks;
            }
            blocks.push(p);
            if blocks.len() > 4096 {
                abort("the huge pool does not run out");
            }
        }
    }

    /// Device that the calling thread uses.
    pub(super) fn device(&self) -> i32 {
        let mut device = -77;
        self.ok(aclrtGetDevice(&raw mut device), "aclrtGetDevice");
        device
    }

    /// Context that the calling thread uses.
    pub(super) fn context(&self) -> aclrtContext {
        let mut context = null_mut();
        self.ok(
            aclrtGetCurrentContext(&raw mut context),
            "aclrtGetCurrentContext",
        );
        context
    }

    /// Makes a context on a device; it becomes the calling thread's.
    pub(super) fn create_context(&self, device: i32) -> aclrtContext {
        let mut context = null_mut();
        self.ok(
            aclrtCreateContext(&raw mut context, device),
            "aclrtCreateContext",
        );
        context
    }

    /// Writes a configuration file and returns its path.
    pub(super) fn config(&self, name: &str, json: &str) -> CString {
        let path = self.dir().join(name);
        if let Err(error) = std::fs::write(&path, json) {
            abort(&format!("cannot write the configuration: {error}"));
        }
        match CString::new(path.to_string_lossy().as_bytes()) {
            Ok(path) => path,
            Err(_) => abort("the scratch path holds a NUL"),
        }
    }

    /// The thread has no usable context: an allocation says so.
    pub(super) fn has_no_context(&self, what: &str) {
        let mut p = SENTINEL;
        let code = aclrtMalloc(&raw mut p, 64, ACL_MEM_MALLOC_HUGE_FIRST);
        self.fails(code, ERROR_CONTEXT, what);
        self.eq(p, SENTINEL, "output of the failed allocation");
    }
}

/// `ACL_ERROR_RT_CONTEXT_NULL` as the harness compares codes.
pub(super) const ERROR_CONTEXT: i64 = ACL_ERROR_RT_CONTEXT_NULL as i64;
/// `ACL_ERROR_RT_PARAM_INVALID`.
pub(super) const ERROR_PARAM: i64 = ACL_ERROR_RT_PARAM_INVALID as i64;
/// `ACL_ERROR_INVALID_PARAM`.
pub(super) const ERROR_FRONT: i64 = ACL_ERROR_INVALID_PARAM as i64;
/// `ACL_ERROR_RT_FEATURE_NOT_SUPPORT`.
pub(super) const ERROR_UNSUPPORTED: i64 = ACL_ERROR_RT_FEATURE_NOT_SUPPORT as i64;
/// `ACL_ERROR_RT_MEMORY_ALLOCATION`.
pub(super) const ERROR_MEMORY: i64 = ACL_ERROR_RT_MEMORY_ALLOCATION as i64;
/// `ACL_ERROR_RT_INVALID_DEVICEID`.
pub(super) const ERROR_DEVICE: i64 = ACL_ERROR_RT_INVALID_DEVICEID as i64;
/// `ACL_ERROR_REPEAT_FINALIZE`.
pub(super) const ERROR_REPEAT_FINALIZE: i64 = ACL_ERROR_REPEAT_FINALIZE as i64;

/// Attributes with values that no call would write.
pub(super) fn blank_attributes() -> aclrtPtrAttributes {
    aclrtPtrAttributes {
        location: aclrtMemLocation { id: 77, r#type: 77 },
        pageSize: 77,
        rsv: [0; 4],
    }
}
