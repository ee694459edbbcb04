//! `cannery smi`: the cards and the processes on them, laid out as npu-smi does.
//!
//! Columns that an emulated card has nothing to say about (power, temperature,
//! bus) hold a dash, so that scripts find the others where they expect them.

use std::io::{self, IsTerminal, Write};
use std::thread;

use serde_json::Value;

use crate::arguments::SmiOptions;
use crate::error::Error;
use crate::report;

const MIB: u64 = 1 << 20;
/// Bytes of a huge page.
const HUGE_PAGE: u64 = 2 * MIB;
/// Characters between the outer lines of a table.
const WIDTH: usize = 96;

/// Prints the cards, once or until it is stopped.
///
/// # Errors
///
/// A refused setting, with the library's text.
pub(crate) fn show(options: &SmiOptions) -> Result<(), Error> {
    let mut first = true;
    loop {
        let cards = report::cards(&options.settings)?;
        let mut out = io::stdout().lock();
        if options.watch.is_some() && !options.json {
            if out.is_terminal() {
                // To the upper left corner of an empty screen.
                out.write_all(b"\x1b[H\x1b[2J")?;
            } else if !first {
                out.write_all(b"\n")?;
            }
        }
        match (options.json, options.watch) {
            (true, Some(_)) => writeln!(out, "{cards}")?,
            (true, None) => writeln!(out, "{cards:#}")?,
            (false, _) => out.write_all(as_text(&cards).as_bytes())?,
        }
        out.flush()?;
        drop(out);
        let Some(pause) = options.watch else {
            return Ok(());
        };
        first = false;
        thread::sleep(pause);
    }
}

/// One table for each machine.
fn as_text(cards: &Value) -> String {
    let versions = format!(
        "{:<32} Version: {}",
        concat!("cannery smi ", env!("CARGO_PKG_VERSION")),
        text(cards, "cann_version"),
    );
    let mut tables: Vec<String> = Vec::new();
    for machine in list(cards, "machines") {
        tables.push(table(machine, &versions));
    }
    let mut all = tables.join("\n");
    if let Some(problem) = cards["problem"].as_str() {
        all += &format!("Processes do not share cards: {problem}\n");
    }
    all
}

fn table(machine: &Value, versions: &str) -> String {
    let plain = format!("+{}+\n", "-".repeat(WIDTH));
    let parted = |dash: &str| {
        let [a, b, c] = [27, 15, 52].map(|width| dash.repeat(width));
        format!("+{a}+{b}+{c}+\n")
    };
    let row = |a: &str, b: &str, c: &str| format!("| {a:<26}| {b:<14}| {c:<51}|\n");
    let usage = |first: &str, second: &str, third: &str| format!("{first:<12}{second:<18}{third}");

    let mut text = plain.clone();
    text += &format!(
        "| {:<95}|\n",
        format!("{versions}    {}", whole_name(machine))
    );
    text += &parted("-");
    let hugepages = usage("Power(W)", "Temp(C)", "Hugepages-Usage(page)");
    text += &row("NPU   Name", "Health", &hugepages);
    let memories = usage("AICore(%)", "Memory-Usage(MB)", "HBM-Usage(MB)");
    text += &row("Chip", "Bus-Id", &memories);
    text += &parted("=");
    for device in list(machine, "devices") {
        let id = number(device, "device");
        let pair = |used: u64, total: u64| format!("{used:<5}/ {total}");
        let mib = |key: &str| number(device, key).div_ceil(MIB);
        let huge = &device["huge"];
        let pages = pair(
            number(huge, "used_bytes") / HUGE_PAGE,
            number(huge, "total_bytes") / HUGE_PAGE,
        );
        let memory = pair(mib("used_bytes"), mib("total_bytes"));
        let (ddr, hbm) = if machine["memory"] == "ddr" {
            (memory, pair(0, 0))
        } else {
            (pair(0, 0), memory)
        };
        let name = format!("{id:<6}{}", short_name(machine));
        text += &row(&name, "Emulated", &usage("-", "-", &pages));
        text += &row("0", "-", &usage("-", &ddr, &hbm));
        text += &parted("-");
    }
    let process = |a: &str, b: &str, c: &str, d: &str| row(a, b, &format!("{c:<25}| {d}"));
    text += &process(
        "NPU     Chip",
        "Process id",
        "Process name",
        "Process memory(MB)",
    );
    text += &parted("=");
    for device in list(machine, "devices") {
        let id = number(device, "device");
        let mut any = false;
        for holder in list(device, "processes") {
            any = true;
            let used = number(holder, "used_bytes").div_ceil(MIB);
            let mut name: String = self::text(holder, "name").chars().take(24).collect();
            if holder["stopped"] == true {
                name.truncate(name.char_indices().nth(14).map_or(name.len(), |(at, _)| at));
                name += " (stopped)";
            }
            let pid = number(holder, "pid").to_string();
            let memory = match holder["quota_bytes"].as_u64() {
                Some(quota) => format!("{used} of {}", quota.div_ceil(MIB)),
                None => used.to_string(),
            };
            text += &process(&format!("{id:<8}0"), &pid, &name, &memory);
        }
        if !any {
            let nobody = format!("No running processes found in NPU {id}");
            text += &format!("| {nobody:<95}|\n");
        }
        text += &parted("=");
    }
    text
}

/// "profile 910B, Ascend910B3".
fn whole_name(machine: &Value) -> String {
    let mode = match text(machine, "mode") {
        "rc" => ", RC mode",
        _ => "",
    };
    format!(
        "profile {}, {}{mode}",
        text(machine, "profile"),
        text(machine, "soc_name")
    )
}

/// The name of a chip without the family, as npu-smi shows it.
fn short_name(machine: &Value) -> &str {
    let name = text(machine, "soc_name");
    name.strip_prefix("Ascend").unwrap_or(name)
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or("unknown")
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_line_is_as_wide_and_the_numbers_are_rounded_up() {
        let cards = json!({"cann_version": "8.5.0", "machines": [{
            "profile": "910B", "soc_name": "Ascend910B3", "mode": "ep", "memory": "hbm",
            "devices": [
                {"device": 0, "total_bytes": 64_u64 << 30, "used_bytes": (3 << 20) + 96,
                 "huge": {"total_bytes": 48_u64 << 30, "used_bytes": 2 << 20},
                 "processes": [{"pid": 4_194_304, "name": "a-name-longer-than-the-column-is",
                                "used_bytes": (3 << 20) + 96, "stopped": true,
                                "quota_bytes": 10_u64 << 30}]},
                {"device": 1, "total_bytes": 64_u64 << 30, "used_bytes": 0, "processes": []},
            ],
        }]});
        let text = as_text(&cards);
        for line in text.lines() {
            assert_eq!(line.chars().count(), WIDTH + 2, "{line}");
        }
        for part in [
            "| 0     910B3               |",
            "1    / 24576",
            "4    / 65536",
            "4194304",
            "a-name-longer- (stopped)",
            "4 of 10240",
            "No running processes found in NPU 1",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }
}
