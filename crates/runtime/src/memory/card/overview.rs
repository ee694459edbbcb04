//! Everything that is known about the cards of this user, as `cannery smi` shows it.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::POOLS;
use super::ask::ask;
use super::machine::{Identity, Machine, Slot, files};
use crate::error::Result;
use crate::os::{process, shared_page};
use crate::process::current;
use crate::settings::{API_VERSION, CANN_VERSION, MemoryKind, profile};

/// The machines that have processes, and the one that a program started now would be in: devices,
/// bytes in use, and who uses them, as JSON. Bytes are what is charged, exact unless a process is
/// stopped.
///
/// # Errors
/// Bad settings.
pub(crate) fn overview() -> Result<String> {
    let runtime = current()?;
    let settings = &runtime.settings;
    let plan = runtime.window.memory();
    let chosen = Identity::new(settings, &plan);
    let mut machines = Vec::new();
    let directory = shared_page::directory();
    if let Ok(directory) = &directory {
        for path in files(directory) {
            let Ok(machine) = Machine::open(&path) else {
                continue;
            };
            ask(&machine, None);
            let identity = machine.identity();
            let is_chosen = identity == chosen;
            let inhabited = machine.slots().any(|(_, slot)| slot.inhabitant().is_some());
            if is_chosen || inhabited {
                let devices = machine.devices().max(if is_chosen {
                    settings.devices as usize
                } else {
                    0
                });
                machines.push((is_chosen, describe_machine(&machine, &identity, devices)));
            }
        }
    }
    if !machines.iter().any(|(is_chosen, _)| *is_chosen)
        && let Ok(machine) = Machine::private(&chosen, settings.devices)
    {
        let devices = settings.devices as usize;
        machines.push((true, describe_machine(&machine, &chosen, devices)));
    }
    // What a program would get comes first.
    machines.sort_by_key(|(is_chosen, _)| !is_chosen);
    let (major, minor, patch) = API_VERSION;
    let machines: Vec<Value> = machines
        .into_iter()
        .map(|(is_chosen, mut value)| {
            value["current"] = json!(is_chosen);
            value
        })
        .collect();
    let value = json!({
        "api_version": format!("{major}.{minor}.{patch}"),
        "cann_version": CANN_VERSION,
        "runtime_dir": directory.as_ref().ok().map(|path| path.display().to_string()),
        "problem": directory.as_ref().err().map(ToString::to_string),
        "machines": machines,
    });
    Ok(value.to_string())
}

fn describe_machine(machine: &Machine, identity: &Identity, devices: usize) -> Value {
    let devices: Vec<Value> = (0..devices)
        .map(|device| describe_device(machine, identity, device))
        .collect();
    json!({
        "profile": identity.profile,
        "memory": memory_kind(&identity.profile),
        "soc_name": identity.soc,
        "mode": identity.mode,
        "devices": devices,
    })
}

fn memory_kind(profile: &str) -> Option<&'static str> {
    match profile::find(profile)?.0.memory {
        MemoryKind::Hbm => Some("hbm"),
        MemoryKind::Ddr => Some("ddr"),
        MemoryKind::Unknown => None,
    }
}

fn describe_device(machine: &Machine, identity: &Identity, device: usize) -> Value {
    let mut used = [0u64; POOLS];
    let mut processes = Vec::new();
    for (_, slot) in machine.slots() {
        let Some((owner, seen)) = slot.inhabitant() else {
            continue;
        };
        if slot.opened().load(Ordering::SeqCst) >> device & 1 == 0 {
            continue;
        }
        let claims = [0, 1, 2].map(|pool| slot.claim(device, pool).load(Ordering::SeqCst));
        for (sum, claim) in used.iter_mut().zip(claims) {
            *sum += claim;
        }
        let pid = Slot::pid(owner);
        let quota = slot.quota().load(Ordering::Relaxed);
        processes.push(json!({
            "pid": pid,
            "name": process::name(pid).unwrap_or_default(),
            "command": process::command(pid),
            "used_bytes": claims.iter().sum::<u64>(),
            "normal_bytes": claims[0],
            "huge_bytes": claims[1] + claims[2],
            "quota_bytes": (quota > 0).then_some(quota),
            "stopped": seen.stopped,
        }));
    }
    let bytes = |process: &Value| process["used_bytes"].as_u64();
    processes.sort_by_key(|process| std::cmp::Reverse(bytes(process)));
    let [normal, huge, giant] = identity.capacity;
    let (total, in_use) = (normal + huge + giant, used.iter().sum::<u64>());
    json!({
        "device": device,
        "total_bytes": total,
        "used_bytes": in_use,
        "free_bytes": total.saturating_sub(in_use),
        "normal": {"total_bytes": normal, "used_bytes": used[0]},
        "huge": {"total_bytes": huge + giant, "used_bytes": used[1] + used[2]},
        "processes": processes,
    })
}
