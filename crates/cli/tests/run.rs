//! `cannery run`: the program is in charge of its streams, signals and exit code.

mod common;

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use common::{Scratch, assert_refused, cannery, finish, prefix, script, stderr_of, stdout_of};

#[test]
fn the_exit_code_is_the_programs() {
    for code in [0, 1, 3, 42, 255] {
        let output = finish(&mut cannery([
            "run",
            "--",
            "sh",
            "-c",
            &format!("exit {code}"),
        ]));
        assert_eq!(output.status.code(), Some(code));
    }
}

#[test]
fn a_killed_program_shows_as_killed() {
    let output = finish(&mut cannery(["run", "--", "sh", "-c", "kill -KILL $$"]));
    assert_eq!(output.status.signal(), Some(9));
    let signals = [
        ("INT", libc::SIGINT, "130"),
        ("TERM", libc::SIGTERM, "143"),
        ("SEGV", libc::SIGSEGV, "139"),
    ];
    for (signal, number, code) in signals {
        // What is started in the background may ignore some.
        if ignored() >> (number - 1) & 1 == 1 {
            continue;
        }
        let line = format!("$CANNERY run --quiet -- sh -c 'kill -{signal} $$'; echo $?");
        assert_eq!(stdout_of(&mut script("sh", &line)).trim(), code, "{signal}");
    }
}

/// The signals that this process ignores, as the kernel's mask.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .expect("a mask");
    u64::from_str_radix(line.trim(), 16).expect("a number")
}

#[test]
fn signals_reach_the_program() {
    let signals = [
        ("INT", libc::SIGINT),
        ("TERM", libc::SIGTERM),
        ("HUP", libc::SIGHUP),
        ("QUIT", libc::SIGQUIT),
        ("USR1", libc::SIGUSR1),
        ("USR2", libc::SIGUSR2),
        ("WINCH", libc::SIGWINCH),
    ];
    for (signal, number) in signals {
        // A shell cannot trap what was ignored when it started, and what is started in the
        // background ignores some.
        if ignored() >> (number - 1) & 1 == 1 {
            continue;
        }
        let program = format!(
            "trap 'echo caught; exit 7' {signal}; echo ready; while :; do sleep 0.01; done"
        );
        let mut child = cannery(["run", "--quiet", "--", "sh", "-c", &program])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the tool starts");
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        out.read_line(&mut line).expect("a line");
        assert_eq!(line, "ready\n");
        let kill = format!("kill -{signal} {}", child.id());
        assert!(
            Command::new("sh")
                .arg("-c")
                .arg(&kill)
                .status()
                .expect("sh runs")
                .success()
        );
        let mut rest = String::new();
        out.read_to_string(&mut rest).expect("the rest");
        assert_eq!(rest, "caught\n", "{signal}");
        assert_eq!(child.wait().expect("it ends").code(), Some(7), "{signal}");
    }
}

#[test]
fn a_missing_program_is_127() {
    assert_refused(
        &mut cannery(["run", "-q", "--", "no-such-program-here"]),
        127,
        &["not found", "no-such-program-here", "PATH"],
    );
    assert_refused(
        &mut cannery(["run", "-q", "--", "./no/such/file"]),
        127,
        &["not found", "./no/such/file"],
    );
    assert_refused(
        &mut cannery(["run", "-q", "--", "/etc/passwd/file"]),
        127,
        &["not found"],
    );
    assert_refused(&mut cannery(["run", "-q", "--", ""]), 127, &["not found"]);
}

#[test]
fn a_program_that_cannot_be_executed_is_126() {
    let scratch = Scratch::new("programs");
    let plain = scratch.file("plain.txt", "not a program\n");
    let path = plain.to_str().expect("UTF-8");
    assert_refused(
        &mut cannery(["run", "-q", "--", path]),
        126,
        &["permission denied", path],
    );

    let directory = scratch.path().to_str().expect("UTF-8");
    assert_refused(
        &mut cannery(["run", "-q", "--", directory]),
        126,
        &["directory"],
    );

    let orphan = scratch.file("orphan.sh", "#!/no/such/interpreter\n");
    fs::set_permissions(&orphan, fs::Permissions::from_mode(0o755)).expect("chmod");
    let path = orphan.to_str().expect("UTF-8");
    assert_refused(
        &mut cannery(["run", "-q", "--", path]),
        126,
        &["interpreter", path],
    );
}

#[test]
fn wrong_usage_is_2() {
    assert_refused(&mut cannery([]), 2, &[]);
    assert_refused(&mut cannery(["run"]), 2, &["PROGRAM"]);
    assert_refused(
        &mut cannery(["run", "--devces", "2", "--", "true"]),
        2,
        &["--devces"],
    );
    assert_refused(&mut cannery(["fly"]), 2, &["fly"]);
}

#[test]
fn a_refused_setting_is_2_and_nothing_runs() {
    let scratch = Scratch::new("settings");
    let mark = scratch.path().join("ran");
    let touch = format!("touch {}", mark.display());
    for (option, value, variable) in [
        ("--devices", "99", "CANNERY_DEVICES"),
        ("--profile", "banana", "CANNERY_PROFILE"),
        ("--mode", "upside-down", "CANNERY_MODE"),
        ("--hbm", "lots", "CANNERY_HBM_BYTES"),
        ("--huge", "-1", "CANNERY_HUGE_BYTES"),
        ("--pin", "maybe", "CANNERY_PIN"),
        ("--schedule", "whenever", "CANNERY_SCHEDULE"),
        ("--api-version", "0.1", "CANNERY_API_VERSION"),
        ("--limits", "moon=1", "CANNERY_LIMITS"),
    ] {
        let mut command = cannery(["run", option, value, "--", "sh", "-c", &touch]);
        assert_refused(&mut command, 2, &[variable]);
        assert!(!mark.exists(), "{option} {value}: the program must not run");
    }
}

#[test]
fn streams_pass_through_untouched() {
    let mut child = cannery(["run", "--", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the tool starts");
    let sent: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    let mut input = child.stdin.take().expect("piped");
    let copy = sent.clone();
    let writer = std::thread::spawn(move || input.write_all(&copy));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("all written");
    assert_eq!(output.stdout, sent);
    assert!(output.status.success());
}

#[test]
fn arguments_arrive_byte_for_byte() {
    let odd = [
        b"".as_slice(),
        b"two words",
        b"new\nline",
        b"--devices",
        b"\xff\xfe",
        b"it's $HOME `x`",
    ];
    let mut command = cannery([
        "run",
        "-q",
        "--",
        "sh",
        "-c",
        r#"for a; do printf '%s\0' "$a"; done"#,
        "sh",
    ]);
    command.args(odd.iter().map(|bytes| OsStr::from_bytes(bytes)));
    let output = finish(&mut command);
    let expected: Vec<u8> = odd
        .iter()
        .flat_map(|bytes| bytes.iter().copied().chain([0]))
        .collect();
    assert_eq!(output.stdout, expected);
}

#[test]
fn the_banner_is_one_line_and_can_be_silenced() {
    let output = finish(&mut cannery([
        "run",
        "--profile",
        "Ascend910B4",
        "--devices",
        "2",
        "--",
        "echo",
        "hello",
    ]));
    assert_eq!(output.stdout, b"hello\n");
    let banner = stderr_of(&output);
    assert_eq!(banner.lines().count(), 1, "{banner}");
    assert!(banner.starts_with("cannery: "));
    for fact in ["910B", "Ascend910B4", "EP mode", "2 devices", "32 GiB each"] {
        assert!(banner.contains(fact), "{fact} in {banner}");
    }
    let output = finish(&mut cannery(["run", "--quiet", "--", "true"]));
    assert_eq!(stderr_of(&output), "");
}

#[test]
fn options_become_settings_and_win_over_variables() {
    let mut command = cannery([
        "run",
        "-q",
        "--devices",
        "3",
        "--profile",
        "310B",
        "--mode",
        "rc",
        "--hbm",
        "2G",
        "--huge",
        "512M",
        "--pin",
        "off",
        "--schedule",
        "fifo",
        "--log",
        "error",
        "--",
        "env",
    ]);
    command
        .env("CANNERY_DEVICES", "5")
        .env("CANNERY_LIMITS", "lock=64K");
    let text = stdout_of(&mut command);
    let root = prefix();
    let root = root.display();
    for line in [
        "CANNERY_DEVICES=3".to_owned(),
        "CANNERY_PROFILE=310B".to_owned(),
        "CANNERY_MODE=rc".to_owned(),
        "CANNERY_HBM_BYTES=2G".to_owned(),
        "CANNERY_HUGE_BYTES=512M".to_owned(),
        "CANNERY_PIN=off".to_owned(),
        "CANNERY_SCHEDULE=fifo".to_owned(),
        "CANNERY_LOG=error".to_owned(),
        "CANNERY_LIMITS=lock=64K".to_owned(),
        format!("LD_LIBRARY_PATH={root}/lib64:{root}/opp/lib64"),
        format!("ASCEND_OPP_PATH={root}/opp"),
        format!("PYTHONPATH={root}/python"),
        format!("ASCEND_HOME_PATH={root}"),
        format!("ASCEND_TOOLKIT_HOME={root}"),
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "{line} in:\n{text}"
        );
    }
}

#[test]
fn search_paths_of_the_user_come_after_ours() {
    let mut command = cannery([
        "run",
        "-q",
        "--",
        "sh",
        "-c",
        "echo \"$LD_LIBRARY_PATH\"; echo \"$PYTHONPATH\"",
    ]);
    command
        .env("LD_LIBRARY_PATH", "/mine/lib")
        .env("PYTHONPATH", "/mine/python");
    let root = prefix();
    let root = root.display();
    assert_eq!(
        stdout_of(&mut command),
        format!("{root}/lib64:/mine/lib:{root}/opp/lib64\n{root}/python:/mine/python\n")
    );
}

#[test]
fn run_inside_run_changes_nothing_but_what_is_asked() {
    let line = "$CANNERY run -q --devices 2 -- $CANNERY run -q --hbm 1G -- env | grep -c lib64:.*/lib64:; \
                $CANNERY run -q --devices 2 -- $CANNERY run -q --hbm 1G -- env | grep CANNERY_ | sort";
    let text = stdout_of(&mut script("sh", line));
    assert!(
        text.starts_with("0\n"),
        "the library path is not repeated: {text}"
    );
    assert!(
        text.contains("CANNERY_DEVICES=2\nCANNERY_HBM_BYTES=1G\n"),
        "{text}"
    );
}

#[test]
fn help_teaches_and_succeeds() {
    for line in [
        vec!["--help"],
        vec!["run", "--help"],
        vec!["env", "--help"],
        vec!["info", "--help"],
        vec!["install", "--help"],
    ] {
        let mut command = common::tool_of(&prefix());
        let text = stdout_of(command.args(&line));
        assert!(text.contains("Examples:"), "{line:?}: {text}");
    }
    let version = stdout_of(&mut cannery(["--version"]));
    assert_eq!(version, format!("cannery {}\n", env!("CARGO_PKG_VERSION")));
}
