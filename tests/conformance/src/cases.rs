//! The registered cases, one file a subject. The first part of an id of the
//! contract names the subject loosely; the table groups by the function's
//! chapter instead.

mod cache;
mod cache_operations;
mod callback;
mod card_identity;
mod channel;
mod context;
mod core_limits;
mod count_notify;
mod custom_allocator;
mod data_buffer;
mod device;
mod device_abort;
mod device_peer;
mod device_symbols;
mod error;
mod event;
mod event_order;
mod exception;
mod execution;
mod gate;
mod graph;
mod graph_aborts;
mod graph_build;
mod graph_conditions;
mod graph_control;
mod graph_ends;
mod graph_events;
mod graph_functions;
mod graph_kernels;
mod graph_life;
mod graph_modes;
mod graph_refusals;
mod graph_streams;
mod graph_texts;
mod graph_trace;
mod graph_update;
mod graph_values;
mod host;
mod info;
mod init;
mod ipc_memory;
mod kernel;
mod kernel_lists;
mod managed;
mod managed_own;
mod managed_policies;
mod media;
mod memory_async;
mod memory_async_own;
mod memory_batch;
mod memory_copy;
mod memory_free;
mod memory_malloc;
mod memory_oom;
mod memory_policy;
mod memory_set;
mod memory_split;
mod notify;
mod operators;
mod other_process;
mod overflow;
mod pool;
mod pool_order;
mod pool_own;
mod process;
mod product;
mod queue;
mod queue_buffers;
mod queue_routes;
mod random_arguments;
mod random_numbers;
mod rc;
mod registered;
mod registered_limits;
mod registered_own;
mod settings;
mod shareable;
mod small_chapters;
mod snapshot;
mod stream;
mod stream_failure;
mod stream_order;
mod stream_state;
mod support;
mod text_arguments;
mod text_owners;
mod text_shortages;
mod texts;
mod thread;
mod toolkit;
mod value;
mod versions;
mod virtual_memory;
mod virtual_memory_life;
mod virtual_memory_places;
mod virtual_memory_seams;

use crate::case::Case;

/// Every registered case.
pub(crate) fn all() -> Vec<Case> {
    [
        cache::cases(),
        cache_operations::cases(),
        callback::cases(),
        card_identity::cases(),
        channel::cases(),
        core_limits::cases(),
        context::cases(),
        count_notify::cases(),
        custom_allocator::cases(),
        data_buffer::cases(),
        device::cases(),
        device_abort::cases(),
        device_peer::cases(),
        device_symbols::cases(),
        error::cases(),
        event::cases(),
        event_order::cases(),
        exception::cases(),
        execution::cases(),
        graph::cases(),
        graph_aborts::cases(),
        graph_build::cases(),
        graph_conditions::cases(),
        graph_control::cases(),
        graph_ends::cases(),
        graph_events::cases(),
        graph_functions::cases(),
        graph_kernels::cases(),
        graph_life::cases(),
        graph_modes::cases(),
        graph_refusals::cases(),
        graph_streams::cases(),
        graph_trace::cases(),
        graph_texts::cases(),
        graph_update::cases(),
        graph_values::cases(),
        host::cases(),
        info::cases(),
        init::cases(),
        ipc_memory::cases(),
        kernel::cases(),
        kernel_lists::cases(),
        managed::cases(),
        managed_own::cases(),
        managed_policies::cases(),
        media::cases(),
        memory_async::cases(),
        memory_async_own::cases(),
        memory_batch::cases(),
        memory_copy::cases(),
        memory_free::cases(),
        memory_malloc::cases(),
        memory_oom::cases(),
        memory_policy::cases(),
        memory_set::cases(),
        memory_split::cases(),
        notify::cases(),
        operators::cases(),
        overflow::cases(),
        pool::cases(),
        pool_order::cases(),
        pool_own::cases(),
        process::cases(),
        product::cases(),
        queue::cases(),
        random_numbers::cases(),
        rc::cases(),
        registered::cases(),
        registered_limits::cases(),
        registered_own::cases(),
        settings::cases(),
        shareable::cases(),
        small_chapters::cases(),
        snapshot::cases(),
        stream::cases(),
        stream_failure::cases(),
        stream_order::cases(),
        stream_state::cases(),
        texts::cases(),
        thread::cases(),
        toolkit::cases(),
        value::cases(),
        virtual_memory::cases(),
        virtual_memory_life::cases(),
        virtual_memory_places::cases(),
        virtual_memory_seams::cases(),
        versions::cases(),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec;

    #[test]
    fn ids_are_unique_and_known() {
        let cases = all();
        let mut ids: Vec<&str> = cases.iter().map(|case| case.id).collect();
        ids.sort_unstable();
        for pair in ids.windows(2) {
            assert_ne!(pair[0], pair[1], "registered twice");
        }
        for case in &cases {
            assert!(
                case.is_own() || spec::line(case.id).is_some(),
                "{} is no id of the contract and does not start with x.",
                case.id
            );
        }
    }
}
