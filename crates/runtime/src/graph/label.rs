//! Manual chapter: labels: places in the streams of a built model that a run can jump to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cannery_abi as abi;

use super::control::{Control, bound_stream, operand};
use super::state::{About, What};
use crate::context::Context;
use crate::error::{Error, Fault, Result};
use crate::kernel::handles::Handles;
use crate::process::{Here, here};
use crate::stream::event::bad_handle;

/// Most labels of a process, and of a list.
const MOST: usize = 65_535;

static LABELS: Handles<Label> = Handles::new(0xda);
static LISTS: Handles<Vec<u64>> = Handles::new(0xdb);
/// Living labels.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Where a label was made. Which place it stands for is known by the model whose stream it was set on.
struct Label {
    context: &'static Context,
    generation: u64,
}

impl Drop for Label {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// In a forked child: they belong to the parent.
pub(crate) fn forget() {
    LABELS.end_all();
    LISTS.end_all();
    COUNT.store(0, Ordering::Relaxed);
}

/// aclrtCreateLabel.
///
/// # Errors
/// 100000 for NULL; 107002 without a context; 207005 when the process has 65535 labels.
pub fn create(out: Option<&mut u64>) -> Result<()> {
    let Some(out) = out else {
        return Err(Error::null("label"));
    };
    let here = here()?;
    let none_left = || {
        Error::sequence(
            abi::ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
            format!(
                "the process has {MOST} labels, which is the most; destroy some with aclrtDestroyLabel"
            ),
        )
    };
    if COUNT.fetch_add(1, Ordering::Relaxed) >= MOST {
        COUNT.fetch_sub(1, Ordering::Relaxed);
        return Err(none_left());
    }
    let label = Label {
        context: here.context,
        generation: here.runtime.contexts.generation_of(here.context),
    };
    *out = LABELS.add(Arc::new(label)).ok_or_else(none_left)?;
    Ok(())
}

/// aclrtDestroyLabel. A model whose stream it was set on still jumps there.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn destroy(label: u64) -> Result<()> {
    if label == 0 {
        return Err(Error::null("label"));
    }
    crate::process::current()?;
    match LABELS.remove(label) {
        Some(_) => Ok(()),
        None => Err(bad_handle("label", label, "label")),
    }
}

/// A living label of the current context.
fn own(param: &'static str, here: &Here, handle: u64) -> Result<()> {
    let label = LABELS
        .get(handle)
        .ok_or_else(|| bad_handle(param, handle, "label"))?;
    let same = std::ptr::eq(label.context, here.context)
        && here.runtime.contexts.generation_of(here.context) == label.generation;
    if same {
        return Ok(());
    }
    Err(Fault::Ownership {
        code: abi::ACL_ERROR_RT_LABEL_CONTEXT,
        object: "label",
        details: format!(
            "{handle:#x} belongs to another context, on device {}; the current one is on device {}; make its \
             context current (aclrtSetCurrentContext, aclrtSetDevice) first",
            label.context.device_index(),
            here.device().index()
        ),
    }
    .into())
}

/// aclrtSetLabel: the label stands for what the stream is given next.
///
/// # Errors
/// 100000 for NULL; 107017; 107002, 107003; 507031 for a label of another context; 107005 for a stream that
/// no model is built from; 107000 for a label that is set in the model already.
pub fn set(label: u64, stream: u64) -> Result<()> {
    if label == 0 {
        return Err(Error::null("label"));
    }
    crate::process::current()?;
    if LABELS.get(label).is_none() {
        return Err(bad_handle("label", label, "label"));
    }
    let (here, it) = bound_stream("stream", stream)?;
    own("label", &here, label)?;
    let mut state = it.model.state();
    let same =
        |what: &What| matches!(what, What::Control(Control::Label(other)) if *other == label);
    if state.nodes.iter().any(|node| same(&node.what)) {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "label",
            format!(
                "label {label:#x} is set in this model already; make another one (aclrtCreateLabel)"
            ),
        ));
    }
    state.push(
        it.branch,
        What::Control(Control::Label(label)),
        About::default(),
    );
    Ok(())
}

/// aclrtCreateLabelList: the list holds the labels as they are named now.
///
/// # Errors
/// 100000 for NULL and a number that is not in [1, 65535]; 107002 without a context; 107017 for what is no
/// living label; 507031 for one of another context; 207005.
pub fn create_list(labels: Option<&[u64]>, count: usize, out: Option<&mut u64>) -> Result<()> {
    let (Some(labels), Some(out)) = (labels, out) else {
        let missing = if labels.is_none() {
            "labels"
        } else {
            "labelList"
        };
        return Err(Error::null(missing));
    };
    if count == 0 || count > MOST {
        return Err(Error::value(
            "num",
            count,
            format!("must be in [1, {MOST}]"),
        ));
    }
    let here = here()?;
    for label in labels {
        own("labels[]", &here, *label)?;
    }
    let handle = LISTS.add(Arc::new(labels.to_vec()));
    *out = handle.ok_or_else(|| {
        Error::sequence(
            abi::ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
            "no label list is left; destroy some with aclrtDestroyLabelList",
        )
    })?;
    Ok(())
}

/// aclrtDestroyLabelList. What was queued with it keeps it.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn destroy_list(list: u64) -> Result<()> {
    if list == 0 {
        return Err(Error::null("labelList"));
    }
    crate::process::current()?;
    match LISTS.remove(list) {
        Some(_) => Ok(()),
        None => Err(bad_handle("labelList", list, "label list")),
    }
}

/// aclrtSwitchLabelByIndex: a run that comes here goes on at the label whose number the four bytes of device
/// memory at `index` hold then; at the last one where there are fewer.
///
/// # Errors
/// 100000 for NULL and no labels; 107000 for more labels than the list has, and for addresses; 107017; 107002,
/// 107003; 107005 for a stream that no model is built from.
pub fn switch(index: u64, count: u32, list: u64, stream: u64) -> Result<()> {
    if index == 0 {
        return Err(Error::null("ptr"));
    }
    if count == 0 {
        return Err(Error::zero("maxValue"));
    }
    if list == 0 {
        return Err(Error::null("labelList"));
    }
    crate::process::current()?;
    let labels = LISTS
        .get(list)
        .ok_or_else(|| bad_handle("labelList", list, "label list"))?;
    let Some(labels) = labels.get(..count as usize) else {
        return Err(Error::rt_value(
            "maxValue",
            count,
            format!("at most {}, the labels of the list", labels.len()),
        ));
    };
    let (here, it) = bound_stream("stream", stream)?;
    let at = operand(&here, "ptr", index, 4)?;
    let jump = Control::Jump {
        at,
        labels: labels.into(),
    };
    it.model
        .state()
        .push(it.branch, What::Control(jump), About::default());
    Ok(())
}
