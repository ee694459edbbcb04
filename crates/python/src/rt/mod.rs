//! The module `acl.rt`, one file a chapter.

pub(crate) mod allocator;
pub(crate) mod callback;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod device;
pub(crate) mod event;
pub(crate) mod exception;
pub(crate) mod group;
pub(crate) mod kernel;
pub(crate) mod memory_copy;
pub(crate) mod memory_device;
pub(crate) mod memory_host;
pub(crate) mod memory_ipc;
pub(crate) mod memory_virtual;
pub(crate) mod notify;
pub(crate) mod stream;
