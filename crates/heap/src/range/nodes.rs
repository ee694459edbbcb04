//! The node table: one node for each range, free or allocated, in address order
//! by links, and a list of the slots that hold no range.

/// Slot 0 is no range: it closes the address list to a ring, so that a first or
/// last range has neighbours like any other (never free), and it ends the other
/// lists. Its length is 0.
pub(super) const WALL: u32 = 0;

/// The range is free. A slot that is neither free nor live holds no range.
pub(super) const FREE: u64 = 1;
/// The range is allocated.
pub(super) const LIVE: u64 = 2;
/// Something may have been written since the range was last clean.
pub(super) const DIRTY: u64 = 4;
/// The slot is on the stack of dirty candidates. A property of the slot: it
/// survives while the slot changes hands.
pub(super) const LISTED: u64 = 8;
const TAG_BITS: u32 = 4;

/// What is known of one range. Two nodes share a cache line and none straddles
/// two.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(super) struct Node {
    pub(super) start: u64,
    /// Length, and below it the four flags.
    pub(super) tagged: u64,
    /// Neighbours by address.
    pub(super) prev: u32,
    pub(super) next: u32,
    /// Neighbours in the bin of a free range. In an unused slot `down` is the
    /// next unused slot.
    pub(super) up: u32,
    pub(super) down: u32,
}

impl Node {
    pub(super) const EMPTY: Self = Self {
        start: 0,
        tagged: 0,
        prev: WALL,
        next: WALL,
        up: WALL,
        down: WALL,
    };

    #[inline(always)]
    pub(super) fn len(&self) -> u64 {
        self.tagged >> TAG_BITS
    }

    #[inline(always)]
    pub(super) fn end(&self) -> u64 {
        self.start + self.len()
    }

    #[inline(always)]
    pub(super) fn is(&self, flag: u64) -> bool {
        self.tagged & flag != 0
    }

    /// Length if dirty, else 0.
    #[inline(always)]
    pub(super) fn dirty_len(&self) -> u64 {
        if self.is(DIRTY) { self.len() } else { 0 }
    }

    /// Sets length and flags; [`LISTED`] stays as it is.
    #[inline(always)]
    pub(super) fn set(&mut self, len: u64, flags: u64) {
        self.tagged = len << TAG_BITS | flags | self.tagged & LISTED;
    }
}

/// The table. It grows by doubling and never shrinks: its size is that of the
/// highest number of ranges there ever was.
pub(super) struct Table {
    pub(super) nodes: Vec<Node>,
    pub(super) spare: Spare,
}

impl Table {
    /// A table with nothing but the wall.
    pub(super) fn new() -> Self {
        Self {
            nodes: vec![Node::EMPTY],
            spare: Spare(WALL),
        }
    }

    /// Makes sure that `count` slots are unused. `false` when no more ids are
    /// to be had.
    #[inline(always)]
    pub(super) fn reserve(&mut self, count: u32) -> bool {
        let mut id = self.spare.0;
        for _ in 0..count {
            if id == WALL {
                return self.grow(count);
            }
            id = self.nodes[id as usize].down;
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, count: u32) -> bool {
        for _ in 0..count {
            let Ok(id) = u32::try_from(self.nodes.len()) else {
                return false;
            };
            self.nodes.push(Node::EMPTY);
            self.spare.put(&mut self.nodes, id);
        }
        true
    }
}

/// The list of unused slots, last in first out; linked through `down`.
pub(super) struct Spare(u32);

impl Spare {
    /// Takes a slot that [`Table::reserve`] promised.
    #[inline(always)]
    pub(super) fn take(&mut self, nodes: &[Node]) -> u32 {
        let id = self.0;
        self.0 = nodes[id as usize].down;
        id
    }

    /// Gives a slot back.
    #[inline(always)]
    pub(super) fn put(&mut self, nodes: &mut [Node], id: u32) {
        let node = &mut nodes[id as usize];
        node.set(0, 0);
        node.down = self.0;
        self.0 = id;
    }

    /// Number of unused slots; walks them.
    pub(super) fn count(&self, nodes: &[Node]) -> usize {
        let down = |id: &u32| Some(nodes[*id as usize].down).filter(|&id| id != WALL);
        std::iter::successors(Some(self.0).filter(|&id| id != WALL), down).count()
    }
}
