//! Memory that several processes use (manual chapter: IPC memory; shareable handles of virtual
//! memory). Glossary:
//!
//! * **export**: memory of this process that others may ask for, behind a **key** that cannot be
//!   guessed. The memory is a file without a name.
//! * **broker**: the thread of the exporting process that hands it out. It starts with the first
//!   export and listens under a name that is no file, so nothing is left behind however the process
//!   ends.
//! * **white list**: the processes that may have an export. The broker asks the kernel who sent a
//!   request; what the importer says of itself counts nothing. Other users get nothing.
//! * **import**: such memory at addresses of this process.
//!
//! Memory is charged once, where it was allocated. It lives while anybody has it: the exporter, or
//! an importer that has mapped it.
//!
//! Lock order: blocks, broker, exports; imports and connections alone.

pub(crate) mod blocks;
pub(crate) mod broker;
pub(crate) mod connections;
pub(crate) mod exports;
pub(crate) mod imports;
pub(crate) mod key;
mod message;

use blocks::Blocks;
use broker::Broker;
use connections::Connections;
use exports::Exports;
use imports::Imports;

use crate::process::Runtime;

/// Everything that one runtime shares.
#[derive(Default)]
pub(crate) struct Sharing {
    pub(crate) blocks: Blocks,
    pub(crate) broker: Broker,
    pub(crate) exports: Exports,
    pub(crate) connections: Connections,
    pub(crate) imports: Imports,
}

impl Sharing {
    /// The memory of a device is about to be taken away as a whole.
    pub(crate) fn before_reset(&self, runtime: &Runtime, device: usize) {
        self.blocks.before_reset(runtime, device);
        self.imports.before_reset(runtime, device);
    }
}
