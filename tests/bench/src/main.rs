//! Cannery: bench.
fn main() {}
