//! Cannery: abi.
