//! `cannery info`: what the library says, for people and for programs.

mod common;

use common::{assert_refused, cannery, prefix, stdout_of};
use serde_json::Value;

fn json<const N: usize>(arguments: [&str; N]) -> Value {
    let mut command = cannery(["info", "--json"]);
    let text = stdout_of(command.args(arguments));
    serde_json::from_str(&text).expect("JSON")
}

fn setting<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["settings"]
        .as_array()
        .and_then(|rows| rows.iter().find(|row| row["name"] == name))
        .unwrap_or_else(|| panic!("{name} in {report:#}"))
}

#[test]
fn the_default_device_is_never_silent() {
    let report = json([]);
    assert_eq!(report["profile"], "910B");
    assert_eq!(report["soc_name"], "Ascend910B3");
    assert_eq!(report["mode"], "ep");
    assert_eq!(report["devices"], 1);
    assert_eq!(report["capacity_bytes"], 64_u64 << 30);
    let pools = ["huge_bytes", "normal_bytes"].map(|key| report[key].as_u64().expect("a number"));
    assert_eq!(
        pools[0] + pools[1],
        64 << 30,
        "the pools make up the capacity"
    );
    assert_eq!(report["prefix"], prefix().to_string_lossy().as_ref());
    assert_eq!(report["tool_version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn every_setting_tells_where_it_comes_from() {
    let mut command = cannery(["info", "--json", "--devices", "2"]);
    command.env("CANNERY_HBM_BYTES", "8G");
    let report: Value = serde_json::from_str(&stdout_of(&mut command)).expect("JSON");
    assert_eq!(report["devices"], 2);
    assert_eq!(report["capacity_bytes"], 8_u64 << 30);
    assert_eq!(
        setting(&report, "CANNERY_DEVICES")["source"],
        "option --devices"
    );
    let sources = ["CANNERY_HBM_BYTES", "CANNERY_PROFILE"].map(|name| {
        setting(&report, name)["source"]
            .as_str()
            .expect("a text")
            .to_owned()
    });
    assert!(sources[0].contains("environment"), "{sources:?}");
    assert!(sources[1].contains("default"), "{sources:?}");
}

#[test]
fn the_text_names_the_facts() {
    let text = stdout_of(&mut cannery([
        "info",
        "--profile",
        "310B",
        "--mode",
        "rc",
        "--hbm",
        "4G",
    ]));
    for fact in [
        "310B",
        "rc (host and device share memory)",
        "4 GiB",
        "option --mode",
        "CANNERY_DEVICES",
    ] {
        assert!(text.contains(fact), "{fact} in:\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "no colours");
}

#[test]
fn a_refused_setting_prints_nothing() {
    assert_refused(
        &mut cannery(["info", "--devices", "0"]),
        2,
        &["CANNERY_DEVICES"],
    );
    assert_refused(
        &mut cannery(["info", "--json", "--mode", "x"]),
        2,
        &["CANNERY_MODE"],
    );
    let mut command = cannery(["info"]);
    command.env("CANNERY_PIN", "perhaps");
    assert_refused(&mut command, 2, &["CANNERY_PIN", "perhaps"]);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let line = "$CANNERY info | head -n 1; $CANNERY --help | head -n 1";
    let mut command = common::script("bash", &format!("set -o pipefail; {line}"));
    assert!(!stdout_of(&mut command).is_empty());
}
