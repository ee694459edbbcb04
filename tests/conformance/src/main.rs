//! Cannery: conformance.
fn main() {}
