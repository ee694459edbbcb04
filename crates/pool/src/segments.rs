//! The table of segments: by number, and by the unit they begin with.

use cannery_heap::NodeId;

use crate::Ticket;

/// What a segment is for at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Live,
    Idle,
    Leaving,
}

/// Neighbouring units with one fate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment<K, T> {
    pub(crate) start: u64,
    pub(crate) units: u64,
    pub(crate) state: State,
    /// Place in its list of idle segments.
    pub(crate) slot: u32,
    /// Its range of addresses.
    pub(crate) node: NodeId,
    /// What the backing calls it; none while it leaves.
    pub(crate) tag: Option<T>,
    /// Last release; `None`: before all work, or never.
    pub(crate) ticket: Option<Ticket<K>>,
}

/// See the module.
pub(crate) struct Segments<K, T> {
    list: Vec<Segment<K, T>>,
    spare: Vec<u32>,
    /// Number of the segment that begins with a unit, plus one; 0: none does.
    at: Vec<u32>,
}

impl<K: Copy, T: Copy> Segments<K, T> {
    pub(crate) fn new(room: u64) -> Self {
        Self {
            list: Vec::new(),
            spare: Vec::new(),
            at: vec![0; room as usize],
        }
    }

    /// Enters a segment; returns its number.
    pub(crate) fn add(&mut self, segment: Segment<K, T>) -> u32 {
        let start = segment.start as usize;
        let id = match self.spare.pop() {
            Some(id) => {
                self.list[id as usize] = segment;
                id
            }
            None => {
                self.list.push(segment);
                (self.list.len() - 1) as u32
            }
        };
        self.at[start] = id + 1;
        id
    }

    pub(crate) fn remove(&mut self, id: u32) -> Segment<K, T> {
        let segment = self.list[id as usize];
        self.at[segment.start as usize] = 0;
        self.spare.push(id);
        segment
    }

    /// Removes all; returns what the backing calls them.
    pub(crate) fn clear(&mut self) -> Vec<T> {
        let starts = self.at.iter_mut().map(std::mem::take);
        let ids = starts.filter_map(|entry| entry.checked_sub(1));
        let tags = ids.filter_map(|id| self.list[id as usize].tag).collect();
        self.list.clear();
        self.spare.clear();
        tags
    }

    /// Number of the segment that begins with this unit.
    #[inline]
    pub(crate) fn find(&self, start: u64) -> Option<u32> {
        let at = self.at.get(usize::try_from(start).ok()?)?;
        at.checked_sub(1)
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &Segment<K, T> {
        &self.list[id as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> &mut Segment<K, T> {
        &mut self.list[id as usize]
    }
}
