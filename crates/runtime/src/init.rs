//! Manual chapter: initialisation and de-initialisation.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cannery_abi as abi;

use crate::callbacks;
use crate::error::{Error, Fault, Result};
use crate::process::{self, Runtime};

/// Braces and brackets may be nested so deep.
const NESTING: usize = 10;

/// Initialisation of one runtime.
#[derive(Default)]
pub(crate) struct Init {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Calls of aclInit not undone yet; 0: not initialised.
    count: u64,
    /// Hash of the first configuration that was taken, for the life of the process.
    first: Option<u64>,
    /// The process whose thread calls the callbacks of a first initialisation now; 0: none does.
    beginning: u32,
}

thread_local! {
    /// Whether this thread is in those callbacks.
    static BEGINS: Cell<bool> = const { Cell::new(false) };
}

/// What an init file says.
#[derive(Default)]
struct Config {
    text: String,
    process_texts: bool,
    default_device: Option<i32>,
    settings: BTreeMap<String, String>,
}

impl Init {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// aclInit. `path` is `None` for NULL.
///
/// # Errors
/// [`Fault::RepeatInit`] when initialised already (the call counts), and whatever is wrong with
/// the file or the settings.
pub fn init(path: Option<&Path>) -> Result<()> {
    if let Some(runtime) = process::running() {
        let mut state = runtime.init.state();
        if state.count > 0 {
            state.count += 1;
            return Err(Fault::RepeatInit.into());
        }
    }
    let config = match path {
        Some(path) => read(path)?,
        None => Config::default(),
    };
    let runtime = match process::running() {
        Some(runtime) => {
            check_late_settings(runtime, &config, path)?;
            runtime
        }
        None => process::start(&config.settings)?,
    };
    let mut state = runtime.init.state();
    // One initialises, the others wait for what becomes of it. A forked child does not wait for a thread that
    // stayed with the parent.
    while state.beginning == std::process::id() && state.count == 0 {
        if BEGINS.get() {
            return Err(Fault::RepeatInit.into());
        }
        drop(state);
        std::thread::sleep(Duration::from_micros(50));
        state = runtime.init.state();
    }
    if state.count > 0 {
        state.count += 1;
        return Err(Fault::RepeatInit.into());
    }
    let hash = hash_of(&config.text);
    if state.first.is_some_and(|first| first != hash) {
        return Err(file_fault(
            abi::ACL_ERROR_INVALID_PARAM,
            "EH0004",
            path,
            "its content differs from that of the first aclInit of this process; use the same content",
        ));
    }
    if let Some(device) = config.default_device
        && usize::try_from(device).is_ok_and(|device| device >= runtime.devices.len())
    {
        return Err(Error::cause(
            "default_device",
            device,
            format!(
                "devices 0 to {} exist",
                runtime.devices.len().saturating_sub(1)
            ),
        ));
    }
    // The callbacks may call the runtime, but not aclInit: the state is not held meanwhile.
    state.beginning = std::process::id();
    drop(state);
    BEGINS.set(true);
    let answers = callbacks::run_init(&config.text);
    BEGINS.set(false);
    state = runtime.init.state();
    state.beginning = 0;
    answers?;
    state.count += 1;
    state.first = Some(hash);
    crate::error::set_process_mode(config.process_texts);
    runtime.default_device.store(
        config.default_device.unwrap_or(-1),
        std::sync::atomic::Ordering::Release,
    );
    Ok(())
}

/// aclFinalize: whatever the count is.
///
/// # Errors
/// [`Fault::RepeatFinalize`], or the code of a callback that refused.
pub fn finalize() -> Result<()> {
    let runtime = initialised()?;
    if runtime.init.state().count == 0 {
        return Err(Fault::RepeatFinalize.into());
    }
    callbacks::run_finalize()?;
    runtime.init.state().count = 0;
    finalised(runtime);
    Ok(())
}

/// aclFinalizeReference: drops one reference; the last one finalises. `left` gets what remains.
///
/// # Errors
/// As [`finalize`].
pub fn finalize_reference(left: Option<&mut u64>) -> Result<()> {
    let mut nowhere = 0;
    let left = left.unwrap_or(&mut nowhere);
    let runtime = initialised().inspect_err(|_| *left = 0)?;
    let count = runtime.init.state().count;
    match count {
        0 => {
            *left = 0;
            return Err(Fault::RepeatFinalize.into());
        }
        1 => {
            callbacks::run_finalize()?;
            runtime.init.state().count = 0;
            finalised(runtime);
        }
        _ => runtime.init.state().count = count - 1,
    }
    *left = count - 1;
    Ok(())
}

fn initialised() -> Result<&'static Runtime> {
    if process::is_forked() {
        return Err(Fault::Forked.into());
    }
    process::running().ok_or_else(|| Fault::RepeatFinalize.into())
}

/// Nothing is released, only what leaked is logged.
fn finalised(runtime: &Runtime) {
    runtime
        .default_device
        .store(-1, std::sync::atomic::Ordering::Release);
    for device in &runtime.devices {
        let Some(store) = device.store() else {
            continue;
        };
        let live = store.counters().live();
        if live.blocks > 0 {
            crate::log::info(format_args!(
                "finalised with {} block(s), {} bytes of device {} not released",
                live.blocks,
                live.bytes,
                device.index()
            ));
        }
    }
    let registered = runtime.registered.totals();
    if registered.ranges > 0 {
        crate::log::info(format_args!(
            "finalised with {} range(s), {} bytes of host memory registered",
            registered.ranges, registered.bytes
        ));
    }
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

fn file_fault(code: i32, message: &'static str, path: Option<&Path>, cause: &str) -> Error {
    let path = path.map_or_else(|| "(none)".to_owned(), |path| path.display().to_string());
    Fault::File {
        code,
        message,
        path,
        cause: cause.to_owned(),
    }
    .into()
}

fn read(path: &Path) -> Result<Config> {
    let bad = |code, message, cause: &str| file_fault(code, message, Some(path), cause);
    let bytes = std::fs::read(path).map_err(|error| {
        bad(
            abi::ACL_ERROR_INVALID_FILE,
            "EH0003",
            &format!("{error}; check the path"),
        )
    })?;
    let text = String::from_utf8(bytes).map_err(|_| {
        bad(
            abi::ACL_ERROR_PARSE_FILE,
            "EH0004",
            "not UTF-8 text; write a JSON object",
        )
    })?;
    if let Some(cause) = too_deep(&text) {
        return Err(bad(abi::ACL_ERROR_PARSE_FILE, "EH0004", &cause));
    }
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| {
        bad(
            abi::ACL_ERROR_PARSE_FILE,
            "EH0004",
            &format!("no valid JSON: {error}"),
        )
    })?;
    let Some(object) = value.as_object() else {
        return Err(bad(
            abi::ACL_ERROR_PARSE_FILE,
            "EH0004",
            "must hold a JSON object, at least {}",
        ));
    };
    let mut config = Config {
        text,
        ..Config::default()
    };
    match object.get("err_msg_mode").map(plain_text) {
        None => {}
        Some(mode) if mode == "0" => {}
        Some(mode) if mode == "1" => config.process_texts = true,
        Some(mode) => {
            let cause = "\"0\" (texts of the thread) and \"1\" (of the process) are legal";
            return Err(Error::cause("err_msg_mode", mode, cause));
        }
    }
    if let Some(device) = object
        .get("defaultDevice")
        .and_then(|part| part.get("default_device"))
    {
        let device = plain_text(device);
        let id = device.parse::<i32>().ok().filter(|id| *id >= 0);
        config.default_device = Some(id.ok_or_else(|| {
            Error::cause(
                "default_device",
                &device,
                "must be a device id, such as \"0\"",
            )
        })?);
    }
    if let Some(section) = object.get("cannery") {
        let Some(section) = section.as_object() else {
            return Err(bad(
                abi::ACL_ERROR_PARSE_FILE,
                "EH0004",
                "section \"cannery\" must be an object of settings",
            ));
        };
        config.settings = section
            .iter()
            .map(|(key, value)| (key.clone(), plain_text(value)))
            .collect();
    }
    Ok(config)
}

fn plain_text(value: &serde_json::Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Counts nesting outside of strings.
fn too_deep(text: &str) -> Option<String> {
    let (mut braces, mut brackets, mut quoted, mut escaped) = (0usize, 0usize, false, false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            '[' => brackets += 1,
            ']' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        if braces > NESTING || brackets > NESTING {
            return Some(format!("nested deeper than {NESTING} levels"));
        }
    }
    None
}

/// The runtime runs already: settings of the file can only confirm what is in force.
fn check_late_settings(runtime: &Runtime, config: &Config, path: Option<&Path>) -> Result<()> {
    if config.settings.is_empty() {
        return Ok(());
    }
    let wanted = crate::settings::Settings::load(&config.settings).map_err(Fault::Setting)?;
    let values = |settings: &crate::settings::Settings| {
        settings
            .used
            .iter()
            .map(|used| (used.name, used.value.clone()))
            .collect::<Vec<_>>()
    };
    if values(&wanted) == values(&runtime.settings) {
        return Ok(());
    }
    Err(file_fault(
        abi::ACL_ERROR_INVALID_PARAM,
        "EH0004",
        path,
        "its section \"cannery\" comes too late: the runtime has started with other settings; call \
         aclInit before any other function, or use the environment",
    ))
}

/// aclInitCallbackRegister.
///
/// # Errors
/// No function; a second one of a type that takes only one: 500000. When the runtime is initialised
/// already the function runs at once and its code counts.
pub fn register_init_callback(
    kind: i32,
    function: abi::aclInitCallbackFunc,
    user_data: *mut c_void,
) -> Result<()> {
    let Some(function) = function else {
        return Err(Error::null("cbFunc"));
    };
    callbacks::register_init(kind, function, user_data)?;
    let initialised = process::running().is_some_and(|runtime| runtime.init.state().count > 0);
    if initialised {
        callbacks::run_one_init(function, user_data, "")
    } else {
        Ok(())
    }
}
