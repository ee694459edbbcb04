//! What the program says of the task that a thread captured last: aclrtCacheLastTaskOpInfo,
//! aclrtCacheLastTaskExtendInfo. Models show it (aclmdlRITaskGetParams, aclmdlRIDebugJsonPrint).

use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use cannery_abi as abi;

use super::model::{Model, Phase};
use super::state::Notes;
use crate::error::{Error, Result};
use crate::stream::Stream;

/// Most bytes about an operator.
pub const MOST: usize = 64 << 10;
/// So much of further information is kept.
const KEPT: usize = 4 << 10;

thread_local! {
    /// The task that this thread gave to a model last.
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

struct Last {
    model: Weak<Model>,
    node: usize,
    /// Whether its stream takes notes of operators.
    cached: bool,
}

/// The calling thread gave a model its newest node.
pub(super) fn note(model: &Arc<Model>, node: usize, stream: &Stream) {
    let last = Last {
        model: Arc::downgrade(model),
        node,
        cached: stream.cache_info.load(Ordering::Relaxed) == 1,
    };
    LAST.with_borrow_mut(|place| *place = Some(last));
}

fn nothing(param: &'static str) -> Error {
    Error::rt_param(
        abi::ACL_ERROR_RT_STREAM_NOT_CAPTURED,
        param,
        "this thread has given nothing to a model that is being made; call it right behind the task, between \
         aclmdlRICaptureBegin and aclmdlRICaptureEnd",
    )
}

/// Does something with the notes of the task that this thread captured last.
fn with_last(
    param: &'static str,
    building_too: bool,
    act: impl FnOnce(&mut Notes, bool) -> Result<()>,
) -> Result<()> {
    let found = LAST.with_borrow(|last| {
        last.as_ref()
            .and_then(|last| Some((last.model.upgrade()?, last.node, last.cached)))
    });
    let (model, node, cached) = found.ok_or_else(|| nothing(param))?;
    let mut state = model.state();
    let open = match state.phase {
        Phase::Capturing(_) => true,
        Phase::Building => building_too,
        Phase::Ready => false,
    };
    match state.nodes.get_mut(node) {
        Some(node) if open => act(&mut node.notes, cached),
        _ => Err(nothing(param)),
    }
}

/// aclrtCacheLastTaskOpInfo.
///
/// # Errors
/// 100000 for NULL and for sizes outside of [1, 65536]; 107029 when the thread captured no task; 107000 where the
/// stream does not take such notes.
pub fn operator(info: Option<&[u8]>, size: usize) -> Result<()> {
    let Some(info) = info else {
        return Err(Error::null("infoPtr"));
    };
    if size == 0 || size > MOST {
        return Err(Error::value(
            "infoSize",
            size,
            format!("must be in [1, {MOST}]"),
        ));
    }
    crate::process::current()?;
    with_last("infoPtr", false, |notes, cached| {
        if !cached {
            return Err(Error::rt_param(
                abi::ACL_ERROR_RT_PARAM_INVALID,
                "infoPtr",
                "the stream takes no notes of operators; set its attribute ACL_STREAM_ATTR_CACHE_OP_INFO (4) to 1 \
                 first (aclrtSetStreamAttribute)",
            ));
        }
        notes.operator = info.to_vec();
        Ok(())
    })
}

/// As many of the first bytes of a text as are whole characters.
fn beginning(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// aclrtCacheLastTaskExtendInfo: of more than 4096 bytes the first ones are kept.
///
/// # Errors
/// 100000 for NULL, for a size of 0, for what is not UTF-8, and for what is no JSON (of more than 65536 bytes, the
/// first ones are looked at for UTF-8 only); 107029 when the thread gave no task to a model that is
/// being made.
pub fn more(info: Option<&[u8]>, size: usize) -> Result<()> {
    let Some(info) = info else {
        return Err(Error::null("extendInfoPtr"));
    };
    if size == 0 {
        return Err(Error::zero("infoSize"));
    }
    crate::process::current()?;
    let whole = match str::from_utf8(info) {
        Ok(text) => text,
        // Cut within a character.
        Err(wrong) if wrong.error_len().is_none() && size > info.len() => {
            str::from_utf8(&info[..wrong.valid_up_to()]).unwrap_or_default()
        }
        Err(wrong) => {
            let at = wrong.valid_up_to();
            return Err(Error::cause(
                "extendInfoPtr",
                format!("{:#04x}", info[at]),
                format!("byte {at} is no UTF-8; pass a JSON text in UTF-8"),
            ));
        }
    };
    // A string of C may come with its end.
    let whole = whole.trim_end_matches('\0');
    if size == info.len()
        && let Err(wrong) = serde_json::from_str::<serde_json::Value>(whole)
    {
        return Err(Error::cause(
            "extendInfoPtr",
            format!("a text of {} bytes", whole.len()),
            format!(
                "is no JSON (line {}, column {}); pass one JSON value, an object for instance",
                wrong.line(),
                wrong.column()
            ),
        ));
    }
    let kept = beginning(whole, KEPT).to_owned();
    with_last("extendInfoPtr", true, |notes, _| {
        notes.more = kept;
        Ok(())
    })
}
