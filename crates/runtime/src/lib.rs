//! Cannery: runtime.
