//! What the runtime says on standard error, by level (`CANNERY_LOG`). One line each, in the language of
//! the error texts. Lines of the trace (tasks, copies) are for programs that compare them, and the
//! application's own lines are its own: both are left as they are.

use std::fmt::Arguments;
use std::io::Write as _;
use std::sync::atomic::{AtomicU8, Ordering};

use cannery_knowledge::{Language, in_chinese};
use cannery_observe::Event;

use crate::error::language::language;
use crate::os::file_limits;
use crate::settings::Log;

static LEVEL: AtomicU8 = AtomicU8::new(Log::Warn as u8);

/// Sets the level; events are followed from `debug` on.
pub(crate) fn set_level(level: Log) {
    LEVEL.store(level as u8, Ordering::Relaxed);
    if level >= Log::Debug {
        cannery_observe::install(follow);
    } else {
        cannery_observe::uninstall();
    }
}

/// A line as it is.
fn say(level: Log, text: Arguments<'_>) {
    if LEVEL.load(Ordering::Relaxed) >= level as u8 {
        // One write, so that lines of several threads do not mix. Nobody to tell when it fails.
        let line = format!("cannery: {text}\n");
        let _ = file_limits::without_signal(|| std::io::stderr().write_all(line.as_bytes()));
    }
}

/// A line for people, in their language.
fn tell(level: Log, text: Arguments<'_>) {
    if LEVEL.load(Ordering::Relaxed) < level as u8 {
        return;
    }
    match (language(), level) {
        (Language::English, Log::Error) => say(level, format_args!("error: {text}")),
        (Language::English, Log::Warn) => say(level, format_args!("warning: {text}")),
        (Language::English, _) => say(level, text),
        (Language::Chinese, _) => {
            let text = in_chinese(&text.to_string());
            match level {
                Log::Error => say(level, format_args!("错误：{text}")),
                Log::Warn => say(level, format_args!("警告：{text}")),
                _ => say(level, format_args!("{text}")),
            }
        }
    }
}

/// The set-up is wrong.
pub(crate) fn error(text: Arguments<'_>) {
    tell(Log::Error, text);
}

/// It works, but not as asked.
pub(crate) fn warn(text: Arguments<'_>) {
    tell(Log::Warn, text);
}

/// What was chosen.
pub(crate) fn info(text: Arguments<'_>) {
    tell(Log::Info, text);
}

fn follow(event: &Event) {
    match event {
        Event::Alloc {
            address,
            requested,
            charged,
            family,
            pages,
            device,
        } => tell(
            Log::Debug,
            format_args!(
                "{} {address:#x}: {requested} bytes, charged {charged} in {} pages, device {device}",
                family.made_by(),
                pages.name()
            ),
        ),
        Event::Free { address, family } => {
            tell(
                Log::Debug,
                format_args!("{} {address:#x}", family.freed_by()),
            );
        }
        Event::Copy { to, from, bytes } => {
            say(
                Log::Trace,
                format_args!("copy {to:#x} <- {from:#x}: {bytes} bytes"),
            );
        }
        Event::Fill { to, bytes } => {
            say(Log::Trace, format_args!("fill {to:#x}: {bytes} bytes"));
        }
        Event::Refused { api, code } => {
            let name = crate::error::code_name(*code);
            match language() {
                Language::English => say(Log::Debug, format_args!("{api} refused: {name}")),
                Language::Chinese => say(Log::Debug, format_args!("{api} 被拒绝：{name}")),
            }
        }
    }
}

/// aclAppLog: a line of the application. With ASCEND_LOG_PRINT_TO_STDOUT=1 (or its old name) it goes to
/// standard output when ASCEND_GLOBAL_LOG_LEVEL lets it pass, else to standard error by `CANNERY_LOG`;
/// log files are not written.
pub fn app_log(level: i32, function: &str, file: &str, line: u32, text: &str) {
    let (name, log) = match level {
        0 => ("DEBUG", Log::Debug),
        1 => ("INFO", Log::Info),
        2 => ("WARNING", Log::Warn),
        _ => ("ERROR", Log::Error),
    };
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let print =
        variable("ASCEND_LOG_PRINT_TO_STDOUT").or_else(|| variable("ASCEND_SLOG_PRINT_TO_STDOUT"));
    if print.as_deref() == Some("1") {
        let least = variable("ASCEND_GLOBAL_LOG_LEVEL")
            .and_then(|value| value.parse().ok())
            .unwrap_or(3);
        if level >= least {
            let line = format!("[{name}] APP {file}:{line} {function}: {text}\n");
            let _ = file_limits::without_signal(|| std::io::stdout().write_all(line.as_bytes()));
        }
        return;
    }
    say(
        log,
        format_args!("[{name}] APP {file}:{line} {function}: {text}"),
    );
}

/// A queued task begins: the trace by which schedules are compared.
#[inline]
pub(crate) fn trace_task(stream: u32, name: &str) {
    if LEVEL.load(Ordering::Relaxed) >= Log::Trace as u8 {
        say(Log::Trace, format_args!("stream {stream}: {name}"));
    }
}
