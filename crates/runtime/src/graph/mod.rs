//! Manual chapter: model runtime instances: what streams were given is kept instead of run, and run as
//! often as wanted. Two ways lead to a model: *capturing* streams, and *building* from bound ones.
//!
//! # Glossary
//!
//! * **model**: branches and nodes; what aclmdlRI stands for.
//! * **branch**: one stream that was captured (or bound). The first is where the capture began.
//! * **node**: one captured call, in the order of the calls: a task, or one end of a dependency.
//! * **label**: a captured record; waits for it refer to it. (Labels of the program are places in built models: see
//!   the module `label`.) Dependencies inside of a model live and die
//!   with each of its runs; events of the program are not touched.
//! * **runner**: a stream of the model's own that does the work of a branch when the model runs. The first
//!   branch of a captured model runs on the stream that it is executed on.
//! * **pass**: a run whose tasks are queued one by one, and what of it is on runners: see `pass`.
//! * **walk**: a way over a branch of a built model in which runs decide where they go: see `walk`.
//! * **condition**, **body**: what a conditional task looks at, and the models that it runs: see `condition`.
//! * **group**: nodes whose parameters can be replaced; they are read when the node runs, not when the run
//!   is queued.
//!
//! # Contract
//!
//! A run is ordered as if it were one task of its stream. Branches run in parallel as far as their
//! dependencies allow. Runs of one model share its runners and so follow each other there.
//!
//! While a stream is captured, nothing that would wait for it is allowed (see `mode`); such a call is
//! refused and makes the capture invalid, and its end says why.
//!
//! A run that loses its place on its stream, or is aborted, ends on all its branches, and so do its errors.
//!
//! Lock order: the list of models, a model, its bodies, then what submitting takes.

mod branching;
mod build;
pub(crate) mod capture;
pub mod condition;
pub mod control;
pub mod label;
mod life;
pub(crate) mod mode;
mod model;
pub mod notes;
mod pass;
mod print;
mod replay;
mod slot;
mod state;
mod tasks;
mod trace;
pub(crate) mod update;
mod walk;

pub use build::{bind_stream, build_begin, build_end, clean_stream, end_task, unbind_stream};
pub use capture::{begin, begin_to_model, end, info};
pub use life::{Destroyed, destroy, register_destroy_callback, unregister_destroy_callback};
pub use mode::exchange;
pub(crate) use model::Model;
pub use model::{id, name, set_name};
pub(crate) use pass::aborted;
pub use print::debug_print;
pub(crate) use replay::stop_all;
pub use replay::{abort, execute, execute_async};
pub(crate) use slot::Slot;
pub use tasks::{
    Parameters, Places, check_task, disable_task, kernel_attribute, set_task_parameters, streams,
    task_parameters, task_sequence, task_type, tasks_of_stream, update,
};
pub use trace::debug_json;
pub(crate) use update::Update;
pub use update::{group_begin, group_end, update_begin, update_end};
