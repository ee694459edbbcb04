//! What is over before what.

/// A task: the stream's place in the world, and its number there (from 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Task {
    pub(crate) stream: usize,
    pub(crate) number: u64,
}

/// How many tasks of each stream are known to be over.
#[derive(Clone, Default, Debug)]
pub(crate) struct Clock(Vec<u64>);

impl Clock {
    /// Nothing is known about `streams` streams.
    pub(crate) fn new(streams: usize) -> Self {
        Self(vec![0; streams])
    }

    /// Whether the task is known to be over.
    pub(crate) fn covers(&self, task: Task) -> bool {
        self.0[task.stream] >= task.number
    }

    /// Learns what `other` knows.
    pub(crate) fn join(&mut self, other: &Clock) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// One more task of a stream; its number.
    pub(crate) fn tick(&mut self, stream: usize) -> Task {
        self.0[stream] += 1;
        Task {
            stream,
            number: self.0[stream],
        }
    }
}
