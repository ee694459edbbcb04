//! Cannery: heap.
