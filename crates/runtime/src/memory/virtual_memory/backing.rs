//! Where the bytes of physical memory are: memory files, shared out in parts, so that many handles need
//! few descriptors; a handle that other processes see has a file of its own.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use crate::memory::areas::Space;
use crate::os::map;

/// Bytes of a shared file; it is as long as that from the beginning, and empty.
const FILE_BYTES: u64 = 1 << 40;

/// One part of a file, or a file.
#[derive(Debug)]
pub(crate) enum Backing {
    /// `bytes` from `offset` on in the file of this number.
    Part { file: usize, offset: u64 },
    /// A file that holds nothing else, from its first byte on.
    Own(OwnedFd),
}

/// The shared files. Descriptors stay open for the life of the process.
#[derive(Default)]
pub(crate) struct Files {
    files: Vec<(OwnedFd, Space)>,
}

impl Files {
    /// A part of `bytes` bytes (whole 2 MiB or whole 4 KiB), aligned to 2 MiB where it is so long.
    pub(super) fn take(&mut self, bytes: u64) -> io::Result<Backing> {
        let align = if bytes.is_multiple_of(2 << 20) {
            2 << 20
        } else {
            4096
        };
        for (file, (_, space)) in self.files.iter_mut().enumerate() {
            if let Some(offset) = space.take(bytes, align) {
                return Ok(Backing::Part { file, offset });
            }
        }
        let length = FILE_BYTES.max(bytes);
        let descriptor = map::memory_file(c"cannery-physical", length)?;
        let mut space = Space::new(0);
        space.give(0, length);
        let offset = space.take(bytes, align).ok_or(io::ErrorKind::OutOfMemory)?;
        self.files.push((descriptor, space));
        Ok(Backing::Part {
            file: self.files.len() - 1,
            offset,
        })
    }

    /// Gives the bytes of a backing back to the system.
    pub(super) fn give(&mut self, backing: Backing, bytes: u64) {
        if let Backing::Part { file, offset } = backing {
            let (descriptor, space) = &mut self.files[file];
            // Fails only where holes are not known; then the bytes stay with the part.
            let _ = map::punch(descriptor.as_fd(), offset, bytes);
            space.give(offset, offset + bytes);
        }
    }

    /// The file of a backing and where in it the bytes begin.
    pub(super) fn place<'a>(&'a self, backing: &'a Backing) -> (BorrowedFd<'a>, u64) {
        match backing {
            Backing::Part { file, offset } => (self.files[*file].0.as_fd(), *offset),
            Backing::Own(file) => (file.as_fd(), 0),
        }
    }
}
