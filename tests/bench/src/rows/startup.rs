//! What a fresh C process pays for aclInit and the first aclrtSetDevice.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::api;
use crate::bench::Bench;
use crate::c_program;
use crate::rounds::Samples;
use crate::row::{Row, Unit};

const SOURCE: &str = include_str!("../../startup.c");
const TIME: &str = "aclInit + first aclrtSetDevice";
const LOAD: &str = "loading the library (dlopen)";
const RESIDENT: &str = "resident memory of the C process afterwards";
const INCREASE: &str = "resident memory: increase by all three";

pub(crate) fn run(bench: &mut Bench<'_>) {
    let names = [TIME, LOAD, RESIDENT, INCREASE];
    if !names.iter().any(|name| bench.wants(name)) {
        return;
    }
    match measure(bench.effort.rounds.max(15)) {
        Err(reason) => bench.row(Row::not_run(TIME, reason)),
        Ok(starts) => {
            let of = |value: fn(&Value) -> f64| Samples::of(starts.iter().map(value).collect());
            bench.row(
                Row::new(
                    TIME,
                    Unit::Nanoseconds,
                    of(|s| field(s, "init_ns") + field(s, "set_device_ns")),
                )
                .at_most(2e6),
            );
            bench.row(Row::new(
                LOAD,
                Unit::Nanoseconds,
                of(|s| field(s, "load_ns")),
            ));
            bench.row(
                Row::new(
                    RESIDENT,
                    Unit::Bytes,
                    of(|s| field(s, "after_kib") * 1024.0),
                )
                .at_most(8e6),
            );
            bench.row(Row::new(
                INCREASE,
                Unit::Bytes,
                of(|s| (field(s, "after_kib") - field(s, "before_kib")) * 1024.0),
            ));
        }
    }
}

fn field(start: &Value, name: &str) -> f64 {
    start[name].as_f64().unwrap_or(f64::NAN)
}

fn measure(count: usize) -> Result<Vec<Value>, String> {
    let (_directory, program) = c_program::build("startup", SOURCE)?;
    let library = api::library();
    (0..count).map(|_| start(&program, &library)).collect()
}

fn start(program: &Path, library: &Path) -> Result<Value, String> {
    let output = Command::new(program)
        .arg(library)
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}
