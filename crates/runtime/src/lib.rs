//! The emulated NPU: process, devices, contexts, memory. A safe API with typed errors; no C string
//! and no foreign object crosses into it.
//!
//! # Glossary
//!
//! * **runtime** (`process`): everything of this process, started by the first call that needs it.
//! * **device**: one emulated card; its **store** is its memory.
//! * **context**: what a thread is bound to; belongs to a device. Primary (counted by set and reset)
//!   or explicit.
//! * **window**: the addresses of all devices. **Alias**: the same memory where the runtime may touch
//!   it.
//! * **block**, **charge**, **arena**, **credit**: see [`memory`].
//!
//! # Contract
//!
//! The order of checks is that of the reference: nothing-to-do shortcuts, arguments in their order
//! (the front, 100000), handles, ranges, the same-pointer shortcut, the current context (107002),
//! ownership, the driver. A failed call changes nothing and leaves a text.
//!
//! Every function may be called from any thread. The binding to a context, the last error and the
//! pending texts belong to the thread. After a fork the child gets [`error::Fault::Forked`] until it
//! calls aclInit.
//!
//! # Layers
//!
//! `os` makes every system call; `window` and `memory` hold the memory; `device`, `context`, `peer`,
//! `init` are the objects of the manual; `settings` decides, `error` explains. `unsafe` stays in `os`,
//! in the copy code, in the tasks of streams and in the callbacks.

mod callbacks;
mod card_identity;
mod context;
pub mod core_limits;
pub mod custom_allocator;
mod data_buffer;
mod device;
pub mod error;
pub mod graph;
pub mod groups;
mod half;
pub mod health;
pub mod info;
mod init;
pub mod kernel;
mod limits;
pub mod links;
mod log;
mod manage;
pub mod memory;
mod named_callbacks;
mod os;
mod patient;
mod peer;
mod philox;
mod process;
mod properties;
pub mod queue;
pub mod refused_operators;
mod registry;
mod settings;
pub mod snapshot;
mod state_callback;
pub mod stream;
mod thread;
pub mod toolkit;
pub mod versions;
mod visible;
mod window;

/// Manual chapter: initialisation and de-initialisation.
pub mod lifecycle {
    pub use crate::callbacks::{register_finalize, unregister_finalize, unregister_init};
    pub use crate::init::{finalize, finalize_reference, init, register_init_callback};
}

/// Manual chapters: device management and context management.
pub mod devices {
    pub use crate::card_identity::{bus_id, by_bus_id, feature, uuid};
    pub use crate::limits::{limit, set_limit};
    pub use crate::manage::{
        DeviceStatus, context_option, create_context, current_context, current_device,
        destroy_context, device_count, primary_state, process_option, reset_device, saturation,
        select_scheduler, set_context_option, set_current_context, set_device, set_process_option,
        set_saturation, status,
    };
    pub use crate::peer::{can_access, disable, enable, is_enabled};
    pub use crate::properties::{
        attribute, bare_pid, capability, check_run_mode, physical_id, priority_range, run_mode,
        soc_name, user_id, utilization, version,
    };
    pub use crate::state_callback::register as register_state_callback;
    pub use crate::stream::wait::synchronize_device;
}

/// Descriptors of an address and a size.
pub mod buffers {
    pub use crate::data_buffer::{address, create, destroy, size, update};
}

pub use log::app_log;
pub use process::product_has;
pub use thread::calling;

pub use settings::{BadSetting, Mode, Settings, Source, Used, profile};
