//! How far a stream has come. Work is counted in stretches, and an event is recorded where a stretch ends: at
//! the latest after so much work, and earlier when somebody asks for it. So a queued copy costs no event, and
//! whoever waits for a buffer waits for little else.
//!
//! Whoever queues work looks at the number of the open stretch afterwards, and whoever ends a stretch changes the
//! number before the event is recorded. So the event of a stretch comes after everything that belongs to it.
//! `tests/loom` runs this file under every interleaving of threads.

use std::collections::VecDeque;

use super::error::{Error, Result};
use super::sync::{AtomicU64, Mutex, MutexGuard, Ordering, PoisonError};

/// How much a stretch holds: each piece of work counts one, and one more for each [`SHARE`] of bytes.
pub(crate) const FULL: u64 = 64;
/// Bytes that count as much as a piece.
const SHARE: usize = 8 << 10;
/// Bits of the word of a lane that count what is in the open stretch. Its number is above.
const COUNT: u32 = 16;
/// Events that a lane keeps. Whoever needs an older one waits for the next one that is there.
pub(crate) const KEPT: usize = 32;

/// A queue of work in which points can be marked.
pub(crate) trait Work {
    /// An event: done once everything is done that was queued before it.
    type Mark: Clone + std::fmt::Debug;
    /// Marks the end of what is queued now.
    fn record(&self) -> Result<Self::Mark>;
    /// Waits for everything that is queued.
    fn drain(&self) -> Result<()>;
    /// Waits until a mark is reached.
    fn wait(&self, mark: &Self::Mark) -> Result<()>;
    /// Whether a mark was reached.
    fn is_done(&self, mark: &Self::Mark) -> Result<bool>;
    /// Lets what is queued here from now on wait for a mark of another queue.
    fn hold(&self, mark: &Self::Mark) -> Result<()>;
}

/// A stream, as its buffers see it. It outlives the stream.
#[derive(Debug)]
pub(crate) struct Lane<W: Work> {
    work: W,
    number: u64,
    /// Number of the open stretch, from 1, and what is in it.
    open: AtomicU64,
    /// This stretch and all before it were awaited, with success.
    done: AtomicU64,
    state: Mutex<State<W::Mark>>,
}

#[derive(Debug)]
struct State<M> {
    /// Ends of stretches, oldest first.
    marks: VecDeque<(u64, M)>,
    /// The stream is gone: nothing is queued or recorded any more.
    ended: bool,
}

impl<W: Work> Lane<W> {
    /// The number is never 0 and never used twice.
    pub(crate) fn new(work: W, number: u64) -> Lane<W> {
        Lane {
            work,
            number,
            open: AtomicU64::new(1 << COUNT),
            done: AtomicU64::new(0),
            state: Mutex::new(State {
                marks: VecDeque::new(),
                ended: false,
            }),
        }
    }

    #[inline(always)]
    pub(crate) fn work(&self) -> &W {
        &self.work
    }

    #[inline(always)]
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    #[inline(always)]
    fn lock(&self) -> MutexGuard<'_, State<W::Mark>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts work that was just queued; gives the stretch that it belongs to.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn queued(&self, bytes: usize) -> u64 {
        let share = (bytes / SHARE).min(FULL as usize) as u64;
        let before = self.open.fetch_add(1 + share, Ordering::AcqRel);
        if count(before) + 1 + share >= FULL {
            self.end_full();
        }
        stretch(before)
    }

    #[cold]
    #[track_caller]
    fn end_full(&self) {
        let mut state = self.lock();
        if count(self.open.load(Ordering::Acquire)) >= FULL {
            // Where that fails, whoever waits tries again, and gets the error.
            let _ = self.close(&mut state);
        }
    }

    /// Begins the next stretch; gives the number of the one that ends. The lock is held.
    fn next(&self) -> u64 {
        let begin = |word| Some((stretch(word) + 1) << COUNT);
        let (Ok(before) | Err(before)) =
            self.open
                .fetch_update(Ordering::AcqRel, Ordering::Acquire, begin);
        stretch(before)
    }

    /// Whether nothing is in the open stretch.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        count(self.open.load(Ordering::Acquire)) == 0
    }

    /// Ends the open stretch.
    #[track_caller]
    fn close(&self, state: &mut State<W::Mark>) -> Result<(u64, W::Mark)> {
        if state.ended {
            return Err(Error::lost());
        }
        // In this order: what is queued in between has the next number, and this mark behind it.
        let stretch = self.next();
        let mark = self.work.record()?;
        if state.marks.len() == KEPT {
            state.marks.pop_front();
        }
        state.marks.push_back((stretch, mark.clone()));
        Ok((stretch, mark))
    }

    /// The first mark behind a stretch; none when it was awaited.
    #[track_caller]
    fn mark(&self, stretch: u64) -> Result<Option<(u64, W::Mark)>> {
        let mut state = self.lock();
        if self.is_reached(stretch) {
            return Ok(None);
        }
        if let Some(known) = state.marks.iter().find(|(end, _)| *end >= stretch) {
            return Ok(Some(known.clone()));
        }
        self.close(&mut state).map(Some)
    }

    /// Whether a stretch was awaited.
    #[inline(always)]
    pub(crate) fn is_reached(&self, stretch: u64) -> bool {
        self.done.load(Ordering::Acquire) >= stretch
    }

    /// A stretch was awaited.
    pub(crate) fn reached(&self, stretch: u64) {
        self.done.fetch_max(stretch, Ordering::AcqRel);
        let mut state = self.lock();
        while state.marks.front().is_some_and(|(end, _)| *end <= stretch) {
            state.marks.pop_front();
        }
    }

    /// Waits for the end of a stretch.
    #[track_caller]
    pub(crate) fn wait(&self, stretch: u64) -> Result<()> {
        if self.is_reached(stretch) {
            return Ok(());
        }
        match self.mark(stretch) {
            Ok(None) => Ok(()),
            Ok(Some((end, mark))) => {
                self.work.wait(&mark)?;
                self.reached(end);
                Ok(())
            }
            // No event to be had: there is another way to wait.
            Err(error) => match self.drain() {
                Some(outcome) => outcome,
                None => Err(error),
            },
        }
    }

    /// Waits for everything. None when the stream is gone.
    #[track_caller]
    fn drain(&self) -> Option<Result<()>> {
        if self.lock().ended {
            return None;
        }
        let stretch = self.begin_drain();
        let outcome = self.work.drain();
        if outcome.is_ok() {
            self.reached(stretch);
        }
        Some(outcome)
    }

    /// Before somebody waits for everything: the stretch that is done then, to be told by `reached`.
    #[inline(always)]
    pub(crate) fn begin_drain(&self) -> u64 {
        if self.is_empty() {
            stretch(self.open.load(Ordering::Acquire)) - 1
        } else {
            let _state = self.lock();
            // What others queue meanwhile is not awaited.
            self.next()
        }
    }

    /// Whether a stretch is done, without waiting. What it failed with is still to be fetched by `wait`.
    #[track_caller]
    pub(crate) fn is_done(&self, stretch: u64) -> Result<bool> {
        match self.mark(stretch)? {
            None => Ok(true),
            Some((_, mark)) => self.work.is_done(&mark),
        }
    }

    /// What others must wait for, where a stretch is not done.
    #[track_caller]
    pub(crate) fn pending(&self, stretch: u64) -> Result<Option<W::Mark>> {
        match self.mark(stretch)? {
            Some((_, mark)) if !self.work.is_done(&mark)? => Ok(Some(mark)),
            _ => Ok(None),
        }
    }

    /// Ends a stretch that has something in it: what comes next may take long, and is nobody's buffer.
    #[track_caller]
    pub(crate) fn cut(&self) {
        if !self.is_empty() {
            let mut state = self.lock();
            // Where that fails, whoever waits tries again, and gets the error.
            let _ = self.close(&mut state);
        }
    }

    /// The stream is about to be destroyed. Its events stay.
    #[track_caller]
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        let word = self.open.load(Ordering::Acquire);
        let last = stretch(word) - u64::from(count(word) == 0);
        // Stretches can end without an event: in a wait for everything that failed.
        let marked = state.marks.back().is_some_and(|(end, _)| *end >= last);
        let marked = marked || self.is_reached(last) || self.close(&mut state).is_ok();
        state.ended = true;
        drop(state);
        if !marked && self.work.drain().is_ok() {
            self.reached(stretch(self.open.load(Ordering::Acquire)));
        }
    }
}

/// The number in the word of a lane.
#[inline(always)]
fn stretch(word: u64) -> u64 {
    word >> COUNT
}

/// What is in the open stretch. Where no event can be had it may run over, into the number: that ends a
/// stretch without an event, and whoever needs it takes a later one.
#[inline(always)]
fn count(word: u64) -> u64 {
    word & ((1 << COUNT) - 1)
}
