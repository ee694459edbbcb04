//! [`RangeHeap`]: gives out ranges of an abstract address space in constant time.
//!
//! # How it works
//!
//! Two-level segregated fit: the free ranges sit in bins by length, a bitmap of
//! two levels tells which bins have members, and the ranges are linked by
//! address so that a freed one merges with its free neighbours at once. What is
//! stored about a range is a node of 32 bytes outside of the space; the space
//! itself is never looked at.
//!
//! The classical form rounds a request *up* to the next bin, because only there
//! every member is long enough, and files a freed range *down* into the bin that
//! its length reaches. A range whose length is no bin boundary can then never
//! serve the same request again, and a workload of one such size loses up to a
//! third of the memory. So before rounding up the newest members of the bin that
//! the request itself falls into are tried: `PROBES` of them, one by default.
//!
//! # Price
//!
//! | call | price |
//! |---|---|
//! | [`alloc`](RangeHeap::alloc) that succeeds by a bin, [`free`](RangeHeap::free), [`get`](RangeHeap::get) | O(1); the node table grows by doubling, so amortised |
//! | [`alloc`](RangeHeap::alloc) when no bin promises a fit | a walk over the free ranges that are about as long as the request, before it fails |
//! | [`alloc_at`](RangeHeap::alloc_at) | a walk over the free ranges at least about as long as the request |
//! | [`take_dirty`](RangeHeap::take_dirty) | O(1) amortised over the frees |
//! | [`largest_free`](RangeHeap::largest_free) | a walk over one bin |
//! | counts | O(1) |

mod bins;
mod check;
mod nodes;

use bins::{Bins, LEN_LIMIT, ceil, floor};
use nodes::{DIRTY, FREE, LISTED, LIVE, Node, Table, WALL};

/// Names an allocated range of one [`RangeHeap`]. Ids are small numbers, given
/// out anew after a free: an id that was kept beyond its range may name another
/// one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NodeId(u32);

impl NodeId {
    /// The id as a number, never 0, for a caller who packs it into a table.
    #[inline]
    pub const fn index(self) -> u32 {
        self.0
    }

    /// The id with this number. Any number may be given: the heap answers `None`
    /// to those that name no allocated range.
    #[inline]
    pub const fn from_index(index: u32) -> Self {
        Self(index)
    }
}

/// An allocated range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// First unit.
    pub start: u64,
    /// Length in units.
    pub len: u64,
    /// What to free it by.
    pub id: NodeId,
    /// Whether the range was dirty when it was handed out.
    pub dirty: bool,
}

/// The free range that a freed one became part of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Freed {
    /// First unit.
    pub start: u64,
    /// Length in units.
    pub len: u64,
}

/// One range of the space, free or allocated, as [`RangeHeap::pieces`] tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// First unit.
    pub start: u64,
    /// Length in units.
    pub len: u64,
    /// The id if it is allocated, `None` if it is free.
    pub id: Option<NodeId>,
    /// Whether it is dirty (free), or was when it was handed out (allocated).
    pub dirty: bool,
}

/// A range allocator over `[0, len)` units, with all of its knowledge outside of
/// that space. See the [module](self) for how and at what price.
///
/// `PROBES` is the number of ranges tried before a request is rounded up to the
/// next bin; more of them find closer fits at a price in time. 0 is the classical
/// algorithm with its losses and its false failures, for comparison.
///
/// Not synchronised: callers on several threads put it behind a lock.
pub struct RangeHeap<const PROBES: usize = 1> {
    table: Table,
    bins: Bins,
    /// Slots that may hold a dirty free range. Every such range is among them;
    /// the others are sorted out when they are popped.
    candidates: Vec<u32>,
    counts: Counts,
    len: u64,
}

struct Counts {
    free_units: u64,
    dirty_units: u64,
    live: u32,
}

impl Counts {
    /// Makes `id`, which is in no bin any more, an allocated range.
    #[inline(always)]
    fn hand_out(&mut self, nodes: &mut [Node], id: u32, start: u64, len: u64, dirty: u64) -> Range {
        let node = &mut nodes[id as usize];
        node.start = start;
        node.set(len, LIVE | dirty);
        self.live += 1;
        self.free_units -= len;
        if dirty != 0 {
            self.dirty_units -= len;
        }
        Range {
            start,
            len,
            id: NodeId(id),
            dirty: dirty != 0,
        }
    }
}

impl RangeHeap {
    /// The longest space: 2^53 - 1 units.
    pub const MAX_LEN: u64 = LEN_LIMIT - 1;

    /// A heap over `[0, len)`, all of it free and clean.
    ///
    /// # Panics
    ///
    /// When `len` is above [`MAX_LEN`](Self::MAX_LEN).
    pub fn new(len: u64) -> Self {
        Self::with_probes(len)
    }
}

impl<const PROBES: usize> RangeHeap<PROBES> {
    /// As [`RangeHeap::new`], for any number of probes.
    ///
    /// # Panics
    ///
    /// When `len` is above [`MAX_LEN`](RangeHeap::MAX_LEN).
    pub fn with_probes(len: u64) -> Self {
        assert!(
            len < LEN_LIMIT,
            "a range heap of {len} units: the limit is {}",
            LEN_LIMIT - 1
        );
        let mut heap = Self {
            table: Table::new(),
            bins: Bins::new(),
            candidates: Vec::new(),
            counts: Counts {
                free_units: len,
                dirty_units: 0,
                live: 0,
            },
            len,
        };
        if len > 0 {
            heap.table.reserve(1);
            let nodes = &mut heap.table.nodes[..];
            let id = heap.table.spare.take(nodes);
            nodes[id as usize].set(len, FREE);
            nodes[WALL as usize].prev = id;
            nodes[WALL as usize].next = id;
            heap.bins.link(nodes, id, floor(len));
        }
        heap
    }

    /// Allocates `len` units that start at a multiple of `align` units.
    ///
    /// `None` when `len` is 0, when `align` is not a power of two, and when no
    /// free range can hold the request. With at least one probe the last is
    /// exact: as long as there is a place, it is found.
    #[inline]
    pub fn alloc(&mut self, len: u64, align: u64) -> Option<Range> {
        if align != 1 {
            return self.alloc_aligned(len, align);
        }
        if len.wrapping_sub(1) >= self.len || !self.table.reserve(1) {
            return None;
        }
        let id = match self.probe(floor(len), |node| node.len() >= len) {
            Some(id) => id,
            None => match self.bins.at_or_above(ceil(len)) {
                Some(bin) => self.bins.head(bin),
                None => return self.last_resort(len, 1),
            },
        };
        let mut node = self.table.nodes[id as usize];
        if PROBES <= 1 {
            // It is the head of its list; said here, it makes the code shorter.
            node.up = WALL;
        }
        Some(self.take_front(id, &node, len))
    }

    #[inline(never)]
    fn alloc_aligned(&mut self, len: u64, align: u64) -> Option<Range> {
        if len.wrapping_sub(1) >= self.len || !align.is_power_of_two() {
            return None;
        }
        let place = |node: &Node| place(node, len, align);
        let head = |len| Some(self.bins.head(self.bins.at_or_above(ceil(len))?));
        let fits = |id: &u32| place(&self.table.nodes[*id as usize]).is_some();
        // A range of the next bin holds the length but not always the padding;
        // one that holds the worst padding fits for sure.
        let padded = len.saturating_add(align - 1).min(LEN_LIMIT);
        let id = self
            .probe(floor(len), |node| place(node).is_some())
            .or_else(|| head(len).filter(fits))
            .or_else(|| head(padded));
        let Some(id) = id else {
            return self.last_resort(len, align);
        };
        let start = place(&self.table.nodes[id as usize])?;
        self.carve(id, start, len)
    }

    /// The first of the `PROBES` newest members of `bin` that `fits`. The wall,
    /// which ends the list and has no length, must not fit: so a single branch
    /// tells both that a member is there and that it is long enough.
    #[inline(always)]
    fn probe(&self, bin: u32, fits: impl Fn(&Node) -> bool) -> Option<u32> {
        let nodes = &self.table.nodes[..];
        if PROBES == 0 {
            return None;
        }
        let mut id = self.bins.head(bin);
        for _ in 1..PROBES {
            if id == WALL || fits(&nodes[id as usize]) {
                break;
            }
            id = nodes[id as usize].down;
        }
        fits(&nodes[id as usize]).then_some(id)
    }

    /// Looks at every free range that could hold the request. Only for requests
    /// that would fail otherwise: a failure with enough room would be a lie.
    #[cold]
    #[inline(never)]
    fn last_resort(&mut self, len: u64, align: u64) -> Option<Range> {
        if PROBES == 0 {
            return None;
        }
        let (id, start) = self
            .members_from(floor(len))
            .find_map(|id| Some((id, place(&self.table.nodes[id as usize], len, align)?)))?;
        self.carve(id, start, len)
    }

    /// Allocates exactly `[start, start + len)`. `None` when `len` is 0 or a part
    /// of it is not free.
    ///
    /// Walks the free ranges that are at least about as long as `len`.
    pub fn alloc_at(&mut self, start: u64, len: u64) -> Option<Range> {
        let end = start.checked_add(len)?;
        if len == 0 || end > self.len {
            return None;
        }
        let id = self.members_from(floor(len)).find(|&id| {
            let node = &self.table.nodes[id as usize];
            node.start <= start && end <= node.end()
        })?;
        self.carve(id, start, len)
    }

    /// Frees a range, which makes it dirty, and merges it with its free
    /// neighbours. If any part of the merged range is dirty all of it is.
    ///
    /// `None`, and nothing happens, when `id` names no allocated range.
    #[inline]
    pub fn free(&mut self, id: NodeId) -> Option<Freed> {
        self.give_back(id, DIRTY)
    }

    /// As [`free`](Self::free) for a range with nothing in it: one that was
    /// cleaned, or was handed out clean and not used.
    pub fn free_clean(&mut self, id: NodeId) -> Option<Freed> {
        self.give_back(id, 0)
    }

    /// Takes a dirty free range out, as if it had been allocated, so that the
    /// caller can clean it without keeping others waiting and then give it to
    /// [`free_clean`](Self::free_clean). `None` when nothing free is dirty.
    ///
    /// The whole of a merged range is taken, which may be most of the space. Until
    /// it is back it is missing: an allocation that fails meanwhile may succeed
    /// afterwards, so a caller who cleans in the background waits for that before
    /// telling anyone that memory has run out.
    pub fn take_dirty(&mut self) -> Option<Range> {
        while let Some(id) = self.candidates.pop() {
            let nodes = &mut self.table.nodes[..];
            nodes[id as usize].tagged &= !LISTED;
            let node = nodes[id as usize];
            if node.is(FREE) && node.is(DIRTY) {
                self.bins.unlink(nodes, &node);
                return Some(
                    self.counts
                        .hand_out(nodes, id, node.start, node.len(), DIRTY),
                );
            }
        }
        None
    }

    /// The allocated range that `id` names.
    #[inline]
    pub fn get(&self, id: NodeId) -> Option<Range> {
        let node = self
            .table
            .nodes
            .get(id.0 as usize)
            .filter(|node| node.is(LIVE))?;
        Some(Range {
            start: node.start,
            len: node.len(),
            id,
            dirty: node.is(DIRTY),
        })
    }

    /// Units of the whole space.
    #[inline]
    #[expect(
        clippy::len_without_is_empty,
        reason = "a length in units, not a count of members"
    )]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Units not allocated.
    #[inline]
    pub fn free_units(&self) -> u64 {
        self.counts.free_units
    }

    /// Units not allocated that belong to dirty ranges.
    #[inline]
    pub fn dirty_units(&self) -> u64 {
        self.counts.dirty_units
    }

    /// Number of allocated ranges, those from [`take_dirty`](Self::take_dirty)
    /// included.
    #[inline]
    pub fn live(&self) -> u32 {
        self.counts.live
    }

    /// Length of the longest free range, in units; 0 when nothing is free.
    pub fn largest_free(&self) -> u64 {
        let longest = self.bins.highest().map(|bin| self.members_from(bin));
        let nodes = &self.table.nodes;
        longest
            .into_iter()
            .flatten()
            .map(|id| nodes[id as usize].len())
            .max()
            .unwrap_or(0)
    }

    /// Every range of the space, free and allocated, by address.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> + '_ {
        let nodes = &self.table.nodes;
        let next = move |id: &u32| Some(nodes[*id as usize].next).filter(|&id| id != WALL);
        std::iter::successors(next(&WALL), next).map(move |id| {
            let node = &nodes[id as usize];
            Piece {
                start: node.start,
                len: node.len(),
                id: node.is(LIVE).then_some(NodeId(id)),
                dirty: node.is(DIRTY),
            }
        })
    }

    /// The free ranges in `bin` and the bins above it, shortest bin first.
    fn members_from(&self, bin: u32) -> impl Iterator<Item = u32> + '_ {
        let nodes = &self.table.nodes;
        let bins = std::iter::successors(self.bins.at_or_above(bin), |bin| {
            self.bins.at_or_above(bin + 1)
        });
        bins.flat_map(move |bin| {
            let down = |id: &u32| Some(nodes[*id as usize].down).filter(|&id| id != WALL);
            std::iter::successors(Some(self.bins.head(bin)), down)
        })
    }

    /// Allocates the first `len` units of the free range `id`; `node` is a copy of
    /// it. What is left stays in its slot, so that the cut end of a long range
    /// often needs no other bin.
    #[inline(always)]
    fn take_front(&mut self, id: u32, node: &Node, len: u64) -> Range {
        let Table { nodes, spare } = &mut self.table;
        let nodes = &mut nodes[..];
        let dirty = node.tagged & DIRTY;
        let rest = node.len() - len;
        if rest == 0 {
            self.bins.unlink(nodes, node);
            return self.counts.hand_out(nodes, id, node.start, len, dirty);
        }
        self.bins.relink(nodes, id, node, floor(rest));
        let front = spare.take(nodes);
        nodes[front as usize].prev = node.prev;
        nodes[front as usize].next = id;
        nodes[node.prev as usize].next = front;
        let left = &mut nodes[id as usize];
        left.start = node.start + len;
        left.set(rest, FREE | dirty);
        left.prev = front;
        self.counts.hand_out(nodes, front, node.start, len, dirty)
    }

    /// Allocates `[start, start + len)`, which lies in the free range `id`.
    fn carve(&mut self, id: u32, start: u64, len: u64) -> Option<Range> {
        if !self.table.reserve(2) {
            return None;
        }
        let node = self.table.nodes[id as usize];
        let front = start - node.start;
        if front == 0 {
            return Some(self.take_front(id, &node, len));
        }
        // Cut the front off into a slot of its own; the rest is then cut as usual.
        let nodes = &mut self.table.nodes[..];
        let slot = self.table.spare.take(nodes);
        let flags = FREE | node.tagged & DIRTY;
        self.bins.unlink(nodes, &node);
        let (rest, bin) = (node.len() - front, floor(node.len() - front));
        nodes[slot as usize].start = node.start;
        nodes[slot as usize].set(front, flags);
        nodes[slot as usize].prev = node.prev;
        nodes[slot as usize].next = id;
        nodes[node.prev as usize].next = slot;
        nodes[id as usize].start = start;
        nodes[id as usize].set(rest, flags);
        nodes[id as usize].prev = slot;
        self.bins.link(nodes, slot, floor(front));
        self.bins.link(nodes, id, bin);
        let node = nodes[id as usize];
        self.list_if_dirty(slot);
        Some(self.take_front(id, &node, len))
    }

    /// Frees `id` and merges it with its free neighbours into the slot of one of
    /// them, which then needs no other links by address than its neighbour's.
    #[inline(always)]
    fn give_back(&mut self, NodeId(id): NodeId, dirty: u64) -> Option<Freed> {
        let Table { nodes, spare } = &mut self.table;
        let nodes = &mut nodes[..];
        let bins = &mut self.bins;
        let node = *nodes.get(id as usize).filter(|node| node.is(LIVE))?;
        let before = nodes[node.prev as usize];
        let after = nodes[node.next as usize];
        let mut start = node.start;
        let mut len = node.len();
        let mut flags = FREE | dirty;
        let mut dirty_already = 0;
        self.counts.live -= 1;
        self.counts.free_units += len;

        let survivor = if before.is(FREE) {
            start = before.start;
            len += before.len();
            flags |= before.tagged & DIRTY;
            dirty_already += before.dirty_len();
            let mut next = node.next;
            if after.is(FREE) {
                len += after.len();
                flags |= after.tagged & DIRTY;
                dirty_already += after.dirty_len();
                bins.unlink(nodes, &after);
                spare.put(nodes, node.next);
                next = after.next;
            }
            spare.put(nodes, id);
            nodes[node.prev as usize].next = next;
            nodes[next as usize].prev = node.prev;
            let now = nodes[node.prev as usize];
            bins.relink(nodes, node.prev, &now, floor(len));
            node.prev
        } else if after.is(FREE) {
            len += after.len();
            flags |= after.tagged & DIRTY;
            dirty_already += after.dirty_len();
            spare.put(nodes, id);
            nodes[node.prev as usize].next = node.next;
            nodes[node.next as usize].prev = node.prev;
            bins.relink(nodes, node.next, &after, floor(len));
            node.next
        } else {
            bins.link(nodes, id, floor(len));
            id
        };

        let merged = &mut nodes[survivor as usize];
        merged.start = start;
        merged.set(len, flags);
        if flags & DIRTY != 0 {
            self.counts.dirty_units += len - dirty_already;
            self.list_if_dirty(survivor);
        }
        Some(Freed { start, len })
    }

    /// Makes a dirty free range findable.
    #[inline(always)]
    fn list_if_dirty(&mut self, id: u32) {
        let node = &self.table.nodes[id as usize];
        if node.is(DIRTY) && !node.is(LISTED) {
            self.list(id);
        }
    }

    /// Once a slot is listed it stays so, however often its range is allocated
    /// and freed, until it is popped: the hot paths only look at the flag.
    #[cold]
    #[inline(never)]
    fn list(&mut self, id: u32) {
        self.table.nodes[id as usize].tagged |= LISTED;
        self.candidates.push(id);
    }
}

/// Where in the free range `node` a block of `len` units fits that starts at a
/// multiple of `align`, a power of two.
#[inline(always)]
fn place(node: &Node, len: u64, align: u64) -> Option<u64> {
    let start = node.start.checked_add(align - 1)? & !(align - 1);
    let padding = start - node.start;
    (node.len().checked_sub(padding)? >= len).then_some(start)
}

impl<const PROBES: usize> std::fmt::Debug for RangeHeap<PROBES> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RangeHeap")
            .field("len", &self.len)
            .field("free_units", &self.counts.free_units)
            .field("dirty_units", &self.counts.dirty_units)
            .field("live", &self.counts.live)
            .finish_non_exhaustive()
    }
}
