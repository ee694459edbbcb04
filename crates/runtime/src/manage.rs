//! Manual chapters: device management and context management; what they do.

use std::sync::atomic::{AtomicI64, Ordering};

use cannery_abi as abi;
use cannery_observe::Family;

use crate::context::{self, Context, Kind};
use crate::device::State;
use crate::error::no_device::{self, NoDevice};
use crate::error::{Error, Fault, Result};
use crate::process::{Here, Runtime, bound_device, current, here, no_context};
use crate::state_callback;
use crate::thread;

/// Health of a device.
pub type DeviceStatus = i32;

impl Runtime {
    /// The position of a device id in the list, or 107001.
    pub(crate) fn device_index(&self, param: &'static str, id: i32) -> Result<usize> {
        let found = usize::try_from(id)
            .ok()
            .filter(|index| *index < self.devices.len());
        found.ok_or_else(|| {
            let expected = match &self.no_devices {
                Some(why) => format!("a device that exists, but there is none: {}", why.cause),
                None => format!("a device id in [0, {})", self.devices.len()),
            };
            Error::rt_value_code(abi::ACL_ERROR_RT_INVALID_DEVICEID, param, id, expected)
        })
    }

    /// What texts call a device id: where devices are renumbered, the id that the user gives.
    fn device_parameter(&self) -> &'static str {
        if self.renumbered {
            "userDevId"
        } else {
            "deviceId"
        }
    }

    fn ensure_primary(
        &'static self,
        index: usize,
        state: &mut State,
    ) -> Result<(&'static Context, u64)> {
        let device = &self.devices[index];
        device.open(&self.window, &self.settings)?;
        match state.primary {
            Some(primary) => Ok(primary),
            None => {
                let primary = self.contexts.create(device, Kind::Primary)?;
                state.primary = Some(primary);
                state.release_pending = false;
                crate::log::info(format_args!("device {index} set: {}", self.banner()));
                Ok(primary)
            }
        }
    }

    /// Binds a thread that chose nothing to the default device of the init file.
    pub(crate) fn bind_implicitly(&'static self, id: i32) -> Result<&'static Context> {
        let index = self.device_index("default_device", id)?;
        let mut state = self.devices[index].state();
        let primary = self.ensure_primary(index, &mut state)?;
        // One reference for all threads together, so that a reset can undo it.
        state.references = state.references.max(1);
        drop(state);
        thread::bind(self.epoch(), Some(primary));
        Ok(primary.0)
    }

    /// `call`: what ended the last use of the device.
    fn release_memory_if_unused(&'static self, index: usize, state: &mut State, call: &str) {
        if state.references == 0 && state.explicit == 0 && state.release_pending {
            state.release_pending = false;
            let device = &self.devices[index];
            device.forget_peers();
            crate::memory::stream_ordered_pool::end_of_device(self, index);
            if let Some(store) = device.store() {
                self.sharing.before_reset(self, index);
                let counters = store.counters();
                device.note_taken_back(call, counters.live());
                let held = counters.families;
                let media = [Family::Dvpp, Family::HiMpi].map(|family| held[family as usize].bytes);
                let media = media.iter().sum::<i64>().unsigned_abs();
                self.media_used.fetch_sub(media, Ordering::AcqRel);
                self.virtual_memory.forget_device(self, index);
                device.resets().fetch_add(1, Ordering::AcqRel);
                self.managed.forget_device(self, index);
                store.reset();
            }
        }
    }
}

/// `api` failed to bind the calling thread, which keeps the binding that it has.
#[cold]
fn note_failed(api: &'static str, error: &Error) {
    no_device::note_failed(api, error, bound_device().is_some());
}

/// aclrtSetDevice: one reference more, and the thread is bound to the primary context.
///
/// # Errors
/// 107001 for an id that does not exist (the binding stays), 507033 when there is no address space.
pub fn set_device(id: i32) -> Result<()> {
    let set = || {
        let runtime = current()?;
        let index = runtime.device_index(runtime.device_parameter(), id)?;
        state_callback::tell(id, abi::ACL_RT_DEVICE_STATE_SET_PRE);
        let mut state = runtime.devices[index].state();
        let primary = runtime.ensure_primary(index, &mut state)?;
        state.references += 1;
        drop(state);
        thread::bind(runtime.epoch(), Some(primary));
        Ok(())
    };
    let result = set();
    match &result {
        Ok(()) => {
            state_callback::tell(id, abi::ACL_RT_DEVICE_STATE_SET_POST);
            crate::stream::state_callback::bound();
        }
        Err(error) => note_failed("aclrtSetDevice", error),
    }
    result
}

/// aclrtResetDevice (`force`: aclrtResetDeviceForce): drops one reference, or all. With the last
/// one the primary context ends and the memory of the device is released, unless explicit contexts
/// keep it.
///
/// # Errors
/// 107001 for an id that does not exist, 507007 without a reference.
pub fn reset_device(id: i32, force: bool) -> Result<()> {
    let runtime = current()?;
    let index = runtime.device_index("deviceId", id)?;
    state_callback::tell(id, abi::ACL_RT_DEVICE_STATE_RESET_PRE);
    let device = &runtime.devices[index];
    let state = device.state();
    if state.references == 0 {
        let mut cause =
            format!("device {id} was not set, or every aclrtSetDevice is undone already");
        match no_device::why() {
            Some(NoDevice::Failed(earlier)) => cause = format!("{earlier}; therefore {cause}"),
            Some(NoDevice::Ended(earlier)) => cause = format!("{cause} ({earlier})"),
            None => {}
        }
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
            cause,
        ));
    }
    drop(state);
    // Queued work of the primary context is waited for, without holding the lock: callbacks may
    // call the runtime.
    let last = {
        let state = device.state();
        (force || state.references == 1)
            .then_some(state.primary)
            .flatten()
    };
    if let Some((context, _)) = last {
        crate::stream::manage::end_of_context(context, true);
    }
    let mut state = device.state();
    if state.references == 0 {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
            format!("device {id} was reset by another thread meanwhile"),
        ));
    }
    state.references = if force { 0 } else { state.references - 1 };
    if state.references == 0 {
        let call = format!("aclrtResetDevice{}({id})", if force { "Force" } else { "" });
        if let Some((context, generation)) = state.primary.take() {
            let mine =
                thread::bound(runtime.epoch()).is_some_and(|bound| std::ptr::eq(bound, context));
            runtime.contexts.destroy(context, generation);
            if mine {
                thread::bind(runtime.epoch(), None);
                no_device::note_ended(&call);
            }
        }
        state.release_pending = true;
        runtime.release_memory_if_unused(index, &mut state, &call);
        crate::log::info(format_args!("device {id} reset"));
    }
    drop(state);
    state_callback::tell(id, abi::ACL_RT_DEVICE_STATE_RESET_POST);
    Ok(())
}

/// aclrtGetDevice: the device of the calling thread.
///
/// # Errors
/// 107002 without a context; this path does not store the last error.
pub fn current_device() -> Result<i32> {
    here().map(|here| here.device().index() as i32)
}

/// aclrtGetDeviceCount: devices that this process sees. Needs no device.
///
/// # Errors
/// 207004 when the visible list leaves none.
pub fn device_count() -> Result<u32> {
    let runtime = current()?;
    match &runtime.no_devices {
        Some(why) => Err(Fault::NoDevice {
            message: why.message,
            cause: why.cause.clone(),
        }
        .into()),
        None => Ok(runtime.devices.len() as u32),
    }
}

/// aclrtCreateContext: a context of its own, current for the caller. Returns its handle.
///
/// # Errors
/// 107001 for an id that does not exist; nothing changes then.
pub fn create_context(id: i32) -> Result<u64> {
    let create = || {
        let runtime = current()?;
        let index = runtime.device_index("deviceId", id)?;
        let device = &runtime.devices[index];
        let mut state = device.state();
        device.open(&runtime.window, &runtime.settings)?;
        let made = runtime.contexts.create(device, Kind::Explicit)?;
        state.explicit += 1;
        drop(state);
        thread::bind(runtime.epoch(), Some(made));
        Ok(context::handle(made.0, made.1))
    };
    let result = create();
    match &result {
        Ok(_) => {
            crate::stream::state_callback::bound();
        }
        Err(error) => note_failed("aclrtCreateContext", error),
    }
    result
}

/// aclrtDestroyContext. A thread that has it current is left without one.
///
/// # Errors
/// 107002 for a primary context and for what is no living context.
pub fn destroy_context(handle: u64) -> Result<()> {
    let runtime = current()?;
    let code = abi::ACL_ERROR_RT_CONTEXT_NULL;
    let unknown = || {
        Error::rt_param(
            code,
            "context",
            format!("{handle:#x} is no living context; destroyed already?"),
        )
    };
    let (context, generation) = runtime.contexts.find(handle).ok_or_else(unknown)?;
    let (device, kind) = runtime
        .contexts
        .place(context, generation)
        .ok_or_else(unknown)?;
    if kind == Kind::Primary {
        return Err(Error::rt_param(
            code,
            "context",
            "a primary context cannot be destroyed explicitly; use aclrtResetDevice",
        ));
    }
    crate::stream::manage::end_of_context(context, true);
    let mut state = device.state();
    let mine = thread::bound(runtime.epoch()).is_some_and(|bound| std::ptr::eq(bound, context));
    if !runtime.contexts.destroy(context, generation) {
        return Err(unknown());
    }
    let call = format!("aclrtDestroyContext({handle:#x})");
    if mine {
        thread::bind(runtime.epoch(), None);
        no_device::note_ended(&call);
    }
    state.explicit -= 1;
    runtime.release_memory_if_unused(device.index(), &mut state, &call);
    Ok(())
}

/// aclrtSetCurrentContext: binds the thread, and with it chooses the device.
///
/// # Errors
/// 107000 for what is no living context; the binding stays.
pub fn set_current_context(handle: u64) -> Result<()> {
    let set = || {
        let runtime = current()?;
        let found = runtime.contexts.find(handle).ok_or_else(|| {
            Error::sequence(
                abi::ACL_ERROR_RT_PARAM_INVALID,
                format!(
                    "{handle:#x} is no living context: it was destroyed, or its device was reset"
                ),
            )
        })?;
        thread::bind(runtime.epoch(), Some(found));
        Ok(())
    };
    let result = set();
    if let Err(error) = &result {
        note_failed("aclrtSetCurrentContext", error);
    }
    result
}

/// aclrtGetCurrentContext: handle of the context of the calling thread.
///
/// # Errors
/// 107002 without one.
pub fn current_context() -> Result<u64> {
    let Here {
        context, runtime, ..
    } = here()?;
    runtime
        .contexts
        .handle_of(context)
        .ok_or_else(|| no_context(runtime))
}

/// aclrtGetPrimaryCtxState: whether the primary context of a device is active.
///
/// # Errors
/// 107001 for an id that does not exist.
pub fn primary_state(id: i32) -> Result<bool> {
    let runtime = current()?;
    let index = runtime.device_index("deviceId", id)?;
    Ok(runtime.devices[index].state().primary.is_some())
}

pub(crate) fn option_index(option: i32) -> Result<usize> {
    usize::try_from(option)
        .ok()
        .filter(|index| *index < context::OPTIONS)
        .ok_or_else(|| {
            Error::value(
                "opt",
                option,
                format!("must be in [0, {})", context::OPTIONS),
            )
        })
}

/// Options of the process; 0 until they are set.
static PROCESS_OPTIONS: [AtomicI64; context::OPTIONS] =
    [const { AtomicI64::new(0) }; context::OPTIONS];

/// aclrtSetSysParamOpt: for the whole process. The value is remembered; nothing reads it.
///
/// # Errors
/// 100000 for an unknown option.
pub fn set_process_option(option: i32, value: i64) -> Result<()> {
    let index = option_index(option)?;
    current()?;
    PROCESS_OPTIONS[index].store(value, Ordering::Relaxed);
    Ok(())
}

/// aclrtGetSysParamOpt: 0 for what was never set.
///
/// # Errors
/// As [`set_process_option`].
pub fn process_option(option: i32) -> Result<i64> {
    let index = option_index(option)?;
    current()?;
    Ok(PROCESS_OPTIONS[index].load(Ordering::Relaxed))
}

/// aclrtCtxSetSysParamOpt.
///
/// # Errors
/// 100000 for an unknown option, 107002 without a context.
pub fn set_context_option(option: i32, value: i64) -> Result<()> {
    let index = option_index(option)?;
    here()?.context.set_option(index, value);
    Ok(())
}

/// aclrtCtxGetSysParamOpt.
///
/// # Errors
/// 100000 for an unknown option, 107002 without a context, 107021 when it was never set.
pub fn context_option(option: i32) -> Result<i64> {
    let index = option_index(option)?;
    here()?.context.option(index).ok_or_else(|| {
        Error::sequence(
            abi::ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
            format!(
                "option {option} was never set in this context; call aclrtCtxSetSysParamOpt first"
            ),
        )
    })
}

/// aclrtSetTsDevice: accepted; there is one scheduler.
///
/// # Errors
/// 100000 for an unknown scheduler.
pub fn select_scheduler(id: i32) -> Result<()> {
    match id {
        abi::ACL_TS_ID_AICORE | abi::ACL_TS_ID_AIVECTOR => Ok(()),
        _ => Err(Error::value(
            "tsId",
            id,
            "must be 0 (AI Core) or 1 (vector core)",
        )),
    }
}

/// aclrtQueryDeviceStatus: an emulated device is healthy.
///
/// # Errors
/// 107001 for an id that does not exist.
pub fn status(id: i32) -> Result<DeviceStatus> {
    current()?.device_index("deviceId", id)?;
    Ok(abi::ACL_RT_DEVICE_STATUS_NORMAL)
}

/// aclrtSetDeviceSatMode: remembered for the current device; in a thread that never had one, for every
/// device of the process, because released programs choose the mode before they set a device.
///
/// # Errors
/// 100000 for an unknown mode, 107002 in a thread whose context is gone.
pub fn set_saturation(mode: i32) -> Result<()> {
    if !matches!(
        mode,
        abi::ACL_RT_OVERFLOW_MODE_SATURATION | abi::ACL_RT_OVERFLOW_MODE_INFNAN
    ) {
        return Err(Error::value(
            "mode",
            mode,
            "must be 0 (saturation) or 1 (infinity and NaN)",
        ));
    }
    match here() {
        Ok(here) => here.device().saturation().store(mode, Ordering::Relaxed),
        Err(refusal) => {
            let runtime = current()?;
            if thread::lost_binding(runtime.epoch()) {
                return Err(refusal);
            }
            for device in &runtime.devices {
                device.saturation().store(mode, Ordering::Relaxed);
            }
        }
    }
    Ok(())
}

/// aclrtGetDeviceSatMode.
///
/// # Errors
/// 107002 without a context.
pub fn saturation() -> Result<i32> {
    Ok(here()?.device().saturation().load(Ordering::Relaxed))
}
