//! Whoever gives out memory and takes it back, behind one interface.
//!
//! All are called through pointers that the compiler knows nothing about, as an exported function of
//! another library is, so that nobody is inlined.

use std::ffi::c_void;
use std::hint::black_box;
use std::ptr;

use cannery_abi as abi;

use crate::api::Api;

/// Allocates and frees.
pub(crate) trait Subject: Copy {
    fn alloc(&self, size: usize) -> *mut c_void;
    fn free(&self, block: *mut c_void);
}

/// aclrtMalloc with ACL_MEM_MALLOC_HUGE_FIRST, and aclrtFree.
#[derive(Clone, Copy)]
pub(crate) struct DeviceMemory(pub(crate) Api);

impl Subject for DeviceMemory {
    #[inline(always)]
    fn alloc(&self, size: usize) -> *mut c_void {
        let mut block = ptr::null_mut();
        // SAFETY: the place is valid.
        let code =
            unsafe { (self.0.aclrtMalloc)(&raw mut block, size, abi::ACL_MEM_MALLOC_HUGE_FIRST) };
        self.0.check("aclrtMalloc", code);
        block
    }

    #[inline(always)]
    fn free(&self, block: *mut c_void) {
        // SAFETY: any value may be given.
        let code = unsafe { (self.0.aclrtFree)(block) };
        self.0.check("aclrtFree", code);
    }
}

/// aclrtMallocHost and aclrtFreeHost.
#[derive(Clone, Copy)]
pub(crate) struct HostMemory(pub(crate) Api);

impl Subject for HostMemory {
    #[inline(always)]
    fn alloc(&self, size: usize) -> *mut c_void {
        let mut block = ptr::null_mut();
        // SAFETY: the place is valid.
        let code = unsafe { (self.0.aclrtMallocHost)(&raw mut block, size) };
        self.0.check("aclrtMallocHost", code);
        block
    }

    #[inline(always)]
    fn free(&self, block: *mut c_void) {
        // SAFETY: any value may be given.
        let code = unsafe { (self.0.aclrtFreeHost)(block) };
        self.0.check("aclrtFreeHost", code);
    }
}

/// An allocator with the interface of `malloc` and `free`.
#[derive(Clone, Copy)]
pub(crate) struct Malloc {
    malloc: unsafe extern "C" fn(usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
}

impl Malloc {
    pub(crate) fn mimalloc() -> Malloc {
        black_box(Malloc {
            malloc: libmimalloc_sys::mi_malloc,
            free: libmimalloc_sys::mi_free,
        })
    }

    pub(crate) fn c_library() -> Malloc {
        black_box(Malloc {
            malloc: libc::malloc,
            free: libc::free,
        })
    }
}

impl Subject for Malloc {
    #[inline(always)]
    fn alloc(&self, size: usize) -> *mut c_void {
        // SAFETY: every size may be asked for.
        let block = unsafe { (self.malloc)(size) };
        assert!(!block.is_null(), "the reference is out of memory");
        block
    }

    #[inline(always)]
    fn free(&self, block: *mut c_void) {
        // SAFETY: a block of this allocator, freed once.
        unsafe { (self.free)(block) };
    }
}

/// `mmap`, `mlock` and `munmap`: pinned memory without an allocator. Every block has the same size.
#[derive(Clone, Copy)]
pub(crate) struct LockedMapping(pub(crate) usize);

impl LockedMapping {
    /// Whether this process may lock so much.
    pub(crate) fn works(&self) -> bool {
        let block = self.map();
        // SAFETY: a mapping of this size.
        let locked = unsafe { libc::mlock(block, self.0) } == 0;
        // SAFETY: as above, and nobody uses it.
        unsafe { libc::munmap(block, self.0) };
        locked
    }

    fn map(&self) -> *mut c_void {
        let (read_write, private) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        );
        // SAFETY: a new mapping wherever there is room.
        let block = unsafe { libc::mmap(ptr::null_mut(), self.0, read_write, private, -1, 0) };
        assert!(block != libc::MAP_FAILED, "no address space");
        block
    }
}

impl Subject for LockedMapping {
    fn alloc(&self, size: usize) -> *mut c_void {
        assert_eq!(size, self.0);
        let block = self.map();
        // SAFETY: a mapping of this size.
        assert_eq!(unsafe { libc::mlock(block, size) }, 0, "mlock");
        block
    }

    fn free(&self, block: *mut c_void) {
        // SAFETY: a mapping of this size that nobody uses any more.
        unsafe { libc::munmap(block, self.0) };
    }
}
