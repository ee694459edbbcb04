//! What comes before a program's own work: `cannery run`, and the import in Python.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::api;
use crate::bench::Bench;
use crate::c_program;
use crate::rounds::{Samples, Side};
use crate::row::{Row, Unit};

const NOTHING: &str = "int main(void) { return 0; }\n";
const RUN: &str = "cannery run: a program that does nothing";
const BARE: &str = "started alone";
const IMPORT: &str = "import cannery (and acl with it)";
const EMPTY: &str = "Python, importing nothing";
/// What a user waits for at most, each time.
const BOUND: f64 = 20e6;

pub(crate) fn run(bench: &mut Bench<'_>) {
    row(bench, RUN, BARE, through_the_tool());
    row(bench, IMPORT, EMPTY, import());
}

/// Both sides of a row, as commands.
type Sides = Result<(Vec<crate::scratch::Scratch>, [Vec<PathBuf>; 2]), String>;

/// A program, with and without the tool before it.
fn through_the_tool() -> Sides {
    let tool = api::prefix().join("bin").join("cannery");
    if !tool.is_file() {
        return Err(format!("no {}; run `make build` first", tool.display()));
    }
    let (directory, program) = c_program::build("nothing", NOTHING)?;
    let through = vec![tool, "run".into(), "--".into(), program.clone()];
    Ok((vec![directory], [through, vec![program]]))
}

/// A program of one import, compiled as an installer leaves it, and one of none.
fn import() -> Sides {
    let module = api::prefix().join("python");
    if !module.is_dir() {
        return Err(format!("no {}; run `make build` first", module.display()));
    }
    let python = PathBuf::from(std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into()));
    // No start-up files: they cost both sides, and more than what is measured.
    let run = |program: &str| vec![python.clone(), "-IS".into(), "-c".into(), program.into()];
    let path = module.display();
    Ok((
        Vec::new(),
        [
            run(&format!(
                "import sys; sys.path.insert(0, {:?}); import cannery",
                path.to_string()
            )),
            run("import sys; sys.path.insert(0, '')"),
        ],
    ))
}

fn row(bench: &mut Bench<'_>, name: &str, reference: &'static str, sides: Sides) {
    if !bench.wants(name) {
        return;
    }
    let (_kept, [ours, bare]) = match sides {
        Ok(sides) => sides,
        Err(reason) => return bench.row(Row::not_run(name, reason)),
    };
    // Once before: what is read from disk, and compiled by Python, is there afterwards.
    for side in [&ours, &bare] {
        if let Err(reason) = once(side) {
            return bench.row(Row::not_run(name, reason));
        }
    }
    let count = bench.effort.calls(3);
    let sides: Vec<Side<'_>> = vec![
        Box::new(|| several(&ours, count)),
        Box::new(|| several(&bare, count)),
    ];
    let [ours, bare]: [Samples; 2] = bench
        .take_turns(sides)
        .try_into()
        .expect("one for each side");
    bench.row(
        Row::new(name, Unit::Nanoseconds, ours)
            .against(reference, bare)
            .above_at_most(reference, BOUND)
            .note("A process from its start to its end, on the wall."),
    );
}

/// Nanoseconds from the start of a process to its end.
fn once(command: &[PathBuf]) -> Result<f64, String> {
    let (program, arguments) = command.split_first().expect("a program");
    let begun = Instant::now();
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", Path::new(program).display()))?;
    let took = begun.elapsed().as_secs_f64() * 1e9;
    if output.status.success() {
        Ok(took)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}

fn several(command: &[PathBuf], count: usize) -> f64 {
    let times = (0..count).map(|_| once(command).unwrap_or_else(|reason| panic!("{reason}")));
    times.sum::<f64>() / count as f64
}
