//! Running models: aclmdlRIExecuteAsync, aclmdlRIExecute, aclmdlRIAbort.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cannery_abi as abi;

use super::branching::Choice;
use super::model::{Model, Phase, bodies_ready, find, no_body};
use super::pass::{self, Fate, Pass, aborted};
use super::state::{Branch, State, What};
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

/// A task that waits for a record of the run itself.
pub(super) fn wait(record: Arc<Record>) -> Task {
    Task::Wait {
        record,
        until: None,
        token: Arc::new(()),
    }
}

/// Queues one run behind what `stream` has; what becomes of it is told there.
fn run_on(model: &Model, handle: u64, stream: &'static Stream, fate: &Arc<Fate>) -> Result<()> {
    let mut guard = model.state();
    let state = &mut *guard;
    match &state.phase {
        Phase::Ready => {}
        Phase::Capturing(_) => {
            return Err(model.capturing());
        }
        Phase::Building => {
            return Err(model.building(abi::ACL_ERROR_RT_MODEL_EXECUTE));
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
        let of = |(number, branch): (usize, &Branch)| branch.from_start.then_some(number);
        let heads: Vec<usize> = state.branches.iter().enumerate().filter_map(of).collect();
        let before = state.walks.newest();
        let handles = state.branches.iter().map(|branch| branch.runner);
        let runners = handles.zip(streams.iter().copied()).collect();
        let run = walk::queue(program, heads, runners, stream, before, Arc::clone(fate));
        state.walks.add(&run);
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
    let side = |own: &&'static Stream| !std::ptr::eq(*own, stream);
    let runners: Vec<&'static Stream> = streams.iter().copied().filter(side).collect();
    let pass = Pass::new(Arc::clone(fate), stream, runners, None);
    // The model's own streams work for other runs too; the stream of the run is its to drop.
    let submit = |own: &'static Stream, task: Task| {
        let task = if side(&own) { pass.piece(task) } else { task };
        engine::submit(own, task);
    };
    let record = |own: &'static Stream| {
        let record = Record::new(own, None);
        let task = Arc::clone(&record);
        submit(
            own,
            if side(&own) {
                Task::Reach(task)
            } else {
                Task::Record(task)
            },
        );
        record
    };
    let wait = |own: &'static Stream, record: Arc<Record>| submit(own, wait(record));
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
                submit(own, Task::Captured(Arc::clone(slot)));
            }
            What::Run(slot) => {
                if let Some(task) = slot.again() {
                    submit(own, task);
                }
            }
            What::Record { label } => labels[*label] = Some(record(own)),
            What::Wait { label } => {
                if let Some(record) = &labels[*label] {
                    wait(own, Arc::clone(record));
                }
            }
            What::ExternalRecord => {
                if let Some(task) = event::external_record(node.about.event, own, side(&own)) {
                    submit(own, task);
                }
            }
            What::ExternalWait => submit(own, Task::WaitExternal(node.about.event)),
            What::ResetEvent => submit(own, Task::ResetExternal(node.about.event)),
            What::Conditional(task) => submit(own, Choice::task(task, &pass)),
            What::ResetLabel { .. } | What::Control(_) | What::Gone => {}
        }
    }
    if state.built {
        for own in &streams {
            wait(stream, record(own));
        }
    }
    if pass.has_runners() {
        engine::submit(stream, pass.end());
        state.passes.add(&pass);
    }
    // Forgets those that are over.
    state.is_running();
    state.runs.push((handle, stream, stream.submitted()));
    Ok(())
}

/// Nothing of any run in a context begins any more: its streams are about to end.
pub(crate) fn stop_all(context: &'static Context) {
    for model in super::model::all() {
        if std::ptr::eq(model.context, context) {
            model.state().walks.stop();
        }
    }
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
    run_on(&model, stream, own, &Fate::new(true))
}

/// aclmdlRIExecute: one run, and waits for it; milliseconds, -1: for ever.
///
/// # Errors
/// 100000 for NULL; 107000 for timeouts; 107017; 107002; 507046 when the time is over (the run goes on);
/// 507023 when aclmdlRIAbort ended it; the code of a task that failed.
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
    let fate = Fate::new(false);
    let result = run_on(&model, made.0, made.1, &fate).and_then(|()| {
        if !engine::wait_for(made.1, made.1.submitted(), until) {
            return Err(Error::sequence(
                abi::ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                format!(
                    "model {:#x} was not done after {timeout} ms; the run goes on; give it more time, or end it \
                     (aclmdlRIAbort for a built model)",
                    model.handle
                ),
            ));
        }
        match made.1.take_error() {
            0 if made.1.was_lost_with_device() => Err(failure::aborting()),
            0 if fate.was_aborted() => Err(aborted()),
            0 => Ok(()),
            code => Err(Error::sequence(
                code,
                format!("a task of model {:#x} failed", model.handle),
            )),
        }
    });
    give_up(vec![made.0]);
    result
}

/// aclmdlRIAbort: drops what the runs of a built model have not begun; whoever waits for one is told (507023).
///
/// # Errors
/// 100000 for NULL; 107017; 207000 for captured models.
pub fn abort(model: u64) -> Result<()> {
    let model = find(model)?;
    let (runs, passes) = {
        let state = model.state();
        if !state.built {
            return Err(Error::unsupported(format!(
                "model {:#x} was captured, and such models cannot be aborted; abort the stream it runs on \
                 (aclrtStreamAbort)",
                model.handle
            )));
        }
        (state.walks.living(), state.passes.living())
    };
    // None of them begins when the one before it ends.
    runs.iter().for_each(|run| run.call_off());
    runs.iter().for_each(walk::Run::abort);
    pass::abort_all(&passes);
    Ok(())
}
