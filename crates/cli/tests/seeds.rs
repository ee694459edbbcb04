//! `cannery run --seeds`: which seeds run, which one is the answer, and that
//! the command it prints replays that answer.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use common::{Scratch, assert_refused, cannery, finish, prefix, script, stderr_of};

/// A shell program on the seeds `first` to `first + count - 1`.
fn on_seeds(first: u64, count: u64, more: &[&str], program: &str) -> Command {
    let mut command = cannery(["run", "--quiet", "--schedule", "random"]);
    command
        .args(["--first-seed", &first.to_string()])
        .args(["--seeds", &count.to_string()])
        .args(more)
        .args(["--", "sh", "-c", program]);
    command
}

/// The line after the one that announces it.
fn replay_line(output: &Output) -> String {
    let text = stderr_of(output);
    let mut lines = text
        .lines()
        .skip_while(|line| !line.ends_with("to replay it:"));
    let line = lines
        .nth(1)
        .unwrap_or_else(|| panic!("a command in:\n{text}"));
    assert_eq!(lines.next(), None, "it is the last line:\n{text}");
    line.trim().to_owned()
}

/// The failing seed of a printed command.
fn seed_of(line: &str) -> u64 {
    let (_, rest) = line.split_once(" --schedule random:").expect("a schedule");
    let (seed, _) = rest.split_once(' ').expect("more words");
    seed.parse().expect("a number")
}

fn code_of(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("{output:?}"))
}

/// `programs/race.c`, built.
fn race(scratch: &Scratch) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/race.c");
    let program = scratch.path().join("race");
    let root = prefix();
    let output = finish(
        Command::new("cc")
            .args([
                "-std=c99",
                "-D_DEFAULT_SOURCE",
                "-Wall",
                "-Wextra",
                "-Werror",
            ])
            .arg("-I")
            .arg(root.join("include"))
            .arg(source)
            .arg("-o")
            .arg(&program)
            .arg("-L")
            .arg(root.join("lib64"))
            .arg("-lascendcl"),
    );
    assert!(output.status.success(), "{}", stderr_of(&output));
    program
}

fn run_race(program: &Path, mode: &str, more: &[&str]) -> Output {
    let mut command = cannery(["run", "--quiet", "--schedule", "random"]);
    finish(command.args(more).arg("--").arg(program).arg(mode))
}

#[test]
fn a_correct_program_passes_all_seeds() {
    let scratch = Scratch::new("race");
    let program = race(&scratch);
    let output = run_race(&program, "ordered", &["--seeds", "20"]);
    assert_eq!(stderr_of(&output), "cannery: 20 seeds passed\n");
    assert_eq!(code_of(&output), 0);
    assert_eq!(output.stdout, b"", "output of passing runs is discarded");
}

#[test]
fn an_ordering_bug_is_found_and_the_printed_command_replays_it() {
    let scratch = Scratch::new("it's a race");
    let program = race(&scratch);
    let output = run_race(&program, "code", &["--seeds", "60", "--jobs", "3"]);
    assert_eq!(code_of(&output), 3, "{}", stderr_of(&output));
    assert_eq!(output.stdout, b"read 17\n");
    let text = stderr_of(&output);
    assert!(text.contains("that is the old value\n"), "{text}");
    assert!(text.contains("ended with exit code 3"), "{text}");
    let line = replay_line(&output);

    for _ in 0..3 {
        let again = finish(&mut script("sh", &line));
        assert_eq!(code_of(&again), 3);
        assert_eq!(again.stdout, b"read 17\n");
        assert_eq!(stderr_of(&again), "that is the old value\n");
    }
    // The seeds before it pass, one by one.
    let failing = seed_of(&line);
    for seed in 0..failing {
        let passing = line.replace(&format!("random:{failing} "), &format!("random:{seed} "));
        let output = finish(&mut script("sh", &passing));
        assert_eq!(
            (code_of(&output), output.stdout.as_slice()),
            (0, &b"read 42\n"[..])
        );
    }
    // Nothing but the number of jobs differs: the answer does not.
    for jobs in ["1", "2", "8"] {
        let other = run_race(&program, "code", &["--seeds", "60", "--jobs", jobs]);
        assert_eq!(seed_of(&replay_line(&other)), failing, "{jobs} jobs");
        assert_eq!(other.stdout, output.stdout);
    }
    // Beyond it there are orders that hide the bug, and others that show it.
    let after = (failing + 1).to_string();
    let later = run_race(&program, "code", &["--first-seed", &after, "--seeds", "60"]);
    assert!(seed_of(&replay_line(&later)) > failing);
}

#[test]
fn a_crash_is_told_and_replays() {
    let scratch = Scratch::new("race");
    let program = race(&scratch);
    let output = run_race(&program, "crash", &["--seeds", "60"]);
    assert_eq!(code_of(&output), 134);
    assert_eq!(output.stdout, b"read 17\n");
    let text = stderr_of(&output);
    assert!(text.contains("was killed by signal 6 (SIGABRT)"), "{text}");
    let line = replay_line(&output) + "; echo $?";
    let again = finish(&mut script("sh", &line));
    assert_eq!(again.stdout, b"read 17\n134\n");
}

#[test]
fn a_hang_is_ended_and_replays() {
    let scratch = Scratch::new("race");
    let program = race(&scratch);
    let began = Instant::now();
    let output = run_race(&program, "hang", &["--seeds", "60", "--timeout", "3"]);
    assert!(began.elapsed() < Duration::from_secs(60));
    assert_eq!(code_of(&output), 124);
    assert_eq!(
        output.stdout, b"read 17\n",
        "what it printed before is shown"
    );
    let text = stderr_of(&output);
    assert!(text.contains("did not end within 3 s"), "{text}");
    // It hangs again, after the same output.
    let line = format!("timeout 3 {}; echo $?", replay_line(&output));
    let again = finish(&mut script("sh", &line));
    assert_eq!(again.stdout, b"read 17\n124\n");
}

#[test]
fn every_seed_runs_once() {
    for jobs in ["1", "3"] {
        let scratch = Scratch::new("seeds");
        let list = scratch.path().join("list");
        let program = format!("echo \"$CANNERY_SCHEDULE\" >> '{}'", list.display());
        let output = finish(&mut on_seeds(8, 5, &["--jobs", jobs], &program));
        assert_eq!(stderr_of(&output), "cannery: 5 seeds passed\n");
        let text = fs::read_to_string(&list).expect("it ran");
        let mut seeds: Vec<_> = text.lines().collect();
        seeds.sort_by_key(|line| line.len());
        assert_eq!(seeds.len(), 5, "{seeds:?}");
        for seed in 8..13 {
            assert!(
                seeds.contains(&format!("random:{seed}").as_str()),
                "{seeds:?}"
            );
        }
    }
}

#[test]
fn the_largest_seed_can_run() {
    let output = finish(&mut on_seeds(u64::MAX - 1, 2, &[], "true"));
    assert_eq!(stderr_of(&output), "cannery: 2 seeds passed\n");
    assert_refused(
        &mut on_seeds(u64::MAX - 1, 3, &[], "true"),
        2,
        &["--first-seed", "18446744073709551615"],
    );
}

#[test]
fn runs_go_side_by_side_where_jobs_allow() {
    let scratch = Scratch::new("jobs");
    let place = scratch.path().display();
    // Each of two seeds waits for the other.
    let meet = format!(
        "cd '{place}'; mine=${{CANNERY_SCHEDULE#random:}}; touch $mine; \
         for i in $(seq 600); do [ -e $((1 - mine)) ] && exit 0; sleep 0.05; done; exit 1"
    );
    let output = finish(&mut on_seeds(0, 2, &["--jobs", "2"], &meet));
    assert_eq!(stderr_of(&output), "cannery: 2 seeds passed\n");
    // With one job nobody is there.
    let alone = format!("mkdir '{place}/busy' && sleep 0.05 && rmdir '{place}/busy'");
    let output = finish(&mut on_seeds(0, 6, &["--jobs", "1"], &alone));
    assert_eq!(stderr_of(&output), "cannery: 6 seeds passed\n");
}

#[test]
fn the_lowest_failing_seed_wins_and_nothing_begins_after_a_failure() {
    let scratch = Scratch::new("order");
    let list = scratch.path().join("list");
    // Seed 3 fails at once; 1 and 2 go on until it has, and 1 passes; 2 fails
    // later than 3 but is the answer; what is above is given up.
    let program = format!(
        "exec 2>> '{}'; seed=${{CANNERY_SCHEDULE#random:}}; echo $seed >&2; case $seed in \
         3) exit 33;; 0) exit 0;; 1) sleep 0.5;; 2) sleep 1; echo two; exit 22;; \
         *) sleep 1000;; esac",
        list.display()
    );
    let began = Instant::now();
    let output = finish(&mut on_seeds(0, 1000, &["--jobs", "5"], &program));
    assert!(
        began.elapsed() < Duration::from_secs(300),
        "the others are not waited for"
    );
    assert_eq!(code_of(&output), 22);
    assert_eq!(output.stdout, b"two\n");
    let text = stderr_of(&output);
    assert!(
        text.contains("seed 2 ended with exit code 22; seeds 0 to 1 passed; to replay it:"),
        "{text}"
    );
    assert_eq!(seed_of(&replay_line(&output)), 2);
    let begun = fs::read_to_string(&list).expect("it ran").lines().count();
    assert!((4..=7).contains(&begun), "{begun} of 1000 began");
}

#[test]
fn one_job_stops_right_at_the_failure() {
    let scratch = Scratch::new("one");
    let list = scratch.path().join("list");
    let program = format!(
        "echo x >> '{}'; [ $CANNERY_SCHEDULE != random:6 ] || kill -SEGV $$",
        list.display()
    );
    let output = finish(&mut on_seeds(4, 100, &["--jobs", "1"], &program));
    assert_eq!(code_of(&output), 139);
    let text = stderr_of(&output);
    assert!(
        text.starts_with("cannery: seed 6 failed without output\n"),
        "{text}"
    );
    assert!(
        text.contains("killed by signal 11 (SIGSEGV); seeds 4 to 5 passed"),
        "{text}"
    );
    assert_eq!(fs::read_to_string(&list).expect("it ran"), "x\nx\nx\n");
}

#[test]
fn both_streams_are_repeated_where_they_belong() {
    let program = "printf 'to out'; printf 'to err' >&2; exit 1";
    let output = finish(&mut on_seeds(7, 3, &["--jobs", "1"], program));
    assert_eq!(code_of(&output), 1);
    assert_eq!(output.stdout, b"to out\n");
    let text = stderr_of(&output);
    assert!(
        text.starts_with(
            "cannery: seed 7 failed, after this output:\nto err\n\
             cannery: seed 7 ended with exit code 1; to replay it:\n    "
        ),
        "{text}"
    );
}

#[test]
fn of_long_output_the_end_is_kept() {
    let output = finish(&mut on_seeds(0, 1, &[], "seq 1000000; echo last; exit 5"));
    assert_eq!(code_of(&output), 5);
    let text = String::from_utf8(output.stdout.clone()).expect("ASCII");
    assert!(text.ends_with("\n999999\n1000000\nlast\n"));
    assert_eq!(text.len(), 1 << 20);
    let whole: usize = (1..=1_000_000_u32)
        .map(|n| n.to_string().len() + 1)
        .sum::<usize>()
        + 5;
    let left_out = format!(
        "the first {} bytes of its output are left out",
        whole - text.len()
    );
    assert!(
        stderr_of(&output).contains(&left_out),
        "{}",
        stderr_of(&output)
    );
}

#[test]
fn endless_output_is_ended_too() {
    let output = finish(&mut on_seeds(0, 9, &["--timeout", "1"], "exec yes"));
    assert_eq!(code_of(&output), 124);
    assert!(output.stdout.ends_with(b"y\ny\n"));
}

#[test]
fn runs_have_no_input() {
    let output = finish(&mut on_seeds(
        0,
        2,
        &["--timeout", "60"],
        "[ -z \"$(cat)\" ]",
    ));
    assert_eq!(stderr_of(&output), "cannery: 2 seeds passed\n");
}

#[test]
fn the_command_has_all_that_matters_in_quotes() {
    let mut command = cannery([
        "run",
        "--schedule",
        "random",
        "--seeds",
        "4",
        "--jobs",
        "1",
        "--timeout",
        "60",
        "--devices",
        "2",
        "--profile",
        "310P",
        "--limits",
        "lock=64K",
        "--",
    ]);
    command.args([
        "sh",
        "-c",
        "printf '%s\\n' \"$@\" \"$CANNERY_DEVICES $CANNERY_PROFILE\"; exit 4",
    ]);
    command.args([
        "name",
        "two words",
        "it's",
        "$HOME `x` \"\\",
        "",
        "--",
        "-q",
        "new\nline",
    ]);
    let output = finish(&mut command);
    assert_eq!(code_of(&output), 4);
    let text = stderr_of(&output);
    assert!(
        text.starts_with("cannery: profile 310P, "),
        "the banner: {text}"
    );
    let (_, line) = text.split_once("to replay it:\n").expect("a command");
    assert!(!line.contains("--seeds") && !line.contains("--jobs") && !line.contains("--timeout"));
    let again = finish(&mut script("sh", line));
    assert_eq!(code_of(&again), 4);
    assert_eq!(again.stdout, output.stdout);
    let banner = text.lines().next().expect("a line");
    assert_eq!(stderr_of(&again).trim_end(), banner);
}

#[test]
fn what_does_not_fit_together_is_refused_and_nothing_runs() {
    let scratch = Scratch::new("usage");
    let mark = scratch.path().join("ran");
    for (line, words) in [
        ("--seeds 3", vec!["--schedule"]),
        (
            "--schedule fifo --seeds 3",
            vec!["--seeds", "random", "fifo"],
        ),
        (
            "--schedule lazy --seeds 3",
            vec!["--seeds", "random", "lazy"],
        ),
        (
            "--schedule random:5 --seeds 3",
            vec!["--first-seed", "random:5"],
        ),
        ("--schedule random --jobs 3", vec!["--seeds"]),
        ("--schedule random --first-seed 3", vec!["--seeds"]),
        ("--schedule random --timeout 3", vec!["--seeds"]),
        ("--schedule random --seeds 0", vec!["--seeds", "0"]),
        ("--schedule random --seeds 3 --jobs 0", vec!["--jobs", "0"]),
        (
            "--schedule random --seeds 3 --timeout soon",
            vec!["--timeout", "soon", "seconds"],
        ),
        (
            "--schedule random --seeds 3 --hbm lots",
            vec!["CANNERY_HBM_BYTES=lots"],
        ),
        // The seed is the library's business, and it wants one.
        (
            "--schedule random",
            vec!["CANNERY_SCHEDULE=random", "random:SEED"],
        ),
        (
            "--schedule random:x",
            vec!["CANNERY_SCHEDULE=random:x", "random:SEED"],
        ),
    ] {
        let mut command = cannery(["run"]);
        command
            .args(line.split(' '))
            .args(["--", "touch"])
            .arg(&mark);
        assert_refused(&mut command, 2, &words);
        assert!(!mark.exists(), "{line}: the program must not run");
    }
}

#[test]
fn a_program_that_cannot_start_is_no_failing_seed() {
    for (program, code, words) in [
        ("no-such-program-here", 127, ["not found", "PATH"]),
        ("/etc/passwd", 126, ["permission denied", "/etc/passwd"]),
    ] {
        let mut command = cannery(["run", "-q", "--schedule", "random", "--seeds", "3", "--"]);
        assert_refused(command.arg(program), code, &words);
    }
}

#[test]
fn the_bar_is_for_terminals() {
    const TERMINAL: &str = "import os, pty, sys\n\
        sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let tool = prefix().join("bin/cannery");
    let shown = |more: &[&str]| {
        let mut command = script("python3", TERMINAL);
        command
            .arg(&tool)
            .args(["run", "--schedule", "random", "--seeds", "3"]);
        command.args(more).args(["--", "sleep", "0.1"]);
        let output = finish(&mut command);
        assert_eq!(code_of(&output), 0);
        String::from_utf8(output.stdout).expect("ASCII")
    };
    let text = shown(&["--jobs", "1"]);
    for part in [
        "] 0 of 3 passed, ",
        "] 2 of 3 passed, ",
        "now seed 2",
        "cannery: 3 seeds passed",
    ] {
        assert!(text.contains(part), "{part} in {text:?}");
    }
    let text = shown(&["--quiet"]);
    assert!(text.ends_with("cannery: 3 seeds passed\r\n"), "{text:?}");
    assert!(!text.contains("of 3 passed"), "{text:?}");
    let mut command = cannery(["run", "--schedule", "random", "--seeds", "3", "--", "true"]);
    let text = stderr_of(&finish(&mut command));
    assert_eq!(text.lines().count(), 2, "the banner and the result: {text}");
    assert!(text.ends_with("\ncannery: 3 seeds passed\n"), "{text}");
}

#[test]
fn every_run_has_a_card_of_its_own_unless_the_user_chose_a_directory() {
    let scratch = Scratch::new("cards");
    let list = scratch.path().join("list");
    let run = |chosen: Option<&Path>| {
        let line = "mkdir -p \"$CANNERY_RUNTIME_DIR\" && echo \"$CANNERY_RUNTIME_DIR\" >> \"$0\"";
        let mut command = cannery(["run", "--quiet", "--schedule", "random", "--seeds", "4"]);
        command.args(["--", "sh", "-c", line]).arg(&list);
        if let Some(chosen) = chosen {
            command.env("CANNERY_RUNTIME_DIR", chosen);
        }
        let output = finish(&mut command);
        assert_eq!(code_of(&output), 0, "{}", stderr_of(&output));
        let text = std::fs::read_to_string(&list).expect("what the runs wrote");
        std::fs::remove_file(&list).expect("it is there");
        let mut places: Vec<PathBuf> = text.lines().map(PathBuf::from).collect();
        places.sort();
        places.dedup();
        places
    };
    let own = run(None);
    assert_eq!(own.len(), 4, "{own:?}");
    assert!(own.iter().all(|place| !place.exists()), "left: {own:?}");
    let chosen = scratch.path().join("chosen");
    assert_eq!(run(Some(&chosen)), [chosen.as_path()]);
    assert!(chosen.exists());
}

#[test]
fn it_speaks_chinese_where_the_texts_do() {
    let said = |command: &mut Command| {
        let output = finish(command.env("CANNERY_LANG", "zh"));
        stderr_of(&output)
    };
    // Sentences are Chinese: no small word of English, and not all of it names and numbers.
    let judge = |text: &str, words: &[&str]| {
        for line in text.lines().filter(|line| line.starts_with("cannery: ")) {
            let small =
                |word: &&str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase());
            let sentence = line.replace("--schedule random", "");
            let left: Vec<&str> = sentence.split(' ').skip(1).filter(small).collect();
            assert!(left.is_empty(), "{left:?} in {line}");
            assert!(!line.is_ascii(), "{line}");
        }
        for word in words {
            assert!(text.contains(word), "{word} in {text}");
        }
    };
    judge(&said(&mut on_seeds(0, 3, &[], "true")), &["3 个种子通过"]);
    let mut command = cannery(["run", "--schedule", "random", "--seeds", "2", "--", "true"]);
    judge(&said(&mut command), &["1 个设备", "2 个种子通过"]);
    let third = "test ${CANNERY_SCHEDULE#random:} -lt 2 || { echo noise; exit 3; }";
    judge(
        &said(&mut on_seeds(0, 5, &["--jobs", "1"], third)),
        &[
            "种子 2 失败，此前的输出为：",
            "以退出码 3 结束",
            "种子 0 至 1 通过",
            "--schedule random:2",
        ],
    );
    let killed = "test ${CANNERY_SCHEDULE#random:} = 7 || kill -9 $$";
    judge(
        &said(&mut on_seeds(7, 5, &["--jobs", "1"], killed)),
        &["没有输出", "信号 9（SIGKILL）", "种子 7 通过"],
    );
    let late = "sleep 60";
    judge(
        &said(&mut on_seeds(0, 1, &["--timeout", "0.2"], late)),
        &["0.2 秒"],
    );
    let noise = "yes | head -c 3000000; exit 1";
    judge(&said(&mut on_seeds(0, 1, &[], noise)), &["略去其输出的前"]);
    let noise = "yes | head -c 3000000 >&2; exit 1";
    judge(
        &said(&mut on_seeds(0, 1, &[], noise)),
        &["略去其错误输出的前"],
    );
    let stopped = "kill -TERM $PPID; sleep 60";
    judge(
        &said(&mut on_seeds(0, 2, &["--jobs", "1"], stopped)),
        &["信号 15（SIGTERM）", "2 个种子中 0 个通过", "种子 0"],
    );
    let mut command = cannery([
        "run",
        "--schedule",
        "random:3",
        "--seeds",
        "2",
        "--",
        "true",
    ]);
    judge(&said(&mut command), &["--schedule random", "random:3"]);
    let top = u64::MAX;
    judge(&said(&mut on_seeds(top, 2, &[], "true")), &["最后一个种子"]);
}
