//! What a run prints, kept until it is known whether anybody wants it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::system;

/// Bytes kept of one stream, at least: the last ones, where the failure is.
const KEPT: usize = 1 << 20;
/// Bytes of one read.
const STEP: usize = 1 << 16;
/// Reads in a row: a run that never stops printing must not hold up the others.
/// Together they take more than a pipe holds, so that one round empties it.
const STEPS: usize = 32;

/// The reading end of a pipe and the end of what came through it.
pub(super) struct Capture {
    pipe: Option<File>,
    bytes: Vec<u8>,
    left_out: u64,
}

impl Capture {
    /// Takes over the reading end.
    ///
    /// # Errors
    ///
    /// The system refuses reads that do not block.
    pub(super) fn new(pipe: OwnedFd) -> io::Result<Self> {
        system::do_not_block(pipe.as_fd())?;
        Ok(Self {
            pipe: Some(File::from(pipe)),
            bytes: Vec::new(),
            left_out: 0,
        })
    }

    /// The pipe, until its other end was closed.
    pub(super) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Reads what is there.
    pub(super) fn read(&mut self) {
        let mut step = [0_u8; STEP];
        for _ in 0..STEPS {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(&mut step) {
                Ok(0) => self.pipe = None,
                Ok(count) => self.keep(&step[..count]),
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => return,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.pipe = None,
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Rarely, so that it costs little for each byte.
        if self.bytes.len() > 2 * KEPT {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let surplus = self.bytes.len().saturating_sub(KEPT);
        self.bytes.drain(..surplus);
        self.left_out += surplus as u64;
    }

    /// Whether nothing was printed.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The last bytes of the stream, and how many came before them.
    pub(super) fn into_end(mut self) -> (Vec<u8>, u64) {
        self.trim();
        (self.bytes, self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::{Capture, KEPT};
    use std::io::{Write, pipe};

    #[test]
    fn all_of_a_short_stream_and_the_end_of_a_long_one() {
        for rounds in [0, 1, 7, 40, 200] {
            let (reader, mut writer) = pipe().expect("a pipe");
            let mut capture = Capture::new(reader.into()).expect("it does not block");
            let mut sent = Vec::new();
            for round in 0..rounds {
                let part: Vec<u8> = (0..30_000_u32).map(|i| (i * 7 + round) as u8).collect();
                writer.write_all(&part).expect("there is room");
                sent.extend_from_slice(&part);
                capture.read();
            }
            assert!(capture.pipe().is_some());
            drop(writer);
            capture.read();
            assert!(capture.pipe().is_none(), "the end was seen");
            let (end, left_out) = capture.into_end();
            assert_eq!(end.len() as u64 + left_out, sent.len() as u64);
            assert_eq!(end.len(), sent.len().min(KEPT));
            assert!(sent.ends_with(&end));
        }
    }
}
