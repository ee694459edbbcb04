//! `cannery smi`: the cards and the processes on them. What processes do to the
//! numbers is tested in `tests/python/test_card.py`.

mod common;

use common::{Scratch, assert_refused, cannery, stdout_of};
use serde_json::Value;

#[test]
fn an_unused_machine_is_shown_as_the_settings_make_it() {
    let scratch = Scratch::new("run");
    let mut command = cannery([
        "smi",
        "--json",
        "--devices",
        "2",
        "--profile",
        "310P",
        "--hbm",
        "8G",
    ]);
    command.env("CANNERY_RUNTIME_DIR", scratch.path());
    let cards: Value = serde_json::from_str(&stdout_of(&mut command)).expect("JSON");
    let machines = cards["machines"].as_array().expect("a list");
    assert_eq!(machines.len(), 1);
    assert_eq!(machines[0]["soc_name"], "Ascend310P3");
    assert_eq!(machines[0]["memory"], "ddr");
    let devices = machines[0]["devices"].as_array().expect("a list");
    assert_eq!(devices.len(), 2);
    for device in devices {
        assert_eq!(device["total_bytes"], 8_u64 << 30);
        assert_eq!(device["free_bytes"], 8_u64 << 30);
        assert_eq!(device["processes"], Value::Array(Vec::new()));
    }
    let left = std::fs::read_dir(scratch.path()).expect("the directory");
    assert_eq!(left.count(), 0, "to look leaves nothing behind");
}

#[test]
fn the_memory_stands_in_the_column_of_its_kind() {
    let scratch = Scratch::new("run");
    let line = |profile| {
        let mut command = cannery(["smi", "--profile", profile, "--hbm", "8G"]);
        command.env("CANNERY_RUNTIME_DIR", scratch.path());
        let text = stdout_of(&mut command);
        let line = text.lines().find(|line| line.starts_with("| 0      "));
        line.unwrap_or_else(|| panic!("a second row in\n{text}"))
            .to_owned()
    };
    let (hbm, ddr) = (line("910B"), line("310P"));
    assert!(hbm.contains("0    / 0          0    / 8192"), "{hbm}");
    assert!(ddr.contains("0    / 8192       0    / 0"), "{ddr}");
}

#[test]
fn bad_settings_and_pauses_are_refused() {
    assert_refused(
        &mut cannery(["smi", "--quota", "some"]),
        2,
        &["CANNERY_QUOTA", "some"],
    );
    assert_refused(&mut cannery(["smi", "--watch", "0"]), 2, &["above 0"]);
}

#[test]
fn a_watcher_whose_reader_goes_ends_well() {
    let scratch = Scratch::new("run");
    let line = "$CANNERY smi --watch 0.01 | head -n 30";
    let mut command = common::script("bash", &format!("set -o pipefail; {line}"));
    command.env("CANNERY_RUNTIME_DIR", scratch.path());
    assert_eq!(stdout_of(&mut command).lines().count(), 30);
}
