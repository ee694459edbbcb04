//! Zeroed memory of any size that is handed around whole.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::ptr::NonNull;

/// Alignment of every block.
const ALIGN: usize = 64;

/// A block; released when dropped.
pub(crate) struct Block {
    at: NonNull<u8>,
    layout: Layout,
    bytes: u64,
}

// SAFETY: the memory has no thread of its own; who touches it when is up to the owner.
unsafe impl Send for Block {}
// SAFETY: as above; nothing here hands out references into it.
unsafe impl Sync for Block {}

impl Block {
    /// `None` when there is no memory.
    pub(crate) fn new(bytes: u64) -> Option<Block> {
        let size = usize::try_from(bytes.max(1)).ok()?;
        let layout = Layout::from_size_align(size, ALIGN).ok()?;
        // SAFETY: the size is not 0.
        let at = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Block { at, layout, bytes })
    }

    /// A copy of numbers.
    pub(crate) fn from_numbers(numbers: &[i64]) -> Option<Block> {
        let bytes = size_of_val(numbers) as u64;
        let block = Block::new(bytes)?;
        // SAFETY: the slice is readable.
        unsafe { block.fill(0, numbers.as_ptr() as u64, bytes) };
        Some(block)
    }

    /// The numbers that it holds, as many as are whole.
    pub(crate) fn to_numbers(&self) -> Vec<i64> {
        let mut numbers = vec![0i64; (self.bytes / 8) as usize];
        // SAFETY: the vector has room; any pattern of bits is a number.
        unsafe { self.drain(numbers.as_mut_ptr() as u64, self.bytes / 8 * 8) };
        numbers
    }

    /// Its address.
    pub(crate) fn at(&self) -> u64 {
        self.at.as_ptr() as u64
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Copies `bytes` bytes to offset `to` of the block; false when they do not fit.
    ///
    /// # Safety
    /// `from` is readable for so many bytes.
    pub(crate) unsafe fn fill(&self, to: u64, from: u64, bytes: u64) -> bool {
        let fits = to.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        if fits {
            // SAFETY: inside the block, and per contract; the ranges may overlap.
            unsafe { super::copy::copy(self.at() + to, from, bytes) };
        }
        fits
    }

    /// Copies the first `bytes` bytes, as far as there are so many, to `to`.
    ///
    /// # Safety
    /// `to` is writable for so many bytes.
    pub(crate) unsafe fn drain(&self, to: u64, bytes: u64) {
        // SAFETY: inside the block, and per contract; the ranges may overlap.
        unsafe { super::copy::copy(to, self.at(), bytes.min(self.bytes)) };
    }

    /// Writes the whole block to a file, at its present place.
    pub(crate) fn write_to(&self, file: &File) -> io::Result<()> {
        self.all(|at, len| {
            // SAFETY: inside the block; the kernel only reads.
            unsafe { libc::write(file.as_raw_fd(), at.cast_const().cast(), len) }
        })
    }

    /// Fills the whole block from a file, from its present place on.
    pub(crate) fn read_from(&self, file: &File) -> io::Result<()> {
        self.all(|at, len| {
            // SAFETY: inside the block, which nobody else has yet.
            unsafe { libc::read(file.as_raw_fd(), at.cast(), len) }
        })
    }

    fn all(&self, mut step: impl FnMut(*mut u8, usize) -> isize) -> io::Result<()> {
        let mut done = 0;
        while done < self.bytes as usize {
            // SAFETY: `done` is inside the block.
            let at = unsafe { self.at.as_ptr().add(done) };
            match step(at, self.bytes as usize - done) {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                moved if moved > 0 => done += moved.cast_unsigned(),
                _ => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout; the owner is gone.
        unsafe { dealloc(self.at.as_ptr(), self.layout) };
    }
}
