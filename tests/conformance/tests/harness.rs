//! The harness must report what is wrong: its self-test runs as a test.

use std::process::Command;

fn conformance(args: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_cannery-conformance"))
        .args(args)
        .env("CANNERY_STRAY_SETTING", "must not reach a case")
        .output()
        .expect("the program starts")
}

#[test]
fn wrong_expectations_crashes_and_hangs_are_reported() {
    let output = conformance(&["--self-test"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.trim_end().ends_with("31 passed, 0 failed"), "{text}");
}

#[test]
fn the_list_accounts_for_every_line() {
    let output = conformance(&["--list"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = |prefix: &str| text.lines().filter(|l| l.starts_with(prefix)).count();
    let own = text.lines().filter(|l| l.contains(" own ")).count();
    // The last line is the count itself.
    assert_eq!(lines("built ") - own + lines("not built yet  "), 615);
}

#[test]
fn a_missing_library_is_no_silent_success() {
    let output = conformance(&["--prefix", "/nonexistent/prefix"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("libascendcl.so"));
}
