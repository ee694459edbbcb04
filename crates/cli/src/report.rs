//! The library's report on the device that an environment asks for.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::arguments::SettingOptions;
use crate::environment;
use crate::error::Error;
use crate::prefix::Prefix;
use crate::size;

/// What the library says, as JSON. Every key is optional: a fact that the
/// library does not tell is shown as unknown, never made up.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    value: Value,
}

/// Everything a subcommand needs: the prefix, the variables, and the report.
pub(crate) struct Inquiry {
    pub(crate) prefix: Prefix,
    pub(crate) variables: Vec<(String, OsString)>,
    pub(crate) report: Report,
}

impl Inquiry {
    /// Makes the environment for `settings` and has the library judge it.
    ///
    /// # Errors
    ///
    /// No prefix, or the library refuses a setting (with the library's text).
    pub(crate) fn new(settings: &SettingOptions) -> Result<Self, Error> {
        let prefix = Prefix::of_this_tool()?;
        let variables = environment::variables(&prefix, settings);
        let mut report = ask(&variables, "__report")?;
        report.name_options(settings);
        Ok(Self {
            prefix,
            variables,
            report,
        })
    }
}

/// Has the library describe the cards and the processes on them.
///
/// # Errors
///
/// No prefix, or the library refuses a setting (with the library's text).
pub(crate) fn cards(settings: &SettingOptions) -> Result<Value, Error> {
    let prefix = Prefix::of_this_tool()?;
    Ok(ask(&environment::variables(&prefix, settings), "__cards")?.value)
}

/// Has a process of its own walk through the library: `failed` names the call that failed, if any.
///
/// # Errors
///
/// No prefix, or the process ended without an answer (a signal, for instance).
pub(crate) fn walk(settings: &SettingOptions) -> Result<Value, Error> {
    let prefix = Prefix::of_this_tool()?;
    Ok(ask(&environment::variables(&prefix, settings), "__walk")?.value)
}

/// Runs this tool once more, as the process that loads the library.
fn ask(variables: &[(String, OsString)], question: &str) -> Result<Report, Error> {
    let tool =
        env::current_exe().map_err(|cause| Error::io("cannot find my own executable", &cause))?;
    let output = Command::new(&tool)
        .arg(question)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .output()
        .map_err(|cause| Error::io(format!("cannot run {}", tool.display()), &cause))?;
    if !output.status.success() {
        let refusal = String::from_utf8_lossy(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        let text = [refusal.trim(), said.trim()]
            .into_iter()
            .find(|text| !text.is_empty())
            .unwrap_or_default();
        return Err(Error::refusal(match (output.status.signal(), text) {
            (Some(signal), text) => {
                format!("the library stopped with signal {signal} while it answered: {text}")
            }
            (None, "") => format!("the library failed without a text ({})", output.status),
            (None, text) => text.to_owned(),
        }));
    }
    Report::parse(&output.stdout)
}

impl Report {
    /// Reads the JSON text of the library.
    fn parse(text: &[u8]) -> Result<Self, Error> {
        match serde_json::from_slice(text) {
            Ok(value @ Value::Object(_)) => Ok(Self { value }),
            Ok(_) => Err(Error::refusal("the library's report is not a JSON object")),
            Err(cause) => Err(Error::refusal(format!(
                "the library's report is no JSON: {cause}"
            ))),
        }
    }

    /// The JSON itself.
    pub(crate) fn json(&self) -> &Value {
        &self.value
    }

    /// A text or a number, as text; `None` when missing or null.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        plain(self.value.get(key)?)
    }

    /// A number.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.value.get(key)?.as_u64()
    }

    /// A size in bytes, in the unit a reader wants; `unknown` when missing.
    pub(crate) fn size(&self, key: &str) -> String {
        self.number(key)
            .map_or_else(|| UNKNOWN.to_owned(), size::readable)
    }

    /// The settings: name, value, source.
    pub(crate) fn settings(&self) -> Vec<[String; 3]> {
        let rows = self.value.get("settings").and_then(Value::as_array);
        rows.into_iter()
            .flatten()
            .map(|row| {
                ["name", "value", "source"].map(|key| {
                    row.get(key)
                        .and_then(plain)
                        .unwrap_or_else(|| UNKNOWN.to_owned())
                })
            })
            .collect()
    }

    /// The members of an inner object, as texts.
    pub(crate) fn members(&self, key: &str) -> Vec<(String, String)> {
        let object = self.value.get(key).and_then(Value::as_object);
        object
            .into_iter()
            .flatten()
            .map(|(name, value)| {
                (
                    name.clone(),
                    plain(value).unwrap_or_else(|| UNKNOWN.to_owned()),
                )
            })
            .collect()
    }

    /// One line that tells which device is emulated.
    pub(crate) fn banner(&self) -> String {
        let fact = |key| self.text(key).unwrap_or_else(|| UNKNOWN.to_owned());
        let devices = match self.number("devices") {
            Some(1) => "1 device".to_owned(),
            Some(count) => format!("{count} devices"),
            None => "devices unknown".to_owned(),
        };
        let each = if self.number("devices") == Some(1) {
            ""
        } else {
            " each"
        };
        let visible = match self.value.get("visible_devices").and_then(Value::as_array) {
            Some(list) if Some(list.len() as u64) != self.number("devices") => {
                format!(" ({} visible)", list.len())
            }
            _ => String::new(),
        };
        format!(
            "profile {}, {}, {} mode, {devices}{visible}, {}{each}",
            fact("profile"),
            fact("soc_name"),
            fact("mode").to_uppercase(),
            self.size("capacity_bytes"),
        )
    }

    /// Tells the options of this command line apart from variables of the
    /// caller's environment: the library sees both as variables.
    fn name_options(&mut self, settings: &SettingOptions) {
        let Some(rows) = self.value.get_mut("settings").and_then(Value::as_array_mut) else {
            return;
        };
        for given in settings.given() {
            for row in rows.iter_mut() {
                if row.get("name").and_then(Value::as_str) == Some(given.variable) {
                    row["source"] = Value::from(format!("option {}", given.option));
                }
            }
        }
    }
}

/// What is shown where the library tells nothing.
pub(crate) const UNKNOWN: &str = "unknown";

/// A JSON value without quotes; lists joined by commas.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => Some(items.iter().filter_map(plain).collect::<Vec<_>>().join(",")),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(text: &str) -> Report {
        Report::parse(text.as_bytes()).expect("valid JSON")
    }

    #[test]
    fn the_banner_tells_the_device() {
        let one = report(
            r#"{"profile":"910B","soc_name":"Ascend910B3","mode":"ep","devices":1,
                "visible_devices":[0],"capacity_bytes":68719476736}"#,
        );
        assert_eq!(
            one.banner(),
            "profile 910B, Ascend910B3, EP mode, 1 device, 64 GiB"
        );
        let some = report(
            r#"{"profile":"310P","soc_name":"Ascend310P3","mode":"ep","devices":4,
                "visible_devices":[1,2],"capacity_bytes":24000000000}"#,
        );
        assert_eq!(
            some.banner(),
            "profile 310P, Ascend310P3, EP mode, 4 devices (2 visible), 22.35 GiB each"
        );
    }

    #[test]
    fn missing_facts_are_unknown_not_invented() {
        let bare = report(r#"{"profile":"IPV350","capacity_bytes":null}"#);
        assert_eq!(
            bare.banner(),
            "profile IPV350, unknown, UNKNOWN mode, devices unknown, unknown each"
        );
        assert!(bare.settings().is_empty());
        assert!(bare.members("limits").is_empty());
    }

    #[test]
    fn a_report_that_is_no_object_is_refused() {
        assert!(Report::parse(b"[1]").is_err());
        assert!(Report::parse(b"{").is_err());
    }
}
