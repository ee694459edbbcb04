//! libascendcl.so.
