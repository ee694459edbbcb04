//! Manual chapter: snapshots. Calls of the runtime stand still while the memory of the devices is kept in the
//! host and put back.
//!
//! ```text
//! RUNNING -- lock --> LOCKED -- backup --> BACKED_UP
//!    ^                 |  ^                   |  |
//!    |<---- unlock ----+  +----- restore -----+  |
//!    +<------------------- unlock ---------------+
//! ```
//!
//! Locking lets what is queued finish, because nobody could wait for it afterwards. See `gate` for who may be
//! inside a call, and `memory` for what is kept.
#![allow(unsafe_code)] // callbacks are C functions

pub mod gate;
mod memory;

use std::ffi::c_void;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use cannery_abi as abi;

use self::memory::Backup;
use crate::error::{Error, Fault, Result};
use crate::os::host;
use crate::patient;
use crate::process::{Runtime, current};
use crate::stream::{STREAMS, engine};

type Function = unsafe extern "C" fn(i32, *mut c_void) -> u32;

/// How long locking waits for calls and queued work.
const PATIENCE: Duration = Duration::from_secs(5);
const STAGES: usize = abi::ACL_RT_SNAPSHOT_UNLOCK_POST as usize + 1;
/// The chip of the family 950 that has no snapshots.
const WITHOUT: &str = "Ascend950DT";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Running,
    Locked,
    BackedUp,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Locked => "locked",
            State::BackedUp => "backed up",
        }
    }
}

struct Process {
    state: State,
    /// A call of this chapter is under way.
    busy: bool,
    /// The last backup.
    backup: Option<Backup>,
    callbacks: [Vec<(Function, usize)>; STAGES],
    /// The process that this is about; a forked child begins anew.
    pid: i32,
}

static PROCESS: Mutex<Process> = Mutex::new(Process {
    state: State::Running,
    busy: false,
    backup: None,
    callbacks: [const { Vec::new() }; STAGES],
    pid: 0,
});

fn with_process<R>(act: impl FnOnce(&mut Process) -> R) -> Result<R> {
    let mut process = patient::lock(&PROCESS).ok_or(Fault::Forked)?;
    let me = host::pid();
    if process.pid != me {
        (process.state, process.busy, process.backup) = (State::Running, false, None);
        process.pid = me;
    }
    Ok(act(&mut process))
}

/// The runtime, where the product has snapshots.
fn able() -> Result<&'static Runtime> {
    let runtime = current()?;
    if runtime.settings.soc.name == WITHOUT {
        return Err(Error::unsupported(format!(
            "{WITHOUT} has no snapshots; Ascend950PR, A3 and 910B have them"
        )));
    }
    Ok(runtime)
}

fn check_process(pid: i32) -> Result<()> {
    if pid == host::pid() {
        return Ok(());
    }
    Err(Error::rt_value(
        "pid",
        pid,
        format!(
            "the calling process ({}); others cannot be locked",
            host::pid()
        ),
    ))
}

fn check_reserved(param: &'static str, pointer: u64) -> Result<()> {
    if pointer == 0 {
        return Ok(());
    }
    Err(Error::rt_cause(
        param,
        format!("{pointer:#x}"),
        "reserved, must be NULL",
    ))
}

/// One call of the chapter, from its beginning to its end.
struct Step {
    code: i32,
}

impl Step {
    /// Begins what leads out of one of these states.
    fn begin(what: &str, code: i32, from: &[State]) -> Result<Step> {
        let begun = with_process(|process| {
            if process.busy {
                return Err("another thread takes a snapshot, or this is one of its callbacks; wait until that \
                            call has returned"
                    .to_owned());
            }
            if !from.contains(&process.state) {
                let wanted: Vec<&str> = from.iter().map(|state| state.name()).collect();
                return Err(format!(
                    "the process is {}; to {what} it must be {}",
                    process.state.name(),
                    wanted.join(" or ")
                ));
            }
            process.busy = true;
            Ok(())
        })?;
        match begun {
            Ok(()) => Ok(Step { code }),
            Err(cause) => Err(Error::sequence(code, cause)),
        }
    }

    fn reach(&self, state: State) -> Result<()> {
        with_process(|process| process.state = state)
    }

    fn fail(&self, cause: impl Into<String>) -> Error {
        Error::sequence(self.code, cause)
    }

    /// Calls the functions of a stage for every device that is set.
    fn tell(&self, runtime: &Runtime, stage: i32) -> Result<()> {
        let functions = with_process(|process| process.callbacks[stage as usize].clone())?;
        for (function, args) in functions {
            for device in &runtime.devices {
                let set = {
                    let state = device.state();
                    state.references > 0 || state.explicit > 0
                };
                if !set {
                    continue;
                }
                let id = device.index() as i32;
                // SAFETY: a function of the program, called as it was registered.
                let answer = unsafe { function(id, args as *mut c_void) };
                if answer != 0 {
                    return Err(Error::sequence(
                        abi::ACL_ERROR_SNAPSHOT_CALLBACK_FAILED,
                        format!(
                            "a callback of stage {stage} answered {answer} for device {id}; callbacks answer 0 \
                             when all is well"
                        ),
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        let _ = with_process(|process| process.busy = false);
    }
}

/// Waits until nobody is inside a call and nothing is queued; then nobody comes in any more.
fn stand_still() -> Result<()> {
    gate::close();
    let until = Instant::now() + PATIENCE;
    loop {
        let busy = STREAMS.living().into_iter();
        let busy = busy.filter(|(_, stream)| !stream.is_idle()).count();
        if busy == 0 && gate::inside() == 0 && gate::shut() {
            return Ok(());
        }
        if Instant::now() >= until {
            let inside = gate::inside();
            gate::reopen();
            return Err(Error::sequence(
                abi::ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT,
                format!(
                    "after {} seconds {inside} calls of other threads were still under way, and {busy} streams \
                     had queued work; bring them to an end, then lock again (the process runs on)",
                    PATIENCE.as_secs()
                ),
            ));
        }
        if !engine::make_progress() {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

/// aclrtSnapShotProcessLock: calls of the runtime wait from now on. What is queued is finished first.
///
/// # Errors
/// 107000 for another process, and for what is reserved; 507906 unless the process runs; 507905 when calls or
/// queued work do not end within 5 seconds; 507912 when a callback fails; 207000 where the product lacks it.
/// The process runs on then.
pub fn lock(pid: i32, reserved: u64) -> Result<()> {
    check_process(pid)?;
    check_reserved("reserve", reserved)?;
    let runtime = able()?;
    gate::exempt(|| {
        let code = abi::ACL_ERROR_SNAPSHOT_LOCK_FAILED;
        let step = Step::begin("be locked", code, &[State::Running])?;
        gate::watch();
        step.tell(runtime, abi::ACL_RT_SNAPSHOT_LOCK_PRE)?;
        stand_still()?;
        step.reach(State::Locked)
    })
}

/// aclrtSnapShotProcessUnlock: calls of the runtime go on.
///
/// # Errors
/// 107000 as [`lock`]; 507907 while the process runs; 507912 when a callback fails (the process runs then);
/// 207000.
pub fn unlock(pid: i32, reserved: u64) -> Result<()> {
    check_process(pid)?;
    check_reserved("reserve", reserved)?;
    let runtime = able()?;
    gate::exempt(|| {
        let code = abi::ACL_ERROR_SNAPSHOT_UNLOCK_FAILED;
        let step = Step::begin("be unlocked", code, &[State::Locked, State::BackedUp])?;
        step.reach(State::Running)?;
        gate::reopen();
        step.tell(runtime, abi::ACL_RT_SNAPSHOT_UNLOCK_POST)
    })
}

/// aclrtSnapShotProcessBackup: keeps the memory of all devices in the host. An earlier backup is forgotten.
///
/// # Errors
/// 107000 as [`lock`]; 507908 unless the process is locked, and without memory in the host; 507912 when a
/// callback fails: before, and nothing is kept; after, and the backup is there; 207000.
pub fn backup(pid: i32, args: u64) -> Result<()> {
    check_process(pid)?;
    check_reserved("args", args)?;
    let runtime = able()?;
    gate::exempt(|| {
        let code = abi::ACL_ERROR_SNAPSHOT_BACKUP_FAILED;
        let step = Step::begin("be backed up", code, &[State::Locked])?;
        step.tell(runtime, abi::ACL_RT_SNAPSHOT_BACKUP_PRE)?;
        let old = with_process(|process| process.backup.take())?;
        drop(old);
        let backup = Backup::take(runtime).map_err(|error| {
            let mut cause = String::new();
            error.fault().explain(&mut cause);
            step.fail(cause)
        })?;
        with_process(|process| process.backup = Some(backup))?;
        step.reach(State::BackedUp)?;
        step.tell(runtime, abi::ACL_RT_SNAPSHOT_BACKUP_POST)
    })
}

/// aclrtSnapShotProcessRestore: makes the devices hold what the last backup kept. The process is locked then.
///
/// # Errors
/// 107000 as [`lock`]; 507909 unless the process is backed up, while another process has memory of one of the
/// devices, and for memory that a callback has released; 507912 when a callback fails: before, and nothing is
/// put back; after, and all is; 207000.
pub fn restore(pid: i32, args: u64) -> Result<()> {
    check_process(pid)?;
    check_reserved("args", args)?;
    let runtime = able()?;
    gate::exempt(|| {
        let code = abi::ACL_ERROR_SNAPSHOT_RESTORE_FAILED;
        let step = Step::begin("be restored", code, &[State::BackedUp])?;
        for device in &runtime.devices {
            let Some(store) = device.store() else {
                continue;
            };
            // Asks the others, so that what they hold is exact.
            store.usage();
            let other = store.neighbours().into_iter().find(|other| other.bytes > 0);
            if let Some(other) = other {
                return Err(step.fail(format!(
                    "process {} ({}) has {} bytes of device {}; end it, or let it release them, first",
                    other.pid,
                    other.name,
                    other.bytes,
                    device.index()
                )));
            }
        }
        step.tell(runtime, abi::ACL_RT_SNAPSHOT_RESTORE_PRE)?;
        let kept = with_process(|process| process.backup.take())?;
        let Some(backup) = kept else {
            return Err(step.fail("there is no backup; call aclrtSnapShotProcessBackup first"));
        };
        let missing = backup.missing(runtime);
        if missing.is_none() {
            backup.put_back(runtime);
        }
        with_process(|process| process.backup = Some(backup))?;
        if let Some(what) = missing {
            return Err(step.fail(format!(
                "{what} was released by a callback after the backup; callbacks must leave it alone"
            )));
        }
        step.reach(State::Locked)?;
        step.tell(runtime, abi::ACL_RT_SNAPSHOT_RESTORE_POST)
    })
}

fn list_of(stage: i32) -> Result<usize> {
    usize::try_from(stage)
        .ok()
        .filter(|stage| *stage < STAGES)
        .ok_or_else(|| Error::rt_value("stage", stage, format!("a stage in [0, {})", STAGES)))
}

fn needed(callback: abi::aclrtSnapShotCallBack) -> Result<Function> {
    callback.ok_or_else(|| Fault::RtNull { param: "callback" }.into())
}

/// aclrtSnapShotCallbackRegister: a function for a stage, called once for every device that is set.
///
/// # Errors
/// 107000 without a function and for unknown stages; 507913 for one that the stage has already; 207000.
pub fn register(stage: i32, callback: abi::aclrtSnapShotCallBack, args: *mut c_void) -> Result<()> {
    let list = list_of(stage)?;
    let function = needed(callback)?;
    able()?;
    gate::exempt(|| {
        gate::watch();
        let added = with_process(|process| {
            let list = &mut process.callbacks[list];
            let known = list
                .iter()
                .any(|(other, _)| std::ptr::fn_addr_eq(*other, function));
            if !known {
                list.push((function, args as usize));
            }
            !known
        })?;
        if added {
            return Ok(());
        }
        Err(Error::sequence(
            abi::ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED,
            format!(
                "this function is registered for stage {stage} already; call aclrtSnapShotCallbackUnregister \
                 first"
            ),
        ))
    })
}

/// aclrtSnapShotCallbackUnregister.
///
/// # Errors
/// 107000 without a function, for unknown stages, and for one that the stage does not have; 207000.
pub fn unregister(stage: i32, callback: abi::aclrtSnapShotCallBack) -> Result<()> {
    let list = list_of(stage)?;
    let function = needed(callback)?;
    able()?;
    let removed = with_process(|process| {
        let list = &mut process.callbacks[list];
        let before = list.len();
        list.retain(|(other, _)| !std::ptr::fn_addr_eq(*other, function));
        list.len() != before
    })?;
    if removed {
        return Ok(());
    }
    Err(Error::rt_param(
        abi::ACL_ERROR_RT_PARAM_INVALID,
        "callback",
        format!(
            "this function is not registered for stage {stage}, or no longer; pass function and stage as they were \
             registered"
        ),
    ))
}
