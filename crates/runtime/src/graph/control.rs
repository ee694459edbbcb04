//! What decides, in a built model, which of its tasks a run comes to: jumps to labels, and streams that other
//! streams activate (aclrtActiveStream, aclrtSwitchStream).
#![allow(unsafe_code)] // looks at values in device memory

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use cannery_abi as abi;

use super::capture::Captured;
use super::state::{About, State, What};
use crate::error::{Error, Result};
use crate::memory::{guard, locate};
use crate::process::Here;
use crate::stream::manage::stream_of_call;
use crate::window::Window;

/// A node that decides. Addresses are where the runtime looks; branches are numbers in the model.
pub(crate) enum Control {
    /// A place that can be jumped to.
    Label(u64),
    /// To the label whose number is at an address; the last one where there are fewer.
    Jump { at: u64, labels: Box<[u64]> },
    /// Another branch begins, this one goes on.
    Activate { branch: usize },
    /// Another branch begins and this one ends, if two values compare so.
    Switch { values: Comparison, branch: usize },
}

/// Two values in device memory, and how they have to compare.
#[derive(Clone, Copy)]
pub(crate) struct Comparison {
    left: u64,
    right: u64,
    condition: i32,
    /// 64-bit values rather than 32-bit ones.
    wide: bool,
}

/// Looks at four bytes of device memory.
pub(super) fn word(at: u64) -> u32 {
    // SAFETY: four bytes of device memory at a multiple of 4, checked when the call was captured; the program
    // keeps them as long as the model runs, and memory of the runtime stays mapped.
    unsafe { AtomicU32::from_ptr(at as *mut u32) }.load(Ordering::Acquire)
}

/// Looks at eight bytes of device memory.
pub(super) fn long(at: u64) -> u64 {
    // SAFETY: as above, eight bytes at a multiple of 8.
    unsafe { AtomicU64::from_ptr(at as *mut u64) }.load(Ordering::Acquire)
}

impl Comparison {
    /// Looks at them.
    pub(super) fn holds(self) -> bool {
        let signed = |at: u64| {
            if self.wide {
                long(at).cast_signed()
            } else {
                i64::from(word(at).cast_signed())
            }
        };
        holds(self.condition, signed(self.left), signed(self.right))
    }
}

fn holds(condition: i32, left: i64, right: i64) -> bool {
    match condition {
        abi::ACL_RT_EQUAL => left == right,
        abi::ACL_RT_NOT_EQUAL => left != right,
        abi::ACL_RT_GREATER => left > right,
        abi::ACL_RT_GREATER_OR_EQUAL => left >= right,
        abi::ACL_RT_LESS => left < right,
        _ => left <= right,
    }
}

/// How a condition is written.
fn sign(condition: i32) -> &'static str {
    match condition {
        abi::ACL_RT_EQUAL => "==",
        abi::ACL_RT_NOT_EQUAL => "!=",
        abi::ACL_RT_GREATER => ">",
        abi::ACL_RT_GREATER_OR_EQUAL => ">=",
        abi::ACL_RT_LESS => "<",
        _ => "<=",
    }
}

impl Control {
    /// What it is, for people and for programs.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Control::Label(_) => "label",
            Control::Jump { .. } => "jump to label",
            Control::Activate { .. } => "activate stream",
            Control::Switch { .. } => "switch stream",
        }
    }

    /// With its numbers.
    pub(super) fn show(&self, window: &Window) -> String {
        let device = |at: &u64| at.wrapping_sub(window.distance());
        let details = match self {
            Control::Label(label) => format!("{label:#x}"),
            Control::Jump { at, labels } => {
                format!("of {} by the index at {:#x}", labels.len(), device(at))
            }
            Control::Activate { branch } => format!("{branch}"),
            Control::Switch {
                values:
                    Comparison {
                        left,
                        right,
                        condition,
                        wide,
                    },
                branch,
            } => format!(
                "to {branch} if {} bits at {:#x} {} those at {:#x}",
                if *wide { 64 } else { 32 },
                device(left),
                sign(*condition),
                device(right)
            ),
        };
        format!("{} {details}", self.name())
    }
}

fn not_bound(param: &'static str, handle: u64) -> Error {
    Error::rt_param(
        abi::ACL_ERROR_RT_STREAM_MODEL,
        param,
        format!(
            "stream {handle:#x} is not bound to a model that is built; bind it first (aclmdlRIBindStream)"
        ),
    )
}

/// The model that a stream of the current context is bound to.
///
/// # Errors
/// 107017; 107002, 107003; 107005 for a stream that is not bound.
pub(super) fn bound_stream(param: &'static str, handle: u64) -> Result<(Here, Captured)> {
    let (here, stream) = stream_of_call(param, handle)?;
    match stream.captured() {
        Some(it) if it.model.state().built => Ok((here, it)),
        _ => Err(not_bound(param, handle)),
    }
}

/// Where the runtime looks at a value in device memory.
///
/// # Errors
/// 107000 for what is not device memory, or not a multiple of its size.
pub(super) fn operand(here: &Here, param: &'static str, address: u64, bytes: u64) -> Result<u64> {
    if !address.is_multiple_of(bytes) {
        return Err(Error::address(
            param,
            address,
            format!("must be a multiple of {bytes}"),
        ));
    }
    let spot = locate::device_range(here.runtime, here.device().index(), param, address, bytes)?;
    guard::touch(spot.at, bytes)?;
    locate::note_touch(here, &spot, address, bytes, false);
    Ok(spot.at)
}

/// The branch of another stream of the same model.
fn branch_of(it: &Captured, param: &'static str, handle: u64) -> Result<usize> {
    let (_, other) = bound_stream(param, handle)?;
    if std::sync::Arc::ptr_eq(&it.model, &other.model) {
        return Ok(other.branch);
    }
    Err(Error::rt_param(
        abi::ACL_ERROR_RT_STREAM_MODEL,
        param,
        format!("stream {handle:#x} is bound to another model; both must be bound to one"),
    ))
}

fn push(it: &Captured, control: Control) {
    let mut state: std::sync::MutexGuard<'_, State> = it.model.state();
    state.push(it.branch, What::Control(control), About::default());
}

/// aclrtActiveStream: a run that comes here lets another stream of the model begin, and goes on.
///
/// # Errors
/// 100000 for NULL; 107017; 107002, 107003; 107005 where not both are bound to the same model.
pub fn activate(active: u64, stream: u64) -> Result<()> {
    if active == 0 {
        return Err(Error::null("activeStream"));
    }
    let (_, it) = bound_stream("stream", stream)?;
    let branch = branch_of(&it, "activeStream", active)?;
    push(&it, Control::Activate { branch });
    Ok(())
}

/// aclrtSwitchStream, its pointers checked: a run that comes here compares two values in device memory. If they
/// compare so, the other stream begins and this one ends; else this one goes on.
///
/// # Errors
/// 107000 for conditions, types and addresses; 107017; 107002, 107003; 107005 where not both streams are bound
/// to the same model.
pub fn switch(
    left: u64,
    condition: i32,
    right: u64,
    kind: i32,
    when_true: u64,
    stream: u64,
) -> Result<()> {
    if !(abi::ACL_RT_EQUAL..=abi::ACL_RT_LESS_OR_EQUAL).contains(&condition) {
        return Err(Error::rt_value(
            "cond",
            condition,
            "a value in [0, 5] (aclrtCondition)",
        ));
    }
    if kind != abi::ACL_RT_SWITCH_INT32 && kind != abi::ACL_RT_SWITCH_INT64 {
        return Err(Error::rt_value(
            "dataType",
            kind,
            "0 (32-bit integers) or 1 (64-bit integers)",
        ));
    }
    let wide = kind == abi::ACL_RT_SWITCH_INT64;
    let bytes = if wide { 8 } else { 4 };
    let (here, it) = bound_stream("stream", stream)?;
    let branch = branch_of(&it, "trueStream", when_true)?;
    let left = operand(&here, "leftValue", left, bytes)?;
    let right = operand(&here, "rightValue", right, bytes)?;
    let values = Comparison {
        left,
        right,
        condition,
        wide,
    };
    push(&it, Control::Switch { values, branch });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn conditions() {
        let all = |left: i64, right: i64| (0..6).map(|c| holds(c, left, right)).collect::<Vec<_>>();
        assert_eq!(all(3, 3), [true, false, false, true, false, true]);
        assert_eq!(all(-1, 0), [false, true, false, false, true, true]);
        assert_eq!(all(1, 0), [false, true, true, true, false, false]);
    }
}
