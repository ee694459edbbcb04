//! `cannery info`: the emulated device for people and for programs.

use std::io::{self, Write};

use serde_json::Value;

use crate::arguments::InfoOptions;
use crate::error::Error;
use crate::report::{Inquiry, Report, UNKNOWN};
use crate::size;

/// Prints the report.
///
/// # Errors
///
/// A refused setting, with the library's text.
pub(crate) fn show(options: &InfoOptions) -> Result<(), Error> {
    let inquiry = Inquiry::new(&options.settings)?;
    let text = if options.json {
        as_json(&inquiry)
    } else {
        as_text(&inquiry)
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// The library's JSON, plus the facts that only the tool knows.
fn as_json(inquiry: &Inquiry) -> String {
    let mut value = inquiry.report.json().clone();
    if let Some(object) = value.as_object_mut() {
        object.insert(
            "prefix".to_owned(),
            inquiry.prefix.root().to_string_lossy().into(),
        );
        object.insert("tool_version".to_owned(), env!("CARGO_PKG_VERSION").into());
    }
    format!("{value:#}\n")
}

fn as_text(inquiry: &Inquiry) -> String {
    let report = &inquiry.report;
    let mut text = section("Device", &device_rows(report));
    text += &section("Memory of each device", &memory_rows(report));
    let limits: Vec<_> = report.members("limits");
    text += &section("Limits", &limits);
    text += &section(
        "Versions",
        &[
            ("interface".to_owned(), fact(report, "api_version")),
            ("CANN".to_owned(), fact(report, "cann_version")),
            ("cannery".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            (
                "toolkit".to_owned(),
                inquiry.prefix.root().display().to_string(),
            ),
        ],
    );
    text += &settings_table(&report.settings());
    text
}

fn fact(report: &Report, key: &str) -> String {
    report.text(key).unwrap_or_else(|| UNKNOWN.to_owned())
}

fn device_rows(report: &Report) -> Vec<(String, String)> {
    let mut rows = vec![
        ("profile".to_owned(), fact(report, "profile")),
        ("SoC name".to_owned(), fact(report, "soc_name")),
        ("mode".to_owned(), mode(report)),
        ("devices".to_owned(), fact(report, "devices")),
        (
            "visible devices".to_owned(),
            fact(report, "visible_devices"),
        ),
        ("pinned memory".to_owned(), fact(report, "pin")),
        ("lock limit".to_owned(), lock_limit(report)),
    ];
    if let Some(schedule) = report.text("schedule") {
        rows.push(("schedule".to_owned(), schedule));
    }
    if let Some(window) = report.json().get("window") {
        rows.push(("address window".to_owned(), window_text(window)));
    }
    rows
}

fn mode(report: &Report) -> String {
    match report.text("mode").as_deref() {
        Some("ep") => "ep (a card: host and device memory are separate)".to_owned(),
        Some("rc") => "rc (host and device share memory)".to_owned(),
        other => other.unwrap_or(UNKNOWN).to_owned(),
    }
}

/// The limit on locked memory; null is how the library spells "no limit".
fn lock_limit(report: &Report) -> String {
    match report.json().get("lock_limit_bytes") {
        Some(Value::Null) => "unlimited".to_owned(),
        _ => report.size("lock_limit_bytes"),
    }
}

fn window_text(window: &Value) -> String {
    let number = |key: &str| window.get(key).and_then(Value::as_u64);
    let address = |key: &str| match window.get(key) {
        Some(Value::Number(number)) => number
            .as_u64()
            .map_or_else(|| number.to_string(), |value| format!("{value:#x}")),
        Some(Value::String(text)) => text.clone(),
        _ => UNKNOWN.to_owned(),
    };
    let length = |key: &str| number(key).map_or_else(|| UNKNOWN.to_owned(), size::readable);
    format!(
        "{} at {}, {} a device",
        length("bytes"),
        address("base"),
        length("device_stride_bytes"),
    )
}

fn memory_rows(report: &Report) -> Vec<(String, String)> {
    [
        ("capacity", "capacity_bytes"),
        ("2 MiB pages", "huge_bytes"),
        ("kept for 1 GiB pages", "huge1g_bytes"),
        ("4 KiB pages", "normal_bytes"),
        ("padding of a block", "padding_bytes"),
    ]
    .map(|(label, key)| (label.to_owned(), report.size(key)))
    .to_vec()
}

/// A heading and aligned rows; nothing when there are no rows.
fn section(heading: &str, rows: &[(String, String)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    let mut text = format!("{heading}\n");
    for (label, value) in rows {
        text += &format!("  {label:<width$}  {value}\n");
    }
    text + "\n"
}

fn settings_table(rows: &[[String; 3]]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let (names, values) = (width(0), width(1));
    let mut text = String::from("Settings (name, value, where it comes from)\n");
    for [name, value, source] in rows {
        text += &format!("  {name:<names$}  {value:<values$}  {source}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_align_and_empty_ones_vanish() {
        let rows = [
            ("a".to_owned(), "1".to_owned()),
            ("long".to_owned(), "2".to_owned()),
        ];
        assert_eq!(section("H", &rows), "H\n  a     1\n  long  2\n\n");
        assert_eq!(section("H", &[]), "");
    }

    #[test]
    fn the_window_reads_like_an_address() {
        let window = serde_json::json!({
            "base": 0x1000_0000_0000_u64, "bytes": 16_u64 << 40, "device_stride_bytes": 256_u64 << 30
        });
        assert_eq!(
            window_text(&window),
            "16 TiB at 0x100000000000, 256 GiB a device"
        );
    }
}
