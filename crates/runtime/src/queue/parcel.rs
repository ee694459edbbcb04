//! One message, in memory and as a file.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::os::block::Block;

/// Bytes of the user's own beside every segment.
pub(crate) const USER_BYTES: usize = 96;
/// Segments of a message.
pub(crate) const MOST_SEGMENTS: usize = 128;
/// A dataset has two segments for each item.
const MOST_STORED: u64 = 1 << 20;

const MAGIC: u64 = u64::from_le_bytes(*b"cannery\x01");

/// Bytes, how many of them count, and what the user noted beside them.
pub(crate) struct Segment {
    pub(crate) block: Block,
    valid: AtomicU64,
    user: Mutex<[u8; USER_BYTES]>,
}

impl Segment {
    pub(crate) fn new(block: Block, valid: u64) -> Segment {
        Segment {
            block,
            valid: AtomicU64::new(valid),
            user: Mutex::new([0; USER_BYTES]),
        }
    }

    /// How many of its bytes count.
    pub(crate) fn valid(&self) -> u64 {
        self.valid.load(Ordering::Acquire)
    }

    pub(crate) fn set_valid(&self, bytes: u64) {
        self.valid.store(bytes, Ordering::Release);
    }

    /// Reads or writes the bytes of the user's own.
    pub(crate) fn user<R>(&self, act: impl FnOnce(&mut [u8; USER_BYTES]) -> R) -> R {
        act(&mut self.user.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// See the module. Copies share the segments.
#[derive(Clone)]
pub(crate) struct Parcel {
    pub(crate) segments: Vec<Arc<Segment>>,
}

impl Parcel {
    /// Bytes that count, in all segments.
    pub(crate) fn valid(&self) -> u64 {
        self.segments.iter().map(|segment| segment.valid()).sum()
    }

    /// Writes it to an empty file.
    pub(crate) fn write_to(&self, file: &mut File) -> io::Result<()> {
        let mut head = Vec::with_capacity(16 + self.segments.len() * (16 + USER_BYTES));
        head.extend(MAGIC.to_le_bytes());
        head.extend((self.segments.len() as u64).to_le_bytes());
        for segment in &self.segments {
            head.extend(segment.block.bytes().to_le_bytes());
            head.extend(segment.valid().to_le_bytes());
            segment.user(|user| head.extend(*user));
        }
        file.write_all(&head)?;
        self.segments
            .iter()
            .try_for_each(|segment| segment.block.write_to(file))
    }
}

/// A message in a file, of which only the head was read.
pub(crate) struct Stored {
    file: File,
    heads: Vec<Head>,
}

struct Head {
    bytes: u64,
    valid: u64,
    user: [u8; USER_BYTES],
}

impl Stored {
    pub(crate) fn open(mut file: File) -> io::Result<Stored> {
        let mut left = file.metadata()?.len();
        let mut number = || -> io::Result<u64> {
            let mut bytes = [0; 8];
            file.read_exact(&mut bytes)?;
            Ok(u64::from_le_bytes(bytes))
        };
        let (magic, count) = (number()?, number()?);
        if magic != MAGIC || count > MOST_STORED {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut heads = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let mut bytes = [0; 16 + USER_BYTES];
            file.read_exact(&mut bytes)?;
            let (sizes, noted) = bytes.split_at(16);
            let number = |at: usize| {
                let mut eight = [0; 8];
                eight.copy_from_slice(&sizes[at..at + 8]);
                u64::from_le_bytes(eight)
            };
            let mut user = [0; USER_BYTES];
            user.copy_from_slice(noted);
            let head = Head {
                bytes: number(0),
                valid: number(8),
                user,
            };
            // What a file cannot hold is not allocated for it.
            left = left
                .checked_sub(head.bytes)
                .ok_or(io::ErrorKind::InvalidData)?;
            heads.push(head);
        }
        Ok(Stored { file, heads })
    }

    /// As [`Parcel::valid`].
    pub(crate) fn valid(&self) -> u64 {
        self.heads.iter().map(|head| head.valid).sum()
    }

    /// Memory for all of it; `None` when there is none.
    pub(crate) fn make_room(self) -> Option<Room> {
        let segments = self.heads.iter().map(|head| {
            let segment = Segment::new(Block::new(head.bytes)?, head.valid.min(head.bytes));
            segment.user(|user| *user = head.user);
            Some(Arc::new(segment))
        });
        let segments = segments.collect::<Option<Vec<_>>>()?;
        Some(Room {
            file: self.file,
            parcel: Parcel { segments },
        })
    }
}

/// A stored message with memory for it.
pub(crate) struct Room {
    file: File,
    parcel: Parcel,
}

impl Room {
    /// Reads the bytes.
    pub(crate) fn fill(self) -> io::Result<Parcel> {
        for segment in &self.parcel.segments {
            segment.block.read_from(&self.file)?;
        }
        Ok(self.parcel)
    }
}
