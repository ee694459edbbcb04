//! Starts the plots one after the other and says what became of them.

use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use crate::process;

/// A plot that runs for so long hangs.
const LIMIT: Duration = Duration::from_secs(60);

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
    let mut command = process::again().map_err(|error| error.to_string())?;
    if plot == crate::FABRIC {
        command.env("CANNERY_PROFILE", "A3");
    }
    let child = command
        .args(["--play", plot])
        .env("CANNERY_RUNTIME_DIR", &directory)
        .env("CANNERY_DEVICES", "2")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start: {error}"))?;
    let pid = child.id().cast_signed();
    let (status, reader) = process::watch(child, LIMIT);
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
