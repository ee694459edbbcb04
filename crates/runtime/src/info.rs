//! What was chosen and what was done, as JSON: the answers of `cannery_info`,
//! `cannery_cards` and `cannery_stats`.

use cannery_observe::{Counters, Family};
use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::memory::host;
use crate::memory::store::Store;
use crate::process::current;
use crate::settings::{API_VERSION, CANN_VERSION};

/// The emulated machine and its settings.
///
/// # Errors
/// Bad settings.
pub fn machine() -> Result<String> {
    let runtime = current()?;
    let settings = &runtime.settings;
    let memory = runtime.window.memory();
    let window = &runtime.window;
    let (pin, lock_limit, _) = host::pin_report(runtime);
    let (major, minor, patch) = API_VERSION;
    let bytes = |bytes: u64| {
        if memory.known {
            json!(bytes)
        } else {
            Value::Null
        }
    };
    let used: Vec<Value> = settings
        .used
        .iter()
        .map(|used| json!({"name": used.name, "value": used.value, "source": used.source.name()}))
        .collect();
    let physical: Vec<u32> = runtime
        .devices
        .iter()
        .map(|device| device.physical())
        .collect();
    let value = json!({
        "profile": settings.profile.name,
        "soc_name": settings.soc.name,
        "mode": settings.mode.name(),
        "devices": settings.devices,
        "visible_devices": physical,
        "capacity_bytes": bytes(memory.capacity),
        "huge_bytes": bytes(memory.huge),
        "normal_bytes": bytes(memory.normal),
        "huge1g_bytes": bytes(memory.giant),
        "quota_bytes": settings.quota,
        "padding_bytes": settings.profile.malloc_padding,
        "pin": pin.name(),
        "lock_limit_bytes": lock_limit,
        "schedule": settings.schedule.to_string(),
        "api_version": format!("{major}.{minor}.{patch}"),
        "cann_version": CANN_VERSION,
        "window": {
            "base": format!("{:#x}", window.base()),
            "bytes": window.bytes(),
            "device_stride_bytes": window.stride(),
            "distance": format!("{:#x}", window.distance()),
        },
        "limits": {
            "media_bytes": settings.limits.media.unwrap_or(settings.profile.media_limit),
            "registration_bytes": settings.limits.registration,
            "page_table_entries": settings.limits.page_table_entries,
            "streams": settings.profile.streams,
            "events": settings.profile.events,
            "notifies": settings.profile.notifies,
        },
        "settings": used,
    });
    Ok(value.to_string())
}

/// The cards of this user and the processes on them.
///
/// # Errors
/// Bad settings.
pub fn cards() -> Result<String> {
    crate::memory::card::overview::overview()
}

/// Counters of this process.
///
/// # Errors
/// Bad settings.
pub fn statistics() -> Result<String> {
    let runtime = current()?;
    let mut all = Counters::default();
    let (mut failed, mut recovered) = (0, 0);
    let mut devices = Vec::new();
    for device in &runtime.devices {
        let Some(store) = device.store() else {
            continue;
        };
        let counters = store.counters();
        let (refused, cured) = store.failures();
        (failed, recovered) = (failed + refused, recovered + cured);
        all.add(&counters);
        let usage = store.usage();
        let mut row = describe(&counters);
        row.insert("device".into(), json!(device.index()));
        row.insert("normal_free_bytes".into(), json!(usage.normal_free));
        row.insert(
            "huge_free_bytes".into(),
            json!(usage.huge_free + usage.giant_free),
        );
        devices.push(Value::Object(row));
    }
    let mut host_row = Value::Null;
    if let Some(host) = runtime.host.get() {
        let store: &Store = host.store();
        let counters = store.counters();
        failed += store.failures().0;
        all.add(&counters);
        let (_, _, pinned) = host::pin_report(runtime);
        let mut row = describe(&counters);
        row.insert("locked_bytes".into(), json!(pinned.locked));
        row.insert("unlocked_bytes".into(), json!(pinned.unlocked));
        host_row = Value::Object(row);
    }
    let mut value = describe(&all);
    value.insert("failed_allocations".into(), json!(failed));
    value.insert("recovered_allocations".into(), json!(recovered));
    value.insert("devices".into(), Value::Array(devices));
    value.insert("host".into(), host_row);
    let registered = runtime.registered.totals();
    value.insert(
        "registered".into(),
        json!({
            "ranges": registered.ranges,
            "bytes": registered.bytes,
            "locked_bytes": registered.locked,
        }),
    );
    let managed = runtime.managed.totals(runtime.devices.len());
    let counters = managed.counters;
    value.insert(
        "managed".into(),
        json!({
            "blocks": managed.blocks,
            "bytes": managed.bytes,
            "device_bytes": managed.device_bytes,
            "first_touched_by_host_pages": counters.first_touched_by_host,
            "first_touched_by_device_pages": counters.first_touched_by_device,
            "moved_to_device_pages": counters.moved_to_device,
            "moved_to_host_pages": counters.moved_to_host,
            "duplicated_pages": counters.duplicated,
            "not_moved_pages": counters.refused,
        }),
    );
    Ok(Value::Object(value).to_string())
}

fn describe(counters: &Counters) -> Map<String, Value> {
    let live = counters.live();
    let families: Map<String, Value> = Family::ALL
        .iter()
        .zip(&counters.families)
        .filter(|(_, tally)| tally.blocks != 0)
        .map(|(family, tally)| {
            (
                family.made_by().to_owned(),
                json!({"blocks": tally.blocks, "bytes": tally.bytes}),
            )
        })
        .collect();
    let mut row = Map::new();
    row.insert("allocations".into(), json!(counters.allocations));
    row.insert("frees".into(), json!(counters.frees));
    row.insert("live_blocks".into(), json!(live.blocks));
    row.insert("live_bytes".into(), json!(live.bytes));
    row.insert("peak_bytes".into(), json!(counters.peak_bytes));
    row.insert("families".into(), Value::Object(families));
    row
}
