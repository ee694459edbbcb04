//! Makes private memory shared memory where it stands: address and contents stay.
//!
//! Other threads may be writing to it meanwhile, and nothing they write may be lost. So the pages are
//! first moved away as a whole (`mremap`), while the kernel holds back whoever touches the place
//! where they were (`userfaultfd`); then the bytes go into the shared memory, it takes the place, and
//! the threads go on. Where the system gives no userfaultfd (some containers), the bytes are copied
//! from where they stand, and a write at the same moment may be lost.
//!
//! Memory that is shared already, but lies in a file beside other memory, moves to a file of its own in
//! the same way ([`move_to_own_file`]).

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;

use super::map;

/// Bytes that are in memory twice at a time.
const CHUNK: u64 = 2 << 20;
const PAGE: u64 = 4096;

fn check(code: libc::c_int) -> io::Result<libc::c_int> {
    if code < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(code)
    }
}

/// Memory that can be handed to other processes: nobody can make it shorter, so nobody can make it
/// fault.
pub(crate) fn shared_memory(bytes: u64) -> io::Result<OwnedFd> {
    map::within_file_limit(bytes)?;
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is a C string.
    let fd = check(unsafe { libc::memfd_create(c"cannery".as_ptr(), flags) })?;
    // SAFETY: fresh, and ours alone.
    let memory = unsafe { OwnedFd::from_raw_fd(fd) };
    let length = i64::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: changes the length of our own file.
    check(unsafe { libc::ftruncate(memory.as_raw_fd(), length) })?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: seals our own file.
    check(unsafe { libc::fcntl(memory.as_raw_fd(), libc::F_ADD_SEALS, seals) })?;
    Ok(memory)
}

/// Makes the private memory `[at, at + bytes)` shared, readable and writable; the descriptor is for
/// others. Nothing changes when it fails. The caller keeps the range from being released meanwhile.
pub(crate) fn share_in_place(at: u64, bytes: u64) -> io::Result<OwnedFd> {
    let memory = shared_memory(bytes)?;
    let held_back = Gate::close(at, bytes, MODE_MISSING)
        .and_then(|gate| Ok((move_away(at, bytes)?, gate)))
        .ok();
    fill_and_put(memory, at, bytes, held_back)
}

/// Brings the bytes of `[at, at + bytes)` into the file and puts it in their place; with a gate, from
/// where the pages were moved.
fn fill_and_put(
    memory: OwnedFd,
    at: u64,
    bytes: u64,
    held_back: Option<(u64, Gate)>,
) -> io::Result<OwnedFd> {
    let moved = held_back.as_ref().map(|(moved, _)| *moved);
    let file = std::fs::File::from(memory);
    let from = moved.unwrap_or(at);
    let result = carry(&file, from, bytes, moved.is_some()).and_then(|()| put(&file, at, bytes));
    match (result, moved) {
        (Ok(()), Some(moved)) => map::release(moved, bytes),
        (Ok(()), None) => {}
        (Err(error), Some(moved)) => {
            // What went into the file comes back, then the pages do.
            let _ = carry_back(&file, moved, bytes);
            move_back(moved, at, bytes);
            return Err(error);
        }
        (Err(error), None) => return Err(error),
    }
    drop(held_back);
    Ok(file.into())
}

/// Makes shared memory of this module private again: fresh pages, zero, nobody else's. Whoever has
/// the old memory keeps it.
pub(crate) fn make_private(at: u64, bytes: u64) -> io::Result<()> {
    map::map_anonymous(at, bytes)?;
    map::keep_private(at, bytes);
    Ok(())
}

fn put(file: &std::fs::File, at: u64, bytes: u64) -> io::Result<()> {
    map::map_shared(file.as_fd(), 0, at, bytes)?;
    map::keep_private(at, bytes);
    Ok(())
}

/// Bytes of a memory file.
pub(crate) fn length(memory: &OwnedFd) -> Option<u64> {
    // SAFETY: a plain record of numbers; zero is a value.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a valid place for the answer.
    let code = unsafe { libc::fstat(memory.as_raw_fd(), &raw mut about) };
    (code == 0).then_some(about.st_size.cast_unsigned())
}

/// Moves `bytes` bytes of a memory file from `offset` on to a file of their own, and lets the mappings
/// at `places` show that instead; the old file keeps its bytes. Nothing changes when it fails.
pub(crate) fn move_to_own_file(
    old: BorrowedFd<'_>,
    offset: u64,
    bytes: u64,
    places: &[u64],
) -> io::Result<OwnedFd> {
    let memory = std::fs::File::from(shared_memory(bytes)?);
    let old = std::fs::File::from(old.try_clone_to_owned()?);
    let gates: Vec<_> = places
        .iter()
        .map(|at| {
            let gate = Gate::close(*at, bytes, MODE_MISSING | MODE_MINOR);
            // The bytes stay in the file; whoever touches them has to come through the gate.
            if gate.is_ok() {
                map::discard(*at, bytes);
            }
            gate
        })
        .collect();
    copy_data(&old, offset, &memory, bytes)?;
    for (done, at) in places.iter().enumerate() {
        if let Err(error) = map::map_shared(memory.as_fd(), 0, *at, bytes) {
            for at in &places[..done] {
                // There were mappings of this very kind before: the kernel has room for them.
                let _ = map::map_shared(old.as_fd(), offset, *at, bytes);
            }
            return Err(error);
        }
    }
    drop(gates);
    Ok(memory.into())
}

/// Copies what was ever written.
fn copy_data(from: &std::fs::File, offset: u64, to: &std::fs::File, bytes: u64) -> io::Result<()> {
    let mut room = vec![0u8; CHUNK.min(bytes) as usize];
    let end = offset + bytes;
    let seek = |at: u64, whence: libc::c_int| {
        // SAFETY: looks for bytes in a file of this process's own; its position means nothing.
        let found = unsafe { libc::lseek(from.as_raw_fd(), at.cast_signed(), whence) };
        u64::try_from(found).ok()
    };
    let mut at = offset;
    while let Some(data) = seek(at, libc::SEEK_DATA).filter(|data| *data < end) {
        let hole = seek(data, libc::SEEK_HOLE).unwrap_or(end).min(end);
        at = data;
        while at < hole {
            let part = &mut room[..(hole - at).min(CHUNK) as usize];
            from.read_exact_at(part, at)?;
            to.write_all_at(part, at - offset)?;
            at += part.len() as u64;
        }
    }
    Ok(())
}

/// Moves the pages of a range elsewhere; the range stays, empty.
fn move_away(at: u64, bytes: u64) -> io::Result<u64> {
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_DONTUNMAP;
    let (from, len) = (at as *mut libc::c_void, bytes as usize);
    // SAFETY: our own private memory; those who touch it meanwhile are held back by the gate, and
    // find the same bytes there when they go on.
    let got = unsafe { libc::mremap(from, len, len, flags, std::ptr::null_mut::<libc::c_void>()) };
    if got == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(got as u64)
}

fn move_back(moved: u64, at: u64, bytes: u64) {
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    let (from, len) = (moved as *mut libc::c_void, bytes as usize);
    // SAFETY: takes the place where the pages were before.
    unsafe { libc::mremap(from, len, len, flags, at as *mut libc::c_void) };
}

/// Copies what was ever written from memory to the file. With `give_up`, pages that were copied go
/// back to the system at once.
fn carry(file: &std::fs::File, from: u64, bytes: u64, give_up: bool) -> io::Result<()> {
    let pages = std::fs::File::open("/proc/self/pagemap").ok();
    let mut entries = vec![0u8; (CHUNK / PAGE * 8) as usize];
    let mut done = 0;
    while done < bytes {
        let part = CHUNK.min(bytes - done);
        let entries = &mut entries[..(part / PAGE * 8) as usize];
        let known = pages.as_ref().is_some_and(|pages| {
            pages
                .read_exact_at(entries, (from + done) / PAGE * 8)
                .is_ok()
        });
        if !known {
            entries.fill(0xff);
        }
        // Runs of pages that are in memory or were swapped out: bits 63 and 62 of an entry.
        let touched = |page: u64| entries[(page * 8 + 7) as usize] & 0xc0 != 0;
        let (mut page, end) = (0, part / PAGE);
        while page < end {
            let first = page;
            while page < end && touched(page) {
                page += 1;
            }
            if page > first {
                let (start, len) = (done + first * PAGE, (page - first) * PAGE);
                // SAFETY: our own readable memory. Its bytes may change meanwhile only where the
                // gate could not be closed, and the kernel, not this program, reads them below.
                let bytes = unsafe {
                    std::slice::from_raw_parts((from + start) as *const u8, len as usize)
                };
                file.write_all_at(bytes, start)?;
                if give_up {
                    map::discard(from + start, len);
                }
            } else {
                page += 1;
            }
        }
        done += part;
    }
    Ok(())
}

/// Undoes a [`carry`] that gave pages up.
fn carry_back(file: &std::fs::File, to: u64, bytes: u64) -> io::Result<()> {
    let mut at = 0i64;
    loop {
        // SAFETY: looks for bytes in our own file.
        let data = unsafe { libc::lseek(file.as_raw_fd(), at, libc::SEEK_DATA) };
        if data < 0 || data as u64 >= bytes {
            return Ok(());
        }
        // SAFETY: as above.
        let hole = unsafe { libc::lseek(file.as_raw_fd(), data, libc::SEEK_HOLE) };
        let end = if hole < 0 {
            bytes
        } else {
            (hole as u64).min(bytes)
        };
        let start = data as u64;
        // SAFETY: our own private memory, which nobody else knows.
        let place = unsafe {
            std::slice::from_raw_parts_mut((to + start) as *mut u8, (end - start) as usize)
        };
        file.read_exact_at(place, start)?;
        at = end as i64;
    }
}

/// Holds back whoever touches pages of a range that are missing, until it is dropped.
struct Gate {
    _descriptor: OwnedFd,
}

#[repr(C)]
struct Api {
    api: u64,
    features: u64,
    ioctls: u64,
}

#[repr(C)]
struct Register {
    start: u64,
    len: u64,
    mode: u64,
    ioctls: u64,
}

// From the interface of the kernel (userfaultfd, 2015).
const API: u64 = 0xaa;
const API_CALL: u64 = 0xc018_aa3f;
const REGISTER_CALL: u64 = 0xc020_aa00;
/// Pages that are nowhere.
const MODE_MISSING: u64 = 1;
/// Pages that are in a file and have to be looked up there.
const MODE_MINOR: u64 = 4;
const FEATURE_MINOR_SHMEM: u64 = 1 << 10;
const USER_MODE_ONLY: libc::c_int = 1;

impl Gate {
    fn close(at: u64, bytes: u64, mode: u64) -> io::Result<Gate> {
        let open = |flags: libc::c_int| {
            // SAFETY: makes a descriptor, touches nothing.
            let fd = unsafe { libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | flags) };
            check(fd as libc::c_int)
        };
        // System calls of the program that touch the range are held back too where that is allowed.
        let fd = open(0).or_else(|_| open(USER_MODE_ONLY))?;
        // SAFETY: fresh, and ours alone.
        let descriptor = unsafe { OwnedFd::from_raw_fd(fd) };
        let mut api = Api {
            api: API,
            features: if mode & MODE_MINOR == 0 {
                0
            } else {
                FEATURE_MINOR_SHMEM
            },
            ioctls: 0,
        };
        // SAFETY: the record that this call takes.
        check(unsafe { libc::ioctl(descriptor.as_raw_fd(), API_CALL as _, &raw mut api) })?;
        let mut register = Register {
            start: at,
            len: bytes,
            mode,
            ioctls: 0,
        };
        // SAFETY: the record that this call takes; the range is our own private memory.
        check(unsafe {
            libc::ioctl(
                descriptor.as_raw_fd(),
                REGISTER_CALL as _,
                &raw mut register,
            )
        })?;
        Ok(Gate {
            _descriptor: descriptor,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::map::Access;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    const BYTES: u64 = 8 << 20;

    fn words(at: u64) -> &'static [AtomicU64] {
        // SAFETY: mapped for the rest of the process, aligned, of this size.
        unsafe { std::slice::from_raw_parts(at as *const AtomicU64, (BYTES / 8) as usize) }
    }

    #[test]
    fn bytes_and_holes_stay() {
        let at = map::reserve(None, BYTES, Access::ReadWrite).expect("memory");
        let words_here = words(at);
        // Every other mebibyte.
        let filled = |i: usize| i >> 17 & 1 == 0;
        for (i, word) in words_here.iter().enumerate().filter(|(i, _)| filled(*i)) {
            word.store(i as u64 * 7 + 1, Ordering::Relaxed);
        }
        let memory = share_in_place(at, BYTES).expect("shared");
        let other = map::reserve(None, BYTES, Access::None).expect("room");
        put(&std::fs::File::from(memory), other, BYTES).expect("a second mapping");
        for (i, word) in words(other).iter().enumerate() {
            let want = if filled(i) { i as u64 * 7 + 1 } else { 0 };
            assert_eq!(word.load(Ordering::Relaxed), want, "word {i}");
        }
        words_here[12345].store(99, Ordering::Relaxed);
        assert_eq!(words(other)[12345].load(Ordering::Relaxed), 99);
        make_private(at, BYTES).expect("private again");
        words_here[12345].store(5, Ordering::Relaxed);
        assert_eq!(words(other)[12345].load(Ordering::Relaxed), 99);
        assert_eq!(words_here[1].load(Ordering::Relaxed), 0);
    }

    #[test]
    fn bytes_stay_where_nobody_can_be_held_back() {
        let at = map::reserve(None, BYTES, Access::ReadWrite).expect("memory");
        for (i, word) in words(at).iter().enumerate().step_by(1 << 10) {
            word.store(i as u64 + 1, Ordering::Relaxed);
        }
        let memory = shared_memory(BYTES).expect("memory");
        fill_and_put(memory, at, BYTES, None).expect("shared");
        for (i, word) in words(at).iter().enumerate() {
            let want = if i % (1 << 10) == 0 { i as u64 + 1 } else { 0 };
            assert_eq!(word.load(Ordering::Relaxed), want, "word {i}");
        }
    }

    #[test]
    fn what_was_carried_comes_back() {
        let at = map::reserve(None, BYTES, Access::ReadWrite).expect("memory");
        for (i, word) in words(at).iter().enumerate().step_by(1 << 11) {
            word.store(i as u64 + 1, Ordering::Relaxed);
        }
        let file = std::fs::File::from(shared_memory(BYTES).expect("memory"));
        carry(&file, at, BYTES, true).expect("carried");
        assert_eq!(words(at)[0].load(Ordering::Relaxed), 0);
        carry_back(&file, at, BYTES).expect("carried back");
        for (i, word) in words(at).iter().enumerate() {
            let want = if i % (1 << 11) == 0 { i as u64 + 1 } else { 0 };
            assert_eq!(word.load(Ordering::Relaxed), want, "word {i}");
        }
    }

    #[test]
    fn writes_at_the_same_moment_are_not_lost() {
        for _ in 0..10 {
            let at = map::reserve(None, BYTES, Access::ReadWrite).expect("memory");
            if Gate::close(at, BYTES, MODE_MISSING).is_err() {
                return; // This system forbids it; the module says what follows.
            }
            count_and_share(at);
            map::release(at, BYTES);
        }
    }

    #[test]
    fn writes_while_a_file_is_moved_are_not_lost() {
        for _ in 0..10 {
            let [one, two] =
                [0, 1].map(|_| map::reserve(None, BYTES, Access::None).expect("addresses"));
            let file = map::memory_file(c"test", 4 * BYTES).expect("a file");
            for at in [one, two] {
                map::map_shared(file.as_fd(), BYTES, at, BYTES).expect("mapped");
            }
            if Gate::close(one, BYTES, MODE_MISSING | MODE_MINOR).is_err() {
                return; // This system forbids it; the module says what follows.
            }
            count_and(one, || {
                move_to_own_file(file.as_fd(), BYTES, BYTES, &[one, two]).expect("moved");
            });
            let sum = |at| {
                words(at)
                    .iter()
                    .map(|word| word.load(Ordering::Relaxed))
                    .sum::<u64>()
            };
            assert_eq!(sum(one), sum(two));
            words(one)[5].store(7, Ordering::Relaxed);
            assert_eq!(words(two)[5].load(Ordering::Relaxed), 7);
        }
    }

    fn count_and_share(at: u64) {
        count_and(at, || {
            share_in_place(at, BYTES).expect("shared");
        });
    }

    /// Two threads count up words of their own, all over the range, while something is
    /// done to it.
    fn count_and(at: u64, act: impl FnOnce()) {
        let stop = &AtomicBool::new(false);
        let mine = |me: usize| words(at).iter().skip(me).step_by(509 * 2);
        std::thread::scope(|scope| {
            let counting = [0, 509].map(|me| {
                scope.spawn(move || {
                    let mut count = 0u64;
                    while !stop.load(Ordering::Relaxed) {
                        count += 1;
                        mine(me).for_each(|word| {
                            word.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                    count
                })
            });
            let pause = || std::thread::sleep(std::time::Duration::from_millis(3));
            pause();
            act();
            pause();
            stop.store(true, Ordering::Relaxed);
            for (me, counted) in [0, 509].into_iter().zip(counting) {
                let count = counted.join().expect("a count");
                assert!(mine(me).all(|word| word.load(Ordering::Relaxed) == count));
            }
        });
    }
}
