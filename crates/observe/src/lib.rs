//! Cannery: observe.
