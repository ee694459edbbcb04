//! From names and values to [`Settings`].

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::profile::{self, Profile, Soc, parse_size};
use super::{Limits, Log, Mode, Pin};
use crate::os::tool;
use crate::stream::engine::Schedule;
use crate::stream::timing::Bandwidths;

/// Where a value came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Not set anywhere.
    Default,
    /// Section "cannery" of the init file.
    File,
    /// Environment variable.
    Environment,
}

impl Source {
    /// Name for output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Source::Default => "default",
            Source::File => "init file",
            Source::Environment => "environment",
        }
    }
}

/// A setting as it is in force.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Used {
    /// Variable name.
    pub name: &'static str,
    /// Value in the form that the variable takes.
    pub value: String,
    /// Where it came from.
    pub source: Source,
}

/// A value that was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadSetting {
    /// Variable name.
    pub name: String,
    /// The value.
    pub value: String,
    /// Why, and what would be right.
    pub why: String,
}

impl fmt::Display for BadSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}: {}", self.name, self.value, self.why)
    }
}

/// Everything that can be set, checked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Number of devices, 1 to 16.
    pub devices: u32,
    /// Product.
    pub profile: &'static Profile,
    /// Chip.
    pub soc: &'static Soc,
    /// EP or RC.
    pub mode: Mode,
    /// Memory of a device in bytes; `None` where no source says and nothing was set.
    pub capacity: Option<u64>,
    /// Part of it in 2 MiB pages.
    pub huge: Option<u64>,
    /// Part of the huge pages that only 1 GiB pages may use.
    pub giant: u64,
    /// Bytes that this process may charge on a device.
    pub quota: Option<u64>,
    /// Base of the device window set by hand.
    pub window: Option<u64>,
    /// How host memory is pinned.
    pub pin: Pin,
    /// Lowered limits.
    pub limits: Limits,
    /// Log level.
    pub log: Log,
    /// Where processes meet; `None`: a directory of the user.
    pub directory: Option<PathBuf>,
    /// When queued work runs.
    pub schedule: Schedule,
    /// Cost model of queued copies.
    pub(crate) timing: Option<Bandwidths>,
    /// The whole list, for `info`.
    pub used: Vec<Used>,
}

/// Memory of each device under Valgrind, unless a setting says otherwise.
const VALGRIND_HBM: u64 = 1 << 30;

const DEVICES: &str = "CANNERY_DEVICES";
const PROFILE: &str = "CANNERY_PROFILE";
const MODE: &str = "CANNERY_MODE";
const HBM: &str = "CANNERY_HBM_BYTES";
const HUGE: &str = "CANNERY_HUGE_BYTES";
const GIANT: &str = "CANNERY_HUGE1G_BYTES";
const WINDOW: &str = "CANNERY_WINDOW";
const PIN: &str = "CANNERY_PIN";
const QUOTA: &str = "CANNERY_QUOTA";
const LIMITS: &str = "CANNERY_LIMITS";
const API: &str = "CANNERY_API_VERSION";
const LOG: &str = "CANNERY_LOG";
const TIMING: &str = "CANNERY_TIMING";
const SCHEDULE: &str = "CANNERY_SCHEDULE";
const DIR: &str = "CANNERY_RUNTIME_DIR";

/// Every name that does something.
const KNOWN: [&str; 15] = [
    DEVICES, PROFILE, MODE, HBM, HUGE, GIANT, QUOTA, WINDOW, PIN, LIMITS, API, LOG, DIR, SCHEDULE,
    TIMING,
];

/// Names of parts that do not exist yet, with the one value that is true already.
const LATER: [(&str, &str); 6] = [
    ("CANNERY_COHERENCE", "system"),
    ("CANNERY_CHECK", "off"),
    ("CANNERY_FAULTS", ""),
    ("CANNERY_TRACE", ""),
    ("CANNERY_VENDOR", ""),
    ("CANNERY_POOL", "off"),
];

/// Names that belong to the tools around the library.
const FOREIGN: [&str; 4] = [
    "CANNERY_PREFIX",
    "CANNERY_LANG",
    "CANNERY_HOME",
    "CANNERY_PYTHON_HOOKS",
];

const TIB: u64 = 1 << 40;

impl Settings {
    /// Reads the environment and `file`, the section of the init file (empty when there is none;
    /// keys as in the environment, or in small letters without the prefix).
    ///
    /// # Errors
    /// The first value that is refused.
    pub fn load(file: &BTreeMap<String, String>) -> Result<Settings, BadSetting> {
        let environment = std::env::vars_os().filter_map(|(key, value)| {
            let key = key.into_string().ok()?;
            let value = value.to_string_lossy().into_owned();
            key.starts_with("CANNERY_").then_some((key, value))
        });
        Self::from_maps(&environment.collect(), file)
    }

    /// As [`load`](Self::load), with the environment given.
    ///
    /// # Errors
    /// The first value that is refused.
    pub fn from_maps(
        environment: &BTreeMap<String, String>,
        file: &BTreeMap<String, String>,
    ) -> Result<Settings, BadSetting> {
        let mut reader = Reader {
            values: BTreeMap::new(),
            used: Vec::new(),
        };
        for (key, value) in file {
            let name = match key.strip_prefix("CANNERY_") {
                Some(_) => key.clone(),
                None => format!("CANNERY_{}", key.to_ascii_uppercase()),
            };
            reader.take(name, value, Source::File)?;
        }
        for (key, value) in environment {
            reader.take(key.clone(), value, Source::Environment)?;
        }
        reader.settings()
    }
}

struct Reader {
    values: BTreeMap<String, (String, Source)>,
    used: Vec<Used>,
}

impl Reader {
    fn take(&mut self, name: String, value: &str, source: Source) -> Result<(), BadSetting> {
        if value.is_empty() || FOREIGN.contains(&name.as_str()) {
            return Ok(());
        }
        if let Some((_, only)) = LATER.iter().find(|(later, _)| *later == name) {
            if value == *only {
                return Ok(());
            }
            let allowed = if only.is_empty() {
                String::new()
            } else {
                format!(" but {only}")
            };
            return Err(bad(
                &name,
                value,
                &format!("this part is not built yet; unset it (no value{allowed} is accepted)"),
            ));
        }
        if !KNOWN.contains(&name.as_str()) {
            return Err(bad(
                &name,
                value,
                &format!("no such setting; known ones: {}", KNOWN.join(", ")),
            ));
        }
        self.values.insert(name, (value.to_owned(), source));
        Ok(())
    }

    /// Parses one value; `shown` is what `info` prints when it is not set.
    fn get<T>(
        &mut self,
        name: &'static str,
        default: (T, &str),
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, BadSetting> {
        let Some((value, source)) = self.values.get(name) else {
            self.used.push(Used {
                name,
                value: default.1.to_owned(),
                source: Source::Default,
            });
            return Ok(default.0);
        };
        let parsed = parse(value.trim()).map_err(|why| bad(name, value, &why))?;
        self.used.push(Used {
            name,
            value: value.clone(),
            source: *source,
        });
        Ok(parsed)
    }

    fn settings(mut self) -> Result<Settings, BadSetting> {
        let devices = self.get(DEVICES, (1, "1"), |text| {
            let number = text.parse().ok().filter(|n| (1..=16).contains(n));
            number.ok_or_else(|| "must be a whole number from 1 to 16".to_owned())
        })?;
        let standard = profile::find("910B").ok_or_else(|| bad(PROFILE, "910B", "missing"))?;
        let (profile, soc) = self.get(PROFILE, (standard, "910B"), |text| {
            profile::find(text)
                .ok_or_else(|| format!("no such product; choose one of {}", profile::choices()))
        })?;
        let mode = self.get(MODE, (Mode::Ep, "ep"), |text| match text {
            "ep" | "EP" => Ok(Mode::Ep),
            "rc" | "RC" if profile.rc_mode => Ok(Mode::Rc),
            "rc" | "RC" => Err(format!(
                "profile {} has no RC form; 310B and 310P have",
                profile.name
            )),
            _ => Err("choose ep or rc".to_owned()),
        })?;
        // Its leak check reads all memory that there is.
        let default = if tool::is_valgrind() {
            (Some(VALGRIND_HBM), "under Valgrind")
        } else {
            (soc.capacity, "of the chip")
        };
        let capacity = self.get(HBM, default, |text| {
            let bytes = size(text)?;
            if !(1 << 20..=TIB).contains(&bytes) || bytes % 4096 != 0 {
                return Err("must be 1M to 1T and a multiple of 4 KiB".to_owned());
            }
            Ok(Some(bytes))
        })?;
        let huge = self.get(HUGE, (None, "three quarters of the memory"), |text| {
            let bytes = size(text)?;
            match capacity {
                Some(total) if bytes > total => {
                    Err(format!("more than the memory of a device ({total} bytes)"))
                }
                _ if bytes % (2 << 20) != 0 => Err("must be a multiple of 2 MiB".to_owned()),
                _ => Ok(Some(bytes)),
            }
        })?;
        let giant = self.get(GIANT, (0, "0"), |text| {
            let bytes = size(text)?;
            let huge = huge.or(capacity.map(default_huge)).unwrap_or(0);
            if bytes > 0 && !profile.giant_pages {
                return Err(format!("profile {} has no 1 GiB pages", profile.name));
            }
            if bytes > huge || bytes % (1 << 30) != 0 {
                return Err(format!(
                    "must be a multiple of 1 GiB within the huge part ({huge} bytes)"
                ));
            }
            Ok(bytes)
        })?;
        let quota = self.get(QUOTA, (None, "none"), |text| match size(text)? {
            0 => Err("must be above 0; unset it for no quota".to_owned()),
            bytes => Ok(Some(bytes)),
        })?;
        let window = self.get(WINDOW, (None, "chosen by the runtime"), |text| {
            let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
            let base = match hex {
                Some(hex) => u64::from_str_radix(hex, 16).ok(),
                None => size(text).ok(),
            };
            base.filter(|base| base % (1 << 30) == 0 && (1 << 32..1 << 47).contains(base))
                .map(Some)
                .ok_or_else(|| {
                    "must be an address (0x...) between 4 GiB and 128 TiB, a multiple of 1 GiB"
                        .to_owned()
                })
        })?;
        let pin = self.get(PIN, (Pin::Auto, "auto"), |text| match text {
            "auto" => Ok(Pin::Auto),
            "strict" => Ok(Pin::Strict),
            "off" => Ok(Pin::Off),
            _ => Err("choose auto, strict or off".to_owned()),
        })?;
        let limits = self.get(LIMITS, (Limits::default(), "none"), parse_limits)?;
        self.get(API, ((), "1.17"), |text| match text {
            "1.17" | "1.17.0" | "8.5" | "8.5.0" => Ok(()),
            _ => Err("there is data for interface 1.17 (CANN 8.5.0) only; choose 1.17".to_owned()),
        })?;
        let log = self.get(LOG, (Log::Warn, "warn"), |text| match text {
            "off" => Ok(Log::Off),
            "error" => Ok(Log::Error),
            "warn" => Ok(Log::Warn),
            "info" => Ok(Log::Info),
            "debug" => Ok(Log::Debug),
            "trace" => Ok(Log::Trace),
            _ => Err("choose off, error, warn, info, debug or trace".to_owned()),
        })?;
        let directory = self.get(DIR, (None, "of the user"), |text| {
            match text.starts_with('/') {
                true => Ok(Some(PathBuf::from(text))),
                false => Err("must be an absolute path".to_owned()),
            }
        })?;
        let schedule = self.get(SCHEDULE, (Schedule::Fifo, "fifo"), parse_schedule)?;
        let timing = self.get(TIMING, (None, "off"), parse_timing)?;
        let used = self.used;
        Ok(Settings {
            devices,
            profile,
            soc,
            mode,
            capacity,
            huge,
            giant,
            quota,
            window,
            pin,
            limits,
            log,
            directory,
            schedule,
            timing,
            used,
        })
    }
}

/// Three quarters of a device, in whole 2 MiB pages.
pub(crate) fn default_huge(capacity: u64) -> u64 {
    (capacity / 4 * 3) & !((2 << 20) - 1)
}

fn size(text: &str) -> Result<u64, String> {
    parse_size(text).ok_or_else(|| "must be bytes, or a number with K, M, G or T".to_owned())
}

fn parse_schedule(text: &str) -> Result<Schedule, String> {
    match text {
        "fifo" => Ok(Schedule::Fifo),
        "eager" => Ok(Schedule::Eager),
        "lazy" => Ok(Schedule::Lazy),
        _ => text
            .strip_prefix("random:")
            .and_then(|seed| seed.parse().ok())
            .map(Schedule::Random)
            .ok_or_else(|| "choose fifo, eager, lazy or random:SEED (a whole number)".to_owned()),
    }
}

fn parse_timing(text: &str) -> Result<Option<Bandwidths>, String> {
    if text == "off" {
        return Ok(None);
    }
    let known = || {
        let names = profile::PROFILES
            .iter()
            .filter(|profile| profile.bandwidths.is_some());
        names
            .map(|profile| profile.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match profile::find(text) {
        Some((profile, _)) if profile.bandwidths.is_some() => Ok(profile.bandwidths),
        Some((profile, _)) => Err(format!(
            "the bandwidths of profile {} are not known; choose off or {}",
            profile.name,
            known()
        )),
        None => Err(format!("choose off or {}", known())),
    }
}

fn parse_limits(text: &str) -> Result<Limits, String> {
    let mut limits = Limits::default();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once('=').ok_or("must be a list of key=value")?;
        let amount = Some(size(value)?);
        match key.trim() {
            "lock" => limits.lock = amount,
            "media" => limits.media = amount,
            "registration" => limits.registration = amount,
            "page-table-entries" => limits.page_table_entries = amount,
            other => {
                return Err(format!(
                    "no such limit: {other}; choose lock, media, registration or page-table-entries"
                ));
            }
        }
    }
    Ok(limits)
}

fn bad(name: &str, value: &str, why: &str) -> BadSetting {
    BadSetting {
        name: name.to_owned(),
        value: value.to_owned(),
        why: why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(environment: &[(&str, &str)], file: &[(&str, &str)]) -> Result<Settings, BadSetting> {
        let map = |pairs: &[(&str, &str)]| {
            pairs
                .iter()
                .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
                .collect()
        };
        Settings::from_maps(&map(environment), &map(file))
    }

    #[test]
    fn the_environment_wins_over_the_file() {
        let settings = load(&[(DEVICES, "3")], &[("devices", "2"), ("profile", "310P")]);
        let settings = settings.expect("good settings");
        assert_eq!((settings.devices, settings.profile.name), (3, "310P"));
        let source = |name| {
            settings
                .used
                .iter()
                .find(|used| used.name == name)
                .map(|u| u.source)
        };
        assert_eq!(source(DEVICES), Some(Source::Environment));
        assert_eq!(source(PROFILE), Some(Source::File));
        assert_eq!(source(PIN), Some(Source::Default));
    }

    #[test]
    fn bad_values_are_named() {
        for (name, value, part) in [
            (DEVICES, "0", "1 to 16"),
            (DEVICES, "x", "1 to 16"),
            (PROFILE, "H100", "310P"),
            (MODE, "rc", "910B has no RC"),
            (HBM, "12", "1M to 1T"),
            (HUGE, "3", "2 MiB"),
            (HUGE, "1T", "more than"),
            (GIANT, "1M", "multiple of 1 GiB"),
            (PIN, "yes", "strict"),
            (LIMITS, "lock", "key=value"),
            (LIMITS, "foo=1", "page-table-entries"),
            (LIMITS, "registration=much", "bytes"),
            (API, "1.2", "1.17"),
            (LOG, "loud", "debug"),
            ("CANNERY_CHECK", "full", "not built yet"),
            ("CANNERY_HMB_BYTES", "1G", "no such setting"),
        ] {
            let error = load(&[(name, value)], &[]).expect_err(name);
            assert_eq!((error.name.as_str(), error.value.as_str()), (name, value));
            assert!(error.why.contains(part), "{error}");
        }
    }
}
