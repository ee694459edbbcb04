//! The `cannery` command line tool.
fn main() {}
