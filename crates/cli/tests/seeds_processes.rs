//! `cannery run --seeds`: no process of a run outlives it, or the tool.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::{Scratch, finish, prefix, script, stderr_of};

/// Longest time that anything here should take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The tool on many seeds, with the usual reaction to signals even where the
/// caller of the tests ignores some.
fn seeds(more: &[&str], program: &str) -> Command {
    let mut command = script("sh", "exec env --default-signal=INT,TERM,HUP,QUIT \"$@\"");
    command.arg("sh").arg(prefix().join("bin/cannery"));
    command.args(["run", "--quiet", "--schedule", "random"]);
    command.args(more).args(["--", "sh", "-c", program]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A program that writes the ids of its processes into files, and goes on: its
/// own, a child's, and that of a child in a session of its own.
fn family(scratch: &Scratch) -> String {
    format!(
        "cd '{}'; seed=${{CANNERY_SCHEDULE#random:}}; \
         sh -c 'echo $$ > child.'$seed'.new; exec sleep 1000' & \
         setsid sh -c 'echo $$ > stray.'$seed'.new; exec sleep 1000' & \
         echo $$ > main.$seed.new; \
         until [ -s child.$seed.new ] && [ -s stray.$seed.new ]; do sleep 0.02; done; \
         for i in main child stray; do mv $i.$seed.new $i.$seed; done; ",
        scratch.path().display()
    )
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(
            began.elapsed() < PATIENCE,
            "{what}: not so after {PATIENCE:?}"
        );
        thread::sleep(Duration::from_millis(20));
    }
}

/// The files, once they are there.
fn files(scratch: &Scratch, seeds: &[u64]) -> Vec<PathBuf> {
    let files: Vec<_> = seeds
        .iter()
        .flat_map(|seed| ["main", "child", "stray"].map(|kind| format!("{kind}.{seed}")))
        .map(|name| scratch.path().join(name))
        .collect();
    wait_until("all processes run", || {
        files.iter().all(|file| file.exists())
    });
    files
}

/// Whether the process runs. One that ended and was not waited for does not.
fn runs(file: &Path) -> bool {
    let id = fs::read_to_string(file).expect("an id");
    let stat = fs::read_to_string(format!("/proc/{}/stat", id.trim()));
    stat.is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .is_some_and(|rest| rest.starts_with(" Z"))
    })
}

fn send(signal: &str, child: &Child) {
    let mut kill = Command::new("kill");
    let status = kill
        .arg(format!("-{signal}"))
        .arg(child.id().to_string())
        .status();
    assert!(status.expect("kill runs").success());
}

fn end_of(child: Child) -> Output {
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_stopped_tool_takes_all_its_processes_along() {
    for (signal, code, name) in [
        ("INT", 130, "signal 2 (SIGINT)"),
        ("TERM", 143, "signal 15 (SIGTERM)"),
        ("HUP", 129, "signal 1 (SIGHUP)"),
        ("QUIT", 131, "signal 3 (SIGQUIT)"),
    ] {
        let scratch = Scratch::new("stop");
        let program = family(&scratch) + "[ $seed = 0 ] || sleep 1000";
        let more = ["--seeds", "9", "--jobs", "2"];
        let child = seeds(&more, &program).spawn().expect("the tool starts");
        let files = files(&scratch, &[1, 2]);
        assert!(files.iter().all(|file| runs(file)));
        send(signal, &child);
        let output = end_of(child);
        assert_eq!(output.status.code(), Some(code), "{signal}");
        assert_eq!(
            stderr_of(&output),
            format!("cannery: stopped by {name}: 1 of 9 seeds passed; then running: seeds 1, 2\n")
        );
        assert!(
            !files.iter().any(|file| runs(file)),
            "{signal}: nothing is left"
        );
    }
}

#[test]
fn a_run_that_will_not_end_is_killed() {
    let scratch = Scratch::new("stubborn");
    let program = family(&scratch) + "trap '' TERM; while :; do sleep 0.05; done";
    let child = seeds(&["--seeds", "3", "--jobs", "1"], &program).spawn();
    let child = child.expect("the tool starts");
    let files = files(&scratch, &[0]);
    send("TERM", &child);
    let output = end_of(child);
    assert_eq!(output.status.code(), Some(143));
    assert!(!files.iter().any(|file| runs(file)));

    let scratch = Scratch::new("stubborn");
    let program = family(&scratch) + "trap '' TERM; while :; do sleep 0.05; done";
    let output = finish(&mut seeds(
        &["--seeds", "3", "--jobs", "1", "--timeout", "3"],
        &program,
    ));
    assert_eq!(output.status.code(), Some(124), "{}", stderr_of(&output));
    assert!(!self::files(&scratch, &[0]).iter().any(|file| runs(file)));
}

#[test]
fn a_run_may_say_something_when_its_time_is_over() {
    let program = "trap 'echo it was here; exit 0' TERM; while :; do sleep 0.05; done";
    let output = finish(&mut seeds(&["--seeds", "3", "--timeout", "0.5"], program));
    assert_eq!(
        output.status.code(),
        Some(124),
        "not 0: it did not end by itself"
    );
    assert_eq!(output.stdout, b"it was here\n");
}

#[test]
fn what_a_run_leaves_behind_ends_with_it() {
    let scratch = Scratch::new("left");
    // The second run looks for the child of the first.
    let program = family(&scratch)
        + "[ $seed = 0 ] || ! kill -0 $(cat child.0) 2> /dev/null || { echo it runs; exit 1; }";
    let output = finish(&mut seeds(&["--seeds", "2", "--jobs", "1"], &program));
    assert_eq!(stderr_of(&output), "cannery: 2 seeds passed\n");
    assert_eq!(output.status.code(), Some(0));
    assert!(!files(&scratch, &[0, 1]).iter().any(|file| runs(file)));
}

#[test]
fn given_up_runs_end_before_the_result() {
    let scratch = Scratch::new("given-up");
    let wait = "[ $seed != 0 ] && sleep 1000; until [ -e stray.1 ] && [ -e stray.2 ]; do sleep 0.02; done; exit 8";
    let program = family(&scratch) + wait;
    let output = finish(&mut seeds(&["--seeds", "9", "--jobs", "3"], &program));
    assert_eq!(output.status.code(), Some(8), "{}", stderr_of(&output));
    assert!(!files(&scratch, &[0, 1, 2]).iter().any(|file| runs(file)));
}

#[test]
fn a_killed_tool_leaves_no_run() {
    let scratch = Scratch::new("killed");
    let program = format!(
        "echo $$ > '{0}/main.new'; mv '{0}/main.new' '{0}/main'; exec sleep 1000",
        scratch.path().display()
    );
    let child = seeds(&["--seeds", "3", "--jobs", "1"], &program).spawn();
    let child = child.expect("the tool starts");
    let file = scratch.path().join("main");
    wait_until("it runs", || file.exists());
    assert!(runs(&file));
    send("KILL", &child);
    end_of(child);
    wait_until("it is gone", || !runs(&file));
}

#[test]
fn processes_that_were_there_before_are_left_alone() {
    let scratch = Scratch::new("server");
    let file = scratch.path().join("id");
    // The shell becomes the tool, which then has the shell's child.
    let text = "sleep 1000 > /dev/null 2>&1 & echo $! > \"$FILE\"; \
                exec \"$CANNERY\" run -q --schedule random --seeds 2 -- true";
    let output = finish(script("sh", text).env("FILE", &file).stdout(Stdio::null()));
    assert_eq!(output.status.code(), Some(0));
    assert!(runs(&file), "not ours to end");
    let id = fs::read_to_string(&file).expect("an id");
    let status = Command::new("kill").args(["-KILL", id.trim()]).status();
    assert!(status.expect("kill runs").success());
}

#[test]
fn runs_start_with_the_signals_of_the_caller() {
    // Shows what is blocked and ignored, and fails. No shell, which may set its own.
    let program = "cat /proc/self/status /no/such/file";
    let shown = |options: &str| {
        let line = format!("trap '' USR1; exec $CANNERY run -q {options} -- {program}");
        let output = finish(&mut script("sh", &line));
        assert_eq!(output.status.code(), Some(1), "{}", stderr_of(&output));
        let text = String::from_utf8(output.stdout).expect("ASCII");
        let lines = text
            .lines()
            .filter(|line| line.starts_with("SigBlk") || line.starts_with("SigIgn"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let plain = shown("");
    assert_eq!(plain.len(), 2, "{plain:?}");
    assert_eq!(shown("--schedule random --seeds 1"), plain);
}

#[test]
fn an_ignored_signal_stays_ignored() {
    let scratch = Scratch::new("ignored");
    let text = format!(
        "trap '' HUP; exec $CANNERY run -q --schedule random --seeds 2 --jobs 1 -- sh -c \
         'touch {0}/$CANNERY_SCHEDULE; until [ -e {0}/go ]; do sleep 0.02; done'",
        scratch.path().display()
    );
    let mut command = script("sh", &text);
    let child = command
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    wait_until("it runs", || scratch.path().join("random:0").exists());
    send("HUP", &child);
    scratch.file("go", "");
    let output = end_of(child);
    assert_eq!(stderr_of(&output), "cannery: 2 seeds passed\n");
    assert_eq!(output.status.code(), Some(0));
}
