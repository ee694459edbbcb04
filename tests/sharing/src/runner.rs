//! Starts the plots one after the other and says what became of them.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Variable that names the prefix.
const PREFIX: &str = "CANNERY_PREFIX";
/// A plot that runs for so long hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// Where the library is.
pub(crate) fn prefix() -> PathBuf {
    let chosen = std::env::var_os(PREFIX).map(PathBuf::from);
    chosen.unwrap_or_else(|| {
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
        target.unwrap_or(root).join("prefix")
    })
}

/// Runs the plots and prints what failed.
pub(crate) fn run(plots: &[&str]) -> ExitCode {
    let begin = Instant::now();
    let mut failed = 0;
    for plot in plots {
        if let Err(text) = one(plot) {
            failed += 1;
            println!("FAILED {plot}\n{text}\nagain: cannery-sharing-test {plot}\n");
        }
    }
    println!(
        "{} plots in {:.1} s",
        plots.len(),
        begin.elapsed().as_secs_f32()
    );
    println!("{} passed, {failed} failed", plots.len() - failed);
    ExitCode::from(u8::from(failed > 0 || plots.is_empty()))
}

fn one(plot: &str) -> Result<(), String> {
    let directory = std::env::temp_dir().join(format!("cannery-sharing-{}", std::process::id()));
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    // Settings of the caller's would make another machine.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CANNERY_")) {
        command.env_remove(name);
    }
    if plot == crate::FABRIC {
        command.env("CANNERY_PROFILE", "A3");
    }
    let mut child = command
        .args(["--play", plot])
        .env(PREFIX, prefix())
        .env("CANNERY_RUNTIME_DIR", &directory)
        .env("CANNERY_DEVICES", "2")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start: {error}"))?;
    let pid = child.id().cast_signed();
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
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if begin.elapsed() < LIMIT => std::thread::sleep(Duration::from_millis(5)),
            _ => break None,
        }
    };
    if status.is_none() {
        // It may have ended by itself meanwhile.
        let _ = child.kill();
        let _ = child.wait();
    }
    let names = crate::system::names_of(pid);
    let left: Vec<_> = std::fs::read_dir(&directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    // It may never have been made.
    let _ = std::fs::remove_dir_all(&directory);
    match status {
        Some(status) if status.success() => {}
        Some(status) => {
            let said = reader.join().unwrap_or_default();
            return Err(format!("{status}\n{said}"));
        }
        None => return Err(format!("hangs: still running after {} s", LIMIT.as_secs())),
    }
    if !names.is_empty() || !left.is_empty() {
        return Err(format!("left behind: sockets {names:?}, files {left:?}"));
    }
    Ok(())
}
