//! The cards that all processes of a user share: what each process has taken from each device.
//!
//! Every machine (see [`machine::Identity`]) is one small file in the runtime directory that its
//! processes map. A process has a slot there, and in it, for each device and page pool, its
//! **claim**: the bytes that it may charge without asking again. A claim covers what is charged and
//! the **slack**: credit of arenas and what the store's centre has at hand. The claims of all
//! processes together never exceed the card.
//!
//! * Charging out of slack touches nothing that is shared: the hot paths do not know of cards.
//! * A process that is short, or that is asked how much is free, *asks*: it rings the bell of every
//!   other process, whose thread gives all slack back, so that the claim is exactly what is charged,
//!   and answers. Nobody holds a lock while it waits, and the wait is bounded.
//! * Nothing in the file is locked. A claim is made visible first and counted afterwards, and taken
//!   back when the card is over-drawn, so a process may be stopped or killed at any instruction. A
//!   process that is gone is recognised by its pid and its start; one exchange of its slot's owner
//!   frees all it held.
//! * Coming and going is serialised by a lock of the directory, which the kernel releases for the
//!   dead.

mod ask;
mod machine;
mod member;
pub(crate) mod overview;

pub(crate) use member::{Claims, Neighbour, claims};

/// Pools of a card by index; the first two as in an arena.
pub(crate) const POOLS: usize = 3;
/// Memory that is kept for 1 GiB pages.
pub(crate) const GIANT: usize = 2;
