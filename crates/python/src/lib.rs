//! The drop-in `acl` module.
