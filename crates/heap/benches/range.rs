//! Micro benchmark of the range heap.
fn main() {}
