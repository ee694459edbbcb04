//! Memory of the program that copies come from and go to.

use std::ffi::c_void;
use std::ptr;

const HUGE: usize = 2 << 20;

/// Memory of the program, at a chosen place within a huge page.
pub(crate) struct Buffer {
    mapping: *mut c_void,
    mapped: usize,
    /// First byte.
    pub(crate) at: *mut c_void,
}

impl Buffer {
    /// `size` bytes whose address is that of `like` modulo 2 MiB, written once.
    pub(crate) fn new(size: usize, like: *mut c_void) -> Buffer {
        let mapped = size + 2 * HUGE;
        let (read_write, private) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        );
        // SAFETY: a new mapping wherever there is room.
        let mapping = unsafe { libc::mmap(ptr::null_mut(), mapped, read_write, private, -1, 0) };
        assert!(mapping != libc::MAP_FAILED, "no memory for a buffer");
        if size >= HUGE {
            // SAFETY: our own mapping; only advice.
            unsafe { libc::madvise(mapping, mapped, libc::MADV_HUGEPAGE) };
        }
        let first = (mapping as usize).next_multiple_of(HUGE) + like as usize % HUGE;
        let at = first as *mut c_void;
        // SAFETY: `first` is less than 2 * HUGE behind the start.
        unsafe { ptr::write_bytes(at.cast::<u8>(), 0x5a, size) };
        Buffer {
            mapping,
            mapped,
            at,
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: our own mapping; nobody copies any more.
        unsafe { libc::munmap(self.mapping, self.mapped) };
    }
}
