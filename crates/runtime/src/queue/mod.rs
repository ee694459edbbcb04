//! Manual chapters: tensor data transfer (channels), shared queues, shared buffers.
//!
//! # Glossary
//!
//! * **ring**: messages in order, at most a given number of them. A queue is a ring that its maker lets
//!   other processes use (grant, attach); a channel is a ring that every process of the user reaches by
//!   its device and name.
//! * **page**: what processes share of a ring: counters, a lock, a bell, the list of its users.
//! * **parcel**: one message: segments of bytes, each with a valid length and 96 bytes of the user's.
//! * **buffer**: a handle to segments outside of any ring (acltdtBuf).
//! * **route**: a thread that carries messages from one queue to others.
//!
//! # How bytes move
//!
//! While nobody but its maker uses a queue, a parcel changes hands as it is and no byte is copied. Else it
//! lies in a file of the runtime directory between the two calls, which no process has to hold open:
//! a message outlives its sender.
//!
//! # Deaths
//!
//! The lock of a page that a killed process held is taken over; every change of a ring ends with one
//! store, so that nothing is half done. Whoever waits looks every 50 ms for users that were killed and
//! ends with 507022. Files go with their ring, or with the first use of queues by the next process.
//!
//! Lock order: directory, page, the parcels of the own process.

pub mod attribute;
pub mod buffer;
pub mod channel;
pub mod dataset;
mod names;
mod page;
mod parcel;
pub mod queues;
mod ring;
pub mod route;
mod routing;
mod table;
mod user_bytes;
