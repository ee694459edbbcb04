//! Running models: aclmdlRIExecuteAsync, aclmdlRIExecute, aclmdlRIAbort.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cannery_abi as abi;

use super::branching::Choice;
use super::model::{Model, Phase, State, What, bodies_ready, find, no_body};
use super::walk;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::process::here;
use crate::stream::manage::{self, stream_of_call};
use crate::stream::record::Record;
use crate::stream::task::Task;
use crate::stream::{STREAMS, Stream, engine, event, failure};

/// Runners of destroyed models that may still have work.
static RETIRED: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// Gives the runners of a model back; those that have work are given back when it is done.
pub(super) fn give_up(runners: Vec<u64>) {
    let mut retired = RETIRED.lock().unwrap_or_else(PoisonError::into_inner);
    retired.extend(runners.into_iter().filter(|runner| *runner != 0));
    retired.retain(|runner| match STREAMS.find(*runner) {
        Some(stream) if stream.is_idle() => {
            manage::end_internal(*runner, stream);
            false
        }
        Some(_) => true,
        None => false,
    });
}

/// The stream that does the work of a branch.
pub(super) fn runner(model: &Model, state: &mut State, branch: usize) -> Result<&'static Stream> {
    let known = state.branches[branch].runner;
    if let Some(stream) = STREAMS.find(known) {
        return Ok(stream);
    }
    let made = manage::make_internal(model.context, model.generation)?;
    state.branches[branch].runner = made.0;
    Ok(made.1)
}

pub(super) fn wait(stream: &'static Stream, record: Arc<Record>) {
    let token = Arc::new(());
    engine::submit(
        stream,
        Task::Wait {
            record,
            until: None,
            token,
        },
    );
}

pub(super) fn record(stream: &'static Stream) -> Arc<Record> {
    let record = Record::new(stream, None);
    engine::submit(stream, Task::Record(Arc::clone(&record)));
    record
}

/// Queues one run behind what `stream` has.
fn run_on(model: &Model, handle: u64, stream: &'static Stream) -> Result<()> {
    let mut guard = model.state();
    let state = &mut *guard;
    match &state.phase {
        Phase::Ready => {}
        Phase::Capturing(_) => {
            return Err(Error::sequence(
                abi::ACL_ERROR_RT_MODEL_CAPTURED,
                "the model is being captured; end the capture first (aclmdlRICaptureEnd)",
            ));
        }
        Phase::Building => {
            return Err(Error::sequence(
                abi::ACL_ERROR_RT_MODEL_EXECUTE,
                "the model is being built; end that first (aclmdlRIBuildEnd)",
            ));
        }
    }
    let program = match state.decides() {
        true => Some(state.program()?),
        false => None,
    };
    // Every runner first: a run that is queued in part could not be taken back.
    let mut streams = Vec::with_capacity(state.branches.len());
    for branch in 0..state.branches.len() {
        streams.push(if branch == 0 && !state.built {
            stream
        } else {
            runner(model, state, branch)?
        });
    }
    if let Some(program) = program {
        let of =
            |(number, branch): (usize, &super::model::Branch)| branch.from_start.then_some(number);
        let heads: Vec<usize> = state.branches.iter().enumerate().filter_map(of).collect();
        let before = state.walks.newest();
        let handles = state.branches.iter().map(|branch| branch.runner);
        let runners = handles.zip(streams.iter().copied()).collect();
        let run = walk::queue(program, heads, runners, stream, before);
        state.walks.add(&run);
        engine::submit(stream, gather(streams));
        state.is_running();
        state.runs.push((handle, stream, stream.submitted()));
        return Ok(());
    }
    for task in state
        .conditions
        .iter()
        .filter_map(|condition| condition.reset())
    {
        engine::submit(stream, task);
    }
    if state.built && !streams.is_empty() {
        let begin = record(stream);
        for own in &streams {
            wait(own, Arc::clone(&begin));
        }
    }
    let mut labels: Vec<Option<Arc<Record>>> = vec![None; state.labels.len()];
    for node in &state.nodes {
        let own = streams[node.branch];
        match &node.what {
            What::Run(_) if node.disabled => {}
            What::Run(slot) if node.group.is_some() => {
                engine::submit(own, Task::Captured(Arc::clone(slot)));
            }
            What::Run(slot) => {
                if let Some(task) = slot.again() {
                    engine::submit(own, task);
                }
            }
            What::Record { label } => labels[*label] = Some(record(own)),
            What::Wait { label } => {
                if let Some(record) = &labels[*label] {
                    wait(own, Arc::clone(record));
                }
            }
            What::ExternalRecord => event::record_external(node.about.event, own),
            What::ExternalWait => engine::submit(own, Task::WaitExternal(node.about.event)),
            What::ResetEvent => engine::submit(own, Task::ResetExternal(node.about.event)),
            What::Conditional(task) => engine::submit(own, Choice::task(task)),
            What::ResetLabel | What::Control(_) | What::Gone => {}
        }
    }
    if state.built {
        for own in &streams {
            wait(stream, record(own));
        }
    }
    let runners: Vec<&'static Stream> = streams
        .into_iter()
        .filter(|own| !std::ptr::eq(*own, stream))
        .collect();
    if !runners.is_empty() {
        engine::submit(stream, gather(runners));
    }
    // Forgets those that are over.
    state.is_running();
    state.runs.push((handle, stream, stream.submitted()));
    Ok(())
}

/// Nobody waits for runners but the stream of the run: it tells what failed there.
pub(super) fn gather(runners: Vec<&'static Stream>) -> Task {
    Task::Compute(Arc::new(move || first_error(runners.iter().copied())))
}

/// Nothing of any run in a context begins any more: its streams are about to end.
pub(crate) fn stop_all(context: &'static Context) {
    for model in super::model::all() {
        if std::ptr::eq(model.context, context) {
            model.state().walks.stop();
        }
    }
}

/// The first error of some streams; none has one afterwards.
fn first_error(streams: impl Iterator<Item = &'static Stream>) -> i32 {
    streams
        .map(Stream::take_error)
        .fold(0, |first, code| if first == 0 { code } else { first })
}

/// aclmdlRIExecuteAsync: queues one run. On a stream that is captured itself, the run becomes part of that
/// capture.
///
/// # Errors
/// 100000 for NULL; 107017; 107000 for a body of a conditional task; 107002, 107003; 107026 while the model is being
/// captured, 107045 while a body is; 207008 when no stream is left for its branches.
pub fn execute_async(model: u64, stream: u64) -> Result<()> {
    let model = find(model)?;
    no_body(&model)?;
    let (_, own) = stream_of_call("stream", stream)?;
    if let Some(outer) = own.captured() {
        return super::tasks::copy_into(&model, &outer, own, stream);
    }
    bodies_ready(&model)?;
    run_on(&model, stream, own)
}

/// aclmdlRIExecute: one run, and waits for it; milliseconds, -1: for ever.
///
/// # Errors
/// 100000 for NULL; 107000 for timeouts; 107017; 107002; 507046 when the time is over (the run goes on);
/// the code of a task that failed.
pub fn execute(model: u64, timeout: i32) -> Result<()> {
    if timeout != -1 && timeout <= 0 {
        return Err(Error::rt_value(
            "timeout",
            timeout,
            "-1 (for ever) or a number of milliseconds above 0",
        ));
    }
    let until = u64::try_from(timeout)
        .ok()
        .map(|limit| Instant::now() + Duration::from_millis(limit));
    let model = find(model)?;
    here()?;
    no_body(&model)?;
    super::mode::unsafe_call("aclmdlRIExecute")?;
    bodies_ready(&model)?;
    let made = manage::make_internal(model.context, model.generation)?;
    let result = run_on(&model, made.0, made.1).and_then(|()| {
        if !engine::wait_for(made.1, made.1.submitted(), until) {
            return Err(Error::sequence(
                abi::ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                "the model was not done in time; it goes on",
            ));
        }
        match made.1.take_error() {
            0 if made.1.was_lost_with_device() => Err(failure::aborting()),
            0 => Ok(()),
            code => Err(Error::sequence(code, "a task of the model failed")),
        }
    });
    give_up(vec![made.0]);
    result
}

/// aclmdlRIAbort: drops what the runners of a built model have not begun.
///
/// # Errors
/// 100000 for NULL; 107017; 207000 for captured models.
pub fn abort(model: u64) -> Result<()> {
    let model = find(model)?;
    let (runs, runners) = {
        let state = model.state();
        if !state.built {
            return Err(Error::unsupported(
                "captured models cannot be aborted; abort the stream they run on (aclrtStreamAbort)",
            ));
        }
        let runners: Vec<u64> = state.branches.iter().map(|branch| branch.runner).collect();
        (state.walks.living(), runners)
    };
    if !runs.is_empty() {
        // None of them begins when the one before it ends.
        runs.iter().for_each(|run| run.stop());
        runs.iter().for_each(walk::Run::abort);
        return Ok(());
    }
    for stream in runners
        .into_iter()
        .filter_map(|runner| STREAMS.find(runner))
    {
        engine::drop_tasks(stream);
    }
    Ok(())
}
