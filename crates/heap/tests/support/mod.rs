//! What the tests of the range heap share: an obvious model of it and the steps
//! that are played on both.

use cannery_heap::range::{NodeId, Piece, Range, RangeHeap};
use std::collections::BTreeMap;

/// One call. Ranges are chosen by their number among those that are held.
#[derive(Clone, Debug, bolero::TypeGenerator)]
pub(crate) enum Step {
    Alloc { len: u16, align_log2: u8 },
    AllocAt { start: u16, len: u16 },
    Free { which: u16 },
    FreeClean { which: u16 },
    FreeUnknown { id: u32 },
    TakeDirty,
}

/// A free or allocated range as the model knows it.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Known {
    len: u64,
    id: Option<NodeId>,
}

/// The model: what covers the space, by first unit, and a bit for each unit that
/// says whether it is dirty (free units) or was when handed out (allocated ones).
struct Model {
    ranges: BTreeMap<u64, Known>,
    dirty: Vec<bool>,
}

impl Model {
    fn new(len: u64) -> Self {
        let whole = (len > 0).then_some((0, Known { len, id: None }));
        Self {
            ranges: whole.into_iter().collect(),
            dirty: vec![false; len as usize],
        }
    }

    fn bits(&self, start: u64, len: u64) -> &[bool] {
        &self.dirty[start as usize..(start + len) as usize]
    }

    fn free_ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        self.ranges
            .iter()
            .filter(|(_, known)| known.id.is_none())
            .map(|(&s, k)| (s, k.len))
    }

    /// The free range that all of `[start, start + len)` lies in.
    fn free_around(&self, start: u64, len: u64) -> Option<(u64, u64)> {
        let (&first, known) = self.ranges.range(..=start).next_back()?;
        (known.id.is_none() && start + len <= first + known.len).then_some((first, known.len))
    }

    fn has_room(&self, len: u64, align: u64) -> bool {
        let fits = |s: u64, l| {
            s.checked_next_multiple_of(align)
                .is_some_and(|p| p + len <= s + l)
        };
        self.free_ranges().any(|(s, l)| fits(s, l))
    }

    /// Takes over a range that the heap says it has handed out.
    fn take(&mut self, range: Range) {
        let around = self.free_around(range.start, range.len);
        let (first, whole) = around.unwrap_or_else(|| panic!("{range:?} was not free"));
        let bits = self.bits(range.start, range.len);
        assert!(
            bits.iter().all(|&bit| bit == range.dirty),
            "{range:?} is wrong on dirty"
        );
        let end = range.start + range.len;
        self.ranges.remove(&first);
        let pieces = [
            (first, range.start - first, None),
            (range.start, range.len, Some(range.id)),
            (end, first + whole - end, None),
        ];
        for (start, len, id) in pieces.into_iter().filter(|&(_, len, _)| len > 0) {
            self.ranges.insert(start, Known { len, id });
        }
    }

    /// Frees the range at `start` and tells the free range it became part of.
    fn free(&mut self, start: u64, dirty: bool) -> (u64, u64) {
        let len = self.ranges.remove(&start).expect("held").len;
        self.dirty[start as usize..(start + len) as usize].fill(dirty);
        let (mut first, mut end) = (start, start + len);
        if let Some((&s, before)) = self.ranges.range(..start).next_back()
            && before.id.is_none()
        {
            first = s;
            self.ranges.remove(&s);
        }
        if let Some(&after) = self.ranges.get(&end)
            && after.id.is_none()
        {
            self.ranges.remove(&end);
            end += after.len;
        }
        self.ranges.insert(
            first,
            Known {
                len: end - first,
                id: None,
            },
        );
        let any = self.bits(first, end - first).contains(&true);
        self.dirty[first as usize..end as usize].fill(any);
        (first, end - first)
    }
}

/// A heap and its model, side by side.
pub(crate) struct Pair<const PROBES: usize> {
    heap: RangeHeap<PROBES>,
    model: Model,
    /// What is allocated, with the address that the model knows it by.
    held: Vec<Range>,
    most_held: usize,
}

impl<const PROBES: usize> Pair<PROBES> {
    pub(crate) fn new(len: u64) -> Self {
        let heap = RangeHeap::with_probes(len);
        Self {
            heap,
            model: Model::new(len),
            held: Vec::new(),
            most_held: 0,
        }
    }

    /// Plays one step on both and compares the answers.
    pub(crate) fn play(&mut self, step: &Step) {
        match *step {
            Step::Alloc { len, align_log2 } => {
                let (len, align) = (u64::from(len), 1 << (align_log2 % 64));
                match self.heap.alloc(len, align) {
                    Some(range) => {
                        assert_eq!((range.len, range.start % align), (len, 0), "{step:?}");
                        self.hold(range);
                    }
                    None if PROBES > 0 => assert!(
                        len == 0 || !self.model.has_room(len, align),
                        "{step:?} fails although there is room"
                    ),
                    None => {}
                }
            }
            Step::AllocAt { start, len } => {
                let (start, len) = (u64::from(start), u64::from(len));
                let room = len > 0 && self.model.free_around(start, len).is_some();
                let range = self.heap.alloc_at(start, len);
                assert_eq!(range.is_some(), room, "{step:?}");
                if let Some(range) = range {
                    assert_eq!((range.start, range.len), (start, len));
                    self.hold(range);
                }
            }
            Step::Free { which } => self.free(which, true),
            Step::FreeClean { which } => self.free(which, false),
            Step::FreeUnknown { id } => {
                let id = NodeId::from_index(id);
                if self.held.iter().all(|range| range.id != id) {
                    assert_eq!(self.heap.get(id), None);
                    assert_eq!(self.heap.free(id), None);
                    assert_eq!(self.heap.free_clean(id), None);
                }
            }
            Step::TakeDirty => match self.heap.take_dirty() {
                Some(range) => {
                    let around = self.model.free_around(range.start, range.len);
                    assert_eq!(around, Some((range.start, range.len)), "taken as a whole");
                    assert!(range.dirty);
                    self.hold(range);
                }
                None => {
                    let dirty = self
                        .model
                        .free_ranges()
                        .find(|&(s, _)| self.model.dirty[s as usize]);
                    assert_eq!(dirty, None, "a dirty range is not found");
                }
            },
        }
        assert_eq!(self.heap.live() as usize, self.held.len());
    }

    fn hold(&mut self, range: Range) {
        assert_eq!(self.heap.get(range.id), Some(range));
        self.model.take(range);
        self.held.push(range);
        self.most_held = self.most_held.max(self.held.len());
    }

    fn free(&mut self, which: u16, dirty: bool) {
        if self.held.is_empty() {
            return;
        }
        let range = self.held.swap_remove(usize::from(which) % self.held.len());
        assert_eq!(self.heap.get(range.id), Some(range), "unchanged while held");
        let freed = if dirty {
            self.heap.free(range.id)
        } else {
            self.heap.free_clean(range.id)
        };
        let freed = freed.expect("it was allocated");
        assert_eq!(
            (freed.start, freed.len),
            self.model.free(range.start, dirty)
        );
        assert_eq!(self.heap.get(range.id), None);
        assert_eq!(self.heap.free(range.id), None, "freed twice");
    }

    /// Compares everything that can be asked, and the heap with itself.
    pub(crate) fn compare(&self) {
        self.heap.check();
        let known = self.model.ranges.iter().map(|(&start, known)| Piece {
            start,
            len: known.len,
            id: known.id,
            dirty: self.model.dirty[start as usize],
        });
        assert!(self.heap.pieces().eq(known), "the pieces of the space");
        let free = || self.model.free_ranges();
        assert_eq!(
            self.heap.free_units(),
            free().map(|(_, len)| len).sum::<u64>()
        );
        assert_eq!(
            self.heap.largest_free(),
            free().map(|(_, len)| len).max().unwrap_or(0)
        );
        let dirty = free().flat_map(|(s, len)| self.model.bits(s, len));
        assert_eq!(
            self.heap.dirty_units(),
            dirty.filter(|&&bit| bit).count() as u64
        );
    }

    /// Frees what is held: one free range must be left, and it can be allocated.
    /// Tells how many ranges were held at most.
    pub(crate) fn finish(mut self) -> usize {
        while !self.held.is_empty() {
            self.free(self.held.len() as u16 / 2, true);
        }
        self.compare();
        let len = self.heap.len();
        assert_eq!(
            (self.heap.free_units(), self.heap.largest_free()),
            (len, len)
        );
        assert!(self.heap.pieces().count() <= 1);
        if len > 0 {
            // With no probes even this may fail: that is what they are for.
            let all = if PROBES > 0 {
                self.heap.alloc(len, 1)
            } else {
                self.heap.alloc_at(0, len)
            };
            let all = all.expect("all of it is free");
            assert_eq!((all.start, all.len), (0, len));
            assert_eq!((self.heap.free_units(), self.heap.dirty_units()), (0, 0));
        }
        self.most_held
    }
}
