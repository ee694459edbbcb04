//! Cannery's stream-ordered pools: which memory of a pool serves a request now, decided without
//! touching it.
//!
//! # Glossary
//!
//! * **Unit**: what lengths and places are counted in; the caller decides what it stands for (2 MiB
//!   in the runtime).
//! * **Segment**: neighbouring units that are paid for. *Live*: handed out. *Idle*: given back, kept
//!   for reuse. *Leaving*: given up, but not gone yet.
//! * **Stream**: an ordered queue of work, known here by a key only. **Position**: how much had been
//!   queued on it.
//! * **Ticket**: stream and position of a release. The release is *done* when the stream has done
//!   that much; until then queued work may still touch the memory.
//! * **Used**: units of live segments. **Reserved**: units of live and idle ones.
//! * **Backing** ([`Backing`]): who pays for units and keeps a record of segments.
//! * **Order** ([`Order`]): what is known of the streams in the moment of a request.
//!
//! # Contract
//!
//! * A request of a stream is served by the shortest idle segment that is long enough and that the
//!   stream may use: one released on the same stream, at once; one of another stream when the asking
//!   one waits for it already ([`Rules::follow_events`]) or when the release is done
//!   ([`Rules::opportunistic`]). What is too long is cut; the rest stays idle.
//! * Where no single one is long enough, neighbours are joined. Then, with
//!   [`Rules::internal_waits`], the request gets a segment of another stream and a list of what its
//!   stream has to wait for first. New memory comes last.
//! * A refused request changes nothing, and is refused only when none of these ways is left.
//! * Live segments never overlap each other, nor what is idle or leaving; counts are exact after every
//!   call.
//! * Any number may be given as the start of a segment; one that names none changes nothing.
//!
//! Price: a release is O(1). A request that reuses is O(1) plus a look at every idle segment of
//! fitting length that its stream may not use; cutting, joining, growing and giving up allocate and
//! walk.
//!
//! No `unsafe`, no system calls, no locks.

#![forbid(unsafe_code)]

mod idle;
mod pool;
mod segments;

pub use pool::{Grant, Leaving, Pool, Refusal, Rules, Usage};

/// When a segment was released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket<K> {
    /// Stream in whose order it was released.
    pub stream: K,
    /// How much was queued on the stream before.
    pub position: u64,
}

/// What is known of the streams, from the point of view of one that asks for memory.
pub trait Order<K> {
    /// Whether everything that the asking stream queues from now on comes after the ticket, because
    /// of waits it has queued before.
    fn follows(&self, ticket: &Ticket<K>) -> bool;
    /// Whether the stream of the ticket has done what was queued before it.
    fn is_done(&self, ticket: &Ticket<K>) -> bool;
}

/// Who pays for units, and who keeps a record of segments.
pub trait Backing {
    /// Its own name of a segment.
    type Tag: Copy;
    /// Pays for so many units more. False: there is no memory left.
    fn pay(&mut self, units: u64) -> bool;
    /// A segment came to be.
    fn make(&mut self, start: u64, units: u64, live: bool) -> Self::Tag;
    /// A segment went away, became part of another one, or is leaving.
    fn unmake(&mut self, tag: Self::Tag);
    /// A segment was handed out or came back.
    fn set_live(&mut self, tag: Self::Tag, live: bool);
}
