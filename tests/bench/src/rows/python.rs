//! Calls from Python next to the same shapes around nothing.

use std::process::Command;

use crate::api;
use crate::bench::Bench;
use crate::rounds::{Effort, Samples};
use crate::row::{Row, Unit};
use crate::scratch::Scratch;

const NAME: &str = "acl.rt.malloc + acl.rt.free, 4 KiB";
const PROGRAM: &str = include_str!("../../python_calls.py");
const NOOP_MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/noop/Cargo.toml");
const NOOP: &str = "no-op pair";

pub(crate) fn run(bench: &mut Bench<'_>) {
    if !bench.wants(NAME) {
        return;
    }
    let row = match measure(bench.effort) {
        Err(reason) => Row::not_run(NAME, reason),
        Ok([acl, noop]) => Row::new(NAME, Unit::Nanoseconds, acl)
            .against(NOOP, noop)
            .times_at_most(NOOP, 4.0)
            .note(
                "The no-op pair takes and returns the same, is built the same way (PyO3, abi3) and does \
                 nothing. The cost of the loop is taken off both.",
            ),
    };
    bench.row(row);
}

fn measure(effort: Effort) -> Result<[Samples; 2], String> {
    let module = api::prefix().join("python");
    let module = std::path::absolute(module).map_err(|error| error.to_string())?;
    if !module.is_dir() {
        return Err(format!("no {}; run `make build` first", module.display()));
    }
    let noop = build_noop()?;
    let interpreter = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let path = std::env::join_paths([module, noop.path().to_owned()])
        .map_err(|error| error.to_string())?;
    let output = Command::new(interpreter)
        .arg("-c")
        .arg(PROGRAM)
        .args([
            (effort.rounds * 2).to_string(),
            effort.calls(20_000).to_string(),
        ])
        .env("PYTHONPATH", path)
        .output()
        .map_err(|error| format!("python3: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let results: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let side = |name: &str| -> Samples {
        let values = results[name].as_array().into_iter().flatten();
        Samples::of(values.filter_map(serde_json::Value::as_f64).collect())
    };
    let of_loop = side("loop").median();
    let bare = |name: &str| side(name).map(|pair| pair - of_loop);
    Ok([bare("acl"), bare("noop")])
}

/// Builds the module that does nothing, and gives it a directory of its own.
fn build_noop() -> Result<Scratch, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--release", "--locked", "--quiet"])
        .args(["--manifest-path", NOOP_MANIFEST])
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let built = program.with_file_name("libcannery_noop.so");
    let directory = Scratch::new("python")?;
    std::fs::copy(&built, directory.path().join("cannery_noop.abi3.so"))
        .map_err(|error| format!("{}: {error}", built.display()))?;
    Ok(directory)
}
