//! Memory of another process, by a key. The importer is a C program of its own.

use std::ffi::{CStr, c_char, c_void};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use crate::api::{self, Api};
use crate::bench::Bench;
use crate::c_program;
use crate::rounds::Samples;
use crate::row::{Row, Unit};
use crate::subjects::{DeviceMemory, Subject as _};

const SOURCE: &str = include_str!("../../importer.c");
const ROUND: &str = "export, import, close on both sides";
const EXPORT: &str = "of these, the exporter";
const IMPORT: &str = "of these, the importer";
const NOTE: &str = "A block of 2 MiB that was exported before; the two processes know each other. How the key \
    gets from one to the other is not counted.";
const BYTES: usize = 2 << 20;
const KEY: usize = 65;
/// Keys of one batch.
const KEYS: usize = 64;

pub(crate) fn run(bench: &mut Bench<'_>) {
    if ![ROUND, EXPORT, IMPORT].iter().any(|name| bench.wants(name)) {
        return;
    }
    match measure(bench.api, bench.effort.rounds.max(15)) {
        Err(reason) => bench.row(Row::not_run(ROUND, reason)),
        Ok(rounds) => {
            let of =
                |value: fn(&(f64, f64)) -> f64| Samples::of(rounds.iter().map(value).collect());
            let row = Row::new(ROUND, Unit::Nanoseconds, of(|(here, there)| here + there));
            bench.row(row.at_most(30e3).note(NOTE));
            bench.row(Row::new(EXPORT, Unit::Nanoseconds, of(|(here, _)| *here)));
            bench.row(Row::new(IMPORT, Unit::Nanoseconds, of(|(_, there)| *there)));
        }
    }
}

struct Importer {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Importer {
    fn start(program: &std::path::Path) -> Result<Self, String> {
        let text = |error: std::io::Error| error.to_string();
        let mut process = Command::new(program)
            .arg(api::library())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(text)?;
        let (input, output) = (process.stdin.take(), process.stdout.take());
        Ok(Self {
            process,
            input: input.ok_or("no pipe")?,
            output: BufReader::new(output.ok_or("no pipe")?),
        })
    }

    /// Nanoseconds for all keys.
    fn take(&mut self, keys: &[[c_char; KEY]]) -> Result<f64, String> {
        let mut lines = format!("{}\n", keys.len());
        for key in keys {
            // SAFETY: the call that wrote it ended it.
            lines.push_str(&unsafe { CStr::from_ptr(key.as_ptr()) }.to_string_lossy());
            lines.push('\n');
        }
        let text = |error: std::io::Error| error.to_string();
        self.input.write_all(lines.as_bytes()).map_err(text)?;
        let mut answer = String::new();
        self.output.read_line(&mut answer).map_err(text)?;
        answer
            .trim()
            .parse()
            .map_err(|_| "the importer failed".to_owned())
    }

    fn end(mut self) {
        drop(self.input);
        // Its answers were judged one by one.
        let _ = self.process.wait();
    }
}

/// Nanoseconds for each key, of the exporter and of the importer.
fn measure(api: Api, rounds: usize) -> Result<Vec<(f64, f64)>, String> {
    let (_directory, program) = c_program::build("importer", SOURCE)?;
    let memory = DeviceMemory(api);
    let block = memory.alloc(BYTES);
    let mut importer = Importer::start(&program)?;
    // The first round is not a warm one.
    let all: Result<Vec<_>, String> = (0..=rounds)
        .map(|_| round(api, block, &mut importer))
        .collect();
    importer.end();
    memory.free(block);
    Ok(all?.split_off(1))
}

fn round(api: Api, block: *mut c_void, importer: &mut Importer) -> Result<(f64, f64), String> {
    let mut keys = [[0; KEY]; KEYS];
    let begun = Instant::now();
    for key in &mut keys {
        // SAFETY: a live block, and room for a key.
        let code = unsafe { (api.aclrtIpcMemGetExportKey)(block, BYTES, key.as_mut_ptr(), KEY, 1) };
        api.check("aclrtIpcMemGetExportKey", code);
    }
    let exported = begun.elapsed();
    let there = importer.take(&keys)?;
    let begun = Instant::now();
    for key in &keys {
        // SAFETY: a key that was exported.
        let code = unsafe { (api.aclrtIpcMemClose)(key.as_ptr()) };
        api.check("aclrtIpcMemClose", code);
    }
    let here = (exported + begun.elapsed()).as_nanos() as f64;
    Ok((here / KEYS as f64, there / KEYS as f64))
}
