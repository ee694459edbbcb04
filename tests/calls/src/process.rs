//! This program, started again.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Variable that names the prefix.
const PREFIX: &str = "CANNERY_PREFIX";

/// Where the libraries are.
pub fn prefix() -> PathBuf {
    let chosen = std::env::var_os(PREFIX).map(PathBuf::from);
    chosen.unwrap_or_else(|| {
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
        target.unwrap_or(root).join("prefix")
    })
}

/// This program again with the same prefix, and none of the caller's settings: they would make another machine.
///
/// # Errors
/// When the system does not say where the program is.
pub fn again() -> std::io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CANNERY_")) {
        command.env_remove(name);
    }
    command.env(PREFIX, prefix());
    Ok(command)
}

/// Waits for a child, which is killed when it runs for longer than `limit` (`None`). What it wrote on its error
/// stream is to be had when all of its own children have ended, too.
pub fn watch(mut child: Child, limit: Duration) -> (Option<ExitStatus>, JoinHandle<String>) {
    let pipe = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read until then is enough.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let begin = Instant::now();
    let mut pause = Duration::from_millis(1);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if begin.elapsed() < limit => std::thread::sleep(pause),
            _ => break None,
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    if status.is_none() {
        // It may have ended by itself meanwhile.
        let _ = child.kill();
        let _ = child.wait();
    }
    (status, reader)
}
