//! Blocks of memory with what they hold according to the model.

use std::ffi::c_void;
use std::ops::Range;

use rand::rngs::SmallRng;
use rand::{Rng, RngCore};

use super::clock::Task;
use crate::make;

/// Where a block lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Device,
    Pinned,
}

/// See the module.
pub(crate) struct Block {
    pub(crate) place: Place,
    pub(crate) at: *mut c_void,
    /// What it holds once everything submitted is done.
    pub(crate) model: Vec<u8>,
    /// The last task that wrote it, and those that read it since.
    pub(crate) writer: Option<Task>,
    pub(crate) readers: Vec<Task>,
}

impl Block {
    /// A block with random bytes.
    pub(crate) fn new(place: Place, random: &mut SmallRng) -> Self {
        let bytes = match random.random_range(0..10) {
            0 | 1 => random.random_range(8..65),
            2..=7 => random.random_range(65..6000),
            _ => random.random_range(6000..90_000),
        };
        let mut model = vec![0; bytes];
        random.fill_bytes(&mut model);
        let at = match place {
            Place::Device => make::device(bytes),
            Place::Pinned => make::pinned(bytes),
        };
        match place {
            Place::Device => make::upload(at, &model),
            Place::Pinned => make::write(at, &model),
        }
        Self {
            place,
            at,
            model,
            writer: None,
            readers: Vec::new(),
        }
    }

    /// What must be over before a task reads it.
    pub(crate) fn before_read(&self) -> Vec<Task> {
        self.writer.into_iter().collect()
    }

    /// What must be over before a task writes it.
    pub(crate) fn before_write(&self) -> Vec<Task> {
        self.readers.iter().copied().chain(self.writer).collect()
    }

    /// A task reads it.
    pub(crate) fn read_by(&mut self, task: Task) {
        // The newest of a stream stands for its older ones.
        self.readers.retain(|other| other.stream != task.stream);
        self.readers.push(task);
    }

    /// A task writes it: all earlier ones are over by then.
    pub(crate) fn written_by(&mut self, task: Task) {
        self.readers.clear();
        self.writer = Some(task);
    }

    /// Address of a byte.
    pub(crate) fn address(&self, at: usize) -> *mut c_void {
        self.at.wrapping_byte_add(at)
    }

    /// A part of it, at most `most` bytes, not empty.
    pub(crate) fn part(&self, random: &mut SmallRng, most: usize) -> Range<usize> {
        let most = most.min(self.model.len());
        let bytes = if random.random_bool(0.3) {
            most
        } else {
            random.random_range(1..=most)
        };
        let start = random.random_range(0..=self.model.len() - bytes);
        start..start + bytes
    }
}
