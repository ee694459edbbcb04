//! Address space and the pages behind it.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

/// How a range may be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// Any access faults.
    None,
    /// Reads and writes.
    ReadWrite,
}

impl Access {
    fn bits(self) -> libc::c_int {
        match self {
            Access::None => libc::PROT_NONE,
            Access::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
        }
    }
}

const RESERVE: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

/// Reserves `bytes` of address space, at `at` exactly when given (and free), else anywhere.
/// Nothing is committed.
pub(crate) fn reserve(at: Option<u64>, bytes: u64, access: Access) -> io::Result<u64> {
    let hint = at.map_or(std::ptr::null_mut(), |at| at as *mut libc::c_void);
    let fixed = if at.is_some() {
        libc::MAP_FIXED_NOREPLACE
    } else {
        0
    };
    let len = usize::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
    // SAFETY: an anonymous mapping that never replaces an existing one (NOREPLACE, or no address).
    let got = unsafe { libc::mmap(hint, len, access.bits(), RESERVE | fixed, -1, 0) };
    if got == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    if at.is_some_and(|at| at != got as u64) {
        // Kernels before 4.17 take the address for a hint.
        release(got as u64, bytes);
        return Err(io::ErrorKind::AddrInUse.into());
    }
    Ok(got as u64)
}

/// Replaces whatever is in a part of a reservation of this module by addresses without access, as
/// they were in the beginning. The caller owns the part, and nobody touches it any more.
pub(crate) fn reserve_again(at: u64, bytes: u64) {
    // SAFETY: per contract the part belongs to the caller; MAP_FIXED replaces only what is there.
    unsafe {
        libc::mmap(
            at as *mut libc::c_void,
            bytes as usize,
            libc::PROT_NONE,
            RESERVE | libc::MAP_FIXED,
            -1,
            0,
        )
    };
    keep_private(at, bytes);
}

/// Replaces whatever is in a part of a reservation of this module by fresh memory that reads as
/// zero. The caller owns the part; who still writes there writes into the fresh memory.
pub(crate) fn map_anonymous(at: u64, bytes: u64) -> io::Result<()> {
    let access = Access::ReadWrite.bits();
    // SAFETY: per contract the part belongs to the caller; MAP_FIXED replaces only what is there.
    let got = unsafe {
        libc::mmap(
            at as *mut libc::c_void,
            bytes as usize,
            access,
            RESERVE | libc::MAP_FIXED,
            -1,
            0,
        )
    };
    check_map(got)
}

/// Puts `bytes` of a file from `offset` on into a part of a reservation of this module, readable and
/// writable, shared with everybody who maps the same. The caller owns the part.
pub(crate) fn map_shared(file: BorrowedFd<'_>, offset: u64, at: u64, bytes: u64) -> io::Result<()> {
    let access = Access::ReadWrite.bits();
    // SAFETY: per contract the part belongs to the caller; MAP_FIXED replaces only what is there.
    let got = unsafe {
        libc::mmap(
            at as *mut libc::c_void,
            bytes as usize,
            access,
            libc::MAP_SHARED | libc::MAP_FIXED,
            file.as_raw_fd(),
            offset as libc::off_t,
        )
    };
    check_map(got)?;
    keep_out_of_dumps(at, bytes);
    Ok(())
}

fn check_map(got: *mut libc::c_void) -> io::Result<()> {
    if got == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Whether the process may have a file so long.
pub(crate) fn within_file_limit(bytes: u64) -> io::Result<()> {
    match super::file_limits::longest() {
        // Beyond it the kernel sends a signal that ends the program.
        Some(most) if most < bytes => Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("the limit for files (ulimit -f) is {most} bytes"),
        )),
        _ => Ok(()),
    }
}

/// A file without a name that lives in memory, closed in programs that are started; `bytes` long,
/// all zero, committed as it is touched.
pub(crate) fn memory_file(name: &CStr, bytes: u64) -> io::Result<OwnedFd> {
    within_file_limit(bytes)?;
    // SAFETY: the name ends with a zero byte; the call makes a new descriptor.
    let file = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a descriptor that was just made and belongs to nobody else.
    let file = unsafe { OwnedFd::from_raw_fd(file) };
    // SAFETY: sets the length of our own file.
    check(unsafe { libc::ftruncate(file.as_raw_fd(), bytes as libc::off_t) })?;
    Ok(file)
}

/// Gives the pages of a part of a memory file back to the system; they read as zero afterwards.
pub(crate) fn punch(file: BorrowedFd<'_>, offset: u64, bytes: u64) -> io::Result<()> {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: changes the contents of a file of this module; its owner keeps nothing there.
    check(unsafe {
        libc::fallocate(
            file.as_raw_fd(),
            mode,
            offset as libc::off_t,
            bytes as libc::off_t,
        )
    })
}

/// Whether a part of a memory file has pages: somebody read or wrote there.
pub(crate) fn has_pages(file: BorrowedFd<'_>, offset: u64, bytes: u64) -> bool {
    // SAFETY: moves the position of a file of this module, which nobody uses.
    let found = unsafe { libc::lseek(file.as_raw_fd(), offset as libc::off_t, libc::SEEK_DATA) };
    found >= 0 && (found as u64) < offset + bytes
}

/// Gives a reservation back. The caller owns it whole and keeps no pointer into it.
pub(crate) fn release(at: u64, bytes: u64) {
    // SAFETY: per contract the range is a mapping made by `reserve` that nobody uses any more.
    unsafe { libc::munmap(at as *mut libc::c_void, bytes as usize) };
}

/// Changes the access of a range inside a reservation.
pub(crate) fn protect(at: u64, bytes: u64, access: Access) -> io::Result<()> {
    // SAFETY: the range lies in a reservation of this module; taking access away from memory in
    // use is prevented by the callers, which do so only for ranges without blocks.
    check(unsafe { libc::mprotect(at as *mut libc::c_void, bytes as usize, access.bits()) })
}

fn advise(at: u64, bytes: u64, advice: libc::c_int) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the range lies in a reservation of this module; the advices used keep memory that is
    // in use intact, except DONTNEED, whose caller owns the range.
    check(unsafe { libc::madvise(at as *mut libc::c_void, bytes as usize, advice) })
}

/// Returns the pages of a range to the system; they read as zero afterwards. The caller owns the
/// range: nobody else reads or writes it meanwhile and expects to find what was there.
pub(crate) fn discard(at: u64, bytes: u64) {
    let _ = advise(at, bytes, libc::MADV_DONTNEED);
}

/// Huge pages where the kernel has them, for a range that is worth it.
pub(crate) fn want_huge_pages(at: u64, bytes: u64) {
    let _ = advise(at, bytes, libc::MADV_HUGEPAGE);
}

/// Keeps a range out of core dumps and out of forked children.
pub(crate) fn keep_private(at: u64, bytes: u64) {
    let _ = advise(at, bytes, libc::MADV_DONTDUMP);
    let _ = advise(at, bytes, libc::MADV_DONTFORK);
}

/// Keeps a range out of core dumps.
pub(crate) fn keep_out_of_dumps(at: u64, bytes: u64) {
    let _ = advise(at, bytes, libc::MADV_DONTDUMP);
}

/// Locks the pages of a range into memory, bringing them in first.
pub(crate) fn lock(at: u64, bytes: u64) -> io::Result<()> {
    // SAFETY: locking does not change contents or access.
    check(unsafe { libc::mlock(at as *const libc::c_void, bytes as usize) })
}

/// Undoes [`lock`]. False: the kernel did not (it may lack mappings for the pieces).
pub(crate) fn unlock(at: u64, bytes: u64) -> bool {
    // SAFETY: unlocking does not change contents or access.
    unsafe { libc::munlock(at as *const libc::c_void, bytes as usize) == 0 }
}

/// Whether every page of a range is mapped, with whatever access.
pub(crate) fn is_mapped(at: u64, bytes: u64) -> bool {
    let from = at & !4095;
    let len = (at - from).saturating_add(bytes) as usize;
    // SAFETY: MS_ASYNC starts no writing since Linux 2.6.19; what remains is the look for holes.
    unsafe { libc::msync(from as *mut libc::c_void, len, libc::MS_ASYNC) == 0 }
}

/// Whether the byte at `at` can be read.
pub(crate) fn is_readable(at: u64) -> bool {
    /// No such way of changing a signal mask: the kernel reads the new mask, then refuses.
    const NO_WAY: libc::c_long = -1;
    let nothing = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: the kernel copies eight bytes from an aligned address, or reports EFAULT; it changes
    // nothing because the first argument is none it knows.
    let code = unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            NO_WAY,
            (at & !7) as *const u64,
            nothing,
            8usize,
        )
    };
    code == -1 && io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT)
}

/// The first page of `[at, at + bytes)` that is mapped and cannot be read; `None` also when the system does
/// not tell.
pub(crate) fn first_unreadable(at: u64, bytes: u64) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/maps").ok()?;
    let end = at.saturating_add(bytes);
    text.lines().find_map(|line| {
        let mut words = line.split(' ');
        let (from, to) = words.next()?.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let (from, to) = (number(from)?, number(to)?);
        // What can be written can be read, too.
        let unreadable = words.next()?.starts_with("--");
        (unreadable && from < end && to > at).then_some(from.max(at))
    })
}

/// Bytes of `[at, at + bytes)` that are in memory now, in whole pages; looks no further once more than
/// `enough` bytes are missing.
pub(crate) fn resident_bytes(at: u64, bytes: u64, enough: u64) -> u64 {
    const CHUNK_PAGES: u64 = 1 << 16;
    let page = 4096u64;
    let (mut from, end) = (at & !(page - 1), at.saturating_add(bytes));
    let mut flags = vec![0u8; CHUNK_PAGES as usize];
    let (mut resident, mut missing) = (0, 0);
    while from < end && missing <= enough {
        let pages = (end - from).div_ceil(page).min(CHUNK_PAGES);
        let len = (pages * page) as usize;
        // SAFETY: `flags` has room for one byte a page; mincore only reads the page tables.
        if unsafe { libc::mincore(from as *mut libc::c_void, len, flags.as_mut_ptr()) } == 0 {
            let present = flags[..pages as usize]
                .iter()
                .filter(|flag| *flag & 1 == 1)
                .count();
            resident += present as u64 * page;
            missing += (pages - present as u64) * page;
        }
        from += pages * page;
    }
    resident
}

/// A zeroed array for the life of the process, committed page by page as it is touched.
///
/// `T` must be valid when all its bytes are zero and must not need to be dropped; both hold for
/// the atomics and records of atomics that this crate asks for, and the trait bound says so.
pub(crate) fn zeroed_array<T: Zeroed>(count: usize) -> io::Result<&'static [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    let bytes = (count * size_of::<T>()) as u64;
    let at = reserve(None, bytes, Access::ReadWrite)?;
    keep_out_of_dumps(at, bytes);
    // SAFETY: a fresh private mapping of the right length, zeroed by the kernel, aligned to a page
    // (more than any T here needs), never unmapped, shared only through `&T`; T: Zeroed.
    Ok(unsafe { std::slice::from_raw_parts(at as *const T, count) })
}

/// Types for which all-zero bytes are a value and that may be shared between threads.
///
/// # Safety
/// Implement only for types made of integers and atomics.
pub(crate) unsafe trait Zeroed: Sync + 'static {}

// SAFETY: zero is a value of every atomic integer.
unsafe impl Zeroed for std::sync::atomic::AtomicU32 {}
// SAFETY: as above.
unsafe impl Zeroed for std::sync::atomic::AtomicU64 {}
// SAFETY: a record of atomic integers; its documentation promises that zero is a value.
unsafe impl Zeroed for crate::memory::areas::table::Record {}
// SAFETY: a record of atomic integers; its documentation promises that zero is a value.
unsafe impl Zeroed for cannery_heap::slab::SliceRecord {}

/// Makes whole pages inside `part` read as zero again and returns them to the system. The caller
/// guarantees that all of `part` is unused.
pub(crate) fn discard_part<T: Zeroed>(part: &[T]) {
    let from = part.as_ptr() as u64;
    let end = from + size_of_val(part) as u64;
    let (first, last) = (from.next_multiple_of(4096), end & !4095);
    if first < last {
        discard(first, last - first);
    }
}

fn check(code: libc::c_int) -> io::Result<()> {
    if code == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
